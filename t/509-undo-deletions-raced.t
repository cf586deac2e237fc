#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo of the deletion of a large namespace, and of its recovery, raced by writers of the tenant and by other undos of the same request: whole or
# refused, with all that the writers were told is done still done; another tenant is written to meanwhile.
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

my $space = '/v2.0/a/namespaces/n';
my %seen;

sub live { my ($where) = @_; return 0 + $instance->sql_value("SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 'a' AND r.live = 1 $where") }
sub within { return live(q(AND (r.namespace = 'n' OR (r.namespace = '' AND r.name = 'n')))) }
sub counted { return 0 + $admin->get('/v2.0/a')->json->{tenant}{resources} }

# Follows an undo until it ends; the last answer.
sub ended {
    my ($path) = @_;
    my $get;
    Tenure::Instance::wait_until(sub { $get = $admin->get($path); return $get->status != 200 || $get->json->{move}{state} eq 'failed' }, 120);
    return $get;
}

sub undone {
    my ($request) = @_;
    my $answer = $admin->post(undo_path('a', $request));
    $answer->is_status(202, 'the undo') or diag $answer->text;
    ended($admin->path_of($answer->location))->is_status(303, '... is done');
    return $answer->request_id;
}

$admin->make_tenant($_) for qw(a other);
$admin->make($space);
$instance->fill('a', 'configmaps', $many, namespace => 'n');

# What a writer does. It says what it was answered, and where what it did can be seen; '-': nowhere.
sub writer {
    my ($kind, $mark) = @_;
    my %data = (json => { data => { by => $mark } });
    my $path = $kind eq 'takes' ? $space
        : $kind eq 'changes' ? "$space/configmaps/c" . (1 + int rand $many)
        : $kind eq 'adds' ? "$space/configmaps/$mark"
        : "/v2.0/a/namespaces/default/configmaps/$mark";
    return join ' ', $admin->put($path, json => {})->status, $path if $kind eq 'takes';
    return join ' ', $admin->post("$space/action/recover")->status, $space if $kind eq 'recovers';
    return join ' ', $admin->delete("$space/configmaps/c" . (1 + int rand $many))->status, '-' if $kind eq 'deletes';
    return join ' ', $admin->put($path, %data)->status, $path;
}

# Two undos of a request, which has n changes to be taken back, and a writer. Returns the undo that was done, '' if none was; and whether the
# writer had its way.
sub raced {
    my ($request, $n, $kind, $mark) = @_;
    my @told = Tenure::Parallel::run(4, sub {
        my ($client) = @_;
        srand $seed + $client + length $mark;
        select undef, undef, undef, rand($client == 2 ? 2 : 0.2);
        if ($client < 2) {
            my $answer = $admin->post(undo_path('a', $request));
            return join ' ', 'undo', $answer->status, $answer->status == 202 ? $admin->path_of($answer->location) : '-';
        }
        return writer($kind, $mark) if $client == 2;
        return join ' ', 'other', map { $admin->put("/v2.0/other/namespaces/default/configmaps/x$_", json => { data => { r => $mark } })->status } 1 .. 5;
    });
    like $told[3], qr/\Aother(?: 20[01]){5}\z/, "$kind: another tenant is written to";
    like $told[$_], qr/\Aundo (?:202|409|503) /, "undo $_: accepted, or refused with something changed" for 0, 1;
    my @accepted = map { /\Aundo 202 (\S+)/ ? $1 : () } @told;
    my @done = grep { ended($_)->status == 303 || $instance->count_changes_of(/([^\/]+)\z/) > 0 } @accepted;
    cmp_ok scalar @done, '<=', 1, 'one of the two at most is done';
    my @rows = map { $instance->count_changes_of(/([^\/]+)\z/) } @accepted;
    is_deeply [sort { $a <=> $b } @rows], [(0) x (@rows - @done), ($n) x @done], 'whole, or nothing';
    my ($status, $path) = split / /, $told[2];
    like $status, qr/\A(?:20[0-4]|404|409|410|503)\z/, "the writer: $status";
    $seen{"$kind " . (@done ? 'done' : 'refused')}++;
    my $wrote = $status =~ /\A20/;
    $admin->get($path)->is_status(200, 'what the writer was told is there') if $wrote && $path ne '-';
    is counted(), live(''), 'all are counted';
    is $instance->sql_value('SELECT COUNT(*) FROM (SELECT uid FROM resources WHERE live = 1 GROUP BY uid HAVING COUNT(*) > 1) d'), 0, 'each is there once';
    return (@done ? $done[0] =~ /([^\/]+)\z/ : '', $wrote);
}

for my $round (1 .. $rounds) {
    for my $kinds (['takes', 'adds'], ['recovers', 'changes'], ['beside', 'deletes']) {
        my ($back, $again) = @$kinds;
        my $n = within();
        my $deleted = $admin->delete($space);
        $deleted->is_status(202, "round $round, $back") or last;
        ok Tenure::Instance::wait_until(sub { $admin->get($space)->status == 410 }, 120), '... deleted';
        my ($done, $wrote) = raced($deleted->request_id, $n, $back, "one$round$back");
        ok $wrote, 'what is refused is refused for a reason' if !$done;
        if (!$done) {
            $admin->delete($space)->is_status(204) if $back eq 'takes';
            # What was recovered by hand is as good.
            $done = $back eq 'recovers' ? $instance->sql_value('SELECT LOWER(HEX(request_id)) FROM changes ORDER BY id DESC LIMIT 1') : undone($deleted->request_id);
            $done =~ s/\A(.{8})(.{4})(.{4})(.{4})(.{12})\z/$1-$2-$3-$4-$5/;
        }
        is within(), $n, 'all is back';
        ($done, $wrote) = raced($done, $n, $again, "two$round$again");
        ok $wrote, 'what is refused is refused for a reason' if !$done;
        is within(), 0, 'nothing is left' if $done;
        undone($done) if $done;
    }
}
note join ', ', map { "$_: $seen{$_}" } sort keys %seen;
is_deeply [@seen{'beside done', 'beside refused'}], [$rounds, undef], 'what is beside it never prevents it';
$instance->stop;
done_testing;
