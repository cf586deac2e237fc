# SPDX-License-Identifier: Apache-2.0
# Sends any bytes over a socket, for requests that HTTP clients can't send, and reads the answer.
package Tenure::Raw;

use strict;
use warnings;

use IO::Select;
use IO::Socket::INET;
use Socket qw(SHUT_WR);
use Time::HiRes ();

use Tenure::Response;

# Connects to the endpoint at that URL.
sub connect_to {
    my ($url) = @_;
    my ($host, $port) = $url =~ m{\Ahttp://([^:/]+):(\d+)} or die "$url: not http://host:port\n";
    return IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port, Proto => 'tcp') // die "connect $url: $!\n";
}

# Sends the bytes, and reads until the other side closes the connection or has sent nothing for some seconds. Status 0: no HTTP
# answer. half_close: shut down the sending side after the bytes.
sub exchange {
    my ($url, $bytes, %option) = @_;
    local $SIG{PIPE} = 'IGNORE';
    my $socket = connect_to($url);
    my $rest   = $bytes;
    while (length $rest) {
        my $sent = syswrite $socket, $rest;
        last unless $sent;    # it has answered early and closed
        substr $rest, 0, $sent, '';
    }
    shutdown $socket, SHUT_WR if $option{half_close};
    return read_answer($socket, $option{seconds} // 60);
}

sub read_answer {
    my ($socket, $seconds) = @_;
    my $select = IO::Select->new($socket);
    my $answer = '';
    while ($select->can_read($seconds)) {
        my $n = sysread $socket, $answer, 65536, length $answer;
        last unless $n;
        last if _complete($answer);
    }
    return parse($answer);
}

# Is the answer complete: the head, and as many bytes as Content-Length says? Without Content-Length, the answer ends with the
# connection.
sub _complete {
    my ($answer) = @_;
    my ($head, $body) = split /\r\n\r\n/, $answer, 2;
    return 0 unless defined $body;
    return 1 if $head =~ m{\AHTTP/\S+ (?:204|304) };
    return $head =~ /^Content-Length:\s*(\d+)/mi && length $body >= $1;
}

sub parse {
    my ($answer) = @_;
    $answer =~ s{\AHTTP/1\.[01] 100[^\r\n]*\r\n\r\n}{};
    my ($head, $body) = split /\r\n\r\n/, $answer, 2;
    my ($line, @fields) = split /\r\n/, $head // '';
    my ($status) = ($line // '') =~ m{\AHTTP/\S+ (\d+)};
    my %header;
    for my $field (@fields) {
        my ($name, $value) = split /:\s*/, $field, 2;
        push @{ $header{ lc $name } }, $value;
    }
    return Tenure::Response->new({ status => $status // 0, headers => \%header, content => $body // '' }, 'raw request');
}

# Returns a request with that request line and headers and "Connection: close". target: bytes; headers: a list of lines.
sub request {
    my ($url, $method, $target, %option) = @_;
    my $text = "$method $target HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    $text .= "X-Auth-Token: $option{token}\r\n" if defined $option{token};
    $text .= "$_\r\n" for @{ $option{headers} // [] };
    $text .= 'Content-Length: ' . length($option{body}) . "\r\n" if defined $option{body};
    return exchange($url, "$text\r\n" . ($option{body} // ''), %option);
}

sub get {
    my ($url, $target, %option) = @_;
    return request($url, 'GET', $target, %option);
}

1;
