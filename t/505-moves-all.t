#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Moves of all resources: everything at once, preferences, nothing to move, namespaces merged.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Undo qw(undo_path);

my $instance = Tenure::Instance->start;
my $admin    = $instance->admin;

my $serial = 0;

# Two new tenants.
sub two_tenants {
    $serial++;
    $admin->make_tenant($_) for "from$serial", "to$serial";
    return ("from$serial", "to$serial");
}

sub paths {
    my ($tenant) = @_;
    return sort map { $_->{metadata}{selfLink} =~ s{\A/v2.0/\Q$tenant\E/}{}r }
        map { @{ $admin->get("/v2.0/$tenant/$_?limit=1000")->json->{resources} } }
        qw(namespaces persistentvolumes configmaps secrets pods serviceaccounts services);
}

my @mixed = ('namespaces/n1', 'namespaces/n1/configmaps/c1', 'namespaces/n1/secrets/s1', 'namespaces/default/pods/p1', 'persistentvolumes/v1',
    'namespaces/default/services/v1');

subtest 'everything' => sub {
    my ($from, $to) = two_tenants();
    my %uid = map { $_ => $admin->make("/v2.0/$from/$_", { at => $_ })->json->{metadata}{uid} } @mixed;
    my $post = $admin->post("/v2.0/$from/action/move?dest=$to");
    $post->is_status(303);
    is $admin->path_of($post->location), "/v2.0/$to", 'see the destination';
    is_deeply [paths($to)], [sort 'namespaces/default', @mixed], 'it has everything';
    is_deeply [paths($from)], ['namespaces/default'], 'the source its namespace default';
    is $admin->get("/v2.0/$to/$_")->json->{metadata}{uid}, $uid{$_}, "$_ is the same one" for @mixed;
    is $admin->path_of($admin->get("/v2.0/$from/$_")->location), "/v2.0/$to/$_", "$_ leaves its address behind" for @mixed;
    is $admin->get("/v2.0/$from")->json->{tenant}{resources}, 0, 'counts: source';
    is $admin->get("/v2.0/$to")->json->{tenant}{resources}, scalar @mixed, 'counts: destination';
    is $admin->get("/v2.0/$from")->json->{tenant}{state}, 'active', 'the source is not deleted';
    $admin->make("/v2.0/$from/persistentvolumes/new");
    my $row = ($instance->sql(q(SELECT state, resources, actor FROM moves ORDER BY id DESC LIMIT 1)))[0];
    is_deeply $row, ['done', scalar @mixed, 'admin'], 'the move is recorded';
};

subtest 'nothing to move' => sub {
    my ($from, $to) = two_tenants();
    my $count = $instance->change_count;
    my $post  = $admin->post("/v2.0/$from/action/move?dest=$to");
    $post->is_status(303, 'is a move as well');
    is $admin->path_of($post->location), "/v2.0/$to", 'to the same end';
    is $instance->change_count, $count, 'without change rows';
};

subtest 'Prefer: return=minimal' => sub {
    my ($from, $to) = two_tenants();
    $admin->make("/v2.0/$from/persistentvolumes/p");
    my $post = $admin->post("/v2.0/$from/action/move?dest=$to", prefer => 'return=minimal');
    $post->is_status(204);
    $post->header_is('Preference-Applied', 'return=minimal');
    $admin->get("/v2.0/$to/persistentvolumes/p")->is_status(200, 'it moved');
    $admin->post("/v2.0/$to/action/move?dest=$from", prefer => 'return=representation, foo')->is_status(303, 'other preferences are ignored');
};

subtest 'what is refused' => sub {
    my ($from, $to) = two_tenants();
    $admin->make_tenant('dead');
    $admin->delete('/v2.0/dead');
    for my $method ('GET', 'POST') {
        my @json = (accept => 'application/json');
        $admin->request($method, "/v2.0/$from/action/move", @json)->is_problem(400, 'bad_parameter', "$method: dest missing");
        $admin->request($method, "/v2.0/$from/action/move?dest=nobody", @json)->is_problem(404, 'not_found', "$method: dest unknown");
        $admin->request($method, "/v2.0/$from/action/move?dest=dead", @json)->is_problem(410, 'gone', "$method: dest deleted");
        $admin->request($method, "/v2.0/$from/action/move?dest=$from", @json)->is_problem(409, 'conflict', "$method: dest the same");
        $admin->request($method, "/v2.0/nobody/action/move?dest=$to", @json)->is_problem(404, 'not_found', "$method: source unknown");
        $admin->request($method, "/v2.0/dead/action/move?dest=$to", @json)->is_problem(410, 'gone', "$method: source deleted");
        $admin->request($method, "/v2.0/$from/action/move?dest=$to&x=1", @json)->is_problem(400, 'bad_parameter', "$method: something else asked");
    }
};

subtest 'a namespace that is there, too' => sub {
    my ($from, $to) = two_tenants();
    my $source = $admin->make("/v2.0/$from/namespaces/shared", { of => 'source' })->json->{metadata}{uid};
    my $there  = $admin->make("/v2.0/$to/namespaces/shared",   { of => 'dest' })->json->{metadata}{uid};
    $admin->make("/v2.0/$from/namespaces/shared/configmaps/mine");
    $admin->make("/v2.0/$to/namespaces/shared/configmaps/theirs");
    my $post = $admin->post("/v2.0/$from/action/move?dest=$to");
    $post->is_status(303);
    is $admin->get("/v2.0/$to/namespaces/shared")->json->{metadata}{uid}, $there, 'is merged into that one';
    is_deeply [map { $_->{metadata}{name} } @{ $admin->get("/v2.0/$to/namespaces/shared/configmaps")->json->{resources} }], ['mine', 'theirs'],
        'which has what both had';
    is $admin->get("/v2.0/$to")->json->{tenant}{resources}, 3, 'it is counted once';
    is $admin->get("/v2.0/$from")->json->{tenant}{resources}, 0, 'the source has none';
    my $get = $admin->get("/v2.0/$from/namespaces/shared");
    $get->is_status(301, 'its old address');
    is $admin->path_of($get->location), "/v2.0/$to/namespaces/shared", 'leads to the other';
    my @rows = sort map { "$_->{verb} $_->{type}/$_->{name} $_->{tenant}" } $instance->changes_of($post);
    is_deeply \@rows, ["deleted namespaces/shared $from", "moved configmaps/mine $to"], 'the change log tells of both';
    $admin->post("/v2.0/$from/namespaces/shared/action/recover?uid=$source")->is_status(204, 'the source\'s own is recoverable');
    is $admin->get("/v2.0/$from/namespaces/shared")->json->{of}, 'source', 'as it was';
};

# What led to a namespace that is merged later leads to the one that has its content from then on, as what led to its content does.
subtest 'an address left before its namespace was merged' => sub {
    my ($first, $second, $third, $fourth) = (two_tenants(), two_tenants());
    my %uid = map { $_ => $admin->make("/v2.0/$_/namespaces/shared")->json->{metadata}{uid} } $first, $third, $fourth;
    my $move = sub { my ($from, $to) = @_; my $moved = $admin->post("$from/action/move?dest=$to"); $moved->is_status(303, "$from to $to"); return $moved };
    my $undo = sub { my ($tenant, $moved) = @_; my $undone = $admin->post(undo_path($tenant, $moved)); $undone->is_status(200, "taken back in $tenant"); return $undone };
    my $leads = sub {
        my ($home, $uid, @left) = @_;
        for my $tenant (@left) {
            for my $path ('namespaces/shared', 'namespaces/shared/configmaps/c', 'namespaces/shared/action/move?dest=from1') {
                my $get = $admin->get("/v2.0/$tenant/$path");
                $get->is_status(301, "$tenant/$path");
                is $admin->path_of($get->location), "/v2.0/$home/$path", "... leads to $home";
            }
            my $post = $admin->post("/v2.0/$tenant/namespaces/shared/action/move?dest=from1");
            is $post->status . ' ' . $admin->path_of($post->location), "301 /v2.0/$home/namespaces/shared/action/move?dest=from1", '... a move there, too';
            my ($listed) = grep { $_->{resource} eq 'namespaces/shared' } @{ $admin->get("/v2.0/$tenant/forwards")->json->{forwards} };
            is_deeply [@$listed{qw(dest uid state)}], [$home, $uid, 'moved'], '... and the list says so';
        }
    };
    $admin->make("/v2.0/$first/namespaces/shared/configmaps/c");
    $move->("/v2.0/$first", $second);
    $leads->($second, $uid{$first}, $first);
    my $merged = $move->("/v2.0/$second", $third);
    $leads->($third, $uid{$third}, $first, $second);
    my $undone = $undo->($second, $merged);
    $leads->($second, $uid{$first}, $first);
    $undo->($second, $undone);
    $leads->($third, $uid{$third}, $first, $second);
    my $again = $move->("/v2.0/$third/namespaces/shared", $fourth);
    $leads->($fourth, $uid{$fourth}, $first, $second, $third);
    is $admin->put("/v2.0/$first/forwards/namespaces/shared", json => { forward => {} })->json->{forward}{dest}, $fourth, 'a forward that is changed says so';
    $undo->($third, $again);
    $leads->($third, $uid{$third}, $first, $second);
    $move->("/v2.0/$third", $fourth);
    $leads->($fourth, $uid{$fourth}, $first, $second, $third);

    # Neither the end of the forwards between nor that of the tenants there is the end of the others.
    $admin->make("/v2.0/$second/namespaces/shared");
    $admin->delete("/v2.0/$third/forwards/namespaces/shared")->is_status(204);
    $leads->($fourth, $uid{$fourth}, $first);
    $admin->delete("/v2.0/$second")->is_status(204);
    $leads->($fourth, $uid{$fourth}, $first);
    $instance->sql("UPDATE tenants SET purge_at = UTC_TIMESTAMP(6) WHERE name = '$second' AND live = 1");
    is +($instance->manage('reap'))[0], 0, 'the tenant between is purged';
    $leads->($fourth, $uid{$fourth}, $first);

    # Nor is the purge of what was merged.
    $admin->make("/v2.0/$third/$_") for 'namespaces/shared', 'namespaces/shared/configmaps/last';
    $move->("/v2.0/$third/namespaces/shared", $fourth);
    $instance->sql(q(UPDATE resources SET purge_at = UTC_TIMESTAMP(6) WHERE name = 'shared' AND live IS NULL));
    like +($instance->manage('reap', '--dry-run'))[1], qr/ 0 forwards/, 'a purge will keep the forwards';
    like +($instance->manage('reap'))[1], qr/ 0 forwards/, 'a purge keeps them';
    is $instance->sql_value(q(SELECT COUNT(*) FROM resources WHERE name = 'shared' AND live IS NULL)), 0, 'of all that was merged';
    is $instance->sql_value('SELECT COUNT(*) FROM merged_namespaces m JOIN resources r ON r.id = m.resource_id AND r.deletion = m.deletion'), 0, '... and what was noted of it';
    $leads->($fourth, $uid{$fourth}, $first);
    is +($instance->manage('doctor'))[0], 0, 'the doctor finds nothing';

    # The end of the one that has the content is.
    $admin->delete("/v2.0/$fourth/namespaces/shared")->is_status(204);
    $admin->get("/v2.0/$first/$_")->is_status(410, "$_ is gone") for 'namespaces/shared', 'namespaces/shared/configmaps/c';
    $admin->post("/v2.0/$fourth/namespaces/shared/action/recover")->is_status(204);
    $leads->($fourth, $uid{$fourth}, $first);
    $admin->delete("/v2.0/$fourth")->is_status(204);
    $admin->get("/v2.0/$first/namespaces/shared")->is_status(410, 'a deleted tenant');
};

# A page that has a namespace and the one that it was merged into, in either order, or the one alone.
subtest 'a purge of several that were merged into each other' => sub {
    for my $due ('1', '2', '1, 2', '2, 3', '1, 2, 3') {
        my @tenants = (two_tenants(), two_tenants(), (two_tenants())[0]);
        my @ids;
        $admin->make("/v2.0/$_/namespaces/row") for @tenants[0, 2, 3, 4];
        for my $i (0 .. 3) {
            $admin->post("/v2.0/$tenants[$i]/namespaces/row/action/move?dest=$tenants[$i + 1]")->is_status(303);
            my $id = $instance->sql_value("SELECT id FROM resources WHERE name = 'row' AND live IS NULL ORDER BY changed DESC LIMIT 1");
            push @ids, $id if $i > 0;
        }
        my $which = join ', ', map { $ids[$_ - 1] } split /, /, $due;
        $instance->sql("UPDATE resources SET purge_at = UTC_TIMESTAMP(6) - INTERVAL id SECOND WHERE id IN ($which)");
        is +($instance->manage('reap'))[0], 0, "purged: $due";
        for my $tenant (@tenants[0 .. 3]) {
            my $get = $admin->get("/v2.0/$tenant/namespaces/row");
            is $get->status . ' ' . $admin->path_of($get->location // ''), "301 /v2.0/$tenants[4]/namespaces/row", "$tenant leads on";
        }
    }
};

subtest 'one namespace' => sub {
    my ($from, $to) = two_tenants();
    $admin->make("/v2.0/$from/$_") for @mixed;
    my $action = $admin->get("/v2.0/$from/namespaces/n1/action/move?dest=$to", accept => 'application/json');
    is_deeply [map { $_->{id} } @{ $action->json->{move}{resources} }], ['namespaces/n1', 'namespaces/n1/configmaps/c1', 'namespaces/n1/secrets/s1'],
        'its move action lists what is in it';
    my $post = $admin->post("/v2.0/$from/namespaces/n1/action/move?dest=$to", if_match => $action->etag);
    $post->is_status(303);
    is $admin->path_of($post->location), "/v2.0/$to/namespaces/n1", 'see its new home';
    is_deeply [paths($to)], [sort 'namespaces/default', grep { /n1/ } @mixed], 'it moved with all that is in it';
    is_deeply [paths($from)], [sort 'namespaces/default', grep { !/n1/ } @mixed], 'and nothing else did';
    is $admin->path_of($admin->get("/v2.0/$from/namespaces/n1/secrets/s1")->location), "/v2.0/$to/namespaces/n1/secrets/s1", 'forwards, too';

    # Back, into a namespace of that name.
    $admin->make("/v2.0/$from/namespaces/n1");
    $admin->make("/v2.0/$from/namespaces/n1/pods/here");
    $admin->post("/v2.0/$to/namespaces/n1/action/move?dest=$from")->is_status(303, 'merged where there is one');
    is_deeply [sort grep { /n1/ } paths($from)], [sort(grep({ /n1/ } @mixed), 'namespaces/n1/pods/here')], 'all of it is there';
    is_deeply [paths($to)], ['namespaces/default'], 'and none is left';
};

subtest 'deleted ones stay' => sub {
    my ($from, $to) = two_tenants();
    $admin->make("/v2.0/$from/persistentvolumes/$_") for 'gone', 'goes';
    $admin->delete("/v2.0/$from/persistentvolumes/gone")->is_status(204);
    $admin->post("/v2.0/$from/action/move?dest=$to")->is_status(303);
    $admin->get("/v2.0/$from/persistentvolumes/gone")->is_problem(410, 'gone', 'a deleted one does not move');
    $admin->post("/v2.0/$from/persistentvolumes/gone/action/recover")->is_status(204, 'and comes back where it was');
};

subtest 'a round of tenants' => sub {
    $admin->make_tenant("ring$_") for 0 .. 3;
    $admin->make("/v2.0/ring0/persistentvolumes/r$_") for 1 .. 5;
    for my $step (0 .. 11) {
        my ($here, $there) = ($step % 4, ($step + 1) % 4);
        $admin->post("/v2.0/ring$here/action/move?dest=ring$there")->is_status(303, "ring$here to ring$there");
    }
    $admin->get("/v2.0/ring0/persistentvolumes/r$_")->is_status(200, 'after three rounds home again') for 1 .. 5;
    for my $other (1 .. 3) {
        my $get = $admin->get("/v2.0/ring$other/persistentvolumes/r1");
        is $admin->path_of($get->location // ''), '/v2.0/ring0/persistentvolumes/r1', "ring$other leads home";
    }
    is $instance->sql_value(q(SELECT COUNT(*) FROM forwards WHERE name = 'r1')), 3, 'no forward is left over';
};

is((($instance->manage('doctor'))[0]), 0, 'the doctor finds nothing');

done_testing;
