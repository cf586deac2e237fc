#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Tokens of OpenStack's Identity service, validated by a double of it that can do wrong: who gets what, how often it is asked, and what
# happens while it is away.
use strict;
use warnings;

use File::Basename ();
use lib File::Basename::dirname(__FILE__) . '/lib';

use Test::More;

use Tenure::Client;
use Tenure::FakeKeystone;
use Tenure::Instance;

my $keystone = Tenure::FakeKeystone->start;
my %settings = (
    'endpoint combined.auth'      => 'keystone,token',
    'endpoint placement.auth'     => 'keystone,token',
    'keystone.auth_url'           => $keystone->url,
    'keystone.www_authenticate_uri' => 'https://id.example.org/v3',
    'keystone.username'           => 'tenure',
    'keystone.password'           => 'secret',
    'keystone.timeout'            => 6,
    'keystone.token_cache_time'   => 600,
    'keystone.invalid_cache_time' => 2,
    'keystone.create_tenants'     => 'yes',
    'keystone.operator_projects'  => 'f' x 32,
);
my $instance = Tenure::Instance->start(auth => 'token', workers => 3, combined => 1, placement => 1, settings => \%settings,
    allow => [qr/Keystone: /, qr/is not there and can't be created/, qr/answered 503 \(unavailable\)/]);
my ($red, $blue, $ops) = ('a' x 32, 'b' x 32, 'f' x 32);
my %url = (combined => $instance->env('TENURE_COMBINED_URL'), placement => $instance->env('TENURE_PLACEMENT_URL'));

sub ask {
    my ($token, $path, %option) = @_;
    my $client = Tenure::Client->new(url => $url{ $option{at} // 'combined' });
    return $client->get($path, headers => { (defined $token ? ('X-Auth-Token' => $token) : ()), %{ $option{headers} // {} } });
}
sub ask_status { return ask(@_)->status }

$keystone->token("$_->[0]", project => $_->[1], project_name => $_->[2], user => "id-$_->[0]", roles => $_->[3]) for
    [ 'red-admin',  $red,  'red',  [qw(admin member reader)] ],
    [ 'red-member', $red,  'red',  [qw(member reader)] ],
    [ 'red-reader', $red,  'red',  ['reader'] ],
    [ 'blue-admin', $blue, 'blue', [qw(admin member reader)] ],
    [ 'ops-admin',  $ops,  'ops',  [qw(admin member reader)] ],
    [ 'red-odd',    $red,  'red',  ['Admin'] ],
    [ 'ops-odd',    $ops,  'ops',  ['ADMIN'] ],
    [ 'red-service', $red, 'red',  ['service'] ],
    [ 'service',    'e' x 32, 'service', [qw(service reader)] ];
$keystone->token('false-service', project => 'd' x 32, project_name => 'service', project_domain => 'elsewhere', roles => ['service']);
$keystone->token('system-admin', system => 1, roles => [qw(admin member reader)]);
$keystone->token('system-reader', system => 1, roles => ['reader']);
$keystone->token('system-odd', system => 1, roles => ['Reader']);
$keystone->token('system-service', system => 1, roles => ['service']);
$keystone->token('unscoped');

subtest 'who gets what' => sub {
    my $client = Tenure::Client->new(url => $url{combined});
    my $as = sub { return (headers => { 'X-Auth-Token' => $_[0] }) };
    my $map = "/api/v1/namespaces/default/configmaps";
    is $client->put("/v2.0/$red/persistentvolumes/v1", json => { n => 1 }, $as->('red-admin'))->status, 201, 'an admin writes to the tenant of his project';
    is $client->put("/v2.0/$red/persistentvolumes/v2", json => { n => 1 }, $as->('red-member'))->status, 201, 'a member, too';
    is $client->put("/v2.0/$red/persistentvolumes/v3", json => { n => 1 }, $as->('red-reader'))->status, 403, 'a reader may not';
    is $client->put("/v2.0/$red/persistentvolumes/v3", json => { n => 1 }, $as->('red-odd'))->status, 201, 'a role is the same in another case, as for Keystone';
    is ask_status('red-reader', "/v2.0/$red/persistentvolumes/v1"), 200, 'a reader reads';
    is ask_status('blue-admin', "/v2.0/$red/persistentvolumes/v1"), 404, 'another project\'s admin finds nothing';
    is ask_status('blue-admin', "/v2.0/$blue/persistentvolumes"), 200, 'his own tenant was created';
    is ask_status('red-admin', '/v2.0'), 403, 'a project\'s admin is no operator of the tenants';
    is ask_status($_, '/v2.0'), 200, "$_ is" for qw(system-admin ops-admin ops-odd);
    is ask_status('system-reader', "/v2.0/$red/persistentvolumes/v1"), 404, 'a reader of the system is not, and reads no tenant';
    is ask_status('unscoped', "/v2.0/$red/persistentvolumes/v1"), 404, 'nor does one without a project';
    is ask('system-admin', "/v2.0/$red")->json->{tenant}{metadata}{name}, 'red', 'the tenant has the project\'s name as metadata';
    is ask_status('red-admin', '/resource_providers', at => 'placement'), 200, 'in placement a project\'s admin is an operator';
    is ask_status('red-odd', '/resource_providers', at => 'placement'), 200, '... in whichever case';
    is ask_status($_, '/resource_providers', at => 'placement'), 200, "a reader of the system reads there: $_" for qw(system-reader system-odd);
    is ask_status('red-member', '/resource_providers', at => 'placement'), 403, 'a member is none';
    is ask_status($_, '/resource_providers', at => 'placement'), 200, "in placement the role service of any project is one, too: $_" for
        qw(red-service service false-service);
    my $node = $client->post('/baremetal/v1/nodes', json => { driver => 'fake-hardware' }, $as->('service'));
    is $node->status, 201, 'in bare metal that of the project service is an operator: makes a node';
    my $of_node = '/baremetal/v1/nodes/' . $node->json->{uuid};
    is ask_status('service', $of_node), 200, '... and sees it';
    for my $token (qw(red-service false-service)) {
        is ask_status($token, $of_node), 404, "$token, of another project, does not";
        is $client->post('/baremetal/v1/chassis', json => {}, $as->($token))->status, 403, '... and makes no chassis';
        is ask_status($token, '/baremetal/v1/nodes'), 200, '... but lists the nodes of its own project';
    }
    my $chassis = $client->post('/baremetal/v1/chassis', json => {}, $as->('system-service'));
    is $chassis->status, 201, 'the role service on the system is an operator, too: makes a chassis';
    is ask_status('system-service', $of_node), 200, '... and sees the node';
    is ask_status('system-service', '/resource_providers', at => 'placement'), 200, '... and in placement';
    is ask_status('system-service', '/v2.0'), 403, '... but not of the tenants';
    my $of_chassis = '/baremetal/v1/chassis/' . $chassis->json->{uuid};
    is ask_status('system-reader', $_), 200, "a reader of the system sees $_" for $of_node, $of_chassis;
    for my $kind ([ nodes => $node ], [ chassis => $chassis ]) {
        my ($list, $made) = @$kind;
        is_deeply [map { $_->{uuid} } @{ ask('system-reader', "/baremetal/v1/$list")->json->{$list} }], [ $made->json->{uuid} ], "... and finds it among the $list";
        is $client->request($_, "/baremetal/v1/$list/" . $made->json->{uuid}, $_ eq 'PATCH' ? (json => []) : (), $as->('system-reader'))->status, 403, "... but no $_"
            for qw(PATCH DELETE);
    }
    is $client->post('/baremetal/v1/nodes', json => { driver => 'fake-hardware' }, $as->('system-reader'))->status, 403, '... and makes none';
    is ask_status('red-service', "/v2.0/$red/persistentvolumes"), 403, 'in tenancy the role service gives nothing';
    is ask_status($instance->env('TENURE_OPERATOR_TOKEN'), '/v2.0'), 200, 'behind it the tokens of tenure-manage work';
};

subtest 'a tenant that can\'t be made yet' => sub {
    my $new = '9' x 32;
    $keystone->token('new', project => $new, project_name => 'new', roles => ['member']);
    $instance->sql("UPDATE tiers SET name = 'missing' WHERE name = 'standard'");
    is ask_status('new', "/v2.0/$new/persistentvolumes"), 404, 'default_tier is missing: no tenant' for 1 .. 9;
    like $instance->log_text('combined'), qr/tenant $new is not there and can't be created: there is no tier "standard"/, 'the log says why';
    $instance->sql("UPDATE tiers SET name = 'standard' WHERE name = 'missing'");
    is ask_status('new', "/v2.0/$new/persistentvolumes"), 200, 'it is made once that is there' for 1 .. 9;
};

subtest 'refusals' => sub {
    for my $case ([ 'unknown', 'nobody-has-this' ], [ 'no form', 'x y' ], [ 'too long', 'x' x 9000 ]) {
        my $answer = ask($case->[1], "/v2.0/$red/persistentvolumes", at => 'combined');
        is $answer->status, 401, "$case->[0]: refused";
        is $answer->header('WWW-Authenticate'), 'Keystone uri="https://id.example.org/v3"', '... with Keystone\'s address';
    }
    is ask(undef, "/v2.0/$red/persistentvolumes")->header('WWW-Authenticate'), 'Keystone uri="https://id.example.org/v3"', 'without a token, too';
    $keystone->token('hostile', project => 'system', roles => ['admin']);
    is ask_status('hostile', '/v2.0/system/persistentvolumes'), 403, 'a project with a reserved name is no tenant';
    $keystone->token('old', project => $red, roles => ['member'], life => -5);
    is ask_status('old', "/v2.0/$red/persistentvolumes"), 401, 'an expired token';
};

subtest 'asked once' => sub {
    $keystone->mode('slow');
    $keystone->token('shared', project => $red, roles => ['member']);
    $keystone->forget_log;
    my @pids = map {
        my $pid = fork // die "fork: $!";
        if (!$pid) { my $ok = ask_status('shared', "/v2.0/$red/persistentvolumes/v1") == 200; require POSIX; POSIX::_exit($ok ? 0 : 1) }
        $pid;
    } 1 .. 2;
    my $failed = 0;
    for (@pids) { waitpid $_, 0; $failed++ if $? }
    is $failed, 0, 'two requests at the same time are answered';
    $keystone->mode('ok');
    is ask_status('shared', "/v2.0/$red/persistentvolumes/v1"), 200, 'and others after them' for 1 .. 6;
    is ask_status('shared', '/resource_providers', at => 'placement'), 403, 'at another endpoint as well';
    is $keystone->count('validate shared'), 1, 'Keystone validated the token once';
    is ask_status('wrong-one', "/v2.0/$red/persistentvolumes"), 401, 'a wrong token' for 1 .. 3;
    cmp_ok $keystone->count('validate wrong-one'), '<=', 2, '... is not asked about each time';
};

subtest 'many roles, many rules, large answers' => sub {
    my $path = "/v2.0/$red/persistentvolumes/v1";
    my @roles = map { sprintf 'load-balancer-%03d-of-the-region_%s', $_, 'x' x 20 } 1 .. 59;
    my @long  = map { sprintf '%03d', $_ } 1 .. 59;
    my %rules = map { $_ => { service => 'tenancy', method => 'GET', path => "/v2.0/*/persistentvolumes/w$_" } } 1 .. 99;
    my @catalog = map { { type => "type$_", name => "name$_", endpoints => [ map { { url => 'https://example.org/' . 'u' x 80, interface => $_ } }
        qw(public internal admin) ] } } 1 .. 200;
    $keystone->token('roles-60',    project => $red, roles => [ @roles, 'member' ]);
    $keystone->token('roles-long',  project => $red, roles => [ (map { $_ . 'y' x 252 } @long), 'member' ]);
    $keystone->token('rules-100',   project => $red, roles => ['member'],
        rules => [ values %rules, { service => 'tenancy', method => 'GET', path => '/v2.0/*/persistentvolumes/v1' } ]);
    $keystone->token('catalogue',   project => $red, roles => ['member'], catalog => \@catalog);
    for my $token (qw(roles-60 roles-long rules-100 catalogue)) {
        $keystone->forget_log;
        is ask_status($token, $path), 200, "$token: the last of them counts" for 1 .. 5;
        is $keystone->count("validate $token"), 1, '... and Keystone is asked once';
    }
    is $keystone->count('catalogue asked for'), 0, 'nobody asks for the catalogue';
    $keystone->token('roles-60', project => $red, roles => ['reader']);
    is ask_status('roles-60', $path), 200, 'roles taken away count as long as they are cached';
};

subtest 'the service user\'s token' => sub {
    $keystone->revoke_own;
    $keystone->token('after', project => $red, roles => ['member']);
    is ask_status('after', "/v2.0/$red/persistentvolumes/v1"), 200, 'renewed when Keystone revoked it';

    $keystone->token($_, project => $red, roles => ['member']) for map { "ahead-$_" } 1 .. 9;
    $keystone->own_life(-60);
    $keystone->revoke_own;
    $keystone->forget_log;
    is ask_status("ahead-$_", "/v2.0/$red/persistentvolumes/v1"), 503, 'where the clock is ahead by more than a token lives: unavailable' for 1 .. 8;
    cmp_ok $keystone->count('login'), '<=', 2, '... and Keystone is spared the logins';
    like $instance->log_text('combined'), qr/Keystone: login: the new token expired \d+ s ago: is this host's clock ahead of Keystone's\?/, '... and the log says why';
    $keystone->own_life(3600);
    ok Tenure::Instance::wait_until(sub { ask_status('ahead-9', "/v2.0/$red/persistentvolumes/v1") == 200 }), '... until the clock is right';
};

subtest 'service tokens' => sub {
    $keystone->token('late', project => $red, roles => ['member'], life => 1);
    sleep 2;
    $keystone->token('nova', project => $ops, roles => ['service']);
    my $path = "/v2.0/$red/persistentvolumes/v1";
    is ask_status('late', $path), 401, 'an expired token alone';
    is ask_status('late', $path, headers => { 'X-Service-Token' => 'nova' }), 200, 'with a service token it is good';
    is ask_status('late', $path), 401, '... and alone still not';
    is ask_status('late', $path, headers => { 'X-Service-Token' => 'red-member' }), 401, 'the service token needs the role';
    is ask_status('red-member', $path, headers => { 'X-Service-Token' => 'bogus' }), 401, 'a wrong service token refuses the request';
};

subtest 'access rules' => sub {
    $keystone->token('ruled', project => $red, roles => ['member'], rules => [
        { service => 'tenancy', method => 'GET', path => '/v2.0/*/persistentvolumes/{name}' }, { service => 'tenancy', method => 'GET', path => '/v1.0/**' } ]);
    is ask_status('ruled', "/v2.0/$red/persistentvolumes/v1"), 200, 'a path that a rule names';
    is ask_status('ruled', "/v2.0/$red/persistentvolumes"), 401, 'one that none names';
    is ask_status('ruled', "/v1.0/$red/persistentvolumes/v1"), 200, 'anything below';
    is ask_status('ruled', '/resource_providers', at => 'placement'), 401, 'another service';
    my $put = Tenure::Client->new(url => $url{combined})->put("/v2.0/$red/persistentvolumes/v1", json => {}, headers => { 'X-Auth-Token' => 'ruled' });
    is $put->status, 401, 'another method';
    my $beside = sub { return ask_status('ruled', "/v2.0/$red/persistentvolumes", headers => { 'X-Service-Token' => $_[0] }) };
    is $beside->('nova'), 200, 'a service goes on with what the user has begun';
    is $beside->($_), 401, "a token that is no service's is no way around the rules: $_" for qw(red-admin ruled system-admin);
    for my $odd ("/v2.0/$red/persistentvolumes/v1/", "//v2.0/$red/persistentvolumes/v1", "/v2.0/$red/./persistentvolumes/v1", "/v2.0/$red/x/../persistentvolumes",
        "/v1.0/../v2.0/$red/persistentvolumes", "/v1.0%2f..%2fv2.0/$red/persistentvolumes", "/v2.0/$red/persistentvolumes?x=/v1.0/") {
        isnt ask_status('ruled', $odd), 200, "nor is $odd";
    }
};

subtest 'what was lent for a time' => sub {
    my $client = Tenure::Client->new(url => $url{combined});
    my %is = (own => {}, unrestricted => { credential => 'unrestricted' }, restricted => { credential => 'restricted' }, trusted => { trust => 1 });
    for my $token (sort keys %is) {
        $keystone->token($token, project => $red, roles => [qw(admin member reader)], %{ $is{$token} });
        my $lent = $token =~ /\A(?:restricted|trusted)\z/;
        my $as   = sub { my ($method, $path, @more) = @_; return $client->$method("/v2.0/$red/$path", headers => { 'X-Auth-Token' => $token }, @more) };
        for my $round ('asked', 'cached') {
            is $as->(put => 'persistentvolumes/lent', json => { n => $round })->status =~ s/201/200/r, 200, "$token, $round: writes to the tenant";
            is $as->(post => 'tokens', json => { token => { user => 'x', role => 'admin' } })->status, $lent ? 403 : 201, '... a token that outlives it';
            is $as->(put => 'webhooks/hook', json => { url => 'https://example.org/tenure' })->status =~ s/201/200/r, $lent ? 403 : 200, '... a webhook';
            is $as->(post => 'webhooks/hook/action/rotate')->status, $lent ? 403 : 200, '... its secret';
        }
    }
    my $answer = $client->post("/v2.0/$red/tokens", headers => { 'X-Auth-Token' => 'trusted' }, json => { token => { user => 'x' } });
    like $answer->json->{detail}, qr/would outlive your credential/, 'and why';
    is $client->delete("/v2.0/$red/webhooks/hook", headers => { 'X-Auth-Token' => 'trusted' })->status, 204, 'to end one is free';
};

subtest 'hostile answers' => sub {
    my $n = 0;
    for my $mode (qw(error badrequest forbidden huge cut deep text redirect strange)) {
        $keystone->mode($mode);
        $n++;
        $keystone->token("h$n", project => $red, roles => ['member']);
        my $answer = ask("h$n", "/v2.0/$red/persistentvolumes/v1");
        is $answer->status, 503, "$mode: unavailable";
        is ask_status('red-member', "/v2.0/$red/persistentvolumes/v1"), 200, '... and a cached token goes on';
        $keystone->mode('ok');
        ok Tenure::Instance::wait_until(sub { ask_status("h$n", "/v2.0/$red/persistentvolumes/v1") == 200 }), '... until it is well';
    }
    like $instance->log_text('combined'), qr/Keystone: validation: /, 'the log says so';
};

subtest 'away' => sub {
    my $path = "/v2.0/$red/persistentvolumes/v1";
    $keystone->token('fresh', project => $red, roles => ['member']);
    $keystone->stop;
    my $answer = ask('fresh', $path);
    is $answer->status, 503, 'refused connections: unavailable';
    is $answer->header('WWW-Authenticate'), undef, '... without a challenge, so that clients don\'t log in again';
    is ask_status('red-member', $path), 200, 'a cached token goes on';
    $keystone->listen;
    ok Tenure::Instance::wait_until(sub { ask_status('fresh', $path) == 200 }), 'it is back';

    $keystone->token('stuck', project => $red, roles => ['member']);
    $keystone->freeze;
    is ask_status('stuck', $path), 503, 'a Keystone that hangs: unavailable';
    is ask_status('stuck', $path), 503, 'and again' for 1 .. 5;
    is ask_status('red-member', $path), 200, 'a cached token goes on';
    $keystone->thaw;
    ok Tenure::Instance::wait_until(sub { ask_status('stuck', $path) == 200 }, 90), 'it is back';
};

subtest 'asked again' => sub {
    my $path = "/v2.0/$red/persistentvolumes/v1";
    $keystone->token('again', project => $red, roles => ['member']);
    $keystone->mode('hang');
    $keystone->forget_log;
    is ask_status('again', $path), 503, 'a Keystone that hangs: unavailable';
    my ($asked, $bad) = (0, 0);
    ok Tenure::Instance::wait_until(sub {
        $asked++;
        $bad++ if ask_status('again', $path) != 503;
        return $keystone->count('validate again') >= 3;
    }, 90), 'after a while it is asked again';
    is $bad, 0, 'nothing else than 503 meanwhile';
    cmp_ok $asked, '>', 5 * $keystone->count('validate again'), '... and most of them without Keystone';
    $keystone->mode('lame');
    ok Tenure::Instance::wait_until(sub { ask_status('again', $path) == 200 }, 90), 'a Keystone that needs more than a second is taken for well';
    $keystone->token('more', project => $red, roles => ['member']);
    is ask_status('more', $path), 200, '... and asked';
    $keystone->mode('ok');
};

subtest 'one token that hangs' => sub {
    my $path = "/v2.0/$red/persistentvolumes/v1";
    for my $round (1, 2) {
        $keystone->token("beside-$round-$_", project => $red, roles => ['member']) for 1, 2;
        my $pid = fork // die "fork: $!";
        if (!$pid) { my $ok = ask_status("hanging-$round", $path) == 503; require POSIX; POSIX::_exit($ok ? 0 : 1) }
        ok Tenure::Instance::wait_until(sub { $keystone->count("validate hanging-$round") }), 'a token for which Keystone hangs';
        is ask_status("beside-$round-1", $path), 200, '... meanwhile Keystone is asked about another one';
        waitpid $pid, 0;
        is $?, 0, '... it is answered 503';
        is ask_status("beside-$round-2", $path), 200, '... and others are asked about at once';
    }
};

subtest 'a tenant that is gone' => sub {
    my $path = "/v2.0/$red/persistentvolumes";
    my $all_are = sub { return join ' ', map { ask_status('red-member', $path) } 1 .. 9 };
    is $all_are->(), join(' ', (200) x 9), 'it is there';
    is(($instance->manage('db', 'reset', '--yes'))[0], 0, 'db reset, while workers run');
    is $all_are->(), join(' ', (200) x 9), '... which make it anew';
    is ask('system-admin', "/v2.0/$red")->json->{tenant}{metadata}{name}, 'red', '... as they made it first';
    my $client = Tenure::Client->new(url => $url{combined});
    is $client->delete("/v2.0/$red", headers => { 'X-Auth-Token' => 'system-admin' })->status, 204, 'deleted';
    is $all_are->(), join(' ', (410) x 9), 'it stays so';
    $instance->sql("UPDATE tenants SET purge_at = deleted_at WHERE name = '$red'");
    is(($instance->manage('reap'))[0], 0, 'until it is purged');
    is $all_are->(), join(' ', (200) x 9), 'then it is made by the next use';
};

subtest 'answers that are not cached' => sub {
    my %uncached = (%settings, 'keystone.token_cache_time' => 0, 'keystone.invalid_cache_time' => 0, 'keystone.timeout' => 10);
    delete $uncached{'endpoint placement.auth'};
    my $other  = Tenure::Instance->start(auth => 'token', workers => 2, combined => 1, settings => \%uncached,
        allow => [qr/Keystone: /, qr/answered 503 \(unavailable\)/]);
    my $client = Tenure::Client->new(url => $other->env('TENURE_COMBINED_URL'));
    my $status = sub { $client->get("/v2.0/$red/persistentvolumes", headers => { 'X-Auth-Token' => @_ })->status };
    is $status->('red-member'), 200, 'a token is validated';
    $keystone->mode('late');
    is $status->('red-member'), 200, 'by a Keystone that takes more than half of the time-out, too';
    is $status->('red-member', 'X-Service-Token' => 'nova'), 503, 'two tokens would take it more than all: unavailable';
    is $status->('red-member'), 200, '... and yet it is asked about others';
    $keystone->mode('ok');
    is $status->('red-member', 'X-Service-Token' => 'nova'), 200, 'two tokens are validated when it is quick';
    $keystone->token('expires', project => $red, roles => ['member'], life => 3);
    is $status->('expires'), 200, 'a token that expires soon';
    $keystone->stop;
    ok Tenure::Instance::wait_until(sub { $status->('expires') == 401 }), 'is known to have expired, even while Keystone is away';
    is $status->('red-member'), 503, '... which can say nothing of the others';
    $keystone->listen;
    ok Tenure::Instance::wait_until(sub { $status->('red-member') == 200 }), 'it is back';
    for my $case ([ 'red-member', 200, 'good' ], [ 'nobody-has-this', 401, 'wrong' ]) {
        my ($token, $wanted, $name) = @$case;
        my $first;
        # It waits for 0.7 s at most. Where the double took longer, because the machine is busy, the same is done again.
        for my $round (1 .. 5) {
            $keystone->stop;
            is $status->($token), 503, 'refused connections: unavailable';
            $keystone->listen;
            sleep 2; # nobody asks for a second
            $first = $status->($token);
            last if $first == $wanted;
            ok Tenure::Instance::wait_until(sub { $status->($token) == $wanted }, 90), 'it is well';
        }
        is $first, $wanted, "the first request afterwards, with a $name token, is answered";
    }
    $other->stop;
};

done_testing();
