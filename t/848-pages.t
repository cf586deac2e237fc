#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The commands of doc/migration-accounts.md and doc/migration-ironic.md, as they stand, against a real service.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use Test::More;

use Tenure::Instance;
use Tenure::Run qw(run);

my $build = Tenure::Instance::build_dir();
plan skip_all => 'tenure is not built' if !defined $build || !-x "$build/tenure";
my $instance = Tenure::Instance->start(auth => 'token', allow => [qr/public_url/]);
my $admin    = $instance->admin;
my $home     = File::Temp->newdir('tenure-pages-XXXXXX', TMPDIR => 1);
mkdir "$home/$_" or die "$home/$_: $!" for qw(bin work);
symlink "$build/tenure", "$home/bin/tenure" or die "symlink: $!";
open my $wrapper, '>', "$home/bin/tenure-manage" or die $!;
print {$wrapper} "#!/bin/sh\nexec '$build/tenure-manage' -c '" . $instance->env('TENURE_CONFIG') . qq(' "\$\@"\n);
close $wrapper;
chmod 0755, "$home/bin/tenure-manage";

# All blocks marked sh of a page, in one shell.
sub commands {
    my ($page) = @_;
    my $text = Tenure::Instance::read_file(Tenure::Instance::source_dir() . "/doc/$page");
    return join '', $text =~ /^```sh\n(.*?)^```$/msg;
}

sub runs {
    my ($page) = @_;
    my ($code, $out) = run('env', '-i', "HOME=$home", "PATH=$home/bin:$ENV{PATH}", 'TENURE_URL=' . $instance->env('TENURE_ADMIN_URL'),
        'TENURE_TOKEN=' . $instance->operator_token, 'sh', '-ec', 'cd "$1"; eval "$2"', 'sh', "$home/work", commands($page));
    is $code, 0, "$page: all succeed" or diag $out;
    unlike $out, qr/not made/, '... and make all';
    return $out;
}

subtest 'lists of accounts' => sub {
    my $out = runs('migration-accounts.md');
    my $alice = $admin->get('/v2.0/alice')->json->{tenant};
    is $alice->{tier}, 'small', 'the plan is the tier';
    is $alice->{metadata}{email}, 'alice@example.org', '... and the rest metadata';
    is $admin->get('/v2.0/erin')->json->{tenant}{metadata}{domain}, 'erin.example.net', 'of cPanel';
    is $admin->get('/v2.0/frank')->json->{tenant}{metadata}{'quota-bytes'}, '1073741824', 'of Swift';
    is $admin->get('/v2.0/bob/namespaces/default/configmaps/bob-wiki')->json->{data}{engine}, 'postgresql', 'what an account owns';
    my $token = Tenure::Instance::read_file("$home/work/token-bob") =~ s/\s+\z//r;
    $instance->service($token)->get('/v2.0/bob/configmaps')->is_status(200, "a user's token");
    my ($code, $again) = run('env', '-i', "HOME=$home", "PATH=$home/bin:$ENV{PATH}", 'TENURE_URL=' . $instance->env('TENURE_ADMIN_URL'),
        'TENURE_TOKEN=' . $instance->operator_token, 'sh', '-c', 'cd "$1"; tenure tenant set alice --tier large --etag new', 'sh', "$home/work");
    is $code, 5, 'a second time nothing is overwritten';
    is $admin->get('/v2.0/alice')->json->{tenant}{tier}, 'small', '... as promised';
};

subtest 'Ironic' => sub {
    my $out = runs('migration-ironic.md');
    my %version = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
    my $node = $admin->get('/baremetal/v1/nodes/6d85703a-565d-469a-96ce-30b6de53079d', %version)->json;
    is_deeply [@$node{qw(name owner resource_class traits)}], ['rack1-u7', 'acme', 'large', ['HW_CPU_X86_VMX']], 'a node with its owner and traits';
    is $node->{properties}{cpus}, 32, '... and properties';
    is $admin->get('/baremetal/v1/ports/d2b30520-907d-46c8-bfee-c5586e6fb3a1', %version)->json->{physical_network}, 'physnet1', 'a port';
};

done_testing;
