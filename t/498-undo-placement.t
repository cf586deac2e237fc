#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo of what a provider has: traits, aggregates and inventories are what they were, under a new generation; refused with the reason if they
# changed since, if less would be left than is allocated, or if what was replaced is not kept. Raced by other writers.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Parallel;
use Tenure::Placement;
use Tenure::Tool;
use Tenure::Undo qw(undo_path reasons details);

my $rounds    = $ENV{TENURE_UNDO_ROUNDS} // 3;
my $instance  = Tenure::Instance->start;
my $admin     = $instance->admin;
my $placement = Tenure::Placement->new($admin, '1.39', '/placement');

sub undo    { my ($request, @more) = @_; return $admin->post(undo_path('system', $request), @more) }
sub preview { my ($request) = @_; return $admin->get(undo_path('system', $request)) }

sub at         { return "/resource_providers/$_[0]" . ($_[1] // '') }
sub generation { return $placement->get(at($_[0]))->json->{generation} }
sub etag       { return $admin->get("/v2.0/system/resourceproviders/$_[0]")->etag }
sub stock      { return $placement->get(at($_[0], '/inventories'))->json->{inventories} }
sub groups     { return [sort @{ $placement->get(at($_[0], '/aggregates'))->json->{aggregates} }] }
sub traits     { return [sort @{ $placement->get(at($_[0], '/traits'))->json->{traits} }] }

my $n = 0;

sub provider {
    my $uuid = Tenure::Placement::uuid();
    $placement->post('/resource_providers', json => { name => 'p' . ++$n, uuid => $uuid })->is_status(200);
    return $uuid;
}

sub put {
    my ($uuid, $what, $value) = @_;
    my $answer = $placement->request('PUT', at($uuid, "/$what"), json => { resource_provider_generation => generation($uuid), $what => $value });
    $answer->status == 200 or diag $answer->text;
    return $answer;
}

sub vcpu { return { VCPU => { total => $_[0], allocation_ratio => 1.5, reserved => 1, max_unit => $_[0], @_[1 .. $#_] } } }

# The consumer's new allocation of VCPU at the provider.
sub claim {
    my ($consumer, $uuid, $amount, $known) = @_;
    return $placement->request('PUT', "/allocations/$consumer", json => { allocations => { $uuid => { resources => { VCPU => $amount } } },
        project_id => 'p', user_id => 'u', consumer_generation => $known, consumer_type => 'INSTANCE' });
}

subtest 'inventories' => sub {
    my $p      = provider();
    my $first  = put($p, 'inventories', { %{ vcpu(8) }, DISK_GB => { total => 100, step_size => 5 } });
    my $before = stock($p);
    my @tags   = (etag($p));
    my $known  = generation($p);
    my $second = put($p, 'inventories', { %{ vcpu(4) }, MEMORY_MB => { total => 1024 } });
    my $other  = stock($p);
    push @tags, etag($p);
    my $preview = preview($second);
    $preview->is_status(200);
    my ($item) = @{ $preview->json->{items} };
    is_deeply [@$item{qw(resource action)}, $preview->json->{blockers}], ["resourceproviders/$p", 'restore', []], 'what would be done';
    is_deeply [map { [sort keys %{ $item->{$_}{inventories} }] } qw(now restored)], [['MEMORY_MB', 'VCPU'], ['DISK_GB', 'VCPU']], 'side by side';
    is_deeply $item->{restored}{inventories}, $before, '... as they are answered';
    like $admin->get(undo_path('system', $second), accept => 'application/xml')->text, qr/DISK_GB/, 'in XML, too';
    is_deeply stock($p), $other, 'the preview changes nothing';
    my $undone = undo($second, if_match => $preview->etag);
    $undone->is_status(200);
    is_deeply stock($p), $before, 'all of them, with ratios and steps';
    is generation($p), $known + 2, 'under a new generation';
    is scalar(grep { $_ eq etag($p) } @tags), 0, '... and a new etag';
    is $placement->request('PUT', at($p, '/inventories'), json => { resource_provider_generation => $_, inventories => {} })->status, 409, 'a stale generation stays stale'
        for $known, $known + 1;
    is $admin->delete("/v2.0/system/resourceproviders/$p", if_match => $_)->status, 412, 'a stale etag, too' for @tags;
    my ($row) = $instance->changes_of($undone);
    is $row->{verb}, 'updated', 'it is a change';
    is_deeply reasons(undo($second)), ['changed-since'], 'once more';
    my $again = undo($undone);
    $again->is_status(200, 'the undo of the undo');
    is_deeply stock($p), $other, 'is the change again';
    is_deeply reasons(undo($first)), ['changed-since'], 'the first is not the last';
};

subtest 'each call that changes inventories' => sub {
    my $p = provider();
    put($p, 'inventories', { %{ vcpu(8) }, DISK_GB => { total => 100 } });
    my $before = stock($p);
    my $one    = sub { my ($method, $path, $value) = @_;
        return $placement->request($method, at($p, $path), json => { resource_provider_generation => generation($p), %$value }) };
    my %done = (
        'one is added'    => sub { $one->('POST', '/inventories', { resource_class => 'MEMORY_MB', total => 5 }) },
        'one is changed'  => sub { $one->('PUT', '/inventories/VCPU', { total => 2 }) },
        'one is deleted'  => sub { $placement->request('DELETE', at($p, '/inventories/DISK_GB')) },
        'all are deleted' => sub { $placement->request('DELETE', at($p, '/inventories')) },
    );
    for my $what (sort keys %done) {
        my $request = $done{$what}->();
        ok $request->status < 300, $what;
        undo($request)->is_status(200, 'taken back');
        is_deeply stock($p), $before, '... to what was';
    }
};

subtest 'aggregates' => sub {
    my $p    = provider();
    my @uuid = map { Tenure::Placement::uuid() } 1 .. 3;
    put($p, 'aggregates', [@uuid[0, 1]]);
    my $known  = generation($p);
    my $second = put($p, 'aggregates', [@uuid[1, 2]]);
    my ($item) = @{ preview($second)->json->{items} };
    is_deeply [map { [sort @{ $item->{$_}{aggregates} }] } qw(now restored)], [[sort @uuid[1, 2]], [sort @uuid[0, 1]]], 'side by side';
    my $undone = undo($second);
    $undone->is_status(200);
    is_deeply groups($p), [sort @uuid[0, 1]], 'those of before';
    is generation($p), $known + 2, 'under a new generation';
    undo($undone)->is_status(200);
    is_deeply groups($p), [sort @uuid[1, 2]], 'the undo of the undo';
    my $none = put($p, 'aggregates', []);
    undo($none)->is_status(200);
    is_deeply groups($p), [sort @uuid[1, 2]], 'out of all, and back';
    put($p, 'inventories', vcpu(4));
    is_deeply reasons(undo($none)), ['changed-since'], 'something else changed since';
};

subtest 'traits' => sub {
    my $p = provider();
    put($p, 'traits', ['HW_CPU_X86_AVX']);
    my $known  = generation($p);
    my $second = put($p, 'traits', ['HW_CPU_X86_AVX2', 'HW_CPU_X86_SSE']);
    my $undone = undo($second);
    $undone->is_status(200);
    is_deeply traits($p), ['HW_CPU_X86_AVX'], 'those of before';
    is generation($p), $known + 2, 'under a new generation';
    undo($undone)->is_status(200);
    is_deeply traits($p), ['HW_CPU_X86_AVX2', 'HW_CPU_X86_SSE'], 'the undo of the undo';
};

subtest 'what is allocated' => sub {
    my $p       = provider();
    my ($i, $j) = map { Tenure::Placement::uuid() } 1, 2;
    put($p, 'inventories', { %{ vcpu(5) }, DISK_GB => { total => 10 } });
    my $larger = put($p, 'inventories', vcpu(101));
    claim($i, $p, 4, undef)->is_status(204);
    is_deeply reasons(preview($larger)), [], 'what fits the old capacity of 6 is not in the way';
    claim($j, $p, 3, undef)->is_status(204);
    my $refused = undo($larger);
    $refused->is_status(409);
    is_deeply reasons($refused), ['conflict'], 'what does not is';
    like details($refused), qr/VCPU: 6 of 7/, '... with the numbers';
    is stock($p)->{VCPU}{total}, 101, 'nothing is changed';
    $placement->request('DELETE', "/allocations/$j")->is_status(204);
    undo($larger)->is_status(200, 'it fits again');
    is $placement->get(at($p, '/usages'))->json->{usages}{VCPU}, 4, 'what is allocated stays';
    my $more = put($p, 'inventories', { %{ vcpu(5) }, MEMORY_MB => { total => 10 } });
    $placement->request('PUT', "/allocations/$j", json => { allocations => { $p => { resources => { MEMORY_MB => 1 } } }, project_id => 'p', user_id => 'u',
        consumer_generation => undef, consumer_type => 'INSTANCE' })->is_status(204);
    $refused = undo($more);
    is_deeply reasons($refused), ['conflict'], 'a class that is allocated does not go';
    like details($refused), qr/MEMORY_MB/, '... and is named';
    put($p, 'traits', ['HW_CPU_X86_AVX']);
    claim($j, $p, 1, 1)->is_status(204);
    is_deeply reasons(undo($more)), ['changed-since'], 'a change behind an allocation is found';
};

subtest 'what is not there' => sub {
    my $p = provider();
    put($p, 'inventories', vcpu(4));
    $placement->request('PUT', '/resource_classes/CUSTOM_GONE')->is_status(201);
    put($p, 'inventories', { CUSTOM_GONE => { total => 1 } });
    my $third = put($p, 'inventories', vcpu(4));
    $placement->request('DELETE', '/resource_classes/CUSTOM_GONE')->is_status(204);
    my $refused = undo($third);
    is_deeply reasons($refused), ['bad-document'], 'a class that is deleted';
    like details($refused), qr/CUSTOM_GONE/, '... is named';
    $placement->request('PUT', '/resource_classes/CUSTOM_GONE')->is_status(201);
    undo($third)->is_status(200, 'it is made again');
    is_deeply [sort keys %{ stock($p) }], ['CUSTOM_GONE'], '... and the provider has it';
    $third = put($p, 'inventories', vcpu(4));
    $placement->request('DELETE', '/resource_classes/CUSTOM_GONE')->is_status(204);
    $instance->sql('DELETE FROM former_resources');
    is_deeply reasons(undo($third)), ['not-kept'], 'what is not kept';
    $placement->request('DELETE', at($p))->is_status(204);
    is_deeply reasons(undo($third)), ['changed-since', 'not-kept'], 'a provider that is deleted: every reason';
};

# Before 1.7 a class that is in use may be renamed.
subtest 'a class that was renamed' => sub {
    my $p      = provider();
    my $make   = sub { $placement->request('PUT', "/resource_classes/$_[0]")->is_status(201, "$_[0] is made") };
    my $rename = sub { my ($from, $to) = @_;
        Tenure::Placement->new($admin, '1.6', '/placement')->request('PUT', "/resource_classes/$from", json => { name => $to })->is_status(200, "$from is $to now") };
    my $totals = sub { my $stock = stock($p); return { map { $_ => $stock->{$_}{total} } keys %$stock } };
    $make->('CUSTOM_OLD');
    put($p, 'inventories', { CUSTOM_OLD => { total => 5 }, %{ vcpu(4) } });
    my $before  = stock($p);
    my $changed = put($p, 'inventories', { CUSTOM_OLD => { total => 6 } });
    my ($item) = @{ preview($changed)->json->{items} };
    is_deeply $item->{restored}{inventories}, $before, 'the preview shows what there was';
    $rename->('CUSTOM_OLD', 'CUSTOM_NEW');
    $make->('CUSTOM_OLD');
    my $undone = undo($changed);
    $undone->is_status(200, 'it is found, beside another class of its former name');
    is_deeply $totals->(), { CUSTOM_NEW => 5, VCPU => 4 }, '... and has its old total';
    undo($undone)->is_status(200);
    is_deeply $totals->(), { CUSTOM_NEW => 6 }, 'the undo of the undo';
    my ($newest) = @{ $admin->get("/v2.0/system/history?resource=$p")->json->{history} };
    is_deeply [map { [sort keys %{ $newest->{$_}{inventories}{CUSTOM_NEW} }] } qw(before after)], [([sort keys %{ stock($p)->{CUSTOM_NEW} }]) x 2],
        'the history shows inventories as they are answered';
    my $none = put($p, 'inventories', {});
    $placement->request('DELETE', '/resource_classes/CUSTOM_NEW')->is_status(204);
    is_deeply reasons(undo($none)), ['bad-document'], 'a class that is gone';
    put($p, 'inventories', { CUSTOM_OLD => { total => 1 } });
    $make->('CUSTOM_NEW');
    put($p, 'inventories', { CUSTOM_OLD => { total => 1 }, CUSTOM_NEW => { total => 2 } });
    $none = put($p, 'inventories', {});
    $placement->request('DELETE', '/resource_classes/CUSTOM_NEW')->is_status(204);
    $rename->('CUSTOM_OLD', 'CUSTOM_NEW');
    my $refused = undo($none);
    is_deeply reasons($refused), ['conflict'], 'one that is gone, and whose name another one of them has';
    like details($refused), qr/CUSTOM_NEW was deleted since, and another one has its name/, '... is named';
};

subtest 'who may' => sub {
    $admin->make_tenant('t1');
    my $p = provider();
    put($p, 'inventories', vcpu(4));
    $admin->post("/v2.0/system/resourceproviders/$p/action/move?dest=t1")->is_status(303);
    my $changed = put($p, 'inventories', vcpu(5));
    my $path    = undo_path('t1', $changed);
    for my $who ('ann:t1:member', 'boss:t1:admin') {
        $instance->service($who)->get($path)->is_status(403, "$who sees nothing of it");
        $instance->service($who)->post($path)->is_status(403, '... and takes nothing back');
    }
    $admin->post($path)->is_status(200, 'an operator does');
    is stock($p)->{VCPU}{total}, 4, 'it is what it was';
};

subtest 'the history shows values' => sub {
    my $p    = provider();
    my ($one, $two) = map { Tenure::Placement::uuid() } 1, 2;
    my @stocks = ({});
    my @ratio = (allocation_ratio => 1.1);
    for my $value (vcpu(3, @ratio), vcpu(4, @ratio), { %{ vcpu(4, @ratio) }, DISK_GB => { total => 7 } }) {
        put($p, 'inventories', $value);
        push @stocks, stock($p);
    }
    put($p, 'aggregates', [$one]);
    put($p, 'aggregates', [$two]);
    my @pages = map { @{ $admin->get("/v2.0/system/history?resource=$p&limit=100&before=$_")->json->{history} } } 9999999;
    my @stock = grep { "@{ $_->{fields} // [] }" eq '/inventories' } @pages;
    is_deeply [map { $_->{after}{inventories} } reverse @stock], [@stocks[1 .. 3]], 'inventories after each change, as they are answered';
    is_deeply [map { $_->{before}{inventories} } reverse @stock], [@stocks[0 .. 2]], '... and before';
    my @ratios = $admin->get("/v2.0/system/history?resource=$p&limit=100")->text =~ /"allocation_ratio": ?([^,}]+)/g;
    is_deeply [grep { !/\A1(?:\.1)?\z/ } @ratios], [], '... with ratios as short as they are written' or diag "@ratios";
    cmp_ok scalar(grep { $_ eq '1.1' } @ratios), '>', 2, '... all of them';
    ok !grep({ exists $_->{after}{metadata} } @stock), '... in place of the document';
    my @groups = grep { "@{ $_->{fields} // [] }" eq '/aggregates' } @pages;
    is_deeply [map { [$_->{before}{aggregates}, $_->{after}{aggregates}] } @groups], [[[$one], [$two]], [[], [$one]]], 'aggregates';
    is_deeply [$admin->list("/v2.0/system/history?resource=$p&limit=1", 'history')], \@pages, 'page by page the same';
    my $tool = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => 'admin', tenant => 'system');
    my $told = $tool->ends(0, 'history', $p)->{out};
    like $told, qr/VCPU.*\n?.*3.*\n?.*4/, 'tenure history shows what differs' or diag $told;
    like $told, qr/DISK_GB/, '... and what came';
    $admin->make_tenant('owner');
    $admin->post("/v2.0/system/resourceproviders/$p/action/move?dest=owner")->is_status(303);
    put($p, 'inventories', vcpu(6));
    my ($newest) = @{ $admin->get("/v2.0/owner/history?resource=$p")->json->{history} };
    is $newest->{after}{inventories}{VCPU}{total}, 6, 'at another tenant, for operators';
    my $own = $instance->service('ann:owner')->get("/v2.0/owner/history?resource=$p");
    is_deeply $own->json->{history}[0]{fields}, ['/inventories'], 'its user sees that there was a change';
    unlike $own->text, qr/VCPU/, '... and no values';
    $admin->post("/v2.0/owner/resourceproviders/$p/action/move?dest=system")->is_status(303);
    put($p, 'inventories', vcpu(9));
    my (undef, $last) = grep { "@{ $_->{fields} // [] }" eq '/inventories' } @{ $admin->get("/v2.0/system/history?resource=$p")->json->{history} };
    is_deeply $last->{after}{inventories}, $stocks[3], 'back again, without what changed there';
};

subtest 'raced' => sub {
    my $p = provider();
    put($p, 'inventories', vcpu(5));
    for my $round (1 .. $rounds) {
        my $larger = put($p, 'inventories', vcpu(11));
        my @answers = Tenure::Parallel::answers((sub { undo($larger) }) x 2);
        is_deeply [sort map { $_->[0] } @answers], [200, 409], 'two undos: one is done, and one is refused';
        is_deeply [sort map { $instance->count_changes_of($_->[1]) } @answers], [0, 1], '... and left nothing';
        is stock($p)->{VCPU}{total}, 5, 'the old content';
    }
    for my $round (1 .. $rounds) {
        my $larger   = put($p, 'inventories', vcpu(11));
        my $consumer = Tenure::Placement::uuid();
        my ($undone, $claimed) = Tenure::Parallel::answers(sub { undo($larger) }, sub { claim($consumer, $p, 10, undef) });
        my $capacity = $undone->[0] == 200 ? 6 : 15;
        ok(($undone->[0] == 200) + ($claimed->[0] == 204) == 1, "an undo and a claim: $undone->[0], $claimed->[0]: one of them");
        is $instance->count_changes_of($undone->[1]), $undone->[0] == 200 ? 1 : 0, '... whole or not at all';
        ok $placement->get(at($p, '/usages'))->json->{usages}{VCPU} <= $capacity, 'no more is allocated than there is';
        $placement->request('DELETE', "/allocations/$consumer");
        put($p, 'inventories', vcpu(5));
    }
    for my $round (1 .. $rounds) {
        my $larger     = put($p, 'inventories', vcpu(11));
        my $generation = generation($p);
        my ($undone, $changed) = Tenure::Parallel::answers(sub { undo($larger) }, sub {
            $placement->request('PUT', at($p, '/inventories'), json => { resource_provider_generation => $generation, inventories => vcpu(21) }) });
        ok(($undone->[0] == 200) + ($changed->[0] == 200) == 1, "an undo and a change: $undone->[0], $changed->[0]: one of them");
        is stock($p)->{VCPU}{total}, $undone->[0] == 200 ? 5 : 21, '... and its content';
        put($p, 'inventories', vcpu(5));
    }
};
is((($instance->manage('doctor'))[0]), 0, 'the stored data keep their promises');
$instance->stop;
done_testing;
