#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# kubectl as it comes, over TLS: as two tenants and as the operator. KUBECTL names another than that of the PATH.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use JSON::PP   ();
use POSIX      ();
use Test::More;

use Tenure::Instance;

my ($kubectl) = grep { defined && -x } $ENV{KUBECTL}, map { "$_/kubectl" } split /:/, $ENV{PATH};
plan skip_all => 'kubectl is not installed' unless defined $kubectl;
my $home = File::Temp->newdir('tenure-kubectl-XXXXXX', TMPDIR => 1);
$ENV{HOME} = "$home";
delete $ENV{KUBECONFIG};
my $client = eval { JSON::PP::decode_json(scalar `$kubectl version --client -o json 2>/dev/null`)->{clientVersion} };
plan skip_all => 'kubectl does not run' unless $client;
# From 1.32 on it sends what it makes itself as protobuf; what it is given as a file stays JSON.
my $json_only = ($client->{minor} =~ /\A([0-9]+)/)[0] < 32;

my $instance = Tenure::Instance->start(combined => 1, tls => 1);
my $url      = $instance->env('TENURE_COMBINED_TLS_URL');
my $ca       = $instance->env('TENURE_CA_FILE');
my %cache;

# (exit code, both outputs). input: text for its stdin.
sub k {
    my ($token, $input, @command) = @_;
    my $cache = $cache{$token} //= File::Temp->newdir('tenure-kubectl-XXXXXX', TMPDIR => 1);
    my $in    = File::Temp->new;
    print {$in} $input // '';
    close $in or die "$!\n";
    my @all = ($kubectl, '--server', $url, '--certificate-authority', $ca, '--token', $token, '--cache-dir', "$cache",
        '--request-timeout=30s', @command);
    my $text = do {
        my $pid = open my $out, '-|' // die "fork: $!\n";
        if ($pid == 0) {
            open STDIN,  '<',  "$in"    or die "$!\n";
            open STDERR, '>&', \*STDOUT or die "$!\n";
            exec { $all[0] } @all or die "exec: $!\n";
        }
        local $/ = undef;
        my $read = readline $out;
        close $out;
        $read // '';
    };
    return ($? >> 8, $text);
}

# Succeeds, and says that.
sub does {
    my ($token, $command, $says, %option) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my ($code, $text) = k($token, $option{input}, ref $command ? @$command : split ' ', $command);
    my $name = "$token: " . (ref $command ? "@$command" : $command);
    ok($code == 0 && $text =~ $says, $name) or diag "$code: $text";
    return $text;
}

# Fails, and says that.
sub fails {
    my ($token, $command, $says, %option) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my ($code, $text) = k($token, $option{input}, ref $command ? @$command : split ' ', $command);
    my $name = "$token: " . (ref $command ? "@$command" : $command);
    ok($code != 0 && $text =~ $says, "$name fails") or diag "$code: $text";
    return;
}

sub object {
    my ($kind, $name, %more) = @_;
    my $metadata = { name => $name, %{ delete $more{metadata} // {} } };
    return JSON::PP->new->canonical->encode({ apiVersion => $more{apiVersion} // 'v1', kind => $kind, metadata => $metadata, %more });
}

my ($op, $alice, $bob) = ('admin', 'alice:acme', 'bob:globex');

subtest 'tenants' => sub {
    does($op, 'version', qr/1.*20/s);
    does($op, 'create -f -', qr{tenant/$_ created}, input => object('Tenant', $_)) for qw(acme globex);
    does($op, 'get tenants', qr/^NAME.*acme\s+Active.*globex\s+Active/s);
    does($alice, 'get tenants', qr/\A(?!.*globex).*acme/s);
    fails($alice, 'get tenant globex', qr/Forbidden/);
    does($op, 'create -f -', qr{tenant/brief created}, input => object('Tenant', 'brief'));
    does($op, 'delete tenant brief --timeout=20s', qr/"brief" deleted/);
    does($op, 'wait tenant/brief --for=delete --timeout=20s', qr/\A/);
    does($alice, 'api-resources', qr/\A(?!.*daemonsets).*configmaps.*customresourcedefinitions/s);
    does($op, 'api-resources', qr/daemonsets/);
    does($alice, 'api-versions', qr{apiextensions\.k8s\.io/v1\b});
};

subtest 'objects' => sub {
    my $cm = object('ConfigMap', 'c1', data => { a => '1' });
    does($alice, 'create -f -', qr{configmap/c1 created}, input => $cm);
    fails($alice, 'create -f -', qr/AlreadyExists/, input => $cm);
    does($alice, 'get cm', qr/NAME\s+DATA\s+AGE\s+c1\s+1/);
    does($alice, 'get cm -A', qr/NAMESPACE\s+NAME.*default\s+c1/s);
    does($alice, 'get cm c1 -o yaml', qr/tenant: acme/);
    does($alice, ['get', 'cm', 'c1', '-o', 'jsonpath={.metadata.selfLink}'], qr{\A/api/v1/tenants/acme/namespaces/default/configmaps/c1\z});
    does($alice, 'describe cm c1', qr/Events:/);
    does($alice, 'label cm c1 x=y', qr/labeled/);
    does($alice, 'get cm -l x=y -o name', qr{configmap/c1});
    does($alice, 'get cm -l x!=y', qr/No resources found/);
    does($alice, 'annotate cm c1 note=n', qr/annotated/);
    does($alice, ['patch', 'cm', 'c1', '-p', '{"data":{"b":"2"}}'], qr/patched/);
    does($alice, ['patch', 'cm', 'c1', '--type', 'merge', '-p', '{"data":{"c":"3"}}'], qr/patched/);
    does($alice, ['patch', 'cm', 'c1', '--type', 'json', '-p', '[{"op":"remove","path":"/data/a"}]'], qr/patched/);
    does($alice, ['get', 'cm', 'c1', '-o', 'jsonpath={.data}'], qr/"b":"2","c":"3"/);
    does($alice, 'apply -f -', qr{configmap/ap created}, input => object('ConfigMap', 'ap', data => { a => '1' }));
    does($alice, 'apply -f -', qr{configmap/ap unchanged}, input => object('ConfigMap', 'ap', data => { a => '1' }));
    does($alice, 'apply -f -', qr{configmap/ap configured}, input => object('ConfigMap', 'ap', data => { b => '2' }));
    does($alice, ['get', 'cm', 'ap', '-o', 'jsonpath={.data}'], qr/\A\{"b":"2"\}\z/);
    fails($alice, 'apply --server-side -f -', qr/[Ss]erver-side apply|merge-patch/, input => object('ConfigMap', 'ap'));
    my $text = does($alice, 'get cm ap -o json', qr/"ap"/);
    does($alice, 'replace -f -', qr/replaced/, input => $text);
    does($alice, 'label cm ap n=m', qr/labeled/);
    fails($alice, 'replace -f -', qr/modified/, input => $text =~ s/"b": "2"/"b": "3"/r);
    does($alice, 'create --dry-run=server -f -', qr/created \(server dry run\)/, input => object('ConfigMap', 'dry'));
    fails($alice, 'get cm dry', qr/NotFound/);
    fails($alice, 'get cm nope', qr/configmaps "nope" not found/);
    does($alice, 'delete cm c1', qr/deleted/);
    fails($alice, 'get cm c1', qr/NotFound/);
    does($alice, 'explain pod.spec', qr/containers/);
    fails($alice, 'create -f -', qr/contaners/, input => object('Pod', 'p', spec => { contaners => [] }));
    does($alice, 'create -f -', qr{pod/p created}, input => object('Pod', 'p', spec => { containers => [{ name => 'a', image => 'i' }] }));
    does($alice, 'get all', qr{pod/p});
    does($alice, 'delete -f -', qr/deleted/, input => object('Pod', 'p'));
    does($alice, 'get pv', qr/No resources/);
};

subtest 'what kubectl makes itself' => sub {
    plan skip_all => 'this kubectl sends protobuf' unless $json_only;
    does($alice, 'create ns n2', qr{namespace/n2 created});
    does($alice, 'get ns', qr/default\s+Active.*n2\s+Active/s);
    does($alice, 'describe ns n2', qr/Status:\s+Active/);
    does($alice, 'create secret generic s --from-literal=p=q -n n2', qr/created/);
    does($alice, ['get', 'secret', 's', '-n', 'n2', '-o', 'jsonpath={.data.p}'], qr/\AcQ==\z/);
    fails($alice, 'create cm x -n none', qr/namespaces "none" not found/);
    fails($alice, 'create ns Bad', qr/metadata\.name: Invalid value/);
    does($alice, 'delete ns n2', qr/deleted/);
    fails($alice, 'delete ns default', qr/Forbidden/);
    does($alice, 'auth can-i create cm', qr/yes/);
    fails($alice, 'auth can-i create tenants', qr/no/);
    does($alice, 'auth can-i --list', qr/configmaps.*\[create/);
};

my $crd = do { local $/ = undef; readline DATA };

subtest 'types of one\'s own' => sub {
    does($alice, 'create -f -', qr/widgets\.example\.com created/, input => $crd);
    does($bob, 'create -f -', qr/widgets\.example\.com created/, input => $crd =~ s/minimum: 1/minimum: 100/r);
    my %widget = (apiVersion => 'example.com/v1', spec => { size => 5 });
    does($alice, 'apply -f -', qr{widget\.example\.com/w created}, input => object('Widget', 'w', %widget));
    fails($bob, 'apply -f -', qr/spec\.size/, input => object('Widget', 'w', %widget));
    does($bob, 'apply -f -', qr{widget\.example\.com/w created}, input => object('Widget', 'w', %widget, spec => { size => 500 }));
    does($alice, 'get wd', qr/NAME\s+SIZE\s+w\s+5/);
    does($alice, ['get', 'wd', 'w', '-o', 'jsonpath={.spec.color}'], qr/\Ared\z/);
    fails($alice, ['patch', 'wd', 'w', '-p', '{"spec":{"size":6}}'], qr/merge-patch/);
    does($alice, ['patch', 'wd', 'w', '--type', 'merge', '-p', '{"spec":{"size":6}}'], qr/patched/);
    does($alice, 'scale widget w --replicas=7', qr/scaled/);
    does($alice, 'get wd', qr/w\s+7/);
    fails($alice, 'scale widget w --replicas=0', qr/spec\.size/);
    does($alice, 'explain widgets.spec', qr/size\s+<integer>/);
    does($alice, 'delete crd widgets.example.com', qr/deleted/);
    fails($alice, 'get widgets.v1.example.com', qr/./);
    does($bob, 'get wd', qr/w\s+500/);
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

# A command in the background; (pid, file of its output).
sub begins {
    my ($token, @command) = @_;
    my $file = File::Temp->new;
    my $pid  = fork // die "fork: $!\n";
    if ($pid == 0) {
        my (undef, $text) = k($token, undef, @command);
        print {$file} $text;
        close $file;
        POSIX::_exit(0);
    }
    return ($pid, $file);
}

subtest 'watching' => sub {
    does($alice, 'create -f -', qr/created/, input => object('ConfigMap', 'seen'));
    my ($watching, $file) = begins($alice, qw(get configmaps --watch --request-timeout=4s -o name));
    sleep 2;
    does($alice, 'create -f -', qr/created/, input => object('ConfigMap', 'later'));
    does($alice, 'label configmap later tier=x', qr/labeled/);
    waitpid $watching, 0;
    my $text = do { local (@ARGV, $/) = ("$file"); <> };
    like $text, qr{configmap/seen\b.*configmap/later\nconfigmap/later\b}s, 'get --watch';

    does($alice, 'create -f -', qr/created/, input => object('ConfigMap', 'held', metadata => { finalizers => ['example.com/x'] }));
    my ($deleting, $said) = begins($alice, qw(delete configmap held --timeout=20s));
    my ($waiting,  $met)  = begins($alice, qw(wait configmap/held --for=delete --timeout=20s));
    sleep 2;
    does($alice, ['patch', 'configmap', 'held', '-p', '{"metadata":{"finalizers":null}}'], qr/patched/);
    waitpid $_, 0 for $deleting, $waiting;
    like do { local (@ARGV, $/) = ("$said"); <> }, qr/deleted/, 'delete waits for finalizers';
    like do { local (@ARGV, $/) = ("$met"); <> },  qr/condition met/, 'wait --for=delete';
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
