#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Who may what: tokens, roles, strangers, operators; each endpoint's calls.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start(auth => 'token', combined => 1);
my $admin    = $instance->admin;
$admin->make_tenant($_) for 't1', 't2';
my %token = map { $_ => $instance->token('t1', $_) } qw(reader member admin);
$token{stranger} = $instance->token('t2', 'admin');
$token{operator} = $instance->operator_token;
my $service  = $instance->service(undef);
my $combined = $instance->combined(undef);
my $c1 = '/v2.0/t1/namespaces/default/configmaps/c1';
$service->put($c1, json => { secret => 's3cret' }, as => $token{member})->is_status(201, 'a member makes a resource');

subtest 'no credential, or a bad one' => sub {
    for my $bad (undef, '', 'x', 'x.y', "$token{member}x", substr($token{member}, 0, -1), $token{member} =~ s/\..*//r, '.', 'x' x 10_000,
        "$token{member} ", "' OR 1=1 --.x") {
        my $get = $service->get($c1, as => $bad);
        next if ($bad // '') eq "$token{member} " && $get->status == 200;    # blanks around a header's value are no part of it
        $get->is_problem(401, 'unauthenticated', 'refused: ' . substr($bad // 'none', 0, 30));
        ok $get->header('WWW-Authenticate'), 'with a challenge';
        unlike $get->text, qr/s3cret/, 'and nothing of the resource';
    }
    $service->get($c1, as => undef, headers => { Authorization => "Bearer $token{member}" })->is_status(200, 'Authorization: Bearer does');
    $service->get($c1, as => undef, headers => { Authorization => "bearer $token{member}" })->is_status(200, 'in any case');
    $service->get($c1, as => undef, headers => { Authorization => 'Basic dTpw' })->is_status(401, 'Basic does not');
    is $instance->sql_value("SELECT COUNT(*) FROM tokens WHERE LOCATE('$token{member}', id) OR LOCATE('" . $token{member} =~ s/.*\.//r . "', HEX(hash))"),
        0, 'the store does not hold the secret';
};

# What each role may do with the things of its tenant: status by method.
my %may = (
    reader   => { GET => 200, HEAD => 200, PUT => 403, PATCH => 403, DELETE => 403, list => 200, recover => 403 },
    member   => { GET => 200, HEAD => 200, PUT => 200, PATCH => 200, DELETE => 204, list => 200, recover => 204 },
    admin    => { GET => 200, HEAD => 200, PUT => 200, PATCH => 200, DELETE => 204, list => 200, recover => 204 },
    operator => { GET => 200, HEAD => 200, PUT => 200, PATCH => 200, DELETE => 204, list => 200, recover => 204 },
    stranger => { GET => 404, HEAD => 404, PUT => 404, PATCH => 404, DELETE => 404, list => 404, recover => 404 },
);
for my $endpoint (['service', $service], ['combined', $combined]) {
    subtest "roles on the $endpoint->[0] endpoint" => sub {
        my $client = $endpoint->[1];
        for my $role (sort keys %may) {
            my $want = $may{$role};
            my @as   = (as => $token{$role});
            $client->get($c1, @as)->is_status($want->{GET}, "$role: GET");
            $client->head($c1, @as)->is_status($want->{HEAD}, "$role: HEAD");
            $client->put($c1, json => { by => $role }, @as)->is_status($want->{PUT}, "$role: PUT");
            $client->patch($c1, { and => $role }, @as)->is_status($want->{PATCH}, "$role: PATCH");
            $client->get('/v2.0/t1/configmaps', @as)->is_status($want->{list}, "$role: list");
            $client->get('/v2.0/t1/namespaces/default/configmaps?deleted=true', @as)->is_status($want->{list}, "$role: list of deleted ones");
            $client->delete($c1, @as)->is_status($want->{DELETE}, "$role: DELETE");
            $client->post("$c1/action/recover", @as)->is_status($want->{recover}, "$role: recover");
        }
    };
}

subtest 'operator\'s calls' => sub {
    my @calls = (['GET', '/v2.0/t1'], ['PUT', '/v2.0/t1', json => { tenant => {} }], ['PUT', '/v2.0/t9', json => { tenant => {} }],
        ['DELETE', '/v2.0/t1'], ['POST', '/v2.0/t1/action/recover'], ['GET', '/v2.0/t1/action/move?dest=t2'],
        ['POST', '/v2.0/t1/action/move?dest=t2'], ['GET', "$c1/action/move?dest=t2"], ['POST', "$c1/action/move?dest=t2"],
        ['POST', '/v2.0/t1/namespaces/default/action/move?dest=t2'], ['GET', '/v2.0']);
    for my $call (@calls) {
        my ($method, $path, @option) = @$call;
        for my $role (qw(reader member admin operator)) {
            my $answer = $service->request($method, $path, @option, as => $token{$role});
            # Without its operator's calls an address reads as a resource's: of a type "action" that there is not.
            ok $answer->status == 404 || $answer->status == 405 || ($path =~ /\?dest/ && $answer->status == 400), "service, $role: $method $path is not there" or diag $answer->describe;
        }
        for my $role (qw(reader member admin stranger)) {
            my $answer = $combined->request($method, $path, @option, as => $token{$role});
            next if $method eq 'GET' && $path eq '/v2.0/t1' && $role ne 'stranger';    # a tenant is its readers' to read
            ok $answer->status == 403 || ($role eq 'stranger' && $answer->status == 404) || ($path =~ /t9/ && $answer->status == 404),
                "combined, $role: $method $path" or diag $answer->describe;
            $answer = $admin->request($method, $path, @option, as => $token{$role});
            ok $answer->status == 403 || $answer->status == 404, "admin, $role: $method $path" or diag $answer->describe;
        }
        $admin->request($method, $path, @option, as => undef)->is_status(401, "admin, nobody: $method $path");
    }
    # Members follow the large undos that they asked for (t/508); of moves they see none.
    for my $endpoint ($service, $combined) {
        my $move = '/v2.0/t1/moves/00000000-0000-4000-8000-000000000000';
        $endpoint->get($move, as => $token{$_})->is_status(404, "$_: a move that is not there") for qw(member admin operator stranger);
        $endpoint->get($move, as => $token{reader})->is_status(403, 'reader: who may undo nothing follows nothing');
    }
    $combined->get('/v2.0/t1', as => $token{reader})->is_status(200, 'combined: who reads a tenant\'s things reads the tenant');
    $combined->put('/v2.0/t3', json => { tenant => {} }, as => $token{operator})->is_status(201, 'combined: an operator makes tenants');
};

subtest 'the admin endpoint admits operators alone' => sub {
    for my $role (qw(reader member admin stranger)) {
        my $get = $admin->get($c1, as => $token{$role});
        ok $get->status == 403 || $get->status == 404, "$role: not even GET of its own" or diag $get->describe;
        unlike $get->text, qr/s3cret/, 'nothing shows';
    }
    $admin->get($c1)->is_status(200, 'an operator may');
    $service->get($c1, as => $token{operator})->is_status(200, 'and may use the service endpoint as well');
};

subtest 'a stranger cannot tell what exists' => sub {
    my $shape = sub {
        my ($response) = @_;
        my %json = %{ $response->json };
        delete $json{request_id};
        my %headers = %{ $response->{headers} };
        delete @headers{ 'x-request-id', 'date', 'server', 'content-length' };
        return [$response->status, \%json, \%headers];
    };
    my @pairs = (
        ['/v2.0/t1/namespaces/default/configmaps/c1', '/v2.0/t1/namespaces/default/configmaps/none'],
        ['/v2.0/t1/persistentvolumes',                '/v2.0/nobody/persistentvolumes'],
        ['/v2.0/t1/namespaces/default',               '/v2.0/nobody/namespaces/default'],
        ['/v2.0/t1/namespaces/default/configmaps',    '/v2.0/t1/namespaces/none/configmaps'],
    );
    for my $pair (@pairs) {
        for my $method ('GET', 'DELETE') {
            next if $method eq 'DELETE' && $pair->[0] =~ /s\z/;
            my ($existing, $missing) = map { $service->request($method, $_, as => $token{stranger}) } @$pair;
            $existing->is_status(404);
            is_deeply $shape->($existing), $shape->($missing), "$method $pair->[0] and one that is not: the same answer";
        }
        for my $option ([json => {}], [json => {}, if_match => '*'], [json => {}, if_none_match => '*'], [body => '{', type => 'application/json']) {
            next if $pair->[0] =~ /(?:s|configmaps)\z/;
            my ($existing, $missing) = map { $service->put($_, @$option, as => $token{stranger}) } @$pair;
            is_deeply $shape->($existing), $shape->($missing), 'PUT as well';
        }
    }
    my ($existing, $missing) = map { $combined->get("/v2.0/$_", as => $token{stranger}) } 't1', 'nobody';
    is_deeply $shape->($existing), $shape->($missing), 'tenants, too';
};

subtest 'forwards tell no stranger' => sub {
    my $pv = '/v2.0/t1/persistentvolumes/moving';
    $admin->make($pv);
    $admin->post("$pv/action/move?dest=t2")->is_status(303);
    my $get = $service->get($pv, as => $token{reader});
    $get->is_problem(404, undef, 'who may not read the destination gets 404');
    ok !defined $get->location, 'and no address';
    unlike $get->text, qr/\bt2\b/, 'nor a name';
    $service->put($pv, json => {}, as => $token{reader})->is_status(403, 'a reader still may not write');
    $service->get('/v2.0/t2/persistentvolumes/moving', as => $token{stranger})->is_status(200, 'its owner finds it');
    my $both = $service->get($pv, as => $token{operator});
    $both->is_status(301, 'who may read both is led there');
};

subtest 'tokens end' => sub {
    my $short = $instance->token('t1', 'member', '--expires', '1h');
    $service->get($c1, as => $short)->is_status(200, 'one that expires later works');
    $instance->sql("UPDATE tokens SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE id = '" . $short =~ s/\..*//r . "'");
    ok Tenure::Instance::wait_until(sub { $service->get($c1, as => $short)->status == 401 }), 'expired: 401';
    my $revoked = $instance->token('t1', 'member');
    $service->get($c1, as => $revoked)->is_status(200, 'another works');
    my ($code) = $instance->manage('token', 'revoke', $revoked =~ s/\..*//r);
    is $code, 0, 'until it is revoked';
    ok Tenure::Instance::wait_until(sub { $service->get($c1, as => $revoked)->status == 401 }), 'revoked: 401';
    $admin->make_tenant('doomed');
    my $orphan = $instance->token('doomed', 'admin');
    $service->get('/v2.0/doomed/namespaces', as => $orphan)->is_status(200);
    $admin->delete('/v2.0/doomed')->is_status(204);
    my $get = $service->get('/v2.0/doomed/namespaces', as => $orphan);
    ok $get->status == 410 || $get->status == 401, 'of a deleted tenant: gone, or no token' or diag $get->describe;
};

done_testing;
