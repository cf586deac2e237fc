#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The console in a browser where there is much: what a list longer than a page has is found by text and labels, and so is the rest of the trash; the
# dashboard says where it has looked at a part.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Browser;
use Tenure::Instance;

Tenure::Browser::need();

my $instance = Tenure::Instance->start(workers => 3, settings => { 'tenure.session_idle' => 3600 });
my $admin    = $instance->admin;
my $ann      = $instance->service('ann:acme');
$admin->make_tenant('acme');
my %app = (app => 'web', db => 'db', zzz => 'web');
$ann->put("/v2.0/acme/namespaces/default/configmaps/$_", json => { metadata => { labels => { app => $app{$_} } } })->is_status(201) for sort keys %app;
$ann->put('/v2.0/acme/namespaces/default/configmaps/b', json => {})->is_status(201);

# Copies a row of a table, with other names.
sub copy {
    my ($table, $where, $name, $n) = @_;
    my @columns = map { $_->[0] } $instance->sql(qq{SELECT column_name FROM information_schema.columns
        WHERE table_schema = DATABASE() AND table_name = '$table' AND extra = '' AND column_name NOT IN ('uid', 'name')});
    $instance->sql("INSERT INTO $table (uid, name, " . join(', ', map {"`$_`"} @columns) . ") SELECT UNHEX(MD5(CONCAT('$table', $name))), $name, "
        . join(', ', map {"r.`$_`"} @columns) . " FROM $table r JOIN seq_1_to_$n s WHERE $where");
}
copy('resources', q{r.name = 'b'}, q{CONCAT('c', LPAD(s.seq, 6, '0'))}, 2500);
copy('tenants', q{r.name = 'acme'}, q{CONCAT('t-', s.seq)}, 1204);
$instance->sql(q{INSERT INTO tenant_counts (tenant_id) SELECT id FROM tenants WHERE name LIKE 't-%'});

# The tenant that has most is none of the first thousand.
$instance->sql(q{UPDATE tenant_counts SET resources = 5000 WHERE tenant_id = (SELECT id FROM tenants WHERE name = 't-999')});

# A full trash; and resources that one request moved, of which the log has a change each.
$admin->make_tenant('globex');
my $bob = $instance->service('bob:globex');
$bob->put("/v2.0/globex/namespaces/default/configmaps/$_", json => {})->is_status(201) for qw(gone moved);
$bob->delete('/v2.0/globex/namespaces/default/configmaps/gone')->is_status(204);
copy('resources', q{r.name = 'gone'}, q{CONCAT('g', LPAD(s.seq, 6, '0'))}, 150);
copy('resources', q{r.name = 'moved'}, q{CONCAT('m', LPAD(s.seq, 6, '0'))}, 1200);
$instance->sql(q(INSERT INTO changes (request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision, etag_after, moves,
    bytes_before, bytes_after) SELECT UNHEX(MD5('moved')), UTC_TIMESTAMP(6), 'admin', 'moved', tenant_id, id, uid, type_id, namespace, name, 1, etag, 1, bytes, bytes
    FROM resources WHERE name LIKE 'm0%'));

Tenure::Browser::play('find', { url => $admin->url, service => $instance->service(undef)->url, origins => [ $instance->service(undef)->url ],
    operator => 'admin', user => 'ann:acme' });
$instance->stop;
done_testing;
