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
use Test::More;

use Tenure::Bombs qw(allowed_kb is_sanitized peak_kb reset_peaks watch_process_of workers_of);
use Tenure::Instance;
use Tenure::Watch;

my $seed  = $ENV{TENURE_SEED} // int(rand 1e9);
my $share = $ENV{TENURE_BOMBS} // 0.25;
diag "TENURE_SEED=$seed";

my $instance = Tenure::Instance->start(workers => 1, combined => 1, placement => 1, auth => 'noauth');
my $operator = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my $table    = 'application/json;as=Table;v=v1;g=meta.k8s.io';
my $maps     = '/v2.0/acme/namespaces/default/configmaps';
my $large    = 'x' x 900_000;
my $encode   = JSON::PP->new->utf8->canonical;
my ($socket) = Tenure::Instance::read_file($instance->env('TENURE_CONFIG')) =~ m{^socket = (.*/combined\.sock)$}m;
$operator->make_tenant($_) for qw(acme other);

my @workers   = workers_of($instance, 'combined'); # and the mover
my $watcher   = watch_process_of($instance, 'combined');
my $measured  = !is_sanitized($watcher);

sub check_bomb {
    my ($result) = @_;
    my $what = "$result->{name}, $result->{sent} bytes";
    ok scalar(grep { $_ == $result->{status} } @{ $result->{statuses} }), "$what: answered $result->{status}" or diag $result->{text};
    cmp_ok $result->{worker_kb}, '<=', allowed_kb(), "$what: peak of the workers" if $measured;
    cmp_ok $result->{watch_kb}, '<=', allowed_kb(), "$what: peak of the watch process" if $measured;
    return;
}

my $bombs = Tenure::Bombs->new(instance => $instance, seed => $seed, share => $share, socket => $socket, told => \&check_bomb,
    $share < 1 ? (types => 20, blockers => 60, nodes => 17, providers => 20, large => 12) : ());

for my $group ($bombs->groups) {
    subtest $group => sub {
        $bombs->run($group);
        is_deeply [workers_of($instance, 'combined')], [@workers], 'the same worker goes on';
        $operator->get('/v2.0/other')->is_status(200, 'others are served');
    };
}

subtest 'generated' => sub {
    $bombs->generated($share < 1 ? 3 : 40);
    is_deeply [workers_of($instance, 'combined')], [@workers], 'the same worker goes on';
};

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
    reset_peaks(@workers);
    $operator->get('/v2.0/other');
    cmp_ok peak_kb(@workers), '<=', 32 * 1024, 'the worker is small again: ' . peak_kb(@workers) . ' kB' if $measured;
    $acme->delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/$_.example.com") for @plurals;
};

subtest 'who watches what is too large' => sub {
    my $columns = $bombs->type(additionalPrinterColumns => [map { { name => "c$_", type => 'string', jsonPath => '.spec.x' } } 1 .. 100]);
    my $watch = Tenure::Watch->new($instance->env('TENURE_COMBINED_URL'), 'alice:acme', $columns, accept => $table);
    my $calm  = Tenure::Watch->new($instance->env('TENURE_COMBINED_URL'), 'bob:other', '/api/v1/namespaces/default/configmaps');
    reset_peaks($watcher);
    $acme->post($columns, json => { metadata => { name => 'a' }, spec => { x => $large } })->is_status(201, 'columns of a large member');
    $watch->read_while(20, sub { !$watch->{over} });
    ok $watch->{over}, 'who watches that is cut off';
    is watch_process_of($instance, 'combined'), $watcher, 'the watch process goes on';
    $instance->combined('bob:other')->post('/api/v1/namespaces/default/configmaps', json => { metadata => { name => 'c' } })->is_status(201, 'somebody else writes');
    $calm->read_while(20, sub { !@{ $calm->{events} } });
    is scalar(@{ $calm->{events} }), 1, 'and others are told' or diag explain $calm->{events};
    cmp_ok peak_kb($watcher), '<=', allowed_kb(), 'peak of the watch process: ' . peak_kb($watcher) . ' kB' if $measured;
    $acme->delete("$columns/a");
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
