#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a tenant's screen of the console has beside its resources: usage, moves and old addresses, tokens, webhooks. For an operator, for
# the tenant's admin, and for a reader. And the undo of a deletion so large that it goes on in the background, by a member.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Browser;
use Tenure::Definition qw(definition_of);
use Tenure::Instance;

Tenure::Browser::need();

my $instance = Tenure::Instance->start(auth => 'token', workers => 3, settings => { 'tenure.session_idle' => 3600, 'tenure.usage_period' => 2 });
my $admin    = $instance->admin;
$admin->make_tenant($_) for qw(acme globex initech);
$admin->put("/v2.0/acme/namespaces/default/configmaps/web-$_", json => { data => { n => "$_" } })->is_status(201) for 1 .. 3;
$admin->put('/v2.0/acme/persistentvolumes/disk-1', json => {})->is_status(201);

# A definition that is nested nearly as deep as max_depth permits, and its change.
for my $text ('before', 'after') {
    my $schema = { type => 'string', description => "$text: the deepest" };
    $schema = { type => 'object', properties => { a => $schema } } for 1 .. 28;
    $admin->put('/v2.0/globex/customresourcedefinitions.apiextensions.k8s.io/deeps.example.com', json => definition_of('deeps', schema => $schema));
}

# A change of which the former content is not kept any more.
my $unkept = $admin->put('/v2.0/acme/namespaces/default/configmaps/web-3', json => { data => { n => 'other' } });
$unkept->is_status(200);
$instance->sql('DELETE FROM former_resources WHERE change_id = (SELECT MAX(id) FROM changes)');

# A webhook whose messages nobody takes: name resolution fails at once for names below "invalid".
my $hook = { url => 'https://receiver.invalid/tenure', verbs => ['deleted'], description => "two\nlines" };
$admin->put('/v2.0/acme/webhooks/chat', json => $hook)->is_status(201);

my $now = $instance->sql_value('SELECT UTC_TIMESTAMP(6)');
ok Tenure::Instance::wait_until(sub { $instance->sql_value('SELECT COALESCE(MAX(until), 0) FROM usage_closings') gt $now }), 'a period of usage is closed';

# Three weeks of earlier days, of which one has nothing.
my $today = $instance->sql_value('SELECT UTC_DATE()');
$instance->sql(qq(INSERT INTO usage_closings (since, until, last_change, closed_at)
    SELECT '$today' - INTERVAL seq + 1 DAY, '$today' - INTERVAL seq DAY, 0, UTC_TIMESTAMP(6) FROM seq_1_to_21));
$instance->sql(qq(INSERT INTO usage_periods (tenant_id, type_id, since, until, resources, bytes, resource_us, byte_us)
    SELECT t.id, k.id, '$today' - INTERVAL seq + 1 DAY, '$today' - INTERVAL seq DAY, 0, 0,
    86400000000 * (IF(k.plural = 'configmaps', 40, 12) - seq), 86400000000 * 1000 * (40 - seq)
    FROM tenants t JOIN types k JOIN seq_1_to_21 WHERE t.name = 'acme' AND k.plural IN ('configmaps', 'persistentvolumes') AND seq <> 5
    AND (k.plural = 'configmaps' OR seq < 12)));

$admin->make('/v2.0/initech/namespaces/big');
$instance->fill('initech', 'configmaps', 20_050, namespace => 'big');
$instance->sql(q(INSERT INTO changes (request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision, etag_after, moves,
    bytes_before, bytes_after) SELECT UNHEX(MD5('big')), UTC_TIMESTAMP(6), 'admin', 'created', tenant_id, id, uid, type_id, namespace, name, 1, etag, 0, 0, bytes
    FROM resources WHERE namespace = 'big')); # so that they are metered
my $deletion = $admin->delete('/v2.0/initech/namespaces/big');
$deletion->is_status(202);
ok Tenure::Instance::wait_until(sub { $admin->get('/v2.0/initech/namespaces/big')->status == 410 }, 120), 'very much is deleted';

Tenure::Browser::play('tabs', { deletion => $deletion->request_id, unkept => $unkept->request_id, member => $instance->token('initech', 'member'),
    url => $admin->url, service => $instance->service(undef)->url, origins => [ $instance->service(undef)->url ],
    operator => $instance->operator_token, boss => $instance->token('acme', 'admin'), reader => $instance->token('acme', 'reader') });

is $instance->sql_value(q(SELECT COUNT(*) FROM tokens WHERE user = 'bill' AND revoked_at IS NOT NULL)), 1, 'the token that the console made and revoked';
is $instance->sql_value(q(SELECT COUNT(*) FROM webhooks WHERE name = 'billing')), 0, 'the webhook that it made and deleted is gone';
$instance->stop;
done_testing;
