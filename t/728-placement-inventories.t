#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Placement: classes, inventories, aggregates.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Placement qw(is_error uuid);

my $instance  = Tenure::Instance->start(placement => 1);
my $placement = Tenure::Placement->new($instance->placement, '1.39');
my %standard  = (reserved => 0, min_unit => 1, max_unit => 2147483647, step_size => 1, allocation_ratio => 1.0);

subtest 'classes' => sub {
    my $list = $placement->get('/resource_classes')->json->{resource_classes};
    is scalar @$list, 21, '21 standard ones';
    is $list->[0]{name}, 'VCPU', 'in their order';
    is_deeply $list->[2], { name => 'DISK_GB', links => [ { rel => 'self', href => '/resource_classes/DISK_GB' } ] };
    is_deeply $placement->get('/resource_classes/DISK_GB')->json, $list->[2], 'each as in the list';
    my $made = $placement->post('/resource_classes', json => { name => 'CUSTOM_A' });
    $made->is_status(201, 'a custom one');
    is $made->text, '';
    is $made->location, $placement->url . '/resource_classes/CUSTOM_A';
    is_error($placement->post('/resource_classes', json => { name => 'CUSTOM_A' }), 409, qr/Conflicting resource class already exists: CUSTOM_A/);
    for my $name ('IRON_NFV', 'CUSTOM_', 'CUSTOM_Illegal&@!Name?', 'VCPU', '', 'CUSTOM_a') {
        is_error($placement->post('/resource_classes', json => { name => $name }), 400, qr/JSON does not validate: .*Failed validating 'pattern'/s);
    }
    is_error($placement->post('/resource_classes', json => { name => 'CUSTOM_' . 'A' x 249 }), 400, qr/Failed validating 'maxLength'/);
    $placement->put('/resource_classes/CUSTOM_B')->is_status(201, 'put');
    $placement->put('/resource_classes/CUSTOM_B', body => 'x', type => 'text/plain')->is_status(204, 'again, with a body that is passed over');
    is_error($placement->put('/resource_classes/VCPU'), 400, qr/JSON does not validate: 'VCPU' does not match/);
    my $old = $placement->version('1.6');
    is_error($old->put('/resource_classes/CUSTOM_B'), 415);
    is_error($old->put('/resource_classes/CUSTOM_B', body => '', type => 'application/json'), 400, qr/Malformed JSON:/);
    is_error($old->put('/resource_classes/VCPU', json => { name => 'CUSTOM_C' }), 400, qr/Cannot update standard resource class VCPU/);
    is_error($old->put('/resource_classes/CUSTOM_B', json => { name => 'CUSTOM_A' }), 409, qr/Resource class already exists: CUSTOM_A/);
    is_error($old->put('/resource_classes/CUSTOM_NONE', json => { name => 'CUSTOM_C' }), 404);
    is $old->put('/resource_classes/CUSTOM_B', json => { name => 'CUSTOM_C' })->json->{name}, 'CUSTOM_C', 'before 1.7 it is renamed';
    is_error($placement->get('/resource_classes/CUSTOM_B'), 404, qr/No such resource class CUSTOM_B/);
    is_error($placement->delete('/resource_classes/VCPU'), 400, qr/Cannot delete standard resource class/);
    is_error($placement->delete('/resource_classes/CUSTOM_B'), 404);
    my $uuid = $placement->provider('classes');
    $placement->inventories($uuid, CUSTOM_C => { total => 1 });
    is_error($placement->delete('/resource_classes/CUSTOM_C'), 409, qr/CUSTOM_C/);
    $placement->inventories($uuid);
    $placement->delete('/resource_classes/CUSTOM_C')->is_status(204, 'one that nothing has can go');
};

subtest 'one by one' => sub {
    my $uuid = $placement->provider('one');
    my $path = "/resource_providers/$uuid/inventories";
    is_deeply $placement->get($path)->json, { resource_provider_generation => 0, inventories => {} }, 'none';
    my $made = $placement->post($path, json => { resource_class => 'VCPU', total => 8, allocation_ratio => 4.5 });
    $made->is_status(201, 'one');
    is $made->location, $placement->url . "$path/VCPU";
    is_deeply $made->json, { %standard, resource_provider_generation => 1, total => 8, allocation_ratio => 4.5 }, 'with defaults';
    is_deeply $placement->get("$path/VCPU")->json, $made->json, 'there';
    like $made->text, qr/"allocation_ratio":4\.5\b/, 'a ratio is a number with a fraction';
    like $placement->put("$path/VCPU", json => { resource_provider_generation => 1, total => 8 })->text, qr/"allocation_ratio":1\.0\b/, 'always';
    is_error($placement->post($path, json => { resource_class => 'VCPU', total => 8 }), 409, qr/Update conflict/, code => 'concurrent_update');
    is_error($placement->post($path, json => { resource_class => 'NO_CLASS_14', total => 8 }), 400,
        qr/Unable to create inventory for resource provider $uuid: No such resource class NO_CLASS_14/);
    is_error($placement->post($path, json => { resource_class => 'lower', total => 8 }), 400, qr/'lower' does not match '\^\[A-Z0-9_\]\+\$'/);
    is_error($placement->put("$path/VCPU", json => { resource_provider_generation => 9, total => 8 }), 409,
        qr/resource provider generation conflict/, code => 'concurrent_update');
    is_error($placement->put("$path/MEMORY_MB", json => { resource_provider_generation => 2, total => 8 }), 400, qr/No inventory record with resource class/);
    is_error($placement->put("$path/CUSTOM_NONE", json => { resource_provider_generation => 2, total => 8 }), 404, qr/No such resource class CUSTOM_NONE\./);
    is_error($placement->put("$path/VCPU", json => { total => 8 }), 400, qr/'resource_provider_generation' is a required property/);
    is_error($placement->get("$path/$_"), 404, qr/No inventory of class $_ for $uuid/) for qw(MEMORY_MB HOUSE);
    is_error($placement->delete("$path/MEMORY_MB"), 404, qr/No inventory of class MEMORY_MB found for delete/);
    $placement->delete("$path/VCPU")->is_status(204, 'gone');
    is_deeply $placement->get($path)->json, { resource_provider_generation => 3, inventories => {} };
    my $blind = $placement->post($path, json => { resource_class => 'DISK_GB', total => 8, resource_provider_generation => 7 });
    $blind->is_status(201, 'POST ignores a generation');
    is $blind->json->{resource_provider_generation}, 4, '... and raises that of the provider';
};

subtest 'numbers' => sub {
    my $uuid = $placement->provider('numbers');
    my $path = "/resource_providers/$uuid/inventories";
    my $bad  = sub { my ($text, %inventory) = @_; is_error($placement->post($path, json => { resource_class => 'DISK_GB', %inventory }), 400, $text) };
    $bad->(qr/'total' is a required property/);
    for my $name (qw(total min_unit max_unit step_size)) {
        $bad->(qr/JSON does not validate: 0 is less than the minimum of 1  Failed validating 'minimum' in schema\['properties'\]\['$name'\]/, total => 10, $name => 0);
        $bad->(qr/Failed validating 'maximum'/, total => 10, $name => 2147483648);
        $bad->(qr/1\.5 is not of type 'integer'/, total => 10, $name => 1.5);
    }
    $bad->(qr/-1 is less than the minimum of 0/, total => 10, reserved => -1);
    $bad->(qr/Failed validating 'maximum'/, total => 10, reserved => 2147483648);
    $bad->(qr/Failed validating 'maximum'/, total => 10, allocation_ratio => 3.40282e+39);
    $bad->(qr/'8' is not of type 'integer'/, total => '8');
    $bad->(qr/'x' is not of type 'integer'/, total => 0, reserved => 'x');
    $bad->(qr/Unable to create inventory for resource provider .*greater than total/, total => 10, reserved => 11);
    $bad->(qr/Unable to create inventory for resource provider .*Invalid inventory for 'CUSTOM_NO' .*greater than total/,
        resource_class => 'CUSTOM_NO', total => 8, reserved => 9);
    is_error($placement->version('1.25')->post($path, json => { resource_class => 'DISK_GB', total => 10, reserved => 10 }), 400,
        qr/greater than or equal to total/, name => 'all reserved is too much before 1.26');
    $placement->version('1.26')->post($path, json => { resource_class => 'DISK_GB', total => 10, reserved => 10 })->is_status(201, 'then not');
    my $less = { resource_class => 'MEMORY_MB', total => 1, allocation_ratio => 0.5 };
    is_error($placement->version('1.25')->post($path, json => $less), 400, qr/Its capacity, .*, is less than 1/, name => 'so is a ratio that leaves nothing');
    $placement->version('1.26')->post($path, json => $less)->is_status(201);
    my $whole = $placement->post($path, body => '{"resource_class":"VCPU","total":8.0}', type => 'application/json');
    is $whole->json->{total}, 8, '8.0 is an integer';
};

subtest 'all at once' => sub {
    my $uuid = $placement->provider('all');
    my $path = "/resource_providers/$uuid/inventories";
    my $put  = sub { my ($generation, %inventory) = @_;
        return $placement->put($path, json => { resource_provider_generation => $generation, inventories => \%inventory }) };
    my $set = $put->(0, VCPU => { total => 8, resource_provider_generation => 9 }, DISK_GB => { total => 100, reserved => 10 });
    $set->is_status(200, 'set');
    is_deeply $set->json, { resource_provider_generation => 1, inventories => { VCPU => { %standard, total => 8 },
        DISK_GB => { %standard, total => 100, reserved => 10 } } };
    is_deeply $placement->get($path)->json, $set->json, 'there';
    $put->(1, VCPU => { total => 8 }, MEMORY_MB => { total => 5 })->is_status(200, 'one less, one more');
    is join(' ', sort keys %{ $placement->get($path)->json->{inventories} }), 'MEMORY_MB VCPU';
    is_error($put->(1, VCPU => { total => 8 }), 409, qr/resource provider generation conflict/, code => 'concurrent_update');
    is_error($put->(2, HOUSE => { total => 8 }), 400, qr/Unknown resource class in inventory/);
    is_error($put->(2, VCPU => { total => 8, reserved => 9 }), 400, qr/Unable to update inventory.*greater than total/s);
    my $unknown = qr/Unknown resource class in inventory for resource provider $uuid: No such resource class/;
    is_error($put->(1, cow => { total => 1 }), 409, qr/resource provider generation conflict/, code => 'concurrent_update',
        name => 'what is no name of a class comes after the generation');
    is_error($put->(2, VCPU => { total => 8 }, cow => { total => 1 }), 400, qr/$unknown cow\./);
    is_error($put->(2, $_ => { total => 8 }), 400, qr/$unknown/, name => "of no class: '$_'") for 'vcpu', '', "VCPU\n", ' VCPU', '"]', 'x' x 300;
    is_error($put->(2, cow => $_), 400, qr/$unknown cow\./, name => 'whose inventory may be anything')
        for +{}, undef, 7, 'x', [], { total => -1 }, { total => 1e300, reserved => 'x', allocation_ratio => [] };
    is_error($put->(2, CUSTOM_NO => { total => 8, reserved => 9 }), 400, qr/Invalid inventory for 'CUSTOM_NO' .*greater than total/,
        name => 'a capacity comes before an unknown class');
    is_error($put->(2, CUSTOM_NO => { total => 8 }, VCPU => { total => 1, reserved => 2 }), 400, qr/Invalid inventory for 'VCPU' .*greater than total/,
        name => 'also that of another class');
    is_error($put->(2, cow => 7, VCPU => { total => 1, reserved => 2 }), 400, qr/Invalid inventory for 'VCPU' .*greater than total/);
    my $old = sub { my (%inventory) = @_;
        return $placement->version('1.25')->put($path, json => { resource_provider_generation => 2, inventories => \%inventory }) };
    is_error($old->(CUSTOM_NO => { total => 8, reserved => 8 }), 400, qr/Invalid inventory for 'CUSTOM_NO' .*greater than or equal to total/);
    is_error($old->(cow => $_), 400, qr/$unknown cow\./) for 7, {}, { total => 8, reserved => 8 };
    is_error($put->(2, VCPU => { total => 8, resource_class => 'VCPU' }), 400, qr/Additional properties are not allowed/);
    is $placement->generation($uuid), 2, 'nothing of that changed anything';
    $placement->allocate(uuid(), { $uuid => { VCPU => 2 } })->is_status(204);
    is_error($put->(3, MEMORY_MB => { total => 5 }), 409, qr/VCPU/, code => 'inventory.inuse');
    is_error($placement->delete($path), 409, qr/VCPU/, code => 'inventory.inuse');
    is_error($placement->delete("$path/VCPU"), 409, qr/VCPU/, code => 'concurrent_update');
    is_error($placement->delete("/resource_providers/$uuid"), 409, qr/Unable to delete resource provider $uuid/, code => 'resource_provider.inuse');
    $put->(3, VCPU => { total => 1 })->is_status(200, 'less than what is used is allowed');
    is_deeply $placement->get("/resource_providers/$uuid/usages")->json, { resource_provider_generation => 4, usages => { VCPU => 2 } }, 'usages';
};

subtest 'all taken away' => sub {
    my $uuid = $placement->provider('none');
    my $path = "/resource_providers/$uuid/inventories";
    $placement->inventories($uuid, VCPU => { total => 1 });
    $placement->delete($path)->is_status(204);
    $placement->delete($path)->is_status(204, 'twice');
    is $placement->generation($uuid), 3, 'each time it is a generation more';
    is_deeply $placement->get("/resource_providers/$uuid/usages")->json->{usages}, {}, 'no usages';
};

subtest 'of a provider that is none' => sub {
    for my $none (uuid(), 'none') {
        my $path = "/resource_providers/$none";
        my $text = qr/No resource provider with uuid $none found/;
        is_error($placement->get("$path/$_"), 404, $text) for qw(inventories inventories/VCPU usages aggregates allocations);
        is_error($placement->post("$path/inventories", json => {}), 404, $text);
        is_error($placement->put("$path/inventories", json => {}), 404, $text);
        is_error($placement->put("$path/inventories/VCPU", json => {}), 404, $text);
        is_error($placement->put("$path/aggregates", json => []), 404, $text);
        is_error($placement->delete("$path/$_"), 404, $text) for qw(inventories inventories/VCPU);
    }
};

subtest 'aggregates' => sub {
    my $uuid = $placement->provider('aggregates');
    my $path = "/resource_providers/$uuid/aggregates";
    my ($x, $y) = ('f918801a-5e54-4bee-9095-09a9d0c786b8', 'a893eb5c-e2a0-4251-ab26-f71d3b0cfc0b');
    my $old = $placement->version('1.18');
    is_deeply $old->get($path)->json, { aggregates => [] }, 'none';
    my $set = $old->put($path, json => [ $x, $y ]);
    is_deeply $set->json, { aggregates => [ $x, $y ] }, 'a list before 1.19';
    is $placement->generation($uuid), 0, 'which keeps the generation';
    my $new = $placement->put($path, json => { aggregates => [$x], resource_provider_generation => 0 });
    is_deeply $new->json, { aggregates => [$x], resource_provider_generation => 1 }, 'then an object, which raises it';
    is_deeply $placement->get($path)->json, $new->json, 'there';
    is_error($placement->put($path, json => { aggregates => [], resource_provider_generation => 0 }), 409, undef, code => 'concurrent_update');
    is_error($placement->put($path, json => [$x]), 400, qr/is not of type 'object'/);
    is_error($old->put($path, json => { aggregates => [$x], resource_provider_generation => 1 }), 400, qr/is not of type 'array'/);
    is_error($placement->put($path, json => { aggregates => [$x] }), 400, qr/'resource_provider_generation' is a required property/);
    is_error($placement->put($path, json => { aggregates => ['harry'], resource_provider_generation => 1 }), 400, qr/'harry' is not a 'uuid'/);
    is_error($placement->put($path, json => { aggregates => [ $x, $x ], resource_provider_generation => 1 }), 400, qr/has non-unique elements/);
    $old->put($path, json => [ uc $y ])->is_status(200, 'in either case');
    is_deeply $old->get($path)->json, { aggregates => [$y] };
};

done_testing;
