#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Who a tenured that root started becomes, and whose its files are then.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Copy ();
use File::Temp ();
use Test::More;

use Tenure::Daemon;
use Tenure::Instance;
use Tenure::Run;

Tenure::Daemon::need_program();
plan skip_all => 'only root becomes somebody else' if $> != 0;

my ($user, $uid, $gid) = (getpwnam 'nobody')[0, 2, 3];
plan skip_all => 'there is no user nobody' unless $uid;

# A daemon with a folder that the user can reach, and write to.
sub new_daemon {
    my (%option) = @_;
    my $daemon = Tenure::Daemon->new(%option);
    chmod 0755, "$daemon->{dir}" or die $!;
    chown $uid, $gid, "$daemon->{dir}", $daemon->config_path or die $!;
    my $wadl = "$daemon->{dir}/wadl";
    mkdir $wadl or die $!;
    File::Copy::copy($_, $wadl) or die "$_: $!" for glob Tenure::Daemon::wadl_dir() . '/*.wadl';
    $daemon->{tenure} = { %{ $daemon->{tenure} }, wadl_dir => $wadl };
    $daemon->write_config;
    return $daemon;
}

sub ids_of {
    my ($pid, $what) = @_;
    open my $file, '<', "/proc/$pid/status" or return '';
    my ($line) = grep { /^$what:/ } <$file>;
    return join ' ', ($line // '') =~ /(\d+)/g;
}

my $daemon = new_daemon(tenure => { user => $user });
my $log    = "$daemon->{dir}/access.log";

subtest 'user' => sub {
    $daemon->start;
    ok Tenure::Daemon::wait_until(sub { $daemon->workers == 2 }), 'serves';
    is ids_of($_, 'Uid'), join(' ', ($uid) x 4), 'as that user' for $daemon->{pid}, $daemon->children;
    is ids_of($daemon->{pid}, 'Gid'), join(' ', ($gid) x 4), 'in that user\'s group';
    is_deeply [ (stat $log)[ 4, 5 ] ], [ $uid, $gid ], 'whose the access log is';
    unlike $daemon->log_text, qr/root/, 'nothing to warn of';
};

subtest 'rotation' => sub {
    rename $log, "$log.1" or die $!;
    $daemon->signal('USR1');
    ok Tenure::Daemon::wait_until(sub { -e $log }), 'SIGUSR1 opens a new access log';
    ok Tenure::Daemon::wait_until(sub { $daemon->answers && $daemon->access_text =~ /GET/ }), 'workers write there';
    my @before = $daemon->children;
    rename $log, "$log.2" or die $!;
    $daemon->signal('HUP');
    ok Tenure::Daemon::wait_until(sub { $daemon->log_text =~ /: reloaded/ }), 'SIGHUP reloads';
    ok Tenure::Daemon::wait_until(sub { $daemon->answers && $daemon->access_text =~ /GET/ }), 'and opens it, too';
    unlike $daemon->log_text, qr/can't open/, 'without complaint';
};

subtest 'a reload that can\'t open its access log' => sub {
    ok Tenure::Daemon::wait_until(sub { $daemon->children == 5 }), 'the old workers have ended';
    my @before = $daemon->children;
    $daemon->write_config(endpoint => { access_log => "$daemon->{dir}/nowhere/access.log" });
    $daemon->signal('HUP');
    ok Tenure::Daemon::wait_until(sub { $daemon->log_text =~ m{nothing is reloaded: .*nowhere/access\.log} }),
        'is none, and says so';
    is_deeply [ $daemon->children ], \@before, 'its workers stay';
    truncate $log, 0;
    ok $daemon->answers && $daemon->access_text =~ /GET/, 'and so does the log';
    $daemon->write_config;
    is $daemon->stop, 0, 'it ends';
};

subtest 'an access log of root\'s' => sub {
    my $closed = new_daemon(tenure => { user => $user });
    my $path   = "$closed->{dir}/access.log";
    $closed->write_file($path, '');
    chown 0, 0, $path;
    chmod 0640, $path;
    my ($code, $text) = $closed->run('-c', $closed->config_path, '-e', 'service');
    is $code, 73, 'is refused at the start, not at the first rotation';
    like $text, qr/\Q$path\E.*Permission denied/, 'with the reason';
    is((stat $path)[4], 0, 'and not given away');

    my $secret = "$closed->{dir}/secret";
    rename $path, $secret;
    symlink $secret, $path;
    ($code) = $closed->run('-c', $closed->config_path, '-e', 'service');
    is $code, 73, 'nor through a link';
    is((stat $secret)[4], 0, 'is anything given away');

    mkdir "$closed->{dir}/roots", 0755 or die $!;
    unlink $path;
    symlink "$closed->{dir}/roots/nologin", $path;
    ($code, $text) = $closed->run('-c', $closed->config_path, '-e', 'service');
    is $code, 73, 'nor through a link to a name that is not there';
    like $text, qr/\Q$path\E.*Permission denied/, '... where the user may not make a file';
    ok !-e "$closed->{dir}/roots/nologin", 'is anything made by root';
    ok !-S $closed->{socket}, 'no socket stays behind';
};

subtest 'files of keys and rules that only root may read' => sub {
    my $closed = new_daemon(tenure => { user => $user });
    my $secret = 'f00dfeed' x 8;
    my ($made, $key) = Tenure::Run::run('sh', '-c', 'openssl genpkey -algorithm ed25519 | openssl pkey -pubout');
    is $made, 0, 'a key' or diag $key;
    for my $case ([ keys_file => $key, { auth => 'jwt' }, '[jwt]', "issuer = https://id.example.org\naudience = tenure" ],
        [ map => "dns {user}.example.org operator\n", { auth => 'certificate', certificate_secret => $secret }, '[certificate]', '' ]) {
        my ($setting, $text, $endpoint, $section, $more) = @$case;
        my $path = "$closed->{dir}/$setting";
        $closed->write_file($path, $text);
        chown 0, 0, $path or die $!;
        chmod 0600, $path or die $!;
        $closed->write_config(endpoint => $endpoint, more => "$section\n$setting = $path\n$more\n");
        my ($code, $out) = $closed->run('-c', $closed->config_path, '-e', 'service');
        is $code, 78, "$setting: no start, in place of workers that never serve";
        like $out, qr/\Q$section\E $setting: can't open "\Q$path\E": Permission denied/, '... with the reason';
        ok !-S $closed->{socket}, '... and no socket stays behind';
        chmod 0644, $path or die $!;
        is $closed->start && $closed->stop, 0, '... it starts when the user may read the file';
    }
};

subtest 'a configuration that only root may read' => sub {
    my $closed = new_daemon(tenure => { user => $user });
    my $dir    = "$closed->{dir}";
    my $host   = Tenure::Instance::build_dir() . '/tenured-host';
    $closed->write_file("$dir/password", "hunter2\n");
    $closed->write_file("$dir/policy",   "{}\n");
    $closed->write_config(more => "[database]\npassword = \@$dir/password\n[placement]\npolicy = $dir/policy\n");
    for my $file ('tenure.conf', 'password', 'policy', 'wadl/tenancy.wadl') {
        my ($owner, $mode) = (stat "$dir/$file")[ 4, 2 ];
        chown 0, 0, "$dir/$file" or die $!;
        chmod 0600, "$dir/$file" or die $!;
        my ($code, $out) = Tenure::Run::run('timeout', 20, Tenure::Daemon::program(), '-c', $closed->config_path, '-e', 'service');
        is $code, 78, "$file: no start, in place of reloads that fail";
        like $out, qr/\Q$file\E.*Permission denied/, '... with the reason';
        ok !-S $closed->{socket}, '... and no socket stays behind';
        if ($file =~ /conf|password/) {
            ($code, $out) = Tenure::Run::run('timeout', 20, $host, '-c', $closed->config_path);
            is $code, 78, '... nor does tenured-host start';
            like $out, qr/\Q$file\E.*Permission denied/, '... with the reason';
        }
        chmod $mode & 0777 | 0444, "$dir/$file" or die $!;
    }
    is $closed->start && $closed->stop, 0, 'it starts when the user may read them';
};

subtest 'modes, under a strict umask' => sub {
    for my $as ($user, '') {
        my $strict = new_daemon(tenure => { user => $as });
        my $before = umask 077;
        $strict->start(args => [ '-p', "$strict->{dir}/pid" ]);
        umask $before;
        my %mode = map { $_ => sprintf '%04o', (stat "$strict->{dir}/$_")[2] & 07777 } qw(access.log pid shared service.sock);
        is_deeply \%mode, { 'access.log' => '0640', pid => '0644', shared => '0770', 'service.sock' => '0660' }, $as eq '' ? 'of root' : "of $as";
        is $strict->stop, 0, 'it ends';
    }
};

subtest 'a folder of root\'s' => sub {
    my $closed = new_daemon(tenure => { user => $user });
    mkdir "$closed->{dir}/log" or die $!;
    chmod 0755, "$closed->{dir}/log";
    $closed->write_config(endpoint => { access_log => "$closed->{dir}/log/access.log" });
    $closed->start;
    is((stat "$closed->{dir}/log/access.log")[4], $uid, 'root makes the file there for the user');
    $closed->signal('USR1');
    ok Tenure::Daemon::wait_until(sub { $closed->answers }), 'SIGUSR1';
    unlike $closed->log_text, qr/can't open/, 'opens it again';
    is $closed->stop, 0, 'it ends';
};

subtest 'group' => sub {
    my ($group, $number) = (getgrnam 'daemon')[0, 2];
    plan skip_all => 'there is no group daemon' unless $number;
    my $grouped = new_daemon(tenure => { user => $user, group => $group });
    $grouped->start;
    is ids_of($grouped->{pid}, 'Gid'), join(' ', ($number) x 4), 'in place of the user\'s';
    is((stat "$grouped->{dir}/access.log")[5], $number, 'the access log is the group\'s');
    is $grouped->stop, 0, 'it ends';

    $grouped->{tenure}{user} = '';
    $grouped->write_config;
    my ($code, $text) = $grouped->run('-c', $grouped->config_path, '-e', 'service');
    is $code, 78, 'without user it is refused';
    like $text, qr/group.*user/, 'with the reason';
};

subtest 'a user that is not' => sub {
    my $unknown = Tenure::Daemon->new(tenure => { user => 'tenure-no-such-user' });
    for my $args ([], ['-t']) {
        my ($code, $text) = $unknown->run('-c', $unknown->config_path, '-e', 'service', @$args);
        is $code, 78, "is refused: @$args";
        like $text, qr/tenure-no-such-user/, 'and named';
        ($code, $text) = Tenure::Run::run(Tenure::Instance::build_dir() . '/tenured-host', '-c', $unknown->config_path, @$args);
        is $code, 78, "by tenured-host as well: @$args";
        like $text, qr/tenure-no-such-user/, 'and named';
    }
};

subtest 'no user' => sub {
    my $root = new_daemon();
    $root->start;
    like $root->log_text, qr/warning .*root.*user/, 'root stays root, and a warning says so';
    is $root->stop, 0, 'it ends';
};

subtest 'socket_owner' => sub {
    my $owned = new_daemon(tenure => { user => $user }, endpoint => { socket_owner => "$user:$gid" });
    $owned->start;
    is_deeply [ (stat $owned->{socket})[ 4, 5 ] ], [ $uid, $gid ], 'the socket is given away';
    is $owned->stop, 0, 'it ends';
    $owned->write_config(tenure => { user => $user }, endpoint => { socket_owner => ":$gid" });
    $owned->start;
    is((stat $owned->{socket})[4], 0, 'one of which only the group is named is of root, who made it');
    $owned->write_config(tenure => { user => $user }, endpoint => { socket_owner => ":$gid", socket_mode => '0600' });
    $owned->signal('HUP');
    ok Tenure::Daemon::wait_until(sub { $owned->log_text =~ /warning .*socket_mode 0600 takes a restart: \S+: Operation not permitted/ }),
        'its mode takes a restart, which a warning says';
    is $owned->stop, 0, 'it ends';
};

done_testing;
