#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The metrics behind each web server, with workers that it starts itself as well: what is counted equals what the clients did, on
# all endpoints together; the admin endpoint and the socket tell the same; promtool has nothing to remark.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use IO::Socket::UNIX;
use POSIX ();
use Test::More;

use Tenure::Daemon;
use Tenure::Instance;
use Tenure::Metrics;
use Tenure::Run;

my ($clients, $each) = (4, 25);

# promtool's remarks on the text; undef: it is not installed.
sub remarks {
    my ($text) = @_;
    my ($promtool) = grep { -x } map { "$_/promtool" } split /:/, $ENV{PATH};
    return undef if !$promtool;
    my $in = File::Temp->new;
    print {$in} $text;
    close $in;
    return scalar qx{'$promtool' check metrics <'$in' 2>&1};
}

# What one client does at both endpoints, over and over. Returns how often by "METHOD-ID CLASS".
sub work {
    my ($instance, $number) = @_;
    my ($admin, $user) = ($instance->admin, $instance->service("ann:t$number:admin"));
    my %did;
    for my $i (1 .. $each) {
        my $path = "/v2.0/t$number/namespaces/default/configmaps/c$i";
        $user->put($path, json => { data => { i => "$i" } })->status == 201 and $did{'putNamespacedResource 2xx'}++;
        $user->get($path)->status == 200 and $did{'getNamespacedResource 2xx'}++;
        $user->get("$path-none")->status == 404 and $did{'getNamespacedResource 4xx'}++;
        $admin->get("/v2.0/t$number")->status == 200 and $did{'getTenant 2xx'}++;
    }
    return \%did;
}

sub count {
    my ($metrics, $what) = @_;
    my ($id, $class) = split / /, $what;
    return Tenure::Metrics::sum($metrics, 'tenure_requests_total', dialect => 'tenancy', route => $id, code => $class);
}

sub check_server {
    my ($server) = @_;
    Tenure::Instance::need($server);
    my $instance = Tenure::Instance->start(server => $server, workers => 3);
    my $admin    = $instance->admin;
    my $socket   = $instance->env('TENURE_METRICS_SOCKET');
    $admin->make_tenant("t$_") for 1 .. $clients;
    ok Tenure::Instance::wait_until(sub { -S $socket }), 'the socket is there';
    my $before = Tenure::Metrics::of_socket($socket);
    my @pids;
    for my $number (1 .. $clients) {
        my $pid = fork // die "fork: $!";
        if ($pid == 0) {
            my $did = work($instance, $number);
            Tenure::Run::write_file("$instance->{dir}/did$number", join '', map { "$_ $did->{$_}\n" } sort keys %$did);
            POSIX::_exit(0);
        }
        push @pids, $pid;
    }
    waitpid $_, 0 for @pids;
    my %did;
    for my $number (1 .. $clients) {
        my $text = Tenure::Run::read_file("$instance->{dir}/did$number");
        $did{$1} += $2 while $text =~ /^(.*) (\d+)$/mg;
    }
    is_deeply \%did, { map { $_ => $clients * $each } 'putNamespacedResource 2xx', 'getNamespacedResource 2xx', 'getNamespacedResource 4xx',
        'getTenant 2xx' }, 'the clients did what they should';
    # A worker counts a request after its answer is out.
    my $after;
    ok Tenure::Instance::wait_until(sub {
        $after = Tenure::Metrics::of_socket($socket);
        return !grep { count($after, $_) - count($before, $_) != $did{$_} } keys %did;
    }), 'what was counted is what the clients did' or diag explain $after;
    # What connections and caches count comes within a second.
    ok Tenure::Instance::wait_until(sub {
        $after = Tenure::Metrics::of_socket($socket);
        return $after->{tenure_database_round_trips_total} - $before->{tenure_database_round_trips_total} >= 3 * $clients * $each;
    }), 'round trips';
    for my $id ('putNamespacedResource', 'getNamespacedResource') {
        my @of = (dialect => 'tenancy', route => $id);
        is Tenure::Metrics::sum($after, 'tenure_request_duration_seconds_count', @of), Tenure::Metrics::sum($after, 'tenure_requests_total', @of),
            "as many times as requests: $id";
        is Tenure::Metrics::sum($after, 'tenure_request_duration_seconds_bucket', @of, le => '+Inf'),
            Tenure::Metrics::sum($after, 'tenure_requests_total', @of), 'in the buckets, too';
        cmp_ok Tenure::Metrics::sum($after, 'tenure_request_duration_seconds_sum', @of), '>', 0, 'and they took time';
    }
    is Tenure::Metrics::sum($after, 'tenure_outcomes_total', dialect => 'tenancy', outcome => 'created')
        - Tenure::Metrics::sum($before, 'tenure_outcomes_total', dialect => 'tenancy', outcome => 'created'), $clients * $each, 'by outcome';
    cmp_ok $after->{'tenure_statement_cache_lookups_total{result="hit"}'}, '>', $after->{'tenure_statement_cache_lookups_total{result="miss"}'},
        'most statements were prepared before';
    ok Tenure::Instance::wait_until(sub {
        $instance->service('ann:t1:admin')->get('/v2.0/t1/namespaces/default/configmaps/c1');
        return Tenure::Metrics::of_socket($socket)->{'tenure_resource_cache_lookups_total{result="hit"}'} > 0;
    }), 'hits of the cache of resources';
    $after = Tenure::Metrics::of_socket($socket);
    cmp_ok $after->{tenure_workers_started_total}, '>=', $server eq 'apache-fcgid' ? 1 : 6, 'workers';
    ok Tenure::Instance::wait_until(sub {
        my $now = Tenure::Metrics::of_socket($socket);
        return $now->{'tenure_workers{state="busy"}'} == 0 && $now->{'tenure_workers{state="idle"}'} > 0;
    }), 'all idle in the end';

    my ($status, $head, $text) = Tenure::Metrics::ask($socket, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    is $status, 200, 'as a client with HTTP/1.1 asks';
    like $head, qr{^Content-Type: text/plain; version=0\.0\.4}m, 'the media type that Prometheus knows';
    is +($head =~ /^Content-Length: (\d+)/m)[0], length $text, 'its length';
    my $said = remarks($text);
    SKIP: {
        skip 'no promtool', 1 if !defined $said;
        is $said, '', 'promtool check metrics';
    }
    unlike $text, qr/"t1"|ann/, 'no tenant and no user is named';

    my $answer = $admin->get('/metrics', accept => 'text/plain');
    $answer->is_status(200, 'the admin endpoint');
    is $answer->header('Content-Type') =~ s/;.*//r, 'text/plain', 'its type';
    my $there = Tenure::Metrics::parse($answer->text);
    cmp_ok count($there, $_), '>=', count($after, $_), "the same: $_" for sort keys %did;
    $instance->service('ann:t1:admin')->get('/metrics')->is_status(404, 'not at the service endpoint');
    my $nobody = Tenure::Client->new(url => $instance->env('TENURE_ADMIN_URL'));
    $nobody->get('/metrics')->is_status(401, 'and not for everybody');
    return $instance;
}

for my $server (qw(nginx apache-proxy apache-fcgid)) {
    subtest $server => sub { check_server($server); return };
}

subtest 'lighttpd' => sub {
    my $instance = check_server('lighttpd');
    my $admin    = $instance->admin;
    my $socket   = $instance->env('TENURE_METRICS_SOCKET');
    my $now      = sub { return Tenure::Metrics::of_socket($socket) };

    subtest 'what the host service sees' => sub {
        ok Tenure::Instance::wait_until(sub { $now->()->{tenure_database_up} }), 'it has looked';
        my $seen = $now->();
        is $seen->{tenure_database_up}, 1, 'the database answers';
        is $seen->{tenure_schema_version}, $instance->sql_value('SELECT MAX(version) FROM schema_files'), 'the schema\'s version';
        is $seen->{tenure_moves_queued}, 0, 'no move waits';
        ok Tenure::Instance::wait_until(sub { abs(($now->()->{tenure_last_reap_timestamp_seconds} // 0) - time) < 600 }), 'somebody purged a moment ago';
        ok !exists $seen->{tenure_oldest_queued_move_timestamp_seconds}, 'there is no oldest move';
        my $post = $admin->post('/v2.0/t1/action/move?dest=t2&', prefer => 'respond-async');
        $post->is_status(409, 'names are taken');
        $admin->make_tenant('empty');
        push @{ $instance->{allow} }, qr/mover \d+ ended by signal 9/; # one that stays stopped is killed
        my @stop = $instance->movers;
        kill STOP => @stop;
        $admin->post('/v2.0/t1/action/move?dest=empty', prefer => 'respond-async')->is_status(202, 'a move');
        ok Tenure::Instance::wait_until(sub { $now->()->{tenure_moves_queued} == 1 }), 'is queued';
        cmp_ok abs($now->()->{tenure_oldest_queued_move_timestamp_seconds} - time), '<', 600, 'since a moment ago';
        kill CONT => @stop;
        ok Tenure::Instance::wait_until(sub { my $m = $now->();
            $m->{tenure_moves_queued} == 0 && $m->{'tenure_background_moves_total{result="done"}'} == 1 }), 'and done';
        # A transaction in flight keeps watches from what was committed later.
        my $held = $instance->sql_session;
        print {$held} <<'SQL';
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
BEGIN;
INSERT INTO changes (request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision)
SELECT UNHEX(REPEAT('ab', 16)), UTC_TIMESTAMP(6), 'x', 'updated', tenant_id, id, uid, type_id, namespace, name, revision
FROM resources WHERE name = 'c1' AND live = 1 LIMIT 1;
DO GET_LOCK('in-flight', 0);
SQL
        ok Tenure::Instance::wait_until(sub { defined $instance->sql_value(q(SELECT IS_USED_LOCK('in-flight'))) }), 'a transaction is in flight';
        $admin->make_tenant("late$_") for 1 .. 3;
        ok Tenure::Instance::wait_until(sub { $now->()->{tenure_horizon_lag_changes} >= 3 }), 'the lag of the horizon';
        ok exists $now->()->{tenure_horizon_held_since_timestamp_seconds}, 'and since when it is held up';
        close $held;
        ok Tenure::Instance::wait_until(sub { $now->()->{tenure_horizon_lag_changes} == 0 }), 'until the transaction ends';
        ok Tenure::Instance::wait_until(sub { $instance->sql_value('SELECT published >= (SELECT MAX(id) FROM changes) FROM log_horizon') }),
            'the horizon is published though nobody watches';
    };

    subtest 'workers that die' => sub {
        push @{ $instance->{allow} }, qr/worker \d+ ended by signal 9/;
        my $before = $now->();
        my ($victim) = grep { Tenure::Daemon::has_epoll($_) && Tenure::Daemon::name_of($_) eq 'tenured' } Tenure::Instance::children_of($instance->master_pid('service'));
        kill KILL => $victim;
        ok Tenure::Instance::wait_until(sub { $now->()->{tenure_workers_failed_total} == $before->{tenure_workers_failed_total} + 1 }), 'are counted';
        ok Tenure::Instance::wait_until(sub { my $m = $now->();
            $m->{tenure_workers_started_total} == $before->{tenure_workers_started_total} + 1
                && $m->{'tenure_workers{state="idle"}'} + $m->{'tenure_workers{state="busy"}'} == 6 }), 'and replaced';
        is count($now->(), $_), count($before, $_), "what they had counted stays: $_" for 'putNamespacedResource 2xx', 'getTenant 2xx';
    };

    subtest 'the database goes away' => sub {
        push @{ $instance->{allow} }, qr/connection lost/;
        $instance->database('kill');
        ok Tenure::Instance::wait_until(sub { $now->()->{tenure_database_up} == 0 }), 'the metrics say so';
        ok $now->()->{tenure_schema_version} > 0, 'and what was known before';
        $instance->database('start');
        ok Tenure::Instance::wait_until(sub { $now->()->{tenure_database_up} == 1 }), 'and that it is back';
        is scalar(() = $instance->log_text('host') =~ /the database does not answer/g), 1, 'the log says it once';
    };

    subtest 'strange clients of the socket' => sub {
        my @status = map { (Tenure::Metrics::ask($socket, $_))[0] } "GET / HTTP/1.0\r\n\r\n", "POST /metrics HTTP/1.0\r\n\r\n", "GET /metrics\n\n",
            "\n\n", "GET  /metrics HTTP/1.0\r\n\r\n", "\0\xff\r\n\r\n", 'G' x 5000 . "\r\n\r\n";
        is "@status", '404 405 200 404 404 404 0', 'get what they asked for';
        my @silent = map { IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $socket) // die } 1 .. 40;
        is scalar(keys %{ $now->() }) > 20, 1, 'forty that say nothing keep nobody from it';
        ok !defined readline $silent[-1], 'and are closed in the end';
        my @gone = map { my $s = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $socket); print {$s} "GET /metrics HTTP/1.0\r\n\r\n"; close $s } 1 .. 20;
        ok $now->(), 'some that do not wait for the answer';
        my $eager = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $socket);
        print {$eager} "GET /metrics HTTP/1.0\r\n\r\n" . 'x' x 20000;
        $eager->flush;
        my ($text, $n) = ('');
        1 while ($n = sysread $eager, $text, 65536, length $text);
        like $text, qr/^tenure_watches \d+$/m, 'one that sends more than a request gets the answer';
        is $n, 0, 'and then its end, no error' or diag $!;
    };

    subtest 'the socket goes' => sub {
        push @{ $instance->{allow} }, qr/no metrics: /;
        unlink $socket or die "$socket: $!";
        ok Tenure::Instance::wait_until(sub { (Tenure::Metrics::ask($socket, "GET /metrics HTTP/1.0\r\n\r\n"))[0] }), 'another one comes';
        unlink $socket or die "$socket: $!";
        my $other = IO::Socket::UNIX->new(Local => $socket, Listen => 8) // die "$socket: $!";
        ok Tenure::Instance::wait_until(sub { $instance->log_text('host') =~ /no metrics: \Q$socket\E: another process is serving this socket \(setting metrics_socket; each registry on a host needs one/ }),
            'another process has taken its name';
        $other->blocking(0);
        ok Tenure::Instance::wait_until(sub { $other->accept }), 'and is asked whether it lives' for 1 .. 2;
        close $other;
        ok Tenure::Instance::wait_until(sub { (Tenure::Metrics::ask($socket, "GET /metrics HTTP/1.0\r\n\r\n"))[0] }), 'when that has ended, it comes back';
        is scalar(() = $instance->log_text('host') =~ /no metrics: /g), 1, 'the log says it once';
    };

    subtest 'the file of the counters goes' => sub {
        push @{ $instance->{allow} }, qr/removed or replaced/;
        my $short = Tenure::Run::read_file("$instance->{dir}/run/short");
        chomp $short;
        my ($file) = glob "$short/shared/shared-v*";
        unlink $file or die "$file: $!";
        ok Tenure::Instance::wait_until(sub {
            $admin->get('/v2.0/t2');
            my $n = count($now->(), 'getTenant 2xx');
            return $n > 0 && $n < $clients * $each;
        }), 'counting begins anew, in a file that all have';
        # Also by those that answer no requests: a master, and the mover.
        my ($victim) = grep { Tenure::Daemon::has_epoll($_) && Tenure::Daemon::name_of($_) eq 'tenured' } Tenure::Instance::children_of($instance->master_pid('service'));
        kill KILL => $victim;
        ok Tenure::Instance::wait_until(sub { $now->()->{tenure_workers_failed_total} == 1 }), 'a master counts there';
        $admin->make_tenant('last');
        $admin->post('/v2.0/t3/action/move?dest=last', prefer => 'respond-async')->is_status(202, 'a move');
        ok Tenure::Instance::wait_until(sub { $now->()->{'tenure_background_moves_total{result="done"}'} == 1 }), 'and the mover';
    };
};

done_testing;
