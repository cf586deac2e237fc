# SPDX-License-Identifier: Apache-2.0
# Allocation candidates as the rules have them: every choice of providers for the parts of a request, and then the question
# whether the whole is allowed. Slow and plain, to be compared with what the service finds.
#
#   forest: [ { uuid, parent (index or undef), root (index), inventories => { CLASS => {…} }, used => { CLASS => n },
#             traits => { NAME => 1 }, aggregates => { UUID => 1 } }, … ]
#   request: { groups => [ { suffix, resources => { CLASS => n }, required => [ [NAMES], … ], forbidden => [NAMES],
#             member_of => [ [UUIDS], … ], not_member_of => [UUIDS], in_tree => root index }, … ], isolate, root_required,
#             root_forbidden, subtree => [suffixes] }
package Tenure::Candidates;

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT_OK = qw(expected);

sub any { my ($of, @names) = @_; return scalar grep { $of->{$_} } @names }

sub shares_with {
    my ($forest, $provider, $root) = @_;
    return 0 if !$provider->{traits}{MISC_SHARES_VIA_AGGREGATE};
    return scalar grep { $_->{root} == $root && any($_->{aggregates}, keys %{ $provider->{aggregates} }) } @$forest;
}

sub in_all { my ($provider, $group) = @_; return !grep { !any($provider->{aggregates}, @$_) } @{ $group->{member_of} } }

# Can that provider satisfy this part of the group, for candidates with that anchor, if no other provider is looked at?
sub fits {
    my ($forest, $provider, $group, $classes, $root) = @_;
    my ($several, $own) = ($group->{suffix} eq '', $provider->{root} == $root);
    return 0 if !$own && !shares_with($forest, $provider, $root);
    return 0 if any($provider->{traits}, @{ $group->{forbidden} }) || any($provider->{aggregates}, @{ $group->{not_member_of} });
    return 0 if $several && any($forest->[$root]{aggregates}, @{ $group->{not_member_of} });
    return 0 if defined $group->{in_tree} && ($provider->{root} != $group->{in_tree} || ($several && !$own));
    return 0 if !in_all($provider, $group) && !($several && $own && in_all($forest->[$root], $group));
    return 0 if !$several && grep { !any($provider->{traits}, @$_) } @{ $group->{required} };
    for my $class (@$classes) {
        my ($amount, $has) = ($group->{resources}{$class}, $provider->{inventories}{$class});
        return 0 if !$has || $amount < $has->{min_unit} || $amount > $has->{max_unit} || $amount % $has->{step_size};
        return 0 if ($provider->{used}{$class} // 0) + $amount > int($has->{total} * $has->{allocation_ratio});
    }
    return 1;
}

sub above { my ($forest, $top, $at) = @_; for (; defined $at; $at = $forest->[$at]{parent}) { return 1 if $at == $top } return 0 }

# parts: [group, [classes], provider index], one for each choice.
sub allowed {
    my ($forest, $request, $root, @parts) = @_;
    my (%sum, %single, %of_subtree);
    for my $part (@parts) {
        my ($group, $classes, $at) = @$part;
        $sum{$at}{$_} += $group->{resources}{$_} for @$classes;
        return 0 if $group->{suffix} ne '' && $request->{isolate} && $single{$at}++;
        $of_subtree{$at} = 1 if grep { $_ eq $group->{suffix} } @{ $request->{subtree} // [] };
    }
    for my $at (keys %sum) {
        for my $class (keys %{ $sum{$at} }) {
            my $has = $forest->[$at]{inventories}{$class};
            return 0 if $sum{$at}{$class} > $has->{max_unit};
            return 0 if ($forest->[$at]{used}{$class} // 0) + $sum{$at}{$class} > int($has->{total} * $has->{allocation_ratio});
        }
    }
    for my $group (grep { $_->{suffix} eq '' } @{ $request->{groups} }) {
        my %traits = map { %{ $forest->[$_->[2]]{traits} } } grep { $_->[0] == $group } @parts;
        return 0 if grep { !any(\%traits, @$_) } @{ $group->{required} };
    }
    my @chosen = keys %of_subtree;
    return 0 if @chosen && !grep { my $top = $_; !grep { !above($forest, $top, $_) } @chosen } @chosen;
    return 0 if grep { !$forest->[$root]{traits}{$_} } @{ $request->{root_required} // [] };
    return 0 if any($forest->[$root]{traits}, @{ $request->{root_forbidden} // [] });
    return 1;
}

# "suffix.CLASS=index" of each part; resourceless ones "suffix.=index".
sub text_of { return join ' ', sort map { my ($group, $classes, $at) = @$_; "$group->{suffix}." . join(',', @$classes) . "=$at" } @_ }

# { text => 1 } of all candidates.
sub expected {
    my ($forest, $request) = @_;
    my @choices = map {
        my $group = $_;
        my @classes = sort keys %{ $group->{resources} };
        $group->{suffix} eq '' ? (map { [ $group, [$_] ] } @classes) : [ $group, \@classes ];
    } @{ $request->{groups} };
    my %found;
    for my $root (grep { $forest->[$_]{root} == $_ } 0 .. $#$forest) {
        my @beginnings = ([]);
        for my $choice (@choices) {
            my @fitting = grep { fits($forest, $forest->[$_], @$choice, $root) } 0 .. $#$forest;
            @beginnings = map { my $begun = $_; map { [ @$begun, [ @$choice, $_ ] ] } @fitting } @beginnings;
        }
        $found{ text_of(@$_) } = 1 for grep { allowed($forest, $request, $root, @$_) } @beginnings;
    }
    return \%found;
}

1;
