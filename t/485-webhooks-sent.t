#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What webhooks send: changes in order, signed, without content; filters; retries, messages that are given up and revived, pings, new secrets;
# receivers that are slow or down hold nobody up; where messages never go.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use POSIX ();
use Test::More;

use Tenure::Instance;
use Tenure::Metrics;
use Tenure::Receiver;
use Tenure::Run qw(wait_until);

my $receiver = Tenure::Receiver->start;
my $instance = Tenure::Instance->start(settings => {
    'webhooks.allow' => '127.0.0.1', 'webhooks.allow_http' => 'yes', 'webhooks.retry_first' => 50, 'webhooks.retry_most' => 2000,
    'webhooks.attempts' => 10, 'webhooks.timeout' => 10, 'webhooks.lease' => 3, 'webhooks.parallel' => 32,
});
my $admin = $instance->admin;
$admin->make_tenant($_) for 't1', 't2', 't3';
my $ann  = $instance->service('ann:t1:admin');
my $list = '/v2.0/t1/webhooks';


sub hook {
    my ($client, $address, $path, %more) = @_;
    my $made = $client->put($address, json => { url => $receiver->url($path), %more });
    $made->is_status(201);
    return $made->json;
}

# The last change of a resource, as the change log has it.
sub wait_for { my ($path, $test) = @_; return wait_until(sub { $test->($receiver->changes($path)) }) }

# The process that sends gives a sign of life each 0.75 s (a quarter of the lease). Waits for so many.
sub wait_for_beats {
    my ($n) = @_;
    my $beat = sub { return $instance->sql_value('SELECT beat FROM webhook_lease') };
    my $upto = $beat->() + $n;
    return wait_until(sub { $beat->() >= $upto }, 60);
}

subtest 'a change, signed' => sub {
    my $made = hook($ann, "$list/all", '/all');
    $ann->put('/v2.0/t1/namespaces/default/configmaps/web', json => { data => { color => 'hush-blue' } })->is_status(201);
    ok wait_for('/all', sub { grep { ($_->{resource} // '') =~ m{configmaps/web} } @_ }), 'it comes';
    my ($message) = grep { $_->{body} =~ m{configmaps/web} } $receiver->messages('/all');
    like $message->{id}, qr/\Amsg_[0-9a-f-]{36}\z/, 'webhook-id';
    cmp_ok abs($message->{timestamp} - time), '<', 600, 'webhook-timestamp';
    is_deeply [$message->{method}, $message->{header}{'content-type'}], ['POST', 'application/json'], 'a POST of JSON';
    ok Tenure::Receiver::is_signed($message, $made->{secret}), 'webhook-signature';
    is scalar @{ $message->{signatures} }, 1, 'one';
    is_deeply [$message->{json}{type}, @{ $message->{json}{data} }{qw(webhook tenant)}], ['tenure.changes', 'all', 't1'], 'what it is';
    my ($told) = grep { ($_->{resource} // '') =~ m{configmaps/web} } @{ $message->{json}{data}{changes} };
    my ($logged) = @{ $ann->get('/v2.0/t1/changes?order=newest&limit=1')->json->{changes} };
    is_deeply $told, { %$logged, tenant => 't1' }, 'as the change log has it';
    unlike $receiver->log, qr/hush/, 'without content';
};

subtest 'in order, in few messages' => sub {
    $ann->put('/v2.0/t1/namespaces/default/configmaps/web', json => { data => { n => "$_" } }) for 1 .. 60;
    my @logged = map { $_->{id} } @{ $ann->get('/v2.0/t1/changes?limit=1000')->json->{changes} };
    ok wait_for('/all', sub { @_ && $_[-1]{id} == $logged[-1] }), 'all come';
    my @told = map { $_->{id} } $receiver->changes('/all');
    is_deeply \@told, [grep { $_ >= $told[0] } @logged], 'each once, in order';
    is $ann->get("$list/all")->json->{upto} >= $logged[-1], 1, 'how far it is';
};

subtest 'filters, and all tenants' => sub {
    hook($ann, "$list/some", '/some', verbs => ['deleted'], types => ['secrets', 'persistentvolumes.core']);
    my $ops = hook($admin, '/v2.0/all/webhooks/ops', '/ops', actors => ['ann', 'admin']);
    $ann->put('/v2.0/t1/namespaces/default/secrets/key', json => { data => { password => 'aHVzaC1zZWNyZXQ=' } })->is_status(201);
    $ann->put('/v2.0/t1/persistentvolumes/disk', json => {})->is_status(201);
    $ann->put('/v2.0/t1/persistentvolumes/gone', json => {})->is_status(201);
    $admin->post('/v2.0/t1/persistentvolumes/gone/action/move?dest=t2')->is_status(303);
    $ann->delete("/v2.0/t1/$_")->is_status(204) for 'persistentvolumes/disk', 'namespaces/default/configmaps/web', 'namespaces/default/secrets/key';
    ok wait_for('/some', sub { @_ == 2 }), 'two of them';
    is_deeply [map { "$_->{verb} $_->{resource}" } $receiver->changes('/some')],
        ['deleted persistentvolumes/disk', 'deleted namespaces/default/secrets/key'], 'which';
    ok wait_for('/ops', sub { grep { $_->{verb} eq 'deleted' && $_->{resource} =~ /secrets/ } @_ }), 'operators\' of all';
    my ($moved) = grep { $_->{verb} eq 'moved' } $receiver->changes('/ops');
    is_deeply [@$moved{qw(tenant from_tenant)}], ['t2', 't1'], 'with both tenants of a move';
    ($moved) = grep { $_->{verb} eq 'moved' } $receiver->changes('/all');
    is_deeply [@$moved{qw(tenant moved)}, exists $moved->{from_tenant}], ['t1', 'out', ''], 'a tenant is told that it left, not where to';
    unlike $receiver->log, qr/hush|aHVzaC/, 'no secret';
};

subtest 'a failing receiver' => sub {
    $receiver->mode('/all' => 500);
    $ann->put('/v2.0/t1/persistentvolumes/retry', json => {})->is_status(201);
    ok wait_until(sub { ($ann->get("$list/all")->json->{attempts} // 0) >= 1 }), 'is tried again';
    my $now = $ann->get("$list/all")->json;
    is_deeply [@$now{qw(state status error)}], ['failing', 500, 'the receiver answered 500'], 'and shown';
    my ($sending) = @{ $ann->get("$list/all/deliveries")->json->{deliveries} };
    is_deeply [@$sending{qw(kind state)}], ['changes', 'retrying'], 'so is the message';
    $ann->put("$list/all", json => { url => $receiver->url('/all'), description => 'put meanwhile' })->is_status(200);
    $receiver->mode('/all' => 'ok');
    ok wait_for('/all', sub { grep { ($_->{resource} // '') eq 'persistentvolumes/retry' } @_ }), 'it comes';
    my %ids = map { $_->{id} => 1 } grep { $_->{body} =~ m{persistentvolumes/retry} } $receiver->attempts('/all');
    is scalar keys %ids, 1, 'under one id, through a PUT';
    ok wait_until(sub { $ann->get("$list/all")->json->{state} eq 'active' }), 'active again';
};

subtest 'given up, and revived' => sub {
    hook($ann, "$list/dead", '/dead', types => ['persistentvolumes']);
    $receiver->mode('/dead' => 503);
    $ann->put('/v2.0/t1/persistentvolumes/lost', json => {})->is_status(201);
    ok wait_until(sub { $ann->get("$list/dead")->json->{dead} == 1 }, 90), 'after so many attempts';
    is scalar(grep { $_->{body} =~ m{/lost} } $receiver->attempts('/dead')), 10, 'ten';
    my ($dead) = @{ $ann->get("$list/dead/deliveries")->json->{deliveries} };
    is_deeply [@$dead{qw(kind state attempts status)}], ['changes', 'dead', 10, 503], 'it is shown';
    my $metrics = sub { return Tenure::Metrics::of_socket($instance->env('TENURE_METRICS_SOCKET')) };
    ok wait_until(sub { my $now = $metrics->(); ($now->{'tenure_webhook_messages{state="dead"}'} // 0) == 1 }, 60), 'monitoring sees it';
    my $counted = $metrics->();
    is $counted->{'tenure_webhook_deliveries_total{result="given_up"}'}, 1, 'one was given up';
    cmp_ok $counted->{'tenure_webhook_deliveries_total{result="failed"}'}, '>=', 9, 'the attempts before failed';
    $receiver->mode('/dead' => 'ok');
    $ann->put('/v2.0/t1/persistentvolumes/next', json => {})->is_status(201);
    ok wait_for('/dead', sub { grep { $_->{resource} eq 'persistentvolumes/next' } @_ }), 'the next ones come';
    my $revived = $ann->post("$list/dead/action/revive?message=$dead->{message}");
    $revived->is_status(202);
    is $revived->json->{revived}, 1, 'one';
    ok wait_for('/dead', sub { grep { $_->{resource} eq 'persistentvolumes/lost' } @_ }), 'revived, it comes';
    my ($came) = grep { $_->{body} =~ m{/lost} } $receiver->messages('/dead');
    is $came->{id}, "msg_$dead->{message}", 'under its id';
    ok wait_until(sub { $ann->get("$list/dead/deliveries")->json->{deliveries}[0]{state} eq 'delivered' }), 'and is shown so';
    $ann->post("$list/dead/action/revive?message=$dead->{message}")->is_problem(404, 'not_found', 'it is dead no more');
};

# Gives the messages of the webhook "dead" up that were revived, as if nobody had received them.
sub give_up { return $instance->sql(q(UPDATE webhook_messages m JOIN webhooks w ON w.id = m.webhook_id SET m.state = 'dead' WHERE w.name = 'dead' AND m.state = 'delivered')) }

subtest 'revived, and received while the webhook is paused' => sub {
    my $tries = sub { return scalar grep { $_->{body} =~ m{/lost} } $receiver->attempts('/dead') };
    my %is = (url => $receiver->url('/dead'), types => ['persistentvolumes']);
    give_up();
    $receiver->mode('/dead' => 'late');
    my $before = $tries->();
    is $ann->post("$list/dead/action/revive")->json->{revived}, 1, 'one is revived';
    ok wait_until(sub { $tries->() > $before }), 'it is on its way';
    $ann->put("$list/dead", json => { %is, paused => JSON::PP::true() })->is_status(200);
    ok wait_until(sub { $ann->get("$list/dead/deliveries")->json->{deliveries}[0]{state} eq 'delivered' }), 'it is shown as received';
    $receiver->mode('/dead' => 'ok');
    $ann->put("$list/dead", json => \%is)->is_status(200);
    $ann->put('/v2.0/t1/persistentvolumes/unpaused', json => {})->is_status(201);
    ok wait_for('/dead', sub { grep { $_->{resource} eq 'persistentvolumes/unpaused' } @_ }), 'the next ones come';
    is $tries->(), $before + 1, 'and it does not come again';
};

subtest 'ping, and a new secret' => sub {
    my $turned = $ann->post("$list/all/action/rotate")->json;
    my $ping = $ann->post("$list/all/action/ping");
    $ping->is_status(202);
    my $id = 'msg_' . $ping->json->{message};
    ok wait_until(sub { grep { $_->{id} eq $id } $receiver->messages('/all') }), 'a ping comes';
    my ($message) = grep { $_->{id} eq $id } $receiver->messages('/all');
    is_deeply [$message->{json}{type}, $message->{json}{data}{changes}], ['tenure.ping', []], 'without changes';
    is scalar @{ $message->{signatures} }, 2, 'signed by both secrets';
    ok Tenure::Receiver::is_signed($message, $turned->{secret}), 'the new one';
    $instance->sql(q(UPDATE webhooks SET old_secret_until = '2001-01-01'));
    $ping = $ann->post("$list/all/action/ping");
    $id = 'msg_' . $ping->json->{message};
    ok wait_until(sub { grep { $_->{id} eq $id } $receiver->messages('/all') }), 'another one';
    ($message) = grep { $_->{id} eq $id } $receiver->messages('/all');
    is scalar @{ $message->{signatures} }, 1, 'signed by the new one alone, later';
};

subtest 'paused' => sub {
    $ann->put("$list/some", json => { url => $receiver->url('/some'), paused => JSON::PP::true() })->is_status(200);
    # It reads the webhooks between two signs of life, if not before.
    ok wait_for_beats(2), 'the process that sends knows it';
    my $before = () = $receiver->attempts('/some');
    $ann->put('/v2.0/t1/persistentvolumes/paused', json => {})->is_status(201);
    ok wait_for('/all', sub { grep { ($_->{resource} // '') eq 'persistentvolumes/paused' } @_ }), 'others are told';
    is scalar(() = $receiver->attempts('/some')), $before, 'it is not';
    $ann->put("$list/some", json => { url => $receiver->url('/some') })->is_status(200);
    ok wait_for('/some', sub { grep { ($_->{resource} // '') eq 'persistentvolumes/paused' } @_ }), 'it goes on where it was';
};

subtest 'receivers that hold nobody up' => sub {
    my $eve = $instance->service('eve:t2:admin');
    $receiver->mode("/$_" => $_) for 'hang', 'drop', 'endless', 'slow';
    hook($eve, "/v2.0/t2/webhooks/$_", "/$_") for 'hang', 'drop', 'endless', 'slow';
    $eve->put("/v2.0/t2/persistentvolumes/p$_", json => {})->is_status(201) for 1 .. 3;
    ok wait_until(sub { $receiver->attempts('/hang') }), 'one hangs';
    $ann->put('/v2.0/t1/persistentvolumes/beside', json => {})->is_status(201);
    ok wait_for('/all', sub { grep { ($_->{resource} // '') eq 'persistentvolumes/beside' } @_ }), 'another tenant is told';
    ok !$eve->get('/v2.0/t2/webhooks/hang')->json->{delivered_at}, 'and it hangs';
    ok wait_for('/endless', sub { grep { ($_->{resource} // '') eq 'persistentvolumes/p3' } @_ }), 'an endless answer is an answer';
    ok wait_for('/slow', sub { grep { ($_->{resource} // '') eq 'persistentvolumes/p3' } @_ }), 'a slow one, too';
    ok wait_until(sub { ($eve->get('/v2.0/t2/webhooks/drop')->json->{error} // '') ne '' }), 'a closed connection is a failure';
    $eve->delete("/v2.0/t2/webhooks/$_") for 'hang', 'drop', 'endless', 'slow';
};

subtest 'where messages never go' => sub {
    my $other = Tenure::Receiver->start;
    my $bob = $instance->service('bob:t3:admin');
    $receiver->mode('/redirect' => 'redirect:' . $other->url('/stolen'));
    hook($bob, '/v2.0/t3/webhooks/redirect', '/redirect');
    $bob->put('/v2.0/t3/persistentvolumes/p', json => {})->is_status(201);
    ok wait_until(sub { ($bob->get('/v2.0/t3/webhooks/redirect')->json->{status} // 0) == 302 }), 'a redirect is a failure';
    is $other->log, '', 'and not followed';
    $bob->delete('/v2.0/t3/webhooks/redirect');
    my $port = $other->{port};
    my @forbidden = ('127.0.0.2', 'localhost.localdomain', '0.0.0.0', '127.1.1.1', '0x7f000002', '2130706434', '127.2', '[::1]', '[::ffff:127.0.0.2]', '10.0.0.1',
        '169.254.169.254', '[64:ff9b::7f00:2]');
    for my $i (0 .. $#forbidden) {
        next if $forbidden[$i] eq 'localhost.localdomain';
        my $hook = '/v2.0/t3/webhooks/bad';
        $bob->put($hook, json => { url => "http://$forbidden[$i]:$port/" })->is_status(201);
        $bob->put("/v2.0/t3/persistentvolumes/to$i", json => {})->is_status(201);
        ok wait_until(sub { ($bob->get($hook)->json->{error} // '') eq 'the host is unknown, or has no address that messages may be sent to' }), "not to $forbidden[$i]"
            or diag explain $bob->get($hook)->json;
        $bob->delete($hook)->is_status(204);
    }
    is $other->log, '', 'nothing came';
    # Whoever makes a webhook must not learn which names the operator's network knows: a name that is unknown, and one that leads to a forbidden
    # address, read the same. Operators are told in the log, and of their own webhooks.
    my %reads;
    for my $host ('127.0.0.2', 'nowhere.invalid') {
        my $name = $host =~ s/\W/-/gr;
        my ($hook, $own) = map { "/v2.0/$_/webhooks/$name" } 't3', 'all';
        $bob->put($hook, json => { url => "https://$host:$port/" })->is_status(201);
        $admin->put($own, json => { url => "https://$host:$port/" })->is_status(201);
        $bob->put("/v2.0/t3/persistentvolumes/$host", json => {})->is_status(201);
        my ($says, $told);
        ok wait_until(sub { ($says = $bob->get($hook)->json)->{error} && ($told = $admin->get($own)->json)->{error} }), "$host fails";
        delete @$says{qw(name url created_at updated_at revision etag upto failing_since attempts next_attempt_at delivered_at dead)};
        $reads{$host} = $says;
        my $why = $host =~ /^127/ ? qr/it leads to an address that is not public, and of no network in allow/ : qr/Could not resolve host: \Q$host\E|Resolving timed out/;
        like $told->{error}, $why, '... which an operator is told of an own webhook';
        like $instance->log_text('host'), qr/webhook $name of t3: its host can't be reached: (?:$why)/, '... and in the log of others';
        $_->[0]->delete($_->[1])->is_status(204) for [$bob, $hook], [$admin, $own];
    }
    is_deeply $reads{'127.0.0.2'}, $reads{'nowhere.invalid'}, 'both read the same';
    is $other->log, '', 'still nothing came';
};

subtest 'a deleted tenant' => sub {
    $admin->delete('/v2.0/t1')->is_status(204);
    ok wait_for('/ops', sub { grep { $_->{verb} eq 'deleted' && !$_->{resource} } @_ }), 'operators are told';
    my $before = () = $receiver->attempts('/all');
    $admin->put('/v2.0/t2/persistentvolumes/mark', json => {});
    ok wait_for('/ops', sub { grep { ($_->{resource} // '') =~ /mark/ } @_ }), 'later changes, too';
    is scalar(() = $receiver->attempts('/all')), $before, 'its own webhooks rest';
    my $seen = sub { my ($code, $text) = $instance->manage('status', '--format', 'json'); return JSON::PP->new->decode($text)->{seen}{webhooks} };
    ok wait_until(sub { $seen->()->{active} == 1 }, 60), 'monitoring counts operators\' alone';
    $admin->post('/v2.0/t1/action/recover')->is_status(204);
    ok wait_for('/all', sub { grep { $_->{verb} eq 'recovered' && !$_->{resource} } @_ }), 'and go on when it is recovered';
};

subtest 'messages of a deleted tenant' => sub {
    $admin->make_tenant('t4');
    my $dan = $instance->service('dan:t4:admin');
    $receiver->mode('/late' => 500);
    hook($dan, '/v2.0/t4/webhooks/late', '/late', types => ['persistentvolumes']);
    $dan->put('/v2.0/t4/persistentvolumes/p', json => {})->is_status(201);
    my ($late, $count) = ("webhook_id = (SELECT id FROM webhooks WHERE name = 'late')", 2001);
    ok wait_until(sub { $instance->sql_value("SELECT COUNT(*) FROM webhook_cursors WHERE begun_upto > 0 AND $late") }), 'a message fails';
    $dan->put('/v2.0/t4/webhooks/late', json => { url => $receiver->url('/late'), paused => JSON::PP::true() })->is_status(200);
    # As if it had been given up, with more messages than are read at once: of changes that were purged. Then all are revived.
    $instance->sql("INSERT INTO webhook_messages (webhook_id, uid, kind, state, position, upto, created_at, ended_at) SELECT id, "
        . "CONCAT('0123456789', LPAD(seq, 6, '0')), 'changes', 'dead', 0, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM webhooks, seq_1_to_$count WHERE name = 'late'");
    $instance->sql('INSERT INTO webhook_messages (webhook_id, uid, kind, state, position, upto, created_at, ended_at) SELECT webhook_id, '
        . "message, 'changes', 'dead', position, begun_upto, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM webhook_cursors WHERE $late; "
        . "UPDATE webhook_cursors SET position = begun_upto, begun_upto = NULL, message = NULL WHERE $late");
    is $dan->post('/v2.0/t4/webhooks/late/action/revive')->json->{revived}, $count + 1, 'all are revived';
    $admin->delete('/v2.0/t4')->is_status(204);
    $receiver->mode('/late' => 'ok');
    my $before = () = $receiver->attempts('/late');
    $instance->sql("UPDATE webhooks SET paused = 0 WHERE name = 'late'; UPDATE webhook_lease SET edits = edits + 1");
    my $id = 'msg_' . $ann->post("$list/all/action/ping")->json->{message};
    ok wait_until(sub { grep { $_->{id} eq $id } $receiver->messages('/all') }), 'they do not hold up another tenant';
    is scalar(() = $receiver->attempts('/late')), $before, 'they rest';
    $admin->post('/v2.0/t4/action/recover')->is_status(204);
    # Each of them is a write of its own.
    ok wait_until(sub { grep { ($_->{resource} // '') eq 'persistentvolumes/p' } $receiver->changes('/late') }, 120), 'and are sent when it was recovered, the last one, too';
    ok wait_until(sub { !$instance->sql_value("SELECT COUNT(*) FROM webhook_messages WHERE state = 'queued' AND $late") }, 120), 'all have ended';
    is $instance->sql_value("SELECT COUNT(*) FROM webhook_messages WHERE state = 'dead' AND $late"), $count, 'what is gone is not told to have been delivered';
    my ($gone) = grep { $_->{state} eq 'dead' } @{ $dan->get('/v2.0/t4/webhooks/late/deliveries?limit=10')->json->{deliveries} };
    is_deeply [@$gone{qw(state attempts error)}], ['dead', 0, 'nothing of it is left to be sent'], '... but why not';
};

subtest 'maintenance' => sub {
    # Each attempt takes 10 s, so the message is not given up before changes are stopped, however slow the machine is.
    $receiver->mode('/all' => 'hang');
    $ann->put('/v2.0/t1/persistentvolumes/before', json => {})->is_status(201);
    ok wait_until(sub { ($ann->get("$list/all")->json->{attempts} // 0) >= 1 }, 60), 'a message fails';
    is +($instance->manage('maintenance', 'on'))[0], 0, 'changes are stopped';
    # What was on its way has ended after 10 s, the timeout.
    ok wait_for_beats(15), 'the process that sends lives';
    $receiver->mode('/all' => 'ok');
    my $before = () = $receiver->attempts('/all');
    ok wait_for_beats(2), 'and goes on living';
    is scalar(() = $receiver->attempts('/all')), $before, 'nothing is sent, though it is due';
    is +($instance->manage('maintenance', 'off'))[0], 0, 'changes are allowed again';
    ok wait_for('/all', sub { grep { ($_->{resource} // '') eq 'persistentvolumes/before' } @_ }), 'it comes';
};

subtest 'a database that was restored' => sub {
    my $cursor = "SELECT c.position FROM webhook_cursors c JOIN webhooks w ON w.id = c.webhook_id WHERE w.name = 'ops'";
    my $kept = $instance->sql_value('SELECT MAX(id) FROM changes');
    my $ahead = 100_000;
    ok wait_until(sub { $instance->sql_value('SELECT published FROM log_horizon') >= $kept }), 'there is a backup';
    $instance->sql("UPDATE log_horizon SET published = published + $ahead");
    ok wait_until(sub { $instance->sql_value($cursor) > $kept + $ahead / 2 }), 'time goes by';
    $instance->sql("START TRANSACTION; UPDATE log_horizon SET published = published - $ahead; UPDATE webhook_cursors SET position = LEAST(position, $kept); "
        . 'UPDATE webhook_lease SET edits = edits + 1; COMMIT');
    for my $name (qw(restored restored-2)) {
        $ann->put("/v2.0/t1/persistentvolumes/$name", json => {})->is_status(201);
        for my $path ('/all', '/ops') {
            ok wait_for($path, sub { grep { ($_->{resource} // '') eq "persistentvolumes/$name" } @_ }), "what changes after it is put back is told: $name, $path";
        }
    }
};

# Nothing was sent for a while, so all that was changed meanwhile is looked at, and it is not asked whose changes they are.
subtest 'a pause of all webhooks' => sub {
    my $upto  = sub { return $instance->sql_value('SELECT published FROM log_horizon') };
    my $asked = sub { return map { $_->[0] } $instance->sql("SELECT argument FROM mysql.general_log WHERE command_type = 'Execute' AND argument LIKE '%$_[0]%'") };
    $instance->sql("SET GLOBAL log_output = 'TABLE'; TRUNCATE mysql.general_log; SET GLOBAL general_log = 1");
    restart_deliverer(); # values of statements are logged that are prepared from now on
    ok wait_until(sub { $asked->('AS failing_us') }), 'it has read the webhooks';
    $instance->sql('TRUNCATE mysql.general_log');
    $instance->sql('UPDATE webhooks SET paused = paused + 2; UPDATE webhook_lease SET edits = edits + 1');
    ok wait_until(sub { $asked->('AS failing_us') }), 'all are paused';
    $ann->put("/v2.0/t1/persistentvolumes/during$_", json => {})->is_status(201) for 1 .. 3;
    ok wait_until(sub { $admin->get('/v2.0/all/changes?order=newest&limit=1')->json->{upto} == $upto->() }), 'time goes by';
    my $end = $upto->();
    $instance->sql('UPDATE webhooks SET paused = paused - 2 WHERE paused > 1; UPDATE webhook_lease SET edits = edits + 1');
    for my $path ('/all', '/ops') {
        ok wait_for($path, sub { grep { ($_->{resource} // '') eq 'persistentvolumes/during3' } @_ }), "they go on: $path";
    }
    $ann->put('/v2.0/t1/persistentvolumes/afterwards', json => {})->is_status(201);
    ok wait_for('/all', sub { grep { ($_->{resource} // '') eq 'persistentvolumes/afterwards' } @_ }), 'what is changed later comes, too';
    $instance->sql('SET GLOBAL general_log = 0');
    my @from = map { /from_tenant_id FROM changes c WHERE c\.id > (\d+)/ ? $1 : () } $asked->('from_tenant_id FROM changes c WHERE c.id > ');
    isnt scalar @from, 0, 'it is asked whose changes those are';
    is_deeply [grep { $_ < $end } @from], [], '... but of the time of the pause';
};

subtest '410 disables' => sub {
    $receiver->mode('/all' => 410);
    $ann->put('/v2.0/t1/persistentvolumes/last', json => {})->is_status(201);
    my $before = $ann->get("$list/all")->etag;
    ok wait_until(sub { $ann->get("$list/all")->json->{state} eq 'disabled' }), 'it is disabled';
    is $ann->get("$list/all", if_none_match => $before)->json->{state}, 'disabled', '... which a client learns that has a copy';
    $receiver->mode('/all' => 'ok');
    # doc/webhooks.md, "Receiving": nothing else is changed by it.
    my ($code, $said) = do {
        local @ENV{qw(TENURE_URL TENURE_TOKEN)} = ($instance->env('TENURE_ADMIN_URL'), 'admin');
        Tenure::Run::run(Tenure::Instance::build_dir() . '/tenure', qw(webhook set all paused:=false -t t1));
    };
    is $code, 0, 'tenure webhook set all paused:=false' or diag $said;
    ok wait_for('/all', sub { grep { ($_->{resource} // '') eq 'persistentvolumes/last' } @_ }), '... enables it, and nothing is lost';
};

# A message beside the stream disables, too.
subtest '410 to a revived message, and to a ping' => sub {
    my $tries = sub { return scalar grep { $_->{body} =~ m{/lost} } $receiver->attempts('/dead') };
    my $enable = sub { return $ann->put("$list/dead", json => { url => $receiver->url('/dead'), types => ['persistentvolumes'] })->is_status(200) };
    my $is_disabled = sub { return ok wait_until(sub { $ann->get("$list/dead")->json->{state} eq 'disabled' }), 'it is disabled' };
    $receiver->mode('/dead' => 410);
    give_up();
    my $before = $tries->();
    is $ann->post("$list/dead/action/revive")->json->{revived}, 1, 'one is revived';
    $is_disabled->();
    my $now = $ann->get("$list/dead")->json;
    is_deeply [@$now{qw(status error)}], [410, 'the receiver answered 410'], 'it is shown why';
    is $tries->(), $before + 1, 'after one attempt';
    $receiver->mode('/dead' => 503);
    $enable->();
    ok wait_until(sub { $ann->get("$list/dead")->json->{dead} == 1 }), 'whoever enables it has the message sent again';
    is $tries->(), $before + 11, '... ten times until it is given up, as if it had not failed before';
    $receiver->mode('/dead' => 'ok');
    is $ann->post("$list/dead/action/revive")->json->{revived}, 1, 'it is revived once more';
    ok wait_until(sub { $ann->get("$list/dead/deliveries")->json->{deliveries}[0]{state} eq 'delivered' }), '... and received';
    is $tries->(), $before + 12, 'once';
    $receiver->mode('/dead' => 410);
    my $ping = $ann->post("$list/dead/action/ping")->json->{message};
    $is_disabled->();
    my ($sent) = grep { $_->{message} eq $ping } @{ $ann->get("$list/dead/deliveries")->json->{deliveries} };
    is $sent->{state}, 'dead', 'the ping is not sent again';
    $receiver->mode('/dead' => 'ok');
    $enable->();
};

# Another process sends from now on, which knows nothing but what is stored.
sub restart_deliverer {
    my $before;
    ok wait_until(sub { ($before) = $instance->host_children('tenured-deliver') }), 'a process sends';
    kill TERM => $before if $before;
    return ok wait_until(sub { my ($now) = $instance->host_children('tenured-deliver'); $now && $now != ($before // 0) }), 'another process sends';
}

# So many attempts that the process has read the webhooks anew since they began.
sub is_tried {
    my ($name) = @_;
    my $tried = () = $receiver->attempts('/all');
    $ann->put("/v2.0/t1/persistentvolumes/$name", json => {})->is_status(201);
    return ok wait_until(sub { $tried + 6 <= (() = $receiver->attempts('/all')) }, 90), 'it is tried again and again';
}

# Both clocks may have been set meanwhile; this process saw failures for a moment.
subtest 'failures for disable_after disable' => sub {
    $receiver->mode('/all' => 500);
    $ann->put('/v2.0/t1/persistentvolumes/fails', json => {})->is_status(201);
    ok wait_until(sub { $ann->get("$list/all")->json->{failing_since} }), 'it fails';
    is $ann->get("$list/all")->json->{state}, 'failing', 'and is tried again';
    $instance->sql('UPDATE webhook_cursors SET failing_since = failing_since - INTERVAL 5 DAY');
    $instance->sql('UPDATE webhook_lease SET edits = edits + 1');
    is_tried('clocks');
    is $ann->get("$list/all")->json->{state}, 'failing', 'clocks that are set five days ahead do not disable it';
    # The database's clock, of new connections: four days after the first failure.
    $instance->sql(q(SET GLOBAL init_connect = 'SET timestamp = UNIX_TIMESTAMP() - 86400'));
    restart_deliverer();
    is_tried('database');
    is $ann->get("$list/all")->json->{state}, 'failing', 'nor does one of the two';
    $instance->sql(q(SET GLOBAL init_connect = ''));
    restart_deliverer();
    $ann->put('/v2.0/t1/persistentvolumes/later', json => {})->is_status(201);
    ok wait_until(sub { $ann->get("$list/all")->json->{state} eq 'disabled' }), 'five days later by both it is disabled';
    $receiver->mode('/all' => 'ok');
    $ann->put("$list/all", json => { url => $receiver->url('/all') })->is_status(200);
    ok wait_for('/all', sub { grep { ($_->{resource} // '') eq 'persistentvolumes/later' } @_ }), 'a PUT enables it';
};

# A stream that has nothing to send after what was given up: what is received beside it ends the failing.
subtest 'received later, by a revived message or a ping' => sub {
    hook($ann, "$list/quiet", '/quiet', types => ['persistentvolumes']);
    my $now = sub { return $ann->get("$list/quiet")->json };
    for my $by ('revive', 'ping') {
        $receiver->mode('/quiet' => 503);
        $ann->put("/v2.0/t1/persistentvolumes/quiet-$by", json => {})->is_status(201);
        ok wait_until(sub { my $is = $now->(); !$is->{attempts} && ($is->{status} // 0) == 503 && $is->{dead} }, 90), 'given up';
        is $now->()->{state}, 'failing', 'it fails';
        $instance->sql(q(UPDATE webhook_cursors SET failing_since = failing_since - INTERVAL 6 DAY WHERE failing_since IS NOT NULL));
        restart_deliverer();
        $receiver->mode('/quiet' => 'ok');
        $ann->post("$list/quiet/action/$by")->is_status(202);
        ok wait_until(sub { $now->()->{state} eq 'active' }), "after $by it is active";
        ok !$now->()->{failing_since}, 'since when it fails is not told';
        $receiver->mode('/quiet' => 503);
        $ann->put("/v2.0/t1/persistentvolumes/again-$by", json => {})->is_status(201);
        ok wait_until(sub { $now->()->{attempts} }), 'the next failure';
        is $now->()->{state}, 'failing', 'is the first: it does not disable';
        $receiver->mode('/quiet' => 'ok');
        ok wait_for('/quiet', sub { grep { ($_->{resource} // '') eq "persistentvolumes/again-$by" } @_ }), 'and is tried again';
        ok wait_until(sub { $now->()->{state} eq 'active' }), 'until it is received';
    }
    $ann->delete("$list/quiet")->is_status(204);
};

# By one that is behind, a webhook would seem to have failed for long once another process sends.
subtest 'the first failure is noted by the later clock' => sub {
    $instance->sql(q(SET GLOBAL init_connect = 'SET timestamp = UNIX_TIMESTAMP() + 10 * 86400'));
    restart_deliverer();
    $receiver->mode('/all' => 500);
    is_tried('ahead');
    cmp_ok $ann->get("$list/all")->json->{failing_since}, 'gt', POSIX::strftime('%FT%TZ', gmtime time + 9 * 86400), 'that of the database';
    $instance->sql(q(SET GLOBAL init_connect = ''));
    restart_deliverer();
    is_tried('right');
    $receiver->mode('/all' => 'ok');
    $ann->put('/v2.0/t1/persistentvolumes/after', json => {})->is_status(201);
    ok wait_for('/all', sub { grep { ($_->{resource} // '') eq 'persistentvolumes/after' } @_ }), 'messages go on';
};

done_testing;
