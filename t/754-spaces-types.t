#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Types that tenants define and the operator shares, as kubectl asks for them; every dialect goes by the same answer.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Definition qw(definition_of);
use Tenure::Instance;
use Tenure::Watch;

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my $globex   = $instance->combined('bob:globex');
my $crds     = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
my $widgets  = '/apis/example.com/v1/namespaces/default/widgets';
my $forced   = { 'arktos.futurewei.com/crd-sharing-policy' => 'forced' };

sub definition {
    my ($plural, $kind, $size, %more) = @_;
    my $schema = { type => 'object', properties => { spec => { type => 'object', properties => { size => { type => $size } } } } };
    return definition_of($plural, kind => $kind, schema => $schema, version => { subresources => { status => {} } }, %more);
}

sub object {
    my ($kind, $name, $size) = @_;
    return { apiVersion => 'example.com/v1', kind => $kind, metadata => { name => $name }, spec => { size => $size } };
}

sub types { return join ' ', sort map { $_->{name} } @{ $_[0]->get('/apis/example.com/v1')->json->{resources} // [] } }

for my $name (qw(acme globex)) {
    $admin->post('/api/v1/tenants', json => { metadata => { name => $name, annotations => { region => $name } } })
        ->is_status(201, "tenant $name");
}

subtest 'two tenants, two types of one name' => sub {
    my $made = $acme->post($crds, json => definition('widgets', 'Widget', 'integer'));
    $made->is_status(201, 'one of acme');
    is_deeply [map { "$_->{type}=$_->{status}" } @{ $made->json->{status}{conditions} }], ['NamesAccepted=True', 'Established=True'],
        'is there at once';
    is types($acme), 'widgets widgets/status', 'acme discovers it';
    is types($globex), '', 'globex does not';
    $globex->get($widgets)->is_status(404, 'nor can it use it');
    $globex->post($crds, json => definition('widgets', 'Widget', 'string'))->is_status(201, 'it makes one of its own');
    $acme->post($widgets, json => object('Widget', 'w', 1))->is_status(201, 'an object of acme');
    my $bad = $globex->post($widgets, json => object('Widget', 'w', 1));
    $bad->is_status(422, 'is none of globex');
    is $bad->json->{details}{causes}[0]{field}, 'spec.size', 'for this field';
    $globex->post($widgets, json => object('Widget', 'w', 'big'))->is_status(201, 'this is');
    $acme->post($crds, json => definition('widgets', 'Widget', 'integer'))->is_status(409, 'once is enough');
    $acme->put("$crds/widgets.example.com", json => definition('widgets', 'Widget', 'integer', scope => 'Cluster'))
        ->is_status(422, 'its scope stays');
};

subtest 'every dialect asks the same' => sub {
    my $path = '/v2.0/acme/namespaces/default/widgets.example.com/w';
    $acme->get($path)->is_status(200, 'the same object');
    $acme->put($path, json => { spec => { size => 'x' } })->is_status(400, 'the same schema');
    $acme->put($path, json => { spec => { size => 2 } })->is_status(200, 'a change');
    is $acme->get("$widgets/w")->json->{spec}{size}, 2, 'is seen';
    is $acme->get("$widgets/w")->json->{metadata}{generation}, 2, 'as a generation';
    my $moved = $admin->post("/v2.0/acme/namespaces/default/widgets.example.com/w/action/move?dest=globex");
    $moved->is_status(409, 'to where the type is another');
    is join(' ', sort map { $_->{reason} } @{ $moved->json->{blockers} }), 'name-taken type-differs', 'says which';
    $admin->delete("/v2.0/globex/namespaces/default/widgets.example.com/w")->is_status(204, 'out of the way');
    $globex->delete("$crds/widgets.example.com")->is_status(200, 'the type is gone');
    is types($globex), '', 'from discovery';
    is $admin->post("/v2.0/acme/namespaces/default/widgets.example.com/w/action/move?dest=globex")->json->{blockers}[0]{reason},
        'type-unavailable', 'to where it is not';
};

# The operator has no definition of the type, so the oldest of the tenants' stands for it.
subtest 'all tenants\' objects of a type that tenants define' => sub {
    my $bolts = '/apis/example.com/v1/namespaces/default/bolts';
    my $all   = '/apis/example.com/v1/tenants/all/bolts';
    my $shown = sub {
        my ($path) = @_;
        my $list   = $admin->get($path)->json;
        return join ' ', "$list->{kind}:", map { "$_->{kind}/$_->{metadata}{name} of $_->{metadata}{tenant}" } @{ $list->{items} // [] };
    };
    $admin->get($all)->is_failure(404, 'NotFound', qr/could not find/, 'nobody has it');
    $acme->post($crds, json => definition('bolts', 'Bolt', 'integer'))->is_status(201, 'one of acme');
    my $later = definition('bolts', 'Screw', 'string');
    push @{ $later->{spec}{versions} }, { %{ $later->{spec}{versions}[0] }, name => 'v2', storage => JSON::PP::false() };
    $globex->post($crds, json => $later)->is_status(201, 'one of globex, later');
    $acme->post($bolts, json => object('Bolt', 'a', 1))->is_status(201, 'an object of acme');
    $acme->post('/api/v1/namespaces', json => { metadata => { name => 'n2' } })->is_status(201, 'another namespace');
    $acme->post($bolts =~ s/default/n2/r, json => object('Bolt', 'b', 1))->is_status(201, 'an object there');
    $globex->post($bolts, json => object('Screw', 'g', 'big'))->is_status(201, 'and of globex');
    is $shown->($all), 'BoltList: Bolt/a of acme Bolt/b of acme Bolt/g of globex', 'all of them by the older definition';
    my $in_default = '/apis/example.com/v1/tenants/all/namespaces/default/bolts';
    is $shown->($in_default), 'BoltList: Bolt/a of acme Bolt/g of globex', 'in one namespace, too';
    is $shown->($in_default =~ s/default/n2/r), 'BoltList: Bolt/b of acme', 'or in the other one';
    is $shown->($in_default =~ s/default/none/r), 'BoltList:', 'or in one that nobody has';
    my $page = $admin->get("$in_default?limit=1")->json;
    is $shown->("$in_default?limit=1&continue=$page->{metadata}{continue}"), 'BoltList: Bolt/g of globex', 'by pages';
    my $one = Tenure::Watch->new($instance->env('TENURE_COMBINED_URL'), 'admin', $in_default);
    is Tenure::Watch::told($one, 2), 'ADDED a, ADDED g', 'watched';
    $acme->delete(($bolts =~ s/default/n2/r) . '/b')->is_status(200, 'the other one goes');
    $globex->patch("$bolts/g", { metadata => { labels => { b => 'c' } } })->is_status(200, 'a change');
    is Tenure::Watch::told($one, 1), 'MODIFIED g', 'which alone is told';
    is $shown->("$all?limit=1"), 'BoltList: Bolt/a of acme', 'by pages';
    my $watch = Tenure::Watch->new($instance->env('TENURE_COMBINED_URL'), 'admin', $all);
    is Tenure::Watch::told($watch, 2), 'ADDED a, ADDED g', 'watched';
    $globex->patch("$bolts/g", { metadata => { labels => { a => 'b' } } })->is_status(200, 'a change');
    is Tenure::Watch::told($watch, 1), 'MODIFIED g', 'is told';
    $admin->get($all =~ s/v1/v2/r)->is_failure(404, 'NotFound', qr/could not find/, 'in its versions');
    $acme->get($all)->is_status(403, 'not by a tenant');
    $admin->post($all, json => object('Bolt', 'x', 1))->is_status(405, 'nothing is made there');
    $acme->delete("$crds/bolts.example.com")->is_status(200, 'it goes');
    is $shown->($all), 'ScrewList: Screw/a of acme Screw/g of globex', 'the other one stands in';
    $admin->get($all =~ s/v1/v2/r)->is_status(200, 'with its versions');
    $admin->post($crds, json => definition('bolts', 'Nut', 'integer'))->is_status(201, 'the operator defines it, for itself');
    is $shown->($all), 'NutList: Nut/a of acme Nut/g of globex', 'which decides';
    $admin->delete("$crds/bolts.example.com")->is_status(200, 'that goes');
    $admin->post('/api/v1/tenants', json => { metadata => { name => 'brief' } })->is_status(201, 'a tenant');
    $globex->delete("$crds/bolts.example.com")->is_status(200, 'the last one goes');
    $admin->get($all)->is_status(404, 'nobody has it');
    $instance->combined('bea:brief')->post($crds, json => $later)->is_status(201, 'one of that tenant');
    is $shown->($all), 'ScrewList: Screw/a of acme Screw/g of globex', 'counts';
    $admin->delete('/v2.0/brief')->is_status(204, 'the tenant is deleted');
    $admin->get($all)->is_status(404, 'and its definition counts no more');
};

subtest 'what makes a generation' => sub {
    my $plain      = definition('plains', 'Plain', 'integer', version => {});
    my $generation = sub { my ($path, $change, $what) = @_;
        my $answer = $acme->patch($path, $change);
        $answer->is_status(200, $what);
        return $answer->json->{metadata}{generation} };
    for my $version ($plain, definition('parted', 'Parted', 'integer')) {
        my ($plural, $kind) = ($version->{spec}{names}{plural}, $version->{spec}{names}{kind});
        $version->{spec}{versions}[0]{schema}{openAPIV3Schema}{properties}{status} = { type => 'object', properties => { is => { type => 'integer' } } };
        $acme->post($crds, json => $version)->is_status(201, "a type, $plural");
        $acme->post("/apis/example.com/v1/namespaces/default/$plural", json => object($kind, 'p', 1))->is_status(201, 'an object of it');
    }
    my ($whole, $parted) = map { "/apis/example.com/v1/namespaces/default/$_/p" } 'plains', 'parted';
    is $generation->($whole, { status => { is => 1 } }, 'its status'), 2, 'does, if it is no part';
    is $generation->($whole, { metadata => { labels => { a => 'b' } } }, 'its metadata'), 2, 'does not';
    is $generation->("$parted/status", { status => { is => 1 } }, 'its status'), 1, 'does not, if it is a part';
    is $generation->($parted, { spec => { size => 2 } }, 'the rest'), 2, 'does';
    my $tenancy = '/v2.0/acme/namespaces/default';
    $acme->patch("$tenancy/$_.example.com/p", { status => { is => 2 } })->is_status(200, 'by another dialect') for 'plains', 'parted';
    is_deeply [map { $acme->get($_)->json->{metadata}{generation} } $whole, $parted], [3, 2], '... likewise';
    $acme->delete("$crds/$_.example.com")->is_status(200, 'the type goes') for 'plains', 'parted';
};

subtest 'sharing' => sub {
    my $gadgets = '/apis/example.com/v1/namespaces/default/gadgets';
    my $gadget = definition('gadgets', 'Gadget', 'integer', applicableRange => ['region=acme']);
    $admin->post($crds, json => $gadget)->is_status(201, 'the operator shares a type with some');
    $acme->post($gadgets, json => object('Gadget', 'g', 1))->is_status(201, 'who use it');
    $globex->get($gadgets)->is_status(404, 'others do not');
    unlike types($globex), qr/gadgets/, 'and do not see it';
    $admin->patch("$crds/gadgets.example.com", { spec => { applicableRange => ['*'] } })->is_status(200, 'with all');
    $globex->get($gadgets)->is_status(200, 'now it does');
    $acme->post($crds, json => definition('gadgets', 'Gadget', 'string'))->is_status(201, "one's own");
    $acme->patch("$gadgets/g", { spec => { size => 2 } })->is_status(422, 'comes first');
    $acme->patch('/api/v1/tenants/acme', { spec => { multiTenancyCRDPolicy => 'SystemCRDFirst' } })->is_status(200, 'unless asked');
    $acme->patch("$gadgets/g", { spec => { size => 2 } })->is_status(200, 'for the other way round');
    $acme->patch('/api/v1/tenants/acme', { spec => { multiTenancyCRDPolicy => 'NeverUseSystemCRDUnlessForced' } })
        ->is_status(200, 'or never');
    $acme->patch("$gadgets/g", { spec => { size => 3 } })->is_status(422, 'is its own again');
    $admin->patch("$crds/gadgets.example.com", { metadata => { labels => $forced } })->is_status(200, 'forced');
    $acme->patch("$gadgets/g", { spec => { size => 3 } })->is_status(200, 'overrides that');
    $globex->post($crds, json => definition('gadgets', 'Gadget', 'string'))->is_status(409, 'and there is none beside it');
    $admin->delete("$crds/gadgets.example.com")->is_status(200, 'withdrawn by one deletion');
    $globex->get($gadgets)->is_status(404, 'gone for globex');
    $acme->delete("$crds/gadgets.example.com")->is_status(200, 'and for acme');
    $acme->get($gadgets)->is_status(404, 'both');
    $acme->get('/v2.0/acme/namespaces/default/gadgets.example.com/g')->is_status(200, 'what was made is kept');
    $acme->put('/v2.0/acme/namespaces/default/gadgets.example.com/g', json => {})->is_status(404, 'as it is');
    $admin->post($crds, json => definition('gadgets', 'Gadget', 'integer', applicableRange => ['*']))->is_status(201, 'back');
    $acme->patch('/api/v1/tenants/acme', { spec => { multiTenancyCRDPolicy => 'LocalCRDFirst' } })->is_status(200, 'let in');
    is $acme->get("$gadgets/g")->json->{spec}{size}, 3, 'with its objects';
};

subtest 'what tenants do not have' => sub {
    for my $path ('/api/v1/nodes', '/apis/apps/v1/namespaces/default/daemonsets') {
        $acme->get($path)->is_status(403, "$path is not for them");
        $admin->get($path)->is_status(200, 'but for the operator');
    }
};

subtest 'the older form' => sub {
    my $beta = {
        apiVersion => 'apiextensions.k8s.io/v1beta1', kind => 'CustomResourceDefinition', metadata => { name => 'things.example.com' },
        spec => { group => 'example.com', version => 'v1', scope => 'Namespaced', names => { plural => 'things', kind => 'Thing' } },
    };
    (my $older = $crds) =~ s/v1/v1beta1/;
    $acme->post($older, json => $beta)->is_status(201, 'v1beta1');
    is $acme->get("$crds/things.example.com")->json->{spec}{versions}[0]{name}, 'v1', 'is v1, too';
    is $acme->get("$older/things.example.com")->json->{spec}{version}, 'v1', 'and itself';
    $acme->post('/apis/example.com/v1/namespaces/default/things', json => { metadata => { name => 't' }, any => { thing => 1 } })
        ->is_status(201, 'an object without a schema');
};

my ($code) = $instance->manage('doctor');
is $code, 0, 'the store is sound';
my ($keys_code, $keys) = $instance->manage('keys', '--tenant', 'acme');
like $keys, qr{^/registry/example\.com/gadgets/acme/default/g$}m, 'keys';

# The document's four forms: in a namespace or not, of a tenant or the system, which has none in its keys.
subtest 'keys' => sub {
    for my $in ('', '/tenants/acme') {
        $admin->post("/api/v1$in/namespaces", json => { metadata => { name => 'k' } })->is_status(201);
        $admin->post("/api/v1$in/namespaces/k/configmaps", json => { metadata => { name => 'c' } })->is_status(201);
    }
    $admin->post('/api/v1/tenants/acme/namespaces', json => { metadata => { name => 'k-e' } })->is_status(201);
    $admin->post('/api/v1/tenants/acme/namespaces/k-e/configmaps', json => { metadata => { name => 'c' } })->is_status(201);
    my %want = (acme => ['/registry/namespaces/acme/k', '/registry/configmaps/acme/k/c'], system => ['/registry/namespaces/k', '/registry/configmaps/k/c']);
    for my $tenant (sort keys %want) {
        my (undef, $text) = $instance->manage('keys', '--tenant', $tenant);
        like $text, qr/^\Q$_\E$/m, $_ for @{ $want{$tenant} };
    }
    # The bytes of "k-e/c" are less than those of "k/c".
    my (undef, $text) = $instance->manage('keys', '--tenant', 'acme');
    is_deeply [$text =~ m{^/registry/configmaps/acme/(k.*)$}mg], ['k/c', 'k-e/c'], 'in the order of namespace and name';
};

# A sixth of the memory of a request: 2,796,202 bytes.
subtest 'how much text the definitions of a space may have' => sub {
    my $small = Tenure::Instance->start(combined => 1, settings => { 'tenure.request_memory' => '16M' });
    my ($operator, $alice) = map { $small->combined($_) } 'admin', 'alice:acme';
    my $big = sub { my ($plural, $bytes) = @_; return definition_of($plural, schema => { type => 'object', description => 'd' x $bytes }) };
    my $quota = qr/the definitions of a tenant may have 2796202 bytes in all, and would have \d{7}: make them smaller/;
    my $crd   = '/v2.0/acme/customresourcedefinitions.apiextensions.k8s.io';
    $operator->make_tenant($_) for 'acme', 'globex';
    $alice->post($crds, json => definition('widgets', 'Widget', 'integer'))->is_status(201, 'a type of acme');
    $alice->post($widgets, json => object('Widget', 'w', 1))->is_status(201, 'an object');
    for ([$operator, 'the system'], [$alice, 'acme']) {
        my ($client, $who) = @$_;
        $client->post($crds, json => $big->("big${_}s", 600_000))->is_status(201, "a large definition of $who") for 1 .. 4;
        $client->post($crds, json => $big->('big5s', 600_000))->is_failure(403, 'Forbidden', $quota, 'another one is too much');
    }
    $alice->get($_)->is_status(200, "$_ is answered") for $widgets, "$widgets/w", '/apis', '/apis/example.com/v1', $crds;
    my $first = "$crds/big1s.example.com";
    my $schema = sub { return { spec => { versions => $big->('big1s', $_[0])->{spec}{versions} } } };
    $alice->patch($first, $schema->(1_200_000))->is_failure(403, 'Forbidden', $quota, 'nor may one grow as much');
    $alice->patch($first, $schema->(700_000))->is_status(200, 'but a little');
    $alice->patch($first, $schema->(600_000))->is_status(200, 'and shrink');
    $alice->delete("$crds/big2s.example.com")->is_status(200, 'one goes');
    $alice->post($crds, json => $big->('big5s', 600_000))->is_status(201, 'there is room for another one');
    $alice->post("$crd/big2s.example.com/action/recover")->is_status(409, 'and none for what comes back');
    $small->combined('bob:globex')->post($crds, json => $big->("big${_}s", 600_000))->is_status(201, 'globex has as much') for 6 .. 9;
    my $moved = $operator->post("$crd/big5s.example.com/action/move?dest=globex");
    $moved->is_status(409, 'so nothing moves there');
    is join(' ', map { $_->{reason} } @{ $moved->json->{blockers} }), 'quota', 'says why';
    like $moved->json->{blockers}[0]{detail}, $quota, 'and what would be right';
};

done_testing;
