#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# An access log on a full disk: requests go on, and the log is written again when there is room, as doc/troubleshooting.md says. A start
# without room for the socket or the log ends with the code after which a supervisor tries again.
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

# Exit code 71, not 73 or 78: those say that another start helps nothing, and the unit then does not try.
subtest 'a start without room' => sub {
    plan skip_all => 'a small file system is made by root alone' if $< != 0;
    my $dir   = File::Temp->newdir('tenured-small-XXXXXX', TMPDIR => 1);
    my $small = "$dir/small";
    mkdir $small;
    my ($code, $text) = run('mount', '-t', 'tmpfs', '-o', 'size=64k,nr_inodes=2,mode=755', 'tenure-small', $small);
    plan skip_all => "no small file system: $text" if $code != 0;
    for my $setting ([ socket => "can't make $small/x" ], [ access_log => "can't open access log $small/x" ]) {
        my ($name, $told) = @$setting;
        my $daemon = Tenure::Daemon->new(endpoint => { $name => "$small/x", workers => 1 });
        $daemon->{socket} = "$small/x" if $name eq 'socket';
        Tenure::Run::write_file("$small/full", '');
        ($code, $text) = $daemon->run('-c', $daemon->config_path, '-e', 'service');
        is $code, 71, "no room for $name";
        like $text, qr/\Q$told\E: No space left on device/, 'the log says so';
        unlink "$small/full" or die $!;
        $daemon->start;
        ok $daemon->answers, 'with room it starts';
        is $daemon->stop, 0, 'and ends';
        unlink "$small/x";
        $daemon->write_config(endpoint => { $name => "$small/nowhere/x" });
        is +($daemon->run('-c', $daemon->config_path, '-e', 'service'))[0], $name eq 'socket' ? 78 : 73, 'a wrong path is final';
    }
    is +(run('umount', $small))[0], 0, 'nothing is left';
};

done_testing;
