#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo of a move of many resources, into a tenant that has many of its own: neither the worker nor the mover takes more memory for the many than
# for a third of them, and all of it is back.
#
# TENURE_UNDO_MANY: how many; 1000000 takes an hour on a slow machine
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;
use Time::HiRes ();

use Tenure::Instance;
use Tenure::Memory qw(is_sanitized peak_kb reset_peaks workers_of);
use Tenure::Undo qw(undo_path);

use constant MORE_KB => 4096;

my $many     = $ENV{TENURE_UNDO_MANY} // 63_000;
my $instance = Tenure::Instance->start(combined => 1, workers => 1);
my $admin    = $instance->admin;

sub owned { my ($tenant) = @_; my $id = $instance->tenant_id($tenant); return 0 + $instance->sql_value("SELECT COUNT(*) FROM resources WHERE tenant_id = $id AND live = 1") }

# Config maps in 100 namespaces.
sub filled {
    my ($tenant, $n) = @_;
    $admin->make_tenant($tenant);
    $instance->fill($tenant, 'namespaces', 100, name => "$tenant-");
    $instance->fill($tenant, 'configmaps', int($n / 100), namespace => "$tenant-$_") for 1 .. 100;
    return;
}

# Moves n resources by mistake and takes that back; the peaks of the worker and of the mover.
sub taken_back {
    my ($name, $n) = @_;
    filled($_->[0], $_->[1]) for [$name, $n], ["$name-to", int $n / 2];
    my @before = map { owned($_) } $name, "$name-to";
    my $moved = $admin->post("/v2.0/$name/action/move?dest=$name-to", prefer => 'respond-async');
    my $start = Time::HiRes::time();
    Tenure::Instance::follow($admin, $moved, 7200)->is_status(303, "$n are moved");
    my $moving = Time::HiRes::time() - $start;
    my @processes = (workers_of($instance, 'combined'), $instance->movers);
    reset_peaks(@processes);
    my $path = undo_path($name, $moved);
    $start = Time::HiRes::time();
    my $preview = $admin->get($path);
    $preview->is_status(200, 'the preview') or diag $preview->text;
    is_deeply [@{ $preview->json }{qw(changes blockers)}], [$before[0], []], '... counts all';
    my $looking = Time::HiRes::time() - $start;
    my $undone = $admin->post($path, if_match => $preview->etag);
    $undone->is_status(202);
    my $asking = Time::HiRes::time() - $start - $looking;
    Tenure::Instance::follow($admin, $undone, 7200)->is_status(303, 'taken back');
    note sprintf '%d: move %.1f s, preview %.1f s, POST %.1f s, undo %.1f s', $n, $moving, $looking, $asking, Time::HiRes::time() - $start - $looking - $asking;
    is_deeply [map { owned($_) } $name, "$name-to"], \@before, 'all is where it was';
    return map { peak_kb($_) } @processes;
}

my @few       = taken_back('few', int $many / 3);
my @many      = taken_back('many', $many);
my $sanitized = is_sanitized((workers_of($instance, 'combined'))[0]);
for my $i (0 .. $#many) {
    note "peaks: $few[$i] and $many[$i] kB";
    cmp_ok $many[$i], '<', $few[$i] + MORE_KB, 'no more memory for many' if !$sanitized;
}
$instance->stop;
done_testing;
