# SPDX-License-Identifier: Apache-2.0
# A tenured for a test: its folder, its configuration, its start and end. Needs no database: what the tests of the process
# model ask for is answered without one.
package Tenure::Daemon;

use strict;
use warnings;

use Cwd ();
use File::Basename ();
use File::Temp ();
use POSIX ();
use Test::More ();

use Tenure::FastCGI;
use Tenure::Run qw(wait_until);

my $source = $ENV{TENURE_SRCDIR}   // Cwd::abs_path(File::Basename::dirname(__FILE__) . '/../../..');
my $build  = $ENV{TENURE_BUILDDIR} // $source;

sub program { return $ENV{TENURED} // "$build/tenured" }

# Ends the test file when there is nothing to test.
sub need_program {
    my $program = program();
    Test::More::plan(skip_all => "$program is not built") unless -x $program;
    return;
}

# endpoint, tenure: hashes with settings that win over these.
sub new {
    my ($class, %option) = @_;
    my $dir  = File::Temp->newdir('tenured-XXXXXX', TMPDIR => 1);
    my $self = bless { dir => $dir, endpoint => $option{endpoint} // {}, tenure => $option{tenure} // {} }, $class;
    $self->{socket} = "$dir/service.sock";
    $self->write_config;
    return $self;
}

# The WADL files as the build puts them side by side.
sub wadl_dir { return $ENV{TENURE_WADL_DIR} // "$build/build/wadl" }

sub config_path { return "$_[0]{dir}/tenure.conf" }
sub log_path    { return "$_[0]{dir}/error.log" }

sub write_config {
    my ($self, %option) = @_;
    my %tenure   = (wadl_dir => wadl_dir(), runtime_dir => "$self->{dir}/shared", %{ $self->{tenure} }, %{ $option{tenure} // {} });
    my %endpoint = (
        socket     => $self->{socket},
        workers    => 2,
        reserve    => 0,
        auth       => 'noauth',
        access_log => "$self->{dir}/access.log",
        %{ $self->{endpoint} }, %{ $option{endpoint} // {} },
    );
    my $text = "[database]\nsocket = $self->{dir}/no-database.sock\n[tenure]\n";
    $text .= "$_ = $tenure{$_}\n" for sort keys %tenure;
    $text .= "[host]\nmetrics_socket = $self->{dir}/metrics.sock\n";
    $text .= "[endpoint service]\n";
    $text .= "$_ = $endpoint{$_}\n" for sort keys %endpoint;
    $self->write_file(config_path($self), $text . ($option{more} // ''));
    return;
}

sub write_file { my (undef, @rest) = @_; return Tenure::Run::write_file(@rest) }
sub read_file  { my (undef, @rest) = @_; return Tenure::Run::read_file(@rest) }

sub log_text    { return $_[0]->read_file($_[0]->log_path) }
sub access_text { return $_[0]->read_file("$_[0]{dir}/access.log") }

# Runs tenured to its end: (exit code, what it wrote on both outputs).
sub run {
    my ($self, @args) = @_;
    my $out = "$self->{dir}/run.out";
    unlink $out;
    my $pid = $self->_spawn(\@args, $out);
    waitpid $pid, 0;
    return ($? >> 8, $self->read_file($out));
}

# listen: a socket that becomes descriptor 0; environment: sub called in the child.
sub _spawn {
    my ($self, $args, $out, %option) = @_;
    my $pid = fork // die "fork: $!";
    return $pid if $pid;
    open STDOUT, '>>', $out or POSIX::_exit(127);
    open STDERR, '>&', \*STDOUT or POSIX::_exit(127);
    $option{prepare} ? $option{prepare}->() : open STDIN, '<', '/dev/null';
    exec { program() } 'tenured', @$args or POSIX::_exit(127);
}

# Starts it and waits until it answers.
sub start {
    my ($self, %option) = @_;
    my @args = ('-c', $self->config_path, '-e', 'service', @{ $option{args} // [] });
    $self->{pid} = $self->_spawn(\@args, $self->log_path, %option);
    wait_until(sub { $self->answers }) or Test::More::diag($self->log_text);
    return $self->{pid};
}

sub answers {
    my ($self) = @_;
    my $fcgi = Tenure::FastCGI->try_connect($self->{socket}) or return 0;
    my $response = $fcgi->request(uri => '/') or return 0;
    return $response->{status} == 200;
}

sub signal {
    my ($self, $name) = @_;
    return kill $name => $self->{pid};
}

# Waits for its end; the exit code, or 128 + the signal that ended it; undef when it goes on.
sub wait_for_end {
    my ($self) = @_;
    my $pid = $self->{pid} // return;
    my $ended = wait_until(sub { waitpid($pid, POSIX::WNOHANG()) == $pid }, 45) or return undef;
    delete $self->{pid};
    return $? & 127 ? 128 + ($? & 127) : $? >> 8;
}

sub stop {
    my ($self) = @_;
    return unless $self->{pid};
    $self->signal('TERM');
    return $self->wait_for_end;
}

# Process ids of all children: workers, mover, sender and watch process.
sub children {
    my ($self) = @_;
    my @pids = split ' ', $self->read_file("/proc/$self->{pid}/task/$self->{pid}/children");
    return @pids;
}

# Those that are ready to serve.
sub workers {
    my ($self) = @_;
    return grep { has_epoll($_) && !is_watch_process($_) && !is_sender($_) } $self->children;
}

sub name_of {
    my ($pid) = @_;
    open my $comm, '<', "/proc/$pid/comm" or return '';
    my $name = readline($comm) // '';
    chomp $name;
    return $name;
}

sub is_watch_process { return name_of($_[0]) eq 'tenured-watch' }
sub is_sender        { return name_of($_[0]) eq 'tenured-send' }

# Is it running? One that has ended, and that nobody has asked for yet, is not.
sub is_running {
    my ($pid) = @_;
    open my $stat, '<', "/proc/$pid/stat" or return 0;
    my $line = readline $stat;
    return defined $line && $line !~ /\) [ZX] /;
}

sub has_epoll {
    my ($pid) = @_;
    return scalar grep { (readlink($_) // '') =~ /eventpoll/ } glob "/proc/$pid/fd/*";
}

sub DESTROY {
    my ($self) = @_;
    local ($?, $!);
    if ($self->{pid}) {
        kill KILL => $self->{pid};
        waitpid $self->{pid}, 0;
    }
    return;
}

1;
