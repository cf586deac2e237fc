#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What counting for /metrics costs: less than 1 % of a GET's instructions.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Cost;
use Tenure::Instance;
use Tenure::Memory qw(is_sanitized workers_of);

plan skip_all => 'valgrind is not installed' unless Tenure::Instance::on_path('valgrind');
my $instance = Tenure::Instance->start(auth => 'token', combined => 1, workers => 1);
plan skip_all => 'valgrind and the sanitizers do not work together' if is_sanitized((workers_of($instance, 'combined'))[0]);

my $operator = $instance->combined($instance->operator_token);
$operator->put('/v2.0/acme', json => {})->is_status(201, 'a tenant');
my $token = $instance->token('acme', 'admin');
$instance->combined($token)->put('/v2.0/acme/persistentvolumes/v1', json => { spec => { capacity => { storage => '1Gi' } } })->is_status(201, 'a volume');

# What counts: step_count() each request, metrics_process_value() when the worker gets busy, and idle again.
my $of = Tenure::Cost->new($instance)->request(endpoint => 'combined', path => '/v2.0/acme/persistentvolumes/v1', token => $token, requests => 20,
    parts => ['step_count'], beside => ['metrics_process_value']);
cmp_ok $of->{all},   '>', 10_000, 'instructions of a GET';
cmp_ok $of->{parts}, '>', 100,    'those that count for /metrics are among them';
cmp_ok $of->{parts} / $of->{all}, '<', 0.01, 'less than a hundredth of it';
note sprintf '%.0f instructions, %.0f of them to count: %.2f %%', $of->{all}, $of->{parts}, 100 * $of->{parts} / $of->{all};
done_testing;
