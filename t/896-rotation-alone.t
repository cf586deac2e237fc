#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Workers without a master, as a web server or spawn-fcgi starts them, get no signal when their access log is rotated: they see by
# themselves that it was moved away.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use IO::Socket::UNIX;
use POSIX ();
use Test::More;

use Tenure::Daemon;
use Tenure::Run qw(read_file write_file);

Tenure::Daemon::need_program();
my $daemon   = Tenure::Daemon->new;
my $listener = IO::Socket::UNIX->new(Local => $daemon->{socket}, Listen => 16) or die "$daemon->{socket}: $!\n";
$daemon->start(prepare => sub { open STDIN, '<&', $listener or POSIX::_exit(127) });
my $log = "$daemon->{dir}/access.log";

# Asks until the new file gets lines, and the old one none any more.
sub goes_to {
    my ($old, $name) = @_;
    ok Tenure::Daemon::wait_until(sub {
        my $before = -s $old;
        $daemon->answers for 1 .. 3;
        return -s $log && -s $old == $before;
    }, 60), $name;
    return;
}

ok $daemon->answers, 'a worker by itself';
ok Tenure::Daemon::wait_until(sub { -s $log }), '... has a log';
my $mode = (stat $log)[2];
rename $log, "$log.1" or die "rename: $!";
goes_to("$log.1", 'a log that was moved away: another is made');
is +(stat $log)[2], $mode, '... with the same rights';
like read_file($log), qr{"GET / HTTP/1\.1" 200 }, '... and has the requests';

# As logrotate does by "create".
rename $log, "$log.2" or die "rename: $!";
write_file($log, '');
chmod 0640, $log;
goes_to("$log.2", 'one that was replaced: the new one is written');

rename $log, "$log.3" or die "rename: $!";
mkdir $log or die "mkdir: $!";
ok Tenure::Daemon::wait_until(sub { $daemon->answers; $daemon->log_text =~ /can't open access log \Q$log\E: Is a directory/ }), 'one that cannot be opened is told';
my $before = -s "$log.3";
ok $daemon->answers, '... requests go on';
ok Tenure::Daemon::wait_until(sub { $daemon->answers; -s "$log.3" > $before }), '... and so does the old log';
is $daemon->stop, 0, 'it ends';

done_testing;
