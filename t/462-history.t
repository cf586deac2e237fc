#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The history of a resource: what it was before and after each change, masked as it is today, as long as that is kept.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;
$admin->make_tenant($_) for 't1', 't2';
my $ann = $instance->service('ann:t1:member');
my $web = '/v2.0/t1/namespaces/default/configmaps/web';
my $of  = '/v2.0/t1/history?resource=namespaces/default/configmaps/web';

# The history that a query has, oldest first: each change as [verb, colour before, colour after]; '-': there was none, '?': not kept.
sub colour {
    my ($change, $which) = @_;
    return '?' if !exists $change->{$which};
    return '-' if !defined $change->{$which};
    return $change->{$which}{data}{color} // 'none';
}

sub told {
    my ($client, $path) = @_;
    my $answer = $client->get($path);
    $answer->is_status(200);
    return [reverse map { [$_->{verb}, colour($_, 'before'), colour($_, 'after')] } @{ $answer->json->{history} }];
}

sub put_colour { return $ann->put($web, json => { metadata => { labels => { of => $_[0] } }, data => { color => $_[0] } }) }

my $uid = put_colour('red')->json->{metadata}{uid};
my $blue = put_colour('blue');
put_colour('green');

subtest 'updates' => sub {
    is_deeply told($ann, $of), [['created', '-', 'red'], ['updated', 'red', 'blue'], ['updated', 'blue', 'green']], 'before and after';
    is_deeply told($ann, "/v2.0/t1/history?resource=$uid"), told($ann, $of), 'by its uid';
    my $answer = $ann->get($of)->json;
    is $answer->{resource}, 'namespaces/default/configmaps/web', 'names the resource';
    is $answer->{uid}, $uid, '... and its uid';
    my ($last) = @{ $answer->{history} };
    is_deeply $last->{before}, { metadata => { labels => { of => 'blue' } }, data => { color => 'blue' } }, 'content as it was put';
    is_deeply [sort @{ $last->{fields} }], ['/data/color', '/metadata/labels'], 'the fields that changed';
    is $last->{actor}, 'ann', 'by whom';
    is $answer->{history}[1]{request_id}, $blue->header('x-request-id'), 'in which request';
    put_colour('green');
    is scalar @{ told($ann, $of) }, 3, 'what changes nothing adds nothing';
    is $instance->sql_value('SELECT COUNT(*) FROM former_resources'), 2, '... and keeps nothing';
    is $instance->sql_value("SELECT r.changed = MAX(c.id) FROM resources r JOIN changes c ON c.resource_id = r.id WHERE r.name = 'web'"), 1,
        'the resource knows its last change';
    like $ann->get($of, headers => { Accept => 'application/xml' })->text, qr{<history [^>]*uid="\Q$uid\E".*<change [^>]*verb="updated".*<before>.*green}s,
        'in XML, too';
};

subtest 'pages' => sub {
    my @all = map { [$_->{verb}, colour($_, 'before'), colour($_, 'after')] } $ann->list("$of&limit=1", 'history');
    is_deeply [reverse @all], told($ann, $of), 'one by one the same';
};

subtest 'deletion, recovery, move' => sub {
    $ann->delete($web);
    is_deeply told($ann, $of)->[-1], ['deleted', 'green', '-'], 'of what is deleted, too';
    put_colour('white');
    is_deeply told($ann, $of), [['created', '-', 'white']], 'another one at the address is another one';
    is_deeply told($ann, "/v2.0/t1/history?resource=$uid")->[-1], ['deleted', 'green', '-'], '... the first has its own by its uid';
    $ann->delete($web);
    $ann->post("$web/action/recover?uid=$uid")->is_status(204);
    is_deeply told($ann, $of)->[-1], ['recovered', '-', 'green'], 'recovered';
    put_colour('black');
    $admin->post("$web/action/move?dest=t2")->is_status(303);
    $ann->get("/v2.0/t1/history?resource=$uid")->is_status(404, 'what has moved away is seen by its new tenant');
    my $eve = $instance->service('eve:t2:reader');
    is_deeply told($eve, $of =~ s/t1/t2/r), [['moved', 'black', 'black']], 'which sees nothing from before';
    $ann->get($of =~ s/t1/t2/r)->is_status(404, 'and strangers see nothing');
    $instance->service('kim:t2:member')->put($web =~ s/t1/t2/r, json => { data => { color => 'kims' } })->is_status(200);
    $admin->post(($web =~ s/t1/t2/r) . '/action/move?dest=t1')->is_status(303);
    my $back = told($ann, $of);
    is_deeply [@$back[-2, -1]], [['updated', 'green', 'black'], ['moved', 'kims', 'kims']], 'what another tenant changed meanwhile shows in no change from before';
    is_deeply [reverse map { [$_->{verb}, colour($_, 'before'), colour($_, 'after')] } $ann->list("$of&limit=1", 'history')], $back, '... nor one by one';
    put_colour('black');
};

subtest 'traits' => sub {
    $ann->put("$web/traits", json => { traits => ['HW_CPU_X86_AVX'] })->is_status(200);
    $ann->put("$web/traits", json => { traits => ['HW_CPU_X86_AVX2'] })->is_status(200);
    put_colour('pink');
    my ($last, $traits) = @{ $ann->get($of)->json->{history} };
    is_deeply $traits->{before}{metadata}{traits}, ['HW_CPU_X86_AVX'], 'before';
    is_deeply $traits->{after}{metadata}{traits}, ['HW_CPU_X86_AVX2'], 'after';
    is_deeply $last->{before}{metadata}{traits}, ['HW_CPU_X86_AVX2'], 'and behind a change of the content';
    is colour($traits, 'after'), 'black', 'with the content';
};

subtest 'secrets stay masked' => sub {
    my $metal = $instance->combined('admin');
    my $node  = $metal->post('/baremetal/v1/nodes', json => { name => 'n1', driver => 'fake-hardware', owner => 't1', driver_info => { ipmi_password => 'first-secret' } },
        headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
    $node->is_status(201);
    my $id = $node->json->{uuid};
    $metal->patch("/baremetal/v1/nodes/$id", [{ op => 'replace', path => '/driver_info/ipmi_password', value => 'second-secret' }],
        headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
    my $history = $admin->get("/v2.0/t1/history?resource=nodes.baremetal.openstack.org/$id");
    $history->is_status(200);
    unlike $history->text, qr/(?:first|second)-secret/, 'in all versions';
    like $history->text, qr/"\*{6}"/, 'a mask stands there';
    is $instance->sql_value("SELECT COUNT(*) FROM former_resources WHERE body LIKE '%first-secret%'"), 1, 'the secret itself is kept';
};

# A namespace that is deleted marks what has finalizers, as the deletion of a resource does.
subtest 'what waits for its finalizers' => sub {
    $ann->put('/v2.0/t1/namespaces/ends', json => {})->is_status(201);
    my $put = sub { my ($name, $colour) = @_;
        return $ann->put("/v2.0/t1/namespaces/ends/configmaps/$name", json => { metadata => { finalizers => ['example.com/f'] }, data => { color => $colour } }) };
    for my $name ('alone', 'along') {
        $put->($name, 'red')->is_status(201);
        $put->($name, 'blue')->is_status(200);
    }
    my ($alone, $along) = map { "/v2.0/t1/history?resource=namespaces/ends/configmaps/$_" } 'alone', 'along';
    my @want = (['created', '-', 'red'], ['updated', 'red', 'blue'], ['updated', 'blue', 'blue']);
    $ann->delete('/v2.0/t1/namespaces/ends/configmaps/alone')->is_status(202);
    is_deeply told($ann, $alone), \@want, 'one that is deleted itself';
    $ann->delete('/v2.0/t1/namespaces/ends')->is_status(202);
    is_deeply told($ann, $along), \@want, 'one that is deleted with its namespace';
    is_deeply $ann->get($along)->json->{history}[0]{fields}, ['/metadata/deletionTimestamp'], 'which is marked';
    is_deeply told($ann, $alone), \@want, '... and the other one no more than once';
};

# A node and its resource provider have one uid.
subtest 'a uid that two resources have' => sub {
    my $metal = $instance->combined('admin');
    my $one   = '00000000-0000-4000-8000-0000000000aa';
    my $provider = "resourceproviders/$one";
    $metal->post('/baremetal/v1/nodes', json => { uuid => $one, driver => 'fake-hardware' }, headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' })->is_status(201);
    my $node = $metal->get("/v2.0/system/history?resource=$one")->json->{resource};
    like $node, qr{\Anodes\b.*/$one\z}, 'alone, the node is found';
    $metal->post('/placement/resource_providers', json => { uuid => $one, name => 'twin' }, headers => { 'OpenStack-API-Version' => 'placement 1.39' })->is_status(200);
    my $both = $metal->get("/v2.0/system/history?resource=$one");
    $both->is_problem(400, 'bad_parameter', 'with the provider, it is not clear which is meant');
    like $both->detail, qr/\Q$_\E/, "... and $_ is named" for $node, $provider;
    is $metal->get("/v2.0/system/history?resource=$_")->json->{resource}, $_, "$_ has its own" for $node, $provider;
    $metal->delete("/v2.0/system/$provider")->is_status(204);
    is $metal->get("/v2.0/system/history?resource=$one")->json->{resource}, $node, 'the one that is live is meant';
    $metal->delete("/v2.0/system/$node")->is_status(204);
    $both = $metal->get("/v2.0/system/history?resource=$one");
    $both->is_problem(400, 'bad_parameter', 'both are deleted');
    like $both->detail, qr/\Q$_\E/, "... and $_ is named" for $node, $provider;
    is $metal->get("/v2.0/system/history?resource=$_")->json->{history}[0]{verb}, 'deleted', "$_ has its own" for $node, $provider;
};

subtest 'what is refused' => sub {
    $ann->get("/v2.0/t1/history$_")->is_status(400, "GET history$_")
        for '', '?resource=', '?resource=web', '?resource=a/b/c', '?resource=namespaces/default/configmaps/', '?resource=//', "?resource=$uid&limit=0",
        "?resource=$uid&limit=101", "?resource=$uid&before=x", "?resource=$uid&unknown=1";
    $ann->get("/v2.0/t1/history?resource=$_")->is_status(404, $_)
        for '00000000-0000-4000-8000-000000000000', 'namespaces/default/configmaps/none', 'namespaces/none/configmaps/web', 'configmaps/web', 'widgets.example.com/w';
    $instance->service('bob:t2:admin')->get($of)->is_status(404, 'a stranger');
};

subtest 'for how long' => sub {
    my $old = $instance->sql_value('SELECT MAX(change_id) FROM former_resources');
    $instance->sql("UPDATE changes SET at = at - INTERVAL 31 DAY WHERE id <= $old");
    my $gone = $ann->put('/v2.0/t1/persistentvolumes/gone', json => { a => 1 })->json->{metadata}{uid};
    $ann->put('/v2.0/t1/persistentvolumes/gone', json => { a => 2 });
    $ann->delete('/v2.0/t1/persistentvolumes/gone');
    put_colour('grey');
    $admin->put('/v2.0/t2', json => { tenant => { metadata => { of => 'somebody' } } })->is_status(202);
    is $instance->sql_value('SELECT COUNT(*) FROM former_tenants'), 1, 'what a tenant was is kept';
    $instance->sql("UPDATE resources SET purge_at = deleted_at WHERE name = 'gone'");
    ok $instance->usage_has_counted, 'usage needs none of the changes any more';
    $instance->manage('reap');
    is $instance->sql_value("SELECT COUNT(*) FROM former_resources WHERE change_id <= $old"), 0, 'past its time it goes';
    is $instance->sql_value('SELECT COUNT(*) FROM former_resources'), 1, '... with a purged resource, what that was, too';
    is $instance->sql_value('SELECT COUNT(*) FROM former_tenants'), 1, 'what is younger stays';
    my $history = told($ann, $of);
    is_deeply $history->[-1], ['updated', 'pink', 'grey'], 'what is kept shows';
    is $history->[-2][1], '?', 'what is not kept is left out';
    is $history->[-2][2], 'pink', '... but for what a later change replaced';
    $instance->sql('UPDATE changes SET at = at - INTERVAL 366 DAY');
    ok $instance->usage_has_counted, 'nor those of that purge';
    $instance->manage('reap');
    is $instance->sql_value('SELECT (SELECT COUNT(*) FROM changes) + (SELECT COUNT(*) FROM former_resources) + (SELECT COUNT(*) FROM former_tenants)'), 0,
        'it goes with the change log';
    is_deeply told($ann, $of), [], 'and then there is no history';
};

$instance->stop;
my $off = Tenure::Instance->start(combined => 1, settings => { 'tenure.content_retention' => 0 });
$off->admin->make_tenant('t1');
$ann = $off->service('ann:t1:member');
subtest 'not at all' => sub {
    put_colour($_) for 'red', 'blue', 'green';
    $ann->put("$web/traits", json => { traits => ['HW_CPU_X86_AVX'] });
    $off->admin->put('/v2.0/t1', json => { tenant => { metadata => { of => 'somebody' } } })->is_status(202);
    is $off->sql_value('SELECT (SELECT COUNT(*) FROM former_resources) + (SELECT COUNT(*) FROM former_tenants)'), 0, 'nothing is kept';
    is_deeply told($ann, $of), [['created', '-', '?'], ['updated', '?', '?'], ['updated', '?', '?'], ['updated', '?', 'green']], 'only what is now is known';
};
$off->stop;
done_testing;
