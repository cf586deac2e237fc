#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A client that guesses tokens is refused with 429, in each dialect's own words, and tokens that were right before still work.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;
use Time::HiRes ();

use Tenure::FakeKeystone;
use Tenure::Instance;
use Tenure::Issuer;

# The minutes are those of the monotonic clock. Waits for the next one if little is left of this.
sub wait_for_a_minute {
    my $left = 60 - Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) % 60;
    Time::HiRes::sleep($left + 0.5) if $left < 20;
    return;
}

subtest 'wrong tokens' => sub {
    my $instance = Tenure::Instance->start(auth => 'token', workers => 2, settings => { 'tenure.wrong_tokens' => 10 });
    $instance->admin->make_tenant('t1');
    my $token = $instance->token('t1', 'reader');
    my $late = $instance->token('t1', 'reader');
    wait_for_a_minute();
    is $instance->service($token)->get('/v2.0/t1/namespaces/default/configmaps')->{status}, 200, 'the right one';
    my @statuses = map { $instance->service(sprintf '%012x.%s', $_, 'x' x 32)->get('/v2.0/t1/namespaces/default/configmaps')->{status} } 1 .. 14;
    is_deeply \@statuses, [ (401) x 10, (429) x 4 ], 'ten wrong ones are 401, more of them 429';
    my $refused = $instance->service('nonsense')->get('/v2.0/t1/namespaces/default/configmaps');
    is $refused->{status}, 429, 'what has not even the form of one, too';
    like $refused->{headers}{'retry-after'}, qr/^[1-9]\d?$/, 'Retry-After';
    like $refused->json->{detail}, qr/wrong tokens/, 'says why';
    is $refused->json->{type}, 'urn:tenure:problem:too-many-requests', 'its type';
    is $instance->service($token)->get('/v2.0/t1/namespaces/default/configmaps')->{status}, 200, 'a token that was right before is still';
    is $instance->service($late)->get('/v2.0/t1/namespaces/default/configmaps')->{status}, 429, 'one that was not seen before waits';
    is $instance->service(undef)->get('/v2.0/t1/namespaces/default/configmaps')->{status}, 401, 'without a token it is 401 as before';
    is $instance->service(undef)->get('/healthz')->{status}, 200, 'what is open to everybody is open';
    my $admin = Tenure::Client->new(url => $instance->env('TENURE_ADMIN_URL'), token => 'wrong');
    is $admin->get('/v2.0')->{status}, 401, 'another endpoint counts for itself';
    for my $try (1 .. 12) { $admin->get('/baremetal/v1/nodes') }
    my $metal = $admin->get('/baremetal/v1/nodes');
    is $metal->{status}, 429, 'the bare-metal dialect';
    ok $metal->json->{error_message}, 'says so in its own words';
    my $space = $admin->get('/api/v1/tenants/t1/configmaps');
    is $space->{status}, 429, 'spaces';
    is $space->json->{reason}, 'TooManyRequests', 'in theirs';
    my $placement = $admin->get('/placement/resource_providers');
    is $placement->{status}, 429, 'placement';
    is $placement->json->{errors}[0]{title}, 'Too Many Requests', 'in its own';
    $instance->stop;
};

subtest 'tokens of an issuer, and sessions' => sub {
    my $issuer = Tenure::Issuer->start;
    $issuer->make_key('k', 'ES256');
    $issuer->publish('k');
    my $instance = Tenure::Instance->start(auth => 'token', workers => 2, combined => 1, settings => { 'endpoint combined.auth' => 'jwt,token',
        'jwt.issuer' => $issuer->url, 'jwt.audience' => 'tenure', 'jwt.create_tenants' => 'yes', 'jwt.timeout' => 20, 'tenure.wrong_tokens' => 10 });
    my $client = Tenure::Client->new(url => $instance->env('TENURE_COMBINED_URL'));
    my $list = '/v2.0/red/persistentvolumes';
    my $status = sub { return $client->get($list, headers => {@_})->status };
    my ($ann, $bob, $late) = map { $issuer->token('k', sub => $_, tenant => 'red', roles => ['member']) } qw(ann bob late);
    wait_for_a_minute();
    is $status->('X-Auth-Token' => $ann), 200, 'a token';
    my $begun = $client->post('/session', headers => { 'X-Auth-Token' => $bob, 'X-Tenure-Console' => '1' });
    $begun->is_status(201, 'a session');
    my @session = ('X-Tenure-Console' => '1', Cookie => $begun->header('set-cookie') =~ s/;.*//r);
    is $status->(@session), 200, 'its cookie';
    is_deeply [ map { $status->('X-Auth-Token' => sprintf '%012x.%s', $_, 'x' x 32) } 1 .. 12 ], [ (401) x 10, (429) x 2 ], 'wrong ones from the same address';
    is $status->('X-Auth-Token' => $late), 429, 'a token that was not seen before waits';
    is $status->(@session[0, 1], Cookie => "$session[3]x"), 429, 'and so does a wrong cookie';
    is $status->('X-Auth-Token' => $ann), 200, 'the token that was right is still' for 1 .. 4;
    is $status->(@session), 200, 'and so is the session' for 1 .. 4;
    $instance->stop;
    $issuer->stop;
};

subtest 'service tokens' => sub {
    my $red      = 'a' x 32;
    my $keystone = Tenure::FakeKeystone->start;
    $keystone->token('good', project => $red, roles => ['member']);
    $keystone->token('nova', project => 'b' x 32, roles => ['service']);
    my $instance = Tenure::Instance->start(auth => 'token', workers => 2, settings => { 'endpoint service.auth' => 'keystone', 'keystone.auth_url' => $keystone->url,
        'keystone.username' => 'tenure', 'keystone.password' => 'secret', 'keystone.create_tenants' => 'yes', 'tenure.wrong_tokens' => 10 });
    my $status = sub {
        my (@service) = @_;
        return $instance->service('good')->get("/v2.0/$red/persistentvolumes", headers => { map { ('X-Service-Token' => $_) } @service })->status;
    };
    wait_for_a_minute();
    is $status->(), 200, 'a good token';
    is $status->('nova'), 200, 'with a good service token';
    is_deeply [ map { $status->("wrong-$_") } 1 .. 14 ], [ (401) x 10, (429) x 4 ], 'with wrong ones it is no better than a wrong token';
    is $status->(), 200, 'alone it is still good';
    is $status->('nova'), 200, 'and so are both';
    $instance->stop;
};

subtest 'access rules' => sub {
    my $red      = 'a' x 32;
    my $keystone = Tenure::FakeKeystone->start;
    $keystone->token($_, project => $red, roles => ['member'], rules => [ { service => 'tenancy', method => 'GET', path => '/v1.0/**' } ]) for qw(ruled late);
    $keystone->token($_, project => $red, roles => ['member']) for qw(first second);
    my $instance = Tenure::Instance->start(auth => 'token', workers => 2, settings => { 'endpoint service.auth' => 'keystone', 'keystone.auth_url' => $keystone->url,
        'keystone.username' => 'tenure', 'keystone.password' => 'secret', 'keystone.create_tenants' => 'yes', 'tenure.wrong_tokens' => 10 });
    my $status = sub { my ($token, $version) = @_; return $instance->service($token)->get("/$version/$red/persistentvolumes")->status };
    wait_for_a_minute();
    is_deeply [ map { $status->('ruled', 'v2.0') } 1 .. 14 ], [ (401) x 14 ], 'what they refuse is 401';
    is $status->('first', 'v2.0'), 200, '... and does not count as a wrong token, so others from that address are good';
    is_deeply [ map { $status->("wrong-$_", 'v2.0') } 1 .. 12 ], [ (401) x 10, (429) x 2 ], 'wrong ones do';
    is $status->('second', 'v2.0'), 429, 'then a token that was not seen before waits';
    is $status->('late', 'v1.0'), 429, '... with such rules, too';
    is $status->('ruled', 'v1.0'), 200, '... but not one that was good, though all that it asked for was refused';
    $instance->stop;
};

done_testing;
