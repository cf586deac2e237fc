# SPDX-License-Identifier: Apache-2.0
# For tests that a tenant learns nothing about others. Two tenants have resources of every kind, and a user of a third tenant sends
# requests. Each call of a WADL is sent twice: once with names of the others' resources, and once with names of the same length
# that do not exist.
package Tenure::Isolation;

use strict;
use warnings;

use JSON::PP ();

use Tenure::Metal;
use Tenure::Placement;
use Tenure::XML;

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my %none = (
    node => 'aaaaaaaa-0000-4000-8000-000000000001', port => 'aaaaaaaa-0000-4000-8000-000000000002', portgroup => 'aaaaaaaa-0000-4000-8000-000000000003',
    chassis => 'aaaaaaaa-0000-4000-8000-000000000004', provider => 'aaaaaaaa-0000-4000-8000-000000000005', consumer => 'aaaaaaaa-0000-4000-8000-000000000006',
    aggregate => 'aaaaaaaa-0000-4000-8000-000000000007', vif => 'aaaaaaaa-0000-4000-8000-000000000008', instance => 'aaaaaaaa-0000-4000-8000-000000000009',
    deleted => 'aaaaaaaa-0000-4000-8000-00000000000a', uid => 'aaaaaaaa-0000-4000-8000-00000000000b', move => 'aaaaaaaa-0000-4000-8000-00000000000c',
    mac => '52:54:00:aa:aa:aa', root => 'aaaaaaaa-0000-4000-8000-00000000000d', systemnode => 'aaaaaaaa-0000-4000-8000-00000000000e',
    systemprovider => 'aaaaaaaa-0000-4000-8000-00000000000f', connector => 'aaaaaaaa-0000-4000-8000-000000000010',
    target => 'aaaaaaaa-0000-4000-8000-000000000011', template => 'aaaaaaaa-0000-4000-8000-000000000012',
    allocation => 'aaaaaaaa-0000-4000-8000-000000000013', event => 'aaaaaaaa-0000-8000-8000-000000000014',
    message => 'aaaaaaaa-0000-4000-8000-000000000015',
    token => 'aaaaaaaaaaaa',
);

sub new {
    my ($class, $instance) = @_;
    my $self = bless { instance => $instance, seen => [] }, $class;
    $self->_make;
    return $self;
}

# The user that sends the requests: an admin of its own tenant.
sub own { return $_[0]{instance}->combined('bob:globex') }

# ---- the resources

sub definition {
    my ($group, $plural, %more) = @_;
    return {
        apiVersion => 'apiextensions.k8s.io/v1', kind => 'CustomResourceDefinition', metadata => { name => "$plural.$group" },
        spec => {
            group => $group, scope => 'Namespaced', names => { plural => $plural, kind => ucfirst $plural }, %more,
            versions => [{ name => 'v1', served => JSON::PP::true, storage => JSON::PP::true, subresources => { status => {} },
                schema => { openAPIV3Schema => { type => 'object', 'x-kubernetes-preserve-unknown-fields' => JSON::PP::true } } }],
        },
    };
}

sub must {
    my ($answer) = @_;
    die $answer->describe . "\n" if $answer->status >= 400;
    return $answer;
}

# Resources of acme, and resources with the same names of the tenant "system".
sub _make_objects {
    my ($self, $tenant) = @_;
    my $admin = $self->{instance}->combined('admin');
    my $in    = $tenant eq 'system' ? '' : "/tenants/$tenant";
    must($admin->post("/api/v1$in/namespaces", json => { metadata => { name => $_ } })) for 'acme-space', 'acme-other';
    must($admin->post("/api/v1$in/namespaces/acme-other/configmaps", json => { metadata => { name => 'acme-thing' }, data => { secret => 's3cret' } }));
    for my $name ('acme-thing', 'acme-thing-2') {
        my %meta = (metadata => { name => $name, labels => { owner => 'acme-label' } });
        must($admin->post("/api/v1$in/namespaces/acme-space/$_", json => { %meta, data => { secret => $_ eq 'secrets' ? 'czNjcmV0' : 's3cret' } })) for 'configmaps', 'secrets';
        must($admin->post("/api/v1$in/namespaces/acme-space/pods", json => { %meta, spec => { nodeName => 's3cret', containers => [{ name => 'c', image => 'i' }] } }));
        must($admin->post("/api/v1$in/persistentvolumes", json => { %meta, spec => { capacity => { storage => '1Gi' }, storageClassName => 's3cret',
            accessModes => ['ReadWriteOnce'], hostPath => { path => '/x' } } }));
    }
    for my $plural ('acmegizmos', 'acmegadgets') {
        must($admin->post("/apis/apiextensions.k8s.io/v1$in/customresourcedefinitions", json => definition('acme.example.com', $plural)));
        must($admin->post("/apis/acme.example.com/v1$in/namespaces/acme-space/$plural", json => { metadata => { name => $_ }, spec => { s => 's3cret' } }))
            for 'acme-thing', 'acme-thing-2';
    }
    must($admin->put("/v2.0/$tenant/namespaces/acme-space/configmaps/acme-thing/traits/HW_CPU_X86_AVX"));
    must($admin->put("/v2.0/$tenant/persistentvolumes/acme-gone", json => { s => 's3cret' }));
    $self->{uid}{deleted}{$tenant} = must($admin->get("/v2.0/$tenant/persistentvolumes/acme-gone"))->json->{metadata}{uid};
    must($admin->delete("/v2.0/$tenant/persistentvolumes/acme-gone"));
    return;
}

sub _make_metal {
    my ($self, $owner) = @_;
    my $metal = Tenure::Metal->new($self->{instance}->combined('admin'), '1.82');
    my $n     = $owner eq 'acme' ? 1 : 2;
    my $node  = $metal->make('nodes', { driver => 'fake-hardware', name => "$owner-node", extra => { s => 's3cret' }, chassis_uuid => $self->{is}{chassis},
        instance_uuid => "bbbbbbbb-0000-4000-8000-00000000000$n", resource_class => 'acme-class', description => 'acme-words', shard => 'acme-shard',
        conductor_group => 'acme-group', $owner eq 'acme' ? (owner => $owner) : () });
    my $group = $metal->make('portgroups', { node_uuid => $node->{uuid}, name => "$owner-group", address => "52:54:00:bb:0$n:01", extra => { s => 's3cret' } });
    my $port  = $metal->make('ports', { node_uuid => $node->{uuid}, address => "52:54:00:bb:0$n:02", portgroup_uuid => $group->{uuid}, extra => { s => 's3cret' } });
    my $connector = $metal->make('volume/connectors', { node_uuid => $node->{uuid}, type => 'iqn', connector_id => "iqn.$owner", extra => { s => 's3cret' } });
    my $target    = $metal->make('volume/targets', { node_uuid => $node->{uuid}, volume_type => 'iscsi', volume_id => 's3cret', boot_index => 0, extra => { s => 's3cret' } });
    my $vif   = "bbbbbbbb-0000-4000-8000-00000000001$n";
    must($metal->put("/nodes/$node->{uuid}/traits", json => { traits => ['CUSTOM_ACME'] }));
    must($metal->post("/nodes/$node->{uuid}/vifs", json => { id => $vif }));
    my $allocation = $metal->make('allocations', { resource_class => 'acme-class', name => "$owner-allocation", extra => { s => 's3cret' }, $owner eq 'acme' ? (owner => $owner) : () });
    my $event = must($metal->get("/nodes/$node->{uuid}/history"))->json->{history}[0];
    return { node => $node->{uuid}, portgroup => $group->{uuid}, port => $port->{uuid}, mac => $port->{address}, vif => $vif, instance => $node->{instance_uuid},
        connector => $connector->{uuid}, target => $target->{uuid}, event => $event->{uuid}, allocation => $allocation->{uuid} };
}

sub _make_placement {
    my ($self) = @_;
    my $instance  = $self->{instance};
    my $placement = Tenure::Placement->new($instance->placement, '1.39');
    my $root      = $placement->provider('acme-root');
    my $provider  = $placement->provider('acme-provider', parent => $root);
    my $aggregate = Tenure::Placement::uuid();
    $placement->inventories($provider, VCPU => { total => 8 });
    $placement->traits($provider, 'CUSTOM_ACME');
    must($placement->version('1.18')->put("/resource_providers/$provider/aggregates", json => [$aggregate]));
    my $consumer = Tenure::Placement::uuid();
    must($placement->allocate($consumer, { $provider => { VCPU => 2 } }, project => 'acme', user => 'acme-user'));
    my $of_system = $placement->provider('system-provider');
    must($instance->admin->post("/v2.0/system/resourceproviders/$root/action/move?dest=acme"));
    return (provider => $provider, root => $root, aggregate => $aggregate, consumer => $consumer, systemprovider => $of_system);
}

sub _make {
    my ($self) = @_;
    my $instance = $self->{instance};
    my $admin    = $instance->admin;
    $admin->make_tenant($_) for 'acme', 'globex', 'third';
    my $metal = Tenure::Metal->new($admin, '1.82');
    $self->{is}{chassis} = $metal->make('chassis', { description => 'acme-words', extra => { s => 's3cret' } })->{uuid};
    $self->{is}{template} = $metal->make('deploy_templates', { name => 'CUSTOM_ACME_TEMPLATE', extra => { s => 's3cret' },
        steps => [{ interface => 'bios', step => 'apply', args => {}, priority => 1 }] })->{uuid};
    $self->_make_objects($_) for 'acme', 'system';
    $self->{is} = { %{ $self->{is} }, %{ $self->_make_metal('acme') }, $self->_make_placement };
    $self->{is}{systemnode} = $self->_make_metal('system')->{node};
    my $moved = must($admin->post('/v2.0/acme/persistentvolumes/acme-thing-2/action/move?dest=third', prefer => 'respond-async'));
    ($self->{is}{move}) = $moved->location =~ m{/moves/([-0-9a-f]+)\z} or die $moved->describe . "\n";
    Tenure::Instance::wait_until(sub { $admin->get($admin->path_of($moved->location))->status == 303 }, 60) or die "no move\n";
    $admin->make('/v2.0/acme/persistentvolumes/acme-thing-3', { s => 's3cret' });
    $self->{is}{deleted} = $self->{uid}{deleted}{acme};
    must($admin->put("/v2.0/$_/webhooks/acme-thing", json => { url => 'https://receiver.invalid/' })) for 'acme', 'system', 'all';
    $self->{is}{message} = must($admin->post('/v2.0/acme/webhooks/acme-thing/action/ping'))->json->{message};
    ($self->{is}{token}) = $instance->token('acme', 'reader') =~ /(.*)\./;
    my $thing = $instance->combined('alice:acme')->get('/api/v1/namespaces/acme-space/configmaps/acme-thing');
    $self->{is}{uid}  = $thing->json->{metadata}{uid};
    $self->{etag}     = $admin->get('/v2.0/acme/namespaces/acme-space/configmaps/acme-thing')->etag;
    $self->{position} = $thing->json->{metadata}{resourceVersion};
    # Texts that no answer may contain unless the request did.
    $self->{marks} = [map { @$_ } $instance->sql(q(SELECT LOWER(INSERT(INSERT(INSERT(INSERT(HEX(r.uid), 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-')),
        LOWER(HEX(r.etag)) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name IN ('acme', 'system', 'third')))];
    # Bodies of requests contain this one, so resources that they create may have it.
    $self->{marks} = [grep { $_ ne $self->{is}{uid} } @{ $self->{marks} }];
    return;
}

# The others' rows, and their rows in the change log.
sub state {
    my ($self) = @_;
    my $whose = q(t.name IN ('acme', 'system', 'third', 'nope', 'nobody'));
    return join ' ', map { my $n = $_; map { map { $_ // 'NULL' } @$_ } $self->{instance}->sql($n) } (
        "SELECT COUNT(*), MD5(GROUP_CONCAT(r.id, r.revision, HEX(r.etag), r.body, COALESCE(r.live, '-') ORDER BY r.id SEPARATOR ',')) FROM resources r "
            . "JOIN tenants t ON t.id = r.tenant_id WHERE $whose",
        "SELECT COUNT(*), MAX(c.id) FROM changes c JOIN tenants t ON t.id IN (c.tenant_id, c.from_tenant_id) WHERE $whose",
        "SELECT COUNT(*), MD5(GROUP_CONCAT(t.id, HEX(t.etag), COALESCE(t.live, '-') ORDER BY t.id SEPARATOR ',')) FROM tenants t WHERE t.name <> 'globex'",
        "SELECT COUNT(*) FROM resource_traits rt JOIN resources r ON r.id = rt.resource_id JOIN tenants t ON t.id = r.tenant_id WHERE $whose",
        'SELECT COUNT(*), MD5(GROUP_CONCAT(w.id, HEX(w.etag) ORDER BY w.id)) FROM webhooks w', 'SELECT COUNT(*) FROM webhook_messages',
        'SELECT COUNT(*), MD5(GROUP_CONCAT(i.id, i.name, i.description ORDER BY i.id)) FROM tiers i',
        'SELECT COUNT(*) FROM inventories', 'SELECT COUNT(*) FROM allocations', 'SELECT COUNT(*) FROM moves');
}

# ---- the calls of a WADL

# [{ method, path, query => [names], type }] of a composed WADL; root: the placement API's own host.
sub routes {
    my ($self, $text, $root) = @_;
    my $wadl = Tenure::XML::parse($text);
    my @found;
    my ($resources) = Tenure::XML::children($wadl, 'resources');
    my $walk;
    $walk = sub {
        my ($node, $path) = @_;
        for my $resource (Tenure::XML::children($node, 'resource')) {
            my $here = $path . '/' . ($resource->{attributes}{path} =~ s{\A/+|/+\z}{}gr);
            $here =~ s{//+}{/}g;
            for my $method (Tenure::XML::children($resource, 'method')) {
                my @params = map { Tenure::XML::children($_, 'param') } $resource, Tenure::XML::children($method, 'request');
                my %query  = map { $_->{attributes}{name} => 1 } grep { $_->{attributes}{style} eq 'query' } @params;
                push @found, { method => $method->{attributes}{name}, path => $here, query => [sort keys %query],
                    dialect => $root || $here =~ m{\A/placement\b} ? 'placement' : $here =~ m{\A/baremetal\b} ? 'baremetal'
                    : $here =~ m{\A/(?:apis?|spaces|openapi|version\z)} ? 'spaces' : 'tenancy' };
            }
            $walk->($resource, $here);
        }
    };
    $walk->($resources, '');
    return \@found;
}

# The values of a path's parameters, in several variants: [a name that exists, a name that does not], or a value that names no
# tenant's resource.
sub _fillings {
    my ($self, $route) = @_;
    my %is   = %{ $self->{is} };
    my %pair = map { $_ => [$is{$_}, $none{$_}] } keys %none;
    my $name = sub { my ($text) = @_; return [$text, $text =~ s/\A(acme|system)/$1 eq 'acme' ? 'nope' : 'nobody'/er] };
    if ($route->{dialect} eq 'baremetal') {
        my %common = (driver => 'fake-hardware', conductor => 'x', component => 'system', trait => 'CUSTOM_ACME', vendor_method => 'x',
            chassis => $pair{chassis}, port => $pair{port}, portgroup => $pair{portgroup}, item => $route->{path} =~ /history/ ? $pair{event} : $pair{vif}, vif => $pair{vif}, allocation => $pair{allocation},
            connector => $pair{connector}, target => $pair{target}, template => $pair{template});
        return map { my $one = $_; +{ %common, %$one } } { node => $pair{node} },
            $route->{path} =~ /\{node\}/ ? ({ node => $name->('acme-node') }, { node => $name->('system-node') }, { node => $pair{systemnode} }) : (),
            $route->{path} =~ /\{portgroup\}/ ? { portgroup => $name->('acme-group') } : (),
            $route->{path} =~ /\{allocation\}/ ? { allocation => $name->('acme-allocation') } : (),
            $route->{path} =~ /\{template\}/ ? { template => ['CUSTOM_ACME_TEMPLATE', 'CUSTOM_NOPE_TEMPLATE'] } : (),
            $route->{path} =~ /\{port\}/ ? { port => $pair{mac} } : ();
    }
    if ($route->{dialect} eq 'placement') {
        return map { my $one = $_; +{ name => 'CUSTOM_ACME', resource_class => 'VCPU', consumer_uuid => $pair{consumer}, %$one } }
            { uuid => $pair{provider} }, $route->{path} =~ /\{uuid\}/ ? { uuid => $pair{systemprovider} } : ();
    }
    my @tenants = $route->{path} =~ /\{tenant\}/ ? (['acme', 'nope'], ['system', 'nobody'], 'globex') : ('globex');
    my $namespaced = $route->{path} =~ /\{namespace\}/;
    my %thing = (namespace => $name->('acme-space'), name => $name->('acme-thing'), subresource => 'status', move => $pair{move}, request => $pair{move}, token => $pair{token}, tier => 'bronze', trait => 'HW_CPU_X86_AVX',
        type => $name->('acmegizmos.acme.example.com'));
    $thing{type}[1] = 'nopegizmos.acme.example.com';
    my @kinds = { plural => 'configmaps' };
    if ($route->{dialect} eq 'tenancy') {
        $thing{version} = 'v2.0';
        @kinds = $namespaced ? ({ plural => 'configmaps' }, { plural => 'secrets' }) : (
            { plural => 'persistentvolumes' }, { plural => 'nodes', name => $pair{node} }, { plural => 'resourceproviders', name => $pair{provider} },
            { plural => 'customresourcedefinitions.apiextensions.k8s.io', name => ['acmegizmos.acme.example.com', 'nopegizmos.acme.example.com'] },
            { plural => 'namespaces', name => $thing{namespace} }, { plural => 'persistentvolumes', name => $name->('acme-gone') });
        push @kinds, { plural => ['acmegizmos.acme.example.com', 'nopegizmos.acme.example.com'] } if $namespaced;
    } elsif ($route->{path} =~ /\{group\}/) {
        $thing{version} = 'v1';
        @kinds = ({ group => ['acme.example.com', 'nope.example.com'], plural => 'acmegizmos' },
            { group => 'acme.example.com', plural => ['acmegizmos', 'nopegizmos'] });
        push @kinds, { group => 'apiextensions.k8s.io', plural => 'customresourcedefinitions',
            name => ['acmegizmos.acme.example.com', 'nopegizmos.acme.example.com'] } if !$namespaced;
    } else {
        @kinds = $namespaced ? map { +{ plural => $_ } } 'configmaps', 'secrets', 'pods'
            : ({ plural => 'persistentvolumes' }, { plural => 'namespaces', name => $thing{namespace} }, { plural => 'tenants', name => ['acme', 'nope'] },
            { plural => 'configmaps' });
    }
    return map { my $tenant = $_; map { +{ %thing, tenant => $tenant, %$_ } } @kinds } @tenants;
}

# Query parameters, each with a name of another tenant's resource and a name that does not exist; without a value if the parameter
# names no resource. The test itself has further ones.
sub _query {
    my ($self, $route, $name) = @_;
    my %is = %{ $self->{is} };
    my %value = (
        address => [$is{mac}, $none{mac}], addresses => [$is{mac}, $none{mac}], chassis_uuid => [$is{chassis}, $none{chassis}],
        node => [$is{node}, $none{node}], node_uuid => [$is{node}, $none{node}], portgroup => [$is{portgroup}, $none{portgroup}],
        instance_uuid => [$is{instance}, $none{instance}], uuid => [$is{provider}, $none{provider}], in_tree => [$is{root}, $none{root}],
        member_of => [$is{aggregate}, $none{aggregate}], uid => [$is{deleted}, $none{deleted}], message => [$is{message}, $none{message}],
        dest => ['acme', 'nope'], owner => ['acme', 'nope'], lessee => ['acme', 'nope'], project => ['acme', 'nope'], project_id => ['acme', 'nope'],
        user_id => ['acme-user', 'nope-user'], shard => ['acme-shard', 'nope-shard'], conductor_group => ['acme-group', 'nope-group'],
        resource_class => ['acme-class', 'nope-class'], description_contains => ['acme-words', 'nope-words'], name => ['acme-provider', 'nope-provider'],
        # Whether the name exists or not, the page after it has only the asking tenant's resources.
        marker => $route->{dialect} ne 'baremetal' ? 'acme-thing' : $route->{path} =~ /history/ ? [$is{event}, $none{event}] : $route->{path} =~ /portgroup/ ? [$is{portgroup}, $none{portgroup}]
            : $route->{path} =~ /port/ ? [$is{port}, $none{port}] : $route->{path} =~ /connectors/ ? [$is{connector}, $none{connector}]
            : $route->{path} =~ /targets/ ? [$is{target}, $none{target}] : $route->{path} =~ /templates/ ? [$is{template}, $none{template}] : $route->{path} =~ /allocations/ ? [$is{allocation}, $none{allocation}] : [$is{node}, $none{node}],
        labelSelector => ['owner%3Dacme-label', 'owner%3Dnope-label'], fieldSelector => ['metadata.name%3Dacme-thing', 'metadata.name%3Dnope-thing'],
        dryRun => 'All', dry_run => 'true', collections => 'true', fieldValidation => 'Strict', deleted => 'true', detail => 'true', resourceVersion => $self->{position}, required => 'HW_CPU_X86_AVX', forbidden => 'HW_CPU_X86_AVX',
        resourceVersionMatch => 'NotOlderThan', sendInitialEvents => 'false', resources => 'VCPU%3A1', associated => 'true', limit => 1, after => 0, maintenance => 'false', conductor => 'x', driver => 'fake-hardware',
        fault => 'x', fields => $route->{dialect} eq 'tenancy' ? ['metadata.name%3Dacme-thing', 'metadata.name%3Dnope-thing'] : 'uuid', provision_state => 'enroll', retired => 'false', sharded => 'true', sort_dir => 'desc', sort_key => 'uuid',
        method => 'x', reset_interfaces => 'true', state => 'active', type => 'classic', consumer_type => 'all',
        actor => ['acme-user', 'nope-user'], resource => [$is{uid}, $none{uid}], text => ['acme-words', 'nope-words'], verb => 'created', order => $route->{path} =~ /changes/ ? 'newest' : 'desc', before => 4_000_000_000,
        from => '2000-01-01T00%3A00%3A00Z', to => '2900-01-01T00%3A00%3A00Z',
        all => 'true', format => 'json', step => 'hour', group_policy => 'none', root_required => 'HW_CPU_X86_AVX', same_subtree => '_A',
        labels => ['owner%3Dacme-label', 'owner%3Dnope-label'], metadata => ['owner%3Dacme-words', 'owner%3Dnope-words'], tier => 'standard',
        created_since => '2000-01-01T00%3A00%3A00Z', created_before => '2900-01-01T00%3A00%3A00Z', updated_since => '2000-01-01T00%3A00%3A00Z',
        updated_before => '2900-01-01T00%3A00%3A00Z', sort => $route->{path} eq '/{version}' ? 'id' : 'name',
        # The marker of another tenant's page; the test itself has that case.
        continue => 'none',
    );
    # Refused if the path names another tenant; the test itself watches the asking tenant.
    $value{watch} = 'true' . ($route->{path} =~ /\{tenant\}/ ? '&timeoutSeconds=1' : '&timeoutSeconds=0&resourceVersion=x');
    return $value{$name};
}

sub _body {
    my ($self, $route, $fill) = @_;
    my $method = $route->{method};
    return () if $method !~ /\AP/ && !($method eq 'DELETE' && $route->{dialect} eq 'spaces' && $route->{path} =~ /\{name\}\z/);
    my $name = $fill->{name};
    if ($route->{dialect} eq 'spaces') {
        return (json => { preconditions => { uid => [$self->{is}{uid}, $none{uid}] } }) if $method eq 'DELETE';
        return (patch => { metadata => { labels => { by => 'stranger' } } }) if $method eq 'PATCH';
        return (json => { metadata => { name => $name }, data => { a => 'b' } });
    }
    if ($route->{dialect} eq 'baremetal') {
        return (json => [{ op => 'add', path => '/extra/by', value => 'stranger' }]) if $method eq 'PATCH';
        return (json => { target => 'manage' }) if $route->{path} =~ /provision\z/;
        return (json => { target => 'power on' }) if $route->{path} =~ /power\z/;
        return (json => { id => [$self->{is}{vif}, $none{vif}] }) if $route->{path} =~ /vifs\z/;
        return (json => { traits => ['CUSTOM_STRANGE'] }) if $route->{path} =~ /traits\z/;
        return (json => { resource_class => 'acme-class', candidate_nodes => [[$self->{is}{node}, $none{node}]] }) if $route->{path} =~ /allocations\z/;
        return (json => {});
    }
    return (json => { traits => ['HW_CPU_X86_AVX'] }) if $route->{path} =~ m{/traits\z};
    return (json => { allocations => {}, project_id => 'globex', user_id => 'bob' }) if $route->{path} =~ /allocations/;
    return (patch => { by => 'stranger' }) if $method eq 'PATCH';
    return (json => $route->{path} =~ m{\A/\{version\}/\{tenant\}\z} ? { tenant => {} } : { by => 'stranger' });
}

# Headers that would show whether a resource exists if the service evaluated them before it checks permission.
sub _conditions {
    my ($self, $method) = @_;
    return $method =~ /GET|HEAD/ ? ({ 'If-None-Match' => $self->{etag} }, { 'If-Match' => $self->{etag} })
        : ({ 'If-Match' => $self->{etag} }, { 'If-Match' => '*' }, $method eq 'PUT' ? { 'If-None-Match' => '*' } : ());
}

# Returns all variants of a route's request; brief: one for each tenant. Sets $route->{unknown} to the names of parameters for
# which this file has no values.
sub calls {
    my ($self, $route, $brief) = @_;
    my (%unknown, @calls, %asked);
    for my $fill ($self->_fillings($route)) {
        $unknown{$_} = 1 for grep { !exists $fill->{$_} } $route->{path} =~ /\{(\w+)\}/g;
        my $first = !$asked{ _pick($fill->{tenant} // '', 0) }++;
        next if $brief && !$first;
        my %call = (%$route, fill => $fill, body => { $self->_body($route, $fill) }, headers => {});
        $call{asked} = { dest => 'third' } if $route->{path} =~ m{/action/move\z};
        $call{asked} = { resource => [$self->{is}{uid}, $none{uid}] } if $route->{dialect} eq 'tenancy' && $route->{path} =~ m{/history\z};
        push @calls, { %call, plain => 1 };
        for my $query (@{ $route->{query} }) {
            my $value = $self->_query($route, $query);
            $unknown{"?$query"} = 1 if !defined $value;
            push @calls, { %call, asked => { $query => $value } } if defined $value && $first && !$brief;
        }
        next if $brief || !$first;
        push @calls, map { +{ %call, headers => $_ } } $self->_conditions($route->{method}) if $route->{path} =~ /\{/;
        push @calls, { %call, headers => { Accept => 'application/xml' } } if $route->{dialect} eq 'tenancy' && $route->{method} eq 'GET';
    }
    $route->{unknown} = join ', ', sort keys %unknown;
    return keys %unknown ? () : @calls;
}

# ---- sending requests

sub _pick {
    my ($value, $case) = @_;
    return ref $value eq 'ARRAY' && @$value == 2 && !ref $value->[0] ? $value->[$case] : $value;
}

sub _picked {
    my ($value, $case) = @_;
    $value = _pick($value, $case);
    return $value->() if ref $value eq 'CODE';
    return { map { ($_ => _picked($value->{$_}, $case)) } keys %$value } if ref $value eq 'HASH';
    return [map { _picked($_, $case) } @$value] if ref $value eq 'ARRAY';
    return $value;
}

sub path_of {
    my ($self, $call, $case) = @_;
    my $path  = $call->{path} =~ s/\{(\w+)\}/_pick($call->{fill}{$1}, $case)/ger;
    my $asked = $call->{asked} // {};
    return $path if !%$asked;
    return "$path?" . join '&', map { "$_=" . _pick($asked->{$_}, $case) } sort keys %$asked;
}

sub names_another {
    my ($self, $call) = @_;
    return $json->encode([map { [$self->path_of($call, $_), _picked(_plain($call->{body}), $_)] } 0]) ne
        $json->encode([map { [$self->path_of($call, $_), _picked(_plain($call->{body}), $_)] } 1]);
}

# Returns the value with an empty text in place of code that makes a new text for each call.
sub _plain {
    my ($value) = @_;
    return { map { ($_ => _plain($value->{$_})) } keys %$value } if ref $value eq 'HASH';
    return [map { _plain($_) } @$value] if ref $value eq 'ARRAY';
    return ref $value eq 'CODE' ? '' : $value;
}

my %versions = (baremetal => { 'X-OpenStack-Ironic-API-Version' => '1.82' }, placement => { 'OpenStack-API-Version' => 'placement 1.39' });

# Returns the answer without what differs from call to call, and with the nonexistent name replaced by the existing one.
sub ask {
    my ($self, $client, $call, $case) = @_;
    my $path   = $self->path_of($call, $case);
    my %body   = map { $_ => _picked($call->{body}{$_}, $case) } keys %{ $call->{body} };
    my %header = (%{ $versions{ $call->{dialect} } // {} }, map { $_ => _pick($call->{headers}{$_}, $case) } keys %{ $call->{headers} });
    my $answer = $client->request($call->{method}, $path, %body, headers => \%header);
    $self->look($answer, join ' ', $path, $json->encode(\%body), values %header);
    return $self->_shape($answer, $call);
}

# Returns the answer without what is new in each: a created resource has its own uid, etag and time.
sub _shape {
    my ($self, $answer, $call) = @_;
    my %header = %{ $answer->{headers} };
    delete @header{ 'date', 'x-request-id', 'x-openstack-request-id' };
    my $text = join "\n", $answer->status, (map { "$_: " . (ref $header{$_} ? join ', ', @{ $header{$_} } : $header{$_}) } sort keys %header), '', $answer->text;
    my $id = $answer->request_id;
    $text =~ s/\Q$id\E/REQUEST/g if defined $id;
    $text =~ s/\Q$none{$_}\E/$self->{is}{$_}/g for keys %none;
    $text =~ s/nobody/system/g;
    $text =~ s/nope/acme/g;
    if ($answer->status < 300 || ($call->{fill}{tenant} // 'globex') eq 'globex') {
        $text =~ s/^content-length: \d+\n//m;
        $text =~ s/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/UUID/g;
        $text =~ s/\b[0-9a-f]{128}\b/TAG/g;
        $text =~ s/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(?:Z|[-+]\d\d:?\d\d)?/TIME/g;
        $text =~ s/"o-\K\w{5}(?=")|configmaps\/o-\K\w{5}/NAME/g;
        $text =~ s/"(resourceVersion)":"\d+"/"$1":"N"/g;
    }
    return $text;
}

# Records an answer that contains another tenant's text which the request does not contain.
sub look {
    my ($self, $answer, $question) = @_;
    my $text = join "\n", $answer->text, map { ref $_ ? @$_ : $_ } values %{ $answer->{headers} };
    return $self->look_at($text, $answer->{what}, $question);
}

# The same, for the text of an answer and the text of its request.
sub look_at {
    my ($self, $text, $what, $question) = @_;
    $question //= '';
    $self->{marked} //= do { my $any = join '|', 's3cret', 'czNjcmV0', @{ $self->{marks} }; qr/($any)/ };
    while ($text =~ /$self->{marked}/g) {
        next if index($question, $1) >= 0;
        push @{ $self->{seen} }, "$what: $1 in $text";
        return;
    }
    return;
}

# Returns what was recorded since the last call.
sub seen {
    my ($self) = @_;
    return splice @{ $self->{seen} };
}

# ---- bodies

my $serial = 0;
sub mac { return sprintf '52:54:00:cc:%02x:%02x', ++$serial / 256, $serial % 256 }

# Resources of the asking tenant, for requests that connect them with another tenant's.
sub make_own {
    my ($self) = @_;
    my $bob   = Tenure::Metal->new($self->own, '1.82');
    my $node  = $bob->make('nodes', { driver => 'fake-hardware' })->{uuid};
    my $group = $bob->make('portgroups', { node_uuid => $node })->{uuid};
    my $port  = $bob->make('ports', { node_uuid => $node, address => mac() })->{uuid};
    my $connector = $bob->make('volume/connectors', { node_uuid => $node, type => 'iqn', connector_id => 'own' })->{uuid};
    my $target    = $bob->make('volume/targets', { node_uuid => $node, volume_type => 'iscsi', volume_id => 'own', boot_index => 0 })->{uuid};
    must($self->own->post('/api/v1/namespaces/default/configmaps', json => { metadata => { name => 'own' }, data => { a => 'b' } }));
    return { node => $node, portgroup => $group, port => $port, connector => $connector, target => $target };
}

# Calls to addresses of the asking tenant whose bodies name another tenant's resources; each call has a name.
sub bodies {
    my ($self, $own) = @_;
    my %pair = map { $_ => [$self->{is}{$_}, $none{$_}] } keys %none;
    my $acme = ['acme', 'nope'];
    my $system = ['system', 'nobody'];
    my $crd  = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    my $cm   = '/api/v1/namespaces/default/configmaps';
    my $review = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    my $put  = sub { my ($member, $value) = @_; return [{ op => 'add', path => $member, value => $value }] };
    my $owners = [{ apiVersion => 'v1', kind => 'ConfigMap', name => ['acme-thing', 'nope-thing'], uid => $pair{uid} }];
    my @asked = (
        ['a node for another', POST => '/baremetal/v1/nodes', { driver => 'fake-hardware', owner => $acme }],
        ['a node for the system', POST => '/baremetal/v1/nodes', { driver => 'fake-hardware', owner => $system }],
        ['a node lent to another', POST => '/baremetal/v1/nodes', { driver => 'fake-hardware', lessee => $acme }],
        ['a node in another\'s chassis', POST => '/baremetal/v1/nodes', { driver => 'fake-hardware', chassis_uuid => $pair{chassis} }],
        ['a node below another', POST => '/baremetal/v1/nodes', { driver => 'fake-hardware', parent_node => $pair{node} }],
        ['a node given away', PATCH => "/baremetal/v1/nodes/$own->{node}", $put->('/owner', $acme)],
        ['a node given to the system', PATCH => "/baremetal/v1/nodes/$own->{node}", $put->('/owner', $system)],
        ['a node put into another\'s chassis', PATCH => "/baremetal/v1/nodes/$own->{node}", $put->('/chassis_uuid', $pair{chassis})],
        ['a port at another\'s node', POST => '/baremetal/v1/ports', { address => \&mac, node_uuid => $pair{node} }],
        ['a port at the system\'s node', POST => '/baremetal/v1/ports', { address => \&mac, node_uuid => $pair{systemnode} }],
        ['a port in another\'s group', POST => '/baremetal/v1/ports', { address => \&mac, node_uuid => $own->{node}, portgroup_uuid => $pair{portgroup} }],
        ['a port moved to another\'s node', PATCH => "/baremetal/v1/ports/$own->{port}", $put->('/node_uuid', $pair{node})],
        ['a port moved to another\'s group', PATCH => "/baremetal/v1/ports/$own->{port}", $put->('/portgroup_uuid', $pair{portgroup})],
        ['a group at another\'s node', POST => '/baremetal/v1/portgroups', { node_uuid => $pair{node} }],
        ['a group moved to another\'s node', PATCH => "/baremetal/v1/portgroups/$own->{portgroup}", $put->('/node_uuid', $pair{node})],
        ['a connector at another\'s node', POST => '/baremetal/v1/volume/connectors', { node_uuid => $pair{node}, type => 'iqn', connector_id => 'new' }],
        ['a connector moved to another\'s node', PATCH => "/baremetal/v1/volume/connectors/$own->{connector}", $put->('/node_uuid', $pair{node})],
        ['a target at another\'s node', POST => '/baremetal/v1/volume/targets', { node_uuid => $pair{node}, volume_type => 'iscsi', volume_id => 'new', boot_index => 1 }],
        ['a target moved to another\'s node', PATCH => "/baremetal/v1/volume/targets/$own->{target}", $put->('/node_uuid', $pair{node})],
        ['an allocation of another\'s node', POST => '/baremetal/v1/allocations', { resource_class => 'acme-class', candidate_nodes => [$pair{node}] }],
        ['an allocation of the system\'s node', POST => '/baremetal/v1/allocations', { resource_class => 'acme-class', candidate_nodes => [$pair{systemnode}] }],
        ['an allocation for another\'s node', POST => '/baremetal/v1/allocations', { node => $pair{node} }],
        ['an allocation for another', POST => '/baremetal/v1/allocations', { resource_class => 'acme-class', owner => $acme }],
        ['another\'s VIF', POST => "/baremetal/v1/nodes/$own->{node}/vifs", { id => $pair{vif} }],
        ['another\'s nodes deleted by list', DELETE => '/baremetal/v1/nodes', [$pair{node}]],
        ['another\'s as heartbeat', POST => '/baremetal/v1/heartbeat/' . $own->{node}, { callback_url => 'http://h', agent_token => $pair{uid} }],
        ['a provider below another', POST => '/placement/resource_providers', { name => 'x', parent_provider_uuid => $pair{provider} }],
        ['allocations of another\'s', PUT => '/placement/allocations/cccccccc-0000-4000-8000-000000000001',
            { allocations => { $self->{is}{provider} => { resources => { VCPU => 1 } } }, project_id => 'globex', user_id => 'bob' }],
        ['a move to another', POST => '/v2.0/globex/namespaces/default/configmaps/own/action/move?dest=acme', undef],
        ['a resource of another tenant', PUT => '/v2.0/globex/namespaces/default/configmaps/new', { metadata => { tenant => $acme } }],
        ['a resource with another\'s uid', PUT => '/v2.0/globex/namespaces/default/configmaps/own', { metadata => { uid => $pair{uid} } }],
        ['a resource with another as owner', PUT => '/v2.0/globex/namespaces/default/configmaps/own', { metadata => { ownerReferences => $owners } }],
        ['an object of another tenant', POST => $cm, { metadata => { name => 'o1', tenant => $acme } }],
        ['an object of the system', POST => $cm, { metadata => { name => 'o1', tenant => $system } }],
        ['an object in another\'s namespace', POST => $cm, { metadata => { name => 'o1', namespace => ['acme-space', 'nope-space'] } }],
        ['an object owned by another\'s', POST => $cm, { metadata => { generateName => 'o-', ownerReferences => $owners } }],
        ['an object with another\'s uid', POST => $cm, { metadata => { generateName => 'o-', uid => $pair{uid} } }],
        ['an object that says it is at another\'s address', POST => $cm, { metadata => { generateName => 'o-',
            selfLink => ['/api/v1/tenants/acme/namespaces/acme-space/configmaps/acme-thing', '/api/v1/tenants/nope/namespaces/nope-space/configmaps/nope-thing'] } }],
        ['one\'s own in another\'s version', PUT => "$cm/own", { metadata => { name => 'own', resourceVersion => $self->{position} }, data => { a => 'c' } }],
        ['one\'s own, deleted if it is another\'s', DELETE => "$cm/own", { preconditions => { uid => $pair{uid} } }],
        ['a type of another\'s name', POST => "$crd?dryRun=All", definition('acme.example.com', 'acmegizmos')],
        ['a type that wants another\'s names', POST => "$crd?dryRun=All", definition(['acme.example.com', 'nope.example.com'], 'gizmos')],
        ['a type shared with another', POST => "$crd?dryRun=All", definition('own.example.com', 'owns', applicableRange => [['tenant=acme', 'tenant=nope']])],
        ['the effect of it', POST => '/spaces/globex/effect', { operation => 'create', object => definition('own.example.com', 'owns',
            applicableRange => [['tenant=acme', 'tenant=nope']]) }],
        ['the effect of another\'s definition', POST => '/spaces/globex/effect', { operation => 'delete', object => {
            kind => 'CustomResourceDefinition', metadata => { name => ['acmegizmos.acme.example.com', 'nopegizmos.acme.example.com'] } } }],
        ['the effect of another\'s policy', POST => '/spaces/globex/effect', { operation => 'patch', object => { kind => 'Tenant',
            metadata => { name => $acme }, spec => { multiTenancyCRDPolicy => 'SystemCRDFirst' } } }],
        ['another tenant made', POST => '/api/v1/tenants', { metadata => { name => $acme } }],
        ['may I in another\'s namespace', POST => $review, { spec => { resourceAttributes => { verb => 'get', resource => 'configmaps', namespace => ['acme-space', 'nope-space'] } } }],
        ['may I have another tenant', POST => $review, { spec => { resourceAttributes => { verb => 'get', resource => 'tenants', name => $acme } } }],
        ['may I, in another tenant', POST => $review, { spec => { resourceAttributes => { verb => 'get', resource => 'configmaps', tenant => $acme } } }],
        ['may I have another\'s type', POST => $review, { spec => { resourceAttributes => { verb => 'get', resource => 'acmegizmos', group => ['acme.example.com', 'nope.example.com'] } } }],
        ['rules in another\'s namespace', POST => '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec => { namespace => ['acme-space', 'nope-space'] } }],
    );
    return map {
        my ($name, $method, $path, $body) = @$_;
        my $dialect = $path =~ m{\A/(baremetal|placement)} ? $1 : $path =~ m{\A/v2} ? 'tenancy' : 'spaces';
        +{ name => $name, method => $method, path => $path, dialect => $dialect, fill => {}, headers => {}, body => defined $body ? { json => $body } : {} }
    } @asked;
}

1;
