#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Metrics that need something to happen first: watches, transactions that are run again, slow requests, moves that run, namespaces
# that are being deleted, pages of lists from the cache.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use POSIX ();
use Test::More;

use Tenure::Instance;
use Tenure::Metrics;
use Tenure::Watch;

my $instance = Tenure::Instance->start(combined => 1, workers => 2,
    settings => { 'tenure.slow_request' => 200, 'tenure.delete_sync_max' => 1, 'tenure.move_sync_max' => 1 },
    allow => [qr/mover \d+ (?:ended by signal|is killed)/]);
my $admin  = $instance->admin;
my $socket = $instance->env('TENURE_METRICS_SOCKET');
my $url    = $instance->env('TENURE_COMBINED_URL');

# Waits until the metric has such a value.
sub becomes {
    my ($series, $want, $name) = @_;
    my $now;
    ok Tenure::Instance::wait_until(sub { $now = Tenure::Metrics::of_socket($socket)->{$series}; defined $now && $want->($now) }, 60), $name
        or diag "$series ", $now // 'is missing';
    return;
}
sub is_above { my ($least) = @_; return sub { $_[0] > $least } }
sub is_equal { my ($same)  = @_; return sub { $_[0] == $same } }

ok Tenure::Instance::wait_until(sub { -S $socket }), 'the socket is there';
becomes('tenure_host_observed_timestamp_seconds', sub { abs($_[0] - time) < 600 }, 'the host service looked a moment ago');
$admin->make_tenant($_) for 'acme', 'dest';
$admin->make("/v2.0/acme/namespaces/default/configmaps/c$_") for 1 .. 3;
becomes('tenure_database_connections_total', is_above(0), 'connections');

my $list = '/api/v1/tenants/acme/namespaces/default/configmaps';
ok Tenure::Instance::wait_until(sub {
    $instance->combined('admin')->get($list);
    return Tenure::Metrics::of_socket($socket)->{'tenure_page_cache_lookups_total{result="hit"}'} > 0;
}, 60), 'a page of a list from the cache';
becomes('tenure_page_cache_lookups_total{result="miss"}', is_above(0), 'and one that was not there');

is Tenure::Metrics::of_socket($socket)->{tenure_watches}, 0, 'nobody watches';
my @watches = map { Tenure::Watch->new($url, 'admin', $list) } 1 .. 2;
becomes('tenure_watches', is_equal(2), 'two watches');
@watches = ();
becomes('tenure_watches', is_equal(0), 'that end');

my $before = Tenure::Metrics::of_socket($socket);
my $lock = $instance->sql_locks(q(SELECT id FROM tenants WHERE name = 'acme' FOR UPDATE));
my $pid  = fork // die "fork: $!";
if ($pid == 0) {
    my $answer = $instance->admin->put('/v2.0/acme/persistentvolumes/p', json => {});
    POSIX::_exit($answer->status - 200);
}
ok Tenure::Instance::wait_until(sub { $instance->count_lock_waits > 0 }), 'a request waits for a lock';
sleep 1;
print {$lock} "ROLLBACK;\n";
waitpid $pid, 0;
is 200 + ($? >> 8), 201, '... and is done then';
becomes($_, is_above($before->{$_}), $_) for 'tenure_transaction_retries_total', 'tenure_slow_requests_total';

my @stop = $instance->movers;
kill STOP => @stop;
$admin->post('/v2.0/acme/action/move?dest=dest', prefer => 'respond-async')->is_status(202, 'a move');
$instance->sql(q(INSERT INTO move_progress (move_id, moved, updated_at) SELECT id, 1, UTC_TIMESTAMP(6) FROM moves WHERE state = 'queued'));
becomes('tenure_moves_running', is_equal(1), 'one that has begun');
kill CONT => @stop;
becomes('tenure_moves_queued', is_equal(0), 'it is done');
becomes('tenure_moves_running', is_equal(0), 'so none runs');

$admin->put('/v2.0/dest/namespaces/n', json => {})->is_status(201, 'a namespace');
$admin->make("/v2.0/dest/namespaces/n/configmaps/c$_") for 1 .. 3;
kill STOP => @stop = $instance->movers;
$admin->delete('/v2.0/dest/namespaces/n');
becomes('tenure_namespaces_deleting', is_equal(1), 'one that is being deleted');
kill CONT => @stop;
becomes('tenure_namespaces_deleting', is_equal(0), 'it is gone');

# While the host service waits for an answer, what it saw last is forgotten.
subtest 'a database that hangs' => sub {
    my $dir = $instance->dir;
    chomp(my $short = Tenure::Instance::read_file("$dir/run/short"));
    my $folder = $instance->env('TENURE_DB_SOCKET') =~ s{/[^/]*\z}{}r;
    my ($database) = Tenure::Instance::read_file("$folder/mysql.pid") =~ /(\d+)/;
    my $text = '';
    kill STOP => $database;
    sleep 6; # it looks every five seconds
    unlink map { glob "$_/shared/shared-v*" } $dir, $short;
    ok Tenure::Instance::wait_until(sub { $text = ($instance->manage('status'))[1]; $text =~ /^database +the host service waits for its first answer$/m }, 30),
        'status says what it waits for' or diag $text;
    like $text, qr/^host service +process \d+$/m, '... and that it runs';
    unlike $text, qr/no host service runs/, '... in every line';
    kill CONT => $database;
    ok Tenure::Instance::wait_until(sub { $text = ($instance->manage('status'))[1]; $text =~ /^database +answers/m }, 60), 'the database answers again' or diag $text;
};
done_testing;
