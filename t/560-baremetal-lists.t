#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Lists of bare metal: what each item shows, filters, fields, order, pages and the way from one to the next.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::MeanwhileProxy;
use Tenure::Metal qw(is_fault);
use Tenure::Parallel;
use Tenure::Run qw(wait_until);

my $proxy;
my $instance = Tenure::Instance->start(database_by => sub { $proxy = Tenure::MeanwhileProxy->new(@_); return $proxy->path });
my $admin    = Tenure::Metal->new($instance->admin, '1.82');
my $none     = '00000000-0000-4000-8000-000000000000';
my $inst     = 'aaaaaaaa-0000-4000-8000-000000000001';
my $true     = JSON::PP::true;
my @chassis  = map { $admin->make('chassis', { description => "row $_" }) } 0 .. 4;
my @nodes    = map { node($_) } 0 .. 11;
my @groups   = map { $admin->make('portgroups', { node_uuid => $nodes[$_ % 2]{uuid}, name => "pg$_",
    address => sprintf '52:54:01:00:00:%02x', $_ }) } 0 .. 3;
my @ports    = map { port($_) } 0 .. 11;

sub node {
    my ($i) = @_;
    my %content = (driver => $i % 2 ? 'ipmi' : 'fake-hardware', name => sprintf('n%02d', (5 * $i) % 12), extra => { i => $i });
    @content{qw(owner resource_class description)} = ('acme', 'gold', "The 100% best_$i") if $i % 3 == 0;
    $content{chassis_uuid} = $chassis[0]{uuid} if $i < 4;
    $content{maintenance}  = $true             if $i < 2;
    @content{qw(instance_uuid conductor_group)} = ($inst, 'East') if $i == 4;
    $content{retired} = $true if $i == 5;
    @content{qw(shard lessee)} = ("s$i", 'les') if $i > 9;
    $content{lessee} = 'acme' if $i == 7;
    return $admin->make('nodes', \%content);
}

sub port {
    my ($i) = @_;
    return $admin->make('ports', { address => sprintf('52:54:00:00:00:%02x', $i), node_uuid => $nodes[$i % 3]{uuid},
        extra => { i => $i },
        $i % 3 < 2 && $i < 6 ? (portgroup_uuid => $groups[$i % 3]{uuid}) : () });
}

# Names or numbers of the items of a list.
sub indices {
    my ($response, $kind, $all) = @_;
    my %index = map { $all->[$_]{uuid} => $_ } 0 .. $#$all;
    $response->status == 200 or return $response->describe;
    return join ' ', map { $index{ $_->{uuid} } // '?' } @{ $response->json->{$kind} };
}

sub nodes_are {
    my ($query, $want, $name, %option) = @_;
    return is indices($admin->get("/nodes$query", %option), 'nodes', \@nodes), $want, $name // $query;
}

sub ports_are {
    my ($query, $want, $name) = @_;
    return is indices($admin->get($query), 'ports', \@ports), $want, $name // $query;
}

# Follows next to the end: the pages, each as indices.
sub pages {
    my ($path, $kind, $all) = @_;
    my @pages;
    while (defined $path && @pages < 50) {
        my $page = $admin->get($path);
        push @pages, indices($page, $kind, $all);
        $path = $page->json->{next};
    }
    return \@pages;
}

# Before any other list: what a connection has prepared before is not held.
subtest 'what is deleted while it is listed' => sub {
    for my $order ('', '&sort_key=created_at', '&sort_key=created_at&sort_dir=desc') {
        my @more = map { $admin->make('chassis', { description => "more $_" })->{uuid} } 0 .. 3;
        @more = reverse @more if $order =~ /desc/;
        my ($marker, $first, $second, $last) = @more;
        for my $row ($instance->sql('SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()')) {
            eval { $instance->sql("KILL $row->[0]") };
        }
        $proxy->hold('SELECT x.n, t.name AS tenant');
        my ($listed) = Tenure::Parallel::run(2, sub {
            return $admin->get("/chassis?limit=1&marker=$marker$order")->text =~ s/\s+/ /gr if $_[0] == 0;
            wait_until(sub { $proxy->is_held }) or die "nothing was held\n";
            my $status = $admin->delete("/chassis/$first")->status;
            $proxy->release;
            return $status;
        });
        my $page = JSON::PP::decode_json($listed);
        is_deeply [map { $_->{uuid} } @{ $page->{chassis} }], [$second], "limit=1$order: the next one takes its place" or diag $listed;
        like $page->{next} // '', qr/marker=\Q$second\E/, '... and leads on';
        $admin->delete("/chassis/$_")->is_status(204) for $marker, $second, $last;
    }
};

subtest 'what an item shows' => sub {
    my %brief = (nodes => [qw(instance_uuid links maintenance name power_state provision_state uuid)],
        ports => [qw(address links uuid)],
        portgroups => [qw(address links name uuid)], chassis => [qw(description links uuid)]);
    my %one = (nodes => $nodes[0], ports => $ports[0], portgroups => $groups[0], chassis => $chassis[0]);
    for my $kind (sort keys %brief) {
        my $list = $admin->get("/$kind");
        is $list->etag, undef, "$kind: a list has no tag in its header";
        is_deeply [sort keys %{ $list->json->{$kind}[0] }], [sort 'etag', @{ $brief{$kind} }], 'its items have theirs';
        is $list->json->{$kind}[0]{etag}, $admin->get("/$kind/$one{$kind}{uuid}")->json->{etag},
            'the one that GET of it has';
        is_deeply [sort keys %{ $admin->version('1.39')->get("/$kind")->json->{$kind}[0] }], $brief{$kind},
            'before 1.40 none';
        my $whole = $admin->get("/$kind/$one{$kind}{uuid}")->json;
        is_deeply $admin->get("/$kind/detail")->json->{$kind}[0], $whole, 'detail: the whole object';
        is_deeply $admin->get("/$kind?detail=True")->json->{$kind}[0], $whole, 'by a parameter';
        is_deeply [sort keys %{ $admin->get("/$kind?detail=false")->json->{$kind}[0] }], [sort 'etag',
            @{ $brief{$kind} }], 'or not';
        is_deeply $admin->get("/$kind?fields=uuid,extra")->json->{$kind}[0],
            { map { $_ => $whole->{$_} } qw(uuid extra etag links) }, 'fields';
        is_deeply $admin->get("/$kind?fields=%20UUID,Extra,uuid")->json->{$kind}[0],
            { map { $_ => $whole->{$_} } qw(uuid extra etag links) }, 'in any case';
        is_deeply $admin->get("/$kind?fields=")->json->{$kind}[0], { map { $_ => $whole->{$_} } qw(etag links) },
            'none of them';
        is_fault($admin->get("/$kind?fields=uuid,bogus"), 400, qr/bogus/, 'an unknown field');
        is_fault($admin->get("/$kind?fields=uuid&detail=true"), 400, qr/subset/, 'fields of the whole');
        is_fault($admin->get("/$kind/detail?fields=uuid"), 400, qr/Unexpected arguments/, 'the same');
        is_fault($admin->get("/$kind?fields=uuid&fields=extra"), 400, undef, 'twice');
        is_fault($admin->get("/$kind?detail=maybe"), 400, qr/Unrecognized value/, 'detail: yes or no');
        is_fault($admin->version('1.42')->get("/$kind?detail=true"), 400, qr/detail/, 'detail came with 1.43');
    }
    is_fault($admin->get("/nodes?fields=$_"), 400, qr/$_/, "no column: $_") for qw(links conductor ports);
    is_fault($admin->version('1.7')->get('/nodes?fields=uuid'), 406, qr/fields/, 'fields came with 1.8');
    is_deeply [sort keys %{ $admin->version('1.1')->get('/nodes')->json->{nodes}[0] }],
        [qw(instance_uuid links maintenance power_state provision_state uuid)],
        'at 1.1';
    $admin->get('/nodes', if_none_match => '*', if_match => 'W/"x"')->is_status(200,
        'preconditions are none of a list');
};

subtest 'filters of nodes' => sub {
    nodes_are('', join(' ', 0 .. 11), 'all, in order of creation');
    nodes_are('/?maintenance=True', '0 1', 'slash and capital, as the client sends it');
    nodes_are('?maintenance=false', join(' ', 2 .. 11));
    nodes_are('?associated=true', '4');
    nodes_are('?associated=False', join(' ', 0 .. 3, 5 .. 11));
    nodes_are("?instance_uuid=$inst", '4');
    nodes_are('/detail?instance_uuid=' . uc $inst, '4');
    nodes_are("?instance_uuid=$none", '');
    nodes_are("?chassis_uuid=$chassis[0]{uuid}", '0 1 2 3');
    nodes_are('?chassis_uuid=' . uc $chassis[1]{uuid}, '');
    nodes_are("?chassis_uuid=$chassis[0]{uuid}&instance_uuid=$inst", '');
    nodes_are("?chassis_uuid=$chassis[0]{uuid}&maintenance=true&driver=ipmi", '1');
    nodes_are('?provision_state=enroll&driver=ipmi', '1 3 5 7 9 11');
    nodes_are('?provision_state=active', '');
    nodes_are('?driver=nosuch', '');
    nodes_are('?driver=', '');
    nodes_are('?resource_class=gold', '0 3 6 9');
    nodes_are('?owner=acme', '0 3 6 9');
    nodes_are('?owner=nosuch', '');
    nodes_are('?owner=system', '', 'what nobody owns is not the operator\'s by that name');
    nodes_are('?owner=acme&maintenance=false', '3 6 9');
    nodes_are('?lessee=les', '10 11');
    nodes_are('?project=acme', '0 3 6 7 9', 'what a project owns, and what it leases');
    nodes_are('?project=les', '10 11', 'what it leases alone');
    nodes_are('?project=ACME', '', 'byte by byte');
    nodes_are('?project=system', '', 'what nobody owns is no project\'s');
    nodes_are('?project=acme&driver=ipmi&sort_key=name&sort_dir=desc', '7 9 3', 'with another filter, in another order');
    nodes_are('?description_contains=best_', '0 3 6 9');
    nodes_are('?description_contains=100%25', '0 3 6 9', 'a percent sign is itself');
    nodes_are('?description_contains=b_st', '', 'so is an underscore');
    nodes_are('?retired=true', '5');
    nodes_are('?conductor_group=EAST', '4');
    nodes_are('?conductor_group=', join(' ', 0 .. 3, 5 .. 11));
    nodes_are('?conductor=nosuch', '');
    nodes_are('?conductor=' . $nodes[0]{conductor} . '&retired=true', '5');
    nodes_are('?fault=power%20failure', '');
    nodes_are('?shard=s10', '10');
    nodes_are('?shard=s10,s11', '10 11', 'of several shards');
    nodes_are('?shard=s1', '', 'by whole names');
    nodes_are('?shard=%20s11%20,,s%2510,%22', '11');
    nodes_are('?shard=,', '');
    nodes_are('?sharded=true', '10 11');
    nodes_are('?sharded=false&retired=true', '5');
};

subtest 'filters that are refused' => sub {
    is_fault($admin->get("/nodes?$_"), 400, undef, $_)
        for 'maintenance=perhaps', 'associated=2', 'instance_uuid=abc', 'chassis_uuid=abc', 'provision_state=bogus',
            'fault=bogus', 'nosuch=1', 'maintenance=true&maintenance=false';
    is_fault($admin->get('/nodes?nosuch=1'), 400, qr/Unexpected arguments/, 'an unknown parameter is told so');
    is_fault($admin->get("/nodes?chassis_uuid=$none"), 404, qr/Chassis \Q$none\E/, 'an unknown chassis');
    my $nine = join '&', map { "$_=1" } qw(driver resource_class conductor_group lessee shard description_contains associated
        maintenance retired);
    is_fault($admin->get("/nodes?$nine"),
        400, qr/At most 8/, 'too many');
    my %since = (provision_state => 9, driver => 16, resource_class => 21, fault => 42, conductor_group => 46,
        conductor => 49, owner => 50, lessee => 65, shard => 82, sharded => 82);
    my %value = (provision_state => 'enroll', fault => 'power%20failure', sharded => 'true');
    for my $name (sort keys %since) {
        my $query = "/nodes?$name=" . ($value{$name} // 'x');
        is_fault($admin->version('1.' . ($since{$name} - 1))->get($query), 406, qr/$name/,
            "$name before 1.$since{$name}");
        $admin->version("1.$since{$name}")->get($query)->is_status(200, 'since then');
    }
};

subtest 'filters of every version' => sub {
    for my $case (['retired=true', '5'], ['description_contains=best_', '0 3 6 9'], ['project=acme', '0 3 6 7 9']) {
        my ($query, $want) = @$case;
        for my $version (undef, '1.1', '1.50', '1.64') {
            is indices($admin->version($version)->get("$_?$query"), 'nodes', \@nodes), $want, "$_?$query at " . ($version // 'no version') for '/nodes', '/nodes/detail';
        }
    }
};

subtest 'ports and port groups' => sub {
    ports_are('/ports', join(' ', 0 .. 11));
    ports_are("/ports?node=$nodes[1]{uuid}", '1 4 7 10');
    ports_are("/ports?node=$nodes[1]{name}", '1 4 7 10', 'by the node\'s name');
    ports_are("/ports?node_uuid=$nodes[1]{uuid}", '1 4 7 10');
    ports_are("/ports?portgroup=$groups[0]{uuid}", '0 3');
    ports_are('/ports?portgroup=pg1', '1 4', 'by the group\'s name');
    ports_are('/ports?address=52:54:00:00:00:0A', '10');
    ports_are("/ports/detail?address=52:54:00:00:00:0a&node=$nodes[1]{uuid}", '10');
    ports_are("/ports?address=52:54:00:00:00:0a&node=$nodes[0]{uuid}", '');
    ports_are("/ports?address=52:54:00:00:00:03&portgroup=pg0", '3');
    ports_are('/ports?address=52:54:00:00:00:99', '');
    is indices($admin->get("/portgroups?node=$nodes[0]{name}"), 'portgroups', \@groups), '0 2', 'port groups of a node';
    is indices($admin->get('/portgroups?address=52:54:01:00:00:03'), 'portgroups', \@groups), '3', 'of an address';
    is_fault($admin->get("/ports?node=$none"), 404, qr/Node \Q$none\E/, 'an unknown node');
    is_fault($admin->get('/ports?node=nosuch'), 404, qr/Node nosuch/, 'by name');
    is_fault($admin->get('/ports?node_uuid=nosuch'), 400, qr/Expected UUID for node_uuid/, 'no UUID');
    is_fault($admin->get('/ports?portgroup=nosuch'), 404, qr/Portgroup nosuch/, 'an unknown group');
    is_fault($admin->get('/ports?address=x'), 400, qr/Expected valid MAC address/, 'no address');
    is_fault($admin->version('1.4')->get("/ports?node=$nodes[1]{name}"), 406, qr/name.*1\.5/, 'nodes had no names before 1.5');
    is_fault($admin->version('1.4')->get('/ports?node=a%20b'), 400, qr/Expected UUID or name/, 'what is no name either');
    is indices($admin->version('1.4')->get("/ports?node=$nodes[1]{uuid}"), 'ports', \@ports), '1 4 7 10', 'but UUIDs';
    is_fault($admin->version('1.23')->get('/ports?portgroup=pg0'), 406, qr/portgroup/,
        'port groups of ports came with 1.24');
};

subtest 'below another' => sub {
    ports_are("/nodes/$nodes[0]{uuid}/ports", '0 3 6 9');
    ports_are("/nodes/$nodes[0]{name}/ports/detail", '0 3 6 9');
    ports_are("/nodes/$nodes[5]{uuid}/ports", '');
    ports_are('/portgroups/pg0/ports', '0 3');
    is indices($admin->get("/nodes/$nodes[1]{uuid}/portgroups"), 'portgroups', \@groups), '1 3',
        'port groups of a node';
    is indices($admin->get("/chassis/$chassis[0]{uuid}/nodes"), 'nodes', \@nodes), '0 1 2 3', 'nodes of a chassis';
    is indices($admin->get("/chassis/$chassis[0]{uuid}/nodes?maintenance=true&driver=ipmi"), 'nodes', \@nodes), '1',
        'with filters';
    is_deeply $admin->get("/nodes/$nodes[0]{uuid}/ports?fields=uuid")->json->{ports}[0], { uuid => $ports[0]{uuid},
        map { $_ => $ports[0]{$_} } qw(etag links) }, 'fields';
    is_deeply $admin->get("/nodes/$nodes[0]{uuid}/ports?detail=true")->json->{ports}[0], $ports[0], 'detail';
    is_fault($admin->get("/nodes/$none/ports"), 404, qr/Node \Q$none\E/, 'of no node');
    is_fault($admin->get('/portgroups/nosuch/ports'), 404, qr/Portgroup nosuch/, 'of no group');
    is_fault($admin->get("/chassis/$none/nodes"), 404, qr/Chassis \Q$none\E/, 'of no chassis');
};

subtest 'order' => sub {
    my %order = (name => [sort { $nodes[$a]{name} cmp $nodes[$b]{name} } 0 .. 11],
        uuid => [sort { $nodes[$a]{uuid} cmp $nodes[$b]{uuid} } 0 .. 11],
        id => [0 .. 11], driver => [(grep { $_ % 2 == 0 } 0 .. 11), grep { $_ % 2 } 0 .. 11], created_at => [0 .. 11]);
    for my $key (sort keys %order) {
        nodes_are("?sort_key=$key", join(' ', @{ $order{$key} }));
        nodes_are("?sort_key=$key&sort_dir=asc", join(' ', @{ $order{$key} }));
    }
    nodes_are("?sort_key=$_&sort_dir=desc", join(' ', reverse @{ $order{$_} })) for qw(name uuid id);
    nodes_are('?sort_key=owner&resource_class=gold', '0 3 6 9');
    is_fault($admin->get("/nodes?sort_key=$_"), 400, qr/sort_key/, "not by $_") for qw(bogus extra driver_info links
        traits ports conductor), '';
    is_fault($admin->get("/nodes?sort_dir=$_"), 400, qr/sort direction/, "no direction: $_") for qw(up ASC);
    is_fault($admin->version('1.4')->get('/nodes?sort_key=name'), 406, qr/name/, 'not by what came later');
};

subtest 'pages' => sub {
    nodes_are('?limit=3', '0 1 2');
    nodes_are("?limit=3&marker=$nodes[2]{uuid}", '3 4 5');
    nodes_are('?limit=100000', join(' ', 0 .. 11), 'more than a page has');
    nodes_are("?marker=$nodes[11]{uuid}", '', 'behind the last');
    ok !exists $admin->get('/nodes')->json->{next}, 'all in one page have no next';
    is_fault($admin->get("/nodes?limit=$_"), 400, qr/limit/, "limit=$_") for '0', '-1', 'x', '1.5', '';
    is_fault($admin->get('/nodes?marker=n1'), 400, qr/Expected UUID for marker: n1/, 'a marker is a UUID');
    is_fault($admin->get("/nodes?marker=$none"), 404, qr/\Q$none\E/, 'of one that was there');
    my $next = $admin->get('/nodes?limit=2')->json->{next};
    is $next, $admin->url . "/v1/nodes?limit=2&marker=$nodes[1]{uuid}", 'next';
    my @moved = map { $admin->make('nodes', { driver => 'ipmi', owner => 'leaving' })->{uuid} } 0 .. 2;
    $next = $admin->get('/nodes?owner=leaving&limit=1')->json->{next};
    $admin->patch("/nodes/$moved[0]", [[replace => '/owner', 'arrived']])->is_status(200);
    is_deeply [map { $_->{uuid} } @{ $admin->get($next)->json->{nodes} // [] }], [$moved[1]], 'it leads on, though the marker has another owner now';
    $admin->delete("/nodes/$_")->is_status(204) for @moved;
    my %walk = (
        '/nodes?limit=5'                                 => ['0 1 2 3 4', '5 6 7 8 9', '10 11'],
        '/nodes/?owner=acme&limit=3'                     => ['0 3 6', '9'],
        '/nodes?driver=ipmi&limit=4&sort_dir=desc'       => ['11 9 7 5', '3 1'],
        '/nodes/detail?provision_state=enroll&limit=7'   => [join(' ', 0 .. 6), join(' ', 7 .. 11)],
        '/nodes?limit=2&resource_class=gold&fields=uuid' => ['0 3', '6 9'],
        '/nodes?limit=9&description_contains=%25&detail=True' => ['0 3 6 9'],
    );
    is_deeply pages($_, 'nodes', \@nodes), $walk{$_}, "walking $_" for sort keys %walk;
    is_deeply pages("/chassis/$chassis[0]{uuid}/nodes?limit=3&maintenance=false", 'nodes', \@nodes), ['2 3'],
        'nodes of a chassis';
    is_deeply pages("/chassis/$chassis[0]{uuid}/nodes?limit=3", 'nodes', \@nodes), ['0 1 2', '3'], 'in pages';
    is_deeply pages("/nodes/$nodes[0]{name}/ports?limit=3", 'ports', \@ports), ['0 3 6', '9'], 'ports of a node';
    is_deeply pages('/portgroups/pg0/ports/detail?limit=1', 'ports', \@ports), ['0', '3'], 'of a group';
    is_deeply pages("/ports?node=$nodes[1]{uuid}&limit=2&sort_key=address&sort_dir=desc", 'ports', \@ports), ['10 7',
        '4 1'], 'of a node, by address';
    is_deeply pages('/chassis?limit=2', 'chassis', \@chassis), ['0 1', '2 3', '4'], 'chassis';
    is_deeply pages('/portgroups?limit=3&sort_key=name', 'portgroups', \@groups), ['0 1 2', '3'], 'port groups';
    my @by_name = sort { $nodes[$a]{name} cmp $nodes[$b]{name} } 0 .. 11;
    is_deeply pages('/nodes?limit=5&sort_key=name', 'nodes', \@nodes), [map { join ' ', @$_ } [@by_name[0 .. 4]],
        [@by_name[5 .. 9]], [@by_name[10, 11]]], 'by name';
    is_deeply pages('/nodes?limit=5&sort_key=resource_class&sort_dir=desc', 'nodes', \@nodes)->[0], '9 6 3 0 11',
        'by what is often null';
    is join(' ', @{ pages('/nodes?limit=1&sort_key=resource_class', 'nodes', \@nodes) }), '1 2 4 5 7 8 10 11 0 3 6 9',
        'through the nulls';
};

# Clients ask for one page alone and take it for the whole list: the sizes of what is stored must not end it.
subtest 'large nodes' => sub {
    my $text  = 'x' x 65_536;
    my @large = map { $admin->make('nodes', { driver => 'ipmi', resource_class => 'large', extra => { text => $text } })->{uuid} } 0 .. 79;
    for my $query ('', 'fields=uuid', 'fields=extra,uuid', 'detail=true', 'sort_key=created_at&detail=true', 'limit=80&detail=true') {
        my $list = $admin->get("/nodes?resource_class=large&$query")->json;
        is_deeply [map { $_->{uuid} } @{ $list->{nodes} }], \@large, "all of them are on one page: $query";
        is $list->{next}, undef, 'there is no next one';
        is scalar(grep { $_->{extra}{text} eq $text } @{ $list->{nodes} }), 80, '... with all that they have' if $query =~ /extra|detail/;
    }
    is_deeply pages('/nodes?resource_class=large&limit=70&detail=true', 'nodes', [map { { uuid => $_ } } @large]),
        [join(' ', 0 .. 69), join(' ', 70 .. 79)], 'pages end where the client wants';
    $admin->delete("/nodes/$_")->is_status(204) for @large;
};

done_testing;
