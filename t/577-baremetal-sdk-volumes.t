#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# openstacksdk as Debian has it, with volume connectors, volume targets and deploy templates.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use Test::More;

use Tenure::Instance;

my $python = '/usr/bin/python3';
plan skip_all => 'no openstacksdk (python3-openstacksdk)' if system("$python -c 'import openstack.baremetal.v1._proxy' >/dev/null 2>&1") != 0;

my $instance = Tenure::Instance->start(auth => 'token');
my $script   = File::Temp->new;
print {$script} <<'PYTHON';
import sys
import openstack
from openstack import exceptions

url, token = sys.argv[1:]
conn = openstack.connect(load_yaml_config=False, load_envvars=False, auth_type='admin_token', auth={'endpoint': url, 'token': token},
    baremetal_endpoint_override=url, baremetal_api_version='1')
api = conn.baremetal


def check(what, good):
    print(('ok' if good else 'not ok') + ' ' + what, flush=True)


def refused(what, error, call):
    try:
        call()
        check(what, False)
    except error:
        check(what, True)


node = api.create_node(driver='fake-hardware', name='n1', provision_state='enroll')
connector = api.create_volume_connector(node_id=node.id, type='iqn', connector_id='iqn.2026-01.org:1')
check('a connector', connector.type == 'iqn' and connector.node_id == node.id)
check('it is found', api.get_volume_connector(connector.id).connector_id == 'iqn.2026-01.org:1')
check('listed', [c.id for c in api.volume_connectors()] == [connector.id])
check('of a node, in detail', [c.extra for c in api.volume_connectors(details=True, node=node.id)] == [{}])
check('by fields', [c.connector_id for c in api.volume_connectors(fields=['connector_id'])] == ['iqn.2026-01.org:1'])
refused('a second one', exceptions.ConflictException,
    lambda: api.create_volume_connector(node_id=node.id, type='iqn', connector_id='iqn.2026-01.org:1'))
check('updated', api.update_volume_connector(connector, extra={'a': 1}).extra == {'a': 1})
check('patched', api.patch_volume_connector(connector, [{'op': 'replace', 'path': '/connector_id', 'value': 'x'}]).connector_id == 'x')
api.delete_volume_connector(connector)
refused('deleted', exceptions.ResourceNotFound, lambda: api.get_volume_connector(connector.id))
check('none is found', api.find_volume_connector(connector.id) is None)

target = api.create_volume_target(node_id=node.id, volume_type='iscsi', volume_id='v1', boot_index=0)
check('a target', target.boot_index == 0)
check('listed', [t.id for t in api.volume_targets(details=True)] == [target.id])
check('updated', api.update_volume_target(target, boot_index=1).boot_index == 1)
check('patched', api.patch_volume_target(target, [{'op': 'add', 'path': '/extra/a', 'value': 1}]).extra == {'a': 1})
check('found', api.find_volume_target(target.id).id == target.id)
api.delete_volume_target(target)
refused('deleted', exceptions.ResourceNotFound, lambda: api.get_volume_target(target.id))

steps = [{'interface': 'bios', 'step': 'apply_configuration', 'args': {'settings': []}, 'priority': 150}]
template = api.create_deploy_template(name='CUSTOM_TEMPLATE', steps=steps)
check('a template', template.steps == steps)
check('by name', api.get_deploy_template('CUSTOM_TEMPLATE').id == template.id)
check('listed', [t.name for t in api.deploy_templates(details=True)] == ['CUSTOM_TEMPLATE'])
check('updated', api.update_deploy_template(template, extra={'a': 1}).extra == {'a': 1})
check('patched', api.patch_deploy_template(template, [{'op': 'replace', 'path': '/name', 'value': 'CUSTOM_OTHER'}]).name == 'CUSTOM_OTHER')
api.delete_deploy_template(template)
refused('deleted', exceptions.ResourceNotFound, lambda: api.get_deploy_template('CUSTOM_OTHER'))
print('done', flush=True)
PYTHON
close $script;

my $url   = $instance->admin->url . '/baremetal';
my $token = $instance->operator_token;
my @lines = split /\n/, qx{$python $script $url $token 2>&1};
like $_, qr/\Aok/, $_ for grep { /\A(?:not )?ok/ } @lines;
is $lines[-1], 'done', 'to the end' or diag join "\n", @lines;

done_testing;
