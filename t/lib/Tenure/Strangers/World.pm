# SPDX-License-Identifier: Apache-2.0
# The world that Tenure::Strangers asks about: tenants with names that the program knows as words, each of which has something of
# everything; and to whom each of their secrets, uids and etags is known.
package Tenure::Strangers::World;

use strict;
use warnings;

use Encode       ();
use JSON::PP     ();
use List::Util   ();
use MIME::Base64 ();

use Tenure::Instance;
use Tenure::Strangers::Line;
use Tenure::Strangers::Words qw(words one chance hex_digits uuid escape other_form);

my $json = JSON::PP->new->utf8->canonical->allow_nonref;

# tenants: how many bear a word's name, of those that ask and of those that are only asked about, each.
sub new {
    my ($class, %option) = @_;
    my $self = bless { instance => $option{instance}, seed => $option{seed}, tenants => [], marks => {}, twins => {}, taken => {}, made => {} }, $class;
    srand $option{seed};
    ($self->{strong}, $self->{weak}) = words();
    $self->{is_strong} = { map { $_ => 1 } @{ $self->{strong} } };
    $self->{operator} = $self->{instance}->operator_token;
    $self->{url} = { service => 'TENURE_SERVICE_URL', combined => 'TENURE_COMBINED_URL', admin => 'TENURE_ADMIN_URL', placement => 'TENURE_PLACEMENT_URL' };
    $_ = $self->{instance}->env($_) for values %{ $self->{url} };
    $self->_routes;
    $self->_make($option{tenants} // 3);
    return $self;
}

sub _operate {
    my ($self, $method, $path, $body, %header) = @_;
    $self->{line} //= Tenure::Strangers::Line->new($self->{url}{combined});
    my $answer = $self->{line}->ask($method, $path, { 'X-Auth-Token' => $self->{operator}, 'X-OpenStack-Ironic-API-Version' => '1.82',
        'OpenStack-API-Version' => 'placement 1.39', defined $body ? ('Content-Type' => 'application/json') : (), %header },
        defined $body ? $json->encode($body) : undef);
    return $answer;
}

sub _must {
    my ($self, @call) = @_;
    my $answer = $self->_operate(@call);
    die "$call[0] $call[1]: $answer->{status} $answer->{body}\n" if $answer->{status} < 200 || $answer->{status} >= 400;
    return $answer;
}

sub _doc { my ($answer) = @_; return $json->decode($answer->{body}) }

# A word that may be the name of an object in spaces.
sub _label {
    my ($self) = @_;
    for (1 .. 100) {
        my $word = lc one(@{ $self->{strong} });
        return $word if $word =~ /\A[a-z]([-a-z0-9]{1,30}[a-z0-9])\z/;
    }
    return 'label';
}

sub _furnish {
    my ($self, $tenant) = @_;
    my ($name, $mark) = @$tenant{qw(name mark)};
    my $in = $name eq 'system' ? '' : '/tenants/' . escape($name);
    my @things;
    my @spaces = ('default', List::Util::uniq(map { my $label; do { $label = $self->_label } while $label eq 'default'; $label } 1 .. 2));
    my %meta = (labels => { l => 'x' . substr $mark, 3 });
    for my $space (@spaces) {
        $self->_must(POST => "/api/v1$in/namespaces", { metadata => { name => $space, %meta } }) if $space ne 'default';
        push @things, { plural => 'namespaces', name => $space, version => 'v1' };
        for my $kind ('configmaps', 'secrets') {
            for my $object (List::Util::uniq($self->_label, 'thing')) {
                my $answer = $self->_operate(POST => "/api/v1$in/namespaces/$space/$kind", { metadata => { name => $object, %meta },
                    data => { s => $kind eq 'secrets' ? MIME::Base64::encode_base64($mark, '') : $mark } });
                push @things, { space => $space, plural => $kind, name => $object, version => 'v1' } if $answer->{status} == 201;
            }
        }
    }
    # Any name will do in tenancy.
    for my $word (List::Util::uniq(map { one(@{ $self->{strong} }) } 1 .. 4)) {
        my $answer = $self->_operate(PUT => '/v2.0/' . escape($name) . '/persistentvolumes/' . escape($word), { spec => { storageClassName => $mark } });
        push @things, { plural => 'persistentvolumes', name => $word, version => 'v1' } if $answer->{status} == 201;
    }
    for my $plural (List::Util::uniq($self->_label, "gizmos$$")) {
        my $kind = ucfirst($plural =~ tr/-//dr);
        my $answer = $self->_operate(POST => "/apis/apiextensions.k8s.io/v1$in/customresourcedefinitions", {
            apiVersion => 'apiextensions.k8s.io/v1', kind => 'CustomResourceDefinition', metadata => { name => "$plural.words.example.com", %meta },
            spec => { group => 'words.example.com', scope => 'Namespaced', names => { plural => $plural, kind => $kind },
                versions => [{ name => 'v1', served => JSON::PP::true, storage => JSON::PP::true,
                    schema => { openAPIV3Schema => { type => 'object', 'x-kubernetes-preserve-unknown-fields' => JSON::PP::true } } }] } });
        next if $answer->{status} != 201;
        push @things, { plural => 'customresourcedefinitions', group => 'apiextensions.k8s.io', version => 'v1', name => "$plural.words.example.com" };
        $answer = $self->_operate(POST => "/apis/words.example.com/v1$in/namespaces/$spaces[-1]/$plural", { apiVersion => 'words.example.com/v1', kind => $kind,
            metadata => { name => 'thing', %meta }, spec => { s => $mark } });
        push @things, { space => $spaces[-1], plural => $plural, group => 'words.example.com', version => 'v1', name => 'thing' } if $answer->{status} == 201;
    }
    my %id;
    my $node = _doc($self->_must(POST => '/baremetal/v1/nodes', { driver => 'fake-hardware', name => "node-" . hex_digits(8), shard => $mark, extra => { s => $mark },
        description => $mark, instance_uuid => uuid(), $name eq 'system' ? () : (owner => $name) }));
    my $mac = sub { return join ':', '52', '54', map { hex_digits(2) } 1 .. 4 };
    my $group = _doc($self->_must(POST => '/baremetal/v1/portgroups', { node_uuid => $node->{uuid}, name => 'group-' . hex_digits(8), address => $mac->(), extra => { s => $mark } }));
    my $port  = _doc($self->_must(POST => '/baremetal/v1/ports', { node_uuid => $node->{uuid}, address => $mac->(), portgroup_uuid => $group->{uuid}, extra => { s => $mark } }));
    my $connector = _doc($self->_must(POST => '/baremetal/v1/volume/connectors', { node_uuid => $node->{uuid}, type => 'iqn', connector_id => 'iqn.' . hex_digits(12), extra => { s => $mark } }));
    my $target = _doc($self->_must(POST => '/baremetal/v1/volume/targets', { node_uuid => $node->{uuid}, volume_type => 'iscsi', volume_id => $mark, boot_index => 0, properties => { s => $mark } }));
    my $allocation = _doc($self->_must(POST => '/baremetal/v1/allocations', { resource_class => "of $mark", name => 'allocation-' . hex_digits(8), extra => { s => $mark }, $name eq 'system' ? () : (owner => $name) }));
    $self->_must(POST => "/baremetal/v1/nodes/$node->{uuid}/vifs", { id => uuid(), s => $mark });
    my $provider = _doc($self->_must(POST => '/placement/resource_providers', { name => 'provider-' . hex_digits(8) }));
    $self->_must(PUT => "/placement/resource_providers/$provider->{uuid}/inventories", { resource_provider_generation => 0, inventories => { VCPU => { total => 8 } } });
    my $consumer = uuid();
    $self->_must(POST => "/v2.0/system/resourceproviders/$provider->{uuid}/action/move?dest=" . escape($name)) if $name ne 'system';
    $self->_must(PUT => "/placement/allocations/$consumer", { allocations => { $provider->{uuid} => { resources => { VCPU => 1 } } }, project_id => $name,
        user_id => "u-$mark", consumer_generation => undef, consumer_type => 'INSTANCE' });
    push @things, { plural => 'nodes', group => 'baremetal.openstack.org', version => 'v1', name => $node->{uuid} },
        { plural => 'ports', group => 'baremetal.openstack.org', version => 'v1', name => $port->{uuid} },
        { plural => 'volumeconnectors', group => 'baremetal.openstack.org', version => 'v1', name => $connector->{uuid} },
        { plural => 'volumetargets', group => 'baremetal.openstack.org', version => 'v1', name => $target->{uuid} },
        { plural => 'allocations', group => 'baremetal.openstack.org', version => 'v1', name => $allocation->{uuid} },
        { plural => 'resourceproviders', group => 'placement.openstack.org', version => 'v1', name => $provider->{uuid} };
    # Something deleted, something moved away.
    my $at = '/v2.0/' . escape($name) . '/persistentvolumes';
    my $gone = _doc($self->_must(PUT => "$at/gone", { s => $mark }))->{metadata}{uid};
    $self->_must(DELETE => "$at/gone");
    push @things, { plural => 'persistentvolumes', name => 'gone', version => 'v1', deleted => 1 };
    %id = (node => [$node->{uuid}, $node->{name}, $node->{instance_uuid}], port => [$port->{uuid}, $port->{address}], portgroup => [$group->{uuid}, $group->{name}, $group->{address}],
        connector => [$connector->{uuid}, $connector->{connector_id}], target => [$target->{uuid}], allocation => [$allocation->{uuid}, $allocation->{name}],
        provider => [$provider->{uuid}, $provider->{name}], consumer => [$consumer], uid => [$gone], label => ['x' . substr($mark, 3)], user => ["u-$mark"]);
    @$tenant{qw(things id)} = (\@things, \%id);
    return;
}

# One moved from each tenant to the next, by a move that can be asked about.
sub _move_on {
    my ($self, $from, $to) = @_;
    my $at = '/v2.0/' . escape($from->{name}) . '/persistentvolumes/away-' . hex_digits(6);
    $self->_must(PUT => $at, { s => 'away' });
    my $answer = $self->_must(POST => "$at/action/move?dest=" . escape($to->{name}), undef, Prefer => 'respond-async');
    my ($id) = $answer->{head} =~ m{^location:.*/moves/([-0-9a-f]+)\r?$}mi;
    Tenure::Instance::wait_until(sub { $self->_operate(GET => '/v2.0/' . escape($from->{name}) . "/moves/$id")->{status} == 303 }, 60) or die "the move does not end\n";
    push @{ $from->{id}{move} }, $id;
    my ($name) = $at =~ m{/([^/]+)\z};
    push @{ $from->{things} }, { plural => 'persistentvolumes', name => $name, version => 'v1', moved => 1 };
    $to->{has}{$name} = 1;
    return;
}

sub _make {
    my ($self, $n) = @_;
    my $instance = $self->{instance};
    my @names = grep { /[a-z]{3}/ && !/\A(?:all|system)\z/ } @{ $self->{strong} };
    my %used;
    my $draw = sub {
        while (1) {
            my $name = one(@names);
            $name = other_form(one('all', 'system', $name)) if chance(0.4);
            return $name if !$used{$name}++ && length $name <= 100;
        }
    };
    my @tenants = ((map { { name => $_, asks => 0 } } 'victim', 'system', map { $draw->() } 1 .. $n),
        (map { { name => $_, asks => 1 } } 'stranger', map { $draw->() } 1 .. $n), map { { name => "left-$_", asks => 1, renamed => $_ } } 'all', 'system');
    for my $tenant (@tenants) {
        $tenant->{mark} = 'mkx' . hex_digits(12);
        $self->_must(PUT => '/v2.0/' . escape($tenant->{name}), { tenant => {} }) if $tenant->{name} ne 'system';
    }
    $self->_furnish($_) for @tenants;
    $self->_move_on($tenants[$_], $tenants[$_ - 1]) for 1 .. $#tenants;
    for my $tenant (@tenants) {
        my @whose = $tenant->{name} eq 'system' ? '--operator' : ('--tenant', Encode::encode('UTF-8', $tenant->{name}), '--role', 'reader');
        my ($code, $token) = $instance->manage('token', 'create', @whose, '--user', 'nobody');
        die "token create: $token" if $code;
        push @{ $tenant->{id}{token} }, $token =~ /(.*)\./;
    }
    for my $tenant (grep { $_->{asks} } @tenants) {
        for my $role ('reader', 'member', 'admin') {
            my $user = chance(0.5) ? one(@{ $self->{strong} }) : "user-$role";
            $user = "u$user" if $user =~ /\A-/;
            my ($code, $token) = $instance->manage('token', 'create', '--tenant', Encode::encode('UTF-8', $tenant->{name}), '--role', $role, '--user', $user);
            die "token create: $token" if $code;
            chomp $token;
            $tenant->{token}{$role} = $token;
        }
    }
    # Two tenants as earlier versions let them be: one is called "all", and of the system's own there are users. The latter has what
    # it has under a name of its own, for there is but one of that name.
    $instance->sql("UPDATE tenants SET name = 'all' WHERE name = 'left-all'");
    $instance->sql("UPDATE tokens k JOIN tenants t ON t.id = k.tenant_id SET k.tenant_id = (SELECT id FROM tenants WHERE name = 'system') WHERE t.name = 'left-system'");
    my ($all) = grep { ($_->{renamed} // '') eq 'all' } @tenants;
    $all->{name} = 'all';
    $_->{bears} = $_->{renamed} // $_->{name} for @tenants;
    $tenants[$_]{index} = $_ for 0 .. $#tenants;
    $self->{tenants} = \@tenants;
    $self->_collect_marks;
    for my $tenant (@tenants) {
        $tenant->{has}{$_} = 1 for map { ($_->{name}, $_->{space} // (), $_->{plural}, "$_->{plural}." . ($_->{group} // '')) } @{ $tenant->{things} };
    }
    return;
}

# To which tenants each uid, etag and secret is known.
sub _collect_marks {
    my ($self) = @_;
    my %index = map { $self->{tenants}[$_]{name} => $_ } 0 .. $#{ $self->{tenants} };
    my %known;
    my $uid = q(LOWER(INSERT(INSERT(INSERT(INSERT(HEX(r.uid), 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-')));
    for my $row ($self->{instance}->sql("SELECT DISTINCT $uid, LOWER(HEX(r.etag)), HEX(t.name) FROM resources r JOIN changes c ON c.resource_id = r.id "
            . 'JOIN tenants t ON t.id IN (c.tenant_id, c.from_tenant_id)')) {
        my ($id, $etag, $name) = @$row;
        my $tenant = $index{ Encode::decode('UTF-8', pack 'H*', $name) };
        next if !defined $tenant;
        $known{$_}{$tenant} = 1 for $id, $etag;
    }
    for my $i (0 .. $#{ $self->{tenants} }) {
        my $tenant = $self->{tenants}[$i];
        # A move is known to the tenant that something left and to the one that got it.
        $known{$_}{$i} = $known{$_}{$i - 1} = 1 for @{ $tenant->{id}{move} // [] };
        $known{$_}{$i} = 1 for $tenant->{mark}, MIME::Base64::encode_base64($tenant->{mark}, ''), 'x' . substr($tenant->{mark}, 3), @{ $tenant->{id}{consumer} };
    }
    $self->{marks} = \%known;
    return;
}

# What the tenants that never ask have, and what the change log tells of them.
sub state {
    my ($self) = @_;
    my $whose = 't.name IN (' . join(', ', map { "X'" . unpack('H*', Encode::encode('UTF-8', $_->{name})) . "'" } grep { !$_->{asks} } @{ $self->{tenants} }) . ')';
    return join ' ', map { my $query = $_; map { map { $_ // 'NULL' } @$_ } $self->{instance}->sql($query) } (
        "SELECT COUNT(*), COALESCE(SUM(CRC32(CONCAT(r.id, r.revision, HEX(r.etag), r.body, COALESCE(r.live, '-')))), 0) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE $whose",
        "SELECT COUNT(*), COALESCE(MAX(c.id), 0) FROM changes c JOIN tenants t ON t.id IN (c.tenant_id, c.from_tenant_id) WHERE $whose",
        "SELECT COUNT(*), SUM(CRC32(CONCAT(t.id, HEX(t.etag), COALESCE(t.live, '-')))) FROM tenants t",
        'SELECT COUNT(*) FROM inventories', 'SELECT COUNT(*) FROM allocations');
}

1;
