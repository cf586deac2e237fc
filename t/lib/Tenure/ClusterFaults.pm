# SPDX-License-Identifier: Apache-2.0
# A service on a cluster (Tenure::Galera), clients that write down what they were told (Tenure::History::Clients), and what befalls the
# writer: switch, kill, freeze, isolate, stop. For each of them, two times are measured: how long no client at all was told that a write was
# done (the outage), and how long one client, the probe, was not, which also waits behind all the others. Which transactions were ordered
# behind a switch is read from a node's binary log, which has the order of the cluster and the node that each transaction came from.
package Tenure::ClusterFaults;

use strict;
use warnings;

use POSIX ();
use Time::HiRes ();

use Tenure::Galera;
use Tenure::History::Clients;
use Tenure::Instance;
use Tenure::Run qw(read_file write_file);

my $running;
my $owner = $$;

# Clients must not outlive a test that dies.
END {
    if ($$ == $owner && $running) {
        my $status = $?;
        kill 'KILL', grep { defined } $running->{probe_pid}, @{ $running->{load}{pids} // [] } if !$running->{ended};
        $running->stop_hosts;
        $? = $status;
    }
}

# Options: clients; pause (of Tenure::History::Clients); large (resources that are moved at once: a node that was killed meanwhile gets what it missed from another one's cache, which
# has to hold it, about 3 KiB for each. These nodes have no binary log, into which a large transaction is copied at its end while all others wait for
# it, so _history() knows nothing; and they let a node that commits such a transaction lag behind); read_from (the number of a node that reads); hosts (2: that many host services, as on so many hosts, which race to appoint a writer); unfenced (true: the control
# run, in which transactions do not begin with the fence).
sub start {
    my ($class, %option) = @_;
    my $hosts = delete $option{hosts} // 2;
    my $cache = 64 + int(($option{large} // 0) * 3 / 1024);
    my $options = $option{large} ? "innodb_buffer_pool_size=1G\ninnodb_log_file_size=1G" : "log_bin=binlog\nlog_slave_updates=ON";
    my $cluster = Tenure::Galera->start(options => $options, provider => "gcache.size=${cache}M" . ($option{large} ? ';gcs.fc_limit=10000' : ''));
    my $instance = Tenure::Instance->start(workers => 4, settings => { $cluster->settings, 'database.connect_timeout' => 5,
            $option{read_from} ? ('database.read_from' => '127.0.0.1:' . $cluster->port($option{read_from})) : () },
        faults => { $option{unfenced} ? (TENURE_FAULT => 'no-fence:1') : () },
        allow => [qr/connection lost/, qr/does not answer/, qr/given up/, qr/the writer/, qr/does not serve reads/]);
    $running = bless { cluster => $cluster, instance => $instance, periods => {}, hosts => [], %option, logs => [$instance->dir . '/log/host.log'] }, $class;
    $running->_add_host($_) for 2 .. $hosts;
    return $running;
}

# A host service that has a folder of its own at run time takes itself for one on another host.
sub _add_host {
    my ($self, $number) = @_;
    my $instance = $self->{instance};
    my $folder   = $instance->dir . "/host$number";
    mkdir $folder;
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        my %environment = ($instance->_environment, TENURE_TENURE_RUNTIME_DIR => $folder, TENURE_HOST_METRICS_SOCKET => "$folder/metrics.sock");
        @ENV{ keys %environment } = values %environment;
        open STDOUT, '>>', "$folder.log" or POSIX::_exit(1);
        open STDERR, '>&', \*STDOUT;
        exec Tenure::Instance::build_dir() . '/tenured-host', '-c', $instance->env('TENURE_CONFIG') or POSIX::_exit(127);
    }
    push @{ $self->{hosts} }, $pid;
    push @{ $self->{logs} }, "$folder.log";
    return;
}

# Ends the host services that are not the instance's own.
sub stop_hosts {
    my ($self) = @_;
    my @pids = splice @{ $self->{hosts} };
    kill 'TERM', @pids;
    waitpid $_, 0 for @pids;
    return;
}

# How often host services said that they had made a node the writer.
sub appointed { my ($self) = @_; return scalar map { read_file($_) =~ /n\d is the writer$/mg } @{ $self->{logs} } }

# ---- large moves

# Makes that many resources in that tenant, on the writer: of another type than the clients', who list all of theirs in one answer.
sub fill {
    my ($self, $tenant, $n) = @_;
    $self->{instance}->admin->make_tenant($tenant);
    my ($cluster, $writer) = ($self->{cluster}, $self->writer);
    my $id = $cluster->value($writer, "SELECT id FROM tenants WHERE name = '$tenant'", 'tenure');
    local $cluster->{patience} = 120;
    for (my $from = 1; $from <= $n; $from += 5_000) {
        my $to = $from + 4_999 < $n ? $from + 4_999 : $n;
        $cluster->sql($writer, <<"SQL", 'tenure');
INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, locked, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at, updated_at)
SELECT UNHEX(MD5(CONCAT('$tenant', seq))), $id, (SELECT id FROM types WHERE group_name = '' AND plural = 'configmaps'), 'default', CONCAT('h', seq), 1, 0, 4, 1, 1, CRC32(seq), CRC32(seq + 1), CRC32(seq + 2), CRC32(seq + 3),
  REPEAT(CHAR(seq % 128), 64), '{}', '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM seq_${from}_to_$to
SQL
    }
    $cluster->sql($writer, "UPDATE tenant_counts SET resources = $n WHERE tenant_id = $id", 'tenure');
    return;
}

# How many resources are in that tenant.
sub filled {
    my ($self, $tenant) = @_;
    return $self->{cluster}->value($self->_must_have_writer, "SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = '$tenant' AND r.live = 1", 'tenure');
}

# Of up to 1,000 of the n resources of fill(): how many are in that tenant, and of how many. To count all of them while a move has not been
# committed takes the server longer than the move itself, which has to wait for it.
sub _sampled {
    my ($self, $tenant, $n) = @_;
    my $step  = $n > 1_000 ? int($n / 1_000) : 1;
    my $value = $self->{cluster}->value($self->_must_have_writer, <<"SQL", 'tenure');
SELECT COUNT(*) FROM tenants t STRAIGHT_JOIN types y STRAIGHT_JOIN seq_1_to_${n}_step_$step s
STRAIGHT_JOIN resources r FORCE INDEX (address) ON r.tenant_id = t.id AND r.type_id = y.id AND r.namespace = 'default' AND r.name = CONCAT('h', s.seq)
WHERE t.name = '$tenant' AND y.group_name = '' AND y.plural = 'configmaps' AND r.live = 1
SQL
    return ($value // 0, 1 + int(($n - 1) / $step)); # while a node dies, nobody can be asked
}

# A process that moves all of one tenant to another one; moved() waits for its end, and tells the status of its answer.
sub start_move {
    my ($self, $from, $to) = @_;
    my $pid = fork // die "fork: $!\n";
    return $pid if $pid;
    $SIG{$_} = 'DEFAULT' for qw(TERM INT HUP PIPE);
    my $status = $self->{instance}->admin(timeout => 180)->post("/v2.0/$from/action/move?dest=$to")->status;
    POSIX::_exit($status == 303 ? 0 : $status == 202 ? 1 : $status - 400);
}

sub moved { my ($self, $pid) = @_; waitpid $pid, 0; return $? == 0 ? 303 : $? >> 8 == 1 ? 202 : 400 + ($? >> 8) }

# How many fragments of large transactions a node other than the writer holds.
sub fragments {
    my ($self) = @_;
    my $writer = $self->_must_have_writer;
    return $self->{cluster}->value(1 + $writer % $self->{cluster}->n, 'SELECT COUNT(*) FROM mysql.wsrep_streaming_log') // 0;
}

# Moves n resources from one tenant to another, as the service does it for whoever asks, and calls amid() once that is under way: the seconds until
# it was done, and the longest time in them without a write of others. What is seen is never half of it.
sub move_all {
    my ($self, $from, $to, $n, $amid) = @_;
    my $begun = Tenure::History::Clients::now();
    my $status = $self->moved($self->start_move($from, $to));
    die "the move was answered $status\n" if $status !~ /^(?:202|303)$/;
    if ($amid) {
        Tenure::Instance::wait_until(sub { $self->fragments > 10 }, 120) or die "no fragments\n";
        $amid->();
    }
    my $sampled = 0;
    Tenure::Instance::wait_until(sub {
        ($sampled, my $of) = $self->_sampled($to, $n);
        die "half of a move is seen: $sampled of $of\n" if $sampled != 0 && $sampled != $of;
        Time::HiRes::sleep(0.5);
        return $sampled != 0;
    }, 600) or die "the move was not done in ten minutes\n";
    my $seconds = Tenure::History::Clients::now() - $begun;
    # The other nodes commit it and remove its fragments after that, for which others may have to wait, too.
    Tenure::Instance::wait_until(sub { $self->fragments == 0 }, 120) or die "fragments are left\n";
    $self->_note_period('large', $begun) if !$amid;
    local $self->{cluster}{patience} = 120;
    my $is = $self->filled($to);
    die "$is of $n have been moved\n" if $is != $n;
    return $seconds;
}

# What the table of switches has: [epoch, node, reason], in the order of epochs.
sub switches { my ($self) = @_; return @{ $self->{cluster}->sql($self->writer, 'SELECT epoch, node, reason FROM writer_switches ORDER BY epoch', 'tenure') } }

sub cluster  { return $_[0]{cluster} }
sub instance { return $_[0]{instance} }

sub load {
    my ($self) = @_;
    $self->{load} = Tenure::History::Clients->new(instance => $self->{instance}, clients => $self->{clients}, pause => $self->{pause} // 0, timeout => 30);
    $self->{instance}->admin->make_tenant('probe');
    $self->{load}->start;
    # A client of its own, whose answers tell how long there was no service.
    $self->{probe_pid} = fork // die "fork: $!\n";
    return if $self->{probe_pid};
    my $admin = $self->{instance}->admin(timeout => 30);
    open my $out, '>', $self->_probe_file or POSIX::_exit(1);
    $out->autoflush(1);
    until (-e $self->_probe_file . '.stop') {
        my $begun  = Tenure::History::Clients::now();
        my $status = $admin->put('/v2.0/probe/persistentvolumes/p', json => { at => $begun })->status;
        printf {$out} "%.3f %.3f %d\n", $begun, Tenure::History::Clients::now(), $status;
        Time::HiRes::sleep(0.02);
    }
    POSIX::_exit(0);
}

sub _probe_file { return $_[0]{instance}->dir . '/probe' }

# The number of the writer by the newest row that a node in the primary component has (one that was frozen may not know yet that it was
# dropped); undef: none.
sub writer {
    my ($self) = @_;
    my ($newest, $is) = (-1);
    for my $node (1 .. $self->{cluster}->n) {
        next if !defined $self->{cluster}->pid($node) || $self->{frozen}{$node};
        next if $self->{cluster}->state($node) !~ /^Primary Synced ON/;
        my $rows = $self->{cluster}->ask($node, 'SELECT epoch, node FROM writer WHERE id = 1', 'tenure') // next;
        my ($epoch, $name) = @{ $rows->[0] // next };
        ($newest, $is) = ($epoch, $name =~ /^n(\d)$/ ? $1 : undef) if $epoch > $newest;
    }
    return $is;
}

sub _must_have_writer {
    my ($self, $not) = @_;
    my $is;
    Tenure::Instance::wait_until(sub { $is = $self->writer; return defined $is && (!defined $not || $is != $not) }, 60)
        or die "there is no writer" . (defined $not ? " but n$not" : '') . '; nodes: '
        . join(', ', map { "n$_ " . ($self->{frozen}{$_} ? 'frozen' : $self->{cluster}->state($_)) } 1 .. $self->{cluster}->n) . "\n";
    return $is;
}

# Waits until a write that began after that time was done.
sub _wait_served {
    my ($self, $since) = @_;
    Tenure::Instance::wait_until(sub {
        return scalar grep { /^(\S+) \S+ 20[01]$/ && $1 >= $since } split /\n/, read_file($self->_probe_file);
    }, 60) or die "no write was done for a minute\n";
    return;
}

my %fault = (
    switch => sub {
        my ($self, $writer) = @_;
        my $next = 1 + $writer % $self->{cluster}->n;
        my ($code, $text) = $self->{instance}->manage('cluster', 'switch', "n$next");
        die "switch: $text\n" if $code != 0;
        return undef;
    },
    kill => sub {
        my ($self, $writer) = @_;
        $self->{cluster}->kill_node($writer);
        return sub { $self->{cluster}->start_node($writer) };
    },
    freeze => sub {
        my ($self, $writer) = @_;
        $self->{frozen}{$writer} = 1;
        $self->{cluster}->freeze($writer);
        return sub {
            $self->{cluster}->thaw($writer);
            delete $self->{frozen}{$writer};
            $self->{cluster}->wait_synced($writer, $self->{cluster}->n);
        };
    },
    isolate => sub {
        my ($self, $writer) = @_;
        $self->{cluster}->isolate($writer);
        return sub {
            $self->{cluster}->unisolate($writer);
            $self->{cluster}->wait_synced($writer, $self->{cluster}->n);
        };
    },
    stop => sub {
        my ($self, $writer) = @_;
        $self->{cluster}->stop_node($writer);
        return sub { $self->{cluster}->wait_stopped($writer); $self->{cluster}->start_node($writer) };
    },
);

sub names { return sort keys %fault }

# One fault: it happens to the writer; another node becomes the writer; then the first one returns.
sub inject {
    my ($self, $name) = @_;
    my $writer = $self->_must_have_writer;
    $self->_wait_served(Tenure::History::Clients::now());
    my $begun = Tenure::History::Clients::now();
    my $mend  = $fault{$name}->($self, $writer);
    $self->_must_have_writer($writer);
    $self->_wait_served(Tenure::History::Clients::now());
    $self->_note_period($name, $begun);
    if (defined $mend) {
        $mend->();
        $self->{cluster}->wait_together;
    }
    return;
}

# From then until now, that happened: the longest times without a write in it are asked for when the clients have ended.
sub _note_period {
    my ($self, $name, $begun) = @_;
    push @{ $self->{periods}{$name} }, [$begun, Tenure::History::Clients::now()];
    return;
}

# When the probe was told that a write of its was done, and when any client was; in order.
sub _ends_of_writes {
    my ($self) = @_;
    return $self->{ends} //= do {
        my @probe = map { / (\S+) 20[01]$/ ? $1 : () } split /\n/, read_file($self->_probe_file);
        { probe => \@probe, any => [sort { $a <=> $b } @probe, $self->{load}->ends_of_writes] };
    };
}

# The longest time in a period between the ends of two writes that were done.
sub _longest_gap {
    my ($ends, $period) = @_;
    my ($last, $until) = @$period;
    my $longest = 0;
    for my $end (grep { $_ > $period->[0] && $_ < $until } @$ends) {
        $longest = $end - $last if $end - $last > $longest;
        $last = $end;
    }
    return $longest;
}

# Of all periods of that name, in their order.
sub _gaps { my ($self, $of, $name) = @_; return map { _longest_gap($self->_ends_of_writes->{$of}, $_) } @{ $self->{periods}{$name} } }

sub end {
    my ($self) = @_;
    write_file($self->_probe_file . '.stop', '');
    waitpid $self->{probe_pid}, 0;
    $self->{load}->stop;
    $self->{ended} = 1;
    return;
}

sub findings { return $_[0]{load}->findings }
sub told     { return $_[0]{load}->told }

# "switch: 10 times, 0.4 to 0.9 s without a write, median 0.5, p90 0.8; of one client 0.5 to …; …"
sub times {
    my ($self) = @_;
    return join '; ', map {
        my @any   = sort { $a <=> $b } $self->_gaps('any',   $_);
        my @probe = sort { $a <=> $b } $self->_gaps('probe', $_);
        sprintf '%s: %d times, %.2f to %.2f s without a write, median %.2f, p90 %.2f; of one client %.2f to %.2f s, median %.2f', $_, scalar @any,
            @any[0, -1], $any[@any / 2], $any[int(0.9 * @any)], @probe[0, -1], $probe[@probe / 2];
    } sort keys %{ $self->{periods} };
}

# The transactions of the service, in the order of the cluster, as a node's binary logs have them: [node that it came from, 'writer' and
# the node named in the row, or 'changes' and the ids of changes].
sub _history {
    my ($self) = @_;
    return @{ $self->{history} } if $self->{history};
    return if $self->{large};
    my $node = $self->_longest_log;
    my @files = grep { /\.\d+\z/ } sort glob "$self->{cluster}{dir}/n$node/data/binlog.0*"; # MariaDB 11.4 has an index beside each
    open my $log, '-|', 'mariadb-binlog', '--no-defaults', '--base64-output=decode-rows', '-v', @files or die "mariadb-binlog: $!\n";
    my (@history, $row); # row: whose columns are looked at
    while (my $line = <$log>) { # gigabytes of them after a large move
        if ($line !~ /^###/) {
            push @history, { from => $1, writer => undef, changes => [] } if $line =~ /^#\d+ +[\d:]+ server id (\d+) .*\bGTID /;
        } elsif ($line =~ /^###   \@/) {
            next if !defined $row || $line !~ /^###   \@(\d+)=(.*?)(?: \/\*.*)?$/;
            my ($column, $value) = ($1, $2);
            $history[-1]{writer} = $value =~ s/'//gr if $row eq 'UPDATE writer set' && $column == 2;
            push @{ $history[-1]{changes} }, $value if $row eq 'INSERT INTO changes set' && $column == 1;
            undef $row if $row eq 'INSERT INTO changes set';
        } elsif ($line =~ /^### (INSERT INTO|UPDATE|DELETE FROM) `tenure`\.`(\w+)`/) {
            $row = "$1 $2";
            $history[-1]{writes}++ if $2 !~ /^writer/;
            undef $row if $row ne 'UPDATE writer' && $row ne 'INSERT INTO changes';
        } elsif ($line =~ /^### SET/) {
            $row .= ' set' if defined $row;
        }
    }
    close $log or die "mariadb-binlog ended with $?\n";
    $self->{history} = \@history;
    return @history;
}

# A node that never left the cluster has all transactions in its logs; one that did got the rest later, in the same order.
sub _longest_log {
    my ($self) = @_;
    my %size;
    $size{$_} = -s "$self->{cluster}{dir}/n$_/data/binlog.000001" // 0 for 1 .. $self->{cluster}->n;
    my ($most) = sort { $size{$b} <=> $size{$a} } keys %size;
    return $self->{watcher} // $most;
}

# Transactions of a node that was not the writer where they stand.
sub late {
    my ($self) = @_;
    my ($writer, @late) = ('');
    for my $transaction ($self->_history) {
        if (defined $transaction->{writer}) { $writer = $transaction->{writer} }
        elsif ($transaction->{writes} && $writer ne "n$transaction->{from}" && $self->{seen_writer}) {
            push @late, "n$transaction->{from} wrote while " . ($writer || 'nobody') . ' was the writer';
        }
        $self->{seen_writer} = 1 if $writer ne '';
    }
    $self->{seen_writer} = 0;
    return @late;
}

# How many transactions of the service there were.
sub transactions { my ($self) = @_; return scalar grep { $_->{writes} && @{ $_->{changes} } } $self->_history }

# Changes of a writer with a number that is not higher than all of the writer before.
sub numbers {
    my ($self) = @_;
    my ($highest, $of_earlier, @wrong) = (0, 0);
    for my $transaction ($self->_history) {
        $of_earlier = $highest if defined $transaction->{writer};
        for my $id (@{ $transaction->{changes} }) {
            push @wrong, "change $id of n$transaction->{from} is not above $of_earlier" if $id <= $of_earlier;
            $highest = $id if $id > $highest;
        }
    }
    return @wrong;
}

# Appends the figures of this run to a file.
sub record {
    my ($self, $path) = @_;
    open my $out, '>>', $path or die "$path: $!\n";
    for my $name (sort keys %{ $self->{periods} }) {
        printf {$out} "time %s %.3f\n", $name, $_ for $self->_gaps('any', $name);
        printf {$out} "one-client %s %.3f\n", $name, $_ for $self->_gaps('probe', $name);
    }
    my $told = $self->told;
    print {$out} "operations $told->{operations}\nuncertain $told->{uncertain}\nfindings " . scalar($self->findings) . "\nlate " . scalar(my @late = $self->late)
        . "\nnumbers " . scalar(my @numbers = $self->numbers) . "\n";
    close $out;
    return;
}

1;
