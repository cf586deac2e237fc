#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What of a node has an address of its own: states, maintenance, traits, validation; what drivers would do with hardware;
# drivers, conductors, shards. What works without hardware is in 555-baremetal-provision.t.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Sys::Hostname ();
use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault);

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;
$admin->make_tenant($_) for qw(t1 t2);
my $ann  = Tenure::Metal->new($instance->combined('ann:t1:member'), '1.82');
my $uuid = '11111111-2222-4333-8444-555555555555';
my $host = Sys::Hostname::hostname();
$admin->make("/v2.0/t1/nodes/$uuid", { driver => 'fake-hardware', name => 'n1' });

# The node as it is stored.
sub stored { return $admin->get("/v2.0/t1/nodes/$uuid") }

subtest 'states' => sub {
    my $get = $ann->get('/nodes/n1/states');
    $get->is_status(200);
    my %states = (power_state => undef, provision_state => 'enroll', target_power_state => undef,
        target_provision_state => undef,
        last_error => undef, console_enabled => JSON::PP::false(), provision_updated_at => undef);
    my %raid = (raid_config => {}, target_raid_config => {});
    is_deeply $get->json, { %states, %raid, boot_mode => undef, secure_boot => undef }, 'all of them';
    is_deeply $ann->version('1.74')->get("/nodes/$uuid/states")->json, { %states, %raid }, 'no boot mode before 1.75';
    is_deeply $ann->version('1.11')->get("/nodes/$uuid/states")->json, \%states, 'no RAID before 1.12';
    is_deeply $ann->get('/nodes/' . uc($uuid) . '/states')->json, $get->json, 'a UUID in any case';
    is_fault($ann->get('/nodes/n2/states'), 404, qr/Node n2 could not be found/, 'of no node');
};

subtest 'maintenance' => sub {
    my $set = $ann->put('/nodes/n1/maintenance', json => { reason => 'fan broken' });
    $set->is_status(202);
    is $set->text, '', 'nothing is answered';
    is $set->etag, stored()->etag, 'but the new etag';
    is_deeply [@{ stored()->json }{qw(maintenance maintenance_reason)}], [JSON::PP::true(), 'fan broken'],
        'set, with the reason';
    is $ann->put('/nodes/n1/maintenance', json => { reason => 'fan broken' })->etag, $set->etag,
        'the same once more changes nothing';
    is $ann->version('1.39')->put('/nodes/n1/maintenance', json => { reason => 'fan broken' })->etag, undef,
        'no etag before 1.40';
    for my $body ('', '{}', '{"reason": null}') {
        $ann->put('/nodes/n1/maintenance', body => $body)->is_status(202, "\"$body\"");
        is stored()->json->{maintenance_reason}, undef, 'is no reason';
    }
    is_fault($ann->put('/nodes/n1/maintenance', json => { reason => 1 }), 400, qr/reason/,
        'a reason that is no string');
    is_fault($ann->put('/nodes/n1/maintenance', json => { because => 'x' }), 400, qr/because/,
        'a member that is not known');
    is_fault($ann->put('/nodes/n1/maintenance', json => ['x']), 400, qr/object/, 'no object');
    my $unset = $ann->delete('/nodes/n1/maintenance');
    $unset->is_status(202);
    is $unset->etag, stored()->etag, 'the etag again';
    is_deeply [@{ stored()->json }{qw(maintenance maintenance_reason)}], [JSON::PP::false(), undef], 'unset';
    $ann->delete('/nodes/n1/maintenance')->is_status(202, 'and once more');
    my @changes = $instance->changes_of($unset);
    is scalar @changes, 1, 'a change leaves one row';
    is $changes[0]{actor}, 'ann', 'of who did it';
};

subtest 'maintenance, guarded' => sub {
    my $etag = stored()->etag;
    my $set  = $ann->put('/nodes/n1/maintenance', if_match => $etag);
    $set->is_status(202);
    is_fault($ann->delete('/nodes/n1/maintenance', if_match => $etag), 412, undef, 'a stale etag');
    is stored()->json->{maintenance}, JSON::PP::true(), 'changes nothing';
    $ann->delete('/nodes/n1/maintenance', if_match => $set->etag)->is_status(202);
};

subtest 'traits' => sub {
    is_deeply $ann->get('/nodes/n1/traits')->json, { traits => [] }, 'none';
    my $put = $ann->put('/nodes/n1/traits/CUSTOM_A');
    $put->is_status(204);
    is $put->location, $ann->url . '/v1/nodes/n1/traits/CUSTOM_A', 'Location';
    is $put->etag, stored()->etag, 'the etag is the node\'s';
    is $ann->put('/nodes/n1/traits/CUSTOM_A')->etag, $put->etag, 'the same again changes nothing';
    for my $body ('{}', 'null') {
        my $same = $ann->put('/nodes/n1/traits/CUSTOM_A', body => $body);
        $same->is_status(204, "a body that says nothing: $body");
        is $same->etag, $put->etag, '... changes nothing either';
    }
    $ann->put('/nodes/n1/traits/HW_CPU_X86_VMX')->is_status(204, 'one of the standard ones');
    is_deeply $ann->get('/nodes/n1/traits')->json, { traits => [qw(CUSTOM_A HW_CPU_X86_VMX)] }, 'both';
    $ann->delete('/nodes/n1/traits/CUSTOM_A')->is_status(204);
    is_fault($ann->delete('/nodes/n1/traits/CUSTOM_A'), 404, qr/n1 doesn't have a trait 'CUSTOM_A'/, 'twice');
    is_fault($ann->delete('/nodes/n2/traits/CUSTOM_A'), 404, qr/n2 could not be found/, 'of no node');
    my $set = $ann->put('/nodes/n1/traits', json => { traits => [qw(CUSTOM_Y CUSTOM_X CUSTOM_Y)] });
    $set->is_status(204);
    is_deeply $ann->get('/nodes/n1/traits')->json, { traits => [qw(CUSTOM_X CUSTOM_Y)] }, 'set: these and no others';
    is_fault($ann->put('/nodes/n1/traits/CUSTOM_Z', if_match => $put->etag), 412, undef, 'a stale etag');
    is_deeply $ann->get('/nodes/n1/traits')->json, { traits => [qw(CUSTOM_X CUSTOM_Y)] }, 'changes nothing';
    $ann->delete('/nodes/n1/traits', if_match => $set->etag)->is_status(204, 'the right one');
    is_deeply $ann->get('/nodes/n1/traits')->json, { traits => [] }, 'clears them';
    my ($row) = $instance->changes_of($set);
    is $row->{verb}, 'updated', 'is in the change log';
};

subtest 'traits there cannot be' => sub {
    for my $name ('lower_case', 'CUSTOM_', 'CUSTOM_a', 'HW_NO_SUCH_THING', 'CUSTOM_' . 'A' x 249, 'A B') {
        is_fault($ann->put('/nodes/n1/traits/' . $name =~ s/ /%20/gr), 400, qr/\Q@{[ substr $name, 0, 40 ]}\E/,
            "\"$name\"");
        is_fault($ann->put('/nodes/n1/traits', json => { traits => ['CUSTOM_OK', $name] }), 400, undef, 'in a list');
    }
    for my $body ({}, { traits => 'CUSTOM_A' }, { traits => [1] }, { traits => [], more => 1 }, [], 'CUSTOM_A') {
        is_fault($ann->put('/nodes/n1/traits', json => $body), 400, qr/traits/,
            'a body that is none: ' . JSON::PP->new->allow_nonref->encode($body));
    }
    is_fault($ann->put('/nodes/n1/traits', body => ''), 400, undef, 'no body');
    is_fault($ann->put('/nodes/n1/traits/CUSTOM_A', body => $_), 400, qr/empty/, "a body where there is none: $_")
        for '{"traits":["CUSTOM_B"]}', '{"traits":[]}', '[]', 'false', '""';
    is_fault($ann->put('/nodes/n1/traits/CUSTOM_A', body => '{'), 400, undef, 'or one that is no JSON');
    my @fifty = map { "CUSTOM_T$_" } 1 .. 50;
    $ann->put('/nodes/n1/traits', json => { traits => \@fifty })->is_status(204, 'fifty');
    is_fault($ann->put('/nodes/n1/traits', json => { traits => [@fifty, 'CUSTOM_T51'] }), 400, qr/50/, 'fifty-one');
    is_fault($ann->put('/nodes/n1/traits/CUSTOM_T51'), 400, qr/50/, 'one by one, too');
    $ann->put('/nodes/n1/traits/CUSTOM_T7')->is_status(204, 'one that is there already');
    is scalar @{ $ann->get('/nodes/n1/traits')->json->{traits} }, 50, 'fifty they are';
};

subtest 'validation' => sub {
    my %all = map { $_ => { result => JSON::PP::true() } } qw(bios boot console deploy inspect management network power raid rescue storage);
    is_deeply $ann->get('/nodes/n1/validate')->json, \%all, 'fake interfaces need nothing';
    is_deeply $ann->get("/nodes/validate?node_uuid=$uuid")->json, \%all, 'asked the other way';
    $admin->make('/v2.0/t1/nodes/33333333-2222-4333-8444-555555555555', { driver => 'ipmi', name => 'far' });
    my $far = $ann->get('/nodes/far/validate')->json;
    is_deeply $far->{power}, { result => undef, reason => 'not supported' }, 'hardware can not be looked at';
    is_deeply $far->{rescue}, { result => JSON::PP::false(), reason => 'Driver ipmi does not support rescue (disabled or not implemented).' }, 'nor used if the driver has none';
    is_deeply $far->{storage}, { result => JSON::PP::true() }, 'what does nothing is valid';
    is_fault($ann->get('/nodes/validate'), 400, qr/Which node/, 'which?');
};

subtest 'what drivers would do' => sub {
    my $before = $admin->get('/v2.0/t1/nodes/33333333-2222-4333-8444-555555555555')->etag;
    for my $call (['PUT', 'states/power', { target => 'power on' }, 'power'], ['PUT', 'states/power', { target => 'rebooting' }, 'power'],
        ['PUT', 'states/provision', { target => 'manage' }, 'power'],
        ['PUT', 'states/console', { enabled => 1 }, 'console'],
        ['PUT', 'states/boot_mode', { target => 'uefi' }, 'management'], ['PUT', 'states/secure_boot', { target => 1 }, 'management'],
        ['GET', 'management/boot_device', undef, 'management'], ['PUT', 'management/boot_device', { boot_device => 'pxe' }, 'management'],
        ['GET', 'management/boot_device/supported', undef, 'management'], ['PUT', 'management/inject_nmi', {}, 'inject_nmi'],
        ['GET', 'management/indicators', undef, 'management'], ['GET', 'management/indicators/led@system', undef, 'management'],
        ['PUT', 'management/indicators/led@system', { state => 'ON' }, 'management'],
        ['GET', 'vendor_passthru/methods', undef, 'vendor'], ['POST', 'vendor_passthru?method=x', {}, 'vendor'],
        map { [$_, 'vendor_passthru/x', {}, 'vendor'] } qw(GET POST PUT PATCH DELETE)) {
        my ($method, $path, $body, $what) = @$call;
        is_fault($ann->request($method, "/nodes/far/$path", $method eq 'GET' ? () : (json => $body)), 400,
            qr/\ADriver ipmi does not support $what \(disabled or not implemented\)\.\z/, "$method $path");
    }
    is_deeply $ann->get('/nodes/far/states/console')->json, { console_enabled => JSON::PP::false(), console_info => undef },
        'that a console is off is known without the driver';
    for my $path (qw(vendor_passthru/methods vendor_passthru/x)) {
        is_fault($ann->get("/nodes/n1/$path"), 400, qr/fake-hardware does not support vendor/, "fake-hardware: $path");
    }
    is $admin->get('/v2.0/t1/nodes/33333333-2222-4333-8444-555555555555')->etag, $before, 'nothing is changed by any';
    $admin->delete('/v2.0/t1/nodes/33333333-2222-4333-8444-555555555555')->is_status(204);
};

subtest 'a RAID configuration needs no hardware' => sub {
    my %disk = (raid_level => '1', size_gb => 100);
    my $new  = sub {
        my ($driver, @more) = @_;
        my $node = $ann->as('ann:t1:admin')->make('nodes', { driver => $driver, @more });
        return ("/nodes/$node->{uuid}/states/raid", sub { return $ann->get("/nodes/$node->{uuid}")->json->{target_raid_config} });
    };
    my ($none, $of_none) = $new->('ipmi');
    $ann->put($none, json => {})->is_status(204, 'none of it where there is no RAID');
    is_fault($ann->put($none, json => { logical_disks => [$_] }), 404, qr/\ADriver ipmi does not support raid \(disabled or not implemented\)\.\z/, 'but a configuration')
        for +{%disk}, +{ bogus => 1 };
    is_fault($ann->put($none, json => []), 400, qr/RAID config validation error/, 'what is none for any node');
    is_deeply $of_none->(), {}, 'so it has none';
    my ($agent, $of_agent) = $new->('ipmi', raid_interface => 'agent');
    $ann->put($agent, json => { logical_disks => [{ %disk, interface_type => 'scsi' }] })->is_status(204, 'the agent');
    is_deeply $of_agent->(), { logical_disks => [{ %disk, interface_type => 'scsi' }] }, 'has it stored';
    is_fault($ann->put($agent, json => { logical_disks => [{ raid_level => '1' }] }), 400, qr/RAID config validation error/, 'if it is one');
    my ($redfish, $of_redfish) = $new->('redfish');
    is_fault($ann->put($redfish, json => { logical_disks => [{%disk}, { %disk, interface_type => 'scsi' }] }), 400, qr/interface type `scsi` not supported by Redfish RAID/, 'redfish has no SCSI');
    $ann->put($redfish, json => { logical_disks => [{ %disk, interface_type => 'sas' }] })->is_status(204, '... but SAS');
    is_deeply $of_redfish->(), { logical_disks => [{ %disk, interface_type => 'sas' }] }, 'stored';
    $ann->put($redfish, json => {})->is_status(204);
    is_deeply $of_redfish->(), {}, 'and gone';
    is_fault($ann->put('/nodes/n2/states/raid', json => {}), 404, qr/Node n2 could not be found/, 'of no node');
    for my $driver (qw(fake-hardware ipmi redfish)) {
        my $get = $ann->get("/drivers/$driver/raid/logical_disk_properties");
        $get->is_status(200, "what $driver takes");
        is_deeply [sort keys %{ $get->json }], [qw(controller disk_type interface_type is_root_volume number_of_physical_disks physical_disks raid_level share_physical_disks size_gb volume_name)],
            'is the same for all';
        like $get->json->{raid_level}, qr/\ARAID level for the logical disk\. .*Required\.\z/, 'with texts';
    }
    is_fault($ann->get('/drivers/nosuch/raid/logical_disk_properties'), 404, qr/nosuch/, 'no such driver');
};

subtest 'what drivers would leave behind' => sub {
    for my $list (['nodes/n1/bios', 'bios'],
        ['volume/connectors', 'connectors'], ['volume/targets', 'targets'], ['nodes/n1/volume/targets', 'targets']) {
        my ($path, $name) = @$list;
        is_deeply $ann->get("/$path")->json, { $name => [] }, $path;
    }
    is_fault($ann->get('/nodes/n1/bios/x'), 404, qr/\ANode n1 doesn't have a BIOS setting 'x'\z/, 'a BIOS setting');
    for my $path ('nodes/n1/inventory',
        'lookup?addresses=52:54:00:00:00:01') {
        is_fault($ann->get("/$path"), 404, qr/could not be found/, $path);
    }
    is_fault($ann->get('/nodes/n1/inventory'), 404, qr/\ANode inventory record for node n1 could not be found\.\z/, 'no inventory');
    is_fault($ann->get('/nodes/n2/bios'), 404, qr/Node n2/, 'of no node');
    for my $query ('detail=true', 'detail=false', 'fields=name') {
        is_deeply $ann->version('1.74')->get("/nodes/n1/bios?$query")->json, { bios => [] }, "BIOS settings with $query";
        my ($name) = split /=/, $query;
        is_fault($ann->version('1.73')->get("/nodes/n1/bios?$query"), 400, qr/\AInvalid query parameter $name/, '... came with 1.74');
    }
    is_fault($ann->get('/nodes/n1/bios?detail=maybe'), 400, qr/Unrecognized value/, 'detail: yes or no');
    is_fault($ann->get('/nodes/n1/bios?detail=true&fields=name'), 400, qr/subset of fields/, 'not both at once');
    is_fault($ann->get("/lookup$_"), 400, qr/\AAt least one of 'addresses' and 'node_uuid'/, "a lookup of nothing: $_")
        for '', '?addresses=', '?addresses=junk,52:54';
    is_fault($ann->get('/lookup?node_uuid=junk'), 400, qr/\AExpected UUID for node_uuid: junk\z/, 'what is no UUID');
    is_fault($ann->get("/lookup?$_"), 404, qr/could not be found/, $_)
        for 'addresses=junk,%2052:54:00:00:00:01', 'node_uuid=00000000-0000-4000-8000-000000000000';
    is_deeply [sort keys %{ $ann->get('/volume')->json }], [qw(connectors links targets)], 'volume';
};

subtest 'drivers' => sub {
    my $list = $ann->get('/drivers')->json->{drivers};
    is_deeply [map { $_->{name} } @$list], [qw(fake-hardware ipmi redfish)], 'as configured';
    is_deeply $list->[0]{hosts}, [$host], 'of this host';
    is_deeply [sort keys %{ $list->[0] }], [qw(hosts links name properties type)], 'short in lists';
    my $one = $ann->get('/drivers/fake-hardware')->json;
    is_deeply $ann->get('/drivers/?detail=True')->json->{drivers}[0], $one, 'whole with detail';
    is $one->{default_network_interface}, 'noop', 'interfaces';
    is_deeply [sort @{ $one->{enabled_bios_interfaces} }], [qw(fake no-bios)], 'those enabled';
    is scalar(grep { /\Adefault_/ } keys %$one), 12, 'twelve kinds';
    is_deeply [sort keys %{ $ann->version('1.13')->get('/drivers/ipmi')->json }], [qw(hosts links name)], 'at 1.13';
    is_deeply [sort keys %{ $ann->version('1.29')->get('/drivers/ipmi')->json }], [qw(hosts links name properties)],
        'at 1.29';
    my $old = $ann->version('1.30')->get('/drivers/ipmi')->json;
    ok exists $old->{default_power_interface} && !exists $old->{default_storage_interface},
        'at 1.30, without what came later';
    is_deeply $ann->get('/drivers?type=classic')->json, { drivers => [] }, 'none is of the old type';
    is scalar @{ $ann->get('/drivers?type=dynamic')->json->{drivers} }, 3, 'all are of the new one';
    is_deeply [sort keys %{ $ann->get('/drivers?fields=name')->json->{drivers}[0] }], [qw(links name)], 'fields';
    is_deeply [sort keys %{ $ann->get('/drivers/ipmi?fields=hosts,type')->json }], [qw(hosts links type)], 'of one';
    is_deeply [sort keys %{ $ann->get('/drivers?fields=Name')->json->{drivers}[0] }], [qw(links name)], 'in any case';
    is_deeply [sort keys %{ $ann->get('/drivers/ipmi?fields=Hosts,TYPE')->json }], [qw(hosts links type)], 'of one, too';
    my $some = $ann->get('/drivers/ipmi?fields=name,default_boot_interface,enabled_boot_interfaces')->json;
    my $whole = $ann->get('/drivers/ipmi')->json;
    is_deeply $some, { map { $_ => $whole->{$_} } qw(name links default_boot_interface enabled_boot_interfaces) }, 'interfaces of one';
    is_fault($ann->get('/drivers?fields=name,default_boot_interface'), 400, qr/"default_boot_interface"/,
        'fields that are none');
    is_fault($ann->get("/drivers/ipmi?fields=name,$_"), 400, qr/"$_"/, 'of one') for 'bogus', 'default_bogus_interface';
    is_fault($ann->get('/drivers?fields=name&detail=true'), 400, undef, 'fields and detail');
    is_fault($ann->version('1.76')->get('/drivers?fields=name'), 406, qr/1\.77/, 'fields came later');
    is_fault($ann->version('1.29')->get('/drivers?type=dynamic'), 406, qr/1\.30/, 'so did type');
    is_fault($ann->version('1.29')->get('/drivers?detail=true'), 406, qr/1\.30/, 'and detail');
    is_fault($ann->get('/drivers/nosuch'), 404, qr/nosuch/, 'no such driver');
    is_deeply $ann->get('/drivers/ipmi/properties')->json, {}, 'properties: none';
    is_fault($ann->get('/drivers/nosuch/properties'), 404, undef, 'of none');
    is_fault($ann->get('/drivers/ipmi/vendor_passthru/methods'), 400, qr/Driver ipmi does not support vendor/,
        'calls of drivers');
};

subtest 'events of the network service' => sub {
    my $operator = $ann->as('admin');
    my %event = (event => 'network.bind_port', port_id => $uuid, mac_address => '52:54:00:00:00:01', status => 'ACTIVE');
    my $before = $instance->change_count;
    $operator->post('/events', json => { events => [{%event}, { %event, event => "network.$_" }] })->is_status(204) for 'unbind_port', 'delete_port';
    $operator->post('/events', json => { events => [{ %event, device_id => undef, 'binding:host_id' => $uuid, 'binding:vnic_type' => 'baremetal' }] })->is_status(204);
    is $instance->change_count, $before, 'change nothing';
    for my $wrong ([], {}, { events => [] }, { events => {} }, { events => [{%event}], more => 1 }, { events => ['x'] },
        (map { { events => [{ %event, %$_ }] } } { event => 'network.other' }, { event => undef }, { port_id => 'x' }, { port_id => undef }, { mac_address => 'x' },
            { status => 1 }, { bogus => 1 }, { device_id => 'x' }, { 'binding:host_id' => 7 }),
        map { my %less = %event; delete $less{$_}; { events => [\%less] } } sort keys %event) {
        is_fault($operator->post('/events', json => $wrong), 400, undef, 'refused: ' . JSON::PP->new->canonical->encode($wrong));
    }
    is_fault($operator->version('1.53')->post('/events', json => { events => [{%event}] }), 404, qr/1\.54/, 'before 1.54', address => 1);
};

subtest 'conductors and shards' => sub {
    my $list = $ann->get('/conductors')->json->{conductors};
    is_deeply [map { $_->{hostname} } @$list], [$host], 'this host';
    is_deeply $ann->get("/conductors/$host")->json->{drivers}, [qw(fake-hardware ipmi redfish)], 'has all drivers';
    is_deeply [sort keys %{ $ann->get("/conductors/$host?fields=HostName,alive")->json }], [qw(alive hostname links)], 'fields, in any case';
    is_deeply [sort keys %{ $ann->get('/conductors?fields=HOSTNAME')->json->{conductors}[0] }], [qw(hostname links)], 'in the list, too';
    is_fault($ann->get('/conductors/elsewhere'), 404, qr/elsewhere/, 'there is no other');
    ok !exists $ann->get("/conductors?$_")->json->{next}, "the last page: $_" for '', 'limit=2';
    my $page = $ann->get('/conductors?limit=1&fields=hostname&sort_key=hostname&sort_dir=desc')->json;
    is_deeply [map { $_->{hostname} } @{ $page->{conductors} }], [$host], 'a page of one';
    like $page->{next}, qr{/v1/conductors\?limit=1&fields=hostname&sort_key=hostname&sort_dir=desc&marker=\Q$host\E\z}, '... leads on';
    is_deeply $ann->get($page->{next})->json, { conductors => [] }, '... to nothing';
    is_fault($ann->get('/conductors?marker=elsewhere'), 404, qr/\AConductor elsewhere could not be found\.\z/, 'an unknown marker');
    is_fault($ann->get("/conductors?sort_key=$_"), 400, qr/sort_key/, "not by $_") for qw(alive drivers links bogus), '';
    is_fault($ann->get('/conductors?sort_dir=sideways'), 400, qr/sort direction/, 'nor in that direction');
    my $operator = $ann->as('admin');
    my $shards   = sub { return $_[0]->get('/shards')->json->{shards} };
    my $of_tenant = @{ $ann->get('/nodes')->json->{nodes} };
    my $of_all    = @{ $operator->get('/nodes')->json->{nodes} };
    cmp_ok $of_tenant, '>', 0, 'nodes';
    is_deeply $shards->($ann), [{ name => undef, count => $of_tenant }], 'are in no shard';
    $admin->make_tenant('nodeless');
    is_deeply $ann->as('bob:nodeless:admin')->get('/shards')->json, { shards => [] }, 'without nodes there is nothing';
    my $n = 0;
    for my $shard ('s2', 's1', 's2') {
        $n++;
        $admin->make('/v2.0/t' . ($n == 3 ? 2 : 1) . "/nodes/22222222-0000-4000-8000-00000000000$n",
            { driver => 'ipmi', shard => $shard });
    }
    is_deeply $shards->($ann), [{ name => undef, count => $of_tenant }, { name => 's1', count => 1 }, { name => 's2', count => 1 }],
        'of the tenant\'s nodes, the most frequent first';
    is_deeply $shards->($operator), [{ name => undef, count => $of_all }, { name => 's2', count => 2 }, { name => 's1', count => 1 }],
        'of all, for an operator';
    $admin->make_tenant('sharded');
    $instance->fill('sharded', 'nodes', 1_001);
    $instance->sql(q{UPDATE resources r JOIN tenants t ON t.id = r.tenant_id SET r.body = CONCAT('{"shard":"', r.name, '"}') WHERE t.name = 'sharded'});
    is scalar @{ $shards->($operator) }, 1_004, 'all of them, however many';
    $instance->sql(q{DELETE r FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 'sharded'});
    my $addresses = sub { my ($who, $query) = @_; return join ' ', map { substr $_->{address}, -1 } @{ $who->get("/ports$query")->json->{ports} } };
    $operator->make('ports', { address => "52:54:00:54:00:0$_", node_uuid => "22222222-0000-4000-8000-00000000000$_" }) for 1 .. 3;
    is $addresses->($ann, '?shard=s2'), '1', 'ports of a shard: the tenant\'s';
    is $addresses->($operator, '?shard=s2'), '1 3', 'all, for an operator';
    is $addresses->($operator, '/detail?shard=s1,none,s2&sort_key=address&sort_dir=desc'), '3 2 1', 'of several shards';
    is $addresses->($operator, '?shard=s2&limit=1'), '1', 'a page';
    is $addresses->($operator, '?shard=s2&address=52:54:00:54:00:03'), '3', 'with another filter';
    is $addresses->($operator, '?shard=none'), '', 'of no shard';
    is_fault($operator->version('1.81')->get('/ports?shard=s2'), 406, qr/1\.82/, 'since 1.82');
};

done_testing;
