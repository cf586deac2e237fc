#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure-manage reap: what is past its time goes, and nothing else; tiers and reset while workers run.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use POSIX ();
use Test::More;

use Tenure::Instance;
use Tenure::Metal;
use Tenure::Run;
use Tenure::Shim;

my $instance = Tenure::Instance->start(auth => 'token');
my $admin    = $instance->admin;

sub reap {
    my ($code, $text) = $instance->manage('reap', @_);
    is $code, 0, "reap @_" or diag $text;
    my %counts = map { reverse split / / } $text =~ /(\d+ [a-z]+)/g;
    return \%counts;
}

sub ago { my ($column, $table, $where) = @_; return $instance->sql("UPDATE $table SET $column = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE $where") }

$admin->make_tenant($_) for 'keep', 'young', 'old';
for my $tenant ('keep', 'young', 'old') {
    $admin->make("/v2.0/$tenant/persistentvolumes/$_") for 'lives', 'young', 'old';
    $admin->delete("/v2.0/$tenant/persistentvolumes/$_")->is_status(204) for 'young', 'old';
}
$admin->make('/v2.0/old/persistentvolumes/moved');
$admin->make('/v2.0/keep/persistentvolumes/came');
$admin->post('/v2.0/keep/persistentvolumes/came/action/move?dest=old')->is_status(303);
$admin->post('/v2.0/old/persistentvolumes/moved/action/move?dest=keep')->is_status(303);
my $token = $instance->token('old', 'member');
$admin->delete("/v2.0/$_")->is_status(204) for 'young', 'old';

subtest 'nothing is due' => sub {
    my $counts = reap();
    is_deeply $counts, { map { $_ => 0 } qw(tenants resources forwards moves changes periods tokens) }, 'nothing goes';
    $admin->post('/v2.0/young/action/recover')->is_status(204, 'what is recoverable stays so');
    $admin->delete('/v2.0/young')->is_status(204);
};

subtest 'a purge that can not begin' => sub {
    local $ENV{TENURE_DATABASE_NAME} = 'nothing';
    my ($code, $text) = $instance->manage('reap');
    isnt $code, 0, 'it fails';
    unlike $text, qr/purged/, 'and does not tell what it purged';
};

# What is deleted stays recoverable until its time is past by the database's clock, too.
subtest 'a host whose clock is ahead' => sub {
    my $shim = Tenure::Shim->new or plan skip_all => 'sanitizers have calls of their own in place of these';
    my $log  = $instance->dir . '/ahead.log';
    local @ENV{ 'LD_PRELOAD', 'TENURE_SHIM' } = @{ { $shim->environment } }{ 'LD_PRELOAD', 'TENURE_SHIM' };
    $shim->clock(400 * 86400);
    my $told = qr/this host's clock is 345\d{5} s ahead of the database's: only what is past its time by both is purged/;
    my ($code, $text) = $instance->manage('reap');
    is $code, 0, 'it may purge';
    like $text, qr/^tenure-manage: $told$/m, 'and is told';
    like $text, qr/^purged 0 tenants, 0 resources, 0 forwards, 0 moves, 0 changes, /m, 'that it purges nothing';
    my $last = $instance->sql_value(q(SELECT value FROM settings WHERE name = 'reaped_at'));
    cmp_ok $last, '<=', 1e6 * (time + 1), 'the time of the purge is now';
    $instance->sql(q(DELETE FROM settings WHERE name = 'reaped_at'));
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        @ENV{ 'TENURE_TENURE_RUNTIME_DIR', 'TENURE_HOST_METRICS_SOCKET' } = ($instance->dir, '');
        open STDERR, '>', $log or POSIX::_exit(127);
        exec Tenure::Instance::build_dir() . '/tenured-host', '-c', $instance->env('TENURE_CONFIG') or POSIX::_exit(127);
    }
    ok Tenure::Instance::wait_until(sub { Tenure::Run::read_file($log) =~ $told }), 'the host service tells, too' or diag Tenure::Run::read_file($log);
    kill TERM => $pid;
    waitpid $pid, 0;
    like Tenure::Run::read_file($log), qr/purged 0 tenants, 0 resources, /, '... and purges nothing';
    is $instance->sql_value(q(SELECT COUNT(*) FROM resources WHERE name = 'young' AND live IS NULL)), 3, 'all is there';
};

subtest 'what is due' => sub {
    ago('purge_at', 'tenants',   q(name = 'old'));
    ago('purge_at', 'resources', q(name = 'old' AND live IS NULL));
    my $dry = reap('--dry-run');
    is_deeply +{ %$dry }, { tenants => 1, resources => 7, forwards => 2, moves => 0, changes => 0, periods => 0, tokens => 1 },
        'a dry run counts, also what the purged tenant has';
    is $instance->sql_value(q(SELECT COUNT(*) FROM tenants WHERE live = 1 AND name <> 'system')), 3, 'and does nothing';
    my $counts = reap();
    is_deeply $counts, $dry, '... what a run purges then';
    is $counts->{tenants}, 1, 'the tenant is purged';
    is $counts->{tokens}, 1, 'with its token';
    is $instance->sql_value(q(SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 'old')), 0, 'and its resources';
    is $instance->sql_value(q(SELECT COUNT(*) FROM resources WHERE name = 'old')), 0, 'deleted ones of others whose time is up are, too';
    is $instance->sql_value(q(SELECT COUNT(*) FROM resources WHERE name = 'young' AND live IS NULL)), 2, 'younger ones are not';
    $admin->get('/v2.0/keep/persistentvolumes/lives')->is_status(200, 'what lives lives');
    $admin->get('/v2.0/keep/persistentvolumes/moved')->is_status(200, 'what moved away in time, too');
    $admin->get('/v2.0/keep/persistentvolumes/came')->is_problem(404, 'not_found', 'a forward to what is purged leads nowhere');
    $admin->get('/v2.0/old')->is_problem(404, 'not_found', 'the tenant is no more');
    my $new = $admin->put('/v2.0/old');
    $new->is_status(201, 'its id is free');
    $admin->get('/v2.0/old/persistentvolumes/lives')->is_status(404, 'and the new one starts empty');
    is $instance->sql_value(q(SELECT COUNT(*) FROM changes WHERE verb = 'purged' AND actor = 'tenure-manage')) > 0, 1, 'the change log tells';
    my $again = reap();
    is $again->{tenants} + $again->{resources}, 0, 'twice does no more';
    $admin->post('/v2.0/young/action/recover')->is_status(204, 'what is not due can still be recovered');
    my ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'and all is sound' or diag $text;
};

# Each kind of the past that goes by its age.
subtest 'a dry run counts what a run purges, of every kind' => sub {
    $instance->sql($_) for 'UPDATE moves SET created_at = UTC_TIMESTAMP(6) - INTERVAL 2 YEAR, finished_at = UTC_TIMESTAMP(6) - INTERVAL 2 YEAR',
        q(INSERT INTO usage_closings (until, since, closed_at, last_change) SELECT UTC_TIMESTAMP(6) - INTERVAL n YEAR, UTC_TIMESTAMP(6) - INTERVAL n YEAR - INTERVAL 1 HOUR,
        UTC_TIMESTAMP(6) - INTERVAL n YEAR, 0 FROM (SELECT 4 AS n UNION SELECT 5 UNION SELECT 0) x);
    ok $instance->usage_has_counted, 'usage has counted';
    $instance->sql('UPDATE changes SET at = UTC_TIMESTAMP(6) - INTERVAL 2 YEAR ORDER BY id LIMIT 5');
    my $dry = reap('--dry-run');
    cmp_ok $dry->{$_->[0]}, '>=', $_->[1], "$_->[0] are due" for [moves => 2], [changes => 5], [periods => 2];
    is_deeply reap(), $dry, 'a run purges as many';
    is_deeply [ @{ reap('--dry-run') }{qw(moves changes periods)} ], [ 0, 0, 0 ], 'then nothing is due';
};

# Messages of webhooks that ended go by when they ended, whatever becomes of their webhook.
subtest 'messages of webhooks' => sub {
    $admin->put('/v2.0/keep/webhooks/chat', json => { url => 'https://receiver.invalid/', paused => JSON::PP::true() })->is_status(201);
    my $message = sub {
        my ($name, $state, $days) = @_;
        my $ended = $state eq 'queued' ? 'NULL' : "UTC_TIMESTAMP(6) - INTERVAL $days DAY";
        return $instance->sql('INSERT INTO webhook_messages (webhook_id, uid, kind, state, upto, created_at, ended_at, error) '
            . "SELECT id, UNHEX(MD5('$name')), 'changes', '$state', 1, UTC_TIMESTAMP(6) - INTERVAL 40 DAY, $ended, '$name' FROM webhooks");
    };
    $message->(@$_) for ['given up', 'dead', 31], ['queued', 'queued'], ['received', 'delivered', 31], ['given up lately', 'dead', 29], ['revived lately', 'delivered', 29];
    reap('--dry-run');
    is $instance->sql_value('SELECT COUNT(*) FROM webhook_messages'), 5, 'a dry run deletes none';
    reap();
    is_deeply [map { $_->[0] } $instance->sql('SELECT error FROM webhook_messages ORDER BY id')], ['queued', 'given up lately', 'revived lately'], 'what ended long ago goes';
    is $admin->get('/v2.0/keep/webhooks/chat')->json->{dead}, 1, '... which its owner sees';
};

subtest 'a tenant is recovered while its name is about to become free' => sub {
    $admin->make_tenant('late');
    $admin->delete('/v2.0/late')->is_status(204);
    ago('purge_at', 'tenants', q(name = 'late'));
    # reap has listed it, and waits for its row.
    my $session = $instance->sql_locks(q(UPDATE tenants SET deleted_at = NULL, purge_at = NULL WHERE name = 'late'));
    my $child   = fork // die "fork: $!\n";
    POSIX::_exit(($instance->manage('reap'))[0]) if $child == 0;
    ok Tenure::Instance::wait_until(sub { $instance->sql_value(q(SELECT COUNT(*) FROM information_schema.processlist WHERE command = 'Execute' AND info LIKE '%FROM tenants%FOR UPDATE%' AND time_ms > 100)) }), 'it waits';
    print {$session} "COMMIT;\n";
    close $session;
    waitpid $child, 0;
    is $?, 0, 'reap goes on';
    $admin->get('/v2.0/late')->is_status(200, 'and the tenant is there');
};

subtest 'what hangs on resources' => sub {
    my ($node, $port, $kept) = map { "$_-0000-4000-8000-000000000000" } '11111111', '22222222', '33333333';
    $admin->make("/v2.0/keep/nodes/$_", { driver => 'fake-hardware', name => "n-$_" }) for $node, $kept;
    $admin->make("/v2.0/keep/ports/$port", { node_uuid => $node, address => '52:54:00:00:00:01' });
    $instance->sql('INSERT INTO resource_traits SELECT r.id, t.id FROM resources r, (SELECT MIN(id) AS id FROM traits) t '
            . q(WHERE r.type_id = (SELECT id FROM types WHERE plural = 'nodes' AND group_name <> '')));
    my $rows = sub { return map { $instance->sql_value("SELECT COUNT(*) FROM resource_$_") } 'aliases', 'traits' };
    $admin->delete("/v2.0/keep/nodes/$node")->is_status(204);
    is_deeply [$rows->()], [3, 2], 'what is deleted keeps its lookup keys and traits';
    ago('purge_at', 'resources', 'live IS NULL AND type_id IN (SELECT id FROM types WHERE group_name <> \'\' AND plural IN (\'nodes\', \'ports\'))');
    is reap()->{resources}, 2, 'a node goes with its port';
    is_deeply [$rows->()], [1, 1], 'and these with them';
    is $instance->sql_value('SELECT value FROM resource_aliases'), "n-$kept", 'those of others stay';
    $admin->put("/v2.0/keep/ports/$port", json => { node_uuid => $kept, address => '52:54:00:00:00:01' })->is_status(201, 'all is free');
    $admin->delete("/v2.0/keep/nodes/$kept")->is_status(204);
};

# Nobody finds the resource that is in the way any more.
subtest 'names that a tenant has until it is reaped' => sub {
    my ($node, $port, $other) = map { "$_-0000-4000-8000-000000000001" } '44444444', '55555555', '66666666';
    my @mac = (address => '52:54:00:00:00:0a');
    $admin->make_tenant('gone');
    $admin->make("/v2.0/gone/nodes/$node", { driver => 'fake-hardware', name => 'n-gone' });
    $admin->make("/v2.0/gone/ports/$port", { node_uuid => $node, @mac });
    $admin->make("/v2.0/keep/nodes/$other", { driver => 'fake-hardware' });
    my %put = (
        uid  => sub { $admin->put("/v2.0/keep/nodes/$node", json => { driver => 'fake-hardware' }) },
        name => sub { $admin->patch("/v2.0/keep/nodes/$other", { name => 'n-gone' }) },
        mac  => sub { $admin->put("/v2.0/keep/ports/$other", json => { node_uuid => $other, @mac }) },
    );
    my $refused = sub { my ($text, $name) = @_; for my $key (sort keys %put) {
        my $answer = $put{$key}->();
        $answer->is_problem(409, 'name_taken', "$key: $name");
        like $answer->detail, $text, '... with a reason';
    } };
    $admin->delete('/v2.0/gone')->is_status(204);
    $refused->(qr/already exists/, 'the tenant can be recovered');
    ago('purge_at', 'tenants', q(name = 'gone'));
    $refused->(qr/past its purge time.*tenure-manage reap/, 'its purge time has come');
    $admin->put('/v2.0/gone')->is_status(201, 'another one takes its id');
    $refused->(qr/past its purge time.*tenure-manage reap/, 'the first one is buried');
    reap();
    $put{$_}->()->is_status($_ eq 'name' ? 200 : 201, "$_: free") for sort keys %put;
    $admin->delete("/v2.0/keep/nodes/$_")->is_status(204) for $node, $other;
};

subtest 'reset while workers run' => sub {
    my $reader = $instance->token('keep', 'reader');
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        my $bad = 0;
        for my $n (1 .. 150) {
            my $status = $admin->put("/v2.0/keep/persistentvolumes/load$n", json => {})->status;
            $bad++ unless $status == 201 || $status == 404 || $status == 503;
        }
        POSIX::_exit($bad > 0);
    }
    my ($refused, $why) = $instance->manage('db', 'reset');
    isnt $refused, 0, 'not without --yes';
    my ($code, $text) = $instance->manage('db', 'reset', '--yes');
    is $code, 0, 'with it' or diag $text;
    waitpid $pid, 0;
    is $? >> 8, 0, 'the workers answer through it';
    my $list = $admin->get('/v2.0');
    $list->is_status(200, 'the operator\'s token still works');
    is_deeply $list->json->{tenants}, [], 'and there is nothing';
    ok Tenure::Instance::wait_until(sub { $instance->service($reader)->get('/v2.0/keep/namespaces')->status == 401 }),
        'tenants\' tokens are gone';
    is $instance->sql_value("SELECT COUNT(*) FROM $_"), 0, "$_ is empty" for qw(forwards moves changes resource_aliases resource_traits);
    is $instance->sql_value('SELECT GROUP_CONCAT(name) FROM tenants'), 'system', 'there is the system space alone';
    is $instance->sql_value('SELECT GROUP_CONCAT(name) FROM resources'), 'default', 'with its namespace';
    $admin->make_tenant('keep', tier => 'gold');
    $admin->make('/v2.0/keep/namespaces/default/configmaps/c');
    is((($instance->manage('doctor'))[0]), 0, 'life goes on, soundly');
};

subtest 'nothing of before a reset is remembered' => sub {
    for my $text (qw(first second)) {
        $instance->manage('db', 'reset', '--yes');
        $admin->make_tenant('again', tier => 'gold');
        $admin->put('/v2.0/again/namespaces/default/configmaps/c', json => { data => { text => $text } })->is_status(201);
        my %seen = map { $admin->get('/v2.0/again/namespaces/default/configmaps/c')->json->{data}{text} => 1 } 1 .. 20;
        is join(',', keys %seen), $text, "the $text time: no worker has another";
        %seen = map { $admin->get('/v2.0/again/namespaces/default/configmaps')->json->{resources}[0]{data}{text} => 1 } 1 .. 20;
        is join(',', keys %seen), $text, 'in lists either';
    }
    $instance->manage('db', 'reset', '--yes');
    $admin->make_tenant('keep', tier => 'gold');
    $admin->make('/v2.0/keep/namespaces/default/configmaps/c');
};

# Workers hold its id, so the row has to be there still when the definition is made again.
subtest 'a custom type of before a reset' => sub {
    my $path = '/v2.0/keep/namespaces/default/widgets.example.com/w';
    my $make = sub {
        $admin->make('/v2.0/keep/customresourcedefinitions/widgets.example.com', {
            metadata => { name => 'widgets.example.com' },
            spec => { group => 'example.com', scope => 'Namespaced', names => { plural => 'widgets', kind => 'Widget' },
                versions => [{ name => 'v1', served => \1, storage => \1, schema => { openAPIV3Schema => { type => 'object' } } }] } });
        $admin->make($path);
    };
    $make->();
    $admin->get($path)->is_status(200, 'workers serve it') for 1 .. 10;
    is((($instance->manage('db', 'reset', '--yes'))[0]), 0, 'reset');
    $admin->make_tenant('keep', tier => 'gold');
    $admin->get($path)->is_status(404, 'it is served no more');
    $make->();
    is $instance->sql_value('SELECT COUNT(*) FROM resources r LEFT JOIN types y ON y.id = r.type_id WHERE y.id IS NULL'), 0, 'each resource has a type';
    my ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'all is sound' or diag $text;
    my @before = Tenure::Instance::children_of($instance->master_pid('admin'));
    kill 'HUP', $instance->master_pid('admin');
    ok Tenure::Instance::wait_until(sub { !kill 0, @before }), 'the workers are new';
    $admin->get($path)->is_status(200, '... and serve it as well');
};

subtest 'a node that was free before a reset' => sub {
    my $metal = Tenure::Metal->new($admin, '1.82');
    my $uuid  = '44444444-0000-4000-8000-000000000000';
    my $make  = sub {
        $metal->make('nodes', { uuid => $uuid, driver => 'fake-hardware', owner => 'keep', resource_class => 'gold' });
        $metal->put("/nodes/$uuid/states/provision", json => { target => $_ })->is_status(202, $_) for qw(manage provide);
        $metal->put("/nodes/$uuid/states/power", json => { target => 'power off' })->is_status(202, 'off');
    };
    $make->();
    my $id = $instance->sql_value(q(SELECT resource_id FROM resource_aliases WHERE kind = 'free'));
    is((($instance->manage('db', 'reset', '--yes'))[0]), 0, 'reset');
    is $instance->sql_value('SELECT COUNT(*) FROM resource_aliases'), 0, 'nothing says that it is free';
    is((($instance->manage('doctor'))[0]), 0, 'all is sound');
    $admin->make_tenant('keep', tier => 'gold');
    $make->();
    isnt $instance->sql_value(q(SELECT id FROM resources WHERE name = ) . "'$uuid'"), $id, 'it has another id now';
    my $allocation = $metal->post('/allocations', json => { resource_class => 'gold', owner => 'keep' });
    $allocation->is_status(201, 'an allocation');
    is $metal->get($allocation->location)->json->{node_uuid}, $uuid, '... takes it';
    $instance->manage('db', 'reset', '--yes');
    $admin->make_tenant('keep', tier => 'gold');
    $admin->make('/v2.0/keep/namespaces/default/configmaps/c');
};

subtest 'tiers' => sub {
    my ($code) = $instance->manage('tier', 'set', 'tiny', '--max-resources', '1');
    is $code, 0, 'a new one';
    $admin->put('/v2.0/keep', json => { tenant => { tier => 'tiny' } })->is_status(202, 'is there at once');
    $admin->put('/v2.0/keep/persistentvolumes/p', json => {})->is_problem(409, 'over_quota', 'and holds');
    $instance->manage('tier', 'set', 'tiny', '--max-resources', '2');
    $admin->put('/v2.0/keep/persistentvolumes/p', json => {})->is_status(201, 'raised, there is room');
    my ($busy, $text) = $instance->manage('tier', 'remove', 'tiny');
    isnt $busy, 0, 'one in use is not removed' or diag $text;
    $admin->put('/v2.0/keep', json => { tenant => { tier => 'standard' } })->is_status(202);
    is((($instance->manage('tier', 'remove', 'tiny'))[0]), 0, 'one that is not, is');
    $admin->put('/v2.0/keep', json => { tenant => { tier => 'tiny' } })->is_problem(400, 'bad_parameter', 'and is unknown then');
};

subtest 'status and check' => sub {
    my ($code, $text) = $instance->manage('db', 'status');
    is $code, 0, 'db status' or diag $text;
    like $text, qr/tenants\s+1\b/, 'counts tenants';
    like $text, qr/resources\s+2\b/, 'and resources, without the namespace default';
    ($code, $text) = $instance->manage('config', 'check');
    is $code, 0, 'config check' or diag $text;
    ($code, $text) = $instance->manage('token', 'list', '--json');
    is $code, 0, 'token list';
    my $operator = $instance->operator_token =~ s/.*\.//r;
    unlike $text, qr/\Q$operator\E/, 'shows no secret';
};

# Starts a reap and returns its pid; what it prints goes to that file.
sub reap_begins {
    my ($out) = @_;
    my $pid = fork // die "fork: $!";
    return $pid if $pid;
    open STDOUT, '>', $out or POSIX::_exit(126);
    open STDERR, '>&', \*STDOUT or POSIX::_exit(126);
    exec Tenure::Instance::build_dir() . '/tenure-manage', '-c', $instance->env('TENURE_CONFIG'), 'reap' or POSIX::_exit(127);
}

sub rows_of { my ($table, $where) = @_; return $instance->sql_value("SELECT COUNT(*) FROM $table WHERE $where") }

# A session holds a row that the third page takes. The pages before it are committed, and their locks gone.
for my $way (['SIGTERM', 'TERM'], ['kill -9', 'KILL']) {
    my ($what, $signal) = @$way;
    subtest "stopped by $what within the change log" => sub {
        my $first = 1 + $instance->sql_value('SELECT MAX(id) FROM changes');
        $instance->sql("INSERT INTO changes (id, request_id, at, actor, verb, tenant_id, uid, revision) SELECT $first + seq, UNHEX(MD5(seq)), UTC_TIMESTAMP(6), 'old', 'updated', 1,
            UNHEX(MD5('old')), 1 FROM seq_0_to_4999; UPDATE changes SET at = UTC_TIMESTAMP(6) - INTERVAL 400 DAY;
            INSERT INTO changes (request_id, at, actor, verb, tenant_id, uid, revision) VALUES (UNHEX(MD5('new')), UTC_TIMESTAMP(6), 'new', 'updated', 1, UNHEX(MD5('new')), 1)");
        ok Tenure::Instance::wait_until(sub { rows_of('usage_progress', q(stage = 'waiting' OR position >= (SELECT MAX(id) FROM changes))) }, 60),
            'usage needs none of them any more';
        my $all  = rows_of('changes', q(actor <> 'new'));
        my $held = $instance->sql_value('SELECT id FROM changes ORDER BY id LIMIT 1 OFFSET 2500');
        my $hold = $instance->sql_locks("SELECT id FROM changes WHERE id = $held FOR UPDATE");
        my $pid  = reap_begins($instance->dir . '/reap.out');
        ok Tenure::Instance::wait_until(sub { rows_of('changes', q(actor <> 'new')) == $all - 2000 }), 'the pages before the held row are gone for all to see';
        $admin->make_tenant('writer') if $signal eq 'TERM';
        $admin->put('/v2.0/writer/persistentvolumes/p', json => { by => $signal })->is_status($signal eq 'TERM' ? 201 : 200, 'a writer waits for none of it');
        kill $signal, $pid;
        close $hold if $signal eq 'TERM';
        waitpid $pid, 0;
        close $hold if $signal eq 'KILL';
        if ($signal eq 'TERM') {
            is $? >> 8, 75, 'exit code 75';
            my $told = Tenure::Run::read_file($instance->dir . '/reap.out');
            like $told, qr/^purged .* 3000 changes/m, 'it says how far it came';
            like $told, qr/stopped; the next run purges the rest/, 'and what follows';
        }
        my $left = $signal eq 'TERM' ? $all - 3000 : $all - 2000;
        ok Tenure::Instance::wait_until(sub { rows_of('changes', q(actor <> 'new')) >= $left }), 'nothing is half done';
        is reap()->{changes}, $left, 'the next run purges the rest';
        is rows_of('changes', q(actor = 'old')), 0, 'all that is old';
        is rows_of('changes', q(actor = 'new')) > 0, 1, 'and nothing that is not';
        is((($instance->manage('doctor'))[0]), 0, 'all is sound');
        $instance->sql(q(DELETE FROM changes WHERE actor = 'new'));
    };
}

subtest 'under nohup a hang-up stops nothing' => sub {
    my $first = 1 + $instance->sql_value('SELECT MAX(id) FROM changes');
    $instance->sql("INSERT INTO changes (id, request_id, at, actor, verb, tenant_id, uid, revision) SELECT $first + seq, UNHEX(MD5(seq)), UTC_TIMESTAMP(6), 'old', 'updated', 1,
        UNHEX(MD5('old')), 1 FROM seq_0_to_2999; UPDATE changes SET at = UTC_TIMESTAMP(6) - INTERVAL 400 DAY");
    ok Tenure::Instance::wait_until(sub { rows_of('usage_progress', q(stage = 'waiting' OR position >= (SELECT MAX(id) FROM changes))) }, 60),
        'usage needs none of them any more';
    my $hold = $instance->sql_locks("SELECT id FROM changes WHERE id = $first FOR UPDATE");
    my $pid = do { local $SIG{HUP} = 'IGNORE'; reap_begins($instance->dir . '/reap.out') };
    ok Tenure::Instance::wait_until(sub { $instance->count_lock_waits }), 'it waits for a row';
    kill HUP => $pid;
    close $hold;
    waitpid $pid, 0;
    is $?, 0, 'it goes on to its end';
    is rows_of('changes', q(actor = 'old')), 0, 'which is all that is old';
};

subtest 'killed while a purged tenant is emptied' => sub {
    $admin->make_tenant('large');
    $admin->make('/v2.0/large/persistentvolumes/p');
    $instance->sql(q(INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at, updated_at, changed)
        SELECT UNHEX(MD5(CONCAT('l', s.seq))), tenant_id, type_id, namespace, CONCAT('p', LPAD(s.seq, 4, '0')), live, bytes, 1, 1, h0, h1, h2, h3, etag, meta, body, created_at, updated_at, 1
        FROM resources JOIN seq_1_to_2499 s WHERE name = 'p' AND tenant_id = (SELECT id FROM tenants WHERE name = 'large' AND live = 1) ORDER BY s.seq));
    my $id = $instance->tenant_id('large');
    $admin->delete('/v2.0/large')->is_status(204);
    $instance->sql("INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at) SELECT $id, 2, '', CONCAT('f', seq), 1, UTC_TIMESTAMP(6) FROM seq_1_to_1500");
    ago('purge_at', 'tenants', "id = $id");
    # The last one by name, id and change, as no page's order is promised.
    my $held = $instance->sql_value("SELECT id FROM resources WHERE tenant_id = $id ORDER BY id DESC LIMIT 1");
    my $hold = $instance->sql_locks("SELECT id FROM resources WHERE id = $held FOR UPDATE");
    my $pid  = reap_begins($instance->dir . '/reap.out');
    ok Tenure::Instance::wait_until(sub { rows_of('resources', "tenant_id = $id") <= 1501 }), 'a page is gone';
    is rows_of('tenants', "id = $id AND live IS NULL AND purge_at IS NOT NULL"), 1, 'the name is free, the tenant not yet empty';
    kill 'KILL', $pid;
    waitpid $pid, 0;
    close $hold;
    my $counts = reap();
    is $counts->{tenants}, 0, 'the next run does not purge the tenant again';
    is $counts->{resources} > 0, 1, 'but what it still had';
    is $counts->{forwards}, 1500, 'with its forwards';
    is rows_of($_, "tenant_id = $id"), 0, "no $_ are left" for 'resources', 'forwards';
    is rows_of('tenants', "id = $id AND live IS NULL AND purge_at IS NULL"), 1, 'and that is noted: no run looks at it again';
};

done_testing;
