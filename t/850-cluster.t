#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A Galera cluster of three nodes under the service, one of which is the writer. The writer is switched by the operator, killed, and
# stopped in order while clients collide on a few names: what they were told has a serial order, and no earlier writer's transaction
# comes behind a switch. scripts/check --long cluster does the same many times (TENURE_CLUSTER_FAULTS (names, or none), _ROUNDS,
# _CLIENTS, _PAUSE, _COUNTS, _READ_FROM, the number of a node, and _LARGE, how many resources are moved at once).
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::ClusterFaults;
use Tenure::Instance;
use Tenure::Restore;

my @faults = split /,/, $ENV{TENURE_CLUSTER_FAULTS} // 'switch,kill';
my $rounds = $ENV{TENURE_CLUSTER_ROUNDS} // 1;
my $run    = Tenure::ClusterFaults->start(clients => $ENV{TENURE_CLUSTER_CLIENTS} // 6, pause => $ENV{TENURE_CLUSTER_PAUSE} // 0, unfenced => $ENV{TENURE_CLUSTER_UNFENCED}, large => $ENV{TENURE_CLUSTER_LARGE}, read_from => $ENV{TENURE_CLUSTER_READ_FROM});
my ($cluster, $instance) = ($run->cluster, $run->instance);

my ($code, $text) = $instance->manage('cluster', 'status');
is $code, 0, 'db init has appointed a writer' or diag $text;
like $text, qr/^127\.0\.0\.1:\d+ +n1 +writer +Synced$/m, '... which is shown';
is((() = $text =~ /^127\S+ +n[23] +ready +Synced$/mg), 2, '... beside those that could be it');

if (my $n = $ENV{TENURE_CLUSTER_LARGE}) {
    $run->fill('many', $n);
    $instance->admin->make_tenant('others');
}
$run->load;
for my $round (1 .. $rounds) {
    $run->inject($_) for grep { $_ ne 'none' } @faults;
}
# One large move, and another amid which the writer is killed.
if (my $n = $ENV{TENURE_CLUSTER_LARGE}) {
    diag sprintf '%d resources moved in %.1f s', $n, $run->move_all('many', 'others', $n);
    my $writer = $run->writer;
    diag sprintf '... and in %.1f s, with another writer', $run->move_all('others', 'many', $n, sub { $cluster->kill_node($writer) });
    local $cluster->{wait} = 900; # all of the move is to be applied
    $cluster->start_node($writer);
    $cluster->wait_together;
}
$run->end;

my @findings = $run->findings;
my $told = $run->told;
is scalar @findings, 0, "a serial order explains $told->{operations} operations, $told->{uncertain} of them uncertain";
diag $_ for @findings[0 .. ($#findings < 4 ? $#findings : 4)];
cmp_ok $told->{operations}, '>', 50, 'there was a load';
# Nodes for large moves have no binary log, which tells of these.
if (!$ENV{TENURE_CLUSTER_LARGE}) {
    my @late = $run->late;
    if ($ENV{TENURE_CLUSTER_UNFENCED}) {
        cmp_ok scalar(@late), '>', 0, 'the control run: without the fence, transactions of earlier writers stand behind switches';
    } else {
        is_deeply \@late, [], 'no transaction of an earlier writer stands behind a switch in the order of the cluster';
    }
    diag scalar(@late) . ' late transactions of ' . $run->transactions;
    is_deeply [ $run->numbers ], [], 'numbers of changes rise from writer to writer';
}
diag $run->times;

my @switches = $run->switches;
is_deeply [ map { $_->[0] } @switches ], [ 1 .. @switches ], 'each epoch was begun once';
is_deeply [ map { $_->[1] eq '' ? 'nobody' : 'somebody' } @switches ], [ ('somebody', 'nobody') x (@switches / 2), 'somebody' ], '... and between two writers there was none';
is scalar(grep { $_->[1] ne '' && $_->[2] =~ /^the writer|^there was no/ } @switches), $run->appointed,
    'several hosts raced to appoint a writer: each switch was the work of one';

my $admin = $instance->admin;
$admin->make_tenant('held');
my $put_is_done = sub { return $admin->put('/v2.0/held/persistentvolumes/a', json => { v => 1 })->status =~ /^20[01]$/ };
# The role of that node as an operator sees it, and its state.
my $shown = sub {
    my ($node) = @_;
    return ($instance->manage('cluster', 'status'))[1] =~ /^\S+:${\ $cluster->port($node)} +\S+ +(writer|ready|not used|away) +(.*?) *$/m ? "$1, $2" : '';
};
my $is_shown = sub {
    my ($node, $as, $name) = @_;
    my $last;
    my $is = Tenure::Instance::wait_until(sub { ($last = $shown->($node)) =~ $as }) or diag $last;
    return ok $is, $name;
};
# Another node becomes the writer, and changes are taken.
my $is_left = sub {
    my ($node, $name) = @_;
    ok Tenure::Instance::wait_until(sub { my $is = $run->writer; return defined $is && $is != $node && $put_is_done->() }), $name;
    return;
};
my $is_refused = sub {
    my ($node, $name) = @_;
    my ($switched, $said) = $instance->manage('cluster', 'switch', '127.0.0.1:' . $cluster->port($node));
    like $switched, qr/^(?:65|75)$/, $name or diag $said;
    return;
};
my $nodes_are_judged = sub {
    subtest 'read-only' => sub {
        my $node = $run->writer;
        $cluster->sql($node, 'SET GLOBAL read_only = ON');
        $is_left->($node, 'a writer that is read-only is left');
        $is_shown->($node, qr/^not used, Synced +read-only/, '... and shown as such');
        $is_refused->($node, '... and not made the writer');
        $cluster->sql($node, 'SET GLOBAL read_only = OFF');
        $is_shown->($node, qr/^ready/, 'it may be the writer again');
    };
    subtest 'desynced' => sub {
        my $node = $run->writer;
        $cluster->sql($node, 'SET GLOBAL wsrep_desync = ON');
        $is_left->($node, 'a writer that is desynced is left');
        $is_shown->($node, qr{^not used, Donor/Desynced}, '... and shown as such');
        $is_refused->($node, '... and not made the writer');
        $cluster->sql($node, 'SET GLOBAL wsrep_desync = OFF');
        $is_shown->($node, qr/^ready/, 'it may be the writer again');
    };
    subtest 'donor and joiner' => sub {
        my $donor = $run->writer;
        my $joiner = 1 + $donor % 3;
        $cluster->kill_node($joiner);
        ok Tenure::Instance::wait_until($put_is_done, 60), 'a change that the joiner has missed';
        $cluster->hold_donors;
        $cluster->start_node($joiner, donor => $donor, no_wait => 1);
        $is_shown->($donor, qr/Donor/, 'the writer is the donor') or return $cluster->release_donors;
        $is_left->($donor, '... and is left');
        $is_shown->($joiner, qr/^(?:away|not used)/, 'the joiner is not used');
        $is_refused->($_, "n$_ is not made the writer") for $donor, $joiner;
        $cluster->release_donors;
        $cluster->wait_synced($joiner, 3);
        $is_shown->($_, qr/^ready/, "n$_ may be the writer again") for $donor, $joiner;
    };
    subtest 'cut off, and without a majority' => sub {
        my $writer = $run->writer;
        my ($one, $other) = grep { $_ != $writer } 1 .. 3;
        $cluster->isolate($one);
        $is_shown->($one, qr/^not used, .*not in the primary component/, 'a node that is cut off is not used');
        $is_refused->($one, '... and not made the writer');
        ok Tenure::Instance::wait_until($put_is_done, 60), 'the others go on';
        my @before = $run->switches;
        $cluster->isolate($other);
        ok Tenure::Instance::wait_until(sub { $cluster->state($writer) !~ /^Primary/ }, 60), 'one is alone, without a majority';
        ok !$put_is_done->(), 'nothing is written';
        $is_refused->($_, "n$_ is not made the writer") for 1 .. 3;
        is +($instance->manage('cluster', 'status'))[0], 2, 'status says by its exit code that there is no cluster';
        ok !$put_is_done->(), 'nothing is written afterwards';
        $cluster->unisolate($_) for $one, $other;
        $cluster->wait_together;
        ok Tenure::Instance::wait_until($put_is_done, 60), 'it goes on when they are together';
        is_deeply [ $run->switches ], \@before, 'nobody was made the writer meanwhile';
    };
};

subtest 'all writes stopped, and going on' => sub {
    ($code, $text) = $instance->manage('cluster', 'fence');
    is $code, 0, 'fence' or diag $text;
    is $admin->put('/v2.0/held/persistentvolumes/a', json => { v => 1 })->status, 503, 'a write gets 503';
    is(($instance->manage('cluster', 'status'))[0], 1, 'status says so by its exit code');
    ($code, $text) = $instance->manage('cluster', 'switch', 'nowhere');
    is $code, 65, 'a node that is not there is refused';
    like $text, qr/no node that answers is called "nowhere"/, '... in words';
    ($code, $text) = $instance->manage('cluster', 'switch', 'n2');
    is $code, 0, 'switch' or diag $text;
    ok Tenure::Instance::wait_until($put_is_done), 'it goes on';
    is(($instance->manage('cluster', 'fence'))[0], 0, 'stopped again');
    is(($instance->manage('cluster', 'switch', 'n3'))[0], 0, '... and going on at once');
    my $vacant = $cluster->sql(3, 'SELECT TIMESTAMPDIFF(MICROSECOND, MIN(s.at), MAX(s.at)) FROM (SELECT at FROM writer_switches ORDER BY epoch DESC LIMIT 2) s', 'tenure')->[0][0];
    cmp_ok $vacant, '>=', 400_000, '... when no read of the earlier writer can last any more';
} unless $ENV{TENURE_CLUSTER_FAULTS};
subtest 'nodes that are not used' => $nodes_are_judged unless $ENV{TENURE_CLUSTER_FAULTS};

my ($sound, $doctor) = $instance->manage('doctor');
is $sound, 0, 'the database is sound' or diag $doctor if !$ENV{TENURE_CLUSTER_LARGE};
unlike $doctor, qr/warning: node/, '... and doctor has nothing against the nodes';
{
    local $instance->{option}{settings}{'database.host'} = $cluster->host($run->writer);
    my $unfenced = qr/\[database\] host names one server of a cluster of 3: .*; name all nodes$/m;
    ($code, $text) = $instance->manage('cluster', 'status');
    is $code, 1, 'a name that leads to one of several nodes is not enough';
    like $text, qr/^$unfenced/m, '... as status says';
    like +($instance->manage('doctor'))[1], qr/warning: $unfenced/, '... and doctor';
}
$cluster->sql(2, q(SET GLOBAL wsrep_provider_options = 'pc.ignore_sb=true'));
like +($instance->manage('doctor'))[1], qr/warning: node 127\.0\.0\.1:\d+: pc\.ignore_quorum or pc\.ignore_sb is set/, 'a part that would go on alone is named';
$cluster->sql(2, q(SET GLOBAL wsrep_provider_options = 'pc.ignore_sb=false'));
$cluster->sql(3, 'SET GLOBAL auto_increment_offset = 7, wsrep_auto_increment_control = OFF');
$cluster->sql(3, 'SET GLOBAL auto_increment_increment = 1, auto_increment_offset = 7');
($sound, $doctor) = $instance->manage('doctor');
like $doctor, qr/warning: node 127\.0\.0\.1:\d+: auto_increment_offset is larger than auto_increment_increment/, 'a wrong setting is named';
# Moves of more than 10,000 resources go to the other nodes in fragments while they run. A row that somebody holds stops them amid that.
subtest 'large moves' => sub {
    my $n = 10_500;
    $run->fill('large', $n);
    $admin->make_tenant($_) for qw(room attic);
    my $fragments = sub { my ($node) = @_; return $cluster->value($node, 'SELECT COUNT(*) FROM mysql.wsrep_streaming_log') // 0 };
    my $move_is_amid = sub {
        my ($from, $to) = @_;
        my $writer = $run->writer;
        my $holder = $cluster->hold($writer, "SELECT id FROM resources WHERE id = (SELECT r.id FROM resources r WHERE r.name = 'h$n') FOR UPDATE", 'tenure');
        my $move   = $run->start_move($from, $to);
        my ($other) = grep { $_ != $writer } 1 .. 3;
        ok Tenure::Instance::wait_until(sub { $fragments->($other) > 0 }), "fragments of a move by n$writer are on n$other";
        return ($writer, $holder, $move);
    };
    my $is_done = sub {
        my ($move, $from, $to, $name) = @_;
        my $status = $run->moved($move);
        # 503: it was not done. The earlier writer's fragments may hold its rows for longer than a request waits.
        for (1 .. 5) {
            last if $status ne '503';
            is_deeply [ map { $run->filled($_) } $from, $to ], [ $n, 0 ], 'a move that was not done has done nothing';
            $status = $run->moved($run->start_move($from, $to));
        }
        is $status, '303', $name;
        is_deeply [ map { $run->filled($_) } $from, $to ], [ 0, $n ], '... with all resources';
        is $fragments->($run->writer), 0, 'no fragments are left';
        return;
    };
    my ($writer, $holder, $move) = $move_is_amid->('large', 'room');
    my $next = 1 + $writer % 3;
    ($code, $text) = $instance->manage('cluster', 'switch', "n$next");
    is $code, 0, 'a switch does not wait for it' or diag $text;
    ok Tenure::Instance::wait_until($put_is_done), '... nor do other writers';
    $holder->();
    $is_done->($move, 'large', 'room', 'the move is done again by the next writer');
    ($writer, $holder, $move) = $move_is_amid->('room', 'attic');
    $cluster->kill_node($writer);
    $holder->();
    $is_done->($move, 'room', 'attic', 'nor is it done by half when the writer is killed');
    $cluster->start_node($writer);
    $cluster->wait_together;
    my @by = map { $_->[0] } @{ $cluster->sql($run->writer, q(SELECT COUNT(*) FROM changes c JOIN tenants t ON t.id = c.from_tenant_id
        WHERE t.name IN ('large', 'room') AND c.verb = 'moved' GROUP BY c.request_id), 'tenure') };
    is_deeply \@by, [ $n, $n ], 'each move is in the change log once, whole';
    delete $run->{history};
    is_deeply [ $run->late ], [], 'no earlier writer committed any of it';
    ($sound, $doctor) = $instance->manage('doctor');
    is_deeply [ grep { !/etag, size and lanes/ } $doctor =~ /^(\S.*?) +[1-9]\d* +/mg ], [], 'all is sound but what the test made by itself';
} unless $ENV{TENURE_CLUSTER_FAULTS};
$run->record($ENV{TENURE_CLUSTER_COUNTS}) if defined $ENV{TENURE_CLUSTER_COUNTS};

# As host services do it, since an operator is refused.
subtest 'a reset amid which another node becomes the writer' => sub {
    my ($writer, $dir) = ($run->writer, $instance->dir);
    my $next   = $writer % 3 + 1;
    my $number = $cluster->value($writer, 'SELECT MAX(id) FROM changes', 'tenure');
    my $holds  = $cluster->hold($writer, 'SELECT COUNT(*) FROM tokens', 'tenure');
    my $ended  = $instance->begin_manage("$dir/reset", 'db', 'reset', '--yes');
    ok Tenure::Instance::wait_until(sub { $cluster->value($writer, q(SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'LOCK TABLES%')) }),
        'it waits for a table';
    ($code, $text) = $instance->manage('cluster', 'switch', "n$next");
    is $code, 75, 'an operator makes no other node the writer';
    like $text, qr/`tenure-manage db upgrade`, or another command .* is running/, '... and is told why';
    $cluster->sql($next, "BEGIN; UPDATE writer SET node = 'n$next', epoch = epoch + 2; UPDATE writer_slots SET epoch = (SELECT epoch FROM writer); COMMIT", 'tenure');
    $holds->();
    ($code, $text) = $ended->();
    is $code, 75, 'it ends';
    # It notices that while it waits for the table, or once it has it; or a change of the other node ends it.
    like $text, qr/could not be emptied .*(?:another is the writer by now|another server has become the writer|1213 )/, '... since another node is the writer';
    is $admin->get('/v2.0/held')->status, 200, 'nothing was emptied';
    ok Tenure::Instance::wait_until(sub { $admin->put('/v2.0/held/persistentvolumes/a', json => { v => 2 })->status == 200 }, 60), 'changes are taken';
    cmp_ok $cluster->value($next, 'SELECT MAX(id) FROM changes', 'tenure'), '>', $number, '... and their numbers continue';
} unless $ENV{TENURE_CLUSTER_FAULTS};

subtest 'a reset of the registry' => sub {
    my $about = sub { return $cluster->sql($run->writer, q(SELECT node, epoch, held FROM writer UNION ALL SELECT MIN(epoch), MAX(epoch), COUNT(*) FROM writer_slots), 'tenure') };
    my $before = $about->();
    ($code, $text) = $instance->manage('db', 'reset', '--yes');
    is $code, 0, 'is done' or diag $text;
    is_deeply $about->(), $before, '... and leaves the writer and the slots of the fence as they were';
    $admin->make_tenant('held');
    ok $put_is_done->(), 'changes are taken';
    ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'all is sound' or diag $text;
} unless $ENV{TENURE_CLUSTER_FAULTS};

# The page's commands, with nothing of Tenure running. At first the dump names another node, then none: it is a single server's.
subtest 'a restore of a dump that does not name the node' => sub {
    my $page   = Tenure::Restore->new(instance => $instance);
    my $writer = $run->writer;
    my $next   = $writer % 3 + 1;
    $page->to($cluster->socket($writer));
    ($code, $text) = $page->backup;
    is $code, 0, 'a dump of the writer' or diag $text;
    my $tokens = $cluster->value($writer, 'SELECT COUNT(*) FROM tokens', 'tenure');
    $run->stop_hosts;
    $instance->stop;
    for my $case ('another node', 'none') {
        $cluster->sql($next, 'DELETE FROM tokens', 'tenure');
        $page->to($cluster->socket($next));
        ($code, $text) = $page->restore($case eq 'none' ? (DUMP => $page->folder . '/single.sql.gz') : ());
        is $code, 0, "$case: it goes on" or diag $text;
        like $page->asked, qr/^stop .*; start /, '... up to the start';
        ($code, $text) = $instance->manage('cluster', 'status');
        is $code, 0, '... and status finds nothing' or diag $text;
        like $text, qr/^writer  n[123]$/m, '... but a node as the writer';
        is $cluster->value($writer, 'SELECT COUNT(*) FROM tokens', 'tenure'), $tokens, '... and all nodes have what the dump has';
        next if $case eq 'none';
        $cluster->sql($next, "UPDATE writer SET node = '', epoch = 0; UPDATE writer_slots SET epoch = 0", 'tenure');
        is +($page->shell('mariadb-dump --single-transaction --hex-blob tenure | gzip >/backup/single.sql.gz'))[0], 0, 'a dump as of a single server';
    }
} unless $ENV{TENURE_CLUSTER_FAULTS};

done_testing;
