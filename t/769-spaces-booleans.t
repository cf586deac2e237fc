#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Boolean parameters as Kubernetes reads them: every value but "false" and "0" is true. Python's clients write "True".
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Parallel;

my $instance = Tenure::Instance->start(combined => 1, workers => 2);
my $admin    = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my $cms      = '/api/v1/namespaces/default/configmaps';

my @true  = ('', map { "=$_" } '', qw(true True TRUE 1 t yes 2));
my @false = map { "=$_" } qw(false False FALSE 0);

$admin->post('/api/v1/tenants', json => { metadata => { name => 'acme' } })->is_status(201, 'tenant acme');
$acme->post($cms, json => { metadata => { name => 'a' } })->is_status(201, 'a config map');

# The lines of the answers to a GET of the collection with each of these queries, all asked at once: a watch ends after a second.
sub lines_of {
    my @queries = @_;
    my @texts = Tenure::Parallel::run(scalar @queries, sub {
        # A blank in front of an event says nothing: it makes web servers send the head of the answer.
        return JSON::PP::encode_json([grep { length } map { s/\A +//r } split /\n/, $acme->get("$cms?timeoutSeconds=1&$queries[$_[0]]")->text]);
    });
    return map { defined ? JSON::PP::decode_json($_) : [] } @texts;
}

subtest 'watch' => sub {
    my @lines = lines_of((map { "watch$_" } @true, @false), 'x');
    like +(shift @lines)->[0], qr/\A\{"type":"ADDED"/,         "watch$_ watches" for @true;
    like +(shift @lines)->[0], qr/\A\{"kind":"ConfigMapList"/, "watch$_ lists"   for @false;
    like +(shift @lines)->[0], qr/\A\{"kind":"ConfigMapList"/, 'so does none';
};

subtest 'allowWatchBookmarks' => sub {
    my $from  = $acme->get($cms)->json->{metadata}{resourceVersion};
    my @lines = lines_of(map { "watch=True&resourceVersion=$from&allowWatchBookmarks$_" } '=True', '', '=False', '=0');
    like +(shift @lines)->[-1] // '', qr/\A\{"type":"BOOKMARK"/, "allowWatchBookmarks$_ gives one" for '=True', '';
    is_deeply shift @lines, [], "allowWatchBookmarks$_ gives none" for '=False', '=0';
};

subtest 'sendInitialEvents' => sub {
    my $from  = $acme->get($cms)->json->{metadata}{resourceVersion};
    my $ask   = "watch=1&resourceVersion=$from&resourceVersionMatch=NotOlderThan&sendInitialEvents";
    my @lines = lines_of(map { "$ask$_" } '=True', '=yes', '', '=False');
    like +(shift @lines)->[0] // '', qr/\A\{"type":"ADDED"/, "sendInitialEvents$_" for '=True', '=yes', '';
    is_deeply shift @lines, [], 'sendInitialEvents=False';
    $acme->get("$cms?sendInitialEvents")->is_status(422, 'a list has no use for it, in whatever form');
};

subtest 'orphanDependents' => sub {
    $acme->request('DELETE', "$cms/a?propagationPolicy=Background&orphanDependents$_")
        ->is_status(422, "orphanDependents$_ beside a policy") for '=true', '=False', '';
    $acme->request('DELETE', "$cms/a?orphanDependents=False")->is_status(200, 'alone it is fine');
};

done_testing;
