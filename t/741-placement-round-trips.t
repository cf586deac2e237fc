#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What writes of a provider's traits cost the database: a worker is asked over FastCGI, and a proxy between it and the database
# counts.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::FastCGI;
use Tenure::Instance;
use Tenure::RoundTrips;

my $instance = Tenure::Instance->start(auth => 'token');
my $counter  = Tenure::RoundTrips->new($instance);
my $worker   = $counter->worker('admin');
my $codec    = JSON::PP->new->utf8->canonical;
my $uuid     = '7a7a0000-0000-4000-8000-000000000001';

sub ask {
    my ($method, $path, $body) = @_;
    my $answer = Tenure::FastCGI->get($worker, method => $method, uri => "/placement$path",
        defined $body ? (body => $codec->encode($body)) : (),
        params => [HTTP_X_AUTH_TOKEN => $instance->operator_token, CONTENT_TYPE => 'application/json',
            HTTP_OPENSTACK_API_VERSION => 'placement 1.39']);
    return $answer // die "$method $path: no answer\n";
}

sub content { return $codec->decode($_[0]{body}) }

# What a request answers that may take so many round trips and a COMMIT, and its round trips.
sub costs { my ($answer, @trips) = $counter->costs(@_); return (content($answer), @trips) }

ask('POST', '/resource_providers', { name => 'p1', uuid => $uuid })->{status} == 200 or die "no provider\n";
my @names = map { sprintf 'CUSTOM_T%02d', $_ } 0 .. 39;
ask('PUT', "/traits/$_")->{status} == 201 or die "no trait $_\n" for @names;
my $traits = "/resource_providers/$uuid/traits";
my $turn   = 0;

# Other traits each time, at the generation that stands.
sub put {
    my (@lists) = @_;
    return sub {
        my $list = $lists[$turn % @lists];
        return ask('PUT', $traits, { traits => $list, resource_provider_generation => $turn++ });
    };
}

my ($body, @trips) = costs('PUT of ten others', 2, 200, put([ @names[0 .. 9] ], [ @names[10 .. 19] ]));
is $body->{resource_provider_generation}, $turn, 'with its generation, which was not read again';
is scalar(() = ($trips[0] // '') =~ /execute/g), 4, 'in the first one maintenance, the locks and the generation'
    or diag join "\n", @trips;
is scalar(() = ($trips[1] // '') =~ /execute/g), 6, 'in the second the change, what it replaces, the row, what comes, what goes, the generation'
    or diag join "\n", @trips;
costs('of twenty others', 2, 200, put([ @names[0 .. 19] ], [ @names[20 .. 39] ]));
costs('of one more, or one less', 2, 200, put([ @names[0 .. 2] ], [ @names[0 .. 3] ]));
is_deeply content(ask('GET', $traits)), { traits => [ @names[0 .. 2 + ($turn - 1) % 2] ], resource_provider_generation => $turn },
    'all as it was put';
my $same = content(ask('GET', $traits));
($body) = costs('of the same', 1, 200, sub { ask('PUT', $traits, $same) });
is $body->{resource_provider_generation}, $turn, 'which leaves the generation';
costs('at a generation of before', 1, 409, sub { ask('PUT', $traits, { %$same, resource_provider_generation => $turn - 1 }) });
costs('of one that there is not', 3, 400, sub {
    ask('PUT', $traits, { traits => [ 'CUSTOM_NONE', $names[39] ], resource_provider_generation => $turn });
});
is_deeply content(ask('GET', $traits)), $same, 'neither of which changed anything';
is $instance->sql(<<'SQL'), '1', 'each trait has its row, and no other has one';
SELECT GROUP_CONCAT(t.name ORDER BY t.name) = REPLACE(TRIM(BOTH '[' FROM TRIM(BOTH ']' FROM REPLACE(r.traits, '"', ''))), ' ', '')
FROM resources r JOIN resource_traits x ON x.resource_id = r.id JOIN traits t ON t.id = x.trait_id WHERE r.traits IS NOT NULL
SQL

done_testing;
