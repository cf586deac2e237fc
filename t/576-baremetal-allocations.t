#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Allocations, which pick a node, and VIFs, which are records of a node.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::MeanwhileProxy;
use Tenure::Metal qw(is_fault);
use Tenure::Parallel;
use Tenure::Run qw(wait_until);

my ($true, $false) = (JSON::PP::true(), JSON::PP::false());
my $proxy;
my $instance = Tenure::Instance->start(combined => 1, workers => 4,
    database_by => sub { $proxy = Tenure::MeanwhileProxy->new(@_); return $proxy->path });
my $admin    = $instance->admin;
$admin->make_tenant($_) for qw(t1 t2);
my $ann      = Tenure::Metal->new($instance->combined('ann:t1:admin'), '1.82');
my $bob      = Tenure::Metal->new($instance->combined('bob:t2:admin'), '1.82');
my $operator = Tenure::Metal->new($instance->combined('admin'), '1.82');
my $none     = '00000000-0000-4000-8000-00000000dead';

# A node that can be taken.
sub node {
    my ($who, $name, $class, @traits) = @_;
    my $uuid = $who->make('nodes', { driver => 'fake-hardware', name => $name, resource_class => $class })->{uuid};
    $who->put("/nodes/$uuid/states/provision", json => { target => $_ })->status == 202 or die "$name: $_\n" for qw(manage provide);
    $who->put("/nodes/$uuid/states/power", json => { target => 'power off' })->status == 202 or die "$name: power\n";
    $who->put("/nodes/$uuid/traits", json => { traits => \@traits })->status == 204 or die "$name: traits\n";
    return $uuid;
}
sub go { my ($who, $uuid, $target) = @_; $who->put("/nodes/$uuid/states/provision", json => { target => $target })->is_status(202, $target); return }
sub taken { my ($uuid) = @_; return @{ $operator->get("/nodes/$uuid")->json }{qw(allocation_uuid instance_uuid)} }

# Before any other allocation: what a connection has prepared before is not held.
subtest 'the node gets another owner meanwhile' => sub {
    my $uuid = node($ann, 'leaving', 'leaving');
    for my $row ($instance->sql('SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()')) {
        eval { $instance->sql("KILL $row->[0]") };
    }
    $proxy->hold('t.etag_required, t.name');
    my ($made) = Tenure::Parallel::run(2, sub {
        return $ann->post('/allocations', json => { resource_class => 'leaving', name => 'raced' })->text if $_[0] == 0;
        wait_until(sub { $proxy->is_held }) or die "nothing was held\n";
        my $status = $operator->patch("/nodes/$uuid", [[replace => '/owner', 't2']])->status;
        $proxy->release;
        return $status;
    });
    is JSON::PP::decode_json($made)->{owner}, 't1', 'the allocation is its tenant\'s';
    my $end = $ann->get('/allocations/raced')->json;
    is "$end->{state} $end->{owner}", 'error t1', '... which had no node any more';
    like $end->{last_error}, qr/all nodes were filtered out/, '... and says so';
    my $node = $operator->get("/nodes/$uuid")->json;
    is_deeply [@$node{qw(owner allocation_uuid instance_uuid)}], ['t2', undef, undef], 'the other tenant\'s node is not touched';
    $ann->delete('/allocations/raced')->is_status(204);
    $operator->delete("/nodes/$uuid")->is_status(204);
};

subtest 'VIFs' => sub {
    my $uuid = $ann->make('nodes', { driver => 'fake-hardware', name => 'v1' })->{uuid};
    my $vif  = '200712FC-fdfb-47da-89a6-2d19f76c7618';
    is_deeply $ann->get('/nodes/v1/vifs')->json, { vifs => [] }, 'none';
    my $post = $ann->post('/nodes/v1/vifs', json => { id => $vif, extra => { a => 1 } });
    $post->is_status(204, 'attached');
    is $post->etag, $ann->get('/nodes/v1')->etag, 'the etag is the node\'s';
    $ann->post('/nodes/v1/vifs', json => { id => 'port-7' })->is_status(204, 'one with a name');
    my $list = $ann->get('/nodes/v1/vifs');
    is_deeply $list->json, { vifs => [{ id => lc $vif, extra => { a => 1 } }, { id => 'port-7' }] }, 'both, in their order';
    is $list->etag, $ann->get('/nodes/v1')->etag, 'the list has the node\'s etag';
    ok !exists $ann->get('/nodes/v1')->json->{vifs}, 'the node does not show them';
    is_fault($ann->post('/nodes/v1/vifs', json => { id => lc $vif }), 409, qr/\AUnable to attach VIF because VIF \L$vif\E is already attached to Ironic node $uuid\z/, 'twice');
    is_fault($ann->delete('/nodes/v1/vifs/other'), 400, qr/\AUnable to detach VIF other from node $uuid because it is not attached to it\.\z/, 'detaching what is not attached');
    is_fault($ann->delete('/nodes/v1/vifs/port-7', if_match => $post->etag), 412, undef, 'a stale etag');
    $ann->delete('/nodes/v1/vifs/port-7', if_match => $list->etag)->is_status(204, 'the right one');
    $ann->delete("/nodes/v1/vifs/\U$vif")->is_status(204, 'in capitals');
    is_deeply $ann->get('/nodes/v1/vifs')->json, { vifs => [] }, 'none again';
    my %both = (id => 'both', port_uuid => $uuid, portgroup_uuid => undef);
    is_fault($ann->version('1.67')->post("/nodes/$uuid/vifs", json => \%both), 400, qr/\ACannot specify both port_uuid and portgroup_uuid/, 'on a port and on a port group');
    $ann->version('1.66')->post("/nodes/$uuid/vifs", json => \%both)->is_status(204, 'which said nothing before 1.67');
    $ann->delete('/nodes/v1/vifs/both')->is_status(204);
    ok !exists $admin->get("/v2.0/t1/nodes/$uuid")->json->{vifs}, 'and nothing is left of them';
    for my $body ({}, { id => 1 }, { id => 'a b' }, { id => '' }, { id => 'x' x 256 }, [], 'x') {
        is_fault($ann->post('/nodes/v1/vifs', json => $body), 400, undef, 'no VIF: ' . substr JSON::PP->new->allow_nonref->encode($body), 0, 40);
    }
    is_fault($ann->version('1.27')->get('/nodes/v1/vifs'), 404, undef, 'before 1.28', address => 1);
    is_fault($bob->post("/nodes/$uuid/vifs", json => { id => 'x' }), 404, qr/could not be found/, 'of another tenant');
    is_fault($ann->as('ann:t1:reader')->post('/nodes/v1/vifs', json => { id => 'x' }), 403, undef, 'a reader');
    $ann->make('nodes', { driver => 'ipmi', name => 'v2' });
    is_fault($ann->post('/nodes/v2/vifs', json => { id => 'x' }), 400, qr/Driver ipmi does not support network/, 'a network that would have to be changed');
    is_deeply $ann->get('/nodes/v2/vifs')->json, { vifs => [] }, 'which has none';
    $ann->post('/nodes/v1/vifs', json => { id => "v$_" })->status == 204 or die "v$_\n" for 1 .. 256;
    is_fault($ann->post('/nodes/v1/vifs', json => { id => 'v257' }), 400, qr/not enough free physical ports.*256/, 'too many');
    is scalar @{ $ann->get('/nodes/v1/vifs')->json->{vifs} }, 256, '256 they are';
    my $large = $ann->make('nodes', { driver => 'fake-hardware', name => 'v3' })->{uuid};
    $ann->post('/nodes/v3/vifs', json => { id => 'large', extra => 'x' x 2_000_000 })->is_status(204, 'a large one');
    is_fault($ann->post('/nodes/v3/vifs', json => { id => 'more', extra => 'x' x 2_000_000 }), 413, qr/3145728 bytes at most/, 'two of them are more than a node may have');
    is_fault($ann->put('/nodes/v3/states/provision', json => { target => 'manage', configdrive => 'x' x 2_000_000 }), 400, undef, 'a large configdrive where none belongs');
    go($ann, $large, $_) for qw(manage adopt);
    is_fault($ann->put('/nodes/v3/states/provision', json => { target => 'rebuild', configdrive => 'x' x 2_000_000 }), 413, undef, 'nor with a large configdrive');
    is scalar @{ $ann->get('/nodes/v3/vifs')->json->{vifs} }, 1, 'it keeps what it had';
};

my %n = (a => node($ann, 'a1', 'gold', 'CUSTOM_A', 'CUSTOM_B'), b => node($ann, 'b1', 'gold', 'CUSTOM_A'), other => node($bob, 'c1', 'gold', 'CUSTOM_A', 'CUSTOM_B'));

subtest 'one' => sub {
    my $post = $ann->post('/allocations', json => { resource_class => 'gold', traits => ['CUSTOM_B'], name => 'x1', extra => { a => 1 } });
    $post->is_status(201);
    my $begun = $post->json;
    is $post->location, $ann->url . "/v1/allocations/$begun->{uuid}", 'Location';
    is_deeply [sort keys %$begun], [qw(candidate_nodes created_at etag extra last_error links name node_uuid owner resource_class state traits updated_at uuid)], 'its members';
    is_deeply [@$begun{qw(state node_uuid last_error owner)}], ['allocating', undef, undef, 't1'], 'the answer shows it as it begins';
    my $get = $ann->get('/allocations/x1');
    $get->is_status(200);
    my $allocation = $get->json;
    is_deeply [@$allocation{qw(state node_uuid last_error owner resource_class name extra traits candidate_nodes)}], ['active', $n{a}, undef, 't1', 'gold', 'x1', { a => 1 }, ['CUSTOM_B'], []], 'then it has the node that fits';
    isnt $get->etag, $post->etag, 'and another etag';
    is_deeply [taken($n{a})], [$begun->{uuid}, $begun->{uuid}], 'the node names it, twice';
    is_deeply $ann->get('/nodes/a1')->json->{instance_info}, { traits => ['CUSTOM_B'] }, 'and has the traits that were asked for';
    is_deeply $ann->get("/allocations/$_")->json, $allocation, "found as $_" for 'x1.json', "$begun->{uuid}.json";
    is_deeply $ann->get("/nodes/$n{a}/allocation")->json, $allocation, 'found by its node';
    is $ann->get('/nodes/a1/allocation')->etag, $get->etag, 'with its etag';
    is_deeply [sort keys %{ $ann->get('/nodes/a1/allocation?fields=uuid,State')->json }], [qw(etag links state uuid)], 'fields';
    is_fault($ann->get("/nodes/$n{b}/allocation"), 404, qr/Allocation for node .* was not found/, 'of a free node');
    is_fault($ann->get("/nodes/$_/allocation"), 400, qr/Node $_ could not be found/, 'of no node') for 'nope', $n{other};
    is_fault($ann->delete('/nodes/nope/allocation'), 404, qr/Node nope could not be found/, 'nor is it deleted');
    my @changes = $instance->changes_of($post);
    is_deeply [map { $_->{verb} } @changes], [qw(updated created updated)], 'the change log: the node, the allocation, its end';
};

subtest 'what may be changed' => sub {
    my $etag  = $ann->get('/allocations/x1')->etag;
    my $patch = $ann->patch('/allocations/x1', [[replace => '/name', 'x2'], [add => '/extra/b', 2]], if_match => $etag);
    $patch->is_status(200);
    is_deeply [@{ $patch->json }{qw(name extra state)}], ['x2', { a => 1, b => 2 }, 'active'], 'name and extra';
    is_fault($ann->patch('/allocations/x2', [[add => '/extra/c', 3]], if_match => $etag), 412, undef, 'a stale etag');
    is_fault($ann->patch('/allocations/x2', [[replace => "/$_", 'x']]), 400, qr/Cannot patch/, "not $_") for qw(state node_uuid resource_class traits candidate_nodes owner last_error uuid);
    is_fault($ann->patch('/allocations/x2', [[replace => '/name', 'a b']]), 400, qr/name/, 'no name');
    is_fault($ann->version($_)->patch('/allocations/x2', [[add => '/extra/c', 3]]), 405, qr/1\.57/, "at $_", address => 1) for '1.56', '1.51';
    is_fault($ann->version('1.51')->post('/allocations', json => { resource_class => 'gold' }), 405, qr/\AThe API version does not allow allocations.*1\.52/, 'POST before 1.52', address => 1);
    is_fault($ann->version('1.51')->delete("/allocations$_"), 405, qr/\AThe API version does not allow allocations.*1\.52/, "DELETE $_", address => 1) for '/x2', '';
    is_fault($ann->version('1.51')->get('/allocations/x2'), 404, undef, 'but GET', address => 1);
    my $uuid = $patch->json->{uuid};
    my $put  = $admin->put("/v2.0/t1/allocations/$uuid", json => { %{ $admin->get("/v2.0/t1/allocations/$uuid")->json }, state => 'error' });
    is $put->status, 403, 'nor by an operator in the other API';
    is $admin->put("/v2.0/t1/allocations/$none", json => { resource_class => 'gold' })->status, 403, 'where none can be made';
    my $reserve = sub {
        my $url = "/v2.0/t1/nodes/@{[ $patch->json->{node_uuid} ]}";
        return $admin->put($url, json => { %{ $admin->get($url)->json }, reservation => $_[0] });
    };
    $reserve->('conductor-1')->is_status(200);
    $ann->patch('/allocations/x2', [[add => '/extra/b', 3]])->is_status(200, 'also while its node is reserved');
    $reserve->(undef)->is_status(200);
    is_fault($ann->patch('/nodes/a1', [[remove => '/instance_uuid']]), 409, qr/has allocation $uuid: delete that to free the node/, 'the node keeps its instance');
    is_fault($ann->patch('/nodes/a1', [[replace => '/instance_uuid', $none]]), 409, qr/$uuid/, 'and takes no other');
    is_fault($ann->patch('/nodes/a1', [[remove => '/allocation_uuid']]), 400, qr/Cannot patch/, 'nor is its allocation patched');
    is_fault($ann->delete('/nodes/a1'), 409, qr/associated with instance/, 'it can not be deleted');
};

subtest 'lists' => sub {
    my $failed = $ann->make('allocations', { resource_class => 'silver' });
    my $ids    = sub { my ($query, $who) = @_; return [map { $_->{uuid} } @{ ($who // $ann)->get("/allocations$query")->json->{allocations} }] };
    my $one    = $ann->get('/allocations/x2')->json;
    is_deeply $ids->(''), [$one->{uuid}, $failed->{uuid}], 'all';
    is_deeply $ann->get('/allocations')->json->{allocations}[0], $one, 'whole';
    is_deeply $ids->('?state=active'), [$one->{uuid}], 'state';
    is_deeply $ids->('?state=error'), [$failed->{uuid}], 'error';
    is_deeply $ids->('?node=a1'), [$one->{uuid}], 'node';
    is_deeply $ids->('?resource_class=silver'), [$failed->{uuid}], 'class';
    is_deeply $ids->('?owner=t1'), [$one->{uuid}, $failed->{uuid}], 'owner';
    is_deeply $ids->('', $bob), [], 'of another tenant';
    is_deeply $ids->('', $operator), [$one->{uuid}, $failed->{uuid}], 'of all, for an operator';
    is_deeply $ids->("?limit=1&marker=$one->{uuid}"), [$failed->{uuid}], 'pages';
    is_deeply $ids->('?sort_key=state&sort_dir=desc'), [$failed->{uuid}, $one->{uuid}], 'order';
    is_deeply [sort keys %{ $ann->get('/allocations?fields=uuid')->json->{allocations}[0] }], [qw(etag links uuid)], 'fields';
    is_fault($ann->get('/allocations?node=nope'), 400, qr/Node nope could not be found/, 'no such node');
    is_deeply $ann->get("/allocations?$_")->json, { allocations => [] }, "none: $_" for 'state=odd', 'state=', 'resource_class=odd';
    is_deeply $operator->get("/allocations?owner=$_")->json, { allocations => [] }, "of owner $_" for 't2', 'nobody';
    is_fault($ann->get("/allocations?owner=$_"), 403, qr/\Aowner: .*your own/, "a tenant asks for those of $_") for 't2', 'nobody';
    is_fault($ann->version('1.59')->get('/allocations?owner=t1'), 406, qr/1\.60/, 'owner before 1.60');
    ok !exists $ann->version('1.59')->get('/allocations/x2')->json->{owner}, 'nor is it shown';
    is_fault($ann->version('1.51')->get('/allocations'), 404, undef, 'before 1.52', address => 1);
    is_fault($ann->get('/allocations/nope'), 404, qr/Allocation nope could not be found/, 'none of that name');
    is_fault($bob->get("/allocations/$one->{uuid}"), 404, qr/could not be found/, 'another tenant\'s');
    like $ann->get("/allocations/$failed->{uuid}")->json->{last_error}, qr/\AFailed to process allocation $failed->{uuid}: no available nodes match the resource class silver\.\z/, 'why it failed';
    $ann->delete("/allocations/$failed->{uuid}")->is_status(204, 'a failed one is deleted');
};

subtest 'freeing' => sub {
    my $one = $ann->get('/allocations/x2')->json;
    is_fault($bob->delete("/allocations/$one->{uuid}"), 404, undef, 'not by another tenant');
    is_fault($ann->as('ann:t1:reader')->delete('/allocations/x2'), 403, undef, 'not by a reader');
    is_fault($ann->delete('/allocations/x2', if_match => 'W/"' . '0' x 128 . '"'), 412, undef, 'not with a stale etag');
    is_deeply [taken($n{a})], [$one->{uuid}, $one->{uuid}], 'still taken';
    my $record = sub {
        my $url = "/v2.0/t1/nodes/$n{a}";
        return $admin->put($url, json => { %{ $admin->get($url)->json }, provision_state => $_[0], target_provision_state => $_[1] })->is_status(200, $_[0]);
    };
    $record->('deploying', 'active');
    is_fault($ann->delete('/allocations/x2'), 409, qr/\ANode $n{a} can not be updated while a state transition is in progress/, 'not while the node is being deployed');
    $record->('available', undef);
    go($ann, $n{a}, 'active');
    is_fault($ann->delete('/allocations/x2'), 409, qr/\ACannot remove allocation $one->{uuid} for node $n{a}, because the node is active \(and maintenance mode is off\)\z/, 'not while the node is active');
    $ann->put('/nodes/a1/maintenance')->is_status(202);
    $ann->delete('/nodes/a1/allocation')->is_status(204, 'in maintenance; by the node');
    $ann->delete('/nodes/a1/maintenance')->is_status(202);
    is_deeply [taken($n{a})], [undef, undef], 'free';
    is_deeply $ann->get('/nodes/a1')->json->{instance_info}, {}, 'without traits that were asked for';
    is_fault($ann->get("/allocations/$one->{uuid}"), 404, undef, 'gone');
    is_fault($ann->delete('/nodes/a1/allocation'), 404, qr/was not found/, 'once');
    is $admin->post("/v2.0/t1/allocations/$one->{uuid}/action/recover")->status, 409, 'it is not recovered: its node may be another\'s';
    go($ann, $n{a}, 'deleted');
    my $two = $ann->make('allocations', { resource_class => 'gold', candidate_nodes => ['a1'] });
    is_deeply [taken($n{a})], [$two->{uuid}, $two->{uuid}], 'taken again';
    $ann->post('/nodes/a1/vifs', json => { id => 'port-7' })->is_status(204);
    go($ann, $n{a}, 'active');
    is scalar @{ $ann->get('/nodes/a1/vifs')->json->{vifs} }, 1, 'it has a VIF';
    go($ann, $n{a}, 'deleted');
    is_deeply $ann->get('/nodes/a1/vifs')->json, { vifs => [] }, 'undeploying detaches it';
    is_deeply [taken($n{a})], [undef, undef], 'undeploying frees it';
    is_fault($ann->get("/allocations/$two->{uuid}"), 404, undef, 'and its allocation is gone');
    my $three = $ann->make('allocations', { resource_class => 'gold', candidate_nodes => ['a1'] });
    is $admin->delete("/v2.0/t1/allocations/$three->{uuid}")->status, 204, 'deleted by the other API';
    is_deeply [taken($n{a})], [undef, undef], 'frees the node as well';
};

subtest 'which node' => sub {
    my $get = sub { my ($body, $who) = @_; my $made = ($who // $ann)->make('allocations', $body); return $operator->get("/allocations/$made->{uuid}")->json };
    is $get->({ resource_class => 'gold', traits => ['CUSTOM_A', 'CUSTOM_B'] })->{node_uuid}, $n{a}, 'all traits';
    like $get->({ resource_class => 'gold', traits => ['CUSTOM_B'] })->{last_error}, qr/gold and have the requested traits CUSTOM_B/, 'the other tenant\'s node is not taken';
    is $get->({ resource_class => 'gold', candidate_nodes => ['a1', 'b1'] })->{node_uuid}, $n{b}, 'a candidate that is free';
    like $get->({ resource_class => 'gold', candidate_nodes => ['a1'] })->{last_error}, qr/none of the requested nodes are available and match the resource class gold/, 'no candidate is free';
    my $theirs = $get->({ resource_class => 'gold' }, $operator);
    is_deeply [@$theirs{qw(node_uuid owner)}], [$n{other}, 't2'], 'an operator takes any node; the allocation is its owner\'s';
    is $bob->get("/allocations/$theirs->{uuid}")->status, 200, 'who sees it';
    is_deeply [@{ $get->({ resource_class => 'gold' }, $operator) }{qw(state owner)}], ['error', undef], 'what finds none is the operator\'s';
    is_deeply [@{ $get->({ resource_class => 'gold', owner => 't1' }, $operator) }{qw(state owner)}], ['error', 't1'], 'or that of the owner it names';
    $operator->delete("/allocations/$_->{uuid}")->is_status(204) for @{ $operator->get('/allocations')->json->{allocations} };
    my %in_the_way = (maintenance => sub { $ann->put('/nodes/b1/maintenance') }, instance => sub { $ann->patch('/nodes/b1', [[add => '/instance_uuid', $none]]) }, manageable => sub { go($ann, $n{b}, 'manage') });
    my %away = (maintenance => sub { $ann->delete('/nodes/b1/maintenance') }, instance => sub { $ann->patch('/nodes/b1', [[remove => '/instance_uuid']]) }, manageable => sub { go($ann, $n{b}, 'provide') });
    for my $why (sort keys %in_the_way) {
        $in_the_way{$why}->();
        is $get->({ resource_class => 'gold', candidate_nodes => ['b1'] })->{state}, 'error', "not a node with: $why";
        $away{$why}->();
    }
    my $silent = $ann->make('nodes', { driver => 'fake-hardware', name => 'd1', resource_class => 'bronze' })->{uuid};
    go($ann, $silent, $_) for qw(manage provide);
    is $get->({ resource_class => 'bronze' })->{state}, 'error', 'nor one whose power is not known';
    $ann->put('/nodes/d1/states/power', json => { target => 'power off' })->is_status(202);
    is $get->({ resource_class => 'bronze' })->{node_uuid}, $silent, 'now it is';
    is $get->({ resource_class => 'gold', name => 'b1' })->{node_uuid}, $n{b}, 'a node of the same name comes first';
    $operator->delete("/allocations/$_->{uuid}")->is_status(204) for @{ $operator->get('/allocations')->json->{allocations} };
};

subtest 'a node that is active already' => sub {
    my $instance_uuid = '99999999-2222-4333-8444-555555555555';
    is_fault($ann->post('/allocations', json => { node => 'a1' }), 409, qr/Cannot backfill an allocation for node $n{a}: Node must be in the "active" state, but the current state is "available"/, 'it has to be active');
    $ann->patch('/nodes/a1', [[add => '/instance_uuid', $instance_uuid]])->is_status(200);
    go($ann, $n{a}, 'active');
    for my $case ([{ resource_class => 'silver' }, qr/Resource class gold does not match the requested resource class silver/], [{ traits => ['CUSTOM_Z'] }, qr/traits do not match/], [{ candidate_nodes => ['b1'] }, qr/Candidate nodes must/],
        [{ uuid => $none }, qr/associated with instance $instance_uuid/]) {
        is_fault($ann->post('/allocations', json => { node => 'a1', %{ $case->[0] } }), 409, $case->[1], JSON::PP->new->encode($case->[0]));
    }
    is_fault($ann->version('1.57')->post('/allocations', json => { node => $n{a} }), 400, qr/Cannot set node.*1\.58/, 'before 1.58');
    is_fault($ann->post('/allocations', json => { node => 'nope' }), 400, qr/Node nope could not be found/, 'no such node');
    is_fault($bob->post('/allocations', json => { node => $n{a} }), 400, qr/could not be found/, 'another tenant\'s');
    is_fault($operator->post('/allocations', json => { node => $n{a}, owner => 't2' }), 409, qr/another owner/, 'not of that owner');
    my $post = $ann->post('/allocations', json => { node => 'a1', resource_class => '' });
    $post->is_status(201);
    is_deeply [@{ $post->json }{qw(uuid state node_uuid resource_class owner)}], [$instance_uuid, 'active', $n{a}, 'gold', 't1'], 'it has the instance\'s UUID, and the node\'s class';
    is_deeply [taken($n{a})], [$instance_uuid, $instance_uuid], 'the node names it';
    is_fault($ann->post('/allocations', json => { node => 'a1' }), 409, undef, 'once');
    go($ann, $n{a}, 'deleted');
    is_deeply [taken($n{a})], [undef, undef], 'undeployed';
};

subtest 'a node is deleted with its allocation in maintenance' => sub {
    my $one = $ann->make('allocations', { resource_class => 'gold', candidate_nodes => ['a1'] })->{uuid};
    go($ann, $n{a}, 'active');
    is_fault($ann->delete('/nodes/a1'), 409, qr/is associated with instance $one/, 'not while somebody may use it');
    $ann->put('/nodes/a1/maintenance')->is_status(202);
    my $before = $ann->get("/allocations/$one")->text;
    $ann->delete('/nodes/a1')->is_status(204, 'in maintenance it goes');
    is_fault($ann->get("/allocations/$one"), 404, undef, 'with its allocation');
    $admin->post("/v2.0/t1/nodes/$n{a}/action/recover")->is_status(204, 'recovered');
    is $ann->get("/allocations/$one")->text, $before, 'both are back';
    is_deeply [taken($n{a})], [$one, $one], 'and belong together';
    $ann->delete('/nodes/a1/maintenance')->is_status(202);
    go($ann, $n{a}, 'deleted');
};

subtest 'bodies' => sub {
    for my $case ([{}, qr/resource_class field is mandatory/], [{ resource_class => undef }, qr/mandatory/], [{ resource_class => 1 }, qr/resource_class/], [{ resource_class => 'x' x 81 }, qr/resource_class has 81/],
        [{ resource_class => 'gold', more => 1 }, qr/Unexpected arguments: more/], [{ resource_class => 'gold', state => 'active' }, qr/Unexpected arguments: state/], [{ resource_class => 'gold', node_uuid => $n{a} }, qr/Unexpected arguments/],
        [{ resource_class => 'gold', name => 'a b' }, qr/name/], [{ resource_class => 'gold', name => $none }, qr/name/], [{ resource_class => 'gold', name => 1 }, qr/name/], [{ resource_class => 'gold', extra => [] }, qr/extra/],
        [{ resource_class => 'gold', uuid => 'x' }, qr/UUID/], [{ resource_class => 'gold', traits => 'CUSTOM_A' }, qr/traits/], [{ resource_class => 'gold', traits => ['a'] }, qr/traits/], [{ resource_class => 'gold', traits => ['HW_NO_SUCH_TRAIT'] }, qr/a standard one, or a custom one/],
        [{ resource_class => 'gold', traits => [1] }, qr/traits/], [{ node => '' }, qr/mandatory/], [{ resource_class => 'gold', traits => [map { "CUSTOM_$_" } 1 .. 51] }, qr/50/],
        [{ resource_class => 'gold', candidate_nodes => 'a1' }, qr/candidate_nodes/], [{ resource_class => 'gold', candidate_nodes => [1] }, qr/candidate_nodes/], [{ resource_class => 'gold', candidate_nodes => ['nope'] }, qr/Node nope could not be found/],
        [{ resource_class => 'gold', candidate_nodes => ['c1'] }, qr/Node c1 could not be found/], [{ resource_class => 'gold', candidate_nodes => [('a1') x 257] }, qr/256/]) {
        is_fault($ann->post('/allocations', json => $case->[0]), 400, $case->[1], substr JSON::PP->new->canonical->encode($case->[0]), 0, 70);
    }
    is_fault($ann->post('/allocations', json => { resource_class => 'gold', owner => 't2' }), 403, qr/owner/, 'for another owner');
    is_fault($ann->version('1.59')->post('/allocations', json => { resource_class => 'gold', owner => $_ }), 406, qr/1\.60/, 'owner before 1.60') for 't1', undef;
    $ann->delete('/allocations/' . $ann->version('1.57')->make('allocations', { resource_class => 'none', node => '', traits => ['HW_CPU_X86_AVX'] })->{uuid})->is_status(204, 'a standard trait; a node that is ""');
    is_fault($ann->as('ann:t1:reader')->post('/allocations', json => { resource_class => 'gold' }), 403, undef, 'a reader');
    is_fault($ann->delete('/allocations'), 400, qr/Which one/, 'all at once');
    my $one = $ann->make('allocations', { resource_class => 'none', name => 'taken' });
    is_fault($ann->get('/allocations?fields=nope'), 400, qr/field of an allocation/, 'no such field');
    is_fault($ann->get('/allocations?sort_key=nope'), 400, qr/member of an allocation/, 'nor key');
    is_fault($ann->post('/allocations', json => { resource_class => 'gold', name => "a\0b" }), 400, qr/the name 'a\0b' for an allocation/, 'a NUL in a name');
    is_fault($ann->post('/allocations', json => { resource_class => 'none', name => 'taken' }), 409, qr/An allocation with name taken already exists/, 'a name twice');
    is_fault($ann->post('/allocations', json => { resource_class => 'none', uuid => $one->{uuid} }), 409, qr/An allocation with UUID $one->{uuid} already exists/, 'a UUID twice');
    is_fault($ann->post('/allocations', json => { resource_class => 'gold', name => 'taken' }), 409, undef, 'a name twice, where a node would fit');
    is_deeply [map { taken($n{$_}) } qw(a b)], [undef, undef, undef, undef], 'leaves the nodes free';
    $ann->delete('/allocations/taken')->is_status(204);
};

subtest 'a node moves with its allocation' => sub {
    my $one = $ann->make('allocations', { resource_class => 'gold', candidate_nodes => ['b1'] });
    $operator->patch("/nodes/$n{b}", [[replace => '/owner', 't2']])->is_status(200, 'to another tenant');
    is $bob->get("/nodes/$n{b}/allocation")->json->{owner}, 't2', 'the allocation is there';
    is $ann->get("/allocations/$one->{uuid}")->status, 404, 'and no longer here';
    $bob->delete("/allocations/$one->{uuid}")->is_status(204);
    $operator->patch("/nodes/$n{b}", [[replace => '/owner', 't1']])->is_status(200, 'and back');
};

subtest 'tenants without room' => sub {
    my @owners = qw(full ending roomy);
    $admin->make_tenant($_) for @owners;
    is(($instance->manage('tier', 'set', 'of-one', '--max-resources', '1'))[0], 0, 'a tier of one resource');
    my %node = map { $_ => do {
        my $as = Tenure::Metal->new($instance->combined("x:$_:admin"), '1.82');
        node($as, "room-$_", 'room');
    } } @owners;
    $admin->put('/v2.0/full', json => { tenant => { tier => 'of-one' } })->is_status(202, 'one is full');
    $admin->patch('/api/v1/tenants/ending', { metadata => { finalizers => ['example.com/last'] } })->is_status(200);
    $admin->delete('/api/v1/tenants/ending')->is_status(200, 'another one waits for its end');
    is_fault(Tenure::Metal->new($instance->combined('x:full:admin'), '1.82')->post('/allocations', json => { resource_class => 'room' }), 409, qr/allows 1 resource/,
        'its own allocations are told so');
    for my $round (1 .. 8) {
        my $made = $operator->post('/allocations', json => { resource_class => 'room', name => "room$round" });
        $made->is_status(201, 'an operator\'s takes a node');
        is $operator->get("/allocations/room$round")->json->{node_uuid}, $node{roomy}, '... of the tenant that has room';
        $operator->delete("/allocations/room$round")->is_status(204);
    }
    $operator->put("/nodes/$node{roomy}/maintenance", json => {})->is_status(202);
    $operator->post('/allocations', json => { resource_class => 'room', name => 'roomless' })->is_status(201, 'where none has room');
    is $operator->get('/allocations/roomless')->json->{state}, 'error', 'it ends in the state error';
    $operator->delete('/allocations/roomless')->is_status(204);
    $operator->delete("/nodes/$node{$_}")->is_status(204) for @owners;
};

subtest 'a tenant that requires etags' => sub {
    $admin->put('/v2.0/t2', json => { tenant => { etag_required => $true } })->is_status(202);
    my $one = $bob->post('/allocations', json => { resource_class => 'gold' });
    $one->is_status(201, 'an allocation changes a node by itself');
    my $get = $bob->get('/allocations/' . $one->json->{uuid});
    is $get->json->{node_uuid}, $n{other}, 'it has one';
    is_fault($bob->delete('/allocations/' . $one->json->{uuid}), 428, undef, 'deleting it needs its etag');
    $bob->delete('/allocations/' . $one->json->{uuid}, if_match => $get->etag)->is_status(204, 'with it');
    is_deeply [taken($n{other})], [undef, undef], 'free';
    $admin->put('/v2.0/t2', json => { tenant => { etag_required => $false } }, if_match => $admin->get('/v2.0/t2')->etag)->is_status(202);
};

subtest 'many at once' => sub {
    my %free = map { (node($ann, "m$_", 'crowd') => 1) } 1 .. 8;
    my @told = Tenure::Parallel::run(8, sub {
        my $client = Tenure::Metal->new($instance->combined('ann:t1:admin'), '1.82');
        my @got;
        for (1 .. 3) {
            my $post = $client->post('/allocations', json => { resource_class => 'crowd' });
            push @got, $post->status == 201 ? $post->json->{uuid} : 'status-' . $post->status;
        }
        return "@got";
    });
    my @uuids = map { split / / } @told;
    is scalar(grep { /\Astatus/ } @uuids), 0, 'all are answered' or diag "@uuids";
    my (%by, $errors);
    for my $allocation (@{ $ann->get('/allocations?resource_class=crowd')->json->{allocations} }) {
        if ($allocation->{state} eq 'active') { push @{ $by{ $allocation->{node_uuid} } }, $allocation->{uuid} }
        else { $errors++ }
    }
    is_deeply [sort keys %by], [sort keys %free], 'each node is taken';
    is scalar(grep { @$_ > 1 } values %by), 0, 'none twice';
    is $errors, 16, 'the others have failed';
    is_deeply [map { (taken($_))[0] } sort keys %by], [map { $by{$_}[0] } sort keys %by], 'each node names its allocation';
    Tenure::Parallel::run(4, sub {
        my ($nth) = @_;
        my $client = Tenure::Metal->new($instance->combined('ann:t1:admin'), '1.82');
        my @own = (sort map { $_->[0] } values %by)[2 * $nth, 2 * $nth + 1];
        $client->delete("/allocations/$_")->status == 204 or die "delete\n" for @own;
        return 'done';
    });
    is_deeply [grep { defined } map { taken($_) } keys %by], [], 'all are free again';
};

# The keys by which free nodes are found: of those that an allocation would take, and no others.
sub free_keys { return [ map { $_->[0] } $instance->sql("SELECT value FROM resource_aliases WHERE kind = 'free' AND live = 1 ORDER BY value") ] }

subtest 'keys of free nodes' => sub {
    my %class = map { $_->{uuid} => $_->{resource_class} } grep { $_->{provision_state} eq 'available' && !$_->{maintenance} && !defined $_->{instance_uuid}
        && !defined $_->{reservation} && defined $_->{power_state} && defined $_->{resource_class} } @{ $operator->get('/nodes/detail')->json->{nodes} };
    my $keys = free_keys();
    cmp_ok scalar @$keys, '>', 8, 'there are some';
    is_deeply $keys, [ sort map { length($class{$_}) . " $class{$_} $_" } keys %class ], 'each free node has its key, and no other';
    $instance->sql("DELETE FROM resource_aliases WHERE kind = 'free'");
    my ($code, $text) = $instance->manage('doctor');
    isnt $code, 0, 'the doctor misses them';
    is((($instance->manage('doctor', '--fix'))[0]), 0, '... and makes them');
    is_deeply free_keys(), $keys, '... as they were';
    $instance->sql("DELETE FROM resource_aliases WHERE kind = 'free'");
    $instance->sql(Tenure::Instance::read_file(Tenure::Instance::source_dir() . '/sql/schema/014-free-nodes.sql'));
    is_deeply free_keys(), $keys, 'so does the upgrade of a database that has nodes';
};

subtest 'recovering a free node' => sub {
    # The key is its class and uid: at a certain length it looks like a reference, the uid of another resource and its own.
    for my $class (map { 'c' x $_ } 32 .. 34) {
        my $uuid = node($ann, undef, $class);
        $operator->delete("/nodes/$uuid")->is_status(204, "deleted, of a class of @{[length $class]} bytes");
        is_deeply [ grep { /\Q$uuid\E/ } @{ free_keys() } ], [], '... and no allocation finds it';
        $admin->post("/v2.0/t1/nodes/$uuid/action/recover")->is_status(204, '... recovered');
        is_deeply [ grep { /\Q$uuid\E/ } @{ free_keys() } ], [ length($class) . " $class $uuid" ], '... with its key';
    }
};

subtest 'a rare trait' => sub {
    # Two of ten nodes of the class have it, one of them is another tenant's; and three nodes of another class have it.
    my @of_class = map { node($ann, "rare$_", 'common') } 1 .. 9;
    my $theirs = node($bob, undef, 'common');
    my @others = map { node($ann, undef, 'other') } 1 .. 3;
    for my $uuid ($of_class[4], $theirs, @others) {
        $operator->put("/nodes/$uuid/traits", json => { traits => [qw(CUSTOM_RARE CUSTOM_OFTEN)] })->is_status(204);
    }
    $operator->put("/nodes/$_/traits", json => { traits => ['CUSTOM_OFTEN'] })->is_status(204) for @of_class[0 .. 3, 5 .. 8];
    my $pick = sub { my ($client, @traits) = @_; return $client->get('/allocations/' . $client->make('allocations', { resource_class => 'common', traits => \@traits })->{uuid})->json };
    my $first = $pick->($ann, 'CUSTOM_OFTEN', 'CUSTOM_RARE');
    is $first->{node_uuid}, $of_class[4], 'the one of the class and tenant that has it is taken';
    my $second = $pick->($ann, 'CUSTOM_RARE');
    is $second->{state}, 'error', '... and then there is none';
    like $second->{last_error}, qr/no available nodes match the resource class common and have the requested traits CUSTOM_RARE/, '... which is told';
    my $third = $pick->($operator, 'CUSTOM_RARE');
    is $third->{node_uuid}, $theirs, 'an operator gets one of any tenant';
    like $pick->($ann, 'CUSTOM_NOBODY_HAS')->{last_error}, qr/traits CUSTOM_NOBODY_HAS/, 'a trait that the catalogue lacks';
    my @often = map { $pick->($ann, 'CUSTOM_OFTEN')->{node_uuid} } 1 .. 8;
    is_deeply [ sort @often ], [ sort @of_class[0 .. 3, 5 .. 8] ], 'a trait that all have';
    $operator->delete("/allocations/$_->{uuid}")->is_status(204) for @{ $operator->get('/allocations?resource_class=common')->json->{allocations} };
    $operator->delete("/nodes/$_")->is_status(204) for @of_class, $theirs, @others;
};

subtest 'keys that a program of before has left as they were' => sub {
    my $uuid = node($ann, 'g1', 'stale');
    my $key  = sub { return $instance->sql_value("SELECT value FROM resource_aliases WHERE kind = 'free' AND value LIKE '% $uuid'") };
    my $get  = sub { $operator->get('/allocations/' . $ann->make('allocations', { resource_class => 'stale' })->{uuid})->json };
    my $one  = $get->();
    is $one->{node_uuid}, $uuid, 'a node is taken';
    $instance->sql("INSERT INTO resource_aliases (resource_id, kind, type_id, value) SELECT id, 'free', type_id, '5 stale $uuid' FROM resources WHERE uid = UNHEX(REPLACE('$uuid', '-', '')) AND live = 1");
    like $get->()->{last_error}, qr/filtered out/, 'its key is there again, and it is not taken twice';
    $ann->delete("/allocations/$one->{uuid}")->is_status(204, 'it is freed');
    is $key->(), "5 stale $uuid", 'with its key';
    $instance->sql("DELETE FROM resource_aliases WHERE kind = 'free' AND value LIKE '% $uuid'");
    $ann->patch("/nodes/$uuid", [[replace => '/resource_class', 'fresh']])->is_status(200, 'the key is missing, and the class changes');
    is $key->(), "5 fresh $uuid", 'the new key is there';
};

subtest 'classes that begin alike' => sub {
    my $uuid = node($ann, 'e1', 'alike twice', 'CUSTOM_A');
    my $odd  = node($ann, 'e2', "odd\x{e9}\t'%_ ~", 'CUSTOM_A');
    my $get  = sub { $operator->get('/allocations/' . $ann->make('allocations', { resource_class => $_[0] })->{uuid})->json->{node_uuid} };
    is $get->('alike'), undef, 'the beginning of a class is another class';
    is $get->('alike twic_'), undef, 'nor is it a pattern';
    is $get->('ALIKE TWICE'), undef, 'case counts';
    is $get->('alike twice'), $uuid, 'the whole name';
    is $get->("odd\x{e9}\t'%_ ~"), $odd, 'any characters';
};

subtest 'the doctor' => sub {
    my $one = $ann->make('allocations', { resource_class => 'gold', candidate_nodes => ['a1'] })->{uuid};
    my ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'finds nothing' or diag $text;
    my $body = $instance->sql_value("SELECT body FROM resources WHERE uid = UNHEX(REPLACE('$n{a}', '-', ''))");
    my $lost = $body =~ s/"allocation_uuid":"[^"]*"/"allocation_uuid":null/r;
    $instance->sql("UPDATE resources SET body = '$lost' WHERE uid = UNHEX(REPLACE('$n{a}', '-', ''))");
    ($code, $text) = $instance->manage('doctor');
    isnt $code, 0, 'a node that has lost its allocation';
    like $text, qr/each node and its allocation name each other.*\b\Q@{[ $one =~ tr{-}{}dr ]}\E/, 'is named by the allocation';
    $instance->sql("UPDATE resources SET body = '$body' WHERE uid = UNHEX(REPLACE('$n{a}', '-', ''))");
    is((($instance->manage('doctor'))[0]), 0, 'mended');
    is $admin->put("/v2.0/t1/nodes/$n{b}", json => { %{ $admin->get("/v2.0/t1/nodes/$n{b}")->json }, allocation_uuid => $none })->status, 409, 'nobody sets it by hand';
};

subtest 'a tenant with few nodes among many' => sub {
    # More free nodes of a class than are looked at before a tenant's own are: copies of one, by their rows.
    my $copied = node($ann, 'f0', 'common');
    my $mine   = node($bob, 'f1', 'common');
    my $bare   = $copied =~ tr/-//dr;
    $instance->sql(<<"SQL");
CREATE TEMPORARY TABLE copies AS SELECT uid, tenant_id, type_id, namespace, LOWER(UUID()) AS name, locked, bytes, revision, edits, h0, h1, h2, h3, etag, meta,
  REPLACE(body, '"name":"f0"', '"name":null') AS body, created_at, updated_at, root, traits FROM resources JOIN seq_1_to_2500 WHERE uid = UNHEX('$bare') AND live = 1;
UPDATE copies SET uid = UNHEX(REPLACE(name, '-', '')), root = CONCAT(LEFT(root, 4), UNHEX(REPLACE(name, '-', '')));
INSERT INTO resources (uid, tenant_id, type_id, namespace, name, locked, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at, updated_at, root, traits)
  SELECT uid, tenant_id, type_id, namespace, name, locked, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at, updated_at, root, traits FROM copies;
INSERT INTO resource_aliases (resource_id, kind, type_id, value) SELECT r.id, 'free', r.type_id, CONCAT('6 common ', r.name)
  FROM resources r JOIN copies c ON c.uid = r.uid AND c.type_id = r.type_id;
SQL
    my $get = sub { my ($who, $body) = @_; return $operator->get('/allocations/' . $who->make('allocations', $body)->{uuid})->json->{node_uuid} };
    is $get->($bob, { resource_class => 'common' }), $mine, 'gets its own';
    is $get->($bob, { resource_class => 'common' }), undef, '... once';
    my %got = map { ($get->($ann, { resource_class => 'common' }) => 1) } 1 .. 5;
    is scalar(keys %got), 5, 'the other tenant has enough';
    is $get->($ann, { resource_class => 'common', candidate_nodes => [$copied] }), $got{$copied} ? undef : $copied, 'and finds one by its name';
};

done_testing;
