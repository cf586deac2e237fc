#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A registry on one server gets a replica later: `tenure-manage cluster switch` with the primary's name makes it the writer, as
# doc/operations.md says of a registry that is there already.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Replicas;

my $servers  = Tenure::Replicas->start;
my %settings = $servers->settings;
my $instance = Tenure::Instance->start(workers => 1, settings => { %settings, 'database.host' => $servers->host(1) },
    allow => [qr/connection lost/, qr/does not answer/, qr/the writer/, qr/replica/]);
my $admin = $instance->admin;
$admin->make_tenant('acme');
is $servers->value(1, 'SELECT COALESCE(MAX(epoch), 0) FROM writer', 'tenure'), 0, 'one server needs no writer';

my ($code, $text) = $instance->manage('cluster', 'switch', $servers->host(1));
isnt $code, 0, 'nor can one be named' or diag $text;
like $text, qr/host/, 'since [database] host has one server' or diag $text;

$instance->{option}{settings}{'database.host'} = $settings{'database.host'};
($code, $text) = $instance->manage('cluster', 'status');
is $code, 1, 'with two of them there is no writer yet' or diag $text;
($code, $text) = $instance->manage('cluster', 'switch', $servers->host(1));
is $code, 0, 'cluster switch with the name of the primary' or diag $text;
($code, $text) = $instance->manage('cluster', 'status');
is $code, 0, 'makes it the writer' or diag $text;
like $text, qr/^\Q${\ $servers->host(1) }\E +\S+ +writer /m, '... which status shows';
is $servers->value(1, 'SELECT @@read_only'), 0, '... and takes changes';
is $servers->value(2, 'SELECT @@read_only'), 1, '... and the other one takes none';
is $servers->value(1, 'SELECT @@rpl_semi_sync_master_enabled'), 1, '... and gives receipts';
$admin->put('/v2.0/acme/persistentvolumes/after', json => {})->is_status(201, 'workers that know one server go on');
is(($instance->manage('doctor'))[0], 0, 'the database is sound');

($code, $text) = $instance->manage('cluster', 'switch', $servers->host(2));
is $code, 0, 'from then on there can be another one' or diag $text;
is $servers->value(2, 'SELECT COUNT(*) FROM resources WHERE name = "after"', 'tenure'), 1, '... which has all of it';

done_testing;
