#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a change of sharing or policy would do: told before it is made, true when it is, and nothing is changed by asking.
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
$admin->post('/api/v1/tenants', json => { metadata => { name => $_, annotations => { tier => 'gold' } } })->is_status(201, $_) for qw(acme globex);
$admin->post('/api/v1/tenants', json => { metadata => { name => 'initech' } })->is_status(201, 'initech');
my %of = map { $_ => $instance->combined("ann:$_") } qw(acme globex initech);

sub put {
    my ($client, $plural, @names) = @_;
    $client->post("/apis/example.com/v1/namespaces/default/$plural", json => { metadata => { name => $_ } })->is_status(201, "$plural $_") for @names;
    return;
}

# "acme widgets.example.com acme>system 2", one for each effect.
sub effects {
    my ($client, $tenant, $operation, $object, $query) = @_;
    my $answer = $client->post("/spaces/$tenant/effect" . ($query // ''), json => { operation => $operation, object => $object });
    $answer->is_status(200, "$operation of $object->{kind} $object->{metadata}{name}") or diag $answer->describe;
    return map { join ' ', @$_{qw(tenant type)}, join('>', map { $_ ? $_->{tenant} : 'none' } @$_{qw(from to)}), $_->{objects} } @{ $answer->json->{effects} };
}

sub named {
    my ($kind, $name, %more) = @_;
    return { kind => $kind, metadata => { name => $name }, %more };
}

my $crd    = sub { named('CustomResourceDefinition', @_) };
my $policy = sub { named('Tenant', $_[0], spec => { multiTenancyCRDPolicy => $_[1] }) };

$admin->post($crds, json => definition_of('gears', applicableRange => ['tier=gold']))->is_status(201, 'shared with two');
put($of{acme}, 'gears', 'a', 'b');
put($of{globex}, 'gears', 'c');
$of{globex}->post($crds, json => definition_of('gears'))->is_status(201, 'and one has its own');
my $changes = $instance->change_count;

subtest 'of a definition of the system\'s' => sub {
    is_deeply [effects($admin, 'system', delete => $crd->('gears.example.com'))],
        ['acme gears.example.com system>none 2', 'system gears.example.com system>none 0'], 'withdrawn';
    is_deeply [effects($admin, 'system', patch => $crd->('gears.example.com', spec => { applicableRange => ['*'] }))],
        ['initech gears.example.com none>system 0'], 'for everybody';
    is_deeply [effects($admin, 'system', patch => $crd->('gears.example.com', spec => { applicableRange => [] }))],
        ['acme gears.example.com system>none 2'], 'for nobody';
    is_deeply [effects($admin, 'system', patch => named('CustomResourceDefinition', 'gears.example.com',
        metadata => { name => 'gears.example.com', labels => { 'arktos.futurewei.com/crd-sharing-policy' => 'forced' } }, spec => { applicableRange => undef }))],
        ['globex gears.example.com globex>system 1', 'initech gears.example.com none>system 0'], 'forced';
    is_deeply [effects($admin, 'system', create => definition_of('wheels', applicableRange => ['*']))],
        [(map { "$_ wheels.example.com none>system 0" } qw(acme globex initech system))], 'a new one';
    is_deeply [effects($admin, 'system', replace => definition_of('gears', applicableRange => ['tier=gold', 'tier=x']))], [], 'nobody notices';
};

subtest 'pages' => sub {
    my ($marker, @all) = ('');
    for (1 .. 9) {
        my $answer = $admin->post("/spaces/system/effect?limit=1&continue=$marker",
            json => { operation => 'create', object => definition_of('wheels', applicableRange => ['*']) })->json;
        push @all, map { $_->{tenant} } @{ $answer->{effects} };
        $marker = $answer->{continue} // last;
    }
    is "@all", 'acme globex initech system', 'one after the other';
};

subtest 'of a tenant\'s own' => sub {
    is_deeply [effects($of{globex}, 'globex', delete => $crd->('gears.example.com'))],
        ['globex gears.example.com globex>system 1'], 'the shared one answers';
    is_deeply [effects($of{acme}, 'acme', create => definition_of('gears'))], ['acme gears.example.com system>acme 2'], 'overridden';
    is_deeply [effects($admin, 'acme', create => definition_of('gears'))], ['acme gears.example.com system>acme 2'], 'the operator may ask';
    is_deeply [effects($of{acme}, 'acme', patch => $policy->('acme', 'NeverUseSystemCRDUnlessForced'))],
        ['acme gears.example.com system>none 2'], 'a policy';
    is_deeply [effects($of{globex}, 'globex', patch => $policy->('globex', 'SystemCRDFirst'))],
        ['globex gears.example.com globex>system 1'], 'another';
    is_deeply [effects($admin, 'acme', patch => { kind => 'Tenant', metadata => { name => 'acme', annotations => { tier => 'tin' } } })],
        ['acme gears.example.com system>none 2'], 'an annotation';
};

subtest 'what is refused' => sub {
    my $refused = sub {
        my ($client, $tenant, $body, $status, $pattern, $name) = @_;
        my $answer = $client->post("/spaces/$tenant/effect", json => $body);
        $answer->is_status($status, $name) or diag $answer->describe;
        like $answer->json->{message}, $pattern, "$name: says so";
    };
    $refused->($of{acme}, 'globex', { operation => 'delete', object => $crd->('gears.example.com') }, 403, qr/./, 'another tenant');
    $refused->($of{acme}, 'nowhere', { operation => 'delete', object => $crd->('gears.example.com') }, 403, qr/./, 'as one that is not there');
    $refused->($of{acme}, 'system', { operation => 'delete', object => $crd->('gears.example.com') }, 403, qr/./, 'the system\'s');
    $refused->($instance->combined('rita:acme:member'), 'acme', { operation => 'create', object => definition_of('x') }, 403, qr/role/, 'the role');
    $refused->($of{acme}, 'acme', { operation => 'patch', object => { kind => 'Tenant', metadata => { name => 'acme', annotations => { tier => 'tin' } } } },
        403, qr/multiTenancyCRDPolicy/, 'what a tenant may not change');
    $refused->($of{acme}, 'acme', { operation => 'patch', object => $policy->('acme', 'Whatever') }, 400, qr/LocalCRDFirst/, 'no policy');
    $refused->($of{acme}, 'acme', { operation => 'patch', object => $policy->('globex', 'SystemCRDFirst') }, 400, qr/"acme"/, 'another\'s object');
    $refused->($of{acme}, 'acme', { operation => 'delete', object => $policy->('acme', 'SystemCRDFirst') }, 400, qr/replace/, 'deleting it');
    $refused->($of{acme}, 'acme', { operation => 'delete', object => $crd->('none.example.com') }, 404, qr/not found/, 'what is not there');
    $refused->($of{globex}, 'globex', { operation => 'create', object => definition_of('gears') }, 409, qr/already exists/, 'what is there');
    $refused->($of{acme}, 'acme', { operation => 'create', object => definition_of('gears', scope => 'Wide') }, 422, qr/scope/, 'what is not valid');
    $refused->($of{acme}, 'acme', { operation => 'make', object => definition_of('gears') }, 400, qr/create/, 'no operation');
    $refused->($of{acme}, 'acme', { operation => 'create', object => named('Pod', 'p') }, 400, qr/Tenant/, 'no such kind');
    $refused->($of{acme}, 'acme', $_, 400, qr/operation/, 'no change') for [], {}, { operation => 'patch', object => 1 };
    $refused->($of{acme}, 'acme', { operation => 'create', object => { %{ definition_of('x') }, apiVersion => 'v9' } }, 400, qr/apiVersion/, 'no version');
    $refused->($of{acme}, 'acme', { operation => 'create', object => { kind => 'CustomResourceDefinition' } }, 400, qr/name/, 'no name');
};

subtest 'asking changed nothing; what was told comes true' => sub {
    is $instance->change_count, $changes, 'no change';
    $of{acme}->get('/apis/example.com/v1/namespaces/default/gears/a')->is_status(200, 'all is as it was');
    my $patch = { spec => { multiTenancyCRDPolicy => 'NeverUseSystemCRDUnlessForced' } };
    is $of{acme}->patch('/api/v1/tenants/acme?dryRun=All', $patch)->json->{spec}{multiTenancyCRDPolicy}, 'NeverUseSystemCRDUnlessForced', 'dryRun answers the object';
    $of{acme}->get('/apis/example.com/v1/namespaces/default/gears/a')->is_status(200, 'and changes nothing either');
    $of{acme}->patch('/api/v1/tenants/acme', $patch)->is_status(200, 'the policy');
    $of{acme}->get('/apis/example.com/v1/namespaces/default/gears/a')->is_status(404, 'it came true');
    is $of{acme}->get('/spaces/acme/types/gears.example.com')->json->{answers}, undef, 'as explain says';
};

subtest 'the types of a tenant' => sub {
    my %types = map { $_->{type} => $_ } @{ $of{globex}->get('/spaces/globex/types')->json->{types} };
    is $types{'gears.example.com'}{tenant}, 'globex', 'its own';
    ok $types{configmaps}{builtIn}, 'built-in ones';
    is_deeply $types{configmaps}{shortNames}, ['cm'], 'with their short names';
    ok !$types{'daemonsets.apps'}, 'none of the system\'s own';
    $of{acme}->get('/spaces/globex/types')->is_status(403, 'another tenant\'s');
};

done_testing;
