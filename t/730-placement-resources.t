#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Providers are resources: the tenancy dialect shows them, guards them by etags, logs them, and moves them with all they have.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Parallel;

my $instance = Tenure::Instance->start(workers => 4);
my $admin    = $instance->admin;
$admin->make_tenant($_) for 'acme', 'globex';

my %at  = (headers => { 'OpenStack-API-Version' => 'placement 1.39' });
my $p   = '/placement/resource_providers';
my $sys = '/v2.0/system/resourceproviders';
my %uid = map { $_ => sprintf '20000000-0000-4000-8000-%012d', $_ } 1 .. 9;
my %consumer = map { $_ => sprintf '30000000-0000-4000-8000-%012d', $_ } 1 .. 9;

sub make_provider {
    my ($n, %more) = @_;
    return $admin->post($p, %at, json => { name => "p$n", uuid => $uid{$n}, %more });
}

sub generation { return $admin->get("$p/$uid{$_[0]}", %at)->json->{generation} }

sub stock {
    my ($n, %total) = @_;
    my %inventories = map { $_ => { total => $total{$_} } } keys %total;
    return $admin->put("$p/$uid{$n}/inventories",
        %at, json => { resource_provider_generation => generation($n), inventories => \%inventories });
}

sub allocate {
    my ($c, $n, $project, %resources) = @_;
    return $admin->put(
        "/placement/allocations/$consumer{$c}",
        headers => { 'OpenStack-API-Version' => 'placement 1.27' },
        json    => { allocations => { $uid{$n} => { resources => \%resources } }, project_id => $project, user_id => 'u' }
    );
}

# The change rows of a response's request, each with the fields it tells of.
sub changes_of {
    my $id = $_[0]->request_id =~ s/-//gr;
    return join ' ', map { "$_->[0]:$_->[1]" }
        $instance->sql("SELECT verb, fields FROM changes WHERE request_id = UNHEX('$id') ORDER BY id");
}

subtest 'shown and guarded' => sub {
    make_provider(1)->is_status(200, 'a provider');
    my $shown = $admin->get("$sys/$uid{1}");
    $shown->is_status(200, 'is a resource of the system tenant');
    is $shown->json->{name}, 'p1', 'with its name';
    is $shown->json->{metadata}{uid}, $uid{1}, 'and uid';
    my $etag = $shown->etag;
    my $stock = stock(1, VCPU => 4);
    $stock->is_status(200, 'an inventory');
    is changes_of($stock), 'updated:["/inventories"]', 'leaves a change row';
    my $now = $admin->get("$sys/$uid{1}");
    isnt $now->etag, $etag, 'and gives another etag';
    my %named = (json => { name => 'renamed', parent_provider_uuid => undef });
    $admin->put("$sys/$uid{1}", %named, if_match => $etag)->is_status(412, 'the old one is stale');
    $admin->put("$sys/$uid{1}", %named, if_match => $now->etag)->is_status(200, 'the new one is good');
    is $admin->get("$p/$uid{1}", %at)->json->{name}, 'renamed', 'placement has the new name';
    is generation(1), 1, 'at the same generation';
    my $before = $admin->get("$sys/$uid{1}");
    my $allocate = allocate(1, 1, 'p', VCPU => 1);
    $allocate->is_status(204, 'an allocation');
    is changes_of($allocate), 'updated:["/allocations"]', 'leaves a change row';
    my $after = $admin->get("$sys/$uid{1}");
    is $after->etag, $before->etag, 'keeps the etag';
    is $after->json->{metadata}{resourceVersion}, $before->json->{metadata}{resourceVersion} + 1, 'and raises the revision';
    $admin->delete("$sys/$uid{1}")->is_status(409, 'it does not go while it is used');
    $admin->put("$sys/$uid{2}", json => { name => 'renamed' })->is_status(409, 'names are unique in every dialect');
    $admin->put("$sys/$uid{2}", json => { name => 'two', size => 1 })->is_status(400, 'other members are none');
    $admin->put("$sys/$uid{2}", json => { name => 'two' })->is_status(201, 'made by the tenancy dialect');
    is generation(2), 0, 'it is there for placement';
};

subtest 'traits of both dialects' => sub {
    my $put = $admin->put("$sys/$uid{2}/traits", json => { traits => ['HW_CPU_X86_AVX'] });
    $put->is_status(200, 'set by the tenancy dialect');
    my $traits = $admin->get("$p/$uid{2}/traits", %at)->json;
    is_deeply $traits->{traits}, ['HW_CPU_X86_AVX'], 'shown by placement';
    is $traits->{resource_provider_generation}, 1, 'at another generation';
    is scalar @{ $admin->get("$p?required=HW_CPU_X86_AVX", %at)->json->{resource_providers} }, 1, 'found by it';
};

subtest 'moved as a tree' => sub {
    make_provider(3)->is_status(200, 'a provider');
    make_provider(4, parent_provider_uuid => $uid{3})->is_status(200, 'one under it');
    stock(4, VCPU => 8)->is_status(200, 'with an inventory');
    my $agg = '40000000-0000-4000-8000-000000000001';
    $admin->put("$p/$uid{4}/aggregates", %at, json => { resource_provider_generation => 1, aggregates => [$agg] })
        ->is_status(200, 'in an aggregate');
    allocate(2, 4, 'acme', VCPU => 2)->is_status(204, 'used by a consumer of acme');
    my $alone = $admin->post("$sys/$uid{4}/action/move?dest=acme", accept => 'application/json');
    $alone->is_status(409, 'it does not go alone');
    like $alone->text, qr/attached/, 'and says why';
    $admin->post("$sys/$uid{3}/action/move?dest=acme")->is_status(303, 'the tree moves');
    my $home = "/v2.0/acme/resourceproviders";
    $admin->get("$home/$uid{$_}")->is_status(200, "provider $_ is there") for 3, 4;
    $admin->get("$sys/$uid{4}")->is_status(301, 'its old address leads there');
    my $inventories = $admin->get("$p/$uid{4}/inventories", %at)->json;
    is $inventories->{inventories}{VCPU}{total}, 8, 'with its inventory';
    is $inventories->{resource_provider_generation}, 3, 'and generation';
    is_deeply $admin->get("$p/$uid{4}/aggregates", %at)->json->{aggregates}, [$agg], 'and aggregate';
    my $preview = $admin->get("$home/$uid{3}/action/move?dest=globex", accept => 'application/json');
    my ($blocker) = @{ $preview->json->{move}{blockers} };
    my $user = $consumer{2};
    is $blocker->{reason}, 'in-use', 'on is blocked';
    like $blocker->{detail}, qr{\Aconsumer $user of project "acme"}, 'by name';
    $admin->post("$home/$uid{3}/action/move?dest=globex")->is_status(409, 'and refused');
    $admin->delete("/placement/allocations/$consumer{2}", %at)->is_status(204, 'unused');
    $admin->post("$home/$uid{3}/action/move?dest=globex")->is_status(303, 'it moves on');
    my $other = $admin->put("$p/$uid{2}", %at, json => { name => 'two', parent_provider_uuid => $uid{3} });
    $other->is_status(400, 'a tree does not spread over tenants');
    like $other->text, qr/another tenant's|does not exist/, 'it says so';
};

subtest 'deleted and back' => sub {
    $admin->delete("$p/$uid{2}", %at)->is_status(204, 'deleted by placement');
    $admin->get("$p/$uid{2}", %at)->is_status(404, 'gone for it');
    $admin->get("$sys/$uid{2}")->is_status(410, 'recoverable for the tenancy dialect');
    $admin->post("$sys/$uid{2}/action/recover")->is_status(204, 'recovered');
    is_deeply $admin->get("$p/$uid{2}/traits", %at)->json,
        { traits => ['HW_CPU_X86_AVX'], resource_provider_generation => 1 }, 'as it was';
    $admin->delete("$p/$uid{2}", %at)->is_status(204, 'deleted again');
    make_provider(2)->is_status(200, 'its uid is free');
    is generation(2), 0, 'for one of its own';
    is_deeply $admin->get("$p/$uid{2}/traits", %at)->json->{traits}, [], 'without traits';
};

# Each round, four writers with the same generation; then four that want the last unit.
subtest 'races' => sub {
    make_provider(5)->is_status(200, 'a provider');
    my (%inventory, %allocation);
    for my $round (1 .. 25) {
        my $generation = generation(5);
        my @got        = Tenure::Parallel::run(4, sub {
            my ($n) = @_;
            my $put = $admin->put("$p/$uid{5}/inventories", %at,
                json => { resource_provider_generation => $generation, inventories => { VCPU => { total => 100 + $n } } });
            return $put->status;
        });
        $inventory{$_}++ for @got;
        stock(5, VCPU => 1)->is_status(200) if $round == 25;
    }
    is_deeply \%inventory, { 200 => 25, 409 => 75 }, 'of four with one generation exactly one wins';
    for my $round (1 .. 25) {
        $allocation{$_}++ for Tenure::Parallel::run(4, sub { return allocate($_[0] + 1, 5, 'p', VCPU => 1)->status });
        $admin->delete("/placement/allocations/$consumer{$_}", %at) for 1 .. 4;
    }
    is_deeply \%allocation, { 204 => 25, 409 => 75 }, 'of four for the last unit exactly one gets it';
};

my ($code, $said) = $instance->manage('doctor');
is $code, 0, 'the store is sound' or diag $said;
done_testing;
