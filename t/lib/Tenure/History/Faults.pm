# SPDX-License-Identifier: Apache-2.0
# Faults for a load of Tenure::History::Clients, injected into real processes, connections and clocks.
#
#   my $faults   = Tenure::History::Faults->new;
#   my $instance = $faults->start(workers => 4, server => 'nginx');     # a Tenure::Instance with what the faults need
#   $faults->inject($_) for $faults->names;
#
# A fault of one's own: $faults->add('switch', sub { my ($instance) = @_; ... }). A fault returns when it is over, or when its effects go
# on without it.
package Tenure::History::Faults;

use strict;
use warnings;

use Time::HiRes ();

use Tenure::CommitProxy;
use Tenure::Instance;
use Tenure::Run qw(run);
use Tenure::Shim;

# The settings that say how long something may be away: short, so that faults reach beyond them.
my %settings = ('database.read_timeout' => '2s', 'database.lock_wait' => '2s', 'database.idle_write_timeout' => '3s', 'database.connect_timeout' => '2s',
    'tenure.worker_deadline' => '60s');

sub new {
    my ($class) = @_;
    my $self = bless { count => {}, fault => { %{ _faults() } } }, $class;
    $self->{shim} = Tenure::Shim->new;
    # Behind mod_fcgid the variables don't reach the workers: there, only MariaDB's clock moves.
    delete $self->{fault}{clock} if !$self->{shim};
    return $self;
}

sub start {
    my ($self, %option) = @_;
    my @more = (settings => { %settings, %{ $option{settings} // {} } }, database_by => sub {
        my ($socket, $dir) = @_;
        $self->{proxy} = Tenure::CommitProxy->new($socket, $dir);
        return $self->{proxy}->path;
    });
    push @more, faults => { $self->{shim}->environment } if $self->{shim};
    $self->{instance} = Tenure::Instance->start(%option, @more,
        allow => [qr/ended by signal 9/, qr/connection (?:was )?lost/, qr/ended with code/, @{ $option{allow} // [] }]);
    return $self->{instance};
}

sub names { my ($self) = @_; return sort keys %{ $self->{fault} } }
sub add { my ($self, $name, $code) = @_; $self->{fault}{$name} = $code; return }
sub count { return $_[0]{count} }

sub inject {
    my ($self, $name) = @_;
    my $code = $self->{fault}{$name} or die "no fault \"$name\"\n";
    $self->{count}{$name}++;
    $code->($self->{instance}, $self);
    return;
}

# Waits until the service answers again.
sub recovered {
    my ($self) = @_;
    return Tenure::Instance::wait_until(sub { $self->{instance}->admin(timeout => 5)->get('/healthz')->status == 200 }, 60);
}

# The workers, whoever started them: a worker has its instance's configuration in its command line, and a connection to the database.
sub _workers {
    my ($instance) = @_;
    my $config = $instance->env('TENURE_CONFIG');
    my %is_master = map { $_ => 1 } grep { defined } map { $instance->master_pid($_) } grep { -e $instance->dir . "/run/$_.pid" } qw(admin service combined placement host);
    my @pids;
    for my $path (glob '/proc/[0-9]*/cmdline') {
        my ($pid) = $path =~ /(\d+)/;
        my $line = Tenure::Run::read_file($path) =~ tr/\0/ /r;
        push @pids, $pid if $line =~ /tenured\b.*\Q$config\E/ && $line =~ / -e admin\b/ && !$is_master{$pid} && ($line !~ /watch|send/);
    }
    return @pids;
}

sub _database_pid {
    my ($instance) = @_;
    my ($pid) = Tenure::Run::read_file($instance->env('TENURE_DB_SOCKET') =~ s/\.sock\z/.pid/r) =~ /(\d+)/;
    return $pid;
}

sub _stopped_for {
    my ($pid, $seconds) = @_;
    return if !$pid || !kill STOP => $pid;
    Time::HiRes::sleep($seconds);
    kill CONT => $pid;
    return;
}

sub _one { return $_[rand @_] }

# name => what it does; seconds are drawn so that some are shorter and some longer than the settings above.
sub _faults {
    return {
        'worker-kill' => sub { my ($instance) = @_; my $pid = _one(_workers($instance)); kill KILL => $pid if $pid },
        'worker-stop' => sub { my ($instance) = @_; _stopped_for(_one(_workers($instance)), rand() < 0.3 ? 3.5 : rand 0.5) },
        'database-stop' => sub { my ($instance) = @_; _stopped_for(_database_pid($instance), rand() < 0.3 ? 2.5 + rand 1.5 : rand 0.5) },
        'database-kill' => sub { my ($instance) = @_; $instance->database('kill'); $instance->database('start') },
        'connections' => sub {
            my ($instance) = @_;
            my @ids = map { $_->[0] } $instance->sql(q(SELECT id FROM information_schema.processlist WHERE user = 'tenure'));
            # One that has gone meanwhile makes an error, and nothing else (-f).
            run('mariadb', '--no-defaults', '-f', '-u', 'root', '-S', $instance->env('TENURE_DB_SOCKET'), '-e', join '', map { rand() < 0.5 ? "KILL $_;" : () } @ids);
        },
        'commit-request' => sub { $_[1]{proxy}->next_commit('request') },
        'commit-answer'  => sub { $_[1]{proxy}->next_commit('answer') },
        'commit-late'    => sub { $_[1]{proxy}->next_commit('late ' . (rand() < 0.3 ? 2.2 : rand 1)) },
        'partition'      => sub { $_[1]{proxy}->hold(rand() < 0.3 ? 2.5 + rand 1 : rand 0.5) },
        'clock'          => sub { $_[1]{shim}->clock(_one(-3600, -60, -1, 0, 1, 60, 3600)) },
    };
}

1;
