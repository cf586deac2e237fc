# SPDX-License-Identifier: Apache-2.0
# OpenStack's Identity service, Debian's python3-keystone, on loopback with SQLite in a folder of its own; ends with the test file.
#
#   my $keystone = Tenure::RealKeystone->start("$dir/keystone");
#   $keystone->user('ann', red => 'admin');                # role admin on project red; password: the name
#   my $token = $keystone->login('ann', project => 'red');
#
# There are user admin (password admin) with role admin on project admin and on the system, and user tenure (password tenure) with the
# roles service and admin on project service.
package Tenure::RealKeystone;

use strict;
use warnings;

use HTTP::Tiny;
use JSON::PP ();
use POSIX ();
use Test::More ();

use Tenure::Instance;
use Tenure::Ports qw(lasting_ports);
use Tenure::Run qw(run write_file);

my $json = JSON::PP->new->utf8;
my $owner = $$;
my @running;

# What is missing on this machine, as a text for skip_all; undef: nothing.
sub missing {
    for my $program ('/usr/bin/keystone-wsgi-public', '/usr/bin/keystone-manage', '/usr/bin/uwsgi_python3') {
        return "$program is not installed (Debian: python3-keystone uwsgi-core uwsgi-plugin-python3)" if !-x $program;
    }
    return undef;
}

sub start {
    my ($class, $dir) = @_;
    my ($port) = lasting_ports(1); # it is opened a while later, and again after a stop
    my $self = bless { dir => $dir, port => $port, http => HTTP::Tiny->new(timeout => 60), id => {} }, $class;
    mkdir $_, 0700 or die "$_: $!\n" for $dir, "$dir/fernet", "$dir/credential";
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
    $self->_fill;
    push @running, $self;
    $self->serve;
    Tenure::Instance::wait_until(sub { $self->call('GET', '')->{status} == 200 }, 120) or die "Keystone does not come up\n";
    $self->{token} = $self->login('admin', project => 'admin');
    $self->user('tenure', service => $_) for qw(service admin);
    return $self;
}

sub _manage {
    my ($self, @arguments) = @_;
    my ($code, $text) = run('/usr/bin/keystone-manage', '--config-file', "$self->{dir}/keystone.conf", @arguments);
    die "keystone-manage $arguments[0]: $text\n" if $code != 0;
    return;
}

sub _fill {
    my ($self) = @_;
    my @me = ('--keystone-user', scalar getpwuid $<, '--keystone-group', scalar getgrgid $();
    $self->_manage('db_sync');
    # Otherwise a reader in one process makes a writer in another fail: "database is locked".
    system('/usr/bin/python3', '-c', "import sqlite3; sqlite3.connect('$self->{dir}/keystone.db').execute('PRAGMA journal_mode=WAL')") == 0
        or die "sqlite3\n";
    $self->_manage($_, @me) for qw(fernet_setup credential_setup);
    $self->_manage('bootstrap', '--bootstrap-password', 'admin', map { ("--bootstrap-$_-url", $self->url) } qw(public internal admin));
    return;
}

sub url { return "http://127.0.0.1:$_[0]{port}/v3" }

sub serve {
    my ($self) = @_;
    $self->{pid} = fork // die "fork: $!\n";
    return if $self->{pid};
    delete @ENV{ grep { /\AOS_/ } keys %ENV };
    @ENV{qw(OS_KEYSTONE_CONFIG_DIR OS_KEYSTONE_CONFIG_FILES)} = ($self->{dir}, "$self->{dir}/keystone.conf");
    open STDIN,  '<',  '/dev/null'              or POSIX::_exit(126);
    open STDOUT, '>>', "$self->{dir}/uwsgi.log" or POSIX::_exit(126);
    open STDERR, '>&', \*STDOUT                 or POSIX::_exit(126);
    exec('/usr/bin/uwsgi_python3', '--plugins', 'python3', '--master', '--processes', 1, '--lazy-apps', '--die-on-term', '--no-orphans',
        '--buffer-size', 65535, '--http-socket', "127.0.0.1:$self->{port}", '--add-header', 'Connection: close',
        '--wsgi-file', '/usr/bin/keystone-wsgi-public') or POSIX::_exit(127);
}

sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} or return;
    kill TERM => $pid;
    waitpid $pid, 0;
    return;
}

END {
    if ($owner == $$) {
        local $?;
        $_->stop for @running;
    }
}

# ---- requests to it, as its admin

# Sends a request; returns the answer of HTTP::Tiny.
sub call {
    my ($self, $method, $path, $body, %headers) = @_;
    return $self->{http}->request($method, $self->url . $path, { headers => { 'Content-Type' => 'application/json',
        ($self->{token} ? ('X-Auth-Token' => $self->{token}) : ()), %headers }, defined $body ? (content => $json->encode($body)) : () });
}

# The document of an answer; dies unless its status is 2xx.
sub made {
    my ($self, $method, $path, @more) = @_;
    my $answer = $self->call($method, $path, @more);
    die "$method $path: $answer->{status} $answer->{content}\n" if !$answer->{success};
    return length $answer->{content} ? $json->decode($answer->{content}) : undef;
}

# The id of a thing of that kind (project, user, role, service) and name; it is made if there is none.
sub id {
    my ($self, $kind, $name, %more) = @_;
    return $self->{id}{$kind}{$name} //= do {
        my $found = $self->made('GET', "/${kind}s?name=$name")->{"${kind}s"}[0];
        ($found // $self->made('POST', "/${kind}s", { $kind => { name => $name, %more } })->{$kind})->{id};
    };
}

# A user with that role on that project, all made if they are not there.
sub user {
    my ($self, $name, $project, $role) = @_;
    my $user = $self->id('user', $name, domain_id => 'default', password => $name);
    $self->made('PUT', '/projects/' . $self->id('project', $project, domain_id => 'default') . "/users/$user/roles/" . $self->id('role', $role));
    return $user;
}

# A service of that type in that region of the catalogue.
sub endpoint {
    my ($self, $type, $region, $url) = @_;
    $self->call('POST', '/regions', { region => { id => $region } });
    my $service = $self->id('service', $type, type => $type);
    $self->made('POST', '/endpoints', { endpoint => { interface => $_, region_id => $region, url => $url, service_id => $service } })
        for qw(public internal admin);
    return;
}

# A token; scope: project => NAME, or system => 1.
sub login {
    my ($self, $name, %scope) = @_;
    my $scope = $scope{system} ? { system => { all => JSON::PP::true } } : { project => { name => $scope{project}, domain => { id => 'default' } } };
    my $answer = $self->call('POST', '/auth/tokens', { auth => { identity => { methods => ['password'], password => { user => { name => $name,
        password => $name, domain => { id => 'default' } } } }, scope => $scope } });
    die "login of $name: $answer->{status} $answer->{content}\n" if $answer->{status} != 201;
    return $answer->{headers}{'x-subject-token'};
}

1;
