#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The console's screens in a browser: for an operator on the admin endpoint, for a tenant's user on service, for a stranger. Names with
# markup in them are text everywhere. No script error and nothing that the page's policy had to stop.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Browser;
use Tenure::Definition qw(definition_of);
use Tenure::Instance;

Tenure::Browser::need();

# Operators open the page by another name than the public one, as through a tunnel.
my $instance = Tenure::Instance->start(workers => 3, settings => { 'tenure.session_idle' => 3600, 'endpoint admin.public_url' => 'http://registry.invalid' });
my $admin    = $instance->admin;
$admin->make_tenant($_) for qw(acme globex initech);
$admin->put('/v2.0/umbrella', json => { tenant => { tier => 'gold', metadata => { contact => 'Ida', city => "K\x{f6}ln" } } });
for my $i (1 .. 14) {
    $instance->service('ann:acme')->put("/v2.0/acme/namespaces/default/configmaps/web-$i", json => { data => { color => 'red', n => "$i" } });
}
my $ann = $instance->service('ann:acme');
$ann->put('/v2.0/acme/persistentvolumes/disk-1', json => { spec => { capacity => { storage => '5Gi' }, accessModes => ['ReadWriteOnce'], hostPath => { path => '/x' } } });
$ann->put('/v2.0/acme/namespaces/default/configmaps/app', json => { data => { color => 'blue', size => 'small', big => '9007199254740993' } });
$ann->delete('/v2.0/acme/namespaces/default/configmaps/web-14');
$admin->put('/v2.0/globex/namespaces/default/configmaps/web-3', json => { data => { color => 'green' } });

# What is an admin's to make and delete.
my ($definitions, $nodes) = map { "/v2.0/umbrella/$_" } 'customresourcedefinitions.apiextensions.k8s.io', 'nodes.baremetal.openstack.org';
my ($node, $lost) = map { "0000000$_-0000-4000-8000-000000000000" } 1, 2;
$admin->put("$definitions/$_.example.com", json => definition_of($_))->is_status(201) for qw(widgets gears);
$admin->put("$nodes/$_", json => { driver => 'fake-hardware' })->is_status(201) for $node, $lost;
$admin->delete("$definitions/gears.example.com")->is_status(204);
$admin->delete("$nodes/$lost")->is_status(204);
$admin->put('/v2.0/umbrella/namespaces/default/configmaps/plain', json => {})->is_status(201);
$admin->put('/v2.0/umbrella/namespaces/default/configmaps/lost', json => {})->is_status(201);
$admin->delete('/v2.0/umbrella/namespaces/default/configmaps/lost')->is_status(204);

# A node and its resource provider, which have one uid, as the services that use both give it.
my $both = '00000003-0000-4000-8000-000000000000';
$admin->put("/v2.0/system/nodes.baremetal.openstack.org/$both", json => { driver => 'fake-hardware' })->is_status(201);
$admin->post('/placement/resource_providers', headers => { 'OpenStack-API-Version' => 'placement 1.39' }, json => { name => 'rack3', uuid => $both })->is_status(200);

# The tenant's policy for types, which is an admin's, and its metadata, which are not.
my $chief = $instance->service('cleo:umbrella:admin');
$chief->patch('/api/v1/tenants/umbrella', { metadata => { annotations => { 'kubectl.kubernetes.io/last-applied-configuration' => '{}' } }, spec => { multiTenancyCRDPolicy => $_ } })
    ->is_status(200) for 'LocalCRDFirst', 'SystemCRDFirst';
$chief->patch('/api/v1/tenants/umbrella', { spec => { multiTenancyCRDPolicy => 'LocalCRDFirst' } })->is_status(200);
$admin->patch('/v2.0/umbrella', { tenant => { metadata => { floor => '7' } } })->is_status(200);

Tenure::Browser::play('screens', { url => $admin->url, service => $instance->service(undef)->url, origins => [ $instance->service(undef)->url ],
    operator => 'admin', user => 'ann:acme', reader => 'rita:acme:reader', member => 'mia:umbrella:member', chief => 'cleo:umbrella:admin', node => $node, both => $both, stranger => 'nobody' });
$instance->stop;
done_testing;
