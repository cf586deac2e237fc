#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Tokens as objects: who lists, makes and revokes whose; what shows of them; their ends; the change log.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Parallel;
use Tenure::Undo qw(undo_path reasons);

my $instance = Tenure::Instance->start(auth => 'token', combined => 1, workers => 3,
    settings => { 'tenure.token_cache' => 0, 'tenure.tenant_tokens' => 60 });
my $admin = $instance->admin;
$admin->make_tenant($_) for 't1', 't2', 't3';
my %token = map { my $tenant = $_; map { ("$tenant $_" => $instance->token($tenant, $_)) } qw(reader member admin) } 't1', 't2';
$token{operator} = $instance->operator_token;
my $service  = $instance->service($token{'t1 admin'});
my $combined = $instance->combined($token{operator});
my $config   = '/v2.0/t1/namespaces/default/configmaps/c1';
$service->put($config, json => {})->is_status(201);

# Makes a token by the API, and returns its document.
sub made {
    my ($client, $tenant, %want) = @_;
    my $answer = $client->post("/v2.0/$tenant/tokens", json => { token => { user => 'bill', %want } });
    $answer->is_status(201);
    return $answer->json->{token};
}

sub listed {
    my ($client, $tenant) = @_;
    return { map { ($_->{id} => $_) } @{ $client->get("/v2.0/$tenant/tokens?limit=1000")->json->{tokens} } };
}

# Those rows of the change log that are about a token.
sub logged {
    my ($id) = @_;
    return map { "$_->{actor} $_->{verb} @{ $_->{fields} }" } grep { "@{ $_->{fields} // [] }" =~ m{\A/tokens/\Q$id\E(?:/|\z)} }
        @{ $admin->get("/v2.0/t1/changes?limit=1000&text=$id")->json->{changes} };
}

my $first;
subtest 'a token' => sub {
    my $answer = $service->post('/v2.0/t1/tokens', json => { token => { user => 'bill', role => 'reader', description => 'reports', expires_at => '2099-01-02T03:04:05Z' } });
    $answer->is_status(201);
    $first = $answer->json->{token};
    like $first->{id}, qr/\A[0-9a-f]{12}\z/, 'its id';
    like $first->{secret}, qr/\A\Q$first->{id}\E\.[-\w]{32}\z/, 'all of it';
    is_deeply [@$first{qw(user role description state expires_at)}], ['bill', 'reader', 'reports', 'valid', '2099-01-02T03:04:05Z'], 'as it was asked for';
    like $answer->header('Cache-Control'), qr/no-store/, 'no cache keeps the answer';
    $service->get($config, as => $first->{secret})->is_status(200, 'it is let in');
    $service->put($config, json => {}, as => $first->{secret})->is_status(403, '... with its role');
    my $one = $service->get($service->path_of($answer->location))->is_status(200);
    $one = $service->get("/v2.0/t1/tokens/$first->{id}");
    delete $first->{secret} if my $secret = $first->{secret};
    my $without_use = sub { my %token = %{ $_[0] }; delete $token{last_used_at}; return \%token }; # it was used a moment ago
    is_deeply $without_use->($one->json->{token}), $first, 'Location leads to it, without the secret';
    is_deeply $without_use->(listed($service, 't1')->{ $first->{id} }), $first, 'and so does the list have it';
    like $service->get('/v2.0/t1/tokens', headers => { Accept => 'application/xml' })->text, qr/<tokens[^>]*>\s*<token id="[0-9a-f]{12}" user=/, 'as XML';
    like $service->get("/v1.0/t1/tokens")->text, qr/"$first->{id}"/, 'in v1.0, too';
    my ($hidden) = $secret =~ /\.(.*)/;
    for my $text ($service->get('/v2.0/t1/tokens')->text, $admin->get('/v2.0/t1/changes')->text, (map { $instance->log_text($_) } 'service', 'service-access'), $service->get('/v2.0/t1/tokens?marker=' . 'z' x 32)->text) {
        unlike $text, qr/\Q$hidden\E/, 'the secret is nowhere else';
    }
    my $hash = lc $instance->sql_value("SELECT HEX(hash) FROM tokens WHERE id = '$first->{id}'");
    unlike lc $service->get('/v2.0/t1/tokens')->text, qr/\Q$hash\E/, 'nor is its hash shown';
    is made($service, 't1')->{role}, 'member', 'without a role: a member';
};

# The roles as the program has them, in their order.
my @roles = Tenure::Instance::read_file(Tenure::Instance::source_dir() . '/src/auth/core/role.c') =~ /\[ROLE_\w+\] = "(\w+)"/g;
my %height = map { $roles[$_] => $_ } 0 .. $#roles;

subtest 'which role makes which' => sub {
    cmp_ok scalar @roles, '>=', 5, "@roles";
    for my $by (grep { $_ ne 'none' } @roles) {
        my $client = $instance->combined($by eq 'operator' ? $token{operator} : $token{"t1 $by"});
        for my $tenant ('t1', 't2', 'system') {
            for my $role (@roles, 'owner', 'Admin', '') {
                my $fits = exists $height{$role} && $role ne 'none' && ($role eq 'operator') == ($tenant eq 'system');
                my $want = $by ne 'operator' && $tenant ne 't1' ? 404 : $height{$by} < $height{admin} ? 403
                    : !$fits ? 400 : $height{$role} > $height{$by} ? 403 : 201;
                my $answer = $client->post("/v2.0/$tenant/tokens", json => { token => { user => 'x', role => $role } });
                is $answer->status, $want, "$by makes '$role' of $tenant: $want" or diag $answer->describe;
                next if $answer->status != 201;
                my $token = $answer->json->{token};
                is $instance->sql_value("SELECT role FROM tokens WHERE id = '$token->{id}'"), $role, '... and no more';
                $client->delete("/v2.0/$tenant/tokens/$token->{id}")->is_status(204);
            }
        }
        my $of_own = $height{$by} < $height{admin} ? 403 : 200;
        $client->get('/v2.0/t1/tokens')->is_status($of_own, "$by lists: $of_own");
        $client->get("/v2.0/t1/tokens/$first->{id}")->is_status($of_own, "$by reads one");
        $client->delete("/v2.0/t1/tokens/$first->{id}")->is_status(403, "$by revokes none") if $of_own == 403;
    }
    is listed($combined, 't1')->{ $first->{id} }{state}, 'valid', 'so it is valid still';
    $service->post('/v2.0/t1/tokens', json => { token => { user => 'x', role => 'operator' } })->is_problem(400, 'bad_document', 'no operator is made in a tenant');
};

subtest 'strangers' => sub {
    my $stranger = $instance->combined($token{'t2 admin'});
    my $shape = sub { my ($answer) = @_; my %json = %{ $answer->json }; delete $json{request_id}; return [$answer->status, \%json] };
    for my $pair (['t1', 'none'], ['system', 'none'], ["t1/tokens/$first->{id}", 'none/tokens/0123456789ab']) {
        my ($is, $not) = map { m{/} ? "/v2.0/$_" : "/v2.0/$_/tokens" } @$pair;
        for my $method ('GET', $is =~ m{/tokens/} ? 'DELETE' : 'POST') {
            my @body = $method eq 'POST' ? (json => { token => { user => 'x' } }) : ();
            my ($there, $missing) = map { $stranger->request($method, $_, @body) } $is, $not;
            $there->is_status(404, "$method $is");
            is_deeply $shape->($there), $shape->($missing), '... as of no tenant';
        }
    }
    # By the id of another tenant's token below his own tenant, as by one that nobody has.
    for my $method ('GET', 'DELETE') {
        my ($there, $missing) = map { $stranger->request($method, "/v2.0/t2/tokens/$_") } $first->{id}, '0123456789ab';
        $there->is_status(404, "$method of another tenant's id");
        is $there->detail =~ s/\Q$first->{id}\E/ID/r, $missing->detail =~ s/0123456789ab/ID/r, '... as of an unknown one';
    }
    is listed($combined, 't1')->{ $first->{id} }{state}, 'valid', 'nothing happened to it';
    $service->get($_, as => undef)->is_status(401, "nobody: $_") for '/v2.0/t1/tokens', "/v2.0/t1/tokens/$first->{id}";
    ok !exists listed($combined, 't2')->{ $first->{id} }, "a tenant's list has its own alone";
};

subtest 'revoked' => sub {
    my $made = made($service, 't1', role => 'admin');
    my $its  = $instance->service($made->{secret});
    $its->get($config)->is_status(200) for 1 .. 6;
    $service->delete("/v2.0/t1/tokens/$made->{id}")->is_status(204);
    is_deeply [map { $its->get($config)->status } 1 .. 12], [(401) x 12], 'no worker takes it any more';
    my $now = listed($service, 't1')->{ $made->{id} };
    is $now->{state}, 'revoked', 'the list tells so';
    $service->delete("/v2.0/t1/tokens/$made->{id}")->is_status(204, 'again: it is');
    is_deeply listed($service, 't1')->{ $made->{id} }, $now, '... as it was';
    is_deeply [logged($made->{id})], ["admin-of-t1 updated /tokens/$made->{id}", "admin-of-t1 updated /tokens/$made->{id}/revoked_at"], 'both are logged, once each';
    $service->delete('/v2.0/t1/tokens/0123456789ab')->is_status(404, 'one that never was');
    $service->delete("/v2.0/t1/tokens/$made->{secret}")->is_status(404, 'the whole token is no id');

    my $own = made($service, 't1', role => 'admin');
    $instance->service($own->{secret})->delete("/v2.0/t1/tokens/$own->{id}")->is_status(204, 'one revokes itself');
    $instance->service($own->{secret})->get($config)->is_status(401, '... and is gone');
};

subtest 'revoked by several at once' => sub {
    for my $round (1 .. 3) {
        my $made = made($service, 't1');
        my @told = Tenure::Parallel::run(3, sub { return $instance->service($token{'t1 admin'})->delete("/v2.0/t1/tokens/$made->{id}")->status });
        is "@told", '204 204 204', 'all are told that it is revoked';
        is scalar(grep { /revoked_at/ } logged($made->{id})), 1, '... and one of them did it';
    }
    my $made = made($service, 't1');
    my @told = Tenure::Parallel::run(2, sub { return $_[0] ? ($instance->manage('token', 'revoke', $made->{id}))[0] : $service->delete("/v2.0/t1/tokens/$made->{id}")->status });
    is "@told", '204 0', 'beside tenure-manage';
    $service->get($config, as => $made->{secret})->is_status(401);
};

subtest 'expired' => sub {
    my $made = made($service, 't1', expires_at => '2099-01-01T00:00:00+01:00');
    is $made->{expires_at}, '2098-12-31T23:00:00Z', 'a time with an offset';
    $service->get($config, as => $made->{secret})->is_status(200);
    $instance->sql("UPDATE tokens SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE id = '$made->{id}'");
    $service->get($config, as => $made->{secret})->is_status(401, 'it is refused');
    is listed($service, 't1')->{ $made->{id} }{state}, 'expired', 'the list tells so';
    $service->delete("/v2.0/t1/tokens/$made->{id}")->is_status(204);
    is listed($service, 't1')->{ $made->{id} }{state}, 'revoked', 'and that it was revoked then';
};

subtest 'the change log' => sub {
    my $before = $admin->get('/v2.0/t1');
    my $answer = $service->post('/v2.0/t1/tokens', json => { token => { user => 'eve' } });
    my $id     = $answer->json->{token}{id};
    is $admin->get('/v2.0/t1')->etag, $before->etag, "the tenant's etag stays";
    is_deeply reasons($admin->get(undo_path('t1', $answer))), ['token'], 'it can not be undone, and is told why';
    $admin->post(undo_path('t1', $answer))->is_status(409);
    $admin->put('/v2.0/t1', json => { tenant => { metadata => { a => 'b' } } })->is_status(202);
    made($service, 't1');
    my $stale = $admin->put('/v2.0/t1', json => { tenant => {} }, if_match => $before->etag);
    $stale->is_status(412);
    is $stale->json->{changed_by}, 'operator', 'who changed the tenant is told, not who made a token since';
    unlike join(' ', @{ $stale->json->{fields} // [] }), qr/tokens/, '... nor is a token what changed in it';
};

subtest 'operators' => sub {
    my $made = made($combined, 'system', user => 'second');
    is $made->{role}, 'operator', "the system's tokens are operators'";
    $admin->get('/v2.0/t2', as => $made->{secret})->is_status(200, 'it is one');
    my $all = listed($combined, 'system');
    ok exists $all->{ $token{operator} =~ s/\..*//r }, 'the list has the first one, too';
    ok !grep({ $_->{role} ne 'operator' } values %$all), '... and no other';
    $combined->delete("/v2.0/system/tokens/$made->{id}")->is_status(204);
    $admin->get('/v2.0/t2', as => $made->{secret})->is_status(401, 'until it is revoked');
    my $of_tenant = made($combined, 't2', role => 'admin');
    $instance->service($of_tenant->{secret})->get('/v2.0/t2/tokens')->is_status(200, 'operators make those of tenants');
    $admin->get('/v2.0/none/tokens')->is_status(404);
    $admin->post('/v2.0/none/tokens', json => { token => { user => 'x' } })->is_status(404, 'of no tenant');
    $admin->delete('/v2.0/t3')->is_status(204);
    $admin->get('/v2.0/t3/tokens')->is_status(410, 'a deleted tenant shows none');
    $admin->post('/v2.0/t3/tokens', json => { token => { user => 'x' } })->is_status(410, '... and gets none');
};

subtest 'what is refused' => sub {
    my $many = 'x' x 256;
    for my $case ([{}, qr/user is missing/], [{ user => '' }, qr/user must have 1 to 255/], [{ user => $many }, qr/1 to 255/], [{ user => "a\0b" }, qr/without NUL/],
        [{ user => 'x', description => $many x 5 }, qr/up to 1024/], [{ user => 1 }, qr/user/], [{ user => 'x', nonsense => 1 }, qr/nonsense/],
        [{ user => 'x', expires_at => '2099-02-30T00:00:00Z' }, qr/expires_at must be a day of the calendar: 2099-02 has 28 days/],
        (map { [{ user => 'x', expires_at => $_ }, qr/expires_at must be a time in the future/] } '2001-01-01T00:00:00Z', 'soon', '', '10000-01-01T00:00:00Z'),
        [{ user => 'x', role => 'root' }, qr/reader, member or admin/]) {
        my $answer = $service->post('/v2.0/t1/tokens', json => { token => $case->[0] });
        $answer->is_status(400);
        like $answer->detail, $case->[1], '... told why: ' . ($answer->detail =~ s/\0/\\0/gr);
    }
    $service->post('/v2.0/t1/tokens', json => { user => 'x' })->is_status(400, 'not within "token"');
    $service->post('/v2.0/t1/tokens', body => '', type => 'application/json')->is_status(400, 'nothing');
    $service->get("/v2.0/t1/tokens?$_")->is_status(400, "refused: $_") for 'limit=0', 'limit=1001', 'marker=', 'marker=a.b', 'marker=' . 'a' x 33, 'unknown=1';
    $service->get("/v2.0/t1/tokens/$_")->is_status(404, "no id: $_") for 'a.b', 'a' x 33, '%C3%BC';
};

subtest 'pages, and how many there may be' => sub {
    my $second = $instance->service($token{'t2 admin'});
    my $n      = keys %{ listed($second, 't2') };
    my @ids    = map { made($second, 't2')->{id} } $n + 1 .. 60;
    my $beyond = $second->post('/v2.0/t2/tokens', json => { token => { user => 'x' } });
    $beyond->is_problem(409, 'over_quota', 'no more than tenant_tokens');
    like $beyond->detail, qr/may have 60 tokens/, '... it says how many';
    $second->delete("/v2.0/t2/tokens/$ids[0]")->is_status(204);
    $second->post('/v2.0/t2/tokens', json => { token => { user => 'x' } })->is_status(409, 'ended ones count');
    my @ids_by_page = map { $_->{id} } $second->list('/v2.0/t2/tokens?limit=7', 'tokens');
    is_deeply \@ids_by_page, [sort keys %{ listed($second, 't2') }], 'page by page all of them, by their ids';
    is scalar @ids_by_page, 60, 'as many as there may be';
    is +($instance->manage('token', 'create', '--tenant', 't2', '--role', 'reader', '--user', 'x'))[0], 0, 'tenure-manage is not bound';
};

is +($instance->manage('doctor'))[0], 0, 'what is stored keeps its promises';

done_testing;
