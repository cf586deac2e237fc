#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo of the deletion of a namespace, or of a node, with more than 20,000 resources: a preview that keeps nothing of each, 202, and the mover
# recovers all of it or nothing; the undo of the undo, which deletes all again; every reason against either, in the preview and when it is
# carried out; a mover that is killed; who may do it and follow it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Parallel;
use Tenure::Tool;
use Tenure::Undo qw(blockers blocked);

my $many     = $ENV{TENURE_UNDO_MANY} // 20_500;
my $instance = Tenure::Instance->start(combined => 1, settings => { 'tenure.request_memory' => '16M' });
my $admin    = $instance->admin;
my $tool     = Tenure::Tool->new(url => $instance->env('TENURE_COMBINED_URL'), token => $instance->operator_token, tenant => 'acme');
my $types    = { map { $_->[0] => $_->[1] } $instance->sql(q(SELECT plural, id FROM types WHERE builtin)) };

sub undo_path { my ($request) = @_; return Tenure::Undo::undo_path('acme', $request) }
sub preview { my ($request) = @_; return $admin->get(undo_path($request)) }
sub undo { my ($request, @more) = @_; return $admin->post(undo_path($request), @more) }
sub reasons { my %seen; $seen{ $_->{reason} }++ for blockers($_[0]); return \%seen }
sub counted { return 0 + $admin->get('/v2.0/acme')->json->{tenant}{resources} }
sub live { my $id = $instance->tenant_id('acme'); return 0 + $instance->sql_value("SELECT COUNT(*) FROM resources WHERE tenant_id = $id AND live = 1") }

# All that live resources of the tenant are, as one number; and how many they are. A namespace that was deleted in the background keeps the change
# that marked it.
sub content {
    my $id = $instance->tenant_id('acme');
    my ($row) = $instance->sql("SELECT COUNT(*), COALESCE(BIT_XOR(CONV(LEFT(MD5(CONCAT_WS('/', HEX(uid), type_id, namespace, name, IF(type_id = $types->{namespaces}, '', CONCAT_WS('/', HEX(etag), edits, revision)), meta, body)), 15), 16, 10)), 0)
  FROM resources WHERE tenant_id = $id AND live = 1");
    return "@$row";
}

sub deleted {
    my ($path, $name) = @_;
    my $deleted = $admin->delete($path);
    $deleted->is_status(202, $name) or diag $deleted->text;
    ok Tenure::Instance::wait_until(sub { $admin->get($path)->status == 410 }, 120), '... is done in the background';
    return $deleted;
}

sub done {
    my ($accepted, $name, $end) = @_;
    $accepted->is_status(202, $name) or diag $accepted->text;
    like $admin->path_of($accepted->location), qr{\A/v2\.0/acme/moves/\Q@{[$accepted->request_id]}\E\z}, '... is followed as a move is';
    my $last = Tenure::Instance::follow($admin, $accepted, 120);
    $last->is_status(303, '... is done') or return diag $last->text;
    is $admin->path_of($last->location), $end, '... see what it left';
    is $instance->sql_value('SELECT COUNT(*) FROM resources r WHERE r.changed <> (SELECT MAX(x.id) FROM changes x WHERE x.resource_id = r.id)'), 0,
        '... and each resource knows its last change';
    is counted(), live(), '... and all are counted';
    return;
}

sub stopped { return $instance->stop_movers }

$admin->make_tenant($_) for qw(acme other);
$admin->make("/v2.0/acme/$_") for 'namespaces/n', 'namespaces/default/configmaps/d', 'persistentvolumes/v', 'namespaces/own', 'namespaces/own/configmaps/o';
$instance->fill('acme', 'configmaps', $many, namespace => 'n');
my ($before, $all) = (content(), $many + 1);
my $tag   = $admin->get('/v2.0/acme/namespaces/n/configmaps/c7')->etag;
my $gone  = deleted('/v2.0/acme/namespaces/n', 'a namespace is deleted by mistake');
my $left  = content();
my $count = counted();
my $changes = '/v2.0/acme/changes?order=newest';

subtest 'a deletion, and the undo of that, and so on' => sub {
    my $preview = preview($gone);
    $preview->is_status(200) or diag $preview->text;
    my $json = $preview->json;
    is_deeply [@$json{qw(changes actor blockers)}], [$all + 1, 'admin', []], 'the preview counts all, with the mark of the namespace';
    is scalar @{ $json->{items} }, 100, '... and shows the first';
    is_deeply [map { my $i = $json->{items}[$_]; [@$i{qw(resource action now)}, defined $i->{restored}] } 0, 7],
        [['namespaces/n', 'recover', undef, 1], ["$json->{items}[7]{resource}", 'recover', undef, 1]], '... the namespace first, once';
    is scalar(grep { $_->{resource} eq 'namespaces/n' } @{ $json->{items} }), 1, '... and never again';
    is content(), $left, 'nothing comes back before the POST';
    my $stale = undo($gone, if_match => '"0000000000000000000000000000000000000000"');
    $stale->is_status(412);
    is $stale->etag, $preview->etag, '... with the present etag';
    $admin->make('/v2.0/acme/namespaces/default/configmaps/busy');
    my $undone = undo($gone, if_match => $preview->etag);
    done($undone, 'the undo, though the tenant changes otherwise', '/v2.0/acme/namespaces/n');
    $admin->delete('/v2.0/acme/namespaces/default/configmaps/busy')->is_status(204);
    is content(), $before, 'exactly what was is back';
    is $admin->get('/v2.0/acme/namespaces/n/configmaps/c7')->etag, $tag, 'etags are those of before';
    is $admin->get('/v2.0/acme/namespaces/n')->json->{metadata}{deletionTimestamp}, undef, 'the namespace is not marked';
    is $instance->count_changes_of($undone), $all, 'as many changes';
    my ($listed) = @{ $admin->get('/v2.0/acme/moves?limit=1')->json->{moves} };
    is_deeply [@$listed{qw(id state source dest resource undo_of total moved actor)}],
        [$undone->request_id, 'done', 'acme', 'acme', 'namespaces/n', $gone->request_id, $all, $all, 'admin'], 'it is in the list of moves';
    is_deeply [keys %{ reasons(preview($gone)) }], ['changed-since'], 'it cannot be taken back twice';
    undo($gone)->is_status(409);
    my $json2 = preview($undone)->json;
    is_deeply [@$json2{qw(changes blockers)}, $json2->{items}[0]{action}, $json2->{items}[0]{restored}], [$all, [], 'delete', undef], 'the undo of the undo';
    my $again = undo($undone);
    done($again, '... deletes all again', $changes);
    is_deeply [content(), counted(), $instance->count_changes_of($again)], [$left, $count, $all], '... and nothing else';
    my $etag = $tool->json(qw(changes undo --preview), $again->request_id)->{etag};
    $tool->ends(5, qw(changes undo --yes --if-match 0000000000000000000000000000000000000000), $again->request_id);
    $tool->ends(0, qw(changes undo --yes --if-match), $etag, $again->request_id);
    is content(), $before, 'and the undo of that, by the command, which waits for it';
    my $by_hand = deleted('/v2.0/acme/namespaces/n', 'once more');
    my $recovered = $admin->post('/v2.0/acme/namespaces/n/action/recover');
    $recovered->is_status(204, 'recovered by hand');
    is reasons(preview($by_hand))->{'changed-since'}, 1000, 'then it cannot be taken back: as many reasons as are told';
    like undo($by_hand)->json->{detail}, qr/nothing was taken back: more than 1000 things stand in the way/, '... and that there are more';
    done(undo($recovered), 'but what was done by hand can be', $changes);
    is content(), $left, 'all is deleted';
};

# The last undo of the subtest above is the deletion from here on.
sub last_undo { return ($admin->get('/v2.0/acme/moves?limit=1')->json->{moves}[0]{id}) }
$gone = last_undo();

subtest 'who may' => sub {
    my $service = $instance->service('ann:acme:member');
    $service->get(undo_path($gone))->is_status(200, 'a member of the tenant');
    $instance->service('rob:acme:reader')->post(undo_path($gone))->is_status(403, 'no reader');
    $instance->service('eve:other:admin')->post(undo_path($gone))->is_status(404, 'nobody of another tenant');
    $admin->get(Tenure::Undo::undo_path('other', $gone))->is_status(404, 'under another tenant it is not found');
    my $undone = $service->post(undo_path($gone));
    $undone->is_status(202, 'a member does it') or diag $undone->text;
    my $path = $service->path_of($undone->location);
    $instance->service('rob:acme:reader')->get($path)->is_status(403, 'a reader cannot follow it');
    $instance->service('eve:other:admin')->get($path)->is_status(404, 'nor can somebody of another tenant');
    (my $end = Tenure::Instance::follow($service, $undone, 120))->is_status(303, '... and follows it to its end');
    $service->get($service->path_of($end->location))->is_status(200, '... which he may see');
    is content(), $before, 'all is back';
    my $move = $admin->post('/v2.0/acme/persistentvolumes/v/action/move?dest=other', prefer => 'respond-async');
    $move->is_status(202);
    $instance->service('ann:acme:admin')->get($admin->path_of($move->location))->is_status(404, 'moves are not for him');
    Tenure::Instance::follow($admin, $move, 120)->is_status(303);
    $admin->post('/v2.0/other/persistentvolumes/v/action/move?dest=acme')->is_status(303);
    $before = content();
};

$gone = deleted('/v2.0/acme/namespaces/n', 'a deletion');
$left = content();

subtest 'what is in the way of a recovery' => sub {
    $admin->make("/v2.0/acme/$_") for 'namespaces/n', 'namespaces/n/configmaps/c3';
    my $one = $admin->get('/v2.0/acme/namespaces/n');
    my $refused = undo($gone);
    $refused->is_status(409);
    is_deeply blocked($refused), ['namespaces/n name-taken', 'namespaces/n/configmaps/c3 name-taken'], 'every name that is taken' or diag $refused->text;
    is_deeply blocked(preview($gone)), blocked($refused), 'the preview says the same';
    my $tag = preview($gone)->etag;
    $admin->delete('/v2.0/acme/namespaces/n/configmaps/c3')->is_status(204);
    undo($gone, if_match => $tag)->is_status(412, 'a reason less is another preview');
    $admin->delete('/v2.0/acme/namespaces/n')->is_status(204);
    $instance->sql("INSERT INTO tiers (name, max_resources) VALUES ('few', 2)");
    $admin->put('/v2.0/acme', json => { tenant => { tier => 'few' } })->is_status(202);
    $instance->sql("UPDATE resources SET changed = changed + 1000000 WHERE namespace = 'n' AND name = 'c9' AND live IS NULL AND deletion = UNHEX('" . ($gone->request_id =~ s/-//gr) . "')");
    is_deeply blocked(undo($gone)), [' over-quota', 'namespaces/n/configmaps/c9 changed-since'], 'no room, and a change';
    $instance->sql("UPDATE resources SET changed = changed - 1000000 WHERE namespace = 'n' AND name = 'c9' AND changed > 1000000");
    $admin->put('/v2.0/acme', json => { tenant => { tier => 'gold' } })->is_status(202);
    $instance->sql("UPDATE resources SET id = id + 100000000 WHERE namespace = 'n' AND name = 'c9' AND live IS NULL AND deletion = UNHEX('" . ($gone->request_id =~ s/-//gr) . "')");
    is_deeply blocked(undo($gone)), ['namespaces/n/configmaps/c9 purged'], 'purged';
    $instance->sql("UPDATE resources SET id = id - 100000000 WHERE id > 100000000");
    is_deeply blocked(preview($gone)), [], 'nothing';
    $admin->delete('/v2.0/acme')->is_status(204);
    undo($gone)->is_status(410, 'the tenant is gone');
    $admin->post('/v2.0/acme/action/recover')->is_status(204);
};

subtest 'looked at again when it is carried out' => sub {
    my $n = '/v2.0/acme/namespaces/n';
    my %later = (
        'a taken name'  => [sub { $admin->make($n) }, qr/name-taken/, sub { $admin->delete($n) }],
        'no room'       => [sub { $admin->put('/v2.0/acme', json => { tenant => { tier => 'few' } }) }, qr/over-quota/, sub { $admin->put('/v2.0/acme', json => { tenant => { tier => 'gold' } }) }],
        'a tenant gone' => [sub { $admin->delete('/v2.0/acme') }, qr/gone/, sub { $admin->post('/v2.0/acme/action/recover') }],
    );
    for my $what (sort keys %later) {
        my @stop = stopped();
        my $undo = undo($gone);
        $undo->is_status(202, $what) or diag $undo->text;
        is $admin->get($admin->path_of($undo->location))->json->{move}{state}, 'queued', 'it waits';
        $later{$what}[0]->();
        kill CONT => @stop;
        my $end = Tenure::Instance::follow($admin, $undo, 120);
        $end->is_status(200, 'it fails');
        my $status = $end->json->{move};
        is_deeply [@$status{qw(state reason total)}], ['failed', 'blocked', $all], '... blocked';
        like $status->{detail}, $later{$what}[1], '... and says by what';
        is $instance->count_changes_of($undo), 0, 'nothing is done';
        $later{$what}[2]->();
        is content(), $left, 'nothing came back';
    }
};

my $undone;
subtest 'two of one request, and a mover that is killed' => sub {
    push @{ $instance->{allow} }, qr/mover \d+ ended by signal 9/;
    my @stop = stopped();
    my @undos = map { undo($gone) } 1, 2;
    $_->is_status(202, 'both wait') for @undos;
    kill CONT => @stop;
    my $uid = $undos[0]->request_id =~ s/-//gr;
    ok Tenure::Instance::wait_until(sub {
        return ($instance->sql_value("SELECT p.moved FROM moves m JOIN move_progress p ON p.move_id = m.id WHERE m.uid = UNHEX('$uid')") // 0) > 0;
    }, 60), 'the first has begun, and tells how far it is';
    kill KILL => $instance->movers;
    my ($first, @others) = sort { $b->status <=> $a->status } map { Tenure::Instance::follow($admin, $_, 120) } @undos;
    $first->is_status(303, 'another mover does one of them');
    is_deeply [map { @{ $_->json->{move} }{qw(state reason)} } @others], ['failed', 'blocked'], 'the other one finds that it was taken back';
    is_deeply [sort { $a <=> $b } map { $instance->count_changes_of($_) } @undos], [0, $all], 'whole, and nothing';
    is content(), $before, 'all is back';
    ($undone) = grep { $instance->count_changes_of($_) > 0 } @undos;
};

subtest 'what is in the way of a deletion' => sub {
    $admin->put('/v2.0/acme/namespaces/n/configmaps/c1', json => { data => { a => 'b' } })->is_status(200);
    $admin->delete('/v2.0/acme/namespaces/n/configmaps/c2')->is_status(204);
    $admin->make('/v2.0/acme/namespaces/n/configmaps/new');
    my $refused = undo($undone);
    $refused->is_status(409);
    is_deeply blocked($refused), ['namespaces/n/configmaps/c1 changed-since', 'namespaces/n/configmaps/c2 changed-since', 'namespaces/n/configmaps/new not-empty'],
        'every reason at once' or diag $refused->text;
    like $refused->text, qr/it was updated by admin/, 'by whom';
    is_deeply blocked(preview($undone)), blocked($refused), 'the preview says the same';
};

# What is added while it waits.
subtest 'added while it waits' => sub {
    my $once = deleted('/v2.0/acme/namespaces/n', 'all but one, and one more');
    my $back = undo($once);
    done($back, 'taken back', '/v2.0/acme/namespaces/n');
    my $content = content();
    my @stop = stopped();
    my $undo = $tool->begin(undef, qw(changes undo --yes --no-etag), $back->request_id);
    ok Tenure::Instance::wait_until(sub { my ($move) = @{ $admin->get('/v2.0/acme/moves?limit=1')->json->{moves} }; $move->{undo_of} eq $back->request_id && $move->{state} eq 'queued' }, 60),
        'by the command';
    $admin->make('/v2.0/acme/namespaces/n/configmaps/late');
    kill CONT => @stop;
    my $end = $tool->end($undo);
    isnt $end->{code}, 0, 'fails';
    like $end->{err}, qr{: the undo failed: blocked: nothing was taken back; 1 thing .*namespaces/n/configmaps/late: not-empty}, '... as it would be deleted, too';
    $admin->delete('/v2.0/acme/namespaces/n/configmaps/late')->is_status(204);
    is content(), $content, 'nothing else was touched';
    my $locked = $admin->put('/v2.0/acme/namespaces/n/configmaps/c4', json => { metadata => { locked => JSON::PP::true() }, data => {} });
    $locked->is_status(200);
    is_deeply blocked(undo($back)), ['namespaces/n/configmaps/c4 changed-since'], 'locked since';
};

# Content that has finalizers waits, and the namespace with it.
subtest 'what waits' => sub {
    $admin->make('/v2.0/acme/namespaces/w');
    $instance->fill('acme', 'configmaps', $many, namespace => 'w');
    $admin->put('/v2.0/acme/namespaces/w/configmaps/held', json => { metadata => { finalizers => ['example.com/f'] }, data => {} })->is_status(201);
    my $asked = $admin->delete('/v2.0/acme/namespaces/w');
    $asked->is_status(202);
    ok Tenure::Instance::wait_until(sub { $instance->sql_value('SELECT COUNT(*) FROM namespace_deletions') == 0 }, 120), 'what can be deleted is';
    is_deeply blocked(undo($asked)), ['namespaces/w deletion-requested', 'namespaces/w/configmaps/held deletion-requested'], 'the rest waits, and is said';
    $admin->put('/v2.0/acme/namespaces/w/configmaps/held', json => { metadata => {}, data => {} });
    ok Tenure::Instance::wait_until(sub { $admin->get('/v2.0/acme/namespaces/w')->status == 410 }, 60), 'the end';
    is_deeply blocked(undo($asked)), ['namespaces/w changed-since', 'namespaces/w/configmaps/held changed-since'], '... by another request, to be taken back first';
};

subtest 'a finalizer goes before the last piece' => sub {
    my $space = '/v2.0/acme/namespaces/early';
    $admin->make($space);
    $instance->fill('acme', 'configmaps', $many, namespace => 'early');
    $admin->make("$space/configmaps/a0", { metadata => { finalizers => ['example.com/f'] } });
    my $id   = $instance->sql_value(q(SELECT id FROM resources WHERE namespace = 'early' ORDER BY name DESC LIMIT 1));
    my $lock = $instance->sql_locks("SELECT id FROM resources WHERE id = $id FOR UPDATE");
    my $asked = $admin->delete($space);
    $asked->is_status(202);
    ok Tenure::Instance::wait_until(sub { ($instance->sql_value(q(SELECT doomed_at FROM resources WHERE namespace = 'early' AND name = 'a0'))) }, 60), 'the first piece is done';
    ok Tenure::Instance::wait_until(sub { $instance->count_lock_waits == 1 }), 'the last one waits';
    my $freed = Tenure::Parallel::begin($admin, 'PATCH', "$space/configmaps/a0", patch => { metadata => { finalizers => undef } });
    ok Tenure::Instance::wait_until(sub { $instance->count_lock_waits == 2 }), 'and so does who takes the finalizer out';
    print {$lock} "ROLLBACK;\n";
    like Tenure::Parallel::told($freed), qr/\A2/, 'who then does so';
    ok Tenure::Instance::wait_until(sub { $admin->get($space)->status == 410 }, 60), 'the end';
    my $refused = undo($asked);
    $refused->is_status(409);
    is_deeply blocked($refused), ['namespaces/early/configmaps/a0 changed-since'], 'what another request deleted would stay deleted' or diag $refused->text;
    is_deeply blocked(preview($asked)), blocked($refused), 'the preview says the same';
};

my %new = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });

# Makes a node with so many ports, and one more of that address.
sub make_node {
    my ($ports, $address) = @_;
    my $node = $admin->post('/baremetal/v1/nodes', %new, json => { driver => 'fake-hardware', owner => 'acme' })->json->{uuid};
    my $port = $admin->post('/baremetal/v1/ports', %new, json => { node_uuid => $node, address => $address })->json->{uuid};
    my $id   = $instance->tenant_id('acme');
    my $hash = "MD5(CONCAT('$port', seq))";
    $instance->sql(<<"SQL");
INSERT INTO resources (uid, tenant_id, type_id, namespace, name, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at, updated_at, root)
SELECT UNHEX($hash), p.tenant_id, p.type_id, p.namespace, LOWER(CONCAT_WS('-', LEFT($hash, 8), MID($hash, 9, 4), MID($hash, 13, 4), MID($hash, 17, 4), MID($hash, 21))),
  p.bytes, 1, 1, seq, seq, seq, seq, REPEAT(CHAR(seq % 128), 64), p.meta, p.body, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), p.root
FROM resources p JOIN seq_1_to_$ports WHERE p.name = '$port';
UPDATE tenant_counts SET resources = resources + $ports WHERE tenant_id = $id
SQL
    return $node;
}

subtest 'a node with its ports' => sub {
    my $node = make_node($many, '52:54:00:00:00:01');
    my $there = content();
    my $deleted = $admin->delete("/baremetal/v1/nodes/$node", %new);
    $deleted->is_status(204, 'a node goes with its ports') or diag $deleted->text;
    my $gone = content();
    my $taken = $admin->post('/baremetal/v1/nodes', %new, json => { driver => 'fake-hardware', owner => 'acme', uuid => $node });
    $taken->is_status(201, 'its uuid is taken');
    my $other = $admin->post('/baremetal/v1/ports', %new, json => { node_uuid => $node, address => '52:54:00:00:00:01' });
    $other->is_status(201, '... and an address of a port');
    my $blocked = reasons(undo($deleted));
    is_deeply [sort keys %$blocked], ['name-taken'], 'both are in the way' or diag explain $blocked;
    cmp_ok $blocked->{'name-taken'}, '>=', 2, '... each by itself';
    $admin->delete("/baremetal/v1/nodes/$node", %new)->is_status(204);
    my $back = undo($deleted);
    done($back, 'all comes back', "/v2.0/acme/nodes/$node");
    is content(), $there, '... as it was';
    done(undo($back), '... and goes again', $changes);
    is content(), $gone, '... alone';
};

subtest 'two nodes by one request' => sub {
    make_node(int($many / 2), "52:54:00:00:00:0$_") for 2, 3;
    my $both = $instance->combined('admin')->delete('/apis/baremetal.openstack.org/v1/tenants/acme/nodes');
    $both->is_status(200, 'both go') or diag $both->text;
    cmp_ok $instance->count_changes_of($both), '>', $many, '... with all their ports';
    is_deeply blocked(preview($both)), [' too-large'], 'the preview says that it cannot be taken back';
    is_deeply blocked(undo($both)), [' too-large'], '... as the undo does';
};

is $instance->sql_value("SELECT COUNT(*) FROM (SELECT uid FROM resources WHERE live = 1 GROUP BY uid HAVING COUNT(*) > 1) d"), 0, 'each is there once';
$instance->stop;
done_testing;
