#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A built-in type is one file and one row (doc/architecture.md, "Adding things"). This test adds one, t/additions/limitranges.c with the row
# beside it, to a copy of the programs: every dialect, discovery, OpenAPI, protobuf, Tables and tenure have it then. And each
# type of the table is what its row says wherever types are listed.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Addition qw(programs_with);
use Tenure::Run qw(read_file);

my $source = $ENV{TENURE_SRCDIR} // "$FindBin::Bin/..";
my $rows   = read_file("$source/src/base/builtin_types.def") . read_file("$source/t/additions/limitranges.def");

# The programs come before Tenure::Instance looks for some.
my $programs = programs_with(table => 'base/builtin_types.def', row => 't/additions/limitranges.def', file => 't/additions/limitranges.c');
plan skip_all => 'no build to add a type to' if !defined $programs;
require Tenure::Instance;
require Tenure::Tool;
my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my $at       = '/api/v1/namespaces/default/limitranges';
my $tool     = Tenure::Tool->new(url => $instance->env('TENURE_COMBINED_URL'), token => 'alice:acme', tenant => 'acme');
$admin->make_tenant('acme');

subtest 'the new type' => sub {
    my $made = $acme->post($at, json => { metadata => { name => 'a' }, spec => { limits => [{ max => { cpu => 1 } }] } });
    $made->is_status(201, 'made');
    is $made->json->{spec}{limits}[0]{type}, 'Container', 'with what nobody said';
    $acme->post($at, json => { metadata => { name => 'b' }, spec => { limits => 'none' } })->is_status(422, 'its form is checked');
    my $wrong = $acme->post($at, json => { metadata => { name => 'b' }, spec => { limits => [{ type => 'Cat' }] } });
    $wrong->is_status(422, 'so are its rules');
    like $wrong->text, qr/spec\.limits\[0\]\.type: Unsupported value/, 'by path';
    $acme->post("$at?fieldValidation=Strict", json => { metadata => { name => 'b' }, spec => { odd => 1 } })->is_status(400, 'a member that it has not');
    my $protobuf = "k8s\0" . "\x0a\x10\x0a\x02v1\x12\x0aLimitRange" . "\x12\x12" . "\x0a\x03\x0a\x01p" . "\x12\x0b\x0a\x09\x0a\x03Pod\x2a\x02\x0a\x00";
    my $sent = $acme->request('POST', $at, body => $protobuf, type => 'application/vnd.kubernetes.protobuf');
    $sent->is_status(201, 'made of protobuf') or diag $sent->text;
    is $sent->json->{spec}{limits}[0]{type}, 'Pod', 'as it says';
    my $table = $acme->get($at, accept => 'application/json;as=Table;v=v1;g=meta.k8s.io')->json;
    is join('|', map { $_->{name} } @{ $table->{columnDefinitions} }), 'Name|Created At|Limits', 'columns';
    is_deeply [map { $_->{cells}[2] } @{ $table->{rows} }], [1, 1], 'cells';
    $acme->get("$at?fieldSelector=spec.scope%3Dx")->is_status(200, 'its field selects');
    $acme->get("$at?fieldSelector=spec.other%3Dx")->is_status(400, 'no other does');
    $acme->request('PATCH', "$at/a", body => '{"metadata":{"finalizers":["example.com/x"]}}', type => 'application/strategic-merge-patch+json')
        ->is_status(200, 'a strategic merge patch');
    $acme->put('/v2.0/acme/namespaces/default/limitranges/v2', json => { spec => { scope => 'x' } })->is_status(201, 'in the other dialect');
    my $kept = $acme->patch('/v2.0/acme/namespaces/default/limitranges/v2', { spec => { scope => 'y' } });
    like $kept->text, qr/is kept/, 'what may not change, in any dialect';
    like $tool->ends(0, qw(limitranges list))->{out}, qr/\ANAMESPACE .* CREATED_AT +LIMITS\n.*^default +a .* 1$/ms, 'tenure lists it, with its columns';
    like $tool->ends(0, qw(limits list --columns), 'name')->{out}, qr/^a$/m, 'by its short name';
    like $tool->ends(0, qw(resource show limits a --format json))->{out}, qr/Container/, 'and shows one';
};

# ---- every row, wherever types are listed

sub rows {
    my @types;
    while ($rows =~ /^BUILTIN_TYPE\((\w+)(?:\((\w+)\))?,\s*\w+(?:\(\w+\))?,\s*(OFFERED|HIDDEN),\s*"([^"]*)",\s*"(\w+)",\s*"(\w+)",\s*(\w+),\s*(NO_SHORT|SHORTS?\([^)]*\)),\s*(.*?)\)$/gsm) {
        my ($parts, $name, $offered, $group, $kind, $plural, $scope, $short, $rest) = ($1, $2, $3, $4, $5, $6, $7, $8, $9);
        push @types, { parts => $name, offered => $offered eq 'OFFERED', group => $group, kind => $kind, plural => $plural, scope => $scope,
            short => [$short =~ /"(\w+)"/g], system => scalar($rest =~ /system_only = true/),
            announced => scalar($rest =~ /announced = true/) };
    }
    return @types;
}

sub offered { my ($plural) = @_; return scalar grep { $_->{plural} eq $plural && $_->{offered} } @_[1 .. $#_] }

sub listed {
    my ($client, $type) = @_;
    my $path = $type->{group} eq '' ? '/api/v1' : "/apis/$type->{group}/v1";
    my ($found) = grep { $_->{name} eq $type->{plural} } @{ $client->get($path)->json->{resources} // [] };
    return $found;
}

subtest 'each row' => sub {
    my @types = rows();
    is scalar(@types), scalar(() = $rows =~ /^BUILTIN_TYPE/mg), 'this test reads all rows';
    my $openapi = $admin->get('/openapi/v2')->text;
    my %offered = map { $_ => 1 } split /\n/, $tool->ends(0, '__complete', 'resource', 'list', '')->{out};
    my $columns = 0;
    for my $type (@types) {
        my ($name, $found) = ("$type->{plural}.$type->{group}", listed($admin, $type));
        is ref $found, 'HASH', "$name is discovered" or next;
        is "$found->{kind} " . ($found->{namespaced} ? 'NAMESPACED' : ''), "$type->{kind} " . ($type->{scope} eq 'NAMESPACED' ? 'NAMESPACED' : ''),
            'by its kind';
        is_deeply $found->{shortNames} // [], $type->{short}, 'with its short names';
        is !!listed($acme, $type), !$type->{system} || !!$type->{announced}, 'for whom it is';
        is !!$offered{ $type->{plural} }, !!offered($type->{plural}, @types), 'offered, or not';
        next if !defined $type->{parts};
        my ($file) = grep { -e } map { "$source/$_.c" } "src/types/$type->{parts}", 'src/types/' . $type->{parts} =~ s{_}{/}r, "t/additions/$type->{parts}";
        my $text = read_file($file);
        my $definition = 'io.k8s.api.' . ($type->{group} || 'core') . ".v1.$type->{kind}";
        is !!($openapi =~ /"\Q$definition\E"/), !!($text =~ /^\t\.description =/m), 'OpenAPI describes it';
        my $path  = $type->{group} eq '' ? '/api/v1' : "/apis/$type->{group}/v1";
        my $table = $admin->get("$path/$type->{plural}", accept => 'application/json;as=Table;v=v1;g=meta.k8s.io')->json;
        my @shown = map { $_->{name} } @{ $table->{columnDefinitions} };
        is $shown[0], 'Name', 'a table';
        $columns += @shown;
    }
    cmp_ok $columns, '>', 3 * grep({ defined $_->{parts} } @types), 'tables have columns';
};

subtest 'its row in the database' => sub {
    my $id = $instance->sql_value("SELECT id FROM types WHERE plural = 'limitranges'");
    is(($instance->manage('db', 'reset', '--yes'))[0], 0, 'db reset, while workers run');
    is $instance->sql_value("SELECT id FROM types WHERE plural = 'limitranges'"), $id, 'leaves it as workers hold it';
    $admin->make_tenant('globex');
    $admin->put('/v2.0/globex/namespaces/default/limitranges/a', json => {})->is_status(201, 'so they make objects of it');
    my ($code, $text) = $instance->manage('db', 'status');
    is $code, 0, 'nothing lacks' or diag $text;
    $instance->sql("DELETE FROM types WHERE plural = 'limitranges'");
    ($code, $text) = $instance->manage('db', 'status');
    is $code, 1, 'as in a database of a release before';
    like $text, qr/^to be added +built-in type limitranges$/m, 'by name';
    is(($instance->manage('db', 'upgrade'))[0], 0, 'db upgrade');
    is $instance->sql_value("SELECT CONCAT(kind, singular, namespaced, builtin) FROM types WHERE plural = 'limitranges'"), 'LimitRangelimitrange11',
        'adds it';
    is(($instance->manage('db', 'status'))[0], 0, 'that is all');
};

done_testing;
