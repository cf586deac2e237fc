# SPDX-License-Identifier: Apache-2.0
# A proxy between Tenure and its database, at a socket of its own: a process for each connection. What it does to what passes is up to
# the classes below it, by their method _relay(client, server), which returns or dies when the connection is over.
#
#   my $proxy;
#   my $instance = Tenure::Instance->start(database_by => sub { $proxy = CLASS->new(@_); return $proxy->path });
package Tenure::DatabaseProxy;

use strict;
use warnings;

use IO::Select;
use IO::Socket::UNIX;
use POSIX ();

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
        # A test that was killed leaves no proxy behind.
        while (getppid == $self->{owner}) { $self->_accept($listener) }
        POSIX::_exit(0);
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

# Writes all bytes. Dies if the other side has closed the connection.
sub send_all {
    my ($to, $bytes) = @_;
    while (length $bytes) {
        my $n = syswrite $to, $bytes;
        die "closed\n" if !defined $n && !$!{EINTR};
        substr $bytes, 0, $n // 0, '';
    }
    return;
}

1;
