#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Ports and port groups: made on a node, shown at each microversion, changed, deleted.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault);

my $instance = Tenure::Instance->start;
my $admin    = Tenure::Metal->new($instance->admin, '1.82');
my $none     = '00000000-0000-4000-8000-000000000000';
my ($true, $false) = (JSON::PP::true, JSON::PP::false);
my ($node, $other) = map { $admin->make('nodes', { driver => 'fake-hardware', name => $_ }) } 'n1', 'n2';
my $serial = 0;

sub mac { return sprintf '52:54:00:00:%02x:%02x', $serial / 256, $serial++ % 256 }
sub port {
    my (%content) = @_;
    return $admin->make('ports', { address => mac(), node_uuid => $node->{uuid}, %content });
}

sub group { my (%content) = @_; return $admin->make('portgroups', { node_uuid => $node->{uuid}, %content }) }

# Each with what a refused one begins with.
my %base = (ports => sub { return (address => mac(), node_uuid => $node->{uuid}) },
    portgroups => sub { return (node_uuid => $node->{uuid}) });

sub refused {
    my ($kind, $content, $status, $text, $name) = @_;
    return is_fault($admin->post("/$kind", json => { $base{$kind}->(), %$content }), $status, $text, $name);
}

subtest 'a new port' => sub {
    my $post = $admin->post('/ports', json => { address => '52:54:00:AA:BB:0C', node_uuid => uc $node->{uuid},
        pxe_enabled => 'false',
        physical_network => 'physnet1', local_link_connection => { switch_id => '0a:1b:2c:3d:4e:5f',
            port_id => 'Gi0/1' }, extra => { a => 1 } });
    $post->is_status(201);
    my $port = $post->json;
    is $post->location, $admin->url . "/v1/ports/$port->{uuid}", 'Location';
    is $post->etag =~ s/"//gr, $port->{etag}, 'the etag in header and body';
    is_deeply [sort keys %$port], [sort qw(uuid created_at updated_at etag address extra internal_info is_smartnic
        local_link_connection
        physical_network pxe_enabled node_uuid portgroup_uuid links)], 'its members';
    is $port->{address}, '52:54:00:aa:bb:0c', 'the address is in lower case';
    is $port->{node_uuid}, $node->{uuid}, 'so is the UUID of the node';
    is_deeply [map { $port->{$_} ? 1 : 0 } qw(pxe_enabled is_smartnic)], [0, 0], 'booleans are booleans';
    is_deeply $port->{local_link_connection}, { switch_id => '0a:1b:2c:3d:4e:5f', port_id => 'Gi0/1' },
        'where it is plugged in';
    is_deeply [$port->{internal_info}, $port->{portgroup_uuid}, $port->{updated_at}], [{}, undef, undef], 'the rest';
    is_deeply $admin->get("/ports/$port->{uuid}")->json, $port, 'GET shows the same';
    is_deeply $admin->get('/ports/' . uc $port->{uuid})->json, $port, 'by an upper-case UUID';
    ok port()->{pxe_enabled}, 'pxe_enabled is true where nothing is said';
};

subtest 'ports that are refused' => sub {
    my $taken = port();
    refused('ports', { address => uc $taken->{address} }, 409,
        qr/\AA port with MAC address \Q$taken->{address}\E already exists/, 'a used address');
    refused('ports', { uuid => $taken->{uuid} }, 409, qr/\AA port with UUID/, 'a used UUID');
    refused('ports', { address => $_ }, 400, qr/Expected valid MAC address/, "address $_") for '52-54-00-00-00-01',
        'not-a-mac', '', '52:54:00:00:00';
    refused('ports', { address => undef }, 400, qr/Schema error for port.*address/, 'no address');
    refused('ports', { node_uuid => undef }, 400, qr/Schema error for port.*node_uuid/, 'no node');
    refused('ports', { node_uuid => 'n1' }, 400, qr/Expected UUID for node_uuid/, 'a name of a node');
    refused('ports', { node_uuid => $none }, 400, qr/Node \Q$none\E could not be found/, 'an unknown node');
    refused('ports', { portgroup_uuid => $none }, 400, qr/Portgroup \Q$none\E could not be found/,
        'an unknown port group');
    refused('ports', { $_ => 'x' }, 400, qr/Schema error for port.*'$_'/, "$_") for qw(bogus created_at internal_info
        name);
    refused('ports', { local_link_connection => { switch_id => '0a:1b:2c:3d:4e:5f' } }, 400, qr/port_id/,
        'half a connection');
    refused('ports', { local_link_connection => { port_id => 'x', switch_id => $_ } }, 400, qr/switch_id/, 'no address of a switch')
        for '0a1b2c3d4e5f607', '0a1b2c3d4e5f607x', "0a1b2c3d\x004e5f607";
    refused('ports', { physical_network => 'x' x 65 }, 400, qr/physical_network/, 'a long name of a network');
    refused('ports', { pxe_enabled => 'perhaps' }, 400, qr/Unrecognized value/, 'no boolean');
    my $far = $admin->make('portgroups', { node_uuid => $other->{uuid} });
    refused('ports', { portgroup_uuid => $far->{uuid} }, 400, qr/another node/, 'another node\'s port group');
};

subtest 'booleans' => sub {
    for (['true', 1], ['True', 1], ['on', 1], ['y', 1], ['yes', 1], ['t', 1], ['1', 1], [1, 1], [$true, 1],
        ['false', 0], ['off', 0], ['n', 0], ['no', 0], ['f', 0], ['0', 0], [0, 0], [$false, 0]) {
        my ($given, $is) = @$_;
        is port(is_smartnic => $given)->{is_smartnic} ? 1 : 0, $is, "'$given'";
    }
};

subtest 'a smart NIC' => sub {
    my $link = { switch_id => '0a:1b:2c:3d:4e:5f', port_id => 'p' };
    refused('ports', { is_smartnic => $true, local_link_connection => $link }, 400, qr/Smart NIC port must have port_id and hostname/, 'has port_id and hostname');
    my $port = port(local_link_connection => $link);
    $admin->patch("/ports/$port->{uuid}", [[add => '/is_smartnic', $true]])->is_status(200, 'which a patch may set later');
    $admin->patch("/ports/$port->{uuid}", [[add => '/local_link_connection/hostname', 'h']])->is_status(200);
    port(is_smartnic => $true);
};

subtest 'a new port group' => sub {
    my $post = $admin->post('/portgroups', json => { node_uuid => $node->{uuid}, address => '52:54:00:AA:BB:A0',
        name => 'pg1', properties => { miimon => 100 } });
    $post->is_status(201);
    my $group = $post->json;
    is $post->location, $admin->url . "/v1/portgroups/$group->{uuid}", 'Location';
    is_deeply [sort keys %$group], [sort qw(uuid created_at updated_at etag address extra internal_info mode name
        node_uuid properties
        standalone_ports_supported links ports)], 'its members';
    is_deeply [@$group{qw(mode address)}, $group->{standalone_ports_supported} ? 1 : 0], ['active-backup',
        '52:54:00:aa:bb:a0', 1], 'defaults';
    is_deeply $admin->get("/portgroups/$_")->json, $group, "found as $_" for 'pg1', $group->{uuid}, uc $group->{uuid}, 'pg1.json', "$group->{uuid}.json";
    refused('portgroups', { name => 'pg1' }, 409, qr/\AA portgroup with name pg1 already exists/, 'a used name');
    refused('portgroups', { address => '52:54:00:aa:bb:a0' }, 409, qr/\AA portgroup with MAC address/,
        'a used address');
    refused('portgroups', { name => $none }, 400, qr/name/, 'a UUID as name');
    refused('portgroups', { node_uuid => $none }, 400, qr/Node \Q$none\E/, 'an unknown node');
    refused('portgroups', { bogus => 1 }, 400, qr/Schema error for portgroup.*'bogus'/, 'an unknown member');
    is_deeply [@{ group(address => undef, name => undef) }{qw(address name)}], [undef, undef], 'neither is needed';
    is group(mode => 'anything goes')->{mode}, 'anything goes', 'the mode is free';
    is_fault($admin->get('/portgroups/nosuch'), 404, qr/\APortgroup nosuch could not be found/, 'an unknown name');
};

subtest 'what each version shows' => sub {
    my $uuid  = port()->{uuid};
    my @since = ([1 => qw(uuid created_at updated_at address extra node_uuid links)], [18 => 'internal_info'],
        [19 => qw(local_link_connection pxe_enabled)], [24 => 'portgroup_uuid'], [34 => 'physical_network'],
            [40 => 'etag'], [53 => 'is_smartnic']);
    my @expected;
    for my $step (@since) {
        my ($version, @members) = @$step;
        is_deeply [sort keys %{ $admin->version('1.' . ($version - 1))->get("/ports/$uuid")->json }], [sort @expected],
            "port before 1.$version" if $version > 1;
        push @expected, @members;
        is_deeply [sort keys %{ $admin->version("1.$version")->get("/ports/$uuid")->json }], [sort @expected],
            "port at 1.$version";
        my $new = $members[0];
        next if $version == 1 || $new eq 'internal_info' || $new eq 'etag';
        is_fault($admin->version('1.' . ($version - 1))->patch("/ports/$uuid", [[remove => "/$new"]]), 406, qr/$new/,
            "$new in a patch before it came");
    }
    is_fault($admin->version('1.18')->post('/ports', json => { address => mac(), node_uuid => $node->{uuid},
        pxe_enabled => $true }), 406, qr/pxe_enabled/,
        'given before it came');
    is_fault($admin->version('1.22')->get('/portgroups/pg1'), 404, undef, 'port groups came with 1.23', address => 1);
    is_deeply [sort keys %{ $admin->version('1.23')->get('/portgroups/pg1')->json }],
        [sort qw(uuid created_at updated_at address extra internal_info
        mode name node_uuid properties standalone_ports_supported links ports)], 'with these members';
};

subtest 'what later versions can name' => sub {
    my ($v23, $v25, $v26) = map { $admin->version("1.$_") } 23, 25, 26;
    is_fault($v25->get("/portgroups?fields=$_"), 406, qr/$_.*1\.26/, "not in fields before 1.26: $_") for 'mode', 'properties';
    is_fault($v25->get('/portgroups/pg1?fields=address,mode'), 406, qr/mode/, 'nor of one');
    is_fault($v25->get('/portgroups?sort_key=mode'), 406, qr/mode/, 'nor to sort by');
    is_fault($v23->post('/portgroups', json => { node_uuid => $node->{uuid}, @$_ }), 406, qr/$_->[0]/, "nor given: $_->[0]") for ['mode', '802.3ad'], ['properties', { a => 1 }];
    for my $patch ([add => '/mode', '802.3ad'], [add => '/properties/a', 1], [remove => '/properties']) {
        is_fault($v25->patch('/portgroups/pg1', [$patch]), 406, qr/1\.26/, "nor patched: @$patch[0, 1]");
    }
    $v23->post('/portgroups', json => { node_uuid => $node->{uuid}, mode => undef, properties => {} })->is_status(201, 'but empty');
    $v26->get('/portgroups?fields=mode,properties&sort_key=mode')->is_status(200, 'from 1.26 on');

    my $link = { network_type => 'unmanaged' };
    my $port = port(local_link_connection => $link);
    my ($v63, $v64) = map { $admin->version("1.$_") } 63, 64;
    my %new = (node_uuid => $node->{uuid}, local_link_connection => $link);
    is_fault($v63->post('/ports', json => { %new, address => mac() }), 406, qr/network_type.*1\.64/, 'network_type before 1.64');
    is_fault($v63->patch("/ports/$port->{uuid}", [[@$_]]), 406, qr/network_type/, "... in a patch: $_->[0]")
        for ['add', '/local_link_connection/network_type', 'managed'], ['remove', '/local_link_connection/network_type'];
    $v63->patch("/ports/$port->{uuid}", [[add => '/local_link_connection', $link]])->is_status(200, 'Ironic does not look into the whole member');
    $v64->post('/ports', json => { %new, address => mac() })->is_status(201, 'at 1.64');
};

subtest 'fields' => sub {
    my $port = port();
    is_deeply $admin->get("/ports/$port->{uuid}?fields=address,links")->json,
        { map { $_ => $port->{$_} } qw(address links etag) }, 'of a port';
    is_deeply $admin->get('/portgroups/pg1?fields=name')->json->{name}, 'pg1', 'of a port group';
    is_fault($admin->get("/ports/$port->{uuid}?fields=driver"), 400, qr/driver.*not a valid field/, 'none of a port');
};

subtest 'patches' => sub {
    my ($port, $group) = (port(), group(name => 'to-patch'));
    my $patch = $admin->patch("/ports/$port->{uuid}", [[add => '/extra/a', 1], [add => '/address', '52:54:00:CC:00:01'],
        [add => '/portgroup_uuid', $group->{uuid}],
        [add => '/pxe_enabled', 'no'], [add => '/physical_network', 'p']]);
    $patch->is_status(200);
    is_deeply [@{ $patch->json }{qw(extra address portgroup_uuid physical_network)}, $patch->json->{pxe_enabled} ? 1
        : 0],
        [{ a => 1 }, '52:54:00:cc:00:01', $group->{uuid}, 'p', 0], 'all of a port that can be';
    ok $patch->json->{updated_at}, 'it was changed';
    $patch = $admin->patch("/ports/$port->{uuid}", [map { [remove => "/$_"] } qw(extra/a portgroup_uuid pxe_enabled
        physical_network)]);
    is_deeply [@{ $patch->json }{qw(extra portgroup_uuid physical_network)}, $patch->json->{pxe_enabled} ? 1 : 0], [{},
        undef, undef, 1],
        'removed, they have their defaults';
    is_fault($admin->patch("/ports/$port->{uuid}", [[remove => "/$_"]]), 400, undef, "/$_ can't be removed")
        for qw(address node_uuid);
    is_fault($admin->patch("/ports/$port->{uuid}", [[add => "/$_", 'x']]), 400,
        qr/\ACannot patch \/$_: .*\/address, \/extra/, "/$_ is not patched")
        for qw(uuid created_at internal_info bogus links etag);
    my $taken = port();
    is_fault($admin->patch("/ports/$port->{uuid}", [[replace => '/address', $taken->{address}]]), 409,
        qr/port with MAC address/, 'a used address');
    $admin->patch("/ports/$port->{uuid}", [[replace => '/node_uuid', $other->{uuid}]])->is_status(200,
        'it can go to another node');
    is_fault($admin->patch("/ports/$port->{uuid}", [[replace => '/node_uuid', $none]]), 400, qr/Node \Q$none\E/,
        'that is there');

    $patch = $admin->patch('/portgroups/to-patch', [[add => '/name', 'patched'], [add => '/mode', '802.3ad'],
        [add => '/properties/miimon', 1],
        [add => '/standalone_ports_supported', 'false'], [add => '/address', mac()]]);
    is_deeply [@{ $patch->json }{qw(name mode properties)}, $patch->json->{standalone_ports_supported} ? 1 : 0],
        ['patched', '802.3ad', { miimon => 1 }, 0],
        'of a port group';
    is_fault($admin->patch('/portgroups/patched', [[remove => '/mode']]), 400, qr/\/mode/,
        'its mode can only be replaced');
    is $admin->patch('/portgroups/patched', [[add => '/name', undef]])->json->{name}, undef,
        'its name can be taken away';
};

subtest 'a port whose node is in use' => sub {
    my $uuid    = '11111111-2222-4333-8444-555555555555';
    my $record  = sub { return $instance->admin->put("/v2.0/t1/nodes/$uuid", json => { driver => 'fake-hardware', @_ }) };
    $instance->admin->make_tenant('t1');
    $record->()->is_status(201);
    my ($port, $group) = (port(node_uuid => $uuid), group(node_uuid => $uuid));
    my $third = $admin->make('nodes', { driver => 'fake-hardware', owner => 't1' })->{uuid};
    my ($far, $far_group) = (port(node_uuid => $third), group(node_uuid => $third));
    my $patch = sub { my ($at, @patch) = @_; return $admin->patch("/ports/$at->{uuid}", [@patch]) };
    my @all = ([add => '/portgroup_uuid', $group->{uuid}], [add => '/pxe_enabled', $false], [add => '/physical_network', 'p'],
        [add => '/local_link_connection', { switch_id => '0a:1b:2c:3d:4e:5f', port_id => 'Gi0/1' }]);
    for my $in_use ([provision_state => 'active'], [provision_state => 'available', instance_uuid => $uuid]) {
        $record->(@$in_use)->is_status(200, "@$in_use");
        is_fault($patch->($port, [replace => '/address', mac()]), 409,
            qr/\ACannot update hardware address for port $port->{uuid} as node $uuid is active or has instance UUID assigned/, 'it keeps its address');
        is_fault($patch->($port, $_), 409, qr/\APort $port->{uuid} can not have any connectivity attributes \(portgroup_uuid, pxe_enabled, local_link_connection, physical_network\) updated unless node $uuid is in a enroll, inspecting, inspect wait, manageable state or in maintenance mode\. The current state is $in_use->[1]\.\z/,
            "and its $_->[1]") for @all;
        is_fault($patch->($port, [add => '/extra/a', 1], [remove => '/pxe_enabled'], [add => '/pxe_enabled', $false]), 409, qr/connectivity/, 'nothing of such a patch is done');
        $patch->($port, [replace => '/extra', { a => 1 }], [add => '/pxe_enabled', $true])->is_status(200, 'the rest can be changed');
        is_fault($admin->patch("/portgroups/$far_group->{uuid}", [[replace => '/node_uuid', $uuid]]), 409,
            qr/\APortgroup $far_group->{uuid} can not be associated to node $uuid unless the node is in a enroll, .* state or in maintenance mode\.\z/, 'no port group comes to it');
        is_fault($patch->($far, [replace => '/node_uuid', $uuid], $all[2]), 409, qr/connectivity/, 'nor a port, if it is plugged in elsewhere');
    }
    $record->(provision_state => 'available')->is_status(200);
    $patch->($port, [replace => '/address', mac()])->is_status(200, 'an available one gets another address');
    $record->(provision_state => 'active', maintenance => $true, instance_uuid => $uuid)->is_status(200);
    $patch->($port, [replace => '/address', mac()], @all)->is_status(200, 'in maintenance a network card is replaced');
    $admin->patch("/portgroups/$far_group->{uuid}", [[replace => '/node_uuid', $uuid]])->is_status(200, 'and a port group comes');
    for my $state ('enroll', 'inspecting', 'inspect wait', 'manageable') {
        $record->(provision_state => $state)->is_status(200);
        $admin->version('1.38')->patch("/ports/$port->{uuid}", [[replace => '/physical_network', $state]])->is_status(200, $state);
    }
    $record->(provision_state => 'inspecting')->is_status(200);
    for my $one (["ports/$port->{uuid}", 'port'], ["portgroups/$group->{uuid}", 'portgroup']) {
        my ($path, $noun) = @$one;
        my $id = $path =~ s{.*/}{}r;
        is_fault($admin->version('1.39')->patch("/$path", [[add => '/extra/b', 1]]), 409, qr/\ACannot update $noun "$id" on "$uuid" while it is in state "inspecting"\.\z/, "inspecting, from 1.39 on: $noun");
        $admin->version('1.38')->patch("/$path", [[add => '/extra/b', 1]])->is_status(200, 'before');
    }
    port(node_uuid => $uuid);
};

subtest 'a port group is in one physical network' => sub {
    my ($group, $other_group) = (group(), group());
    my ($a, $b) = map { port(portgroup_uuid => $group->{uuid}, physical_network => 'p1') } 1, 2;
    my $text = qr/\APort with physical network p2 cannot become a member of port group $group->{uuid} which has ports in physical network p1\.\z/;
    refused('ports', { portgroup_uuid => $group->{uuid}, physical_network => 'p2' }, 409, $text, 'not one of another');
    refused('ports', { portgroup_uuid => $group->{uuid} }, 409, qr/network none cannot/, 'nor one of none');
    is_fault($admin->patch("/ports/$a->{uuid}", [[replace => '/physical_network', 'p2']]), 409, $text, 'it is not left');
    is_fault($admin->patch("/ports/" . port(physical_network => 'p2')->{uuid}, [[add => '/portgroup_uuid', $group->{uuid}]]), 409, $text, 'nor joined from another');
    $admin->delete("/ports/$b->{uuid}")->is_status(204);
    $admin->patch("/ports/$a->{uuid}", [[replace => '/physical_network', 'p2']])->is_status(200, 'the only port may change it');
    port(portgroup_uuid => $group->{uuid}, physical_network => 'p2');
    $admin->patch("/ports/$a->{uuid}", [[replace => '/physical_network', 'p3'], [replace => '/portgroup_uuid', $other_group->{uuid}]])->is_status(200, 'another group has another');
    refused('ports', { physical_network => '' }, 400, qr/\AA non-empty value is required when setting physical_network/, 'no empty one');
    is_fault($admin->patch("/ports/$a->{uuid}", [[replace => '/physical_network', '']]), 400, qr/\AA non-empty value/, 'nor by a patch');
};

subtest 'a port group that stands no single ports' => sub {
    my $group = group(standalone_ports_supported => $false);
    for my $given ($true, 'yes', 1) {
        refused('ports', { portgroup_uuid => $group->{uuid}, pxe_enabled => $given }, 409,
            qr/\APort group $group->{uuid} doesn't support standalone ports\. This port cannot be created as a member of that portgroup as the port's 'pxe_enabled' field was set to True\./, "with pxe_enabled $given");
    }
    port(portgroup_uuid => $group->{uuid}, pxe_enabled => $false);
    ok port(portgroup_uuid => $group->{uuid})->{pxe_enabled}, 'but where nothing is said';
};

subtest 'deletion' => sub {
    my $group = group(name => 'full');
    my $port  = port(portgroup_uuid => $group->{uuid});
    is_fault($admin->delete('/portgroups/full'), 400, qr/\ACannot complete the requested action because portgroup $group->{uuid} contains ports\.\z/, 'a port group that has ports stays');
    is_fault($admin->patch('/portgroups/full', [[replace => '/node_uuid', $other->{uuid}]]), 400,
        qr/\APortgroup $group->{uuid} can not be associated with node $other->{uuid} because there are ports associated with this portgroup\.\z/, 'with its node');
    $admin->delete("/ports/$port->{uuid}")->is_status(204);
    is_fault($admin->get("/ports/$port->{uuid}"), 404, qr/\APort \Q$port->{uuid}\E could not be found/,
        'the port is not there');
    $admin->delete('/portgroups/full')->is_status(204, 'without them it goes');
    port(address => $port->{address});
    group(name => 'full');
    is_fault($admin->delete("/$_"), 400, undef, "DELETE of all $_") for qw(ports portgroups);
    is_fault($admin->get("/ports/$_"), 400, qr/Expected UUID for port_uuid/, "a port has no name: $_") for 'abc', 'abc.json', '.json';
    $admin->get('/ports/' . port()->{uuid} . '.json')->is_status(200, 'a UUID may have a suffix');
};

done_testing;
