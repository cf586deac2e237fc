#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Placement: writers at once. Of two that rely on one generation exactly one wins, the other is told 409, and what is there
# is what the winner wrote.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use POSIX ();
use Test::More;
use Time::HiRes ();

use Tenure::Instance;
use Tenure::Parallel;
use Tenure::Placement qw(uuid);

my $rounds    = 1000;
my $instance  = Tenure::Instance->start(placement => 1, workers => 4);
my $placement = Tenure::Placement->new($instance->placement, '1.39');
$placement->put("/traits/CUSTOM_$_") for qw(A B C D);

# Runs try->(client, round) in processes, all of them for one round, then the next; between rounds after->(round, what
# each was told), if there is one. What each was told, a list for each round.
sub race {
    my ($clients, $n, $after, $try) = @_;
    my (@answers, @pipes, @pids);
    for my $client (0 .. $clients - 1) {
        pipe my $go_read, my $go_write or die "pipe: $!\n";
        pipe my $done_read, my $done_write or die "pipe: $!\n";
        my $pid = fork // die "fork: $!\n";
        if ($pid == 0) {
            for my $round (0 .. $n - 1) {
                sysread $go_read, my $go, 1 or last;
                my $said = eval { $try->($client, $round) } // 0;
                syswrite $done_write, sprintf '%03d', $said;
            }
            POSIX::_exit(0);
        }
        push @pipes, [ $go_write, $done_read ];
        push @pids, $pid;
    }
    for my $round (0 .. $n - 1) {
        syswrite $_->[0], 'x' for @pipes;
        my @told;
        for my $pipe (@pipes) {
            sysread $pipe->[1], my $said, 3;
            push @told, $said + 0;
        }
        push @answers, \@told;
        $after->($round, @told) if $after;
    }
    close $_->[0] for @pipes;
    waitpid $_, 0 for @pids;
    return @answers;
}

sub tally {
    my (@answers) = @_;
    my %count;
    $count{ join ' ', sort @$_ }++ for @answers;
    return join ', ', map { "$count{$_} times $_" } sort keys %count;
}

subtest "$rounds rounds of two writers of one provider's traits" => sub {
    my $uuid = $placement->provider('race-traits');
    my $path = "/resource_providers/$uuid/traits";
    my @sets = (['CUSTOM_A', 'CUSTOM_B'], ['CUSTOM_C', 'CUSTOM_D']);
    my $wrong = 0;
    my $after = sub {
        my ($round, @told) = @_;
        my ($winner) = grep { $told[$_] == 200 } 0, 1;
        my $now = $placement->get($path)->json->{traits};
        $wrong++ unless defined $winner && "@$now" eq "@{ $sets[$winner] }";
        $placement->delete($path);
    };
    my @answers = race(2, $rounds, $after, sub {
        my ($client, $round) = @_;
        # Each round begins with no traits: a generation for the writer of the last one, one for taking them away.
        return $placement->put($path, json => { traits => $sets[$client], resource_provider_generation => 2 * $round })->status;
    });
    is tally(@answers), "$rounds times 200 409", 'exactly one wins each';
    is $wrong, 0, 'what is there is always what the winner set';
    is $placement->generation($uuid), 2 * $rounds, 'no change was lost, none counted twice';
};

subtest 'four writers of inventories' => sub {
    my $uuid = $placement->provider('race-inventories');
    my @answers = race(4, 100, undef, sub {
        my ($client, $round) = @_;
        return $placement->put("/resource_providers/$uuid/inventories", json => { resource_provider_generation => $round,
            inventories => { VCPU => { total => 10 * $round + $client + 1 } } })->status;
    });
    is tally(@answers), '100 times 200 409 409 409', 'exactly one wins each';
};

subtest 'four consumers of what is enough for three' => sub {
    my $uuid = $placement->provider('race-allocations');
    $placement->inventories($uuid, VCPU => { total => 3 });
    my @consumers = map { uuid() } 0 .. 3;
    my $after = sub { $placement->delete("/allocations/$_") for @consumers };
    my @answers = race(4, 100, $after, sub {
        my ($client) = @_;
        return $placement->allocate($consumers[$client], { $uuid => { VCPU => 1 } })->status;
    });
    is tally(@answers), '100 times 204 204 204 409', 'three get some, one is told that there is none left';
};

subtest 'one consumer written by four' => sub {
    my $uuid = $placement->provider('race-consumer');
    $placement->inventories($uuid, VCPU => { total => 100 });
    my $consumer = uuid();
    my @answers = race(4, 100, undef, sub {
        my ($client, $round) = @_;
        return $placement->put("/allocations/$consumer", json => { allocations => { $uuid => { resources => { VCPU => $client + 1 } } },
            project_id => 'p', user_id => 'u', consumer_type => 'INSTANCE', consumer_generation => $round == 0 ? undef : $round })->status;
    });
    is tally(@answers), '100 times 204 409 409 409', 'exactly one wins each';
    is $placement->get("/allocations/$consumer")->json->{consumer_generation}, 100;
};

subtest 'four reshapes of a host and its child' => sub {
    my $root     = $placement->provider('race-reshape');
    my $child    = $placement->provider('race-reshape-child', parent => $root);
    my $consumer = uuid();
    $placement->inventories($root, VCPU => { total => 8 });
    $placement->allocate($consumer, { $root => { VCPU => 4 } })->is_status(204);
    # In turn from the one to the other. The one that loses all rises by its end alone, the other by three.
    my @answers = race(4, 60, undef, sub {
        my ($client, $round) = @_;
        my ($from, $to) = $round % 2 == 0 ? ($root, $child) : ($child, $root);
        my %at = ($root => 2 + int(($round + 1) / 2) + 3 * int($round / 2), $child => 3 * int(($round + 1) / 2) + int($round / 2));
        return $placement->post('/reshaper', json => {
            inventories => { $from => { resource_provider_generation => $at{$from}, inventories => {} },
                $to => { resource_provider_generation => $at{$to}, inventories => { VCPU => { total => 5 + $client } } } },
            allocations => { $consumer => { allocations => { $to => { resources => { VCPU => 4 } } }, project_id => 'p', user_id => 'u',
                consumer_generation => $round + 1, consumer_type => 'INSTANCE' } } })->status;
    });
    is tally(@answers), '60 times 204 409 409 409', 'exactly one wins each';
};

subtest 'names made at once' => sub {
    my @answers = race(4, 50, undef, sub { my ($client, $round) = @_; return $placement->put("/traits/CUSTOM_RACE_$round")->status });
    is tally(@answers), '50 times 201 204 204 204', 'a trait is made once';
    @answers = race(4, 50, undef, sub { my ($client, $round) = @_; return $placement->put("/resource_classes/CUSTOM_RACE_$round")->status });
    is tally(@answers), '50 times 201 204 204 204', 'a class, too';
    @answers = race(4, 50, undef, sub { my ($client, $round) = @_; return $placement->post('/resource_providers', json => { name => "race-$round" })->status });
    is tally(@answers), '50 times 200 409 409 409', 'a provider, too';
    my @uuids = map { uuid() } 0 .. 49;
    @answers = race(4, 50, undef, sub { my ($client, $round) = @_;
        return $placement->post('/resource_providers', json => { name => "race-uuid-$round-$client", uuid => $uuids[$round] })->status });
    is tally(@answers), '50 times 200 409 409 409', 'and its uuid is taken once';
};

subtest 'single traits, added at once' => sub {
    my $uuid = $placement->provider('race-single');
    my @answers = race(4, 25, undef, sub { my ($client, $round) = @_;
        return $placement->put("/resource_providers/$uuid/traits/CUSTOM_RACE_" . (25 * ($client % 2) + $round))->status });
    is tally(@answers), '25 times 204 204 204 204', 'nobody is told of the others';
    is scalar @{ $placement->get("/resource_providers/$uuid/traits")->json->{traits} }, 50, 'and none is lost';
};

# True when so many transactions wait for a lock.
sub wait_for_lock {
    my ($n) = @_;
    my $count = "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
    return Tenure::Instance::wait_until(sub { Time::HiRes::sleep(0.2); $instance->sql_value($count) == $n });
}

subtest 'what is told of a trait, member by member' => sub {
    my $path = '/traits/CUSTOM_A/about';
    $placement->get($path)->is_status(200) for 1 .. 8;
    my $lock = $instance->sql_locks("SELECT id FROM traits WHERE name = 'CUSTOM_A' FOR UPDATE");
    my @asked = Tenure::Parallel::begin($placement, 'PUT', $path, json => { description => 'told' });
    ok wait_for_lock(1), 'its description is set';
    push @asked, Tenure::Parallel::begin($placement, 'PUT', $path, json => { deprecated => JSON::PP::true });
    ok wait_for_lock(2), 'and whether it is deprecated';
    print {$lock} "ROLLBACK;\n";
    close $lock;
    like Tenure::Parallel::told($_), qr/^200 /, 'done' for @asked;
    my $about = $placement->get($path);
    is_deeply [@{ $about->json }{qw(description deprecated)}], ['told', JSON::PP::true], 'both stay';
    my $same = $placement->put($path, json => { description => 'told' });
    is_deeply $same->json, $about->json, 'what changes nothing';
    is $same->header('last-modified'), $about->header('last-modified'), '... is no change';
};

subtest 'a child of a provider that is being moved' => sub {
    my $admin = $instance->admin;
    $admin->make_tenant('dest');
    my $root = $placement->provider('race-moved');
    my $id   = $instance->sql_value("SELECT id FROM resources WHERE name = '$root'");
    my $lock = $instance->sql_locks("SELECT id FROM resources WHERE id = $id FOR UPDATE");
    my $move = Tenure::Parallel::begin($admin, 'POST', "/v2.0/system/resourceproviders/$root/action/move?dest=dest");
    ok wait_for_lock(1), 'the tree is being moved';
    my $uuid  = uuid();
    my $child = Tenure::Parallel::begin($placement, 'POST', '/resource_providers', json => { name => 'race-child', uuid => $uuid, parent_provider_uuid => $root });
    ok wait_for_lock(2), 'and gets a child';
    print {$lock} "ROLLBACK;\n";
    close $lock;
    like Tenure::Parallel::told($move), qr/^303 /, 'it is moved';
    like Tenure::Parallel::told($child), qr/^200 /, 'the child is made';
    $admin->get("/v2.0/dest/resourceproviders/$uuid")->is_status(200, '... where its parent is now');
};

my ($code, $text) = $instance->manage('doctor');
is $code, 0, 'the doctor finds everything as it should be' or diag $text;

done_testing;
