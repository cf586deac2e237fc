#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Clients that ask for much and take none of it, lists and watches: the workers serve others meanwhile, behind each web server, and the
# answers are whole when they are taken after all.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use IO::Socket::INET;
use Test::More;

use Tenure::Instance;

# More than the buffers of all sockets between hold.
my ($objects, $bytes, $slow) = (32, 700_000, 6);

sub fill {
    my ($admin, $tenant) = @_;
    $admin->make_tenant($tenant);
    for my $n (1 .. $objects) {
        my $answer = $admin->request('PUT', "/v2.0/$tenant/namespaces/default/configmaps/c$n", json => { data => { text => 'x' x $bytes } });
        $answer->{status} == 201 or die "PUT: $answer->{status} $answer->{content}\n";
    }
    return;
}

sub slow_reader {
    my ($url, $path, $token) = @_;
    $token //= 'admin';
    my ($address) = $url =~ m{^http://([^/]+)} or die "$url\n";
    my $socket = IO::Socket::INET->new(PeerAddr => $address, Timeout => 10) or die "$address: $!\n";
    print $socket "GET $path HTTP/1.1\r\nHost: localhost\r\nX-Auth-Token: $token\r\nConnection: close\r\n\r\n";
    sysread $socket, my $first, 12 or die "no answer\n"; # it has begun
    return ($socket, $first);
}

# The text of a body that is sent in chunks.
sub of_chunks {
    my ($body) = @_;
    my $text = '';
    while ($body =~ /\G([0-9a-fA-F]+)\r\n/gc) {
        my $n = hex $1;
        $text .= substr $body, pos $body, $n;
        pos($body) += $n + 2;
    }
    return $text;
}

# Clients of watches that take none of their initial events, one more than there are workers. A change that is made meanwhile comes behind
# these.
sub check_watches {
    my ($instance, $path) = @_;
    my $admin = $instance->admin;
    my @slow = map { [slow_reader($instance->env('TENURE_ADMIN_URL'), "$path?watch=true&timeoutSeconds=300")] } 1 .. 3;
    is $admin->request('PUT', '/v2.0/t1/namespaces/default/configmaps/c1', json => { data => { text => 'changed' } })->{status}, 200,
        'watches: others are served';
    for my $slow (@slow) {
        my ($socket, $answer) = @$slow;
        local $SIG{ALRM} = sub { die "the watch does not go on\n" };
        alarm 120;
        1 while substr($answer, -2000) !~ /"type":"MODIFIED".*\}\n/ && sysread $socket, $answer, 1 << 20, length $answer;
        alarm 0;
        my ($head, $body) = split /\r\n\r\n/, $answer, 2;
        my @events = split /\n/, $head =~ /^Transfer-Encoding: chunked/mi ? of_chunks($body) : $body;
        my @told = map { join ' ', /\A *\{"type":"([A-Z]+)"/, /\}\}\}\r?\z/ ? 'whole' : 'cut', tr/x// < $bytes ? 'small' : 'large' } @events;
        is_deeply \@told, [('ADDED whole large') x $objects, 'MODIFIED whole small'], 'what was there, and then what is new';
        close $socket;
    }
    return;
}

for my $name ('lighttpd', 'nginx', 'apache-proxy', 'apache-fcgid') {
    subtest $name => sub {
        plan skip_all => "$name is not installed" unless Tenure::Instance::on_path($name =~ /apache/ ? 'apache2' : $name) &&
            ($name ne 'apache-fcgid' || -e '/usr/lib/apache2/modules/mod_fcgid.so');
        my $instance = Tenure::Instance->start(server => $name, workers => 2);
        my $admin = $instance->admin;
        fill($admin, 't1');
        my $path = '/api/v1/tenants/t1/namespaces/default/configmaps';
        my @slow = map { [ slow_reader($instance->env('TENURE_ADMIN_URL'), $path) ] } 1 .. $slow;
        is $admin->request('GET', '/v2.0/t1')->{status}, 200, 'others are served';
        for my $slow (@slow) {
            my ($socket, $answer) = @$slow;
            1 while sysread $socket, $answer, 1 << 20, length $answer;
            my ($head, $body) = split /\r\n\r\n/, $answer, 2;
            like $head, qr{^HTTP/1\.1 200 }, 'the answer';
            my ($length) = $head =~ /^Content-Length: (\d+)/mi;
            is length $body, $length, 'is whole';
            is scalar(() = $body =~ /"name":"c\d+","namespace"/g), $objects, 'all of them';
        }
        check_watches($instance, $path) if $name ne 'apache-fcgid'; # which serves none
        $instance->stop;
    };
}

subtest 'more than may wait' => sub {
    plan skip_all => 'apache2 is not installed' unless Tenure::Instance::on_path('apache2');
    my $instance = Tenure::Instance->start(server => 'apache-proxy', workers => 2, combined => 1, settings => { 'tenure.unsent' => '70M' });
    fill($instance->admin, $_) for 'greedy', 'modest';
    my $url = $instance->env('TENURE_COMBINED_URL');
    my $list = sub { return slow_reader($url, "/api/v1/tenants/$_[0]/namespaces/default/configmaps", "ann:$_[0]:reader") };
    my @modest = $list->('modest');
    my @greedy = map { [ $list->('greedy') ] } 1 .. $slow;
    ok Tenure::Instance::wait_until(sub { $instance->log_text('combined') =~ /one of the tenant with the most is cut off/ }),
        'the tenant with the most loses';
    # The level of log lines is that of the process that sends, too.
    my $told = sub { return scalar(() = $instance->log_text('combined') =~ /is cut off/g) };
    is +($instance->manage('log-level', 'error'))[0], 0, 'no warnings any more';
    push @greedy, [ $list->('greedy') ];
    my $before = $told->();
    push @greedy, map { [ $list->('greedy') ] } 1 .. 2;
    my $read = sub {
        my ($socket, $answer) = @_;
        1 while sysread $socket, $answer, 1 << 20, length $answer;
        my ($head, $body) = split /\r\n\r\n/, $answer, 2;
        my ($length) = $head =~ /^Content-Length: (\d+)/mi;
        return length($body) == $length ? 1 : 0;
    };
    is $read->(@modest), 1, 'another does not';
    my $whole = grep { $read->(@$_) } @greedy;
    cmp_ok $whole, '>', 0, 'what there was room for is sent';
    cmp_ok $whole, '<', $slow, 'and no more';
    is $told->(), $before, 'and no more is said of it';
    $instance->stop;
};

done_testing;
