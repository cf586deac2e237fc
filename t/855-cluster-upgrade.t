#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A Galera cluster is upgraded while the program of an earlier release serves clients that write: nothing is refused, nothing is lost, and all
# nodes have the same tables and rows afterwards. Indexes of large tables are built on one node after the other. `scripts/check --long upgrade` measures how long the slowest write took.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use Test::More;

use Tenure::Galera;
use Tenure::Instance;
use Tenure::Run qw(run read_file);
use Tenure::Upgrade;

Tenure::Upgrade::need_programs();
Tenure::Galera::need();
my $top = Tenure::Upgrade::top();
my $release = 23; # behind which indexes of large tables are built, of resources and of tenants
my $dir = File::Temp->newdir('upgrade-cluster-XXXXXX', TMPDIR => 1);
my ($code, $text) = run("$top/t/upgrade/build-release", $release, $ENV{TENURE_RELEASES} // "$dir/build");
plan skip_all => "the program of the release before is built from the repository's history, and $text" if $code == 69;
is $code, 0, "the program of schema version $release is built" or diag $text;
chomp(my ($build) = $text =~ /^(.*)\n\z/m);
($code, $text) = run("$top/t/upgrade/load", '--cluster', $release, 30_000, $build, "$dir/load");
is $code, 0, 'nothing was refused, nothing lost, and the nodes are alike' or diag $text;
note $text;
like $text, qr/on n2\n.*on n3\n.*n2 is the writer\n.*on n1\n/s, 'a large index is built on one node after the other, on that of the writer when it is none any more';

# ---- while a node's table is held, and while a node is away

my $cluster = Tenure::Galera->start;
my $home    = Tenure::Upgrade->new(cluster => $cluster);

# A database of that release in which an index of the table tenants takes longer to build than writers may wait.
sub with_many_tenants {
    my ($name) = @_;
    my $old = $home->release($release, $name);
    $old->sql("INSERT INTO tenants (name, uid, tier_id, metadata, etag, revision, created_at, updated_at)
        SELECT CONCAT('many-', seq), UNHEX(MD5(seq)), (SELECT MIN(id) FROM tiers), '{}', REPEAT('e', 64), 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM seq_1_to_25000");
    $old->sql('ANALYZE TABLE tenants');
    return $old;
}

# The nodes that have all keys of that table which a new database has.
sub nodes_with_keys {
    my ($name) = @_;
    my $keys = "SELECT GROUP_CONCAT(DISTINCT index_name ORDER BY index_name) FROM information_schema.statistics WHERE table_name = 'tenants' AND table_schema = ";
    my $all  = $cluster->value(1, "${keys}'fresh'");
    return join ' ', grep { $cluster->value($_, "${keys}'$name'") eq $all } 1 .. 3;
}

$home->database('fresh')->manage('db', 'init');
my $held    = with_many_tenants('held');
my $release_it = $cluster->hold(3, 'SELECT COUNT(*) FROM tenants', 'held');
is nodes_with_keys('held'), '', 'no node has the index';
my $ended = $held->begin_manage("$dir/said", 'db', 'upgrade');
ok Tenure::Instance::wait_until(sub { nodes_with_keys('held') eq '2' }), 'one node builds it for itself';
$held->sql("UPDATE tenants SET revision = revision + 1 WHERE name = 'many-1'");
is nodes_with_keys('held'), '2', 'the writer writes to the table while the next node waits for a transaction that reads it';
ok Tenure::Instance::wait_until(sub { read_file("$dir/said") =~ /a transaction holds the table/ }), '... and says so';
($code, $text) = $held->manage('cluster', 'switch', 'n2');
is $code, 75, '... meanwhile an operator makes no other node the writer';
like $text, qr/`tenure-manage db upgrade`, .* is running/, '... and is told why';
$release_it->();
($code, $text) = $ended->();
is $code, 0, 'the upgrade goes on to its end' or diag $text;
like $text, qr/on n2\n  on n3\n  a transaction holds the table.*n2 is the writer\n  on n1\n/s, '... on one node after the other';
is nodes_with_keys('held'), '1 2 3', 'all have it';

my $old = with_many_tenants('old');
$cluster->sql(2, "CREATE USER narrow IDENTIFIED BY 'narrow'; GRANT ALL ON old.* TO narrow");
is +(run('mariadb', '--no-defaults', '--skip-ssl', '--socket=' . $cluster->socket(2), '--user=narrow', '--password=narrow', '-e',
    "SET SESSION wsrep_OSU_method = 'RSU'"))[0], 0, 'what builds on one node needs no right beyond those on the tables';
$cluster->stop_node(3);
$cluster->wait_stopped(3);
($code, $text) = $old->manage('db', 'upgrade');
is $code, 0, 'an upgrade while a node is away' or diag $text;
like $text, qr/not all nodes of the cluster/, '... says that it builds at once, and holds writers up';
unlike $text, qr/ is the writer/, '... and the writer stays';
$cluster->start_node(3);
$cluster->wait_together;
ok Tenure::Instance::wait_until(sub { nodes_with_keys('old') eq '1 2 3' }), 'the node that was away has the index when it is back';
done_testing;
