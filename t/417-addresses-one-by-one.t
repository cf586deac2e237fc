#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Addresses of the tenancy and spaces dialects, one by one: which type and which space each means, for whom, with what status,
# text and header fields; and moves asked for at each.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;

my $instance = Tenure::Instance->start(combined => 1);
my %client   = (
    operator => $instance->combined('admin'),
    alice    => $instance->combined('alice:acme'),
    rita     => $instance->combined('rita:acme:reader'),
    bob      => $instance->combined('bob:globex'),
    nobody   => $instance->combined('nobody'),
);

sub crd {
    my ($plural, $kind, $scope, @versions) = @_;
    return { apiVersion => 'apiextensions.k8s.io/v1', kind => 'CustomResourceDefinition', metadata => { name => "$plural.example.com" },
        spec => { group => 'example.com', scope => $scope, names => { plural => $plural, kind => $kind }, versions => \@versions } };
}

sub version {
    my ($name, %more) = @_;
    return { name => $name, served => JSON::PP::true(), storage => JSON::PP::false(),
        schema => { openAPIV3Schema => { type => 'object', 'x-kubernetes-preserve-unknown-fields' => JSON::PP::true() } }, %more };
}

sub must { my ($answer, @what) = @_; $answer->status < 300 or die "@what: " . $answer->describe . "\n"; return $answer }

{
    my ($operator, $alice, $bob) = @client{qw(operator alice bob)};
    must($operator->put("/v2.0/$_", json => { tenant => {} }), $_) for qw(acme globex);
    my ($yes, $no) = (JSON::PP::true(), JSON::PP::false());
    must($alice->post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', json => crd('widgets', 'Widget', 'Namespaced',
        version('v1', storage => $yes, subresources => { status => {}, scale => { specReplicasPath => '.spec.r', statusReplicasPath => '.status.r' } }),
        version('v1beta1', deprecated => $yes, deprecationWarning => 'use "v1", not \\ this'),
        version('v1alpha1', deprecated => $yes), version('v0', served => $no))), 'widgets');
    must($alice->post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', json => crd('gizmos', 'Gizmo', 'Cluster', version('v1', storage => $yes))), 'gizmos');
    must($alice->post('/apis/example.com/v1/namespaces/default/widgets', json => { apiVersion => 'example.com/v1', kind => 'Widget', metadata => { name => 'w1' }, spec => { r => 1 } }), 'w1');
    must($alice->post('/apis/example.com/v1/gizmos', json => { apiVersion => 'example.com/v1', kind => 'Gizmo', metadata => { name => 'g1' } }), 'g1');
    for my $who ($alice, $bob) {
        must($who->post('/api/v1/namespaces', json => { metadata => { name => 'n1' } }), 'n1');
        must($who->post('/api/v1/namespaces/n1/configmaps', json => { metadata => { name => 'c1' } }), 'c1');
        must($who->post('/api/v1/persistentvolumes', json => { metadata => { name => 'pv1' }, spec => { capacity => { storage => '1Gi' },
            accessModes => ['ReadWriteOnce'], hostPath => { path => '/x' } } }), 'pv1');
    }
}

# "STATUS what it is: names or message | header fields that tell".
sub told {
    my ($who, $method, $path, @more) = @_;
    my %option = @more;
    my $answer = $client{$who}->request($method, $path, %option, headers => { Accept => 'application/json', %{ $option{headers} // {} } });
    my $json   = eval { $answer->json };
    my $text   = $answer->status;
    if (ref $json eq 'HASH') {
        $text .= " $json->{kind}" if $json->{kind};
        if ($json->{items}) { $text .= ' [' . join(' ', map { ($_->{metadata}{tenant} ? "$_->{metadata}{tenant}/" : '') . $_->{metadata}{name} } @{ $json->{items} }) . ']' }
        elsif (($json->{kind} // '') eq 'Status') { $text .= ": $json->{message}" }
        elsif ($json->{metadata} && $json->{metadata}{selfLink}) { $text .= " $json->{metadata}{selfLink}" }
        elsif (defined $json->{detail}) { $text .= ": $json->{detail}" }
        elsif ($json->{title}) { $text .= ": $json->{title}" }
        elsif ($path =~ m{/action/move}) { $text .= ' ' . JSON::PP->new->canonical->encode($json) =~ s/\b[0-9a-f]{128}\b/ETAG/gr =~ s/\b[0-9a-f]{40}\b/TAG/gr =~ s/"\d{4}-[^"]*Z"/"TIME"/gr }
        else { $text .= ' {' . join(' ', sort keys %$json) . '}' }
    }
    my $url = $instance->env('TENURE_COMBINED_URL');
    for my $name ('Location', 'Allow', 'Warning') {
        my $value = $answer->header($name);
        $text .= " | $name $value" =~ s/\Q$url\E//r if defined $value;
    }
    return $text =~ s/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/UUID/gr;
}

# A block: lines "WHO METHOD PATH", and behind "=" what is told.
sub table {
    my ($name, $text, @more) = @_;
    subtest $name => sub {
        my @lines = split /\n/, $text;
        while (@lines) {
            my ($who, $method, $path) = split ' ', shift @lines;
            my $want = @lines && $lines[0] =~ /\A    = / ? substr shift @lines, 6 : '';
            my $got  = told($who, $method, $path, @more);
            print STDERR "$who $method $path\n    = $got\n" if $ENV{RECORD};
            is $got, $want, "$who: $method $path" if !$ENV{RECORD};
        }
        ok 1, 'recorded' if $ENV{RECORD};
    };
    return;
}

table('whose space', <<'TABLE');
alice GET /api/v1/configmaps
    = 200 ConfigMapList [acme/c1]
bob GET /api/v1/configmaps
    = 200 ConfigMapList [globex/c1]
operator GET /api/v1/configmaps
    = 200 ConfigMapList []
nobody GET /api/v1/configmaps
    = 403 Status: configmaps is forbidden: User "nobody" cannot list resource "configmaps" in API group "": User "nobody" is of no tenant, and so has no space: name one in the path, tenants/NAME/
alice GET /api/v1/tenants/acme/configmaps
    = 200 ConfigMapList [acme/c1]
alice GET /api/v1/tenants/globex/configmaps
    = 403 Status: configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" of the tenant "globex"
alice GET /api/v1/tenants/none/configmaps
    = 403 Status: configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" of the tenant "none"
alice GET /api/v1/tenants/all/configmaps
    = 403 Status: configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" of the tenant "all"
alice GET /api/v1/tenants/system/configmaps
    = 403 Status: configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" of the tenant "system"
operator GET /api/v1/tenants/acme/configmaps
    = 200 ConfigMapList [acme/c1]
operator GET /api/v1/tenants/all/configmaps
    = 200 ConfigMapList [acme/c1 globex/c1]
operator GET /api/v1/tenants/all/namespaces/n1/configmaps
    = 200 ConfigMapList [acme/c1 globex/c1]
operator GET /api/v1/tenants/all/namespaces/n1/configmaps/c1
    = 400 Status: tenants/all lists; an object is in the space of one tenant
operator GET /api/v1/tenants/all/persistentvolumes/pv1
    = 400 Status: tenants/all lists; an object is in the space of one tenant
operator GET /api/v1/tenants/system/configmaps
    = 200 ConfigMapList []
operator GET /api/v1/tenants/none/configmaps
    = 200 ConfigMapList []
alice GET /api/v1/nodes
    = 403 Status: nodes is forbidden: User "alice" cannot list resource "nodes" in API group "": nodes belong to the system space alone
operator GET /api/v1/nodes
    = 200 NodeList []
operator GET /api/v1/tenants/acme/nodes
    = 403 Status: nodes is forbidden: User "admin" cannot list resource "nodes" in API group "" of the tenant "acme": nodes belong to the system space alone
operator GET /apis/apps/v1/tenants/acme/daemonsets
    = 403 Status: daemonsets.apps is forbidden: User "admin" cannot list resource "daemonsets" in API group "apps" of the tenant "acme": daemonsets belong to the system space alone
alice GET /apis/apps/v1/daemonsets
    = 403 Status: daemonsets.apps is forbidden: User "alice" cannot list resource "daemonsets" in API group "apps": daemonsets belong to the system space alone
TABLE

table('which type', <<'TABLE');
alice GET /api/v1/pods
    = 200 PodList []
alice GET /api/v2/pods
    = 404 Status: there is no such address; /application.wadl lists those there are
alice GET /api/v1/none
    = 404 Status: the server could not find the requested resource
alice GET /api/v1/Pods
    = 404 Status: plural in the address must be of the form [a-z]([-a-z0-9]*[a-z0-9])?
alice GET /apis/none/v1/pods
    = 404 Status: the server could not find the requested resource
alice GET /apis/example.com/v1/widgets
    = 200 WidgetList [acme/w1]
alice GET /apis/example.com/v1beta1/widgets
    = 200 WidgetList [acme/w1] | Warning 299 - "use \"v1\", not \\ this"
alice GET /apis/example.com/v1alpha1/widgets
    = 200 WidgetList [acme/w1] | Warning 299 - "example.com/v1alpha1 Widget is deprecated"
alice GET /apis/example.com/v0/widgets
    = 404 Status: the server could not find the requested resource
alice GET /apis/example.com/v3/widgets
    = 404 Status: the server could not find the requested resource
bob GET /apis/example.com/v1/widgets
    = 404 Status: the server could not find the requested resource
operator GET /apis/example.com/v1/tenants/acme/widgets
    = 200 WidgetList [acme/w1]
alice GET /apis/example.com/v1/namespaces/default/widgets
    = 200 WidgetList [acme/w1]
alice GET /apis/example.com/v1/namespaces/n1/widgets
    = 200 WidgetList []
alice GET /apis/example.com/v1/namespaces/none/widgets
    = 200 WidgetList []
alice GET /apis/example.com/v1/namespaces/default/widgets/w1
    = 200 Widget /apis/example.com/v1/tenants/acme/namespaces/default/widgets/w1
alice GET /apis/example.com/v1/namespaces/default/widgets/w2
    = 404 Status: widgets.example.com "w2" not found
alice GET /apis/example.com/v1beta1/namespaces/default/widgets/w1
    = 200 Widget /apis/example.com/v1beta1/tenants/acme/namespaces/default/widgets/w1 | Warning 299 - "use \"v1\", not \\ this"
alice GET /apis/example.com/v1/widgets/w1
    = 404 Status: the server could not find the requested resource
alice GET /apis/example.com/v1/gizmos/g1
    = 200 Gizmo /apis/example.com/v1/tenants/acme/gizmos/g1
alice GET /apis/example.com/v1/namespaces/default/gizmos/g1
    = 404 Status: the server could not find the requested resource
alice GET /apis/example.com/v1/namespaces/default/gizmos
    = 404 Status: the server could not find the requested resource
alice GET /api/v1/namespaces/n1
    = 200 Namespace /api/v1/tenants/acme/namespaces/n1
alice GET /api/v1/namespaces/n1/namespaces
    = 404 Status: the server could not find the requested resource
alice GET /api/v1/namespaces/n1/persistentvolumes
    = 404 Status: the server could not find the requested resource
alice GET /api/v1/persistentvolumes/pv1
    = 200 PersistentVolume /api/v1/tenants/acme/persistentvolumes/pv1
alice GET /api/v1/configmaps/c1
    = 404 Status: the server could not find the requested resource
alice GET /api/v1/namespaces/n1/configmaps/c1
    = 200 ConfigMap /api/v1/tenants/acme/namespaces/n1/configmaps/c1
alice GET /api/v1/namespaces/n1/events
    = 200 EventList []
alice GET /api/v1/namespaces/n1/events/e1
    = 404 Status: events "e1" not found
TABLE

table('parts', <<'TABLE');
alice GET /api/v1/namespaces/n1/status
    = 200 Namespace /api/v1/tenants/acme/namespaces/n1
alice GET /api/v1/namespaces/n1/finalize
    = 405 Status: finalize takes PUT alone
alice GET /api/v1/namespaces/none/status
    = 404 Status: namespaces "none" not found
alice DELETE /api/v1/namespaces/n1/status
    = 405 Status: the server does not allow this method on the requested resource
alice GET /api/v1/tenants/acme/status
    = 200 Tenant /api/v1/tenants/acme
alice GET /api/v1/tenants/globex/status
    = 403 Status: status is forbidden: User "alice" cannot list resource "status" in API group "" of the tenant "globex"
alice GET /api/v1/status
    = 404 Status: the server could not find the requested resource
alice GET /api/v1/namespaces/n1/configmaps/c1/status
    = 404 Status: the server could not find the requested resource
alice GET /api/v1/persistentvolumes/pv1/status
    = 200 PersistentVolume /api/v1/tenants/acme/persistentvolumes/pv1
alice GET /api/v1/persistentvolumes/pv1/scale
    = 404 Status: the server could not find the requested resource
alice GET /api/v1/persistentvolumes/pv1/finalize
    = 404 Status: the server could not find the requested resource
alice GET /api/v1/persistentvolumes/pv1/other
    = 404 Status: subresource in the address must be status, scale or finalize
alice GET /apis/example.com/v1/namespaces/default/widgets/w1/status
    = 200 Widget /apis/example.com/v1/tenants/acme/namespaces/default/widgets/w1
alice GET /apis/example.com/v1/namespaces/default/widgets/w1/scale
    = 200 Scale /apis/example.com/v1/tenants/acme/namespaces/default/widgets/w1/scale
alice GET /apis/example.com/v1beta1/namespaces/default/widgets/w1/status
    = 404 Status: the server could not find the requested resource
alice GET /apis/example.com/v1beta1/namespaces/default/widgets/w1/scale
    = 404 Status: the server could not find the requested resource
alice GET /apis/example.com/v1/gizmos/g1/status
    = 404 Status: the server could not find the requested resource
alice GET /apis/example.com/v1/status
    = 404 Status: the server could not find the requested resource
alice GET /apis/example.com/v1/namespaces/default/status
    = 404 Status: the server could not find the requested resource
alice DELETE /apis/example.com/v1/namespaces/default/widgets/w1/status
    = 405 Status: this address takes GET, HEAD, PUT, PATCH, OPTIONS | Allow GET, HEAD, PUT, PATCH, OPTIONS
alice DELETE /apis/example.com/v1/namespaces/default/widgets/w1/scale
    = 405 Status: this address takes GET, HEAD, PUT, PATCH, OPTIONS | Allow GET, HEAD, PUT, PATCH, OPTIONS
TABLE

table('verbs', <<'TABLE');
alice DELETE /api/v1/namespaces
    = 405 Status: the server does not allow this method on the requested resource
alice DELETE /api/v1/tenants
    = 405 Status: the server does not allow this method on the requested resource
alice DELETE /api/v1/events
    = 405 Status: the server does not allow this method on the requested resource
alice DELETE /api/v1/namespaces/n1/events/e1
    = 405 Status: the server does not allow this method on the requested resource
rita DELETE /api/v1/namespaces/n1/configmaps/c1
    = 403 Status: configmaps "c1" is forbidden: User "rita" cannot delete resource "configmaps" in API group "" in the namespace "n1": this needs the role member
rita GET /api/v1/namespaces/n1/configmaps/c1
    = 200 ConfigMap /api/v1/tenants/acme/namespaces/n1/configmaps/c1
operator DELETE /api/v1/tenants
    = 405 Status: the server does not allow this method on the requested resource
alice DELETE /api/v1/tenants/acme
    = 403 Status: tenants "acme" is forbidden: User "alice" cannot delete resource "tenants" in API group "": this is the operator's
bob DELETE /api/v1/tenants/acme/namespaces/n1/configmaps/c1
    = 403 Status: configmaps "c1" is forbidden: User "bob" cannot delete resource "configmaps" in API group "" in the namespace "n1" of the tenant "acme"
TABLE

table('the tenancy dialect', <<'TABLE');
alice GET /v2.0/acme
    = 200 {tenant}
alice GET /v1.0/acme
    = 200 {account}
bob GET /v2.0/acme
    = 404: there is nothing at this address that you may see
alice GET /v2.0/acme/persistentvolumes/pv1
    = 200 /v2.0/acme/persistentvolumes/pv1
alice GET /v1.0/acme/persistentvolumes/pv1
    = 200 /v1.0/acme/persistentvolumes/pv1
alice GET /v2.0/acme/persistentvolumes/none
    = 404: there is no persistentvolumes/none
alice GET /v2.0/acme/configmaps
    = 200 {resources}
alice GET /v2.0/acme/configmaps/c1
    = 404: configmaps stand in a namespace: put "namespaces/" and its name, such as "default", in front
alice GET /v2.0/acme/namespaces/n1/configmaps
    = 200 {resources}
alice GET /v2.0/acme/namespaces/n1/configmaps/c1
    = 200 /v2.0/acme/namespaces/n1/configmaps/c1
alice GET /v2.0/acme/namespaces/none/configmaps
    = 404: there is no namespace "none": make it first, by PUT of namespaces/none
alice GET /v2.0/acme/namespaces/none/configmaps/c1
    = 404: there is no namespaces/none/configmaps/c1
alice GET /v2.0/acme/namespaces/n1/persistentvolumes
    = 404: persistentvolumes stand in no namespace: leave out "namespaces/n1/"
alice GET /v2.0/acme/namespaces/n1/persistentvolumes/pv1
    = 404: persistentvolumes stand in no namespace: leave out "namespaces/n1/"
alice GET /v2.0/acme/namespaces
    = 200 {resources}
alice GET /v2.0/acme/namespaces/n1
    = 200 /v2.0/acme/namespaces/n1
alice GET /v2.0/acme/none
    = 404: there is no type of resource called "none"
alice GET /v2.0/acme/none/x
    = 404: there is no type of resource called "none"
alice GET /v2.0/acme/widgets
    = 200 {resources}
alice GET /v2.0/acme/widgets.example.com
    = 200 {resources}
alice GET /v2.0/acme/namespaces/default/widgets.example.com/w1
    = 200 /v2.0/acme/namespaces/default/widgets.example.com/w1
alice GET /v2.0/acme/namespaces/default/widgets/w1
    = 200 /v2.0/acme/namespaces/default/widgets.example.com/w1
alice GET /v2.0/acme/gizmos/g1
    = 200 /v2.0/acme/gizmos.example.com/g1
alice GET /v2.0/acme/gizmos.example.com/g1
    = 200 /v2.0/acme/gizmos.example.com/g1
alice GET /v2.0/acme/namespaces/default/gizmos/g1
    = 404: gizmos stand in no namespace: leave out "namespaces/default/"
bob GET /v2.0/globex/widgets
    = 404: there is no type of resource called "widgets"
bob GET /v2.0/globex/widgets.example.com
    = 404: there is no type of resource called "widgets.example.com"
alice GET /v2.0/acme/nodes.core
    = 404: there is no type of resource called "nodes"
alice GET /v2.0/acme/tenants
    = 404: there is no type of resource called "tenants"
alice GET /v2.0/acme/events
    = 404: there is no type of resource called "events"
TABLE

table('actions of moves', <<'TABLE');
operator GET /v2.0/acme/persistentvolumes/pv1/action/move?dest=globex
    = 200 {"move":{"blockers":[{"detail":"the destination has a resource of that name; rename, move or delete one of them","reason":"name-taken","resource":"persistentvolumes/pv1"}],"counts":[{"resources":1,"tenant":"acme","type":"configmaps"},{"resources":2,"tenant":"acme","type":"customresourcedefinitions"},{"resources":1,"tenant":"acme","type":"gizmos.example.com"},{"resources":1,"tenant":"acme","type":"namespaces"},{"resources":1,"tenant":"acme","type":"persistentvolumes"},{"resources":1,"tenant":"acme","type":"widgets.example.com"},{"resources":1,"tenant":"globex","type":"configmaps"},{"resources":1,"tenant":"globex","type":"namespaces"},{"resources":1,"tenant":"globex","type":"persistentvolumes"}],"dest":"globex","resources":[{"id":"persistentvolumes/pv1","tag":"TAG","uid":"UUID"}],"tenants":[{"created_at":"TIME","etag":"W/ETAG","id":"acme","metadata":{},"resources":7,"state":"active","tier":"standard","updated_at":"TIME"},{"created_at":"TIME","etag":"W/ETAG","id":"globex","metadata":{},"resources":3,"state":"active","tier":"standard","updated_at":"TIME"}]}}
operator GET /v2.0/acme/persistentvolumes/none/action/move?dest=globex
    = 404: there is no persistentvolumes/none
operator GET /v2.0/acme/persistentvolumes/pv1/action/move?dest=acme
    = 409: source and destination are the same tenant: name another one in dest
operator GET /v2.0/acme/persistentvolumes/pv1/action/move?dest=none
    = 404: there is no destination tenant "none"
operator GET /v2.0/acme/persistentvolumes/pv1/action/move
    = 400: parameter dest is missing
operator GET /v2.0/acme/namespaces/n1/configmaps/c1/action/move?dest=globex
    = 200 {"move":{"blockers":[{"detail":"the destination has a resource of that name; rename, move or delete one of them","reason":"name-taken","resource":"namespaces/n1/configmaps/c1"}],"counts":[{"resources":1,"tenant":"acme","type":"configmaps"},{"resources":2,"tenant":"acme","type":"customresourcedefinitions"},{"resources":1,"tenant":"acme","type":"gizmos.example.com"},{"resources":1,"tenant":"acme","type":"namespaces"},{"resources":1,"tenant":"acme","type":"persistentvolumes"},{"resources":1,"tenant":"acme","type":"widgets.example.com"},{"resources":1,"tenant":"globex","type":"configmaps"},{"resources":1,"tenant":"globex","type":"namespaces"},{"resources":1,"tenant":"globex","type":"persistentvolumes"}],"dest":"globex","resources":[{"id":"namespaces/n1/configmaps/c1","tag":"TAG","uid":"UUID"}],"tenants":[{"created_at":"TIME","etag":"W/ETAG","id":"acme","metadata":{},"resources":7,"state":"active","tier":"standard","updated_at":"TIME"},{"created_at":"TIME","etag":"W/ETAG","id":"globex","metadata":{},"resources":3,"state":"active","tier":"standard","updated_at":"TIME"}]}}
operator GET /v2.0/acme/namespaces/n1/action/move?dest=globex
    = 200 {"move":{"blockers":[{"detail":"the destination has a resource of that name; rename, move or delete one of them","reason":"name-taken","resource":"namespaces/n1/configmaps/c1"}],"counts":[{"resources":1,"tenant":"acme","type":"configmaps"},{"resources":2,"tenant":"acme","type":"customresourcedefinitions"},{"resources":1,"tenant":"acme","type":"gizmos.example.com"},{"resources":1,"tenant":"acme","type":"namespaces"},{"resources":1,"tenant":"acme","type":"persistentvolumes"},{"resources":1,"tenant":"acme","type":"widgets.example.com"},{"resources":1,"tenant":"globex","type":"configmaps"},{"resources":1,"tenant":"globex","type":"namespaces"},{"resources":1,"tenant":"globex","type":"persistentvolumes"}],"dest":"globex","resources":[{"id":"namespaces/n1","tag":"TAG","uid":"UUID"},{"id":"namespaces/n1/configmaps/c1","tag":"TAG","uid":"UUID"}],"tenants":[{"created_at":"TIME","etag":"W/ETAG","id":"acme","metadata":{},"resources":7,"state":"active","tier":"standard","updated_at":"TIME"},{"created_at":"TIME","etag":"W/ETAG","id":"globex","metadata":{},"resources":3,"state":"active","tier":"standard","updated_at":"TIME"}]}}
operator GET /v2.0/acme/configmaps/c1/action/move?dest=globex
    = 404: configmaps stand in a namespace: put "namespaces/" and its name, such as "default", in front
operator GET /v2.0/acme/action/move?dest=globex
    = 200 {"move":{"blockers":[{"detail":"the destination has a resource of that name; rename, move or delete one of them","reason":"name-taken","resource":"persistentvolumes/pv1"},{"detail":"the destination has a resource of that name; rename, move or delete one of them","reason":"name-taken","resource":"namespaces/n1/configmaps/c1"}],"counts":[{"resources":1,"tenant":"acme","type":"configmaps"},{"resources":2,"tenant":"acme","type":"customresourcedefinitions"},{"resources":1,"tenant":"acme","type":"gizmos.example.com"},{"resources":1,"tenant":"acme","type":"namespaces"},{"resources":1,"tenant":"acme","type":"persistentvolumes"},{"resources":1,"tenant":"acme","type":"widgets.example.com"},{"resources":1,"tenant":"globex","type":"configmaps"},{"resources":1,"tenant":"globex","type":"namespaces"},{"resources":1,"tenant":"globex","type":"persistentvolumes"}],"dest":"globex","resources":[{"id":"namespaces/n1","tag":"TAG","uid":"UUID"},{"id":"persistentvolumes/pv1","tag":"TAG","uid":"UUID"},{"id":"customresourcedefinitions/gizmos.example.com","tag":"TAG","uid":"UUID"},{"id":"customresourcedefinitions/widgets.example.com","tag":"TAG","uid":"UUID"},{"id":"gizmos.example.com/g1","tag":"TAG","uid":"UUID"},{"id":"namespaces/default/widgets.example.com/w1","tag":"TAG","uid":"UUID"},{"id":"namespaces/n1/configmaps/c1","tag":"TAG","uid":"UUID"}],"tenants":[{"created_at":"TIME","etag":"W/ETAG","id":"acme","metadata":{},"resources":7,"state":"active","tier":"standard","updated_at":"TIME"},{"created_at":"TIME","etag":"W/ETAG","id":"globex","metadata":{},"resources":3,"state":"active","tier":"standard","updated_at":"TIME"}]}}
operator GET /v1.0/acme/action/move?dest=globex
    = 200 {"move":{"accounts":[{"created_at":"TIME","etag":"W/ETAG","id":"acme","metadata":{},"resources":7,"state":"active","tier":"standard","updated_at":"TIME"},{"created_at":"TIME","etag":"W/ETAG","id":"globex","metadata":{},"resources":3,"state":"active","tier":"standard","updated_at":"TIME"}],"blockers":[{"detail":"the destination has a resource of that name; rename, move or delete one of them","reason":"name-taken","resource":"persistentvolumes/pv1"},{"detail":"the destination has a resource of that name; rename, move or delete one of them","reason":"name-taken","resource":"namespaces/n1/configmaps/c1"}],"counts":[{"account":"acme","resources":1,"type":"configmaps"},{"account":"acme","resources":2,"type":"customresourcedefinitions"},{"account":"acme","resources":1,"type":"gizmos.example.com"},{"account":"acme","resources":1,"type":"namespaces"},{"account":"acme","resources":1,"type":"persistentvolumes"},{"account":"acme","resources":1,"type":"widgets.example.com"},{"account":"globex","resources":1,"type":"configmaps"},{"account":"globex","resources":1,"type":"namespaces"},{"account":"globex","resources":1,"type":"persistentvolumes"}],"dest":"globex","resources":[{"id":"namespaces/n1","tag":"TAG","uid":"UUID"},{"id":"persistentvolumes/pv1","tag":"TAG","uid":"UUID"},{"id":"customresourcedefinitions/gizmos.example.com","tag":"TAG","uid":"UUID"},{"id":"customresourcedefinitions/widgets.example.com","tag":"TAG","uid":"UUID"},{"id":"gizmos.example.com/g1","tag":"TAG","uid":"UUID"},{"id":"namespaces/default/widgets.example.com/w1","tag":"TAG","uid":"UUID"},{"id":"namespaces/n1/configmaps/c1","tag":"TAG","uid":"UUID"}]}}
operator GET /v2.0/none/action/move?dest=globex
    = 404: there is no source tenant "none"
operator GET /v2.0/acme/none/x/action/move?dest=globex
    = 404: there is no type of resource called "none"
alice GET /v2.0/acme/persistentvolumes/pv1/action/move?dest=globex
    = 403: this needs the role operator
bob GET /v2.0/acme/persistentvolumes/pv1/action/move?dest=globex
    = 403: this needs the role operator
operator POST /v2.0/acme/persistentvolumes/pv1/action/move?dest=globex
    = 409: nothing was moved: 1 thing stands in the way
operator DELETE /v2.0/globex/persistentvolumes/pv1
    = 204 {}
operator POST /v2.0/acme/persistentvolumes/pv1/action/move?dest=globex
    = 303 {} | Location /v2.0/globex/persistentvolumes/pv1
operator POST /v2.0/acme/persistentvolumes/pv1/action/move?dest=globex
    = 301 {} | Location /v2.0/globex/persistentvolumes/pv1/action/move?dest=globex
operator GET /v2.0/acme/persistentvolumes/pv1/action/move?dest=globex
    = 301 {} | Location /v2.0/globex/persistentvolumes/pv1/action/move?dest=globex
operator GET /v1.0/acme/persistentvolumes/pv1/action/move?dest=globex
    = 301 {} | Location /v1.0/globex/persistentvolumes/pv1/action/move?dest=globex
operator GET /v2.0/acme/persistentvolumes/pv1
    = 301 {} | Location /v2.0/globex/persistentvolumes/pv1
alice GET /v2.0/acme/persistentvolumes/pv1
    = 404: there is no persistentvolumes/pv1
bob GET /v2.0/globex/persistentvolumes/pv1
    = 200 /v2.0/globex/persistentvolumes/pv1
operator POST /v1.0/globex/persistentvolumes/pv1/action/move?dest=acme
    = 303 {} | Location /v1.0/acme/persistentvolumes/pv1
operator GET /v2.0/acme/moves/none
    = 404: there is no type of resource called "moves"
operator GET /v2.0/acme/moves/11111111-1111-4111-8111-111111111111
    = 404: there is no such move of tenant "acme"
TABLE

table('moves in the background', <<'TABLE', headers => { Prefer => 'respond-async' });
operator POST /v2.0/acme/persistentvolumes/pv1/action/move?dest=globex
    = 202 {} | Location /v2.0/acme/moves/UUID
TABLE

# The move holds both tenants until it is done.
ok Tenure::Instance::wait_until(sub { $client{operator}->get('/v2.0/globex/persistentvolumes/pv1')->status == 200 }), 'it arrives';

table('a move in the background that is refused at once', <<'TABLE', headers => { Prefer => 'respond-async' });
operator POST /v2.0/globex/action/move?dest=none
    = 404: there is no destination tenant "none"
TABLE

table('moves of all, briefly', <<'TABLE', headers => { Prefer => 'return=minimal' });
operator POST /v2.0/globex/action/move?dest=acme
    = 409: nothing was moved: 1 thing stands in the way
operator DELETE /v2.0/globex/namespaces/n1/configmaps/c1
    = 204 {}
operator POST /v2.0/globex/action/move?dest=acme
    = 204 {}
TABLE

# What is left of a type that is defined no more is reached in the tenancy dialect, by the type's full name.
must($client{alice}->delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/$_.example.com"), "$_ go") for qw(widgets gizmos);

table('types that nobody defines', <<'TABLE');
alice GET /v2.0/acme/widgets.example.com
    = 200 {resources}
alice GET /v2.0/acme/namespaces/default/widgets.example.com
    = 200 {resources}
alice GET /v2.0/acme/namespaces/default/widgets.example.com/w1
    = 200 /v2.0/acme/namespaces/default/widgets.example.com/w1
alice GET /v2.0/acme/widgets.example.com/w1
    = 404: there is no type of resource called "widgets.example.com"
alice GET /v2.0/acme/gizmos.example.com
    = 200 {resources}
alice GET /v2.0/acme/gizmos.example.com/g1
    = 200 /v2.0/acme/gizmos.example.com/g1
alice GET /v2.0/acme/namespaces/default/gizmos.example.com/g1
    = 404: there is no type of resource called "gizmos.example.com"
alice GET /v2.0/acme/namespaces/default/gizmos.example.com
    = 404: there is no type of resource called "gizmos.example.com"
alice GET /v2.0/acme/widgets
    = 404: there is no type of resource called "widgets"
TABLE

done_testing;
