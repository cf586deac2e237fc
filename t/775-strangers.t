#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Generated strangers (Tenure::Strangers): what users of some tenants, which bear any word that the program knows, get to see of
# others' by requests drawn from the WADLs: nothing. A sample of 2,000; scripts/check --long strangers sends 200,000 behind each web
# server. TENURE_SEED repeats a run, TENURE_STRANGERS is the number of requests, TENURE_STRANGERS_SERVER the web server.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;
use Time::HiRes ();

use Tenure::Instance;
use Tenure::Strangers;
use Tenure::Strangers::Words;

my $seed   = $ENV{TENURE_SEED} // int(rand 1e9);
my $n      = $ENV{TENURE_STRANGERS} // 2000;
my $server = $ENV{TENURE_STRANGERS_SERVER} // 'lighttpd';
diag "TENURE_SEED=$seed";

my $instance  = Tenure::Instance->start(server => $server, auth => 'token', combined => 1, placement => 1, workers => 3);
my $strangers = Tenure::Strangers->new(instance => $instance, seed => $seed, tenants => $n > 20_000 ? 12 : 3);

subtest 'the words are those that mean something' => sub {
    my %strong = map { $_ => 1 } @{ $strangers->{strong} };
    ok $strong{$_}, "\"$_\" is one" for qw(all system action move moves changes traits namespaces status finalize scale tenants default detail
        dest owner If-Match recover healthz application.wadl v1.0 v2.0 api apis spaces effect types nodes ports deleted return);
    cmp_ok scalar keys %strong, '>=', 400, scalar(keys %strong) . ' of them';
    my %headers = map { lc $_ => 1 } @{ $strangers->{headers} };
    ok $headers{$_}, "the header field $_ is one" for qw(if-match if-none-match prefer x-roles x-project-id openstack-system-scope accept);
    cmp_ok scalar @{ $strangers->{routes}{$_} }, '>=', $_ eq 'placement' ? 30 : 130, "calls of $_" for qw(service combined admin placement);
};

# Names that are unique over the whole service, by the rules of the APIs that have them (doc/api.md, "Names that are unique"): a
# stranger learns that one is taken, and in the same words whoever has it.
subtest 'names that are unique over the service' => sub {
    my ($stranger) = grep { $_->{name} eq 'stranger' } @{ $strangers->{tenants} };
    my %holder     = map { $_->{name} => $_ } @{ $strangers->{tenants} };
    my $service    = $instance->service($stranger->{token}{admin});
    my @version    = ('X-OpenStack-Ironic-API-Version' => '1.82');
    my $node       = $stranger->{id}{node}[0];
    my $mac        = sub { join ':', '52', '55', map { sprintf '%02x', int rand 256 } 1 .. 4 };
    my %taken = (
        'the name of a node'        => ['/baremetal/v1/nodes', node => 1, sub { { driver => 'fake-hardware', name => $_[0] } }],
        'the uuid of a node'        => ['/baremetal/v1/nodes', node => 0, sub { { driver => 'fake-hardware', uuid => $_[0] } }],
        'the instance of a node'    => ['/baremetal/v1/nodes', node => 2, sub { { driver => 'fake-hardware', instance_uuid => $_[0] } }],
        'the address of a port'     => ['/baremetal/v1/ports', port => 1, sub { { node_uuid => $node, address => $_[0] } }],
        'the uuid of a port'        => ['/baremetal/v1/ports', port => 0, sub { { node_uuid => $node, address => $mac->(), uuid => $_[0] } }],
        'the name of a port group'  => ['/baremetal/v1/portgroups', portgroup => 1, sub { { node_uuid => $node, name => $_[0] } }],
        'the uuid of a port group'  => ['/baremetal/v1/portgroups', portgroup => 0, sub { { node_uuid => $node, uuid => $_[0] } }],
        'the UUID of a connector'   => ['/baremetal/v1/volume/connectors', connector => 0, sub { { node_uuid => $node, type => 'iqn', connector_id => Tenure::Strangers::Words::hex_digits(12), uuid => $_[0] } }],
        'the id of a connector'     => ['/baremetal/v1/volume/connectors', connector => 1, sub { { node_uuid => $node, type => 'iqn', connector_id => $_[0] } }],
        'the UUID of a target'      => ['/baremetal/v1/volume/targets', target => 0, sub { { node_uuid => $node, volume_type => 'iscsi', volume_id => 'x', boot_index => int rand 1e6, uuid => $_[0] } }],
        'the UUID of an allocation' => ['/baremetal/v1/allocations', allocation => 0, sub { { resource_class => 'none', uuid => $_[0] } }],
        'the name of an allocation' => ['/baremetal/v1/allocations', allocation => 1, sub { { resource_class => 'none', name => $_[0] } }],
        'the address of a port group' => ['/baremetal/v1/portgroups', portgroup => 2, sub { { node_uuid => $node, address => $_[0] } }],
    );
    for my $what (sort keys %taken) {
        my ($path, $kind, $nth, $body) = @{ $taken{$what} };
        my %told;
        for my $who ('stranger', 'victim', 'system') {
            my $value  = $holder{$who}{id}{$kind}[$nth];
            my $answer = $service->post($path, json => $body->($value), headers => {@version});
            is $answer->status, 409, "$what: 409 for that of $who" or diag $answer->describe;
            my $text = $answer->text =~ s/\Q$value\E/IT/gr;
            # That of the new one, which nobody knows.
            $text =~ s/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/$strangers->{marks}{$1} ? $1 : 'NEW'/ge;
            push @{ $told{$text} }, $who;
        }
        is scalar keys %told, 1, 'in the same words whoever has it' or diag explain \%told;
    }
    # The same by the tenancy API, where a tenant can make providers as well.
    my %put = (
        'the uuid of a node'     => ['nodes', node => 0, 1, sub { { driver => 'fake-hardware' } }],
        'the name of a node'     => ['nodes', node => 1, 0, sub { { driver => 'fake-hardware', name => $_[0] } }],
        'the uuid of a port'     => ['ports', port => 0, 1, sub { { node_uuid => $node, address => $mac->() } }],
        'the address of a port'  => ['ports', port => 1, 0, sub { { node_uuid => $node, address => $_[0] } }],
        'the uuid of a provider' => ['resourceproviders', provider => 0, 1, sub { { name => "p-$_[0]" } }],
        'the name of a provider' => ['resourceproviders', provider => 1, 0, sub { { name => $_[0] } }],
    );
    for my $what (sort keys %put) {
        my ($plural, $kind, $nth, $is_address, $body) = @{ $put{$what} };
        my %told;
        for my $who ('victim', 'system', 'nobody') {
            my $value  = $who ne 'nobody' ? $holder{$who}{id}{$kind}[$nth] : $kind eq 'port' && $nth ? $mac->() : $nth ? 'n-' . Tenure::Strangers::Words::hex_digits(9) : Tenure::Strangers::Words::uuid();
            my $answer = $service->put("/v2.0/stranger/$plural/" . ($is_address ? $value : Tenure::Strangers::Words::uuid()), json => $body->($value));
            is $answer->status, $who eq 'nobody' ? 201 : 409, "PUT: $what of $who" or diag $answer->describe;
            my $id   = $answer->request_id;
            my $text = $answer->text =~ s/\Q$id\E/REQUEST/r =~ s/\Q$value\E/IT/gr;
            $text =~ s/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/$strangers->{marks}{$1} ? $1 : 'NEW'/ge;
            push @{ $told{$text} }, $who if $who ne 'nobody';
        }
        is scalar keys %told, 1, 'in the same words whoever has it' or diag explain \%told;
    }
};

my $before = $strangers->state;
my $began  = Time::HiRes::time();
my $told   = $strangers->run($n, 4);
my $took   = Time::HiRes::time() - $began;
$told->{found} //= 0;
my @counts = map { "$_=" . ($told->{$_} // 0) } grep { $_ ne 'findings' } sort keys %$told;
diag join ' ', $server, @counts, sprintf 'seconds=%.1f', $took;
if (defined $ENV{TENURE_STRANGERS_COUNTS}) {
    open my $out, '>>', $ENV{TENURE_STRANGERS_COUNTS} or die "$ENV{TENURE_STRANGERS_COUNTS}: $!\n";
    print {$out} "$server $_\n" for @counts;
    close $out;
}

is scalar @{ $told->{findings} }, 0, "$told->{requests} requests, and nothing of another's in any answer"
    or diag join "\n\n", @{ $told->{findings} }[0 .. List::Util::min(9, $#{ $told->{findings} })];
cmp_ok $told->{requests}, '>=', $n, 'all were sent';
cmp_ok $told->{pairs}, '>', $n / 6, 'what is there was compared with what is not';
cmp_ok $told->{answered_2xx}, '>', $n / 30, 'some ask for what is their own';
is $strangers->state, $before, 'nothing of another\'s has changed';

done_testing;
