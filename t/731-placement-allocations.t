#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Placement: allocations in all their forms, consumers, usages.
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

# A provider with room for some.
sub with_room {
    my ($name) = @_;
    my $uuid = $placement->provider($name);
    $placement->inventories($uuid, VCPU => { total => 10, max_unit => 8 }, DISK_GB => { total => 100, min_unit => 10, step_size => 10 });
    return $uuid;
}

# The body of a PUT as that microversion has it, for one provider.
sub body {
    my ($minor, $provider, $resources, %more) = @_;
    return {
        allocations => $minor < 12 ? [ { resource_provider => { uuid => $provider }, resources => $resources } ] : { $provider => { resources => $resources } },
        ($minor >= 8  ? (project_id          => 'p', user_id => 'u') : ()),
        ($minor >= 28 ? (consumer_generation => undef)               : ()),
        ($minor >= 38 ? (consumer_type       => 'INSTANCE')          : ()),
        %more,
    };
}

subtest 'forms by version' => sub {
    my $provider = with_room('forms');
    my @versions = (0, 7, 8, 11, 12, 27, 28, 33, 34, 37, 38, 39);
    for my $minor (@versions) {
        my $consumer = uuid();
        my $path     = "/allocations/$consumer";
        $placement->version("1.$minor")->put($path, json => body($minor, $provider, { VCPU => 1 }))->is_status(204, "at 1.$minor");
        my %want = (
            project_id => $minor < 8 ? $none : 'p', user_id => $minor < 8 ? $none : 'u',
            consumer_generation => 1, consumer_type => $minor < 38 ? 'unknown' : 'INSTANCE',
        );
        my $got = $placement->get($path)->json;
        is_deeply $got, { %want, allocations => { $provider => { generation => $placement->generation($provider), resources => { VCPU => 1 } } } }, 'there';
        is_deeply [ sort keys %{ $placement->version('1.11')->get($path)->json } ], ['allocations'], 'told as 1.11 has it';
        is_deeply [ sort keys %{ $placement->version('1.27')->get($path)->json } ], [qw(allocations project_id user_id)], 'and 1.27';
        is_deeply [ sort keys %{ $placement->version('1.37')->get($path)->json } ], [qw(allocations consumer_generation project_id user_id)], 'and 1.37';
        $placement->delete($path)->is_status(204);
        is_deeply $placement->get($path)->json, { allocations => {} }, 'gone, and with it all that was known';
    }
    my %wrong = (
        '1.7'  => body(8,  $provider, { VCPU => 1 }),
        '1.8'  => body(0,  $provider, { VCPU => 1 }),
        '1.11' => body(12, $provider, { VCPU => 1 }),
        '1.12' => body(8,  $provider, { VCPU => 1 }),
        '1.27' => body(28, $provider, { VCPU => 1 }),
        '1.28' => body(12, $provider, { VCPU => 1 }),
        '1.33' => body(28, $provider, { VCPU => 1 }, mappings => { '' => [$provider] }),
        '1.37' => body(38, $provider, { VCPU => 1 }),
        '1.38' => body(28, $provider, { VCPU => 1 }),
    );
    for my $version (sort keys %wrong) {
        is_error($placement->version($version)->put('/allocations/' . uuid(), json => $wrong{$version}), 400, qr/JSON does not validate/,
            name => "what another version takes is wrong at $version");
    }
    $placement->version('1.34')->put('/allocations/' . uuid(), json => body(28, $provider, { VCPU => 1 }, mappings => { '' => [$provider], _A => [$provider] }))
        ->is_status(204, 'mappings are taken from 1.34 on');
    for my $group ('a.b', 'x' x 65, '.') {
        my $path = '/allocations/' . uuid();
        $placement->version('1.34')->put($path, json => body(28, $provider, { VCPU => 1 }, mappings => { $group => [$provider] }))
            ->is_status(204, 'of a group with any name: ' . substr $group, 0, 5);
        $placement->delete($path)->is_status(204);
    }
    is_error($placement->version('1.34')->put('/allocations/' . uuid(), json => body(28, $provider, { VCPU => 1 }, mappings => $_)), 400,
        qr/JSON does not validate/) for { 'a.b' => ['x'] }, { 'a.b' => [] }, {};
};

subtest 'bodies' => sub {
    my $provider = with_room('bodies');
    my $path     = '/allocations/' . uuid();
    my $old      = $placement->version('1.0');
    my $bad      = sub { my ($text, $body, $version) = @_;
        is_error($placement->version($version // '1.27')->put($path, json => $body), 400, $text) };
    $bad->(qr/Failed validating 'minItems'/, { allocations => [] }, '1.0');
    $bad->(qr/Failed validating 'required' in schema/, { allocations => [ { resource_provider => { uuid => $provider } } ] }, '1.0');
    $bad->(qr/JSON does not validate: 0 is less than the minimum of 1/, body(0, $provider, { VCPU => 0 }), '1.0');
    $bad->(qr/'cow' does not match any of the regexes/, body(0, $provider, { cow => 1 }), '1.0');
    $bad->(qr/\{\} does not have enough properties/, body(0, $provider, {}), '1.0');
    $bad->(qr/is not a 'uuid'/, body(0, 'x', { VCPU => 1 }), '1.0');
    $bad->(qr/\{\} does not have enough properties/, { allocations => {}, project_id => 'p', user_id => 'u' });
    $bad->(qr/'x' does not match any of the regexes: '\^\[0-9a-fA-F-\]\{36\}\$'/, body(27, 'x', { VCPU => 1 }));
    $bad->(qr/Failed validating 'minLength'/, body(27, $provider, { VCPU => 1 }, project_id => ''));
    $bad->(qr/Failed validating 'maxLength'/, body(27, $provider, { VCPU => 1 }, user_id => 'x' x 256));
    $bad->(qr/'a-b' does not match/, body(39, $provider, { VCPU => 1 }, consumer_type => 'a-b'), '1.39');
    $bad->(qr/'' does not match '\^\[A-Z0-9_\]\+\$'  Failed validating 'pattern'/, body(39, $provider, { VCPU => 1 }, consumer_type => ''), '1.39');
    $bad->(qr/'x' is not of type 'integer', 'null'/, body(39, $provider, { VCPU => 1 }, consumer_generation => 'x'), '1.39');
    $bad->(qr/Additional properties are not allowed \('consumer_type' was unexpected\)/, body(27, $provider, { VCPU => 1 }, consumer_type => 'X'), '1.28');
    $bad->(qr/Additional properties are not allowed \('a', 'consumer_type' were unexpected\)/, body(27, $provider, { VCPU => 1 }, consumer_type => 'X', a => 1), '1.28');
    $bad->(qr/'allocations' is a required property/, { more => 1 }, '1.8');
    $bad->(qr/is there twice/, { allocations => { $provider => { resources => { VCPU => 1 } }, uc $provider => { resources => { VCPU => 1 } } },
        project_id => 'p', user_id => 'u' });
    my $twice = sub { return { %{ body(11, $provider, {}) }, allocations => [ map { +{ resource_provider => { uuid => $provider }, resources => $_ } } @_ ] } };
    $bad->(qr/Allocation of VCPU for resource provider '$provider' is there twice/, $twice->({ VCPU => 1 }, { VCPU => 2 }), '1.11');
    $bad->(qr/Allocation for resource provider '$none' that does not exist/, body(27, $none, { VCPU => 1 }));
    $bad->(qr/Unable to allocate inventory for consumer .*No such resource class COWS/s, body(27, $provider, { COWS => 1 }));
    for my $much (2147483648, 18446744073709551615) {
        $bad->(qr/Allocation for resource provider '$none' that does not exist/, body(27, $none, { VCPU => $much }));
        $bad->(qr/Unable to allocate inventory for consumer .*No such resource class COWS/s, body(27, $provider, { COWS => $much }));
    }
    is_error($placement->put('/allocations/not-a-uuid', json => body(39, $provider, { VCPU => 1 })), 400, qr/Malformed consumer_uuid: not-a-uuid/);
    is_error($placement->delete('/allocations/not-a-uuid'), 404, qr/No allocations for consumer 'not-a-uuid'/);
    is_deeply $placement->get('/allocations/not-a-uuid')->json, { allocations => {} };
    is $placement->generation($provider), 1, 'nothing of that changed anything';
    is $instance->sql_value('SELECT COUNT(*) FROM consumers'), 1, 'or left a consumer behind';
    $placement->version('1.11')->put($path, json => $twice->({ VCPU => 1 }, { DISK_GB => 10 }))->is_status(204, 'a provider may be listed twice before 1.12');
    is_deeply $placement->get($path)->json->{allocations}{$provider}{resources}, { VCPU => 1, DISK_GB => 10 }, '... and gives both';
    $placement->delete($path)->is_status(204);
};

subtest 'capacity' => sub {
    my $provider = with_room('capacity');
    my $consumer = uuid();
    my $full     = sub { my ($text, $resources) = @_; is_error($placement->allocate(uuid(), { $provider => $resources }), 409, $text) };
    $full->(qr/Unable to allocate inventory/, { MEMORY_MB => 1 });
    $full->(qr/Unable to allocate inventory/, { VCPU => 9 });
    $full->(qr/Unable to allocate inventory/, { DISK_GB => 5 });
    $full->(qr/Unable to allocate inventory/, { DISK_GB => 15 });
    $full->(qr/Unable to allocate inventory/, { DISK_GB => 110 });
    $full->(qr/Unable to allocate inventory: .*The requested amount would violate inventory constraints\./, { DISK_GB => $_ })
        for 2147483650, 18446744073709551610;
    $placement->allocate($consumer, { $provider => { VCPU => 8 } })->is_status(204);
    $full->(qr/Unable to allocate inventory/, { VCPU => 3 });
    $placement->allocate($consumer, { $provider => { VCPU => 7, DISK_GB => 100 } })->is_status(204, "one's own may change");
    is_deeply $placement->get("/resource_providers/$provider/usages")->json->{usages}, { VCPU => 7, DISK_GB => 100 }, 'and counts once';
    $placement->allocate(uuid(), { $provider => { VCPU => 3 } })->is_status(204, 'what is left');
    $full->(qr/Unable to allocate inventory/, { VCPU => 1 });
};

subtest 'consumer generations' => sub {
    my $provider = with_room('generations');
    my $consumer = uuid();
    my $put = sub { my ($generation, %more) = @_;
        return $placement->put("/allocations/$consumer", json => body(39, $provider, { VCPU => 1 }, consumer_generation => $generation, %more)) };
    is_error($put->(5), 409, qr/consumer generation conflict.*expected null but got 5/s, code => 'concurrent_update');
    $put->(undef)->is_status(204, 'null for a new one');
    is_error($put->(undef), 409, qr/consumer generation conflict - expected 1 but got None/, code => 'concurrent_update');
    is_error($put->(0), 409, qr/consumer generation conflict/, code => 'concurrent_update');
    is_error($put->(-1), 409, qr/consumer generation conflict - expected 1 but got a number that no generation has/, code => 'concurrent_update');
    is_error($put->(0, allocations => { $provider => { resources => { VCPU => 2147483648 } } }), 409, qr/consumer generation conflict - expected 1 but got 0/,
        code => 'concurrent_update', name => 'an amount that no provider can have comes after the generation');
    $put->(1, consumer_type => 'MIGRATION', project_id => 'q')->is_status(204);
    my $got = $placement->get("/allocations/$consumer")->json;
    is_deeply [ @$got{qw(consumer_generation consumer_type project_id)} ], [ 2, 'MIGRATION', 'q' ], 'what is told anew is new';
    $placement->allocate($consumer, { $provider => { VCPU => 2 } })->is_status(204, 'before 1.28 nobody asks');
    is $placement->get("/allocations/$consumer")->json->{consumer_generation}, 3;
    is $placement->get("/allocations/$consumer")->json->{consumer_type}, 'MIGRATION', 'what is not told stays';
    $put->(3, allocations => {})->is_status(204, 'nothing any more');
    is_deeply $placement->get("/allocations/$consumer")->json, { allocations => {} };
    $put->(undef)->is_status(204, 'then it is a new one');
    is $placement->get("/allocations/$consumer")->json->{consumer_generation}, 1;
    $placement->delete("/allocations/$consumer")->is_status(204);
    is_error($placement->delete("/allocations/$consumer"), 404, qr/No allocations for consumer '$consumer'/);
    my $dashless = $consumer =~ s/-//gr;
    $placement->put("/allocations/$dashless", json => body(39, $provider, { VCPU => 1 }))->is_status(204, 'a uuid without dashes');
    is $placement->get("/allocations/$consumer")->json->{allocations}{$provider}{resources}{VCPU}, 1, 'is the same';
    is $placement->get("/allocations/$dashless")->json->{consumer_generation}, 1;
};

subtest 'what a provider has given' => sub {
    my ($one, $two) = map { with_room($_) } qw(given-1 given-2);
    my ($x, $y) = map { uuid() } 1 .. 2;
    $placement->allocate($x, { $one => { VCPU => 1, DISK_GB => 10 }, $two => { VCPU => 2 } })->is_status(204);
    $placement->allocate($y, { $one => { VCPU => 3 } })->is_status(204);
    is_deeply $placement->get("/resource_providers/$one/allocations")->json, { resource_provider_generation => 3, allocations => {
        $x => { resources => { VCPU => 1, DISK_GB => 10 }, consumer_generation => 1 }, $y => { resources => { VCPU => 3 }, consumer_generation => 1 } } };
    is_deeply $placement->version('1.27')->get("/resource_providers/$two/allocations")->json,
        { resource_provider_generation => 2, allocations => { $x => { resources => { VCPU => 2 } } } };
    $placement->allocate($x, { $two => { VCPU => 1 } })->is_status(204, 'taken from the one');
    is $placement->generation($one), 3, 'which only gives, so that its generation stays';
    is_deeply [ keys %{ $placement->get("/resource_providers/$one/allocations")->json->{allocations} } ], [$y];
};

subtest 'several consumers at once' => sub {
    my ($one, $two) = map { with_room($_) } qw(several-1 several-2);
    my ($x, $y) = map { uuid() } 1 .. 2;
    my $set = sub { my ($provider, $resources, $generation) = @_;
        return { allocations => $provider ? { $provider => { resources => $resources } } : {}, project_id => 'p', user_id => 'u',
            consumer_generation => $generation, consumer_type => 'INSTANCE' } };
    $placement->post('/allocations', json => { $x => $set->($one, { VCPU => 8 }), $y => $set->($two, { VCPU => 2 }) })->is_status(204, 'both');
    is $placement->get("/allocations/$_")->json->{consumer_generation}, 1 for $x, $y;
    is_error($placement->post('/allocations', json => { $x => $set->($one, { VCPU => 1 }, 1), $y => $set->($two, { VCPU => 9 }, 1) }), 409,
        qr/Unable to allocate inventory/);
    is $placement->get("/allocations/$x")->json->{allocations}{$one}{resources}{VCPU}, 8, 'or none';
    is_error($placement->post('/allocations', json => { $x => $set->($one, { VCPU => 1 }, 1), $y => $set->($two, { VCPU => 1 }, 7) }), 409,
        qr/consumer generation conflict/, code => 'concurrent_update');
    $placement->post('/allocations', json => { $x => $set->(undef, {}, 1), $y => $set->($one, { VCPU => 8 }, 1) })->is_status(204, 'from hand to hand');
    is_deeply $placement->get("/allocations/$x")->json, { allocations => {} };
    is_deeply $placement->get("/resource_providers/$one/usages")->json->{usages}{VCPU}, 8;
    is_error($placement->post('/allocations', json => {}), 400, qr/\{\} does not have enough properties/);
    is_error($placement->post('/allocations', json => { x => $set->($one, { VCPU => 1 }) }), 400, qr/'x' does not match any of the regexes: '\^\[0-9a-fA-F-\]\{36\}\$'/);
    is_error($placement->post('/allocations', json => { $x => $set->($one, { VCPU => 1 }), uc $x => $set->($one, { VCPU => 1 }) }), 400, qr/is there twice/);
    is_error($placement->post('/allocations', json => { $x => $set->($none, { VCPU => 1 }) }), 400, qr/Allocation for resource provider '$none' that does not exist/);
    is_error($placement->post('/allocations', json => { $x => $set->($two, { COWS => 1 }) }), 400, qr/No such resource class COWS/);
    $placement->version('1.13')->post('/allocations', json => { $x => { allocations => { $two => { resources => { VCPU => 1 } } }, project_id => 'p', user_id => 'u' } })
        ->is_status(204, 'at 1.13');
};

subtest 'usages' => sub {
    my $provider = with_room('usages');
    my $put = sub { my ($user, $type, $vcpus) = @_;
        $placement->put('/allocations/' . uuid(), json => body(39, $provider, { VCPU => $vcpus }, project_id => 'pu', user_id => $user, consumer_type => $type))->is_status(204) };
    $put->('u1', 'INSTANCE', 1);
    $put->('u2', 'INSTANCE', 2);
    $put->('u1', 'MIGRATION', 3);
    $placement->allocate(uuid(), { $provider => { VCPU => 1, DISK_GB => 10 } }, project => 'pu', user => 'u1')->is_status(204);
    my $usages = sub { my ($query, $version) = @_; return $placement->version($version // '1.39')->get("/usages?$query")->json->{usages} };
    is_deeply $usages->('project_id=pu', '1.37'), { VCPU => 7, DISK_GB => 10 }, 'of a project';
    is_deeply $usages->('project_id=pu&user_id=u2', '1.9'), { VCPU => 2 }, 'of a user in it';
    is_deeply $usages->('project_id=none', '1.9'), {}, 'of none';
    is_deeply $usages->('project_id=pu'), { INSTANCE => { consumer_count => 2, VCPU => 3 }, MIGRATION => { consumer_count => 1, VCPU => 3 },
        unknown => { consumer_count => 1, VCPU => 1, DISK_GB => 10 } }, 'by type from 1.38 on';
    is_deeply $usages->('project_id=pu&consumer_type=INSTANCE'), { INSTANCE => { consumer_count => 2, VCPU => 3 } }, 'of one type';
    is_deeply $usages->('project_id=pu&consumer_type=unknown&user_id=u1'), { unknown => { consumer_count => 1, VCPU => 1, DISK_GB => 10 } }, 'of those without';
    is_deeply $usages->('project_id=pu&consumer_type=all'), { all => { consumer_count => 4, VCPU => 7, DISK_GB => 10 } }, 'of all in one';
    is_deeply $usages->('project_id=none'), {}, 'of none';
    is_error($placement->get('/usages'), 400, qr/'project_id' is a required property/);
    is $usages->('project_id=none&project_id=pu', '1.37')->{VCPU}, 7, 'the last project counts';
    is_error($placement->get('/usages?project_id='), 400, qr/Failed validating 'minLength'/);
    is_error($placement->get('/usages?project_id=' . 'x' x 256), 400, qr/Failed validating 'maxLength'/);
    is_error($placement->get('/usages?project_id=p&dummy=1'), 400, qr/Additional properties are not allowed/);
    is_error($placement->get("/usages?project_id=p&consumer_type=$_"), 400,
        qr/'$_' does not match '\^\[A-Z0-9_\]\+\$\|\^all\|\^unknown\$'  Failed validating 'pattern'/) for 'x', '', 'unknown2';
    is_deeply $usages->('project_id=pu&consumer_type=allx'), {}, 'of a type that only begins like all';
    is_error($placement->version('1.37')->get('/usages?project_id=p&consumer_type=all'), 400, qr/Additional properties are not allowed/);
};

# Each name compared with each would take more than a request may compute.
subtest 'very many classes in one body' => sub {
    my $class = sub { my ($i) = @_; return join '', map { chr 65 + $i / 26**$_ % 26 } 0 .. 3 };
    my %allocations = map { uuid() => { resources => { VCPU => 1 } } } 1 .. 15_000;
    $allocations{ uuid() } = { resources => { map { $class->($_) => 1 } 1 .. 40_000 } };
    my $response = $placement->put('/allocations/' . uuid(), json => { allocations => \%allocations, project_id => 'p', user_id => 'u', consumer_generation => undef,
        consumer_type => 'INSTANCE' });
    is_error($response, 400, qr/Allocation for resource provider '\S+' that does not exist/);
};

done_testing;
