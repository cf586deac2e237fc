#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What one client can take of a host, behind each of the web servers: others find a worker while one tenant keeps all those busy
# that it may; who guesses tokens is refused; watches are counted. And the file that workers share may be lost meanwhile.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use IO::Select;
use POSIX ();
use Test::More;
use Time::HiRes ();

use Tenure::Instance;
use Tenure::Watch;

my ($workers, $many) = (4, 9);
my $path = '/v2.0/modest/namespaces/default/configmaps';

# A request in a process of its own: a handle from which its status comes.
sub ask {
    my ($client, @request) = @_;
    pipe my $read, my $write or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        close $read;
        my $answer = eval { $client->request(@request) };
        my $retry = $answer ? $answer->{headers}{'retry-after'} // '-' : '-';
        syswrite $write, $answer ? "$answer->{status} $retry\n" : "$@\n";
        POSIX::_exit(0);
    }
    close $write;
    return { pid => $pid, read => $read };
}

sub told {
    my ($asked) = @_;
    my $line = readline $asked->{read};
    waitpid $asked->{pid}, 0;
    chomp $line;
    return $line;
}

sub shared_file {
    my ($instance) = @_;
    my ($file) = glob(($instance->{dir}) . '/shared/shared-v*');
    my $short = Tenure::Run::read_file("$instance->{dir}/run/short");
    chomp $short;
    ($file) = glob "$short/shared/shared-v*" if !defined $file;
    return $file;
}

# Of the tenant's workers all are held by a row that somebody has locked: its other requests are refused, and others are served.
sub check_shares {
    my ($instance, $what) = @_;
    my $greedy = $instance->service('eve:greedy:admin');
    my $lock = $instance->sql_session;
    print {$lock} "BEGIN; SELECT id FROM tenants WHERE name = 'greedy' FOR UPDATE;\n";
    Tenure::Instance::wait_until(sub { $instance->sql_value('SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_rows_locked > 0') > 0 });
    my @asked = map { ask($greedy, 'PUT', "/v2.0/greedy/namespaces/default/configmaps/c$_", json => { data => {} }) } 1 .. $many;
    my %by_handle = map { $_->{read} => $_ } @asked;
    my $select = IO::Select->new(map { $_->{read} } @asked);
    my @refused;
    my $until = Time::HiRes::time() + 30;
    while (@refused < $many - $workers && Time::HiRes::time() < $until) {
        for my $ready ($select->can_read(1)) {
            $select->remove($ready);
            push @refused, told($by_handle{$ready});
        }
    }
    is scalar @refused, $many - $workers, "$what: what is more than the tenant's share is refused";
    is_deeply [ grep { $_ ne '429 1' } @refused ], [], "$what: with 429 and Retry-After";
    is $instance->service('ann:modest:admin')->get($path)->{status}, 200, "$what: another tenant is served meanwhile";
    is $instance->admin->get($path)->{status}, 200, "$what: and so is the operator";
    is_deeply [ $select->can_read(0) ], [], "$what: while the first still wait";
    print {$lock} "ROLLBACK;\n";
    close $lock;
    my @done = map { told($by_handle{$_}) } $select->handles;
    is_deeply [ grep { !/^20[01] / } @done ], [], "$what: which are done in the end";
    return;
}

for my $name ('lighttpd', 'nginx', 'apache-proxy', 'apache-fcgid') {
    subtest $name => sub {
        plan skip_all => "$name is not installed"
            unless Tenure::Instance::on_path($name =~ /apache/ ? 'apache2' : $name) &&
            ($name ne 'apache-fcgid' || -e '/usr/lib/apache2/modules/mod_fcgid.so');
        my $instance = Tenure::Instance->start(server => $name, workers => $workers, reserve => 1, settings => {
            'database.lock_wait' => 60, 'tenure.wrong_tokens' => 20, 'tenure.watches_per_token' => 3, 'tenure.watches_per_tenant' => 4 });
        $instance->admin->make_tenant($_) for 'greedy', 'modest';
        # All processes of mod_fcgid are there.
        $instance->service('ann:modest:admin')->get($path) for 1 .. 5;
        check_shares($instance, 'shares');

        my $file = shared_file($instance);
        ok defined $file && -s $file, 'a file that the workers share';
        truncate $file, 0;
        is $instance->service('ann:modest:admin')->get($path)->{status}, 200, 'it is truncated: requests go on';
        Time::HiRes::sleep(2.5);
        $instance->service('ann:modest:admin')->get($path) for 1 .. 10;
        ok -s shared_file($instance), 'and there is another';
        unlink $file;
        Time::HiRes::sleep(2.5);
        $instance->service('ann:modest:admin')->get($path) for 1 .. 10;
        check_shares($instance, 'with the file replaced') if $name eq 'lighttpd' || $name eq 'apache-fcgid';
        $instance->stop;
    };
}

subtest 'wrong tokens' => sub {
    my $instance = Tenure::Instance->start(auth => 'token', workers => 2, settings => { 'tenure.wrong_tokens' => 10 });
    $instance->admin->make_tenant('t1');
    my $token = $instance->token('t1', 'reader');
    my $late = $instance->token('t1', 'reader');
    # The minutes are those of the monotonic clock.
    my $left = 60 - Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) % 60;
    Time::HiRes::sleep($left + 0.5) if $left < 20;
    is $instance->service($token)->get('/v2.0/t1/namespaces/default/configmaps')->{status}, 200, 'the right one';
    my @statuses = map { $instance->service(sprintf '%012x.%s', $_, 'x' x 32)->get('/v2.0/t1/namespaces/default/configmaps')->{status} } 1 .. 14;
    is_deeply \@statuses, [ (401) x 10, (429) x 4 ], 'ten wrong ones are 401, more of them 429';
    my $refused = $instance->service('nonsense')->get('/v2.0/t1/namespaces/default/configmaps');
    is $refused->{status}, 429, 'what has not even the form of one, too';
    like $refused->{headers}{'retry-after'}, qr/^[1-9]\d?$/, 'Retry-After';
    like $refused->json->{detail}, qr/wrong tokens/, 'says why';
    is $refused->json->{type}, 'urn:tenure:problem:too-many-requests', 'its type';
    is $instance->service($token)->get('/v2.0/t1/namespaces/default/configmaps')->{status}, 200, 'a token that was right before is still';
    is $instance->service($late)->get('/v2.0/t1/namespaces/default/configmaps')->{status}, 429, 'one that was not seen before waits';
    is $instance->service(undef)->get('/v2.0/t1/namespaces/default/configmaps')->{status}, 401, 'without a token it is 401 as before';
    is $instance->service(undef)->get('/healthz')->{status}, 200, 'what is open to everybody is open';
    my $admin = Tenure::Client->new(url => $instance->env('TENURE_ADMIN_URL'), token => 'wrong');
    is $admin->get('/v2.0')->{status}, 401, 'another endpoint counts for itself';
    for my $try (1 .. 12) { $admin->get('/baremetal/v1/nodes') }
    my $metal = $admin->get('/baremetal/v1/nodes');
    is $metal->{status}, 429, 'the bare-metal dialect';
    ok $metal->json->{error_message}, 'says so in its own words';
    my $space = $admin->get('/api/v1/tenants/t1/configmaps');
    is $space->{status}, 429, 'spaces';
    is $space->json->{reason}, 'TooManyRequests', 'in theirs';
    my $placement = $admin->get('/placement/resource_providers');
    is $placement->{status}, 429, 'placement';
    is $placement->json->{errors}[0]{title}, 'Too Many Requests', 'in its own';
    $instance->stop;
};

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
    like $more->{head}, qr/^Retry-After: 10\r?$/mi, 'Retry-After';
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
    ok Tenure::Instance::wait_until(sub { watch_status($begin->('ann:t1:reader', 't1')) == 200 }, 90), 'one has ended: another can begin';

    # The watch process dies, and all that it had.
    my $master = $instance->master_pid('combined');
    my ($watcher) = grep { Tenure::Run::read_file("/proc/$_/comm") =~ /watch/ } Tenure::Instance::children_of($master);
    push @{ $instance->{allow} }, qr/watch process \d+ ended by signal 9/;
    kill 'KILL', $watcher;
    ok Tenure::Instance::wait_until(sub { my $watch = $begin->('bob:t1:reader', 't1'); push @open, $watch; watch_status($watch) == 200 }),
        'what a process had that was killed is no longer counted';
    $instance->stop;
};

subtest 'a request that hangs' => sub {
    my $instance = Tenure::Instance->start(workers => 2, settings => { 'tenure.worker_deadline' => '3s', 'database.lock_wait' => '60s' },
        allow => [qr/worker \d+ ended by signal 9/]);
    $instance->admin->make_tenant('greedy');
    my $lock = $instance->sql_session;
    print {$lock} "BEGIN; SELECT id FROM tenants WHERE name = 'greedy' FOR UPDATE;\n";
    Tenure::Instance::wait_until(sub { $instance->sql_value('SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_rows_locked > 0') > 0 });
    my $asked = ask($instance->admin, 'PUT', '/v2.0/greedy/namespaces/default/configmaps/c', json => { data => {} });
    like told($asked), qr/^5\d\d /, 'ends';
    like $instance->log_text('admin'), qr/is killed: its request takes longer than worker_deadline/, 'its worker was killed';
    print {$lock} "ROLLBACK;\n";
    close $lock;
    ok Tenure::Instance::wait_until(sub { $instance->admin->get('/v2.0/greedy')->{status} == 200 }), 'another serves';
    $instance->stop;
};

subtest 'an access log on a full disk' => sub {
    plan skip_all => 'there is no /dev/full' unless -c '/dev/full';
    my $instance = Tenure::Instance->start(workers => 1, settings => { 'endpoint_service.access_log' => '/dev/full' });
    $instance->admin->make_tenant('t1');
    my $service = $instance->service('ann:t1:admin');
    is $service->put("/v2.0/t1/namespaces/default/configmaps/c$_", json => { data => {} })->{status}, 201, 'requests go on' for 1 .. 3;
    like $instance->log_text('service'), qr/the access log can't be written: No space left on device/, 'the log says so';
    is scalar(() = $instance->log_text('service') =~ /access log can't be written/g), 1, 'once';
    my $health = $service->get('/healthz');
    is $health->{status}, 200, 'it is healthy';
    like $health->json->{access_log}, qr/lost/, 'and says what is not well';
    is $instance->admin->get('/healthz')->json->{access_log}, undef, 'where it is';
    $instance->stop;
};

subtest 'a token that is revoked' => sub {
    my $instance = Tenure::Instance->start(auth => 'token', workers => 2, combined => 1);
    $instance->admin->make_tenant('t1');
    my $token = $instance->token('t1', 'reader');
    my $other = $instance->token('t1', 'reader');
    my ($watch, $kept) = map { Tenure::Watch->new($instance->env('TENURE_COMBINED_URL'), $_, '/api/v1/tenants/t1/configmaps?timeoutSeconds=300') }
        $token, $other;
    is $watch->{over}, 0, 'a watch';
    $instance->manage('token', 'revoke', $token);
    my $from = Time::HiRes::time();
    $watch->read_while(60, sub { 1 });
    my $took = Time::HiRes::time() - $from;
    ok $watch->{over}, 'it ends';
    cmp_ok $took, '<', 14, sprintf 'long before the quarter of a minute that it took: %.1f s', $took;
    is +($watch->{events}[-1] // {})->{object}{code}, 401, 'with the reason';
    $kept->read_while(2, sub { 1 });
    ok !$kept->{over}, 'that of another token goes on';
    $instance->stop;
};

done_testing;
