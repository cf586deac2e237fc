#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Ids have any characters but "/" (blueprint, "Resource identifiers"): each ASCII character, percent-encoded, behind each web
# server with its shipped settings: alone, in front, inside and behind; as the id of a tenant and of a resource.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

# Names that a URL cannot have as a segment of its path (RFC 3986, 5.2.4).
my %no_segment = ('.' => 1, '..' => 1);

for my $server (qw(lighttpd nginx apache-proxy apache-fcgid)) {
    subtest $server => sub {
        my $instance = Tenure::Instance->start(server => $server);
        my $admin    = $instance->admin;
        $admin->make_tenant('t1');
        my $folder = '/v2.0/t1/namespaces/default/configmaps';
        my (%wrong, %made);
        my $check = sub { my ($what, $got, $want) = @_; $wrong{$what} = "$got for $want" if $got ne $want };
        for my $byte (grep { $_ != ord '/' } 1 .. 127) {
            my $hex = sprintf '%%%02X', $byte;
            for my $form ('%', 'pp%', 'q%q', '%sss') {
                my ($name, $url) = map { my $to = $_; $form =~ s/%/$to/r } chr $byte, $hex;
                next if $no_segment{$name};
                $check->("PUT $url", $admin->put("$folder/$url", json => { data => { n => "$byte" } })->status, 201);
                my $get = $admin->get("$folder/$url");
                $check->("GET $url",         $get->status,                      200);
                $check->("the name of $url", $get->json->{metadata}{name} // '', $name);
                $check->("$url is another one", $get->json->{data}{n} // '', $byte);
                $made{$name} = 1;
            }
            my $put = $admin->put("/v2.0/tenant$hex", json => { tenant => {} });
            $check->("PUT tenant$hex", $put->status, 201);
            $check->("its Location leads to it", $admin->get($admin->path_of($put->location) // '/')->json->{tenant}{id} // '', 'tenant' . chr $byte);
        }
        is_deeply \%wrong, {}, 'each character passes' or diag explain \%wrong;
        my @listed = map { $_->{metadata}{name} } @{ $admin->get("$folder?limit=1000")->json->{resources} // [] };
        is_deeply [sort @listed], [sort keys %made], 'the list has them all, each once';
        $check->("DELETE of $_", $admin->delete("$folder/" . s/([^A-Za-z0-9])/sprintf '%%%02X', ord $1/ger)->status, 204)
            for sort keys %made;
        is_deeply \%wrong, {}, 'and each can be deleted' or diag explain \%wrong;

        # What no id can have: Tenure's answer has a reason. NUL comes to Tenure behind lighttpd alone: nginx answers 400, Apache 404.
        for my $url ('a%2Fb', '%2F', 'a%2f') {
            $admin->put("$folder/$url", json => {})->is_problem(400, 'bad_address', "$url is told to be none");
        }
        for my $url ('a%00b', '%00', 'a%00') {
            my $put = $admin->put("$folder/$url", json => {});
            ok $put->status == 400 || $put->status == 404, "$url is refused" or diag $put->describe;
        }
        my $count = scalar @{ $admin->get("$folder?limit=1000")->json->{resources} // [] };
        is $count, 0, '... and nothing was made of it';
        $instance->stop;
    };
}

done_testing;
