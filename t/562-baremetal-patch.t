#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# PATCH of bare metal: RFC 6902 whole, on the object as it is shown; what may be patched, and what becomes of it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault);

my $instance = Tenure::Instance->start;
my $admin    = Tenure::Metal->new($instance->admin, '1.82');
my $codec    = JSON::PP->new->utf8->canonical->allow_nonref;
my ($true, $false) = (JSON::PP::true, JSON::PP::false);
my $serial   = 0;

sub node {
    my (%content) = @_;
    return $admin->make('nodes', { driver => 'fake-hardware', name => 'x' . $serial++, %content });
}

# Operations as they are, in the media type of RFC 6902.
sub patch {
    my ($node, $operations, %option) = @_;
    my $body = ref $operations ? $codec->encode($operations) : $operations;
    return $admin->request('PATCH', "/nodes/$node->{uuid}", body => $body, type => 'application/json-patch+json', %option);
}

sub refused {
    my ($node, $operations, $status, $text, $name) = @_;
    return is_fault(patch($node, $operations), $status, $text, $name);
}

subtest 'the appendix of RFC 6902, in a dictionary' => sub {
    my $node = node();
    my @examples = (
        ['A.1', { foo => 'bar' }, [{ op => 'add', path => '/baz', value => 'qux' }], { baz => 'qux', foo => 'bar' }],
        ['A.2', { foo => ['bar', 'baz'] }, [{ op => 'add', path => '/foo/1', value => 'qux' }],
            { foo => ['bar', 'qux', 'baz'] }],
        ['A.3', { baz => 'qux', foo => 'bar' }, [{ op => 'remove', path => '/baz' }], { foo => 'bar' }],
        ['A.4', { foo => ['bar', 'qux', 'baz'] }, [{ op => 'remove', path => '/foo/1' }], { foo => ['bar', 'baz'] }],
        ['A.5', { baz => 'qux', foo => 'bar' }, [{ op => 'replace', path => '/baz', value => 'boo' }], { baz => 'boo',
            foo => 'bar' }],
        ['A.6', { foo => { bar => 'baz', waldo => 'fred' }, qux => { corge => 'grault' } },
            [{ op => 'move', from => '/foo/waldo', path => '/qux/thud' }],
            { foo => { bar => 'baz' }, qux => { corge => 'grault', thud => 'fred' } }],
        ['A.7', { foo => ['all', 'grass', 'cows', 'eat'] }, [{ op => 'move', from => '/foo/1', path => '/foo/3' }],
            { foo => ['all', 'cows', 'eat', 'grass'] }],
        ['A.8', { baz => 'qux', foo => ['a', 2, 'c'] }, [{ op => 'test', path => '/baz', value => 'qux' },
            { op => 'test', path => '/foo/1', value => 2 }],
            { baz => 'qux', foo => ['a', 2, 'c'] }],
        ['A.9', { baz => 'qux' }, [{ op => 'test', path => '/baz', value => 'bar' }], undef],
        ['A.10', { foo => 'bar' }, [{ op => 'add', path => '/child', value => { grandchild => {} } }], { foo => 'bar',
            child => { grandchild => {} } }],
        ['A.11', { foo => 'bar' }, [{ op => 'add', path => '/baz', value => 'qux', xyz => 123 }], { foo => 'bar',
            baz => 'qux' }],
        ['A.12', { foo => 'bar' }, [{ op => 'add', path => '/baz/bat', value => 'qux' }], undef],
        ['A.14', { '/' => 9, '~1' => 10 }, [{ op => 'test', path => '/~01', value => 10 }], { '/' => 9, '~1' => 10 }],
        ['A.15', { '/' => 9, '~1' => 10 }, [{ op => 'test', path => '/~01', value => '10' }], undef],
        ['A.16', { foo => ['bar'] }, [{ op => 'add', path => '/foo/-', value => ['abc', 'def'] }],
            { foo => ['bar', ['abc', 'def']] }],
    );
    for my $example (@examples) {
        my ($name, $before, $patch, $after) = @$example;
        patch($node, [{ op => 'replace', path => '/extra', value => $before }])->is_status(200);
        my @here = map { my %o = %$_; $o{$_} = "/extra$o{$_}" for grep { exists $o{$_} } qw(path from); \%o } @$patch;
        my $answer = patch($node, \@here);
        is_deeply $answer->json->{extra}, $after, $name if $after;
        is_fault($answer, 400, qr/Couldn't apply patch/, $name) if !$after;
    }
    refused($node, '[{"op":"add","path":"/extra/baz","value":"qux","op":"remove"}]', 400, qr/op/,
        'A.13: twice the same member');
    patch($node, [{ op => 'copy', from => '/extra', path => '/properties/copied' }, { op => 'add',
        path => '/extra/a~1b~0c', value => undef }])->is_status(200);
    is_deeply [@{ $admin->get("/nodes/$node->{uuid}")->json }{qw(properties extra)}],
        [{ copied => { foo => ['bar', ['abc', 'def']] } },
        { foo => ['bar', ['abc', 'def']], 'a/b~c' => undef }], 'copy, escapes, null';
};

subtest 'one after the other, and all or none' => sub {
    my $node = node(extra => { a => 1 });
    my $patch = patch($node, [{ op => 'add', path => '/extra/b', value => {} }, { op => 'add', path => '/extra/b/c',
        value => [] },
        { op => 'add', path => '/extra/b/c/-', value => 1 }, { op => 'remove', path => '/extra/a' }]);
    is_deeply $patch->json->{extra}, { b => { c => [1] } }, 'each sees what those before it did';
    my $count = $instance->change_count;
    refused($node, [{ op => 'add', path => '/extra/half', value => 1 }, { op => 'remove', path => '/extra/none' }], 400,
        qr/Couldn't apply patch.*operation 1.*none/,
        'the second fails');
    refused($node, [{ op => 'add', path => '/extra/half', value => 1 }, { op => 'add', path => '/chassis_uuid',
        value => 'x' }], 400, undef, 'the rules refuse it');
    is_deeply $admin->get("/nodes/$node->{uuid}")->json, $patch->json, 'nothing of it is there';
    is $instance->change_count, $count, 'nor was anything written';
};

subtest 'test guards the rest' => sub {
    my $node = node(extra => { n => 1 }, name => 'guarded');
    for my $type ('application/json', 'application/json-patch+json') {
        my $n = $admin->get('/nodes/guarded')->json->{extra}{n};
        my @patch = ({ op => 'test', path => '/extra/n', value => $n }, { op => 'replace', path => '/extra/n',
            value => $n + 1 });
        patch($node, \@patch, type => $type)->is_status(200, "$type: it holds");
        is_fault(patch($node, \@patch, type => $type), 400, qr/Couldn't apply patch.*test/, 'it does no longer');
    }
    patch($node, [{ op => 'test', path => "/$_->[0]", value => $_->[1] }])->is_status(200, "test of $_->[0]")
        for ['provision_state', 'enroll'], ['uuid', $node->{uuid}], ['owner', undef], ['traits', []], ['name',
            'guarded'];
    refused($node, [{ op => 'test', path => '/bogus', value => 1 }], 400, qr/Couldn't apply patch/,
        'of what is not there');
    is_fault(patch($node, [{ op => 'test', path => '/name', value => 'guarded' }], type => 'application/json'), 400,
        qr/Schema error for patch.*tests alone/,
        'nothing but tests, from a client that knows none');
    is_fault($admin->version('1.49')->request('PATCH', '/nodes/guarded',
        json => [{ op => 'test', path => '/owner', value => undef }, { op => 'remove', path => '/extra/n' }]),
        406, qr/owner/, 'of what came later');
};

subtest 'members of the object' => sub {
    my $node = node(name => 'members', description => 'd', extra => { a => 1 }, properties => { b => 2 },
        resource_class => 'c', automated_clean => $true);
    my $patch = patch($node, [map { { op => 'remove', path => "/$_" } } qw(extra properties description resource_class
        automated_clean lessee boot_interface conductor_group)]);
    $patch->is_status(200, 'removed, also where they were null');
    is_deeply [@{ $patch->json }{qw(extra properties description resource_class automated_clean lessee boot_interface
        conductor_group)}],
        [{}, {}, undef, undef, undef, undef, 'fake', ''], 'they have their defaults';
    $patch = patch($node, [{ op => 'remove', path => '/name' }]);
    is $patch->json->{name}, undef, 'so can a name be';
    $patch = patch($node, [map { { op => 'add', path => "/$_->[0]", value => $_->[1] } } ['extra', { x => 1 }], ['name',
        'members'], ['description', 'again'],
        ['maintenance', 'true'], ['chassis_uuid', undef], ['network_data', {}], ['shard', 's']]);
    $patch->is_status(200);
    is_deeply [@{ $patch->json }{qw(extra name description shard)}], [{ x => 1 }, 'members', 'again', 's'],
        'added, they are replaced';
    is $patch->json->{maintenance}, $true, 'in their one spelling';
    patch($node, [{ op => 'remove', path => '/maintenance' }])->is_status(200, 'remove of a flag');
    ok !$admin->get('/nodes/members')->json->{maintenance}, 'is false';
    patch($node, [{ op => 'copy', from => '/name', path => '/description' }])->is_status(200, 'copied');
    is $admin->get('/nodes/members')->json->{description}, 'members', 'from one to the other';
    refused($node, [{ op => 'move', from => '/name', path => '/description' }], 400,
        qr/Couldn't apply patch.*\/name can't be moved/, 'but not moved: a member stays');
    refused($node, [{ op => $_, path => '/name', value => undef }], 400, qr/\/name/, "$_ null for a name") for 'add',
        'replace';
    refused($node, [{ op => 'remove', path => '/driver' }], 400, qr/driver/, 'the driver is needed');
    refused($node, [{ op => 'add', path => '/name/x', value => 1 }], 400, qr/Couldn't apply patch/,
        'a name has nothing in it');
    refused($node, [{ op => 'replace', path => '/extra', value => 'x' }], 400, qr/extra/, 'a dictionary stays one');
    refused($node, [{ op => 'replace', path => '/name', value => $_ }], 400, qr/name/, "no name: $_") for 'a b',
        'detail', $node->{uuid};
    node(name => 'other');
    refused($node, [{ op => 'replace', path => '/name', value => 'other' }], 409,
        qr/\AA node with name other already exists/, 'a used name');
    refused($node, [{ op => 'replace', path => '/driver', value => 'nosuch' }], 400, qr/nosuch/, 'an unknown driver');
};

subtest 'another driver' => sub {
    my $node  = node(extra => { a => 1 });
    my $patch = sub { my ($query, @more) = @_; return $admin->patch("/nodes/$node->{uuid}$query",
        [[replace => '/driver', 'ipmi'], @more]) };
    is_fault($patch->(''), 400, qr/_interface.*Valid interfaces are/, 'its interfaces are not those of the old one');
    is_fault($admin->patch("/nodes/$node->{uuid}?reset_interfaces=true", [[add => '/extra/a', 2]]), 400, qr/\/driver/,
        'reset for nothing');
    is_fault($patch->('?reset_interfaces=maybe'), 400, qr/reset_interfaces/, 'reset or not');
    is_fault($admin->version('1.44')->patch("/nodes/$node->{uuid}?reset_interfaces=true",
        [[replace => '/driver', 'ipmi']]), 406, qr/reset_interfaces/, 'before 1.45');
    my $answer = $patch->('?reset_interfaces=True', [add => '/deploy_interface', 'ramdisk']);
    is_deeply [@{ $answer->json }{qw(driver power_interface deploy_interface extra)}], ['ipmi', 'ipmitool', 'ramdisk',
        { a => 1 }], 'reset, but for what is given'
        or diag $answer->describe;
    my $again = $patch->('?reset_interfaces=True');
    is_deeply $again->json, $answer->json, 'the driver that it has resets nothing' or diag $again->describe;
};

subtest 'what can\'t be patched' => sub {
    my $node = node();
    for my $member (qw(uuid created_at updated_at etag traits power_state provision_state reservation
        driver_internal_info maintenance_reason fault boot_mode
        raid_config last_error links conductor ports bogus ~0 extra~1x)) {
        refused($node, [{ op => $_, path => "/$member", value => 'x' }], 400,
            qr/\ACannot patch \/\Q$member\E: .*\/automated_clean, .*\/extra/, "$_ /$member") for 'add', 'replace',
            'remove';
    }
    refused($node, [{ op => 'replace', path => '', value => {} }], 400, qr/\ACannot patch the whole document/,
        'all of it');
    refused($node, [{ op => 'add', path => '/', value => {} }], 400, qr/\ACannot patch \//, 'a member without a name');
    refused($node, [{ op => 'move', from => '/traits/0', path => '/extra/x' }], 400, qr/\ACannot patch/,
        'nor moved away');
    refused($node, [{ op => 'copy', from => '/extra', path => '/links' }], 400, qr/\ACannot patch/, 'nor copied over');
    patch($node, [{ op => 'copy', from => '/links/0/href', path => '/extra/link' }])->is_status(200, 'but copied from');
    refused($node, [{ op => 'move', from => '/extra', path => '/extra/x' }], 400, qr/Schema error for patch/,
        'nothing goes into itself');
};

subtest 'no patch at all' => sub {
    my $node = node();
    refused($node, $_->[0], 400, qr/Schema error for patch/, $_->[1])
        for [{ op => 'add', path => '/extra/a', value => 1 }, 'an object'], ['null', 'null'], ['[1]', 'a number'],
            [[{ path => '/extra/a' }], 'no op'],
        [[{ op => 'drop', path => '/extra/a' }], 'an unknown op'], [[{ op => 'add', path => '/extra/a' }], 'no value'],
            [[{ op => 'add', value => 1 }], 'no path'],
        [[{ op => 'add', path => 'extra/a', value => 1 }], 'no pointer'],
            [[{ op => 'add', path => '/extra/~2', value => 1 }], 'no escape'],
        [[{ op => 'copy', path => '/extra/a' }], 'no from'], [[{ op => 'add', path => 5, value => 1 }],
            'a path that is no text'];
    refused($node, '[{', 400, undef, 'no JSON');
    refused($node, '', 400, undef, 'nothing');
    is_fault($admin->request('PATCH', "/nodes/$node->{uuid}"), 400, undef, 'no body');
    for my $type ('application/json', 'application/json-patch+json', 'text/plain', 'application/json; charset=utf-8') {
        patch($node, [{ op => 'add', path => '/extra/t', value => $type }], type => $type)->is_status(200,
            "whatever its type: $type");
    }
    is_fault($admin->request('PATCH', '/nodes', json => []), 405, undef, 'of a list', address => 1);
};

subtest 'what changes nothing' => sub {
    my $node = node(extra => { a => 1 }, name => 'same');
    my $count = $instance->change_count;
    for my $patch ([], [{ op => 'replace', path => '/extra/a', value => 1 }],
        [{ op => 'add', path => '/name', value => 'same' }], [{ op => 'remove', path => '/description' }],
        [{ op => 'add', path => '/extra/b', value => 1 }, { op => 'remove', path => '/extra/b' }],
            [{ op => 'add', path => '/maintenance', value => 'no' }]) {
        my $answer = patch($node, $patch);
        is_deeply $answer->json, $node, 'the same as before: ' . $codec->encode($patch);
    }
    is $instance->change_count, $count, 'nothing was written';
};

subtest 'secrets stay where they are' => sub {
    my $node = node(driver_info => { ipmi_password => 's3cret', user => 'adm' });
    my $stored = sub {
        return $instance->sql_value("SELECT JSON_VALUE(body, '\$.driver_info.$_[0]') FROM resources "
                . "WHERE name = '$node->{uuid}' AND live = 1");
    };
    patch($node, [{ op => 'add', path => '/driver_info/user', value => 'root' }])->is_status(200);
    is $stored->('ipmi_password'), 's3cret', 'a neighbour was changed';
    patch($node, [{ op => 'replace', path => '/driver_info', value => { ipmi_password => '******' } }])->is_status(200);
    is $stored->('ipmi_password'), 's3cret', 'the mask came back';
    refused($node, [{ op => 'test', path => '/driver_info/ipmi_password', value => 's3cret' }], 400,
        qr/Couldn't apply patch/, 'it can\'t be guessed by test');
    patch($node, [{ op => 'copy', from => '/driver_info/ipmi_password', path => '/extra/copied' }])->is_status(200);
    is $admin->get("/nodes/$node->{uuid}")->json->{extra}{copied}, '******', 'nor copied into the open';
    refused($node, [{ op => 'move', from => '/driver_info/ipmi_password', path => "/$_" }], 400,
        qr/operation 0.* can't be moved.*send its value/, "nor moved: to $_") for 'driver_info/old', 'extra/old', 'instance_info/password';
    is $stored->('ipmi_password'), 's3cret', 'and stays';
    patch($node, [{ op => 'add', path => '/driver_info/b_password', value => 'two' }])->is_status(200);
    for my $op ('move', 'copy') {
        refused($node, [{ op => 'add', path => '/extra/a', value => 1 }, { op => $op, from => '/driver_info/ipmi_password', path => '/driver_info/b_password' }],
            400, qr/operation 1.* nor copied/, "$op onto another secret");
        is_deeply [map { $stored->($_) } 'ipmi_password', 'b_password'], ['s3cret', 'two'], '... which stays, too';
    }
    refused($node, [{ op => 'copy', from => '/driver_info/ipmi_password', path => '/driver_info/x' },
        { op => 'copy', from => '/driver_info/x', path => '/driver_info/b_password' }], 400, qr/operation 1/, 'by a detour');
    patch($node, [{ op => 'move', from => '/driver_info/b_password', path => '/driver_info/b_password' }, { op => 'add', path => '/driver_info/x', value => 'y' },
        { op => 'move', from => '/driver_info/x', path => '/driver_info/b_password' }])->is_status(200, 'one that is sent can be moved');
    is $stored->('b_password'), 'y', 'and is stored';
    patch($node, [{ op => 'remove', path => '/driver_info/b_password' }])->is_status(200);
    patch($node, [{ op => 'replace', path => '/driver_info/ipmi_password', value => 'new' }])->is_status(200);
    is $stored->('ipmi_password'), 'new', 'a new one is taken';
    patch($node, [{ op => 'remove', path => '/driver_info/ipmi_password' }])->is_status(200);
    is $stored->('ipmi_password'), undef, 'and goes when it is removed';

    my $url = 'https://root:s3cret@10.0.0.1/redfish';
    $node = node(driver_info => { redfish_address => $url, list => [ $url, 'x' ] });
    patch($node, [{ op => 'add', path => '/driver_info/user', value => 'root' }])->is_status(200);
    is $stored->('redfish_address'), $url, 'the password of a URL stays as well';
    my $shown = $admin->get("/nodes/$node->{uuid}")->json->{driver_info};
    patch($node, [{ op => 'replace', path => '/driver_info', value => $shown }])->is_status(200);
    is $stored->($_), $url, "it came back masked: $_" for 'redfish_address', 'list[0]';
    for my $other ('https://root:******@10.0.0.2/redfish', 'https://root:******@10.0.0.1/redfish/', 'http://root:******@10.0.0.1/redfish') {
        refused($node, [{ op => 'replace', path => '/driver_info/redfish_address', value => $other }], 400, qr/send its value/,
            "not for another address: $other");
    }
    refused($node, [{ op => 'move', from => "/driver_info/$_->[0]", path => "/driver_info/$_->[1]" }], 400, qr/can't be moved/,
        "not moved: $_->[0]") for ['redfish_address', 'other'], ['list/0', 'list/1'];
    refused($node, [{ op => 'replace', path => '/driver_info/list', value => [ 'x', 'https://root:******@10.0.0.1/redfish' ] }], 400,
        qr/send its value/, 'nor at another place');
    refused($node, [{ op => 'test', path => '/driver_info/redfish_address', value => $url }], 400, qr/Couldn't apply patch/,
        'it can\'t be guessed by test');
    is $stored->('redfish_address'), $url, 'and stays';
    patch($node, [{ op => 'replace', path => '/driver_info/redfish_address', value => 'https://root:new@10.0.0.2/' }])->is_status(200);
    is $stored->('redfish_address'), 'https://root:new@10.0.0.2/', 'a new one is taken';
};

subtest 'instances and flags' => sub {
    my ($a, $b) = (node(), node());
    my @ids = map { sprintf 'aaaaaaaa-0000-4000-8000-%012d', $_ } 1, 2;
    is patch($a, [{ op => 'add', path => '/instance_uuid', value => uc $ids[0] }])->json->{instance_uuid}, $ids[0],
        'an instance';
    refused($a, [{ op => 'add', path => '/instance_uuid', value => $ids[1] }], 409, qr/is associated with instance/,
        'another on the same node');
    refused($b, [{ op => 'add', path => '/instance_uuid', value => $ids[0] }], 409, qr/\Q$ids[0]\E/,
        'the same on another');
    refused($b, [{ op => 'add', path => '/instance_uuid', value => 'x' }], 400, qr/Expected UUID for instance_uuid/,
        'no UUID');
    patch($a, [{ op => 'remove', path => '/instance_uuid' }])->is_status(200) for 1 .. 2;
    refused($a, [{ op => 'add', path => '/protected', value => $true }], 409, qr/protected/, 'nothing to protect yet');
    refused($a, [{ op => 'add', path => "/${_}_reason", value => 'x' }], 400, qr/${_}_reason/, "a reason without $_")
        for qw(protected retired);
    is patch($a, [{ op => 'add', path => '/retired', value => 'yes' }, { op => 'add', path => '/retired_reason',
        value => 'old' }])->json->{retired_reason}, 'old', 'with it';
    is patch($a, [{ op => 'remove', path => '/retired' }])->json->{retired_reason}, undef, 'it goes with it';
};

subtest 'members that the version does not have stay' => sub {
    my $node = node(description => 'kept', resource_class => 'kept', extra => { a => 1 }, boot_interface => 'fake',
        owner => 'acme');
    my $patch = $admin->version('1.1')->request('PATCH', "/nodes/$node->{uuid}",
        json => [{ op => 'add', path => '/extra/b', value => 2 }]);
    $patch->is_status(200);
    is $patch->etag, undef, 'no tag before 1.40';
    is_deeply [@{ $admin->get("/nodes/$node->{uuid}")->json }{qw(description resource_class owner extra)}], ['kept',
        'kept', 'acme', { a => 1, b => 2 }], 'as they were';
};

subtest 'chassis' => sub {
    my $chassis = $admin->make('chassis', { description => 'one', extra => { row => 5 } });
    my $patch = $admin->patch("/chassis/$chassis->{uuid}", [[add => '/description', 'two'], [add => '/extra/slot', 2],
        [remove => '/extra/row']]);
    is_deeply [@{ $patch->json }{qw(description extra)}], ['two', { slot => 2 }], 'description and extra';
    is_fault($admin->patch("/chassis/$chassis->{uuid}", [[add => "/$_", 'x']]), 400,
        qr/\ACannot patch \/$_: what can be patched is \/description, \/extra/, "not $_")
        for qw(uuid nodes links driver);
};

subtest 'large and deep' => sub {
    my $node = node();
    patch($node, [{ op => 'add', path => '/extra/long', value => 'x' x 1_000_000 }])->is_status(200, 'a megabyte');
    my $answer = patch($node, [map { { op => 'copy', from => '/extra', path => "/extra/c$_" } } 1 .. 30]);
    ok $answer->status =~ /\A4(?:00|13)\z/, 'copies of copies end somewhere' or diag $answer->describe;
    my $deep = ('{"a":' x 400) . '1' . ('}' x 400);
    is_fault($admin->request('PATCH', "/nodes/$node->{uuid}",
        body => qq([{"op":"add","path":"/extra/d","value":$deep}]), type => 'application/json'), 400, undef,
        'so does depth');
    is_deeply [keys %{ $admin->get("/nodes/$node->{uuid}")->json->{extra} }], ['long'], 'it is as it was';
};

done_testing;
