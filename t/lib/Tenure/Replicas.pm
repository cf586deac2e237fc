# SPDX-License-Identifier: Apache-2.0
# Starts some MariaDB servers for one test file, on loopback, in a folder of its own: the first is the primary of the others, which are
# semi-synchronous replicas by GTID. Each server starts read-only and waits for no replica, as doc/operations.md says.
#
#   my $replicas = Tenure::Replicas->start;
#   my $instance = Tenure::Instance->start(settings => { $replicas->settings }, …);
#   $replicas->kill_server(1); … $replicas->start_server(1);
#
# Servers are numbered from 1.
package Tenure::Replicas;

use strict;
use warnings;

use File::Path ();
use File::Temp ();
use POSIX ();
use Test::More ();

use Tenure::Instance;
use Tenure::Run qw(run read_file write_file);

my $password = 'secret';
my @running;
my $owner = $$;

# Options: servers (2), options (lines for [mariadbd]).
sub start {
    my ($class, %option) = @_;
    Test::More::plan(skip_all => 'mariadbd is not installed') if !Tenure::Instance::on_path('mariadbd');
    $SIG{$_} ||= sub { exit 130 } for qw(INT TERM HUP PIPE);
    my $dir = File::Temp->newdir('tenure-replicas-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $self = bless { dir => "$dir", holder => $dir, n => $option{servers} // 2, option => \%option }, $class;
    push @running, $self;
    my @ports = _ports($self->{n});
    for my $i (1 .. $self->{n}) {
        File::Path::make_path("$dir/s$i/tmp");
        $self->{servers}[$i]{port} = shift @ports;
        $self->_write_config($i);
        $self->_install($i);
        $self->start_server($i, no_wait => 1);
    }
    $self->wait_up($_) for 1 .. $self->{n};
    $self->_make_users($_) for 1 .. $self->{n};
    $self->_follow($_, 1) for 2 .. $self->{n};
    $self->sql(1, 'SET GLOBAL rpl_semi_sync_master_enabled = ON, read_only = OFF');
    return $self;
}

# A server must get its own port again when it returns.
sub _ports {
    my ($n) = @_;
    my ($low) = read_file('/proc/sys/net/ipv4/ip_local_port_range') =~ /(\d+)/;
    for (1 .. 50) {
        my $base = 10000 + int rand($low - 10100);
        my @sockets = map { IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $base + $_, Listen => 1, Proto => 'tcp') } 0 .. $n - 1;
        return map { $base + $_ } 0 .. $n - 1 if $n == grep { defined } @sockets;
    }
    die "no free ports\n";
}

sub _write_config {
    my ($self, $i) = @_;
    my $folder = "$self->{dir}/s$i";
    my $root   = $> == 0 ? "user=root\n" : '';
    write_file("$folder/my.cnf", <<"CNF");
[mariadbd]
${root}datadir=$folder/data
tmpdir=$folder/tmp
socket=$folder/sock
pid-file=$folder/pid
log-error=$folder/error.log
bind-address=127.0.0.1
port=$self->{servers}[$i]{port}
server_id=$i
skip-name-resolve
log_bin=binlog
log_slave_updates=ON
gtid_strict_mode=ON
sync_binlog=1
innodb_flush_log_at_trx_commit=1
read_only=ON
rpl_semi_sync_slave_enabled=ON
rpl_semi_sync_master_wait_point=AFTER_SYNC
rpl_semi_sync_master_timeout=9223372036854775807
slave_net_timeout=4
innodb_buffer_pool_size=64M
innodb_log_file_size=32M
key_buffer_size=1M
aria_pagecache_buffer_size=1M
${\($self->{option}{options} // '')}
CNF
    return;
}

sub _install {
    my ($self, $i) = @_;
    my $template = Tenure::Instance::_template() . '/data';
    my $data = "$self->{dir}/s$i/data";
    if (-d $template) {
        system('cp', '-a', $template, $data) == 0 or die "cp failed\n";
        return;
    }
    my ($code, $text) = run('mariadb-install-db', '--no-defaults', $> == 0 ? '--user=root' : (), "--datadir=$data", '--skip-test-db',
        '--auth-root-authentication-method=normal', '--innodb-log-file-size=32M', '--skip-log-bin');
    die $text if $code != 0;
    return;
}

sub _make_users {
    my ($self, $i) = @_;
    $self->sql($i, "SET sql_log_bin = 0; "
        . join '', map { "CREATE USER $_\@'%' IDENTIFIED BY '$password'; " } qw(tenure operator copier));
    $self->sql($i, q(SET sql_log_bin = 0; GRANT SELECT, INSERT, UPDATE, DELETE ON tenure.* TO tenure@'%'; )
        . q(GRANT ALL ON tenure.* TO operator@'%' WITH GRANT OPTION; GRANT REPLICATION SLAVE ON *.* TO copier@'%'; )
        . q(GRANT READ_ONLY ADMIN, REPLICATION SLAVE ADMIN, REPLICATION MASTER ADMIN, SLAVE MONITOR, RELOAD ON *.* TO operator@'%'));
    return;
}

sub _follow {
    my ($self, $i, $primary) = @_;
    $self->sql($i, "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = " . $self->port($primary)
        . ", MASTER_USER = 'copier', MASTER_PASSWORD = '$password', MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1; START SLAVE");
    Tenure::Instance::wait_until(sub { $self->replication($i)->{Slave_IO_Running} eq 'Yes' }, 60) or die "server $i is no replica\n";
    return;
}

# ---- how a server is

sub n     { return $_[0]{n} }
sub dir   { return $_[0]{dir} }
sub pid   { return $_[0]{servers}[ $_[1] ]{pid} }
sub port  { return $_[0]{servers}[ $_[1] ]{port} }
sub host  { return '127.0.0.1:' . $_[0]->port($_[1]) }

# For Tenure::Instance->start: the settings that lead to the servers, as the application and as the operator.
sub settings {
    my ($self) = @_;
    return (
        'database.host' => join(',', map { $self->host($_) } 1 .. $self->{n}),
        'database.user' => 'tenure', 'database.password' => $password,
        'database.admin_user' => 'operator', 'database.admin_password' => $password,
        'database.replication_user' => 'copier', 'database.replication_password' => $password,
    );
}

sub _client {
    my ($self, $i, @more) = @_;
    return run('timeout', '20', 'mariadb', '--no-defaults', '--skip-ssl', '--connect-timeout=2', '-u', 'root', '-S', "$self->{dir}/s$i/sock", @more);
}

# Rows of a query on that server, each an array; undef if it can't be asked. As root.
sub ask {
    my ($self, $i, $statement, $database) = @_;
    my ($code, $text) = $self->_client($i, '-N', '-B', '-e', $statement, $database // ());
    return undef if $code != 0;
    return [ map { [ split /\t/, $_, -1 ] } split /\n/, $text ];
}

sub sql {
    my ($self, $i, $statement, $database) = @_;
    return $self->ask($i, $statement, $database) // die "SQL failed on server $i: $statement\n";
}

sub value { my ($self, @args) = @_; my $rows = $self->ask(@args); return $rows && @$rows ? $rows->[0][0] : undef }

# What SHOW SLAVE STATUS says, by its columns' names.
sub replication {
    my ($self, $i) = @_;
    my (undef, $text) = $self->_client($i, '-E', '-e', 'SHOW SLAVE STATUS');
    return { Slave_IO_Running => '', Slave_SQL_Running => '', $text =~ /^ *(\w+): (.*)$/mg };
}

sub wait_up {
    my ($self, $i) = @_;
    Tenure::Instance::wait_until(sub { defined $self->value($i, 'SELECT 1') }, 60)
        or die "server $i does not start:\n" . substr read_file("$self->{dir}/s$i/error.log"), -2000;
    return;
}

# ---- what breaks

sub start_server {
    my ($self, $i, %option) = @_;
    my $folder = "$self->{dir}/s$i";
    unlink "$folder/sock", "$folder/pid";
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        POSIX::setsid();
        chdir $folder;
        open STDIN, '<', '/dev/null';
        open STDOUT, '>>', "$folder/out";
        open STDERR, '>&', \*STDOUT;
        exec 'mariadbd', "--defaults-file=$folder/my.cnf", @{ $option{options} // [] } or POSIX::_exit(127);
    }
    $self->{servers}[$i]{pid} = $pid;
    $self->wait_up($i) if !$option{no_wait};
    return;
}

sub kill_server {
    my ($self, $i) = @_;
    my $pid = delete $self->{servers}[$i]{pid} // return;
    kill 'KILL', $pid;
    kill 'CONT', $pid;
    waitpid $pid, 0;
    return;
}

# Replaces what that server has by all that the other one's log has, which is what it holds.
sub make_anew {
    my ($self, $i, $primary) = @_;
    $self->kill_server($i);
    File::Path::remove_tree("$self->{dir}/s$i/data");
    $self->_install($i);
    $self->start_server($i);
    $self->_make_users($i);
    $self->_follow($i, $primary);
    $self->sql($i, 'SELECT MASTER_GTID_WAIT("' . $self->value($primary, 'SELECT @@gtid_binlog_pos') . '", 60)');
    return;
}

sub freeze { kill 'STOP', $_[0]->pid($_[1]); return }
sub thaw   { kill 'CONT', $_[0]->pid($_[1]); return }

sub stop {
    my ($self) = @_;
    return if $self->{stopped}++;
    $self->kill_server($_) for 1 .. $self->{n};
    return;
}

END {
    if ($$ == $owner) {
        my $status = $?;
        for my $replicas (@running) {
            $replicas->stop;
            $replicas->{holder}->unlink_on_destroy(0), Test::More::diag("kept: $replicas->{dir}") if $ENV{TENURE_KEEP};
        }
        $? = $status;
    }
}

1;
