#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A Keystone, and an issuer of JSON Web Tokens, behind TLS: the certificate has to be of an authority that ca_file names, and for the name
# in auth_url, or jwks_url. And a webhook's receiver behind TLS.
use strict;
use warnings;

use File::Basename ();
use lib File::Basename::dirname(__FILE__) . '/lib';

use File::Temp ();
use POSIX ();
use Test::More;

use Tenure::Client;
use Tenure::FakeKeystone;
use Tenure::Instance;
use Tenure::Issuer;
use Tenure::Ports qw(start_on_ports);
use Tenure::Receiver;
use Tenure::Run qw(wait_until write_file);

plan skip_all => 'nginx is not installed' unless Tenure::Instance::on_path('nginx');
# The system's folder of authorities is one of this test's own, in a mount namespace. Where none can be made, what needs the folder is left out.
my $certs = '/etc/ssl/certs';
if (!defined $ENV{TENURE_TEST_CERTS}) {
    $ENV{TENURE_TEST_CERTS} = system("exec 2>/dev/null; unshare -m mount -t tmpfs tenure $certs") == 0;
    exec 'unshare', '-m', 'sh', '-c', "mount -t tmpfs tenure $certs && exec \"\$@\"", 'sh', $^X, __FILE__ or die "unshare: $!" if $ENV{TENURE_TEST_CERTS};
}

my $folder = File::Temp->newdir('tenure-keystone-tls-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $dir = "$folder";
my $keystone = Tenure::FakeKeystone->start;
my $red = 'a' x 32;
$keystone->token('red-member', project => $red, roles => ['member']);
my $issuer = Tenure::Issuer->start;
$issuer->make_key('k', 'ES256');
$issuer->publish('k');
my ($keys_behind) = $issuer->url =~ m{(127\.0\.0\.1:\d+)};
my $receiver = Tenure::Receiver->start;
my ($receiver_behind) = $receiver->url('/') =~ m{(127\.0\.0\.1:\d+)};
my ($behind) = $keystone->url =~ m{(127\.0\.0\.1:\d+)};

sub openssl {
    my (@words) = @_;
    my ($code, $text) = Tenure::Run::run('openssl', @words);
    die "openssl @words: $text" if $code != 0;
    return;
}

my @key = qw(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes);
openssl(qw(req -x509 -days 2), @key, '-keyout', "$dir/$_.key", '-out', "$dir/$_.pem", '-subj', '/CN=Authority') for qw(ca foreign);
openssl(qw(req -x509 -days 2), @key, '-keyout', "$dir/known.key", '-out', "$dir/known.pem", '-subj', '/CN=Known');
my %servers = (good => [ 'ca', 'IP:127.0.0.1' ], misnamed => [ 'ca', 'DNS:keystone.example.org' ], strange => [ 'foreign', 'IP:127.0.0.1' ],
    system => [ 'known', 'IP:127.0.0.1' ]);
my @names = sort keys %servers;
for my $name (@names) {
    my ($ca, $alternative) = @{ $servers{$name} };
    write_file("$dir/$name.ext", "subjectAltName=$alternative\n");
    openssl('req', @key, '-keyout', "$dir/$name.key", '-out', "$dir/$name.csr", '-subj', '/CN=127.0.0.1');
    openssl(qw(x509 -req -days 2 -CAcreateserial -in), "$dir/$name.csr", '-CA', "$dir/$ca.pem", '-CAkey', "$dir/$ca.key", '-extfile', "$dir/$name.ext",
        '-out', "$dir/$name.crt");
}

my %port;
sub write_configuration {
    my $blocks = '';
    for my $name (@names) {
        $blocks .= "server { listen 127.0.0.1:$port{$name} ssl; ssl_certificate $dir/$name.crt; ssl_certificate_key $dir/$name.key;\n"
            . "location / { proxy_pass http://$behind; } location /realm { proxy_pass http://$keys_behind; }\n"
            . "location /hook { proxy_pass http://$receiver_behind; } }\n";
    }
    write_file("$dir/nginx.conf", ($> == 0 ? "user root;\n" : '') . "daemon off; pid $dir/nginx.pid; error_log $dir/error.log; events { worker_connections 64; }\n"
        . "http { access_log off;\n" . (join '', map { "${_}_temp_path $dir/tmp/$_;\n" } qw(client_body proxy fastcgi uwsgi scgi)) . "$blocks}\n");
    return;
}

mkdir "$dir/tmp";
my $pid;
END {
    if ($pid) {
        local $?;
        kill 'TERM', $pid;
        waitpid $pid, 0;
    }
}
# nginx writes its pid when all its ports are open.
$pid = start_on_ports(scalar @names, sub {
    @port{@names} = @_;
    write_configuration();
    my $child = fork // die "fork: $!";
    return $child if $child;
    $ENV{PATH} .= ':/usr/sbin:/sbin';
    exec 'nginx', '-p', $dir, '-e', "$dir/error.log", '-c', "$dir/nginx.conf" or POSIX::_exit(127);
}, sub { -s "$dir/nginx.pid" }) // die "nginx does not listen\n" . Tenure::Instance::read_file("$dir/error.log");

if ($ENV{TENURE_TEST_CERTS}) {
    write_file("$certs/ca-certificates.crt", Tenure::Instance::read_file("$dir/foreign.pem"));
    my ($code, $hash) = Tenure::Run::run('openssl', 'x509', '-in', "$dir/known.pem", '-noout', '-hash');
    chomp $hash;
    write_file("$certs/$hash.0", Tenure::Instance::read_file("$dir/known.pem"));
}
diag 'no file system can be mounted here, so the folder of the system is not tested' if !$ENV{TENURE_TEST_CERTS};
my @of_system = $ENV{TENURE_TEST_CERTS} ? [ 'system', "$dir/ca.pem", 'one of an authority that the system knows, where ca_file names another' ] : ();

sub ask_by {
    my ($name, $ca_file) = @_;
    my $instance = Tenure::Instance->start(auth => 'token', allow => [qr/Keystone: /, qr/answered 503 \(unavailable\)/],
        settings => { 'endpoint service.auth' => 'keystone', 'keystone.auth_url' => "https://127.0.0.1:$port{$name}/v3", 'keystone.ca_file' => $ca_file,
            'keystone.username' => 'tenure', 'keystone.password' => 'secret', 'keystone.create_tenants' => 'yes', 'keystone.timeout' => 20 });
    $keystone->forget_log;
    my $status = Tenure::Client->new(url => $instance->env('TENURE_SERVICE_URL'))
        ->get("/v2.0/$red/persistentvolumes", headers => { 'X-Auth-Token' => 'red-member' })->status;
    my $log = $instance->log_text('service');
    $instance->stop;
    return ($status, $log);
}

my ($status, $log) = ask_by('good', "$dir/ca.pem");
is $status, 200, 'a certificate of the authority in ca_file';
is $keystone->count('validate red-member'), 1, 'Keystone was asked by TLS';
for my $case ([ 'misnamed', "$dir/ca.pem", 'one for another name' ], [ 'strange', "$dir/ca.pem", 'one of an authority of the same name' ],
    [ 'good', '', 'one of an authority that the system does not know' ], @of_system) {
    my ($name, $ca_file, $what) = @$case;
    ($status, $log) = ask_by($name, $ca_file);
    is $status, 503, "$what: unavailable";
    like $log, qr/Keystone: login: .*(?:certificate|SSL)/, '... and the log says why';
    is $keystone->log, '', '... and neither password nor token was sent';
}

sub ask_by_jwt {
    my ($name, $ca_file) = @_;
    my $instance = Tenure::Instance->start(auth => 'token', allow => [qr/JWT: /, qr/answered 503 \(unavailable\)/],
        settings => { 'endpoint service.auth' => 'jwt', 'jwt.issuer' => $issuer->url, 'jwt.audience' => 'tenure', 'jwt.timeout' => 20,
            'jwt.jwks_url' => "https://127.0.0.1:$port{$name}/realm/keys", 'jwt.ca_file' => $ca_file, 'jwt.create_tenants' => 'yes' });
    $issuer->forget_log;
    my $status = Tenure::Client->new(url => $instance->env('TENURE_SERVICE_URL'))->get('/v2.0/red/persistentvolumes',
        headers => { Authorization => 'Bearer ' . $issuer->token('k', tenant => 'red', roles => ['member']) })->status;
    my $log = $instance->log_text('service');
    $instance->stop;
    return ($status, $log);
}

is((ask_by_jwt('good', "$dir/ca.pem"))[0], 200, 'keys of an issuer, by a certificate of the authority in ca_file');
is $issuer->count('/keys'), 1, '... fetched by TLS';
for my $case ([ 'misnamed', "$dir/ca.pem", 'one for another name' ], [ 'good', '', 'one of an authority that the system does not know' ], @of_system) {
    my ($name, $ca_file, $what) = @$case;
    ($status, $log) = ask_by_jwt($name, $ca_file);
    is $status, 503, "$what: unavailable";
    like $log, qr/JWT: .*(?:certificate|SSL)/, '... and the log says why';
    is $issuer->count('/keys'), 0, '... and no keys were fetched';
}

# Sends a change by a webhook. Returns how many messages came to the receiver, and what its owner is told of an error.
sub send_to {
    my ($name, $ca_file, $path) = @_;
    my $instance = Tenure::Instance->start(settings => { 'webhooks.allow' => '127.0.0.1', 'webhooks.ca_file' => $ca_file, 'webhooks.timeout' => 20 });
    $instance->admin->make_tenant('t1');
    my $ann = $instance->service('ann:t1:admin');
    $ann->put('/v2.0/t1/webhooks/hook', json => { url => "https://127.0.0.1:$port{$name}$path" })->is_status(201);
    $ann->put('/v2.0/t1/persistentvolumes/x', json => {})->is_status(201);
    my $error;
    wait_until(sub { $error = $ann->get('/v2.0/t1/webhooks/hook')->json->{error}; $error || $receiver->messages($path) });
    $instance->stop;
    return (scalar $receiver->messages($path), $error // '');
}

my ($came, $error) = send_to('good', "$dir/ca.pem", '/hook/good');
cmp_ok $came, '>', 0, 'a message to a receiver with a certificate of the authority in ca_file' or diag $error;
for my $case ([ 'strange', "$dir/ca.pem", 'one of an authority of the same name' ], @of_system) {
    my ($name, $ca_file, $what) = @$case;
    ($came, $error) = send_to($name, $ca_file, "/hook/$name");
    is $came, 0, "$what: no message";
    like $error, qr/certificate|SSL/, '... and its owner is told why';
}
if (@of_system) {
    ($came, $error) = send_to('system', '', '/hook/trusted');
    cmp_ok $came, '>', 0, '... and where ca_file names none, it is trusted' or diag $error;
}
done_testing();
