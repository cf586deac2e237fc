#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Requests that no decent client sends: cut, stalled, chunked, doubled; and what must not leak.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Raw;

my $instance = Tenure::Instance->start(workers => 2, settings => { 'tenure.max_body' => '256K' });
my $admin    = $instance->admin;
$admin->make_tenant('t1');
my $url  = '/v2.0/t1/namespaces/default/configmaps';
my $head = "Host: localhost\r\nX-Auth-Token: admin\r\nContent-Type: application/json\r\n";

sub send_raw { return Tenure::Raw::exchange($admin->url, @_) }

subtest 'bodies' => sub {
    my $chunked = send_raw("PUT $url/chunked HTTP/1.1\r\n${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n5\r\n\":12}\r\n0\r\n\r\n");
    $chunked->is_status(201, 'chunked');
    my $many = join '', map { "1\r\n \r\n" } 1 .. 5000;
    send_raw("PUT $url/tiny HTTP/1.1\r\n${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n$many" . "2\r\n{}\r\n0\r\n\r\n")
        ->is_status(201, 'in very many chunks');
    my $large = 'x' x 300_000;
    send_raw("PUT $url/large HTTP/1.1\r\n${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
            . sprintf("%x\r\n%s\r\n0\r\n\r\n", length $large, $large))->is_status(413, 'chunked and too large');
    my $cut = send_raw("PUT $url/cut HTTP/1.1\r\n${head}Connection: close\r\nContent-Length: 100\r\n\r\n{\"a\":1}", half_close => 1, seconds => 3);
    ok $cut->status == 0 || $cut->status >= 400, 'a body that ends early is no body';
    send_raw("PUT $url/cut HTTP/1.1\r\n${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{\"a\":1}\r\n", half_close => 1, seconds => 3);
    $admin->get("$url/cut")->is_status(404, 'nothing was made of either');
    send_raw("PUT $url/both HTTP/1.1\r\n${head}Connection: close\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n");
    my $next = send_raw("GET $url/chunked HTTP/1.1\r\n${head}Connection: close\r\n\r\n");
    $next->is_status(200, 'and the next request is unharmed');
    send_raw("PUT $url/neg HTTP/1.1\r\n${head}Connection: close\r\nContent-Length: -1\r\n\r\n{}")->is_status(400, 'a negative length');
    send_raw("PUT $url/nan HTTP/1.1\r\n${head}Connection: close\r\nContent-Length: many\r\n\r\n{}")->is_status(400, 'a length that is none');
    send_raw("PUT $url/exp HTTP/1.1\r\n${head}Connection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}")->is_status(201, 'Expect: 100-continue');
};

subtest 'stalled clients hold no worker' => sub {
    my @stalled = map {
        my $socket = Tenure::Raw::connect_to($admin->url);
        syswrite $socket, "PUT $url/stalled HTTP/1.1\r\n${head}Content-Length: 1000\r\n\r\n{";
        $socket;
    } 1 .. 8;
    $admin->get("$url/chunked")->is_status(200, 'while eight stall, others are served') for 1 .. 8;
    close $_ for @stalled;
    $admin->get("$url/stalled")->is_status(404, 'and nothing came of them');
};

subtest 'doubled header fields' => sub {
    my $etag = $admin->get("$url/chunked")->etag;
    my $get = send_raw("GET $url/chunked HTTP/1.1\r\n${head}Connection: close\r\nIf-None-Match: \"x\"\r\nIf-None-Match: $etag\r\n\r\n");
    ok $get->status == 304 || $get->status == 200, 'If-None-Match twice is a list, or an error' or diag $get->describe;
    my $put = send_raw("PUT $url/chunked HTTP/1.1\r\n${head}Connection: close\r\nIf-Match: \"x\"\r\nIf-Match: \"y\"\r\nContent-Length: 2\r\n\r\n{}");
    ok $put->status == 412 || $put->status == 400, 'no If-Match is lost' or diag $put->describe;
    my $token = send_raw("GET $url/chunked HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Auth-Token: ann:t2\r\nX-Auth-Token: admin\r\n\r\n");
    isnt $token->status, 200, 'two tokens do not make an operator';
    my $both = send_raw("GET $url/chunked HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Auth-Token: ann:t2\r\nAuthorization: Bearer admin\r\n\r\n");
    isnt $both->status, 200, 'nor do two kinds of credential';
    my $length = send_raw("PUT $url/len HTTP/1.1\r\n${head}Connection: close\r\nContent-Length: 2\r\nContent-Length: 20\r\n\r\n{}", seconds => 3);
    isnt $length->status, 201, 'two lengths make nothing';
    my $type = send_raw("PUT $url/type HTTP/1.1\r\n${head}Connection: close\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}");
    ok $type->status == 415 || $type->status == 400 || $type->status == 201, 'two media types' or diag $type->describe;
};

subtest 'odd requests' => sub {
    send_raw("GET $url/chunked HTTP/1.0\r\nX-Auth-Token: admin\r\nHost: localhost\r\n\r\n")->is_status(200, 'HTTP/1.0 with Host');
    send_raw("GET $url/chunked HTTP/1.0\r\nX-Auth-Token: admin\r\n\r\n")->is_status(404, 'without it the request is for no name that the service has');
    for my $method ('TRACE', 'CONNECT', 'FOO', 'get', 'PROPFIND') {
        my $answer = send_raw("$method $url/chunked HTTP/1.1\r\n${head}Connection: close\r\nContent-Length: 0\r\n\r\n");
        ok $answer->status >= 400 && $answer->status != 500 && $answer->status < 504, "$method" or diag $answer->describe;
    }
    my $body = send_raw("DELETE $url/tiny HTTP/1.1\r\n${head}Connection: close\r\nContent-Length: 2\r\n\r\n{}");
    ok $body->status == 204 || $body->status == 400, 'DELETE with a body it does not take' or diag $body->describe;
    send_raw("GET http://localhost$url/chunked HTTP/1.1\r\n${head}Connection: close\r\n\r\n");
    my $spoof = send_raw("GET $url/chunked HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nRemote-User: admin\r\nX-Remote-User: admin\r\n\r\n");
    $spoof->is_status(401, 'nobody becomes somebody by Remote-User');
    send_raw("GET /v2.0/t1?" . 'a=1&' x 100 . " HTTP/1.1\r\n${head}Connection: close\r\n\r\n")->is_status(400, 'a hundred query parameters');
    send_raw('GET /v2.0/t1/persistentvolumes/' . 'a' x 40_000 . " HTTP/1.1\r\n${head}Connection: close\r\n\r\n")->status =~ /\A4\d\d\z/
        or fail 'an address without end';
    send_raw("GET $url/chunked HTTP/1.1\r\n${head}Connection: close\r\n" . join('', map { "X-N$_: v\r\n" } 1 .. 2000) . "\r\n")->status =~ /\A[24]\d\d\z/
        or fail 'two thousand header fields';
    send_raw("GET $url/chunked HTTP/1.1\r\n${head}Connection: close\r\nAccept: " . 'text/x;q=0.1,' x 1500 . "*/*\r\n\r\n")->is_status(200, 'a long Accept');
    send_raw("GET $url/chunked HTTP/1.1\r\n${head}Connection: close\r\nAccept: \xff\xfe;;;q=\r\n\r\n")->status =~ /\A[24]\d\d\z/ or fail 'a broken Accept';
    for my $prefer ('return=', 'return=minimal; x="', ',,,', "respond-async\xff", 'wait=9999999999999999999999') {
        my $answer = send_raw("POST /v2.0/t1/action/move?dest=none HTTP/1.1\r\n${head}Connection: close\r\nPrefer: $prefer\r\nContent-Length: 0\r\n\r\n");
        ok $answer->status == 404 || $answer->status == 400, "Prefer: $prefer" or diag $answer->describe;
    }
};

subtest 'errors tell nothing that is not the client\'s' => sub {
    my @answers = ($admin->get('/v2.0/t1/persistentvolumes/none'), $admin->put("$url/x", body => '{', type => 'application/json'),
        $admin->put("$url/x", json => {}, if_match => '"'), $admin->get('/v2.0/nobody'), $admin->get("$url?marker=%27"), $admin->get('/nothing'));
    for my $answer (@answers) {
        unlike $answer->text, qr{SELECT|INSERT|mysql|mariadb|\.c:|/tmp/|/usr/|tenured|errno}i, "$answer->{what}: no SQL, no path, no program";
    }
    my $quoted = $admin->get('/v2.0/t1/persistentvolumes/%3Cscript%3Ealert%281%29%3C%2Fscript%3E');
    ok $quoted->status == 400, 'an encoded slash in markup';
    $quoted = $admin->get('/v2.0/%3Cscript%3E', accept => 'application/xml');
    ok eval { $quoted->xml; 1 }, 'what a problem quotes is escaped in XML' or diag $@;
};

subtest 'the database is away' => sub {
    push @{ $instance->{allow} }, qr/connection lost/;
    $instance->database('kill');
    my $get = $admin->get("$url/chunked");
    $get->is_problem(503, 'unavailable');
    ok $get->header('Retry-After'), 'Retry-After';
    $admin->put("$url/later", json => {})->is_problem(503, 'unavailable', 'writes, too');
    $instance->service(undef)->get('/healthz')->is_status(503, 'health tells');
    $instance->service(undef)->get('/')->is_status(200, 'what needs no database goes on');
    $instance->service(undef)->get('/application.wadl')->is_status(200, 'the WADL as well');
    $admin->get("$url/chunked") for 1 .. 20;
    my %told;
    my $log = $instance->log_text('admin');
    $told{"$1 told $2"}++ while $log =~ /\[(\d+)\]: (?:\[[^\]]+\] )?database: connection lost: (\d+)/g;
    cmp_ok scalar(keys %told), '>', 0, 'the log tells';
    is_deeply [grep { $told{$_} > 1 } sort keys %told], [], '... but no worker tells the same with each request';
    $instance->database('start');
    ok Tenure::Instance::wait_until(sub { $admin->get("$url/chunked")->status == 200 }, 60), 'it is back, and all with it';
    $admin->get("$url/later")->is_status(404, 'what was refused did not happen');
    $instance->service(undef)->get('/healthz')->is_status(200, 'health is well');
};

subtest 'a document as large as can be set' => sub {
    my $large = Tenure::Instance->start(workers => 1, settings => { 'tenure.max_body' => '15M', 'tenure.request_memory' => '256M', 'tenure.request_cpu' => 0 });
    my $most  = 15 << 20;
    $large->admin->make_tenant('t1');
    my $at = '/v2.0/t1/persistentvolumes/large';
    for my $letter ('a', 'b') {
        my $text = '{"data":"' . $letter x ($most - 400) . '"}';
        my $put  = $large->admin->put($at, type => 'application/json', body => $text);
        is $put->status, $letter eq 'a' ? 201 : 200, $letter eq 'a' ? 'is stored' : '... and replaced' or diag $put->describe;
    }
    is length($large->admin->get($at)->json->{data}), $most - 400, '... and read';
    $large->admin->put($at, type => 'application/json', body => '{"data":"' . 'a' x $most . '"}')->is_problem(413, 'body-too-large', 'a larger one is refused');
    my ($code, $told) = $large->manage('doctor');
    is $code, 0, 'doctor finds nothing';
    unlike $told, qr/max_allowed_packet/, '... and the database takes it by default';
    $large->stop;
};

done_testing;
