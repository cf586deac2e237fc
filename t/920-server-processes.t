#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What the master does for its workers, and what signals do to running requests.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use POSIX ();
use Test::More;
use Time::HiRes ();

use Tenure::Daemon;
use Tenure::FastCGI;

Tenure::Daemon::need_program();

my $daemon = Tenure::Daemon->new;
my $socket = $daemon->{socket};
my $body   = 'x' x 1000;

# A request that is under way: its worker has begun to read, and waits for the rest of the body.
sub begin_request {
    my ($path, %request) = @_;
    my $fcgi = Tenure::FastCGI->connect($path);
    $fcgi->send_raw($fcgi->head(body => $body, %request)
            . $fcgi->stream(Tenure::FastCGI::FCGI_STDIN, substr($body, 0, 400), open => 1));
    Tenure::Daemon::wait_until(sub { !queue_of($fcgi) });
    return $fcgi;
}

# Bytes sent that the peer has not read yet (SIOCOUTQ).
sub queue_of {
    my ($fcgi) = @_;
    my $n = pack 'i', 0;
    ioctl $fcgi->{socket}, 0x5411, $n or return 0;
    return unpack 'i', $n;
}

sub end_request {
    my ($fcgi) = @_;
    $fcgi->send_raw($fcgi->stream(Tenure::FastCGI::FCGI_STDIN, substr $body, 400));
    return $fcgi->read_response;
}

# In a child: requests over and over until told to stop; exits 0 when each was answered 200, and there were some.
sub start_load {
    my (%option) = @_;
    pipe my $ready_in, my $ready_out or die $!;
    my $parent = $$;
    my $pid = fork // die $!;
    if ($pid) {
        close $ready_out;
        sysread $ready_in, my $byte, 1;
        return $pid;
    }
    my $go_on = 1;
    local $SIG{TERM} = sub { $go_on = 0 };
    my ($n, $failed, $fcgi) = (0, 0, undef);
    while ($go_on && getppid == $parent) {    # a test that was killed tells nobody to stop
        my $reused = defined $fcgi;
        $fcgi //= Tenure::FastCGI->try_connect($socket);
        my $sent = $fcgi && $fcgi->send_request(keep => $option{keep});
        if ($reused && !$sent) {    # closed since the last answer; nothing of the request was taken
            $fcgi = undef;
            next;
        }
        my $got = $sent && $fcgi->read_response;
        if (!$got || $got->{status} != 200) {
            print STDERR '# load: ', ($fcgi ? 'no answer' : "no connection: $@"), "\n";
            $failed++;
        }
        $fcgi = undef if !$option{keep};
        syswrite $ready_out, 'x' if ++$n == 20;
    }
    POSIX::_exit($failed ? 1 : $n < 20 ? 2 : 0);
}

sub end_load {
    my ($pid) = @_;
    kill TERM => $pid;
    waitpid $pid, 0;
    return $? >> 8;
}

subtest 'SIGTERM' => sub {
    $daemon->start;
    ok Tenure::Daemon::wait_until(sub { $daemon->workers == 2 }), 'two workers';
    my @children = $daemon->children;
    my $running  = begin_request($socket, keep => 1);
    my $waiting  = begin_request($socket);
    my $idle     = Tenure::FastCGI->connect($socket);
    $daemon->signal('TERM');
    ok Tenure::Daemon::wait_until(sub { !-e $socket }), 'takes the socket away';
    my $got = end_request($running);
    is $got->{status}, 200, 'a running request is finished';
    ok $running->is_closed, 'and its kept connection closed';
    $got = end_request($waiting);
    is $got->{status}, 200, 'each of them';
    is $daemon->wait_for_end, 0, 'then it ends';
    is_deeply [ grep { Tenure::Daemon::is_running($_) } @children ], [], 'with all its children';
};

subtest 'SIGTERM while connections wait' => sub {
    my $single = Tenure::Daemon->new(endpoint => { workers => 1 });
    $single->start;
    my $path    = $single->{socket};
    my $running = begin_request($path);
    my @queued  = map { my $fcgi = Tenure::FastCGI->connect($path); $fcgi->send_request; $fcgi } 1 .. 5;
    $single->signal('TERM');
    Tenure::Daemon::wait_until(sub { !-e $path });
    is end_request($running)->{status}, 200, 'the running one is served';
    is_deeply [ map { ($_->read_response // {})->{status} } @queued ], [ (200) x 5 ], 'those in the queue are, too';
    is $single->wait_for_end, 0, 'then it ends';
};

subtest 'a worker that dies' => sub {
    $daemon->start;
    ok Tenure::Daemon::wait_until(sub { $daemon->workers == 2 }), 'two workers';
    my @before = $daemon->workers;
    for my $signal (qw(KILL ABRT TERM)) {
        my ($victim) = $daemon->workers;
        kill $signal => $victim;
        ok Tenure::Daemon::wait_until(sub { my @now = $daemon->workers; @now == 2 && !grep { $_ == $victim } @now }),
            "by SIG$signal is replaced";
    }
    is((() = $daemon->log_text =~ /worker \d+ ended/g), 3, 'each is logged');
    ok $daemon->answers, 'and it serves';

    my ($host) = grep { Tenure::Daemon::name_of($_) eq 'tenured-host' } $daemon->children;
    kill KILL => $host;
    ok Tenure::Daemon::wait_until(sub { my @now = $daemon->children; @now == 5 && !grep { $_ == $host } @now }),
        'so is the host service';
    my ($watch) = grep { Tenure::Daemon::is_watch_process($_) } $daemon->children;
    kill KILL => $watch;
    ok Tenure::Daemon::wait_until(sub { my ($now) = grep { Tenure::Daemon::is_watch_process($_) } $daemon->children;
        $now && $now != $watch }), 'and the watch process';
    my ($sender) = grep { Tenure::Daemon::is_sender($_) } $daemon->children;
    kill KILL => $sender;
    ok Tenure::Daemon::wait_until(sub { my ($now) = grep { Tenure::Daemon::is_sender($_) } $daemon->children;
        $now && $now != $sender }), 'and the sender';
};

subtest 'a worker that hangs' => sub {
    my ($victim) = $daemon->workers;
    kill STOP => $victim;
    ok Tenure::Daemon::wait_until(sub { my @now = $daemon->workers; @now == 2 && !grep { $_ == $victim } @now }), 'is replaced';
    like $daemon->log_text, qr/worker $victim is killed: it was stopped by a signal/, 'and the log says why';
    ($victim) = $daemon->workers;
    kill STOP => $victim;
    ok Tenure::Daemon::wait_until(sub { $daemon->log_text =~ /worker $victim is stopped by a signal/ }), 'the next';
    kill CONT => $victim;
    Time::HiRes::sleep(6.5);
    ok scalar(grep { $_ == $victim } $daemon->workers), 'is continued in time, and stays';
    for my $time (1 .. 8) {
        my ($next) = $daemon->workers;
        kill KILL => $next;
        Tenure::Daemon::wait_until(sub { my @now = $daemon->workers; @now == 2 && !grep { $_ == $next } @now });
        like $daemon->log_text, qr/worker $next ended by signal 9 \(Killed\); another starts in 10 ms/, "death $time: another starts at once";
    }
};

subtest 'SIGHUP' => sub {
    my @before = $daemon->children;
    my $running = begin_request($socket);
    my @load    = (start_load(keep => 0), start_load(keep => 0), start_load(keep => 1));
    for my $workers (3, 1, 2) {
        $daemon->write_config(endpoint => { workers => $workers });
        $daemon->signal('HUP');
        ok Tenure::Daemon::wait_until(sub {
            my %old = map { ($_ => 1) } @before;
            my @new = grep { !$old{$_} } $daemon->workers;
            return @new == $workers;
        }), "$workers workers by the new configuration";
        @before = $daemon->children;
    }
    is end_request($running)->{status}, 200, 'a request from before is finished';
    is_deeply [ map { end_load($_) } @load ], [ 0, 0, 0 ], 'no request is refused or cut';
    ok Tenure::Daemon::wait_until(sub { $daemon->children == 5 }), 'the old ones end';
};

subtest 'a worker of before SIGHUP dies' => sub {
    my %old     = map { ($_ => 1) } $daemon->workers;
    my $running = begin_request($socket);
    $daemon->signal('HUP');
    ok Tenure::Daemon::wait_until(sub { 2 == grep { !$old{$_} } $daemon->workers }), 'others have taken over';
    my ($late) = ();
    ok Tenure::Daemon::wait_until(sub { my @late = grep { $old{$_} } $daemon->children; ($late) = @late; @late == 1 }), 'one has a request to finish';
    kill KILL => $late;
    ok Tenure::Daemon::wait_until(sub { $daemon->log_text =~ /process $late ended by signal 9 \(Killed\)/ }), 'its end is logged';
    ok Tenure::Daemon::wait_until(sub { $daemon->children == 5 }), 'and nothing takes its place';
};

subtest 'SIGHUP with a broken configuration' => sub {
    my @before = $daemon->children;
    $daemon->write_config(more => "nonsense = 1\n");
    $daemon->signal('HUP');
    ok Tenure::Daemon::wait_until(sub { $daemon->log_text =~ /nothing is reloaded: .*nonsense/ }), 'is logged';
    is_deeply [ $daemon->children ], \@before, 'and changes nothing';
    ok $daemon->answers, 'it serves on';
    $daemon->write_config(endpoint => { socket => "$socket.other" });
    $daemon->signal('HUP');
    ok Tenure::Daemon::wait_until(sub { $daemon->log_text =~ /socket \S+ stays in use; \S+ takes a restart/ }), 'another socket takes a restart';
    SKIP: {
        skip 'another user needs root', 1 if $> != 0;
        $daemon->write_config(tenure => { user => 'nobody' });
        $daemon->signal('HUP');
        ok Tenure::Daemon::wait_until(sub { $daemon->log_text =~ /another user or group takes a restart/ }), 'and another user';
    }
    $daemon->write_config;
};

# Whoever can write to the socket can claim to be any user.
subtest 'SIGHUP with another mode or owner of the socket' => sub {
    my $mode = sub { sprintf '%04o', (stat $socket)[2] & 07777 };
    is $mode->(), '0660', 'the mode before';
    for my $next (qw(0600 0666)) {
        $daemon->write_config(endpoint => { socket_mode => $next });
        $daemon->signal('HUP');
        ok Tenure::Daemon::wait_until(sub { $mode->() eq $next }), "$next is set";
    }
    chmod 0640, $socket or die "chmod: $!";
    my $reloads = () = $daemon->log_text =~ /reloaded: /g;
    $daemon->write_config(endpoint => { socket_mode => '0666', socket_owner => $> });
    $daemon->signal('HUP');
    ok Tenure::Daemon::wait_until(sub { $daemon->log_text =~ /another socket_owner takes a restart/ }), 'another owner takes a restart';
    ok Tenure::Daemon::wait_until(sub { $reloads < (() = $daemon->log_text =~ /reloaded: /g) }), 'the rest is reloaded';
    is $mode->(), '0640', 'a mode that was set by hand stays while none is configured anew';
    $daemon->write_config;
    $daemon->signal('HUP');
    ok Tenure::Daemon::wait_until(sub { $mode->() eq '0660' }), 'then it is replaced';
};

# The files of what is shared that this process has mapped.
sub shared_by { my ($pid) = @_; return map { m{ (/\S+/shared-v\S+)} ? $1 : () } split /^/, $daemon->read_file("/proc/$pid/maps") }

# Processes that use another database must not share counts, revisions and epochs with those of the one before.
subtest 'SIGHUP with another database, or another folder for what is shared' => sub {
    ok Tenure::Daemon::wait_until(sub { $daemon->children == 5 }), 'all of before have ended';
    my ($first) = shared_by($daemon->workers);
    my %seen    = ($first => 1);
    mkdir "$daemon->{dir}/other" or die "mkdir: $!";
    for my $way (['a database', more => "[database]\nname = another\n"], [ 'a folder', tenure => { runtime_dir => "$daemon->{dir}/other" } ]) {
        my ($what, @config) = @$way;
        my $running = begin_request($socket);
        my %old     = map { ($_ => 1) } $daemon->workers;
        $daemon->write_config(@config);
        $daemon->signal('HUP');
        ok Tenure::Daemon::wait_until(sub { 2 == grep { !$old{$_} } $daemon->workers }), "$what: others have taken over";
        my ($new) = grep { !$old{$_} } $daemon->workers;
        my ($now) = shared_by($new);
        ok !$seen{$now}++, "they share another file: $now";
        is_deeply [ shared_by($daemon->{pid}) ], [$now], 'so does the master, and has the one before no more';
        is end_request($running)->{status}, 200, 'a request of before is finished';
        ok Tenure::Daemon::wait_until(sub { $daemon->children == 5 }), 'the old ones end';
    }
    $daemon->write_config;
    $daemon->signal('HUP');
    ok Tenure::Daemon::wait_until(sub { ((shared_by($daemon->{pid}))[0] // '') eq $first }), 'back again: the first file';
};

# The master and all processes below it, the host service's children among them.
sub family {
    my @all = my @next = ($daemon->{pid});
    while (@next) {
        @next = map { split ' ', $daemon->read_file("/proc/$_/task/$_/children") } @next;
        push @all, @next;
    }
    return @all;
}

subtest 'SIGUSR1' => sub {
    my $has = sub { my ($file) = @_; return grep { my $pid = $_; grep { (readlink // '') eq $file } glob "/proc/$pid/fd/*" } family() };
    ok Tenure::Daemon::wait_until(sub { grep { Tenure::Daemon::name_of($_) eq 'tenured-observe' } family() }), 'the host service works';
    ok scalar($has->("$daemon->{dir}/access.log")), 'the access log is open';
    rename "$daemon->{dir}/access.log", "$daemon->{dir}/access.log.1" or die $!;
    $daemon->signal('USR1');
    ok Tenure::Daemon::wait_until(sub { -e "$daemon->{dir}/access.log" }), 'opens the access log anew';
    ok Tenure::Daemon::wait_until(sub { $daemon->answers && $daemon->access_text =~ /GET/ }), 'and writes there';
    ok Tenure::Daemon::wait_until(sub { !$has->("$daemon->{dir}/access.log.1") }), 'no process has the one of before open';
};

is $daemon->stop, 0, 'it ends by itself';
unlike $daemon->log_text, qr/Sanitizer|runtime error|killing the rest/, 'and orderly';

done_testing;
