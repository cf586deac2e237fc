#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The tenant that each line of the access log names (tenure.conf(5), ACCESS LOG), for every route of the WADLs: for what is there, for
# what is not, for strangers and for clients without a credential. The routes, and tenants that have something of everything, are those
# of Tenure::Strangers; what is expected follows from the names in a route's path.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP   ();
use List::Util ();
use Test::More;

use Tenure::Instance;
use Tenure::Strangers;

my $instance = Tenure::Instance->start(auth => 'token', combined => 1, placement => 1, workers => 1);
my $world    = Tenure::Strangers->new(instance => $instance, seed => 20, tenants => 0);
my ($victim) = grep { $_->{name} eq 'victim' } @{ $world->{tenants} };
my ($other)  = grep { $_->{name} eq 'stranger' } @{ $world->{tenants} };
my $json     = JSON::PP->new->utf8->canonical;
my $line     = Tenure::Strangers::Line->new($world->{url}{combined});
my @asked;    # { id, what, tenant }: what the log is to say

# Sends a request, and notes which tenant its line is to name: '-' for none.
sub ask {
    my ($tenant, $token, $method, $path, $body) = @_;
    my %header = ('X-OpenStack-Ironic-API-Version' => '1.82', 'OpenStack-API-Version' => 'placement 1.39');
    $header{'X-Auth-Token'} = $token if $token ne '';
    $header{'Content-Type'} = ref $body eq 'ARRAY' ? 'application/json-patch+json' : $method eq 'PATCH' ? 'application/merge-patch+json' : 'application/json'
        if defined $body;
    my $answer = $line->ask($method, $path, \%header, defined $body ? $json->encode($body) : undef);
    my ($id) = $answer->{head} =~ /^x-request-id:\s*(?:req-)?(\S+?)\r?$/mi;
    push @asked, { id => $id, what => "$method $path: $answer->{status}", tenant => $tenant };
    return $answer;
}

# Compares all lines with what was noted.
sub compare {
    my ($name) = @_;
    my %logged;
    Tenure::Instance::wait_until(sub {
        %logged = map { / ([-0-9a-f]{36}) \d+ combined \S+ \d+ "(.*)"$/ ? ($1 => $2) : () } split /\n/, Tenure::Instance::read_file($instance->dir . '/log/combined-access.log');
        return !grep { !exists $logged{ $_->{id} } } @asked;
    });
    my @wrong = grep { ($logged{ $_->{id} } // 'no line') ne $_->{tenant} } @asked;
    is scalar @wrong, 0, "$name: " . @asked . ' requests' or diag map { "$_->{what}: " . ($logged{ $_->{id} } // 'no line') . ", expected $_->{tenant}\n" } @wrong;
    @asked = ();
    return;
}

# ---- addresses

my $operator = $world->{operator};
my $none     = '00000000-0000-4000-8000-00000000000f';
my ($chassis, $template) = map { $json->decode($world->_must(POST => "/baremetal/v1/$_->[0]", $_->[1])->{body})->{uuid} }
    ['chassis', {}], ['deploy_templates', { name => 'CUSTOM_T', steps => [{ interface => 'bios', step => 'apply_configuration', args => {}, priority => 10 }] }];

# The values of a path's templates: of what the tenant has.
sub values_of {
    my ($tenant) = @_;
    my $id = $tenant->{id};
    my %value = (tenant => $tenant->{name}, chassis => $chassis, template => $template, uuid => $id->{provider}[0], consumer_uuid => $id->{consumer}[0],
        move => ($id->{move} // [])->[0] // $none, map { $_ => $id->{$_}[0] } 'node', 'port', 'portgroup', 'connector', 'target', 'allocation');
    return \%value;
}
my %nobody = map { $_ => $none } 'chassis', 'template', 'uuid', 'consumer_uuid', 'move', 'node', 'port', 'portgroup', 'connector', 'target', 'allocation';

# The path with the values; other templates get words that fit.
sub path_of {
    my ($route, $value) = @_;
    my ($grouped, $spaced, $tenancy) = (index($route->{path}, '{group}') >= 0, index($route->{path}, '{namespace}') >= 0, $route->{dialect} eq 'tenancy');
    my %word = (version => $tenancy ? 'v2.0' : 'v1', group => 'apiextensions.k8s.io', namespace => 'default', plural => $grouped ? 'customresourcedefinitions' : $spaced ? 'configmaps' : 'persistentvolumes',
        name => $route->{dialect} eq 'placement' ? 'CUSTOM_NONE' : 'nothing', subresource => 'status', type => 'configmaps', request => '00000000-0000-4000-8000-000000000000', trait => 'CUSTOM_A', resource_class => 'VCPU', %$value);
    return ($route->{path} =~ s/\{(\w+)\}/$word{$1} \/\/ 'word'/ger) . ($route->{path} =~ m{/action/move\z} ? '?dest=stranger'
        : $tenancy && $route->{path} =~ m{/history\z} ? '?resource=persistentvolumes/nothing' : '');
}

# Whose it is by its path: 'tenant', 'thing' (of a tenant, under an id of its own), 'system', or '' for nobody's.
sub kind_of {
    my ($route) = @_;
    return 'tenant' if $route->{path} =~ /\{tenant\}/;
    return 'system' if $route->{path} =~ /\{chassis\}|\{template\}/ || $route->{dialect} eq 'spaces' && $route->{path} =~ /\{plural\}/;
    return 'thing' if $route->{path} =~ /\{(?:node|port|portgroup|connector|target|allocation|uuid|consumer_uuid)\}/;
    return '';
}

# ---- what is sent

# What stands below a node only to be refused: nothing is looked for.
my $refused = qr{\A\w+ /baremetal/v1/nodes/\{node\}/volume/(?:connectors|targets)/\{|\APOST /baremetal/v1/nodes/\{node\}/volume/|\APUT .*/indicators/};
my $provider = $victim->{id}{provider}[0];
sub generation { my ($of) = @_; return $json->decode($world->_operate(GET => "/placement/resource_providers/$of")->{body})->{generation} }

# Bodies with which bare metal and placement come to look for what the path names.
my %body = (
    'PATCH /baremetal/v1/nodes/{node}' => [{ op => 'add', path => '/extra/a', value => 1 }],
    'PUT /baremetal/v1/nodes/{node}/states/power' => { target => 'power on' },
    'PUT /baremetal/v1/nodes/{node}/states/provision' => { target => 'manage' },
    'PUT /baremetal/v1/nodes/{node}/states/raid' => {},
    'PUT /baremetal/v1/nodes/{node}/states/console' => { enabled => JSON::PP::true },
    'PUT /baremetal/v1/nodes/{node}/states/boot_mode' => { target => 'uefi' },
    'PUT /baremetal/v1/nodes/{node}/states/secure_boot' => { target => JSON::PP::true },
    'PUT /baremetal/v1/nodes/{node}/maintenance' => { reason => 'r' },
    'PUT /baremetal/v1/nodes/{node}/traits' => { traits => ['CUSTOM_A'] },
    'PUT /baremetal/v1/nodes/{node}/management/boot_device' => { boot_device => 'pxe' },
    'PUT /baremetal/v1/nodes/{node}/management/indicators/{component}' => { state => 'ON' },
    'PUT /baremetal/v1/nodes/{node}/management/indicators/{component}/{item}' => { state => 'ON' },
    'POST /baremetal/v1/nodes/{node}/vifs' => { id => '00000000-0000-4000-8000-0000000000aa' },
    (map { ("PATCH /baremetal/v1/$_" => [{ op => 'add', path => '/extra/a', value => 1 }]) } 'ports/{port}', 'portgroups/{portgroup}', 'chassis/{chassis}',
        'volume/connectors/{connector}', 'volume/targets/{target}', 'allocations/{allocation}', 'deploy_templates/{template}'),
    'PUT /placement/resource_providers/{uuid}' => { name => 'renamed' },
    'POST /placement/resource_providers/{uuid}/inventories' => sub { { resource_provider_generation => generation($provider), resource_class => 'MEMORY_MB', total => 8 } },
    'PUT /placement/resource_providers/{uuid}/inventories' => sub { { resource_provider_generation => generation($provider), inventories => { VCPU => { total => 8 }, MEMORY_MB => { total => 8 } } } },
    'PUT /placement/resource_providers/{uuid}/inventories/{resource_class}' => sub { { resource_provider_generation => generation($provider), total => 8 } },
    'PUT /placement/resource_providers/{uuid}/aggregates' => sub { { resource_provider_generation => generation($provider), aggregates => [] } },
    'PUT /placement/resource_providers/{uuid}/traits' => sub { { resource_provider_generation => generation($provider), traits => [] } },
    'PUT /placement/allocations/{consumer_uuid}' => sub { { allocations => { $provider => { resources => { VCPU => 2 } } }, project_id => 'victim', user_id => 'u', consumer_type => 'INSTANCE',
        consumer_generation => $json->decode($world->_operate(GET => "/placement/allocations/$victim->{id}{consumer}[0]")->{body})->{consumer_generation} } },
);

# Reads and changes first, then deletions, of what stands below before that above; moves and deletions of all a tenant has at the end.
sub rank {
    my ($route) = @_;
    my $late = $route->{dialect} =~ /tenancy|spaces/ ? 10 : 0;
    return $late + ($route->{path} =~ m{/action/move\z} ? 2 : $route->{method} eq 'DELETE' ? 3 - length($route->{path}) / 1000 : 1);
}
my @routes = sort { rank($a) <=> rank($b) } grep { $_->{method} ne 'HEAD' || $_->{dialect} eq 'tenancy' } @{ $world->{routes}{combined} };
cmp_ok scalar @routes, '>', 250, scalar(@routes) . ' routes';

sub body_for {
    my ($route) = @_;
    my $body = $body{"$route->{method} $route->{path}"};
    $body = $body->() if ref $body eq 'CODE';
    return $body // ($route->{method} =~ /\A(?:POST|PUT|PATCH)\z/ && $route->{dialect} =~ /tenancy|spaces/ ? {} : undef);
}

subtest 'what is not there, what is asked by strangers, and by nobody' => sub {
    my %kinds;
    for my $route (@routes) {
        my ($kind, $refuses) = (kind_of($route), "$route->{method} $route->{path}" =~ $refused);
        my $body = $route->{dialect} =~ /tenancy|spaces/ || $kind ne '' && $route->{method} ne 'POST' ? body_for($route) : undef;
        $kinds{$kind}++;
        # Catalogues would be changed by these.
        next if $kind eq '' && $route->{method} !~ /\A(?:GET|HEAD)\z/;
        # A tenant that is there has no such thing: the request is about it all the same.
        ask($kind eq 'tenant' ? 'victim' : $kind eq 'system' && $route->{dialect} eq 'spaces' ? 'system' : '-', $operator, 'GET', path_of($route, { %nobody, tenant => 'victim' })) if $route->{method} eq 'GET';
        # A tenant that is not there: its name is the client's alone. An operator is believed where the tenant was not looked for: no such
        # type, no such move.
        my $path = path_of($route, { %nobody, tenant => 'nobody' });
        ask($path =~ m{/configmaps/nothing/status\z|/namespaces/default/customresourcedefinitions|/moves/} ? 'nobody' : '-', $operator, 'GET', $path) if $route->{method} eq 'GET' && $kind eq 'tenant';
        next if $kind eq 'system';
        ask('stranger', $other->{token}{admin}, $route->{method}, path_of($route, values_of($victim)), $body) if $kind ne '';
        ask('-', '', $route->{method}, path_of($route, values_of($victim)), $body) if $kind ne '';
    }
    cmp_ok $kinds{$_} // 0, '>', $_ eq 'system' ? 20 : 35, ($kinds{$_} // 0) . " routes: $_" for '', 'tenant', 'thing', 'system';
    compare('lines');
};

subtest 'tenants that no path names' => sub {
    ask('-', $operator, 'GET', '/v2.0');
    ask('-', $operator, 'GET', '/api/v1/tenants');
    ask('-', $operator, 'GET', '/api/v1/tenants/all/configmaps');
    ask('victim', $operator, 'GET', '/api/v1/tenants/victim');
    ask('-', $operator, 'GET', '/api/v1/tenants/nobody');
    ask('stranger', $other->{token}{admin}, 'GET', '/api/v1/tenants/victim');
    ask('stranger', $other->{token}{admin}, 'GET', '/api/v1/namespaces/default/configmaps');
    ask('made', $operator, 'POST', '/api/v1/tenants', { metadata => { name => 'made' } });
    ask('put', $operator, 'PUT', '/v2.0/put', { tenant => {} });
    ask('-', $operator, 'PUT', '/v2.0/not-put', { tenant => { tier => 'none' } });
    ask('victim', $operator, 'GET', '/baremetal/v1/nodes?owner=victim');
    ask('-', $operator, 'GET', '/baremetal/v1/nodes?owner=nobody');
    ask('-', $operator, 'GET', '/baremetal/v1/nodes');
    ask('victim', $operator, 'GET', "/baremetal/v1/ports?node=$victim->{id}{node}[0]");
    ask('stranger', $other->{token}{admin}, 'GET', '/baremetal/v1/nodes');
    ask('owns', $operator, 'POST', '/baremetal/v1/nodes', { driver => 'fake-hardware', owner => 'owns' });
    ask('owns', $operator, 'POST', '/baremetal/v1/nodes', { driver => 'none', owner => 'owns' });

    my $provider = $victim->{id}{provider}[0];
    my @consumer = map { "00000000-0000-4000-8000-0000000000a$_" } 1, 2;
    my $set = sub {
        my ($project, $generation, $amount) = @_;
        return { allocations => $amount ? { $provider => { resources => { VCPU => $amount } } } : {}, project_id => $project, user_id => 'u', consumer_type => 'INSTANCE', consumer_generation => $generation };
    };
    my $status = sub { return $_[0]{status} };
    is $status->(ask('stranger', $operator, 'PUT', "/placement/allocations/$consumer[0]", $set->('stranger', undef, 1))), 204, 'allocated';
    ask('stranger', $operator, 'GET', "/placement/allocations/$consumer[0]");
    ask('stranger', $operator, 'GET', '/placement/usages?project_id=stranger');
    ask('-', $operator, 'GET', '/placement/usages?project_id=nobody');
    ask('victim', $operator, 'GET', "/placement/resource_providers/$provider/allocations");
    is $status->(ask('-', $operator, 'PUT', "/placement/allocations/$consumer[1]", $set->('claimed', undef, 9))), 409, 'too much: nothing is stored of the project that the client names';
    is $status->(ask('stranger', $operator, 'PUT', "/placement/allocations/$consumer[0]", $set->('claimed', 1, 9))), 409, 'too much: the project that it has';
    is $status->(ask('-', $operator, 'POST', '/placement/allocations', { $consumer[0] => $set->('stranger', 1, 1), $consumer[1] => $set->('victim', undef, 1) })), 204, 'of two projects';
    is $status->(ask('stranger', $operator, 'POST', '/placement/allocations', { $consumer[0] => $set->('stranger', 2, 2) })), 204, 'of one';
    is $status->(ask('stranger', $operator, 'DELETE', "/placement/allocations/$consumer[0]")), 204, 'given up';
    is $status->(ask('-', $operator, 'DELETE', "/placement/allocations/$consumer[0]")), 404, 'what is no more';
    compare('lines');
};

subtest 'what is there, asked by an operator' => sub {
    my %done;
    for my $route (@routes) {
        my $kind = kind_of($route);
        my $name = "$route->{method} $route->{path}";
        next if $kind eq '' && $route->{method} !~ /\A(?:GET|HEAD)\z/;
        my $tenant = $kind eq 'tenant' || $kind eq 'thing' && $name !~ $refused ? 'victim' : $kind eq 'system' ? 'system' : '-';
        my $answer = ask($tenant, $operator, $route->{method}, path_of($route, values_of($victim)), body_for($route));
        $done{$kind}{ int $answer->{status} / 100 }++ if $name !~ $refused;
    }
    cmp_ok $done{thing}{2}, '>', 60, "$done{thing}{2} of them carried out";
    compare('lines');
};
done_testing;
