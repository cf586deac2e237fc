#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Reads by a replica that lags behind: a read after an answered write is never older, whichever worker and endpoint serves it; while the replica
# does not catch up in time, the primary answers. Without the wait, old answers are found at once.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Replicas;

my $servers = Tenure::Replicas->start;
my $path    = '/v2.0/acme/persistentvolumes';

# The replica applies everything so many seconds late.
sub delay { $servers->sql(2, "STOP SLAVE; CHANGE MASTER TO MASTER_DELAY = $_[0]; START SLAVE"); return }
# How many statements the replica has executed for the application.
sub reads { return $servers->value(2, q(SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'COM_STMT_EXECUTE')) }

sub start {
    my (%faults) = @_;
    return Tenure::Instance->start(workers => 2, settings => { $servers->settings, 'database.read_from' => $servers->host(2), 'database.read_wait' => 3 },
        faults => \%faults, allow => [qr/connection lost/, qr/does not serve reads/, qr/the writer/, qr/node /]);
}

# Writes, and reads each back by another endpoint; returns how many answers were old.
sub count_old {
    my ($instance, $n) = @_;
    my ($admin, $other) = ($instance->admin, $instance->service('ann:acme:member'));
    my $old = 0;
    for my $i (1 .. $n) {
        $admin->put("$path/v", json => { n => $i })->status =~ /^20[01]$/ or die "no write\n";
        for my $client ($other, $admin) {
            my $read = $client->get("$path/v");
            $old++ if $read->status != 200 || $read->json->{n} != $i;
        }
    }
    return $old;
}

my $instance = start();
$instance->admin->make_tenant('acme');
is $instance->admin->put("$path/v", json => { n => 0 })->status, 201, 'a resource';

my $before = reads();
is count_old($instance, 20), 0, 'no answer is old';
cmp_ok reads() - $before, '>', 0, '... and the replica answers';

delay(1);
$before = reads();
is count_old($instance, 2), 0, 'nor is one while the replica lags behind';
cmp_ok reads() - $before, '>', 0, '... and it is waited for';
like $instance->admin->get($path)->text, qr/"v"/, 'lists are read there, too';

subtest 'the horizon of the log' => sub {
    open my $session, '|-', 'mariadb', '--no-defaults', '--skip-ssl', '-u', 'root', '-S', $servers->socket(1), '-N', '-B', 'tenure' or die "mariadb: $!\n";
    $session->autoflush(1);
    print {$session} q(BEGIN; INSERT INTO changes (request_id, at, actor, verb, tenant_id, uid, revision) SELECT REPEAT('r', 16), UTC_TIMESTAMP(6), 'slow', )
        . q('created', id, REPEAT('u', 16), 1 FROM tenants WHERE name = 'acme'; DO GET_LOCK('in flight', 0);) . "\n";
    Tenure::Instance::wait_until(sub { $servers->value(1, q(SELECT IS_USED_LOCK('in flight'))) ne 'NULL' }) or die "no transaction\n";
    my $open = $servers->value(1, 'SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED; SELECT MAX(id) FROM changes', 'tenure');
    is $instance->admin->put("$path/above", json => {})->status, 201, 'a change above one in flight';
    my $changes = $instance->admin->get('/v2.0/all/changes?limit=1');
    is $changes->status, 200, 'the changes of all';
    cmp_ok $servers->value(1, 'SELECT published FROM log_horizon', 'tenure'), '<', $open, '... do not move the horizon past it';
    print {$session} "COMMIT;\n";
    close $session;
    my $all = sub { return $instance->admin->get('/v2.0/all/changes?order=newest')->json->{changes} };
    ok Tenure::Instance::wait_until(sub { grep { $_->{actor} eq 'slow' } @{ $all->() } }), '... and tell of it when it was committed';
};

subtest 'a replica that does not catch up' => sub {
    $servers->sql(2, 'STOP SLAVE SQL_THREAD');
    is count_old($instance, 3), 0, 'the primary answers';
    like $instance->log_text('admin') . $instance->log_text('service'), qr/does not serve reads, or lags behind; the writer does/, '... and the log says so';
    delay(0);
    $before = reads();
    ok Tenure::Instance::wait_until(sub { $instance->admin->get("$path/v"); reads() > $before + 2 }), 'it is used again when it has';
};

subtest 'a replica that is not there' => sub {
    $servers->freeze(2);
    $servers->sql(1, 'SET GLOBAL rpl_semi_sync_master_enabled = OFF');
    is count_old($instance, 2), 0, 'one that hangs: the primary answers';
    $servers->thaw(2);
    $servers->kill_server(2);
    is count_old($instance, 2), 0, 'one that is stopped: likewise';
    $servers->start_server(2);
    $servers->sql(1, 'SET GLOBAL rpl_semi_sync_master_enabled = ON');
};
$instance->stop;

subtest 'the control: without the wait' => sub {
    my $careless = start(TENURE_FAULT => 'no-wait:1');
    delay(1);
    cmp_ok count_old($careless, 3), '>', 0, 'old answers are found';
};

done_testing;
