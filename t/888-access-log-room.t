#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# An access log on a full disk: requests go on, and the log is written again when there is room, as doc/troubleshooting.md says.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use Test::More;

use Tenure::Daemon;
use Tenure::Run qw(run);

Tenure::Daemon::need_program();

subtest 'the access log, full and with room again' => sub {
    plan skip_all => 'a small file system is made by root alone' if $< != 0;
    my $dir   = File::Temp->newdir('tenured-small-XXXXXX', TMPDIR => 1);
    my $small = "$dir/small";
    mkdir $small;
    my ($code, $text) = run('mount', '-t', 'tmpfs', '-o', 'size=16k,mode=755', 'tenure-small', $small);
    plan skip_all => "no small file system: $text" if $code != 0;
    my $daemon = Tenure::Daemon->new(endpoint => { access_log => "$small/access.log", workers => 1 });
    $daemon->start;
    ok Tenure::Daemon::wait_until(sub { $daemon->answers; $daemon->log_text =~ /the access log can't be written: No space left on device/ }, 60), 'is full';
    ok $daemon->answers, 'requests go on';
    truncate "$small/access.log", 0 or die $!;
    ok Tenure::Daemon::wait_until(sub { $daemon->answers; $daemon->log_text =~ /the access log is written again/ }), 'there is room';
    like $daemon->log_text, qr/the access log is written again; \d+ of this process's lines are lost/, 'it goes on';
    $daemon->stop;
    is +(run('umount', $small))[0], 0, 'nothing is left';
};

done_testing;
