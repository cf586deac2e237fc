#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure-manage doctor: what is broken by SQL is found, named, and mended where that takes no guessing.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use POSIX ();
use Test::More;

use Tenure::Instance;
use Tenure::Run;
my $instance = Tenure::Instance->start;
my $admin    = $instance->admin;
$admin->make_tenant($_) for 't1', 't2';
$admin->make("/v2.0/t1/$_", { a => $_ }) for 'persistentvolumes/p1', 'persistentvolumes/p2', 'namespaces/n', 'namespaces/n/configmaps/c';
$admin->make('/v2.0/t1/persistentvolumes/moved');
$admin->post('/v2.0/t1/persistentvolumes/moved/action/move?dest=t2')->is_status(303);
$admin->make('/v2.0/t1/persistentvolumes/gone');
$admin->delete('/v2.0/t1/persistentvolumes/gone')->is_status(204);

$admin->put("/v2.0/t1/webhooks/$_", json => { url => 'https://example.com/', paused => JSON::PP::true() })->is_status(201) for 'lost', 'kept';

my $node = '11111111-0000-4000-8000-000000000000';
my $port = '22222222-0000-4000-8000-000000000000';
$admin->make("/v2.0/t1/nodes/$node", { driver => 'fake-hardware', name => 'rack-1' });
$admin->make("/v2.0/t1/ports/$port", { node_uuid => $node, address => '52:54:00:00:00:01' });
$admin->make('/v2.0/t1/nodes/33333333-0000-4000-8000-000000000000', { driver => 'fake-hardware', name => 'rack-2' });
$admin->delete('/v2.0/t1/nodes/33333333-0000-4000-8000-000000000000')->is_status(204);

# Conditions for the rows of the node and of its port.
my $is_node = "uid = UNHEX(REPLACE('$node', '-', ''))";
my $is_port = "uid = UNHEX(REPLACE('$port', '-', ''))";
my $of_node = "resource_id = (SELECT id FROM resources WHERE $is_node)";

$instance->sql("INSERT INTO traits (name, created_at, updated_at) VALUES ('CUSTOM_A', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), "
        . "('CUSTOM_B', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))");
$instance->sql("INSERT INTO resource_traits SELECT r.id, t.id FROM resources r, traits t WHERE $is_node AND t.name LIKE 'CUSTOM\\_%'");
$instance->sql("UPDATE resources SET traits = '[\"CUSTOM_A\",\"CUSTOM_B\"]' WHERE $is_node");

sub doctor { my ($code, $text) = $instance->manage('doctor', @_); return wantarray ? ($code, $text) : $code }

doctor('--fix');    # the etag covers the traits
my ($code, $text) = doctor();
is $code, 0, 'a sound store: exit code 0' or diag $text;
is(scalar doctor('--fix'), 0, 'nothing to mend, either');


# [what, how it is broken, can it be mended?, how it is mended by hand if not]
my @breaks = (
    ['a count too high',        q(UPDATE tenant_counts SET resources = resources + 1), 1],
    ['a count that is missing', q(DELETE FROM tenant_counts WHERE tenant_id = (SELECT id FROM tenants WHERE name = 't1')), 1],
    ['an etag',                 q(UPDATE resources SET etag = REPEAT('x', 64) WHERE name = 'p1'), 1],
    ['a document behind the etag\'s back', q(UPDATE resources SET body = '{"a":"evil"}' WHERE name = 'p1'), 1],
    ['a document too deep for searches', q(UPDATE resources SET body = CONCAT('{"deep":', REPEAT('[', 40), REPEAT(']', 40), ',', SUBSTRING(body, 2)) WHERE name = 'p1'), 1],
    ['a size',                  q(UPDATE resources SET bytes = 7 WHERE name = 'p2'), 1],
    ['a lane of the state tag', q(UPDATE resources SET h2 = h2 ^ 1 WHERE name = 'p2'), 1],
    ['a tenant\'s etag',        q(UPDATE tenants SET etag = REPEAT('y', 64) WHERE name = 't2'), 1],
    ['a forward to nothing',    q(INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at) VALUES ((SELECT id FROM tenants WHERE name = 't1'), 2, '', 'ghost', 999999, UTC_TIMESTAMP(6))), 1],
    ['a forward over a live resource', q(INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at) SELECT tenant_id, type_id, namespace, name, id, UTC_TIMESTAMP(6) FROM resources WHERE name = 'p1'), 1],
    ['a merge of a namespace into nothing', q(INSERT INTO merged_namespaces (resource_id, into_id, deletion) SELECT id, 999999, UNHEX(MD5('m')) FROM resources WHERE name = 'n'), 1],
    ['a merge of a namespace that is gone', q(INSERT INTO merged_namespaces (resource_id, into_id, deletion) SELECT 999999, id, UNHEX(MD5('m')) FROM resources WHERE name = 'n'), 1],
    ['a lock that no document tells of', q(UPDATE resources SET locked = 1 WHERE name = 'p2'), 1],
    ['a resource of no tenant', q(UPDATE resources SET tenant_id = 999999 WHERE name = 'p2'), 0,
        q(UPDATE resources SET tenant_id = (SELECT id FROM tenants WHERE name = 't1') WHERE name = 'p2')],
    ['a resource of no type',   q(UPDATE resources SET type_id = 99 WHERE name = 'p2'), 0, q(UPDATE resources SET type_id = 2 WHERE name = 'p2')],
    ['a resource of no namespace', q(UPDATE resources SET namespace = 'none' WHERE name = 'c'), 0, q(UPDATE resources SET namespace = 'n' WHERE name = 'c')],
    ['a tenant of no tier',     q(UPDATE tenants SET tier_id = tier_id + 100 WHERE name = 't2'), 0, q(UPDATE tenants SET tier_id = tier_id - 100 WHERE name = 't2')],
    ['a tenant without default', q(UPDATE resources SET name = 'defalt' WHERE live = 2 AND tenant_id = (SELECT id FROM tenants WHERE name = 't2')), 0,
        q(UPDATE resources SET name = 'default' WHERE name = 'defalt')],
    ['a deleted one without purge time', q(UPDATE resources SET purge_at = NULL WHERE name = 'gone'), 0,
        q(UPDATE resources SET purge_at = deleted_at + INTERVAL 30 DAY WHERE name = 'gone')],
    ['a document that is no JSON', q(UPDATE resources SET body = '{"a":' WHERE name = 'p2'), 0, q(UPDATE resources SET body = '{"a":"persistentvolumes/p2"}' WHERE name = 'p2')],
    ['a lookup key that is missing', "DELETE FROM resource_aliases WHERE $of_node AND kind = 'name'", 1],
    ['a lookup key of another value', "UPDATE resource_aliases SET value = 'rack-9' WHERE $of_node AND kind = 'name'", 1],
    ['a lookup key too many',       "INSERT INTO resource_aliases SELECT id, 'nickname', type_id, 'r', 1 FROM resources WHERE $is_node", 1],
    ['a lookup key that sleeps',    "UPDATE resource_aliases SET live = NULL WHERE $of_node", 1],
    ['a lookup key that is awake',  q(UPDATE resource_aliases SET live = 1 WHERE value = 'rack-2'), 1],
    ['a lookup key of nothing',     q(UPDATE resource_aliases SET resource_id = 999999 WHERE value = '52:54:00:00:00:01'), 1],
    ['a type that has no lookup keys', q(INSERT INTO resource_aliases SELECT id, 'name', type_id, name, 1 FROM resources WHERE name = 'p1'), 1],
    ['a port on no node',       "UPDATE resources SET root = NULL WHERE $is_port", 1],
    ['a port on another node',  "UPDATE resources SET root = UNHEX(MD5('x')) WHERE $is_port", 1],
    ['a resource on itself',    q(UPDATE resources SET root = uid WHERE name = 'p1'), 1],
    ['a tree in two tenants',   "UPDATE resources SET tenant_id = (SELECT id FROM tenants WHERE name = 't2') WHERE $is_port", 0,
        "UPDATE resources SET tenant_id = (SELECT id FROM tenants WHERE name = 't1') WHERE $is_port"],
    ['a trait that is not listed', "UPDATE resources SET traits = '[\"CUSTOM_A\"]' WHERE $is_node", 1],
    ['a trait of no resource',  q(INSERT INTO resource_traits SELECT 999999, id FROM traits LIMIT 1), 1],
    ['a trait that is not stored', "DELETE FROM resource_traits WHERE $of_node", 1],
    ['a trait that is in no catalogue', "UPDATE resources SET traits = '[\"CUSTOM_A\",\"CUSTOM_Z\"]' WHERE $is_node", 0,
        "UPDATE resources SET traits = '[\"CUSTOM_A\"]' WHERE $is_node"],
    ['a list of traits out of order', "UPDATE resources SET traits = '[\"CUSTOM_B\",\"CUSTOM_A\"]' WHERE $is_node", 0,
        "UPDATE resources SET traits = '[\"CUSTOM_A\"]' WHERE $is_node"],
    ['a trait that is hidden',  q(UPDATE traits SET live = NULL WHERE name LIKE 'CUSTOM%'), 1],
    ['a webhook of a tenant that is gone', q(UPDATE webhooks SET tenant_id = 999999 WHERE name = 'lost'), 1],
    ['a message of a webhook that is gone', q(INSERT INTO webhook_messages (webhook_id, uid, kind, state, created_at) VALUES (999999, UNHEX(MD5('m')), 'ping', 'dead', UTC_TIMESTAMP(6))), 1],
    ['a webhook that nobody knows how far it is', q(DELETE FROM webhook_cursors), 1],
    ['no row for the host that sends', q(DELETE FROM webhook_lease), 1],
    ['a revision that no change tells of', q(UPDATE resources SET revision = revision + 1 WHERE name = 'p2'), 0,
        q(UPDATE resources SET revision = revision - 1 WHERE name = 'p2')],
);
for my $break (@breaks) {
    my ($what, $sql, $can, $by_hand) = @$break;
    subtest $what => sub {
        $instance->sql($sql);
        my ($found, $report) = doctor();
        is $found, 1, 'is found: exit code 1' or diag $report;
        my ($again) = doctor();
        is $again, 1, 'looking mends nothing';
        my ($fixed, $fix_report) = doctor('--fix');
        if ($can) {
            is $fixed, 0, '--fix mends it' or diag $fix_report;
        }
        else {
            is $fixed, 1, '--fix does not guess' or diag $fix_report;
            $instance->sql($by_hand);
            doctor('--fix');    # counts and etags follow
        }
        my ($now, $end) = doctor();
        is $now, 0, 'and all is sound' or diag $end;
    };
}

subtest 'the API after mending' => sub {
    is $admin->get('/v2.0/t1')->json->{tenant}{resources}, 6, 'counts';
    $admin->get("/v2.0/t1/$_")->is_status(200) for 'persistentvolumes/p1', 'persistentvolumes/p2', 'namespaces/n/configmaps/c';
    $admin->get('/v2.0/t1/persistentvolumes/moved')->is_status(301, 'forwards that were right are there still');
};

subtest 'under load' => sub {
    my @pids;
    for my $writer (1 .. 2) {
        my $pid = fork // die "fork: $!";
        if ($pid == 0) {
            my ($from, $to) = $writer == 1 ? ('t1', 't2') : ('t2', 't1');
            for my $n (1 .. 40) {
                $admin->put("/v2.0/$from/persistentvolumes/w$writer-$_", json => { n => $n }) for $n % 5, $n % 7;
                $admin->delete("/v2.0/$from/persistentvolumes/w$writer-" . $n % 5);
                $admin->post("/v2.0/$from/persistentvolumes/w$writer-" . $n % 7 . "/action/move?dest=$to");
            }
            POSIX::_exit(0);
        }
        push @pids, $pid;
    }
    my @codes = map { my ($c, $t) = doctor(); diag $t if $c; $c } 1 .. 8;
    waitpid $_, 0 for @pids;
    is_deeply \@codes, [(0) x 8], 'it sees no inconsistency that is none';
    is(scalar doctor(), 0, 'nor afterwards');
};

# Starts a doctor and returns its pid; what it prints goes to that file.
sub doctor_begins {
    my ($out, @args) = @_;
    my $pid = fork // die "fork: $!";
    return $pid if $pid;
    open STDOUT, '>', $out or POSIX::_exit(126);
    open STDERR, '>&', \*STDOUT or POSIX::_exit(126);
    exec Tenure::Instance::build_dir() . '/tenure-manage', '-c', $instance->env('TENURE_CONFIG'), 'doctor', @args or POSIX::_exit(127);
}

# A session that keeps all others from a table, until it is closed.
sub locked_table {
    my ($table) = @_;
    my $session = $instance->sql_session;
    print {$session} "LOCK TABLES $table WRITE; DO GET_LOCK('of-$table', 0);\n";
    Tenure::Instance::wait_until(sub { defined $instance->sql_value("SELECT IS_USED_LOCK('of-$table')") }) or die "no lock of $table\n";
    return $session;
}

sub waits_for { my ($table) = @_; return Tenure::Instance::wait_until(sub {
    $instance->sql_value("SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%' AND info LIKE '%$table%'") > 0 }) }

sub position { return $instance->sql_value(q(SELECT value FROM settings WHERE name = 'doctor_position')) }

# The forwards come first and take several slices; a doctor waits for the table behind them while it is signalled. What it has found
# then is removed, so only a doctor that goes on behind the forwards can tell of it.
for my $way (['SIGTERM', 'TERM'], ['kill -9', 'KILL']) {
    my ($what, $signal) = @$way;
    subtest "stopped by $what and resumed" => sub {
        $instance->sql(q(INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at)
            SELECT 1, 2, '', CONCAT('ghost-', seq), 1000000 + seq, UTC_TIMESTAMP(6) FROM seq_1_to_12000));
        my $out = $instance->dir . '/doctor.out';
        my $keys = locked_table('resource_aliases');
        my $pid = doctor_begins($out);
        ok waits_for('resource_aliases'), 'it is past the forwards';
        my $traits;
        if ($signal eq 'KILL') {
            # It stores its position once a second.
            sleep 1;
            $traits = locked_table('resource_traits');
            close $keys;
            ok waits_for('resource_traits'), 'it is past the keys';
            like position(), qr/ /, 'its position is stored';
        }
        kill $signal, $pid;
        close $keys if $signal eq 'TERM';
        waitpid $pid, 0;
        is $signal eq 'TERM' ? $? >> 8 : $? & 127, $signal eq 'TERM' ? 2 : 9, 'it ended' or diag $?;
        close $traits if $traits;
        if ($signal eq 'TERM') {
            my $told = Tenure::Run::read_file($out);
            like $told, qr/each forward leads to a resource +12000 +0 +forward of ghost/, 'it tells what it has found so far';
            like $told, qr/stopped; `tenure-manage doctor --resume` goes on/, 'and how to go on';
        }
        $instance->sql(q(DELETE FROM forwards WHERE name LIKE 'ghost-%'));
        my ($found, $report) = doctor('--resume');
        is $found, 1, 'another goes on';
        like $report, qr/each forward leads to a resource +12000 +0/, 'and has what the first one found';
        is position(), undef, 'at its end the position is forgotten';
        my ($now, $text) = doctor('--resume');
        is $now, 0, 'the next one looks at all again' or diag $text;
        like $text, qr/it began anew/, 'and says so';
    };
}

# Three rows of a table: the first two are broken, and the second one is locked, so the repair waits there. Meanwhile the third one is changed by a
# request, and the second one, with what it is computed from, by whoever has locked it.
sub mends_beside_a_write {
    my ($break, $lock, $held, $write, $right) = @_;
    $instance->sql($break);
    my $session = $instance->sql_locks($lock);
    my $out     = "$instance->{dir}/beside";
    my $pid     = doctor_begins($out, '--fix');
    ok Tenure::Instance::wait_until(sub { $instance->sql_value(q(SELECT COUNT(*) FROM information_schema.processlist WHERE command = 'Execute' AND info RLIKE '^UPDATE|FOR UPDATE' AND time_ms > 100)) > 0 }), 'the repair waits for a row';
    $write->();
    print {$session} "$held; COMMIT;\n";
    close $session;
    waitpid $pid, 0;
    is $? >> 8, 0, 'it ends well' or diag Tenure::Run::read_file($out);
    is $instance->sql_value($right), 0, 'and what was written meanwhile is right';
    is(scalar doctor(), 0, 'as all is');
    return;
}

subtest 'sums of allocations while requests are served' => sub {
    my %at  = (headers => { 'OpenStack-API-Version' => 'placement 1.27' });
    my @uid = map { "44444444-0000-4000-8000-00000000000$_" } 1 .. 3;
    for (@uid) {
        $admin->post('/placement/resource_providers', %at, json => { name => $_, uuid => $_ })->is_status(200);
        $admin->put("/placement/resource_providers/$_/inventories", %at, json => { resource_provider_generation => 0, inventories => { VCPU => { total => 8 } } })->is_status(200);
    }
    my $class = $instance->sql_value(q(SELECT id FROM resource_classes WHERE name = 'VCPU'));
    my @one   = map { "class_id = $class AND resource_id = " . $instance->sql_value("SELECT id FROM resources WHERE uid = UNHEX(REPLACE('$_', '-', ''))") } @uid;
    $admin->put('/placement/allocations/55555555-0000-4000-8000-000000000001', %at, json => { allocations => { $uid[1] => { resources => { VCPU => 1 } } }, project_id => 't1', user_id => 'u' })
        ->is_status(204);
    mends_beside_a_write(
        "UPDATE inventories SET used = used + 1 WHERE $one[0] OR $one[1]",
        "SELECT * FROM inventories WHERE $one[1] FOR UPDATE",
        "UPDATE allocations SET used = used + 4 WHERE $one[1]; UPDATE inventories SET used = used + 4 WHERE $one[1]",
        sub {
            $admin->put('/placement/allocations/55555555-0000-4000-8000-000000000000', %at,
                json => { allocations => { $uid[2] => { resources => { VCPU => 3 } } }, project_id => 't1', user_id => 'u' })->is_status(204);
        },
        "SELECT used - 3 FROM inventories WHERE $one[2]"
    );
};

subtest 'last changes while requests are served' => sub {
    $admin->make("/v2.0/t1/persistentvolumes/beside$_") for 1 .. 3;
    mends_beside_a_write(
        q(UPDATE resources SET changed = changed + 1000000 WHERE name IN ('beside1', 'beside2')),
        q(SELECT id FROM resources WHERE name = 'beside2' FOR UPDATE),
        q(UPDATE resources SET changed = (SELECT MAX(c.id) FROM changes c WHERE c.name = 'beside2') WHERE name = 'beside2'),
        sub { $admin->put('/v2.0/t1/persistentvolumes/beside3', json => { a => 'b' })->is_status(200) },
        q(SELECT r.changed <> (SELECT MAX(x.id) FROM changes x WHERE x.resource_id = r.id) FROM resources r WHERE r.name = 'beside3')
    );
};

subtest 'at a terminal' => sub {
    plan skip_all => 'script(1) is not installed' if !Tenure::Instance::on_path('script');
    my $at = sub {
        my ($columns) = @_;
        my $program = Tenure::Instance::build_dir() . '/tenure-manage';
        my ($code, $text) = Tenure::Run::run('script', '-qec', "stty cols $columns; '$program' -c '" . $instance->env('TENURE_CONFIG') . "' doctor", '/dev/null');
        return $text =~ s/\r//gr;
    };
    # A finding with a long example, which is never cut.
    $instance->sql(q(INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at)
        SELECT id, 1, '', CONCAT('ghost-', REPEAT('x', 60)), 999999999, UTC_TIMESTAMP(6) FROM tenants WHERE name = 't1'));
    my $narrow = $at->(80);
    my ($long) = grep { /ghost/ } split /\n/, $narrow;
    like $long, qr/^each forward leads to a +1 +0 +forward of ghost-x{60}\b/, 'the example is whole, on the first line of its check';
    like $narrow, qr/^each forward leads to a [^\n]*\nresource\n/m, '... which goes on below';
    is join("\n", grep { length > 80 && !/ghost/ } split /\n/, $narrow), '', 'every other line has 80 columns at most';
    my $words = sub { my ($of) = @_; return join ' ', sort map { s/ +\d+ +\d+ +\S.*$//r =~ /\S+/g } split /\n/, $of };
    is $words->($narrow), $words->(scalar((doctor())[1])), 'all checks are there, word by word';
    is $at->(200), scalar((doctor())[1]), 'a wide one gets what a pipe gets, a line for each check';
    $instance->sql(q(DELETE FROM forwards WHERE name LIKE 'ghost-%'));
    my $sound = $at->(80);
    is join("\n", grep { length > 80 } split /\n/, $sound), '', 'without findings all lines have 80 columns at most';
    like $sound, qr/^each resource's tenant exists +0 +0 +-$/m, 'a short check is one line';
};

subtest 'on a server that is read-only' => sub {
    my $database = $instance->env('TENURE_DB_NAME');
    $instance->sql("CREATE USER looker\@localhost IDENTIFIED BY 'x'; GRANT ALL PRIVILEGES ON `$database`.* TO looker\@localhost; SET GLOBAL read_only = 1");
    {
        local @ENV{qw(TENURE_DATABASE_ADMIN_USER TENURE_DATABASE_ADMIN_PASSWORD)} = ('looker', 'x');
        my ($now, $text) = doctor();
        is $now, 0, 'it is examined' or diag $text;
        like $text, qr/^each resource's tenant exists +0/m, '... and each check is told';
        is(scalar doctor('--resume'), 0, 'also if it is to go on for another one');
        is(scalar doctor('--fix'), 2, 'but nothing can be mended there');
    }
    $instance->sql('SET GLOBAL read_only = 0; DROP USER looker@localhost');
    is(scalar doctor(), 0, 'all is sound');
};

# What is printed must not go into the connection to the database, which would get the number of what is closed.
subtest 'without standard output or error' => sub {
    my @command = (Tenure::Instance::build_dir() . '/tenure-manage', '-c', $instance->env('TENURE_CONFIG'));
    my $aborted = sub { return ($instance->sql(q(SHOW GLOBAL STATUS LIKE 'Aborted_clients')))[0][1] };
    my $before  = $aborted->();
    for my $case ([ '2>&-', 0, 'doctor' ], [ '>&-', 74, 'doctor' ], [ '>&- 2>&-', 74, 'doctor' ], [ '<&- >&- 2>&-', 74, 'db', 'status' ]) {
        my ($closed, $want, @words) = @$case;
        my ($now, $text) = Tenure::Run::run('sh', '-c', qq(exec "\$0" "\$@" $closed), @command, @words);
        is $now, $want, "@words $closed" or diag $text;
    }
    is $aborted->(), $before, 'no connection broke off';
};

subtest 'a database that takes no packet of that size' => sub {
    my $was = $instance->sql_value('SELECT @@GLOBAL.max_allowed_packet');
    $instance->sql('SET GLOBAL max_allowed_packet = 4193280');
    my ($now, $text) = doctor();
    is $now, 0, 'is no finding';
    like $text, qr/warning: max_allowed_packet of the database is 4193280: resources as large as max_body, 3145728 bytes, can't be stored; set it to 4194304 or more/, 'but a warning';
    $instance->sql('SET GLOBAL max_allowed_packet = 4194304');
    unlike +(doctor())[1], qr/max_allowed_packet/, 'none for one that is large enough';
    $instance->sql("SET GLOBAL max_allowed_packet = $was");
};

subtest 'positions that are none' => sub {
    for my $bad ('', 'x', '31', '31 ff 0', '2 0 0', '31 0 0 77=1/1', '31 0 0 1=', '31 0 ffffffffffffffffff', "31 0 0 1=1/1\0") {
        $instance->sql('REPLACE INTO settings (name, value) VALUES ("doctor_position", UNHEX("' . unpack('H*', $bad) . '"))');
        my ($now, $text) = doctor('--resume');
        ok $now == 0 || $text =~ /leads|reserved/, "\"$bad\"" or diag $text;
    }
    is(scalar doctor(), 0, 'all is sound');
};

subtest 'a position of before a reset' => sub {
    # The first check has found five, and the second one is next. A report has a line for each check.
    my $n_checks = grep { / +\d+ +\d+ +\S/ } split /\n/, (doctor())[1];
    my $stop = sub { $instance->sql(sprintf q(REPLACE INTO settings (name, value) VALUES ('doctor_position', '%x 1 0 0=5/0')), $n_checks); return };
    $stop->();
    is(scalar doctor('--resume'), 1, 'a doctor has what another one found');
    $stop->();
    is((($instance->manage('db', 'reset', '--yes'))[0]), 0, 'reset');
    my ($now, $text) = doctor('--resume');
    is $now, 0, '... but not what was found before all was emptied' or diag $text;
    like $text, qr/it began anew/, '... and looks at all';
};

done_testing;
