# SPDX-License-Identifier: Apache-2.0
# A service that others ask by HTTP, for tests: on loopback, in processes of its own, one for each connection. A class of this kind says
# what is answered:
#
#   sub answer { my ($self, $client, $request) = @_; … }   # $request: method, path, query, header (by lower-case name), body
#
# What tests tell it, and what it was asked, is in files of its folder, $self->{dir}: the processes share nothing else.
package Tenure::FakeService;

use strict;
use warnings;

use File::Temp ();
use IO::Socket::INET;
use POSIX ();

use Tenure::Ports qw(lasting_ports);
use Tenure::Run qw(wait_until);

my @running;
my $owner = $$;

# Makes it, without serving yet: begin() does. name: of its folder. port: 0 or undef for any, which it keeps.
sub new {
    my ($class, $name, $port) = @_;
    my $dir = File::Temp->newdir("tenure-$name-XXXXXX", TMPDIR => 1, CLEANUP => 1);
    my $self = bless { dir => "$dir", holder => $dir, port => $port, name => $name }, $class;
    $self->mode('ok');
    return $self;
}

sub begin {
    my ($self) = @_;
    $self->listen;
    push @running, $self;
    return $self;
}

# How it behaves from now on.
sub mode { my ($self, $mode) = @_; $self->keep(mode => $mode); return }

# A file of its folder: other processes see the old text or the new one, never a part.
sub keep {
    my ($self, $name, $text) = @_;
    my $file = "$self->{dir}/$name";
    open my $out, '>', "$file.new" or die "$file: $!";
    print {$out} $text;
    close $out or die "$file: $!";
    rename "$file.new", $file or die "$file: $!";
    return;
}

# undef: there is none.
sub kept {
    my ($self, $name) = @_;
    open my $in, '<:raw', "$self->{dir}/$name" or return undef;
    local $/ = undef;
    return scalar readline $in;
}

# ---- what it was asked: a line each

sub note {
    my ($self, $line) = @_;
    open my $out, '>>', "$self->{dir}/log" or die "log: $!";
    syswrite $out, "$line\n";
    close $out;
    return;
}

sub log { return $_[0]->kept('log') // '' }
sub count { my ($self, $line) = @_; return scalar grep { $_ eq $line } split /\n/, $self->log }
sub forget_log { my ($self) = @_; unlink "$self->{dir}/log"; return }

# ---- serving

# A process that was forked for a connection just before stop() may hold the socket for a moment yet, so the port is tried until it is free.
sub listen {
    my ($self) = @_;
    my $socket;
    wait_until(sub {
        $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $self->{port} || lasting_ports(1), Listen => 64, Proto => 'tcp',
            ReuseAddr => 1);
    }) or die "$self->{name}: $@\n";
    $self->{port} = $socket->sockport;
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        $SIG{$_} = 'DEFAULT' for qw(TERM INT);
        $SIG{CHLD} = 'IGNORE';
        while (1) {
            my $client = $socket->accept or next;
            my $child = fork // next;
            if ($child) { close $client; next }
            close $socket;
            eval { $self->_serve($client) };
            POSIX::_exit(0);
        }
    }
    $self->{pid} = $pid;
    return;
}

# Connections are refused from now on.
sub stop {
    my ($self) = @_;
    return if !$self->{pid};
    kill 'CONT', $self->{pid};
    kill 'KILL', $self->{pid};
    waitpid $self->{pid}, 0;
    $self->{pid} = undef;
    return;
}

# It accepts connections and answers nothing; go on: it does again.
sub freeze { kill 'STOP', $_[0]{pid}; return }
sub thaw   { kill 'CONT', $_[0]{pid}; return }

END {
    if ($owner == $$) {
        local $?;
        $_->stop for @running;
    }
}

sub _serve {
    my ($self, $client) = @_;
    my ($head, %header) = ('');
    while ($head !~ /\r\n\r\n/) { sysread $client, $head, 16384, length $head or return }
    ($head, my $body) = split /\r\n\r\n/, $head, 2;
    my ($line, @lines) = split /\r\n/, $head;
    for (@lines) { $header{ lc $1 } = $2 if /\A([^:]+):\s*(.*)\z/ }
    while (length $body < ($header{'content-length'} // 0)) { sysread $client, $body, 16384, length $body or return }
    my ($method, $target) = split / /, $line;
    my ($path, $query) = split /\?/, $target, 2;
    $client->autoflush(1);
    return $self->answer($client, { method => $method, path => $path, query => $query // '', header => \%header, body => $body });
}

# Sends an answer and closes the connection.
sub send_answer {
    my ($client, $status, $text, @headers) = @_;
    print {$client} "HTTP/1.1 $status X\r\nContent-Type: application/json\r\nContent-Length: @{[length $text]}\r\nConnection: close\r\n",
        (map { "$_\r\n" } @headers), "\r\n", $text;
    close $client;
    return;
}

# Sends the beginning of an answer of 5,000 bytes, and closes the connection.
sub send_part {
    my ($client, $text) = @_;
    print {$client} "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n$text";
    close $client;
    return;
}

# Answers nothing until the client gives up.
sub hang { my ($client) = @_; sysread $client, my $byte, 1; return }

1;
