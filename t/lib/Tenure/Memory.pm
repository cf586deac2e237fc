# SPDX-License-Identifier: Apache-2.0
# What the processes of an instance take: their pids, peaks of resident memory, CPU seconds.
#
#   my @workers = workers_of($instance, 'combined');
#   reset_peaks(@workers);
#   …
#   cmp_ok peak_kb(@workers), '<', allowed_kb() if !is_sanitized($workers[0]);
package Tenure::Memory;

use strict;
use warnings;

use Exporter qw(import);
use List::Util qw(max);

use Tenure::Instance;
use Tenure::Run qw(read_file);

our @EXPORT_OK = qw(allowed_kb cpu_of is_sanitized is_watch_process peak_kb processes_of reset_peaks watch_process_of workers_of);

use constant KB => 1024;

# The peak that is promised: 64 MB beyond four times max_body, given in MiB.
sub allowed_kb { my ($max_body) = @_; return (64 + 4 * ($max_body // 3)) * KB }

sub children { my ($instance, $endpoint) = @_; return Tenure::Instance::children_of($instance->master_pid($endpoint)) }
sub is_watch_process { my ($pid) = @_; return read_file("/proc/$pid/comm") =~ /tenured-watch/ }
sub workers_of       { my ($instance, $endpoint) = @_; return grep { !is_watch_process($_) } children($instance, $endpoint) }
sub watch_process_of { my ($instance, $endpoint) = @_; my ($pid) = grep { is_watch_process($_) } children($instance, $endpoint); return $pid }

# Every process of the program that the instance has, those that a web server started included.
sub processes_of {
    my ($instance) = @_;
    my ($short) = read_file($instance->dir . '/run/short') =~ /\A(\S+)/; # mod_fcgid starts a copy that is there
    my @dirs = ($instance->dir, $short // ());
    my @found;
    for my $pid (map { m{(\d+)\z} } glob '/proc/[0-9]*') {
        next unless (readlink("/proc/$pid/exe") // '') =~ m{/tenured\z};
        my $command = read_file("/proc/$pid/cmdline");
        push @found, $pid if grep { index($command, "$_/") >= 0 } @dirs;
    }
    return @found;
}

# Sanitizers take much for themselves: peaks say nothing then.
sub is_sanitized { my ($pid) = @_; return read_file("/proc/$pid/maps") =~ /libasan/ }

# From now on.
sub reset_peaks {
    for my $pid (@_) {
        open my $out, '>', "/proc/$pid/clear_refs" or next;
        print {$out} '5';
        close $out;
    }
    return;
}

# The largest of them since.
sub peak_kb { return max(0, map { read_file("/proc/$_/status") =~ /^VmHWM:\s+(\d+)/m ? $1 : 0 } @_) }

# CPU seconds of each so far, by its pid.
sub cpu_of {
    my %of;
    for my $pid (@_) {
        my @stat = split ' ', read_file("/proc/$pid/stat") =~ s/\A.*\) //sr or next;
        $of{$pid} = ($stat[11] + $stat[12]) / 100;
    }
    return \%of;
}

1;
