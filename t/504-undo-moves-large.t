#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo of moves of more than 20,000 resources: a preview that keeps nothing of each, 202, and the mover takes all of it back or nothing; the undo
# of the undo; every reason against it, in the preview and when it is carried out; a mover that is killed. And of a move that is taken back at
# once, but in several pieces: what the destination had before stays there.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Tool;
use Tenure::Undo qw(undo_path reasons blocked);

my $many     = $ENV{TENURE_UNDO_MANY} // 20_500;
my $instance = Tenure::Instance->start(combined => 1, settings => { 'tenure.request_memory' => '16M', 'database.lock_wait' => 20 });
my $admin    = $instance->admin;

sub preview { my ($tenant, $request) = @_; return $admin->get(undo_path($tenant, $request)) }
sub undo { my ($tenant, $request, @more) = @_; return $admin->post(undo_path($tenant, $request), @more) }
sub counted { return [map { $admin->get("/v2.0/$_")->json->{tenant}{resources} } @_] }

# All that live resources of a tenant are but for what each move raises, as one number; and how many they are.
sub content {
    my ($tenant) = @_;
    my $id = $instance->tenant_id($tenant);
    my ($row) = $instance->sql("SELECT COUNT(*), COALESCE(BIT_XOR(CONV(LEFT(MD5(CONCAT_WS('/', HEX(uid), type_id, namespace, name, HEX(etag), meta, body, edits)), 15), 16, 10)), 0)
  FROM resources WHERE tenant_id = $id AND live = 1");
    return "@$row";
}

sub done {
    my ($accepted, $tenant, $name) = @_;
    $accepted->is_status(202, $name) or diag $accepted->text;
    my $end = Tenure::Instance::follow($admin, $accepted, 120);
    $end->is_status(303, '... is done') or return diag $end->text;
    is $admin->path_of($end->location), "/v2.0/$tenant", '... see who has it';
    is $instance->sql_value('SELECT COUNT(*) FROM resources r WHERE r.changed <> (SELECT MAX(x.id) FROM changes x WHERE x.resource_id = r.id)'), 0,
        '... and each resource knows its last change';
    return;
}

$admin->make_tenant($_) for qw(from to other third);
$admin->make("/v2.0/from/$_") for 'namespaces/n', 'namespaces/both', 'namespaces/both/configmaps/mine', 'namespaces/default/configmaps/d', 'persistentvolumes/v';
$admin->make("/v2.0/to/$_") for 'namespaces/both', 'namespaces/both/configmaps/theirs', 'namespaces/own', 'namespaces/own/configmaps/o', 'namespaces/default/configmaps/e';
$instance->fill('from', 'configmaps', $many, namespace => 'n');
my ($before, $there) = (content('from'), content('to'));
my $counts = counted(qw(from to));
my $uid    = $admin->get('/v2.0/from/namespaces/both')->json->{metadata}{uid};
my $moved  = $admin->post('/v2.0/from/action/move?dest=to');
$moved->is_status(303, 'all of a tenant moves by mistake');
my $all = $counts->[0];
my $tag = $admin->get('/v2.0/to/namespaces/n/configmaps/c7')->etag;

subtest 'all of a tenant' => sub {
    my $preview = preview('from', $moved);
    $preview->is_status(200) or diag $preview->text;
    my $json = $preview->json;
    is_deeply [@$json{qw(changes from to actor blockers)}], [$all, 'to', 'from', 'admin', []], 'the preview counts all';
    ok @{ $json->{items} } >= 99 && @{ $json->{items} } <= 100, '... and shows the first';
    my ($item) = grep { $_->{resource} eq 'namespaces/both' } @{ $json->{items} };
    is_deeply [$item->{now}, defined $item->{restored}, $item->{action}], [undef, 1, 'move'], '... of a merged namespace, that it comes back';
    is preview('to', $moved)->etag, $preview->etag, 'by either tenant, with one etag';
    is content('from'), '0 0', 'nothing moves before the POST';
    my $stale   = undo('from', $moved, if_match => '"0000000000000000000000000000000000000000"');
    $stale->is_status(412);
    is $stale->etag, $preview->etag, '... with the present etag';
    $admin->make('/v2.0/to/namespaces/default/configmaps/busy');
    my $undone = undo('from', $moved, if_match => $preview->etag);
    done($undone, 'from', 'the undo, though the tenants change otherwise');
    like $admin->path_of($undone->location), qr{\A/v2\.0/to/moves/\Q@{[$undone->request_id]}\E\z}, 'it was followed as a move';
    is content('from'), $before, 'exactly what was is back';
    $admin->delete('/v2.0/to/namespaces/default/configmaps/busy')->is_status(204);
    is content('to'), $there, '... and what the destination had stays there';
    is_deeply counted(qw(from to)), $counts, '... in numbers, too';
    is $admin->get('/v2.0/from/namespaces/both')->json->{metadata}{uid}, $uid, 'the merged namespace is itself again';
    is $admin->get('/v2.0/from/namespaces/n/configmaps/c7')->etag, $tag, 'etags are those of before';
    is $admin->path_of($admin->get('/v2.0/to/namespaces/n/configmaps/c7')->location), '/v2.0/from/namespaces/n/configmaps/c7', 'the address between leads back';
    $admin->get('/v2.0/to/namespaces/both/configmaps/theirs')->is_status(200);
    is $instance->count_changes_of($undone), $all, 'as many changes';
    my ($listed) = @{ $admin->get('/v2.0/from/moves?limit=1')->json->{moves} };
    is_deeply [@$listed{qw(id state source dest total moved actor)}], [$undone->request_id, 'done', 'to', 'from', $all, $all, 'admin'], 'it is in the list of moves';
    is_deeply [(sort { $a cmp $b } keys %{ { map { $_ => 1 } @{ reasons(preview('from', $moved)) } } })], ['changed-since'], 'it cannot be taken back twice';
    undo('from', $moved)->is_status(409);
    done(undo('to', $undone), 'to', 'the undo of the undo');
    is_deeply counted(qw(from to)), [0, $counts->[1] + $all - 1], 'moves and merges all again';
    is $admin->path_of($admin->get('/v2.0/from/namespaces/both')->location), '/v2.0/to/namespaces/both', '... with the forward';
    my $again = ($admin->get('/v2.0/from/moves?limit=1')->json->{moves}[0]{id});
    my $tool = Tenure::Tool->new(url => $instance->env('TENURE_COMBINED_URL'), token => $instance->operator_token, tenant => 'from');
    my $etag = $tool->json(qw(changes undo --preview), $again)->{etag};
    $tool->ends(5, qw(changes undo --yes --if-match 0000000000000000000000000000000000000000), $again);
    $tool->ends(0, qw(changes undo --yes --if-match), $etag, $again);
    is $admin->get("/v2.0/from/moves?limit=1")->json->{moves}[0]{state}, 'done', 'and the undo of that, by the command, which waits for it';
    $tool->ends(4, qw(changes undo --yes --no-etag), $again);
    is content('from'), $before, 'it is what it was once more';
};

my $post = $admin->post('/v2.0/from/action/move?dest=to', prefer => 'respond-async');
done($post, 'to', 'a move in the background');

subtest 'who may' => sub {
    $instance->service("boss:$_:admin")->get(undo_path($_, $post))->is_status(403, "admin of $_") for qw(from to);
    $instance->service("boss:$_:admin")->post(undo_path($_, $post))->is_status(403) for qw(from to);
    preview('other', $post)->is_status(404, 'a tenant that has nothing to do with it');
    undo('other', $post)->is_status(404);
    preview('nobody', $post)->is_status(404, 'no tenant');
};

subtest 'what is in the way' => sub {
    my $put = $admin->put('/v2.0/to/namespaces/n/configmaps/c1', json => { data => { a => 'b' } });
    my $deleted = $admin->delete('/v2.0/to/namespaces/n/configmaps/c2');
    $deleted->is_status(204);
    my $new = $admin->make('/v2.0/to/namespaces/n/configmaps/new');
    my $on  = $admin->post('/v2.0/to/persistentvolumes/v/action/move?dest=third');
    $admin->make("/v2.0/from/$_") for 'namespaces/both', 'namespaces/n', 'namespaces/default/configmaps/d';
    my $refused = undo('from', $post);
    $refused->is_status(409);
    is_deeply blocked($refused), [sort 'namespaces/n/configmaps/c1 changed-since', 'namespaces/n/configmaps/c2 changed-since', 'persistentvolumes/v changed-since',
        ' name-taken', 'namespaces/both name-taken', 'namespaces/default/configmaps/d name-taken', 'namespaces/n/configmaps/c1 not-empty', 'namespaces/n/configmaps/new not-empty'],
        'every reason at once' or diag $refused->text;
    like $refused->text, qr/it was updated by admin/, 'by whom';
    my $preview = preview('to', $post);
    is_deeply blocked($preview), blocked($refused), 'the preview says the same';
    $admin->delete('/v2.0/from/namespaces/default/configmaps/d')->is_status(204);
    undo('from', $post, if_match => $preview->etag)->is_status(412, 'a reason less is another preview');
    $admin->delete("/v2.0/from/namespaces/$_")->is_status(204) for qw(both n);
    $admin->delete('/v2.0/to/namespaces/n/configmaps/new')->is_status(204);
    $admin->post(undo_path('to', $on))->is_status(200);
    $admin->post(undo_path('to', $deleted))->is_status(200);
    is_deeply reasons(preview('from', $post)), [('changed-since') x 3, ('not-empty') x 2], 'what was changed and changed back, too';
};

# A new scene for what moves wholly.
sub scene {
    my ($from, $to) = @_;
    my $move = $admin->post("/v2.0/$from/action/move?dest=$to", prefer => 'respond-async');
    done($move, $to, "a move from $from to $to");
    return $move;
}

$moved = scene('to', 'third');
my $content = content('third');

sub stopped { return $instance->stop_movers }

subtest 'looked at again when it is carried out' => sub {
    my $c1 = '/v2.0/third/namespaces/n/configmaps/c1';
    my %later = (
        'a change'      => [sub { $admin->put($c1, json => { data => { a => 'c' } }) }, qr/changed-since/],
        'a taken name'  => [sub { $admin->make('/v2.0/to/namespaces/n') }, qr/name-taken/],
        'no room'       => [sub { $instance->sql("INSERT INTO tiers (name, max_resources) VALUES ('few', 2)"); $admin->put('/v2.0/to', json => { tenant => { tier => 'few' } }) }, qr/quota/],
        'a tenant gone' => [sub { $admin->delete('/v2.0/to') }, qr/gone/],
    );
    for my $what ('a tenant gone', 'a taken name', 'no room', 'a change') {
        my @stop = stopped();
        my $undo = undo('to', $moved);
        $undo->is_status(202, $what) or diag $undo->text;
        is $admin->get($admin->path_of($undo->location))->json->{move}{state}, 'queued', 'it waits';
        $later{$what}[0]->();
        kill CONT => @stop;
        my $end = Tenure::Instance::follow($admin, $undo, 120);
        $end->is_status(200, 'it fails');
        my $status = $end->json->{move};
        is_deeply [@$status{qw(state reason)}], ['failed', 'blocked'], '... blocked';
        like $status->{detail}, $later{$what}[1], '... and says by what';
        is $instance->count_changes_of($undo), 0, 'nothing is done';
        is content('third'), $content, 'nothing moved' if $what ne 'a change';
        $admin->delete('/v2.0/to/namespaces/n')->is_status(204) if $what eq 'a taken name';
        $admin->post('/v2.0/to/action/recover')->is_status(204) if $what eq 'a tenant gone';
        $admin->put('/v2.0/to', json => { tenant => { tier => 'gold' } })->is_status(202) if $what eq 'no room';
    }
};

$moved   = scene('third', 'other');
$content = content('other');

subtest 'two of one request, and a mover that is killed' => sub {
    push @{ $instance->{allow} }, qr/mover \d+ ended by signal 9/;
    my @stop = stopped();
    my @undos = map { undo('third', $moved) } 1, 2;
    $_->is_status(202, 'both wait') for @undos;
    kill CONT => @stop;
    my $uid = $undos[0]->request_id =~ s/-//gr;
    ok Tenure::Instance::wait_until(sub {
        return ($instance->sql_value("SELECT p.moved FROM moves m JOIN move_progress p ON p.move_id = m.id WHERE m.uid = UNHEX('$uid')") // 0) > 0;
    }, 60), 'the first has begun';
    kill KILL => $instance->movers;
    my ($first, @others) = sort { $b->status <=> $a->status } map { Tenure::Instance::follow($admin, $_, 120) } @undos;
    $first->is_status(303, 'another mover does one of them');
    is_deeply [map { @{ $_->json->{move} }{qw(state reason)} } @others], ['failed', 'blocked'], 'the other one finds that it was taken back';
    is_deeply [sort { $a <=> $b } map { $instance->count_changes_of($_) } @undos], [0, $instance->count_changes_of($moved)], 'whole, and nothing';
    is content('third'), $content, 'all is back';
};

# What is taken back at once, in pieces.
subtest 'twelve thousand' => sub {
    $admin->make_tenant($_) for qw(small large);
    $admin->make("/v2.0/$_") for 'small/namespaces/n', 'large/namespaces/own', 'large/namespaces/own/configmaps/o', 'large/namespaces/default/configmaps/e';
    $instance->fill('small', 'configmaps', 12_000, namespace => 'n');
    my @contents = map { content($_) } qw(small large);
    my $move = $admin->post('/v2.0/small/action/move?dest=large');
    $move->is_status(303);
    my $undone = undo('small', $move);
    $undone->is_status(200) or diag $undone->text;
    is_deeply [map { content($_) } qw(small large)], \@contents, 'exactly what was moved goes back';
};

# Thousands of namespaces that both tenants have.
subtest 'many merged namespaces' => sub {
    for my $tenant (qw(wide deep)) {
        $admin->make_tenant($tenant);
        $instance->fill($tenant, 'namespaces', 2_100, name => 'm');
    }
    $instance->fill('wide', 'configmaps', $many, namespace => 'm7');
    $admin->make('/v2.0/deep/namespaces/m7/configmaps/theirs');
    my @contents = map { content($_) } qw(wide deep);
    my $counts = counted(qw(wide deep));
    my $move = $admin->post('/v2.0/wide/action/move?dest=deep', prefer => 'respond-async');
    done($move, 'deep', 'are merged');
    my $undone = undo('wide', $move);
    done($undone, 'wide', 'all of them come back');
    is_deeply [map { content($_) } qw(wide deep)], \@contents, '... as they were';
    is_deeply counted(qw(wide deep)), $counts, '... in numbers, too';
    my $again = undo('wide', $undone);
    done($again, 'deep', '... and are merged again');
    $admin->make("/v2.0/wide/namespaces/$_") for qw(m5 m6);
    is_deeply blocked(preview('wide', $again)), [map { "namespaces/$_ name-taken" } qw(m5 m6)], 'each name that is taken since';
    $admin->delete("/v2.0/wide/namespaces/$_")->is_status(204) for qw(m5 m6);
    my $late = sub { return $instance->sql("UPDATE resources SET purge_at = $_[0] WHERE name = 'm5' AND deletion = UNHEX('" . ($again->request_id =~ s/-//gr) . "')") };
    $late->('deleted_at');
    is_deeply blocked($_), ['namespaces/m5 purged'], 'and one that is past its purge time' for preview('wide', $again), undo('deep', $again);
    $late->('UTC_TIMESTAMP(6) + INTERVAL 1 DAY');
    done(undo('deep', $again), 'wide', 'and all is back once more');
    is_deeply [map { content($_) } qw(wide deep)], \@contents, '... as it was';
};
# A session of the test holds the mover up where the test wants it: by a forward where the mover writes the same one, before its first change; or by the
# lock of a resource's row, which the mover writes behind its first changes.
subtest 'what others wait for meanwhile' => sub {
    my ($row, $type) = @{ ($instance->sql(q(SELECT r.id, r.type_id FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 'wide' AND r.namespace = 'm7' AND r.name = 'c1')))[0] };
    my $forward_of = sub {
        my $tenant = $instance->tenant_id($_[0]);
        return "INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at, request_id) VALUES ($tenant, $type, 'm7', 'c1', $row, UTC_TIMESTAMP(6), REPEAT('x', 16))";
    };
    my $row_locked = "SELECT id FROM resources WHERE id = $row FOR UPDATE";
    my $held = sub {
        my ($locking, $begin, $tenant, $meanwhile) = @_;
        my $lock  = $instance->sql_locks($locking);
        my $begun = $begin->();
        ok Tenure::Instance::wait_until(sub { $instance->count_lock_waits == 1 }), 'it is held up';
        $meanwhile->();
        close $lock;
        done($begun, $tenant, 'it goes on');
        return $begun;
    };
    my $told = sub {
        my $put = $admin->put('/v2.0/other/persistentvolumes/new', json => { at => time });
        my $all = sub { return grep { $_->{request_id} eq $put->request_id } @{ $admin->get('/v2.0/all/changes?order=newest&limit=5')->json->{changes} } };
        ok Tenure::Instance::wait_until($all, 3), 'changes of others are told before its own are written';
    };
    my $written = sub {
        $admin->make('/v2.0/other/persistentvolumes/back');
        $admin->delete('/v2.0/other/persistentvolumes/back')->is_status(204);
        my $begun = time;
        $admin->post('/v2.0/other/persistentvolumes/back/action/recover')->is_status(204, 'others recover while its own are written');
        cmp_ok time - $begun, '<', 10, '... and do not wait until it is given up';
    };
    my @contents = map { content($_) } qw(wide deep);
    my $move   = $held->($forward_of->('wide'), sub { $admin->post('/v2.0/wide/action/move?dest=deep', prefer => 'respond-async') }, 'deep', $told);
    my $undone = $held->($forward_of->('deep'), sub { undo('wide', $move) }, 'wide', $told);
    is_deeply [map { content($_) } qw(wide deep)], \@contents, 'all is as it was';
    my $path = $admin->path_of($admin->get('/v2.0/deep/namespaces/m7/configmaps/c1')->location);
    is $path, '/v2.0/wide/namespaces/m7/configmaps/c1', 'the address between leads there';
    my $again = undo('deep', $undone);
    done($again, 'deep', 'once more');
    $held->($row_locked, sub { undo('wide', $again) }, 'wide', $written);
    is_deeply [map { content($_) } qw(wide deep)], \@contents, 'all is as it was again';
    is $instance->sql_value('SELECT COUNT(*) FROM resources WHERE live = 1 AND deletion IS NOT NULL'), 0, 'nothing that lives is marked as deleted';
};
$instance->stop;
done_testing;
