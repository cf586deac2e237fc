# SPDX-License-Identifier: Apache-2.0
# A client of one watch: what it is told, event by event.
package Tenure::Watch;

use strict;
use warnings;

use Exporter qw(import);
use IO::Select;
use IO::Socket::INET;
use JSON::PP ();
use Time::HiRes ();

our @EXPORT_OK = qw(events name_of told);

# Of the service at that URL, for that token. accept: the header of that name. plain: the path has its own watch=…. keep: the whole body is kept, in {all}. headers: more header fields, { name => value }. The watch has begun: what happens to the
# service from now on happens to it, too. Apache and nginx tell nothing of an answer before its first event; wait is how
# many seconds to wait for it at most.
sub new {
    my ($class, $url, $token, $path, %option) = @_;
    my ($host, $port) = $url =~ m{//([^:/]+):(\d+)} or die $url;
    my $socket = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port) // die "connect: $!\n";
    my $accept = $option{accept} // 'application/json';
    my $mark   = $path =~ /\?/ ? '&' : '?';
    my $asks   = $option{plain} ? '' : "${mark}watch=true";
    my $more   = join '', map { "$_: $option{headers}{$_}\r\n" } sort keys %{ $option{headers} // {} };
    print {$socket} "GET $path$asks HTTP/1.1\r\nHost: $host:$port\r\nX-Auth-Token: $token\r\nAccept: $accept\r\n$more\r\n";
    my $self = bless { socket => $socket, raw => '', text => '', events => [], head => undef, over => 0, got => 0,
        keep => $option{keep}, all => '' }, $class;
    read_while($self, $option{wait} // 30, sub { !defined $self->{head} });
    return $self;
}

sub close_now { my ($self) = @_; close $self->{socket}; return }

# Of a large event what stands at its beginning: to read it whole takes Perl longer than a watch waits for a client.
sub outline {
    my ($type, $name, $version) = $_[0] =~ /\A *\{"type":"(\w+)".{0,300}?"name":"([^"]+)".{0,300}?"resourceVersion":"(\d+)"/ or return undef;
    return { type => $type, object => { metadata => { name => $name, resourceVersion => $version } } };
}

sub unchunk {
    my ($self) = @_;
    if (!defined $self->{head}) {
        $self->{raw} =~ s/\A(.*?)\r\n\r\n//s or return;
        $self->{head} = $1;
    }
    my $had = length $self->{text};
    if ($self->{head} =~ /^transfer-encoding: chunked/mi) {
        while ($self->{raw} =~ /\A(?:\r\n)?([0-9a-f]+)[^\r\n]*\r\n/i) {
            my ($n, $skip) = (hex $1, $+[0]);
            $self->{over} = 1 if $n == 0;
            last if $n == 0 || length $self->{raw} < $skip + $n;
            $self->{text} .= substr $self->{raw}, $skip, $n;
            substr $self->{raw}, 0, $skip + $n, '';
        }
    }
    else {
        $self->{got} += length $self->{raw};
        $self->{text} .= $self->{raw};
        $self->{raw} = '';
        # An answer of that length, which a worker gave by itself; the connection may stay open behind it.
        $self->{over} = 1 if $self->{head} =~ /^content-length: (\d+)/mi && $self->{got} >= $1;
    }
    $self->{all} .= substr $self->{text}, $had if $self->{keep};
    while ($self->{text} =~ s/\A([^\n]*)\n//) {
        next if !length $1;
        # Apache puts a page of its own behind an answer that breaks off: for a client that is an end as any.
        my $event = length $1 > 100_000 ? outline($1) : eval { JSON::PP::decode_json($1) };
        push @{ $self->{events} }, $event if $event;
        $self->{over} = 1 if !$event;
    }
    return;
}

# Reads as long as that is true, until the end, or until the time is over.
sub read_while {
    my ($self, $seconds, $true) = @_;
    my $until = Time::HiRes::time() + $seconds;
    my $select = IO::Select->new($self->{socket});
    while ($true->() && !$self->{over} && (my $left = $until - Time::HiRes::time()) > 0) {
        next if !$select->can_read($left);
        my $got = sysread $self->{socket}, $self->{raw}, 65536, length $self->{raw};
        $self->{over} = 1 if !$got;
        unchunk($self);
    }
    return;
}

# Up to n events, those that come in that time.
sub events {
    my ($self, $n, $seconds) = @_;
    read_while($self, $seconds // 30, sub { @{ $self->{events} } < $n });
    return splice @{ $self->{events} }, 0, $n;
}

sub name_of { my ($event) = @_; return "$event->{type} " . ($event->{object}{metadata}{name} // $event->{object}{reason} // '-') }
sub told { my ($self, $n, $seconds) = @_; return join ', ', map { name_of($_) } events($self, $n, $seconds) }

1;
