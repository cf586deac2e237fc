#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Webhooks as their owners manage them: made, changed, guarded by etags, secrets that are shown once, whose they are, URLs that are refused,
# what the change log tells of them, and the command `tenure webhook`.
use strict;
use warnings;

use File::Find ();
use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use MIME::Base64 qw(decode_base64);
use Test::More;

use Tenure::Instance;
use Tenure::Run;
use Tenure::Tool;

my $instance = Tenure::Instance->start(combined => 1, settings => { 'webhooks.per_tenant' => 3, 'tenure.etag_required' => 'no' });
my $admin    = $instance->admin;
$admin->make_tenant($_) for 't1', 't2';
my $ann  = $instance->service('ann:t1:admin');
my $list = '/v2.0/t1/webhooks';
my $true = JSON::PP::true();
# A receiver that nothing listens for; what is sent is another test's (485).
my $url = 'https://receiver.invalid/tenure';

subtest 'made, read, changed, deleted' => sub {
    my $made = $ann->put("$list/chat", json => { url => $url, verbs => ['deleted', 'moved'], description => 'to the chat' });
    $made->is_status(201);
    like $made->header('location'), qr{/v2\.0/t1/webhooks/chat\z}, 'where it is';
    is $made->header('cache-control'), 'no-store', 'nobody keeps what shows a secret';
    my $document = $made->json;
    like $document->{secret}, qr{\Awhsec_[A-Za-z0-9+/]{43}=\z}, 'its secret';
    is length decode_base64($document->{secret} =~ s/\Awhsec_//r), 32, 'of 32 bytes';
    is_deeply [@$document{qw(name url tenant state dead description)}, $document->{verbs}],
        ['chat', $url, 't1', 'active', 0, 'to the chat', ['deleted', 'moved']], 'what was said';
    ok !$document->{paused}, 'not paused';

    my $read = $ann->get("$list/chat");
    is $read->etag, $made->etag, 'GET has the etag';
    ok !exists $read->json->{secret}, 'and no secret';
    $ann->get("$list/chat", if_none_match => $made->etag)->is_status(200, 'always whole: the etag does not say how far it is');
    $ann->get("$list/chat", if_match => '"0"')->is_problem(412, 'stale');

    my $same = $ann->put("$list/chat", json => { url => $url, verbs => ['deleted', 'moved'], description => 'to the chat' });
    $same->is_status(200);
    is $same->etag, $made->etag, 'a PUT that changes nothing keeps the etag';
    $ann->put("$list/chat", json => { url => $url }, if_match => '"0"')->is_problem(412, 'stale');
    $ann->put("$list/chat", json => { url => $url }, if_none_match => '*')->is_problem(412, 'stale');
    my $changed = $ann->put("$list/chat", json => { %{ $read->json }, url => "$url/2", paused => $true }, if_match => $made->etag);
    $changed->is_status(200, 'what GET shows can be sent back');
    isnt $changed->etag, $made->etag, 'another etag';
    is_deeply [@{ $changed->json }{qw(url state revision)}], ["$url/2", 'paused', 2], 'what it is now';
    ok !exists $changed->json->{secret}, 'the secret is not shown again';

    $ann->delete("$list/chat", if_match => $made->etag)->is_problem(412, 'stale');
    $ann->delete("$list/chat", if_match => $changed->etag)->is_status(204);
    $ann->get("$list/chat")->is_problem(404, 'not_found');
    $ann->delete("$list/chat")->is_problem(404, 'not_found');
    is $instance->sql_value('SELECT (SELECT COUNT(*) FROM webhooks) + (SELECT COUNT(*) FROM webhook_cursors)'), 0, 'no row is left';
};

subtest 'a new secret' => sub {
    my $first = $ann->put("$list/turn", json => { url => $url })->json;
    my $turned = $ann->post("$list/turn/action/rotate");
    $turned->is_status(200);
    like $turned->json->{secret}, qr/\Awhsec_/, 'is shown';
    isnt $turned->json->{secret}, $first->{secret}, 'another one';
    ok $turned->json->{old_secret_until}, 'until when the old one signs';
    isnt $turned->etag, $first->{etag}, 'with another etag';
    $ann->post("$list/turn/action/rotate", if_match => 'W/"' . '0' x 128 . '"')->is_problem(412, 'stale', 'guarded');
    unlike $ann->get("$list/turn")->text, qr/whsec_/, 'GET shows none';
    unlike $ann->get($list)->text, qr/whsec_/, 'nor does the list';
    $ann->get("$list/turn/deliveries")->is_status(200);
    $ann->post("$list/turn/action/revive")->is_status(202);
    $ann->delete("$list/turn")->is_status(204);
};

subtest 'what is refused' => sub {
    for my $bad ('http://receiver.invalid/', 'ftp://receiver.invalid/', 'receiver.invalid', 'https://', 'https:///x', 'https://u@receiver.invalid/',
        'https://u:p@receiver.invalid/', 'https://receiver.invalid/#part', "https://receiver.invalid/\n", 'https://receiver.invalid/ x',
        'https://receiver.invalid:0/', 'https://receiver.invalid:65536/', 'https://receiver.invalid:x/', "https://r\x{e9}ceiver.invalid/",
        'https://receiver.invalid/' . 'x' x 2000, '') {
        $ann->put("$list/bad", json => { url => $bad })->is_problem(400, 'bad_document', substr $bad =~ s/\n/\\n/r =~ s/[^ -~]/?/gr, 0, 60);
    }
    $ann->put("$list/bad", json => {})->is_problem(400, 'bad_document', 'no url');
    $ann->put("$list/bad", json => { url => $url, verbs => ['eaten'] })->is_problem(400, 'bad_document', 'no such verb');
    $ann->put("$list/bad", json => { url => $url, types => [] })->is_problem(400, 'bad_document', 'a filter that nothing passes');
    $ann->put("$list/bad", json => { url => $url, types => [1] })->is_problem(400, 'bad_document', 'a type that is no text');
    $ann->put("$list/bad", json => { url => $url, name => 'other' })->is_problem(400, 'bad_document', 'another name');
    $ann->put("$list/bad", json => { url => $url, color => 'red' })->is_problem(400, 'bad_document', 'an unknown member');
    $ann->put("$list/bad", json => { url => $url, description => 'x' x 1001 })->is_problem(400, 'bad_document', 'a long description');
    $ann->put("$list/$_", json => { url => $url })->is_problem(400, 'bad_parameter', "the name $_") for 'Bad', '-b', 'b-', 'a.b', 'x' x 64;
    is_deeply $ann->get($list)->json->{webhooks}, [], 'nothing was made';
};

subtest 'lists, and how many there may be' => sub {
    $ann->put("$list/$_", json => { url => $url })->is_status(201) for 'c', 'a', 'b';
    is_deeply [map { $_->{name} } @{ $ann->get($list)->json->{webhooks} }], ['a', 'b', 'c'], 'by name';
    my $page = $ann->get("$list?limit=2")->json;
    is_deeply [map { $_->{name} } @{ $page->{webhooks} }], ['a', 'b'], 'a page';
    is_deeply [map { $_->{name} } @{ $ann->get($ann->path_of($page->{next}))->json->{webhooks} }], ['c'], 'the next';
    $ann->put("$list/d", json => { url => $url })->is_problem(409, 'conflict', 'one more than per_tenant');
    like $ann->get($list, accept => 'application/xml')->text, qr{<webhook name="a" url="\Q$url\E" paused="false" tenant="t1"}, 'in XML';
    $ann->put("$list/a", xml => qq(<webhook url="$url"><verbs><verb>created</verb></verbs></webhook>))->is_status(200);
    is_deeply $ann->get("$list/a")->json->{verbs}, ['created'], 'put in XML';
    $ann->delete("$list/$_") for 'b', 'c';
};

subtest 'pages of deliveries' => sub {
    my $eve = $instance->service('eve:t2:admin');
    $eve->put("/v2.0/t2/webhooks/paged", json => { url => $url, paused => $true })->is_status(201); # so that nothing of it is sent
    my $id = $instance->sql_value(q(SELECT id FROM webhooks WHERE name = 'paged'));
    $instance->sql("UPDATE webhook_cursors SET position = 0, begun_upto = 1, message = UNHEX(MD5('begun')), attempts = 1 WHERE webhook_id = $id; "
        . 'INSERT INTO webhook_messages (webhook_id, uid, kind, state, position, upto, created_at, ended_at) '
        . "SELECT $id, UNHEX(MD5(seq)), 'changes', 'dead', 0, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM seq_1_to_3");
    for my $case ([1, 1, 1, 1, 1], [2, 2, 2], [3, 3, 1], [4, 4], [5, 4]) {
        my ($limit, @sizes) = @$case;
        my ($next, @pages) = "/v2.0/t2/webhooks/paged/deliveries?limit=$limit";
        while (defined $next && @pages < 9) {
            my $page = $eve->get($next)->json;
            push @pages, $page->{deliveries};
            $next = defined $page->{next} ? $eve->path_of($page->{next}) : undef;
        }
        is_deeply [map { scalar @$_ } @pages], \@sizes, "a page has $limit at most";
        is_deeply [map { $_->{state} } map { @$_ } @pages], ['retrying', ('dead') x 3], '... the message that is being sent is the first';
        my %ids = map { $_->{message} => 1 } map { @$_ } @pages;
        is scalar keys %ids, 4, '... each is there once';
    }
    $eve->delete("/v2.0/t2/webhooks/paged")->is_status(204);
};

subtest 'whose they are' => sub {
    $instance->service("x:t1:$_")->get($list)->is_problem(403, 'forbidden', "not a $_\'s") for 'member', 'reader';
    $instance->service('eve:t2:admin')->get("$list/a")->is_problem(404, 'not_found', 'not a stranger\'s');
    $instance->service('eve:t2:admin')->get('/v2.0/t2/webhooks/a')->is_problem(404, 'not_found', 'another tenant has its own');
    $ann->get('/v2.0/all/webhooks')->is_status(404, 'not where users are');
    $instance->combined('ann:t1:admin')->get('/v2.0/all/webhooks')->is_problem(403, 'forbidden', 'of all: operators alone');
    $admin->get("$list/a")->is_status(200, 'an operator may');
    my $made = $admin->put('/v2.0/all/webhooks/everything', json => { url => $url });
    $made->is_status(201);
    is $made->json->{tenant}, 'all', 'of all';
    like $made->header('location'), qr{/v2\.0/all/webhooks/everything\z}, 'its address';
    is_deeply [map { $_->{name} } @{ $admin->get('/v2.0/all/webhooks')->json->{webhooks} }], ['everything'], 'listed';
    $admin->get('/v2.0/nobody/webhooks')->is_problem(404, 'not_found');
    my $one = '/v2.0/all/webhooks/everything';
    $admin->get($one)->is_status(200, 'read');
    $admin->post("$one/action/ping")->is_status(202, 'pinged');
    $admin->post("$one/action/rotate")->is_status(200, 'a new secret');
    $admin->post("$one/action/revive")->is_status(202, 'revived');
    $admin->get("$one/deliveries")->is_status(200, 'deliveries');
    $admin->put('/v2.0/all/webhooks/short', json => { url => $url })->is_status(201);
    $admin->delete('/v2.0/all/webhooks/short')->is_status(204, 'deleted');
};

subtest 'the change log tells of them' => sub {
    my ($last) = @{ $ann->get('/v2.0/t1/changes?order=newest&limit=1')->json->{changes} };
    is_deeply [@$last{qw(verb actor)}, $last->{fields}], ['updated', 'ann', ['/webhooks/c']], 'a change of the tenant'
        or diag explain $last;
    my $undo = $admin->get("/v2.0/t1/changes/$last->{request_id}/undo");
    is_deeply [map { $_->{reason} } @{ $undo->json->{blockers} }], ['not-kept'], 'which can be undone by hand alone' or diag $undo->text;
    my $tenant  = sub { return $admin->get('/v2.0/t1')->etag };
    my $patched = $admin->patch('/v2.0/t1', { tenant => { metadata => { mistaken => 'yes' } } });
    my $etag    = $tenant->();
    $ann->put("$list/b", json => { url => $url })->is_status(201);
    $ann->post("$list/b/action/rotate")->is_status(200);
    $ann->delete("$list/b")->is_status(204);
    is $tenant->(), $etag, 'the tenant itself stays as it is';
    $admin->post('/v2.0/t1/changes/' . $patched->header('X-Request-Id') . '/undo')->is_status(200, 'so what changed it before can be undone');
    ok !$admin->get('/v2.0/t1')->json->{tenant}{metadata}{mistaken}, '... and is';
    my ($system) = @{ $admin->get('/v2.0/system/changes?order=newest&limit=1')->json->{changes} };
    is_deeply $system->{fields}, ['/webhooks/short'], 'of all: of the system\'s tenant';
    my ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'the doctor finds nothing' or diag $text;
};

subtest 'etag_required' => sub {
    $admin->put('/v2.0/t1', json => { tenant => { etag_required => $true } })->is_status(202);
    $ann->put("$list/a", json => { url => "$url/x" })->is_problem(428, 'precondition_required');
    $ann->delete("$list/a")->is_problem(428, 'precondition_required');
    my $etag = $ann->get("$list/a")->etag;
    $ann->put("$list/a", json => { url => "$url/x" }, if_match => $etag)->is_status(200);
    $ann->put("$list/new", json => { url => $url })->is_status(201, 'a new one needs none');
    $ann->post("$list/a/action/$_->[0]")->is_status($_->[1], "nor does $_->[0]") for [ping => 202], [revive => 202], [rotate => 200];
    $ann->post("$list/a/action/rotate", if_match => $etag)->is_problem(412, 'stale', 'which heeds one all the same');
    my $tool = Tenure::Tool->new(url => $instance->env('TENURE_COMBINED_URL'), token => 'ann:t1:admin', tenant => 't1');
    like $tool->run('webhook', 'rotate', 'a', '--yes')->{out}, qr/\Asecret: whsec_\S{44}\n\z/, 'so `tenure webhook rotate` works';
    $admin->put('/v2.0/t1', json => { tenant => { etag_required => JSON::PP::false() } }, if_match => '*')->is_status(202);
    $ann->delete("$list/new")->is_status(204);
};

subtest 'a deleted tenant' => sub {
    $admin->delete('/v2.0/t1')->is_status(204);
    $admin->get("$list/a")->is_problem(410, 'gone');
    $admin->put("$list/a", json => { url => $url })->is_problem(410, 'gone');
    $admin->post('/v2.0/t1/action/recover')->is_status(204);
    $ann->get("$list/a")->is_status(200, 'recovered with it');
};

subtest 'tenure webhook' => sub {
    my $tool = Tenure::Tool->new(url => $instance->env('TENURE_COMBINED_URL'), token => 'ann:t1:admin', tenant => 't1');
    my $run = $tool->run('webhook', 'set', 'tool', "url=$url", 'verbs:=["created"]');
    is $run->{code}, 0, 'set' or diag $run->{err};
    is $run->{err}, '', '... and warns of nothing, as there was none to lose';
    like $run->{out}, qr/\Asecret: whsec_\S{44}\n\z/, 'prints the secret';
    my @kept;
    File::Find::find({ no_chdir => 1, wanted => sub { push @kept, $_ if -f } }, $tool->home);
    isnt scalar @kept, 0, 'the tool keeps what it showed';
    is_deeply [grep { /whsec_/ } map { Tenure::Run::read_file($_) } @kept], [],
        'which no file keeps';
    $run = $tool->run('webhook', 'set', 'tool', 'paused:=true');
    is "$run->{code}$run->{out}", '0', 'one member';
    my $now = $ann->get("$list/tool")->json;
    is_deeply [@$now{qw(url state)}, $now->{verbs}], [$url, 'paused', ['created']], 'the others stay';
    $run = $tool->run('webhook', 'list', '--columns', 'name,state');
    like $run->{out}, qr/^tool\s+paused$/m, 'list';
    $run = $tool->run('webhook', 'show', 'tool', '--format', 'json');
    is JSON::PP::decode_json($run->{out})->{url}, $url, 'show';
    $run = $tool->run('webhook', 'set', 'tool', 'description=x', '--etag', 'auto');
    is $run->{code}, 0, 'guarded by what was shown' or diag $run->{err};
    $ann->put("$list/tool", json => { %{ $ann->get("$list/tool")->json }{qw(url paused verbs)}, description => 'theirs' })->is_status(200);
    like $tool->ends(5, qw(webhook set tool description=mine --etag auto --retry))->{err},
        qr/^  description  <- both changed it\n    base    "x"\n    yours   "mine"\n    server  "theirs"\n/m, 'not over what another made of it';
    is $ann->get("$list/tool")->json->{description}, 'theirs', '... which stays';
    $run = $tool->run('webhook', 'set', 'tool', 'url=http://plain.invalid/');
    isnt $run->{code}, 0, 'refused';
    like $run->{err}, qr{url must begin with "https://"}, 'with the reason';
    $run = $tool->run('webhook', 'rotate', 'tool', '--yes');
    like $run->{out}, qr/\Asecret: whsec_\S{44}\n\z/, 'rotate';
    $run = $tool->run('webhook', 'ping', 'tool');
    like $run->{out}, qr/\A[0-9a-f-]{36}\n\z/, 'ping';
    my $id = $run->{out} =~ s/\n//r;
    $run = $tool->run('webhook', 'deliveries', 'tool');
    like $run->{out}, qr/^\Q$id\E\s+ping\s+/m, 'deliveries';
    $run = $tool->run('webhook', 'revive', 'tool', '--all');
    is $run->{out}, "0\n", 'revive: there is none';
    $run = $tool->run('webhook', 'revive', 'tool', $id);
    is $run->{code}, 1, 'a ping was not given up';
    is $tool->run('webhook', 'revive', 'tool')->{code}, 64, 'which?';
    $run = $tool->run('webhook', 'delete', 'tool', '--yes');
    is $run->{code}, 0, 'delete';
    $run = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => 'admin')->run('webhook', 'list', '-t', 'all');
    like $run->{out}, qr/^everything /m, 'those of operators';
};

subtest 'a purged tenant leaves none' => sub {
    $admin->delete('/v2.0/t1')->is_status(204);
    $instance->sql(q(UPDATE tenants SET purge_at = '2001-01-01' WHERE name = 't1'));
    is +($instance->manage('reap'))[0], 0, 'reaped';
    is $instance->sql_value('SELECT COUNT(*) FROM webhooks WHERE tenant_id <> 0'), 0, 'no webhook';
    is $instance->sql_value('SELECT COUNT(*) FROM webhook_cursors'), 1, 'no cursor but that of operators';
};

done_testing;
