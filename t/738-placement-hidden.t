#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Placement: who deletes a provider can delete its trait and its resource class; who recovers it gets all of it back.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use POSIX ();
use Test::More;

use Tenure::Instance;
use Tenure::Placement qw(is_error uuid);

my $instance  = Tenure::Instance->start(placement => 1, workers => 2);
my $admin     = $instance->admin;
my $placement = Tenure::Placement->new($instance->placement, '1.39');
$admin->make_tenant($_) for 'acme', 'globex';

# What names them, each with the status that it has while they are there.
my %found = ('/traits/CUSTOM_T' => 204, '/resource_classes/CUSTOM_C' => 200);
sub statuses { return { map { my $path = $_; $path => $placement->get($path)->status } keys %found } }
sub is_gone  { is_deeply statuses(), { map { $_ => 404 } keys %found }, 'the trait and the class are gone' }
sub is_there { is_deeply statuses(), \%found, 'the trait and the class are there' }

sub traits  { return $placement->get('/traits?name=startswith:CUSTOM_')->json->{traits} }
sub classes { return [ grep { /\ACUSTOM_/ } map { $_->{name} } @{ $placement->get('/resource_classes')->json->{resource_classes} } ] }

sub is_sound {
    my ($code, $text) = $instance->manage('doctor');
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is $code, 0, 'the store is sound' or diag $text;
}

my $uuid = uuid();
sub provider {
    $placement->put($_) for keys %found;
    $placement->provider('rack7', uuid => $uuid);
    $placement->inventories($uuid, CUSTOM_C => { total => 8 }, VCPU => { total => 4 });
    $placement->traits($uuid, 'CUSTOM_T', 'HW_CPU_X86_AVX');
}

# All of it, as the two dialects tell it.
sub all_of {
    my ($tenant) = @_;
    return [ $admin->get("/v2.0/$tenant/resourceproviders/$uuid")->json,
        map { $placement->get("/resource_providers/$uuid$_")->json } '', '/traits', '/inventories' ];
}

sub delete_both { $placement->delete($_)->is_status(204, "$_ goes") for sort keys %found }

provider();
my $before = all_of('system');

subtest 'with the provider' => sub {
    is_error($placement->delete('/traits/CUSTOM_T'), 409, qr/The trait CUSTOM_T is in use by a resource provider\./);
    is_error($placement->delete('/resource_classes/CUSTOM_C'), 409, qr/Class is in use in inventory/);
    is_there();
    $placement->delete("/resource_providers/$uuid")->is_status(204, 'the provider goes');
    delete_both();
    is_gone();
    is_error($placement->delete('/traits/CUSTOM_T'), 404, qr/No such trait\(s\): CUSTOM_T\./);
    is_error($placement->delete('/resource_classes/CUSTOM_C'), 404, qr/No such resource class CUSTOM_C/);
    is_deeply traits(), [], 'no list has the trait';
    is_deeply classes(), [], 'nor the class';
    is_error($placement->get('/resource_providers?required=CUSTOM_T'), 400, qr/CUSTOM_T/);
    is_error($placement->get('/resource_providers?resources=CUSTOM_C:1'), 400, qr/No such resource class CUSTOM_C/);
    is_error($placement->get('/traits/CUSTOM_T/about'), 404);
    is_error($placement->get('/traits/CUSTOM_T/resource_providers'), 404);
    is_sound();
};

subtest 'nobody can have them' => sub {
    my $other = $placement->provider('other');
    is_error($placement->put("/resource_providers/$other/traits", json => { resource_provider_generation => 0, traits => ['CUSTOM_T'] }),
        400, qr/CUSTOM_T/);
    is_error($placement->put("/resource_providers/$other/inventories",
        json => { resource_provider_generation => 0, inventories => { CUSTOM_C => { total => 1 } } }), 400, qr/CUSTOM_C/);
    $placement->put('/resource_classes/CUSTOM_D')->is_status(201, 'another class');
    is_error($placement->version('1.2')->put('/resource_classes/CUSTOM_D', json => { name => 'CUSTOM_C' }), 409,
        qr/Resource class already exists: CUSTOM_C\. Deleted resource providers/);
    $placement->delete('/resource_classes/CUSTOM_D')->is_status(204);
    $placement->delete("/resource_providers/$other")->is_status(204);
};

subtest 'back' => sub {
    $admin->post("/v2.0/system/resourceproviders/$uuid/action/recover")->is_status(204, 'the provider comes back');
    is_deeply all_of('system'), $before, 'exactly as it was';
    is_there();
    is_deeply [ traits(), classes() ], [ ['CUSTOM_T'], ['CUSTOM_C'] ], 'the lists have them';
    is scalar @{ $placement->get('/resource_providers?required=CUSTOM_T&resources=CUSTOM_C:8')->json->{resource_providers} }, 1, 'and it is found by both';
    is_error($placement->delete('/traits/CUSTOM_T'), 409);
    is_sound();
};

subtest 'made anew meanwhile' => sub {
    $placement->put('/traits/CUSTOM_T/about', json => { description => 'the first', deprecated => JSON::PP::true() })->is_status(200);
    $placement->delete("/resource_providers/$uuid")->is_status(204);
    delete_both();
    $placement->put($_)->is_status(201, "$_ is made") for sort keys %found;
    $placement->put($_)->is_status(204, 'once') for sort keys %found;
    is $placement->get('/traits/CUSTOM_T/about')->json->{description}, '', 'and nothing is told about it yet';
    $admin->post("/v2.0/system/resourceproviders/$uuid/action/recover")->is_status(204, 'the provider comes back');
    is_deeply all_of('system'), $before, 'exactly as it was';
    is_sound();
};

subtest 'the same uuid anew' => sub {
    $placement->delete("/resource_providers/$uuid")->is_status(204);
    delete_both();
    provider();
    is_there();
    is $placement->get("/resource_providers/$uuid")->json->{generation}, 2, 'another provider';
    is_sound();
};

subtest 'with its tenant' => sub {
    $admin->post("/v2.0/system/resourceproviders/$uuid/action/move?dest=acme")->is_status(303, 'it moves');
    my $was = all_of('acme');
    $admin->delete('/v2.0/acme')->is_status(204, 'its tenant is deleted');
    is_error($placement->get("/resource_providers/$uuid"), 404, undef, name => 'so nobody sees it');
    delete_both();
    is_gone();
    $admin->post('/v2.0/acme/action/recover')->is_status(204, 'the tenant comes back');
    is_deeply all_of('acme'), $was, 'with all that it had';
    is_there();
    is_sound();
};

subtest 'bare metal, too' => sub {
    my %metal = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
    my $node  = uuid();
    $admin->post('/baremetal/v1/nodes', %metal, json => { driver => 'fake-hardware', uuid => $node })->is_status(201);
    $admin->put("/baremetal/v1/nodes/$node/traits/CUSTOM_NODE", %metal)->is_status(204, 'a node has a trait');
    is_error($placement->delete('/traits/CUSTOM_NODE'), 409, qr/The trait CUSTOM_NODE is in use by a resource of the type nodes: take it off there first\./);
    $admin->delete("/baremetal/v1/nodes/$node", %metal)->is_status(204, 'the node goes');
    $placement->delete('/traits/CUSTOM_NODE')->is_status(204, 'and its trait');
    my $other = uuid();
    $admin->post('/baremetal/v1/nodes', %metal, json => { driver => 'fake-hardware', uuid => $other })->is_status(201);
    $admin->put("/baremetal/v1/nodes/$other/traits/CUSTOM_NODE", %metal)->is_status(204, 'another one makes it again');
    $placement->get('/traits/CUSTOM_NODE')->is_status(204, 'for all');
    $admin->post("/v2.0/system/nodes/$node/action/recover")->is_status(204, 'the first node comes back');
    is_deeply $admin->get("/baremetal/v1/nodes/$node/traits", %metal)->json->{traits}, ['CUSTOM_NODE'], 'to its trait';
    is_sound();
};

subtest 'reaping' => sub {
    $placement->delete("/resource_providers/$uuid")->is_status(204);
    delete_both();
    my $rows = sub {
        return $instance->sql_value(q(SELECT COUNT(*) FROM traits WHERE name = 'CUSTOM_T'))
            + $instance->sql_value(q(SELECT COUNT(*) FROM resource_classes WHERE name = 'CUSTOM_C'));
    };
    $instance->manage('reap');
    is $rows->(), 2, 'while it can be recovered, they are kept for it';
    $instance->sql(q(UPDATE resources SET purge_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE live IS NULL));
    my ($code, $text) = $instance->manage('reap');
    is $code, 0, 'reaped' or diag $text;
    is $rows->(), 0, 'then nothing is left of them';
    $placement->put($_)->is_status(201, "$_ is made") for sort keys %found;
    is_sound();
};

# One after the other or at once: what lives has what it says.
subtest 'deleted and recovered at once' => sub {
    my $provider = $placement->provider('racer');
    for my $round (1 .. 40) {
        $placement->traits($provider, 'CUSTOM_T');
        $placement->put('/resource_classes/CUSTOM_C');
        $placement->inventories($provider, CUSTOM_C => { total => 8 });
        $placement->delete("/resource_providers/$provider")->is_status(204) if $round == 1;
        $placement->delete("/resource_providers/$provider") if $round > 1;
        my @pids;
        for my $what (sub { $placement->delete($_) for keys %found },
            sub { $admin->post("/v2.0/system/resourceproviders/$provider/action/recover") }) {
            my $pid = fork // die "fork: $!";
            if ($pid == 0) { $what->(); POSIX::_exit(0) }
            push @pids, $pid;
        }
        waitpid $_, 0 for @pids;
        my $has = $placement->get("/resource_providers/$provider/traits")->json->{traits};
        die "round $round: it has @$has\n" if "@$has" ne 'CUSTOM_T';
        my $s = statuses();
        die "round $round: " . join(' ', %$s) . "\n" if grep { $s->{$_} != $found{$_} } keys %found;
    }
    pass 'all of it is there, each time';
    is_sound();
};

done_testing();
