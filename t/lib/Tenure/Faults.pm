# SPDX-License-Identifier: Apache-2.0
# One worker whose Nth database command, allocation or system call fails during a request, and what is to be true then: a whole answer
# with a status that the WADL lists, the database as it was or as it would have been without the fault, nothing left behind, and the
# worker goes on.
#
#   my $faults = Tenure::Faults->new($instance, seed => 7);
#   my $calls  = $faults->count('database', $request);
#   push @wrong, $faults->attempt($request, kind => 'database', call => 3, error => 1213);
#
# A request is { what, method, path, body (a structure), headers }. $instance needs the combined endpoint.
package Tenure::Faults;

use strict;
use warnings;

use IO::Socket::UNIX;
use JSON::PP ();
use POSIX ();

use Tenure::FastCGI;
use Tenure::FaultyDatabase;
use Tenure::Instance;
use Tenure::Shim;

my $json = JSON::PP->new->utf8->canonical->allow_nonref;

# The errors that each kind of call may meet. Numbers are MariaDB's, names errno's.
our %errors = (
    database => [1180, 1205, 1213, 1290, 1317, 1030, 1021, 2006, 2013],
    memory   => ['ENOMEM'],
    read     => ['EINTR', 'ECONNRESET', 'EIO', 'short'],
    write    => ['EINTR', 'EPIPE', 'ECONNRESET', 'short'],
    wait     => ['EINTR', 'ENOMEM'],
    open     => ['EMFILE', 'ENFILE', 'EINTR'],
    connect  => ['ECONNREFUSED', 'EAGAIN', 'EINTR'],
    accept   => ['ECONNABORTED', 'EMFILE', 'EINTR'],
    random   => ['EINTR', 'short'],
    sync     => ['EIO'],
    control  => ['EINVAL', 'ENOSPC'],
);

sub new {
    my ($class, $instance, %option) = @_;
    my $self = bless { instance => $instance, owner => $$, %option }, $class;
    $self->{shim}   = Tenure::Shim->new;
    $self->{faulty} = Tenure::FaultyDatabase->new($instance->env('TENURE_DB_SOCKET'), $instance->dir);
    $self->_start;
    return $self;
}

sub DESTROY {
    my ($self) = @_;
    return if $$ != $self->{owner} || !$self->{worker};
    local ($?, $!);
    kill KILL => $self->{worker};
    waitpid $self->{worker}, 0;
    return;
}

# Can system calls fail?
sub has_shim { return defined $_[0]{shim} }

# A worker by itself, which no master replaces.
sub _start {
    my ($self) = @_;
    my $socket = $self->{socket} = $self->{instance}->dir . '/one.sock';
    unlink $socket;
    my $listener = IO::Socket::UNIX->new(Local => $socket, Listen => 16) or die "$socket: $!\n";
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        $SIG{$_} = 'DEFAULT' for qw(TERM INT HUP PIPE);
        open STDIN, '<&', $listener or POSIX::_exit(127);
        open STDERR, '>>', $self->{instance}->dir . '/log/one.log' or POSIX::_exit(127);
        %ENV = (%ENV, $self->{shim}->environment) if $self->{shim};
        @ENV{qw(TENURE_DATABASE_SOCKET TENURE_DATABASE_CONNECT_TIMEOUT TENURE_DATABASE_LOCK_WAIT)} = ($self->{faulty}->path, '20s', '10s');
        exec Tenure::Instance::build_dir() . '/tenured', '-c', $self->{instance}->env('TENURE_CONFIG'), '-e', 'combined' or POSIX::_exit(127);
    }
    $self->{worker} = $pid;
    Tenure::Instance::wait_until(sub { my $answer = $self->ask({ method => 'GET', path => '/healthz' }); $answer && $answer->{status} == 200 }) or die "no worker\n";
    return;
}

sub is_running { my ($self) = @_; return waitpid($self->{worker}, POSIX::WNOHANG()) == 0 }

# undef: there was no whole answer.
sub ask {
    my ($self, $request) = @_;
    my %headers = ('X-Auth-Token' => $self->{instance}->operator_token, %{ $request->{headers} // {} });
    my $body = defined $request->{body} ? (ref $request->{body} ? $json->encode($request->{body}) : $request->{body}) : undef;
    $headers{'Content-Type'} //= 'application/json' if defined $body;
    my @params = map { my $name = uc s/-/_/gr; (($name eq 'CONTENT_TYPE' ? $name : "HTTP_$name"), $headers{$_}) } sort keys %headers;
    my $connection = Tenure::FastCGI->try_connect($self->{socket}, timeout => 40) or return undef;
    return $connection->request(method => $request->{method}, uri => $request->{path}, params => \@params, defined $body ? (body => $body) : ());
}

# ---- the state of the database

# What is no part of it: what monitoring, the horizon, the host service, the deliverer of webhooks and the first use of a word write at any time.
my $passing = qr/\A(?:log_horizon|log_writers|host_\w+|usage_\w+|webhook_\w+|upkeep\w*|move_progress|consumer_types)\z/;

# [rows of each table, a checksum of all]
sub state {
    my ($self) = @_;
    $self->{tables} //= [sort grep { $_ !~ $passing } map { $_->[0] } $self->{instance}->sql('SHOW TABLES')];
    my $counts = join ' UNION ALL ', map { "SELECT '$_', COUNT(*) FROM $_" } @{ $self->{tables} };
    my (%rows, %sums);
    for my $row ($self->{instance}->sql("$counts; CHECKSUM TABLE " . join ', ', @{ $self->{tables} })) {
        my ($name, $number) = @$row;
        if ($name =~ s/.*\.//) { $sums{$name} = $number }
        else                   { $rows{$name} = $number }
    }
    # The mover works on moves that wait, and the host service notes when tokens were used, at times of their own.
    $sums{moves} = $rows{moves};
    $sums{tokens} = $self->{instance}->sql_value(
        "SELECT IFNULL(MD5(GROUP_CONCAT(id, HEX(hash), user, IFNULL(tenant_id, ''), role, description, created_at, IFNULL(expires_at, ''), IFNULL(revoked_at, '') ORDER BY id)), 'none') FROM tokens"
    );
    return { rows => \%rows, sums => \%sums };
}

# The tables in which two states differ.
sub differences {
    my ($before, $after) = @_;
    return grep { $before->{sums}{$_} ne $after->{sums}{$_} } sort keys %{ $before->{sums} };
}

# By how many rows each table has grown.
sub growth {
    my ($before, $after) = @_;
    return join ' ', map { $after->{rows}{$_} == $before->{rows}{$_} ? () : "$_" . sprintf '%+d', $after->{rows}{$_} - $before->{rows}{$_} } sort keys %{ $before->{rows} };
}

# ---- faults

sub _arm {
    my ($self, %fault) = @_;
    if ($fault{kind} eq 'database') { $self->{faulty}->arm(process => $self->{worker}, command => $fault{call}, error => $fault{error}) }
    else { $self->{shim}->arm(process => $self->{worker}, classes => [$fault{kind}], call => $fault{call}, error => $fault{error}) }
    return;
}

# (what failed, how many calls there were)
sub _disarm {
    my ($self, %fault) = @_;
    return $fault{kind} eq 'database' ? $self->{faulty}->disarm : $self->{shim}->disarm;
}

# Ends the worker's connection to the database, so that its next request makes another one.
sub disconnect {
    my ($self) = @_;
    $self->{faulty}->cut($self->{worker});
    return;
}

# Sends the request and counts its calls of that kind: (calls, answer). cold: without a connection to the database.
sub count {
    my ($self, $kind, $request, $cold) = @_;
    $self->disconnect if $cold;
    $self->_arm(kind => $kind, call => 0);
    my $answer = $self->ask($request);
    my (undef, $calls) = $self->_disarm(kind => $kind);
    return ($calls, $answer);
}

sub _descriptors {
    my ($self) = @_;
    my @open = glob "/proc/$self->{worker}/fd/*";
    return scalar @open;
}

sub resident {
    my ($self) = @_;
    my ($kb) = Tenure::Run::read_file("/proc/$self->{worker}/status") =~ /^VmRSS:\s+(\d+)/m;
    return $kb;
}

# Sends the request once while its call number fault{call} fails; with fault{cold} without a connection to the database. Returns what is wrong. expected: growth() of the tables where the
# request succeeds, and the status (undef: not known). The last answer and what failed are in last().
sub attempt {
    my ($self, $request, %fault) = @_;
    my $before = $self->state;
    my $open   = $self->_descriptors;
    $self->disconnect if $fault{cold};
    $self->_arm(%fault);
    my $answer = $self->ask($request);
    my ($failed) = $self->_disarm(%fault);
    my $after = $self->state;
    $self->{last} = { answer => $answer, failed => $failed };
    my $name = "$request->{what}" . ($fault{cold} ? ', connecting' : '') . ": $fault{kind} call $fault{call} (" . ($failed || 'none') . ") $fault{error}";
    my @wrong;
    if (!$self->is_running) {
        push @wrong, 'the worker died';
        $self->_start;
    }
    my @differ = differences($before, $after);
    if ($answer) { push @wrong, $self->_wrong_answer($request->{method}, $answer, $failed) }
    # The connection to the web server itself failed.
    elsif ($fault{kind} !~ /\A(?:read|write|accept|wait)\z/) { push @wrong, 'no whole answer' }
    my $status = $answer ? $answer->{status} : undef;
    push @wrong, "$status, and these tables have changed: @differ" if defined $status && $status >= 400 && @differ;
    my $growth = growth($before, $after);
    push @wrong, ($status // 'no answer') . " and the tables have grown by \"$growth\", not by \"$fault{growth}\""
        if defined $fault{growth} && (!defined $status || $status < 400) && $growth ne $fault{growth} && (defined $status || @differ);
    push @wrong, "$status, not $fault{status}" if defined $fault{status} && defined $status && $status < 500 && $status != $fault{status};
    # A healthy request afterwards: the worker goes on, and has as many descriptors as before.
    my $health = $self->ask({ method => 'GET', path => '/v2.0' });
    push @wrong, 'the next request gets ' . ($health ? $health->{status} : 'no answer') if !$health || $health->{status} != 200;
    my $more = $self->_descriptors - $open;
    push @wrong, "$more descriptors more" if $more > 0 && !Tenure::Instance::wait_until(sub { $self->_descriptors <= $open });
    return map { "$name: $_" } @wrong;
}

sub last { return $_[0]{last} }

# An answer is whole if it has the id of its request, and a body as long as it says and in the form that it says.
sub _wrong_answer {
    my ($self, $method, $answer, $failed) = @_;
    my @wrong;
    my $headers = $answer->{headers};
    push @wrong, 'no status' if !defined $answer->{status};
    push @wrong, 'no X-Request-Id' if !$headers->{'x-request-id'};
    # HEAD tells how long the body of GET would be.
    my $length = $method eq 'HEAD' ? 0 : $headers->{'content-length'};
    push @wrong, "the body has " . length($answer->{body} // '') . " bytes, not $length" if defined $length && length($answer->{body} // '') != $length;
    push @wrong, 'a body that is no JSON: ' . substr $answer->{body}, 0, 100
        if ($headers->{'content-type'} // '') =~ /json/ && ($headers->{'content-type'} // '') !~ /stream/ && length $answer->{body} && !eval { $json->decode($answer->{body}); 1 };
    push @wrong, "$answer->{status} though nothing failed, " . substr($answer->{body}, 0, 200) if !$failed && ($answer->{status} // 500) >= 500;
    push @wrong, '503 without Retry-After' if ($answer->{status} // 0) == 503 && !$headers->{'retry-after'};
    return @wrong;
}

1;
