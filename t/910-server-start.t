#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# How tenured starts: its options, its socket, sockets handed over, what it refuses.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use IO::Socket::UNIX;
use POSIX ();
use Socket qw(PF_UNIX SOCK_DGRAM SOCK_NONBLOCK SOCK_STREAM pack_sockaddr_un);
use Test::More;

use Tenure::Daemon;
use Tenure::FastCGI;

Tenure::Daemon::need_program();

my $daemon = Tenure::Daemon->new;
my $socket = $daemon->{socket};
my @serve  = ('-c', $daemon->config_path, '-e', 'service');

subtest 'options' => sub {
    my ($code, $text) = $daemon->run('-h');
    is $code, 0, '-h';
    like $text, qr/usage: tenured/, 'explains';
    ($code, $text) = $daemon->run('-V');
    is $code, 0, '-V';
    like $text, qr/\d/, 'tells the version';
    for my $args ([], ['-c', 'x'], ['-e', 'x'], ['--nonsense'], [@serve, 'more']) {
        is(($daemon->run(@$args))[0], 64, "wrong usage: @$args");
    }
    like(($daemon->run(@serve, 'more'))[1], qr/not more$/m, 'what is too many is named');
    unlike(($daemon->run('--nonsense'))[1], qr/see what/, 'what is unknown is told once');
    like(($daemon->run('--endpiont', 'x'))[1], qr/did you mean --endpoint\?/, 'a typing error is told what is near');
};

subtest 'configuration test' => sub {
    my ($code, $text) = $daemon->run(@serve, '-t');
    is $code, 0, 'good: exit code';
    like $text, qr/Syntax OK/, 'good: says so';
    ok !-e $socket, 'and starts nothing';

    ($code, $text) = $daemon->run('-c', $daemon->config_path, '-e', 'nobody', '-t');
    is $code, 78, 'no such endpoint';
    like $text, qr/nobody/, 'is named';

    ($code, $text) = $daemon->run('-c', '/nonexistent/tenure.conf', '-e', 'service', '-t');
    is $code, 78, 'no such file';
    like $text, qr{/nonexistent/tenure\.conf}, 'is named';

    my $broken = Tenure::Daemon->new(endpoint => { worker => 3 });
    ($code, $text) = $broken->run('-c', $broken->config_path, '-e', 'service', '-t');
    is $code, 78, 'unknown setting';
    like $text, qr/tenure\.conf:\d+:.*worker/s, 'is named with file and line';

    $broken = Tenure::Daemon->new(endpoint => { wadl => 'missing.wadl' });
    ($code, $text) = $broken->run('-c', $broken->config_path, '-e', 'service', '-t');
    is $code, 78, 'no WADL';
    like $text, qr/missing\.wadl/, 'is named';

    $broken->write_file("$broken->{dir}/broken.wadl",
        qq{<application xmlns="http://wadl.dev.java.net/2009/02">\n<nonsense/>\n</application>\n});
    $broken->write_config(tenure => { wadl_dir => "$broken->{dir}" }, endpoint => { wadl => 'broken.wadl' });
    ($code, $text) = $broken->run('-c', $broken->config_path, '-e', 'service', '-t');
    is $code, 78, 'broken WADL';
    like $text, qr/broken\.wadl:2:/, 'is named with its line';

    my $logged = Tenure::Daemon->new(endpoint => { access_log => '/nonexistent/access.log' });
    my @test   = ('-c', $logged->config_path, '-e', 'service', '-t');
    ($code, $text) = $logged->run(@test);
    is $code, 73, 'an access log that a start or a reload could not open';
    like $text, qr{can't open access log /nonexistent/access\.log: No such file}, 'is named, with the reason';
    unlike $text, qr/Syntax OK/, 'and nothing is said to be good';
    $logged->write_config(endpoint => { access_log => "$logged->{dir}/new.log" });
    ($code, $text) = $logged->run(@test);
    is $code, 0, 'one that they would make is good' or diag $text;
    ok !-e "$logged->{dir}/new.log", '... and is not made';
};

subtest 'its own socket' => sub {
    $daemon->write_config(endpoint => { socket_mode => '0600' });
    $daemon->start(args => [ '-p', "$daemon->{dir}/pid" ]);
    is((stat $socket)[2] & 07777, 0600, 'has the configured mode');
    Tenure::Daemon::wait_until(sub { -e "$daemon->{dir}/pid" });
    is $daemon->read_file("$daemon->{dir}/pid"), "$daemon->{pid}\n", 'the pid file names the master';

    my ($code, $text) = $daemon->run(@serve);
    is $code, 78, 'a second one on it is refused';
    like $text, qr/\Q$socket\E.*another process/, 'with the reason';
    ok $daemon->answers, 'and does no harm';

    is $daemon->stop, 0, 'SIGTERM ends it';
    ($code, $text) = $daemon->run(@serve, '-p', "$daemon->{dir}/nowhere/pid");
    is $code, 73, 'a pid file that cannot be written ends it';
    ok !-e $socket, 'the socket is gone';
    ok !-e "$daemon->{dir}/pid", 'and the pid file';
    $daemon->write_config;
};

subtest 'names that are in use' => sub {
    { IO::Socket::UNIX->new(Local => $socket, Listen => 1) or die $! }
    ok -S $socket, 'a socket that nobody serves any more';
    $daemon->start;
    ok $daemon->answers, 'is replaced';
    $daemon->stop;

    $daemon->write_file($socket, 'precious');
    my ($code, $text) = $daemon->run(@serve);
    is $code, 78, 'a file is not';
    like $text, qr/no socket/, 'with the reason';
    is $daemon->read_file($socket), 'precious', 'and stays';
    unlink $socket;

    my $long = Tenure::Daemon->new(endpoint => { socket => '/tmp/' . 'x' x 200 });
    is(($long->run('-c', $long->config_path, '-e', 'service'))[0], 78, 'nor a path that is too long');
};

subtest 'a killed master' => sub {
    $daemon->start;
    ok Tenure::Daemon::wait_until(sub { $daemon->children == 5 }), 'has children';
    my @children = $daemon->children;
    $daemon->signal('KILL');
    $daemon->wait_for_end;
    ok Tenure::Daemon::wait_until(sub { !grep { Tenure::Daemon::is_running($_) } @children }), 'none outlives it';
    ok -S $socket, 'its socket stays behind';
    $daemon->start;
    ok $daemon->answers, 'and is recognised';
    $daemon->stop;
};

subtest 'a socket on descriptor 0' => sub {
    my $listen = IO::Socket::UNIX->new(Local => $socket, Listen => 100) or die $!;
    my $pid = $daemon->start(prepare => sub { POSIX::dup2(fileno $listen, 0) });
    ok $daemon->answers, 'is served';
    ok Tenure::Daemon::wait_until(sub { !$daemon->children }), 'by one process';
    my $kept = Tenure::FastCGI->connect($socket);
    is $kept->request(keep => 1)->{status}, 200, 'which keeps connections';
    $daemon->signal('HUP');
    is $kept->request(keep => 1)->{status}, 200, 'also after SIGHUP';
    unlike $daemon->log_text, qr/reloaded/, '... which loads no configuration';
    is $daemon->stop, 0, 'until SIGTERM';
    ok $kept->is_closed, 'and then not';
    ok -S $socket, 'whose name is not its to remove';
    close $listen;
    unlink $socket;
};

# How many connections wait in the socket's queue, up to 50, before another one is refused, while nobody accepts.
sub room_of {
    my ($path) = @_;
    my @held;
    kill STOP => $daemon->{pid};
    my @children = $daemon->children;
    kill STOP => @children;
    Tenure::Daemon::wait_until(sub { !grep { $daemon->read_file("/proc/$_/stat") !~ /\) [TZ] / } @children });
    while (@held < 50) {
        socket my $fcgi, PF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0 or die $!;
        connect $fcgi, pack_sockaddr_un($path) or last;
        push @held, $fcgi;
    }
    kill CONT => $daemon->{pid}, @children;
    return scalar @held;
}

# For start(): hands the socket over as systemd does.
sub hand_over {
    my ($listen) = @_;
    open STDIN, '<', '/dev/null';
    POSIX::dup2(fileno $listen, 3);
    $^F = 100;
    fcntl $listen, 2, 0 if fileno $listen == 3;
    @ENV{qw(LISTEN_PID LISTEN_FDS)} = ($$, 1);
    return;
}

subtest 'a socket from LISTEN_FDS' => sub {
    my $listen = IO::Socket::UNIX->new(Local => $socket, Listen => 10) or die $!;
    $daemon->start(prepare => sub { hand_over($listen) });
    ok $daemon->answers, 'is served';
    ok Tenure::Daemon::wait_until(sub { $daemon->workers == 2 }), 'by workers';
    $daemon->signal('HUP');
    ok Tenure::Daemon::wait_until(sub { $daemon->log_text =~ /reloaded/ }), 'SIGHUP';
    is room_of($socket), 11, '... leaves its backlog alone';
    is $daemon->stop, 0, 'until SIGTERM';
    ok -S $socket, 'whose name is not its to remove';
    close $listen;
    unlink $socket;
};

# A client that sends the next request, but for the end of its body, before it ends the one before: so one is waiting all the time, until the
# file $end is there. It exits with the number of its requests that got no answer.
sub keep_asking {
    my ($end) = @_;
    my $pid = fork // die "fork: $!";
    return $pid if $pid;
    my $cut   = 0;
    my $begin = sub { my $fcgi = Tenure::FastCGI->connect($socket); $fcgi->send_raw($fcgi->head); return $fcgi };
    my $end_it = sub {
        my ($fcgi) = @_;
        $fcgi->send_raw($fcgi->stream(Tenure::FastCGI::FCGI_STDIN, ''));
        $cut++ if (($fcgi->read_response // {})->{status} // 0) != 200;
    };
    my $next = $begin->();
    until (-e $end) {
        my $present = $next;
        $next = $begin->();
        select undef, undef, undef, 0.1;
        $end_it->($present);
    }
    $end_it->($next);
    POSIX::_exit($cut);
}

subtest 'a socket from LISTEN_FDS under load' => sub {
    my $listen = IO::Socket::UNIX->new(Local => $socket, Listen => 100) or die $!;
    my $end    = "$daemon->{dir}/end";
    $daemon->write_config(endpoint => { workers => 1 });
    $daemon->start(prepare => sub { hand_over($listen) });
    my @clients = map { keep_asking($end) } 1 .. 3;
    my $seen    = () = $daemon->access_text =~ /\n/g;
    ok Tenure::Daemon::wait_until(sub { (() = $daemon->access_text =~ /\n/g) > $seen + 6 }), 'is served';
    is $daemon->stop, 0, 'SIGTERM ends it while requests go on to come';
    unlike $daemon->log_text, qr/killing/, '... by itself';
    $daemon->start(prepare => sub { hand_over($listen) });
    $daemon->write_file($end, '');
    is_deeply [ map { waitpid $_, 0; $? } @clients ], [ (0) x 3 ], 'every request is answered, by it or by the next one';
    $daemon->stop;
    $daemon->write_config;
    close $listen;
    unlink $socket;
};

subtest 'readiness' => sub {
    my $path   = "$daemon->{dir}/notify.sock";
    my $notify = IO::Socket::UNIX->new(Local => $path, Type => SOCK_DGRAM) or die $!;
    local $ENV{NOTIFY_SOCKET} = $path;
    $daemon->start;
    $notify->recv(my $message, 100);
    is $message, 'READY=1', 'is told to the supervisor';
    $daemon->stop;
    $notify->recv($message, 100);
    is $message, 'STOPPING=1', 'and the end';
};

done_testing;
