#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# scripts/mutate: what it takes for a place, the same sample for the same seed, excuses that are stale; and that this tree's
# files, tests and excuses are there.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd ();
use Digest::SHA ();
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

use Tenure::Run qw(read_file write_file);

my $top  = $ENV{TENURE_SRCDIR} // Cwd::abs_path(dirname(__FILE__) . '/..');
my $tree = tempdir(CLEANUP => 1);

sub put {
    my ($file, $text) = @_;
    make_path(dirname("$tree/$file"));
    write_file("$tree/$file", $text);
    return;
}

# (code, both outputs)
sub mutate {
    my ($arguments) = @_;
    my $text = qx{"$^X" "$tree/scripts/mutate" $arguments 2>&1};
    return ($? >> 8, $text);
}

# "OPERATOR: the changed line", sorted, of a file with that text.
sub mutants {
    my ($name, $text) = @_;
    put("src/$name", $text);
    put('t/mutate/files', "src/$name: one\n");
    my ($code, $out) = mutate('list --seed 1');
    is $code, 0, "$name is read" or diag $out;
    my @found;
    push @found, "$1: $2" while $out =~ /^\d+: \S+?:\d+: (\S+)\n  - [^\n]*\n  \+ ([^\n]*)$/mg;
    return [ sort @found ];
}

put('scripts/mutate', read_file("$top/scripts/mutate"));
put('t/unit/one.c', "// a test\n");

subtest 'C' => sub {
    is_deeply mutants('a.c', <<'C'), [ sort
// if (a == b && "x")
#include <a.h>
static int f(const struct s *p)
{
	char name[8] = { 0 };

	assert(p->n > 0);
	if (p->n < 3 && !p->done)
		stop(p, "why");
	return p->n >> 1;
}
C
        'compare: if (p->n <= 3 && !p->done)',
        'constant: if (p->n < 4 && !p->done)',
        'logic: if (p->n < 3 || !p->done)',
        'condition: if (!p->done)',
        'condition: if (p->n < 3)',
        'not: if (p->n < 3 && p->done)',
        'call: (void)0;',
        'string: stop(p, "wh");',
        'constant: return p->n >> 2;',
    ], 'each operator at its places; none in comments, assertions, bounds and empty initialisers';
    is_deeply mutants('b.c', <<'C'), [ sort
static bool f(int a, int b, int c)
{
	return a != b || (b && c);
}
C
        'compare: return a == b || (b && c);',
        'logic: return a != b && (b && c);',
        'logic: return a != b || (b || c);',
        'condition: return (b && c);',
        'condition: return a != b;',
        'condition: return a != b || (c);',
        'condition: return a != b || (b);',
    ], 'conditions keep to their brackets';
};

my @sql = (
    'sql-compare: SELECT a FROM t WHERE b <> ? AND c IS NOT NULL AND (d > 3 OR e IN (1, 2)) ORDER BY a DESC',
    'sql-compare: SELECT a FROM t WHERE b = ? AND c IS NOT NULL AND (d >= 3 OR e IN (1, 2)) ORDER BY a DESC',
    'sql-condition: SELECT a FROM t WHERE (b = ? OR 1) AND c IS NOT NULL AND (d > 3 OR e IN (1, 2)) ORDER BY a DESC',
    'sql-condition: SELECT a FROM t WHERE b = ? AND (c IS NOT NULL OR 1) AND (d > 3 OR e IN (1, 2)) ORDER BY a DESC',
    'sql-constant: SELECT a FROM t WHERE b = ? AND c IS NOT NULL AND (d > 3 OR e IN (1, 3)) ORDER BY a DESC',
    'sql-constant: SELECT a FROM t WHERE b = ? AND c IS NOT NULL AND (d > 3 OR e IN (2, 2)) ORDER BY a DESC',
    'sql-constant: SELECT a FROM t WHERE b = ? AND c IS NOT NULL AND (d > 4 OR e IN (1, 2)) ORDER BY a DESC',
    'sql-logic: SELECT a FROM t WHERE b = ? AND c IS NOT NULL AND (d > 3 AND e IN (1, 2)) ORDER BY a DESC',
    'sql-logic: SELECT a FROM t WHERE b = ? AND c IS NOT NULL OR (d > 3 OR e IN (1, 2)) ORDER BY a DESC',
    'sql-logic: SELECT a FROM t WHERE b = ? OR c IS NOT NULL AND (d > 3 OR e IN (1, 2)) ORDER BY a DESC',
    'sql-not: SELECT a FROM t WHERE b = ? AND c IS NULL AND (d > 3 OR e IN (1, 2)) ORDER BY a DESC',
    'sql-order: SELECT a FROM t WHERE b = ? AND c IS NOT NULL AND (d > 3 OR e IN (1, 2)) ORDER BY a',
);

subtest 'SQL' => sub {
    my $statement = 'SELECT a FROM t WHERE b = ? AND c IS NOT NULL AND (d > 3 OR e IN (1, 2)) ORDER BY a DESC';
    is_deeply mutants('c.sql', "-- a = 1 AND b\n$statement\n"), [ sort @sql ], 'in a file of its own';
    is_deeply mutants('d.c', qq{static const char *q = "$statement";\n}),
        [ sort map { s/: (.*)\z/: static const char *q = "$1";/r } @sql ], 'in a string';
    is_deeply [ grep { /compare/ } @{ mutants('e.sql', "UPDATE t SET a = 1, b = 'x' WHERE c = 2\n") } ],
        ["sql-compare: UPDATE t SET a = 1, b = 'x' WHERE c <> 2"], 'what SET sets is no comparison';
    is_deeply [ grep { /string/ } @{ mutants('g.sql', "SELECT 'ab' FROM t WHERE a = '' AND b = 'c'\n") } ],
        [ map { "sql-string: SELECT $_" } "'a' FROM t WHERE a = '' AND b = 'c'", "'ab' FROM t WHERE a = '' AND b = ''" ], 'strings, but empty ones';
    is_deeply [ grep { /condition/ } @{ mutants('f.c', qq{f("SELECT 1 FROM t WHERE a = ? AND " MORE " AND b = ?");\n}) } ],
        [ 'sql-condition: f("SELECT 1 FROM t WHERE (a = ? OR 1) AND " MORE " AND b = ?");',
          'sql-condition: f("SELECT 1 FROM t WHERE a = ? AND " MORE " AND (b = ? OR 1)");' ], 'around a macro';
};

subtest 'samples' => sub {
    put('src/a.c', "static int f(int a)\n{\n" . join('', map { "\tg(a, $_);\n" } 1 .. 40) . "\treturn a;\n}\n");
    put('t/mutate/files', "src/a.c: one\n");
    my ($code, $one) = mutate('list --seed 7 --count 10');
    is $code, 0;
    is((() = $one =~ /^\d+: /mg), 10, 'as many as asked for');
    is((mutate('list --seed 7 --count 10'))[1], $one, 'the same for the same seed');
    isnt((mutate('list --seed 8 --count 10'))[1], $one, 'others for another');
    like((mutate('sites'))[1], qr/^ +80 in all$/m, 'of a population that is counted');
    put('src/small.c', "static int f(int a)\n{\n\treturn a == 1;\n}\n");
    put('t/mutate/files', "[large]\nsrc/a.c: one\n[small]\nsrc/small.c: one\n");
    my @drawn = (mutate('list --seed 7 --count 6'))[1] =~ m{^\d+: src/(\w+)\.c:}mg;
    is_deeply \@drawn, [qw(a small a small a a)], 'areas take turns as long as they have mutants';
    like((mutate('sites'))[1], qr/^ +80 \[large\]\n +2 \[small\]$/m, 'each is counted');
};

# The mutants in the drawn order, by what they make.
sub drawn { my ($seed) = @_; return [ (mutate("list --seed $seed"))[1] =~ /^  \+ (.*)$/mg ] }

subtest 'changes elsewhere' => sub {
    my @lines = map { "\tg(a, $_);\n" } 1 .. 40;
    put('t/mutate/files', "src/a.c: one\n");
    put('src/a.c', join '', "static int f(int a)\n{\n", @lines, "\treturn a;\n}\n");
    my $before = drawn(7);
    put('src/a.c', join '', "// Another comment\nstatic int h(int a)\n{\n\treturn a == 7;\n}\nstatic int f(int a)\n{\n", @lines[ 0 .. 19 ],
        "\t// and one more\n", @lines[ 20 .. 39 ], "\treturn a;\n}\n");
    my @after = grep { !/return/ } @{ drawn(7) };
    is_deeply \@after, $before, 'move nothing else in the draw';
};

subtest 'verdicts' => sub {
    my @code = ("static int f(int a)", "{", "\tg(a, 3);", "\th(a);", "\treturn a;", "}");
    my $write = sub { put('src/a.c', join "\n", @_, '') };
    my $sum   = sub { return substr Digest::SHA::sha1_hex($_[0]), 0, 16 };
    my $line  = sub {
        my ($what, $old, $new) = @_;
        return join("\t", $sum->(join "\n", 'src/a.c', $old, $new, 0), $sum->(join('', @code) =~ s/\s+//gr), $what, '', '1.0', 'src/a.c:3', 'call') . "\n";
    };
    unlink "$tree/t/mutate/excuses";
    $write->(@code);
    put('verdicts', $line->('killed', 'h(a);', '(void)0;') . $line->('again', 'g(a, 3);', '(void)0;'));
    my ($code, $text) = mutate("survivors --resume $tree/verdicts");
    is $code, 1, 'one survived';
    is $text, "src/a.c:3: call\n  - g(a, 3);\n  + (void)0;\n", 'which is shown';
    $write->('/* A comment "with quotes" */', @code[ 0 .. 2 ], '  // another', @code[ 3 .. 5 ]);
    like((mutate("survivors --resume $tree/verdicts"))[1], qr/\Asrc\/a\.c:4: call/, 'comments and blanks change no verdict');
    $write->(@code[ 0 .. 3 ], "\treturn a + 1;", '}');
    is((mutate("survivors --resume $tree/verdicts"))[1], '', 'other code of the file does');
    $write->(@code);
    put('t/mutate/excuses', "src/a.c\n- g(a, 3);\n+ (void)0;\nNothing can be seen of it, for g does nothing.\n");
    is((mutate("survivors --resume $tree/verdicts"))[0], 0, 'nor is what is excused by now a survivor');
    unlink "$tree/t/mutate/excuses";
    put('verdicts', read_file("$tree/verdicts") . $line->('killed', 'g(a, 3);', '(void)0;'));
    is((mutate("survivors --resume $tree/verdicts"))[0], 0, 'the last verdict counts');
    put('src/a.c', "static int f(int a)\n{\n" . join('', map { "\tg(a, $_);\n" } 1 .. 40) . "\treturn a;\n}\n");
};

subtest 'excuses' => sub {
    put('t/mutate/excuses', "# why\n\nsrc/a.c\n- g(a, 3);\n+ (void)0;\nNothing can be seen of it, for g does nothing.\n");
    is((mutate('excuses'))[0], 0, 'one whose place is there');
    put('src/a.c', read_file("$tree/src/a.c") =~ s{g\(a, 3\);}{g(a, 3); // a comment that comes and goes}r);
    is((mutate('excuses'))[0], 0, 'whatever comment stands behind it');
    put('t/mutate/excuses', "src/a.c\n- g(a, 99);\n+ (void)0;\nNothing can be seen of it, for g does nothing.\n");
    my ($code, $text) = mutate('excuses');
    is $code, 1, 'one whose place is gone is an error';
    like $text, qr/g\(a, 99\)/, 'that names it';
    put('t/mutate/excuses', "src/a.c\n- g(a, 3);\n+ (void)0;\n");
    isnt((mutate('excuses'))[0], 0, 'one without a reason, too');
    unlink "$tree/t/mutate/excuses";
    put('t/mutate/files', "src/none.c: one\n");
    isnt((mutate('sites'))[0], 0, 'a file that is not there');
    put('t/mutate/files', "src/a.c: none\n");
    isnt((mutate('sites'))[0], 0, 'a test that is not there');
};

subtest 'this tree' => sub {
    my $text = qx{"$^X" "$top/scripts/mutate" sites 2>&1};
    is $?, 0, 'files and tests of t/mutate/files are there' or diag $text;
    $text = qx{"$^X" "$top/scripts/mutate" excuses 2>&1};
    is $?, 0, 'each excuse has its place' or diag $text;
};

done_testing;
