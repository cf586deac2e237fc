#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What doc/operations.md says of the web servers: whose names they answer to, how long an address may be, and what they answer while no
# process of Tenure listens. An answer of Tenure has X-Request-Id, one of the web server has not.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use Test::More;

use Tenure::Instance;
use Tenure::Raw;
use Tenure::Run ();

my %refuses = (lighttpd => [404], 'apache-fcgid' => [400], 'apache-proxy' => [400], nginx => [421]);

sub is_of_server {
    my ($answer, $statuses, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    ok scalar(grep { $answer->status == $_ } @$statuses), "$what: " . $answer->status or diag substr $answer->describe, 0, 300;
    is $answer->request_id, undef, "$what: not by Tenure";
    return;
}

# The lines that a site takes the marks off, for TLS and for an endpoint for both, too.
subtest 'each virtual host of the files has its names' => sub {
    my $shipped = Tenure::Instance::source_dir() . '/httpd-conf';
    my %file = map { $_ => Tenure::Run::read_file("$shipped/$_.conf") =~ s/^(\t?)#(?=[\t<\$}]|server \{)/$1/gmr } qw(apache-fcgid apache-proxy-fcgi nginx lighttpd);
    for my $name (qw(apache-fcgid apache-proxy-fcgi)) {
        my @hosts = $file{$name} =~ m{^<VirtualHost (.*?)^</VirtualHost>}msg;
        is scalar @hosts, 4, "$name: service, TLS, admin, combined";
        like $_, qr/^\tServerName .*\n\tServerAlias .*\n(?:\t# .*\n)*\tStrictHostCheck On$/m, (split /\n/)[0] for @hosts;
    }
    my @servers = $file{nginx} =~ /^server \{\n(.*?)^\}/msg;
    is scalar @servers, 3, 'nginx: service, admin, combined';
    like $_, qr/^\tif \(\$http_host !~\* "\^.*\) \{ return 421; \}$/m, (split /;/)[0] for @servers;
    my @passed = $file{lighttpd} =~ /^(.*\n)\t+fastcgi\.server = \( /mg;
    is scalar @passed, 3, 'lighttpd: service, admin, combined';
    like $_, qr/^\t?\$HTTP\["host"\] =~ var\.tenure_(?:admin_)?hosts \{$/, '... below a condition' for @passed;
};

# As after `apt-get remove tenure`, which leaves the web servers' files.
subtest 'Apache starts without the program' => sub {
    plan skip_all => 'mod_fcgid is not installed' if !Tenure::Instance::on_path('apache2') || !-e '/usr/lib/apache2/modules/mod_fcgid.so';
    my $dir = File::Temp->newdir('tenure-httpd-XXXXXX', TMPDIR => 1);
    Tenure::Run::write_file("$dir/apache.conf", join '', map { "$_\n" } "ServerRoot $dir", 'ServerName localhost', "ErrorLog $dir/error.log",
        (map { "LoadModule ${_}_module /usr/lib/apache2/modules/mod_$_.so" } qw(mpm_event authz_core env macro setenvif headers alias mime fcgid)),
        'TypesConfig /dev/null', "Define TENURE_PROGRAM $dir/tenured", 'Include ' . Tenure::Instance::source_dir() . '/httpd-conf/apache-fcgid.conf');
    local $ENV{PATH} = "$ENV{PATH}:/usr/sbin:/sbin";
    my $said = qx{apache2 -t -f $dir/apache.conf 2>&1};
    is $?, 0, 'apache2 -t' or diag $said;
};

for my $server (sort keys %refuses) {
    subtest $server => sub {
        plan skip_all => "$server is not installed" if !Tenure::Instance::on_path({ lighttpd => 'lighttpd', nginx => 'nginx' }->{$server} // 'apache2')
            || $server eq 'apache-fcgid' && !-e '/usr/lib/apache2/modules/mod_fcgid.so';
        my $instance = Tenure::Instance->start(server => $server, workers => 2, allow => [qr/./]);
        my $service  = $instance->service('ann:acme:admin');
        my $maps     = '/v2.0/acme/namespaces/default/configmaps';
        $instance->admin->make_tenant('acme');
        ok $service->get($maps)->request_id, 'an answer of Tenure';
        my ($port) = $service->url =~ /:(\d+)\z/;
        my $other = Tenure::Raw::exchange($service->url, "GET $maps HTTP/1.1\r\nHost: other.example.net:$port\r\nX-Auth-Token: ann:acme:admin\r\nConnection: close\r\n\r\n");
        is_of_server($other, $refuses{$server}, 'another name');
        is_of_server(Tenure::Raw::get($service->url, "$maps/" . 'a' x 33_000, token => 'ann:acme:admin'), [400, 414, 431], 'more than 32 KiB');
        is_of_server(Tenure::Raw::get($service->url, "$maps/" . 'a' x 4200, token => 'ann:acme:admin'), [403], 'more than 4,096 bytes') if $server eq 'apache-fcgid';
        is_of_server(Tenure::Raw::get($service->url, $maps, token => 'ann:acme:admin', headers => ['X-Long: ' . 'x' x 33_000]), [400, 413, 414, 431], 'a header field of more');
        return if $server eq 'apache-fcgid';    # no process listens: it starts one
        kill 'TERM', $instance->master_pid('service');
        ok Tenure::Instance::wait_until(sub { !defined $service->get('/healthz')->request_id }), 'the service ends';
        is_of_server($service->get('/healthz'), [502, 503], 'then');
    };
}

done_testing;
