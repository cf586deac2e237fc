# SPDX-License-Identifier: Apache-2.0
# The model of claims for Tenure::History: consumers that take some of what a resource provider has.
#
# An operation is a hash with do (claim, release, read), consumer, amount (of claim), generation (that a claim named; undef: the
# consumer is new), status, and of a read: told, "generation:amount" or '' for none.
package Tenure::History::Claims;

use strict;
use warnings;

# What the provider has.
use constant TOTAL => 8;

sub new { my ($class, %option) = @_; return bless { total => TOTAL, %option }, $class }

# ---- the model. A state: consumer => "generation:amount"

sub start { return {} }
sub key   { my (undef, $state) = @_; return join ' ', map { "$_=$state->{$_}" } sort keys %$state }
sub learn { return }
sub parts { return }
sub describe { my ($self, $state) = @_; return $self->key($state) || 'nothing' }

sub _taken {
    my ($state, $except) = @_;
    my $sum = 0;
    $sum += (split /:/, $state->{$_})[1] for grep { $_ ne $except } keys %$state;
    return $sum;
}

sub step {
    my ($self, $state, $op) = @_;
    my ($told, $consumer) = (defined $op->{end}, $op->{consumer});
    my $there = $state->{$consumer} // '';
    if ($op->{do} eq 'read') { return $told && $op->{status} == 200 && $op->{told} eq $there ? $state : undef }
    if ($op->{do} eq 'release') {
        if ($there eq '') { return $told && $op->{status} == 404 ? $state : undef }
        return undef if $told && $op->{status} != 204;
        my %after = %$state;
        delete $after{$consumer};
        return \%after;
    }
    my ($generation) = split /:/, $there;
    my $fits = ($op->{generation} // '-') eq ($generation // '-') && _taken($state, $consumer) + $op->{amount} <= $self->{total};
    if (!$fits) { return $told && $op->{status} == 409 ? $state : undef }
    return undef if $told && $op->{status} != 204;
    return { %$state, $consumer => (defined $generation ? $generation + 1 : 1) . ":$op->{amount}" };
}

sub is_idle { my (undef, $op) = @_; return defined $op->{end} && ($op->{do} eq 'read' || $op->{status} >= 400) }

sub show {
    my (undef, $op) = @_;
    my $text = "$op->{do} " . substr $op->{consumer}, -4;
    $text .= " $op->{amount} of generation " . ($op->{generation} // 'none') if $op->{do} eq 'claim';
    return $text . (defined $op->{end} ? ": $op->{status} " . ($op->{told} // '') : ': told nothing certain');
}

1;
