#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure-manage import placement and export placement: a small database of Placement (its schema: t/data/placement.sql) becomes
# providers and allocations, and comes back; what can't be taken over is named, all of it; nothing is half done.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use POSIX ();
use Test::More;

use Tenure::Instance;
use Tenure::Pages;
use Tenure::Placement qw(uuid);
use Tenure::Run qw(run run_apart read_file write_file);

my $instance = Tenure::Instance->start(auth => 'noauth', placement => 1);
my $api      = Tenure::Placement->new($instance->placement, '1.39');
my $socket   = $instance->env('TENURE_DB_SOCKET');
my $dir      = File::Temp->newdir;
my $manage   = Tenure::Instance::build_dir() . '/tenure-manage';

# ---- databases of Placement, on the server that the test has

sub client { return ('mariadb', '--no-defaults', '--default-character-set=utf8mb4', '-u', 'root', '-S', $socket) }

sub sql_in {
    my ($db, $sql) = @_;
    my ($code, $text) = do {
        write_file("$dir/in.sql", $sql);
        run('sh', '-c', '"$@" <"$0"', "$dir/in.sql", client(), '-N', '-B', $db);
    };
    $code == 0 or die "SQL failed in $db: $text";
    return $text;
}

# A new one; returns the path of a file with the connection to it.
sub new_db {
    my ($name, $more) = @_;
    run(client(), '-e', "DROP DATABASE IF EXISTS $name; CREATE DATABASE $name");
    sql_in($name, read_file(Tenure::Instance::source_dir() . '/t/data/placement.sql') . ($more // ''));
    write_file("$dir/$name.conf", "[DEFAULT]\nconnection = nonsense\n[placement_database]\n# a comment\n"
            . "connection = mysql+pymysql://root@/$name?charset=utf8&unix_socket=$socket\n[api]\nauth_strategy = keystone\n");
    return "$dir/$name.conf";
}

# All that a Placement database answers, without ids and times of rows.
sub content {
    my ($db) = @_;
    return sql_in($db, <<'SQL');
SELECT 'provider', p.uuid, p.name, p.generation, o.uuid, q.uuid FROM resource_providers p
  LEFT JOIN resource_providers o ON o.id = p.root_provider_id LEFT JOIN resource_providers q ON q.id = p.parent_provider_id ORDER BY 2;
SELECT 'inventory', p.uuid, k.name, i.total, i.reserved, i.min_unit, i.max_unit, i.step_size, i.allocation_ratio
  FROM inventories i JOIN resource_providers p ON p.id = i.resource_provider_id JOIN resource_classes k ON k.id = i.resource_class_id ORDER BY 2, 3;
SELECT 'aggregate', p.uuid, g.uuid FROM resource_provider_aggregates m JOIN resource_providers p ON p.id = m.resource_provider_id
  JOIN placement_aggregates g ON g.id = m.aggregate_id ORDER BY 2, 3;
SELECT 'trait', p.uuid, t.name FROM resource_provider_traits m JOIN resource_providers p ON p.id = m.resource_provider_id
  JOIN traits t ON t.id = m.trait_id ORDER BY 2, 3;
SELECT 'consumer', c.uuid, p.external_id, u.external_id, c.generation, y.name FROM consumers c JOIN projects p ON p.id = c.project_id
  JOIN users u ON u.id = c.user_id LEFT JOIN consumer_types y ON y.id = c.consumer_type_id
  WHERE c.uuid IN (SELECT consumer_id FROM allocations) ORDER BY 2;
SELECT 'allocation', a.consumer_id, p.uuid, k.name, a.used FROM allocations a JOIN resource_providers p ON p.id = a.resource_provider_id
  JOIN resource_classes k ON k.id = a.resource_class_id ORDER BY 2, 3, 4;
SELECT 'class', name FROM resource_classes ORDER BY 2;
SELECT 'trait', name FROM traits ORDER BY 2;
SQL
}

# What the registry holds of it.
sub registry_size {
    return join ' ', map { $instance->sql_value("SELECT COUNT(*) FROM $_") } 'resources WHERE live = 1', 'inventories',
        'provider_aggregates', 'consumers', 'allocations', 'resource_traits', 'changes', "traits WHERE name LIKE 'CUSTOM%'";
}

sub import_from { my ($file, @more) = @_; return $instance->manage('import', 'placement', '--from', $file, @more) }
sub export_to   { my ($file, @more) = @_; return $instance->manage('export', 'placement', '--to', $file, @more) }

# (exit code, text) of a run that a fault may end.
sub with_fault {
    my ($fault, @args) = @_;
    local $ENV{TENURE_FAULT} = $fault;
    return $instance->manage(@args);
}

my %p = map {; "p$_" => sprintf '11111111-0000-4000-8000-%012d', $_ } 1 .. 9;    # providers
my %c = map {; "c$_" => sprintf '33333333-0000-4000-8000-%012d', $_ } 1 .. 9;    # consumers
my $aggregate = '22222222-0000-4000-8000-000000000001';

# Ids of rows in no order, a child with a smaller id than its parent, a name that is not ASCII, a provider and a consumer without
# anything, a generation that is NULL, and an inventory of which more is used than there is.
my $seed = <<"SQL";
INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id, parent_provider_id) VALUES
  (50, '$p{p1}', 'host1', 7, 50, NULL), (8, '$p{p2}', 'höst2 ☃', NULL, 8, NULL);
INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id, parent_provider_id) VALUES
  (6, '$p{p3}', 'numa0', 3, 50, 50), (51, '$p{p4}', 'numa1', 12, 50, 50);
INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id, parent_provider_id) VALUES (2, '$p{p5}', 'pf', 1, 50, 6);
INSERT INTO resource_classes (id, name) VALUES (10001, 'CUSTOM_FPGA');
INSERT INTO traits (name) VALUES ('CUSTOM_A'), ('CUSTOM_UNUSED');
INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio)
  VALUES (50, 30, 8, 0, 1, 8, 1, 16.0), (50, 1, 1024, 12, 1, 1024, 1, 1.5), (6, 10001, 2, 0, 1, 1, 1, 1.1), (2, 4, 8, 8, 1, 8, 1, 1);
INSERT INTO placement_aggregates (id, uuid) VALUES (7, '$aggregate');
INSERT INTO resource_provider_aggregates (resource_provider_id, aggregate_id) VALUES (50, 7), (8, 7);
INSERT INTO resource_provider_traits (resource_provider_id, trait_id) SELECT 50, id FROM traits WHERE name IN ('CUSTOM_A', 'HW_CPU_X86_AVX');
INSERT INTO projects (id, external_id) VALUES (3, 'p1'), (4, 'p2'), (5, 'nobody');
INSERT INTO users (id, external_id) VALUES (9, 'u1');
INSERT INTO consumer_types (id, name) VALUES (2, 'INSTANCE');
INSERT INTO consumers (id, uuid, project_id, user_id, generation, consumer_type_id) VALUES (20, '$c{c1}', 3, 9, 4, 2),
  (10, '$c{c2}', 4, 9, 1, NULL), (30, '$c{c3}', 4, 9, 1, NULL);
INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used) VALUES (50, '$c{c1}', 30, 2), (50, '$c{c1}', 1, 100),
  (6, '$c{c1}', 10001, 1), (50, '$c{c2}', 30, 3), (2, '$c{c2}', 4, 1);
SQL

my $source = new_db('placement', $seed);
my $before = content('placement');

subtest 'what is no database of Placement' => sub {
    my $empty = registry_size();
    my $said = sub {
        my ($name, $text, $code, $pattern) = @_;
        write_file("$dir/wrong.conf", $text);
        for my $command (['import', '--from'], ['export', '--to']) {
            my ($got, $out) = $instance->manage($command->[0], 'placement', $command->[1], "$dir/wrong.conf");
            ok $got == $code && $out =~ $pattern, "$command->[0]: $name" or diag "$got: $out";
        }
    };
    my ($code, $text) = $instance->manage('import', 'placement');
    ok $code == 64 && $text =~ /needs --from FILE/, 'without a file' or diag $text;
    ($code, $text) = import_from("$dir/none.conf");
    ok $code == 78 && $text =~ /can't open/, 'a file that is not there' or diag $text;
    $said->('no section', "[api]\nconnection = mysql://x/y\n", 78, qr/no option "connection" in a section \[placement_database\]/);
    my $of = sub { return "[placement_database]\nconnection = $_[0]\n" };
    $said->('another kind of server', $of->('sqlite:////var/lib/placement.db'), 78, qr/no MySQL or MariaDB server: got "sqlite:/);
    $said->($_, $of->($_), 78, qr/not of the form/) for 'mysql://root@host', 'mysql://root@host/', 'mysql://r%00t@h/d',
        'mysql://root@h:33o7/d', 'mysql://root@h:70000/d', 'mysql://root@h,i/d';
    $said->('a database that does not exist', $of->("mysql://root@/none?unix_socket=$socket"), 78, qr/can't connect.*none/);
    $said->('a name with a percent sign', $of->("mysql://root@/no%6Ee?unix_socket=$socket"), 78, qr/can't connect.*no%6Ee/);
    # By TCP, as Placement's driver connects, and not by the unix socket that Connector/C takes for these.
    my ($port) = Tenure::Instance::free_ports(1);
    $said->("nobody at $_$port", $of->("mysql+pymysql://root\@$_$port/x"), 75, qr/can't connect.* on '127\.0\.0\.1'/) for 'localhost:', ':';
    $said->('no port behind the colon', $of->('mysql://root@127.0.0.2:/x'), 75, qr/can't connect.* on '127\.0\.0\.2'/);
    $said->('a server that is away', $of->("mysql://root@/x?unix_socket=$dir/none.sock"), 75, qr/can't connect/);
    $said->('ours', $of->('mysql://root@/' . $instance->env('TENURE_DB_NAME') . "?unix_socket=$socket"), 65, qr/no table alembic_version/);
    my $other = new_db('other', "UPDATE alembic_version SET version_num = '611cd6dffd7b';");
    ($code, $text) = import_from($other);
    ok $code == 65 && $text =~ /version 611cd6dffd7b; expected b5c396305c25 \(3\.0 to 5\.0\), 422ece571366 \(6\.0 to 8\.0\) or a082b8bb98d0 \(later ones\)/, 'another version' or diag $text;
    $other = new_db('other', 'ALTER TABLE inventories DROP COLUMN step_size;');
    ($code, $text) = import_from($other);
    ok $code == 65 && $text =~ /no column inventories\.step_size/, 'a column that is missing' or diag $text;
    is registry_size(), $empty, 'nothing was imported';
};

subtest 'what the source must not have' => sub {
    my $empty = registry_size();
    my @faults = (
        [ "provider '?ABC", "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id) VALUES (100, 'ABC', 'bad1', 0, 100)",
            qr/provider ABC \(id 100\): its uuid is malformed/ ],
        [ 'upper case', "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id) VALUES (101, '" . uc('aaaaaaaa-0000-4000-8000-000000000001') . "', 'bad2', 0, 101)",
            qr/provider AAAAAAAA-\S+ \(id 101\): its uuid is malformed/ ],
        [ 'no name', "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id) VALUES (102, 'aaaaaaaa-0000-4000-8000-000000000102', NULL, 0, 102)",
            qr/provider \S+102 has no name/ ],
        [ 'a name with NUL', "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id) VALUES (103, 'aaaaaaaa-0000-4000-8000-000000000103', 'x\\0y', -4, 103)",
            qr/provider \S+103 has a name that is not/ ],
        [ 'its generation', '', qr/provider \S+103 has generation -4/ ],
        [ 'no root', "INSERT INTO resource_providers (id, uuid, name, generation) VALUES (104, 'aaaaaaaa-0000-4000-8000-000000000104', 'bad4', 0)",
            qr/provider \S+104 has no root/ ],
        [ 'a loop', "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id) VALUES (105, 'aaaaaaaa-0000-4000-8000-000000000105', 'bad5', 0, 105);"
                . "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id) VALUES (106, 'aaaaaaaa-0000-4000-8000-000000000106', 'bad6', 0, 105),"
                . "(107, 'aaaaaaaa-0000-4000-8000-000000000107', 'bad7', 0, 105);"
                . 'UPDATE resource_providers SET parent_provider_id = 107 WHERE id = 106; UPDATE resource_providers SET parent_provider_id = 106 WHERE id = 107',
            qr/provider \S+106 is in no tree/ ],
        [ 'its other half', '', qr/provider \S+107 is in no tree/ ],
        [ 'its own parent', "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id, parent_provider_id) VALUES (108, 'aaaaaaaa-0000-4000-8000-000000000108', 'bad8', 0, 108, 108)",
            qr/provider \S+108 is in no tree/ ],
        [ 'a root that is none', "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id) VALUES (109, 'aaaaaaaa-0000-4000-8000-000000000109', 'bad9', 0, 50)",
            qr/provider \S+109 is in no tree/ ],
        [ 'a parent that is nobody', "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id, parent_provider_id) VALUES (110, 'aaaaaaaa-0000-4000-8000-000000000110', 'bad10', 0, 50, 9999)",
            qr/provider \S+110 has parent id 9999, which does not exist/ ],
        [ 'inventory of nobody', 'INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio) VALUES (7777, 30, 1, 0, 1, 1, 1, 1)',
            qr/inventory \d+ is of provider id 7777/ ],
        [ 'inventory of no class', 'INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio) VALUES (8, 7777, 1, 0, 1, 1, 1, 1)',
            qr/provider \Q$p{p2}\E has inventory of a class that does not exist/ ],
        [ 'a class of the future', "INSERT INTO resource_classes (id, name) VALUES (25, 'QUBIT'); INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio) VALUES (8, 25, 1, 0, 1, 1, 1, 1)",
            qr/provider \Q$p{p2}\E has inventory of class QUBIT/ ],
        [ 'numbers out of range', 'INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio) VALUES (8, 30, -5, 0, 0, 1, 1, -1)',
            qr/inventory of VCPU out of range: total=-5 reserved=0 min_unit=0/ ],
        [ 'a trait of the future', "INSERT INTO traits (id, name) VALUES (900, 'HW_QUANTUM'); INSERT INTO resource_provider_traits (trait_id, resource_provider_id) VALUES (900, 8)",
            qr/provider \Q$p{p2}\E has trait HW_QUANTUM/ ],
        [ 'a trait of nobody', 'INSERT INTO resource_provider_traits (trait_id, resource_provider_id) VALUES (1, 6666)', qr/provider id 6666 does not exist, but has 1 traits/ ],
        [ 'a member that is nobody', 'INSERT INTO resource_provider_aggregates (resource_provider_id, aggregate_id) VALUES (5555, 7)', qr/provider id 5555 does not exist, but is in 1 aggregates/ ],
        [ 'an aggregate that is none', 'INSERT INTO resource_provider_aggregates (resource_provider_id, aggregate_id) VALUES (8, 4444)', qr/is in an aggregate that does not exist/ ],
        [ 'a malformed aggregate', "INSERT INTO placement_aggregates (id, uuid) VALUES (8, 'rack 7'); INSERT INTO resource_provider_aggregates (resource_provider_id, aggregate_id) VALUES (8, 8)",
            qr/is in an aggregate with the malformed uuid "rack 7"/ ],
        [ 'allocations of nobody', "INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used) VALUES (3333, '$c{c1}', 30, 1)", qr/of consumer \Q$c{c1}\E is of provider id 3333/ ],
        [ '… of no class', "INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used) VALUES (50, '$c{c1}', 2222, 1)", qr/of consumer \Q$c{c1}\E is of class id 2222/ ],
        [ '… for nobody', "INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used) VALUES (50, '$c{c8}', 30, 1)", qr/is of consumer \Q$c{c8}\E, which does not exist/ ],
        [ '… without inventory', "INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used) VALUES (51, '$c{c1}', 30, 1)", qr/uses VCPU of provider \Q$p{p4}\E, which has no inventory of it/ ],
        [ '… of less than nothing', "INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used) VALUES (50, '$c{c2}', 1, -1)", qr/consumer \Q$c{c2}\E uses -1 MEMORY_MB/ ],
        [ '… twice', "INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used) VALUES (50, '$c{c2}', 30, 1)", qr/consumer \Q$c{c2}\E has two allocations of VCPU/ ],
        [ 'a malformed consumer', "INSERT INTO consumers (uuid, project_id, user_id) VALUES ('me', 3, 9)", qr/consumer "me" \(id \d+\): its uuid is malformed/ ],
        [ 'a project that is none', "INSERT INTO consumers (uuid, project_id, user_id, generation) VALUES ('$c{c4}', 1111, 1112, -2)", qr/consumer \Q$c{c4}\E is of a project that does not exist/ ],
        [ 'a user that is none', '', qr/consumer \Q$c{c4}\E is of a user that does not exist/ ],
        [ 'its generation', '', qr/consumer \Q$c{c4}\E has generation -2/ ],
        (map { [ "project '$_->[1]'", "INSERT INTO projects (id, external_id) VALUES ($_->[0], '$_->[1]'); INSERT INTO consumers (uuid, project_id, user_id) VALUES ('33333333-0000-4000-8000-000000000$_->[0]', $_->[0], 9)",
            qr/consumer \S+$_->[0] is of project "\Q$_->[2]\E", which can be no tenant's id/ ] }
            [ 501, 'a/b', 'a/b' ], [ 502, 'all', 'all' ], [ 503, 'system', 'system' ], [ 504, '..', '..' ]),
        [ 'a type that is no name', "INSERT INTO consumer_types (id, name) VALUES (5, 'so so'); INSERT INTO consumers (uuid, project_id, user_id, consumer_type_id) VALUES ('$c{c6}', 3, 9, 5)",
            qr/consumer \Q$c{c6}\E is of type id 5, which has no name of/ ],
    );
    my $hostile = new_db('hostile', $seed . 'SET foreign_key_checks = 0;' . join '', map { $_->[1] ? "$_->[1];\n" : '' } @faults);
    my ($code, $text) = import_from($hostile);
    is $code, 65, 'refused';
    like $text, $_->[2], $_->[0] for @faults;
    like $text, qr/^tenure-manage: \d+ problems; nothing was imported$/m, 'in sum';
    unlike $text, qr/[\x00-\x09\x0b-\x1f]/, 'no control characters';
    is registry_size(), $empty, 'nothing was imported';
};

subtest 'import' => sub {
    my $empty = registry_size();
    my ($code, $out, $err) = run_apart($manage, '-c', $instance->env('TENURE_CONFIG'), qw(import placement --from), $source, '--dry-run');
    is $code, 0, 'dry run' or diag $err;
    like $out, qr/would import: 5 providers, 2 consumers, 1 classes and 2 traits/, 'says what';
    like $err, qr/note: provider \Q$p{p5}\E: 1 of SRIOV_NET_VF are used, more than its capacity of 0/, 'what is used beyond capacity is named';
    is registry_size(), $empty, 'and does nothing';
    sql_in('placement', "CREATE USER odd IDENTIFIED BY 'p/a\$:s'; GRANT SELECT ON placement.* TO odd");
    write_file("$dir/odd.conf", "[placement_database]\nconnection: 'mysql+pymysql://odd:p/a\$\$:s@/placement?unix_socket=$socket'\n");
    ($code, $out) = import_from("$dir/odd.conf", '--dry-run');
    is $code, 0, 'a file with colon, quotes, $$ and a password with a slash is read as Placement reads it' or diag $out;

    sql_in('placement', "CREATE USER half IDENTIFIED BY '50%off %4'; GRANT SELECT ON placement.* TO half");
    write_file("$dir/half.conf", "[placement_database]\nconnection = mysql+pymysql://half:50%off%20%4@/placement?charset=utf8&unix_socket=$socket\n");
    ($code, $out) = import_from("$dir/half.conf", '--dry-run');
    is $code, 0, '... and one with a percent sign that is not encoded' or diag $out;

    ($code, $out, $err) = run_apart($manage, '-c', $instance->env('TENURE_CONFIG'), qw(import placement --from), $source);
    is $code, 0, 'import' or diag $err;
    like $out, qr/imported: 5 providers, 2 consumers.*\n.*\nleft out: 1 consumer without.*\nmore used than there is: 1 inventory\nverified: all of it, and the answers about 7 /,
        'says what it did';
    like $err, qr/^importing: \d+ of 8$/m, 'progress in lines';
    is content('placement'), $before, 'Placement is as it was';
    ($code, $out) = $instance->manage('doctor');
    is $code, 0, 'doctor is content' or diag $out;

    my $size = registry_size();
    ($code, $out) = import_from($source);
    ok $code == 0 && $out =~ /imported: 0 providers, 0 consumers.*\nthere already: 5 providers, 2 consumers/s, 'again, it finds all there' or diag $out;
    is registry_size(), $size, 'and does nothing';
};

subtest 'what the service answers' => sub {
    my $provider = $api->get("/resource_providers/$p{p5}")->json;
    is_deeply [ @$provider{qw(name generation parent_provider_uuid root_provider_uuid)} ], [ 'pf', 1, $p{p3}, $p{p1} ], 'a provider in a tree';
    my $second = $api->get("/resource_providers/$p{p2}")->json;
    is_deeply [ @$second{qw(name generation parent_provider_uuid)} ], [ "h\xf6st2 \x{2603}", 0, undef ], 'a name, and no generation';
    my $inventories = $api->get("/resource_providers/$p{p1}/inventories")->json;
    is $inventories->{resource_provider_generation}, 7, 'the generation';
    is_deeply $inventories->{inventories}{MEMORY_MB},
        { total => 1024, reserved => 12, min_unit => 1, max_unit => 1024, step_size => 1, allocation_ratio => 1.5 }, 'inventory';
    is $api->get("/resource_providers/$p{p3}/inventories/CUSTOM_FPGA")->json->{allocation_ratio}, 1.1, 'a ratio is as it was written';
    is_deeply $api->get("/resource_providers/$p{p1}/traits")->json->{traits}, [ 'CUSTOM_A', 'HW_CPU_X86_AVX' ], 'traits';
    is_deeply $api->get("/resource_providers/$p{p1}/aggregates")->json->{aggregates}, [$aggregate], 'aggregates';
    is_deeply $api->get("/resource_providers/$p{p1}/usages")->json->{usages}, { VCPU => 5, MEMORY_MB => 100 }, 'usages';
    $api->get('/traits/CUSTOM_UNUSED')->is_status(204, 'a trait that nobody has');
    my $allocations = $api->get("/allocations/$c{c1}")->json;
    is_deeply [ @$allocations{qw(project_id user_id consumer_generation consumer_type)} ], [ 'p1', 'u1', 4, 'INSTANCE' ], 'a consumer';
    is_deeply $allocations->{allocations}, { $p{p1} => { generation => 7, resources => { VCPU => 2, MEMORY_MB => 100 } },
        $p{p3} => { generation => 3, resources => { CUSTOM_FPGA => 1 } } }, 'its allocations';
    is $api->get("/allocations/$c{c2}")->json->{consumer_type}, 'unknown', 'a consumer without a type';
    is_deeply $api->get('/usages?project_id=p2')->json->{usages}, { unknown => { consumer_count => 1, VCPU => 3, SRIOV_NET_VF => 1 } }, 'usages of a project';
    is scalar @{ $api->get("/resource_providers?in_tree=$p{p4}")->json->{resource_providers} }, 4, 'a tree';
    is scalar @{ $api->get('/resource_providers?resources=VCPU:1')->json->{resource_providers} }, 1, 'found by what is left';
};

subtest 'generations that clients have cached stay valid' => sub {
    $api->put("/resource_providers/$p{p2}/inventories", json => { resource_provider_generation => 0,
        inventories => { VCPU => { total => 4 } } })->is_status(200, 'a provider');
    $api->put("/resource_providers/$p{p1}/traits", json => { resource_provider_generation => 6, traits => [] })->is_status(409, 'not an older one');
    $api->put("/allocations/$c{c2}", json => { allocations => { $p{p2} => { resources => { VCPU => 4 } } }, project_id => 'p2', user_id => 'u1',
        consumer_generation => 1, consumer_type => 'INSTANCE' })->is_status(204, 'a consumer');
    $api->put("/allocations/$c{c7}", json => { allocations => { $p{p2} => { resources => { VCPU => 1 } } }, project_id => 'p2', user_id => 'u1',
        consumer_generation => undef, consumer_type => 'INSTANCE' })->is_status(409, 'and what is used is counted');
    my ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'doctor is content' or diag $text;
};

subtest 'what is there and differs' => sub {
    my $size = registry_size();
    my ($code, $text) = import_from($source);
    is $code, 65, 'is refused';
    like $text, qr/provider \Q$p{p2}\E is another one here: generation 0 there; .*generation 2 here.*inventory VCPU total=4/, 'a provider, and how';
    like $text, qr/consumer \Q$c{c2}\E is another one here: allocation 1 SRIOV_NET_VF .* there.*generation 2 here/s, 'a consumer, and how';
    like $text, qr/^tenure-manage: 2 problems; nothing was imported$/m, 'no more than these';
    my $named = new_db('other', "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id) VALUES (1, '$p{p9}', 'host1', 0, 1)");
    ($code, $text) = import_from($named);
    ok $code == 65 && $text =~ /provider \Q$p{p9}\E has the name "host1", which provider \Q$p{p1}\E has here/, 'a name that is taken' or diag $text;
    is registry_size(), $size, 'nothing was imported';
};

# What was changed in Tenure: p2's inventory and generation, c2's allocations. More: a child of another parent, a new tree, names
# that are swapped, a trait that is gone, and a consumer that is.
subtest 'export' => sub {
    my ($code, $text) = $instance->manage('export', 'placement', '--to', new_db('other', $seed . 'DELETE FROM allocations WHERE used = 100'));
    ok $code == 65 && $text =~ /holds 5 providers and 3 consumers, was changed since it was imported/, 'another database is left alone' or diag $text;

    $api->put("/resource_providers/$p{p5}", json => { name => 'pf', parent_provider_uuid => $p{p4} })->is_status(200);
    $api->put("/resource_providers/$p{p3}", json => { name => 'spare', parent_provider_uuid => $p{p1} })->is_status(200);
    $api->put("/resource_providers/$p{p4}", json => { name => 'numa0', parent_provider_uuid => $p{p1} })->is_status(200);
    $api->put("/resource_providers/$p{p3}", json => { name => 'numa1', parent_provider_uuid => $p{p1} })->is_status(200);
    $api->post('/resource_providers', json => { name => 'new', uuid => $p{p6} })->is_status(200);
    $api->post('/resource_providers', json => { name => 'new child', uuid => $p{p7}, parent_provider_uuid => $p{p6} })->is_status(200);
    $api->put('/traits/CUSTOM_NEW')->is_status(201);
    $api->delete('/traits/CUSTOM_UNUSED')->is_status(204);
    $api->put("/resource_providers/$p{p7}/traits", json => { resource_provider_generation => 0, traits => [ 'CUSTOM_NEW' ] })->is_status(200);
    $api->put("/resource_providers/$p{p7}/aggregates", json => { resource_provider_generation => 1, aggregates => [ $aggregate, $p{p9} ] })->is_status(200);
    $api->put('/resource_classes/CUSTOM_NEW')->is_status(201);
    $api->put("/resource_providers/$p{p7}/inventories", json => { resource_provider_generation => 2, inventories => { CUSTOM_NEW => { total => 9, allocation_ratio => 2.5 } } })->is_status(200);
    $api->put("/allocations/$c{c9}", json => { allocations => { $p{p7} => { resources => { CUSTOM_NEW => 2 } } }, project_id => 'p3', user_id => 'u3',
        consumer_generation => undef, consumer_type => 'MIGRATION' })->is_status(204);
    # The consumer that the import has left out, since it has no allocations there.
    $api->allocate($c{c3}, { $p{p7} => { CUSTOM_NEW => 1 } }, project => 'p2', user => 'u1')->is_status(204);
    $api->delete("/allocations/$c{c1}")->is_status(204);

    my $fresh = new_db('fresh');
    ($code, $text) = export_to($fresh, '--dry-run');
    ok $code == 0 && $text =~ /would write: 7 providers and 3 consumers/, 'dry run into an empty one' or diag $text;
    is sql_in('fresh', 'SELECT COUNT(*) FROM resource_providers'), "0\n", 'writes nothing';
    ($code, $text) = export_to($fresh);
    ok $code == 0 && $text =~ /written: 7 providers and 3 consumers/, 'into an empty one' or diag $text;
    my $exported = content('fresh');
    like $exported, qr/^provider\t\Q$p{p5}\E\tpf\t1\t\Q$p{p1}\E\t\Q$p{p4}\E$/m, 'a child has its parent and root';
    like $exported, qr/^provider\t\Q$p{p3}\E\tnuma1\t/m, 'and its name';
    like $exported, qr/^consumer\t\Q$c{c9}\E\tp3\tu3\t1\tMIGRATION$/m, 'a consumer has its owners, type and generation';
    like $exported, qr/^inventory\t\Q$p{p7}\E\tCUSTOM_NEW\t9\t0\t1\t2147483647\t1\t2.5$/m, 'an inventory its numbers';

    ($code, $text) = export_to($source, '--dry-run', '--list');
    is $code, 0, 'what would be written';
    like $text, qr/^provider \Q$p{p5}\E: .*there.*here/m, '... says in what a provider differs';
    like $text, qr/^provider \Q$p{p5}\E: written: pf$/m, '... and that it is written';
    like $text, qr/^provider \Q$p{p6}\E: written: new$/m, 'a new one';
    unlike $text, qr/^provider \Q$p{p6}\E: (?!written)/m, '... which differs in nothing';
    like $text, qr/^consumer \Q$c{c1}\E: taken away$/m, 'one that is gone';
    like $text, qr/^consumer \Q$c{c9}\E: written: 1 allocation$/m, 'a new consumer';
    like $text, qr/^consumer \Q$c{c3}\E: written: 1 allocation$/m, 'one that has allocations now';

    my %kept = map { split /\t/ } split /\n/, sql_in('placement', "SELECT uuid, id FROM resource_providers");
    ($code, $text) = export_to($source);
    ok $code == 0 && $text =~ /written: \d providers and 3 consumers; as they were: 1 providers, 0 consumers/, 'into that which was imported' or diag $text;
    is content('placement') =~ s/^trait\tCUSTOM_UNUSED\n//mr, $exported, 'has the same, and the trait that was deleted here';
    my %now = map { split /\t/ } split /\n/, sql_in('placement', "SELECT uuid, id FROM resource_providers");
    is_deeply { map { $_ => $now{$_} } keys %kept }, \%kept, 'rows keep their ids';
    ($code, $text) = export_to($source);
    ok $code == 0 && $text =~ /nothing to do/, 'again, nothing is to do' or diag $text;

    $api->delete("/allocations/$_")->is_status(204) for @c{"c9", "c3"};
    $api->delete("/resource_providers/$_")->is_status(204) for @p{"p7", "p6"};
    $api->delete('/traits/CUSTOM_NEW')->is_status(204);
    $api->delete('/resource_classes/CUSTOM_NEW')->is_status(204);
    ($code, $text) = export_to($source);
    is $code, 0, 'what was deleted here' or diag $text;
    unlike content('placement') =~ s/^(?:class|trait)\tCUSTOM_NEW$//mgr, qr/new|CUSTOM_NEW|\Q$c{c9}\E|\Q$c{c3}\E/, 'is deleted there';

    sql_in('placement', q(INSERT INTO resource_classes (id, name) VALUES (10500, 'CUSTOM_THEIRS'); INSERT INTO traits (name) VALUES ('CUSTOM_THEIR_RACK')));
    $api->post('/resource_providers', json => { name => 'a change', uuid => $p{p8} })->is_status(200);
    ($code, $text) = export_to($source);
    is $code, 0, 'exported again' or diag $text;
    like content('placement'), qr/^$_$/m, "which leaves the $_ that only Placement has" for "class\tCUSTOM_THEIRS", "trait\tCUSTOM_THEIR_RACK", "trait\tCUSTOM_UNUSED";

    sql_in('placement', "UPDATE resource_providers SET generation = generation + 1 WHERE uuid = '$p{p1}'");
    my $changed = content('placement');
    $api->post('/resource_providers', json => { name => 'late', uuid => $p{p9} })->is_status(200);
    ($code, $text) = export_to($source);
    ok $code == 65 && $text =~ /was changed since it was imported or exported to: nothing was written/, 'what was changed there is not overwritten' or diag $text;
    is content('placement'), $changed, 'nothing was written';
};

subtest 'an export that dies writes nothing' => sub {
    my $died = 0;
    for my $fault ((map {"statement:$_:process"} 20, 40, 50, 60), 'before-commit:1:process') {
        my $target = new_db('fresh');
        my ($code, $text) = with_fault($fault, 'export', 'placement', '--to', $target);
        next if $code == 0; # it has fewer statements
        is sql_in('fresh', 'SELECT COUNT(*) FROM resource_providers'), "0\n", "killed at $fault: nothing was written";
        $died++;
    }
    cmp_ok $died, '>', 2, "$died times";
    my $amount = 0;
    # A consumer's amount, and so a generation, is another one here with each call.
    my $change = sub {
        $api->put("/allocations/$c{c5}", json => { allocations => { $p{p1} => { resources => { VCPU => 1 + $amount % 2 } } }, project_id => 'p1', user_id => 'u1',
            consumer_generation => $amount || undef, consumer_type => 'INSTANCE' })->is_status(204);
        $amount++;
    };
    for my $kind ('process', 'conn') {
        my $target = new_db('fresh');
        my ($code, $text) = with_fault("after-commit:1:$kind", 'export', 'placement', '--to', $target);
        is $code, $kind eq 'conn' ? 75 : 128 + POSIX::SIGKILL(), "its $kind was ended behind COMMIT" or diag $text;
        ok Tenure::Run::wait_until(sub { sql_in('fresh', 'SELECT COUNT(*) FROM resource_providers') > 0 }), 'it was committed';
        $change->();
        ($code, $text) = export_to($target);
        ok $code == 0 && $text =~ /written/, 'the next one knows what it wrote, though the registry has changed' or diag $text;
        is sql_in('fresh', 'SELECT COUNT(*) FROM resource_providers'), $instance->sql_value(
            q(SELECT COUNT(*) FROM resources WHERE live = 1 AND type_id = (SELECT id FROM types WHERE plural = 'resourceproviders'))) . "\n", 'all is there';
        ($code, $text) = export_to($target);
        ok $code == 0 && $text =~ /nothing to do/, 'again, nothing is to do' or diag $text;
    }
    for (1 .. 17) { # more than are remembered
        $change->();
        my ($code, $text) = with_fault('before-commit:1:process', 'export', 'placement', '--to', "$dir/fresh.conf");
        is $code, 128 + POSIX::SIGKILL(), 'killed before COMMIT' or diag $text;
    }
    my ($code, $text) = export_to("$dir/fresh.conf");
    ok $code == 0 && $text =~ /written/, 'exports that did not come to their COMMIT leave known what is there' or diag $text;
    $api->delete("/allocations/$c{c5}")->is_status(204);
};

subtest 'an export whose connection is lost' => sub {
    my $done = 0;
    for my $at (map { 2 * $_ } 5 .. 20) {
        my $target = new_db('fresh');
        my ($code, $text) = with_fault("statement:$at:conn", 'export', 'placement', '--to', $target);
        my $written = sql_in('fresh', 'SELECT COUNT(*) FROM resource_providers') > 0;
        is $code, $written ? 0 : 75, "at statement $at: it tells whether it was written" or diag $text;
        unlike $text, qr/run this again/, '... and nothing else' if $code == 0;
        $done += $written;
    }
    cmp_ok $done, '>', 4, "$done times it was";
};

subtest 'after a reset, what was imported is not overwritten by nothing' => sub {
    my $again = new_db('other', $seed);
    my ($code, $text) = $instance->manage('db', 'reset', '--yes');
    is $code, 0, 'reset' or diag $text;
    ($code, $text) = export_to($again);
    ok $code == 65 && $text =~ /was not imported: nothing was written/, 'refused' or diag $text;
};

subtest 'killed at any point and started again' => sub {
    my $again = new_db('other', $seed);
    my $runs = 0;
    for my $point ('before-commit:1', 'after-commit:1', 'before-commit:2', 'after-commit:2', 'before-commit:1', 'after-commit:1',
        'statement:30', 'statement:40', 'statement:45', 'statement:60') {
        my ($code, $text) = with_fault("$point:process", 'import', 'placement', '--from', $again);
        $runs++;
        last if $code == 0;
        my ($sound, $said) = $instance->manage('doctor');
        is $sound, 0, "killed at $point: doctor is content" or diag $said;
    }
    cmp_ok $runs, '>', 3, "killed $runs times";
    my ($code, $text) = with_fault('statement:50:conn', 'import', 'placement', '--from', $again);
    ok $code == 0 || ($code == 75 && $text =~ /run this again/), 'a connection that is lost is made again, or it says what to do'
        or diag $text;
    ($code, $text) = import_from($again);
    ok $code == 0 && $text =~ /there already: 5 providers, 2 consumers/, 'then it is whole' or diag $text;
    my $target = new_db('fresh');
    ($code, $text) = export_to($target);
    is $code, 0, 'exported' or diag $text;
    my $wanted = $before =~ s/\tNULL(\t\Q$p{p2}\E\tNULL)$/\t0$1/mr;
    is content('fresh'), $wanted, 'it is what it was in Placement';
};

subtest 'an import that begins again' => sub {
    my ($again, $began) = (new_db('other', $seed), 0);
    for my $at (40 .. 60) {
        my ($reset) = $instance->manage('db', 'reset', '--yes');
        my ($code, $text) = with_fault("statement:$at:conn", 'import', 'placement', '--from', $again);
        next if $code != 0 || $text !~ /was lost: all of it is read again/;
        like $text, qr/imported: 5 providers, 2 consumers, 1 classes and 2 traits .*\nthere already: 0 providers, 0 consumers$/m, 'counts what both runs have brought' or diag $text;
        last if ++$began == 2;
    }
    cmp_ok $began, '>', 0, 'some did';
};

subtest 'Placement 3.0 to 5.0 has no types of consumers' => sub {
    my $no_types = "UPDATE alembic_version SET version_num = 'b5c396305c25'; ALTER TABLE consumers DROP FOREIGN KEY consumers_consumer_type_id_fkey,"
        . ' DROP COLUMN consumer_type_id; DROP TABLE consumer_types;';
    my $old = new_db('old', $seed . $no_types);
    my $target = new_db('old_too', $no_types);
    my ($code, $text) = export_to($target);
    ok $code == 65 && $text =~ /consumer \Q$c{c1}\E has type INSTANCE, which Placement stores from 6\.0 on/, 'a type is not dropped' or diag $text;
    is sql_in('old_too', 'SELECT COUNT(*) FROM resource_providers'), "0\n", 'nothing was written';
    ($code, $text) = $instance->manage('db', 'reset', '--yes');
    is $code, 0, 'reset' or diag $text;
    ($code, $text) = import_from($old);
    is $code, 0, 'imported' or diag $text;
    is $api->get("/allocations/$c{c1}")->json->{consumer_type}, 'unknown', 'no type';
    ($code, $text) = export_to($target);
    is $code, 0, 'exported' or diag $text;
};

subtest 'a bar on a terminal' => sub {
    plan skip_all => 'no script(1)' unless grep { -x "$_/script" } split /:/, $ENV{PATH};
    my $empty = new_db('other');
    my ($code, $text) = run('script', '-qefc', "$manage -c " . $instance->env('TENURE_CONFIG') . " import placement --from $dir/old.conf", "$dir/typescript");
    is $code, 0, 'import';
    like read_file("$dir/typescript"), qr{\rverifying \[#+\] 8/8}, 'a bar';
};

# Later releases of Placement have the same tables, without some indexes.
subtest 'a later schema, and values that an import would not take' => sub {
    my $later = "UPDATE alembic_version SET version_num = 'a082b8bb98d0'; DROP INDEX inventories_resource_provider_id_idx ON inventories;"
        . ' DROP INDEX inventories_resource_provider_resource_class_idx ON inventories; DROP INDEX ix_placement_aggregates_uuid ON placement_aggregates;'
        . ' DROP INDEX resource_providers_name_idx ON resource_providers; DROP INDEX resource_providers_uuid_idx ON resource_providers;';
    is +($instance->manage('db', 'reset', '--yes'))[0], 0, 'reset';
    my ($code, $text) = import_from(new_db('later', $seed . $later));
    is $code, 0, 'imported' or diag $text;
    $api->provider("x\0y", uuid => $p{p9});
    my %ratio = (VCPU => 1.3333333, MEMORY_MB => 5.55073618772, DISK_GB => 13.47231913, PCPU => 123456.789);
    $api->inventories($p{p9}, map { $_ => { total => 8, allocation_ratio => $ratio{$_} } } keys %ratio);
    $api->allocate($c{c8}, { $p{p9} => { VCPU => 1 } }, project => 'a/b', user => "u\0v")->is_status(204);
    $api->allocate($c{c9}, { $p{p9} => { VCPU => 1 } }, project => 'all')->is_status(204);
    my $nil = '00000000-0000-0000-0000-000000000000';
    $api->provider('nil', uuid => $nil);
    $api->allocate($nil, { $p{p9} => { VCPU => 1 } })->is_status(204);
    for my $target (new_db('fresh', $later), "$dir/later.conf") {
        ($code, $text) = export_to($target);
        is $code, 0, 'exported' or diag $text;
        ($code, $text) = export_to($target);
        ok $code == 0 && $text =~ /nothing to do/, 'again, nothing is to do' or diag $text;
    }
    like content('later'), qr/^provider\t$nil\tnil\t.*^consumer\t$nil\t/ms, 'the nil uuid is one';
    like content('later'), qr/^inventory\t\Q$p{p9}\E\tVCPU\t.*\t1\.33333$/m, 'a ratio is the FLOAT next to it';
};

# Tenure tells names and owners apart by their bytes, Placement's tables by MySQL's utf8mb3_general_ci.
subtest 'what Placement\'s database refuses' => sub {
    is +($instance->manage('db', 'reset', '--yes'))[0], 0, 'reset';
    my $refused = sub {
        my ($name, $pattern, $there) = @_;
        for my $option ([], ['--dry-run']) {
            my ($code, $text) = export_to(new_db('fresh', $there), @$option);
            ok $code == 65 && $text =~ /database refuses a row: \d+ $pattern.*; nothing was written$/m && $text !~ /would write|written:|verified/,
                "@$option: $name" or diag "$code: $text";
        }
        is sql_in('fresh', 'SELECT COUNT(*) FROM resource_providers'), "0\n", '... nothing was written';
    };
    $api->provider('rack1', uuid => $p{p1});
    $api->provider('RACK1', uuid => $p{p2});
    $refused->('names that are equal there', qr/Duplicate entry 'rack1'.*name/i);
    $api->put("/resource_providers/$p{p2}", json => { name => "rack \x{1F600}" })->is_status(200);
    $refused->('a character that it does not have', qr/Incorrect string value.*name/);
    $api->put("/resource_providers/$p{p2}", json => { name => 'rack2' })->is_status(200);
    $api->inventories($p{p1}, VCPU => { total => 8 });
    $api->allocate($c{$_->[0]}, { $p{p1} => { VCPU => 1 } }, user => $_->[1])->is_status(204) for [ 'c1', 'u1' ], [ 'c2', 'U1' ];
    $refused->('users that are equal there', qr/Duplicate entry 'u1'.*external_id/i);
    $api->delete("/allocations/$c{c2}")->is_status(204);
};

subtest 'rows of names that nothing has' => sub {
    my $other = 'abcdefab-0000-4000-8000-000000000001';
    $api->aggregates($p{p1}, $other);
    $api->put("/allocations/$c{c1}", json => { allocations => { $p{p1} => { resources => { VCPU => 2 } } }, project_id => 'project', user_id => 'u1',
        consumer_generation => 1, consumer_type => 'INSTANCE' })->is_status(204);
    my $target = new_db('fresh', "INSERT INTO users (external_id) VALUES ('U1'); INSERT INTO projects (external_id) VALUES ('Project '), ('another');"
        . " INSERT INTO consumer_types (name) VALUES ('instance'); INSERT INTO placement_aggregates (uuid) VALUES (UPPER('$other'));");
    my ($code, $text) = export_to($target, '--list');
    is $code, 0, 'are no obstacle, though they are equal there' or diag $text;
    like $text, qr/^$_: an unused row gets this spelling$/m, $_ for 'user u1', 'project project', 'consumer type INSTANCE', "aggregate $other";
    unlike $text, qr/another/, 'the rest stays as it is';
    like content('fresh'), qr/^consumer\t\Q$c{c1}\E\tproject\tu1\t2\tINSTANCE$/m, 'they are used, spelled as here';
    is sql_in('fresh', 'SELECT COUNT(*) FROM users'), "1\n", 'there is no second one';
    $api->allocate($c{c2}, { $p{p1} => { VCPU => 1 } }, user => 'U1')->is_status(204);
    ($code, $text) = export_to($target);
    ok $code == 65 && $text =~ /refuses a row: \d+ Duplicate entry 'U1'/, 'one that a consumer has stays' or diag $text;
    $api->delete("/allocations/$c{c1}")->is_status(204);
    ($code, $text) = export_to($target);
    is $code, 0, 'until that one is gone' or diag $text;
    like content('fresh'), qr/^consumer\t\Q$c{c2}\E\tproject\tU1\t/m, 'then it is spelled as here';
};

# A trigger takes the place of a client that writes between a record's import and its verification.
subtest 'what a client changes before it is verified' => sub {
    my $again = new_db('other', $seed);
    is +($instance->manage('db', 'reset', '--yes'))[0], 0, 'reset';
    $instance->sql("CREATE TRIGGER meanwhile AFTER INSERT ON consumers FOR EACH ROW UPDATE providers SET generation = generation + 1"
            . " WHERE resource_id = (SELECT id FROM resources WHERE uid = UNHEX(REPLACE('$p{p4}', '-', '')))");
    my ($code, $text) = import_from($again);
    $instance->sql('DROP TRIGGER meanwhile');
    ok $code == 65 && $text =~ /provider \Q$p{p4}\E is another one here: generation 12 there; generation 14 here$/m, 'is named' or diag "$code: $text";
    like $text, qr/2 differences after the import: if a client wrote here meanwhile, stop it, delete here what is named above, and run this again$/m, '... with what to do';
    ($code, $text) = import_from($again);
    ok $code == 65 && $text =~ /provider \Q$p{p4}\E is another one here/, 'until then, the next import names it, too' or diag "$code: $text";
    $api->delete("/resource_providers/$p{p4}")->is_status(204);
    ($code, $text) = import_from($again);
    ok $code == 0 && $text =~ /imported: 1 providers, 0 consumers.*^verified: all/ms, 'then it is imported' or diag "$code: $text";
};

subtest 'what comes to a tree that was moved' => sub {
    my $admin = $instance->admin;
    my $again = new_db('other', $seed);
    is +($instance->manage('db', 'reset', '--yes'))[0], 0, 'reset';
    my ($code, $text) = import_from($again);
    is $code, 0, 'imported' or diag $text;
    $admin->put('/v2.0/acme', json => { tenant => {} })->is_status(201, 'a tenant');
    $admin->post("/v2.0/system/resourceproviders/$p{p1}/action/move?dest=acme")->is_status(303, 'gets a tree');
    sql_in('other', 'INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id, parent_provider_id) VALUES'
            . " (60, '$p{p6}', 'late', 0, 50, 51), (61, '$p{p7}', 'later', 0, 50, 60), (62, '$p{p8}', 'alone', 0, 62, NULL)");
    ($code, $text) = import_from($again);
    ok $code == 0 && $text =~ /imported: 3 providers/, 'Placement got more of that tree, and another one' or diag $text;
    $admin->get("/v2.0/acme/resourceproviders/$_")->is_status(200, 'belongs to the tree\'s tenant') for @p{qw(p6 p7)};
    $admin->get("/v2.0/system/resourceproviders/$p{p8}")->is_status(200, 'a new tree is the system\'s');
    is $admin->get('/v2.0/acme')->json->{tenant}{resources}, 6, 'they are counted';
    ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'doctor is content' or diag $text;
    $admin->post("/v2.0/acme/resourceproviders/$p{p1}/action/move?dest=system")->is_status(303, 'the tree moves back');
    $admin->get("/v2.0/system/resourceproviders/$p{p7}")->is_status(200, '... with what it got');
};

subtest 'a provider whose tenant is deleted' => sub {
    my $admin = $instance->admin;
    my $again = new_db('other', $seed);
    is +($instance->manage('db', 'reset', '--yes'))[0], 0, 'reset';
    is +(import_from($again))[0], 0, 'imported';
    $admin->put('/v2.0/gone', json => { tenant => {} })->is_status(201, 'a tenant');
    $admin->post("/v2.0/system/resourceproviders/$p{p1}/action/move?dest=gone")->is_status(303, 'gets a tree');
    $admin->delete('/v2.0/gone')->is_status(204, '... and is deleted');
    my $there = content('other');
    for my $target ($again, new_db('fresh')) {
        my ($code, $text) = export_to($target);
        ok $code == 65 && $text =~ /provider \Q$p{p1}\E has allocations, and its tenant gone is deleted: recover that$/m && $text =~ /^tenure-manage: 3 problems; nothing was written$/m,
            'an export tells so' or diag "$code: $text";
    }
    is content('other'), $there, 'and writes nothing';
    # A name that is free by what the answers say.
    sql_in('other', "UPDATE resource_providers SET name = 'renamed' WHERE uuid = '$p{p1}'");
    for my $option (['--dry-run'], []) {
        my ($code, $text) = import_from($again, @$option);
        ok $code == 65 && $text =~ /provider \Q$p{p1}\E is here, and its tenant gone is deleted: recover that, or wait until it is purged$/m && $text =~ /^tenure-manage: \d+ problems; nothing was imported$/m,
            "@$option: an import, too" or diag "$code: $text";
        unlike $text, qr/which provider|run this again/, '... and nothing else';
    }
    sql_in('other', "UPDATE resource_providers SET name = 'host1' WHERE uuid = '$p{p1}'");
    $admin->post('/v2.0/gone/action/recover')->is_status(204, 'recovered');
    for my $run ([ 'import', import_from($again) ], [ 'export', export_to($again) ]) {
        my ($name, $code, $text) = @$run;
        is $code, 0, "$name: all is well" or diag $text;
    }
    # Between the purge of a tenant and the removal of what it had.
    $admin->delete('/v2.0/gone')->is_status(204, 'deleted again');
    $instance->sql(q(UPDATE tenants SET purge_at = deleted_at WHERE name = 'gone'));
    my ($code, $text);
    for my $when ('when its purge time is over', 'when its name is another tenant\'s') {
        ($code, $text) = export_to(new_db('fresh'));
        ok $code == 65 && $text =~ /provider \Q$p{p1}\E has allocations, and its tenant gone is purged: `tenure-manage reap` removes it$/m
            && $text =~ /^tenure-manage: 3 problems; nothing was written$/m, "$when: an export tells so" or diag "$code: $text";
        ($code, $text) = import_from($again);
        ok $code == 65 && $text =~ /provider \Q$p{p1}\E is here, and its tenant gone is purged: `tenure-manage reap` removes it$/m, '... and an import' or diag "$code: $text";
        $admin->put('/v2.0/gone', json => { tenant => {} }) if $when =~ /purge time/;
    }
    is +($instance->manage('reap'))[0], 0, 'reaped';
    ($code, $text) = export_to(new_db('fresh'));
    ok $code == 0 && $text =~ /written: 1 providers and 0 consumers/, 'then the rest is exported' or diag "$code: $text";
};

subtest 'two imports at once' => sub {
    my $again = new_db('other', $seed);
    is +($instance->manage('db', 'reset', '--yes'))[0], 0, 'reset';
    # Both have found nothing of it here when they wait for the tenant.
    my $lock = $instance->sql_locks(q(SELECT id FROM tenants WHERE name = 'system' AND live = 1 FOR UPDATE));
    my @ended = map { $instance->begin_manage("$dir/said.$_", 'import', 'placement', '--from', $again) } 1, 2;
    ok Tenure::Run::wait_until(sub { $instance->count_lock_waits == 2 }), 'both wait';
    close $lock;
    for my $n (1, 2) {
        my ($code) = $ended[ $n - 1 ]->();
        is $code, 0, 'succeeds' or diag read_file("$dir/said.$n");
    }
    my @made = map { read_file("$dir/said.$_") =~ /^verified: all/m ? 1 : () } 1, 2;
    is scalar @made, 2, 'both have verified all of it';
    is $instance->sql_value(q(SELECT COUNT(*) FROM resources WHERE live = 1)), 5, 'which is there once';
    my ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'doctor is content' or diag $text;
};

subtest 'a tier that has no room' => sub {
    my $again = new_db('other', $seed);
    is +($instance->manage('db', 'reset', '--yes'))[0], 0, 'reset';
    is +($instance->manage(qw(tier set few --max-resources 4)))[0], 0, 'a tier';
    $instance->sql(q(UPDATE tenants SET tier_id = (SELECT id FROM tiers WHERE name = 'few') WHERE name = 'system'));
    my $empty = registry_size();
    for my $option ([], ['--dry-run']) {
        my ($code, $text) = import_from($again, @$option);
        ok $code == 65 && $text =~ /tenant system has 0 resources, and its tier "few" allows 4, so there is no room for 5 providers: `tenure-manage tier set few --max-resources N`/,
            "@$option: is told" or diag "$code: $text";
        is registry_size(), $empty, '... nothing was imported';
    }
    is +($instance->manage(qw(tier set few --max-resources 5)))[0], 0, 'the limit is raised';
    my ($code, $text) = import_from($again);
    is $code, 0, 'imported' or diag $text;
};

# Defaults of Placement's server that its sessions inherit.
subtest 'whatever the defaults of Placement\'s server are' => sub {
    my $traits = join ', ', map {"('CUSTOM_MANY_$_')"} 1 .. 5;
    my $hosts = join ', ', map { sprintf "(%d, '44444444-0000-4000-8000-%012d', 'many %d', %d)", 100 + $_, $_, $_, 100 + $_ } 1 .. 40;
    my $again = new_db('other', $seed . "INSERT INTO traits (name) VALUES $traits;"
            . "INSERT INTO resource_providers (id, uuid, name, root_provider_id) VALUES $hosts;"
            . 'INSERT INTO resource_provider_traits (resource_provider_id, trait_id) SELECT p.id, t.id FROM resource_providers p, traits t'
            . " WHERE p.id > 100 AND t.name LIKE 'CUSTOM_MANY%';");
    my $fresh = new_db('fresh');
    is +($instance->manage('db', 'reset', '--yes'))[0], 0, 'reset';
    # More than there are columns of Placement's tables, fewer than a batch of providers has traits.
    my %default = (sql_select_limit => 150, sql_safe_updates => 1, max_join_size => 50, unique_checks => 0, completion_type => q('RELEASE'));
    my $with_defaults = sub {
        my ($name, @args) = @_;
        $instance->sql("SET GLOBAL $_ = $default{$_}") for sort keys %default;
        my ($code, $text) = $instance->manage(@args);
        $instance->sql("SET GLOBAL $_ = DEFAULT") for sort keys %default;
        is $code, 0, $name or diag $text;
    };
    $with_defaults->('imported', 'import', 'placement', '--from', $again);
    is $instance->sql_value('SELECT COUNT(*) FROM resource_traits'), 202, 'all traits are there';
    my $imported = content('other');
    $with_defaults->('exported', 'export', 'placement', '--to', $fresh);
    is content('fresh'), $imported =~ s/\tNULL(\t[-0-9a-f]{36}\tNULL)$/\t0$1/mgr, 'all is there';
    $api->delete('/resource_providers/44444444-0000-4000-8000-000000000001')->is_status(204);
    $with_defaults->('exported where something is taken away', 'export', 'placement', '--to', $again);
    is sql_in('other', 'SELECT COUNT(*) FROM resource_providers'), "44\n", 'it is gone there';
};

# The page's statements and commands as they stand, with the addresses of these databases; something is written between import and export.
subtest 'doc/migration-placement.md' => sub {
    my $there = new_db('there', $seed);
    is +($instance->manage('db', 'reset', '--yes'))[0], 0, 'reset';
    my @blocks = Tenure::Pages::blocks(Tenure::Instance::source_dir(), 'migration-placement.md');
    my ($played, $out) = (0, '');
    for my $block (@blocks) {
        my $name = $block->{heading} . ': ' . ($block->{text} =~ /\A(.{1,60})/)[0];
        if ($block->{mark} eq 'sql') {
            $block->{text} =~ s/GRANT/CREATE USER IF NOT EXISTS tenure_export; GRANT/ if $block->{text} =~ /tenure_export/;
            sql_in('there', $block->{text} =~ s/placement\./there./r);
        }
        elsif ($block->{mark} eq 'sh') {
            $api->put('/traits/CUSTOM_LATER')->is_status(201) if $block->{text} =~ /export/;
            $api->post('/resource_providers', json => { name => 'later', uuid => uuid() }) if $block->{text} =~ /export/;
            my $commands = $block->{text} =~ s{/etc/tenure/placement-(?:source|target)\.conf}{$there}gr;
            (my $code, $out) = run('bash', '-ec', "tenure-manage() { '$manage' -c '" . $instance->env('TENURE_CONFIG') . "' \"\$@\"; }\n$commands");
            is $code, 0, $name or diag $out;
        }
        elsif ($block->{mark} eq 'output') {
            # Lines about this database's own oddities may stand between those of the page.
            my $lines = join '.*^', map { join '\d+', map { quotemeta } split /\d+/, $_, -1 } split /\n/, $block->{text};
            like $out, qr/^$lines/ms, '... prints what the page shows';
        }
        $played++ if $block->{mark} ne 'example';
    }
    cmp_ok $played, '>', 6, 'the page has blocks';
};

done_testing;
