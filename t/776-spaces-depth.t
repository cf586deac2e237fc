#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# MariaDB's JSON functions read 32 levels. What is stored as deep as it may be, in each place that a statement searches, doesn't
# vanish from lists, filters, decisions and doctor; what is deeper is refused.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Definition qw(definition_of);
use Tenure::Instance;

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my $crds     = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

$admin->post('/api/v1/tenants', json => { metadata => { name => $_ } })->is_status(201) for 'acme', 'globex';

sub nest { my ($n) = @_; my $value = 'x'; $value = { d => $value } for 1 .. $n; return $value }

sub names { return join ' ', sort map { $_->{metadata}{name} } @{ $_[0]->json->{items} // [] } }

# The largest n, from that on, that is taken; what is one deeper is refused.
sub deepest {
    my ($what, $try, $from, $to) = @_;
    my $last;
    for my $n ($from .. $to) {
        my $answer = $try->($n);
        if ($answer->status >= 300) {
            like $answer->text, qr/nested|deep/, "$what: the refusal says why";
            return $last;
        }
        $last = $n;
    }
    return $last;
}

subtest 'a tenant' => sub {
    # An annotation that the tenancy dialect's metadata can't hold stands beside the spec.
    my $long = 'example.com/' . 'k' x 60;
    $admin->patch('/api/v1/tenants/acme', { metadata => { annotations => { $long => 'v' x 2000 } } })->is_status(200);
    my $n = deepest('spec', sub { $admin->patch('/api/v1/tenants/acme', { spec => { deep => undef } }); return $admin->patch('/api/v1/tenants/acme', { spec => { deep => nest($_[0]) } }) }, 20, 60);
    cmp_ok $n, '<', 31, "as deep as $n";
    $admin->patch('/api/v1/tenants/acme', { spec => { deep => nest($n) } })->is_status(200);
    $admin->post($crds, json => definition('shareds', 1, applicableRange => ["$long=" . 'v' x 2000]))->is_status(201);
    is $acme->get('/spaces/acme/types/shareds.example.com')->json->{answers}{tenant}, 'system', 'what is shared by the annotation is found';
    like names($admin->get('/api/v1/tenants')), qr/acme/, 'it is listed';
    is((grep { $_->{id} eq 'acme' } @{ $instance->admin->get('/v2.0')->json->{tenants} }), 1, 'in the tenancy dialect, too');
};

sub definition {
    my ($plural, $depth, %spec) = @_;
    my $schema = { type => 'string' };
    $schema = { type => 'object', properties => { d => $schema } } for 1 .. $depth;
    return definition_of($plural, kind => ucfirst $plural, schema => $schema, %spec);
}

subtest 'a definition' => sub {
    my $n = deepest('schema', sub { my $path = "$crds/deeps.example.com"; $acme->delete($path); return $acme->post($crds, json => definition('deeps', $_[0])) }, 10, 40);
    cmp_ok $n, '>', 12, "as deep as $n: more levels than the database reads";
    $acme->post($crds, json => definition('deeps', $n))->is_status(201);
    is names($acme->get($crds)), 'deeps.example.com', 'is listed';
    my $other = definition('others', 1);
    $other->{spec}{names}{kind} = 'Deeps';
    $acme->post($crds, json => $other)->is_status(409, 'its names are known');
    $acme->post('/apis/example.com/v1/namespaces/default/deeps', json => { apiVersion => 'example.com/v1', kind => 'Deeps', metadata => { name => 'o' } })
        ->is_status(201, 'it defines');
    $instance->admin->post("/v2.0/acme/customresourcedefinitions.apiextensions.k8s.io/deeps.example.com/action/move?dest=globex", body => '')
        ->is_status(303, 'it moves');
    is names($instance->combined('bob:globex')->get($crds)), 'deeps.example.com', 'and is listed there';
};

subtest 'objects' => sub {
    my $cms = '/apis/example.com/v1/namespaces/default/freely';
    my $any = definition('freely', 1);
    $any->{spec}{versions}[0]{schema}{openAPIV3Schema} = { type => 'object', 'x-kubernetes-preserve-unknown-fields' => JSON::PP::true };
    $acme->post($crds, json => $any)->is_status(201);
    my $make = sub { $acme->delete("$cms/o"); return $acme->post($cms, json => { apiVersion => 'example.com/v1', kind => 'Freely', metadata => { name => 'o', labels => { a => 'b' } }, spec => nest($_[0]) }) };
    my $n = deepest('object', $make, 25, 60);
    $make->($n)->is_status(201, "as deep as $n");
    is names($acme->get("$cms?labelSelector=a%3Db")), 'o', 'is found by a selector';
    my $node = sub { return $instance->admin->post('/baremetal/v1/nodes', headers => { 'X-OpenStack-Ironic-API-Version' => '1.78' },
        json => { driver => 'fake-hardware', name => "n$_[0]", extra => nest($_[0]) }) };
    $n = deepest('node', $node, 25, 60);
    for my $query ('driver=fake-hardware', 'sort_key=name') {
        my $list = $instance->admin->get("/baremetal/v1/nodes?$query", headers => { 'X-OpenStack-Ironic-API-Version' => '1.78' })->json->{nodes};
        ok +(grep { $_->{name} eq "n$n" } @$list), "a node as deep as $n is listed by $query";
    }
};

my ($code, $text) = $instance->manage('doctor');
is $code, 0, 'doctor finds everything as it should be' or diag $text;

# What an earlier release took, which had no such limit, in the order that a client chose.
subtest 'an earlier release' => sub {
    my @metal = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.78' });
    my ($long, $value) = ('example.com/' . 'k' x 60, 'v' x 2000);
    my $deep  = '{"d":' x 40 . '1' . '}' x 40;
    $instance->admin->post('/baremetal/v1/nodes', @metal, json => { driver => 'fake-hardware', name => 'old', resource_class => 'gold' })->is_status(201);
    $instance->sql(qq~UPDATE resources SET body = CONCAT('{"extra":{"x":$deep},', SUBSTR(REPLACE(body, '"extra":{},', ''), 2)) WHERE body LIKE '%"old"%'~);
    $instance->sql(qq~UPDATE tenants SET object = '{"spec":{"x":$deep},"annotations":{"$long":"$value"}}' WHERE name = 'globex'~);
    my $uid = $instance->sql_value(q(SELECT LOWER(HEX(uid)) FROM tenants WHERE name = 'globex')) =~ s/(.{8})(.{4})(.{4})(.{4})/$1-$2-$3-$4-/r;
    my $nodes = sub { return grep { $_->{name} eq 'old' } @{ $instance->admin->get("/baremetal/v1/nodes?$_[0]", @metal)->json->{nodes} } };
    my $shared = sub { return $instance->combined('bob:globex')->get('/spaces/globex/types/shareds.example.com')->json->{answers}{tenant} // '' };
    ok !$nodes->('resource_class=gold'), 'a node vanished from lists with a filter';
    isnt $shared->(), 'system', 'and a type from a tenant that shares it';
    ($code, $text) = $instance->manage('doctor');
    is $code, 1, 'doctor finds both';
    my ($node) = $text =~ /^what the database searches stands before what is nested too deep for it +1 +0 +resource ([0-9a-f-]{36})$/m;
    ok defined $node, 'the node' or diag $text;
    like $text, qr/^what the database searches in a Tenant object stands before what is nested too deep +1 +0 +tenant \Q$uid\E$/m, 'and the tenant, by name';
    ($code, $text) = $instance->manage('doctor', '--fix');
    is $code, 0, 'and mends them' or diag $text;
    ok $nodes->($_), "the node is listed by $_" for 'resource_class=gold', 'driver=fake-hardware', 'sort_key=resource_class';
    my $extra = $instance->admin->get("/baremetal/v1/nodes/$node", @metal)->json->{extra}{x};
    is $instance->admin->get("/baremetal/v1/nodes/$node", @metal)->json->{resource_class}, 'gold', 'all of it is there';
    my $depth = 0;
    $extra = $extra->{d}, $depth++ while ref $extra;
    is $depth, 40, 'what is deep, too';
    ok Tenure::Instance::wait_until(sub { $shared->() eq 'system' }, 70), 'the type is there';
    ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'doctor finds nothing more' or diag $text;
    $admin->patch('/api/v1/tenants/globex', { metadata => { labels => { a => 'b' } } })->is_status(200, 'the tenant can still be changed');
};

done_testing;
