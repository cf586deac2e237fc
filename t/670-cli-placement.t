#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure trait and provider: every verb against the placement API, and what two do to one provider at the same time.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Tool;

plan skip_all => 'tenure is not built' if !-x (Tenure::Instance::build_dir() // '') . '/tenure';
my $instance = Tenure::Instance->start(workers => 3);
my $admin    = $instance->admin;
my %who = (url => $instance->env('TENURE_ADMIN_URL'), token => $instance->operator_token);
# Each with a home of its own: what one has seen the other hasn't.
my ($ann, $bob) = map { Tenure::Tool->new(%who) } 1 .. 2;
my $uuid_re = qr/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
my @aggregate = map { "0000000$_-0000-4000-8000-00000000000$_" } 0 .. 3;

sub lines { my @lines = split /\n/, $_[0]{out}; return @lines }

# One column of a table, without its title.
sub column {
    my (@words) = @_;
    my (undef, @rows) = lines($ann->ends(0, @words, '--format', 'csv'));
    return join ',', @rows;
}

sub made {
    my (@words) = @_;
    my ($uuid) = $ann->ends(0, 'provider', 'create', @words)->{out} =~ /\A($uuid_re)\n\z/ or fail 'no UUID of a provider';
    return $uuid;
}

sub shown { return $ann->json('provider', 'show', @_) }

my %uuid;

subtest 'the catalogue' => sub {
    $ann->ends(0, qw(trait add CUSTOM_RED CUSTOM_BLUE CUSTOM_GREEN));
    is column(qw(trait list --starts-with CUSTOM_)), 'CUSTOM_BLUE,CUSTOM_GREEN,CUSTOM_RED', 'made and listed';
    is column(qw(trait list --name-in), 'HW_CPU_X86_AVX2,CUSTOM_RED,CUSTOM_NONE'), 'CUSTOM_RED,HW_CPU_X86_AVX2', 'those of a list';
    is column(qw(trait list --starts-with CUST_M)), '', 'a prefix is no pattern';
    is $ann->ends(0, qw(trait list --name-in HW_CPU_X86_AVX2 --long))->{out}, "NAME             STANDARD\nHW_CPU_X86_AVX2  true\n", 'a table';
    is_deeply $ann->json(qw(trait list --starts-with CUSTOM_R)), [{ name => 'CUSTOM_RED', standard => JSON::PP::false }], 'JSON';
    cmp_ok scalar @{ $ann->json('trait', 'list') }, '>', 300, 'all of them';
    is column(qw(trait show CUSTOM_RED --columns name)), 'CUSTOM_RED', 'shown';
    like $ann->ends(1, qw(trait show CUSTOM_NONE CUSTOM_RED --format csv))->{out}, qr/^CUSTOM_RED,false,false,$/m, 'one of two';
    $ann->ends(0, qw(trait add CUSTOM_RED));
    like $ann->ends(65, qw(trait add RED))->{err}, qr/CUSTOM_/, 'no custom name';
    $ann->ends(0, qw(trait remove CUSTOM_GREEN));
    $ann->ends(1, qw(trait remove CUSTOM_GREEN));
    like $ann->ends(65, qw(trait remove HW_CPU_X86_AVX2))->{err}, qr/standard/, 'a standard one stays';
    is $ann->run_with_input("CUSTOM_A\nCUSTOM_B\n", qw(trait add -))->{code}, 0, 'names on standard input';
    my $before = $instance->change_count;
    like $ann->ends(0, qw(trait add CUSTOM_X --dry-run))->{out},
        qr{\Acurl -X PUT .*OpenStack-API-Version: placement 1\.39.* '\S+/placement/traits/CUSTOM_X'\n\z}, 'a line of curl';
    is $instance->change_count, $before, 'which sends nothing';
    $ann->ends(64, qw(trait list --starts-with A --name-in B));
    $ann->ends(64, qw(trait show a/b));
};

subtest 'what is told about a trait' => sub {
    $ann->ends(0, qw(trait describe CUSTOM_A), 'made by A, "quoted"');
    is_deeply $ann->json(qw(trait describe CUSTOM_A --deprecated true)),
        { name => 'CUSTOM_A', standard => JSON::PP::false, deprecated => JSON::PP::true, description => 'made by A, "quoted"' }, 'described';
    is $ann->ends(0, qw(trait show CUSTOM_A HW_CPU_X86_AVX2 --format csv))->{out},
        qq{name,standard,deprecated,description\nCUSTOM_A,false,true,"made by A, ""quoted""\"\nHW_CPU_X86_AVX2,true,false,\n}, 'shown';
    $ann->ends(0, qw(trait describe CUSTOM_A), '');
    is_deeply $ann->json(qw(trait show CUSTOM_A))->[0],
        { name => 'CUSTOM_A', standard => JSON::PP::false, deprecated => JSON::PP::true, description => '' }, 'taken away';
    $ann->ends(65, qw(trait describe CUSTOM_A), 'x' x 1025);
    $ann->ends(1,  qw(trait describe CUSTOM_NONE x));
    $ann->ends(64, qw(trait describe CUSTOM_A));
    $ann->ends(64, qw(trait describe CUSTOM_A --deprecated maybe));
};

subtest 'providers' => sub {
    $uuid{site} = made('site');
    $uuid{rack} = made(qw(rack --parent site --uuid 11111111-2222-4333-8444-555555555555));
    is $uuid{rack}, '11111111-2222-4333-8444-555555555555', 'with its UUID';
    is_deeply [@{ shown('rack') }{qw(uuid name generation parent_provider_uuid root_provider_uuid)}],
        [$uuid{rack}, 'rack', 0, $uuid{site}, $uuid{site}], 'shown by its name';
    is shown($uuid{rack})->{name}, 'rack', 'and its UUID';
    is $ann->json('provider', 'create', 'two words')->{name}, 'two words', 'made, told as JSON';
    like $ann->ends(4, qw(provider create site))->{err}, qr/site already exists/, 'a name twice';
    like $ann->ends(1, qw(provider create x --parent nowhere))->{err}, qr/no provider "nowhere"/, 'below none';
    $ann->ends(1, qw(provider show nowhere));
    $ann->ends(1, qw(provider show 11111111-2222-4333-8444-000000000000));
    my $table = $ann->ends(0, qw(provider show rack))->{out};
    like $table, qr/^name +rack$/m, 'a table';
    unlike $table, qr/href/, 'without links';
    ok shown('rack')->{links}[0]{href}, 'which JSON has';
    is $ann->ends(0, qw(provider show site rack --columns), 'name,parent', qw(--format csv))->{out}, "name,parent\nsite,\nrack,$uuid{site}\n",
        'two of them';
    my @rows = lines($ann->ends(0, qw(provider list)));
    like $rows[0], qr/\AUUID +NAME +GENERATION +PARENT\z/, 'a list';
    like $rows[2], qr/\A$uuid{rack} +rack +0 +$uuid{site}\z/, 'with its rows';
};

subtest 'names, parents and etags' => sub {
    $_->ends(0, qw(provider show rack)) for $ann, $bob;
    $ann->ends(0, qw(provider set rack --name rack-7 --etag auto));
    like $bob->ends(5, 'provider', 'set', $uuid{rack}, qw(--name rack-8 --etag auto))->{err},
        qr/^  name  <- both changed it\n    base    "rack"\n    yours   "rack-8"\n    server  "rack-7"\n/m,
        'three values';
    $bob->ends(5, 'provider', 'set', $uuid{rack}, qw(--name rack-8 --etag auto --retry));
    like $bob->ends(5, 'provider', 'set', $uuid{rack}, qw(--name rack --etag auto --retry))->{err}, qr/^  name  <- both changed it\n/m, 'nor with the name that it had';
    $bob->ends(0, 'provider', 'set', $uuid{rack}, qw(--parent none --etag auto --retry));
    is_deeply [@{ shown('rack-7') }{qw(name parent_provider_uuid root_provider_uuid)}], ['rack-7', undef, $uuid{rack}], 'merged';
    like $ann->ends(0, qw(provider set rack-7 --parent site))->{err}, qr/without an etag/, 'a warning';
    is shown('rack-7')->{root_provider_uuid}, $uuid{site}, 'placed below another';
    like $ann->ends(65, qw(provider set site --parent rack-7 --no-etag))->{err}, qr/loop/, 'not below itself';
    like $ann->ends(4, qw(provider set site --name rack-7 --no-etag))->{err}, qr/already exists/, 'a name twice';
    $ann->ends(64, qw(provider set site --no-etag));
};

subtest 'inventories' => sub {
    $ann->ends(0, qw(provider inventory set rack-7 VCPU=8 VCPU:allocation_ratio=4 MEMORY_MB=1024 MEMORY_MB:reserved=24));
    is $ann->ends(0, qw(provider inventory list rack-7 --format csv))->{out},
        "class,total,reserved,used,ratio,min,max,step\nVCPU,8,0,0,4.0,1,2147483647,1\nMEMORY_MB,1024,24,0,1.0,1,2147483647,1\n", 'listed';
    $ann->ends(0, qw(provider inventory set rack-7 VCPU:max_unit=4 DISK_GB=100));
    is_deeply shown('rack-7', '--long')->{inventories}{VCPU},
        { total => 8, reserved => 0, min_unit => 1, max_unit => 4, step_size => 1, allocation_ratio => 4 }, 'what is not named stays';
    is_deeply $ann->json(qw(provider inventory set rack-7 VCPU=16 MEMORY_MB=2048 --replace))->{inventories}{VCPU}{allocation_ratio}, 1,
        'replaced: with defaults';
    is column(qw(provider inventory list rack-7 --columns class)), 'VCPU,MEMORY_MB', 'and without others';
    my $consumer = '99999999-2222-4333-8444-555555555555';
    $admin->put("/placement/allocations/$consumer", headers => { 'OpenStack-API-Version' => 'placement 1.39' },
        json => { allocations => { $uuid{rack} => { resources => { VCPU => 6 } } }, project_id => 'p', user_id => 'u',
            consumer_generation => undef, consumer_type => 'INSTANCE' })->is_status(204);
    is $ann->ends(0, qw(provider usages rack-7))->{out}, <<'TABLE', 'usages';
CLASS      USED  CAPACITY  FREE
VCPU       6     16        10
MEMORY_MB  0     2048      2048
TABLE
    like $ann->ends(4, qw(provider inventory delete rack-7 VCPU --yes))->{err}, qr/VCPU/, 'in use';
    like $ann->ends(4, qw(provider delete rack-7 --yes --no-etag))->{err}, qr/allocations/, 'a provider in use';
    $admin->delete("/placement/allocations/$consumer")->is_status(204);
    $ann->ends(64, qw(provider inventory delete rack-7 VCPU));
    $ann->ends(0, qw(provider inventory delete rack-7 MEMORY_MB --yes));
    is column(qw(provider inventory list rack-7 --columns class)), 'VCPU', 'one less';
    like $ann->ends(1, qw(provider inventory delete rack-7 MEMORY_MB --yes))->{err}, qr/no inventory of MEMORY_MB/, 'not twice';
    like $ann->ends(65, qw(provider inventory set rack-7 VGPU:reserved=1))->{err}, qr/'total' is a required property$/m, 'without its total, nor with its schema';
    like $ann->ends(65, qw(provider inventory set rack-7 NOTHING=1))->{err}, qr/NOTHING/, 'no such class';
    $ann->ends(0, qw(provider inventory delete rack-7 --all --yes));
    is column(qw(provider inventory list rack-7 --columns class)), '', 'none';
    $ann->ends(64, qw(provider inventory set rack-7), $_) for 'VCPU', 'VCPU=', 'VCPU=x', 'VCPU="1"', '=1', 'VCPU:size=1';
};

subtest 'traits' => sub {
    my $traits = sub { return column(qw(provider trait list rack-7)) };
    is $traits->(), '', 'none';
    $ann->ends(0, qw(provider trait add rack-7 CUSTOM_RED HW_CPU_X86_AVX2));
    $ann->ends(0, qw(provider trait remove rack-7 CUSTOM_RED));
    is $traits->(), 'HW_CPU_X86_AVX2', 'one by one';
    $ann->ends(1, qw(provider trait remove rack-7 CUSTOM_RED));
    is_deeply $ann->json(qw(provider trait set rack-7 CUSTOM_RED CUSTOM_BLUE))->{traits}, ['CUSTOM_BLUE', 'CUSTOM_RED'], 'exactly these';
    like $ann->ends(65, qw(provider trait set rack-7 CUSTOM_NONE))->{err}, qr/CUSTOM_NONE/, 'none of the catalogue';
    like $ann->ends(4, qw(trait remove CUSTOM_RED))->{err}, qr/in use/, 'the catalogue keeps it';
    like $ann->ends(0, qw(trait users CUSTOM_RED))->{out}, qr/\AUUID +NAME +ROOT\n$uuid{rack} +rack-7 +$uuid{site}\n\z/, 'for its user';
    is column(qw(trait users CUSTOM_B)), '', 'that of another, nobody';
    $ann->ends(1, qw(trait users CUSTOM_NONE));
    is column(qw(trait list --associated true)), 'CUSTOM_BLUE,CUSTOM_RED', 'those that providers have';
    $ann->ends(0, qw(provider trait remove rack-7 --all));
    is $traits->(), '', 'none again';
    $ann->ends(64, qw(provider trait remove rack-7));
};

subtest 'aggregates' => sub {
    my $aggregates = sub { return column(qw(provider aggregate list rack-7)) };
    $ann->ends(0, qw(provider aggregate set rack-7), $aggregate[1], uc $aggregate[2]);
    $ann->ends(0, qw(provider aggregate add rack-7), @aggregate[2, 3]);
    is $aggregates->(), join(',', @aggregate[1 .. 3]), 'added';
    $ann->ends(0, qw(provider aggregate remove rack-7), $aggregate[1]);
    like $ann->ends(1, qw(provider aggregate remove rack-7), $aggregate[1])->{err}, qr/has no $aggregate[1]/, 'not twice';
    is $aggregates->(), join(',', @aggregate[2, 3]), 'removed';
    like $ann->ends(65, qw(provider aggregate set rack-7 nonsense))->{err}, qr/nonsense/, 'no UUID';
};

subtest 'lists' => sub {
    my $found = sub { return column(qw(provider list --columns name), @_) };
    $ann->ends(0, qw(provider create p1));
    $ann->ends(0, qw(provider create p2));
    $ann->ends(0, qw(provider trait set p1 CUSTOM_RED CUSTOM_A));
    $ann->ends(0, qw(provider trait set p2 CUSTOM_RED CUSTOM_B));
    $ann->ends(0, qw(provider aggregate set p1), $aggregate[0]);
    $ann->ends(0, qw(provider inventory set p1 VCPU=4 DISK_GB=10));
    $ann->ends(0, qw(provider inventory set p2 VCPU=8));
    is $found->('--name', 'two words'), 'two words', 'by name';
    is $found->('--uuid', $uuid{rack}), 'rack-7', 'by UUID';
    is $found->(qw(--in-tree rack-7)), 'site,rack-7', 'a tree, by a name';
    is $found->(qw(--required CUSTOM_RED)), 'p1,p2', 'with a trait';
    is $found->(qw(--required CUSTOM_RED --required CUSTOM_A)), 'p1', 'with two';
    is $found->('--required', 'CUSTOM_A,CUSTOM_B'), 'p1,p2', 'with one of two';
    is $found->(qw(--required CUSTOM_RED --forbidden), 'CUSTOM_A,HW_CPU_X86_AVX2'), 'p2', 'without some';
    is $found->('--member-of', $aggregate[0]), 'p1', 'in an aggregate';
    is $found->('--member-of', "$aggregate[0],$aggregate[2]"), 'rack-7,p1', 'in one of two';
    is $found->(qw(--required CUSTOM_RED --not-member-of), "$aggregate[0],$aggregate[2]"), 'p2', 'in none';
    is $found->(qw(--resource VCPU=2)), 'p1,p2', 'with so much left';
    is $found->(qw(--resource VCPU=2 --resource DISK_GB=1)), 'p1', 'of two classes';
    is $found->(qw(--resource VCPU=5 --required CUSTOM_RED)), 'p2', 'several filters';
    like $ann->ends(65, qw(provider list --required CUSTOM_NONE))->{err}, qr/CUSTOM_NONE/, 'no such trait';
    $ann->ends(65, qw(provider list --member-of nonsense));
    $ann->ends(65, qw(provider list --resource VCPU));
    $ann->ends(1,  qw(provider list --in-tree nowhere));
    like $ann->ends(0, qw(provider list --long))->{out}, qr/\AUUID .* ROOT\n/, 'more columns';
};

subtest 'two at one provider' => sub {
    $ann->ends(0, qw(provider trait set p1 CUSTOM_A));
    $_->ends(0, qw(provider trait list p1)) for $ann, $bob;
    $ann->ends(0, qw(provider trait add p1 CUSTOM_RED --generation auto));
    my $run = $bob->ends(5, qw(provider trait set p1 CUSTOM_BLUE --generation auto));
    like $run->{err}, qr/generation (\d+), not (\d+)\n/, 'who is late is told';
    like $run->{err}, qr/^  CUSTOM_RED\n    base    \(none\)\n    yours   \(none\)\n    server  true\n/m, 'what the other did';
    like $run->{err}, qr/^  CUSTOM_BLUE\n    base    \(none\)\n    yours   true\n    server  \(none\)\n/m, 'and what was wanted';
    like $bob->ends(5, qw(provider trait set p1 CUSTOM_BLUE --generation auto --retry))->{err}, qr/just this/, 'exactly these is not merged';
    is column(qw(provider trait list p1)), 'CUSTOM_A,CUSTOM_RED', 'nothing is overwritten';
    $bob->ends(0, qw(provider trait add p1 CUSTOM_BLUE --generation auto --retry));
    is column(qw(provider trait list p1)), 'CUSTOM_A,CUSTOM_BLUE,CUSTOM_RED', 'one more is';
    $bob->ends(0, qw(provider trait remove p1 CUSTOM_A --generation auto));

    # Another part of it changed: the generation is not what it was, but the list is.
    $_->ends(0, qw(provider trait list p1)) for $ann, $bob;
    $ann->ends(0, qw(provider inventory set p1 VCPU=5));
    like $bob->ends(5, qw(provider trait set p1 CUSTOM_A --generation auto))->{err}, qr/its traits are as they were/, 'another part changed';
    $bob->ends(0, qw(provider trait set p1 CUSTOM_A --generation auto --retry));
    is column(qw(provider trait list p1)), 'CUSTOM_A', 'done again';

    $_->ends(0, qw(provider inventory list p1)) for $ann, $bob;
    $ann->ends(0, qw(provider inventory set p1 VCPU=6 --generation auto));
    like $bob->ends(5, qw(provider inventory set p1 VCPU=7 --generation auto --retry))->{err},
        qr/^  VCPU\.total  <- both changed it\n    base    5\n    yours   7\n    server  6\n/m, 'a field that both changed';
    $bob->ends(0, qw(provider inventory set p1 VCPU:reserved=1 --generation auto --retry));
    is_deeply [@{ shown('p1', '--long')->{inventories}{VCPU} }{qw(total reserved)}], [6, 1], 'two fields are merged';

    my $generation = shown('p1')->{generation};
    $ann->ends(0, qw(provider aggregate add p1), $aggregate[1], '--generation', $generation);
    like $bob->ends(5, qw(provider aggregate add p1), $aggregate[2], '--generation', $generation)->{err}, qr/is not remembered/, 'by hand';
    $bob->ends(64, qw(provider aggregate add p1), $aggregate[2], '--generation', 'x');
    $bob->ends(64, qw(provider aggregate add p2), $aggregate[2], '--generation', 'auto');
    $_->ends(0, qw(provider show p1)) for $ann, $bob;
    $ann->ends(0, qw(provider trait set p1 CUSTOM_RED --etag auto));
    $bob->ends(5, qw(provider trait set p1 CUSTOM_BLUE --etag auto));
    like $ann->ends(0, qw(provider trait set p1 CUSTOM_BLUE --dry-run))->{out},
        qr{\Acurl -X PUT .*"traits":\["CUSTOM_BLUE"\],"resource_provider_generation":\d+\}' '\S+/traits'\n\z}, 'a line of curl';
    is column(qw(provider trait list p1)), 'CUSTOM_RED', 'which sends nothing';
};

subtest 'many at one provider' => sub {
    my @runs = map { $ann->begin(undef, qw(provider aggregate add p2), sprintf('%08d-0000-4000-8000-000000000000', $_), '--retry') } 1 .. 8;
    is join(',', map { $ann->end($_)->{code} } @runs), '0,0,0,0,0,0,0,0', 'eight add an aggregate each';
    my @all = split /,/, column(qw(provider aggregate list p2));
    is scalar @all, 8, 'none is lost';
};

subtest 'deletion and recovery' => sub {
    like $ann->ends(4, qw(provider delete site --yes --no-etag))->{err}, qr/child/, 'not a parent';
    $ann->ends(64, qw(provider delete rack-7 --no-etag));
    $ann->ends(0, qw(provider show rack-7));
    $bob->ends(0, qw(provider trait add rack-7 CUSTOM_A));
    $ann->ends(5, qw(provider delete rack-7 --yes --etag auto));
    $ann->ends(0, qw(provider show rack-7));
    $ann->ends(0, qw(provider delete rack-7 --yes --etag auto));
    $ann->ends(1, 'provider', 'show', $uuid{rack});
    $ann->ends(0, 'resourceproviders', 'recover', $uuid{rack}, qw(-t system));
    is column(qw(provider trait list rack-7)), 'CUSTOM_A', 'back with its traits';
};

done_testing;
