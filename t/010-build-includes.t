#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# scripts/check-includes: this tree keeps the arrows, and a tree that does not is told where.
use strict;
use warnings;

use Cwd ();
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

my $top   = $ENV{TENURE_SRCDIR} // Cwd::abs_path(dirname(__FILE__) . '/..');
my $check = "$top/scripts/check-includes";

# Runs the check over ROOT; exit code and output.
sub check {
    my ($root) = @_;
    my $text = qx{"$^X" "$check" "$root" 2>&1};
    return ($? >> 8, $text);
}

# A tree whose files hold these includes, base/base.h before them.
sub tree {
    my (%files) = @_;
    my $root = tempdir(CLEANUP => 1);
    for my $path ('base/base.h', 'db/db.h', 'api/call.h', 'api/x/x.h', 'api/y/y.h', 'auth/core/realm.h', 'http/uri.h',
        'registry/core/context.h', 'registry/move/move.h', 'registry/upkeep/reap.h', 'registry/registry.h') {
        $files{$path} //= [];
    }
    for my $path (keys %files) {
        my $file = "$root/src/$path";
        make_path(dirname($file));
        open my $out, '>', $file or die "$file: $!";
        print $out qq{#include "base/base.h"\n} if $path =~ /\.c$/;
        print $out "#include $_\n" for @{ $files{$path} };
        close $out;
    }
    return $root;
}

my ($code, $text) = check($top);
is $code, 0, 'this tree keeps its arrows' or diag $text;

for my $case (
    ['base/a.c',     '"db/db.h"',         'base includes nothing else'],
    ['http/a.c',     '"db/db.h"',         'http knows no database'],
    ['registry/a.c', '"http/uri.h"',      'registry knows no HTTP'],
    ['registry/a.c', '"api/call.h"',      'registry knows no dialect'],
    ['api/x/a.c',    '"db/db.h"',         'a dialect knows no SQL'],
    ['api/x/a.c',    '"api/y/y.h"',       'nor another dialect'],
    ['manage/a.c',   '"api/call.h"',      'manage knows no dialect'],
    ['http/a.c',     '<openssl/evp.h>',   'OpenSSL is base/digest.c alone'],
    ['base/str.c',   '<openssl/evp.h>',   'no other file of base'],
    ['http/a.c',     '<libxml/parser.h>', 'libxml2 is repr and wadl alone'],
    ['registry/a.c', '<mysql.h>',         'MariaDB is db alone'],
    ['registry/a.c', '<mariadb/mysql.h>', 'under any name'],
    ['server/main.c', '<fcgiapp.h>',      'libfcgi is server/wire/fcgx.h alone'],
    ['registry/core/a.c', '"registry/move/move.h"', 'a subfolder includes none that is higher'],
    ['registry/core/a.c', '"registry/registry.h"', 'nor what its folder has above all subfolders'],
    ['registry/move/a.c', '"registry/upkeep/reap.h"', 'nor one that stands beside it'],
    ['registry/cellar/a.c', '"registry/core/context.h"', 'a subfolder that is not in the table'],
    ['newfolder/a.c', '"db/db.h"',        'a folder without a rule'],
    ['http/a.c',     '"http/missing.h"',  'a header that is not there'],
  ) {
    my ($file, $include, $name) = @$case;
    ($code, $text) = check(tree($file => [$include]));
    is $code, 1, "refused: $name";
    like $text, qr{^src/\Q$file\E:2: }m, 'with file and line';
}

($code, $text) = check(tree(
    'registry/a.c'    => ['"db/db.h"', '"auth/core/realm.h"'],
    'registry/move/a.c' => ['"registry/move/move.h"', '"registry/core/context.h"'],
    'registry/b.c'    => ['"registry/registry.h"', '"registry/upkeep/reap.h"'],
    'api/x/a.c'       => ['"api/call.h"', '"api/x/x.h"', '"http/uri.h"', '<stdio.h>'],
    'base/digest.c'   => ['<openssl/evp.h>'],
    'db/a.c'          => ['<mysql.h>'],
    'server/wire/fcgx.h' => ['<fcgiapp.h>'],
    'server/wire/fcgi.c' => ['<fastcgi.h>', '"api/x/x.h"', '"db/db.h"'],
));
is $code, 0, 'what is allowed' or diag $text;

for my $case (['server/wire/fcgi.c', 'int fd(FCGX_Request *r) { return r->ipcFd; }', 'src/server/wire/fcgx.h'],
    ['db/batch.c', 'int f(MYSQL *m) { return m->methods->db_close(m); }', 'src/db/connector.c']) {
    my ($file, $line, $where) = @$case;
    my $root = tree($file => []);
    open my $out, '>>', "$root/src/$file" or die $!;
    print $out "$line\n";
    close $out;
    ($code, $text) = check($root);
    is $code, 1, "refused: what is private to a library, in $file";
    like $text, qr{^src/\Q$file\E:2: .* is private to .*\Q$where\E}m, 'with the file that is there for it';
}

my $root = tree('http/a.c' => []);
open my $out, '>', "$root/src/http/a.c" or die $!;
print $out "#include <stdio.h>\n#include \"base/base.h\"\n";
close $out;
($code, $text) = check($root);
is $code, 1, 'base/base.h comes first';

# ---- what objects use: functions in these files, which call those of others

my @cc = split ' ', $ENV{CC} // 'cc';

# Compiles { file => [what it defines, what it calls...] } into a tree and checks it, with its objects.
sub check_calls {
    my (%files) = @_;
    my $built = tree(map { $_ => [] } keys %files);
    for my $file (sort keys %files) {
        my ($own, @others) = @{ $files{$file} };
        my $object = "$built/build/src/" . $file =~ s{c$}{o}r;
        make_path(dirname($object));
        my $code = join '', map({ "void $_(void);" } $own, @others), "void $own(void) {", map({ "$_();" } @others), "}\n";
        open my $compiler, '|-', @cc, '-x', 'c', '-c', '-o', $object, '-' or die "@cc: $!";
        print $compiler $code;
        close $compiler or die "@cc";
    }
    my $output = qx{"$^X" "$check" "$built" "$built" 2>&1};
    return ($? >> 8, $output);
}

($code, $text) = check_calls('registry/core/a.c' => ['a'], 'registry/move/b.c' => ['b', 'a'], 'base/c.c' => ['c']);
is $code, 0, 'calls that go down' or diag $text;
($code, $text) = check_calls('registry/core/a.c' => ['a', 'b'], 'registry/move/b.c' => ['b']);
is $code, 1, 'a call that goes up, whatever is included';
like $text, qr{^src/registry/core/a\.c:1: uses b of src/registry/move/b\.c}m, 'is named';
($code, $text) = check_calls('base/a.c' => ['a', 'r'], 'registry/r.c' => ['r']);
is $code, 1, 'a call into a higher folder';
my @circle = map { my $n = $_; ["base/f$n.c", ["f$n", 'f' . ($n % 5 + 1)]] } 1 .. 5;
($code, $text) = check_calls(map { @$_ } @circle);
is $code, 1, 'five files that use each other in a circle';
like $text, qr/5 files use each other in a circle, at most 4 may: base\/f1 base\/f2/, 'are named';
($code, $text) = check_calls(map { @$_ } @circle[ 0 .. 3 ], ['base/f5.c', ['f5']]);
is $code, 0, 'cut open' or diag $text;
($code, $text) = check_calls('api/x/a.c' => ['get_thing'], 'api/y/a.c' => ['get_thing'], 'api/b.c' => ['b', 'get_thing']);
is $code, 1, 'two handlers of one name, of which the linker would take either';
like $text, qr{^src/api/y/a\.c:1: defines get_thing, as src/api/x/a\.c does}m, 'are named';
# Two programs may have functions of one name.
($code, $text) = check_calls('cli/core/t.c' => ['table'], 'manage/t.c' => ['table'], 'manage/m.c' => ['m', 'table']);
is $code, 0, 'the nearest of one name is meant' or diag $text;

subtest 'scripts/check-names' => sub {
    my $names = sub {
        my ($line, $guard) = @_;
        my $root = tempdir(CLEANUP => 1);
        system('cp', '-R', "$top/src", $root) == 0 or die 'cp';
        open my $out, '>>', "$root/src/http/uri.h" or die "uri.h: $!";
        print $out "$line\n";
        close $out;
        system('sed', '-i', "s/TENURE_HTTP_URI_H/$guard/", "$root/src/http/uri.h") == 0 or die 'sed' if defined $guard;
        my $text = qx{"$^X" "$top/scripts/check-names" "$root" 2>&1};
        return ($? >> 8, $text);
    };
    is_deeply [ $names->('bool uri_is_long(struct str text);') ], [ 0, '' ], 'the header is a subject';
    is_deeply [ $names->('bool str_is_long(struct str text);') ], [ 0, '' ], 'a struct is one';
    my ($failed, $told) = $names->("const char *\nshown(struct str text);");
    is $failed, 1, 'anything else is none';
    like $told, qr{^src/http/uri\.h: shown\(\) does not begin with its subject}, 'told with its header';
};

done_testing;
