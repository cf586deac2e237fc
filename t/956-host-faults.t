#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A worker whose request never ends is killed, and a disk that is full does not stop the service.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;
use Time::HiRes ();

use Tenure::Instance;
use Tenure::Parallel;

subtest 'a request that hangs' => sub {
    my $instance = Tenure::Instance->start(workers => 2, settings => { 'tenure.worker_deadline' => '4s', 'database.lock_wait' => '60s' },
        allow => [qr/(?:worker|process) \d+ ended by signal 9/]);
    $instance->admin->make_tenant('greedy');
    my $locked = sub { return $instance->sql_locks("SELECT id FROM tenants WHERE name = 'greedy' FOR UPDATE") };
    my $begun = sub { return Tenure::Parallel::begin($instance->admin, 'PUT', '/v2.0/greedy/namespaces/default/configmaps/c', json => { data => {} }) };
    my ($lock, $asked) = ($locked->(), $begun->());
    like Tenure::Parallel::told($asked), qr/^5\d\d /, 'ends';
    like $instance->log_text('admin'), qr/is killed: its request takes longer than worker_deadline/, 'its worker was killed';
    print {$lock} "ROLLBACK;\n";
    close $lock;
    ok Tenure::Instance::wait_until(sub { $instance->admin->get('/v2.0/greedy')->{status} == 200 }), 'another serves';

    ($lock, $asked) = ($locked->(), $begun->());
    my $waiting = "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
    ok Tenure::Instance::wait_until(sub { Time::HiRes::sleep(0.2); $instance->sql_value($waiting) > 0 }), 'one hangs';
    kill 'HUP', $instance->master_pid('admin');
    like Tenure::Parallel::told($asked), qr/^5\d\d /, 'ends, with the configuration loaded anew meanwhile';
    like $instance->log_text('admin'), qr/ reloaded: .* is killed: its request takes longer than worker_deadline/s, 'its worker was killed, too';
    print {$lock} "ROLLBACK;\n";
    close $lock;
    $instance->stop;
};

subtest 'an access log on a full disk' => sub {
    plan skip_all => 'there is no /dev/full' unless -c '/dev/full';
    my $instance = Tenure::Instance->start(workers => 1, settings => { 'endpoint_service.access_log' => '/dev/full' });
    $instance->admin->make_tenant('t1');
    my $service = $instance->service('ann:t1:admin');
    is $service->put("/v2.0/t1/namespaces/default/configmaps/c$_", json => { data => {} })->{status}, 201, 'requests go on' for 1 .. 3;
    like $instance->log_text('service'), qr/the access log can't be written: No space left on device/, 'the log says so';
    is scalar(() = $instance->log_text('service') =~ /access log can't be written/g), 1, 'once';
    my $health = $service->get('/healthz');
    is $health->{status}, 200, 'it is healthy';
    like $health->json->{access_log}, qr/lost/, 'and says what is not well';
    is $instance->admin->get('/healthz')->json->{access_log}, undef, 'where it is';
    $instance->stop;
};

done_testing;
