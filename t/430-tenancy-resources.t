#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Resources: PUT, GET, HEAD, PATCH, DELETE, namespaces, what the server owns in metadata, locks.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use POSIX ();
use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start;
my $admin    = $instance->admin;
$admin->make_tenant('t1');
my $t1 = '/v2.0/t1';

sub meta { return $_[0]->json->{metadata} }

subtest 'every built-in type' => sub {
    for my $type (qw(configmaps secrets pods serviceaccounts services)) {
        my $url = "$t1/namespaces/default/$type/x";
        $admin->get($url)->is_problem(404, 'not_found', "$type: none yet");
        my $put = $admin->put($url, json => { kind => $type });
        $put->is_status(201);
        is $admin->path_of($put->location), $url, 'Location';
        is_deeply $admin->get($url)->json, $put->json, 'GET gives what PUT gave';
    }
    $admin->make("$t1/persistentvolumes/x");
    $admin->make("$t1/namespaces/n1");
    my $list = $admin->get("$t1/configmaps")->json->{resources};
    is_deeply [map { "$_->{metadata}{namespace}/$_->{metadata}{name}" } @$list], ['default/x'], 'one name in several types';
};

subtest 'the document' => sub {
    my $url = "$t1/namespaces/default/configmaps/doc";
    my $put = $admin->put($url, json => { data => { a => 1 }, list => [1, 'two', undef], metadata => { labels => { l => 'v' }, note => { x => 1 } } });
    $put->is_status(201);
    my $meta = meta($put);
    is $meta->{name},      'doc',     'metadata.name';
    is $meta->{namespace}, 'default', 'metadata.namespace';
    is $meta->{tenant},    't1',      'metadata.tenant';
    like $meta->{uid}, qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/, 'metadata.uid';
    is $meta->{resourceVersion}, '1', 'metadata.resourceVersion: a string, as in Kubernetes';
    like $meta->{etag}, qr{\AW/[0-9a-f]{128}\z}, 'metadata.etag';
    is $put->etag, 'W/"' . substr($meta->{etag}, 2) . '"', 'ETag';
    like $meta->{creationTimestamp}, qr/\A\d{4}-\d\d-\d\dT.*Z\z/, 'metadata.creationTimestamp';
    is $meta->{selfLink}, $url, 'metadata.selfLink';
    is_deeply $meta->{labels}, { l => 'v' }, 'labels are the client\'s';
    is_deeply $meta->{note}, { x => 1 }, 'and what else it keeps there';
    is_deeply [@{ $put->json }{ 'data', 'list' }], [{ a => 1 }, [1, 'two', undef]], 'the rest as it came';
    is meta($admin->get('/v1.0/t1/namespaces/default/configmaps/doc'))->{tenant}, 't1', 'v1.0: metadata.tenant is called so there, too';
    is meta($admin->get('/v1.0/t1/namespaces/default/configmaps/doc'))->{selfLink}, '/v1.0/t1/namespaces/default/configmaps/doc',
        'v1.0: links stay in their version';
};

subtest 'PUT replaces' => sub {
    my $url = "$t1/persistentvolumes/put";
    $admin->make($url, { a => 1, b => 2, metadata => { labels => { l => 'v' } } });
    my $put = $admin->put($url, json => { a => 1, c => 3 });
    $put->is_status(200);
    my $json = $put->json;
    is_deeply [map { $json->{$_} } qw(a b c)], [1, undef, 3], 'all members';
    is meta($put)->{resourceVersion}, 2, 'the revision grows';
    is_deeply meta($put)->{labels}, { l => 'v' }, 'metadata that is left out stays';
    $put = $admin->put($url, json => { a => 1, metadata => {} });
    is meta($put)->{labels}, undef, 'metadata that is given replaces';
    is meta($put)->{uid}, $json->{metadata}{uid}, 'the uid stays';
    is meta($put)->{creationTimestamp}, $json->{metadata}{creationTimestamp}, 'the creation time, too';
};

subtest 'a write that changes nothing' => sub {
    my $url = "$t1/persistentvolumes/same";
    my $put = $admin->make($url, { a => 1, b => { c => [1, 2] }, metadata => { labels => { x => 'y', z => 'w' } } });
    my $count = $instance->change_count;
    my @same = ({ body => '{"b": {"c":[1,2]}, "a" : 1}' }, { body => $put->text },
        { body => '{"a":1,"b":{"c":[1,2]},"metadata":{"labels":{"z":"w","x":"y"}}}' });
    for my $same (@same) {
        my $again = $admin->put($url, %$same, type => 'application/json');
        $again->is_status(200);
        is $again->etag, $put->etag, 'keeps the etag';
        is meta($again)->{resourceVersion}, 1, 'and the revision';
    }
    for my $patch ({}, { a => 1 }, { metadata => { labels => { x => 'y' } } }, { none => undef }) {
        my $again = $admin->patch($url, $patch);
        $again->is_status(200);
        is $again->etag, $put->etag, 'a patch that changes nothing keeps it, too';
    }
    is $instance->change_count, $count, 'and no change row is written';
    is $instance->sql_value(q(SELECT COUNT(*) FROM resources WHERE name = 'same' AND revision = 1 AND edits = 1)), 1, 'the row is as it was';
};

subtest 'what the server owns' => sub {
    my $url = "$t1/persistentvolumes/owned";
    my $put = $admin->make($url, { metadata => { uid => 'mine', resourceVersion => '99', etag => 'W/x', selfLink => '/', creationTimestamp => 'x' } });
    isnt meta($put)->{uid}, 'mine', 'is ignored when a client sends it';
    is meta($put)->{resourceVersion}, 1, 'the revision, too';
    my %others = (generation => 5, deletionGracePeriodSeconds => 0, managedFields => [{}], hashKey => 7, traits => ['HW_CPU_X86_AVX']);
    is_deeply [grep { exists $others{$_} } keys %{ meta($admin->put("$url-too", json => { metadata => \%others })) }], [], 'what other dialects set, and traits';
    $admin->put($url, json => { metadata => $_ })->is_problem(400, 'bad_document', "what contradicts the address: @{[%$_]}")
        for { name => 'other' }, { tenant => 't2' }, { namespace => 'n1' }, { name => 7 };
    $admin->put($url, json => { metadata => { name => 'owned', tenant => 't1' } })->is_status(200, 'what agrees with it is taken');
    $admin->put($url, json => { metadata => $_ })->is_problem(400, 'bad_document', 'metadata of a wrong kind')
        for { labels => [] }, { labels => { a => 1 } }, { annotations => 'x' }, { locked => 'yes' }, [], 'x', { finalizers => 'x' }, { finalizers => undef },
        { finalizers => [1] }, { ownerReferences => 'x' }, { ownerReferences => ['x'] }, { ownerReferences => [{ uid => 7 }] },
        { ownerReferences => [{ controller => 'x' }] }, { generateName => 7 }, { clusterName => {} };
    $admin->make("$url-old");
    $instance->sql(q(UPDATE resources SET meta = '{"finalizers":"x","generation":5}' WHERE name = 'owned-old'));
    my $old = $admin->patch("$url-old", { a => 1 });
    $old->is_status(200, 'a row of before can be changed');
    is_deeply [@{ meta($old) }{qw(finalizers generation)}], ['x', undef], 'and keeps what is its own';
    $admin->patch("$url-old", { metadata => { finalizers => 'y' } })->is_problem(400, 'bad_document', 'but gets nothing new of a wrong kind');
    $admin->put($url, json => $_)->is_problem(400, 'bad_document', 'no object') for [], 'x', 7, undef;
};

subtest 'PATCH' => sub {
    my $url = "$t1/namespaces/default/configmaps/patch";
    $admin->patch($url, { a => 1 })->is_problem(404, 'not_found', 'makes nothing');
    # RFC 7396, appendix A, as members of one document.
    my @cases = ([{ a => 'b' }, { a => 'c' }, { a => 'c' }], [{ a => 'b' }, { b => 'c' }, { a => 'b', b => 'c' }],
        [{ a => 'b' }, { a => undef }, {}], [{ a => 'b', b => 'c' }, { a => undef }, { b => 'c' }], [['b'], ['c'], ['c']],
        [{ a => { b => 'c' } }, { a => { b => 'd', c => undef } }, { a => { b => 'd' } }], [{ a => [{ b => 'c' }] }, { a => [1] }, { a => [1] }],
        [['a', 'b'], ['c', 'd'], ['c', 'd']], [{ a => 'b' }, ['c'], ['c']], [{ e => undef }, { a => 1 }, { e => undef, a => 1 }],
        [[1, 2], { a => 'b', c => undef }, { a => 'b' }], [{}, { a => { bb => { ccc => undef } } }, { a => { bb => {} } }]);
    for my $i (0 .. $#cases) {
        my ($before, $patch, $after) = @{ $cases[$i] };
        $admin->put($url, json => { v => $before });
        my $answer = $admin->patch($url, { v => $patch });
        $answer->is_status(200, "example $i");
        is_deeply $answer->json->{v}, $after, 'gives what RFC 7396 says';
    }
    $admin->put($url, json => { a => 1, metadata => { labels => { l => 'v', m => 'w' } } });
    my $patch = $admin->patch($url, { metadata => { labels => { m => undef } } });
    is_deeply meta($patch)->{labels}, { l => 'v' }, 'reaches into metadata';
    is $patch->json->{a}, 1, 'and leaves the rest';
    $admin->request('PATCH', $url, body => '{"a":2}', type => 'application/json')->is_status(200, 'as application/json, too');
    $admin->patch($url, 'x')->is_problem(400, 'bad_document', 'a patch that makes it no object');
    $admin->patch($url, { metadata => { name => 'other' } })->is_problem(400, 'bad_document', 'a patch that contradicts the address');
    $admin->patch($url, { metadata => undef })->is_status(200, 'metadata can be taken away');
    is meta($admin->get($url))->{labels}, undef, 'the client\'s part of it';
};

subtest 'a dry run' => sub {
    my ($url, $new) = map { "$t1/namespaces/default/configmaps/$_" } 'tried', 'tried-new';
    my $made   = $admin->make($url, { a => 1 });
    my $before = $instance->change_count;
    my $dry    = $admin->put("$new?dry_run=true", json => { a => 1 });
    $dry->is_status(201, 'what would be made');
    is $dry->json->{a}, 1, 'is shown';
    $admin->get($new)->is_problem(404, 'not_found', 'and not there');
    is $admin->put("$url?dry_run=true", json => { a => 2 }, if_match => $made->etag)->json->{a}, 2, 'replaced';
    is $admin->patch("$url?dry_run=1", { a => 3 })->json->{a}, 3, 'patched';
    $admin->delete("$url?dry_run=true")->is_status(204, 'deleted');
    is $_->get($url)->etag, $made->etag, 'and is as it was' for ($admin) x 3;
    $admin->put("$url?dry_run=true", json => { a => 2 }, if_match => 'W/"0"')->is_problem(412, 'stale', 'a stale etag is told');
    $admin->put("$url?dry_run=true", json => { metadata => { labels => 5 } })->is_problem(400, 'bad_document', 'a bad document');
    $admin->put("$t1/namespaces/never/configmaps/x?dry_run=true", json => {})->is_problem(404, 'not_found', 'a namespace that is not there');
    $admin->delete("$new?dry_run=true")->is_problem(404, 'not_found', 'nothing to delete');
    $admin->put("$t1/namespaces/tried?dry_run=true", json => {})->is_status(201, 'a namespace');
    $admin->put("$t1/namespaces/tried/configmaps/x", json => {})->is_problem(404, 'not_found', 'which nothing can be put into');
    $instance->service('rita:t1:reader')->put("$new?dry_run=true", json => {})->is_problem(403, 'forbidden', 'it needs the rights of the change');
    $admin->put("$new?dry_run=maybe", json => {})->is_problem(400, 'bad_parameter', 'it is true or false');
    is $instance->change_count, $before, 'the log has nothing of all this';
    $admin->put("$new?dry_run=false", json => { a => 1 })->is_status(201, 'false is none');
    $admin->get($new)->is_status(200, 'so it is there');
};

subtest 'DELETE' => sub {
    my $url = "$t1/persistentvolumes/del";
    $admin->delete($url)->is_problem(404, 'not_found', 'nothing there');
    my $first = $admin->make($url, { n => 1 });
    my $delete = $admin->delete($url);
    $delete->is_status(204);
    ok $delete->header('X-Purge-At'), 'tells until when it can be recovered';
    my $gone = $admin->get($url);
    $gone->is_problem(410, 'gone', 'GET');
    ok $gone->json->{purge_at}, 'tells that, too';
    $admin->head($url)->is_status(410, 'HEAD');
    $admin->delete($url)->is_problem(410, 'gone', 'DELETE again');
    $admin->patch($url, {})->is_problem(410, 'gone', 'PATCH');
    $admin->put($url, json => {}, if_match => '*')->is_problem(412, 'stale', 'PUT with If-Match');
    my $second = $admin->put($url, json => { n => 2 });
    $second->is_status(201, 'PUT makes a new one');
    isnt meta($second)->{uid}, meta($first)->{uid}, 'of another uid';
};

subtest 'namespaces' => sub {
    $admin->get("$t1/namespaces/default")->is_status(200, 'default is there');
    $admin->delete("$t1/namespaces/default")->is_problem(409, 'conflict', 'and stays');
    $admin->put("$t1/namespaces/none/configmaps/c", json => {})->is_problem(404, 'not_found', 'nothing goes into one that is not there');
    $admin->get("$t1/namespaces/none/configmaps")->is_problem(404, 'not_found', 'nor is there a list');
    $admin->make("$t1/namespaces/space");
    is_deeply $admin->get("$t1/namespaces/space/configmaps")->json, { resources => [] }, 'a new one is empty';
    $admin->make("$t1/namespaces/space/configmaps/$_") for 'c1', 'c2';
    $admin->delete("$t1/namespaces/space")->is_status(204, 'it goes');
    $admin->get("$t1/namespaces/space/configmaps/c1")->is_problem(410, 'gone', 'with what is in it');
    $admin->put("$t1/namespaces/space/configmaps/c3", json => {})->is_problem(404, 'not_found', 'and takes nothing more');
    $admin->post("$t1/namespaces/space/action/recover")->is_status(204, 'it comes back');
    $admin->get("$t1/namespaces/space/configmaps/$_")->is_status(200, "with $_") for 'c1', 'c2';
};

subtest 'locks' => sub {
    my $url = "$t1/namespaces/default/secrets/locked";
    $admin->make($url, { metadata => { locked => JSON::PP::true() } });
    my $get = $admin->get($url);
    ok meta($get)->{locked}, 'metadata.locked comes back';
    $admin->delete($url)->is_problem(409, 'locked', 'it cannot be deleted');
    $admin->put($url, json => { a => 2 })->is_status(200, 'but changed');
    ok meta($admin->get($url))->{locked}, 'which leaves the lock';
    $admin->make("$t1/namespaces/holds");
    $admin->make("$t1/namespaces/holds/secrets/l", { metadata => { locked => JSON::PP::true() } });
    $admin->delete("$t1/namespaces/holds")->is_problem(409, 'locked', 'nor its namespace');
    $admin->get("$t1/namespaces/holds/secrets/l")->is_status(200, 'nothing went');
    $admin->patch($url, { metadata => { locked => JSON::PP::false() } })->is_status(200, 'unlocked');
    $admin->delete($url)->is_status(204, 'it goes');
};

subtest 'where there is no tenant' => sub {
    $admin->get('/v2.0/nobody/persistentvolumes/x')->is_problem(404, 'not_found');
    $admin->get('/v2.0/nobody/persistentvolumes')->is_problem(404, 'not_found');
    $admin->put('/v2.0/nobody/persistentvolumes/x', json => {})->is_problem(404, 'not_found');
    $admin->get('/v2.0/nobody')->is_problem(404, 'not_found', 'a PUT of a resource makes no tenant');
};

subtest 'two writers at once' => sub {
    my $url = "$t1/persistentvolumes/race";
    $admin->make($url, { n => 0 });
    pipe my $in, my $out or die "pipe: $!";
    my @pids;
    for my $writer (1 .. 4) {
        my $pid = fork // die "fork: $!";
        if ($pid == 0) {
            my $done = 0;
            while ($done < 10) {
                my $get = $admin->get($url);
                $done++ if $admin->put($url, json => { n => $get->json->{n} + 1 }, if_match => $get->etag)->status == 200;
            }
            syswrite $out, "done\n";
            POSIX::_exit(0);
        }
        push @pids, $pid;
    }
    close $out;
    waitpid $_, 0 for @pids;
    is scalar(my @done = readline $in), 4, 'all end';
    is $admin->get($url)->json->{n}, 40, 'with If-Match no update is lost';
    is meta($admin->get($url))->{resourceVersion}, 41, 'each is a revision';
};

done_testing;
