#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What operators look at: tenure-manage status, the plugin for Nagios, the alerts and the dashboard.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use JSON::PP ();
use Test::More;

use Tenure::Daemon;
use Tenure::Instance;
use Tenure::Metrics;
use Tenure::Receiver;
use Tenure::Run;

my $source   = Tenure::Instance::source_dir();
my $build    = Tenure::Instance::build_dir();
# Nobody purges by himself, so that the time of the last purge is the test's.
my $instance = Tenure::Instance->start(settings => { 'host.reap_interval' => 0, 'webhooks.allow' => '127.0.0.1', 'webhooks.allow_http' => 'yes',
    'webhooks.retry_first' => 100, 'webhooks.retry_most' => 500, 'webhooks.attempts' => 1000, 'webhooks.lease' => 2 }, allow => [ qr/connection lost/, qr/mover \d+ (?:ended by signal|is killed)/ ]);
my $admin    = $instance->admin;
my $stamp    = "$instance->{dir}/last-backup";

sub status {
    my ($code, $text) = $instance->manage('status', '--format', 'json');
    is $code, 0, 'status' or diag $text;
    return JSON::PP->new->decode($text);
}

sub check {
    my (@args) = @_;
    return Tenure::Run::run("$source/scripts/check_tenure", '--manage', "$build/tenure-manage", '-c', $instance->env('TENURE_CONFIG'), @args);
}

# Until the plugin's state and text are as expected.
sub becomes {
    my ($want, $what, $name, @args) = @_;
    my ($code, $text);
    my $came = Tenure::Instance::wait_until(sub { ($code, $text) = check(@args); return $code == $want && $text =~ $what }, 60);
    ok $came, $name or diag "$code $text";
    return $text;
}

subtest 'status' => sub {
    ok Tenure::Instance::wait_until(sub { my $s = status(); $s->{seen} && $s->{seen}{database_answers} && $s->{workers_idle} == 4 }), 'all is there';
    is status()->{seen}{reaped_seconds_ago}, undef, 'nobody has purged';
    becomes(1, qr/nobody has purged/, 'which the plugin says');
    is +($instance->manage('reap'))[0], 0, 'reap';
    ok Tenure::Instance::wait_until(sub { defined status()->{seen}{reaped_seconds_ago} }), 'is seen';
    my $before = status();
    $admin->make_tenant('acme');
    $admin->get('/v2.0/acme')->is_status(200) for 1 .. 5;
    $admin->get('/v2.0/nobody')->is_status(404);
    ok Tenure::Instance::wait_until(sub { my $now = status();
        $now->{requests}{'4xx'} == $before->{requests}{'4xx'} + 1 && $now->{outcomes}{ok} >= ($before->{outcomes}{ok} // 0) + 5 }), 'requests are counted';
    is status()->{host_service}, 'runs', 'the host service';
    my ($code, $text) = $instance->manage('status');
    is $code, 0, 'for people';
    my $pid = $instance->host_pid;
    like $text, qr/^host service +process $pid$/m, 'which process it is';
    like $text, qr/^$_/m, $_ for 'workers +\d+ busy, \d+ idle', 'requests +\d+: \d+ 2xx', 'worker time +[\d.]+ ms a request, 50 % below',
        'database +answers, schema version \d+', 'moves +0 queued', 'horizon +0 changes behind', 'last purge +\d+ s ago', 'usage +closed up to \d+ s ago';
    ($code, $text) = $instance->manage('status', '--format', 'xml');
    is $code, 64, 'another format' or diag $text;

    my $out = File::Temp->new;
    my $watcher = fork // die "fork: $!";
    if ($watcher == 0) {
        open STDOUT, '>', "$out";
        exec "$build/tenure-manage", '-c', $instance->env('TENURE_CONFIG'), 'status', '--watch';
    }
    ok Tenure::Instance::wait_until(sub { (() = Tenure::Run::read_file("$out") =~ /^host service/mg) >= 2 }), '--watch prints it again';
    like Tenure::Run::read_file("$out"), qr/^requests .*; [\d.]+ a second$/m, 'with the requests a second';
    kill TERM => $watcher;
    waitpid $watcher, 0;

    my $nothing = Tenure::Daemon->new;
    ($code, $text) = Tenure::Run::run("$build/tenure-manage", '-c', $nothing->config_path, 'status');
    is $code, 66, 'where nothing serves';
    like $text, qr/no process of this version has served/, 'it says so';
    ok !-e "$nothing->{dir}/shared", 'and makes no file';
};

subtest 'webhooks' => sub {
    my $receiver = Tenure::Receiver->start;
    my $socket   = $instance->env('TENURE_METRICS_SOCKET');
    my $sees     = sub { my ($test, $name) = @_; ok Tenure::Instance::wait_until(sub { $test->(status()) }, 60), $name or diag explain status()->{seen}; return };
    my $ages     = sub { my ($days) = @_; $instance->sql("UPDATE changes SET at = at + INTERVAL $days DAY WHERE id > (SELECT MIN(position) FROM webhook_cursors)") };
    is_deeply [@{ status()->{seen}{webhooks} }{qw(active failing paused disabled)}], [0, 0, 0, 0], 'none at first';
    like +($instance->manage('status'))[1], qr/^webhooks +none$/m, '... for people, too';
    $admin->make_tenant('told');
    my $put = sub { my ($name, %more) = @_; return $admin->put("/v2.0/told/webhooks/$name", json => { url => $receiver->url("/$name"), %more }) };
    $put->('hook', types => ['persistentvolumes'])->is_status(201);
    $put->('rests', paused => JSON::PP::true())->is_status(201);
    $admin->make('/v2.0/told/persistentvolumes/told');
    $sees->(sub { my ($s) = @_; $s->{webhook_messages_received} >= 1 && $s->{seen}{webhooks}{active} == 1 && $s->{seen}{webhooks}{paused} == 1 }, 'a message is received');
    $sees->(sub { my ($w) = $_[0]{seen}{webhooks}; $w->{sender_works} && !defined $w->{oldest_waiting_seconds} && !defined $w->{oldest_failing_seconds} }, 'nothing waits');
    like +($instance->manage('status'))[1], qr/^webhooks +1 active, 0 failing, 1 paused, 0 disabled; 0 messages given up$/m, 'for people';
    is Tenure::Metrics::of_socket($socket)->{$_->[0]}, $_->[1], $_->[0] for ['tenure_webhooks{state="paused"}', 1], ['tenure_webhook_sender_up', 1],
        ['tenure_webhook_deliveries_total{result="failed"}', 0];
    becomes(0, qr/ webhooks_late=0s;900;7200;0 webhooks_failing=0s;86400;;0 /, 'the plugin finds them well');

    $receiver->mode('/hook' => 500);
    $admin->make('/v2.0/told/persistentvolumes/refused');
    $sees->(sub { my ($w) = $_[0]{seen}{webhooks}; $w->{failing} == 1 && defined $w->{oldest_failing_seconds} && !defined $w->{oldest_waiting_seconds} }, 'a receiver that fails');
    $ages->(-2);
    becomes(1, qr/WARNING - a failing receiver has not taken a change from 2 d ago/, 'for days');
    like +($instance->manage('status'))[1], qr/^webhooks .*; the oldest that a receiver did not take is from 2 d ago$/m, 'which people are told';
    cmp_ok abs(time - 172_800 - (Tenure::Metrics::of_socket($socket)->{tenure_webhook_oldest_failing_timestamp_seconds} // 0)), '<', 3600, 'and Prometheus';
    cmp_ok Tenure::Metrics::of_socket($socket)->{'tenure_webhook_deliveries_total{result="failed"}'}, '>', 0, 'attempts that failed';
    $receiver->mode('/hook' => 'ok');
    becomes(0, qr/OK/, 'until it takes it');

    # Without the row nobody can hold the lease.
    $instance->sql('DELETE FROM webhook_lease');
    $admin->make('/v2.0/told/persistentvolumes/waits');
    $ages->(-1);
    becomes(2, qr/no host sends to webhooks: start tenured-host, a change has been waiting to be sent to a webhook for 24 h/, 'nobody sends');
    like +($instance->manage('status'))[1], qr/^webhooks .*; the oldest change waits to be sent for 24 h\nNOBODY SENDS /m, 'which people are told';
    is Tenure::Metrics::of_socket($socket)->{tenure_webhook_sender_up}, 0, 'and Prometheus';
    $instance->sql('INSERT INTO webhook_lease (id) VALUES (1)');
    becomes(0, qr/OK/, 'until somebody does');

    # What no webhook asks for is looked at, which is stored within half a minute.
    $admin->put('/v2.0/told', json => { metadata => { told => 'no' } });
    $admin->make('/v2.0/told/namespaces/unasked');
    $ages->(-1);
    becomes(0, qr/OK/, 'what nobody asks for does not wait for long');
    $admin->delete("/v2.0/told/webhooks/$_")->is_status(204) for 'hook', 'rests';
};

subtest 'check_tenure' => sub {
    my $text = becomes(0, qr/\ATENURE OK - \d+ requests, 4 workers \| /, 'well');
    like $text, qr/ $_/, "performance data: $_" for 'moves_queued=0;;;0', 'moves_age=0s;600;3600;0', 'workers=4;;;0', 'requests=\d+c', 'errors=\d+c';
    is scalar(() = $text =~ /\n/g), 1, 'on one line';
    my ($code, $said) = check('--backup', $stamp);
    is $code, 2, 'no backup';
    like $said, qr/no backup has written \Q$stamp\E/, 'says which stamp is missing';
    Tenure::Run::write_file($stamp, '');
    ($code, $said) = check('--backup', $stamp);
    is $code, 0, 'a new one' or diag $said;
    utime time - 30 * 3600, time - 30 * 3600, $stamp;
    ($code, $said) = check('--backup', $stamp);
    is $code, 1, 'an old one';
    like $said, qr/WARNING - the last backup is 30 h old .*backup_age=1080\d\ds;93600;180000;0/, 'says how old';
    ($code) = check('--backup', $stamp, '--backup-age', '1h,2h');
    is $code, 2, 'too old';
    for (['--moves-age', '1x,2'], ['--moves-age', '5'], ['--backup'], ['--nothing'], ['more'], ['--manage', '/nowhere']) {
        ($code, $said) = check(@$_);
        is $code, 3, "@$_: unknown" or diag $said;
    }

    {
        local $ENV{PATH} = '/usr/bin:/bin';
        ($code, $said) = Tenure::Run::run("$source/scripts/check_tenure", '--manage', 'tenure-manage-elsewhere');
        is $code, 3, 'where tenure-manage is nowhere';
        like $said, qr/\ATENURE UNKNOWN - can't run tenure-manage-elsewhere: No such file or directory; --manage says where it is$/, 'it says what it looked for';
    }
    ($code, $said) = check('-V');
    is "$code $said", '0 check_tenure, ' . ($instance->manage('--version'))[1], 'the version';
    is +($instance->manage('maintenance', 'on', '--reason', 'try'))[0], 0, 'maintenance';
    like becomes(1, qr/changes have been stopped for maintenance/, 'is seen'), qr/ maintenance=[1-9]\d*s;0;86400;0 /, '... with the time that it has taken';
    is +($instance->manage('maintenance', 'off'))[0], 0, '... and over';
    like becomes(0, qr/OK/, '... which is seen, too'), qr/ maintenance=0s;0;86400;0 /, '... as 0, so that there is a figure each time';

    my $half = sub { my ($sql) = @_; $instance->sql($sql) };
    $admin->make_tenant('dest');
    $admin->make('/v2.0/acme/persistentvolumes/p');
    my @stop = $instance->movers;
    kill STOP => @stop;
    my $post = $admin->post('/v2.0/acme/action/move?dest=dest', prefer => 'respond-async');
    $post->is_status(202, 'a move waits');
    $half->('UPDATE moves SET created_at = created_at - INTERVAL 20 MINUTE');
    my $lock = $instance->sql_locks(q(SELECT id FROM moves WHERE state = 'queued' FOR UPDATE));
    kill CONT => @stop;
    becomes(1, qr/WARNING - a move has been waiting for 20 min/, 'a move that is stuck');
    becomes(2, qr/CRITICAL - a move/, 'for long', '--moves-age', '1m,10m');
    close $lock;
    becomes(0, qr/OK/, 'until it is done');

    ok Tenure::Instance::wait_until(sub { defined status()->{seen}{usage_closed_seconds_ago} }), 'usage is counted';
    # As if it had waited for two hours for programs of an earlier release.
    $half->(q(UPDATE usage_progress SET closed_until = closed_until - INTERVAL 2 HOUR, grid_since = grid_since - INTERVAL 2 HOUR,
        stage = 'waiting', opens_at = UTC_TIMESTAMP(6) + INTERVAL 1 DAY));
    becomes(1, qr/WARNING - a period of usage has been over and not closed for /, 'usage that is not closed');
    like +($instance->manage('status'))[1], qr/^usage +closed up to .* ago; the next one has been over for /m, '... in the status, too';
    $half->(q(UPDATE usage_progress SET closed_until = closed_until + INTERVAL 2 HOUR, grid_since = grid_since + INTERVAL 2 HOUR,
        stage = 'counting', opens_at = NULL));
    becomes(0, qr/OK/, 'until somebody counts');

    $half->(q(UPDATE settings SET value = CAST(CAST(value AS UNSIGNED) - 432000000000 AS CHAR) WHERE name = 'reaped_at'));
    becomes(1, qr/the last purge was 5 d ago/, 'nobody purges');
    $half->(q(UPDATE settings SET value = CAST(CAST(value AS UNSIGNED) + 432000000000 AS CHAR) WHERE name = 'reaped_at'));
    becomes(0, qr/OK/, 'somebody does', '--doctor');
    $half->(q(UPDATE tenant_counts SET resources = resources + 1 LIMIT 1));
    becomes(2, qr/doctor finds inconsistent data: .*count/, 'a doctor that finds something', '--doctor');
    is +($instance->manage('doctor', '--fix'))[0], 0, 'and repairs it';

    $instance->database('kill');
    becomes(2, qr/the database does not answer/, 'a database that is away');
    $instance->database('start');
    becomes(0, qr/OK/, 'and back');

    # The masters' own services take over.
    my $host = $instance->host_pid;
    kill TERM => $host;
    ok Tenure::Instance::wait_until(sub { my $s = status(); $s->{host_service} eq 'runs' && !Tenure::Daemon::is_running($host) }), 'a master takes over';
    kill TERM => $instance->master_pid($_) for qw(admin service);
    becomes(2, qr/no host service runs: start tenured-host/, 'nobody is left');
    becomes(0, qr/OK/, 'which some do not mind', '--no-host-service');
};

sub series_of {
    my ($text) = @_;
    my %name = map { $_ => 1 } $text =~ /\b(tenure_[a-z_]+)\b/g;
    return sort keys %name;
}

# The names that the program can write, with the three of the histogram.
my $program = Tenure::Run::read_file("$source/src/base/metrics_text.c");
my %known = map { $_ => 1 } map { ($_, $_ eq 'tenure_request_duration_seconds' ? map { "tenure_request_duration_seconds_$_" } qw(bucket sum count) : ()) }
    $program =~ /"(tenure_[a-z_]+)",\s/g;

subtest 'alerts' => sub {
    my $rules = "$source/doc/examples/prometheus-rules.yml";
    is join(' ', grep { !$known{$_} } series_of(Tenure::Run::read_file($rules))), '', 'each metric is one of ours';
    my ($promtool) = grep { -x } map { "$_/promtool" } split /:/, $ENV{PATH};
    plan skip_all => 'no promtool' if !$promtool;
    my $test = File::Temp->new(SUFFIX => '.yml');
    print {$test} Tenure::Run::read_file("$source/t/data/prometheus-rules-test.yml") =~ s/RULES/$rules/gr;
    close $test;
    my ($code, $text) = Tenure::Run::run($promtool, 'check', 'rules', $rules);
    is $code, 0, 'promtool check rules' or diag $text;
    ($code, $text) = Tenure::Run::run($promtool, 'test', 'rules', "$test");
    is $code, 0, 'promtool test rules' or diag $text;
};

subtest 'dashboard' => sub {
    my $text = Tenure::Run::read_file("$source/doc/examples/grafana-dashboard.json");
    my $dashboard = JSON::PP->new->decode($text);
    my @expr = map { $_->{expr} } map { @{ $_->{targets} } } @{ $dashboard->{panels} };
    cmp_ok scalar(@expr), '>', 15, 'it has queries';
    is join(' ', grep { !$known{$_} } map { series_of($_) } @expr), '', 'each metric is one of ours';
};

done_testing;
