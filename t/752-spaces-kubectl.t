#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# kubectl as it comes, over TLS, as users of two tenants and as the operator: what is special about a kind or a user. What
# all commands do with all kinds is in 765-spaces-kubectl-matrix.t. KUBECTL names another than that of the PATH.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Kubectl;
use Tenure::Pages;
use Tenure::Run qw(run);

my $minor = Tenure::Kubectl::minor() // plan skip_all => 'kubectl is not installed, or does not run';
my $instance = Tenure::Instance->start(combined => 1, tls => 1);
my $kubectl  = Tenure::Kubectl->new($instance);
my $json     = JSON::PP->new->canonical;

# Succeeds, and says that to stdout. says: a pattern, or the whole text, each run of blanks counting as one.
sub does {
    my ($token, $command, $says, %option) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $said = $kubectl->run($token, $command, %option);
    my $name = "$token: " . (ref $command ? "@$command" : $command);
    my $out  = $said->{out} =~ s/[ \t]+/ /gr =~ s/ $//gmr =~ s/\n+\z//r;
    my $good = ref $says ? $out =~ $says : $out eq $says;
    ok($said->{code} == 0 && $good, $name) or diag "$said->{code}: $out\n$said->{err}\nto be: $says";
    return $said->{out};
}

# Fails, and says that to stderr (auth can-i: to stdout).
sub fails {
    my ($token, $command, $says, %option) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $said = $kubectl->run($token, $command, %option);
    my $name = "$token: " . (ref $command ? "@$command" : $command);
    ok($said->{code} != 0 && "$said->{err}$said->{out}" =~ $says, "$name fails")
        or diag "$said->{code}: $said->{out}\n$said->{err}\nto be: $says";
    return;
}

sub object {
    my ($kind, $name, %more) = @_;
    my $metadata = { name => $name, %{ delete $more{metadata} // {} } };
    return $json->encode({ apiVersion => $more{apiVersion} // 'v1', kind => $kind, metadata => $metadata, %more });
}

my ($op, $alice, $bob) = ('admin', 'alice:acme', 'bob:globex');

subtest 'tenants' => sub {
    does($op, 'create -f -', "tenant/$_ created", input => object('Tenant', $_)) for qw(acme globex brief);
    does($op, 'get tenants', qr/\ANAME STATUS AGE\nacme Active \d+s\nbrief Active \d+s\nglobex Active \d+s\nsystem Active \d+s\z/);
    does($op, 'describe tenant acme', qr/^Name: acme\n.*Kind: Tenant\n.*Phase: Active\n/s);
    does($op, 'label tenant acme tier=gold', 'tenant/acme labeled');
    does($op, 'get tenants -l tier=gold -o name', 'tenant/acme');
    does($op, 'explain tenant.spec', qr/multiTenancyCRDPolicy/);
    does($alice, 'get tenants', qr/\ANAME STATUS AGE\nacme Active \d+s\z/);
    fails($alice, "get tenant $_", qr/Forbidden.*its own Tenant object/) for qw(globex nowhere);
    fails($alice, 'create -f -', qr/Forbidden/, input => object('Tenant', 'mine'));
    fails($alice, 'delete tenant acme', qr/Forbidden/);
    fails($alice, 'label tenant acme tier=iron --overwrite', qr/Forbidden.*multiTenancyCRDPolicy/);
    does($alice, ['patch', 'tenant', 'acme', '-p', '{"spec":{"multiTenancyCRDPolicy":"SystemCRDFirst"}}'], 'tenant/acme patched');
    does($alice, 'edit tenant acme', 'tenant/acme edited', editor => 'sed -i s/SystemCRDFirst/LocalCRDFirst/');
    does($alice, 'get tenant acme -o jsonpath={.spec.multiTenancyCRDPolicy}', 'LocalCRDFirst');
    my $policy = sub { return object('Tenant', 'acme', spec => { multiTenancyCRDPolicy => $_[0] }, metadata => $_[1] // {}) };
    does($alice, 'apply -f -', 'tenant/acme configured', input => $policy->('SystemCRDFirst'));
    does($alice, 'apply -f -', 'tenant/acme unchanged',  input => $policy->('SystemCRDFirst'));
    does($alice, 'get tenant acme -o jsonpath={.spec.multiTenancyCRDPolicy}{.metadata.labels.tier}', 'SystemCRDFirstgold');
    fails($alice, 'apply -f -', qr/Forbidden.*multiTenancyCRDPolicy/s, input => $policy->('SystemCRDFirst', { annotations => { region => 'eu' } }));
    does($op, 'apply -f -', 'tenant/acme configured', input => $policy->('NeverUseSystemCRDUnlessForced', { annotations => { region => 'eu' } }));
    does($alice, 'replace -f -', 'tenant/acme replaced', input => $policy->('LocalCRDFirst', { annotations => { region => 'eu' }, labels => { tier => 'gold' } }));
    does($op, 'annotate tenant acme region-', 'tenant/acme annotated');
    fails($alice, ['patch', 'tenant', 'acme', '-p', '{"spec":{"multiTenancyCRDPolicy":"Mine"}}'], qr/must be LocalCRDFirst/);
    does($op, 'delete tenant brief --timeout=20s', 'tenant "brief" deleted');
    does($op, 'wait tenant/brief --for=delete --timeout=20s', qr/\A/) if $minor > 20;
    fails('eve:brief', 'create -f -', qr/tenants "brief" not found/, input => object('ConfigMap', 'late'));
};

# What is listed is what may be used, and the cluster's nodes, so that no other type is taken for them.
subtest 'what there is' => sub {
    my @tenants = qw(configmaps customresourcedefinitions.apiextensions.k8s.io events namespaces nodes persistentvolumes pods secrets
        selfsubjectaccessreviews.authorization.k8s.io selfsubjectreviews.authentication.k8s.io
        selfsubjectrulesreviews.authorization.k8s.io serviceaccounts services tenants);
    my $resources = sub {
        my ($token) = @_;
        return join ' ', grep { !/openstack/ } sort split /\n/, $kubectl->run($token, 'api-resources -o name')->{out};
    };
    is $resources->($alice), join(' ', @tenants), 'api-resources of a tenant';
    is $resources->($op), join(' ', sort @tenants, 'daemonsets.apps'), 'api-resources of the operator';
    does($_, 'version', qr/Server Version: .*1.*20/s) for $alice, $op;
    my @versions = qw(apiextensions.k8s.io/v1 apiextensions.k8s.io/v1beta1 authentication.k8s.io/v1 authorization.k8s.io/v1 baremetal.openstack.org/v1
        placement.openstack.org/v1 v1);
    does($alice, 'api-versions', join "\n", @versions);
    does($op, 'api-versions', join "\n", sort @versions, 'apps/v1');
    does($alice, 'api-resources --namespaced=false', qr/^namespaces ns v1 false Namespace$/m);
    fails($alice, 'get daemonsets', qr/doesn't have a resource type "daemonsets"/);
    my $daemons = object('DaemonSet', 'd', apiVersion => 'apps/v1', spec => { selector => { matchLabels => { a => 'b' } },
        template => { metadata => { labels => { a => 'b' } }, spec => { containers => [{ name => 'c', image => 'i' }] } } });
    fails($alice, 'create -f -', qr/no matches for kind "DaemonSet"/, input => $daemons);
    does($op, 'create -f -', 'daemonset.apps/d created', input => $daemons);
    does($op, 'get all', qr{^daemonset.apps/d 0 0 0 0 0 <none> \d+s}m);
    does($op, 'delete ds d', 'daemonset.apps "d" deleted');
    does($alice, "get $_", '') for qw(all events sa svc);
    my $of_system = qr/Forbidden.*nodes(?: "n")? is forbidden: User "alice" cannot \w+ resource "nodes" in API group "".*system space alone/;
    fails($alice, $_, $of_system) for 'get nodes', 'get no', 'get node n', 'get nodes --watch', 'describe nodes', 'delete node n', 'label node n a=b';
    fails($alice, 'create -f -', $of_system, input => object('Node', 'n'));
    fails($alice, ['auth', 'can-i', $_, 'nodes'], qr/^no/m) for qw(create get list watch delete *);
    does($alice, 'auth can-i list nodes.baremetal.openstack.org', qr/^yes/m);
    unlike $kubectl->run($alice, 'auth can-i --list')->{out}, qr/^nodes(?:\/|\s)/m, 'nor in the list of what it can';
    does($_, 'explain nodes', qr/A node of the cluster/) for $alice, $op;
    does($alice, 'explain events.involvedObject', qr/What it is about.*fieldPath <string>/s);
    does($alice, 'get nodes.baremetal.openstack.org', '');
    does($op, 'get nodes', '');
    fails($alice, 'get deployments', qr/doesn't have a resource type/);
    fails('', 'get cm', qr/Unauthorized|logged in|credentials|Username/);
};

subtest 'what kubectl makes itself' => sub {
    does($alice, 'create ns n2', 'namespace/n2 created');
    does($alice, 'get ns', qr/default Active .*\nn2 Active/);
    does($alice, 'describe ns n2', qr/Status: Active/);
    does($alice, 'create secret generic s --from-literal=p=q -n n2', 'secret/s created');
    does($alice, 'get secret s -n n2 -o jsonpath={.type}:{.data.p}', 'Opaque:cQ==');
    does($alice, 'create configmap c --from-literal=a=b -n n2 --save-config', 'configmap/c created');
    does($alice, 'get cm -A', qr/\ANAMESPACE NAME DATA AGE\nn2 c 1 \d+s\z/);
    fails($alice, 'create cm x -n none', qr/namespaces "none" not found/);
    fails($alice, 'create cm c -n n2', qr/configmaps "c" already exists/);
    fails($alice, 'create ns Bad', qr/metadata\.name: Invalid value/);
    does($alice, 'delete ns n2', 'namespace "n2" deleted');
    does($alice, 'get cm -A', '');
    fails($alice, 'delete ns default', qr/Forbidden.*may not be deleted/);
    does($alice, 'run web --image=nginx', 'pod/web created');
    does($alice, 'get pods', qr{\ANAME READY STATUS RESTARTS AGE\nweb 0/1 Pending 0 \d+s\z});
    does($alice, 'expose pod web --port=80', 'service/web exposed');
    does($alice, 'describe svc web', qr{Selector: run=web\nType: ClusterIP\n.*Session Affinity: None\n}s);
    fails($alice, 'set env pod/web A=B', qr/Pod "web" is invalid: spec: Forbidden: pod updates may not change fields other than/);
    does($alice, 'set image pod/web web=nginx:2', 'pod/web image updated');
    fails($alice, 'logs web', qr/NotFound/);
    does($alice, 'delete pod,svc web', qr/pod "web" deleted\nservice "web" deleted/);
    does($alice, 'create serviceaccount robot', 'serviceaccount/robot created');
    does($alice, 'get sa', qr/\ANAME SECRETS AGE\nrobot 0 \d+s\z/);
    does($alice, 'create service clusterip web --tcp=80:8080', 'service/web created');
    does($alice, 'get svc', qr{\ANAME TYPE CLUSTER-IP EXTERNAL-IP PORT\(S\) AGE\nweb ClusterIP <none> <none> 80/TCP \d+s\z});
    does($alice, 'get svc --field-selector spec.type=ClusterIP -o name', 'service/web');
    does($alice, "get svc --field-selector $_ -o name", '') for 'spec.type=NodePort', 'spec.clusterIP=None';
    does($alice, 'delete svc,sa --all', qr/service "web" deleted\nserviceaccount "robot" deleted/);
};

subtest 'auth can-i' => sub {
    does($_, 'auth can-i create cm', 'yes') for $alice, $bob, $op;
    does($_, 'auth can-i delete crd', 'yes') for $alice, $op;
    does('rita:acme:reader', 'auth can-i list cm', 'yes');
    fails('rita:acme:reader', 'auth can-i create cm', qr/^no/m);
    fails($alice, 'auth can-i create tenants', qr/^no/m);
    does($alice, 'auth can-i get tenants/acme', 'yes');
    does($op, 'auth can-i create tenants', 'yes');
    fails($alice, 'auth can-i create ds.apps', qr/^no/m);
    does($alice, 'auth whoami', qr/\AATTRIBUTE VALUE\nUsername alice\nExtra: role \[admin\]\nExtra: tenant \[acme\]\z/) if $minor > 27;
    does($op, 'auth can-i create ds.apps', 'yes');
    does($op, ['auth', 'can-i', '*', '*'], 'yes');
    fails($alice, ['auth', 'can-i', '*', '*'], qr/^no/m);
    does($alice, 'auth can-i --list', qr/\AResources Non-Resource URLs Resource Names Verbs\n(?!.*daemonsets).*^configmaps \[\] \[\] \[create /ms);
};

subtest 'pods, secrets, names' => sub {
    my $pod = object('Pod', 'p', metadata => { labels => { app => 'web' } }, spec => { containers => [{ name => 'a', image => 'one' }, { name => 'b', image => 'two' }] });
    fails($alice, 'create -f -', qr/contaners/, input => $pod =~ s/containers/contaners/r);
    fails($alice, 'create --validate=false -f -', qr/spec\.containers\[0\]\.name: Invalid value: 5: must be a string/, input => $pod =~ s/"name":"a"/"name":5/r);
    does($alice, 'create -f -', 'pod/p created', input => $pod);
    does($alice, 'get all', qr{\ANAME READY STATUS RESTARTS AGE\npod/p 0/2 Pending 0 \d+s\z});
    does($alice, 'set image pod/p a=three', 'pod/p image updated');
    does($alice, ['patch', 'pod', 'p', '-p', '{"spec":{"containers":[{"name":"b","image":"four"}]}}'], 'pod/p patched');
    fails($alice, ['patch', 'pod', 'p', '-p', '{"spec":{"containers":[{"name":"c","image":"five"}]}}'], qr/pod updates may not add or remove containers/);
    my $image = '{range .spec.containers[*]}{.name}={.image} {end}';
    my $said  = $kubectl->run($alice, ['get', 'pod', 'p', '-o', "jsonpath=$image"])->{out};
    is join(' ', sort split ' ', $said), 'a=three b=four', 'containers merge by their names';
    does($alice, 'get pods -l app=web -o custom-columns=NAME:.metadata.name,IMAGES:.spec.containers[*].image', qr/\ANAME IMAGES\np three,four\z/);
    fails($alice, 'wait --for=condition=Ready pod/p --timeout=1s', qr/timed out/);
    my $waiting = $kubectl->begin($alice, 'wait --for=condition=Ready pod/p --timeout=30s');
    my $watched = $kubectl->begin($alice, 'get pods --watch');
    $kubectl->wait_for($watched, qr/Pending/);
    my $status = $json->decode($kubectl->run($alice, 'get pod p -o json')->{out});
    $status->{status} = { phase => 'Running', conditions => [{ type => 'Ready', status => 'True' }] };
    does($alice, ['replace', '--raw', '/api/v1/namespaces/default/pods/p/status', '-f', '-'], qr/Running/, input => $json->encode($status));
    is $kubectl->end($waiting)->{out}, "pod/p condition met\n", 'wait for a condition';
    like $kubectl->wait_for($watched, qr/Running/), qr{Pending.*\np +0/2 +Running}s, 'get --watch shows it';
    $kubectl->end($watched, stop => 1);
    fails($alice, 'scale pod p --replicas=2', qr/could not find the requested resource/);
    does($alice, 'delete pod p --force --grace-period=0', qr/pod "p" (?:force )?deleted/);
    does($alice, 'create -f -', 'secret/s created', input => object('Secret', 's', stringData => { p => 'q' }));
    does($alice, 'describe secret s', qr/Type: Opaque\n.*^p: 1 byte/ms);
    does($alice, 'get secret s -o jsonpath={.data.p}{.stringData}', 'cQ==');
    fails($alice, 'create -f -', qr/data\[p\]: Invalid value: "\?": must be a string of base64/, input => object('Secret', 'bad', data => { p => '?' }));
    does($alice, 'create -f -', qr{\Aconfigmap/new-[a-z0-9]{5} created\z}, input => '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"new-"}}');
    fails($alice, 'create -f -', qr/"Bad" is invalid: metadata\.name: Invalid value: "Bad"/, input => object('ConfigMap', 'Bad'));
    fails($alice, 'get cm --field-selector data.x=1', qr/field label not supported: data\.x/);
    fails($alice, ['get', 'cm', '-l', 'a in (b'], qr/unable to parse requirement/);
    does($alice, 'delete cm,secret --all', qr/configmap "new-\w+" deleted\nsecret "s" deleted/);
    fails($alice, 'get --raw /nothing', qr/NotFound/);
};

my $crd = do { local $/ = undef; readline DATA };

# A table of what is alice's, and what bob tries with it; a full path gets the answer of a tenant that does not exist.
subtest 'strangers' => sub {
    my @things = (
        ['cm', '/api/v1/tenants/TENANT/namespaces/default/configmaps', object('ConfigMap', 'hers')],
        ['secret', '/api/v1/tenants/TENANT/namespaces/default/secrets', object('Secret', 'hers')],
        ['pod', '/api/v1/tenants/TENANT/namespaces/default/pods', object('Pod', 'hers', spec => { containers => [{ name => 'a', image => 'i' }] })],
        ['pv', '/api/v1/tenants/TENANT/persistentvolumes', object('PersistentVolume', 'hers',
            spec => { accessModes => ['ReadWriteOnce'], capacity => { storage => '1Gi' }, hostPath => { path => '/x' } })],
        ['ns', '/api/v1/tenants/TENANT/namespaces', object('Namespace', 'hers')],
        ['crd', '/apis/apiextensions.k8s.io/v1/tenants/TENANT/customresourcedefinitions', $crd, 'widgets.example.com'],
        ['wd', '/apis/example.com/v1/tenants/TENANT/namespaces/default/widgets', object('Widget', 'hers', apiVersion => 'example.com/v1', spec => { size => 1 })],
    );
    for my $thing (@things) {
        my ($type, $path, $object, $name) = @$thing;
        $name //= 'hers';
        my $file  = $kubectl->file('hers', $object);
        my $there = $path =~ s/TENANT/acme/r;
        does($alice, "create -f $file", qr/ created\z/);
        my $before = $kubectl->run($alice, "get --raw $there/$name")->{out};
        my $absent = $type eq 'wd' ? qr/doesn't have a resource type "wd"/ : qr/NotFound.*"\Q$name\E" not found/;
        fails($bob, $_, $absent) for "get $type $name", "describe $type $name", "label $type $name a=b", "edit $type $name",
            "patch $type $name --type=merge -p {}", "delete $type $name";
        does($bob, "get $type -A -o name", $type eq 'ns' ? 'namespace/default' : '') if $type ne 'wd';
        for my $command ("get --raw PATH/$name", 'get --raw PATH', "create --raw PATH -f $file", "replace --raw PATH/$name -f $file",
            "delete --raw PATH/$name") {
            my ($of_hers, $of_none) = map { my $full = $path =~ s/TENANT/$_/r; $kubectl->run($bob, $command =~ s/PATH/$full/r) } qw(acme nowhere);
            ok($of_hers->{code} == 1 && $of_hers->{err} =~ /\AError from server \(Forbidden\)/ && $of_hers->{out} eq '', "bob: $command is forbidden")
                or diag explain $of_hers;
            is $of_hers->{err} =~ s/"acme"/"nowhere"/r, $of_none->{err}, 'as it is for a tenant that does not exist';
        }
        is $kubectl->run($alice, "get --raw $there/$name")->{out}, $before, "$type: nothing happened to it";
        does($op, "get --raw $there/$name", qr/"tenant":"acme"/);
    }
    fails($bob, 'get --raw /api/v1/tenants/all/configmaps', qr/Forbidden/);
    does($op, 'get --raw /api/v1/tenants/all/configmaps', qr/"hers"/);
    fails($bob, 'create -f -', qr/tenant of the provided object does not match/, input => object('ConfigMap', 'sly', metadata => { tenant => 'acme' }));
    does($alice, "delete $_", qr/deleted/) for 'cm,secret,pod,pv,ns,wd hers', 'crd widgets.example.com';
};

subtest 'types of one\'s own' => sub {
    does($alice, 'create -f -', 'customresourcedefinition.apiextensions.k8s.io/widgets.example.com created', input => $crd);
    does($bob, 'create -f -', 'customresourcedefinition.apiextensions.k8s.io/widgets.example.com created', input => $crd =~ s/minimum: 1/minimum: 100/r);
    my %widget = (apiVersion => 'example.com/v1', spec => { size => 5 });
    does($alice, 'apply -f -', qr{widget\.example\.com/w created}, input => object('Widget', 'w', %widget));
    fails($bob, 'apply -f -', qr/spec\.size/, input => object('Widget', 'w', %widget));
    does($bob, 'apply -f -', qr{widget\.example\.com/w created}, input => object('Widget', 'w', %widget, spec => { size => 500 }));
    does($alice, 'get wd', qr/NAME\s+SIZE\s+w\s+5/);
    does($alice, ['get', 'wd', 'w', '-o', 'jsonpath={.spec.color}'], qr/\Ared\z/);
    fails($alice, ['patch', 'wd', 'w', '-p', '{"spec":{"size":6}}'], qr/merge-patch/);
    does($alice, ['patch', 'wd', 'w', '--type', 'merge', '-p', '{"spec":{"size":6}}'], qr/patched/);
    my $unknown = object('Widget', 'u', %widget, spec => { size => 5, colour => 'red' });
    if ($minor >= 25) { # which leave it to a server that says that it can
        fails($alice, 'create -f -', qr/strict decoding error: unknown field "spec\.colour"/, input => $unknown);
        my $said = $kubectl->run($alice, 'create --validate=warn -f -', input => $unknown);
        is_deeply [@$said{qw(code out)}], [0, "widget.example.com/u created\n"], '--validate=warn takes it';
        like $said->{err}, qr/\AWarning: unknown field "spec\.colour"\n\z/, 'and warns of it, of nothing else';
        does($alice, 'delete widget u', qr/deleted/);
    } else {
        fails($alice, 'create -f -', qr/unknown field "colour"/, input => $unknown);
    }
    does($alice, 'scale widget w --replicas=7', qr/scaled/);
    does($alice, 'get wd', qr/w\s+7/);
    fails($alice, 'scale widget w --replicas=0', qr/spec\.size/);
    if ($minor >= 24) {
        does($alice, ['patch', 'wd', 'w', '--subresource=status', '--type=merge', '-p', '{"status":{"size":2}}'], 'widget.example.com/w patched');
        does($alice, 'get wd w --subresource=scale -o jsonpath={.kind}:{.spec.replicas}:{.status.replicas}', 'Scale:7:2');
        does($alice, 'wait --for=jsonpath={.spec.size}=7 wd/w --timeout=20s', 'widget.example.com/w condition met');
    }
    does($alice, 'explain widgets.spec', qr/size\s+<integer>/);
    does($alice, 'delete crd widgets.example.com', qr/deleted/);
    fails($alice, 'get widgets.v1.example.com', qr/./);
    does($bob, 'get wd', qr/w\s+500/);
};

# With all that generators leave in it: a status of nothing, times that are null, what is said once for all versions.
subtest 'a definition as it comes with an operator' => sub {
    my $file = $kubectl->file('hosts', <<'YAML');
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata:
  annotations: {controller-gen.kubebuilder.io/version: v0.2.4}
  creationTimestamp: null
  name: hosts.metal.example.io
spec:
  additionalPrinterColumns:
  - {JSONPath: .status.phase, name: Phase, type: string, description: where it is}
  - {JSONPath: .metadata.creationTimestamp, name: Age, type: date}
  group: metal.example.io
  names: {kind: Host, listKind: HostList, plural: hosts, shortNames: [hst], singular: host, categories: [all]}
  scope: Namespaced
  preserveUnknownFields: false
  subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
  validation:
    openAPIV3Schema:
      description: Host is the Schema for the hosts API
      type: object
      properties:
        apiVersion: {type: string, description: APIVersion defines the versioned schema}
        kind: {type: string}
        metadata: {type: object}
        spec:
          type: object
          required: [port]
          properties:
            port: {anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}
            replicas: {type: integer, format: int32, minimum: 0}
            when: {type: string, format: date-time, nullable: true}
            limits:
              type: object
              additionalProperties: {anyOf: [{type: integer}, {type: string}], pattern: '^[0-9]+(m|Ki|Mi|Gi)?$', x-kubernetes-int-or-string: true}
            raw: {type: object, x-kubernetes-preserve-unknown-fields: true}
            template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
        status: {type: object, properties: {phase: {type: string}, replicas: {type: integer}}}
  version: v1
  versions:
  - {name: v1, served: true, storage: true}
status:
  acceptedNames: {kind: "", plural: ""}
  conditions: []
  storedVersions: []
YAML
    does($alice, "apply -f $file", 'customresourcedefinition.apiextensions.k8s.io/hosts.metal.example.io created');
    does($alice, 'wait --for=condition=Established crd/hosts.metal.example.io --timeout=20s', qr/condition met/);
    does($alice, "apply -f $file", qr/hosts\.metal\.example\.io (?:configured|unchanged)\z/);
    does($alice, 'get crd hosts.metal.example.io -o jsonpath={.status.acceptedNames.kind}:{.status.storedVersions}', 'Host:["v1"]');
    my %host = (apiVersion => 'metal.example.io/v1');
    my $good = { port => 'http', replicas => 2, when => undef, limits => { cpu => 1, memory => '2Gi' }, raw => { any => [{ thing => 1 }] },
        template => { apiVersion => 'v1', kind => 'Pod', metadata => { name => 'p' }, spec => {} } };
    does($alice, 'create -f -', 'host.metal.example.io/h created', input => object('Host', 'h', %host, spec => $good));
    does($alice, 'get host h -o jsonpath={.spec.raw.any[0].thing}{.spec.port}{.spec.limits.memory}', '1http2Gi');
    fails($alice, 'create --validate=false -f -', qr/spec\.limits\.memory|spec\.limits\[memory\]/, input => object('Host', 'i', %host, spec => { %$good, limits => { memory => 'much' } }));
    fails($alice, 'create --validate=false -f -', qr/spec\.port/, input => object('Host', 'i', %host, spec => { %$good, port => [80] }));
    does($alice, 'get hst', qr/\ANAME PHASE AGE\nh \d+s\z/);
    does($alice, 'scale host h --replicas=3', 'host.metal.example.io/h scaled');
    does($alice, "delete -f $file", qr/deleted\z/);
};

subtest 'the operator\'s, shared' => sub {
    my $shared = $crd =~ s/widgets/gadgets/gr =~ s/Widget/Gadget/gr =~ s/widget/gadget/gr =~ s/\[wd\]/[gd]/r;
    does($op, 'create -f -', qr/created/, input => $shared =~ s/^spec:/spec:\n  applicableRange: ["tier=gold"]/mr);
    fails($alice, 'get gadgets', qr/./);
    does($op, 'annotate tenant acme tier=gold', qr/annotated/);
    my %gadget = (apiVersion => 'example.com/v1', spec => { size => 1 });
    does($alice, 'create -f -', qr/created/, input => object('Gadget', 'g', %gadget));
    does($alice, 'get gd', qr/g\s+1/);
    fails($bob, 'get gadgets.v1.example.com', qr/./);
    does($op, 'annotate tenant acme tier-', qr/annotated/);
    fails($alice, 'get gadgets.v1.example.com', qr/./);
    does($op, 'annotate tenant acme tier=gold', qr/annotated/);
    does($alice, 'get gd', qr/g\s+1/);
};

subtest 'watching' => sub {
    does($alice, 'create -f -', 'configmap/seen created', input => object('ConfigMap', 'seen'));
    my $watching = $kubectl->begin($alice, 'get configmaps --watch -o name');
    $kubectl->wait_for($watching, qr/seen/);
    does($alice, 'create -f -', 'configmap/later created', input => object('ConfigMap', 'later'));
    does($alice, 'label configmap later tier=x', 'configmap/later labeled');
    my $text = $kubectl->wait_for($watching, qr{(?:configmap/later\n){2}});
    like $text, qr{configmap/seen\b.*configmap/later\nconfigmap/later\b}s, 'get --watch';
    $kubectl->end($watching, stop => 1);

    does($alice, 'create -f -', 'configmap/held created', input => object('ConfigMap', 'held', metadata => { finalizers => ['example.com/x'] }));
    fails($alice, 'delete configmap held --timeout=1s', qr/timed out waiting/);
    does($alice, 'get configmap held -o jsonpath={.metadata.deletionTimestamp}', qr/\A20/);
    my $deleting = $kubectl->begin($alice, 'delete configmap held --timeout=20s');
    my $waiting  = $kubectl->begin($alice, 'wait configmap/held --for=delete --timeout=20s');
    $kubectl->wait_for($deleting, qr/deleted/);
    does($alice, ['patch', 'configmap', 'held', '-p', '{"metadata":{"finalizers":null}}'], qr/patched/);
    is $kubectl->end($deleting)->{code}, 0, 'delete waits for finalizers';
    like $kubectl->end($waiting)->{out}, qr/\A(?:configmap\/held condition met\n)?\z/, 'wait --for=delete';
    fails($alice, 'get configmap held', qr/not found/);
};

# The commands of doc/kubectl.md as they stand, in one shell, but for the tenants' names and the definitions' group, which the subtests above have.
subtest 'doc/kubectl.md' => sub {
    my $home = File::Temp->newdir('tenure-kubectl-XXXXXX', TMPDIR => 1);
    my ($commands, $shown) = ('', '');
    my $here = sub { return $_[0] =~ s/\bacme\b/hooli/gr =~ s/\bglobex\b/initrode/gr =~ s/example\.com/page.example.com/gr };
    for my $block (Tenure::Pages::blocks(Tenure::Instance::source_dir(), 'kubectl.md')) {
        $shown .= $block->{text} if $block->{mark} eq 'output';
        $commands .= $here->($block->{text}) if $block->{mark} eq 'sh';
    }
    # The server is this instance, which was started with the same options.
    $commands =~ s{^scripts/quickstart --dir var/kubectl --tls --combined-port \d+ --auth noauth --no-demo --background\n\. var/kubectl/env$}{. '@{[ $instance->dir ]}/env'}m or die 'no server';
    $commands =~ s{\$PWD/var/kubectl/kubeconfig}{$home/kubeconfig}g;
    $commands =~ s{^(.*\S) +# Forbidden.*}{! $1}mg;
    $commands =~ s{^(.*\S) +# from kubectl 1\.(\d+) on.*}{$minor < $2 ? "# $1" : $1}meg;
    my ($code, $out) = run('env', '-i', "HOME=$home", 'PATH=' . Tenure::Kubectl::folder() . ":$ENV{PATH}", 'bash', '-ec', 'cd "$1"; eval "$2"', 'bash', "$home", $commands);
    is $code, 0, 'all succeed' or diag $out;
    # One line on the page's several; "…" stands for what differs.
    my $pattern = join '.*', map { quotemeta } split /…/, $here->($shown =~ s/\n(?=[^"])/ /gr =~ s/\n//gr =~ s/ \z//r);
    like $out, qr/$pattern/, 'why a type applies, as the page shows it';
    like $out, qr/^hooli +gadgets\.page\.example\.com +system +0$/m, 'what a policy would change';
};

done_testing;
__DATA__
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1}
              color: {type: string, default: red}
          status: {type: object, properties: {size: {type: integer}}}
