#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The console's import of files: what it would do, what it did, each row that is refused and why, by name, type, etag. Tiers, and counts by type.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Browser;
use Tenure::Definition qw(definition_of);
use Tenure::Instance;

Tenure::Browser::need();

my $instance = Tenure::Instance->start(workers => 3, settings => { 'tenure.session_idle' => 3600 });
$instance->admin->make_tenant('acme');
my $ann = $instance->service('ann:acme');
$ann->put('/v2.0/acme/namespaces/default/configmaps/web-1', json => { data => { color => 'red' } })->is_status(201);
$ann->put('/v2.0/acme/namespaces/default/configmaps/same', json => { data => { n => '1' } })->is_status(201);

# A type with a default: what is stored differs from a row that leaves it out.
my %schema = (type => 'object', properties => { spec => { type => 'object', properties => { size => { type => 'integer', default => 3 }, color => { type => 'string' } } } });
$instance->admin->put('/v2.0/acme/customresourcedefinitions.apiextensions.k8s.io/tools.example.com', json => definition_of('tools', schema => \%schema))->is_status(201);

Tenure::Browser::play('import', { url => $instance->admin->url, service => $instance->service(undef)->url, origins => [ $instance->service(undef)->url ],
    operator => 'admin', user => 'ann:acme', reader => 'rita:acme:reader' });
$instance->stop;
done_testing;
