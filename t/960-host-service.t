#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The host service: one of several works, another takes over; it carries out moves and purges where the web server starts the
# workers, waits for a database that is away, reloads and stops; doctor tells when it is missing.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use POSIX ();
use Test::More;

use Tenure::Daemon;
use Tenure::Instance;
use Tenure::Run;

my $program = Tenure::Instance::build_dir() . '/tenured-host';

sub comm { my ($pid) = @_; return Tenure::Daemon::name_of($pid) }

# A host service of its own, of that configuration; its log is a file.
sub launch {
    my ($config, $log, @more) = @_;
    my $pid = fork // die "fork: $!";
    return $pid if $pid;
    open STDOUT, '>>', $log or POSIX::_exit(127);
    open STDERR, '>&', \*STDOUT or POSIX::_exit(127);
    exec $program, '-c', $config, @more or POSIX::_exit(127);
}

sub end_of {
    my ($pid) = @_;
    my $ended = Tenure::Daemon::wait_until(sub { waitpid($pid, POSIX::WNOHANG()) == $pid });
    return !$ended ? 'it goes on' : $? & 127 ? 'signal ' . ($? & 127) : $? >> 8;
}

sub logged { my ($log, $what) = @_; return Tenure::Daemon::wait_until(sub { Tenure::Run::read_file($log) =~ $what }) }

sub children { my ($pid) = @_; return map { comm($_) } Tenure::Instance::children_of($pid) }

subtest 'several on one host, no database' => sub {
    my $daemon = Tenure::Daemon->new; # for its configuration alone, which names a database that is not there
    my @log    = map { "$daemon->{dir}/host$_.log" } 1 .. 3;
    my $config = $daemon->config_path;
    my $first  = launch($config, $log[0], '-p', "$daemon->{dir}/host.pid");
    ok logged($log[0], qr/does this host's background work/), 'the first one works';
    ok Tenure::Daemon::wait_until(sub { join(' ', sort(children($first))) eq 'tenured-deliver tenured-mover tenured-observe tenured-reaper tenured-usage' }), 'by a deliverer, a mover, an observer, a reaper and a counter of usage';
    is Tenure::Run::read_file("$daemon->{dir}/host.pid"), "$first\n", 'its process id is in the file';
    ok logged($log[0], qr/webhooks wait for the database: /), 'what sends to webhooks waits';
    my $second = launch($config, $log[1]);
    ok logged($log[1], qr/process $first does this host's background work; this one waits/), 'the second one waits';
    is_deeply [ children($second) ], [], 'without children';

    my ($mover) = grep { comm($_) eq 'tenured-mover' } Tenure::Instance::children_of($first);
    kill KILL => $mover;
    ok logged($log[0], qr/mover $mover ended by signal 9 \(Killed\); another starts/), 'a mover that is killed';
    ok Tenure::Daemon::wait_until(sub { join(' ', sort(children($first))) eq 'tenured-deliver tenured-mover tenured-observe tenured-reaper tenured-usage' }), 'is replaced';

    my @before = Tenure::Instance::children_of($first);
    for my $other ([ more => "[database]\nname = another\n[host]\nreap_interval = 0\n" ], [ tenure => { runtime_dir => "$daemon->{dir}/other" }, more => "[host]\nreap_interval = 0\n" ]) {
        truncate $log[0], 0 or die "truncate: $!";
        $daemon->write_config(@$other);
        kill HUP => $first;
        ok logged($log[0], qr/nothing is reloaded: another runtime_dir or database takes a restart/), "SIGHUP with another $other->[0]: is refused";
        is_deeply [ Tenure::Instance::children_of($first) ], \@before, 'what it had started works on';
    }
    $daemon->write_config(more => "[host]\nreap_interval = 0\n");
    kill HUP => $first;
    ok Tenure::Daemon::wait_until(sub { join(' ', sort(children($first))) eq 'tenured-deliver tenured-mover tenured-observe tenured-usage' }), 'SIGHUP takes a new configuration';
    ok logged($log[0], qr/: reloaded/), 'and says so';
    $daemon->write_file($config, "[host]\nreap_interval = sometimes\n");
    kill HUP => $first;
    ok logged($log[0], qr/nothing is reloaded: .*reap_interval/), 'one that is wrong is refused';
    # Those of before the reload may still be about to end.
    ok Tenure::Daemon::wait_until(sub { join(' ', sort(children($first))) eq 'tenured-deliver tenured-mover tenured-observe tenured-usage' }), 'and changes nothing';
    $daemon->write_config;

    my @children = Tenure::Instance::children_of($first);
    kill KILL => $first;
    is end_of($first), 'signal 9', 'the first one is killed';
    ok logged($log[1], qr/: does this host's background work/), 'the second one takes over';
    ok Tenure::Daemon::wait_until(sub { !grep { Tenure::Daemon::is_running($_) } @children }), 'what the first one had started ends';

    my ($lock) = glob "$daemon->{dir}/shared/host-*.lock";
    my $third = launch($config, $log[2]);
    ok logged($log[2], qr/this one waits/), 'a third one waits';
    unlink $lock or die $!;
    ok Tenure::Daemon::wait_until(sub { -e $lock && 1 == grep { scalar children($_) } $second, $third }),
        'if the lock is removed, one of them works in the end';

    for my $pid ($second, $third) {
        @children = Tenure::Instance::children_of($pid);
        kill TERM => $pid;
        is end_of($pid), 0, 'SIGTERM ends it';
        is_deeply [ grep { Tenure::Daemon::is_running($_) } @children ], [], 'with its children';
    }
    unlink $lock or die $!;
    mkdir $lock or die $!;
    $third = launch($config, $log[2]);
    ok logged($log[2], qr{no background work is done, since there is no lock in \Q$daemon->{dir}\E/shared: }), 'a lock that cannot be had';
    rmdir $lock or die $!;
    ok logged($log[2], qr/: does this host's background work/), 'it works when it can';
    kill TERM => $third;
    is end_of($third), 0, '... and ends';
    my ($code, $text) = Tenure::Run::run($program, '-c', $config, '-t');
    is "$code $text", "0 Syntax OK\n", '-t';
    $daemon->write_file($config, "[host]\nreap_interval = sometimes\n");
    ($code, $text) = Tenure::Run::run($program, '-c', $config);
    is $code, 78, 'a wrong configuration: exit code 78' or diag $text;
    ($code, $text) = Tenure::Run::run($program, '-c', $config, 'again');
    is $code, 64, 'a wrong command line: 64' or diag $text;
};

subtest 'one that takes over the pid file' => sub {
    my $daemon = Tenure::Daemon->new;
    my ($log, $file) = map { "$daemon->{dir}/$_" } 'host.log', 'host.pid';
    my $old = launch($daemon->config_path, $log, '-p', $file);
    ok logged($log, qr/does this host's background work/), 'one works';
    my $new = launch($daemon->config_path, $log, '-p', $file);
    ok logged($log, qr/this one waits/), 'another one is started before the first one ends';
    kill TERM => $old;
    is end_of($old), 0, 'the first one ends';
    is Tenure::Run::read_file($file), "$new\n", '... and leaves the file, which is not its own any more';
    kill TERM => $new;
    is end_of($new), 0, 'so does the second one';
    ok !-e $file, '... and removes it';
};

# The file that is shared would get the number of what is closed, and the log would be written into it.
subtest 'without standard error' => sub {
    my $daemon = Tenure::Daemon->new;
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        exec 'sh', '-c', 'exec "$0" "$@" <&- >&- 2>&-', $program, '-c', $daemon->config_path or POSIX::_exit(127);
    }
    ok Tenure::Daemon::wait_until(sub { children($pid) == 5 }), 'it works';
    my ($file) = glob "$daemon->{dir}/shared/shared-v*";
    like Tenure::Run::read_file($file), qr/\Atenure shared /, '... and writes nothing into its files';
    kill TERM => $pid;
    is end_of($pid), 0, 'it ends';
};

sub queue {
    my ($admin, $n) = @_;
    $admin->make_tenant($_) for "from$n", "to$n";
    $admin->make("/v2.0/from$n/persistentvolumes/p");
    my $post = $admin->post("/v2.0/from$n/action/move?dest=to$n", prefer => 'respond-async');
    $post->is_status(202, 'a move is accepted');
    return $post;
}

subtest 'where the web server starts the workers' => sub {
    plan skip_all => 'mod_fcgid is not installed' if !-e '/usr/lib/apache2/modules/mod_fcgid.so';
    my $instance = Tenure::Instance->start(server => 'apache-fcgid', allow => [ qr/connection lost/, qr/host ended by signal/ ]);
    my $admin    = $instance->admin;
    my $host     = $instance->host_pid;
    ok Tenure::Instance::wait_until(sub { $instance->movers == 1 }), 'the host service has a mover';
    Tenure::Instance::follow($admin, queue($admin, 1), 60)->is_status(303, 'it carries the move out');
    my ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'doctor finds nothing';
    unlike $text, qr/host service/, 'and has nothing to say of the service';

    my $reaped = sub { return $instance->sql_value(q(SELECT value FROM settings WHERE name = 'reaped_at')) // 0 };
    ok Tenure::Instance::wait_until(sub { $reaped->() > 0 }), 'the first purge is done at once';
    $admin->delete('/v2.0/from1')->is_status(204);
    $instance->sql(q(UPDATE tenants SET purge_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE name = 'from1'));
    $instance->sql(q(UPDATE settings SET value = CAST(CAST(value AS UNSIGNED) - 86500000000 AS CHAR) WHERE name = 'reaped_at'));
    kill KILL => $instance->host_children('tenured-reaper'); # else it looks within a minute
    push @{ $instance->{allow} }, qr/reaper \d+ ended by signal 9/;
    ok Tenure::Instance::wait_until(sub { !$instance->sql_value(q(SELECT COUNT(*) FROM tenants WHERE name = 'from1' AND live = 1)) }),
        'a day later, what is past its retention is purged';

    $instance->database('kill');
    kill HUP => $host;
    ok logged("$instance->{dir}/log/host.log", qr/: reloaded/), 'a reload while the database is away';
    $instance->database('start');
    ok Tenure::Instance::wait_until(sub { $admin->get('/healthz')->status == 200 }), 'the database is back';
    Tenure::Instance::follow($admin, queue($admin, 2), 60)->is_status(303, 'so are the moves');
    cmp_ok scalar(() = $instance->log_text('host') =~ /^/mg), '<', 20, 'and the log is short' or diag $instance->log_text('host');

    kill TERM => $host;
    ok Tenure::Instance::wait_until(sub { !Tenure::Daemon::is_running($host) }), 'the service ends';
    # No worker looks for it: it starts a mover when it begins, and after an answer 202.
    $instance->sql(q(INSERT INTO moves (uid, source_id, dest_id, state, actor, created_at)
        SELECT UNHEX('00000000000040008000000000000001'), a.id, b.id, 'queued', 'ann', UTC_TIMESTAMP(6)
        FROM tenants a JOIN tenants b ON b.name = 'from2' AND b.live = 1 WHERE a.name = 'to2' AND a.live = 1));
    ($code, $text) = $instance->manage('doctor');
    like $text, qr/warning: 1 move .* no host service runs on this host: start tenured-host/, 'doctor says what is missing';
    unlike $text, qr/no host sends/, 'and nothing of webhooks, as there are none';
    $instance->sql("INSERT INTO webhooks (tenant_id, name, uid, url, filters, secret, etag, revision, created_at, updated_at) VALUES (0, 'w', UNHEX(MD5('w')), 'https://example.com/', "
            . "'{}', 'secret', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))");
    $instance->sql('INSERT INTO webhook_cursors (webhook_id, position) SELECT id, 0 FROM webhooks');
    $instance->sql(q(UPDATE webhook_lease SET claim = UNHEX(MD5('c'))));
    ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'a claim of a process that is gone is no finding';
    like $text, qr/warning: 1 webhook is to be told of changes, and no host sends to it: start tenured-host/, 'but a warning';
    my $beats = fork // die "fork: $!";
    if ($beats == 0) {
        for (1 .. 200) { $instance->sql('UPDATE webhook_lease SET beat = beat + 1'); select undef, undef, undef, 0.1 }
        POSIX::_exit(0);
    }
    ($code, $text) = $instance->manage('doctor');
    unlike $text, qr/no host sends/, 'none if another host shows signs of life';
    kill KILL => $beats;
    waitpid $beats, 0;
    $instance->sql('DELETE FROM webhooks');
    $instance->sql('DELETE FROM webhook_cursors');
    is $code, 0, 'though the data are consistent';
    Tenure::Instance::follow($admin, queue($admin, 3), 60)->is_status(303, 'a worker has a move carried out, too');
};

done_testing;
