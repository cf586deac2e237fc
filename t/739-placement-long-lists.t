#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Lists that are longer than the memory of a request: of providers, of a provider's allocations, inventories and usages, of traits
# and classes, of a project's usages, of allocation candidates; and nodes with large documents. Each has every row once, and no worker
# takes more memory than it may. request_memory is small, so that few rows are enough.
use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Memory qw(allowed_kb is_sanitized peak_kb processes_of reset_peaks);
use Tenure::Instance;
use Tenure::Placement;

my $many  = 40_000; # rows of each list; so many providers have more bytes than a request has memory
my $hosts = 10_000; # of the providers; for candidates, with long traits

# The rows are copies of one provider, and of one consumer with one allocation, which the API made.
my $fill = <<"SQL";
SELECT r.id INTO \@template FROM resources r JOIN resource_aliases a ON a.resource_id = r.id WHERE a.kind = 'name' AND a.value LIKE 'model %';
CREATE TEMPORARY TABLE u (seq INT PRIMARY KEY, uid BINARY(16) NOT NULL UNIQUE) SELECT seq, RANDOM_BYTES(16) AS uid FROM seq_1_to_$many;
INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, locked, bytes, revision, edits, h0, h1, h2, h3, etag, meta,
  body, traits, root, created_at, updated_at)
SELECT u.uid, t.tenant_id, t.type_id, t.namespace, LOWER(HEX(u.uid)), 1, 0, t.bytes, 1, 1, 1, 1, 1, 1, t.etag, t.meta,
  REPLACE(t.body, 'model ', CONCAT('p', u.seq, ' ')), t.traits, CONCAT(LEFT(t.root, LENGTH(t.root) - 16), u.uid), t.created_at,
  t.updated_at
FROM u JOIN resources t ON t.id = \@template ORDER BY u.seq;
INSERT INTO traits (name, created_at, updated_at)
SELECT CONCAT('CUSTOM_T', seq, '_', REPEAT('T', 200)), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM u;
INSERT INTO resource_classes (id, name) SELECT 20000 + seq, CONCAT('CUSTOM_C', seq, '_', REPEAT('C', 200)) FROM u;
INSERT INTO inventories (resource_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio, capacity, used,
  created_at, updated_at)
SELECT \@template, c.id, c.id, 0, 1, 1000, 1, 1.5, 1.5 * c.id, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)
FROM resource_classes c WHERE c.id > 20000;
INSERT INTO consumers (uid, project, user, type_id, generation, created_at, updated_at)
SELECT u.uid, o.project, o.user, o.type_id, 1, o.created_at, o.updated_at FROM u JOIN (SELECT * FROM consumers WHERE user = 'model') o;
INSERT INTO allocations (consumer_id, resource_id, class_id, used, updated_at)
SELECT c.id, \@template, 20000 + u.seq, 1, UTC_TIMESTAMP(6) FROM consumers c STRAIGHT_JOIN u ON u.uid = c.uid;
INSERT INTO allocations (consumer_id, resource_id, class_id, used, updated_at)
SELECT o.id, r.id, 1, 1, UTC_TIMESTAMP(6) FROM (SELECT id FROM consumers ORDER BY id LIMIT 1) o
STRAIGHT_JOIN resources r STRAIGHT_JOIN u ON u.uid = r.uid;
UPDATE catalogues SET revision = revision + 1;
SQL

# The first $hosts copies get traits and room on a disk, the next ones become a child of one of these each, with less room.
my $fill_hosts = <<"SQL";
SELECT MIN(r.id) + 1 INTO \@first FROM resources r JOIN types y ON y.id = r.type_id WHERE y.plural = 'resourceproviders';
SELECT id INTO \@disk FROM resource_classes WHERE name = 'DISK_GB';
SELECT CONCAT('["', GROUP_CONCAT(name ORDER BY name SEPARATOR '","'), '"]') INTO \@traits
FROM (SELECT name FROM traits WHERE name LIKE 'CUSTOM\\_T%' ORDER BY name LIMIT 12) t;
INSERT INTO inventories (resource_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio, capacity, used,
  created_at, updated_at)
SELECT r.id, \@disk, x.total, 0, 1, 100, 1, 1, x.total, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)
FROM resources r JOIN (SELECT 0 AS child, 100 AS total UNION SELECT 1, 50) x ON x.child = (r.id >= \@first + $hosts)
WHERE r.id >= \@first AND r.id < \@first + 2 * $hosts;
UPDATE resources SET traits = \@traits WHERE id >= \@first AND id < \@first + $hosts;
UPDATE resources c JOIN resources h ON h.id = c.id - $hosts
SET c.root = h.root, c.body = JSON_SET(c.body, '\$.parent_provider_uuid',
  LOWER(CONCAT_WS('-', LEFT(HEX(h.uid), 8), MID(HEX(h.uid), 9, 4), MID(HEX(h.uid), 13, 4), MID(HEX(h.uid), 17, 4), RIGHT(HEX(h.uid), 12))))
WHERE c.id >= \@first + $hosts AND c.id < \@first + 2 * $hosts;
SQL

sub with_dashes { my ($hex) = @_; return lc $hex =~ s/^(.{8})(.{4})(.{4})(.{4})/$1-$2-$3-$4-/r }

# Is the text the head, then elements with commas between them, then the tail? Each element's first group is its name: it has each of
# the expected names once. (A parser in Perl takes a minute for such a text.)
sub has_each {
    my ($what, $text, $head, $element, $tail, $expected) = @_;
    my %count;
    my $more = $text =~ /\G$head/gc;
    ok $more, "$what: its beginning" or diag substr $text, 0, 200;
    while ($more && $text =~ /\G$element/gc) {
        $count{$1}++;
        $more = $text =~ /\G,/gc;
    }
    ok !$more && $text =~ /\G$tail\n?\z/gc, "$what: its end" or diag pos($text) // 'none', ': ', substr $text, pos($text) // 0, 300;
    is scalar(grep { $_ > 1 } values %count), 0, "$what: none is there twice";
    is scalar(grep { !$count{$_} } @$expected), 0, "$what: none is missing";
    is scalar(keys %count), scalar(@$expected), "$what: and no other";
    return;
}

my $uuid = qr/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

# The two parts of an answer with allocation candidates.
sub parts_of { my ($text) = @_; return split /(?=\],"provider_summaries")/, $text, 2 }

for my $server ('lighttpd', 'apache-fcgid') {
    next if $server eq 'apache-fcgid' && !(Tenure::Instance::on_path('apache2') && -e '/usr/lib/apache2/modules/mod_fcgid.so');
    subtest $server => sub {
        my $instance  = Tenure::Instance->start(server => $server, placement => 1, combined => 1, workers => 2,
            settings => { 'tenure.request_memory' => '28M', 'tenure.request_cpu' => 20_000,
                'placement.randomize_allocation_candidates' => $server eq 'lighttpd' ? 'no' : 'yes' });
        my $placement = Tenure::Placement->new($instance->placement, '1.39');
        my $first     = $placement->post('/resource_providers', json => { name => 'model ü' })->json->{uuid};
        my $at        = "/resource_providers/$first";
        my $consumer  = Tenure::Placement::uuid();
        $placement->put("$at/inventories", json => { resource_provider_generation => 0, inventories => { VCPU => { total => 10 } } })->is_status(200);
        $placement->put("/allocations/$consumer", json => { allocations => { $first => { resources => { VCPU => 3 } } },
            project_id => 'long', user_id => 'model', consumer_generation => undef, consumer_type => 'INSTANCE' })->is_status(204);
        $instance->sql($fill);
        my $column = sub { return [map { $_->[0] } $instance->sql(@_)] };
        my @uids   = map { with_dashes($_) } @{ $column->(q(SELECT HEX(r.uid) FROM resources r JOIN types y ON y.id = r.type_id WHERE y.plural = 'resourceproviders')) };
        is scalar @uids, $many + 1, 'providers';
        my $generation = $placement->get($at)->json->{generation};
        my @processes  = processes_of($instance);
        my $measured   = !is_sanitized($processes[0] // $$);
        reset_peaks(@processes);
        my $get = sub {
            my ($path, $version) = @_;
            my $answer = ($version ? $placement->version($version) : $placement)->get($path);
            $answer->is_status(200, $path);
            return $answer->text;
        };

        my $list = $get->('/resource_providers');
        has_each('providers', $list, qr/\{"resource_providers":\[/,
            qr/\{"uuid":"($uuid)","name":"(?:p[0-9]+|model) \\u00fc","generation":[0-9]+,"root_provider_uuid":"\1","parent_provider_uuid":null,"links":\[[^\]]*\]\}/,
            qr/\]\}/, \@uids);
        cmp_ok length $list, '>', 28 << 20, 'more than the memory of a request';
        like $get->('/resource_providers?resources=VCPU:1'), qr/\A\{"resource_providers":\[\{"uuid":"$first"[^\]]*\]\}\]\}\z/, 'a filter is one still';

        has_each('traits', $get->('/traits'), qr/\{"traits":\[/, qr/"(\w+)"/, qr/\]\}/, $column->('SELECT name FROM traits WHERE live = 1'));
        my $classes = $column->('SELECT name FROM resource_classes WHERE live = 1');
        has_each('classes', $get->('/resource_classes'), qr/\{"resource_classes":\[/,
            qr/\{"name":"(\w+)","links":\[\{"rel":"self","href":"[^"]*\/\1"\}\]\}/, qr/\]\}/, $classes);

        my @stocked = ('VCPU', grep { /^CUSTOM_C/ } @$classes);
        has_each('inventories', $get->("$at/inventories"), qr/\{"inventories":\{/, qr/"(\w+)":\{"total":[0-9]+,"reserved":0,[^{}]*\}/,
            qr/\},"resource_provider_generation":$generation\}/, \@stocked);
        has_each('usages', $get->("$at/usages"), qr/\{"usages":\{/, qr/"(VCPU(?=":3)|CUSTOM\w+(?=":1))":[13]/,
            qr/\},"resource_provider_generation":$generation\}/, \@stocked);

        my @consumers = map { with_dashes($_) } @{ $column->('SELECT HEX(uid) FROM consumers') };
        has_each('allocations of the provider', $get->("$at/allocations"), qr/\{"allocations":\{/,
            qr/"($uuid)":\{"consumer_generation":1,"resources":\{(?:"VCPU":3|"CUSTOM\w+":1)\}\}/,
            qr/\},"resource_provider_generation":$generation\}/, \@consumers);
        has_each('allocations of the consumer', $get->("/allocations/$consumer"), qr/\{"allocations":\{/,
            qr/"($uuid)":\{"generation":[0-9]+,"resources":\{"VCPU":[13]\}\}/,
            qr/\},"project_id":"long","user_id":"model","consumer_generation":1,"consumer_type":"INSTANCE"\}/, \@uids);
        my $sum   = $many + 3;
        my $class = qr/"(VCPU(?=":$sum[,}])|CUSTOM\w+(?=":1[,}]))":[0-9]+/;
        my $of    = $many + 1;
        has_each('usages of the project', $get->('/usages?project_id=long'), qr/\{"usages":\{"INSTANCE":\{"consumer_count":$of,/, $class, qr/\}\}\}/, \@stocked);
        has_each('usages before types', $get->('/usages?project_id=long', '1.37'), qr/\{"usages":\{/, $class, qr/\}\}/, \@stocked);

        # Allocation candidates: more trees than a request has memory for.
        $instance->sql($fill_hosts);
        my (%host_of, $traits);
        for ($instance->sql(q(SELECT HEX(r.uid), HEX(RIGHT(r.root, 16)), r.traits FROM resources r JOIN inventories i ON i.resource_id = r.id
            JOIN resource_classes c ON c.id = i.class_id WHERE c.name = 'DISK_GB'))) {
            my ($uid, $root) = map { with_dashes($_) } @$_[0, 1];
            $host_of{$uid} = $root;
            $traits //= $_->[2] if $uid eq $root;
        }
        my @disks = sort keys %host_of;
        my @hosts = grep { $host_of{$_} eq $_ } @disks;
        is_deeply [ scalar @disks, scalar @hosts ], [ 2 * $hosts, $hosts ], 'hosts, each with a child';
        my $request = qr/\{"allocations":\{"($uuid)":\{"resources":\{"DISK_GB":[0-9]+\}\}\},"mappings":\{"":\["\1"\]\}\}/;
        my $summary = qr/"($uuid)":\{"resources":\{"DISK_GB":\{"capacity":(?:100|50),"used":0\}\},/;
        my $in_tree = qr/$summary"traits":(?:\Q$traits\E,"parent_provider_uuid":null,"root_provider_uuid":"\1"|\[\],"parent_provider_uuid":"($uuid)","root_provider_uuid":"\2")\}/;
        my @head    = (qr/\{"allocation_requests":\[/, qr/\],"provider_summaries":\{/);
        for my $limit ('', "&limit=$many") {
            my $text = $get->("/allocation_candidates?resources=DISK_GB:1$limit");
            cmp_ok length $text, '>', 28 << 20, 'candidates: more than the memory of a request';
            my ($requests, $summaries) = parts_of($text);
            has_each("candidates$limit", $requests, $head[0], $request, qr//, \@disks);
            has_each("summaries$limit", $summaries, $head[1], $in_tree, qr/\}\}/, \@disks);
        }
        my $some = 3 * $hosts / 2;
        my ($requests, $summaries) = parts_of($get->("/allocation_candidates?resources=DISK_GB:1&limit=$some"));
        my %given = map { $_ => 1 } $requests =~ /"allocations":\{"($uuid)"/g;
        is scalar keys %given, $some, 'candidates up to a limit';
        is scalar keys %{ { map { $host_of{$_} => 1 } keys %given } }, $hosts, '... of every host';
        has_each('their summaries', $summaries, $head[1], $in_tree, qr/\}\}/, \@disks);
        ($requests, $summaries) = parts_of($get->('/allocation_candidates?resources=DISK_GB:60', '1.28'));
        has_each('candidates before trees', $requests, $head[0], qr/\{"allocations":\{"($uuid)":\{"resources":\{"DISK_GB":60\}\}\}\}/, qr//, \@hosts);
        has_each('their summaries', $summaries, $head[1], qr/$summary"traits":\Q$traits\E\}/, qr/\}\}/, \@hosts);

        # Pages of nodes end where their documents get large.
        my $metal = $instance->combined('admin');
        my %metal = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
        my @nodes = map {
            my $body = qq({"driver":"fake-hardware","name":"n$_","extra":{"x":") . 'x' x 900_000 . '"}}';
            my ($made) = $metal->post('/baremetal/v1/nodes', body => $body, type => 'application/json', %metal)->text =~ /"uuid":"($uuid)"/;
            $made;
        } 1 .. 7;
        my ($path, @seen) = '/baremetal/v1/nodes/detail?limit=1000';
        while (defined $path && @seen <= 7) {
            my $page = $metal->get($path, %metal);
            $page->is_status(200, 'a page of nodes');
            push @seen, $page->text =~ /[{,]"uuid":"($uuid)"/g;
            ($path) = $page->text =~ m{"next":"[^"]*(/baremetal/[^"]*)"};
        }
        is_deeply \@seen, \@nodes, 'each node once';

        cmp_ok peak_kb(processes_of($instance)), '<=', allowed_kb(), 'memory of the workers' if $measured;
        my ($code, $text) = $instance->manage('config', 'check');
        is $code, 0, 'the settings are right' or diag $text;
        $instance->stop;
    };
}

done_testing;
