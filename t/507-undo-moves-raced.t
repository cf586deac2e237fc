#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo of a move of more than 20,000 resources, raced by writers of both tenants and by other undos of the same request: whole or refused, with
# all that the writers were told is done still done; a tenant that has nothing to do with it is written to meanwhile.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Parallel;
use Tenure::Undo qw(undo_path);

my $many     = $ENV{TENURE_UNDO_MANY} // 20_100;
my $rounds   = $ENV{TENURE_UNDO_ROUNDS} // 1;
my $seed     = $ENV{TENURE_SEED} // time;
my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;
srand $seed;
diag "seed $seed";

sub live { my ($tenant) = @_; return 0 + $instance->sql_value("SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = '$tenant' AND r.live = 1") }
sub counted { return $admin->get("/v2.0/$_[0]")->json->{tenant}{resources} }

# Follows a move until it ends; the last answer.
sub ended {
    my ($path) = @_;
    my $get;
    Tenure::Instance::wait_until(sub { $get = $admin->get($path); return $get->status != 200 || $get->json->{move}{state} eq 'failed' }, 120);
    return $get;
}

$admin->make_tenant($_) for qw(a b other);
$admin->make('/v2.0/a/namespaces/n');
$instance->fill('a', 'configmaps', $many, namespace => 'n');

# What the writers do: changes of what was moved, additions to it, changes beside it. Each says what it was answered.
sub writer {
    my ($client, $round, $kind) = @_;
    my $in_b = '/v2.0/b/namespaces/n/configmaps';
    my $path = $kind eq 'changes' ? "$in_b/c" . (1 + int rand $many)
        : $kind eq 'adds' ? "$in_b/new$round-$client"
        : $kind eq 'takes' ? '/v2.0/a/namespaces/n'
        : "/v2.0/b/namespaces/default/configmaps/beside$round-$client";
    my $answer = $admin->put($path, json => $kind eq 'takes' ? {} : { data => { by => "$round-$client" } });
    return join ' ', $answer->status, $path;
}

my @kinds = qw(changes adds takes beside);
my %seen;
for my $round (1 .. $rounds) {
    for my $kind (@kinds) {
        my $all = live('a');
        my $moved = $admin->post('/v2.0/a/action/move?dest=b');
        $moved->is_status(303, "round $round, $kind") or last;
        my $undo = undo_path('a', $moved);
        my @told = Tenure::Parallel::run(4, sub {
            my ($client) = @_;
            srand $seed + $client + 10 * $round;
            select undef, undef, undef, rand($client == 2 ? 2 : 0.2);
            if ($client < 2) {
                my $answer = $admin->post($undo);
                return join ' ', 'undo', $answer->status, $answer->status == 202 ? $admin->path_of($answer->location) : '-';
            }
            return writer($client, $round, $kind) if $client == 2;
            return join ' ', 'other', map { $admin->put("/v2.0/other/namespaces/default/configmaps/x$_", json => { data => { r => "$round" } })->status } 1 .. 5;
        });
        like $told[3], qr/\Aother(?: 20[01]){5}\z/, 'another tenant is written to';
        my @accepted = map { /\Aundo 202 (\S+)/ ? $1 : () } @told;
        like $told[$_], qr/\Aundo (?:202|409|503) /, "undo $_: accepted, or refused with something changed" for 0, 1;
        my $done = grep { ended($_)->status == 303 } @accepted;
        cmp_ok $done, '<=', 1, 'one of the two at most is done';
        my @rows = map { my ($uid) = /([^\/]+)\z/; $instance->count_changes_of($uid) } @accepted;
        is_deeply [sort { $a <=> $b } @rows], [(0) x (@rows - $done), ($all) x $done], 'whole, or nothing';
        my ($status, $path) = split / /, $told[2];
        like $status, qr/\A(?:200|201|301|503|404)\z/, "the writer: $status";
        $seen{"$kind " . ($done ? 'done' : 'refused')}++;
        if ($status =~ /\A20/) {
            my $get = $admin->get($path);
            $get = $admin->get($admin->path_of($get->location)) if $get->status == 301;
            $get->is_status(200, 'what a writer was told is there');
            is $get->json->{data}{by}, "$round-2", '... as he wrote it' if $kind ne 'takes';
        }
        is counted($_), live($_), "$_ is counted" for qw(a b);
        is $instance->sql_value('SELECT COUNT(*) FROM (SELECT uid FROM resources WHERE live = 1 GROUP BY uid HAVING COUNT(*) > 1) d'), 0, 'each is there once';
        # Back to where it began.
        $admin->delete($_) for grep { $kind eq 'takes' && !$done } '/v2.0/a/namespaces/n';
        $admin->post('/v2.0/b/action/move?dest=a')->is_status(303, 'for the next');
    }
}
note join ', ', map { "$_: $seen{$_}" } sort keys %seen;
is_deeply [@seen{'beside done', 'beside refused'}], [$rounds, undef], 'what is beside it never prevents it';
$instance->stop;
done_testing;
