#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The bare clients and the floors of bench/ send the statements that Tenure sends, word for word, in the same round trips: else the
# ratios of doc/bench.md would be taken beside something else. A proxy in front of the database tells what both send.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use IO::Socket::UNIX;
use JSON::PP ();
use POSIX ();
use Test::More;

use Tenure::FastCGI;
use Tenure::Instance;
use Tenure::RoundTrips;
use Tenure::Run qw(run read_file);

my $built = Tenure::Instance::build_dir();
my ($code, $said) = run('make', '-s', '-C', $built, 'bench');
is $code, 0, 'the programs are built' or BAIL_OUT($said);

my $instance = Tenure::Instance->start(auth => 'token');
my $counter  = Tenure::RoundTrips->new($instance, statements => 1);
my $dir      = $instance->dir;
my $codec    = JSON::PP->new->utf8->canonical;
my %worker   = map { $_ => $counter->worker($_) } 'admin', 'service';
my $admin    = $instance->admin;
$admin->make_tenant($_) for 't1', 'from', 'to';
my %token = (admin => $instance->operator_token, service => $instance->token('t1', 'member'));

sub ask {
    my ($endpoint, $method, $path, $body, %header) = @_;
    my $answer = Tenure::FastCGI->get($worker{$endpoint}, method => $method, uri => $path, defined $body ? (body => $codec->encode($body)) : (),
        params => [HTTP_X_AUTH_TOKEN => $token{$endpoint}, CONTENT_TYPE => 'application/json', %header]);
    die "$method $path: no answer\n" if !$answer;
    die "$method $path: $answer->{status} $answer->{body}\n" if $answer->{status} !~ /\A[23]/;
    return $answer;
}

sub decoded { return $codec->decode($_[0]{body}) }

# ---- the statements of both

# The round trips of a request without those that a worker makes at times of its own, each as a list of texts. An end of a transaction
# is one, too.
sub statements_in {
    my (@trips) = @_;
    my @lists = map { [ map { s/\s+\z//r } grep { !/\ASET autocommit = [01]\s*\z/ } split /(?:\A|\s)execute /, $_ ] } grep { !/\b(?:prepare|set names) /i } @trips;
    return map { my @texts = grep { length } @$_; @texts ? \@texts : () } @lists;
}

sub told { return join "\n-- next round trip\n", map { join "\n", @$_ } @_ }

sub sent_for {
    my ($request, $warm) = @_;
    my (undef, @trips) = $counter->trips($request, warm => $warm);
    return statements_in(@trips);
}

# What Tenure sends for a request, in some of the times that it is asked: now and then a worker asks something of its own.
sub of_tenure {
    my ($request) = @_;
    return map { [ sent_for($request, $_ == 1 ? 3 : 0) ] } 1 .. 6;
}

# Runs a program of bench/ that reaches the database through the proxy. Returns its process.
sub launch {
    my ($program, @arguments) = @_;
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        @ENV{qw(BENCH_DB_SOCKET BENCH_DB_NAME)} = ($counter->path, $instance->env('TENURE_DB_NAME'));
        open STDOUT, '>', "$dir/bench.out" or POSIX::_exit(127);
        open STDERR, '>&', \*STDOUT or POSIX::_exit(127);
        exec "$built/build/bench/$program", @arguments or POSIX::_exit(127);
    }
    return $pid;
}

# The transactions of such a program, each a list of round trips.
sub transactions_of {
    my ($pid) = @_;
    my @transactions = [];
    for my $trip (statements_in(grep { /\A(?:execute|commit)/ } $counter->trips_of($pid))) {
        push @{ $transactions[-1] }, $trip;
        push @transactions, [] if $trip->[0] eq 'commit';
    }
    return grep { @$_ } @transactions;
}

sub bare {
    my (@command) = @_;
    my $pid = launch(@command);
    waitpid $pid, 0;
    is $?, 0, "@command: runs" or diag read_file("$dir/bench.out");
    return transactions_of($pid);
}

# Is one of the lists on the left among those on the right?
sub same {
    my ($name, $bare, $tenure) = @_;
    my %sent = map { told(@$_) => 1 } @$tenure;
    return ok(scalar(grep { $sent{ told(@$_) } } @$bare), "$name: the same statements in the same round trips")
        || diag "bench/:\n" . told(@{ $bare->[0] // [] }) . "\n\nTenure:\n" . told(@{ $tenure->[0] // [] });
}

# ---- what is asked for

my $n      = 0;
my $number = sub { return sprintf '%020d', ++$n };
my $maps   = '/api/v1/namespaces/default/configmaps';
my @metal  = (HTTP_X_OPENSTACK_IRONIC_API_VERSION => '1.82');
ask('service', 'POST', $maps, { metadata => { name => "p$_" }, data => { text => $number->() } }) for 1 .. 3;
my $node = decoded(ask('admin', 'POST', '/baremetal/v1/nodes', { driver => 'ipmi', owner => 't1', extra => { n => $number->() } }, @metal))->{uuid};

sub kept { return $instance->sql_value('SELECT COUNT(*) FROM former_resources') }

subtest 'PUT of a config map' => sub {
    my @tenure = of_tenure(sub { ask('service', 'PUT', '/v2.0/t1/namespaces/default/configmaps/p1', { data => { text => $number->() } }) });
    my $before = kept();
    same('bare-put', [ bare('bare-put', 't1', 1, 1) ], \@tenure);
    cmp_ok kept(), '>', $before, '... and keeps what it replaces, too';
};

my @patch;
subtest 'PATCH of a node' => sub {
    @patch = of_tenure(sub { ask('service', 'PATCH', "/baremetal/v1/nodes/$node", [ { op => 'add', path => '/extra/n', value => $number->() } ], @metal) });
    my $before = kept();
    same('bare-put nodes', [ bare('bare-put', 't1', 1, 1, 'nodes') ], \@patch);
    cmp_ok kept(), '>', $before, '... and keeps what it replaces, too';
};

subtest 'POST of a config map' => sub {
    my @tenure = of_tenure(sub { ask('service', 'POST', $maps, { metadata => { name => 'n' . $number->() }, data => { text => 'x' } }) });
    same('bare-create', [ bare('bare-create', 't1', 1, 1, 300) ], \@tenure);
};

subtest 'PUT of ten traits' => sub {
    my @version  = (HTTP_OPENSTACK_API_VERSION => 'placement 1.39');
    my $provider = '/placement/resource_providers/' . decoded(ask('admin', 'POST', '/placement/resource_providers', { name => 'p1' }, @version))->{uuid};
    my @traits   = map { sprintf 'CUSTOM_BENCH_P%02d', $_ } 0 .. 39;
    ask('admin', 'PUT', "/placement/traits/$_", undef, @version) for @traits;
    my $generation = 0;
    my $put = sub {
        my ($from) = @_;
        $generation = decoded(ask('admin', 'GET', "$provider/traits", undef, @version))->{resource_provider_generation} if $from == 20; # others may have raised it
        return ask('admin', 'PUT', "$provider/traits", { traits => [ @traits[ $from .. $from + 9 ] ], resource_provider_generation => $generation++ }, @version);
    };
    my @tenure = of_tenure(sub { $put->($generation % 2 * 10) });
    $put->(20);
    my $before = kept();
    same('bare-traits', [ bare('bare-traits', 1, 1) ], \@tenure);
    cmp_ok kept(), '>', $before, '... and keeps what it replaces, too';
    $put->(20);
    my @rowless = bare('bare-traits', 1, 1, 'rowless');
    my $left_out = join '|', map { quotemeta } 'INSERT INTO resource_traits', 'DELETE FROM resource_traits';
    same('bare-traits rowless', \@rowless, [ map { [ map { [ grep { !/\A(?:$left_out)/ } @$_ ] } @$_ ] } @tenure ]);
};

# Of a move it sends what locks and what changes; the rest only reads.
subtest 'a move' => sub {
    $admin->make("/v2.0/from/persistentvolumes/p$_") for 1 .. 3;
    my @way = ('from', 'to');
    my @tenure = of_tenure(sub { @way = reverse @way; return ask('admin', 'POST', "/v2.0/$way[1]/action/move?dest=$way[0]") });
    my @without = map { [ grep { @$_ } map { [ grep { !/\ASELECT\b/ || /\ASELECT m\.value FROM settings\b/ || /\b(?:FOR UPDATE|LOCK IN SHARE MODE)\b/ } @$_ ] } @$_ ] } @tenure;
    same('bare-move', [ bare('bare-move', @way, 2) ], \@without);
    my %sum = map { $_ => 1 } map { @$_ } sent_for(sub { ask('admin', 'GET', "/v2.0/$way[0]/action/move?dest=$way[1]") }, 3);
    my $pid = launch('bare-sum', $way[0], 1);
    waitpid $pid, 0;
    my ($sum) = map { @$_ } statements_in(grep { /\Aexecute/ } $counter->trips_of($pid));
    ok defined $sum && $sum{$sum}, 'bare-sum: the sum of the move action' or diag $sum // read_file("$dir/bench.out");
};

# ---- the floors

sub floor {
    my ($program, @arguments) = @_;
    my $socket = "$dir/$program.sock";
    my $pid = launch($program, $socket, 1, @arguments);
    ok Tenure::Instance::wait_until(sub { -S $socket && IO::Socket::UNIX->new(Peer => $socket) }), "$program serves" or diag read_file("$dir/bench.out");
    my $answer = Tenure::FastCGI->get($socket, uri => '/');
    is $answer && $answer->{status}, 200, '... and answers' or diag read_file("$dir/bench.out");
    my ($worker) = Tenure::Instance::children_of($pid);
    my @transactions = transactions_of($worker);
    kill 'TERM', $pid;
    waitpid $pid, 0;
    return @transactions;
}

subtest 'the floors' => sub {
    same('floor-patch', [ floor('floor-patch', 1000, 't1') ], \@patch);
    ask('service', 'POST', $maps, { metadata => { name => "g$_" } }) for 1 .. 9;
    my $get    = 0;
    my @tenure = of_tenure(sub { $get++; ask('service', 'GET', "/v2.0/t1/namespaces/default/configmaps/g$get") }); # one that the worker does not remember
    same('floor-select', [ floor('floor-select', 1000, 't1', 'p1') ], \@tenure);
};

done_testing;
