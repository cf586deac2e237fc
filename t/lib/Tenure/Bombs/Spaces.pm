# SPDX-License-Identifier: Apache-2.0
# Bombs for the spaces dialect: definitions, columns of tables, OpenAPI, protobuf, selectors, lists. Each sub is a group, but for
# those that help.
package Tenure::Bombs::Spaces;

use strict;
use warnings;

use JSON::PP ();

use Tenure::Memory qw(is_watch_process processes_of);

use constant LARGE => 900_000;

my $encode = JSON::PP->new->utf8->canonical->allow_nonref;
my $table  = 'application/json;as=Table;v=v1;g=meta.k8s.io';
my $true   = JSON::PP::true;
my @protobuf   = (type => 'application/vnd.kubernetes.protobuf');
my $core = '/api/v1/namespaces/default';
my $crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

# A type with these members of its only version; the path of its objects.
sub type {
    my ($self, %version) = @_;
    my $plural = $self->fresh . 's';
    my $answer = $self->store(sub { $self->{acme}->post($crds, json => { metadata => { name => "$plural.example.com" }, spec => { group => 'example.com', scope => 'Namespaced',
        names => { plural => $plural, kind => ucfirst $plural }, versions => [{ name => 'v1', served => $true, storage => $true,
            schema => { openAPIV3Schema => { type => 'object', 'x-kubernetes-preserve-unknown-fields' => $true } }, %version }] } }) });
    $self->{type_status} = $answer->status;
    return "/apis/example.com/v1/namespaces/default/$plural";
}

sub schema { my (%properties) = @_; return (schema => { openAPIV3Schema => { type => 'object', properties => \%properties } }) }

sub definitions {
    my ($self) = @_;
    my $acme = $self->{acme};
    my $post = sub { my ($list, $object) = @_; my $body = $encode->encode({ metadata => { name => 'a' }, %$object }); return sub { $acme->post("$list?dryRun=All", body => $body, type => 'application/json') } };
    my $list = $self->type(schema(l => { type => 'array', items => { type => 'object', properties => { a => { type => 'string', default => 'y' x 40_000 } } } }));
    $self->bomb('definitions: defaults that multiply', $post->($list, { l => [({}) x 50_000] }), 400, 413);
    $self->bomb('definitions: fewer of them', $post->($list, { l => [({}) x 500] }), 413);
    my $nested = { type => 'object', properties => { s => { type => 'string', default => 'z' x 30_000 } } };
    $nested = { type => 'object', default => {}, properties => { a => $nested, b => $nested } } for 1 .. 8;
    my $plural = $self->fresh . 's';
    $self->bomb('definitions: defaults within defaults', sub { $acme->post("$crds?dryRun=All", json => { metadata => { name => "$plural.example.com" }, spec => { group => 'example.com', scope => 'Namespaced',
        names => { plural => $plural, kind => ucfirst $plural }, versions => [{ name => 'v1', served => $true, storage => $true, schema => { openAPIV3Schema => $nested } }] } }) }, 201, 400, 413, 422);
    $list = $self->type(schema(s => { type => 'string', pattern => '^(a*)*(a|a)*b$' }, l => { type => 'array', items => { type => 'string', pattern => '(x+x+)+y' } }));
    $self->bomb('definitions: a pattern that goes back', $post->($list, { s => 'a' x LARGE }), 400, 413, 422);
    $self->bomb('definitions: a pattern, often', $post->($list, { l => [('x' x 40) x 20_000] }), 400, 413, 422);
    $list = $self->type(schema(s => { type => 'string', pattern => '^' . '(a{1,900}){1,900}' x 8 . '$' }));
    $self->bomb('definitions: a pattern with counts', $post->($list, { s => 'a' x 100_000 }), 201, 400, 404, 413, 422);
    $list = $self->type(schema(l => { type => 'array', 'x-kubernetes-list-type' => 'set', items => { type => 'string' } },
        m => { type => 'array', 'x-kubernetes-list-type' => 'map', 'x-kubernetes-list-map-keys' => ['k'], items => { type => 'object', required => ['k'], properties => { k => { type => 'string' } } } }));
    $self->bomb('definitions: a large set', $post->($list, { l => [map { "v$_" } 1 .. 90_000] }), 201, 400, 404, 413, 422);
    $self->bomb('definitions: a set of equals', $post->($list, { l => [('v') x 300_000] }), 400, 404, 413, 422);
    $self->bomb('definitions: a large map', $post->($list, { m => [map { { k => "v$_" } } 1 .. 60_000] }), 201, 400, 404, 413, 422);
    $list = $self->type(schema(l => { type => 'array', items => { type => 'string', enum => [map { "e$_" } 1 .. 20_000] } }));
    $self->bomb('definitions: a long choice for each of many', $post->($list, { l => [('e19999') x 80_000] }), 201, 400, 404, 413, 422);
    my @any = map { { properties => { "p$_" => { type => 'string', maxLength => 3 } }, required => ["p$_"] } } 1 .. 1000;
    $list = $self->type(schema(l => { type => 'array', items => { type => 'object', 'x-kubernetes-preserve-unknown-fields' => $true, anyOf => \@any } }));
    $self->bomb('definitions: many alternatives for each of many', $post->($list, { l => [({ x => 1 }) x 20_000] }), 201, 400, 404, 413, 422);
    $list = $self->type(schema(n => { type => 'number', anyOf => [({ maximum => 5 }) x 20_000] }));
    my $digits = '0' x 2_800_000;
    $self->bomb('definitions: many alternatives for a long number', sub { $acme->post("$list?dryRun=All", body => qq({"metadata":{"name":"a"},"n":1.$digits}), type => 'application/json') }, 413, 422);
    $list = $self->type(schema(a => { type => 'integer' }));
    $self->bomb('definitions: many members that are unknown', $post->("$list?fieldValidation=Strict&x=", { map { ("m$_" => 1) } 1 .. 150_000 }), 201, 400, 404, 413, 422);
    $self->bomb('definitions: as many mistakes', $post->($list, { a => { map { ("m$_" => 1) } 1 .. 150_000 } }), 400, 404, 413, 422);
    return;
}

sub columns {
    my ($self) = @_;
    my $acme = $self->{acme};
    my $large = 'x' x LARGE;
    my $columns = $self->type(additionalPrinterColumns => [map { { name => "c$_", type => 'string', jsonPath => '.spec.x' } } 1 .. 100]);
    my $watch = $self->watch($columns);
    $self->needed('columns: of a large member, stored', sub { $acme->post($columns, json => { metadata => { name => 'a' }, spec => { x => $large } }) }, 201);
    $self->{stored} += LARGE;
    $self->bomb('columns: a list', sub { $acme->get($columns, accept => $table) }, 422);
    $self->bomb('columns: of one', sub { $acme->get("$columns/a", accept => $table) }, 422);
    $self->bomb('columns: while it is watched', sub {
        my $answer = $acme->patch("$columns/a", { spec => { n => 1 } });
        $watch->read_while(5, sub { !$watch->{over} && !@{ $watch->{events} } }) if $watch;
        return $answer;
    }, 200);
    $acme->delete("$columns/a");
    my @paths = ('.spec.l[*].l[*].l[*]', '..x', '.spec..x', '.spec.l[*]', '.spec.l[0:99999]', '.spec.l[?(@.x=="y")].x', '.spec');
    my $wide = $self->type(additionalPrinterColumns => [map { { name => "c$_", type => 'string', jsonPath => $paths[$_ % @paths] } } 0 .. 98]);
    $wide = $self->type(additionalPrinterColumns => [map { { name => "c$_", type => 'string', jsonPath => $_ % 2 ? '.spec.l[*].l[*].x' : '.spec' } } 0 .. 98]) if $self->{type_status} != 201;
    my $l = [map { { x => 'y', l => [map { { x => 'y', l => [({ x => 'y' }) x 10] } } 1 .. 20] } } 1 .. 100];
    $self->needed('columns: paths over many, stored', sub { $acme->post($wide, json => { metadata => { name => 'a' }, spec => { x => 1, l => $l } }) }, 201, 400, 404);
    $self->bomb('columns: paths over many', sub { $acme->get($wide, accept => $table) }, 200, 404, 422);
    $acme->delete("$wide/a");
    return;
}

# A watch of the tenant's as a table, where there is a watch process.
sub watch {
    my ($self, $path) = @_;
    return undef if !grep { is_watch_process($_) } processes_of($self->{instance});
    require Tenure::Watch;
    return Tenure::Watch->new($self->{instance}->env('TENURE_COMBINED_URL'), "alice:$self->{tenant}", $path, accept => $table, wait => 2);
}

# Of many large definitions.
sub openapi {
    my ($self) = @_;
    my $n = $self->{types} // 150;
    my %properties = map { ("property$_" => { type => 'string', description => 'd' x 200 }) } 1 .. 1000;
    my @plurals = map { $self->type(schema(%properties)) =~ m{([^/]+)\z} } 1 .. $n;
    for my $path ('/openapi/v2', '/openapi/v3', '/openapi/v3/apis/example.com/v1', '/apis/example.com/v1', '/apis', $crds) {
        $self->bomb("openapi: $path of $n large definitions, by a reader", sub { $self->{reader}->get($path) }, 200, 404, 422);
    }
    $self->bomb('openapi: the definitions as a table', sub { $self->{reader}->get($crds, accept => $table) }, 200, 422);
    $self->bomb('openapi: the definitions in the tenancy API', sub { $self->{reader}->get("/v2.0/$self->{tenant}/customresourcedefinitions") }, 200, 404, 422);
    $self->{acme}->delete("$crds/$_.example.com") for @plurals;
    return;
}

sub varint { my ($n) = @_; my $out = ''; while ($n > 127) { $out .= chr($n & 127 | 128); $n >>= 7 } return $out . chr $n }
sub field    { my ($n, $text) = @_; return varint($n << 3 | 2) . varint(length $text) . $text }
sub envelope { my ($kind, $raw) = @_; return "k8s\0" . field(1, field(1, 'v1') . field(2, $kind)) . field(2, $raw) }

sub protobuf {
    my ($self) = @_;
    my $acme = $self->{acme};
    my $send = sub { my ($plural, $body) = @_; return sub { $acme->request('POST', "$core/$plural?dryRun=All", body => $body, @protobuf) } };
    my $meta = field(1, field(1, 'p'));
    my @may  = (201, 400, 413, 415, 422);
    $self->bomb('protobuf: many empty entries', $send->('configmaps', envelope('ConfigMap', $meta . "\x12\0" x 700_000)), @may);
    $self->bomb('protobuf: many entries', $send->('configmaps', envelope('ConfigMap', $meta . join '', map { field(2, field(1, "k$_")) } 1 .. 100_000)), @may);
    $self->bomb('protobuf: many empty containers', $send->('pods', envelope('Pod', $meta . field(2, "\x12\0" x 700_000))), @may);
    $self->bomb('protobuf: many containers', $send->('pods', envelope('Pod', $meta . field(2, join '', map { field(2, field(1, "c$_") . field(2, 'i')) } 1 .. 50_000))), @may);
    $self->bomb('protobuf: many finalizers', $send->('configmaps', envelope('ConfigMap', field(1, field(1, 'p') . "\x72\0" x 700_000))), @may);
    $self->bomb('protobuf: many owners', $send->('configmaps', envelope('ConfigMap', field(1, field(1, 'p') . "\x6a\0" x 700_000))), @may);
    $self->bomb('protobuf: labels', $send->('configmaps', envelope('ConfigMap', field(1, field(1, 'p') . join '', map { field(11, field(1, "l$_") . field(2, 'v')) } 1 .. 100_000))), @may);
    $self->bomb('protobuf: metadata again and again', $send->('configmaps', envelope('ConfigMap', field(1, field(1, 'p')) x 200_000)), @may);
    $self->bomb('protobuf: a length that is claimed', $send->('configmaps', envelope('ConfigMap', $meta . "\x12\xff\xff\xff\xff\x0f")), 400);
    $self->bomb('protobuf: the longest', $send->('configmaps', envelope('ConfigMap', $meta . "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")), 400);
    $self->bomb('protobuf: bytes as base64', $send->('secrets', envelope('Secret', $meta . field(2, field(1, 'k') . field(2, "\xff" x 2_000_000)))), @may);
    my $deep = '';
    $deep = field(2, $deep) for 1 .. 2000;
    $self->bomb('protobuf: deep', $send->('pods', envelope('Pod', $meta . field(2, $deep))), @may);
    return;
}

sub selectors {
    my ($self) = @_;
    my ($acme, $maps) = @$self{qw(acme maps)};
    my @names = map { $self->fresh } 1 .. 20;
    my %labels = map { ("l$_" => "v$_") } 1 .. 3000;
    $self->store(sub { $acme->put("$maps/$_", json => { metadata => { labels => \%labels }, data => { a => 'b' } }) }) for @names;
    # What a web server takes for an address.
    my $room = 7000;
    my $long = sub { my ($unit, $separator) = @_; return join $separator, ($unit) x ($room / (length($unit) + length $separator)) };
    my @may = (200, 400, 403, 404, 414, 422, 431, 502);
    for my $case (['terms', $long->('l1=v1', '%2C')], ['absences', $long->('!x', '%2C')], ['choices', 'l1+in+(' . $long->('v', '%2C') . ')'], ['exclusions', 'l1+notin+(' . $long->('v', '%2C') . ')'],
        ['open brackets', '(' x $room], ['commas', '%2C' x ($room / 3)], ['nothing', '']) {
        $self->bomb("selectors: $case->[0]", sub { $acme->get("$core/configmaps?labelSelector=$case->[1]") }, @may);
        $self->bomb("selectors: $case->[0], to delete", sub { $acme->delete("$core/configmaps?dryRun=All&labelSelector=$case->[1]") }, @may) if length $case->[1];
    }
    $self->bomb('selectors: fields', sub { $acme->get("$core/configmaps?fieldSelector=" . $long->('metadata.name=a', '%2C')) }, @may);
    $self->bomb('selectors: equal parameters', sub { $acme->get("$core/configmaps?" . $long->('limit=1', '&')) }, @may);
    $self->bomb('selectors: unknown parameters', sub { $acme->get("$core/configmaps?" . $long->('a', '&')) }, @may);
    $self->bomb('selectors: a long continue token', sub { $acme->get("$core/configmaps?limit=1&continue=" . 'e' x $room) }, @may, 410);
    $self->bomb('selectors: traits', sub { $acme->get("$maps?required=" . $long->('HW_CPU_X86_AVX', '%2C')) }, @may);
    $self->bomb('selectors: a long path', sub { $acme->get('/v2.0' . '/a' x ($room / 2)) }, @may);
    $self->bomb('selectors: an Accept of many', sub { $acme->get("$core/configmaps", accept => $long->('a/b;q=0.5', ',')) }, @may, 406);
    $self->bomb('selectors: an If-None-Match of many', sub { $acme->get("$maps/$names[0]", if_none_match => $long->('W/"a"', ',')) }, @may, 304);
    $acme->delete("$maps/$_") for @names;
    return;
}

sub lists {
    my ($self) = @_;
    my ($acme, $maps, $tenant) = @$self{qw(acme maps tenant)};
    my $large = 'x' x LARGE;
    my $n = $self->{large} // 30;
    $self->store(sub { my $i = $_; $acme->put("$maps/l$i", json => { data => { s => $large, i => "$i" } }) }) for 1 .. $n;
    my $mb = int($n * LARGE / 1_000_000);
    $self->needed("lists: of $mb MB", sub { $acme->get("$core/configmaps") }, 200);
    $self->bomb("lists: of $mb MB as a table", sub { $acme->get("$core/configmaps", accept => $table) }, 200);
    $self->bomb('lists: its head', sub { $acme->head("$core/configmaps") }, 200);
    $self->bomb('lists: a page', sub { $acme->get("$core/configmaps?limit=10") }, 200);
    $self->bomb('lists: with a selector', sub { $acme->get("$core/configmaps?labelSelector=a%3Db") }, 200);
    $self->bomb('lists: of all tenants', sub { $self->{operator}->get('/api/v1/tenants/all/configmaps') }, 200, 422);
    $self->bomb('lists: of tenancy', sub { $acme->get($maps) }, 200);
    $self->bomb('lists: of tenancy as XML', sub { $acme->get($maps, accept => 'application/xml') }, 200, 422);
    $self->bomb('lists: all of the tenant', sub { $acme->get("/v2.0/$tenant/namespaces/default") }, 200, 404, 422);
    $self->bomb('lists: deleted together, tried', sub { $acme->delete("$core/configmaps?dryRun=All") }, 200, 413, 422);
    $self->bomb('lists: deleted together', sub { $acme->delete("$core/configmaps") }, 200, 413, 422);
    $acme->delete("$maps/l$_") for 1 .. $n;
    $self->bomb('lists: the deleted', sub { $acme->get("$maps?state=deleted") }, 200, 400, 404, 422);
    return;
}

1;
