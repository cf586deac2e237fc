#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Counts by type: of a tenant and of all, after changes of every kind, page by page; who may ask; the command.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Tool;

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;

# { type => n } as the answer has it, in its order.
sub rows {
    my ($tenant) = @_;
    my $answer = $admin->get("/v2.0/$tenant/counts");
    $answer->is_status(200) or return [];
    return [map { [@{$_}{qw(type resources)}] } @{ $answer->json->{counts} }];
}

# Returns the rows of all pages, and how many pages there are.
sub walk {
    my ($query) = @_;
    my @pages = $admin->pages("/v2.0/all/counts?$query");
    return ([map { [@{$_}{qw(tenant type resources)}] } map { @{ $_->json->{counts} } } @pages], scalar @pages);
}

$admin->make_tenant($_) for qw(zoo abc empty gone a%26b);
is_deeply rows('zoo'), [], 'a new tenant has nothing: its namespace "default" does not count';

subtest 'what counts' => sub {
    $admin->make("/v2.0/zoo/namespaces/default/configmaps/c$_") for 1 .. 3;
    $admin->make('/v2.0/zoo/namespaces/n');
    $admin->make("/v2.0/zoo/namespaces/n/secrets/s$_") for 1, 2;
    $admin->make('/v2.0/zoo/persistentvolumes/pv');
    my $all = [[configmaps => 3], [namespaces => 1], [persistentvolumes => 1], [secrets => 2]];
    is_deeply rows('zoo'), $all, 'each type, by its name';
    my $sum = 0;
    $sum += $_->[1] for @$all;
    is $admin->get('/v2.0/zoo')->json->{tenant}{resources}, $sum, 'the sum is that of the tenant';
    $admin->delete('/v2.0/zoo/namespaces/default/configmaps/c1')->is_status(204);
    is rows('zoo')->[0][1], 2, 'a deleted one does not count';
    $admin->delete('/v2.0/zoo/persistentvolumes/pv')->is_status(204);
    is_deeply [map { $_->[0] } @{ rows('zoo') }], [qw(configmaps namespaces secrets)], 'no row for a type of which nothing is left';
    $admin->post('/v2.0/zoo/persistentvolumes/pv/action/recover')->is_status(204);
    is_deeply [map { $_->[0] } @{ rows('zoo') }], [qw(configmaps namespaces persistentvolumes secrets)], 'a recovered one counts again';
    $admin->post('/v2.0/zoo/namespaces/n/action/move?dest=abc');
    is_deeply rows('abc'), [[namespaces => 1], [secrets => 2]], 'what was moved counts where it is';
    is_deeply rows('zoo'), [[configmaps => 2], [persistentvolumes => 1]], 'and no longer where it was';
};

subtest 'all tenants' => sub {
    $admin->make('/v2.0/gone/persistentvolumes/pv');
    $admin->make('/v2.0/a%26b/persistentvolumes/pv');
    $admin->delete('/v2.0/gone')->is_status(204);
    my @want = (['a&b', persistentvolumes => 1], [abc => namespaces => 1], [abc => secrets => 2], [zoo => configmaps => 2],
        [zoo => persistentvolumes => 1]);
    my ($rows, $pages) = walk('limit=1000');
    is_deeply $rows, \@want, 'by tenant and type, none of a deleted one or one that is empty';
    is $pages, 1, 'on a page';
    for my $limit (1 .. 4) {
        ($rows, $pages) = walk("limit=$limit");
        is_deeply $rows, \@want, "the same by $limit";
        is $pages, int((4 + $limit - 1) / $limit), 'a page has so many tenants, with the empty one';
    }
    is_deeply [map { $_->{tenant} } @{ $admin->get('/v2.0/all/counts?marker=abd')->json->{counts} }], ['zoo', 'zoo'], 'behind a marker';
};

# Large tenants: their own count decides how many are counted together.
subtest 'pages are bounded' => sub {
    my $set = sub { $instance->sql("UPDATE tenant_counts SET resources = $_[1] WHERE tenant_id = (SELECT id FROM tenants WHERE name = '$_[0]' AND live = 1)") };
    my ($want) = walk('limit=1000');
    $set->('abc', 100_000);
    my ($rows, $pages) = walk('limit=1000');
    is_deeply $rows, $want, 'the same rows';
    is $pages, 3, 'what stands before a tenant of 100,000, the tenant and the empty one behind it, and the rest';
    $set->('abc', 99_999);
    is_deeply [walk('limit=1000')], [$want, 2], 'with one before it, 100,000 together are one page';
    $set->('abc', 7_000_000);
    is_deeply [walk('limit=1000')], [$want, 3], 'a larger one is a page by itself';
    $set->('abc', 3);
};

subtest 'forms' => sub {
    is $admin->get('/v1.0/abc/counts')->text, '{"counts":[{"account":"abc","type":"namespaces","resources":1},{"account":"abc","type":"secrets","resources":2}]}',
        'in the words of /v1.0';
    like $admin->get('/v2.0/abc/counts', accept => 'application/xml')->text,
        qr{<counts[^>]*>\s*<count tenant="abc" type="namespaces" resources="1"/>\s*<count tenant="abc" type="secrets" resources="2"/>\s*</counts>}, 'as XML';
    like $admin->get('/v2.0/all/counts?limit=1', accept => 'application/xml')->text, qr{<counts[^>]* next="[^"]+marker=a%26b"}, 'and its next page';
};

subtest 'the collections of a tenant' => sub {
    my $url = $instance->env('TENURE_ADMIN_URL');
    $admin->put('/v2.0/col%20%CE%A3', json => { tenant => { metadata => { collections => 'mine' } } })->is_status(201);
    my $plain = $admin->get('/v2.0/col%20%CE%A3');
    is_deeply [exists $plain->json->{tenant}{collections}, $plain->json->{tenant}{metadata}], ['', { collections => 'mine' }], 'only when asked for';
    is_deeply $admin->get('/v2.0/col%20%CE%A3?collections=true')->json->{tenant}{collections}, [], 'an empty list';
    $admin->make("/v2.0/col%20%CE%A3/$_") for 'namespaces/default/configmaps/a', 'namespaces/default/configmaps/b', 'persistentvolumes/v';
    my $with = $admin->get('/v2.0/col%20%CE%A3?collections=1');
    my $tenant = $with->json->{tenant};
    my $list = delete $tenant->{collections};
    is_deeply [map { [@{$_}{qw(type resources)}] } @$list], [[configmaps => 2], [persistentvolumes => 1]], 'each with its number';
    is_deeply $tenant, $admin->get('/v2.0/col%20%CE%A3')->json->{tenant}, '... beside all that the document has without them';
    for my $collection (@$list) {
        like $collection->{href}, qr{\A\Q$url\E/v2\.0/col%20%CE%A3/\w+\z}, 'an address';
        is scalar @{ $admin->get($admin->path_of($collection->{href}))->json->{resources} }, $collection->{resources}, '... that has so many';
    }
    is $with->etag, $plain->etag, 'the etag is that of the tenant';
    $admin->get('/v2.0/col%20%CE%A3?collections=true', if_none_match => $plain->etag)->is_status(304);
    my $xml = $admin->get('/v1.0/col%20%CE%A3?collections=true', accept => 'application/xml')->text;
    like $xml, qr{<metadata>\s*<collections>mine</collections>\s*</metadata>\s*<collections>\s*<collection type="configmaps" resources="2" href="[^"]+/v1\.0/[^"]+/configmaps"/>},
        'as XML, where metadata of that name stand apart';
    (my $put = $admin->put('/v2.0/col%20%CE%A3', json => { tenant => { %$tenant, collections => [] } }))->is_status(400);
    like $put->text, qr{collections}, 'a PUT does not change them';
    is_deeply rows('col%20%CE%A3'), [[configmaps => 2], [persistentvolumes => 1]], '... and nothing is lost';
    for my $query ('', '?collections=true', '?collections=0') {
        my ($get, $head) = map { $admin->request($_, "/v2.0/col%20%CE%A3$query") } 'GET', 'HEAD';
        $head->is_status(204, "HEAD with '$query'");
        my @same = ('ETag', 'Vary', 'X-Tenant-Resource-Count');
        is_deeply [map { $head->header($_) } @same], [map { $get->header($_) } @same], '... has what GET has';
        like $admin->head("/v2.0/col%20%CE%A3$query", if_none_match => $get->etag)->header('Vary'), qr/Accept/, '... when nothing has changed, too';
    }
    $admin->head('/v2.0/abc?collections=yes')->is_status(400, 'neither true nor false');
    for my $of (['v1.0', 'account'], ['v2.0', 'tenant']) {
        my $path = "/$of->[0]/bare-$of->[1]";
        my $bare = $admin->put($path, json => { $of->[1] => {} });
        my $form = $admin->get("$path?collections=true", accept => 'application/xml');
        unlike $form->text, qr{<(?:metadata|collections)}, 'in XML, there is no element of nothing';
        my $back = $admin->put($path, xml => $form->text);
        $back->is_status(202, 'so it can be sent back');
        is $back->etag, $bare->etag, '... and changes nothing';
        is_deeply $admin->get($path)->json->{ $of->[1] }{metadata}, {}, '... no metadata either';
    }
    $admin->get('/v2.0/abc?collections=yes')->is_status(400, 'neither true nor false');
    $instance->service('ann:zoo:admin')->get('/v2.0/abc?collections=true')->is_status(404, 'not for those of another tenant');
    $admin->delete('/v2.0/col%20%CE%A3')->is_status(204);
};

subtest 'who may, and mistakes' => sub {
    $instance->service('ann:abc:reader')->get('/v2.0/abc/counts')->is_status(200, 'a reader');
    $instance->service('ann:zoo:admin')->get('/v2.0/abc/counts')->is_status(404, 'not who is of another tenant');
    $instance->combined('ann:abc:admin')->get('/v2.0/all/counts')->is_status(403, 'all tenants are for operators alone');
    $instance->service('ann:abc:admin')->get('/v2.0/all/counts')->is_status(404, 'and not on the endpoint of users');
    $admin->get('/v2.0/nobody/counts')->is_status(404, 'no such tenant');
    $admin->get('/v2.0/gone/counts')->is_status(410, 'a deleted one');
    $admin->get("/v2.0/all/counts?$_")->is_status(400, "refused: $_") for 'limit=0', 'limit=1001', 'limit=x', 'unknown=1';
    $admin->get('/v2.0/abc/counts?limit=1')->is_status(400, 'the count of a tenant is one answer');
};

subtest 'tenure count' => sub {
    my $tool = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => 'admin');
    is $tool->ends(0, qw(count abc --format csv))->{out}, "type,resources\nnamespaces,1\nsecrets,2\n", 'of a tenant';
    is $tool->ends(0, qw(count -t abc --format csv --columns resources))->{out}, "resources\n1\n2\n", 'by the option';
    is $tool->ends(0, qw(count --all-tenants --format csv))->{out},
        "tenant,type,resources\na&b,persistentvolumes,1\nabc,namespaces,1\nabc,secrets,2\nzoo,configmaps,2\nzoo,persistentvolumes,1\n", 'of all';
    is $tool->ends(0, qw(count empty --format csv))->{out}, "type,resources\n", 'of one that has nothing';
    like $tool->run('count', 'nobody')->{err}, qr/counts of nobody/, 'of one that does not exist';
};

done_testing;
