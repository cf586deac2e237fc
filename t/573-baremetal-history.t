#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A node's history: its changes, by whom and in what, of as long as it is the asking tenant's.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault);

my $instance = Tenure::Instance->start;
my $admin    = Tenure::Metal->new($instance->admin, '1.82');
$instance->admin->make_tenant($_) for 't1', 't2';
my ($ann, $bob) = map { Tenure::Metal->new($instance->service($_), '1.82') } 'ann:t1', 'bob:t2';
my $node = $ann->make('nodes', { driver => 'fake-hardware', name => 'n1' });
my $at   = "/nodes/$node->{uuid}/history";

sub events { my ($who, $query) = @_; return @{ $who->get($at . ($query // ''))->json->{history} } }
sub texts  { return [map { $_->{event} } events(@_)] }

subtest 'what changes leave' => sub {
    is_deeply texts($ann), ['created'], 'a new node';
    $ann->patch('/nodes/n1', [[add => '/extra/slot', 1], [add => '/description', 'x']])->is_status(200);
    $ann->put('/nodes/n1/traits/CUSTOM_A')->is_status(204);
    $ann->put('/nodes/n1/maintenance', json => { reason => 'fan' })->is_status(202);
    is_deeply texts($ann), ['created', 'changed /description, /extra/slot', 'changed /traits', 'changed /maintenance, /maintenance_reason'], 'its changes, by member';
    $ann->patch('/nodes/n1', [[add => '/extra/slot', 1]])->is_status(200);
    is scalar events($ann), 4, 'what changes nothing leaves none';
    my $many = { map { ("k$_" => 1) } 10 .. 40 };
    $ann->patch('/nodes/n1', [[add => '/extra', $many]])->is_status(200);
    like texts($ann)->[-1], qr{\Achanged /.*, /extra/k\d\d, \x{2026}\z}, 'of many members the first';
    $ann->patch('/nodes/n1', [[add => '/driver_info/ipmi_password', 's3cret']])->is_status(200);
    my $all = $ann->get("$at?detail=true")->text;
    like $all, qr{/driver_info/ipmi_password}, 'a secret is named';
    unlike $all, qr/s3cret/, 'and not shown';
};

subtest 'members' => sub {
    my ($first) = events($ann);
    is_deeply [sort keys %$first], [qw(created_at event links severity uuid)], 'in lists';
    my ($whole) = events($ann, '?detail=True');
    is_deeply [sort keys %$whole], [qw(conductor created_at event event_type links severity user uuid)], 'in detail';
    is_deeply [@$whole{qw(event event_type severity user)}], ['created', 'created', 'INFO', 'ann'], 'their values';
    is_deeply [map { $_->{user} } events($admin, '?detail=1')], [('ann') x 6], 'an operator sees the same';
    is $whole->{created_at}, $node->{created_at}, 'the time of the change';
    is $whole->{conductor}, $ann->get('/nodes/n1')->json->{conductor}, 'the conductor is that of the node';
    is_deeply $whole->{links}, [{ rel => 'self', href => $ann->url . "/v1$at/$whole->{uuid}" }, { rel => 'bookmark', href => $ann->url . "$at/$whole->{uuid}" }], 'links';
    is_deeply $ann->get("$at/$whole->{uuid}")->json, $whole, 'one by its UUID, in detail';
    is_deeply $ann->get('/nodes/n1/history/' . uc $whole->{uuid})->json, $whole, 'by the node\'s name as well';
    my %uuids = map { $_->{uuid} => 1 } events($ann);
    is scalar keys %uuids, 6, 'each has its own UUID';
    like $_, qr/\A[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\z/, 'version 8' for keys %uuids;
};

subtest 'pages' => sub {
    my @all = events($ann);
    my ($url, @seen) = ("$at?limit=4&detail=false");
    my $page = $ann->get($url)->json;
    is scalar @{ $page->{history} }, 4, 'as many as asked for';
    like $page->{next}, qr{\Q$at\E\?limit=4&detail=false&marker=\Q$all[3]{uuid}\E\z}, 'and where the next ones are';
    my $next = $ann->client->get($ann->client->path_of($page->{next}), headers => { $ann->version_header })->json;
    is_deeply [@{ $page->{history} }, @{ $next->{history} }], \@all, 'together all';
    ok !exists $next->{next}, 'the last page tells of none';
    is_deeply [events($ann, "?marker=$all[-1]{uuid}")], [], 'behind the last there is none';
};

subtest 'what is refused' => sub {
    my $other = $ann->make('nodes', { driver => 'fake-hardware', name => 'n2' });
    my ($foreign) = @{ $ann->get('/nodes/n2/history')->json->{history} };
    my ($own) = events($ann);
    my $forged = $own->{uuid} =~ s/\A........(?=-)/00000000/r;
    for my $uuid ($foreign->{uuid}, $forged, '00000000-0000-4000-8000-000000000000', 'ffffffff-ffff-8fff-bfff-ffffffffffff') {
        is_fault($ann->get("$at/$uuid"), 404, qr/\ANode history record \Q$uuid\E could not be found\.\z/, "event $uuid");
        is_fault($ann->get("$at?marker=$uuid"), 404, qr/\Q$uuid\E/, 'nor is it a marker');
    }
    is_fault($ann->get("$at/x"), 400, qr/Expected UUID for event: x/, 'no UUID');
    is_fault($ann->get("$at?marker=x"), 400, qr/Expected UUID for marker: x/, 'as marker');
    is_fault($ann->get("$at?detail=x"), 400, qr/detail/, 'detail');
    is_fault($ann->get("$at?limit=0"), 400, undef, 'limit');
    is_fault($ann->get("$at?fields=event"), 400, qr/Unexpected arguments/, 'fields');
    is_fault($ann->get('/nodes/nosuch/history'), 404, qr/Node nosuch/, 'of no node');
    is_fault($ann->version('1.77')->get($at), 404, qr/1\.78/, 'before 1.78', address => 1);
    is_deeply [map { $_->{uuid} } @{ $ann->version('1.78')->get($at)->json->{history} }], [map { $_->{uuid} } events($ann)], 'the same since';
    is_fault($bob->get($at), 404, qr/\ANode /, 'another tenant\'s node');
};

subtest 'a node that has had other owners' => sub {
    my $before = texts($ann);
    my ($old)  = events($ann);
    $admin->patch('/nodes/n1', [[replace => '/owner', 't2']])->is_status(200);
    is_fault($ann->get($at), 404, undef, 'its former owner sees it no more');
    is_deeply [grep { $_ ne 'got another owner' } @{ texts($bob) }], [], 'the new one sees what happened since';
    is_fault($bob->get("$at/$old->{uuid}"), 404, undef, 'and nothing from before');
    is_fault($bob->get("$at?marker=$old->{uuid}"), 404, undef, 'also not as a marker');
    unlike $bob->get("$at?detail=true")->text, qr/t1|ann/, 'nor whose it was';
    $bob->patch('/nodes/n1', [[add => '/extra/bob', 1]])->is_status(200);
    is texts($bob)->[-1], 'changed /extra/bob', 'its own changes';
    is_deeply [@{ texts($admin) }[0 .. $#$before]], $before, 'an operator sees all';
    is texts($admin)->[-1], 'changed /extra/bob', 'to the last';
    $admin->patch('/nodes/n1', [[replace => '/owner', 't1']])->is_status(200);
    is_deeply [grep { /bob/ } @{ texts($ann) }], [], 'the first owner again: without what was in between';
    is_deeply [@{ texts($ann) }[0 .. $#$before]], $before, 'and with its own';

    $ann->delete('/nodes/n1')->is_status(204);
    is_fault($ann->get($at), 404, undef, 'a deleted one has none');
    $instance->admin->post("/v2.0/t1/nodes/$node->{uuid}/action/recover")->is_status(204);
    is_deeply [@{ texts($ann) }[-2, -1]], ['deleted', 'recovered'], 'recovered, it has all';
};

done_testing;
