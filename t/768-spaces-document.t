#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# "Multi-Tenancy API Resource Model" by its own samples and examples: the names, paths and documents in here are those of the
# text, one subtest for each of its sections.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Definition qw(definition_of);
use Tenure::Instance;
use Tenure::Watch qw(told);

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->combined('admin');
my $url      = $instance->env('TENURE_COMBINED_URL');
my $crds     = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
my %of       = map { $_ => $instance->combined("ann:$_") } qw(t1 t2 sample-tenant-1);
my $forced   = 'arktos.futurewei.com/crd-sharing-policy';

sub pod { return { apiVersion => 'v1', kind => 'Pod', metadata => { name => $_[0], %{ $_[1] // {} } }, spec => { containers => [{ name => 'c', image => 'i' }] } } }
sub named { my ($kind, $name) = @_; return { apiVersion => 'v1', kind => $kind, metadata => { name => $name } } }

# By what a definition takes of spec.by it can be told whose it is.
sub definition {
    my ($plural, $by, %more) = @_;
    my $schema = { type => 'object', properties => { spec => { type => 'object', properties => { by => { type => 'string', enum => [$by] } } } } };
    return definition_of($plural, schema => $schema, metadata => { labels => delete $more{labels} // {} }, %more);
}

sub volume { return { %{ named('PersistentVolume', $_[0]) }, spec => { accessModes => ['ReadWriteOnce'], capacity => { storage => '1Gi' }, hostPath => { path => '/x' } } } }
sub by { my ($name, $by) = @_; return { metadata => { name => $name }, spec => { by => $by } } }

sub names { return join ' ', map { $_->{metadata}{name} } @{ $_[0]->json->{items} // [] } }

$admin->post('/api/v1/tenants', json => named('Tenant', $_))->is_status(201, "tenant $_") for 't1', 't2';

subtest 'Tenant Spaces & System Space' => sub {
    my %in = (namespaces => named('Namespace', 'ns-1'), persistentvolumes => volume('pv1'),
        'namespaces/default/pods' => pod('pod1'), 'namespaces/ns-1/pods' => pod('pod1'));
    my %uid;
    for my $tenant ('t1', 't2', 'system') {
        for my $path (sort { length $a <=> length $b || $a cmp $b } keys %in) {
            my $made = $admin->post("/api/v1/tenants/$tenant/$path", json => $in{$path});
            $made->is_status(201, "$tenant: $path");
            $uid{ $made->json->{metadata}{uid} } = 1;
        }
    }
    is scalar keys %uid, 12, 'one name in three spaces: three things';
    $of{t1}->delete('/api/v1/persistentvolumes/pv1')->is_status(200, 'what is deleted in one');
    $admin->get("/api/v1/tenants/t1/persistentvolumes/pv1")->is_status(404, 'is gone there');
    $admin->get("/api/v1/tenants/$_/persistentvolumes/pv1")->is_status(200, "and not in $_") for 't2', 'system';
    $of{t1}->post('/api/v1/persistentvolumes', json => volume('pv1'))->is_status(201, 'again');
    for my $path ('namespaces/default/pods/pod1', 'persistentvolumes/pv1', 'namespaces/default/pods', 'persistentvolumes', 'namespaces') {
        $of{t1}->get("/api/v1/tenants/$_/$path")->is_status(403, "$path of $_ is not for a user of t1") for 'system', 't2';
        $of{t1}->get("/api/v1/tenants/t1/$path")->is_status(200, 'its own is');
    }
};

subtest 'Tenant Object, Tenant Name in Object Meta' => sub {
    my $sample = 'sample-tenant-1';
    $of{$sample}->post('/api/v1/namespaces', json => named('Namespace', 'sample-namespace-1'))->is_status(404, 'before the tenant there is no space');
    $admin->post('/api/v1/tenants', json => named('Tenant', $sample))->is_status(201, 'the sample, a name alone');
    my $namespace = { apiVersion => 'v1', kind => 'Namespace', metadata => { name => 'sample-namespace-1', tenant => $sample } };
    my $pod       = pod('memory-demo', { namespace => 'sample-namespace-1', tenant => $sample });
    $of{$sample}->post('/api/v1/namespaces', json => $namespace)->is_status(201, 'the sample namespace, by a short path');
    $admin->post("/api/v1/tenants/$sample/namespaces/sample-namespace-1/pods", json => $pod)->is_status(201, 'the sample pod, by its full path');
    $of{t1}->post('/api/v1/namespaces', json => $namespace)->is_status(400, 'another tenant does not make it');
    $admin->post('/api/v1/namespaces', json => $namespace)->is_status(400, 'nor the operator, by a path of the system');
    $admin->put('/v2.0/made-there', json => { tenant => {} })->is_status(201, 'a tenant made by another dialect');
    is names($instance->combined('eve:made-there')->get('/api/v1/namespaces')), 'default', 'has a space as well';
    is $admin->get('/api/v1/tenants/made-there')->json->{kind}, 'Tenant', 'and is a Tenant';
};

# Of each kind one, in a tenant's space and in the system's.
subtest 'full paths' => sub {
    $of{t1}->post($crds, json => definition('widgets', 't1'))->is_status(201, 'a definition');
    $of{t1}->post('/apis/example.com/v1/namespaces/ns-1/widgets', json => by('w', 't1'))->is_status(201, 'an object of it');
    $admin->post($crds, json => definition('sprockets', 'system'))->is_status(201, 'one of the system');
    $admin->post('/apis/example.com/v1/namespaces/ns-1/sprockets', json => by('s', 'system'))->is_status(201, 'and of it');
    $admin->post('/api/v1/nodes', json => named('Node', 'n'))->is_status(201, 'a node of the cluster');
    my @lists = ([$of{t1}, 't1', '/api/v1', qw(namespaces namespaces/ns-1/pods persistentvolumes)],
        [$of{t1}, 't1', '/apis/apiextensions.k8s.io/v1', 'customresourcedefinitions'], [$of{t1}, 't1', '/apis/example.com/v1', 'namespaces/ns-1/widgets'],
        [$admin, 'system', '/api/v1', qw(namespaces namespaces/ns-1/pods persistentvolumes)], [$admin, undef, '/api/v1', 'nodes', 'tenants'],
        [$admin, 'system', '/apis/apiextensions.k8s.io/v1', 'customresourcedefinitions'], [$admin, 'system', '/apis/example.com/v1', 'namespaces/ns-1/sprockets']);
    my %paths;
    for my $list (@lists) {
        my ($client, $tenant, $root, @paths) = @$list;
        for my $path (@paths) {
            my $items = $client->get("$root/$path")->json->{items};
            cmp_ok scalar @$items, '>', 0, "$root/$path has some";
            for my $item (@$items) {
                my $link = $item->{metadata}{selfLink};
                my $in   = defined $tenant && $tenant ne 'system' ? "/tenants/$tenant" : '';
                is $link, "$root$in/$path/$item->{metadata}{name}", 'its selfLink is the full path';
                is $item->{metadata}{tenant}, $tenant, 'its metadata tell whose it is';
                ok !$paths{$link}++, 'which nothing else has';
                is_deeply $admin->get($link)->json->{metadata}, $item->{metadata}, 'and which leads to it';
            }
        }
    }
};

# (user's tenant or none, path) → whose space: the pseudo-code's branches. Without default-tenant: 753 has those with one.
subtest 'target space' => sub {
    my $cms = 'namespaces/default/configmaps';
    $admin->post("/api/v1/tenants/$_/$cms", json => { metadata => { name => 'whose' }, data => { of => $_ } })->is_status(201) for 't1', 't2', 'system';
    my $whose = sub { my ($client, $path) = @_; my $answer = $client->get("/api/v1/$path/whose"); return $answer->status == 200 ? $answer->json->{data}{of} : $answer->status };
    is $whose->($of{t1}, $cms), 't1', 'a user of a tenant, no target space: its own';
    is $whose->($of{t1}, "tenants/t1/$cms"), 't1', 'its own space named';
    is $whose->($of{t1}, "tenants/$_/$cms"), 403, "$_ named: resolved, and refused afterwards" for 't2', 'system', 'nowhere';
    is $whose->($admin, $cms), 'system', 'a user of the system, no target space';
    is $whose->($admin, "tenants/$_/$cms"), $_, "$_ named" for 't1', 't2', 'system';
    is $whose->($instance->combined('nina'), $cms), 403, 'a user of no tenant';
    is $admin->get("/api/v1/$cms/whose", as => undef)->status, 401, 'no user';
};

subtest 'isolation' => sub {
    $of{t2}->post($crds, json => definition('widgets', 't2'))->is_status(201, 'a definition that t1 has as well');
    my $path = '/apis/example.com/v1/namespaces/ns-1/widgets';
    $of{t2}->post($path, json => by('w', 't2'))->is_status(201, 'an object, by its own schema');
    my $before = $of{t2}->get("$crds/widgets.example.com")->text . $of{t2}->get("$path/w")->text;
    $of{t1}->patch("$crds/widgets.example.com", { metadata => { labels => { new => '1' } }, spec => { names => { shortNames => ['wd'] } } })->is_status(200, 't1 changes its own');
    $of{t1}->patch("$path/w", { metadata => { labels => { new => '1' } } })->is_status(200, 'and its object');
    $of{t1}->delete("$crds/widgets.example.com")->is_status(200, 'and deletes it');
    is $of{t2}->get("$crds/widgets.example.com")->text . $of{t2}->get("$path/w")->text, $before, 'nothing of it shows to t2';
    $of{t1}->post($crds, json => definition('widgets', 't1'))->is_status(201, 'back');
};

subtest 'what a tenant says of sharing means nothing' => sub {
    my @ranges = (['*'], ['tenant=t2'], [7], 'everybody');
    for my $i (0 .. $#ranges) {
        my $made = $of{t1}->post($crds, json => definition("levers$i", 't1', applicableRange => $ranges[$i], names => { plural => "levers$i", kind => "Lever$i" }));
        $made->is_status(201, 'a range of its own, whatever it says') or diag $made->describe;
    }
    my $made = $of{t1}->post($crds, json => definition('cranks', 't1', labels => { $forced => 'forced' }, applicableRange => ['*']));
    $made->is_status(201, 'forced, it says') or diag $made->describe;
    for my $plural ('cranks', map { "levers$_" } 0 .. $#ranges) {
        is $admin->get("/spaces/t1/types/$plural.example.com")->json->{rule}, 'own', "$plural is its own";
        is $admin->get("/spaces/$_/types/$plural.example.com")->json->{rule}, 'none', "and not $_\'s" for 't2', 'system';
    }
    $of{t2}->post($crds, json => definition('cranks', 't2'))->is_status(201, 'who may have another');
    $of{t1}->delete("$crds/cranks.example.com")->is_status(200, 'and it is the tenant\'s to delete');
};

subtest 'a system definition without a range' => sub {
    is $admin->get('/spaces/t1/types/sprockets.example.com')->json->{rule}, 'none', 'is usable to the system tenant alone';
    $of{t1}->get('/apis/example.com/v1/namespaces/default/sprockets')->is_status(404, 'not to others');
    $of{t1}->patch('/api/v1/tenants/t1', { spec => { multiTenancyCRDPolicy => 'SystemCRDFirst' } })->is_status(200, 'whatever they want');
    $of{t1}->get('/apis/example.com/v1/namespaces/default/sprockets')->is_status(404, 'they do not have it');
    $of{t1}->patch('/api/v1/tenants/t1', { spec => { multiTenancyCRDPolicy => undef } })->is_status(200, 'back to the default');
    my $item = '/apis/example.com/v1/namespaces/ns-1/sprockets/s';
    for my $range (['x=y'], ['*'], [], undef) {
        $admin->patch("$crds/sprockets.example.com", { spec => { applicableRange => $range } })->is_status(200, 'with a range or without');
        my $version = $admin->get($item)->json->{metadata}{resourceVersion};
        $admin->patch($item, { metadata => { labels => { since => "r$version" } } })->is_status(200, 'the system tenant has it');
    }
};

# "the introduction of an overlapping system CRD will not cause break": neither to objects nor to an operator that watches.
subtest 'the default policy' => sub {
    my $path = '/apis/example.com/v1/namespaces/default/pulleys';
    my $back = "$crds/pulleys.example.com";
    $of{t1}->post($crds, json => definition('pulleys', 't1'))->is_status(201, 'a tenant has a definition');
    my $object = $of{t1}->post($path, json => by('p', 't1'))->json;
    my $watch  = Tenure::Watch->new($url, 'ann:t1', "$path?resourceVersion=$object->{metadata}{resourceVersion}");
    my $seen   = $of{t1}->get($back)->text;
    $admin->post($crds, json => definition('pulleys', 'system', applicableRange => ['*']))->is_status(201, 'the system shares one of that name');
    is_deeply $of{t1}->get("$path/p")->json, $object, 'the object is as it was';
    $of{t1}->post($path, json => by('q', 't1'))->is_status(201, 'its own schema holds');
    $of{t1}->post($path, json => by('r', 'system'))->is_status(422, 'the other does not');
    is $of{t1}->get($back)->text, $seen, 'it sees its own definition';
    is told($watch, 1), 'ADDED q', 'and a watch goes on';
    $of{t1}->patch('/api/v1/tenants/t1', { spec => { multiTenancyCRDPolicy => 'SystemCRDFirst' } })->is_status(200, 'it tries the system\'s');
    $of{t1}->post($path, json => by('r', 'system'))->is_status(201, 'whose schema holds now');
    $of{t1}->patch('/api/v1/tenants/t1', { spec => { multiTenancyCRDPolicy => 'LocalCRDFirst' } })->is_status(200, 'and reverts to its own');
    $of{t1}->patch("$path/p", { metadata => { labels => { l => '1' } } })->is_status(200, 'which is there as it was');
    is $of{t1}->get($back)->text, $seen, 'with nothing to be applied again';
};

subtest 'a Cluster-scoped type of a regular tenant is tenant-scoped' => sub {
    for my $scope ('Cluster', 'Tenant') {
        my $plural = lc "${scope}things"; # "tenants" is a word of addresses
        my $path   = "/apis/example.com/v1/$plural";
        $of{$_}->post($crds, json => definition($plural, $_, scope => $scope))->is_status(201, "$_: scope $scope") for 't1', 't2';
        $of{$_}->post($path, json => by('x', $_))->is_status(201, "$_: one object") for 't1', 't2';
        is names($of{$_}->get($path)), 'x', "$_ has its own" for 't1', 't2';
        my $x = $of{t1}->get("$path/x")->json;
        is_deeply [$x->{spec}{by}, @{ $x->{metadata} }{qw(tenant selfLink)}], ['t1', 't1', "/apis/example.com/v1/tenants/t1/$plural/x"], 'in its space';
        my ($discovered) = grep { $_->{name} eq $plural } @{ $of{t1}->get('/apis/example.com/v1')->json->{resources} };
        ok $discovered && !$discovered->{namespaced}, 'discovery has it, in no namespace';
        $admin->get("$path/x")->is_status(404, 'the system has none of it');
        $of{t2}->delete("$path/x")->is_status(200);
        $of{t1}->get("$path/x")->is_status(200, 'and what t2 deletes is its own');
    }
};

# The text's field for the tenant a type belongs to: of what is built in it is empty.
subtest 'discovery tells whose a type is' => sub {
    $admin->post($crds, json => definition('chains', 'system', applicableRange => ['*']))->is_status(201, 'one that is shared');
    my $tenant = sub {
        my ($client, $path) = @_;
        return { map { $_->{name} => $_->{tenant} // '' } @{ $client->get($path)->json->{resources} } };
    };
    my ($core, $custom, $others) = ($tenant->($of{t1}, '/api/v1'), $tenant->($of{t1}, '/apis/example.com/v1'), $tenant->($of{t2}, '/apis/example.com/v1'));
    is_deeply { map { $_ => 1 } values %$core }, { '' => 1 }, 'built-in types: nobody\'s';
    is $custom->{widgets}, 't1', 'its own';
    is $custom->{chains}, 'system', 'one of the system\'s';
    is $others->{widgets}, 't2', 'to another tenant, its own';
    is $custom->{sprockets}, undef, 'what is not for it is not there';
    $of{t1}->get('/apis/example.com/v1/namespaces/default/chains')->is_status(200, 'it uses what is shared');
    $of{t1}->get("$crds/chains.example.com")->is_status(404, 'without any right to the definition, which is not in its space');
    my @core = grep { $_->{name} !~ m{/|reviews} } @{ $of{t1}->get('/api/v1')->json->{resources} }, @{ $of{t1}->get('/apis/example.com/v1')->json->{resources} };
    is join(' ', map { $_->{name} } grep { !$_->{tenanted} && $_->{name} !~ /\A(?:tenants|nodes)\z/ } @core), '', '"tenanted" says that each is of a space';
    my ($nodes) = grep { $_->{name} eq 'nodes' } @{ $admin->get('/api/v1')->json->{resources} };
    ok exists $nodes->{tenanted} && !$nodes->{tenanted}, 'and nodes of none';
};

subtest 'System Tenant: it is pre-created, and nothing else is special' => sub {
    my $fresh = Tenure::Instance->start(combined => 1)->combined('admin');
    my $cms   = '/api/v1/namespaces/default/configmaps';
    $fresh->get($_)->is_status(200, "$_ before anything is in it") for $cms, '/api/v1/namespaces', $crds, '/api/v1/nodes', '/apis/apps/v1';
    $fresh->post($cms, json => named('ConfigMap', 'first'))->is_status(201, 'and something can be put there at once');
    is names($fresh->get('/api/v1/namespaces')), 'default', 'into its namespace';
    $fresh->delete('/api/v1/tenants/system')->is_status(403, 'it cannot be deleted');
};

my ($code, $text) = $instance->manage('doctor');
is $code, 0, 'the store is sound' or diag $text;

done_testing;
