#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Who may see how a host is: with the modes of the installation, root and users of both groups, that of the configuration and that of
# runtime_dir (doc/operations.md, "Monitoring"). Others are told what they may not read.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Run qw(run);

plan skip_all => 'only root can be somebody else' if $< != 0;
plan skip_all => 'no setpriv' if !Tenure::Instance::on_path('setpriv');
my $instance = Tenure::Instance->start(workers => 1);
my ($shared) = Tenure::Run::read_file($instance->env('TENURE_CONFIG')) =~ /^runtime_dir = (.*)$/m;
my ($nobody, $of_conf, $of_run) = (65534, 60001, 60002);

# As /etc/tenure/tenure.conf is: root's and its group's to read. tenured knows the file by another group here.
my $config = $instance->dir . '/readable.conf';
is +(run('cp', $instance->env('TENURE_CONFIG'), $config))[0], 0, 'a configuration';
chown 0, $of_conf, $config;
chmod 0640, $config;
chown 0, $of_run, $shared, glob "$shared/shared-v*";
chmod 0750, $shared;

# The folder of the build may be root's alone.
my ($plugin, $manage) = map { $instance->dir . "/$_" } qw(check_tenure tenure-manage);
is +(run('cp', Tenure::Instance::source_dir() . '/scripts/check_tenure', Tenure::Instance::build_dir() . '/tenure-manage', $instance->dir))[0], 0, 'the programs';

sub check {
    my ($groups, @more) = @_;
    return run('setpriv', "--reuid=$nobody", "--regid=$nobody", "--groups=$groups", $plugin, '--manage', $manage, '-c', $config, @more);
}

my ($code, $text) = check($nobody);
is $code, 3, 'nobody in particular';
like $text, qr/UNKNOWN - can't open "\Q$config\E": Permission denied/, '... may not read the configuration';
($code, $text) = check($of_conf);
is $code, 3, 'who may read that';
like $text, qr/may not read its file in \Q$shared\E: Permission denied/, '... may not see what processes count';
ok Tenure::Instance::wait_until(sub { ($code, $text) = check("$of_conf,$of_run"); return $code < 2 && $text =~ / \d+ requests|nobody has purged/ }), 'who is in both groups sees it' or diag "$code $text";

# As install.md has it: an admin_user whom the database knows by the system's user alone.
{
    local $ENV{TENURE_DATABASE_ADMIN_USER} = 'chief';
    $instance->sql('CREATE USER chief@localhost IDENTIFIED VIA unix_socket');
    chmod 0711, $instance->dir . '/db';
    ($code, $text) = check("$of_conf,$of_run", '--doctor');
    is $code, 2, 'a doctor whom the database does not let in';
    like $text, qr/1698 Access denied.*; the database lets user "chief" \(admin_user in \[database\]\) in by its socket, for the system's user of that name alone: run this as that user/,
        '... says who may run it';
    unlike $text, qr/print-grants/, '... and nothing of grants, which would not help';
}

# The folder of the database's socket is root's here.
chmod 0700, $instance->dir . '/db';
($code, $text) = check("$of_conf,$of_run", '--doctor');
is $code, 2, 'a doctor that cannot run';
like $text, qr/doctor could not run: .*Can't connect.*; start the database server/, '... says why, and what would help';

done_testing;
