#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Tiers as operators manage them: listed, made, changed and deleted by API and by `tenure tier`, guarded by etags; what refuses a
# deletion, and what the change log tells.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Digest::SHA ();
use POSIX       ();
use Test::More;

use Tenure::Instance;
use Tenure::Tool;

my $instance = Tenure::Instance->start(combined => 1, settings => { 'tenure.etag_required' => 'no' });
my $admin    = $instance->admin;
$admin->make_tenant('t1');
is +($instance->manage('tier', 'set', 'a b&c/ü', '--max-resources', '7', '--description', 'of seven'))[0], 0, 'a tier with a hard name';

my @tiers = @{ $admin->get('/v2.0/all/tiers')->json->{tiers} };
my %tier  = map { ($_->{name} => $_) } @tiers;
like $_->{etag}, qr{\AW/[0-9a-f]{128}\z}, "an etag of $_->{name}" for @tiers;
my %etag = map { ($_->{name} => delete $_->{etag}) } @tiers;
is scalar(keys %{ { reverse %etag } }), scalar(@tiers), 'each its own';
is_deeply $tier{bronze}, { name => 'bronze', max_resources => 1000, description => 'Up to 1,000 resources' }, 'one of them';
ok exists $tier{standard} && !exists $tier{standard}{max_resources}, 'one without a limit';
my ($hard) = grep { ($_->{max_resources} // 0) == 7 } @tiers;
is $hard->{description}, 'of seven', 'the new one';
$admin->put('/v2.0/t1', json => { tenant => { tier => $hard->{name} } })->is_status(202, 'a tenant may be put into it by that name');
my (@pages, $path);
for ($path = '/v2.0/all/tiers?limit=1'; defined $path && @pages < 20;) {
    my $page = $admin->get($path)->json;
    delete $_->{etag} for @{ $page->{tiers} };
    push @pages, @{ $page->{tiers} };
    $path = defined $page->{next} ? $admin->path_of($page->{next}) : undef;
}
is_deeply \@pages, \@tiers, 'page by page the same';
like $admin->get('/v2.0/all/tiers', headers => { Accept => 'application/xml' })->text, qr/<tiers[^>]*>\s*<tier name=/, 'as XML';
$admin->get("/v2.0/all/tiers?$_")->is_status(400, "refused: $_") for 'limit=0', 'limit=x', 'marker=', 'unknown=1';
$instance->combined('ann:t1:admin')->get('/v2.0/all/tiers')->is_status(403, 'for operators alone');
$instance->service('ann:t1:admin')->get('/v2.0/all/tiers')->is_status(404, 'the endpoint of users has no such list');


my $all = '/v2.0/all/tiers';

# As a segment of an address.
sub encoded {
    my ($text) = @_;
    utf8::encode($text);
    return $text =~ s/([^A-Za-z0-9])/sprintf '%%%02X', ord $1/ger;
}

$instance->combined('ann:t1:admin')->get("$all/bronze")->is_status(403, 'one of them, for operators alone');
$instance->combined('ann:t1:admin')->put("$all/bronze", json => {})->is_status(403, 'nor may others change one');
$instance->combined('ann:t1:admin')->delete("$all/bronze")->is_status(403, 'or delete it');
$instance->service('ann:t1:admin')->get("$all/bronze")->is_status(404, 'the endpoint of users has none');

subtest 'made, read, changed, deleted' => sub {
    my $made = $admin->put("$all/tin", json => { max_resources => 3, description => 'of three' }, if_none_match => '*');
    $made->is_status(201);
    like $made->header('location'), qr{/v2\.0/all/tiers/tin\z}, 'where it is';
    is_deeply { %{ $made->json }, etag => undef }, { name => 'tin', max_resources => 3, description => 'of three', etag => undef }, 'what was said';
    my $read = $admin->get("$all/tin");
    is $read->etag, $made->etag, 'GET has its etag';
    is $read->json->{tenants}, 0, 'and how many tenants it has';
    my ($listed) = grep { $_->{name} eq 'tin' } @{ $admin->get($all)->json->{tiers} };
    is $listed->{etag}, $read->json->{etag}, 'as the list does';
    (my $quoted = $listed->{etag}) =~ s{\AW/(.*)\z}{W/"$1"};
    is $read->etag, $quoted, 'and the header';
    $admin->make_tenant('counted', tier => 'tin');
    my $counted = $admin->get("$all/tin", if_none_match => $made->etag);
    $counted->is_status(200, 'If-None-Match is not heeded: the count changes without the etag');
    is $counted->etag, $made->etag, '... which is still the same';
    is $counted->json->{tenants}, 1, '... and the tenant is counted';
    $admin->put('/v2.0/counted', json => { tenant => { tier => 'silver' } })->is_status(202);
    $admin->get("$all/tin", if_match => '"0"')->is_problem(412, 'stale');
    $admin->put("$all/tin", json => {}, if_none_match => '*')->is_problem(412, 'stale');
    $admin->put("$all/tin", json => {}, if_match => '"0"')->is_problem(412, 'stale');
    my $same = $admin->put("$all/tin", json => $read->json, if_match => $made->etag);
    $same->is_status(200, 'what GET shows can be sent back');
    is $same->etag, $made->etag, 'and changes nothing';
    my $changed = $admin->put("$all/tin", json => { description => 'without end' }, if_match => $made->etag);
    $changed->is_status(200);
    isnt $changed->etag, $made->etag, 'another etag';
    is_deeply { %{ $changed->json }, etag => undef }, { name => 'tin', description => 'without end', etag => undef }, 'what is left out is gone';
    $admin->put("$all/tin", json => { max_resources => 1 }, if_match => $made->etag)->is_problem(412, 'stale');
    $admin->delete("$all/tin", if_match => $made->etag)->is_problem(412, 'stale');
    $admin->delete("$all/tin", if_match => $changed->etag)->is_status(204);
    $admin->get("$all/tin")->is_problem(404, 'not_found');
    $admin->delete("$all/tin")->is_problem(404, 'not_found');
    $admin->put("$all/tin", json => {}, if_match => '*')->is_problem(412, 'stale');
    my $again = $admin->put("$all/tin", json => { max_resources => 3, description => 'of three' });
    $again->is_status(201);
    isnt $again->etag, $made->etag, 'one that is made again has another etag';
    my $changes = $admin->get('/v2.0/system/changes?order=newest&limit=4')->json->{changes};
    is_deeply [map { [$_->{verb}, $_->{fields}] } @$changes], [(['updated', ['/tiers/tin']]) x 4], 'the change log has each change, and no refusal';
    my $undo = $admin->get("/v2.0/system/changes/$changes->[0]{request_id}/undo")->json;
    like $undo->{blockers}[0]{detail}, qr/a tier was made, changed or deleted/, 'it is not undone';
    $admin->make_tenant('retired');
    $admin->put("$all/brass", json => {})->is_status(201);
    $admin->patch('/v2.0/retired', { tenant => { tier => $_ } }) for 'brass', 'silver';
    my $other = $admin->get('/v2.0/retired/changes?order=newest&limit=1')->json->{changes}[0]{request_id};
    $admin->delete("$all/brass")->is_status(204);
    is_deeply [map { [@$_{qw(reason detail)}] } @{ $admin->get("/v2.0/retired/changes/$other/undo")->json->{blockers} }],
        [['tier', 'the tier that the tenant had was deleted: set another one']], 'nor is the choice of a tier, if the former one is gone';
};

# What there was before schema version 25 keeps its etag, that of its content, until somebody changes it.
subtest 'etags' => sub {
    my $path    = "$all/silver";
    my $tier    = $admin->get($path);
    my ($id)    = $instance->sql_value("SELECT id FROM tiers WHERE name = 'silver'");
    my $content = join ':', $id, 6, 'silver', 10000, 'Up to 10,000 resources';
    is $tier->json->{etag}, 'W/' . join('', map { Digest::SHA::sha256_hex("tier $_:$content") } 0, 1), 'of a tier that nobody has changed';
    my @seen = $tier->etag;
    my $is_new = sub {
        my ($what) = @_;
        my $etag = $admin->get($path)->etag;
        ok !(grep { $_ eq $etag } @seen), "$what: an etag that it never had";
        is $admin->put($path, json => { max_resources => 1 }, if_match => $_)->status, 412, '... and earlier ones are stale' for @seen;
        push @seen, $etag;
        return;
    };
    my %silver = (max_resources => 10000, description => 'Up to 10,000 resources');
    my $put = sub { $admin->put($path, json => { %silver, @_ })->is_status(200); return };
    $put->(max_resources => 5), $is_new->('changed');
    $put->(), $is_new->('changed back');
    # The clock of one server may be behind.
    $instance->sql("UPDATE tiers SET changed_at = '2100-01-01' WHERE name = 'silver'"), $is_new->('from the future');
    $put->(max_resources => 5), $is_new->('changed by a clock that is behind');
    $put->(), $is_new->('and back');
    is $instance->sql_value("SELECT changed_at FROM tiers WHERE name = 'silver'"), '2100-01-01 00:00:00.000002', '... each later than the one before';
    # As programs of the release before do it, which know nothing of the time.
    for my $max (5, 10000) {
        $instance->sql("UPDATE tiers SET max_resources = $max WHERE name = 'silver'");
        $is_new->("by a program of the release before: $max");
    }
    for my $max (5, 5, 10000) {
        my $before = $admin->get($path)->json;
        is +($instance->manage('tier', 'set', 'silver', '--max-resources', $max))[0], 0, "tenure-manage tier set: $max";
        $before->{max_resources} == $max ? is $admin->get($path)->json->{etag}, $before->{etag}, 'what changes nothing keeps the etag' : $is_new->('by tenure-manage');
    }
    is +($instance->manage('tier', 'set', 'silver', '--description', 'x'))[0], 0, 'another description';
    $is_new->('its description');
    is +($instance->manage('tier', 'set', 'silver', '--description', $silver{description}))[0], 0, 'and back';
    $is_new->('its description');
    is +($instance->manage('tier', 'set', 'silver', '--max-resources', 'none'))[0], 0, 'no limit';
    $is_new->('no limit');
    is +($instance->manage('tier', 'set', 'silver', '--max-resources', '10000'))[0], 0, 'and back';
    $is_new->('the limit again');
    my $known = $admin->get($path)->etag;
    $put->();
    is $admin->get($path)->etag, $known, 'PUT of what is there changes nothing';
};

subtest 'names' => sub {
    for my $name ('gold plus', "\x{fc}ber", 'a"b\\c', "it's", '100%') {
        my $path = "$all/" . encoded($name);
        $admin->put($path, json => { max_resources => 9 })->is_status(201, $name);
        is $admin->get($path)->json->{name}, $name, 'it is there';
        is_deeply $admin->get('/v2.0/system/changes?order=newest&limit=1')->json->{changes}[0]{fields}, ["/tiers/$name"], 'the change log has its name';
        $admin->delete($path)->is_status(204);
    }
    $admin->put("$all/" . ('x' x 256), json => {})->is_status(400, 'one that is too long');
    $admin->put("$all/a", json => { name => 'b' })->is_problem(400, 'bad_document');
};

subtest 'refused' => sub {
    for my $document ({ max_resources => -1 }, { max_resources => 1.5 }, { max_resources => '7' }, { max_resources => 9007199254740992 },
        { description => 'x' x 1025 }, { limit => 7 }, { max_resources => undef }, []) {
        $admin->put("$all/bad", json => $document)->is_status(400);
    }
    $admin->put("$all/bad", body => '', headers => { 'Content-Type' => 'application/json' })->is_status(400, 'nothing');
    $admin->put("$all/bad", json => { max_resources => 9007199254740991, description => 'x' x 1024 })->is_status(201, 'the most there can be');
    $admin->put("$all/bad", body => '<tier max_resources="5" description="&lt;b&gt;"/>', headers => { 'Content-Type' => 'application/xml' })->is_status(200, 'as XML');
    is_deeply [@{ $admin->get("$all/bad")->json }{qw(max_resources description)}], [5, '<b>'], 'which said this';
};

subtest 'a tier in use' => sub {
    $admin->put("$all/two", json => { max_resources => 2 })->is_status(201);
    $admin->put('/v2.0/t2', json => { tenant => { tier => 'two' } })->is_status(201);
    my $ann = $instance->service('ann:t2');
    $ann->put("/v2.0/t2/namespaces/default/configmaps/c$_", json => {})->is_status(201) for 1, 2;
    $ann->put('/v2.0/t2/namespaces/default/configmaps/c3', json => {})->is_problem(409, 'over-quota');
    is $admin->get("$all/two")->json->{tenants}, 1, 'its tenant is counted';
    my $refused = $admin->delete("$all/two");
    $refused->is_problem(409, 'conflict');
    like $refused->json->{detail}, qr/tier "two" has 1 tenant, of which/, 'and told of';
    $admin->put("$all/two", json => { max_resources => 1 })->is_status(200, 'a limit below what a tenant has');
    is $ann->get('/v2.0/t2/namespaces/default/configmaps/c2')->status, 200, 'takes nothing away';
    $ann->delete('/v2.0/t2/namespaces/default/configmaps/c2');
    $ann->put('/v2.0/t2/namespaces/default/configmaps/c3', json => {})->is_problem(409, 'over-quota');
    $admin->put("$all/two", json => {})->is_status(200);
    $ann->put('/v2.0/t2/namespaces/default/configmaps/c3', json => {})->is_status(201, 'none any more');
    $admin->delete('/v2.0/t2')->is_status(204);
    $admin->delete("$all/two")->is_problem(409, 'conflict');
    $admin->post('/v2.0/t2/action/recover')->is_status(204);
    $admin->put('/v2.0/t2', json => { tenant => { tier => 'gold' } })->is_status(202);
    $admin->delete("$all/two")->is_status(204, 'without tenants it goes');
    my $default = $admin->delete("$all/standard");
    $default->is_problem(409, 'conflict');
    like $default->json->{detail}, qr/default_tier/, 'nor does what new tenants get';
};

subtest 'no tenant gets a tier that is just deleted' => sub {
    $admin->put("$all/fleeting", json => {})->is_status(201);
    my $session = $instance->sql_locks("DELETE FROM tiers WHERE name = 'fleeting'");
    my $pid = fork // die $!;
    POSIX::_exit($admin->put('/v2.0/t3', json => { tenant => { tier => 'fleeting' } })->status == 400 ? 0 : 1) if $pid == 0;
    ok Tenure::Instance::wait_until(sub { $instance->count_lock_waits }), 'it waits';
    print {$session} "COMMIT;\n";
    close $session;
    waitpid $pid, 0;
    is $?, 0, 'there is no such tier, it is told';
    $admin->get('/v2.0/t3')->is_status(404);
};

subtest 'tenure tier' => sub {
    my $tool = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => 'admin');
    is $tool->ends(0, qw(tier set iron max_resources:=10), 'description=of ten')->{err}, '', 'a new one, without a warning';
    like $tool->ends(0, qw(tier list))->{out}, qr/^iron\s+10\s+of ten$/m, 'listed';
    like $tool->ends(0, qw(tier show iron))->{out}, qr/"?tenants"?:? +0/, 'shown';
    $tool->ends(0, qw(tier set iron max_resources:=20));
    is_deeply [@{ $tool->json(qw(tier show iron)) }{qw(max_resources description)}], [20, 'of ten'], 'what is not named stays';
    my $etag = $admin->get("$all/iron")->etag;
    $admin->put("$all/iron", json => { max_resources => 21 });
    $tool->ends(5, qw(tier set iron max_resources:=22), '--etag', $etag);
    like $tool->ends(5, qw(tier set iron max_resources:=22 --etag new))->{err}, qr/is there already/, 'only a new one';
    is $admin->get("$all/iron")->json->{max_resources}, 21, '... which this is not';
    $tool->ends(5, qw(tier delete iron --yes), '--etag', $etag);
    my ($bob, $eve) = map { Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => 'admin') } 1 .. 2;
    my $old = $tool->json(qw(tier show iron))->{etag};
    $bob->ends(0, qw(tier set iron max_resources:=30), 'description=of thirty');
    my $late = $tool->ends(5, qw(tier set iron max_resources:=31 --etag auto --retry));
    like $late->{err}, qr/^  max_resources  <- both changed it\n    base    21\n    yours   31\n    server  30\n/m, 'two who change it: base is what was shown';
    is $admin->get("$all/iron")->json->{max_resources}, 30, 'nothing is overwritten';
    like $eve->ends(5, qw(tier set iron max_resources:=31 --retry --etag), $old)->{err}, qr/not remembered/, 'who has not seen the base can\'t merge';
    $tool->ends(0, qw(tier show iron));
    $bob->ends(0, qw(tier set iron max_resources:=32));
    $tool->ends(0, qw(tier set iron description=mine --etag auto --retry));
    is_deeply [@{ $admin->get("$all/iron")->json }{qw(max_resources description)}], [32, 'mine'], 'other members are merged';
    $tool->ends(0, qw(tier set iron max_resources:=null), 'description=of ten');
    ok !exists $tool->json(qw(tier show iron))->{max_resources}, 'null removes the limit';
    my $hints = sub { my ($code, @words) = @_; return [ $tool->ends($code, @words)->{err} =~ /^tenure:   (.*)$/mg ] };
    is_deeply $hints->(65, qw(tier set iron max_resources=500 description=7)), ['max_resources=500 sets a string, max_resources:=500 sets a number'],
        'what the command line could have said';
    is_deeply $hints->(65, qw(tier set iron max_resources=many)), ['max_resources=VALUE sets a string, max_resources:=JSON any value, such as 3, true or ["a"]'],
        '... without a value to show';
    is_deeply $hints->(65, qw(tier set iron max_resources:=-1 description=7)), [], 'not where the kind is right';
    is_deeply $hints->(65, qw(tier set iron description:=5 name=iron)), [], 'not where a string is wanted';
    $tool->ends(0, qw(webhook set hook url=https://example.com/ -t t1));
    is_deeply $hints->(65, qw(webhook set hook paused=true -t t1 --no-etag)), ['paused=true sets a string, paused:=true sets true or false'], 'of webhooks';
    $tool->ends(4, qw(tier delete standard --yes --no-etag));
    $tool->ends(0, qw(tier delete iron --yes --no-etag));
    $tool->ends(1, qw(tier show iron));
    $tool->ends(64, qw(tier show a/b));
};

subtest 'at the endpoint of users' => sub {
    my $hint  = qr/^tenure:   this seems to be the service endpoint, of users; the command needs the admin endpoint: --url, or TENURE_URL$/m;
    my %tool  = map { ($_ => Tenure::Tool->new(url => $instance->env("TENURE_\U${_}_URL"), token => 'admin', tenant => 't1')) } qw(service admin);
    my $ann   = Tenure::Tool->new(url => $instance->env('TENURE_SERVICE_URL'), token => 'ann:t1:admin', tenant => 't1');
    my @words = (
        'tenant list', 'tenant show t1', 'tenant set t9 --no-etag', 'tenant delete t1 --yes --no-etag', 'tenant recover t1', 'tier list', 'tier show bronze',
        'tier set lead --no-etag', 'find web', 'changes list --all-tenants', 'usage --all-tenants', 'count --all-tenants', 'webhook list -t all',
        'forward list', 'move list', 'move configmaps/x --to t2 --no-etag', 'move --all t1 --to t2 --no-etag', 'provider list',
    );
    for my $words (@words) {
        like $_->run(split / /, $words)->{err}, $hint, "$words is no command of users" for $tool{service}, $ann;
    }
    for my $words ('configmaps show none', 'move status none', 'webhook show none', 'configmaps list') {
        unlike $ann->run(split / /, $words)->{err}, $hint, "$words is one of theirs";
    }
    unlike $tool{admin}->run(split / /, $_)->{err}, $hint, "$_ at the endpoint of operators" for 'tenant show none', 'tier show none', 'forward revoke x/y',
        'configmaps show none', 'webhook show none -t all';
    my $both = Tenure::Tool->new(url => $instance->env('TENURE_COMBINED_URL'), token => 'ann:t1:admin', tenant => 't1');
    unlike $both->run(split / /, $_)->{err}, $hint, "$_ by a user where operators have it" for 'tenant list', 'tier list', 'webhook list -t all';
};

done_testing;
