# SPDX-License-Identifier: Apache-2.0
# A FastCGI client over a unix socket, that can also do what no decent web server does: stall, send half a body, hang up.
#
#   my $fcgi = Tenure::FastCGI->connect($path);
#   my $response = $fcgi->request(uri => '/', keep => 1);
#   $response->{status}, $response->{headers}{'content-type'}, $response->{body}
package Tenure::FastCGI;

use strict;
use warnings;

use Errno ();
use IO::Select;
use IO::Socket::UNIX;
use Time::HiRes ();

use constant {
    FCGI_BEGIN  => 1,
    FCGI_ABORT  => 2,
    FCGI_END    => 3,
    FCGI_PARAMS => 4,
    FCGI_STDIN  => 5,
    FCGI_STDOUT => 6,

    FCGI_GET_VALUES        => 9,
    FCGI_GET_VALUES_RESULT => 10,
    FCGI_UNKNOWN_TYPE      => 11,
};

# Dies when nobody listens, or the socket's queue is full. timeout: seconds that a response may take.
sub connect {
    my ($class, $path, %option) = @_;
    my $socket = IO::Socket::UNIX->new(Peer => $path) or die "connect to $path: $!\n";
    return bless { socket => $socket, in => '', timeout => $option{timeout} // 60, id => $option{id} // 1 }, $class;
}

sub try_connect {
    my ($class, @args) = @_;
    return scalar eval { $class->connect(@args) };
}

sub close {
    my ($self) = @_;
    CORE::close($self->{socket});
    return;
}

sub record {
    my ($self, $type, $content) = @_;
    return pack('CCnnCC', 1, $type, $self->{id}, length $content, 0, 0) . $content;
}

# A stream of any length, with the empty record that ends it unless open is set.
sub stream {
    my ($self, $type, $content, %option) = @_;
    my $out = '';
    for (my $at = 0; $at < length $content; $at += 65535) {
        $out .= $self->record($type, substr $content, $at, 65535);
    }
    $out .= $self->record($type, '') unless $option{open};
    return $out;
}

sub _length { return $_[0] < 128 ? pack 'C', $_[0] : pack 'N', $_[0] | 0x80000000 }

sub pairs {
    my ($self, @params) = @_;
    my $out = '';
    while (my ($name, $value) = splice @params, 0, 2) {
        $out .= _length(length $name) . _length(length $value) . $name . $value;
    }
    return $out;
}

# What a web server would send as parameters. params: a list that is added, or wins: undef takes one away.
sub params {
    my (%request) = @_;
    my %default = (
        REQUEST_METHOD  => $request{method} // 'GET',
        REQUEST_URI     => $request{uri}    // '/',
        SERVER_PROTOCOL => 'HTTP/1.1',
        REMOTE_ADDR     => '192.0.2.1',
        HTTP_HOST       => 'tenure.example',
    );
    $default{CONTENT_LENGTH} = length $request{body} if defined $request{body};
    my @own = @{ $request{params} // [] };
    for (my $i = 0; $i < @own; $i += 2) {
        delete $default{ $own[$i] };
    }
    my @out = map { ($_, $default{$_}) } sort keys %default;
    while (my ($name, $value) = splice @own, 0, 2) {
        push @out, $name, $value if defined $value;
    }
    return @out;
}

# The bytes of a whole request, up to and with the parameters; the body is the caller's.
sub head {
    my ($self, %request) = @_;
    return $self->record(FCGI_BEGIN, pack('nCx5', 1, $request{keep} ? 1 : 0))
        . $self->stream(FCGI_PARAMS, $self->pairs(params(%request)));
}

# Bytes as they are. False when the peer has closed.
sub send_raw {
    my ($self, $bytes) = @_;
    local $SIG{PIPE} = 'IGNORE';
    while (length $bytes) {
        my $n = syswrite $self->{socket}, $bytes;
        return 0 unless defined $n || $!{EINTR};
        substr $bytes, 0, $n // 0, '';
    }
    return 1;
}

sub send_request {
    my ($self, %request) = @_;
    return $self->send_raw($self->head(%request) . $self->stream(FCGI_STDIN, $request{body} // ''));
}

sub _fill {
    my ($self, $want, $until) = @_;
    while (length $self->{in} < $want) {
        my $left = $until - Time::HiRes::time();
        return 0 if $left <= 0;
        next unless IO::Select->new($self->{socket})->can_read($left);    # a signal, or the time is over
        my $n = sysread $self->{socket}, $self->{in}, 65536, length $self->{in};
        return 0 unless $n || (!defined $n && $!{EINTR});
    }
    return 1;
}

# The next record: its type and content. Empty when the peer closed first, or $until, by Time::HiRes, is over.
sub _next_record {
    my ($self, $until) = @_;
    return unless $self->_fill(8, $until);
    my (undef, $type, undef, $length, $padding) = unpack 'CCnnC', substr $self->{in}, 0, 8;
    return unless $self->_fill(8 + $length + $padding, $until);
    my $content = substr $self->{in}, 8, $length;
    substr $self->{in}, 0, 8 + $length + $padding, '';
    return ($type, $content);
}

# The same within so many seconds.
sub read_record {
    my ($self, $seconds) = @_;
    return $self->_next_record(Time::HiRes::time() + $seconds);
}

# One response: { status, headers, body, raw, app_status }; undef when the peer closed first, or the time is over.
sub read_response {
    my ($self) = @_;
    my $until = Time::HiRes::time() + $self->{timeout};
    my $out = '';
    while (my ($type, $content) = $self->_next_record($until)) {
        $out .= $content if $type == FCGI_STDOUT;
        return _parse($out, unpack('N', $content)) if $type == FCGI_END;
    }
    return undef;
}

sub _parse {
    my ($raw, $app_status) = @_;
    my ($head, $body) = split /\r\n\r\n/, $raw, 2;
    my %headers;
    for my $line (split /\r\n/, $head // '') {
        my ($name, $value) = split /: */, $line, 2;
        $headers{ lc $name } = $value;
    }
    my ($status) = ($headers{status} // '') =~ /^(\d+)/;
    return { status => $status, headers => \%headers, body => $body, raw => $raw, app_status => $app_status };
}

sub request {
    my ($self, %request) = @_;
    return undef unless $self->send_request(%request);
    return $self->read_response;
}

# Has the peer closed? Waits for that, seconds at most.
sub is_closed {
    my ($self, $seconds) = @_;
    return 0 unless IO::Select->new($self->{socket})->can_read($seconds // 30);
    my $n = sysread $self->{socket}, my $byte, 1;
    return !$n;
}

# A request over a connection of its own.
sub get {
    my ($class, $path, %request) = @_;
    return $class->connect($path)->request(%request);
}

1;
