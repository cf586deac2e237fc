#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a client of a Keystone behind mod_fcgid sends in the hope to be somebody else: the header fields by which other services know a user,
# tokens that are none, two of them, and addresses that end elsewhere.
use strict;
use warnings;

use File::Basename ();
use lib File::Basename::dirname(__FILE__) . '/lib';

use IO::Select;
use IO::Socket::INET;
use MIME::Base64 ();
use Test::More;

use Tenure::FakeKeystone;
use Tenure::Instance;
use Tenure::Issuer;

Tenure::Instance::need('apache-fcgid');
my ($red, $blue) = ('a' x 32, 'b' x 32);
my $keystone = Tenure::FakeKeystone->start;
$keystone->token('good',  project => $red, roles => ['member']);
$keystone->token('admin', project => $red, roles => [qw(admin member reader)]);
my $issuer = Tenure::Issuer->start;
$issuer->make_key('k', 'ES256');
$issuer->publish('k');
my $instance = Tenure::Instance->start(server => 'apache-fcgid', auth => 'token', placement => 1, allow => [ qr/Keystone: /, qr/JWT: / ],
    settings => { 'endpoint service.auth' => 'keystone,jwt,token', 'endpoint placement.auth' => 'jwt,keystone', 'keystone.auth_url' => $keystone->url,
        'keystone.username' => 'tenure', 'keystone.password' => 'secret', 'keystone.create_tenants' => 'yes', 'keystone.token_cache_time' => 600, 'keystone.timeout' => 30,
        'jwt.issuer' => $issuer->url, 'jwt.audience' => 'tenure' });
my ($service)   = $instance->env('TENURE_SERVICE_URL') =~ /:(\d+)/;
my ($placement) = $instance->env('TENURE_PLACEMENT_URL') =~ /:(\d+)/;

# The status of a GET, byte for byte as it stands.
sub status {
    my ($path, @lines) = @_;
    my $port   = $path =~ m{\A/resource_providers} ? $placement : $service;
    my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or die "connect: $!\n";
    print $socket join "\r\n", "GET $path HTTP/1.1", 'Host: localhost', 'Connection: close', @lines, '', '';
    my $answer = '';
    while (IO::Select->new($socket)->can_read(60)) {
        sysread $socket, $answer, 65536, length $answer or last;
    }
    return $answer =~ m{\AHTTP/1\.\d (\d+)} ? $1 : 0;
}

my $own = "/v2.0/$red/persistentvolumes";
is status($own, 'X-Auth-Token: good'), 200, 'a good token';

subtest 'header fields that make no user' => sub {
    my @fields = ('X-Identity-Status: Confirmed', 'X-Roles: admin', 'OpenStack-System-Scope: all', 'X-Is-Admin-Project: True', 'X-User-Id: root',
        "X-Project-Id: $blue", 'X-Remote-User: root', 'Remote-User: root', "X-Tenant: $blue", 'SSL-Client-Cert: x', 'SSL-Client-Verify: SUCCESS',
        'Tenure-Certificate-Secret: x', 'Tenure-Remote-User-Secret: x', 'X-Forwarded-User: root', 'X_Auth_Token: admin', 'X-Storage-Token: admin',
        'Cookie: token=admin');
    for my $field (@fields) {
        is status($own, $field), 401, "$field: alone";
        is status("/v2.0/$blue/persistentvolumes", 'X-Auth-Token: good', $field), 404, '... beside a good token';
        is status('/resource_providers', 'X-Auth-Token: good', $field), 403, '... nor an operator';
    }
    for my $field ('Authorization: Basic Z29vZDpnb29k', 'Authorization: Bearer', 'Authorization: token good', 'Authorization: Bearer good admin') {
        is status($own, $field), 401, $field;
    }
};

subtest 'tokens that are none' => sub {
    for my $token ('good good', 'good,admin', "good\tadmin", "\xc3\xa9", 'x' x 8192, "good'--", '%67ood', '../tokens/good', 'good;admin', 'Good', 'g', '.', '..', 'a.b',
        'a.b.c', 'gAAAAA' . '=' x 180) {
        is status($own, "X-Auth-Token: $token"), 401, 'refused: ' . substr $token, 0, 20;
    }
    for my $token ("good\0", "go\0od", "good\x0b", "good\x7f") {
        like status($own, "X-Auth-Token: $token"), qr/\A40[01]\z/, sprintf 'refused: with a byte 0x%02x', ord(($token =~ /([^a-z])/)[0]);
    }
    is status($own, 'X-Auth-Token: admin', 'X-Auth-Token: good'), 401, 'two of them';
    is status($own, 'X-Auth-Token: good', 'X-Service-Token: nonsense'), 401, 'a wrong service token beside';
};

subtest 'addresses that end elsewhere' => sub {
    for my $path ("//v2.0/$red/persistentvolumes", "/v2.0/$red/../$blue/persistentvolumes", "/v2.0/$red%2f..%2f$blue/persistentvolumes", '/v2.0/all/persistentvolumes',
        '/v2.0/system/persistentvolumes', '/v2.0/%61ll/persistentvolumes', "/v2.0/$blue%00/persistentvolumes", "/v2.0/$blue/persistentvolumes?tenant=$red") {
        like status($path, 'X-Auth-Token: good'), qr/\A40[04]\z/, $path;
    }
};

subtest 'tokens by which Keystone fails' => sub {
    my %rule = (service => 'tenancy', method => 'GET', path => '/v2.0/' . 'x' x 120);
    $keystone->token('large', project => $red, roles => ['member'], rules => [ (\%rule) x 1600 ]);
    my %token = ('Keystone refuses the length' => 'y' x 8100, 'Keystone closes the connection' => 'z' x 5000, 'the answer is too large' => 'large');
    my %told  = ('Keystone refuses the length' => 401);
    for my $case (sort keys %token) {
        (my $fresh = $case) =~ tr/ /-/;
        $keystone->token($fresh, project => $red, roles => ['member']);
        is status($own, "X-Auth-Token: $token{$case}"), $told{$case} // 503, $case;
        is status($own, "X-Auth-Token: $fresh"), 200, '... and others are asked about at once';
    }
};

subtest 'JSON Web Tokens of two kinds' => sub {
    my $of_provider = $issuer->token('k', sub => 'ann', tenant => $red);
    my $of_keystone = join '.', map { MIME::Base64::encode_base64url($_) } '{"alg":"ES256","typ":"JWT"}', '{"sub":"u1","openstack_methods":[]}', 'signature';
    $keystone->token($of_keystone, project => $red, roles => ['admin']);
    for my $path ($own, '/resource_providers') { # keystone, jwt and jwt, keystone
        is status($path, "X-Auth-Token: $of_keystone"), 200, "$path: Keystone's goes to Keystone";
        isnt status($path, "X-Auth-Token: $of_provider"), 401, "... an OpenID Connect provider's is good";
    }
    is $keystone->count("validate $of_provider"), 0, '... and Keystone is not shown it';
};

is status($own, 'X-Auth-Token: good'), 200, 'the good token is still good';
cmp_ok scalar(() = $keystone->log =~ /^validate /mg), '<', 30, 'Keystone was asked about what can be a token, once each';
$instance->stop;
done_testing();
