# SPDX-License-Identifier: Apache-2.0
# Commands that tests run to their end, without standard input; files as a whole; and waiting for what must come true.
package Tenure::Run;

use strict;
use warnings;

use Exporter 'import';
use File::Temp ();
use POSIX ();
use Time::HiRes ();

# Tests talk to loopback alone, and in nobody's language or time zone.
delete @ENV{map { ($_, uc) } qw(http_proxy https_proxy ftp_proxy all_proxy no_proxy)};
delete @ENV{qw(TZ LANGUAGE)};
$ENV{LC_ALL} = 'C.UTF-8';

our @EXPORT_OK = qw(run run_apart begin read_file write_file wait_until);

# (exit code, or 128 + the signal that ended it; both outputs together)
sub run {
    my (@command) = @_;
    my $out = File::Temp->new;
    return (_code($out, undef, @command), read_file("$out"));
}

# The same with the two outputs apart: (code, standard output, standard error).
sub run_apart {
    my (@command) = @_;
    my ($out, $err) = (File::Temp->new, File::Temp->new);
    return (_code($out, $err, @command), read_file("$out"), read_file("$err"));
}

# Starts it with both outputs into that file, and returns at once. The function that it returns waits for its end, and answers as run().
sub begin {
    my ($path, @command) = @_;
    open my $out, '>', $path or die "$path: $!\n";
    my $pid = _start($out, undef, @command);
    return sub { return (_end($pid), read_file($path)) };
}

sub _code { return _end(_start(@_)) }

sub _start {
    my ($out, $err, @command) = @_;
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        open STDIN,  '<',  '/dev/null'        or POSIX::_exit(127);
        open STDOUT, '>&', $out               or POSIX::_exit(127);
        open STDERR, '>&', $err // \*STDOUT   or POSIX::_exit(127);
        exec { $command[0] } @command or POSIX::_exit(127);
    }
    return $pid;
}

sub _end {
    my ($pid) = @_;
    waitpid $pid, 0;
    return $? >> 8 || ($? & 127 ? 128 + ($? & 127) : 0);
}

# '' where there is none.
sub read_file {
    my ($path) = @_;
    open my $file, '<', $path or return '';
    local $/ = undef;
    return readline($file) // '';
}

sub write_file {
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!\n";
    print {$file} $text;
    close $file or die "$path: $!\n";
    return;
}

# How many times longer than usual tests may take, as t/limited has it: at least as long as usual.
my $factor = ($ENV{TENURE_TEST_FACTOR} // 1) > 1 ? $ENV{TENURE_TEST_FACTOR} : 1;

# Calls true->() again and again until it returns something true, half a minute long or that many seconds, or as many times longer as tests may
# take. Returns whether it did. A test that passes never depends on how long that took.
sub wait_until {
    my ($true, $seconds) = @_;
    my $until = Time::HiRes::time() + $factor * ($seconds // 30);
    while (Time::HiRes::time() < $until) {
        return 1 if $true->();
        Time::HiRes::sleep(0.01);
    }
    return 0;
}

1;
