#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a type of a tenant's own costs: its objects are asked for as those of a built-in type are, and the database is asked
# no more for them, be the definition the tenant's or the system's; it is asked once more when a type has changed. And what the first request about
# a tenant costs, whose statement reads the object as well.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use List::Util qw(min);
use Test::More;
use Time::HiRes ();

use Tenure::Definition qw(definition_of);
use Tenure::FastCGI;
use Tenure::Instance;
use Tenure::RoundTrips;

my $instance = Tenure::Instance->start(auth => 'token');
my $counter  = Tenure::RoundTrips->new($instance);
my $codec    = JSON::PP->new->utf8->canonical;
$instance->admin->make_tenant('t1');
my %worker = map { $_ => $counter->worker($_) } 'admin', 'service';
my %token  = (admin => $instance->operator_token, service => $instance->token('t1', 'admin'));
my $serial = 0;

sub ask {
    my ($endpoint, $method, $path, $body, $type) = @_;
    my $answer = Tenure::FastCGI->get($worker{$endpoint}, method => $method, uri => $path,
        defined $body ? (body => $codec->encode($body)) : (),
        params => [HTTP_X_AUTH_TOKEN => $token{$endpoint}, CONTENT_TYPE => $type // 'application/json']);
    return $answer // die "$method $path: no answer\n";
}

sub made {
    my ($endpoint, $path, $body) = @_;
    my $answer = ask($endpoint, 'POST', $path, $body);
    $answer->{status} == 201 or die "POST $path: $answer->{body}\n";
    return;
}

my $crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

sub definition {
    my ($plural, $kind, %more) = @_;
    my $data = { type => 'object', properties => { n => { type => 'string', maxLength => 20 } } };
    return definition_of($plural, kind => $kind, schema => { type => 'object', properties => { data => $data } }, %more);
}

made('service', $crds, definition('widgets', 'Widget'));
made('admin', $crds, definition('gadgets', 'Gadget', applicableRange => ['*']));
my %path = (
    'a built-in type'   => '/api/v1/namespaces/default/configmaps',
    'a type of its own' => '/apis/example.com/v1/namespaces/default/widgets',
    'a shared type'     => '/apis/example.com/v1/namespaces/default/gadgets',
);
# Both workers know the types; what else they ask about them now and then is left out by the fewest of several.
for my $path (values %path) {
    Tenure::Instance::wait_until(sub { ask('service', 'GET', $path)->{status} == 200 }) or die "$path is not served\n";
}

# The fewest of several: twice a second a worker asks whether anything that it holds is old. On a busy machine each call may take so long,
# so four must be quicker.
sub fewest {
    my ($name, $status, $code) = @_;
    my ($quick, @counts) = (0);
    while ($quick < 4 && @counts < 30) {
        my $began = Time::HiRes::time();
        my ($answer, @trips) = $counter->trips($code, warm => @counts ? 0 : 3);
        is $answer->{status}, $status, $name or diag $answer->{raw};
        $quick++ if @counts && Time::HiRes::time() - $began < 0.4;
        push @counts, scalar @trips;
    }
    return min(@counts);
}

sub replaced {
    my ($path) = @_;
    my $object = $codec->decode(ask('service', 'GET', "$path/o1")->{body});
    $object->{data}{n} = 'put ' . ++$serial;
    return $object;
}

# Round trips of each verb. PUT needs the version that stands, which is read before.
sub costs {
    my ($what, $path) = @_;
    made('service', $path, { metadata => { name => 'o1' }, data => { n => 'x' } });
    my $patch = sub { ask('service', 'PATCH', "$path/o1", { data => { n => 'patch ' . ++$serial } }, 'application/merge-patch+json') };
    my %cost = (
        GET    => fewest("GET of $what", 200, sub { ask('service', 'GET', "$path/o1") }),
        list   => fewest("list of $what", 200, sub { ask('service', 'GET', "$path?limit=500") }),
        PATCH  => fewest("PATCH of $what", 200, $patch),
        create => fewest("POST of $what", 201, sub {
            ask('service', 'POST', $path, { metadata => { name => 'n' . ++$serial }, data => { n => 'x' } });
        }),
        PUT => fewest("GET and PUT of $what", 200, sub { ask('service', 'PUT', "$path/o1", replaced($path)) }),
    );
    return \%cost;
}

my $builtin = costs('a built-in type', $path{'a built-in type'});
is $builtin->{GET}, 1, 'GET is one round trip';
is $builtin->{list}, 2, 'a list of what is remembered two: what is new, and what it has';
is $builtin->{PATCH}, 3, 'PATCH two and COMMIT';
is $builtin->{create}, 3, 'so is POST';
is $builtin->{PUT}, $builtin->{GET} + 3, 'and PUT';
for my $what ('a type of its own', 'a shared type') {
    is_deeply costs($what, $path{$what}), $builtin, "$what costs the same";
}

# The limit is of what is selected, not of what is read to find it.
made('service', '/api/v1/namespaces', { metadata => { name => 'many' } });
my $many = '/api/v1/namespaces/many/configmaps';
made('service', $many, { metadata => { name => "c$_", labels => { last => $_ == 9 ? 'yes' : 'no' } } }) for 1 .. 9;
my @by = map { my $limit = $_; fewest("one of nine by $limit", 200, sub { ask('service', 'GET', "$many?labelSelector=last%3Dyes&limit=$limit") }) } 1, 500;
is $by[0], $by[1], 'a small limit costs no more';
my $by_one = $codec->decode(ask('service', 'GET', "$many?labelSelector=last%3Dno&limit=3")->{body});
is join(' ', map { $_->{metadata}{name} } @{ $by_one->{items} }), 'c1 c2 c3', 'a page has as many as it is to have';
$by_one = $codec->decode(ask('service', 'GET', "$many?labelSelector=last%3Dno&limit=9&continue=$by_one->{metadata}{continue}")->{body});
is join(' ', map { $_->{metadata}{name} } @{ $by_one->{items} }), 'c4 c5 c6 c7 c8', 'the next goes on behind it';

# Who counts sees it when the database is asked.
my $get = sub { ask('service', 'GET', "$path{'a type of its own'}/o1") };
my $warm = fewest('GET', 200, $get);
made('service', $crds, definition('sprockets', 'Sprocket'));
my ($answer, @trips) = $counter->trips($get, warm => 0);
cmp_ok scalar @trips, '>', $warm, 'after a change of a type it asks more';
is fewest('GET', 200, $get), $warm, 'once';

# The system's definitions may be more text than a worker holds of tenants' ones.
my $text = { type => 'object', description => 'd' x 2_500_000 };
made('admin', $crds, definition_of($_, schema => $text)) for 'longs', 'largers';
is fewest('GET beside much text', 200, $get), $warm, 'much text in the system\'s space costs others nothing';
is ask('admin', 'DELETE', "$crds/$_.example.com")->{status}, 200, 'it goes' for 'longs', 'largers';

# Types of a tenant that the worker has never been asked about: one statement for what it has to know of them and the object. The types of one
# name are in namespaces for some tenants, and not for others.
my %scope = (u => 'Namespaced', w => 'Cluster');
my %at    = (u => 'namespaces/default/widgets', w => 'widgets');
sub space_of { return "/apis/example.com/v1/tenants/$_[0]" }
for my $tenant (map { ("u$_", "w$_") } 1 .. 4) {
    my $kind = substr $tenant, 0, 1;
    $instance->admin->make_tenant($tenant);
    my $path = $crds =~ s{/customres}{/tenants/$tenant/customres}r;
    made('admin', $path, definition($_->[0], $_->[1], scope => $scope{$kind})) for ['widgets', 'Widget'], ['wheels', 'Wheel'];
    made('admin', space_of($tenant) . "/$at{$kind}", { metadata => { name => 'o1' }, data => { n => $tenant } });
}
my $unknown = $counter->worker('admin', 'unknown');
my $asks = sub {
    my ($worker, $path) = @_;
    return Tenure::FastCGI->get($worker, method => 'GET', uri => $path, params => [HTTP_X_AUTH_TOKEN => $token{admin}]);
};
for my $kind ('u', 'w') {
    my @first;
    for my $tenant (map {"$kind$_"} 1 .. 4) {
        my ($got, @asked) = $counter->trips(sub { $asks->($unknown, space_of($tenant) . "/$at{$kind}/o1") }, warm => 0);
        is $got->{status}, 200, "the first GET of a type ($scope{$kind}) of a tenant that the worker does not know";
        like $got->{body}, qr/"n":"$tenant"/, 'answers its object';
        push @first, \@asked;
    }
    my ($least) = sort { @$a <=> @$b } @first;
    is scalar @$least, 1, 'is one round trip' or diag join "\n", @$least;
    is scalar(() = ($least->[0] // '') =~ /execute/g), 1, 'of one statement, which finds tenant, definition, type and object'
        or diag join "\n", @$least;
}

# What is read along with the type is answered as it is otherwise, by a worker that knows the tenant and its types: objects that are there, are not,
# were deleted, or moved; of types and tenants of all kinds.
for my $n (1 .. 2) {
    my $at = space_of("u$n") . '/namespaces/default/widgets';
    made('admin', $at, { metadata => { name => $_ }, data => { n => 'x' } }) for 'gone', 'again';
    is ask('admin', 'DELETE', "$at/$_")->{status}, 200, 'an object is deleted' for 'gone', 'again';
    made('admin', $at, { metadata => { name => 'again' }, data => { n => 'back' } });
}
made('admin', $crds, definition('bolts', 'Bolt', metadata => { labels => { 'arktos.futurewei.com/crd-sharing-policy' => 'forced' } }));
Tenure::Instance::wait_until(sub { ask('admin', 'GET', space_of('u1') . '/namespaces/default/bolts')->{status} == 200 }) or die "bolts are not served\n";
$instance->admin->make_tenant($_) for 'elsewhere', 'dead', 'ending';
for my $tenant ('dead', 'ending') {
    made('admin', $crds =~ s{/customres}{/tenants/$tenant/customres}r, definition('widgets', 'Widget'));
    made('admin', space_of($tenant) . '/namespaces/default/widgets', { metadata => { name => 'o1' }, data => { n => 'x' } });
}
made('admin', space_of('u1') . '/namespaces/default/gadgets', { metadata => { name => $_ }, data => { n => 'x' } }) for 'away', 'here';
made('admin', space_of('u2') . '/namespaces/default/bolts', { metadata => { name => 'b1' }, data => { n => 'x' } });
made('admin', space_of('u2') . '/namespaces/default/wheels', { metadata => { name => 'o1' }, data => { n => 'x' } });
is ask('admin', 'DELETE', "/apis/apiextensions.k8s.io/v1/tenants/u2/customresourcedefinitions/wheels.example.com")->{status}, 200, 'a type is deleted';
is ask('admin', 'POST', '/v2.0/u1/namespaces/default/gadgets.example.com/away/action/move?dest=elsewhere')->{status}, 303, 'an object moves';
is ask('admin', 'DELETE', '/v2.0/dead')->{status}, 204, 'a tenant is deleted';
is ask('admin', 'PATCH', '/api/v1/tenants/ending', { metadata => { finalizers => ['example.com/wait'] } }, 'application/merge-patch+json')->{status}, 200,
    'another one has a finalizer';
like ask('admin', 'DELETE', '/api/v1/tenants/ending')->{status}, qr/\A20[02]\z/, 'and is to be deleted';

my $known = $counter->worker('admin', 'known');
my @cases = (
    ['u1/namespaces/default/widgets/gone', 404, 'a deleted object'],   ['u1/namespaces/default/widgets/again', 200, 'one that is there again'],
    ['u2/namespaces/default/widgets/none', 404, 'none'],               ['u3/namespaces/none/widgets/o1', 404, 'another namespace'],
    ['u4/widgets/o1', 404, 'no namespace'],                            ['w4/namespaces/default/widgets/o1', 404, 'a namespace'],
    ['w3/widgets/o1', 200, 'an object without a namespace'],           ['w3/widgets/none', 404, 'none of these'],
    ['u1/namespaces/default/gadgets/here', 200, 'one of a shared type'], ['u1/namespaces/default/gadgets/away', 404, 'a moved one'],
    ['elsewhere/namespaces/default/gadgets/away', 200, 'where it is'], ['u2/namespaces/default/bolts/b1', 200, 'one of a forced type'],
    ['u2/namespaces/default/wheels/o1', 404, 'one whose type was deleted'], ['u4/namespaces/default/wheels/o1', 404, 'none of another type'],
    ['u4/namespaces/default/sprockets/o1', 404, 'no type'],            ['nobody/namespaces/default/widgets/o1', 404, 'no tenant'],
    ['dead/namespaces/default/widgets/o1', 404, 'a deleted tenant'],   ['ending/namespaces/default/widgets/o1', 200, 'a tenant that waits for a finalizer'],
    ['u3/namespaces/default/widgets/o1/status', 404, 'a part'],
);
$asks->($known, "/apis/example.com/v1/tenants/$_->[0]") for @cases, @cases;
my $n = 0;
for my $case (@cases) {
    my ($path, $status, $what) = @$case;
    my $fresh = $counter->worker('admin', 'fresh' . ++$n);
    my ($here, $there) = map { $asks->($_, "/apis/example.com/v1/tenants/$path") } $known, $fresh;
    my @told = map { "$_->{status} " . ($_->{headers}{location} // '') . ' ' . ($_->{headers}{etag} // '') . " $_->{body}" =~ s/"request_id":"[^"]*"//gr } $here, $there;
    is $there->{status}, $status, $what;
    is $told[1], $told[0], "$what: as a worker answers that knows the type";
}

done_testing;
