#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Lines of the log that doc/troubleshooting.md has for failures of the system, of the host service: each is caused by what the page names,
# is there word for word, and the service goes on when the cause is gone. The exit code 71 of tenured-host, tenure-manage and tenure, and
# 78 where the user is missing.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use POSIX ();
use Test::More;

use Tenure::Daemon;
use Tenure::Instance;
use Tenure::Run qw(run read_file write_file);
use Tenure::Shim;

my $build   = Tenure::Instance::build_dir();
my $top     = Tenure::Instance::source_dir();
my $program = "$build/tenured-host";
plan skip_all => 'tenured-host is not built' if !-x $program;
my $shim = Tenure::Shim->new or plan skip_all => 'sanitizers have calls of their own in place of these';
my @page = read_file("$top/doc/troubleshooting.md") =~ /^\| `([^`]+)` \|/mg;

# A line of the page as a pattern.
sub line {
    my ($text) = @_;
    ok scalar(grep { $_ eq $text } @page), "the page has: $text";
    my $pattern = join '.+', map { quotemeta } split /…/, $text, -1;
    return qr/$pattern/;
}

# A configuration of two databases that are not there, so that there is a process that watches which of them is the writer.
my $daemon = Tenure::Daemon->new;
my $log    = "$daemon->{dir}/host.log";
my $config = $daemon->config_path;
write_file($config, read_file($config) =~ s/^socket = .*no-database.*$/host = 127.0.0.1:1,127.0.0.1:2/mr);

# before: called in the process that is to become the service.
sub launch {
    my ($path, $before) = @_;
    my $pid = fork // die "fork: $!";
    return $pid if $pid;
    my %more = $shim->environment;
    @ENV{ keys %more } = values %more;
    open STDOUT, '>>', $log or POSIX::_exit(127);
    open STDERR, '>&', \*STDOUT or POSIX::_exit(127);
    $before->() if $before;
    exec $program, '-c', $path or POSIX::_exit(127);
}

sub children { my ($pid) = @_; return { map { Tenure::Daemon::name_of($_) => $_ } Tenure::Instance::children_of($pid) } }
sub logged { my ($what) = @_; return ok(Tenure::Daemon::wait_until(sub { read_file($log) =~ $what }), 'the log has it') || diag read_file($log) }

my @names = qw(tenured-deliver tenured-mover tenured-observe tenured-reaper tenured-usage tenured-writer);
my $host  = launch($config);
sub has_all { return Tenure::Daemon::wait_until(sub { join(' ', sort keys %{ children($host) }) eq join ' ', @names }) }
ok has_all(), 'the host service with its six children' or diag read_file($log);

my %purpose = (
    'tenured-deliver' => 'webhooks',
    'tenured-mover'   => 'the mover',
    'tenured-observe' => 'the observer',
    'tenured-reaper'  => 'the reaper',
    'tenured-usage'   => 'the usage counter',
    'tenured-writer'  => "the watch of the cluster's writer",
);
for my $name (@names) {
    subtest "no memory for $purpose{$name}" => sub {
        like "no memory for $purpose{$name}", line('no memory for …'), 'as the page has it';
        $shim->arm(name => $name, classes => ['memory'], call => 1, lasting => 1, error => 'ENOMEM');
        my $pid = children($host)->{$name};
        kill KILL => $pid;
        logged(qr/no memory for \Q$purpose{$name}\E$/m);
        logged(qr/ended with code 71; another starts in $_ ms/) for 200, 400;
        $shim->disarm;
        ok has_all(), 'and with memory it is there again';
        unlike read_file($log), qr/by signal 6/, 'without a crash';
    };
}
kill TERM => $host;
waitpid $host, 0;
is $?, 0, 'a signal ends it';

# What the manual says of an exit code.
sub manual {
    my ($page, $code) = @_;
    return (read_file("$top/doc/man/$page") =~ /^\.Sh EXIT STATUS\n.*?^\.It (?:\d+ , )*$code(?: ,| *$).*?\n(.*?)\n\.(?:It|El|Ed)/ms)[0];
}

subtest 'tenured-host ends with 71' => sub {
    is manual('tenured-host.8', 71), "Memory, or another resource of the system, is missing.\nIts processes end with this code, too, if there is no memory for them; another starts.", 'as the manual says';
    my $pid = launch($config, sub { $shim->arm(process => $$, classes => ['start'], function => 'signalfd', call => 1, error => 'EMFILE') });
    waitpid $pid, 0;
    $shim->disarm;
    is $? >> 8, 71, 'without descriptors';
    logged(line("can't do this host's background work: …"));
    like read_file($log), qr/background work: Too many open files/, '... for this reason';
};

subtest 'a user that is missing: both daemons end with 78' => sub {
    like manual('tenured-host.8', 78), qr/names a user or group that there is not/, 'as the manual of the host service says';
    like manual('tenured.8', 78), qr/there is no such user/, 'and that of the endpoints';
    write_file("$daemon->{dir}/nobody.conf", read_file($config) =~ s/^\[tenure\]\n/[tenure]\nuser = nobody-here\n/mr);
    for my $command ([$program], [ Tenure::Daemon::program(), '-e', 'service' ]) {
        my ($code, $out) = run(@$command, '-c', "$daemon->{dir}/nobody.conf");
        is $code, 78, "$command->[0] ends with it";
        like $out, qr/nobody-here/, '... and names the user';
    }
};

# OpenSSL 3.5 waits for itself without end where memory fails while it is initialised: its error report needs what is just being initialised.
my $libcrypto_hangs = (run('openssl', 'version'))[1] =~ /\AOpenSSL (\d+)\.(\d+)/ && $1 * 100 + $2 >= 305;
use constant HUNG => 128 + POSIX::SIGALRM();

# A tool whose Nth allocation and all later ones fail: (exit code, outputs). It has 15 seconds.
sub starved {
    my ($n, @command) = @_;
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        my %more = $shim->environment;
        @ENV{ keys %more } = values %more;
        open STDOUT, '>', "$daemon->{dir}/out" or POSIX::_exit(127);
        open STDERR, '>&', \*STDOUT or POSIX::_exit(127);
        $shim->arm(process => $$, classes => ['memory'], call => $n, lasting => 1, error => 'ENOMEM');
        alarm 15;
        exec @command or POSIX::_exit(127);
    }
    waitpid $pid, 0;
    my $status = $?;
    my ($failed) = $shim->disarm;
    return ($status & 127 ? 128 + ($status & 127) : $status >> 8, read_file("$daemon->{dir}/out"), $failed);
}

for my $tool ([ 'tenure-manage', 'tenure-manage.8', '-c', $config, 'tier', 'list' ], [ 'tenure', 'tenure.1', '--url', 'http://127.0.0.1:1', 'tenant', 'list' ]) {
    my ($name, $page, @words) = @$tool;
    subtest "$name ends with 71" => sub {
        like manual($page, 71), qr/no memory|The system failed/, 'as the manual says';
        my (@silent, @other, $seen, $all);
        for (my $n = 1; $n < 3000; $n += 1 + int($n / 6)) {
            my ($code, $out, $failed) = starved($n, "$build/$name", @words);
            last if !defined $failed;
            $seen++;
            $all .= $out;
            push @silent, $n if $code == 71 && $out !~ /memory/;
            # libmariadb asks libc for the port of the service mysql, once; libc itself can't bear to have no memory there.
            next if $code == HUNG && $libcrypto_hangs;
            push @other, "$n: $code $out" if $code == HUNG || $code != 71 && !($code > 128 && $out =~ /\A(?:Unexpected error\.\n)?\z/);
        }
        cmp_ok $seen, '>', 10, 'memory is asked for often';
        is_deeply \@other, [], 'whichever request for memory is the first to fail';
        is_deeply \@silent, [], '... it says so';
        like $all, line('out of memory: … bytes asked for');
        like $all, qr/: out of memory$/m, 'or, where the number is not known, without it' if $name eq 'tenure-manage' && line('out of memory');
    };
}

done_testing;
