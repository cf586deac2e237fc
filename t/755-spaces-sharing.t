#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Which definition of a type answers for a tenant: every case of the look-up, told by what objects are checked against, by
# discovery, and by explain.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Definition qw(definition_of);
use Tenure::Instance;

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->combined('admin');
my $crds     = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
my $forced   = 'arktos.futurewei.com/crd-sharing-policy';
$admin->post('/api/v1/tenants', json => { metadata => { name => 'acme', annotations => { tier => 'gold', 'x.y/z' => 'w' } } })->is_status(201, 'a tenant');
$admin->make_tenant('globex');
my $acme = $instance->combined('alice:acme');

# A definition that takes one value of spec.by: whose it is can be told from what is taken.
sub definition {
    my ($plural, $by, %more) = @_;
    my $schema = { type => 'object', properties => { spec => { type => 'object', properties => { by => { type => 'string', enum => [$by] } } } } };
    return definition_of($plural, schema => $schema, metadata => { labels => $more{labels} // {} }, scope => $more{scope} // 'Namespaced',
        defined $more{range} ? (applicableRange => $more{range}) : ());
}

# Whose definition takes an object of the tenant's: "own", "shared" or "none".
sub answers {
    my ($client, $plural) = @_;
    for my $by (qw(own shared)) {
        my $answer = $client->post("/apis/example.com/v1/namespaces/default/$plural?dryRun=All",
            json => { metadata => { generateName => 'o-' }, spec => { by => $by } });
        return $by if $answer->status == 201;
        return 'none' if $answer->status == 404;
        $answer->status == 422 or die $answer->describe . "\n";
    }
    return 'neither';
}

sub is_discovered {
    my ($client, $plural) = @_;
    return scalar grep { $_->{name} eq $plural } @{ $client->get('/apis/example.com/v1')->json->{resources} // [] };
}

sub policy {
    my ($policy) = @_;
    $acme->patch('/api/v1/tenants/acme', { spec => { multiTenancyCRDPolicy => $policy } })->is_status(200, "policy $policy");
    return;
}

# own, system's, in range, forced; then who answers by NeverUse…, SystemCRDFirst, LocalCRDFirst.
my @cases = (
    ['alphas',   0, 0, 0, 0, qw(none none none)],
    ['bravos',   1, 0, 0, 0, qw(own own own)],
    ['charlies', 0, 1, 0, 0, qw(none none none)],
    ['deltas',   0, 1, 1, 0, qw(none shared shared)],
    ['echos',    1, 1, 0, 0, qw(own own own)],
    ['foxtrots', 1, 1, 1, 0, qw(own shared own)],
    ['golfs',    0, 1, 0, 1, qw(shared shared shared)],
    ['hotels',   1, 1, 0, 1, qw(shared shared shared)],
);
for my $case (@cases) {
    my ($plural, $own, $system, $in_range, $is_forced) = @$case;
    $acme->post($crds, json => definition($plural, 'own'))->is_status(201, "$plural: the tenant's") if $own;
    next unless $system;
    my %more = (range => $in_range ? ['tier=silver', 'tier=gold'] : ['tier=silver']);
    delete $more{range} if $is_forced;
    $more{labels} = { $forced => 'Forced' } if $is_forced;
    $admin->post($crds, json => definition($plural, 'shared', %more))->is_status(201, "$plural: the system's");
}
my @policies = qw(NeverUseSystemCRDUnlessForced SystemCRDFirst LocalCRDFirst);
for my $i (0 .. $#policies) {
    subtest $policies[$i] => sub {
        policy($policies[$i]);
        for my $case (@cases) {
            my ($plural, @rest) = @$case;
            my $want    = $rest[4 + $i];
            my $explain = $acme->get("/spaces/acme/types/$plural.example.com")->json;
            is answers($acme, $plural), $want, "$plural: $want";
            is !!is_discovered($acme, $plural), $want ne 'none', "$plural: discovery says so";
            my $told = $explain->{rule} eq 'forced' ? 'shared' : $explain->{rule};
            is $told, $want, "$plural: and why: $explain->{detail}";
            is $explain->{answers} ? $explain->{answers}{tenant} : 'nobody', { own => 'acme', shared => 'system', none => 'nobody' }->{$want},
                "$plural: whose it is";
        }
    };
}

subtest 'a range takes values whole' => sub {
    policy('LocalCRDFirst');
    is answers($acme, 'deltas'), 'shared', 'tier=gold';
    for my $tier ('goldish', 'gol', 'Gold', 'gold=', '') {
        $admin->put('/v2.0/acme', json => { tenant => { metadata => { tier => $tier } } })->is_status(202);
        is answers($acme, 'deltas'), 'none', "\"$tier\" is not gold";
    }
    $admin->put('/v2.0/acme', json => { tenant => { metadata => { tier => 'gold' } } })->is_status(202);
    is answers($acme, 'deltas'), 'shared', 'gold again';
    $admin->patch('/api/v1/tenants/acme', { metadata => { annotations => { tier => 'x' x 3000 } } })->is_status(200, 'a value that metadata cannot hold');
    is answers($acme, 'deltas'), 'none', 'is not gold';
    $admin->put('/v2.0/acme', json => { tenant => { metadata => { tier => 'gold' } } })->is_status(202);
    is answers($acme, 'deltas'), 'shared', 'gold, written later, counts';
    # Earlier versions kept the other value.
    $instance->sql(q(UPDATE tenants SET object = JSON_SET(object, '$.annotations.tier', 'silver') WHERE name = 'acme'));
    $admin->post($crds, json => definition('indias', 'shared', range => ['tier=gold']))->is_status(201, 'another definition');
    is answers($acme, 'indias'), 'shared', 'also of a row of before';
    is $acme->get('/api/v1/tenants/acme')->json->{metadata}{annotations}{tier}, 'gold', 'which is shown so';
};

# A tenant writes this annotation, when it applies its own Tenant object.
subtest 'an annotation that decides nothing' => sub {
    my $applied = 'kubectl.kubernetes.io/last-applied-configuration';
    $admin->post($crds, json => definition('juliets', 'shared', range => ["$applied=x"]))->is_status(201, 'a range that asks for it');
    $acme->patch('/api/v1/tenants/acme', { metadata => { annotations => { $applied => 'x' } } })->is_status(200, 'the tenant writes it');
    is $acme->get('/api/v1/tenants/acme')->json->{metadata}{annotations}{$applied}, 'x', 'it is kept';
    is answers($acme, 'juliets'), 'none', 'and lets nothing in';
    $acme->patch('/api/v1/tenants/acme', { metadata => { annotations => { $applied => undef, tier => 'silver' } } })->is_failure(403, 'Forbidden',
        qr/multiTenancyCRDPolicy alone/, 'others are the operator\'s');
    $acme->patch('/api/v1/tenants/acme', { metadata => { annotations => { $applied => undef } } })->is_status(200, 'it takes it away');
    $admin->delete("$crds/juliets.example.com")->is_status(200, 'the definition goes');
};

subtest 'what is told' => sub {
    is $acme->get('/spaces/acme/types/charlies.example.com')->json->{shared}, undef, 'not what the system has for others';
    is $admin->get('/spaces/acme/types/charlies.example.com')->json->{shared}{tenant}, 'system', 'but to the operator';
    is $acme->get('/spaces/acme/types/configmaps')->json->{rule}, 'built-in', 'a built-in type';
    for my $policy (@policies) {
        policy($policy);
        my ($unshared, $absent) = map { $acme->get("/spaces/acme/types/$_.example.com")->json } qw(charlies alphas);
        delete $_->{type} for $unshared, $absent;
        is_deeply $unshared, $absent, "$policy: nor that there is one";
        like $admin->get('/spaces/acme/types/charlies.example.com')->json->{detail}, $policy =~ /Never/ ? qr/its policy lets none/ : qr/not in the range/, 'the operator reads why';
    }
    policy('LocalCRDFirst');
    is $acme->get('/spaces/acme/types/daemonsets.apps')->json->{answers}, undef, 'one of the system\'s';
    $acme->get('/spaces/globex/types/configmaps')->is_status(403, 'of another tenant');
};

# Built-in types come with the service, but to tenants that are there.
subtest 'for a tenant that does not exist' => sub {
    for my $path ('', '/configmaps', '/widgets.example.com') {
        my $answer = $admin->get("/spaces/nobody/types$path");
        $answer->is_status(404, "nobody's types$path");
        like $answer->json->{message}, qr/there is no tenant "nobody"/, 'it says why';
    }
    $admin->make_tenant('gone');
    $admin->delete('/v2.0/gone')->is_status(204, 'a tenant is deleted');
    $admin->get('/spaces/gone/types/configmaps')->is_status(410, 'a deleted one');
    is $admin->get('/spaces/system/types/configmaps')->json->{rule}, 'built-in', 'the system is always there';
};

subtest 'changes act at once, and lose nothing' => sub {
    my $golden = $acme->post('/apis/example.com/v1/namespaces/default/deltas', json => { metadata => { name => 'd' }, spec => { by => 'shared' } });
    $golden->is_status(201, 'an object of a shared type');
    my $item = '/apis/example.com/v1/namespaces/default/deltas/d';
    $admin->patch("$crds/deltas.example.com", { spec => { applicableRange => [] } })->is_status(200, 'the range is withdrawn');
    $acme->get($item)->is_status(404, 'it cannot be reached');
    $admin->patch("$crds/deltas.example.com", { spec => { applicableRange => ['*'] } })->is_status(200, 'for everybody');
    is $acme->get($item)->json->{metadata}{uid}, $golden->json->{metadata}{uid}, 'there it is';
    ok is_discovered($instance->combined('bob:globex'), 'deltas'), 'others have the type as well';
    $admin->patch("$crds/deltas.example.com", { spec => { applicableRange => ['x.y/z=w'] } })->is_status(200, 'an annotation of any name');
    ok is_discovered($acme, 'deltas'), 'counts';
    $admin->patch('/api/v1/tenants/acme', { metadata => { annotations => { 'x.y/z' => 'v' } } })->is_status(200, 'it changes');
    ok !is_discovered($acme, 'deltas'), 'and with it what the tenant has';
    $admin->patch('/api/v1/tenants/acme', { metadata => { annotations => { 'x.y/z' => 'w' } } })->is_status(200, 'it changes back');
    ok !is_discovered($instance->combined('bob:globex'), 'deltas'), 'and is asked for';
    $admin->delete("$crds/deltas.example.com")->is_status(200, 'withdrawn by one deletion');
    $acme->get($item)->is_status(404, 'from everybody');
    $acme->post($crds, json => definition('deltas', 'shared'))->is_status(201, 'a definition of the tenant\'s own');
    is $acme->get($item)->json->{metadata}{uid}, $golden->json->{metadata}{uid}, 'serves the same objects';
};

# Typed clients of Kubernetes do not know the range, so what they write never has it.
subtest 'an update without the range' => sub {
    policy('LocalCRDFirst');
    my @made = map { definition($_, 'shared', range => ['tier=gold']) } 'yankees', 'zulus';
    $admin->post($crds, json => $_)->is_status(201, 'a shared definition') for @made;
    for my $case (['yankees', $crds], ['zulus', $crds =~ s/v1/v1beta1/r]) {
        my ($plural, $at, %put) = @$case;
        my $put = sub {
            my ($says, $ends, %spec) = @_;
            my $object = $admin->get("$at/$plural.example.com")->json;
            delete $object->{spec}{applicableRange};
            $object->{metadata}{annotations}{written} = $says;
            $object->{spec} = { %{ $object->{spec} }, %spec };
            my $effect = $admin->post('/spaces/system/effect', json => { operation => 'replace', object => $object });
            is !!@{ $effect->json->{effects} }, !!$ends, "$plural: the effect of a PUT $says" or diag $effect->text;
            my $answer = $admin->put("$at/$plural.example.com", json => $object);
            $answer->is_status(200, "$plural: the PUT");
            return $answer->json;
        };
        my $kept = $put->('without it', 0);
        is answers($acme, $plural), 'shared', "$plural: the tenant has it still";
        is_deeply $kept->{spec}{applicableRange}, ['tier=gold'], "$plural: the range is kept";
        is $kept->{metadata}{annotations}{written}, 'without it', "$plural: the rest is written";
        $put->('with an empty one', 1, applicableRange => []);
        is answers($acme, $plural), 'none', "$plural: ends the sharing";
        $put->('without it once more', 0);
        is answers($acme, $plural), 'none', "$plural: which begins by no other";
        $admin->patch("$at/$plural.example.com", { spec => { applicableRange => ['*'] } })->is_status(200, "$plural: shared again");
        $put->('with null', 1, applicableRange => undef);
        is answers($acme, $plural), 'none', "$plural: ends it as well";
    }
};

# What is asked beforehand is answered as the call is.
subtest 'a forced one is not the tenant\'s to change' => sub {
    my $may = sub {
        my ($client, $verb, $name) = @_;
        return $client->post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', json => { spec => { resourceAttributes => { verb => $verb,
            group => 'apiextensions.k8s.io', resource => 'customresourcedefinitions', name => $name } } })->json->{status};
    };
    my $effect = sub {
        my ($client, $tenant, $operation, $plural) = @_;
        return $client->post("/spaces/$tenant/effect", json => { operation => $operation, object => { kind => 'CustomResourceDefinition', metadata => { name => "$plural.example.com" } } });
    };
    for my $plural ('golfs', 'hotels') {
        $acme->patch("$crds/$plural.example.com", {})->is_status(403, "$plural: a patch");
        for my $verb (qw(update patch delete *)) {
            my $said = $may->($acme, $verb, "$plural.example.com");
            is_deeply [!!$said->{allowed}, $said->{reason}], [!!0, 'the operator forces this definition on every tenant'], "$plural: $verb: the review says so";
            ok $may->($admin, $verb, "$plural.example.com")->{allowed}, "$plural: $verb: the operator may";
        }
        ok $may->($acme, 'get', "$plural.example.com")->{allowed}, "$plural: to read it is allowed";
        $effect->($acme, 'acme', $_, $plural)->is_failure(403, 'Forbidden', qr/forces this definition on every tenant/, "$plural: $_: as the preview of effects does") for qw(patch delete);
        $effect->($admin, 'system', 'delete', $plural)->is_status(200, "$plural: the operator's has effects");
    }
    ok $may->($acme, 'delete', 'bravos.example.com')->{allowed}, 'its own is the tenant\'s';
    $effect->($acme, 'acme', 'delete', 'bravos')->is_status(200, 'with the effects of that');
};

# The list shows forced definitions, which are no change of the tenant's.
subtest 'a list of exactly that version' => sub {
    my $exact = sub { my ($version) = @_; return $acme->get("$crds?resourceVersion=$version&resourceVersionMatch=Exact") };
    my $n     = 0;
    my $now   = sub { return $acme->patch("$crds/bravos.example.com", { metadata => { annotations => { n => 'n' . $n++ } } })->json->{metadata}{resourceVersion} };
    my $is    = $now->();
    $exact->($is)->is_status(200, 'of the present');
    $admin->patch("$crds/golfs.example.com", { metadata => { annotations => { a => 'b' } } })->is_status(200, 'a forced one changes');
    $exact->($is)->is_failure(410, 'Expired', qr/is not kept/, 'not of what was before');
    my $changed = $now->();
    $exact->($changed)->is_status(200, 'but of a newer version');
    $admin->patch("$crds/charlies.example.com", { metadata => { labels => { $forced => 'forced' } }, spec => { applicableRange => undef } })->is_status(200, 'another one is forced');
    $exact->($changed)->is_failure(410, 'Expired', qr/is not kept/, 'which makes the list longer');
    $changed = $now->();
    $admin->patch("$crds/charlies.example.com", { metadata => { labels => undef }, spec => { applicableRange => ['tier=silver'] } })->is_status(200, 'and is forced no more');
    $exact->($changed)->is_failure(410, 'Expired', qr/is not kept/, 'which makes it shorter');
    $changed = $now->();
    $admin->post('/api/v1/namespaces/default/configmaps', json => { metadata => { generateName => 'x-' } })->is_status(201, 'something else changes');
    $exact->($changed)->is_status(200, 'which is no change of the list');
};

subtest 'a forced one has no rival' => sub {
    my $answer = $acme->post($crds, json => definition('golfs', 'own'));
    is $answer->status, 409, 'one of that name is refused' or diag $answer->describe;
    is $answer->json->{reason}, 'Conflict', 'and told' or diag $answer->describe;
};

# By group, version and kind, so that no client finds two types for one kind.
subtest 'a forced one has no rival of its kind, either' => sub {
    my $with = sub {
        my ($plural, $by, $kind, @versions) = @_;
        my $definition = definition($plural, $by, labels => $by eq 'shared' ? { $forced => 'forced' } : {});
        my ($first) = @{ $definition->{spec}{versions} };
        $definition->{spec}{names}{kind} = $kind;
        $definition->{spec}{versions} = [map { { %$first, name => $_, storage => $_ eq $versions[-1] ? JSON::PP::true() : JSON::PP::false() } } @versions];
        return $definition;
    };
    my $of_kind = sub {
        my ($kind, $version) = @_;
        return join ' ', map { $_->{name} } grep { $_->{kind} eq $kind } @{ $acme->get("/apis/example.com/$version")->json->{resources} // [] };
    };
    my $list = sub { my ($plural, $version) = @_; return "/apis/example.com/$version/namespaces/default/$plural" };
    $acme->post($crds, json => $with->('greens', 'own', 'Golf', 'v1'))->is_failure(409, 'Conflict', qr/forces golfs, which has the kind Golf, on every tenant/, 'one of its kind is refused');
    $acme->post($crds, json => $with->('greens', 'own', 'Golf', 'v0', 'v1'))->is_failure(409, 'Conflict', qr/forces golfs/, 'in one of its versions');
    $acme->post($crds, json => $with->('greens', 'own', 'Golf', 'v2'))->is_status(201, 'in another version it is none of its own');
    is $of_kind->('Golf', 'v1'), 'golfs', 'there the kind is the system\'s';
    is $of_kind->('Golf', 'v2'), 'greens', 'and here the tenant\'s';

    $acme->post($crds, json => $with->('kilos', 'own', 'Lima', 'v1', 'v2'))->is_status(201, 'one that is there before, in two versions');
    $acme->post($crds, json => $with->('mikes', 'own', 'November', 'v1'))->is_status(201, 'another, in one');
    $acme->post($list->($_, 'v1'), json => { metadata => { name => 'o' } })->is_status(201, "an object of $_") for 'kilos', 'mikes';
    $admin->post($crds, json => $with->('limas', 'shared', 'Lima', 'v1'))->is_status(201, 'the operator forces one of the first kind');
    $admin->post($crds, json => $with->('novembers', 'shared', 'November', 'v1'))->is_status(201, 'and of the other');
    is $of_kind->('Lima', 'v1'), 'limas', 'in its version it has the kind alone';
    is $of_kind->('Lima', 'v2'), 'kilos', 'the tenant\'s keeps its other one';
    is $of_kind->('November', 'v1'), 'novembers', 'where all of its versions are taken';
    $acme->get($list->('kilos', 'v1'))->is_status(404, 'no request finds it there');
    is join(' ', map { "$_->{apiVersion} $_->{metadata}{name}" } @{ $acme->get($list->('kilos', 'v2'))->json->{items} }), 'example.com/v2 o', 'its objects are served by the other version';
    $acme->get($list->('mikes', 'v1'))->is_status(404, 'none of the other one');
    my $explain = $acme->get('/spaces/acme/types/mikes.example.com')->json;
    is_deeply [@$explain{qw(rule answers)}, $explain->{own}{tenant}], ['forced', undef, 'acme'], 'which is told';
    like $explain->{detail}, qr/the system's novembers, which has its kind, is forced/, 'by its name';
    is_deeply $acme->get('/spaces/acme/types/kilos.example.com')->json->{answers}{versions}, ['v2'], 'as what is left of the first';
    my @shown = grep { /\Acom[.]example[.].*[.](?:Lima|November)\z/ } sort keys %{ $acme->get('/openapi/v2', accept => 'application/json')->json->{definitions} };
    is "@shown", 'com.example.v1.Lima com.example.v1.November com.example.v2.Lima', 'OpenAPI has each kind once';
    $acme->get('/v2.0/acme/namespaces/default/mikes.example.com/o')->is_status(200, 'what was made is kept');
    $acme->patch("$crds/mikes.example.com", { metadata => { labels => { a => 'b' } } })->is_status(200, 'its definition can be changed');
    $admin->delete("$crds/$_.example.com")->is_status(200, "$_ is withdrawn") for 'limas', 'novembers';
    $acme->get($list->($_, 'v1') . '/o')->is_status(200, "$_ are there again") for 'kilos', 'mikes';
};

done_testing;
