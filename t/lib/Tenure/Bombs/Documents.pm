# SPDX-License-Identifier: Apache-2.0
# Bombs that are documents: JSON and XML that grow when they are read, patches that grow when they are applied. Each sub is a group.
package Tenure::Bombs::Documents;

use strict;
use warnings;

use JSON::PP ();

use constant LARGE => 900_000;

my $encode = JSON::PP->new->utf8->canonical->allow_nonref;
my @json_patch = (type => 'application/json-patch+json');
my @strategic  = (type => 'application/strategic-merge-patch+json');
my $core = '/api/v1/namespaces/default';
my $map  = '<map xmlns="http://www.w3.org/2005/xpath-functions">';

sub json_patch {
    my ($self) = @_;
    my ($acme, $maps, $large) = (@$self{qw(acme maps)}, 'x' x LARGE);
    my $name = $self->fresh;
    $self->store(sub { $acme->put("$maps/$name", json => { data => { s => $large } }) });
    my $patch = sub { my (@ops) = @_; my $body = $encode->encode(\@ops); return sub { $acme->request('PATCH', "$maps/$name", body => $body, @json_patch) } };
    my @copies = map { { op => 'copy', from => '/data/s', path => "/data/c$_" } } 1 .. 3000;
    $self->bomb('JSON Patch: copies of a string', $patch->(@copies), 413);
    $self->bomb('JSON Patch: the same in spaces', sub { $acme->request('PATCH', "$core/configmaps/$name", body => $encode->encode(\@copies), @json_patch) }, 413);
    $self->bomb('JSON Patch: copies of the whole', $patch->(map { { op => 'copy', from => '', path => "/data$_" } } 1 .. 40), 409, 413);
    $self->bomb('JSON Patch: copies of many objects', $patch->({ op => 'add', path => '/data/t', value => { map { ("k$_" => {}) } 1 .. 4000 } },
        map { { op => 'copy', from => '/data/t', path => "/data/t$_" } } 1 .. 200), 409, 413, 422);
    $self->bomb('JSON Patch: tests of the whole', $patch->(map { { op => 'test', path => '', value => $_ } } undef, 1 .. 20_000), 409);
    $self->bomb('JSON Patch: items put in front', $patch->({ op => 'add', path => '/data/l', value => [] }, map { { op => 'add', path => '/data/l/0', value => $_ } } 1 .. 40_000), 200, 413);
    $self->bomb('JSON Patch: moves of the whole', $patch->(map { $_ % 2 ? { op => 'move', from => '/data', path => '/moved' } : { op => 'move', from => '/moved', path => '/data' } } 1 .. 20_000), 200, 409, 413);
    $self->bomb('JSON Patch: a long pointer', $patch->({ op => 'add', path => '/a' x 300_000, value => 1 }), 400, 409, 413);
    $self->bomb('JSON Patch: doubling', $patch->({ op => 'add', path => '/d', value => { a => 1 } }, map { { op => 'copy', from => '/d', path => "/d/k$_" } } 1 .. 40), 400, 409, 413);
    $acme->delete("$maps/$name");
    return;
}

sub json {
    my ($self) = @_;
    my ($acme, $maps) = @$self{qw(acme maps)};
    for my $unit ('{}', '[]', '""', '{"a":{}}', '{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}', '1.5', '[[]]', 'null', '"\u0001"', '1e999', '"' . 'a' x 20 . '"') {
        my $name = $self->fresh;
        my $list = '{"data":{"l":[' . join(',', ($unit) x (1_000_000 / (1 + length $unit))) . ']}}';
        $self->bomb("JSON: many $unit", sub { $acme->put("$maps/$name", body => $list, type => 'application/json') }, 201, 400, 413);
        $self->bomb("JSON: read again", sub { $acme->get("$maps/$name") }, 200, 404, 422);
        $self->bomb("JSON: many $unit, read as XML", sub { $acme->get("$maps/$name", accept => 'application/xml') }, 200, 404, 422);
        $acme->delete("$maps/$name");
    }
    my $name    = $self->fresh;
    my $members = '{' . join(',', map { qq("m$_":{}) } 1 .. 80_000) . '}';
    $self->bomb('JSON: many members', sub { $acme->put("$maps/$name", body => $members, type => 'application/json') }, 201, 400, 413);
    $self->bomb('JSON: a merge into many members', sub { $acme->patch("$maps/$name", { a => 1 }) }, 200, 404, 413);
    $acme->delete("$maps/$name");
    my $names = join ',', map { '"' . ('n' x 30 . $_) . '":0' } 1 .. 60_000;
    $self->bomb('JSON: equal names', sub { $acme->put("$maps/$name", body => '{"a":1,' . '"a":1,' x 400_000 . '"b":1}', type => 'application/json') }, 400, 413);
    $self->bomb('JSON: long names', sub { $acme->put("$maps/$name", body => "{$names}", type => 'application/json') }, 201, 400, 413);
    $self->bomb('JSON: deep arrays', sub { $acme->put("$maps/$name", body => '[' x 3_000_000, type => 'application/json') }, 400);
    $self->bomb('JSON: deep objects', sub { $acme->put("$maps/$name", body => '{"a":' x 500_000, type => 'application/json') }, 400);
    $self->bomb('JSON: escapes', sub { $acme->put("$maps/$name", body => '{"data":{"s":"' . '\u0001' x 450_000 . '"}}', type => 'application/json') }, 200, 201, 400, 413);
    $self->bomb('JSON: escapes read as XML', sub { $acme->get("$maps/$name", accept => 'application/xml') }, 200, 404, 406, 410, 422);
    $self->bomb('JSON: a long number', sub { $acme->put("$maps/$name", body => '{"data":{"n":' . '9' x 2_900_000 . '}}', type => 'application/json') }, 200, 201, 400, 413);
    $self->bomb('JSON: many digits behind the point', sub { $acme->put("$maps/$name", body => '{"data":{"n":1.' . '0' x 2_800_000 . '}}', type => 'application/json') }, 200, 201, 413);
    $acme->delete("$maps/$name");
    return;
}

sub xml {
    my ($self) = @_;
    my ($acme, $maps, $operator) = @$self{qw(acme maps operator)};
    my $tenant = $self->fresh;
    my $name   = $self->fresh;
    my $many   = join ' ', map { "a$_=\"\"" } 1 .. 80_000;
    my $put    = sub { my ($body) = @_; return sub { $acme->put("$maps/$name", xml => $body) } };
    $self->bomb('XML: many attributes', sub { $operator->put("/v2.0/$tenant", xml => qq(<account id="$tenant" $many/>)) }, 400);
    $self->bomb('XML: many namespaces', sub { $operator->put("/v2.0/$tenant", xml => qq(<account id="$tenant" ) . join(' ', map { "xmlns:a$_=\"u\"" } 1 .. 40_000) . '/>') }, 400);
    $self->bomb('XML: many attributes within', $put->("$map<string $many>x</string></map>"), 400);
    $self->bomb('XML: many attributes behind what hides them', $put->(qq($map<!-- <a b=" --><?p <a b=' ?><string $many>x</string></map>)), 400);
    $self->bomb('XML: many elements', $put->($map . join('', map { qq(<null key="$_"/>) } 1 .. 45_000) . '</map>'), 200, 201, 413);
    $self->bomb('XML: many empty maps', $put->("$map<array key=\"a\">" . '<map/>' x 120_000 . '</array></map>'), 200, 201, 413);
    $self->bomb('XML: many character references', $put->("$map<string key=\"a\">" . '&lt;' x 200_000 . '</string></map>'), 200, 201, 413);
    $self->bomb('XML: many sections', $put->("$map<string key=\"a\">" . '<![CDATA[a]]>' x 70_000 . '</string></map>'), 200, 201, 413);
    $self->bomb('XML: deep', $put->($map . '<map key="a">' x 200_000), 400);
    $self->bomb('XML: entities', $put->('<!DOCTYPE map [<!ENTITY a "' . 'a' x 1000 . '">' . join('', map { my $i = $_; "<!ENTITY b$i \"" . '&a;' x 50 . '">' } 1 .. 50) . ']>' . "$map<string key=\"a\">&b1;&b2;</string></map>"), 400);
    $self->bomb('XML: comments', $put->("$map" . '<!---->' x 400_000 . '</map>'), 413);
    $self->bomb('XML: instructions', $put->("$map" . '<?a?>' x 500_000 . '</map>'), 413);
    $self->bomb('XML: a long name', $put->("$map<" . 'a' x 2_900_000 . '/></map>'), 400, 413);
    $acme->delete("$maps/$name");
    return;
}

sub containers { my ($n, %more) = @_; return [map { { name => "c$_", image => 'i', %more } } 1 .. $n] }

# Merge patches, plain and strategic.
sub merges {
    my ($self) = @_;
    my $acme = $self->{acme};
    my $name = $self->fresh;
    $self->store(sub { $acme->post("$core/pods", json => { metadata => { name => $name }, spec => { containers => containers(3000) } }) });
    my $merge = sub { my ($spec, @type) = @_; my $body = $encode->encode({ spec => $spec }); return sub { $acme->request('PATCH', "$core/pods/$name?dryRun=All", body => $body, @type) } };
    my $turned = [reverse @{ containers(3000, image => 'j') }];
    $self->bomb('merge: the list turned round', $merge->({ containers => $turned }, @strategic), 200, 413, 422);
    $self->bomb('merge: an order of many', $merge->({ '$setElementOrder/containers' => [map { { name => "c$_" } } reverse 1 .. 20_000], containers => [] }, @strategic), 200, 400, 413, 422);
    $self->bomb('merge: many deletions', $merge->({ containers => [map { { '$patch' => 'delete', name => "c$_" } } 2 .. 20_000] }, @strategic), 200, 400, 413, 422);
    $self->bomb('merge: many of one name', $merge->({ containers => [({ name => 'c1', env => [{ name => 'a', value => 'b' }] }) x 20_000] }, @strategic), 200, 400, 413, 422);
    $self->bomb('merge: variables of one container', $merge->({ containers => [{ name => 'c1', env => [map { { name => "v$_", value => 'x' } } 1 .. 40_000] }] }, @strategic), 200, 400, 413, 422);
    $self->bomb('merge: a retained list', $merge->({ '$retainKeys' => [map { "k$_" } 1 .. 200_000] }, @strategic), 200, 400, 413, 422);
    $self->bomb('merge: finalizers', sub { $acme->request('PATCH', "$core/pods/$name?dryRun=All", @strategic,
        body => $encode->encode({ metadata => { '$deleteFromPrimitiveList/finalizers' => [map { "a.b/f$_" } 1 .. 80_000], finalizers => [map { "a.b/g$_" } 1 .. 20_000] } })) }, 200, 400, 413, 422);
    $self->bomb('merge: many members', $merge->({ map { ("m$_" => {}) } 1 .. 100_000 }, type => 'application/merge-patch+json'), 200, 400, 413, 422);
    $self->bomb('merge: many nulls', $merge->({ map { ("m$_" => undef) } 1 .. 200_000 }, type => 'application/merge-patch+json'), 200, 400, 413, 422);
    $acme->delete("$core/pods/$name?gracePeriodSeconds=0");
    return;
}

1;
