#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What requests cost the database: a worker is asked over FastCGI, and a proxy between it and the database counts. And that what
# one worker has cached never hides what another one changes.
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
my $codec    = JSON::PP->new->utf8->canonical;

sub ask {
    my ($worker, $token, $method, $path, $body, %header) = @_;
    my @headers = map { ('HTTP_' . uc(s/-/_/gr), $header{$_}) } sort keys %header;
    my $answer  = Tenure::FastCGI->get($worker, method => $method, uri => "/baremetal/v1$path",
        defined $body ? (body => $codec->encode($body)) : (),
        params => [HTTP_X_AUTH_TOKEN => $token, CONTENT_TYPE => 'application/json',
            HTTP_X_OPENSTACK_IRONIC_API_VERSION => '1.82', @headers]);
    return $answer // die "$method $path: no answer\n";
}

$instance->admin->make_tenant($_) for 't1', 't2';
my %worker = map { $_ => $counter->worker($_) } 'admin', 'service';
my %token  = (admin => $instance->operator_token, service => $instance->token('t1', 'member'));
my $serial = 0;

sub make {
    my ($kind, $content) = @_;
    my $answer = ask($worker{admin}, $token{admin}, 'POST', "/$kind", $content);
    $answer->{status} == 201 or die "$kind: $answer->{body}\n";
    return $codec->decode($answer->{body});
}

# The round trips of a request that may take so many and a COMMIT.
sub costs { my (undef, @trips) = $counter->costs(@_); return @trips }

my $chassis = make('chassis', {});
my $node    = make('nodes', { driver => 'ipmi', name => 'n1', owner => 't1', driver_info => { ipmi_password => 'hush' } });
my $group   = make('portgroups', { node_uuid => $node->{uuid}, name => 'g1' });
my $port    = make('ports', { node_uuid => $node->{uuid}, address => '52:54:00:00:00:01', portgroup_uuid => $group->{uuid} });

for my $endpoint ('admin', 'service') {
    my $ask = sub { return ask($worker{$endpoint}, $token{$endpoint}, @_) };
    my $add = sub { my ($at, $value) = @_; return [{ op => 'add', path => $at, value => $value }] };
    my $is_operator = $endpoint eq 'admin';
    my $path  = "/nodes/$node->{uuid}";
    my $below = "/ports/$port->{uuid}";
    # The same again and again, with another value each time; or this and that in turn.
    my $patch = sub { my ($what) = @_; return sub { return $ask->('PATCH', $path, $what->(++$serial)) } };
    my $turns = sub {
        my ($at, $one, $other) = @_;
        return $patch->(sub { return $add->($at, $_[0] % 2 ? $one : $other) });
    };

    subtest "$endpoint endpoint: reading" => sub {
        costs('GET of a node', 1, 200, sub { $ask->('GET', $path) });
        costs('of a list that the worker has cached', 1, 200, sub { $ask->('GET', '/nodes') });
        costs('of one with a condition', 1, 200, sub { $ask->('GET', '/nodes/detail?driver=ipmi&sort_key=name') });
        costs('of a list of ports, which are never cached', 2, 200, sub { $ask->('GET', '/ports') });
    };

    subtest "$endpoint endpoint: PATCH of a node" => sub {
        my @trips = costs('a key', 2, 200, $patch->(sub { return $add->('/extra/n', $_[0]) }));
        is_deeply [ map { scalar(() = /execute/g) } @trips[ 0, 1 ] ], [ 3, 3 ],
            'three statements in each: maintenance asked for, tenant and node locked; the change, what it replaces and the node written' or diag join "\n", @trips;
        costs('by its name', 2, 200, sub { $ask->('PATCH', '/nodes/n1', $add->('/extra/n', ++$serial)) });
        my $etag;
        my $guarded = sub {
            my $answer = $ask->('PATCH', $path, $add->('/extra/n', ++$serial), 'If-Match' => $etag // '*');
            $etag = $answer->{headers}{etag};
            return $answer;
        };
        costs('with If-Match', 2, 200, $guarded);
        costs('a secret', 2, 200, $patch->(sub { return $add->('/driver_info/ipmi_password', "hush$_[0]") }));
        costs('another name', 2, 200, $patch->(sub { return $add->('/name', "n1-$_[0]") }));
        my $instance_uuid = 'bb000000-0000-4000-8000-000000000001';
        costs('an instance, or none', 2, 200, $turns->('/instance_uuid', $instance_uuid, undef)) for 1, 2;
        my $driver = sub {
            my $to = ++$serial % 2 ? 'ipmi' : 'redfish';
            return $ask->('PATCH', "$path?reset_interfaces=true", $add->('/driver', $to));
        };
        costs('another driver', 2, 200, $driver);
        costs('all kinds of members at once', 2, 200, $patch->(sub {
            my ($n) = @_;
            my %new = (description => "text $n", resource_class => "gold$n", properties => { cpus => $n }, name => "all$n",
                maintenance => $n % 2 ? JSON::PP::true : JSON::PP::false, instance_info => { a => $n });
            return [map { @{ $add->("/$_", $new{$_}) } } sort keys %new];
        }));
        costs('what changes nothing', 1, 200, $patch->(sub { return [] }));
        costs('what does not fit', 1, 400, $patch->(sub { return [{ op => 'remove', path => '/extra/none' }] }));
        costs('a stale If-Match, with who and what since', 3, 412, sub { $ask->('PATCH', $path, [], 'If-Match' => $node->{etag}) });
        costs('maintenance', 2, 202, sub { $ask->('PUT', "$path/maintenance", { reason => 'fan ' . ++$serial }) });
        $ask->('PATCH', $path, $add->('/name', 'n1'));
    };

    subtest "$endpoint endpoint: PATCH of others" => sub {
        costs('a port', 2, 200, sub { $ask->('PATCH', $below, $add->('/extra/n', ++$serial)) });
        my $groups = sub { $ask->('PATCH', $below, $add->('/portgroup_uuid', ++$serial % 2 ? $group->{uuid} : undef)) };
        costs('its port group, or none, which asks its node for a state', 3, 200, $groups) for 1, 2;
        my $address = sub { $ask->('PATCH', $below, $add->('/address', sprintf '52:54:00:00:01:%02x', ++$serial)) };
        costs('its address, which asks its node for an instance', 3, 200, $address);
        costs('a port group', 2, 200, sub { $ask->('PATCH', "/portgroups/$group->{uuid}", $add->('/extra/n', ++$serial)) });
    };

    subtest "$endpoint endpoint: what the operator alone does" => sub {
        costs('a chassis', 2, 200, sub { $ask->('PATCH', "/chassis/$chassis->{uuid}", $add->('/extra/n', ++$serial)) });
        costs('a node\'s chassis, or none', 2, 200, $turns->('/chassis_uuid', $chassis->{uuid}, undef)) for 1, 2;
        costs('another owner, which is a move', 10, 200, $turns->('/owner', 't1', 't2'));
        $ask->('PATCH', $path, $add->('/owner', 't1'));
    } if $is_operator;
}

# What a worker keeps of an answer is for the same version and address alone.
subtest 'the answer to a GET again and again' => sub {
    my $path = '/nodes/' . make('nodes', { driver => 'fake-hardware', owner => 't1', extra => { n => 1 } })->{uuid};
    my $get = sub {
        my ($version, $host) = @_;
        my $answer = Tenure::FastCGI->get($worker{service}, uri => "/baremetal/v1$path", params => [HTTP_X_AUTH_TOKEN => $token{service},
            HTTP_X_OPENSTACK_IRONIC_API_VERSION => $version, defined $host ? (HTTP_HOST => $host) : ()]);
        return $codec->decode($answer->{body});
    };
    my %first;
    for my $version ('1.82', '1.1', '1.61') {
        $first{$version} = $get->($version);
        is_deeply $get->($version), $first{$version}, "version $version: the same" for 1 .. 3;
    }
    is $first{'1.1'}{provision_state}, 'enroll', 'each version has its own names';
    ok exists $first{'1.61'}{retired} && !exists $first{'1.1'}{retired} && exists $first{'1.82'}{shard}, '... and its own members';
    is_deeply [ sort keys %{ $get->('1.82') } ], [ sort keys %{ $first{'1.82'} } ], '... whoever asked last';
};

# The service's worker has the node in its cache each time before the admin's worker changes it.
subtest 'what another worker changes' => sub {
    my $made = make('nodes', { driver => 'fake-hardware', owner => 't1', driver_info => { ipmi_password => 'hush', n => 0 } });
    my $path = "/nodes/$made->{uuid}";
    my $seen = sub {
        my $answer = ask($worker{service}, $token{service}, 'GET', $path);
        my $list   = $codec->decode(ask($worker{service}, $token{service}, 'GET', '/nodes/detail')->{body})->{nodes};
        my ($listed) = grep { $_->{uuid} eq $made->{uuid} } @$list;
        return undef if $answer->{status} == 404 && !$listed;
        my $node = $codec->decode($answer->{body});
        is_deeply $listed, $node, 'the list has it as GET has it';
        is $answer->{headers}{etag}, $node->{etag} =~ s{\AW/(.*)\z}{W/"$1"}r, 'with its etag';
        return $node;
    };
    my $change = sub {
        my ($status, $method, $at, $body) = @_;
        $seen->() for 1, 2;
        my $answer = ask($worker{admin}, $token{admin}, $method, "$path$at", $body);
        is $answer->{status}, $status, "$method $at: $status" or diag $answer->{raw};
        return $seen->();
    };
    my $replace = sub { my ($at, $value) = @_; return [{ op => 'replace', path => $at, value => $value }] };

    is_deeply $seen->()->{driver_info}, { ipmi_password => '******', n => 0 }, 'a secret is masked';
    is_deeply $seen->()->{driver_info}, { ipmi_password => '******', n => 0 }, 'in the cache as well';
    is $change->(200, 'PATCH', '', $replace->('/driver_info/n', 1))->{driver_info}{n}, 1, 'a member';
    is $change->(200, 'PATCH', '', $replace->('/driver_info/ipmi_password', 'new'))->{driver_info}{ipmi_password}, '******',
        'a secret';
    is_deeply $change->(204, 'PUT', '/traits', { traits => ['HW_CPU_X86_AVX'] })->{traits}, ['HW_CPU_X86_AVX'], 'traits';
    is $change->(202, 'PUT', '/maintenance', { reason => 'fan' })->{maintenance}, JSON::PP::true, 'maintenance';
    is $change->(200, 'PATCH', '', $replace->('/owner', 't2')), undef, 'an owner that is another tenant';
    is $change->(200, 'PATCH', '', $replace->('/owner', 't1'))->{owner}, 't1', 'the owner again';
    is $change->(204, 'DELETE', ''), undef, 'and a deletion';
};

done_testing;
