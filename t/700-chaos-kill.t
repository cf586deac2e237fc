#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Workers, movers and the database server die under a load of writes and moves: nothing acknowledged is lost, nothing is half done.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;
use Time::HiRes ();

use Tenure::Instance;
use Tenure::Chaos;

# TENURE_LONG=1: fifty of each.
my ($worker_kills, $database_kills) = $ENV{TENURE_LONG} ? (50, 50) : (12, 2);
my $instance = Tenure::Instance->start(workers => 6, allow => [qr/ended by signal 9/, qr/connection lost/, qr/ended with code/]);
my $chaos    = Tenure::Chaos->new($instance);

sub sound {
    my ($name) = @_;
    ok $chaos->settle, "$name: no move is left waiting";
    my @findings = $chaos->findings;
    is scalar @findings, 0, "$name: the whole state is what was acknowledged";
    diag "  $_" for @findings[0 .. ($#findings < 19 ? $#findings : 19)];
    return;
}

$chaos->start;
my $rounds = $database_kills;
for my $round (1 .. $rounds) {
    for (1 .. int $worker_kills / $rounds) {
        Time::HiRes::sleep(0.15 + rand 0.25);
        $chaos->kill_worker;
    }
    Time::HiRes::sleep(rand 0.5);
    $chaos->kill_database;
    ok Tenure::Instance::wait_until(sub { $instance->admin->get('/healthz')->status == 200 }), "round $round: served again";
}
Time::HiRes::sleep(1);
$chaos->stop;
sound('after all');
cmp_ok $chaos->{acknowledged}, '>', 50, 'there was a load';
my %moves;
for my $journal (glob "$chaos->{dir}/mover*") {
    $moves{$_}++ for Tenure::Instance::read_file($journal) =~ /^(\d+) /mg;
}
ok $moves{303}, 'and moves among it';
note join ', ', map { "$_: $moves{$_}" } sort keys %moves;
note "$chaos->{acknowledged} writes acknowledged";

done_testing;
