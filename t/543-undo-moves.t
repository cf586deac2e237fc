#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo of moves: what a move took is back exactly as it was, whole or not at all; the undo of the undo; and every reason against it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Undo qw(undo_path reasons);

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;
$instance->sql("INSERT INTO tiers (name, max_resources) VALUES ('few', 2)");
$admin->make_tenant($_) for qw(t1 t2);
my $at = '/v2.0/%s/namespaces/default/configmaps/%s';

sub path { return sprintf $at, @_ }
sub undo { my ($response, $tenant, %more) = @_; return $admin->post(undo_path($tenant, $response), %more) }
sub move { my ($from, $to) = @_; my $moved = $admin->post("$from/action/move?dest=$to"); $moved->is_status(303, "move $from"); return $moved }
sub made { my ($tenant, $name, $data) = @_; return $admin->make(path($tenant, $name), { data => $data // { n => 'x' } }) }

# What a client sees of resources but for the revision, which each move raises. The content is the same, and so is its etag.
sub kept { my ($doc) = @_; my %meta = %{ $doc->{metadata} }; delete $meta{resourceVersion}; return { %$doc, metadata => \%meta } }

sub counts { return map { $admin->get("/v2.0/$_")->json->{tenant}{resources} } @_ }

subtest 'one resource' => sub {
    my $made    = made('t1', 'a');
    my $tag     = $admin->get(path('t1', 'a') . '/action/move?dest=t2')->etag;
    my $moved   = move(path('t1', 'a'), 't2');
    my $preview = $admin->get(undo_path('t1', $moved));
    $preview->is_status(200);
    my ($item) = @{ $preview->json->{items} };
    is_deeply [@$item{qw(resource action)}, @{ $preview->json }{qw(from to changes)}], ['namespaces/default/configmaps/a', 'move', 't2', 't1', 1], 'what would be done';
    is_deeply [$item->{restored}, $preview->json->{blockers}], [$item->{now}, []], 'as it is';
    is $admin->get(undo_path('t2', $moved))->json->{to}, 't1', 'by either tenant';
    $admin->get(path('t2', 'a'))->is_status(200, 'the preview moves nothing');
    undo($moved, 't1', if_match => '"0000000000000000000000000000000000000000"')->is_status(412);
    my $undone = undo($moved, 't1', if_match => $preview->etag);
    $undone->is_status(200);
    my $back = $admin->get(path('t1', 'a'));
    is_deeply kept($back->json), kept($made->json), 'exactly what was, the uid too';
    is $back->json->{metadata}{resourceVersion}, 3, 'under a new revision';
    $admin->post(path('t1', 'a') . '/action/move?dest=t2', if_match => $tag)->is_status(412, '... so that a preview of before stays stale');
    my $left = $admin->get(path('t2', 'a'));
    $left->is_status(301, 'who learnt the address between is led back');
    is $admin->path_of($left->header('location')), path('t1', 'a'), '... to where it is';
    $instance->service('eve:t2:member')->get(path('t2', 'a'))->is_status(404, '... if he may read it');
    my ($row) = $instance->changes_of($undone);
    is $row->{verb}, 'moved', 'it is a move';
    is_deeply reasons(undo($moved, 't1')), ['changed-since'], 'once more';
    undo($undone, 't2')->is_status(200, 'the undo of the undo');
    is_deeply kept($admin->get(path('t2', 'a'))->json)->{data}, { n => 'x' }, 'is the move again';
    $admin->get(path('t1', 'a'))->is_status(301);
};

# The log is purged in pieces, which may end amid a request.
subtest 'of which not all is known any more' => sub {
    $admin->make_tenant($_) for qw(half rest);
    made('half', $_) for qw(a b c);
    my $moved   = $admin->post('/v2.0/half/action/move?dest=rest');
    $moved->is_status(303);
    my $request = "request_id = UNHEX('" . $moved->header('x-request-id') =~ s/-//gr . "')";
    my $count   = (counts('rest'))[0];
    $instance->sql("CREATE TABLE kept AS SELECT * FROM changes WHERE $request; "
        . "UPDATE changes SET at = at - INTERVAL 365 DAY WHERE $request; DELETE FROM changes WHERE $request ORDER BY id LIMIT 1");
    my $preview = $admin->get(undo_path('half', $moved));
    $preview->is_status(200);
    is_deeply [map { $_->{reason} } @{ $preview->json->{blockers} }], ['not-kept'], 'the preview says so';
    my $refused = undo($moved, 'half');
    $refused->is_status(409);
    is_deeply reasons($refused), ['not-kept'], 'nothing is taken back';
    is_deeply [counts('half', 'rest')], [0, $count], '... not even a part';
    $instance->sql("DELETE FROM changes WHERE $request; INSERT INTO changes SELECT * FROM kept; DROP TABLE kept");
};

subtest 'who may' => sub {
    made('t1', 'who');
    my $moved = move(path('t1', 'who'), 't2');
    for my $who (qw(boss:t1:admin boss:t2:admin)) {
        my ($tenant) = $who =~ /:(t\d):/;
        $instance->service($who)->post(undo_path($tenant, $moved))->is_status(403, $who);
        $instance->service($who)->get(undo_path($tenant, $moved))->is_status(403, "$who: the preview");
    }
    $admin->make_tenant('t0');
    undo($moved, 't0')->is_status(404, 'a tenant that has nothing to do with it');
};

subtest 'what is in the way' => sub {
    made('t1', 'changed');
    my $moved = move(path('t1', 'changed'), 't2');
    $admin->put(path('t2', 'changed'), json => { data => {} });
    my $refused = undo($moved, 't1');
    $refused->is_status(409);
    is_deeply reasons($refused), ['changed-since'], 'it was changed';
    like $refused->text, qr/it was updated by/, '... by whom';
    made('t1', 'taken');
    $moved = move(path('t1', 'taken'), 't2');
    made('t1', 'taken');
    is_deeply reasons(undo($moved, 't1')), ['name-taken'], 'the old name is taken';
    is_deeply reasons($admin->get(undo_path('t1', $moved))), ['name-taken'], '... and the preview says so';
    made('t1', 'deleted');
    $moved = move(path('t1', 'deleted'), 't2');
    my $deleted = $admin->delete(path('t2', 'deleted'));
    is_deeply reasons(undo($moved, 't1')), ['changed-since'], 'it was deleted';
    undo($deleted, 't2')->is_status(200);
    is_deeply reasons(undo($moved, 't1')), ['changed-since'], '... and recovered: that has to be taken back, too';
    made('t1', 'on');
    $moved = move(path('t1', 'on'), 't2');
    my $on = move(path('t2', 'on'), 't0');
    is_deeply reasons(undo($moved, 't1')), ['changed-since'], 'it moved on';
    undo($on, 't0')->is_status(200, 'the second move is taken back');
    $admin->get(path('t2', 'on'))->is_status(200);
    $admin->make('/v2.0/t1/namespaces/side');
    $admin->make('/v2.0/t2/namespaces/side');
    $admin->make('/v2.0/t1/namespaces/side/configmaps/c');
    $moved = move('/v2.0/t1/namespaces/side/configmaps/c', 't2');
    $admin->delete('/v2.0/t1/namespaces/side');
    is_deeply reasons(undo($moved, 't1')), ['namespace-missing'], 'its namespace is gone';
};

subtest 'the tenants' => sub {
    $admin->make_tenant('f', tier => 'few');
    $admin->make(path('f', "q$_")) for 1, 2;
    my $moved = move(path('f', 'q1'), 't2');
    $admin->make(path('f', 'q3'));
    is_deeply reasons(undo($moved, 'f')), ['quota'], 'no room any more';
    $admin->delete(path('f', 'q3'));
    $admin->delete('/v2.0/f');
    is_deeply reasons(undo($moved, 't2')), ['gone'], 'whose it was is deleted';
    undo($moved, 'f')->is_status(410, '... asked by that one');
    $admin->post('/v2.0/f/action/recover')->is_status(204);
    undo($moved, 't2')->is_status(200, 'recovered');
    is_deeply [counts('f')], [2], 'counted';
};

subtest 'a namespace, and all of a tenant' => sub {
    $admin->make_tenant($_) for qw(s d);
    $admin->make("/v2.0/s/namespaces/$_") for qw(n both);
    $admin->make('/v2.0/d/namespaces/both');
    $admin->make("/v2.0/s/namespaces/n/configmaps/c$_") for 1 .. 3;
    my $space = move('/v2.0/s/namespaces/n', 'd');
    $admin->make('/v2.0/d/namespaces/n/configmaps/later');
    my $refused = undo($space, 's');
    is_deeply reasons($refused), ['not-empty'], 'what was added since would stay behind';
    is $refused->json->{blockers}[0]{resource}, 'namespaces/n/configmaps/later', '... and is named';
    $admin->delete('/v2.0/d/namespaces/n/configmaps/later');
    undo($space, 's')->is_status(200, 'a namespace');
    $admin->get("/v2.0/s/namespaces/n/configmaps/c$_")->is_status(200) for 1, 3;

    $admin->make('/v2.0/s/namespaces/both/configmaps/mine');
    $admin->make('/v2.0/d/namespaces/both/configmaps/theirs');
    $admin->make(path('s', 'in-default'));
    my @all    = map { "/v2.0/s/$_" } qw(namespaces/n namespaces/n/configmaps/c1 namespaces/both namespaces/both/configmaps/mine namespaces/default/configmaps/in-default);
    my @before = map { kept($admin->get($_)->json) } @all;
    my @counts = counts(qw(s d));
    my $moved  = move('/v2.0/s', 'd');
    is_deeply [counts('s')], [0], 'all moved';
    my $preview = $admin->get(undo_path('s', $moved));
    is_deeply $preview->json->{blockers}, [], 'nothing is in the way';
    my $undone = undo($moved, 's', if_match => $preview->etag);
    $undone->is_status(200, 'all of a tenant');
    is_deeply [map { kept($admin->get($_)->json) } @all], \@before, 'all is what it was, a namespace that was merged, too';
    is_deeply [counts(qw(s d))], \@counts, 'in numbers, too';
    $admin->get('/v2.0/d/namespaces/both/configmaps/theirs')->is_status(200, 'what was there before stays');
    $admin->get('/v2.0/d/namespaces/n')->is_status(301);
    my $again = undo($undone, 's');
    $again->is_status(200, 'the undo of the undo');
    is_deeply [counts('s')], [0], 'moves and merges all again';
    $admin->get('/v2.0/s/namespaces/both')->is_status(301);
    $admin->get('/v2.0/d/namespaces/both/configmaps/mine')->is_status(200);
    undo($again, 'd')->is_status(200, 'and back');
    is_deeply [map { kept($admin->get($_)->json) } @all], \@before, 'once more';
    $moved = move('/v2.0/s', 'd');
    $admin->make('/v2.0/s/namespaces/n');
    is_deeply reasons(undo($moved, 's')), ['name-taken'], 'a namespace of that name was made';
};

# As for a move of its own: nothing would end the namespace once that is gone elsewhere.
# Such a move moves no resource: the namespace that the other tenant has, too, is deleted.
subtest 'a move that merges empty namespaces alone' => sub {
    for my $all (0, 1) {
        my ($from, $to) = map { "$_-$all" } 'merges', 'merged';
        $admin->make_tenant($_) for $from, $to;
        my $empty = $admin->make("/v2.0/$from/namespaces/x");
        $admin->make("/v2.0/$to/namespaces/x");
        my $moved = move("/v2.0/$from" . ($all ? '' : '/namespaces/x'), $to);
        is_deeply [map { $_->{verb} } $instance->changes_of($moved)], ['deleted'], 'the log has a deletion alone';
        for my $tenant ($from, $to) {
            my $preview = $admin->get(undo_path($tenant, $moved));
            $preview->is_status(200, "undone in $tenant, it is a move");
            is_deeply [@{ $preview->json }{qw(from to blockers)}, $preview->json->{items}[0]{action}], [$to, $from, [], 'move'], '... back';
            $instance->service("boss:$tenant:admin")->get(undo_path($tenant, $moved))->is_status(403, '... by operators');
        }
        $instance->service("boss:$from:admin")->post(undo_path($from, $moved))->is_status(403);
        undo($moved, 't1')->is_status(404, 'a tenant that has nothing to do with it');
        my $undone = undo($moved, $to);
        $undone->is_status(200);
        is_deeply kept($admin->get("/v2.0/$from/namespaces/x")->json), kept($empty->json), 'the namespace is back';
        $admin->get("/v2.0/$to/namespaces/x")->is_status(200, '... and the other one is where it was');
        for my $tenant ($from, $to) {
            my @moves = map { [@$_{qw(source dest)}] } $admin->list("/v2.0/$tenant/moves", 'moves');
            is_deeply [sort map { "@$_" } @moves], [sort "$from $to", "$to $from"], "$tenant lists both moves";
        }
        undo($undone, $from)->is_status(200, 'the undo of the undo');
        $admin->get("/v2.0/$from/namespaces/x")->is_status(301, 'merges it again');
        undo($moved, $from)->is_status(409, 'the first one cannot be taken back twice');
    }
};

subtest 'a namespace that waits for what would move back' => sub {
    $admin->make_tenant($_) for 'left', 'ends';
    $admin->make("/v2.0/$_/namespaces/n") for 'left', 'ends';
    my $held = '/v2.0/%s/namespaces/n/configmaps/held';
    $admin->put(sprintf($held, 'left'), json => { metadata => { finalizers => ['example.com/x'] } })->is_status(201);
    $admin->delete(sprintf $held, 'left')->is_status(202, 'it waits by itself');
    my $moved = move(sprintf($held, 'left'), 'ends');
    is_deeply $admin->get(undo_path('left', $moved))->json->{blockers}, [], 'it may go back';
    $admin->delete('/v2.0/ends/namespaces/n')->is_status(202, 'its namespace waits for it');
    is_deeply reasons($_), ['namespace-terminating'], 'so it stays there' for $admin->get(undo_path('left', $moved)), undo($moved, 'left');
    $admin->patch(sprintf($held, 'ends'), { metadata => { finalizers => undef } })->is_status(200);
    $admin->get('/v2.0/ends/namespaces/n')->is_status(410, 'and takes the namespace with it');
};

subtest 'a node with its ports' => sub {
    my $metal = $instance->combined('admin');
    my %new   = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
    my $node  = $metal->post('/baremetal/v1/nodes', %new, json => { driver => 'fake-hardware', owner => 't1' })->json->{uuid};
    my $port  = $metal->post('/baremetal/v1/ports', %new, json => { node_uuid => $node, address => '52:54:00:00:00:01' })->json->{uuid};
    my $owner = sub { $metal->get("/baremetal/v1/nodes/$node", %new)->json->{owner} };
    my $moved = move("/v2.0/t1/nodes.baremetal.openstack.org/$node", 't2');
    is $owner->(), 't2', 'moved';
    my $more = $metal->post('/baremetal/v1/ports', %new, json => { node_uuid => $node, address => '52:54:00:00:00:02' })->json->{uuid};
    ok scalar(grep { $_ eq 'not-empty' } @{ reasons(undo($moved, 't1')) }), 'a port that was added since';
    is $owner->(), 't2', 'nothing moved';
    $metal->delete("/baremetal/v1/ports/$more", %new)->is_status(204);
    my $undone = undo($moved, 't1');
    $undone->is_status(200) or diag $undone->text;
    is $owner->(), 't1', 'back';
    $metal->get("/baremetal/v1/ports/$port", %new)->is_status(200, 'with its port');
    undo($undone, 't1')->is_status(200);
    is $owner->(), 't2', 'and there again';
};
is((($instance->manage('doctor'))[0]), 0, 'the stored data keep their promises');
$instance->stop;
done_testing;
