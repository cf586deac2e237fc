# SPDX-License-Identifier: Apache-2.0
# Counts the round trips to the database that requests cause. It sends requests to a worker over FastCGI. The worker reaches the
# database through a proxy that counts.
#
#   my $counter = Tenure::RoundTrips->new($instance);
#   my $socket  = $counter->worker('service');     # of a worker of its own, for Tenure::FastCGI
#   my ($answer, @trips) = $counter->trips(sub { return ask($socket, ...) });
#
#   Tenure::RoundTrips->new($instance, statements => 1)   # a line has "execute TEXT", with the statement's text
#   $counter->path                                        # the proxy's socket, for other clients of the database
#   my @trips = $counter->trips_of($process);             # of one of these
#
# The proxy passes an answer on only when both sides have been silent for a while, and the client sleeps: on a busy machine it may be
# kept from sending the rest. So statements that are sent without waiting for each other's answers, and no others, count as one round trip.
package Tenure::RoundTrips;

use strict;
use warnings;

use IO::Select;
use IO::Socket::UNIX;
use POSIX ();
use Socket qw(SOL_SOCKET SO_PEERCRED);
use Test::More ();
use Time::HiRes ();

use Tenure::Instance;

use constant SILENCE => 0.02;

sub new {
    my ($class, $instance, %option) = @_;
    my $self = bless { instance => $instance, dir => $instance->dir, owner => $$, children => [], statements => $option{statements} }, $class;
    $self->_count_at($self->path);
    return $self;
}

sub path { return "$_[0]{dir}/counter.sock" }

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

# Describes what the client sent. A packet arrives whole, because it is small and the socket is a unix socket. prepared: the texts of
# what the connection has prepared, by the server's number; undef: an execution is told without its text.
sub _commands_in {
    my ($bytes, $prepared) = @_;
    my @commands;
    while (length $bytes > 4) {
        my $n = unpack 'V', substr($bytes, 0, 3) . "\0";
        my ($code, $text) = unpack 'Ca*', substr $bytes, 4, $n;
        substr $bytes, 0, 4 + $n, '';
        my $name = $command{$code} // sprintf '0x%02x', $code;
        if ($prepared && $name eq 'execute') {
            push @commands, 'execute ' . $prepared->{ unpack('V', $text) };
            next;
        }
        $text =~ s/\s+/ /g; # a line for each round trip, however many the statement has
        push @commands, $name eq 'query' ? lc $text : $name eq 'prepare' ? "prepare $text" : $name;
    }
    return join ' ', @commands;
}

# Enters the statement that the server has just prepared. A client waits for that answer: OK, and the statement's number.
sub _note_prepared {
    my ($asked, $answer, $prepared) = @_;
    my ($code, $text) = unpack 'x4 Ca*', $asked;
    my ($error, $id)  = unpack 'x4 CV', $answer;
    $prepared->{$id} = $text =~ s/\s+/ /gr if $code == 0x16 && $error == 0;
    return;
}

sub _runs {
    my ($process) = @_;
    open my $stat, '<', "/proc/$process/stat" or return 0;
    return (readline($stat) // '') =~ /\) R /;
}

# Forwards one connection. Prints a line for each round trip: the process id of the client, and what was sent.
sub _relay {
    my ($client, $server, $log, $prepared) = @_;
    my ($process) = unpack 'i', $client->getsockopt(SOL_SOCKET, SO_PEERCRED);
    my $select = IO::Select->new($client, $server);
    my ($asked, $answer, $greeted) = ('', '', 0);
    while (1) {
        my @ready = $select->can_read(length $answer ? SILENCE : undef);
        if (!@ready && !_runs($process)) {
            # Nothing asked: the rest of an answer that the server was kept from sending. The line comes before the answer, so that it is there
            # when the client has that.
            syswrite $log, "$process " . _commands_in($asked, $prepared) . "\n" if $greeted++ > 1 && length $asked; # the greeting and who we are come first
            syswrite $client, $answer;
            ($asked, $answer) = ('', '');
        }
        for my $socket (@ready) {
            sysread $socket, my $bytes, 1 << 20 or return;
            if ($socket == $client) {
                $asked .= $bytes;
                syswrite $server, $bytes;
            } else {
                _note_prepared($asked, $bytes, $prepared) if $prepared && !length $answer && length $asked;
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
            _relay($client, IO::Socket::UNIX->new(Peer => $self->{instance}->env('TENURE_DB_SOCKET')), $log, $self->{statements} ? {} : undef);
            POSIX::_exit(0);
        }
    });
    return;
}

# Starts a worker that reaches its database through the proxy. Returns the worker's socket. name: where an endpoint has several.
sub worker {
    my ($self, $endpoint, $name) = @_;
    my $socket   = "$self->{dir}/" . ($name // $endpoint) . '-counted.sock';
    my $listener = IO::Socket::UNIX->new(Local => $socket, Listen => 16) or die "$socket: $!\n";
    my $process = $self->_child(sub {
        open STDIN, '<&', $listener or die "$!\n";
        open STDERR, '>>', "$self->{dir}/log/counted.log" or die "$!\n";
        @ENV{qw(TENURE_DATABASE_SOCKET TENURE_TENURE_TOKEN_CACHE)} = ($self->path, 3_600_000);
        exec Tenure::Instance::build_dir() . '/tenured', '-c', $self->{instance}->env('TENURE_CONFIG'), '-e', $endpoint;
    });
    $self->{is_worker}{$process} = 1;
    return $socket;
}

# Returns the answer of the request that code sends, and a line for each round trip. Before that, it calls code often enough that
# all statements are prepared; not with warm => 0.
sub trips {
    my ($self, $code, %option) = @_;
    $code->() for 1 .. $option{warm} // 3;
    Time::HiRes::sleep(2 * SILENCE);
    my $before = -s "$self->{dir}/round-trips";
    my $answer = $code->();
    Time::HiRes::sleep(2 * SILENCE);
    my $text = Tenure::Instance::read_file("$self->{dir}/round-trips");
    # The mover's process also sends statements, at times of its own; they don't count.
    my @lines = map { /\A(\d+) (.*)/ && $self->{is_worker}{$1} ? $2 : () } split /\n/, substr $text, $before;
    return ($answer, @lines);
}

# All round trips of a process that reaches the database through the proxy.
sub trips_of {
    my ($self, $process) = @_;
    my $text = Tenure::Instance::read_file("$self->{dir}/round-trips");
    return map { /\A(\d+) (.*)/ && $1 == $process ? $2 : () } split /\n/, $text;
}

# Tests that the request has that status, and takes so many round trips at most, beside one COMMIT if it writes. Returns what trips() does.
sub costs {
    my ($self, $name, $most, $status, $code) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my ($answer, @trips) = $self->trips($code);
    Test::More::is($answer->{status}, $status, "$name: $status") or Test::More::diag($answer->{raw});
    my $commits = grep { /\A(?:commit|rollback)\z/ } @trips;
    my $others  = @trips - $commits;
    Test::More::ok($others <= $most && $commits <= 1, "$others round trips" . ($commits ? ' and COMMIT' : '') . ", at most $most")
        or Test::More::diag(join "\n", @trips);
    return ($answer, @trips);
}

1;
