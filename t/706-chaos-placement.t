#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Claimers take candidates and give them back, while claimers, workers and the database server die: no host has more than it can
# have, nothing that was acknowledged is lost, nothing that was refused or given back is there.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;
use Time::HiRes ();

use Tenure::ChaosPlacement;
use Tenure::Instance;

# TENURE_LONG=1: 200 claimers over 50 hosts. TENURE_CLAIMS_COUNTS: a file for figures, a line "name=number" each.
my ($claimers, $hosts, $rounds, $kills) = $ENV{TENURE_LONG} ? (200, 50, 30, 8) : (8, 6, 2, 4);
my $instance = Tenure::Instance->start(placement => 1, workers => $ENV{TENURE_LONG} ? 12 : 6,
    allow => [qr/ended by signal 9/, qr/connection lost/, qr/ended with code/]);
my $chaos = Tenure::ChaosPlacement->new($instance, claimers => $claimers, hosts => $hosts);
my %died;

$chaos->start;
for my $round (1 .. $rounds) {
    for (1 .. $kills) {
        Time::HiRes::sleep(0.1 + rand 0.3);
        $died{workers}  += $chaos->kill_worker;
        $died{claimers} += $chaos->kill_claimer;
    }
    $chaos->kill_database;
    $died{databases}++;
    ok Tenure::Instance::wait_until(sub { $chaos->{placement}->get('/resource_classes')->status == 200 }), "round $round: served again";
}
# Until there was a load, however slow the machine is.
ok Tenure::Instance::wait_until(sub { $chaos->acknowledged > 20 * $claimers }, 120), 'there was a load';
$chaos->stop;
ok $died{workers} && $died{claimers}, 'all kinds were killed';

my @findings = $chaos->findings;
is scalar @findings, 0, 'all allocations are what was acknowledged, and within what the hosts have';
diag "  $_" for @findings[0 .. ($#findings < 19 ? $#findings : 19)];
note "acknowledged $chaos->{acknowledged}, refused $chaos->{refused}, unknown $chaos->{unknown}, consumers $chaos->{consumers}; died: "
    . join ', ', map { "$_ $died{$_}" } sort keys %died;
cmp_ok $chaos->{refused}, '>', 0, 'some claims met others';
if ($ENV{TENURE_CLAIMS_COUNTS}) {
    open my $out, '>>', $ENV{TENURE_CLAIMS_COUNTS} or die "$ENV{TENURE_CLAIMS_COUNTS}: $!\n";
    print {$out} "claimers=$claimers\nhosts=$hosts\n", (map { "$_=$chaos->{$_}\n" } qw(acknowledged refused unknown consumers)),
        (map { "killed $_=$died{$_}\n" } sort keys %died), 'findings=' . scalar(@findings) . "\n";
}

subtest 'the checker is not blind' => sub {
    my %harm = (
        'a lost allocation'      => 'DELETE FROM allocations LIMIT 1',
        'an amount that differs' => 'UPDATE allocations SET used = used + 1 LIMIT 1',
    );
    for my $name (sort keys %harm) {
        $instance->sql("CREATE TABLE kept AS SELECT * FROM allocations; $harm{$name}");
        ok scalar($chaos->findings), "finds $name";
        $instance->sql('DELETE FROM allocations; INSERT INTO allocations SELECT * FROM kept; DROP TABLE kept');
    }
    is scalar($chaos->findings), 0, 'and nothing without';
};

done_testing;
