#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Lines of the log that doc/troubleshooting.md has for what goes wrong during requests and watches: each is caused by what the page names,
# is there word for word, clients get a whole answer or none, and the next one is served.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use IO::Socket::UNIX;
use JSON::PP ();
use POSIX ();
use Test::More;

use Tenure::Daemon;
use Tenure::FastCGI;
use Tenure::Instance;
use Tenure::Run qw(run read_file write_file);
use Tenure::Shim;
use Tenure::Watch qw(told);

my $shim = Tenure::Shim->new or plan skip_all => 'sanitizers have calls of their own in place of these';
my $top  = Tenure::Instance::source_dir();
my @page = read_file("$top/doc/troubleshooting.md") =~ /^\| `([^`]+)` \|/mg;

# A line of the page as a pattern.
sub line {
    my ($text) = @_;
    ok scalar(grep { $_ eq $text } @page), "the page has: $text";
    my $pattern = join '.+', map { quotemeta } split /…/, $text, -1;
    return qr/$pattern/;
}

my $spill = File::Temp->newdir('tenure-long-XXXXXX', TMPDIR => 1); # where long answers go
chmod 01777, "$spill";
my $instance = Tenure::Instance->start(workers => 1, combined => 1, faults => { $shim->environment, TMPDIR => "$spill" },
    settings => { 'tenure.default_tenant' => 'home', 'tenure.request_memory' => '16M' }, allow => [qr/ended by signal [69]/, qr/read-only/, qr/answered 5/]);
my $admin = $instance->admin;
my $service = $instance->service('ann:acme:admin');
my $space   = '/v2.0/acme/namespaces/default/configmaps';
my $objects = '/api/v1/namespaces/default/configmaps';

sub logged {
    my ($pattern, $name) = @_;
    return ok(Tenure::Instance::wait_until(sub { $instance->log_text($name // 'service') =~ $pattern }), 'the log has it') || diag $instance->log_text($name // 'service') =~ s/.*(?=(?:\n.*){20})//sr;
}

sub process { my ($name) = @_; my ($pid) = grep { Tenure::Daemon::name_of($_) eq $name } Tenure::Instance::children_of($instance->master_pid('service')); return $pid }
sub worker {
    my ($pid) = grep { Tenure::Daemon::name_of($_) eq 'tenured' && Tenure::Daemon::has_epoll($_) } Tenure::Instance::children_of($instance->master_pid('service'));
    return $pid;
}
sub serves { return ok(Tenure::Instance::wait_until(sub { $service->get('/v2.0/acme/configmaps')->status == 200 }), 'and the next request is served') }

# The first request of each worker makes the tenant of those who name none.
subtest 'a tenant that cannot be made' => sub {
    my $home   = $instance->service('bill');
    my $victim = worker();
    $instance->sql(q(DELETE FROM tenants WHERE name = 'home'));
    $instance->sql('SET GLOBAL read_only = 1');
    kill KILL => $victim;
    ok Tenure::Instance::wait_until(sub { my $pid = worker(); $pid && $pid != $victim }), 'a new worker';
    $home->get('/v2.0/home/configmaps');
    logged(line("tenant … is not there and can't be created: …"));
    $instance->sql('SET GLOBAL read_only = 0');
    ok Tenure::Instance::wait_until(sub { $home->get('/v2.0/home/configmaps')->status == 200 }), 'when the database takes changes again it is made';
};
$admin->make_tenant('acme');

# ---- long answers

$service->make("$space/l$_", { data => { text => 'x' x 2_500_000 } }) for 1 .. 8;
$service->get($objects)->is_status(200, 'a list of more than a request may hold in memory');
for my $case (
    [ "the file for a long answer can't be written: …", 'write',   'pwrite', 'ENOSPC', 422 ],
    [ "the file for a long answer can't be read: …",    'read',    'pread',  'EIO' ],
) {
    my ($text, $class, $function, $error, $status) = @$case;
    subtest $text => sub {
        $shim->arm(process => worker(), classes => [$class], function => $function, call => 1, error => $error, lasting => 1);
        my $answer = $service->get($objects);
        my ($failed) = $shim->disarm;
        is $failed, $function, "$function() failed";
        defined $status ? $answer->is_status($status, 'the request is refused') : isnt(length $answer->text, 8 * 2_500_000, 'the answer does not look whole');
        logged(line($text));
        serves();
        $service->get($objects)->is_status(200, 'so is the long list');
    };
}

# Below request_memory the part that the disk does not take is in memory: nothing is missing.
subtest 'a disk that gets full within a long answer' => sub {
    my $full = sub { $shim->arm(process => worker(), classes => ['write'], function => 'pwrite', call => 2, error => 'ENOSPC', lasting => 1) };
    $full->();
    my $answer = $service->get("$objects?limit=2");
    is [$shim->disarm]->[0], 'pwrite', 'the disk was full';
    $answer->is_status(200, 'the list is answered');
    is length(eval { $answer->json->{items}[1]{data}{text} } // ''), 2_500_000, 'whole';
    serves();

    my $few = join ',', map { "metadata.name!=l$_" } 3 .. 8;
    $full->();
    my $watch = Tenure::Watch->new($instance->env('TENURE_SERVICE_URL'), 'ann:acme:admin',
        "$objects?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&fieldSelector=$few", wait => 20);
    is told($watch, 2), 'ADDED l1, ADDED l2', 'and so does a watch begin with what is there';
    is [$shim->disarm]->[0], 'pwrite', 'the disk was full';
    $watch->close_now;
    serves();
};

# ---- what belongs to all requests

subtest "a session's use" => sub {
    my $client = $instance->combined('ann:acme');
    my $answer = $client->post('/session', headers => { 'X-Tenure-Console' => '1' });
    $answer->is_status(201, 'a session');
    my ($cookie) = split /;/, $answer->header('set-cookie');
    my $get = sub { return $client->request('GET', '/session', as => undef, headers => { 'X-Tenure-Console' => '1', Cookie => $cookie }) };
    $get->()->is_status(200, 'is used');
    $instance->sql('UPDATE sessions SET used_at = used_at - INTERVAL 10 MINUTE');
    $instance->sql('SET GLOBAL read_only = 1');
    $get->()->is_status(200, 'also while nothing can be written');
    logged(line("a session's use can't be recorded: …"), 'combined');
    $instance->sql('SET GLOBAL read_only = 0');
    $get->()->is_status(200, 'and afterwards');
    is $instance->sql_value('SELECT COUNT(*) FROM sessions WHERE used_at > created_at - INTERVAL 1 MINUTE'), 1, '... when its use is recorded';
};

subtest 'no random bytes' => sub {
    my $victim = worker();
    my %large  = map { ("m$_" => $_) } 1 .. 200;
    $shim->arm(process => $victim, classes => ['random'], function => 'getentropy', call => 1, error => 'EIO');
    my $answer = $service->put("$space/large", json => { data => {}, %large });
    my ($failed) = $shim->disarm;
    is $failed, 'getentropy', 'it was needed';
    cmp_ok $answer->status, '>=', 500, 'the request fails';
    logged(line('the system provides no random bytes: …'));
    logged(qr/worker $victim ended by signal 6/);
    serves();
    $service->put("$space/large", json => { data => {}, %large })->is_status(201, 'so is the same request');
};

# ---- watches

# A watch that begins, or does not; the connection is to be kept as long as it is.
sub watch { return eval { Tenure::Watch->new($instance->env('TENURE_SERVICE_URL'), 'ann:acme:admin', '/api/v1/namespaces/default/secrets?resourceVersion=0', wait => 20) } }
# The connections to clients that the process for watches has, by their inodes.
sub clients {
    my $pid  = process('tenured-watch');
    my $path = $instance->dir . '/sockets/service.sock';
    my %is   = map { / 03 +(\d+) \Q$path\E$/ ? ($1 => 1) : () } split /\n/, read_file('/proc/net/unix');
    return grep { $is{$_} } map { (readlink($_) // '') =~ /\Asocket:\[(\d+)\]/ } glob "/proc/$pid/fd/*";
}
sub watches_again {
    my %before = map { $_ => 1 } clients();
    my $watch  = watch();
    ok $watch && ($watch->{head} // '') =~ m{^HTTP/1\.\d 200}, 'the next watch is served';
    # The beginning of the answer is the worker's.
    return ok(Tenure::Instance::wait_until(sub { scalar grep { !$before{$_} } clients() }), '... by the process for watches');
}

watches_again();
subtest 'a watch that is not handed over' => sub {
    $shim->arm(process => worker(), classes => ['start'], function => 'memfd_create', call => 1, error => 'EMFILE');
    watch();
    logged(line('a watch could not be handed over: …')); # the client has the beginning of its answer before that
    my ($failed) = $shim->disarm;
    is $failed, 'memfd_create', 'it was needed';
    serves();
    watches_again();
};

subtest 'a watch that is not taken over' => sub {
    my $pid  = process('tenured-watch');
    is +(run('prlimit', "--pid=$pid", '--nofile=3:'))[0], 0, 'the process for watches has no descriptors left';
    watch();
    logged(line('a watch could not be taken over: …'));
    is +(run('prlimit', "--pid=$pid", '--nofile=1024:'))[0], 0, 'it has some again';
    watches_again();
};

subtest 'a watch that is not served' => sub {
    ok Tenure::Instance::wait_until(sub { !clients() }, 60), 'the watch before has ended, which needs the same function';
    $shim->arm(process => process('tenured-watch'), classes => ['start'], function => 'epoll_ctl', call => 1, error => 'ENOSPC');
    watch();
    logged(line("a watch can't be served: …")); # as above
    my ($failed) = $shim->disarm;
    is $failed, 'epoll_ctl', 'it was needed';
    watches_again();
};

# ---- the rest of an answer, for a client that does not take it

sub slow_reader {
    my ($socket) = map { $_->{socket} } my $fcgi = Tenure::FastCGI->connect($instance->dir . '/sockets/service.sock');
    $fcgi->send_request(uri => $objects, params => [ HTTP_X_AUTH_TOKEN => 'ann:acme:admin', HTTP_ACCEPT => 'application/json' ]);
    return $fcgi;
}

sub rest {
    my ($text, $pid, %order) = @_;
    subtest $text => sub {
        $shim->arm(process => $pid->(), %order) if %order;
        my $fcgi = slow_reader();
        logged(line($text));
        if (%order) {
            my ($failed) = $shim->disarm;
            is $failed, $order{function}, "$order{function}() failed";
        }
        undef $fcgi;
        serves();
    };
    return;
}

# What can't be handed over the worker sends itself, however slowly its client reads.
subtest 'the rest of an answer could not be handed over: …' => sub {
    $shim->arm(process => worker(), classes => ['write'], function => 'sendmsg with descriptors', call => 1, error => 'ETOOMANYREFS');
    my $fcgi = slow_reader();
    logged(line('the rest of an answer could not be handed over: …'));
    my ($failed) = $shim->disarm;
    is $failed, 'sendmsg with descriptors', 'sendmsg() failed';
    my $answer = $fcgi->read_response;
    is $answer->{status}, 200, 'the client gets its answer';
    is scalar(grep { length($_->{data}{text} // '') == 2_500_000 } @{ JSON::PP->new->utf8->decode($answer->{body})->{items} }), 8, '... which is whole';
    serves();
};
rest("the rest of an answer can't be sent: …", sub { process('tenured-send') }, classes => ['start'], function => 'epoll_ctl', call => 1, error => 'ENOSPC');
my $sender = process('tenured-send');
is +(run('prlimit', "--pid=$sender", '--nofile=3:'))[0], 0, 'the process for slow clients has no descriptors left';
rest('the rest of an answer could not be taken over: no descriptors');
is +(run('prlimit', "--pid=$sender", '--nofile=1024:'))[0], 0, 'it has some again';

# ---- a worker without a master, as a web server starts it, on a host without the host service

subtest "can't fork for a move" => sub {
    my $socket   = $instance->dir . '/one.sock';
    my $log      = $instance->dir . '/log/one.log';
    my $listener = IO::Socket::UNIX->new(Local => $socket, Listen => 16) or die "$socket: $!\n";
    mkdir $instance->dir . '/elsewhere';
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        my %more = ($shim->environment, TENURE_TENURE_RUNTIME_DIR => $instance->dir . '/elsewhere', TENURE_FAULT => 'statement:1');
        @ENV{ keys %more } = values %more;
        open STDIN, '<&', $listener or POSIX::_exit(127);
        open STDERR, '>>', $log or POSIX::_exit(127);
        exec Tenure::Instance::build_dir() . '/tenured', '-c', $instance->env('TENURE_CONFIG'), '-e', 'combined' or POSIX::_exit(127);
    }
    my $ask = sub {
        my ($method, $path) = @_;
        return Tenure::FastCGI->connect($socket)->request(method => $method, uri => $path,
            params => [ HTTP_X_AUTH_TOKEN => 'admin', HTTP_ACCEPT => 'application/json', HTTP_PREFER => 'respond-async' ]);
    };
    is $ask->(GET => '/v2.0/acme')->{status}, 200, 'it serves';
    like read_file($log), line('fault point …'), '... although its connection was cut';
    $admin->make_tenant('globex');
    $shim->arm(process => $pid, classes => ['start'], function => 'fork', call => 1, lasting => 1, error => 'EAGAIN');
    is $ask->(POST => '/v2.0/acme/action/move?dest=globex')->{status}, 202, 'a move in the background';
    ok Tenure::Instance::wait_until(sub { read_file($log) =~ line("can't fork for a move: …") }), 'cannot begin' or diag read_file($log);
    $shim->disarm;
    kill TERM => $pid;
    waitpid $pid, 0;
    ok Tenure::Instance::wait_until(sub { $admin->get('/v2.0/globex/configmaps')->json->{resources} && @{ $admin->get('/v2.0/globex/configmaps')->json->{resources} } }), 'it waits until somebody can do it';
};

# ---- programs

subtest 'OpenSSL that does not compute' => sub {
    my $file = $instance->dir . '/openssl.cnf';
    write_file($file, "openssl_conf = all\n[all]\nalg_section = algorithms\n[algorithms]\ndefault_properties = fips=yes\n");
    local $ENV{OPENSSL_CONF} = $file;
    my ($code, $text) = $instance->manage('token', 'create', '--operator', '--user', 'ann');
    isnt $code, 0, 'a configuration of the host that forbids what is needed';
    like $text, line('OpenSSL refused …'), 'is told';
};

$instance->stop;
is join("\n", $instance->bad_lines), '', 'nothing else went wrong';
done_testing;
