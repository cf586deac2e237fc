# SPDX-License-Identifier: Apache-2.0
# An issuer of JSON Web Tokens, for tests: keys and tokens made by the program openssl, and a discovery document and keys by HTTP on
# loopback, from processes of its own, doing wrong what it is told to do wrong.
#
#   my $issuer = Tenure::Issuer->start;
#   $issuer->make_key('k1', 'RS256');
#   $issuer->publish('k1');                      # the keys that it tells
#   my $token = $issuer->token('k1', sub => 'ann', tenant => 'red', roles => ['member']);
#   $issuer->count('/keys');                     # how often they were fetched
#   $issuer->mode('hang');                       # ok, slow, hang, error, huge, cut, deep, text, redirect, liar, empty
package Tenure::Issuer;

use strict;
use warnings;

use File::Temp ();
use IO::Socket::INET;
use JSON::PP ();
use MIME::Base64 ();
use POSIX ();
use Time::HiRes ();

my $json = JSON::PP->new->utf8->canonical;
my @running;
my $owner = $$;

sub _write {
    my ($file, $text) = @_;
    open my $out, '>', "$file.new" or die "$file: $!";
    print $out $text;
    close $out or die "$file: $!";
    rename "$file.new", $file or die "$file: $!";
    return;
}

sub _read {
    my ($file) = @_;
    open my $in, '<:raw', $file or return undef;
    local $/;
    return scalar <$in>;
}

sub _run {
    my (@command) = @_;
    open my $saved, '>&', \*STDERR or die;
    open STDERR, '>', '/dev/null' or die;
    open my $pipe, '-|', @command or die "$command[0]: $!";
    binmode $pipe;
    my $out = do { local $/; <$pipe> };
    close $pipe or die "@command failed";
    open STDERR, '>&', $saved or die;
    return $out;
}

sub base64url { return MIME::Base64::encode_base64url($_[0]) }

sub start {
    my ($class, %option) = @_;
    my $dir = File::Temp->newdir('tenure-issuer-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $self = bless { dir => "$dir", holder => $dir, keys => {} }, $class;
    $self->mode('ok');
    $self->publish;
    $self->listen;
    push @running, $self;
    return $self;
}

sub url  { return "http://127.0.0.1:$_[0]{port}/realm" }
sub mode { my ($self, $mode) = @_; _write("$self->{dir}/mode", $mode); return }

my %options = (
    RS256 => [qw(-algorithm RSA -pkeyopt rsa_keygen_bits:2048)], weak => [qw(-algorithm RSA -pkeyopt rsa_keygen_bits:1024)],
    ES256 => [qw(-algorithm EC -pkeyopt ec_paramgen_curve:P-256)], ES384 => [qw(-algorithm EC -pkeyopt ec_paramgen_curve:P-384)],
    ES512 => [qw(-algorithm EC -pkeyopt ec_paramgen_curve:P-521)], EdDSA => [qw(-algorithm ED25519)], Ed448 => [qw(-algorithm ED448)],
);
my %curve = (ES256 => [ 'P-256', 32 ], ES384 => [ 'P-384', 48 ], ES512 => [ 'P-521', 66 ], EdDSA => [ 'Ed25519', 32 ], Ed448 => [ 'Ed448', 57 ]);

# kind: RS256 (for all of RSA), weak (RSA of 1024 bits), ES256, ES384, ES512, EdDSA, Ed448.
sub make_key {
    my ($self, $name, $kind) = @_;
    my $file = "$self->{dir}/$name.pem";
    _run(qw(openssl genpkey), @{ $options{$kind} }, '-out', $file);
    my $der = _run(qw(openssl pkey -in), $file, qw(-pubout -outform DER));
    my %jwk = (kid => $name, use => 'sig');
    if ($kind eq 'RS256' || $kind eq 'weak') {
        my ($hex) = _run(qw(openssl rsa -in), $file, qw(-noout -modulus)) =~ /=([0-9A-F]+)/;
        %jwk = (%jwk, kty => 'RSA', n => base64url(pack 'H*', $hex), e => 'AQAB');
    } elsif ($kind =~ /\AEd/) {
        %jwk = (%jwk, kty => 'OKP', crv => $curve{$kind}[0], x => base64url(substr $der, -$curve{$kind}[1]));
    } else {
        my $n = $curve{$kind}[1];
        %jwk = (%jwk, kty => 'EC', crv => $curve{$kind}[0], x => base64url(substr $der, -2 * $n, $n), y => base64url(substr $der, -$n));
    }
    $self->{keys}{$name} = { kind => $kind, file => $file, jwk => \%jwk, pem => scalar _run(qw(openssl pkey -in), $file, '-pubout') };
    return $self->{keys}{$name};
}

sub jwks {
    my ($self, @names) = @_;
    return $json->encode({ keys => [map { ref $_ ? $_ : $self->{keys}{$_}{jwk} } @names] });
}

# From now on it tells these keys: names, or JSON Web Keys as they stand.
sub publish { my ($self, @names) = @_; _write("$self->{dir}/jwks", $self->jwks(@names)); return }

sub _raw_ecdsa {
    my ($der, $n) = @_;
    my $at = ord(substr $der, 1, 1) > 127 ? 3 : 2;
    my $out = '';
    for (1 .. 2) {
        my $length = ord substr $der, $at + 1, 1;
        my $number = substr $der, $at + 2, $length;
        $number =~ s/\A\0+//;
        $out .= ("\0" x ($n - length $number)) . $number;
        $at += 2 + $length;
    }
    return $out;
}

# A token with this header and these claims, both texts, signed as algorithm says.
sub sign {
    my ($self, $name, $algorithm, $header, $claims) = @_;
    my $input = base64url($header) . '.' . base64url($claims);
    my $key = $self->{keys}{$name};
    _write("$self->{dir}/input", $input);
    my ($bits) = $algorithm =~ /(\d+)\z/;
    my @pss = $algorithm =~ /\APS/ ? qw(-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:-1) : ();
    my $signature = $algorithm eq 'EdDSA' ? _run(qw(openssl pkeyutl -sign -rawin -inkey), $key->{file}, '-in', "$self->{dir}/input")
        : _run(qw(openssl dgst), "-sha$bits", @pss, '-sign', $key->{file}, "$self->{dir}/input");
    $signature = _raw_ecdsa($signature, $curve{$algorithm}[1]) if $algorithm =~ /\AES/;
    return "$input." . base64url($signature);
}

# A good token unless said otherwise. Claims that are undef are left out; header and algorithm stand for themselves.
sub token {
    my ($self, $name, %claims) = @_;
    my $kind = $self->{keys}{$name}{kind};
    my $algorithm = delete $claims{algorithm} // ($kind eq 'weak' ? 'RS256' : $kind eq 'Ed448' ? 'EdDSA' : $kind);
    my %header = (alg => $algorithm, typ => 'JWT', kid => $name, %{ delete $claims{header} // {} });
    %claims = (iss => $self->url, aud => 'tenure', sub => 'ann', iat => time, exp => time + 3600, %claims);
    delete @header{ grep { !defined $header{$_} } keys %header };
    delete @claims{ grep { !defined $claims{$_} } keys %claims };
    return $self->sign($name, $algorithm, $json->encode(\%header), $json->encode(\%claims));
}

sub log { return _read("$_[0]{dir}/log") // '' }
sub count { my ($self, $line) = @_; return scalar grep { $_ eq $line } split /\n/, $self->log }
sub forget_log { my ($self) = @_; unlink "$self->{dir}/log"; return }

sub listen {
    my ($self) = @_;
    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $self->{port} // 0, Listen => 64, Proto => 'tcp',
        ReuseAddr => 1) or die "issuer: $!";
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
    kill 'KILL', $self->{pid};
    waitpid $self->{pid}, 0;
    $self->{pid} = undef;
    return;
}

END {
    if ($owner == $$) {
        local $?;
        $_->stop for @running;
    }
}

sub _answer {
    my ($client, $status, $text, @headers) = @_;
    print $client "HTTP/1.1 $status X\r\nContent-Type: application/json\r\nContent-Length: @{[length $text]}\r\nConnection: close\r\n",
        (map { "$_\r\n" } @headers), "\r\n", $text;
    close $client;
    return;
}

sub _serve {
    my ($self, $client) = @_;
    my $head = '';
    while ($head !~ /\r\n\r\n/) { sysread $client, $head, 16384, length $head or return }
    my ($path) = $head =~ m{\AGET /realm(\S*) };
    $client->autoflush(1);
    open my $out, '>>', "$self->{dir}/log" or die "log: $!";
    syswrite $out, ($path // 'other') . "\n";
    close $out;
    my $mode = _read("$self->{dir}/mode");
    return _answer($client, 500, '{}') if $mode eq 'error';
    return _answer($client, 200, '[' x 30_000 . ']' x 30_000) if $mode eq 'deep';
    return _answer($client, 200, '<html>welcome</html>') if $mode eq 'text';
    return _answer($client, 200, '{"keys":[]}') if $mode eq 'empty';
    return _answer($client, 302, '', 'Location: http://127.0.0.1:1/') if $mode eq 'redirect';
    return _answer($client, 200, 'x' x 200_000) if $mode eq 'huge';
    if ($mode eq 'cut') {
        print $client "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{\"keys\": [";
        close $client;
        return;
    }
    if ($mode eq 'hang') { sysread $client, my $byte, 1; return }
    Time::HiRes::sleep(0.5) if $mode eq 'slow';
    return _answer($client, 200, $json->encode({ issuer => $mode eq 'liar' ? 'https://other.example.org' : $self->url,
        jwks_uri => $self->url . '/keys' })) if $path eq '/.well-known/openid-configuration';
    return _answer($client, 200, _read("$self->{dir}/jwks")) if $path eq '/keys';
    return _answer($client, 404, '{}');
}

1;
