#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A node's document shows its owner, so its etag covers it: a move is noticed, and one back as well, in every dialect.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault);

my $instance = Tenure::Instance->start(combined => 1);
my $operator = $instance->combined('admin');
my $metal    = Tenure::Metal->new($operator, '1.82');
$operator->make_tenant($_) for 't1', 't2';
my $node    = $metal->make('nodes', { driver => 'fake-hardware', name => 'n1', owner => 't1' });
my $uuid    = $node->{uuid};
my $port    = $metal->make('ports', { node_uuid => $uuid, address => '52:54:00:00:00:01' });
my $group   = $metal->make('portgroups', { node_uuid => $uuid, name => 'pg' });
my $chassis = $metal->make('chassis', {});
$operator->make('/v2.0/t1/namespaces/default/configmaps/c');

sub bare { return $_[0] =~ s/"//gr }

sub tenancy_url { return "/v2.0/$_[0]/nodes/$uuid" }
sub spaces_url  { return "/apis/baremetal.openstack.org/v1/tenants/$_[0]/nodes" }

sub changes { return @{ $operator->get("/v2.0/$_[0]/changes?limit=1000")->json->{changes} } }

# Every place that tells the node's tag, by its name.
sub told {
    my ($tenant) = @_;
    my ($listed) = grep { $_->{uuid} eq $uuid } @{ $metal->get('/nodes/detail')->json->{nodes} };
    my ($short)  = grep { $_->{uuid} eq $uuid } @{ $metal->get('/nodes')->json->{nodes} };
    my ($owned)  = grep { $_->{uuid} eq $uuid } @{ $metal->get("/nodes?owner=$tenant")->json->{nodes} };
    my ($change) = grep { $_->{uid} eq $uuid && defined $_->{etag_after} } reverse changes($tenant);
    return (
        'bare metal, header'      => bare($metal->get("/nodes/$uuid")->etag),
        'bare metal, body'        => $metal->get("/nodes/$uuid")->json->{etag},
        'bare metal, by name'     => $metal->get('/nodes/n1')->json->{etag},
        'bare metal, 1.40'        => $metal->version('1.40')->get("/nodes/$uuid")->json->{etag},
        'bare metal, a list'      => $short->{etag},
        'bare metal, in detail'   => $listed->{etag},
        'bare metal, by owner'    => $owned->{etag},
        'bare metal, of a port'   => $metal->get("/nodes/detail?driver=fake-hardware")->json->{nodes}[0]{etag},
        'tenancy, header'         => bare($operator->get(tenancy_url($tenant))->etag),
        'tenancy, again'          => bare($operator->get(tenancy_url($tenant))->etag),
        'tenancy, HEAD'           => bare($operator->head(tenancy_url($tenant))->etag),
        'tenancy, body'           => $operator->get(tenancy_url($tenant))->json->{metadata}{etag},
        'tenancy, v1.0'           => bare($operator->get(tenancy_url($tenant) =~ s/v2/v1/r)->etag),
        'tenancy, XML'            => bare($operator->get(tenancy_url($tenant), accept => 'application/xml')->etag),
        'tenancy, a list'         => $operator->get("/v2.0/$tenant/nodes")->json->{resources}[0]{metadata}{etag},
        'tenancy, the feed'       => $change->{etag_after},
        'spaces, header'          => bare($operator->get(spaces_url($tenant) . "/$uuid")->etag),
        'spaces, body'            => $operator->get(spaces_url($tenant) . "/$uuid")->json->{metadata}{etag},
        'spaces, a list'          => $operator->get(spaces_url($tenant))->json->{items}[0]{metadata}{etag},
        'spaces, all tenants'     => $operator->get(spaces_url('all'))->json->{items}[0]{metadata}{etag},
    );
}

# That all tell the same, which is returned.
sub one_tag {
    my ($tenant, $name) = @_;
    subtest "$name: one tag everywhere" => sub {
        my %told = told($tenant);
        is $told{$_}, $told{'bare metal, header'}, $_ for sort keys %told;
        like $told{'bare metal, header'}, qr/\AW\/[0-9a-f]{128}\z/, 'and it has the form';
    };
    return $metal->get("/nodes/$uuid")->json->{etag};
}

# A write with that tag, in each dialect, is refused.
sub is_stale {
    my ($tenant, $etag, $name) = @_;
    subtest "$name: stale everywhere" => sub {
        my $patch = $metal->patch("/nodes/$uuid", [[add => '/extra/stale', 1]], if_match => $etag);
        is_fault($patch, 412, qr/\S/, 'bare metal, PATCH');
        is $metal->request('PUT', "/nodes/$uuid/maintenance", json => { reason => 'x' }, if_match => $etag)->status, 412, 'bare metal, maintenance';
        is $metal->request('PUT', "/nodes/$uuid/traits/CUSTOM_X", if_match => $etag)->status, 412, 'bare metal, a trait';
        is $metal->request('DELETE', "/nodes/$uuid", if_match => $etag)->status, 412, 'bare metal, DELETE';
        my $tenancy = $operator->patch(tenancy_url($tenant), { extra => { stale => 1 } }, if_match => $etag);
        $tenancy->is_problem(412, 'stale', 'tenancy, PATCH');
        my $problem = $tenancy->json;
        is_deeply $problem->{fields}, ['/metadata/tenant'], 'it tells what is new';
        ok defined $problem->{changed_by} && defined $problem->{changed_at}, 'who moved it, and when';
        $operator->delete(tenancy_url($tenant), if_match => $etag)->is_problem(412, 'stale', 'tenancy, DELETE');
        is $operator->patch(spaces_url($tenant) . "/$uuid", { extra => { stale => 1 } }, if_match => $etag)->status, 412, 'spaces, PATCH';
        is $operator->delete(spaces_url($tenant) . "/$uuid", if_match => $etag)->status, 412, 'spaces, DELETE';
        is $operator->get(tenancy_url($tenant), if_none_match => $etag)->status, 200, 'and no GET says that nothing is new';
    };
    return;
}

my %others = (ports => "/ports/$port->{uuid}", portgroups => "/portgroups/$group->{uuid}", chassis => "/chassis/$chassis->{uuid}");
my %was    = map { $_ => $metal->get($others{$_})->json->{etag} } keys %others;
my $config = $operator->get('/v2.0/t1/namespaces/default/configmaps/c')->etag;

my $first = one_tag('t1', 'at first');
is $node->{etag}, $first, 'as its creation said';
$operator->post(tenancy_url('t1') . '/action/move?dest=t2')->is_status(303);
my $second = one_tag('t2', 'moved by the tenancy dialect');
isnt $second, $first, 'it is another one';
is_stale('t2', $first, 'the one from before');
$operator->post('/v2.0/t2/action/move?dest=t1')->is_status(303);
my $third = one_tag('t1', 'moved back, with all');
is scalar(keys %{ { map { $_ => 1 } $first, $second, $third } }), 3, 'from A to B to A is noticed';
is_stale('t1', $first, 'the one from before both');
is_stale('t1', $second, 'the one from between');

subtest 'the owner by PATCH' => sub {
    my $patch = $metal->patch("/nodes/$uuid", [[replace => '/owner', 't2']], if_match => $third);
    $patch->is_status(200);
    is $patch->json->{etag}, $metal->get("/nodes/$uuid")->json->{etag}, 'answers the tag that it has then';
    is bare($patch->etag), $patch->json->{etag}, 'in the header, too';
    is $metal->patch("/nodes/$uuid", [[add => '/extra/k', 1]], if_match => $third)->status, 412, 'the one before is stale';
    $metal->patch("/nodes/$uuid", [[add => '/extra/k', 1]], if_match => $patch->json->{etag})->is_status(200, 'that one is good');
    one_tag('t2', 'changed there');
};

subtest 'deleted and recovered' => sub {
    my $tag = $metal->get("/nodes/$uuid")->json->{etag};
    $operator->delete(tenancy_url('t2'), if_match => $tag)->is_status(204);
    $operator->post(tenancy_url('t2') . '/action/recover', if_match => $first)->is_problem(412, 'stale', 'by an older tag');
    $operator->post(tenancy_url('t2') . '/action/recover', if_match => $tag)->is_status(204, 'by the one it was deleted with');
    is one_tag('t2', 'back again'), $tag, 'it is the same again';
};

subtest 'the feed tells one story' => sub {
    # A move is told in both.
    my %change  = map { $_->{id} => $_ } grep { $_->{uid} eq $uuid } changes('t1'), changes('t2');
    my @changes = map { $change{$_} } sort { $a <=> $b } keys %change;
    my ($last, @wrong);
    for my $change (@changes) {
        push @wrong, "$change->{verb} $change->{id}" if defined $last && defined $change->{etag_before} && $change->{etag_before} ne $last;
        push @wrong, "$change->{verb} $change->{id} keeps the tag" if $change->{verb} eq 'moved' && $change->{etag_before} eq $change->{etag_after};
        $last = $change->{etag_after} // $last;
    }
    is_deeply \@wrong, [], 'before is always what was after';
    is scalar(grep { $_->{verb} eq 'moved' } @changes), 3, 'with three moves in it';
    my %seen = map { ($_->{etag_after} // '') => 1 } @changes;
    ok $seen{$_}, 'a tag that was shown is in it' for $first, $second, $third;
};

subtest 'of other types the tenant is address, not content' => sub {
    my $path = 'namespaces/default/configmaps/c';
    $operator->post("/v2.0/t1/$path/action/move?dest=t2")->is_status(303);
    is $operator->get("/v2.0/t2/$path")->etag, $config, 'a config map keeps it there';
    $operator->post("/v2.0/t2/$path/action/move?dest=t1")->is_status(303);
    is $metal->get($others{$_})->json->{etag}, $was{$_}, $_ for sort keys %others;
    is $operator->get('/v2.0/t1/namespaces/default/configmaps/c')->etag, $config, 'and of config maps, moved there and back';
    is $instance->sql_value("SELECT moves FROM resources WHERE name = 'c'"), 2, 'whose moves are counted, too';
};

subtest 'what happened under the former owner is told to operators alone' => sub {
    my ($dora, $eve) = map { Tenure::Metal->new($instance->combined($_), '1.82') } 'dora:t1:member', 'eve:t2:member';
    my $moved = $metal->make('nodes', { driver => 'fake-hardware', name => 'n2', owner => 't1' });
    my $below = $metal->make('ports', { node_uuid => $moved->{uuid}, address => '52:54:00:00:00:02' });
    my ($n2, $p2) = ("/nodes/$moved->{uuid}", "/ports/$below->{uuid}");
    $dora->patch($_, [[add => '/extra/secret', 1]])->is_status(200) for $n2, $p2;
    $operator->post("/v2.0/t1/nodes/$moved->{uuid}/action/move?dest=t2")->is_status(303);
    my $stale = sub { my ($who, $path, $etag) = @_; return $who->patch($path, [[add => '/extra/k', 1]], if_match => $etag) };
    for my $told ($stale->($eve, $n2, $moved->{etag}), $stale->($eve, $p2, $below->{etag})) {
        is_fault($told, 412, qr/Its etag is now/);
        unlike $told->text, qr/dora|secret/, 'neither who changed it before, nor what';
    }
    is_fault($stale->($metal, $p2, $below->{etag}), 412, qr{changed by dora at .*/extra/secret});
};

subtest 'a log that is older than the count of moves' => sub {
    # A cached node is as before as long as its last change is the same.
    $instance->sql("UPDATE changes SET moves = 0; UPDATE resources SET moves = 0, changed = changed - 1");
    my @changes = grep { $_->{uid} eq $uuid } changes('t2');
    ok !(grep { ($_->{etag_after} // 'W/' . 'a' x 128) !~ /\AW\/[0-9a-f]{128}\z/ } @changes), 'is told all the same';
    ok !(grep { $_->{verb} eq 'moved' && $_->{etag_before} eq $_->{etag_after} } @changes), 'with another tag behind each move';
    is $metal->get("/nodes/$uuid")->json->{etag}, $changes[-1]{etag_after}, 'and ends with the tag that the node has';
};

done_testing;
