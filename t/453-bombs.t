#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Bombs (Tenure::Bombs): small requests, and small things stored, that would make a process take much memory or time. Each is
# answered, without effect where it is refused, and no process takes more than it may; the next request is served by the same
# worker. A sample; scripts/check --long bombs sends all of them behind each web server, and more that are generated.
# TENURE_SEED repeats a run, TENURE_BOMBS is the share that is sent (1: all).
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use List::Util qw(max);
use POSIX ();
use Test::More;
use Time::HiRes ();

use Tenure::Bombs;
use Tenure::Memory qw(allowed_kb is_sanitized peak_kb processes_of reset_peaks watch_process_of workers_of);
use Tenure::Instance;
use Tenure::Watch;

my $seed   = $ENV{TENURE_SEED} // int(rand 1e9);
my $share  = $ENV{TENURE_BOMBS} // 0.25;
my $server = $ENV{TENURE_BOMBS_SERVER} // 'lighttpd';
my $long   = $ENV{TENURE_BOMBS_COUNTS}; # a file for figures: then times are looked at, too
my $fcgid  = $server eq 'apache-fcgid'; # starts the workers itself, and has no watches
diag "TENURE_SEED=$seed";

# mod_fcgid has a request wait for a second if all processes are busy, so it gets as many as requests come at once, as doc/operations.md
# says. Elsewhere four workers serve more than four clients.
# Computing time is looked at in the long form alone: a slow processor, or the sanitizers, take several times as much.
my $instance = Tenure::Instance->start(server => $server, workers => !$long ? 1 : $fcgid ? 12 : 4, combined => 1, placement => 1, auth => 'noauth',
    settings => { $long && !Tenure::Instance::has_sanitizers() ? () : ('tenure.request_cpu' => 8000) });
my $operator = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my $table    = 'application/json;as=Table;v=v1;g=meta.k8s.io';
my $maps     = '/v2.0/acme/namespaces/default/configmaps';
my $large    = 'x' x 900_000;
my $encode   = JSON::PP->new->utf8->canonical;
my ($socket) = $fcgid ? () : Tenure::Instance::read_file($instance->env('TENURE_CONFIG')) =~ m{^socket = (.*/combined\.sock)$}m;
$operator->make_tenant($_) for qw(acme other calm1 calm2);

my @workers   = $fcgid ? () : workers_of($instance, 'combined'); # and the mover
my $watcher   = $fcgid ? undef : watch_process_of($instance, 'combined');
my $measured  = !is_sanitized((processes_of($instance))[0] // $$);
my %worst     = map { $_ => 0 } qw(bombs worker_kb watch_kb cpu seconds growth);

sub check_bomb {
    my ($result) = @_;
    my $what = "$result->{name}, $result->{sent} bytes";
    ok scalar(grep { $_ == $result->{status} } @{ $result->{statuses} }), "$what: answered $result->{status}" or diag $result->{text};
    cmp_ok $result->{worker_kb}, '<=', allowed_kb(), "$what: peak of the workers" if $measured;
    cmp_ok $result->{watch_kb}, '<=', allowed_kb(), "$what: peak of the watch process" if $measured;
    return if !$long;
    # The clock of the kernel's account of a process has a hundredth of a second.
    cmp_ok $result->{cpu}, '<=', 2.25, "$what: CPU time";
    $result->{growth} = $result->{grown_kb} * 1024 / ($result->{sent} + $result->{stored} || 1);
    diag sprintf '%-70s %d, sent %d, stored %d, received %d, worker %d kB, watch %d kB, growth %.1f per byte, %.2f s, CPU %.2f s',
        @$result{qw(name status sent stored received worker_kb watch_kb growth seconds cpu)};
    $worst{bombs}++;
    $worst{$_} = max($worst{$_}, $result->{$_}) for qw(worker_kb watch_kb cpu seconds growth);
    return;
}

sub same_workers {
    is_deeply [workers_of($instance, 'combined')], [@workers], 'the same workers go on' if !$fcgid;
    $operator->get('/v2.0/other')->is_status(200, 'others are served');
    return;
}

# ---- others' clients, while bombs are sent

# A process that reads and writes as a user of that tenant until it is told to stop, and notes how long each answer took.
sub light_client {
    my ($tenant) = @_;
    my $notes = $instance->dir . "/light-$tenant-" . int rand 1e9;
    my $pid   = fork // die "fork: $!\n";
    return ($pid, $notes) if $pid;
    my $stop = 0;
    local $SIG{TERM} = sub { $stop = 1 };
    my $client = $instance->combined("cara:$tenant");
    my $path   = "/v2.0/$tenant/namespaces/default/configmaps";
    open my $out, '>', $notes or POSIX::_exit(1);
    for (my $i = 0; !$stop; $i++) {
        my $began  = Time::HiRes::time();
        my $answer = $i % 3 == 0 ? $client->put("$path/c", json => { data => { i => "$i" } }) : $client->get($i % 3 == 1 ? "$path/c" : $path);
        printf {$out} "%.6f %d\n", Time::HiRes::time() - $began, $answer->status;
        Time::HiRes::sleep(0.02);
    }
    close $out;
    POSIX::_exit(0);
}

# What they noted while code ran: (the 99th of 100 times in milliseconds, how many answers, how many that are no success).
sub meanwhile {
    my ($code) = @_;
    my @clients = map { [light_client("calm$_")] } 1, 1, 2, 2;
    $code->();
    kill TERM => map { $_->[0] } @clients;
    waitpid $_->[0], 0 for @clients;
    my @notes = map { map { [split] } split /\n/, Tenure::Instance::read_file($_->[1]) } @clients;
    my @times = sort { $a <=> $b } map { $_->[0] } @notes;
    return (1000 * ($times[0.99 * @times] // 0), scalar @times, scalar grep { $_->[1] !~ /\A2/ } @notes);
}

my $bombs = Tenure::Bombs->new(instance => $instance, seed => $seed, share => $share, socket => $socket, told => \&check_bomb,
    $share < 1 ? (types => 20, blockers => 60, nodes => 17, providers => 20, large => 12) : ());

sub send_all {
    for my $group ($bombs->groups) {
        subtest $group => sub {
            $bombs->run($group);
            same_workers();
        };
    }
    subtest 'generated' => sub {
        $bombs->generated($share < 1 ? 3 : $ENV{TENURE_BOMBS_GENERATED} // 40);
        same_workers();
    };
    return;
}

# Several tenants' at once, for that many seconds.
sub storm {
    my ($seconds) = @_;
    my @attackers;
    for my $i (1 .. 4) {
        my $pid = fork // die "fork: $!\n";
        push @attackers, $pid and next if $pid;
        my $until = time + $seconds;
        my $mine  = Tenure::Bombs->new(instance => $instance, seed => $seed + $i, tenant => "storm$i", types => 10, large => 12, quick => 1);
        while (time < $until) {
            $mine->run($_) for grep { time < $until } qw(json_patch xml merges definitions protobuf lists);
        }
        POSIX::_exit(0);
    }
    waitpid $_, 0 for @attackers;
    return;
}

if ($long) {
    my ($calm) = meanwhile(sub { sleep 5 });
    my ($p99, $n, $refused) = meanwhile(\&send_all);
    reset_peaks(processes_of($instance));
    my ($storm) = meanwhile(sub { storm(40) });
    my $peak = peak_kb(processes_of($instance));
    cmp_ok $peak, '<=', allowed_kb(), 'the peak while four tenants send them at once';
    cmp_ok $_->[1], '<', 250, "$_->[0], milliseconds" for ['others\' p99 while they are sent', $p99], ['others\' p99 while four tenants send them at once', $storm];
    is $refused, 0, 'others are not refused';
    open my $out, '>>', $long or die "$long: $!\n";
    printf {$out} "%s bombs=%d\n%s worker MB=%.1f\n%s watch MB=%.1f\n%s storm MB=%.1f\n%s CPU s=%.2f\n%s growth per byte=%.1f\n%s p99 ms without=%.0f\n%s p99 ms=%.0f\n%s p99 ms in the storm=%.0f\n",
        map { ($server, $_) } $worst{bombs}, $worst{worker_kb} / 1024, $worst{watch_kb} / 1024, $peak / 1024, $worst{cpu}, $worst{growth}, $calm, $p99, $storm;
    close $out;
}
else {
    send_all();
}

subtest 'what is refused' => sub {
    $acme->put("$maps/large", json => { data => { s => $large } })->is_status(201, 'a large one');
    my $etag   = $acme->get("$maps/large")->header('etag');
    my $copies = $encode->encode([map { { op => 'copy', from => '/data/s', path => "/data/c$_" } } 1 .. 3000]);
    my $answer = $acme->request('PATCH', "$maps/large", body => $copies, type => 'application/json-patch+json');
    $answer->is_status(413, 'copies of a string');
    like $answer->text, qr/memory/, 'the answer says why';
    is $acme->get("$maps/large")->header('etag'), $etag, 'nothing has changed';
    $acme->delete("$maps/large");
};

# Whatever a tenant has defined, a worker that has read it gives it back.
subtest 'definitions are not held for ever' => sub {
    my @plurals = map { "holds$_" } 1 .. 20;
    my %properties = map { ("property$_" => { type => 'string', description => 'd' x 200 }) } 1 .. 1000;
    for my $plural (@plurals) {
        $acme->post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', json => { metadata => { name => "$plural.example.com" }, spec => { group => 'example.com', scope => 'Namespaced',
            names => { plural => $plural, kind => ucfirst $plural }, versions => [{ name => 'v1', served => JSON::PP::true, storage => JSON::PP::true,
                schema => { openAPIV3Schema => { type => 'object', properties => \%properties } } }] } })->is_status(201, $plural);
    }
    $acme->get("/apis/example.com/v1/namespaces/default/$_")->is_status(200, "objects of $_") for @plurals;
    $acme->get("/apis/example.com/v1") for 1 .. 3;
    $operator->get('/v2.0/other');
    my @all = @workers ? @workers : processes_of($instance);
    $operator->get('/v2.0/other') for 1 .. 10 * @all; # of each, as what it had is gone with the next
    reset_peaks(@all);
    $operator->get('/v2.0/other');
    cmp_ok peak_kb(@all), '<=', 32 * 1024, 'the workers are small again: ' . peak_kb(@all) . ' kB' if $measured;
    $acme->delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/$_.example.com") for @plurals;
};

subtest 'who watches what is too large' => sub {
    plan skip_all => 'no watches here' if !defined $watcher;
    my $columns = $bombs->type(additionalPrinterColumns => [map { { name => "c$_", type => 'string', jsonPath => '.spec.x' } } 1 .. 100]);
    my $watch = Tenure::Watch->new($instance->env('TENURE_COMBINED_URL'), 'alice:acme', $columns, accept => $table);
    my $calm  = Tenure::Watch->new($instance->env('TENURE_COMBINED_URL'), 'bob:other', '/api/v1/namespaces/default/configmaps');
    reset_peaks($watcher);
    $acme->post($columns, json => { metadata => { name => 'a' }, spec => { x => $large } })->is_status(201, 'columns of a large member');
    $watch->read_while(60, sub { !$watch->{over} });
    ok $watch->{over}, 'who watches that is cut off';
    is watch_process_of($instance, 'combined'), $watcher, 'the watch process goes on';
    $instance->combined('bob:other')->post('/api/v1/namespaces/default/configmaps', json => { metadata => { name => 'c' } })->is_status(201, 'somebody else writes');
    $calm->read_while(60, sub { !@{ $calm->{events} } });
    is scalar(@{ $calm->{events} }), 1, 'and others are told' or diag explain $calm->{events};
    cmp_ok peak_kb($watcher), '<=', allowed_kb(), 'peak of the watch process: ' . peak_kb($watcher) . ' kB' if $measured;
    $acme->delete("$columns/a");
};

# What takes longer than a request may is left, and the worker goes on.
subtest 'CPU time' => sub {
    plan skip_all => 'the setting comes by the environment, which mod_fcgid does not hand on' if $fcgid;
    my $short = Tenure::Instance->start(server => $server, workers => 1, combined => 1, auth => 'noauth', settings => { 'tenure.request_cpu' => 20 });
    # A request that takes more is refused without effect, so what is small succeeds sooner or later, however slow the processor is.
    my $becomes = sub {
        my ($status, $what, $request) = @_;
        my $answer;
        ok Tenure::Instance::wait_until(sub { $answer = $request->(); $answer->status == $status }), $what or diag $answer->describe;
        return $answer;
    };
    my $client = $short->combined('alice:acme');
    $becomes->(201, 'a tenant', sub { $short->combined('admin')->put('/v2.0/acme', json => { tenant => {} }) });
    $becomes->(201, 'a small one', sub { $client->put("$maps/m", json => { data => { l => [] } }) });
    my $etag   = $becomes->(200, 'is there', sub { $client->get("$maps/m") })->header('etag');
    my $items  = $encode->encode([map { { op => 'add', path => '/data/l/0', value => $_ } } 1 .. 40_000]);
    my $answer = $client->request('PATCH', "$maps/m", body => $items, type => 'application/json-patch+json');
    is $answer->status, 422, 'a patch of many operations' or diag substr $answer->describe, 0, 300;
    ok $answer->text =~ /more than the 20 milliseconds of computing time/, 'the answer says why';
    is $becomes->(200, 'the next is served', sub { $client->get("$maps/m") })->header('etag'), $etag, 'nothing has changed';
    $becomes->(200, 'and writes', sub { $client->put("$maps/m", json => { data => { s => 'small' } }) });
};

# Fields of one name count one by one, as joining them copies.
subtest 'repeated header fields' => sub {
    for my $n (20, 400) { # a web server may join them, or refuse so many
        my $answer = $acme->get($maps, headers => { 'X-Repeated' => [('a') x $n] });
        ok scalar(grep { $answer->status == $_ } 200, $n > 20 ? (400, 431) : ()), "$n fields: answered " . $answer->status;
    }
    if (defined $socket) {
        require Tenure::FastCGI;
        for my $case ([120, 401], [129, 431], [2000, 431], [20_000, 'none']) {
            my $fcgi = Tenure::FastCGI->connect($socket);
            my $answer = $fcgi->request(uri => '/v2.0', params => [('HTTP_X_REPEATED', 'a') x $case->[0]]);
            is $answer ? $answer->{status} : 'none', $case->[1], "$case->[0] of them past the web server";
        }
    }
    same_workers();
};

subtest 'a long list' => sub {
    my $core = '/api/v1/namespaces/default/configmaps';
    $acme->put("$maps/l$_", json => { data => { s => $large, i => "$_" } }) for 1 .. 12;
    my $answer = $acme->get($core);
    is length $answer->text, $answer->header('content-length'), 'it came whole';
    is scalar(() = $answer->text =~ /"kind":"ConfigMap"/g), 12, 'all are there';
    like $answer->text, qr/\],"metadata":\{"selfLink":"[^"]+","resourceVersion":"\d+"\}\}\z/, 'it has its end';
    $answer = $acme->get($core, accept => $table);
    is scalar(() = $answer->text =~ /"cells":/g), 12, 'all rows are there';
};

done_testing;
