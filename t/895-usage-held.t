#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A period of usage is closed soon after its end; a transaction that is still open holds it up if a change behind it in the log was committed
# before the end (doc/usage.md).
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;

my $PERIOD   = 2;
my $instance = Tenure::Instance->start(settings => { 'tenure.usage_period' => $PERIOD });
my $admin    = $instance->admin;
$admin->make_tenant('acme');

sub closed_until { return $instance->sql_value('SELECT COALESCE(MAX(until), 0) FROM usage_closings') }
sub now          { return $instance->sql_value('SELECT UTC_TIMESTAMP(6)') }
sub closes_on    { my ($name) = @_; my $now = now(); return ok(Tenure::Instance::wait_until(sub { closed_until() gt $now }, 60), $name) }

closes_on('periods are closed');
closes_on('one after the other');

$admin->put('/v2.0/acme/namespaces/default/configmaps/c', json => { data => { n => 'one' } })->is_status(201);

# A writer amid its transaction, which has a place in the change log.
my $held = $instance->sql_session;
print {$held} <<'SQL';
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
BEGIN;
INSERT INTO changes (request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision)
SELECT UNHEX(REPEAT('ab', 16)), UTC_TIMESTAMP(6), 'x', 'updated', tenant_id, id, uid, type_id, namespace, name, revision
FROM resources WHERE name = 'c' AND live = 1 LIMIT 1;
DO GET_LOCK('in-flight', 0);
SQL
ok Tenure::Instance::wait_until(sub { defined $instance->sql_value(q(SELECT IS_USED_LOCK('in-flight'))) }), 'a transaction is in flight';
closes_on('on its own it holds up nothing');
my $begun = now();
$admin->put('/v2.0/acme/namespaces/default/configmaps/behind', json => { data => { n => 'two' } })->is_status(201, 'a change behind it in the log is committed');
ok Tenure::Instance::wait_until(sub {
    my ($code, $text) = $instance->manage('status', '--format', 'json');
    my $seen = $code == 0 ? JSON::PP->new->utf8->decode($text)->{seen} : undef;
    return $seen && defined $seen->{usage_due_seconds} && $seen->{usage_due_seconds} > $PERIOD;
}, 60), 'status tells that a period is over and not closed';
my $end = $instance->sql_value("SELECT FROM_UNIXTIME($PERIOD * CEIL(UNIX_TIMESTAMP('$begun') / $PERIOD))");
cmp_ok closed_until(), 'lt', $end, 'the period of that change is not closed, nor a later one';
print {$held} "ROLLBACK;\n";
close $held;
closes_on('then periods are closed again');

done_testing;
