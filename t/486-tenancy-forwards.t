#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Forwards as objects: listed with what made them, given an end, ended; and the list of a tenant's moves.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;
$admin->make_tenant($_) for 't1', 't2', 't3';

# Puts and moves one resource of t1; the id of the request that moved it.
sub moved {
    my ($path, $dest) = @_;
    my $at = '/v2.0/t1/' . $path =~ s/ /%20/r;
    $admin->put($at, json => {})->is_status(201);
    my $answer = $admin->post("$at/action/move?dest=$dest");
    $answer->is_status(303);
    return $answer->header('X-Request-Id');
}

my $config = 'namespaces/default/configmaps';
my %request = map { $_ => moved($_, 't2') } 'persistentvolumes/disk1', "$config/web", "$config/a b", 'persistentvolumes/disk2';

sub forwards { return @{ $admin->get("/v2.0/$_[0]/forwards")->json->{forwards} } }
sub named { my ($name) = @_; my ($forward) = grep { $_->{resource} eq $name } forwards('t1'); return $forward }

subtest 'the list' => sub {
    my $disk = named('persistentvolumes/disk1');
    my $held = $admin->get('/v2.0/t2/persistentvolumes/disk1')->json->{metadata};
    is $disk->{uid}, $held->{uid}, 'whose address it was';
    is $disk->{dest}, 't2', 'where it is';
    like $disk->{location}, qr{^http.*/v2\.0/t2/persistentvolumes/disk1$}, '... as an address';
    is $disk->{request_id}, $request{'persistentvolumes/disk1'}, 'which request moved it';
    like $disk->{moved_at}, qr/^20\d\d-\d\d-\d\dT/, 'when';
    is $disk->{state}, 'moved', 'that it lives';
    is $disk->{expires_at}, undef, 'without an end';
    is_deeply [sort map { $_->{resource} } forwards('t1')], [sort keys %request], 'all of them';
    is_deeply [forwards('t2')], [], 'none at the destination';

    is_deeply [$admin->list('/v2.0/t1/forwards?limit=1', 'forwards')], [forwards('t1')], 'page by page the same';
    like $admin->get('/v2.0/t1/forwards', headers => { Accept => 'application/xml' })->text,
        qr{<forwards>\s*<forward resource="[^"]+" uid=}, 'as XML';
    like $admin->get('/v1.0/t1/forwards')->json->{forwards}[0]{location}, qr{/v1\.0/t2/}, 'in the words of v1.0';
    $admin->get("/v2.0/t1/forwards?$_")->is_status(400, "refused: $_") for 'limit=0', 'marker=x', 'marker=1/2/3/4', 'marker=1//', 'unknown=1';
    $admin->get('/v2.0/none/forwards')->is_status(404, 'of no tenant');
};

subtest 'pages that end with the longest names' => sub {
    my @space = ('s' x 255, 't' x 255);
    $admin->make_tenant($_) for 'long1', 'long2';
    for my $space (@space) {
        my $below = "/namespaces/$space";
        $admin->put("/v2.0/$_$below", json => {})->is_status(201) for 'long1', 'long2';
        $admin->put("/v2.0/long1$below/configmaps/" . 'c' x 255, json => {})->is_status(201);
        $admin->post("/v2.0/long1$below/configmaps/" . 'c' x 255 . '/action/move?dest=long2')->is_status(303);
    }
    is_deeply [$admin->list('/v2.0/long1/forwards?limit=1', 'forwards')], [forwards('long1')], 'page by page the same';
    is scalar(() = forwards('long1')), 2, 'both';
};

subtest 'who may' => sub {
    $instance->service('ann:t1:admin')->get('/v2.0/t1/forwards')->is_status(404, 'the endpoint of users has no forwards');
    for my $who ('ann:t1:admin', 'bob:t2:admin') {
        my $client = $instance->combined($who);
        isnt $client->get('/v2.0/t1/forwards')->status, 200, "$who may not list them";
        isnt $client->delete('/v2.0/t1/forwards/persistentvolumes/disk1')->status, 204, '... nor end one';
        isnt $client->put('/v2.0/t1/forwards/persistentvolumes/disk1', json => { forward => {} })->status, 200, '... nor set its end';
        isnt $client->get('/v2.0/t1/moves')->status, 200, '... nor list moves';
    }
};

# Reads what an operator may read, and changes nothing.
subtest 'a reader of the system' => sub {
    my $client = $instance->combined('auditor');
    my $status = sub { my ($method, $path, @more) = @_; return $client->$method($path, headers => { 'X-Roles' => 'reader', 'OpenStack-System-Scope' => 'all' }, @more)->status };
    my ($move) = @{ $admin->get('/v2.0/t1/moves')->json->{moves} };
    for my $path ('/v2.0/t1/forwards', '/v2.0/t1/forwards/persistentvolumes/disk1', '/v2.0/t1/persistentvolumes/disk1', '/v2.0/t1/moves', "/v2.0/t1/moves/$move->{id}",
        '/api/v1/tenants', '/api/v1/tenants/t1', '/api/v1/tenants?fieldSelector=metadata.name=t1', '/api/v1/tenants/t1/namespaces/default/configmaps', '/api/v1', '/api/v1/namespaces') {
        my $answer = $admin->get($path);
        is $status->(get => $path), $answer->status, "$path: as the operator, " . $answer->status;
    }
    my $names = sub { my ($who, @more) = @_; return join ' ', map { $_->{metadata}{name} } @{ $who->get('/api/v1/tenants', @more)->json->{items} } };
    is $names->($client, headers => { 'X-Roles' => 'reader', 'OpenStack-System-Scope' => 'all' }), $names->($admin), 'the same tenants';
    is $status->(put => '/api/v1/tenants/t1', json => { metadata => { name => 't1' } }), 403, 'changes none';
    is $status->(post => '/api/v1/tenants', json => { metadata => { name => 't9' } }), 403, '... and makes none';
    isnt $status->(delete => '/v2.0/t1/forwards/persistentvolumes/disk1'), 204, '... and ends no forward';
    my $may = sub {
        my (%spec) = @_;
        my $review = { apiVersion => 'authorization.k8s.io/v1', kind => 'SelfSubjectAccessReview', spec => {%spec} };
        return $client->post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', headers => { 'X-Roles' => 'reader', 'OpenStack-System-Scope' => 'all' }, json => $review)->json->{status}{allowed} ? 1 : 0;
    };
    for my $question ([{ verb => 'list', resource => 'tenants' }, 1], [{ verb => 'get', resource => 'tenants', name => 't1' }, 1], [{ verb => 'list', group => '*', resource => '*' }, 1],
        [{ verb => 'list', group => 'example.com', resource => 'things' }, 1], [{ verb => 'create', resource => 'tenants' }, 0], [{ verb => 'delete', resource => 'tenants', name => 't1' }, 0],
        [{ verb => '*', group => '*', resource => '*' }, 0], [{ verb => 'impersonate', resource => 'users' }, 0]) {
        my ($attributes, $want) = @$question;
        is $may->(resourceAttributes => $attributes), $want, 'review: ' . join ' ', map { "$_ $attributes->{$_}" } sort keys %$attributes;
    }
    is $may->(nonResourceAttributes => { verb => 'get', path => '/api/v1/tenants/t1/namespaces' }), 1, '... of a path';
    my $rules = $client->post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', headers => { 'X-Roles' => 'reader', 'OpenStack-System-Scope' => 'all' },
        json => { apiVersion => 'authorization.k8s.io/v1', kind => 'SelfSubjectRulesReview', spec => { namespace => 'default' } })->json->{status};
    is_deeply [ grep { $_ ne 'watch' } @{ $rules->{resourceRules}[0]{verbs} } ], [qw(get list)], '... of all rules';
    is_deeply $rules->{nonResourceRules}, [{ verbs => ['get'], nonResourceURLs => ['*'] }], '... and paths';
};

subtest 'an end' => sub {
    my $at = '/v2.0/t1/forwards/persistentvolumes/disk1';
    my $answer = $admin->put($at, json => { forward => { expires_at => '2099-01-02T03:04:05Z' } });
    $answer->is_status(200);
    is $answer->json->{forward}{expires_at}, '2099-01-02T03:04:05Z', 'told';
    is named('persistentvolumes/disk1')->{expires_at}, '2099-01-02T03:04:05Z', 'and kept';
    $admin->put($at, json => $answer->json)->is_status(200, 'what was read may be sent back');
    $admin->get('/v2.0/t1/persistentvolumes/disk1')->is_status(301, 'until then it leads on');
    for my $time ('2001-01-01T00:00:00Z', 'tomorrow', '', '10000-01-01T00:00:00Z', "2099-01-01T00:00:00Z\0") {
        my $refused = $admin->put($at, json => { forward => { expires_at => $time } });
        $refused->is_status(400, 'no time in the future: ' . ($time =~ s/\0/\\0/r));
        like $refused->json->{detail}, qr/expires_at must be a time in the future/, '... told so';
    }
    $admin->put($at, json => { forward => { until => 1 } })->is_status(400, 'no other member');
    $admin->put("/v2.0/t1/forwards/$config/web", json => { forward => { expires_at => '2099-01-01T00:00:00+01:00' } })->is_status(200, 'in a namespace');
    $instance->sql(q(UPDATE forwards SET expires_at = '2001-01-01' WHERE name = 'disk1'));
    $admin->get('/v2.0/t1/persistentvolumes/disk1')->is_status(404, 'then it leads nowhere');
    is named('persistentvolumes/disk1'), undef, '... and is not listed';
    $admin->put($at, json => { forward => {} })->is_status(404, '... nor revived');
    like(($instance->manage('reap', '--dry-run'))[1], qr/ 1 forwards/, 'reap tells it beforehand');
    like(($instance->manage('reap'))[1], qr/ 1 forwards/, '... and deletes it');
    $admin->put("/v2.0/t1/forwards/$config/web", json => { forward => {} })->is_status(200, 'an end is taken back');
    is named("$config/web")->{expires_at}, undef, '... for good';
};

subtest 'ended at once' => sub {
    $admin->delete("/v2.0/t1/forwards/$config/a%20b")->is_status(204);
    $admin->get("/v2.0/t1/$config/a%20b")->is_status(404, 'the address has nothing');
    $admin->get("/v2.0/t2/$config/a%20b")->is_status(200, 'the resource is where it was');
    $admin->delete("/v2.0/t1/forwards/$config/a%20b")->is_status(404, 'once');
    $admin->delete("/v2.0/t2/forwards/$config/a%20b")->is_status(404, 'a resource is no forward');
    $admin->get("/v2.0/t2/$config/a%20b")->is_status(200, '... and stays');
    $admin->delete('/v2.0/t1/forwards/nothings/x')->is_status(404, 'of no type');
};

subtest 'a chain, and what is gone' => sub {
    $admin->post('/v2.0/t2/persistentvolumes/disk2/action/move?dest=t3')->is_status(303);
    is named('persistentvolumes/disk2')->{dest}, 't3', 'the first address leads to the end of the chain';
    is named('persistentvolumes/disk2')->{request_id}, $request{'persistentvolumes/disk2'}, '... still of its own request';
    $admin->delete('/v2.0/t3/persistentvolumes/disk2')->is_status(204);
    is named('persistentvolumes/disk2')->{state}, 'gone', 'what was deleted';
    $admin->post('/v2.0/t3/persistentvolumes/disk2/action/recover')->is_status(204);
    is named('persistentvolumes/disk2')->{state}, 'moved', 'what was recovered';
    $admin->put('/v2.0/t1/persistentvolumes/disk2', json => {})->is_status(201);
    is named('persistentvolumes/disk2'), undef, 'a new resource at the address ends it';
};

# More of a page lead on than statements go into one batch.
subtest 'many namespaces that were merged later' => sub {
    my @of = map { "many$_" } 1 .. 3;
    $admin->make_tenant($_) for @of;
    for my $n (1 .. 17) {
        $admin->put("/v2.0/$_/namespaces/n$n", json => {})->is_status(201) for @of[0, 2];
    }
    $admin->post("/v2.0/$of[$_]/action/move?dest=$of[$_ + 1]")->is_status(303) for 0, 1;
    my $answer = $admin->get("/v2.0/$of[0]/forwards");
    $answer->is_status(200, 'are listed') or return;
    my @all = @{ $answer->json->{forwards} };
    is_deeply [sort map { "$_->{resource} $_->{dest} $_->{state}" } @all], [sort map { "namespaces/n$_ $of[2] moved" } 1 .. 17], 'each where its content is';
    for my $limit (5, 16, 17) {
        is_deeply [$admin->list("/v2.0/$of[0]/forwards?limit=$limit", 'forwards')], \@all, "in pages of $limit the same";
    }
};

subtest 'moves' => sub {
    my @moves = @{ $admin->get('/v2.0/t2/moves')->json->{moves} };
    is_deeply [map { "$_->{source} $_->{dest} " . ($_->{resource} // '*') } @moves],
        ['t2 t3 persistentvolumes/disk2', 't1 t2 persistentvolumes/disk2', "t1 t2 $config/a b", "t1 t2 $config/web", 't1 t2 persistentvolumes/disk1'],
        'to and from, the latest first';
    is $moves[-1]{id}, $request{'persistentvolumes/disk1'}, 'by the id of the request';
    is_deeply [map { $moves[0]{$_} } 'state', 'moved', 'total', 'actor'], ['done', 1, 1, 'admin'], 'done, by whom';
    is scalar @{ $admin->get('/v2.0/t1/moves')->json->{moves} }, 4, "one tenant's alone";
    is_deeply [map { $_->{id} } $admin->list('/v2.0/t2/moves?limit=2', 'moves')], [map { $_->{id} } @moves], 'in pages';
    like $admin->get('/v2.0/t2/moves', headers => { Accept => 'application/xml' })->text, qr{<moves>\s*<move id=}, 'as XML';
    $admin->get("/v2.0/t1/moves?$_")->is_status(400, "refused: $_") for 'before=-1', 'limit=1001', 'limit=x';
};

done_testing;
