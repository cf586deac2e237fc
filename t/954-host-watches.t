#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Watches are counted by token, tenant and endpoint, and end when their token is revoked.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;
use Time::HiRes ();

use Tenure::Instance;
use Tenure::Watch;

sub watch_status {
    my ($watch) = @_;
    return ($watch->{head} // '') =~ m{^HTTP/1\.1 (\d+)} ? $1 : 'none';
}

subtest 'watches' => sub {
    my $instance = Tenure::Instance->start(workers => 2, combined => 1, settings => { 'tenure.watches_per_token' => 3,
        'tenure.watches_per_tenant' => 5, 'endpoint_combined.watches' => 10 });
    my $url = $instance->env('TENURE_COMBINED_URL');
    $instance->admin->make_tenant($_) for 't1', 't2';
    my $begin = sub { my ($token, $tenant) = @_; return Tenure::Watch->new($url, $token, "/api/v1/tenants/$tenant/configmaps?timeoutSeconds=300") };
    my @open = map { $begin->('ann:t1:reader', 't1') } 1 .. 3;
    is_deeply [ map { watch_status($_) } @open ], [ (200) x 3 ], 'three of one token';
    my $more = $begin->('ann:t1:reader', 't1');
    is watch_status($more), 429, 'and no fourth';
    like $more->{head}, qr/^Retry-After: 2\r?$/mi, 'Retry-After';
    is $instance->combined('ann:t1:reader')->get('/api/v1/tenants/t1/configmaps')->{status}, 200, 'lists are another thing';
    push @open, map { $begin->('bob:t1:reader', 't1') } 1 .. 2;
    is watch_status($open[-1]), 200, 'another user';
    is watch_status($begin->('eve:t1:reader', 't1')), 429, 'as many as the tenant may have';
    push @open, map { $begin->("$_:t2:reader", 't2') } 'ann', 'bob', 'eve', 'zoe';
    is watch_status($open[-1]), 200, 'another tenant';
    is watch_status($begin->('joe:t2:reader', 't2')), 429, 'as many as users may have of the endpoint';
    push @open, $begin->('admin', 't1');
    is watch_status($open[-1]), 200, 'the rest is the operator\'s';
    is watch_status($begin->('admin', 't1')), 429, 'and no more';
    (shift @open)->close_now for 1 .. 2;
    ok Tenure::Instance::wait_until(sub { return watch_status($begin->('ann:t1:reader', 't1')) == 200 }), 'one has ended: another can begin';

    # The watch process dies, and all that it had.
    my $master = $instance->master_pid('combined');
    my ($watcher) = grep { Tenure::Run::read_file("/proc/$_/comm") =~ /watch/ } Tenure::Instance::children_of($master);
    push @{ $instance->{allow} }, qr/watch process \d+ ended by signal 9/;
    kill 'KILL', $watcher;
    ok Tenure::Instance::wait_until(sub { my $watch = $begin->('bob:t1:reader', 't1'); push @open, $watch; watch_status($watch) == 200 }),
        'what a process had that was killed is no longer counted';
    $instance->stop;
};

# Whoever opens watches and closes them has only those that are open. A web server may find out that a client has gone only
# when it writes to it.
for my $server ('lighttpd', 'apache-proxy', 'nginx') {
    next if !Tenure::Instance::on_path({ nginx => 'nginx', lighttpd => 'lighttpd', 'apache-proxy' => 'apache2' }->{$server});
    subtest "watches that were closed, behind $server" => sub {
        my $instance = Tenure::Instance->start(server => $server, workers => 2, combined => 1, settings => { 'tenure.watches_per_token' => 40 });
        $instance->admin->make_tenant('t1');
        my $begin = sub { return Tenure::Watch->new($instance->env('TENURE_COMBINED_URL'), 'ann:t1:reader', '/api/v1/tenants/t1/configmaps?timeoutSeconds=300') };
        my $kept = $begin->();
        is watch_status($kept), 200, 'one that stays';
        $begin->()->close_now for 1 .. 300;
        ok Tenure::Instance::wait_until(sub { my $watch = $begin->(); my $is = watch_status($watch); $watch->close_now; return $is == 200 }),
            'after 300 that were closed another one is let in';
        $instance->admin->put('/v2.0/t1/namespaces/default/configmaps/c', json => { data => {} });
        $kept->read_while(10, sub { return !@{ $kept->{events} } });
        is $kept->{events}[0]{type}, 'ADDED', 'the one that stayed goes on';
        $instance->stop;
    };
}

subtest 'a token that is revoked' => sub {
    my $instance = Tenure::Instance->start(auth => 'token', workers => 2, combined => 1);
    $instance->admin->make_tenant('t1');
    my $begin = sub { return Tenure::Watch->new($instance->env('TENURE_COMBINED_URL'), $_[0], '/api/v1/tenants/t1/configmaps?timeoutSeconds=300') };
    my $kept  = $begin->($instance->token('t1', 'reader'));
    my $took;
    # A busy machine may hold one of them up. If few tokens were looked at as rarely as many are, it would be all of them.
    for (1 .. 3) {
        my $token = $instance->token('t1', 'reader');
        my $watch = $begin->($token);
        is $watch->{over}, 0, 'a watch';
        $instance->manage('token', 'revoke', $token);
        my $from = Time::HiRes::time();
        $watch->read_while(60, sub { 1 });
        $took = Time::HiRes::time() - $from;
        ok $watch->{over}, 'it ends';
        is +($watch->{events}[-1] // {})->{object}{code}, 401, 'with the reason';
        last if $took < 14;
    }
    cmp_ok $took, '<', 14, sprintf 'long before the quarter of a minute that it took: %.1f s', $took;
    $kept->read_while(2, sub { 1 });
    ok !$kept->{over}, 'that of another token goes on';
    $instance->stop;
};

done_testing;
