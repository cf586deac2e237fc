#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What doc/operations.md says of the database server: its defaults do not matter, and how many connections there are.
use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/lib";

use Encode ();
use POSIX ();
use Test::More;

use Tenure::Instance;
use Tenure::Parallel;

my $instance = Tenure::Instance->start(workers => 2, settings => { 'database.lock_wait' => 2 }, allow => [qr/connection lost/, qr/answered 503/]);
my $admin    = $instance->admin;
$admin->make_tenant('acme');
my $maps = '/v2.0/acme/namespaces/default/configmaps';

my $ours = q(FROM information_schema.processlist WHERE user NOT IN ('root', 'system user') OR (user = 'root' AND db IS NOT NULL AND id <> CONNECTION_ID()));

subtest 'connections' => sub {
    for my $round (1 .. 3) {
        Tenure::Parallel::run(8, sub { my ($n) = @_; ($n % 2 ? $admin : $instance->service('ann:acme:admin'))->get($maps)->status }) for 1 .. 3;
    }
    # Two endpoints with two workers and a watch process each, and a host service.
    my $n = $instance->sql_value("SELECT COUNT(*) $ours");
    cmp_ok $n, '>=', 4, 'each worker has one';
    cmp_ok $n, '<=', 2 * (2 + 1) + 6, 'all have no more than the page says';
};

# Ends the sessions that there are, so that new ones begin with the server's defaults.
sub end_sessions {
    $instance->sql("KILL $_->[0]") for $instance->sql("SET sql_big_selects = 1; SELECT id $ours LIMIT 1000");
    return;
}

sub waiting {
    my ($ms) = @_;
    return $instance->sql_value("SELECT COUNT(*) FROM information_schema.processlist WHERE time_ms > $ms AND info LIKE '%resources%' AND id <> CONNECTION_ID()");
}

# Asks in a process of its own, and returns a function that waits for the answer, and tells whether it had that status.
sub begin {
    my ($status, $ask) = @_;
    my $pid = fork // die "fork: $!\n";
    POSIX::_exit($ask->()->status == $status ? 0 : 1) if $pid == 0;
    return sub { waitpid $pid, 0; return $? == 0 };
}

subtest "the server's limit on statements" => sub {
    $admin->make("$maps/limited", { data => { n => 1 } });
    $instance->sql('SET GLOBAL max_statement_time = 0.5');
    end_sessions();
    my $holder = $instance->sql_locks(q(SET max_statement_time = 0; SELECT id FROM resources WHERE name = 'limited' FOR UPDATE));
    my $is_done = begin(200, sub { $admin->put("$maps/limited", json => { data => { n => 2 } }) });
    ok Tenure::Instance::wait_until(sub { waiting(800) }), 'a statement takes longer';
    print {$holder} "ROLLBACK;\n";
    ok $is_done->(), '... and is carried out';
    close $holder;
    $instance->sql('SET GLOBAL max_statement_time = 0');
    $admin->delete("$maps/limited");
};

subtest 'a table that is locked' => sub {
    $admin->make("$maps/locked", { data => { n => 1 } });
    $admin->get("$maps/locked")->is_status(200, 'there');
    my $holder = $instance->sql_session;
    print {$holder} "LOCK TABLES resources WRITE; DO GET_LOCK('table', 0);\n";
    ok Tenure::Instance::wait_until(sub { defined $instance->sql_value("SELECT IS_USED_LOCK('table')") }), 'locked';
    my @is_refused = map { begin(503, $_) } sub { $admin->get("$maps/locked") }, sub { $admin->put("$maps/locked", json => { data => { n => 2 } }) };
    ok $_->(), 'answered 503' for @is_refused;
    is waiting(15_000), 0, 'no session is left behind that waits';
    close $holder;
    ok Tenure::Instance::wait_until(sub { $admin->get("$maps/locked")->status == 200 }), 'and all is well again';
    is $admin->get("$maps/locked")->json->{data}{n}, 1, '... as it was';
    $admin->delete("$maps/locked");
};

# Every default that a session could inherit, in the worst way; the sessions that there are end, so that new ones begin with these.
my %strange = (sql_mode => q('ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,NO_UNSIGNED_SUBTRACTION'), tx_isolation => q('SERIALIZABLE'),
    character_set_server => q('latin1'), collation_server => q('latin1_swedish_ci'), time_zone => q('+05:45'), autocommit => 0, innodb_strict_mode => 0,
    max_statement_time => 1, tx_read_only => 1, completion_type => q('CHAIN'), sql_safe_updates => 1, sql_select_limit => 3, max_join_size => 50, sql_auto_is_null => 1, unique_checks => 0, check_constraint_checks => 0, group_concat_max_len => 4, div_precision_increment => 0);

subtest "the server's defaults" => sub {
    # As this session reads it, in spite of these: MariaDB 11.8 counts on more than 50 rows of its own tables.
    my $sql = sub { return $instance->sql("SET sql_big_selects = 1; $_[0]") };
    $admin->make("$maps/before", { data => { text => 'Grüße' } });
    my $before = $admin->get("$maps/before");
    $instance->sql("SET GLOBAL $_ = $strange{$_}") for sort keys %strange;
    end_sessions();
    ok Tenure::Instance::wait_until(sub { $admin->get("$maps/before")->status == 200 }), 'new sessions';
    is $admin->get("$maps/before")->etag, $before->etag, 'what was there is answered as before';
    # Two ids that a collation of words takes for one.
    my @ids = map { my $id = Encode::encode('UTF-8', $_); $id =~ s/([^\w])/sprintf '%%%02X', ord $1/ger } 'straße', 'strasse', 'Strasse', 'a b', 'a b ';
    $admin->put("$maps/$_", json => { data => { id => $_, text => q(it's "so" \\n || 'x') } })->is_status(201, "made: $_") for @ids;
    for my $id (@ids) {
        is $admin->get("$maps/$id")->json->{data}{id}, $id, '... and is itself';
        $admin->patch("$maps/$id", { data => { n => 1 } }, if_match => $admin->get("$maps/$id")->etag)->is_status(200, '... and changes');
    }
    is scalar @{ $admin->get("$maps?limit=1000")->json->{items} // [] } || scalar(() = $admin->get("$maps?limit=1000")->text =~ /"name":/g), 6, 'all are listed';
    my $made = $admin->get("$maps/before")->json->{metadata}{creationTimestamp};
    like $admin->put("$maps/later", json => {})->json->{metadata}{creationTimestamp}, qr/^\Q@{[substr $made, 0, 10]}\E/, 'times are those of UTC';
    $admin->delete("$maps/$_")->is_status(204, 'deleted') for @ids;
    $admin->post("$maps/$ids[0]/action/recover")->is_status(204, 'recovered');
    is +($instance->manage('reap'))[0], 0, 'reap works';
    my ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'and doctor finds nothing' or diag $text;
    local $ENV{TENURE_DATABASE_NAME} = 'elsewhere';
    $instance->sql('SET tx_read_only = 0; CREATE DATABASE elsewhere');
    ($code, $text) = $instance->manage('db', 'init');
    is $code, 0, 'tables can be made' or diag $text;
    is_deeply [map { $_->[0] } $sql->(q(SELECT DISTINCT character_set_name FROM information_schema.columns WHERE table_schema = 'elsewhere' AND character_set_name NOT IN ('ascii', 'binary')))],
        ['utf8mb4'], 'with their own character set';
    is +($sql->(q(SELECT collation_name FROM information_schema.columns WHERE table_schema = 'elsewhere' AND table_name = 'resources' AND column_name = 'name')))[0][0],
        ($sql->(q(SELECT collation_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'resources' AND column_name = 'name')))[0][0], '... and collation';
};

done_testing;
