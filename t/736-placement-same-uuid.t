#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A node and its resource provider have the same uuid, as the services that use both give it: two resources, two trees.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $instance = Tenure::Instance->start(workers => 2);
my $admin    = $instance->admin;
$admin->make_tenant($_) for 'acme', 'globex';

my $uuid  = '40000000-0000-4000-8000-000000000001';
my $child = '40000000-0000-4000-8000-000000000002';
my $port  = '40000000-0000-4000-8000-000000000003';
my %at    = (headers => { 'OpenStack-API-Version' => 'placement 1.39' });
my %metal = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
my $nodes     = '/baremetal/v1/nodes';
my $providers = '/placement/resource_providers';

$admin->post($nodes, %metal, json => { driver => 'fake-hardware', uuid => $uuid, name => 'rack7' })->is_status(201, 'a node');
$admin->post('/baremetal/v1/ports', %metal, json => { node_uuid => $uuid, uuid => $port, address => '52:54:00:00:00:01' })
    ->is_status(201, 'with a port');
$admin->post($providers, %at, json => { name => 'rack7', uuid => $uuid })->is_status(200, 'its provider of the same uuid and name');
$admin->post($providers, %at, json => { name => 'numa0', uuid => $child, parent_provider_uuid => $uuid })
    ->is_status(200, 'with one under it');

my $node = $admin->get("/v2.0/system/nodes/$uuid")->json->{metadata};
my $own  = $admin->get("/v2.0/system/resourceproviders/$uuid")->json->{metadata};
is $node->{uid}, $own->{uid}, 'one uid';
isnt $node->{etag}, $own->{etag}, 'two resources';

sub homes {
    my %home;
    for my $what ("nodes/$uuid", "ports/$port", "resourceproviders/$uuid", "resourceproviders/$child") {
        for my $tenant ('system', 'acme', 'globex') {
            $home{$what} = $tenant if $admin->get("/v2.0/$tenant/$what")->status == 200;
        }
    }
    return [@home{ "nodes/$uuid", "ports/$port", "resourceproviders/$uuid", "resourceproviders/$child" }];
}

$admin->post("/v2.0/system/nodes/$uuid/action/move?dest=acme")->is_status(303, 'the node moves');
is_deeply homes(), [qw(acme acme system system)], 'with its port alone';
$admin->post("/v2.0/system/resourceproviders/$uuid/action/move?dest=globex")->is_status(303, 'the provider moves');
is_deeply homes(), [qw(acme acme globex globex)], 'with what is under it alone';

my $in_tree = $admin->get("$providers?in_tree=$uuid", %at)->json->{resource_providers};
is_deeply [sort map { $_->{uuid} } @$in_tree], [$uuid, $child], 'the tree has providers only';
is_deeply [map { $_->{uuid} } @{ $admin->get("$nodes/$uuid/ports", %metal)->json->{ports} }], [$port], 'and the node its port';

# State tags tell two resources of one uid apart: one change more here and one less there is another state.
$admin->post("/v2.0/acme/nodes/$uuid/action/move?dest=globex")->is_status(303, 'both in one tenant');
sub tag { return $admin->get('/v2.0/globex/action/move?dest=acme')->header('etag') }
my %tags;
for my $turn (1 .. 2) {
    $tags{ tag() }++;
    $admin->request('PATCH', "$nodes/$uuid", %metal, json => [{ op => 'add', path => '/extra/n', value => $turn }])->is_status(200, 'node');
    $tags{ tag() }++;
    $admin->put("$providers/$uuid", %at, json => { name => "name$turn" })->is_status(200, 'provider');
}
$tags{ tag() }++;
is scalar(keys %tags), 5, 'each state has a tag of its own';

$admin->delete("$nodes/$uuid", %metal)->is_status(204, 'the node goes');
is_deeply homes(), [undef, undef, 'globex', 'globex'], 'with its port alone';
$admin->get("$providers/$uuid", %at)->is_status(200, 'its provider stays');
$admin->post("/v2.0/globex/nodes/$uuid/action/recover")->is_status(204, 'and comes back');
is_deeply homes(), [qw(globex globex globex globex)], 'with its port';

my ($code, $text) = $instance->manage('doctor');
is $code, 0, 'the store is sound' or diag $text;

done_testing;
