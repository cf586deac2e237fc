#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Placement: requests of web pages from other origins, behind every web server.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Placement qw(is_error);

my $good = 'http://valid.example.com';
my $bad  = 'http://invalid.example.com';

for my $server (qw(lighttpd nginx apache-proxy apache-fcgid)) {
    subtest "behind $server" => sub {
        my $instance  = Tenure::Instance->start(placement => 1, server => $server, settings => { 'placement.cors_allowed_origin' => "https://other.example, $good" });
        my $placement = Tenure::Placement->new($instance->placement, '1.39');
        my $nobody    = $placement->as(undef);
        my $preflight = sub { my ($origin, $method, %more) = @_;
            return $nobody->request('OPTIONS', '/resource_providers', headers => { Origin => $origin, 'Access-Control-Request-Method' => $method, %more }) };

        my $answer = $preflight->($good, 'GET', 'Access-Control-Request-Headers' => 'x-auth-token, openstack-api-version');
        $answer->is_status(200, 'a preflight needs no credential');
        is $answer->header('access-control-allow-origin'), $good;
        is $answer->header('access-control-allow-methods'), 'GET';
        is $answer->header('access-control-allow-headers'), 'x-auth-token, openstack-api-version';
        like $answer->header('vary') // '', qr/Origin/;
        my $allows_nothing = sub { my ($answer, $name) = @_;
            $answer->is_status(200, $name);
            is $answer->text, '', '... without a body';
            is $answer->header("access-control-$_"), undef, "... and without $_" for qw(allow-origin allow-methods allow-headers allow-credentials max-age);
        };
        $allows_nothing->($preflight->($good, 'TRACE'), 'not any method');
        $allows_nothing->($preflight->($good, 'GET', 'Access-Control-Request-Headers' => 'cookie'), 'nor any header');
        $allows_nothing->($preflight->($_, 'GET'), "not from $_") for $bad, "$good.evil.example", 'null', '*';
        $allows_nothing->($nobody->request('OPTIONS', $_, headers => { Origin => $bad, 'Access-Control-Request-Method' => 'GET' }), "nor at $_") for '/', '/nowhere';
        $allows_nothing->($placement->request('OPTIONS', '/resource_providers', headers => $_), 'OPTIONS that is no preflight') for { Origin => $good }, {};

        $answer = $placement->get('/resource_providers', headers => { Origin => $good });
        $answer->is_status(200);
        is $answer->header('access-control-allow-origin'), $good, 'a page may read the answer';
        like $answer->header('access-control-expose-headers'), qr/OpenStack-API-Version/;
        $answer = $placement->get('/resource_providers', headers => { Origin => $bad });
        $answer->is_status(200);
        is $answer->header('access-control-allow-origin'), undef, 'another may not';
        is $nobody->get('/resource_providers', headers => { Origin => $good })->is_status(401) && 1, 1, 'a page needs a credential as well';
    };
}

done_testing;
