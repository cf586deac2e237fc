#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A Galera cluster of three nodes under the service, one of which is the writer. The writer is switched by the operator, killed, and
# stopped in order while clients collide on a few names: what they were told has a serial order, and no earlier writer's transaction
# comes behind a switch. scripts/check --long cluster does the same many times (TENURE_CLUSTER_FAULTS, _ROUNDS, _CLIENTS, _COUNTS).
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::ClusterFaults;
use Tenure::Instance;

my @faults = split /,/, $ENV{TENURE_CLUSTER_FAULTS} // 'switch,kill';
my $rounds = $ENV{TENURE_CLUSTER_ROUNDS} // 1;
my $run    = Tenure::ClusterFaults->start(clients => $ENV{TENURE_CLUSTER_CLIENTS} // 6, unfenced => $ENV{TENURE_CLUSTER_UNFENCED});
my ($cluster, $instance) = ($run->cluster, $run->instance);

my ($code, $text) = $instance->manage('cluster', 'status');
is $code, 0, 'db init has appointed a writer' or diag $text;
like $text, qr/^127\.0\.0\.1:\d+ +n1 +writer +Synced +$/m, '... which is shown';
is((() = $text =~ /^127\S+ +n[23] +ready +Synced +$/mg), 2, '... beside those that could be it');

$run->load;
for my $round (1 .. $rounds) {
    $run->inject($_) for @faults;
}
$run->end;

my @findings = $run->findings;
my $told = $run->told;
is scalar @findings, 0, "a serial order explains $told->{operations} operations, $told->{uncertain} of them uncertain";
diag $_ for @findings[0 .. ($#findings < 4 ? $#findings : 4)];
cmp_ok $told->{operations}, '>', 50, 'there was a load';
my @late = $run->late;
if ($ENV{TENURE_CLUSTER_UNFENCED}) {
    cmp_ok scalar(@late), '>', 0, 'the control run: without the fence, transactions of earlier writers stand behind switches';
} else {
    is_deeply \@late, [], 'no transaction of an earlier writer stands behind a switch in the order of the cluster';
}
diag scalar(@late) . ' late transactions of ' . $run->transactions;
is_deeply [ $run->numbers ], [], 'numbers of changes rise from writer to writer';
diag $run->times;

subtest 'all writes stopped, and going on' => sub {
    my $admin = $instance->admin;
    $admin->make_tenant('held');
    ($code, $text) = $instance->manage('cluster', 'fence');
    is $code, 0, 'fence' or diag $text;
    is $admin->put('/v2.0/held/persistentvolumes/a', json => { v => 1 })->status, 503, 'a write gets 503';
    is(($instance->manage('cluster', 'status'))[0], 1, 'status says so by its exit code');
    ($code, $text) = $instance->manage('cluster', 'switch', 'nowhere');
    is $code, 65, 'a node that is not there is refused';
    like $text, qr/no node that answers is called "nowhere"/, '... in words';
    ($code, $text) = $instance->manage('cluster', 'switch', 'n2');
    is $code, 0, 'switch' or diag $text;
    ok Tenure::Instance::wait_until(sub { $admin->put('/v2.0/held/persistentvolumes/a', json => { v => 1 })->status =~ /^20[01]$/ }), 'it goes on';
} unless $ENV{TENURE_CLUSTER_FAULTS};

my ($sound, $doctor) = $instance->manage('doctor');
is $sound, 0, 'the database is sound' or diag $doctor;
unlike $doctor, qr/warning: node/, '... and doctor has nothing against the nodes';
$cluster->sql(3, 'SET GLOBAL auto_increment_offset = 7, wsrep_auto_increment_control = OFF');
$cluster->sql(3, 'SET GLOBAL auto_increment_increment = 1, auto_increment_offset = 7');
($sound, $doctor) = $instance->manage('doctor');
like $doctor, qr/warning: node 127\.0\.0\.1:\d+: auto_increment_offset is larger than auto_increment_increment/, 'a wrong setting is named';
$run->record($ENV{TENURE_CLUSTER_COUNTS}) if defined $ENV{TENURE_CLUSTER_COUNTS};

done_testing;
