# SPDX-License-Identifier: Apache-2.0
# The examples and the status codes of both blueprints, to be run behind each web server: what t/40N-tenancy-SERVER.t do.
package Tenure::Blueprints;

use strict;
use warnings;

use Test::More;

use Tenure::Instance;
use Tenure::Raw;
use Tenure::XML;

my ($instance, $admin);

# The two vocabularies: the same in other words.
my @vocabularies = (
    { version => 'v1.0', one => 'account', many => 'accounts', header => 'X-Account-', bob => q(Bob's%20Account) },
    { version => 'v2.0', one => 'tenant',  many => 'tenants',  header => 'X-Tenant-',  bob => q(Bob's%20Tenant) },
);

sub run {
    my ($server) = @_;
    $instance = Tenure::Instance->start(server => $server);
    $admin    = $instance->admin;
    for my $words (@vocabularies) {
        subtest "$words->{version}: example 1, ids and their encoded URLs" => sub { ids($words) };
        subtest "$words->{version}: status codes of GET, HEAD, PUT, DELETE" => sub { required_operations($words) };
        subtest "$words->{version}: representation in both forms" => sub { representation($words) };
        subtest "$words->{version}: move a resource" => sub { move_one($words) };
        subtest "$words->{version}: move all resources" => sub { move_all($words) };
        subtest "$words->{version}: examples 3, 4 and 6, full move action and conditional move" => sub { full_action($words) };
        subtest "$words->{version}: example 5, tagged move action" => sub { tagged_action($words) };
    }
    subtest 'example 2: the WADL types the id' => \&wadl;
    subtest 'requests arrive whole: methods, bodies, headers' => \&transport;
    return;
}

# Prepares a tenant id for one vocabulary: both run on one registry.
sub own { my ($words, $id) = @_; return $words->{version} eq 'v1.0' ? "a-$id" : "t-$id" }

sub doc { my ($words, $content) = @_; return { $words->{one} => $content } }

# ---- example 1

sub ids {
    my ($words) = @_;
    my $v     = "/$words->{version}";
    my %plain = (
        '12345'                                => '12345',
        $words->{bob}                          => $words->{bob} =~ s/%20/ /r,
        '%E2%88%91%E2%88%9E%E2%88%86%E2%88%8F' => "\x{2211}\x{221e}\x{2206}\x{220f}",
        'resel1:sub2:acct3'                    => 'resel1:sub2:acct3',
        'resel1%5Csub2%5Cacct3'                => 'resel1\\sub2\\acct3',
    );
    for my $url (sort keys %plain) {
        my $put = $admin->put("$v/$url", json => doc($words, {}));
        ok $put->status == ($v eq '/v1.0' || $url =~ /Bob/ ? 201 : 202), "PUT $url" or diag $put->describe;
        my $get = $admin->get("$v/$url");
        $get->is_status(200);
        is $get->json->{ $words->{one} }{id}, $plain{$url}, 'its id is what the URL means';
        my $list = $admin->get("$v/$url/persistentvolumes");
        $list->is_status(200);
        is ref $list->json->{resources}, 'ARRAY', 'and what it has can be listed';
        $admin->put("$v/$url/persistentvolumes/w1", json => { url => $url })->is_status($v eq '/v1.0' || $url =~ /Bob/ ? 201 : 200);
        $admin->delete("$v/$url/persistentvolumes/w1")->is_status(204) if $v eq '/v2.0';
        $admin->delete("$v/$url")->is_status(204) if $v eq '/v2.0';
    }
    backslash($words);
    $admin->get("$v/resel1/sub2/acct3/persistentvolumes")->is_status(404, 'an id with the path separator is none');
    my $empty = Tenure::Raw::get($admin->url, "$v//persistentvolumes", token => 'admin');
    $empty->is_problem(400, 'bad_address', 'an empty id is none');
    return;
}

# As the example writes it: a bare backslash in the URL, which not every client sends.
sub backslash {
    my ($words) = @_;
    my $get = Tenure::Raw::get($admin->url, "/$words->{version}/resel1\\sub2\\acct3", token => 'admin');
    ok $get->status == ($words->{version} eq 'v1.0' ? 200 : 410), 'a bare backslash is that of the id' or diag $get->describe;
    return;
}

# ---- required operations

sub required_operations {
    my ($words) = @_;
    my $url = "/$words->{version}/" . own($words, 'life');
    $admin->get($url)->is_problem(404, 'not_found', 'GET: it does not exist');
    $admin->head($url)->is_status(404, 'HEAD: it does not exist');
    $admin->delete($url)->is_problem(404, 'not_found', 'DELETE: it does not exist');

    my $put = $admin->put($url, json => doc($words, { tier => 'gold', metadata => { color => 'red' } }));
    $put->is_status(201, 'PUT: created');
    is $admin->path_of($put->location), $url, 'with its address';
    is $put->json->{ $words->{one} }{tier}, 'gold', 'in its tier, with one request';
    $put = $admin->put($url, json => doc($words, { tier => 'silver' }));
    $put->is_status(202, 'PUT: modified');
    is $put->json->{ $words->{one} }{tier}, 'silver', 'the tier is another';
    my $again = $admin->put($url, json => doc($words, { tier => 'silver' }));
    $again->is_status(202, 'PUT again');
    is $again->etag, $put->etag, 'is idempotent';

    my $get = $admin->get($url);
    $get->is_status(200, 'GET');
    is_deeply $get->json, $again->json, 'has the representation that PUT has';
    is_deeply $get->json->{ $words->{one} }{metadata}, { color => 'red' }, 'and its metadata';
    my $put_back = $admin->put($url, json => $get->json);
    $put_back->is_status(202, 'what GET gave can be PUT');
    is $put_back->etag, $get->etag, 'and changes nothing';

    my $head = $admin->head($url);
    $head->is_status(204, 'HEAD');
    is $head->text, '', 'only header fields';
    my $h = $words->{header};
    is $head->header("${h}Id"), own($words, 'life'), "${h}Id";
    is $head->header("${h}Tier"), 'silver', "${h}Tier";
    is $head->header("${h}Meta-color"), 'red', "${h}Meta-color";
    is $head->header("${h}State"), 'active', "${h}State";
    for my $name (grep { /\A\Q$h\E/i } keys %{ $get->{headers} }, keys %{ $head->{headers} }) {
        is $head->header($name), $get->header($name), "$name is the same with GET and HEAD";
    }
    is $head->etag, $get->etag, 'the ETag, too';

    $admin->delete($url)->is_status(204, 'DELETE');
    my $gone = $admin->get($url);
    $gone->is_problem(410, 'gone', 'GET: it may be recoverable');
    ok $gone->json->{purge_at}, 'until a published time';
    $admin->head($url)->is_status(410, 'HEAD: it may be recoverable');
    $admin->delete($url)->is_problem(410, 'gone', 'DELETE: it is deleted already');
    $admin->put($url, json => doc($words, {}))->is_problem(409, 'recoverable', 'PUT: its id is taken by a recoverable one');
    $admin->post("$url/action/recover")->is_status(204, 'it is recovered');
    is $admin->get($url)->etag, $get->etag, 'as it was';
    return;
}

sub representation {
    my ($words) = @_;
    my $url  = "/$words->{version}/" . own($words, 'forms');
    my $other = $words->{one} eq 'account' ? 'tenant' : 'account';
    my $put  = $admin->put($url, xml => qq(<$words->{one} tier="bronze"><color>green &amp; blue</color></$words->{one}>));
    $put->is_status(201, 'PUT in XML') or return;
    my $xml = $admin->get($url, accept => 'application/xml');
    is $xml->type, 'application/xml', 'GET in XML';
    is $xml->xml->{name}, $words->{one}, 'the document element is the vocabulary\'s word';
    is $xml->xml->{attributes}{id}, own($words, 'forms'), 'id';
    is $xml->xml->{attributes}{tier}, 'bronze', 'tier';
    is Tenure::XML::child($xml->xml, 'color')->{text}, 'green & blue', 'metadata are elements';
    is_deeply $admin->get($url)->json->{ $words->{one} }{metadata}, { color => 'green & blue' }, 'the same in JSON';
    my $back = $admin->put($url, xml => $xml->text, accept => 'application/xml');
    $back->is_status(202, 'what GET gave in XML can be PUT');
    is $back->etag, $xml->etag, 'and changes nothing';
    $admin->put($url, json => { $other => {} })->is_problem(400, 'bad_document', "JSON in the other vocabulary's word");
    $admin->put($url, xml => "<$other/>")->is_problem(400, 'bad_document', "XML in the other vocabulary's word");
    is $admin->get($url)->etag, $xml->etag, 'neither changed anything';
    return;
}

# ---- moves

# Two new tenants of these names, v1.0's or v2.0's own.
sub two_tenants {
    my ($words, $name) = @_;
    my @ids = map { own($words, "$name-$_") } 'from', 'to';
    $admin->put("/$words->{version}/$_", json => doc($words, {}))->is_status(201) for @ids;
    return @ids;
}

sub move_one {
    my ($words) = @_;
    my $v = "/$words->{version}";
    my ($from, $to) = two_tenants($words, 'one');
    my $resource = 'persistentvolumes/disk%20%E2%88%91';
    $admin->make("$v/$from/$resource", { size => 1 });
    my $uid = $admin->get("$v/$from/$resource")->json->{metadata}{uid};

    my $post = $admin->post("$v/$from/$resource/action/move?dest=$to");
    $post->is_status(303, 'POST: done, see other');
    is $admin->path_of($post->location), "$v/$to/$resource", 'the new home';
    my $there = $admin->get($post->location);
    $there->is_status(200, 'it is there');
    is $there->json->{metadata}{uid}, $uid, 'the same one';
    is $there->json->{metadata}{tenant}, $to, 'and knows whose it is';

    my $get = $admin->get("$v/$from/$resource");
    $get->is_status(301, 'GET of the old address');
    is $admin->path_of($get->location), "$v/$to/$resource", 'leads to the new one';
    my $again = $admin->post("$v/$from/$resource/action/move?dest=$to");
    $again->is_status(301, 'POST again: it has moved already');
    is $admin->path_of($again->location), "$v/$to/$resource/action/move?dest=$to", 'to the move action there';

    $admin->post("$v/$from/persistentvolumes/none/action/move?dest=$to")->is_problem(404, 'not_found', 'none such');
    $admin->delete("$v/$to/$resource")->is_status(204);
    $admin->post("$v/$to/$resource/action/move?dest=$from")->is_problem(410, 'gone', 'a deleted one');
    return;
}

sub move_all {
    my ($words) = @_;
    my $v = "/$words->{version}";
    my ($from, $to) = two_tenants($words, 'all');
    my @resources = ('persistentvolumes/p1', 'namespaces/default/configmaps/c1');
    $admin->make("$v/$from/$_", { a => $_ }) for @resources;
    my $post = $admin->post("$v/$from/action/move?dest=$to");
    $post->is_status(303, 'POST: done, see other');
    is $admin->path_of($post->location), "$v/$to", 'the destination';
    $admin->get("$v/$from")->is_status(200, 'the source is not deleted');
    for my $resource (@resources) {
        my $get = $admin->get("$v/$from/$resource");
        $get->is_status(301, "$resource: moved");
        is $admin->path_of($get->location), "$v/$to/$resource", 'with its new address';
        $admin->get($get->location)->is_status(200, 'where it is');
    }
    $admin->post("$v/$from-none/action/move?dest=$to")->is_problem(404, 'not_found', 'no such source');
    $admin->delete("$v/$from")->is_status(204);
    $admin->post("$v/$from/action/move?dest=$to")->is_problem(410, 'gone', 'a deleted source');
    $admin->get("$v/$from/action/move?dest=$to", accept => 'application/json')->is_problem(410, 'gone', 'its move action, too');
    return;
}

# The ids of the examples, made free for the second vocabulary by taking others there.
sub example_ids {
    my ($words, $n) = @_;
    my $last = $words->{version} eq 'v1.0' ? '' : '0';
    return ("${n}17776666$last", "${n}176625343$last");
}

sub check_head_of_action {
    my ($words, $action, @ids) = @_;
    my $xml = $action->xml;
    is $xml->{name}, 'move', '<move';
    is $xml->{attributes}{xmlns}, 'http://service.openstack.com/actions', 'in the blueprints\' namespace';
    is $xml->{attributes}{dest}, $ids[1], 'with dest';
    is_deeply [Tenure::XML::names($xml)], [$words->{many}, 'resources', 'counts'], 'the elements in the order of the example, and the counts behind them';
    my $tenants = Tenure::XML::child($xml, $words->{many});
    is_deeply [Tenure::XML::names($tenants)], [$words->{one}, $words->{one}], "two of <$words->{one}>";
    is_deeply [map { $_->{attributes}{id} } Tenure::XML::children($tenants)], \@ids, 'source and destination';
    ok !(grep { !$_->{attributes}{tier} || !$_->{attributes}{etag} } Tenure::XML::children($tenants)), 'with their state';
    return;
}

sub full_action {
    my ($words) = @_;
    my @ids = example_ids($words, '');
    my $v   = "/$words->{version}";
    $admin->put("$v/$_", json => doc($words, {}))->is_status(201) for @ids;
    $admin->make("$v/$ids[0]/persistentvolumes/$_", { n => $_ }) for 1, 2;

    my $address = "$v/$ids[0]/action/move?dest=$ids[1]";
    my $action  = $admin->get($address);
    $action->is_status(200, 'GET') or return;
    is $action->header('content-type'), 'application/xml; charset=UTF-8', 'XML is the default form';
    like $action->etag, qr/\A"[^"\s]+"\z/, 'ETag: a quoted opaque string';
    check_head_of_action($words, $action, @ids);
    my $resources = Tenure::XML::child($action->xml, 'resources');
    is_deeply [map { $_->{attributes}{id} } Tenure::XML::children($resources, 'resource')],
        ['persistentvolumes/1', 'persistentvolumes/2'], 'each <resource id=…>';
    ok !(grep { !$_->{attributes}{tag} } Tenure::XML::children($resources)), 'with its tag';

    my $json = $admin->get($address, accept => 'application/json');
    is $json->type, 'application/json', 'JSON on request';
    is $json->etag, $action->etag, 'under the same tag';
    my $move = $json->json->{move};
    is $move->{dest}, $ids[1], 'the same names: dest';
    is_deeply [map { $_->{id} } @{ $move->{ $words->{many} } }], \@ids, $words->{many};
    is_deeply [map { $_->{id} } @{ $move->{resources} }], ['persistentvolumes/1', 'persistentvolumes/2'], 'resources';

    # Something changes between GET and POST.
    $admin->put("$v/$ids[0]/persistentvolumes/1", json => { n => 'one' })->is_status(200);
    my %conditional = (if_match => $action->etag, headers => { 'Content-Type' => 'application/xml' });
    $admin->post($address, %conditional)->is_problem(412, 'stale', 'POST on a state that is past fails');
    $admin->get("$v/$ids[0]/persistentvolumes/2")->is_status(200, 'and moves nothing');
    my $now = $admin->get($address);
    isnt $now->etag, $action->etag, 'a change gives another tag';
    my $post = $admin->post($address, %conditional, if_match => $now->etag);
    $post->is_status(303, 'POST on the present state');
    is $admin->path_of($post->location), "$v/$ids[1]", 'moves';

    # The tag of the JSON form is as good; and back they go.
    $address = "$v/$ids[1]/action/move?dest=$ids[0]";
    $now     = $admin->get($address, accept => 'application/json');
    $admin->post($address, if_match => $now->etag)->is_status(303, 'POST on the tag of the JSON form');

    # One resource: the same.
    $address = "$v/$ids[0]/persistentvolumes/1/action/move?dest=$ids[1]";
    $now     = $admin->get($address);
    $now->is_status(200, 'GET of one resource\'s move action');
    check_head_of_action($words, $now, @ids);
    $admin->patch("$v/$ids[0]/persistentvolumes/1", { n => 3 })->is_status(200);
    $admin->post($address, if_match => $now->etag)->is_problem(412, 'stale', 'POST after a change fails');
    $now  = $admin->get($address);
    $post = $admin->post($address, if_match => $now->etag);
    $post->is_status(303, 'POST without');
    is $admin->path_of($post->location), "$v/$ids[1]/persistentvolumes/1", 'moves';
    return;
}

sub tagged_action {
    my ($words) = @_;
    my @ids = example_ids($words, '2');
    my $v   = "/$words->{version}";
    $admin->put("$v/$_", json => doc($words, {}))->is_status(201) for @ids;
    my $bad = grep { $admin->put("$v/$ids[0]/persistentvolumes/$_", json => { n => $_ })->status != 201 } 1 .. 101;
    is $bad, 0, 'more resources than are listed one by one';

    my $address = "$v/$ids[0]/action/move?dest=$ids[1]";
    my $action  = $admin->get($address);
    $action->is_status(200, 'GET') or return;
    check_head_of_action($words, $action, @ids);
    my $resources = Tenure::XML::child($action->xml, 'resources');
    is scalar @{ $resources->{children} }, 0, 'no list';
    is_deeply $resources->{attribute_names}, ['tag', 'size', 'total-usage'], 'but these, in this order';
    my $tag = $resources->{attributes};
    is $tag->{size}, 101, 'size';
    ok $tag->{'total-usage'} > 0, 'total-usage';
    isnt qq("$tag->{tag}"), $action->etag, 'the tag in the content is not the ETag';
    my $json = $admin->get($address, accept => 'application/json')->json->{move}{resources};
    is_deeply [map { "$_" } @$json{ 'tag', 'size' }], [$tag->{tag}, 101], 'the same in JSON';

    $admin->patch("$v/$ids[0]/persistentvolumes/77", { n => 'x' })->is_status(200);
    my $now = $admin->get($address);
    isnt Tenure::XML::child($now->xml, 'resources')->{attributes}{tag}, $tag->{tag}, 'a change gives another tag';
    isnt $now->etag, $action->etag, 'and so another ETag';
    $admin->post($address, if_match => $action->etag)->is_problem(412, 'stale', 'POST on the tag before fails');
    $admin->post($address, if_match => $now->etag)->is_status(303, 'POST on the present one moves');
    is $admin->get("$v/$ids[1]")->header("$words->{header}Resource-Count"), 101, 'all of them';
    return;
}

sub wadl {
    my $wadl = $admin->get('/application.wadl');
    $wadl->is_status(200) or return;
    is $wadl->type, 'application/vnd.sun.wadl+xml', 'media type';
    is eval { $wadl->xml->{attributes}{xmlns} }, 'http://wadl.dev.java.net/2009/02', 'namespace' or diag $@;
    like $wadl->text, qr{value="\[\^/\]\+"}, 'the pattern of ids is there';
    like $wadl->text, qr{style="template"}, 'and template parameters';
    return;
}

# What each server is known to treat in its own way.
sub transport {
    $admin->make_tenant('transport');
    my $path = '/v2.0/transport/namespaces/default/configmaps';
    my $big  = 'x' x 900_000;
    $admin->put("$path/big", json => { data => $big })->is_status(201, 'a body of 900 kB');
    is $admin->get("$path/big")->json->{data}, $big, 'comes back whole';
    my $large = $admin->put("$path/large", json => { data => 'x' x 3_500_000 });
    $large->is_problem(413, 'body_too_large', 'a body above the limit');
    $admin->patch("$path/big", { data => 'small' })->is_status(200, 'PATCH passes');
    $admin->request('FOO', "$path/big")->status =~ /\A(?:405|501)\z/ or fail 'an unknown method';
    my $bearer = $instance->admin(token => undef)->get("$path/big", headers => { Authorization => 'Bearer admin' });
    $bearer->is_status(200, 'Authorization passes');
    my $head = $admin->head("$path/big");
    $head->is_status(200, 'HEAD of a resource');
    is $head->text, '', 'has no body';
    ok $head->etag, 'but an ETag';
    my $get = $admin->get("$path/big");
    $get->header_is('content-length', length $get->text, 'Content-Length is true');
    $admin->get("$path/big", headers => { Range => 'bytes=0-3' })->is_status(200, 'no ranges are cut');
    $admin->get("$path/big", if_none_match => $get->etag)->is_status(304, 'If-None-Match passes');
    my $chunked = Tenure::Raw::exchange($admin->url, "PUT $path/chunked HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            . "X-Auth-Token: admin\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            . "5\r\n{\"a\":\r\n3\r\n12}\r\n0\r\n\r\n");
    $chunked->is_status(201, 'a chunked body');
    is $admin->get("$path/chunked")->json->{a}, 12, 'is put together';
    my $long = join '', map { '%F0%9F%8C%8D' } 1 .. 255;
    $admin->put("/v2.0/$long", json => { tenant => {} })->is_status(201, 'an id of 255 characters of four bytes');
    my $at = $admin->put("/v2.0/$long/persistentvolumes/$long", json => {});
    SKIP: {
        # mod_fcgid maps addresses to files, whose names end at 4,096 bytes.
        skip 'no addresses above 4 kB behind mod_fcgid', 1 if $instance->{server} eq 'apache-fcgid' && $at->status == 403;
        $at->is_status(201, 'a resource of such a name in it');
    }
    # Percent-encoded these become the longest header fields there can be.
    my %metadata = (a => "\x{1f30d}" x 512, b => "\x{1f30d}" x 512, c => "\x{1f30d}" x 510, m => 'x');
    $admin->put("/v2.0/$long", json => { tenant => { metadata => \%metadata } })->is_status(202, 'as much metadata as there may be');
    my $metadata = $admin->head("/v2.0/$long");
    $metadata->is_status(204, 'passes as header fields');
    is $metadata->header('X-Tenant-Meta-b'), '%F0%9F%8C%8D' x 512, 'whole';
    my ($port) = $admin->url =~ /:(\d+)\z/;
    hosts($port);
    return;
}

# Links begin with the name that the request came by, if it is one of the service's own; the shipped files accept no other.
sub hosts {
    my ($port) = @_;
    my $send = sub {
        my ($line, $name, $host) = @_;
        return Tenure::Raw::exchange($admin->url, "PUT $line/v2.0/$name HTTP/1.1\r\nHost: $host\r\nConnection: close\r\n"
                . "X-Auth-Token: admin\r\nContent-Length: 0\r\n\r\n");
    };
    for my $own ('localhost', '127.0.0.1') {
        is $send->('', "hosted-$own", "$own:$port")->location, "http://$own:$port/v2.0/hosted-$own", "by $own";
    }
    is $send->('', 'portless', 'localhost')->location, "http://127.0.0.1:$port/v2.0/portless", 'by a name without the port: the first';
    for my $host ("tenure.test:$port", 'evil.test', 'localhost.evil.test', "evil.test:$port", 'xlocalhost', '127.0.0.1.evil.test',
        '127x0x0x1', '') {
        my $answer = $send->('', 'forged', $host);
        ok $answer->status >= 400 && !defined $answer->request_id, "Host: $host does not reach Tenure" or diag $answer->describe;
        unlike $answer->location // '', qr/evil|test/, 'and comes back in no link';
    }
    # RFC 9112, 3.2.2: the request line's host counts. Whichever does, no other name than one's own comes back.
    for my $forged ([ "http://localhost:$port", 'evil.test' ], [ 'http://evil.test', "localhost:$port" ]) {
        my $answer = $send->($forged->[0], 'absolute', $forged->[1]);
        unlike +($answer->location // '') . $answer->text, qr/evil/, "$forged->[0] with Host: $forged->[1]";
    }
    return;
}

1;
