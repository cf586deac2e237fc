#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Every database command, allocation and system call of a request fails in turn (Tenure::Faults). A sample of requests and of what fails in
# them, drawn by TENURE_SEED;
# scripts/check --long faults takes all. TENURE_FAULTS: how many faults, or "all" (TENURE_FAULTS_SHARD, "2/3": of the second third of
# the requests); TENURE_FAULTS_REQUESTS: of how many requests; TENURE_FAULTS_KINDS: of which kinds; TENURE_FAULTS_COUNTS: a file for the figures.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Faults;
use Tenure::Instance;

my $seed = $ENV{TENURE_SEED} // int rand 1e9;
my $most = $ENV{TENURE_FAULTS} // 40;
diag "TENURE_SEED=$seed";
srand $seed;

my $instance = Tenure::Instance->start(workers => 2, combined => 1, allow => [qr/ended by signal/]);
my $faults   = Tenure::Faults->new($instance);
my @kinds    = $ENV{TENURE_FAULTS_KINDS} ? split /,/, $ENV{TENURE_FAULTS_KINDS} : ('database', $faults->has_shim ? grep { $_ ne 'database' } sort keys %Tenure::Faults::errors : ());

my %ironic    = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
my %placement = (headers => { 'OpenStack-API-Version' => 'placement 1.39' });
my %etag;

sub uuid { my ($kind, $i) = @_; return sprintf '%08x-0000-4000-8000-%012x', $kind, $i }

# Each is a request that succeeds once, on its own things (of number i): [name, status, sub(i) the request, names of those before it].
my @steps = (
    ['a tenant',             201, sub { ['PUT', "/v2.0/f$_[0]", { tenant => { metadata => { a => 'b' } } }] }],
    ['a tenant changes',     202, sub { ['PUT', "/v2.0/f$_[0]", { tenant => { metadata => { a => 'c' } } }] }, 'a tenant'],
    ['reading a tenant',     200, sub { ['GET', "/v2.0/f$_[0]"] }, 'a tenant'],
    ['listing tenants',      200, sub { ['GET', '/v2.0'] }],
    ['deleting a tenant',    204, sub { ['DELETE', "/v2.0/f$_[0]"] }, 'a tenant', 'a resource'],
    ['recovering a tenant',  204, sub { ['POST', "/v2.0/f$_[0]/action/recover"] }, 'a tenant', 'a resource', 'deleting a tenant'],
    ['a resource',           201, sub { ['PUT', "/v2.0/f$_[0]/persistentvolumes/p", { a => [1, 2, { b => 'c' x 500 }] }] }, 'a tenant'],
    ['a resource changes',   200, sub { ['PUT', "/v2.0/f$_[0]/persistentvolumes/p", { a => 2 }] }, 'a tenant', 'a resource'],
    ['a patch',              200, sub { ['PATCH', "/v2.0/f$_[0]/persistentvolumes/p", { x => 1 }] }, 'a tenant', 'a resource'],
    ['reading',              200, sub { ['GET', "/v2.0/f$_[0]/persistentvolumes/p"] }, 'a tenant', 'a resource'],
    ['listing',              200, sub { ['GET', "/v2.0/f$_[0]/persistentvolumes"] }, 'a tenant', 'a resource'],
    ['changes',              200, sub { ['GET', "/v2.0/f$_[0]/changes"] }, 'a tenant', 'a resource'],
    ['traits',               200, sub { ['PUT', "/v2.0/f$_[0]/persistentvolumes/p/traits", { traits => ["CUSTOM_F$_[0]"] }] }, 'a tenant', 'a resource'],
    ['deleting',             204, sub { ['DELETE', "/v2.0/f$_[0]/persistentvolumes/p"] }, 'a tenant', 'a resource'],
    ['recovering',           204, sub { ['POST', "/v2.0/f$_[0]/persistentvolumes/p/action/recover"] }, 'a tenant', 'a resource', 'deleting'],
    ['looking at a move',    200, sub { ['GET', "/v2.0/f$_[0]/action/move?dest=elsewhere"] }, 'a tenant', 'a resource'],
    ['a move',               303, sub { ['POST', "/v2.0/f$_[0]/persistentvolumes/p/action/move?dest=g$_[0]"] }, 'a tenant', 'another tenant', 'a resource'],
    ['a move of all',        303, sub { ['POST', "/v2.0/f$_[0]/action/move?dest=g$_[0]"] }, 'a tenant', 'another tenant', 'a resource'],
    ['a queued move',        202, sub { ['POST', "/v2.0/nobody/action/move?dest=f$_[0]", undef, { Prefer => 'respond-async' }] }, 'a tenant'],
    ['another tenant',       201, sub { ['PUT', "/v2.0/g$_[0]", { tenant => {} }] }],
    ['a namespace',          201, sub { ['POST', "/api/v1/tenants/f$_[0]/namespaces", { metadata => { name => 'n' } }] }, 'a tenant'],
    ['an object',            201, sub { ['POST', "/api/v1/tenants/f$_[0]/namespaces/n/configmaps", { metadata => { name => 'c', labels => { a => 'b' } }, data => { k => 'v' } }] }, 'a tenant', 'a namespace'],
    ['a list as a table',    200, sub { ['GET', "/api/v1/tenants/f$_[0]/configmaps?labelSelector=a%3Db", undef, { Accept => 'application/json;as=Table;v=v1;g=meta.k8s.io' }] }, 'a tenant', 'a namespace', 'an object'],
    ['a strategic patch',    200, sub { ['PATCH', "/api/v1/tenants/f$_[0]/namespaces/n/configmaps/c", '{"data":{"k":"w"}}', { 'Content-Type' => 'application/strategic-merge-patch+json' }] }, 'a tenant', 'a namespace', 'an object'],
    ['a namespace goes',     200, sub { ['DELETE', "/api/v1/tenants/f$_[0]/namespaces/n"] }, 'a tenant', 'a namespace', 'an object'],
    ['a definition',         201, sub { ['POST', "/apis/apiextensions.k8s.io/v1/tenants/f$_[0]/customresourcedefinitions", { metadata => { name => "ws$_[0].example.com" }, spec => { group => 'example.com',
        scope => 'Namespaced', names => { plural => "ws$_[0]", kind => "W$_[0]" }, versions => [{ name => 'v1', served => JSON::PP::true, storage => JSON::PP::true,
            schema => { openAPIV3Schema => { type => 'object', properties => { spec => { type => 'object', properties => { x => { type => 'string' } } } } } } }] } }] }, 'a tenant'],
    ['discovery',            200, sub { ['GET', '/apis'] }, 'a tenant', 'a definition'],
    ['an object of it',      201, sub { ['POST', "/apis/example.com/v1/tenants/f$_[0]/namespaces/default/ws$_[0]", { metadata => { name => 'w' }, spec => { x => 'y' } }] }, 'a tenant', 'a definition'],
    ['a node',               201, sub { ['POST', '/baremetal/v1/nodes', { driver => 'fake-hardware', uuid => uuid(1, $_[0]), name => "node$_[0]", extra => { a => [1] } }, $ironic{headers}] }],
    ['a port',               201, sub { ['POST', '/baremetal/v1/ports', { node_uuid => uuid(1, $_[0]), address => sprintf('52:54:00:%02x:%02x:%02x', $_[0] >> 16, $_[0] >> 8 & 255, $_[0] & 255) }, $ironic{headers}] }, 'a node'],
    ['a node changes',       200, sub { ['PATCH', '/baremetal/v1/nodes/' . uuid(1, $_[0]), '[{"op":"add","path":"/extra/b","value":{}}]', { %{ $ironic{headers} }, 'Content-Type' => 'application/json-patch+json' }] }, 'a node'],
    ['power',                202, sub { ['PUT', '/baremetal/v1/nodes/' . uuid(1, $_[0]) . '/states/power', { target => 'power on' }, $ironic{headers}] }, 'a node'],
    ['listing nodes',        200, sub { ['GET', '/baremetal/v1/nodes/detail?limit=2', undef, $ironic{headers}] }, 'a node'],
    ['deleting a node',      204, sub { ['DELETE', '/baremetal/v1/nodes/' . uuid(1, $_[0]), undef, $ironic{headers}] }, 'a node', 'a port'],
    ['a provider',           200, sub { ['POST', '/placement/resource_providers', { name => "rp$_[0]", uuid => uuid(2, $_[0]) }, $placement{headers}] }],
    ['inventories',          200, sub { ['PUT', '/placement/resource_providers/' . uuid(2, $_[0]) . '/inventories', { resource_provider_generation => 0, inventories => { VCPU => { total => 8 } } }, $placement{headers}] }, 'a provider'],
    ['a claim',              204, sub { ['PUT', '/placement/allocations/' . uuid(3, $_[0]), { allocations => { uuid(2, $_[0]) => { resources => { VCPU => 1 } } }, project_id => 'p', user_id => 'u',
        consumer_generation => undef, consumer_type => 'INSTANCE' }, $placement{headers}] }, 'a provider', 'inventories'],
    ['a claim goes',         204, sub { ['DELETE', '/placement/allocations/' . uuid(3, $_[0]), undef, $placement{headers}] }, 'a provider', 'inventories', 'a claim'],
    ['aggregates',           200, sub { ['PUT', '/placement/resource_providers/' . uuid(2, $_[0]) . '/aggregates', { resource_provider_generation => 0, aggregates => [uuid(4, 1)] }, $placement{headers}] }, 'a provider'],
    ['candidates',           200, sub { ['GET', '/placement/allocation_candidates?resources=VCPU:1&limit=2', undef, $placement{headers}] }, 'a provider', 'inventories'],
    ['a trait',              201, sub { ['PUT', "/placement/traits/CUSTOM_G$_[0]", undef, $placement{headers}] }],
    ['a trait goes',         204, sub { ['DELETE', "/placement/traits/CUSTOM_G$_[0]", undef, $placement{headers}] }, 'a trait'],
    ['a class',              201, sub { ['PUT', "/placement/resource_classes/CUSTOM_G$_[0]", undef, $placement{headers}] }],
    ['a class goes',         204, sub { ['DELETE', "/placement/resource_classes/CUSTOM_G$_[0]", undef, $placement{headers}] }, 'a class'],
    ['a provider goes',      204, sub { ['DELETE', '/placement/resource_providers/' . uuid(2, $_[0]), undef, $placement{headers}] }, 'a provider'],
);
my %step = map { $_->[0] => $_ } @steps;

sub request_of {
    my ($step, $i) = @_;
    my ($method, $path, $body, $headers) = @{ $step->[2]->($i) };
    return { what => $step->[0], method => $method, path => $path, body => $body, headers => $headers };
}

my $number = 0;

# Makes what a step needs, as number i, without a fault.
sub prepare {
    my ($step) = @_;
    my $i = ++$number;
    for my $name (@$step[3 .. $#$step]) {
        my $answer = $faults->ask(request_of($step{$name}, $i));
        die "$name: " . ($answer ? $answer->{raw} : 'no answer') . "\n" if !$answer || $answer->{status} != $step{$name}[1];
    }
    return $i;
}

$faults->ask({ method => 'PUT', path => "/v2.0/$_", body => { tenant => {} } }) for 'elsewhere', 'nobody';

my ($k, $shards) = split m{/}, $ENV{TENURE_FAULTS_SHARD} // '1/1';
my @order = sort { rand() <=> 0.5 } 0 .. $#steps;
my @drawn = @steps[$most eq 'all' ? grep { $_ % $shards == $k - 1 } 0 .. $#steps : sort { $a <=> $b } @order[0 .. ($ENV{TENURE_FAULTS_REQUESTS} // 10) - 1]];

# Each once without a fault: its statements are prepared then, and its effect is known.
my %growth;
subtest 'without faults' => sub {
    for my $step (@drawn) {
        my $i = prepare($step);
        my $before = $faults->state;
        my $answer = $faults->ask(request_of($step, $i));
        is $answer && $answer->{status}, $step->[1], "$step->[0]: $step->[1]" or diag $answer && $answer->{raw};
        $growth{ $step->[0] } = Tenure::Faults::growth($before, $faults->state);
    }
};

# As a node of Galera does that is cut off meanwhile. The request, if it were done again, would find its own namespace.
subtest 'a COMMIT that is carried out, and answered as one that failed' => sub {
    my $step = $step{'a namespace'};
    $faults->ask(request_of($step, prepare($step)));
    my ($call) = $faults->count('database', request_of($step, prepare($step)));
    my @wrong;
    do {
        push @wrong, $faults->attempt(request_of($step, prepare($step)), kind => 'database', call => $call, error => 1180, status => $step->[1]);
    } until $faults->last->{failed} =~ /COMMIT/ || --$call == 0;
    cmp_ok $call, '>', 0, 'there is one';
    is $faults->last->{answer} && $faults->last->{answer}{status}, $step->[1], 'it counts as done';
    is_deeply \@wrong, [], '... and once';
};

my (%calls, %count, @found);

sub calls_of {
    my ($step, $kind, $cold) = @_;
    return $calls{ $step->[0] }{$kind}[$cold] //= do {
        my ($calls) = $faults->count($kind, request_of($step, prepare($step)), $cold);
        $calls;
    };
}

sub try_one {
    my ($step, $kind, $cold, $call, $error) = @_;
    my @wrong = $faults->attempt(request_of($step, prepare($step)), kind => $kind, cold => $cold, call => $call, error => $error, status => $step->[1], growth => $growth{ $step->[0] });
    push @found, @wrong;
    $count{$kind}++ if $faults->last->{failed};
    my $answer = $faults->last->{answer};
    $count{ ($kind eq "database" ? $error : $kind) . " " . ($answer ? $answer->{status} =~ s{..\z}{xx}r : "no answer") }++ if $faults->last->{failed};
    return;
}

my $resident;
if ($most eq 'all') {
    for my $step (@drawn) {
        for my $kind (@kinds) {
            for my $cold (0, 1) {
                for my $call (1 .. calls_of($step, $kind, $cold)) {
                    try_one($step, $kind, $cold, $call, $_) for @{ $Tenure::Faults::errors{$kind} };
                }
            }
            $resident //= $faults->resident;
        }
    }
}
else {
    for my $n (1 .. $most) {
        my $step = $drawn[rand @drawn];
        # Commands and allocations are the most of what can fail.
        my @most = grep { $_ eq 'database' || $_ eq 'memory' } @kinds;
        my $kind = @most && rand() < 0.6 ? $most[rand @most] : $kinds[rand @kinds];
        my $cold  = rand() < 0.3 ? 1 : 0;
        my $calls = calls_of($step, $kind, $cold) or next;
        my @errors = @{ $Tenure::Faults::errors{$kind} };
        try_one($step, $kind, $cold, 1 + int rand $calls, $errors[rand @errors]);
    }
    continue { $resident = $faults->resident if $n == int $most / 4 }
}

is scalar @found, 0, 'answers are whole, nothing is half done, and the worker goes on';
diag join "\n", @found[0 .. ($#found < 29 ? $#found : 29)] if @found;
diag join ', ', map { "$_ $count{$_}" } sort keys %count;
note "VmRSS $resident kB, " . $faults->resident . ' kB at the end';
SKIP: {
    # The address sanitizer keeps what was freed.
    skip 'with sanitizers memory is not counted', 1 if !$faults->has_shim;
    cmp_ok $faults->resident, '<', $resident + 4096, 'the worker has not grown';
}

subtest 'nothing is left behind' => sub {
    # A transaction whose connection was lost is rolled back when the server notices it, and the host service has transactions of its own.
    my $free = Tenure::Instance::wait_until(sub { eval { $instance->sql('SET innodb_lock_wait_timeout = 0; BEGIN; SELECT COUNT(*) FROM tenants FOR UPDATE; SELECT COUNT(*) FROM resources FOR UPDATE; ROLLBACK'); 1 } });
    ok $free, 'no row is locked';
    my ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'the database is sound' or diag $text;
};

if (defined $ENV{TENURE_FAULTS_COUNTS}) {
    open my $out, '>>', $ENV{TENURE_FAULTS_COUNTS} or die "$ENV{TENURE_FAULTS_COUNTS}: $!\n";
    print {$out} "$_=$count{$_}\n" for sort keys %count;
    print {$out} 'findings=' . @found . "\n";
}

done_testing;
