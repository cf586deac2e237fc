#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# nginx with another site beside Tenure, which is the default of the same port, as Debian has one.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Raw;
use Tenure::Run qw(read_file wait_until write_file);

plan skip_all => 'nginx is not installed' unless Tenure::Instance::on_path('nginx');
my $instance = Tenure::Instance->start(server => 'nginx');
my $dir      = $instance->dir;
my ($port)   = $instance->env('TENURE_SERVICE_URL') =~ /:(\d+)/;
$instance->admin->make_tenant('t1');
my $user = $instance->service('ann:t1:member');
my $list = '/v2.0/t1/namespaces/default/configmaps';

sub is_of_tenure { my ($answer) = @_; return defined $answer->header('X-Request-Id') }

# The first server of a port is its default.
my $frame = read_file("$dir/httpd/frame.conf");
$frame =~ s/^(\s*include \S+;)/server { listen 127.0.0.1:$port; server_name other.example.net; return 403 "other\\n"; }\n$1/m or die 'no include';
write_file("$dir/httpd/frame.conf", $frame);
kill HUP => read_file("$dir/httpd/nginx.pid") =~ /(\d+)/;
my $url = $instance->env('TENURE_SERVICE_URL');
ok wait_until(sub { Tenure::Raw::exchange($url, "GET / HTTP/1.1\r\nHost: elsewhere.example.net\r\nConnection: close\r\n\r\n")->status == 403 }),
    'the other site answers all other names';

subtest 'addresses' => sub {
    for my $bytes (100, 7000, 12_000, 30_000) {
        my $answer = $user->get("$list?labels=" . 'a' x $bytes);
        ok is_of_tenure($answer), "Tenure answers to one of $bytes bytes" or diag $answer->describe;
    }
    my @ids = map { join '', map { sprintf '%%%02X', ord } split //, $_ x 255 } "\xe2\x82\xac", "\xf0\x9f\x90\xa7";
    my $answer = $user->get("/v2.0/$ids[0]/namespaces/$ids[1]/configmaps/$ids[1]");
    ok is_of_tenure($answer), 'so it does to three ids of 255 characters, the longest ones' or diag $answer->describe;
    is $answer->status, 404, '... as what is not there';
};

done_testing;
