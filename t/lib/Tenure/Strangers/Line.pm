# SPDX-License-Identifier: Apache-2.0
# A client of Tenure::Strangers: it keeps its connection, and asks again where the server closed it before an answer began.
#
#   my $answer = Tenure::Strangers::Line->new('http://127.0.0.1:8080/prefix')->ask('GET', '/v2.0/acme', { Accept => '*/*' }, undef);
#   # { status, head, body }; status 0: there was none
package Tenure::Strangers::Line;

use strict;
use warnings;

use IO::Select       ();
use IO::Socket::INET ();
use Time::HiRes      ();

sub new {
    my ($class, $url) = @_;
    my ($host, $port, $prefix) = $url =~ m{\Ahttp://([^/:]+):(\d+)(/.*)?\z} or die "no such URL: $url\n";
    return bless { host => $host, port => $port, prefix => $prefix // '', buffer => '' }, $class;
}

sub _connect {
    my ($self) = @_;
    $self->{buffer} = '';
    $self->{socket} = IO::Socket::INET->new(PeerAddr => $self->{host}, PeerPort => $self->{port}, Proto => 'tcp', Timeout => 30)
        or die "$self->{host}:$self->{port}: $!\n";
    return;
}

sub _fill {
    my ($self, $until) = @_;
    my $left = $until - Time::HiRes::time();
    return 0 if $left <= 0 || !IO::Select->new($self->{socket})->can_read($left);
    my $n = sysread $self->{socket}, $self->{buffer}, 65536, length $self->{buffer};
    return defined $n && $n > 0;
}

# ({ status, head, body }); undef when the connection ended before an answer began.
sub _read {
    my ($self, $method) = @_;
    my $until = Time::HiRes::time() + 60;
    my $end;
    while (($end = index $self->{buffer}, "\r\n\r\n") < 0) {
        $self->_fill($until) or return undef;
    }
    my $head = substr $self->{buffer}, 0, $end + 4, '';
    my ($status) = $head =~ m{\AHTTP/1\.[01] (\d{3})} or return undef;
    my $body = '';
    if ($method eq 'HEAD' || $status == 204 || $status == 304 || $status < 200) {
        # There is none.
    } elsif ($head =~ /^transfer-encoding:\s*chunked/mi) {
        while (1) {
            while (index($self->{buffer}, "\r\n") < 0) { $self->_fill($until) or return undef }
            my ($digits) = $self->{buffer} =~ /\A([0-9a-fA-F]+)/ or return undef;
            my $size = hex $digits;
            my $skip = index($self->{buffer}, "\r\n") + 2;
            while (length $self->{buffer} < $skip + $size + 2) { $self->_fill($until) or return undef }
            $body .= substr $self->{buffer}, $skip, $size;
            substr $self->{buffer}, 0, $skip + $size + 2, '';
            last if $size == 0;
        }
    } elsif ($head =~ /^content-length:\s*(\d+)/mi) {
        my $size = $1;
        while (length $self->{buffer} < $size) { $self->_fill($until) or return undef }
        $body = substr $self->{buffer}, 0, $size, '';
    } else {
        1 while $self->_fill($until);
        ($body, $self->{buffer}) = ($self->{buffer}, '');
        $self->{socket} = undef;
    }
    $self->{socket} = undef if $head =~ /^connection:\s*close/mi;
    return { status => $status, head => $head, body => $body };
}

# A server may close a connection that was kept: what it did not begin to answer is sent again.
sub ask {
    my ($self, $method, $path, $headers, $body) = @_;
    my $text = "$method $self->{prefix}$path HTTP/1.1\r\nHost: $self->{host}:$self->{port}\r\n"
        . join('', map { "$_: $headers->{$_}\r\n" } sort keys %$headers)
        . (defined $body ? 'Content-Length: ' . length($body) . "\r\n" : $method =~ /\AP/ ? "Content-Length: 0\r\n" : '') . "\r\n" . ($body // '');
    for my $try (1 .. 3) {
        $self->_connect if !$self->{socket};
        local $SIG{PIPE} = 'IGNORE';
        my $sent = 0;
        while ($sent < length $text) {
            my $n = syswrite $self->{socket}, $text, length($text) - $sent, $sent;
            last if !$n;
            $sent += $n;
        }
        my $answer = $self->_read($method);
        return $answer if $answer;
        $self->{socket} = undef;
    }
    return { status => 0, head => '', body => '' };
}

1;
