# SPDX-License-Identifier: Apache-2.0
# What a Galera cluster (Tenure::Galera) and a primary with replicas (Tenure::Replicas) have in common: several MariaDB servers for one
# test file, on loopback, each in a folder of its own below one that is removed at the end. Servers are numbered from 1.
#
# A class that inherits from this one makes its object by create(), writes my.cnf into folder($i) of each server, and starts it by
# run_server().
package Tenure::Servers;

use strict;
use warnings;

use File::Path ();
use File::Temp ();
use List::Util qw(max);
use POSIX ();
use Test::More ();

use Tenure::Instance;
use Tenure::Ports qw(lasting_ports);
use Tenure::Run qw(run);

# Of every user of the servers but root, who needs none.
use constant PASSWORD => 'secret';

my @running;
my $owner = $$;

# An object with n servers, each with a folder and a port, none of which runs. letter: "n" for servers named n1, n2, …. option: kept as
# {option}. ports (1): how many ports each server gets; {servers}[$i]{ports} has them all, {port} the first, which clients use.
sub create {
    my ($class, %arg) = @_;
    $SIG{$_} ||= sub { exit 130 } for qw(INT TERM HUP PIPE);
    my $dir  = File::Temp->newdir('tenure-servers-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $self = bless { dir => "$dir", holder => $dir, n => $arg{n}, letter => $arg{letter}, option => $arg{option} }, $class;
    push @running, $self;
    my $each  = $arg{ports} // 1;
    my @ports = lasting_ports($each * $self->{n});
    for my $i (1 .. $self->{n}) {
        my @own = splice @ports, 0, $each;
        $self->{servers}[$i] = { port => $own[0], ports => \@own };
        File::Path::make_path($self->folder($i) . '/tmp');
    }
    return $self;
}

# Makes an empty database in that server's folder, with root as its only user.
sub install {
    my ($self, $i) = @_;
    my ($code, $text) = run('mariadb-install-db', '--no-defaults', $> == 0 ? '--user=root' : (), '--datadir=' . $self->folder($i) . '/data',
        '--skip-test-db', '--auth-root-authentication-method=normal', '--innodb-log-file-size=32M', '--skip-log-bin');
    die $text if $code != 0;
    return;
}

# The lines of my.cnf that every server has, after "[mariadbd]".
sub common_settings {
    my ($self, $i) = @_;
    my $folder = $self->folder($i);
    my $root   = $> == 0 ? "user=root\n" : '';
    return <<"CNF";
${root}datadir=$folder/data
tmpdir=$folder/tmp
socket=$folder/sock
pid-file=$folder/pid
log-error=$folder/error.log
server_id=$i
skip-name-resolve
innodb_buffer_pool_size=64M
innodb_log_file_size=32M
key_buffer_size=1M
aria_pagecache_buffer_size=1M
CNF
}

# Starts the server and returns at once. Programs in the folder bin beside the servers' folders are found before all others.
sub run_server {
    my ($self, $i, @options) = @_;
    my $folder = $self->folder($i);
    unlink "$folder/sock", "$folder/pid";
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        POSIX::setsid();
        chdir $folder;
        $ENV{PATH} = "$self->{dir}/bin:$ENV{PATH}";
        open STDIN, '<', '/dev/null';
        open STDOUT, '>>', "$folder/out";
        open STDERR, '>&', \*STDOUT;
        exec 'mariadbd', "--defaults-file=$folder/my.cnf", @options or POSIX::_exit(127);
    }
    $self->{servers}[$i]{pid} = $pid;
    return;
}

# ---- how a server is

sub n      { return $_[0]{n} }
sub dir    { return $_[0]{dir} }
sub name   { return "$_[0]{letter}$_[1]" }
sub folder { return "$_[0]{dir}/" . $_[0]->name($_[1]) }
sub socket { return $_[0]->folder($_[1]) . '/sock' }
sub pid    { return $_[0]{servers}[ $_[1] ]{pid} }
sub port   { return $_[0]{servers}[ $_[1] ]{port} }
sub host   { return '127.0.0.1:' . $_[0]->port($_[1]) }

# For Tenure::Instance->start: the settings that lead to these servers (all of them), as the application and as the operator.
sub settings {
    my ($self, @servers) = @_;
    @servers = 1 .. $self->{n} if !@servers;
    return (
        'database.host' => join(',', map { $self->host($_) } @servers),
        'database.user' => 'tenure', 'database.password' => PASSWORD,
        'database.admin_user' => 'operator', 'database.admin_password' => PASSWORD,
    );
}

# Runs the program mariadb as root on that server: as run(). seconds: that it may take, and those to connect.
sub _run_client {
    my ($self, $i, $seconds, $connect, @more) = @_;
    return run('timeout', $seconds, 'mariadb', '--no-defaults', '--skip-ssl', "--connect-timeout=$connect", '-u', 'root', '-S', $self->socket($i), @more);
}

# The same, for a server that may hang. {patience}: the seconds that it may take.
sub client { my ($self, $i, @more) = @_; return $self->_run_client($i, $self->{patience} // 10, 2, @more) }

sub _rows { my ($text) = @_; return [ map { [ split /\t/, $_, -1 ] } split /\n/, $text ] }

# Rows of a query on that server, each an array; undef if the server can't be asked. As root.
sub ask {
    my ($self, $i, $statement, $database) = @_;
    my ($code, $text) = $self->client($i, '-N', '-B', '-e', $statement, $database // ());
    return $code == 0 ? _rows($text) : undef;
}

# The same of a server that has to answer, however busy the machine is; dies otherwise.
sub sql {
    my ($self, $i, $statement, $database) = @_;
    my ($code, $text) = $self->_run_client($i, max(60, $self->{patience} // 0), 10, '-N', '-B', '-e', $statement, $database // ());
    return _rows($text) if $code == 0;
    die 'SQL failed on ' . $self->name($i) . ": $statement: $text\n";
}

sub value { my ($self, @args) = @_; my $rows = $self->ask(@args); return $rows && @$rows ? $rows->[0][0] : undef }

# Holds the locks of a statement on that server, in a session of its own; the function that it returns ends that.
sub hold {
    my ($self, $i, $statement, $database) = @_;
    my $pid = open my $session, '|-', 'sh', '-c', 'exec "$@" >/dev/null', 'sh', 'mariadb', '--no-defaults', '--skip-ssl', '-u', 'root', '-S',
        $self->socket($i), '-N', '-B', $database // () or die "mariadb: $!\n";
    $session->autoflush(1);
    my $name = "test-$pid";
    print {$session} "BEGIN; $statement; DO GET_LOCK('$name', 0);\n";
    Tenure::Instance::wait_until(sub { ($self->value($i, "SELECT IS_USED_LOCK('$name')") // 'NULL') ne 'NULL' }) or die "no locks by: $statement\n";
    return sub { local $SIG{PIPE} = 'IGNORE'; close $session; return };
}

# ---- what breaks

# SIGKILL ends a frozen server, too.
sub kill_server {
    my ($self, $i) = @_;
    my $pid = delete $self->{servers}[$i]{pid} // return;
    kill 'KILL', $pid;
    waitpid $pid, 0;
    return;
}

sub freeze { kill 'STOP', $_[0]->pid($_[1]); return }
sub thaw   { kill 'CONT', $_[0]->pid($_[1]); return }

sub stop {
    my ($self) = @_;
    return if $self->{stopped}++;
    $self->kill_server($_) for reverse 1 .. $self->{n};
    return;
}

END {
    if ($$ == $owner) {
        my $status = $?;
        for my $servers (@running) {
            $servers->stop;
            $servers->{holder}->unlink_on_destroy(0), Test::More::diag("kept: $servers->{dir}") if $ENV{TENURE_KEEP};
        }
        $? = $status;
    }
}

1;
