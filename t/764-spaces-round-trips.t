#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a type of a tenant's own costs: its objects are asked for as those of a built-in type are, and the database is asked
# no more for them, be the definition the tenant's or the system's; it is asked once more when a type has changed.
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

# Types of a tenant that the worker has never been asked about: one round trip for what it has to know of them and the object.
for my $n (1 .. 4) {
    $instance->admin->make_tenant("u$n");
    my $at = "/apis/example.com/v1/tenants/u$n/namespaces/default/widgets";
    my $path = $crds =~ s{/customres}{/tenants/u$n/customres}r;
    made('admin', $path, definition($_->[0], $_->[1])) for ['widgets', 'Widget'], ['wheels', 'Wheel'];
    made('admin', $at, { metadata => { name => 'o1' }, data => { n => 'x' } });
}
my $unknown = $counter->worker('admin', 'unknown');
my @first;
for my $n (1 .. 4) {
    my $get_first = sub {
        return Tenure::FastCGI->get($unknown, method => 'GET',
            uri => "/apis/example.com/v1/tenants/u$n/namespaces/default/widgets/o1",
            params => [HTTP_X_AUTH_TOKEN => $token{admin}]);
    };
    my ($got, @asked) = $counter->trips($get_first, warm => 0);
    is $got->{status}, 200, 'the first GET of a type of a tenant that the worker does not know';
    push @first, \@asked;
}
my ($least) = sort { @$a <=> @$b } @first;
is scalar @$least, 1, 'is one round trip' or diag join "\n", @$least;
is scalar(() = ($least->[0] // '') =~ /execute/g), 2, 'of two statements: one finds tenant, definition and type, one the object'
    or diag join "\n", @$least;

# What is read along with the type is answered as it is otherwise: objects that are not there, were deleted, or moved.
for my $n (1 .. 4) {
    my $at = "/apis/example.com/v1/tenants/u$n/namespaces/default/widgets";
    made('admin', $at, { metadata => { name => 'gone' }, data => { n => 'x' } });
    is ask('admin', 'DELETE', "$at/gone")->{status}, 200, 'an object is deleted';
}
$instance->admin->make_tenant('elsewhere');
made('admin', '/apis/example.com/v1/tenants/u1/namespaces/default/gadgets', { metadata => { name => 'away' }, data => { n => 'x' } });
is ask('admin', 'POST', '/v2.0/u1/namespaces/default/gadgets.example.com/away/action/move?dest=elsewhere')->{status}, 303, 'one moves';
my $known = $counter->worker('admin', 'known');
my $other = $counter->worker('admin', 'other');
my $asks  = sub {
    my ($worker, $path) = @_;
    return Tenure::FastCGI->get($worker, method => 'GET', uri => $path, params => [HTTP_X_AUTH_TOKEN => $token{admin}]);
};
for my $n (1 .. 4) {
    $asks->($known, "/apis/example.com/v1/tenants/u$n/namespaces/default/$_/none") for qw(widgets wheels gadgets);
}
my @asked = ((map { ["u$_/namespaces/default/widgets/gone", 'a deleted object'] } 1, 2), ['u1/namespaces/default/gadgets/away', 'a moved one'],
    ['u2/namespaces/default/widgets/none', 'none'], ['u3/namespaces/none/widgets/o1', 'another namespace'], ['u4/widgets/o1', 'no namespace'],
    ['nobody/namespaces/default/widgets/o1', 'no tenant'], ['u4/namespaces/default/wheels/o1', 'another type'], ['u3/namespaces/default/widgets/o1/status', 'a part']);
for my $case (@asked) {
    my ($path, $what) = @$case;
    my ($here, $there) = map { my $answer = $asks->($_, "/apis/example.com/v1/tenants/$path"); $answer->{body} =~ s/"(?:uid|request_id)":"[^"]*"//gr =~ s/^/$answer->{status} /r } $known, $other;
    is $there, $here, "$what: as a worker answers that knows the type";
}

done_testing;
