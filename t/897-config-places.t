#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure-manage config check warns of what is correct in itself and not so on this machine: users, groups and files that are not there, one socket
# for two, and paths that mean something else wherever a program is started. A command without its argument is told which one it needs.
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
    [ { more => "[host]\nmetrics_socket = metrics.sock\n" }, q([host] metrics_socket: "metrics.sock" is relative) ],
    [ { more => "[host]\nmetrics_socket = $daemon->{socket}\n" }, qq([host] metrics_socket: "$daemon->{socket}" is the socket of [endpoint service]: each needs one of its own) ],
    [ { more => "[endpoint admin]\nsocket = $daemon->{socket}\nauth = noauth\n" },
        qq([endpoint admin] socket: "$daemon->{socket}" is the socket of [endpoint service]: each needs one of its own) ],
    [ { more => "[jwt]\nca_file = ca.pem\n" }, q([jwt] ca_file: "ca.pem" is relative) ],
    (map { [ { more => "[$_->[0]]\n$_->[1] = $daemon->{dir}/none.pem\n" }, qq([$_->[0]] $_->[1]: can't read "$daemon->{dir}/none.pem": No such file or directory) ] }
            [ 'keystone', 'ca_file' ], [ 'jwt', 'ca_file' ], [ 'webhooks', 'ca_file' ], [ 'database', 'tls_ca' ], [ 'database', 'tls_cert' ], [ 'database', 'tls_key' ]),
);
for (@wrong) {
    my ($settings, $said) = @$_;
    like check(%$settings), qr/^warning: \Q$said\E/m, $said;
}
my $there = $daemon->config_path; # any file
my $well = check(tenure => { user => 'root', group => '0' }, endpoint => { socket_owner => '0:root', access_log => 'stderr' },
    more => "[keystone]\nca_file = $there\n[database]\ntls_ca = $there\n[endpoint admin]\nsocket = $daemon->{dir}/admin.sock\nauth = noauth\n");
unlike $well, qr/this machine|relative|can't read|of its own/, 'nothing of what is there, by name or number';

for ([ 'dump', 'dump needs FILE' ], [ 'log-level', 'log-level needs LEVEL' ], [ 'tier set', 'tier set needs NAME' ]) {
    my ($command, $said) = @$_;
    my ($code, $text) = run("$build/tenure-manage", '-c', $daemon->config_path, split / /, $command);
    is "$code $text", "64 tenure-manage: $said\n", $command;
}

done_testing;
