#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# An authenticator is one file and one row (doc/architecture.md, "Adding things"). This test adds one, t/additions/stamp.c with the
# row beside it, to a copy of the programs.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Addition qw(programs_with);

my $programs = programs_with(table => 'auth/core/authenticators.def', row => 't/additions/stamp.def', file => 't/additions/stamp.c');
plan skip_all => 'no build to add an authenticator to' if !defined $programs;
require Tenure::Instance;
my $instance = Tenure::Instance->start(combined => 1,
    settings => { 'endpoint combined.auth' => 'stamp, noauth', 'endpoint combined.stamp_tenant' => 'user' });
my $admin = $instance->combined('admin');
my $none  = $admin->as(undef);
$admin->make_tenant('acme');

$none->get('/v2.0/acme/configmaps')->is_status(401, 'nobody');
is $none->get('/v2.0/acme/configmaps')->header('www-authenticate'), 'Stamp realm="tenure"', 'asked for its credential';
$none->request('GET', '/v2.0/acme/configmaps', headers => { 'X-Stamp' => 'acme' })->is_status(200, 'which does');
$none->request('GET', '/v2.0/acme/configmaps', headers => { 'X-Stamp' => 'globex' })->is_status(404, 'of its tenant alone');
$none->request('GET', '/v2.0/acme/configmaps', headers => { 'X-Stamp' => '' })->is_problem(401, 'unauthenticated', 'one that is wrong');
$admin->get('/v2.0/acme/configmaps')->is_status(200, 'the next authenticator');
my ($code, $text) = $instance->manage('config', 'check');
is $code, 0, 'tenure-manage knows it' or diag $text;

done_testing;
