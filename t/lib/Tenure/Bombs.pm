# SPDX-License-Identifier: Apache-2.0
# What processes of Tenure have taken at most, for tests that try to make them take more.
package Tenure::Bombs;

use strict;
use warnings;

use Exporter qw(import);
use Tenure::Instance;

our @EXPORT_OK = qw(allowed_kb is_sanitized peak_kb reset_peaks workers_of watch_process_of);

use constant { KB => 1024 };

sub read_file { my ($path) = @_; open my $in, '<', $path or return ''; local $/ = undef; return readline($in) // '' }

# The peak that is promised: 64 MB beyond four times max_body, given in MiB.
sub allowed_kb { my ($max_body) = @_; return (64 + 4 * ($max_body // 3)) * KB }

sub children { my ($instance, $endpoint) = @_; return Tenure::Instance::children_of($instance->master_pid($endpoint)) }
sub is_watch_process { my ($pid) = @_; return read_file("/proc/$pid/comm") =~ /tenured-watch/ }
sub workers_of       { my ($instance, $endpoint) = @_; return grep { !is_watch_process($_) } children($instance, $endpoint) }
sub watch_process_of { my ($instance, $endpoint) = @_; my ($pid) = grep { is_watch_process($_) } children($instance, $endpoint); return $pid }

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
sub peak_kb {
    my @peaks = sort { $b <=> $a } map { read_file("/proc/$_/status") =~ /^VmHWM:\s+(\d+)/m ? $1 : 0 } @_;
    return $peaks[0] // 0;
}

1;
