# SPDX-License-Identifier: Apache-2.0
# A proxy between Tenure and its database that lets the Nth command of one process fail with an error of the server's, in the
# server's own form, or with the loss of the connection.
#
#   my $faulty;
#   my $instance = Tenure::Instance->start(database_by => sub { $faulty = Tenure::FaultyDatabase->new(@_); return $faulty->path });
#   $faulty->arm(process => $worker, command => 3, error => 1213);
#   my ($what, $commands) = $faulty->disarm;       # what failed ('' : nothing), and how many commands there were
#
# The server does what it would have done at that error: at 1213 it rolls the transaction back, at 1180 it carries COMMIT out, at others it does
# nothing for the statement; at a loss before the command (2006) it does not get it, at one after it (2013) it does.
package Tenure::FaultyDatabase;

use strict;
use warnings;

use IO::Select;
use Socket qw(SOL_SOCKET SO_PEERCRED);

use parent 'Tenure::DatabaseProxy';
use Tenure::Run qw(read_file write_file);

use constant { QUIT => 0x01, QUERY => 0x03, PREPARE => 0x16, EXECUTE => 0x17, CLOSE => 0x19, BULK => 0xfa };

my %text = (
    1030 => 'Got error 5 "Input/output error" from storage engine InnoDB', 1021 => 'Disk full; waiting for someone to free some space',
    1180 => 'Got error 5 "Input/output error" during COMMIT',
    1205 => 'Lock wait timeout exceeded; try restarting transaction', 1213 => 'Deadlock found when trying to get lock; try restarting transaction',
    1290 => 'The MariaDB server is running with the --read-only option so it cannot execute this statement', 1317 => 'Query execution was interrupted',
);
my %state = (1213 => '40001', 1317 => '70100');

# ---- orders

# command: the number of the command that fails, 0: only count. error: a number of the server's errors, or 2006, 2013.
sub arm {
    my ($self, %option) = @_;
    $self->disarm;
    unlink "$self->{dir}/happened";
    write_file("$self->{dir}/counted", '');
    write_file("$self->{dir}/order.new", "$option{process} $option{command} " . ($option{error} // 0));
    rename "$self->{dir}/order.new", "$self->{dir}/order" or die "$!\n";
    return;
}

sub disarm {
    my ($self) = @_;
    unlink "$self->{dir}/order";
    my $happened = -e "$self->{dir}/happened" ? read_file("$self->{dir}/happened") : '';
    return ($happened, -s "$self->{dir}/counted" // 0);
}

# Counts a command of that process; the error that it is to get, or undef.
sub _ordered {
    my ($self, $process, $what) = @_;
    open my $order, '<', "$self->{dir}/order" or return undef;
    my ($whose, $which, $error) = split ' ', readline $order;
    return undef if $whose != $process;
    open my $counted, '>>', "$self->{dir}/counted" or return undef;
    syswrite $counted, 'x';
    return undef if -s $counted != $which;
    write_file("$self->{dir}/happened", "$error at $what");
    return $error;
}

# Ends the connections of a process, and waits until they have ended.
sub cut {
    my ($self, $process) = @_;
    for my $path (glob "$self->{dir}/relay.$process.*") {
        my ($pid) = $path =~ /(\d+)\z/;
        unlink $path;
        kill KILL => $pid;
        1 while kill(0 => $pid) && select undef, undef, undef, 0.002;
    }
    return;
}

# ---- the protocol

sub _packet { my ($number, $payload) = @_; return substr(pack('V', length $payload), 0, 3) . chr($number) . $payload }

# Takes the first whole packet off a buffer: (number, payload, all its bytes).
sub _take {
    my ($buffer) = @_;
    return if length $$buffer < 4;
    my $n = unpack 'V', substr($$buffer, 0, 3) . "\0";
    return if length $$buffer < 4 + $n;
    my $all = substr $$buffer, 0, 4 + $n, '';
    return (ord substr($all, 3, 1), substr($all, 4), $all);
}

# What the server offers, without two things that make its answers harder to follow: ends without EOF packets, and columns left out.
sub _plainer {
    my ($payload) = @_;
    my $at = 1 + index(substr($payload, 1), "\0") + 1 + 4 + 8 + 1 + 2 + 1 + 2;
    substr($payload, $at, 2) = pack 'v', unpack('v', substr $payload, $at, 2) & ~0x0100;
    my $more = $at + 2 + 1 + 6;
    substr($payload, $more, 4) = pack 'V', unpack('V', substr $payload, $more, 4) & ~0x10;
    return $payload;
}

sub _number_at {
    my ($payload, $at) = @_;
    my $first = ord substr $payload, $at, 1;
    return ($first, $at + 1)                                       if $first < 251;
    return (unpack('v', substr $payload, $at + 1, 2), $at + 3)     if $first == 252;
    return (unpack('V', substr($payload, $at + 1, 3) . "\0"), $at + 4) if $first == 253;
    return (unpack('Q<', substr $payload, $at + 1, 8), $at + 9);
}

# Follows the answer to one command, packet by packet; true at its end. $at: { kind, phase, left }.
sub _ends {
    my ($at, $payload) = @_;
    my $first  = ord $payload;
    my $is_eof = $first == 0xfe && length $payload < 9;
    if (($at->{phase} // '') eq '') {
        return 1 if $first == 0xff;
        if ($at->{kind} == PREPARE) {
            my (undef, undef, $columns, $params) = unpack 'CVvv', $payload;
            $at->{phase} = 'definitions';
            $at->{left}  = ($params > 0 ? 1 : 0) + ($columns > 0 ? 1 : 0);
            return $at->{left} == 0;
        }
        if ($first == 0) {
            my (undef, $next) = _number_at($payload, 1);
            (undef, $next) = _number_at($payload, $next);
            return !(unpack('v', substr $payload, $next, 2) & 0x0008);
        }
        $at->{phase} = 'columns';
        return 0;
    }
    if ($at->{phase} eq 'definitions') { return $is_eof && --$at->{left} == 0 }
    if ($at->{phase} eq 'columns') { $at->{phase} = 'rows' if $is_eof; return 0 }
    return 1 if $first == 0xff;
    return 0 if !$is_eof;
    delete $at->{phase};
    return !(unpack('xxxv', $payload) & 0x0008);
}

sub _relay {
    my ($self, $client, $server) = @_;
    my ($process) = unpack 'i', $client->getsockopt(SOL_SOCKET, SO_PEERCRED);
    my $mine = "$self->{dir}/relay.$process.$$";
    write_file($mine, '');
    my $select = IO::Select->new($client, $server);
    my ($asked, $told, $in, @waiting) = ('', '', 'greeting');
    while (1) {
        for my $socket ($select->can_read) {
            sysread $socket, my $bytes, 1 << 16 or return;
            if ($socket == $client) {
                if ($in ne 'session') { Tenure::DatabaseProxy::send_all($server, $bytes); next }
                $asked .= $bytes;
                while (my (undef, $payload, $all) = _take(\$asked)) {
                    my $forwarded = $self->_command($process, $payload, $all, \@waiting) // return;
                    Tenure::DatabaseProxy::send_all($server, $forwarded);
                    # Lost after the server got it: it has ended when it answers.
                    if (@waiting && $waiting[-1]{is_lost}) { IO::Select->new($server)->can_read(20); return }
                }
                next;
            }
            $told .= $bytes;
            while (my ($number, $payload, $all) = _take(\$told)) {
                if ($in ne 'session') {
                    Tenure::DatabaseProxy::send_all($client, $in eq 'greeting' ? _packet($number, _plainer($payload)) : $all);
                    $in = $in eq 'greeting' ? 'login' : ord $payload == 0 ? 'session' : $in;
                    next;
                }
                my $at = $waiting[0];
                if (!$at) { Tenure::DatabaseProxy::send_all($client, $all); next }
                my $is_over = _ends($at, $payload);
                shift @waiting if $is_over;
                next if $at->{error} && !$is_over;
                $all = _packet(1, pack 'Cva*', 0xff, $at->{error}, '#' . ($state{ $at->{error} } // 'HY000') . ($text{ $at->{error} } // 'a fault')) if $at->{error};
                Tenure::DatabaseProxy::send_all($client, $all);
            }
        }
    }
}

# Notes what answer is to come; returns what goes to the server in the command's place, undef if the connection is lost at once.
sub _command {
    my ($self, $process, $payload, $all, $waiting) = @_;
    my $kind = ord $payload;
    return $all if $kind == CLOSE || $kind == QUIT;
    my $what  = $kind == PREPARE ? 'prepare' : $kind == QUERY ? substr $payload, 1, 60 : $kind == EXECUTE ? 'execute' : $kind == BULK ? 'bulk' : "command $kind";
    my $error = $self->_ordered($process, $what);
    push @$waiting, { kind => $kind, error => $error };
    return $all if !defined $error;
    return undef if $error == 2006;
    if ($error == 2013) {
        $waiting->[-1]{is_lost} = 1;
        return $all;
    }
    return $all if $error == 1180 && $what eq 'COMMIT';
    # A failed preparation leaves no statement; 1213, and whatever happens to COMMIT, leaves no transaction.
    if ($kind == PREPARE) { return _packet(0, chr(PREPARE) . 'this is no statement') }
    $waiting->[-1]{kind} = QUERY;
    return _packet(0, chr(QUERY) . ($error == 1213 || $what eq 'COMMIT' ? 'ROLLBACK' : 'DO 0'));
}

1;
