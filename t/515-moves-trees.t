#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Trees: a node is previewed, moved, deleted and recovered with its ports and port groups; these don't move alone.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Parallel;
my $instance = Tenure::Instance->start(settings => { 'tenure.move_sync_max' => 50 });
my $admin    = $instance->admin;
$instance->manage('tier', 'set', 'three', '--max-resources', '3');
$admin->make_tenant($_) for 't1', 't2';
$admin->make_tenant('small', tier => 'three');

my $count = 0;

sub uuid { return sprintf '%08x-0000-4000-8000-000000000000', ++$count }
sub mac  { return sprintf '52:54:00:00:%02x:%02x', $_[0] >> 8, $_[0] & 255 }

sub make_node {
    my ($tenant, %more) = @_;
    my $uuid = uuid();
    $admin->make("/v2.0/$tenant/nodes/$uuid", { driver => 'fake-hardware', %more });
    return $uuid;
}

sub make_port {
    my ($tenant, $node, %more) = @_;
    my $uuid = uuid();
    $admin->make("/v2.0/$tenant/ports/$uuid", { node_uuid => $node, address => mac($count), %more });
    return $uuid;
}

sub make_group {
    my ($tenant, $node, %more) = @_;
    my $uuid = uuid();
    $admin->make("/v2.0/$tenant/portgroups/$uuid", { node_uuid => $node, %more });
    return $uuid;
}

# A node with a port group, a port in it and one without: their paths.
sub make_tree {
    my ($tenant, $name) = @_;
    my $node  = make_node($tenant, name => $name);
    my $group = make_group($tenant, $node, name => "$name-bond");
    my @ports = (make_port($tenant, $node, portgroup_uuid => $group), make_port($tenant, $node));
    return ("nodes/$node", "portgroups/$group", map { "ports/$_" } @ports);
}

sub move {
    my ($path, $dest, @option) = @_;
    return $admin->post("/v2.0/$path/action/move?dest=$dest", @option);
}

sub action {
    my ($path, $dest) = @_;
    my $get = $admin->get("/v2.0/$path/action/move?dest=$dest", accept => 'application/json');
    $get->is_status(200, 'the move action');
    return $get;
}

sub sound {
    my ($code, $text) = $instance->manage('doctor');
    return is($code, 0, 'and all is sound') || diag $text;
}

subtest 'a node and all that is its own' => sub {
    my @tree   = make_tree('t1', 'rack-1');
    my $other  = make_node('t1', name => 'rack-2');
    my $action = action("t1/$tree[0]", 't2');
    my $move   = $action->json->{move};
    is_deeply [sort map { $_->{id} } @{ $move->{resources} }], [sort @tree], 'are listed, the other node is not';
    is_deeply $move->{blockers}, [], 'nothing is in the way';
    my %was = map { $_ => $admin->get("/v2.0/t1/$_")->json->{metadata} } @tree;
    $admin->patch("/v2.0/t1/$tree[2]", { pxe_enabled => JSON::PP::false() })->is_status(200, 'a port is changed');
    move("t1/$tree[0]", 't2', if_match => $action->etag)->is_problem(412, 'stale', 'a change of a port is one of the tree');
    $action = action("t1/$tree[0]", 't2');
    my $post = move("t1/$tree[0]", 't2', if_match => $action->etag);
    $post->is_status(303, 'as it is now, it goes');
    is $admin->path_of($post->location), "/v2.0/t2/$tree[0]", 'to its new home';
    for my $path (@tree) {
        my $is = $admin->get("/v2.0/t2/$path");
        $is->is_status(200, "$path is there");
        is $is->json->{metadata}{uid}, $was{$path}{uid}, 'the same';
        my $left = $admin->get("/v2.0/t1/$path");
        $left->is_status(301, 'and left its address');
        is $admin->path_of($left->location), "/v2.0/t2/$path", 'which leads there';
    }
    is scalar(() = $instance->changes_of($post)), 4, 'one change row for each';
    $admin->get("/v2.0/t1/nodes/$other")->is_status(200, 'the other node stays');
    is $admin->get('/v2.0/t1')->json->{tenant}{resources}, 1, 'counted here';
    is $admin->get('/v2.0/t2')->json->{tenant}{resources}, 4, 'and there';
    sound();
};

subtest 'what hangs on a node' => sub {
    my @tree = make_tree('t1', 'rack-3');
    for my $path (@tree[1 .. 3]) {
        my $move = action("t1/$path", 't2')->json->{move};
        is_deeply [map { "$_->{reason} $_->{resource}" } @{ $move->{blockers} }], ["attached $path"], 'does not move alone';
        like $move->{blockers}[0]{detail}, qr{\Q$tree[0]\E}, 'but with its node';
        move("t1/$path", 't2')->is_problem(409, 'blocked', 'nor when one insists');
    }
    my $before = action("t1/$tree[0]", 'small')->json->{move};
    is_deeply [map { $_->{reason} } @{ $before->{blockers} }], ['quota'], 'a quota of three has no room for four';
    $admin->patch("/v2.0/t1/$tree[3]", { metadata => { locked => JSON::PP::true() } })->is_status(200);
    is_deeply [map { "$_->{reason} $_->{resource}" } @{ action("t1/$tree[0]", 't2')->json->{move}{blockers} }], ["locked $tree[3]"],
        'a locked port holds the node';
    $admin->delete("/v2.0/t1/$tree[0]")->is_problem(409, 'locked', 'and keeps it from being deleted');
    $admin->patch("/v2.0/t1/$tree[3]", { metadata => { locked => undef } })->is_status(200);
    move("t1/$tree[0]", 't2')->is_status(303);
    my $all = move('t2', 't1');
    $all->is_status(303, 'all of a tenant\'s goes as ever');
    $admin->get("/v2.0/t1/$_")->is_status(200) for @tree;
    sound();
};

subtest 'in the background' => sub {
    my $node = make_node('t1');
    make_port('t1', $node) for 1 .. 60;
    my $post = move("t1/nodes/$node", 't2');
    $post->is_status(202, 'a large tree');
    my $path = $admin->path_of($post->location);
    ok Tenure::Instance::wait_until(sub { $admin->get($path)->status == 303 }, 60), 'is moved by and by';
    is $instance->sql_value("SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 't2' AND RIGHT(r.root, 16) = "
            . "UNHEX(REPLACE('$node', '-', ''))"), 61, 'as a whole';
    sound();
};

subtest 'deleted and recovered' => sub {
    my @tree = make_tree('t1', 'rack-5');
    my $live = $admin->get('/v2.0/t1')->json->{tenant}{resources};
    my %was  = map { $_ => $admin->get("/v2.0/t1/$_")->text } @tree;
    $admin->delete("/v2.0/t1/$tree[3]")->is_status(204, 'a port alone');
    my $delete = $admin->delete("/v2.0/t1/$tree[0]");
    $delete->is_status(204, 'the node');
    is scalar(() = $instance->changes_of($delete)), 3, 'takes the others along';
    $admin->get("/v2.0/t1/$_")->is_status(410) for @tree;
    is $admin->get('/v2.0/t1')->json->{tenant}{resources}, $live - 4, 'none is counted';
    for my $path (@tree[1 .. 3]) {
        my $alone = $admin->post("/v2.0/t1/$path/action/recover");
        $alone->is_problem(409, 'conflict', "$path does not come back without its node");
        like $alone->detail, qr{\Q$tree[0]\E}, 'which is named';
    }
    $admin->make("/v2.0/t2/nodes/" . uuid(), { driver => 'fake-hardware', name => 'rack-5' });
    my $successor = sprintf 'nodes/%08x-0000-4000-8000-000000000000', $count;
    my $taken = $admin->post("/v2.0/t1/$tree[0]/action/recover");
    $taken->is_problem(409, 'name_taken', 'nor that while its name is another\'s');
    like $taken->detail, qr/rack-5/, 'the name is told';
    unlike $taken->detail, qr/t2/, 'not whose it is';
    $admin->get("/v2.0/t1/$tree[1]")->is_status(410, 'nothing has come back');
    $admin->patch("/v2.0/t2/$successor", { name => undef })->is_status(200);
    $admin->post("/v2.0/t1/$tree[0]/action/recover")->is_status(204, 'free again, it comes back');
    is $admin->get("/v2.0/t1/$_")->text, $was{$_}, "$_ as it was" for @tree[0 .. 2];
    $admin->get("/v2.0/t1/$tree[3]")->is_status(410, 'what was deleted before stays so');
    $admin->post("/v2.0/t1/$tree[3]/action/recover")->is_status(204, 'until it is recovered');
    is $admin->get("/v2.0/t1/$tree[3]")->text, $was{ $tree[3] }, 'as it was';
    is $admin->get('/v2.0/t1')->json->{tenant}{resources}, $live, 'all are counted';
    sound();
};

subtest 'a port whose node went elsewhere' => sub {
    my @tree = make_tree('t1', 'rack-6');
    $admin->delete("/v2.0/t1/$tree[3]")->is_status(204);
    move("t1/$tree[0]", 't2')->is_status(303);
    my $alone = $admin->post("/v2.0/t1/$tree[3]/action/recover");
    $alone->is_problem(409, 'conflict', 'does not come back here');
    unlike $alone->detail, qr/t2/, 'and nobody learns where that is';
    move("t2/$tree[0]", 't1')->is_status(303);
    $admin->post("/v2.0/t1/$tree[3]/action/recover")->is_status(204, 'until the node is back');
    sound();
};

subtest 'what a type says' => sub {
    my $node = make_node('t1', provision_state => 'active', protected => JSON::PP::true());
    $admin->delete("/v2.0/t1/nodes/$node")->is_status(403, 'a protected node is not deleted');
    $admin->patch("/v2.0/t1/nodes/$node", { protected => JSON::PP::false(), provision_state => 'enroll' })->is_status(200);
    my $group = make_group('t1', $node);
    my $port  = make_port('t1', $node, portgroup_uuid => $group);
    $admin->delete("/v2.0/t1/portgroups/$group")->is_status(400, 'nor a port group with ports, as Ironic says it');
    $admin->delete("/v2.0/t1/ports/$port")->is_status(204);
    $admin->delete("/v2.0/t1/portgroups/$group")->is_status(204, 'without them it goes');
    $admin->post("/v2.0/t1/ports/$port/action/recover")->is_problem(409, 'conflict', 'and does not leave a port without it');
    $admin->post("/v2.0/t1/portgroups/$group/action/recover")->is_status(204, 'back again');
    $admin->post("/v2.0/t1/ports/$port/action/recover")->is_status(204, 'the port follows');
    $admin->delete("/v2.0/t1/nodes/$node")->is_status(204, 'a node takes all of them');
    $admin->post("/v2.0/t1/nodes/$node/action/recover")->is_status(204, 'and brings them');
    $admin->get("/v2.0/t1/ports/$port")->is_status(200);
    my $made = $admin->post('/baremetal/v1/chassis', json => { description => 'a rack' });
    $made->is_status(201, 'a chassis');
    my $chassis = $made->json->{uuid};
    $admin->patch("/v2.0/t1/nodes/$node", { chassis_uuid => $chassis })->is_status(200);
    $admin->delete("/v2.0/system/chassis/$chassis")->is_status(400, 'a chassis with nodes stays');
    $admin->delete("/v2.0/t1/nodes/$node")->is_status(204);
    $admin->delete("/v2.0/system/chassis/$chassis")->is_status(204);
    my $alone = $admin->post("/v2.0/t1/nodes/$node/action/recover");
    $alone->is_problem(409, 'conflict', 'no node comes back without its chassis');
    like $alone->detail, qr/\Q$chassis\E/, 'which is named';
    $admin->post("/v2.0/system/chassis/$chassis/action/recover")->is_status(204);
    $admin->post("/v2.0/t1/nodes/$node/action/recover")->is_status(204, 'with it, it does');
    sound();
};

subtest 'a port whose group went elsewhere' => sub {
    my ($node, $other) = map { make_node('t1') } 1 .. 2;
    my $group   = make_group('t1', $node);
    my $port    = make_port('t1', $node, portgroup_uuid => $group, physical_network => 'blue');
    my $recover = sub { return $admin->post("/v2.0/t1/ports/$port/action/recover") };
    my $to_node = sub { $admin->patch("/v2.0/t1/portgroups/$group", { node_uuid => $_[0] })->is_status(200, 'the group gets another node') };
    $admin->delete("/v2.0/t1/ports/$port")->is_status(204);
    $to_node->($other);
    my $gone = $recover->();
    $gone->is_problem(409, 'conflict', 'the port of the first node does not come back into it');
    like $gone->detail, qr/\Q$group\E.*\Q$node\E/, 'group and node are named';
    move("t1/nodes/$other", 't2')->is_status(303);
    my $left = $recover->();
    $left->is_problem(409, 'conflict', 'nor when it is another tenant\'s');
    unlike $left->detail, qr/t2/, 'which is not told';
    move("t2/nodes/$other", 't1')->is_status(303);
    $to_node->($node);
    my $red = make_port('t1', $node, portgroup_uuid => $group, physical_network => 'red');
    my $network = $recover->();
    $network->is_problem(409, 'conflict', 'nor beside a port in another network');
    like $network->detail, qr/\APort with physical network blue cannot become a member of port group $group which has ports in physical network red\.\z/,
        'the networks are named';
    $admin->delete("/v2.0/t1/ports/$red")->is_status(204);
    make_port('t1', $node, portgroup_uuid => $group, physical_network => 'blue');
    $recover->()->is_status(204, 'beside one in its own it comes back');
    is $admin->get("/v2.0/t1/ports/$port")->json->{portgroup_uuid}, $group, 'into its group';
    sound();
};

subtest 'a tenant with nodes' => sub {
    my $node = make_node('small', name => 'rack-7');
    $admin->delete('/v2.0/small')->is_status(204, 'is deleted');
    $admin->put('/v2.0/t1/nodes/' . uuid(), json => { driver => 'fake-hardware', name => 'rack-7' })
        ->is_problem(409, 'name_taken', 'its names stay taken');
    $admin->put("/v2.0/t1/nodes/$node", json => { driver => 'fake-hardware' })->is_problem(409, 'name_taken', 'its uids, too');
    $admin->post('/v2.0/small/action/recover')->is_status(204);
    $admin->get("/v2.0/small/nodes/$node")->is_status(200, 'as they may come back');
    $admin->delete('/v2.0/small')->is_status(204);
    $instance->sql(q(UPDATE tenants SET purge_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE name = 'small'));
    is((($instance->manage('reap'))[0]), 0, 'purged');
    $admin->put("/v2.0/t1/nodes/$node", json => { driver => 'fake-hardware', name => 'rack-7' })->is_status(201, 'all is free');
    is $instance->sql_value('SELECT COUNT(*) FROM resource_aliases a LEFT JOIN resources r ON r.id = a.resource_id WHERE r.id IS NULL'), 0,
        'and no lookup key is left behind';
    sound();
};

# Each of these is refused or done as a whole, whatever comes between.
subtest 'all at once' => sub {
    my @tree   = make_tree('t1', 'rack-8');
    my $uuid   = $tree[0] =~ s{.*/}{}r;
    my $fault  = 0;
    my $ask    = sub { my ($method, @what) = @_; my $status = $admin->$method(@what)->status; $fault ||= $status if $status >= 500 };
    my @doings = (
        sub { $ask->('post', "/v2.0/$_->[0]/$tree[0]/action/move?dest=$_->[1]") for ['t1', 't2'], ['t2', 't1'] },
        sub { $ask->('delete', "/v2.0/$_/$tree[0]"), $ask->('post', "/v2.0/$_/$tree[0]/action/recover") for 't1', 't2' },
        sub { $ask->('patch', "/v2.0/$_/$tree[2]", { extra => { n => $_[0] } }) for 't1', 't2' },
        sub {
            my ($n) = @_;
            my $port = sprintf 'ports/%08x-0000-4000-8000-000000000001', $n;
            $ask->('put', "/v2.0/$_/$port", json => { node_uuid => $uuid, address => mac(0x1000 + $n) }) for 't1', 't2';
            $ask->('delete', "/v2.0/$_/$port") for $n % 2 ? ('t1', 't2') : ();
        },
    );
    my @faults = Tenure::Parallel::run(scalar @doings, sub { my ($i) = @_; $doings[$i]->($_) for 1 .. 25; return $fault });
    is_deeply \@faults, [(0) x @doings], 'movers, deleters, writers: none meets a fault';
    my $where = $instance->sql_value("SELECT t.name FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE r.live = 1 AND "
            . "r.uid = UNHEX(REPLACE('$uuid', '-', ''))");
    ok defined $where, 'the node is there in the end';
    $admin->get("/v2.0/$where/$_")->is_status(200) for @tree;
    sound();
};

done_testing;
