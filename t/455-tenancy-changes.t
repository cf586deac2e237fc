#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The change log: one row for each change, committed with it, with who, whose, which request, and the etags.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;
$admin->make_tenant($_) for 't1', 't2';
my $ann = $instance->service('ann:t1:member');
my $url = '/v2.0/t1/namespaces/default/configmaps/c1';

# The one change row of a request, its etags in the form of the ETag header.
sub change {
    my ($response) = @_;
    my @rows = $instance->changes_of($response);
    is scalar @rows, 1, "$response->{what}: one change row" or return {};
    defined and $_ = qq(W/"$_") for @{ $rows[0] }{ 'etag_before', 'etag_after' };
    return $rows[0];
}

sub is_row {
    my ($row, %want) = @_;
    my %got = map { $_ => $row->{$_} } keys %want;
    return is_deeply \%got, \%want, 'says what happened';
}

my %at = (type => 'configmaps', namespace => 'default', name => 'c1', tenant => 't1', from_tenant => undef);

my $put = $ann->put($url, json => { n => 1 });
is_row(change($put), %at, verb => 'created', actor => 'ann', revision => 1, etag_before => undef, etag_after => $put->etag);

my $again = $ann->put($url, json => { n => 2 });
is_row(change($again), %at, verb => 'updated', actor => 'ann', revision => 2, etag_before => $put->etag, etag_after => $again->etag);

my $patch = $instance->service('bob:t1:admin')->patch($url, { n => 3 });
is_row(change($patch), %at, verb => 'updated', actor => 'bob', revision => 3, etag_before => $again->etag, etag_after => $patch->etag);

my $move = $admin->post("$url/action/move?dest=t2");
is_row(change($move), %at, verb => 'moved', actor => 'admin', tenant => 't2', from_tenant => 't1', revision => 4,
    etag_before => $patch->etag, etag_after => $patch->etag);

my $delete = $admin->delete('/v2.0/t2/namespaces/default/configmaps/c1');
is_row(change($delete), %at, verb => 'deleted', tenant => 't2', etag_before => $patch->etag, etag_after => undef);

my $recover = $admin->post('/v2.0/t2/namespaces/default/configmaps/c1/action/recover');
is_row(change($recover), %at, verb => 'recovered', tenant => 't2', etag_before => undef, etag_after => $patch->etag);

subtest 'what changes nothing leaves none' => sub {
    my $count = $instance->change_count;
    $ann->get($url);
    $ann->put($url, json => {}, if_match => '"stale"')->is_status(412);
    $ann->put('/v2.0/t1/persistentvolumes/x', body => '{', type => 'application/json')->is_status(400);
    $admin->post("/v2.0/t2/namespaces/default/configmaps/c1/action/move?dest=nobody")->is_status(404);
    $admin->post('/v2.0/t2/namespaces/default/configmaps/c1/action/move?dest=t2')->is_status(409);
    $admin->get('/v2.0/t2/action/move?dest=t1')->is_status(200);
    $admin->post('/v2.0/t1/action/move?dest=t2')->is_status(303, 'moving nothing');
    is $instance->change_count, $count, 'no row';
};

subtest 'a move of many' => sub {
    $admin->make("/v2.0/t1/persistentvolumes/p$_") for 1 .. 10;
    my $post = $admin->post('/v2.0/t1/action/move?dest=t2');
    $post->is_status(303);
    my @rows = $instance->changes_of($post);
    is scalar @rows, 10, 'a row for each';
    is_deeply [sort map { $_->{name} } @rows], [sort map { "p$_" } 1 .. 10], 'each once';
    ok !(grep { $_->{verb} ne 'moved' || $_->{from_tenant} ne 't1' || $_->{tenant} ne 't2' || $_->{etag_before} ne $_->{etag_after} } @rows),
        'from where to where';
};

subtest 'the log tells the whole story' => sub {
    my @broken = $instance->sql(<<'SQL');
SELECT c.uid FROM changes c JOIN changes p ON p.uid = c.uid AND p.id = (SELECT MAX(id) FROM changes WHERE uid = c.uid AND id < c.id)
WHERE c.etag_before IS NOT NULL AND p.etag_after IS NOT NULL AND c.etag_before <> p.etag_after
SQL
    is scalar @broken, 0, 'each etag before is the etag after of the change before';
    is $instance->sql_value(<<'SQL'), 0, 'and the last one that of the resource';
SELECT COUNT(*) FROM resources r JOIN changes c ON c.resource_id = r.id AND c.id = (SELECT MAX(id) FROM changes WHERE resource_id = r.id)
WHERE r.live IS NOT NULL AND c.etag_after <> r.etag
SQL
    is $instance->sql_value('SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id '
        . "WHERE NOT EXISTS (SELECT 1 FROM changes c WHERE c.resource_id = r.id) AND t.name <> 'system'"), 0,
        'no resource is without one, but for what was there before anything changed';
};

subtest 'request ids' => sub {
    my $forged = $ann->put($url, json => { n => 4 }, headers => { 'X-Request-Id' => '00000000-0000-4000-8000-000000000000' });
    isnt $forged->request_id, '00000000-0000-4000-8000-000000000000', 'are the server\'s, not the client\'s';
    change($forged);
};

subtest 'the access log' => sub {
    my $get = $ann->get($url);
    my $line = $instance->access_line('service', $get);
    ok $line, 'has a line for each request' or return;
    like $line, qr/\A127\.0\.0\.1 - ann \[[^]]+\] "GET \Q$url\E HTTP\/1\.\d" 200 \d+ "[^"]*" "[^"]*" /, 'in the combined form';
    like $line, qr/ service OK 1 "t1"\z/i, 'with endpoint, outcome, tries and, last and quoted, the tenant';
    like $instance->access_line('service', $ann->get('/apis')), qr/ "t1"\z/, 'where the address names none, the tenant of who asked';
    like $instance->access_line('service', $ann->get('/v2.0/t2/persistentvolumes/x')), qr/ "t1"\z/, 'another one that the address names is not charged for it';
    like $instance->access_line('admin', $admin->get('/v2.0')), qr/ "-"\z/, 'an operator of no tenant asks for none';
    like $instance->access_line('admin', $admin->put('/v2.0/' . '%22%20evil%22')), qr/"[^"]*evil[^"]*"\z/, 'in which no id can break out of its quotes';
};

done_testing;
