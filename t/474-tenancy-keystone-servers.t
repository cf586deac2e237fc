#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Keystone alone as authenticator, behind each web server: what a token is good for, what a wrong one is told; the roles of a token
# under Placement's policies; the service user's login.
use strict;
use warnings;

use File::Basename ();
use lib File::Basename::dirname(__FILE__) . '/lib';

use Test::More;

use Tenure::Client;
use Tenure::FakeKeystone;
use Tenure::Instance;

my $keystone = Tenure::FakeKeystone->start;
my ($red, $blue) = ('a' x 32, 'b' x 32);
$keystone->token("red-$_->[0]", project => $red, roles => $_->[1]) for
    [ admin => [qw(admin member reader)] ], [ member => [qw(member reader)] ], [ reader => ['reader'] ], [ service => ['service'] ];
$keystone->token("system-$_->[0]", system => 1, roles => $_->[1]) for [ admin => [qw(admin member reader)] ], [ reader => ['reader'] ];

sub start {
    my ($server, %settings) = @_;
    return Tenure::Instance->start(server => $server, auth => 'token', placement => 1, allow => [qr/Keystone: /, qr/answered 503 \(unavailable\)/],
        settings => { 'endpoint service.auth' => 'keystone', 'endpoint placement.auth' => 'keystone', 'keystone.auth_url' => $keystone->url,
            'keystone.username' => 'tenure', 'keystone.password' => 'secret', 'keystone.token_cache_time' => 600,
            'keystone.invalid_cache_time' => 2, 'keystone.create_tenants' => 'yes', 'keystone.timeout' => 30, %settings });
}

# Status of GET, or of POST with "{}".
sub status_of {
    my ($instance, $endpoint, $token, $path, $method) = @_;
    my $client  = Tenure::Client->new(url => $instance->env("TENURE_\U$endpoint\E_URL"));
    my @headers = (headers => { 'X-Auth-Token' => $token, 'OpenStack-API-Version' => 'placement 1.39' });
    return ($method // 'GET') eq 'POST' ? $client->post($path, json => {}, @headers)->status : $client->get($path, @headers)->status;
}

# Those of the tokens who get through, anything but 401 and 403.
sub through {
    my ($instance, $path, $method) = @_;
    return join ' ', grep { status_of($instance, 'placement', $_, $path, $method) !~ /\A40[13]\z/ }
        qw(red-admin red-member red-reader red-service system-admin system-reader);
}

my %placement = (
    'nginx'        => [ 'by operator_roles alone', {}, 'red-admin red-service system-admin', 'red-admin red-service system-admin system-reader' ],
    'apache-proxy' => [ 'policy = legacy', { 'placement.policy' => 'legacy' }, 'red-admin system-admin', 'red-admin system-admin system-reader' ],
    'apache-fcgid' => [ 'policy = secure', { 'placement.policy' => 'secure' }, 'red-service system-admin', 'red-service system-admin system-reader' ],
    'lighttpd'     => [ 'no operators by role', { 'keystone.operator_dialects' => 'none' }, 'system-admin', 'system-admin' ],
);

for my $server (qw(nginx apache-proxy apache-fcgid lighttpd)) {
    subtest $server => sub {
        my $program = $server =~ /apache/ ? 'apache2' : $server;
        plan skip_all => "$program is not installed" unless Tenure::Instance::on_path($program);
        plan skip_all => 'mod_fcgid is not installed'
            if $server eq 'apache-fcgid' && !-e '/usr/lib/apache2/modules/mod_fcgid.so';
        my ($what, $settings, $writers, $readers) = @{ $placement{$server} };
        my $instance = start($server, %$settings);
        my $client   = Tenure::Client->new(url => $instance->env('TENURE_SERVICE_URL'));
        my $path     = "/v2.0/$red/persistentvolumes";
        $keystone->forget_log;
        is $client->put("$path/v1", json => { n => 1 }, headers => { 'X-Auth-Token' => 'red-member' })->status, 201, 'a member writes';
        is $client->get("$path/v1", headers => { Authorization => 'Bearer red-member' })->status, 200, 'Authorization: Bearer, too' for 1 .. 4;
        is $keystone->count('validate red-member'), 1, 'Keystone was asked once by all processes';
        is $client->put("$path/v2", json => {}, headers => { 'X-Auth-Token' => 'red-reader' })->status, 403, 'a reader does not';
        is status_of($instance, 'service', 'red-member', "/v2.0/$blue/persistentvolumes"), 404, 'of other projects he sees nothing';
        for my $case ([ 'a wrong token', 'X-Auth-Token' => 'wrong' ], [ 'one of tenure-manage', 'X-Auth-Token' => $instance->operator_token ], ['none']) {
            my ($name, @header) = @$case;
            my $answer = $client->get($path, headers => {@header});
            is $answer->status, 401, $name;
            is $answer->header('WWW-Authenticate'), 'Keystone uri="' . $keystone->url . '"', '... is told where Keystone is';
        }
        is through($instance, '/resource_providers', 'POST'), $writers, "placement, $what: who writes";
        is through($instance, '/resource_providers'), $readers, '... and who reads';
        $instance->stop;
    };
}

subtest 'the service user logs in by an application credential, in time' => sub {
    $keystone->own_life(12); # so each is renewed after nine seconds
    $keystone->forget_log;
    my $instance = start('lighttpd', 'keystone.username' => '', 'keystone.password' => '', 'keystone.application_credential_id' => 'cred',
        'keystone.application_credential_secret' => 'secret', 'keystone.token_cache_time' => 0);
    my $ask = sub { return status_of($instance, 'service', 'red-reader', "/v2.0/$red/persistentvolumes") };
    is $ask->(), 200, 'a token is validated';
    is $keystone->count('login'), 1, 'after one login';
    my ($bad, $refused) = (0, 0);
    ok Tenure::Instance::wait_until(sub { $bad++ if $ask->() != 200; return $keystone->count('login') >= 3 }, 120), 'further logins follow';
    is $bad, 0, 'while each request is answered';
    is $keystone->count('own token refused'), 0, 'none came with a token that had expired';
    $instance->stop;

    $keystone->own_life(3600);
    $keystone->forget_log;
    my $wrong = start('lighttpd', 'keystone.username' => '', 'keystone.password' => '', 'keystone.application_credential_id' => 'cred',
        'keystone.application_credential_secret' => 'other');
    is status_of($wrong, 'service', 'red-reader', "/v2.0/$red/persistentvolumes"), 503, 'a wrong secret: unavailable' for 1 .. 4;
    cmp_ok $keystone->count('wrong login'), '<=', 2, '... and each process logs in once in five seconds';
    like $wrong->log_text('service'), qr/Keystone: login of the service user: status 401/, 'the log says so';
    $wrong->stop;
};

done_testing();
