#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A primary and its semi-synchronous replica under the service, without Galera. The operator switches between them, and promotes the
# replica when the primary was killed, while clients collide on a few names: what they were told has a serial order, so nothing that was
# acknowledged is lost. Then the earlier primary returns and takes changes: nobody writes to it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;
use Time::HiRes ();

use Tenure::History::Clients;
use Tenure::Instance;
use Tenure::Replicas;
use Tenure::Restore;
use Tenure::Run qw(read_file);
use Tenure::Upgrade;

my $servers  = Tenure::Replicas->start;
my $instance = Tenure::Instance->start(workers => 3, settings => { $servers->settings, 'database.read_timeout' => 20 },
    allow => [qr/connection lost/, qr/does not answer/, qr/given up/, qr/the writer/, qr/takes changes/, qr/semi|replica/, qr/account is locked/]);
my $admin = $instance->admin(timeout => 60);
my $path  = '/v2.0/acme/persistentvolumes';
my ($code, $text);

sub switch { ($code, $text) = $instance->manage('cluster', 'switch', @_); return $code }
# Makes the last of these hosts the primary. 2130706433 is 127.0.0.1, written so that it passes for an address that other machines reach.
sub switch_among {
    my (@hosts) = @_;
    local $instance->{option}{settings}{'database.host'} = join ',', @hosts;
    return switch($hosts[-1]);
}
sub status { ($code, $text) = $instance->manage('cluster', 'status'); return $code }

sub served {
    return Tenure::Instance::wait_until(sub { $admin->put("$path/probe", json => { at => Time::HiRes::time() })->status =~ /^20[01]$/ }, 60);
}

is status(), 0, 'db init has appointed the primary' or diag $text;
like $text, qr/^127\.0\.0\.1:\d+ +\S+ +writer +semi-sync, 1 replica +\S*rpl_semi|^127\.0\.0\.1:\d+ +\S+ +writer +semi-sync, 1 replica *$/m, '... which is shown with its replica';
like $text, qr/^127\.0\.0\.1:\d+ +\S+ +replica +replica, \d+ s behind +read-only$/m, '... and so is the replica';
$admin->make_tenant('acme');

subtest 'the only replica is lost' => sub {
    $servers->sql(2, 'STOP SLAVE IO_THREAD');
    ok Tenure::Instance::wait_until(sub { status() == 1 }), 'status says by its exit code that nothing can be written' or diag $text;
    like $text, qr/ +writer +semi-sync, 0 replicas +no replica is connected: all writes wait$/m, '... and in words';
    my $waiting = q(SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'Waiting for semi-sync ACK from slave');
    my $replace_workers = sub {
        my %before = map { $_ => 1 } Tenure::Instance::children_of($instance->master_pid('admin'));
        kill 'HUP', $instance->master_pid('admin');
        return Tenure::Instance::wait_until(sub { !grep { $before{$_} } Tenure::Instance::children_of($instance->master_pid('admin')) });
    };
    ok $replace_workers->(), 'there are new workers';
    is $admin->get("$path/none")->status, 503, 'which can\'t connect' for 1 .. 20;
    cmp_ok $servers->value(1, $waiting), '<=', 8, '... and leave no session behind with each try';
    is +($instance->manage('token', 'list'))[0], 75, 'neither can a command';
    $servers->sql(1, 'SET GLOBAL rpl_semi_sync_master_enabled = OFF');
    ok served(), 'the operator lets writes go on without a receipt';
    $servers->sql(1, 'SET GLOBAL rpl_semi_sync_master_enabled = ON');
    $servers->sql(2, 'START SLAVE IO_THREAD');
    ok Tenure::Instance::wait_until(sub { status() == 0 }), 'the replica is back' or diag $text;
    ok served(), '... and all goes on';
    $servers->freeze(2);
    ok $replace_workers->(), 'it hangs, and there are new workers';
    is $admin->get("$path/none")->status, 503, 'whose first transaction gets no receipt' for 1 .. 3;
    cmp_ok $servers->value(1, $waiting), '<=', 8, '... and whose sessions are ended';
    $servers->thaw(2);
    ok Tenure::Instance::wait_until(sub { status() == 0 }), 'it is back' or diag $text;
    ok served(), '... and all goes on';
};

subtest 'what is refused, with all reasons' => sub {
    my $primary = $servers->value(1, 'SELECT @@gtid_binlog_pos');
    $servers->sql(2, "SET sql_log_bin = 0; STOP SLAVE SQL_THREAD; REVOKE RELOAD ON *.* FROM operator\@'%'");
    is switch($servers->host(2)), 75, 'a replica that applies nothing can\'t be promoted';
    like $text, qr/it does not apply what it received: its SQL thread is stopped/, '... for that reason';
    like $text, qr/lacks privileges: GRANT RELOAD ON/, '... and for each other one';
    is switch($servers->host(2), '--force'), 75, 'nor with --force';
    like $text, qr/--force is for a primary that is gone/, '... which is for something else';
    $servers->sql(2, "SET sql_log_bin = 0; GRANT RELOAD ON *.* TO operator\@'%'; STOP SLAVE; CHANGE MASTER TO MASTER_USE_GTID = no; START SLAVE SQL_THREAD");
    is switch($servers->host(2)), 75, 'nor one without GTIDs';
    like $text, qr/replicates without GTIDs/, '... in words';
    like $text, qr/it receives nothing from its primary/, '... and since it is stopped';
    is switch('nowhere'), 65, 'nor a server that is not there';
    is switch_among($servers->host(1) =~ s/127\.0\.0\.1/2130706433/r, $servers->host(2)), 75, 'nor one by an address of its own host alone';
    like $text, qr/by this address the other servers don't reach it, .*: set report_host there/, '... and how others reach it is asked for';
    is $servers->value(1, 'SELECT epoch FROM writer', 'tenure'), 1, 'nothing was switched';
    $servers->sql(2, 'STOP SLAVE; CHANGE MASTER TO MASTER_USE_GTID = slave_pos; START SLAVE');
    is $servers->value(2, 'SELECT @@read_only'), 1, 'the replica takes no changes';
};

my $load = Tenure::History::Clients->new(instance => $instance, clients => 6, timeout => 60);
$load->start;
ok served(), 'clients are served';

for my $to (2, 1) {
    my $begun = Time::HiRes::time();
    is switch($servers->host($to)), 0, "switch to server $to" or diag $text;
    like $text, qr/is its replica$/m, '... whose replica the other one is now';
    ok served(), '... and the service goes on';
    diag sprintf 'switched and served after %.2f s', Time::HiRes::time() - $begun;
    is $servers->value(3 - $to, 'SELECT @@read_only'), 1, 'the earlier primary takes no changes';
    is status(), 0, 'status finds nothing' or diag $text;
}

is switch('--force', $servers->host(2)), 75, '--force while there is a primary is refused';
like $text, qr/^\s*--force is for a primary that is gone, and none is: leave it out$/m, '... and it is told why';
my $highest = $servers->value(1, 'SELECT MAX(id) FROM changes', 'tenure');
$servers->kill_server(1);
is status(), 1, 'status says that the primary is gone, by its exit code' or diag $text;
is switch($servers->host(2)), 75, 'a replica is not promoted without a word of the operator\'s';
like $text, qr/say --force\. Changes that it acknowledged and no replica received are lost then/, '... who is told what that may lose';
my $begun = Time::HiRes::time();
is switch('--force', $servers->host(2)), 0, '--force is that word' or diag $text;
like $text, qr/has no semi-synchronous replica/, '... and he is told that there is no replica left';
ok served(), 'the service goes on';
diag sprintf 'promoted and served after %.2f s', Time::HiRes::time() - $begun;
cmp_ok $servers->value(2, 'SELECT MAX(id) FROM changes', 'tenure'), '>', $highest + 900_000, 'numbers of changes go on far above those that were given';

subtest 'the earlier primary returns, and takes changes' => sub {
    $servers->start_server(1, options => ['--read-only=OFF']);
    my $position = $servers->value(1, 'SELECT @@gtid_binlog_pos');
    my $me = $servers->value(1, 'SELECT CONCAT(@@hostname, ":", @@port) = node FROM writer', 'tenure');
    is $me, 1, 'it takes itself for the writer';
    my $before = join ' ', Tenure::Instance::children_of($instance->master_pid('admin'));
    kill 'HUP', $instance->master_pid('admin');
    ok Tenure::Instance::wait_until(sub { join(' ', Tenure::Instance::children_of($instance->master_pid('admin'))) ne $before }), 'there are new workers';
    my $failed = grep { $admin->put("$path/back$_", json => { n => $_ })->status !~ /^20[01]$/ } 1 .. 20;
    is $failed, 0, 'writes are done';
    is $servers->value(1, 'SELECT @@gtid_binlog_pos'), $position, '... and none by the earlier primary';
    is $servers->value(2, q(SELECT COUNT(*) FROM resources WHERE name LIKE 'back%'), 'tenure'), 20, '... but all by the new one';
    $servers->freeze(2);
    is +($instance->manage('token', 'create', '--tenant', 'acme', '--role', 'reader', '--user', 'ann'))[0], 75, 'while the new one hangs, tenure-manage does not use the earlier one';
    $servers->thaw(2);
    is $servers->value(1, 'SELECT @@gtid_binlog_pos'), $position, '... which takes no change of it';
    is status(), 1, 'status says so by its exit code';
    like $text, qr/it takes changes, and is not the writer: SET GLOBAL read_only = ON/, '... and in words';
    my ($one, $two) = map { quotemeta $servers->value($_, 'SELECT CONCAT(@@hostname, ":", @@port)') } 1, 2;
    ok Tenure::Instance::wait_until(sub { $instance->log_text('host') =~ /node $one takes changes, and $two is the writer: SET GLOBAL read_only = ON there$/m }),
        'the log of the host service has it, too' or diag $instance->log_text('host');
};

$load->stop;
my @findings = $load->findings;
my $told = $load->told;
is scalar @findings, 0, "a serial order explains $told->{operations} operations, $told->{uncertain} of them uncertain";
diag $_ for @findings[0 .. ($#findings < 4 ? $#findings : 4)];
cmp_ok $told->{operations}, '>', 50, 'there was a load';

# A primary that is killed may have a transaction in its log that no replica received, as nobody was told of: this one has one for certain.
$servers->sql(1, 'SET GLOBAL read_only = ON; CREATE TABLE mine (a INT)', 'tenure');
is switch($servers->host(2)), 0, 'switch to the present writer tries to make a server that is back its replica' or diag $text;
like $text, qr/^\Q@{[$servers->host(1)]}\E is no replica of it: .*; if it has changes that \S+ lacks, make it anew from a copy of that$/m,
    '... and says why one with changes of its own is none';
$servers->make_anew(1, 2);
is switch($servers->host(2)), 0, '... one that was made anew is taken' or diag $text;
like $text, qr/is its replica$/m, '... and it says so';
is $servers->value(2, 'SELECT @@rpl_semi_sync_master_enabled'), 1, '... whose receipts the primary waits for again';
is((status()), 0, 'all is well') or diag $text;
is((($instance->manage('cluster', 'fence'))[0]), 0, 'all writes are stopped');
isnt $admin->put("$path/held", json => {})->status, 201, '... as clients see';
is switch($servers->host(2)), 0, '... until the operator says otherwise' or diag $text;
ok served(), 'and go on';
is((($instance->manage('cluster', 'fence'))[0]), 0, 'they are stopped again');
is switch($servers->host(2)), 0, '... and go on at once' or diag $text;
my $vacant = $servers->value(2, 'SELECT TIMESTAMPDIFF(MICROSECOND, MIN(s.at), MAX(s.at)) FROM (SELECT at FROM writer_switches ORDER BY epoch DESC LIMIT 2) s', 'tenure');
cmp_ok $vacant, '>=', 400_000, '... when no read of the earlier writer can last any more';

subtest 'the other way, with a primary that is lost while nobody writes' => sub {
    # The host service writes now and then by itself. What the primary had written last would be a change of its own.
    my @host = ($instance->host_pid, Tenure::Instance::children_of($instance->host_pid));
    kill STOP => @host;
    ok Tenure::Instance::wait_until(sub { $servers->value(1, 'SELECT @@gtid_slave_pos') eq $servers->value(2, 'SELECT @@gtid_binlog_pos') }), 'the replica has all';
    $servers->kill_server(2);
    kill CONT => reverse @host;
    is switch('--force', $servers->host(1)), 0, 'the replica is promoted' or diag $text;
    ok served(), '... and serves';
    $servers->start_server(2);
    is switch($servers->host(1)), 0, 'the earlier primary is back, without changes of its own' or diag $text;
    like $text, qr/^\Q@{[$servers->host(2)]}\E is its replica$/m, '... and is a replica at once';
    is switch($servers->host(2)), 0, '... to which the service is switched back' or diag $text;
};

subtest 'a primary that merely restarted' => sub {
    $servers->kill_server(2);
    $servers->start_server(2);
    is $servers->value(2, 'SELECT @@read_only'), 1, 'takes no changes';
    is switch($servers->host(2)), 0, 'until an operator names it again' or diag $text;
    ok served(), 'and goes on';
};

subtest 'a switch that fails when the primary has resigned' => sub {
    # What they publish on the primary would come to the replica behind what the test writes there.
    my @all = map { my $pid = $instance->master_pid($_); ($pid, Tenure::Instance::children_of($pid)) } qw(host service admin);
    kill STOP => @all;
    ok Tenure::Instance::wait_until(sub { $servers->value(1, 'SELECT @@gtid_slave_pos') eq $servers->value(2, 'SELECT @@gtid_binlog_pos') }), 'the replica has all';
    my $published = $servers->value(1, 'SELECT published FROM log_horizon', 'tenure');
    $servers->sql(1, 'SET sql_log_bin = 0; UPDATE log_horizon SET published = published + 1000000000000', 'tenure');
    is switch($servers->host(1)), 75, 'numbers of changes that would be given twice';
    like $text, qr/AUTO_INCREMENT of table changes is .*; and nobody is the writer now: run `tenure-manage cluster switch` again/, '... and what that leaves is said';
    $servers->sql(1, "SET sql_log_bin = 0; UPDATE log_horizon SET published = $published", 'tenure');
    kill CONT => reverse @all;
    is switch($servers->host(1)), 0, '... and it may be run again' or diag $text;
    ok served(), '... and the service goes on';
};

subtest 'a resignation whose receipt does not come' => sub {
    # Nobody else's COMMIT waits for a receipt and holds locks, so that the resignation gets as far as that.
    $servers->sql(1, "SET sql_log_bin = 0; ALTER USER tenure\@'%' ACCOUNT LOCK; KILL USER tenure");
    $servers->sql(2, 'SET GLOBAL rpl_semi_sync_slave_enabled = OFF; STOP SLAVE IO_THREAD; START SLAVE IO_THREAD');
    ok Tenure::Instance::wait_until(sub { $servers->replication(2)->{Slave_IO_Running} eq 'Yes' }, 60), 'the replica acknowledges nothing';
    is switch($servers->host(2)), 75, '... so the primary cannot resign';
    like $text, qr/2013 .*; and nobody is the writer now: run `tenure-manage cluster switch` again/, '... and what that leaves is said';
    $servers->sql(1, "SET GLOBAL rpl_semi_sync_master_enabled = OFF; SET sql_log_bin = 0; ALTER USER tenure\@'%' ACCOUNT UNLOCK");
    is switch($servers->host(2)), 0, '... and it may be run again' or diag $text;
    ok served(), '... and the service goes on';
};

subtest 'a reset of the registry' => sub {
    my $about = sub { return join ', ', map { $servers->value(2, "SELECT $_", 'tenure') } "CONCAT(node, ' ', epoch, ' ', held) FROM writer",
        "CONCAT(COUNT(*), ' ', MIN(epoch), ' ', MAX(epoch)) FROM writer_slots", 'COUNT(*) FROM writer_switches' };
    my $before = $about->();
    my $holds  = $servers->hold(2, 'SELECT COUNT(*) FROM tokens', 'tenure');
    my $ended  = $instance->begin_manage($instance->dir . '/reset', 'db', 'reset', '--yes');
    ok Tenure::Instance::wait_until(sub { $servers->value(2, q(SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'LOCK TABLES%')) }), 'it waits for a table';
    is switch($servers->host(1)), 75, 'a switch is refused meanwhile';
    $holds->();
    ($code, $text) = $ended->();
    is $code, 0, 'is done' or diag $text;
    is $about->(), $before, '... and leaves the writer, its epoch, the slots of the fence and what was switched as they were';
    is status(), 0, 'status finds nothing' or diag $text;
    my $fenced = $servers->value(2, 'SELECT SUM(n) FROM writer_slots', 'tenure');
    $admin->make_tenant('acme');
    ok served(), 'the service goes on';
    cmp_ok $servers->value(2, 'SELECT SUM(n) FROM writer_slots', 'tenure'), '>', $fenced, '... with the fence';
};

# What it changes in tables is not stopped by read_only, since the admin user may write nevertheless.
subtest 'an upgrade' => sub {
    my $home  = Tenure::Upgrade->new(cluster => $servers, node => 2);
    my $old   = $home->release(23, 'old');
    my $said  = $instance->dir . '/upgrade';
    my $holds = $servers->hold(2, 'SELECT COUNT(*) FROM tenants', 'old');
    my $ended = $old->begin_manage($said, 'db', 'upgrade');
    ok Tenure::Instance::wait_until(sub { read_file($said) =~ /a transaction holds the table/ }), 'waits for a table';
    ($code, $text) = $old->manage('cluster', 'switch', $servers->host(1));
    is $code, 75, 'a switch is refused meanwhile';
    like $text, qr/`tenure-manage db upgrade`, or another command .* is running/, '... and it is told why';
    is $servers->value(2, 'SELECT @@read_only'), 0, 'the primary goes on';
    $holds->();
    ($code, $text) = $ended->();
    is $code, 0, 'it is done' or diag $text;
    $servers->sql(1, 'SELECT MASTER_GTID_WAIT("' . $servers->value(2, 'SELECT @@gtid_binlog_pos') . '", 60)');
    my ($one, $two) = map { local $home->{node} = $_; $old->structure } 1, 2;
    is $one, $two, 'both servers have the same tables';
};

my ($sound, $doctor) = $instance->manage('doctor');
is $sound, 0, 'the database is sound' or diag $doctor;

# The page's commands, with nothing of Tenure running, on the hosts of the servers.
subtest 'a restore of a dump whose writer is a replica now, or gone' => sub {
    my $page = Tenure::Restore->new(instance => $instance);
    $page->to($servers->socket(2));
    ($code, $text) = $page->backup;
    is $code, 0, 'a dump of the primary' or diag $text;
    is switch($servers->host(1)), 0, 'the other one becomes the primary' or diag $text;
    ($code, $text) = $instance->manage('db', 'restored', '--revoke-all');
    is $code, 69, 'with workers connected, `db restored` is refused, although the operator\'s account can\'t see them' or diag $text;
    $instance->stop;
    my $epoch = $servers->value(1, 'SELECT epoch FROM writer', 'tenure');
    my $tokens = $servers->value(1, 'SELECT COUNT(*) FROM tokens', 'tenure');
    $servers->sql(1, 'DELETE FROM tokens', 'tenure');
    ($code, $text) = $page->restore;
    is $code, 1, 'the replica is refused' or diag $text;
    is $page->asked, '', '... before anything is stopped';
    my $restores = sub {
        my ($name) = @_;
        $page->to($servers->socket(1));
        ($code, $text) = $page->restore;
        is $code, 0, $name or diag $text;
        like $page->asked, qr/^stop .*; start /, '... up to the start';
        is $servers->value(1, 'SELECT COUNT(*) FROM tokens', 'tenure'), $tokens, '... with what the dump has';
        cmp_ok $servers->value(1, 'SELECT MIN(s.epoch) FROM writer_slots s JOIN writer w ON w.epoch = s.epoch', 'tenure'), '>', $epoch + 100_000, '... and the fence in a new epoch';
        return;
    };
    $restores->('it goes on on the primary');
    $servers->sql(2, 'SELECT MASTER_GTID_WAIT("' . $servers->value(1, 'SELECT @@gtid_binlog_pos') . '", 60)');
    is $servers->value(2, 'SELECT node FROM writer', 'tenure'), $servers->value(1, 'SELECT CONCAT(@@hostname, ":", @@port)'), 'the replica has it, too';
    is status(), 0, 'status finds nothing' or diag $text;
    is switch($servers->host(2)), 0, 'and a switch goes on from there' or diag $text;
    is switch($servers->host(1)), 0, '... and back' or diag $text;

    $servers->kill_server(2);
    $servers->sql(1, Tenure::Restore::block(qr/rpl_semi_sync_master_enabled/));
    $restores->('without the server that the dump names');
};

done_testing;
