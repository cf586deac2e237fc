# SPDX-License-Identifier: Apache-2.0
# TCP ports on loopback for what a test starts. A port is free when it is chosen, and another process may take it before the program that it is
# for opens it: start_on_ports() chooses others then.
package Tenure::Ports;

use strict;
use warnings;

use Exporter 'import';
use IO::Socket::INET;
use POSIX ();

use Tenure::Run qw(read_file wait_until);

our @EXPORT_OK = qw(free_ports lasting_ports start_on_ports);

my ($owner, $starting) = ($$); # the process that start_on_ports() waits for

# Returns n TCP ports that are free now. All are open at the same time while they are chosen, so that they differ.
sub free_ports {
    my ($n) = @_;
    my @sockets = map { IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 1, Proto => 'tcp')
            // die "no port: $!\n" } 1 .. $n;
    return map { $_->sockport } @sockets;
}

# The same, in a row and below those that the kernel gives to outgoing connections and to free_ports(): for a server that is to get its own port
# again when it returns.
sub lasting_ports {
    my ($n) = @_;
    my ($low) = read_file('/proc/sys/net/ipv4/ip_local_port_range') =~ /(\d+)/;
    return free_ports($n) if $low < 20000;
    for (1 .. 50) {
        my $base = 10000 + int rand($low - 10100);
        my @sockets = map { IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $base + $_, Listen => 1, Proto => 'tcp') } 0 .. $n - 1;
        return map { $base + $_ } 0 .. $n - 1 if $n == grep { defined } @sockets;
    }
    die "no free ports\n";
}

# Starts a program on n free ports: begin->(ports) starts it and returns its process id, is_ready->() says whether it serves. If the program ends
# before it serves, it is started on other ports, three times in all. Returns the process id; undef if it does not serve, and then it has ended.
sub start_on_ports {
    my ($n, $begin, $is_ready) = @_;
    for my $try (1 .. 3) {
        my $pid   = $starting = $begin->(free_ports($n));
        my $ended = 0;
        my $ready = wait_until(sub { ($ended = waitpid($pid, POSIX::WNOHANG()) == $pid) || $is_ready->() }, 60);
        if (!$ready) {
            kill 'KILL', $pid;
            waitpid $pid, 0;
        }
        $starting = undef;
        return $pid if $ready && !$ended;
    }
    return undef;
}

END {
    if ($owner == $$ && $starting) {
        local $?;
        kill 'KILL', $starting;
        waitpid $starting, 0;
    }
}

1;
