#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The contract of scripts/quickstart: what others' tools rely on.
use strict;
use warnings;

use Cwd ();
use File::Basename ();
use lib File::Basename::dirname(__FILE__) . '/lib';

use File::Temp ();
use HTTP::Tiny ();
use IO::Socket::INET ();
use IO::Socket::UNIX ();
use Test::More;

use Tenure::Run qw(run);

my $top = $ENV{TENURE_SRCDIR} // Cwd::abs_path(File::Basename::dirname(__FILE__) . '/..');
my $build = $ENV{TENURE_BUILD} // $ENV{TENURE_BUILDDIR} // $top;
plan skip_all => "$build/tenured is not built" unless -x "$build/tenured" && -x "$build/tenure-manage";
plan skip_all => 'mariadbd is not installed' unless grep { -x "$_/mariadbd" } '/usr/sbin', split /:/, $ENV{PATH};
$ENV{TENURE_BUILD} = $build;

my $base  = File::Temp->newdir('tenure-quick-XXXXXX', TMPDIR => 1);
my $owner = $$;
my %started;
END {
    if (defined $owner && $owner == $$ && $base) { # which is gone by now where nothing here names it
        system "$top/scripts/quickstart", '--dir', $_, '--stop' for keys %started;
    }
}
my $http = HTTP::Tiny->new(timeout => 20, max_redirect => 0);

# $n ports in a row, each + 100 free as well.
sub free_ports {
    my ($n) = @_;
    for (1 .. 200) {
        my $first = 20000 + int rand 9000;
        my @busy = grep {
            !IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $_, Listen => 1, ReuseAddr => 1)
        } map { ($first + $_, $first + $_ + 100) } 0 .. $n - 1;
        return map { $first + $_ } 0 .. $n - 1 unless @busy;
    }
    die 'no free ports';
}

# (exit code, what it wrote on both outputs)
sub quickstart { return run("$top/scripts/quickstart", @_) }

sub start {
    my ($dir, @args) = @_;
    $started{$dir} = 1;
    my ($code, $out) = quickstart('--dir', $dir, '--background', @args);
    is $code, 0, "started in $dir" or diag $out;
    return $out;
}

sub env_of {
    my ($dir) = @_;
    my %env;
    open my $file, '<', "$dir/env" or return ();
    while (<$file>) {
        next if /\Aexport(?: TENURE_\w+)+\n\z/;
        $env{$1} = $2 if /\A(TENURE_\w+)='(.*)'\n\z/ or die "no assignment: $_";
    }
    return %env;
}

sub pid_in {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!";
    return <$file> + 0;
}

# A zombie, which nobody has looked at yet, does not run.
sub runs {
    my ($pid) = @_;
    open my $file, '<', "/proc/$pid/stat" or return 0;
    return <$file> !~ /\) Z/;
}

sub status {
    my ($method, $url, $token, $body) = @_;
    my %option = (headers => { 'X-Auth-Token' => $token });
    @option{qw(content headers)} = ($body, { %{ $option{headers} }, 'Content-Type' => 'application/json' }) if defined $body;
    return $http->request($method, $url, \%option)->{status};
}

my ($one, $two) = ("$base/one", "$base/" . 'two-with-a-long-name-' x 5);

subtest 'with the demonstration' => sub {
    my ($port, $admin, $combined) = free_ports(3);
    # A proxy is nobody's way to the endpoints: this one would refuse, another one might answer for what is not there.
    my $out = do {
        local @ENV{qw(http_proxy all_proxy)} = ('http://127.0.0.1:1') x 2;
        start($one, '--port', $port, '--admin-port', $admin, '--combined-port', $combined, '--tls', '--workers', 2);
    };
    my %env = env_of($one);
    is $env{TENURE_SERVICE_URL},     "http://127.0.0.1:$port",                     'service';
    is $env{TENURE_ADMIN_URL},       "http://127.0.0.1:$admin",                    'admin';
    is $env{TENURE_COMBINED_URL},    "http://127.0.0.1:$combined",                 'combined';
    is $env{TENURE_ADMIN_TLS_URL},   'https://127.0.0.1:' . ($admin + 100),        'port + 100 over TLS';
    ok -r $env{TENURE_CA_FILE}, 'the authority is there';
    ok -S $env{TENURE_DB_SOCKET}, 'the database, too';
    ok -x "$env{TENURE_BIN}/tenured", 'programs';
    ok runs(pid_in($env{TENURE_PIDFILE})), 'the master runs';
    is +(stat "$one/env")[2] & 077, 0, "nobody else reads the operator's token";
    like $out, qr/HTTP\/1\.1 412.*HTTP\/1\.1 303.*HTTP\/1\.1 301/s, 'a move refused, done, and the old address';
    my $token = $env{TENURE_OPERATOR_TOKEN};
    is status(GET => "$env{TENURE_ADMIN_URL}/v2.0/globex/persistentvolumes/disk1", $token), 200, 'it moved';
    my $curl = system 'curl', '-sf', '-o', '/dev/null', '--cacert', $env{TENURE_CA_FILE}, '-H', "X-Auth-Token: $token",
        "$env{TENURE_COMBINED_TLS_URL}/v2.0/globex";
    is $curl, 0, 'TLS is trusted with that authority';
};

subtest 'the command tenure finds it' => sub {
    my ($code, $out) = run('env', '-i', "HOME=$base", "PATH=$ENV{PATH}", 'sh', '-ec', '. "$0/env"; exec "$TENURE_BIN/tenure" tenant list', $one);
    is $code, 0, 'with what env exports' or diag $out;
    like $out, qr/^globex +standard +active/m, '... as the operator';
};

# As they stand in README, with this folder's name; and after the demonstration, of which README tells.
subtest "README's three things to try" => sub {
    open my $readme, '<', "$top/README" or die "README: $!";
    my ($in, @commands) = (0);
    while (<$readme>) {
        $in = /^Three things/ if /^[A-Z]/;
        push @commands, $_ if $in && /^    /;
    }
    is $commands[0], "    . var/quickstart/env\n", 'they begin with the environment';
    $commands[0] =~ s{var/quickstart}{$one};
    my ($code, $out) = run('env', '-i', "HOME=$base", "PATH=$ENV{PATH}", 'bash', '-ec', join '', @commands);
    is $code, 0, 'all succeed' or diag $out;
    is join(' ', $out =~ m{^HTTP/1\.1 (\d+)}mg), '201 201 412', 'a tenant, a resource, and a change with an old etag';
    like $out, qr/"resources":\s*\[.*"namespaces\/default\/configmaps\/shop"/s, 'the preview lists what would move';
    unlike $out, qr/"reason"/, '... and nothing is in the way';
};

subtest 'a second one in the same folder' => sub {
    my ($port, $admin) = free_ports(2);
    my ($code, $out) = quickstart('--dir', $one, '--port', $port, '--admin-port', $admin, '--background');
    is $code, 75, 'is refused';
    like $out, qr/Tenure runs in \Q$one\E already: stop it with .*--stop/, '... with a way out';
    my %env = env_of($one);
    is status(GET => "$env{TENURE_ADMIN_URL}/v2.0/globex", $env{TENURE_OPERATOR_TOKEN}), 200, 'the first goes on';
    mkdir "$base/held";
    mkdir "$base/held/run";
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        exec 'flock', "$base/held/run/lock", 'sh', '-c', ': >"$0"; exec sleep 60', "$base/holds";
    }
    select undef, undef, undef, 0.05 until -e "$base/holds";
    ($code, $out) = quickstart('--dir', "$base/held", '--port', $port, '--admin-port', $admin, '--background');
    kill TERM => $pid;
    waitpid $pid, 0;
    is $code, 75, 'so is one beside another that has only begun';
    like $out, qr/another quickstart runs in/, '... which is said';
};

subtest 'a checkout whose path has a blank' => sub {
    mkdir "$base/a copy";
    mkdir "$base/a copy/scripts";
    system('cp', "$top/scripts/quickstart", "$base/a copy/scripts/") == 0 or die 'cp';
    system('cp', "$top/configure", "$base/a copy/") == 0 or die 'cp';
    my ($code, $out) = run("$base/a copy/scripts/quickstart", '--dir', "$base/blank", '--background');
    is $code, 78, 'is refused';
    like $out, qr/has a blank, which make can't handle/, '... with the reason';
    ok !-e "$base/blank", '... before anything is made';
    system('mkdir', '-p', "$base/a copy/src/base") == 0 or die 'mkdir';
    system('cp', "$top/src/base/base.h", "$base/a copy/src/base/") == 0 or die 'cp';
    system('cp', '-r', "$top/build-aux", "$base/a copy/") == 0 or die 'cp';
    mkdir "$base/build";
    ($code, $out) = run('sh', '-c', 'cd "$0" && exec "$1"', "$base/build", "$base/a copy/configure");
    isnt $code, 0, 'so does configure';
    like $out, qr/has a blank, which make can't handle/, '... with the same reason';
};

subtest 'another one beside it, with a long name' => sub {
    my ($port, $admin) = free_ports(2);
    my $out = start($two, '--port', $port, '--admin-port', $admin, '--no-demo', '--auth', 'noauth');
    like $out, qr/noauth.*development only/s, 'noauth is said to be for development';
    my %env = env_of($two);
    is $env{TENURE_COMBINED_URL}, '', 'no combined endpoint';
    is status(GET => "$env{TENURE_ADMIN_URL}/v2.0/acme", 'admin'), 404, 'an empty registry';
    is status(PUT => "$env{TENURE_ADMIN_URL}/v2.0/acme", 'admin', '{"tenant": {}}'), 201, 'it works';
    my %first = env_of($one);
    is status(GET => "$first{TENURE_ADMIN_URL}/v2.0/acme", $first{TENURE_OPERATOR_TOKEN}), 200, 'and the first still does';
    is system("$env{TENURE_BIN}/tenure-manage", '-c', $env{TENURE_CONFIG}, 'db', 'reset', '--yes'), 0, 'reset while it runs';
    is status(GET => "$env{TENURE_ADMIN_URL}/v2.0/acme", 'admin'), 404, 'empty again';
    is status(PUT => "$env{TENURE_ADMIN_URL}/v2.0/acme", 'admin', '{"tenant": {}}'), 201, 'and works on';
    is status(PUT => "$env{TENURE_SERVICE_URL}/v2.0/acme/persistentvolumes/v", 'ann:acme:member', '{"spec": {}}'), 201,
        'types too';
};

subtest 'stopped and started again' => sub {
    my %env = env_of($one);
    my $pid = pid_in($env{TENURE_PIDFILE});
    is((quickstart('--dir', $one, '--stop'))[0], 0, 'stopped');
    ok !runs($pid), 'the master is gone';
    ok !-e $env{TENURE_DB_SOCKET} || !IO::Socket::UNIX->new($env{TENURE_DB_SOCKET}), 'the database, too';
    is((quickstart('--dir', $one, '--stop'))[0], 0, 'stopping twice is no error');
    my ($port) = $env{TENURE_SERVICE_URL} =~ /(\d+)\z/;
    my ($admin) = $env{TENURE_ADMIN_URL} =~ /(\d+)\z/;
    start($one, '--port', $port, '--admin-port', $admin);
    is status(GET => "$env{TENURE_ADMIN_URL}/v2.0/globex/persistentvolumes/disk1", $env{TENURE_OPERATOR_TOKEN}), 200,
        'data and token are those from before';
};

subtest 'what it refuses' => sub {
    is((quickstart('--dir', "$base/x", '--server', 'iis'))[0], 64, 'an unknown server');
    is((quickstart('--dir', "$base/x", '--port', '70000'))[0], 64, 'a port that is none');
    is((quickstart('--dir', "$base/x", '--workers', '0'))[0], 64, 'no workers');
    is((quickstart('--nonsense'))[0], 64, 'an unknown option');
    is((quickstart('--dir', "$base/nothing", '--stop'))[0], 66, 'nothing to stop');
    my ($taken, $admin) = free_ports(2);
    my $listen = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $taken, Listen => 1) or die $!;
    my ($code, $out) = quickstart('--dir', "$base/y", '--port', $taken, '--admin-port', $admin, '--no-demo', '--background');
    isnt $code, 0, 'a port that is taken';
    like $out, qr/Address already in use/, 'and tells why';
};

done_testing();
