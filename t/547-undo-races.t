#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo raced by other writers: whole or refused, never half. Each answer is compared with what the change log has of that request.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Parallel;
use Tenure::Undo qw(undo_path);

my $seed     = $ENV{TENURE_SEED} // time;
my $rounds   = $ENV{TENURE_UNDO_ROUNDS} // 3;
my $ops      = $ENV{TENURE_UNDO_OPS} // 12;
my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;
my @tenants  = qw(r1 r2);
$admin->make_tenant($_) for @tenants;
diag "seed $seed";

sub at { my ($tenant, $name) = @_; return "/v2.0/$tenant/namespaces/default/configmaps/$name" }
sub id { return $_[0]->header('x-request-id') }

sub sorted { return [sort map { $_->[0] } @_] }

subtest 'two undos of one request' => sub {
    for my $round (1 .. $rounds) {
        $admin->put(at('r1', "two$round"), json => { data => { n => 'old' } });
        my $put = id($admin->put(at('r1', "two$round"), json => { data => { n => 'new' } }));
        my @answers = Tenure::Parallel::answers((sub { $admin->post(undo_path('r1', $put)) }) x 2);
        is_deeply sorted(@answers), [200, 409], 'one is done, and one is refused';
        is_deeply [sort map { $instance->count_changes_of($_->[1]) } @answers], [0, 1], '... and left nothing';
        is $admin->get(at('r1', "two$round"))->json->{data}{n}, 'old', 'the old content';
    }
};

subtest 'an undo and an update' => sub {
    for my $round (1 .. $rounds) {
        $admin->put(at('r1', "u$round"), json => { data => { n => 'old' } });
        my $put = id($admin->put(at('r1', "u$round"), json => { data => { n => 'new' } }));
        my ($undone, $updated) = Tenure::Parallel::answers(sub { $admin->post(undo_path('r1', $put)) }, sub { $admin->put(at('r1', "u$round"), json => { data => { n => 'other' } }) });
        is $updated->[0], 200, 'the update';
        like $undone->[0], qr/\A(?:200|409)\z/, "the undo: $undone->[0]";
        is $instance->count_changes_of($undone->[1]), $undone->[0] == 200 ? 1 : 0, '... whole or not at all';
        is $admin->get(at('r1', "u$round"))->json->{data}{n}, 'other', 'the update is never lost';
    }
};

# What a request changed is taken back by one client while others change the same thing in other places: all that they were told is done is
# there, and the undo is whole, before all of them, or refused.
sub raced {
    my ($what, $request, $tenant, $undone, @writers) = @_;
    my ($undo, @told) = Tenure::Parallel::answers(sub { $admin->post(undo_path($tenant, $request)) }, @writers);
    ok $_->[0] < 300, "$what: a writer" for @told;
    like $undo->[0], qr/\A(?:200|409)\z/, "$what: the undo: $undo->[0]";
    my $rows = $instance->count_changes_of($undo->[1]);
    $undo->[0] == 200 ? ok $rows > 0, "$what: has changes" : is $rows, 0, "$what: refused, and nothing is changed";
    return is $undone->(), $undo->[0] == 200 ? 1 : 0, "$what: ... as it says";
}

subtest 'an undo and several writers' => sub {
    for my $round (1 .. $rounds) {
        my $path = at('r1', "s$round");
        $admin->put($path, json => { data => { n => 'old' } });
        my $put = id($admin->patch($path, { data => { n => 'new' } }));
        raced('a document', $put, 'r1', sub { $admin->get($path)->json->{data}{n} eq 'old' ? 1 : 0 }, map { my $i = $_; sub { $admin->patch($path, { data => { "w$i" => 'x' } }) } } 1 .. 3);
        is_deeply [sort keys %{ $admin->get($path)->json->{data} }], [qw(n w1 w2 w3)], 'no writer is lost';
        my $node = $admin->post('/baremetal/v1/nodes', json => { driver => 'fake-hardware', owner => 'r1' }, headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' })->json->{uuid};
        my %metal = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
        my $attached = id($admin->post("/baremetal/v1/nodes/$node/vifs", json => { id => 'first' }, %metal));
        my $vifs = sub { join ' ', sort map { $_->{id} } @{ $admin->get("/baremetal/v1/nodes/$node/vifs", %metal)->json->{vifs} } };
        raced('VIFs of a node', $attached, 'r1', sub { $vifs->() =~ /first/ ? 0 : 1 }, map { my $i = $_; sub { $admin->post("/baremetal/v1/nodes/$node/vifs", json => { id => "v$i" }, %metal) } } 1 .. 3);
        like $vifs->(), qr/v1 v2 v3\z/, 'no writer is lost';
        my $child = $admin->post('/placement/resource_providers', json => { name => "rp$round" }, headers => { 'OpenStack-API-Version' => 'placement 1.39' })->json->{uuid};
        my $renamed = id($admin->put("/placement/resource_providers/$child", json => { name => "other$round" }, headers => { 'OpenStack-API-Version' => 'placement 1.39' }));
        my $provider = "/v2.0/system/resourceproviders/$child";
        raced('a provider', $renamed, 'system', sub { $admin->get($provider)->json->{name} eq "rp$round" ? 1 : 0 }, map { my $i = $_; sub { $admin->patch($provider, { metadata => { labels => { "w$i" => 'x' } } }) } } 1 .. 3);
        is_deeply [sort keys %{ $admin->get($provider)->json->{metadata}{labels} }], [qw(w1 w2 w3)], 'no writer is lost';
    }
};

subtest 'an undo of a policy or a tier, and several writers' => sub {
    my $object = '/api/v1/tenants/rp';
    $admin->make_tenant('rp');
    for my $round (1 .. $rounds) {
        my @writers = map { my $i = $_; sub { $admin->patch($object, { metadata => { annotations => { "w$i" => "$round" } } }) } } 1 .. 3;
        my $all = sub { join ' ', map { "$_=" . ($admin->get($object)->json->{metadata}{annotations}{$_} // '') } qw(w1 w2 w3) };
        $admin->patch($object, { spec => { multiTenancyCRDPolicy => 'LocalCRDFirst' } });
        my $policy = id($admin->patch($object, { spec => { multiTenancyCRDPolicy => 'SystemCRDFirst' } }));
        raced('a policy', $policy, 'rp', sub { $admin->get($object)->json->{spec}{multiTenancyCRDPolicy} eq 'LocalCRDFirst' ? 1 : 0 }, @writers);
        is $all->(), "w1=$round w2=$round w3=$round", 'no writer is lost';
        $admin->patch('/v2.0/rp', { tenant => { tier => 'standard' } });
        my $tier = id($admin->patch('/v2.0/rp', { tenant => { tier => 'gold' } }));
        raced('a tier', $tier, 'rp', sub { $admin->get('/v2.0/rp')->json->{tenant}{tier} eq 'standard' ? 1 : 0 }, map { my $i = $_; sub { $admin->patch($object, { metadata => { annotations => { "w$i" => "tier $round" } } }) } } 1 .. 3);
        is $all->(), "w1=tier $round w2=tier $round w3=tier $round", 'no writer is lost';
        # The tier itself may go while a tenant would get it back: then the undo is refused, or the tier stays.
        $admin->put("/v2.0/all/tiers/tin$round", json => { max_resources => 500 });
        $admin->patch('/v2.0/rp', { tenant => { tier => "tin$round" } });
        $tier = id($admin->patch('/v2.0/rp', { tenant => { tier => 'gold' } }));
        my ($undone, $deleted) = Tenure::Parallel::answers(sub { $admin->post(undo_path('rp', $tier)) }, sub { $admin->delete("/v2.0/all/tiers/tin$round") });
        ok(($undone->[0] == 200) + ($deleted->[0] == 204) == 1, "the undo of a tier, and its deletion: $undone->[0], $deleted->[0]: one of them");
        is $admin->get('/v2.0/rp')->json->{tenant}{tier}, $undone->[0] == 200 ? "tin$round" : 'gold', '... as it says';
    }
};

subtest 'the undo of an allocation of nodes, and several writers' => sub {
    my %metal = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
    my $at = '/baremetal/v1';
    my $ann = $instance->combined('ann:r1:admin');
    my $node = $ann->post("$at/nodes", json => { driver => 'fake-hardware', resource_class => 'raced' }, %metal)->json->{uuid};
    $ann->put("$at/nodes/$node/states/provision", json => { target => $_ }, %metal)->is_status(202) for 'manage', 'provide';
    $ann->put("$at/nodes/$node/states/power", json => { target => 'power off' }, %metal)->is_status(202);
    for my $round (1 .. $rounds) {
        my $made = $ann->post("$at/allocations", json => { resource_class => 'raced' }, %metal);
        $made->is_status(201);
        my $uuid = $made->json->{uuid};
        my ($undo, $again, $other) = Tenure::Parallel::answers((sub { $admin->post(undo_path('r1', id($made))) }) x 2, sub { $ann->delete("$at/allocations/$uuid", %metal) });
        is scalar(grep { $_ } $undo->[0] == 200, $again->[0] == 200, $other->[0] == 204), 1, "two undos and a deletion: $undo->[0], $again->[0], $other->[0]: one of them";
        is $ann->get("$at/nodes/$node", %metal)->json->{allocation_uuid}, undef, 'the node is free';
        is $instance->count_changes_of($_->[1]), $_->[0] == 200 ? 2 : 0, '... whole or not at all' for $undo, $again;
    }
};

subtest 'the undo of a move, and a move on' => sub {
    $admin->make_tenant('r3');
    for my $round (1 .. $rounds) {
        $admin->make(at('r1', "m$round"), { data => {} });
        my $moved = id($admin->post(at('r1', "m$round") . '/action/move?dest=r2'));
        my ($undone, $on) = Tenure::Parallel::answers(sub { $admin->post(undo_path('r1', $moved)) }, sub { $admin->post(at('r2', "m$round") . '/action/move?dest=r3') });
        ok(($undone->[0] == 200) + ($on->[0] == 303) == 1, "one of them: undo $undone->[0], move $on->[0]");
        is $instance->count_changes_of($undone->[1]), $undone->[0] == 200 ? 1 : 0, '... whole or not at all';
        $admin->get(at($undone->[0] == 200 ? 'r1' : 'r3', "m$round"))->is_status(200, 'and it is there');
    }
};

subtest 'who may not take a move back keeps nobody of the other tenant waiting' => sub {
    $admin->make_tenant($_) for qw(left came);
    $admin->make(at('left', 'm'), { data => {} });
    my $moved = $admin->post(at('left', 'm') . '/action/move?dest=came');
    $moved->is_status(303);
    my $lock = $instance->sql_locks('SELECT id FROM tenants WHERE id = ' . $instance->tenant_id('came') . ' FOR UPDATE');
    for my $who ('ann:left:member', 'boss:left:admin') {
        $instance->combined($who)->get(undo_path('left', $moved))->is_status(403, "$who: the other tenant's row is locked, and not asked for");
        $instance->combined($who)->post(undo_path('left', $moved))->is_status(403);
    }
    close $lock;
    $admin->post(undo_path('left', $moved))->is_status(200, 'an operator may');
};

subtest 'the undo of a deleted namespace, and its name taken' => sub {
    for my $round (1 .. $rounds) {
        my $space = "/v2.0/r1/namespaces/s$round";
        $admin->make($space);
        $admin->make("$space/configmaps/c$_") for 1 .. 3;
        my $deleted = id($admin->delete($space));
        my ($undone, $made) = Tenure::Parallel::answers(sub { $admin->post(undo_path('r1', $deleted)) }, sub { $admin->put($space, json => { metadata => { labels => { a => 'b' } } }) });
        is $instance->count_changes_of($undone->[1]), $undone->[0] == 200 ? 4 : 0, "undo $undone->[0], creation $made->[0]: whole or not at all";
        is $admin->get("$space/configmaps/c1")->status, $undone->[0] == 200 ? 200 : 410, '... as it says';
    }
};

# Every client works with the same few resources of both tenants, and takes back whatever it or another client did.
subtest 'everything at once' => sub {
    my $names = 6;
    my @done  = Tenure::Parallel::run(4, sub {
        my ($client) = @_;
        srand $seed + $client;
        my (@said, %mine);
        for (1 .. $ops) {
            my ($tenant, $other) = rand() < 0.5 ? @tenants : reverse @tenants;
            my ($name, $dice) = (at($tenant, 'x' . int rand $names), rand);
            my @recent = map { $_->{request_id} } @{ $admin->get("/v2.0/$tenant/changes?order=newest&limit=6")->json->{changes} };
            my $undone = $recent[int rand @recent];
            my $answer = $dice < 0.3 ? $admin->put($name, json => { data => { by => "$client-$_" } })
                : $dice < 0.4 ? $admin->delete($name)
                : $dice < 0.5 ? $admin->post("$name/action/move?dest=$other")
                : $admin->post(undo_path($tenant, $undone));
            push @said, join ':', id($answer), $answer->status, $dice < 0.5 ? '-' : $undone;
        }
        return "@said";
    });
    my (%count, @half);
    for my $said (map { split / /, $_ // '' } @done) {
        my ($id, $status, $undone) = split /:/, $said;
        my $rows = $instance->count_changes_of($id);
        $count{ ($undone eq '-' ? 'other ' : 'undo ') . $status }++;
        push @half, $said if $status >= 500 && $status != 503 or $undone ne '-' && $rows != ($status == 200 ? $instance->count_changes_of($undone) : 0);
    }
    is_deeply \@half, [], 'no undo is half done, or refused with something done';
    ok $count{'undo 200'}, 'some were done' or diag explain \%count;
    note join ', ', map { "$_: $count{$_}" } sort keys %count;
    is $instance->sql_value('SELECT COUNT(*) FROM (SELECT uid FROM resources GROUP BY uid HAVING COUNT(*) > 1) d'), 0, 'each is there once';
    for my $tenant (@tenants) {
        is $admin->get("/v2.0/$tenant")->json->{tenant}{resources},
            $instance->sql_value("SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = '$tenant' AND r.live = 1"), "$tenant is counted";
    }
    is(($instance->manage('doctor'))[0], 0, 'the stored data keep their promises');
};
$instance->stop;
done_testing;
