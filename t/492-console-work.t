#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Working with the console: two windows change one document, a session ends amid it, another user signs in in another tab, no mouse, a phone, dark, a long list.
# TENURE_CONSOLE_ROWS=100000: how long the list is.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Browser;
use Tenure::Instance;

Tenure::Browser::need();

my $rows     = $ENV{TENURE_CONSOLE_ROWS} // 5000;
my $instance = Tenure::Instance->start(workers => 3);
my $admin    = $instance->admin;
$admin->make_tenant($_) for qw(acme long);
my $ann = $instance->service('ann:acme');
$ann->put('/v2.0/acme/namespaces/default/configmaps/app', json => { data => { color => 'blue', size => 'small', place => 'here' } });
$ann->put('/v2.0/acme/namespaces/default/configmaps/other', json => { data => { a => 'b' } });
$admin->put('/v2.0/long/namespaces/default/configmaps/seed', json => { data => {} });

# Copies of that row: requests would take minutes.
my @copied = grep { !/\A(?:id|uid|name)\z/ } map { $_->[0] } $instance->sql(q(SELECT column_name FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'resources' AND generation_expression IS NULL));
my $columns = join ', ', @copied;
$instance->sql("INSERT INTO resources (uid, name, $columns) SELECT UNHEX(MD5(seq)), CONCAT('row-', LPAD(seq, 6, '0')), "
    . join(', ', map { "r.$_" } @copied) . " FROM resources r JOIN seq_1_to_$rows WHERE r.name = 'seed'");

Tenure::Browser::play('work', { url => $admin->url, service => $instance->service(undef)->url, origins => [ $instance->service(undef)->url ],
    operator => 'admin', user => 'ann:acme', other => 'bob:acme', rows => $rows + 1 });
is $instance->sql_value(q(SELECT COUNT(*) FROM changes WHERE actor = 'bob')), 0, 'nothing was changed as a user who signed in in another tab';
is $instance->sql_value(q(SELECT COUNT(DISTINCT id) FROM sessions)) > 0, 1, 'sessions were in the database';
$instance->stop;
done_testing;
