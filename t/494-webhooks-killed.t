#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What webhooks promise holds while the process that sends, the host service, the database and the receivers are killed under load: nothing is
# lost, everything comes in order, and what comes twice comes under the id that it had before. Receivers that are down hold nobody up.
#
# TENURE_SEED repeats the choices of a run, TENURE_WEBHOOK_KILLS is how often something is killed, TENURE_WEBHOOK_COUNTS a file for figures.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use POSIX ();
use Test::More;
use Time::HiRes qw(sleep);

use Tenure::Instance;
use Tenure::Receiver;

my $KILLS   = $ENV{TENURE_WEBHOOK_KILLS} || 6;
my $CLIENTS = 3;
my $seed    = $ENV{TENURE_SEED} // int rand 1e9;
srand $seed;
note "TENURE_SEED=$seed";

my $receiver = Tenure::Receiver->start;
my $down     = Tenure::Receiver->start;
my $instance = Tenure::Instance->start(
    settings => { 'webhooks.allow' => '127.0.0.1', 'webhooks.allow_http' => 'yes', 'webhooks.retry_first' => 50, 'webhooks.retry_most' => 300,
        'webhooks.attempts' => 1000, 'webhooks.timeout' => 3, 'webhooks.lease' => 2, 'webhooks.batch' => 5 },
    allow => [qr/deliverer \d+ ended by signal 9/, qr/host service \d+ ended by signal 9/, qr/connection lost/]);
my $admin   = $instance->admin;
my @tenants = map { "t$_" } 1 .. $CLIENTS;
$admin->make_tenant($_) for @tenants, 'away';

# Each webhook, by the path of its messages, with the address of the change log that it tells of.
my %log_of = ((map { ("/$_" => "/v2.0/$_/changes") } @tenants), '/all' => '/v2.0/all/changes');

sub make_hook {
    my ($address, $url) = @_;
    $admin->put($address, json => { url => $url })->is_status(201);
    return;
}
make_hook("/v2.0/$_/webhooks/hook", $receiver->url("/$_")) for @tenants, 'all';
make_hook('/v2.0/away/webhooks/hook', $down->url('/away'));

# Where nobody answers for as long as the others are killed.
$down->stop;

# ---- clients that change things, whatever is killed

my $stop = $instance->dir . '/stop';

sub work {
    my ($tenant, $client) = @_;
    for (my $i = 0; !-e $stop; $i++) {
        my $path = "/v2.0/$tenant/persistentvolumes/v" . $i % 20;
        eval { $i % 7 == 6 ? $client->delete($path) : $client->put($path, json => { n => $i }) };
        eval { $client->put("/v2.0/away/persistentvolumes/of-$tenant", json => { n => $i }) } if $i % 10 == 0;
        sleep 0.05;
    }
    return;
}

my @clients;
for my $tenant (@tenants) {
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        eval { work($tenant, $instance->admin) };
        POSIX::_exit($@ eq '' ? 0 : 1);
    }
    push @clients, $pid;
}

# ---- what is killed

# Processes of that name that are children of the host service, or of what does its work in its place.
sub processes {
    my ($name) = @_;
    my @found;
    my @look = map { eval { $instance->master_pid($_) } || () } qw(host admin service);
    while (defined(my $pid = shift @look)) {
        my $comm = eval { Tenure::Instance::read_file("/proc/$pid/comm") } // next;
        push @found, $pid if $comm eq "$name\n";
        push @look, eval { Tenure::Instance::children_of($pid) };
    }
    return @found;
}

my %killed;
my %way = (
    deliverer => sub { return kill KILL => processes('tenured-deliver') },
    host      => sub { return kill KILL => processes('tenured-host') },
    database  => sub { $instance->database('kill'); sleep rand 0.5; $instance->database('start'); return 1 },
    receiver  => sub { $receiver->stop; sleep rand 1; $receiver->listen; return 1 },
    answer    => sub { $receiver->mode('lost'); sleep 0.3 + rand 0.5; $receiver->mode('ok'); return 1 },
);
my @ways = sort keys %way;
# Some find nothing to kill, as the process of before has ended and the next one not begun.
my ($tries, $kills) = (0, 0);
while ($kills < $KILLS && $tries < 10 * $KILLS) {
    sleep 0.3 + rand 0.7;
    # Each in turn first, so that a short run has them all.
    my $what = $tries < @ways ? $ways[$tries] : $ways[rand @ways];
    $tries++;
    my $did = $way{$what}->() ? 1 : 0;
    $killed{$what} += $did;
    $kills += $did;
}
Tenure::Instance::write_file($stop, '');
is waitpid($_, 0) && $?, 0, 'a client worked to the end' for @clients;
note join ', ', map { "$killed{$_} times the $_" } sort keys %killed;
is_deeply [sort keys %killed], \@ways, 'everything was killed';

# ---- what came

# The ids of changes of the log from one on, in order.
sub logged {
    my ($address, $from) = @_;
    my @ids;
    my $after = $from - 1;
    while (1) {
        my $page = $admin->get("$address?after=$after&limit=1000")->json->{changes};
        return @ids if !@$page;
        push @ids, map { $_->{id} } @$page;
        $after = $ids[-1];
    }
}

# Each webhook begins somewhere behind its making: at the first change that came. What has to catch up may take long on a busy machine, so
# this waits as long as more comes, and a minute for the next.
sub is_all_told {
    my ($from, $path) = @_;
    my ($newest) = @{ $admin->get("$log_of{$path}?order=newest&limit=1")->json->{changes} };
    my $last = -1;
    my $more = sub { my @told = $from->changes($path); return @told && $told[-1]{id} > $last ? $last = $told[-1]{id} : 0 };
    while ($last < $newest->{id}) {
        return 0 if !Tenure::Instance::wait_until($more, 60);
    }
    return 1;
}

sub compare {
    my ($from, $path) = @_;
    ok is_all_told($from, $path), "$path: the newest change came";
    my @told   = map { $_->{id} } $from->changes($path);
    my @logged = logged($log_of{$path}, $told[0] // 1);
    my @came   = grep { $_ <= $logged[-1] } @told;
    is_deeply \@came, \@logged, "$path: each change, once, in order";
    my (%body, @other);
    for my $attempt ($from->attempts($path)) {
        my $ids = join ' ', map { $_->{id} } @{ $attempt->{json}{data}{changes} };
        push @other, $attempt->{id} if ($body{ $attempt->{id} } //= $ids) ne $ids;
    }
    is_deeply \@other, [], "$path: what was sent again has the changes that it had";
    return scalar @came;
}

my $changes = 0;
$changes += compare($receiver, $_) for sort keys %log_of;
my @again = grep { $_->{taken} } $receiver->attempts;
my %ids   = map { $_->{id} => 1 } @again;
my $twice = @again - keys %ids;
note "$changes changes in " . keys(%ids) . " messages, $twice of them came again";

subtest 'a receiver that was down all the time' => sub {
    my $now = $admin->get('/v2.0/away/webhooks/hook')->json;
    is $now->{state}, 'failing', 'is shown so, while the others were told';
    $log_of{'/away'} = '/v2.0/away/changes';
    $down->listen;
    compare($down, '/away');
};

if (defined $ENV{TENURE_WEBHOOK_COUNTS}) {
    open my $out, '>>', $ENV{TENURE_WEBHOOK_COUNTS} or die "$ENV{TENURE_WEBHOOK_COUNTS}: $!\n";
    print {$out} "kills=$kills\nchanges=$changes\nmessages=@{[scalar keys %ids]}\nagain=$twice\n";
    close $out;
}

done_testing;
