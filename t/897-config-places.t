#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure-manage config check warns of what is correct in itself and not so on this machine: users and groups that are not there, and paths
# that mean something else wherever a program is started. A command without its argument is told which one it needs.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Daemon;
use Tenure::Instance;
use Tenure::Run qw(run);

Tenure::Daemon::need_program();
my $build  = Tenure::Instance::build_dir();
my $daemon = Tenure::Daemon->new;

# What config check says of the configuration with these settings.
sub check {
    my (%settings) = @_;
    $daemon->write_config(%settings);
    my ($code, $text) = run("$build/tenure-manage", '-c', $daemon->config_path, 'config', 'check');
    is $code, 0, 'is correct' or diag $text;
    return $text;
}

my @wrong = (
    [ { tenure => { user => 'nobody-here' } }, q([tenure] user: this machine has no user "nobody-here") ],
    [ { tenure => { user => 'root', group => 'no-group-here' } }, q([tenure] group: this machine has no group "no-group-here") ],
    [ { endpoint => { socket_owner => 'nobody-here' } }, q([endpoint service] socket_owner: this machine has no user "nobody-here") ],
    [ { endpoint => { socket_owner => 'root:no-group-here' } }, q([endpoint service] socket_owner: this machine has no group "no-group-here") ],
    [ { endpoint => { socket_owner => ':no-group-here' } }, q([endpoint service] socket_owner: this machine has no group "no-group-here") ],
    [ { endpoint => { socket => 'service.sock' } }, q([endpoint service] socket: "service.sock" is relative to the folder in which a program is started) ],
    [ { endpoint => { access_log => 'log/access.log' } }, q([endpoint service] access_log: "log/access.log" is relative) ],
    [ { tenure => { runtime_dir => 'run' } }, q([tenure] runtime_dir: "run" is relative) ],
);
for (@wrong) {
    my ($settings, $said) = @$_;
    like check(%$settings), qr/^warning: \Q$said\E/m, $said;
}
my $well = check(tenure => { user => 'root', group => '0' }, endpoint => { socket_owner => '0:root', access_log => 'stderr' });
unlike $well, qr/this machine|relative/, 'nothing of what is there, by name or number';

for ([ 'dump', 'dump needs FILE' ], [ 'log-level', 'log-level needs LEVEL' ], [ 'tier set', 'tier set needs NAME' ]) {
    my ($command, $said) = @$_;
    my ($code, $text) = run("$build/tenure-manage", '-c', $daemon->config_path, split / /, $command);
    is "$code $text", "64 tenure-manage: $said\n", $command;
}

done_testing;
