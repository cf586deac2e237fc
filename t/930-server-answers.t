#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The steps before a handler runs: which failure is told, in which order, with which headers. No database is there, so
# whatever gets as far as needing one is answered 503.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Daemon;
use Tenure::FastCGI;

Tenure::Daemon::need_program();

my $daemon = Tenure::Daemon->new(endpoint => { wadl => 'combined.wadl', workers => 1 });
$daemon->start;

my $thing = '/v1.0/acme/persistentvolumes/a';

sub ask {
    my ($method, $uri, $token, %option) = @_;
    my @params = @{ $option{params} // [] };
    push @params, HTTP_X_AUTH_TOKEN => $token if defined $token;
    return Tenure::FastCGI->get($daemon->{socket}, method => $method, uri => $uri, params => \@params,
        defined $option{body} ? (body => $option{body}) : ());
}

subtest 'who asks' => sub {
    my $got = ask(GET => $thing);
    is $got->{status}, 401, 'nobody';
    ok length $got->{headers}{'www-authenticate'}, 'is told what would be accepted';
    $got = ask(GET => $thing, 'jane:other');
    is $got->{status}, 404, 'a stranger';
    unlike $got->{body}, qr/acme/, 'is told nothing';
    is ask(DELETE => $thing, 'jane:acme:reader')->{status}, 403, 'a reader who would write';
    $got = ask(GET => $thing, 'jane:acme:reader');
    is $got->{status}, 503, 'a reader, while the database is away';
    is $got->{headers}{'retry-after'}, 1, 'may try again';
    is ask(GET => '/', 'no:such:role')->{status}, 200, 'what is open to all is open to any token';
};

subtest 'what is asked' => sub {
    my @json = (params => [ CONTENT_TYPE => 'application/json' ]);
    my $got = ask(PATCH => $thing, 'jane:acme', params => [ CONTENT_TYPE => 'text/plain' ], body => '{}');
    is $got->{status}, 415, 'a media type that is not taken';
    like $got->{headers}{'accept-patch'}, qr{application/merge-patch\+json}, 'with what would be';
    is ask(PUT => $thing, 'jane:acme', params => [ CONTENT_TYPE => 'text/plain' ], body => 'x')->{status}, 415, 'PUT, too';
    for ([ PUT => $thing ], [ POST => '/api/v1/namespaces/default/configmaps' ], [ POST => '/baremetal/v1/nodes' ], [ POST => '/placement/resource_classes' ]) {
        my ($method, $uri) = @$_;
        my $sent = sub { my ($coding) = @_;
            return ask($method => $uri, 'admin', params => [ CONTENT_TYPE => 'application/json', HTTP_CONTENT_ENCODING => $coding,
                HTTP_OPENSTACK_API_VERSION => 'placement 1.30' ], body => '{}') };
        $got = $sent->('gzip');
        is $got->{status}, 415, "a compressed body for $uri";
        like $got->{body}, qr/gzip/, 'which is what the answer names';
        is $got->{headers}{'accept-encoding'}, 'identity', 'with what would be taken';
        isnt $sent->('Identity')->{status}, 415, 'a body that is said to be as it is';
    }
    is ask(PUT => $thing, 'jane:acme', @json)->{status}, 400, 'a body that is missing';
    is ask(GET => $thing, 'jane:acme', params => [ HTTP_ACCEPT => 'image/png' ])->{status}, 406, 'a form there is not';
    $got = ask(GET => "$thing?nonsense=1", 'jane:acme');
    is $got->{status}, 400, 'a parameter there is not';
    like $got->{body}, qr/nonsense/, 'is named';
};

subtest 'the order of failures' => sub {
    my @wrong = (params => [ CONTENT_TYPE => 'text/plain', HTTP_ACCEPT => 'image/png' ], body => 'x');
    is ask(PUT => '/nothing/of/that/name/here', undef, @wrong)->{status}, 404, 'address before all else';
    is ask(POST => "$thing?nonsense=1", undef, @wrong)->{status}, 405, 'then method';
    is ask(PUT => "$thing?nonsense=1", undef, @wrong)->{status}, 401, 'then who asks';
    is ask(PUT => "$thing?nonsense=1", 'jane:acme:reader', @wrong)->{status}, 403, 'then what they may';
    is ask(PUT => "$thing?nonsense=1", 'jane:acme', @wrong)->{status}, 400, 'then parameters';
    like ask(PUT => $thing, 'jane:acme', @wrong)->{status}, qr/^(?:406|415)$/, 'then media types';
};

subtest 'the form of a problem' => sub {
    is ask(GET => $thing)->{headers}{'content-type'}, 'application/problem+json', 'JSON by itself';
    my $got = ask(GET => $thing, undef, params => [ HTTP_ACCEPT => 'application/xml' ]);
    is $got->{headers}{'content-type'}, 'application/problem+xml', 'XML where that is preferred';
    $got = ask(GET => $thing, undef, params => [ HTTP_ACCEPT => 'image/png' ]);
    is $got->{headers}{'content-type'}, 'application/problem+json', 'JSON where neither is';
};

is $daemon->stop, 0, 'it ends by itself';
is_deeply [ grep { /is not in the WADL|^error/ } split /\n/, $daemon->log_text ], [], 'the WADL lists every status';

done_testing;
