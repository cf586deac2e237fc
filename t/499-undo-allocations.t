#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo of what is allocated: PUT, POST and DELETE of allocations, and reshapes, and the undo of each. Consumers have what they had, under
# generations that nobody has seen; refused with every reason if they changed since or it no longer fits. Raced by other claims.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use IO::Select ();
use Test::More;

use Tenure::Instance;
use Tenure::Parallel;
use Tenure::Placement;
use Tenure::Undo qw(undo_path reasons blocked details);

my $rounds    = $ENV{TENURE_UNDO_ROUNDS} // 3;
my $instance  = Tenure::Instance->start;
my $admin     = $instance->admin;
my $placement = Tenure::Placement->new($admin, '1.39', '/placement');

sub undo    { my ($request, @more) = @_; return $admin->post(undo_path('system', $request), @more) }
sub preview { my ($request) = @_; return $admin->get(undo_path('system', $request)) }

sub undone {
    my ($request, $name) = @_;
    my $answer = undo($request);
    $answer->is_status(200, $name) or diag $answer->text;
    return $answer;
}

sub at         { return "/resource_providers/$_[0]" . ($_[1] // '') }
sub generation { return $placement->get(at($_[0]))->json->{generation} }
sub used       { return $placement->get(at($_[0], '/usages'))->json->{usages} }
sub stock      { return $placement->get(at($_[0], '/inventories'))->json->{inventories} }
sub uuid       { return Tenure::Placement::uuid() }

my $n = 0;

sub provider {
    my (%inventories) = @_;
    my $uuid = uuid();
    $placement->post('/resource_providers', json => { name => 'p' . ++$n, uuid => $uuid })->is_status(200);
    stocked($uuid, %inventories)->is_status(200);
    return $uuid;
}

sub stocked {
    my ($uuid, %inventories) = @_;
    return $placement->request('PUT', at($uuid, '/inventories'), json => { resource_provider_generation => generation($uuid),
        inventories => { map { $_ => { total => $inventories{$_} } } keys %inventories } });
}

# One consumer's part of a request: the allocations are provider => { class => amount }.
sub wants {
    my ($known, $wanted, %more) = @_;
    return { allocations => { map { $_ => { resources => $wanted->{$_} } } keys %$wanted }, project_id => 'acme', user_id => 'ann',
        consumer_generation => $known, consumer_type => 'INSTANCE', %more };
}

sub claim {
    my ($consumer, $known, $wanted, %more) = @_;
    return $placement->request('PUT', "/allocations/$consumer", json => wants($known, $wanted, %more));
}

sub claimed { my (@of) = @_; my $answer = claim(@of); $answer->is_status(204) or diag $answer->text; return $answer }

# What the consumer has, without the providers' generations.
sub has {
    my ($consumer) = @_;
    my $json = $placement->get("/allocations/$consumer")->json;
    return { of => join('/', map { $json->{$_} // '' } qw(project_id user_id consumer_type)),
        map { $_ => $json->{allocations}{$_}{resources} } keys %{ $json->{allocations} } };
}
sub known { return $placement->get("/allocations/$_[0]")->json->{consumer_generation} }
sub last_request { return join '-', unpack 'A8A4A4A4A12', $instance->sql_value('SELECT LOWER(HEX(request_id)) FROM changes ORDER BY id DESC LIMIT 1') }
my $nothing = { of => '//' };

# A generation that does not count for a write.
sub stale {
    my ($consumer, $provider, $generation, $name) = @_;
    claim($consumer, $generation, { $provider => { VCPU => 1 } })->is_status(409, $name);
}

subtest 'a claim, a change, a removal' => sub {
    my ($p, $q, $c) = (provider(VCPU => 8, MEMORY_MB => 100), provider(VCPU => 8), uuid());
    my $made  = claimed($c, undef, { $p => { VCPU => 2, MEMORY_MB => 10 } });
    my $first = has($c);
    my ($item) = @{ preview($made)->json->{items} };
    is_deeply $item->{now}, { allocations => { $c => { project_id => 'acme', user_id => 'ann', consumer_type => 'INSTANCE',
        resources => { VCPU => 2, MEMORY_MB => 10 } } } }, 'the preview has what is allocated';
    is_deeply $item->{restored}, { allocations => {} }, '... and that nothing was';
    is_deeply has($c), $first, '... and changes nothing';
    my $changed = claimed($c, 1, { $q => { VCPU => 5 }, $p => { VCPU => 1 } }, project_id => 'other', user_id => 'bob', consumer_type => 'MIGRATION');
    my $second  = has($c);
    is_deeply reasons(undo($made)), ['changed-since'], 'a claim that was changed since';
    is_deeply blocked(undo($made)), ["allocations/$c changed-since"], '... names the consumer';
    my $preview = preview($changed);
    is_deeply { map { $_->{resource} => $_->{restored}{allocations}{$c}{resources} } @{ $preview->json->{items} } },
        { "resourceproviders/$p" => { VCPU => 2, MEMORY_MB => 10 }, "resourceproviders/$q" => undef }, 'what each provider gave';
    like $admin->get(undo_path('system', $changed), accept => 'application/xml')->text, qr/MEMORY_MB/, 'in XML, too';
    my @generations = map { generation($_) } $p, $q;
    my $back = undo($changed, if_match => $preview->etag);
    $back->is_status(200);
    is_deeply has($c), $first, 'put back, with project, user and type';
    is_deeply [used($p), used($q)], [{ VCPU => 2, MEMORY_MB => 10 }, { VCPU => 0 }], 'the sums';
    is known($c), 3, 'under a new generation';
    is generation($p), $generations[0] + 1, 'the provider, too';
    stale($c, $p, $_, "generation $_ stays stale") for 1, 2;
    is_deeply reasons(undo($changed)), ['changed-since'], 'once more';
    my $again = undone($back, 'the undo of the undo');
    is_deeply has($c), $second, 'is the change again';
    $placement->request('DELETE', "/allocations/$c")->is_status(204);
    my $restored = undone(last_request(), 'a removal');
    is_deeply has($c), $second, 'all of it is there again';
    my $new = known($c);
    ok $new > 4, "under generation $new, which was never seen";
    stale($c, $p, $_, '... so ' . ($_ // 'null') . ' stays stale') for undef, 1 .. 5;
    undone($restored, 'the undo of that');
    is_deeply has($c), $nothing, 'removes it again';
    undone(last_request(), 'and the undo of that');
    is_deeply has($c), $second, 'brings it back again';
    ok known($c) > $new, '... under yet another generation';
    is claim($c, known($c), { $p => { VCPU => 1 } })->status, 204, 'which counts';
};

subtest 'several consumers' => sub {
    my ($p, $q)  = (provider(VCPU => 8), provider(VCPU => 8));
    my ($c, $d, $e) = map { uuid() } 1 .. 3;
    claimed($c, undef, { $p => { VCPU => 3 } }, project_id => qq(a "quoted"\\ name \x{1F600}), user_id => "t\tab");
    claimed($d, undef, { $p => { VCPU => 4 } });
    my @before = map { has($_) } $c, $d, $e;
    my $moved = $placement->post('/allocations', json => { $c => wants(1, {}), $d => wants(1, { $q => { VCPU => 4 } }), $e => wants(undef, { $p => { VCPU => 7 } }) });
    $moved->is_status(204);
    my @after = map { has($_) } $c, $d, $e;
    my $back  = undone($moved, 'one was removed, one moved, one made');
    is_deeply [map { has($_) } $c, $d, $e], \@before, 'all are as they were, whatever their names';
    is_deeply [used($p), used($q)], [{ VCPU => 7 }, { VCPU => 0 }], 'the sums';
    undone($back, 'the undo of the undo');
    is_deeply [map { has($_) } $c, $d, $e], \@after, 'is the request again';
};

subtest 'every reason' => sub {
    my ($p, $q) = (provider(VCPU => 8, DISK_GB => 10), provider(VCPU => 8, MEMORY_MB => 10));
    my ($c, $d, $e, $f) = map { uuid() } 1 .. 4;
    claimed($c, undef, { $p => { VCPU => 6, DISK_GB => 3 }, $q => { VCPU => 2, MEMORY_MB => 1 } });
    claimed($d, undef, { $p => { VCPU => 1 } });
    my $request = $placement->post('/allocations', json => { $c => wants(1, {}), $d => wants(1, { $q => { VCPU => 1 } }) });
    $request->is_status(204);
    claimed($e, undef, { $p => { VCPU => 1 } });
    is_deeply reasons(preview($request)), [], 'what others have got since is not in the way, while it fits';
    claimed($f, undef, { $p => { VCPU => 3 } });
    claimed($d, 2, { $q => { VCPU => 2 } });
    stocked($q, VCPU => 8)->is_status(200);
    stocked($p, VCPU => 8)->is_status(200);
    my $refused = undo($request);
    $refused->is_status(409);
    is_deeply blocked($refused), [sort "allocations/$d changed-since", "resourceproviders/$p conflict", "resourceproviders/$p conflict", "resourceproviders/$q conflict"],
        'the consumer, the capacity, and each inventory that is gone';
    like details($refused), qr/$_/, "... $_" for 'exceed the capacity', "'DISK_GB'", "'MEMORY_MB'", 'written at 20';
    is_deeply [has($c), used($p)], [$nothing, { VCPU => 4 }], 'nothing is changed';
    is_deeply reasons(preview($request)), reasons($refused), 'the preview says the same';
    $placement->request('DELETE', "/allocations/$_")->is_status(204) for $d, $e, $f;
    like details(undo($request)), qr/removed since/, 'a consumer that is gone';
    $placement->request('DELETE', at($q))->is_status(204);
    $refused = undo($request);
    is_deeply blocked($refused), [sort "allocations/$d changed-since", "resourceproviders/$p conflict", "resourceproviders/$q changed-since", "resourceproviders/$q bad-document"],
        'a provider that is gone';
};

subtest 'a consumer that was there in between' => sub {
    my ($p, $c) = (provider(VCPU => 8), uuid());
    claimed($c, undef, { $p => { VCPU => 1 } });
    my $removal = $placement->request('DELETE', "/allocations/$c");
    $removal->is_status(204);
    claimed($c, undef, { $p => { VCPU => 2 } });
    is_deeply blocked(undo($removal)), ["allocations/$c changed-since"], 'it was made anew';
    claimed($c, $_, { $p => { VCPU => 3 } }) for 1 .. 3;
    $placement->request('DELETE', "/allocations/$c")->is_status(204);
    undone($removal, 'it is gone again, as the removal left it');
    is has($c)->{$p}{VCPU}, 1, 'what it had first';
    stale($c, $p, $_, "generation $_ of the one in between is stale") for 1 .. 5;
    claimed($c, known($c), { $p => { VCPU => 4 } });
    $placement->request('DELETE', "/allocations/$c")->is_status(204);
    my $made = claimed($c, undef, { $p => { VCPU => 5 } });
    $placement->request('DELETE', "/allocations/$c")->is_status(204);
    claimed($c, undef, { $p => { VCPU => 6 } });
    is_deeply blocked(undo($made)), ["allocations/$c changed-since"], 'another one at the same generation is not what the claim left';
};

subtest 'other changes of the provider' => sub {
    my ($p, $c) = (provider(VCPU => 8), uuid());
    my $made = claimed($c, undef, { $p => { VCPU => 4 } });
    stocked($p, VCPU => 16, MEMORY_MB => 5)->is_status(200);
    $placement->request('PUT', at($p, '/traits'), json => { resource_provider_generation => generation($p), traits => ['HW_CPU_X86_AVX'] })->is_status(200);
    undone($made, 'are no obstacle');
    is_deeply has($c), $nothing, 'it is gone';
};

# A reshape's part of one provider.
sub shape {
    my ($uuid, %inventories) = @_;
    return ($uuid => { resource_provider_generation => generation($uuid), inventories => { map { $_ => { total => $inventories{$_} } } keys %inventories } });
}
sub reshape {
    my ($inventories, $allocations) = @_;
    my $answer = $placement->post('/reshaper', json => { inventories => $inventories, allocations => $allocations });
    $answer->is_status(204) or diag $answer->text;
    return $answer;
}

subtest 'a reshape' => sub {
    my ($root, $child, $c, $d) = (provider(VCPU => 8, DISK_GB => 10), provider(MEMORY_MB => 1), uuid(), uuid());
    claimed($c, undef, { $root => { VCPU => 2, DISK_GB => 3 } });
    claimed($d, undef, { $root => { DISK_GB => 1 } });
    my @before = (stock($root), stock($child), has($c), has($d));
    my $request = reshape({ shape($root, DISK_GB => 20), shape($child, VCPU => 8, MEMORY_MB => 1) },
        { $c => wants(1, { $root => { DISK_GB => 4 }, $child => { VCPU => 2 } }) });
    my $strip  = sub { my (@all) = @_; for my $one (@all) { ref eq 'HASH' and delete $_->{resource_provider_generation} for values %$one } return \@all };
    my @after   = (stock($root), stock($child), has($c), has($d));
    my @generations = map { generation($_) } $root, $child;
    my $preview = preview($request)->json;
    is_deeply $preview->{blockers}, [], 'may be taken back';
    is scalar(@{ $preview->{items} }), 4, 'inventories and allocations of each';
    my $back = undone($request, 'taken back');
    is_deeply $strip->(stock($root), stock($child), has($c), has($d)), $strip->(@before), 'inventories and allocations are what they were';
    is_deeply [used($root), used($child)], [{ VCPU => 2, DISK_GB => 4 }, { MEMORY_MB => 0 }], 'the sums';
    ok generation($root) > $generations[0] && generation($child) > $generations[1], 'under new generations';
    my $again = undone($back, 'the undo of the undo');
    is_deeply $strip->(stock($root), stock($child), has($c), has($d)), $strip->(@after), 'is the reshape again';
    my $e = uuid();
    claimed($e, undef, { $child => { VCPU => 1 }, $root => { DISK_GB => 12 } });
    my $refused = undo($again);
    $refused->is_status(409);
    is_deeply blocked($refused), [sort "resourceproviders/$root conflict", "resourceproviders/$root conflict", "resourceproviders/$child conflict"], 'what others have by now is not taken away'
        or diag $refused->text;
    like details($refused), qr/'VCPU' on resource provider '$child' in use/, '... of a class that would go';
    like details($refused), qr/DISK_GB: 10 of 16/, '... of a capacity that would sink';
    $placement->request('DELETE', "/allocations/$e")->is_status(204);
    stocked($child, VCPU => 9, MEMORY_MB => 1)->is_status(200);
    is_deeply blocked(undo($again)), ["resourceproviders/$child changed-since"], 'inventories that changed since are';
};

# Before 1.7 a class that is in use may be renamed.
subtest 'a class that was renamed' => sub {
    my $class = sub { my ($name) = @_; $placement->request('PUT', "/resource_classes/$name")->is_status(201, "$name is made") };
    $class->('CUSTOM_OLD');
    my ($p, $q, $c) = (provider(CUSTOM_OLD => 8, VCPU => 4), provider(), uuid());
    claimed($c, undef, { $p => { CUSTOM_OLD => 2, VCPU => 1 } });
    my $removed = claimed($c, 1, { $p => { VCPU => 3 } });
    Tenure::Placement->new($admin, '1.6', '/placement')->request('PUT', '/resource_classes/CUSTOM_OLD', json => { name => 'CUSTOM_NEW' })->is_status(200, 'renamed');
    $class->('CUSTOM_OLD');
    stocked($p, CUSTOM_NEW => 8, CUSTOM_OLD => 8, VCPU => 4)->is_status(200);
    undone($removed, 'allocations are put back');
    is_deeply has($c)->{$p}, { CUSTOM_NEW => 2, VCPU => 1 }, '... of that class, and not of another one of its former name';
    my $reshaped = reshape({ shape($p, VCPU => 4), shape($q, CUSTOM_NEW => 9) }, { $c => wants($placement->get("/allocations/$c")->json->{consumer_generation}, { $q => { CUSTOM_NEW => 1 } }) });
    Tenure::Placement->new($admin, '1.6', '/placement')->request('PUT', '/resource_classes/CUSTOM_NEW', json => { name => 'CUSTOM_NEWER' })->is_status(200, 'renamed again');
    undone($reshaped, 'a reshape');
    is_deeply has($c)->{$p}, { CUSTOM_NEWER => 2, VCPU => 1 }, 'its allocations';
    is_deeply [sort keys %{ stock($p) }], [qw(CUSTOM_NEWER CUSTOM_OLD VCPU)], '... and its inventories';
};

subtest 'a reshape of inventories alone' => sub {
    my ($p, $q) = (provider(VCPU => 8), provider(MEMORY_MB => 5));
    my $request = reshape({ shape($p, MEMORY_MB => 3), shape($q) }, {});
    my $back = undone($request, 'taken back');
    is_deeply [map { [map { $_->{total} } values %{ stock($_) }] } $p, $q], [[8], [5]], 'what they were';
    undone($back, 'and again');
    is_deeply [map { [map { $_->{total} } values %{ stock($_) }] } $p, $q], [[3], []], 'what they were made';
};

subtest 'providers of several tenants' => sub {
    $admin->make_tenant($_) for 't1', 't2';
    my ($p, $q, $c) = (provider(VCPU => 8), provider(VCPU => 8), uuid());
    $admin->post("/v2.0/system/resourceproviders/$p/action/move?dest=t1")->is_status(303);
    my $made = claimed($c, undef, { $p => { VCPU => 2 }, $q => { VCPU => 1 } });
    for my $tenant ('t1', 'system') {
        is_deeply reasons($admin->get(undo_path($tenant, $made))), [], "in $tenant";
    }
    $admin->get(undo_path('t2', $made))->is_status(404, 'not of a third');
    for my $who ('ann:t1:member', 'boss:t1:admin') {
        $instance->service($who)->get(undo_path('t1', $made))->is_status(403, "$who sees nothing of it");
        $instance->service($who)->post(undo_path('t1', $made))->is_status(403, '... and takes nothing back');
    }
    my $back = $admin->post(undo_path('t1', $made));
    $back->is_status(200, 'taken back from one of them');
    is_deeply has($c), $nothing, 'in both';
    my $again = $admin->post(undo_path('t1', $back));
    $again->is_status(200, 'and again');
    $admin->post("/v2.0/t1/resourceproviders/$p/action/move?dest=t2")->is_status(303);
    my $refused = undo($again);
    is_deeply reasons($refused), ['changed-since'], 'one that belongs to another tenant by now';
    like details($refused), qr/another tenant/, '... is why';
};

# More than statements go into one batch.
subtest 'providers of many tenants' => sub {
    my @tenants  = map { "many$_" } 1 .. 17;
    my %provider = map { $_ => provider(VCPU => 8) } @tenants;
    my $c        = uuid();
    for my $tenant (@tenants) {
        $admin->make_tenant($tenant);
        $admin->post("/v2.0/system/resourceproviders/$provider{$tenant}/action/move?dest=$tenant")->is_status(303);
    }
    my $made    = claimed($c, undef, { map { $_ => { VCPU => 1 } } values %provider });
    my $preview = $admin->get(undo_path('many1', $made));
    $preview->is_status(200, 'may be taken back') or return;
    is_deeply reasons($preview), [], '... without a reason against it';
    my $back = $admin->post(undo_path('many1', $made));
    $back->is_status(200, 'taken back');
    is_deeply has($c), $nothing, 'in all of them';
    $admin->post(undo_path('many17', $back))->is_status(200, 'and again');
    is scalar(grep { $_ ne 'of' } keys %{ has($c) }), 17, 'in all of them';
};

subtest 'a reshape of two tenants, one of which is deleted' => sub {
    $admin->make_tenant('t3');
    my ($p, $q, $c) = (provider(VCPU => 8), provider(VCPU => 8), uuid());
    $admin->post("/v2.0/system/resourceproviders/$q/action/move?dest=t3")->is_status(303);
    my $request = reshape({ shape($p, MEMORY_MB => 3), shape($q, VCPU => 6) }, { $c => wants(undef, { $q => { VCPU => 1 } }) });
    $admin->delete('/v2.0/t3')->is_status(204);
    my $preview = preview($request);
    $preview->is_status(200, 'it can be looked at');
    is_deeply blocked($preview), ["resourceproviders/$q bad-document"], 'its provider is in the way' or diag $preview->text;
    my $refused = undo($request);
    $refused->is_status(409, 'and not taken back');
    like details($refused), qr/\Q$q\E in inventories not found/, '... which is said';
    is_deeply [keys %{ stock($p) }], ['MEMORY_MB'], 'nothing of it';
};

# The undo waits for one provider when a write of the other one comes, whose tenant is not that by which the undo is asked for.
subtest 'a reshape of two tenants, and a write beside its undo' => sub {
    $admin->make_tenant('t4');
    my ($p, $q) = (provider(VCPU => 8), provider(VCPU => 8));
    $admin->post("/v2.0/system/resourceproviders/$q/action/move?dest=t4")->is_status(303);
    my $request    = reshape({ shape($p, VCPU => 4), shape($q, VCPU => 4) }, {});
    my $generation = generation($q);
    my $id   = $instance->sql_value("SELECT id FROM resources WHERE uid = UNHEX(REPLACE('$p', '-', ''))");
    my $lock = $instance->sql_locks("SELECT id FROM resources WHERE id = $id FOR UPDATE");
    my $undo = Tenure::Parallel::begin($admin, 'POST', undo_path('system', $request));
    ok Tenure::Instance::wait_until(sub { $instance->count_lock_waits == 1 }), 'the undo waits';
    my $write = Tenure::Parallel::begin($placement, 'PUT', at($q, '/inventories'),
        json => { resource_provider_generation => $generation, inventories => { VCPU => { total => 6 } } });
    my $answer = IO::Select->new($write->{read});
    ok Tenure::Instance::wait_until(sub { $answer->can_read(0) || $instance->count_lock_waits == 2 }), 'a write comes';
    print {$lock} "ROLLBACK;\n";
    my ($undone, $written) = map { (split / /, Tenure::Parallel::told($_))[0] } $undo, $write;
    is(($undone == 200) + ($written == 200), 1, "one of them is done: $undone, $written");
    is stock($q)->{VCPU}{total}, $written == 200 ? 6 : 8, '... and its content stays';
    is stock($p)->{VCPU}{total}, $undone == 200 ? 8 : 4, '... of the other provider, too';
};

subtest 'what is not kept' => sub {
    my ($p, $q, $c) = (provider(VCPU => 8), provider(VCPU => 8), uuid());
    my $made = claimed($c, undef, { $p => { VCPU => 2 }, $q => { VCPU => 1 } });
    is $instance->sql_value("SELECT COUNT(*) FROM former_resources f JOIN changes c ON c.id = f.change_id WHERE f.body LIKE '%$c%'"), 2, 'each provider has its part';
    $instance->sql("DELETE f FROM former_resources f JOIN resources r ON r.id = f.resource_id WHERE r.uid = UNHEX(REPLACE('$q', '-', ''))");
    is_deeply blocked(undo($made)), ["resourceproviders/$q not-kept"], 'a part of it is gone';
    is has($c)->{$p}{VCPU}, 2, 'nothing is changed';
};

subtest 'raced' => sub {
    my ($p, $q) = (provider(VCPU => 8), provider(VCPU => 8));
    for my $round (1 .. $rounds) {
        my ($c, $d) = (uuid(), uuid());
        claimed($c, undef, { $p => { VCPU => 5 } });
        my $moved = claimed($c, 1, { $q => { VCPU => 5 } });
        my ($undone, $taken) = Tenure::Parallel::answers(sub { undo($moved) }, sub { claim($d, undef, { $p => { VCPU => 4 } }) });
        ok(($undone->[0] == 200) + ($taken->[0] == 204) == 1, "an undo and a claim of the same room: $undone->[0], $taken->[0]");
        is $instance->count_changes_of($undone->[1]), $undone->[0] == 200 ? 2 : 0, '... whole or not at all';
        is_deeply has($c), { of => 'acme/ann/INSTANCE', $undone->[0] == 200 ? ($p => { VCPU => 5 }) : ($q => { VCPU => 5 }) }, '... as it says';
        $placement->request('DELETE', "/allocations/$_") for $c, $d;
    }
    for my $round (1 .. $rounds) {
        my $c = uuid();
        claimed($c, undef, { $p => { VCPU => 1 } });
        my $changed = claimed($c, 1, { $q => { VCPU => 2 } });
        my ($undone, $next) = Tenure::Parallel::answers(sub { undo($changed) }, sub { claim($c, 2, { $q => { VCPU => 3 } }) });
        ok(($undone->[0] == 200) + ($next->[0] == 204) == 1, "an undo and a change of the consumer: $undone->[0], $next->[0]");
        is_deeply has($c), { of => 'acme/ann/INSTANCE', $undone->[0] == 200 ? ($p => { VCPU => 1 }) : ($q => { VCPU => 3 }) }, '... one of them';
        $placement->request('DELETE', "/allocations/$c");
    }
    for my $round (1 .. $rounds) {
        my $c = uuid();
        claimed($c, undef, { $p => { VCPU => 1 } });
        my $removal = $placement->request('DELETE', "/allocations/$c");
        my ($undone, $made) = Tenure::Parallel::answers(sub { undo($removal) }, sub { claim($c, undef, { $q => { VCPU => 2 } }) });
        ok(($undone->[0] == 200) + ($made->[0] == 204) == 1, "the undo of a removal, and the consumer made anew: $undone->[0], $made->[0]");
        is_deeply has($c), { of => 'acme/ann/INSTANCE', $undone->[0] == 200 ? ($p => { VCPU => 1 }) : ($q => { VCPU => 2 }) }, '... one of them';
        $placement->request('DELETE', "/allocations/$c");
    }
    for my $round (1 .. $rounds) {
        my $c = uuid();
        my $made = claimed($c, undef, { $p => { VCPU => 1 } });
        my @answers = Tenure::Parallel::answers((sub { undo($made) }) x 2);
        is_deeply [sort map { $_->[0] } @answers], [200, 409], 'two undos: one is done, and one is refused';
        is_deeply [sort map { $instance->count_changes_of($_->[1]) } @answers], [0, 1], '... and left nothing';
    }
    is_deeply [used($p), used($q)], [{ VCPU => 0 }, { VCPU => 0 }], 'nothing is left over';
};
is((($instance->manage('doctor'))[0]), 0, 'the stored data keep their promises');
$instance->stop;
done_testing;
