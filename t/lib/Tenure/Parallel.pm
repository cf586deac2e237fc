# SPDX-License-Identifier: Apache-2.0
# Clients that work at the same time, each a process that reports its result.
package Tenure::Parallel;

use strict;
use warnings;

use POSIX ();

# Runs work->(number of the client) in n processes. Returns what each returned, a string of one line, in their order; undef for a client
# that died.
sub run {
    my ($n, $work) = @_;
    my (@pipes, @pids, @told);
    for my $client (0 .. $n - 1) {
        pipe my $read, my $write or die "pipe: $!\n";
        my $pid = fork // die "fork: $!\n";
        if ($pid == 0) {
            close $read;
            my $said = eval { $work->($client) };
            print STDERR $@ if !defined $said;
            print {$write} "$said\n" if defined $said;
            close $write;
            POSIX::_exit(defined $said ? 0 : 1);
        }
        close $write;
        push @pipes, $read;
        push @pids,  $pid;
    }
    for my $read (@pipes) {
        my $line = readline $read;
        chomp $line if defined $line;
        push @told, $line;
        close $read;
    }
    waitpid $_, 0 for @pids;
    return @told;
}

# Requests at the same time: each of the work asks one and returns its Tenure::Response. Of each [its status, its request's id]; [0, '-'] for a
# client that died.
sub answers {
    my (@work) = @_;
    return map { [split / /, $_ // '0 -'] } run(scalar @work, sub {
        my $answer = $work[$_[0]]->();
        return $answer->status . ' ' . $answer->header('x-request-id');
    });
}

# A request by a Tenure::Client in a process of its own: a handle, whose member read can be waited for. told(handle): its status
# and Retry-After ("-": none), when it has come.
sub begin {
    my ($client, @request) = @_;
    pipe my $read, my $write or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        close $read;
        my $answer = eval { $client->request(@request) };
        my $retry = $answer ? $answer->{headers}{'retry-after'} // '-' : '-';
        syswrite $write, $answer ? "$answer->{status} $retry\n" : "$@\n";
        POSIX::_exit(0);
    }
    close $write;
    return { pid => $pid, read => $read };
}

sub told {
    my ($asked) = @_;
    my $line = readline $asked->{read};
    waitpid $asked->{pid}, 0;
    chomp $line;
    return $line;
}

1;
