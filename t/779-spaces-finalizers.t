#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What waits for finalizers: a namespace for those of its content, and a Tenant for its own; what is told of that meanwhile.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Definition qw(definition_of);
use Tenure::Instance;
use Tenure::Kubectl;
use Tenure::Parallel;
use Tenure::Watch qw(events name_of told);

my $server   = $ENV{TENURE_WATCH_SERVER} // 'lighttpd';
my $instance = Tenure::Instance->start(combined => 1, tls => 1, workers => 3, server => $server, watches => 1);
my $admin    = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my $spaces   = '/api/v1/namespaces';

$admin->post('/api/v1/tenants', json => { metadata => { name => 'acme' } })->is_status(201, 'tenant acme');

sub space { $acme->post($spaces, json => { metadata => { name => $_[0] } })->is_status(201, "namespace $_[0]"); return "$spaces/$_[0]" }

sub config_map {
    my ($at, $name, @finalizers) = @_;
    return $acme->post("$at/configmaps", json => { metadata => { name => $name, finalizers => \@finalizers } })->is_status(201, "$name, waiting for (@finalizers)");
}

sub let_go { return $acme->patch($_[0], { metadata => { finalizers => undef } })->is_status(200, "$_[0] is let go") }

# The answer, whose status has been looked at.
sub answered { my ($answer, @expected) = @_; $answer->is_status(@expected); return $answer }

sub conditions { return map { $_->{type} => $_ } @{ $_[0]->json->{status}{conditions} // [] } }

subtest 'a namespace waits for its content' => sub {
    my $at = space('waits');
    config_map($at, 'plain');
    config_map($at, 'held', 'example.com/f');
    config_map($at, 'held-too', 'example.com/f', 'example.com/g');
    my $count = $admin->get('/v2.0/acme')->json->{tenant}{resources};
    my $watch = Tenure::Watch->new($admin->url, 'alice:acme', "$spaces?fieldSelector=metadata.name%3Dwaits&resourceVersion="
        . $acme->get($spaces)->json->{metadata}{resourceVersion}, wait => $server eq 'lighttpd' ? 30 : 0.2);
    my $deleted = answered($acme->delete($at), 200, 'asked to go');
    is $deleted->json->{kind}, 'Namespace', 'it is answered, as it is still there';
    my $now = answered($acme->get($at), 200, 'and can be read');
    is $now->json->{status}{phase}, 'Terminating', 'on its way';
    ok $now->json->{metadata}{deletionTimestamp}, 'since a time';
    my %condition = conditions($now);
    is "$condition{NamespaceContentRemaining}{status} $condition{NamespaceContentRemaining}{message}",
        'True Some resources are remaining: configmaps. has 2 resource instances', 'what is left';
    is "$condition{NamespaceFinalizersRemaining}{status} $condition{NamespaceFinalizersRemaining}{message}",
        'True Some content in the namespace has finalizers remaining: example.com/f in 2 resource instances, example.com/g in 1 resource instances', 'and whom it waits for';
    is $condition{NamespaceDeletionContentFailure}{status}, 'False', 'nothing failed';
    $acme->get("$at/configmaps/plain")->is_status(404, 'what has no finalizers is gone');
    ok $acme->get("$at/configmaps/held")->json->{metadata}{deletionTimestamp}, 'what has some is asked to go';
    is $admin->get('/v2.0/acme')->json->{tenant}{resources}, $count - 1, 'the count is right';
    $acme->post("$at/configmaps", json => { metadata => { name => 'late' } })->is_status(403, 'nothing new comes');
    my ($before, $changes) = ($admin->get('/v2.0/acme/namespaces/waits'), $instance->change_count);
    $acme->delete($at)->is_status(200, 'asked again');
    $admin->delete('/v2.0/acme/namespaces/waits')->is_status(202, '... in either dialect');
    is $admin->get('/v2.0/acme/namespaces/waits')->etag, $before->etag, '... which changes nothing';
    is $instance->change_count, $changes, '... and is no change';
    let_go("$at/configmaps/held");
    $acme->get("$at/configmaps/held")->is_status(404, 'which is gone');
    my %was = %condition;
    %condition = conditions(answered($acme->get($at), 200, 'the namespace waits on'));
    is $condition{$_}{lastTransitionTime}, $was{$_}{lastTransitionTime}, "$_ is so since then" for sort keys %was;
    like $condition{NamespaceContentRemaining}{message}, qr/configmaps\. has 1 resource instances/, 'for one';
    let_go("$at/configmaps/held-too");
    $acme->get($at)->is_status(404, 'with the last it is gone');
    is $admin->get('/v2.0/acme')->json->{tenant}{resources}, $count - 4, 'the count is right';
    my @types;
    push @types, (events($watch, 1))[0]{type} while !@types || $types[-1] ne 'DELETED';
    is $types[0], 'MODIFIED', 'a watch is told of both';
};

subtest 'kubectl delete --wait' => sub {
    plan skip_all => 'kubectl is not installed' if !defined Tenure::Kubectl::minor();
    my $kubectl = Tenure::Kubectl->new($instance);
    my $at = space('slow');
    config_map($at, 'held', 'example.com/f');
    my $pid = $kubectl->begin('alice:acme', 'delete ns slow --timeout=60s');
    ok Tenure::Instance::wait_until(sub { $acme->get($at)->json->{status}{phase} eq 'Terminating' }), 'asked to go';
    let_go("$at/configmaps/held");
    my $ended = $kubectl->end($pid);
    is $ended->{code}, 0, 'kubectl waits until it is gone' or diag explain $ended;
    $acme->get($at)->is_status(404, 'which it is');
};

subtest 'its own finalizers first' => sub {
    $acme->post($spaces, json => { metadata => { name => 'both', finalizers => ['example.com/s'] } })->is_status(201, 'a namespace with one');
    my $at = "$spaces/both";
    config_map($at, 'held', 'example.com/f');
    $acme->delete($at)->is_status(200, 'asked to go');
    let_go($at);
    is answered($acme->get($at), 200, 'it still waits')->json->{status}{phase}, 'Terminating', 'for its content';
    let_go("$at/configmaps/held");
    $acme->get($at)->is_status(404, 'gone');
};

# The write that removes the last finalizer deletes the object, so a lock must not come between.
subtest 'a lock comes too late' => sub {
    my $at = "$spaces/default";
    config_map($at, 'late', 'example.com/f');
    $acme->patch("$at/configmaps/late", { metadata => { locked => $_ } })->is_status(200, 'locked or not') for JSON::PP::true, JSON::PP::false;
    $acme->delete("$at/configmaps/late")->is_status(200, 'asked to go');
    my $refused = qr/the deletion of late was requested: it can't be locked any more/;
    $acme->patch("$at/configmaps/late", { metadata => { locked => JSON::PP::true } })->is_failure(409, 'Conflict', $refused, 'a lock is refused');
    $acme->patch("$at/configmaps/late", { metadata => { locked => JSON::PP::true, finalizers => undef } })->is_failure(409, 'Conflict', $refused, 'also with its finalizers');
    $admin->patch('/v2.0/acme/namespaces/default/configmaps/late', { metadata => { locked => JSON::PP::true } })->is_problem(409, 'conflict', 'and by the tenancy API');
    $acme->get("$at/configmaps/late")->is_status(200, 'it is still there');
    let_go("$at/configmaps/late");
    $acme->get("$at/configmaps/late")->is_status(404, 'and goes with its last finalizer');
};

# Once the namespace is to go, nobody may be told any more that a resource in it can't be deleted: only the controllers of the namespace's
# finalizers write then.
subtest 'a lock in a namespace that has finalizers' => sub {
    my $locked = sub { return $acme->patch("$_[0]/configmaps/c", { metadata => { locked => $_[1] ? JSON::PP::true : JSON::PP::false } }) };
    my %of = (metadata => { metadata => { finalizers => ['example.com/f'] } }, spec => { spec => { finalizers => ['example.com/f'] } });
    for my $where (sort keys %of) {
        my ($at, %body) = ("$spaces/keeps-$where", %{ $of{$where} });
        $acme->post($spaces, json => { %body, metadata => { %{ $body{metadata} // {} }, name => "keeps-$where" } })->is_status(201, "a namespace with finalizers in its $where");
        config_map($at, 'c');
        $locked->($at, 1)->is_status(200, 'what it has is locked');
        my $before = $acme->get($at)->etag;
        $acme->delete($at)->is_failure(409, 'Conflict', qr/a resource in the namespace is locked/, 'so it stays');
        my $path = $at =~ s{.*/}{/v2.0/acme/namespaces/}r;
        $admin->delete($path)->is_problem(409, 'locked', 'in either dialect');
        is $acme->get($at)->etag, $before, 'as it was';
        $locked->($at, 0)->is_status(200, 'unlocked');
        $acme->delete($at)->is_status(200, 'asked to go');
        $acme->delete($at)->is_status(200, 'and again');
        my $refused = qr/the deletion of the namespace keeps-$where was requested: c can't be locked any more/;
        $locked->($at, 1)->is_failure(409, 'Conflict', $refused, 'a lock is refused');
        $admin->patch("$path/configmaps/c", { metadata => { locked => JSON::PP::true } })->is_problem(409, 'conflict', 'and by the tenancy API');
        $acme->patch("$at/configmaps/c", { data => { a => '1' } })->is_status(200, 'other changes are not');
        $where eq 'spec' ? $acme->put("$at/finalize", json => { spec => {} })->is_status(200, 'finalize') : let_go($at);
        $acme->get($at)->is_status(404, 'gone');
    }
};

subtest 'many let go at once' => sub {
    my $at = space('race');
    config_map($at, "c$_", 'example.com/f') for 1 .. 12;
    $acme->delete($at)->is_status(200, 'asked to go');
    my @status = Tenure::Parallel::run(4, sub {
        my ($client) = @_;
        my $api = $instance->combined('alice:acme');
        return join ' ', map { $api->patch("$at/configmaps/c" . ($client * 3 + $_), { metadata => { finalizers => undef } })->status } 1 .. 3;
    });
    is_deeply \@status, [('200 200 200') x 4], 'each is';
    $acme->get($at)->is_status(404, 'the last takes the namespace along');
};

# More than the memory of a request (request_memory).
subtest 'much metadata in what is left' => sub {
    my $at = space('heavy');
    for my $i (1 .. 32) {
        $admin->put("/v2.0/acme/namespaces/heavy/configmaps/c$i", json => { metadata => { annotations => { a => 'x' x 1_500_000 },
            finalizers => ['example.com/f', $i == 1 ? 'example.com/' . 'g' x 400 : ()] } })->is_status(201, "c$i");
    }
    $acme->delete($at)->is_status(200, 'asked to go');
    my $left = sub { my %condition = conditions($acme->get($at)); return ($condition{NamespaceFinalizersRemaining} // {})->{message} // '' };
    ok Tenure::Instance::wait_until(sub { $left->() =~ /: example\.com\/f in 32 resource instances\z/ }), 'it says whom it waits for, but no endless name' or diag $left->();
    let_go("$at/configmaps/c1");
    like $left->(), qr/: example\.com\/f in 31 resource instances\z/, 'one is let go';
};

subtest 'recovery' => sub {
    my $at = space('back');
    config_map($at, 'plain');
    config_map($at, 'held', 'example.com/f');
    my $own = { type => 'example.com/Audited', status => 'True', reason => 'Seen', message => 'by ann', lastTransitionTime => '2026-01-02T03:04:05Z' };
    $acme->patch("$at/status", { status => { conditions => [$own] } })->is_status(200, "a condition of a client's");
    $acme->delete($at)->is_status(200, 'asked to go');
    my %waiting = conditions($acme->get($at));
    is_deeply $waiting{'example.com/Audited'}, $own, 'stays while it waits';
    is scalar(keys %waiting), 6, '... beside those of its end';
    let_go("$at/configmaps/held");
    $acme->get($at)->is_status(404, 'gone');
    my $tenancy = '/v2.0/acme/namespaces';
    $admin->post("$tenancy/back/action/recover", body => '')->is_status(204, 'the namespace comes back');
    is_deeply $acme->get($at)->json->{status}, { phase => 'Active', conditions => [$own] }, 'active, and waits for nothing';
    is_deeply $admin->get("$tenancy/back")->json->{status}, { conditions => [$own] }, '... as tenancy says, too';
    $acme->get("$at/configmaps/held")->is_status(200, 'with what went last');
    $admin->post("$tenancy/back/configmaps/plain/action/recover", body => '')->is_status(204, 'what went before comes back by itself');
};

subtest 'a tenant' => sub {
    my $at = '/api/v1/tenants/held';
    $admin->post('/api/v1/tenants', json => { metadata => { name => 'held', finalizers => ['example.com/f', 'example.com/g'] } })->is_status(201, 'with finalizers');
    my $deleted = answered($admin->delete($at), 200, 'asked to go');
    is $deleted->json->{kind}, 'Tenant', 'it is still there';
    my $now = answered($admin->get($at), 200, 'and can be read')->json;
    is $now->{status}{phase}, 'Terminating', 'on its way';
    ok $now->{metadata}{deletionTimestamp}, 'since a time';
    $admin->delete($at)->is_status(200, 'asked again');
    is $admin->get($at)->json->{metadata}{resourceVersion}, $now->{metadata}{resourceVersion}, 'nothing changes';
    $admin->delete('/v2.0/held')->is_status(202, 'the tenancy dialect accepts it, too');
    $admin->patch($at, { metadata => { finalizers => ['example.com/f', 'example.com/h'] } })->is_status(422, 'it gets no new ones');
    $admin->patch($at, { metadata => { labels => { a => 'b' } } })->is_status(200, 'it can change');
    is $admin->get($at)->json->{metadata}{deletionTimestamp}, $now->{metadata}{deletionTimestamp}, 'and waits on';
    $admin->patch($at, { metadata => { finalizers => ['example.com/g'] } })->is_status(200, 'one is done');
    $admin->get($at)->is_status(200, 'it waits for the other');
    $admin->patch($at, { metadata => { finalizers => undef } })->is_status(200, 'which is done');
    $admin->get($at)->is_status(404, 'it is gone');
    $admin->get('/v2.0/held')->is_status(410, 'for every dialect');
    $admin->post('/v2.0/held/action/recover', body => '')->is_status(204, 'recovered');
    $now = answered($admin->get($at), 200, 'it is back')->json;
    is $now->{status}{phase}, 'Active', 'active';
    ok !exists $now->{metadata}{deletionTimestamp}, 'and not about to go';
    $admin->delete($at)->is_status(200, 'without finalizers');
    $admin->get($at)->is_status(404, 'it goes at once');
};

# What brings something into a tenant, by each dialect: refused while the tenant waits for its finalizers.
subtest 'a tenant that goes takes nothing new' => sub {
    my $at = '/api/v1/tenants/going';
    my $cms = "$at/namespaces/default/configmaps";
    $admin->post('/api/v1/tenants', json => { metadata => { name => $_ } })->is_status(201) for 'going', 'staying';
    $admin->post($cms, json => { metadata => { name => $_ } })->is_status(201) for 'kept', 'lost';
    $admin->post('/api/v1/tenants/staying/namespaces/default/configmaps', json => { metadata => { name => 'comes' } })->is_status(201);
    $admin->delete("$cms/lost")->is_status(200);
    my $operator = $instance->admin;
    my $metal = sub { $operator->post('/baremetal/v1/nodes', headers => { 'X-OpenStack-Ironic-API-Version' => '1.78' },
        json => { driver => 'fake-hardware', owner => $_[0] }) };
    answered($metal->('going'), 201, 'a node of its');
    # A word in the spec means nothing.
    $admin->patch($at, { spec => { deletionTimestamp => '2026-01-01T00:00:00Z' } })->is_status(200);
    is $admin->get($at)->json->{status}{phase}, 'Active', 'no word of the spec makes it go';
    $admin->patch($at, { metadata => { finalizers => ['example.com/f'] }, spec => { deletionTimestamp => undef } })->is_status(200);
    $admin->delete($at)->is_status(200, 'asked to go');
    my $refused = $admin->post($cms, json => { metadata => { name => 'new' } });
    $refused->is_status(403, 'nothing new by kubectl');
    like $refused->json->{message}, qr/unable to create new content in tenant going because it is being terminated/, 'which says why';
    is $refused->json->{details}{causes}[0]{reason}, 'TenantTerminating', 'with its cause';
    $admin->post("$at/namespaces", json => { metadata => { name => 'new' } })->is_status(403, 'nor a namespace');
    $operator->put('/v2.0/going/namespaces/default/configmaps/new', json => {})->is_status(403, 'nor by the tenancy dialect');
    $metal->('going')->is_status(403, 'nor a node');
    $operator->post('/v2.0/going/namespaces/default/configmaps/lost/action/recover', body => '')->is_status(403, 'what was deleted stays so');
    my $move = '/v2.0/staying/namespaces/default/configmaps/comes/action/move?dest=going';
    $operator->post($move, body => '')->is_status(409, 'nothing moves there');
    like $operator->get($move, accept => 'application/json')->text, qr/is being terminated/, 'as the move action says';
    $admin->patch("$cms/kept", { data => { a => 'b' } })->is_status(200, 'what is there can change');
    $admin->delete("$cms/kept")->is_status(200, 'and go');
    $admin->patch($at, { metadata => { finalizers => undef } })->is_status(200, 'the tenant goes');
    $operator->post('/v2.0/going/action/recover', body => '')->is_status(204, 'recovered');
    $admin->post($cms, json => { metadata => { name => 'new' } })->is_status(201, 'it takes what comes');
};

subtest 'an object whose definition is gone' => sub {
    my $crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    my $at   = space('orphaned');
    my $path = '/v2.0/acme/namespaces/orphaned/widgets.example.com/w';
    $acme->post($crds, json => definition_of('widgets'))->is_status(201, 'a type');
    $acme->post('/apis/example.com/v1/namespaces/orphaned/widgets', json => { metadata => { name => 'w', finalizers => ['example.com/f'] }, spec => { a => 1 } })
        ->is_status(201, 'an object of it, which somebody holds');
    $acme->delete("$crds/widgets.example.com")->is_status(200, 'the type goes');
    $acme->delete($at)->is_status(200, 'and so shall the namespace');
    $acme->patch($path, { spec => { a => 2 } })->is_status(404, 'the object cannot be changed');
    $acme->patch($path, { metadata => { finalizers => undef } })->is_status(200, 'but let go');
    $acme->get($at)->is_status(404, 'and the namespace with it');
};

# Controllers that look only at new generations must see it.
subtest 'a deletion that waits is a generation' => sub {
    my $crds    = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    my $at      = space('generations');
    my $widgets = '/apis/example.com/v1/namespaces/generations/widgets';
    my $of      = sub { return $_[0]->json->{metadata}{generation} };
    $acme->post($crds, json => definition_of('widgets'))->is_status(201, 'a type');
    is $of->(answered($acme->post($widgets, json => { metadata => { name => $_, finalizers => ['example.com/f'] } }), 201, $_)), 1, 'the first'
        for qw(one two);
    my $watch = Tenure::Watch->new($admin->url, 'alice:acme', "$widgets?resourceVersion=" . $acme->get($widgets)->json->{metadata}{resourceVersion},
        wait => $server eq 'lighttpd' ? 30 : 0.2);
    is $of->(answered($acme->delete("$widgets/one"), 200, 'one is asked to go')), 2, 'the second';
    is $of->($acme->get("$widgets/one")), 2, '... which is kept';
    my ($event) = events($watch, 1);
    is name_of($event) . " $event->{object}{metadata}{generation}", 'MODIFIED one 2', '... and told';
    is $of->(answered($acme->delete("$widgets/one"), 200, 'asked again')), 2, '... is none';
    is $of->(answered($acme->patch("$widgets/one", { metadata => { labels => { a => 'b' } } }), 200, 'a label')), 2, '... neither';
    $acme->delete($at)->is_status(200, 'with the namespace, the other one is');
    is $of->($acme->get("$widgets/$_")), 2, "$_: the second" for qw(one two);
    is_deeply [map { name_of($_) . " $_->{object}{metadata}{generation}" } events($watch, 2)], ['MODIFIED one 2', 'MODIFIED two 2'], '... is told';
    let_go("$widgets/$_") for qw(one two);
    $acme->get($at)->is_status(404, 'all gone');
    $acme->delete("$crds/widgets.example.com")->is_status(200, 'and the type');
};

subtest 'an object that its definition no longer allows' => sub {
    my $crds    = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    my $at      = space('stricter');
    my $in      = '/apis/example.com/v1/namespaces/stricter';
    my $of_size = sub { my ($plural, $minimum, %more) = @_;
        return definition_of($plural, schema => { type => 'object', properties => { spec => { type => 'object',
            properties => { size => { type => 'integer', minimum => $minimum } } } } }, %more) };
    my $is_let_go = sub {
        my ($object) = @_;
        $acme->delete($object)->is_status(200, 'it shall go');
        my $refused = answered($acme->patch($object, { spec => { size => 6 } }), 422, 'it takes no other that is wrong');
        is $refused->json->{details}{causes}[0]{field}, 'spec.size', '... for this field';
        $acme->patch($object, { metadata => { finalizers => undef }, spec => { size => 6 } })->is_status(422, '... beside its metadata, either');
        $acme->patch($object, { metadata => { labels => { a => 'b' } } })->is_status(200, 'a label');
        is $acme->get($object)->json->{spec}{size}, 5, 'it is as it was';
        let_go($object);
        $acme->get($object)->is_status(404, 'gone');
    };
    my %object = (metadata => { name => 'o', finalizers => ['example.com/f'] }, spec => { size => 5 });
    $acme->post($crds, json => $of_size->('widgets', 1))->is_status(201, 'a type');
    $acme->post("$in/widgets", json => \%object)->is_status(201, 'an object of it');
    my $now = $acme->get("$crds/widgets.example.com")->json->{metadata}{resourceVersion};
    $acme->put("$crds/widgets.example.com", json => $of_size->('widgets', 100, metadata => { resourceVersion => $now }))->is_status(200, 'the type becomes stricter');
    $is_let_go->("$in/widgets/o");
    $acme->post($crds, json => $of_size->('gadgets', 1))->is_status(201, 'another type');
    $acme->post("$in/gadgets", json => \%object)->is_status(201, 'an object of it');
    $admin->post($crds, json => $of_size->('gadgets', 100, applicableRange => ['*']))->is_status(201, "the operator's is stricter");
    $acme->patch('/api/v1/tenants/acme', { spec => { multiTenancyCRDPolicy => 'SystemCRDFirst' } })->is_status(200, 'and comes first');
    $is_let_go->("$in/gadgets/o");
    $acme->patch('/api/v1/tenants/acme', { spec => { multiTenancyCRDPolicy => undef } })->is_status(200, 'as before');
};

my ($code, $text) = $instance->manage('doctor');
is $code, 0, 'the doctor finds everything as it should be' or diag $text;

done_testing;
