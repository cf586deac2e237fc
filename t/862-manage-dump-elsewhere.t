#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A tenant goes to another installation, which has never heard of its types, traits, classes and consumer types. What doesn't fit the types, tiers
# and limits there is refused.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::DumpFile;
use Tenure::Instance;

my ($here, $there) = map { Tenure::Instance->start(combined => 1, workers => 1, settings => { 'tenure.max_body' => $_ }) } qw(3M 1M);
# What MySQL has by default, and many an option file: no list of a record may be cut there.
$_->sql('SET GLOBAL group_concat_max_len = 1024') for $here, $there;
my $file    = $here->dir . '/dump';
my %headers = ('X-OpenStack-Ironic-API-Version' => '1.82', 'OpenStack-API-Version' => 'placement 1.39');
my ($provider, $consumer) = ('11111111-1111-4111-8111-111111111111', '33333333-3333-4333-8333-333333333333');

sub made {
    my ($method, $path, $body) = @_;
    my $answer = $here->combined('admin')->request($method, $path, headers => {%headers}, defined $body ? (json => $body) : ());
    $answer->status =~ /\A(?:20[0-4]|303)\z/ or die $answer->describe . "\n";
    return $answer;
}
sub manage {
    my ($instance, $want, $name, @args) = @_;
    my ($code, $text) = $instance->manage(@args);
    is $code, $want, $name or diag $text;
    return $text;
}
sub definition {
    my ($group, $spec, %labels) = @_;
    return { apiVersion => 'apiextensions.k8s.io/v1', kind => 'CustomResourceDefinition', metadata => { name => "widgets.$group", labels => \%labels }, spec => { group => $group,
        scope => 'Namespaced', names => { plural => 'widgets', singular => 'widget', kind => 'Widget', listKind => 'WidgetList' }, versions => [ { name => 'v1',
        served => JSON::PP::true, storage => JSON::PP::true, schema => { openAPIV3Schema => { type => 'object', 'x-kubernetes-preserve-unknown-fields' => JSON::PP::true, %$spec } } } ] } };
}

my $definitions = '/apis/apiextensions.k8s.io/v1/tenants/acme/customresourcedefinitions';
made(PUT => '/v2.0/acme', { tenant => { tier => 'gold' } });
made(POST => $definitions, definition('here.example', {}));
made(POST => '/apis/here.example/v1/tenants/acme/namespaces/default/widgets', { apiVersion => 'here.example/v1', kind => 'Widget', metadata => { name => 'w' }, size => 3 });
my $node = made(POST => '/baremetal/v1/nodes', { driver => 'fake-hardware', name => 'n1', owner => 'acme' })->json->{uuid};
made(PUT => "/baremetal/v1/nodes/$node/traits", { traits => ['CUSTOM_HERE'] });
made(PUT => '/placement/resource_classes/CUSTOM_CLASS');
made(POST => '/placement/resource_providers', { name => 'p', uuid => $provider });
made(PUT => "/placement/resource_providers/$provider/inventories", { resource_provider_generation => 0, inventories => { CUSTOM_CLASS => { total => 8 },
    map { $_ => { total => 8 } } qw(VCPU MEMORY_MB DISK_GB PCI_DEVICE SRIOV_NET_VF NUMA_SOCKET NUMA_CORE) } });
made(PUT => "/placement/resource_providers/$provider/aggregates", { resource_provider_generation => 1, aggregates => [ map { sprintf '22222222-2222-4222-8222-%012d', $_ } 1 .. 60 ] });
made(PUT => "/placement/allocations/$consumer", { allocations => { $provider => { resources => { CUSTOM_CLASS => 3 } } }, project_id => 'p', user_id => 'u',
    consumer_generation => undef, consumer_type => 'HERE' });
made(POST => "/v2.0/system/resourceproviders/$provider/action/move?dest=acme");

my @paths = ('/v2.0/acme', '/v2.0/acme/namespaces/default/widgets.here.example/w', '/apis/here.example/v1/tenants/acme/namespaces/default/widgets', $definitions,
    "/baremetal/v1/nodes/$node", "/baremetal/v1/nodes/$node/traits", map { "/placement/resource_providers/$provider/$_" } qw(inventories usages allocations aggregates));
sub answers {
    my ($instance) = @_;
    return { map {
        my $answer = $instance->combined('admin')->get($_, headers => {%headers});
        my $text = $answer->text =~ s/"(resourceVersion|etag|state)" *: *"[^"]*"/"$1":"-"/gr =~ s{"http://[^/"]+}{"http://HOST}gr;
        ($_ => $answer->status . " $text");
    } @paths };
}

my $before = answers($here);
is scalar(grep { /\A200 / } values %$before), scalar @paths, 'everything is there';
manage($here, 0, 'dump', 'dump', '--tenant', 'acme', $file);
my ($other) = $there->manage('tier', 'set', 'gold', '--description', 'of the other installation');
is $other, 0, 'its tiers differ';
like manage($there, 0, 'restore', 'restore', $file), qr/\Arestored \d+ resources\n\z/, 'says how many';
my $after = answers($there);
is $after->{$_}, $before->{$_}, $_ for @paths;
my ($code, $doctor) = $there->manage('doctor');
is $code, 0, 'doctor finds nothing wrong' or diag $doctor;

subtest 'what is missing there' => sub {
    made(PUT => '/v2.0/other', { tenant => {} });
    made(POST => '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition('shared.example', {}, 'arktos.futurewei.com/crd-sharing-policy' => 'forced'));
    made(POST => '/apis/shared.example/v1/tenants/other/namespaces/default/widgets', { apiVersion => 'shared.example/v1', kind => 'Widget', metadata => { name => 'w' } });
    $here->manage(qw(tier set own --description x));
    $here->sql(q(UPDATE tenants SET tier_id = (SELECT id FROM tiers WHERE name = 'own') WHERE name = 'other'));
    manage($here, 0, 'dump', 'dump', '--tenant', 'other', "$file.2");
    my $told = manage($there, 65, 'restore', 'restore', "$file.2");
    like $told, qr/^there is no tier "own": `tenure-manage tier set` makes it, and --tier takes another one$/m, 'a tier';
    like $told, qr/^no definition of widgets\.shared\.example is in the file, nor in the system space here$/m, 'a definition that the system space shared';
    is $there->sql_value(q(SELECT COUNT(*) FROM tenants WHERE name = 'other')), 0, 'nothing was restored';
};

# ---- what does not fit there

sub sized { return { properties => { spec => { type => 'object', properties => { size => { type => $_[0] } } } } } }

my $tree = '55555555-5555-4555-8555-555555555555';
made(PUT => '/v2.0/fit', { tenant => {} });
made(POST => '/apis/apiextensions.k8s.io/v1/tenants/fit/customresourcedefinitions', definition('fit.example', sized('integer')));
made(POST => '/apis/fit.example/v1/tenants/fit/namespaces/default/widgets', { apiVersion => 'fit.example/v1', kind => 'Widget', metadata => { name => 'w' }, spec => { size => 3 } });
made(PUT => '/v2.0/fit/namespaces/prod', {});
made(PUT => "/v2.0/fit/namespaces/prod/configmaps/$_", { data => { a => 'b' } }) for qw(far large odd locked);
my $fit = made(POST => '/baremetal/v1/nodes', { driver => 'fake-hardware', name => 'fit', owner => 'fit' })->json->{uuid};
made(PUT => "/baremetal/v1/nodes/$fit/traits", { traits => ['CUSTOM_FIT'] });
made(POST => '/baremetal/v1/ports', { address => '52:54:00:00:00:07', node_uuid => $fit });
made(POST => '/placement/resource_providers', { name => 'fit', uuid => $tree });
made(PUT => "/placement/resource_providers/$tree/inventories", { resource_provider_generation => 0, inventories => { VCPU => { total => 8 } } });
made(PUT => '/placement/allocations/44444444-4444-4444-8444-444444444444', { allocations => { $tree => { resources => { VCPU => 1 } } }, project_id => 'p', user_id => 'u',
    consumer_generation => undef, consumer_type => 'HERE' });
made(POST => "/v2.0/system/resourceproviders/$tree/action/move?dest=fit");
manage($here, 0, 'dump', 'dump', '--tenant', 'fit', "$file.fit");
my $fitting = Tenure::DumpFile->read("$file.fit");

sub body_of { my ($record, $edit) = @_; my $body = JSON::PP::decode_json($record->{body}); $edit->($body); $record->{body} = JSON::PP->new->canonical->encode($body); return }
sub meta_of { my ($record, $edit) = @_; my $meta = JSON::PP::decode_json($record->{meta}); $edit->($meta); $record->{meta} = JSON::PP->new->canonical->encode($meta); return }
sub of_plural { my ($plural, $name) = @_; return sub { $_[0] eq 'resource' && $_[1]{plural} eq $plural && (!defined $name || $_[1]{name} eq $name) } }
sub refuses {
    my ($name, $want, $dump, @options) = @_;
    $dump->write("$file.edited");
    my $told = manage($there, 65, $name, 'restore', @options, "$file.edited");
    like $told, $want, "$name: says so";
    return $told;
}

subtest 'resources that do not fit their types' => sub {
    manage($there, 0, 'as it was dumped', 'restore', '--dry-run', "$file.fit");
    my $dump = $fitting->copy;
    my $no = '99999999-9999-4999-8999-999999999999';
    my @edits = (
        [ of_plural('widgets'), sub { body_of($_[0], sub { $_[0]{spec}{size} = 'x' }) }, qr/widgets w: Widget "w" is invalid: spec\.size: / ],
        [ of_plural(configmaps => 'far'), sub { $_[0]{namespace} = 'nowhere' }, qr/configmaps far: there is no namespace "nowhere" in the file/ ],
        [ of_plural(configmaps => 'large'), sub { body_of($_[0], sub { $_[0]{data}{a} = 'x' x 2_000_000 }) }, qr/configmaps large: has \d+ bytes: a resource may have \d+ here/ ],
        [ of_plural(configmaps => 'odd'), sub { meta_of($_[0], sub { $_[0]{labels} = { a => 1 } }) }, qr/configmaps odd: metadata\.labels has to be an object of strings/ ],
        [ of_plural(configmaps => 'locked'), sub { $_[0]{locked} = 1 }, qr/configmaps locked: metadata\.locked says that it is not locked/ ],
        [ of_plural('nodes'), sub { body_of($_[0], sub { $_[0]{name} = 'renamed'; $_[0]{chassis_uuid} = $no }) }, qr/nodes \S+: its body has the name "renamed", and its keys do not/ ],
        [ of_plural('ports'), sub { $_[0]{root} = $no =~ tr/-//dr }, qr/ports \S+: belongs to another root than its body says/ ],
        [ of_plural('resourceproviders'), sub { $_[0]{inventories}[0]{used} = 5 }, qr/resourceproviders \S+: its inventory of VCPU does not agree with its allocations/ ],
    );
    my @wanted;
    for my $edit (@edits) {
        my @lines = $dump->change($edit->[0], $edit->[1]);
        is scalar @lines, 1, "a line for $edit->[2]";
        push @wanted, [ $lines[0], $edit->[2] ];
    }
    $dump->remove(sub { $_[0] eq 'trait' });
    $dump->write("$file.edited");
    my $told = manage($there, 65, 'all of them', 'restore', "$file.edited");
    # The line of the trait is gone, so the others came nearer by one.
    like $told, qr/^line ${\($_->[0] - 1)}, $_->[1]/m, "line $_->[0]" for @wanted;
    like $told, qr/^line \d+, nodes \S+: trait CUSTOM_FIT is not among the traits in the file$/m, 'a trait that is neither there nor in the file';
    like $told, qr/nothing was restored: \d+ conflicts\n\z/, 'how many';
    is $there->sql_value(q(SELECT COUNT(*) FROM tenants WHERE name = 'fit')), 0, 'nothing was restored';
    is $there->sql_value(q(SELECT COUNT(*) FROM resources WHERE name IN ('far', 'large', 'odd'))), 0, 'no resource, either';

    my @one = (
        [ 'members of wrong kinds', of_plural('nodes'), sub { body_of($_[0], sub { $_[0]{driver} = 3 }) }, qr/nodes \S+: Schema error for node: driver has to be a string/ ],
        [ 'a member that there is not', of_plural('ports'), sub { body_of($_[0], sub { $_[0]{color} = 'blue' }) }, qr/ports \S+: .*'color' was unexpected/ ],
        [ 'a chassis', of_plural('nodes'), sub { my $uid = $_[0]{uid} =~ s/(.{8})(.{4})(.{4})(.{4})/$1-$2-$3-$4-/r; body_of($_[0], sub { $_[0]{chassis_uuid} = $no });
            push @{ $_[0]{keys} }, { %{ $_[0]{keys}[0] }, kind => 'chassis', value => "$no $uid" } }, qr/nodes \S+: chassis $no is not here/ ],
        [ 'a root', of_plural('ports'), sub { body_of($_[0], sub { $_[0]{node_uuid} = $no }); $_[0]{root} = $no =~ tr/-//dr }, qr/ports \S+: the root of its tree, nodes 9{8}\S+, is not in the file/ ],
        [ 'an inventory', of_plural('resourceproviders'), sub { $_[0]{inventories} = [] }, qr/resourceproviders \S+: it has allocations of VCPU, and no inventory of that/ ],
        [ 'the depth', of_plural(configmaps => 'odd'), sub { $_[0]{body} = '{"data":' . '[' x 40 . ']' x 40 . '}' }, qr/configmaps odd: may be nested 31 levels deep at most/ ],
    );
    for my $case (@one) {
        my ($name, $which, $edit, $want) = @$case;
        my $dump = $fitting->copy;
        my ($line) = $dump->change($which, $edit);
        refuses($name, qr/^line $line, $want/m, $dump);
    }
    my $former = $fitting->copy;
    $former->change(of_plural('nodes'), sub { body_of($_[0], sub { $_[0]{properties}{memory_mb} = '64G'; $_[0]{network_data} = { foo => 1 } }) });
    $former->write("$file.edited");
    manage($there, 0, 'properties and network_data that a node can\'t be given any more', 'restore', '--dry-run', "$file.edited");
    # Earlier versions stored such a thing.
    my $old = $fitting->copy;
    my ($at) = $old->change(of_plural(configmaps => 'odd'), sub { meta_of($_[0], sub { $_[0]{finalizers} = 'x' }) });
    refuses('metadata', qr/^line $at, configmaps odd: metadata\.finalizers has to be an array of strings/m, $old);
    manage($there, 0, 'or taken', 'restore', '--dry-run', '--keep-invalid', "$file.edited");
    my @before = (
        [ 'what counts', of_plural(configmaps => 'odd'), sub { $_[0]{live} = 2 }, qr/is no resource: live must be 2 for the namespace "default", and 1 for all else/ ],
        [ 'traits', of_plural('nodes'), sub { $_[0]{traits} = '{}' }, qr/is no resource: traits must be null, or a JSON array/ ],
        (map { my $list = $_; [ $list, of_plural('resourceproviders'), sub { $_[0]{$list} = undef }, qr/is no resource: keys, inventories and aggregates must be JSON arrays/ ] }
            qw(keys inventories aggregates)),
    );
    for my $case (@before) {
        my ($name, $which, $edit, $want) = @$case;
        my $dump = $fitting->copy;
        my ($line) = $dump->change($which, $edit);
        refuses($name, qr/: line $line $want/, $dump);
    }
    $dump = $fitting->copy;
    $dump->change(of_plural('nodes'), sub { $_[0]{created_at} = 'yesterday' });
    refuses('a time that is none', qr/: line \d+ or one of the \d+ before it has a value that can't be stored: /, $dump);
};

subtest 'limits there' => sub {
    my ($ok) = $there->manage(qw(tier set tiny --max-resources 3 --description x));
    is $ok, 0, 'a small tier';
    like manage($there, 65, 'a tier that is too small', 'restore', '--tier', 'tiny', "$file.fit"), qr/^the tenant has \d+ resources, and tier "tiny" allows 3 here: /m, 'says so';
    manage($there, 0, 'another tier', 'restore', '--dry-run', '--tier', 'gold', "$file.fit");
    like manage($there, 65, 'a tier that is not there', 'restore', '--tier', 'none', "$file.fit"), qr/^there is no tier "none"/m, 'says so';
    made(PUT => '/v2.0/typed', { tenant => {} });
    made(POST => '/apis/apiextensions.k8s.io/v1/tenants/typed/customresourcedefinitions', definition("$_.example", { description => 'x' x 1_500_000 })) for qw(one two);
    manage($here, 0, 'dump', 'dump', '--tenant', 'typed', "$file.types");
    manage($there, 0, 'definitions that have room', 'restore', '--dry-run', "$file.types");
    local $ENV{TENURE_TENURE_REQUEST_MEMORY} = '16M';
    like manage($there, 65, 'definitions that are too large', 'restore', "$file.types"), qr/^the definitions of a tenant may have 2796202 bytes in all, and would have 300\d{4}: /m, 'says so';
    is $there->sql_value(q(SELECT COUNT(*) FROM tenants WHERE name = 'typed')), 0, 'nothing was restored';
};

subtest 'a type that differs there' => sub {
    my $answer = $there->combined('admin')->post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
        json => definition('fit.example', sized('string'), 'arktos.futurewei.com/crd-sharing-policy' => 'forced'));
    is $answer->status, 201, 'the system space forces a definition of its own' or diag $answer->text;
    my $told = manage($there, 65, 'restore', 'restore', "$file.fit");
    like $told, qr/^line \d+, widgets w: Widget "w" is invalid: spec\.size: /m, 'the object does not fit that one';
    is $there->sql_value(q(SELECT COUNT(*) FROM tenants WHERE name = 'fit')), 0, 'nothing was restored';
    manage($there, 0, 'with --keep-invalid', 'restore', '--keep-invalid', '--tier', 'gold', "$file.fit");
    is $there->sql_value(q(SELECT i.name FROM tenants t JOIN tiers i ON i.id = t.tier_id WHERE t.name = 'fit')), 'gold', 'in the tier that was named';
    my $object = $there->combined('admin')->get('/v2.0/fit/namespaces/default/widgets.fit.example/w')->json;
    is $object->{spec}{size}, 3, 'the object is as it was';
    my ($code, $doctor) = $there->manage('doctor');
    is $code, 0, 'doctor finds nothing wrong' or diag $doctor;
};

done_testing;
