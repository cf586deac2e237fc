#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Undo needs the rights of the reverse change: what the endpoint does not offer, or not to that role, is not done by an undo either.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Copy ();
use File::Temp ();
use Test::More;

use Tenure::Instance;
use Tenure::Undo qw(undo_path reasons);

my $wadl_dir = File::Temp->newdir('tenure-wadl-XXXXXX', TMPDIR => 1);
chmod 0755, "$wadl_dir";
Tenure::Instance::need('lighttpd');
File::Copy::copy($_, "$wadl_dir/") or die "$_: $!" for glob Tenure::Instance::build_dir() . '/build/wadl/*.wadl';
my $instance = Tenure::Instance->start(settings => { 'tenure.wadl_dir' => "$wadl_dir" });
my $admin    = $instance->admin;
my $ann      = $instance->service('ann:t1:member');
my $boss     = $instance->service('boss:t1:admin');
my $at       = '/v2.0/t1/namespaces/default/configmaps';
my $large    = '/v2.0/t1/persistentvolumes';
$admin->make_tenant($_) for 't1', 't2';

# What the service endpoint offers from now on: as shipped, but for these calls, which are withdrawn, or need the role admin.
my @files   = ('service', 'tenancy', 'spaces', 'tree-spaces', 'tree-tenancy');
my %shipped = map { $_ => Tenure::Instance::read_file("$wadl_dir/$_.wadl") } @files;

# Puts $to into the one of these files where $from matches.
sub edit { my ($text, $from, $to, @in) = @_; return grep({ $text->{$_} =~ s/$from/$to/ } @in) ? 1 : die "no $from in @in" }

# endpoint: the one whose calls are withdrawn; service, unless told.
sub offer {
    my (%but) = @_;
    my %text     = %shipped;
    my $endpoint = $but{endpoint} // 'service';
    my @lines    = $endpoint eq 'service' ? ('service', 'tree-spaces') : ('tree-tenancy', 'tree-spaces');
    edit(\%text, qr{<method href="\w+\.wadl#$_"/>}, '', @lines) for @{ $but{without} // [] };
    for my $id (@{ $but{for_admins} // [] }) {
        my $file = $text{tenancy} =~ /<method id="$id"/ ? 'tenancy' : 'spaces';
        $text{$file} =~ s{(<method id="$id"[^>]* t:role=")\w+"}{$1admin"} or die "no $id";
    }
    Tenure::Instance::write_file("$wadl_dir/$_.wadl", $text{$_}) for keys %text;
    kill HUP => $instance->master_pid($endpoint);
    return;
}

# The same answer ten times, since workers of before and after a reload serve side by side for a moment.
sub settled {
    my ($ask, $status) = @_;
    return Tenure::Instance::wait_until(sub { !grep { $ask->()->status != $status } 1 .. 10 });
}

# [what, calls that are withdrawn, a request to be taken back]
my @cases = (
    ['a creation', ['deleteResource', 'deleteCoreObject', 'deleteCoreTenantObject'], sub { $ann->put("$large/made", json => {}) }],
    ['a creation in a namespace', ['deleteNamespacedResource', 'deleteCoreNamespacedObject', 'deleteCoreTenantNamespacedObject'],
        sub { $ann->put("$at/made", json => {}) }],
    ['an update', ['putNamespacedResource', 'patchNamespacedResource'],
        sub { $ann->put("$at/u", json => { data => { n => '1' } }); return $ann->put("$at/u", json => { data => { n => '2' } }) }],
    ['a deletion', ['recoverNamespacedResource'], sub { $ann->put("$at/d", json => {}); return $ann->delete("$at/d") }],
    ['a deletion of a namespace', ['recoverNamespace'],
        sub { $ann->put('/v2.0/t1/namespaces/n', json => {}); $ann->put('/v2.0/t1/namespaces/n/configmaps/c', json => {});
            return $ann->delete('/v2.0/t1/namespaces/n') }],
    ['traits', ['putNamespacedResourceTraits'],
        sub { $ann->put("$at/t", json => {}); $ann->put("$at/t/traits", json => { traits => ['HW_CPU_X86_AVX'] });
            return $ann->put("$at/t/traits", json => { traits => ['HW_CPU_X86_AVX2'] }) }],
);

my %request = map { $_->[0] => $_->[2]->() } @cases;
is_deeply [grep { $request{$_}->status >= 300 } sort keys %request], [], 'the requests are made';

for my $case (@cases) {
    my ($what, $ids) = @$case;
    my $response = $request{$what};
    subtest "$what: without @$ids" => sub {
        is_deeply reasons($ann->get(undo_path('t1', $response))), [], 'with it, nothing is in the way';
        offer(without => $ids);
        ok Tenure::Instance::wait_until(sub { !grep { @{ reasons($ann->get(undo_path('t1', $response))) } == 0 } 1 .. 10 }), 'withdrawn';
        my $preview = $ann->get(undo_path('t1', $response));
        $preview->is_status(200);
        is_deeply reasons($preview), ['not-offered'], 'the preview tells';
        like $preview->json->{blockers}[0]{detail}, qr/\b\Q$ids->[0]\E\b/, '... which call it is';
        my $refused = $ann->post(undo_path('t1', $response));
        $refused->is_status(409);
        is_deeply reasons($refused), ['not-offered'], 'refused';
        is_deeply reasons($admin->get(undo_path('t1', $response))), [], 'the admin endpoint offers it still';
        offer(for_admins => $ids);
        ok settled(sub { $ann->get(undo_path('t1', $response)) }, 403), 'for admins only: the preview is refused to a member';
        $ann->post(undo_path('t1', $response))->is_status(403, '... and the undo');
        is_deeply reasons($boss->get(undo_path('t1', $response))), [], 'an admin may';
        $boss->post(undo_path('t1', $response))->is_status(200, '... take it back');
        offer();
        ok Tenure::Instance::wait_until(sub { !grep { $_->status == 403 } map { $ann->get(undo_path('t1', $response)) } 1 .. 10 }), 'as shipped';
    };
}

subtest 'one of two calls that do the same suffices' => sub {
    $ann->put("$at/p", json => { data => { n => '1' } });
    my $put = $ann->put("$at/p", json => { data => { n => '2' } });
    offer(without => ['putNamespacedResource']);
    ok settled(sub { $ann->put("$at/p", json => {}, if_match => '"none"') }, 405), 'PUT is gone';
    $ann->post(undo_path('t1', $put))->is_status(200, 'PATCH could put it back by hand');
    offer();
    ok settled(sub { $ann->put("$at/p", json => {}, if_match => '"none"') }, 412), 'as shipped';
};

subtest 'what another dialect deletes' => sub {
    my $crd = { apiVersion => 'apiextensions.k8s.io/v1', kind => 'CustomResourceDefinition', metadata => { name => 'widgets.example.com' },
        spec => { group => 'example.com', scope => 'Namespaced', names => { plural => 'widgets', singular => 'widget', kind => 'Widget', listKind => 'WidgetList' },
            versions => [{ name => 'v1', served => \1, storage => \1, schema => { openAPIV3Schema => { type => 'object' } } }] } };
    my $definition = $boss->put('/v2.0/t1/customresourcedefinitions.apiextensions.k8s.io/widgets.example.com', json => $crd);
    $definition->is_status(201);
    $ann->get(undo_path('t1', $definition))->is_problem(403, 'forbidden', 'a definition is an admin\'s');
    $ann->post(undo_path('t1', $definition))->is_problem(403, 'forbidden', '... so no member takes its creation back');
    is_deeply reasons($boss->get(undo_path('t1', $definition))), [], '... as an admin may';
    my $widget = $ann->put('/v2.0/t1/namespaces/default/widgets.example.com/w', json => { apiVersion => 'example.com/v1', kind => 'Widget' });
    $widget->is_status(201);
    my $map = $ann->put("$at/kubectl", json => {});
    offer(without => ['deleteNamespacedResource', 'deleteGroupNamespacedObject', 'deleteGroupTenantNamespacedObject']);
    ok Tenure::Instance::wait_until(sub { !grep { @{ reasons($ann->get(undo_path('t1', $widget))) } == 0 } 1 .. 10 }), 'nothing deletes objects of groups';
    $ann->delete("$at/kubectl")->is_status(405, 'nor does tenancy delete any');
    is_deeply reasons($ann->post(undo_path('t1', $widget))), ['not-offered'], 'the creation of one stays';
    $ann->delete('/api/v1/tenants/t1/namespaces/default/configmaps/kubectl?dryRun=All')->is_status(200, 'kubectl may still delete a core one');
    $ann->post(undo_path('t1', $map))->is_status(200, '... and so its creation is taken back');
    offer();
};

# The first two need an operator: at the admin endpoint.
subtest 'tenants, their policy, and moves of all' => sub {
    my $made   = $admin->put('/v2.0/t3', json => {});
    my $policy = sub { my ($which) = @_; return $boss->patch('/api/v1/tenants/t1', { spec => { multiTenancyCRDPolicy => $which } }) };
    $policy->('LocalCRDFirst')->is_status(200);
    my $set  = $policy->('SystemCRDFirst');
    my $tier = $admin->put('/v2.0/t2', json => { tenant => { metadata => { of => 'two' } } });
    $admin->make_tenant($_) for 't4', 't5';
    $admin->make('/v2.0/t4/namespaces/n');
    $admin->make('/v2.0/t4/persistentvolumes/pv');
    my $moved = $admin->post('/v2.0/t4/action/move?dest=t5');
    $moved->is_status(303);
    is_deeply reasons($boss->get(undo_path('t1', $set))), [], 'nothing is in the way of the policy';
    offer(without => ['putCoreObject', 'patchCoreObject']);
    ok Tenure::Instance::wait_until(sub { !grep { @{ reasons($boss->get(undo_path('t1', $set))) } == 0 } 1 .. 10 }), 'its calls are withdrawn';
    is_deeply reasons($boss->post(undo_path('t1', $set))), ['not-offered'], 'the policy';
    my @asked = (['t3', $made], ['t2', $tier], ['t4', $moved]);
    my $told  = sub { return [map { reasons($admin->get(undo_path(@$_))) } @asked] };
    is_deeply $told->(), [[], [], []], 'the admin endpoint offers its own';
    offer(endpoint => 'admin', without => ['deleteTenant', 'deleteCoreObject', 'putTenant', 'patchTenant', 'postMoveOne', 'postMoveNamespace']);
    ok Tenure::Instance::wait_until(sub { !grep { @{ $told->()->[0] } == 0 } 1 .. 10 }), 'withdrawn there';
    is_deeply $told->(), [['not-offered'], ['not-offered'], []], 'a tenant, an update of one; a move of all is taken back by that of all';
    my @answers = map { $admin->post(undo_path(@$_)) } @asked[0, 1];
    is_deeply [map { ($_->status, reasons($_)) } @answers], [409, ['not-offered'], 409, ['not-offered']], 'refused';
    $admin->get('/v2.0/t3')->is_status(200);
    offer(endpoint => 'admin', without => ['postMoveAll']);
    ok Tenure::Instance::wait_until(sub { !grep { @{ $told->()->[0] } > 0 } 1 .. 10 }), 'offered again, but no move of all';
    is_deeply $told->(), [[], [], []], 'what was moved is moved back one by one';
    offer(endpoint => 'admin', without => ['postMoveAll', 'postMoveNamespace']);
    ok Tenure::Instance::wait_until(sub { !grep { @{ $told->()->[2] } == 0 } 1 .. 10 }), 'nor one of a namespace';
    is_deeply reasons($admin->post(undo_path('t4', $moved))), ['not-offered'], 'so it stays where it is';
    $admin->get('/v2.0/t5/persistentvolumes/pv')->is_status(200);
    offer(endpoint => 'admin');
    ok Tenure::Instance::wait_until(sub { !grep { @{ $told->()->[2] } > 0 } 1 .. 10 }), 'as shipped';
    is_deeply [map { $admin->post(undo_path(@$_))->status } @asked], [200, 200, 200], 'and taken back';
    $admin->get('/v2.0/t4/persistentvolumes/pv')->is_status(200);
};

# kubectl apply keeps what was applied in an annotation, as it may in an admin's own Tenant object.
subtest 'a policy that was applied' => sub {
    $admin->make_tenant('t6');
    my $chief = $instance->service('chief:t6:admin');
    offer();
    ok settled(sub { $chief->patch('/api/v1/tenants/t6', {}) }, 200), 'as shipped';
    my $apply = sub { my ($who, $policy, %more) = @_;
        return $who->patch('/api/v1/tenants/t6', { metadata => { annotations => { 'kubectl.kubernetes.io/last-applied-configuration' => "{\"$policy\":1}", %more } },
            spec => { multiTenancyCRDPolicy => $policy } }) };
    my $policy = sub { return $chief->get('/api/v1/tenants/t6')->json->{spec}{multiTenancyCRDPolicy} };
    my $first  = $apply->($chief, 'LocalCRDFirst');
    my $second = $apply->($chief, 'SystemCRDFirst');
    $_->is_status(200) for $first, $second;
    $instance->service('dan:t6:member')->get(undo_path('t6', $second))->is_status(403, 'a member may not take it back');
    is_deeply reasons($chief->get(undo_path('t6', $second))), [], 'an admin may';
    $chief->post(undo_path('t6', $second))->is_status(200);
    is $policy->(), 'LocalCRDFirst', 'and does';
    $first = $apply->($chief, 'NeverUseSystemCRDUnlessForced');
    $first->is_status(200);
    my $more = $apply->($admin, 'SystemCRDFirst', 'example.com/zone' => 'a');
    $more->is_status(200, 'an operator sets an annotation as well');
    $chief->get(undo_path('t6', $more))->is_status(403, 'that is not an admin\'s to take back');
    $chief->post(undo_path('t6', $more))->is_status(403);
    my $tier = $admin->patch('/v2.0/t6', { tenant => { metadata => { of => 'six' } } });
    $chief->get(undo_path('t6', $tier))->is_status(403, '... nor metadata');
};

subtest 'what only the admin endpoint offers' => sub {
    $admin->put("$large/moves", json => {});
    my $move = $admin->post("$large/moves/action/move?dest=t2");
    $move->is_status(303);
    is_deeply reasons($instance->service('admin')->get(undo_path('t1', $move))), ['not-offered'], 'a move is not taken back where nothing can be moved';
    $admin->post(undo_path('t1', $move))->is_status(200, 'it is at the admin endpoint');
};

done_testing;
