#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# While a large move holds its two tenants, who writes there is told so at once, and nobody else waits: the locks are
# held by a session of ours here, as a mover on another host would hold them, for as long as the test likes.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use IPC::Open2 ();
use Test::More;

use Tenure::Instance;

my $instance = Tenure::Instance->start(workers => 1);
my $admin    = $instance->admin;
$admin->make_tenant($_) for qw(a b other);
$admin->make('/v2.0/a/persistentvolumes/p', { n => 1 });

my $pid = IPC::Open2::open2(my $out, my $in, 'mariadb', '--no-defaults', '-n', '-N', '-B', '-u', 'root', '-S',
    $instance->env('TENURE_DB_SOCKET'), $instance->env('TENURE_DB_NAME'));
$in->autoflush(1);

# Sends statements and waits until they are done.
sub session {
    my ($sql) = @_;
    print {$in} "$sql; SELECT 'done';\n";
    while (defined(my $line = readline $out)) {
        return 1 if $line eq "done\n";
    }
    die "the session ended\n";
}

# By key, one by one: a scan of so small a table would lock the others, too.
my ($source, $dest) = map { $instance->tenant_id($_) } qw(a b);
session(join "; ", "BEGIN", map { "SELECT id FROM tenants WHERE id = $_ FOR UPDATE" } $source, $dest);
$instance->sql(<<"SQL");
INSERT INTO moves (id, uid, source_id, dest_id, state, actor, created_at)
VALUES (1000, UNHEX(REPEAT('ab', 16)), $source, $dest, 'queued', 'test', UTC_TIMESTAMP(6));
INSERT IGNORE INTO move_progress (move_id, moved, updated_at) VALUES (1000, 0, UTC_TIMESTAMP(6));
SQL

subtest 'writers of both tenants are sent away' => sub {
    for my $path (map { "/v2.0/$_" } 'a/persistentvolumes/p', 'a/persistentvolumes/q', 'b/persistentvolumes/q') {
        my $answer = $admin->put($path, json => { n => 2 });
        $answer->is_problem(503, 'unavailable', "PUT $path");
        like $answer->detail, qr/large move/, 'and told why';
        ok $answer->header('retry-after'), 'and that it may be tried again';
    }
    $admin->delete('/v2.0/a/persistentvolumes/p')->is_problem(503, 'unavailable', 'DELETE');
    my $tenant = $admin->put('/v2.0/b', json => { tenant => { tier => 'gold' } });
    $tenant->is_problem(503, 'unavailable', 'PUT of the tenant');
    $admin->post('/v2.0/a/action/move?dest=other')->is_problem(503, 'unavailable', 'another move');
};

# One worker each: had a writer above waited, it would have answered something else or nothing by now.
subtest 'readers and other tenants are served' => sub {
    is $admin->get('/v2.0/a/persistentvolumes/p')->json->{n}, 1, 'what is about to move can be read';
    $admin->put('/v2.0/other/persistentvolumes/p', json => {})->is_status(201, 'another tenant is written to');
    $admin->get('/v2.0/a/action/move?dest=b')->is_status(200, 'a move action is shown');
};

session('COMMIT');
close $in;
waitpid $pid, 0;
ok Tenure::Instance::wait_until(sub { $instance->sql_value("SELECT COUNT(*) FROM moves WHERE state = 'queued'") == 0 }),
    'the move is carried out when the tenants are free';
$admin->get('/v2.0/b/persistentvolumes/p')->is_status(200, 'all of it');
$admin->put('/v2.0/a/persistentvolumes/q', json => {})->is_status(201, 'and both are written to again');

$instance->stop;
done_testing;
