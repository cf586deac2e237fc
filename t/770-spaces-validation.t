#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What objects of built-in kinds have to say, and what of them never changes: as the Kubernetes API server has it, in its
# words and with its fields, since that is what clients and their users know.
use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP     ();
use MIME::Base64 ();
use Test::More;

use Tenure::Instance;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output todo_output);

my $server   = $ENV{TENURE_WATCH_SERVER} // 'lighttpd';
my $instance = Tenure::Instance->start(combined => 1, workers => 2, server => $server);
my $admin    = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my $in       = '/api/v1/namespaces/default';
my $true     = JSON::PP::true;
my $false    = JSON::PP::false;
my $n        = 0;

$admin->post('/api/v1/tenants', json => { metadata => { name => 'acme' } })->is_status(201, 'tenant acme');

sub b64 { return MIME::Base64::encode_base64($_[0], '') }

# What a 422 says is wrong: { field => message }. The message names all of it too, and the kind.
sub faults_of {
    my ($answer, $what, $kind) = @_;
    $answer->is_status(422, $what);
    my $status = $answer->json;
    is "$status->{reason} $status->{details}{kind}", "Invalid $kind", "$what: Invalid";
    like $status->{message}, qr/\A$kind(?:\.[a-z0-9.]+)? "[^"]*" is invalid: /, "$what: and says so";
    return map { ($_->{field} // '') => $_->{message} } @{ $status->{details}{causes} // [] };
}

# A new object of that kind is refused for exactly these fields, each with a text like this.
sub refused {
    my ($what, $kind, $path, $object, %expected) = @_;
    my %fault = faults_of($acme->post($path, json => { metadata => { name => 'refused' }, %{$object} }), $what, $kind);
    is_deeply [sort keys %fault], [sort keys %expected], "$what: the fields";
    like $fault{$_} // '', $expected{$_}, "$what: $_" for sort keys %expected;
    return;
}

sub taken {
    my ($what, $path, $object) = @_;
    return $acme->post($path, json => { %{$object}, metadata => { name => 'n' . $n++, %{ $object->{metadata} // {} } } })
        ->is_status(201, $what);
}

# ---- what never changes

subtest 'immutable config maps' => sub {
    my $path = "$in/configmaps/fixed";
    my $map  = { metadata => { name => 'fixed' }, data => { a => '1' }, binaryData => { b => 'AA==' }, immutable => $true };
    $acme->post("$in/configmaps", json => $map)->is_status(201, 'one is made');
    $acme->patch($path, { metadata => { labels => { x => 'y' } } })->is_status(200, 'its metadata changes');
    $acme->put($path, json => $map)->is_status(200, 'written again as it is, without that label');
    for my $case (
        ['data', { data => { a => '2' } }], ['data', { data => { c => '1' } }], ['data', { data => undef }],
        ['binaryData', { binaryData => undef }], ['immutable', { immutable => $false }], ['immutable', { immutable => undef }],
    ) {
        my ($field, $patch) = @{$case};
        my %fault = faults_of($acme->patch($path, $patch), JSON::PP::encode_json($patch), 'ConfigMap');
        is_deeply [keys %fault], [$field], 'that member';
        like $fault{$field}, qr/\AForbidden: field is immutable when `immutable` is set\z/, 'in the known words';
    }
    my %fault = faults_of($acme->put($path, json => { data => { a => '3' } }), 'all of it', 'ConfigMap');
    is_deeply [sort keys %fault], [qw(binaryData data immutable)], 'each member';
    my $tenancy = '/v2.0/acme/namespaces/default/configmaps/fixed';
    $acme->patch($tenancy, { data => { a => '2' } })->is_status(400, 'nor by another dialect');
    like $acme->patch($tenancy, { data => { a => '2' } })->detail, qr/ConfigMap "fixed" is invalid: data: Forbidden/, 'which says why';
    is $acme->get($path)->json->{data}{a}, '1', 'nothing came of it';
    $acme->delete($path)->is_status(200, 'it can go');
    $acme->post("$in/configmaps", json => { %{$map}, immutable => $false, data => { a => '2' } })->is_status(201, 'and be made anew');
    $acme->patch($path, { data => { a => '3' } })->is_status(200, 'where it says it may change it does');
    $acme->patch($path, { immutable => $true })->is_status(200, 'until it no longer may');
    faults_of($acme->patch($path, { data => { a => '4' } }), 'then', 'ConfigMap');
};

subtest 'secrets' => sub {
    my $path = "$in/secrets/fixed";
    $acme->post("$in/secrets", json => { metadata => { name => 'fixed' }, data => { a => b64('x') }, type => 'example.com/t' })
        ->is_status(201, 'one is made');
    my %fault = faults_of($acme->patch($path, { type => 'example.com/u' }), 'its type', 'Secret');
    is $fault{type}, 'Invalid value: "example.com/u": field is immutable', 'stays';
    faults_of($acme->put($path, json => { data => { a => b64('x') } }), 'a PUT that says no type means Opaque', 'Secret');
    $acme->patch("/v2.0/acme$_", { type => 'Opaque' })->is_status(400, 'by another dialect, too') for '/namespaces/default/secrets/fixed';
    $acme->patch($path, { data => { a => b64('y') }, immutable => $true })->is_status(200, 'its data change');
    %fault = faults_of($acme->patch($path, { stringData => { a => 'z' } }), 'until they may not', 'Secret');
    is_deeply [keys %fault], ['data'], 'written as text as well';
    $acme->patch($path, { stringData => { a => 'y' } })->is_status(200, 'the same text changes nothing');
};

# Texts go to data in every dialect: else a label that kubectl sets would change what the secret holds, and what is immutable could not get one.
subtest 'texts of secrets' => sub {
    my ($path, $tenancy) = ("$in/secrets/texts", '/v2.0/acme/namespaces/default/secrets/texts');
    my %said = (type => 'Opaque', data => { a => b64('x') }, stringData => { b => 'y' }, immutable => $true);
    my $answer = $acme->put($tenancy, json => \%said);
    $answer->is_status(201, 'one is made by another dialect');
    my $put = $answer->json;
    is_deeply [$put->{data}, exists $put->{stringData}], [{ a => b64('x'), b => b64('y') }, !!0], 'which answers with the data';
    $acme->put($tenancy, json => { %said, metadata => $put->{metadata} })->is_status(200, 'again');
    is $acme->get($tenancy)->json->{metadata}{etag}, $put->{metadata}{etag}, 'changes nothing';
    is_deeply $acme->get($path)->json->{data}, $put->{data}, 'and kubectl sees the same';
    $acme->patch($path, { metadata => { labels => { x => 'y' } } })->is_status(200, 'it gets a label');
    $acme->patch($tenancy, { stringData => { a => 'z' } })->is_status(400, 'but no other text');
    $acme->put($tenancy, json => { data => 1, stringData => { a => 7 } })->is_status(400, 'a number is no text');
    like $acme->put($tenancy, json => { stringData => { a => 7 } })->detail, qr/stringData must be an object of strings/, 'which it says';

    # One that was stored before.
    my $id = $instance->sql_value(q{SELECT id FROM resources WHERE name = 'texts'});
    $instance->sql(qq{UPDATE resources SET body = '{"type":"Opaque","data":{"a":"YQ=="},"stringData":{"b":"y"},"immutable":true}' WHERE id = $id});
    $acme->patch($tenancy, { metadata => { labels => { x => 'z' } } })->is_status(200, 'one that was stored with texts gets a label');
    $acme->patch($path, { metadata => { labels => { x => 'y' } } })->is_status(200, 'by kubectl, too');
    is_deeply $acme->get($path)->json->{data}, { a => 'YQ==', b => b64('y') }, 'by which the texts become data';
    $acme->patch($path, { stringData => { b => 'z' } })->is_status(422, 'that stay');
};

# ---- config maps, secrets

subtest 'keys' => sub {
    my $form = qr/\AInvalid value: "[^"]*": a valid config key must consist of alphanumeric characters, '-', '_' or '\.'/;
    for my $key ('a b', 'ä', 'a/b', '') {
        refused("key '$key'", 'ConfigMap', "$in/configmaps", { data => { $key => 'x' } }, "data[$key]" => $form);
        refused("key '$key'", 'Secret', "$in/secrets", { data => { $key => 'eA==' } }, "data[$key]" => $form);
    }
    refused('of bytes', 'ConfigMap', "$in/configmaps", { binaryData => { 'a b' => 'eA==' } }, 'binaryData[a b]' => $form);
    refused('a long one', 'ConfigMap', "$in/configmaps", { data => { 'k' x 254 => 'x' } }, "data[" . "k" x 100 . "\x{2026}]" => qr/must be no more than 253 characters/);
    refused('up', 'ConfigMap', "$in/configmaps", { data => { '..' => 'x' } }, 'data[..]' => qr/must not be '\.\.'/);
    refused('hidden up', 'ConfigMap', "$in/configmaps", { data => { '..x' => 'x' } }, 'data[..x]' => qr/must not start with '\.\.'/);
    refused('here', 'ConfigMap', "$in/configmaps", { data => { '.' => 'x' } }, 'data[.]' => qr/must not be '\.'/);
    refused('twice', 'ConfigMap', "$in/configmaps", { data => { a => 'x' }, binaryData => { a => 'eA==' } },
        'data[a]' => qr/\AInvalid value: "a": duplicate of key present in binaryData\z/);
    taken('good ones', "$in/configmaps", { data => { 'A-b_c.9' => 'x', '.x' => 'y', 'k' x 253 => 'z' }, binaryData => { b => 'eA==' } });
};

subtest 'sizes' => sub {
    my $mib = 1 << 20;
    taken('a secret of 790 KiB', "$in/secrets", { data => { k => b64('x' x (790 << 10)) } });
    taken('a secret of 1 MiB', "$in/secrets", { data => { k => b64("\xff" x ($mib - 1)), l => b64('y') } });
    taken('a config map of 1 MiB', "$in/configmaps", { data => { k => 'x' x ($mib / 2) }, binaryData => { l => b64("\0" x ($mib / 2)) } });
    refused('a byte more', 'Secret', "$in/secrets", { data => { k => b64('x' x $mib), l => b64('y') } },
        data => qr/\AToo long: must have at most 1048576 bytes\z/);
    refused('a byte more', 'ConfigMap', "$in/configmaps", { data => { k => 'x' x $mib }, binaryData => { l => b64('y') } },
        '[]' => qr/\AToo long: must have at most 1048576 bytes\z/);
    $acme->post("$in/configmaps", json => { metadata => { name => 'huge' }, data => { k => 'x' x (3 * $mib) } })
        ->is_status(413, 'what is above all limits is not read');
};

subtest 'types of secrets' => sub {
    my $secret = sub { my ($type, %data) = @_; return { type => "kubernetes.io/$type", data => { map { $_ => b64($data{$_}) } keys %data } } };
    my $required = qr/\ARequired value\z/;
    refused('tls', 'Secret', "$in/secrets", $secret->('tls'), 'data[tls.crt]' => $required, 'data[tls.key]' => $required);
    refused('tls without its key', 'Secret', "$in/secrets", $secret->('tls', 'tls.crt' => 'c'), 'data[tls.key]' => $required);
    taken('tls', "$in/secrets", $secret->('tls', 'tls.crt' => 'c', 'tls.key' => ''));
    refused('dockerconfigjson', 'Secret', "$in/secrets", $secret->('dockerconfigjson', x => '{}'), 'data[.dockerconfigjson]' => $required);
    refused('no JSON', 'Secret', "$in/secrets", $secret->('dockerconfigjson', '.dockerconfigjson' => '{"s3cret'),
        'data[.dockerconfigjson]' => qr/\AInvalid value: "<secret contents redacted>": must be a JSON document\z/);
    taken('dockerconfigjson', "$in/secrets", $secret->('dockerconfigjson', '.dockerconfigjson' => '{"auths":{"r":{"auth":"x"}}}'));
    refused('dockercfg', 'Secret', "$in/secrets", $secret->('dockercfg'), 'data[.dockercfg]' => $required);
    refused('basic-auth', 'Secret', "$in/secrets", $secret->('basic-auth', x => 'y'), 'data[username]' => $required, 'data[password]' => $required);
    taken("basic-auth with $_", "$in/secrets", $secret->('basic-auth', $_ => 'x')) for qw(username password);
    refused('ssh-auth', 'Secret', "$in/secrets", $secret->('ssh-auth', 'ssh-privatekey' => ''), 'data[ssh-privatekey]' => $required);
    taken('ssh-auth', "$in/secrets", $secret->('ssh-auth', 'ssh-privatekey' => 'k'));
    refused('of an account', 'Secret', "$in/secrets", $secret->('service-account-token'), 'metadata.annotations[kubernetes.io/service-account.name]' => $required);
    taken('of an account', "$in/secrets", { %{ $secret->('service-account-token') }, metadata => { annotations => { 'kubernetes.io/service-account.name' => 'a' } } });
    taken('as text', "$in/secrets", { type => 'kubernetes.io/tls', stringData => { 'tls.crt' => 'c', 'tls.key' => 'k' } });
};

# ---- what typed clients can read: else one object breaks every list that contains it

subtest 'types of members' => sub {
    my $spec = sub { my (%spec) = @_; return { spec => { containers => [container()], %spec } } };
    my @pod  = (Pod => "$in/pods");
    my $json   = sub {
        my ($what, $kind, $path, $body, $field, $words) = @_;
        my %fault = faults_of($acme->post($path, body => $body, type => 'application/json'), $what, $kind);
        is_deeply [keys %fault], [$field], "$what: the field";
        like $fault{$field} // '', $words, "$what: in words";
    };
    my $integer = qr/: must be an integer\z/;
    $json->('a port with a point', Service => "$in/services", '{"metadata":{"name":"r"},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":99999.0}]}}', 'spec.ports[0].nodePort', $integer);
    $json->('a port by name or number', Service => "$in/services", '{"metadata":{"name":"r"},"spec":{"ports":[{"port":80,"targetPort":8e1}]}}', 'spec.ports[0].targetPort', qr/: must be an integer or a string\z/);
    $json->('an exponent', @pod, '{"metadata":{"name":"r"},"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"hostPort":1e9}]}]}}',
        'spec.containers[0].ports[0].hostPort', $integer);
    $json->('a priority', @pod, '{"metadata":{"name":"r"},"spec":{"containers":[{"name":"c","image":"i"}],"priority":3.0}}', 'spec.priority', $integer);
    refused('too many bits', @pod, $spec->(priority => 3_000_000_000), 'spec.priority' => qr/\AInvalid value: 3000000000: must be an integer of 32 bits\z/);
    refused('too many bits', Service => "$in/services", { spec => { ports => [{ port => 80, targetPort => 3_000_000_000 }] } }, 'spec.ports[0].targetPort' => qr/must be an integer of 32 bits/);
    refused('no objects', @pod, $spec->(dnsConfig => 5, securityContext => 'x', volumes => [{ name => 'v', emptyDir => 7 }]),
        'spec.dnsConfig' => qr/: must be an object\z/, 'spec.securityContext' => qr/: must be an object\z/, 'spec.volumes[0].emptyDir' => qr/: must be an object\z/);
    refused('deep inside', @pod, { spec => { dnsConfig => { nameservers => 'x', options => [{ name => 7 }] }, securityContext => { runAsUser => 'root', supplementalGroups => [1.5] },
        volumes => [{ name => 'v', emptyDir => { sizeLimit => 'x' } }], containers => [container(livenessProbe => { httpGet => { port => $true } })] } },
        'spec.dnsConfig.nameservers' => qr/: must be an array\z/, 'spec.dnsConfig.options[0].name' => qr/: must be a string\z/,
        'spec.securityContext.runAsUser' => $integer, 'spec.securityContext.supplementalGroups[0]' => $integer,
        'spec.volumes[0].emptyDir.sizeLimit' => qr/quantities must match/, 'spec.containers[0].livenessProbe.httpGet.port' => qr/: must be an integer or a string\z/);
    taken('null, for what is absent', "$in/pods", $spec->(dnsConfig => { options => [undef] }, affinity => undef, securityContext => { runAsUser => undef }));
    taken('what is not known', "$in/pods", $spec->(vpc => 'v', virtualMachine => { image => 7 }));
    $acme->post("$in/pods", json => { %{ $spec->() }, metadata => { name => 'timed' } })->is_status(201, 'one with a status');
    my $time = sub { my ($text) = @_; return $acme->patch("$in/pods/timed/status", { status => { startTime => $text } }) };
    for my $text (1, '', 'today', '2026-11-21', '2026-11-21T05:24:00', '2026-02-30T05:24:00Z') {
        my %fault = faults_of($time->($text), "the time '$text'", 'Pod');
        like $fault{'status.startTime'} // '', qr/: must be a time, such as "2026-11-21T05:24:00Z"\z/, 'is none';
    }
    $time->($_)->is_status(200, "the time '" . ($_ // 'null') . "'") for '2026-11-21T05:24:00Z', '2026-11-21T05:24:00.123456+00:00', undef;
};

# What is stored already does not keep the rest from being changed.
subtest 'types of members that are stored' => sub {
    $acme->put('/v2.0/acme/namespaces/default/services/odd', body => '{"spec":{"ports":[{"port":80.0,"name":7}],"sessionAffinityConfig":5}}', type => 'application/json')
        ->is_status(201, 'another dialect takes any object');
    my $path = "$in/services/odd";
    $acme->patch($path, { metadata => { labels => { a => 'b' } } })->is_status(200, 'its metadata change');
    $acme->patch("$path/status", { status => { loadBalancer => { ingress => [{ ip => '10.0.0.1' }] } } })->is_status(200, 'and its status');
    faults_of($acme->patch("$path/status", { status => { loadBalancer => 7 } }), 'which must have the right type', 'Service');
    my %fault = faults_of($acme->patch($path, { spec => { sessionAffinityConfig => 6 } }), 'another value', 'Service');
    is_deeply [keys %fault], ['spec.sessionAffinityConfig'], 'of a wrong type is refused';
    $acme->patch($path, { spec => { ports => [{ port => 80 }], sessionAffinityConfig => undef } })->is_status(200, 'right ones are taken');
};

# ---- services

subtest 'services' => sub {
    my $service = sub { my (%spec) = @_; return { spec => { ports => [{ port => 80 }], %spec } } };
    my @port = (Service => "$in/services");
    my $range = qr/: must be between 1 and 65535, inclusive\z/;
    refused('port 99999', @port, $service->(ports => [{ port => 99999 }]), 'spec.ports[0].port' => qr/\AInvalid value: 99999$range/);
    is $acme->post("$in/services", json => { metadata => { name => 'web' }, %{ $service->(ports => [{ port => 99999 }]) } })->json->{message},
        'Service "web" is invalid: spec.ports[0].port: Invalid value: 99999: must be between 1 and 65535, inclusive', 'all of the message';
    refused("port $_", @port, $service->(ports => [{ port => $_ }]), 'spec.ports[0].port' => $range) for 0, -1, 65536;
    refused('no port', @port, $service->(ports => [{ name => 'x' }]), 'spec.ports[0].port' => $range);
    refused('no ports', @port, { spec => {} }, 'spec.ports' => qr/\ARequired value\z/);
    refused('no names', @port, $service->(ports => [{ port => 1 }, { port => 2, name => 'b' }]), 'spec.ports[0].name' => qr/\ARequired value\z/);
    refused('one name', @port, $service->(ports => [{ port => 1, name => 'b' }, { port => 2, name => 'b' }]), 'spec.ports[1].name' => qr/\ADuplicate value: "b"\z/);
    refused('one port', @port, $service->(ports => [{ port => 1, name => 'a' }, { port => 1, name => 'b' }]), 'spec.ports[1]' => qr/\ADuplicate value: /);
    taken('by two protocols', "$in/services", $service->(ports => [{ port => 53, name => 'a' }, { port => 53, name => 'b', protocol => 'UDP' }]));
    refused('a name', @port, $service->(ports => [{ port => 1, name => 'B_b' }]), 'spec.ports[0].name' => qr/a DNS-1123 label must consist of/);
    refused('protocol', @port, $service->(ports => [{ port => 1, protocol => 'HTTP' }]),
        'spec.ports[0].protocol' => qr/\AUnsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"\z/);
    refused('target', @port, $service->(ports => [{ port => 1, targetPort => 70000 }]), 'spec.ports[0].targetPort' => $range);
    refused('target by name', @port, $service->(ports => [{ port => 1, targetPort => 'a-very-long-port-name' }]), 'spec.ports[0].targetPort' => qr/must be no more than 15 characters/);
    taken('target by name', "$in/services", $service->(ports => [{ port => 1, targetPort => 'http-1' }]));
    refused('node port', @port, $service->(type => 'NodePort', ports => [{ port => 1, nodePort => 80 }]),
        'spec.ports[0].nodePort' => qr/The range of valid ports is 30000-32767\z/);
    refused('node port of a cluster IP', @port, $service->(ports => [{ port => 1, nodePort => 30000 }]),
        'spec.ports[0].nodePort' => qr/\AForbidden: may not be used when `type` is 'ClusterIP'\z/);
    refused('type', @port, $service->(type => 'None'), 'spec.type' => qr/\AUnsupported value: "None"/);
    refused('affinity', @port, $service->(sessionAffinity => 'x'), 'spec.sessionAffinity' => qr/\AUnsupported value: "x": supported values: "ClientIP", "None"\z/);
    refused('address', @port, $service->(clusterIP => '10.0.0.256'), 'spec.clusterIPs[0]' => qr/must be a valid IP address/);
    refused('outer address', @port, $service->(externalIPs => ['x']), 'spec.externalIPs[0]' => qr/must be a valid IP address/);
    refused('headless and balanced', @port, $service->(type => 'LoadBalancer', clusterIP => 'None'), 'spec.clusterIPs[0]' => qr/may not be set to 'None'/);
    refused('alias of nothing', @port, { spec => { type => 'ExternalName' } }, 'spec.externalName' => qr/\ARequired value\z/);
    refused('alias', @port, { spec => { type => 'ExternalName', externalName => 'a_b' } }, 'spec.externalName' => qr/DNS-1123 subdomain/);
    taken('an alias', "$in/services", { spec => { type => 'ExternalName', externalName => 'example.com.' } });
    taken('headless', "$in/services", { spec => { clusterIP => 'None' } });
    taken('with an address', "$in/services", $service->(clusterIP => '2001:db8::1'));
    refused('selector', @port, $service->(selector => { a => '-' }), 'spec.selector' => qr/a valid label must be/);
    my %fault = faults_of($acme->post("$in/services", json => { metadata => { name => '1st' }, %{ $service->() } }), 'its name', 'Service');
    like $fault{'metadata.name'}, qr/a DNS-1035 label must consist of/, 'begins with a letter';
    taken('one', "$in/services", { %{ $service->(clusterIP => '10.0.0.1') }, metadata => { name => 'kept' } });
    %fault = faults_of($acme->patch("$in/services/kept", { spec => { clusterIP => '10.0.0.2' } }), 'its address', 'Service');
    like $fault{'spec.clusterIPs[0]'}, qr/may not change once set/, 'stays';
    my $tenancy = '/v2.0/acme/namespaces/default/services/kept';
    my $answer = $acme->patch($tenancy, { spec => { clusterIP => '10.0.0.2' } });
    $answer->is_status(400, 'for another dialect, too');
    like $answer->detail, qr/Service "kept" is invalid: spec\.clusterIPs\[0\]: .*may not change once set/, 'which says why';
    $acme->patch($tenancy, { spec => { sessionAffinity => 'ClientIP' } })->is_status(200, 'the rest does not');
    $answer = $acme->put($tenancy, json => $service->());
    $answer->is_status(400, 'nor is it lost there');
    like $answer->detail, qr/spec\.clusterIPs\[0\]: .*may not change once set/, 'which says why';
};

# Manifests lack what a controller has set; a write of the whole object must not take it away.
subtest 'what was given to a service' => sub {
    my $path = "$in/services/given";
    my @port = ({ port => 80, name => 'http' }, { port => 443, name => 'https' });
    my %spec = (type => 'NodePort', ports => \@port);
    my $spec = sub { my ($answer, $what) = @_; $answer->is_status(200, $what); return $acme->get($path)->json->{spec} };
    my $put  = sub { my ($what, %now) = @_; return $spec->($acme->put($path, json => { metadata => { name => 'given' }, spec => \%now }), $what) };
    my $is_kept = sub { my ($now, $what, @ports) = @_;
        is_deeply [@$now{qw(clusterIP clusterIPs)}, map { $_->{nodePort} } @{ $now->{ports} }], ['10.0.0.9', ['10.0.0.9'], @ports], "$what: all is there" };
    taken('one', "$in/services", { metadata => { name => 'given' }, spec => \%spec });
    $is_kept->($put->('addresses', %spec, clusterIP => '10.0.0.9', clusterIPs => ['10.0.0.9'],
        ports => [{ %{ $port[0] }, nodePort => 30080 }, { %{ $port[1] }, nodePort => 30443 }]), 'addresses', 30080, 30443);
    $is_kept->($put->('PUT without them', %spec), 'PUT without them', 30080, 30443);
    $is_kept->($put->('empty ones', %spec, clusterIP => '', clusterIPs => [], ports => [map { { %$_, nodePort => 0 } } @port]), 'empty ones', 30080, 30443);
    $is_kept->($spec->($acme->patch($path, { spec => { clusterIP => undef, clusterIPs => undef } }), 'PATCH'), 'PATCH', 30080, 30443);
    $is_kept->($put->('the ports in another order', %spec, ports => [reverse @port]), 'the ports in another order', 30443, 30080);
    $is_kept->($put->('a port more', %spec, ports => [@port, { port => 8080, name => 'new' }]), 'a port more', 30080, 30443, undef);
    $is_kept->($put->('another number', %spec, ports => [{ %{ $port[0] }, nodePort => 30443 }, $port[1]]), 'another number, which is no other port\'s', 30443, undef);
    my %fault = faults_of($acme->put($path, json => { metadata => { name => 'given' }, spec => { %spec, clusterIP => '10.0.0.8' } }), 'another address', 'Service');
    like $fault{'spec.clusterIPs[0]'}, qr/may not change once set/, 'is refused';
    $is_kept->($put->('no node ports', %spec, type => 'ClusterIP'), 'no node ports', undef, undef);
    my $alias = $put->('an alias', type => 'ExternalName', externalName => 'example.com');
    is_deeply [@$alias{qw(clusterIP clusterIPs ports)}], [undef, undef, undef], '... has none of that';
    is $put->('no alias', %spec)->{clusterIP}, undef, '... nor what follows it';
    my $health = sub { my ($what, %now) = @_; return $put->($what, %spec, type => 'LoadBalancer', externalTrafficPolicy => 'Local', %now)->{healthCheckNodePort} };
    is $health->('a port for health checks', healthCheckNodePort => 31234), 31234, 'a port for health checks';
    is $health->('PUT without it'), 31234, '... stays without it';
    is $health->('PUT with none', healthCheckNodePort => 0), 31234, '... or with 0';
    is $health->('another', healthCheckNodePort => 31235), 31235, '... another one is taken';
    is $health->('another policy', externalTrafficPolicy => 'Cluster'), undef, '... and where nobody asks for it, there is none';
};

# As Kubernetes' dropTypeDependentFields().
subtest 'a service of another type' => sub {
    my $path = "$in/services/typed";
    my @port = ({ port => 80, name => 'web', protocol => 'TCP', nodePort => 30180 }, { port => 443, name => 'safe', protocol => 'TCP', nodePort => 30543 });
    my $make = sub {
        my (%spec) = @_;
        $acme->delete($path);
        $acme->post("$in/services", json => { metadata => { name => 'typed' }, spec => { ports => \@port, clusterIP => '10.0.0.7', clusterIPs => ['10.0.0.7'],
            ipFamilies => ['IPv4'], ipFamilyPolicy => 'SingleStack', externalTrafficPolicy => 'Cluster', %spec } })->is_status(201, "a $spec{type}");
    };
    my $patch = sub {
        my ($form, $spec) = @_;
        return $acme->request('PATCH', $path, body => JSON::PP::encode_json({ spec => $spec }), type => "application/$form-patch+json");
    };
    my $ports = sub { return [map { $_->{nodePort} } @{ $_[0]->json->{spec}{ports} }] };
    for my $form (qw(merge strategic-merge)) {
        $make->(type => 'NodePort');
        my $now = $patch->($form, { type => 'ClusterIP' });
        $now->is_status(200, "$form: the type alone");
        is_deeply $ports->($now), [undef, undef], "$form: takes the node ports away";
        is_deeply [@{ $now->json->{spec} }{qw(clusterIP externalTrafficPolicy)}], ['10.0.0.7', undef], "$form: and the policy, but not the address";
        $patch->($form, { type => 'NodePort' })->is_status(200, "$form: and back");
        $make->(type => 'NodePort');
        $now = $patch->($form, { type => 'ExternalName', externalName => 'a.example.com' });
        $now->is_status(200, "$form: an alias");
        is_deeply [@{ $now->json->{spec} }{qw(clusterIP clusterIPs ipFamilies ipFamilyPolicy)}], [(undef) x 4], "$form: has no address";
    }
    $make->(type => 'LoadBalancer', externalTrafficPolicy => 'Local', healthCheckNodePort => 31234, loadBalancerClass => 'example.com/l', allocateLoadBalancerNodePorts => $true);
    my $now = $patch->('merge', { type => 'NodePort' });
    $now->is_status(200, 'no balancer any more');
    is_deeply $ports->($now), [30180, 30543], 'node ports stay where they are needed';
    is_deeply [@{ $now->json->{spec} }{qw(healthCheckNodePort loadBalancerClass allocateLoadBalancerNodePorts externalTrafficPolicy)}], [undef, undef, undef, 'Local'], 'what only a balancer needs goes';
    my $is = $acme->get($path)->json;
    $is->{spec}{type} = 'ClusterIP';
    pop @{ $is->{spec}{ports} };
    $now = $acme->put($path, json => $is);
    $now->is_status(200, 'what was read, with another type and a port less');
    is_deeply $ports->($now), [undef], 'is taken by PUT, too';
    $make->(type => 'NodePort');
    $is = $acme->get($path)->json;
    $is->{spec}{type} = 'ClusterIP';
    $is->{spec}{ports}[1]{nodePort} = 30999;
    my %fault = faults_of($acme->put($path, json => $is), 'another node port', 'Service');
    like $fault{'spec.ports[1].nodePort'}, qr/may not be used when `type` is 'ClusterIP'/, 'is refused';
    %fault = faults_of($patch->('merge', { type => 'ExternalName', externalName => 'a.example.com', clusterIP => '10.0.0.8' }), 'another address of an alias', 'Service');
    like $fault{'spec.clusterIP'}, qr/may not be set for ExternalName services/, 'is refused';
};

subtest 'the spec of a pod' => sub {
    my $path = "$in/pods/fixed";
    my $change = sub { my ($spec) = @_; my $pod = $acme->get($path)->json; $spec->($pod->{spec}); return $acme->put($path, json => $pod) };
    my $refuses = sub {
        my ($what, $spec, $field, $words) = @_;
        my %fault = faults_of($change->($spec), $what, 'Pod');
        is_deeply [keys %fault], [$field], "$what: that member";
        like $fault{$field} // '', $words, "$what: in the known words";
    };
    my $takes = sub { my ($what, $spec) = @_; return $change->($spec)->is_status(200, $what) };
    my $others = qr/\AForbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`/;
    my @toleration = map { { key => $_, operator => 'Exists', effect => 'NoExecute', tolerationSeconds => 5 } } 'a', 'b', 'c';
    $acme->post("$in/pods", json => { metadata => { name => 'fixed' }, spec => { containers => [{ name => 'c', image => 'i:1', args => ['x'] }],
        initContainers => [{ name => 'd', image => 'i:1' }], tolerations => [$toleration[0]], schedulingGates => [{ name => 'g' }] } })
        ->is_status(201, 'one is made');
    $takes->('as it is', sub { });
    $takes->('images', sub { $_->{image} = 'i:2' for $_[0]{containers}[0], $_[0]{initContainers}[0] });
    $takes->('another toleration', sub { push @{ $_[0]{tolerations} }, $toleration[1] });
    $takes->('how long one is good for', sub { $_[0]{tolerations}[0]{tolerationSeconds} = 9 });
    $takes->('a deadline', sub { $_[0]{activeDeadlineSeconds} = 100 });
    $takes->('an earlier one', sub { $_[0]{activeDeadlineSeconds} = 99 });
    $takes->('no gate any more', sub { delete $_[0]{schedulingGates} });
    $takes->('where it runs', sub { $_[0]{nodeName} = 'n1' });
    $takes->('what a typed client writes anew', sub {
        my ($spec) = @_;
        $_->{resources} = {} for @{ $spec->{containers} }, @{ $spec->{initContainers} };
        $spec->{containers}[0]{$_} = undef for qw(env ports);
        $spec->{hostNetwork} = $false;
        $spec->{volumes} = [];
        $spec->{nodeSelector} = {};
        $spec->{tolerations}[0]{value} = '';
    });
    $takes->('and leaves out', sub { delete $_[0]{hostNetwork} });
    $refuses->('a later deadline', sub { $_[0]{activeDeadlineSeconds} = 100 }, 'spec.activeDeadlineSeconds', qr/must be less than or equal to previous value/);
    $refuses->('no deadline', sub { delete $_[0]{activeDeadlineSeconds} }, 'spec.activeDeadlineSeconds', qr/must not update from a positive integer to nil value/);
    $refuses->('a toleration less', sub { shift @{ $_[0]{tolerations} } }, 'spec.tolerations', qr/\AForbidden: existing toleration can not be modified/);
    $refuses->('another one', sub { $_[0]{tolerations}[0] = $toleration[2] }, 'spec.tolerations', qr/existing toleration can not be modified/);
    $refuses->('a container more', sub { push @{ $_[0]{containers} }, { name => 'e', image => 'i' } }, 'spec.containers', qr/\AForbidden: pod updates may not add or remove containers\z/);
    $refuses->('no init container', sub { delete $_[0]{initContainers} }, 'spec.initContainers', qr/may not add or remove init containers/);
    $refuses->('what a container does', sub { $_[0]{containers}[0]{args} = ['y'] }, 'spec', $others);
    $refuses->('its name', sub { $_[0]{containers}[0]{name} = 'f' }, 'spec', $others);
    $refuses->('a gate', sub { $_[0]{schedulingGates} = [{ name => 'h' }] }, 'spec', $others);
    $refuses->('another node', sub { $_[0]{nodeName} = 'n2' }, 'spec', $others);
    $refuses->('what is false or absent', sub { $_[0]{automountServiceAccountToken} = $false }, 'spec', $others);
    $refuses->('what is 0 or absent', sub { $_[0]{securityContext} = { runAsUser => 0 } }, 'spec', $others);
    $refuses->('an account', sub { $_[0]{serviceAccountName} = 'a' }, 'spec', $others);
    $refuses->('a grace period', sub { $_[0]{terminationGracePeriodSeconds} = 1 }, 'spec', $others);
    my $tenancy = '/v2.0/acme/namespaces/default/pods/fixed';
    $acme->patch($tenancy, { spec => { hostNetwork => $true } })->is_status(400, 'nor by another dialect');
    $acme->patch("$path/status", { status => { phase => 'Running' } })->is_status(200, 'its status changes');
    $acme->patch($path, { metadata => { labels => { x => 'y' } } })->is_status(200, 'and its metadata');
    is $acme->get($path)->json->{spec}{nodeName}, 'n1', 'nothing came of the rest';
};

# As Go reads and writes it: in a cluster both forms are one.
subtest 'the spec of a pod by a typed client' => sub {
    my $pod = sub {
        my (%amount) = @_;
        return { metadata => { name => 'typed' }, spec => { containers => [{ name => 'c', image => 'i', resources => { limits => \%amount } }] } };
    };
    $acme->post("$in/pods", json => $pod->(cpu => 0.5, memory => '1024Mi'))->is_status(201, 'amounts as in YAML');
    $acme->put("$in/pods/typed", json => $pod->(cpu => '500m', memory => '1Gi'))->is_status(200, 'the same, as Go writes them');
    $acme->put("$in/pods/typed", json => $pod->(cpu => '501m', memory => '1Gi'))->is_status(422, 'others');
};

# Defaults that this server adds are no change.
subtest 'the spec of a pod of another dialect' => sub {
    my $spec = { containers => [{ name => 'c', image => 'i', ports => [{ containerPort => 80 }] }] };
    my ($path, $tenancy) = ("$in/pods/plain", '/v2.0/acme/namespaces/default/pods/plain');
    $acme->put($tenancy, json => { spec => $spec })->is_status(201, 'without the protocol of a port');
    $acme->patch($path, { metadata => { labels => { x => 'y' } } })->is_status(200, 'gets a label');
    is $acme->get($path)->json->{spec}{containers}[0]{ports}[0]{protocol}, 'TCP', 'and the default';
    $acme->put($tenancy, json => { spec => $spec })->is_status(200, 'and can be written again as it was');
    $spec->{containers}[0]{ports}[0]{protocol} = 'UDP';
    $acme->put($tenancy, json => { spec => $spec })->is_status(400, 'but with no other protocol');
};

# The cost of comparing them grows as n log n.
subtest 'many tolerations' => sub {
    my @tolerations = map { { key => "k$_" } } 1 .. 20_000;
    my $pod = { metadata => { name => 'tolerant' }, spec => { containers => [{ name => 'c', image => 'i:1' }], tolerations => \@tolerations } };
    $acme->post("$in/pods", json => $pod)->is_status(201, 'are taken');
    $pod->{spec}{containers}[0]{image} = 'i:2';
    $_->{tolerationSeconds} = 5 for @tolerations = reverse @tolerations;
    my $answer = $acme->put("$in/pods/tolerant", json => $pod);
    is $answer->status, 200, 'in another order' or diag substr $answer->text, 0, 300;
    $tolerations[0] = { key => 'k0' };
    $acme->put("$in/pods/tolerant", json => $pod)->is_status(422, 'one of them is another');
};

# ---- pods

sub container { my (%more) = @_; return { name => 'c', image => 'i', %more } }
sub pod       { my (@containers) = @_; return { spec => { containers => [@containers] } } }

subtest 'pods' => sub {
    my @pod = (Pod => "$in/pods");
    my $required = qr/\ARequired value\z/;
    refused('no containers', @pod, { spec => {} }, 'spec.containers' => $required);
    refused('an empty list', @pod, pod(), 'spec.containers' => $required);
    refused('no spec', @pod, {}, 'spec.containers' => $required);
    refused('without name and image', @pod, pod({}), 'spec.containers[0].name' => $required, 'spec.containers[0].image' => $required);
    refused('name', @pod, pod(container(name => 'C_c')), 'spec.containers[0].name' => qr/a DNS-1123 label must consist of/);
    refused('long name', @pod, pod(container(name => 'c' x 64)), 'spec.containers[0].name' => qr/must be no more than 63 characters/);
    refused('image', @pod, pod(container(image => ' i')), 'spec.containers[0].image' => qr/must not have leading or trailing whitespace/);
    refused('one name', @pod, pod(container(), container()), 'spec.containers[1].name' => qr/\ADuplicate value: "c"\z/);
    refused('one name in two lists', @pod, { spec => { initContainers => [container()], containers => [container()] } }, 'spec.containers[0].name' => qr/\ADuplicate value: "c"\z/);
    refused('policy', @pod, pod(container(imagePullPolicy => 'x')), 'spec.containers[0].imagePullPolicy' => qr/\AUnsupported value: "x": supported values: "Always"/);
    refused('ports', @pod, pod(container(ports => [{ containerPort => 70000 }, { name => 'x' }, { containerPort => 1, protocol => 'x' }, { containerPort => 1, hostPort => -1 }, { containerPort => 1, name => '--' }])),
        'spec.containers[0].ports[0].containerPort' => qr/must be between 1 and 65535, inclusive/, 'spec.containers[0].ports[1].containerPort' => $required,
        'spec.containers[0].ports[2].protocol' => qr/\AUnsupported value/, 'spec.containers[0].ports[3].hostPort' => qr/must be between 1 and 65535/,
        'spec.containers[0].ports[4].name' => qr/\AInvalid value: "--"/);
    refused('environment', @pod, pod(container(env => [{ value => 'x' }, { name => 'a=b' }, { name => 'a', value => 'x', valueFrom => {} }])),
        'spec.containers[0].env[0].name' => $required, 'spec.containers[0].env[1].name' => qr/a valid environment variable name/,
        'spec.containers[0].env[2].valueFrom' => qr/may not be specified when `value` is not empty/);
    refused('mounts', @pod, pod(container(volumeMounts => [{ name => 'v', mountPath => '/v' }])), 'spec.containers[0].volumeMounts[0].name' => qr/\ANot found: "v"\z/);
    refused('volumes', @pod, { spec => { containers => [container()], volumes => [{ name => 'v' }, { name => 'v' }, { emptyDir => {} }, { name => 'w', emptyDir => {}, hostPath => { path => '/' } }, { name => 'x', configMap => {} }] } },
        'spec.volumes[1].name' => qr/\ADuplicate value: "v"\z/, 'spec.volumes[2].name' => $required,
        'spec.volumes[3].hostPath' => qr/\AForbidden: may not specify more than 1 volume type\z/, 'spec.volumes[4].configMap.name' => $required);
    refused('what is no amount', @pod, pod(container(resources => { limits => { memory => 'x' } })),
        'spec.containers[0].resources.limits[memory]' => qr/quantities must match the regular expression/);
    refused('amounts', @pod, pod(container(resources => { limits => { cpu => '1' }, requests => { cpu => '1500m', storage => '-1Gi' } })),
        'spec.containers[0].resources.requests' => qr/\AInvalid value: "1500m": must be less than or equal to cpu limit of "1"\z/,
        'spec.containers[0].resources.requests[storage]' => qr/must be greater than or equal to 0/);
    refused('probes', @pod, pod(container(livenessProbe => {}, readinessProbe => { httpGet => { port => 0 }, exec => { command => ['x'] } })),
        'spec.containers[0].livenessProbe' => qr/\ARequired value: must specify a handler type\z/,
        'spec.containers[0].readinessProbe.httpGet' => qr/\AForbidden: may not specify more than 1 handler type\z/);
    refused('the rest', @pod, { spec => { containers => [container()], restartPolicy => 'x', dnsPolicy => 'x', nodeSelector => { '-' => 'x' }, activeDeadlineSeconds => 0, terminationGracePeriodSeconds => -1, serviceAccountName => 'A', hostname => 'a.b' } },
        'spec.restartPolicy' => qr/Unsupported/, 'spec.dnsPolicy' => qr/Unsupported/, 'spec.nodeSelector' => qr/name part must/, 'spec.activeDeadlineSeconds' => qr/between 1 and 2147483647/,
        'spec.terminationGracePeriodSeconds' => qr/greater than or equal to 0/, 'spec.serviceAccountName' => qr/DNS-1123 subdomain/, 'spec.hostname' => qr/DNS-1123 label/);
    taken('a whole one', "$in/pods", { spec => { restartPolicy => 'Never', volumes => [{ name => 'v', configMap => { name => 'x' } }, { name => 'e' }],
        initContainers => [container(name => 'i')], containers => [container(ports => [{ containerPort => 80, name => 'http' }], env => [{ name => 'A', value => 'b' }],
        volumeMounts => [{ name => 'v', mountPath => '/v' }, { name => 'e', mountPath => '/e' }], resources => { limits => { cpu => '1e3', memory => '1.5Gi' }, requests => { cpu => '500m', memory => '100M' } },
        livenessProbe => { httpGet => { port => 'http' } })] } });
};

subtest 'a list of any length' => sub {
    my @many = map { container(name => "c$_", ports => [{ containerPort => 1 }]) } 1 .. 4_000;
    my $began = time;
    taken('4,000 containers', "$in/pods", pod(@many));
    $acme->post("$in/services", json => { metadata => { name => 'many' }, spec => { ports => [map { { port => 1, name => 'a' } } 1 .. 5_000] } })
        ->is_status(422, '5,000 ports of one name');
    # Compared pair by pair these take minutes.
    cmp_ok time - $began, '<', 60, 'cost what they weigh';
};

# ---- volumes, daemon sets, metadata

subtest 'volumes' => sub {
    my @volume = (PersistentVolume => '/api/v1/persistentvolumes');
    my %good = (accessModes => ['ReadWriteOnce'], capacity => { storage => '1Gi' }, hostPath => { path => '/x' });
    my $required = qr/\ARequired value/;
    refused('nothing', @volume, { spec => {} }, 'spec' => qr/\ARequired value: must specify a volume type\z/, 'spec.accessModes' => $required, 'spec.capacity' => $required);
    refused('modes', @volume, { spec => { %good, accessModes => ['x'] } }, 'spec.accessModes[0]' => qr/\AUnsupported value: "x"/);
    refused('capacity', @volume, { spec => { %good, capacity => { storage => '0', x => '1' } } }, 'spec.capacity' => qr/\AUnsupported value: "x"/, 'spec.capacity[storage]' => qr/must be greater than zero/);
    refused('two sources', @volume, { spec => { %good, nfs => { server => 's', path => '/' } } }, 'spec.nfs' => qr/may not specify more than 1 volume type/);
    refused('policy', @volume, { spec => { %good, persistentVolumeReclaimPolicy => 'x', volumeMode => 'y' } },
        'spec.persistentVolumeReclaimPolicy' => qr/Unsupported/, 'spec.volumeMode' => qr/Unsupported/);
    $acme->post('/api/v1/persistentvolumes', json => { metadata => { name => 'pv' }, spec => \%good })->is_status(201, 'a good one');
    my %fault = faults_of($acme->patch('/api/v1/persistentvolumes/pv', { spec => { hostPath => { path => '/y' } } }), 'its source', 'PersistentVolume');
    like $fault{'spec.persistentvolumesource'}, qr/is immutable after creation/, 'stays';
    $acme->patch('/api/v1/persistentvolumes/pv', { spec => { capacity => { storage => '2Gi' } } })->is_status(200, 'its size does not');
    my $tenancy = '/v2.0/acme/persistentvolumes/pv';
    $acme->patch($tenancy, { spec => $_->[0] })->is_status(400, "$_->[1], by another dialect")
        for [{ hostPath => { path => '/y' } }, 'another source'], [{ hostPath => undef, nfs => { server => 's', path => '/' } }, 'one of another kind'],
        [{ volumeMode => 'Block' }, 'another mode'];
    $acme->patch($tenancy, { spec => { capacity => { storage => '3Gi' }, more => 'x' } })->is_status(200, 'its size, and what is not known here');
    $acme->patch($tenancy, { spec => { more => undef } })->is_status(200, 'once more');
    $acme->put('/v2.0/acme/persistentvolumes/bare', json => { spec => {} })->is_status(201, 'one without a source');
    $acme->patch('/v2.0/acme/persistentvolumes/bare', { spec => { hostPath => { path => '/x' } } })->is_status(200, 'gets one');
    delete $good{hostPath};
    my $nfs = { server => 's', path => '/', readOnly => $false };
    $acme->post('/api/v1/persistentvolumes', json => { metadata => { name => 'pw' }, spec => { %good, nfs => $nfs } })->is_status(201, 'one of YAML');
    delete $nfs->{readOnly};
    $acme->put('/api/v1/persistentvolumes/pw', json => { metadata => { name => 'pw' }, spec => { %good, nfs => $nfs, claimRef => { name => 'c' } } })
        ->is_status(200, 'which a typed client writes without what is false');
    $acme->patch('/api/v1/persistentvolumes/pw', { spec => { nfs => { readOnly => $true } } })->is_status(422, 'what is true is another');
};

# Objects of built-in kinds keep members that are not known.
subtest 'volumes with unknown members' => sub {
    my ($volumes, $ignored) = ('/api/v1/persistentvolumes', 'fieldValidation=Ignore');
    my %spec = (accessModes => ['ReadWriteOnce'], capacity => { storage => '1Gi' });
    my $pv = sub { my ($name, %more) = @_; return { metadata => { name => $name }, spec => { %spec, %more } } };
    $acme->post("$in/pods?$ignored", json => { metadata => { name => 'noted' }, spec => { containers => [container()], volumes => [{ name => 'v', emptyDir => {}, note => 1 }] } })
        ->is_status(201, 'a pod');
    $acme->post("$volumes?$ignored", json => $pv->('noted', hostPath => { path => '/' }, note => 1))->is_status(201, 'a persistent volume');
    $acme->put("$volumes/noted", json => $pv->('noted', hostPath => { path => '/' }))->is_status(200, 'which may lose it');
    my %fault = faults_of($acme->post("$volumes?$ignored", json => $pv->('none', note => 1)), 'alone', 'PersistentVolume');
    is_deeply \%fault, { spec => 'Required value: must specify a volume type' }, 'it is no source';
};

subtest 'daemon sets' => sub {
    my $path = '/apis/apps/v1/namespaces/default/daemonsets';
    my $set  = sub { my (%spec) = @_; return { metadata => { name => 'd' }, spec => { selector => { matchLabels => { a => 'b' } },
        template => { metadata => { labels => { a => 'b' } }, spec => { containers => [container()] } }, %spec } } };
    $admin->post($path, json => $set->(template => { metadata => { labels => { a => 'b' } }, spec => {} }))->is_status(422, 'a template is a pod');
    $admin->post($path, json => $set->(selector => { matchLabels => { a => 'c' } }))->is_status(422, 'which it selects');
    $admin->post($path, json => $set->())->is_status(201, 'a good one');
    $admin->put("$path/d", json => $set->(minReadySeconds => 1))->is_status(200, 'which changes');
    my $labels = { matchLabels => { a => 'c' } };
    my %fault  = faults_of($admin->put("$path/d", json => $set->(selector => $labels, template => { metadata => { labels => { a => 'c' } }, spec => { containers => [container()] } })),
        'what it selects', 'DaemonSet');
    is_deeply \%fault, { 'spec.selector' => 'Invalid value: {"matchLabels":{"a":"c"}}: field is immutable' }, 'stays';
    my $tenancy = '/v2.0/system/namespaces/default/daemonsets.apps/d';
    $admin->patch($tenancy, { spec => { selector => $_ } })->is_status(400, 'in another dialect, too') for $labels, undef;
    $admin->patch($tenancy, { spec => { minReadySeconds => 2 } })->is_status(200, 'which changes the rest');
};

subtest 'metadata' => sub {
    my @map = (ConfigMap => "$in/configmaps");
    my $with = sub { return { metadata => { name => 'refused', @_ } } };
    refused('annotations', @map, $with->(annotations => { a => 'x' x (256 << 10) }), 'metadata.annotations' => qr/\AToo long: must have at most 262144 bytes\z/);
    taken('256 KiB of them', "$in/configmaps", { metadata => { annotations => { a => 'x' x ((256 << 10) - 1) } } });
    refused('a key', @map, $with->(annotations => { 'a b' => 'x' }), 'metadata.annotations' => qr/name part must consist of/);
    refused('a long key', @map, $with->(labels => { 'k' x 64 => 'x' }), 'metadata.labels' => qr/name part must be no more than 63 characters/);
    refused('a long value', @map, $with->(labels => { k => 'x' x 64 }), 'metadata.labels' => qr/must be no more than 63 characters/);
    refused('a name', @map, $with->(name => 'A'), 'metadata.name' => qr/a DNS-1123 subdomain must consist of/);
    refused('a long name', @map, $with->(name => 'a' x 254), 'metadata.name' => qr/must be no more than 253 characters/);
    my %fault = faults_of($acme->post('/api/v1/namespaces', json => { metadata => { name => 'a.b' } }), 'a namespace', 'Namespace');
    like $fault{'metadata.name'}, qr/a DNS-1123 label must consist of/, 'has a label for a name';
};

subtest 'what types are called' => sub {
    my $crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    my $make = sub {
        my (%names) = @_;
        my $plural = $names{plural} // 'widgets';
        return $acme->post($crds, json => { metadata => { name => "$plural.example.com" }, spec => { group => 'example.com', scope => 'Namespaced',
            names => { plural => $plural, kind => 'Widget', %names },
            versions => [{ name => 'v1', served => $true, storage => $true, schema => { openAPIV3Schema => { type => 'object' } } }] } });
    };
    for my $case (['plural', '1widgets'], ['singular', '9widget'], ['kind', '2Widget']) {
        my %fault = faults_of($make->($case->[0] => $case->[1]), "$case->[0] $case->[1]", 'CustomResourceDefinition');
        like $fault{"spec.names.$case->[0]"} // '', qr/a DNS-1035 label must consist of .*start with an alphabetic character/, 'begins with a letter';
    }
    my %fault = faults_of($make->(shortNames => ['4w']), 'a short name', 'CustomResourceDefinition');
    is_deeply [keys %fault], ['spec.names.shortNames[0]'], 'does so too';
    for my $word (qw(status finalize namespaces tenants)) {
        %fault = faults_of($make->(plural => $word), $word, 'CustomResourceDefinition');
        like $fault{'spec.names.plural'} // '', qr/addresses have this word with another meaning/, 'could not be reached';
    }
    for my $word (qw(scale all system watch action)) {
        $make->(plural => $word, kind => ucfirst($word) . 'Kind')->is_status(201, "$word is no such word");
        my $at = "/apis/example.com/v1/namespaces/default/$word";
        $acme->post($at, json => { metadata => { name => 'one' } })->is_status(201, 'one is made');
        $acme->get("$at/one")->is_status(200, 'and read');
        is scalar @{ $acme->get($at)->json->{items} }, 1, 'and listed';
    }
};

# ---- what was stored by other rules

subtest 'what is there already' => sub {
    $acme->put('/v2.0/acme/namespaces/default/pods/odd', json => { spec => { containers => [] } })->is_status(201, 'another dialect takes any object');
    $acme->patch("$in/pods/odd", { metadata => { labels => { a => 'b' }, finalizers => ['example.com/f'] } })->is_status(200, 'its metadata change');
    faults_of($acme->patch("$in/pods/odd", { spec => { nodeName => 'n' } }), 'its spec does not', 'Pod');
    $acme->patch("$in/pods/odd/status", { status => { phase => 'Running' } })->is_status(200, 'its status does');
    $acme->delete("$in/pods/odd")->is_status(200, 'it can go');
    $acme->patch("$in/pods/odd", { metadata => { finalizers => undef } })->is_status(200, 'once its finalizers are done');
    $acme->get("$in/pods/odd")->is_status(404, 'and is gone');
};

# ---- what a request may take

# What the server fills in and checks costs a few times the object's own memory.
subtest 'many containers' => sub {
    my $containers = join ',', map { qq({"name":"c$_","image":"i"}) } 1 .. 12_000;
    my $pod = $acme->post("$in/pods?dryRun=All", body => qq({"metadata":{"name":"many"},"spec":{"containers":[$containers]}}), type => 'application/json');
    $pod->is_status(201, '12,000 fit into a request');
    $acme->post("$in/pods", json => { metadata => { name => 'few' }, spec => { containers => [{ name => 'c1', image => 'i' }] } })->is_status(201);
    for my $type ('application/merge-patch+json', 'application/strategic-merge-patch+json') {
        my $answer = $acme->request('PATCH', "$in/pods/few", body => qq({"spec":{"containers":[$containers]}}), type => $type);
        my %fault  = faults_of($answer, "$type: so many fit, too", 'Pod');
        like $fault{'spec.containers'} // '', qr/pod updates may not add or remove containers/, 'but not into this pod';
    }
    $acme->delete("$in/pods/few")->is_status(200);
};

done_testing;
