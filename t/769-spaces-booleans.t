#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Boolean parameters as Kubernetes reads them: every value but "false" and "0" is true. Python's clients write "True".
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $instance = Tenure::Instance->start(combined => 1, workers => 2);
my $admin    = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my $cms      = '/api/v1/namespaces/default/configmaps';

my @true  = ('', map { "=$_" } '', qw(true True TRUE 1 t yes 2));
my @false = map { "=$_" } qw(false False FALSE 0);

$admin->post('/api/v1/tenants', json => { metadata => { name => 'acme' } })->is_status(201, 'tenant acme');
$acme->post($cms, json => { metadata => { name => 'a' } })->is_status(201, 'a config map');

# The answer to a GET of the collection; a watch ends after a second.
sub lines_of {
    my ($query) = @_;
    return split /\n/, $acme->get("$cms?timeoutSeconds=1&$query")->text;
}

subtest 'watch' => sub {
    like +(lines_of("watch$_"))[0],       qr/\A\{"type":"ADDED"/,            "watch$_ watches" for @true;
    like +(lines_of("watch$_"))[0],       qr/\A\{"kind":"ConfigMapList"/,    "watch$_ lists"   for @false;
    like +(lines_of('x'))[0],             qr/\A\{"kind":"ConfigMapList"/,    'so does none';
};

subtest 'allowWatchBookmarks' => sub {
    my $from = $acme->get($cms)->json->{metadata}{resourceVersion};
    my $ask  = "watch=True&resourceVersion=$from&allowWatchBookmarks";
    like +(lines_of("$ask$_"))[-1] // '', qr/\A\{"type":"BOOKMARK"/, "allowWatchBookmarks$_ gives one" for '=True', '';
    is scalar(lines_of("$ask$_")), 0, "allowWatchBookmarks$_ gives none" for '=False', '=0';
};

subtest 'sendInitialEvents' => sub {
    my $from = $acme->get($cms)->json->{metadata}{resourceVersion};
    my $ask  = "watch=1&resourceVersion=$from&resourceVersionMatch=NotOlderThan&sendInitialEvents";
    like +(lines_of("$ask$_"))[0] // '', qr/\A\{"type":"ADDED"/, "sendInitialEvents$_" for '=True', '=yes', '';
    is scalar(lines_of("watch=1&resourceVersion=$from&resourceVersionMatch=NotOlderThan&sendInitialEvents=False")), 0,
        'sendInitialEvents=False';
    $acme->get("$cms?sendInitialEvents")->is_status(422, 'a list has no use for it, in whatever form');
};

subtest 'orphanDependents' => sub {
    $acme->request('DELETE', "$cms/a?propagationPolicy=Background&orphanDependents$_")
        ->is_status(422, "orphanDependents$_ beside a policy") for '=true', '=False', '';
    $acme->request('DELETE', "$cms/a?orphanDependents=False")->is_status(200, 'alone it is fine');
};

done_testing;
