#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Recovery of resources: the last one, by uid, a taken name, a missing namespace, the quota, whole namespaces.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start;
my $admin    = $instance->admin;
$admin->make_tenant('t1');
my $t1 = '/v2.0/t1';

subtest 'as it was' => sub {
    my $url = "$t1/persistentvolumes/p1";
    $admin->make($url, { a => [1, 2.50], metadata => { labels => { l => 'v' } } });
    $admin->put($url, json => { a => [3], metadata => { labels => { l => 'w' } } });
    my $before = $admin->get($url);
    $admin->post("$url/action/recover")->is_problem(404, 'not_found', 'nothing to recover while it lives');
    my $delete = $admin->delete($url);
    $delete->is_status(204);
    my ($row) = $instance->changes_of($delete);
    is "$row->{verb} $row->{type}/$row->{name}", 'deleted persistentvolumes/p1', 'the change row of the deletion';
    is "W/\"$row->{etag_before}\"", $before->etag, 'the etag before';
    is $row->{etag_after}, undef, 'none after';
    my $recover = $admin->post("$url/action/recover");
    $recover->is_status(204);
    my $after = $admin->get($url);
    is $after->text, $before->text, 'uid, etag, revision, document: all the same';
    is_deeply [map { "$_->{verb} $_->{name}" } $instance->changes_of($recover)], ['recovered p1'], 'one change row';
    $admin->post("$url/action/recover")->is_problem(404, 'not_found', 'not twice');
    is $admin->get($t1)->json->{tenant}{resources}, 1, 'it counts again';
};

subtest 'on the condition of what it was' => sub {
    my $url = "$t1/persistentvolumes/guarded";
    my $etag = $admin->make($url, { a => 1 })->etag;
    $admin->delete($url)->is_status(204);
    $admin->post("$url/action/recover", if_match => 'W/"00"')->is_problem(412, 'stale', 'another etag');
    $admin->get($url)->is_status(410, 'it stays deleted');
    $admin->post("$url/action/recover", if_match => $etag)->is_status(204, 'the etag it was deleted with');
    is $admin->get($url)->etag, $etag, 'is the one it has again';
    $admin->delete($url)->is_status(204);
};

subtest 'several at one address' => sub {
    my $url = "$t1/namespaces/default/configmaps/c";
    my @uid;
    for my $n (1 .. 3) {
        push @uid, $admin->make($url, { n => $n })->json->{metadata}{uid};
        $admin->delete($url)->is_status(204);
    }
    $admin->post("$url/action/recover")->is_status(204, 'without uid');
    is $admin->get($url)->json->{n}, 3, 'the one deleted last comes back';
    $admin->post("$url/action/recover?uid=$uid[0]")->is_problem(409, 'name_taken', 'its name is taken then');
    is $admin->get($url)->json->{n}, 3, 'and nothing happens';
    $admin->delete($url)->is_status(204);
    $admin->post("$url/action/recover?uid=$uid[0]")->is_status(204, 'by uid');
    is $admin->get($url)->json->{n}, 1, 'that one';
    $admin->delete($url)->is_status(204);
    $admin->post("$t1/namespaces/default/configmaps/other/action/recover?uid=$uid[0]")
        ->is_problem(404, 'not_found', 'a uid of another address is none here');
    $admin->post("$url/action/recover?uid=00000000-0000-4000-8000-000000000000")->is_problem(404, 'not_found', 'an unknown uid');
    $admin->make($url, { n => 'new' });
    $admin->post("$url/action/recover")->is_problem(409, 'name_taken', 'without uid, when a new one lives there');
};

subtest 'a namespace with what is in it' => sub {
    my $space = "$t1/namespaces/n1";
    my $uid   = $admin->make($space)->json->{metadata}{uid};
    $admin->make("$space/configmaps/$_", { n => $_ }) for 'a', 'b', 'early';
    $admin->delete("$space/configmaps/early")->is_status(204, 'one goes on its own before');
    my $before = $admin->get("$space/configmaps")->text;
    my $count  = $admin->get($t1)->json->{tenant}{resources};
    my $delete = $admin->delete($space);
    $delete->is_status(204);
    is_deeply [sort map { "$_->{verb} $_->{name}" } $instance->changes_of($delete)], ['deleted a', 'deleted b', 'deleted n1'],
        'a change row for each';
    is $admin->get($t1)->json->{tenant}{resources}, $count - 3, 'none is counted';
    $admin->post("$space/configmaps/a/action/recover")->is_problem(409, 'conflict', 'one of them alone has no place to come back to');
    $admin->make($space, { n => 'another' });
    $admin->post("$space/configmaps/a/action/recover")->is_status(204, 'but in another namespace of that name');
    $admin->post("$space/action/recover")->is_problem(409, 'name_taken', 'the old one cannot come back beside it');
    $admin->delete($space)->is_status(204);
    $admin->post("$space/action/recover?uid=$uid")->is_status(204, 'the first one, by uid');
    is_deeply [map { $_->{metadata}{name} } @{ $admin->get("$space/configmaps")->json->{resources} }], ['b'],
        'brings back what went with it and did not come back before';
    $admin->get("$space/configmaps/early")->is_problem(410, 'gone', 'not what was deleted on its own');
    ok length $before, 'there was something';
};

subtest 'the quota holds' => sub {
    $instance->manage('tier', 'set', 'two', '--max-resources', '2');
    $admin->make_tenant('small', tier => 'two');
    $admin->make("/v2.0/small/persistentvolumes/$_") for 'a', 'b';
    $admin->delete('/v2.0/small/persistentvolumes/a')->is_status(204);
    $admin->make('/v2.0/small/persistentvolumes/c');
    $admin->post('/v2.0/small/persistentvolumes/a/action/recover')->is_problem(409, 'over_quota');
    $admin->get('/v2.0/small/persistentvolumes/a')->is_status(410, 'it stays deleted');
    $admin->delete('/v2.0/small/persistentvolumes/c')->is_status(204);
    $admin->post('/v2.0/small/persistentvolumes/a/action/recover')->is_status(204, 'when there is room');
};

subtest 'after the purge time' => sub {
    my $url = "$t1/persistentvolumes/late";
    $admin->make($url);
    $admin->delete($url)->is_status(204);
    $instance->sql(q(UPDATE resources SET purge_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE name = 'late'));
    $admin->get($url)->is_problem(404, 'not_found', 'it is no more');
    $admin->post("$url/action/recover")->is_problem(404, 'not_found', 'nor can it be recovered');
    ok !(grep { $_->{metadata}{name} eq 'late' } @{ $admin->get("$t1/persistentvolumes?deleted=true")->json->{resources} }), 'nor listed';
};

subtest 'who took the place of one that moved' => sub {
    $admin->make_tenant('t2');
    my $url = "$t1/persistentvolumes/m";
    $admin->make($url, { n => 1 });
    $admin->delete($url)->is_status(204);
    $admin->make($url, { n => 2 });
    $admin->post("$url/action/move?dest=t2")->is_status(303);
    $admin->get($url)->is_status(301, 'the address leads away');
    $admin->post("$url/action/recover")->is_status(204, 'an older one is recovered');
    is $admin->get($url)->json->{n}, 1, 'and the address is its again';
};

# The change rows of a large recovery are written in chunks of 2,000, so that others need not wait long for the log.
subtest 'in chunks' => sub {
    my $many = 4_500;
    $admin->make_tenant('large');
    $admin->make('/v2.0/large/namespaces/n', {});
    $instance->fill('large', 'configmaps', $many, namespace => 'n');
    my $id = $instance->tenant_id('large');
    my $count = $admin->get('/v2.0/large')->json->{tenant}{resources};
    $admin->delete('/v2.0/large/namespaces/n')->is_status(202, 'deleted in the background');
    ok Tenure::Instance::wait_until(sub { $admin->get('/v2.0/large')->json->{tenant}{resources} == $count - $many - 1 }, 60), 'with all in it';
    my $recover = $admin->post('/v2.0/large/namespaces/n/action/recover');
    $recover->is_status(204, 'recovered');
    my $rows = "FROM changes WHERE tenant_id = $id AND verb = 'recovered'";
    is $instance->sql_value("SELECT COUNT(*) $rows"), $many + 1, 'a change row for each';
    is $instance->sql_value("SELECT COUNT(DISTINCT resource_id) $rows"), $many + 1, 'once';
    is $instance->sql_value("SELECT COUNT(DISTINCT request_id) $rows"), 1, 'of one request';
    is $instance->sql_value("SELECT COUNT(*) FROM resources r WHERE r.tenant_id = $id AND r.live = 1 AND r.deletion IS NULL AND r.namespace = 'n'
        AND r.changed = (SELECT MAX(x.id) FROM changes x WHERE x.resource_id = r.id)"), $many, 'each is live, and knows its last change';
    is $admin->get('/v2.0/large')->json->{tenant}{resources}, $count, 'they count again';
};

done_testing;
