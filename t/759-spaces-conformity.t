#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What the Kubernetes API promises in detail: what discovery and the reviews say is what the calls do; options, limits and
# forms of requests; namespaces that end; definitions that are not right.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my %who      = (
    admin => $acme, member => $instance->combined('mike:acme:member'), reader => $instance->combined('rita:acme:reader'),
    operator => $admin,
);
my $cms     = '/api/v1/namespaces/default/configmaps';
my $crds    = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
my $reviews = '/apis/authorization.k8s.io/v1';

sub fields { return join ' ', map { $_->{field} } @{ $_[0]->json->{details}{causes} // [] } }

sub definition {
    my ($plural, $kind, $schema, %more) = @_;
    my $version = delete $more{version} // {};
    return {
        apiVersion => 'apiextensions.k8s.io/v1', kind => 'CustomResourceDefinition', metadata => { name => "$plural.example.com" },
        spec => {
            group => 'example.com', scope => 'Namespaced', names => { plural => $plural, kind => $kind, %{ delete $more{names} // {} } },
            versions => [{ name => 'v1', served => JSON::PP::true, storage => JSON::PP::true,
                schema => { openAPIV3Schema => $schema // { type => 'object' } }, %$version }], %more,
        },
    };
}

$admin->post('/api/v1/tenants', json => { metadata => { name => $_ } })->is_status(201, "tenant $_") for qw(acme globex);
$admin->post('/api/v1/namespaces', json => { metadata => { name => 'of-system' } })->is_status(201, 'the system space');
$acme->post($crds, json => definition('widgets', 'Widget', { type => 'object', 'x-kubernetes-preserve-unknown-fields' => JSON::PP::true }, version => { subresources => { status => {},
    scale => { specReplicasPath => '.spec.n', statusReplicasPath => '.status.n' } } }))->is_status(201, 'a type of acme');

# Every resource of discovery with its group and version.
sub discovered {
    my ($client) = @_;
    my @versions = (['', 'v1', '/api/v1']);
    for my $group (@{ $client->get('/apis')->json->{groups} }) {
        push @versions, map { [$group->{name}, $_->{version}, "/apis/$_->{groupVersion}"] } @{ $group->{versions} };
    }
    return map { my $of = $_; map { [@$of, $_] } @{ $client->get($of->[2])->json->{resources} } } @versions;
}

# Does the call reach what it asks for? Nothing is changed: what is named is not there, or it is a dry run.
sub reaches {
    my ($client, $verb, $path, $part) = @_;
    my $item = "$path/absent" . ($part eq '' ? '' : "/$part");
    $item = "$path/acme" . ($part eq '' ? '' : "/$part") if $path =~ m{/tenants\z};
    my $dry    = 'dryRun=All';
    my $answer = $verb eq 'get' ? $client->get($item)
        : $verb eq 'list'             ? $client->get($path)
        : $verb eq 'watch'            ? $client->get("$path?watch=1&resourceVersion=9000000000000000000")
        : $verb eq 'create'           ? $client->post("$path?$dry", json => {})
        : $verb eq 'update'           ? $client->put("$item?$dry", json => {})
        : $verb eq 'patch'            ? $client->patch("$item?$dry", {})
        : $verb eq 'delete'           ? $client->delete("$item?$dry")
        : $client->delete("$path?$dry");
    return 'no' if $answer->status =~ /\A(?:403|405)\z/;
    return 'no' if $answer->status == 404 && ($answer->json->{message} // '') =~ /could not find|no such address/;
    return 'yes';
}

my @verbs = qw(create delete deletecollection get list patch update watch);

subtest 'the reviews say what the calls do' => sub {
    for my $role (sort keys %who) {
        my $client = $who{$role};
        my (%allowed, %listed, %rules, $wrong);
        for my $rule (@{ $client->post("$reviews/selfsubjectrulesreviews", json => { spec => { namespace => 'default' } })->json->{status}{resourceRules} }) {
            $rules{"$rule->{apiGroups}[0]/$_"}{$rule->{resources}[0]} = 1 for @{ $rule->{verbs} };
        }
        for (discovered($client)) {
            my ($group, $version, $base, $resource) = @$_;
            next if $group =~ /\Aauth(?:entic|oriz)ation[.]k8s[.]io\z/;
            my ($plural, $part) = (split(m{/}, $resource->{name}), '');
            my %has = map { $_ => 1 } @{ $resource->{verbs} };
            my $path = $base . ($resource->{namespaced} ? '/namespaces/default' : '') . "/$plural";
            for my $verb (@verbs) {
                next if $part ne '' && $verb !~ /\A(?:get|patch|update)\z/;
                my $name = $plural eq 'tenants' && $verb !~ /\A(?:create|list|watch)\z/ ? 'acme' : '';
                my $says = $client->post("$reviews/selfsubjectaccessreviews", json => { spec => { resourceAttributes => {
                    verb => $verb, group => $group, version => $version, resource => $plural, subresource => $part, name => $name,
                    namespace => 'default' } } })->json->{status}{allowed} ? 'yes' : 'no';
                my $does = reaches($client, $verb, $path, $part);
                my $lists = $rules{"$group/$verb"}{$resource->{name}} ? 'yes' : 'no';
                next if $says eq $does && $lists eq $does && ($has{$verb} || $does eq 'no');
                $wrong .= "$verb $group/$version $resource->{name}: does $does, says $says, lists $lists, discovery @{[$has{$verb} // 0]}\n";
            }
        }
        is $wrong, undef, "as $role";
    }
};

subtest 'reviews of what discovery does not have' => sub {
    my $may = sub {
        my ($client, %of) = @_;
        return $client->post("$reviews/selfsubjectaccessreviews", json => { spec => { resourceAttributes => \%of } })->json->{status}{allowed} ? 'yes' : 'no';
    };
    my $reach = sub {
        my ($client, $path) = @_;
        return $client->post("$reviews/selfsubjectaccessreviews", json => { spec => { nonResourceAttributes => { verb => 'get', path => $path } } })
            ->json->{status}{allowed} ? 'yes' : 'no';
    };
    is $may->($acme, verb => 'get',    resource => 'pods', subresource => 'log'),       'no', 'no such part';
    is $may->($acme, verb => 'create', resource => 'pods', subresource => 'exec'),      'no', 'nor that';
    is $may->($acme, verb => 'patch',  resource => 'namespaces', subresource => 'finalize'), 'no', 'finalize takes PUT alone';
    is $may->($acme, verb => 'update', resource => 'namespaces', subresource => 'finalize'), 'yes', 'which is update';
    is $may->($acme, verb => 'get',    resource => 'widgets', group => 'example.com', version => 'v9'), 'no', 'no such version';
    is $may->($acme, verb => 'get',    resource => 'widgets', group => 'example.com', version => '*'), 'yes', 'any version';
    is $may->($acme, verb => 'delete', resource => 'namespaces', name => 'default'), 'no', 'what may not be deleted';
    is $may->($acme, verb => '*', resource => 'namespaces', name => 'default'), 'no', 'nor may all verbs be used on it';
    is $may->($admin, verb => 'delete', resource => 'tenants', name => 'system'), 'no', 'nor that by the operator';
    is $may->($acme, verb => 'get', resource => 'tenants', name => 'globex'), 'no', "another's";
    is $may->($acme, verb => '*', resource => 'configmaps'), 'yes', 'all verbs';
    is $may->($who{reader}, verb => '*', resource => 'configmaps'), 'no', 'not for a reader';
    is $may->($_, verb => 'create', resource => 'selfsubjectaccessreviews', group => 'authorization.k8s.io'), 'yes', 'to ask is for all' for values %who;
    is $may->($_, verb => 'create', resource => 'selfsubjectreviews', group => 'authentication.k8s.io'), 'yes', 'who one is, too' for values %who;
    for my $path (qw(/version /healthz /apis /apis/example.com/v1 /openapi/v2 /spaces/acme/types /spaces/globex/types /api/v1/tenants/acme/pods
        /api/v1/tenants/globex/pods /api/v1/tenants/acme /api/v1/tenants/globex /api/v1/namespaces/tenants/configmaps
        /apis/example.com/v1/tenants/acme/widgets /apis/example.com/v1/tenants/globex/widgets
        /apis/example.com/v1/namespaces/tenants/widgets /application.wadl)) {
        my $does = $acme->get($path)->status == 200 ? 'yes' : 'no';
        is $reach->($acme, $path), $does, "$path: $does";
    }
    $acme->post("$reviews/selfsubjectaccessreviews", json => { kind => 'Pod', spec => {} })->is_failure(400, 'BadRequest', qr/kind/, 'another kind');
};

subtest 'parts' => sub {
    is $acme->get('/api/v1/tenants/acme/status')->json->{kind}, 'Tenant', 'the status of a Tenant';
    is $admin->get('/api/v1/tenants/globex/status')->json->{metadata}{name}, 'globex', 'by its name';
    $acme->get('/api/v1/tenants/globex/status')->is_failure(403, 'Forbidden', qr/globex/, "not another's");
    $admin->put('/api/v1/tenants/acme/status', json => {})->is_status(405, 'is only read');
    $acme->post($cms, json => { metadata => { name => 'parts' } })->is_status(201, 'a config map');
    $acme->get("$cms/parts/status")->is_failure(404, 'NotFound', qr/could not find/, 'has no status');
    $acme->patch('/api/v1/namespaces/default/finalize', {})->is_failure(405, 'MethodNotAllowed', qr/./, 'of a namespace finalize is put');
    $acme->get('/api/v1/namespaces/default/finalize')->is_failure(405, 'MethodNotAllowed', qr/./, 'and not read');
    $_->get('/api/v1/namespaces/default/events/acme')->is_failure(404, 'NotFound', qr/events "acme" not found/, 'there are no events')
        for $acme, $admin;
    $who{member}->delete($crds)->is_failure(403, 'Forbidden', qr/role admin/, 'members delete no types, together neither');
    my $by_tenancy = '/v2.0/acme/customresourcedefinitions.apiextensions.k8s.io/widgets.example.com';
    my $is = $acme->get($by_tenancy)->json;
    my $told = sub { my ($answer, $what) = @_; $answer->is_problem(403, 'forbidden', $what); like $answer->json->{detail}, qr/the role admin/, '... naming the role' };
    $told->($who{member}->delete($by_tenancy), 'nor by /v2.0');
    $told->($who{member}->delete($by_tenancy =~ s/v2/v1/r), 'nor by /v1.0');
    $told->($who{member}->put($by_tenancy, json => $is), 'nor put they one');
    $told->($who{member}->put($by_tenancy =~ s/widgets/gadgets/r, json => definition('gadgets', 'Gadget')), 'or make one');
    $told->($who{member}->patch($by_tenancy, { metadata => { labels => { a => 'b' } } }), 'or patch one');
    $told->($who{member}->put("$by_tenancy/traits/HW_CPU_X86_AVX"), 'or give it a trait');
    $told->($who{member}->post("$by_tenancy/action/recover"), 'or recover one');
    $acme->patch($by_tenancy, { metadata => { labels => { a => 'b' } } })->is_status(200, 'an admin patches it');
    $acme->put("$cms/parts/scale", json => {})->is_failure(404, 'NotFound', qr/could not find/, 'nor a scale');
};

# Tools such as Helm's templates and kustomize write the namespace into all objects of a manifest.
subtest 'a namespace where there is none' => sub {
    my $tried = sub {
        my ($client, $path, $object) = @_;
        my ($kind, $at) = ($object->{kind}, "$path/$object->{metadata}{name}");
        my $made = $client->post($path, json => { %$object, metadata => { %{ $object->{metadata} }, namespace => 'kube-system' } });
        $made->is_status(201, "$kind: POST");
        ok !exists $made->json->{metadata}{namespace}, "$kind: it stands in none";
        my $is = $made->json;
        my $put = $client->put($at, json => { %$is, metadata => { %{ $is->{metadata} }, namespace => 'kube-system' } });
        $put->is_status(200, "$kind: PUT");
        my $patch = $client->patch($at, { metadata => { namespace => 'elsewhere' } });
        $patch->is_status(200, "$kind: PATCH");
        is $_->json->{metadata}{resourceVersion}, $is->{metadata}{resourceVersion}, "$kind: nothing changes" for $put, $patch;
        $client->patch($at, { metadata => { namespace => 7 } })->is_failure(400, 'BadRequest', qr/metadata\.namespace must be a string/, "$kind: a number is none");
        $client->delete($at)->is_status(200, "$kind: it goes");
    };
    $tried->($acme, $crds, definition('strays', 'Stray'));
    $tried->($acme, '/api/v1/persistentvolumes', { kind => 'PersistentVolume', metadata => { name => 'stray' }, spec => { capacity => { storage => '1Gi' },
        accessModes => ['ReadWriteOnce'], hostPath => { path => '/x' } } });
    $tried->($acme, '/api/v1/namespaces', { kind => 'Namespace', metadata => { name => 'stray' } });
    $tried->($admin, '/api/v1/tenants', { kind => 'Tenant', metadata => { name => 'stray' } });
    $acme->post($crds, json => definition('wides', 'Wide', undef, scope => 'Tenant'))->is_status(201, 'a type of its own');
    $acme->post('/apis/example.com/v1/wides', json => { metadata => { name => 'w', namespace => 'kube-system' } })->is_status(201, 'whose objects stand in none');
    $acme->post($cms, json => { metadata => { name => 'stray', namespace => 'kube-system' } })->is_failure(400, 'BadRequest',
        qr/the namespace of the provided object does not match/, 'what stands in one has to be of that one');
};

# Clients of Ironic and Placement take 204 for gone, so nothing there waits; who relies on that has to be told.
subtest 'finalizers of what waits for nobody' => sub {
    my $nodes = '/apis/baremetal.openstack.org/v1/tenants/acme/nodes';
    my $uuid  = '5f9a1c34-0c5f-4b0e-9d57-4b3c2a1d0e0f';
    my $node  = sub { return { metadata => { name => $uuid, @_ }, driver => 'fake-hardware' } };
    my $refused = sub {
        my ($answer, $what, $at) = @_;
        $answer->is_failure(422, 'Invalid', qr/objects of this type are deleted at once, and wait for no finalizer/, $what);
        is fields($answer), $at, "$what: told by its place";
    };
    $refused->($admin->post($nodes, json => $node->(finalizers => ['example.com/f'])), 'POST', 'metadata.finalizers[0]');
    $admin->post($nodes, json => $node->(finalizers => []))->is_status(201, 'one without');
    $refused->($admin->patch("$nodes/$uuid", { metadata => { finalizers => ['example.com/f'] } }), 'PATCH', 'metadata.finalizers[0]');
    my $tenancy = "/v2.0/acme/nodes.baremetal.openstack.org/$uuid";
    $admin->patch($tenancy, { metadata => { finalizers => ['example.com/f'] } })->is_status(400, 'nor by the tenancy API');
    $instance->sql(q(UPDATE resources SET meta = '{"finalizers":["example.com/f"]}' WHERE name = ') . "$uuid'");
    $admin->patch("$nodes/$uuid", { metadata => { labels => { a => 'b' } } })->is_status(200, 'those that an earlier version stored may stay');
    $refused->($admin->patch("$nodes/$uuid", { metadata => { finalizers => ['example.com/f', 'example.com/g'] } }), 'a new one beside them', 'metadata.finalizers[1]');
    $admin->patch("$nodes/$uuid", { metadata => { finalizers => undef } })->is_status(200, 'and go');
    is $admin->delete("$nodes/$uuid")->json->{status}, 'Success', 'deleted at once';
};

# "0" is what clients that count versions in numbers send for none.
subtest 'the resourceVersion 0 is none' => sub {
    $acme->post($cms, json => { metadata => { name => 'zero', resourceVersion => '0' } })->is_status(201, 'POST');
    $acme->put("$cms/zero", json => { metadata => { name => 'zero', resourceVersion => '0' }, data => { a => '1' } })->is_status(200, 'PUT');
    $acme->patch("$cms/zero", { metadata => { resourceVersion => '0' }, data => { a => '2' } })->is_status(200, 'PATCH');
    $acme->put("$cms/zero", json => { metadata => { name => 'zero', resourceVersion => '1' }, data => {} })->is_failure(409, 'Conflict', qr/modified/, 'any other one counts');
    $admin->patch('/api/v1/tenants/acme', { metadata => { resourceVersion => '0', annotations => { zero => '1' } } })->is_status(200, 'of a Tenant');
    my $widgets = '/apis/example.com/v1/namespaces/default/widgets';
    $acme->post($widgets, json => { metadata => { name => 'zero', resourceVersion => '0' } })->is_status(201, 'of a custom type');
    $acme->put("$widgets/zero", json => { metadata => { name => 'zero', resourceVersion => '0' } })->is_failure(422, 'Invalid', qr/must be specified for an update/,
        'whose update has to name one');
};

# Typed clients read null as "", and write that back.
subtest 'null in maps' => sub {
    my ($secrets, $pods) = map { "/api/v1/namespaces/default/$_" } qw(secrets pods);
    my $made = $acme->post($cms, json => { metadata => { name => 'nulls' }, data => { a => undef, b => 'x' }, binaryData => { c => undef }, immutable => JSON::PP::true });
    $made->is_status(201, 'a config map');
    is_deeply [@{ $made->json }{qw(data binaryData)}], [{ a => '', b => 'x' }, { c => '' }], 'has texts';
    $made = $acme->post($secrets, json => { metadata => { name => 'nulls' }, data => { a => undef }, stringData => { b => undef } });
    $made->is_status(201, 'a secret');
    is_deeply $made->json->{data}, { a => '', b => '' }, 'too';
    my %pod = (metadata => { name => 'nulls' }, spec => { nodeSelector => { a => undef }, containers => [{ name => 'c', image => 'i' }] });
    is_deeply $acme->post("$pods?dryRun=All", json => \%pod)->json->{spec}{nodeSelector}, { a => '' }, 'and a pod, deeper';
    # What was stored before.
    $instance->sql(q(UPDATE resources SET body = '{"data":{"a":null,"b":"x"},"immutable":true}' WHERE name = 'nulls' AND body LIKE '%"immutable"%'));
    my $is = $acme->patch("$cms/nulls", { metadata => { labels => { l => '1' } } });
    $is->is_status(200, 'an immutable one with null can be labelled');
    $acme->put("$cms/nulls", json => { metadata => { name => 'nulls' }, data => { a => '', b => 'x' }, immutable => JSON::PP::true })->is_status(200, 'and written back');
    is fields($acme->put("$cms/nulls", json => { metadata => { name => 'nulls' }, data => { a => 'y', b => 'x' }, immutable => JSON::PP::true })), 'data', 'but with no other text';
};

subtest 'namespaces that end' => sub {
    my $namespaces = '/api/v1/namespaces';
    my $make = sub { $acme->post($namespaces, json => { metadata => { name => $_[0] }, spec => { finalizers => $_[1] } })->is_status(201, "namespace $_[0]") };
    $make->('plain', ['kubernetes']);
    is $acme->delete("$namespaces/plain")->json->{status}, 'Success', 'the finalizer of Kubernetes itself is waited for by nobody';
    $make->('ends', ['kubernetes', 'example.com/f']);
    $acme->post("$namespaces/ends/configmaps", json => { metadata => { name => 'in' } })->is_status(201, 'an object in it');
    $acme->put("$namespaces/ends", json => { metadata => { name => 'ends', labels => { l => '1' } } })->is_status(200, 'a change of the whole');
    is_deeply $acme->get("$namespaces/ends")->json->{spec}{finalizers}, ['kubernetes', 'example.com/f'], 'leaves spec.finalizers alone';
    my $ended = $acme->delete("$namespaces/ends");
    is $ended->json->{status}{phase}, 'Terminating', 'one in spec delays a deletion';
    ok $ended->json->{metadata}{deletionTimestamp}, 'and says since when';
    my $refused = $acme->post("$namespaces/ends/configmaps", json => { metadata => { name => 'new' } });
    $refused->is_failure(403, 'Forbidden', qr/unable to create new content in namespace ends because it is being terminated/, 'nothing new comes into it');
    is $refused->json->{details}{causes}[0]{reason}, 'NamespaceTerminating', 'for that cause';
    $acme->put('/v2.0/acme/namespaces/ends/configmaps/new', json => {})->is_status(403, 'by no dialect');
    $acme->patch("$namespaces/ends/configmaps/in", { data => { a => 'b' } })->is_status(200, 'what is in it can be changed');
    $acme->delete("$namespaces/ends/configmaps/in")->is_status(200, 'and deleted');
    $acme->post('/v2.0/acme/namespaces/ends/configmaps/in/action/recover')->is_status(403, 'and does not come back');
    my ($code, $said) = $instance->manage('doctor');
    is $code, 0, 'the store is sound' or diag $said;
    $acme->put("$namespaces/ends/finalize", json => { metadata => { name => 'ends' }, spec => { finalizers => ['kubernetes'] } })->is_status(200, 'finalized');
    $acme->get("$namespaces/ends")->is_status(404, 'it is gone');
    $acme->post("$namespaces/ends/configmaps", json => { metadata => { name => 'new' } })->is_failure(404, 'NotFound', qr/namespaces "ends" not found/, 'as told');
    my $bad = $acme->post($namespaces, json => { metadata => { name => 'bad' }, spec => { finalizers => ['plain', 'example.com/x', 1] } });
    $bad->is_failure(422, 'Invalid', qr/neither a standard finalizer name/, 'finalizers that are none');
    is fields($bad), 'spec.finalizers[0] spec.finalizers[2]', 'told by their places';
    $acme->post($namespaces, json => { metadata => { name => 'bad' }, spec => $_ })->is_failure(400, 'BadRequest', qr/spec/, 'nor is that a spec')
        for 'x', { finalizers => 'x' };
};

subtest 'options of a deletion' => sub {
    my $again = sub { $acme->post($cms, json => { metadata => { name => 'del' } }); "$cms/del" };
    for ([{ kind => 'Pod' }, qr/kind.*DeleteOptions/], [{ gracePeriodSeconds => 'x' }, qr/gracePeriodSeconds must be an integer/],
        [{ gracePeriodSeconds => 1.5 }, qr/integer/], [{ orphanDependents => 'x' }, qr/orphanDependents must be/],
        [{ propagationPolicy => 1 }, qr/propagationPolicy must be/], [{ preconditions => { uid => 7 } }, qr/preconditions\.uid must be/],
        [{ preconditions => { resourceVersion => 7 } }, qr/preconditions\.resourceVersion must be/]) {
        $acme->request('DELETE', $again->(), json => $_->[0])->is_failure(400, 'BadRequest', $_->[1], JSON::PP->new->canonical->encode($_->[0]));
    }
    for ([{ propagationPolicy => 'Nix' }, 'propagationPolicy'], [{ orphanDependents => JSON::PP::true, propagationPolicy => 'Orphan' }, 'propagationPolicy'],
        [{ dryRun => ['Some', 'All'] }, 'dryRun[0]']) {
        my $answer = $acme->request('DELETE', $again->(), json => $_->[0]);
        $answer->is_failure(422, 'Invalid', qr/is invalid/, JSON::PP->new->canonical->encode($_->[0]));
        is fields($answer), $_->[1], 'told by its place';
    }
    $acme->delete($again->() . '?propagationPolicy=Nix')->is_failure(422, 'Invalid', qr/propagationPolicy/, 'in the query, too');
    $acme->delete($again->() . '?gracePeriodSeconds=x')->is_failure(400, 'BadRequest', qr/gracePeriodSeconds/, 'and that');
    $acme->get($again->())->is_status(200, 'none of them deletes');
    my $dry = $acme->delete($again->() . '?dryRun=All&gracePeriodSeconds=5&propagationPolicy=Foreground');
    like $dry->header('Warning'), qr/\A299 - "gracePeriodSeconds is ignored[^"]*"\z/, 'of a grace period it is warned';
    $acme->get("$cms/del")->is_status(200, 'a dry run deletes nothing');
    my $etag = $acme->get("$cms/del")->etag;
    my $uid  = $acme->get("$cms/del")->json->{metadata}{uid};
    $acme->patch("$cms/del", { data => { a => 'b' } });
    $acme->request('DELETE', "$cms/del", json => { preconditions => { uid => $uid } }, if_match => $etag)->is_status(412, 'with preconditions If-Match still counts');
    for my $options ({ kind => 'DeleteOptions', apiVersion => 'v1' }, { kind => 'DeleteOptions', apiVersion => 'meta.k8s.io/v1', propagationPolicy => 'Orphan' },
        { orphanDependents => JSON::PP::false }, { gracePeriodSeconds => -1, dryRun => [], preconditions => {} }) {
        is $acme->request('DELETE', $again->(), json => $options)->json->{status}, 'Success', JSON::PP->new->canonical->encode($options);
    }
};

subtest 'parameters' => sub {
    my $long = $acme->post("$cms?fieldManager=" . 'x' x 129, json => { metadata => { name => 'fm' } });
    $long->is_failure(422, 'Invalid', qr/fieldManager: Too long: may not be longer than 128/, 'a long field manager');
    $acme->post("$cms?fieldManager=" . 'x' x 128, json => { metadata => { name => 'fm' } })->is_status(201, 'one that is not');
    $acme->patch("$cms/fm?fieldManager=" . 'x' x 129, {})->is_failure(422, 'Invalid', qr/fieldManager/, 'of a patch');
    $acme->get("$cms?fieldSelector=spec.nodeName%3Dx")->is_failure(400, 'BadRequest', qr/spec\.nodeName/, 'a field of another type');
    $acme->get('/api/v1/pods?fieldSelector=spec.nodeName%3Dx,status.phase!%3DFailed')->is_status(200, 'of its own');
    $acme->get("/apis/example.com/v1/widgets?fieldSelector=spec.n%3D1")->is_failure(400, 'BadRequest', qr/spec\.n/, 'of a custom one');
    $acme->get("$cms?continue=9000000000000000000:x")->is_failure(400, 'BadRequest', qr/continue/, 'a list that is still to come');
    my $first = $acme->get("$cms?limit=1")->json->{metadata}{continue};
    $acme->get("$cms?limit=1&continue=$first")->is_status(200, 'a list that goes on');
};

subtest 'metadata' => sub {
    my $with = sub { return $acme->post($cms, json => { metadata => { name => 'meta', @_ } }) };
    for (['metadata.annotations', annotations => { 'a b' => 'x' }], ['metadata.annotations', annotations => { big => 'x' x (256 * 1024) }],
        ['metadata.finalizers[1]', finalizers => ['a.b/c', 'b c/d']], ['metadata.labels', labels => { 'x/y/z' => '' }],
        ['metadata.ownerReferences[0].apiVersion metadata.ownerReferences[0].uid', ownerReferences => [{ kind => 'Pod', name => 'p', uid => '' }]],
        ['metadata.ownerReferences', ownerReferences => [map { { apiVersion => 'v1', kind => 'Pod', name => 'p', uid => "u$_", controller => JSON::PP::true } } 1, 2]]) {
        my ($fields, @members) = @$_;
        my $answer = $with->(@members);
        $answer->is_failure(422, 'Invalid', qr/is invalid/, "$members[0] that are not right");
        is fields($answer), $fields, 'told by their places';
    }
    $acme->post($cms, json => { metadata => $_->[0] })->is_failure(400, 'BadRequest', $_->[1], 'what has another form')
        for [[], qr/metadata must be an object/], [{ name => 5 }, qr/metadata\.name must be a string/], [{ generateName => 5 }, qr/generateName must be a string/],
            map { [{ name => 'meta', ownerReferences => [{ apiVersion => 'v1', kind => 'Pod', name => 'p', uid => 'u', @$_ }] }, qr/ownerReferences must be an array of objects: .*uid are strings/] } [uid => 5], [controller => 'x'];
    $with->(annotations => { 'Example.COM/a' => 'x' x 1000 }, finalizers => ['example.com/f'], ownerReferences => [{ apiVersion => 'v1', kind => 'Pod', name => 'p', uid => 'u' }])
        ->is_status(201, 'what is right');
    $acme->delete("$cms/meta")->is_status(200, 'to be deleted');
    my $late = $acme->patch("$cms/meta", { metadata => { finalizers => ['example.com/f', 'example.com/g'] } });
    $late->is_failure(422, 'Invalid', qr/no new finalizers can be added/, 'gets no new finalizers');
    is fields($late), 'metadata.finalizers[1]', 'told by its place';
    $acme->patch("$cms/meta", { metadata => { finalizers => [] } })->is_status(200, 'loses those it has');
    $acme->get("$cms/meta")->is_status(404, 'and is gone');
    my $maps = sub { return [@{ $_[0]->json->{metadata} }{qw(labels annotations)}] };
    my $null = $with->(labels => { l => undef }, annotations => { a => undef, b => 'x' });
    $null->is_status(201, 'labels and annotations that are null');
    is_deeply $maps->($null), [{ l => '' }, { a => '', b => 'x' }], 'are empty texts';
    my $changes = $instance->change_count;
    $acme->put("$cms/meta", json => { metadata => { name => 'meta', labels => { l => undef }, annotations => { a => undef, b => 'x' } } })
        ->is_status(200, 'the same again');
    is $instance->change_count, $changes, 'changes nothing';
    my $patched = $acme->patch("$cms/meta", { metadata => { annotations => { a => undef } } });
    is_deeply $maps->($patched), [{ l => '' }, { b => 'x' }], 'a patch removes by null';
    $acme->delete("$cms/meta")->is_status(200);
    my $decodes = sub { my ($answer, $what) = @_; ok eval { JSON::PP->new->utf8->decode($answer->text); 1 }, "$what: UTF-8"; };
    my $long = $acme->post($cms, json => { metadata => { generateName => 'a' . "\x{e9}" x 30 } });
    $long->is_failure(422, 'Invalid', qr/Invalid value/, 'a generated name that is none');
    $decodes->($long, 'cut between characters');
    my $term = $acme->get('/api/v1/configmaps?fieldSelector=' . 'a' x 99 . '%C3%A9');
    $term->is_failure(400, 'BadRequest', qr/invalid selector/, 'a selector that is none');
    $decodes->($term, 'cut between characters');
};

subtest 'definitions that are not right' => sub {
    my $object = sub { return { type => 'object', properties => { l => { @_ } } } };
    my $column = sub { return (version => { additionalPrinterColumns => [@_] }) };
    my $scale  = sub { return (version => { subresources => { scale => { @_ } } }) };
    my $of     = 'spec.versions[0]';
    my $schema = "$of.schema.openAPIV3Schema.properties[l]";
    my @cases  = (
        ['a column without a name, type and path', [undef, $column->({})], "$of.additionalPrinterColumns[0].name $of.additionalPrinterColumns[0].type $of.additionalPrinterColumns[0].jsonPath"],
        ['a type of columns that is none', [undef, $column->({ name => 'a', type => 'weird', jsonPath => '.a' })], "$of.additionalPrinterColumns[0].type"],
        ['a format that is none', [undef, $column->({ name => 'a', type => 'string', format => 'x', jsonPath => '.a' })], "$of.additionalPrinterColumns[0].format"],
        ['a path that is none', [undef, $column->({ name => 'a', type => 'string', jsonPath => 'a' })], "$of.additionalPrinterColumns[0].jsonPath"],
        ['a priority that is none', [undef, $column->({ name => 'a', type => 'string', jsonPath => '.a', priority => 'x' })], "$of.additionalPrinterColumns[0].priority"],
        ['columns that are none', [undef, version => { additionalPrinterColumns => 'x' }], "$of.additionalPrinterColumns"],
        ['a scale without paths', [undef, $scale->()], "$of.subresources.scale.specReplicasPath $of.subresources.scale.statusReplicasPath"],
        ['paths of a scale elsewhere', [undef, $scale->(specReplicasPath => 'spec.x', statusReplicasPath => '.spec.x', labelSelectorPath => '.x')],
            join ' ', map { "$of.subresources.scale.${_}Path" } qw(specReplicas statusReplicas labelSelector)],
        ['paths of a scale with control characters', [undef, $scale->(specReplicasPath => ".spec.a\0b", statusReplicasPath => ".status.\n", labelSelectorPath => ".spec.\x{7f}")],
            join ' ', map { "$of.subresources.scale.${_}Path" } qw(specReplicas statusReplicas labelSelector)],
        ['a status that is none', [undef, version => { subresources => { status => 'x' } }], "$of.subresources.status"],
        ['a warning of what is not deprecated', [undef, version => { deprecationWarning => 'x' }], "$of.deprecationWarning"],
        ['a long one', [undef, version => { deprecated => JSON::PP::true, deprecationWarning => 'x' x 257 }], "$of.deprecationWarning"],
        ['an array of nothing', [$object->(type => 'array')], "$schema.items"],
        ['a set of objects', [$object->(type => 'array', 'x-kubernetes-list-type' => 'set', items => { type => 'object' })], "$schema.items.x-kubernetes-map-type"],
        ['a set of sets', [$object->(type => 'array', 'x-kubernetes-list-type' => 'set', items => { type => 'array', 'x-kubernetes-list-type' => 'set',
            items => { type => 'string' } })], "$schema.items.x-kubernetes-list-type"],
        ['short names that are none', [undef, names => { shortNames => 'x' }], 'spec.names.shortNames'],
        ['one kind of the thing and of the list', [undef, names => { listKind => 'Bad' }], 'spec.names.listKind'],
        ['no group', [undef, group => ''], 'spec.group metadata.name'],
    );
    for (@cases) {
        my ($name, $given, $fields) = @$_;
        my $answer = $acme->post($crds, json => definition('bads', 'Bad', @$given));
        $answer->is_failure(422, 'Invalid', qr/\ACustomResourceDefinition\.apiextensions\.k8s\.io "bads\.example\.com" is invalid: (?!Custom)/, $name);
        is fields($answer), $fields, 'told by its place';
    }
    $acme->post($crds, json => definition('goods', 'Good', $object->(type => 'array', 'x-kubernetes-list-type' => 'set', items => { type => 'object',
        'x-kubernetes-map-type' => 'atomic' }), version => { subresources => { status => {}, scale => { specReplicasPath => '.spec.n',
        statusReplicasPath => '.status.n', labelSelectorPath => '.status.s' } }, additionalPrinterColumns => [
        { name => 'a', type => 'date', format => 'date-time', jsonPath => '.status.conditions[?(@.type=="Ready")].status', priority => 1 }] }))->is_status(201, 'what is right');
};

subtest 'versions' => sub {
    my ($true, $false) = (JSON::PP::true, JSON::PP::false);
    my $version = sub { my ($name, $storage, %more) = @_; return { name => $name, served => $true, storage => $storage, schema => { openAPIV3Schema => { type => 'object' } }, %more } };
    my $of = sub { return definition('multis', 'Multi', undef, versions => [@_]) };
    my $path = "$crds/multis.example.com";
    $acme->post($crds, json => $of->($version->('v1beta1', $true, deprecated => $true, deprecationWarning => 'say "v1" \\ instead'), $version->('v1', $false)))->is_status(201, 'two versions');
    is_deeply $acme->get($path)->json->{status}{storedVersions}, ['v1beta1'], 'one of them stores';
    my ($old, $new) = map { "/apis/example.com/$_/namespaces/default/multis" } qw(v1beta1 v1);
    is $acme->post($old, json => { metadata => { name => 'm' } })->header('Warning'), '299 - "say \\"v1\\" \\\\ instead"', 'who uses a deprecated one is warned';
    is $acme->get($old)->header('Warning'), '299 - "say \\"v1\\" \\\\ instead"', 'by each call';
    is $acme->delete("$old?labelSelector=none")->header('Warning'), '299 - "say \\"v1\\" \\\\ instead"', 'also one that deletes a collection';
    is $acme->get("$new/m")->header('Warning'), undef, 'not by the other';
    is $acme->get("$new/m")->json->{apiVersion}, 'example.com/v1', 'whose objects are the same';
    $acme->put($path, json => $of->($version->('v1beta1', $false, deprecated => $true), $version->('v1', $true)))->is_status(200, 'the other stores');
    is $acme->get("$old/m")->header('Warning'), '299 - "example.com/v1beta1 Multi is deprecated"', 'without a text it is warned as well';
    is_deeply $acme->get($path)->json->{status}{storedVersions}, ['v1beta1', 'v1'], 'which is remembered';
    my $early = $acme->put($path, json => $of->($version->('v1', $true)));
    $early->is_failure(422, 'Invalid', qr/must appear in spec\.versions/, 'a version that may be stored stays');
    is fields($early), 'status.storedVersions[0]', 'told by its place';
    $acme->put($path, json => { %{ $of->($version->('v1beta1', $false), $version->('v1', $true)) }, status => { storedVersions => ['v1'] } })->is_status(200, 'what a whole says of its status');
    is_deeply $acme->get($path)->json->{status}{storedVersions}, ['v1beta1', 'v1'], 'means nothing';
    $acme->patch("$path/status", { status => { storedVersions => ['v1', 'v9'] } })->is_failure(422, 'Invalid', qr/storedVersions\[1\].*must appear/, 'a status has to be right');
    $acme->patch("$path/status", { status => { storedVersions => [], conditions => [] } })->is_status(200, 'who has seen to the objects says so');
    is_deeply $acme->get($path)->json->{status}{storedVersions}, ['v1'], 'which leaves the one that stores';
    is scalar @{ $acme->get($path)->json->{status}{conditions} }, 2, 'conditions are not for writing';
    $acme->put($path, json => $of->($version->('v1', $true)))->is_status(200, 'then the version may go');
    $acme->get($old)->is_failure(404, 'NotFound', qr/could not find/, 'and is gone');
    my $renamed = definition('multis', 'Other');
    my $answer  = $acme->put($path, json => $renamed);
    $answer->is_failure(422, 'Invalid', qr/field is immutable/, 'the kind stays');
    is fields($answer), 'spec.names.kind', 'told by its place';
    (my $beta = $crds) =~ s/v1/v1beta1/;
    my $form = { metadata => { name => 'olds.example.com' }, spec => { group => 'example.com', version => 'v1', names => { plural => 'olds', kind => 'Old' } } };
    is $acme->post($beta, json => $form)->json->{spec}{scope}, 'Namespaced', 'in v1beta1 that is the scope of what says none';
};

subtest 'a scale, however its numbers are written' => sub {
    my $at   = '/apis/example.com/v1/namespaces/default/widgets';
    my @json = (type => 'application/merge-patch+json');
    $acme->post($at, body => '{"metadata":{"name":"scaled"},"spec":{"n":3.0}}', type => 'application/json')->is_status(201, '3.0 is an integer');
    $acme->request('PATCH', "$at/scaled/status", body => '{"status":{"n":2e0}}', @json)->is_status(200, 'and 2e0');
    my $scale = $acme->get("$at/scaled/scale")->json;
    is "$scale->{spec}{replicas} $scale->{status}{replicas}", '3 2', 'shown as what they are';
    # A client with an integer for the member can read no list that has 3.0 in it.
    like $acme->get("$at/scaled")->text, qr/"n":3\}.*"n":2\}/, 'in the object as well';
    like $acme->get($at)->text, qr/"n":3\}.*"n":2\}/, 'and in lists';
    my $etag = $acme->get("$at/scaled")->etag;
    $acme->request('PATCH', "$at/scaled", body => '{"spec":{"n":30e-1}}', @json)->is_status(200, 'the same number in another form');
    is $acme->get("$at/scaled")->etag, $etag, 'is no change';
    $acme->put('/v2.0/acme/namespaces/default/widgets.example.com/scaled', body => '{"spec":{"n":4.0}}', type => 'application/json')->is_status(200, '4.0 by the tenancy API');
    like $acme->get("$at/scaled")->text, qr/"n":4\}/, 'is 4';
    $acme->request('PATCH', "$at/scaled", body => '{"spec":{"n":3}}', @json)->is_status(200, 'and back');
    $acme->request('PATCH', "$at/scaled/status", body => '{"status":{"n":2}}', @json)->is_status(200, 'with its status');
    my $before = $acme->get("$at/scaled")->json->{metadata}{resourceVersion};
    $acme->patch("$at/scaled/scale", {})->is_status(200, 'a patch that says nothing');
    is $acme->get("$at/scaled")->json->{metadata}{resourceVersion}, $before, 'changes nothing';
    $acme->request('PATCH', "$at/scaled/scale", body => '{"spec":{"replicas":5.0}}', @json)->is_status(200, 'a patch to 5.0');
    like $acme->get("$at/scaled")->text, qr/"n":5[},]/, 'makes it 5';
    for my $wrong ('5.5', '-1.0', '3e9', '"5"') {
        $acme->request('PATCH', "$at/scaled/scale", body => qq({"spec":{"replicas":$wrong}}), @json)->is_status(422, "$wrong is no number of replicas");
    }
    $acme->delete("$at/scaled")->is_status(200);
};

subtest 'a scale of what has no number' => sub {
    my $at = '/apis/example.com/v1/namespaces/default/widgets';
    $acme->post($at, json => { metadata => { name => 'vague' }, spec => {} })->is_status(201, 'a widget');
    my $before = $acme->get("$at/vague")->text;
    $acme->patch("$at/vague/scale", {})->is_failure(400, 'BadRequest', qr/\Athe spec replicas field "\.spec\.n" cannot be empty\z/, 'a patch that says nothing');
    $acme->patch("$at/vague/scale", { metadata => { labels => { a => 'b' } } })->is_status(400, '... or something else');
    is $acme->get("$at/vague")->text, $before, 'does not scale it to 0';
    $acme->patch("$at/vague/scale", { spec => { replicas => 2 } })->is_status(200, 'a patch of the number does');
    is $acme->get("$at/vague")->json->{spec}{n}, 2, '... scale it';
    my $scale = $acme->get("$at/vague/scale")->json;
    delete $scale->{spec}{replicas};
    $acme->put("$at/vague/scale", json => $scale)->is_status(200, 'a Scale without the number, as Go writes 0');
    is $acme->get("$at/vague")->json->{spec}{n}, 0, '... is 0';
    $acme->delete("$at/vague")->is_status(200);
};

# What is stored can be written again: a dump with it can be restored.
subtest 'large by defaults' => sub {
    my $at  = '/apis/example.com/v1/namespaces/default/bigs';
    my $big = sub { my (%more) = @_; return definition('bigs', 'Big', { type => 'object', properties => { spec => { type => 'object', properties => { list => { type => 'array',
        items => { type => 'object', properties => { s => { type => 'string', default => 's' x 1000 }, %more } } } } } } }) };
    my $object = sub { my ($name, $n, %meta) = @_; return { metadata => { name => $name, %meta }, spec => { list => [map { {} } 1 .. $n] } } };
    $acme->post($crds, json => $big->())->is_status(201, 'a type with a long default');
    my $answer = $acme->post($at, json => $object->('a', 4000));
    $answer->is_failure(413, 'RequestEntityTooLarge', qr/the resource would have 40\d\d\d\d\d bytes: it may have 3145728 \(max_body\)/, 'makes a small object too large');
    $acme->get("$at/a")->is_status(404, 'which is not stored');
    $acme->put('/v2.0/acme/namespaces/default/bigs.example.com/a', json => { spec => $object->('a', 4000)->{spec} })->is_status(413, 'by no dialect');
    $acme->post($at, json => $object->('a', 2500, finalizers => ['example.com/f']))->is_status(201, 'one that fits');

    # Then it would not any more.
    my $definition = $big->(t => { type => 'string', default => 't' x 400 });
    $definition->{metadata}{resourceVersion} = $acme->get("$crds/bigs.example.com")->json->{metadata}{resourceVersion};
    $acme->put("$crds/bigs.example.com", json => $definition)->is_status(200, 'another default');
    $acme->patch("$at/a", { metadata => { labels => { x => 'y' } } })->is_status(200, 'metadata change');
    unlike $acme->get("$at/a")->text, qr/tttt/, 'and nothing else';
    $acme->post($at, json => $object->('b', 2500))->is_failure(413, 'RequestEntityTooLarge', qr/max_body/, 'a new one does not fit');

    # One that is too large already can lose its finalizer.
    $instance->sql(q(UPDATE resources SET body = CONCAT('{"spec":{"list":[{"s":"', REPEAT('s', 3300000), '"}]}}') WHERE name = 'a' AND LENGTH(body) > 2000000));
    $acme->patch("$at/a", { metadata => { labels => { x => 'longer' } } })->is_status(413, 'what is too large does not grow');
    $acme->delete("$at/a")->is_status(200, 'it is to be deleted');
    $acme->patch("$at/a", { metadata => { finalizers => undef } })->is_status(200, 'its last finalizer goes');
    $acme->get("$at/a")->is_status(404, 'and it is gone');
    $acme->delete("$crds/bigs.example.com")->is_status(200);
};

subtest 'a Tenant object has a limit as well' => sub {
    my ($path, $much) = ('/api/v1/tenants/globex', 'x' x 2_000_000);
    $admin->patch($path, { spec => { a => $much } })->is_status(200, 'a large patch');
    $admin->patch($path, { spec => { b => $much } })->is_failure(413, 'RequestEntityTooLarge', qr/the tenant's metadata and object would have 40\d\d\d\d\d bytes: they may have 3145728 \(max_body\)/,
        'another one does not fit');
    $admin->patch($path, { spec => { b => 'x' } })->is_status(200, 'a small one does');
    $instance->sql(q(UPDATE tenants SET object = CONCAT('{"spec":{"a":"', REPEAT('x', 3300000), '","b":"x"}}') WHERE name = 'globex'));
    $admin->patch($path, { spec => { c => 'x' } })->is_status(413, 'what is too large does not grow');
    $admin->patch($path, { spec => { b => undef } })->is_status(200, 'but can become smaller');
    $admin->patch($path, { spec => undef })->is_status(200, 'as it was');
};

subtest 'dry runs change nothing' => sub {
    my $widgets = '/apis/example.com/v1/namespaces/default/widgets';
    my $widget  = $acme->post($widgets, json => { metadata => { name => 'w' }, spec => { n => 1 } })->json;
    my $held    = $acme->post($cms, json => { metadata => { name => 'held', finalizers => ['example.com/f'] } })->json;
    $acme->post('/api/v1/namespaces', json => { metadata => { name => 'dry' } })->is_status(201, 'a namespace');
    $acme->post('/api/v1/namespaces/dry/configmaps', json => { metadata => { name => 'in' } })->is_status(201, 'with something in it');
    my $definition = $acme->get("$crds/widgets.example.com")->json;
    my $state = sub { return join ' ', map { $_ // '-' } map { @$_ } $instance->sql('SELECT (SELECT COUNT(*) FROM changes), (SELECT COUNT(*) FROM types), '
        . '(SELECT SUM(CRC32(CONCAT_WS(" ", id, revision, live, doomed_at, HEX(etag), meta, body))) FROM resources), '
        . '(SELECT SUM(CRC32(CONCAT_WS(" ", id, HEX(etag), metadata, object, deleted_at, live))) FROM tenants), '
        . '(SELECT SUM(resources) FROM tenant_counts)') };
    my $before = $state->();
    my $merge  = sub { return (body => JSON::PP->new->encode($_[0]), type => 'application/merge-patch+json') };
    my @calls  = (
        [201, 'POST',   $cms, json => { metadata => { generateName => 'dry-' } }],
        [200, 'PUT',    "$cms/held", json => { %$held, data => { a => 'b' } }],
        [200, 'PATCH',  "$cms/held", $merge->({ data => { a => 'b' } })],
        [200, 'PATCH',  "$cms/held", body => '[{"op":"add","path":"/data","value":{"x":"y"}}]', type => 'application/json-patch+json'],
        [200, 'PATCH',  "$cms/held", body => '{"data":{"a":"c"}}', type => 'application/strategic-merge-patch+json'],
        [200, 'DELETE', "$cms/held"],
        [200, 'DELETE', $cms],
        [201, 'POST',   $widgets, json => { metadata => { name => 'dry' } }],
        [200, 'PUT',    "$widgets/w", json => { %$widget, spec => { n => 2 } }],
        [200, 'PUT',    "$widgets/w/status", json => { %$widget, status => { n => 2 } }],
        [200, 'PATCH',  "$widgets/w/status", $merge->({ status => { n => 3 } })],
        [200, 'PUT',    "$widgets/w/scale", json => { metadata => { name => 'w' }, spec => { replicas => 5 } }],
        [200, 'PATCH',  "$widgets/w/scale", $merge->({ spec => { replicas => 5 } })],
        [200, 'DELETE', "$widgets/w"],
        [200, 'DELETE', $widgets],
        [201, 'POST',   $crds, json => definition('dries', 'Dry')],
        [200, 'PUT',    "$crds/widgets.example.com", json => { %$definition, metadata => { %{ $definition->{metadata} }, labels => { l => '1' } } }],
        [200, 'PATCH',  "$crds/widgets.example.com", $merge->({ spec => { names => { shortNames => ['wd'] } } })],
        [200, 'DELETE', "$crds/widgets.example.com"],
        [201, 'POST',   '/api/v1/namespaces', json => { metadata => { name => 'drier' } }],
        [200, 'PUT',    '/api/v1/namespaces/dry/finalize', json => { metadata => { name => 'dry' }, spec => { finalizers => ['example.com/f'] } }],
        [200, 'PATCH',  '/api/v1/namespaces/dry/status', $merge->({ status => { conditions => [{ type => 'A', status => 'True' }] } })],
        [200, 'DELETE', '/api/v1/namespaces/dry'],
        [200, 'PATCH',  '/api/v1/tenants/acme', $merge->({ spec => { multiTenancyCRDPolicy => 'SystemCRDFirst' } })],
    );
    for (@calls) {
        my ($status, $method, $path, @more) = @$_;
        $acme->request($method, "$path?dryRun=All", @more)->is_status($status, "$method $path");
    }
    $admin->request('POST', '/api/v1/tenants?dryRun=All', json => { metadata => { name => 'drytenant' } })->is_status(201, 'a tenant');
    $admin->request('PUT', '/api/v1/tenants/acme?dryRun=All', json => { metadata => { name => 'acme', labels => { l => '1' } } })->is_status(200, 'changed');
    $admin->request('DELETE', '/api/v1/tenants/acme', json => { dryRun => ['All'] })->is_status(200, 'deleted');
    is $state->(), $before, 'nothing is written';
    is $acme->get('/apis/example.com/v1')->status, 200, 'types are as they were';
    my $is   = $admin->get('/api/v1/tenants/acme')->json;
    my $asks = { metadata => { labels => { l => '1' } } };
    my $dry  = $admin->request('PATCH', '/api/v1/tenants/acme?dryRun=All', $merge->($asks))->json;
    is_deeply $dry, { %$is, metadata => { %{ $is->{metadata} }, %{ $asks->{metadata} } } }, 'what a tenant would be differs by what was asked for alone';
};

subtest 'metadata alone' => sub {
    my $alone = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    $acme->get($cms, accept => $alone)->is_status(406, 'is no form of a list');
    # as the metadata client of client-go asks
    my $form = sub { join ',', "application/vnd.kubernetes.protobuf;as=$_[0];g=meta.k8s.io;v=v1", "application/json;as=$_[0];g=meta.k8s.io;v=v1", 'application/json' };
    my ($of_one, $of_list) = map { $form->($_) } qw(PartialObjectMetadata PartialObjectMetadataList);
    $acme->post($cms, json => { metadata => { name => 'alone', labels => { a => 'b' } }, data => { c => 'd' } })->is_status(201, 'an object');
    my $object = $acme->get("$cms/alone")->json;
    my %meta   = (kind => 'PartialObjectMetadata', apiVersion => 'meta.k8s.io/v1', metadata => $object->{metadata});
    my $one    = $acme->get("$cms/alone", accept => $of_one);
    is_deeply $one->json, \%meta, 'of an object';
    is $one->etag, $acme->get("$cms/alone")->etag, 'which has its etag';
    my $list = $acme->get("$cms?fieldSelector=metadata.name%3Dalone", accept => $of_list)->json;
    is "$list->{apiVersion} $list->{kind}", 'meta.k8s.io/v1 PartialObjectMetadataList', 'of a list';
    is_deeply $list->{items}, [\%meta], 'and of what it has';
    ok $list->{metadata}{resourceVersion}, 'with the version of the list';
    is $acme->get($cms, accept => $of_one)->json->{kind}, 'ConfigMapList', 'a list has no form of an object';
    is $acme->get("$cms/alone", accept => "application/json,$of_one")->json->{kind}, 'ConfigMap', 'the first form is taken';
    is $acme->delete("$cms/alone")->status, 200, 'deleted';
};

subtest 'a stale write of what is there' => sub {
    my $is = $admin->get('/api/v1/tenants/acme')->json;
    my $of = sub { my (%metadata) = @_; return { %$is, metadata => { %{ $is->{metadata} }, %metadata } } };
    my $now = $admin->patch('/api/v1/tenants/acme', { metadata => { labels => { l => '1' } } });
    $admin->put('/api/v1/tenants/acme', json => $is)->is_failure(409, 'Conflict', qr/modified/, 'a tenant is not set back');
    my $same = $admin->put('/api/v1/tenants/acme', json => $of->(labels => { l => '1' }));
    $same->is_status(200, 'a stale write that changes nothing does no harm');
    is $same->json->{metadata}{resourceVersion}, $now->json->{metadata}{resourceVersion}, 'and changes nothing';
    $admin->put('/api/v1/tenants/acme', json => $of->(labels => { l => '1' }, uid => '00000000-0000-4000-8000-000000000000'))
        ->is_failure(409, 'Conflict', qr/UID/, 'if it is of this tenant');
    $admin->patch('/api/v1/tenants/acme', { metadata => { labels => undef } })->is_status(200, 'as it was');
};

subtest 'one object in every dialect' => sub {
    my $path = '/v2.0/acme/namespaces/default/widgets.example.com/same';
    my $made = $acme->post('/apis/example.com/v1/namespaces/default/widgets', json => { metadata => { name => 'same' }, spec => { n => 1 } });
    my $object = '/apis/example.com/v1/namespaces/default/widgets/same';
    is $acme->get($path)->etag, $made->etag, 'one etag';
    is $made->json->{metadata}{etag}, $made->etag =~ s{W/"(.*)"}{W/$1}r, 'told in its metadata';
    $acme->put($path, json => { spec => { n => 2 } }, if_match => $made->etag)->is_status(200, 'changed there');
    is $acme->get($object)->json->{spec}{n}, 2, 'is changed here';
    $acme->put($object, json => { metadata => { name => 'same', resourceVersion => $made->json->{metadata}{resourceVersion} }, spec => {} })->is_status(409, 'and its version old');
    my @verbs = map { $_->{verb} } grep { ($_->{resource} // '') =~ m{/same\z} } @{ $admin->get('/v2.0/acme/changes')->json->{changes} // [] };
    is_deeply \@verbs, [qw(created updated)], 'both are changes';
    my $sent = $acme->post($cms, json => { metadata => { name => 'traits', traits => ['HW_FAKE'] } });
    is $sent->status . ' ' . ($acme->get("/v2.0/acme/namespaces/default/configmaps/traits")->json->{metadata}{traits} // 'none'), '201 none', 'traits are no member of ours';
    # What this dialect sets is ignored there; rows of before may have it.
    my %ours = (generation => 7, deletionGracePeriodSeconds => 3, managedFields => [{ manager => 'x' }], hashKey => 5);
    $acme->put($path, json => { metadata => { %ours, labels => { l => '1' } }, spec => { n => 3 } })->is_status(200, 'with metadata of ours');
    my $is_ours = sub {
        my ($name) = @_;
        is_deeply [@{ $acme->get($object)->json->{metadata} }{qw(generation deletionGracePeriodSeconds managedFields)}], [3, undef, undef], "$name: our own is shown";
        is $acme->get($object =~ s{/same\z}{?labelSelector=l%3D1}r)->json->{items}[0]{spec}{n}, 3, "$name: found by a label";
        is $acme->get($object, accept => 'application/json;as=Table;v=v1;g=meta.k8s.io')->json->{kind}, 'Table', "$name: in a table";
    };
    $is_ours->('new');
    $instance->sql(q(UPDATE resources SET meta = '{"generation":7,"labels":{"l":"1"},"traits":["HW_FAKE"]}' WHERE name = 'same'));
    $acme->patch($object, { metadata => { annotations => { a => 'b' } } })->is_status(200, 'before: patched');
    $is_ours->('before');
    # What it takes by looser rules hinders nobody here; what is changed has to be right.
    my %loose = (labels => { 'my label' => 'x', l => '1' }, annotations => { _x => 'y' }, finalizers => ['no name', 'example.com/f']);
    $acme->put($path, json => { metadata => \%loose, spec => { n => 3 } })->is_status(200, 'names that are none here');
    $acme->patch($object, { metadata => { labels => { m => '1' }, annotations => { n => '2' } }, spec => { m => 1 } })->is_status(200, 'can be changed');
    is fields($acme->patch($object, { metadata => { labels => { 'my label' => 'y' }, annotations => { _z => '1' }, finalizers => ['no name', 'nor this'] } })),
        'metadata.labels metadata.annotations metadata.finalizers[1]', 'what is new must be right';
    $acme->patch($object, { metadata => { generateName => 7 } })->is_failure(400, 'BadRequest', qr/generateName must be a string/, 'and of the right kind');
    $acme->patch($object, { metadata => { finalizers => undef, labels => undef } })->is_status(200, 'and all can be taken away');
    $acme->put('/v2.0/acme/namespaces/default/pods/loose', json => { metadata => { labels => { 'my label' => 'x' } } })->is_status(201, 'such a pod');
    my $pod = $acme->patch('/api/v1/namespaces/default/pods/loose/status', { metadata => { labels => { 'a b' => 'y' } }, status => { phase => 'Running' } });
    $pod->is_status(200, 'its status can be set');
    is_deeply [$pod->json->{metadata}{labels}, $pod->json->{status}{phase}], [{ 'my label' => 'x' }, 'Running'], 'and nothing else by that';
    $acme->delete('/api/v1/namespaces/default/pods/loose')->is_status(200, 'and it can go');
    my $blocked = $admin->get("$path/action/move?dest=globex", accept => 'application/json')->json;
    is_deeply [map { $_->{reason} } @{ $blocked->{move}{blockers} }], ['type-unavailable'], 'no type, no move';
    $admin->post($crds =~ s{/v1/}{/v1/tenants/globex/}r, json => definition('widgets', 'Widget', undef, version => { subresources => { status => {} } }))->is_status(201, 'the type is made');
    is_deeply [map { $_->{reason} } @{ $admin->get("$path/action/move?dest=globex", accept => 'application/json')->json->{move}{blockers} // [] }], ['type-differs'], 'as another';
    is $admin->get("$path/action/move?dest=globex", accept => 'application/json')->json->{move}{resources}[0]{id}, 'namespaces/default/widgets.example.com/same',
        'which object is told as it is found';
    # A plural that a built-in type has as well.
    $acme->post($crds, json => definition('pods', 'Pod', { type => 'object' }))->is_status(201, 'pods of its own');
    my $in = '/v2.0/acme/namespaces/default/pods.example.com';
    like $acme->put("$in/$_", json => {})->header('Location'), qr{\Q$in/$_\E\z}, "Location of $_" for qw(a b);
    my $list = $acme->get("$in?limit=1")->json;
    like $list->{next}, qr{\Q$in?\E}, 'the next page';
    is $acme->get($list->{next} =~ s{\Ahttp://[^/]*}{}r)->json->{resources}[0]{metadata}{name}, 'b', 'which is of the same type';
    is_deeply [map { $_->{metadata}{name} } @{ $acme->get('/v2.0/acme/namespaces/default/pods')->json->{resources} }], [], 'not of the other';
};

subtest 'definitions that are forced' => sub {
    my $forced = definition('forceds', 'Forced');
    $acme->post($crds, json => { %$forced, metadata => { name => 'forceds.example.com', labels => { mine => 'yes' } } })->is_status(201, 'one of its own');
    $forced->{metadata}{labels} = { 'arktos.futurewei.com/crd-sharing-policy' => 'forced', of => 'system' };
    $admin->post($crds, json => $forced)->is_status(201, 'the system forces another of that name');
    my $path = "$crds/forceds.example.com";
    my $seen = $acme->get($path)->json->{metadata};
    is_deeply [@$seen{qw(tenant selfLink)}], ['system', $path], 'which is what the tenant sees';
    my $listed = sub { my ($query) = @_; return join ' ', map { "$_->{metadata}{name}=$_->{metadata}{tenant}" } grep { $_->{metadata}{name} =~ /^forced/ } @{ $acme->get("$crds?$query")->json->{items} } };
    is $listed->(''), 'forceds.example.com=system', 'in its list, too, and not its own';
    is $listed->('fieldSelector=metadata.name%3Dforceds.example.com'), 'forceds.example.com=system', 'by name';
    is $listed->('labelSelector=of%3Dsystem'), 'forceds.example.com=system', 'by label';
    is $listed->('labelSelector=of%3Dnobody'), '', 'not by another';
    is $listed->('labelSelector=mine'), '', 'its own is hidden';
    my ($query, @pages) = ('limit=1');
    while (@pages < 99) {
        my $page = $acme->get("$crds?$query")->json;
        push @pages, map { $_->{metadata}{name} } @{ $page->{items} };
        $query = 'limit=1&continue=' . ($page->{metadata}{continue} // last) =~ s/([^A-Za-z0-9])/sprintf '%%%02X', ord $1/ger;
    }
    is scalar(grep { $_ eq 'forceds.example.com' } @pages), 1, 'once in all pages';
    $_->is_failure(403, 'Forbidden', qr/forces this definition on every tenant/, 'it is not the tenant\'s to change')
        for $acme->patch($path, { metadata => { labels => { a => 'b' } } }), $acme->put($path, json => $forced), $acme->delete($path);
    is_deeply $acme->delete("$crds?labelSelector=mine%3Dyes")->json->{items}, [], 'nor does a collection take what it hides';
    $admin->delete($path)->is_status(200, 'withdrawn');
    is $listed->(''), 'forceds.example.com=acme', 'its own is there again';
    $acme->delete($path)->is_status(200, 'to be deleted');
};

subtest 'openapi' => sub {
    my $kubectls = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    my $json = $acme->get('/openapi/v2', accept => 'application/json');
    $json->header_is('Content-Type', 'application/json', 'as JSON');
    my $document = $json->json;
    is $document->{swagger}, '2.0', 'in version 2';
    my $pod = $document->{definitions}{'io.k8s.api.core.v1.Pod'};
    is_deeply $pod->{'x-kubernetes-group-version-kind'}, [{ group => '', kind => 'Pod', version => 'v1' }], 'a built-in kind';
    is_deeply [@{ $pod->{properties}{spec}{properties}{containers} }{qw(type x-kubernetes-patch-strategy x-kubernetes-patch-merge-key)}], [qw(array merge name)], 'how its lists merge';
    is $pod->{properties}{metadata}{'$ref'}, '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', 'its metadata';
    ok $document->{definitions}{'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}{properties}{name}, 'which is there';
    $acme->post($crds, json => definition('shaped', 'Shaped', { type => 'object', properties => { spec => { type => 'object', required => ['a', 'b'], properties => {
        a => { type => 'array', items => { type => 'string', format => 'date' } }, b => { type => 'object', additionalProperties => { type => 'integer' } } } } } }))->is_status(201, 'a type');
    my $new = $acme->get('/openapi/v2', accept => 'application/json', if_none_match => $json->header('ETag'));
    $new->is_status(200, 'another document');
    my $spec = $new->json->{definitions}{'com.example.v1.Shaped'}{properties}{spec};
    is_deeply $spec, { type => 'object', required => ['a', 'b'], properties => { a => { type => 'array', items => { type => 'string', format => 'date' } },
        b => { type => 'object', additionalProperties => { type => 'integer' } } } }, 'with its schema';
    my $path = $new->json->{paths}{'/apis/example.com/v1/namespaces/{namespace}/shaped/{name}'}{patch};
    is_deeply [map { "$_->{in} $_->{name} $_->{type}" } @{ $path->{parameters} }], ['query dryRun string', 'query fieldValidation string'],
        'and a path that takes dry runs and fieldValidation';
    is $path->{'x-kubernetes-group-version-kind'}{kind}, 'Shaped', '... of its kind';
    $acme->get('/openapi/v2', accept => 'application/json', if_none_match => $new->header('ETag'))->is_status(304, 'unchanged');
    my $proto = $acme->get('/openapi/v2', accept => $kubectls, if_none_match => $new->header('ETag'));
    $proto->header_is('Content-Type', 'application/octet-stream', 'which kubectl asks for is another form');
    $acme->get('/openapi/v2', accept => $kubectls, if_none_match => $proto->header('ETag'))->is_status(304, 'with a tag of its own');
    my $other = $instance->combined('bob:globex')->get('/openapi/v2', accept => 'application/json');
    isnt $other->header('ETag'), $new->header('ETag'), "another tenant's differs";
    ok !$other->json->{definitions}{'com.example.v1.Shaped'}, 'and does not tell of it';
};

# The last: lists may still be as of what is deleted here.
subtest 'a list whose history is gone' => sub {
    my $first = $acme->get("$cms?limit=1");
    ok $first->json->{metadata}{continue}, 'it goes on';
    $instance->sql('DELETE FROM changes WHERE id <= (SELECT MAX(id) - 1 FROM (SELECT id FROM changes) c)');
    $acme->post($cms, json => { metadata => { name => 'newer' } })->is_status(201, 'when its history is gone');
    $instance->sql('DELETE FROM changes WHERE id < (SELECT MAX(id) FROM (SELECT id FROM changes) c)');
    $acme->get("$cms?limit=1&continue=1:a")->is_failure(410, 'Expired', qr/continue parameter is too old/, 'one that is too old');
};

done_testing;
