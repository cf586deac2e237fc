#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Whose bare metal is: what tenants see and may do; and that a node whose owner changes moves with its ports and port groups.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use List::Util ();
use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault);
use Tenure::Parallel;

my $instance = Tenure::Instance->start(combined => 1);
my $operator = $instance->admin;
$operator->make_tenant($_) for 'acme', 'globex';
my $admin = Tenure::Metal->new($operator, '1.82');
my %by    = map { $_->[0] => Tenure::Metal->new($instance->combined("$_->[0]:$_->[1]:$_->[2]"), '1.82') }
    ['ann', 'acme', 'admin'], ['amy', 'acme', 'member'], ['ada', 'acme', 'reader'], ['bob', 'globex', 'admin'];
my $none   = '00000000-0000-4000-8000-000000000000';
my $serial = 0;

sub mac { return sprintf '52:54:00:00:00:%02x', $serial++ }

# A node with a port group and two ports, one of them in it.
sub tree {
    my ($who, %content) = @_;
    my $node  = $who->make('nodes', { driver => 'fake-hardware', %content });
    my $group = $who->make('portgroups', { node_uuid => $node->{uuid}, name => "pg-$serial" });
    my @ports = map { $who->make('ports', { node_uuid => $node->{uuid}, address => mac(), $_
        ? (portgroup_uuid => $group->{uuid}) : () }) } 0, 1;
    return { node => $node, group => $group, ports => \@ports,
        paths => ["/nodes/$node->{uuid}", "/portgroups/$group->{uuid}", map { "/ports/$_->{uuid}" } @ports] };
}

# The tenants that a tree's resources are in, each once.
sub homes {
    my ($tree) = @_;
    my $uids = join ', ', map { m{/([^/]+)\z} ? "'$1'" : () } @{ $tree->{paths} };
    return join ' ', map { $_->[0] } $instance->sql(<<"SQL");
SELECT CONCAT(t.name, ':', COUNT(*)) FROM resources r JOIN tenants t ON t.id = r.tenant_id
WHERE r.live = 1 AND r.name IN ($uids) GROUP BY t.name ORDER BY t.name
SQL
}

sub uuids { my ($response, $kind) = @_; return join ' ', sort map { $_->{uuid} } @{ $response->json->{$kind} // [] } }

subtest 'an operator makes nodes for tenants' => sub {
    is homes(tree($admin)), 'system:4', 'for nobody: they are the operator\'s';
    is homes(tree($admin, owner => undef)), 'system:4', 'said by null';
    is homes(tree($admin, owner => 'acme')), 'acme:4', 'for one that is there';
    is homes(tree($admin, owner => 'brand new')), 'brand new:4', 'for one that is not, yet';
    is_fault($admin->post('/nodes', json => { driver => 'fake-hardware', owner => $_ }), 400, undef, 'no tenant: '
        . substr $_, 0, 10) for '', 'a/b', '..', 'x' x 256;
    $operator->make_tenant('gone');
    $operator->delete('/v2.0/gone')->is_status(204);
    is_fault($admin->post('/nodes', json => { driver => 'fake-hardware', owner => 'gone' }), 409, undef,
        'one that is deleted');
};

subtest 'a tenant makes its own' => sub {
    my $tree = tree($by{ann});
    is homes($tree), 'acme:4', 'they are its own';
    is $tree->{node}{owner}, 'acme', 'and say so';
    is homes(tree($by{ann}, owner => 'acme')), 'acme:4', 'said, or not';
    is_fault($by{ann}->post('/nodes', json => { driver => 'fake-hardware', owner => 'globex' }), 403, qr/owner/,
        'but no other\'s');
    is_fault($by{amy}->post('/nodes', json => { driver => 'fake-hardware' }), 403, undef, 'that takes an admin');
    is_fault($by{ann}->post('/nodes', json => { driver => 'fake-hardware', $_->[0] => $_->[1] }), 403, qr/$_->[0]/,
        "and not $_->[0]")
        for ['conductor_group', 'x'], ['shard', 'x'], ['chassis_uuid', $none];
    my $foreign = tree($by{bob});
    is_fault($by{ann}->post('/ports', json => { address => mac(), node_uuid => $foreign->{node}{uuid} }), 400,
        qr/Node \S+ could not be found/, 'no port on another\'s node');
    is_fault($by{ann}->post('/ports', json => { address => mac(), node_uuid => $tree->{node}{uuid},
        portgroup_uuid => $foreign->{group}{uuid} }), 400,
        qr/Portgroup \S+ could not be found/, 'nor in another\'s group');
    is_fault($by{ann}->post('/nodes', json => { driver => 'fake-hardware', uuid => $foreign->{node}{uuid} }), 409,
        qr/UUID/, 'nor with its UUID');
};

subtest 'tenants see their own' => sub {
    my ($mine, $theirs, $nobodys) = (tree($by{ann}, name => 'mine'), tree($by{bob}, name => 'theirs'), tree($admin,
        name => 'nobodys'));
    for my $tree ($theirs, $nobodys) {
        for my $path (@{ $tree->{paths} }) {
            my $count = $instance->change_count;
            is_fault($by{ann}->get($path), 404, qr/could not be found/, 'GET of another\'s');
            is_fault($by{ann}->patch($path, [[add => '/extra/a', 1]]), 404, qr/could not be found/, 'PATCH');
            is_fault($by{ann}->delete($path), 404, qr/could not be found/, 'DELETE');
            is $instance->change_count, $count, 'nothing happened';
        }
    }
    is_fault($by{ann}->get("/nodes/theirs$_"), 404, undef, "by name$_") for '', '/ports', '/states', '/traits';
    is_fault($by{ann}->patch('/nodes/theirs', [[add => '/owner', 'acme']]), 403, undef, 'nor is it taken');
    for my $kind ('nodes', 'ports', 'portgroups') {
        my @all = map { $_->[0] } $instance->sql(<<"SQL");
SELECT r.name FROM resources r JOIN tenants t ON t.id = r.tenant_id JOIN types y ON y.id = r.type_id
WHERE t.name = 'acme' AND y.plural = '$kind' AND r.live = 1
SQL
        for my $path ("/$kind", "/$kind/detail", "/$kind?sort_key=uuid&limit=1000") {
            is uuids($by{ada}->get($path), $kind), join(' ', sort @all), "$path lists those alone";
        }
    }
    is uuids($by{ada}->get('/nodes?owner=acme'), 'nodes'), uuids($by{ada}->get('/nodes'), 'nodes'), 'asked by owner';
    is uuids($by{ada}->get('/nodes?project=acme'), 'nodes'), uuids($by{ada}->get('/nodes'), 'nodes'), 'by project';
    is uuids($by{ada}->get("/nodes?$_"), 'nodes'), '', $_ for 'owner=globex', 'owner=system', 'owner=nosuch',
        'project=globex';
    is_fault($by{ada}->get('/ports?node=theirs'), 404, undef, 'another\'s node does not exist in filters');
    is_fault($by{ada}->get("/ports?portgroup=$theirs->{group}{uuid}"), 404, undef, 'nor its groups');
    is uuids($by{ada}->get("/ports?address=$theirs->{ports}[0]{address}"), 'ports'), '', 'nor its addresses';
    is_fault($by{ada}->get("/nodes?marker=$theirs->{node}{uuid}"), 404, undef, 'nor as a marker');
    is scalar(grep { $_->{uuid} eq $theirs->{node}{uuid} } @{ $admin->get('/nodes')->json->{nodes} }), 1,
        'the operator sees all';
    is_fault($by{ann}->patch('/nodes/mine', [[add => '/name', 'theirs']]), 409, qr/already exists/,
        'names are one space for all');
};

subtest 'roles' => sub {
    my $tree = tree($by{ann}, name => 'roles');
    $by{ada}->get('/nodes/roles')->is_status(200, 'a reader reads');
    is_fault($by{ada}->patch('/nodes/roles', [[add => '/extra/a', 1]]), 403, undef, 'and does not write');
    $by{amy}->patch('/nodes/roles', [[add => '/extra/a', 1]])->is_status(200, 'a member does');
    is_fault($by{amy}->delete('/nodes/roles'), 403, undef, 'and does not delete nodes');
    $by{amy}->delete("/ports/$tree->{ports}[0]{uuid}")->is_status(204, 'but ports');
    is_fault($by{ann}->patch('/nodes/roles', [[add => "/$_->[0]", $_->[1]]]), 403, qr/$_->[0]/,
        "for operators: $_->[0]")
        for ['owner', 'globex'], ['owner', 'acme'], ['owner', undef], ['conductor_group', 'x'], ['shard', 'x'],
            ['chassis_uuid', $none];
    is_fault($by{ann}->request('PATCH', '/nodes/roles', json => [{ op => 'copy', from => '/name', path => '/owner' }]),
        403, qr/owner/, 'by copy, too');
    $by{ann}->request('PATCH', '/nodes/roles', json => [{ op => 'test', path => '/owner', value => 'acme' },
        { op => 'add', path => '/extra/b', value => 1 }])
        ->is_status(200, 'who looks at the owner gives nothing away');
    for my $call (['GET', '/chassis'], ['GET', '/chassis/detail'], ['POST', '/chassis'], ['GET', "/chassis/$none"],
        ['GET', "/chassis/$none/nodes"]) {
        is_fault($by{ann}->request(@$call, $call->[0] eq 'POST' ? (json => {}) : ()), 403, undef,
            "chassis are the operator's: @$call");
    }
    my $chassis = $admin->make('chassis', {});
    $admin->patch('/nodes/roles', [[add => '/chassis_uuid', $chassis->{uuid}]])->is_status(200,
        'who puts nodes into them');
    is $by{ann}->get('/nodes/roles')->json->{chassis_uuid}, $chassis->{uuid}, 'as their tenants see';
    is uuids($by{ann}->get("/nodes?chassis_uuid=$chassis->{uuid}"), 'nodes'), $tree->{node}{uuid}, 'and may ask for';
    is uuids($by{ann}->get("/nodes?chassis_uuid=$none"), 'nodes'), '', 'without being told which there are';
    $by{ann}->patch('/nodes/roles', [[add => '/extra/c', 1]])->is_status(200, 'what is set does not hinder them');
};

subtest 'a reader of everything' => sub {
    my ($mine, $nobodys) = (tree($by{ann}, name => 'seen'), tree($admin, name => 'seen-too', shard => 'rack'));
    my $chassis = $admin->make('chassis', {});
    $admin->patch('/nodes/seen', [[add => '/chassis_uuid', $chassis->{uuid}]])->is_status(200);
    # Beside it one whose tenant is default_tenant, which is no bound for what he reads.
    my $other = Tenure::Instance->start(combined => 1, settings => { 'tenure.default_tenant' => 'home' });
    my $far   = Tenure::Metal->new($other->admin, '1.82')->make('nodes', { driver => 'fake-hardware', owner => 'away' });
    my %scope = (headers => { 'X-Roles' => 'reader', 'OpenStack-System-Scope' => 'all' });
    my $elsewhere = Tenure::Metal->new($other->combined('auditor'), '1.82');
    is uuids($elsewhere->get('/nodes', %scope), 'nodes'), $far->{uuid}, 'with default_tenant he lists the nodes of all tenants';
    $elsewhere->get("/nodes/$far->{uuid}", %scope)->is_status(200, '... and reads each');
    $other->stop;
    my $auditor = Tenure::Metal->new($instance->combined('auditor'), '1.82');
    for my $path (@{ $mine->{paths} }, @{ $nobodys->{paths} }, "/chassis/$chassis->{uuid}") {
        my $count = $instance->change_count;
        $auditor->get($path, %scope)->is_status(200, "GET $path");
        is_fault($auditor->patch($path, [[add => '/extra/a', 1]], %scope), 403, undef, '... no PATCH');
        is_fault($auditor->delete($path, %scope), 403, undef, '... no DELETE');
        is $instance->change_count, $count, '... nothing happened';
    }
    is_fault($auditor->post('/nodes', json => { driver => 'fake-hardware' }, %scope), 403, undef, 'he makes none');
    for my $list ('nodes', 'ports', 'portgroups', 'chassis', 'nodes?owner=acme', 'nodes?project=globex', 'nodes?limit=3',
        "nodes?chassis_uuid=$chassis->{uuid}", 'nodes/seen/ports', 'shards', 'allocations', 'allocations?owner=acme', 'nodes/seen/history') {
        my ($its, $theirs) = map { $_->is_status(200); $_->json } $auditor->get("/$list", %scope), $admin->get("/$list");
        for my $answer ($its, $theirs) { # addresses tell of the endpoint
            delete $answer->{next};
            for (map { ref $_ eq 'ARRAY' ? @$_ : () } values %$answer) { delete $_->{links} }
        }
        is_deeply $its, $theirs, "/$list is the operator's";
    }
    is_fault($auditor->get("/nodes?chassis_uuid=$none", %scope), 404, qr/Chassis/, 'a chassis that is not there');
};

subtest 'roles, by the other dialects' => sub {
    my $uuid = tree($by{ann}, name => 'elsewhere')->{node}{uuid};
    my ($amy, $ann) = map { $instance->combined("$_->[0]:acme:$_->[1]") } ['amy', 'member'], ['ann', 'admin'];
    my ($at, $spaces) = ('/v2.0/acme/nodes', '/apis/baremetal.openstack.org/v1/nodes');
    my $refused = sub {
        my ($answer, $what) = @_;
        $answer->is_status(403, $what);
        like $answer->json->{detail} // $answer->json->{message}, qr/\bthe role admin\b/, '... naming the role';
    };
    $amy->patch("$at/$uuid", { extra => { a => 1 } })->is_status(200, 'a member patches a node');
    $amy->put("$at/$uuid", json => $amy->get("$at/$uuid")->json)->is_status(200, 'and puts one that is there');
    $amy->put("$at/$uuid/traits/HW_CPU_X86_AVX")->is_status(204, 'with its traits');
    $refused->($amy->put("$at/$none", json => { driver => 'fake-hardware' }), 'but makes none');
    $refused->($amy->put("/v1.0/acme/nodes/$none", json => { driver => 'fake-hardware' }), 'as an account neither');
    $refused->($amy->delete("$at/$uuid"), 'nor deletes one');
    $amy->patch("$spaces/$uuid", { extra => { a => 2 } })->is_status(200, 'kubectl patches one, too');
    $refused->($amy->delete("$spaces/$uuid"), 'deletes none');
    $refused->($amy->post($spaces, json => { metadata => { name => $none }, driver => 'fake-hardware' }), 'and makes none');
    my $made = $ann->put("$at/$none", json => { driver => 'fake-hardware' });
    $made->is_status(201, 'an admin makes one');
    $amy->post('/v2.0/acme/changes/' . $made->request_id . '/undo', body => '')->is_problem(403, 'forbidden', 'which a member does not take back');
    my $deleted = $ann->delete("$at/$none");
    $deleted->is_status(204, 'an admin deletes it');
    $amy->post('/v2.0/acme/changes/' . $deleted->request_id . '/undo', body => '')->is_problem(403, 'forbidden', 'nor that');
    $refused->($amy->post("$at/$none/action/recover"), 'nor recovers it');
    $ann->post("$at/$none/action/recover")->is_status(204, 'as an admin does');
    $ann->delete("$at/$_")->is_status(204) for $none, $uuid;
};

subtest 'the owner changes' => sub {
    my $tree   = tree($admin, owner => 'acme', name => 'given', extra => { a => 1 });
    my $before = $admin->get('/nodes/given')->json;
    my $patch  = $admin->patch('/nodes/given', [[add => '/extra/b', 2], [replace => '/owner', 'globex'],
        [add => '/name', 'taken']]);
    $patch->is_status(200);
    is homes($tree), 'globex:4', 'ports and port groups go along';
    is_deeply [@{ $patch->json }{qw(owner name uuid extra created_at)}], ['globex', 'taken', $before->{uuid},
        { a => 1, b => 2 }, $before->{created_at}],
        'the rest of the patch is done with it';
    isnt $patch->json->{etag}, $before->{etag}, 'it has a new tag';
    is_deeply $by{bob}->get('/nodes/taken')->json, { %{ $patch->json }, links_of($by{bob}, $patch->json) },
        'the one that its new owner sees';
    $by{bob}->get($_)->is_status(200, "there is $_") for @{ $tree->{paths} };
    is_fault($by{ann}->get($_), 404, undef, 'gone for the old one') for @{ $tree->{paths} }, '/nodes/given',
        '/nodes/taken';
    is uuids($by{bob}->get('/nodes/taken/ports'), 'ports'), join(' ', sort map { $_->{uuid} } @{ $tree->{ports} }),
        'with its ports';
    $by{bob}->patch('/nodes/taken', [[add => '/extra/c', 3]])->is_status(200, 'and can be changed there');
    my @changes = $instance->changes_of($patch);
    ok List::Util::any(sub { $_->{verb} =~ /moved/ && ($_->{from_tenant} // '') eq 'acme' && $_->{tenant} eq 'globex' },
        @changes), 'the change log tells of the move';
    is $admin->patch('/nodes/taken', [[remove => '/owner']])->json->{owner}, undef, 'nobody\'s';
    is homes($tree), 'system:4', 'is the operator\'s';
    is $admin->patch('/nodes/taken', [[add => '/owner', 'third']])->json->{owner}, 'third',
        'one that was not there is made';
    is homes($tree), 'third:4', 'and has it';
    is $admin->patch('/nodes/taken', [[add => '/owner', 'system']])->json->{owner}, undef,
        'by the name of the operator\'s tenant';
    $admin->request('PATCH', '/nodes/taken', json => [{ op => 'add', path => '/extra/heir', value => 'acme' },
        { op => 'copy', from => '/extra/heir', path => '/owner' }])
        ->is_status(200, 'copied from elsewhere');
    is homes($tree), 'acme:4', 'it is meant all the same';
};

# The links of an object as another endpoint has them.
sub links_of {
    my ($who, $object) = @_;
    my $mine = $who->get("/nodes/$object->{uuid}")->json;
    return map { $_ => $mine->{$_} } qw(links ports portgroups states volume);
}

subtest 'the owner does not change' => sub {
    my $tree  = tree($admin, owner => 'acme', name => 'kept');
    my $whole = $admin->get('/nodes/kept')->json;
    my $count = $instance->change_count;
    is_deeply $admin->patch('/nodes/kept', [[add => '/owner', 'acme']])->json, $whole, 'given to the one that has it';
    is_fault($admin->patch('/nodes/kept', [[add => '/owner', $_]]), 400, undef, 'to no tenant') for '', 'a/b',
        'x' x 256, 5, {};
    is_fault($admin->patch('/nodes/kept', [[add => '/owner', 'gone']]), 409, undef, 'to one that is deleted');
    is_fault($admin->patch('/nodes/kept', [[add => '/owner', 'globex'], [remove => '/extra/none']]), 400,
        qr/Couldn't apply patch/, 'when the rest fails');
    is_fault($admin->patch('/nodes/kept', [[add => '/owner', 'globex'], [add => '/name', 'a b']]), 400, qr/name/,
        'when the rules refuse the rest');
    is_fault($admin->patch('/nodes/kept', [[add => '/owner', 'never']], if_match => 'W/"' . '0' x 128 . '"'), 412,
        undef, 'when the precondition fails');
    is_fault($admin->patch('/nodes/kept', [[add => '/owner', 'never'], [add => '/driver', 'nosuch']]), 400, undef,
        'with a tenant that would have been made');
    $operator->get('/v2.0/never')->is_status(404, 'which is not');
    $instance->sql('INSERT INTO tiers (name, max_resources) VALUES (\'tiny\', 2)');
    $operator->put('/v2.0/small', json => { tenant => { tier => 'tiny' } })->is_status(201);
    is_fault($admin->patch('/nodes/kept', [[add => '/owner', 'small']]), 409, undef,
        'to one that has no room for all of it');
    is homes($tree), 'acme:4', 'all is where it was';
    is_deeply $admin->get('/nodes/kept')->json, $whole, 'as it was';
};

subtest 'the old address leads on' => sub {
    my $tree = tree($admin, owner => 'acme');
    my $url  = "/v2.0/acme/nodes/$tree->{node}{uuid}";
    $operator->get($url)->is_status(200);
    $admin->patch("/nodes/$tree->{node}{uuid}", [[add => '/owner', 'globex']])->is_status(200);
    my $get = $operator->get($url);
    $get->is_status(301, 'as after any move');
    is $operator->path_of($get->location), "/v2.0/globex/nodes/$tree->{node}{uuid}", 'to the new one';
    is $operator->get("/v2.0/globex/nodes/$tree->{node}{uuid}")->json->{metadata}{etag},
        $admin->get("/nodes/$tree->{node}{uuid}")->json->{etag}, 'with the same tag';
    $operator->post("/v2.0/globex/nodes/$tree->{node}{uuid}/action/move?dest=acme")->is_status(303, 'a move');
    is $admin->get("/nodes/$tree->{node}{uuid}")->json->{owner}, 'acme', 'changes the owner';
    is homes($tree), 'acme:4', 'of all of it';
};

subtest 'many at once' => sub {
    my $tree   = tree($admin, owner => 'acme', name => 'busy');
    my @owners = ('acme', 'globex', undef, 'third');
    my @told   = Tenure::Parallel::run(6, sub {
        my ($client) = @_;
        my $done = 0;
        for my $i (0 .. 14) {
            my @patch = $client < 2 ? ([add => '/owner', $owners[($client + $i) % 4]], [add => "/extra/o$client-$i", 1])
                : ([add => "/extra/k$client-$i", 1]);
            for my $try (1 .. 200) {
                my $answer = $admin->patch('/nodes/busy', \@patch);
                $done++, last if $answer->status == 200;
                die $answer->describe . "\n" if $answer->status !~ /\A(?:409|503)\z/;
                select undef, undef, undef, 0.02 * rand;
            }
        }
        return $done;
    });
    is_deeply \@told, [(15) x 6], 'owners and others: all were served';
    my $node = $admin->get('/nodes/busy')->json;
    is scalar keys %{ $node->{extra} }, 90, 'no change is lost';
    is homes($tree), ($node->{owner} // 'system') . ':4', 'all of it is at one place';
    my ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'the registry is sound' or diag $text;
};

done_testing;
