#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Every address of the WADL that shows an etag or takes If-Match: what is there changes to another content and back, and its first etag and
# that in between are refused by each method that takes one, with 412. Likewise when the change is undone, and when that is undone. The
# addresses come from the WADL of the operators' endpoint, so a new one that no thing below stands for fails.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Metal;
use Tenure::Placement;
use Tenure::XML;

my $instance  = Tenure::Instance->start(settings => { 'tenure.etag_required' => 'no' });
my $admin     = $instance->admin;
my $metal     = Tenure::Metal->new($admin, '1.82');
my $placement = Tenure::Placement->new($admin, '1.39', '/placement');
my %version   = (baremetal => { 'X-OpenStack-Ironic-API-Version' => '1.82' }, placement => { 'OpenStack-API-Version' => 'placement 1.39' });
my $true      = JSON::PP::true();

sub ask {
    my ($method, $path, %option) = @_;
    my ($dialect) = $path =~ m{\A/(baremetal|placement)\b};
    $option{headers} = { %{ $version{ $dialect // '' } // {} }, %{ $option{headers} // {} } };
    return $admin->request($method, $path, %option);
}

sub must {
    my (@request) = @_;
    my $answer = ask(@request);
    die $answer->describe . "\n" if $answer->status >= 400;
    return $answer;
}

# ---- the addresses

# { "METHOD path" => { method, path, tag: its answer has an etag, match: it takes If-Match, none_match } }
sub routes {
    my $wadl = Tenure::XML::parse($admin->get('/application.wadl')->text);
    my ($resources) = Tenure::XML::children($wadl, 'resources');
    my (%found, $walk);
    my $names = sub { my ($node, $of) = @_; return map { lc($_->{attributes}{name} // '') } map { Tenure::XML::children($_, 'param') } Tenure::XML::children($node, $of) };
    $walk = sub {
        my ($node, $path) = @_;
        for my $resource (Tenure::XML::children($node, 'resource')) {
            my $here = $path . '/' . ($resource->{attributes}{path} =~ s{\A/+|/+\z}{}gr);
            for my $method (Tenure::XML::children($resource, 'method')) {
                my %in  = map { $_ => 1 } $names->($method, 'request');
                my %out = map { $_ => 1 } $names->($method, 'response');
                my %route = (method => $method->{attributes}{name}, path => $here, tag => $out{etag}, match => $in{'if-match'}, none_match => $in{'if-none-match'});
                $found{"$route{method} $here"} = \%route if $route{tag} || $route{match};
            }
            $walk->($resource, $here);
        }
    };
    $walk->($resources, '');
    return \%found;
}

my $routes = routes();
cmp_ok scalar(keys %$routes), '>', 150, 'the WADL has addresses with etags';

# ---- the things: claims: the WADL's paths that stand for it; fill: their parameters; read: where its document and etag are; to: sets its
# content to the first or the second of two; body: what each write sends, by its method and path; undo: the tenant that has the changes.

sub labelled { my ($path) = @_; return sub { must('PATCH', $path, patch => { metadata => { labels => { note => "n$_[0]" } } }) } }
sub extra    { my ($path) = @_; return sub { must('PATCH', $path, json => [{ op => 'add', path => '/extra/note', value => "n$_[0]" }]) } }

my $patch = [{ op => 'add', path => '/extra/lost', value => 1 }];

# Members of documents that tell of changes: all else is the content.
my %told = map { $_ => 1 } qw(etag resourceVersion generation updated_at updatedAt managedFields revision resource_provider_generation);

sub content {
    my ($doc) = @_;
    return [map { content($_) } @$doc] if ref $doc eq 'ARRAY';
    return { map { $_ => content($doc->{$_}) } grep { !$told{$_} } keys %$doc } if ref $doc eq 'HASH';
    return $doc;
}

$admin->make_tenant($_) for qw(t1 t2);
must('POST', '/api/v1/namespaces', json => { metadata => { name => 'n' } });
must('PUT', '/v2.0/t1/namespaces/n', json => {});
must('PUT', "/v2.0/t1/namespaces/n/configmaps/$_", json => { data => { a => 'b' } }) for qw(c moved undone);
must('PUT', "/v2.0/t1/persistentvolumes/$_", json => { spec => {} }) for qw(pv moved);
must('PUT', "/v2.0/t1/$_/traits/HW_CPU_X86_AVX") for 'namespaces/n', 'namespaces/n/configmaps/c', 'persistentvolumes/pv';
for my $in ('', '/tenants/t1') {
    for my $scope ('Namespaced', 'Cluster') {
        my $plural = $scope eq 'Namespaced' ? 'widgets' : 'gizmos';
        my $group  = ($in ? 'own' : 'all') . '.example.com';
        must('POST', "/apis/apiextensions.k8s.io/v1$in/customresourcedefinitions", json => { apiVersion => 'apiextensions.k8s.io/v1', kind => 'CustomResourceDefinition',
            metadata => { name => "$plural.$group" }, spec => { group => $group, scope => $scope, names => { plural => $plural, kind => ucfirst $plural },
                versions => [{ name => 'v1', served => $true, storage => $true, subresources => { status => {} },
                    schema => { openAPIV3Schema => { type => 'object', 'x-kubernetes-preserve-unknown-fields' => $true } } }] } });
        my $at = $scope eq 'Namespaced' ? "/apis/$group/v1$in/namespaces/n/$plural" : "/apis/$group/v1$in/$plural";
        must('POST', $at, json => { metadata => { name => 'x' }, spec => { a => 'b' } });
    }
    must('POST', "/api/v1$in/namespaces/n/pods", json => { metadata => { name => 'x' }, spec => { containers => [{ name => 'c', image => 'i' }] } });
    must('POST', "/api/v1$in/persistentvolumes", json => { metadata => { name => 'x' }, spec => { capacity => { storage => '1Gi' }, accessModes => ['ReadWriteOnce'],
        hostPath => { path => '/x' } } });
}
must('PUT', "/v2.0/$_/webhooks/hook", json => { url => 'https://receiver.invalid/', paused => $true }) for qw(t1 all);
my $chassis   = $metal->make('chassis', {})->{uuid};
my $node      = $metal->make('nodes', { driver => 'fake-hardware', resource_class => 'gold' })->{uuid};
my $taken     = $metal->make('nodes', { driver => 'fake-hardware', resource_class => 'silver' })->{uuid};
my $port      = $metal->make('ports', { node_uuid => $node, address => '52:54:00:00:00:01' })->{uuid};
my $group     = $metal->make('portgroups', { node_uuid => $node })->{uuid};
my $connector = $metal->make('volume/connectors', { node_uuid => $node, type => 'iqn', connector_id => 'iqn.x' })->{uuid};
my $target    = $metal->make('volume/targets', { node_uuid => $node, volume_type => 'iscsi', volume_id => 'v', boot_index => 0 })->{uuid};
my $template  = $metal->make('deploy_templates', { name => 'CUSTOM_X', steps => [{ interface => 'bios', step => 'apply', args => {}, priority => 1 }] })->{uuid};
must('PUT', "/baremetal/v1/nodes/$taken/states/provision", json => { target => $_ }) for qw(manage provide);
must('PUT', "/baremetal/v1/nodes/$taken/states/power", json => { target => 'power off' });
my $claim     = $metal->make('allocations', { resource_class => 'silver' })->{uuid};
my $vif       = Tenure::Placement::uuid();
$metal->put("/nodes/$node/traits", json => { traits => ['CUSTOM_X'] })->is_status(204);
$metal->post("/nodes/$node/vifs", json => { id => $vif })->is_status(204);
my $provider = $placement->provider('p');
$placement->inventories($provider, VCPU => { total => 8 });
$placement->traits($provider, 'CUSTOM_X');

sub generation { return $placement->generation($provider) + 0 }

my @things = (
    { name => 'a tier', claims => qr{/all/tiers/\{tier\}\z}, fill => { tier => 'gold' }, read => '/v2.0/all/tiers/gold', no_undo => ['tier'],
        to => sub { must('PUT', '/v2.0/all/tiers/gold', json => { max_resources => 10 + $_[0] }) }, undo => 'system',
        body => { PUT => { json => { max_resources => 1 } } } },
    (map { my ($of, $tenant) = @$_;
        { name => "a webhook of $of", claims => $of eq 'all' ? qr{/all/webhooks/\{name\}(?!/deliveries)} : qr{/\{tenant\}/webhooks/\{name\}(?!/deliveries)}, fill => { name => 'hook', tenant => $of },
            read => "/v2.0/$of/webhooks/hook", undo => $tenant, no_undo => ['not-kept'],
            to => sub { must('PUT', "/v2.0/$of/webhooks/hook", json => { url => "https://receiver.invalid/$_[0]", paused => $true }) },
            body => { PUT => { json => { url => 'https://receiver.invalid/lost', paused => $true } } } } } ['all', 'system'], ['t1', 't1']),
    { name => 'a tenant', claims => qr{\A/\{version\}/\{tenant\}\z}, fill => { tenant => 't1' }, read => '/v2.0/t1', undo => 't1',
        to => sub { must('PATCH', '/v2.0/t1', patch => { tenant => { metadata => { note => "n$_[0]" } } }) },
        body => { PUT => { json => { tenant => { metadata => { note => 'lost' } } } }, PATCH => { patch => { tenant => { metadata => { note => 'lost' } } } } } },
    (map { my ($name, $claims, $at, %fill) = @$_;
        { name => $name, claims => $claims, fill => { tenant => 't1', trait => 'HW_CPU_X86_AVX', %fill }, read => "/v2.0/t1/$at", undo => 't1', to => labelled("/v2.0/t1/$at"),
            body => { 'PUT traits' => { json => { traits => [] } }, 'PUT {trait}' => {}, PUT => { json => { data => { lost => 'x' } } } } } }
        ['an object at large', qr{\A/\{version\}/\{tenant\}/\{plural\}/\{name\}(?:/traits(?:/\{trait\})?)?\z}, 'persistentvolumes/pv', plural => 'persistentvolumes', name => 'pv'],
        ['an object in a namespace', qr{\A/\{version\}/.*namespaces/\{namespace\}/\{plural\}/\{name\}(?:/traits(?:/\{trait\})?)?\z}, 'namespaces/n/configmaps/c', plural => 'configmaps', namespace => 'n', name => 'c'],
        ['a namespace', qr{\A/\{version\}/\{tenant\}/(?:\{plural\}/\{name\}\z|namespaces/\{name\}/traits)}, 'namespaces/n', plural => 'namespaces', name => 'n']),
    { name => 'the traits of an object', claims => qr{namespaces/\{namespace\}/\{plural\}/\{name\}/traits\z}, fill => { tenant => 't1', namespace => 'n', plural => 'configmaps', name => 'c' },
        read => '/v2.0/t1/namespaces/n/configmaps/c/traits', undo => 't1', body => { PUT => { json => { traits => [] } } },
        to => sub { must('PUT', '/v2.0/t1/namespaces/n/configmaps/c/traits', json => { traits => ['HW_CPU_X86_AVX', ('HW_CPU_X86_SSE') x ($_[0] - 1)] }) } },
    # Moves: what is moved changes and changes back; the preview's tag is stale.
    (map { my ($name, $claims, $at, $changes, %fill) = @$_;
        { name => $name, claims => $claims, fill => { tenant => 't1', %fill }, query => '?dest=t2', read => "/v2.0/t1/${at}action/move?dest=t2", to => labelled("/v2.0/t1/$changes"), undo => 't1' } }
        ['the move of a resource', qr{namespaces/\{namespace\}/\{plural\}/\{name\}/action/move\z}, 'namespaces/n/configmaps/moved/', 'namespaces/n/configmaps/moved', namespace => 'n', plural => 'configmaps', name => 'moved'],
        ['the move of one at large', qr{\{tenant\}/\{plural\}/\{name\}/action/move\z}, 'persistentvolumes/moved/', 'persistentvolumes/moved', plural => 'persistentvolumes', name => 'moved'],
        ['the move of a namespace', qr{\{tenant\}/namespaces/\{name\}/action/move\z}, 'namespaces/n/', 'namespaces/n/configmaps/moved', name => 'n'],
        ['the move of all', qr{\{version\}/\{tenant\}/action/move\z}, '', 'namespaces/n/configmaps/moved']),
    # Spaces: those of the system and of a tenant; what is in namespaces, what is at large, namespaces, definitions of types, tenants.
    (map { my ($name, $in, $at, $claims, %fill) = @$_;
        { name => $name, claims => $claims, fill => { tenant => 't1', version => 'v1', subresource => 'status', %fill }, read => $at, undo => $in || $fill{plural} eq 'tenants' ? 't1' : 'system', to => labelled($at),
            body => { PATCH => { patch => { metadata => { labels => { lost => 'x' } } } } } } }
        map({ my $in = $_; my $t = $in ? qr{/tenants/\{tenant\}} : qr{}; my $of = $in ? 't1' : 'system'; my $g = ($in ? 'own' : 'all') . '.example.com';
            ["a pod of $of", $in, "/api/v1$in/namespaces/n/pods/x", qr{\A/api/v1$t/namespaces/\{namespace\}/\{plural\}/\{name\}(?:/\{subresource\})?\z}, namespace => 'n', plural => 'pods', name => 'x'],
            ["a volume of $of", $in, "/api/v1$in/persistentvolumes/x", qr{\A/api/v1$t/\{plural\}/\{name\}(?:/\{subresource\})?\z}, plural => 'persistentvolumes', name => 'x'],
            ["a namespace of $of", $in, "/api/v1$in/namespaces/n", qr{\A/api/v1$t/(?:\{plural\}/\{name\}|namespaces/\{namespace\}/\{plural\})\z}, namespace => 'n', plural => 'namespaces', name => 'n', part => 'status'],
            ["a widget of $of", $in, "/apis/$g/v1$in/namespaces/n/widgets/x", qr{\A/apis/\{group\}/\{version\}$t/namespaces/\{namespace\}/\{plural\}/\{name\}(?:/\{subresource\})?\z}, group => $g, namespace => 'n', plural => 'widgets', name => 'x'],
            ["a gizmo of $of", $in, "/apis/$g/v1$in/gizmos/x", qr{\A/apis/\{group\}/\{version\}$t/\{plural\}/\{name\}(?:/\{subresource\})?\z}, group => $g, plural => 'gizmos', name => 'x'],
            ["a type of $of", $in, "/apis/apiextensions.k8s.io/v1$in/customresourcedefinitions/widgets.$g", qr{\A/apis/\{group\}/\{version\}$t/\{plural\}/\{name\}\z}, group => 'apiextensions.k8s.io', plural => 'customresourcedefinitions', name => "widgets.$g"],
        } '', '/tenants/t1'),
        ['a tenant as an object', '', '/api/v1/tenants/t1', qr{\A/api/v1/\{plural\}/\{name\}\z}, plural => 'tenants', name => 't1']),
    # Bare metal.
    { name => 'a node', claims => qr{/nodes/\{node\}(?!/allocation)}, fill => { node => $node, trait => 'CUSTOM_X', vif => $vif, component => 'led@system', item => 'led', parts => 'system' }, read => "/baremetal/v1/nodes/$node",
        to => extra("/baremetal/v1/nodes/$node"), undo => 'system', body => { PATCH => { json => $patch }, 'PUT power' => { json => { target => 'power on' } }, 'PUT provision' => { json => { target => 'manage' } },
            'PUT raid' => { json => {} }, 'PUT console' => { json => { enabled => $true } }, 'PUT boot_mode' => { json => { target => 'uefi' } }, 'PUT secure_boot' => { json => { target => $true } },
            'PUT maintenance' => { json => { reason => 'lost' } }, 'PUT traits' => { json => { traits => ['CUSTOM_LOST'] } }, 'PUT {trait}' => {}, 'PUT boot_device' => { json => { boot_device => 'pxe' } },
            'PUT {component}' => { json => { state => 'ON' } }, 'PUT {item}' => { json => { state => 'ON' } }, 'POST vifs' => { json => { id => Tenure::Placement::uuid() } } } },
    { name => 'the allocation of a node', claims => qr{/nodes/\{node\}/allocation\z}, fill => { node => $taken }, read => "/baremetal/v1/nodes/$taken/allocation", to => extra("/baremetal/v1/allocations/$claim"), undo => 'system' },
    (map { my ($kind, $key, $uuid) = @$_;
        { name => "one of $kind", claims => qr{/v1/$kind/\{$key\}\z}, fill => { $key => $uuid }, read => "/baremetal/v1/$kind/$uuid", to => extra("/baremetal/v1/$kind/$uuid"), undo => 'system', body => { PATCH => { json => $patch } } } }
        ['ports', port => $port], ['portgroups', portgroup => $group], ['chassis', chassis => $chassis], ['allocations', allocation => $claim],
        ['volume/connectors', connector => $connector], ['volume/targets', target => $target], ['deploy_templates', template => $template]),
    # Placement. Writes bring the generation that holds, so nothing but the etag is wrong.
    { name => 'a provider', claims => qr{/resource_providers/\{uuid\}}, fill => { uuid => $provider, resource_class => 'VCPU', name => 'CUSTOM_X' }, read => "/placement/resource_providers/$provider", undo => 'system',
        to => sub { must('PUT', "/placement/resource_providers/$provider", json => { name => "p$_[0]" }) },
        body => { 'PUT {uuid}' => { json => { name => 'lost' } }, 'POST inventories' => sub { return { json => { resource_provider_generation => generation(), resource_class => 'DISK_GB', total => 1 } } },
            'PUT inventories' => sub { return { json => { resource_provider_generation => generation(), inventories => {} } } },
            'PUT {resource_class}' => sub { return { json => { resource_provider_generation => generation(), total => 9 } } },
            'PUT aggregates' => sub { return { json => { resource_provider_generation => generation(), aggregates => [] } } },
            'PUT traits' => sub { return { json => { resource_provider_generation => generation(), traits => [] } } }, 'PUT {name}' => {} } },
);

# ---- asking

sub path_of {
    my ($thing, $route) = @_;
    my %fill = (version => 'v2.0', %{ $thing->{fill} });
    $fill{plural} = $thing->{fill}{part} if $thing->{fill}{part} && $route->{path} =~ m{/namespaces/\{namespace\}/\{plural\}\z};
    $fill{component} = $thing->{fill}{parts} if $route->{path} =~ m{\{component\}/\{item\}};
    return $route->{path} =~ s/\{(\w+)\}/$fill{$1} \/\/ die "$thing->{name}: no $1 for $route->{path}\n"/ger . ($thing->{query} // '');
}

sub body_of {
    my ($thing, $route) = @_;
    my ($last) = $route->{path} =~ m{([^/]+)\z};
    my $body = $thing->{body}{"$route->{method} $last"} // $thing->{body}{ $route->{method} };
    $body = $body->() if ref $body eq 'CODE';
    return %$body if $body;
    return (json => ask('GET', path_of($thing, $route))->json) if $route->{method} eq 'PUT'; # as it is
    return (patch => { metadata => { labels => { lost => 'x' } } }) if $route->{method} eq 'PATCH';
    return ();
}

sub tag_of { my ($thing) = @_; return ask('GET', $thing->{read})->etag }

# Every method that takes an etag refuses that one, and nothing changes.
sub is_stale {
    my ($thing, $tag, $what) = @_;
    my $before = tag_of($thing);
    isnt $before, $tag, "$what: another etag";
    for my $route (@{ $thing->{routes} }) {
        my $path = path_of($thing, $route);
        if ($route->{match}) {
            my $answer = ask($route->{method}, $path, if_match => $tag, $route->{method} =~ /GET|HEAD/ ? () : body_of($thing, $route));
            is $answer->status, 412, "$what: $route->{method} $path" or diag substr $answer->describe, 0, 400;
        }
        like ask($route->{method}, $path, if_none_match => $tag)->status, qr/\A20[04]\z/, "$what: $route->{method} $path shows what is new" if $route->{none_match} && $route->{method} =~ /GET|HEAD/;
    }
    is tag_of($thing), $before, "$what: nothing is changed";
    return;
}

sub undo { my ($tenant, $request) = @_; return $admin->post("/v2.0/$tenant/changes/" . $request->header('x-request-id') . '/undo') }

sub check {
    my ($thing) = @_;
    $thing->{to}->(1);
    my $first   = ask('GET', $thing->{read});
    my $content = content($first->json);
    is $first->status, 200, $thing->{read};
    $thing->{to}->(2);
    my $between = ask('GET', $thing->{read});
    isnt $between->etag, $first->etag, 'the change gives another etag';
    $thing->{to}->(1);
    my $back = ask('GET', $thing->{read});
    is_deeply content($back->json), $content, 'changed back, the content is the first' if !$thing->{query};
    is_stale($thing, $first->etag,   'there and back, the first etag');
    is_stale($thing, $between->etag, '... and that in between');

    my $change = $thing->{to}->(2);
    my @seen   = ($first->etag, $between->etag, $back->etag, tag_of($thing));
    my $undone = undo($thing->{undo}, $change);
    if ($thing->{no_undo}) {
        is_deeply [$undone->status, map { $_->{reason} } @{ $undone->json->{blockers} }], [409, @{ $thing->{no_undo} }], 'its undo is refused';
        is tag_of($thing), $seen[-1], '... and nothing changes';
        return;
    }
    is $undone->status, 200, 'the change is undone' or return diag $undone->describe;
    is_deeply content(ask('GET', $thing->{read})->json), $content, '... which gives the first content' if !$thing->{query};
    is_stale($thing, $_, 'undone, an etag from before') for $seen[-2], $seen[-1];
    push @seen, tag_of($thing);
    is undo($thing->{undo}, $undone)->status, 200, 'the undo of the undo';
    is scalar(grep { $_ eq tag_of($thing) } @seen), 0, '... has an etag that was never seen';
    is_stale($thing, $_, 'undone twice, an etag from before') for $seen[-2], $seen[-1];
    return;
}

my %claimed;
for my $thing (@things) {
    $thing->{routes} = [map { $routes->{$_} } grep { $routes->{$_}{path} =~ $thing->{claims} && !m{\ADELETE .*/\{plural\}\z} } sort keys %$routes];
    $claimed{"$_->{method} $_->{path}"} = 1 for @{ $thing->{routes} };
    subtest $thing->{name} => sub { ok scalar @{ $thing->{routes} }, 'has addresses'; check($thing) };
}

# ---- what has no content to change back

# A collection has no etag: that of an object in it is none of its own.
subtest 'the deletion of a collection' => sub {
    for my $thing (@things) {
        my ($route) = grep { $_->{path} =~ m{\A/apis?/.*/\{plural\}/\{name\}\z} } @{ $thing->{routes} } or next;
        my ($collection) = $thing->{read} =~ m{\A(.*)/};
        my $tag = tag_of($thing);
        my $refused = $collection =~ m{/(?:namespaces|tenants)\z} ? 405 : 412; # these are deleted one by one
        is ask('DELETE', $collection, if_match => $tag)->status, $refused, $collection;
        is tag_of($thing), $tag, '... deletes nothing';
        $claimed{'DELETE ' . $route->{path} =~ s{/\{name\}\z}{}r} = 1;
    }
};

# The undo of a request is shown with a tag, too: what it would take back changes, and changes back.
subtest 'the preview of an undo' => sub {
    my $at     = '/v2.0/t1/namespaces/n/configmaps/undone';
    my $change = labelled($at)->(1);
    my $path   = '/v2.0/t1/changes/' . $change->header('x-request-id') . '/undo';
    my $tag    = $admin->get($path)->etag;
    $_->() for map { my $n = $_; sub { labelled($at)->($n) } } 2, 1;
    is $admin->post($path, if_match => $tag)->status, 412, 'stale';
    isnt $admin->get($path)->etag, $tag, '... and shown with another one';
    $claimed{"$_ /{version}/{tenant}/changes/{request}/undo"} = 1 for qw(GET POST);
};

# A deleted tenant is recovered only by the etag that it has.
subtest 'the recovery of a tenant' => sub {
    my $to  = sub { must('PATCH', '/v2.0/t2', patch => { tenant => { metadata => { note => $_[0] } } }) };
    my @tag = map { $to->($_)->etag } qw(a b a);
    must('DELETE', '/v2.0/t2', if_match => $tag[2]);
    is $admin->post('/v2.0/t2/action/recover', if_match => $_)->status, 412, 'an earlier etag' for @tag[0, 1];
    is $admin->post('/v2.0/t2/action/recover', if_match => $tag[2])->status, 204, 'the last one';
    $claimed{'POST /{version}/{tenant}/action/recover'} = 1;
};

# What is made again under the same name, with the same content, is another one.
subtest 'made again' => sub {
    my %make = ('/v2.0/all/tiers/again' => { max_resources => 7 }, '/v2.0/t1/webhooks/again' => { url => 'https://receiver.invalid/', paused => $true },
        '/v2.0/t1/namespaces/n/configmaps/again' => { data => { a => 'b' } }, '/v2.0/again' => { tenant => {} }, '/v2.0/t1/namespaces/again' => {});
    for my $path (sort keys %make) {
        my $tag = must('PUT', $path, json => $make{$path})->etag;
        must('DELETE', $path);
        $instance->sql("UPDATE tenants SET purge_at = UTC_TIMESTAMP() WHERE name = 'again' AND live = 1") if $path eq '/v2.0/again';
        isnt must('PUT', $path, json => $make{$path})->etag, $tag, $path;
        is ask('PUT', $path, json => $make{$path}, if_match => $tag)->status, 412, '... and the first etag is stale';
        is ask('DELETE', $path, if_match => $tag)->status, 412, '... for DELETE, too';
    }
};

# POST of new things answers with their etag; there is nothing yet that could change back.
my @left = grep { !$claimed{$_} && ($routes->{$_}{match} || $routes->{$_}{method} ne 'POST') } sort keys %$routes;
is join("\n", @left), '', 'each address with an etag is asked above';
is +($instance->manage('doctor'))[0], 0, 'the stored data keep their promises';
$instance->stop;
done_testing;
