#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Requests as web servers send them, and as they never should: what a worker makes of kept connections, of bodies that
# nobody reads, that are cut or too large, and of records that are no FastCGI.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use IO::Select ();
use Test::More;
use Time::HiRes ();

use Tenure::Daemon;
use Tenure::FastCGI;

Tenure::Daemon::need_program();

# One worker: whoever blocks it would block all.
my $daemon = Tenure::Daemon->new(
    tenure   => { max_body => 65536, max_headers => 4096 },
    endpoint => { workers  => 1 },
);
$daemon->start;
my $socket = $daemon->{socket};

sub once { return Tenure::FastCGI->get($socket, @_) }

subtest 'a response is whole' => sub {
    my $got = once(uri => '/application.wadl');
    is $got->{status}, 200, 'status';
    like $got->{raw}, qr/\AStatus: 200 OK\r\n/, 'Status comes first';
    is $got->{headers}{'content-length'}, length $got->{body}, 'Content-Length is that of the body';
    cmp_ok length $got->{body}, '>', 8192, 'which takes several records';
    like $got->{headers}{'x-request-id'}, qr/\A[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/, 'X-Request-Id';
    is $got->{headers}{'cache-control'},          'private, no-cache', 'Cache-Control';
    is $got->{headers}{'accept-ranges'},          'none',              'Accept-Ranges';
    is $got->{headers}{'x-content-type-options'}, 'nosniff',           'X-Content-Type-Options';
};

subtest 'a large answer' => sub {
    my $fcgi  = Tenure::FastCGI->connect($socket);
    my $first = $fcgi->request(uri => '/application.wadl', keep => 1);
    cmp_ok length $first->{body}, '>', 65535, 'takes several of the largest records';
    is $first->{headers}{'content-length'}, length $first->{body}, 'and is whole';
    is $fcgi->request(uri => '/', keep => 1)->{status}, 200, 'its connection goes on';
    is $fcgi->request(uri => '/application.wadl', keep => 1)->{body}, $first->{body}, 'the same again';
    for (1 .. 5) {
        my $gone = Tenure::FastCGI->connect($socket);
        $gone->send_request(uri => '/application.wadl', keep => 1);
        $gone->close;
    }
    is once()->{status}, 200, 'peers that do not wait for it keep nobody waiting';
};

subtest 'HEAD and OPTIONS' => sub {
    my $get  = once(uri => '/');
    my $head = once(uri => '/', method => 'HEAD');
    is $head->{status}, 200, 'HEAD';
    is $head->{body},   '',  'has no body';
    is $head->{headers}{$_}, $get->{headers}{$_}, "and GET's $_" for qw(content-type content-length);
    my $options = once(uri => '/', method => 'OPTIONS');
    is $options->{status}, 204, 'OPTIONS';
    like $options->{headers}{allow}, qr/\bGET\b/, 'tells what is allowed';
    ok !exists $options->{headers}{$_}, "has no $_" for qw(content-type content-length);
};

subtest 'what is not there' => sub {
    is once(uri => '/nothing/of/that/name/here')->{status}, 404, 'address';
    my $got = once(uri => '/', method => 'DELETE');
    is $got->{status}, 405, 'method';
    like $got->{headers}{allow}, qr/\bGET\b/, 'with Allow';
    is once(uri => '/', method => 'BREW')->{status},           501, 'unknown method';
    is once(uri => '/%zz')->{status},                          400, 'malformed address';
    is once(uri => '/a/../b')->{status},                       400, 'dot segment';
    is once(uri => '/' . 'a' x 40000)->{status},               414, 'long address';
    is once(params => [ REQUEST_URI => undef ])->{status},     500, 'no address at all';
    is once(params => [ PATH_INFO => '/x', QUERY_STRING => 'a=b', SCRIPT_NAME => '/y' ])->{status}, 200,
        'other descriptions of the address are not looked at';
};

subtest 'bodies' => sub {
    my $body = 'x' x 1000;
    is once(body => $body)->{status}, 200, 'whole';
    is once(body => $body, params => [ CONTENT_LENGTH => undef ])->{status}, 200, 'without length';
    is once(body => '',    params => [ CONTENT_LENGTH => '' ])->{status},    200, 'with an empty length';
    is once(body => $body, params => [ CONTENT_LENGTH => 1001 ])->{status},  400, 'shorter than promised';
    is once(body => $body, params => [ CONTENT_LENGTH => 999 ])->{status},   400, 'longer than promised';
    is once(body => $body, params => [ CONTENT_LENGTH => '1e3' ])->{status}, 400, 'with a length that is no number';
    is once(body => 'x' x 65536)->{status}, 200, 'as large as allowed';
    is once(body => 'x' x 65537)->{status}, 413, 'larger';
    is once(body => 'x' x 65537, params => [ CONTENT_LENGTH => undef ])->{status}, 413, 'larger, and not telling';
};

subtest 'header fields' => sub {
    is once(params => [ HTTP_X_LONG => 'x' x 3000 ])->{status}, 200, 'long';
    is once(params => [ HTTP_X_LONG => 'x' x 5000 ])->{status}, 431, 'too long';
    is once(params => [ map { ("HTTP_X_$_" => 'y') } 1 .. 127 ])->{status}, 200, 'many';
    is once(params => [ map { ("HTTP_X_$_" => 'y') } 1 .. 200 ])->{status}, 431, 'too many';
};

subtest 'a connection that breaks off' => sub {
    my $fcgi = Tenure::FastCGI->connect($socket);
    $fcgi->send_raw($fcgi->head(body => 'x' x 100) . $fcgi->stream(Tenure::FastCGI::FCGI_STDIN, 'x' x 10, open => 1));
    $fcgi->close;
    is once()->{status}, 200, 'in its body';

    $fcgi = Tenure::FastCGI->connect($socket);
    $fcgi->send_raw(substr $fcgi->head, 0, 30);
    $fcgi->close;
    is once()->{status}, 200, 'in its parameters';

    $fcgi = Tenure::FastCGI->connect($socket);
    $fcgi->send_raw($fcgi->head(body => 'x' x 100) . $fcgi->stream(Tenure::FastCGI::FCGI_STDIN, 'x' x 10, open => 1)
            . $fcgi->record(Tenure::FastCGI::FCGI_ABORT, ''));
    my $got = $fcgi->read_response;
    is $got->{status}, 400, 'by ABORT_REQUEST';
    ok $fcgi->is_closed, 'which closes it';
};

subtest 'what is no FastCGI' => sub {
    for my $bytes ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\0" x 64, "\xff" x 64, pack('CCnnCC', 1, 1, 0, 8, 0, 0) . "\0" x 8) {
        my $fcgi = Tenure::FastCGI->connect($socket);
        $fcgi->send_raw($bytes);
        ok $fcgi->is_closed, 'closes the connection';
    }
    is once()->{status}, 200, 'and serves on';
};

# Some web servers ask first what a worker can do, and one whose client went away may tell so too late.
subtest 'records outside a request' => sub {
    my $at_once = sub {
        my ($what, $code) = @_;
        my $began  = Time::HiRes::time();
        my $answer = $code->();
        is $answer->{status} // 'nothing', 200, $what;
        cmp_ok Time::HiRes::time() - $began, '<', 5, '... without a wait'; # a request that does not come is awaited for 30 seconds
    };
    my $asking = Tenure::FastCGI->connect($socket, id => 0);
    $asking->send_raw($asking->record(Tenure::FastCGI::FCGI_GET_VALUES, $asking->pairs(FCGI_MPXS_CONNS => '', FCGI_MAX_CONNS => '')));
    is_deeply [$asking->read_record(5)], [Tenure::FastCGI::FCGI_GET_VALUES_RESULT, $asking->pairs(FCGI_MPXS_CONNS => '0')], 'FCGI_GET_VALUES is answered';
    $at_once->('another connection', \&once);
    $asking->send_raw($asking->record(99, 'x'));
    is_deeply [$asking->read_record(5)], [Tenure::FastCGI::FCGI_UNKNOWN_TYPE, pack 'Cx7', 99], 'a type that is unknown';
    $asking->{id} = 1;
    $at_once->('a request follows', sub { $asking->request(keep => 1) });
    $asking->send_raw($asking->record(Tenure::FastCGI::FCGI_ABORT, ''));
    $at_once->('ABORT_REQUEST of a request that has ended: another connection', \&once);
    $at_once->('... another request', sub { $asking->request(keep => 1) });
    my $cut = Tenure::FastCGI->connect($socket, id => 0);
    $cut->send_raw(substr $cut->record(Tenure::FastCGI::FCGI_GET_VALUES, 'x' x 100), 0, 50);
    ok $cut->is_closed(5), 'a record that stays incomplete ends its connection';
    $at_once->('... alone', \&once);
};

subtest 'kept connections' => sub {
    my @kept = map { Tenure::FastCGI->connect($socket) } 1 .. 20;
    for my $round (1 .. 3) {
        is_deeply [ map { $_->request(keep => 1)->{status} } @kept ], [ (200) x @kept ], "all are served, round $round";
        is once()->{status}, 200, 'none of them starves another';
    }
    my $last = $kept[0]->request(keep => 0);
    is $last->{status}, 200, 'one that is not to be kept any more';
    ok $kept[0]->is_closed, 'is closed';
    my @more = map { Tenure::FastCGI->connect($socket) } 1 .. 200;
    is_deeply [ map { $_->request(keep => 1)->{status} } @more ], [ (200) x @more ], 'more than there is room for';
    is once()->{status}, 200, 'leave room';
    is $more[-1]->request(keep => 1)->{status}, 200, 'the youngest stays';
    ok $more[0]->is_closed, 'the oldest does not';
};

# What is left of a body in a kept connection would be read as records: a request with parameters of the client's choice.
subtest 'a body is never a request' => sub {
    my $inner = Tenure::FastCGI->connect($socket);
    my $forged = $inner->head(uri => '/forged', params => [ REMOTE_USER => 'admin' ]) . $inner->stream(5, '');
    for my $case (
        [ 'one that nobody reads'   => { method => 'GET' } ],
        [ 'of a method not allowed' => { method => 'DELETE' } ],
        [ 'of an address not there' => { uri    => '/nothing/of/that/name/here' } ],
        [ 'with a length too small' => { params => [ CONTENT_LENGTH => 4 ] } ],
        [ 'that is too large'       => { pad    => 70000 } ],
    ) {
        my ($name, $request) = @$case;
        my $fcgi = Tenure::FastCGI->connect($socket);
        my $body = ('x' x ($request->{pad} // 9000)) . $forged;
        ok $fcgi->request(keep => 1, %$request, body => $body), "$name is answered";
        my $next = $fcgi->request(keep => 1, uri => '/');
        is $next->{status}, 200, '... and followed by the next request' if defined $next;
        ok defined $next || $fcgi->is_closed, '... or closed';
    }
    unlike $daemon->access_text, qr{/forged}, 'no forged request was taken for one';
};

# What waits in the queue while the worker reads a body that does not come.
sub queued {
    my ($code) = @_;
    my $body  = 'x' x 100;
    my $first = Tenure::FastCGI->connect($socket);
    $first->send_raw($first->head(body => $body, uri => '/')
            . $first->stream(Tenure::FastCGI::FCGI_STDIN, substr($body, 0, 10), open => 1));
    my @waiting = $code->();
    $first->send_raw($first->stream(Tenure::FastCGI::FCGI_STDIN, substr $body, 10));
    $first->read_response;
    return @waiting;
}

sub send_as {
    my ($agent, $uri) = @_;
    my $fcgi = Tenure::FastCGI->connect($socket);
    $fcgi->send_request(uri => $uri // '/', params => [ HTTP_USER_AGENT => $agent ]);
    return $fcgi;
}

sub logged_agents { return join ' ', $daemon->access_text =~ /"-" "(agent\d+)"/g }

subtest 'the access log of a busy worker' => sub {
    my @waiting = queued(sub { (send_as('agent1'), send_as('agent2'), send_as('agent3', '/none')) });
    is $waiting[2]->read_response->{status}, 404, 'who is refused';
    is logged_agents(), 'agent1 agent2 agent3', 'finds that in the log, behind what came before';
    is join(' ', map { $_->read_response->{status} } @waiting[0, 1]), '200 200', 'the others were answered';
    @waiting = queued(sub { map { send_as("agent$_") } 4 .. 60 });
    is scalar(grep { $_->read_response->{status} == 200 } @waiting), 57, 'many';
    my $all = join ' ', map { "agent$_" } 1 .. 60;
    ok Tenure::Daemon::wait_until(sub { logged_agents() eq $all }), 'are told in their order when nobody is waiting'
        or diag logged_agents();
};

subtest 'a connection whose request is not there yet' => sub {
    my $two = Tenure::Daemon->new(endpoint => { workers => 2 });
    $two->start;
    my ($rounds, $answered) = (0, 0);
    for (1 .. 100) {
        last if $rounds == 10;
        my $began = Time::HiRes::time();
        my $early = Tenure::FastCGI->connect($two->{socket});
        my $long  = Tenure::FastCGI->connect($two->{socket});
        my $body  = 'x' x 100;
        $long->send_raw($long->head(body => $body, uri => '/') . $long->stream(Tenure::FastCGI::FCGI_STDIN, '', open => 1));
        Time::HiRes::sleep(0.02);
        $early->send_request(uri => '/none');
        my $is_round = Time::HiRes::time() - $began < 0.4; # or it was set aside, as what stays silent is
        my $is_there = IO::Select->new($early->{socket})->can_read($is_round ? 10 : 0.5);
        $long->send_raw($long->stream(Tenure::FastCGI::FCGI_STDIN, $body));
        $_->read_response for $long, $early;
        $rounds   += $is_round;
        $answered += $is_round && $is_there ? 1 : 0;
    }
    is $answered, $rounds, 'does not wait for another worker\'s long one';
    is $two->stop, 0, 'it ends by itself';
};

subtest 'the access log' => sub {
    once(
        uri    => '/?a=%22',
        params => [
            HTTP_USER_AGENT => "evil\" \n- - [x] \"GET /",
            HTTP_REFERER    => 'http://r/',
            SERVER_PROTOCOL => 'HTTP/1.1 200',
        ],
    );
    ok Tenure::Daemon::wait_until(sub { $daemon->access_text =~ /evil/ }), 'the request is logged';
    my @lines = split /\n/, $daemon->access_text;
    my $quoted = qr/"(?:[^"\\]|\\x[0-9a-f]{2})*"/;
    my $form = qr/\A192\.0\.2\.1 - - \[\d\d\/[A-Z][a-z]{2}\/\d{4}(?::\d\d){3} \+0000\] $quoted \d{3} (?:\d+|-) $quoted $quoted [0-9a-f-]{36} \d+ service [a-z-]+ \d+ $quoted\z/;
    is_deeply [ grep { $_ !~ $form } @lines ], [], 'every line has its form';
    like $lines[-1], qr/ "http:\/\/r\/" "evil\\x22 \\x0a- - \[x\] \\x22GET \/" /, 'what clients send is escaped';
};

is $daemon->stop, 0, 'it ends by itself';
unlike $daemon->log_text, qr/ended by signal|Sanitizer|runtime error/, 'no worker had died';
is_deeply [ grep { /is not in the WADL/ } split /\n/, $daemon->log_text ], [], 'the WADL lists every status';

done_testing;
