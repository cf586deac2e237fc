#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo of the deletion of more than 20,000 resources on a Galera cluster of three nodes, and the undo of that, amid which the writer is killed: each
# is whole on every node, and is never seen half done; others write meanwhile.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::ClusterFaults;
use Tenure::Instance;
use Tenure::Undo qw(blockers undo_path);

my $many    = 20_100;
my $run     = Tenure::ClusterFaults->start(large => 4 * $many, hosts => 1); # what a node misses: the undo, with what it replaces
my $cluster = $run->cluster;
my $admin   = $run->instance->admin;

$admin->make_tenant($_) for qw(acme busy);
$admin->make('/v2.0/acme/namespaces/n');
my $writer = $run->writer;
my $id     = $cluster->value($writer, q(SELECT id FROM tenants WHERE name = 'acme'), 'tenure');
{
    local $cluster->{patience} = 120;
    for (my $from = 1; $from <= $many; $from += 5_000) {
        my $to = $from + 4_999 < $many ? $from + 4_999 : $many;
        $cluster->sql($writer, <<"SQL", 'tenure');
INSERT INTO resources (uid, tenant_id, type_id, namespace, name, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at, updated_at)
SELECT UNHEX(MD5(seq)), $id, (SELECT id FROM types WHERE plural = 'configmaps'), 'n', CONCAT('c', seq), 4, 1, 1, CRC32(seq), CRC32(seq + 1), CRC32(seq + 2), CRC32(seq + 3),
  REPEAT(CHAR(seq % 128), 64), '{}', '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM seq_${from}_to_$to
SQL
    }
    $cluster->sql($writer, "UPDATE tenant_counts SET resources = resources + $many WHERE tenant_id = $id", 'tenure');
}

# How many resources of the namespace that node has, and all that they are as one number.
sub content {
    my ($node) = @_;
    my $row = $cluster->sql($node, "SELECT COUNT(*), COALESCE(BIT_XOR(CONV(LEFT(MD5(CONCAT_WS('/', HEX(uid), name, HEX(etag), edits, revision, meta, body)), 15), 16, 10)), 0)
  FROM resources WHERE tenant_id = $id AND live = 1 AND namespace = 'n'", 'tenure')->[0];
    return "@$row";
}

# Takes a request back and waits for the end; amid() is called once it is under way. Returns the answer that tells of the end.
sub undo {
    my ($request, $amid) = @_;
    my $path    = undo_path('acme', $request);
    my $preview = $admin->get($path);
    $preview->is_status(200, 'the preview') or diag $preview->text;
    is_deeply [blockers($preview)], [], '... with nothing in the way';
    my $undone = $admin->post($path, if_match => $preview->etag);
    $undone->is_status(202, 'the undo') or diag $undone->text;
    $amid->() if $amid;
    my ($end, $written, %seen) = (undef, 0);
    Tenure::Instance::wait_until(sub {
        my $node = $run->writer;
        my $n = defined $node ? $cluster->value($node, "SELECT COUNT(*) FROM resources WHERE tenant_id = $id AND live = 1 AND namespace = 'n'", 'tenure') : undef;
        $seen{$n} = 1 if defined $n;
        $written++ if $admin->put('/v2.0/busy/persistentvolumes/p', json => { n => $written })->status =~ /\A20[01]\z/;
        $end = $admin->get($admin->path_of($undone->location));
        return $end->status == 303 || ($end->status == 200 && $end->json->{move}{state} eq 'failed');
    }, 180);
    $end->is_status(303, '... is done') or diag $end->text;
    is_deeply [sort { $a <=> $b } grep { $_ != 0 && $_ != $many } keys %seen], [], '... and was never seen half done';
    cmp_ok $written, '>', 0, '... while others wrote';
    return $undone;
}

sub is_everywhere {
    my ($content, $name) = @_;
    for my $node (1 .. $cluster->n) {
        my $last;
        ok Tenure::Instance::wait_until(sub { ($last = content($node)) eq $content }, 60), "$name: n$node" or diag $last;
    }
    return;
}

my $before  = content($writer);
my $deleted = $admin->delete('/v2.0/acme/namespaces/n');
$deleted->is_status(202, 'a namespace is deleted by mistake');
ok Tenure::Instance::wait_until(sub { $admin->get('/v2.0/acme/namespaces/n')->status == 410 }, 120), '... is done';

my $undone = undo($deleted);
is_everywhere($before, 'all is as it was');

my $killed;
undo($undone, sub {
    ok Tenure::Instance::wait_until(sub { $run->fragments > 2 }, 120), 'it is under way in the cluster';
    $killed = $run->writer;
    $cluster->kill_node($killed);
});
isnt $run->writer, $killed, 'another node is the writer';
$cluster->start_node($killed);
$cluster->wait_together;
is_everywhere('0 0', 'all is deleted again');
is $admin->get('/v2.0/acme')->json->{tenant}{resources}, 0, 'nothing of it is counted';
$run->instance->stop;
done_testing;
