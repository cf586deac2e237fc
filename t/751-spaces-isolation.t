#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Strangers: every call of every dialect, as each endpoint's WADL lists it, naming what is another tenant's. What comes back is,
# headers and all, what comes back for a thing that is not there; nothing of another's shows, and nothing of it changes.
#
# Nothing here names a route. One that comes to a WADL is asked; one with a parameter, of its path or its query, that the tables
# below do not know fails the test until they do.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use List::Util ();
use Test::More;

use Tenure::Instance;
use Tenure::Isolation;
use Tenure::Watch;

my $instance = Tenure::Instance->start(combined => 1, placement => 1);
my $world    = Tenure::Isolation->new($instance);
my $globex   = $world->own;
my %endpoint = (
    service   => sub { $instance->service($_[0]) },
    combined  => sub { $instance->combined($_[0]) },
    admin     => sub { $instance->admin->as($_[0]) },
    placement => sub { $instance->placement->as($_[0]) },
);
my @strangers = ('bob:globex', 'mel:globex:member', 'eve:globex:reader', 'nobody', undef);
# Who is asked about everything in every way; the others, and on the other endpoints, each call once for each tenant.
my %thorough = ('combined bob:globex' => 1, 'service mel:globex:member' => 1);

# The two answers to a call: of what is there, and of what is not. One that names neither is asked for what it shows.
sub is_same {
    my ($who, $client, $call, $name) = @_;
    my @cases = $world->names_another($call) ? (0, 1) : 0;
    my ($there, $absent) = map { $world->ask($client, $call, $_) } @cases;
    return 1 if @cases == 1 || $there eq $absent;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    fail(($who // 'no token') . ": $name");
    diag "there:  $there\nabsent: $absent";
    return 0;
}

# The questions are good: whoever may see it all is told one thing of what is there and another of what is not.
subtest 'the operator can tell' => sub {
    my (%told, %same);
    for my $endpoint ('combined', 'placement') {
        my $client = $endpoint{$endpoint}->('admin');
        for my $route (grep { $_->{method} eq 'GET' } @{ $world->routes($client->get('/application.wadl')->text, $endpoint eq 'placement') }) {
            for my $call (grep { $_->{plain} && $world->names_another($_) } $world->calls($route)) {
                my ($there, $absent) = map { $world->ask($client, $call, $_) } 0, 1;
                $there eq $absent ? $same{ $route->{path} }++ : $told{ $route->{path} }++;
            }
        }
    }
    # Of these bare metal has none, whatever is asked.
    my @never = sort grep { !$told{$_} } keys %same;
    my $none = qr{\A/baremetal/v1/(?:nodes/\{node\}/(?:allocation|bios/\{item\}|management/indicators/.*|volume/\w+/\{\w+\})|allocations/\{item\})\z};
    is join("\n", grep { $_ !~ $none } @never), '',
        'what is there from what is not, at each address that names either';
    cmp_ok scalar keys %told, '>=', 80, scalar(keys %told) . ' addresses';
    $world->seen;
};

for my $endpoint (sort keys %endpoint) {
    my $routes = $world->routes($endpoint{$endpoint}->('admin')->get('/application.wadl')->text, $endpoint eq 'placement');
    subtest "the $endpoint endpoint" => sub {
        cmp_ok scalar @$routes, '>=', $endpoint eq 'placement' ? 30 : 130, scalar(@$routes) . ' calls';
        my $before = $world->state;
        for my $who (@strangers) {
            my $client = $endpoint{$endpoint}->($who);
            my ($asked, $same) = (0, 0);
            for my $route (@$routes) {
                my @calls = $world->calls($route, !$thorough{"$endpoint " . ($who // '')});
                fail("$route->{method} $route->{path}: its parameters are not all known to this test: $route->{unknown}") if $route->{unknown};
                for my $call (@calls) {
                    $asked++;
                    $same += is_same($who, $client, $call, "$call->{method} " . $world->path_of($call, 0));
                }
            }
            is $same, $asked, ($who // 'no token') . ": $asked calls, each answered as if there were nothing";
            my @seen = $world->seen;
            is scalar @seen, 0, 'and nothing of another\'s in any answer' or diag join "\n", @seen[0 .. List::Util::min(9, $#seen)];
        }
        is $world->state, $before, 'nothing of another\'s has changed';
    };
}

subtest 'bodies that name what is another\'s' => sub {
    my $before = $world->state;
    my $made   = $world->make_own;
    for my $who ('bob:globex', 'mel:globex:member') {
        my $client = $instance->combined($who);
        is_same($who, $client, $_, $_->{name}) and pass(($who =~ s/:.*//r) . ": $_->{name}") for $world->bodies($made);
    }
    my @seen = $world->seen;
    is scalar @seen, 0, 'nothing of another\'s in any answer' or diag join "\n", @seen[0 .. List::Util::min(9, $#seen)];
    is $world->state, $before, 'nothing of another\'s has changed';
};

# One page and the rest of it, by the address of the next.
subtest 'pages begun by another tenant' => sub {
    my $acme = $instance->combined('alice:acme');
    my $lists = 0;
    for my $path ('/api/v1/configmaps', '/api/v1/namespaces/acme-space/configmaps', '/api/v1/persistentvolumes',
        '/api/v1/tenants/acme/namespaces', '/apis/acme.example.com/v1/acmegizmos') {
        my $page = $acme->get("$path?limit=1")->json;
        ok my $continue = $page->{metadata}{continue}, "$path has more than a page" or next;
        my $answer = $globex->get(($path =~ s/acme\b(?!-)/globex/r) . "?limit=500&continue=$continue");
        ok $answer->status =~ /\A(?:200|40[04]|410)\z/, 'is answered to a stranger' or diag $answer->describe;
        is_deeply [grep { $_->{metadata}{tenant} ne 'globex' } @{ $answer->json->{items} // [] }], [], 'with its own alone';
        $world->look($answer);
        # Forged: any byte of it another.
        for my $at (map { int $_ * length($continue) / 9 } 0 .. 8) {
            my $forged = $continue;
            substr $forged, $at, 1, substr($forged, $at, 1) eq 'A' ? 'B' : 'A';
            $world->look($globex->get(($path =~ s/acme\b(?!-)/globex/r) . "?limit=500&continue=$forged"));
        }
        $lists++;
    }
    is $lists, 5, 'all were asked';
    for my $path ('/v2.0/acme/namespaces/acme-space/configmaps', '/v2.0/acme/persistentvolumes', '/v2.0/acme/changes') {
        my $next = $acme->get("$path?limit=1")->json->{next};
        ok defined $next, "$path has more than a page" or next;
        $next = $acme->path_of($next);
        is $globex->get($next)->status, 404, 'the next page is none to a stranger';
        my $answer = $globex->get($next =~ s{/acme/}{/globex/}r);
        $world->look($answer);
    }
    my @seen = $world->seen;
    is scalar @seen, 0, 'nothing of another\'s in any answer' or diag join "\n", @seen;
};

subtest 'watches from another tenant\'s positions' => sub {
    my $acme = $instance->combined('alice:acme');
    my $from = $acme->get('/api/v1/configmaps')->json->{metadata}{resourceVersion};
    my $thing = '/api/v1/namespaces/acme-space/configmaps/acme-thing';
    $acme->patch($thing, { metadata => { annotations => { again => "x$_" } } })->is_status(200) for 1 .. 3;
    $acme->patch('/api/v1/persistentvolumes/acme-thing', { metadata => { annotations => { again => 'x' } } })->is_status(200);
    my @watches;
    for my $path ('/api/v1/configmaps', '/api/v1/namespaces/acme-space/configmaps', '/api/v1/persistentvolumes', '/api/v1/namespaces', '/api/v1/tenants',
        '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', '/api/v1/tenants/globex/configmaps') {
        push @watches, map { [$path, $_] } $from, 1, '';
    }
    # All at once, for a second.
    $_->[2] = Tenure::Watch->new($globex->url, 'bob:globex', "$_->[0]?timeoutSeconds=1&resourceVersion=$_->[1]", wait => 0, keep => 1) for @watches;
    for my $case (@watches) {
        my ($path, $position, $watch) = @$case;
        Tenure::Watch::events($watch, 1e9);
        ok $watch->{over}, "$path from '$position' ends";
        my ($status) = ($watch->{head} // '') =~ m{\AHTTP/1.1 (\d+)};
        ok +($status // '') =~ /\A(?:200|40[45]|410)\z/, 'and was answered' or diag $watch->{head};
        $world->look_at("$watch->{head}\n$watch->{all}", "watch of $path");
    }
    for my $path ('/api/v1/tenants/acme/configmaps', '/api/v1/tenants/system/configmaps', '/api/v1/tenants/all/configmaps',
        '/apis/apiextensions.k8s.io/v1/tenants/acme/customresourcedefinitions') {
        is $globex->get("$path?watch=true&timeoutSeconds=1&resourceVersion=$from")->status, 403, "$path is refused";
    }
    my @seen = $world->seen;
    is scalar @seen, 0, 'nothing of another\'s in any event' or diag join "\n", @seen;
};

subtest 'what is moved away' => sub {
    my $acme = $instance->combined('alice:acme');
    my $cm   = '/api/v1/namespaces/acme-other/configmaps/acme-thing';
    $instance->admin->post('/v2.0/acme/namespaces/acme-other/action/move?dest=third')->is_status(303, 'moved');
    my $answer = $acme->get($cm);
    is $answer->status, 404, 'is not there any more';
    unlike $answer->text, qr/third/, 'and nobody is told where it is';
    is $instance->combined('tim:third')->get($cm)->json->{data}{secret}, 's3cret', 'but its new owner';
};

done_testing;
