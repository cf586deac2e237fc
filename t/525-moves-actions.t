#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Move actions: what they list, their tags, what changes a tag and what does not; large ones.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start(settings => { 'tenure.move_list_max' => 5 });
my $admin    = $instance->admin;
$admin->make_tenant($_) for 'from', 'to', 'other';
my $address = '/v2.0/from/action/move?dest=to';

sub action { return $admin->get($_[0] // $address, accept => 'application/json') }
sub move   { return action(@_)->json->{move} }

subtest 'an empty tenant' => sub {
    my $action = $admin->get($address);
    $action->is_status(200);
    is scalar Tenure::XML::children(Tenure::XML::child($action->xml, 'resources')), 0, 'lists nothing';
    like $action->etag, qr/\A"[0-9a-f]{40}"\z/, 'but has its tag';
};

subtest 'the list' => sub {
    my %uid = map { $_ => $admin->make("/v2.0/from/$_")->json->{metadata}{uid} } 'persistentvolumes/p%20%C3%A9', 'namespaces/n',
        'namespaces/n/configmaps/c';
    my $move = move();
    my @ids  = map { $_->{id} } @{ $move->{resources} };
    is_deeply [sort @ids], ['namespaces/n', 'namespaces/n/configmaps/c', "persistentvolumes/p \x{e9}"], 'ids are not encoded; default is not among them';
    is $_->{uid}, $uid{ $_->{id} =~ s/p \x{e9}/p%20%C3%A9/r }, "uid of $_->{id}" for @{ $move->{resources} };
    my %tags = map { $_->{tag} => 1 } @{ $move->{resources} };
    is scalar keys %tags, 3, 'each has a tag of its own';
    is_deeply [map { $_->{id} } @{ $move->{tenants} }], ['from', 'to'], 'source, then destination';
    is_deeply [map { $_->{resources} } @{ $move->{tenants} }], [3, 0], 'with how many each has';
    ok exists $move->{tenants}[0]{$_}, "and its $_" for qw(tier metadata state etag);
    $admin->put('/v2.0/from', json => { tenant => { metadata => { color => 'red' } } })->is_status(202);
    is Tenure::XML::child(Tenure::XML::child(Tenure::XML::child($admin->get($address)->xml, 'tenants'), 'tenant'), 'color')->{text}, 'red',
        'metadata as elements';
    my $again = move();
    is_deeply $again->{resources}, move()->{resources}, 'nothing changes by looking';
};

# Of the preview at that address, whose tag is etag now.
sub check_conditions {
    my ($what, $at, $etag) = @_;
    my $get = sub { return $admin->get($at, accept => 'application/json', @_) };
    my $same = $get->(if_none_match => $etag);
    $same->is_status(304, "$what: not modified");
    is $same->etag, $etag, '... with its tag';
    is $same->text, '', '... and nothing else';
    $get->(if_none_match => '"' . '0' x 40 . '"')->is_status(200, '... with another tag it is whole');
    $get->(if_match => $etag)->is_status(200, '... as with If-Match that is right');
    my $stale = $get->(if_match => '"' . '0' x 40 . '"');
    $stale->is_problem(412, 'stale', '... or wrong');
    is $stale->etag, $etag, '... which tells the present one';
    return;
}

subtest 'preconditions of previews' => sub {
    my $made = $admin->make('/v2.0/from/namespaces/n/configmaps/previewed');
    my $undo = '/v2.0/from/changes/' . $made->header('x-request-id') . '/undo';
    for ([$address, 'all'], ['/v2.0/from/namespaces/n/configmaps/previewed/action/move?dest=to', 'one'], ['/v2.0/from/namespaces/n/action/move?dest=to', 'a namespace'], [$undo, 'an undo']) {
        my ($at, $what) = @$_;
        check_conditions($what, $at, action($at)->etag);
    }
    $admin->delete('/v2.0/from/namespaces/n/configmaps/previewed')->is_status(204);
};

subtest 'what changes the tag' => sub {
    my $path = '/v2.0/from/persistentvolumes/p1';
    my %seen;
    my $differs = sub {
        my ($what) = @_;
        my $etag = action()->etag;
        is action()->etag, $etag, "$what: the tag holds while nothing changes";
        ok !$seen{$etag}++, 'and is one never seen before';
    };
    my $without = action()->etag;
    $differs->('at first');
    my $made = $admin->make($path, { v => 'A' });
    $differs->('a resource comes');
    $admin->put($path, json => { v => 'B' });
    $differs->('it changes');
    $admin->put($path, json => { v => 'A' });
    $differs->('it changes back');
    $admin->delete($path);
    is action()->etag, $without, 'it goes: the state is the one before it came';
    $admin->post("$path/action/recover?uid=" . $made->json->{metadata}{uid});
    my $recovered = action()->etag;
    $admin->delete($path);
    $admin->make($path, { v => 'A' });
    $differs->('it goes and is made anew, the same');
    isnt action()->etag, $recovered, 'that is another one than the recovered one';
    $admin->post("$path/action/move?dest=other");
    is action()->etag, $without, 'it moves away: the same';
    $admin->post('/v2.0/other/persistentvolumes/p1/action/move?dest=from');
    $differs->('it comes back');
    $admin->put('/v2.0/from', json => { tenant => { tier => 'gold' } });
    $differs->('the source\'s tier');
    $admin->put('/v2.0/to', json => { tenant => { metadata => { x => '1' } } });
    $differs->('the destination\'s metadata');
    $admin->make('/v2.0/to/persistentvolumes/p1');
    $differs->('a blocker');
    $admin->delete('/v2.0/to/persistentvolumes/p1');
    # Whatever the blocker was, it is away: this state was seen.
    ok $seen{ action()->etag }, 'without it the tag is as before';
    $admin->make('/v2.0/to/persistentvolumes/unrelated');
    $differs->('what comes to the destination and is not in the way');
    $admin->delete('/v2.0/to/persistentvolumes/unrelated');
    $admin->make('/v2.0/to/namespaces/unrelated');
    $differs->('one of another type');
};

# The header identifies the answer: what is told of blockers is told apart, with as many of them and for the same reason.
subtest 'blockers in the tag' => sub {
    $admin->make_tenant($_) for 'b-from', 'b-to';
    my $at = '/v2.0/b-from/action/move?dest=b-to';
    $admin->make("/v2.0/b-from/persistentvolumes/$_") for 'a', 'b', 'ab', 'aba';
    my (%of, $text);
    my $look = sub {
        my ($what) = @_;
        my $action = action($at);
        my $told   = join ' ', map { "$_->{reason}:$_->{resource}" } @{ $action->json->{move}{blockers} };
        is $of{ $action->etag } // $told, $told, "$what: a tag of its own" or diag $action->etag;
        $of{ $action->etag } = $told;
        return $told;
    };
    for my $names ([], ['a'], ['b'], ['ab'], ['a', 'b'], ['ab', 'aba'], ['a', 'aba'], ['b', 'aba']) {
        $admin->make("/v2.0/b-to/persistentvolumes/$_") for @$names;
        is $look->("@$names"), join(' ', sort map { "name-taken:persistentvolumes/$_" } @$names), "blockers: @$names";
        $admin->delete("/v2.0/b-to/persistentvolumes/$_")->is_status(204) for @$names;
    }
    is scalar keys %of, 8, 'eight states, eight tags';
};

subtest 'what does not' => sub {
    my $etag = action()->etag;
    $admin->put('/v2.0/from/persistentvolumes/p1', json => { v => 'A' });
    is action()->etag, $etag, 'a write that changes nothing';
    $admin->make('/v2.0/other/persistentvolumes/x');
    is action()->etag, $etag, 'what happens elsewhere';
    is $admin->get('/v1.0/from/action/move?dest=to')->etag, $etag, 'the vocabulary';
    is $admin->get($address)->etag, $etag, 'the form';
    isnt action('/v2.0/from/action/move?dest=other')->etag, $etag, 'another destination is another action';
};

subtest 'large ones' => sub {
    $admin->make_tenant('large');
    my $at   = '/v2.0/large/action/move?dest=to';
    $admin->make("/v2.0/large/persistentvolumes/l$_", { n => $_ }) for 1 .. 5;
    is ref move($at)->{resources}, 'ARRAY', 'as many as the limit are listed';
    my $listed = action($at)->etag;
    $admin->make('/v2.0/large/persistentvolumes/l6', { n => 6 });
    my $tagged = move($at)->{resources};
    is ref $tagged, 'HASH', 'one more is not';
    is $tagged->{size}, 6, 'size';
    my $bytes = $instance->sql_value(
        q(SELECT SUM(LENGTH(r.meta) + LENGTH(r.body)) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 'large' AND r.live = 1));
    is $tagged->{'total-usage'}, $bytes, 'total-usage: the bytes of their documents';
    my $tag = $tagged->{tag};
    $admin->patch('/v2.0/large/persistentvolumes/l3', { n => 'x' });
    isnt move($at)->{resources}{tag}, $tag, 'tag: another after a change';
    my $etag = action($at)->etag;
    $admin->post($at, if_match => $etag)->is_status(303, 'a conditional move of it');
    is $admin->get('/v2.0/large')->json->{tenant}{resources}, 0, 'moves all';
    isnt $etag, $listed, 'under another tag than the small one\'s';
};

subtest 'hundreds and thousands' => sub {
    $admin->make_tenant('huge');
    $instance->fill('huge', 'persistentvolumes', 25_000);
    my $id = $instance->tenant_id('huge');
    my $action = action('/v2.0/huge/action/move?dest=other');
    is $action->json->{move}{resources}{size}, 25000, 'are counted and tagged';
    my $post = $admin->post('/v2.0/huge/action/move?dest=other', if_match => $action->etag);
    $post->is_status(303, 'and moved, in one transaction');
    is $admin->get('/v2.0/other')->json->{tenant}{resources}, 25001 + 0, 'all of them';
    is $instance->sql_value("SELECT COUNT(*) FROM resources WHERE tenant_id = $id AND live = 1"), 0, 'none stayed';
    is $instance->sql_value("SELECT COUNT(*) FROM forwards WHERE tenant_id = $id"), 25000, 'each left its address';
    is $instance->sql_value("SELECT COUNT(*) FROM changes WHERE from_tenant_id = $id AND verb = 'moved'"), 25000, 'each has its change row';
    is $instance->sql_value("SELECT COUNT(DISTINCT request_id) FROM changes WHERE from_tenant_id = $id"), 1, 'of one request';
};

done_testing;
