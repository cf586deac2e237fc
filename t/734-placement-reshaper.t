#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Placement: POST /reshaper, which replaces inventories and allocations together; and what belongs to it of allocations: over-full
# providers, consumers that are named without project and user, generations of providers that lose allocations.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Placement qw(is_error uuid);

my $instance  = Tenure::Instance->start(placement => 1);
my $placement = Tenure::Placement->new($instance->placement, '1.39');
my $none      = '00000000-0000-0000-0000-000000000000';
my $serial    = 0;

# The inventories of a provider as a reshape has them, at the provider's generation.
sub at {
    my ($provider, %inventories) = @_;
    return { resource_provider_generation => $placement->generation($provider) + 0, inventories => \%inventories };
}

# The allocations of a consumer: consumer($generation, $provider => { VCPU => 1 }, …).
sub consumer {
    my ($generation, %resources) = @_;
    return { allocations => { map { $_ => { resources => $resources{$_} } } keys %resources },
        project_id => 'p', user_id => 'u', consumer_generation => $generation, consumer_type => 'INSTANCE' };
}

sub reshape {
    my ($inventories, $allocations, $version) = @_;
    return $placement->version($version // '1.39')->post('/reshaper', json => { inventories => $inventories, allocations => $allocations });
}

# A host with a child, and a consumer with 4 VCPU and 20 DISK_GB of the host.
sub host {
    my $n     = ++$serial;
    my $root  = $placement->provider("host-$n");
    my $child = $placement->provider("host-$n-numa", parent => $root);
    my $who   = uuid();
    $placement->inventories($root, VCPU => { total => 8 }, DISK_GB => { total => 100, step_size => 10 });
    $placement->put("/allocations/$who", json => consumer(undef, $root => { VCPU => 4, DISK_GB => 20 }))->is_status(204);
    return ($root, $child, $who);
}

# All that a refused reshape must not have touched.
sub state_of {
    my (@rows) = map { $instance->sql_value($_) } (
        'SELECT GROUP_CONCAT(resource_id, class_id, total, used, capacity ORDER BY resource_id, class_id) FROM inventories',
        'SELECT GROUP_CONCAT(consumer_id, resource_id, class_id, used ORDER BY consumer_id, resource_id, class_id) FROM allocations',
        'SELECT GROUP_CONCAT(id, project, user, generation ORDER BY id) FROM consumers',
        'SELECT GROUP_CONCAT(resource_id, generation ORDER BY resource_id) FROM providers',
        'SELECT COUNT(*) FROM changes',
    );
    return join '|', map { $_ // '' } @rows;
}

subtest 'inventories and allocations move together' => sub {
    my ($root, $child, $who) = host();
    my $changes = $instance->sql_value('SELECT MAX(id) FROM changes');
    reshape({ $root => at($root, DISK_GB => { total => 100, step_size => 10 }), $child => at($child, VCPU => { total => 8 }) },
        { $who => consumer(1, $root => { DISK_GB => 20 }, $child => { VCPU => 4 }) })->is_status(204);
    is_deeply $placement->get("/resource_providers/$root/usages")->json->{usages}, { DISK_GB => 20 }, 'the root keeps the disk';
    is_deeply $placement->get("/resource_providers/$child/usages")->json->{usages}, { VCPU => 4 }, 'the child has the processors';
    is $placement->generation($root), 5, 'a step for the inventories, one for the allocations, one for the end';
    is $placement->generation($child), 3, 'the same for the child';
    is $placement->get("/allocations/$who")->json->{consumer_generation}, 2;
    is $instance->sql_value("SELECT GROUP_CONCAT(fields ORDER BY id) FROM changes WHERE id > $changes"),
        '["/inventories"],["/inventories"],["/allocations"],["/allocations"]', 'the log tells of both';
    my $etag = $placement->get("/resource_providers/$child")->header('etag');
    reshape({ $child => at($child, VCPU => { total => 9 }) }, {})->is_status(204, 'nobody has to be named');
    isnt $placement->get("/resource_providers/$child")->header('etag'), $etag, 'other inventories are another etag';
    is $placement->generation($child), 5;
    reshape({ $root => at($root, VCPU => { total => 8 }, DISK_GB => { total => 100 }), $child => at($child) },
        { $who => consumer(2), uuid() => consumer(undef, $root => { VCPU => 4 }) }, '1.38')->is_status(204, 'back, to another consumer');
    is_deeply $placement->get("/allocations/$who")->json, { allocations => {} }, 'the first is gone';
    is $placement->generation($child), 7, 'a step for losing all that it had, one for the end';
    is_deeply $placement->get("/resource_providers/$child/inventories")->json->{inventories}, {};
    is $instance->sql_value('SELECT COUNT(*) FROM inventories i WHERE used <> (SELECT COALESCE(SUM(a.used), 0) FROM allocations a '
        . 'WHERE a.resource_id = i.resource_id AND a.class_id = i.class_id)'), 0, 'what is used is the sum of the allocations';
};

subtest 'refused, and nothing half done' => sub {
    my ($root, $child, $who) = host();
    my $before = state_of();
    my $refuse = sub {
        my ($status, $text, $inventories, $allocations, $code) = @_;
        is_error(reshape($inventories, $allocations), $status, $text, code => $code);
        is state_of(), $before, 'and all is as it was';
    };
    my $all = { $who => consumer(1, $child => { VCPU => 4 }) };
    my $vcpu = at($child, VCPU => { total => 8 });
    $refuse->(400, qr/Resource provider $none in inventories not found: No resource provider with uuid $none found/,
        { $child => $vcpu, $none => { resource_provider_generation => 0, inventories => {} } }, $all, 'resource_provider.not_found');
    $refuse->(409, qr/resource provider generation conflict for provider $child: actual: 0, given: 3/,
        { $child => { %$vcpu, resource_provider_generation => 3 } }, $all, 'concurrent_update');
    $refuse->(409, qr/resource provider generation conflict/, { $child => { %$vcpu, resource_provider_generation => -1 } }, $all, 'concurrent_update');
    $refuse->(409, qr/resource provider generation conflict/, { $child => { %$vcpu, resource_provider_generation => 3 } },
        { $who => consumer(1, $child => { VCPU => 2147483648 }) }, 'concurrent_update');
    $refuse->(409, qr/consumer generation conflict - expected 1 but got 9/, { $child => $vcpu }, { $who => consumer(9, $child => { VCPU => 4 }) },
        'concurrent_update');
    $refuse->(409, qr/consumer generation conflict - expected null but got 1/, { $child => $vcpu },
        { %$all, uuid() => consumer(1, $child => { VCPU => 1 }) }, 'concurrent_update');
    $refuse->(400, qr/Allocation for resource provider '$none' that does not exist/, { $child => $vcpu }, { $who => consumer(1, $none => { VCPU => 4 }) });
    $refuse->(400, qr/malformed reshaper data: No such resource class COWS/, { $child => at($child, COWS => { total => 8 }) }, {});
    $refuse->(400, qr/malformed reshaper data: No such resource class COWS/, { $child => $vcpu }, { $who => consumer(1, $child => { COWS => 4 }) });
    $refuse->(400, qr/malformed reshaper data: No such resource class cow\./, { $child => at($child, cow => { total => 'x' }) }, {});
    $refuse->(400, qr/reserved value is greater than total/, { $child => at($child, VCPU => { total => 8, reserved => 9 }) }, {});
    $refuse->(409, qr/update conflict: Inventory for 'VCPU, DISK_GB' on resource provider '$root' in use/, { $root => at($root) }, {}, 'inventory.inuse');
    $refuse->(409, qr/update conflict: Inventory for 'DISK_GB' on resource provider '$root' in use/, { $root => at($root, VCPU => { total => 8 }) },
        { $who => consumer(1, $root => { VCPU => 1, DISK_GB => 20 }) }, 'inventory.inuse');
    $refuse->(409, qr/Unable to allocate inventory: Inventory for 'VCPU' on resource provider '$child' invalid/, { $child => at($child, DISK_GB => { total => 1 }) }, $all);
    $refuse->(409, qr/Unable to create allocation for 'VCPU' on resource provider '$child'.*exceed the capacity/, { $child => at($child, VCPU => { total => 3 }) }, $all);
    $refuse->(409, qr/would violate inventory constraints/, { $child => at($child, VCPU => { total => 8, step_size => 3 }) }, $all);
    $refuse->(409, qr/exceed the capacity/, { $root => at($root, VCPU => { total => 3 }, DISK_GB => { total => 100 }) },
        { $who => consumer(1, $root => { VCPU => 4 }) });
};

subtest 'bodies and versions' => sub {
    my ($root, $child, $who) = host();
    my $bad = sub {
        my ($text, $body, $version) = @_;
        is_error($placement->version($version // '1.39')->post('/reshaper', json => $body), 400, $text);
    };
    my $vcpu = { $child => at($child, VCPU => { total => 1 }) };
    $bad->(qr/'allocations' is a required property/, { inventories => $vcpu });
    $bad->(qr/'inventories' is a required property/, { allocations => {} });
    $bad->(qr/does not have enough properties/, { inventories => {}, allocations => {} });
    $bad->(qr/'cow' does not match any of the regexes: '\^\[0-9a-fA-F-\]\{36\}\$'/, { inventories => { cow => {} }, allocations => {} });
    $bad->(qr/'inventories' is a required property/, { inventories => { $child => { resource_provider_generation => 0 } }, allocations => {} });
    $bad->(qr/'more' was unexpected/, { inventories => $vcpu, allocations => {}, more => 1 });
    $bad->(qr/Resource provider '$child' is there twice/, { inventories => { %$vcpu, uc $child => $vcpu->{$child} }, allocations => {} });
    my $one = consumer(1, $root => { VCPU => 4, DISK_GB => 20 });
    $bad->(qr/'consumer_type' was unexpected/, { inventories => $vcpu, allocations => { $who => $one } }, '1.37');
    my %untyped = %$one;
    delete $untyped{consumer_type};
    $bad->(qr/'consumer_type' is a required property/, { inventories => $vcpu, allocations => { $who => \%untyped } }, '1.38');
    my %mapped = (%untyped, mappings => { '' => [$root] });
    $bad->(qr/'mappings' was unexpected/, { inventories => $vcpu, allocations => { $who => \%mapped } }, '1.33');
    reshape($vcpu, { $who => \%mapped }, '1.34')->is_status(204, 'mappings from 1.34 on');
    is $placement->get("/allocations/$who")->json->{consumer_type}, 'INSTANCE', 'a type that is not told stays';
    is_error($placement->version('1.29')->post('/reshaper', json => {}), 404, undef);
    my $answer = $placement->get('/reshaper');
    $answer->is_status(405);
    is $answer->header('allow'), 'POST';
    is_error($placement->post('/reshaper', content => '{', type => 'application/json'), 400, qr/Malformed JSON/);
};

subtest 'an over-full provider' => sub {
    my ($root, undef, $who) = host();
    my $other = uuid();
    $placement->inventories($root, VCPU => { total => 3 }, DISK_GB => { total => 100, step_size => 10 });
    my $put = sub { my ($status, $resources, $name) = @_;
        $placement->allocate($who, { $root => $resources })->is_status($status, $name) };
    $put->(409, { VCPU => 5, DISK_GB => 20 }, 'more than before');
    $put->(204, { VCPU => 4, DISK_GB => 40 }, 'as much as before, and more of what there is');
    $placement->version('1.13')->post('/allocations', json => {
        $who => { allocations => { $root => { resources => { DISK_GB => 10 } } }, project_id => 'p', user_id => 'u' },
        $other => { allocations => { $root => { resources => { VCPU => 4 } } }, project_id => 'p', user_id => 'u' } })->is_status(204, 'given to another');
    $placement->allocate(uuid(), { $root => { VCPU => 1 } })->is_status(409, 'nobody else gets any');
    $who = $other;
    $put->(204, { VCPU => 3 }, 'less, down to the capacity');
    $put->(409, { VCPU => 4 }, 'and not back');
    reshape({ $root => at($root, VCPU => { total => 2 }) }, { $who => { %{ consumer(4, $root => { VCPU => 3 }) } } })->is_status(409, "a reshape's own figures suffice");
};

subtest 'a consumer without project and user' => sub {
    my ($root, undef, $who) = host();
    $placement->version('1.7')->put("/allocations/$who", json =>
        { allocations => [ { resource_provider => { uuid => $root }, resources => { VCPU => 1 } } ] })->is_status(204);
    my $got = $placement->get("/allocations/$who")->json;
    is_deeply [ @$got{qw(project_id user_id consumer_type)} ], [ $none, $none, 'INSTANCE' ], 'a known one belongs to nobody from then on';
};

subtest 'generations of providers that lose allocations' => sub {
    my ($root, $child, $who) = host();
    $placement->inventories($child, VCPU => { total => 8 });
    my $was = $placement->generation($root);
    $placement->put("/allocations/$who", json => consumer(1, $child => { VCPU => 1 }))->is_status(204);
    is $placement->generation($root), $was, 'one that only gives some up keeps its own';
    $was = $placement->generation($child);
    $placement->put("/allocations/$who", json => consumer(2))->is_status(204);
    is $placement->generation($child), $was + 1, 'an empty set raises it';
    $placement->put("/allocations/$who", json => consumer(undef, $child => { VCPU => 1 }))->is_status(204);
    $placement->delete("/allocations/$who")->is_status(204);
    is $placement->generation($child), $was + 2, 'DELETE does not';
};

is(($instance->manage('doctor'))[0], 0, 'the doctor finds nothing');
done_testing;
