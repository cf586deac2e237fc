#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Owners that are not there yet: made with a warning, or refused. And whose the nodes and providers were that an operator's
# calls were about: the access log has it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault);
use Tenure::Parallel;

my $instance = Tenure::Instance->start(combined => 1);
my $operator = $instance->combined('admin');
my $metal    = Tenure::Metal->new($operator, '1.82');
$operator->make_tenant($_) for 't1', 't2';
my %v = (driver => 'fake-hardware');
my $warning = qr/\A299 - "owner: there was no tenant (\S+), so it was made; [^"]*"\z/;

subtest 'an unknown owner' => sub {
    my $post = $metal->request('POST', '/nodes', json => { %v, name => 'w1', owner => 'mistyped' });
    $post->is_status(201);
    like $post->header('Warning') // '', $warning, 'POST warns';
    is $operator->get('/v2.0/mistyped')->status, 200, 'the tenant is there';
    my $again = $metal->request('POST', '/nodes', json => { %v, name => 'w2', owner => 'mistyped' });
    is $again->header('Warning'), undef, 'the second time it was there';
    my $uuid  = $post->json->{uuid};
    my $patch = $metal->patch("/nodes/$uuid", [[replace => '/owner', 't 2 "x"']]);
    $patch->is_status(200);
    ($patch->header('Warning') // '') =~ $warning;
    is $1, 't%202%20%22x%22', 'PATCH warns, and the name cannot end the quotes';
    is $patch->json->{owner}, 't 2 "x"', 'it has the node';
    is $metal->patch("/nodes/$uuid", [[replace => '/owner', 't1']])->header('Warning'), undef, 'no warning for one that is there';
    is $metal->patch("/nodes/$uuid", [[remove => '/owner']])->header('Warning'), undef, 'nor for the operator\'s own';
    is_fault($metal->patch("/nodes/$uuid", [[replace => '/owner', 'a/b']]), 400, qr/\S/, 'what is no name is refused');
    my %taken = (driver => 'fake-hardware', name => 'w1');
    for my $case (['/nodes', { driver => 'nosuch' }, 400], ['/nodes', \%taken, 409], ['/nodes', { %v, uuid => $uuid }, 409]) {
        my ($path, $body, $status) = @$case;
        my $failed = $metal->request('POST', $path, json => { %$body, owner => 'nobody' });
        $failed->is_status($status, 'what fails behind the owner');
        is $failed->header('Warning'), undef, '... has made no tenant, and does not say so';
    }
    my $allocated = sub { $metal->request('POST', '/allocations', json => { resource_class => 'gold', name => 'w1', owner => $_[0] }) };
    my $made      = $allocated->('allocates');
    $made->is_status(201);
    like $made->header('Warning') // '', qr/; if the name is a mistake, delete the allocation and that tenant"\z/, 'an allocation warns, too';
    my $twice = $allocated->('nobody');
    $twice->is_status(409, 'its name is taken');
    is $twice->header('Warning'), undef, '... and nothing was made';
    is $operator->get('/v2.0/nobody')->status, 404, 'indeed';
    my @told = Tenure::Parallel::run(4, sub {
        my ($n) = @_;
        my $answer = Tenure::Metal->new($instance->combined('admin'), '1.82')->request('POST', '/nodes', json => { %v, owner => 'raced' });
        return $answer->status . (defined $answer->header('Warning') ? ' warned' : '');
    });
    is join(',', sort @told), '201,201,201,201 warned', 'of several at once one has made it, and is told so';
};

subtest 'the access log' => sub {
    my $logs = sub {
        my ($response, $tenant, $name) = @_;
        like $instance->access_line('combined', $response), qr/ "\Q$tenant\E"\z/, "$name: $tenant";
    };
    my $post = $metal->request('POST', '/nodes', json => { %v, name => 'l1', owner => 't1' });
    $logs->($post, 't1', 'POST of a node');
    my $uuid = $post->json->{uuid};
    $logs->($metal->get("/nodes/$uuid"), 't1', 'GET by uuid');
    $logs->($metal->get('/nodes/l1'), 't1', 'GET by name');
    $logs->($metal->patch("/nodes/$uuid", [[add => '/extra/a', 1]]), 't1', 'PATCH');
    $logs->($metal->request('PUT', "/nodes/$uuid/maintenance", json => {}), 't1', 'maintenance');
    $logs->($metal->request('PUT', "/nodes/$uuid/traits/CUSTOM_L"), 't1', 'a trait');
    my $port = $metal->request('POST', '/ports', json => { node_uuid => $uuid, address => '52:54:00:00:69:01' });
    $logs->($port, 't1', 'POST of a port');
    $logs->($metal->get('/ports/' . $port->json->{uuid}), 't1', 'GET of it');
    $logs->($metal->get("/nodes/$uuid/ports"), 't1', 'ports of a node');
    $logs->($metal->patch("/nodes/$uuid", [[add => '/extra/a', 2]], if_match => 'W/"00"'), 't1', 'a refused PATCH');
    $logs->($metal->patch("/nodes/$uuid", [[replace => '/owner', 't2']]), 't1', 'a change of owner: the one it had');
    $logs->($metal->get("/nodes/$uuid"), 't2', 'and then the other');
    $logs->($metal->get('/nodes'), '-', 'a list');
    $logs->($metal->get('/nodes/00000000-0000-4000-8000-000000000000'), '-', 'what is not there');
    $logs->($metal->request('DELETE', "/nodes/$uuid"), 't2', 'DELETE');
    my $ann = Tenure::Metal->new($instance->combined('ann:t1:admin'), '1.82');
    $logs->($ann->get('/nodes'), 't1', 'a tenant\'s own list');
    my $stranger = Tenure::Metal->new($instance->combined('bob:t2:admin'), '1.82');
    my $made = $metal->request('POST', '/nodes', json => { %v, name => 'l2', owner => 't1' });
    $logs->($stranger->get('/nodes/l2'), 't2', 'a stranger\'s call');

    my %place = (headers => { 'OpenStack-API-Version' => 'placement 1.39' });
    my @rp = map { "69000000-0000-4000-8000-00000000000$_" } 1, 2;
    for my $i (0, 1) {
        my $create = $operator->request('POST', '/placement/resource_providers', %place, json => { uuid => $rp[$i], name => "rp$i" });
        is $create->status, 200, "provider $i";
        $logs->($create, 'system', 'POST of a provider');
        my $inventory = $operator->request('PUT', "/placement/resource_providers/$rp[$i]/inventories", %place,
            json => { resource_provider_generation => 0, inventories => { VCPU => { total => 8 } } });
        $logs->($inventory, 'system', 'its inventories');
    }
    $operator->post("/v2.0/system/resourceproviders/$rp[1]/action/move?dest=t2")->is_status(303);
    $logs->($operator->get("/placement/resource_providers/$rp[1]", %place), 't2', 'GET of one that was moved');
    my $allocate = sub {
        my ($consumer, @providers) = @_;
        return $operator->request('PUT', "/placement/allocations/$consumer", %place, json => { consumer_generation => undef, project_id => 'p', user_id => 'u',
            consumer_type => 'INSTANCE', allocations => { map { $_ => { resources => { VCPU => 1 } } } @providers } });
    };
    my $one = $allocate->('69000000-0000-4000-8000-0000000000c1', $rp[1]);
    is $one->status, 204, 'allocated from one';
    $logs->($one, 'p', 'allocations: the consumer\'s project');
    my $both = $allocate->('69000000-0000-4000-8000-0000000000c2', @rp);
    is $both->status, 204, 'allocated from both';
    $logs->($both, 'p', 'whoever the providers belong to');
    $logs->($operator->get('/placement/resource_providers', %place), '-', 'a list of providers');
};

subtest 'create_owners = no, and conductor' => sub {
    my $strict = Tenure::Instance->start(combined => 1, settings => { 'baremetal.create_owners' => 'no', 'baremetal.conductor' => 'bmc.example.com' });
    my $admin  = $strict->combined('admin');
    my $other  = Tenure::Metal->new($admin, '1.82');
    $admin->make_tenant('there');
    is_fault($other->request('POST', '/nodes', json => { %v, owner => 'mistyped' }), 400, qr/no tenant "mistyped"/, 'POST is refused');
    my $node = $other->make('nodes', { %v, owner => 'there' });
    is_fault($other->patch("/nodes/$node->{uuid}", [[replace => '/owner', 'mistyped']]), 400, qr/no tenant "mistyped"/, 'PATCH is refused');
    is $admin->get('/v2.0/mistyped')->status, 404, 'no tenant is made';
    is $other->get("/nodes/$node->{uuid}")->json->{owner}, 'there', 'nothing has changed';
    $other->patch("/nodes/$node->{uuid}", [[remove => '/owner']])->is_status(200, 'the operator\'s own is no unknown one');
    $other->patch("/nodes/$node->{uuid}", [[add => '/owner', 'there']])->is_status(200, 'one that is there is fine');
    is $node->{conductor}, 'bmc.example.com', 'the conductor, whichever host answers';
    is $other->get('/conductors/bmc.example.com')->json->{hostname}, 'bmc.example.com', 'found';
    is scalar @{ $other->get('/nodes?conductor=bmc.example.com')->json->{nodes} }, 1, 'with its nodes';
    is $other->get('/conductors')->json->{conductors}[0]{hostname}, 'bmc.example.com', 'the only one';
    is $other->get('/drivers/ipmi')->json->{hosts}[0], 'bmc.example.com', 'of all drivers';
};

done_testing;
