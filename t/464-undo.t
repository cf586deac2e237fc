#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo: what one request changed is taken back, whole or not at all: each kind of change, the undo of the undo, and every reason against it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Undo qw(undo_path reasons);

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;
$admin->make_tenant($_) for 't1', 't2';
my $ann = $instance->service('ann:t1:member');
my $at  = '/v2.0/t1/namespaces/default/configmaps';

sub undo { my ($client, $response, %more) = @_; return $client->post(undo_path(delete $more{tenant} // 't1', $response), %more) }

sub content { return { data => $ann->get("$at/$_[0]")->json->{data}, labels => $ann->get("$at/$_[0]")->json->{metadata}{labels} } }

subtest 'an update' => sub {
    my $made = $ann->put("$at/u", json => { metadata => { labels => { a => 'b' } }, data => { color => 'red' } });
    my $put  = $ann->put("$at/u", json => { metadata => {}, data => { color => 'blue' } });
    my $preview = $ann->get(undo_path('t1', $put));
    $preview->is_status(200);
    my ($item) = @{ $preview->json->{items} };
    is_deeply [@$item{qw(resource action)}], ['namespaces/default/configmaps/u', 'restore'], 'what';
    is_deeply $item->{now}, { metadata => {}, data => { color => 'blue' } }, 'what is now';
    is_deeply $item->{restored}, { metadata => { labels => { a => 'b' } }, data => { color => 'red' } }, 'what would be';
    is_deeply $preview->json->{blockers}, [], 'nothing is in the way';
    is $ann->get("$at/u")->etag, $put->etag, 'the preview changed nothing';
    is $ann->get(undo_path('t1', $put))->etag, $preview->etag, '... and its tag stays';
    my $undone = undo($ann, $put, if_match => $preview->etag);
    $undone->is_status(200);
    is_deeply content('u'), { data => { color => 'red' }, labels => { a => 'b' } }, 'the old content';
    my $now = $ann->get("$at/u");
    isnt $now->etag, $made->etag, 'under a new etag';
    is $now->json->{metadata}{resourceVersion}, 3, '... and revision';
    $ann->put("$at/u", json => { data => {} }, if_match => $made->etag)->is_status(412, 'a stale If-Match stays stale');
    my $again = undo($ann, $put);
    $again->is_status(409, 'once more');
    is_deeply reasons($again), ['changed-since'], '... since it has changed';
    is_deeply reasons($ann->get(undo_path('t1', $put))), ['changed-since'], 'the preview says the same';
    undo($ann, $put, if_match => $preview->etag)->is_status(412, 'with the tag from before');
    undo($ann, $undone)->is_status(200, 'the undo of the undo');
    is_deeply content('u'), { data => { color => 'blue' }, labels => undef }, 'is the update again';
    my ($row) = $instance->changes_of($undone);
    is $row->{verb}, 'updated', 'an undo is a change';
    like $ann->get(undo_path('t1', $undone), headers => { Accept => 'application/xml' })->text, qr/<undo [^>]*request_id=/, 'in XML, too';
};

subtest 'traits' => sub {
    $ann->put("$at/t", json => {});
    my $first  = $ann->put("$at/t/traits", json => { traits => ['HW_CPU_X86_AVX'] });
    my $second = $ann->put("$at/t/traits", json => { traits => ['HW_CPU_X86_AVX2'] });
    undo($ann, $second)->is_status(200);
    is_deeply $ann->get("$at/t/traits")->json->{traits}, ['HW_CPU_X86_AVX'], 'those of before';
    undo($ann, $first)->is_status(409, 'not the first: it has changed since');
};

subtest 'a creation' => sub {
    my $made = $ann->put("$at/c", json => { data => { n => 'x' } });
    my ($item) = @{ $ann->get(undo_path('t1', $made))->json->{items} };
    is_deeply [@$item{qw(action restored)}], ['delete', undef], 'would delete it';
    my $undone = undo($ann, $made);
    $undone->is_status(200);
    $ann->get("$at/c")->is_status(410);
    undo($ann, $undone)->is_status(200, 'the undo of the undo');
    is $ann->get("$at/c")->etag, $made->etag, 'brings back exactly what was';
    $ann->put("$at/c", json => { data => { n => 'y' } });
    is_deeply reasons(undo($ann, $made)), ['changed-since'], 'what was changed is not deleted';
};

subtest 'a deletion' => sub {
    my $made    = $ann->put("$at/d", json => { data => { n => 'x' } });
    my $deleted = $ann->delete("$at/d");
    my ($item)  = @{ $ann->get(undo_path('t1', $deleted))->json->{items} };
    is_deeply [@$item{qw(action now restored)}], ['recover', undef, { metadata => {}, data => { n => 'x' } }], 'would recover it';
    my $undone = undo($ann, $deleted);
    $undone->is_status(200);
    my $back = $ann->get("$at/d");
    is $back->etag, $made->etag, 'the same etag';
    is_deeply $back->json, $made->json, '... uid and revision';
    undo($ann, $undone)->is_status(200, 'the undo of the undo');
    $ann->get("$at/d")->is_status(410);
    $ann->put("$at/d", json => {})->is_status(201, 'another one takes the name');
    is_deeply reasons(undo($ann, $deleted)), ['changed-since', 'name-taken'], 'every reason at once';
    $ann->get("$at/d")->is_status(200);
};

subtest 'a namespace with content' => sub {
    my $space = '/v2.0/t1/namespaces/n1';
    my $made  = $ann->put($space, json => {});
    $ann->put("$space/configmaps/c$_", json => { data => { n => "$_" } }) for 1 .. 5;
    my @before  = map { $ann->get("$space/configmaps/c$_")->etag } 1 .. 5;
    is_deeply reasons($ann->get(undo_path('t1', $made))), ['not-empty'], 'its creation is not undone: it is not empty';
    undo($ann, $made)->is_status(409);
    my $deleted = $ann->delete($space);
    is $ann->get(undo_path('t1', $deleted))->json->{changes}, 6, 'six changes';
    my $undone = undo($ann, $deleted);
    $undone->is_status(200);
    is_deeply [map { $ann->get("$space/configmaps/c$_")->etag } 1 .. 5], \@before, 'all of it is back';
    my $twice = undo($ann, $undone);
    $twice->is_status(200, 'and gone again');
    $ann->get("$space/configmaps/c$_")->is_status(410) for 1, 5;
    my $third = undo($ann, $twice);
    $third->is_status(200, 'and back');
    $ann->put("$space/configmaps/more", json => {});
    is_deeply reasons(undo($ann, $third)), ['not-empty'], 'what was added since would go, too';
    $ann->get("$space/configmaps/more")->is_status(200);
};

subtest 'a move that merged a namespace' => sub {
    $admin->make_tenant($_) for 'merges', 'merged';
    $admin->make($_) for map { ("/v2.0/$_/namespaces/n", "/v2.0/$_/namespaces/n/configmaps/of-$_") } 'merges', 'merged';
    my $move = $admin->post('/v2.0/merges/action/move?dest=merged');
    my $late = sub { return $instance->sql("UPDATE resources SET purge_at = $_[0] WHERE name = 'n' AND live IS NULL AND tenant_id = " . $instance->tenant_id('merges')) };
    $late->('deleted_at');
    my @refused = ($admin->get(undo_path('merges', $move)), undo($admin, $move, tenant => 'merges'));
    is_deeply [map { $_->status, map { "$_->{resource} $_->{reason}" } @{ $_->json->{blockers} } } @refused], [200, 'namespaces/n purged', 409, 'namespaces/n purged'],
        'which is past its purge time' or diag $refused[1]->text;
    is $instance->count_changes_of($refused[1]), 0, 'nothing is done';
    $late->('UTC_TIMESTAMP(6) + INTERVAL 1 DAY');
    undo($admin, $move, tenant => 'merges')->is_status(200, 'until then it is taken back');
};

subtest 'If-None-Match' => sub {
    my $made = $ann->put("$at/none-match", json => {});
    my $tag  = $ann->get(undo_path('t1', $made))->etag;
    for my $match ($tag, "\"x\", W/$tag", '*') {
        my $refused = undo($ann, $made, if_none_match => $match);
        $refused->is_problem(412, 'stale', "with $match");
        is $refused->etag, $tag, '... which is told';
    }
    undo($ann, $made, if_match => $tag, if_none_match => $tag)->is_status(412, 'with both');
    $ann->get("$at/none-match")->is_status(200, 'nothing is done');
    undo($ann, $made, if_match => $tag, if_none_match => '"x"')->is_status(200, 'with that of something else');
};

subtest 'a tenant' => sub {
    my $created = $admin->put('/v2.0/t3', json => { tenant => { metadata => { of => 'one' } } });
    my $changed = $admin->put('/v2.0/t3', json => { tenant => { metadata => { of => 'two' } } });
    my $preview = $admin->get(undo_path('t3', $changed));
    is_deeply [map { $_->{metadata}{of} } @{ $preview->json->{items}[0] }{qw(now restored)}], ['two', 'one'], 'side by side';
    my $undone = undo($admin, $changed, tenant => 't3');
    $undone->is_status(200);
    is $admin->get('/v2.0/t3')->json->{tenant}{metadata}{of}, 'one', 'its metadata';
    undo($admin, $undone, tenant => 't3')->is_status(200);
    is $admin->get('/v2.0/t3')->json->{tenant}{metadata}{of}, 'two', 'and the undo of that';
    is_deeply reasons(undo($admin, $created, tenant => 't3')), ['changed-since', 'changed-since'], 'its creation: it has changed';
    my $etag    = $admin->get('/v2.0/t3')->etag;
    my $deleted = $admin->delete('/v2.0/t3');
    my $back    = undo($admin, $deleted, tenant => 't3');
    $back->is_status(200, 'its deletion');
    is $admin->get('/v2.0/t3')->etag, $etag, 'exactly what was';
    $admin->put('/v2.0/t3/namespaces/default/configmaps/new', json => {});
    is_deeply reasons(undo($admin, $back, tenant => 't3')), ['changed-since'], 'what came since would go, too';
    my $fresh = $admin->put('/v2.0/t4', json => {});
    undo($admin, $fresh, tenant => 't4')->is_status(200, 'a creation');
    $admin->get('/v2.0/t4')->is_status(410);
    my $policy = $admin->put('/v2.0/t1', json => { tenant => { metadata => { a => 'b' } } });
    undo($ann, $policy)->is_status(403, 'a member may not');
    $ann->get(undo_path('t1', $policy))->is_status(403, '... nor see it');
};

subtest 'locks, names, quotas, rules' => sub {
    my $locked = $ann->put("$at/locked", json => { metadata => { locked => \1 } });
    is_deeply reasons(undo($ann, $locked)), ['locked'], 'a lock';
    my $pinned = $ann->put("$at/waits", json => { metadata => { finalizers => ['example.com/x'] } });
    is_deeply reasons(undo($ann, $pinned)), ['waits'], 'finalizers';
    my $asked = $ann->delete("$at/waits");
    is_deeply reasons(undo($ann, $asked)), ['deletion-requested'], 'a deletion that waits';
    my $space = $ann->put('/v2.0/t1/namespaces/gone', json => {});
    $ann->put('/v2.0/t1/namespaces/gone/configmaps/c', json => {});
    my $child = $ann->delete('/v2.0/t1/namespaces/gone/configmaps/c');
    $ann->delete('/v2.0/t1/namespaces/gone');
    is_deeply reasons(undo($ann, $child)), ['conflict'], 'its namespace is gone';
    my $purged = $ann->put("$at/purged", json => {});
    my $delete = $ann->delete("$at/purged");
    $instance->sql("UPDATE resources SET purge_at = deleted_at WHERE name = 'purged'");
    is_deeply reasons(undo($ann, $delete)), ['purged'], 'what is past its purge time is gone';
    is_deeply $ann->get(undo_path('t1', $delete))->json->{items}, [], '... and shown no more';
    $instance->manage('reap');
    is_deeply reasons(undo($ann, $delete)), ['purged'], '... as when it is purged';
    my $one = $ann->put("$at/old", json => { data => { n => '1' } });
    my $two = $ann->put("$at/old", json => { data => { n => '2' } });
    $instance->sql('DELETE FROM former_resources');
    is_deeply reasons(undo($ann, $two)), ['not-kept'], 'content that is not kept';
    my $move = $admin->post("$at/old/action/move?dest=t2");
    $ann->get(undo_path('t1', $two))->is_status(200, 'what has moved away');
    unlike $ann->get(undo_path('t1', $two))->text, qr/"data"/, '... is not shown to whom it was';
};

subtest 'a schema that has changed' => sub {
    my $crd = sub {
        return { apiVersion => 'apiextensions.k8s.io/v1', kind => 'CustomResourceDefinition', metadata => { name => 'widgets.example.com' },
            spec => { group => 'example.com', scope => 'Namespaced', names => { plural => 'widgets', singular => 'widget', kind => 'Widget', listKind => 'WidgetList' },
                versions => [{ name => 'v1', served => \1, storage => \1, schema => { openAPIV3Schema => { type => 'object', properties => { spec => { type => 'object', properties => { size => { type => 'integer', @_ } } } } } } }] } };
    };
    my $definition = '/v2.0/t1/customresourcedefinitions.apiextensions.k8s.io/widgets.example.com';
    my $owner = $instance->service('boss:t1:admin');
    $owner->put($definition, json => $crd->())->is_status(201);
    my $w = '/v2.0/t1/namespaces/default/widgets.example.com/w';
    $ann->put($w, json => { apiVersion => 'example.com/v1', kind => 'Widget', spec => { size => 500 } })->is_status(201);
    my $smaller = $ann->put($w, json => { apiVersion => 'example.com/v1', kind => 'Widget', spec => { size => 5 } });
    $smaller->is_status(200);
    my $stricter = $owner->put($definition, json => $crd->(maximum => 10));
    $stricter->is_status(200);
    is_deeply reasons(undo($ann, $smaller)), ['bad-document'], 'the old content breaks the schema of today';
    is $ann->get($w)->json->{spec}{size}, 5, 'and stays out';
    undo($owner, $stricter)->is_status(200, 'the schema itself is taken back');
    undo($ann, $smaller)->is_status(200, 'and then the object');
    is $ann->get($w)->json->{spec}{size}, 500, 'is what it was';
};

subtest 'who may' => sub {
    my $made = $ann->put("$at/w", json => {});
    $instance->service('eve:t2:admin')->get(undo_path('t1', $made))->is_status(404, 'a stranger');
    undo($instance->service('eve:t2:admin'), $made, tenant => 't2')->is_status(404, '... by his own tenant');
    undo($instance->service('rita:t1:reader'), $made)->is_status(403, 'a reader');
    $ann->get('/v2.0/t1/changes/00000000-0000-4000-8000-000000000000/undo')->is_status(404, 'no such request');
    $ann->get('/v2.0/t1/changes/x/undo')->is_status(404, 'no id');
    $ann->get("$at/w")->is_status(200);
};
$instance->stop;

my $few = Tenure::Instance->start(combined => 1);
$few->sql("INSERT INTO tiers (name, max_resources) VALUES ('two', 2)");
$few->admin->put('/v2.0/t1', json => { tenant => { tier => 'two' } });
$ann = $few->service('ann:t1:member');
subtest 'quota' => sub {
    $ann->put("$at/$_", json => {}) for 1, 2;
    my $deleted = $ann->delete("$at/1");
    $ann->put("$at/3", json => {})->is_status(201);
    is_deeply reasons(undo($ann, $deleted)), ['over-quota'], 'what no longer fits stays deleted';
    $ann->get("$at/1")->is_status(410);
};
$few->stop;
done_testing;
