#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A request that exceeds its budget at its first step of work, at the next, and so on until it gets through, in all dialects:
# each is answered 413 or 422, has no effect, and the worker and its connection go on. With sanitizers this shows that
# nothing leaks and nothing is used that was dropped.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;

# Steps between two faults. TENURE_LONG takes each; else a prime, so that each run of the same request meets others.
my $step = $ENV{TENURE_LONG} ? 1 : 7;
my @starting = (workers => 1, combined => 1, placement => 1, auth => 'noauth');
my $instance = Tenure::Instance->start(@starting, faults => { TENURE_BUDGET_FAULT => $step });
my $operator = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my $encode   = JSON::PP->new->utf8->canonical->allow_nonref;
my $table    = 'application/json;as=Table;v=v1;g=meta.k8s.io';
my $most     = 20_000;

# Sends the request until it is not refused for its budget. What it answers then, and how often it was refused.
sub until_through {
    my ($send) = @_;
    my %seen;
    for my $try (0 .. $most) {
        my $answer = $send->();
        return ($answer, $try, \%seen) unless $answer->status =~ /\A(?:413|422)\z/ && $answer->text =~ /than .* a request is granted|memory that|computing time that/;
        $seen{ $answer->status }++;
    }
    return (undef, $most, \%seen);
}

sub survives {
    my ($what, $status, $send) = @_;
    my ($answer, $refused) = until_through($send);
    ok defined $answer && $answer->status == $status, "$what: $status after $refused refusals" or diag defined $answer ? $answer->describe : 'never';
    cmp_ok $refused, '>', 0, "$what was refused at times";
    return $answer;
}

my $maps = '/v2.0/acme/namespaces/default/configmaps';
my $map  = { data => { map { ("k$_" => ['v' x 20, { a => [1, 2.5, undef] }]) } 1 .. 20 } };
my $core = '/api/v1/namespaces/default';
my $crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
my %ironic = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
my %latest = (headers => { 'OpenStack-API-Version' => 'placement 1.39' });

subtest 'tenancy' => sub {
    survives('PUT of a tenant', 201, sub { $operator->put('/v2.0/acme', json => { tenant => { metadata => { a => 'b' } } }) });
    survives('PUT of another', 201, sub { $operator->put('/v2.0/other', xml => '<tenant id="other" xmlns="http://docs.openstack.org/tenants/api/v2.0"/>') });
    survives('PUT', 201, sub { $acme->put("$maps/c1", json => $map) });
    my $etag = survives('GET', 200, sub { $acme->get("$maps/c1") })->header('etag');
    survives('GET as XML', 200, sub { $acme->get("$maps/c1", accept => 'application/xml') });
    survives('PUT of XML', 201, sub { $acme->put("$maps/c2", xml => '<map xmlns="http://www.w3.org/2005/xpath-functions"><map key="data"><string key="a">b</string><array key="l"><number>1</number><null/></array></map></map>') });
    my $changes = $instance->change_count;
    survives('stale PATCH', 412, sub { $acme->patch("$maps/c1", { data => { x => 1 } }, if_match => 'W/"' . '0' x 128 . '"') });
    is $instance->change_count, $changes, 'nothing was written';
    survives('PATCH', 200, sub { $acme->patch("$maps/c1", { data => { x => 1 } }, if_match => $etag) });
    is $instance->change_count, $changes + 1, 'once was written what got through once';
    survives('JSON Patch', 200, sub { $acme->request('PATCH', "$maps/c1", body => $encode->encode([{ op => 'copy', from => '/data/k1', path => '/data/k0' }, { op => 'move', from => '/data/k0', path => '/data/kk' }]), type => 'application/json-patch+json') });
    survives('a list', 200, sub { $acme->get($maps) });
    survives('the tenant', 200, sub { $acme->get('/v2.0/acme') });
    survives('changes', 200, sub { $operator->get('/v2.0/acme/changes') });
    survives('a move action', 200, sub { $operator->get('/v2.0/acme/action/move?dest=other') });
    survives('a move', 303, sub { $operator->post('/v2.0/acme/namespaces/default/configmaps/c2/action/move?dest=other') });
    survives('DELETE', 204, sub { $acme->delete("$maps/c1") });
    survives('recover', 204, sub { $acme->post("$maps/c1/action/recover") });
};

subtest 'spaces' => sub {
    survives('a definition', 201, sub { $acme->post($crds, json => { metadata => { name => 'ws.example.com' }, spec => { group => 'example.com', scope => 'Namespaced', names => { plural => 'ws', kind => 'W' },
        versions => [{ name => 'v1', served => JSON::PP::true, storage => JSON::PP::true, additionalPrinterColumns => [{ name => 'x', type => 'string', jsonPath => '.spec.x' }],
            schema => { openAPIV3Schema => { type => 'object', properties => { spec => { type => 'object', default => {}, properties => { x => { type => 'string', default => 'y', pattern => '^[a-z]+$' } } } } } } }] } }) });
    my $ws = '/apis/example.com/v1/namespaces/default/ws';
    survives('an object', 201, sub { $acme->post($ws, json => { metadata => { name => 'a', labels => { a => 'b' } } }) });
    survives('GET', 200, sub { $acme->get("$ws/a") });
    survives('a table', 200, sub { $acme->get("$ws?labelSelector=a%3Db", accept => $table) });
    survives('merge patch', 200, sub { $acme->patch("$ws/a", { spec => { x => 'z' } }) });
    survives('a pod', 201, sub { $acme->post("$core/pods", json => { metadata => { name => 'p' }, spec => { containers => [{ name => 'a', image => 'i' }] } }) });
    survives('strategic patch', 200, sub { $acme->request('PATCH', "$core/pods/p", body => '{"spec":{"containers":[{"name":"a","image":"j"}]}}', type => 'application/strategic-merge-patch+json') });
    survives('discovery', 200, sub { $acme->get('/apis/example.com/v1') });
    survives('openapi', 200, sub { $acme->get('/openapi/v2') });
    survives('a list of all', 200, sub { $operator->get('/api/v1/tenants/all/pods') });
    survives('DELETE', 200, sub { $acme->delete("$ws/a") });
};

subtest 'bare metal' => sub {
    my $node = survives('POST', 201, sub { $operator->post('/baremetal/v1/nodes', json => { driver => 'fake-hardware', name => 'n1', extra => { a => [1, 2] } }, %ironic) });
    my $path = '/baremetal/v1/nodes/' . $node->json->{uuid};
    survives('a port', 201, sub { $operator->post('/baremetal/v1/ports', json => { node_uuid => $node->json->{uuid}, address => '52:54:00:00:00:01' }, %ironic) });
    survives('GET', 200, sub { $operator->get($path, %ironic) });
    survives('PATCH', 200, sub { $operator->request('PATCH', $path, body => '[{"op":"add","path":"/extra/b","value":{}}]', type => 'application/json-patch+json', %ironic) });
    survives('a list', 200, sub { $operator->get('/baremetal/v1/nodes/detail', %ironic) });
    survives('DELETE', 204, sub { $operator->delete($path, %ironic) });
};

subtest 'placement' => sub {
    my $placement = $instance->placement;
    my $rp = survives('POST', 200, sub { $placement->post('/resource_providers', json => { name => 'rp1' }, %latest) });
    my $path = '/resource_providers/' . $rp->json->{uuid};
    survives('inventories', 200, sub { $placement->put("$path/inventories", json => { resource_provider_generation => 0, inventories => { VCPU => { total => 8 } } }, %latest) });
    survives('allocations', 204, sub { $placement->put('/allocations/00000000-0000-4000-8000-000000000001', json => { allocations => { $rp->json->{uuid} => { resources => { VCPU => 1 } } },
        project_id => 'p', user_id => 'u', consumer_generation => undef, consumer_type => 'INSTANCE' }, %latest) });
    survives('a list', 200, sub { $placement->get('/resource_providers?resources=VCPU:1', %latest) });
    survives('traits', 200, sub { $placement->get('/traits', %latest) });
};

subtest 'afterwards' => sub {
    my ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'the database is sound' or diag $text;
    is_deeply [$instance->bad_lines], [], 'nothing ended or leaked';
};

done_testing;
