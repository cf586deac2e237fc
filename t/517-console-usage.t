#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The console's usage where a period is longer than an hour, and of tenants that had one name, one after the other.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Browser;
use Tenure::Instance;

Tenure::Browser::need();

my $instance = Tenure::Instance->start(workers => 2, settings => { 'tenure.session_idle' => 3600, 'tenure.usage_period' => 7200 });
my $admin    = $instance->admin;
$admin->make_tenant('acme');
$admin->put('/v2.0/acme/namespaces/default/configmaps/web', json => {})->is_status(201);

# Earlier periods, of which one has nothing.
my $end   = $instance->sql_value('SELECT UTC_TIMESTAMP() - INTERVAL MOD(TIME_TO_SEC(UTC_TIME()), 7200) SECOND');
my $times = "'$end' - INTERVAL 2 * seq + 2 HOUR, '$end' - INTERVAL 2 * seq HOUR";
$instance->sql("INSERT INTO usage_closings (since, until, last_change, closed_at) SELECT $times, 0, UTC_TIMESTAMP(6) FROM seq_0_to_20");
$instance->sql(qq(INSERT INTO usage_periods (tenant_id, type_id, since, until, resources, bytes, resource_us, byte_us)
    SELECT t.id, k.id, $times, 0, 0, 4 * 7200000000, 7200000000
    FROM tenants t JOIN types k JOIN seq_0_to_20 WHERE t.name = 'acme' AND k.plural = 'configmaps' AND seq <> 5));

$admin->get('/v2.0/acme/usage?step=hour')->is_problem(400, 'bad-parameter', 'steps of an hour are refused');
Tenure::Browser::play('usage', { url => $admin->url, operator => 'admin' });
$instance->stop;
done_testing;
