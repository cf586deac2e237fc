#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo of requests that changed thousands of resources: a move of a namespace and of all of a tenant, a deletion at once and in the
# background, a recovery, and the undo of each. Above the limit: t/504 and 508.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;
use Time::HiRes ();

use Tenure::Instance;
use Tenure::Undo qw(undo_path reasons);

my $many     = $ENV{TENURE_UNDO_MANY} // 5_000;
my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;

sub live { my ($tenant) = @_; return 0 + $instance->sql_value("SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = '$tenant' AND r.live = 1 AND r.namespace = 'n'") }
sub counted { return $admin->get("/v2.0/$_[0]")->json->{tenant}{resources} }

# Previews and does it, which has to make as many changes as it takes back, or made.
sub undone {
    my ($tenant, $request, $count, $name, $made) = @_;
    my $start   = Time::HiRes::time();
    my $preview = $admin->get(undo_path($tenant, $request));
    $preview->is_status(200, "$name: the preview");
    is_deeply [reasons($preview), $preview->json->{changes}], [[], $count], '... counts all';
    like scalar @{ $preview->json->{items} }, qr/\A(?:99|100)\z/, '... and shows the first';
    my $between = Time::HiRes::time();
    my $answer  = $admin->post(undo_path($tenant, $request), if_match => $preview->etag);
    $answer->is_status(200, '... done') or diag $answer->text;
    is $instance->count_changes_of($answer), $made // $count, '... whole';
    is $instance->sql_value('SELECT COUNT(*) FROM resources r WHERE r.changed <> (SELECT MAX(x.id) FROM changes x WHERE x.resource_id = r.id)'), 0,
        '... and each resource knows its last change';
    note sprintf '%s: preview %.1f s, undo %.1f s', $name, $between - $start, Time::HiRes::time() - $between;
    return $answer;
}

sub filled {
    my ($tenant) = @_;
    $admin->make_tenant($tenant);
    $admin->make("/v2.0/$tenant/namespaces/n", {});
    $instance->fill($tenant, 'configmaps', $many, namespace => 'n');
}

$admin->make_tenant('other');

subtest 'moves' => sub {
    filled('one');
    my $count = counted('one');
    my $space = $admin->post('/v2.0/one/namespaces/n/action/move?dest=other');
    $space->is_status(303);
    my $back = undone('one', $space, $many + 1, 'of a namespace');
    is_deeply [live('one'), live('other'), counted('one')], [$many, 0, $count], 'it is back';
    undone('other', $back, $many + 1, 'the undo of that');
    is_deeply [live('one'), live('other')], [0, $many], 'it is moved again';
    my $all = $admin->post('/v2.0/other/action/move?dest=one');
    $all->is_status(303);
    undone('one', $all, $instance->count_changes_of($all), 'of all');
    is_deeply [live('one'), live('other')], [0, $many], 'it is back';
};

# What a namespace has is deleted in pieces, as one request.
sub deleted {
    my ($tenant) = @_;
    my $deleted = $admin->delete("/v2.0/$tenant/namespaces/n");
    $deleted->is_status(202, 'a deletion in the background');
    ok Tenure::Instance::wait_until(sub { $admin->get("/v2.0/$tenant/namespaces/n")->status == 410 }, 60), 'is done';
    return $deleted;
}

subtest 'a deletion in the background' => sub {
    my $count   = counted('other');
    my $deleted = deleted('other');
    is live('other'), 0, 'all is deleted';
    my $back = undone('other', $deleted, $many + 2, 'of the deletion', $many + 1);
    is_deeply [live('other'), counted('other')], [$many, $count], 'all is there again';
    is $admin->get('/v2.0/other/namespaces/n')->json->{namespace}{metadata}{deletionTimestamp}, undef, 'the namespace is not marked';
    $admin->put('/v2.0/other/namespaces/n/configmaps/new', json => { data => {} })->is_status(201, 'and takes more');
    is_deeply reasons($admin->get(undo_path('other', $back))), ['not-empty'], 'what was added would be deleted with it';
    my $gone = $admin->delete('/v2.0/other/namespaces/n/configmaps/new');
    $gone->is_status(204);
    my $again = undone('other', $back, $many + 1, 'the undo of that');
    is_deeply [live('other'), counted('other')], [0, $count - $many - 1], 'deletes all again, at once';
    undone('other', $again, $many + 1, 'and the undo of that');
    is_deeply [live('other'), counted('other')], [$many, $count], 'it is there once more';
    my $once = deleted('other');
    $admin->post('/v2.0/other/namespaces/n/action/recover')->is_status(204, 'recovered by hand');
    my $refused = $admin->post(undo_path('other', $once));
    $refused->is_status(409);
    is_deeply [scalar(@{ $refused->json->{blockers} }), (reasons($refused))->[0]], [1000, 'changed-since'], 'as many reasons as are told';
    like $refused->json->{detail}, qr/nothing was taken back: more than 1000 things stand in the way/, '... which says that there are more';
    my $id = $once->header('x-request-id') =~ s/-//gr;
    $instance->sql("UPDATE changes SET at = at - INTERVAL 365 DAY WHERE request_id = UNHEX('$id')");
    is_deeply reasons($admin->post(undo_path('other', $once))), ['not-kept'], 'none of it, when changes are not kept any longer';
};

# Deletes so many resources of one namespace by one request, each by itself, and takes that back, and that. Returns how many rows the server read for
# the last step.
sub rows_for_recoveries {
    my ($tenant, $n) = @_;
    $admin->make_tenant($tenant);
    $instance->fill($tenant, 'configmaps', $n, namespace => 'default');
    my $deleted = $instance->combined('admin')->delete("/api/v1/tenants/$tenant/namespaces/default/configmaps");
    $deleted->is_status(200, "$n are deleted one by one") or diag $deleted->text;
    my $back = $admin->post(undo_path($tenant, $deleted));
    $back->is_status(200, '... and come back') or diag $back->text;
    my $before = rows_read();
    my $again  = $admin->post(undo_path($tenant, $back));
    my $after  = rows_read();
    $again->is_status(200, '... and go again') or diag $again->text;
    is_deeply [map { $instance->count_changes_of($_) } $deleted, $back, $again], [($n) x 3], '... all of them';
    return $after - $before;
}

sub rows_read {
    my $n = 0;
    $n += $_->[1] for $instance->sql("SHOW GLOBAL STATUS LIKE 'Handler_read%'");
    return $n;
}

subtest 'each by itself' => sub {
    my ($few, $more) = map { rows_for_recoveries("each$_", $_) } 300, 600;
    cmp_ok $more, '<', 3 * $few, "twice as many are not four times the work: $few and $more rows";
};

subtest 'more than that' => sub {
    my $request = $admin->put('/v2.0/other/namespaces/n/configmaps/c1', json => { data => {} });
    $request->is_status(200);
    my $id = $request->header('x-request-id') =~ s/-//gr;
    my @columns = qw(request_id at actor verb tenant_id from_tenant_id resource_id uid type_id namespace name revision etag_before etag_after fields moves);
    my $columns = join ', ', @columns;
    my $from    = join ', ', map { "c.$_" } @columns;
    $instance->sql("INSERT INTO changes ($columns) SELECT $from FROM (SELECT * FROM changes WHERE request_id = UNHEX('$id') LIMIT 1) c JOIN seq_1_to_20000");
    my $refused = $admin->post(undo_path('other', $request));
    $refused->is_status(409);
    is_deeply reasons($refused), ['too-large'], 'is refused';
    like $refused->text, qr/20000 resources/, '... with the limit';
};
$instance->stop;
done_testing;
