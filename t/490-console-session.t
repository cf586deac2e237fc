#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The console's files and sessions behind each web server: what the files come with, who gets a session, what a cookie counts for and
# what it does not, how a session ends.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::RemoteUser;
use Tenure::Raw;
use Tenure::Run ();
use MIME::Base64 ();

my %console = ('X-Tenure-Console' => '1');

# "NAME=VALUE" of the cookie that the answer sets, and its attributes.
sub cookie_of {
    my ($answer) = @_;
    my $set = $answer->header('set-cookie') // '';
    my ($pair, @attributes) = split /; /, $set;
    return ($pair // '', join '; ', sort @attributes);
}

sub sign_in {
    my ($client, $token) = @_;
    my $answer = got($client->post('/session', as => $token, headers => {%console}), 201, "a session for $token");
    return (cookie_of($answer))[0];
}

# The answer, which must have that status.
sub got {
    my ($answer, $status, @what) = @_;
    $answer->is_status($status, $what[-1]);
    return $answer;
}

# A request by the cookie, as the console sends it.
sub by {
    my ($client, $cookie, $method, $path, %option) = @_;
    my %headers = (%console, Cookie => $cookie, %{ delete $option{headers} // {} });
    delete $headers{$_} for grep { !defined $headers{$_} } keys %headers;
    return $client->request($method, $path, as => undef, headers => \%headers, %option);
}

sub check_files {
    my ($instance) = @_;
    for my $client ($instance->service, $instance->admin, $instance->combined(undef)) {
        my $page = got($client->get('/console/', as => undef), 200, 'the page, for everybody');
        like $page->text, qr/<title>.*Tenure/, 'is the console';
        like $page->header('content-type'), qr{\Atext/html; ?charset=utf-8\z}i, 'HTML';
        my $policy = $page->header('content-security-policy');
        like $policy, qr/\b\Q$_\E(?:;|\z)/, "its policy: $_" for "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
            "connect-src 'self'", "form-action 'none'", "frame-ancestors 'none'", "base-uri 'none'";
        unlike $policy, qr/unsafe|\*|data:|https?:/, 'nothing else';
        is $page->header('x-content-type-options'), 'nosniff',     'nosniff';
        is $page->header('referrer-policy'),        'no-referrer', 'no-referrer';
        is $page->header('cache-control'),          'no-cache',    'asked for again after an upgrade';
        unlike $page->text, qr/<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=/, 'no scripts or styles in it';
        for my $file ([ 'console.css', 'text/css' ], [ 'console.js', 'text/javascript' ]) {
            my $answer = got($client->get("/console/$file->[0]", as => undef), 200, $file->[0]);
            like $answer->header('content-type'), qr/\A$file->[1]; ?charset=utf-8\z/i, $file->[1];
            is $answer->header('x-content-type-options'), 'nosniff', 'nosniff';
        }
        my $redirect = got($client->get('/console', as => undef), 302, 'without the slash');
        like $redirect->location, qr{(?:\A|:\d+)/console/\z}, 'leads there';
        $client->get('/console/no-such-file.js', as => undef)->is_status(404, 'no such file');
        ok grep({ $client->get("/console/$_", as => undef)->status != 200 } '..%2fconfigure.ac', '%2e%2e/configure.ac', '../configure.ac') == 3,
            'nothing beside the folder';
    }
    return;
}

sub check_sessions {
    my ($instance) = @_;
    my $client = $instance->combined(undef);
    my $answer = got($client->post('/session', as => 'ann:acme', headers => {%console}), 201, 'a session');
    my ($cookie, $attributes) = cookie_of($answer);
    like $cookie, qr/\Atenure-combined=[0-9a-f]{24}\.[\w-]{43}\z/, 'a cookie of the endpoint';
    is $attributes, 'HttpOnly; Path=/; SameSite=Strict', 'that scripts and other sites do not get';
    is $answer->header('cache-control'), 'no-store', 'not kept';
    is_deeply { map { $_ => $answer->json->{$_} } qw(user tenant role endpoint) },
        { user => 'ann', tenant => 'acme', role => 'admin', endpoint => 'combined' }, 'and says whose it is';

    by($client, $cookie, 'GET', '/v2.0/acme/configmaps')->is_status(200, 'the cookie with the header field');
    is by($client, $cookie, 'GET', '/session')->json->{user}, 'ann', 'is the user';
    for my $method (qw(GET HEAD PUT POST PATCH DELETE)) {
        my $path = $method eq 'POST' ? '/session' : '/v2.0/acme/namespaces/default/configmaps/c1';
        my $type = $method eq 'PATCH' ? 'application/merge-patch+json' : 'application/json';
        my @body = $method =~ /P[UA]T/ ? (body => '{}', type => $type) : ();
        is by($client, $cookie, $method, $path, @body, headers => { 'X-Tenure-Console' => undef })->status, 401, "$method without it: nobody";
        is by($client, $cookie, $method, $path, @body, headers => { 'X-Tenure-Console' => 'yes' })->status, 401, "$method with another value";
        for my $from ({ Origin => 'http://evil.example' }, { Origin => 'null' }, { Origin => $client->url . '.evil.example' },
            { 'Sec-Fetch-Site' => 'cross-site' }, { 'Sec-Fetch-Site' => 'same-site' }, { 'Sec-Fetch-Site' => 'none', Origin => $client->url }) {
            is by($client, $cookie, $method, $path, @body, headers => $from)->status, 403, "$method from " . join ' ', %$from;
        }
    }
    by($client, $cookie, 'PUT', '/v2.0/acme/namespaces/default/configmaps/c1', json => {}, headers => { Origin => $client->url })
        ->is_status(201, 'a change from the own origin');
    by($client, $cookie, 'GET', '/v2.0/acme/configmaps', headers => { 'Sec-Fetch-Site' => 'same-origin' })->is_status(200, 'as browsers say it');
    my ($id) = $cookie =~ /=(\w+)\./;
    is by($client, $cookie, 'GET', '/session')->json->{id}, $id, 'a session has an id';
    by($client, $cookie, 'GET', '/v2.0/acme/configmaps', headers => { 'X-Tenure-Session' => $id })->is_status(200, 'which a page may name');
    like got(by($client, $cookie, 'GET', '/v2.0/acme/configmaps', headers => { 'X-Tenure-Session' => '0' x 24 }), 401, 'of another one the cookie is not')->detail,
        qr/another session has begun/, '... and why';
    by($client, "a=b; $cookie; c=d", 'GET', '/v2.0/acme/configmaps')->is_status(200, 'among other cookies');
    by($client, $cookie, 'GET', '/v2.0/acme/configmaps', headers => { 'X-Auth-Token' => '' })->is_status(200, 'beside an empty X-Auth-Token');
    is $instance->sql_value("SELECT actor FROM changes WHERE name = 'c1'"), 'ann', 'the change log names the user';
    by($client, $cookie, 'GET', '/v2.0/globex/configmaps')->is_status(404, 'no more than his token may');
    by($client, $cookie, 'GET', '/v2.0')->is_status(403, 'nor what operators may');
    is by($client, $cookie, 'GET', '/session', as => 'bob:globex')->json->{user}, 'bob', 'a token goes before the cookie';

    my $permission = $client->request('OPTIONS', '/v2.0/acme/configmaps', as => undef, headers => { Origin => 'http://evil.example',
        'Access-Control-Request-Method' => 'GET', 'Access-Control-Request-Headers' => 'x-tenure-console' });
    ok !defined $permission->header('access-control-allow-origin'), 'no other origin may send the field';

    my $value = $cookie =~ s/.*=//r;
    my @wrong = ('x', '', $value =~ s/.(?=.{4}\z)/$& eq 'A' ? 'B' : 'A'/er, $value =~ s/\A./$& eq 'f' ? '0' : 'f'/er, "$value.", substr($value, 0, 24), $value =~ s/\./,/r, 'z' x 68, "$value$value");
    is join(' ', map { by($client, "tenure-combined=$_", 'GET', '/session')->status } @wrong), join(' ', (401) x @wrong), 'wrong cookies';
    by($client, $cookie =~ s/combined/admin/r, 'GET', '/session')->is_status(401, 'a cookie of another endpoint');
    by($instance->admin, $cookie =~ s/combined/admin/r, 'GET', '/session')->is_status(401, 'or at another endpoint');
    by($instance->service, $cookie, 'GET', '/session')->is_status(401, 'under its own name as well');

    my $stored = $instance->sql_value('SELECT HEX(CONCAT(hash, credential)) FROM sessions LIMIT 1');
    my $secret = unpack 'H*', $value =~ s/.*\.//r;
    ok $stored !~ /\Q$secret\E/i && $stored !~ /@{[unpack 'H*', 'ann:acme']}/i, 'the table holds neither the cookie nor the token';

    my $again = got(by($client, $cookie, 'POST', '/session'), 403, 'a session begins no other, which would last when it has ended');
    ok !defined $again->header('set-cookie'), '... nor is there a cookie';
    is by($client, $cookie, 'POST', '/session', as => 'bob:globex')->status, 201, 'a token beside the cookie begins one';
    $client->post('/session', as => 'ann:acme')->is_status(403, 'a session is begun by the console alone');
    $client->post('/session', as => undef, headers => {%console})->is_status(401, 'and by nobody without a credential');
    $client->post('/session', as => 'ann:acme', headers => { %console, Origin => 'http://evil.example' })->is_status(403, 'nor from elsewhere');
    return;
}

# The page can follow no redirect to another origin, so what it is answered has no origin.
sub check_links {
    my ($instance) = @_;
    my $admin = $instance->admin;
    my $ask = sub { my ($method, $path, %option) = @_; return $admin->request($method, $path, %option, headers => { %console, %{ $option{headers} // {} } }) };
    my $map = 'namespaces/default/configmaps/link';
    my $made = got($ask->('PUT', "/v2.0/acme/$map", json => {}), 201, 'made');
    is $made->location, "/v2.0/acme/$map", '201 leads to a path';
    like got($ask->('GET', '/v2.0?limit=1'), 200, 'a page')->json->{next}, qr{\A/v2\.0\?}, 'so does the next page';
    my $moved = got($ask->('POST', "/v2.0/acme/$map/action/move?dest=globex", headers => { Prefer => 'respond-async' }), 202, 'a move in the background');
    like $moved->location, qr{\A/v2\.0/acme/moves/[^/]+\z}, 'is followed at a path';
    ok Tenure::Instance::wait_until(sub { $ask->('GET', $moved->location)->status == 303 }), 'it is done';
    is $ask->('GET', $moved->location)->location, "/v2.0/globex/$map", '303 leads to a path';
    is got($ask->('GET', "/v2.0/acme/$map"), 301, 'the old address')->location, "/v2.0/globex/$map", '301, too';
    my $provider = got($ask->('POST', '/placement/resource_providers', json => { name => 'link' }, headers => { 'OpenStack-API-Version' => 'placement 1.39' }), 200, 'a provider');
    like $provider->location, qr{\A/placement/resource_providers/[^/]+\z}, '200 with a path';
    is $provider->json->{name}, 'link', '... is answered as it is';
    like $admin->get("/v2.0/acme/$map")->location, qr{\Ahttp://.*/v2\.0/globex/$map\z}, 'others get whole addresses';
    return;
}

sub check_ends {
    my ($instance) = @_;
    my $client = $instance->combined(undef);
    my ($one, $two, $other) = map { sign_in($client, $_) } 'cleo:acme', 'cleo:acme', 'dora:acme';
    by($client, $one, 'DELETE', '/session', headers => { 'X-Tenure-Console' => undef })->is_status(401, 'without the header field nobody signs out');
    my $answer = got(by($client, $one, 'DELETE', '/session'), 204, 'signing out');
    like $answer->header('set-cookie'), qr/\Atenure-combined=;.*Max-Age=0/, 'the browser forgets the cookie';
    is join(' ', map { by($client, $_, 'GET', '/session')->status } ($one, $two, $other) x 4), join(' ', (401, 200, 200) x 4), 'that session has ended, for all workers';
    my $third = sign_in($client, 'cleo:acme');
    by($client, $two, 'DELETE', '/session?all=true')->is_status(204, 'signing out everywhere');
    is join(' ', map { by($client, $_, 'GET', '/session')->status } $two, $third, $other), '401 401 200', 'all sessions of the user, of no other';
    return;
}

# Over TLS the cookie has a name that no other host of the domain can set, and counts by this name alone.
sub check_tls {
    my ($instance, $token) = @_;
    my $ask = sub {
        my ($path, @more) = @_;
        return (Tenure::Run::run(qw(curl -sSki -H), 'X-Tenure-Console: 1', @more, $instance->env('TENURE_COMBINED_TLS_URL') . $path))[1];
    };
    my $by = sub { return $ask->('/v2.0/acme/configmaps', '-H', "Cookie: $_[0]") =~ m{\AHTTP/\S+ (\d+)} ? $1 : 0 };
    my $answer = $ask->('/session', '-d', '', '-H', "X-Auth-Token: $token");
    my ($name, $value) = $answer =~ /^set-cookie: ([^=]+)=([^;]+);/im or die "no cookie: $answer";
    is $name, '__Host-tenure-combined', 'over TLS the cookie\'s name has the prefix';
    is $by->("$name=$value"), 200, 'by which it counts';
    is $by->("tenure-combined=$value"), 401, '... and not by the name that other hosts of the domain can set';
    by($instance->combined(undef), "tenure-combined=$value", 'GET', '/v2.0/acme/configmaps')->is_status(200, 'without TLS it is that one');
    return;
}

for my $server (qw(lighttpd nginx apache-proxy apache-fcgid)) {
    subtest $server => sub {
        my $instance = Tenure::Instance->start(server => $server, combined => 1);
        $instance->admin->make_tenant($_) for qw(acme globex);
        check_files($instance);
        check_sessions($instance);
        check_ends($instance);
        check_links($instance);
        $instance->stop;
    };
}

subtest 'limits in number and time' => sub {
    my $instance = Tenure::Instance->start(combined => 1, settings => { 'tenure.session_count' => 3, 'tenure.session_idle' => 600, 'tenure.session_max' => 3600 });
    $instance->admin->make_tenant('acme');
    my $client = $instance->combined(undef);
    my @cookies = map { sign_in($client, 'ann:acme') } 1 .. 3;
    my $id_of = sub { return $_[0] =~ /=(\w+)\./ ? $1 : die };
    my $age = sub {
        my ($cookie, $column, $seconds) = @_;
        $instance->sql("UPDATE sessions SET $column = $column - INTERVAL $seconds SECOND WHERE id = '" . $id_of->($cookie) . q('));
    };
    $age->($cookies[1], 'used_at', 30);
    push @cookies, sign_in($client, 'ann:acme');
    is join(' ', map { by($client, $_, 'GET', '/session')->status } @cookies), '200 401 200 200', 'the session that was not used for the longest time makes room';
    my $watch = '/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1';
    my $refused = got(by($client, $cookies[3], 'GET', $watch), 403, 'a session begins no watch, which would go on when it has ended');
    like $refused->json->{message}, qr/a watch needs a credential of its own/, '... and says why';
    $client->get($watch, as => 'ann:acme')->is_status(200, 'its token does');
    my $bob = sign_in($client, 'bob:acme');
    is $instance->sql_value('SELECT COUNT(*) FROM sessions'), 4, 'for each user';
    $age->($bob, 'used_at', 500);
    by($client, $bob, 'GET', '/session')->is_status(200, 'a session that was not used for a while');
    $age->($bob, 'used_at', 500);
    by($client, $bob, 'GET', '/session')->is_status(200, 'use has renewed it');
    $age->($bob, 'used_at', 700);
    my $answer = got(by($client, $bob, 'GET', '/session'), 401, 'unauthenticated', 'not used for too long');
    like $answer->detail, qr/sign in again/, 'and says what to do';
    $age->($cookies[0], 'ends_at', 3000);
    by($client, $cookies[0], 'GET', '/session')->is_status(200, 'before its end');
    $age->($cookies[0], 'ends_at', 700);
    by($client, $cookies[0], 'GET', '/session')->is_status(401, 'its end comes, used or not');
    $instance->manage('reap');
    is $instance->sql_value('SELECT COUNT(*) FROM sessions WHERE ends_at < UTC_TIMESTAMP(6)'), 0, 'ended sessions are reaped';
    $instance->stop;
};

subtest 'tokens of the table' => sub {
    my $instance = Tenure::Instance->start(auth => 'token', combined => 1, tls => 1, settings => { 'tenure.token_cache' => 0 });
    my $client = $instance->combined(undef);
    $instance->admin->make_tenant('acme');
    my $token = $instance->token("acme", "member");
    my $cookie = sign_in($client, $token);
    by($client, $cookie, 'GET', '/v2.0/acme/configmaps')->is_status(200, 'a session');
    check_tls($instance, $token) if Tenure::Instance::on_path('curl');
    $instance->manage('token', 'revoke', $token =~ s/\..*//r);
    by($client, $cookie, 'GET', '/v2.0/acme/configmaps')->is_status(401, 'ends when its token is revoked');
    $instance->stop;
};

subtest 'the challenge' => sub {
    my $instance = Tenure::Instance->start(auth => 'token', workers => 1, combined => 1, settings => { 'endpoint combined.auth' => 'jwt,token',
        'jwt.issuer' => 'https://id.example.org', 'jwt.audience' => 'tenure' });
    my $client = $instance->combined(undef);
    like $client->get('/v2.0/acme/configmaps', as => 'x.y.z')->header('www-authenticate'), qr/error="invalid_token"/, 'a token that is refused';
    my $answer = got(by($client, 'tenure-combined=x', 'GET', '/v2.0/acme/configmaps'), 401, 'a session that has ended');
    is $answer->header('www-authenticate'), 'Bearer realm="tenure"', '... is told nothing of that token';
    $instance->stop;
};

subtest 'users whom the web server has authenticated' => sub {
    my $instance = Tenure::Instance->start;
    my $second = Tenure::RemoteUser->start($instance, name => 'closed', secret => 'f00dfeed' x 8, authenticate => { olga => 'pw' });
    my $basic  = 'Authorization: Basic ' . MIME::Base64::encode_base64('olga:pw', '');
    is Tenure::Raw::get($second->url, '/console/', headers => [])->status, 401, 'the console is behind the same password';
    is Tenure::Raw::get($second->url, '/console/', headers => [$basic])->status, 200, 'with it';
    is Tenure::Raw::get($second->url, '/session', headers => [$basic])->json->{user}, 'olga', 'the user needs no session';
    my $answer = got(Tenure::Raw::request($second->url, 'POST', '/session', headers => [ $basic, 'X-Tenure-Console: 1' ], body => ''), 201, 'and may have one');
    is $instance->sql_value('SELECT user FROM sessions'), 'olga', 'of the same name';
    $second->stop;
    $instance->stop;
};

done_testing;
