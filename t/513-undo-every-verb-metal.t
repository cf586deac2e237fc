#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo of everything that the change log can hold of bare metal and placement: each verb of each of their types, and each call of their WADLs
# that writes. What is not taken back is named here with its reason.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Metal;
use Tenure::Placement qw(uuid);
use Tenure::UndoCases qw(case quiet stays purges covers fresh);

my ($true, $false) = (JSON::PP::true(), JSON::PP::false());
my $instance  = Tenure::Instance->start(combined => 1, settings => { 'tenure.etag_required' => 'no' });
my $admin     = $instance->admin;
my $metal     = Tenure::Metal->new($admin, '1.82');
my $placement = Tenure::Placement->new($admin, '1.39', '/placement');
Tenure::UndoCases::begin($instance);
$admin->make_tenant($_) for 't1', 't2';

# ---- bare metal

my $group = 'baremetal.openstack.org';
sub in { my ($tenant, $plural, $uuid) = @_; return "/v2.0/$tenant/$plural.$group/$uuid" }
sub shown { my ($path) = @_; return sub { $metal->get($path) } }

my $serial = 0;
sub mac { return sprintf '52:54:00:00:%02x:%02x', ++$serial / 256, $serial % 256 }

sub node {
    my (%content) = @_;
    my $uuid = uuid();
    $metal->make('nodes', { driver => 'fake-hardware', owner => 't1', uuid => $uuid, %content });
    return $uuid;
}
sub on { my ($uuid, $what, @targets) = @_; $metal->put("/nodes/$uuid/states/$what", json => { target => $_ })->is_status(202, "$what: $_") for @targets; return }

# Of each kind: the plural in tenancy; whose; a new one's content (a function of its uuid); two patches; what moves it.
my $base = node();
my %step = (interface => 'raid', step => 'apply_configuration', args => {}, priority => 10);
my $off  = node();
on($off, 'power', 'power off');
my %kind = (
    nodes       => { plural => 'nodes', call => 'Node', content => sub { { driver => 'fake-hardware', owner => 't1', name => fresh() } },
        patch => [['add', '/extra', { a => 1 }], ['add', '/resource_class', 'gold']], moves => 1 },
    ports       => { plural => 'ports', call => 'Port', content => sub { { node_uuid => $base, address => mac() } }, patch => [['add', '/extra', { a => 1 }], ['replace', '/address', '52:54:00:ff:ff:01']] },
    portgroups  => { plural => 'portgroups', call => 'Portgroup', content => sub { { node_uuid => $base, name => fresh() } }, patch => [['add', '/extra', { a => 1 }]] },
    chassis     => { plural => 'chassis', call => 'Chassis', tenant => 'system', content => sub { {} }, patch => [['add', '/extra', { a => 1 }], ['add', '/description', 'd']] },
    'volume/connectors' => { plural => 'volumeconnectors', call => 'VolumeConnector', content => sub { { node_uuid => $off, type => 'iqn', connector_id => 'iqn.' . fresh() } }, patch => [['replace', '/type', 'wwpn']] },
    'volume/targets'    => { plural => 'volumetargets', call => 'VolumeTarget', content => sub { { node_uuid => $off, volume_type => 'iscsi', volume_id => fresh(), boot_index => ++$serial,
        properties => { auth_password => 's3cret' } } }, patch => [['add', '/extra', { a => 1 }], ['replace', '/properties', { auth_password => 'other' }, unseen => 1]] },
    deploy_templates    => { plural => 'deploytemplates', call => 'DeployTemplate', tenant => 'system', content => sub { { name => 'CUSTOM_' . uc fresh(), steps => [{%step}] } }, patch => [['add', '/extra', { a => 1 }], ['replace', '/steps/0/priority', 20]] },
);
for my $name (sort keys %kind) {
    my %of     = %{ $kind{$name} };
    my $tenant = $of{tenant} // 't1';
    my $type   = "$of{plural}.$group";
    my %common = (tenant => $tenant);
    my $made   = sub { my ($uuid) = @_; $metal->make($name, { uuid => $uuid, %{ $of{content}->() } }); return $uuid };
    my $sees   = sub { my ($uuid) = @_; return [in($tenant, $of{plural}, $uuid), shown("/$name/$uuid"), "/v2.0/$tenant"] };
    my $one    = sub {
        my ($what, $call, $by, %more) = @_;
        my $uuid = $made->(uuid());
        case("$name: $what", $call, %common, sees => $sees->($uuid), by => sub { $by->($uuid) }, %more);
        return $uuid;
    };
    my $new = uuid();
    case("$name: created", "baremetal create$of{call}", %common, sees => $sees->($new), by => sub { $metal->post("/$name", json => { uuid => $new, %{ $of{content}->() } }) });
    for my $patch (@{ $of{patch} }) {
        my ($op, $at, $value, %more) = @$patch;
        $one->("patched: $op $at", "baremetal patch$of{call}", sub { $metal->patch("/$name/$_[0]", [[$op, $at, $value]]) }, %more);
    }
    $one->('labels', 'tenancy patchResource', sub { $admin->patch(in($tenant, $of{plural}, $_[0]), { metadata => { labels => { a => 'b' } } }) });
    $one->('locked', 'tenancy patchResource', sub { $admin->patch(in($tenant, $of{plural}, $_[0]), { metadata => { locked => $true } }) });
    $one->('deleted', "baremetal delete$of{call}", sub { $metal->delete("/$name/$_[0]") });
    my $gone = $made->(uuid());
    $metal->delete("/$name/$gone")->is_status(204);
    case("$name: recovered", 'tenancy recoverResource', %common, sees => $sees->($gone), by => sub { $admin->post(in($tenant, $of{plural}, $gone) . '/action/recover') });
    if ($of{moves}) {
        my $moving = $made->(uuid());
        case("$name: moved", 'tenancy postMoveOne', moves => 1, sees => [in('t1', $of{plural}, $moving), in('t2', $of{plural}, $moving), '/v2.0/t1', '/v2.0/t2'],
            by => sub { $admin->post(in('t1', $of{plural}, $moving) . '/action/move?dest=t2') });
        $moving = $made->(uuid());
        case("$name: given another owner", "baremetal patch$of{call}", moves => 1, sees => [in('t1', $of{plural}, $moving), in('t2', $of{plural}, $moving), '/v2.0/t1', '/v2.0/t2'],
            by => sub { $metal->patch("/$name/$moving", [['replace', '/owner', 't2']]) });
        $moving = $made->(uuid());
        case("$name: given another owner, and changed", "baremetal patch$of{call}", refused => ['several-kinds'], sees => [in('t1', $of{plural}, $moving), in('t2', $of{plural}, $moving)],
            by => sub { $metal->patch("/$name/$moving", [['replace', '/owner', 't2'], ['add', '/extra', { a => 1 }]]) });
    }
}

# A node with all that hangs on it.
sub tree {
    my $node = node();
    on($node, 'power', 'power off');
    my %made = (
        ports => $metal->make('ports', { node_uuid => $node, address => mac() })->{uuid}, portgroups => $metal->make('portgroups', { node_uuid => $node })->{uuid},
        volumeconnectors => $metal->make('volume/connectors', { node_uuid => $node, type => 'iqn', connector_id => fresh() })->{uuid},
        volumetargets => $metal->make('volume/targets', { node_uuid => $node, volume_type => 'iscsi', volume_id => fresh(), boot_index => 0 })->{uuid},
    );
    return ($node, %made);
}
{
    my ($node, %made) = tree();
    case('a node with all on it: deleted', 'baremetal deleteNode', sees => [in('t1', 'nodes', $node), map({ in('t1', $_, $made{$_}) } sort keys %made), '/v2.0/t1'], by => sub { $metal->delete("/nodes/$node") });
    ($node, %made) = tree();
    case('a node with all on it: moved', 'tenancy postMoveOne', moves => 1, sees => [map { my $t = $_; (in($t, 'nodes', $node), map({ in($t, $_, $made{$_}) } sort keys %made), "/v2.0/$t") } 't1', 't2'],
        by => sub { $admin->post(in('t1', 'nodes', $node) . '/action/move?dest=t2') });
}

# Calls about a node.
sub about_node {
    my ($what, $call, $by, %more) = @_;
    my $node  = $more{node} // node();
    my $ready = delete $more{ready};
    $ready->($node) if $ready;
    my $view = $more{view} // '';
    delete @more{qw(node view)};
    return case("a node: $what", "baremetal $call", sees => [in('t1', 'nodes', $node), shown("/nodes/$node"), $view ? shown("/nodes/$node$view") : ()], by => sub { $by->("/nodes/$node") }, %more);
}
about_node('powered', 'setPower', sub { $metal->put("$_[0]/states/power", json => { target => 'power on' }) });
about_node('managed', 'setProvision', sub { $metal->put("$_[0]/states/provision", json => { target => 'manage' }) });
about_node('RAID', 'setRaid', sub { $metal->put("$_[0]/states/raid", json => { logical_disks => [{ size_gb => 1, raid_level => '1' }] }) });
about_node('console', 'setConsole', sub { $metal->put("$_[0]/states/console", json => { enabled => $true }) });
about_node('boot mode', 'setBootMode', sub { $metal->put("$_[0]/states/boot_mode", json => { target => 'uefi' }) });
about_node('secure boot', 'setSecureBoot', sub { $metal->put("$_[0]/states/secure_boot", json => { target => $true }) });
about_node('maintenance', 'putMaintenance', sub { $metal->put("$_[0]/maintenance", json => { reason => 'r' }) });
about_node('maintenance ended', 'deleteMaintenance', sub { $metal->delete("$_[0]/maintenance") }, ready => sub { $metal->put("/nodes/$_[0]/maintenance", json => { reason => 'r' })->is_status(202) });
about_node('traits', 'putTraits', sub { $metal->put("$_[0]/traits", json => { traits => ['CUSTOM_A', 'HW_CPU_X86_AVX'] }) });
my @traits = (ready => sub { $metal->put("/nodes/$_[0]/traits", json => { traits => ['CUSTOM_A', 'HW_CPU_X86_AVX'] })->is_status(204) });
about_node('a trait', 'putTrait', sub { $metal->put("$_[0]/traits/CUSTOM_B") }, @traits);
about_node('a trait less', 'deleteTrait', sub { $metal->delete("$_[0]/traits/CUSTOM_A") }, @traits);
about_node('no traits', 'deleteTraits', sub { $metal->delete("$_[0]/traits") }, @traits);
about_node('boot device', 'setBootDevice', sub { $metal->put("$_[0]/management/boot_device", json => { boot_device => 'pxe', persistent => $true }) }, view => '/management/boot_device', ignored => 1);
about_node('an indicator', 'setIndicatorNamed', sub { $metal->put("$_[0]/management/indicators/led\@system", json => { state => 'ON' }) }, ignored => 1, unseen => 1);
about_node('an indicator of a component', 'setIndicator', sub { $metal->put("$_[0]/management/indicators/system/led", json => { state => 'ON' }) }, ignored => 1, unseen => 1);
about_node('a VIF', 'attachVif', sub { $metal->post("$_[0]/vifs", json => { id => 'v1', more => { a => 1 } }) }, view => '/vifs');
about_node('a VIF less', 'detachVif', sub { $metal->delete("$_[0]/vifs/v1") }, view => '/vifs', ready => sub { $metal->post("/nodes/$_[0]/vifs", json => { id => 'v1' })->is_status(204) });

# By a user, who may do the same by hand. What the service sets is not a user's to give back.
my $ann = $instance->combined('ann:t1:member');
my $own = Tenure::Metal->new($ann, '1.82');
about_node('a VIF, by a user', 'attachVif', sub { $own->post("$_[0]/vifs", json => { id => 'v1' }) }, who => $ann, view => '/vifs');
about_node('maintenance, by a user', 'putMaintenance', sub { $own->put("$_[0]/maintenance", json => { reason => 'r' }) }, who => $ann);
about_node('powered, by a user', 'setPower', sub { $own->put("$_[0]/states/power", json => { target => 'power on' }) }, who => $ann, refused => ['forbidden']);

# Allocations take a node.
sub available { my ($class) = @_; my $node = node(resource_class => $class); on($node, 'provision', 'manage', 'provide'); on($node, 'power', 'power off'); return $node }
my $claims = Tenure::Metal->new($instance->combined('ann:t1:admin'), '1.82');
sub claim { my ($class) = @_; my $uuid = uuid(); $claims->make('allocations', { uuid => $uuid, resource_class => $class }); return $uuid }
{
    my $node  = available('one');
    my $uuid  = uuid();
    my $sees  = sub { my ($uuid, $node) = @_; return [in('t1', 'allocations', $uuid), in('t1', 'nodes', $node), shown("/nodes/$node"), shown("/allocations/$uuid")] };
    case('an allocation: created', 'baremetal createAllocation', sees => $sees->($uuid, $node), by => sub { $claims->post('/allocations', json => { uuid => $uuid, resource_class => 'one' }) }, again => ['conflict']);
    $node = available('two');
    $uuid = claim('two');
    case('an allocation: patched', 'baremetal patchAllocation', sees => $sees->($uuid, $node), by => sub { $claims->patch("/allocations/$uuid", [['add', '/extra', { a => 1 }]]) });
    case('an allocation: labels', 'tenancy patchResource', sees => $sees->($uuid, $node), by => sub { $admin->patch(in('t1', 'allocations', $uuid), { metadata => { labels => { a => 'b' } } }) });
    case('an allocation: deleted', 'baremetal deleteAllocation', sees => $sees->($uuid, $node), by => sub { $claims->delete("/allocations/$uuid") }, refused => ['conflict']);
    $node = available('three');
    $uuid = claim('three');
    case('the allocation of a node: deleted', 'baremetal deleteNodeAllocation', sees => $sees->($uuid, $node), by => sub { $claims->delete("/nodes/$node/allocation") }, refused => ['conflict']);
    $node = available('four');
    $uuid = claim('four');
    $claims->delete("/allocations/$uuid")->is_status(204);
    stays('an allocation: recovered', "allocations.$group", 'recovered', $admin->post(in('t1', 'allocations', $uuid) . '/action/recover'));
    $node = available('five');
    $uuid = claim('five');
    case('a node with its allocation: moved', 'tenancy postMoveOne', moves => 1, sees => [map { (in($_, 'nodes', $node), in($_, 'allocations', $uuid)) } 't1', 't2'],
        by => sub { $admin->post(in('t1', 'nodes', $node) . '/action/move?dest=t2') });
}

# ---- placement

sub at { my ($uuid, $part) = @_; return "/resource_providers/$uuid" . ($part // '') }
sub seen { my (@parts) = @_; return map { my $path = $_; sub { $placement->get($path) } } @parts }
sub provider { my ($name, %more) = @_; return $placement->provider($name // fresh(), %more) }
sub document { return "/v2.0/system/resourceproviders/$_[0]" }
sub all_of { my ($uuid) = @_; return (document($uuid), seen(map { at($uuid, $_) } '', '/inventories', '/aggregates', '/traits', '/allocations', '/usages')) }
sub generation { return $placement->generation($_[0]) }
my %of_system = (tenant => 'system');
my $custom = 'CUSTOM_' . uc fresh();
$placement->put("/traits/$custom")->is_status(201);

{
    my $uuid = uuid();
    case('a provider: created', 'placement createProvider', %of_system, sees => [all_of($uuid)], by => sub { $placement->post('/resource_providers', json => { name => fresh(), uuid => $uuid }) });
    my $hostile = provider('<script>alert(1)</script>');
    case('a provider: renamed', 'placement putProvider', %of_system, sees => [all_of($hostile)], by => sub { $placement->put(at($hostile), json => { name => '<img src=x onerror=alert(2)>' }) });
    my ($parent, $child) = (provider(), provider());
    my $below = provider(undef, parent => $child);
    case('a provider: given a parent', 'placement putProvider', %of_system, sees => [all_of($child), all_of($below), document($parent)],
        by => sub { $placement->put(at($child), json => { name => fresh(), parent_provider_uuid => $parent }) });
    my $gone = provider();
    $placement->inventories($gone, VCPU => { total => 8, allocation_ratio => 1.5 });
    $placement->traits($gone, $custom);
    $placement->aggregates($gone, uuid());
    case('a provider: labels', 'tenancy patchResource', %of_system, sees => [all_of($gone)], by => sub { $admin->patch(document($gone), { metadata => { labels => { a => 'b' } } }) });
    case('a provider: deleted', 'placement deleteProvider', %of_system, sees => [all_of($gone)], by => sub { $placement->delete(at($gone)) });
    $placement->delete(at($gone))->status;
    case('a provider: recovered', 'tenancy recoverResource', %of_system, sees => [all_of($gone)], by => sub { $admin->post(document($gone) . '/action/recover') });
    my $moving = provider();
    my $leaf   = provider(undef, parent => $moving);
    $placement->inventories($leaf, VCPU => { total => 8 });
    case('a tree of providers: moved', 'tenancy postMoveOne', %of_system, moves => 1, sees => [all_of($moving), all_of($leaf), "/v2.0/t1/resourceproviders/$moving", "/v2.0/t1/resourceproviders/$leaf", '/v2.0/t1'],
        by => sub { $admin->post(document($moving) . '/action/move?dest=t1') });
}
sub about_provider {
    my ($what, $call, $by) = @_;
    my $uuid = provider();
    $placement->inventories($uuid, VCPU => { total => 8, allocation_ratio => 1.5 }, DISK_GB => { total => 100, step_size => 5 });
    $placement->traits($uuid, 'HW_CPU_X86_AVX', $custom);
    $placement->aggregates($uuid, uuid(), uuid());
    return case("a provider: $what", "placement $call", %of_system, sees => [all_of($uuid)], by => sub { $by->($uuid, resource_provider_generation => generation($uuid) + 0) });
}
about_provider('an inventory more', 'createInventory', sub { my ($uuid, %known) = @_; $placement->post(at($uuid, '/inventories'), json => { %known, resource_class => 'MEMORY_MB', total => 5 }) });
about_provider('other inventories', 'putInventories', sub { my ($uuid, %known) = @_; $placement->put(at($uuid, '/inventories'), json => { %known, inventories => { MEMORY_MB => { total => 5 } } }) });
about_provider('another inventory', 'putInventory', sub { my ($uuid, %known) = @_; $placement->put(at($uuid, '/inventories/VCPU'), json => { %known, total => 5 }) });
about_provider('an inventory less', 'deleteInventory', sub { $placement->delete(at($_[0], '/inventories/VCPU')) });
about_provider('no inventories', 'deleteInventories', sub { $placement->delete(at($_[0], '/inventories')) });
about_provider('aggregates', 'putAggregates', sub { my ($uuid, %known) = @_; $placement->put(at($uuid, '/aggregates'), json => { %known, aggregates => [uuid()] }) });
about_provider('traits', 'putProviderTraits', sub { my ($uuid, %known) = @_; $placement->put(at($uuid, '/traits'), json => { %known, traits => ['HW_CPU_X86_SSE'] }) });
about_provider('no traits', 'deleteProviderTraits', sub { $placement->delete(at($_[0], '/traits')) });
about_provider('a trait', 'putProviderTrait', sub { $placement->put(at($_[0], '/traits/HW_CPU_X86_SSE')) });
about_provider('a trait less', 'deleteProviderTrait', sub { $placement->delete(at($_[0], "/traits/$custom")) });

sub wants { my ($known, %allocations) = @_; return { allocations => { map { $_ => { resources => $allocations{$_} } } keys %allocations }, project_id => 'p', user_id => 'u', consumer_type => 'INSTANCE', consumer_generation => $known } }
sub stocked { my $uuid = provider(); $placement->inventories($uuid, VCPU => { total => 8 }, DISK_GB => { total => 100 }); return $uuid }
{
    my ($p, $q, $c, $d) = (stocked(), stocked(), uuid(), uuid());
    my @sees = (all_of($p), all_of($q), seen("/allocations/$c", "/allocations/$d"));
    case('a claim', 'placement putAllocations', %of_system, ignored => 1, sees => [@sees], by => sub { $placement->put("/allocations/$c", json => wants(undef, $p => { VCPU => 2, DISK_GB => 5 }, $q => { VCPU => 1 })) });
    $placement->put("/allocations/$c", json => wants(undef, $p => { VCPU => 2 }))->is_status(204);
    case('claims', 'placement postAllocations', %of_system, ignored => 1, sees => [@sees], by => sub {
        my $known = $placement->get("/allocations/$c")->json->{consumer_generation};
        $placement->post('/allocations', json => { $c => wants($known, $q => { VCPU => 3 }), $d => wants(undef, $p => { DISK_GB => 10 }) }) });
    case('a claim removed', 'placement deleteAllocations', %of_system, ignored => 1, sees => [@sees], by => sub { $placement->delete("/allocations/$c") });
    $placement->delete("/allocations/$c")->status;
    my $e = uuid();
    $placement->put("/allocations/$e", json => wants(undef, $p => { VCPU => 2 }))->is_status(204);
    case('a reshape', 'placement postReshaper', %of_system, sees => [@sees, seen("/allocations/$e")], by => sub {
        my $shape = sub { my ($uuid, %total) = @_; return ($uuid => { resource_provider_generation => generation($uuid) + 0, inventories => { map { $_ => { total => $total{$_} } } keys %total } }) };
        $placement->post('/reshaper', json => { inventories => { $shape->($p, DISK_GB => 100), $shape->($q, VCPU => 16) },
            allocations => { $e => wants($placement->get("/allocations/$e")->json->{consumer_generation}, $q => { VCPU => 2 }) } }) });
}

# The catalogues are not in the change log.
my $class = 'CUSTOM_' . uc fresh();
quiet('a class: created', 'placement createResourceClass', sub { $placement->post('/resource_classes', json => { name => $class }) });
quiet('a class: put', 'placement putResourceClass', sub { $placement->put("/resource_classes/${class}_2") });
quiet('a class: deleted', 'placement deleteResourceClass', sub { $placement->delete("/resource_classes/$class") });
quiet('a trait: made', 'placement makeTrait', sub { $placement->put("/traits/$class") });
quiet('a trait: described', 'placement putTraitAbout', sub { $placement->put("/traits/$class/about", json => { description => 'd' }) });
quiet('a trait: deleted', 'placement dropTrait', sub { $placement->delete("/traits/$class") });

# What goes with others does not move by itself.
stays("$_: moved", "$kind{$_}{plural}.$group", 'moved', $admin->post(in($kind{$_}{tenant} // 't1', $kind{$_}{plural}, $metal->make($_, $kind{$_}{content}->())->{uuid}) . '/action/move?dest=t2'))
    for 'ports', 'portgroups', 'volume/connectors', 'volume/targets';
# Nor does what is the operator's.
stays("$_: moved", "$kind{$_}{plural}.$group", 'moved', $admin->post(in('system', $kind{$_}{plural}, $metal->make($_, $kind{$_}{content}->())->{uuid}) . '/action/move?dest=t1'))
    for 'chassis', 'deploy_templates';
purges();
covers(['baremetal', 'placement'], sub { $_[0] =~ /openstack/ });
is((($instance->manage('doctor'))[0]), 0, 'the stored data keep their promises');
$instance->stop;
done_testing;
