#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The Bare Metal API behind the other web servers: none of them gets in the way of its addresses and header fields.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault);

for my $server (qw(apache-fcgid apache-proxy nginx)) {
    subtest $server => sub {
        plan skip_all => "$server is not installed"
            unless Tenure::Instance::on_path($server eq 'nginx' ? 'nginx' : 'apache2');
        plan skip_all => 'mod_fcgid is not installed'
            if $server eq 'apache-fcgid' && !-e '/usr/lib/apache2/modules/mod_fcgid.so';
        my $instance = Tenure::Instance->start(server => $server);
        my $metal    = Tenure::Metal->new($instance->admin, '1.82');
        my $node     = $metal->make('nodes', { driver => 'fake-hardware', name => 'n.1', owner => 't1' });
        my $self     = $metal->url . "/v1/nodes/$node->{uuid}";
        is $node->{links}[0]{href}, $self, 'links lead where the client asked';

        my $get = $metal->get('/nodes/n.1');
        $get->is_status(200);
        $get->header_is("X-OpenStack-Ironic-API-$_->[0]", $_->[1])
            for ['Version', '1.82'], ['Minimum-Version', '1.1'], ['Maximum-Version', '1.82'];
        is $get->etag =~ s/"//gr, $get->json->{etag}, 'the etag in header and body';
        $metal->get($self)->is_status(200, 'a whole address');
        is_deeply [map { $_->{name} } @{ $metal->get('/nodes/?limit=1&fields=name')->json->{nodes} }], ['n.1'],
            '"/" before "?"';

        my $patch = $metal->patch("/nodes/n.1", [[add => '/extra/a', 1]], if_match => $get->etag);
        $patch->is_status(200);
        is_fault($metal->patch('/nodes/n.1', [[add => '/extra/b', 1]], if_match => $get->etag), 412, qr{/extra/a},
            'a stale etag');
        $metal->put('/nodes/n.1/maintenance', json => { reason => 'r' })->is_status(202);
        $metal->delete('/nodes/n.1/maintenance',
            headers => { 'Content-Type' => 'application/octet-stream' })->is_status(202);
        $metal->put('/nodes/n.1/traits/CUSTOM_A')->header_is('Location', $metal->url . '/v1/nodes/n.1/traits/CUSTOM_A');

        for my $of (['volume/connectors', { node_uuid => $node->{uuid}, type => 'iqn', connector_id => 'a/b c' }],
            ['volume/targets', { node_uuid => $node->{uuid}, volume_type => 'iscsi', volume_id => 'v', boot_index => 0 }],
            ['deploy_templates', { name => 'CUSTOM_A', steps => [{ interface => 'bios', step => 's', args => {}, priority => 1 }] }]) {
            my ($kind, $content) = @$of;
            my $post = $metal->post("/$kind", json => $content);
            $post->is_status(201);
            $metal->get($post->location)->is_status(200, "$kind: where Location leads");
            is_deeply [map { $_->{uuid} } @{ $metal->get("/$kind/?limit=1&detail=True")->json->{ $kind =~ s{.*/}{}r } }], [$post->json->{uuid}], 'listed';
            $patch = $metal->patch("/$kind/" . $post->json->{uuid}, [[add => '/extra/a', 1]], if_match => $post->etag);
            $patch->is_status(200);
            is_fault($metal->delete("/$kind/" . $post->json->{uuid}, if_match => $post->etag), 412, qr{/extra/a}, 'a stale etag');
            $metal->delete("/$kind/" . $post->json->{uuid}, if_match => $patch->etag)->is_status(204);
        }
        my $free = $metal->make('nodes', { driver => 'fake-hardware', name => 'n.2', owner => 't1', resource_class => 'gold' });
        for my $target (qw(manage provide)) {
            $metal->put('/nodes/n.2/states/provision', json => { target => $target })->header_is('Location', $metal->url . '/v1/nodes/n.2/states');
        }
        my $power = $metal->put('/nodes/n.2/states/power', json => { target => 'power off' });
        $power->is_status(202);
        $metal->post('/nodes/n.2/vifs', json => { id => 'v.1' }, if_match => $power->etag)->is_status(204);
        is_fault($metal->delete('/nodes/n.2/vifs/v.1', if_match => $power->etag), 412, undef, 'a stale etag');
        $metal->delete('/nodes/n.2/vifs/v.1')->is_status(204);
        is_fault($metal->delete('/nodes/n.2/vifs/v.1'), 400, qr/not attached/, 'what is not attached');
        my $allocation = $metal->post('/allocations', json => { resource_class => 'gold', name => 'a.1' });
        $allocation->is_status(201);
        is $metal->get($allocation->location)->json->{node_uuid}, $free->{uuid}, 'an allocation, where Location leads';
        $metal->delete('/nodes/n.2/allocation', if_match => $metal->get('/nodes/n.2/allocation')->etag)->is_status(204);

        my $history = $metal->get('/nodes/n.1/history?limit=1')->json;
        is_deeply $metal->client->get($metal->client->path_of($history->{next}), headers => { $metal->version_header })->json->{history}[0]{event}, 'changed /extra/a',
            'a page of the history leads to the next';

        is_fault($metal->version('1.83')->get('/nodes'), 406, qr/1\.82/, 'a version there is not', address => 1);
        $metal->head('/nodes')->is_status(405, 'HEAD');
        is_fault($metal->get('/nosuch/'), 404, undef, 'no such address', address => 1);
        $metal->delete('/nodes/n.1')->is_status(204);
    };
}

done_testing;
