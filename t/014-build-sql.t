#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# build-aux/compile-sql: what it makes of statements, and the mistakes at which it stops. sql/statements/README is the contract.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd ();
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

use Tenure::Run qw(write_file);

my $top = $ENV{TENURE_SRCDIR} // Cwd::abs_path(dirname(__FILE__) . '/..');

# Compiles one file of that text: exit code, messages, header, source.
sub compile {
    my ($text) = @_;
    my $dir = tempdir(CLEANUP => 1);
    make_path("$dir/out/sql");
    write_file("$dir/things.sql", $text);
    my $said = qx{"$^X" "$top/build-aux/compile-sql" "$dir/out" "$dir/things.sql" 2>&1};
    return ($? >> 8, $said, map { -e "$dir/out/sql/things.$_" ? read_file("$dir/out/sql/things.$_") : '' } qw(h c));
}

sub read_file { my ($path) = @_; open my $in, '<', $path or die "$path: $!\n"; local $/ = undef; return scalar readline $in }

my $select = "-- \@statement thing\n-- \@in id uint, note text null\n-- \@out n uint, at time null\nSELECT n, at FROM things WHERE id = :id AND note <=> :note;\n";
my ($code, $said, $header, $source) = compile($select);
is $code, 0, 'a statement' or diag $said;
like $header, qr/struct sql_thing \{\n\tuint64_t id;\n\tstruct str note;/, 'its parameters';
like $header, qr/struct sql_thing_row \{\n\tuint64_t n;\n\tint64_t at;.*\n\tbool at_is_null;/, 'its columns';
like $header, qr/\bsql_thing_$_\(/, "sql_thing_$_()" for qw(run call row);
unlike $header, qr/sql_thing_bulk/, 'what has columns is not run for many rows';
like $source, qr/SELECT n, at FROM things WHERE id = \? AND note <=> \?/, 'its text, with a mark for each parameter';

subtest 'a group that may be NULL, as that of an outer join' => sub {
    my $group = "-- \@group place id uint, name text, at time null\n\n";
    my ($exit, $complaint, $h, $c) = compile($group
        . "-- \@statement thing\n-- \@out n uint, sure place, joined place null\nSELECT n, p.id, p.name, p.at, j.id, j.name, j.at FROM things;\n");
    is $exit, 0, 'compiled' or diag $complaint;
    is scalar(() = $h =~ /struct sql_place \{/g), 1, 'one struct for both';
    like $h, qr/struct sql_place \{\n\tuint64_t id;\n\tstruct str name;\n\tint64_t at;.*\n\tbool at_is_null;\n\};/, '... with a bool only where the member itself may be NULL';
    my $at = sub { my ($path) = @_; return qr/offsetof\(struct sql_thing_row, \Q$path\E\)/ };
    like $c, qr/DB_UINT, false, ${\ $at->('sure.id')}, 0 /, 'a member of the other one may not be NULL';
    like $c, qr/DB_UINT, true, ${\ $at->('joined.id')}, 0 /, 'one of this may, and no bool is set';
    like $c, qr/DB_TEXT, true, ${\ $at->('joined.name')}, 0 /, '... nor for a text';
    like $c, qr/DB_TIME, true, ${\ $at->('joined.at')}, ${\ $at->('joined.at_is_null')} /, '... but where the member has one';
    ($exit, $complaint) = compile($group . "-- \@statement thing\n-- \@in p place null\n-- \@out n uint\nSELECT n FROM things WHERE id = :p.id;\n");
    is $exit != 0, 1, 'parameters: refused';
    like $complaint, qr/parameter p\.id cannot be NULL with its group/, '... with the reason';
};

subtest 'which statements are run for many rows of parameters' => sub {
    my $in = "-- \@in name text, type text\n";
    my $subquery = '(SELECT id FROM types WHERE name = :type)';
    for my $case (
        ['INSERT … VALUES', 1, 'INSERT INTO things (name, type) VALUES (:name, :type)'],
        ['INSERT … SELECT', 0, "INSERT INTO things (name, type) SELECT :name, id FROM types WHERE name = :type"],
        ['UPDATE', 1, 'UPDATE things SET name = :name WHERE type = :type'],
        ['DELETE', 1, 'DELETE FROM things WHERE name = :name AND type = :type'],
        ['SELECT in a text', 1, "INSERT INTO things (name, type, note) VALUES (:name, :type, '(SELECT 1)')"],
        ['a subquery among the VALUES', 0, "INSERT INTO things (name, type) VALUES (:name, $subquery)"],
        ['one within an expression', 0, "INSERT INTO things (name, type) VALUES (:name, 1 + COALESCE($subquery, 0))"],
        ['REPLACE with one', 0, "REPLACE INTO things (name, type) VALUES (:name, $subquery)"],
        ['one for a duplicate', 0, "INSERT INTO things (name) VALUES (:name) ON DUPLICATE KEY UPDATE type = $subquery"],
        ['one of a fragment', 0, 'INSERT INTO things (name, type) VALUES (:name, {type_id})'],
        ['one in a form alone', 0, 'INSERT INTO things (name, type) VALUES (:name, {type_of})'],
    ) {
        my ($what, $may, $text) = @$case;
        my ($exit, $complaint, $h) = compile("-- \@fragment type_id\n$subquery\n\n-- \@choice type_of\n\n-- \@case given\n:type\n\n-- \@case stored\n$subquery\n\n"
            . "-- \@statement thing\n${in}$text;\n");
        is $exit, 0, "$what: compiled" or diag $complaint;
        is scalar($h =~ /\bsql_thing_bulk\(struct db /), $may ? 1 : '', $may ? "$what: has a bulk" : "$what: has none";
        like $h, qr{^// There is no sql_thing_bulk\(\): (?:it has a subquery among its VALUES|the server runs no INSERT ... SELECT)}m, "$what: says why" if !$may;
    }
};

subtest 'mistakes' => sub {
    for my $case (
        ['a parameter that is not declared', sub { s/:note/:nota/ },             qr/parameter :nota is not in \@in/],
        ['one that is used nowhere',        sub { s/note text null/note text, x int/ }, qr/parameter x is used nowhere in thing/],
        ['no end',                          sub { s/;$// },                      qr/ends in ;/],
        ['a type that there is not',        sub { s/id uint/id number/ },        qr/no type or \@group 'number'/],
        ['a fragment that there is not',    sub { s/:id/{id_of}/ },              qr/no \@fragment or \@choice 'id_of'/],
        ['a tab',                           sub { s/ AND/\tAND/ },               qr/control character/],
        ['a directive that there is not',   sub { s/\@out/\@columns/ },          qr/\@columns is not known/],
        ['a name twice',                    sub { $_ .= "\n$select" },           qr/there is a \@statement thing already/],
    ) {
        my ($what, $spoil, $want) = @$case;
        my $text = $select;
        $spoil->() for $text;
        my ($exit, $complaint) = compile($text);
        isnt $exit, 0, "$what stops it";
        like $complaint, qr/things\.sql:\d+: .*$want/, "$what: file, line and reason";
    }
};

# An object that was compiled with the structs of before reads its parameters at wrong places.
subtest 'a changed statement compiles again all who include its header' => sub {
    my ($build) = grep { defined && -e "$_/Makefile" } @ENV{qw(TENURE_BUILD TENURE_BUILDDIR)};
    plan skip_all => 'no build' if !defined $build;
    my $rules = qx{make -C "$build" -npq all 2>/dev/null};
    for my $name (qw(tokens provider_lists)) {
        like $rules, qr{^build/generated/sql/$name\.$_: build/generated/statements\.stamp$}m, "make looks at $name.$_ after the run that makes it" for qw(h c);
    }
};

done_testing;
