#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What the service tells of itself, and the answers that need no tenant: versions, health, WADL, 404, 405, 406, 415.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Raw;
use Tenure::XML;

my $instance = Tenure::Instance->start(settings => { 'tenure.max_body' => '64K', 'tenure.max_target' => '8K' });
my $admin    = $instance->admin;
my $nobody   = $instance->service(undef);
$admin->make_tenant('t1');
my $maps = '/v2.0/t1/namespaces/default/configmaps';
$admin->make("$maps/c1", { a => 1 });

subtest 'versions' => sub {
    my $get = $nobody->get('/');
    $get->is_status(200, 'for everybody');
    is_deeply [map { "$_->{id} $_->{status}" } @{ $get->json->{versions} }], ['v1.0 SUPPORTED', 'v2.0 CURRENT'], 'both';
    is $get->json->{versions}[1]{links}[0]{href}, $nobody->url . '/v2.0', 'with links';
    my $xml = $nobody->get('/', accept => 'application/xml');
    is $xml->xml->{name}, 'versions', 'in XML as well';
    is_deeply [map { $_->{attributes}{id} } Tenure::XML::children($xml->xml, 'version')], ['v1.0', 'v2.0'], 'the same';
    $nobody->get('/', as => 'not%a-token')->is_status(200, 'whatever token comes along');
};

subtest 'health' => sub {
    my $get = $nobody->get('/healthz');
    $get->is_status(200);
    is $get->json->{status}, 'ok', 'ok';
};

subtest 'WADL' => sub {
    my %wadl = map { $_->[0] => $_->[1]->get('/application.wadl')->text } ['service', $nobody], ['admin', $admin];
    ok length $wadl{$_}, "the $_ endpoint's" for sort keys %wadl;
    for my $id (qw(putTenant deleteTenant listTenants postMoveAll postMoveOne getMoveAll recoverTenant)) {
        like $wadl{admin}, qr/\b$id\b/, "admin offers $id";
        unlike $wadl{service}, qr/\bid="$id"/, "service does not offer $id";
    }
    for my $id (qw(getResource putResource patchResource deleteResource listResources putNamespacedResource)) {
        like $wadl{service}, qr/\b$id\b/, "service offers $id";
    }
    ok eval { Tenure::XML::parse($wadl{admin} =~ s/\A(<\?xml[^>]*\?>)(?:\s*<!--.*?-->)*/$1/sr) }, 'well-formed' or diag $@;
};

subtest 'every answer' => sub {
    my $get = $admin->get("$maps/c1");
    like $get->request_id, qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/, 'has an X-Request-Id';
    isnt $admin->get("$maps/c1")->request_id, $get->request_id, 'of its own';
    $get->header_is('X-Content-Type-Options', 'nosniff');
    $get->header_is('Accept-Ranges', 'none');
    like $get->header('Vary'), qr/Accept/, 'Vary: Accept where there are two forms';
    like $get->header('Cache-Control'), qr/private/, 'belongs to no shared cache';
};

subtest 'no such address' => sub {
    for my $path ('/v3.0/t1', '/v1/t1', '/nothing', '/v2.0/t1/nosuchtype/x', '/v2.0/t1/nosuchtype', "$maps/c1/x",
        '/v2.0/t1/action', '/v2.0/t1/configmaps/c1', '/v2.0/t1/namespaces/default/persistentvolumes/p',
        '/v2.0/t1/namespaces/default/persistentvolumes') {
        $admin->get($path)->is_problem(404, 'not_found');
    }
    like $admin->get('/v2.0/t1/configmaps/c1')->detail, qr/namespaces/, 'a namespaced type without namespace is explained';
};

subtest 'a method that is none here' => sub {
    my $post = $admin->post($maps);
    $post->is_problem(405, 'method_not_allowed');
    like $post->header('Allow'), qr/\bGET\b/, 'Allow has GET';
    unlike $post->header('Allow'), qr/\bPOST\b/, 'but not POST';
    my $delete = $admin->delete('/');
    $delete->is_problem(405);
    my $put = $admin->put("$maps/c1/action/move?dest=x");
    $put->is_problem(405);
    is_deeply [sort grep { /GET|POST/ } split /,\s*/, $put->header('Allow')], ['GET', 'POST'], 'Allow of a move action';
};

subtest 'OPTIONS' => sub {
    my $options = $admin->options("$maps/c1");
    $options->is_status(204);
    my %allow = map { $_ => 1 } split /,\s*/, $options->header('Allow');
    ok $allow{$_}, "Allow has $_" for qw(GET HEAD PUT PATCH DELETE OPTIONS);
    my %service = map { $_ => 1 } split /,\s*/, $instance->service('ann:t1')->options('/v2.0/t1/persistentvolumes/p')->header('Allow');
    ok $service{PUT}, 'on the service endpoint as well';
    $admin->options('/v2.0/t1/nosuch/x/y/z')->is_status(404, 'of an address that is none');
};

subtest 'media types' => sub {
    $admin->get("$maps/c1", accept => 'text/html')->is_problem(406, 'not_acceptable');
    $admin->get("$maps/c1", accept => 'text/html, application/xml;q=0.5')->is_status(200);
    is $admin->get("$maps/c1", accept => 'application/json;q=0.2, application/xml;q=0.9')->type, 'application/xml', 'q decides';
    is $admin->get("$maps/c1", accept => '*/*')->type, 'application/json', 'anything: JSON';
    is $admin->get("$maps/c1", accept => 'application/json;q=0, */*')->type, 'application/xml', 'anything but JSON';
    is $admin->get('/v2.0/t1/action/move?dest=t1', accept => '*/*')->type, 'application/problem+xml', 'a move action: XML, its problems, too';
    my $put = $admin->put("$maps/c1", body => 'a=1', type => 'application/x-www-form-urlencoded');
    $put->is_problem(415, 'unsupported_media');
    like $put->header('Accept'), qr{application/json}, 'Accept names what would do';
    my $patch = $admin->request('PATCH', "$maps/c1", body => '[]', type => 'application/strategic-merge-patch+json');
    $patch->is_problem(415);
    like $patch->header('Accept-Patch'), qr{application/merge-patch\+json}, 'Accept-Patch, too';
    $admin->put("$maps/c1", body => '{"a":1}', type => 'application/json; charset=utf-8')->is_status(200, 'a charset parameter');
    $admin->put("$maps/c1")->is_problem(400, 'bad_document', 'a body is needed');
};

subtest 'problems in XML' => sub {
    my $get = $admin->get("$maps/none", accept => 'application/xml');
    $get->is_status(404);
    is $get->type, 'application/problem+xml', 'media type';
    is $get->xml->{name}, 'problem', '<problem';
    is $get->xml->{attributes}{xmlns}, 'urn:ietf:rfc:7807', 'in the namespace of RFC 7807';
    is Tenure::XML::child($get->xml, 'status')->{text}, 404, '<status>';
    is Tenure::XML::child($get->xml, 'request_id')->{text}, $get->request_id, '<request_id>';
    ok length Tenure::XML::child($get->xml, 'detail')->{text}, '<detail>';
};

subtest 'parameters' => sub {
    for my $query ('limit=0', 'limit=-1', 'limit=1001', 'limit=many', 'limit=', 'limit=1&limit=2', 'deleted=perhaps', 'nonsense=1') {
        $admin->get("$maps?$query")->is_problem(400, 'bad_parameter', $query);
    }
    like $admin->get("$maps?nonsense=1")->detail, qr/limit/, 'the detail names those there are';
    $admin->get("$maps?deleted=$_")->is_status(200, "deleted=$_") for 0, 1, 'true', 'false';
    $admin->post("$maps/c1/action/recover?uid=12")->is_problem(400, 'bad_parameter', 'a uid that is none');
    $admin->get('/v2.0?state=asleep')->is_problem(400, 'bad_parameter', 'an option that is none');
};

subtest 'limits' => sub {
    my $large = $admin->put("$maps/c1", body => '{"a":"' . 'x' x 65536 . '"}', type => 'application/json');
    $large->is_problem(413, 'body_too_large');
    like $large->detail, qr/65536/, 'tells the limit';
    my $long = $admin->get('/v2.0/t1/persistentvolumes/' . '%41' x 3000);
    $long->is_problem(414, 'target_too_long');
    my $headers = Tenure::Raw::get($admin->url, "$maps/c1", token => 'admin', headers => ['X-Long: ' . 'x' x 100_000]);
    ok $headers->status == 431 || $headers->status == 400 || $headers->status == 413, 'header fields without end'
        or diag $headers->describe;
    $admin->get('/v2.0/t1/persistentvolumes/' . 'a' x 256)->is_problem(400, 'bad_address', 'a name of 256 characters');
    $admin->get('/' . 'a/' x 40)->is_problem(400, 'bad_address', 'too many segments');
};

done_testing;
