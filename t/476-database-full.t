#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A database that has no room left, or takes no changes: 503 that says so, nothing is changed, reads go on, and all is well once
# there is room again.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $instance = Tenure::Instance->start(workers => 1, combined => 1, allow => [qr/answered 503/]);
my $admin = $instance->admin;
$admin->make_tenant('t1');
my $path = '/v2.0/t1/namespaces/default/configmaps';
$admin->put("$path/before", json => { data => {} })->is_status(201, 'there is room');

sub is_refused {
    my ($answer, $says, $what) = @_;
    is $answer->{status}, 503, "$what: 503" or diag $answer->{content};
    ok $answer->{headers}{'retry-after'}, "$what: Retry-After";
    like $answer->json->{detail}, $says, "$what: says why";
    return;
}

my $no_room = qr/no room left/;
my @errors = (
    [ 1114, q{The table 'changes' is full}, $no_room ],
    [ 1021, 'Disk full (/var); waiting for someone to free some space...', $no_room ],
    [ 1026, q{Error writing file './binlog' (errno: 28 "No space left on device")}, $no_room ],
    [ 1030, q{Got error 28 "No space left on device" from storage engine InnoDB}, $no_room ],
    [ 1005, q{Can't create table (errno: 28 "No space left on device")}, $no_room ],
    [ 1878, 'Temporary file write failure.', $no_room ],
    [ 1598, 'Binary logging not possible. Message: no space', $no_room ],
    [ 1197, 'Multi-statement transaction required more than max_binlog_cache_size bytes of storage', $no_room ],
    [ 1206, 'The total number of locks exceeds the lock table size', qr/short of memory/ ],
    [ 1041, 'Out of memory.', qr/short of memory/ ],
    [ 1874, 'InnoDB is in read only mode', qr/read-only/ ],
);
for my $error (@errors) {
    my ($number, $text, $says) = @$error;
    (my $quoted = $text) =~ s/'/''/g;
    my $count = $instance->change_count;
    $instance->sql("CREATE TRIGGER no_room BEFORE INSERT ON changes FOR EACH ROW SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = $number, MESSAGE_TEXT = '$quoted'");
    is_refused($admin->put("$path/new", json => { data => {} }), $says, $number);
    is $admin->get("$path/new")->{status}, 404, "$number: nothing was made";
    is $instance->change_count, $count, "$number: nor logged";
    is $admin->get("$path/before")->{status}, 200, "$number: what is there can be read";
    $instance->sql('DROP TRIGGER no_room');
}
$admin->put("$path/new", json => { data => {} })->is_status(201, 'all is well again, on the same connection');

# How often the endpoint's workers have lost their connection because the server is read-only.
sub reconnections { my ($endpoint) = @_; return scalar(() = $instance->log_text($endpoint) =~ /connection lost: 1290/g) }

subtest 'read-only' => sub {
    my $client  = $instance->combined(undef);
    my %console = ('X-Tenure-Console' => '1');
    my ($cookie) = split /;/, $client->post('/session', as => 'ann:t1', headers => {%console})->header('set-cookie');
    $instance->sql('SET GLOBAL read_only = 1');
    is_refused($admin->put("$path/late", json => { data => {} }), qr/read-only/, 'read_only') for 1 .. 3;
    cmp_ok reconnections('admin'), '<=', 3, 'a change is tried on one more connection, which may lead to another server, and no more';
    is $admin->get("$path/before")->{status}, 200, 'reads go on';
    $instance->sql('UPDATE sessions SET used_at = used_at - INTERVAL 10 MINUTE');
    $client->request('GET', '/session', as => undef, headers => { %console, Cookie => $cookie })->is_status(200, 'so does a session') for 1 .. 3;
    cmp_ok reconnections('combined'), '<=', 3, '... likewise';
    $instance->sql('SET GLOBAL read_only = 0');
    $admin->put("$path/late", json => { data => {} })->is_status(201, 'and writes, once it takes them');
};

my ($log) = $instance->log_text('admin');
like $log, qr/database: 1114/, 'the log has the number';
$instance->stop;
done_testing;
