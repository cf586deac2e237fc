#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Placement: providers, their trees, the filters of their list.
use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Placement qw(is_error uuid);

my $instance  = Tenure::Instance->start(placement => 1);
my $placement = Tenure::Placement->new($instance->placement, '1.39');

# The names of the providers that a query finds, sorted.
sub found {
    my ($query, $version) = @_;
    my $answer = ($version ? $placement->version($version) : $placement)->get("/resource_providers?$query");
    return $answer->describe unless $answer->status == 200;
    return join ' ', sort map { $_->{name} } @{ $answer->json->{resource_providers} };
}

subtest 'made, renamed, deleted' => sub {
    my $uuid = uuid();
    my $made = $placement->post('/resource_providers', json => { name => 'p1', uuid => $uuid });
    $made->is_status(200);
    my $json = $made->json;
    is_deeply [ @$json{qw(uuid name generation root_provider_uuid parent_provider_uuid)} ], [ $uuid, 'p1', 0, $uuid, undef ], 'made';
    is_deeply $placement->get("/resource_providers/$uuid")->json, $json, 'there';
    is_error($placement->post('/resource_providers', json => { name => 'p1', uuid => $uuid }), 409, qr/Conflicting resource provider/, code => 'duplicate_name');
    is_error($placement->post('/resource_providers', json => { name => 'p1' }), 409,
        qr/Conflicting resource provider name: p1 already exists/, code => 'duplicate_name');
    is_error($placement->post('/resource_providers', json => { name => 'p2', uuid => uc($uuid) =~ s/-//gr }), 409,
        qr/Conflicting resource provider uuid: $uuid already exists/, code => 'duplicate_name');
    my $renamed = $placement->put("/resource_providers/$uuid", json => { name => 'p1 renamed ☃' });
    $renamed->is_status(200, 'renamed');
    is $renamed->json->{name}, 'p1 renamed ☃';
    is $renamed->json->{generation}, 0, 'at the generation it had';
    is found('name=p1%20renamed%20%E2%98%83'), 'p1 renamed ☃', 'found by its name';
    is $renamed->location, undef;
    like $renamed->text, qr/"p1 renamed \\u2603"/, 'what is not ASCII is escaped';
    is $placement->put("/resource_providers/$uuid", json => { name => "p\x{1f600}" })->json->{name}, "p\x{1f600}", 'in two parts where it has to be';
    $placement->put("/resource_providers/$uuid", json => { name => 'p1 renamed ☃' })->is_status(200);
    $placement->provider('p2');
    is_error($placement->put("/resource_providers/$uuid", json => { name => 'p2' }), 409, qr/Conflicting resource provider p2 already exists\./, code => 'duplicate_name');
    is_error($placement->put("/resource_providers/$uuid", json => { name => 'p', uuid => uuid() }), 400, qr/Additional properties are not allowed \('uuid' was unexpected\)/);
    is_error($placement->put("/resource_providers/$uuid", json => { name => 'p', root_provider_uuid => $uuid }), 400, qr/JSON does not validate/);
    $placement->delete("/resource_providers/$uuid")->is_status(204, 'deleted');
    is_error($placement->get("/resource_providers/$uuid"), 404, qr/No resource provider with uuid $uuid found/);
    is_error($placement->delete("/resource_providers/$uuid"), 404, qr/No resource provider with uuid $uuid found for delete/);
    $placement->post('/resource_providers', json => { name => 'p1 renamed ☃', uuid => $uuid })->is_status(200, 'both may be taken again');
    $placement->delete("/resource_providers/$uuid");
};

subtest 'of none' => sub {
    for my $none (uuid(), 'random_sauce', 'a%20b') {
        my $text = $none =~ s/%20/ /r;
        is_error($placement->get("/resource_providers/$none"), 404, qr/No resource provider with uuid \Q$text\E found/);
        is_error($placement->put("/resource_providers/$none", json => { name => 'n' }), 404);
        is_error($placement->put("/resource_providers/$none", json => {}), 404, undef, name => 'before what the body says');
        is_error($placement->delete("/resource_providers/$none"), 404, qr/No resource provider with uuid \Q$text\E found for delete/);
    }
};

subtest 'trees' => sub {
    my ($parent, $child, $grandchild, $other) = map { uuid() } 1 .. 4;
    is_error($placement->post('/resource_providers', json => { name => 'child', uuid => $child, parent_provider_uuid => $child }), 400,
        qr/Unable to create resource provider "child", $child: .*parent provider UUID cannot be same as UUID/s);
    is_error($placement->post('/resource_providers', json => { name => 'child', uuid => $child, parent_provider_uuid => $parent }), 400,
        qr/parent provider UUID does not exist/);
    $placement->provider('parent', uuid => $parent);
    $placement->provider('child', uuid => $child, parent => $parent);
    $placement->provider('grandchild', uuid => $grandchild, parent => $child);
    $placement->provider('other', uuid => $other);
    my $json = $placement->get("/resource_providers/$grandchild")->json;
    is_deeply [ @$json{qw(parent_provider_uuid root_provider_uuid)} ], [ $child, $parent ], 'a tree of three';
    is found("in_tree=$_"), 'child grandchild parent', 'found by any of them' for $parent, $child, $grandchild;
    is found('in_tree=' . uuid()), '', 'none of a tree that is not there';
    is_error($placement->delete("/resource_providers/$_"), 409,
        qr/Unable to delete parent resource provider $_: It has child resource providers\./, code => 'resource_provider.cannot_delete_parent') for $parent, $child;
    my $put = sub { my ($version, $uuid, $name, $to) = @_;
        return $placement->version($version)->put("/resource_providers/$uuid", json => { name => $name, parent_provider_uuid => $to }) };
    is_error($put->('1.36', $child, 'child', undef), 400, qr/un-parenting a provider is not currently allowed/);
    is_error($put->('1.36', $child, 'child', $other), 400, qr/Object action update failed because: re-parenting a provider is not currently allowed/);
    is_error($put->('1.36', $child, 'child', uuid()), 400, qr/parent provider UUID does not exist/, name => 'that a parent is not there comes before that');
    for my $call ([ 'post', '/resource_providers' ], [ 'put', "/resource_providers/$child" ]) {
        my ($method, $path) = @$call;
        is_error($placement->$method($path, json => { name => 'child', parent_provider_uuid => 'x' }), 400,
            qr/JSON does not validate: 'x' is not a 'uuid'  Failed validating 'format' in schema\[0\]: .*On instance:     'x'/);
        is_error($placement->$method($path, json => { name => 'child', parent_provider_uuid => 7 }), 400, qr/7 is not valid under any of the given schemas/);
    }
    $put->('1.36', $child, 'child', $parent)->is_status(200, 'the parent it has is no other one');
    is_error($put->('1.39', $parent, 'parent', $_), 400, qr/creating loop in the provider tree is not allowed\./) for $parent, $child, $grandchild;
    my $etag = $placement->get("/resource_providers/$grandchild")->etag;
    $put->('1.37', $child, 'child', $other)->is_status(200, 'moved below another');
    is $placement->get("/resource_providers/$grandchild", if_none_match => $etag)->json->{root_provider_uuid}, $other, 'with all that is below';
    is found("in_tree=$parent"), 'parent', 'away from here';
    is found("in_tree=$other"), 'child grandchild other', 'to there';
    $put->('1.37', $child, 'child', undef)->is_status(200, 'made a top of its own');
    is found("in_tree=$grandchild"), 'child grandchild';
    $placement->put("/resource_providers/$child", json => { name => 'child' })->is_status(200, 'renaming leaves it there');
    $put->('1.36', $child, 'child', $parent)->is_status(200, 'a top may be hung below another before 1.37, too');
    is_error($put->('1.39', $child, 'child', uuid()), 400,
        qr/Unable to save resource provider $child: Object action create failed because: parent provider UUID does not exist\./);
    $placement->delete("/resource_providers/$_")->is_status(204) for $grandchild, $child, $parent, $other;
};

subtest 'filters' => sub {
    my %uuid = map { $_ => $placement->provider($_) } qw(a b c);
    my ($x, $y, $z) = map { uuid() } 1 .. 3;
    $placement->aggregates($uuid{a}, $x, $y);
    $placement->aggregates($uuid{b}, $x, $z);
    $placement->traits($uuid{a}, qw(CUSTOM_A CUSTOM_B));
    $placement->traits($uuid{b}, qw(CUSTOM_B CUSTOM_C));
    $placement->inventories($uuid{a}, VCPU => { total => 8 }, MEMORY_MB => { total => 1024, reserved => 512 });
    $placement->inventories($uuid{b}, VCPU => { total => 4, allocation_ratio => 16, max_unit => 4 }, DISK_GB => { total => 100, min_unit => 10, step_size => 10, max_unit => 50 });

    is found('name=a'), 'a', 'by name';
    is found('name=A'), '', 'case counts';
    is found('name='), 'a b c p2', 'an empty name is none';
    is found("name=&uuid=$uuid{b}"), 'b', '... beside another filter';
    is found("uuid=$uuid{b}"), 'b', 'by uuid';
    is found('uuid=' . uc $uuid{b} =~ s/-//gr), 'b', 'however it is written';
    is found("name=a&uuid=$uuid{b}"), '', 'all of them count';
    is found("member_of=$x"), 'a b', 'by aggregate';
    is found("member_of=in:$y,$z"), 'a b', 'any of two';
    my @others = map { uuid() } 1 .. 99;
    is found('member_of=in:' . join ',', @others, $y), 'a', 'any of a hundred, as an availability zone may have';
    is found('required=in:' . join ',', ('CUSTOM_C') x 99, 'CUSTOM_A'), 'a b', 'any of a hundred traits';
    is_error($placement->get('/resource_providers?required=' . join ',', ('CUSTOM_C') x 65), 400, qr/'required' may have 64 conditions at most/);
    is found("member_of=$x&member_of=$y"), 'a', 'both';
    is found("member_of=!$x"), 'c p2', 'in none';
    is found("member_of=!in:$y,$z&member_of=$x"), '', 'in none of two, but in this';
    is found("member_of=!$y&member_of=$x"), 'b';
    is found('required=CUSTOM_B'), 'a b', 'by trait';
    is found('required=CUSTOM_A,CUSTOM_B'), 'a', 'both';
    is found('required=!CUSTOM_A,CUSTOM_B'), 'b', 'one not';
    is found('required=!CUSTOM_B'), 'c p2', 'none';
    is found('required=in:CUSTOM_A,CUSTOM_C'), 'a b', 'any of two';
    is found('required=in:CUSTOM_A,CUSTOM_C&required=!CUSTOM_A'), 'b', 'but not one';
    is found('required=CUSTOM_A&required=CUSTOM_C'), '', 'from 1.39 on each of several counts';
    is found('required=CUSTOM_A&required=CUSTOM_C', '1.38'), 'b', 'before that the last';
    is found('resources=VCPU:8'), 'a', 'by resources';
    is found('resources=VCPU:4'), 'a b';
    is found('resources=VCPU:5'), 'a', 'one allocation takes no more than there is at once';
    is found('resources=MEMORY_MB:513'), '', 'what is reserved is not to be had';
    is found('resources=MEMORY_MB:512,VCPU:1'), 'a';
    is found('resources=DISK_GB:10'), 'b';
    is found('resources=DISK_GB:5'), '', 'less than the least';
    is found('resources=DISK_GB:15'), '', 'not in steps';
    is found('resources=DISK_GB:60'), '', 'more than the most';
    is found('resources=VCPU:9,VCPU:8'), 'a', 'of a class that comes twice the last counts';
    is found("member_of=$x&required=CUSTOM_C&resources=VCPU:1&in_tree=$uuid{b}&name=b&uuid=$uuid{b}"), 'b', 'all at once';
    is found("member_of=$x&required=CUSTOM_C&resources=VCPU:1&in_tree=$uuid{a}"), '';
    my $one = $placement->get("/resource_providers?uuid=$uuid{a}")->json->{resource_providers}[0];
    is_deeply $one, $placement->get("/resource_providers/$uuid{a}")->json, 'in a list it looks as it does alone';
    $placement->allocate(uuid(), { $uuid{a} => { VCPU => 1 } })->is_status(204);
    is found('resources=VCPU:8'), '', 'what is allocated is gone';
};

subtest 'filters that are wrong' => sub {
    my $bad = sub { my ($query, $text, $version) = @_;
        is_error(($version ? $placement->version($version) : $placement)->get("/resource_providers?$query"), 400, $text, name => substr "$query is refused", 0, 100) };
    my $u = uuid();
    $bad->('spam=eggs', qr/Invalid query string parameters: Additional properties are not allowed \('spam' was unexpected\)/);
    $bad->('uuid=spameggs', qr/Invalid query string parameters: 'spameggs' is not a 'uuid'/);
    $bad->('in_tree=x', qr/'x' is not a 'uuid'/);
    my %wrong = ('not+a+uuid' => 'not a uuid', '' => '', 'in:' => '', "in:$u," => '', "in:$u,!$u" => "!$u", '!' => '', '!(^o^)' => '(^o^)', '!in:x' => 'x',
        "in:$u,x" => 'x');
    for my $value (sort keys %wrong) {
        $bad->("member_of=$value", qr/^ Invalid query string parameters: Expected 'member_of' parameter to contain valid UUID\(s\)\. Got: \Q$wrong{$value}\E  \z/m);
    }
    $bad->('member_of=!bad', qr/Expected 'member_of' parameter to contain valid UUID\(s\)\. Got: bad  \z/, '1.31');
    $bad->("member_of=$u,$u", qr/Multiple values for 'member_of' must be prefixed with the 'in:' or '!in:' keyword/);
    $bad->("member_of=$u&member_of=$u", qr/Multiple member_of parameters are not supported/, '1.23');
    $bad->("member_of=!$u", qr/Forbidden member_of parameters are not supported in the specified microversion/, '1.31');
    for my $value ('', 'A,,B', ',A', 'A,', '!', 'A,!') {
        $bad->("required=$value", qr/Expected 'required' parameter value of the form: HW_CPU_X86_VMX,!CUSTOM_MAGIC\. Got an empty trait in: \Q$value\E/);
    }
    $bad->('required=in:A,!B', qr/does not support forbidden traits\. Got: in:A,!B/);
    $bad->('required=in:', qr/of the form: in:HW_CPU_X86_VMX,CUSTOM_MAGIC\. Got an empty trait in: in:/);
    $bad->('required=!A', qr/Expected 'required' parameter value of the form: HW_CPU_X86_VMX,CUSTOM_MAGIC\. Got: !A/, '1.21');
    $bad->('required=in:A,B', qr/only supported since microversion 1\.39\. Got: in:A,B/, '1.38');
    $bad->('required=HW_CPU_X86_AVX,NONE_1,NONE_2', qr/Invalid trait\(s\) in "required" parameter: No such trait\(s\): NONE_1, NONE_2\./);
    $bad->('required=!NONE_1', qr/No such trait\(s\): NONE_1\./);
    $bad->('resources=', qr/Badly formed resources parameter\. .*Got: empty string\./);
    $bad->("resources=$_", qr/Badly formed resources parameter\. .*Got: /) for 'VCPU', 'VCPU:1:2', ',', 'VCPU:1,';
    $bad->('resources=VCPU:x', qr/Requested resource VCPU expected positive integer amount\. Got: x\./);
    $bad->('resources=VCPU:', qr/expected positive integer amount/);
    $bad->("resources=VCPU:$_", qr/Requested resource VCPU requires amount >= 1\. Got: $_\./) for 0, -1;
    $bad->('resources=BARRETT:1', qr/Invalid resource class in resources parameter: No such resource class BARRETT/);
    $bad->($_, qr/Got an empty trait in: ,/, '1.18') for 'resources=VCPU&required=,', 'required=,&resources=VCPU:0';
    $bad->('resources=VCPU:0&required=!X', qr/Expected 'required' parameter value/, '1.21');
    $bad->('resources=VCPU&required=,&member_of=x', qr/Expected 'member_of' parameter/);
    $bad->('required=' . join(',', map { "CUSTOM_$_" } 1 .. 100), qr/Invalid/);
};

subtest 'a list of none' => sub {
    is_deeply $placement->get('/resource_providers?name=nothing')->json, { resource_providers => [] };
    ok defined $placement->get('/resource_providers?name=nothing')->header('last-modified');
};

done_testing;
