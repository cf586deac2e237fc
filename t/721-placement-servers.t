#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Placement at the root of a host behind each web server: none of them gets in the way.
use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Placement qw(is_error uuid);
use Tenure::Raw;

for my $server (qw(lighttpd apache-fcgid apache-proxy nginx)) {
    subtest $server => sub {
        my $program = $server =~ /apache/ ? 'apache2' : $server;
        plan skip_all => "$program is not installed" unless Tenure::Instance::on_path($program);
        plan skip_all => 'mod_fcgid is not installed'
            if $server eq 'apache-fcgid' && !-e '/usr/lib/apache2/modules/mod_fcgid.so';
        my $instance  = Tenure::Instance->start(server => $server, placement => 1);
        my $placement = Tenure::Placement->new($instance->placement, '1.39');
        my $uuid      = uuid();

        my $made = $placement->post('/resource_providers', json => { name => 'Größe ☃', uuid => $uuid });
        $made->is_status(200, 'made');
        is $made->location, $placement->url . "/resource_providers/$uuid", 'Location has host and port';
        is $made->header('openstack-api-version'), 'placement 1.39';
        like $made->header('vary'), qr/openstack-api-version/;
        $placement->get($made->location)->is_status(200, 'and leads there');
        is scalar @{ $placement->get('/resource_providers?name=Gr%C3%B6%C3%9Fe%20%E2%98%83')->json->{resource_providers} }, 1, 'found by its name';
        my $trait = $placement->put('/traits/CUSTOM_A');
        $trait->is_status(201, 'a trait');
        is $trait->location, $placement->url . '/traits/CUSTOM_A';
        is $trait->header('content-type'), undef, 'no body has no type';
        $placement->put("/resource_providers/$uuid/traits/CUSTOM_A")->is_status(204, 'a PUT without a body');
        is scalar @{ $placement->get("/resource_providers?required=CUSTOM_A&member_of=!$uuid")->json->{resource_providers} }, 1, '"!" in a query';
        is $placement->get('/traits?name=in:CUSTOM_A')->header('cache-control'), 'no-cache', 'cache headers';
        is $placement->version('1.14')->get('/traits')->header('cache-control'), undef, 'from 1.15 on alone';

        my $head = $placement->head('/traits');
        $head->is_status(405, 'HEAD');
        my $options = $placement->request('OPTIONS', '/resource_providers', headers => { Origin => 'http://valid.example.com' });
        is_error($options, 405, qr/The method OPTIONS is not allowed/);
        is $options->header('allow'), 'GET, POST', 'Allow';
        is_error($placement->get('/traits/'), 404, undef, name => "a '/' too many");
        is_error($placement->get("/resource_providers/$uuid/cows"), 404);
        is_error($placement->version('1.40')->get('/'), 406, qr/Unacceptable version header: 1\.40/);
        $placement->as(undef)->get('/')->is_status(200, 'the versions, for nobody');
        $placement->as(undef)->get('/traits')->is_status(401);
        my $nonsense = Tenure::Raw::exchange($placement->url, "POST /traits HTTP/1.1\r\nHost: localhost\r\nX-Auth-Token: admin\r\n"
                . "Connection: close\r\nContent-Type: application/json\r\nContent-Length: hi mom\r\n\r\n{}", seconds => 5);
        $nonsense->is_status(400, 'what is no HTTP');
        like $nonsense->text, qr/content-length header must be an integer/, 'is told what it would have to be';
    };
}

done_testing;
