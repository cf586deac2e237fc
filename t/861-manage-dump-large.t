#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure-manage dump and restore of many resources: while others write, in bounded memory, through a pipe, killed amid, and two at once.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use POSIX ();
use Test::More;
use Time::HiRes ();

use Tenure::Instance;

use constant { EACH => 2000, BYTES => 2000, MEMORY_KB => 100_000 };

my $instance = Tenure::Instance->start(workers => 2);
my $admin    = $instance->admin;
my $manage   = Tenure::Instance::build_dir() . '/tenure-manage';
my $config   = $instance->env('TENURE_CONFIG');
my $file     = $instance->dir . '/dump';

$admin->make_tenant($_) for 'large', 'small';
$admin->make("/v2.0/large/namespaces/default/configmaps/$_") for qw(seed);
# Copies of one resource; doctor makes tags and lanes of them.
$instance->sql(sprintf <<'SQL', BYTES, EACH);
INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, locked, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at, updated_at)
SELECT UNHEX(MD5(seq)), r.tenant_id, r.type_id, r.namespace, CONCAT('c', seq), 1, 0, 0, 1, 1, 0, 0, 0, 0, r.etag, r.meta,
  CONCAT('{"data":{"a":"', REPEAT('x', %d), '"}}'), r.created_at, r.updated_at
FROM seq_1_to_%d JOIN resources r ON r.name = 'seed';
INSERT INTO changes (request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision, etag_after)
SELECT r.uid, r.created_at, 'test', 'created', r.tenant_id, r.id, r.uid, r.type_id, r.namespace, r.name, 1, r.etag FROM resources r WHERE r.name LIKE 'c%%';
SQL
my ($code, $told) = $instance->manage('doctor', '--fix');
is $code, 0, 'many resources' or diag $told;

# Runs it by a shell, which limits its memory; (exit code, output).
sub limited {
    my ($command) = @_;
    my ($status, $text) = Tenure::Run::run('sh', '-c', 'ulimit -v ' . MEMORY_KB * 4 . "; $command");
    return ($status, $text);
}

subtest 'dump while others write' => sub {
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        for (1 .. 100000) { $admin->put("/v2.0/large/persistentvolumes/p$_", json => {})->status; last if -e "$file.stop" }
        POSIX::_exit(0);
    }
    ($code, $told) = limited("'$manage' -c '$config' dump --tenant large - | gzip >'$file.gz'; '$manage' -c '$config' dump --tenant large '$file'");
    is $code, 0, 'dump' or diag $told;
    open my $stop, '>', "$file.stop";
    waitpid $pid, 0;
    my @volumes = `grep -o '"persistentvolumes"' '$file'`;
    my @numbers = sort { $a <=> $b } map { /"name": "p(\d+)"/ ? $1 : () } `grep '"plural": "persistentvolumes"' '$file'`;
    is_deeply \@numbers, [ 1 .. @numbers ], 'what was made one after the other is there up to one moment';
};

$instance->sql(q(DELETE k FROM resources k JOIN tenants t ON t.id = k.tenant_id WHERE t.name = 'large'; DELETE FROM changes; DELETE FROM tenants WHERE name = 'large'));
subtest 'a restore that is killed leaves nothing' => sub {
    # It waits for the last resource, whose uid is another session's. That locks the gap before it as well, as long as the deleted one is not purged.
    $instance->sql('SET GLOBAL innodb_max_purge_lag_wait = 0');
    my ($last) = `grep -o '"name": "c[0-9]*"' '$file' | tail -n 1` =~ /c(\d+)/;
    my $type = $instance->sql_value(q(SELECT id FROM types WHERE plural = 'configmaps'));
    my $lock = $instance->sql_locks(sprintf <<'SQL', $last, $instance->tenant_id('small'), $type);
INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, locked, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at, updated_at)
VALUES (UNHEX(MD5(%d)), %d, %d, 'default', 'holder', 1, 0, 0, 1, 1, 0, 0, 0, 0, REPEAT('e', 64), '{}', '{}', NOW(), NOW())
SQL
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        open STDOUT, '>', '/dev/null';
        exec $manage, '-c', $config, 'restore', $file;
    }
    ok Tenure::Instance::wait_until(sub {
        Time::HiRes::sleep(0.15); # InnoDB shows its transactions anew if nobody has asked for 100 ms
        $instance->sql_value(q(SELECT COALESCE(MAX(trx_rows_modified), 0) > 500 FROM information_schema.innodb_trx));
    }), 'amid';
    kill KILL => $pid;
    waitpid $pid, 0;
    is $? & 127, POSIX::SIGKILL(), '... it was killed';
    close $lock;
    ok Tenure::Instance::wait_until(sub { Time::HiRes::sleep(0.15); $instance->sql_value('SELECT COUNT(*) FROM information_schema.innodb_trx') == 0 }), 'the database has rolled it back';
    is $instance->sql_value(q(SELECT COUNT(*) FROM tenants WHERE name = 'large')), 0, 'no tenant';
    is $instance->sql_value(q(SELECT COUNT(*) FROM resources WHERE name LIKE 'c%')), 0, 'no resources';
};

subtest 'two at once' => sub {
    my @pids = map {
        my $name = $_;
        my $pid = fork // die "fork: $!";
        if ($pid == 0) {
            open STDERR, '>', "$file.$name";
            open STDOUT, '>', '/dev/null';
            exec 'sh', '-c', "ulimit -v " . MEMORY_KB * 4 . "; zcat '$file.gz' | '$manage' -c '$config' restore --as $name -";
        }
        $pid;
    } qw(one two);
    my @codes = map { waitpid $_, 0; $? >> 8 } @pids;
    like join(' ', sort { $a <=> $b } @codes), qr/\A0 (?:65|75)\z/, 'one is restored, the other one is told why it is not'
        or diag map { Tenure::Run::read_file("$file.$_") } qw(one two);
    is $instance->sql_value(q(SELECT COUNT(*) FROM tenants WHERE name IN ('one', 'two'))), 1, 'one tenant';
    is $instance->sql_value(q(SELECT COUNT(*) FROM resources WHERE name LIKE 'c%')), EACH, 'all resources once';
};
($code, $told) = $instance->manage('doctor');
is $code, 0, 'doctor finds nothing wrong' or diag $told;

done_testing;
