# SPDX-License-Identifier: Apache-2.0
# What requests cost the database: workers are asked over FastCGI, and between them and the database stands somebody who
# counts.
#
#   my $counter = Tenure::RoundTrips->new($instance);
#   my $socket  = $counter->worker('service');     # of a worker of its own, for Tenure::FastCGI
#   my ($answer, @trips) = $counter->trips(sub { return ask($socket, ...) });
#
# An answer is held back until both sides have been silent for a while, so that statements sent without waiting for one
# another's answers are one round trip, and only those.
package Tenure::RoundTrips;

use strict;
use warnings;

use IO::Select;
use IO::Socket::UNIX;
use POSIX ();
use Socket qw(SOL_SOCKET SO_PEERCRED);
use Time::HiRes ();

use Tenure::Instance;

use constant SILENCE => 0.02;

sub new {
    my ($class, $instance) = @_;
    my $self = bless { instance => $instance, dir => $instance->dir, owner => $$, children => [] }, $class;
    $self->_count_at("$self->{dir}/counter.sock");
    return $self;
}

sub DESTROY {
    my ($self) = @_;
    return if $$ != $self->{owner};
    local $?;
    kill 'TERM', @{ $self->{children} };
    waitpid $_, 0 for @{ $self->{children} };
    return;
}

sub _child {
    my ($self, $code) = @_;
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        $SIG{TERM} = 'DEFAULT';
        eval { $code->() };
        print STDERR $@ if $@;
        POSIX::_exit(1);
    }
    push @{ $self->{children} }, $pid;
    return $pid;
}

my %command = (0x01 => 'quit', 0x03 => 'query', 0x0e => 'ping', 0x16 => 'prepare', 0x17 => 'execute', 0x19 => 'close',
    0x1f => 'reset');

# What the client sent, in words; a packet is whole, for it goes over a unix socket and is small.
sub _commands_in {
    my ($bytes) = @_;
    my @commands;
    while (length $bytes > 4) {
        my $n = unpack 'V', substr($bytes, 0, 3) . "\0";
        my ($code, $text) = unpack 'Ca*', substr $bytes, 4, $n;
        substr $bytes, 0, 4 + $n, '';
        my $name = $command{$code} // sprintf '0x%02x', $code;
        $text =~ s/\s+/ /g; # a line for each round trip, however many the statement has
        push @commands, $name eq 'query' ? lc $text : $name eq 'prepare' ? "prepare $text" : $name;
    }
    return join ' ', @commands;
}

# Passes one connection on. A line for each round trip: whose process the client is, and what was sent.
sub _relay {
    my ($client, $server, $log) = @_;
    my ($process) = unpack 'i', $client->getsockopt(SOL_SOCKET, SO_PEERCRED);
    my $select = IO::Select->new($client, $server);
    my ($asked, $answer, $greeted) = ('', '', 0);
    while (1) {
        my @ready = $select->can_read(length $answer ? SILENCE : undef);
        if (!@ready) {
            syswrite $client, $answer;
            syswrite $log, "$process " . _commands_in($asked) . "\n" if $greeted++ > 1; # the greeting and who we are come first
            ($asked, $answer) = ('', '');
        }
        for my $socket (@ready) {
            sysread $socket, my $bytes, 1 << 20 or return;
            if ($socket == $client) {
                $asked .= $bytes;
                syswrite $server, $bytes;
            } else {
                $answer .= $bytes;
            }
        }
    }
}

sub _count_at {
    my ($self, $path) = @_;
    my $listener = IO::Socket::UNIX->new(Local => $path, Listen => 16) or die "$path: $!\n";
    chmod 0777, $path;
    $self->_child(sub {
        $SIG{CHLD} = 'IGNORE';
        open my $log, '>>', "$self->{dir}/round-trips" or die "$!\n";
        while (my $client = $listener->accept) {
            next if fork;
            _relay($client, IO::Socket::UNIX->new(Peer => $self->{instance}->env('TENURE_DB_SOCKET')), $log);
            POSIX::_exit(0);
        }
    });
    return;
}

# One worker of its own, its database behind the counter. Returns its socket.
sub worker {
    my ($self, $endpoint) = @_;
    my $socket   = "$self->{dir}/$endpoint-counted.sock";
    my $listener = IO::Socket::UNIX->new(Local => $socket, Listen => 16) or die "$socket: $!\n";
    my $process = $self->_child(sub {
        open STDIN, '<&', $listener or die "$!\n";
        open STDERR, '>>', "$self->{dir}/log/counted.log" or die "$!\n";
        @ENV{qw(TENURE_DATABASE_SOCKET TENURE_TENURE_TOKEN_CACHE)} = ("$self->{dir}/counter.sock", 3_600_000);
        exec Tenure::Instance::build_dir() . '/tenured', '-c', $self->{instance}->env('TENURE_CONFIG'), '-e', $endpoint;
    });
    $self->{is_worker}{$process} = 1;
    return $socket;
}

# What a request, which code sends, answers, and a line for each round trip meanwhile. Asked first as often as it takes to
# have prepared the statements; warm => 0: not at all.
sub trips {
    my ($self, $code, %option) = @_;
    $code->() for 1 .. $option{warm} // 3;
    Time::HiRes::sleep(2 * SILENCE);
    my $before = -s "$self->{dir}/round-trips";
    my $answer = $code->();
    Time::HiRes::sleep(2 * SILENCE);
    my $text = Tenure::Instance::read_file("$self->{dir}/round-trips");
    # Beside each worker a process looks for moves that are queued, at a time of its own.
    my @lines = map { /\A(\d+) (.*)/ && $self->{is_worker}{$1} ? $2 : () } split /\n/, substr $text, $before;
    return ($answer, @lines);
}

1;
