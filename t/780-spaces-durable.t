#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A watch is told of a change only once the watch process has committed something durable after reading it: a row can be read before
# it is durable. While that commit has to wait nobody is told anything; if it fails, clients are not told what it was about.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Watch;

my $instance = Tenure::Instance->start(combined => 1, auth => 'noauth', allow => [qr/log_horizon|lock wait|Lock wait/]);
$instance->combined('admin')->make_tenant('acme');
my $acme = $instance->combined('alice:acme');
my $maps = '/api/v1/namespaces/default/configmaps';

sub names { my ($watch) = @_; return [map { $_->{object}{metadata}{name} } @{ $watch->{events} }] }

my $watch = Tenure::Watch->new($instance->env('TENURE_COMBINED_URL'), 'alice:acme', $maps);
$acme->post($maps, json => { metadata => { name => 'first' } })->is_status(201, 'a change');
$watch->read_while(20, sub { !@{ $watch->{events} } });
is_deeply names($watch), ['first'], 'is told';

for my $name ('second', 'third') {
    # Each such commit writes this row.
    my $session = $instance->sql_locks('SELECT commits INTO @commits FROM log_horizon WHERE id = 1 FOR UPDATE');
    my $told    = @{ $watch->{events} };
    $acme->post($maps, json => { metadata => { name => $name } })->is_status(201, 'a change while no commit of the watch process succeeds');
    $watch->read_while(1.5, sub { @{ $watch->{events} } == $told });
    is scalar @{ $watch->{events} }, $told, 'is not told' or diag explain names($watch);
    close $session;
    $watch->read_while(20, sub { @{ $watch->{events} } == $told && !$watch->{over} });
    is names($watch)->[-1], $name, 'is told once one has';
}

done_testing;
