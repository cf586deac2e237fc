#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Moves between tenants that have not the same types: what stands in the way is named, in the move action as in the refusal, by
# the same look-up that answers requests; what goes along keeps its meaning; built-in types are the same everywhere, whatever
# a tenant calls its own.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Definition qw(definition_of);
use Tenure::Instance;
use Tenure::Metal qw(is_fault);

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->combined('admin');
my $crds     = 'customresourcedefinitions';
my $forced   = 'arktos.futurewei.com/crd-sharing-policy';
my $serial   = 0;

# A new tenant, of that policy.
sub tenant {
    my ($policy, %annotations) = @_;
    my $name = 't' . ++$serial;
    my $made = $admin->post('/api/v1/tenants', json => { metadata => { name => $name, annotations => \%annotations },
        spec => { multiTenancyCRDPolicy => $policy // 'LocalCRDFirst' } });
    $made->is_status(201, "$name: " . ($policy // 'no policy')) or diag $made->describe;
    return $name;
}

sub definition { my ($plural, %more) = @_; return definition_of($plural, metadata => { labels => delete $more{labels} // {} }, %more) }

# tenant 'system': the operator's own.
sub define {
    my ($tenant, $plural, %more) = @_;
    my $made = $admin->post("/apis/apiextensions.k8s.io/v1/tenants/$tenant/customresourcedefinitions", json => definition($plural, %more));
    $made->is_status(201, "$tenant defines $plural") or diag $made->describe;
    return $made->json->{metadata}{uid};
}

sub object {
    my ($tenant, $plural, $name) = @_;
    my $made = $admin->post("/apis/example.com/v1/tenants/$tenant/namespaces/default/$plural", json => { metadata => { name => $name } });
    $made->is_status(201, "$tenant: $plural $name") or diag $made->describe;
    return $made->json->{metadata}{uid};
}

sub policy {
    my ($tenant, $policy) = @_;
    return $admin->patch("/api/v1/tenants/$tenant", { spec => { multiTenancyCRDPolicy => $policy } })->is_status(200, "$tenant: $policy");
}

# Whose definition answers for a tenant, and by which rule.
sub answers {
    my ($tenant, $plural) = @_;
    my $told = $admin->get("/spaces/$tenant/types/$plural.example.com")->json;
    return join ' ', $told->{answers} ? $told->{answers}{tenant} : 'nobody', $told->{rule};
}

# "reason resource" of each blocker: by the move action and by the POST, which must agree and change nothing. where: path of
# the resource in its tenant, undef for all.
sub blockers {
    my ($tenant, $where, $dest) = @_;
    my $path   = "/v2.0/$tenant" . (defined $where ? "/$where" : '') . "/action/move?dest=$dest";
    my $before = $instance->change_count;
    my $action = $admin->get($path, accept => 'application/json');
    $action->is_status(200, "$path can be looked at") or diag $action->describe;
    my $shown  = $action->json->{move}{blockers};
    my $refused = $admin->post($path, accept => 'application/json');
    $refused->is_problem(409, 'blocked', 'and is refused');
    is_deeply $refused->json->{blockers}, $shown, 'for what was shown';
    is scalar(grep { ($_->{detail} // '') eq '' } @$shown), 0, 'each with what would help';
    is $instance->change_count, $before, 'and nothing is changed';
    return [sort map { "$_->{reason} $_->{resource}" } @$shown];
}

# Nothing stands in the way, and the move is made.
sub moves {
    my ($tenant, $where, $dest) = @_;
    my $path   = "/v2.0/$tenant" . (defined $where ? "/$where" : '') . "/action/move?dest=$dest";
    my $action = $admin->get($path, accept => 'application/json');
    is_deeply $action->json->{move}{blockers}, [], "$path: nothing in the way";
    my $answer = $admin->post($path, if_match => $action->etag);
    return $answer->is_status(303, 'it moves') || (diag($answer->describe), 0)[1];
}

my $gear = 'namespaces/default/gears.example.com/g';
define('system', 'gears', applicableRange => ['tier=gold']);

subtest 'a shared type, by the policy and range of the destination' => sub {
    my $from = tenant(undef, tier => 'gold');
    my $uid  = object($from, 'gears', 'g');
    for my $policy (qw(LocalCRDFirst SystemCRDFirst)) {
        my $to = tenant($policy, tier => 'gold');
        is answers($to, 'gears'), 'system shared', "$policy: the same one answers there";
        moves($from, $gear, $to);
        is $admin->get("/apis/example.com/v1/tenants/$to/namespaces/default/gears/g")->json->{metadata}{uid}, $uid, 'it is served there';
        $from = $to;
    }
    is_deeply blockers($from, $gear, tenant()), ["type-unavailable $gear"], 'out of its range';
    my $never = tenant('NeverUseSystemCRDUnlessForced', tier => 'gold');
    is_deeply blockers($from, $gear, $never), ["type-unavailable $gear"], 'in its range, where no type of the system is wanted';
    is_deeply blockers($from, undef, $never), ["type-unavailable $gear"], 'with all as well';
    my $own = tenant(undef, tier => 'gold');
    define($own, 'gears');
    is_deeply blockers($from, $gear, $own), ["type-differs $gear"], 'where there is an own one of that name, which comes first';
    policy($own, 'NeverUseSystemCRDUnlessForced');
    is_deeply blockers($from, $gear, $own), ["type-differs $gear"], 'or is the only one';
    policy($own, 'SystemCRDFirst');
    moves($from, $gear, $own);
    policy($own, 'LocalCRDFirst');
    is_deeply blockers($own, $gear, $from), ["type-differs $gear"], 'and not back when it is an object of the own one';
};

subtest 'a forced type is everywhere the same' => sub {
    my $from = tenant(undef, tier => 'gold');
    my $uid  = object($from, 'gears', 'g');
    my $to   = tenant('NeverUseSystemCRDUnlessForced');
    define($to, 'gears');
    is_deeply blockers($from, $gear, $to), ["type-differs $gear"], 'optional, it is another one';
    my $path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gears.example.com';
    $admin->patch($path, { metadata => { labels => { $forced => 'forced' } }, spec => { applicableRange => undef } })->is_status(200, 'forced');
    is answers($to, 'gears'), 'system forced', 'over what the tenant has and wants';
    moves($from, $gear, $to);
    $admin->patch($path, { metadata => { labels => { $forced => undef } }, spec => { applicableRange => ['tier=gold'] } })->is_status(200, 'and no longer');
    is_deeply blockers($to, $gear, $from), ["type-differs $gear"], 'now it is an object of the one there';
};

subtest 'several at once, each by its name' => sub {
    my ($from, $to) = (tenant(undef, tier => 'gold'), tenant());
    define($from, $_) for 'nuts', 'bolts';
    define($to, 'bolts');
    my $in = "/apis/example.com/v1/tenants/$from/namespaces/shop";
    $admin->post("/api/v1/tenants/$from/namespaces", json => { metadata => { name => 'shop' } })->is_status(201);
    $admin->post("$in/$_", json => { metadata => { name => 'x' } })->is_status(201, "$_ x") for 'nuts', 'bolts', 'gears';
    $admin->post("/api/v1/tenants/$from/namespaces/shop/configmaps", json => { metadata => { name => 'x' } })->is_status(201);
    my @want = ('type-differs namespaces/shop/bolts.example.com/x', 'type-unavailable namespaces/shop/gears.example.com/x',
        'type-unavailable namespaces/shop/nuts.example.com/x');
    is_deeply blockers($from, 'namespaces/shop', $to), \@want, 'a namespace: of what is in it what cannot be there';
    is_deeply blockers($from, undef, $to), ["name-taken $crds/bolts.example.com", grep { !/nuts/ } @want],
        'all: what the definitions that go along do not help';
    my $later = $admin->post("/v2.0/$from/action/move?dest=$to", headers => { Prefer => 'respond-async' }, accept => 'application/json');
    $later->is_problem(409, 'blocked', 'told at once to who would not wait');
};

subtest 'definitions go along with all' => sub {
    my $item  = 'namespaces/default/cogs.example.com/c';
    my $whole = sub {
        my $tenant = tenant(@_);
        my @uids   = (define($tenant, 'cogs'), object($tenant, 'cogs', 'c'));
        return ($tenant, @uids);
    };
    my ($from, $definition, $object) = $whole->();
    my $to = tenant();
    is_deeply blockers($from, $item, $to), ["type-unavailable $item"], 'without its definition an object does not go';
    moves($from, undef, $to);
    is answers($to, 'cogs'), "$to own", 'its definition is there';
    is answers($from, 'cogs'), 'nobody none', 'and not here';
    is $admin->get("/apis/apiextensions.k8s.io/v1/tenants/$to/customresourcedefinitions/cogs.example.com")->json->{metadata}{uid}, $definition, 'the same one';
    is $admin->get("/apis/example.com/v1/tenants/$to/namespaces/default/cogs/c")->json->{metadata}{uid}, $object, 'serving the same object';
    my $never = tenant('NeverUseSystemCRDUnlessForced');
    moves($to, undef, $never);
    is answers($never, 'cogs'), "$never own", 'to where none of the system\'s is wanted, too';

    define('system', 'cogs', applicableRange => ['*']);
    ($from) = $whole->();
    is_deeply blockers($from, undef, tenant('SystemCRDFirst')), ["type-differs $item"], 'not to where the system\'s would come first';
    my $local = tenant();
    is answers($local, 'cogs'), 'system shared', 'where the system\'s answers as long as there is no own one';
    moves($from, undef, $local);
    is answers($local, 'cogs'), "$local own", 'what comes along is the own one';
    my ($other) = $whole->();
    is_deeply blockers($local, undef, $other), ["name-taken $crds/cogs.example.com", "name-taken $item", "type-differs $item"],
        'not to where there is one of that name';
};

subtest 'a move is taken back, and a definition that was made since stays' => sub {
    my ($from, $to) = map { tenant(undef, tier => 'rods') } 1, 2;
    my $item = 'namespaces/default/rods.example.com/r';
    define('system', 'rods', applicableRange => ['tier=rods']);
    define($from, 'screws');
    object($from, 'rods', 'r');
    my $moved = $admin->post("/v2.0/$from/action/move?dest=$to");
    $moved->is_status(303, 'an object of a shared type moves, with a definition of another type');
    my $undo = "/v2.0/$to/changes/" . $moved->request_id . '/undo';
    is_deeply $admin->get($undo)->json->{blockers}, [], 'which may be taken back';
    define($to, 'rods');
    $admin->patch("/api/v1/tenants/$from", { metadata => { annotations => { tier => undef } } })->is_status(200, 'until the type is no longer there');
    is answers($from, 'rods'), 'nobody none', '... where it would go back';
    my @refused = ($admin->get($undo), $admin->post($undo));
    is_deeply [map { $_->status } @refused], [200, 409], 'refused';
    is_deeply [map { map { "$_->{reason} $_->{resource}" } @{ $_->json->{blockers} } } @refused], [("type-unavailable $item") x 2], '... for that';
    $admin->patch("/api/v1/tenants/$from", { metadata => { annotations => { tier => 'rods' } } })->is_status(200);
    is_deeply [map { "$_->{reason} $_->{resource}" } @{ $admin->get($undo)->json->{blockers} }], ["type-differs $item"], 'another one that is shared with it is not the one there';
    $admin->delete("/apis/apiextensions.k8s.io/v1/tenants/$to/customresourcedefinitions/rods.example.com")->is_status(200);
    $admin->post($undo)->is_status(200, 'without the own one, it goes back');
    is_deeply [answers($from, 'rods'), answers($from, 'screws')], ['system shared', "$from own"], '... with the definition that came along';
};

# Its own definition is there, and overridden; it would not be where it goes.
subtest 'objects of a shared type beside a definition of their tenant\'s' => sub {
    my $from = tenant('SystemCRDFirst');
    my $item = 'namespaces/default/axles.example.com/a';
    define('system', 'axles', applicableRange => ['*']);
    define($from, 'axles');
    object($from, 'axles', 'a');
    is answers($from, 'axles'), 'system shared', 'the object is of the system\'s type';
    is_deeply blockers($from, undef, tenant()), ["type-differs $item"], 'not with all to where the own one would answer';
    is_deeply blockers($from, undef, tenant('NeverUseSystemCRDUnlessForced')), ["type-differs $item"], 'nor where no other may';
    my $same = tenant('SystemCRDFirst');
    my $local = tenant();
    moves($from, $item, $local);
    moves($local, $item, $from);
    moves($from, undef, $same);
    is answers($same, 'axles'), 'system shared', 'but to where it stays what it is';
};

subtest 'a definition comes to others' => sub {
    my ($from, $to) = (tenant(), tenant());
    define($from, 'pumps', kind => 'Pump', names => { shortNames => ['pp'] });
    define($from, 'hoses', kind => 'Hose', names => { shortNames => ['ho'] });
    define($to, 'pipes', kind => 'Pump');
    define($to, 'hoops', kind => 'Hoop', names => { shortNames => ['ho'] });
    my $refused = $admin->post("/apis/apiextensions.k8s.io/v1/tenants/$to/customresourcedefinitions", json => definition('pumps'));
    $refused->is_status(409, 'a kind that another has cannot be defined');
    is_deeply blockers($from, "$crds/pumps.example.com", $to), ["name-taken $crds/pumps.example.com"], 'nor brought by a move';
    my $detail = $admin->get("/v2.0/$from/$crds/pumps.example.com/action/move?dest=$to", accept => 'application/json')->json->{move}{blockers}[0]{detail};
    like $detail, qr/"Pump".*pipes\.example\.com/, 'which says whose it is';
    is_deeply blockers($from, undef, $to), [map { "name-taken $crds/$_.example.com" } 'hoses', 'pumps'], 'of all, each, short names too';
    $admin->delete("/apis/apiextensions.k8s.io/v1/tenants/$to/customresourcedefinitions/$_.example.com")->is_status(200) for 'pipes', 'hoops';
    moves($from, undef, $to);
    $admin->post("/v2.0/$to/$crds/pipes.example.com/action/recover")->is_problem(409, 'conflict', 'nor does one come back whose kind another has by now');
    $admin->delete("/apis/apiextensions.k8s.io/v1/tenants/$to/customresourcedefinitions/pumps.example.com")->is_status(200);
    $admin->post("/v2.0/$to/$crds/pipes.example.com/action/recover")->is_status(204, 'until that is gone');
};

# A tenant's range and label mean nothing, until the operator takes the definition over.
subtest 'a definition comes to the system' => sub {
    my $from = tenant();
    define($from, 'valves', labels => { $forced => 'Forced' });
    define($from, 'seals', applicableRange => ['*']);
    define($from, 'rings', applicableRange => []);
    my @shared = map { "type-shared $crds/$_.example.com" } 'seals', 'valves';
    is_deeply blockers($from, undef, 'system'), \@shared, 'not so that it would be others\' at once';
    is_deeply blockers($from, "$crds/valves.example.com", 'system'), [$shared[1]], 'nor alone';
    my $elsewhere = tenant();
    moves($from, undef, $elsewhere);
    my $path = "/apis/apiextensions.k8s.io/v1/tenants/$elsewhere/customresourcedefinitions";
    $admin->patch("$path/valves.example.com", { metadata => { labels => { $forced => undef } } })->is_status(200, 'without the label');
    $admin->patch("$path/seals.example.com", { spec => { applicableRange => undef } })->is_status(200, 'and the range');
    moves($elsewhere, undef, 'system');
    is answers($from, $_), 'nobody none', "$_ are the system's alone" for 'valves', 'seals', 'rings';
};

subtest 'what nobody defines any more' => sub {
    my $from = tenant();
    my $item = 'namespaces/default/wicks.example.com/w';
    define($from, 'wicks');
    object($from, 'wicks', 'w');
    $admin->delete("/apis/apiextensions.k8s.io/v1/tenants/$from/customresourcedefinitions/wicks.example.com")->is_status(200, 'the definition goes, the object stays');
    is_deeply blockers($from, $item, tenant()), ["type-unavailable $item"], 'not to where nobody defines it either';
    my $to = tenant();
    define($to, 'wicks', scope => 'Cluster');
    is_deeply blockers($from, $item, $to), ["type-differs $item"], 'nor to where it stands in no namespace';
    my $home = tenant();
    define($home, 'wicks');
    moves($from, $item, $home);
    $admin->get("/apis/example.com/v1/tenants/$home/namespaces/default/wicks/w")->is_status(200, 'but to where it is served again');
};

subtest 'what is the system\'s alone' => sub {
    my $to = tenant();
    $admin->post('/api/v1/nodes', json => { metadata => { name => 'n1' } })->is_status(201, 'a node of the cluster');
    $admin->post('/apis/apps/v1/namespaces/default/daemonsets', json => { metadata => { name => 'd1' }, spec => { selector => { matchLabels => { a => 'b' } },
        template => { metadata => { labels => { a => 'b' } }, spec => { containers => [{ name => 'c', image => 'i' }] } } } })
        ->is_status(201, 'a daemon set');
    my @items = ('nodes.core/n1', 'namespaces/default/daemonsets.apps/d1');
    for my $item (@items) {
        my ($told) = @{ blockers('system', $item, $to) };
        like $told, qr{\Atype-unavailable .*/[nd]1\z}, "$item does not go to a tenant";
    }
    my $detail = $admin->get("/v2.0/system/nodes.core/n1/action/move?dest=$to", accept => 'application/json')->json->{move}{blockers}[0]{detail};
    like $detail, qr/operator/, 'as it is the operator\'s';
    unlike $detail, qr/define|share/, 'which no definition changes';
};

# Types that are built in are for every tenant: no policy, and no type that a tenant calls the same, comes between.
subtest 'bare metal and providers go anywhere' => sub {
    my ($from, $to) = (tenant(), tenant('NeverUseSystemCRDUnlessForced'));
    define($to, $_) for 'nodes', 'ports', 'resourceproviders';
    define('system', 'portgroups', labels => { $forced => 'forced' });
    my $metal = Tenure::Metal->new($admin, '1.82');
    my $node  = $metal->make('nodes', { driver => 'fake-hardware', owner => $from });
    $metal->make('ports', { node_uuid => $node->{uuid}, address => '52:54:00:00:00:01' });
    $metal->make('portgroups', { node_uuid => $node->{uuid}, name => 'pg' });
    my $provider = $admin->post('/placement/resource_providers', headers => { 'OpenStack-API-Version' => 'placement 1.39' },
        json => { name => 'rp', uuid => '11111111-2222-4333-8444-555555555555' });
    $provider->is_status(200, 'a provider');
    moves('system', 'resourceproviders/11111111-2222-4333-8444-555555555555', $from);
    $metal->patch("/nodes/$node->{uuid}", [[replace => '/owner', $to]])->is_status(200, 'an owner changes');
    my $home = sub {
        return join ' ', map { "$_->[0]=$_->[1]" } $instance->sql("SELECT y.plural, t.name FROM resources r JOIN tenants t ON t.id = r.tenant_id "
            . "JOIN types y ON y.id = r.type_id WHERE r.live = 1 AND y.plural IN ('nodes', 'ports', 'portgroups', 'resourceproviders') "
            . "AND t.name <> 'system' ORDER BY 1");
    };
    is $home->(), "nodes=$to portgroups=$to ports=$to resourceproviders=$from", 'with what hangs on it';
    moves($from, undef, $to);
    is $home->(), join(' ', map { "$_=$to" } qw(nodes portgroups ports resourceproviders)), 'and a move of all';
    my $before = $instance->change_count;
    $admin->patch("/v2.0/$to/nodes/$node->{uuid}", { metadata => { locked => JSON::PP::true() } })->is_status(200, 'held fast');
    is_fault($metal->patch("/nodes/$node->{uuid}", [[replace => '/owner', $from]]), 409, qr{locked.*$node->{uuid}|$node->{uuid}.*locked}s,
        'what stands in the way of a new owner is named here as well');
    is $instance->change_count, $before + 1, 'and nothing is changed';
};

my ($code, $text) = $instance->manage('doctor');
is $code, 0, 'the store is sound' or diag $text;

done_testing;
