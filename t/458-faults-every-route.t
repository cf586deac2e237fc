#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Every route of the WADLs with a fault at some point: what an operator asks of things that are there, drawn as for strangers
# (Tenure::Strangers), while a drawn database command, allocation or system call fails (Tenure::Faults). scripts/check --long faults runs
# it; without TENURE_FAULTS_ROUTES, how many faults for each route, it is left out. TENURE_SEED repeats a run.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Faults;
use Tenure::Instance;
use Tenure::Strangers;

my $times = $ENV{TENURE_FAULTS_ROUTES} or plan skip_all => 'scripts/check --long faults runs this';
my $seed  = $ENV{TENURE_SEED} // int rand 1e9;
diag "TENURE_SEED=$seed";

my $instance  = Tenure::Instance->start(auth => 'token', combined => 1, placement => 1, workers => 2);
my $strangers = Tenure::Strangers->new(instance => $instance, seed => $seed, tenants => 1);
my $faults    = Tenure::Faults->new($instance);
my @kinds     = ('database', $faults->has_shim ? grep { $_ ne 'database' } sort keys %Tenure::Faults::errors : ());
my ($asker)   = grep { $_->{name} eq 'stranger' } @{ $strangers->{tenants} };
my ($victim)  = grep { $_->{name} eq 'victim' } @{ $strangers->{tenants} };

# Where most calls of a request are.
my %reach = (database => 12, memory => 200, read => 30, write => 15, wait => 15);
my (%count, @found, %hit);
my ($k, $shards) = split m{/}, $ENV{TENURE_FAULTS_SHARD} // '1/1';
my @routes = @{ $strangers->{routes}{combined} };
{
    no warnings 'once';
    $Tenure::Strangers::Words::plain = 1;
}
# The strangers' world has tenants that doctor complains about.
my (undef, $complaints) = $instance->manage('doctor');
for my $n (grep { $_ % $shards == $k - 1 } 0 .. $#routes) {
    my $route = $routes[$n];
    my @fits = grep { Tenure::Strangers::_fits($route, $_) } @{ $victim->{things} };
    for (1 .. $times) {
        my $drawn = $strangers->_request([$asker], endpoint => 'combined', route => $route, focus => $victim, thing => $fits[rand @fits] // $victim->{things}[0]);
        next if $drawn->{paths}[0] =~ /watch|sendInitialEvents/;
        my %headers = %{ $drawn->{headers}[0] };
        delete $headers{'X-Auth-Token'};
        my $kind = rand() < 0.5 ? 'database' : $kinds[rand @kinds];
        my @errors = @{ $Tenure::Faults::errors{$kind} };
        push @found, $faults->attempt({ what => "$route->{method} $drawn->{paths}[0]", method => $route->{method}, path => $drawn->{paths}[0], headers => \%headers, body => $drawn->{bodies}[0] },
            kind => $kind, call => 1 + int rand($reach{$kind} // 4), error => $errors[rand @errors], cold => rand() < 0.2);
        my $answer = $faults->last->{answer};
        $count{faults}++ if $faults->last->{failed};
        $count{ 'answered ' . ($answer ? int($answer->{status} / 100) . 'xx' : 'nothing') }++;
        $hit{$n} = 1 if $faults->last->{failed};
    }
}
$count{'with a fault'} = keys %hit;
is scalar @found, 0, 'answers are whole, nothing is half done, and the worker goes on';
diag join "\n", @found[0 .. ($#found < 29 ? $#found : 29)] if @found;
diag join ', ', map { "$_ $count{$_}" } sort keys %count;
my (undef, $text) = $instance->manage('doctor');
is $text, $complaints, 'the database is as sound as before';

if (defined $ENV{TENURE_FAULTS_COUNTS}) {
    open my $out, '>>', $ENV{TENURE_FAULTS_COUNTS} or die "$ENV{TENURE_FAULTS_COUNTS}: $!\n";
    print {$out} "routes $_=$count{$_}\n" for sort keys %count;
    print {$out} 'routes findings=' . @found . "\n";
}

done_testing;
