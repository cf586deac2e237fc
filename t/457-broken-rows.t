#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Rows that somebody else damaged: what can't be read is told as 500, nothing is made of it, the log and doctor name the row.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Metal;
use Tenure::Watch qw(events told);

my $instance = Tenure::Instance->start(combined => 1, workers => 2);
my $admin    = $instance->combined('admin');
my $v1       = '/api/v1/tenants/acme/namespaces/default/configmaps';
my $crds     = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

# Texts that no reader takes: cut off; with a name twice, which the database's own JSON_VALID() takes.
my %damage = (cut => '{"data":{"a":"1"', doubled => '{"data":{"a":"1"},"data":{}}', empty => '', list => '[1');

$admin->make_tenant($_) for qw(acme globex);

sub row_of    { my ($name) = @_; my ($row) = $instance->sql("SELECT id, LOWER(HEX(uid)), meta, body, revision, COALESCE(traits, '') FROM resources WHERE name = '$name' AND live = 1"); return $row // [] }
sub logged    { my ($what) = @_; return $instance->log_text('combined') =~ $what }
sub damage    { my ($name, $column, $text) = @_; $instance->sql("UPDATE resources SET $column = '$text' WHERE name = '$name' AND live = 1"); return row_of($name) }

sub is_left_alone {
    my ($name, $before, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return is_deeply row_of($name), $before, "$what: the row is as it was";
}

sub is_broken {
    my ($answer, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is $answer->status, 500, "$what: 500" or diag $answer->describe;
    like $answer->text, qr/can't be read.*operator/, "$what: and why";
    unlike $answer->text, qr/SELECT|resources, id|JSON/, "$what: no more than that";
    return;
}

for my $kind (sort keys %damage) {
    subtest "a body that is $kind" => sub {
        my $name = "b-$kind";
        $admin->make("/v2.0/acme/namespaces/default/configmaps/$name", { data => { a => "1" } });
        my $before = damage($name, 'body', $damage{$kind});
        my ($id)   = @$before;
        is_broken($admin->patch("/v2.0/acme/namespaces/default/configmaps/$name", { data => { b => '2' } }), 'a patch');
        ok logged(qr/table resources, id $id, .*can't be read/), 'the log names table and id';
        is_broken($admin->patch("$v1/$name", { data => { b => '2' } }), 'a patch as of kubectl');
        is_broken($admin->put("/v2.0/acme/namespaces/default/configmaps/$name", json => { data => { b => '2' } }), 'a PUT');
        is_broken($admin->get("$v1?fieldSelector=metadata.name!%3Dx"), 'a list that looks into objects');
        is_broken($admin->get("$v1/$name", accept => 'application/json;as=Table;v=v1;g=meta.k8s.io'), 'a table');
        is_left_alone($name, $before, 'after all');
        my ($code, $text) = $instance->manage('doctor');
        is $code, 1, 'doctor finds something';
        my ($uid) = $before->[1] =~ s/(.{8})(.{4})(.{4})(.{4})/$1-$2-$3-$4-/r;
        like $text, qr/^each resource's document is JSON objects +1 +0 +resource $uid$/m, 'this row' or diag $text;
        $instance->manage('doctor', '--fix');
        is_left_alone($name, $before, 'after doctor --fix');
        $instance->sql("UPDATE resources SET body = '{\"data\":{\"a\":\"1\"}}' WHERE id = $id");
        $admin->patch("$v1/$name", { data => { b => '2' } })->is_status(200, 'mended, it is patched again');
    };
}

subtest 'metadata and traits' => sub {
    for my $column (qw(meta traits)) {
        my $name = "c-$column";
        $admin->make("/v2.0/acme/namespaces/default/configmaps/$name", { metadata => { labels => { a => 'b' } } });
        my $before = damage($name, $column, '["CUSTOM_A"');
        is_broken($admin->patch("$v1/$name", { metadata => { labels => { b => 'c' } } }), "a patch, $column") if $column eq 'meta';
        is_broken($admin->get("/v2.0/acme/namespaces/default/configmaps/$name/traits"), 'a look at traits') if $column eq 'traits';
        is_broken($admin->put("/v2.0/acme/namespaces/default/configmaps/$name/traits/CUSTOM_B"), 'a trait more') if $column eq 'traits';
        is_left_alone($name, $before, $column);
        $instance->sql("UPDATE resources SET $column = " . ($column eq 'meta' ? q('{}') : 'NULL') . " WHERE id = $before->[0]");
    }
};

subtest 'a node' => sub {
    my $metal = Tenure::Metal->new($admin, '1.82');
    my $node  = $metal->make('nodes', { driver => 'fake-hardware', name => 'n1', extra => { a => 1 } });
    $instance->sql("UPDATE resources SET body = '{\"name\":\"n1\"' WHERE uid = UNHEX(REPLACE('$node->{uuid}', '-', ''))");
    my $body = sub { $instance->sql_value("SELECT body FROM resources WHERE uid = UNHEX(REPLACE('$node->{uuid}', '-', ''))") };
    is_broken($metal->get("/nodes/$node->{uuid}"), 'a look at it');
    is_broken($metal->patch("/nodes/$node->{uuid}", [[add => '/extra/b', 2]]), 'a patch');
    is_broken($metal->put("/nodes/$node->{uuid}/maintenance", json => { reason => 'x' }), 'maintenance');
    is $body->(), '{"name":"n1"', 'the row is as it was';
    $instance->sql("UPDATE resources SET body = '{\"name\":\"n1\",\"driver\":\"fake-hardware\"}' WHERE uid = UNHEX(REPLACE('$node->{uuid}', '-', ''))");
};

subtest 'a tenant' => sub {
    my ($was) = $instance->sql_value("SELECT metadata FROM tenants WHERE name = 'globex'");
    $instance->sql("UPDATE tenants SET metadata = '{\"a\":' WHERE name = 'globex'");
    is_broken($admin->get('/v2.0/globex'), 'a look at it');
    is_broken($admin->patch('/api/v1/tenants/globex', { metadata => { annotations => { b => 'c' } } }), 'a patch');
    is $instance->sql_value("SELECT metadata FROM tenants WHERE name = 'globex'"), '{"a":', 'the row is as it was';
    like +($instance->manage('doctor'))[1], qr/^each tenant's metadata and object are JSON objects +1 +0 +tenant /m, 'doctor finds it';
    $instance->sql("UPDATE tenants SET metadata = '$was' WHERE name = 'globex'");
};

subtest 'a watch' => sub {
    $admin->make("/v2.0/acme/namespaces/default/configmaps/w");
    my $from  = $admin->get($v1)->json->{metadata}{resourceVersion};
    my $watch = Tenure::Watch->new($admin->url, 'admin', "$v1?resourceVersion=$from");
    my $other = Tenure::Watch->new($admin->url, 'admin', "/api/v1/tenants/acme/namespaces?resourceVersion=$from");
    my $id    = row_of('w')->[0];
    # In one transaction, so that the watch does not read the row between the two.
    $instance->sql("BEGIN; INSERT INTO changes (request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision) "
        . "SELECT UNHEX(MD5(RAND())), NOW(6), 'x', 'updated', tenant_id, id, uid, type_id, namespace, name, revision FROM resources WHERE id = $id; "
        . "UPDATE resources SET body = '{', changed = (SELECT MAX(id) FROM changes) WHERE id = $id; COMMIT");
    $admin->put('/v2.0/acme/namespaces/later', json => {})->is_status(201, 'something else');
    is told($watch, 1), 'ERROR InternalError', 'it ends with an error';
    is told($other, 1), 'ADDED later', 'another goes on';
    ok logged(qr/table resources, id $id, .*can't be read/), 'the log names table and id';
    $instance->sql("UPDATE resources SET body = '{}' WHERE id = $id");
};

# ---- a type that is gone

subtest 'a type that is gone' => sub {
    my $acme = $instance->combined('alice:acme');
    $acme->post($crds, json => { metadata => { name => 'widgets.example.com' },
        spec => { group => 'example.com', scope => 'Namespaced', names => { plural => 'widgets', kind => 'Widget' },
            versions => [{ name => 'v1', served => JSON::PP::true(), storage => JSON::PP::true(), schema => { openAPIV3Schema => { type => 'object' } } }] } })
        ->is_status(201, 'a type');
    $admin->put('/v2.0/acme/namespaces/n', json => {})->is_status(201, 'a namespace');
    $acme->post('/apis/example.com/v1/namespaces/n/widgets', json => { metadata => { name => 'w1' } })->is_status(201, 'an object');
    my ($type) = $instance->sql("SELECT id, group_name, version, kind, plural, singular, namespaced, builtin FROM types WHERE plural = 'widgets'");
    ok Tenure::Instance::wait_until(sub { scalar $instance->movers }), 'there is a mover';
    my ($host, @movers) = $instance->stop_movers;
    my @later = (headers => { Prefer => 'respond-async' });
    my $broken = $admin->post('/v2.0/acme/action/move?dest=globex', @later);
    $broken->is_status(202, 'a move that waits');
    $instance->sql("DELETE FROM types WHERE id = $type->[0]");
    my @before = Tenure::Instance::children_of($instance->master_pid('combined'));
    kill 'HUP', $instance->master_pid('combined'); # new workers, which don't know it; those of before serve for a moment yet
    ok Tenure::Instance::wait_until(sub { !kill 0, @before }), 'the workers are new';
    Tenure::Instance::wait_until(sub { $admin->get('/v2.0/acme/action/move?dest=globex')->status == 500 });
    for my $try (1 .. 4) { # each of the workers
        is_broken($admin->get('/v2.0/acme/action/move?dest=globex'), 'the preview of a move');
        is_broken($admin->post('/v2.0/acme/action/move?dest=globex'), 'a move');
        is_broken($admin->get('/v2.0/acme/namespaces/n/action/move?dest=globex'), 'the preview of a move of a namespace');
    }
    # What can't be carried out ends, and stops nothing else.
    $admin->make_tenant('initech');
    $admin->put('/v2.0/initech/namespaces/default/configmaps/c', json => {})->is_status(201, 'a resource of another tenant');
    my $good = $admin->post('/v2.0/initech/action/move?dest=globex', @later);
    $good->is_status(202, 'its move');
    push @{ $instance->{allow} }, qr/mover \d+ ended by signal 9/;
    kill KILL => @movers; # the next one does not know the type
    kill CONT => $host;
    Tenure::Instance::follow($admin, $good, 60)->is_status(303, 'is carried out');
    my $failed = Tenure::Instance::follow($admin, $broken, 60)->json->{move};
    is "$failed->{state} $failed->{reason}", 'failed internal', 'has failed';
    like $failed->{detail}, qr/something stored that can't be read; the operator/, 'and says why';
    $admin->put('/v2.0/acme/namespaces/default/configmaps/after', json => {})->is_status(201, 'and holds up no writer');
    $admin->delete('/v2.0/acme/namespaces/n'); # whatever it is told, the worker lives
    ok logged(qr/table types has no id $type->[0]/), 'the log names the type';
    my ($code, $text) = $instance->manage('doctor');
    like $text, qr/^each resource's type exists +[1-9]/m, 'doctor finds it';
    $instance->sql('INSERT INTO types (id, group_name, version, kind, plural, singular, namespaced, builtin) VALUES ('
        . join(', ', map { "'$_'" } @$type) . ')');
    Tenure::Instance::wait_until(sub { $admin->get('/v2.0/acme/action/move?dest=globex')->status == 200 });
    $admin->get('/v2.0/acme/action/move?dest=globex')->is_status(200, 'with the type all is well');
};

# ---- a database that fails

subtest 'a watch whose first look fails' => sub {
    $instance->sql('RENAME TABLE changes TO elsewhere');
    for my $from (0, 1, 99999999) {
        my $answer = $admin->get("$v1?watch=true&resourceVersion=$from");
        is $answer->status, 500, "from $from: told as what it is" or diag $answer->describe;
    }
    $instance->sql('RENAME TABLE elsewhere TO changes');
};

done_testing;
