# SPDX-License-Identifier: Apache-2.0
# Starts a Galera cluster of some MariaDB nodes for one test file, on loopback, in a folder of its own, and breaks it in the ways in
# which clusters break.
#
#   my $cluster  = Tenure::Galera->start;
#   my $instance = Tenure::Instance->start(settings => { $cluster->settings }, …);
#   $cluster->kill_node(1); … $cluster->start_node(1);
#
# Nodes are servers as Tenure::Servers has them, named n1, n2, …. All begin with copies of the same data. A node that joins gets what it missed from
# another node's cache (IST); a transfer of the whole data, which nothing here needs, fails.
package Tenure::Galera;

use strict;
use warnings;

use File::Path ();
use POSIX ();
use Test::More ();

use parent 'Tenure::Servers';

use Tenure::Instance;
use Tenure::Run qw(run read_file write_file);

# Timeouts of the group: a member that says nothing is suspected after three seconds. With one second, nodes on a machine that is starved
# lose each other as well when one is stopped: then no two of them are a primary component again until all three are together. Messages about
# who has left are repeated after 0.2 s: with Galera's second, an orderly stop takes two seconds now and then.
# TENURE_GALERA_TIMEOUTS has others, for machines that are not.
my $timeouts = $ENV{TENURE_GALERA_TIMEOUTS} // 'evs.suspect_timeout=PT3S;evs.inactive_timeout=PT6S;evs.inactive_check_period=PT0.25S;evs.keepalive_period=PT0.3S;evs.join_retrans_period=PT0.2S';
my $password = Tenure::Servers::PASSWORD;

# What mariadbd runs on both sides of a state transfer. The joiner says where it waits, a file; the donor writes the position there
# from which the joiner goes on by IST.
my $transfer = <<'SH';
#!/bin/sh
while [ $# -gt 0 ]; do
	case $1 in
	--role | --address | --gtid) eval "${1#--}=\$2"; shift ;;
	--bypass) bypass=yes ;;
	esac
	shift
done
if [ "$role" = joiner ]; then
	rm -f "$PWD/position"
	echo "ready 127.0.0.1:1$PWD/position"
	while [ ! -s "$PWD/position" ]; do sleep 0.02; kill -0 $PPID 2>/dev/null || exit 1; done
	cat "$PWD/position"
	exit 0
fi
[ "${bypass:-no}" = yes ] || exit 22
while [ -e "${0%/*}/../hold" ]; do sleep 0.02; kill -0 $PPID 2>/dev/null || exit 1; done
file=/${address#*/}
echo "$gtid" >"$file.new"
mv "$file.new" "$file"
echo "done $gtid"
SH

sub provider {
    for my $file (glob '/usr/lib/galera*/libgalera_smm.so /usr/lib64/galera*/libgalera_smm.so /usr/lib/libgalera_smm.so') {
        return $file if -e $file;
    }
    return undef;
}

# Skips the test file if a program that it needs is missing.
sub need {
    my $missing = !Tenure::Instance::on_path('mariadbd') ? 'mariadbd is not installed'
        : !defined provider()                          ? 'Galera is not installed (Debian package galera-4)'
        :                                                undef;
    Test::More::plan(skip_all => $missing) if defined $missing;
    return;
}

# Options: nodes (3), provider (more options of Galera), options (lines for [mariadbd]).
sub start {
    my ($class, %option) = @_;
    my $self = $class->prepare(%option);
    $self->launch(1, '--wsrep-new-cluster');
    $self->launch($_) for 2 .. $self->{n};
    $self->wait_synced($_) for 2 .. $self->{n};
    return $self;
}

# Starts a node for the first time. With --wsrep-new-cluster: as the first of them, and waits for it.
sub launch {
    my ($self, $node, @options) = @_;
    $self->run_server($node, @options);
    $self->wait_synced($node) if @options;
    return;
}

# The folders alone, no node is started. include: sub (node) that returns a file for its configuration, in place of what would be said of addresses and
# of Galera.
sub prepare {
    my ($class, %option) = @_;
    need();
    my $self = $class->create(letter => 'n', n => $option{nodes} // 3, ports => 3, option => \%option);
    my $dir = $self->{dir};
    @$_{qw(port group ist)} = @{ $_->{ports} } for @{ $self->{servers} }[1 .. $self->{n}];
    mkdir "$dir/bin";
    write_file("$dir/bin/wsrep_sst_copy", $transfer);
    chmod 0755, "$dir/bin/wsrep_sst_copy";
    $self->_write_config($_) for 1 .. $self->{n};
    $self->_copy_data;
    return $self;
}

# Data that has been a cluster's: a node without a position in a cluster's history could not get what it missed by IST. They are made once
# and kept beside the template of Tenure::Instance.
sub _data {
    my ($self) = @_;
    my $kept = Tenure::Instance::_template() . '-galera';
    return $kept if -d $kept;
    my $first = "$self->{dir}/first";
    $self->install(1);
    {
        # The file that the test includes need not be there yet.
        local $self->{option}{include};
        $self->_write_config(1);
        $self->run_server(1, '--wsrep-new-cluster');
    }
    $self->wait_synced(1);
    $self->_write_config(1);
    my ($user, $operator) = (q(tenure@'%'), q(operator@'%'));
    $self->sql(1, "CREATE USER $user IDENTIFIED BY '$password', $operator IDENTIFIED BY '$password'; "
        . "GRANT SELECT, INSERT, UPDATE, DELETE ON tenure.* TO $user; GRANT ALL ON *.* TO $operator WITH GRANT OPTION");
    $self->stop_node(1);
    $self->wait_stopped(1);
    unlink "$self->{dir}/n1/data/galera.cache";
    rename "$self->{dir}/n1/data", $first or die "$first: $!\n";
    # Another test may have been faster.
    return $kept if system('cp', '-a', $first, "$kept.$$") == 0 && rename "$kept.$$", $kept;
    File::Path::remove_tree("$kept.$$");
    return $first;
}

# The same data for all, and the same position in the cluster's history.
sub _copy_data {
    my ($self) = @_;
    my $data = $self->_data;
    for my $node (1 .. $self->{n}) {
        my $folder = $self->folder($node);
        system('cp', '-a', $data, "$folder/data") == 0 or die "cp failed\n";
        my $state = read_file("$folder/data/grastate.dat");
        $state =~ s/(safe_to_bootstrap: )\d/$1 . ($node == 1 ? 1 : 0)/e;
        write_file("$folder/data/grastate.dat", $state);
    }
    return;
}

# With the plugin wsrep_provider of MariaDB 11.8, gmcast.isolate and other options can't be set.
sub _write_config {
    my ($self, $node) = @_;
    my ($folder, $at) = ($self->folder($node), $self->{servers}[$node]);
    my $group = join ',', map { "127.0.0.1:$_->{group}" } @{ $self->{servers} }[1 .. $self->{n}];
    my $provider = "gmcast.listen_addr=tcp://127.0.0.1:$at->{group};ist.recv_addr=127.0.0.1:$at->{ist};gcache.size=64M;$timeouts"
        . (defined $self->{option}{provider} ? ";$self->{option}{provider}" : '');
    my $addresses = <<"CNF";
bind-address=127.0.0.1
port=$at->{port}
binlog_format=ROW
innodb_autoinc_lock_mode=2
innodb_flush_log_at_trx_commit=1
wsrep_on=ON
wsrep_provider=${\provider()}
wsrep_cluster_name=test$self->{servers}[1]{group}
wsrep_cluster_address=gcomm://$group
wsrep_node_name=n$node
wsrep_node_address=127.0.0.1:$at->{group}
wsrep_provider_options=$provider
CNF
    my $include = $self->{option}{include};
    write_file("$folder/my.cnf", ($include ? '!include ' . $include->($node) . "\n" : '') . "[mariadbd]\n" . ($include ? '' : $addresses) . <<"CNF");
${\$self->common_settings($node)}skip-log-bin
wsrep_sst_method=copy
wsrep_slave_threads=2
loose_plugin_wsrep_provider=OFF
${\($self->{option}{options} // '')}
CNF
    return;
}

# ---- how a node is

# "Primary Synced ON 3", or ''.
sub state {
    my ($self, $node) = @_;
    my $rows = $self->ask($node, "SHOW STATUS WHERE Variable_name IN
        ('wsrep_cluster_status', 'wsrep_local_state_comment', 'wsrep_ready', 'wsrep_cluster_size')") or return '';
    my %is = map { @$_ } @$rows;
    return join ' ', map { $is{$_} // '' } qw(wsrep_cluster_status wsrep_local_state_comment wsrep_ready wsrep_cluster_size);
}

# {wait}: the seconds that wait_synced() and wait_together() wait at most (90): a node that gets much of what it missed needs longer.
sub wait_synced {
    my ($self, $node, $size) = @_;
    my $pid = $self->pid($node);
    my $there = Tenure::Instance::wait_until(sub {
        die "node n$node ended:\n" . $self->_tail($node) if waitpid($pid, POSIX::WNOHANG()) == $pid;
        return $self->state($node) =~ /^Primary Synced ON (\d+)/ && $1 >= ($size // 1);
    }, $self->{wait} // 90);
    die "node n$node is not synced: " . $self->state($node) . "\n" . $self->_tail($node) if !$there;
    return;
}

# Waits until all nodes are synced in the same component: one that was frozen takes itself for a member of the old one at first.
sub wait_together {
    my ($self) = @_;
    Tenure::Instance::wait_until(sub {
        my %ids;
        for my $node (1 .. $self->{n}) {
            return 0 if $self->state($node) !~ /^Primary Synced ON $self->{n}$/;
            my $rows = $self->ask($node, "SHOW STATUS LIKE 'wsrep_cluster_conf_id'") // return 0;
            $ids{ $rows->[0][1] } = 1;
        }
        return keys %ids == 1;
    }, $self->{wait} // 90) or die 'the nodes are not together: ' . join(', ', map { $self->state($_) } 1 .. $self->{n}) . "\n";
    return;
}

sub _tail {
    my ($self, $node) = @_;
    my @lines = split /\n/, read_file($self->folder($node) . '/error.log');
    return join '', map { "$_\n" } grep { defined } @lines[-15 .. -1];
}

# ---- what breaks

sub kill_node { my ($self, $node) = @_; return $self->kill_server($node) }

# An orderly stop.
sub stop_node {
    my ($self, $node) = @_;
    my $pid = $self->pid($node) // return;
    kill 'TERM', $pid;
    return;
}

sub wait_stopped {
    my ($self, $node) = @_;
    my $pid = delete $self->{servers}[$node]{pid} // return;
    my $gone = Tenure::Instance::wait_until(sub { return waitpid($pid, POSIX::WNOHANG()) == $pid }, 60);
    return if $gone;
    kill 'KILL', $pid;
    waitpid $pid, 0;
    return;
}

# Cuts a node off from its group; its clients still reach it.
sub isolate   { $_[0]->ask($_[1], "SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'"); return }
sub unisolate { $_[0]->ask($_[1], "SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'"); return }

# From here on a donor remains one, and a joiner waits for it, until release_donors().
sub hold_donors    { write_file("$_[0]{dir}/hold", ''); return }
sub release_donors { unlink "$_[0]{dir}/hold"; return }

# Starts a node again that has ended, from the position that its tables have; waits until it serves, unless told not to (no_wait). donor: the
# node that it is to get from what it missed.
sub start_node {
    my ($self, $node, %option) = @_;
    my $folder = $self->folder($node);
    unlink "$folder/recover.log";
    run('mariadbd', "--defaults-file=$folder/my.cnf", '--wsrep-recover', "--log-error=$folder/recover.log", "--pid-file=$folder/recover.pid",
        "--socket=$folder/recover.sock");
    my ($position) = read_file("$folder/recover.log") =~ /.*Recovered position: *(\S+)/s;
    $self->run_server($node, defined $position ? "--wsrep-start-position=$position" : (), defined $option{donor} ? "--wsrep-sst-donor=n$option{donor}" : ());
    $self->wait_synced($node, $option{size}) if !$option{no_wait};
    return;
}

1;
