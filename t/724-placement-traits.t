#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Placement: the catalogue of traits, and the traits of providers.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Placement qw(is_error uuid);

my $instance  = Tenure::Instance->start(placement => 1);
my $placement = Tenure::Placement->new($instance->placement, '1.39');

sub names { my ($query) = @_; return $placement->get("/traits$query")->json->{traits} }

subtest 'custom traits' => sub {
    my $made = $placement->put('/traits/CUSTOM_A');
    $made->is_status(201, 'made');
    is $made->text, '', 'without a body';
    is $made->location, $placement->url . '/traits/CUSTOM_A', 'with its address';
    my $again = $placement->put('/traits/CUSTOM_A', body => 'anything', type => 'text/plain');
    $again->is_status(204, 'made again, with a body that is passed over');
    is $again->location, $placement->url . '/traits/CUSTOM_A';
    my $there = $placement->get('/traits/CUSTOM_A');
    $there->is_status(204, 'there');
    is $there->header('content-type'), undef;
    my $long = 'CUSTOM_' . 'A' x 248;
    $placement->put("/traits/$long")->is_status(201, '255 characters');
    for my $name ('TRAIT_X', 'CUSTOM_ABC:1', 'CUSTOM_a', 'CUSTOM_', "${long}A", 'HW_CPU_X86_AVX', 'custom_a', 'CUSTOM-A', '%20CUSTOM_A', 'CUSTOM_%C3%84') {
        is_error($placement->put("/traits/$name"), 400, qr/The trait is invalid\. A valid trait must be no longer than 255 characters, start with the prefix "CUSTOM_"/,
            name => substr($name, 0, 30) . ' is none');
    }
    is_error($placement->get('/traits/CUSTOM_NONE'), 404, qr/No such trait\(s\): CUSTOM_NONE\./);
    is_error($placement->get('/traits/custom_a'), 404, undef, name => 'names are told apart by case');
    is_error($placement->delete('/traits/CUSTOM_NONE'), 404);
    is_error($placement->delete('/traits/HW_CPU_X86_SSE'), 400, qr/Cannot delete standard trait HW_CPU_X86_SSE/);
    $placement->delete('/traits/CUSTOM_A')->is_status(204, 'gone');
    is_error($placement->get('/traits/CUSTOM_A'), 404);
    $placement->put('/traits/CUSTOM_A')->is_status(201, 'and made anew');
};

subtest 'lists' => sub {
    $placement->put("/traits/$_")->is_status(201) for qw(CUSTOM_AB CUSTOM_B CUSTOM_XA);
    my $all = names('');
    cmp_ok scalar @$all, '>=', 345, 'standard ones are there';
    is_deeply [ grep { $_ eq 'CUSTOM_AB' || $_ eq 'MISC_SHARES_VIA_AGGREGATE' } @$all ], [qw(CUSTOM_AB MISC_SHARES_VIA_AGGREGATE)], 'and custom ones';
    for my $word (qw(startswith starts_with)) {
        is_deeply names("?name=$word:CUSTOM_A"), [ grep { /\ACUSTOM_A/ } @$all ], "$word: a prefix";
        is_deeply names("?name=$word:CUSTOM%25"), [], 'in which % is but a character';
        is_deeply names("?name=$word:C_STOM_A"), [], 'and _, too';
        is_deeply names("?name=$word:custom_a"), [], 'case counts';
        is_deeply names("?name=$word:"), $all, 'an empty one asks for all';
    }
    is_deeply names('?name=in:CUSTOM_B,HW_CPU_X86_AVX,CUSTOM_NONE,CUSTOM_B'), [qw(CUSTOM_B HW_CPU_X86_AVX)], 'in: those that are there';
    is_deeply names('?name=in:'), [], 'none';
    is_deeply names('?name=ends:A'), $all, 'an operator that is none asks for nothing';
    is_deeply names('?name=in:CUSTOM_A&name=in:CUSTOM_B'), ['CUSTOM_B'], 'of two the last counts';
    is_error($placement->get('/traits?name=in_abc'), 400,
        qr/Badly formatted name parameter\. Expected name query string parameter in form: \?name=\[in\|startswith\]:\[name1,name2\|prefix\]\. Got: "in_abc"/);
    is_error($placement->get('/traits?name'), 400);
    is_error($placement->get('/traits?invalid=abc'), 400, qr/Invalid query string parameters: Additional properties are not allowed/);
    is_error($placement->get('/traits?associated=xyz'), 400, qr/The query parameter "associated" only accepts "true" or "false"/);
    is_deeply names('?associated=true'), [], 'nothing has a trait';
    is_deeply names('?associated=False'), $all, 'so none has all of them';
    my $uuid = $placement->provider('lists');
    $placement->traits($uuid, qw(CUSTOM_B HW_CPU_X86_AVX));
    is_deeply names('?associated=True'), [qw(CUSTOM_B HW_CPU_X86_AVX)], 'those that something has';
    is_deeply names('?associated=true&name=startswith:CUSTOM_'), ['CUSTOM_B'], 'and begin so';
    is_deeply names('?associated=false&name=in:CUSTOM_A,CUSTOM_B'), ['CUSTOM_A'], 'that are among these';
    my $admin = $instance->admin;
    $admin->make_tenant('plain');
    $admin->make('/v2.0/plain/persistentvolumes/p', {});
    $admin->put('/v2.0/plain/persistentvolumes/p/traits', json => { traits => [qw(CUSTOM_AB CUSTOM_B)] })->is_status(200, 'a resource that is no provider has some');
    is_deeply names('?associated=true'), [qw(CUSTOM_B HW_CPU_X86_AVX)], 'which associates them with no provider';
    is_deeply names('?associated=false&name=in:CUSTOM_AB,CUSTOM_B'), ['CUSTOM_AB'], 'nor does it hide those that a provider has';
};

subtest "a provider's traits" => sub {
    my $uuid = $placement->provider('traits');
    my $path = "/resource_providers/$uuid/traits";
    is_deeply $placement->get($path)->json, { traits => [], resource_provider_generation => 0 }, 'none';
    my $set = $placement->put($path, json => { traits => [qw(CUSTOM_B HW_CPU_X86_SSE CUSTOM_B)], resource_provider_generation => 0 });
    $set->is_status(200, 'set, one of them twice');
    is_deeply $set->json, { traits => [qw(CUSTOM_B HW_CPU_X86_SSE)], resource_provider_generation => 1 }, 'answered';
    is_deeply $placement->get($path)->json, $set->json, 'there';
    my $same = $placement->put($path, json => { traits => [qw(HW_CPU_X86_SSE CUSTOM_B)], resource_provider_generation => 1 });
    is $same->json->{resource_provider_generation}, 1, 'the same again is no change';
    is_error($placement->put($path, json => { traits => ['CUSTOM_A'], resource_provider_generation => 0 }), 409,
        qr/Resource provider's generation already changed\. Please update the generation and try again\./, code => 'concurrent_update');
    is_error($placement->put($path, json => { traits => ['CUSTOM_A'], resource_provider_generation => -1 }), 409, undef, code => 'concurrent_update');
    my $fresh = $placement->provider('fresh');
    is_error($placement->put("/resource_providers/$fresh/traits", body => qq({"traits":[],"resource_provider_generation":$_}), type => 'application/json'), 409, undef,
        code => 'concurrent_update', name => "$_ is the generation of none") for qw(-1 -1.0 -1e0);
    $placement->put("/resource_providers/$fresh/traits", body => '{"traits":[],"resource_provider_generation":0.0}', type => 'application/json')
        ->is_status(200, '0.0 is 0');
    is_error($placement->put($path, json => { traits => [qw(NONE_2 CUSTOM_A NONE_1)], resource_provider_generation => 1 }), 400, qr/^ No such trait NONE_1, NONE_2  \z/m);
    is_error($placement->put($path, json => { traits => ['NONE_1'], resource_provider_generation => 7 }), 409, undef,
        code => 'concurrent_update', name => 'the generation is looked at before the names');
    is_error($placement->put($path, json => { traits => 'CUSTOM_A', resource_provider_generation => 1 }), 400, qr/'CUSTOM_A' is not of type 'array'/);
    is_error($placement->put($path, json => { traits => ['lower'], resource_provider_generation => 1 }), 400, qr/^ No such trait lower  \z/m);
    is_error($placement->put($path, json => { traits => ['lower'], resource_provider_generation => 7 }), 409, undef,
        code => 'concurrent_update', name => 'what is no name of a trait comes after the generation, too');
    is_error($placement->put($path, json => { traits => ['x' x 256], resource_provider_generation => 7 }), 400, qr/Failed validating 'maxLength'/);
    is_error($placement->put($path, json => { traits => [''], resource_provider_generation => 7 }), 400, qr/'' is too short/);
    is_error($placement->put($path, json => { traits => [] }), 400, qr/'resource_provider_generation' is a required property/);
    is_error($placement->put($path, json => { traits => [], resource_provider_generation => 'x' }), 400, qr/'x' is not of type 'integer'/);
    is_error($placement->put($path, json => { traits => [], resource_provider_generation => 1, more => 1 }), 400, qr/Additional properties are not allowed/);
    is_deeply $placement->get($path)->json, $set->json, 'nothing of that changed anything';
    is_error($placement->delete('/traits/CUSTOM_B'), 409, qr/The trait CUSTOM_B is in use by a resource provider\./);
    $placement->delete($path)->is_status(204, 'taken away, all of them');
    is_deeply $placement->get($path)->json, { traits => [], resource_provider_generation => 2 }, 'which is a change';
    $placement->delete($path)->is_status(204);
    is $placement->generation($uuid), 2, 'and none the second time';
};

subtest 'of a provider that is none' => sub {
    for my $none (uuid(), 'non_existed') {
        my $path = "/resource_providers/$none/traits";
        is_error($placement->get($path), 404, qr/No resource provider with uuid \Q$none\E found/);
        is_error($placement->put($path, json => { traits => [], resource_provider_generation => 0 }), 404, qr/No resource provider with uuid \Q$none\E found/);
        is_error($placement->put($path, json => { traits => ['lower'], resource_provider_generation => 0 }), 404);
        is_error($placement->put($path, json => { traits => [] }), 400, undef, name => 'a body that is wrong is told first');
        is_error($placement->delete($path), 404, qr/No resource provider with uuid \Q$none\E found/);
        is_error($placement->put("$path/CUSTOM_A"), 404);
        is_error($placement->delete("$path/CUSTOM_A"), 404);
    }
};

subtest 'one trait more, one less' => sub {
    my $uuid = $placement->provider('single');
    my $path = "/resource_providers/$uuid/traits";
    $placement->put("$path/CUSTOM_A")->is_status(204, 'more');
    $placement->put("$path/HW_CPU_X86_AVX")->is_status(204, 'and more');
    is_deeply $placement->get($path)->json, { traits => [qw(CUSTOM_A HW_CPU_X86_AVX)], resource_provider_generation => 2 }, 'both are there';
    $placement->put("$path/CUSTOM_A")->is_status(204, 'one that is there');
    is $placement->generation($uuid), 2, 'is no change';
    is_error($placement->put("$path/CUSTOM_NONE"), 400, qr/No such trait CUSTOM_NONE/);
    $placement->delete("$path/CUSTOM_A")->is_status(204, 'less');
    is_deeply $placement->get($path)->json, { traits => ['HW_CPU_X86_AVX'], resource_provider_generation => 3 };
    is_error($placement->delete("$path/CUSTOM_A"), 404, qr/CUSTOM_A/, name => 'one that is not there');
    is $placement->generation($uuid), 3, 'is no change, either';
};

subtest 'what is told about a trait, and who has it' => sub {
    my $path = '/traits/HW_CPU_X86_AVX512F';
    is_deeply $placement->get("$path/about")->json, { name => 'HW_CPU_X86_AVX512F', standard => JSON::PP::true, description => '', deprecated => JSON::PP::false };
    my $put = $placement->put("$path/about", json => { description => 'AVX-512, what there is of it everywhere' });
    $put->is_status(200, 'described');
    $put = $placement->put("$path/about", json => { deprecated => JSON::PP::true });
    is_deeply $put->json, { name => 'HW_CPU_X86_AVX512F', standard => JSON::PP::true, deprecated => JSON::PP::true,
        description => 'AVX-512, what there is of it everywhere' }, 'what is left out stays';
    is_deeply $placement->as('user:t1:reader')->get("$path/about")->json, $put->json, 'for everybody to read';
    is_error($placement->as('user:t1')->put("$path/about", json => {}), 403);
    is_error($placement->put("$path/about", json => { description => 'x' x 1025 }), 400, qr/Failed validating 'maxLength'/);
    is_error($placement->put("$path/about", json => { deprecated => 'yes' }), 400, qr/'yes' is not of type 'boolean'/);
    is_error($placement->get('/traits/CUSTOM_NONE/about'), 404, qr/No such trait/);
    is_error($placement->put('/traits/CUSTOM_NONE/about', json => { description => '' }), 404);
    my $uuid = $placement->provider('about');
    is_deeply $placement->get("$path/resource_providers")->json, { resource_providers => [] }, 'nothing has it';
    $placement->put("/resource_providers/$uuid/traits/HW_CPU_X86_AVX512F")->is_status(204, 'deprecated ones can be had');
    is_deeply $placement->get("$path/resource_providers")->json, $placement->get('/resource_providers?required=HW_CPU_X86_AVX512F')->json, 'the users';
    is_error($placement->get('/traits/CUSTOM_NONE/resource_providers'), 404);
};

subtest 'with the etag of the provider' => sub {
    my $uuid  = $placement->provider('etag');
    my $path  = "/resource_providers/$uuid";
    my $first = $placement->get($path)->etag;
    like $first, qr{\AW/"[0-9a-f]{128}"\z}, 'there is one';
    $placement->put("$path/traits/CUSTOM_A", if_match => $first)->is_status(204, 'the current one');
    my $second = $placement->get($path)->etag;
    isnt $second, $first, 'traits are covered by it';
    is_error($placement->put("$path/traits/CUSTOM_B", if_match => $first), 412, undef, name => 'one that is no longer');
    $placement->inventories($uuid, VCPU => { total => 8 });
    my $third = $placement->get($path);
    $placement->allocate(uuid(), { $uuid => { VCPU => 1 } })->is_status(204);
    my $again = $placement->get($path, if_none_match => $third->etag);
    $again->is_status(200, 'an allocation changes what is shown');
    is $again->json->{generation}, $third->json->{generation} + 1, '... the generation';
    is $again->etag, $third->etag, '... under the same etag';
    $second = $again->etag;
    my ($change) = $instance->changes_of($placement->delete("$path/traits", if_match => $second));
    is "$change->{verb} $change->{type} $change->{tenant}", 'updated resourceproviders system', 'there is a change row';
};

done_testing;
