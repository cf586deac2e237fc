#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Objects of built-in kinds that come as protobuf, as typed clients send them: what is stored is what the same object as
# JSON leaves. At the end a kubectl that sends protobuf, where there is one; KUBECTL names another than that of the PATH.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp   ();
use JSON::PP     ();
use Test::More;

use Tenure::Instance;

my $type     = 'application/vnd.kubernetes.protobuf';
my $instance = Tenure::Instance->start(combined => 1, tls => 1);
my $acme     = $instance->combined('alice:acme');
my $core     = '/api/v1/namespaces/default';
my $json     = JSON::PP->new->canonical->allow_nonref;
$instance->combined('admin')->make_tenant('acme');

# ---- protobuf, written

sub varint {
    my ($n) = @_;
    my $out = '';
    while ($n > 127) { $out .= chr($n & 127 | 128); $n >>= 7 }
    return $out . chr $n;
}

# Pairs of a field's number and its value: text, \number, or [the pairs of a message].
sub message {
    my (@pairs) = @_;
    my $out = '';
    while (my ($field, $value) = splice @pairs, 0, 2) {
        $value = message(@$value) if ref $value eq 'ARRAY';
        $out .= ref $value ? varint($field << 3) . varint($$value) : varint($field << 3 | 2) . varint(length $value) . $value;
    }
    return $out;
}

# kind: "v1 ConfigMap".
sub envelope {
    my ($kind, @pairs) = @_;
    my ($version, $name) = split ' ', $kind;
    return "k8s\0" . message(1 => [1 => $version, 2 => $name], 2 => message(@pairs), 3 => '', 4 => '');
}

# Clients write what is not set as well, empty.
sub metadata {
    my ($name, @more) = @_;
    return (1 => [1 => $name, 2 => '', 3 => '', 4 => '', 5 => '', 6 => '', 7 => \0, 8 => [], @more]);
}

sub give {
    my ($method, $path, $body, %option) = @_;
    return $acme->request($method, $path, body => $body, type => $type, %option);
}

# The response, of that status.
sub answered {
    my ($response, @expected) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    $response->is_status(@expected);
    return $response;
}

# ---- the same by both

# An object as it is stored, without what the server and its name say.
sub stored {
    my ($path) = @_;
    my $object = $acme->get($path)->json;
    delete @{ $object->{metadata} }{qw(name uid resourceVersion etag creationTimestamp selfLink generation)};
    return $json->encode($object);
}

sub same {
    my ($path, $kind, $object, $metadata, @pairs) = @_;
    my %metadata = (name => 'j', %{ $object->{metadata} // {} });
    my ($version, $name) = split ' ', $kind;
    $acme->post($path, json => { %$object, apiVersion => $version, kind => $name, metadata => \%metadata })->is_status(201, "$kind as JSON");
    give(POST => $path, envelope($kind, metadata('p', @$metadata), @pairs))->is_status(201, "$kind as protobuf");
    is stored("$path/p"), stored("$path/j"), "$kind: what is stored is the same";
    return;
}

my ($true, $false) = (JSON::PP::true, JSON::PP::false);

subtest 'kinds' => sub {
    same('/api/v1/namespaces', 'v1 Namespace', { metadata => { labels => { a => 'b' } }, spec => {} }, [11 => [1 => 'a', 2 => 'b']], 2 => [], 3 => [1 => '']);
    same("$core/configmaps", 'v1 ConfigMap',
        { metadata => { annotations => { n => "\x{e9}" }, finalizers => ['example.com/f'] }, data => { a => '1', b => '' }, binaryData => { c => '/v8=' }, immutable => $false },
        [12 => [1 => 'n', 2 => "\xc3\xa9"], 14 => 'example.com/f'],
        2 => [1 => 'a', 2 => '1'], 2 => [1 => 'b', 2 => ''], 3 => [1 => 'c', 2 => "\xfe\xff"], 4 => \0);
    same("$core/secrets", 'v1 Secret', { data => { p => 'AP8=' }, stringData => { q => 'text' }, type => 'Opaque' }, [],
        2 => [1 => 'p', 2 => "\0\xff"], 3 => 'Opaque', 4 => [1 => 'q', 2 => 'text']);
    same("$core/serviceaccounts", 'v1 ServiceAccount', { imagePullSecrets => [{ name => 'x' }], automountServiceAccountToken => $true }, [],
        3 => [1 => 'x'], 4 => \1);
    same("$core/services", 'v1 Service',
        { spec => { ports => [{ name => 'a', port => 80, targetPort => 'http' }, { name => 'b', port => 81, targetPort => 8081 }], selector => { a => 'b' }, type => 'ClusterIP' }, status => { loadBalancer => {} } }, [],
        2 => [1 => [1 => 'a', 2 => '', 3 => \80, 4 => [1 => \1, 2 => \0, 3 => 'http'], 5 => \0], 1 => [1 => 'b', 2 => '', 3 => \81, 4 => [1 => \0, 2 => \8081, 3 => ''], 5 => \0],
            2 => [1 => 'a', 2 => 'b'], 3 => '', 4 => 'ClusterIP', 13 => \0],
        3 => [1 => []]);
    same('/api/v1/persistentvolumes', 'v1 PersistentVolume',
        { spec => { capacity => { storage => '1Gi' }, hostPath => { path => '/x', type => '' }, accessModes => ['ReadWriteOnce'], claimRef => { namespace => 'n', name => 'c' },
            nodeAffinity => { required => { nodeSelectorTerms => [{ matchExpressions => [{ key => 'k', operator => 'In', values => ['v'] }] }] } } } }, [],
        2 => [1 => [1 => 'storage', 2 => [1 => '1Gi']], 2 => [3 => [1 => '/x', 2 => '']], 3 => 'ReadWriteOnce', 4 => [1 => '', 2 => 'n', 3 => 'c'], 5 => '',
            9 => [1 => [1 => [1 => [1 => 'k', 2 => 'In', 3 => 'v']]]]]);
};

subtest 'pods' => sub {
    my %container = (
        name => 'a', image => 'i', command => ['x', ''], ports => [{ containerPort => 80, protocol => 'TCP' }],
        env => [{ name => 'A' }, { name => 'B', valueFrom => { secretKeyRef => { name => 's', key => 'k' } } }],
        resources => { limits => { cpu => '100m' } }, volumeMounts => [{ name => 'v', mountPath => '/v' }],
        livenessProbe => { httpGet => { path => '/', port => 80 }, periodSeconds => 5, terminationGracePeriodSeconds => 0 },
        securityContext => { privileged => $false, runAsUser => 0 },
    );
    my @container = (
        1 => 'a', 2 => 'i', 3 => 'x', 3 => '', 5 => '', 6 => [1 => '', 2 => \0, 3 => \80, 4 => 'TCP', 5 => ''],
        7 => [1 => 'A', 2 => ''], 7 => [1 => 'B', 2 => '', 3 => [4 => [1 => [1 => 's'], 2 => 'k']]],
        8 => [1 => [1 => 'cpu', 2 => [1 => '100m']]], 9 => [1 => 'v', 2 => \0, 3 => '/v', 4 => '', 6 => ''],
        10 => [1 => [2 => [1 => '/', 2 => [1 => \0, 2 => \80, 3 => ''], 3 => '', 4 => '']], 2 => \0, 3 => \0, 4 => \5, 5 => \0, 6 => \0, 7 => \0],
        13 => '', 14 => '', 15 => [2 => \0, 4 => \0], 16 => \0, 17 => \0, 18 => \0, 20 => '',
    );
    my %spec = (
        containers => [\%container], volumes => [{ name => 'v', configMap => { name => 'c', items => [{ key => 'k', path => 'p' }] } }, { name => 'e', emptyDir => {} }],
        restartPolicy => 'Never', terminationGracePeriodSeconds => 0, nodeSelector => { n => 'm' }, securityContext => { supplementalGroups => [1, 2] },
        tolerations => [{ key => 'k', operator => 'Exists' }],
        affinity => { podAntiAffinity => { requiredDuringSchedulingIgnoredDuringExecution => [{ labelSelector => { matchLabels => { a => 'b' } }, topologyKey => 't' }] } },
    );
    my @spec = (
        1 => [1 => 'v', 2 => [19 => [1 => [1 => 'c'], 2 => [1 => 'k', 2 => 'p']]]], 1 => [1 => 'e', 2 => [2 => [1 => '']]], 2 => \@container,
        3 => 'Never', 4 => \0, 6 => '', 7 => [1 => 'n', 2 => 'm'], 8 => '', 9 => '', 10 => '', 11 => \0, 12 => \0, 13 => \0, 14 => [4 => \1, 4 => \2],
        16 => '', 17 => '', 18 => [3 => [1 => [1 => [1 => [1 => 'a', 2 => 'b']], 3 => 't']]], 19 => '', 22 => [1 => 'k', 2 => 'Exists', 3 => '', 4 => ''], 24 => '',
    );
    # 17 of the status is what later clients write there, empty.
    same("$core/pods", 'v1 Pod', { spec => \%spec }, [], 2 => \@spec);
    give(POST => "$core/pods", envelope('v1 Pod', metadata('later'), 2 => \@spec, 3 => [1 => '', 3 => '', 17 => \0]))->is_status(201, 'an empty field that is not known is passed over');
    my $refused = answered(give(POST => "$core/pods", envelope('v1 Pod', metadata('new'), 2 => [2 => [1 => 'a', 99 => 'x']])), 400, 'one that says something is not');
    like $refused->json->{message}, qr/"spec\.containers\[0\]" has the field 99/, 'and it is named';
    $acme->get("$core/pods/new")->is_status(404, 'nothing was stored');
};

subtest 'definitions' => sub {
    my %schema = (
        type => 'object',
        properties => {
            a => { type => 'integer', minimum => 0, maximum => 1.5, default => 1, enum => [1, 0] },
            b => { type => 'array', items => { type => 'string', maxLength => 0 } },
            c => { type => 'object', additionalProperties => { type => 'string' } },
            d => { type => 'object', 'x-kubernetes-preserve-unknown-fields' => $true },
            e => { 'x-kubernetes-int-or-string' => $true },
        },
    );
    my @schema = (
        5 => 'object',
        29 => [1 => 'a', 2 => [5 => 'integer', 8 => [1 => '1'], 10 => \0, 12 => \0, 20 => [1 => '1'], 20 => [1 => '0']]],
        29 => [1 => 'b', 2 => [5 => 'array', 24 => [1 => [5 => 'string', 13 => \0]]]],
        29 => [1 => 'c', 2 => [5 => 'object', 30 => [1 => \0, 2 => [5 => 'string']]]],
        29 => [1 => 'd', 2 => [5 => 'object', 38 => \1]],
        29 => [1 => 'e', 2 => [5 => '', 40 => \1]],
    );
    # minimum and maximum are doubles, which message() has no way to write.
    my $doubles = "\x59" . pack('d<', 0) . "\x49" . pack('d<', 1.5);
    $schema[3][3] = message(@{ $schema[3][3] }) . $doubles;
    my $spec = sub {
        my ($plural) = @_;
        return { group => 'example.com', scope => 'Namespaced', names => { plural => $plural, kind => ucfirst $plural }, conversion => { strategy => 'None' },
            versions => [{ name => 'v1', served => $true, storage => $true, schema => { openAPIV3Schema => \%schema }, subresources => { status => {} } }] };
    };
    my $crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    $acme->post($crds, json => { metadata => { name => 'js.example.com' }, spec => $spec->('js') })->is_status(201, 'a definition as JSON');
    give(POST => $crds, envelope('apiextensions.k8s.io/v1 CustomResourceDefinition', metadata('ps.example.com'),
        2 => [1 => 'example.com', 3 => [1 => 'ps', 2 => '', 4 => 'Ps', 5 => ''], 4 => 'Namespaced',
            7 => [1 => 'v1', 2 => \1, 3 => \1, 4 => [1 => \@schema], 5 => [1 => []], 7 => \0], 9 => [1 => 'None'], 10 => \0],
        3 => [2 => [1 => '', 2 => '', 4 => '', 5 => '']]))->is_status(201, 'a definition as protobuf');
    my ($j, $p) = map { $acme->get("$crds/$_.example.com")->json->{spec} } qw(js ps);
    is $json->encode($p) =~ s/Ps/Js/gr =~ s/"ps/"js/gr, $json->encode($j), 'what is stored is the same';
    my %ps = (apiVersion => 'example.com/v1', kind => 'Ps', metadata => { name => 'x' });
    $acme->post('/apis/example.com/v1/namespaces/default/ps', json => { %ps, a => 2 })->is_status(422, 'and holds');
    give(POST => '/apis/example.com/v1/namespaces/default/ps', envelope('example.com/v1 Ps', metadata('x')))->is_status(415, 'objects of such types are JSON');
};

subtest 'changing, deleting, asking' => sub {
    $acme->post("$core/configmaps", json => { metadata => { name => 'c' }, data => { a => '1' } })->is_status(201);
    my $uid = $acme->get("$core/configmaps/c")->json->{metadata}{uid};
    give(PUT => "$core/configmaps/c", envelope('v1 ConfigMap', metadata('c'), 2 => [1 => 'a', 2 => '2']))->is_status(200, 'PUT');
    is $acme->get("$core/configmaps/c")->json->{data}{a}, '2', 'changed';
    give(PUT => "$core/configmaps/c", envelope('v1 Secret', metadata('c')))->is_status(400, 'another kind');
    give(PUT => "$core/configmaps/c", envelope('v1 ConfigMap', metadata('d')))->is_status(400, 'another name');
    give(PUT => "$core/configmaps/c", envelope('v1 ConfigMap', 1 => [1 => 'c', 6 => '1'], 2 => [1 => 'a', 2 => '3']))->is_status(409, 'a stale resourceVersion');
    give(DELETE => "$core/configmaps/c", envelope('v1 DeleteOptions', 2 => [1 => 'another']))->is_status(409, 'a precondition that does not hold');
    give(DELETE => "$core/configmaps/c", envelope('v1 DeleteOptions', 5 => 'All'))->is_status(200, 'a dry run');
    $acme->get("$core/configmaps/c")->is_status(200, 'it is still there');
    give(DELETE => "$core/configmaps/c", envelope('v1 DeleteOptions', 1 => \0, 2 => [1 => $uid], 4 => 'Background'))->is_status(200, 'DELETE');
    $acme->get("$core/configmaps/c")->is_status(404, 'it is gone');
    give(PATCH => "$core/configmaps/c", 'x')->is_status(415, 'patches are JSON');

    my $reviews = '/apis/authorization.k8s.io/v1';
    my $ask     = sub { envelope('authorization.k8s.io/v1 SelfSubjectAccessReview', 1 => [], 2 => [1 => [1 => 'default', 2 => $_[0], 3 => '', 4 => '', 5 => 'configmaps', 6 => '', 7 => '']], 3 => [1 => \0, 2 => '', 3 => '', 4 => \0]) };
    ok answered(give(POST => "$reviews/selfsubjectaccessreviews", $ask->('create')), 201)->json->{status}{allowed}, 'may create';
    ok !answered(give(POST => "$reviews/selfsubjectaccessreviews", $ask->('create'), as => 'rob:acme:reader'), 201)->json->{status}{allowed}, 'a reader may not';
    my $rules = answered(give(POST => "$reviews/selfsubjectrulesreviews", envelope('authorization.k8s.io/v1 SelfSubjectRulesReview', 2 => [1 => 'default'])), 201)->json;
    ok scalar(grep { $_->{resources}[0] eq 'configmaps' } @{ $rules->{status}{resourceRules} }), 'rules';
    my $who = answered(give(POST => '/apis/authentication.k8s.io/v1/selfsubjectreviews', envelope('authentication.k8s.io/v1 SelfSubjectReview', 1 => [], 2 => [1 => [1 => '', 2 => '']])), 201)->json;
    is_deeply [@$who{qw(apiVersion kind)}, $who->{status}{userInfo}{extra}{tenant}], ['authentication.k8s.io/v1', 'SelfSubjectReview', ['acme']], 'who one is';
};

subtest 'what is none' => sub {
    my $good = envelope('v1 ConfigMap', metadata('x'), 2 => [1 => 'a', 2 => 'b']);
    my %bad  = (
        'no magic'                 => [400, 'does not begin', substr($good, 4)],
        'JSON'                     => [400, 'does not begin', '{}'],
        'magic alone'              => [400, 'names no kind', "k8s\0"],
        'cut off'                  => [400, 'longer than', substr($good, 0, length($good) - 6)],
        'no object'                => [415, 'send it as application/json', envelope('v1 Event')],
        'a kind of no version'     => [415, 'send it as application/json', envelope('v2 ConfigMap')],
        'a kind that is no text'   => [400, 'no text', "k8s\0" . message(1 => [1 => 'v1', 2 => "\xff"])],
        'a number for a kind'      => [400, 'number', "k8s\0" . message(1 => [1 => 'v1', 2 => \1])],
        'compressed'               => [415, 'application/json', "k8s\0" . message(1 => [1 => 'v1', 2 => 'ConfigMap'], 2 => '', 3 => 'gzip')],
        'JSON in it'               => [415, 'application/json', "k8s\0" . message(1 => [1 => 'v1', 2 => 'ConfigMap'], 2 => '{}', 4 => 'application/json')],
        'no UTF-8'                 => [400, '"data\.a" must be UTF-8', envelope('v1 ConfigMap', metadata('x'), 2 => [1 => 'a', 2 => "\xff"])],
        'a key with NUL'           => [400, '"data" has a key', envelope('v1 ConfigMap', metadata('x'), 2 => [1 => "a\0", 2 => ''])],
        'a name twice'             => [400, '"metadata\.name" is there twice', envelope('v1 ConfigMap', 1 => [1 => 'x', 1 => 'y'])],
        'text where a number is'   => [400, '"immutable" must be', envelope('v1 ConfigMap', metadata('x'), 4 => 'x')],
        'a time out of range'      => [400, 'years 1 to 9999', envelope('v1 ConfigMap', 1 => [1 => 'x', 8 => [1 => \253402300800]])],
        'an unknown field'         => [400, 'the field 77', envelope('v1 ConfigMap', metadata('x'), 77 => 'x')],
    );
    my $changes = $instance->change_count;
    for my $what (sort keys %bad) {
        my ($status, $says, $body) = @{ $bad{$what} };
        my $answer = answered(give(POST => "$core/configmaps", $body), $status, $what);
        like $answer->json->{message}, qr/$says/, "$what is named";
    }
    give(POST => "$core/configmaps", envelope('v1 ConfigMap', metadata('x'), map { (2 => [1 => "k$_", 2 => '']) } 1 .. 450_000))->is_status(413, 'more bytes than are taken');
    my $deep = '';
    $deep = message(29 => [1 => 'a', 2 => $deep]) for 1 .. 100;
    my $answer = give(POST => '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', envelope('apiextensions.k8s.io/v1 CustomResourceDefinition', metadata('x.example.com'), 2 => [7 => [1 => 'v1', 4 => [1 => $deep]]]));
    like answered($answer, 400, 'too deep')->json->{message}, qr/nested too deep/, 'too deep is named';
    is $instance->change_count, $changes, 'nothing was stored';
    $acme->post("$core/configmaps", body => 'a: b', type => 'application/yaml')->is_status(415, 'YAML');
};

subtest 'kubectl' => sub {
    my ($kubectl) = grep { defined && -x } $ENV{KUBECTL}, map { "$_/kubectl" } split /:/, $ENV{PATH};
    my $home      = File::Temp->newdir('tenure-kubectl-XXXXXX', TMPDIR => 1);
    local $ENV{HOME} = "$home";
    my $minor = defined $kubectl && eval { JSON::PP::decode_json(scalar `$kubectl version --client -o json 2>/dev/null`)->{clientVersion}{minor} };
    plan skip_all => 'no kubectl from 1.32 on, which sends protobuf' unless $minor && ($minor =~ /\A([0-9]+)/)[0] >= 32;
    my @kubectl = ($kubectl, '--server', $instance->env('TENURE_COMBINED_TLS_URL'), '--certificate-authority', $instance->env('TENURE_CA_FILE'), '--token', 'alice:acme');
    my $does = sub {
        my ($command, $says) = @_;
        open my $out, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', @kubectl, split ' ', $command or die "sh: $!\n";
        my $text = do { local $/ = undef; readline $out } // '';
        close $out;
        ok $? == 0 && $text =~ $says, "kubectl $command" or diag $text;
    };
    $does->('create namespace made', qr{namespace/made created});
    $does->('create configmap made --from-literal=a=b -o jsonpath={.data}', qr/\{"a":"b"\}/);
    $does->('create secret generic made --from-literal=p=q -o jsonpath={.data.p}', qr/cQ==/);
    $does->('create serviceaccount made', qr/created/);
    $does->('create service clusterip made --tcp=80:8080 -o jsonpath={.spec.ports[0].targetPort}', qr/8080/);
    $does->('run made --image=i --port=80 --env=A=b -o jsonpath={.spec.containers[0].env[0].value}', qr/b/);
    $does->('auth can-i create configmaps', qr/yes/);
    $does->('auth can-i --list', qr/configmaps.*\[create/);
    $does->('delete namespace made', qr/deleted/);
};

done_testing;
