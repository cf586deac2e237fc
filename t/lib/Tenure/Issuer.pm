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

use JSON::PP ();
use MIME::Base64 ();
use Time::HiRes ();

use parent 'Tenure::FakeService';

my $json = JSON::PP->new->utf8->canonical;

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
    my ($class) = @_;
    my $self = $class->SUPER::new('issuer');
    $self->{keys} = {};
    $self->publish;
    return $self->begin;
}

sub url  { return "http://127.0.0.1:$_[0]{port}/realm" }

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
sub publish { my ($self, @names) = @_; $self->keep(jwks => $self->jwks(@names)); return }

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
    $self->keep(input => $input);
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

sub answer {
    my ($self, $client, $request) = @_;
    my ($path) = $request->{method} eq 'GET' && $request->{path} =~ m{\A/realm(.*)}s;
    my $mode = $self->kept('mode');
    my $send = \&Tenure::FakeService::send_answer;
    $self->note($path // 'other');
    return $send->($client, 500, '{}') if $mode eq 'error';
    return $send->($client, 200, '[' x 30_000 . ']' x 30_000) if $mode eq 'deep';
    return $send->($client, 200, '<html>welcome</html>') if $mode eq 'text';
    return $send->($client, 200, '{"keys":[]}') if $mode eq 'empty';
    return $send->($client, 302, '', 'Location: http://127.0.0.1:1/') if $mode eq 'redirect';
    return $send->($client, 200, 'x' x 200_000) if $mode eq 'huge';
    return Tenure::FakeService::send_part($client, '{"keys": [') if $mode eq 'cut';
    return Tenure::FakeService::hang($client) if $mode eq 'hang';
    Time::HiRes::sleep(0.5) if $mode eq 'slow';
    return $send->($client, 200, $json->encode({ issuer => $mode eq 'liar' ? 'https://other.example.org' : $self->url,
        jwks_uri => $self->url . '/keys' })) if ($path // '') eq '/.well-known/openid-configuration';
    return $send->($client, 200, $self->kept('jwks')) if ($path // '') eq '/keys';
    return $send->($client, 404, '{}');
}

1;
