#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What is written to do harm: each is answered as the mistake that it is, or done within its bounds, and never by a 5xx.
# The instance's logs are looked at in the end for workers that died.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $instance = Tenure::Instance->start(combined => 1);
my $acme     = $instance->combined('alice:acme');
my $core     = '/api/v1/namespaces/default';
my %string   = (type => 'string');
$instance->combined('admin')->make_tenant('acme');

# A type of that schema; the path of its objects.
sub type {
    my ($plural, $schema, %version) = @_;
    $acme->post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', json => { metadata => { name => "$plural.example.com" },
        spec => { group => 'example.com', scope => 'Namespaced', names => { plural => $plural, kind => ucfirst $plural },
            versions => [{ name => 'v1', served => JSON::PP::true, storage => JSON::PP::true, schema => { openAPIV3Schema => $schema }, %version }] } })->is_status(201, "type $plural");
    return "/apis/example.com/v1/namespaces/default/$plural";
}
sub object { my (%properties) = @_; return { type => 'object', properties => \%properties } }

subtest 'schemas' => sub {
    my $list = type('rxs', object(s => { %string, pattern => '^(([a-z])+.)+[A-Z]([a-z])+$' }));
    $acme->post($list, json => { metadata => { name => 'a' }, s => 'a' x 500_000 })->is_status(422, 'a pattern that would take for ever');
    $list = type('enums', object(l => { type => 'array', items => { %string, enum => [map { "e$_" } 1 .. 20_000] } }));
    $acme->post($list, json => { metadata => { name => 'a' }, l => [('e20000') x 50_000] })->is_status(422, 'many values of many choices');
    $list = type('fills', object(l => { type => 'array', items => object(map { ("a$_" => { %string, default => 'y' x 50 }) } 1 .. 100) }));
    $acme->post($list, json => { metadata => { name => 'a' }, l => [map { {} } 1 .. 50_000] })->is_status(413, 'defaults that multiply');
    $acme->post($list, body => '{"metadata":{"name":"a"},"l":' . '[' x 1000 . ']' x 1000 . '}', type => 'application/json')->is_status(400, 'nested deep');
};

subtest 'printer columns' => sub {
    my $list = type('cols', { type => 'object', 'x-kubernetes-preserve-unknown-fields' => JSON::PP::true },
        additionalPrinterColumns => [(map { { name => "c$_", type => 'string', jsonPath => '..a..a..a' } } 1 .. 100), { name => 'last', type => 'string', jsonPath => '.spec.x' }]);
    my $nested = { b => [map { { a => $_ } } 1 .. 20] };
    $nested = { a => $nested, b => { a => 1 } } for 1 .. 25;
    $acme->post($list, json => { metadata => { name => "o$_" }, spec => { x => 'y' }, l => [($nested) x 100] })->is_status(201) for 1 .. 3;
    my $table = $acme->get($list, accept => 'application/json;as=Table;v=v1;g=meta.k8s.io');
    $table->is_status(200, 'searching columns');
    is_deeply [map { $_->{cells}[-1] } @{ $table->json->{rows} }], [undef, undef, undef], 'what they leave nothing for stays empty';
    for my $path ('.a[', '.a[-', '.a[?(@.x=="', '.a' x 100, '{.a', "\x{e9}", '..', '') {
        my $answer = $acme->post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All', json => { metadata => { name => 'bads.example.com' },
            spec => { group => 'example.com', scope => 'Namespaced', names => { plural => 'bads', kind => 'Bad' },
                versions => [{ name => 'v1', served => JSON::PP::true, storage => JSON::PP::true, schema => { openAPIV3Schema => { type => 'object' } },
                    additionalPrinterColumns => [{ name => 'c', type => 'string', jsonPath => $path }] }] } });
        cmp_ok $answer->status, '<', 500, 'a path: ' . substr $path, 0, 20;
    }
};

subtest 'patches' => sub {
    my @strategic = (type => 'application/strategic-merge-patch+json');
    my @json      = (type => 'application/json-patch+json');
    my $encode    = sub { return JSON::PP->new->utf8->encode($_[0]) };
    my $anys      = type('anys', { type => 'object', 'x-kubernetes-preserve-unknown-fields' => JSON::PP::true });
    $acme->post($anys, json => { metadata => { name => 'a' }, l => [1 .. 100_000] })->is_status(201, 'a long array');
    for my $patch (
        [422, { op => 'add', path => '/l/0', value => 1 }, 20_000], [422, { op => 'remove', path => '/l/0' }, 25_000],
        [413, { op => 'copy', from => '/l', path => '/m' }, 20_000], [413, { op => 'copy', from => '', path => '/m' }, 60],
    ) {
        my ($status, $operation, $n) = @$patch;
        $acme->request('PATCH', "$anys/a", body => $encode->([($operation) x $n]), @json)->is_status($status, "$n of $operation->{op}");
    }
    my @containers = map { "c$_" } 1 .. 5_000;
    $acme->post("$core/pods", json => { metadata => { name => 'p' }, spec => { containers => [map { { name => $_, image => 'i' } } @containers] } })->is_status(201, 'many containers');
    $acme->request('PATCH', "$core/pods/p", body => $encode->({ spec => { containers => [map { { name => $_, image => 'j' } } reverse @containers] } }), @strategic)->is_status(200, 'merged');
    $acme->request('PATCH', "$core/pods/p", body => $encode->({ spec => { '$setElementOrder/containers' => [map { { name => $_ } } reverse @containers] } }), @strategic)->is_status(422, 'ordered: no change of a pod');
    for my $directive ('{"$patch":1}', '{"$patch":"x"}', '{"$retainKeys":{}}', '{"$setElementOrder/containers":1}', '{"spec":{"$setElementOrder/containers":[1,{}]}}',
        '{"metadata":{"$deleteFromPrimitiveList/finalizers":[{}]}}', '{"spec":{"containers":[{"$patch":"delete"}]}}', '{"spec":{"containers":{}}}', '[]', 'null', '1', '{"$$":1}') {
        my $answer = $acme->request('PATCH', "$core/pods/p", body => $directive, @strategic);
        cmp_ok $answer->status, '<', 500, "the patch $directive";
    }
};

# Each with each other would take more than a request may compute.
subtest 'very many names' => sub {
    my @many = map { "a$_" } 1 .. 30_000;
    $acme->post("$core/configmaps", json => { metadata => { name => 'kept', finalizers => \@many } })->is_status(201, 'finalizers');
    $acme->delete("$core/configmaps/kept")->is_status(200, 'it waits for all of them');
    $acme->patch("$core/configmaps/kept", { metadata => { labels => { a => '1' } } })->is_status(200, 'a label of it');
    $acme->patch("$core/configmaps/kept", { metadata => { finalizers => [@many, 'more'] } })->is_status(422, 'one more is refused');
    $acme->patch("$core/configmaps/kept", { metadata => { finalizers => [] } })->is_status(200, 'let go');
    for my $n (1, 2) {
        $acme->post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', json => { metadata => { name => "many$n.names.example.com" },
            spec => { group => 'names.example.com', scope => 'Namespaced', names => { plural => "many$n", kind => "Many$n", shortNames => [map { "s$n-$_" } 1 .. 30_000] },
                versions => [{ name => 'v1', served => JSON::PP::true, storage => JSON::PP::true, schema => { openAPIV3Schema => { type => 'object' } } }] } })->is_status(201, "short names, $n");
    }
};

# Anything, the same each time.
subtest 'noise' => sub {
    srand 7;
    my @part  = ('', 'v1', 'api', 'apis', 'tenants', 'all', 'acme', 'namespaces', 'default', 'configmaps', 'a', '..', '.', '%00', '%2f', '%ff', '*', 'x' x 300, 'status', 'scale', 'example.com', 'anys');
    my @query = ('labelSelector=a+in+(', 'labelSelector=%21', 'fieldSelector=%5C', 'fieldSelector=a', 'limit=-1', 'limit=18446744073709551616', 'continue=AAAA', 'resourceVersion=x', 'dryRun=x', 'fieldValidation=%00', '%zz', '&&=', 'includeObject=x');
    my @body  = ('', '{', 'null', '[]', '{}', '{"metadata":1}', '{"metadata":{"name":{}}}', '{"metadata":{"name":"a","labels":[]}}', "k8s\0", "\xff", '{"a":' x 500, '1e999999');
    my @type  = map { "application/$_" } qw(json merge-patch+json strategic-merge-patch+json json-patch+json vnd.kubernetes.protobuf x);
    my %bad;
    for (1 .. 400) {
        my $path = join '', map { '/' . $part[rand @part] } 1 .. 1 + rand 7;
        $path = "$core/configmaps/a" if rand() < .3;
        my $method = qw(GET POST PUT PATCH DELETE)[rand 5];
        my $query  = rand() < .5 ? '?' . $query[rand @query] : '';
        my $body   = $body[rand @body];
        my $answer = $acme->request($method, "$path$query", length $body ? (body => $body, type => $type[rand @type]) : ());
        $bad{"$method $path$query " . substr($body, 0, 40)} = $answer->describe if $answer->status >= 500;
    }
    is_deeply \%bad, {}, 'none is answered by a 5xx';
};

done_testing;
