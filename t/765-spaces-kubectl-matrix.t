#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# kubectl as it comes: every command, with every kind, as users of two tenants and as the operator. All three do all of it
# at the same time, with the same names: what one of them saw of another would be one name too many, or another value.
#
# A row of the matrix is a command, its exit code, and the whole of what it says: to stdout where it succeeds (then stderr is
# empty, but for "warns"), to stderr where it fails. Runs of blanks count as one. Words in capitals stand for something:
#
#   TYPE KIND SAID NAMES   the kind on hand: "wd", "Widget", "widget.example.com", "widgets.example.com" (in errors)
#   LISTED                 the table of all there is; LISTED_WIDE, LISTED_ALL, LISTED_LABELS as -o wide, -A, --show-labels have
#                          it; LISTED_BOTH with "two", NAMED_BOTH the same by names; ALONE of "one" alone
#   FIELD                  the field that is changed, as a jsonpath; VALUE_1 to VALUE_4 what it becomes, one after another
#   PATH                   the full path of the collection
#   FILE(name,n)           a file with an object of that name and the nth value; GOT, STALE: as it was read, but for the value
#   AGE TIME ...           any of that kind; "..." is anything
#
# Two kinds are played, drawn by TENURE_SEED. TENURE_KINDS, a pattern ("Pod|Secret"), plays others; scripts/check --long kubectl all.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use List::Util qw(shuffle);
use Test::More;

use Tenure::Instance;
use Tenure::Kubectl;
use Tenure::Parallel;

my $minor = Tenure::Kubectl::minor() // plan skip_all => 'kubectl is not installed, or does not run';
my $instance = Tenure::Instance->start(combined => 1, tls => 1);
my $kubectl  = Tenure::Kubectl->new($instance);
my $json     = JSON::PP->new->canonical;

my @users = (
    { name => 'alice',    token => 'alice:acme',   tenant => 'acme',   space => 'tenants/acme/' },
    { name => 'bob',      token => 'bob:globex',   tenant => 'globex', space => 'tenants/globex/' },
    { name => 'operator', token => 'admin',        tenant => 'system', space => '' },
);

# ---- kinds

my $widgets = {
    group => 'example.com', scope => 'Namespaced',
    names => { plural => 'widgets', singular => 'widget', kind => 'Widget', shortNames => ['wd'] },
    versions => [{
        name => 'v1', served => JSON::PP::true, storage => JSON::PP::true,
        subresources => { status => {}, scale => { specReplicasPath => '.spec.size', statusReplicasPath => '.status.size' } },
        additionalPrinterColumns => [
            { name => 'Color', type => 'string',  jsonPath => '.spec.color' },
            { name => 'Size',  type => 'integer', jsonPath => '.spec.size', priority => 1 }],
        schema => { openAPIV3Schema => { type => 'object', properties => {
            spec => { type => 'object', required => ['color'], description => 'What the widget is to be.', properties => {
                color => { type => 'string', maxLength => 20 }, size => { type => 'integer', minimum => 1, default => 3 } } },
            status => { type => 'object', properties => { size => { type => 'integer' }, conditions => { type => 'array',
                items => { type => 'object', properties => { type => { type => 'string' }, status => { type => 'string' } } } } } },
        } } },
    }],
};
my $racks = {
    group => 'example.com', scope => 'Cluster', version => 'v1',
    names => { plural => 'racks', singular => 'rack', kind => 'Rack' },
    validation => { openAPIV3Schema => { type => 'object', properties => {
        spec => { type => 'object', properties => { row => { type => 'string' } } } } } },
};

sub definition {
    my ($version, $spec, $prefix) = @_;
    my %names = %{ $spec->{names} };
    if (defined $prefix) {
        $_ = $prefix . $_ for @names{qw(plural singular)};
        $names{kind} = ucfirst($prefix) . $names{kind};
        delete $names{shortNames};
    }
    return { apiVersion => "apiextensions.k8s.io/$version", kind => 'CustomResourceDefinition',
        metadata => { name => "$names{plural}.example.com" }, spec => { %$spec, names => \%names } };
}

# at: the field that is changed. needs: what is there before. also: rows of lists that are there anyway, before the others.
my @kinds = (
    {
        kind => 'Namespace', type => 'ns', said => 'namespace', names => 'namespaces', at => [qw(metadata annotations note)],
        head => 'NAME STATUS AGE', cells => 'Active AGE', wide_head => ' TENANT', wide_cells => ' TENANT_NAME',
        also => ['default'], collection => '/api/v1/SPACEnamespaces', explain => ['ns.spec', 'finalizers <[]string>'],
        describe => "Name: one\nLabels: ...\nStatus: Active...", body => {},
    },
    {
        kind => 'ConfigMap', type => 'cm', said => 'configmap', names => 'configmaps', namespaced => 1, at => [qw(data key)],
        head => 'NAME DATA AGE', cells => '1 AGE', collection => '/api/v1/SPACEnamespaces/default/configmaps',
        explain => ['cm.data', 'data <map[string]string>'], body => {},
        describe => "Name: one\nNamespace: default\n...\nData\n====\nkey:\n----\nVALUE_1\n...Events: <none>",
    },
    {
        kind => 'Secret', type => 'secrets', said => 'secret', names => 'secrets', namespaced => 1, at => [qw(data key)],
        values => [qw(YWxwaGE= YmV0YQ== Z2FtbWE= ZGVsdGE=)], diff => $minor > 20 ? ['*** (before)', '*** (after)'] : undef,
        head => 'NAME TYPE DATA AGE', cells => 'Opaque 1 AGE',
        collection => '/api/v1/SPACEnamespaces/default/secrets', explain => ['secret.stringData', '<map[string]string>'],
        body => {}, describe => "Name: one\nNamespace: default\n...\nType: Opaque\n\nData\n====\nkey: 5 bytes",
    },
    {
        kind => 'Pod', type => 'po', said => 'pod', names => 'pods', namespaced => 1, at => [qw(metadata annotations note)],
        head => 'NAME READY STATUS RESTARTS AGE', cells => '0/1 Pending 0 AGE', wide_head => ' IP NODE NOMINATED NODE READINESS GATES',
        wide_cells => ' <none> <none> <none> <none>', collection => '/api/v1/SPACEnamespaces/default/pods',
        explain => ['pod.spec.containers', 'image <string>'],
        body => { spec => { containers => [{ name => 'web', image => 'nginx:1', ports => [{ containerPort => 80 }] }] } },
        describe => "Name: one\nNamespace: default\n...\nStatus: Pending\n...web:\n Image: nginx:1\n Port: 80/TCP\n...Events: <none>",
    },
    {
        kind => 'PersistentVolume', type => 'pv', said => 'persistentvolume', names => 'persistentvolumes',
        at => [qw(spec storageClassName)],
        head => 'NAME CAPACITY ACCESS MODES RECLAIM POLICY STATUS CLAIM STORAGECLASS REASON AGE',
        cells => '1Gi RWO Retain Pending VALUE AGE', wide_head => ' VOLUMEMODE TENANT', wide_cells => ' Filesystem TENANT_NAME',
        collection => '/api/v1/SPACEpersistentvolumes', explain => ['pv.spec', 'capacity <map[string]string>'],
        body => { spec => { capacity => { storage => '1Gi' }, accessModes => ['ReadWriteOnce'], hostPath => { path => '/x' } } },
        describe => "Name: one\n...StorageClass: VALUE_1\nStatus: Pending\n...Reclaim Policy: Retain\nAccess Modes: RWO\n"
            . 'VolumeMode: Filesystem' . "\nCapacity: 1Gi\n...",
    },
    {
        kind => 'CustomResourceDefinition', type => 'crd', said => 'customresourcedefinition.apiextensions.k8s.io',
        names => 'customresourcedefinitions.apiextensions.k8s.io', at => [qw(metadata annotations note)],
        version => 'apiextensions.k8s.io/v1',
        object => sub { definition('v1', $widgets, $_[0]) }, suffix => 'widgets.example.com',
        head => 'NAME CREATED AT', cells => 'TIME', wide_head => ' TENANT', wide_cells => ' TENANT_NAME',
        collection => '/apis/apiextensions.k8s.io/v1/SPACEcustomresourcedefinitions',
        explain => ['crd.spec', 'scope <string>'], condition => 'Established',
        describe => "Name: onewidgets.example.com\n...Kind: CustomResourceDefinition\n...Type: Established\n...Events: <none>",
    },
    {
        label => 'CustomResourceDefinition of v1beta1', kind => 'CustomResourceDefinition',
        type => 'customresourcedefinitions.v1beta1.apiextensions.k8s.io', said => 'customresourcedefinition.apiextensions.k8s.io',
        names => 'customresourcedefinitions.apiextensions.k8s.io', at => [qw(spec validation openAPIV3Schema description)],
        version => 'apiextensions.k8s.io/v1beta1',
        object => sub { definition('v1beta1', $racks, $_[0]) }, suffix => 'racks.example.com',
        head => 'NAME CREATED AT', cells => 'TIME', wide_head => ' TENANT', wide_cells => ' TENANT_NAME',
        collection => '/apis/apiextensions.k8s.io/v1beta1/SPACEcustomresourcedefinitions',
        explain => ['crd.spec', 'group <string>'], condition => 'Established',
        describe => "Name: oneracks.example.com\n...Version: v1\n...Type: Established\n...Events: <none>",
    },
    {
        kind => 'Widget', type => 'wd', said => 'widget.example.com', names => 'widgets.example.com', namespaced => 1,
        at => [qw(spec color)], version => 'example.com/v1', needs => definition('v1', $widgets),
        head => 'NAME COLOR', cells => 'VALUE', wide_head => ' SIZE', wide_cells => ' 3',
        collection => '/apis/example.com/v1/SPACEnamespaces/default/widgets', body => { spec => {} },
        explain => ['wd.spec', "What the widget is to be.\n...size <integer>"],
        describe => "Name: one\nNamespace: default\n...Kind: Widget\n...Spec:\n Color: VALUE_1\n Size: 3\nEvents: <none>",
    },
    {
        kind => 'Rack', type => 'racks', said => 'rack.example.com', names => 'racks.example.com',
        at => [qw(spec row)], version => 'example.com/v1', needs => definition('v1beta1', $racks),
        head => 'NAME AGE', cells => 'AGE', collection => '/apis/example.com/v1/SPACEracks', body => { spec => {} },
        explain => ['rack.spec', 'row <string>'],
        describe => "Name: one\n...Kind: Rack\n...Spec:\n Row: VALUE_1\nEvents: <none>",
    },
);

# What a command or a row calls the object "one": definitions are named for what they define.
sub called {
    my ($kind, $name) = @_;
    return $name . ($kind->{suffix} // '');
}

sub value {
    my ($kind, $n) = @_;
    return ($kind->{values} // [qw(mango kiwi plum pear)])->[$n - 1];
}

sub nested {
    my ($value, @path) = @_;
    $value = { $_ => $value } for reverse @path;
    return $value;
}

sub object {
    my ($user, $kind, $name, $n) = @_;
    my $made = $kind->{object} ? $kind->{object}->($name) : $kind->{body};
    my $object = $json->decode($json->encode($made));    # a copy
    $object->{apiVersion} //= $kind->{version} // 'v1';
    $object->{kind}       //= $kind->{kind};
    $object->{metadata}{name} = called($kind, $name);
    $object->{metadata}{labels} = { owner => $user->{name}, name => called($kind, $name) };
    my $at = $object;
    my @path = @{ $kind->{at} };
    my $last = pop @path;
    $at = $at->{$_} //= {} for @path;
    $at->{$last} = value($kind, $n);
    return $json->encode($object);
}

# ---- the matrix

my $allow  = $minor < 26 ? '--prune-whitelist' : '--prune-allowlist';

# [command, exit code, what it says, options]; a group's title stands alone. Options: input, editor, warns; "for": only kinds
# that have this, "not": only kinds that don't.
my @matrix = (
    'create',
    ['create -f FILE(one,1)', 0, 'SAID/one created'],
    ['create -f FILE(one,1)', 1, 'Error from server (AlreadyExists): error when creating "...": NAMES "one" already exists'],
    ['create --dry-run=server -f FILE(two,1)', 0, 'SAID/two created (server dry run)'],
    ['create --dry-run=client -f FILE(two,1)', 0, 'SAID/two created (dry run)'],
    ['get TYPE two', 1, 'Error from server (NotFound): NAMES "two" not found'],
    ['create -f FILE(Bad_,1)', 1, '...metadata.name: Invalid value: "Bad_"...', not => 'suffix'],

    'get',
    ['get TYPE',                               0, 'LISTED'],
    ['get TYPE one',                           0, 'ALONE'],
    ['get TYPE -o wide',                       0, 'LISTED_WIDE'],
    ['get TYPE -A',                            0, 'LISTED_ALL'],
    ['get TYPE --show-labels',                 0, 'LISTED_LABELS'],
    ['get TYPE -L owner -l owner',             0, 'ALONE_OWNER'],
    ['get TYPE -o name -l owner=USER',         0, 'SAID/one'],
    ['get TYPE -l owner!=USER,owner',          0, '', warns => 'No resources found...'],
    ['get TYPE --field-selector metadata.name=one', 0, 'ALONE'],
    ['get TYPE one -o jsonpath={FIELD}',       0, 'VALUE_1'],
    ['get TYPE one -o jsonpath={.metadata.tenant}:{.metadata.selfLink}', 0, 'TENANT_NAME:PATH/one'],
    ['get TYPE one -o custom-columns=N:.metadata.name,T:.metadata.tenant', 0, "N T\none TENANT_NAME"],
    ['get TYPE one -o yaml',                   0, "apiVersion: VERSION\n...kind: KIND\nmetadata:\n...tenant: TENANT_NAME\n..."],
    ['get TYPE one -o json',                   0, "{\n \"apiVersion\": \"VERSION\",\n...\"kind\": \"KIND\",\n..."],
    ['get TYPE -o json -l owner',              0, "{\n \"apiVersion\": \"v1\",\n \"items\": [\n...],\n \"kind\": \"List\",\n..."],
    ['get TYPE nope',                          1, 'Error from server (NotFound): NAMES "nope" not found'],
    ['get TYPE -n nowhere',                    0, '', warns => 'No resources found in nowhere namespace.', for => 'namespaced'],
    ['get TYPE one -n nowhere',                1, 'Error from server (NotFound): namespaces "nowhere" not found', for => 'namespaced'],
    ['get --raw PATH/one',                     0, '{..."name":"one"...}'],

    'describe',
    ['describe TYPE one', 0, 'DESCRIBED'],

    'explain',
    ['explain EXPLAIN', 0, '...EXPLAINED...'],
    ['explain RESOURCE --recursive', 0, '...: KIND...metadata <Object>...labels <map[string]string>...'],

    'label and annotate',
    ['label TYPE one tier=gold',             0, 'SAID/one labeled'],
    ['label TYPE one tier=iron',             1, "error: 'tier' already has a value (gold), and --overwrite is false"],
    ['label TYPE one tier=iron --overwrite', 0, 'SAID/one labeled'],
    ['get TYPE -l tier=iron -o name',        0, 'SAID/one'],
    ['get TYPE -l tier=gold -o name',        0, ''],
    ['label TYPE one tier-',                 0, 'SAID/one UNLABELED'],
    ['get TYPE -l tier -o name',             0, ''],
    ['annotate TYPE one why=because',        0, 'SAID/one annotated'],
    ['get TYPE one -o jsonpath={.metadata.annotations.why}', 0, 'because'],

    'edit',
    ['edit TYPE one', 0, 'SAID/one edited', editor => 'sed -i s/VALUE_1/VALUE_2/'],
    ['get TYPE one -o jsonpath={FIELD}', 0, 'VALUE_2'],
    ['edit TYPE one', 0, '', editor => 'true', warns => 'Edit cancelled, no changes made.'],
    ['edit TYPE one', 0, 'SAID/one edited', editor => 'MEANWHILE; sed -i s/VALUE_2/VALUE_1/'],
    ['get TYPE one -o jsonpath={FIELD},{.metadata.labels.while}', 0, 'VALUE_1,editing'],
    ['edit TYPE one', 1, '..."one" could not be patched: Operation cannot be fulfilled on NAMES "one": the object has been modified; '
        . "please apply your changes to the latest version and try again\n...", editor => q(sed -i -e s/VALUE_1/VALUE_2/ -e 's/resourceVersion:.*/resourceVersion: "1"/')],
    ['get TYPE one -o jsonpath={FIELD}', 0, 'VALUE_1'],

    'patch',
    ['patch TYPE one -p PATCH(2)',                  0, 'SAID/one patched', not => 'custom'],
    ['patch TYPE one -p PATCH(2)',                  0, 'SAID/one patched (no change)', not => 'custom'],
    ['patch TYPE one -p PATCH(2)',                  1, '...accepted media types include: application/json-patch+json, '
        . 'application/merge-patch+json...', for => 'custom'],
    ['patch TYPE one --type=merge -p PATCH(3)',     0, 'SAID/one patched'],
    ['patch TYPE one --type=json -p JSONPATCH(4)',  0, 'SAID/one patched'],
    ['get TYPE one -o jsonpath={FIELD}',            0, 'VALUE_4'],
    ['patch TYPE one --type=json -p JSONTEST(1)',   1, 'The request is invalid: ...'],
    ['patch TYPE one --type=merge -p {"metadata":{"name":"other"}}', 1,
        'Error from server (BadRequest): the name of the object does not match the name on the URL (one)'],
    ['patch TYPE one --type=merge -p {"metadata":{"resourceVersion":"1","labels":{"a":"b"}}}', 1,
        'Error from server (Conflict): Operation cannot be fulfilled on NAMES "one": the object has been modified; ...'],
    ['patch TYPE nope --type=merge -p {}',          1, 'Error from server (NotFound): NAMES "nope" not found'],

    'apply',
    ['apply --dry-run=server -f FILE(two,1)',  0, 'SAID/two created (server dry run)'],
    ['apply --dry-run=client -f FILE(two,1)',  0, 'SAID/two created (dry run)'],
    ['apply -f FILE(two,1)',                   0, 'SAID/two created'],
    ['apply -f FILE(two,1)',                   0, 'SAID/two unchanged'],
    ['diff -f FILE(two,1)',                    0, ''],
    ['diff -f FILE(two,2)',                    1, "diff ...\n-...DIFF_1...\n+...DIFF_2...", stdout => 1],
    ['apply --dry-run=server -f FILE(two,2)',  0, 'SAID/two configured (server dry run)'],
    ['get TYPE two -o jsonpath={FIELD}',       0, 'VALUE_1'],
    ['apply -f FILE(two,2)',                   0, 'SAID/two configured'],
    ['get TYPE two -o jsonpath={FIELD}',       0, 'VALUE_2'],
    ['apply view-last-applied TYPE two',       0, 'apiVersion: VERSION...VALUE_2...'],
    ['apply --server-side -f FILE(two,3)',     1, 'error: Server-side apply not available on the server: ...application/merge-patch+json...'],
    ['get TYPE --sort-by=.metadata.name',      0, 'LISTED_BOTH'],
    ['get TYPE --chunk-size=1 -o name',        0, 'NAMED_BOTH'],
    ['apply -f FILE(three,1)',                 0, 'SAID/three created'],
    ["apply --prune -l owner=USER $allow=GVK -f FILE(two,2)", 0, "SAID/two unchanged\nSAID/three pruned"],

    'wait and watch',
    ['wait --for=condition=CONDITION TYPE/one --timeout=20s', 0, 'SAID/one condition met', for => 'condition'],
    ['wait --for=delete TYPE/one --timeout=1s', 1,
        '...error: timed out waiting for the condition on NAMES_BARE/one'],    # newer clients warn of a short watch first
    ['get TYPE --watch -l name=one -o custom-columns=N:.metadata.name,S:.metadata.labels.seen', 'watch',
        "N S\none <none>\n...one yes"],

    'replace',
    ['replace -f GOT(one,2)', 0, 'SAID/one replaced'],
    ['replace -f GOT(one,2)', 0, 'SAID/one replaced'],
    ['get TYPE one -o jsonpath={FIELD}', 0, 'VALUE_2'],
    ['replace -f STALE(one,3)', 1, 'Error from server (Conflict): error when replacing "...": Operation cannot be fulfilled on NAMES "one": ...'],
    ['replace -f FILE(one,3)', 0, 'SAID/one replaced'],
    ['replace -f FILE(three,1)', 1, 'Error from server (NotFound): error when replacing "...": NAMES "three" not found'],
    ['replace --force -f FILE(one,1)', 0, "SAID \"one\" deleted\nSAID/one replaced"],
    ['get TYPE one -o jsonpath={FIELD}', 0, 'VALUE_1'],

    'auth can-i',
    (map { ["auth can-i $_ NAMES", 0, 'yes', warns => 'CAN_WARNING'] } qw(create get list watch update patch delete)),

    '--raw',
    ['delete --raw PATH/one', 0, '{"kind":"Status",..."status":"Success",...}'],
    ['create --raw PATH -f FILE(one,1)', 0, '{"kind":"KIND",...}'],
    ['replace --raw PATH/one -f RAW(one,2)', 0, '{"kind":"KIND",...}'],
    ['get TYPE one -o jsonpath={FIELD}', 0, 'VALUE_2'],
    ['get --raw PATH/nope', 1, 'Error from server (NotFound): NAMES "nope" not found'],

    'delete',
    ['delete TYPE one --dry-run=server', 0, 'SAID "one" deleted (server dry run)'],
    ['delete TYPE one', 0, 'SAID "one" deleted'],
    ['delete TYPE one', 1, 'Error from server (NotFound): NAMES "one" not found'],
    ['delete TYPE one --ignore-not-found', 0, ''],
    ['create -f FILE(one,1)', 0, 'SAID/one created'],
    ['delete -f FILE(one,1) --now', 0, 'SAID "one" deleted', warns => 'Warning: gracePeriodSeconds is ignored: ...'],
    ['create -f FILE(one,1)', 0, 'SAID/one created'],
    ['delete TYPE one --grace-period=5', 0, 'SAID "one" deleted', warns => 'Warning: gracePeriodSeconds is ignored: ...'],
    ['create -f FILE(one,1)', 0, 'SAID/one created'],
    ['delete TYPE -l name=one', 0, 'SAID "one" deleted'],
    ['create -f FILE(one,1)', 0, 'SAID/one created'],
    ['delete TYPE --all', 0, "SAID \"one\" deleted\nSAID \"two\" deleted", not => 'also'],
    ['delete TYPE one two', 0, "SAID \"one\" deleted\nSAID \"two\" deleted", for => 'also'],
    ['get TYPE', 0, '', warns => 'No resources found...', not => 'also'],
);

# ---- words in capitals

sub read_json {
    my ($user, $kind, $name, $n, $stale) = @_;
    my $got    = $kubectl->run($user->{token}, ['get', $kind->{type}, called($kind, $name), '-o', 'json']);
    my $object = $json->decode($got->{out});
    my $at     = $object;
    my @path   = @{ $kind->{at} };
    my $last   = pop @path;
    $at = $at->{$_} //= {} for @path;
    $at->{$last} = value($kind, $n);
    $object->{metadata}{resourceVersion} = '1' if $stale;
    return $kubectl->file("$name.json", $json->encode($object));
}

# What becomes of a word, and of one with arguments.
sub words_of {
    my ($user, $kind) = @_;
    my $cells = sub { return $kind->{cells} =~ s/\bVALUE\b/value($kind, $_[0])/er };
    my ($head, $wide_head, $wide) = ($kind->{head}, map { $_ // '' } @$kind{qw(wide_head wide_cells)});
    my $space = $kind->{namespaced} ? 'default ' : '';
    # Rows: what is there anyway and then "one", with that before and after the cells.
    my $rows = sub {
        my ($before, $after, $after_one) = @_;
        return join "\n", (map { "$before$_ $kind->{cells}$after" } @{ $kind->{also} // [] }), "${before}one "
            . $cells->(1) . ($after_one // $after);
    };
    my $path = $kind->{collection} =~ s/SPACE/$user->{space}/r;
    my $api  = $kind->{version} // 'v1';
    my $bare = $kind->{names} =~ s/\..*//r;
    my %word = (
        TYPE => $kind->{type}, RESOURCE => $bare, KIND => $kind->{kind}, SAID => $kind->{said}, NAMES => $kind->{names}, NAMES_BARE => $bare,
        USER => $user->{name}, TENANT_NAME => $user->{tenant}, VERSION => $api, PATH => $path,
        GVK => ($api =~ m{/} ? $api : "core/$api") . "/$kind->{kind}",
        LISTED => "$head\n" . $rows->('', ''),
        LISTED_WIDE => "$head$wide_head\n" . $rows->('', $wide) =~ s/\bTENANT_NAME\b/$user->{tenant}/gr,
        LISTED_ALL => ($space ? 'NAMESPACE ' : '') . "$head\n" . $rows->($space, ''),
        LISTED_LABELS => "$head LABELS\n" . $rows->('', ' <none>', " name=one,owner=$user->{name}"),
        LISTED_BOTH => "$head\n" . join("\n", (map { "$_ $kind->{cells}" } @{ $kind->{also} // [] }),
            'one ' . $cells->(4), 'two ' . $cells->(2)),
        NAMED_BOTH => join("\n", map { "$kind->{said}/$_" } @{ $kind->{also} // [] }, 'one', 'two'),
        ALONE => "$head\none " . $cells->(1), ALONE_OWNER => "$head OWNER\none " . $cells->(1) . " $user->{name}",
        FIELD => join('', map { ".$_" } @{ $kind->{at} }),
        DESCRIBED => $kind->{describe} =~ s/VALUE_1/value($kind, 1)/er,
        EXPLAIN => $kind->{explain}[0], EXPLAINED => $kind->{explain}[1],
        CONDITION => $kind->{condition} // '', UNLABELED => $minor < 22 ? 'labeled' : 'unlabeled',
        CAN_WARNING => $space ? '' : "Warning: resource '$bare' is not namespace scoped...",
    );
    $word{"VALUE_$_"} = value($kind, $_) for 1 .. 4;
    $word{"DIFF_$_"} = $kind->{diff} ? $kind->{diff}[$_ - 1] : value($kind, $_) for 1, 2;
    return \%word;
}

sub made {
    my ($user, $kind, $what, $name, $n) = @_;
    my $value = value($kind, $n);
    return $kubectl->file("$name.json", object($user, $kind, $name, $n)) if $what eq 'FILE';
    return read_json($user, $kind, $name, $n)    if $what eq 'GOT' || $what eq 'RAW';
    return read_json($user, $kind, $name, $n, 1) if $what eq 'STALE';
    return $json->encode(nested($value, @{ $kind->{at} })) if $what eq 'PATCH';
    my $pointer = join '', map { "/$_" } @{ $kind->{at} };
    return $json->encode([{ op => $what eq 'JSONTEST' ? 'test' : 'replace', path => $pointer, value => $value }]);
}

my $name_words = qr/\b(?:one|two|three|nope)\b/;

sub command_word {
    my ($user, $kind, $word, $words) = @_;
    return made($user, $kind, $1, $2, $3) if $word =~ /\A(FILE|GOT|RAW|STALE)\((\w+),(\d)\)\z/;
    return made($user, $kind, $1, '', $2) if $word =~ /\A(PATCH|JSONPATCH|JSONTEST)\((\d)\)\z/;
    my $any = join '|', sort { length $b <=> length $a } keys %$words;
    return $word =~ s/\b($any)\b/$words->{$1}/gr =~ s/($name_words)/called($kind, $1)/ger;
}

# The whole of what is said, as a pattern.
my %any = ('...' => '.*?', AGE => '(?:AGE|(?:[0-9]+[smhd]){1,2})', TIME => '[0-9-]+T[0-9:]+Z');

sub pattern {
    my ($kind, $text, $words) = @_;
    my $keys = join '|', keys %$words;
    my $pattern = join '', map {
          exists $any{$_}         ? $any{$_}
        : /\A$name_words\z/       ? quotemeta called($kind, $_)
        :                           quotemeta
    } split /(\.\.\.|\bAGE\b|\bTIME\b|$name_words)/, plainly($text =~ s/\b($keys)\b/$words->{$1}/gr);
    return qr/\A$pattern\z/s;
}

sub plainly {
    my ($text) = @_;
    return $text =~ s/[ \t]+/ /gr =~ s/ $//gmr =~ s/^ //gmr =~ s/\A\n+//r =~ s/\n+\z//r;
}

# ---- playing it

sub watched {
    my ($user, $kind, $command) = @_;
    my $running = $kubectl->begin($user->{token}, $command);
    $kubectl->wait_for($running, qr/<none>\n/);
    $kubectl->run($user->{token}, ['label', $kind->{type}, called($kind, 'one'), 'seen=yes']);
    $kubectl->wait_for($running, qr/yes\n/);
    my $said = $kubectl->end($running, stop => 1);
    return { code => 'watch', out => $said->{out}, err => '' };
}

# A script that edits as the row says: meanwhile somebody else changes the object.
sub editor {
    my ($user, $kind, $text, $words) = @_;
    my @label = ($kubectl->prefix($user->{token}), 'label', $kind->{type}, called($kind, 'one'), 'while=editing');
    $text =~ s/MEANWHILE/@{[join ' ', map { "'$_'" } @label]} >\/dev\/null/;
    $text =~ s/(VALUE_\d)/$words->{$1}/g;
    my $script = $kubectl->file('editor', "#!/bin/sh\n$text \"\$1\"\n");
    chmod 0700, $script;
    return $script;
}

# [good, name, what was wrong]
sub cell {
    my ($user, $kind, $row) = @_;
    my ($template, $code, $says, %option) = @$row;
    my $words   = words_of($user, $kind);
    my @command = map { command_word($user, $kind, $_, $words) } split ' ', $template;
    @command = map { split ' ' } @command if $template =~ /EXPLAIN/;
    my %more = defined $option{editor} ? (editor => editor($user, $kind, $option{editor}, $words)) : ();
    my $said = $code eq 'watch' ? watched($user, $kind, \@command) : $kubectl->run($user->{token}, \@command, %more);
    my ($out, $err) = map { plainly($said->{$_}) } qw(out err);
    my $out_pattern = pattern($kind, $code eq '0' || $code eq 'watch' || $option{stdout} ? $says : '', $words);
    my $err_pattern = pattern($kind, $code eq '1' && !$option{stdout} ? $says : $option{warns} // '', $words);
    my $good = $said->{code} eq $code && $err =~ $err_pattern && ($code eq '1' && !$option{stdout} || $out =~ $out_pattern);
    my $wrong = $good ? '' : "kubectl @command\nexit code $said->{code}, to be $code\nstdout: $out\nto be: $out_pattern\n"
        . "stderr: $err\nto be: $err_pattern";
    return [$good ? 1 : 0, $template . ($code eq '0' || $code eq 'watch' ? '' : ' fails'), $wrong];
}

sub concerns {
    my ($kind, $row) = @_;
    return 1 if !ref $row;
    my (undef, undef, undef, %option) = @$row;
    return 0 if exists $option{for} && !$kind->{ $option{for} };
    return 0 if exists $option{not} && $kind->{ $option{not} };
    return 1;
}

# All rows of a kind; lines of what was found.
sub play {
    my ($user, $kind) = @_;
    my @cells;
    if ($kind->{needs}) {
        my $said = $kubectl->run($user->{token}, 'create -f -', input => $json->encode($kind->{needs}));
        push @cells, [$said->{code} == 0 ? 1 : 0, "the type $kind->{kind}", $said->{err}];
    }
    push @cells, map { ref $_ ? cell($user, $kind, $_) : $_ } grep { concerns($kind, $_) } @matrix;
    if ($kind->{needs}) {
        my $said = $kubectl->run($user->{token}, ['delete', 'crd', $kind->{needs}{metadata}{name}]);
        push @cells, [$said->{code} == 0 ? 1 : 0, "the type $kind->{kind} goes", $said->{err}];
    }
    return \@cells;
}

$_->{label} //= $_->{kind} for @kinds;
if (defined $ENV{TENURE_KINDS}) {
    @kinds = grep { $_->{label} =~ /\A(?:$ENV{TENURE_KINDS})\z/ } @kinds;
} else {
    my $seed = $ENV{TENURE_SEED} // time;
    diag "TENURE_SEED=$seed";
    srand $seed;
    @kinds = (shuffle @kinds)[ 0, 1 ];
}
$_->{custom} = 1 for grep { $_->{names} =~ /example/ } @kinds;

my $tenants = join '', map { qq({"apiVersion": "v1", "kind": "Tenant", "metadata": {"name": "$_"}}\n) } qw(acme globex);
is $kubectl->run('admin', 'create -f -', input => $tenants)->{out}, "tenant/acme created\ntenant/globex created\n", 'two tenants';

my @told = Tenure::Parallel::run(scalar @users, sub {
    my ($n) = @_;
    return $json->encode({ map { $_->{label} => play($users[$n], $_) } @kinds });
});
for my $n (0 .. $#users) {
    subtest $users[$n]{name} => sub {
        my $found = defined $told[$n] ? $json->decode($told[$n]) : {};
        for my $kind (map { $_->{label} } @kinds) {
            subtest $kind => sub {
                ok($found->{$kind}, 'was played to its end');
                for my $cell (@{ $found->{$kind} // [] }) {
                    ref $cell ? ok($cell->[0], $cell->[1]) || diag $cell->[2] : note $cell;
                }
            };
        }
    };
}
done_testing;
