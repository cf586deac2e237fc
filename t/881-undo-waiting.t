#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo of deletions that wait for finalizers, of a namespace that is deleted at once or in the background: refused with what waits, and
# with what changed once they are done; what is deleted for good is recovered by hand.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Parallel;
use Tenure::Undo qw(undo_path blocked);

my $instance = Tenure::Instance->start(combined => 1, settings => { 'tenure.delete_sync_max' => 5 });
my $admin    = $instance->admin;
$admin->make_tenant('t');

sub live { my ($space) = @_; return 0 + $instance->sql_value("SELECT COUNT(*) FROM resources WHERE live = 1 AND namespace = '$space'") }

for my $case ([3, 'at once'], [8, 'in the background']) {
    my ($n, $how) = @$case;
    subtest $how => sub {
        my $space = "/v2.0/t/namespaces/n$n";
        $admin->make($space);
        $admin->make("$space/configmaps/c$_", { data => { n => "$_" } }) for 1 .. $n;
        $admin->make("$space/configmaps/held", { metadata => { finalizers => ['example.com/f'] } });
        my $deleted = $admin->delete($space);
        $deleted->is_status(202);
        ok Tenure::Instance::wait_until(sub { live("n$n") == 1 }, 60), 'the others are deleted';
        my $refused = $admin->post(undo_path('t', $deleted));
        $refused->is_status(409);
        is_deeply blocked($refused), ["namespaces/n$n deletion-requested", "namespaces/n$n/configmaps/held deletion-requested"], 'what waits, and no other reason'
            or diag $refused->text;
        is_deeply blocked($admin->get(undo_path('t', $deleted))), blocked($refused), 'the preview says the same';
        is $instance->count_changes_of($refused), 0, 'nothing is done';
        is live("n$n"), 1, '... and nothing came back';
        my $freed = $admin->patch("$space/configmaps/held", { metadata => { finalizers => undef } });
        ok($freed->status < 300, 'the finalizer is taken out') or diag $freed->text;
        ok Tenure::Instance::wait_until(sub { $admin->get($space)->status == 410 }), 'then all is deleted';
        $refused = $admin->post(undo_path('t', $deleted));
        $refused->is_status(409);
        ok scalar(grep { $_ eq "namespaces/n$n changed-since" } @{ blocked($refused) }), 'the namespace was deleted by another request';
        is $instance->count_changes_of($refused), 0, '... so nothing is done';
        $admin->post("$space/action/recover")->is_status(204, 'but it is recovered by hand');
    };
}

# The second piece waits for a lock of ours, and then the controller's write for that piece; it comes before the last one.
subtest 'in the background, and a finalizer goes before the last piece' => sub {
    my $space = '/v2.0/t/namespaces/pieces';
    $admin->make($space);
    $admin->make("$space/configmaps/a0", { metadata => { finalizers => ['example.com/f'] } });
    $admin->make("$space/configmaps/c$_") for 1 .. 8;
    my $id   = $instance->sql_value(q(SELECT id FROM resources WHERE namespace = 'pieces' AND name = 'c5'));
    my $lock = $instance->sql_locks("SELECT id FROM resources WHERE id = $id FOR UPDATE");
    my $deleted = $admin->delete($space);
    $deleted->is_status(202);
    ok Tenure::Instance::wait_until(sub { live('pieces') == 5 }, 60), 'the first piece is done';
    ok Tenure::Instance::wait_until(sub { $instance->count_lock_waits == 1 }), 'the second one waits';
    my $freed = Tenure::Parallel::begin($admin, 'PATCH', "$space/configmaps/a0", patch => { metadata => { finalizers => undef } });
    ok Tenure::Instance::wait_until(sub { $instance->count_lock_waits == 2 }), 'and so does who takes the finalizer out';
    print {$lock} "ROLLBACK;\n";
    like Tenure::Parallel::told($freed), qr/\A2/, 'who then does so';
    ok Tenure::Instance::wait_until(sub { $admin->get($space)->status == 410 }, 60), 'all is deleted';
    my $verb = q(SELECT MAX(c.id) FROM changes c JOIN resources r ON r.id = c.resource_id WHERE c.verb = 'deleted' AND );
    cmp_ok $instance->sql_value("$verb r.namespace = 'pieces' AND r.name = 'a0'"), '<', $instance->sql_value("$verb r.namespace = '' AND r.name = 'pieces'"),
        '... the namespace last, by the request for its deletion';
    my $refused = $admin->post(undo_path('t', $deleted));
    $refused->is_status(409);
    is_deeply blocked($refused), ['namespaces/pieces/configmaps/a0 changed-since'], 'what another request deleted would stay deleted' or diag $refused->text;
    is_deeply blocked($admin->get(undo_path('t', $deleted))), blocked($refused), 'the preview says the same';
    is $instance->count_changes_of($refused), 0, 'nothing is done';
};

# A client may have read the namespace with the mark by which such a deletion begins, so no etag from before counts again.
subtest 'in the background, with nothing that waits' => sub {
    my $space = '/v2.0/t/namespaces/all';
    my $made  = $admin->make($space, { metadata => { labels => { a => 'b' } } });
    my @tags  = map { $admin->make("$space/configmaps/c$_", { data => { n => "$_" } })->etag } 1 .. 8;
    my $deleted = $admin->delete($space);
    $deleted->is_status(202);
    ok Tenure::Instance::wait_until(sub { $admin->get($space)->status == 410 }, 60), 'deleted';
    $admin->post(undo_path('t', $deleted))->is_status(200, 'taken back');
    is_deeply [map { $admin->get("$space/configmaps/c$_")->etag } 1 .. 8], \@tags, 'what was in it has its etags';
    my ($before, $now) = map { my $metadata = { %{ $_->json->{metadata} } }; +{ etag => delete $metadata->{etag}, revision => delete $metadata->{resourceVersion}, rest => $metadata } } $made, $admin->get($space);
    is_deeply $now->{rest}, $before->{rest}, 'the namespace is what it was, and no longer marked';
    isnt $now->{etag}, $before->{etag}, '... under the etag of the mark';
    is $now->{revision}, $before->{revision} + 1, '... and its revision';
    is $admin->patch($space, { metadata => { labels => { a => 'c' } } }, if_match => $made->etag)->status, 412, 'an If-Match from before is stale';
};
is((($instance->manage('doctor'))[0]), 0, 'the stored data keep their promises');
$instance->stop;
done_testing;
