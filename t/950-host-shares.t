#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Fair shares of workers, behind each of the web servers: while one tenant keeps busy all the workers that it may have, the
# requests of other tenants find a free one. The file that the workers share may be lost meanwhile.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use IO::Select;
use Test::More;
use Time::HiRes ();

use Tenure::Instance;
use Tenure::Parallel;

my ($workers, $many) = (4, 9);
my $path = '/v2.0/modest/namespaces/default/configmaps';

sub shared_file {
    my ($instance) = @_;
    my ($file) = glob(($instance->{dir}) . '/shared/shared-v*');
    my $short = Tenure::Run::read_file("$instance->{dir}/run/short");
    chomp $short;
    ($file) = glob "$short/shared/shared-v*" if !defined $file;
    return $file;
}

# Of the tenant's workers all are held by a row that somebody has locked: its other requests are refused, and others are served.
sub check_shares {
    my ($instance, $what) = @_;
    my $greedy = $instance->service('eve:greedy:admin');
    my $lock = $instance->sql_locks("SELECT id FROM tenants WHERE name = 'greedy' FOR UPDATE");
    my @asked = map { Tenure::Parallel::begin($greedy, 'PUT', "/v2.0/greedy/namespaces/default/configmaps/c$_", json => { data => {} }) } 1 .. $many;
    my %by_handle = map { $_->{read} => $_ } @asked;
    my $select = IO::Select->new(map { $_->{read} } @asked);
    my @refused;
    my $until = Time::HiRes::time() + 30;
    while (@refused < $many - $workers && Time::HiRes::time() < $until) {
        for my $ready ($select->can_read(1)) {
            $select->remove($ready);
            push @refused, Tenure::Parallel::told($by_handle{$ready});
        }
    }
    is scalar @refused, $many - $workers, "$what: what is more than the tenant's share is refused";
    is_deeply [ grep { $_ ne '429 1' } @refused ], [], "$what: with 429 and Retry-After";
    is $instance->service('ann:modest:admin')->get($path)->{status}, 200, "$what: another tenant is served meanwhile";
    is $instance->admin->get($path)->{status}, 200, "$what: and so is the operator";
    is_deeply [ $select->can_read(0) ], [], "$what: while the first still wait";
    print {$lock} "ROLLBACK;\n";
    close $lock;
    my @done = map { Tenure::Parallel::told($by_handle{$_}) } $select->handles;
    is_deeply [ grep { !/^20[01] / } @done ], [], "$what: which are done in the end";
    return;
}

for my $name ('lighttpd', 'nginx', 'apache-proxy', 'apache-fcgid') {
    subtest $name => sub {
        plan skip_all => "$name is not installed"
            unless Tenure::Instance::on_path($name =~ /apache/ ? 'apache2' : $name) &&
            ($name ne 'apache-fcgid' || -e '/usr/lib/apache2/modules/mod_fcgid.so');
        my $instance = Tenure::Instance->start(server => $name, workers => $workers, reserve => 1, settings => {
            'database.lock_wait' => 60 });
        $instance->admin->make_tenant($_) for 'greedy', 'modest';
        # All processes of mod_fcgid are there.
        $instance->service('ann:modest:admin')->get($path) for 1 .. 5;
        check_shares($instance, 'shares');

        my $file = shared_file($instance);
        ok defined $file && -s $file, 'a file that the workers share';
        truncate $file, 0;
        is $instance->service('ann:modest:admin')->get($path)->{status}, 200, 'it is truncated: requests go on';
        Time::HiRes::sleep(2.5);
        $instance->service('ann:modest:admin')->get($path) for 1 .. 10;
        ok -s shared_file($instance), 'and there is another';
        unlink $file;
        Time::HiRes::sleep(2.5);
        $instance->service('ann:modest:admin')->get($path) for 1 .. 10;
        check_shares($instance, 'with the file replaced') if $name eq 'lighttpd' || $name eq 'apache-fcgid';
        $instance->stop;
    };
}

# A project's usages are open to all its users, whatever their roles, and are a request of it like any other.
subtest 'usages of placement' => sub {
    my $instance = Tenure::Instance->start(combined => 1, workers => $workers, settings => { 'tenure.tenant_requests' => 1, 'database.lock_wait' => 60 });
    $instance->admin->make_tenant($_) for 'greedy', 'modest';
    my $status = sub {
        my ($tenant) = @_;
        return $instance->combined("eve:$tenant")->get("/placement/usages?project_id=$tenant", headers => { 'OpenStack-API-Version' => 'placement 1.9' })->status;
    };
    my $lock  = $instance->sql_locks("SELECT id FROM tenants WHERE name = 'greedy' FOR UPDATE");
    my $asked = Tenure::Parallel::begin($instance->combined('eve:greedy'), 'PUT', '/v2.0/greedy/namespaces/default/configmaps/c', json => { data => {} });
    my $refused;
    ok Tenure::Instance::wait_until(sub { ($refused = $status->('greedy')) != 200 }), 'refused while the tenant has all its requests in progress';
    is $refused, 429, '... with 429';
    is $status->('modest'), 200, 'another tenant is served';
    is $instance->combined(undef)->get('/healthz')->status, 200, 'and so is who has no tenant';
    print {$lock} "ROLLBACK;\n";
    close $lock;
    is Tenure::Parallel::told($asked), '201 -', 'the first is done in the end';
    is $status->('greedy'), 200, 'and then the next is served';
    $instance->stop;
};

done_testing;
