#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Tokens of a real Keystone, as Debian packages it: a fresh one with SQLite, on loopback. Skipped where it is not installed.
use strict;
use warnings;

use File::Basename ();
use lib File::Basename::dirname(__FILE__) . '/lib';

use File::Temp ();
use JSON::PP ();
use Test::More;

use Tenure::Client;
use Tenure::Instance;
use Tenure::RealKeystone;

my $missing = Tenure::RealKeystone::missing();
plan(skip_all => $missing) if defined $missing;

my $dir      = File::Temp->newdir('tenure-keystone-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $json     = JSON::PP->new->utf8;
my $keystone = Tenure::RealKeystone->start("$dir/keystone");
my %user     = (ann => $keystone->user('ann', red => 'admin'), rita => $keystone->user('rita', red => 'reader'));
my %project  = (red => $keystone->id('project', 'red'));

my $instance = Tenure::Instance->start(auth => 'token', combined => 1, placement => 1, allow => [qr/Keystone: /, qr/answered 503 \(unavailable\)/], settings => {
    'endpoint combined.auth' => 'keystone,token', 'endpoint placement.auth' => 'keystone,token', 'keystone.auth_url' => $keystone->url,
    'keystone.username' => 'tenure', 'keystone.password' => 'tenure', 'keystone.create_tenants' => 'yes', 'keystone.token_cache_time' => 2,
    'keystone.timeout' => 60 });
my %at = (combined => $instance->env('TENURE_COMBINED_URL'), placement => $instance->env('TENURE_PLACEMENT_URL'));
sub ask { my ($token, $path, $at) = @_; return Tenure::Client->new(url => $at{ $at // 'combined' })->get($path, headers => { 'X-Auth-Token' => $token })->status }
sub put { my ($token, $path) = @_; return Tenure::Client->new(url => $at{combined})->put($path, json => {}, headers => { 'X-Auth-Token' => $token })->status }

my %token = map { $_ => $keystone->login($_, project => 'red') } qw(ann rita);
my $path = "/v2.0/$project{red}/persistentvolumes";
is ask($token{ann}, $path), 200, 'an admin of the project reads its tenant';
is put($token{ann}, "$path/v1"), 201, '... and writes';
is put($token{rita}, "$path/v2"), 403, 'a reader does not write';
is ask($token{ann}, '/v2.0'), 403, 'he is no operator there';
is ask($token{ann}, '/resource_providers', 'placement'), 200, 'in placement he is';
is ask($token{rita}, '/resource_providers', 'placement'), 403, 'a reader is not';
is ask($keystone->login('admin', system => 1), '/v2.0'), 200, 'the admin of the system is an operator';
is ask('gAAAAABnotatoken', $path), 401, 'a token that it did not make';

my $credential = $json->decode($keystone->call('POST', "/users/$user{ann}/application_credentials", { application_credential => { name => 'c',
    access_rules => [{ path => "$path/v1", method => 'GET', service => 'tenancy' }] } }, 'X-Auth-Token' => $token{ann})->{content})->{application_credential};
my $ruled = $keystone->call('POST', '/auth/tokens', { auth => { identity => { methods => ['application_credential'],
    application_credential => { id => $credential->{id}, secret => $credential->{secret} } } } })->{headers}{'x-subject-token'};
is ask($ruled, "$path/v1"), 200, 'an application credential for what its rule names';
is ask($ruled, $path), 401, '... and for nothing else';

is $keystone->call('DELETE', '/auth/tokens', undef, 'X-Subject-Token' => $token{rita})->{status}, 204, 'revoked';
ok Tenure::Instance::wait_until(sub { ask($token{rita}, $path) == 401 }), 'a revoked token is refused when the cache time is over';
is $keystone->call('DELETE', "/projects/$project{red}/users/$user{ann}/roles/" . $keystone->id('role', 'admin'))->{status}, 204, 'the only role taken away';
ok Tenure::Instance::wait_until(sub { ask($token{ann}, $path) == 401 }), '... so the token is refused then';

$keystone->stop;
is ask($token{ann} . 'x', $path), 503, 'while it is away, a token that is not cached';
$keystone->serve;
ok Tenure::Instance::wait_until(sub { ask($token{ann} . 'x', $path) == 401 }, 180), 'and when it is back';
done_testing();
