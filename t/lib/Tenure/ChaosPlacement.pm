# SPDX-License-Identifier: Apache-2.0
# Claimers, as schedulers are: each asks for allocation candidates and claims one of them for a consumer of its own, moves it to
# another, or gives it back, while Tenure::Chaos kills workers and the database, and claimers are killed, too. Each keeps a journal of its
# requests and answers; the checker compares all allocations with the journals, and with what the hosts have.
#
#   my $chaos = Tenure::ChaosPlacement->new($instance, claimers => 8, hosts => 6);
#   $chaos->start; …; $chaos->kill_claimer; …; $chaos->stop;
#   my @findings = $chaos->findings;
package Tenure::ChaosPlacement;

use strict;
use warnings;

use parent 'Tenure::Chaos';

use JSON::PP ();
use List::Util ();
use POSIX ();
use Time::HiRes ();

use Tenure::Instance;
use Tenure::Placement qw(uuid);

my $json = JSON::PP->new->canonical;

# claimers, hosts: how many. A host has 8 VCPU (4 of them on each of two NUMA nodes, as PCPU), 4096 of memory, and its disk is shared
# with the others of its five.
sub new {
    my ($class, $instance, %option) = @_;
    my $self = bless { instance => $instance, placement => Tenure::Placement->new($instance->placement, '1.39'),
        dir => $instance->dir . '/chaos-placement', born => 0, %option }, $class;
    mkdir $self->{dir} or die "$self->{dir}: $!\n";
    my $placement = $self->{placement};
    for my $host (0 .. $self->{hosts} - 1) {
        my $shelf = $self->{shelves}[ int $host / 5 ] //= uuid();
        if ($host % 5 == 0) {
            my $disk = $placement->provider("disk$host");
            $placement->inventories($disk, DISK_GB => { total => 60 });
            $placement->traits($disk, 'MISC_SHARES_VIA_AGGREGATE');
            $placement->aggregates($disk, $shelf);
        }
        my $root = $placement->provider("host$host");
        $placement->inventories($root, VCPU => { total => 4, allocation_ratio => 2.0 }, MEMORY_MB => { total => 4608, reserved => 512 });
        $placement->aggregates($root, $shelf);
        for my $numa (0, 1) {
            my $node = $placement->provider("host$host-numa$numa", parent => $root);
            $placement->inventories($node, PCPU => { total => 4 });
        }
    }
    return $self;
}

# ---- claimers

sub start {
    my ($self) = @_;
    $self->_start_claimer for 1 .. $self->{claimers};
    return;
}

sub _start_claimer {
    my ($self) = @_;
    my $number = ++$self->{born};
    $self->_client("claimer$number", \&_claim_on, $number);
    return;
}

# SIGKILL for a claimer, whatever it is doing; a new one takes its place.
sub kill_claimer {
    my ($self) = @_;
    my $pid = splice @{ $self->{pids} }, int rand @{ $self->{pids} }, 1;
    my $n = kill KILL => $pid;
    waitpid $pid, 0;
    $self->_start_claimer;
    return $n;
}

my @wants = (
    'resources=VCPU:1,MEMORY_MB:512,DISK_GB:5',
    'resources=VCPU:2,MEMORY_MB:1024',
    'resources=MEMORY_MB:512&resources_A=PCPU:2&resources_B=PCPU:1&group_policy=isolate',
    'resources_A=PCPU:2&resources_B=PCPU:2&group_policy=none',
);

# Lines of the journal: "send CONSUMER JSON" before a request that sets its allocations ("{}": none), then "done CONSUMER" when it was
# told so, "no CONSUMER" when it was refused; neither when nobody knows.
sub _claim_on {
    my ($self, $journal, $number) = @_;
    srand $number * 7919 + $$;
    my $placement = Tenure::Placement->new($self->{instance}->placement, '1.39');
    my @mine; # consumers that have something, as far as is known
    until ($self->_stopped) {
        # A pause, so that many claimers together ask about as often as few do.
        Time::HiRes::sleep(rand $self->{claimers} / 100);
        my $old = @mine && rand() < 0.55 ? splice @mine, int rand @mine, 1 : undef;
        my $generation;
        if ($old) {
            # If the answer was lost: find out what happened.
            my $get = $placement->get("/allocations/$old");
            next if $get->status != 200 || !%{ $get->json->{allocations} };
            $generation = $get->json->{consumer_generation};
        }
        if ($old && rand() < 0.5) {
            print {$journal} "send $old {}\n";
            $self->_note($journal, $old, $placement->delete("/allocations/$old"));
            next;
        }
        my $found = $placement->get('/allocation_candidates?limit=20&' . $wants[rand @wants]);
        next if $found->status != 200;
        my @candidates = @{ $found->json->{allocation_requests} };
        if (!@candidates) {
            push @mine, $old if $old;
            next;
        }
        my $consumer = $old // uuid();
        my $request  = $candidates[rand @candidates];
        my %wanted   = map { $_ => $request->{allocations}{$_}{resources} } keys %{ $request->{allocations} };
        print {$journal} "send $consumer " . $json->encode(\%wanted) . "\n";
        my $told = $self->_note($journal, $consumer, $placement->put("/allocations/$consumer", json => { %$request, project_id => 'p',
            user_id => "u$number", consumer_generation => $generation, consumer_type => 'INSTANCE' }));
        push @mine, $consumer if $told ne 'no' || $old;
    }
    return;
}

sub _note {
    my ($self, $journal, $consumer, $answer) = @_;
    my $status = $answer->status;
    my $told   = $status == 204 ? 'done' : $status == 409 || $status == 404 ? 'no' : 'unknown';
    print {$journal} "$told $consumer $status\n";
    return $told;
}

# ---- faults

sub kill_worker {
    my ($self) = @_;
    my @pids = Tenure::Instance::children_of($self->{instance}->master_pid('placement'));
    return @pids ? kill KILL => $pids[rand @pids] : 0;
}

# ---- the checker

# What each consumer may have, as JSON: what it was last told, and what was sent later and may have happened. A request whose answer
# was lost may be carried out only before the claimer's next one: it reads the consumer first, by the same service.
sub _expected {
    my ($self) = @_;
    my (%may, %sent);
    $self->{$_} = 0 for qw(acknowledged refused unknown);
    for my $number (1 .. $self->{born}) {
        for my $line (split /^/, Tenure::Instance::read_file("$self->{dir}/claimer$number")) {
            my ($what, $consumer, $rest) = $line =~ /\A(\w+) (\S+) (\S+)\n\z/ or next; # a claimer was killed in the midst of a line
            if ($what eq 'send') {
                $may{$consumer} //= { '{}' => 1 };
                $may{$consumer}{$rest} = 1;
                $sent{$consumer} = $rest;
            }
            elsif ($what eq 'done') {
                $may{$consumer} = { $sent{$consumer} => 1 };
                $self->{acknowledged}++;
            }
            elsif ($what eq 'no') {
                # Refused for a generation or for room, so it has not happened; or 404, for there is nothing any more.
                my $before = $sent{$consumer};
                if   ($rest == 404) { $may{$consumer} = { '{}' => 1 } }
                else                { delete $may{$consumer}{$before} if keys %{ $may{$consumer} } > 1 }
                $self->{refused}++;
            }
            $self->{unknown}++ if $what eq 'unknown';
        }
    }
    return \%may;
}

# How many requests have been acknowledged up to now.
sub acknowledged {
    my ($self) = @_;
    $self->_expected;
    return $self->{acknowledged};
}

# The whole state, by the API; each finding is a line.
sub findings {
    my ($self) = @_;
    my $placement = $self->{placement};
    my $may = $self->_expected;
    my (@wrong, %has, %used);
    my @providers = @{ Tenure::Placement::must($placement->get('/resource_providers'), 200)->json->{resource_providers} };
    for my $provider (@providers) {
        my $uuid = $provider->{uuid};
        my $allocations = Tenure::Placement::must($placement->get("/resource_providers/$uuid/allocations"), 200)->json->{allocations};
        for my $consumer (keys %$allocations) {
            my $resources = $allocations->{$consumer}{resources};
            $has{$consumer}{$uuid} = $resources;
            $used{$uuid}{$_} += $resources->{$_} for keys %$resources;
        }
        my $inventories = Tenure::Placement::must($placement->get("/resource_providers/$uuid/inventories"), 200)->json->{inventories};
        my $usages      = Tenure::Placement::must($placement->get("/resource_providers/$uuid/usages"), 200)->json->{usages};
        for my $class (sort keys %$inventories) {
            my $i    = $inventories->{$class};
            my $room = int(($i->{total} - $i->{reserved}) * $i->{allocation_ratio});
            my $used = $used{$uuid}{$class} // 0;
            push @wrong, "$provider->{name}: $used of $room $class" if $used > $room;
            push @wrong, "$provider->{name}: $class: usages say $usages->{$class}, its allocations are $used" if $usages->{$class} != $used;
        }
    }
    for my $consumer (sort keys %$may) {
        my $now = $json->encode($has{$consumer} // {});
        push @wrong, "$consumer has $now, not " . join(' or ', sort keys %{ $may->{$consumer} }) if !$may->{$consumer}{$now};
    }
    push @wrong, map { "$_ has something, and nobody asked for it" } grep { !$may->{$_} } sort keys %has;
    my ($code, $text) = $self->{instance}->manage('doctor');
    push @wrong, "doctor: $text" if $code != 0;
    $self->{consumers} = scalar keys %has;
    return @wrong;
}

1;
