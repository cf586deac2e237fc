#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Python's client for Kubernetes, as Debian has it: lists, Watch().stream, and an informer with a selector that misses changes
# and comes back. Over TLS, with a token.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $python = '/usr/bin/python3';
plan skip_all => 'python3-kubernetes is not installed'
    if !-x $python || system("$python -c 'import kubernetes' >/dev/null 2>&1") != 0;

my $server   = $ENV{TENURE_WATCH_SERVER} // 'lighttpd';
my $instance = Tenure::Instance->start(combined => 1, tls => 1, workers => 2, server => $server, watches => 1);
my $admin    = $instance->combined('admin');

$admin->post('/api/v1/tenants', json => { metadata => { name => 'acme' } })->is_status(201, 'tenant acme');

my $program = "$instance->{dir}/client.py";
open my $out, '>', $program or die "$program: $!\n";
print {$out} do { local $/ = undef; readline DATA };
close $out or die "$program: $!\n";

# Each line that it prints is a test: "ok WHAT" or "not ok WHAT".
my @said = split /\n/, scalar qx($python $program '@{[ $instance->env('TENURE_COMBINED_TLS_URL') ]}' '@{[ $instance->env('TENURE_CA_FILE') ]}' 'alice:acme' 2>&1);
my $code = $?;
for my $line (@said) {
    if ($line =~ /\A(not )?ok (.*)\z/) { ok !$1, $2 }
    else { diag $line }
}
is $code, 0, 'it comes to its end';
is scalar(grep { /\A(?:not )?ok / } @said), 12, 'with all that it does';

done_testing;

__DATA__
import sys
from kubernetes import client, watch

url, ca, token = sys.argv[1:4]
configuration = client.Configuration()
configuration.host = url
configuration.ssl_ca_cert = ca
configuration.api_key['authorization'] = token
configuration.api_key_prefix['authorization'] = 'Bearer'
api = client.CoreV1Api(client.ApiClient(configuration))

def check(good, what):
    print(('ok ' if good else 'not ok ') + what, flush=True)

def config_map(name, app=None, **more):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={'app': app} if app else None), **more)

def create(name, app=None, **more):
    return api.create_namespaced_config_map('default', config_map(name, app, **more))

def names(events):
    return ', '.join(e['type'] + ' ' + e['object'].metadata.name for e in events)

# Events until one of that name is added.
def until(end, **query):
    events = []
    for event in watch.Watch().stream(api.list_namespaced_config_map, 'default', timeout_seconds=60, **query):
        events.append(event)
        if event['object'].metadata.name == end:
            break
    return events

create('first')
check(names(until('first')) == 'ADDED first', 'Watch().stream begins with what is there')
version = api.list_namespaced_config_map('default').metadata.resource_version
create('second', data={'a': '1'})
api.patch_namespaced_config_map('second', 'default', {'data': {'a': '2'}})
api.delete_namespaced_config_map('second', 'default')
create('end')
got = until('end', resource_version=version)
check(names(got) == 'ADDED second, MODIFIED second, DELETED second, ADDED end', 'and from a version: ' + names(got))
check(isinstance(got[0]['object'], client.V1ConfigMap), 'as objects of their type')
got = list(watch.Watch().stream(api.list_namespaced_config_map, 'default', timeout_seconds=1, resource_version=version,
    allow_watch_bookmarks=True))
check(got and got[-1]['type'] in ('BOOKMARK', 'ADDED'), 'it ends when it is due')
check([i.metadata.name for i in api.list_namespaced_config_map('default', watch=False).items] == ['end', 'first'],
    'watch=False is a list')

# An informer with a selector, which is away while things happen.
selector = 'app=web'
for name in ('stays', 'leaves', 'goes', 'ghost'):
    create(name, 'web')
listed = api.list_namespaced_config_map('default', label_selector=selector)
cache = {i.metadata.name for i in listed.items}
check(cache == {'stays', 'leaves', 'goes', 'ghost'}, 'an informer lists what is chosen')
api.patch_namespaced_config_map('leaves', 'default', {'metadata': {'labels': {'app': 'db'}}})
api.delete_namespaced_config_map('goes', 'default')
api.patch_namespaced_config_map('ghost', 'default', {'metadata': {'labels': None}})
api.delete_namespaced_config_map('ghost', 'default')
create('comes', 'web')
create('last', 'web')
for event in until('last', label_selector=selector, resource_version=listed.metadata.resource_version):
    cache.discard(event['object'].metadata.name) if event['type'] == 'DELETED' else cache.add(event['object'].metadata.name)
now = {i.metadata.name for i in api.list_namespaced_config_map('default', label_selector=selector).items}
check(cache == now == {'stays', 'comes', 'last'}, 'and comes back to what there is: ' + ' '.join(sorted(cache)))

# What is refused comes as the exception that Python programs look at.
def refused(call, status, text):
    try:
        call()
    except client.rest.ApiException as e:
        check(e.status == status and text in e.body, '%d, %s' % (status, text))
    else:
        check(False, text)

create('fixed', immutable=True, data={'a': '1'})
refused(lambda: api.patch_namespaced_config_map('fixed', 'default', {'data': {'a': '2'}}), 422, 'field is immutable')
refused(lambda: api.create_namespaced_service('default', client.V1Service(metadata=client.V1ObjectMeta(name='s'),
    spec=client.V1ServiceSpec(ports=[client.V1ServicePort(port=99999)]))), 422, 'must be between 1 and 65535')
refused(lambda: create('first'), 409, 'AlreadyExists')

# Finalizers.
create('final')
api.patch_namespaced_config_map('final', 'default', {'metadata': {'finalizers': ['example.com/f']}})
api.delete_namespaced_config_map('final', 'default')
check(api.read_namespaced_config_map('final', 'default').metadata.deletion_timestamp is not None, 'a finalizer is waited for')
api.patch_namespaced_config_map('final', 'default', {'metadata': {'finalizers': None}})
refused(lambda: api.read_namespaced_config_map('final', 'default'), 404, 'not found')
