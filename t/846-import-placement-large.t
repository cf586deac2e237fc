#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A Placement database with many providers and live allocations is imported by an import that is killed several times, served
# and written by several clients at once, and exported back: nothing is lost. Where the real service is installed (Debian
# package python3-placement), it makes the databases, and answers from them what Tenure answers. `scripts/check --long import`
# does it with ten thousand providers.
#   TENURE_IMPORT_PROVIDERS (300), TENURE_IMPORT_SECONDS of writes (1), TENURE_IMPORT_SAMPLE of providers compared (25),
#   TENURE_IMPORT_COUNTS a file for figures, a line "name=number" each
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use HTTP::Tiny;
use JSON::PP ();
use POSIX  ();
use Test::More;
use Time::HiRes ();

use Tenure::Instance;
use Tenure::Placement qw(uuid);
use Tenure::Run qw(run read_file write_file);

my $n       = $ENV{TENURE_IMPORT_PROVIDERS} // 300;
my $seconds = $ENV{TENURE_IMPORT_SECONDS}   // 1;
my $sample  = $ENV{TENURE_IMPORT_SAMPLE}    // 25;
srand($ENV{TENURE_SEED} // ($ENV{TENURE_SEED} = int rand 1e9));
diag "TENURE_SEED=$ENV{TENURE_SEED}";

my $instance = Tenure::Instance->start(auth => 'noauth', placement => 1, workers => 4);
my $socket   = $instance->env('TENURE_DB_SOCKET');
my $dir      = File::Temp->newdir;
my $real     = system('/usr/bin/python3 -c "import placement.wsgi, pymysql" 2>/dev/null') == 0;
my @client   = ('mariadb', '--no-defaults', '--default-character-set=utf8mb4', '-u', 'root', '-S', $socket, '-N', '-B');
my $json     = JSON::PP->new->utf8->canonical;
my $test     = $$;
my %service; # name of a database => [ process, port ]

END {
    if ($$ == $test) {
        my $code = $?;
        kill 'TERM', map { $_->[0] } values %service;
        waitpid $_->[0], 0 for values %service;
        $? = $code;
    }
}

sub note_count {
    my ($name, $number) = @_;
    diag "$name=$number";
    open my $out, '>>', $ENV{TENURE_IMPORT_COUNTS} or return if $ENV{TENURE_IMPORT_COUNTS};
    print {$out} "$name=$number\n" if $out;
    return;
}

sub sql_in {
    my ($db, $sql) = @_;
    write_file("$dir/in.sql", $sql);
    my ($code, $text) = run('sh', '-c', '"$@" <"$0"', "$dir/in.sql", @client, $db);
    $code == 0 or die "SQL failed in $db: $text";
    chomp $text;
    return $text;
}

# ---- databases of Placement, each with its service where there is one

sub start_service {
    my ($name) = @_;
    my ($port) = Tenure::Instance::free_ports(1);
    write_file("$dir/serve.py", <<'PY');
import os, sys
from placement import wsgi
from wsgiref.simple_server import make_server, WSGIRequestHandler
class Quiet(WSGIRequestHandler):
    def log_message(self, *a): pass
make_server('127.0.0.1', int(sys.argv[1]), wsgi.init_application(), handler_class=Quiet).serve_forever()
PY
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        $ENV{OS_PLACEMENT_CONFIG_DIR} = "$dir/$name";
        open STDOUT, '>', "$dir/$name/log" or POSIX::_exit(127);
        open STDERR, '>&', \*STDOUT or POSIX::_exit(127);
        exec '/usr/bin/python3', "$dir/serve.py", $port or POSIX::_exit(127);
    }
    $service{$name} = [ $pid, $port ];
    Tenure::Instance::wait_until(sub { HTTP::Tiny->new->get("http://127.0.0.1:$port/")->{status} == 200 }, 120)
        or die "the real service does not start: " . read_file("$dir/$name/log");
    return;
}

# Returns the path of its placement.conf.
sub new_db {
    my ($name) = @_;
    run(@client, '-e', "CREATE DATABASE $name CHARACTER SET utf8");
    mkdir "$dir/$name" or die "$dir/$name: $!\n";
    write_file("$dir/$name/placement.conf", "[DEFAULT]\nlog_file = $dir/$name/log\n[api]\nauth_strategy = noauth2\n[placement_database]\n"
            . "sync_on_startup = True\nconnection = mysql+pymysql://root@/$name?charset=utf8&unix_socket=$socket\n");
    if   ($real) { start_service($name) }
    else         { sql_in($name, read_file(Tenure::Instance::source_dir() . '/t/data/placement.sql')) }
    return "$dir/$name/placement.conf";
}

my $source = new_db('placement');
my $roots  = int(($n + 2) / 3);
sql_in('placement', <<"SQL");
SET max_recursive_iterations = 10000000;
CREATE TEMPORARY TABLE nums (n INT PRIMARY KEY);
INSERT INTO nums WITH RECURSIVE s AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM s WHERE n < $roots * 9) SELECT n FROM s;
INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id)
  SELECT 5 * n + 3, LOWER(CONCAT(LPAD(HEX(n * 7919 % 1000003), 8, '0'), '-1111-4000-8000-000000000001')), CONCAT('host', n), n % 50, 5 * n + 3
  FROM nums WHERE n <= $roots;
INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id, parent_provider_id)
  SELECT 5 * (1 + n DIV 2) + 1 + n % 2, LOWER(CONCAT(LPAD(HEX(n * 7907 % 1000003), 8, '0'), '-1111-4000-8000-000000000002')), CONCAT('numa', n), n % 9,
    5 * (1 + n DIV 2) + 3, 5 * (1 + n DIV 2) + 3
  FROM nums WHERE n <= 2 * ($roots - 1);
INSERT INTO resource_classes (id, name) VALUES (10001, 'CUSTOM_FPGA');
INSERT INTO traits (name) VALUES ('CUSTOM_A'), ('CUSTOM_B');
INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio)
  SELECT p.id, k.id, 1000, p.id % 10, 1, 900, 1, IF(k.name = 'VCPU', 16.0, 1.1) FROM resource_providers p
  JOIN resource_classes k ON k.name IN ('VCPU', 'MEMORY_MB', 'DISK_GB') OR (k.name = 'CUSTOM_FPGA' AND p.parent_provider_id IS NOT NULL);
INSERT INTO resource_provider_traits (resource_provider_id, trait_id)
  SELECT p.id, t.id FROM resource_providers p JOIN traits t ON t.name IN ('CUSTOM_A', 'HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2') WHERE p.id % 4;
INSERT INTO placement_aggregates (id, uuid) SELECT n, LOWER(CONCAT(LPAD(HEX(n), 8, '0'), '-2222-4000-8000-000000000001')) FROM nums WHERE n <= 20;
INSERT INTO resource_provider_aggregates (resource_provider_id, aggregate_id) SELECT id, 1 + id % 20 FROM resource_providers WHERE id % 3;
INSERT INTO projects (id, external_id) SELECT n, MD5(n) FROM nums WHERE n <= 50;
INSERT INTO users (id, external_id) SELECT n, MD5(n + 1000) FROM nums WHERE n <= 50;
INSERT INTO consumer_types (id, name) VALUES (1, 'INSTANCE'), (2, 'MIGRATION');
INSERT INTO consumers (id, uuid, project_id, user_id, generation, consumer_type_id)
  SELECT n + 1, LOWER(CONCAT(LPAD(HEX(n * 7901 % 1000003), 8, '0'), '-3333-4000-8000-000000000001')), 1 + n % 50, 1 + n % 49, 1 + n % 3, NULLIF(n % 3, 0) FROM nums;
INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used)
  SELECT 5 * (1 + c.id % $roots) + 3, c.uuid, k.id, 1 + c.id % 7 FROM consumers c JOIN resource_classes k ON k.name IN ('VCPU', 'MEMORY_MB', 'DISK_GB');
SQL
# The real service can't answer about rows that have no time.
sql_in('placement', join '', map {"UPDATE $_ SET created_at = UTC_TIMESTAMP() WHERE created_at IS NULL;"} qw(resource_providers inventories
    allocations consumers consumer_types projects users placement_aggregates resource_provider_aggregates resource_provider_traits resource_classes traits));
my $totals = sub { return join ' ', split /\s+/, sql_in($_[0], 'SELECT (SELECT COUNT(*) FROM resource_providers), (SELECT COUNT(*) FROM consumers), '
        . '(SELECT COUNT(*) FROM allocations), (SELECT COUNT(*) FROM inventories)') };
my ($providers, $consumers, $allocations) = split / /, $totals->('placement');
note_count(providers => $providers);
note_count(consumers => $consumers);
note_count(allocations => $allocations);

# ---- answers

sub ask {
    my ($url, $path) = @_;
    my $response = HTTP::Tiny->new(timeout => 120)->get("$url$path", { headers => { 'X-Auth-Token' => 'admin', Accept => 'application/json',
        'OpenStack-API-Version' => 'placement 1.39' } });
    my $body = $response->{status} == 200 ? $json->decode($response->{content}) : undef;
    return $json->encode([ $response->{status}, sorted($body) ]);
}

# Lists whose order means nothing, in one order.
sub sorted {
    my ($value) = @_;
    return { map { $_ => sorted($value->{$_}) } keys %$value } if ref $value eq 'HASH';
    return [ map { $json->decode($_) } sort map { $json->encode([ sorted($_) ]) } @$value ] if ref $value eq 'ARRAY';
    return $value;
}

sub compare_answers {
    my ($name, $what) = @_;
    my ($url, $port) = ($instance->env('TENURE_PLACEMENT_URL') =~ s{/$}{}r, $service{$name}[1]);
    my @rows = map { [ split /\t/ ] } split /\n/, sql_in($name, "SELECT p.uuid, c.uuid, j.external_id, o.uuid FROM (SELECT * FROM resource_providers "
            . "ORDER BY MD5(CONCAT(id, 'x$ENV{TENURE_SEED}')) LIMIT $sample) p JOIN resource_providers o ON o.id = p.root_provider_id "
            . "LEFT JOIN (SELECT resource_provider_id, MAX(consumer_id) AS consumer_id FROM allocations GROUP BY 1) a ON a.resource_provider_id = p.id "
            . 'LEFT JOIN consumers c ON c.uuid = a.consumer_id LEFT JOIN projects j ON j.id = c.project_id');
    my ($same, $asked) = (0, 0);
    for my $path ('/resource_classes', '/traits?name=startswith:CUSTOM_', map {
            my ($provider, $consumer, $project, $root) = @$_;
            ((map {"/resource_providers/$provider$_"} '', '/inventories', '/aggregates', '/traits', '/usages', '/allocations'),
                "/resource_providers?in_tree=$root", $consumer ne 'NULL' ? ("/allocations/$consumer", "/usages?project_id=$project") : ()) } @rows) {
        my ($ours, $theirs) = (ask($url, $path), ask("http://127.0.0.1:$port", $path));
        $asked++;
        $same += $ours eq $theirs;
        $ours eq $theirs or diag "$path\nhere:  $ours\nthere: $theirs";
    }
    is $same, $asked, "$what: the real service and Tenure answer alike, $asked times";
    return;
}

# ----

subtest 'imported, although killed' => sub {
    my $began = Time::HiRes::time();
    for my $k (1 .. 3) {
        local $ENV{TENURE_FAULT} = ('before', 'after')[ $k % 2 ] . '-commit:' . int(2 + rand($n > 1000 ? 12 : 2)) . ':process';
        my ($code) = $instance->manage('import', 'placement', '--from', $source);
        diag "$ENV{TENURE_FAULT}: $code";
        my ($sound, $said) = $n > 1000 ? (0) : $instance->manage('doctor');
        is $sound, 0, 'doctor is content' or diag $said;
    }
    my ($code, $text) = $instance->manage('import', 'placement', '--from', $source);
    is $code, 0, 'imported' or diag $text;
    note_count('import seconds' => sprintf '%.1f', Time::HiRes::time() - $began);
    ($code, $text) = $instance->manage('import', 'placement', '--from', $source);
    ok $code == 0 && $text =~ /there already: $providers providers, $consumers consumers/, 'all of it is there' or diag $text;
    ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'doctor is content' or diag $text;
    compare_answers('placement', 'after the import') if $real;
};

# Each writer has its own consumers: those of the source that fall to it, and new ones.
sub write_for {
    my ($k, $of) = @_;
    srand $ENV{TENURE_SEED} + $k;
    my $api = Tenure::Placement->new($instance->placement, '1.39');
    my @own = map { [ split /\t/ ] } split /\n/, sql_in_child($k, "SELECT c.uuid FROM consumers c WHERE c.id % $of = $k ORDER BY c.id LIMIT 2000");
    my @providers = split /\n/, sql_in_child($k, 'SELECT uuid FROM resource_providers WHERE parent_provider_id IS NULL LIMIT 2000');
    my ($until, %done) = (Time::HiRes::time() + $seconds);
    while (Time::HiRes::time() < $until) {
        my $consumer = rand() < 0.2 || !@own ? [ uuid() ] : $own[ rand @own ];
        my $now = $api->get("/allocations/$consumer->[0]")->json;
        my $provider = $providers[ rand @providers ];
        my $draw = rand;
        my $response;
        if ($draw < 0.15 && %{ $now->{allocations} }) {
            $response = $api->delete("/allocations/$consumer->[0]");
        } elsif ($draw < 0.25) {
            my $set = $api->get("/resource_providers/$provider/traits")->json;
            $response = $api->put("/resource_providers/$provider/traits", json => { resource_provider_generation => $set->{resource_provider_generation},
                traits => [ rand() < 0.5 ? 'CUSTOM_B' : 'CUSTOM_A' ] });
        } else {
            $response = $api->put("/allocations/$consumer->[0]", json => { allocations => { $provider => { resources => { VCPU => 1 + int rand 5, DISK_GB => 1 + int rand 3 } } },
                project_id => $now->{project_id} // 'new', user_id => $now->{user_id} // 'new', consumer_type => 'INSTANCE',
                consumer_generation => $now->{consumer_generation} });
        }
        $done{ $response->status }++;
        push @own, $consumer if $response->status == 204 && @own < 3000;
    }
    return \%done;
}

sub sql_in_child {
    my ($k, $sql) = @_;
    my ($code, $text) = run(@client, 'placement', '-e', $sql);
    $code == 0 or die $text;
    return $text;
}

subtest 'served and written' => sub {
    my $writers = 3;
    my @pids;
    for my $k (0 .. $writers - 1) {
        my $pid = fork // die "fork: $!\n";
        if ($pid == 0) {
            my $done = eval { write_for($k, $writers) };
            write_file("$dir/writer$k", defined $done ? $json->encode($done) : "died: $@");
            POSIX::_exit(defined $done ? 0 : 1);
        }
        push @pids, $pid;
    }
    waitpid $_, 0 for @pids;
    my %done;
    for my $k (0 .. $writers - 1) {
        my $text = read_file("$dir/writer$k");
        my $part = eval { $json->decode($text) } or diag $text;
        $done{$_} += $part->{$_} for keys %{ $part // {} };
    }
    diag join ', ', map {"$_: $done{$_}"} sort keys %done;
    cmp_ok +($done{204} // 0) + ($done{200} // 0), '>', 5, 'many writes';
    is_deeply [ grep { !/\A(?:200|204|409)\z/ } keys %done ], [], 'no other answers than 200, 204 and 409';
    note_count(writes => ($done{204} // 0) + ($done{200} // 0));
    my ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'doctor is content' or diag $text;
};

for my $name ('fresh', 'placement') {
    subtest $name eq 'fresh' ? 'exported into an empty database' : 'exported into that which was imported' => sub {
        my $target = $name eq 'fresh' ? new_db('fresh') : $source;
        my $began = Time::HiRes::time();
        my ($code, $text) = $instance->manage('export', 'placement', '--to', $target);
        ok $code == 0 && $text =~ /verified: all of it/, 'exported' or diag $text;
        note_count("export $name seconds" => sprintf '%.1f', Time::HiRes::time() - $began);
        compare_answers($name, 'after the export') if $real;
        ($code, $text) = $instance->manage('import', 'placement', '--from', $target, '--dry-run');
        my $has = $instance->sql_value('SELECT COUNT(*) FROM consumers');
        ok $code == 0 && $text =~ /would import: 0 providers, 0 consumers, 0 classes and 0 traits.*there already: $providers providers, $has consumers/s,
            'it holds what the registry holds, all of it' or diag $text;
    };
}
is $totals->('fresh'), $totals->('placement'), 'both hold as much';

done_testing;
