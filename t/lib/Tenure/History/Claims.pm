# SPDX-License-Identifier: Apache-2.0
# The model of claims for Tenure::History: consumers that take some of what a resource provider has, and the clients of it.
#
# An operation is a hash with do (claim, release, read), consumer, amount (of claim), generation (that a claim named; undef: the
# consumer is new), status, and of a read: told, "generation:amount" or '' for none.
package Tenure::History::Claims;

use strict;
use warnings;

use constant { TOTAL => 8, CONSUMERS => 4 };

my $version = { 'OpenStack-API-Version' => 'placement 1.38' };

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

# ---- the clients

sub _provider { my ($load, $group) = @_; return sprintf '%08x-0000-4000-8000-%012x', 0xc1a10000 + $load->{seed} % 65536, $group + 1 }
sub _consumer { my ($load, $group, $n) = @_; return sprintf '%08x-0000-4000-9000-%08x%04x', 0xc1a10000 + $load->{seed} % 65536, $group + 1, $n }

sub prepare {
    my ($load, $group) = @_;
    my $admin = $load->_client(0);
    my $uuid  = _provider($load, $group);
    my $made  = $admin->post('/placement/resource_providers', json => { uuid => $uuid, name => "claims-$load->{prefix}$group" }, headers => $version);
    die $made->describe . "\n" if $made->status != 200;
    my $put = $admin->put("/placement/resource_providers/$uuid/inventories", headers => $version,
        json => { resource_provider_generation => 0, inventories => { VCPU => { total => TOTAL } } });
    die $put->describe . "\n" if $put->status != 200;
    return;
}

sub turn {
    my ($me) = @_;
    my ($load, $group) = @$me{qw(load group)};
    my $uuid = _consumer($load, $group, int rand CONSUMERS);
    my $path = "/placement/allocations/$uuid";
    my $draw = rand;
    my $read = sub { };
    if ($draw < 0.4) {
        $load->ask($me, { do => 'read', consumer => $uuid }, sub {
            my ($op, $answer) = @_;
            my $told = $answer->json;
            my ($one) = values %{ $told->{allocations} // {} };
            $op->{told} = $one ? "$told->{consumer_generation}:$one->{resources}{VCPU}" : '';
            $me->{generation}{$uuid} = $one ? $told->{consumer_generation} : undef;
        }, 'GET', $path, headers => $version);
        return;
    }
    if ($draw < 0.55) {
        $load->ask($me, { do => 'release', consumer => $uuid }, $read, 'DELETE', $path, headers => $version);
        return;
    }
    my $amount = 1 + int rand 4;
    my $generation = $me->{generation}{$uuid};
    $load->ask($me, { do => 'claim', consumer => $uuid, amount => $amount, generation => $generation }, sub {
        my ($op) = @_;
        $me->{generation}{$uuid} = ($generation // 0) + 1 if $op->{status} == 204;
    }, 'PUT', $path, headers => $version, json => { allocations => { _provider($load, $group) => { resources => { VCPU => $amount } } },
        project_id => 'p', user_id => 'u', consumer_generation => $generation, consumer_type => 'INSTANCE' });
    return;
}

1;
