#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# doc/operations.md, "A cluster in ten commands", as it stands: three hosts, each an address of loopback with a MariaDB that has the default ports.
# What stands here for a host: the state transfer (Tenure::Galera's in place of rsync), apt-get, and systemctl and galera_new_cluster, which tell this
# test what to start.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use IO::Socket::INET;
use POSIX ();
use Test::More;

use Tenure::FastCGI;
use Tenure::Galera;
use Tenure::Instance;
use Tenure::Pages;
use Tenure::Run qw(run read_file write_file);

Tenure::Galera::need();
my $build = Tenure::Instance::build_dir();
plan skip_all => 'tenure is not built' if !defined $build;
# Three addresses whose ports are free; so that this test can run beside itself.
my $net;
for (1 .. 20) {
    my $try = join '.', 127, 1 + int rand 250, 1 + int rand 250;
    my @sockets = map { my $n = $_; map { IO::Socket::INET->new(LocalAddr => "$try.1$n", LocalPort => $_, Listen => 1, Proto => 'tcp', ReuseAddr => 1) } 3306, 4567, 4568 } 1 .. 3;
    $net = $try, last if 9 == grep { defined } @sockets;
}
plan skip_all => 'a server has port 3306, 4567 or 4568 of all addresses' if !defined $net;

my $home = File::Temp->newdir('tenure-cluster-XXXXXX', TMPDIR => 1);
my @pids;
chomp(my $mariadb = `sh -c 'command -v mariadb'`);
my $cluster = Tenure::Galera->prepare(include => sub { return "$home/h$_[0]/60-galera.cnf" });
END { my $status = $?; kill 'TERM', @pids; waitpid $_, 0 for @pids; $? = $status }

for my $host (1 .. 3) {
    mkdir "$home/h$host" or die $!;
    mkdir "$home/h$host/bin";
    my %program = (
        'apt-get'          => 'exit 0',
        systemctl          => "echo \"\$*\" >>'$home/asked'",
        galera_new_cluster => "echo new >>'$home/asked'",
        mariadb            => "exec '" . $mariadb . "' --no-defaults -u root -S '" . $cluster->dir . "/n$host/sock' \"\$@\"",
        'tenure-manage'    => "exec '$build/tenure-manage' -c '$home/h$host/tenure.conf' \"\$@\"",
    );
    for my $name (keys %program) {
        write_file("$home/h$host/bin/$name", "#!/bin/sh\n$program{$name}\n");
        chmod 0755, "$home/h$host/bin/$name";
    }
    write_file("$home/h$host/tenure.conf", "[tenure]\nsql_dir = " . Tenure::Instance::source_dir() . "/sql/schema\nruntime_dir = $home/h$host\n"
        . "wadl_dir = $build/build/wadl\n[host]\nmetrics_socket = $home/h$host/metrics.sock\n"
        . join '', map { "[endpoint $_]\nsocket = $home/h$host/$_.sock\nworkers = 1\npublic_url = https://$_.example.org\n" } qw(service admin));
}

# What a host was asked to do by systemctl or galera_new_cluster.
my %do = (
    'stop mariadb'             => sub { return },
    new                        => sub { $cluster->launch($_[0], '--wsrep-new-cluster'); return },
    'restart mariadb'          => sub { $cluster->launch($_[0]); $cluster->wait_synced($_[0]); return },
    'enable --now tenure-host tenured@service tenured@admin' => sub {
        my ($host) = @_;
        launch($host, "$build/tenured-host");
        launch($host, "$build/tenured", '-e', $_) for qw(service admin);
        ok Tenure::Instance::wait_until(sub { -S "$home/h$host/service.sock" && -S "$home/h$host/admin.sock" }), "host $host: both endpoints serve" or diag read_file("$home/h$host/log");
        return;
    },
);

sub launch {
    my ($host, $program, @options) = @_;
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        open STDOUT, '>>', "$home/h$host/log";
        open STDERR, '>&', \*STDOUT;
        exec $program, '-c', "$home/h$host/tenure.conf", @options or POSIX::_exit(127);
    }
    push @pids, $pid;
    return;
}

sub command {
    my ($host, $text) = @_;
    my %here = ('192.0.2.%' => '127.%', '192.0.2' => $net, '/etc/mysql/mariadb.conf.d/60-galera.cnf' => "$home/h$host/60-galera.cnf",
        '/etc/tenure/tenure.conf' => "$home/h$host/tenure.conf", '/usr/lib/galera/libgalera_smm.so' => Tenure::Galera::provider());
    my $paths = join '|', map { quotemeta } sort { length $b <=> length $a } keys %here;
    $text =~ s/($paths)/$here{$1}/g;
    unlink "$home/asked";
    my ($code, $out) = do {
        local $ENV{PATH} = "$home/h$host/bin:$ENV{PATH}";
        local @ENV{qw(N PASSWORD)} = ($host, 'secret');
        run('sh', '-e', '-c', $text);
    };
    for my $asked (split /\n/, -e "$home/asked" ? read_file("$home/asked") : '') {
        ok exists $do{$asked}, "host $host: $asked" or next;
        $do{$asked}->($host);
    }
    return ($code, $out);
}

my @blocks = grep { $_->{heading} eq 'A cluster in ten commands' } Tenure::Pages::blocks(Tenure::Instance::source_dir(), 'operations.md');
is scalar @blocks, 10, 'ten commands' or die "the page has changed\n";
my @hosts = ([ 1 .. 3 ], [ 1 .. 3 ], [1], [ 2, 3 ], [ 1 .. 3 ], [1], [1], [ 1 .. 3 ], [1], [1]);
my $out;
for my $i (0 .. 9) {
    for my $host (@{ $hosts[$i] }) {
        my $code;
        # The host services, which the command before started, make a node the writer: a reader's hands give them the seconds for that.
        Tenure::Instance::wait_until(sub { (($code, $out) = command($host, $blocks[$i]{text}))[0] == 0 || $i != 8 });
        is $code, 0, 'command ' . ($i + 1) . " on host $host" or diag $out;
    }
    next if $i != 8;
    like $out, qr/^\Q$net\E\.11 +n1 +writer +Synced *$/m, 'n1 is the writer';
    is((() = $out =~ /^\Q$net\E\.1[23] +n[23] +ready +Synced *$/mg), 2, '... and the others could be it');
}
like $out, qr/^n2 is the writer$/, 'the switch';
for my $host (1 .. 3) {
    ok Tenure::Instance::wait_until(sub { Tenure::FastCGI->get("$home/h$host/service.sock", uri => '/healthz')->{status} eq '200' }), "the service endpoint of host $host answers";
}

$cluster->kill_node(2);
ok Tenure::Instance::wait_until(sub { (command(1, 'tenure-manage cluster status'))[1] =~ / n[13] +writer +Synced/ }, 60), 'another becomes the writer when it is gone';
my ($code, $text) = command(1, 'tenure-manage doctor');
is $code, 0, 'the database is sound' or diag $text;
is_deeply [ $text =~ /warning: (.*)/g ], [ $text =~ /warning: (node \Q$net\E\.12: does not answer)/g ], 'doctor has nothing against the settings';

done_testing;
