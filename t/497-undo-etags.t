#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Etags across a move and its undo, of each sort of resource: the etag from before a move counts after its undo only if the document is the
# same, and no etag of another document ever counts again.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Metal;
use Tenure::Placement;
use Tenure::Undo qw(undo_path reasons);

my $instance  = Tenure::Instance->start;
my $admin     = $instance->admin;
my $metal     = Tenure::Metal->new($admin, '1.82');
my $placement = Tenure::Placement->new($admin, '1.39', '/placement');
$admin->make_tenant($_) for qw(t1 t2);

sub undo { my ($request, $tenant) = @_; return $admin->post(undo_path($tenant, $request)) }

# A document as somebody compares it: without revision, and where it shows its etag, without that.
sub content {
    my ($answer) = @_;
    my %doc  = %{ $answer->json };
    my %meta = %{ $doc{metadata} };
    delete @meta{qw(resourceVersion etag)};
    return { %doc, metadata => \%meta };
}

# A write by which nothing changes but a label.
sub label { my ($path, $value, @more) = @_; return $admin->patch($path, { metadata => { labels => { note => $value } } }, @more) }

sub is_stale {
    my ($path, $what, @tags) = @_;
    my $before = $admin->get($path)->etag;
    is label($path, 'lost', if_match => $_)->status, 412, "stale: $what" for @tags;
    is $admin->delete($path, if_match => $tags[0])->status, 412, '... for DELETE, too';
    is $admin->get($path)->etag, $before, '... and nothing is changed';
    return;
}

# at: the resource below a tenant; moves: what is moved, itself or what it goes with; owner: its document shows whose it is.
sub check {
    my (%case) = @_;
    my %path   = map { $_ => "/v2.0/$_/$case{at}" } 't1', 't2';
    my %action = map { $_ => "/v2.0/$_/" . ($case{moves} // $case{at}) . '/action/move' } 't1', 't2';
    my $there  = $admin->get($path{t1});
    my ($tag, $content) = ($there->etag, content($there));

    my $move = $admin->post("$action{t1}?dest=t2");
    $move->is_status(303, 'moved');
    my $away = $admin->get($path{t2})->etag;
    $case{owner} ? isnt $away, $tag, 'another owner, another etag' : is $away, $tag, 'the same content, the same etag';
    isnt label($path{t1}, 'lost', if_match => $tag)->status, 200, 'nothing is written at the old address';
    undo($move, 't1')->is_status(200, 'taken back');
    my $back = $admin->get($path{t1});
    is_deeply content($back), $content, 'exactly what was';
    if ($case{owner}) {
        isnt $back->etag, $tag, 'under a new etag, as after a move and another one back';
        isnt $back->etag, $away, '... which it has had nowhere';
        is_stale($path{t1}, 'an etag from before the move, or between', $tag, $away);
    } else {
        is $back->etag, $tag, 'the etag, too';
        label($path{t1}, 'seen', if_match => $tag)->is_status(200, 'who read it before the move changes what he has read');
        is_stale($path{t1}, 'it counts once', $tag);
    }

    $there   = $admin->get($path{t1});
    $tag     = $there->etag;
    $content = content($there);
    $move    = $admin->post("$action{t1}?dest=t2");
    $move->is_status(303, 'moved again');
    $away = $admin->get($path{t2})->etag;
    my $write = label($path{t2}, 'between');
    $write->is_status(200, 'a write in between');
    my $written = $admin->get($path{t2})->etag;
    my $refused = undo($move, 't1');
    is_deeply [$refused->status, grep { $_ eq 'changed-since' } @{ reasons($refused) }], [409, 'changed-since'], '... is in the way of the undo';
    is $admin->get($path{t2})->etag, $written, '... which leaves all as it was';
    undo($write, 't2')->is_status(200, 'the write is taken back');
    my $unwritten = $admin->get($path{t2})->etag;
    is_deeply [grep { $_ eq $unwritten } $tag, $away, $written], [], '... under a new etag';
    $refused = undo($move, 't1');
    is_deeply [$refused->status, grep { $_ eq 'changed-since' } @{ reasons($refused) }], [409, 'changed-since'], 'an undone write is a change, too';
    $admin->post("$action{t2}?dest=t1")->is_status(303, 'so it is moved back');
    is_deeply content($admin->get($path{t1})), $content, '... with the same content';
    is_stale($path{t1}, 'an etag from before the move, from between, and of the write', $tag, $away, $written);
    return;
}

my $space = '/v2.0/t1/namespaces';
$admin->make("$space/n");
$admin->make("$space/n/configmaps/in-it", { data => { a => 'b' } });
$admin->make("$space/default/configmaps/c", { data => { a => 'b' } });
$admin->make("$space/default/secrets/s", { data => { a => 'Yg==' } });
$admin->make('/v2.0/t1/persistentvolumes/pv', { spec => {} });
my $node     = $metal->make('nodes', { driver => 'fake-hardware', owner => 't1' })->{uuid};
my $port     = $metal->make('ports', { node_uuid => $node, address => '52:54:00:00:00:01' })->{uuid};
my $claim    = Tenure::Metal->new($instance->service('ann:t1:member'), '1.82')->make('allocations', { resource_class => 'gold' })->{uuid};
my $provider = Tenure::Placement::uuid();
my $child    = Tenure::Placement::uuid();
$placement->post('/resource_providers', json => { name => 'p', uuid => $provider })->is_status(200);
$placement->post('/resource_providers', json => { name => 'below', uuid => $child, parent_provider_uuid => $provider })->is_status(200);
$admin->post("/v2.0/system/resourceproviders/$provider/action/move?dest=t1")->is_status(303);

subtest 'an object in a namespace'  => sub { check(at => 'namespaces/default/configmaps/c') };
subtest 'a secret'                  => sub { check(at => 'namespaces/default/secrets/s') };
subtest 'an object at large'        => sub { check(at => 'persistentvolumes/pv') };
subtest 'a namespace'               => sub { check(at => 'namespaces/n') };
subtest 'what goes with it'         => sub { check(at => 'namespaces/n/configmaps/in-it', moves => 'namespaces/n') };
subtest 'a node'                    => sub { check(at => "nodes.baremetal.openstack.org/$node", owner => 1) };
subtest 'its port'                  => sub { check(at => "ports/$port", moves => "nodes.baremetal.openstack.org/$node") };
subtest 'an allocation of nodes'    => sub { check(at => "allocations/$claim", owner => 1) };
subtest 'a resource provider'       => sub { check(at => "resourceproviders/$provider") };
subtest 'a provider below it'       => sub { check(at => "resourceproviders/$child", moves => "resourceproviders/$provider") };

# What guards writes beside etags: generations of providers, and revisions that Kubernetes' clients send.
subtest 'generations and revisions' => sub {
    my $at    = "/resource_providers/$provider";
    my $stock = { resource_provider_generation => 0, inventories => { VCPU => { total => 4 } } };
    $stock->{resource_provider_generation} = $placement->get($at)->json->{generation};
    $placement->request('PUT', "$at/inventories", json => $stock)->is_status(200);
    my $known = $placement->get($at)->json->{generation};
    my $move  = $admin->post("/v2.0/t1/resourceproviders/$provider/action/move?dest=t2");
    is $placement->get($at)->json->{generation}, $known, 'a move keeps the generation';
    undo($move, 't1')->is_status(200);
    is $placement->get($at)->json->{generation}, $known, '... and so does its undo';
    is $placement->request('PUT', "$at/inventories", json => $stock)->status, 409, 'a stale one stays stale';

    my $object  = '/api/v1/tenants/%s/namespaces/default/configmaps/c';
    my $version = $admin->get(sprintf $object, 't1')->json->{metadata}{resourceVersion};
    $move = $admin->post("$space/default/configmaps/c/action/move?dest=t2");
    undo($move, 't1')->is_status(200);
    my $doc = $admin->get(sprintf $object, 't1')->json;
    $doc->{metadata}{resourceVersion} = $version;
    $doc->{data}{a} = 'lost';
    is $admin->put(sprintf($object, 't1'), json => $doc)->status, 409, 'a revision from before the move is stale after its undo';
};
is((($instance->manage('doctor'))[0]), 0, 'the stored data keep their promises');
$instance->stop;
done_testing;
