#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Small requests, and small things stored, that would make a process take much memory or time: one of each kind. Each is
# answered, without effect where it is refused, and no process takes more than it may; the next request is served by the same
# worker.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Bombs qw(allowed_kb is_sanitized peak_kb reset_peaks watch_process_of workers_of);
use Tenure::FastCGI;
use Tenure::Instance;
use Tenure::Watch;

my $instance = Tenure::Instance->start(workers => 1, combined => 1, placement => 1, auth => 'noauth');
my $operator = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my $table    = 'application/json;as=Table;v=v1;g=meta.k8s.io';
my $crds     = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
my $maps     = '/v2.0/acme/namespaces/default/configmaps';
my @json_patch = (type => 'application/json-patch+json');
my $encode   = JSON::PP->new->utf8->canonical->allow_nonref;
my $large    = 'x' x 900_000;
$operator->make_tenant('acme');
$operator->make_tenant('other');

my @workers   = workers_of($instance, 'combined'); # and the mover
my ($watcher) = watch_process_of($instance, 'combined');
my $measured  = !is_sanitized($watcher);

# what: of the bomb. code: sends it and answers the response. statuses: that it may have.
sub bomb {
    my ($what, $code, @statuses) = @_;
    my @pids = (@workers, $watcher);
    reset_peaks(@pids);
    my $answer = $code->();
    my $peak = peak_kb(@pids);
    ok scalar(grep { $_ == $answer->status } @statuses), "$what is answered" or diag $answer->describe;
    is_deeply [workers_of($instance, 'combined')], [@workers], "$what: the same worker goes on";
    cmp_ok $peak, '<=', allowed_kb(), "$what: peak of $peak kB" if $measured;
    $operator->get('/v2.0/other')->is_status(200, "$what: others are served");
    return $answer;
}

# A type with these members of its only version; the path of its objects.
sub type {
    my ($plural, %version) = @_;
    $acme->post($crds, json => { metadata => { name => "$plural.example.com" }, spec => { group => 'example.com', scope => 'Namespaced',
        names => { plural => $plural, kind => ucfirst $plural }, versions => [{ name => 'v1', served => JSON::PP::true, storage => JSON::PP::true,
            schema => { openAPIV3Schema => { type => 'object', 'x-kubernetes-preserve-unknown-fields' => JSON::PP::true } }, %version }] } })->is_status(201, "type $plural");
    return "/apis/example.com/v1/namespaces/default/$plural";
}

subtest 'JSON Patch' => sub {
    $acme->put("$maps/large", json => { data => { s => $large } })->is_status(201, 'a large one');
    my $etag = $acme->get("$maps/large")->header('etag');
    my $copies = $encode->encode([map { { op => 'copy', from => '/data/s', path => "/data/c$_" } } 1 .. 3000]);
    my $answer = bomb('copies of a string', sub { $acme->request('PATCH', "$maps/large", body => $copies, @json_patch) }, 413);
    like $answer->text, qr/memory/, 'the answer says why';
    is $acme->get("$maps/large")->header('etag'), $etag, 'nothing has changed';
    bomb('the same of the operator\'s', sub { $operator->request('PATCH', "$maps/large", body => $copies, @json_patch) }, 413);
    bomb('the same in spaces', sub { $acme->request('PATCH', '/api/v1/namespaces/default/configmaps/large', body => $copies, @json_patch) }, 413);
    my $doubled = $encode->encode([map { { op => 'copy', from => '', path => "/data$_" } } 1 .. 40]);
    bomb('copies of the whole', sub { $acme->request('PATCH', "$maps/large", body => $doubled, @json_patch) }, 409, 413);
    my $added = $encode->encode([{ op => 'add', path => '/data/t', value => { map { ("k$_" => {}) } 1 .. 4000 } },
        map { { op => 'copy', from => '/data/t', path => "/data/t$_" } } 1 .. 200]);
    bomb('copies of many objects', sub { $acme->request('PATCH', "$maps/large", body => $added, @json_patch) }, 409, 413, 422);
    my $tests = $encode->encode([map { { op => 'test', path => '', value => $_ } } (undef) x 1, 1 .. 20_000]);
    bomb('tests of the whole', sub { $acme->request('PATCH', "$maps/large", body => $tests, @json_patch) }, 409);
    my $node = $operator->post('/baremetal/v1/nodes', json => { driver => 'fake-hardware', extra => { s => $large } }, headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
    my $copied = $encode->encode([map { { op => 'copy', from => '/extra/s', path => "/extra/c$_" } } 1 .. 3000]);
    bomb('copies in a node', sub { $operator->request('PATCH', '/baremetal/v1/nodes/' . ($node->status == 201 ? $node->json->{uuid} : 'x'), body => $copied, @json_patch,
        headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' }) }, 400, 413);
    $acme->delete("$maps/large");
};

subtest 'JSON' => sub {
    my $n = 0;
    for my $unit ('{}', '[]', '""', '{"a":{}}', '1.5', '[[]]', 'null') {
        my $list = '{"data":{"l":[' . join(',', ($unit) x (1_000_000 / (1 + length $unit))) . ']}}';
        bomb("many $unit", sub { $acme->put("$maps/many" . $n++, body => $list, type => 'application/json') }, 201, 400, 413);
    }
    my $members = '{' . join(',', map { qq("m$_":{}) } 1 .. 80_000) . '}';
    bomb('many members', sub { $acme->put("$maps/members", body => $members, type => 'application/json') }, 201, 400, 413);
    bomb('a merge into them', sub { $acme->patch("$maps/members", { a => 1 }) }, 200, 404, 413);
    bomb('read as XML', sub { $acme->get("$maps/members", accept => 'application/xml') }, 200, 404, 422);
    $acme->delete("$maps/many$_") for 0 .. 6;
    $acme->delete("$maps/members");
};

subtest 'XML' => sub {
    my $attributes = '<account id="b" ' . join(' ', map { "a$_=\"\"" } 1 .. 80_000) . '/>';
    bomb('many attributes', sub { $operator->put('/v2.0/b', xml => $attributes) }, 400);
    my $namespaces = '<account id="b" ' . join(' ', map { "xmlns:a$_=\"u\"" } 1 .. 40_000) . '/>';
    bomb('many namespaces', sub { $operator->put('/v2.0/b', xml => $namespaces) }, 400);
    my $map = '<map xmlns="http://www.w3.org/2005/xpath-functions">';
    bomb('many attributes within', sub { $acme->put("$maps/x", xml => "$map<string " . join(' ', map { "a$_=\"\"" } 1 .. 80_000) . '>x</string></map>') }, 400);
    bomb('many attributes behind what hides them', sub { $acme->put("$maps/x", xml => qq($map<!-- <a b=" --><?p <a b=' ?><string ) . join(' ', map { "a$_=\"\"" } 1 .. 80_000) . '>x</string></map>') }, 400);
    bomb('many elements', sub { $acme->put("$maps/x", xml => $map . join('', map { qq(<null key="$_"/>) } 1 .. 45_000) . '</map>') }, 201, 413);
    bomb('many empty maps', sub { $acme->put("$maps/y", xml => "$map<array key=\"a\">" . '<map/>' x 120_000 . '</array></map>') }, 201, 413);
    bomb('many character references', sub { $acme->put("$maps/z", xml => "$map<string key=\"a\">" . '&lt;' x 200_000 . '</string></map>') }, 201, 413);
    bomb('many sections', sub { $acme->put("$maps/v", xml => "$map<string key=\"a\">" . '<![CDATA[a]]>' x 70_000 . '</string></map>') }, 201, 413);
    $acme->delete("$maps/$_") for qw(x y z v);
};

subtest 'definitions' => sub {
    my $list = type('fills', schema => { openAPIV3Schema => { type => 'object', properties => { l => { type => 'array', items => { type => 'object',
        properties => { a => { type => 'string', default => 'y' x 40_000 } } } } } } });
    bomb('defaults that multiply', sub { $acme->post($list, json => { metadata => { name => 'a' }, l => [map { {} } 1 .. 50_000] }) }, 400, 413);
    bomb('fewer of them', sub { $acme->post($list, json => { metadata => { name => 'a' }, l => [map { {} } 1 .. 500] }) }, 413);
    my $nested = { type => 'object', properties => { s => { type => 'string', default => 'z' x 30_000 } } };
    $nested = { type => 'object', default => {}, properties => { a => $nested, b => $nested } } for 1 .. 8;
    my $answer = $acme->post($crds, json => { metadata => { name => 'nests.example.com' }, spec => { group => 'example.com', scope => 'Namespaced',
        names => { plural => 'nests', kind => 'Nests' }, versions => [{ name => 'v1', served => JSON::PP::true, storage => JSON::PP::true, schema => { openAPIV3Schema => $nested } }] } });
    isnt $answer->status, 500, 'defaults within defaults' or diag $answer->describe;

    my $columns = type('cols', additionalPrinterColumns => [map { { name => "c$_", type => 'string', jsonPath => '.spec.x' } } 1 .. 100]);
    my $watch = Tenure::Watch->new($instance->env('TENURE_COMBINED_URL'), 'alice:acme', $columns, accept => $table);
    my $calm  = Tenure::Watch->new($instance->env('TENURE_COMBINED_URL'), 'bob:other', '/api/v1/namespaces/default/configmaps');
    bomb('columns of a large member, stored', sub { $acme->post($columns, json => { metadata => { name => 'a' }, spec => { x => $large } }) }, 201);
    bomb('columns of a large member', sub { $acme->get($columns, accept => $table) }, 422);
    bomb('of one', sub { $acme->get("$columns/a", accept => $table) }, 422);
    reset_peaks($watcher);
    $watch->read_while(20, sub { !$watch->{over} });
    ok $watch->{over}, 'who watches that is cut off';
    is watch_process_of($instance, 'combined'), $watcher, 'the watch process goes on';
    $instance->combined('bob:other')->post('/api/v1/namespaces/default/configmaps', json => { metadata => { name => 'c' } })->is_status(201, 'somebody else writes');
    $calm->read_while(20, sub { !@{ $calm->{events} } });
    is scalar(@{ $calm->{events} }), 1, 'and others are told' or diag explain $calm->{events};
    cmp_ok peak_kb($watcher), '<=', allowed_kb(), 'peak of the watch process: ' . peak_kb($watcher) . ' kB' if $measured;
    $acme->delete("$columns/a");
};

subtest 'lists' => sub {
    my $core = '/api/v1/namespaces/default/configmaps';
    for my $i (1 .. 30) {
        $acme->put("$maps/l$i", json => { data => { s => $large, i => "$i" } })->is_status(201) or last;
    }
    my $answer = bomb('a list of 27 MB', sub { $acme->get($core) }, 200);
    is length $answer->text, $answer->header('content-length'), 'it came whole';
    is scalar(() = $answer->text =~ /"kind":"ConfigMap"/g), 30, 'all are there';
    like $answer->text, qr/\],"metadata":\{"selfLink":"[^"]+","resourceVersion":"\d+"\}\}\z/, 'it has its end';
    $answer = bomb('the same as a table', sub { $acme->get($core, accept => $table) }, 200);
    is scalar(() = $answer->text =~ /"cells":/g), 30, 'all rows are there';
    bomb('its head', sub { $acme->head($core) }, 200);
    bomb('a page', sub { $acme->get("$core?limit=10") }, 200);
    bomb('with a selector', sub { $acme->get("$core?labelSelector=a%3Db") }, 200);
    bomb('of tenancy', sub { $acme->get($maps) }, 200);
    bomb('of tenancy as XML', sub { $acme->get($maps, accept => 'application/xml') }, 200, 422);
    bomb('deleted together', sub { $acme->delete($core) }, 200, 413);
};

done_testing;
