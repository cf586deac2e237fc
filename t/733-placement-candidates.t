#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# GET /allocation_candidates: forms by microversion, random forests against an enumeration of the rules, limits, settings,
# what would take the real service minutes, and refusals. TENURE_SEED repeats the random part.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use List::Util ();
use Test::More;

use Tenure::Memory;
use Tenure::Candidates qw(expected);
use Tenure::Instance;
use Tenure::Placement qw(is_error uuid);

my $seed = $ENV{TENURE_SEED} // int(rand 1e9);
diag "TENURE_SEED=$seed";

my $instance  = Tenure::Instance->start(placement => 1);
my $placement = Tenure::Placement->new($instance->placement, '1.39');

# The answer to a query; at 1.39, or as version 1.minor.
sub ask {
    my ($query, $minor) = @_;
    my $response = $placement->version('1.' . ($minor // 39))->get("/allocation_candidates?$query");
    $response->is_status(200, $query);
    return $response->json;
}

# The uuids of all that give something, once for each candidate.
sub providers_of { my ($answer) = @_; return sort map { keys %{ $_->{allocations} } } @{ $answer->{allocation_requests} } }

subtest 'forms by version' => sub {
    my $root = $placement->provider('forms');
    my $child = $placement->provider('forms-child', parent => $root);
    $placement->inventories($root, VCPU => { total => 8, max_unit => 8, allocation_ratio => 2 }, MEMORY_MB => { total => 64, max_unit => 64 });
    $placement->inventories($child, SRIOV_NET_VF => { total => 4, max_unit => 4 });
    $placement->traits($root, 'HW_CPU_X86_AVX');
    my $consumer = uuid();
    $placement->put("/allocations/$consumer", json => { allocations => { $root => { resources => { VCPU => 3 } } }, project_id => 'p',
        user_id => 'u', consumer_generation => undef, consumer_type => 'INSTANCE' })->is_status(204);
    is_error($placement->version('1.9')->get('/allocation_candidates?resources=VCPU:1'), 404, undef, name => 'from 1.10 on');
    is_deeply ask('resources=VCPU:2', 10), {
        allocation_requests => [ { allocations => [ { resource_provider => { uuid => $root }, resources => { VCPU => 2 } } ] } ],
        provider_summaries  => { $root => { resources => { VCPU => { capacity => 16, used => 3 } } } } }, '1.10: a list';
    is_deeply ask('resources=VCPU:2', 12)->{allocation_requests}, [ { allocations => { $root => { resources => { VCPU => 2 } } } } ], '1.12: a map';
    is_deeply ask('resources=VCPU:2', 17)->{provider_summaries}{$root}{traits}, ['HW_CPU_X86_AVX'], '1.17: traits';
    is_deeply [ sort keys %{ ask('resources=VCPU:2', 27)->{provider_summaries}{$root}{resources} } ], [qw(MEMORY_MB VCPU)], '1.27: all classes';
    is_deeply [ keys %{ ask('resources=VCPU:2', 28)->{provider_summaries} } ], [$root], 'to 1.28 only who gives something';
    is_deeply ask('resources=VCPU:2', 29)->{provider_summaries}, {
        $root  => { resources => { VCPU => { capacity => 16, used => 3 }, MEMORY_MB => { capacity => 64, used => 0 } }, traits => ['HW_CPU_X86_AVX'],
            parent_provider_uuid => undef, root_provider_uuid => $root },
        $child => { resources => { SRIOV_NET_VF => { capacity => 4, used => 0 } }, traits => [], parent_provider_uuid => $root, root_provider_uuid => $root },
    }, '1.29: the tree';
    for my $first ('!HW_CPU_X86_AVX', 'HW_CPU_X86_AVX,,X', 'in:HW_CPU_X86_AVX', 'CUSTOM_NO', '') {
        is_deeply [ providers_of(ask("resources=VCPU:1&required=$first&required=HW_CPU_X86_AVX", 21)) ], [$root], "to 1.38 the last 'required' counts alone, after '$first'";
    }
    is_deeply [ providers_of(ask('resources=VCPU:1&resources1=VCPU:1&required1=,&required=HW_CPU_X86_AVX&required1=HW_CPU_X86_AVX', 38)) ], [$root],
        '... in each group';
    is_deeply [ providers_of(ask('resources=VCPU:1&required=!HW_CPU_X86_AVX&required1=HW_CPU_X86_AVX&resources1=VCPU:1', 38)) ], [],
        '... and not that of another one';
    my $rack = uuid();
    $placement->aggregates($root, $rack);
    is_deeply [ providers_of(ask('resources=VCPU:1&member_of=in:' . join ',', (map { uuid() } 1 .. 99), $rack)) ], [$root],
        'in one of a hundred aggregates, as an availability zone may have';
    is_deeply ask('resources=VCPU:1,SRIOV_NET_VF:1', 28), { allocation_requests => [], provider_summaries => {} }, 'to 1.28 no two of a tree';
    is scalar @{ ask('resources=VCPU:1,SRIOV_NET_VF:1', 29)->{allocation_requests} }, 1, 'from 1.29 on';
    is_deeply ask('resources=VCPU:1&resources1=SRIOV_NET_VF:2', 34)->{allocation_requests},
        [ { allocations => { $root => { resources => { VCPU => 1 } }, $child => { resources => { SRIOV_NET_VF => 2 } } },
            mappings => { '' => [$root], 1 => [$child] } } ], '1.34: mappings';
    my $candidate = ask('resources=VCPU:1&resources_NET=SRIOV_NET_VF:2')->{allocation_requests}[0];
    $placement->put('/allocations/' . uuid(), json => { %$candidate, project_id => 'p', user_id => 'u', consumer_generation => undef,
        consumer_type => 'INSTANCE' })->is_status(204, 'a candidate is what PUT /allocations takes');
    my $response = $placement->version('1.15')->get('/allocation_candidates?resources=VCPU:1');
    is $response->header('cache-control'), 'no-cache', '1.15: Cache-Control';
    ok $response->header('last-modified'), 'and Last-Modified';
    is $placement->version('1.14')->get('/allocation_candidates?resources=VCPU:1')->header('cache-control'), undef, 'not before';
    $instance->sql("UPDATE tenants SET deleted_at = UTC_TIMESTAMP(6) WHERE name = 'system'");
    is_deeply ask('resources=VCPU:2'), { allocation_requests => [], provider_summaries => {} }, 'what is a deleted tenant\'s is not there';
    $instance->sql("UPDATE tenants SET deleted_at = NULL WHERE name = 'system'");
    is scalar @{ ask('resources=VCPU:2')->{allocation_requests} }, 1, 'and is again';
    $placement->delete("/resource_providers/$_/inventories") for $child;
    $placement->put("/allocations/$_", json => { allocations => {}, project_id => 'p', user_id => 'u', consumer_generation => 1, consumer_type => 'INSTANCE' })
        for $consumer;
};

# ---- random forests

my @classes    = qw(CUSTOM_A CUSTOM_B CUSTOM_C);
my @traits     = qw(HW_CPU_X86_AVX HW_CPU_X86_SSE STORAGE_DISK_SSD);
my @aggregates = map { uuid() } 1 .. 3;

sub one_in { my ($n) = @_; return int(rand $n) == 0 }
sub some { my ($n, @of) = @_; return grep { one_in($n) } @of }

sub make_forest {
    my ($round) = @_;
    my @forest;
    for my $tree (1 .. 1 + int rand 4) {
        my $root = @forest;
        for my $k (0 .. int rand 4) {
            my $parent = $k == 0 ? undef : $root + int rand $k;
            my %provider = (root => $root, parent => $parent, used => {});
            $provider{uuid} = $placement->provider("r$round-$tree-$k", defined $parent ? (parent => $forest[$parent]{uuid}) : ());
            $provider{inventories} = { map { $_ => { total => 1 + int rand 6, min_unit => 1, max_unit => 1 + int rand 6, step_size => 1 + one_in(8),
                allocation_ratio => one_in(3) ? 1.5 : 1 } } some(2, @classes) };
            my @has = (some(2, @traits), one_in($k ? 12 : 3) ? 'MISC_SHARES_VIA_AGGREGATE' : ());
            my @in = some(3, @aggregates);
            $provider{traits} = { map { $_ => 1 } @has };
            $provider{aggregates} = { map { $_ => 1 } @in };
            $placement->inventories($provider{uuid}, %{ $provider{inventories} }) if %{ $provider{inventories} };
            $placement->traits($provider{uuid}, @has) if @has;
            $placement->version('1.1')->put("/resource_providers/$provider{uuid}/aggregates", json => \@in)->is_status(200) if @in;
            for my $class (some(3, sort keys %{ $provider{inventories} })) {
                my $has = $provider{inventories}{$class};
                next if $has->{step_size} > 1 || int($has->{total} * $has->{allocation_ratio}) < 1;
                $placement->put('/allocations/' . uuid(), json => { allocations => { $provider{uuid} => { resources => { $class => 1 } } },
                    project_id => 'p', user_id => 'u', consumer_generation => undef, consumer_type => 'INSTANCE' })->is_status(204);
                $provider{used}{$class} = 1;
            }
            push @forest, \%provider;
        }
    }
    return \@forest;
}

sub make_request {
    my ($forest) = @_;
    my @suffixes = some(2, '', '1', '_N');
    @suffixes = ('1') if !@suffixes;
    my %request = (groups => [], isolate => one_in(2));
    for my $suffix (@suffixes) {
        my %group = (suffix => $suffix, resources => { map { $_ => 1 + int rand 2 } some(2, @classes) }, required => [], forbidden => [], member_of => [],
            not_member_of => []);
        $group{resources}{ $classes[0] } //= 1 if !%{ $group{resources} };
        push @{ $group{required} }, [ map { $traits[$_] } one_in(2) ? 0 : (1, 2) ] if one_in(4);
        $group{forbidden} = [ $traits[2] ] if one_in(6) && !@{ $group{required} };
        push @{ $group{member_of} }, [ one_in(2) ? $aggregates[0] : @aggregates[1, 2] ] if one_in(5);
        $group{not_member_of} = [ $aggregates[1] ] if one_in(8);
        $group{in_tree} = $forest->[ int rand @$forest ]{root} if one_in(8);
        push @{ $request{groups} }, \%group;
    }
    $request{root_required}  = [ $traits[0] ] if one_in(6);
    $request{root_forbidden} = [ $traits[1] ] if one_in(6);
    $request{subtree} = [ grep { $_ ne '' } @suffixes ] if one_in(3) && grep { $_ ne '' } @suffixes;
    return \%request;
}

sub query_of {
    my ($forest, $request) = @_;
    my @pairs;
    for my $group (@{ $request->{groups} }) {
        my $s = $group->{suffix};
        push @pairs, "resources$s=" . join ',', map { "$_:$group->{resources}{$_}" } sort keys %{ $group->{resources} };
        push @pairs, map { "required$s=in:" . join ',', @$_ } @{ $group->{required} };
        push @pairs, "required$s=" . join ',', map { "!$_" } @{ $group->{forbidden} } if @{ $group->{forbidden} };
        push @pairs, map { "member_of$s=in:" . join ',', @$_ } @{ $group->{member_of} };
        push @pairs, "member_of$s=!in:" . join ',', @{ $group->{not_member_of} } if @{ $group->{not_member_of} };
        push @pairs, "in_tree$s=$forest->[$group->{in_tree}]{uuid}" if defined $group->{in_tree};
    }
    push @pairs, 'group_policy=' . ($request->{isolate} ? 'isolate' : 'none');
    my @root = (@{ $request->{root_required} // [] }, map { "!$_" } @{ $request->{root_forbidden} // [] });
    push @pairs, 'root_required=' . join ',', @root if @root;
    push @pairs, 'same_subtree=' . join ',', @{ $request->{subtree} } if $request->{subtree};
    return join '&', @pairs;
}

# The candidates as an answer tells them: what each provider gives, and the mappings.
sub told {
    my ($answer) = @_;
    my %told;
    for my $request (@{ $answer->{allocation_requests} }) {
        my @gives = map { my $p = $_; map { "$p $_ $request->{allocations}{$p}{resources}{$_}" } keys %{ $request->{allocations}{$p}{resources} } } keys %{ $request->{allocations} };
        my @maps = map { "'$_' " . join ',', sort @{ $request->{mappings}{$_} } } keys %{ $request->{mappings} };
        $told{ join '; ', (sort @gives), (sort @maps) }++;
    }
    return \%told;
}

# The same of what is expected, from its parts.
sub expected_as_told {
    my ($forest, $request) = @_;
    my %told;
    for my $text (keys %{ expected($forest, $request) }) {
        my (%gives, %maps);
        for my $part (split / /, $text) {
            my ($suffix, $names, $at) = $part =~ /\A([^.]*)\.([^=]*)=(\d+)\z/ or die $part;
            my ($group) = grep { $_->{suffix} eq $suffix } @{ $request->{groups} };
            $gives{"$forest->[$at]{uuid} $_"} += $group->{resources}{$_} for split /,/, $names;
            $maps{$suffix}{ $forest->[$at]{uuid} } = 1;
        }
        $told{ join '; ', (sort map { "$_ $gives{$_}" } keys %gives), (sort map { "'$_' " . join ',', sort keys %{ $maps{$_} } } keys %maps) }++;
    }
    return \%told;
}

subtest 'random forests' => sub {
    srand $seed;
    $placement->put("/resource_classes/$_")->is_status(201) for @classes;
    my ($some, $trees) = (0, 0);
    for my $round (1 .. 5) {
        my $forest = make_forest($round);
        for (1 .. 25) {
            my $request = make_request($forest);
            my ($query, $want) = (query_of($forest, $request), expected_as_told($forest, $request));
            my $answer = ask($query);
            is_deeply told($answer), $want, "round $round: " . keys(%$want) . ' candidates';
            $some++ if %$want;
            my %roots = map { $_ => 1 } map { my $uuid = $_; map { $_->{root} } grep { $_->{uuid} eq $uuid } @$forest } providers_of($answer);
            is_deeply [ sort keys %{ $answer->{provider_summaries} } ], [ sort map { $_->{uuid} } grep { $roots{ $_->{root} } } @$forest ], 'and the trees that give something';
        }
        # Nothing of one round is found in the next.
        for my $provider (@$forest) {
            my $allocations = $placement->get("/resource_providers/$provider->{uuid}/allocations")->json->{allocations};
            $placement->delete("/allocations/$_") for keys %$allocations;
        }
        $placement->delete("/resource_providers/$_->{uuid}")->is_status(204) for reverse @$forest;
    }
    cmp_ok $some, '>', 15, 'many requests have candidates';
};

subtest 'limit' => sub {
    $placement->put('/resource_classes/CUSTOM_VF')->is_status(201);
    my (@hosts, %host_of);
    for my $n (1 .. 40) {
        my $host = $placement->provider("limit-$n");
        push @hosts, $host;
        for my $k (1, 2) {
            my $device = $placement->provider("limit-$n-$k", parent => $host);
            $placement->inventories($device, CUSTOM_VF => { total => 8, max_unit => 8 });
            $host_of{$device} = $host;
        }
    }
    is scalar @{ ask('resources=CUSTOM_VF:1')->{allocation_requests} }, 80, 'all';
    my @first = providers_of(ask('resources=CUSTOM_VF:1&limit=30'));
    is scalar @first, 30, 'thirty';
    is scalar keys %{ { map { $host_of{$_} => 1 } @first } }, 30, 'of as many hosts';
    is_deeply [ providers_of(ask('resources=CUSTOM_VF:1&limit=30')) ], \@first, 'the same ones again';
    is scalar keys %{ ask('resources=CUSTOM_VF:1&limit=30')->{provider_summaries} }, 90, 'and their trees';
    my %times;
    $times{ $host_of{$_} }++ for providers_of(ask('resources=CUSTOM_VF:1&limit=50'));
    is_deeply [ scalar(keys %times), scalar(grep { $_ == 2 } values %times) ], [ 40, 10 ], 'fifty: one of each host, before a second one';
    is scalar @{ ask('resources=CUSTOM_VF:1&limit=1000000000000000000000')->{allocation_requests} }, 80, 'a limit beyond all numbers';
    is scalar @{ ask('resources=CUSTOM_VF:1&limit=5&limit=6')->{allocation_requests} }, 5, 'the first of two counts';
    my $random = Tenure::Instance->start(placement => 1, settings => { 'placement.randomize_allocation_candidates' => 'yes', 'placement.max_allocation_candidates' => 12 });
    my $other = Tenure::Placement->new($random->placement, '1.39');
    for my $n (1 .. 30) {
        my $host = $other->provider("random-$n");
        $other->inventories($host, VCPU => { total => 8, max_unit => 8 });
    }
    my @answers = map { [ providers_of($other->get('/allocation_candidates?resources=VCPU:1')->json) ] } 1 .. 4;
    is_deeply [ map { scalar @$_ } @answers ], [ (12) x 4 ], 'max_allocation_candidates';
    my %differ = map { join(',', @$_) => 1 } @answers;
    cmp_ok scalar(keys %differ), '>', 1, 'randomize_allocation_candidates: not always the same';
    is scalar @{ $other->get('/allocation_candidates?resources=VCPU:1&limit=7')->json->{allocation_requests} }, 7, 'a limit below the maximum';
    $random->stop;
};

# 262,144 and 20,160 candidates on one host: what is answered is made, and no more; and without a limit memory is not needed
# for the number of candidates.
subtest 'many equal devices' => sub {
    $placement->put('/resource_classes/CUSTOM_DEVICE')->is_status(201);
    my $host = $placement->provider('devices');
    for my $k (1 .. 8) {
        my $device = $placement->provider("device-$k", parent => $host);
        $placement->inventories($device, CUSTOM_DEVICE => { total => 8, max_unit => 8 });
    }
    my $six = join '&', map { "resources$_=CUSTOM_DEVICE:1" } 1 .. 6;
    for my $policy ('isolate', 'none') {
        my $answer = ask("$six&group_policy=$policy&limit=1000");
        is scalar @{ $answer->{allocation_requests} }, 1000, "group_policy=$policy: a thousand";
        is scalar keys %{ told($answer) }, 1000, 'all of them different';
    }
    my $shared = $placement->get("/allocation_candidates?$six&group_policy=none&limit=1000");
    unlike $shared->text, qr/"CUSTOM_DEVICE":\d+,"CUSTOM_DEVICE"/, 'groups that share a device: it names the class once';
    my $sum_of = sub { my ($candidate) = @_; return List::Util::sum(map { $_->{resources}{CUSTOM_DEVICE} } values %{ $candidate->{allocations} }) };
    is scalar(grep { $sum_of->($_) != 6 } @{ $shared->json->{allocation_requests} }), 0, '... with the sum of them';
    my @workers = grep { !Tenure::Memory::is_sanitized($_) } Tenure::Instance::children_of($instance->master_pid('placement'));
    Tenure::Memory::reset_peaks(@workers);
    my $before = Tenure::Memory::peak_kb(@workers);
    my $all = $placement->get("/allocation_candidates?$six&group_policy=none");
    is $all->status, 200, 'without a limit';
    is scalar(() = $all->text =~ /"mappings"/g), 262_144, 'all of them';
    cmp_ok Tenure::Memory::peak_kb(@workers) - $before, '<', 16 * 1024, 'and no worker grows by 16 MiB' if @workers;
    my $nine = join '&', map { "resources$_=CUSTOM_DEVICE:8" } 1 .. 9;
    is_deeply ask("$nine&group_policy=none")->{allocation_requests}, [], 'nine that need a device each: none, at once';
    is_deeply ask("$nine&group_policy=isolate")->{allocation_requests}, [], 'isolated, too';
};

subtest 'what is refused' => sub {
    my @cases = (
        [ 10, '', qr/'resources' is a required property/ ],
        [ 15, 'resources=VCPU:1&limit=1', qr/'limit' was unexpected/ ],
        [ 16, 'resources=VCPU:1&limit=', qr/'' does not match '\^\[1-9\]\[0-9\]\*\$'/ ],
        [ 16, 'resources=VCPU:1&limit=0', qr/'0' does not match '\^\[1-9\]\[0-9\]\*\$'/ ],
        [ 16, 'resources=VCPU:1&limit=abc&limit=5', qr/Invalid query string parameters: 'abc' does not match '\^\[1-9\]\[0-9\]\*\$'/ ],
        [ 16, 'resources=VCPU:1&required=HW_CPU_X86_AVX', qr/'required' was unexpected/ ],
        [ 20, 'resources=VCPU:1&member_of=x', qr/'member_of' was unexpected/ ],
        [ 21, 'resources=VCPU:1&member_of=x', qr/Expected 'member_of' parameter to contain valid UUID\(s\)\. Got: x/ ],
        [ 21, "resources=VCPU:1&member_of=$aggregates[0],$aggregates[1]", qr/must be prefixed with the 'in:' or '!in:' keyword/ ],
        [ 23, "resources=VCPU:1&member_of=$aggregates[0]&member_of=$aggregates[1]", qr/Multiple member_of parameters are not supported/ ],
        [ 31, "resources1=VCPU:1&member_of1=!$aggregates[0]", qr/Forbidden member_of1 parameters are not supported/ ],
        [ 17, 'resources=VCPU:1&required=!HW_CPU_X86_AVX', qr/of the form: HW_CPU_X86_VMX,CUSTOM_MAGIC\. Got: !HW_CPU_X86_AVX/ ],
        [ 22, 'resources=VCPU:1&required=,', qr/Got an empty trait in: ,/ ],
        [ 22, 'resources=VCPU:1&required=HW_CPU_X86_AVX&member_of=x&required=,', qr/Got an empty trait in: ,/ ],
        [ 22, 'resources=VCPU:1&member_of=x&required=,', qr/Expected 'member_of' parameter/ ],
        [ 38, 'resources=VCPU:1&required=HW_CPU_X86_AVX&required=CUSTOM_NO', qr/No such trait\(s\): CUSTOM_NO\./ ],
        [ 38, 'resources=VCPU:1&required=in:HW_CPU_X86_AVX', qr/only supported since microversion 1\.39\. Got: in:HW_CPU_X86_AVX/ ],
        [ 39, 'resources=VCPU:1&required=in:!HW_CPU_X86_AVX', qr/does not support forbidden traits/ ],
        [ 39, 'resources=VCPU:1&required=HW_CPU_X86_AVX,!HW_CPU_X86_AVX', qr/Conflicting .* traits keys: required: \(HW_CPU_X86_AVX\)/ ],
        [ 24, 'resources=VCPU:1&resources1=VCPU:1', qr/'resources1' was unexpected/ ],
        [ 32, 'resources_A=VCPU:1', qr/'resources_A' does not match any of the regexes: '\^in_tree\(\[1-9\]\[0-9\]\*\)\?\$'/ ],
        [ 33, 'resources_' . ('A' x 64) . '=VCPU:1', qr/does not match any of the regexes/ ],
        [ 33, 'resources.=VCPU:1', qr/does not match any of the regexes/ ],
        [ 30, "resources=VCPU:1&in_tree=$aggregates[0]", qr/does not match any of the regexes/ ],
        [ 31, 'resources=VCPU:1&in_tree=x', qr/Expected 'in_tree' parameter to be a format of uuid\. Got: x/ ],
        [ 25, 'resources1=VCPU:1&resources2=VCPU:1', qr/"group_policy" parameter is required/ ],
        [ 25, 'resources1=VCPU:1&group_policy=some', qr/'some' is not one of \['none', 'isolate'\]/ ],
        [ 25, 'resources=VCPU:1&required1=HW_CPU_X86_AVX', qr/orphaned traits keys: required1/ ],
        [ 35, "resources=VCPU:1&member_of_X=$aggregates[0]", qr/orphaned member_of keys: member_of_X/ ],
        [ 35, "resources=VCPU:1&in_tree_X=$aggregates[0]", qr/All request groups must specify resources/ ],
        [ 25, '', qr/At least one request group/ ],
        [ 34, 'resources=VCPU:1&root_required=HW_CPU_X86_AVX', qr/'root_required' does not match any/ ],
        [ 35, 'resources=VCPU:1&root_required=in:HW_CPU_X86_AVX', qr/'in:HW_CPU_X86_VMX,CUSTOM_MAGIC'/ ],
        [ 35, 'resources=VCPU:1&same_subtree=_A', qr/'same_subtree' does not match any/ ],
        [ 39, 'resources=VCPU:1,CUSTOM_NO:1', qr/Invalid resource class in resources parameter: No such resource class CUSTOM_NO\./ ],
        [ 39, 'resources=VCPU:1&required=CUSTOM_NO', qr/No such trait\(s\): CUSTOM_NO\./ ],
        [ 39, 'resources=VCPU:1&root_required=CUSTOM_NO,!CUSTOM_NO2', qr/No such trait\(s\): CUSTOM_NO, CUSTOM_NO2\./ ],
        [ 39, 'resources=VCPU:0', qr/requires amount >= 1/ ],
        [ 39, 'group_policy=none&' . join('&', map { "resources$_=VCPU:1" } 1 .. 65), qr/64 groups/ ],
        [ 39, 'group_policy=none&' . join('&', map { "resources$_=VCPU:1" } 1 .. 320), qr/more than 320 parameters/ ],
    );
    for my $case (@cases) {
        my ($minor, $query, $text) = @$case;
        is_error($placement->version("1.$minor")->get("/allocation_candidates?$query"), 400, $text, name => "1.$minor $query");
    }
    my %coded = (
        'resources=VCPU:1&root_required=HW_CPU_X86_AVX&root_required=HW_CPU_X86_AVX' => 'placement.query.duplicate_key',
        'resources=VCPU:1&root_required=HW_CPU_X86_AVX,!HW_CPU_X86_AVX'              => 'placement.query.bad_value',
        'resources_A=VCPU:1&same_subtree=_A,'                                        => 'placement.query.bad_value',
        'resources_A=VCPU:1&same_subtree=_A,_B'                                      => 'placement.query.bad_value',
        'resources_A=VCPU:1&required_B=HW_CPU_X86_AVX'                               => 'placement.query.bad_value',
        'required_B=HW_CPU_X86_AVX&same_subtree=_B'                                  => 'placement.query.missing_value',
    );
    for my $query (sort keys %coded) {
        my $response = $placement->get("/allocation_candidates?$query");
        is $response->status, 400, $query;
        is $response->json->{errors}[0]{code}, $coded{$query}, 'its code';
    }
    my $nobody = uuid();
    is_deeply ask($_), { allocation_requests => [], provider_summaries => {} }, "$_: none" for "resources=CUSTOM_VF:1&in_tree=$nobody",
        "resources=CUSTOM_VF:1&member_of=$nobody", 'resources=CUSTOM_VF:99999999999999999999', 'resources=CUSTOM_VF:1&required=MISC_SHARES_VIA_AGGREGATE';
    is $placement->post('/allocation_candidates', json => {})->status, 405, 'GET alone';
};

$instance->stop;
done_testing;
