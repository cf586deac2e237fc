#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Placement: microversions, what came with which, what every answer tells.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Placement qw(is_error uuid);

my $instance  = Tenure::Instance->start(placement => 1, combined => 1);
my $placement = Tenure::Placement->new($instance->placement, '1.39');
my $header    = 'openstack-api-version';

sub asks {
    my ($version, %option) = @_;
    return $placement->version(undef)->get($option{path} // '/resource_providers',
        headers => { defined $version ? ('OpenStack-API-Version' => $version) : () });
}

subtest 'the document' => sub {
    my $root = $placement->as(undef)->version(undef)->get('/');
    $root->is_status(200, 'is there for everybody');
    is_deeply $root->json, { versions => [ { id => 'v1.0', min_version => '1.0', max_version => '1.39', status => 'CURRENT',
        links => [ { rel => 'self', href => '' } ] } ] }, 'and says what there is';
    is $root->header($header), 'placement 1.0', 'without a version it is the oldest';
    is $root->header('vary'), $header, 'an answer varies by it';
    is $root->header('cache-control'), undef, 'before 1.15 nothing says whether it may be kept';
    is $placement->as(undef)->get('/')->header('cache-control'), 'no-cache', 'then something does';
    like $placement->get('/')->header('last-modified'), qr/\A\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\z/, 'and since when it is so';
    $placement->as(undef)->version('7.1')->get('/')->is_status(406, 'nobody is told of a wrong version, too');
};

subtest 'the header' => sub {
    my @good = (
        [ undef,                                  '1.0' ],
        [ 'placement 1.0',                        '1.0' ],
        [ 'placement 1.39',                       '1.39' ],
        [ 'placement latest',                     '1.39' ],
        [ 'Placement  1.7',                       '1.7' ],
        [ 'compute 2.90, placement 1.12',         '1.12' ],
        [ 'placement 1.4,placement 1.5',          '1.5' ],
        [ 'placement 1.11 , identity 3.0',        '1.11' ],
        [ 'compute 2.90',                         '1.0' ],
        [ 'placements 1.11',                      '1.0' ],
        [ 'nonsense',                             '1.0' ],
        [ '',                                     '1.0' ],
    );
    for my $case (@good) {
        my $answer = asks($case->[0]);
        is $answer->header($header), "placement $case->[1]", defined $case->[0] ? "\"$case->[0]\"" : 'none';
        $answer->is_status(200);
    }
    for my $text ('placement 1.40', 'placement 0.9', 'placement 2.0', 'placement 1.4294967295') {
        my $answer = asks($text);
        my ($version) = $text =~ / (.*)/;
        is_error($answer, 406, qr/Unacceptable version header: \Q$version\E/, name => "$text is out of range");
        is $answer->json->{errors}[0]{max_version}, '1.39', 'the range is told';
        is $answer->json->{errors}[0]{min_version}, '1.0';
        is $answer->header($header), undef, 'no version is';
    }
    for my $text ('placement pony.horse', 'placement 1', 'placement 1.2.3', 'placement 1.', 'placement -1.2', 'placement 1.99999999999999999999') {
        my ($version) = $text =~ / (.*)/;
        is_error(asks($text), 400, qr/invalid version string: \Q$version\E/, name => "$text is none");
    }
};

# The first microversion of each call, and what there was before.
my @calls = (
    [ GET    => '/resource_classes',                      2 ],
    [ POST   => '/resource_classes',                      2 ],
    [ GET    => '/resource_classes/VCPU',                 2 ],
    [ PUT    => '/resource_classes/CUSTOM_A',             2 ],
    [ DELETE => '/resource_classes/CUSTOM_A',             2 ],
    [ GET    => '/traits',                                6 ],
    [ GET    => '/traits/CUSTOM_A',                       6 ],
    [ PUT    => '/traits/CUSTOM_A',                       6 ],
    [ DELETE => '/traits/CUSTOM_A',                       6 ],
    [ GET    => '/resource_providers/UUID/aggregates',    1 ],
    [ PUT    => '/resource_providers/UUID/aggregates',    1 ],
    [ GET    => '/resource_providers/UUID/traits',        6 ],
    [ PUT    => '/resource_providers/UUID/traits',        6 ],
    [ DELETE => '/resource_providers/UUID/traits',        6 ],
    [ GET    => '/usages?project_id=p',                   9 ],
    [ POST   => '/allocations',                           13 ],
);

subtest 'a call that came later is not there' => sub {
    my $uuid = $placement->provider('versions');
    for my $call (@calls) {
        my ($method, $path, $since) = @$call;
        $path =~ s/UUID/$uuid/;
        my %body = $method =~ /PUT|POST/ ? (json => {}) : ();
        my $before = $placement->version('1.' . ($since - 1))->request($method, $path, %body);
        is_error($before, 404, qr/1\.$since/, name => "$method $path is 404 before 1.$since");
        isnt $placement->version("1.$since")->request($method, $path, %body)->text, $before->text, 'then it is something else';
    }
    my $path   = "/resource_providers/$uuid/inventories";
    my $answer = $placement->version('1.4')->delete($path);
    is_error($answer, 405, qr/The method DELETE is not allowed for this resource/, name => 'DELETE of all inventories is 405 before 1.5');
    is $answer->header('allow'), 'GET, POST, PUT', 'and it is told what is there';
    $placement->version('1.5')->delete($path)->is_status(204, 'then it is there');
};

subtest 'providers by version' => sub {
    my $uuid = uuid();
    my $old  = $placement->version('1.19')->post('/resource_providers', json => { name => 'old', uuid => $uuid });
    $old->is_status(201, 'before 1.20 a new one is answered 201');
    is $old->text, '', 'without a body';
    is $old->header('content-type'), undef, 'or its type';
    is $old->location, $placement->url . "/resource_providers/$uuid", 'and with its address';
    my $new = $placement->version('1.20')->post('/resource_providers', json => { name => 'new' });
    $new->is_status(200, 'then 200');
    like $new->location, qr{\A\Q@{[ $placement->url ]}\E/resource_providers/[-0-9a-f]{36}\z}, 'with its address';
    is $new->json->{name}, 'new', 'and itself';
    my %members = (
        '1.0'  => [qw(generation links name uuid)],
        '1.13' => [qw(generation links name uuid)],
        '1.14' => [qw(generation links name parent_provider_uuid root_provider_uuid uuid)],
    );
    for my $version (sort keys %members) {
        is_deeply [ sort keys %{ $placement->version($version)->get("/resource_providers/$uuid")->json } ], $members{$version},
            "members at $version";
    }
    my %links = ('1.0' => 3, '1.1' => 4, '1.5' => 4, '1.6' => 5, '1.10' => 5, '1.11' => 6, '1.39' => 6);
    for my $version (sort keys %links) {
        my $links = $placement->version($version)->get("/resource_providers/$uuid")->json->{links};
        is scalar @$links, $links{$version}, "$links{$version} links at $version";
        is_deeply [ grep { $_->{href} !~ m{\A/resource_providers/\Q$uuid\E(/$_->{rel})?\z} } @$links ], [], 'that are paths';
    }
    is_error($placement->version('1.13')->post('/resource_providers', json => { name => 'n', parent_provider_uuid => $uuid }), 400,
        qr/JSON does not validate: Additional properties are not allowed \('parent_provider_uuid' was unexpected\)/);
};

subtest 'filters by version' => sub {
    my $uuid   = uuid();
    my %filter = (member_of => [ 3, $uuid ], resources => [ 4, 'VCPU:1' ], in_tree => [ 14, $uuid ], required => [ 18, 'HW_CPU_X86_AVX' ]);
    for my $name (sort keys %filter) {
        my ($since, $value) = @{ $filter{$name} };
        is_error($placement->version('1.' . ($since - 1))->get("/resource_providers?$name=$value"), 400,
            qr/Invalid query string parameters: Additional properties are not allowed \('\Q$name\E' was unexpected\)/,
            name => "$name is not there before 1.$since");
        $placement->version("1.$since")->get("/resource_providers?$name=$value")->is_status(200, 'then it is');
    }
};

subtest 'headers for caches' => sub {
    my $uuid = $placement->provider('caches');
    $placement->inventories($uuid, VCPU => { total => 1 });
    for my $path ('/', '/resource_providers', "/resource_providers/$uuid", "/resource_providers/$uuid/inventories",
        "/resource_providers/$uuid/inventories/VCPU", "/resource_providers/$uuid/usages", "/resource_providers/$uuid/aggregates",
        "/resource_providers/$uuid/traits", "/resource_providers/$uuid/allocations", '/allocations/' . uuid(), '/traits',
        '/traits/HW_CPU_X86_AVX', '/resource_classes', '/resource_classes/VCPU', '/usages?project_id=p')
    {
        my $old = $placement->version('1.14')->get($path);
        is $old->header('cache-control') // $old->header('last-modified'), undef, "none for $path before 1.15";
        my $new = $placement->version('1.15')->get($path);
        is $new->header('cache-control'), 'no-cache', 'from then on it may not be kept';
        ok defined $new->header('last-modified'), 'and tells since when it is so';
    }
    my $path = '/resource_providers/' . $placement->provider('empty') . '/inventories';
    for my $empty ($placement->get($path), $placement->put($path, json => { resource_provider_generation => 0, inventories => {} })) {
        $empty->is_status(200);
        is $empty->header('cache-control'), 'no-cache', 'no inventories may not be kept either';
        is $empty->header('last-modified'), undef, 'but are so since no time';
    }
    ok defined $placement->inventories($uuid, VCPU => { total => 2 })->header('last-modified'), 'those that are put are';
    is $placement->put('/traits/CUSTOM_CACHES')->header('cache-control'), 'no-cache', 'a trait that is put has them';
    is $placement->delete('/traits/CUSTOM_CACHES')->header('cache-control'), undef, 'one that is deleted has not';
    is $placement->put('/resource_classes/CUSTOM_CACHES')->header('cache-control'), undef, 'nor has a class';
};

subtest 'what tells of the version' => sub {
    is $placement->get('/nothing')->header($header), 'placement 1.39', 'an address that is none';
    is $placement->get('/nothing')->header('vary'), undef, 'which does not vary';
    my %missing = ('1.5' => '/traits', '1.9' => '/allocation_candidates', '1.39' => '/resource_providers/' . uuid() . '/usages',
        '1.38' => '/traits/CUSTOM_MISSING');
    for my $version (sort keys %missing) {
        my $answer = $placement->version($version)->get($missing{$version});
        is_error($answer, 404, undef, $version =~ /3/ ? (code => 'undefined_code') : ());
        is $answer->header('vary'), $header, "... which varies: $missing{$version} at $version";
    }
    my $deleted = $placement->delete('/allocations/' . uuid());
    is_error($deleted, 404, undef, code => 'undefined_code');
    is $deleted->header('vary'), $header, '... which varies, too';
    is $placement->request('POST', '/', json => {})->header($header), 'placement 1.39', 'a method that is none';
    is $placement->as(undef)->get('/traits')->header($header), undef, 'but nobody is told';
    my $refused = $placement->as('user')->get('/resource_providers');
    is $refused->header($header), 'placement 1.39', 'who is refused is told';
    is $refused->header('vary'), undef, 'which does not vary';
    like $placement->get('/traits')->header('x-openstack-request-id'), qr/\Areq-[-0-9a-f]{36}\z/, 'and every answer has an id';
};

subtest 'under /placement of an endpoint' => sub {
    my $below = Tenure::Placement->new($instance->admin, '1.39', '/placement');
    my $uuid  = $below->provider('below');
    my $links = $below->get("/resource_providers/$uuid")->json->{links};
    is_deeply [ grep { $_->{href} !~ m{\A/placement/resource_providers/\Q$uuid\E} } @$links ], [], 'links have the prefix';
    is $below->post('/resource_providers', json => { name => 'other', uuid => '7d4275fc8b40499585e274fcec2cb3b6' })->location,
        $below->url . '/resource_providers/7d4275fc-8b40-4995-85e2-74fcec2cb3b6', 'and so has Location';
    is $below->get('/resource_classes/VCPU')->json->{links}[0]{href}, '/placement/resource_classes/VCPU', 'a class, too';
    $below->get('')->is_status(200, 'the document is at /placement');
    $below->get('/')->is_status(200, 'and at /placement/');
    is_error($below->get('/nothing'), 404, qr/application\.wadl/, name => 'what is not there is told in these words');
    $placement->get("/resource_providers/$uuid")->is_status(200, 'it is the same registry');
    my $service = Tenure::Placement->new($instance->service('ann:t1'), '1.39', '/placement');
    $service->get('/traits')->is_status(200, 'users may ask which traits there are');
    is_error($service->get('/resource_providers'), 404, undef, name => 'and nothing else, where they are served');
    my $combined = Tenure::Placement->new($instance->combined('ann:t1'), '1.39', '/placement');
    is_error($combined->get('/resource_providers'), 403, undef, name => 'where operators are served as well, it is not theirs');
};

done_testing;
