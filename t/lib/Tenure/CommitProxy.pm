# SPDX-License-Identifier: Apache-2.0
# A proxy between Tenure and its database that lets single COMMITs and their answers go astray.
#
#   my $proxy;
#   my $instance = Tenure::Instance->start(database_by => sub { $proxy = Tenure::CommitProxy->new(@_); return $proxy->path });
#   $proxy->next_commit('answer');     # what happens to the next COMMIT of any connection
#   $proxy->hold(3);                   # nothing passes for so many seconds, on any connection
package Tenure::CommitProxy;

use strict;
use warnings;

use IO::Select;
use IO::Socket::UNIX;
use POSIX ();
use Time::HiRes ();

use Tenure::Run qw(write_file);

my $commit = "\x07\0\0\0\x03COMMIT";

# server: the path of the database's socket, which need not be there yet. dir: where the proxy's files go.
sub new {
    my ($class, $server, $dir) = @_;
    my $self = bless { server => $server, dir => $dir, path => "$dir/proxy.sock", owner => $$ }, $class;
    my $listener = IO::Socket::UNIX->new(Local => $self->{path}, Listen => 64) or die "$self->{path}: $!\n";
    chmod 0777, $self->{path};
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        POSIX::setpgid(0, 0);
        $SIG{$_} = 'DEFAULT' for qw(TERM INT HUP);
        $SIG{CHLD} = $SIG{PIPE} = 'IGNORE';
        $self->_accept($listener) while 1;
    }
    POSIX::setpgid($pid, $pid);
    $self->{pid} = $pid;
    return $self;
}

sub path { return $_[0]{path} }

sub DESTROY {
    my ($self) = @_;
    return if $$ != $self->{owner};
    local ($?, $!);
    kill CONT => -$self->{pid};
    kill KILL => -$self->{pid};
    waitpid $self->{pid}, 0;
    return;
}

sub _accept {
    my ($self, $listener) = @_;
    # A test that was killed leaves no proxy behind.
    POSIX::_exit(0) if getppid != $self->{owner};
    IO::Select->new($listener)->can_read(5) or return;
    my $client = $listener->accept or return;
    my $pid = fork;
    return if !defined $pid || $pid;
    $listener->close;
    # Without a server the client sees that its connection is closed.
    my $server = IO::Socket::UNIX->new(Peer => $self->{server}) or POSIX::_exit(0);
    eval { $self->_relay($client, $server) };
    POSIX::_exit(0);
}

sub _send {
    my ($to, $bytes) = @_;
    while (length $bytes) {
        my $n = syswrite $to, $bytes;
        die "closed\n" if !defined $n && !$!{EINTR};
        substr $bytes, 0, $n // 0, '';
    }
    return;
}

# One connection, until a side closes it.
sub _relay {
    my ($self, $client, $server) = @_;
    my $select = IO::Select->new($client, $server);
    while (1) {
        for my $socket ($select->can_read) {
            sysread $socket, my $bytes, 1 << 16 or return;
            if ($socket == $server) { _send($client, $bytes); next }
            my $what = $bytes eq $commit ? $self->_ordered : undef;
            return if defined $what && $what eq 'request';
            if (defined $what && $what =~ /\Alate (\S+)/) {
                # The client believes that the connection is lost, the COMMIT still arrives.
                $client->close;
                Time::HiRes::sleep($1);
            }
            _send($server, $bytes);
            next if !defined $what;
            # The server has done it when it answers, or has ended.
            IO::Select->new($server)->can_read(30);
            return;
        }
    }
}

# What was ordered for a COMMIT, to one of the connections only.
sub _ordered {
    my ($self) = @_;
    my $mine = "$self->{dir}/commit.$$";
    rename "$self->{dir}/commit", $mine or return undef;
    open my $file, '<', $mine or return undef;
    my $what = readline $file;
    unlink $mine;
    return $what;
}

# 'request': it is lost, and the connection with it; 'answer': the COMMIT arrives, its answer is lost with the connection; 'late SECONDS':
# the connection is lost, and the COMMIT arrives so many seconds later.
sub next_commit {
    my ($self, $what) = @_;
    write_file("$self->{dir}/commit.new", $what);
    rename "$self->{dir}/commit.new", "$self->{dir}/commit" or die "$!\n";
    return;
}

sub hold {
    my ($self, $seconds) = @_;
    kill STOP => -$self->{pid};
    Time::HiRes::sleep($seconds);
    kill CONT => -$self->{pid};
    return;
}

1;
