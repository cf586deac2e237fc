#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The host services of two hosts send to the webhooks of one registry: one works at a time. Whichever is killed, stopped or asked to end, every
# webhook is told of each change once in order, and what comes again comes under the id that it had. One that was taken for dead, and lives,
# writes nothing any more.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use POSIX ();
use Test::More;
use Time::HiRes qw(sleep);

use Tenure::Instance;
use Tenure::Parallel;
use Tenure::Receiver;

my $seed = $ENV{TENURE_SEED} // int rand 1e9;
srand $seed;
note "TENURE_SEED=$seed";

my %setting = ('webhooks.allow' => '127.0.0.1', 'webhooks.allow_http' => 'yes', 'webhooks.retry_first' => 50, 'webhooks.retry_most' => 300,
    'webhooks.attempts' => 1000, 'webhooks.timeout' => 3, 'webhooks.lease' => 2, 'webhooks.batch' => 3);
my $receiver = Tenure::Receiver->start;
my $instance = Tenure::Instance->start(settings => \%setting,
    allow => [qr/deliverer \d+ (?:ended by signal|is killed)/, qr/host service \d+ ended by signal 9/]);
my $admin   = $instance->admin;
my @tenants = map { "t$_" } 1 .. 3;
$admin->make_tenant($_) for @tenants;

# The second host has the same settings, but a folder of its own at run time, and shares the database alone.
my $runtime = $instance->dir . '/second';
mkdir $runtime or die "$runtime: $!\n";
my $second;

sub start_second {
    $second = fork // die "fork: $!\n";
    return if $second;
    $ENV{'TENURE_' . uc $_ =~ tr/./_/r} = $setting{$_} for keys %setting;
    $ENV{TENURE_TENURE_RUNTIME_DIR}  = $runtime;
    $ENV{TENURE_HOST_METRICS_SOCKET} = "$runtime/metrics.sock";
    open STDERR, '>>', "$runtime/log" or POSIX::_exit(1);
    open STDOUT, '>&', \*STDERR or POSIX::_exit(1);
    exec Tenure::Instance::build_dir() . '/tenured-host', '-c', $instance->env('TENURE_CONFIG') or POSIX::_exit(127);
}

sub end_second {
    my ($signal) = @_;
    kill $signal => $second;
    waitpid $second, 0;
    my $status = $?;
    $second = 0;
    return $status;
}
END { my $status = $?; if ($second) { kill TERM => $second; waitpid $second, 0 } $? = $status }
start_second();

sub of_first  { return $instance->host_children('tenured-deliver') }
sub of_second { return grep { (eval { Tenure::Instance::read_file("/proc/$_/comm") } // '') eq "tenured-deliver\n" } eval { Tenure::Instance::children_of($second) } }
my @hosts = ([\&of_first, 'the first host'], [\&of_second, 'the second host']);
for my $host (@hosts) {
    my ($of, $name) = @$host;
    ok Tenure::Instance::wait_until(sub { $of->() == 1 }), "$name has a deliverer";
}

sub make_hook { my ($owner) = @_; $admin->put("/v2.0/$owner/webhooks/hook", json => { url => $receiver->url("/$owner") })->is_status(201); return }
make_hook($_) for @tenants, 'all';

sub claim { return $instance->sql_value('SELECT HEX(claim) FROM webhook_lease') }
sub is_told {
    my ($name, $what) = @_;
    $admin->put("/v2.0/t1/persistentvolumes/$name", json => {})->is_status(201);
    return ok Tenure::Instance::wait_until(sub { grep { ($_->{resource} // '') eq "persistentvolumes/$name" } $receiver->changes('/t1') }, 60), $what;
}

my %claims;
is_told('first', 'somebody sends');
for my $host (@hosts) {
    my ($of, $name) = @$host;
    my @stopped = $of->();
    kill STOP => @stopped;
    is_told($name =~ s/ /-/gr, "it is told while that of $name is stopped");
    $claims{ claim() }++;
    kill CONT => @stopped;
}

# ---- clients that change things, whatever is killed

my $stop = $instance->dir . '/enough';
my $load = fork // die "fork: $!\n";
if ($load == 0) {
    my @told = Tenure::Parallel::run(scalar @tenants, sub {
        my ($number) = @_;
        my $client = $instance->admin;
        for (my $n = 1; !-e $stop; $n++) {
            my ($mine, $next) = map { $tenants[$_ % @tenants] } $number - 1, $number;
            my $path = "/v2.0/$mine/persistentvolumes/v-$mine-" . $n % 9;
            $client->put($path, json => { n => $n });
            $client->post("$path/action/move?dest=$next") if $n % 5 == 0;
            $client->delete($path) if $n % 7 == 0;
            sleep 0.02;
        }
        return 'done';
    });
    POSIX::_exit((grep { ($_ // '') ne 'done' } @told) ? 1 : 0);
}

my %done;
my %way = (
    'kill of the one that sends' => sub { return kill KILL => map { $_->[0]->() } @hosts },
    'kill of one'                => sub { return kill KILL => $hosts[rand @hosts][0]->() },
    # It goes on as if it still was the one, when another has taken its place.
    'pause of one' => sub {
        my @one = $hosts[rand @hosts][0]->();
        kill STOP => @one;
        sleep 3;
        return kill CONT => @one;
    },
    'pause of both, one longer' => sub {
        my @first  = $hosts[rand @hosts][0]->();
        my @others = grep { my $pid = $_; !grep { $_ == $pid } @first } map { $_->[0]->() } @hosts;
        kill STOP => @first, @others;
        sleep 0.5;
        kill CONT => @others;
        sleep 3;
        return kill CONT => @first;
    },
    'end of the second host'   => sub { is end_second('TERM'), 0, 'the second host ends'; start_second(); return 1 },
    'kill of the second host'  => sub { end_second('KILL'); start_second(); return 1 },
    'loss of answers'          => sub { $receiver->mode('lost'); sleep 0.4; $receiver->mode('ok'); return 1 },
);
my @ways = sort keys %way;
for my $i (1 .. $ENV{TENURE_WEBHOOK_KILLS} // 10) {
    sleep 0.3 + rand 0.5;
    my $what = $i <= @ways ? $ways[$i - 1] : $ways[rand @ways];
    $done{$what} += $way{$what}->() ? 1 : 0;
    $claims{ claim() }++;
}
Tenure::Instance::write_file($stop, '');
waitpid $load, 0;
is $?, 0, 'clients were answered';
note join ', ', map { "$done{$_} times $_" } sort keys %done;
cmp_ok scalar(grep { /[1-9A-F]/ } keys %claims), '>', 1, 'not always the same host sent';

# ---- what came

# The ids of the changes that a webhook of that owner is told of, from one on: of the tenant and of what left it, or all.
sub logged {
    my ($owner, $from) = @_;
    my $whose = $owner eq 'all' ? 'TRUE' : "(SELECT id FROM tenants WHERE name = '$owner') IN (tenant_id, from_tenant_id)";
    return map { $_->[0] } $instance->sql("SELECT id FROM changes WHERE $whose AND id >= $from ORDER BY id");
}

for my $owner (@tenants, 'all') {
    my $newest = (logged($owner, 1))[-1];
    ok Tenure::Instance::wait_until(sub { my @told = $receiver->changes("/$owner"); @told && $told[-1]{id} >= $newest }, 120), "$owner: the newest change came";
    my @told = map { $_->{id} } $receiver->changes("/$owner");
    is_deeply \@told, [logged($owner, $told[0] // 1)], "$owner: each change, once, in order";
    # Attempts, as they came: one that comes again is the last one, or the one before it was not written down yet.
    my (@order, %body, @other);
    for my $attempt (grep { $_->{taken} } $receiver->attempts("/$owner")) {
        my $ids = join ' ', map { $_->{id} } @{ $attempt->{json}{data}{changes} };
        push @other, $attempt->{id} if ($body{ $attempt->{id} } //= $ids) ne $ids;
        push @order, $attempt->{id} if !@order || $order[-1] ne $attempt->{id};
    }
    is_deeply \@other, [], "$owner: what was sent again has the changes that it had";
    my %times;
    $times{$_}++ for @order;
    is_deeply [grep { $times{$_} > 1 } sort keys %times], [], "$owner: nothing is sent again behind what is newer";
}
is $instance->sql_value('SELECT COUNT(*) FROM webhook_messages'), 0, 'nothing was given up';

# ---- very many webhooks

# Each looks through the whole log, which takes longer than the lease: the one that sends shows signs of life meanwhile.
my $many  = 1000;
my $sends = sub { return scalar(() = join('', $instance->log_text('host'), Tenure::Instance::read_file("$runtime/log")) =~ /sends to webhooks$/mg) };
my $upto  = $instance->sql_value('SELECT published FROM log_horizon');
my $held  = claim();
my $begun = $sends->();
$instance->sql('INSERT INTO webhooks (tenant_id, name, uid, url, description, filters, paused, secret, etag, revision, created_at, updated_at) '
    . q(SELECT 0, CONCAT('many', seq), UNHEX(MD5(seq)), 'https://receiver.invalid/', '', '{"actors":["nobody"]}', 0, 'x', REPEAT('e', 64), 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) )
    . "FROM seq_1_to_$many; INSERT INTO webhook_cursors (webhook_id, position) SELECT id, 0 FROM webhooks WHERE name LIKE 'many%'; "
    . 'UPDATE webhook_lease SET edits = edits + 1');
ok Tenure::Instance::wait_until(sub { !$instance->sql_value("SELECT COUNT(*) FROM webhook_cursors c JOIN webhooks w ON w.id = c.webhook_id WHERE w.name LIKE 'many%' AND c.position < $upto") }, 180),
    "$many webhooks have looked at all changes";
is claim(), $held, 'the same process sends';
is $sends->(), $begun, 'and never another';

# ---- a reset

($held, $begun) = (claim(), $sends->());
my ($code, $text) = $instance->manage('db', 'reset', '--yes');
is $code, 0, 'a reset' or diag $text;
$admin->make_tenant('t1');
make_hook('t1');
is_told('after-reset', 'somebody sends afterwards');
is claim(), $held, '... the process that did before';
is $sends->(), $begun, '... and never another';

is end_second('TERM'), 0, 'the second host ends';
unlike Tenure::Instance::read_file("$runtime/log"), qr/^error /m, 'it had no errors' or diag Tenure::Instance::read_file("$runtime/log");
done_testing;
