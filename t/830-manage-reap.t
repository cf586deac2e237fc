#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure-manage reap: what is past its time goes, and nothing else; tiers and reset while workers run.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use POSIX ();
use Test::More;

use Tenure::Instance;
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
    is_deeply $counts, { map { $_ => 0 } qw(tenants resources forwards moves changes tokens) }, 'nothing goes';
    $admin->post('/v2.0/young/action/recover')->is_status(204, 'what is recoverable stays so');
    $admin->delete('/v2.0/young')->is_status(204);
};

subtest 'what is due' => sub {
    ago('purge_at', 'tenants',   q(name = 'old'));
    ago('purge_at', 'resources', q(name = 'old' AND live IS NULL));
    my $dry = reap('--dry-run');
    is_deeply +{ %$dry }, { tenants => 1, resources => 7, forwards => 2, moves => 0, changes => 0, tokens => 1 },
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
    ok Tenure::Instance::wait_until(sub { $instance->service($reader)->get('/v2.0/keep/namespaces')->status == 401 }, 10),
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

done_testing;
