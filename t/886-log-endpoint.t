#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Lines of the log that doc/troubleshooting.md has for failures of the system, of an endpoint: each is caused by what the page names (a
# limit of descriptors, or a call of libc that fails as the kernel lets it fail), is there word for word, and the endpoint serves again
# when the cause is gone. tenured's exit code 71 is that of such a start.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use POSIX ();
use Test::More;

use Tenure::Daemon;
use Tenure::FastCGI;
use Tenure::Run qw(run read_file);
use Tenure::Shim;

Tenure::Daemon::need_program();
my $shim = Tenure::Shim->new or plan skip_all => 'sanitizers have calls of their own in place of these';
my @page = read_file(Tenure::Instance::source_dir() . '/doc/troubleshooting.md') =~ /^\| `([^`]+)` \|/mg;

# A line of the page as a pattern.
sub line {
    my ($text) = @_;
    ok scalar(grep { $_ eq $text } @page), "the page has: $text";
    my $pattern = join '.+', map { quotemeta } split /…/, $text, -1;
    return qr/$pattern/;
}

sub environment { open STDIN, '<', '/dev/null'; my %more = $shim->environment; @ENV{ keys %more } = values %more; return }

my $daemon = Tenure::Daemon->new(endpoint => { workers => 1 });
$daemon->start(prepare => \&environment);
ok Tenure::Daemon::wait_until(sub { $daemon->workers == 1 && $daemon->children == 4 }), 'a worker, the host service, and the processes for watches and for slow clients';

sub limit {
    my ($pid, $n) = @_;
    my ($code, $text) = run('prlimit', "--pid=$pid", "--nofile=$n:");
    is $code, 0, "a limit of $n descriptors" or diag $text;
    return;
}

sub logged { my ($pattern) = @_; return ok(Tenure::Daemon::wait_until(sub { $daemon->log_text =~ $pattern }), 'the log has it') || diag $daemon->log_text }

# Whoever is asked answers, and all are there.
sub serves { return ok(Tenure::Daemon::wait_until(sub { $daemon->workers == 1 && $daemon->children == 4 && $daemon->answers }), 'and when that is over it serves') }

# A call that fails in a process that has ended and starts again, with what the log has then.
sub fails_at_start {
    my ($text, $victim, %order) = @_;
    subtest $text => sub {
        $shim->arm(classes => ['start'], call => 1, lasting => 1, error => 'EMFILE', %order);
        kill KILL => $victim->();
        logged(line($text));
        my ($failed) = $shim->disarm;
        is $failed, $order{function}, "it was $order{function}()";
        serves();
    };
    return;
}

my $worker = sub { return ($daemon->workers)[0] };
my $named  = sub { my ($name) = @_; return sub { return (grep { Tenure::Daemon::name_of($_) eq $name } $daemon->children)[0] } };

fails_at_start("signalfd: …", $worker, name => 'tenured', function => 'signalfd');
logged(qr/worker \d+ ended with code 71; another starts in \d+ ms/);
fails_at_start("can't set up FastCGI: …", $worker, name => 'tenured', function => 'epoll_create1');
fails_at_start("epoll_ctl: …", $worker, name => 'tenured', function => 'epoll_ctl');
fails_at_start("can't fork a …: …", $worker, name => 'tenured', function => 'fork', error => 'EAGAIN');
fails_at_start("can't serve watches: …", $named->('tenured-watch'), name => 'tenured-watch', function => 'epoll_create1');
fails_at_start("can't send what is left of answers: …", $named->('tenured-send'), name => 'tenured-send', function => 'epoll_create1');

subtest 'epoll_wait' => sub {
    my $victim = $worker->();
    $shim->arm(process => $victim, classes => ['wait'], function => 'epoll_wait', call => 1, error => 'EBADF');
    ok Tenure::Daemon::wait_until(sub { $daemon->answers; !grep { $_ == $victim } $daemon->workers }), 'a worker that cannot wait ends';
    $shim->disarm;
    logged(line('epoll_wait: …'));
    logged(qr/worker $victim ended by signal 6/);
    serves();
};

subtest 'no descriptors for a connection' => sub {
    my $pid = $worker->();
    limit($pid, 3); # those that are open stay open
    my $fcgi = Tenure::FastCGI->connect($daemon->{socket});
    $fcgi->send_request;
    logged(line('accept: …'));
    limit($pid, 1024);
    is $fcgi->read_response->{status}, 200, 'the connection waits, and is served when there are some';
    serves();
};

subtest 'no memory for children' => sub {
    $shim->arm(process => $daemon->{pid}, classes => ['start'], function => 'mmap', call => 1, lasting => 1, error => 'ENOMEM');
    $daemon->signal('HUP');
    logged(line('no memory for children'));
    $shim->disarm;
    is $daemon->wait_for_end, 0, 'the endpoint stops: what ran has ended its requests';
};

# The host service's observer looks for the file every few seconds.
subtest 'memory that is shared' => sub {
    $daemon->start(prepare => \&environment);
    serves();
    # The observer must map the file before it is taken away: the host service starts it behind the workers.
    my $observes = sub { grep { Tenure::Daemon::name_of($_) eq 'tenured-observe' } map { split ' ', $daemon->read_file("/proc/$_/task/$_/children") } $daemon->children };
    ok Tenure::Daemon::wait_until($observes), 'the observer works';
    my ($file) = glob "$daemon->{dir}/shared/shared-v*";
    $shim->arm(name => 'tenured-observe', classes => ['start'], function => 'mmap', call => 1, lasting => 1, error => 'ENOMEM');
    rename $file, "$file.away" or die "rename: $!";
    logged(line('no memory to share: …'));
    $shim->disarm;
    logged(qr/observer \d+ ended with code 71/);
    serves();
    $daemon->stop;
};

subtest 'a supervisor that is away' => sub {
    $daemon->start(prepare => sub { environment(); $ENV{NOTIFY_SOCKET} = "$daemon->{dir}/nobody" });
    logged(line("can't notify …: …"));
    like $daemon->log_text, qr/can't notify \Q$daemon->{dir}\E\/nobody: No such file or directory/, 'with the socket and the reason';
    serves();
    $daemon->stop;
};

# A request whose body does not come keeps its worker, which is not to wait for a stop.
subtest 'a stop while a request goes on' => sub {
    $daemon->start;
    my $fcgi = Tenure::FastCGI->connect($daemon->{socket});
    $fcgi->send_raw($fcgi->head(body => 'x' x 1000) . $fcgi->stream(Tenure::FastCGI::FCGI_STDIN, 'x' x 400, open => 1));
    $daemon->signal('TERM');
    # The worker waits for a body as long as the master waits for the worker. One that goes on to come keeps it for longer.
    sleep 10;
    $fcgi->send_raw($fcgi->stream(Tenure::FastCGI::FCGI_STDIN, 'x', open => 1));
    my $end = $daemon->wait_for_end;
    logged(line('not all have ended within … s: killing the rest'));
    is $end, 0, 'it ends';
};

subtest 'exit code 71' => sub {
    my ($manual) = read_file(Tenure::Instance::source_dir() . '/doc/man/tenured.8') =~ /^\.It 71\n(.*)$/m;
    is $manual, 'an error of the operating system, such as no memory', 'as the manual says';
    my ($code, $text, $found);
    # The master opens few descriptors before it makes the sockets to its children.
    for my $n (4 .. 20) {
        ($code, $text) = run('sh', '-c', 'ulimit -n "$1"; shift; exec "$@"', 'sh', $n, Tenure::Daemon::program(), '-c', $daemon->config_path, '-e', 'service');
        last if $found = $text =~ line('socketpair: …');
    }
    ok $found, 'too few descriptors for a start' or diag $text;
    is $code, 71, '... end with 71';
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        environment();
        open STDERR, '>', "$daemon->{dir}/run.out" or POSIX::_exit(127);
        $shim->arm(process => $$, classes => ['start'], function => 'mmap', call => 1, lasting => 1, error => 'ENOMEM');
        exec Tenure::Daemon::program(), '-c', $daemon->config_path, '-e', 'service' or POSIX::_exit(127);
    }
    waitpid $pid, 0;
    is $? >> 8, 71, 'so does a start without memory';
    $shim->disarm;
    like read_file("$daemon->{dir}/run.out"), line('no memory to share: no limits hold'), '... which the log tells of';
};

done_testing;
