#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Eight clients change one node while workers and the database server die: nothing acknowledged is lost, nothing is done twice.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;
use Time::HiRes ();

use Tenure::ChaosMetal;
use Tenure::Instance;

# TENURE_LONG=1: the numbers of a night's run.
my $total    = $ENV{TENURE_LONG} ? 10_000 : 200;
my ($pause, $round) = $ENV{TENURE_LONG} ? (0.4, 8) : (0.1, 3); # seconds; workers killed for each database server
my $instance = Tenure::Instance->start(workers => 6,
    allow => [qr/ended by signal 9/, qr/connection lost/, qr/ended with code/]);

my %text = (increments => 'increments with If-Match and retry', adds => 'blind adds of different keys',
    appends => 'blind adds to the end of a list, each sent once');

sub check {
    my ($chaos, $kind, $harm) = @_;
    my $began = Time::HiRes::time();
    my $told  = $chaos->load($kind, $harm);
    ok $told, 'all clients came to their end' or return;
    note join(', ', map { "$_ $told->{$_}" } sort keys %$told) . sprintf '; %.0f s', Time::HiRes::time() - $began;
    cmp_ok $told->{done}, '>', $total / 2, 'most were told that it was done';
    my @findings = $chaos->findings;
    is scalar @findings, 0, 'none is lost, none is there twice';
    diag "  $_" for @findings[0 .. ($#findings < 19 ? $#findings : 19)];
    return;
}

subtest 'nobody dies' => sub {
    my $chaos = Tenure::ChaosMetal->new($instance, node => 'calm', clients => 8, total => $total);
    for my $kind (qw(increments adds appends)) {
        subtest "$total $text{$kind}" => sub {
            check($chaos, $kind, sub { Time::HiRes::sleep(0.05) });
            is $chaos->{did}{$kind}{unknown} + $chaos->{did}{$kind}{found}, 0, 'each had its answer';
        };
    }
};

subtest 'workers and the database server die' => sub {
    my $chaos = Tenure::ChaosMetal->new($instance, node => 'chaos', dir => $instance->dir . '/chaos-killed', clients => 8,
        total => $total);
    for my $kind (qw(increments adds appends)) {
        my ($workers, $databases) = (0, 0);
        subtest "$total $text{$kind}" => sub {
            check($chaos, $kind, sub {
                Time::HiRes::sleep($pause / 2 + rand $pause);
                $workers += $chaos->kill_worker;
                return if ($workers + 1) % $round;
                $chaos->kill_database;
                $databases++;
            });
            ok $workers && $databases, 'both were killed';
            note "$workers workers and $databases database servers killed";
        };
    }
};

subtest 'the checker is not blind' => sub {
    my $chaos = Tenure::ChaosMetal->new($instance, node => 'seen', dir => $instance->dir . '/chaos-seen', clients => 2,
        total => 20);
    $chaos->load($_, sub { Time::HiRes::sleep(0.02) }) for qw(increments adds appends);
    is scalar(my @none = $chaos->findings), 0, 'all is well at first';
    my $row  = "WHERE name = '$chaos->{uuid}' AND live = 1";
    my $uid  = "uid = UNHEX('" . ($chaos->{uuid} =~ s/-//gr) . "')";
    my $seen = 0;
    for my $harm (
        ['an increment lost', "UPDATE resources SET body = JSON_SET(body, '\$.extra.counter', 19) $row"],
        ['a key lost', "UPDATE resources SET body = JSON_REMOVE(body, '\$.extra.keys.\"k0-1\"') $row"],
        ['an item lost', "UPDATE resources SET body = JSON_REMOVE(body, '\$.extra.list[0]') $row"],
        ['an item twice', "UPDATE resources SET body = JSON_ARRAY_APPEND(body, '\$.extra.list', '1-10') $row"],
        ['an item of nobody', "UPDATE resources SET body = JSON_ARRAY_APPEND(body, '\$.extra.list', 'x') $row"],
        ['a change row lost', "DELETE FROM changes WHERE $uid AND revision = 5"],
        ['another etag', "UPDATE resources SET etag = REVERSE(etag) $row"],
    ) {
        my ($what, $sql) = @$harm;
        $instance->sql($sql);
        my @found = $chaos->findings;
        cmp_ok scalar @found, '>', $seen, $what;
        $seen = @found;
    }
};

done_testing;
