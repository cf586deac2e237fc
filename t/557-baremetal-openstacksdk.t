#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# openstacksdk as Debian has it: each of its calls for bare metal that needs no hardware, and its own functional tests where the
# package has them. With an operator's token, as `openstack` and Ansible use it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $python = '/usr/bin/python3';
sub imports { my ($module) = @_; return -x $python && system("$python -c 'import $module' >/dev/null 2>&1") == 0 }
plan skip_all => 'python3-openstacksdk is not installed' if !imports('openstack.baremetal.v1._proxy');

my $instance = Tenure::Instance->start(combined => 1, workers => 2);
my $dir      = $instance->{dir};
my $endpoint = $instance->env('TENURE_COMBINED_URL') . '/baremetal';

sub write_file {
    my ($name, $text) = @_;
    open my $out, '>', "$dir/$name" or die "$name: $!\n";
    print {$out} $text;
    close $out or die "$name: $!\n";
    return "$dir/$name";
}
my $clouds = write_file('clouds.yaml', "clouds:\n" . join '', map { <<"CLOUD" } qw(devstack-admin devstack devstack-alt));
  $_:
    auth_type: admin_token
    auth: { endpoint: "$endpoint", token: "admin" }
    baremetal_endpoint_override: "$endpoint"
    baremetal_api_version: 1
    baremetal_status_code_retries: 1
    has_compute: false
    has_image: false
CLOUD
# Nothing but the loopback is asked, and nothing of the user's is read.
local %ENV = (%ENV, OS_CLIENT_CONFIG_FILE => $clouds, OS_CLOUD => 'devstack-admin', HOME => $dir, no_proxy => '*', PYTHONWARNINGS => 'ignore',
    OPENSTACKSDK_FUNC_TEST_TIMEOUT => 60, OS_TEST_TIMEOUT => 100, PYTHONDONTWRITEBYTECODE => 1);
delete @ENV{qw(http_proxy https_proxy HTTP_PROXY HTTPS_PROXY)};

subtest 'its calls' => sub {
    my $program = write_file('calls.py', do { local $/ = undef; scalar readline DATA });
    my @said = split /\n/, scalar qx($python $program 2>&1);
    my $code = $?;
    for my $line (@said) {
        if ($line =~ /\A(not )?ok (.*)\z/) { ok !$1, $2 }
        else { diag $line }
    }
    is $code, 0, 'it comes to its end';
};

subtest 'its own functional tests' => sub {
    plan skip_all => 'its tests are not installed' if !imports('openstack.tests.functional.baremetal.base');
    # A line for each test: its name and how it ended.
    my $runner = write_file('functional.py', <<'PYTHON');
import sys, unittest
from openstack.tests.functional import baremetal
loader = unittest.TestLoader()
names = ['allocation', 'chassis', 'conductor', 'deploy_templates', 'driver', 'node', 'port', 'port_group', 'volume_connector', 'volume_target']
suite = loader.loadTestsFromNames(['openstack.tests.functional.baremetal.test_baremetal_' + name for name in names])
class Result(unittest.TestResult):
    def tell(self, test, how, why=''):
        print(how + ' ' + test.id().replace('openstack.tests.functional.baremetal.', ''), flush=True)
        for line in why.splitlines()[-6:]:
            print('# ' + line)
    def addSuccess(self, test): self.tell(test, 'ok')
    def addFailure(self, test, error, details=None): self.tell(test, 'not ok', str(details or self._exc_info_to_string(error, test)))
    addError = addFailure
    def addSkip(self, test, reason=None, details=None): self.tell(test, 'skipped', str(reason or details))
suite.run(Result())
PYTHON
    my ($ran, $skipped) = (0, 0);
    for my $line (split /\n/, scalar qx($python $runner 2>&1)) {
        if ($line =~ /\A(not )?ok (.*)\z/) { $ran++; ok !$1, $2 }
        elsif ($line =~ /\Askipped (.*)\z/) { $skipped++; diag $line }
        elsif ($line =~ /\A# /) { diag $line }
    }
    cmp_ok $ran, '>=', 60, "$ran tests ran";
    is $skipped, 0, 'none was skipped';
};

done_testing;

__DATA__
import sys, uuid
import openstack
from openstack import exceptions

conn = openstack.connect(cloud='devstack-admin')
bm = conn.baremetal

def check(what, call, good=lambda result: True):
    try:
        result = call()
        fine = bool(good(result))
        why = '' if fine else repr(result)[:300]
    except Exception as error:
        result, fine, why = None, False, '%s: %s' % (type(error).__name__, str(error)[:300])
    print(('ok ' if fine else 'not ok ') + what + (' # ' + why if why else ''), flush=True)
    return result

def raises(kind, call):
    try:
        call()
    except kind:
        return True
    return False

# ---- chassis
c = check('create_chassis', lambda: bm.create_chassis(description='row 5', extra={'a': 1}), lambda c: c.id)
check('chassis', lambda: [x.id for x in bm.chassis()], lambda ids: c.id in ids)
check('chassis, details', lambda: [x.extra for x in bm.chassis(details=True)], lambda all: {'a': 1} in all)
check('get_chassis', lambda: bm.get_chassis(c.id), lambda x: x.description == 'row 5')
check('get_chassis, fields', lambda: bm.get_chassis(c.id, fields=['uuid']), lambda x: x.description is None)
check('find_chassis', lambda: bm.find_chassis(c.id), lambda x: x.id == c.id)
check('find_chassis, missing', lambda: bm.find_chassis(str(uuid.uuid4())), lambda x: x is None)
check('update_chassis', lambda: bm.update_chassis(c, description='row 6'), lambda x: x.description == 'row 6')
check('patch_chassis', lambda: bm.patch_chassis(c, [{'op': 'add', 'path': '/extra/b', 'value': 2}]), lambda x: x.extra == {'a': 1, 'b': 2})

# ---- drivers and conductors
check('drivers', lambda: [d.name for d in bm.drivers()], lambda names: 'fake-hardware' in names)
check('drivers, details', lambda: list(bm.drivers(details=True))[0], lambda d: d.default_power_interface)
check('get_driver', lambda: bm.get_driver('fake-hardware'), lambda d: d.name == 'fake-hardware' and d.hosts)
check('conductors', lambda: list(bm.conductors()), lambda all: len(all) == 1)
check('conductors by one', lambda: list(bm.conductors(limit=1)), lambda all: len(all) == 1)
host = next(bm.conductors()).hostname
check('get_conductor', lambda: bm.get_conductor(host), lambda x: x.hostname == host)

# ---- nodes
n = check('create_node', lambda: bm.create_node(driver='fake-hardware', name='n1', resource_class='gold'), lambda n: n.provision_state == 'available')
e = check('create_node, enroll', lambda: bm.create_node(driver='fake-hardware', name='n2', provision_state='enroll'), lambda n: n.provision_state == 'enroll')
m = check('create_node, manageable', lambda: bm.create_node(driver='fake-hardware', name='n3', provision_state='manageable'), lambda n: n.provision_state == 'manageable')
check('nodes', lambda: {x.name for x in bm.nodes()}, lambda names: names == {'n1', 'n2', 'n3'})
check('nodes, details and filters', lambda: [x.name for x in bm.nodes(details=True, provision_state='enroll', driver='fake-hardware')], lambda names: names == ['n2'])
check('nodes, fields', lambda: list(bm.nodes(fields=['uuid', 'name'])), lambda all: all[0].driver is None)
check('get_node', lambda: bm.get_node('n1'), lambda x: x.id == n.id)
check('get_node, fields', lambda: bm.get_node('n1', fields=['uuid', 'instance_id']), lambda x: x.driver is None)
check('find_node', lambda: bm.find_node('n1'), lambda x: x.id == n.id)
check('find_node, missing', lambda: bm.find_node('n9'), lambda x: x is None)
check('update_node', lambda: bm.update_node(n, extra={'a': 1}), lambda x: x.extra == {'a': 1})
check('patch_node', lambda: bm.patch_node(n, [{'op': 'add', 'path': '/extra/b', 'value': 2}]), lambda x: x.extra == {'a': 1, 'b': 2})
check('patch_node, reset_interfaces', lambda: bm.patch_node(e, [{'op': 'replace', 'path': '/driver', 'value': 'ipmi'}], reset_interfaces=True), lambda x: x.power_interface == 'ipmitool')
bm.patch_node(e, [{'op': 'replace', 'path': '/driver', 'value': 'fake-hardware'}], reset_interfaces=True)

def lead(node, target, expected, **more):
    bm.set_node_provision_state(node, target, wait=target not in ('adopt', 'unrescue'), timeout=30, **more)
    return bm.get_node(node.id).provision_state == expected

check('set_node_provision_state manage', lambda: lead(e, 'manage', 'manageable'))
check('set_node_provision_state inspect', lambda: lead(e, 'inspect', 'manageable'))
check('set_node_provision_state clean', lambda: lead(e, 'clean', 'manageable', clean_steps=[{'interface': 'deploy', 'step': 'erase'}]))
check('set_node_provision_state adopt', lambda: lead(e, 'adopt', 'active'))
check('set_node_provision_state rescue', lambda: lead(e, 'rescue', 'rescue', rescue_password='secret'))
check('set_node_provision_state unrescue', lambda: lead(e, 'unrescue', 'active'))
check('set_node_provision_state rebuild', lambda: lead(e, 'rebuild', 'active', config_drive={'meta_data': {'a': 1}}))
check('set_node_provision_state deleted', lambda: lead(e, 'deleted', 'available'))
check('set_node_provision_state active', lambda: lead(e, 'active', 'active', config_drive='abcd', deploy_steps=[{'interface': 'deploy', 'step': 'x', 'args': {}, 'priority': 1}]))
bm.set_node_provision_state(e, 'deleted', wait=True, timeout=30)
check('set_node_provision_state, not possible', lambda: raises(exceptions.BadRequestException, lambda: bm.set_node_provision_state(e, 'rebuild')))
check('wait_for_nodes_provision_state', lambda: bm.wait_for_nodes_provision_state([e, n], 'available', timeout=30), lambda all: len(all) == 2)
for target, state in (('power on', 'power on'), ('power off', 'power off'), ('rebooting', 'power on'), ('soft power off', 'power off'), ('soft rebooting', 'power on')):
    check('set_node_power_state ' + target, lambda: bm.set_node_power_state(n, target, wait=True, timeout=30) or bm.get_node(n.id).power_state == state)
check('wait_for_node_power_state', lambda: bm.wait_for_node_power_state(n, 'power on', timeout=30), lambda x: x.power_state == 'power on')
check('wait_for_node_reservation', lambda: bm.wait_for_node_reservation(n, timeout=30), lambda x: x.reservation is None)
check('set_node_boot_device', lambda: bm.set_node_boot_device(n, 'pxe', persistent=True) is None)
check('set_node_boot_mode', lambda: bm.set_node_boot_mode(n, 'uefi') is None and bm.get_node(n.id).boot_mode == 'uefi')
check('set_node_secure_boot', lambda: bm.set_node_secure_boot(n, True) is None and bm.get_node(n.id).is_secure_boot)
check('validate_node', lambda: bm.validate_node(n), lambda r: r['deploy'].result and not r['deploy'].reason)
check('set_node_maintenance', lambda: bm.set_node_maintenance(n, 'fan'), lambda x: x.is_maintenance and x.maintenance_reason == 'fan')
check('unset_node_maintenance', lambda: bm.unset_node_maintenance(n), lambda x: not x.is_maintenance)
check('add_node_trait', lambda: bm.add_node_trait(n, 'CUSTOM_A') is None and n.traits == ['CUSTOM_A'])
check('set_node_traits', lambda: bm.set_node_traits(n, ['CUSTOM_B', 'CUSTOM_C']) is None and bm.get_node(n.id).traits == ['CUSTOM_B', 'CUSTOM_C'])
check('remove_node_trait', lambda: bm.remove_node_trait(n, 'CUSTOM_C'))

# ---- VIFs
vif = str(uuid.uuid4())
check('attach_vif_to_node', lambda: bm.attach_vif_to_node(n, vif) is None)
check('list_node_vifs', lambda: bm.list_node_vifs(n), lambda ids: ids == [vif])
check('attach_vif_to_node, twice', lambda: raises(exceptions.ConflictException, lambda: bm.attach_vif_to_node(n, vif, retry_on_conflict=False)))
check('detach_vif_from_node', lambda: bm.detach_vif_from_node(n, vif, ignore_missing=False))
check('detach_vif_from_node, missing', lambda: bm.detach_vif_from_node(n, vif) is False)
check('detach_vif_from_node, missing and not ignored', lambda: raises(exceptions.BadRequestException, lambda: bm.detach_vif_from_node(n, vif, ignore_missing=False)))

# ---- ports and port groups
p = check('create_port', lambda: bm.create_port(node_uuid=n.id, address='52:54:00:00:00:01'), lambda p: p.id)
check('ports', lambda: [x.id for x in bm.ports(node=n.id)], lambda ids: ids == [p.id])
check('ports, details', lambda: [x.node_id for x in bm.ports(details=True, address='52:54:00:00:00:01')], lambda ids: ids == [n.id])
check('get_port', lambda: bm.get_port(p), lambda x: x.address == p.address)
check('find_port', lambda: bm.find_port(p.id), lambda x: x.id == p.id)
check('update_port', lambda: bm.update_port(p, extra={'a': 1}), lambda x: x.extra == {'a': 1})
check('patch_port', lambda: bm.patch_port(p, [{'op': 'add', 'path': '/extra/b', 'value': 2}]), lambda x: x.extra == {'a': 1, 'b': 2})
check('delete_port', lambda: bm.delete_port(p, ignore_missing=False).id == p.id)
g = check('create_port_group', lambda: bm.create_port_group(node_uuid=n.id, name='g1'), lambda g: g.id)
check('port_groups', lambda: [x.id for x in bm.port_groups(node=n.id)], lambda ids: ids == [g.id])
check('port_groups, details', lambda: [x.node_id for x in bm.port_groups(details=True)], lambda ids: ids == [n.id])
check('get_port_group', lambda: bm.get_port_group('g1'), lambda x: x.id == g.id)
check('find_port_group', lambda: bm.find_port_group('g1'), lambda x: x.id == g.id)
check('update_port_group', lambda: bm.update_port_group(g, extra={'a': 1}), lambda x: x.extra == {'a': 1})
check('patch_port_group', lambda: bm.patch_port_group(g, [{'op': 'add', 'path': '/extra/b', 'value': 2}]), lambda x: x.extra == {'a': 1, 'b': 2})
check('delete_port_group', lambda: bm.delete_port_group(g, ignore_missing=False).id == g.id)

# ---- allocations
bm.set_node_traits(n, ['CUSTOM_B'])
a = check('create_allocation', lambda: bm.create_allocation(resource_class='gold', name='a1', traits=['CUSTOM_B'], candidate_nodes=['n1']), lambda a: a.state == 'allocating')
check('wait_for_allocation', lambda: bm.wait_for_allocation(a, timeout=30), lambda x: x.node_id == n.id)
check('the node of an allocation', lambda: bm.get_node(n.id), lambda x: x.allocation_id == a.id and x.instance_id == a.id)
check('allocations', lambda: [x.id for x in bm.allocations(node=n.id, state='active', resource_class='gold')], lambda ids: ids == [a.id])
check('allocations, fields', lambda: [x.state for x in bm.allocations(fields=['uuid'])], lambda all: all == [None])
check('get_allocation', lambda: bm.get_allocation('a1'), lambda x: x.id == a.id)
check('update_allocation', lambda: bm.update_allocation(a, name='a2', extra={'a': 1}), lambda x: x.name == 'a2' and x.extra == {'a': 1})
check('patch_allocation', lambda: bm.patch_allocation(a, [{'op': 'add', 'path': '/extra/b', 'value': 2}]), lambda x: x.extra == {'a': 1, 'b': 2})
f = bm.create_allocation(resource_class='gold')
check('wait_for_allocation, failed', lambda: raises(exceptions.ResourceFailure, lambda: bm.wait_for_allocation(f, timeout=30)))
check('wait_for_allocation, failed and ignored', lambda: bm.wait_for_allocation(f, timeout=30, ignore_error=True), lambda x: 'no available nodes match the resource class gold' in x.last_error)
check('delete_allocation', lambda: bm.delete_allocation(a, ignore_missing=False).id == a.id)
check('delete_allocation, of an error', lambda: bm.delete_allocation(f, ignore_missing=False).id == f.id)
check('the node is free', lambda: bm.get_node(n.id), lambda x: x.allocation_id is None and x.instance_id is None)

# ---- volume connectors and targets
bm.set_node_power_state(n, 'power off', wait=True, timeout=30)
v = check('create_volume_connector', lambda: bm.create_volume_connector(node_uuid=n.id, type='iqn', connector_id='iqn.2026-11.org.example:1'), lambda v: v.id)
check('volume_connectors', lambda: [x.id for x in bm.volume_connectors(node=n.id)], lambda ids: ids == [v.id])
check('volume_connectors, details', lambda: [x.node_id for x in bm.volume_connectors(details=True)], lambda ids: ids == [n.id])
check('get_volume_connector', lambda: bm.get_volume_connector(v), lambda x: x.connector_id == v.connector_id)
check('find_volume_connector', lambda: bm.find_volume_connector(v.id), lambda x: x.id == v.id)
check('update_volume_connector', lambda: bm.update_volume_connector(v, extra={'a': 1}), lambda x: x.extra == {'a': 1})
check('patch_volume_connector', lambda: bm.patch_volume_connector(v, [{'op': 'add', 'path': '/extra/b', 'value': 2}]), lambda x: x.extra == {'a': 1, 'b': 2})
check('delete_volume_connector', lambda: bm.delete_volume_connector(v, ignore_missing=False).id == v.id)
t = check('create_volume_target', lambda: bm.create_volume_target(node_uuid=n.id, boot_index=0, volume_id='v1', volume_type='iscsi'), lambda t: t.id)
check('volume_targets', lambda: [x.id for x in bm.volume_targets(node=n.id)], lambda ids: ids == [t.id])
check('volume_targets, details', lambda: [x.node_id for x in bm.volume_targets(details=True)], lambda ids: ids == [n.id])
check('get_volume_target', lambda: bm.get_volume_target(t), lambda x: x.volume_id == 'v1')
check('find_volume_target', lambda: bm.find_volume_target(t.id), lambda x: x.id == t.id)
check('update_volume_target', lambda: bm.update_volume_target(t, extra={'a': 1}), lambda x: x.extra == {'a': 1})
check('patch_volume_target', lambda: bm.patch_volume_target(t, [{'op': 'add', 'path': '/extra/b', 'value': 2}]), lambda x: x.extra == {'a': 1, 'b': 2})
check('delete_volume_target', lambda: bm.delete_volume_target(t, ignore_missing=False).id == t.id)

# ---- deploy templates
steps = [{'interface': 'bios', 'step': 'apply_configuration', 'args': {}, 'priority': 150}]
d = check('create_deploy_template', lambda: bm.create_deploy_template(name='CUSTOM_HYPERTHREADING_ON', steps=steps), lambda d: d.id)
check('deploy_templates', lambda: [x.id for x in bm.deploy_templates()], lambda ids: ids == [d.id])
check('deploy_templates, details', lambda: [x.steps for x in bm.deploy_templates(details=True)], lambda all: all == [steps])
check('get_deploy_template', lambda: bm.get_deploy_template(d), lambda x: x.name == 'CUSTOM_HYPERTHREADING_ON')
check('update_deploy_template', lambda: bm.update_deploy_template(d, extra={'a': 1}), lambda x: x.extra == {'a': 1})
check('patch_deploy_template', lambda: bm.patch_deploy_template(d, [{'op': 'add', 'path': '/extra/b', 'value': 2}]), lambda x: x.extra == {'a': 1, 'b': 2})
check('delete_deploy_template', lambda: bm.delete_deploy_template(d, ignore_missing=False).id == d.id)

# ---- the end
for node in ('n1', 'n2', 'n3'):
    check('delete_node ' + node, lambda: bm.delete_node(node, ignore_missing=False).name is None or True)
check('delete_node, missing', lambda: bm.delete_node('n1') is None)
check('delete_chassis', lambda: bm.delete_chassis(c, ignore_missing=False).id == c.id)

# ---- what needs hardware is refused as that service refuses it
f = bm.create_node(driver='fake-hardware', name='n4', provision_state='enroll')
for what, call in (('list_node_vendor_passthru', lambda: bm.list_node_vendor_passthru(f)), ('call_node_vendor_passthru', lambda: bm.call_node_vendor_passthru(f, 'POST', 'x')),
        ('list_driver_vendor_passthru', lambda: bm.list_driver_vendor_passthru('ipmi')), ('call_driver_vendor_passthru', lambda: bm.call_driver_vendor_passthru('ipmi', 'POST', 'x'))):
    check(what + ' is refused', lambda: raises(exceptions.HttpException, call))
