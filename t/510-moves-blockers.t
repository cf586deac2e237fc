#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Blockers: all named at once, the same in the preview; nothing moves while one is there.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start(settings => { 'tenure.request_memory' => '16M', 'tenure.delete_sync_max' => 3 });
my $admin    = $instance->admin;
$instance->manage('tier', 'set', 'five', '--max-resources', '5');
$admin->make_tenant($_) for 'from', 'room';
$admin->make_tenant('to', tier => 'five');

my @reasons;

# The blockers of a move, sorted, once from the move action in each form and once from the POST: they must agree.
sub blockers {
    my ($path, $dest) = @_;
    my $address = "$path/action/move?dest=$dest";
    my $json = $admin->get($address, accept => 'application/json');
    $json->is_status(200, 'the move action shows them');
    my $xml  = $admin->get($address);
    my $post = $admin->post($address, accept => 'application/json');
    $post->is_problem(409, 'blocked', 'POST is refused');
    my $conditional = $admin->post($address, if_match => $json->etag, accept => 'application/json');
    $conditional->is_problem(409, 'blocked', 'on the action\'s tag as well');
    my $in_xml = Tenure::XML::child($xml->xml, 'blockers') // { children => [] };
    my @form = map { { %{ $_->{attributes} } } } Tenure::XML::children($in_xml, 'blocker');
    is_deeply \@form, $json->json->{move}{blockers}, 'the same in XML and JSON';
    is_deeply $post->json->{blockers}, $json->json->{move}{blockers}, 'the same in the refusal';
    is_deeply [Tenure::XML::names($xml->xml)], ['tenants', 'resources', 'counts', 'blockers'], 'behind the blueprints\' elements';
    ok !(grep { !length $_->{detail} } @{ $post->json->{blockers} }), 'each says what to do';
    return sort map { "$_->{reason} $_->{resource}" } @{ $post->json->{blockers} };
}

sub state_of_both {
    return join "\n", map { $_->text } map { my $t = $_; map { $admin->get("/v2.0/$t/$_") } 'namespaces', 'persistentvolumes', 'configmaps' } 'from', 'to', 'room';
}

$admin->make("/v2.0/from/$_") for 'persistentvolumes/same', 'persistentvolumes/free', 'persistentvolumes/locked', 'namespaces/n', 'namespaces/n/configmaps/same',
    'namespaces/n/configmaps/free', 'namespaces/default/configmaps/same';
$admin->patch('/v2.0/from/persistentvolumes/locked', { metadata => { locked => JSON::PP::true() } })->is_status(200);
$admin->make("/v2.0/to/$_") for 'persistentvolumes/same', 'namespaces/n', 'namespaces/n/configmaps/same', 'namespaces/default/configmaps/same';

subtest 'all at once' => sub {
    my $before = state_of_both();
    my $count  = $instance->change_count;
    my @found  = blockers('/v2.0/from', 'to');
    is_deeply \@found, ['locked persistentvolumes/locked', 'name-taken namespaces/default/configmaps/same', 'name-taken namespaces/n/configmaps/same',
        'name-taken persistentvolumes/same', 'quota '], 'each name that is taken, the lock, the quota; not the namespace, which is merged';
    is state_of_both(), $before, 'nothing moved, nothing changed';
    is $instance->change_count, $count, 'no change row';
    is $instance->sql_value('SELECT COUNT(*) FROM moves'), 0, 'no move is recorded';
    is $instance->sql_value('SELECT COUNT(*) FROM forwards'), 0, 'no forward left';
};

subtest 'quota' => sub {
    $admin->make_tenant('full', tier => 'five');
    my @found = blockers('/v2.0/from', 'full');
    ok scalar(grep { $_ eq 'quota ' } @found), 'too many for the destination';
    my $detail = $admin->get('/v2.0/from/action/move?dest=full', accept => 'application/json')->json->{move}{blockers};
    like((map { $_->{detail} } grep { $_->{reason} eq 'quota' } @$detail)[0], qr/5.*0.*7/, 'with the numbers');
    $admin->make("/v2.0/full/persistentvolumes/x$_") for 1 .. 5;
    is_deeply [blockers('/v2.0/from/persistentvolumes/free', 'full')], ['quota '], 'for one resource, too';
    $admin->delete('/v2.0/full/persistentvolumes/x1')->is_status(204);
    $admin->post('/v2.0/from/persistentvolumes/free/action/move?dest=full')->is_status(303, 'exactly full is allowed');
    $admin->post('/v2.0/full/persistentvolumes/free/action/move?dest=from')->is_status(303);
};

# A namespace that the destination has is merged into that one: it takes no room there, and is not counted when it has come.
subtest 'quota and namespaces that are merged' => sub {
    $admin->make_tenant('merge-from');
    $admin->make_tenant('merge-to', tier => 'five');
    $admin->make("/v2.0/merge-from/$_") for 'namespaces/n', 'namespaces/m', map { "namespaces/n/configmaps/c$_" } 1 .. 3;
    $admin->make("/v2.0/merge-to/namespaces/$_") for 'n', 'm';
    for my $path ('/v2.0/merge-from/namespaces/n', '/v2.0/merge-from') {
        my $action = $admin->get("$path/action/move?dest=merge-to", accept => 'application/json');
        is_deeply $action->json->{move}{blockers}, [], "$path: two and three others are five";
    }
    $admin->post('/v2.0/merge-from/action/move?dest=merge-to')->is_status(303, 'they move');
    is $admin->get('/v2.0/merge-to')->json->{tenant}{resources}, 5, 'and are counted so';
    is $admin->get('/v2.0/merge-from')->json->{tenant}{resources}, 0, 'with nothing left behind';
    $admin->make('/v2.0/merge-from/persistentvolumes/p');
    is_deeply [blockers('/v2.0/merge-from/persistentvolumes/p', 'merge-to')], ['quota '], 'it is full';
    $admin->make("/v2.0/merge-from/namespaces/n");
    is_deeply $admin->get('/v2.0/merge-from/namespaces/n/action/move?dest=merge-to', accept => 'application/json')->json->{move}{blockers}, [],
        'and still takes a namespace that is merged and brings nothing';
    $admin->post('/v2.0/merge-from/namespaces/n/action/move?dest=merge-to')->is_status(303);
    is $admin->get('/v2.0/merge-to')->json->{tenant}{resources}, 5, 'which changes no count';
    is((($instance->manage('doctor'))[0]), 0, 'the doctor agrees with the counts');
};

subtest 'one resource' => sub {
    is_deeply [blockers('/v2.0/from/persistentvolumes/same', 'to')], ['name-taken persistentvolumes/same'], 'name taken';
    is_deeply [blockers('/v2.0/from/persistentvolumes/locked', 'room')], ['locked persistentvolumes/locked'], 'locked';
    is_deeply [blockers('/v2.0/from/namespaces/n/configmaps/free', 'room')], ['namespace-missing namespaces/n/configmaps/free'], 'namespace missing';
    $admin->make('/v2.0/room/namespaces/n');
    $admin->post('/v2.0/from/namespaces/n/configmaps/free/action/move?dest=room')->is_status(303, 'made there, it moves');
    $admin->post('/v2.0/room/namespaces/n/configmaps/free/action/move?dest=from')->is_status(303);
    is_deeply [blockers('/v2.0/from/namespaces/n', 'to')], ['name-taken namespaces/n/configmaps/same', 'quota '],
        'a namespace: what is in it, and it is not counted itself where it is merged';
};

subtest 'a namespace that is about to go' => sub {
    $admin->make_tenant('ends');
    $admin->put('/v2.0/ends/namespaces/n', json => { metadata => { finalizers => ['example.com/x'] } })->is_status(201, 'one with a finalizer');
    is_deeply $admin->get('/v2.0/from/namespaces/n/configmaps/free/action/move?dest=ends', accept => 'application/json')->json->{move}{blockers}, [],
        'takes what comes';
    $admin->delete('/v2.0/ends/namespaces/n')->is_status(202, 'deleted, it waits');
    is_deeply [blockers('/v2.0/from/namespaces/n/configmaps/free', 'ends')], ['namespace-terminating namespaces/n/configmaps/free'], 'and takes nothing more';
    $admin->post('/v2.0/from/namespaces/n/configmaps/free/action/move?dest=ends')->is_status(409, 'which a move keeps to');
    is_deeply [blockers('/v2.0/from/namespaces/n', 'ends')], ['namespace-terminating namespaces/n'], 'nor is a namespace merged into it';
    ok scalar(grep { $_ eq 'namespace-terminating namespaces/n' } blockers('/v2.0/from', 'ends')), 'as part of all';
};

subtest 'a namespace that waits for what would move' => sub {
    $admin->make_tenant($_) for 'waits', 'other', 'bare';
    $admin->make("/v2.0/$_/namespaces/n") for 'waits', 'other';
    my $held = '/v2.0/waits/namespaces/n/configmaps/held';
    my @holds = (json => { metadata => { finalizers => ['example.com/x'] } });
    $admin->put($held, @holds)->is_status(201);
    $admin->put("$held-alone", @holds)->is_status(201);
    $admin->delete("$held-alone")->is_status(202, 'asked to go by itself');
    $admin->post("$held-alone/action/move?dest=other")->is_status(303, 'it moves, as nobody waits for it');
    $admin->delete('/v2.0/waits/namespaces/n')->is_status(202, 'the namespace is deleted, and waits');
    is_deeply [blockers($held, 'other')], ['namespace-terminating namespaces/n/configmaps/held'], 'what it waits for stays';
    is_deeply [blockers($held, 'bare')], ['namespace-terminating namespaces/n/configmaps/held'], '... which is said first';
    $admin->patch($held, { metadata => { finalizers => undef } })->is_status(200);
    $admin->get('/v2.0/waits/namespaces/n')->is_status(410, 'so it goes with it');
};

# A namespace that is merged is deleted at once.
subtest 'a namespace with finalizers that would be merged' => sub {
    $admin->make_tenant($_) for 'held', 'has', 'lacks';
    $admin->make('/v2.0/has/namespaces/n');
    my $space = '/v2.0/held/namespaces/n';
    my %holds = (metadata => { metadata => { finalizers => ['example.com/x'] } }, spec => { metadata => {}, spec => { finalizers => ['kubernetes', 'example.com/x'] } });
    $admin->make($space, { spec => { finalizers => ['kubernetes'] }, metadata => { annotations => { a => '"finalizers"' } } });
    $admin->make("$space/configmaps/c");
    my $none = sub { my ($name, $dest) = @_; is_deeply $admin->get("$space/action/move?dest=$dest", accept => 'application/json')->json->{move}{blockers}, [], $name };
    $none->('the one of Kubernetes is none', 'has');
    for my $where (sort keys %holds) {
        $admin->put($space, json => $holds{$where})->is_status(200);
        is_deeply [blockers($space, 'has')], ['waits namespaces/n'], "in $where";
        is_deeply [blockers('/v2.0/held', 'has')], ['waits namespaces/n'], 'as part of all';
        $none->('where there is no such namespace, it keeps them', 'lacks');
    }
    $admin->put($space, json => $holds{metadata})->is_status(200);
    $admin->delete($space)->is_status(202, 'deleted, it waits');
    is_deeply [blockers($space, 'has')], ['namespace-terminating namespaces/n'], 'so what is in it goes with it';
    is_deeply [blockers('/v2.0/held', 'has')], ['namespace-terminating namespaces/n'], '... and not elsewhere with all';
    $admin->get("$space/configmaps/c")->is_status(200, 'it is where it was');
    $none->('where there is no such namespace, it waits on', 'lacks');
    $admin->post("$space/action/move?dest=lacks")->is_status(303);
    ok $admin->get('/v2.0/lacks/namespaces/n')->json->{metadata}{deletionTimestamp}, 'marked as it was';
    $admin->patch('/v2.0/lacks/namespaces/n', { metadata => { finalizers => undef } });
    $admin->get("/v2.0/lacks/namespaces/n$_")->is_status(410, 'and goes with all that is in it') for '', '/configmaps/c';
};

# A namespace of any cluster has the finalizer "kubernetes", which nothing waits for.
subtest 'many large namespaces that are merged' => sub {
    $admin->make_tenant($_) for 'large', 'small';
    my $text = 'x' x 250_000;
    for my $name (map { sprintf 'n%02d', $_ } 1 .. 80) {
        $admin->make("/v2.0/large/namespaces/$name", { metadata => { annotations => { a => $text } }, spec => { finalizers => ['kubernetes'] } });
        $admin->make("/v2.0/small/namespaces/$name");
    }
    my $show = sub { $admin->get('/v2.0/large/action/move?dest=small', accept => 'application/json') };
    my $action = $show->();
    $action->is_status(200, 'are not all in memory together') or diag $action->text;
    is_deeply $action->json->{move}{blockers}, [], 'and nothing is in the way';
    $admin->patch("/v2.0/large/namespaces/$_", { metadata => { finalizers => ['example.com/f'] } })->is_status(200) for 'n16', 'n17', 'n80';
    is_deeply [map { "$_->{reason} $_->{resource}" } @{ $show->()->json->{move}{blockers} }], [map { "waits namespaces/$_" } 'n16', 'n17', 'n80'],
        'those that have other finalizers are found on each page';
    $admin->patch("/v2.0/large/namespaces/$_", { metadata => { finalizers => undef } })->is_status(200) for 'n16', 'n17', 'n80';
    $admin->post('/v2.0/large/action/move?dest=small')->is_status(303, 'they move');
};

subtest 'a namespace of the destination that is being emptied' => sub {
    $admin->make_tenant($_) for 'comes', 'emptied';
    $admin->make("/v2.0/$_/namespaces/n") for 'comes', 'emptied';
    $admin->make("/v2.0/emptied/namespaces/n/configmaps/c$_") for 1 .. 5;
    my @stop = $instance->stop_movers;
    $admin->delete('/v2.0/emptied/namespaces/n')->is_status(202);
    my ($blocker) = @{ $admin->get('/v2.0/comes/action/move?dest=emptied', accept => 'application/json')->json->{move}{blockers} };
    is "$blocker->{reason} $blocker->{resource}", 'namespace-terminating namespaces/n', 'is in the way';
    is $blocker->{detail}, 'the destination\'s namespace of that name is being deleted, with all that is in it: wait until it is gone', 'which waits for no finalizer';
    kill CONT => @stop;
    ok Tenure::Instance::wait_until(sub { $admin->get('/v2.0/comes/action/move?dest=emptied', accept => 'application/json')->json->{move}{blockers}[0] ? 0 : 1 }),
        'until it is gone';
};

subtest 'a blocker comes or goes' => sub {
    my $address = '/v2.0/from/persistentvolumes/free/action/move?dest=room';
    my $action  = $admin->get($address);
    $admin->make('/v2.0/room/persistentvolumes/free');
    my $now = $admin->get($address);
    isnt $now->etag, $action->etag, 'gives the action another tag';
    $admin->post($address, if_match => $action->etag, accept => 'application/json')->is_problem(412, 'stale', 'the old one is stale, which is told first');
    $admin->delete('/v2.0/room/persistentvolumes/free')->is_status(204);
    $admin->post($address, if_match => $now->etag, accept => 'application/json')->is_problem(412, 'stale', 'nor is the tag with the blocker any good without it');
    $admin->post($address)->is_status(303, 'and all goes');
};

subtest 'without blockers' => sub {
    my $action = $admin->get('/v2.0/room/action/move?dest=from', accept => 'application/json');
    ok ref $action->json->{move}{blockers} eq 'ARRAY', 'JSON has an empty list or the blockers';
    my $free = $admin->get('/v2.0/room/persistentvolumes/free/action/move?dest=from');
    ok !defined Tenure::XML::child($free->xml, 'blockers'), 'XML has no element for none';
};

# Nodes of any tenant may be in a chassis: a tenant that had it could read and delete it.
subtest 'what is the operator\'s alone' => sub {
    my %mine = (
        chassis         => ['00000000-0000-4000-8000-000000000001', {}],
        deploytemplates => ['00000000-0000-4000-8000-000000000002', { name => 'CUSTOM_MINE', steps => [ { interface => 'bios', step => 'reset', args => {}, priority => 1 } ] }],
    );
    my @paths = map { "$_/$mine{$_}[0]" } sort keys %mine;
    $admin->put("/v2.0/system/$_/$mine{$_}[0]", json => $mine{$_}[1])->is_status(201) for sort keys %mine;
    for my $path (@paths) {
        is_deeply [blockers("/v2.0/system/$path", 'room')], ["type-unavailable $path"], "$path stays in the system's space";
        my $told = $admin->get("/v2.0/system/$path/action/move?dest=room", accept => 'application/json')->json->{move}{blockers}[0]{detail};
        like $told, qr/operator's alone/, 'which is said';
    }
    is_deeply [blockers('/v2.0/system', 'room')], [map { "type-unavailable $_" } @paths], 'also with all of it';
    $admin->get("/v2.0/system/$_")->is_status(200, 'it is where it was') for @paths;
    # An older version let them go.
    my $put = sub { $instance->sql("UPDATE resources SET tenant_id = (SELECT id FROM tenants WHERE name = '$_[0]') WHERE uid IN ("
        . join(', ', map { "UNHEX(REPLACE('$mine{$_}[0]', '-', ''))" } keys %mine) . ')') };
    $put->('room');
    is_deeply $admin->get("/v2.0/room/$_/action/move?dest=system", accept => 'application/json')->json->{move}{blockers}, [], 'one that is elsewhere can come back'
        for @paths;
    is_deeply [blockers("/v2.0/room/$_", 'from')], ["type-unavailable $_"], '... and goes nowhere else' for @paths;
    $put->('system');
};

subtest 'very many' => sub {
    $admin->make_tenant($_) for 'many1', 'many2';
    $instance->fill($_, 'persistentvolumes', 1500, name => 'p') for 'many1', 'many2';
    my $post = $admin->post('/v2.0/many1/action/move?dest=many2', accept => 'application/json');
    $post->is_problem(409, 'blocked');
    is scalar @{ $post->json->{blockers} }, 1000, 'a thousand are named';
    like $post->detail, qr/more than 1000/, 'and that there are more';
};

done_testing;
