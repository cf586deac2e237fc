#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What ends a watch, and what does not: types, rights and tenants that change under it; databases, processes and clients
# that go away.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Copy ();
use File::Temp ();
use Test::More;
use Time::HiRes ();

use Tenure::Definition qw(definition_of);
use Tenure::FakeKeystone;
use Tenure::FastCGI;
use Tenure::Instance;
use Tenure::Watch qw(events name_of told);

my $server   = $ENV{TENURE_WATCH_SERVER} // 'lighttpd';
my $instance = Tenure::Instance->start(combined => 1, workers => 2, auth => 'token', server => $server, watches => 1);
my $admin    = $instance->combined($instance->operator_token);
my $crds     = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
my $cms      = '/api/v1/namespaces/default/configmaps';
my $widgets  = '/apis/example.com/v1/namespaces/default/widgets';

for my $name (qw(acme globex)) {
    $admin->post('/api/v1/tenants', json => { metadata => { name => $name } })->is_status(201, "tenant $name");
}
my %token = map { $_ => $instance->token($_, 'admin') } qw(acme globex);
my $acme  = $instance->combined($token{acme});

sub watch { return Tenure::Watch->new($admin->url, @_, wait => $server eq 'lighttpd' ? 30 : 0.2) }
sub version_of { my ($client, $path) = @_; return $client->get($path)->json->{metadata}{resourceVersion} }

# From a list that is as of all that was written: on a busy machine it may be as of a moment before.
sub from_now {
    my ($path, $tenant, $token) = @_;
    $token //= $token{ $tenant // 'acme' };
    my $client = $instance->combined($token);
    my $newest = $instance->sql_value('SELECT COALESCE(MAX(id), 0) FROM changes');
    my $from;
    Tenure::Instance::wait_until(sub { ($from = version_of($client, $path)) >= $newest });
    return watch($token, "$path?resourceVersion=$from");
}
sub make { my ($name, %more) = @_; return $acme->post($cms, json => { metadata => { name => $name }, %more }) }

sub definition {
    my (%more) = @_;
    my $spec = { type => 'object', properties => { size => { type => 'integer' } } };
    return definition_of('widgets', schema => { type => 'object', properties => { spec => $spec } }, %more);
}
sub widget { my ($name) = @_; return { metadata => { name => $name }, spec => { size => 1 } } }

# ---- the type

subtest 'a definition that is deleted' => sub {
    $acme->post($crds, json => definition())->is_status(201, 'a type');
    $acme->post($widgets, json => widget('one'))->is_status(201, 'an object');
    my $watch = from_now($widgets);
    my $other = from_now($cms);
    $acme->patch("$crds/widgets.example.com", { spec => { versions => [{ name => 'v1', served => JSON::PP::true(),
        storage => JSON::PP::true(), schema => { openAPIV3Schema => { type => 'object', properties => { spec => { type => 'object',
            properties => { size => { type => 'integer' }, colour => { type => 'string' } } } } } } }] } })->is_status(200, 'its schema changes');
    $acme->post($widgets, json => { metadata => { name => 'two' }, spec => { size => 1, colour => 'red' } })->is_status(201, 'an object by it');
    my ($event) = events($watch, 1);
    is name_of($event // {}), 'ADDED two', 'the watch goes on';
    is $event->{object}{spec}{colour}, 'red', 'by the new schema';
    $acme->delete("$crds/widgets.example.com")->is_status(200, 'the type goes');
    is told($watch, 2), 'ERROR Expired', 'and its watch ends, without anything happening to an object';
    ok $watch->{over}, 'really';
    make('goes-on');
    is told($other, 1), 'ADDED goes-on', 'that of another type does not';
};

subtest 'a range that is withdrawn' => sub {
    $admin->post($crds, json => definition(applicableRange => ['*']))->is_status(201, 'a shared type');
    $acme->post($widgets, json => widget('shared'))->is_status(201, 'an object');
    my @watches = (from_now($widgets), from_now($widgets, 'globex'));
    $admin->patch("$crds/widgets.example.com", { spec => { applicableRange => ['none=such'] } })->is_status(200, 'withdrawn');
    is told($_, 2), 'ERROR Expired', 'the watch ends' for @watches;
    is told(watch($token{acme}, $widgets), 1, 0.5), '', 'and none can be begun';
    $admin->patch("$crds/widgets.example.com", { spec => { applicableRange => ['*'] } })->is_status(200, 'back');
};

subtest 'a policy that is switched' => sub {
    $acme->post($crds, json => definition())->is_status(201, 'a type of its own');
    my ($own, $shared) = (from_now($widgets), from_now($widgets, 'globex'));
    $acme->patch('/api/v1/tenants/acme', { spec => { multiTenancyCRDPolicy => 'SystemCRDFirst' } })->is_status(200, 'policy');
    is told($own, 2), 'ERROR Expired', 'another definition answers: the watch ends';
    $instance->combined($token{globex})->post($widgets, json => widget('theirs'));
    is told($shared, 1), 'ADDED theirs', 'where the same does, it goes on';
};

# ---- rights

subtest 'a token that is revoked' => sub {
    my $token = $instance->token('acme', 'reader');
    my ($watch, $other) = (from_now($cms, 'acme', $token), from_now($cms));
    my ($id) = split /\./, $token;
    is +($instance->manage('token', 'revoke', $id))[0], 0, 'revoked';
    my ($event) = events($watch, 1, 40);
    is_deeply [@{ $event // {} }{type}, @{ $event->{object} // {} }{qw(code reason)}], ['ERROR', 401, 'Unauthorized'], 'the watch ends';
    make('unseen');
    is told($watch, 1, 1), '', 'and tells nothing more';
    is told($other, 1), 'ADDED unseen', "another's goes on";
};

# ---- the log

subtest 'history that is reaped' => sub {
    my $watch = from_now($cms);
    my $old = version_of($acme, $cms);
    make('before');
    is told($watch, 1), 'ADDED before', 'a change';
    $instance->sql('DELETE FROM changes');
    is told($watch, 1, 1), '', 'that all changes are reaped is none'; # and it is looked for some ten times
    make('after');
    is told($watch, 1), 'ADDED after', 'who is up to date is not concerned';
    is told(watch($token{acme}, "$cms?resourceVersion=$old"), 2), 'ERROR Expired', 'who is not lists again';
    my $future = version_of($acme, $cms) + 1000;
    is told(watch($token{acme}, "$cms?resourceVersion=$future"), 2), 'ERROR Expired', 'as does who names a version still to come';
};

# ---- what goes away

subtest 'the database' => sub {
    my $watch = from_now($cms);
    make('d1');
    is told($watch, 1), 'ADDED d1', 'before';
    $instance->database('kill');
    is told($watch, 1, 1), '', 'while it is away: nothing';
    ok !$watch->{over}, 'but no end';
    $instance->database('start');
    ok Tenure::Instance::wait_until(sub { make('d2')->status == 201 }), 'it is back';
    make('d3');
    is told($watch, 2, 60), 'ADDED d2, ADDED d3', 'and nothing is lost';
};

sub watch_process {
    my ($of) = @_;
    for my $pid (Tenure::Instance::children_of(($of // $instance)->master_pid('combined'))) {
        return $pid if Tenure::Instance::read_file("/proc/$pid/comm") =~ /\Atenured-watch/;
    }
    return undef;
}

subtest 'the watch process' => sub {
    my $watch = from_now($cms);
    my $from  = version_of($acme, $cms);
    my $pid   = watch_process();
    ok $pid, 'there is one';
    push @{ $instance->{allow} }, qr/ended by signal 9/;
    kill KILL => $pid;
    is told($watch, 1), '', 'killed: the watch ends';
    ok $watch->{over}, 'at once';
    make('meanwhile');
    ok Tenure::Instance::wait_until(sub { (watch_process() // $pid) != $pid }), 'another is begun';
    is told(watch($token{acme}, "$cms?resourceVersion=$from"), 1), 'ADDED meanwhile', 'which goes on from where it was';
};

subtest 'a reload' => sub {
    my $watch = from_now($cms);
    my $pid   = watch_process();
    kill HUP => $instance->master_pid('combined');
    is told($watch, 1), '', 'ends the watch';
    ok $watch->{over}, 'so that its client begins one of the new configuration';
    ok Tenure::Instance::wait_until(sub { (watch_process() // $pid) != $pid }), 'which another process serves';
    my $again = from_now($cms);
    make('reloaded');
    is told($again, 1), 'ADDED reloaded', 'and it does';
};

# The worker is amid the request while the operator takes the calls away: it waits for the rest of the body.
subtest 'a reload that withdraws the watches' => sub {
    my $wadl = File::Temp->newdir('tenure-wadl-XXXXXX', TMPDIR => 1);
    chmod 0755, "$wadl";
    File::Copy::copy($_, "$wadl/") or die "$_: $!" for glob Tenure::Instance::build_dir() . '/build/wadl/*.wadl';
    my $own    = Tenure::Instance->start(workers => 2, server => $server, watches => 1, settings => { 'tenure.wadl_dir' => "$wadl" });
    my $socket = $own->env('TENURE_DB_SOCKET') =~ s{/db/[^/]*\z}{/sockets/service.sock}r;
    $own->admin->make_tenant('acme');
    my $begun = sub {
        my ($query) = @_;
        my $fcgi    = Tenure::FastCGI->connect($socket, timeout => 20);
        my %request = (uri => "/api/v1/configmaps?watch=true$query", body => 'xx', params => [HTTP_X_AUTH_TOKEN => 'ann:acme:admin']);
        $fcgi->send_raw($fcgi->head(%request) . $fcgi->stream(Tenure::FastCGI::FCGI_STDIN, 'x', open => 1));
        return $fcgi;
    };
    my $reload = sub {
        my ($change, $status) = @_;
        my $text = Tenure::Instance::read_file("$wadl/service.wadl");
        $change->() for $text;
        Tenure::Instance::write_file("$wadl/service.wadl", $text);
        kill HUP => $own->master_pid('service');
        ok Tenure::Instance::wait_until(sub { !grep { $own->service('ann:acme')->get('/api/v1')->status != $status } 1 .. 10 }), "reloaded: $status";
        return;
    };
    my $late = $begun->('');
    Time::HiRes::sleep(0.5); # a worker has it, which the reload asks to end
    $reload->(sub { s{<resource path="/" type="tree-spaces\.wadl#all"/>}{<!-- $& -->} or die 'no such line' }, 404);
    $late->send_raw($late->stream(Tenure::FastCGI::FCGI_STDIN, 'x'));
    my $answer = $late->read_response;
    is $answer->{status} // 'nothing', 200, 'a watch that is handed over afterwards gets its end';
    $reload->(sub { s{<!-- (<resource path="/" type="tree-spaces\.wadl#all"/>) -->}{$1} or die 'no such line' }, 200);
    my $watch = $begun->('&timeoutSeconds=4');
    $watch->send_raw($watch->stream(Tenure::FastCGI::FCGI_STDIN, 'x'));
    $own->admin->post('/api/v1/tenants/acme/namespaces/default/configmaps', json => { metadata => { name => 'again' } })->is_status(201, 'an object');
    like $watch->read_response->{body} // '', qr/"name":"again"/, 'with the calls, watches are back';
    $own->stop;
};

sub descriptors { my @open = glob "/proc/$_[0]/fd/*"; return scalar @open }
sub resident_kb { return (Tenure::Instance::read_file("/proc/$_[0]/status") =~ /^VmRSS:\s+(\d+)/m)[0] }
sub is_sanitized { return Tenure::Instance::read_file("/proc/$_[0]/maps") =~ /libasan/ }

subtest 'clients' => sub {
    my $pid   = watch_process();
    my $first = from_now($cms);
    make('c1');
    is told($first, 1), 'ADDED c1', 'one watches';
    my $open = descriptors($pid);
    my @gone = map { from_now($cms) } 1 .. 20;
    # Those of the tests before may be closed meanwhile.
    ok Tenure::Instance::wait_until(sub { descriptors($pid) >= $open + 15 }), 'twenty more have descriptors';
    $_->close_now for @gone;
    make('c2');
    ok Tenure::Instance::wait_until(sub { descriptors($pid) <= $open }, 60), 'who goes away leaves none';
    is told($first, 1), 'ADDED c2', 'the others go on';
};

subtest 'a client that does not read' => sub {
    my $pid  = watch_process();
    my $slow = from_now($cms);
    my $fast = from_now($cms);
    my $size = 500_000;
    my $before = resident_kb($pid);
    my $path = "$cms/large";
    make('large', data => { k => 'x' x $size })->is_status(201, 'large objects');
    my @events = events($fast, 1, 60);
    for (1 .. 60) { # 30 MB
        $acme->patch($path, { data => { n => "$_" } });
        push @events, events($fast, 1, 60);
    }
    is scalar @events, 61, 'who reads is told all of it';
    SKIP: {
        skip 'the sanitizers keep what is freed', 1 if is_sanitized($pid);
        cmp_ok resident_kb($pid) - $before, '<', 15_000, 'and what the other does not take is not piled up';
    }
    # Where the web server holds nothing for it, it may have been ended meanwhile: then it goes on from where it was.
    my @versions = map { $_->{object}{metadata}{resourceVersion} } events($slow, 61, 60);
    my $rest = watch($token{acme}, "$cms?resourceVersion=" . ($versions[-1] // 0));
    push @versions, map { $_->{object}{metadata}{resourceVersion} } events($rest, 61 - @versions, 60) if @versions;
    is scalar @versions, 61, 'which it is told when it reads';
    is_deeply \@versions, [sort { $a <=> $b } @versions], 'in order';
};

subtest 'a tenant that is deleted' => sub {
    my ($theirs, $other) = (from_now($cms, 'globex'), from_now($cms));
    $admin->delete('/api/v1/tenants/globex')->is_status(200, 'deleted');
    is told($theirs, 2), 'ERROR Expired', 'its watches end';
    make('goes-on-still');
    is told($other, 1), 'ADDED goes-on-still', "another's do not";
};

subtest 'the end' => sub {
    my $watch = from_now($cms);
    $instance->stop;
    is told($watch, 1), '', 'the service stops';
    ok $watch->{over}, 'and with it the watch';
};

# An instance that believes Keystone's answers for so many seconds, its operator, an address, and a watch of it by each token: these have no role
# of their own, and yet read what is every tenant's. The token "brief" lives for 20 seconds.
sub watched_by_keystone {
    my ($keystone, $seconds, @tokens) = @_;
    $keystone->token($_, system => 1, roles => [qw(reader auditor)], life => $_ eq 'brief' ? 20 : 3600) for @tokens;
    my $own = Tenure::Instance->start(combined => 1, workers => 2, auth => 'token', server => $server, watches => 1,
        allow => [qr/Keystone: /, qr/answered 503 \(unavailable\)/], settings => {
            'endpoint combined.auth' => 'keystone,token', 'keystone.auth_url' => $keystone->url, 'keystone.username' => 'tenure', 'keystone.password' => 'secret',
            'keystone.token_cache_time' => $seconds, 'keystone.invalid_cache_time' => $seconds, 'keystone.operator_dialects' => 'spaces' });
    my $operator = $own->combined($own->operator_token);
    $operator->post('/api/v1/tenants', json => { metadata => { name => 'acme' } })->is_status(201, 'a tenant');
    my $path    = '/api/v1/tenants/acme/namespaces/default/configmaps';
    my $from    = version_of($operator, $path);
    my %watches = map { $_ => Tenure::Watch->new($operator->url, $_, "$path?resourceVersion=$from", wait => $server eq 'lighttpd' ? 30 : 0.2) } @tokens;
    return ($own, $operator, $path, \%watches);
}

sub ends_unauthorized {
    my ($watch, $name) = @_;
    my ($event) = events($watch, 1, 40);
    return is_deeply [@{ $event // {} }{type}, @{ $event->{object} // {} }{qw(code reason)}], ['ERROR', 401, 'Unauthorized'], $name;
}

subtest 'a right to read everything that is taken away' => sub {
    my $keystone = Tenure::FakeKeystone->start;
    my ($own, $operator, $path, $watches) = watched_by_keystone($keystone, 1, qw(stays goes));
    $keystone->token('goes', system => 1, roles => ['auditor']);
    ends_unauthorized($watches->{goes}, 'the watch ends');
    $operator->post($path, json => { metadata => { name => 'seen' } })->is_status(201, 'a change');
    is told($watches->{stays}, 1), 'ADDED seen', "another's goes on";
    $own->stop;
};

subtest 'a token that expires while Keystone is away' => sub {
    my $keystone = Tenure::FakeKeystone->start;
    my ($own, $operator, $path, $watches) = watched_by_keystone($keystone, 1, qw(stays brief));
    $keystone->stop;
    ends_unauthorized($watches->{brief}, 'the watch ends');
    $operator->post($path, json => { metadata => { name => 'seen' } })->is_status(201, 'a change');
    is told($watches->{stays}, 1), 'ADDED seen', "another's goes on";
    $own->stop;
};

subtest 'tokens of a Keystone that is asked for every request' => sub {
    my $keystone = Tenure::FakeKeystone->start;
    my ($own, $operator, $path, $watches) = watched_by_keystone($keystone, 0, qw(stays demoted revoked more still-more));
    my $again = sub { my ($line, $n) = @_; return Tenure::Instance::wait_until(sub { $keystone->count($line) >= $n }) };
    ok $again->("validate $_", 4), "the watch process asks again and again: $_" for sort keys %$watches;
    $keystone->token('demoted', system => 1, roles => ['auditor']);
    $keystone->revoke('revoked');
    ends_unauthorized($watches->{demoted}, 'a right that is taken away ends the watch');
    ends_unauthorized($watches->{revoked}, 'so does a revoked token');
    $keystone->forget_log;
    ok $again->('validate stays', 4), 'it goes on asking about another';
    is $keystone->count('login'), 0, '... under the token that it has';

    $keystone->mode('closed');
    $keystone->revoke_own;
    $keystone->forget_log;
    my $began = Time::HiRes::time();
    ok $again->('wrong login', 1), 'it logs in again when that was revoked';
    Time::HiRes::sleep(4);
    is $own->combined('unknown')->get($path)->status, 503, '... while workers need to, as well';
    my ($logins, $took) = ($keystone->count('wrong login'), Time::HiRes::time() - $began);
    cmp_ok $logins, '<=', 2 + int($took / 5), '... and a login that is refused is rarely tried again, by the whole host';
    $keystone->mode('ok');
    $keystone->forget_log;
    ok $again->('validate stays', 2), 'once it succeeds, tokens are validated again';
    $operator->post($path, json => { metadata => { name => 'seen' } })->is_status(201, 'a change');
    is told($watches->{stays}, 1), 'ADDED seen', 'and the watch has gone on';
    $own->stop;
};

subtest 'a database that hangs' => sub {
    my $own = Tenure::Instance->start(combined => 1, workers => 2, auth => 'token', server => $server, watches => 1,
        allow => [qr/answered 503 \(unavailable\)/], settings => { 'database.connect_timeout' => 1, 'database.read_timeout' => 1 });
    my $operator = $own->combined($own->operator_token);
    $operator->post('/api/v1/tenants', json => { metadata => { name => 'acme' } })->is_status(201, 'a tenant');
    my @tokens  = map { $own->token('acme', 'admin') } 1 .. 40;
    my $from    = version_of($own->combined($tokens[0]), $cms);
    my $path    = "$cms?allowWatchBookmarks=true&resourceVersion=$from";
    my @watches = map { Tenure::Watch->new($operator->url, $_, $path, wait => $server eq 'lighttpd' ? 30 : 0.2) } @tokens;
    my $folder  = $own->env('TENURE_DB_SOCKET') =~ s{/[^/]*\z}{}r;
    my ($database, $pid) = (Tenure::Instance::read_file("$folder/mysql.pid") =~ /(\d+)/, watch_process($own));
    kill STOP => $database;
    Time::HiRes::sleep(4); # all tokens are to be checked now, and each would wait for the database
    kill TERM => $pid;
    my $until = Time::HiRes::time() + 20;
    for my $watch (@watches) {
        my $left = $until - Time::HiRes::time();
        told($watch, 2, $left > 0 ? $left : 0);
    }
    is scalar(grep { !$_->{over} } @watches), 0, 'the process sees that it is to end, and ends all watches';
    kill CONT => $database;
    ok Tenure::Instance::wait_until(sub { (watch_process($own) // $pid) != $pid }), 'another one begins';
    $own->stop;
};

done_testing;
