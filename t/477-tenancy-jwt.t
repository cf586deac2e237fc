#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# JSON Web Tokens of an OpenID Connect provider: what a token is good for, which are refused, and where the keys come from.
use strict;
use warnings;

use File::Basename ();
use lib File::Basename::dirname(__FILE__) . '/lib';

use JSON::PP ();
use MIME::Base64 ();
use Digest::SHA ();
use Test::More;

use Tenure::Client;
use Tenure::FakeKeystone;
use Tenure::Instance;
use Tenure::Issuer;

my $issuer = Tenure::Issuer->start;
my %kinds = (rsa => 'RS256', p256 => 'ES256', p384 => 'ES384', p521 => 'ES512', ed => 'EdDSA', ed448 => 'Ed448', weak => 'weak');
$issuer->make_key($_, $kinds{$_}) for sort keys %kinds;
$issuer->make_key($_, 'ES256') for qw(next stranger);
$issuer->publish(sort keys %kinds);

my $instance = Tenure::Instance->start(auth => 'token', workers => 3, combined => 1, allow => [qr/JWT: /, qr/answered 503 \(unavailable\)/],
    settings => {
        'endpoint combined.auth' => 'jwt,token', 'jwt.issuer' => $issuer->url, 'jwt.audience' => 'other, tenure', 'jwt.timeout' => 20,
        'jwt.keys_retry' => 1, 'jwt.create_tenants' => 'yes', 'jwt.operator_roles' => 'root', 'jwt.leeway' => 60,
        'jwt.algorithms' => 'RS256,PS256,RS384,PS512,ES256,ES384,ES512,EdDSA',
    });
my $client = Tenure::Client->new(url => $instance->env('TENURE_COMBINED_URL'));

sub ask {
    my ($token, $path, %option) = @_;
    return $client->get($path // '/v2.0/red/persistentvolumes', headers => { Authorization => "Bearer $token", %{ $option{headers} // {} } });
}

sub refused {
    my ($token, $why, $what) = @_;
    my $answer = ask($token);
    is $answer->status, 401, "$what: refused";
    like $answer->header('WWW-Authenticate'), qr/\ABearer realm="tenure", error="invalid_token", error_description="[^"\\]*$why[^"\\]*"\z/, '... and why';
    return;
}

my %red = (tenant => 'red', roles => ['member']);

subtest 'who gets what' => sub {
    my $as = sub { return (headers => { Authorization => 'Bearer ' . $issuer->token('rsa', @_) }) };
    is $client->put('/v2.0/red/persistentvolumes/v1', json => { n => 1 }, $as->(%red))->status, 201, 'a member writes; the tenant was made';
    is $client->put('/v2.0/red/persistentvolumes/v2', json => { n => 1 }, $as->(tenant => 'red', roles => ['reader']))->status, 403, 'a reader may not';
    is $client->put('/v2.0/red/persistentvolumes/v2', json => { n => 1 }, $as->(tenant => 'red', roles => [ 'x', 'reader', 'admin' ]))->status, 201,
        'the highest role counts';
    is $client->put('/v2.0/red/persistentvolumes/v3', json => { n => 1 }, $as->(tenant => 'red', roles => 'openid member profile'))->status, 201,
        'roles in one text';
    is $client->get('/v2.0/red/persistentvolumes/v1', $as->(tenant => 'red', roles => ['Member']))->status, 403, 'a role that is unknown gives nothing';
    is $client->get('/v2.0/red/persistentvolumes/v1', $as->(tenant => 'red', roles => ['member,admin']))->status, 403, 'nor does one with a comma';
    is $client->get('/v2.0/red/persistentvolumes/v1', $as->(tenant => 'red'))->status, 403, 'nor does none';
    is $client->get('/v2.0/red/persistentvolumes/v1', $as->(tenant => 'blue', roles => ['admin']))->status, 404, 'another tenant\'s admin finds nothing';
    is $client->get('/v2.0/red/persistentvolumes/v1', $as->(roles => ['admin']))->status, 404, 'nor does one without tenant';
    is $client->get('/v2.0', $as->(roles => ['admin'], tenant => 'red'))->status, 403, 'an admin is no operator';
    is $client->get('/v2.0', $as->(roles => ['operator'], tenant => 'red'))->status, 403, 'nor is one who has a role of that name';
    is $client->get('/v2.0', $as->(roles => ['root']))->status, 200, 'a role of operator_roles makes one';
    is $client->get('/v2.0/system/persistentvolumes', $as->(tenant => 'system', roles => ['admin']))->status, 403, 'a reserved name is no tenant';
    my $answer = $client->get('/v2.0/red/persistentvolumes', headers => { 'X-Auth-Token' => $issuer->token('p256', %red) });
    is $answer->status, 200, 'X-Auth-Token, too';
    is $client->get('/v2.0', headers => { 'X-Auth-Token' => $instance->operator_token })->status, 200, 'tokens of tenure-manage go on beside';
    is $client->get('/v2.0')->header('WWW-Authenticate'), 'Bearer realm="tenure"', 'without a token no error is told';
};

subtest 'algorithms' => sub {
    for my $case ([ rsa => 'RS256' ], [ rsa => 'RS384' ], [ rsa => 'PS256' ], [ rsa => 'PS512' ], [ p256 => 'ES256' ], [ p384 => 'ES384' ],
        [ p521 => 'ES512' ], [ ed => 'EdDSA' ], [ ed448 => 'EdDSA' ]) {
        my ($key, $algorithm) = @$case;
        my $token = $issuer->token($key, %red, algorithm => $algorithm);
        is ask($token)->status, 200, "$algorithm by $key";
        is ask($token)->status, 200, '... from the cache';
        substr($token, -9, 1) = substr($token, -9, 1) eq 'A' ? 'B' : 'A';
        refused($token, 'signature is wrong', '... with another signature');
    }
    refused($issuer->token('rsa', %red, algorithm => 'RS512'), 'algorithm is not allowed', 'one that is not in the list');
    refused($issuer->token('weak', %red), 'by no key of the issuer', 'RSA of 1024 bits');
    my $body = MIME::Base64::encode_base64url(JSON::PP->new->encode({ iss => $issuer->url, aud => 'tenure', sub => 'ann', exp => time + 600, %red }));
    for my $name (qw(none None NONE nOnE)) {
        my $header = MIME::Base64::encode_base64url(qq({"alg":"$name","typ":"JWT"}));
        refused("$header.$body.", 'algorithm is not allowed', "alg $name");
    }
    my $header = MIME::Base64::encode_base64url('{"alg":"HS256","typ":"JWT","kid":"rsa"}');
    for my $secret ($issuer->{keys}{rsa}{pem}, $issuer->jwks('rsa'), '') {
        my $mac = MIME::Base64::encode_base64url(Digest::SHA::hmac_sha256("$header.$body", $secret));
        refused("$header.$body.$mac", 'algorithm is not allowed', 'HS256 with what is public as the secret');
    }
    refused($issuer->sign('p256', 'ES256', '{"alg":"RS256","kid":"p256"}', '{}'), 'by no key of the issuer', 'a key of another kind than the algorithm');
    my @parts = split /\./, $issuer->token('p256', %red);
    refused("$parts[0].$parts[1]." . MIME::Base64::encode_base64url("\0" x 64), 'signature is wrong', 'r and s are zero');
    refused("$parts[0].$parts[1].", 'signature is wrong', 'no signature');
    refused("$parts[0].$parts[1].$parts[2]=", 'not in base64url', 'padding');
    refused("$parts[0].$body.$parts[2]", 'signature is wrong', 'other claims below it');
};

subtest 'claims' => sub {
    my $now = time;
    for my $case (
        [ 'another issuer', 'another issuer', iss => 'https://other.example.org' ],
        [ 'the issuer with a slash', 'another issuer', iss => $issuer->url . '/' ],
        [ 'no issuer', 'iss is missing', iss => undef ],
        [ 'an issuer that is a list', 'iss is missing', iss => [ $issuer->url ] ],
        [ 'another audience', 'another audience', aud => 'elsewhere' ],
        [ 'other audiences', 'another audience', aud => [ 'a', 'b' ] ],
        [ 'audiences in one text', 'another audience', aud => 'other, tenure' ],
        [ 'an empty audience', 'another audience', aud => '' ],
        [ 'no audience', 'aud is missing', aud => undef ],
        [ 'a number as audience', 'aud is missing', aud => 7 ],
        [ 'a number among the audiences', 'something else than texts', aud => [ 'tenure', 7 ] ],
        [ 'expired', 'has expired', exp => $now - 600 ],
        [ 'expired long ago', 'has expired', exp => -1e300 ],
        [ 'no expiry', 'exp is missing', exp => undef ],
        [ 'an expiry that is a text', 'exp is missing', exp => '' . ($now + 600) ],
        [ 'not valid yet', 'not valid yet', nbf => $now + 600 ],
        [ 'nbf is a text', 'nbf is no number', nbf => 'now' ],
        [ 'issued in the future', 'issued in the future', iat => $now + 600 ],
        [ 'iat is a list', 'iat is no number', iat => [1] ],
        [ 'no user', 'lacks the claim', sub => undef ],
        [ 'a user that is a number', 'no name', sub => 7 ],
        [ 'a user with NUL', 'no name', sub => "a\0b" ],
        [ 'a user of 256 characters', 'no name', sub => 'x' x 256 ],
        [ 'an empty tenant', 'no name', tenant => '' ],
        [ 'a tenant that is a list', 'no name', tenant => ['red'] ],
        [ 'roles that are an object', 'neither a text nor a list', roles => { member => 1 } ],
        [ 'a role that is an object', 'something else than texts', roles => [ 'member', {} ] ],
        [ 'bound to a certificate', 'none came with it', cnf => { 'x5t#S256' => 'A' x 43 } ],
        [ 'bound to a key', 'something else than x5t', cnf => { jkt => 'A' x 43 } ],
        [ 'bound to both', 'something else than x5t', cnf => { 'x5t#S256' => 'A' x 43, jkt => 'A' x 43 } ],
        [ 'bound by something unknown', 'something else than x5t', cnf => { new => 'A' } ],
        [ 'bound by nothing', 'something else than x5t', cnf => {} ],
        [ 'bound to a number', 'something else than x5t', cnf => { 'x5t#S256' => 7 } ],
        [ 'a binding that is a text', 'something else than x5t', cnf => 'A' x 43 ],
        [ 'typ of a logout token', 'typ is another', header => { typ => 'logout+jwt' } ],
        [ 'typ is a number', 'typ is another', header => { typ => 1 } ],
        [ 'crit', 'crit', header => { crit => ['exp'] } ],
        [ 'kid is a number', 'kid is no text', header => { kid => 1 } ],
        [ 'no algorithm', 'algorithm is not allowed', header => { alg => undef } ],
    ) {
        my ($what, $why, %claims) = @$case;
        refused($issuer->token('p256', %red, %claims), $why, $what);
    }
    for my $case ([ 'one of several audiences', aud => [ 'x', 'tenure' ] ], [ 'the other audience', aud => 'other' ],
        [ 'expired within the leeway', exp => time - 10 ], [ 'not valid yet within it', nbf => time + 30 ], [ 'a late expiry', exp => 1e300 ],
        [ 'an expiry with a fraction', exp => time + 600.5 ], [ 'typ at+jwt', header => { typ => 'application/at+jwt' } ],
        [ 'no typ', header => { typ => undef } ], [ 'claims that nobody knows', header => { jku => 'http://127.0.0.1:1/', x5u => 'http://127.0.0.1:1/' }, jti => 'x' ]) {
        my ($what, %claims) = @$case;
        is ask($issuer->token('p256', %red, %claims))->status, 200, "good: $what";
    }
    my $good = qq("iss":"@{[$issuer->url]}","aud":"tenure","exp":@{[time + 600]},"sub":"ann");
    my $header = '{"alg":"ES256","kid":"p256"}';
    refused($issuer->sign('p256', 'ES256', $header, qq({$good,"tenant":"red","tenant":"blue"})), 'comes twice', 'a claim that comes twice');
    refused($issuer->sign('p256', 'ES256', '{"alg":"ES256","kid":"p256","alg":"none"}', qq({$good})), 'no JSON object', 'two algorithms');
    refused($issuer->sign('p256', 'ES256', $header, qq({$good,"cnf":null})), 'something else than x5t', 'a binding that is null');
    refused($issuer->sign('p256', 'ES256', $header, "[$good]"), 'no JSON object', 'claims that are no object');
    refused($issuer->sign('p256', 'ES256', $header, qq({$good,"x":@{['[' x 40 . ']' x 40]}})), 'no JSON object', 'deep claims');
    refused($issuer->sign('p256', 'ES256', $header, qq({$good,"tenant":"\xff"})), 'no JSON object', 'claims that are no UTF-8');
};

subtest 'form' => sub {
    my $good = $issuer->token('p256', %red);
    is ask($good)->status, 200, 'whole';
    my ($header, $payload, $signature) = split /\./, $good;
    my $bad = grep { ask(substr $good, 0, int(length($good) * $_ / 40))->status != 401 } 1 .. 39;
    is $bad, 0, 'cut at 39 places';
    is ask("$good.$signature")->status, 401, 'four parts';
    is ask("$good.a.b")->status, 401, 'five, as encrypted ones have';
    is ask(".$payload.$signature")->status, 401, 'an empty header';
    refused("!$header.$payload.$signature", 'header is no JSON object', 'another alphabet');
    refused(MIME::Base64::encode_base64url('{"alg":"ES256"') . ".$payload.$signature", 'header is no JSON object', 'a header that is cut');
    refused("$header." . ('A' x 20_000) . ".$signature", 'more than 16384 bytes', 'a long one');
    is ask($issuer->token('p256', %red, groups => [map { "group-$_" } 1 .. 400]))->status, 200, 'a token of many groups is good';
};

subtest 'key ids' => sub {
    is ask($issuer->token('p256', %red, header => { kid => undef }))->status, 200, 'none: each key is tried';
    refused($issuer->token('p256', %red, header => { kid => 'p384' }), 'by no key', 'that of a key of another kind');
    refused($issuer->token('stranger', %red, header => { kid => 'p256' }), 'signature is wrong', 'that of another one\'s key');
    refused($issuer->token('stranger', %red, header => { kid => undef }), 'by no key', 'a stranger\'s token without any');
    refused($issuer->token('stranger', %red, header => { kid => $_ }), 'by no key', "kid $_")
        for '../../../../dev/null', "x' OR '1'='1", '', "p256\0", 'P256', 'x' x 2000;
    my %own = %{ $issuer->{keys}{stranger}{jwk} };
    refused($issuer->token('stranger', %red, header => { jwk => \%own }), 'by no key', 'a key that the token brings itself');
};

subtest 'rotation' => sub {
    my $path = '/v2.0/red/persistentvolumes';
    sleep 2; # keys_retry is over
    my $old = $issuer->token('p256', %red);
    is ask($old)->status, 200, 'a token by the present key';
    my $new = $issuer->token('next', %red);
    $issuer->publish('next', 'rsa');
    $issuer->forget_log;
    is ask($new)->status, 200, 'one by the next key is good at once';
    is ask($new)->status, 200, '... at each worker' for 1 .. 5;
    is $issuer->count('/keys'), 1, 'the keys were fetched once, for all workers';
    is ask($old)->status, 401, 'one by the key that was withdrawn is no longer';
    $issuer->forget_log;
    my $started = time;
    ask($issuer->token('stranger', %red, header => { kid => "unknown-$_" })) for 1 .. 20;
    cmp_ok $issuer->count('/keys'), '<=', 2 + time - $started, 'unknown keys: the issuer is asked once in keys_retry';
    $issuer->publish(sort keys %kinds);
    sleep 2;
    is ask($old)->status, 200, 'the former key is back';
};

subtest 'keys that are wrong' => sub {
    my $token = $issuer->token('p256', %red, sub => 'bob');
    is ask($token)->status, 200, 'a good token';
    sleep 2; # keys_retry is over
    for my $mode (qw(liar huge redirect)) {
        $issuer->mode($mode);
        is ask($issuer->token('next', %red, header => { kid => $mode }))->status, 503, "$mode: whether an unknown key is one can't be said";
        is ask($token)->status, 200, '... and known keys go on';
        is ask($issuer->token('p256', %red, sub => "new-$mode"))->status, 200, '... for other tokens, too';
        $issuer->mode('ok');
        ok Tenure::Instance::wait_until(sub { ask($issuer->token('next', %red, header => { kid => "well-$mode" }))->status == 401 }), '... until it is well';
        sleep 1;
    }
    $issuer->mode('ok');
    $issuer->publish('next', 'p256', { kty => 'oct', k => 'c2VjcmV0', kid => 'oct' }, { kty => 'RSA', kid => 'odd', n => 'AQ', e => 'AQAB' }, { kty => 'XY' },
        { %{ $issuer->{keys}{stranger}{jwk} }, kid => 'enc', use => 'enc' }, { %{ $issuer->{keys}{stranger}{jwk} }, kid => 'd', d => 'AQ' },
        { %{ $issuer->{keys}{p521}{jwk} }, kid => 'off', crv => 'P-256' }, { %{ $issuer->{keys}{rsa}{jwk} }, alg => 'PS256' });
    ok Tenure::Instance::wait_until(sub { ask($issuer->token('next', %red))->status == 200 }), 'well again, among keys that are no use';
    my $mac = MIME::Base64::encode_base64url('{"alg":"HS256","kid":"oct"}') . '.' . MIME::Base64::encode_base64url('{}');
    is ask("$mac." . MIME::Base64::encode_base64url(Digest::SHA::hmac_sha256($mac, 'secret')))->status, 401, 'a symmetric key of the set verifies nothing';
    is ask($issuer->token('stranger', %red, header => { kid => $_ }))->status, 401, "nor does $_" for qw(enc d);
    is ask($issuer->token('rsa', %red, algorithm => 'PS256'))->status, 200, 'a key for one algorithm';
    is ask($issuer->token('rsa', %red, algorithm => 'RS256'))->status, 401, '... is for no other';
};

subtest 'an issuer that is away' => sub {
    my $away = Tenure::Issuer->start;
    $away->make_key('k', 'ES256');
    $away->publish('k');
    $away->mode('hang');
    my $other = Tenure::Instance->start(auth => 'token', workers => 3, allow => [qr/JWT: /, qr/answered 503 \(unavailable\)/],
        settings => { 'endpoint service.auth' => 'jwt,token', 'jwt.issuer' => $away->url, 'jwt.audience' => 'tenure', 'jwt.timeout' => 2,
            'jwt.create_tenants' => 'yes' });
    my $there = Tenure::Client->new(url => $other->env('TENURE_SERVICE_URL'));
    my $status = sub { $there->get('/v2.0/red/persistentvolumes', headers => { Authorization => "Bearer $_[0]" })->status };
    my $token = $away->token('k', %red);
    is $status->($token), 503, 'one that hangs: unavailable' for 1 .. 4;
    is $there->get('/v2.0/red/persistentvolumes', headers => { 'X-Auth-Token' => $token })->header('WWW-Authenticate'), undef, '... without a challenge';
    ok Tenure::Instance::wait_until(sub { $other->log_text('service') =~ /JWT: http\S+: / }), 'the log says so';
    $away->mode('ok');
    ok Tenure::Instance::wait_until(sub { $status->($token) == 200 }), 'it is back';
    $away->stop;
    is $status->($token), 200, 'refused connections: known keys go on';
    is $status->($away->token('k', %red, sub => 'eve')), 200, '... for new tokens';
    $other->stop;
};

subtest 'an issuer and a Keystone that hang' => sub {
    my $away = Tenure::Issuer->start;
    $away->make_key('k', 'ES256');
    $away->mode('hang');
    my $keystone = Tenure::FakeKeystone->start;
    my $other = Tenure::Instance->start(auth => 'token', workers => 3, allow => [qr/JWT: /, qr/Keystone: /, qr/answered 503 \(unavailable\)/],
        settings => { 'endpoint service.auth' => 'jwt,keystone', 'jwt.issuer' => $away->url, 'jwt.audience' => 'tenure', 'jwt.timeout' => 24,
            'keystone.auth_url' => $keystone->url, 'keystone.username' => 'tenure', 'keystone.password' => 'secret', 'keystone.timeout' => 10 });
    my $there = Tenure::Client->new(url => $other->env('TENURE_SERVICE_URL'));
    my @pids;
    my $begin = sub {
        my ($token) = @_;
        my $pid = fork // die "fork: $!";
        if (!$pid) { $there->get('/v2.0/red/persistentvolumes', headers => { 'X-Auth-Token' => $token }); require POSIX; POSIX::_exit(0) }
        push @pids, $pid;
    };
    $begin->($_) for qw(hanging-1 hanging-2);
    ok Tenure::Instance::wait_until(sub { $keystone->count("validate $_") }), "a worker waits for Keystone: $_" for qw(hanging-1 hanging-2);
    $begin->($away->token('k', %red));
    ok Tenure::Instance::wait_until(sub { $away->count('/.well-known/openid-configuration') }), 'the issuer is asked for its keys';
    my $began = time;
    is $there->get('/healthz')->status, 200, 'one worker is left for all else';
    cmp_ok time - $began, '<', 6, '... at once';
    kill 'KILL', @pids;
    waitpid $_, 0 for @pids;
    $other->stop;
};

done_testing();
