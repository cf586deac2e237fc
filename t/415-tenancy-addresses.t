#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Addresses as the wire has them: encoding, UTF-8, dot segments, empty ones; ids that differ in a byte are two.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Raw;

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;
$admin->make_tenant('t1');

sub raw { return Tenure::Raw::get($admin->url, $_[0], token => 'admin') }

# What the application answers 400 for, unless the web server did before it.
subtest 'malformed addresses' => sub {
    my %bad = (
        '/v2.0/a%'                          => 'half an escape',
        '/v2.0/a%4'                         => 'half an escape',
        '/v2.0/a%zz'                        => 'no hexadecimal digits',
        '/v2.0/%C0%AF'                      => 'overlong UTF-8',
        '/v2.0/%E0%80%AF'                   => 'overlong UTF-8, three bytes',
        '/v2.0/%ED%A0%80'                   => 'a surrogate',
        '/v2.0/%F4%90%80%80'                => 'above U+10FFFF',
        '/v2.0/%80'                         => 'a lone continuation byte',
        '/v2.0/%E2%88'                      => 'a cut character',
        '/v2.0/a%00b'                       => 'NUL',
        '/v2.0/a%2Fb'                       => 'an encoded slash',
        '/v2.0/a%2fb/persistentvolumes'     => 'an encoded slash, lower case',
        '/v2.0/t1/../t1'                    => 'dot segments',
        '/v2.0/./t1'                        => 'a dot segment',
        '/v2.0/%2e%2e'                      => 'dot segments, encoded',
        '/v2.0/%2E'                         => 'a dot segment, encoded',
        '/v2.0/t1/%2e%2e/t1'                => 'dot segments in the middle, encoded',
        '//v2.0/t1'                         => 'an empty first segment',
        '/v2.0//t1'                         => 'an empty segment',
        '/v2.0/t1//persistentvolumes'       => 'an empty segment behind the tenant',
        '/v2.0/t1/persistentvolumes?marker=%' => 'half an escape in the query',
        '/v2.0/t1/persistentvolumes?marker=%00' => 'NUL in the query',
        '/v2.0/t1/persistentvolumes?marker=%C0%AF' => 'overlong UTF-8 in the query',
    );
    for my $target (sort keys %bad) {
        my $get = raw($target);
        $get->is_status(400, "$bad{$target}: $target");
        like $get->detail, qr/\w{3}/, 'with a reason' if $get->type =~ /problem/;
    }
    raw("/v2.0/t1/x\x01y")->is_status(400, 'a control character');
    ok raw("/v2.0/\xff\xfe")->status =~ /\A(?:400|404)\z/, 'bytes that are no UTF-8, bare';
};

subtest 'ids "." and ".." are refused' => sub {
    for my $id ('.', '..', '%2e', '%2E%2e') {
        my $put = Tenure::Raw::request($admin->url, 'PUT', "/v2.0/$id", token => 'admin', body => '');
        ok $put->status == 400 || $put->status == 405 || $put->status == 404, "PUT /v2.0/$id" or diag $put->describe;
    }
    is $instance->sql_value(q(SELECT COUNT(*) FROM tenants WHERE name IN ('.', '..', ''))), 0, 'none was made';
};

subtest 'ids that are odd, but ids' => sub {
    my @ids = ('a%20', '%20a', 'a', 'A', '%C3%A9', 'e%CC%81', 'a%3Fb', 'a%23b', 'a%25b', 'a+b', 'a%2Bb', '%22quoted%22', '...',
        '%3Cscript%3E', q('%20OR%201=1--), '%F0%9F%8C%8D', 'null', '~', 'a;b', 'a=b&c', 'a%26b', '%7Bx%7D', 'action', 'moves');
    my %expect = ('a%2Bb' => 'a+b', 'a%26b' => 'a&b');
    my (%seen, %uid);
    for my $id (@ids) {
        my $put = $admin->put("/v2.0/$id", json => { tenant => {} });
        my $same = exists $expect{$id} && $seen{ $expect{$id} };
        ok $put->status == ($same ? 202 : 201), "PUT $id" or diag $put->describe;
        my $get = $admin->get("/v2.0/$id");
        $get->is_status(200);
        $seen{ $get->json->{tenant}{id} }++;
        is $get->header('X-Tenant-Id') =~ s/%([0-9A-F]{2})/chr hex $1/ger, $id =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ger,
            'the header tells the id, encoded';
        $admin->put("/v2.0/$id/persistentvolumes/$id", json => { id => $id })->is_status($same ? 200 : 201, 'a resource of that name');
        my $self_link = $admin->get("/v2.0/$id/persistentvolumes/$id")->json->{metadata}{selfLink};
        $admin->get($self_link)->is_status(200, 'its selfLink leads to it');
    }
    is scalar keys %seen, @ids - 1, 'case, blanks, combining characters: all different (but for the two ways to write a plus)';
};

subtest 'the limits of an id' => sub {
    my $long = 'x' x 255;
    $admin->put("/v2.0/$long")->is_status(201, '255 characters');
    $admin->put("/v2.0/${long}x")->is_problem(400, undef, '256 characters');
    my $wide = '%F0%9F%8C%8D' x 255;
    $admin->put("/v2.0/$wide")->is_status(201, '255 characters of four bytes each');
    $admin->get("/v2.0/$wide")->is_status(200, 'found again');
    $admin->put("/v2.0/$wide%F0%9F%8C%8D")->is_problem(400, undef, '256 of those');
    $admin->put("/v2.0/t1/persistentvolumes/$wide", json => {})->is_status(201, 'a resource\'s name as long');
    $admin->put("/v2.0/t1/namespaces/$wide", json => {})->is_status(201, 'a namespace\'s');
    $admin->put("/v2.0/t1/namespaces/$wide/configmaps/$wide", json => {})->is_status(201, 'a name in such a namespace');
    $admin->get("/v2.0/t1/namespaces/$wide/configmaps/$wide")->is_status(200);
};

subtest 'one id in several encodings' => sub {
    $admin->make_tenant('caf%C3%A9');
    $admin->get('/v2.0/caf%c3%a9')->is_status(200, 'hexadecimal digits in either case');
    $admin->get('/v2.0/%63af%C3%A9')->is_status(200, 'what need not be encoded, encoded');
    raw("/v2.0/caf\xc3\xa9")->is_status(200, 'bare UTF-8');
};

subtest 'a trailing slash' => sub {
    for my $path ('/v2.0/', '/v2.0/t1/', '/v2.0/t1/persistentvolumes/') {
        my $get = $admin->get($path);
        $get->is_problem(404, 'not_found');
        like $get->detail, qr{/}, 'is explained';
    }
};

subtest 'links in answers' => sub {
    my $put = $admin->put('/v2.0/100%25%20%C3%A9', json => { tenant => {} });
    is $admin->path_of($put->location), '/v2.0/100%25%20%C3%A9', 'Location encodes the id';
    for my $host ('evil.test/path', 'a b', '"', "evil.test\@other", 'user:pass@host') {
        my $put = Tenure::Raw::exchange($admin->url, "PUT /v2.0/h HTTP/1.1\r\nHost: $host\r\nConnection: close\r\nX-Auth-Token: admin\r\n"
                . "Content-Length: 0\r\n\r\n");
        next if $put->status == 400;    # the web server would not have it
        unlike $put->location // '', qr/evil|user|"| /, "a Host like $host does not come back";
        $admin->delete('/v2.0/h');
        $instance->sql(q(UPDATE tenants SET live = NULL WHERE name = 'h'));
    }
    pass 'hosts';
};

done_testing;
