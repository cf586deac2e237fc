#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Errors of the Bare Metal API: an object whose error_message is JSON in a string, whatever goes wrong, and where.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault fault_of);
use Tenure::Raw;

my $instance = Tenure::Instance->start(combined => 1, settings => { 'tenure.max_body' => '64K' });
my $admin    = $instance->admin;
$admin->make_tenant($_) for qw(t1 t2);
my $ann    = Tenure::Metal->new($instance->combined('ann:t1'), '1.82');
my $nobody = $ann->as(undef);
my $uuid   = '11111111-2222-4333-8444-555555555555';
$admin->make("/v2.0/t1/nodes/$uuid", { driver => 'fake-hardware', name => 'n1' });

subtest 'no such address' => sub {
    for my $path ('/nosuch', '/nodes/n1/nosuch', '/nodes/n1/traits/CUSTOM_A/x', '/v1', '/drivers/ipmi/nosuch',
        '/chassis/x/y/z') {
        is_fault($ann->get($path), 404, qr/no such address/, $path, address => 1);
    }
    is fault_of($ann->get('/nosuch'))->{title}, 'Not Found', 'has a title';
    is_fault($nobody->get('/nosuch'), 404, undef, 'for everybody', address => 1);
};

subtest 'no such method' => sub {
    my $put = $ann->put('/nodes');
    is_fault($put, 405, qr/GET, POST/, 'PUT of a list', address => 1);
    $put->header_is('Allow', 'GET, POST, DELETE, OPTIONS');
    is_fault($ann->put("/nodes/$uuid", json => {}), 405, undef, 'PUT of a node', address => 1);
    is_fault($ann->get('/nodes/n1/maintenance'), 405, undef, 'GET of maintenance', address => 1);
    is_fault($ann->get('/nodes/n1/traits/CUSTOM_A'), 405, undef, 'GET of one trait', address => 1);
    for my $path ('', '/', '/nodes', "/nodes/$uuid", '/drivers') {
        $ann->head($path)->is_status(405, "HEAD $path");
    }
    $ann->client->head('/baremetal')->is_status(405, 'HEAD of the top');
    $ann->client->options('/baremetal/v1/nodes/')->is_status(204, 'OPTIONS');
    $ann->client->options('/baremetal/v1/nodes/')->header_is('Allow', 'GET, POST, DELETE, OPTIONS');
    is_fault($ann->request('LOCK', '/nodes'), 501, qr/LOCK/, 'a method of no use', address => 1);
};

subtest 'an address that ends in "/"' => sub {
    $ann->get('/drivers/')->is_status(200, 'a list');
    $ann->get('/drivers/?type=dynamic')->is_status(200, 'with a query');
    $ann->get('/nodes/n1/states/')->is_status(200, 'what is below a node');
    is_fault($ann->get('/drivers//'), 400, undef, 'two are too many', address => 1);
    $instance->combined('ann:t1')->get('/v2.0/t1/nodes/')->is_problem(404, 'not_found');
};

subtest 'malformed addresses' => sub {
    # Of some others lighttpd tells in its own words.
    is_fault($ann->get($_), 400, undef, $_, address => 1) for '/nodes/a%2Fb', '/nodes//x', '/nodes?limit=%zz';
};

subtest 'who asks' => sub {
    my $get = $nobody->get("/nodes/$uuid/states");
    is_fault($get, 401, qr/credential/, 'nobody');
    ok length $get->header('WWW-Authenticate'), 'is told how';
    is_fault($ann->as('not%a-token')->get('/drivers'), 401, undef, 'a token that is none');
    is_fault($ann->as('ann:t1:reader')->put('/nodes/n1/maintenance'), 403, qr/member/, 'a reader who writes');
    is_fault($ann->as('ann:t1:member')->post('/nodes', json => {}), 403, qr/admin/, 'a member who makes nodes');
    is_fault($ann->as('ann:t1:member')->delete("/nodes/$uuid"), 403, qr/admin/, 'or deletes them');
    is_fault($ann->get('/chassis'), 403, qr/operator/, 'chassis are the operator\'s');
    for my $call (['GET', 'states'], ['PUT', 'maintenance'], ['GET', 'traits'], ['PUT', 'traits/CUSTOM_A'], ['GET',
        'validate'],
        ['GET', 'bios'], ['GET', 'bios/x']) {
        my ($method, $what) = @$call;
        my $theirs = $ann->as('bob:t2')->request($method, "/nodes/$uuid/$what");
        my $none   = $ann->request($method, "/nodes/99999999-2222-4333-8444-555555555555/$what");
        is_fault($theirs, 404, qr/could not be found/, "$method $what of another tenant's node");
        is $theirs->text =~ s/$uuid//r, $none->text =~ s/99999999-2222-4333-8444-555555555555//r,
            'is told as none at all';
    }
};

subtest 'parameters' => sub {
    is_fault($ann->get('/drivers?bogus=1'), 400, qr/\AUnexpected arguments: .*"bogus".*type, detail, fields/,
        'one that is not known');
    is_fault($ann->get('/drivers?detail=maybe'), 400, qr/detail/, 'a value that is none');
    is_fault($ann->get('/drivers?type=x'), 400, qr/classic or dynamic/, 'a word that is none');
    is_fault($ann->get('/drivers?fields=name&fields=hosts'), 400, qr/once/, 'one given twice');
    is_fault($ann->get('/nodes/n1/states?x=%22%3Cscript%3E'), 400, undef, 'in any bytes');
};

subtest 'media types' => sub {
    is_fault($ann->get('/drivers', accept => 'text/html'), 406, qr{application/json}, 'no JSON wanted');
    $ann->get('/drivers', accept => '*/*')->is_status(200, 'anything wanted');
    for my $type ('application/json', 'text/plain', 'application/octet-stream', 'nonsense', '') {
        $ann->put('/nodes/n1/maintenance', body => '{"reason": "r"}', type => $type)->is_status(202,
            "a body of the type \"$type\"");
    }
    is_fault($ann->put('/nodes/n1/maintenance', body => '{"reason": ', type => 'application/json'), 400, qr/line 1/,
        'no JSON');
    is_fault($ann->put('/nodes/n1/maintenance', body => "\xff", type => 'application/json'), 400, undef, 'no UTF-8');
    is_fault($ann->put('/nodes/n1/maintenance', body => '"' . 'x' x 70_000 . '"', type => 'text/plain'), 413, undef,
        'too large');
};

subtest 'a precondition that fails' => sub {
    my $first = $ann->delete('/nodes/n1/maintenance')->etag;
    my $now   = $ann->put('/nodes/n1/maintenance', json => { reason => 'fan' })->etag;
    my $stale = $ann->delete('/nodes/n1/maintenance', if_match => $first);
    my $hex   = $now =~ s/"//gr;
    is_fault($stale, 412, qr/\Q$hex\E.*changed by ann at \d{4}-.*maintenance/,
        'tells the etag, who and when, and in what');
    is $stale->etag, $now, 'the etag in the header, too';
    is $stale->json->{etag}, $hex, 'and as a member';
    is $stale->json->{changed_by}, 'ann', 'who';
    like $stale->json->{changed_at}, qr/\A\d{4}-\d\d-\d\dT/, 'when';
    is_deeply [sort @{ $stale->json->{fields} }], ['/maintenance', '/maintenance_reason'], 'and what';
    is_fault($ann->delete('/nodes/n1/maintenance', if_match => 'no"tag'), 400, qr/If-Match/, 'a header that is none');
    $ann->delete('/nodes/n1/maintenance', if_match => $hex)->is_status(202, 'the tag as bodies have it is good');
};

subtest 'a precondition that is needed' => sub {
    $admin->put('/v2.0/t1', json => { tenant => { etag_required => JSON::PP::true() } })->is_status(202);
    is_fault($ann->put('/nodes/n1/maintenance'), 428, undef, 'where the tenant wants one');
    my $none = $ann->version('1.39')->put('/nodes/n1/maintenance');
    is_fault($none, 428, undef, 'at old versions, too');
    $ann->put('/nodes/n1/maintenance', if_match => '*')->is_status(202, '"*" will do');
    $admin->put('/v2.0/t1', json => { tenant => { etag_required => JSON::PP::false() } },
        if_match => '*')->is_status(202);
};

done_testing;
