#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Watch: every change once and in order, whose and which of them, from where; many watches, few workers.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use POSIX ();
use Test::More;
use Time::HiRes ();

use Tenure::Definition qw(definition_of);
use Tenure::Instance;
use Tenure::Parallel;
use Tenure::Watch qw(events name_of told);

my $server   = $ENV{TENURE_WATCH_SERVER} // 'lighttpd';
my $instance = Tenure::Instance->start(combined => 1, workers => 2, server => $server, watches => 1,
    settings => { 'tenure.watches_per_token' => 1000, 'tenure.watches_per_tenant' => 1000, 'tenure.request_memory' => '16M' });
my $admin    = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my $globex   = $instance->combined('bob:globex');
my $cms      = '/api/v1/namespaces/default/configmaps';
# Each takes a thread of Apache's.
my $many     = $server =~ /apache/ ? 20 : 300;
my $table    = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

sub watch { return Tenure::Watch->new($admin->url, @_, wait => $server eq 'lighttpd' ? 30 : 0.2) }

sub config_map {
    my ($name, %more) = @_;
    return { apiVersion => 'v1', kind => 'ConfigMap', metadata => { name => $name, %{ delete $more{metadata} // {} } }, %more };
}

sub version_of_list { return $_[0]->get($_[1] // $cms)->json->{metadata}{resourceVersion} }

$admin->post('/api/v1/tenants', json => { apiVersion => 'v1', kind => 'Tenant', metadata => { name => $_ } })
    ->is_status(201, "tenant $_") for qw(acme globex);

# ---- what it tells

subtest 'created, updated, deleted' => sub {
    $acme->post($cms, json => config_map('a'))->is_status(201, 'one is there');
    my $watch = watch('alice:acme', $cms);
    is told($watch, 1), 'ADDED a', 'what is there comes first';
    like $watch->{head}, qr{\AHTTP/1.1 200 }, 'status 200';
    like $watch->{head}, qr{^content-type: application/json}mi, 'JSON';
    my $made = $acme->post($cms, json => config_map('b'))->json->{metadata}{resourceVersion};
    $acme->patch("$cms/b", { data => { k => 'v' } })->is_status(200, 'changed');
    $acme->delete("$cms/b")->is_status(200, 'deleted');
    $globex->post($cms, json => config_map('secret'))->is_status(201, "another tenant's");
    $acme->post($cms, json => config_map('c'))->is_status(201, 'another');
    my @events = events($watch, 4);
    is join(', ', map { name_of($_) } @events), 'ADDED b, MODIFIED b, DELETED b, ADDED c', 'each change, once, in order';
    my @versions = map { $_->{object}{metadata}{resourceVersion} } @events;
    is_deeply \@versions, [sort { $a <=> $b } @versions], 'with rising versions';
    is $versions[0], $made, 'that of the creation';
    is $events[1]{object}{kind}, 'ConfigMap', 'whole objects';
    my $again = watch('alice:acme', "$cms?resourceVersion=$versions[1]");
    is told($again, 2), 'DELETED b, ADDED c', 'resumes behind a version';
    is told($again, 1, 0.5), '', 'and has nothing more to tell';
};

subtest 'namespaces and names' => sub {
    $acme->post('/api/v1/namespaces', json => { apiVersion => 'v1', kind => 'Namespace', metadata => { name => 'other' } });
    my $from  = version_of_list($acme);
    my $all   = watch('alice:acme', "/api/v1/configmaps?resourceVersion=$from");
    my $one   = watch('alice:acme', "$cms?resourceVersion=$from");
    my $named = watch('alice:acme', "$cms?resourceVersion=$from&fieldSelector=metadata.name%3Dn2");
    $acme->post('/api/v1/namespaces/other/configmaps', json => config_map('o'));
    $acme->post($cms, json => config_map($_)) for qw(n1 n2);
    is told($all,   3), 'ADDED o, ADDED n1, ADDED n2', 'all namespaces';
    is told($one,   2), 'ADDED n1, ADDED n2', 'one namespace';
    is told($named, 1), 'ADDED n2', 'one name';
    $acme->delete('/api/v1/namespaces/other')->is_status(200, 'a namespace goes');
    is told($all, 1), 'DELETED o', 'with what is in it';
};

subtest 'selectors' => sub {
    $acme->post($cms, json => config_map('old', metadata => { labels => { app => 'web' } }));
    # Before the watch begins: if its creation and its first change were read in one look, they would be one event.
    $acme->post($cms, json => config_map('s2'));
    my $from = version_of_list($acme);
    my $watch = watch('alice:acme', "$cms?labelSelector=app%3Dweb&resourceVersion=$from");
    $acme->post($cms, json => config_map('s1', metadata => { labels => { app => 'web' } }));
    is told($watch, 1), 'ADDED s1', 'chosen';
    $acme->patch("$cms/s2", { metadata => { labels => { app => 'web' } } });
    is told($watch, 1), 'ADDED s2', 'chosen from now on';
    $acme->patch("$cms/s2", { data => { a => 'b' } });
    is told($watch, 1), 'MODIFIED s2', 'changed';
    $acme->patch("$cms/s2", { metadata => { labels => { app => 'db' } } });
    is told($watch, 1), 'DELETED s2', 'no longer chosen';
    $acme->delete("$cms/s2");
    $acme->patch("$cms/old", { metadata => { labels => { app => undef } } });
    is told($watch, 1), 'DELETED old', 'what was there when it began';
    $acme->delete("$cms/s1");
    is told($watch, 1), 'DELETED s1', 'deleted';
};

# As the metadata client of client-go asks, whose decoder knows no other kind, in any event.
subtest 'metadata alone' => sub {
    my $accept = join ',', (map { "$_;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" } 'application/vnd.kubernetes.protobuf', 'application/json'), 'application/json';
    $acme->post($cms, json => config_map('m1', data => { a => 'b' }));
    my $watch = watch('alice:acme', "$cms?sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&fieldSelector=metadata.name%3Dm1", accept => $accept);
    my @events = events($watch, 2);
    my $before = $acme->get("$cms/m1")->json->{metadata};
    $acme->patch("$cms/m1", { metadata => { labels => { l => '1' } } });
    my $after = $acme->get("$cms/m1")->json->{metadata};
    push @events, events($watch, 1);
    $acme->delete("$cms/m1");
    push @events, events($watch, 1);
    is join(', ', map { $_->{type} } @events), 'ADDED, BOOKMARK, MODIFIED, DELETED', 'as ever';
    is_deeply [map { join ' ', map { $_ // 'undef' } @{ $_->{object} }{qw(apiVersion kind)} } @events], [('meta.k8s.io/v1 PartialObjectMetadata') x 4], 'each event has metadata alone';
    is_deeply [grep { exists $_->{object}{data} } @events], [], 'and nothing else';
    is_deeply [map { $events[$_]{object}{metadata} } 0, 2], [$before, $after], 'all of them';
    is $events[1]{object}{metadata}{annotations}{'k8s.io/initial-events-end'}, 'true', 'also those of a bookmark';
};

subtest 'moves' => sub {
    $acme->post($cms, json => config_map('goes'));
    my $source = watch('alice:acme', "$cms?resourceVersion=" . version_of_list($acme));
    my $dest   = watch('bob:globex', "$cms?resourceVersion=" . version_of_list($globex));
    my $all    = watch('admin', '/api/v1/tenants/all/configmaps?resourceVersion=' . version_of_list($admin, '/api/v1/configmaps'));
    $admin->post('/v2.0/acme/namespaces/default/configmaps/goes/action/move?dest=globex')->is_status(303, 'moved');
    is told($source, 1), 'DELETED goes', 'it leaves';
    my ($come) = events($dest, 1);
    is name_of($come // {}), 'ADDED goes', 'and comes';
    is $come->{object}{metadata}{tenant}, 'globex', "as the other's";
    is told($all, 2), 'DELETED goes, ADDED goes', 'both for who sees all';
};

subtest 'tables' => sub {
    my $watch = watch('alice:acme', "$cms?fieldSelector=metadata.name%3Da", accept => $table);
    my ($event) = events($watch, 1);
    is $event->{object}{kind}, 'Table', 'a table';
    is $event->{object}{rows}[0]{object}{metadata}{name}, 'a', 'of one row';
    my $bare = watch('alice:acme', "$cms?fieldSelector=metadata.name%3Da&includeObject=None", accept => $table);
    my $version = $acme->get("$cms/a")->json->{metadata}{resourceVersion};
    is +(events($bare, 1))[0]{object}{metadata}{resourceVersion}, $version, 'with the version from which a client resumes';
    $version = $acme->patch("$cms/a", { data => { t => 'x' } })->json->{metadata}{resourceVersion};
    is +(events($bare, 1))[0]{object}{metadata}{resourceVersion}, $version, 'of each change';
};

# Those who watch another's space name it in the path, and it may have types that their own space does not have.
subtest 'by the full path' => sub {
    my $crds  = '/apis/apiextensions.k8s.io/v1';
    my $space = 'tenants/acme/namespaces/default/widgets';
    $acme->post("$crds/customresourcedefinitions", json => definition_of('widgets'))->is_status(201, "a type of acme's own");
    my $from    = version_of_list($admin, "/apis/example.com/v1/$space");
    my $path    = "/apis/example.com/v1/$space?allowWatchBookmarks=true&timeoutSeconds=3&resourceVersion=$from";
    my %scope   = (headers => { 'X-Roles' => 'reader', 'OpenStack-System-Scope' => 'all' });
    my %watches = ('the operator' => watch('admin', $path), 'a reader of everything' => watch('auditor', $path, %scope));
    my $widgets = $path =~ s/\?.*//r;
    $admin->post($widgets, json => { metadata => { name => 'w' } })->is_status(201, 'one is made');
    $admin->patch("$widgets/w", { spec => { size => 2 } })->is_status(200, 'changed');
    $admin->delete("$widgets/w")->is_status(200, 'deleted');
    is told($watches{$_}, 4), 'ADDED w, MODIFIED w, DELETED w, BOOKMARK -', "$_ is told each change, and where it is" for sort keys %watches;
    $acme->delete("$crds/customresourcedefinitions/widgets.example.com")->is_status(200, 'the type goes');
};

# ---- how long, and from where

subtest 'bookmarks and the end' => sub {
    my $began = Time::HiRes::time();
    my $watch = watch('alice:acme', "$cms?allowWatchBookmarks=true&timeoutSeconds=2&resourceVersion=" . version_of_list($acme));
    my @events = events($watch, 9);
    is join(', ', map { $_->{type} } @events), 'BOOKMARK', 'a bookmark before the end';
    like $events[0]{object}{metadata}{resourceVersion}, qr/\A[1-9][0-9]*\z/, 'with a version';
    ok $watch->{over}, 'the end';
    cmp_ok Time::HiRes::time() - $began, '>', 1.5, 'and not before it is due';
};

subtest 'history that is gone' => sub {
    my ($event) = events(watch('alice:acme', "$cms?resourceVersion=99999999999"), 1);
    is "$event->{type} $event->{object}{code} $event->{object}{reason}", 'ERROR 410 Expired', 'from a version that never was';
    $instance->sql('DELETE FROM changes WHERE id < 20');
    ($event) = events(watch('alice:acme', "$cms?resourceVersion=2"), 1);
    is "$event->{type} $event->{object}{code}", 'ERROR 410', 'from one that is gone';
    $acme->get("$cms?watch=true&resourceVersion=x")->is_status(400, 'from what is none');
};

# SQL that writes a change of that config map, and locks nothing else. id: of the change; from: it came from that tenant.
sub change_sql {
    my ($tenant, $name, %option) = @_;
    my ($row) = $instance->sql(<<"SQL");
SELECT r.tenant_id, r.id, HEX(r.uid), r.type_id, r.namespace, r.name, r.revision
FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = '$tenant' AND r.name = '$name' AND r.live = 1
SQL
    my $values = sprintf "%d, %d, UNHEX('%s'), %d, '%s', '%s', %d", @$row;
    my $id   = $option{id} // 'NULL';
    my $verb = $option{from} ? 'moved' : 'updated';
    my $from = $option{from} ? $instance->tenant_id($option{from}) : 'NULL';
    return <<"SQL";
INSERT INTO changes (id, request_id, at, actor, verb, from_tenant_id, tenant_id, resource_id, uid, type_id, namespace, name,
  revision)
VALUES ($id, UNHEX(REPEAT('ab', 16)), UTC_TIMESTAMP(6), 'x', '$verb', $from, $values);
SQL
}

# A transaction that has changed that config map, and is not yet at its end.
sub open_change {
    my ($tenant, $name, %option) = @_;
    my $session = $instance->sql_session;
    my $newest = 'SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED; SELECT MAX(id) FROM changes';
    my $before = $instance->sql_value($newest);
    print {$session} 'BEGIN; ', change_sql($tenant, $name, %option);
    ok Tenure::Instance::wait_until(sub { $instance->sql_value($newest) > $before }), "$tenant has something in flight";
    return $session;
}

sub commit {
    my ($session) = @_;
    print {$session} "COMMIT;\n";
    return close $session;
}

sub rollback {
    my ($session) = @_;
    print {$session} "ROLLBACK;\n";
    return close $session;
}

subtest 'transactions that commit out of order' => sub {
    my $watch = watch('alice:acme', "$cms?resourceVersion=" . version_of_list($acme));
    my $session = open_change('acme', 'a');
    $acme->post($cms, json => config_map('quick'));
    is told($watch, 1, 0.5), '', 'the later one waits for the earlier';
    commit($session);
    is told($watch, 2), 'MODIFIED a, ADDED quick', 'both come, in order';
    $session = open_change('acme', 'a');
    $acme->post($cms, json => config_map('behind'));
    is told($watch, 1, 0.5), '', 'and the next one';
    rollback($session);
    is told($watch, 1), 'ADDED behind', 'until the earlier is rolled back';
    $instance->sql('BEGIN; ' . change_sql('acme', 'a') . 'ROLLBACK;');
    $acme->post($cms, json => config_map('gap'));
    is told($watch, 1, 5), 'ADDED gap', 'what was rolled back before holds nothing up';
};

subtest 'what another tenant has in flight' => sub {
    my $everybodys = '/api/v1/tenants/all/configmaps';
    $globex->post($cms, json => config_map('g'))->is_status(201, 'theirs');
    my $mine   = watch('alice:acme', "$cms?resourceVersion=" . version_of_list($acme));
    my $theirs = watch('bob:globex', "$cms?resourceVersion=" . version_of_list($globex));
    my $all    = watch('admin', "$everybodys?resourceVersion=" . version_of_list($admin, '/api/v1/configmaps'));
    my $session = open_change('globex', 'g');
    $acme->post($cms, json => config_map('m1'));
    $globex->post($cms, json => config_map('t1'));
    my ($event) = events($mine, 1);
    is name_of($event // {}), 'ADDED m1', 'holds up nobody else';
    $acme->post($cms, json => config_map('m2'));
    is told($mine, 1), 'ADDED m2', 'nor what comes then';
    my $again = watch('alice:acme', "$cms?resourceVersion=" . ($event->{object}{metadata}{resourceVersion} // 0));
    is told($again, 1), 'ADDED m2', 'nor who comes then';
    is told($theirs, 1, 0.5), '', 'but that tenant';
    is told($all, 1, 0.5), '', 'and who watches all';
    commit($session);
    is told($theirs, 2), 'MODIFIED g, ADDED t1', 'which are told in order';
    is told($all, 4), 'MODIFIED g, ADDED m1, ADDED t1, ADDED m2', 'each of what is theirs';
    is told($_, 1, 0.5), '', 'and nothing is told twice' for $mine, $again;
    $acme->post($cms, json => config_map('m3'));
    is told($_, 1), 'ADDED m3', 'all go on' for $mine, $again, $all;
    $acme->delete("$cms/$_") for qw(m1 m2 m3);
    $globex->delete("$cms/t1");
};

subtest 'what has to do with a tenant holds it up' => sub {
    $admin->post($cms, json => config_map('sys'))->is_status(201, 'of the system, by whose definitions all is told');
    for my $case (['globex', 'g', from => 'acme'], ['system', 'sys']) {
        my $mine = watch('alice:acme', "$cms?resourceVersion=" . version_of_list($acme));
        my $session = open_change(@$case);
        $acme->post($cms, json => config_map('held'));
        is told($mine, 1, 0.7), '', 'it waits';
        commit($session);
        is told($mine, $case->[2] ? 2 : 1), ($case->[2] ? 'DELETED g, ' : '') . 'ADDED held', 'and is told in order';
        $acme->delete("$cms/held");
    }
    $admin->delete("$cms/sys");
};

subtest 'what a tenant has in flight itself beside another' => sub {
    my $mine = watch('alice:acme', "$cms?resourceVersion=" . version_of_list($acme));
    my ($theirs, $own) = (open_change('globex', 'g'), open_change('acme', 'a'));
    $acme->post($cms, json => config_map('own'));
    is told($mine, 1, 0.7), '', 'it waits for its own';
    commit($own);
    is told($mine, 2), 'MODIFIED a, ADDED own', 'and no longer';
    commit($theirs);
    $acme->delete("$cms/own");
    is told($mine, 1), 'DELETED own', 'once';
};

subtest 'much that comes while another tenant has something in flight' => sub {
    my $mine = watch('alice:acme', "$cms?resourceVersion=" . version_of_list($acme));
    my $session = open_change('globex', 'g');
    my $change  = change_sql('acme', 'a');
    $instance->sql('BEGIN; ' . $change x 1200 . 'COMMIT;');
    my @versions = map { $_->{object}{metadata}{resourceVersion} } events($mine, 1200, 30);
    is scalar @versions, 1200, 'all of it';
    is_deeply \@versions, [sort { $a <=> $b } @versions], 'in order';
    commit($session);
    $acme->post($cms, json => config_map('after-much'));
    is told($mine, 1), 'ADDED after-much', 'once';
};

# What the log says of a tenant's config maps: [id, verb, name], in order.
sub changes_of {
    my ($tenant) = @_;
    return $instance->sql(<<"SQL");
SELECT c.id, c.verb, c.name FROM changes c JOIN tenants t ON t.id = c.tenant_id
JOIN types y ON y.id = c.type_id WHERE t.name = '$tenant' AND y.plural = 'configmaps' AND y.group_name = '' ORDER BY c.id
SQL
}

# What there was at that version: the last change of each name that was there.
sub state_at {
    my ($version, @changes) = @_;
    my %state;
    for my $change (@changes) {
        my ($id, $verb, $name) = @{$change};
        last if $id > $version;
        if ($verb eq 'deleted') { delete $state{$name} }
        else { $state{$name} = $id }
    }
    return %state;
}

sub write_for_a_while {
    my ($client, $until) = @_;
    my $api = $instance->combined($client % 3 == 2 ? 'bob:globex' : 'alice:acme');
    my $n = 0;
    while (Time::HiRes::time() < $until) {
        my $name = "w$client-" . $n++ % 5;
        my $answer = $api->post($cms, json => config_map($name));
        die $answer->describe if $answer->status != 201;
        $api->patch("$cms/$name", { data => { n => "$n" } }) if $n % 2;
        $api->delete("$cms/$name");
        $n++;
    }
    return $n;
}

# Lists and watches, again and again: for each time the list's version, what it had, and the versions of the events.
sub list_and_watch {
    my ($until) = @_;
    my @times;
    while (Time::HiRes::time() < $until - 1) {
        my $list = $acme->get($cms)->json;
        my $from = $list->{metadata}{resourceVersion};
        my $watch = watch('alice:acme', "$cms?resourceVersion=$from&timeoutSeconds=1");
        push @times, [$from, { map { $_->{metadata}{name} => $_->{metadata}{resourceVersion} } @{ $list->{items} } },
            [map { $_->{object}{metadata}{resourceVersion} } events($watch, 100_000, 5)]];
    }
    return JSON::PP::encode_json(\@times);
}

subtest 'a list and a watch from it tell all, and nothing twice' => sub {
    # The other test has taken the beginning of the log away: that it is no gap that may be filled shows after seconds.
    Tenure::Instance::wait_until(sub { 20 == grep { version_of_list($acme) > 0 } 1 .. 20 });
    my $until = Time::HiRes::time() + 7;
    my @told  = Tenure::Parallel::run(12, sub { $_[0] > 5 ? list_and_watch($until) : write_for_a_while($_[0], $until) });
    my @changes = changes_of('acme');
    my ($exact, @times) = (0, map { @{ JSON::PP::decode_json($_) } } grep { defined } @told[6 .. 11]);
    my (@wrong_state, @wrong_events);
    for my $time (@times) {
        my ($from, $had, $events) = @{$time};
        my %was = state_at($from, @changes);
        # Where the list could not be as of one version, what differs is what is told again.
        my $is_exact = !grep { $_ > $from } values %{$had};
        my %later = map { $is_exact ? () : ($_->[2] => 1) } grep { $_->[0] > $from && $_->[0] < $from + 100 } @changes;
        my @differ = grep { /^w/ && ($was{$_} // 0) != ($had->{$_} // 0) && !$later{$_} } keys %{ { %was, %{$had} } };
        push @wrong_state, "$from: @differ" if @differ;
        $exact++ if $is_exact;
        my ($last) = ($events->[-1] // $from);
        my @expected = map { $_->[0] } grep { $_->[0] > $from && $_->[0] <= $last } @changes;
        push @wrong_events, "$from: @{$events}\nexpected: @expected" if "@{$events}" ne "@expected";
    }
    cmp_ok scalar @times, '>', 5, 'many times';
    is_deeply \@wrong_state,  [], 'each list is what there was at its version';
    is_deeply \@wrong_events, [], 'each change behind it is told, once, in order';
    note "$exact of " . @times . " lists as of one version";
};

subtest 'many watches, two workers' => sub {
    # A worker that has just seen the gap of what was rolled back lists as of before it.
    my $last = $instance->sql_value('SELECT MAX(id) FROM changes');
    my $from;
    Tenure::Instance::wait_until(sub { ($from = version_of_list($acme)) >= $last });
    my @watches = map { watch('alice:acme', "$cms?resourceVersion=$from") } 1 .. $many;
    $acme->get($cms)->is_status(200, 'workers are free');
    $acme->post($cms, json => config_map('many'));
    my $told = grep { told($_, 1) eq 'ADDED many' } @watches;
    is $told, $many, 'each is told';
};

subtest 'tenants' => sub {
    my $tenants = '/api/v1/tenants';
    my $first = watch('alice:acme', $tenants);
    is told($first, 1), 'ADDED acme', 'its own is there';
    my $from  = version_of_list($admin, $tenants);
    my $all   = watch('admin', "$tenants?resourceVersion=$from");
    my $own   = watch('alice:acme', "$tenants?resourceVersion=$from");
    my $named = watch('admin', "$tenants?resourceVersion=$from&fieldSelector=metadata.name%3Dhooli");
    my $gold  = watch('admin', "$tenants?resourceVersion=$from&labelSelector=tier%3Dgold");
    my $rows  = watch('admin', "$tenants?resourceVersion=$from", accept => $table);
    my $made  = $admin->post($tenants, json => { kind => 'Tenant', metadata => { name => 'hooli' } })->json;
    $admin->post($tenants, json => { kind => 'Tenant', metadata => { name => 'initech' } })->is_status(201, 'another');
    $admin->post('/v2.0/acme/tokens', json => { token => { user => 'x' } })->is_status(201, 'a token, which is no part of the tenant object');
    $admin->patch("$tenants/acme", { metadata => { labels => { tier => 'gold' } } })->is_status(200, 'changed');
    $admin->post('/api/v1/tenants/hooli/namespaces', json => { kind => 'Namespace', metadata => { name => 'x' } });
    $admin->delete("$tenants/hooli")->is_status(200, 'deleted');
    my @events = events($all, 4);
    is join(', ', map { name_of($_) } @events), 'ADDED hooli, ADDED initech, MODIFIED acme, DELETED hooli', 'all, once, in order';
    is told($all, 1, 0.5), '', 'and nothing of what is in them';
    is $events[0]{object}{metadata}{$_}, $made->{metadata}{$_}, "as it was made: $_" for qw(uid resourceVersion selfLink);
    is_deeply [map { $_->{object}{kind} } @events], [('Tenant') x 4], 'Tenant objects';
    is told($own, 1), 'MODIFIED acme', 'a tenant is told of itself';
    is told($own, 1, 0.5), '', 'alone';
    is told($named, 2), 'ADDED hooli, DELETED hooli', 'one name';
    is told($gold, 1), 'ADDED acme', 'a label';
    my ($row) = events($rows, 1);
    is_deeply [$row->{object}{kind}, $row->{object}{rows}[0]{cells}[0]], ['Table', 'hooli'], 'a table';
    is told(watch('alice:acme', "$tenants?fieldSelector=metadata.name%3Dglobex"), 1, 0.5), '', "another's name: nothing";
    $admin->post('/v2.0/hooli/action/recover')->is_status(204, 'recovered');
    is told($all, 1), 'ADDED hooli', 'it is back';
    my $mine = watch('alice:acme', "$tenants?resourceVersion=" . version_of_list($acme, $tenants));
    my $objects = watch('alice:acme', "$cms?resourceVersion=" . version_of_list($acme));
    $admin->delete("$tenants/acme");
    is told($mine, 2), 'DELETED acme, ERROR Expired', 'a tenant is told that it is deleted, and no more';
    is told($objects, 1), 'ERROR Expired', 'and so are who watch in it';
    $admin->post('/v2.0/acme/action/recover')->is_status(204, 'recovered');
};

subtest 'a tenant that is purged' => sub {
    my $tenants = '/api/v1/tenants';
    $admin->post($tenants, json => { kind => 'Tenant', metadata => { name => 'brief' } });
    my $everybodys = '/api/v1/tenants/all/configmaps';
    my $bob = $instance->combined('bob:brief');
    $bob->post($cms, json => config_map('inside'))->is_status(201, 'an object of it');
    my $from = version_of_list($admin, $tenants);
    my $objects = version_of_list($bob);
    my $all = version_of_list($admin, $everybodys);
    my $mine = watch('alice:acme', "$cms?resourceVersion=" . version_of_list($acme));
    $admin->delete("$tenants/brief");
    $instance->sql("UPDATE tenants SET purge_at = UTC_TIMESTAMP() - INTERVAL 1 DAY WHERE name = 'brief'");
    $admin->post($tenants, json => { kind => 'Tenant', metadata => { name => 'brief' } })->is_status(201, 'its name is free again');
    is told(watch('admin', "$tenants?resourceVersion=$from"), 2), 'DELETED brief, ADDED brief', 'that it went is told still';
    is told(watch('bob:brief', "$tenants?resourceVersion=$from"), 1), 'ADDED brief', 'but not to who has the name now';
    is told(watch('bob:brief', "$cms?resourceVersion=$objects"), 1), 'ERROR Expired', 'who watched its objects lists again';
    is told(watch('admin', "$everybodys?resourceVersion=$all"), 1), 'ERROR Expired', 'as does who watched those of all tenants';
    $acme->post($cms, json => config_map('not-purged'));
    is told($mine, 1), 'ADDED not-purged', "a watch of another tenant's goes on";
    $acme->delete("$cms/not-purged");
};

# ---- which version

sub types_of { my ($self, $n, $seconds) = @_; return join ' ', map { $_->{type} } events($self, $n, $seconds) }

subtest 'what is there, and a bookmark behind it' => sub {
    my $stream = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    my @names  = map { $_->{metadata}{name} } @{ $acme->get($cms)->json->{items} };
    for my $version ('', '&resourceVersion=0', '&resourceVersion=' . version_of_list($acme)) {
        my $watch = watch('alice:acme', "$cms?$stream&allowWatchBookmarks=true$version");
        my @events = events($watch, @names + 1);
        is join(' ', map { $_->{object}{metadata}{name} } @events[0 .. $#names]), "@names", "all that is there first, from '$version'";
        my $mark = $events[-1];
        is_deeply [$mark->{type}, $mark->{object}{metadata}{annotations}], ['BOOKMARK', { 'k8s.io/initial-events-end' => 'true' }],
            'then the bookmark that says so';
        $acme->post($cms, json => config_map('streamed'));
        my ($event) = events($watch, 1);
        is name_of($event // {}), 'ADDED streamed', 'then what comes';
        cmp_ok $event->{object}{metadata}{resourceVersion}, '>', $mark->{object}{metadata}{resourceVersion}, 'behind it';
        $acme->delete("$cms/streamed");
    }
    my $plain = watch('alice:acme', "$cms?$stream");
    is types_of($plain, @names + 1, 1), join(' ', ('ADDED') x @names), 'no bookmark for who takes none';
    my $now = watch('alice:acme', "$cms?sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0");
    is types_of($now, 1, 0.5), '', 'nothing of what is there for who wants none';
    $acme->post($cms, json => config_map('streamed'));
    is told($now, 1), 'ADDED streamed', 'what comes';
    is told(watch('alice:acme', "$cms?fieldSelector=metadata.name%3Dstreamed&resourceVersion=0"), 1), 'ADDED streamed', 'from 0: what is there';
    $acme->delete("$cms/streamed");
};

subtest 'more is there than a request has memory for' => sub {
    my $in = '/api/v1/namespaces/large/configmaps';
    $acme->post('/api/v1/namespaces', json => { metadata => { name => 'large' } });
    $acme->post($in, json => config_map("l$_", data => { x => 'x' x 1_000_000 }))->is_status(201, 'one of a megabyte') for 1 .. 10;
    my $watch = watch('alice:acme', "$in?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
    like $watch->{head}, qr{\AHTTP/1.1 200 }, 'status 200';
    is told($watch, 11), join(', ', map {"ADDED l$_"} 1, 10, 2 .. 9) . ', BOOKMARK -', 'all of it';
    $acme->delete("$in/l1");
    is told($watch, 1), 'DELETED l1', 'and what comes';
    $watch->close_now;
    # Nine of those and fifty-nine more pass 64 MiB.
    $instance->sql(sprintf <<'END', 59);
INSERT INTO resources (uid, tenant_id, type_id, namespace, name, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at, updated_at)
SELECT RANDOM_BYTES(16), r.tenant_id, r.type_id, r.namespace, CONCAT('more', seq), r.bytes, 1, 1, 0, 0, 0, 0, r.etag, r.meta, r.body, r.created_at, r.updated_at
FROM resources r JOIN seq_1_to_%d WHERE r.namespace = 'large' AND r.name = 'l2' AND r.live = 1
END
    my $refused = $acme->get("$in?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    $refused->is_status(413, 'more than a watch begins with');
    like $refused->json->{message}, qr/has more than 67108864 bytes: list it by pages, and watch from the list's resourceVersion/, 'which says what to do';
    $refused = $acme->get($in);
    $refused->is_status(413, 'and more than a list has');
    like $refused->json->{message}, qr/has more than 67108864 bytes: ask for pages, with limit/, 'which says so, too';
    # The documents are not decoded, which would take minutes.
    my ($next, @sizes, @names) = '';
    do {
        my $page = $acme->get("$in?limit=500$next");
        $page->is_status(200, 'a page of as many as have room');
        my @of_page = $page->text =~ /"name":"((?:l|more)\d+)"/g;
        push @sizes, scalar @of_page;
        push @names, @of_page;
        cmp_ok length $page->text, '<', 67_108_864 + 4096, 'which is not larger';
        $next = $page->text =~ /"continue":"([^"]+)"/ ? "&continue=$1" : undef;
    } while (defined $next && @sizes < 10);
    is scalar @sizes, 2, 'two of them' or diag "@sizes";
    is join(' ', @names), join(' ', sort map({"l$_"} 2 .. 10), map({"more$_"} 1 .. 59)), 'have all, each once';
    $instance->sql(q(DELETE FROM resources WHERE namespace = 'large' AND name LIKE 'more%'));
    $acme->delete('/api/v1/namespaces/large')->is_status(200, 'it goes');
};

subtest 'versions that are asked for' => sub {
    my $from = version_of_list($acme);
    is $acme->get("$cms?resourceVersion=$from&resourceVersionMatch=Exact")->json->{metadata}{resourceVersion}, $from, 'exactly the present';
    $globex->post($cms, json => config_map('elsewhere'));
    is $acme->get("$cms?resourceVersion=$from&resourceVersionMatch=Exact")->json->{metadata}{resourceVersion}, $from,
        'which it is while nothing of it changes';
    cmp_ok $acme->get("$cms?resourceVersion=$from&resourceVersionMatch=NotOlderThan")->json->{metadata}{resourceVersion}, '>=', $from, 'or newer';
    my $tenants = version_of_list($admin, '/api/v1/tenants');
    $admin->post('/v2.0/acme/tokens', json => { token => { user => 'x' } })->is_status(201, 'a token');
    is $admin->get("/api/v1/tenants?resourceVersion=$tenants&resourceVersionMatch=Exact")->json->{metadata}{resourceVersion}, $tenants,
        'which the Tenants are while nothing but what they have beside changes';
    $acme->post($cms, json => config_map('newer'));
    my $answer = $acme->get("$cms?resourceVersion=$from&resourceVersionMatch=Exact");
    $answer->is_status(410, 'what was there is not kept');
    is $answer->json->{reason}, 'Expired', 'which it says';
    for my $case (
        ['resourceVersionMatch=Exact', qr/unless resourceVersion is provided/],
        ['resourceVersionMatch=Exact&resourceVersion=0', qr/forbidden for resourceVersion "0"/],
        ['resourceVersionMatch=Newest&resourceVersion=1', qr/Unsupported value: "Newest"/],
        ['resourceVersionMatch=Exact&resourceVersion=1&continue=x', qr/when continue is provided/],
        ['sendInitialEvents=true', qr/forbidden for list/],
        ['watch=true&sendInitialEvents=true', qr/requires setting resourceVersionMatch to NotOlderThan/],
        ['watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=1', qr/unless sendInitialEvents is provided/],
    ) {
        $answer = $acme->get("$cms?$case->[0]");
        $answer->is_status(422, $case->[0]);
        like $answer->json->{message}, $case->[1], 'says why';
    }
    is $acme->get("$cms/newer?watch=true")->json->{kind}, 'ConfigMap', 'an object is not watched at its own path, but read';
};

subtest 'what is not watched' => sub {
    $globex->get('/api/v1/tenants/acme/namespaces/default/configmaps?watch=true')->is_status($globex->get(
        '/api/v1/tenants/nobody/namespaces/default/configmaps?watch=true')->status, "another tenant's: as one that isn't there");
};

subtest 'without a watch process' => sub {
    plan skip_all => 'mod_fcgid is not installed' unless -e '/usr/lib/apache2/modules/mod_fcgid.so';
    my $alone  = Tenure::Instance->start(combined => 1, server => 'apache-fcgid');
    my $answer = $alone->combined('admin')->get("$cms?watch=true");
    $answer->is_status(405, 'mod_fcgid starts none');
    like $answer->json->{message}, qr/watch is not offered/, 'which it says';
    is $alone->combined('admin')->post('/api/v1/tenants', json => { metadata => { name => 'acme' } })->status, 201, 'all else goes';
    my $alice = $alone->combined('alice:acme');
    my $made  = $alice->post($cms, json => config_map('made'))->json->{metadata}{resourceVersion};
    $answer = $alice->get("$cms?resourceVersion=$made&resourceVersionMatch=Exact");
    $answer->is_status(200, 'a list as of a write that nobody has told of yet');
    is $answer->json->{metadata}{resourceVersion}, $made, '... is exactly that';
    my $newer = $alice->post($cms, json => config_map('newer'))->json->{metadata}{resourceVersion};
    $alice->get("$cms?resourceVersion=$made&resourceVersionMatch=Exact")->is_status(410, '... which it is no more after the next');
    $alice->get("$cms?resourceVersion=$newer&resourceVersionMatch=Exact")->is_status(200, '... as of which there is one');

    # As apache-fcgid.conf says: a master beside it, for watches alone.
    my $conf   = "$alone->{dir}/httpd/apache.conf";
    my $config = $alone->env('TENURE_CONFIG');
    my ($sockets) = Tenure::Instance::read_file($config) =~ m{^socket = (.*)/combined\.sock$}m;
    my $text = Tenure::Instance::read_file($conf);
    my $modules = join '', map { "LoadModule ${_}_module /usr/lib/apache2/modules/mod_$_.so\n" } qw(proxy proxy_fcgi);
    open my $out, '>', $conf or die "$conf: $!\n";
    print {$out} "Define TENURE_WATCH_SOCKETS $sockets\n$modules$text";
    close $out;
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        open STDERR, '>', "$alone->{dir}/log/watches.log";
        exec $alone->env('TENURE_BIN') . '/tenured', '-c', $config, '-e', 'combined' or POSIX::_exit(1);
    }
    Tenure::Instance::wait_until(sub { -S "$sockets/combined.sock" });
    kill USR1 => Tenure::Instance::read_file("$alone->{dir}/run/httpd.pid") =~ /(\d+)/;
    my $ready = Tenure::Instance::wait_until(sub {
        $alone->combined('alice:acme')->get("$cms?watch=true&resourceVersion=1&timeoutSeconds=1")->status == 200 });
    ok $ready, 'with a master beside it, it has watches';
    my $watch = Tenure::Watch->new($alone->combined('admin')->url, 'alice:acme', "$cms?resourceVersion=" .
        version_of_list($alone->combined('alice:acme')), wait => 0.2);
    $alone->combined('alice:acme')->post($cms, json => config_map('beside'))->is_status(201, 'made by a worker of mod_fcgid');
    is told($watch, 1), 'ADDED beside', 'and told at once';
    my $body = $alone->combined('alice:acme')->request(GET => "$cms?watch=true&resourceVersion=1&timeoutSeconds=1", type => 'application/json', body => '{}');
    $body->is_status(405, 'a request with a body, which would come as slowly as its client sends it, never goes there');
    like $body->json->{message}, qr/watch is not offered/, 'but to mod_fcgid';
    kill TERM => $pid;
    waitpid $pid, 0;
};

done_testing;
