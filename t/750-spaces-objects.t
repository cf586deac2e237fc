#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Objects in the spaces of tenants: discovery, addresses, every verb, Status errors; the same objects in the tenancy dialect.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Metal;
use Tenure::Parallel;

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my $globex   = $instance->combined('bob:globex');
my $reader   = $instance->combined('rita:acme:reader');
my $member   = $instance->combined('mike:acme:member');
my $cms      = '/api/v1/namespaces/default/configmaps';

sub config_map {
    my ($name, %more) = @_;
    return { apiVersion => 'v1', kind => 'ConfigMap', metadata => { name => $name, %{ delete $more{metadata} // {} } }, %more };
}

sub names { return join ' ', map { $_->{metadata}{name} } @{ $_[0]->json->{items} // [] } }

subtest 'tenants are objects' => sub {
    for my $name (qw(acme globex)) {
        my $answer = $admin->post('/api/v1/tenants', json => { apiVersion => 'v1', kind => 'Tenant', metadata => { name => $name } });
        $answer->is_status(201, "tenant $name");
        is $answer->json->{status}{phase}, 'Active', 'is active';
        is $answer->json->{metadata}{selfLink}, "/api/v1/tenants/$name", 'has a full path';
    }
    is names($acme->get('/api/v1/namespaces')), 'default', 'its space has a namespace';
    $admin->get('/v2.0/acme')->is_status(200, 'it is a tenant of the tenancy dialect');
    $admin->post('/api/v1/tenants', json => { metadata => { name => 'acme' } })->is_failure(409, 'AlreadyExists',
        qr/tenants "acme" already exists/, 'one of that name');
    is names($admin->get('/api/v1/tenants')), 'acme globex system', 'the operator lists them';
    is names($acme->get('/api/v1/tenants')), 'acme', 'a tenant sees its own';
    $acme->get("/api/v1/tenants/$_")->is_failure(403, 'Forbidden', qr/cannot get resource "tenants"/, "and not $_") for qw(globex nobody);
    $acme->post('/api/v1/tenants', json => { metadata => { name => 'x' } })->is_failure(403, 'Forbidden', qr/User "alice"/, 'nor makes any');
    $acme->delete('/api/v1/tenants/acme')->is_failure(403, 'Forbidden', qr/cannot delete/, 'nor deletes its own');
    $acme->patch('/api/v1/tenants/acme', { spec => { multiTenancyCRDPolicy => 'SystemCRDFirst' } })->is_status(200, 'it sets its policy');
    $acme->patch('/api/v1/tenants/acme', { metadata => { annotations => { tier => 'gold' } } })->is_failure(403, 'Forbidden',
        qr/multiTenancyCRDPolicy alone/, 'and not what decides on what it may use');
    $member->patch('/api/v1/tenants/acme', { spec => { multiTenancyCRDPolicy => 'LocalCRDFirst' } })->is_failure(403, 'Forbidden',
        qr/role admin/, 'its members do not');
    my $answer = $admin->patch('/api/v1/tenants/acme', { metadata => { labels => { l => '1' }, annotations => { tier => 'gold', 'x.y/z' => 'w' } } });
    is_deeply $answer->json->{metadata}{annotations}, { tier => 'gold', 'x.y/z' => 'w' }, 'the operator annotates it';
    is_deeply $admin->get('/v2.0/acme')->json->{tenant}{metadata}, { tier => 'gold' }, 'which is its metadata, as far as that can be';
    is names($admin->get('/api/v1/tenants?labelSelector=l%3D1')), 'acme', 'labels select';
    $admin->put('/v2.0/acme', json => { tenant => { metadata => { tier => 'gold', _owner => 'x' } } })->is_status(202, 'metadata with a name that is none of an annotation');
    $acme->patch('/api/v1/tenants/acme', { spec => { multiTenancyCRDPolicy => 'LocalCRDFirst' } })->is_status(200, 'does not hinder its policy');
    $admin->patch('/api/v1/tenants/acme', { metadata => { labels => { m => '1' }, annotations => { n => '1' } } })->is_status(200, 'nor labels and annotations');
    $admin->patch('/api/v1/tenants/acme', { metadata => { annotations => { _other => '1' } } })->is_failure(422, 'Invalid', qr/_other/, 'a new one must be right');
    # What metadata can't hold is elsewhere, and must not hide what it gets later.
    my $annotated = sub { return $globex->get('/api/v1/tenants/globex')->json->{metadata}{annotations} };
    my %hidden = (Region => 'eu', region => 'us', long => 'x' x 3000);
    $admin->patch('/api/v1/tenants/globex', { metadata => { annotations => \%hidden } })->is_status(200, 'annotations that metadata cannot hold');
    is_deeply $annotated->(), \%hidden, 'are kept';
    my %written = (region => 'de', long => 'short');
    $admin->put('/v2.0/globex', json => { tenant => { metadata => \%written } })->is_status(202, 'metadata of such names');
    is_deeply $annotated->(), \%written, 'is what counts';
    $admin->patch('/api/v1/tenants/globex', { metadata => { labels => { a => 'b' } } })->is_status(200, 'another member');
    is_deeply $admin->get('/v2.0/globex')->json->{tenant}{metadata}, \%written, 'changes nothing of it';
    $admin->patch('/api/v1/tenants/globex', { metadata => { annotations => { Region => 'eu', long => undef } } })->is_status(200, 'once more');
    $admin->put('/v2.0/globex', json => { tenant => { metadata => {} } })->is_status(202, 'now there is room in metadata');
    $globex->patch('/api/v1/tenants/globex', { spec => { multiTenancyCRDPolicy => 'LocalCRDFirst' } })->is_status(200, 'the tenant can set its policy');
    is_deeply $annotated->(), { region => 'de' }, 'by which its annotations stay as they are';
    $globex->patch('/api/v1/tenants/globex', { metadata => { annotations => { region => 'us' } } })->is_failure(403, 'Forbidden', qr/multiTenancyCRDPolicy alone/, 'and not change them');
    $admin->post('/api/v1/tenants', json => { metadata => { name => 'gone' } })->is_status(201, 'another');
    is $admin->delete('/api/v1/tenants/gone')->json->{status}, 'Success', 'goes';
    $admin->get('/v2.0/gone')->is_status(410, 'recoverably');
    $admin->get('/api/v1/tenants/gone')->is_failure(404, 'NotFound', qr/tenants "gone" not found/, 'and is not there');
};

subtest 'discovery' => sub {
    is $acme->get('/version', as => undef)->json->{major}, '1', 'the version is for everybody';
    $acme->get('/api', as => undef)->is_failure(401, 'Unauthorized', qr/./, 'nothing else is');
    $acme->get('/api/v9', as => undef)->is_failure(401, 'Unauthorized', qr/./, 'not even that something is not there');
    is_deeply $acme->get('/api')->json->{versions}, ['v1'], '/api';
    my %groups = map { $_->{name} => $_ } @{ $acme->get('/apis')->json->{groups} };
    ok $groups{'apiextensions.k8s.io'}, '/apis has the group of definitions';
    ok !$groups{apps}, 'and not the group of what is the system\'s';
    is $groups{'apiextensions.k8s.io'}{preferredVersion}{version}, 'v1', 'v1 before v1beta1';
    for my $group (values %groups) {
        $acme->get("/apis/$_->{groupVersion}")->is_status(200, "/apis/$_->{groupVersion}") for @{ $group->{versions} };
        is $acme->get("/apis/$group->{name}")->json->{kind}, 'APIGroup', "/apis/$group->{name}";
    }
    my %mine  = map { $_->{name} => $_ } @{ $acme->get('/api/v1')->json->{resources} };
    my %every = map { $_->{name} => $_ } @{ $admin->get('/api/v1')->json->{resources} };
    ok $mine{configmaps}{namespaced} && !$mine{namespaces}{namespaced}, 'scopes';
    is_deeply $mine{nodes}, $every{nodes}, 'nodes mean the same to all: those of the cluster';
    my $of_system = qr/nodes.* is forbidden: User "alice" cannot .*belong to the system space alone/;
    my $item      = '/api/v1/nodes/n';
    for ([list => $acme->get('/api/v1/nodes')], [watch => $acme->get('/api/v1/nodes?watch=true')], [create => $acme->post('/api/v1/nodes', json => { metadata => { name => 'n' } })],
        [get => $acme->get($item)], [update => $acme->put($item, json => { metadata => { name => 'n' } })], [patch => $acme->patch($item, {})],
        [delete => $acme->delete($item)], ['get status' => $acme->get("$item/status")], ['get by its full path' => $acme->get('/api/v1/tenants/acme/nodes')]) {
        $_->[1]->is_failure(403, 'Forbidden', $of_system, "and are none of a tenant: $_->[0]");
    }
    is_deeply [map { $_->{name} } grep { $_->{kind} eq 'Node' } @{ $acme->get('/apis/baremetal.openstack.org/v1')->json->{resources} }], ['nodes'],
        'those of bare metal are, in a group of their own';
    $acme->get('/apis/baremetal.openstack.org/v1/nodes')->is_status(200, 'where they are listed');
    is_deeply [sort @{ $mine{tenants}{verbs} }], [qw(get list patch update watch)], 'tenants may not be made by tenants'
        or diag "@{ $mine{tenants}{verbs} }";
    $acme->get('/apis/none.example.com/v1')->is_failure(404, 'NotFound', qr/could not find/, 'no such group');
    $acme->get('/api/v1/namespaces/default/gadgets')->is_failure(404, 'NotFound', qr/could not find/, 'no such type');
    $acme->post('/apis/apps/v1/namespaces/default/daemonsets', json => { metadata => { name => 'd' } })->is_failure(403, 'Forbidden',
        qr/daemonsets\.apps is forbidden: User "alice" cannot create/, 'what is the system\'s is refused');
    $acme->get('/openapi/v2', accept => 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf')
        ->header_is('Content-Type', 'application/octet-stream', 'openapi in the form that kubectl takes');
    like $acme->get('/api')->header('Cache-Control'), qr/private/, 'no shared cache mixes tenants up';
};

subtest 'create and get' => sub {
    my $answer = $acme->post($cms, json => config_map('c1', data => { a => 'b' }));
    $answer->is_status(201, 'created');
    my $object = $answer->json;
    is $object->{kind}, 'ConfigMap', 'kind';
    is $object->{metadata}{tenant}, 'acme', 'tenant';
    is $object->{metadata}{selfLink}, "/api/v1/tenants/acme/namespaces/default/configmaps/c1", 'the full path';
    like $object->{metadata}{resourceVersion}, qr/\A[1-9][0-9]*\z/, 'a number for a version';
    ok !exists $object->{metadata}{managedFields}, 'no managed fields';
    is_deeply $acme->get("$cms/c1")->json, $object, 'is what is read';
    is_deeply $acme->get('/api/v1/tenants/acme/namespaces/default/configmaps/c1')->json, $object, 'by its full path, too';
    is_deeply $admin->get('/api/v1/tenants/acme/namespaces/default/configmaps/c1')->json, $object, 'and by the operator';
    my $tenancy = $admin->get('/v2.0/acme/namespaces/default/configmaps/c1');
    is $tenancy->etag, $acme->get("$cms/c1")->etag, 'the same object with the same etag in the tenancy dialect';
    is_deeply $tenancy->json->{data}, { a => 'b' }, 'with its data';
    ok !exists $tenancy->json->{kind}, 'and without what the type says';
    $acme->get("$cms/c1", if_none_match => $tenancy->etag)->is_status(304, 'nothing new');
    $acme->request('POST', $cms, body => '{"metadata":{"name":"c2"}}', type => 'application/json; charset=utf-8')->is_status(201, 'a body need not say what it is');
    $acme->post($cms, json => { metadata => { generateName => 'g-' } })->json->{metadata}{name} =~ /\Ag-[a-z0-9]{5}\z/
        ? pass('a name is made') : fail('a name is made');
    my $secret = $acme->post('/api/v1/namespaces/default/secrets', json => { metadata => { name => 's' }, stringData => { k => 'Man', l => 'M', m => 'Ma' } });
    is_deeply $secret->json->{data}, { k => 'TWFu', l => 'TQ==', m => 'TWE=' }, 'stringData is folded into data';
    ok !exists $secret->json->{stringData}, 'and gone';
    $admin->post($cms, json => config_map('sys'))->is_status(201, 'the operator\'s short path');
    is $admin->get("$cms/sys")->json->{metadata}{selfLink}, "$cms/sys", 'is the system space, whose path is short';
    is $admin->get('/api/v1/tenants/system/namespaces/default/configmaps/sys')->json->{metadata}{tenant}, 'system', 'and has a long one';
};

subtest 'what is refused' => sub {
    $acme->get("$cms/no")->is_failure(404, 'NotFound', qr/\Aconfigmaps "no" not found\z/, 'absent');
    is_deeply $acme->get("$cms/no")->json->{details}, { name => 'no', kind => 'configmaps' }, 'with details';
    $acme->post($cms, json => config_map('c1'))->is_failure(409, 'AlreadyExists', qr/configmaps "c1" already exists/, 'there already');
    $acme->post('/api/v1/namespaces/none/configmaps', json => config_map('c'))->is_failure(404, 'NotFound', qr/namespaces "none" not found/, 'no namespace');
    $admin->post('/api/v1/tenants/none/namespaces/default/configmaps', json => config_map('c'))->is_failure(404, 'NotFound',
        qr/tenants "none" not found/, 'no tenant');
    is names($admin->get('/api/v1/tenants/none/configmaps')), '', 'a list there is empty';
    my $bad = $acme->post($cms, json => config_map('No_Good'));
    $bad->is_failure(422, 'Invalid', qr/\AConfigMap "No_Good" is invalid: metadata\.name: Invalid value/, 'a bad name');
    is_deeply [map { [$_->{reason}, $_->{field}] } @{ $bad->json->{details}{causes} }], [['FieldValueInvalid', 'metadata.name']], 'with causes';
    $acme->post($cms, json => { metadata => {} })->is_failure(422, 'Invalid', qr/name or generateName is required/, 'no name');
    $acme->post($cms, json => config_map('x', metadata => { labels => { 'a b' => 'c' } }))->is_failure(422, 'Invalid', qr/metadata\.labels/, 'bad labels');
    $acme->post($cms, json => config_map('x', metadata => { labels => 'a' }))->is_failure(400, 'BadRequest', qr/labels must be/, 'labels of another kind');
    $acme->post($cms, json => { %{ config_map('x') }, kind => 'Secret' })->is_failure(400, 'BadRequest', qr/kind/, 'another kind');
    $acme->post($cms, json => { %{ config_map('x') }, apiVersion => 'v2' })->is_failure(400, 'BadRequest', qr/API version/, 'another version');
    $acme->post($cms, json => config_map('x', metadata => { $_->[0] => $_->[1] }))->is_failure(400, 'BadRequest', qr/$_->[0]/, "another $_->[0]")
        for ['namespace', 'other'], ['tenant', 'globex'];
    $acme->post($cms, json => config_map('x', metadata => { resourceVersion => '1' }))->is_failure(400, 'BadRequest', qr/resourceVersion/, 'a version before there is one');
    $acme->request('POST', $cms, body => '{"metadata":', type => 'application/json')->is_failure(400, 'BadRequest', qr/./, 'no JSON');
    $acme->request('POST', $cms, body => '[]', type => 'application/json')->is_failure(400, 'BadRequest', qr/object/, 'no object');
    $acme->request('POST', $cms, body => 'a: b', type => 'application/yaml')->is_failure(415, 'UnsupportedMediaType', qr/application\/json/, 'YAML');
    $acme->get("$cms/c1", accept => 'text/html')->is_failure(406, 'NotAcceptable', qr/./, 'HTML');
    $acme->post("$cms/c1", json => config_map('c1'))->is_failure(405, 'MethodNotAllowed', qr/./, 'POST to an object');
    $acme->put($cms, json => config_map('c1'))->is_failure(405, 'MethodNotAllowed', qr/./, 'PUT to a collection');
    $acme->post('/api/v1/configmaps', json => config_map('c1'))->is_failure(405, 'MethodNotAllowed', qr/./, 'POST to all namespaces');
    $reader->post($cms, json => config_map('x'))->is_failure(403, 'Forbidden',
        qr/configmaps is forbidden: User "rita" cannot create resource "configmaps" in API group "" in the namespace "default"/, 'a reader writes nothing');
    $acme->post("$cms?dryRun=Some", json => config_map('x'))->is_failure(422, 'Invalid', qr/dryRun/, 'a dry run of another kind');
};

subtest 'strangers' => sub {
    my @calls = (['GET', 'configmaps'], ['GET', 'configmaps/c1'], ['POST', 'configmaps', config_map('c1')], ['PUT', 'configmaps/c1', config_map('c1')],
        ['DELETE', 'configmaps/c1'], ['DELETE', 'configmaps']);
    for my $call (@calls) {
        my ($method, $path, $json) = @$call;
        my @texts;
        for my $tenant (qw(acme nobody system all)) {
            my $answer = $globex->request($method, "/api/v1/tenants/$tenant/namespaces/default/$path", defined $json ? (json => $json) : ());
            $answer->is_failure(403, 'Forbidden', qr/of the tenant "$tenant"/, "$method $path of $tenant");
            push @texts, $answer->text =~ s/\Q$tenant\E/T/gr;
        }
        is scalar(keys %{ { map { $_ => 1 } @texts } }), 1, 'whether or not there is such a tenant';
    }
    is names($globex->get($cms)), '', 'a short path is in one\'s own space';
};

subtest 'update' => sub {
    my $object = $acme->get("$cms/c1")->json;
    my $answer = $acme->put("$cms/c1", json => { %$object, data => { a => '2' } });
    $answer->is_status(200, 'replaced');
    cmp_ok $answer->json->{metadata}{resourceVersion}, '>', $object->{metadata}{resourceVersion}, 'with a higher version';
    $acme->put("$cms/c1", json => { %$object, data => { a => '3' } })->is_failure(409, 'Conflict', qr/object has been modified/, 'a stale version');
    $acme->put("$cms/c1", json => { %$object, data => { a => '2' } })->is_status(200, 'that brings nothing new does no harm');
    is $acme->get("$cms/c1")->json->{metadata}{resourceVersion}, $answer->json->{metadata}{resourceVersion}, 'and changes nothing';
    my %another = (uid => '00000000-0000-4000-8000-000000000000');
    $acme->put("$cms/c1", json => config_map('c1', data => { a => '2' }, metadata => {%another}))->is_failure(409, 'Conflict', qr/UID/, 'of another uid, it was never read');
    $acme->patch("$cms/c1", { metadata => {%another} })->is_failure(409, 'Conflict', qr/UID/, 'nor by a patch');
    $acme->put("$cms/c1", json => config_map('c1', data => { a => '4' }))->is_status(200, 'without a version');
    $acme->put("$cms/c1", json => config_map('other'))->is_failure(400, 'BadRequest', qr/name of the object/, 'another name');
    $acme->put("$cms/no", json => config_map('no'))->is_failure(404, 'NotFound', qr/not found/, 'nothing to replace');
    $acme->put("$cms/c1", json => config_map('c1', data => { a => '5' }), if_match => 'W/"' . '0' x 128 . '"')->is_failure(412, 'Conflict', qr/changed/, 'If-Match as everywhere');
    $acme->put("$cms/c1", json => config_map('c1', data => {}, metadata => { uid => '00000000-0000-4000-8000-000000000000' }))->is_failure(409, 'Conflict', qr/UID/, 'another uid');
};

# The document is one thing with that of the tenancy API, where a PUT may leave metadata out.
subtest 'an update without metadata' => sub {
    my %kept = (labels => { a => 'b' }, annotations => { n => '1' }, finalizers => ['example.com/f'], locked => JSON::PP::true, own => [1]);
    my $made = $acme->post($cms, json => config_map('bare', metadata => \%kept));
    $made->is_status(201, 'an object with all of them');
    my $has_all = sub { my $now = $acme->get("$cms/bare")->json->{metadata}; is_deeply { map { $_ => $now->{$_} } keys %kept }, \%kept, $_[0] };
    for my $body ({ data => { a => '1' } }, { metadata => undef, data => { a => '2' } }) {
        my $answer = $acme->put("$cms/bare", json => $body);
        $answer->is_status(200, 'one without metadata');
        is_deeply $answer->json->{data}, $body->{data}, 'changes the rest';
        $has_all->('and leaves metadata as they are');
    }
    $acme->delete("$cms/bare")->is_failure(409, 'Conflict', qr/locked/, 'the lock as well');
    $acme->patch("$cms/bare", { metadata => { locked => JSON::PP::false } })->is_status(200, 'unlocked');
    $kept{locked} = JSON::PP::false;
    $acme->delete("$cms/bare")->is_status(200, 'asked to go');
    $acme->put("$cms/bare", json => { data => { a => '3' } })->is_status(200, 'one while it waits for a finalizer');
    $has_all->('does not let it go');
    $acme->put("$cms/bare", json => { metadata => {}, data => { a => '3' } })->is_status(200, 'metadata that are empty');
    $acme->get("$cms/bare")->is_status(404, 'do');
    my $globex = '/api/v1/tenants/globex';
    $admin->patch($globex, { metadata => { labels => { q => '1' }, annotations => { q => '1' } } })->is_status(200, 'a Tenant');
    my $before = $admin->get($globex)->json->{metadata};
    $admin->put($globex, json => { spec => { multiTenancyCRDPolicy => 'SystemCRDFirst' } })->is_status(200, 'its spec alone');
    my $after = $admin->get($globex)->json->{metadata};
    is_deeply $after->{$_}, $before->{$_}, "leaves its $_ as they are" for qw(labels annotations);
};

# Typed clients of Kubernetes do not know the lock, so what they write never has it.
subtest 'an update without the lock' => sub {
    $acme->post($cms, json => config_map('held'))->is_status(201, 'an object');
    my $lock = sub { $acme->patch("$cms/held", { metadata => { locked => JSON::PP::true } })->is_status(200, 'is locked') };
    my $put  = sub {
        my ($data, %metadata) = @_;
        my $object = $acme->get("$cms/held")->json;
        delete $object->{metadata}{locked};
        my $answer = $acme->put("$cms/held", json => { %$object, metadata => { %{ $object->{metadata} }, %metadata }, data => { a => $data } });
        $answer->is_status(200, "a PUT of what was read: $data");
        is $answer->json->{data}{a}, $data, '... changes it';
        return $answer->json->{metadata};
    };
    my $is_held = sub { $acme->delete("$cms/held?dryRun=All")->is_failure(409, 'Conflict', qr/the resource is locked/, "$_[0] can't be deleted") };
    my $is_free = sub { $acme->delete("$cms/held?dryRun=All")->is_status(200, "$_[0] can be") };
    is $put->('never locked')->{locked}, undef, 'what was not locked is not';
    $lock->();
    ok $put->('without the lock', labels => { l => '1' })->{locked}, '... keeps it';
    $is_held->('it');
    $acme->request('PUT', "$cms/held", body => '{"metadata":{"name":"held"}}', type => 'application/json')->is_status(200, 'a PUT of its name alone');
    is $acme->get("$cms/held")->json->{metadata}{labels}, undef, '... takes its labels';
    $is_held->('and it');
    for my $value (JSON::PP::false, undef) {
        ok !$put->('with ' . ($value // 'null'), locked => $value)->{locked}, 'the lock ends';
        $is_free->('so it');
        $lock->();
    }
    ok !$acme->patch("$cms/held", { metadata => { locked => undef } })->json->{metadata}{locked}, 'by a patch as well';
    $is_free->('so it');
    $acme->put("$cms/held", json => config_map('held', metadata => { locked => 'yes' }))->is_failure(400, 'BadRequest', qr/metadata\.locked must be/, 'a lock that is none');
    $acme->delete("$cms/held")->is_status(200, 'deleted');
};

subtest 'patch' => sub {
    my $type = sub { return (body => $_[1], type => "application/$_[0]-patch+json") };
    is $acme->request('PATCH', "$cms/c1", $type->('merge', '{"metadata":{"labels":{"x":"y"}},"data":{"b":"1"}}'))->json->{metadata}{labels}{x}, 'y', 'merge';
    is $acme->request('PATCH', "$cms/c1", $type->('json', '[{"op":"add","path":"/data/c","value":"2"}]'))->json->{data}{c}, '2', 'JSON';
    is $acme->request('PATCH', "$cms/c1", $type->('strategic-merge', '{"data":{"b":null}}'))->json->{data}{b}, undef, 'strategic';
    is_deeply $acme->get("$cms/c1")->json->{data}, { a => '4', c => '2' }, 'all three';
    $acme->request('PATCH', "$cms/c1", $type->('json', '[{"op":"test","path":"/data/c","value":"9"}]'))->is_failure(422, 'Invalid', qr/./, 'a test that fails');
    $acme->request('PATCH', "$cms/c1", $type->('merge', '{"metadata":{"resourceVersion":"1"},"data":{"q":"1"}}'))->is_failure(409, 'Conflict', qr/modified/, 'a stale version');
    $acme->request('PATCH', "$cms/c1", body => '{}', type => 'application/apply-patch+yaml')->is_failure(415, 'UnsupportedMediaType', qr/merge-patch/, 'apply');
    my $version = $acme->get("$cms/c1")->json->{metadata}{resourceVersion};
    for my $member (qw(resourceVersion uid)) {
        my $wrong = sub { $_[0]->is_failure(400, 'BadRequest', qr/metadata\.$member must be a string/, "$_[1] with a $member that is no text") };
        $wrong->($acme->put("$cms/c1", json => config_map('c1', data => { q => '1' }, metadata => { $member => $_ })), 'PUT')
            for $version + 0, 1, [], $JSON::PP::true;
        $wrong->($acme->post($cms, json => config_map('textless', metadata => { $member => 1 })), 'POST');
        $wrong->($acme->request('PATCH', "$cms/c1", $type->($_, qq({"metadata":{"$member":1},"data":{"q":"1"}}))), $_) for qw(merge strategic-merge);
        $wrong->($acme->request('PATCH', "$cms/c1",
            $type->('json', qq([{"op":"replace","path":"/metadata/$member","value":1},{"op":"add","path":"/data/q","value":"1"}]))), 'JSON');
        $wrong->($admin->patch('/api/v1/tenants/acme', { metadata => { $member => 1, labels => { q => '1' } } }), 'PATCH of a tenant');
    }
    is $acme->get("$cms/c1")->json->{metadata}{resourceVersion}, $version, 'and nothing is changed';
    my $pod = { metadata => { name => 'p' }, spec => { containers => [{ name => 'a', image => '1' }, { name => 'b', image => '1' }] } };
    $acme->post('/api/v1/namespaces/default/pods', json => $pod)->is_status(201, 'a pod');
    my $patched = $acme->request('PATCH', '/api/v1/namespaces/default/pods/p', $type->('strategic-merge', '{"spec":{"containers":[{"name":"b","image":"2"}]}}'));
    is_deeply [map { $_->{image} } @{ $patched->json->{spec}{containers} }], ['1', '2'], 'its containers merge by name';
};

subtest 'dry run' => sub {
    my $made = $acme->post("$cms?dryRun=All", json => config_map('dry'));
    $made->is_status(201, 'answered as if it were done');
    $acme->get("$cms/dry")->is_failure(404, 'NotFound', qr/dry/, 'and is not');
    is_deeply [@{ $made->json->{metadata} }{qw(resourceVersion etag)}, $made->header('ETag')], [undef, undef, undef], 'what was never made has no version and no etag';
    $acme->post("$cms?dryRun=All", json => $made->json)->is_status(201, 'so the answer can be sent back');
    my $table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    is $acme->post("$cms?dryRun=All", json => config_map('dry'), accept => $table)->json->{rows}[0]{cells}[0], 'dry', 'as a table, too';
    my $tenant = $admin->post('/api/v1/tenants?dryRun=All', json => { metadata => { name => 'dry' } });
    is_deeply [@{ $tenant->json->{metadata} }{qw(name resourceVersion etag)}, $tenant->header('ETag')], ['dry', undef, undef, undef], 'nor has a tenant';
    $admin->post('/api/v1/tenants?dryRun=All', json => $tenant->json)->is_status(201, 'that can be sent back');
    my $before = $acme->get("$cms/c1")->json->{metadata};
    my $tried  = $acme->patch("$cms/c1?dryRun=All", { data => { z => '1' } });
    is $tried->json->{data}{z}, '1', 'a patch';
    is_deeply $tried->json->{metadata}, $before, 'has no version of its own';
    is $tried->header('ETag') =~ s/"//gr, $before->{etag}, 'and no etag';
    ok !exists $acme->get("$cms/c1")->json->{data}{z}, 'is not';
    $acme->delete("$cms/c1?dryRun=All")->is_status(200, 'a deletion');
    $acme->request('DELETE', "$cms/c1", json => { dryRun => ['All'] })->is_status(200, 'asked for in the body');
    $acme->get("$cms/c1")->is_status(200, 'is not');
};

subtest 'lists' => sub {
    $acme->post('/api/v1/namespaces', json => { metadata => { name => 'n2' } })->is_status(201, 'a namespace');
    my $in = '/api/v1/namespaces/n2/configmaps';
    $acme->post($in, json => config_map("l$_", metadata => { labels => { n => "$_", even => $_ % 2 ? 'no' : 'yes' } }))->is_status(201, "l$_") for 1 .. 7;
    my $list = $acme->get($in);
    is $list->json->{kind}, 'ConfigMapList', 'its kind';
    is names($list), 'l1 l2 l3 l4 l5 l6 l7', 'all';
    my $newest = $list->json->{items}[-1]{metadata}{resourceVersion};
    # Ids of changes that were rolled back are waited for, for a while.
    my ($seen, $until) = (0, time + 20);
    while (($seen = $acme->get($in)->json->{metadata}{resourceVersion}) < $newest && time < $until) { sleep 1 }
    cmp_ok $seen, '>=', $newest, 'the list is as new as what is in it';
    is names($acme->get("$in?labelSelector=even%3Dyes")), 'l2 l4 l6', 'a=b';
    is names($acme->get("$in?labelSelector=even!%3Dyes,n")), 'l1 l3 l5 l7', 'a!=b,c';
    is names($acme->get("$in?labelSelector=n+in+(1,7)")), 'l1 l7', 'a in (b,c)';
    is names($acme->get("$in?fieldSelector=metadata.name%3Dl3")), 'l3', 'by name';
    is names($acme->get("$in?fieldSelector=metadata.name%3Dl3&labelSelector=even%3Dyes")), '', 'and by label';
    is names($acme->get('/api/v1/configmaps?fieldSelector=metadata.namespace%3Dn2')), 'l1 l2 l3 l4 l5 l6 l7', 'by namespace';
    $acme->get("$in?labelSelector=a+in+b")->is_failure(400, 'BadRequest', qr/./, 'a bad selector');
    $acme->get("$in?fieldSelector=spec.none%3Dx")->is_failure(400, 'BadRequest', qr/./, 'a field that cannot be asked for');
    my ($query, @pages) = ('limit=3');
    while (@pages < 9) {
        my $page = $acme->get("$in?$query");
        push @pages, names($page);
        my $next = $page->json->{metadata}{continue} // last;
        $query = 'limit=3&continue=' . $next =~ s/([^A-Za-z0-9])/sprintf '%%%02X', ord $1/ger;
    }
    is_deeply \@pages, ['l1 l2 l3', 'l4 l5 l6', 'l7'], 'pages';
    is names($acme->get("$in?limit=2&labelSelector=even%3Dyes")), 'l2 l4', 'a page of what is selected';
    $acme->get("$in?continue=nonsense")->is_failure(400, 'BadRequest', qr/continue/, 'a bad token');
    like names($acme->get('/api/v1/configmaps')), qr/c1.*l1/, 'all namespaces';
    my $everywhere = $admin->get('/api/v1/tenants/all/configmaps');
    my %tenants = map { $_->{metadata}{tenant} => 1 } @{ $everywhere->json->{items} };
    is_deeply \%tenants, { acme => 1, system => 1 }, 'all tenants, for the operator';
    is $acme->get('/api/v1/namespaces/default/status')->json->{status}{phase}, 'Active', 'the status of a namespace is no list';
    is names($acme->get('/api/v1/namespaces/default/events')), '', 'events: none';
    is $acme->get('/api/v1/events')->json->{kind}, 'EventList', 'but their list';
};

subtest 'how new' => sub {
    my $version = $acme->get("$cms/c1")->json->{metadata}{resourceVersion};
    my $future  = '9000000000000000000';
    for my $path ($cms, "$cms/c1", '/api/v1/namespaces/default/status', '/api/v1/tenants', '/api/v1/tenants/acme') {
        $acme->get("$path?resourceVersion=$_")->is_status(200, "$path: " . (length ? "as of $_" : 'as it is')) for '', 0, $version;
        my $answer = $acme->get("$path?resourceVersion=$future");
        $answer->is_failure(504, 'Timeout', qr/Too large resource version: $future, current: \d+/, 'of what is still to come');
        is $answer->json->{details}{retryAfterSeconds}, 1, 'when to ask again';
        is $answer->json->{details}{causes}[0]{reason}, 'ResourceVersionTooLarge', 'the cause, as client libraries look for it';
        is $answer->header('Retry-After'), 1, 'in the header field, too';
        $acme->get("$path?resourceVersion=$_")->is_failure(400, 'BadRequest', qr/resourceVersion must be a number/, "no version: $_")
            for qw(x 1x -1 18446744073709551616);
    }
};

subtest 'tables' => sub {
    my $accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';
    my $table  = $acme->get('/api/v1/namespaces/n2/configmaps', accept => $accept)->json;
    is "$table->{kind} $table->{apiVersion}", 'Table meta.k8s.io/v1', 'kind';
    is $table->{columnDefinitions}[0]{name}, 'Name', 'its columns';
    is scalar @{ $table->{rows} }, 7, 'its rows';
    is $table->{rows}[0]{cells}[0], 'l1', 'their cells';
    is $table->{rows}[0]{object}{metadata}{labels}{n}, '1', 'and the metadata of their objects';
    is $acme->get("$cms/c1", accept => $accept)->json->{rows}[0]{cells}[0], 'c1', 'of one object';
    is $acme->get("$cms/c1", accept => 'application/json')->json->{kind}, 'ConfigMap', 'not asked for';
    $acme->get("$cms/no", accept => $accept)->is_failure(404, 'NotFound', qr/not found/, 'an error is a Status all the same');
};

subtest 'delete' => sub {
    my $object = $acme->get("$cms/c1")->json;
    my $uid    = $object->{metadata}{uid};
    $acme->request('DELETE', "$cms/c1", json => { preconditions => { uid => '00000000-0000-4000-8000-000000000000' } })->is_failure(409, 'Conflict', qr/UID/, 'another uid');
    $acme->request('DELETE', "$cms/c1", json => { preconditions => { resourceVersion => '1' } })->is_failure(409, 'Conflict', qr/ResourceVersion/, 'another version');
    $acme->request('DELETE', "$cms/c1", json => $_)->is_failure(400, 'BadRequest', qr/must be/, 'options that are not understood')
        for { dryRun => 'All' }, { dryRun => 1 }, { preconditions => 'none' }, [];
    my $answer = $acme->request('DELETE', "$cms/c1", json => { propagationPolicy => 'Background', gracePeriodSeconds => 0, preconditions => { uid => $uid } });
    is_deeply $answer->json->{details}, { name => 'c1', kind => 'configmaps', uid => $uid }, 'deleted';
    like $answer->header('Warning'), qr/gracePeriodSeconds/, 'a warning tells what is ignored';
    $acme->get("$cms/c1")->is_failure(404, 'NotFound', qr/not found/, 'gone');
    $acme->delete("$cms/c1")->is_failure(404, 'NotFound', qr/not found/, 'once');
    $admin->post('/v2.0/acme/namespaces/default/configmaps/c1/action/recover')->is_status(204, 'recoverable');
    is $acme->get("$cms/c1")->json->{metadata}{uid}, $uid, 'and back';

    $acme->post($cms, json => config_map('f', metadata => { finalizers => ['x.example.com/f'] }))->is_status(201, 'with a finalizer');
    my $doomed = $acme->delete("$cms/f");
    ok $doomed->json->{metadata}{deletionTimestamp}, 'is marked';
    $acme->get("$cms/f")->is_status(200, 'and stays');
    $acme->patch("$cms/f", { metadata => { finalizers => undef } })->is_status(200, 'until there is none');
    $acme->get("$cms/f")->is_failure(404, 'NotFound', qr/not found/, 'then it goes');

    my $in = '/api/v1/namespaces/n2/configmaps';
    $acme->delete('/api/v1/configmaps?labelSelector=even%3Dyes')->is_failure(405, 'MethodNotAllowed', qr/one namespace/, 'not those of all namespaces');
    for my $tag ('W/"' . '0' x 128 . '"', $acme->get("$in/l2")->header('ETag')) {
        $acme->request('DELETE', $in, if_match => $tag)->is_status(412, 'a collection has no ETag');
        $acme->request('POST', $in, if_match => $tag, json => config_map('tagged'))->is_status(412, 'nor when one is made in it');
    }
    is names($acme->get($in)), 'l1 l2 l3 l4 l5 l6 l7', 'all stay';
    $acme->post($in, json => config_map("p$_", metadata => { labels => { page => 'yes' } })) for 1 .. 5;
    my ($pages, $more) = ('', '');
    for my $n (1 .. 3) {
        my $page = $acme->request('DELETE', "$in?labelSelector=page%3Dyes&limit=2$more", if_match => '*');
        $pages .= names($page) . ', ';
        is names($acme->get("$in?labelSelector=page%3Dyes")), ('p3 p4 p5', 'p5', '')[$n - 1], "page $n, and no more";
        $more = $page->json->{metadata}{continue} // '';
        last if $more eq '';
        $more = "&continue=$more";
    }
    is $pages, 'p1 p2, p3 p4, p5, ', 'a collection, by pages';
    is names($acme->delete("$in?labelSelector=even%3Dyes")), 'l2 l4 l6', 'a collection, as selected';
    is names($acme->get($in)), 'l1 l3 l5 l7', 'the others stay';
    $acme->request('DELETE', $in, json => { preconditions => { uid => '00000000-0000-4000-8000-000000000000' } })
        ->is_failure(409, 'Conflict', qr/UID/, 'a collection of objects that have another uid');
    my $first = $acme->get("$in/l1")->json->{metadata};
    my $exact = { preconditions => { map { $_ => $first->{$_} } qw(uid resourceVersion) } };
    $acme->request('DELETE', $in, json => $exact)->is_failure(409, 'Conflict', qr/UID/, 'or some of them');
    is names($acme->get($in)), 'l1 l3 l5 l7', 'all stay';
    is names($acme->request('DELETE', "$in?labelSelector=n%3D1", json => $exact)), 'l1', 'if all are as they must be, they go';
    is names($acme->get($in)), 'l3 l5 l7', 'and no other';
    $acme->delete('/api/v1/namespaces/default')->is_failure(403, 'Forbidden', qr/may not be deleted/, 'not the namespace default');
    $acme->delete('/api/v1/namespaces/n2')->is_status(200, 'a namespace');
    is names($acme->get($in)), '', 'with what is in it';
};

# True when so many transactions wait for a lock.
sub wait_for_lock { my ($n) = @_; return Tenure::Instance::wait_until(sub { $instance->count_lock_waits == $n }) }

subtest 'a collection of which another deletes one' => sub {
    $acme->post($cms, json => config_map($_, metadata => { labels => { race => 'yes' } }))->is_status(201, $_) for qw(d1 d2);
    my $id   = $instance->sql_value("SELECT id FROM resources WHERE name = 'd1'");
    my $lock = $instance->sql_locks("SELECT id FROM resources WHERE id = $id FOR UPDATE");
    my $one = Tenure::Parallel::begin($acme, 'DELETE', "$cms/d1");
    ok wait_for_lock(1), 'one is being deleted';
    my $all = Tenure::Parallel::begin($acme, 'DELETE', "$cms?labelSelector=race%3Dyes");
    ok wait_for_lock(2), 'and then both, by a call that has seen it';
    print {$lock} "ROLLBACK;\n";
    close $lock;
    like Tenure::Parallel::told($one), qr/^200 /, 'it is deleted';
    like Tenure::Parallel::told($all), qr/^200 /, 'and so is the collection';
    is names($acme->get("$cms?labelSelector=race%3Dyes")), '', 'nothing is left';
};

subtest 'a tenant that another changes while it is to be deleted as it was' => sub {
    my $made = $admin->post('/api/v1/tenants', json => { metadata => { name => 'raced' } });
    my $lock = $instance->sql_locks("SELECT id FROM tenants WHERE name = 'raced' FOR UPDATE");
    my $one  = Tenure::Parallel::begin($admin, 'PATCH', '/v2.0/raced', json => { tenant => { metadata => { a => 'b' } } }, type => 'application/merge-patch+json');
    ok wait_for_lock(1), 'a change waits';
    my $exact = { preconditions => { resourceVersion => $made->json->{metadata}{resourceVersion} } };
    my $two = Tenure::Parallel::begin($admin, 'DELETE', '/api/v1/tenants/raced', json => $exact);
    ok wait_for_lock(2), 'and then a deletion that has read it';
    print {$lock} "ROLLBACK;\n";
    close $lock;
    like Tenure::Parallel::told($one), qr/^20/, 'it is changed';
    like Tenure::Parallel::told($two), qr/^409 /, 'and not deleted';
    $admin->request('DELETE', '/api/v1/tenants/raced', json => $exact)->is_failure(409, 'Conflict', qr/ResourceVersion/, 'nor later');
    $exact->{preconditions}{resourceVersion} = $admin->get('/api/v1/tenants/raced')->json->{metadata}{resourceVersion};
    $admin->request('DELETE', '/api/v1/tenants/raced', json => $exact, if_match => 'W/"' . '0' x 128 . '"')->is_status(412, 'If-Match counts, too');
    $admin->request('DELETE', '/api/v1/tenants/raced', json => $exact)->is_status(200, 'both as they are');
};

subtest 'a node that another changes in what its etag does not cover' => sub {
    my $node = Tenure::Metal->new($instance->admin, '1.82')->make('nodes', { driver => 'fake-hardware', owner => 'acme' })->{uuid};
    my $path = "/apis/baremetal.openstack.org/v1/tenants/acme/nodes/$node";
    my $made = $admin->get($path);
    my $lock = $instance->sql_locks("SELECT id FROM resources WHERE name = '$node' FOR UPDATE");
    my $one  = Tenure::Parallel::begin($admin, 'PATCH', "/v2.0/acme/nodes/$node", json => { driver_internal_info => { a => 1 } }, type => 'application/merge-patch+json');
    ok wait_for_lock(1), 'a change waits';
    my $exact = { preconditions => { resourceVersion => $made->json->{metadata}{resourceVersion} } };
    my $two = Tenure::Parallel::begin($admin, 'DELETE', $path, json => $exact);
    ok wait_for_lock(2), 'and then a deletion of what was there before';
    print {$lock} "ROLLBACK;\n";
    close $lock;
    like Tenure::Parallel::told($one), qr/^200 /, 'it is changed';
    like Tenure::Parallel::told($two), qr/^409 /, 'and not deleted';
    is $admin->get($path)->etag, $made->etag, 'though its etag is the same';
    $admin->request('DELETE', $path, json => { preconditions => { uid => $node } })->is_status(200, 'by its uid it is deleted as it stands');
};

subtest 'where changes need a precondition' => sub {
    $admin->put('/v2.0/strict', json => { tenant => { etag_required => $JSON::PP::true } })->is_status(201);
    my $maps = '/api/v1/tenants/strict/namespaces/default/configmaps';
    my $made = $admin->post($maps, json => config_map('c'))->json->{metadata};
    $admin->request('DELETE', "$maps/c", json => { preconditions => $_ })->is_failure(428, 'Conflict', qr/If-Match/, 'a uid names no version')
        for { uid => $made->{uid} }, {};
    $admin->request('DELETE', "$maps/c", json => { preconditions => { resourceVersion => $made->{resourceVersion} } })->is_status(200, 'a resourceVersion does');
    $admin->post($maps, json => config_map('c', data => { a => '1' }));
    for my $path ("$maps/c", '/api/v1/tenants/strict') {
        my $of = sub { $admin->request('PATCH', $path, type => "application/$_[0]-patch+json", body => $_[1]) };
        $of->('merge', '{"metadata":{"labels":{"a":"1"}}}')->is_failure(428, 'Conflict', qr/If-Match/, "a patch of $path without a version");
        $of->('merge', '[{"resourceVersion":"1"}]')->is_failure(428, 'Conflict', qr/If-Match/, 'which a list has not');
        my $version = $admin->get($path)->json->{metadata}{resourceVersion};
        $of->('merge', qq({"metadata":{"resourceVersion":"$version","labels":{"a":"1"}}}))->is_status(200, 'with its version');
        $of->('merge', qq({"metadata":{"resourceVersion":"$version","labels":{"a":"2"}}}))->is_failure(409, 'Conflict', qr/modified/, 'with a stale one');
        is $admin->get($path)->json->{metadata}{labels}{a}, '1', 'which changes nothing';
    }
    my $strategic = sub { $admin->request('PATCH', "$maps/c", type => 'application/strategic-merge-patch+json', body => $_[0]) };
    my $version = $admin->get("$maps/c")->json->{metadata}{resourceVersion};
    $strategic->($_)->is_failure(409, 'Conflict', qr/modified/, 'a stale one in a strategic patch')
        for '{"metadata":{"resourceVersion":"1","labels":{"a":"2"}}}', '{"metadata":{"resourceVersion":"1","$patch":"delete"},"data":{"a":"2"}}';
    $strategic->(qq({"metadata":{"resourceVersion":"$version","labels":{"a":"2"}}}))->is_status(200, 'and its version');
};

subtest 'the status of a namespace, and its finalize' => sub {
    my $path = '/api/v1/namespaces/parts';
    my $made = $acme->post('/api/v1/namespaces', json => { metadata => { name => 'parts', labels => { l => '1' } }, spec => { finalizers => ['a/b'] } });
    $made->is_status(201, 'a namespace');
    my @conditions = ({ type => 'Ready', status => 'True' });
    my $put = $acme->put("$path/status", json => { %{ $made->json }, metadata => { name => 'parts', labels => { l => '2' } }, spec => {},
        status => { phase => 'Active', conditions => \@conditions } });
    $put->is_status(200, 'PUT of its status');
    is_deeply $put->json->{status}, { phase => 'Active', conditions => \@conditions }, 'is kept';
    is $put->json->{metadata}{labels}{l}, '1', 'and nothing else of it';
    is_deeply $put->json->{spec}, { finalizers => ['a/b'] }, 'nor that';
    is_deeply $acme->get("$path/status")->json, $put->json, 'there it is';
    $acme->get("$path/status", if_none_match => $put->etag)->is_status(304, 'unchanged');
    my $stale = $made->json->{metadata}{resourceVersion};
    $acme->put("$path/status", json => { metadata => { resourceVersion => $stale }, status => {} })->is_failure(409, 'Conflict', qr/modified/, 'a stale version');
    $acme->put("$path/status", json => {}, if_match => $made->etag)->is_status(412, 'a stale etag');
    $acme->patch("$path/status", { status => { conditions => [@conditions, { type => 'More', status => 'False' }] } })->is_status(200, 'PATCH');
    my $whole = $acme->patch($path, { metadata => { labels => { l => '3' } }, status => { conditions => [] } });
    is scalar @{ $whole->json->{status}{conditions} }, 2, 'a change of the whole leaves it as it is';
    $acme->patch("$path/status", { status => { phase => 'Terminating' } })->is_failure(422, 'Invalid', qr/status\.phase/, 'a phase that is not so');
    $acme->patch("$path/status", { status => $_->[0] })->is_failure(400, 'BadRequest', $_->[1], 'what is none: ' . JSON::PP->new->allow_nonref->encode($_->[0]))
        for [1, qr/status must be/], [{ phase => 1 }, qr/phase must be/], [{ conditions => 1 }, qr/conditions must be/], [{ conditions => [1] }, qr/conditions must be/];
    $acme->put('/api/v1/namespaces/none/status', json => {})->is_failure(404, 'NotFound', qr/namespaces "none" not found/, 'of one that is not there');
    $reader->put("$path/status", json => {})->is_failure(403, 'Forbidden', qr/./, 'readers do not');
    $acme->patch("$path/status", { status => undef })->is_status(200, 'taken back');
    is_deeply $acme->get($path)->json->{status}, { phase => 'Active' }, 'it has none';
    my $full = $acme->put('/api/v1/tenants/acme/namespaces/parts/finalize', json => { metadata => { name => 'parts', finalizers => ['c/d'] }, spec => {} });
    $full->is_status(200, 'finalize');
    is_deeply $full->json->{spec}, {}, 'its finalizers are gone';
    $acme->patch("$path/finalize", {})->is_failure(405, 'MethodNotAllowed', qr/PUT/, 'it has no patch');
    is $acme->delete($path)->json->{status}{phase}, 'Terminating', 'deleted while it has a finalizer';
    $acme->patch("$path/status", { status => { phase => 'Active' } })->is_failure(422, 'Invalid', qr/status\.phase.*Terminating/, 'it cannot be said to live');
    $acme->put("$path/finalize", json => { metadata => { name => 'parts' }, spec => { finalizers => [] } })->is_status(200, 'finalize without any');
    $acme->get($path)->is_status(404, 'lets it go');
    $acme->$_($cms, $_ eq 'put' ? (json => {}) : {})->is_failure(405, 'MethodNotAllowed', qr/collection/, "no $_ of a collection") for qw(put patch);
};

subtest 'the status of what waits' => sub {
    my $pods = '/api/v1/namespaces/default/pods';
    my $pod  = { apiVersion => 'v1', kind => 'Pod', metadata => { name => 'waits' }, spec => { containers => [{ name => 'a', image => 'i' }] } };
    is $acme->post($pods, json => $pod)->json->{status}{phase}, 'Pending', 'a new pod';
    is $acme->post('/api/v1/persistentvolumes', json => { metadata => { name => 'waits' }, spec => { accessModes => ['ReadWriteOnce'], capacity => { storage => '1Gi' }, hostPath => { path => '/x' } } })
        ->json->{status}{phase}, 'Pending', 'a new volume';
    my $run = { phase => 'Running', podIP => '10.0.0.1' };
    $acme->patch("$pods/waits/status", { status => $run })->is_status(200, 'it runs');
    is_deeply $acme->put("$pods/waits", json => { %$pod, metadata => { name => 'waits', labels => { a => 'b' } } })->json->{status}, $run,
        'who replaces it without a status leaves that as it is';
    is_deeply $acme->put("$pods/waits", json => { %$pod, status => {} })->json->{status}, $run, 'with an empty one as well';
    is $acme->post("$pods?dryRun=All", json => { %$pod, metadata => { name => 'empty' }, status => {} })->json->{status}{phase}, 'Pending',
        'a new pod with an empty status';
    is $acme->post("$pods?dryRun=All", json => { %$pod, metadata => { name => 'done' }, status => { phase => 'Succeeded' } })->json->{status}{phase}, 'Pending',
        'a new pod with one of its own';
    is_deeply $acme->put("$pods/waits", json => { %$pod, status => { phase => 'Pending' } })->json->{status}, $run, 'a file of before does not set it back';
    is_deeply $acme->patch("$pods/waits", { metadata => { labels => { c => 'd' } }, status => { phase => 'Failed' } })->json->{status}, $run, 'nor does a patch';
    $acme->delete($_)->is_status(200, "$_ goes") for "$pods/waits", '/api/v1/persistentvolumes/waits';
    my $service = $acme->post('/api/v1/namespaces/default/services?dryRun=All', json => { metadata => { name => 's' }, spec => { ports => [{ port => 80 }] },
        status => { loadBalancer => { ingress => [{ ip => '192.0.2.1' }] } } });
    $service->is_status(201, 'a new service');
    ok !exists $service->json->{status}, 'has none';
    my $ready = { conditions => [{ type => 'Ready', status => 'True' }] };
    is_deeply $admin->post('/api/v1/nodes', json => { metadata => { name => 'waits' }, status => $ready })->json->{status}, $ready, 'a new node says what it is';
    is_deeply $admin->patch('/api/v1/nodes/waits', { status => { conditions => [] } })->json->{status}, $ready, 'later by its part alone';
    $admin->delete('/api/v1/nodes/waits')->is_status(200, 'it goes');
};

# Clients that have these kinds compiled in can't read them otherwise: one such object and "describe" fails for all.
subtest 'the form of built-in kinds' => sub {
    my $in = '/api/v1/namespaces/default';
    my $refused = sub {
        my ($where, $object, $field) = @_;
        my $answer = $acme->post($where, json => { metadata => { name => 'formless' }, %$object });
        $answer->is_failure(422, 'Invalid', qr/\Q$field\E: Invalid value: .* must be /, "$field is refused");
        is $answer->json->{details}{causes}[0]{field}, $field, 'by its path';
    };
    $refused->($cms, { data => { x => 1 } }, 'data[x]');
    $refused->($cms, { data => ['x'] }, 'data');
    $refused->($cms, { binaryData => { x => '?' } }, 'binaryData[x]');
    $refused->($cms, { immutable => 'yes' }, 'immutable');
    $refused->("$in/secrets", { data => { x => 'abc' } }, 'data[x]');
    $refused->("$in/secrets", { type => 5 }, 'type');
    $refused->("$in/pods", { spec => { containers => {} } }, 'spec.containers');
    $refused->("$in/pods", { spec => { containers => ['web'] } }, 'spec.containers[0]');
    $refused->("$in/pods", { spec => { containers => [{ env => [{ name => 'A', value => 1 }] }] } }, 'spec.containers[0].env[0].value');
    $refused->("$in/pods", { spec => { containers => [{ command => [1] }] } }, 'spec.containers[0].command[0]');
    $refused->("$in/pods", { spec => { terminationGracePeriodSeconds => 1.5 } }, 'spec.terminationGracePeriodSeconds');
    $refused->("$in/services", { spec => { ports => [{ port => 80, targetPort => [] }] } }, 'spec.ports[0].targetPort');
    $refused->('/api/v1/persistentvolumes', { spec => { capacity => { storage => [] } } }, 'spec.capacity[storage]');
    my $long = { spec => { containers => [{ name => 'web', image => 'i', resources => { limits => { cpu => 1, memory => '1Gi' } }, env => undef }] } };
    $acme->post("$in/pods?dryRun=All", json => { metadata => { name => 'formal' }, %$long })->is_status(201, 'quantities are numbers or not, null is nothing');
    $acme->patch("$cms/c1", { data => { x => 1 } })->is_failure(422, 'Invalid', qr/data\[x\]/, 'a patch is looked at, too');
};

subtest 'what built-in kinds are where nobody said so' => sub {
    my $in = '/api/v1/namespaces/default';
    my $made = sub {
        my ($where, %object) = @_;
        return $acme->post("$where?dryRun=All", json => { metadata => { name => 'preset' }, %object })->json;
    };
    is $made->("$in/secrets")->{type}, 'Opaque', 'a secret';
    is $made->("$in/secrets", type => 'example.com/x')->{type}, 'example.com/x', 'one that says what it is';
    my %volume = (accessModes => ['ReadWriteOnce'], capacity => { storage => '1Gi' }, hostPath => { path => '/x' });
    is_deeply $made->('/api/v1/persistentvolumes', spec => \%volume)->{spec},
        { %volume, persistentVolumeReclaimPolicy => 'Retain', volumeMode => 'Filesystem' }, 'a volume';
    my $pod = $made->("$in/pods", spec => { containers => [
        { name => 'a', image => 'i', ports => [{ containerPort => 1 }, { containerPort => 2, protocol => 'UDP' }] }, { name => 'b', image => 'i' }] });
    is_deeply [map { $_->{protocol} } @{ $pod->{spec}{containers}[0]{ports} }], [qw(TCP UDP)], 'the ports of a pod';
    is_deeply $pod->{spec}{containers}[1], { name => 'b', image => 'i' }, 'a container without ports';
    is_deeply $made->("$in/services", spec => { ports => [{ port => 1 }] })->{spec}, { type => 'ClusterIP', sessionAffinity => 'None', ports => [{ port => 1, protocol => 'TCP' }] }, 'a service';
};

subtest 'what one may' => sub {
    my $may = sub {
        my ($who, %attributes) = @_;
        my $answer = $who->post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
            json => { kind => 'SelfSubjectAccessReview', apiVersion => 'authorization.k8s.io/v1', spec => { resourceAttributes => \%attributes } });
        $answer->is_status(201, join ' ', map { "$_=$attributes{$_}" } sort keys %attributes);
        return $answer->json->{status}{allowed} ? 'yes' : 'no';
    };
    is $may->($acme,   verb => 'create', resource => 'configmaps'), 'yes', 'an admin';
    is $may->($member, verb => 'create', resource => 'configmaps'), 'yes', 'a member';
    is $may->($member, verb => 'create', resource => 'customresourcedefinitions', group => 'apiextensions.k8s.io'), 'no', 'not of types';
    is $may->($reader, verb => 'create', resource => 'configmaps'), 'no', 'a reader';
    is $may->($reader, verb => 'list',   resource => 'configmaps'), 'yes', 'reads';
    is $may->($acme,   verb => 'create', resource => 'daemonsets', group => 'apps'), 'no', 'what is the system\'s';
    is $may->($acme,   verb => 'create', resource => 'tenants'), 'no', 'tenants';
    is $may->($acme,   verb => '*',      resource => '*', group => '*'), 'no', 'everything';
    is $may->($admin,  verb => '*',      resource => '*', group => '*'), 'yes', 'the operator everything';
    my $rules = $reader->post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', json => { spec => { namespace => 'default' } })->json->{status};
    my ($rule) = grep { $_->{resources}[0] eq 'configmaps' } @{ $rules->{resourceRules} };
    is_deeply [sort @{ $rule->{verbs} }], [qw(get list watch)], 'the rules say the same';
};

subtest 'who one is' => sub {
    my $path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    my $ask  = { kind => 'SelfSubjectReview', apiVersion => 'authentication.k8s.io/v1', metadata => {} };
    my $before = $instance->change_count;
    for my $case ([$acme, 'acme', 'admin'], [$reader, 'acme', 'reader'], [$admin, 'system', 'operator']) {
        my ($who, $tenant, $role) = @$case;
        my $answer = $who->post($path, json => $ask);
        $answer->is_status(201, $role);
        my $user = $answer->json->{status}{userInfo};
        like delete $user->{username}, qr/\A\w+\z/, 'has a name';
        is_deeply $user, { extra => { role => [$role], tenant => [$tenant] } }, 'a role and a tenant';
    }
    my $claims = $acme->post($path, json => { %$ask, status => { userInfo => { username => 'root' } } });
    isnt $claims->json->{status}{userInfo}{username}, 'root', 'what is claimed is nothing';
    $acme->post($path, json => { %$ask, kind => 'Pod' })->is_status(400, 'another kind');
    $acme->post($path, json => [])->is_status(400, 'no object');
    is $instance->change_count, $before, 'and nothing is stored';
};

subtest 'a type in a group that has reviews' => sub {
    $acme->post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', json => { metadata => { name => 'gates.authentication.k8s.io',
        annotations => { 'api-approved.kubernetes.io' => 'unapproved' } }, spec => { group => 'authentication.k8s.io', scope => 'Cluster',
            names => { plural => 'gates', kind => 'Gate' }, versions => [{ name => 'v2', served => JSON::PP::true, storage => JSON::PP::true,
                schema => { openAPIV3Schema => { type => 'object' } } }] } })->is_status(201, 'is made');
    my @groups = grep { $_->{name} eq 'authentication.k8s.io' } @{ $acme->get('/apis')->json->{groups} };
    is scalar @groups, 1, 'the group is told once';
    is_deeply [map { $_->{version} } @{ $groups[0]{versions} }], [qw(v2 v1)], 'with both versions';
    is_deeply [map { $_->{name} } @{ $acme->get("/apis/authentication.k8s.io/$_")->json->{resources} }],
        [$_ eq 'v1' ? 'selfsubjectreviews' : 'gates'], "what $_ has" for qw(v1 v2);
};

done_testing;
