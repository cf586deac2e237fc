#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Moves in the background: 202, progress until 303, failing later, large ones, restarts.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start(settings => { 'tenure.move_sync_max' => 50 });
my $admin    = $instance->admin;
my $serial   = 0;

sub scene {
    my ($n) = @_;
    $serial++;
    $admin->make_tenant($_) for "from$serial", "to$serial";
    $admin->make("/v2.0/from$serial/persistentvolumes/p$_", { n => $_ }) for 1 .. $n // 3;
    return ("from$serial", "to$serial");
}

subtest 'respond-async' => sub {
    my ($from, $to) = scene();
    my $post = $admin->post("/v2.0/$from/action/move?dest=$to", prefer => 'respond-async');
    $post->is_status(202);
    $post->header_is('Preference-Applied', 'respond-async');
    like $admin->path_of($post->location), qr{\A/v2\.0/\Q$from\E/moves/[0-9a-f-]{36}\z}, 'Location: the move';
    my $end = Tenure::Instance::follow($admin, $post);
    $end->is_status(303, 'it ends in 303');
    is $admin->path_of($end->location), "/v2.0/$to", 'see the destination';
    is $admin->get("/v2.0/$to")->json->{tenant}{resources}, 3, 'all is there';
    my $id = $post->request_id;
    like $post->location, qr/\Q$id\E\z/, 'the move\'s id is that of the request';
    is scalar $instance->changes_of($post), 3, 'under which its change rows stand';
    my ($actor) = map { $_->{actor} } $instance->changes_of($post);
    is $actor, 'admin', 'with the name of who asked';
    $admin->get($admin->path_of($post->location))->is_status(303, 'it can be asked again');
    my $v1 = $admin->get($admin->path_of($post->location) =~ s/v2/v1/r);
    is $admin->path_of($v1->location), "/v1.0/$to", 'in the other vocabulary as well';
};

subtest 'one resource' => sub {
    my ($from, $to) = scene();
    my $post = $admin->post("/v2.0/$from/persistentvolumes/p1/action/move?dest=$to", prefer => 'respond-async');
    $post->is_status(202);
    my $end = Tenure::Instance::follow($admin, $post);
    $end->is_status(303);
    is $admin->path_of($end->location), "/v2.0/$to/persistentvolumes/p1", 'see its new home';
    $admin->get("/v2.0/$from/persistentvolumes/p2")->is_status(200, 'the others stay');
};

subtest 'large moves go there by themselves' => sub {
    my ($from, $to) = scene(51);
    my $action = $admin->get("/v2.0/$from/action/move?dest=$to");
    my $post   = $admin->post("/v2.0/$from/action/move?dest=$to", if_match => $action->etag);
    $post->is_status(202);
    ok !defined $post->header('Preference-Applied'), 'no preference was applied';
    my $end = Tenure::Instance::follow($admin, $post);
    $end->is_status(303);
    is $admin->get("/v2.0/$to")->json->{tenant}{resources}, 51, 'all is there';
    my ($small_from, $small_to) = scene(50);
    $admin->post("/v2.0/$small_from/action/move?dest=$small_to")->is_status(303, 'as many as the limit are moved at once');
};

subtest 'what stands in the way is told at once' => sub {
    my ($from, $to) = scene();
    my @async = (prefer => 'respond-async', accept => 'application/json');
    $admin->post("/v2.0/$from/action/move?dest=$to", @async, if_match => '"0123456789012345678901234567890123456789"')->is_problem(412, 'stale');
    $admin->make("/v2.0/$to/persistentvolumes/p1");
    $admin->post("/v2.0/$from/action/move?dest=$to", @async)->is_problem(409, 'blocked');
    $admin->post("/v2.0/$from/action/move?dest=nobody", @async)->is_problem(404, 'not_found');
    is $instance->sql_value(q(SELECT COUNT(*) FROM moves WHERE state = 'queued')), 0, 'nothing is queued';
};

sub movers { return $instance->movers }

subtest 'looked at again at the end' => sub {
    ok scalar movers(), 'somebody carries moves out';
    my %later = (
        'a change, and a condition' => [1, 'stale', sub { my ($from) = @_; $admin->put("/v2.0/$from/persistentvolumes/p1", json => { x => 1 }) }],
        'a blocker'                 => [0, 'blocked', sub { my ($from, $to) = @_; $admin->make("/v2.0/$to/persistentvolumes/p2") }],
        'the destination goes'      => [0, 'gone', sub { my ($from, $to) = @_; $admin->delete("/v2.0/$to") }],
        'a new one, and a condition' => [1, 'stale', sub { my ($from) = @_; $admin->make("/v2.0/$from/persistentvolumes/new") }],
        'a busy destination, and a condition' => [1, undef, sub { my ($from, $to) = @_; $admin->make("/v2.0/$to/persistentvolumes/busy$_") for 1 .. 3 }],
        'another tier there, and a condition' => [1, undef, sub { my ($from, $to) = @_; $admin->put("/v2.0/$to", json => { tenant => { tier => 'gold' } }) }],
        'the quota, and a condition' => [1, 'blocked', sub {
            my ($from, $to) = @_;
            $instance->sql(q(INSERT IGNORE INTO tiers (name, max_resources) VALUES ('two', 2)));
            $admin->put("/v2.0/$to", json => { tenant => { tier => 'two' } })->is_status(202);
        }],
        'a change, and the condition *' => ['*', undef, sub { my ($from) = @_; $admin->put("/v2.0/$from/persistentvolumes/p1", json => { x => 1 }) }],
        'a change, no condition'    => [0, undef, sub { my ($from) = @_; $admin->put("/v2.0/$from/persistentvolumes/p1", json => { x => 1 }) }],
    );
    my %texts = ('a blocker' => qr{persistentvolumes/p2: name-taken: }, 'the quota, and a condition' => qr{all: quota: .*allows 2});
    for my $what (sort keys %later) {
        my ($conditional, $reason, $change) = @{ $later{$what} };
        my ($from, $to) = scene();
        my $tag  = $admin->get("/v2.0/$from/action/move?dest=$to")->etag;
        my @stop = movers();
        kill STOP => @stop;
        my $post = $admin->post("/v2.0/$from/action/move?dest=$to", prefer => 'respond-async', $conditional ? (if_match => $conditional eq '*' ? '*' : $tag) : ());
        $post->is_status(202, $what);
        my $waiting = $admin->get($admin->path_of($post->location));
        $waiting->is_status(200, 'it waits');
        my $move = $waiting->json->{move};
        is $move->{state}, 'queued', 'queued';
        is "$move->{source} $move->{dest} $move->{total} $move->{moved}", "$from $to 3 0", 'source, dest, total, moved';
        ok $move->{created_at} && !$move->{finished_at}, 'when it was asked for';
        $admin->get("/v2.0/$from/persistentvolumes/p3")->is_status(200, 'nothing has moved');
        $change->($from, $to);
        kill CONT => @stop;
        my $end = Tenure::Instance::follow($admin, $post);
        if (!defined $reason) {
            $end->is_status(303, 'moves what is there by then');
            next;
        }
        $end->is_status(200, 'it fails');
        $move = $end->json->{move};
        is $move->{state}, 'failed', 'state';
        is lc $move->{reason} =~ tr/_/-/r, $reason, 'reason';
        ok length $move->{detail}, 'and detail';
        like $move->{detail}, $texts{$what}, 'which names what is in the way' if $texts{$what};
        is "$move->{total} $move->{moved}", ($what =~ /\Aa new one/ ? 4 : 3) . ' 0', 'how many it was to move, and moved';
        ok $move->{finished_at}, 'when it ended';
        $admin->get("/v2.0/$from/persistentvolumes/p3")->is_status(200, 'nothing moved');
        is scalar $instance->changes_of($post), 0, 'no change row';
        my $xml = $admin->get($admin->path_of($post->location), accept => 'application/xml');
        is $xml->xml->{attributes}{state}, 'failed', 'the same in XML';
    }
};

subtest 'movers die, moves do not' => sub {
    push @{ $instance->{allow} }, qr/mover \d+ ended by signal 9/;
    my ($from, $to) = scene(60);
    my @stop = movers();
    kill STOP => @stop;
    my $post = $admin->post("/v2.0/$from/action/move?dest=$to");
    $post->is_status(202);
    kill KILL => @stop;
    my $end = Tenure::Instance::follow($admin, $post);
    $end->is_status(303, 'another mover carries it out');
    is $admin->get("/v2.0/$to")->json->{tenant}{resources}, 60, 'all is there';
};

subtest 'everything restarts, moves go on' => sub {
    push @{ $instance->{allow} }, qr/mover \d+ ended by signal 9/;
    my ($from, $to) = scene(60);
    kill STOP => movers();
    my $post = $admin->post("/v2.0/$from/action/move?dest=$to");
    $post->is_status(202);
    push @{ $instance->{allow} }, qr/connection lost/;
    $instance->database('kill');
    $instance->database('start');
    kill KILL => movers();
    my $end = Tenure::Instance::follow($admin, $post);
    ok Tenure::Instance::wait_until(sub { Tenure::Instance::follow($admin, $post)->status == 303 }), 'after the database\'s restart it is carried out'
        or diag $end->describe;
    is $admin->get("/v2.0/$to")->json->{tenant}{resources}, 60, 'all is there';
};

subtest 'who may ask' => sub {
    my ($from, $to) = scene();
    my $post = $admin->post("/v2.0/$from/action/move?dest=$to", prefer => 'respond-async');
    Tenure::Instance::follow($admin, $post);
    my ($path) = $admin->path_of($post->location);
    $admin->get($path =~ s/$from/$to/r)->is_problem(404, 'not_found', 'under another tenant it is none');
    $admin->get("/v2.0/$from/moves/00000000-0000-4000-8000-000000000000")->is_problem(404, 'not_found', 'an unknown one');
    my $none = $admin->get("/v2.0/$from/moves/x");
    ok $none->status == 400 || $none->status == 404, 'no uid at all' or diag $none->describe;
    my $service = $instance->service("ann:$from:admin")->get($path);
    ok $service->status == 404 || $service->status == 403, 'users have no such call' or diag $service->describe;
};

subtest 'when it ends' => sub {
    my ($from, $to) = scene();
    my $row  = $instance->sql_value(q(SELECT MAX(id) FROM resources WHERE name = 'p1'));
    my $lock = $instance->sql_locks("SELECT id FROM resources WHERE id = $row FOR UPDATE");
    my $post = $admin->post("/v2.0/$from/action/move?dest=$to", prefer => 'respond-async');
    $post->is_status(202);
    ok Tenure::Instance::wait_until(sub { $instance->count_lock_waits == 1 }), 'it has its tenants, and waits for a row';
    sleep 2;
    close $lock;
    Tenure::Instance::follow($admin, $post)->is_status(303);
    is $instance->sql_value('SELECT TIMESTAMPDIFF(SECOND, created_at, finished_at) >= 2 FROM moves ORDER BY id DESC LIMIT 1'), 1,
        'finished_at is when it ended, not when it had its tenants';
};

is((($instance->manage('doctor'))[0]), 0, 'the doctor finds nothing');

# A move's document says what is recorded of it and nothing of another's, and only to its source's readers.
subtest 'the whole document' => sub {
    my @names = map { (scene(1))[0] } 1 .. 3;
    my @ids   = map { $instance->tenant_id($_) } @names;
    my $uid   = $instance->sql_value("SELECT HEX(uid) FROM resources WHERE tenant_id = $ids[0] AND name = 'p1'");
    $instance->sql(<<"SQL");
INSERT INTO moves (uid, source_id, dest_id, resource_id, state, actor, resources, outcome, detail, created_at, finished_at)
SELECT UNHEX(REPEAT('a1', 16)), $ids[0], $ids[1], id, 'failed', 'ann', 7, 'blocked', 'why', '2026-01-02 03:04:05.678901', '2026-01-02 03:04:06'
  FROM resources WHERE uid = UNHEX('$uid');
INSERT INTO moves (uid, source_id, dest_id, state, actor, resources, outcome, detail, created_at, finished_at)
VALUES (UNHEX(REPEAT('b2', 16)), $ids[1], $ids[2], 'failed', 'bob', 8, 'gone', 'how', '2026-01-02 03:04:07', '2026-01-02 03:04:08');
INSERT INTO move_progress (move_id, moved, updated_at) SELECT id, resources - 2, UTC_TIMESTAMP(6) FROM moves WHERE actor IN ('ann', 'bob')
SQL
    my @of = map { join '-', unpack 'A8A4A4A4A12', $_ x 16 } 'a1', 'b2';
    is_deeply $admin->get("/v2.0/$names[0]/moves/$of[0]", accept => 'application/json')->json->{move}, { id => $of[0], state => 'failed',
        source => $names[0], dest => $names[1], resource => 'persistentvolumes/p1', actor => 'ann', total => 7, moved => 0, reason => 'blocked', detail => 'why',
        created_at => '2026-01-02T03:04:05Z', finished_at => '2026-01-02T03:04:06Z' }, 'of one resource';
    is_deeply $admin->get("/v2.0/$names[1]/moves/$of[1]", accept => 'application/json')->json->{move}, { id => $of[1], state => 'failed',
        source => $names[1], dest => $names[2], actor => 'bob', total => 8, moved => 0, reason => 'gone', detail => 'how',
        created_at => '2026-01-02T03:04:07Z', finished_at => '2026-01-02T03:04:08Z' }, 'of all';
    $admin->get("/v2.0/$names[$_->[0]]/moves/$of[$_->[1]]")->is_problem(404, 'not_found', 'not where it does not begin') for [1, 0], [2, 1], [0, 1];
    $admin->get("/v2.0/$names[0]/moves/" . 'c3' x 16)->is_problem(404, 'not_found', 'none such');
    $admin->get("/v2.0/$names[0]/moves/x")->is_problem(404, 'not_found', 'no id');
    $instance->sql("UPDATE moves SET state = 'done' WHERE actor IN ('ann', 'bob')");
    is $admin->path_of($admin->get("/v2.0/$names[0]/moves/$of[0]")->location), "/v2.0/$names[1]/persistentvolumes/p1", 'done: where the resource is';
    is $admin->path_of($admin->get("/v2.0/$names[1]/moves/$of[1]")->location), "/v2.0/$names[2]", 'or the destination';
    my $purged = sub { my ($live) = @_; $instance->sql("UPDATE tenants SET live = $live WHERE id IN ($ids[1], $ids[2])") };
    $purged->('NULL');
    $admin->get("/v2.0/$names[0]/moves/$of[0]")->is_problem(410, 'gone', 'done, and the destination is purged: another may have its name');
    $purged->(1);
    $admin->delete("/v2.0/$names[0]")->is_status(204);
    $instance->sql("UPDATE tenants SET live = NULL WHERE id = $ids[0]");
    $admin->get("/v2.0/$names[0]/moves/$of[0]")->is_status(404, 'nothing of a tenant that is no more');
    $instance->sql("UPDATE tenants SET live = 1 WHERE id = $ids[0]");
};

done_testing;
