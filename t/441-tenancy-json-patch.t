#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# PATCH in both its forms, of resources and of tenants.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start;
my $admin    = $instance->admin;
$admin->make_tenant('t1');
my $url = '/v2.0/t1/namespaces/default/configmaps/c1';

my $codec = JSON::PP->new->utf8->canonical->allow_nonref;

sub json_patch {
    my ($path, $operations, %option) = @_;
    my $body = ref $operations ? $codec->encode($operations) : $operations;
    return $admin->request('PATCH', $path, body => $body, type => 'application/json-patch+json', %option);
}

subtest 'the six operations' => sub {
    my $made  = $admin->make($url, { data => { a => 1, list => [1, 2, 3] } });
    my $patch = json_patch($url, [
        { op => 'test',    path => '/data/a',              value => JSON::PP->new->allow_nonref->decode('1.0') },
        { op => 'add',     path => '/data/b~1c',           value => 'x' },
        { op => 'replace', path => '/data/a',              value => 2 },
        { op => 'move',    from => '/data/list/0',         path  => '/data/list/-' },
        { op => 'copy',    from => '/data/a',              path  => '/data/copy' },
        { op => 'add',     path => '/metadata/labels',     value => {} },
        { op => 'add',     path => '/metadata/labels/env', value => 'test' },
        { op => 'remove',  path => '/data/list/0' },
    ]);
    $patch->is_status(200);
    is_deeply $patch->json->{data}, { a => 2, 'b/c' => 'x', list => [3, 1], copy => 2 }, 'all done, in order';
    is_deeply $patch->json->{metadata}{labels}, { env => 'test' }, 'in metadata, too';
    is $patch->json->{metadata}{resourceVersion}, 2, 'one revision';
    isnt $patch->etag, $made->etag, 'a new etag';
    is $admin->get($url)->text, $patch->text, 'as it is stored';
    my $same = json_patch($url, [{ op => 'replace', path => '/data/a', value => 2 }]);
    is $same->etag, $patch->etag, 'what changes nothing keeps it';
    json_patch($url, [])->is_status(200, 'no operation at all');
};

subtest 'what the server owns' => sub {
    my $now  = $admin->get($url);
    my $etag = $now->json->{metadata}{etag};
    json_patch($url, [{ op => 'test', path => '/metadata/etag', value => $etag }, { op => 'add', path => '/data/t', value => 1 }])
        ->is_status(200, 'can be tested');
    json_patch($url, [{ op => 'test', path => '/metadata/etag', value => $etag }, { op => 'add', path => '/data/u', value => 1 }])
        ->is_problem(409, 'conflict', 'and fails once it is another');
    my $uid = json_patch($url, [{ op => 'replace', path => '/metadata/uid', value => 'x' }]);
    $uid->is_status(200);
    is $uid->json->{metadata}{uid}, $now->json->{metadata}{uid}, 'but not be set';
    json_patch($url, [{ op => 'replace', path => '/metadata/name', value => 'x' }])
        ->is_problem(400, 'bad_document', 'a name that contradicts the address');
};

subtest 'refusals' => sub {
    my $before = $admin->get($url);
    my $count  = $instance->change_count;
    for my $case (
        [409, 'conflict', 'a test that fails', [{ op => 'add', path => '/data/n', value => 1 }, { op => 'test', path => '/data/a', value => 9 }]],
        [409, 'conflict', 'a path that is not there', [{ op => 'remove', path => '/data/none' }]],
        [409, 'conflict', 'a parent that is not there', [{ op => 'add', path => '/x/y', value => 1 }]],
        [409, 'conflict', 'an index behind the end', [{ op => 'add', path => '/data/list/9', value => 1 }]],
        [409, 'conflict', 'an index with a zero in front', [{ op => 'add', path => '/data/list/00', value => 1 }]],
        [413, 'body_too_large', 'a copy bomb', [{ op => 'add', path => '/bomb', value => [1] }, map { { op => 'copy', from => '/bomb', path => '/bomb/-' } } 1 .. 60]],
        [400, 'bad_document', 'the root replaced by what is no resource', [{ op => 'replace', path => '', value => [1] }]],
        [400, 'bad_document', 'an unknown operation', [{ op => 'increment', path => '/data/a' }]],
        [400, 'bad_document', 'no value', [{ op => 'add', path => '/data/a' }]],
        [400, 'bad_document', 'a path that is none', [{ op => 'remove', path => 'data' }]],
        [400, 'bad_document', 'into its own child', [{ op => 'move', from => '/data', path => '/data/a' }]],
        [400, 'bad_document', 'a merge patch', { data => { a => 3 } }],
        [400, 'bad_document', 'no JSON', '[{'],
        [400, 'bad_document', 'op twice', '[{"op":"add","path":"/baz","value":"qux","op":"remove"}]'],
    ) {
        my ($status, $outcome, $name, $patch) = @$case;
        json_patch($url, $patch)->is_problem($status, $outcome, $name);
    }
    like json_patch($url, [{ op => 'add', path => '/z', value => 1 }, { op => 'remove', path => '/none' }])->detail,
        qr/operation 1 .*"\/none"/, 'the error names operation and path';
    is $admin->get($url)->text, $before->text, 'nothing changed';
    is $instance->change_count, $count, 'no change row';
    json_patch('/v2.0/t1/persistentvolumes/none', [])->is_problem(404, 'not_found', 'PATCH makes nothing');
    my $wrong = $admin->request('PATCH', $url, body => '<map/>', type => 'application/xml');
    $wrong->is_status(415);
    like $wrong->header('accept-patch'), qr{application/json-patch\+json}, 'Accept-Patch offers it';
};

subtest 'preconditions' => sub {
    my $etag = $admin->get($url)->etag;
    json_patch($url, [{ op => 'add', path => '/data/p', value => 1 }], if_match => $etag)->is_status(200);
    json_patch($url, [{ op => 'add', path => '/data/p', value => 2 }], if_match => $etag)->is_problem(412, 'stale');
    json_patch($url, [{ op => 'remove', path => '/none' }], if_match => $etag)->is_problem(412, 'stale', '412 comes before what is wrong with it');
};

for my $words (['v1.0', 'account'], ['v2.0', 'tenant']) {
    my ($version, $one) = @$words;
    subtest "PATCH of a tenant, $version" => sub {
        my $tenant = "/$version/patched-$one";
        $admin->put($tenant, json => { $one => { tier => 'gold', metadata => { city => 'Bonn', contact => 'ann' } } })->is_status(201);
        my $merge = $admin->patch($tenant, { $one => { metadata => { city => undef, phone => '1' } } });
        $merge->is_status(200);
        is_deeply $merge->json->{$one}{metadata}, { contact => 'ann', phone => '1' }, 'merge patch';
        is $merge->json->{$one}{tier}, 'gold', 'the tier stays';
        is $merge->etag, $admin->get($tenant)->etag, 'its etag';
        my $patch = json_patch($tenant, [
            { op => 'test',    path => "/$one/tier",             value => 'gold' },
            { op => 'replace', path => "/$one/tier",             value => 'silver' },
            { op => 'add',     path => "/$one/metadata/street",  value => 'Ring' },
            { op => 'remove',  path => "/$one/metadata/contact" },
        ], if_match => $merge->etag);
        $patch->is_status(200);
        is $patch->json->{$one}{tier}, 'silver', 'JSON patch';
        is_deeply $patch->json->{$one}{metadata}, { phone => '1', street => 'Ring' }, 'of its metadata';
        json_patch($tenant, [{ op => 'remove', path => "/$one/metadata" }])->is_status(200);
        is_deeply $admin->get($tenant)->json->{$one}{metadata}, {}, 'metadata can go';
        my $now = $admin->get($tenant)->text;
        $admin->patch($tenant, { $one => { tier => undef } })->is_problem(400, 'bad_document', 'a tier cannot');
        $admin->patch($tenant, { $one => { tier => 'none such' } })->is_problem(400, 'bad_parameter', 'an unknown tier');
        $admin->patch($tenant, { $one => { id => 'other' } })->is_problem(400, 'bad_document', 'another id');
        $admin->patch($tenant, { $one => { colour => 'red' } })->is_problem(400, 'bad_document', 'an unknown member');
        $admin->patch($tenant, { other => {} })->is_problem(400, 'bad_document', 'another word');
        $admin->patch($tenant, { $one => { metadata => { n => 1 } } })->is_problem(400, 'bad_document', 'metadata that is no string');
        json_patch($tenant, [{ op => 'test', path => "/$one/tier", value => 'gold' }])->is_problem(409, 'conflict', 'a test that fails');
        $admin->patch($tenant, { $one => { state => 'deleted', resources => 9 } })->is_status(200, 'what the server owns is ignored');
        is $admin->get($tenant)->text, $now, 'nothing changed';
        $admin->delete($tenant)->is_status(204);
        $admin->patch($tenant, { $one => {} })->is_problem(410, 'gone', 'a deleted tenant');
        $admin->patch("/$version/nobody", { $one => {} })->is_problem(404, 'not_found', 'no tenant');
    };
}

subtest 'for operators alone' => sub {
    $instance->service('ann:t1:admin')->patch('/v2.0/t1', { tenant => { tier => 'gold' } })->is_status(404, 'not on the service endpoint');
};

done_testing;
