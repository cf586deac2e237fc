#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Tokens of a real Keystone, as Debian packages it: a fresh one with SQLite, on loopback. Skipped where it is not installed.
use strict;
use warnings;

use File::Basename ();
use lib File::Basename::dirname(__FILE__) . '/lib';

use File::Temp ();
use HTTP::Tiny;
use JSON::PP ();
use POSIX ();
use Test::More;

use Tenure::Client;
use Tenure::Instance;
use Tenure::Run qw(run write_file);

for my $program ('/usr/bin/keystone-wsgi-public', '/usr/bin/keystone-manage', '/usr/bin/uwsgi_python3') {
    plan(skip_all => "$program is not installed (Debian: python3-keystone uwsgi-core uwsgi-plugin-python3)") if !-x $program;
}

my $dir = File::Temp->newdir('tenure-keystone-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my ($port) = Tenure::Instance::free_ports(1);
my $url = "http://127.0.0.1:$port/v3";
my ($owner, $pid) = ($$);
mkdir "$dir/$_", 0700 or die "$dir/$_: $!" for qw(fernet credential);
write_file("$dir/keystone.conf", <<"CONF");
[DEFAULT]
use_stderr = true
[database]
connection = sqlite:///$dir/keystone.db
sqlite_synchronous = false
[fernet_tokens]
key_repository = $dir/fernet
[credential]
key_repository = $dir/credential
[cache]
enabled = true
backend = dogpile.cache.memory
[identity]
password_hash_algorithm = bcrypt
password_hash_rounds = 4
CONF

sub manage {
    my ($code, $text) = run('/usr/bin/keystone-manage', '--config-file', "$dir/keystone.conf", @_);
    BAIL_OUT("keystone-manage $_[0]: $text") if $code != 0;
    return;
}
delete @ENV{ grep { /\AOS_/ } keys %ENV };
my ($me, $group) = (scalar getpwuid $<, scalar getgrgid $();
manage('db_sync');
system('/usr/bin/python3', '-c', "import sqlite3; sqlite3.connect('$dir/keystone.db').execute('PRAGMA journal_mode=WAL')") == 0 or BAIL_OUT('sqlite3');
manage($_, '--keystone-user', $me, '--keystone-group', $group) for qw(fernet_setup credential_setup);
manage('bootstrap', '--bootstrap-password', 'admin', '--bootstrap-public-url', $url);

sub serve {
    $pid = fork // die "fork: $!";
    return if $pid;
    @ENV{qw(OS_KEYSTONE_CONFIG_DIR OS_KEYSTONE_CONFIG_FILES)} = ("$dir", "$dir/keystone.conf");
    open STDIN, '<', '/dev/null' or POSIX::_exit(126);
    open STDOUT, '>>', "$dir/uwsgi.log" or POSIX::_exit(126);
    open STDERR, '>&', \*STDOUT or POSIX::_exit(126);
    exec('/usr/bin/uwsgi_python3', '--plugins', 'python3', '--master', '--processes', 1, '--lazy-apps', '--die-on-term', '--no-orphans',
        '--buffer-size', 65535, '--http-socket', "127.0.0.1:$port", '--add-header', 'Connection: close',
        '--wsgi-file', '/usr/bin/keystone-wsgi-public') or POSIX::_exit(127);
}
sub stop { kill 'TERM', $pid; waitpid $pid, 0; $pid = undef; return }
END { if ($owner == $$ && $pid) { local $?; stop() } }
serve();

my $http = HTTP::Tiny->new(timeout => 60);
my $json = JSON::PP->new->utf8;
my $admin;
sub call {
    my ($method, $path, $body, %headers) = @_;
    return $http->request($method, "$url$path", { headers => { 'Content-Type' => 'application/json', ($admin ? ('X-Auth-Token' => $admin) : ()), %headers },
        defined $body ? (content => $json->encode($body)) : () });
}
sub made { my $answer = call(@_); die "$_[0] $_[1]: $answer->{status} $answer->{content}" if !$answer->{success}; return length $answer->{content} ? $json->decode($answer->{content}) : undef }
sub login {
    my ($name, $password, $scope) = @_;
    my $answer = call('POST', '/auth/tokens', { auth => { identity => { methods => ['password'], password => { user => { name => $name, password => $password,
        domain => { id => 'default' } } } }, scope => $scope } });
    die "login of $name: $answer->{status} $answer->{content}" if $answer->{status} != 201;
    return $answer->{headers}{'x-subject-token'};
}
Tenure::Instance::wait_until(sub { call('GET', '')->{status} == 200 }) or BAIL_OUT('Keystone does not come up');
my %in = map { my $name = $_; $name => { project => { name => $name, domain => { id => 'default' } } } } qw(admin red service);
$admin = login('admin', 'admin', $in{admin});
my %role = map { $_->{name} => $_->{id} } @{ made('GET', '/roles')->{roles} };
$role{service} //= made('POST', '/roles', { role => { name => 'service' } })->{role}{id};
my %project = map { $_ => made('POST', '/projects', { project => { name => $_, domain_id => 'default' } })->{project}{id} } qw(red service);
my %user = map { $_ => made('POST', '/users', { user => { name => $_, domain_id => 'default', password => "$_-pw" } })->{user}{id} } qw(tenure ann rita);
made('PUT', "/projects/$project{$_->[0]}/users/$user{$_->[1]}/roles/$role{$_->[2]}") for [qw(service tenure service)], [qw(red ann admin)], [qw(red rita reader)];

my $instance = Tenure::Instance->start(auth => 'token', combined => 1, placement => 1, allow => [qr/Keystone: /, qr/answered 503 \(unavailable\)/], settings => {
    'endpoint combined.auth' => 'keystone,token', 'endpoint placement.auth' => 'keystone,token', 'keystone.auth_url' => $url,
    'keystone.username' => 'tenure', 'keystone.password' => 'tenure-pw', 'keystone.create_tenants' => 'yes', 'keystone.token_cache_time' => 2 });
my %at = (combined => $instance->env('TENURE_COMBINED_URL'), placement => $instance->env('TENURE_PLACEMENT_URL'));
sub ask { my ($token, $path, $at) = @_; return Tenure::Client->new(url => $at{ $at // 'combined' })->get($path, headers => { 'X-Auth-Token' => $token })->status }
sub put { my ($token, $path) = @_; return Tenure::Client->new(url => $at{combined})->put($path, json => {}, headers => { 'X-Auth-Token' => $token })->status }

my %token = map { $_ => login($_, "$_-pw", $in{red}) } qw(ann rita);
my $path = "/v2.0/$project{red}/persistentvolumes";
is ask($token{ann}, $path), 200, 'an admin of the project reads its tenant';
is put($token{ann}, "$path/v1"), 201, '... and writes';
is put($token{rita}, "$path/v2"), 403, 'a reader does not write';
is ask($token{ann}, '/v2.0'), 403, 'he is no operator there';
is ask($token{ann}, '/resource_providers', 'placement'), 200, 'in placement he is';
is ask($token{rita}, '/resource_providers', 'placement'), 403, 'a reader is not';
is ask(login('admin', 'admin', { system => { all => JSON::PP::true } }), '/v2.0'), 200, 'the admin of the system is an operator';
is ask('gAAAAABnotatoken', $path), 401, 'a token that it did not make';

my $credential = $json->decode(call('POST', "/users/$user{ann}/application_credentials", { application_credential => { name => 'c',
    access_rules => [{ path => "$path/v1", method => 'GET', service => 'tenancy' }] } }, 'X-Auth-Token' => $token{ann})->{content})->{application_credential};
my $ruled = call('POST', '/auth/tokens', { auth => { identity => { methods => ['application_credential'],
    application_credential => { id => $credential->{id}, secret => $credential->{secret} } } } })->{headers}{'x-subject-token'};
is ask($ruled, "$path/v1"), 200, 'an application credential for what its rule names';
is ask($ruled, $path), 401, '... and for nothing else';

is call('DELETE', '/auth/tokens', undef, 'X-Subject-Token' => $token{rita})->{status}, 204, 'revoked';
ok Tenure::Instance::wait_until(sub { ask($token{rita}, $path) == 401 }), 'a revoked token is refused when the cache time is over';
is call('DELETE', "/projects/$project{red}/users/$user{ann}/roles/$role{admin}")->{status}, 204, 'the only role taken away';
ok Tenure::Instance::wait_until(sub { ask($token{ann}, $path) == 401 }), '... so the token is refused then';

stop();
is ask($token{ann} . 'x', $path), 503, 'while it is away, a token that is not cached';
serve();
ok Tenure::Instance::wait_until(sub { ask($token{ann} . 'x', $path) == 401 }), 'and when it is back';
done_testing();
