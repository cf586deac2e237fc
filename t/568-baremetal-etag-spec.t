#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The specification of etags on bare metal, sentence by sentence: where a tag is shown, what it stands for, what it guards.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Digest::SHA ();
use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault fault_of);

my $instance = Tenure::Instance->start;
my $admin    = Tenure::Metal->new($instance->admin, '1.82');
my $http     = $instance->admin;
my ($true, $false) = (JSON::PP::true, JSON::PP::false);
my $form = qr{\AW/[0-9a-f]{128}\z};
my $serial = 0;
my @versions = map { "1.$_" } 1 .. 82;

sub bare { return $_[0] =~ s/"//gr }
# The stored one, of nodes as it is shown: with their owner.
sub stored {
    my ($uuid) = @_;
    my ($row) = $instance->sql("SELECT y.plural, LOWER(HEX(r.etag)), r.tenant_id, r.moves FROM resources r JOIN types y ON y.id = r.type_id "
        . "WHERE r.name = '$uuid' AND r.live = 1");
    return 'W/' . $instance->shown_etag(@$row);
}

# A node with a port group, a port in it, and the chassis it stands in; each a document.
sub rack {
    my ($owner, %content) = @_;
    my $mac     = sprintf '52:54:00:68:%02x', $serial++;
    my %rack    = (chassis => $admin->make('chassis', { description => 'row 5' }));
    $rack{node} = $admin->make('nodes', { driver => 'ipmi', name => "rack$serial", owner => $owner,
        chassis_uuid => $rack{chassis}{uuid}, %content });
    my %on = (node_uuid => $rack{node}{uuid});
    $rack{portgroup} = $admin->make('portgroups', { %on, name => "group$serial", address => "$mac:01" });
    $rack{port}      = $admin->make('ports', { %on, portgroup_uuid => $rack{portgroup}{uuid}, address => "$mac:02" });
    return \%rack;
}

my %plural = (node => 'nodes', port => 'ports', portgroup => 'portgroups', chassis => 'chassis');
my @kinds  = sort keys %plural;
sub at { my ($rack, $kind) = @_; return "/$plural{$kind}/$rack->{$kind}{uuid}" }

# Every call that modifies something that is there: kind whose tag guards it, method, address behind that, what it sends.
sub calls_of {
    my ($rack) = @_;
    my @patches = map { [$_, 'PATCH', '', json => [{ op => 'add', path => '/extra/k', value => ++$serial }]] } @kinds;
    return (@patches,
        ['node', 'PUT', '/maintenance', json => { reason => 'fan ' . ++$serial }], ['node', 'DELETE', '/maintenance'],
        ['node', 'PUT', '/traits', json => { traits => ['CUSTOM_A'] }], ['node', 'PUT', '/traits/CUSTOM_B'],
        ['node', 'DELETE', '/traits/CUSTOM_A'], ['node', 'DELETE', '/traits'],
        map { [$_, 'DELETE', ''] } qw(port portgroup node chassis));
}

sub call_it {
    my ($metal, $rack, $call, %more) = @_;
    my ($kind, $method, $below, %body) = @$call;
    return $metal->request($method, at($rack, $kind) . $below, %body, %more);
}
sub title { my ($call) = @_; return "$call->[1] $call->[0]$call->[2]" }

subtest '"a unique etag identifier for every API modifiable resource (Node, Port, Portgroup, Chassis)"' => sub {
    my $rack = rack('t1');
    my %seen;
    for my $kind (@kinds) {
        my $tag = $rack->{$kind}{etag};
        like $tag, $form, "$kind: W/ and SHA-512 in hexadecimal digits, in the answer to POST";
        ok !$seen{$tag}++, 'no other has it';
        is stored($rack->{$kind}{uuid}), $tag, 'it is stored';
        my $get = $admin->get(at($rack, $kind));
        is_deeply [bare($get->etag), $get->json->{etag}], [$tag, $tag], 'in header and body of GET';
        is $get->etag, 'W/"' . ($tag =~ s{W/}{}r) . '"', 'quoted in the header';
    }
    ok !grep({ exists $admin->version('1.39')->get(at($rack, $_))->json->{etag} } @kinds), 'no sooner than microversion 1.40';
};

subtest '"a SHA-512 hash generated from JSON string encoded compactly", keyed' => sub {
    my $rack  = rack('t1', driver_info => { ipmi_password => 'hush' });
    my $patch = $admin->patch(at($rack, 'node'), [[add => '/extra/a', { b => [1, 2.50, "\x{e9}"] }]]);
    $admin->put(at($rack, 'node') . '/traits', json => { traits => ['CUSTOM_T'] });
    my $key = pack 'H*', $instance->sql_value(q(SELECT HEX(value) FROM settings WHERE name = 'etag_key'));
    cmp_ok length $key, '>=', 32, 'the key is long enough';
    for my $kind (@kinds) {
        my ($row) = $instance->sql("SELECT edits, HEX(meta), HEX(body), COALESCE(HEX(traits), ''), tenant_id, moves FROM resources "
            . "WHERE name = '$rack->{$kind}{uuid}' AND live = 1");
        my ($edits, $meta, $body, $traits) = ($row->[0], map { pack 'H*', $_ } @$row[1 .. 3]);
        unlike $body, qr/[:,] /, "$kind: what is stored is compact";
        $body =~ s/"driver_internal_info":\{\},// or die "no such field\n" if $kind eq 'node';
        $traits = $traits ne '' ? qq(,"traits":$traits) : '';
        my $text = qq({"uid":"$rack->{$kind}{uuid}","edits":$edits$traits,"metadata":$meta,"content":$body});
        my $etag = $admin->get(at($rack, $kind))->json->{etag};
        is $etag, 'W/' . $instance->shown_etag($plural{$kind}, Digest::SHA::hmac_sha512_hex($text, $key), @$row[4, 5]),
            'over its fields but the ignored ones, of a node with its owner';
        isnt $etag, 'W/' . Digest::SHA::sha512_hex($_), 'who has no key cannot make it' for $text, $body;
    }
};

subtest '"it MUST NOT depend on which ironic-api-version came in the request"' => sub {
    my $rack = rack('t1');
    for my $kind (@kinds) {
        my (@wrong, @tags);
        for my $version (@versions) {
            my $get = $admin->version($version)->get(at($rack, $kind));
            next if $get->status == 404 && $kind eq 'portgroup' && $version =~ /\A1\.(\d+)\z/ && $1 < 23;
            my $has = $version =~ /\A1\.(\d+)\z/ && $1 >= 40;
            push @wrong, $version if $get->status != 200 || defined $get->etag != $has || exists $get->json->{etag} != $has;
            push @tags, bare($get->etag), $get->json->{etag} if $has;
        }
        is "@wrong", '', "$kind: shown from 1.40 on, at no version before";
        is scalar @tags, 2 * 43, 'in header and body';
        is_deeply [grep { $_ ne $rack->{$kind}{etag} } @tags], [], 'the same at each';
    }
    # Two of the same content differ in their uids; so one node is patched by each version, there and back.
    my %seen;
    for my $version ('1.1', '1.39', '1.40', '1.82') {
        my $patch = $admin->version($version)->patch(at($rack, 'node'), [[add => '/extra/v', "by $version"]]);
        my $now   = $admin->get(at($rack, 'node'));
        ok !$seen{ $now->etag }++, "a patch at $version makes a new one";
        is bare($now->etag), stored($rack->{node}{uuid}), 'which is the stored one';
        is $patch->etag, $version ge '1.40' ? $now->etag : undef, $version ge '1.40' ? 'told at once' : 'not told';
        $admin->version('1.1')->patch(at($rack, 'node'), [[add => '/extra/v', "by $version"]])->is_status(200);
        is $admin->get(at($rack, 'node'))->etag, $now->etag, 'the same content from another version keeps it';
    }
};

subtest '"Etag of each resource will be available in response body, as field of the resource"' => sub {
    my $rack = rack('t1');
    my ($node, $chassis, $group) = map { at($rack, $_) } qw(node chassis portgroup);
    my %list = (
        '/nodes' => 'node', '/nodes/detail' => 'node', '/nodes?detail=true' => 'node', '/nodes?fields=uuid,name' => 'node',
        '/nodes?fields=etag' => 'node', '/nodes?sort_key=name&sort_dir=desc' => 'node', "$chassis/nodes" => 'node',
        "$chassis/nodes/detail" => 'node', '/ports' => 'port', '/ports/detail' => 'port', '/ports?fields=address' => 'port',
        "$node/ports" => 'port', "$node/ports/detail" => 'port', "$group/ports" => 'port', "$node/portgroups" => 'portgroup',
        "$node/portgroups?fields=mode" => 'portgroup', '/portgroups' => 'portgroup', '/portgroups/detail' => 'portgroup',
        '/chassis' => 'chassis', '/chassis/detail' => 'chassis', '/chassis?fields=description' => 'chassis',
    );
    for my $path (sort keys %list) {
        my $kind = $list{$path};
        my $get  = $admin->get($path);
        my @items = @{ $get->json->{ $plural{$kind} } };
        my @wrong = grep { ($_->{etag} // '') ne stored($_->{links}[0]{href} =~ s{.*/}{}r) } @items;
        ok @items && !@wrong, "$path: each has its own" =~ s{[0-9a-f-]{36}}{…}gr or diag $get->describe;
        is $get->etag, undef, 'the header has none: "putting etags to headers does not make sense"';
        my $old = $admin->version('1.39')->get($path =~ s/etag\z/uuid/r);
        ok !grep({ exists $_->{etag} } @{ $old->json->{ $plural{$kind} } // [] }), 'not before 1.40';
    }
    is_fault($admin->version('1.39')->get('/nodes?fields=etag'), 406, qr/etag/, 'nor by its name');
};

subtest '"included in the response body and header" of POST and PATCH' => sub {
    my $rack = rack('t1');
    my $mac  = '52:54:00:69:00';
    my %new  = (node => { driver => 'ipmi' }, chassis => {}, port => { node_uuid => $rack->{node}{uuid}, address => "$mac:01" },
        portgroup => { node_uuid => $rack->{node}{uuid}, address => "$mac:02" });
    for my $kind (@kinds) {
        my $post = $admin->post("/$plural{$kind}", json => $new{$kind});
        $post->is_status(201);
        my $path = "/$plural{$kind}/" . $post->json->{uuid};
        is bare($post->etag), $post->json->{etag}, "POST of a $kind";
        is $admin->get($path)->etag, $post->etag, 'which GET repeats';
        my $patch = $admin->patch($path, [[add => '/extra/a', 1]]);
        is bare($patch->etag), $patch->json->{etag}, 'PATCH';
        isnt $patch->etag, $post->etag, 'a new one';
        is $admin->get($path)->etag, $patch->etag, 'which GET repeats';
    }
};

subtest 'of what is a part of a node, the node\'s' => sub {
    my $rack = rack('t1');
    my $path = at($rack, 'node');
    my $last = $rack->{node}{etag};
    for my $call (grep { $_->[2] } calls_of($rack)) {
        my $answer = call_it($admin, $rack, $call, if_match => $last);
        ok $answer->status == 202 || $answer->status == 204, title($call) . ' by the present tag' or diag $answer->describe;
        my $now = $admin->get($path)->json->{etag};
        isnt $now, $last, 'makes a new one';
        is bare($answer->etag // 'none'), $now, 'which the answer tells';
        my $again = call_it($admin, $rack, $call, if_match => $last);
        is_fault($again, 412, qr/\Q$now\E/, 'the old one no longer does');
        is $admin->get($path)->json->{etag}, $now, 'and nothing happened';
        $last = $now;
    }
    for my $part ('states', 'traits') {
        is bare($admin->get("$path/$part")->etag // 'none'), $last, "GET of $part tells it";
        is $admin->version('1.39')->get("$path/$part")->etag, undef, 'from 1.40 on';
    }
    my $fake = at(rack('t1', driver => 'fake-hardware'), 'node');
    for my $part ('boot_device', 'boot_device/supported', 'indicators', 'indicators/led@system', 'indicators/system/led') {
        my $get = $admin->get("$fake/management/$part");
        $get->is_status(200, "GET of $part");
        is bare($get->etag // 'none'), $admin->get($fake)->json->{etag}, '... tells it';
        next if $part =~ /supported|indicators$/;
        my %sent = $part eq 'boot_device' ? (boot_device => 'pxe', persistent => $true) : (state => $part =~ m{/led$} ? 'OFF' : 'BLINKING');
        my $put = $admin->put("$fake/management/$part", json => \%sent, if_match => $get->etag);
        $put->is_status(204, '... by which it is set');
        is $admin->get("$fake/management/$part")->etag, $put->etag, '... and tells the new one';
    }
    is $admin->version('1.39')->get("$fake/management/boot_device")->etag, undef, 'from 1.40 on';
};

subtest '"does not support etags yet, NotAcceptable error is raised"' => sub {
    my $rack = rack('t1');
    my $before = $instance->change_count;
    for my $call (calls_of($rack)) {
        for my $tag ($rack->{ $call->[0] }{etag}, '*', '"0"', '"not well formed') {
            is_fault(call_it($admin->version('1.39'), $rack, $call, if_match => $tag), 406, qr/If-Match.*1\.40/,
                title($call) . ' at 1.39, If-Match: ' . substr $tag, 0, 12);
        }
    }
    is $instance->change_count, $before, 'nothing was done';
    my $old = $admin->version('1.39');
    is_fault($old->put(at($rack, 'node') . '/states/power', json => { target => 'power on' }, if_match => '*'), 406, qr/If-Match/,
        'nor would drivers be asked');
    $old->get(at($rack, 'node'), if_match => '"0"')->is_status(200, 'GET has no preconditions');
    $admin->get(at($rack, 'node'), if_match => '"0"', if_none_match => $rack->{node}{etag})
        ->is_status(200, 'at no version: "If-None-Match or any other \'Precondition Header Fields\' will not be supported"');
    $old->patch(at($rack, 'node'), [[add => '/extra/a', 1]])->is_status(200, 'without If-Match it is done');
};

subtest '"a 412 Precondition Failed SHALL be returned"' => sub {
    my $rack = rack('t1');
    $http->make_tenant($_) for grep { $http->get("/v2.0/$_")->status == 404 } 't1';
    my $ann = Tenure::Metal->new($instance->service('ann:t1'), '1.82');
    my %old = map { $_ => $rack->{$_}{etag} } @kinds;
    for my $kind (@kinds) {
        my $metal = $kind eq 'chassis' ? $admin : $ann;
        my $by    = $kind eq 'chassis' ? 'admin' : 'ann';
        my $now   = $metal->patch(at($rack, $kind), [[add => '/extra/who', 'changed']]);
        my ($count, $tag_now) = ($instance->change_count, $now->json->{etag});
        for my $call (grep { $_->[0] eq $kind } calls_of($rack)) {
            for my $tag ($old{$kind}, 'W/"' . ($old{$kind} =~ s{W/}{}r) . '"', qq("0", $old{$kind})) {
                my $answer = call_it($admin, $rack, $call, if_match => $tag);
                is_fault($answer, 412, qr{\Q$tag_now\E; it was changed by $by at .*; what differs: /extra}, title($call));
                my $body = $answer->json;
                is_deeply [@$body{qw(etag changed_by)}, $body->{fields}[0] =~ m{\A/extra}, $answer->etag],
                    [$tag_now, $by, 1, $now->etag], 'the body has it in fields of their own, the header its tag';
                like $body->{changed_at}, qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/, 'and when';
            }
        }
        is $instance->change_count, $count, 'nothing was done';
    }
    my $half = substr $rack->{node}{etag}, 0, 60;
    is_fault($admin->patch(at($rack, 'node'), [], if_match => $half), 412, undef, 'a part of a tag is none');
    is_fault($admin->patch(at($rack, 'node'), [], if_match => $rack->{port}{etag}), 412, undef, 'nor is that of another thing');
    is_fault($admin->patch(at($rack, 'node'), [], if_match => '"open'), 400, qr/If-Match must be/, 'what is none is told so');
};

subtest '"If-Match header will be optional parameter in client"' => sub {
    my $rack = rack('t1');
    for my $call (calls_of($rack)) {
        my $answer = call_it($admin, $rack, $call);
        ok $answer->status < 300, title($call) . ' without' or diag $answer->describe;
    }
};

subtest '"SHOULD begin to require If-Match": where the tenant says so' => sub {
    $http->make_tenant('strict', etag_required => $true);
    $http->make_tenant('loose');
    my $rack = rack('strict');
    for my $call (calls_of($rack)) {
        # A chassis is the operator's, whose tenant insists on nothing.
        next if $call->[0] eq 'chassis';
        my $now = $admin->get(at($rack, $call->[0]));
        my $bare = call_it($admin, $rack, $call);
        is_fault($bare, 428, qr/If-Match/, title($call) . ' without: 428, and what to send');
        is $admin->get(at($rack, $call->[0]))->text, $now->text, 'nothing was done';
        is_fault(call_it($admin->version('1.39'), $rack, $call), 428, undef, 'at old versions as well');
        is_fault(call_it($admin, $rack, $call, if_none_match => '*'), 428, undef, 'If-None-Match is not known here');
        my $answer = call_it($admin, $rack, $call, if_match => $now->etag);
        ok $answer->status < 300, 'with its tag it is done' or diag $answer->describe;
    }
    my $own = Tenure::Metal->new($instance->service('ann:strict'), '1.82');
    my $new = $own->make('nodes', { driver => 'ipmi' });
    my $new_at = "/nodes/$new->{uuid}";
    is_fault($own->patch($new_at, [[add => '/extra/a', 1]]), 428, undef, 'for users as for operators; creation needs none');
    is_fault($own->patch($new_at, []), 428, undef, 'also what would change nothing');
    $own->patch($new_at, [[add => '/extra/a', 1]], if_match => '*')->is_status(200, '* is one, too');
    is_fault($admin->patch($new_at, [[replace => '/owner', 'loose']]), 428, undef, 'nor is it given away without');
    my $given = $admin->patch($new_at, [[replace => '/owner', 'loose']], if_match => $admin->get($new_at)->etag);
    $given->is_status(200, 'with it, it is');
    $admin->patch($new_at, [[add => '/extra/b', 1]])->is_status(200, 'and there nobody insists');
};

subtest 'etags in change rows and in the feed' => sub {
    $http->make_tenant('fed');
    my $rack = rack('fed');
    my $last = $rack->{node}{etag};
    for my $call (grep { $_->[0] eq 'node' } calls_of($rack)) {
        my $now    = $call->[1] eq 'DELETE' && !$call->[2] ? undef : 1;
        my $answer = call_it($admin, $rack, $call);
        my ($row)  = grep { $_->{type} eq 'nodes' } $instance->changes_of($answer);
        $now = $now && $admin->get(at($rack, 'node'))->json->{etag};
        is 'W/' . $row->{etag_before}, $last, title($call) . ': the tag before';
        is $row->{etag_after}, $now && $now =~ s{W/}{}r, 'and after';
        $last = $now;
    }
    my @all  = @{ $http->get('/v2.0/fed/changes')->json->{changes} };
    my @feed = grep { ($_->{resource} // '') eq "nodes/$rack->{node}{uuid}" } @all;
    is scalar @feed, 1 + 8, 'the feed has them all';
    is $feed[0]{etag_after}, $rack->{node}{etag}, 'from the first';
    is_deeply [map { $_->{etag_before} } @feed[1 .. $#feed]], [map { $_->{etag_after} } @feed[0 .. $#feed - 1]],
        'each begins where the one before ended';
};

subtest '"For node ignored fields are: driver_internal_info, etag, updated_at"' => sub {
    my $rack = rack('t1');
    my ($path, $uuid) = (at($rack, 'node'), $rack->{node}{uuid});
    my $patch = $http->patch("/v2.0/t1/nodes/$uuid", { driver_internal_info => { agent => 1 } });
    $patch->is_status(200);
    my $node = $admin->get($path)->json;
    is_deeply $node->{driver_internal_info}, { agent => 1 }, 'the operator changes driver_internal_info';
    is $node->{etag}, $rack->{node}{etag}, 'the tag stays';
    is bare($patch->etag), $node->{etag}, 'in that dialect, too';
    is $patch->json->{metadata}{resourceVersion}, 2, 'a revision it is';
    my $next = $admin->patch($path, [[add => '/extra/a', 1]], if_match => $rack->{node}{etag});
    $next->is_status(200, 'so nobody who read it before is put off');
    isnt $next->etag, $rack->{node}{etag}, 'what is not ignored moves it';
    my $both = $http->patch("/v2.0/t1/nodes/$uuid", { driver_internal_info => { agent => 2 }, extra => { a => 2 } });
    isnt $both->etag, $next->etag, 'as do both at once';
    for my $kind ('port', 'portgroup') {
        my $changed = $http->patch("/v2.0/t1/$plural{$kind}/$rack->{$kind}{uuid}", { internal_info => { a => 1 } });
        $changed->is_status(200);
        isnt bare($changed->etag), $rack->{$kind}{etag}, "a $kind has no such field: internal_info counts";
    }
    my ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'the stored tags are those of the stored content' or diag $text;
};

subtest '"a new etag identifier SHALL be generated": with every change, by no other' => sub {
    my $rack = rack('t1', extra => { v => 'A', w => { a => 1, b => 2 } });
    for my $kind (@kinds) {
        my $path = at($rack, $kind);
        my %seen = ($rack->{$kind}{etag} => 1);
        for my $value ('A', 'B', 'A', 'B') {
            my $patch = $admin->patch($path, [[add => '/extra/x', $value]]);
            ok !$seen{ $patch->json->{etag} }++, "$kind: to $value, but not to a tag it had";
        }
        my $now = $admin->get($path);
        for my $same ([], [[add => '/extra/x', 'B']], [[replace => '/extra/x', 'A'], [replace => '/extra/x', 'B']],
            [[add => '/extra/y', 1], [remove => '/extra/y']], [[test => '/extra/x', 'B'], [replace => '/extra/x', 'B']]) {
            my $count  = $instance->change_count;
            my $answer = $admin->patch($path, $same);
            is $answer->etag, $now->etag, 'what changes nothing keeps it';
            is $answer->text, $now->text, 'and all the rest';
            is $instance->change_count, $count, 'and tells nobody';
        }
    }
    my $path = at($rack, 'node');
    my $last = $admin->get($path)->etag;
    $admin->patch($path, [[replace => '/extra/w', { b => 2, a => 1 }]]);
    is $admin->get($path)->etag, $last, '"ordering of dict is not needed"';
    for my $call (['PUT', '/maintenance', json => { reason => 'fan' }], ['PUT', '/traits', json => { traits => ['CUSTOM_T'] }],
        ['PUT', '/traits/CUSTOM_T'], ['DELETE', '/maintenance'], ['DELETE', '/traits']) {
        my ($method, $below, @body) = @$call;
        my $first = $admin->request($method, $path . $below, @body);
        my $again = $admin->request($method, $path . $below, @body);
        is $again->etag, $first->etag, "$method $below, done again, keeps it";
    }
    my ($before, $port) = map { $admin->get(at($rack, $_))->etag } 'node', 'port';
    my $given = $admin->patch($path, [[replace => '/owner', 't9']]);
    isnt $given->etag, $before, 'the owner is a field of the node';
    is $admin->get(at($rack, 'port'))->etag, $port, 'and none of the port that goes along';
    isnt $admin->patch($path, [[replace => '/owner', 't1']])->etag, $before, 'back again is not back to the tag';
    $admin->delete($path)->is_status(204);
    my $same = $admin->make('nodes', { driver => 'ipmi', uuid => $rack->{node}{uuid}, name => $rack->{node}{name} });
    isnt $same->{etag}, $rack->{node}{etag}, 'one made anew under the same UUID has another';
};

subtest 'masked secrets' => sub {
    my $ann  = Tenure::Metal->new($instance->service('ann:t1'), '1.82');
    my %info = (driver_info => { ipmi_password => 'hush', ipmi_address => '192.0.2.7' });
    my $rack = rack('t1', %info);
    my $path = at($rack, 'node');
    is $rack->{node}{driver_info}{ipmi_password}, '******', 'are shown as such';
    isnt rack('t1', %info)->{node}{etag}, $rack->{node}{etag}, 'two nodes of one password cannot be told by their tags';
    my $first  = $ann->get($path);
    my $second = $ann->patch($path, [[replace => '/driver_info/ipmi_password', 'hush2']]);
    isnt $second->etag, $first->etag, 'a new password moves the tag';
    my ($was, $is) = map { my %node = %{ $_->json }; delete @node{qw(etag updated_at)}; \%node } $first, $second;
    is_deeply $is, $was, 'and nothing else that is shown';
    my $third = $ann->patch($path, [[replace => '/driver_info/ipmi_password', 'hush']]);
    isnt $third->etag, $first->etag, 'back to the old one is not back to its tag';
    my $kept = $ann->patch($path, [[replace => '/driver_info/ipmi_password', '******']]);
    is $kept->etag, $third->etag, 'the mask stands for what is there';
    for my $guess ('hush', 'hush2', 'other') {
        is_fault($ann->patch($path, [[test => '/driver_info/ipmi_password', $guess], [add => '/extra/seen', 1]]), 400, qr/test/,
            "\"test\" of $guess says no, right or wrong");
    }
    my @ops = map { { op => $_, from => '/driver_info/ipmi_password', path => '/extra/seen' } } 'copy', 'move';
    for my $op (@ops) {
        my $answer = $ann->request('PATCH', $path, json => [$op]);
        unlike $answer->text, qr/hush/, "\"$op->{op}\" tells nothing";
        ok $answer->status >= 400 || $answer->json->{extra}{seen} eq '******', 'it gets the mask';
        $ann->patch($path, [[add => '/driver_info/ipmi_password', 'hush']]);
    }
    for my $op (map { { %$_, path => '/driver_info/snmp_password' } } @ops) {
        is_fault($ann->request('PATCH', $path, json => [$op]), 400, qr/holds a secret/,
            "\"$op->{op}\" to where it would be taken for a secret is refused");
    }
    my $whole = JSON::PP->new->canonical->encode($ann->get($path)->json);
    unlike $whole, qr/hush/, 'no answer ever had it';
    for my $guess ('hush', 'no') {
        my $patch = qq([{"op":"test","path":"/driver_info/ipmi_password","value":"$guess"}]);
        $http->request('PATCH', "/v2.0/t1/nodes/$rack->{node}{uuid}", body => $patch, type => 'application/json-patch+json')
            ->is_status(409, 'nor does the other dialect test it');
    }
    my $move = '[{"op":"move","from":"/driver_info","path":"/extra/moved"}]';
    for (["/v2.0/t1/nodes", 409], ['/apis/baremetal.openstack.org/v1/tenants/t1/nodes', 422]) {
        my ($list, $status) = @$_;
        $http->request('PATCH', "$list/$rack->{node}{uuid}", body => $move, type => 'application/json-patch+json')
            ->is_status($status, "$list: nor does another dialect move it");
    }
    unlike $http->get("/v2.0/t1/nodes/$rack->{node}{uuid}")->text, qr/hush/, 'or show it';
    unlike join(' ', map { $_->text } $http->get('/v2.0/t1/changes?limit=1000')), qr/hush/, 'the feed does not';
    my $stale = $ann->patch($path, [], if_match => $first->etag);
    is_fault($stale, 412, qr{/driver_info/ipmi_password}, 'a 412 says that it is another');
    unlike $stale->text, qr/hush/, 'and not which';
};

$instance->stop;
my $global = Tenure::Instance->start(settings => { 'tenure.etag_required' => 'yes' });
$instance = $global;
$http  = $global->admin;
$admin = Tenure::Metal->new($http, '1.82');

subtest '"SHOULD begin to require If-Match": where the configuration does' => sub {
    my $rack = rack('any');
    for my $call (calls_of($rack)) {
        my $now  = $admin->get(at($rack, $call->[0]));
        is_fault(call_it($admin, $rack, $call), 428, qr/If-Match/, title($call) . ' without: 428');
        is $admin->get(at($rack, $call->[0]))->text, $now->text, 'nothing was done';
        my $answer = call_it($admin, $rack, $call, if_match => $now->etag);
        ok $answer->status < 300, 'with its tag it is done' or diag $answer->describe;
    }
};

done_testing;
