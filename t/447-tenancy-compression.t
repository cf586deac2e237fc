#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Web servers that compress make another ETag of ours ("…-gzip", "…-br"). What they made of it still names the version.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Compress::Zlib ();
use POSIX ();
use Test::More;

use Tenure::Client;
use Tenure::Instance;
use Tenure::Metal;
use Tenure::Ports qw(start_on_ports);

# Folder of lighttpd's modules, for one that stands elsewhere.
my $lighttpd_modules = $ENV{TENURE_LIGHTTPD_MODULES} // '/usr/lib/lighttpd';
my $apache_modules   = '/usr/lib/apache2/modules';
my $owner = $$;
my %pids;

# The instance's own configuration with other ports and compression switched on.
sub lighttpd {
    my ($instance, $port, $admin_port) = @_;
    my $dir  = $instance->dir;
    my $conf = Tenure::Instance::read_file("$dir/httpd/lighttpd.conf");
    my $own  = Tenure::Instance::read_file("$dir/httpd/tenure.conf");
    $own  =~ s/^(var\.tenure_admin_address\s*=\s*"127\.0\.0\.1:)\d+/$1$admin_port/m or die 'no admin address';
    $conf =~ s/^(server\.port = )\d+/$1$port/m or die 'no port';
    $conf =~ s/httpd-(error|access)\.log/compress-$1.log/g;
    $conf =~ s/^include .*$/include "$dir\/httpd\/compress-tenure.conf"/m;
    $conf .= <<'CONF';
server.modules += ( "mod_deflate" )
deflate.mimetypes = ( "application/json", "application/xml" )
deflate.allowed-encodings = ( "br", "gzip" )
CONF
    Tenure::Instance::write_file("$dir/httpd/compress-tenure.conf", $own);
    Tenure::Instance::write_file("$dir/httpd/compress.conf", $conf);
    return ('lighttpd', '-D', '-m', $lighttpd_modules, '-f', "$dir/httpd/compress.conf");
}

sub apache {
    my ($instance, $port, $admin_port) = @_;
    my $dir  = $instance->dir;
    my $conf = Tenure::Instance::read_file("$dir/httpd/apache.conf");
    for my $pair ([$instance->env('TENURE_SERVICE_URL'), $port], [$instance->env('TENURE_ADMIN_URL'), $admin_port]) {
        my ($old) = $pair->[0] =~ /:(\d+)/;
        $conf =~ s/127\.0\.0\.1:$old\b/127.0.0.1:$pair->[1]/g or die 'no port';
    }
    $conf =~ s/apache\.pid/compress.pid/;
    $conf =~ s/httpd-(error|access)\.log/compress-$1.log/g;
    $conf .= join '', map { "LoadModule ${_}_module $apache_modules/mod_$_.so\n" } 'filter', 'deflate', 'brotli';
    $conf .= "AddOutputFilterByType BROTLI_COMPRESS;DEFLATE application/json application/xml\n";
    Tenure::Instance::write_file("$dir/httpd/compress.conf", $conf);
    return ('apache2', '-DFOREGROUND', '-f', "$dir/httpd/compress.conf");
}

# Runs a web server more before the same workers. Two clients of it: an operator's, a user's.
sub start {
    my ($instance, $make) = @_;
    my $client;
    my $pid = start_on_ports(2, sub {
        my ($port, $admin_port) = @_;
        $client = Tenure::Client->new(url => "http://127.0.0.1:$admin_port", token => $instance->operator_token);
        my @command = $make->($instance, $port, $admin_port);
        my $pid = fork // die "fork: $!\n";
        return $pid if $pid;
        $ENV{PATH} = "$ENV{PATH}:/usr/sbin";
        open STDOUT, '>', $instance->dir . '/log/compress.log' or POSIX::_exit(127);
        open STDERR, '>&', \*STDOUT or POSIX::_exit(127);
        exec { $command[0] } @command or POSIX::_exit(127);
    }, sub { $client->get('/healthz')->status == 200 }) // die 'the web server: ' . Tenure::Instance::read_file($instance->dir . '/log/compress.log');
    $pids{$pid} = 1;
    return $client;
}

sub stop {
    my @left = keys %pids;
    kill 'TERM', @left if @left;
    waitpid $_, 0 for @left;
    %pids = ();
    return;
}
END { local $?; stop() if $$ == $owner }

sub check {
    my ($client, $encoding) = @_;
    my $url     = "/v2.0/t1/namespaces/default/configmaps/$encoding";
    my @accept  = (headers => { 'Accept-Encoding' => $encoding });
    my $content = 'x' x 2000;
    my $made    = $client->make($url, { data => $content });
    my $get     = $client->get($url, @accept);
    $get->is_status(200);
    is $get->header('content-encoding'), $encoding, "comes compressed: $encoding";
    is Compress::Zlib::memGunzip($get->text) // 'cannot be unpacked', $client->get($url)->text, 'and whole' if $encoding eq 'gzip';
    note 'ETag: ' . ($get->etag =~ s/[0-9a-f]{100,}/…/r);
    isnt $get->etag, $made->etag, 'the web server made another ETag of ours';

    $client->get($url, @accept, if_none_match => $get->etag)->is_status(304, 'If-None-Match: not modified');
    $client->get($url, if_none_match => $get->etag)->is_status(304, 'also to one that takes no compressed answer');
    $client->get($url, @accept, if_none_match => '"0", ' . $get->etag)->is_status(304, 'in a list');
    my $put = $client->put($url, json => { data => "$content 1" }, if_match => $get->etag, @accept);
    $put->is_status(200, 'If-Match: PUT');
    $client->put($url, json => {}, if_match => $get->etag, @accept)->is_status(412, 'once');
    $client->get($url, @accept, if_none_match => $get->etag)->is_status(200, 'GET: it was modified');
    my $now = $client->get($url, @accept)->etag;
    $client->patch($url, { data => "$content 2" }, if_match => $now, @accept)->is_status(200, 'PATCH');
    $client->put($url, json => {}, if_none_match => $client->get($url, @accept)->etag)->is_status(412, 'If-None-Match: PUT of what is there');
    $client->delete($url, if_match => $now)->is_status(412, 'DELETE with an old one');
    $client->delete($url, if_match => $client->get($url, @accept)->etag)->is_status(204, 'DELETE');
    my $tenant = $client->get('/v2.0/t1', @accept);
    is $tenant->header('content-encoding'), $encoding, 'a tenant';
    $client->patch('/v2.0/t1', { tenant => { metadata => { $encoding => 'x' x 500 } } }, if_match => $tenant->etag)->is_status(200, 'its PATCH');
    return;
}

# The same of a node, whose API has etags in header and body.
sub check_node {
    my ($client, $encoding) = @_;
    my $metal  = Tenure::Metal->new($client, '1.82');
    my @accept = (headers => { 'Accept-Encoding' => $encoding });
    my $made   = $metal->make('nodes', { driver => 'fake-hardware', extra => { text => 'x' x 2000 } });
    my $path   = "/nodes/$made->{uuid}";
    my $add    = sub { return $metal->patch($path, [[add => '/extra/n', $_[0]]], if_match => $_[1], @accept) };
    my $get    = $metal->get($path, @accept);
    is $get->header('content-encoding'), $encoding, "a node comes compressed: $encoding";
    isnt $get->etag =~ s/"//gr, $made->{etag}, 'the web server made another ETag of ours';
    is $metal->get($path)->json->{etag}, $made->{etag}, 'which is in the body as it was';
    my $patch = $add->(1, $get->etag);
    $patch->is_status(200, 'If-Match: PATCH by what the web server made');
    $add->(2, $get->etag)->is_status(412, 'once');
    $add->(2, $metal->get($path)->json->{etag})->is_status(200, 'by that of the body');
    my $now = $metal->get($path, @accept)->etag;
    $add->(3, qq("0", $now))->is_status(200, 'in a list');
    $metal->put("$path/maintenance", if_match => $now)->is_status(412, 'maintenance with an old one');
    my $last = sub { return $metal->get($path, @accept)->etag };
    $metal->put("$path/maintenance", if_match => $last->())->is_status(202, 'with the present one');
    $metal->put("$path/traits/CUSTOM_A", if_match => $last->())->is_status(204, 'a trait');
    $metal->delete($path, if_match => $now)->is_status(412, 'DELETE with an old one');
    $metal->delete($path, if_match => $last->())->is_status(204, 'DELETE');
    return;
}

for my $server (
    ['lighttpd', 'lighttpd', \&lighttpd, "$lighttpd_modules/mod_deflate.so"],
    ['Apache', 'apache-proxy', \&apache, "$apache_modules/mod_deflate.so", "$apache_modules/mod_brotli.so"],
) {
    my ($name, $kind, $make, @needs) = @$server;
    subtest $name => sub {
        my ($missing) = grep { !-e } @needs;
        plan skip_all => "there is no $missing" if defined $missing;
        my $instance = Tenure::Instance->start(server => $kind);
        $instance->admin->make_tenant('t1', metadata => { a => 'x' x 500 });
        my $client = start($instance, $make);
        for my $encoding ('gzip', 'br') {
            subtest $encoding => sub { check($client, $encoding) };
            subtest "$encoding, bare metal" => sub { check_node($client, $encoding) };
        }
        stop();
        $instance->stop;
    };
}

done_testing;
