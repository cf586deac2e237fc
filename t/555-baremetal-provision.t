#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What fake-hardware does without hardware: provision states, power, boot mode, console, RAID, boot device, indicators.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault);

my ($true, $false) = (JSON::PP::true(), JSON::PP::false());
my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;
$admin->make_tenant($_) for qw(t1 t2);
my $ann  = Tenure::Metal->new($instance->combined('ann:t1:member'), '1.82');
my $uuid = '11111111-2222-4333-8444-555555555555';
my $n1   = sub { return $admin->make("/v2.0/t1/nodes/$uuid", { driver => 'fake-hardware', name => 'n1' }) };
$n1->();
$admin->delete("/v2.0/t1/nodes/$uuid")->is_status(204); # so there is a deleted one with its UUID, too
$n1->();

sub stored { return $admin->get("/v2.0/t1/nodes/$uuid") }
sub go { my ($target, @more) = @_; return $ann->put('/nodes/n1/states/provision', json => { target => $target, @more }) }
sub state_is {
    my ($state, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return is $ann->get('/nodes/n1/states')->json->{provision_state}, $state, $name // "it is $state";
}

# The operator changes the record, whoever else may not.
sub record {
    my (%member) = @_;
    my $put = $admin->put("/v2.0/t1/nodes/$uuid", json => { %{ stored()->json }, %member });
    return $put->is_status(200, 'set: ' . join ' ', map { "$_=" . ($member{$_} // 'null') } sort keys %member);
}

subtest 'the life of a node' => sub {
    my @way = (manage => 'manageable', inspect => 'manageable', provide => 'available', manage => 'manageable', provide => 'available', active => 'active',
        rebuild => 'active', rescue => 'rescue', rescue => 'rescue', unrescue => 'active', deleted => 'available', deploy => 'active', undeploy => 'available',
        manage => 'manageable', adopt => 'active', rescue => 'rescue', deleted => 'available', manage => 'manageable', clean => 'manageable');
    while (my ($verb, $state) = splice @way, 0, 2) {
        my $answer = go($verb, $verb eq 'rescue' ? (rescue_password => 'x y') : $verb eq 'clean' ? (clean_steps => [{ interface => 'deploy', step => 'erase' }]) : ());
        $answer->is_status(202, $verb);
        is $answer->location, $ann->url . '/v1/nodes/n1/states', 'Location';
        is $answer->text, '', 'no body';
        is $answer->etag, stored()->etag, 'the new etag';
        state_is($state);
    }
    my $states = $ann->get('/nodes/n1/states')->json;
    is_deeply [@$states{qw(target_provision_state last_error power_state)}], [undef, undef, undef], 'no target, no error, and no power that nobody set';
    like $states->{provision_updated_at}, qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00\z/, 'when';
    my $node = $ann->get('/nodes/n1')->json;
    like $node->{inspection_finished_at}, qr/\A\d{4}-/, 'it was inspected';
    is $node->{inspection_started_at}, undef, '... and is not any more';
    my ($change) = $instance->changes_of(go("provide"));
    is $change->{actor}, "ann", "the change log has who did it";
};

subtest 'a verb that is not possible' => sub {
    my $before = stored()->etag;
    state_is('available');
    for my $verb (qw(provide inspect abort adopt rebuild deleted unrescue undeploy)) {
        is_fault(go($verb), 400, qr/\AThe requested action "$verb" can not be performed on node "$uuid" while it is in state "available"\. Possible in this state: "active", "deploy", "manage"\z/, $verb);
    }
    is_fault(go('rescue', rescue_password => 'x'), 400, qr/in state "available"/, 'rescue');
    is_fault(go('explode'), 400, qr/"explode" could not be understood.*active, deploy, rebuild/, 'there is no such verb');
    for my $body ('', '{}', '{"target": null}', '{"target": 1}', '{"target": []}') {
        is_fault($ann->put('/nodes/n1/states/provision', body => $body), 400, qr/Missing mandatory parameter: target/, "no target: $body");
    }
    is_fault($ann->put('/nodes/n1/states/provision', body => $_), 400, undef, "no object: $_") for '[]', '"manage"', '{"target"', "\xff";
    is_fault(go('manage', force => 1), 400, qr/Unexpected arguments: force\. .*target, configdrive/, 'an unknown argument');
    is_fault($ann->put('/nodes/n2/states/provision', json => { target => 'manage' }), 404, qr/Node n2 could not be found/, 'no such node');
    is stored()->etag, $before, 'nothing is changed by any';
};

subtest 'versions' => sub {
    my %since = (manage => 4, provide => 4, inspect => 6, abort => 13, clean => 15, adopt => 17, rescue => 38, unrescue => 38, deploy => 73, undeploy => 73);
    for my $verb (sort keys %since) {
        is_fault($ann->version('1.' . ($since{$verb} - 1))->put("/nodes/$uuid/states/provision", json => { target => $verb }), 406, qr/\b$verb\b.*1\.$since{$verb}\b/, "$verb before 1.$since{$verb}");
    }
    is_fault($ann->version('1.3')->put("/nodes/$uuid/states/provision", json => { target => 'deleted' }), 400, qr/in state "available"/, 'deleted there always was');
    $ann->version('1.4')->put("/nodes/$uuid/states/provision", json => { target => 'manage' })->is_status(202, 'manage at 1.4');
    is $ann->version('1.4')->get("/nodes/$uuid/states")->json->{provision_state}, 'manageable', 'as that version shows it';
    is_fault($ann->version('1.68')->put("/nodes/$uuid/states/provision", json => { target => 'active', deploy_steps => [{}] }), 406, qr/deploy_steps.*1\.69/, 'deploy_steps');
    is_fault($ann->version('1.69')->put("/nodes/$uuid/states/provision", json => { target => 'clean', clean_steps => [{ interface => 'deploy', step => 'a' }], disable_ramdisk => $true }), 406, qr/disable_ramdisk.*1\.70/, 'disable_ramdisk');
    record(provision_state => 'inspect wait');
    is $ann->version('1.38')->get("/nodes/$uuid")->json->{provision_state}, 'inspecting', 'inspect wait before 1.39';
    is $ann->version('1.38')->get("/nodes/$uuid/states")->json->{provision_state}, 'inspecting', 'among the states, too';
    is_fault($ann->version('1.40')->put("/nodes/$uuid/states/provision", json => { target => 'abort' }), 406, qr/1\.41/, 'ending an inspection before 1.41');
    state_is('inspect wait');
};

subtest 'ending what waits' => sub {
    for my $case (['inspect wait', 'inspect failed', 'manageable'], ['clean wait', 'clean failed', 'available'], ['rescue wait', 'rescue failed', 'rescue']) {
        my ($from, $to, $target) = @$case;
        record(provision_state => $from, target_provision_state => undef);
        go('abort')->is_status(202, "abort: $from");
        my $states = $ann->get('/nodes/n1/states')->json;
        is_deeply [@$states{qw(provision_state target_provision_state)}], [$to, $target], "$to";
        like $states->{last_error}, qr/abort/, 'why';
    }
    my $time = '2026-01-02T03:04:05+00:00';
    my $node = sub { return $ann->get('/nodes/n1')->json };
    record(provision_state => 'inspect wait', inspection_started_at => $time, inspection_finished_at => $time);
    go('abort')->is_status(202);
    is_deeply [@{ $node->() }{qw(inspection_started_at inspection_finished_at)}], [undef, $time], 'no inspection goes on';
    my $step = { interface => 'deploy', step => 'erase_devices', abortable => $true };
    for my $target ('manageable', 'available') {
        record(provision_state => 'clean wait', target_provision_state => $target, clean_step => $step);
        go('abort')->is_status(202);
        is_deeply [@{ $node->() }{qw(provision_state target_provision_state clean_step last_error)}],
            ['clean failed', $target, {}, 'By request, the clean operation was aborted during or after the completion of step "deploy.erase_devices"'], "a clean step, on the way to $target";
    }
    delete $step->{abortable};
    record(provision_state => 'clean wait', target_provision_state => 'manageable', clean_step => $step, last_error => undef);
    go('abort')->is_status(202);
    is_deeply [@{ $node->() }{qw(provision_state target_provision_state clean_step last_error)}], ['clean wait', 'manageable', { %$step, abort_after => $true }, undef],
        'a step that must not be interrupted is the last one';
    record(provision_state => 'rescue wait', clean_step => {});
    go('abort')->is_status(202);
    go('deleted')->is_status(202, 'a failure is left');
    is $ann->get('/nodes/n1/states')->json->{last_error}, undef, 'and forgotten';
};

subtest 'arguments' => sub {
    my @step = ({ interface => 'deploy', step => 'a', args => {}, priority => 10 });
    for my $case ([{ target => 'active', configdrive => 1 }, qr/Invalid configdrive format/],
        (map { [{ target => 'active', configdrive => $_ }, qr/\AInvalid configdrive format: it is neither a JSON, nor a URL, nor a base64 string\z/] } 'not base64 !', '{"a":1}', 'a:/b', "a\0b", "\x{e9}"),
        [{ target => 'active', configdrive => ['x'] }, qr/Invalid configdrive format/],
        [{ target => 'active', configdrive => { more => {} } }, qr/'more' was unexpected/], [{ target => 'active', configdrive => { meta_data => 'x' } }, qr/meta_data has to be an object/],
        [{ target => 'active', configdrive => { user_data => 1 } }, qr/user_data/], [{ target => 'manage', configdrive => 'x' }, qr/only supported when setting provision state to active, rebuild/],
        [{ target => 'clean' }, qr/"clean_steps" is required/], [{ target => 'clean', clean_steps => [] }, qr/"clean_steps" is required/], [{ target => 'manage', clean_steps => [{}] }, qr/"clean_steps" is only valid/],
        [{ target => 'clean', clean_steps => {a => 1} }, qr/list/], [{ target => 'clean', clean_steps => [1] }, qr/interface is required/], [{ target => 'clean', clean_steps => [{ interface => 'network', step => 'a' }] }, qr/interface/],
        [{ target => 'clean', clean_steps => [{ interface => 'deploy' }] }, qr/step is required/], [{ target => 'clean', clean_steps => [{ interface => 'deploy', step => 'a', args => 1 }] }, qr/args/],
        [{ target => 'clean', clean_steps => [{ interface => 'deploy', step => 'a', priority => 1 }] }, qr/nothing else/], [{ target => 'clean', clean_steps => [{ interface => 'deploy', step => '' }] }, qr/step is required/],
        (map { [{ target => 'active', deploy_steps => [{ %{ $step[0] }, priority => $_ }] }, qr/priority/] } -1, '-1', '', '1.5', 'ten', undef, []), [{ target => 'active', deploy_steps => [{ interface => 'deploy', step => 'a', priority => 1 }] }, qr/args/],
        [{ target => 'active', deploy_steps => [{ %{ $step[0] }, x => 1 }] }, qr/nothing else/], [{ target => 'deleted', deploy_steps => \@step }, qr/"deploy_steps" is only valid/],
        [{ target => 'rescue' }, qr/A non-empty "rescue_password" is required/], [{ target => 'rescue', rescue_password => '  ' }, qr/non-empty/], [{ target => 'rescue', rescue_password => 1 }, qr/non-empty/],
        [{ target => 'active', rescue_password => 'x' }, qr/"rescue_password" is only valid/], [{ target => 'active', disable_ramdisk => $true }, qr/"disable_ramdisk" is only valid/]) {
        my ($body, $text) = @$case;
        is_fault($ann->put('/nodes/n1/states/provision', json => $body), 400, $text, JSON::PP->new->ascii->canonical->encode($body));
    }
    is_fault($ann->version('1.34')->put("/nodes/$uuid/states/provision", json => { target => 'rebuild', configdrive => 'x' }), 400, qr/to active\z/, 'rebuild takes a configdrive from 1.35 on');
    is_fault($ann->version('1.55')->put("/nodes/$uuid/states/provision", json => { target => 'active', configdrive => { user_data => 'x' } }), 400, qr/1\.56/, 'an object from 1.56 on');
    is_fault($ann->version('1.58')->put("/nodes/$uuid/states/provision", json => { target => 'active', configdrive => { vendor_data => {} } }), 400, qr/1\.59/, 'vendor_data from 1.59 on');
    go('active', configdrive => 'secret/+drive==', deploy_steps => \@step)->is_status(202, 'deployed');
    is $ann->get('/nodes/n1')->json->{instance_info}{configdrive}, '******', 'with a configdrive, which is not shown';
    like $instance->sql_value("SELECT body FROM resources WHERE uid = UNHEX(REPLACE('$uuid', '-', '')) AND live = 1"), qr{secret/\+drive==}, 'but kept';
    go('rebuild', deploy_steps => [{ %{ $step[0] }, priority => '10' }])->is_status(202, 'a priority in digits, as templates take it');
    go('rebuild', configdrive => $_)->is_status(202, "a configdrive $_") for 'https://images.example/a-b?c=!', "QUJD\n REVG\t\r\n";
    go('rebuild', configdrive => { meta_data => { a => 1 }, user_data => ['x'] })->is_status(202, 'rebuilt with an object');
    is $ann->get('/nodes/n1')->json->{instance_info}{configdrive}, '******', 'not shown either';
    go('deleted')->is_status(202);
    is_deeply $ann->get('/nodes/n1')->json->{instance_info}, {}, 'gone with the instance';
};

subtest 'an instance ends with its deployment' => sub {
    my $instance_uuid = '99999999-2222-4333-8444-555555555555';
    $ann->patch('/nodes/n1', [[add => '/instance_uuid', $instance_uuid], [add => '/instance_info/a', 1]])->is_status(200);
    go('active')->is_status(202);
    is $ann->get('/nodes/n1')->json->{instance_uuid}, $instance_uuid, 'deployed for it';
    my $network = { links => [], networks => [], services => [{ type => 'dns', address => '192.0.2.53' }] };
    $ann->patch('/nodes/n1', [[add => '/network_data', $network]])->is_status(200);
    $ann->put('/nodes/n1/states/console', json => { enabled => $true })->is_status(202);
    go('deleted')->is_status(202);
    is_deeply [@{ $ann->get('/nodes/n1')->json }{qw(instance_uuid instance_info)}], [undef, {}], 'freed';
    is_deeply [@{ $ann->get('/nodes/n1')->json }{qw(network_data console_enabled)}], [$network, $true], 'what is the node\'s own stays';
    $ann->patch('/nodes/n1', [[remove => '/network_data']])->is_status(200);
    $ann->put('/nodes/n1/states/console', json => { enabled => $false })->is_status(202);
    $ann->patch('/nodes/n1', [[add => '/instance_uuid', $instance_uuid]])->is_status(200, 'the instance may have a node again');
    $ann->patch('/nodes/n1', [[remove => '/instance_uuid']])->is_status(200);
};

subtest 'traits of an instance' => sub {
    my $say  = sub { $ann->patch('/nodes/n1', [[add => '/instance_info/traits', $_[0]]])->is_status(200) };
    my $told = sub { return @{ $ann->get('/nodes/n1/validate')->json->{deploy} }{qw(result reason)} };
    $ann->put('/nodes/n1/traits', json => { traits => [qw(CUSTOM_A CUSTOM_B)] })->is_status(204);
    $say->([qw(CUSTOM_X CUSTOM_A CUSTOM_Y)]);
    my $missing = "Cannot specify instance traits that are not also set on the node. Node $uuid is missing traits CUSTOM_X, CUSTOM_Y";
    is_fault(go('active'), 400, qr/\AFailed to validate deploy or power info for node $uuid: $missing\z/, 'those of the node are not enough');
    is_fault(go('rebuild'), 400, qr/can not be performed/, 'a verb that is not possible is told first');
    state_is('available', 'it is not deployed');
    is_deeply [$told->()], [$false, $missing], 'which its validation tells before';
    for my $wrong ('CUSTOM_A', { a => 1 }, ['CUSTOM_A', 1], [['CUSTOM_A']]) {
        $say->($wrong);
        is_fault(go('active'), 400, qr/Error parsing traits from Node $uuid instance_info field\. A list of strings is expected\.\z/, JSON::PP->new->allow_nonref->encode($wrong));
    }
    for my $none ([], {}, '', undef) {
        $say->($none);
        go('active')->is_status(202, 'none: ' . JSON::PP->new->allow_nonref->encode($none));
        go('deleted')->is_status(202);
    }
    $say->([qw(CUSTOM_B)]);
    is_deeply [$told->()], [$true, undef], 'one that the node has';
    go('active')->is_status(202, 'is deployed');
    $say->([qw(CUSTOM_X)]);
    is_fault(go('rebuild'), 400, qr/is missing traits CUSTOM_X\z/, 'a rebuild asks as well');
    go('deleted')->is_status(202);
    $ann->delete('/nodes/n1/traits')->is_status(204);
};

subtest 'nodes that are held' => sub {
    $ann->put('/nodes/n1/maintenance')->is_status(202);
    for my $case (['active', 'provisioning'], ['rebuild', 'provisioning'], ['deploy', 'provisioning'], ['provide', 'providing'], ['unrescue', 'unrescuing']) {
        my ($verb, $doing) = @$case;
        is_fault(go($verb), 400, qr/\AThe $doing operation can't be performed on node $uuid because it's in maintenance mode\.\z/, "$verb in maintenance");
    }
    go('manage')->is_status(202, 'manage is possible');
    $ann->delete('/nodes/n1/maintenance')->is_status(202);
    my %of_node = (
        ports      => [{ node_uuid => $uuid, address => '52:54:00:55:00:01' }],
        portgroups => [{ node_uuid => $uuid, name => 'g55' }, 'g55'],
        'volume/connectors' => [{ node_uuid => $uuid, type => 'wwpn', connector_id => 'c55' }],
        'volume/targets'    => [{ node_uuid => $uuid, volume_type => 'iscsi', volume_id => 'v55', boot_index => 0 }],
    );
    my %second = (ports => { address => '52:54:00:55:00:02' }, portgroups => { name => 'g56' }, 'volume/connectors' => { connector_id => 'c56' },
        'volume/targets' => { volume_id => 'v56', boot_index => 1 });
    my %made = map { $_ => $ann->make($_, $of_node{$_}[0]) } keys %of_node;
    my $n2 = Tenure::Metal->new($instance->combined('admin'), '1.82')->make('nodes', { driver => 'fake-hardware', owner => 't1' });
    my $port_of_n2 = $ann->make('ports', { node_uuid => $n2->{uuid}, address => '52:54:00:55:00:03' });
    record(reservation => 'conductor-1');
    is_fault(go('provide'), 409, qr/\ANode $uuid is locked by host conductor-1, please retry after the current operation is completed\.\z/, 'reserved');
    is_fault(go('rebuild'), 409, qr/is locked by/, 'the state does not matter then');
    is_fault($ann->put('/nodes/n1/states/power', json => { target => 'power on' }), 409, qr/is locked by/, 'power');
    is_fault($ann->put('/nodes/n1/states/raid', json => {}), 409, qr/is locked by/, 'RAID');
    my $put_traits = sub { $ann->put('/nodes/n1/traits', json => { traits => $_[0] }) };
    my $etag = $ann->get('/nodes/n1')->etag;
    is_fault($ann->patch('/nodes/n1', [[add => '/extra/a', 1]]), 409, qr/\ANode $uuid is locked by host conductor-1, please retry/, 'PATCH');
    is_fault($ann->patch('/nodes/n1', []), 409, qr/is locked by/, '... of nothing');
    is_fault($ann->patch('/nodes/n1', [[add => '/extra/a', 1]], if_match => 'W/"' . '0' x 128 . '"'), 412, undef, 'a stale etag is told first');
    my $operator = Tenure::Metal->new($instance->combined('admin'), '1.82');
    is_fault($operator->patch("/nodes/$uuid", [[add => '/owner', 't2']]), 409, qr/is locked by/, 'another owner, by an operator');
    is_fault($ann->put('/nodes/n1/maintenance'), 409, qr/is locked by/, 'maintenance');
    is_fault($ann->delete('/nodes/n1/maintenance'), 409, qr/is locked by/, '... and its end');
    is_fault($put_traits->(['CUSTOM_R']), 409, qr/is locked by/, 'traits');
    is_fault($ann->put('/nodes/n1/traits/CUSTOM_R'), 409, qr/is locked by/, 'one trait');
    is_fault($operator->delete("/nodes/$uuid"), 409, qr/is locked by/, 'DELETE');
    for my $kind (sort keys %of_node) {
        my ($make, $name) = @{ $of_node{$kind} };
        my $object = $made{$kind};
        my $patch = sub { return $ann->patch("/$kind/$_[0]", [[add => '/extra/a', 1]], @_[1 .. $#_]) };
        is_fault($patch->($object->{uuid}), 409, qr/\ANode $uuid is locked by host conductor-1, please retry/, "PATCH of $kind");
        is_fault($patch->($name), 409, qr/is locked by/, '... by name') if defined $name;
        is_fault($patch->($object->{uuid}, if_match => 'W/"' . '0' x 128 . '"'), 412, undef, '... a stale etag is told first');
        is_fault($ann->delete("/$kind/$object->{uuid}"), 409, qr/is locked by/, '... DELETE');
        is $ann->get("/$kind/$object->{uuid}")->json->{etag}, $object->{etag}, '... nothing changed';
        my $post = $ann->post("/$kind", json => { %$make, %{ $second{$kind} } });
        if ($kind =~ /volume/) { $post->is_status(201, '... but one more is recorded, as OpenStack has it') }
        else { is_fault($post, 409, qr/is locked by/, '... no other comes to it') }
    }
    is_fault($ann->patch("/ports/$port_of_n2->{uuid}", [[replace => '/node_uuid', $uuid]]), 409, qr/is locked by/, 'nor a port of another node');
    is_deeply $ann->get('/nodes/n1/traits')->json, { traits => [] }, 'none was added';
    is $ann->get('/nodes/n1')->etag, $etag, 'and nothing changed';
    record(reservation => undef);
    $ann->patch('/nodes/n1', [[add => '/extra/a', 1]])->is_status(200, 'afterwards it may be changed');
    go('adopt')->is_status(202);
    $ann->patch('/nodes/n1', [[add => '/protected', $true]])->is_status(200);
    is_fault(go($_), 403, qr/\ANode $uuid is protected and cannot be undeployed, rebuilt or deleted\z/, "$_ of a protected one") for qw(deleted rebuild undeploy);
    $ann->patch('/nodes/n1', [[add => '/protected', $false]])->is_status(200);
    $ann->patch('/nodes/n1', [[add => '/retired', $true]])->is_status(200, 'retired while active');
    go('deleted')->is_status(202);
    state_is('manageable', 'a retired one is not available again');
    is_fault(go('provide'), 400, qr/\AThe providing operation can't be performed on node $uuid because it is retired\.\z/, 'nor by asking');
    $ann->patch('/nodes/n1', [[add => '/retired', $false]])->is_status(200);
    go('provide')->is_status(202);
    is_fault($ann->patch('/nodes/n1', [[add => '/retired', $true]]), 409, qr/can not have 'retired' set in provision state 'available'/, 'an available one is not retired');
};

subtest 'a node that is in use keeps what it was deployed with' => sub {
    my $id   = '22222222-2222-4333-8444-555555555555';
    my $make = sub { return $admin->put("/v2.0/t1/nodes/$id", json => { driver => 'fake-hardware', resource_class => 'gold', @_ }) };
    my $patch = sub { return $ann->patch("/nodes/$id", [@_]) };
    $make->()->is_status(201);
    for my $state (qw(active rescue), 'deploy failed', 'error') {
        $make->(provision_state => $state)->is_status(200, "recorded: $state");
        is_fault($patch->([replace => '/resource_class', $_]), 409,
            qr/\ANode $id can not have resource_class updated unless it is in one of allowed \(enroll, inspecting, inspect wait, manageable, available\) states\.\z/,
            "its resource class, $state: " . ($_ // 'null')) for 'silver', undef;
        is_fault($patch->([add => "/$_->[0]_interface", $_->[1]]), 409, qr/can not have $_->[0]_interface updated .* states or in maintenance mode\.\z/, "$_->[0]_interface")
            for ['storage', 'fake'], ['console', 'no-console'];
        $patch->([add => '/storage_interface', 'noop'], [add => '/extra/state', $state])->is_status(200, 'what stays the same can be said');
    }
    is_fault($patch->([add => '/maintenance', $true], [add => '/resource_class', 'silver']), 409, qr/resource_class/, 'maintenance is not enough for the class');
    $patch->([add => '/maintenance', $true], [add => '/storage_interface', 'fake'])->is_status(200, 'but for an interface');
    is_fault($patch->([remove => '/storage_interface'], [add => '/maintenance', $false]), 409, qr/storage_interface/, 'which is not removed outside of it');
    $make->(provision_state => 'manageable', resource_class => 'silver')->is_status(200, 'recorded with another state, another class is no mistake');
    $make->(provision_state => 'active', resource_class => undef)->is_status(200);
    $patch->([add => '/resource_class', 'gold'])->is_status(200, 'a first class is given to an active one');
    my $other = sub { return $ann->patch("/nodes/$id?reset_interfaces=true", [[replace => '/driver', 'ipmi'], @_]) };
    is_fault($other->([add => '/deploy_interface', 'ramdisk']), 409, qr/deploy_interface/, 'an interface with the driver');
    $other->()->is_status(200, 'those that are reset follow it');
    $patch->([add => '/maintenance', $true], [add => '/deploy_interface', 'ramdisk'])->is_status(200);
    $patch->([add => '/maintenance', $false])->is_status(200);
    is $other->()->json->{deploy_interface}, 'ramdisk', 'the driver that it has resets nothing';
    for my $state ('enroll', 'inspecting', 'inspect wait', 'manageable', 'available') {
        $make->(provision_state => $state)->is_status(200);
        $ann->version('1.38')->patch("/nodes/$id", [[add => '/resource_class', 'silver'], [add => '/storage_interface', 'fake']])->is_status(200, "another class and interface: $state");
    }
};

subtest 'a node on its way' => sub {
    my $id    = '33333333-2222-4333-8444-555555555555';
    my $make  = sub { return $admin->put("/v2.0/t1/nodes/$id", json => { driver => 'fake-hardware', @_ }) };
    my $patch = sub { return $ann->patch("/nodes/$id", [@_]) };
    $make->(provision_state => 'deploying', target_provision_state => 'active', maintenance => $true, instance_uuid => $id)->is_status(201);
    is_fault($patch->([add => '/extra/a', 1]), 409, qr/\ANode $id can not be updated while a state transition is in progress\.\z/, 'is not patched');
    is_fault($patch->([remove => '/instance_uuid'], [add => '/extra/a', 1]), 409, qr/in progress/, 'also together with what is possible');
    $patch->([remove => '/instance_uuid'])->is_status(200, 'its instance can be taken in maintenance');
    $make->(provision_state => 'deploying', target_provision_state => 'active', instance_uuid => $id)->is_status(200);
    is_fault($patch->([remove => '/instance_uuid']), 409, qr/in progress/, 'and only then');
    $make->(provision_state => 'clean failed', target_provision_state => 'available')->is_status(200);
    $patch->([add => '/extra/a', 1])->is_status(200, 'one that has failed is patched');
    $make->(provision_state => 'inspecting', target_provision_state => 'manageable')->is_status(200);
    is_fault($ann->version('1.39')->patch("/nodes/$id", [[add => '/extra/a', 2]]), 409, qr/\ACannot update node "$id" while it is in state "inspecting"\.\z/, 'inspecting, from 1.39 on');
    $ann->version('1.38')->patch("/nodes/$id", [[add => '/extra/a', 2]])->is_status(200, '... but before');
    $make->(provision_state => 'inspect wait', target_provision_state => 'manageable')->is_status(200);
    $patch->([add => '/extra/a', 3])->is_status(200, 'inspect wait');
};

subtest 'etags' => sub {
    my $etag = stored()->etag;
    is_fault($ann->put('/nodes/n1/states/power', json => { target => 'power on' }, if_match => 'W/"' . '0' x 128 . '"'), 412, undef, 'a stale one: power');
    is_fault($ann->put('/nodes/n1/states/provision', json => { target => 'manage' }, if_match => 'W/"' . '0' x 128 . '"'), 412, undef, 'provision');
    state_is('available', 'nothing was done');
    my $next = $ann->put('/nodes/n1/states/provision', json => { target => 'manage' }, if_match => $etag);
    $next->is_status(202, 'the right one');
    isnt $next->etag, $etag, 'is used up';
    is_fault($ann->version('1.39')->put('/nodes/n1/states/provision', json => { target => 'provide' }, if_match => $next->etag), 406, qr/If-Match/, 'before 1.40');
    is $ann->version('1.39')->put('/nodes/n1/states/provision', json => { target => 'provide' })->etag, undef, 'none is told there';
};

subtest 'who may' => sub {
    for my $path (qw(states/provision states/power)) {
        my $body = { target => $path =~ /power/ ? 'power on' : 'manage' };
        is_fault($ann->as('ann:t1:reader')->put("/nodes/n1/$path", json => $body), 403, undef, "a reader: $path");
        is_fault($ann->as('bob:t2:admin')->put("/nodes/$uuid/$path", json => $body), 404, qr/could not be found/, "another tenant: $path");
    }
    for my $call (['GET', 'states/console'], ['GET', 'management/boot_device'], ['GET', 'management/indicators'], ['PUT', 'states/console', { enabled => $true }], ['PUT', 'states/raid', {}], ['PUT', 'management/boot_device', { boot_device => 'pxe' }]) {
        my ($method, $path, $body) = @$call;
        is_fault($ann->as('bob:t2:admin')->request($method, "/nodes/$uuid/$path", $body ? (json => $body) : ()), 404, qr/could not be found/, "another tenant: $method $path");
    }
    is_fault($instance && $ann->patch('/nodes/n1', [[add => '/provision_state', 'active']]), 400, qr/Cannot patch/, 'no patch sets a state');
    is_fault($ann->patch('/nodes/n1', [[add => '/power_state', 'power on']]), 400, qr/Cannot patch/, 'nor power');
    state_is('available', 'so it stays');
};

subtest 'power' => sub {
    for my $case (['power on', 'power on'], ['power off', 'power off'], ['rebooting', 'power on'], ['soft power off', 'power off'], ['soft rebooting', 'power on']) {
        my ($target, $state) = @$case;
        my $put = $ann->put('/nodes/n1/states/power', json => { target => $target });
        $put->is_status(202, $target);
        is $put->location, $ann->url . '/v1/nodes/n1/states', 'Location';
        my $states = $ann->get('/nodes/n1/states')->json;
        is_deeply [@$states{qw(power_state target_power_state)}], [$state, undef], "$target: $state";
    }
    my $etag = stored()->etag;
    is $ann->put('/nodes/n1/states/power', json => { target => 'power on', timeout => 5 })->etag, $etag, 'what it is already changes nothing';
    is_fault($ann->put('/nodes/n1/states/power', json => { target => 'power on', timeout => 0 }), 400, qr/timeout has to be positive integer/, 'a time-out of 0');
    is_fault($ann->put('/nodes/n1/states/power', json => { target => 'explode' }), 400, qr/"explode".*power on, power off/, 'no such target');
    is_fault($ann->put('/nodes/n1/states/power', body => $_), 400, qr/target/, "no target: $_") for '', '{}', '{"target": 1}';
    is_fault($ann->version('1.26')->put("/nodes/$uuid/states/power", json => { target => 'soft power off' }), 406, qr/1\.27/, 'a soft one before 1.27');
    is_fault($ann->version('1.26')->put("/nodes/$uuid/states/power", json => { target => 'power on', timeout => 5 }), 406, qr/1\.27/, 'a time-out, too');
    record(provision_state => 'cleaning');
    is_fault($ann->put('/nodes/n1/states/power', json => { target => 'power off' }), 400, qr/while it is in state "cleaning"/, 'not while it is cleaned');
    record(provision_state => 'available');
};

subtest 'boot mode, secure boot, console' => sub {
    my $put = $ann->put('/nodes/n1/states/boot_mode', json => { target => 'uefi' });
    $put->is_status(202);
    is $put->etag, stored()->etag, 'its etag';
    $ann->put('/nodes/n1/states/secure_boot', json => { target => 'true' })->is_status(202);
    is_deeply [@{ $ann->get('/nodes/n1/states')->json }{qw(boot_mode secure_boot)}], ['uefi', $true], 'both are kept';
    is_fault($ann->put('/nodes/n1/states/boot_mode', json => { target => 'coreboot' }), 400, qr/Invalid boot mode coreboot.*bios, uefi/, 'no such mode');
    is_fault($ann->put('/nodes/n1/states/boot_mode', json => {}), 400, qr/target/, 'none');
    is_fault($ann->put('/nodes/n1/states/secure_boot', json => { target => 'maybe' }), 400, qr/True, False/, 'neither');
    for my $state ('deploying', 'wait call-back', 'cleaning', 'clean wait', 'verifying', 'deleting', 'inspecting', 'inspect wait', 'adopting', 'rescuing', 'rescue wait', 'unrescuing') {
        record(provision_state => $state);
        is_fault($ann->put("/nodes/n1/states/$_->[0]", json => { target => $_->[1] }), 409, qr/\ANode is in $state state\. Since node is transitioning/, "$_->[0] stays: $state")
            for ['boot_mode', 'bios'], ['secure_boot', $false];
    }
    is_deeply [@{ $ann->get('/nodes/n1/states')->json }{qw(boot_mode secure_boot)}], ['uefi', $true], 'neither has changed';
    record(provision_state => 'clean failed');
    $ann->put('/nodes/n1/states/boot_mode', json => { target => 'bios' })->is_status(202, 'what has failed is at rest');
    record(provision_state => 'available');
    is_fault($ann->version('1.75')->put('/nodes/n1/states/boot_mode', json => { target => 'bios' }), 404, undef, 'before 1.76', address => 1);
    is_deeply $ann->get('/nodes/n1/states/console')->json, { console_enabled => $false, console_info => undef }, 'no console';
    my $console = $ann->put('/nodes/n1/states/console', json => { enabled => 'yes' });
    $console->is_status(202);
    is $console->location, $ann->url . '/v1/nodes/n1/states/console', 'Location';
    my $get = $ann->get('/nodes/n1/states/console');
    is_deeply $get->json, { console_enabled => $true, console_info => {} }, 'now there is one';
    is $get->etag, stored()->etag, 'with the node\'s etag';
    is_fault($ann->put('/nodes/n1/states/console', json => {}), 400, qr/enabled/, 'which?');
    is_fault($ann->patch('/nodes/n1?reset_interfaces=true', [[replace => '/driver', 'ipmi']]), 409,
        qr/\ANode $uuid can not update the driver while the console is enabled\. Please stop the console first\.\z/, 'its driver stays, to switch it off');
    $ann->patch('/nodes/n1', [[add => '/console_interface', 'no-console']])->is_status(200);
    is_fault($ann->get('/nodes/n1/states/console'), 400, qr/fake-hardware does not support console/, 'an interface that has none, of a console that is on');
};

subtest 'RAID' => sub {
    my $config = { logical_disks => [{ raid_level => '1', size_gb => 100, is_root_volume => $true }, { raid_level => '5', size_gb => 'MAX', controller => 'c0' }] };
    my $put = $ann->put('/nodes/n1/states/raid', json => $config);
    $put->is_status(204);
    is $put->etag, stored()->etag, 'its etag';
    is_deeply $ann->get('/nodes/n1/states')->json->{target_raid_config}, $config, 'kept';
    my %whole = (raid_level => '6+0', size_gb => 0, volume_name => 'v', is_root_volume => $false, share_physical_disks => $true, disk_type => 'ssd', interface_type => 'sata',
        number_of_physical_disks => 8, controller => 'c1', physical_disks => ['d1', 'd2']);
    my @more = ({%whole}, { %whole, physical_disks => [] }, { %whole, physical_disks => [{ id => 1 }, { id => 2 }] });
    $ann->put('/nodes/n1/states/raid', json => { logical_disks => \@more })->is_status(204, 'all that a disk can have');
    is_deeply $ann->get('/nodes/n1/states')->json->{target_raid_config}, { logical_disks => \@more }, 'kept, too';
    my %wrong = (volume_name => 1, share_physical_disks => 'yes', disk_type => 'tape', interface_type => 'ide', number_of_physical_disks => 0, controller => undef, physical_disks => 'd1', bogus => 1);
    for my $bad ((map { { logical_disks => [{ %whole, $_ => $wrong{$_} }] } } sort keys %wrong), (map { { logical_disks => [{ %whole, physical_disks => $_ }] } } [1], ['d1', {}], [{}]),
        { logical_disks => [{ raid_level => '1', size_gb => 1, physical_disks => ['d1'] }] }) {
        is_fault($ann->put('/nodes/n1/states/raid', json => $bad), 400, qr/RAID config validation error/, JSON::PP->new->canonical->encode($bad));
    }
    $ann->put('/nodes/n1/states/raid', json => $config)->is_status(204);
    for my $bad ([], 'x', { disks => [] }, { logical_disks => {} }, { logical_disks => [1] }, { logical_disks => [{ size_gb => 1 }] }, { logical_disks => [{ raid_level => '7', size_gb => 1 }] },
        { logical_disks => [{ raid_level => '1', size_gb => -1 }] }, { logical_disks => [{ raid_level => '1', size_gb => 'all' }] }, { logical_disks => [({ raid_level => '1', size_gb => 1, is_root_volume => $true }) x 2] },
        { logical_disks => [] }, { logical_disks => [{ raid_level => '1', size_gb => 1 }], more => 1 }) {
        is_fault($ann->put('/nodes/n1/states/raid', json => $bad), 400, qr/RAID config validation error/, JSON::PP->new->allow_nonref->canonical->encode($bad));
    }
    is_deeply $ann->get('/nodes/n1/states')->json->{target_raid_config}, $config, 'still kept';
    $ann->put('/nodes/n1/states/raid', json => {})->is_status(204, 'none');
    is_deeply $ann->get('/nodes/n1/states')->json->{target_raid_config}, {}, 'gone';
};

subtest 'boot device and indicators' => sub {
    is_deeply $ann->get('/nodes/n1/management/boot_device/supported')->json, { supported_boot_devices => ['pxe'] }, 'the network';
    is_deeply $ann->get('/nodes/n1/management/boot_device')->json, { boot_device => 'pxe', persistent => $false }, 'once';
    $ann->put('/nodes/n1/management/boot_device', json => { boot_device => 'pxe', persistent => $true })->is_status(204);
    is_deeply $ann->get('/nodes/n1/management/boot_device')->json, { boot_device => 'pxe', persistent => $true }, 'for ever';
    is_fault($ann->put('/nodes/n1/management/boot_device', json => { boot_device => 'disk' }), 400, qr/Invalid boot device disk specified/, 'another');
    is_fault($ann->put('/nodes/n1/management/boot_device', json => {}), 400, qr/boot_device/, 'none');
    is_fault($ann->put('/nodes/n1/management/inject_nmi', json => {}), 400, qr/does not support inject_nmi/, 'NMI');
    my $list = $ann->get('/nodes/n1/management/indicators')->json->{indicators};
    is_deeply [map { "$_->{name} $_->{component}" } @$list], ['led-0@chassis chassis', 'led@system system'], 'indicators';
    is $ann->get('/nodes/n1/management/indicators/led@system')->json->{state}, 'ON', 'one';
    $ann->put('/nodes/n1/management/indicators/led@system', json => { state => 'BLINKING' })->is_status(204);
    is $ann->get('/nodes/n1/management/indicators/system/led')->json->{state}, 'BLINKING', 'set, and named the other way';
    $ann->put('/nodes/n1/management/indicators/system/led', json => { state => 'OFF' })->is_status(204);
    is $ann->get('/nodes/n1/management/indicators/led@system')->json->{state}, 'OFF', 'set that way';
    is_fault($ann->put('/nodes/n1/management/indicators/led@system', json => { state => 'DIM' }), 400, qr/BLINKING, OFF or ON/, 'no such state');
    is_fault($ann->put('/nodes/n1/management/indicators/led-0@chassis', json => { state => 'ON' }), 400, qr/only be read/, 'one that can not be set');
    is_fault($ann->get('/nodes/n1/management/indicators/led'), 400, qr/Invalid indicator led.*led\@system/, 'no such one');
};

done_testing;
