#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# When tokens were used last: who sees it, how late, how often it is written; requests of any kind count, refused ones don't; nothing of it
# costs a request a round trip to the database, or waits for a lock.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Daemon;
use Tenure::Instance;
use Tenure::Metrics;
use Tenure::RoundTrips;
use Tenure::Tool;

my $instance = Tenure::Instance->start(auth => 'token', combined => 1, workers => 2, settings => { 'host.token_use_interval' => '1h' });
my $admin    = $instance->admin;
my $operator = $instance->combined($instance->operator_token);
my $socket   = $instance->env('TENURE_METRICS_SOCKET');
$admin->make_tenant($_) for 't1', 't2';
my %token = map { ($_ => $instance->token('t1', $_)) } qw(reader member admin);
my $ann   = $instance->service($token{admin});
my ($id)  = map { /\A([0-9a-f]{12})\./ } $token{member};

sub shown { my ($which) = @_; return $ann->get('/v2.0/t1/tokens/' . ($which // $id))->json->{token}{last_used_at} }
sub stored { my ($which) = @_; return $instance->sql_value("SELECT last_used_at FROM tokens WHERE id = '" . ($which // $id) . "'") }

# The host service has looked as often since, and written what was to be written.
sub looked {
    my ($times) = @_;
    for (1 .. $times) {
        my $before = Tenure::Metrics::of_socket($socket)->{tenure_host_observed_timestamp_seconds} // 0;
        Tenure::Instance::wait_until(sub { (Tenure::Metrics::of_socket($socket)->{tenure_host_observed_timestamp_seconds} // 0) > $before }, 60)
            or die "the host service does not look\n";
    }
    return;
}

# The host's shared file is in this folder, or, if its path would be too long for sockets, in a shorter one.
sub forget {
    my $dir = $instance->dir;
    chomp(my $short = Tenure::Instance::read_file("$dir/run/short"));
    return unlink map { glob "$_/shared/shared-v*" } $dir, $short;
}
sub use_it { my ($client) = @_; return ($client // $instance->service($token{member}))->get('/v2.0/t1/namespaces')->is_status(200) }

subtest 'a use is shown' => sub {
    looked(1);
    is shown(), undef, 'not used yet';
    ok !exists $ann->get("/v2.0/t1/tokens/$id")->json->{token}{last_used_at}, '... is no member';
    my $before = $instance->sql_value('SELECT UTC_TIMESTAMP(6)');
    use_it();
    ok Tenure::Instance::wait_until(sub { defined shown() }, 60), 'a moment later it is';
    like shown(), qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/, 'a time';
    my $after = $instance->sql_value('SELECT UTC_TIMESTAMP(6)');
    ok stored() ge $before && stored() le $after, 'that of the use' or diag "$before ", stored(), " $after";
    my ($of_list) = grep { $_->{id} eq $id } @{ $ann->get('/v2.0/t1/tokens')->json->{tokens} };
    is $of_list->{last_used_at}, shown(), 'in the list, too';
    like $ann->get("/v2.0/t1/tokens/$id", headers => { Accept => 'application/xml' })->text, qr/<token [^>]*last_used_at="\d{4}-/, 'as XML';
    my $tool = Tenure::Tool->new(url => $instance->env('TENURE_SERVICE_URL'), token => $token{admin}, tenant => 't1');
    my ($row) = grep { /^$id,/ } split /\n/, $tool->ends(0, 'token', 'list', '--columns', 'id,used', '--format', 'csv')->{out};
    is $row, "$id," . shown(), 'tenure token list';
    my ($code, $text) = $instance->manage('token', 'list', '--json');
    my ($managed) = grep { $_->{id} eq $id } @{ JSON::PP->new->decode($text) };
    is substr($managed->{'last used at'} // $managed->{last_used_at} // '', 0, 16) =~ s/ /T/r, substr(shown(), 0, 16), 'tenure-manage token list' or diag $text;
};

subtest 'no more often than the interval' => sub {
    my $first = stored();
    for (1 .. 3) { use_it(); looked(1) }
    is stored(), $first, 'further uses within it are not written';
    # The memory of the host says when it was written, so another file is like another host.
    ok forget(), 'the file of the host is lost';
    ok Tenure::Instance::wait_until(sub { use_it(); stored() gt $first }, 60), 'another host writes a later one';
    my $later = stored();
    $instance->sql("UPDATE tokens SET last_used_at = '2099-01-01' WHERE id = '$id'");
    forget();
    for (1 .. 3) { use_it(); looked(1) }
    like stored(), qr/^2099/, 'what another host has seen later stays';
    $instance->sql("UPDATE tokens SET last_used_at = '$later' WHERE id = '$id'");
};

subtest 'what counts' => sub {
    my %id = map { my ($name) = $token{$_} =~ /\A([^.]+)/; ($_ => $name) } keys %token;
    is stored($id{reader}), undef, 'one that was never used';
    $instance->service("$id{reader}." . 'x' x 32)->get('/v2.0/t1/namespaces')->is_status(401, 'a wrong secret');
    looked(2);
    is stored($id{reader}), undef, '... is no use';
    $instance->service($token{reader})->put('/v2.0/t1/persistentvolumes/p', json => {})->is_status(403, 'a request that is not permitted');
    ok Tenure::Instance::wait_until(sub { defined stored($id{reader}) }, 60), '... is one';
    my $revoked = $instance->token('t1', 'member');
    my ($ended) = $revoked =~ /\A([^.]+)/;
    is +($instance->manage('token', 'revoke', $ended))[0], 0, 'a token is revoked';
    $instance->service($revoked)->get('/v2.0/t1/namespaces')->is_status(401, '... and refused');
    looked(2);
    is stored($ended), undef, '... which is no use';
};

subtest 'a request costs no more' => sub {
    my $path = '/v2.0/t1/persistentvolumes/v';
    $ann->put($path, json => { n => 1 })->is_status(201);
    # The table of tokens is locked: whoever wrote a use within a request would wait.
    my $lock = $instance->sql_locks("SELECT id FROM tokens FOR UPDATE");
    my $fresh = $instance->service($token{admin});
    $fresh->get($path)->is_status(200, 'a GET while all tokens are locked');
    $fresh->put($path, json => { n => 2 })->is_status(200, 'a PUT');
    close $lock;
    my $log = join '', map { $instance->log_text($_) } 'service', 'combined';
    unlike $log, qr/token_used/, 'no worker writes it';
};

subtest 'maintenance, and never' => sub {
    my $other = $instance->token('t2', 'member');
    my ($other_id) = $other =~ /\A([^.]+)/;
    is +($instance->manage('maintenance', 'on'))[0], 0, 'changes are stopped';
    $instance->service($other)->get('/v2.0/t2/namespaces')->is_status(200, 'a use');
    looked(2);
    is stored($other_id), undef, '... is not written';
    is +($instance->manage('maintenance', 'off'))[0], 0, 'changes are allowed';
    ok Tenure::Instance::wait_until(sub { defined stored($other_id) }, 60), '... it is';
};

done_testing;
