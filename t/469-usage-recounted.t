#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Usage after random changes, moves, deletions, recoveries and undos by several clients, while periods close and the processes that count
# are killed: what is stored is what the change log says, counted again by the test and by tenure-manage usage verify; and closed periods
# stay as they were first seen. scripts/long/usage runs it with 10,000 changes.
#
# TENURE_USAGE_CHANGES: how many changes; TENURE_USAGE_COUNTS: a file for figures
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);

use Tenure::Instance;
use Tenure::Metering;
use Tenure::Parallel;
use Tenure::Undo qw(undo_path);

my $WANTED  = $ENV{TENURE_USAGE_CHANGES} || 300;
my $CLIENTS = 4;
my $TENANTS = 5;
my $seed    = $ENV{TENURE_SEED} // int rand 1_000_000;
note "TENURE_SEED=$seed";

my $instance = Tenure::Instance->start(settings => { 'tenure.usage_period' => 2 }, allow => [qr/usage counter \d+ ended by signal 9/, qr/host ended by signal/]);
my $admin    = $instance->admin;
my $stop     = $instance->dir . '/enough';
$admin->make_tenant("t$_") for 1 .. $TENANTS;

# ---- the load

my @undoable; # paths, of the client's own requests

sub undo {
    my ($client) = @_;
    return $client->post(@undoable ? splice(@undoable, int rand @undoable, 1) : '/v2.0/t1/changes/00000000-0000-4000-8000-000000000000/undo');
}

# One request of a client. Returns what became of it.
sub act {
    my ($client) = @_;
    my $tenant    = 't' . (1 + int rand $TENANTS);
    my $namespace = (qw(default n1 n2))[int rand 3];
    my $resource  = "/v2.0/$tenant/namespaces/$namespace/" . (qw(configmaps secrets))[int rand 2] . '/r' . int rand 8;
    my $other     = 't' . (1 + int rand $TENANTS);
    my $dice      = rand 100;
    my $response
        = $dice < 8  ? $client->put("/v2.0/$tenant/namespaces/n" . (1 + int rand 2), json => {})
        : $dice < 55 ? $client->put($resource, json => { data => { n => 'x' x int rand 300 } })
        : $dice < 67 ? $client->delete($resource)
        : $dice < 75 ? $client->post("$resource/action/recover")
        : $dice < 83 ? $client->post("$resource/action/move?dest=$other")
        : $dice < 86 ? $client->post("/v2.0/$tenant/namespaces/n1/action/move?dest=$other")
        : $dice < 88 ? $client->delete("/v2.0/$tenant/namespaces/n2")
        : $dice < 90 ? $client->post("/v2.0/$tenant/namespaces/n2/action/recover")
        : $dice < 91 ? $client->delete("/v2.0/$tenant")
        : $dice < 94 ? $client->post("/v2.0/$tenant/action/recover")
        :              undo($client);
    my $is_undo = $dice >= 94;
    # 303: it was moved.
    return ($is_undo && 'undo ') . $response->status if $response->status >= 304;
    push @undoable, undo_path($tenant, $response) if !$is_undo;
    shift @undoable if @undoable > 20;
    return ($is_undo && 'undo ') . $response->status;
}

sub work {
    my ($number) = @_;
    srand $seed * 100 + $number;
    my $client = $instance->admin;
    my %answers;
    until (-e $stop) {
        my $became = act($client);
        die "an answer: $became\n" if $became =~ /5\d\d\z/ && $became !~ /503\z/;
        $answers{$became}++;
    }
    return join ', ', map { "$_: $answers{$_}" } sort keys %answers;
}

# ---- meanwhile

# Closed periods by their end, as they were first seen.
my %first_seen;
sub look {
    # A period appears in usage_closings in the transaction that has written the last of its rows.
    my %closed = map { ($_->[0] => join ' ', map { $_ // 'NULL' } @$_) } $instance->sql('SELECT * FROM usage_closings');
    my %rows;
    push @{ $rows{ (split / /)[0] . ' ' . (split / /)[1] } }, $_ for Tenure::Metering::stored($instance);
    for my $until (keys %closed) {
        my $is = join "\n", $closed{$until}, @{ $rows{$until} // [] };
        $first_seen{$until} //= $is;
        next if $first_seen{$until} eq $is;
        fail "the period until $until has changed";
        diag "first:\n$first_seen{$until}\nnow:\n$is";
    }
    return;
}

my $began    = time;
my $load     = fork // die "fork: $!\n";
if ($load == 0) {
    my @answers = Tenure::Parallel::run($CLIENTS, \&work);
    Tenure::Instance::write_file("$stop.answers", join '', map { ($_ // 'died') . "\n" } @answers);
    POSIX::_exit((grep { !defined } @answers) ? 1 : 0);
}
my %killed = (counter => 0, host => 0);
my $until  = $began + ($ENV{TENURE_USAGE_SECONDS} || 60);
srand $seed;
while ($instance->change_count < $WANTED && time < $until) {
    sleep 0.5;
    look();
    if (rand() < 0.1) {
        my ($host) = $instance->host_pid;
        $killed{host}++;
        kill KILL => $host if $host;
        Tenure::Instance::wait_until(sub { my ($pid) = $instance->host_pid; $pid && $pid != $host && kill 0 => $pid });
    } elsif (rand() < 0.3) {
        $killed{counter} += kill KILL => $instance->host_children('tenured-usage');
    }
}
Tenure::Instance::write_file($stop, '');
waitpid $load, 0;
is $?, 0, 'the clients were answered';
my $answers = Tenure::Instance::read_file("$stop.answers");
note $answers;
my %became;
$became{$1} += $2 while $answers =~ /((?:undo )?\d+): (\d+)/g;
my $changes = $instance->change_count;
cmp_ok $changes, '>=', $WANTED, "$changes changes";
note "killed: $killed{counter} counters, $killed{host} host services";

my $now = $instance->sql_value('SELECT UTC_TIMESTAMP(6)');
ok Tenure::Instance::wait_until(sub { ($instance->sql_value('SELECT MAX(until) FROM usage_closings') // '') gt $now }, 60), 'the last period is closed';
look();

# ---- and then

my @stored  = Tenure::Metering::stored($instance);
my @counted = Tenure::Metering::counted($instance);
is_deeply \@stored, \@counted, 'what is stored is what the test counts from the change log' or do {
    my %is = map { $_ => 1 } @stored;
    my %should = map { $_ => 1 } @counted;
    diag "stored only:  $_" for grep { !$should{$_} } @stored;
    diag "counted only: $_" for grep { !$is{$_} } @counted;
};
my ($code, $text) = $instance->manage('usage', 'verify');
is $code, 0, 'tenure-manage usage verify finds no difference' or diag $text;
my $periods = () = keys %first_seen;
my ($verified) = $text =~ /: (\d+) periods from .*, with ${\ scalar @stored} rows, counted again from the opening balance: 0 differences/ or diag $text;
cmp_ok $verified // 0, '>=', $periods, 'in all of them, and those that were closed meanwhile';

my %is = map { ("$_->[0] $_->[1]" => "$_->[2] $_->[3]") } $instance->sql('SELECT tenant_id, type_id, resources, bytes FROM usage_periods u WHERE '
        . 'resources <> 0 AND until = (SELECT MAX(until) FROM usage_periods x WHERE x.tenant_id = u.tenant_id AND x.type_id = u.type_id)');
my %there = map { ("$_->[0] $_->[1]" => "$_->[2] $_->[3]") } $instance->sql('SELECT r.tenant_id, r.type_id, COUNT(*), SUM(r.bytes) FROM resources r '
        . "JOIN tenants t ON t.id = r.tenant_id JOIN types k ON k.id = r.type_id WHERE r.live = 1 AND t.live = 1 AND t.deleted_at IS NULL AND t.id > 1 "
        . 'AND r.bytes > 0 GROUP BY r.tenant_id, r.type_id');
is_deeply \%is, \%there, 'and what there is';
($code, $text) = $instance->manage('doctor');
is $code, 0, 'doctor finds nothing' or diag $text;

my %verbs = map { ($_->[0] => $_->[1]) } $instance->sql('SELECT verb, COUNT(*) FROM changes GROUP BY verb');
note join ', ', map { "$_: $verbs{$_}" } sort keys %verbs;
if ($ENV{TENURE_USAGE_COUNTS}) {
    open my $counts, '>>', $ENV{TENURE_USAGE_COUNTS} or die "$ENV{TENURE_USAGE_COUNTS}: $!\n";
    print {$counts} map { "$_\n" } "changes=$changes", 'undone=' . ($became{'undo 200'} // 0), (map { "$_=$verbs{$_}" } sort keys %verbs), "periods=$periods", 'rows=' . @stored,
        "killed counters=$killed{counter}", "killed hosts=$killed{host}";
}

done_testing;
