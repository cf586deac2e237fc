#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# scripts/check-format: what it finds in files that are laid out badly, what it leaves alone, and that it starts few processes.
use strict;
use warnings;

use Cwd ();
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

use lib dirname(__FILE__) . '/lib';
use Tenure::Run qw(run read_file write_file);

my $top = $ENV{TENURE_SRCDIR} // Cwd::abs_path(dirname(__FILE__) . '/..');
my ($clang_format) = grep { -x } map { "$_/clang-format" } split /:/, $ENV{PATH};
plan skip_all => 'clang-format is not installed' if !$clang_format;

# A tree with the tools, and clang-format by a script that counts how often it is started.
my $tree = tempdir(CLEANUP => 1);
make_path("$tree/$_") for qw(src/base include t bench scripts bin);
write_file("$tree/$_", read_file("$top/$_")) for '.clang-format', 'scripts/check-format';
write_file("$tree/bin/clang-format", qq(#!/bin/sh\n[ "\$1" = --version ] || echo started >>"$tree/starts"\nexec $clang_format "\$@"\n));
chmod 0755, "$tree/bin/clang-format";

# (code, findings), from a folder that has a memory or not.
sub check {
    my ($from, @files) = @_;
    unlink "$tree/starts";
    return run('sh', '-c', 'cd "$1" && PATH="$2:$PATH" && shift 2 && exec perl "$@"', 'sh', $from, "$tree/bin", "$tree/scripts/check-format", $tree, @files);
}

sub starts { return scalar(() = read_file("$tree/starts") =~ /started/g) }

my $good = <<'C';
#include <stdio.h>

// A row for each.
static const int rows[] = {
	1,
	22,
};

int good(int a, int b)
{
	for (int i = 0; i < a; i++)
		printf("%d, %d\n", rows[0],
				b);
	return a + b;
}
C
write_file("$tree/src/base/f$_.c", $good) for 1 .. 250;

subtest 'files that are right' => sub {
    my ($code, $text) = check($tree);
    is "$code $text", '0 ', 'no finding, also of the place where a line goes on';
    cmp_ok starts(), '<=', 8, 'by a few processes of clang-format for 250 files';
    cmp_ok starts(), '>=', 1, '... which were counted';
};

subtest 'files that are wrong' => sub {
    write_file("$tree/src/base/f117.c", $good =~ s/return a \+ b/return a+b/r);
    write_file("$tree/bench/wrong.h", "int one(void);\n    int two(void);\nint *three (void);  \n");
    my ($code, $text) = check($tree);
    is $code, 1, 'end it with 1';
    is $text, <<'FINDINGS', 'each finding is told, in the order of the files';
bench/wrong.h:2: is indented by blanks, not by tabs
bench/wrong.h:3: blanks at the end of the line
bench/wrong.h:2: clang-format would write
	int two(void);
bench/wrong.h:3: clang-format would write
	int *three(void);
src/base/f117.c:14: clang-format would write
		return a + b;
FINDINGS
    ($code, my $one) = check($tree, 'src/base/f117.c');
    is "$code $one", "1 src/base/f117.c:14: clang-format would write\n\t\treturn a + b;\n", 'so are those of a file that is named';
    ($code) = check($tree, 'src/base/f118.c');
    is $code, 0, '... and there are none of another one';
};

subtest 'what was found right is not looked at again' => sub {
    make_path("$tree/work/build");
    my ($code, $first) = check("$tree/work");
    is $code, 1, 'the first time';
    my ($again, $second) = check("$tree/work");
    is "$again $second", "1 $first", 'what is wrong is found again';
    is starts(), 1, '... by one process for the two files';
    write_file("$tree/src/base/f117.c", $good);
    unlink "$tree/bench/wrong.h";
    is +(check("$tree/work"))[0], 0, 'mended';
    check("$tree/work");
    is starts(), 0, 'then nothing is left to look at';
};

subtest 'without a working clang-format' => sub {
    write_file("$tree/bin/clang-format", "#!/bin/sh\n[ \"\$1\" = --version ]\n");
    my ($code, $text) = check($tree);
    isnt $code, 0, 'it fails';
    like $text, qr/clang-format failed/, 'and says so';
};
done_testing;
