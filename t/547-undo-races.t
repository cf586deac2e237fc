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
