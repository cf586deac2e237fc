# SPDX-License-Identifier: Apache-2.0
# Starts some MariaDB servers for one test file, on loopback, in a folder of its own: the first is the primary of the others, which are
# semi-synchronous replicas by GTID. Each server starts read-only and waits for no replica, as doc/operations.md says.
#
#   my $replicas = Tenure::Replicas->start;
#   my $instance = Tenure::Instance->start(settings => { $replicas->settings }, …);
#   $replicas->kill_server(1); … $replicas->start_server(1);
#
# Tenure::Servers has what else such servers can do. They are named s1, s2, ….
package Tenure::Replicas;

use strict;
use warnings;

use File::Path ();
use Test::More ();

use parent 'Tenure::Servers';

use Tenure::Instance;
use Tenure::Run qw(read_file write_file);

my $password = Tenure::Servers::PASSWORD;

# Options: servers (2), options (lines for [mariadbd]).
sub start {
    my ($class, %option) = @_;
    Test::More::plan(skip_all => 'mariadbd is not installed') if !Tenure::Instance::on_path('mariadbd');
    my $self = $class->create(letter => 's', n => $option{servers} // 2, option => \%option);
    $self->{patience} = 20;
    for my $i (1 .. $self->{n}) {
        $self->_write_config($i);
        $self->_copy_data($i);
        $self->run_server($i);
    }
    $self->wait_up($_) for 1 .. $self->{n};
    $self->_make_users($_) for 1 .. $self->{n};
    $self->_follow($_, 1) for 2 .. $self->{n};
    $self->sql(1, 'SET GLOBAL rpl_semi_sync_master_enabled = ON, read_only = OFF');
    return $self;
}

sub _write_config {
    my ($self, $i) = @_;
    write_file($self->folder($i) . '/my.cnf', <<"CNF");
[mariadbd]
${\$self->common_settings($i)}bind-address=127.0.0.1
port=${\$self->port($i)}
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
${\($self->{option}{options} // '')}
CNF
    return;
}

# The template of Tenure::Instance, if one is there, saves seconds.
sub _copy_data {
    my ($self, $i) = @_;
    my $template = Tenure::Instance::_template() . '/data';
    return $self->install($i) if !-d $template;
    system('cp', '-a', $template, $self->folder($i) . '/data') == 0 or die "cp failed\n";
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

# The copier as well, by whom the servers follow one another.
sub settings {
    my ($self, @servers) = @_;
    return ($self->SUPER::settings(@servers), 'database.replication_user' => 'copier', 'database.replication_password' => $password);
}

# What SHOW SLAVE STATUS says, by its columns' names.
sub replication {
    my ($self, $i) = @_;
    my (undef, $text) = $self->client($i, '-E', '-e', 'SHOW SLAVE STATUS');
    return { Slave_IO_Running => '', Slave_SQL_Running => '', $text =~ /^ *(\w+): (.*)$/mg };
}

sub wait_up {
    my ($self, $i) = @_;
    Tenure::Instance::wait_until(sub { defined $self->value($i, 'SELECT 1') }, 60)
        or die "server $i does not start:\n" . substr read_file($self->folder($i) . '/error.log'), -2000;
    return;
}

# ---- what breaks

# Starts a server again that has ended. options: more of the command line. no_wait: returns at once.
sub start_server {
    my ($self, $i, %option) = @_;
    $self->run_server($i, @{ $option{options} // [] });
    $self->wait_up($i) if !$option{no_wait};
    return;
}

# Replaces what that server has by all that the other one's log has, which is what it holds.
sub make_anew {
    my ($self, $i, $primary) = @_;
    $self->kill_server($i);
    File::Path::remove_tree($self->folder($i) . '/data');
    $self->_copy_data($i);
    $self->start_server($i);
    $self->_make_users($i);
    $self->_follow($i, $primary);
    $self->sql($i, 'SELECT MASTER_GTID_WAIT("' . $self->value($primary, 'SELECT @@gtid_binlog_pos') . '", 60)');
    return;
}

1;
