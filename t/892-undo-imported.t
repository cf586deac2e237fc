#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo of changes of what `tenure-manage import placement` brought: consumers of any type, project and generation, amounts that no rule of
# today lets anybody write. Each undo gives what the database of Placement had, as `export placement` writes it, but for generations; or it
# is refused with every reason, and nothing changes. The import itself is not undone.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use Test::More;

use Tenure::Instance;
use Tenure::Placement qw(uuid);
use Tenure::Run qw(run read_file write_file);

my $instance = Tenure::Instance->start(auth => 'noauth', placement => 1);
my $admin    = $instance->admin;
my $api      = Tenure::Placement->new($instance->placement, '1.39');
my $socket   = $instance->env('TENURE_DB_SOCKET');
my $dir      = File::Temp->newdir;

# ---- databases of Placement, on the server that the test has

sub client { return ('mariadb', '--no-defaults', '--default-character-set=utf8mb4', '-u', 'root', '-S', $socket) }

sub sql_in {
    my ($db, $sql) = @_;
    write_file("$dir/in.sql", $sql);
    my ($code, $text) = run('sh', '-c', '"$@" <"$0"', "$dir/in.sql", client(), '-N', '-B', $db);
    $code == 0 or die "SQL failed in $db: $text";
    return $text;
}

# A new one; returns the path of a file with the connection to it.
sub new_db {
    my ($name, $more) = @_;
    run(client(), '-e', "DROP DATABASE IF EXISTS $name; CREATE DATABASE $name");
    sql_in($name, read_file(Tenure::Instance::source_dir() . '/t/data/placement.sql') . ($more // ''));
    write_file("$dir/$name.conf", "[placement_database]\nconnection = mysql+pymysql://root@/$name?charset=utf8&unix_socket=$socket\n");
    return "$dir/$name.conf";
}

# Who has what, without generations.
sub content {
    my ($db) = @_;
    return sql_in($db, <<'SQL');
SELECT 'consumer', c.uuid, p.external_id, u.external_id, y.name FROM consumers c JOIN projects p ON p.id = c.project_id
  JOIN users u ON u.id = c.user_id LEFT JOIN consumer_types y ON y.id = c.consumer_type_id ORDER BY 2;
SELECT 'allocation', a.consumer_id, p.uuid, k.name, a.used FROM allocations a JOIN resource_providers p ON p.id = a.resource_provider_id
  JOIN resource_classes k ON k.id = a.resource_class_id ORDER BY 2, 3, 4;
SELECT 'inventory', p.uuid, k.name, i.total, i.reserved, i.min_unit, i.max_unit, i.step_size, i.allocation_ratio
  FROM inventories i JOIN resource_providers p ON p.id = i.resource_provider_id JOIN resource_classes k ON k.id = i.resource_class_id ORDER BY 2, 3;
SQL
}

sub exported {
    my ($code, $text) = $instance->manage('export', 'placement', '--to', new_db('exported'));
    $code == 0 or die $text;
    return content('exported');
}

my ($p, $q, $full) = map { sprintf '11111111-0000-4000-8000-%012d', $_ } 1 .. 3;
my %c = map { $_ => sprintf '33333333-0000-4000-8000-%012d', $_ } 1 .. 9;

# 1: of a type. 2: of none, with a name of a project and a user of many letters. 3: of a great generation. 4 and 5: more than the capacity
# is used of $full, whose inventory has other units by now, too. 6: of one provider.
my $odd  = 'pröject ☃ "x" \\\\ ' . 'p' x 200;
my $file = new_db('placement', <<"SQL");
INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id) VALUES (50, '$p', 'p', 7, 50), (8, '$q', 'q', NULL, 8), (9, '$full', 'full', 2, 9);
INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio)
  VALUES (50, 30, 8, 0, 1, 8, 1, 16.0), (50, 1, 1024, 12, 1, 1024, 1, 1.5), (8, 30, 64, 0, 1, 64, 1, 1), (9, 4, 8, 8, 4, 8, 4, 1), (9, 30, 8, 0, 1, 8, 1, 1);
INSERT INTO projects (id, external_id) VALUES (3, 'p1'), (4, '$odd');
INSERT INTO users (id, external_id) VALUES (9, 'u1'), (10, '$odd');
INSERT INTO consumer_types (id, name) VALUES (2, 'INSTANCE');
INSERT INTO consumers (id, uuid, project_id, user_id, generation, consumer_type_id) VALUES (20, '$c{1}', 3, 9, 4, 2),
  (21, '$c{2}', 4, 10, 1, NULL), (22, '$c{3}', 3, 9, 2000000000, 2), (23, '$c{4}', 3, 9, 0, NULL), (24, '$c{5}', 3, 9, 1, 2), (25, '$c{6}', 3, 10, 5, 2);
INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used) VALUES (50, '$c{1}', 30, 2), (50, '$c{1}', 1, 100),
  (8, '$c{1}', 30, 1), (50, '$c{2}', 30, 3), (50, '$c{3}', 30, 1), (9, '$c{4}', 4, 3), (9, '$c{4}', 30, 1), (9, '$c{5}', 4, 6), (50, '$c{6}', 30, 4);
SQL
my $source = content('placement');
my ($code, $text) = $instance->manage('import', 'placement', '--from', $file);
is $code, 0, 'imported' or diag $text;
is exported(), $source, 'all of it';

# ---- changes and their undo

sub undo_path { my ($request) = @_; return "/v2.0/system/changes/$request/undo" }
sub undo { my ($request) = @_; return $admin->post(undo_path($request)) }
sub reasons { return [map { "$_->{resource} $_->{reason}" } sort { "$a->{resource} $a->{reason}" cmp "$b->{resource} $b->{reason}" } @{ $_[0]->json->{blockers} // [] }] }
sub details { return join "\n", sort map { $_->{detail} } @{ $_[0]->json->{blockers} // [] } }
sub last_request { return join '-', unpack 'A8A4A4A4A12', $instance->sql_value('SELECT LOWER(HEX(request_id)) FROM changes ORDER BY id DESC LIMIT 1') }
sub known { return $api->get("/allocations/$_[0]")->json->{consumer_generation} }

# Gives the consumer other allocations, provider => { class => amount }; returns the request's id.
sub claim {
    my ($consumer, $wanted, %more) = @_;
    my $answer = $api->put("/allocations/$consumer", json => { allocations => { map { $_ => { resources => $wanted->{$_} } } keys %$wanted },
        project_id => 'other', user_id => 'bob', consumer_type => 'MIGRATION', consumer_generation => known($consumer), %more });
    $answer->is_status(204) or diag $answer->text;
    return last_request();
}

sub removed { my ($consumer) = @_; $api->delete("/allocations/$consumer")->is_status(204); return last_request() }

# The undo of the request gives what was imported; that of the undo what the request left; and that of that what was imported again. No
# generation that anybody has seen counts.
sub comes_back {
    my ($what, $consumer, $request, @seen) = @_;
    my $changed = exported();
    isnt $changed, $source, "$what: changed";
    for my $expected ($source, $changed, $source) {
        push @seen, grep { defined } known($consumer);
        my $undone = undo($request);
        $undone->is_status(200, $what) or return diag $undone->text;
        is exported(), $expected, "$what: exactly what was" or return;
        for my $generation (@seen) {
            is $api->put("/allocations/$consumer", json => { allocations => { $q => { resources => { VCPU => 1 } } }, project_id => 'x', user_id => 'x',
                consumer_type => 'X', consumer_generation => $generation })->status, 409, "$what: generation $generation is stale";
        }
        $request = $undone->header('x-request-id');
    }
    return;
}

comes_back('other allocations, project, user and type', $c{1}, claim($c{1}, { $q => { VCPU => 5 } }), 4);
comes_back('a removal', $c{1}, removed($c{1}), 4);
comes_back('one without a type that gets one', $c{2}, claim($c{2}, { $p => { VCPU => 1 } }), 1);
comes_back('its removal', $c{2}, removed($c{2}), 1);
comes_back('one of a great generation', $c{3}, claim($c{3}, { $p => { VCPU => 2 } }), 2_000_000_000);
comes_back('its removal', $c{3}, removed($c{3}), 2_000_000_000);

subtest 'several consumers in one request' => sub {
    my %new = (project_id => 'other', user_id => 'bob', consumer_type => 'MIGRATION');
    $api->post('/allocations', json => { $c{1} => { %new, consumer_generation => known($c{1}), allocations => {} },
        $c{2} => { %new, consumer_generation => known($c{2}), allocations => { $q => { resources => { VCPU => 3 } } } },
        $c{9} => { %new, consumer_generation => undef, allocations => { $p => { resources => { VCPU => 7 } } } } })->is_status(204);
    comes_back('three of them', $c{2}, last_request(), 1);
};

subtest 'a reshape' => sub {
    my $of = sub { my ($uuid) = @_; my $json = $api->get("/resource_providers/$uuid/inventories")->json;
        return { resource_provider_generation => $json->{resource_provider_generation}, inventories => $json->{inventories} } };
    my ($from, $to) = map { $of->($_) } $p, $q;
    delete $from->{inventories}{MEMORY_MB};
    $to->{inventories}{MEMORY_MB} = { total => 1024 };
    my $old = $api->get("/allocations/$c{1}")->json;
    $api->post('/reshaper', json => { inventories => { $p => $from, $q => $to }, allocations => { $c{1} => { project_id => $old->{project_id}, user_id => $old->{user_id},
        consumer_type => $old->{consumer_type}, consumer_generation => $old->{consumer_generation}, allocations => {
            $p => { resources => { VCPU => 2 } }, $q => { resources => { VCPU => 1, MEMORY_MB => 100 } } } } } })->is_status(204);
    comes_back('its memory goes to another provider', $c{1}, last_request(), 4);
};

# What the import took over although no rule lets anybody write it does not come back by an undo, and everything is told at once.
subtest 'what no rule would let anybody write' => sub {
    my $request = removed($c{4});
    my $before  = exported();
    my $refused = undo($request);
    $refused->is_status(409, 'more than the capacity, and no multiple of the step');
    is_deeply reasons($refused), ["resourceproviders/$full conflict"], 'the provider';
    like details($refused), qr/SRIOV_NET_VF.*\Q$full\E.*violate inventory constraints/, 'why';
    is_deeply reasons($admin->get(undo_path($request))), reasons($refused), 'the preview says the same';
    is exported(), $before, 'nothing came back, not even what would fit';
    $request = removed($c{5});
    $before  = exported();
    $refused = undo($request);
    $refused->is_status(409, 'another one');
    is exported(), $before, 'nothing';
    my $inventory = { resource_provider_generation => $api->generation($full), total => 16, reserved => 0, min_unit => 1, max_unit => 16, step_size => 1, allocation_ratio => 1.0 };
    $api->put("/resource_providers/$full/inventories/SRIOV_NET_VF", json => $inventory)->is_status(200, 'once the provider has room and units for it');
    undo($request)->is_status(200, '... it comes back');
    my ($row) = $instance->sql("SELECT LOWER(HEX(request_id)) FROM changes WHERE fields = '[\"/allocations\"]' ORDER BY id DESC LIMIT 1 OFFSET 1");
    is_deeply $api->get("/allocations/$c{5}")->json->{allocations}{$full}{resources}, { SRIOV_NET_VF => 6 }, '... with its amount';
};

# The import wrote providers and allocations, each batch by a request of its own.
subtest 'the import' => sub {
    my $before   = exported();
    my @requests = map { join '-', unpack 'A8A4A4A4A12', $_->[0] } $instance->sql("SELECT LOWER(HEX(request_id)), MIN(id) FROM changes WHERE actor NOT IN ('admin') "
        . "AND (fields = '[\"/allocations\"]' OR verb = 'created') AND resource_id IN (SELECT id FROM resources WHERE root IS NOT NULL) GROUP BY request_id ORDER BY 2");
    ok scalar @requests, 'has changes';
    for my $request (@requests) {
        my $refused = undo($request);
        $refused->is_status(409, "$request is not taken back");
        ok scalar @{ reasons($refused) }, join ', ', @{ reasons($refused) };
        is_deeply reasons($admin->get(undo_path($request))), reasons($refused), 'the preview says the same';
    }
    is exported(), $before, 'nothing changes';
};
is +($instance->manage('doctor'))[0], 0, 'the stored data keep their promises';
$instance->stop;
done_testing;
