#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a 412 tells: the current etag, who changed it last and when, and which fields differ from what the client read. And the
# feed of changes, which tells the same as it happens.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start;
my $admin    = $instance->admin;
$admin->make_tenant($_) for 't1', 't2';
my ($ann, $bob) = map { $instance->service("$_:t1:member") } 'ann', 'bob';
my $url  = '/v2.0/t1/namespaces/default/configmaps/c1';
my $time = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/;

# fields: undef when none must be told.
sub is_stale {
    my ($answer, $name, %want) = @_;
    $answer->is_problem(412, 'stale', $name) or return;
    my $problem = $answer->json;
    is $problem->{etag}, $want{etag}, 'names the current etag';
    is $problem->{changed_by}, $want{by}, 'who';
    like $problem->{changed_at}, $time, 'when';
    is_deeply defined $problem->{fields} ? [sort @{ $problem->{fields} }] : undef, $want{fields}, 'in which fields';
    return;
}

sub bare { return $_[0]->etag =~ s/"//gr }

my $v1 = $ann->put($url, json => { data => { color => 'blue', size => 'L' }, kind => 'x' });
my $v2 = $bob->patch($url, { data => { color => 'red' } });
my $v3 = $ann->patch($url, { metadata => { labels => { env => 'test' } }, data => { size => undef } });

subtest 'a resource' => sub {
    my @all = ('/data/color', '/data/size', '/metadata/labels');
    is_stale($bob->put($url, json => {}, if_match => $v1->etag), 'PUT with the first version', etag => bare($v3), by => 'ann', fields => \@all);
    is_stale($bob->patch($url, {}, if_match => $v2->etag), 'PATCH with the second', etag => bare($v3), by => 'ann', fields => [@all[1, 2]]);
    is_stale($bob->delete($url, if_match => $v2->etag), 'DELETE', etag => bare($v3), by => 'ann', fields => [@all[1, 2]]);
    is_stale($bob->get($url, if_match => $v2->etag), 'GET', etag => bare($v3), by => 'ann', fields => [@all[1, 2]]);
    is_stale($bob->put($url, json => {}, if_match => '"' . '0' x 128 . '"'), 'a tag that nobody knows', etag => bare($v3), by => 'ann', fields => undef);
    is_stale($bob->put($url, json => {}, if_match => '"0"'), 'a tag that is none of ours', etag => bare($v3), by => 'ann', fields => undef);
    is_stale($bob->put($url, json => {}, if_none_match => '*'), 'If-None-Match', etag => bare($v3), by => 'ann', fields => undef);
    my $list = join ', ', '"x"', $v1->etag, $v2->etag;
    is_stale($bob->put($url, json => {}, if_match => $list), 'the newest of several', etag => bare($v3), by => 'ann', fields => [@all[1, 2]]);
    my $xml = $bob->put($url, json => {}, if_match => $v2->etag, accept => 'application/xml');
    like $xml->text, qr{<changed_by>ann</changed_by>.*<fields>\s*<field>/data/size</field>\s*<field>/metadata/labels</field>\s*</fields>}s, 'in XML';
};

subtest 'A to B to A' => sub {
    my $a = $ann->put($url, json => { v => 'A' });
    $bob->put($url, json => { v => 'B' });
    my $again = $ann->put($url, json => { v => 'A' });
    is_stale($bob->put($url, json => {}, if_match => $a->etag), 'what was changed in between', etag => bare($again), by => 'ann', fields => ['/v']);
};

subtest 'moved, deleted, recovered' => sub {
    my $before = $ann->get($url);
    my $after  = $bob->patch($url, { w => 1 });
    $admin->post("$url/action/move?dest=t2")->is_status(303);
    my $there = '/v2.0/t2/namespaces/default/configmaps/c1';
    is_stale($admin->put($there, json => {}, if_match => $before->etag), 'after a move', etag => bare($after), by => 'bob', fields => ['/w']);
    $admin->delete($there)->is_status(204);
    $admin->post("$there/action/recover")->is_status(204);
    is_stale($admin->put($there, json => {}, if_match => $before->etag), 'after a recovery', etag => bare($after), by => 'bob', fields => ['/w']);
    $admin->put($there, json => { y => 1 }, if_match => $after->etag)->is_status(200, 'these kept its etag');
    $admin->delete($there);
    my $new = $admin->make($there, {});
    is_stale($admin->put($there, json => {}, if_match => $after->etag), 'another one of its name', etag => bare($new), by => 'admin', fields => undef);
};

subtest 'what another tenant did before a move' => sub {
    my $here   = '/v2.0/t1/namespaces/default/configmaps/away';
    my $there  = '/v2.0/t2/namespaces/default/configmaps/away';
    my $carol  = $instance->service('carol:t2:member');
    my $stale  = sub {
        my ($answer, $name, %want) = @_;
        $answer->is_problem(412, 'stale', $name) or return;
        is $answer->json->{changed_by}, $want{by}, defined $want{by} ? 'who' : 'not who';
        is defined $answer->json->{changed_at}, defined $want{by}, 'nor when, without who';
        is_deeply $answer->json->{fields}, $want{fields}, 'the fields';
        return;
    };
    my $first = $ann->put($here, json => { a => 1 });
    my $last  = $ann->patch($here, { b => 1 });
    $admin->post("$here/action/move?dest=t2")->is_status(303);
    $stale->($carol->get($there, if_match => '"0"'), 'the new tenant is not told who wrote it in the former one');
    $stale->($carol->put($there, json => {}, if_match => $first->etag), '... nor in which fields');
    $stale->($admin->get($there, if_match => $first->etag), 'an operator is', by => 'ann', fields => ['/b']);
    my $carols = $carol->patch($there, { c => 1 });
    $stale->($carol->get($there, if_match => $last->etag), 'its own changes are told', by => 'carol', fields => ['/c']);
    $stale->($carol->get($there, if_match => $first->etag), '... but no fields, if there are others behind the tag', by => 'carol');
    $admin->post("$there/action/move?dest=t1")->is_status(303);
    $stale->($ann->get($here, if_match => $last->etag), 'back again, the first tenant is not told either');
    $stale->($admin->get($here, if_match => $last->etag), 'an operator is', by => 'carol', fields => ['/c']);
    my $anns = $ann->patch($here, { d => 1 });
    $stale->($ann->get($here, if_match => $last->etag), 'after its own change it is told of that', by => 'ann');
    $stale->($ann->get($here, if_match => $carols->etag), '... with the fields since then', by => 'ann', fields => ['/d']);
};

subtest 'a log without fields' => sub {
    my $old  = $ann->put($url, json => { n => 1 });
    my $mid  = $ann->put($url, json => { n => 2 });
    my $last = $bob->put($url, json => { n => 3, m => 1 });
    $instance->sql("UPDATE changes SET fields = NULL WHERE etag_after = UNHEX('" . (bare($mid) =~ s/W\///r) . "')");
    is_stale($ann->put($url, json => {}, if_match => $old->etag), 'half the truth is not told', etag => bare($last), by => 'bob', fields => undef);
    is_stale($ann->put($url, json => {}, if_match => $mid->etag), 'the rest is', etag => bare($last), by => 'bob', fields => ['/m', '/n']);
};

subtest 'many fields' => sub {
    my $old = $ann->put($url, json => {});
    $ann->patch($url, { map { ("a$_" => 1) } 1 .. 40 });
    my $new = $ann->patch($url, { map { ("b$_" => 1) } 1 .. 40 });
    is_stale($ann->put($url, json => {}, if_match => $old->etag), 'more than are listed', etag => bare($new), by => 'ann', fields => ['']);
};

subtest 'a tenant' => sub {
    my $old = $admin->get('/v2.0/t2');
    $admin->patch('/v2.0/t2', { tenant => { metadata => { city => 'Bonn' } } });
    $admin->patch('/v2.0/t2', { tenant => { tier => 'gold' } });
    my $now = $admin->get('/v2.0/t2');
    my @fields = ('/metadata/city', '/tier');
    is_stale($admin->put('/v2.0/t2', json => { tenant => {} }, if_match => $old->etag), 'PUT', etag => bare($now), by => 'admin', fields => \@fields);
    is_stale($admin->patch('/v2.0/t2', {}, if_match => $old->etag), 'PATCH', etag => bare($now), by => 'admin', fields => \@fields);
    is_stale($admin->delete('/v2.0/t2', if_match => $old->etag), 'DELETE', etag => bare($now), by => 'admin', fields => \@fields);
};

subtest 'the feed' => sub {
    $admin->make_tenant('f', metadata => { a => '1' });
    my $feed  = '/v2.0/f/changes';
    my $carol = $instance->service('carol:f:member');
    my $path  = '/v2.0/f/namespaces/default/configmaps/c';
    my $made  = $carol->put($path, json => { data => { n => 1 } });
    my $changed = $carol->patch($path, { data => { n => 2 } });
    $carol->delete($path);
    $carol->post("$path/action/recover");
    my $all = $carol->get($feed);
    $all->is_status(200);
    my @rows = @{ $all->json->{changes} };
    is_deeply [map { $_->{verb} } @rows], [qw(created created created updated deleted recovered)], 'what happened, in order';
    is_deeply [map { $_->{resource} } @rows], ['namespaces/default', undef, ('namespaces/default/configmaps/c') x 4], 'to what: the second row is the tenant itself';
    is_deeply [map { $_->{actor} } @rows], ['admin', 'admin', ('carol') x 4], 'by whom';
    my $row = $rows[3];
    is_deeply $row, { id => $row->{id}, at => $row->{at}, actor => 'carol', request_id => $changed->request_id, verb => 'updated',
        resource => 'namespaces/default/configmaps/c', uid => $made->json->{metadata}{uid}, revision => 2,
        etag_before => bare($made), etag_after => bare($changed), fields => ['/data/n'] }, 'a whole row';
    like $row->{at}, $time, 'its time';
    ok !exists $rows[2]{etag_before} && !exists $rows[2]{fields}, 'of a new one nothing was before';
    ok !exists $rows[4]{etag_after}, 'of a deleted one nothing is after';

    is_deeply [$carol->list("$feed?limit=2", 'changes')], \@rows, 'by pages it is the same';
    is_deeply $carol->get("$feed?after=$rows[3]{id}")->json->{changes}, [@rows[4, 5]], 'after: what is new';
    is_deeply $carol->get("$feed?after=$rows[5]{id}")->json, { changes => [], upto => $rows[5]{id} }, 'nothing is';
    is $carol->get("$feed?after=0&before=0")->json->{upto}, 0, 'nothing is before all';
    $_->is_problem(410, 'gone', 'after a change that never was') for $carol->get("$feed?after=" . ($rows[5]{id} + 1_000_000)), $admin->get('/v2.0/all/changes?after=' . ($rows[5]{id} + 1_000_000));
    my $xml = $carol->get($feed, accept => 'application/xml');
    like $xml->text, qr{<changes upto="$rows[5]{id}">\s*<change id="\d+" at="[^"]+" actor="admin" .*<field>/data/n</field>.*</changes>}s, 'in XML';
    like $admin->get('/v1.0/f/changes?limit=1')->json->{next}, qr{/v1\.0/f/changes\?after=\d+&limit=1\z}, 'v1.0 stays in v1.0';

    $instance->service('dave:f:reader')->get($feed)->is_status(200, 'readers may');
    $instance->service('eve:t1:admin')->get($feed)->is_problem(404, 'not_found', 'of another tenant nobody may');
    $carol->get("$feed?after=-1")->is_problem(400, 'bad_parameter', 'after is a number');
    $carol->get("$feed?limit=0")->is_problem(400, 'bad_parameter', 'so is limit');
    $carol->get("$feed?limit=1001")->is_problem(400, 'bad_parameter', 'up to a thousand');
    $carol->get("$feed?beyond=1")->is_problem(400, 'bad_parameter', 'nothing else');
    my $count = $instance->change_count;
    $carol->get($feed);
    is $instance->change_count, $count, 'reading leaves nothing behind';
    $admin->get('/v2.0/nobody/changes')->is_problem(404, 'not_found', 'no tenant');
    $admin->delete('/v2.0/f');
    $admin->get($feed)->is_problem(410, 'gone', 'a deleted tenant');
};

done_testing;
