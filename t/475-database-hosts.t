#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The way to the database: TLS with and without verification, what a connection that is lost means with TLS, a list of hosts of which the
# first is away.
use strict;
use warnings;

use File::Basename ();
use lib File::Basename::dirname(__FILE__) . '/lib';

use File::Temp ();
use IO::Socket::UNIX;
use POSIX ();
use Test::More;

use Tenure::FastCGI;
use Tenure::Instance;
use Tenure::Run qw(run);

my ($top, $build) = (Tenure::Instance::source_dir(), Tenure::Instance::build_dir());
for my $program ('mariadbd', 'openssl') {
    plan skip_all => "$program is not installed" unless Tenure::Instance::on_path($program);
}
plan skip_all => 'the programs are not built' unless defined $build;

my $dir = File::Temp->newdir('tenure-hosts-XXXXXX', TMPDIR => 1);
my $owner = $$;

# Exit code; what it said is in $output.
my $output;

sub quiet {
    (my $code, $output) = run(@_);
    return $code;
}

# A certificate for 127.0.0.1 under an authority of its own, and an authority that has signed nothing.
for my $ca ('ca', 'stranger') {
    quiet('openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', "/CN=$ca",
        '-keyout', "$dir/$ca.key", '-out', "$dir/$ca.pem") == 0 or die $output;
}
open my $san, '>', "$dir/san" or die $!;
print {$san} "subjectAltName=IP:127.0.0.1\n";
close $san;
quiet('openssl', 'req', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=db', '-keyout', "$dir/db.key", '-out', "$dir/db.csr")
    == 0 or die $output;
quiet('openssl', 'x509', '-req', '-in', "$dir/db.csr", '-CA', "$dir/ca.pem", '-CAkey', "$dir/ca.key", '-CAcreateserial',
    '-days', '2', '-extfile', "$dir/san", '-out', "$dir/db.pem") == 0 or die $output;

# Starts a database server in that folder, and returns its port. Another process may take the port before the server opens it.
sub start_database {
    my ($folder, @options) = @_;
    for my $try (1 .. 3) {
        my ($port) = Tenure::Instance::free_ports(1);
        return $port if quiet("$top/scripts/private-mariadb", 'start', $folder, '--skip-networking=0', "--port=$port", @options) == 0;
    }
    die $output;
}

my $dead = 1; # a port where nobody listens
my $port = start_database("$dir/db", '--bind-address=127.0.0.1,127.0.0.2', "--ssl-ca=$dir/ca.pem", "--ssl-cert=$dir/db.pem", "--ssl-key=$dir/db.key");
END { system "$top/scripts/private-mariadb", 'stop', "$dir/db" if defined $owner && $owner == $$ && $dir }

quiet('mariadb', '--no-defaults', '-u', 'root', '-S', "$dir/db/mysql.sock", '-e',
    'CREATE DATABASE tenure; CREATE USER tls@"127.0.0.%" IDENTIFIED BY "secret" REQUIRE SSL; '
        . 'CREATE USER plain@127.0.0.1 IDENTIFIED BY "secret"; GRANT ALL ON tenure.* TO tls@"127.0.0.%", plain@127.0.0.1')
    == 0 or die $output;

# Exit code of a command that asks the database, with these settings.
sub status_with {
    my (%settings) = (host => "127.0.0.1:$port", user => 'tls', connect_timeout => 20, @_);
    open my $file, '>', "$dir/tenure.conf" or die $!;
    print {$file} "[database]\nname = tenure\npassword = secret\n", map { "$_ = $settings{$_}\n" } sort keys %settings;
    print {$file} "[tenure]\nsql_dir = $top/sql/schema\nwadl_dir = $build/build/wadl\n[endpoint service]\nauth = token\n";
    close $file or die $!;
    return quiet("$build/tenure-manage", '-c', "$dir/tenure.conf", 'db', 'status');
}

is status_with(user => 'plain', tls => 'off'), 2, 'without TLS: reached, but the schema is not there yet';
like $output, qr/db init/, '... and what to do is said';
quiet("$build/tenure-manage", '-c', "$dir/tenure.conf", 'db', 'init') == 0 or die $output;

is status_with(user => 'plain', tls => 'off'), 0, 'without TLS';
isnt status_with(tls => 'off'), 0, 'a user that requires TLS is not let in without';
is status_with(tls => 'on'), 0, 'TLS on, whoever the server is';
is status_with(tls => 'verify', tls_ca => "$dir/ca.pem"), 0, 'verified, by name and authority';
isnt status_with(tls => 'verify', tls_ca => "$dir/stranger.pem"), 0, 'signed by a stranger: refused';
unlike $output, qr/secret/, '... and no password in what is said';
is quiet("$build/tenure-manage", '-c', "$dir/tenure.conf", 'maintenance', 'status'), 78, '... and its exit status is that of a wrong configuration';
isnt status_with(tls => 'verify', tls_ca => "$dir/ca.pem", host => "127.0.0.2:$port"), 0,
    'an address that the certificate does not have: refused';
is status_with(tls => 'on', host => "127.0.0.2:$port"), 0, '... though it can be reached there';

subtest 'a connection that is lost is as without TLS' => sub {
    my $socket   = "$dir/one.sock";
    my $listener = IO::Socket::UNIX->new(Local => $socket, Listen => 16) or die "$socket: $!\n";
    mkdir "$dir/shared";
    open my $file, '>', "$dir/one.conf" or die $!;
    print {$file} "[database]\nname = tenure\nhost = 127.0.0.1:$port\nuser = tls\npassword = secret\ntls = verify\ntls_ca = $dir/ca.pem\n",
        "[tenure]\nsql_dir = $top/sql/schema\nwadl_dir = $build/build/wadl\nruntime_dir = $dir/shared\n[endpoint admin]\nauth = noauth\n";
    close $file or die $!;
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        $ENV{TENURE_FAULT} = 'after-commit:1';
        open STDIN,  '<&', $listener      or POSIX::_exit(127);
        open STDERR, '>>', "$dir/one.log" or POSIX::_exit(127);
        exec "$build/tenured", '-c', "$dir/one.conf", '-e', 'admin' or POSIX::_exit(127);
    }
    my $root = sub { return (run('mariadb', '--no-defaults', '-u', 'root', '-S', "$dir/db/mysql.sock", '-N', '-B', 'tenure', '-e', @_))[1] };
    my $ask  = sub {
        my ($method, $path) = @_;
        my $answer = Tenure::FastCGI->get($socket, method => $method, uri => "/v2.0/$path", params => [ HTTP_X_AUTH_TOKEN => 'admin' ]);
        return $answer ? $answer->{status} : 'no answer';
    };
    my $cut = sub {
        my @ids = split ' ', $root->(q(SELECT id FROM information_schema.processlist WHERE user = 'tls'));
        $root->("KILL $_") for @ids;
        return scalar @ids;
    };
    my @put = map { $ask->(PUT => "tenant$_") } 1 .. 3;
    is "@put", '201 201 201', 'a COMMIT whose answer is lost has happened, or is done again';
    my $log = Tenure::Run::read_file("$dir/one.log");
    like $log, qr/fault point after-commit/, '... and one was lost';
    like $log, qr/the transaction whose COMMIT was lost (?:happened|did not happen)/, '... and the change log was asked what became of it';
    is $root->(q(SELECT COUNT(DISTINCT tenant_id), COUNT(*) - COUNT(DISTINCT uid) FROM changes WHERE verb = 'created' AND tenant_id IN )
            . q((SELECT id FROM tenants WHERE name LIKE 'tenant_'))), "3\t0\n", '... and nothing was done twice';
    cmp_ok $cut->(), '>', 0, 'its connection is cut';
    is $ask->(GET => 'tenant1'), 200, '... and what reads is done again on another one';
    cmp_ok $cut->(), '>', 0, 'and cut again';
    is $ask->(PUT => 'tenant4'), 201, '... and so is what writes';
    kill 'TERM', $pid;
    waitpid $pid, 0;
};

is status_with(tls => 'on', host => "127.0.0.1:$dead,127.0.0.1:$port"), 0, 'the first host is away: the second serves';
is status_with(tls => 'on', host => "127.0.0.1:$port,127.0.0.1:$dead"), 0, 'in whatever order';
isnt status_with(tls => 'on', host => "127.0.0.1:$dead"), 0, 'none is there';
like $output, qr/\S/, '... which is said';
isnt status_with(tls => 'on', password => 'wrong'), 0, 'a wrong password is refused';

# A server that offers no TLS, and logs all that it is asked.
my $clear_port = start_database("$dir/clear", '--bind-address=127.0.0.1', '--skip-ssl', '--general-log', "--general-log-file=$dir/clear/general.log");
END { system "$top/scripts/private-mariadb", 'stop', "$dir/clear" if defined $owner && $owner == $$ && $dir }
quiet('mariadb', '--no-defaults', '--skip-ssl', '-u', 'root', '-S', "$dir/clear/mysql.sock", '-e',
    'CREATE DATABASE tenure; CREATE USER plain@127.0.0.1 IDENTIFIED BY "secret", plain@localhost IDENTIFIED BY "secret"; '
        . 'GRANT ALL ON tenure.* TO plain@127.0.0.1, plain@localhost') == 0 or die $output;
my %clear = (user => 'plain', host => "127.0.0.1:$clear_port");

# What a user was heard to ask the server since the last look.
my $heard = 0;
sub heard {
    my $log = Tenure::Run::read_file("$dir/clear/general.log");
    my $new = substr $log, $heard;
    $heard = length $log;
    return grep { /\t(?:\s*\d+\s+|\s+)?(?:Query|Prepare|Execute)\t/ } split /\n/, $new;
}
heard();
is status_with(%clear, tls => 'off'), 2, 'a server without TLS serves who asks for none';
isnt scalar(heard()), 0, '... and its log has the statements';
for my $tls ([ tls => 'on' ], [ tls => 'verify', tls_ca => "$dir/ca.pem" ]) {
    isnt status_with(%clear, @$tls), 0, "$tls->[1]: refused by a server without TLS";
    like $output, qr/offers no TLS|SSL is required/, '... as is said';
    is_deeply [heard()], [], '... before any statement is sent';
}
for my $tls (qw(off on verify)) {
    is status_with(host => '', socket => "$dir/clear/mysql.sock", user => 'plain', tls => $tls, tls_ca => "$dir/ca.pem"), 2,
        "$tls: the unix socket needs no TLS";
    like $output, qr/db init/, '... and is served';
}
is status_with(user => 'tls', tls => 'on', host => "127.0.0.1:$clear_port,127.0.0.1:$port"), 0,
    'with several hosts, one that offers TLS serves';
isnt status_with(tls => 'verify'), 0, 'verify without an authority: refused';
like $output, qr/tls: got "verify" and no tls_ca/, '... as a mistake in the configuration';

done_testing;
