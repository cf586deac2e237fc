#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# doctor and config check warn if the file system of an access log is full. It is a small one in memory, mounted in a namespace of
# its own; where that is not allowed the test is left out.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my @alone = map { ['unshare', @$_] } ['-m'], ['-r', '-m'];
my ($unshare) = grep { system(@$_, 'sh', '-c', 'exec 2>/dev/null; mount -t tmpfs -o size=64k,nr_inodes=16 tenure /mnt') == 0 } @alone;
plan skip_all => 'no file system can be mounted here' if !$unshare;

my $instance = Tenure::Instance->start;
my $manage   = $instance->env('TENURE_BIN') . '/tenure-manage';
my $config   = $instance->env('TENURE_CONFIG');

# What the command says while the access log stands on a file system that was filled by that shell command.
sub told {
    my ($fill, @command) = @_;
    my $text = Tenure::Instance::read_file("$config");
    $text =~ s/^access_log = .*/access_log = \/mnt\/access.log/m or die 'no access_log';
    my $copy = $instance->dir . '/full.conf';
    open my $out, '>', $copy or die "$copy: $!\n";
    print {$out} $text;
    close $out;
    my ($code, $told) = Tenure::Run::run(@$unshare, 'sh', '-c',
        "mount -t tmpfs -o size=64k,nr_inodes=16 tenure /mnt || exit 77; { $fill; } 2>/dev/null; exec \"\$@\"", 'sh', $manage, '-c', $copy, @command);
    return $told;
}

for my $command ([qw(config check)], ['doctor']) {
    my $full = qr/warning: \[endpoint \w+\] the file system of access_log \/mnt\/access\.log is full/;
    unlike told(':', @$command), $full, "@$command: with room nothing is said";
    like told('cat /dev/zero >/mnt/zero', @$command), $full, "@$command: without a block";
    like told('for i in $(seq 1 40); do touch /mnt/$i; done; :', @$command), $full, "@$command: without an inode";
}

done_testing;
