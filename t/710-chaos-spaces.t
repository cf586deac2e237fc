#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Types, objects, namespaces, sharing and policies change at once while workers and the database server die: nothing
# acknowledged is lost, nothing is half made, and who watches all of it is told every change once, in order.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;
use Time::HiRes ();

use Tenure::ChaosSpaces;
use Tenure::Instance;

# TENURE_LONG=1: the times of a night's run.
my $seconds = $ENV{TENURE_LONG} ? 60 : 10;
my ($pause, $round) = $ENV{TENURE_LONG} ? (0.6, 8) : (0.4, 4); # seconds; workers killed for each database server

sub check {
    my ($harm, %option) = @_;
    my $instance = Tenure::Instance->start(workers => 6, combined => 1, allow => [qr/ended by signal 9/, qr/connection lost/, qr/ended with code/]);
    my $chaos    = Tenure::ChaosSpaces->new($instance, clients => 8);
    ok $chaos->load($seconds, sub { $harm->($chaos) }), 'all came to their end';
    my $told = $chaos->told;
    note join ', ', map { "$_: $told->{$_}" } sort keys %$told;
    cmp_ok $told->{"$_ done"} // 0, '>', 0, "$_: done" for qw(create delete define withdraw share unshare policy namespace drop);
    my @findings = $chaos->findings;
    is scalar @findings, 0, 'nothing is lost, half made, or told otherwise' or diag map { "  $_\n" } @findings[0 .. ($#findings < 19 ? $#findings : 19)];
    note "$chaos->{events} events in " . $chaos->breaks . ' watches';
    cmp_ok $chaos->{events}, '>', 50, 'somebody watched';
    return ($instance, $chaos, $told);
}

subtest 'nobody dies' => sub {
    my ($instance, $chaos, $told) = check(sub { Time::HiRes::sleep(0.05) });
    is join(', ', grep { /unknown|refused/ } sort keys %$told), '', 'each had its answer';
    # The checker is not blind.
    my $seen = 0;
    my $one  = "(SELECT MAX(id) FROM changes WHERE verb = 'created' AND name LIKE 'k%')";
    for my $harm (
        ['an object lost', q(UPDATE resources SET live = NULL, purge_at = '2100-01-01', deleted_at = '2020-01-01' WHERE live = 1 AND name LIKE 'k%' ORDER BY id LIMIT 1)],
        ['a change row lost', "DELETE FROM changes WHERE id = $one"],
        ['a change told as another', q(UPDATE changes SET verb = 'updated' WHERE verb = 'deleted' AND namespace = 'default' ORDER BY id LIMIT 1)],
    ) {
        $instance->sql($harm->[1]);
        my @found = $chaos->findings;
        cmp_ok scalar @found, '>', $seen, "the checker sees $harm->[0]";
        $seen = @found;
    }
};

subtest 'workers and the database server die' => sub {
    my ($workers, $databases) = (0, 0);
    check(sub {
        my ($chaos) = @_;
        Time::HiRes::sleep($pause / 2 + rand $pause);
        $workers += $chaos->kill_worker;
        return if ($workers + 1) % $round;
        $chaos->kill_database;
        $databases++;
    });
    ok $workers && $databases, 'both were killed';
    note "$workers workers and $databases database servers killed";
};

done_testing;
