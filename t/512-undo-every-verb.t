#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo of everything that the change log can hold: each verb of each type, and each call of each WADL that writes. The change is made by its
# call, previewed, taken back, and that again, and again: what was is there each time. What is not taken back is named here with its
# reason. Verbs, types and calls are read from the program's own tables, so whatever is new there needs a row here.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Definition qw(definition_of);
use Tenure::Instance;
use Tenure::Undo qw(undo_path reasons);
use Tenure::UndoCases qw(case quiet stays purges covers fresh);

my $true     = JSON::PP::true();
my $instance  = Tenure::Instance->start(combined => 1, settings => { 'tenure.etag_required' => 'no' });
my $admin     = $instance->admin;
my $ann       = $instance->combined('ann:t1:admin');
my $root      = $instance->combined('admin');
Tenure::UndoCases::begin($instance);
$admin->make_tenant($_) for 't1', 't2';

# ---- types, by the calls of tenancy: made, changed, given traits and a lock, deleted, recovered, moved

my $container = { containers => [{ name => 'c', image => 'i' }] };

# below: where its objects stand, below a tenant; first, second: two contents; tenant: whose, if it is not t1; moves: false if it stays where it is.
my %plain = (
    namespaces             => { below => 'namespaces', first => {}, second => { metadata => { annotations => { b => 'c' } } } },
    persistentvolumes      => { below => 'persistentvolumes', first => { spec => { capacity => { storage => '1Gi' } } }, second => { spec => { capacity => { storage => '2Gi' } } } },
    configmaps             => { below => 'namespaces/default/configmaps', first => { data => { a => '1' } }, second => { data => { b => '2' } } },
    secrets                => { below => 'namespaces/default/secrets', first => { data => { a => 'YQ==' } }, second => { data => { a => 'Yg==', c => 'Yw==' } } },
    pods                   => { below => 'namespaces/default/pods', first => { spec => $container }, second => { metadata => { labels => { l => 'm' } }, spec => $container } },
    serviceaccounts        => { below => 'namespaces/default/serviceaccounts', first => {}, second => { automountServiceAccountToken => $true } },
    services               => { below => 'namespaces/default/services', first => { spec => { ports => [{ port => 80 }] } }, second => { spec => { ports => [{ port => 81 }] } } },
    nodes                  => { below => 'nodes.core', tenant => 'system', first => {}, second => { spec => { unschedulable => $true } }, stays => 1 },
    'daemonsets.apps'      => { below => 'namespaces/default/daemonsets.apps', tenant => 'system', stays => 1,
        first  => { spec => { selector => { matchLabels => { a => 'b' } }, template => { metadata => { labels => { a => 'b' } }, spec => $container } } },
        second => { spec => { minReadySeconds => 5, selector => { matchLabels => { a => 'b' } }, template => { metadata => { labels => { a => 'b' } }, spec => $container } } } },
    'widgets.example.com'  => { below => 'namespaces/default/widgets.example.com', first => { spec => { n => 1 } }, second => { spec => { n => 2 }, more => [1, { a => 0.1 }] } },
    'gadgets.example.com'  => { below => 'gadgets.example.com', first => { spec => { n => 1 } }, second => { spec => { n => 2 } } },
);
# Types that both tenants have.
for (['widgets', 'Namespaced'], ['gadgets', 'Cluster']) {
    my ($plural, $scope) = @$_;
    $root->post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', json => definition_of($plural, scope => $scope,
        metadata => { labels => { 'arktos.futurewei.com/crd-sharing-policy' => 'forced' } }, version => { subresources => { status => {} } }))->is_status(201, $plural);
}

for my $type (sort keys %plain) {
    my %of      = %{ $plain{$type} };
    my $tenant  = $of{tenant} // 't1';
    my $at      = sub { my ($name, $whose) = @_; return '/v2.0/' . ($whose // $tenant) . "/$of{below}/$name" };
    my $part    = $of{below} =~ m{/} ? 'Namespaced' : '';
    my %common  = (tenant => $tenant);
    my @counted = $tenant eq 'system' ? () : "/v2.0/$tenant";
    my $object  = sub { my $name = fresh(); $admin->make($at->($name), $of{first}); return $at->($name) };
    my $one     = sub { # a case about a new object
        my ($what, $call, $by, %more) = @_;
        my $path = $object->();
        return case("$type: $what", "tenancy $call", %common, sees => [$path, @counted], by => sub { $by->($path) }, %more);
    };
    my $name = fresh();
    case("$type: created", "tenancy put${part}Resource", %common, sees => [$at->($name), @counted], by => sub { $admin->put($at->($name), json => $of{first}) });
    $one->('replaced', "put${part}Resource", sub { $admin->put($_[0], json => $of{second}) });
    $one->('labels', "patch${part}Resource", sub { $admin->patch($_[0], { metadata => { labels => { a => 'b' }, annotations => { 'x.y/z' => "\x{1F600} <b>" } } }) });
    $one->('locked', "patch${part}Resource", sub { $admin->patch($_[0], { metadata => { locked => $true } }) });
    $one->('a finalizer', "patch${part}Resource", sub { $admin->patch($_[0], { metadata => { finalizers => ['example.com/f'] } }) });
    my $traits = $type eq 'namespaces' ? 'Namespace' : "${part}Resource";
    $one->('traits', "put${traits}Traits", sub { $admin->put("$_[0]/traits", json => { traits => ['HW_CPU_X86_AVX', 'HW_CPU_X86_SSE'] }) });
    $one->('a trait', "put${traits}Trait", sub { $admin->put("$_[0]/traits/HW_CPU_X86_AVX") });
    my $with = $object->();
    $admin->put("$with/traits", json => { traits => ['HW_CPU_X86_AVX', 'HW_CPU_X86_SSE'] })->is_status(200);
    case("$type: a trait less", "tenancy delete${traits}Trait", %common, sees => [$with, @counted], by => sub { $admin->delete("$with/traits/HW_CPU_X86_AVX") });
    $one->('deleted', "delete${part}Resource", sub { $admin->delete($_[0]) });
    my $gone = $object->();
    $admin->delete($gone)->is_status(204);
    my $recover = $type eq 'namespaces' ? 'recoverNamespace' : "recover${part}Resource";
    case("$type: recovered", "tenancy $recover", %common, sees => [$gone, @counted], by => sub { $admin->post("$gone/action/recover") });
    my $moving = $object->();
    my $move = $type eq 'namespaces' ? 'postMoveNamespace' : $part ? 'postMoveNamespaced' : 'postMoveOne';
    if ($of{stays}) {
        stays("$type: moved", $type, 'moved', $admin->post("$moving/action/move?dest=t1"));
    } else {
        case("$type: moved", "tenancy $move", %common, moves => 1, sees => [$moving, $moving =~ s/t1/t2/r, @counted, '/v2.0/t2'], by => sub { $admin->post("$moving/action/move?dest=t2") });
    }
}

# ---- tenants, and what stands beside them

my $to = '/v2.0/t3';
$admin->make_tenant('t3');
case('tenant: metadata', 'tenancy putTenant', tenant => 't3', sees => [$to], by => sub { $admin->put($to, json => { tenant => { metadata => { a => 'b' } } }) });
case('tenant: metadata called traits', 'tenancy patchTenant', tenant => 't3', sees => [$to], by => sub { $admin->patch($to, { tenant => { metadata => { traits => 'x' } } }) });
case('tenant: tier', 'tenancy patchTenant', tenant => 't3', sees => [$to], by => sub { $admin->patch($to, { tenant => { tier => 'bronze' } }) });
case('tenant: created', 'tenancy putTenant', tenant => 't4', sees => ['/v2.0/t4'], by => sub { $admin->put('/v2.0/t4', json => { tenant => { metadata => { a => 'b' } } }) });
case('tenant: deleted', 'tenancy deleteTenant', tenant => 't3', sees => [$to, "$to/namespaces/default/configmaps/c"], by => sub { $admin->delete($to) });
$admin->make_tenant('t5');
$admin->delete('/v2.0/t5')->is_status(204);
case('tenant: recovered', 'tenancy recoverTenant', tenant => 't5', sees => ['/v2.0/t5'], by => sub { $admin->post('/v2.0/t5/action/recover') });
$admin->make_tenant($_) for 't6', 't7';
$admin->make('/v2.0/t6/namespaces/n');
$admin->make("/v2.0/t6/namespaces/n/configmaps/c$_", { data => { a => "$_" } }) for 1 .. 3;
stays('tenant: moved to itself', 'tenant', 'moved', $admin->post('/v2.0/t6/action/move?dest=t6'));
case('all of a tenant: moved', 'tenancy postMoveAll', tenant => 't6', moves => 1, sees => ['/v2.0/t6', '/v2.0/t7', map { ("/v2.0/$_/namespaces/n", "/v2.0/$_/namespaces/n/configmaps/c2") } 't6', 't7'],
    by => sub { $admin->post('/v2.0/t6/action/move?dest=t7') });

# By the tenant's own admin, who takes it back.
my $object_of = sub { $root->get('/api/v1/tenants/t1') };
my $policy = sub { my ($name) = @_; return $ann->patch('/api/v1/tenants/t1', { spec => { multiTenancyCRDPolicy => $name } }) };
case('the policy for types: the first', 'spaces patchCoreObject', who => $ann, sees => [$object_of], by => sub { $policy->('SystemCRDFirst') });
case('the policy for types: another', 'spaces patchCoreObject', who => $ann, sees => [$object_of], by => sub { $policy->('LocalCRDFirst') });
$policy->('SystemCRDFirst')->is_status(200);
case('the policy for types: none', 'spaces patchCoreObject', who => $ann, sees => [$object_of], by => sub { $policy->(undef) });

my %console = (headers => { 'X-Tenure-Console' => '1' });
quiet('a session: begun', 'tenancy postSession', sub { $admin->post('/session', json => {}, %console) });
quiet('a session: ended', 'tenancy deleteSession', sub { $admin->delete('/session?all=true', %console) });

my $token;
case('a token: made', 'tenancy postToken', refused => ['token'], sees => [sub { $admin->get('/v2.0/t1/tokens') }],
    by => sub { $token = $admin->post('/v2.0/t1/tokens', json => { token => { user => 'bill', role => 'reader' } }) });
case('a token: revoked', 'tenancy deleteToken', refused => ['token'], sees => [sub { $admin->get('/v2.0/t1/tokens') }],
    by => sub { $admin->delete('/v2.0/t1/tokens/' . $token->json->{token}{id}) });
my $tiers = sub { $admin->get('/v2.0/all/tiers') };
for (['made', 'putTier', sub { $admin->put('/v2.0/all/tiers/tin', json => { max_resources => 5 }) }], ['changed', 'putTier', sub { $admin->put('/v2.0/all/tiers/tin', json => { max_resources => 6 }) }],
    ['deleted', 'deleteTier', sub { $admin->delete('/v2.0/all/tiers/tin') }]) {
    my ($what, $call, $by) = @$_;
    case("a tier: $what", "tenancy $call", tenant => 'system', refused => ['tier'], sees => [$tiers], by => $by);
}
for (['t1', ''], ['system', 'All']) {
    my ($tenant, $all) = @$_;
    my $hook = '/v2.0/' . ($all ? 'all' : $tenant) . '/webhooks/w';
    my $by   = sub { my ($what, $call, $by, %more) = @_; case("a webhook of $tenant: $what", "tenancy $call", tenant => $tenant, refused => ['not-kept'], sees => [sub { $admin->get($hook) }], by => $by, %more) };
    my %url  = (url => 'https://receiver.invalid/x', paused => $true); # sends nothing
    $by->('made',    "put${all}Webhook",    sub { $admin->put($hook, json => {%url}) });
    $by->('changed', "put${all}Webhook",    sub { $admin->put($hook, json => { %url, description => 'd' }) });
    $by->('rotated', "rotate${all}Webhook", sub { $admin->post("$hook/action/rotate") });
    quiet("a webhook of $tenant: pinged",  "tenancy ping${all}Webhook",   sub { $admin->post("$hook/action/ping") });
    quiet("a webhook of $tenant: revived", "tenancy revive${all}Webhook", sub { $admin->post("$hook/action/revive") });
    $by->('deleted', "delete${all}Webhook", sub { $admin->delete($hook) });
}

my $volume = { spec => { capacity => { storage => '1Gi' }, accessModes => ['ReadWriteOnce'], hostPath => { path => '/x' } } };

# ---- spaces: each call, with and without the tenant in its address

for my $scope (
    ['Core',  'Object',                 '/api/v1',                                                  'persistentvolumes', $volume,               'persistentvolumes'],
    ['Core',  'NamespacedObject',       '/api/v1/namespaces/default',                               'pods',              { spec => $container }, 'namespaces/default/pods'],
    ['Core',  'TenantObject',           '/api/v1/tenants/t1',                                       'persistentvolumes', $volume,               'persistentvolumes'],
    ['Core',  'TenantNamespacedObject', '/api/v1/tenants/t1/namespaces/default',                    'pods',              { spec => $container }, 'namespaces/default/pods'],
    ['Group', 'Object',                 '/apis/example.com/v1',                                     'gadgets',           { spec => { n => 1 } }, 'gadgets.example.com'],
    ['Group', 'NamespacedObject',       '/apis/example.com/v1/namespaces/default',                  'widgets',           { spec => { n => 1 } }, 'namespaces/default/widgets.example.com'],
    ['Group', 'TenantObject',           '/apis/example.com/v1/tenants/t1',                          'gadgets',           { spec => { n => 1 } }, 'gadgets.example.com'],
    ['Group', 'TenantNamespacedObject', '/apis/example.com/v1/tenants/t1/namespaces/default',       'widgets',           { spec => { n => 1 } }, 'namespaces/default/widgets.example.com'],
) {
    my ($group, $kind, $below, $plural, $content, $at) = @$scope;
    my $made = sub {
        my ($name, %meta) = @_;
        $ann->post("$below/$plural", json => { metadata => { name => $name, %meta }, %$content })->is_status(201, "$below/$plural/$name");
        return "/v2.0/t1/$at/$name";
    };
    my $one = sub {
        my ($call, $by, %more) = @_;
        my $name = fresh();
        my $path = $made->($name);
        case("$below/$plural: $call", "spaces $call", sees => [$path, '/v2.0/t1'], by => sub { $by->("$below/$plural/$name") }, %more);
    };
    my $put = sub {
        my ($path, $part, %more) = @_;
        my $document = $ann->get($path)->json;
        return $ann->put("$path$part", json => { %$document, %more, metadata => { %{ $document->{metadata} }, %{ $more{metadata} // {} } } });
    };
    my $new = fresh();
    case("$below/$plural: create$group$kind", "spaces create$group$kind", sees => ["/v2.0/t1/$at/$new", '/v2.0/t1'],
        by => sub { $ann->post("$below/$plural", json => { metadata => { name => $new, labels => { a => 'b' } }, %$content }) });
    $one->("put$group$kind",   sub { $put->($_[0], '', metadata => { labels => { a => 'b' }, annotations => { c => 'd' } }) });
    $one->("patch$group$kind", sub { $ann->patch($_[0], { metadata => { labels => { a => 'b' } } }) });
    $one->("delete$group$kind", sub { $ann->delete($_[0]) });
    $one->("put$group${kind}Part",   sub { $put->($_[0], '/status', status => { phase => 'Failed' }) });
    $one->("patch$group${kind}Part", sub { $ann->patch("$_[0]/status", { status => { phase => 'Failed' } }) });
    my @several = map { $made->(fresh(), labels => { of => $new }) } 1 .. 3;
    case("$below/$plural: delete$group${kind}s", "spaces delete$group${kind}s", sees => [@several, '/v2.0/t1'], by => sub { $ann->delete("$below/$plural?labelSelector=of%3D$new") });
}
for (['', '/api/v1'], ['Tenant', '/api/v1/tenants/t1']) {
    my ($tenant, $below) = @$_;
    for my $verb ('put', 'patch') {
        my $name = fresh();
        $admin->make("/v2.0/t1/namespaces/$name");
        case("$below: ${verb}Core${tenant}NamespacePart", "spaces ${verb}Core${tenant}NamespacePart", sees => ["/v2.0/t1/namespaces/$name", '/v2.0/t1'], by => sub {
            my $document = $ann->get("$below/namespaces/$name")->json;
            my %status   = (status => { conditions => [{ type => 'X', status => 'True' }] });
            return $verb eq 'put' ? $ann->put("$below/namespaces/$name/status", json => { %$document, %status }) : $ann->patch("$below/namespaces/$name/status", {%status});
        });
    }
}
# Tenants as objects.
my $tenants = '/api/v1/tenants';
case('a Tenant object: created', 'spaces createCoreObject', tenant => 't8', sees => ['/v2.0/t8', sub { $root->get("$tenants/t8") }],
    by => sub { $root->post($tenants, json => { metadata => { name => 't8', annotations => { a => 'b', 'x.y/z' => 'w' } } }) });
$root->post($tenants, json => { metadata => { name => 't9' } })->is_status(201);
for (['annotations', 'patchCoreObject', sub { $root->patch("$tenants/t9", { metadata => { annotations => { a => 'b', 'x.y/z' => 'w' }, labels => { l => 'm' } } }) }],
    ['finalizers', 'patchCoreObject', sub { $root->patch("$tenants/t9", { metadata => { finalizers => ['example.com/f'] } }) }],
    ['replaced', 'putCoreObject', sub { my $document = $root->get("$tenants/t9")->json; $root->put("$tenants/t9", json => { %$document, metadata => { %{ $document->{metadata} }, labels => { n => 'o' } }, spec => { multiTenancyCRDPolicy => 'LocalCRDFirst' } }) }]) {
    my ($what, $call, $by) = @$_;
    case("a Tenant object: $what", "spaces $call", tenant => 't9', sees => ['/v2.0/t9', sub { $root->get("$tenants/t9") }], by => $by);
}
$root->post($tenants, json => { metadata => { name => 't10' } })->is_status(201);
case('a Tenant object: deleted', 'spaces deleteCoreObject', tenant => 't10', sees => ['/v2.0/t10'], by => sub { $root->delete("$tenants/t10") });

# ---- definitions of types

my $crds = '/v2.0/t1/customresourcedefinitions.apiextensions.k8s.io';
my $crd  = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
# Whether the type answers, and what it takes.
my $answers = sub { my ($plural) = @_; return sub { $ann->get("/apis/example.com/v1/namespaces/default/$plural") } };
sub schema { my (%of) = @_; return (schema => { type => 'object', properties => { spec => { type => 'object', properties => { n => { type => 'integer', %of } } } } }) }
case('a definition: created', 'spaces createGroupObject', sees => ["$crds/gears.example.com", $answers->('gears')], by => sub { $ann->post($crd, json => definition_of('gears')) });
$ann->post($crd, json => definition_of("wheel${_}s", schema()))->is_status(201) for 1, 2, 4, 5, 6;
my $definition = sub {
    my ($n, $what, $call, $by, %more) = @_;
    case("a definition: $what", "spaces $call", sees => ["$crds/wheel${n}s.example.com", $answers->("wheel${n}s")], by => sub { $by->("$crd/wheel${n}s.example.com") }, %more);
};
$definition->(1, 'another schema', 'putGroupObject', sub { my $is = $ann->get($_[0])->json; $ann->put($_[0], json => { %{ definition_of('wheel1s', schema(maximum => 5)) }, metadata => $is->{metadata} }) });
$definition->(2, 'labels', 'patchGroupObject', sub { $ann->patch($_[0], { metadata => { labels => { a => 'b' } } }) });
$definition->(4, 'deleted', 'deleteGroupObject', sub { $ann->delete($_[0]) });
$ann->delete("$crd/wheel5s.example.com")->is_status(200);
$definition->(5, 'recovered', 'createGroupObject', sub { $admin->post("$crds/wheel5s.example.com/action/recover") });
case('a definition: moved', 'tenancy postMoveOne', moves => 1, sees => ["$crds/wheel6s.example.com", "$crds/wheel6s.example.com" =~ s/t1/t2/r, $answers->('wheel6s')], by => sub { $admin->post("$crds/wheel6s.example.com/action/move?dest=t2") });

# ---- what leaves nothing to take back

for (['', 'persistentvolumes'], ['Namespaced', 'namespaces/default/configmaps']) {
    my ($part, $below) = @$_;
    my $name = fresh();
    $admin->make("/v2.0/t1/$below/$name");
    $admin->post("/v2.0/t1/$below/$name/action/move?dest=t2")->is_status(303);
    my $forward = "/v2.0/t1/forwards/$below/$name";
    quiet("a forward of $below: given an end", "tenancy put${part}Forward", sub { $admin->put($forward, json => { forward => { expires_at => '2099-01-01T00:00:00Z' } }) });
    quiet("a forward of $below: ended", "tenancy delete${part}Forward", sub { $admin->delete($forward) });
}
quiet('effects: asked for', 'spaces tellEffect', sub { $root->post('/spaces/system/effect', json => { operation => 'create', object => definition_of('cogs', applicableRange => ['*']) }) });

# An undo is a change like the one that would take back by hand. Undos of undos stand in all cases.
my $last = '/v2.0/t1/namespaces/default/configmaps/' . fresh();
$admin->make($last, { data => { a => '1' } });
my $put = $admin->put($last, json => { data => { a => '2' } });
case('an undo', 'tenancy postUndo', sees => [$last], by => sub { $admin->post(undo_path('t1', $put)) });

# ---- members of objects that are called as what providers have beside their document

for my $member (qw(inventories aggregates allocations)) {
    my $path = '/v2.0/t1/namespaces/default/widgets.example.com/' . fresh();
    $ann->make($path, { keeps => 1 });
    case("a widget gets $member", 'tenancy putNamespacedResource', who => $ann, sees => [$path],
        by => sub { $ann->put($path, json => { keeps => 1, $member => { a => 1 } }) });
    my $change = $ann->put($path, json => { keeps => 2, $member => 1 });
    my $later  = $ann->put($path, json => { keeps => 2, $member => 2 });
    is_deeply reasons($ann->post(undo_path('t1', $change))), ['changed-since'], "... and is changed in $member: that is no claim of a provider";
    my ($entry) = @{ $ann->get('/v2.0/t1/history?limit=1&resource=' . $path =~ s{/v2.0/t1/}{}r)->json->{history} };
    is_deeply [map { $entry->{$_}{$member} } qw(before after)], [1, 2], '... and its history says so';
}

purges();
# Tenants are no resources, although they are a type; events are never stored.
covers(['tenancy', 'spaces'], sub { $_[0] !~ /openstack|\A(?:tenants|events)\z/ });
is((($instance->manage('doctor'))[0]), 0, 'the stored data keep their promises');
$instance->stop;
done_testing;
