#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A tenant goes to another installation, which has never heard of its types, traits, classes and consumer types.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;

my ($here, $there) = map { Tenure::Instance->start(combined => 1, workers => 1) } 1 .. 2;
my $file    = $here->dir . '/dump';
my %headers = ('X-OpenStack-Ironic-API-Version' => '1.82', 'OpenStack-API-Version' => 'placement 1.39');
my ($provider, $consumer) = ('11111111-1111-4111-8111-111111111111', '33333333-3333-4333-8333-333333333333');

sub made {
    my ($method, $path, $body) = @_;
    my $answer = $here->combined('admin')->request($method, $path, headers => {%headers}, defined $body ? (json => $body) : ());
    $answer->status =~ /\A(?:20[0-4]|303)\z/ or die $answer->describe . "\n";
    return $answer;
}
sub manage {
    my ($instance, $want, $name, @args) = @_;
    my ($code, $text) = $instance->manage(@args);
    is $code, $want, $name or diag $text;
    return $text;
}
sub definition {
    my ($group, %labels) = @_;
    return { apiVersion => 'apiextensions.k8s.io/v1', kind => 'CustomResourceDefinition', metadata => { name => "widgets.$group", labels => \%labels }, spec => { group => $group,
        scope => 'Namespaced', names => { plural => 'widgets', singular => 'widget', kind => 'Widget', listKind => 'WidgetList' }, versions => [ { name => 'v1',
        served => JSON::PP::true, storage => JSON::PP::true, schema => { openAPIV3Schema => { type => 'object', 'x-kubernetes-preserve-unknown-fields' => JSON::PP::true } } } ] } };
}

my $definitions = '/apis/apiextensions.k8s.io/v1/tenants/acme/customresourcedefinitions';
made(PUT => '/v2.0/acme', { tenant => { tier => 'gold' } });
made(POST => $definitions, definition('here.example'));
made(POST => '/apis/here.example/v1/tenants/acme/namespaces/default/widgets', { apiVersion => 'here.example/v1', kind => 'Widget', metadata => { name => 'w' }, size => 3 });
my $node = made(POST => '/baremetal/v1/nodes', { driver => 'fake-hardware', name => 'n1', owner => 'acme' })->json->{uuid};
made(PUT => "/baremetal/v1/nodes/$node/traits", { traits => ['CUSTOM_HERE'] });
made(PUT => '/placement/resource_classes/CUSTOM_CLASS');
made(POST => '/placement/resource_providers', { name => 'p', uuid => $provider });
made(PUT => "/placement/resource_providers/$provider/inventories", { resource_provider_generation => 0, inventories => { CUSTOM_CLASS => { total => 8 } } });
made(PUT => "/placement/allocations/$consumer", { allocations => { $provider => { resources => { CUSTOM_CLASS => 3 } } }, project_id => 'p', user_id => 'u',
    consumer_generation => undef, consumer_type => 'HERE' });
made(POST => "/v2.0/system/resourceproviders/$provider/action/move?dest=acme");

my @paths = ('/v2.0/acme', '/v2.0/acme/namespaces/default/widgets.here.example/w', '/apis/here.example/v1/tenants/acme/namespaces/default/widgets', $definitions,
    "/baremetal/v1/nodes/$node", "/baremetal/v1/nodes/$node/traits", map { "/placement/resource_providers/$provider/$_" } qw(inventories usages allocations));
sub answers {
    my ($instance) = @_;
    return { map {
        my $answer = $instance->combined('admin')->get($_, headers => {%headers});
        my $text = $answer->text =~ s/"(resourceVersion|etag|state)" *: *"[^"]*"/"$1":"-"/gr =~ s{"http://[^/"]+}{"http://HOST}gr;
        ($_ => $answer->status . " $text");
    } @paths };
}

my $before = answers($here);
is scalar(grep { /\A200 / } values %$before), scalar @paths, 'everything is there';
manage($here, 0, 'dump', 'dump', '--tenant', 'acme', $file);
my ($other) = $there->manage('tier', 'set', 'gold', '--description', 'of the other installation');
is $other, 0, 'its tiers differ';
like manage($there, 0, 'restore', 'restore', $file), qr/\Arestored \d+ resources\n\z/, 'says how many';
my $after = answers($there);
is $after->{$_}, $before->{$_}, $_ for @paths;
my ($code, $doctor) = $there->manage('doctor');
is $code, 0, 'doctor finds nothing wrong' or diag $doctor;

subtest 'what is missing there' => sub {
    made(PUT => '/v2.0/other', { tenant => {} });
    made(POST => '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition('shared.example', 'arktos.futurewei.com/crd-sharing-policy' => 'forced'));
    made(POST => '/apis/shared.example/v1/tenants/other/namespaces/default/widgets', { apiVersion => 'shared.example/v1', kind => 'Widget', metadata => { name => 'w' } });
    $here->manage(qw(tier set own --description x));
    $here->sql(q(UPDATE tenants SET tier_id = (SELECT id FROM tiers WHERE name = 'own') WHERE name = 'other'));
    manage($here, 0, 'dump', 'dump', '--tenant', 'other', "$file.2");
    my $told = manage($there, 65, 'restore', 'restore', "$file.2");
    like $told, qr/^there is no tier "own": `tenure-manage tier set` makes it$/m, 'a tier';
    like $told, qr/^no definition of widgets\.shared\.example is in the file, nor in the system space here$/m, 'a definition that the system space shared';
    is $there->sql_value(q(SELECT COUNT(*) FROM tenants WHERE name = 'other')), 0, 'nothing was restored';
};

done_testing;
