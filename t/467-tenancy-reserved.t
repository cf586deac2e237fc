#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The names "all" and "system" mean every tenant and the operator's own space. No tenant comes into being with such a name, in any
# dialect, and nobody gets anything by bearing one. Any other word of an address is a name like others where a name stands.
use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/lib";

use Encode ();
use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Metal;
use Tenure::Placement;

my $instance = Tenure::Instance->start(auth => 'token', combined => 1, placement => 1);
my $admin    = $instance->combined($instance->operator_token);
my $metal    = Tenure::Metal->new($admin, '1.82');
my @reserved = ('all', 'system');

sub config_map { my ($name, %data) = @_; return { metadata => { name => $name }, data => \%data } }

# A tenant as versions before this one made them, with a token: it was called otherwise until now.
sub rename_tenant {
    my ($from, $to) = @_;
    $instance->sql("UPDATE tenants SET name = '$to' WHERE name = '$from'");
    return;
}

$admin->make_tenant($_) for 'acme', 'was-all', 'was-system';
my %token = map { $_ => $instance->token("was-$_", 'admin') } @reserved;
my $acme = $instance->combined($instance->token('acme', 'admin'));
$acme->post('/api/v1/namespaces/default/secrets', json => { metadata => { name => 's' }, stringData => { a => 's3cret' } })->is_status(201);
$admin->post('/api/v1/namespaces/default/secrets', json => { metadata => { name => 's' }, stringData => { a => 's3cret' } })->is_status(201);
$admin->make('/v2.0/was-all/persistentvolumes/left', { a => 'b' });
my $position = $admin->get('/api/v1/tenants/all/secrets')->json->{metadata}{resourceVersion};
rename_tenant('was-all', 'all');

subtest 'a user of a tenant of such a name' => sub {
    # What stands in the database as the system tenant is the system tenant: its tokens are renamed, not it.
    $instance->sql("UPDATE tokens SET tenant_id = (SELECT id FROM tenants WHERE name = 'system') WHERE tenant_id = "
        . "(SELECT id FROM tenants WHERE name = 'was-system')");
    for my $name (@reserved) {
        my $mallory = $instance->combined($token{$name});
        for my $path ((map { ("/api/v1/tenants/$_/secrets", "/api/v1/tenants/$_/namespaces/default/secrets/s", "/api/v1/tenants/$_/namespaces",
                "/apis/baremetal.openstack.org/v1/tenants/$_/nodes", "/apis/apiextensions.k8s.io/v1/tenants/$_/customresourcedefinitions",
                "/spaces/$_/types", "/v2.0/$_", "/v2.0/$_/persistentvolumes", "/v2.0/$_/changes", "/v2.0/$_/namespaces/default/secrets/s",
                "/api/v1/tenants/$_/secrets?watch=true&timeoutSeconds=1&resourceVersion=$position") } @reserved),
            '/api/v1/secrets', '/api/v1/namespaces', '/api/v1/tenants', "/api/v1/tenants/$name", '/baremetal/v1/nodes', '/baremetal/v1/ports',
            "/api/v1/secrets?watch=true&timeoutSeconds=1&resourceVersion=$position", '/placement/traits?associated=true', '/api', '/apis') {
            my $answer = $mallory->get($path, headers => { 'OpenStack-API-Version' => 'placement 1.39' });
            is $answer->status, 403, "$name: GET $path";
            like $answer->text, qr/\\*"$name\\*" is a reserved word/, 'says why';
            unlike $answer->text, qr/s3cret|czNjcmV0|acme/, 'and nothing else';
        }
        is $mallory->post('/api/v1/namespaces/default/configmaps', json => config_map('c'))->status, 403, "$name: nothing is written";
        is $mallory->put("/v2.0/$name/persistentvolumes/p", json => {})->status, 403, 'there, either';
        is $mallory->patch("/api/v1/tenants/$name", { spec => { multiTenancyCRDPolicy => 'SystemCRDFirst' } })->status, 403, 'nor decided';
    }
};

subtest 'what is left of such a tenant' => sub {
    my $answer = $admin->get('/v2.0/all');
    $answer->is_status(200, 'the operator reads it');
    is $answer->json->{tenant}{id}, 'all', 'by its name: only in spaces that word has a meaning';
    is_deeply [map { $_->{metadata}{name} } @{ $admin->get('/v2.0/all/persistentvolumes')->json->{resources} }], ['left'], 'and what it has';
    my ($code, $told) = $instance->manage('doctor');
    is $code, 1, 'doctor finds it';
    like $told, qr/^no tenant has a reserved name +1 +0 +tenant all$/m, 'and names it';
    like $told, qr/^no token is of a tenant of a reserved name +2 +0 +token \w+ of (?:all|system)$/m, 'and its tokens';
    $admin->put('/v2.0/all', json => { tenant => {} })->is_problem(400, undef, 'it is not to be made more of');
    $admin->put('/v2.0/acme/persistentvolumes/p', json => {})->is_status(201);
    $admin->post('/v2.0/acme/persistentvolumes/p/action/move?dest=all')->is_problem(400, undef, 'nothing moves there');
    $admin->post('/v2.0/all/action/move?dest=acme')->is_status(303, 'what it has moves away');
    $admin->get('/v2.0/acme/persistentvolumes/left')->is_status(200, 'to another');
    $admin->delete('/v2.0/all')->is_status(204, 'it can be deleted');
    is +($instance->manage('doctor'))[0], 1, 'doctor sees it as long as it can be recovered';
    $instance->sql("UPDATE tenants SET purge_at = deleted_at WHERE name = 'all'");
    $admin->put('/v2.0/all', json => { tenant => {} })->is_problem(400, undef, 'nothing comes after it');
    $instance->manage('reap');
    unlike +($instance->manage('doctor'))[1], qr/^no tenant has a reserved name +[1-9]/m, 'it is purged as others are';
    for my $id ($instance->sql('SELECT k.id FROM tokens k JOIN tenants t ON t.id = k.tenant_id WHERE t.name IN (\'all\', \'system\')')) {
        $instance->manage('token', 'revoke', $id->[0]);
    }
    is +($instance->manage('doctor'))[0], 0, 'with its tokens all is well';
};

subtest 'no tenant comes into being by it' => sub {
    my $refused = sub {
        my ($answer, $status, $name, $how) = @_;
        local $Test::Builder::Level = $Test::Builder::Level + 1;
        is $answer->status, $status, "$name: $how" or diag $answer->describe;
        like $answer->text, qr/\\*"$name\\*" is a reserved word/, 'with a text that says why';
    };
    for my $name (@reserved) {
        my $escaped = join '', map { sprintf '%%%02x', ord } split //, $name;
        for my $version ('v1.0', 'v2.0') {
            my $word = $version eq 'v1.0' ? 'account' : 'tenant';
            $refused->($admin->put("/$version/$name", json => { $word => {} }), 400, $name, "PUT, $version");
            $refused->($admin->put("/$version/$escaped", json => { $word => {} }), 400, $name, "PUT, $version, percent-encoded");
        }
        $refused->($admin->put("/v2.0/$name", json => { tenant => {} }, if_none_match => '*'), 400, $name, 'If-None-Match');
        $refused->($admin->post('/api/v1/tenants', json => { apiVersion => 'v1', kind => 'Tenant', metadata => { name => $name } }), 403, $name, 'a Tenant object');
        $refused->($admin->post('/api/v1/tenants?dryRun=All', json => { apiVersion => 'v1', kind => 'Tenant', metadata => { name => $name } }), 403, $name, 'as if');
        my ($code, $told) = $instance->manage(qw(token create --user u --tenant), $name);
        is $code, 65, "$name: no token" or diag $told;
        like $told, qr/"$name" is a reserved word/, 'with a text that says why';
    }
    my $node = $metal->make('nodes', { driver => 'fake-hardware' })->{uuid};
    $refused->($metal->post('/nodes', json => { driver => 'fake-hardware', owner => 'all' }), 400, 'all', 'the owner of a new node');
    $refused->($metal->patch("/nodes/$node", [[add => '/owner', 'all']]), 400, 'all', 'a node\'s new owner');
    is $metal->get("/nodes/$node")->json->{owner}, undef, 'it is still nobody\'s';
    is $metal->patch("/nodes/$node", [[add => '/owner', 'system']])->json->{owner}, undef, 'which is what the system\'s is';
    is $instance->sql_value("SELECT COUNT(*) FROM tenants WHERE name = 'all' AND live = 1"), 0, 'none is there';
};

# A name is its bytes: no other case, no other form of Unicode, nothing around it is that word.
my @others = ('All', 'ALL', 'alL', 'System', 'SYSTEM', 'ａｌｌ', 'ｓｙｓｔｅｍ', 'аll', 'al̂l', "all\x{200b}", "\x{feff}all", 'all ', ' all', 'all.', 'aII', 'ſystem', '%61ll',
    'all;x', 'alll', 'al', 'systems');

subtest 'what only looks like it' => sub {
    my %seen;
    for my $name (@others) {
        my $escaped = join '', map { sprintf '%%%02X', ord } split //, Encode::encode('UTF-8', $name);
        my $shown = Encode::encode('UTF-8', $name);
        my $made = $admin->put("/v2.0/$escaped", json => { tenant => { metadata => { mark => 'm' . keys %seen } } });
        is $made->status, 201, "\"$shown\" is a tenant" or diag $made->describe;
        is $made->json->{tenant}{id}, $name, 'of that name' or next;
        $seen{$name} = 'm' . keys %seen;
    }
    for my $name (keys %seen) {
        my $escaped = join '', map { sprintf '%%%02X', ord } split //, Encode::encode('UTF-8', $name);
        my $shown = Encode::encode('UTF-8', $name);
        is $admin->get("/v2.0/$escaped")->json->{tenant}{metadata}{mark}, $seen{$name}, "\"$shown\" is itself";
        my $user = $instance->combined($instance->token($shown, 'admin'));
        $user->post('/api/v1/namespaces/default/configmaps', json => config_map('own', of => 'una'))->is_status(201, 'its user has a space');
        for my $path ('/api/v1/configmaps', "/api/v1/tenants/$escaped/configmaps") {
            is_deeply [map { $_->{metadata}{tenant} } @{ $user->get($path)->json->{items} // [] }], [$name], 'and sees that';
        }
        is $user->get("/api/v1/tenants/$_/configmaps")->status, 403, "and not $_" for @reserved;
        is $user->get("/v2.0/$_/namespaces/default/configmaps/own")->status, 404, "nor by tenancy $_" for @reserved;
    }
};

subtest 'settings' => sub {
    for my $name (@reserved) {
        local $ENV{TENURE_TENURE_DEFAULT_TENANT} = $name;
        my ($code, $told) = $instance->manage('config', 'check');
        isnt $code, 0, "default_tenant = $name is refused";
        like $told, qr/default_tenant.*"$name" is a reserved word/, 'with a text that says why';
    }
};

done_testing;
