#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Volume connectors and volume targets: made on a node, shown, listed, changed while the node is powered off, guarded by etags,
# moved and deleted with their node.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault);

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = Tenure::Metal->new($instance->admin, '1.82');
my $none     = '00000000-0000-4000-8000-000000000000';
$instance->admin->make_tenant($_) for 't1', 't2';
my ($node, $other) = map { $admin->make('nodes', { driver => 'fake-hardware', name => $_, owner => 't1' }) } 'n1', 'n2';
my ($ann, $bob) = map { Tenure::Metal->new($instance->service($_), '1.82') } 'ann:t1', 'bob:t2';
my $serial = 0;

sub connector {
    my (%content) = @_;
    return $ann->make('volume/connectors', { node_uuid => $node->{uuid}, type => 'iqn', connector_id => 'iqn.2026-01.org.example:' . ++$serial, %content });
}

sub target {
    my (%content) = @_;
    return $ann->make('volume/targets', { node_uuid => $node->{uuid}, volume_type => 'iscsi', volume_id => 'volume-' . ++$serial, boot_index => $serial, %content });
}

# As an operator, who stands in for the driver.
sub power {
    my ($state, $which) = @_;
    my $uuid = ($which // $node)->{uuid};
    return $instance->admin->patch("/v2.0/t1/nodes/$uuid", { power_state => $state })->is_status(200, "power: $state");
}

subtest 'a new connector' => sub {
    my $post = $ann->post('/volume/connectors', json => { node_uuid => uc $node->{uuid}, type => 'wwpn', connector_id => '00:11:22', extra => { a => [1] } });
    $post->is_status(201);
    my $made = $post->json;
    is $post->location, $ann->url . "/v1/volume/connectors/$made->{uuid}", 'Location';
    is $post->etag =~ s/"//gr, $made->{etag}, 'the etag in header and body';
    is_deeply [sort keys %$made], [sort qw(uuid created_at updated_at etag node_uuid type connector_id extra links)], 'its members';
    is_deeply [@$made{qw(node_uuid type connector_id extra updated_at)}], [$node->{uuid}, 'wwpn', '00:11:22', { a => [1] }, undef], 'their values';
    is_deeply $made->{links}, [{ rel => 'self', href => $ann->url . "/v1/volume/connectors/$made->{uuid}" },
        { rel => 'bookmark', href => $ann->url . "/volume/connectors/$made->{uuid}" }], 'links';
    is_deeply $ann->get("/volume/connectors/$made->{uuid}")->json, $made, 'GET shows the same';
    is_deeply $ann->get("/volume/connectors/$made->{uuid}?fields=type,extra")->json, { map { $_ => $made->{$_} } qw(type extra links etag) }, 'fields';
    is $ann->make('volume/connectors', { node_uuid => $node->{uuid}, type => 'x', connector_id => 'y', uuid => $none })->{uuid}, $none, 'its UUID may be given';
};

subtest 'a new target' => sub {
    my $post = $ann->post('/volume/targets', json => { node_uuid => $node->{uuid}, volume_type => 'iscsi', volume_id => 'v0', boot_index => 0,
        properties => { target_iqn => 'iqn.x', target_lun => 1, auth_username => 'u', auth_password => 's3cret' } });
    $post->is_status(201);
    my $made = $post->json;
    is $post->location, $ann->url . "/v1/volume/targets/$made->{uuid}", 'Location';
    is_deeply [sort keys %$made], [sort qw(uuid created_at updated_at etag node_uuid volume_type volume_id boot_index properties extra links)], 'its members';
    is_deeply $made->{properties}, { target_iqn => 'iqn.x', target_lun => 1, auth_username => 'u', auth_password => '******' }, 'secrets are masked';
    unlike $ann->get('/volume/targets?detail=true')->text, qr/s3cret/, 'in lists, too';
    my $patch = $ann->patch("/volume/targets/$made->{uuid}", [[replace => '/properties/target_lun', 2]]);
    is_deeply $patch->json->{properties}, { %{ $made->{properties} }, target_lun => 2 }, 'a patch of something else';
    like $instance->sql_value('SELECT body FROM resources WHERE body LIKE \'%"volume_id":"v0"%\''), qr/"auth_password":"s3cret"/, 'keeps the secret';
};

subtest 'what is refused' => sub {
    my %base = (connectors => { node_uuid => $node->{uuid}, type => 'iqn', connector_id => 'refused' },
        targets => { node_uuid => $node->{uuid}, volume_type => 'iscsi', volume_id => 'refused', boot_index => 77 });
    my $refused = sub {
        my ($kind, $content, $status, $text, $name) = @_;
        my %all = (%{ $base{$kind} }, %$content);
        delete $all{$_} for grep { ref $all{$_} eq 'SCALAR' } keys %all;
        return is_fault($ann->post("/volume/$kind", json => \%all), $status, $text, "$kind: $name");
    };
    for my $kind ('connectors', 'targets') {
        my $one = $kind =~ s/s\z//r;
        $refused->($kind, { $_ => \1 }, 400, qr/\ASchema error for $one: '$_' is a required property/, "without $_") for keys %{ $base{$kind} };
        $refused->($kind, { node_uuid => $none }, 400, qr/Node \Q$none\E could not be found/, 'of no node');
        $refused->($kind, { node_uuid => 'n1' }, 400, qr/Expected UUID for node_uuid/, 'a node by name');
        $refused->($kind, { bogus => 1 }, 400, qr/\ASchema error for $one: Additional properties .*'bogus'/, 'an unknown member');
        $refused->($kind, { links => [] }, 400, qr/'links'/, 'links');
        $refused->($kind, { uuid => 'x' }, 400, qr/Expected UUID for uuid/, 'a UUID that is none');
        $refused->($kind, { extra => [] }, 400, qr/\ASchema error for $one: extra has to be an object/, 'extra as an array');
        is_fault($ann->post("/volume/$kind", body => '[', type => 'application/json'), 400, undef, 'no JSON');
        is_fault($ann->delete("/volume/$kind"), 400, undef, 'DELETE of all');
        is_fault($ann->get("/volume/$kind/x"), 400, qr/Expected UUID for ${one}_uuid: x/, 'no UUID in the address');
        is_fault($ann->$_("/volume/$kind/00000000-0000-4000-8000-000000000001"), 404, qr/\AVolume $one 0+-.* could not be found\.\z/, $_) for 'get', 'delete';
        is_fault($ann->version('1.31')->get("/volume/$kind"), 404, qr/1\.32/, 'before 1.32', address => 1);
    }
    $refused->('connectors', { type => 1 }, 400, qr/type has to be a string/, 'a type that is a number');
    $refused->('connectors', { connector_id => 'x' x 256 }, 400, qr/connector_id has 256 characters and may have 255/, 'a long one');
    $refused->('targets', { boot_index => $_ }, 400, qr/boot_index has to be a whole number/, "boot_index $_") for '0', 1.5, 2**31, -2**31 - 1, [];
    $refused->('targets', { properties => 'x' }, 400, qr/properties has to be an object/, 'properties as a text');
    $refused->('targets', { properties => { auth_password => '******' } }, 400, qr/send its value/, 'a mask for nothing');
};

subtest 'what is unique' => sub {
    my $made = connector(type => 'ip', connector_id => '192.0.2.1');
    my %same = (type => 'ip', connector_id => '192.0.2.1');
    is_fault($ann->post('/volume/connectors', json => { node_uuid => $other->{uuid}, %same }), 409,
        qr/\AA volume connector with type ip and connector ID 192\.0\.2\.1 already exists\.\z/, 'type and connector_id, on any node');
    connector(type => 'mac', connector_id => '192.0.2.1');
    connector(type => 'ip', connector_id => '192.0.2.2');
    my $long = 'x' x 255;
    connector(type => 'ip', connector_id => $long);
    connector(type => 'mac', connector_id => $long);
    is_fault($ann->post('/volume/connectors', json => { node_uuid => $node->{uuid}, type => 'ip', connector_id => $long }), 409,
        qr/\AA volume connector with /, 'long ones as well');
    connector(type => 'a b', connector_id => 'c');
    connector(type => 'a', connector_id => 'b c');
    is_fault($ann->post('/volume/connectors', json => { node_uuid => $node->{uuid}, type => 'z', connector_id => 'z', uuid => $made->{uuid} }), 409,
        qr/\AA volume connector with UUID \Q$made->{uuid}\E already exists\.\z/, 'the UUID');
    is_fault($ann->patch('/volume/connectors/' . connector()->{uuid}, [map { [replace => "/$_", $same{$_}] } keys %same]), 409, qr/type ip and/, 'by a patch');

    target(boot_index => 100);
    target(boot_index => 100, node_uuid => $other->{uuid});
    target(boot_index => -1);
    my %target = (node_uuid => $node->{uuid}, volume_type => 'iscsi', volume_id => 'v', boot_index => 100);
    is_fault($ann->post('/volume/targets', json => \%target), 409, qr/\AA volume target with boot index '100' for the same node already exists\.\z/,
        'boot_index, on one node');
    my $moved = target(node_uuid => $other->{uuid}, boot_index => 101);
    is_fault($ann->patch("/volume/targets/$moved->{uuid}", [[replace => '/node_uuid', $node->{uuid}], [replace => '/boot_index', 100]]), 409, qr/'100'/, 'by a patch');
    $ann->patch("/volume/targets/$moved->{uuid}", [[replace => '/node_uuid', $node->{uuid}]])->is_status(200, 'it can go to another node');
    is $ann->get("/volume/targets/$moved->{uuid}")->json->{node_uuid}, $node->{uuid}, 'and is there';
    $ann->delete("/volume/targets/$moved->{uuid}")->is_status(204);
    target(boot_index => 101);
};

subtest 'patches' => sub {
    my $made  = connector();
    my $patch = $ann->patch("/volume/connectors/$made->{uuid}", [[add => '/extra/a', { b => 1 }], [replace => '/type', 'ip'], [replace => '/connector_id', '192.0.2.9']]);
    $patch->is_status(200);
    is_deeply [@{ $patch->json }{qw(type connector_id extra)}], ['ip', '192.0.2.9', { a => { b => 1 } }], 'of all members';
    ok $patch->json->{updated_at}, 'it was changed';
    is_deeply $ann->patch("/volume/connectors/$made->{uuid}", [[remove => '/extra']])->json->{extra}, {}, 'extra is emptied';
    is_fault($ann->patch("/volume/connectors/$made->{uuid}", [[remove => "/$_"]]), 400, undef, "/$_ stays") for qw(type connector_id node_uuid);
    is_fault($ann->patch("/volume/connectors/$made->{uuid}", [[add => "/$_", 'x']]), 400, qr/\ACannot patch \/$_/, "/$_ is not patched") for qw(uuid created_at links etag bogus);
    is_fault($ann->patch("/volume/connectors/$made->{uuid}", [[replace => '/node_uuid', $none]]), 400, qr/Node \Q$none\E/, 'to no node');
    $made = target();
    is $ann->patch("/volume/targets/$made->{uuid}", [[replace => '/boot_index', -7]])->json->{boot_index}, -7, 'of a target';
    is_fault($ann->patch("/volume/targets/$made->{uuid}", [[replace => '/boot_index', 'x']]), 400, qr/\ASchema error for target/, 'a wrong one');
};

subtest 'a node that is not powered off' => sub {
    my ($connector, $target) = (connector(), target());
    for my $state ('power on', 'rebooting') {
        power($state);
        for my $one (['connector', $connector], ['target', $target]) {
            my ($kind, $made) = @$one;
            my $path = "/volume/${kind}s/$made->{uuid}";
            my $text = sub { qr/\AThe requested action "volume $kind $_[0]" can not be performed on node "\Q$node->{uuid}\E" while it is in state "$state"\.\z/ };
            is_fault($ann->patch($path, [[add => '/extra/a', 1]]), 400, $text->('update'), "$state: no change of a $kind");
            is_fault($ann->delete($path), 400, $text->('deletion'), 'no deletion');
            is_deeply $ann->get($path)->json, $made, 'it is as it was';
        }
    }
    $instance->admin->delete("/v2.0/t1/volumeconnectors/$connector->{uuid}")->is_problem(400, 'bad_request', 'the rule holds in other dialects');
    connector(), target();
    pass('new ones may be made');
    is_fault($ann->patch('/volume/connectors/' . connector(node_uuid => $other->{uuid})->{uuid}, [[replace => '/node_uuid', $node->{uuid}]]), 400, qr/power|rebooting/, 'none may come to it');
    power('power off');
    $ann->patch("/volume/connectors/$connector->{uuid}", [[add => '/extra/a', 1]])->is_status(200);
    $ann->delete("/volume/connectors/$connector->{uuid}")->is_status(204);
    power('power on', $other);
    my $last = target(node_uuid => $other->{uuid});
    is_fault($ann->delete("/volume/targets/$last->{uuid}"), 400, qr/power on/, 'each node has its own state');
    power('power off', $other);
    $ann->delete("/volume/targets/$last->{uuid}")->is_status(204);
};

subtest 'lists' => sub {
    my $own = $admin->make('nodes', { driver => 'fake-hardware', name => 'n3', owner => 't1' });
    my @targets = map { target(node_uuid => $own->{uuid}, boot_index => $_) } 10, 9, -1, 100;
    my @connectors = map { connector(node_uuid => $own->{uuid}, extra => { n => $_ }) } 1 .. 3;
    my $indices = sub { my ($path) = @_; return join ' ', map { $_->{boot_index} } @{ $ann->get($path)->json->{targets} } };
    is_deeply $ann->get('/volume/connectors?node=n3')->json, { connectors => [map { my $one = $_; +{ map { $_ => $one->{$_} } qw(uuid node_uuid type connector_id links etag) } } @connectors] },
        'of a node: short';
    is_deeply $ann->get("/volume/connectors?node=$own->{uuid}&detail=true")->json, { connectors => \@connectors }, 'in detail';
    is_deeply $ann->version('1.32')->get('/nodes/n3/volume/connectors?detail=True')->json->{connectors}[0]{extra}, { n => 1 }, 'also before 1.43, below the node';
    is_deeply [sort keys %{ $ann->get('/nodes/n3/volume/targets')->json->{targets}[0] }], [sort qw(uuid node_uuid volume_type boot_index volume_id links etag)], 'targets: short';
    is $indices->('/nodes/n3/volume/targets'), '10 9 -1 100', 'in the order of creation';
    is $indices->('/volume/targets?node=n3&sort_key=boot_index'), '-1 9 10 100', 'by a number';
    is $indices->('/volume/targets?node=n3&sort_key=boot_index&sort_dir=desc'), '100 10 9 -1', 'downwards';
    is $indices->("/volume/targets?node=n3&sort_key=boot_index&marker=$targets[1]{uuid}"), '10 100', 'behind a marker';
    is $indices->("/nodes/n3/volume/targets?sort_key=boot_index&sort_dir=desc&marker=$targets[0]{uuid}&limit=2"), '9 -1', 'downwards as well';
    my $page = $ann->get('/volume/targets?node=n3&limit=3&fields=boot_index')->json;
    like $page->{next}, qr{/v1/volume/targets\?limit=3&node=n3&fields=boot_index&marker=\Q$targets[2]{uuid}\E\z}, 'next keeps the filter';
    is_deeply $ann->client->get($ann->client->path_of($page->{next}), headers => { $ann->version_header })->json->{targets}[0]{boot_index}, 100, 'and leads on';
    is_fault($ann->get('/volume/targets?sort_key=properties'), 400, qr/"properties"/, 'not by properties');
    is_fault($ann->get('/volume/connectors?fields=bogus'), 400, qr/bogus/, 'an unknown field');
    is_fault($ann->get('/volume/connectors?fields=type&detail=true'), 400, qr/detail/, 'fields and detail');
    is_fault($ann->get('/volume/connectors?node=nosuch'), 404, qr/Node nosuch/, 'of no node');
    is_fault($ann->get('/nodes/nosuch/volume/targets'), 404, qr/Node nosuch/, 'below no node');
    is_fault($ann->post('/nodes/n3/volume/connectors', json => {}), 403, qr/\AOperation not permitted/, 'none is made below a node');
    for my $one ("connectors/$connectors[0]{uuid}", "targets/$targets[0]{uuid}") {
        is_fault($ann->request($_, "/nodes/n3/volume/$one"), 403, qr/\AOperation not permitted/, "$_ of one there") for 'GET', 'PATCH', 'DELETE';
    }
    is_deeply [sort keys %{ $ann->get('/nodes/n3/volume')->json }], [qw(connectors links targets)], 'what is below volume';
};

subtest 'etags' => sub {
    for my $path ('/volume/connectors/' . connector()->{uuid}, '/volume/targets/' . target()->{uuid}) {
        my $before = $ann->get($path);
        is $before->etag =~ s/"//gr, $before->json->{etag}, "$path: header and body";
        is $ann->version('1.39')->get($path)->etag, undef, 'none before 1.40';
        is_fault($ann->version('1.39')->delete($path, if_match => $before->etag), 406, qr/1\.40/, 'nor If-Match');
        my $patch = $ann->patch($path, [[add => '/extra/a', 1]], if_match => $before->json->{etag});
        $patch->is_status(200);
        isnt $patch->etag, $before->etag, 'a change makes a new one';
        $patch = $ann->patch($path, [[add => '/extra/a', 1]]);
        is $patch->etag, $ann->get($path)->etag, 'what changes nothing keeps it';
        my $stale = $ann->patch($path, [[add => '/extra/a', 2]], if_match => $before->etag);
        is_fault($stale, 412, qr/changed by ann/, 'a stale one is told who changed it');
        is_deeply $stale->json->{fields}, ['/extra/a'], 'and what';
        is_fault($ann->delete($path, if_match => $before->etag), 412, undef, 'for DELETE, too');
        $ann->delete($path, if_match => $patch->etag)->is_status(204, 'the present one deletes');
        is_fault($ann->get($path), 404, undef, 'it is gone');
    }
};

subtest 'whose they are' => sub {
    my $mine = $admin->make('nodes', { driver => 'fake-hardware', name => 'n4', owner => 't1' });
    my $connector = connector(node_uuid => $mine->{uuid});
    my $target    = target(node_uuid => $mine->{uuid});
    my %at = (connectors => "/volume/connectors/$connector->{uuid}", targets => "/volume/targets/$target->{uuid}");
    for my $kind (sort keys %at) {
        is_deeply $bob->get("/volume/$kind")->json, { $kind => [] }, "$kind: nothing of another tenant's";
        is_fault($bob->get($at{$kind}), 404, undef, 'not found by it');
        is_fault($bob->patch($at{$kind}, [[add => '/extra/a', 1]]), 404, undef, 'nor changed');
        is_fault($bob->delete($at{$kind}), 404, undef, 'nor deleted');
        my $reader = Tenure::Metal->new($instance->service('rea:t1:reader'), '1.82');
        $reader->get($at{$kind})->is_status(200);
        is_fault($reader->delete($at{$kind}), 403, undef, 'a reader reads');
    }
    is_fault($bob->post('/volume/connectors', json => { node_uuid => $mine->{uuid}, type => 'x', connector_id => 'z' }), 400, qr/Node \Q$mine->{uuid}\E could not be found/,
        'none on another\'s node');
    my $etag = $ann->get($at{connectors})->etag;
    $admin->patch('/nodes/n4', [[replace => '/owner', 't2']])->is_status(200, 'the node gets another owner');
    for my $kind (sort keys %at) {
        is_fault($ann->get($at{$kind}), 404, undef, "$kind go with it");
        $bob->get($at{$kind})->is_status(200, 'to the new one');
    }
    is $bob->get($at{connectors})->etag, $etag, 'their etags stay: the owner is not in them';
    $instance->admin->post("/v2.0/t2/nodes/$mine->{uuid}/action/move?dest=t1")->is_status(303, 'a move back');
    $ann->get($at{targets})->is_status(200);
    $instance->admin->post("/v2.0/t1/volumetargets/$target->{uuid}/action/move?dest=t2")->is_status(409, 'one does not move without its node');

    $admin->delete('/nodes/n4')->is_status(204, 'the node is deleted');
    is_fault($ann->get($at{$_}), 404, undef, "$_ go with it") for sort keys %at;
    $ann->make('volume/connectors', { node_uuid => $node->{uuid}, type => $connector->{type}, connector_id => $connector->{connector_id} });
    is $instance->admin->post("/v2.0/t1/nodes/$mine->{uuid}/action/recover")->status, 409, 'it does not come back while another has its connector';
    my ($taken) = grep { $_->{connector_id} eq $connector->{connector_id} } @{ $ann->get('/volume/connectors')->json->{connectors} };
    $ann->delete("/volume/connectors/$taken->{uuid}")->is_status(204);
    $instance->admin->post("/v2.0/t1/nodes/$mine->{uuid}/action/recover")->is_status(204);
    $ann->get($at{$_})->is_status(200, "$_ are back") for sort keys %at;
};

my ($code, $report) = $instance->manage('doctor');
is $code, 0, 'the doctor finds nothing wrong' or diag $report;

done_testing;
