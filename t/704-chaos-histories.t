#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Clients that collide on a few names while faults are injected: what they were told has a serial order (Tenure::History).
# scripts/check --long histories does so for longer behind each web server. TENURE_SEED repeats the draws (not the times of a run);
# TENURE_HISTORIES_CLIENTS, _SECONDS (of faults), _SERVER, _FAULTS (names, or none), and _COUNTS (a file for the figures) are for it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;
use Time::HiRes ();

use Tenure::History::Clients;
use Tenure::History::Faults;

my $seed    = $ENV{TENURE_SEED} // int rand 1e6;
my $clients = $ENV{TENURE_HISTORIES_CLIENTS} // 8;
my $seconds = $ENV{TENURE_HISTORIES_SECONDS} // 4;
my $server  = $ENV{TENURE_HISTORIES_SERVER} // 'lighttpd';
diag "TENURE_SEED=$seed";

my $faults   = Tenure::History::Faults->new;
my $instance = $faults->start(server => $server, workers => 4);
my $load     = Tenure::History::Clients->new(instance => $instance, clients => $clients, groups => int(($clients + 7) / 6), claims => 1, seed => $seed);
srand $seed;
my @names = defined $ENV{TENURE_HISTORIES_FAULTS} ? grep { $_ ne 'none' } split /,/, $ENV{TENURE_HISTORIES_FAULTS} : $faults->names;
# Each once, before any a second time.
my @drawn = sort { rand() <=> 0.5 } @names;

$load->start;
Time::HiRes::sleep(0.5);
my $end = Tenure::History::Clients::now() + $seconds;
for (my $n = 0; Tenure::History::Clients::now() < $end; $n++) {
    if (@names) { $faults->inject($n < @drawn ? $drawn[$n] : $names[rand @names]) }
    Time::HiRes::sleep(rand 0.4);
}
ok $faults->recovered, 'it is served again';
Time::HiRes::sleep(0.5);
$load->stop;

my @findings = $load->findings;
my $told = $load->told;
is scalar @findings, 0, "a serial order explains $told->{operations} operations, $told->{uncertain} of them uncertain";
diag $_ for @findings[0 .. ($#findings < 4 ? $#findings : 4)];
my %count = (%$told, map { ("fault $_" => $faults->count->{$_}) } keys %{ $faults->count });
diag join ', ', map { "$_ $count{$_}" } grep { !/ \d+\z/ } sort keys %count;
note join ', ', map { "$_: $told->{$_}" } grep { / \d+\z/ } sort keys %$told;
cmp_ok $told->{operations}, '>', 10 * $clients, 'there was a load';

my ($code, $text) = $instance->manage('doctor');
is $code, 0, 'the database is sound' or diag $text;

if (defined $ENV{TENURE_HISTORIES_COUNTS}) {
    open my $out, '>>', $ENV{TENURE_HISTORIES_COUNTS} or die "$ENV{TENURE_HISTORIES_COUNTS}: $!\n";
    print {$out} "$_=$count{$_}\n" for sort keys %count;
    print {$out} 'findings=' . @findings . "\n";
}

done_testing;
