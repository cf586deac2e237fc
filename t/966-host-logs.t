#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Logs that operators switch: the access log as JSON lines, the level of all processes at runtime, slow requests with their
# statements; behind mod_fcgid as well, whose workers have no master.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use POSIX ();
use Test::More;

use Tenure::Instance;
use Tenure::Run;

my @members = qw(time address user method target protocol status bytes referer user_agent request_id microseconds endpoint outcome tries tenant);

subtest 'access log as JSON lines' => sub {
    my $instance = Tenure::Instance->start(settings => { 'endpoint admin.access_log_format' => 'json', 'tenure.slow_request' => 300 });
    my $admin    = $instance->admin;
    $admin->make_tenant('acme');
    my $get  = $admin->get('/v2.0/acme?x=%22');
    my $line = $instance->access_line('admin', $get);
    my $of   = eval { JSON::PP->new->utf8->decode($line) } // {};
    is_deeply [ sort keys %$of ], [ sort @members ], 'all members' or diag $line;
    is join(' ', $line =~ /"(\w+)":/g), join(' ', @members), 'in their order';
    is "$of->{method} $of->{target} $of->{status} $of->{endpoint} $of->{tenant}", '"GET /v2.0/acme?x=%22 400 admin acme"' =~ s/"//gr, 'what was asked';
    like $of->{time}, qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\z/, 'when';
    is $of->{referer}, undef, 'what is not there is null';
    my $strange = $admin->get('/v2.0/acme', headers => { 'User-Agent' => qq(a"b\\c) });
    $of = eval { JSON::PP->new->utf8->decode($instance->access_line('admin', $strange)) } // {};
    is $of->{user_agent}, 'a"b\c', 'quotes alone are JSON\'s';
    like $instance->access_line('service', $instance->service('ann:acme:member')->get('/v2.0/acme/configmaps')), qr/ - ann \[.* service ok 1 "acme"$/,
        'another endpoint keeps its format';

    my $lock = $instance->sql_locks(q(SELECT id FROM tenants WHERE name = 'acme' FOR UPDATE));
    my $pid  = fork // die "fork: $!";
    if ($pid == 0) {
        Tenure::Instance::wait_until(sub { $instance->count_lock_waits > 0 });
        sleep 1;
        print {$lock} "ROLLBACK;\n";
        POSIX::_exit(0);
    }
    my $slow = $admin->put('/v2.0/acme/persistentvolumes/p', json => {});
    $slow->is_status(201, 'a request that waits for a lock');
    my $log  = $instance->dir . '/log/admin.log';
    my $text;
    ok Tenure::Instance::wait_until(sub { ($text) = Tenure::Run::read_file($log) =~ /^(.* slow: PUT .*)$/m; return defined $text }), 'a slow request is logged';
    like $text // '', qr{slow: PUT /v2\.0/acme/persistentvolumes/p took [\d.]+ ms, of which the database [\d.]+ ms in \d+ round trips: \w+.* [\d.]+ ms}, 'with its statements';
    my $id = $slow->request_id;
    like $text // '', qr/\[\Q$id\E\]/, 'and its id';
    waitpid $pid, 0;
    close $lock;
    # On a busy machine others may be slow, too.
    for my $other ($get, $strange) {
        my $took = (eval { JSON::PP->new->utf8->decode($instance->access_line('admin', $other)) } // {})->{microseconds} // 0;
        my $its  = $other->request_id;
        my $is   = Tenure::Run::read_file($log) =~ /^(?=.*\[\Q$its\E\]).* slow: /m;
        ok !$is || $took > 250_000, 'and none that is not slow';
    }
};

for my $server (qw(lighttpd apache-fcgid)) {
    subtest "log-level, $server" => sub {
        Tenure::Instance::need($server);
        # A PUT takes longer than a millisecond, mostly, and gives a warning then.
        my $instance = Tenure::Instance->start(server => $server, settings => { 'tenure.slow_request' => 1 });
        my $admin    = $instance->admin;
        my $lines    = sub { return scalar(() = join('', map { Tenure::Run::read_file($_) } glob $instance->dir . '/log/*.log') =~ /warning tenured\[\d+\].* slow: /g) };
        my $n        = 0;
        my $more     = sub { my $before = $lines->(); $admin->make_tenant('t' . $n++) for 1 .. 3; return $lines->() > $before };
        ok Tenure::Instance::wait_until($more), 'warnings';
        my ($code, $text) = $instance->manage('log-level', 'loud');
        is $code, 64, 'a level that there is none of' or diag $text;
        ok Tenure::Instance::wait_until($more), 'changes nothing';
        ($code, $text) = $instance->manage('log-level', 'error');
        is $code, 0, 'errors only' or diag $text;
        # A line of the last request before may still come; requests that begin later give none.
        ok Tenure::Instance::wait_until(sub { !$more->() }), 'no more warnings';
        ok !$more->(), 'of any worker' for 1 .. 3;
        is +($instance->manage('log-level', 'default'))[0], 0, 'what the configuration says';
        ok Tenure::Instance::wait_until($more), 'warnings again';
    };
}

done_testing;
