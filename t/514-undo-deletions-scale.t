#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo of the deletion of many resources, and the undo of that: neither the worker nor the mover takes more memory for the many than for half of
# them, and all of it is as it was. What the tenant had is metered exactly.
#
# TENURE_UNDO_MANY: how many
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

my $many     = $ENV{TENURE_UNDO_MANY} // 42_000;
my $instance = Tenure::Instance->start(combined => 1, workers => 1);
my $admin    = $instance->admin;

sub owned { my ($tenant) = @_; my $id = $instance->tenant_id($tenant); return 0 + $instance->sql_value("SELECT COUNT(*) FROM resources WHERE tenant_id = $id AND live = 1") }

sub undone {
    my ($tenant, $request, $n, $name) = @_;
    my $path    = undo_path($tenant, $request);
    my $start   = Time::HiRes::time();
    my $preview = $admin->get($path);
    $preview->is_status(200, "$name: the preview") or diag $preview->text;
    is_deeply $preview->json->{blockers}, [], '... with nothing in the way';
    my $looked = Time::HiRes::time();
    my $undone = $admin->post($path, if_match => $preview->etag);
    $undone->is_status(202);
    my $asked = Time::HiRes::time();
    Tenure::Instance::follow($admin, $undone, 7200)->is_status(303, '... done');
    note sprintf '%s of %d: preview %.1f s, POST %.1f s, undo %.1f s', $name, $n, $looked - $start, $asked - $looked, Time::HiRes::time() - $asked;
    return $undone;
}

# Deletes n resources by mistake, takes that back, and that, and that; the peaks of the worker and of the mover.
sub peaks {
    my ($name, $n) = @_;
    $admin->make_tenant($name);
    $admin->make("/v2.0/$name/namespaces/n");
    $instance->fill($name, 'configmaps', $n, namespace => 'n');
    my $before  = owned($name);
    my $deleted = $admin->delete("/v2.0/$name/namespaces/n");
    $deleted->is_status(202);
    ok Tenure::Instance::wait_until(sub { $admin->get("/v2.0/$name/namespaces/n")->status == 410 }, 3600), "$n are deleted";
    my @processes = (workers_of($instance, 'combined'), $instance->movers);
    reset_peaks(@processes);
    my $back = undone($name, $deleted, $n, 'the deletion');
    is owned($name), $before, 'all is back';
    my $again = undone($name, $back, $n, 'the undo of that');
    is owned($name), 0, 'all is gone';
    undone($name, $again, $n, 'and of that');
    is_deeply [owned($name), 0 + $admin->get("/v2.0/$name")->json->{tenant}{resources}], [$before, $before], 'all is there, and counted';
    my $id = $instance->tenant_id($name);
    is $instance->sql_value("SELECT SUM(CAST(bytes_after AS SIGNED) - CAST(bytes_before AS SIGNED)) FROM changes WHERE tenant_id = $id AND namespace = 'n'"), 0,
        'what is metered of it adds up';
    return map { peak_kb($_) } @processes;
}

my @few       = peaks('few', int $many / 2);
my @many      = peaks('many', $many);
my $sanitized = is_sanitized((workers_of($instance, 'combined'))[0]);
for my $i (0 .. $#many) {
    note "peaks: $few[$i] and $many[$i] kB";
    cmp_ok $many[$i], '<', $few[$i] + MORE_KB, 'no more memory for many' if !$sanitized;
}
$instance->stop;
done_testing;
