#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure-manage maintenance: changes are refused in each dialect's form while reads go on, from one moment on, by all processes, through
# restarts; and it costs no round trip.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use IO::Select;
use POSIX ();
use Test::More;

use Tenure::DatabaseProxy;
use Tenure::FastCGI;
use Tenure::Instance;
use Tenure::Metrics;
use Tenure::RoundTrips;
use Tenure::Tool;

my $instance = Tenure::Instance->start(combined => 1, workers => 2,
    settings => { 'tenure.move_sync_max' => 1, 'database.lock_wait' => 60 });
my $admin    = $instance->admin;
my $all      = $instance->combined('admin');
my $socket   = $instance->env('TENURE_METRICS_SOCKET');

sub manage {
    my ($want, $name, @args) = @_;
    my ($code, $text) = $instance->manage('maintenance', @args);
    is $code, $want, $name or diag $text;
    return $text;
}
sub gauge { return Tenure::Metrics::of_socket($socket)->{$_[0]} }

$admin->make_tenant($_) for 'acme', 'dest';
$admin->make("/v2.0/acme/namespaces/default/configmaps/c$_") for 1 .. 3;
my $map = '/v2.0/acme/namespaces/default/configmaps/c1';

like manage(0, 'status', 'status'), qr/\Aoff\n\z/, 'it is off';
like manage(64, 'a reason with a line break is refused', 'on', '--reason', "a\nb"), qr/--reason is up to 500 bytes/, 'and told why';
like manage(64, 'so is a time that is none', 'on', '--retry-after', 'soon'), qr/--retry-after "soon": a number of seconds/, 'and told why';
like manage(64, 'and one beyond a month', 'on', '--retry-after', '31d'), qr/30d at most/, 'and told why';
$admin->put("$map-a", json => {})->is_status(201, 'refused commands stop nothing');

# A session of the console, which was not used for a while.
my %console = ('X-Tenure-Console' => '1');
my ($cookie) = split /;/, $all->post('/session', as => 'ann:acme', headers => {%console})->header('set-cookie');
$instance->sql('UPDATE sessions SET used_at = used_at - INTERVAL 5 MINUTE, created_at = created_at - INTERVAL 10 MINUTE');
my $used_at = sub { return $instance->sql_value('SELECT used_at FROM sessions') };
my $by_cookie = sub {
    my ($what) = @_;
    return $all->request('GET', '/session', as => undef, headers => { %console, Cookie => $cookie })->is_status(200, "by a session, $what");
};

subtest 'it waits for what began before' => sub {
    my $lock = $instance->sql_locks(q(SELECT id FROM resources WHERE name = 'c1' FOR UPDATE));
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        my $answer = $admin->put($map, json => { data => { a => 'b' } });
        POSIX::_exit($answer->status - 100);
    }
    ok Tenure::Instance::wait_until(sub { $instance->count_lock_waits }), 'a change is in flight';
    my $told   = $instance->dir . '/told';
    my $manage = fork // die "fork: $!";
    if ($manage == 0) {
        open STDERR, '>', $told or die "$told: $!";
        exec Tenure::Instance::build_dir() . '/tenure-manage', '-c', $instance->env('TENURE_CONFIG'), 'maintenance', 'on', '--reason',
            'Moving the <database> & more', '--retry-after', '2m';
    }
    ok Tenure::Instance::wait_until(sub { $instance->sql_value(q(SELECT COUNT(*) FROM settings WHERE name = 'maintenance')) }), 'the command has begun';
    $admin->put("$map-b", json => {})->is_problem(503, 'unavailable', 'what comes now is refused already');
    ok Tenure::Instance::wait_until(sub { Tenure::Run::read_file($told) =~ /new changes are refused; waiting for the end of those that began before/ }),
        'it says what it waits for';
    is waitpid($manage, POSIX::WNOHANG()), 0, 'the command has not ended';
    print {$lock} "ROLLBACK;\n";
    waitpid $pid, 0;
    is 100 + ($? >> 8), 200, 'the change is made';
    waitpid $manage, 0;
    is $? >> 8, 0, 'then the command ends';
};

subtest 'interrupted' => sub {
    manage(0, 'off', 'off');
    my $lock = $instance->sql_locks(q(SELECT id FROM resources WHERE name = 'c1' FOR UPDATE));
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        my $answer = $admin->put($map, json => { data => { c => 'd' } });
        POSIX::_exit($answer->status - 100);
    }
    ok Tenure::Instance::wait_until(sub { $instance->count_lock_waits }), 'a change is in flight';
    my $told   = $instance->dir . '/told-2';
    my $manage = fork // die "fork: $!";
    if ($manage == 0) {
        open STDERR, '>', $told or die "$told: $!";
        exec Tenure::Instance::build_dir() . '/tenure-manage', '-c', $instance->env('TENURE_CONFIG'), 'maintenance', 'on', '--reason',
            'Moving the <database> & more', '--retry-after', '2m';
    }
    ok Tenure::Instance::wait_until(sub { -e $told && Tenure::Run::read_file($told) =~ /waiting for the end of those/ }), 'the command waits for it';
    kill INT => $manage;
    waitpid $manage, 0;
    isnt $?, 0, 'interrupted, it does not end with 0';
    like manage(0, 'status', 'status'), qr/\Aon since /, 'new changes are refused already';
    print {$lock} "ROLLBACK;\n";
    waitpid $pid, 0;
    is 100 + ($? >> 8), 200, 'but the earlier one is made';
    manage(0, 'run again, it ends with 0', 'on', '--reason', 'Moving the <database> & more', '--retry-after', '2m');
};

# Lets none of the tries wait, so that a quarter of an hour is over at once.
package Impatient {
    use parent -norequire, 'Tenure::DatabaseProxy';

    sub _relay {
        my ($self, $client, $server) = @_;
        my $select = IO::Select->new($client, $server);
        while (1) {
            for my $socket ($select->can_read) {
                sysread $socket, my $bytes, 1 << 16 or return;
                Tenure::DatabaseProxy::send_all($socket == $client ? $server : $client, $bytes =~ s/FOR UPDATE WAIT 1/FOR UPDATE NOWAIT/r);
            }
        }
    }
}

subtest 'its patience ends' => sub {
    # Before the session, so that its process has no end of the session's pipe.
    my $proxy = Impatient->new($instance->env('TENURE_DB_SOCKET'), $instance->dir);
    my $lock  = $instance->sql_locks(q(SELECT name FROM settings WHERE name = 'etag_key' LOCK IN SHARE MODE));
    local $ENV{TENURE_DATABASE_SOCKET} = $proxy->path;
    like manage(75, 'it ends with 75', 'on', '--reason', 'Moving the <database> & more', '--retry-after', '2m'),
        qr/new changes are refused, but one that began before still goes on: run this again/, 'and says what to do';
    like manage(0, 'status', 'status'), qr/\Aon since /, 'new changes are refused';
    print {$lock} "ROLLBACK;\n";
    close $lock;
    ok Tenure::Instance::wait_until(sub { ($instance->manage('maintenance', 'on', '--reason', 'Moving the <database> & more', '--retry-after', '2m'))[0] == 0 }),
        'run again when that has ended, it ends with 0';
};

my @rows = $instance->sql('CHECKSUM TABLE tenants, resources, changes, moves, forwards, tokens, traits, resource_traits, providers, inventories, consumers');
like manage(0, 'status', 'status'), qr/\Aon since \d{4}-\d\d-\d\dT\S+Z, Retry-After 120: Moving the <database> & more\n\z/, 'status tells it';

sub refused {
    my ($answer, $name, $words) = @_;
    $answer->is_status(503, $name);
    is $answer->header('retry-after'), '120', "$name: when to try again";
    like $answer->text, $words // qr/no changes are made at the moment: Moving the <database> & more/, "$name: why";
    return;
}

subtest 'every dialect refuses changes in its form' => sub {
    my $answer = $admin->put("$map-c", json => {});
    $answer->is_problem(503, 'unavailable', 'tenancy');
    refused($answer, 'tenancy');
    refused($admin->put("$map-c", json => {}, accept => 'application/xml'), 'tenancy in XML', qr/Moving the &lt;database&gt; &amp; more/);
    refused($admin->put('/v1.0/new', json => {}), 'accounts');
    refused($admin->delete('/v2.0/dest'), 'a deletion');
    refused($admin->post('/v2.0/acme/action/move?dest=dest'), 'a move');
    refused($admin->post('/v2.0/acme/action/move?dest=dest', prefer => 'respond-async'), 'a move in the background');
    my $metal = $all->post('/baremetal/v1/nodes', json => { driver => 'fake-hardware' });
    refused($metal, 'bare metal');
    like $metal->text, qr/"error_message"/, 'bare metal: its form';
    my $placement = $all->post('/placement/resource_providers', json => { name => 'p' });
    refused($placement, 'placement');
    is ref $placement->json->{errors}, 'ARRAY', 'placement: its form';
    my $space = $all->post('/api/v1/tenants/acme/namespaces/default/configmaps', json => { apiVersion => 'v1', kind => 'ConfigMap', metadata => { name => 'k' } });
    refused($space, 'spaces');
    is $space->json->{kind}, 'Status', 'spaces: its form';
    is_deeply [map { JSON::PP::is_bool($_) ? "$_" : $_ } $answer->json->{done}, $metal->json->{done}, $placement->json->{errors}[0]{done}], [0, 0, 0],
        'each says that nothing was done';
    is_deeply $space->json->{details}{causes}, [{ reason => 'NothingDone', message => 'nothing was changed' }], 'a Status as one of its causes';
    like $admin->put("$map-c", json => {}, accept => 'application/xml')->text, qr{<done>false</done>}, 'tenancy in XML, too';
    my $tool = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => $instance->operator_token, tenant => 'acme');
    like $tool->ends(69, qw(configmaps patch c1 data.e=f --no-etag))->{err}, qr/Moving the <database>/, 'the command-line tool believes it, and passes on the reason';
    $admin->put("$map-c", body => '{', type => 'application/json')->is_problem(400, undef, 'a body that is none is told so');
    $admin->as('nobody:acme:reader')->put("$map-c", json => {})->is_problem(403, 'forbidden', 'so is a missing right');
};

# Whatever a worker has served before.
subtest 'a session is not renewed' => sub {
    my $before = $used_at->();
    for my $round (1 .. 6) {
        $all->get('/v2.0/acme')->is_status(200, 'a read');
        $by_cookie->('behind a read');
    }
    for my $round (1 .. 6) {
        refused($all->put("$map-d", json => {}), 'a change');
        $by_cookie->('behind a change');
    }
    is $used_at->(), $before, 'its use is not recorded';
    unlike $instance->log_text('combined'), qr/a session's use can't be recorded/, '... which the log does not mention';
};

subtest 'reads go on' => sub {
    $admin->get($_)->is_status(200) for '/v2.0/acme', $map, '/v2.0/acme/action/move?dest=dest', '/v2.0/acme/changes', '/healthz';
    $all->get($_)->is_status(200) for '/baremetal/v1/nodes', '/placement/resource_providers', '/api/v1/tenants/acme/namespaces/default/configmaps';
    $instance->service('new:unheard-of:admin')->get('/v2.0/unheard-of')->is_status(404, 'a tenant that a request would make is not there');
};

my $counter = Tenure::RoundTrips->new($instance);
my $service = $counter->worker('service');
my $serial  = 0;
my $put = sub {
    my ($want, $name) = @_;
    my ($answer, @trips) = $counter->trips(sub {
        my $it = Tenure::FastCGI->get($service, uri => "$map-s" . $serial++, method => 'PUT', body => '{}',
            params => [HTTP_X_AUTH_TOKEN => 'ann:acme:admin', CONTENT_TYPE => 'application/json']);
        return $it;
    });
    is $answer->{status}, $want, "$name: $want" or diag $answer->{raw};
    return scalar @trips;
};

subtest 'it stays through a restart, and another host\'s workers know it' => sub {
    $put->('503', 'a worker that was started since');
};

subtest 'those who look are told' => sub {
    ok Tenure::Instance::wait_until(sub { gauge('tenure_maintenance_since_timestamp_seconds') }), 'metrics';
    like(($instance->manage('status'))[1], qr/^MAINTENANCE     no changes for \d+ s; see tenure-manage maintenance status$/m, 'status');
    my ($code, $told) = $instance->manage('doctor');
    is $code, 0, 'doctor finds nothing wrong';
    like $told, qr/warning: changes are stopped for maintenance since \S+, Retry-After 120: Moving/, 'and says it';
    my $build = Tenure::Instance::build_dir();
    ($code, $told) = Tenure::Run::run(Tenure::Instance::source_dir() . '/scripts/check_tenure', '--manage', "$build/tenure-manage", '-c',
        $instance->env('TENURE_CONFIG'), '--reap-age', ',');
    is $code, 1, 'check_tenure warns' or diag $told;
    like $told, qr/changes have been stopped for maintenance for \d+ s/, 'and says why';
    ($code, $told) = $instance->manage('reap');
    is $code, 75, 'reap waits';
    like $told, qr/changes are stopped for maintenance: `tenure-manage maintenance off` allows them again/, 'and says for what';
};

is_deeply [ $instance->sql('CHECKSUM TABLE tenants, resources, changes, moves, forwards, tokens, traits, resource_traits, providers, inventories, consumers') ], \@rows,
    'nothing has been changed by all this';
manage(0, 'another reason', 'on');
like manage(0, 'status', 'status'), qr/\Aon since \S+, Retry-After 60\n\z/, 'takes the place of the first';
$admin->put("$map-c", json => {})->is_problem(503, 'unavailable');
like $admin->put("$map-c", json => {})->detail, qr/: the operator is maintaining the registry\z/, 'without a reason clients are told what it is';
my ($code, $token) = $instance->manage('token', 'create', '--operator', '--user', 'x');
is $code, 0, 'what tenure-manage does goes on';
is manage(0, 'off', 'off'), '', 'without a word';
my $idle = $used_at->();
$by_cookie->('when it is over');
isnt $used_at->(), $idle, '... and its use is recorded';
like manage(0, 'off once more', 'off'), qr/changes were not stopped/, 'says so';
$admin->put("$map-c", json => {})->is_status(201, 'changes are made again');
is $put->(201, q(that worker makes changes)), 3, q(in as many round trips as without the question);
ok Tenure::Instance::wait_until(sub { !gauge('tenure_maintenance_since_timestamp_seconds') }), 'metrics have forgotten it';

subtest 'the background waits, and goes on' => sub {
    kill STOP => my @stop = $instance->movers;
    my $move = $admin->post('/v2.0/acme/action/move?dest=dest', prefer => 'respond-async');
    $move->is_status(202, 'a move');
    manage(0, 'on', 'on');
    kill CONT => @stop;
    sleep 2;
    is $instance->sql_value(q(SELECT state FROM moves)), 'queued', 'is not carried out';
    manage(0, 'off', 'off');
    ok Tenure::Instance::wait_until(sub { $instance->sql_value(q(SELECT state FROM moves)) eq 'done' }), 'until changes are allowed again';
};

subtest 'writers beside it' => sub {
    my @writers = map {
        my $i = $_;
        my $pid = fork // die "fork: $!";
        if ($pid == 0) {
            for my $k (1 .. 100000) {
                my $status = $admin->put("/v2.0/acme/persistentvolumes/w$i-$k", json => {})->status;
                POSIX::_exit($status == 503 ? 0 : 1) if $status != 201;
            }
            POSIX::_exit(2);
        }
        $pid;
    } 1 .. 4;
    ok Tenure::Instance::wait_until(sub { $instance->change_count > 100 }), 'write';
    manage(0, 'on', 'on');
    my $changes = $instance->change_count;
    for (@writers) { waitpid $_, 0; is $? >> 8, 0, 'are refused' }
    is $instance->change_count, $changes, 'nothing was written after the command had ended';
    manage(0, 'off', 'off');
};

done_testing;
