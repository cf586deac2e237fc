#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Two hosts count the usage of one registry: one works at a time, another one goes on if it is stopped, and nothing is counted twice or
# left out, while clients make changes and counters of both are killed.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use POSIX ();
use Test::More;
use Time::HiRes qw(sleep);

use Tenure::Instance;
use Tenure::Metering;
use Tenure::Parallel;

my $instance = Tenure::Instance->start(settings => { 'tenure.usage_period' => 2 }, allow => [qr/usage counter \d+ ended by signal/]);
my $admin    = $instance->admin;

# The second host has the same settings, but a folder of its own at run time, and shares the database alone.
my $runtime = $instance->dir . '/second';
mkdir $runtime or die "$runtime: $!\n";
my $second = fork // die "fork: $!\n";
if ($second == 0) {
    $ENV{TENURE_TENURE_USAGE_PERIOD} = 2;
    $ENV{TENURE_TENURE_RUNTIME_DIR}  = $runtime;
    $ENV{TENURE_HOST_METRICS_SOCKET} = "$runtime/metrics.sock";
    open STDERR, '>', "$runtime/log" or POSIX::_exit(1);
    open STDOUT, '>&', \*STDERR or POSIX::_exit(1);
    exec Tenure::Instance::build_dir() . '/tenured-host', '-c', $instance->env('TENURE_CONFIG') or POSIX::_exit(127);
}
END { kill TERM => $second if $second }

sub counters_of_second {
    return grep { Tenure::Instance::read_file("/proc/$_/comm") =~ /\Atenured-usage$/ } Tenure::Instance::children_of($second);
}
my @hosts = ([sub { $instance->host_children('tenured-usage') }, 'the first host'], [\&counters_of_second, 'the second host']);
for my $host (@hosts) {
    my ($counters, $name) = @$host;
    ok Tenure::Instance::wait_until(sub { $counters->() == 1 }), "$name has a counter";
}

# Waits until a period is closed that begins behind this moment.
sub close_periods {
    my ($name) = @_;
    my $now = $instance->sql_value('SELECT UTC_TIMESTAMP(6)');
    return if ok Tenure::Instance::wait_until(sub { ($instance->sql_value('SELECT MAX(since) FROM usage_closings') // '') gt $now }, 60), $name;
    for my $table ("(SELECT '$now' AS since, UTC_TIMESTAMP(6))", 'usage_progress', 'usage_closings', 'log_horizon', 'log_writers', 'information_schema.innodb_trx') {
        diag "$table: @{[ map { $_ // 'NULL' } @$_ ]}" for ($instance->sql("SELECT * FROM $table t ORDER BY 1 DESC LIMIT 5"));
    }
    return;
}

$admin->make_tenant("t$_") for 1 .. 3;
for my $host (@hosts) {
    my ($counters, $name) = @$host;
    my @stopped = $counters->();
    kill STOP => @stopped;
    $admin->put('/v2.0/t1/namespaces/default/configmaps/stopped', json => { data => { n => $name } });
    close_periods("periods are closed while $name counts nothing");
    kill CONT => @stopped;
}

subtest 'one works at a time' => sub {
    my $lock = $instance->sql_locks('SELECT * FROM usage_progress WHERE id = 1 FOR UPDATE');
    my $is   = $instance->sql_value('SELECT COUNT(*) FROM usage_closings');
    $admin->put('/v2.0/t1/namespaces/default/configmaps/held', json => {});
    sleep 3; # longer than a period
    is $instance->sql_value('SELECT COUNT(*) FROM usage_closings'), $is, 'nobody closes a period while somebody works';
    close $lock;
    close_periods('and then they go on');
};

my $stop = $instance->dir . '/enough';
my $load = fork // die "fork: $!\n";
if ($load == 0) {
    my @told = Tenure::Parallel::run(3, sub {
        my ($number) = @_;
        my $client = $instance->admin;
        for (my $n = 1; !-e $stop; $n++) {
            my $path = "/v2.0/t" . (1 + $number) . "/namespaces/default/configmaps/c" . $n % 7;
            $client->put($path, json => { data => { n => 'x' x ($n % 50) } });
            $client->delete($path) if $n % 3 == 0;
            $client->post("$path/action/move?dest=t" . (1 + $number % 3)) if $n % 5 == 0;
        }
        return 'done';
    });
    POSIX::_exit((grep { ($_ // '') ne 'done' } @told) ? 1 : 0);
}
for my $round (1 .. 8) {
    sleep 0.6;
    kill KILL => $hosts[$round % 2][0]->();
}
Tenure::Instance::write_file($stop, '');
waitpid $load, 0;
is $?, 0, 'clients were answered';
close_periods('what they did is counted');
my @stored = Tenure::Metering::stored($instance);
is_deeply \@stored, [Tenure::Metering::counted($instance)], 'once, and all of it';
my ($code, $text) = $instance->manage('usage', 'verify');
is $code, 0, '... which tenure-manage finds, too' or diag $text;

kill TERM => $second;
waitpid $second, 0;
is $?, 0, 'the second host ends';
$second = 0;
unlike Tenure::Instance::read_file("$runtime/log"), qr/^error /m, 'it had no errors' or diag Tenure::Instance::read_file("$runtime/log");

done_testing;
