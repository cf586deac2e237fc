#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Nodes: made, shown at each microversion, found, deleted; chassis that they stand in.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault);
use Tenure::Undo qw(undo_path);

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = Tenure::Metal->new($instance->admin, '1.82');
my $none     = '00000000-0000-4000-8000-000000000000';
my $time     = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00\z/;
my $serial   = 0;

sub node {
    my (%content) = @_;
    return $admin->make('nodes', { driver => 'fake-hardware', name => 'x' . $serial++, %content });
}

sub refused {
    my ($content, $status, $text, $name) = @_;
    return is_fault($admin->post('/nodes', json => $content), $status, $text, $name);
}

subtest 'a new node' => sub {
    my $post = $admin->post('/nodes', json => { driver => 'fake-hardware', name => 'n1', extra => { counter => 0 },
        properties => { cpus => 4 }, resource_class => 'gold', maintenance => JSON::PP::true, network_data => undef });
    $post->is_status(201);
    my $node = $post->json;
    is $post->location, $admin->url . "/v1/nodes/$node->{uuid}", 'Location';
    is $post->etag =~ s/"//gr, $node->{etag}, 'the etag in header and body';
    is_deeply [@$node{qw(name driver resource_class)}, $node->{extra}{counter}, $node->{properties}{cpus}],
        ['n1', 'fake-hardware', 'gold', 0, 4], 'what was given';
    ok $node->{maintenance}, 'a flag';
    is_deeply [@$node{qw(clean_step deploy_step raid_config target_raid_config network_data driver_info instance_info
        driver_internal_info)}],
        [map { {} } 1 .. 8], 'dictionaries are empty, never null';
    is_deeply $node->{traits}, [], 'no traits';
    is_deeply [grep { $node->{$_} } qw(console_enabled protected retired)], [], 'flags are false';
    is_deeply [grep { defined $node->{$_} } qw(updated_at chassis_uuid instance_uuid power_state owner lessee
        description fault shard
        last_error reservation automated_clean provision_updated_at)], [], 'the rest is null';
    is $node->{conductor_group}, '', 'no conductor group';
    is $node->{provision_state}, 'enroll', 'it is enrolled';
    is $node->{boot_interface}, 'fake', 'interfaces are those of the driver';
    like $node->{created_at}, $time, 'the time';
    ok length $node->{conductor}, 'the conductor is a host';
    is_deeply $node->{links}, [{ rel => 'self', href => $post->location },
        { rel => 'bookmark', href => $admin->url . "/nodes/$node->{uuid}" }], 'links';
    is $node->{$_}[0]{href}, $post->location . "/$_", "links to $_" for qw(ports portgroups states volume);
    my $get = $admin->get('/nodes/n1');
    is_deeply $get->json, $node, 'GET shows the same';
    is $get->etag, $post->etag, 'under the same tag';
};

subtest 'what a node can begin with, and what comes by patches alone' => sub {
    $instance->admin->make_tenant('t1');
    my $ann   = Tenure::Metal->new($instance->combined('ann:t1:admin'), '1.82');
    my %first = (console_enabled => JSON::PP::true, boot_mode => 'uefi', secure_boot => JSON::PP::false);
    for my $who ($admin, $ann) {
        my $node = $who->make('nodes', { driver => 'fake-hardware', %first });
        is_deeply { map { $_ => $node->{$_} } keys %first }, \%first, 'console and boot mode, by an operator or not';
        is_fault($who->patch("/nodes/$node->{uuid}", [[add => "/$_", $first{$_}]]), 400, qr{\ACannot patch /$_}, "no patch has $_") for sort keys %first;
    }
    is node(console_enabled => 'yes', secure_boot => 'on')->{$_}, JSON::PP::true, "a text for the flag $_" for qw(console_enabled secure_boot);
    my $none = node(map { $_ => undef } keys %first);
    is_deeply [@$none{sort keys %first}], [undef, JSON::PP::false, undef], 'null is the default';
    refused({ driver => 'fake-hardware', boot_mode => 'coreboot' }, 400, qr/Schema error for node.*coreboot/, 'no such boot mode');
    for my $member (qw(boot_mode secure_boot)) {
        is_fault($admin->version('1.74')->post('/nodes', json => { driver => 'fake-hardware', $member => $first{$member} }), 406, qr/$member.*1\.75/, "$member before 1.75");
    }
    $admin->version('1.1')->post('/nodes', json => { driver => 'fake-hardware', console_enabled => JSON::PP::false, secure_boot => undef })->is_status(201, 'at 1.1');
    for my $case ([protected => JSON::PP::false], [protected => undef], [protected_reason => undef], [protected_reason => 'x']) {
        my ($member, $value) = @$case;
        refused({ driver => 'fake-hardware', $member => $value }, 400, qr/Schema error for node: Additional properties are not allowed \('$member' was unexpected\)/, "$member of a new node");
    }
};

subtest 'what the hardware is' => sub {
    my %right = (driver => 'fake-hardware', properties => { cpus => '4', memory_mb => 65_536, local_gb => undef, vendor => [] },
        network_data => { links => [{ id => 'eth0', type => 'phy', ethernet_mac_address => '52:54:00:00:00:01' }],
            networks => [{ id => 'n', type => 'ipv4', link => 'eth0', network_id => 'x', ip_address => '192.0.2.7', netmask => '255.255.255.0' }],
            services => [{ type => 'dns', address => '192.0.2.53' }] });
    my $node = $admin->make('nodes', \%right);
    is_deeply [@$node{qw(properties network_data)}], [@right{qw(properties network_data)}], 'as it was given';
    refused({ driver => 'fake-hardware', properties => { cpus => 4, memory_mb => '64G', local_gb => -1 } }, 400,
        qr/\AThe following properties for node [0-9a-f-]{36} should be non-negative integers, but provided values are: local_gb=-1, memory_mb=64G\z/, 'no numbers');
    refused({ driver => 'fake-hardware', network_data => { foo => 1 } }, 400, qr/\ASchema error for node: Invalid network_data: 'links' is a required property, in network_data\z/,
        'no network_data');
    refused({ driver => 'fake-hardware', network_data => [] }, 400, qr/network_data/, 'nor is a list');
    is_fault($admin->patch("/nodes/$node->{uuid}", [@$_]), 400, qr/\ASchema error for node: Invalid network_data: /, "$_->[0][0] $_->[0][1]")
        for [[remove => '/network_data/links']], [[add => '/network_data/links/0/mtu', 0]], [[replace => '/network_data', { links => {}, networks => [], services => [] }]];
    is_fault($admin->patch("/nodes/$node->{uuid}", [[add => '/properties/cpus', $_]]), 400, qr/non-negative integers.*cpus=/, 'a patch') for 'four', -1, '', [], {};
    $admin->patch("/nodes/$node->{uuid}", [[replace => '/network_data', $_]])->is_status(200, 'none') for {}, undef;
};

# As an earlier release has stored it.
subtest 'what is stored wrong' => sub {
    my ($tenancy, $at) = ($instance->admin, '/v2.0/t1/nodes/56565656-0000-4000-8000-000000000001');
    my %wrong = (properties => { memory_mb => '64G' }, network_data => { foo => 1 });
    my $body  = sub { my $node = $tenancy->get($at)->json; return [@$node{sort keys %wrong}] };
    my $patch = sub { return $admin->patch('/nodes/56565656-0000-4000-8000-000000000001', [@_]) };
    $tenancy->make($at, { driver => 'fake-hardware' });
    $instance->sql(q(UPDATE resources SET body = JSON_SET(body, '$.properties', JSON_OBJECT('memory_mb', '64G'), '$.network_data', JSON_OBJECT('foo', 1)), )
        . q(changed = changed - 1 WHERE uid = UNHEX('56565656000040008000000000000001')));
    is_deeply $body->(), [@wrong{sort keys %wrong}], 'is there';
    $patch->([add => '/extra/a', 1], [add => '/properties/cpus', 4])->is_status(200, 'the rest can be changed');
    $tenancy->put($at, json => { %{ $tenancy->get($at)->json }, description => 'd' })->is_status(200, 'in another dialect, too');
    is_fault($patch->([add => '/properties/memory_mb', '64T']), 400, qr/memory_mb=64T/, 'but not to what is as wrong');
    is_fault($patch->([add => '/network_data/bar', 1]), 400, qr/network_data/, 'nor this');
    my $change = $patch->([add => '/properties', { memory_mb => 65_536 }], [remove => '/network_data']);
    $change->is_status(200, 'it can be put right');
    $tenancy->post(undo_path('t1', $change))->is_status(200, 'which can be undone');
    is_deeply $body->(), [$wrong{network_data}, { %{ $wrong{properties} }, cpus => 4 }], 'all of it';
    $tenancy->delete($at)->is_status(204);
    $tenancy->post("$at/action/recover")->is_status(204, 'it can be recovered');
    $tenancy->make_tenant('t2');
    $tenancy->post("$at/action/move?dest=t2")->is_status(303, 'and moved');
    is_deeply [@{ $admin->get('/nodes/56565656-0000-4000-8000-000000000001')->json }{sort keys %wrong}],
        [$wrong{network_data}, { %{ $wrong{properties} }, cpus => 4 }], 'as it is';
};

subtest 'documents come whole' => sub {
    my $text = '{"driver":"fake-hardware","extra":{"f":1.50,"big":12345678901234567890,"n":{"a":[1,{"b":null}]},'
        . '"u":"\u00e9\u2603\ud83c\udf0d","":0,"a/b~c":1}}';
    my $post = $admin->post('/nodes', body => $text, type => 'application/json');
    $post->is_status(201);
    my ($extra) = $post->text =~ /("extra":\{.*?\}\]\},"u":.*?\})/s;
    is $extra,
        '"extra":{"f":1.50,"big":12345678901234567890,"n":{"a":[1,{"b":null}]},'
        . qq("u":"\xc3\xa9\xe2\x98\x83\xf0\x9f\x8c\x8d","":0,"a/b~c":1}),
        'numbers as they came, nested null, any name, any character';
    for my $type ('text/plain', 'application/json-patch+json', 'application/octet-stream') {
        $admin->post('/nodes', body => '{"driver":"fake-hardware"}', type => $type)->is_status(201,
            "JSON, whatever its type: $type");
    }
    is node(extra => undef)->{extra}{x}, undef, 'null is the default';
};

subtest 'the UUID' => sub {
    my $uuid = 'abcdef01-2345-4678-9abc-def012345678';
    is node(uuid => uc $uuid)->{uuid}, $uuid, 'may be given, and is in lower case';
    refused({ driver => 'fake-hardware', uuid => $uuid }, 409, qr/\AA node with UUID \Q$uuid\E already exists/,
        'given twice');
    refused({ driver => 'fake-hardware', uuid => 'abc' }, 400, qr/Schema error for node.*uuid/, 'which is none');
    refused({ driver => 'fake-hardware', uuid => 5 }, 400, qr/Schema error for node.*uuid/, 'which is no string');
    $admin->delete("/nodes/$uuid")->is_status(204);
    is node(uuid => $uuid)->{updated_at}, undef, 'after its node is deleted there can be a new one';
};

subtest 'what is refused' => sub {
    my %fake = (driver => 'fake-hardware');
    refused({ %fake, bogus => 1 }, 400, qr/Schema error for node.*'bogus'/, 'an unknown member');
    refused({ %fake, $_ => 'x' }, 400, qr/Schema error for node.*'$_'/, "what the service sets: $_")
        for qw(provision_state power_state created_at links traits nodes etag reservation driver_internal_info
            last_error conductor id);
    refused({ %fake, extra => [] }, 400, qr/Schema error for node.*extra/, 'a list for a dictionary');
    refused({ %fake, name => 5 }, 400, qr/Schema error for node.*name/, 'a number for a name');
    refused({ %fake, conductor_group => $_ }, 400, qr/Schema error for node.*conductor_group/, 'such a conductor group') for 'a b', "a\0b", "\0";
    refused({ %fake, maintenance => 'maybe' }, 400, qr/Unrecognized value.*maintenance/, 'no boolean');
    refused({}, 400, qr/Schema error for node.*'driver'/, 'no driver');
    refused({ driver => 'nosuch' }, 400, qr/No valid host.*nosuch/, 'an unknown driver');
    refused({ %fake, boot_interface => 'nosuch' }, 400, qr/boot_interface.*nosuch/, 'an unknown interface');
    refused({ %fake, chassis_uuid => $none }, 400, qr/Chassis \Q$none\E could not be found/, 'an unknown chassis');
    refused({ %fake, chassis_uuid => 'x' }, 400, qr/Expected UUID for chassis_uuid/, 'no chassis');
    refused({ %fake, description => 'x' x 4097 }, 400, qr/description/, 'a long description');
    refused({ %fake, owner => {} }, 400, qr/Schema error for node: owner/, 'an owner that is no text');
    refused([], 400, qr/Schema error for node.*object/, 'a list');
    refused(undef, 400, qr/Schema error for node.*object/, 'null');
    is_fault($admin->post('/nodes', body => '{"driver":', type => 'application/json'), 400, undef, 'no JSON');
    is_fault($admin->post('/nodes'), 400, undef, 'nothing');
    my $count = $instance->sql_value(q(SELECT COUNT(*) FROM resources WHERE live = 1));
    refused({ %fake, name => 'rolled-back', instance_uuid => 'x' }, 400, undef, 'a malformed instance');
    is $instance->sql_value(q(SELECT COUNT(*) FROM resources WHERE live = 1)), $count, 'nothing was made of it';
};

subtest 'names' => sub {
    node(name => 'rack-7.example_1~x');
    refused({ driver => 'fake-hardware', name => 'rack-7.example_1~x' }, 409,
        qr/\AA node with name rack-7\S+ already exists/, 'used');
    refused({ driver => 'fake-hardware', name => $_ }, 400, qr/\Q@{[ substr $_, 0, 20 ]}\E/, "'" . substr($_, 0, 20)
        . "' is none")
        for 'maintenance', 'management', 'states', 'vendor_passthru', 'detail', 'validate', $none, 'a b', 'a/b', 'é';
    refused({ driver => 'fake-hardware', name => $_ }, 400, qr/name/, 'nor one of ' . length($_) . ' characters')
        for '', 'x' x 256;
    is node(name => 'x' x 255)->{name}, 'x' x 255, '255 characters are one';
    is node(name => undef)->{name}, undef, 'none is needed';
    is node(name => 'plain.json')->{name}, 'plain.json', 'nor is a suffix of harm';
    is $admin->get('/nodes/plain.json')->json->{name}, 'plain.json', 'it is found';
    node(name => 'N1');
    is $admin->get('/nodes/n1')->json->{name}, 'n1', 'letters have their case';
};

subtest 'finding one' => sub {
    my $node = node(name => 'findme');
    is $admin->get("/nodes/$_")->json->{uuid}, $node->{uuid}, $_
        for $node->{uuid}, uc $node->{uuid}, 'findme', "$node->{uuid}.json", 'findme.json', 'findme/', "$node->{uuid}/";
    is_fault($admin->get("/nodes/$none"), 404, qr/\ANode \Q$none\E could not be found/, 'an unknown UUID');
    is_fault($admin->get('/nodes/nosuch'), 404, qr/\ANode nosuch could not be found/, 'an unknown name');
    is_fault($admin->get('/nodes/a%20b'), 400, qr/Expected UUID or name/, 'no name');
    is_fault($admin->version('1.4')->get('/nodes/findme'), 404, qr/Node findme/, 'before 1.5 names were none');
    $admin->version('1.4')->get("/nodes/$node->{uuid}.json")->is_status(200, 'UUIDs were');
    $admin->version('1.5')->get('/nodes/findme')->is_status(200, 'since 1.5 they are');
    is_fault($admin->delete('/nodes/nosuch'), 404, qr/Node nosuch/, 'DELETE of none');
    is_fault($admin->patch('/nodes/nosuch', []), 404, qr/Node nosuch/, 'PATCH of none');
    is_fault($admin->patch("/nodes/$none", [[add => '/extra/a', 1]]), 404, qr/Node \Q$none\E/, 'by UUID');
    is_fault($admin->delete('/nodes'), 400, undef, 'DELETE of all');
    $admin->get('/nodes/findme', if_match => '"x"', if_none_match => $admin->get('/nodes/findme')->etag)
        ->is_status(200, 'GET has no preconditions');
};

subtest 'what each version shows' => sub {
    my @since = ([1 => qw(uuid created_at updated_at chassis_uuid console_enabled driver driver_info extra instance_info
        instance_uuid
        last_error maintenance maintenance_reason power_state properties provision_state provision_updated_at reservation
        target_power_state target_provision_state links ports)],
        [3 => 'driver_internal_info'], [5 => 'name'], [6 => qw(inspection_started_at inspection_finished_at)],
            [7 => 'clean_step'],
        [12 => qw(raid_config target_raid_config)], [14 => 'states'], [20 => 'network_interface'],
            [21 => 'resource_class'],
        [24 => 'portgroups'],
        [31 => map { "${_}_interface" } qw(boot console deploy inspect management power raid vendor)], [32 => 'volume'],
        [33 => 'storage_interface'], [37 => 'traits'], [38 => 'rescue_interface'], [40 => qw(bios_interface etag)],
            [42 => 'fault'],
        [44 => 'deploy_step'], [46 => 'conductor_group'], [47 => 'automated_clean'],
            [48 => qw(protected protected_reason)],
        [49 => 'conductor'], [50 => 'owner'], [51 => 'description'], [52 => 'allocation_uuid'],
            [61 => qw(retired retired_reason)],
        [65 => 'lessee'], [66 => 'network_data'], [75 => qw(boot_mode secure_boot)], [82 => 'shard']);
    my $uuid = node()->{uuid};
    my (@expected, $next);
    for my $version (1 .. 82) {
        push @expected, @{ shift @since }[1 .. 99] if @since && $since[0][0] == $version;
        @expected = grep { defined } @expected;
        my $get = $admin->version("1.$version")->get("/nodes/$uuid");
        my $same = join(' ', sort keys %{ $get->json }) eq join(' ', sort @expected);
        $same or is_deeply [sort keys %{ $get->json }], [sort @expected], "at 1.$version";
        is $get->etag ? 1 : 0, $version >= 40 ? 1 : 0, "ETag at 1.$version" if $version == 39 || $version == 40;
    }
    ok 1, 'all looked at';
    for my $pair (['name', 4], ['resource_class', 20], ['owner', 49], ['shard', 81], ['protected', 47]) {
        my ($member, $before) = @$pair;
        my $old = $admin->version("1.$before");
        is_fault($old->post('/nodes', json => { driver => 'fake-hardware', $member => 'x' }), $member eq 'protected' ? 400 : 406, qr/$member/,
            "$member given before it came");
        is_fault($old->patch("/nodes/$uuid", [[add => "/$member", 'x']]), 406, qr/$member/, 'patched');
        is_fault($old->get("/nodes/$uuid?fields=$member"), 406, qr/$member|fields/, 'asked for');
    }
};

subtest 'the state it begins in' => sub {
    my %state = ('1.1' => undef, '1.2' => 'available', '1.10' => 'available', '1.11' => 'enroll', '1.82' => 'enroll');
    for my $version (sort keys %state) {
        my $node = $admin->version($version)->make('nodes', { driver => 'fake-hardware' });
        is $node->{provision_state}, $state{$version}, $version;
        is $admin->version('1.2')->get("/nodes/$node->{uuid}")->json->{provision_state},
            $state{$version} // 'available', 'as 1.2 shows it';
    }
};

subtest 'fields' => sub {
    my $node = node(name => 'fields', extra => { a => 1 });
    my $ask  = sub { return $admin->get("/nodes/fields?fields=$_[0]") };
    is_deeply $ask->('uuid,extra')->json, { map { $_ => $node->{$_} } qw(uuid extra etag links) },
        'what was asked for, the tag and links';
    is_deeply $ask->('')->json, { map { $_ => $node->{$_} } qw(etag links) }, 'nothing';
    is $ask->('conductor')->json->{conductor}, $node->{conductor}, 'the conductor';
    is $ask->('uuid')->etag =~ s/"//gr, $node->{etag}, 'with ETag';
    is_fault($ask->('uuid,bogus'), 400, qr/bogus.*not a valid field/, 'an unknown one');
    is_fault($ask->('links'), 400, qr/links/, 'links are there anyway');
    is_fault($admin->get('/nodes/fields?fields=uuid&fields=name'), 400, undef, 'twice');
    is_fault($admin->version('1.7')->get("/nodes/$node->{uuid}?fields=uuid"), 406, undef, 'before 1.8');
    is_deeply [sort keys %{ $admin->version('1.39')->get('/nodes/fields?fields=uuid')->json }], [qw(links uuid)],
        'no tag before 1.40';
};

subtest 'secrets are masked' => sub {
    my $node = node(name => 'secret', driver_info => { ipmi_password => 's3cret', ipmi_address => '10.0.0.1' },
        instance_info => { image_url => 'u', configdrive => 'c' });
    is_deeply $node->{driver_info}, { ipmi_password => '******', ipmi_address => '10.0.0.1' }, 'in the answer';
    is_deeply $node->{instance_info}, { image_url => '******', configdrive => '******' }, 'in both dictionaries';
    for my $path ('/nodes/secret', '/nodes/secret?fields=driver_info', '/nodes/detail', '/nodes?fields=driver_info') {
        unlike $admin->get($path)->text, qr/s3cret/, $path;
    }
    my %keys = map { $_ => 's3cret' } qw(snmp_community snmp_community_read snmp_community_write snmp_auth_key snmp_priv_key
        ipmi_hex_kg_key ssh_key_contents redfish_password irmc_snmp_auth_password SNMP_Community adminPass sys_pswd api_key
        drac_passwd access_key);
    my $open = { snmp_user => 'monitor', snmp_version => '3', ipmi_username => 'root', redfish_address => 'https://bmc:443/x@y' };
    $node = node(name => 'keys', driver_info => { %keys, %$open, deep => { list => [ { snmp_community => 's3cret' } ] } });
    is_deeply $node->{driver_info}, { (map { $_ => '******' } keys %keys), %$open,
        deep => { list => [ { snmp_community => '******' } ] } }, 'by all the names that drivers have for them';
    my %urls = (
        'https://root:s3cret@10.0.0.1/redfish'     => 'https://root:******@10.0.0.1/redfish',
        'http://u:s3c@ret@h:80/a, ftp://:s3cret@g' => 'http://u:******@h:80/a, ftp://:******@g',
        'see "swift://a:s3cret@b" and http://c/'   => 'see "swift://a:******@b" and http://c/',
        'http://h:80/a:b@c'                        => 'http://h:80/a:b@c',
        'http://user@h/'                           => 'http://user@h/',
        'http://user:@h/'                          => 'http://user:@h/',
        '://'                                      => '://',
        'a:b@c'                                    => 'a:b@c',
    );
    my @raw = sort keys %urls;
    $node = node(name => 'urls', driver_info => { redfish_address => $raw[0], more => [ \@raw ], %{ { map { ("k$_" => $raw[$_]) } 0 .. $#raw } } },
        instance_info => { image_source => 'https://glance:s3cret@images/1' }, extra => { seen => 'http://a:open@b' });
    is_deeply $node->{driver_info}{more}, [ [ map { $urls{$_} } @raw ] ], 'passwords in URLs, in lists as well';
    is $node->{driver_info}{"k$_"}, $urls{ $raw[$_] }, $raw[$_] for 0 .. $#raw;
    is $node->{instance_info}{image_source}, 'https://glance:******@images/1', 'in both dictionaries';
    is $node->{extra}{seen}, 'http://a:open@b', "what is the user's own stays";
    unlike $admin->get('/nodes/detail')->text, qr/s3c/, 'nowhere in the list';
    my %internal = (agent_secret_token => 's3cret', agent_secret_token_pregenerated => JSON::PP::true, agent_version => '9.0.0');
    my $stored = $instance->admin->patch("/v2.0/system/nodes/$node->{uuid}", { driver_internal_info => \%internal });
    $stored->is_status(200, 'a token of an agent');
    for my $shown ($stored, $instance->admin->get("/v2.0/system/nodes/$node->{uuid}"), $admin->get("/nodes/$node->{uuid}")) {
        is_deeply $shown->json->{driver_internal_info}, { %internal, agent_secret_token => '******' }, "is masked: $shown->{what}";
    }
    unlike $admin->get('/nodes/detail')->text, qr/s3c/, '... in the list as well';
};

subtest 'deletion' => sub {
    my $node = node(name => 'gone');
    $admin->delete('/nodes/gone')->is_status(204);
    is_fault($admin->get("/nodes/$node->{uuid}"), 404, qr/could not be found/, 'it is not there');
    is_fault($admin->delete("/nodes/$node->{uuid}"), 404, undef, 'nor again');
    node(name => 'gone');
    my $instance_uuid = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
    node(name => 'used', instance_uuid => $instance_uuid);
    is_fault($admin->delete('/nodes/used'), 409, qr/associated with instance \Q$instance_uuid\E/, 'with an instance');
    refused({ driver => 'fake-hardware', instance_uuid => uc $instance_uuid }, 409, qr/\Q$instance_uuid\E/,
        'which no other node can have');
    $admin->patch('/nodes/used', [[remove => '/instance_uuid']])->is_status(200);
    $admin->delete('/nodes/used')->is_status(204, 'without');
    for my $state (qw(manage provide active)) {
        node(name => 'kept') if $state eq 'manage';
        $admin->put('/nodes/kept/states/provision', json => { target => $state })->is_status(202, "protected: $state");
    }
    $admin->patch('/nodes/kept', [[add => '/protected', JSON::PP::true]])->is_status(200);
    is_fault($admin->delete('/nodes/kept'), 403, qr/is protected/, 'protected, without an instance');
    $admin->patch('/nodes/kept', [[add => '/instance_uuid', $instance_uuid]])->is_status(200);
    is_fault($admin->delete('/nodes/kept'), 409, qr/associated with instance \Q$instance_uuid\E/, '... with one');
    $admin->put('/nodes/kept/maintenance', json => {})->is_status(202);
    is_fault($admin->delete('/nodes/kept'), 403, qr/is protected/, '... in maintenance');
    $admin->patch('/nodes/kept', [[add => '/protected', JSON::PP::false]])->is_status(200);
    $admin->delete('/nodes/kept')->is_status(204, '... and not protected any more');
    my $port_node = node(name => 'with-ports');
    my $port = $admin->make('ports', { address => '52:54:00:00:00:01', node_uuid => $port_node->{uuid} });
    my $group = $admin->make('portgroups', { name => 'pg', node_uuid => $port_node->{uuid} });
    $admin->delete('/nodes/with-ports')->is_status(204);
    is_fault($admin->get("/ports/$port->{uuid}"), 404, undef, 'its ports go with it');
    is_fault($admin->get('/portgroups/pg'), 404, undef, 'and its port groups');
};

subtest 'chassis' => sub {
    my $post = $admin->post('/chassis', json => { description => 'rack one', extra => { row => 5 } });
    $post->is_status(201);
    my $chassis = $post->json;
    my $url     = "/chassis/$chassis->{uuid}";
    is $post->location, $admin->url . "/v1$url", 'Location';
    is_deeply [sort keys %$chassis], [qw(created_at description etag extra links nodes updated_at uuid)], 'its members';
    is $chassis->{nodes}[0][0]{href}, $post->location . '/nodes', 'nodes: a list in a list';
    is_deeply $admin->get($url)->json, $chassis, 'GET shows the same';
    is_deeply [sort keys %{ $admin->version('1.1')->get($url)->json }],
        [qw(created_at description extra links nodes updated_at uuid)], 'at 1.1';
    is_fault($admin->post('/chassis', json => { uuid => $chassis->{uuid} }), 409, qr/\AA chassis with UUID/,
        'its UUID is taken');
    is_fault($admin->post('/chassis', json => { bogus => 1 }), 400, qr/Schema error for chassis.*'bogus'/,
        'an unknown member');
    is_fault($admin->post('/chassis', json => { description => 'x' x 256 }), 400, qr/description/,
        'a long description');
    is_fault($admin->get('/chassis/abc'), 400, qr/Expected UUID for chassis_uuid/, 'no UUID');
    is_fault($admin->get("/chassis/$none"), 404, qr/\AChassis \Q$none\E could not be found/, 'none');
    is_deeply $admin->get("$url?fields=description,links")->json,
        { map { $_ => $chassis->{$_} } qw(description links etag) }, 'fields';
    my $node = node(name => 'in-chassis', chassis_uuid => uc $chassis->{uuid});
    is $node->{chassis_uuid}, $chassis->{uuid}, 'a node in it';
    is_fault($admin->delete($url), 400, qr/contains nodes/, 'it cannot go');
    my $url_of_node = "/nodes/$node->{uuid}";
    is_fault($admin->version('1.24')->patch($url_of_node, [$_]), 406, qr/chassis_uuid.*1\.25/, "it stays in one before 1.25: $_->[0]")
        for [remove => '/chassis_uuid'], [add => '/chassis_uuid', undef];
    $admin->version('1.24')->patch($url_of_node, [[remove => '/chassis_uuid'], [add => '/chassis_uuid', $chassis->{uuid}]])->is_status(200, 'out of it and in again');
    $admin->patch('/nodes/in-chassis', [[remove => '/chassis_uuid']])->is_status(200);
    $admin->version('1.24')->patch($url_of_node, [[remove => '/chassis_uuid']])->is_status(200, 'out of none');
    $admin->delete($url)->is_status(204, 'when it is empty it can');
};

subtest 'names before 1.10 are those of hosts' => sub {
    my $old = $admin->version('1.9');
    my $longest = join '.', 'a' x 63, ('b' x 63) x 2, 'c' x 63;
    for my $name ('a', '0', 'rack-7', 'rack-7.dc_1', 'rack-7.', 'a.b', 'a.-b', $longest) {
        my $node = $old->make('nodes', { driver => 'fake-hardware', name => $name });
        $old->get("/nodes/$name")->is_status(200, "found by $name");
        $admin->delete("/nodes/$node->{uuid}")->is_status(204);
    }
    my $node = node(name => 'Rack_7~');
    for my $name ('Rack_7~', 'Rack', 'a_b', '-a', 'a-', 'a.b-', 'a..b', '.a', '.', 'a' x 64) {
        is_fault($old->post('/nodes', json => { driver => 'fake-hardware', name => $name }), 400, qr/\ACannot create node with invalid name '\Q$name\E'/, "not $name");
        is_fault($old->patch("/nodes/$node->{uuid}", [[add => '/name', $name]]), 400, qr/invalid name '\Q$name\E'/, '... nor by a patch');
    }
    is_fault($old->get('/nodes/Rack_7~'), 400, qr/Expected UUID or name for node: Rack_7~/, 'nor found');
    $admin->version('1.10')->get('/nodes/Rack_7~')->is_status(200, 'from 1.10 on it is');
};

subtest 'null for what came later' => sub {
    my @later = qw(name resource_class owner description automated_clean network_interface);
    my $made = $admin->version('1.1')->post('/nodes', json => { driver => 'fake-hardware', conductor_group => '', map { $_ => undef } @later });
    $made->is_status(201, 'says nothing');
    $admin->delete('/nodes/' . $made->json->{uuid})->is_status(204);
    is_fault($admin->version('1.1')->post('/nodes', json => { driver => 'fake-hardware', @$_ }), 406, qr/$_->[0]/, "but $_->[0] of a value")
        for ['description', ''], ['conductor_group', undef], ['conductor_group', 'g'], ['automated_clean', JSON::PP::false];
};

subtest 'the registry\'s other dialect shows the same node' => sub {
    my $node = node(name => 'both');
    my $get = $instance->admin->get("/v2.0/system/nodes/$node->{uuid}");
    $get->is_status(200);
    is $get->json->{metadata}{etag}, $node->{etag}, 'under the same tag';
    my ($change) = $instance->changes_of($admin->patch('/nodes/both', [[add => '/extra/a', 1]]));
    is_deeply [@$change{qw(verb tenant type name revision)}], ['updated', 'system', 'nodes', $node->{uuid}, 2],
        'a change leaves a row';
};

# doc/api.md, "Traits", and doc/security.md: the catalogue is one for all tenants.
subtest "a new trait is in everybody's catalogue" => sub {
    $instance->admin->make_tenant($_) for 'maker', 'stranger';
    my $node   = Tenure::Metal->new($instance->combined('ann:maker:admin'), '1.82')->make('nodes', { driver => 'fake-hardware' })->{uuid};
    my $member = Tenure::Metal->new($instance->combined('mia:maker:member'), '1.82');
    my $listed = sub {
        return $instance->combined('rita:stranger:reader')->get('/placement/traits?name=startswith:CUSTOM_OF_MAKER',
            headers => { 'OpenStack-API-Version' => 'placement 1.39' })->json->{traits};
    };
    is_deeply $listed->(), [], 'it is not there';
    $member->put("/nodes/$node/traits/CUSTOM_OF_MAKER_1")->is_status(204, 'a member gives it to a node');
    is_deeply $listed->(), ['CUSTOM_OF_MAKER_1'], 'another tenant lists it';
    $member->put("/nodes/$node/traits", json => { traits => [qw(CUSTOM_OF_MAKER_1 CUSTOM_OF_MAKER_2)] })->is_status(204, 'all traits of a node');
    is_deeply $listed->(), [qw(CUSTOM_OF_MAKER_1 CUSTOM_OF_MAKER_2)], '... likewise';
};

done_testing;
