#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Clients that have not taken all of a large answer, or of a watch, when the configuration is loaded anew or the service stops: all of them get
# to its end what they were sent, at whatever moment the worker hands them over.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Daemon;
use Tenure::FastCGI;
use Tenure::Instance;
use Tenure::Run qw(wait_until);

# More than a socket holds.
my ($objects, $bytes) = (6, 700_000);

my $instance = Tenure::Instance->start(workers => 3);
my $admin    = $instance->admin;
my $socket   = $instance->dir . '/sockets/service.sock';
my $master   = $instance->master_pid('service');
my $path     = '/api/v1/namespaces/default/configmaps';
my @params   = (HTTP_X_AUTH_TOKEN => 'ann:acme:admin', HTTP_ACCEPT => 'application/json', CONTENT_TYPE => 'application/json');

$admin->make_tenant('acme');
$admin->put("/v2.0/acme/namespaces/default/configmaps/c$_", json => { data => { text => 'x' x $bytes } })->is_status(201, "object $_") for 1 .. $objects;

sub watch_process { return grep { Tenure::Daemon::is_watch_process($_) } Tenure::Instance::children_of($master) }
sub workers       { return grep { Tenure::Daemon::name_of($_) eq 'tenured' && Tenure::Daemon::has_epoll($_) } Tenure::Instance::children_of($master) }
sub end_of        { my (@pids) = @_; return wait_until(sub { !grep { Tenure::Daemon::is_running($_) } @pids }, 45) }

# How many answers have the rest of their beginning in a file of this process's.
sub count_rests { my ($pid) = @_; return scalar grep { (readlink // '') =~ /memfd:answer/ } glob "/proc/$pid/fd/*" }

# Bytes sent that the peer has not read yet (SIOCOUTQ).
sub queue_of {
    my ($fcgi) = @_;
    my $n = pack 'i', 0;
    ioctl $fcgi->{socket}, 0x5411, $n or return 0;
    return unpack 'i', $n;
}

# A request that is under way: its worker has begun to read it, and waits for the last byte of the body.
sub begin_request {
    my (%request) = @_;
    my $fcgi = Tenure::FastCGI->connect($socket);
    $fcgi->send_raw($fcgi->head(params => \@params, %request) . $fcgi->stream(Tenure::FastCGI::FCGI_STDIN, substr($request{body}, 0, -1), open => 1));
    wait_until(sub { !queue_of($fcgi) });
    $fcgi->{last} = substr $request{body}, -1;
    return $fcgi;
}

sub end_request { my ($fcgi) = @_; return $fcgi->send_raw($fcgi->stream(Tenure::FastCGI::FCGI_STDIN, $fcgi->{last})) }

# A watch whose client takes none of what there is.
sub begin_watch {
    my $fcgi = Tenure::FastCGI->connect($socket);
    my ($process) = watch_process();
    my $before = count_rests($process);
    $fcgi->send_request(uri => "$path?watch=true&timeoutSeconds=300", params => \@params);
    ok wait_until(sub { count_rests($process) > $before }), 'a watch whose client does not read';
    return $fcgi;
}

# The whole answer is there, to its end.
sub has_all_objects {
    my ($fcgi, $what) = @_;
    my $answer = $fcgi->read_response;
    my @told = map { join ' ', /\A *\{"type":"([A-Z]+)"/, /\}\}\r?\z/ ? 'whole' : 'cut', tr/x// < $bytes ? 'small' : 'large' } grep { /\S/ } split /\n/, $answer->{body} // '';
    is $answer->{status}, 200, "$what: an answer with its end";
    return is_deeply \@told, [('ADDED whole large') x $objects], "$what: every object is there";
}

subtest 'SIGHUP' => sub {
    my $watch = begin_watch();
    my ($before, @workers) = (watch_process(), workers());
    kill HUP => $master;
    ok end_of(@workers), 'the workers of before have ended';
    has_all_objects($watch, 'a watch');
    ok end_of($before), 'then so does the watch process of before';
    my @now = watch_process();
    is scalar @now, 1, 'there is another one';
};

subtest 'SIGTERM' => sub {
    my $watch   = begin_watch();
    my $large   = begin_request(uri => $path, body => '  ');
    my $late    = begin_request(uri => "$path?watch=true&timeoutSeconds=300", body => '  ');
    my @workers = workers();
    kill TERM => $master;
    ok wait_until(sub { !-e $socket }), 'the service stops';
    end_request($late);
    end_request($large);
    ok end_of(@workers), 'the workers have served the requests that they had, and have ended';
    my $answer = $large->read_response;
    is $answer->{status}, 200, 'a large answer that began after the signal: is there to its end';
    is length($answer->{body}), $answer->{headers}{'content-length'}, 'all of it';
    has_all_objects($watch, 'a watch of before');
    has_all_objects($late, 'a watch that began after the signal');
    ok end_of($master), 'then the service has ended';
    unlike $instance->log_text('service'), qr/killing the rest/, 'by itself';
};

done_testing;
