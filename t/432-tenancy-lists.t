#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Lists: order, pages, markers, links, all namespaces, deleted ones, both forms.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start;
my $admin    = $instance->admin;
$admin->make_tenant('t1');
my $t1 = '/v2.0/t1';

sub names { return map { $_->{metadata}{name} } @{ $_[0]->json->{resources} } }

# Returns how many pages a list has, and the names of its items in their order.
sub walk {
    my ($path, %option) = @_;
    my @pages = $admin->pages($path, %option);
    return (scalar @pages, map { $option{accept} ? map({ xml_name($_) } Tenure::XML::children($_->xml)) : names($_) } @pages);
}

# metadata.name in W3C's XML form of JSON.
sub xml_name {
    my ($item) = @_;
    my $map = Tenure::XML::child($item, 'map');
    my ($metadata) = grep { ($_->{attributes}{key} // '') eq 'metadata' } Tenure::XML::children($map);
    my ($name)     = grep { ($_->{attributes}{key} // '') eq 'name' } Tenure::XML::children($metadata);
    return $name->{text};
}

my @maps = map { sprintf 'c%03d', $_ } 1 .. 250;
is scalar(grep { $admin->put("$t1/namespaces/default/configmaps/$_", json => { n => $_ })->status != 201 } reverse @maps), 0, '250 are there';

subtest 'large documents' => sub {
    my $text = 'x' x 500_000;
    my @large = map { "large$_" } 1 .. 9;
    $admin->make("$t1/namespaces/big");
    $admin->make("$t1/namespaces/big/secrets/$_", { data => $text }) for @large;
    my $first = $admin->get("$t1/namespaces/big/secrets?limit=1000");
    $first->is_status(200);
    cmp_ok length $first->text, '<', 4_300_000, 'a page is bounded by its bytes, whatever the limit';
    cmp_ok scalar(names($first)), '>=', 1, '... and not empty';
    my ($pages, @names) = walk("$t1/namespaces/big/secrets?limit=1000");
    is_deeply \@names, \@large, 'the links lead to all of them';
    $admin->delete("$t1/namespaces/big")->is_status(204);
};

subtest 'pages' => sub {
    my $list = $admin->get("$t1/namespaces/default/configmaps");
    $list->is_status(200);
    is_deeply [names($list)], [@maps[0 .. 99]], 'a hundred where nothing else is asked for, in their order';
    my ($pages, @names) = walk("$t1/namespaces/default/configmaps");
    is_deeply \@names, \@maps, 'the next links lead to all';
    is $pages, 3, 'in three pages';
    for my $limit (1, 7, 250, 1000) {
        my ($n, @walked) = walk("$t1/namespaces/default/configmaps?limit=$limit");
        is_deeply \@walked, \@maps, "the same by $limit";
        is $n, int((250 + $limit - 1) / $limit), 'without an empty page at the end';
    }
    my ($n, @walked) = walk("$t1/namespaces/default/configmaps?limit=70", accept => 'application/xml');
    is_deeply \@walked, \@maps, 'the same in XML';
    is_deeply [names($admin->get("$t1/namespaces/default/configmaps?marker=c248"))], ['c249', 'c250'], 'a marker';
    is_deeply [names($admin->get("$t1/namespaces/default/configmaps?marker=c2489"))], ['c249', 'c250'], 'one that is no item';
    is_deeply [names($admin->get("$t1/namespaces/default/configmaps?marker=zzz"))], [], 'one behind all';
};

subtest 'items are whole' => sub {
    my $list = $admin->get("$t1/namespaces/default/configmaps?limit=1")->json->{resources}[0];
    is_deeply $list, $admin->get("$t1/namespaces/default/configmaps/c001")->json, 'as GET gives each, etag included';
};

subtest 'order is that of bytes' => sub {
    my @odd = ('A', 'B', 'a', 'a%20', 'a-', 'aa', 'b', '%C3%A9', '%E2%88%91', '%F0%9F%8C%8D');
    $admin->make("$t1/persistentvolumes/$_") for reverse @odd;
    my @names = map { my $n = $_; utf8::encode($n); $n } (walk("$t1/persistentvolumes?limit=2"))[1 .. @odd];
    is_deeply \@names, [map { s/%(..)/chr hex $1/ger } @odd], 'whatever the characters, and markers survive them';
};

subtest 'all namespaces' => sub {
    for my $space ('n1', 'n2', 'a%20%C3%A9') {
        $admin->make("$t1/namespaces/$space");
        $admin->make("$t1/namespaces/$space/secrets/$_") for 's1', 's2', 's%26x';
    }
    my @pages = $admin->pages("$t1/secrets?limit=2");
    my @seen  = map { "$_->{metadata}{namespace}/$_->{metadata}{name}" } map { @{ $_->json->{resources} } } @pages;
    my @want = map { my $n = $_; map { "$n/$_" } 's&x', 's1', 's2' } "a \x{e9}", 'n1', 'n2';
    is_deeply \@seen, \@want, 'by namespace, then name';
    is scalar @pages, 5, 'in pages that cut through namespaces';
    is_deeply [names($admin->get("$t1/namespaces/n1/secrets"))], ['s&x', 's1', 's2'], 'one namespace has its own alone';
};

subtest 'deleted ones' => sub {
    is_deeply [names($admin->get("$t1/namespaces/default/pods?deleted=true"))], [], 'none yet';
    for my $n (1 .. 5) {
        my $url = "$t1/namespaces/default/pods/p$n";
        $admin->make($url, { n => $n });
        $admin->delete($url)->is_status(204);
    }
    $admin->make("$t1/namespaces/default/pods/p1", { n => 'again' });
    is_deeply [names($admin->get("$t1/namespaces/default/pods"))], ['p1'], 'are not among the others';
    my @deleted = (walk("$t1/namespaces/default/pods?deleted=true&limit=2"));
    is_deeply [@deleted[1 .. $#deleted]], [map { "p$_" } 1 .. 5], 'are listed with deleted=true, page by page';
    my $first = $admin->get("$t1/namespaces/default/pods?deleted=true&limit=1")->json->{resources}[0]{metadata};
    ok $first->{$_}, "each has its $_" for 'uid', 'deletionTimestamp', 'purgeTimestamp', 'etag';
    $admin->get("$t1/namespaces/default/pods?deleted=true&marker=p1")->is_problem(400, 'bad_parameter', 'their marker is no name');
    my $all = $admin->get("$t1/pods?deleted=true");
    is scalar(names($all)), 5, 'in all namespaces';
    my $page = $admin->get("$t1/namespaces/default/pods?deleted=true&limit=2");
    is_deeply [names($page)], ['p1', 'p2'], 'the first page';
    $admin->post("$t1/namespaces/default/pods/p2/action/recover")->is_status(204, '... whose last one is recovered');
    my ($pages, @rest) = walk($page->json->{next});
    is_deeply \@rest, [map { "p$_" } 3 .. 5], '... the next begins behind it';
};

subtest 'while things change' => sub {
    my $page = $admin->get("$t1/namespaces/default/configmaps?limit=100");
    $admin->delete("$t1/namespaces/default/configmaps/c100")->is_status(204, 'the item the marker names goes');
    $admin->make("$t1/namespaces/default/configmaps/c1005");
    my ($pages, @rest) = walk($page->json->{next});
    is_deeply \@rest, ['c1005', @maps[100 .. 249]], 'the next page begins behind it, nothing twice, nothing left out';
};

done_testing;
