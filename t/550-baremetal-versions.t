#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Microversions of the Bare Metal API: which are taken, what the answers tell of them, what each has.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault fault_of);

my $instance = Tenure::Instance->start(combined => 1);
$instance->admin->make_tenant('t1');
my $ann    = Tenure::Metal->new($instance->combined('ann:t1'));
my $nobody = Tenure::Metal->new($instance->combined(undef));
my $asked  = 'X-OpenStack-Ironic-API-Version';

# The versions that an answer tells: the one it went by, the least, the greatest; "-" for none.
sub told {
    my ($response) = @_;
    return join ' ',
        map { $response->header("X-OpenStack-Ironic-API-$_") // '-' } qw(Version Minimum-Version Maximum-Version);
}

subtest 'the document at the top' => sub {
    for my $path ('', '/') {
        my $get = $nobody->client->get("/baremetal$path", headers => { $asked => 'nonsense' });
        $get->is_status(200, 'for everybody, whatever version is asked for');
        is told($get), '- - -', 'it tells none';
        is_deeply [sort keys %{ $get->json }], [qw(default_version description name versions)], 'its members';
        is_deeply $get->json->{versions}, [$get->json->{default_version}], 'one version';
        is_deeply $get->json->{default_version}, {
            id => 'v1', status => 'CURRENT', min_version => '1.1', version => '1.82',
            links => [{ rel => 'self', href => $nobody->url . '/v1/' }] }, 'this one';
    }
};

subtest 'the document of v1' => sub {
    my %added = ('1.1' => [], '1.22' => [qw(lookup heartbeat)], '1.23' => ['portgroups'], '1.32' => ['volume'],
        '1.49' => ['conductors'], '1.52' => ['allocations'], '1.54' => ['events'], '1.55' => ['deploy_templates'],
        '1.82' => ['shards']);
    my @there = qw(id links media_types version chassis nodes ports drivers);
    for my $version (sort { substr($a, 2) <=> substr($b, 2) } keys %added) {
        my $get = $nobody->version($version)->get('');
        $get->is_status(200);
        push @there, @{ $added{$version} };
        is_deeply [sort keys %{ $get->json }], [sort @there], "members at $version";
    }
    my $one = $nobody->get('')->json;
    is_deeply $nobody->get('/')->json, $one, 'with and without "/"';
    is_deeply $one->{nodes}, [{ rel => 'self', href => $nobody->url . '/v1/nodes/' },
        { rel => 'bookmark', href => $nobody->url . '/nodes/' }], 'links';
    is_deeply $one->{media_types}, { base => 'application/json', type => 'application/vnd.openstack.ironic.v1+json' },
        'media types';
    is_deeply [map { $_->{rel} } @{ $one->{links} }], [qw(self describedby)], 'where it is described';
    $nobody->client->get($nobody->client->path_of($one->{links}[1]{href}))->is_status(200, 'is there');
};

subtest 'the version asked for' => sub {
    for (['1.1', '1.1'], ['1.40', '1.40'], ['1.82', '1.82'], ['latest', '1.82'], ['LaTest', '1.82'], ['', '1.1'],
        [undef, '1.1'],
        [' 1.5 ', '1.5']) {
        my ($version, $used) = @$_;
        my $get = $ann->version($version)->get('/drivers');
        $get->is_status(200, defined $version ? "\"$version\"" : 'none');
        is told($get), "$used 1.1 1.82", "is $used";
    }
    is told($ann->get('/drivers', headers => { 'x-openstack-ironic-api-version' => '1.30' })), '1.30 1.1 1.82',
        'a header has no case';
    is told($ann->get('/drivers', headers => { 'OpenStack-API-Version' => 'baremetal 1.30' })), '1.1 1.1 1.82',
        'the other header is none of this API\'s';
};

subtest 'versions there are not' => sub {
    for my $version ('1.0', '1.83', '2.1', '0.9', '1.99999') {
        my $get = $ann->version($version)->get('/drivers');
        is_fault($get, 406, qr/\Q$version\E.*\[1\.1, 1\.82\]/, "$version is out of range", address => 1);
        is told($get), '- 1.1 1.82', 'the range is told, no version';
        is fault_of($get)->{title}, 'Not Acceptable', 'in the words that clients wait for';
    }
    for my $version ('abc', '1', '1.1.1', '1.', '.1', '-1.1', '1.-1', '1,1', '1.99999999999999999999', "1.1, 1.2") {
        my $get = $ann->version($version)->get('/drivers');
        is_fault($get, 406, qr/latest/, "\"$version\" is no version", address => 1);
        is told($get), '- - -', 'nothing is told';
    }
};

subtest 'the version comes before the address' => sub {
    for my $path ('/v1/nosuch', '/nosuch', '/v1/nodes/x/nosuch', '/v1/nosuch/') {
        my $bad = $nobody->client->get("/baremetal$path", headers => { $asked => '1.83' });
        is_fault($bad, 406, undef, "$path with a bad version", address => 1);
        my $good = $nobody->client->get("/baremetal$path", headers => { $asked => '1.82' });
        is_fault($good, 404, qr/no such address/, "$path with a good one", address => 1);
        is told($good), '1.82 1.1 1.82', 'errors tell the versions, too';
        like $good->header('Openstack-Request-Id'), qr/\Areq-[0-9a-f-]{36}\z/, 'and the request id';
    }
    my $put = $nobody->version('1.83')->put('/nodes');
    is_fault($put, 406, undef, 'before the method', address => 1);
    is_fault($nobody->version('1.83')->get('/nodes'), 406, undef, 'and before who asks', address => 1);
    is_fault($nobody->version('1.82')->get('/nodes'), 401, undef, 'which comes then');
};

subtest 'every answer' => sub {
    my $get = $ann->version('1.82')->get('/drivers');
    is $get->header('Openstack-Request-Id'), 'req-' . $get->request_id, 'has the request id in both forms';
    is $get->header('Vary'), undef, 'has no Vary';
    is told($ann->version('1.82')->get('/drivers/none')), '1.82 1.1 1.82', 'a 404 of a handler';
    is told($nobody->version('1.82')->get('/nodes')), '1.82 1.1 1.82', 'a 401';
    is told($ann->version('1.82')->get('/nodes', accept => 'text/html')), '1.82 1.1 1.82', 'a 406 of another kind';
    is told($ann->client->options('/baremetal/v1/nodes')), '1.1 1.1 1.82', 'OPTIONS';
};

subtest 'addresses that came later' => sub {
    my %since = ('/portgroups' => 23, '/nodes/x/portgroups' => 24, '/nodes/x/vifs' => 28, '/volume' => 32,
        '/nodes/x/bios' => 40,
        '/conductors' => 49, '/allocations' => 52, '/deploy_templates' => 55, '/nodes/x/history' => 78,
            '/shards' => 82);
    for my $path (sort keys %since) {
        my $before = '1.' . ($since{$path} - 1);
        is_fault($ann->version($before)->get($path), 404, qr/1\.$since{$path}/, "$path at $before", address => 1);
        my $get = $ann->version("1.$since{$path}")->get($path);
        ok !fault_of($get)->{code}, "$path is there since 1.$since{$path}" or diag $get->describe;
    }
    is_fault($ann->version('1.36')->get('/nodes/x/traits'), 406, qr/1\.37/, 'traits are told apart');
    is_fault($ann->version('1.11')->put('/nodes/x/states/raid', json => {}), 406, qr/1\.12/, 'so is RAID');
    is_fault($ann->version('1.11')->get('/drivers/ipmi/raid/logical_disk_properties'), 406, qr/1\.12/, '... of drivers');
    $ann->version('1.12')->get('/drivers/ipmi/raid/logical_disk_properties')->is_status(200, '... which is there since 1.12');
    is_fault($ann->version('1.36')->put('/nodes/x/traits/CUSTOM_A'), 406, qr/1\.37/, 'for changes, too');
};

subtest 'If-Match came with the etags' => sub {
    for my $call (['PUT', 'maintenance'], ['DELETE', 'maintenance'], ['PUT', 'traits/CUSTOM_A'], ['DELETE', 'traits'],
        ['PUT', 'states/power', json => { target => 'power on' }]) {
        my ($method, $path, @body) = @$call;
        is_fault($ann->version('1.39')->request($method, "/nodes/x/$path", if_match => 'W/"00"', @body), 406, qr/1\.40/,
            "$method $path");
        is_fault($ann->version('1.40')->request($method, "/nodes/x/$path", if_match => 'W/"00"', @body), 404, undef,
            'since 1.40 it is read');
    }
    $ann->version('1.39')->get('/drivers', if_match => 'W/"00"')->is_status(200,
        'a GET has no use for it, so it is no harm');
};

subtest 'where it is mounted' => sub {
    my $admin = Tenure::Metal->new($instance->admin, '1.82');
    like $admin->get('/drivers')->json->{drivers}[0]{links}[0]{href},
        qr{\A\Q@{[ $instance->admin->url ]}\E/baremetal/v1/drivers/},
        'links lead to the endpoint that was asked';
    is_fault(Tenure::Metal->new($instance->service('ann:t1'), '1.82')->get('/chassis'), 404, undef,
        'chassis are none of the service endpoint\'s', address => 1);
};

done_testing;
