#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# How far watches may read the change log: what others roll back, leave open or die amid holds nobody up longer than it must,
# and nothing is told otherwise than the log has it in the end, while workers are stopped and killed and so is the database.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use POSIX ();
use Test::More;
use Time::HiRes ();

use Tenure::ChaosSpaces;
use Tenure::Instance;
use Tenure::Watch qw(events name_of told);

my $cms = '/api/v1/namespaces/default/configmaps';

sub config_map { return { apiVersion => 'v1', kind => 'ConfigMap', metadata => { name => $_[0] } } }

# Runs that again and again beside the test, until stop_all.
my @beside;
sub beside {
    my ($code) = @_;
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        $code->() while getppid() != 1;
        POSIX::_exit(0);
    }
    push @beside, $pid;
    return $pid;
}
sub stop_all { kill KILL => @beside; waitpid $_, 0 for @beside; @beside = (); return }
END { stop_all() }

# Seconds from the answer to a change until a watch tells of it: the middle and the longest of 15.
sub latency {
    my ($client, $watch, $prefix) = @_;
    my @seconds;
    for my $n (1 .. 15) {
        $client->post($cms, json => config_map("$prefix-$n"))->status == 201 or return;
        my $began = Time::HiRes::time();
        told($watch, 1) eq "ADDED $prefix-$n" or return;
        push @seconds, Time::HiRes::time() - $began;
    }
    @seconds = sort { $a <=> $b } @seconds;
    note sprintf '%s: middle %.3f s, longest %.3f s', $prefix, @seconds[7, 14];
    return @seconds[7, 14];
}

# Is what those processes do not noticed by any change? They take the processor, too, so that on a busy machine a change may be late for that
# reason: then it is measured again, up to five times. What holds a change up as long as a transaction of theirs shows each time.
sub is_not_noticed {
    my ($client, $watch, $prefix, $name, $code) = @_;
    my ($alone, $beside, $longest);
    for my $round (1 .. 5) {
        ($alone) = latency($client, $watch, "$prefix-alone$round");
        beside($code) for 1 .. 2;
        ($beside, $longest) = latency($client, $watch, "$prefix$round");
        stop_all();
        last if defined $alone && defined $beside && $beside < $alone + 0.15 && $longest < 0.9;
    }
    ok defined $alone, "$name: all is told";
    cmp_ok $beside // 9, '<', ($alone // 0) + 0.15, '... and what others do is not noticed';
    cmp_ok $longest // 9, '<', 0.9, '... by any change';
    return $alone;
}

# By these words the horizon tells who is about to write, and an id that is taken from a conflict (CHANGE_INSERT in registry/log/change.h).
subtest 'statements that write the log' => sub {
    my $top   = $ENV{TENURE_SRCDIR} // "$FindBin::Bin/..";
    my @files = (glob("$top/src/*/*.c $top/src/*/*/*.c"), glob("$top/sql/statements/*.sql"));
    my ($all, $good) = (0, 0);
    for my $file (@files) {
        my $text = Tenure::Instance::read_file($file);
        $all  += () = $text =~ /\bINTO\s+`?changes\b/gi;
        $good += () = $text =~ /(?:^|")INSERT INTO changes /gm;
    }
    cmp_ok $all, '>', 5, 'there are some';
    is $good, $all, 'all begin with the same words';
};

subtest 'what others do in a hurry' => sub {
    my $instance = Tenure::Instance->start(combined => 1, workers => 4);
    my $admin = $instance->combined('admin');
    $admin->make_tenant($_) for qw(acme globex);
    my $acme  = $instance->combined('alice:acme');
    my $watch = Tenure::Watch->new($admin->url, 'alice:acme', "$cms?resourceVersion=" . $acme->get($cms)->json->{metadata}{resourceVersion});
    my $all   = Tenure::Watch->new($admin->url, 'admin', '/api/v1/tenants/all/configmaps?resourceVersion='
        . $admin->get('/api/v1/tenants/all/configmaps')->json->{metadata}{resourceVersion});
    is_not_noticed($acme, $watch, 'dry', 'dry runs of another tenant', sub { $instance->combined('bob:globex')->post("$cms?dryRun=All", json => config_map('dry')) });
    my $alone = is_not_noticed($acme, $watch, 'hurry', 'creating and deleting', sub {
        my $bob = $instance->combined('bob:globex');
        $bob->post($cms, json => config_map("h$$"));
        $bob->delete("$cms/h$$");
    });
    # A large transaction that is under way and then comes to nothing.
    my $session = $instance->sql_session;
    my $newest  = 'SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED; SELECT MAX(id) FROM changes';
    my $before  = $instance->sql_value($newest);
    print {$session} <<'SQL';
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
BEGIN;
INSERT INTO changes (request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision)
SELECT UNHEX(REPEAT('ab', 16)), UTC_TIMESTAMP(6), 'x', 'updated', r.tenant_id, r.id, r.uid, r.type_id, r.namespace, r.name, r.revision
FROM resources r JOIN tenants t ON t.id = r.tenant_id AND t.name = 'globex' JOIN seq_1_to_20000 LIMIT 20000;
SQL
    ok Tenure::Instance::wait_until(sub { $instance->sql_value($newest) >= $before + 20000 }), 'another tenant has much in flight';
    my ($rounds, $beside) = (0);
    do { ($beside) = latency($acme, $watch, 'large' . ++$rounds) } until $rounds == 5 || ($beside // 9) < $alone + 0.5;
    cmp_ok $beside // 9, '<', $alone + 0.5, 'who has nothing to do with it is led ahead';
    my $last = $acme->post($cms, json => config_map('last'))->json->{metadata}{resourceVersion};
    my @seen = map { name_of($_) } grep { ($_->{object}{metadata}{tenant} // '') eq 'acme' } events($all, 100_000, 0.5);
    is scalar(grep { /large|last/ } @seen), 0, 'who watches all waits';
    print {$session} "ROLLBACK;\n";
    close $session;
    my @rest;
    while (my ($event) = events($all, 1)) {
        push @rest, name_of($event) if ($event->{object}{metadata}{tenant} // '') eq 'acme';
        last if $event->{object}{metadata}{resourceVersion} >= $last;
    }
    is join(', ', grep { /large|last/ } @rest), join(', ', map { "ADDED $_" } (map { my $round = $_; map { "large$round-$_" } 1 .. 15 } 1 .. $rounds), 'last'), 'until it has come to nothing';
    is told($watch, 1), 'ADDED last', 'and nobody is told anything twice';
    $instance->stop;
};

# TENURE_LONG=1: the times of a night's run.
my $seconds = $ENV{TENURE_LONG} ? 120 : 12;

subtest 'workers are stopped and killed, and so is the database' => sub {
    my $instance = Tenure::Instance->start(workers => 6, combined => 1, settings => { 'database.idle_write_timeout' => 1 },
        allow => [qr/ended by signal 9/, qr/connection lost/, qr/ended with code/]);
    my $admin = $instance->combined('admin');
    my $chaos = Tenure::ChaosSpaces->new($instance, clients => 6);
    my %done;
    # What is undone, and moves that take long enough to be met.
    $admin->make_tenant($_) for qw(north south);
    $admin->put("/v2.0/north/persistentvolumes/n$_", json => {}) for 1 .. 200;
    beside(sub { $instance->combined('carl:north')->post("$cms?dryRun=All", json => config_map('dry')); Time::HiRes::sleep(0.01) });
    beside(sub {
        $admin->post("/v2.0/$_->[0]/action/move?dest=$_->[1]", headers => { Prefer => 'respond-async' }) for ['north', 'south'], ['south', 'north'];
        Time::HiRes::sleep(0.05);
    });
    ok $chaos->load($seconds, sub {
        Time::HiRes::sleep(0.1 + rand 0.2);
        my $what = (qw(stop stop stop kill go go))[rand 6];
        my @pids = grep { my $pid = $_; Tenure::Instance::read_file("/proc/$pid/comm") =~ /\Atenured$/m } map { Tenure::Instance::children_of($_) }
            grep { defined } map { $instance->master_pid($_) } qw(admin service combined);
        my $of   = $pids[rand @pids];
        kill STOP => $of if $what eq 'stop';
        kill KILL => $of if $what eq 'kill';
        kill CONT => @pids if $what eq 'go';
        $done{$what}++;
        return if ++$done{all} % 12;
        kill CONT => @pids;
        $chaos->kill_database;
        $done{database}++;
    }), 'all came to their end';
    note join ', ', map { "$_: $done{$_}" } sort keys %done;
    stop_all();
    my @findings = $chaos->findings;
    is scalar @findings, 0, 'nothing came to light late, was lost, or told otherwise than the log has it'
        or diag map { "  $_\n" } @findings[0 .. ($#findings < 19 ? $#findings : 19)];
    cmp_ok $chaos->{events}, '>', 50, 'much was told';
    ok $done{stop} && $done{kill} && $done{database}, 'all harm was done';
    note "$chaos->{events} events in " . $chaos->breaks . ' watches';
    # The checker is not blind.
    my ($id) = $instance->sql_value("SELECT id FROM changes WHERE verb = 'created' AND name LIKE 'k%' ORDER BY id LIMIT 1");
    $instance->sql("INSERT INTO changes SELECT * FROM changes WHERE id = $id ON DUPLICATE KEY UPDATE changes.id = 1 + (SELECT m FROM (SELECT MIN(a.id) m FROM changes a LEFT JOIN changes b ON b.id = a.id + 1 WHERE b.id IS NULL AND a.id > $id) x)");
    cmp_ok scalar(() = $chaos->findings), '>', 0, 'a change that were to come to light late would be seen';
};

done_testing;
