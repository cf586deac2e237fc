#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The change log for people: the newest first or in order, with filters, of one tenant and, for operators, of all; pages that stay as they
# are while others write.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Encode ();
use Test::More;

use Tenure::Instance;
use Tenure::Parallel;
use Tenure::Tool;

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;
$admin->make_tenant($_) for 't1', 't2';
my $ann = $instance->service('ann:t1:member');
my $at  = '/v2.0/t1/namespaces/default';

my %made;
$made{web}    = $ann->put("$at/configmaps/web", json => { data => { color => 'red' } });
$made{red}    = $ann->put("$at/configmaps/web", json => { data => { color => 'blue' } });
$made{secret} = $ann->put("$at/secrets/key", json => { data => { password => 'c2VjcmV0LXRleHQ=' } });
$instance->service('bob:t1:member')->put('/v2.0/t1/persistentvolumes/Disk-1', json => { spec => {} });
$admin->post('/v2.0/t1/persistentvolumes/Disk-1/action/move?dest=t2')->is_status(303);
$ann->delete("$at/configmaps/web");
$admin->put('/v2.0/t2/namespaces/default/configmaps/other', json => {});

# The changes that a query has, as texts.
sub told {
    my ($client, $path) = @_;
    my $answer = $client->get($path);
    $answer->is_status(200);
    return map { join ' ', $_->{verb}, $_->{resource} // 'tenant' } @{ $answer->json->{changes} };
}

subtest 'filters' => sub {
    my $list = '/v2.0/t1/changes';
    my @all  = told($ann, $list);
    is scalar @all, 8, 'eight in all' or diag explain \@all;
    is_deeply [told($ann, "$list?order=newest")], [reverse @all], 'the newest first';
    is_deeply [told($ann, "$list?actor=bob")], ['created persistentvolumes/Disk-1'], 'by whom';
    is_deeply [told($ann, "$list?verb=deleted")], ['deleted namespaces/default/configmaps/web'], 'what was done';
    is_deeply [told($ann, "$list?type=secrets")], ['created namespaces/default/secrets/key'], 'of a type';
    is_deeply [told($ann, "$list?type=secrets.core")], ['created namespaces/default/secrets/key'], 'with its group';
    is_deeply [told($ann, "$list?type=secrets.example.com")], [], 'another group';
    is_deeply [told($ann, "$list?resource=namespaces/default/configmaps/web&order=newest")],
        [map { "$_ namespaces/default/configmaps/web" } 'deleted', 'updated', 'created'], 'of a resource';
    is_deeply [told($ann, "$list?resource=" . $made{web}->json->{metadata}{uid} . '&verb=updated')], ['updated namespaces/default/configmaps/web'], 'by its uid';
    is_deeply [told($ann, "$list?text=DISK")], ['created persistentvolumes/Disk-1', 'moved persistentvolumes/Disk-1'], 'with a text, in any case';
    is_deeply [told($ann, "$list?text=/data/color")], ['updated namespaces/default/configmaps/web'], '... in the fields';
    is_deeply [told($ann, "$list?text=$_")], [], "not by what is no part of a change: $_" for 'c2VjcmV0', 'secret-text', 'blue', '%25', '_';
    is_deeply [told($ann, "$list?actor=an%25")], [], 'an actor is no pattern';
    is_deeply [told($ann, "$list?from=2000-01-01T00:00:00Z&to=2900-01-01T00:00:00Z")], \@all, 'in a time';
    is_deeply [told($ann, "$list?$_")], [], "in another: $_" for 'to=2000-01-01T00:00:00Z', 'from=2900-01-01T00:00:00%2B01:00';
    my @ids = map { $_->{id} } @{ $ann->get($list)->json->{changes} };
    is_deeply [map { $_->{id} } @{ $ann->get("$list?after=$ids[1]&before=$ids[4]")->json->{changes} }], [@ids[2, 3]], 'between two';
    is $ann->get($list)->json->{upto}, $ids[-1], 'up to which all were looked at';
    like $ann->get("$list?limit=2&actor=ann", headers => { Accept => 'application/xml' })->text, qr/<changes [^>]*upto="\d+" next="[^"]+"/, 'in XML, too';
};

subtest 'times' => sub {
    my $mid = $instance->sql_value('SELECT MAX(id) FROM changes');
    $instance->sql("UPDATE changes SET at = at - INTERVAL 10 DAY WHERE id <= $mid");
    my $day = $instance->sql_value("SELECT DATE_FORMAT(UTC_TIMESTAMP() - INTERVAL 5 DAY, '%Y-%m-%dT%TZ')");
    $ann->put("$at/configmaps/late", json => {});
    is_deeply [told($ann, "/v2.0/t1/changes?from=$day")], ['created namespaces/default/configmaps/late'], 'from then on';
    is scalar(told($ann, "/v2.0/t1/changes?to=$day")), 8, 'until then';
    my ($exact) = grep { ($_->{resource} // '') =~ /late/ } @{ $ann->get('/v2.0/t1/changes?order=newest')->json->{changes} };
    my $second = $exact->{at};
    is_deeply [told($ann, "/v2.0/t1/changes?from=$second")], ['created namespaces/default/configmaps/late'], 'from is included';
};

subtest 'what is refused' => sub {
    like $ann->get('/v2.0/t1/changes?from=2026-11-21T05:24:00+01:00')->text, qr/such as \S+Z; a '\+' in it is written %2B"/, 'a + that is not encoded: how it is';
    $ann->get('/v2.0/t1/changes?from=2026-11-21T05:24:00%2B01:00')->is_status(200, '... taken so');
    unlike $ann->get("/v2.0/t1/changes?from=$_")->text, qr/%2B/, "and of nothing else: $_" for 'yesterday', '2026-11-21%2005:24:00';
    like $ann->get('/v2.0/t1/changes?to=2026-04-31T00:00:00Z')->text, qr/to must be a day of the calendar: 2026-04 has 30 days/, 'a day that is none';
    for my $query ('from=yesterday', 'from=2026-02-30T00:00:00Z', 'to=1969-12-31T23:59:59Z', 'order=random', 'verb=made', 'limit=0', 'limit=1001', 'before=x', 'after=-1',
        'resource=web', 'resource=a/b/c', 'resource=spaces/default/configmaps/web', 'resource=//', 'type=secrets&resource=secrets/key', 'actor=', 'text=' . 'x' x 1021, 'unknown=1') {
        $ann->get("/v2.0/t1/changes?$query")->is_status(400, substr $query, 0, 60);
    }
};

subtest 'whose' => sub {
    $ann->get('/v2.0/t2/changes')->is_status(404);
    $instance->service('ann:t1:admin')->get('/v2.0/all/changes')->is_status(404, 'users have no list of all');
    $instance->combined("ann:t1:$_")->get('/v2.0/all/changes')->is_status(403, "nor has a tenant's $_") for 'reader', 'admin';
    my $text = $ann->get('/v2.0/t1/changes')->text;
    unlike $text, qr/t2|tenant"/, 'a tenant is not told of others';
    is_deeply [map { [@$_{qw(verb moved resource)}] } @{ $ann->get('/v2.0/t1/changes?verb=moved')->json->{changes} }],
        [['moved', 'out', 'persistentvolumes/Disk-1']], 'but that something went';
    my ($moved) = @{ $instance->service('eve:t2:reader')->get('/v2.0/t2/changes?verb=moved')->json->{changes} };
    is $moved->{moved}, 'in', 'or came';
    ok !exists $moved->{from_tenant}, '... not from where';
    my ($of_all) = @{ $admin->get('/v2.0/all/changes?verb=moved')->json->{changes} };
    is "$of_all->{from_tenant} $of_all->{tenant}", 't1 t2', 'an operator is';
    my @all = @{ $admin->get('/v2.0/all/changes?order=newest&limit=1000')->json->{changes} };
    is_deeply [map { $_->{id} } @all], [sort { $b <=> $a } map { $_->[0] } $instance->sql('SELECT id FROM changes')], 'all there are';
    is_deeply [told($admin, '/v2.0/all/changes?text=disk')], ['created persistentvolumes/Disk-1', 'moved persistentvolumes/Disk-1'], 'with filters';
    $admin->get('/v2.0/all')->is_status(404, 'there is no tenant "all"');
};

# Returns the ids of all changes of a list that may have several pages.
sub ids { my ($client, $path, %option) = @_; return map { $_->{id} } $client->list($path, 'changes', %option) }

subtest 'pages while others write' => sub {
    $ann->put("$at/configmaps/n$_", json => {}) for 1 .. 12;
    for my $path ('/v2.0/t1/changes', '/v2.0/all/changes') {
        my $client = $path =~ /all/ ? $admin : $ann;
        for my $filter ('', '&type=configmaps', '&actor=ann&verb=created') {
            my @before = map { $_->{id} } @{ $client->get("$path?limit=1000&order=newest$filter")->json->{changes} };
            my $n = 0;
            my @ids = ids($client, "$path?limit=5&order=newest$filter", between => sub { $ann->put("$at/configmaps/w", json => { n => ++$n }) });
            is_deeply \@ids, \@before, "$path$filter: the newest first, as it was when the first page was made";
            my @after = ids($client, "$path?limit=7$filter");
            is_deeply [@after[0 .. $#before]], [reverse @before], 'in order';
            is scalar ids($client, "$path?limit=1&after=$after[-3]$filter"), 2, 'behind one';
        }
    }
};

subtest 'what is seldom, in a long log' => sub {
    my $tenant = $instance->tenant_id('t2');
    $instance->sql('INSERT INTO changes (request_id, at, actor, verb, tenant_id, uid, revision) '
        . "SELECT REPEAT('x', 16), UTC_TIMESTAMP(6), 'many', 'updated', $tenant, REPEAT('u', 16), 1 FROM seq_1_to_12000");
    $admin->put('/v2.0/t2/namespaces/default/configmaps/last', json => {});
    my $eve = $instance->service('eve:t2:reader');
    my $first = $eve->get('/v2.0/t2/changes?order=newest&verb=moved')->json;
    is_deeply $first->{changes}, [], 'a call ends after 10,000';
    like $first->{next} // '', qr/order=newest&limit=100&verb=moved\z/, 'and says from where to go on';
    for my $order ('newest', 'oldest') {
        is scalar ids($eve, "/v2.0/t2/changes?order=$order&verb=moved"), 1, "found once, $order first";
        is scalar ids($admin, "/v2.0/all/changes?order=$order&text=last"), 1, "... of all";
    }
    is scalar ids($eve, '/v2.0/t2/changes?limit=1000&order=newest'), $instance->sql_value("SELECT COUNT(*) FROM changes WHERE tenant_id = $tenant"), 'all there are';
};

subtest 'nothing is missed by who follows the log of all' => sub {
    my $after = $admin->get('/v2.0/all/changes?order=newest&limit=1')->json->{upto};
    my $begin = $after;
    my @told  = Tenure::Parallel::run(3, sub {
        my ($n) = @_;
        my @seen;
        if ($n == 0) {
            my $reader = $instance->admin;
            for (1 .. 20_000) {
                my $ended  = !grep { $reader->get("$at/configmaps/end-$_")->status != 200 } 1, 2;
                my $answer = $reader->get("/v2.0/all/changes?after=$after&limit=100")->json;
                push @seen, map { $_->{id} } @{ $answer->{changes} };
                $after = $answer->{upto};
                last if $ended && !@{ $answer->{changes} };
            }
            return "@seen";
        }
        my $writer = $instance->service("w$n:t1:member");
        $writer->put("$at/configmaps/f$n-$_", json => { n => $_ }) for 1 .. 60;
        $writer->put("$at/configmaps/end-$n", json => {});
        return '';
    });
    my @seen = split ' ', $told[0];
    push @seen, ids($admin, '/v2.0/all/changes?after=' . ($seen[-1] // $begin));
    is_deeply \@seen, [map { $_->[0] } $instance->sql("SELECT id FROM changes WHERE id > $begin ORDER BY id")], scalar(@seen) . ' changes, each once and in order';
};

subtest 'tenure changes' => sub {
    my $tool = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => $instance->operator_token, tenant => 't1');
    my @csv  = (qw(changes list --format csv --columns), 'verb,resource');
    is $tool->ends(0, @csv, '--actor', 'bob')->{out}, "verb,resource\ncreated,persistentvolumes/Disk-1\n", 'a filter';
    is $tool->ends(0, @csv, qw(--newest --limit 2 --resource namespaces/default/configmaps/web))->{out},
        "verb,resource\ndeleted,namespaces/default/configmaps/web\nupdated,namespaces/default/configmaps/web\n", 'the newest first';
    is $tool->ends(0, @csv, qw(--all-tenants --text last))->{out}, "verb,resource\ncreated,namespaces/default/configmaps/last\n", 'of all, beyond 10,000';
    is $tool->ends(0, qw(changes list --format csv --all-tenants --verb moved --newest --columns), 'tenant,from')->{out}, "tenant,from\nt2,t1\n", 'and whose';
    $tool->ends(64, qw(changes list --newest --follow));
    $tool->ends(64, qw(changes list --all-tenants -t t1));
    $tool->ends(64, qw(changes list --limit 0));
    isnt $tool->run(qw(changes list --from yesterday))->{code}, 0, 'no time';
    is $tool->ends(0, @csv, qw(--from 2001-01-01 --to 2001-01-02))->{out}, "verb,resource\n", 'a day of long ago';
    isnt $tool->ends(0, @csv, qw(--from 2001-01-01))->{out}, "verb,resource\n", 'since that day';
    isnt $tool->ends(0, qw(configmaps list --format csv --created-since 2001-01-01 --columns name))->{out}, "name\n", 'of lists, too';
    is $tool->ends(0, qw(configmaps list --format csv --created-before 2001-01-01 --columns name))->{out}, "name\n", '... before it';

    # What comes later is shown, in order, and --limit ends it.
    for my $whose (['-t', 't1'], ['--all-tenants']) {
        my $job = $tool->begin(undef, qw(changes list --follow --limit 3 --format csv --columns resource --type configmaps), @$whose);
        ok Tenure::Instance::wait_until(sub { (() = Tenure::Instance::read_file("$job->{out}") =~ /\n/g) == 11 }), 'the last ten';
        $ann->put("$at/configmaps/follow-$_$whose->[-1]", json => {}) for 1 .. 3;
        my $out = $tool->end($job);
        like $out->{out}, qr/\Aresource\n(?:\S+\n){10}\S+follow-1\S+\n\S+follow-2\S+\n\S+follow-3\S+\n\z/, "@$whose: ... and three that came";
    }
};

subtest 'who follows waits for a service that is away' => sub {
    my $tool   = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => $instance->operator_token, tenant => 't1');
    my $socket = $instance->dir . '/sockets/admin.sock';
    my @follow = qw(changes list --follow --format csv --columns resource);
    my $job    = $tool->begin(undef, @follow, qw(--limit 1 --type configmaps));
    ok Tenure::Instance::wait_until(sub { (() = Tenure::Instance::read_file("$job->{out}") =~ /\n/g) == 11 }), 'the last ten';
    rename $socket, "$socket.away" or die "$socket: $!";
    ok Tenure::Instance::wait_until(sub { Tenure::Instance::read_file("$job->{err}") =~ /waiting for the service/ }), 'it is told';
    $ann->put("$at/configmaps/behind", json => {})->is_status(201);
    rename "$socket.away", $socket or die "$socket: $!";
    my $out = $tool->end($job);
    like $out->{out}, qr{\nnamespaces/default/configmaps/behind\n\z}, 'what came meanwhile is shown';
    is $out->{code}, 0, 'and it ends well';
    is scalar(() = $out->{err} =~ /\n/g), 1, '... having said so once' or diag $out->{err};

    # Where nothing was reached yet, it ends.
    my $nowhere = Tenure::Tool->new(url => 'http://127.0.0.1:9', token => 'x', tenant => 't1');
    $nowhere->ends(69, @follow, '--after', 0);
    $nowhere->ends(69, @follow);
};

# Without a reader it would go on for ever, and with a full disk it would leave out changes.
subtest 'who follows ends when the output can not be written' => sub {
    my %whose  = (url => $instance->env('TENURE_ADMIN_URL'), token => $instance->operator_token, tenant => 't1');
    my @follow = qw(changes list --follow --type configmaps --columns resource --format);
    my $ended  = sub {
        my ($tool, $job) = @_;
        my $in_time = Tenure::Instance::wait_until(sub { Tenure::Instance::read_file("/proc/$job->{pid}/stat") =~ /\) Z / });
        kill TERM => $job->{pid} if !$in_time;
        return $tool->end($job);
    };
    for my $format (qw(csv json)) {
        pipe my $reader, my $writer or die "pipe: $!";
        my $tool = Tenure::Tool->new(%whose, stdout => $writer);
        my $job  = $tool->begin(undef, @follow, $format);
        close $writer;
        delete $tool->{stdout};
        ok defined readline $reader, "$format: a line is read";
        close $reader;
        my $run = $ended->($tool, $job);
        is $run->{code}, 74, '... and after that nobody reads';
        is $run->{err}, '', '... which nobody is told';

        open my $full, '>', '/dev/full' or die "/dev/full: $!";
        $tool = Tenure::Tool->new(%whose, stdout => $full);
        $run = $ended->($tool, $tool->begin(undef, @follow, $format));
        is $run->{code}, 74, "$format: the disk is full";
        is $run->{err}, "tenure: can't write the output\n", '... which is told';
    }
};

# The longest path that the log can show: names of 255 letters of two bytes.
subtest 'a resource with the longest names' => sub {
    my ($space, $name) = map { join '', map { sprintf '%%%02X', ord } split //, Encode::encode('UTF-8', chr($_) x 255) } 0xe9, 0xe8;
    my $path = "namespaces/$space/configmaps/$name";
    $admin->make_tenant('t4');
    $admin->put("/v2.0/t4/namespaces/$space", json => {})->is_status(201);
    $admin->put("/v2.0/t4/$path", json => {})->is_status(201);
    my ($shown) = grep { /configmaps/ } map { $_->{resource} // '' } @{ $admin->get('/v2.0/t4/changes')->json->{changes} };
    is_deeply [map { $_->{resource} } @{ $admin->get("/v2.0/t4/changes?resource=$path")->json->{changes} }], [$shown], 'is selected by it';
    $admin->get("/v2.0/t4/changes?resource=namespaces/%FF/configmaps/c")->is_status(400, 'what is no text is refused');
    $admin->delete('/v2.0/t4')->is_status(204);
};

done_testing;
