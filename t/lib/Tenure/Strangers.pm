# SPDX-License-Identifier: Apache-2.0
# Generated strangers: requests by users of some tenants that name what is others', drawn by a seed. Methods, paths and parameters
# come from the composed WADL of each endpoint, the words from the WADL files and the source: whatever the program compares an
# address, a header or a parameter with is used as the name of a tenant, a user, a namespace, a type and a resource, and is put
# where a name stands.
#
#   my $strangers = Tenure::Strangers->new(instance => $instance, seed => 7);
#   my $told      = $strangers->run(2000, 2);     # { requests, pairs, … , findings => [texts] }
#
# A request that names another tenant's thing is sent once more with a name that nobody has, of the same length and form. Both
# answers are to be the same, headers and all, but for ids and times; and no answer may hold a secret, a uid or an etag of another
# tenant that the request did not hold.
package Tenure::Strangers;

use strict;
use warnings;

use Encode               ();
use File::Find           ();
use IO::Select           ();
use IO::Socket::INET     ();
use JSON::PP             ();
use List::Util           ();
use MIME::Base64         ();
use Time::HiRes          ();
use Unicode::Normalize   ();

use Tenure::Instance;
use Tenure::Parallel;
use Tenure::XML;

my $json  = JSON::PP->new->utf8->canonical->allow_nonref;
my $ascii = JSON::PP->new->ascii->allow_nonref;

# ---- words

# Comparisons, and look-ups of parameters and header fields: what stands in such a line as a string has a meaning.
my $lists = qr/[{=]\s*(?:STR(?:_INIT)?\()?"/; # rows of tables
my $compares = qr/\b(?:str_(?:eq|starts|ends|cmp)\w*|str(?:n?case)?cmp|request_(?:header|has_header|prefers)|call_param|route_value|media_\w+|definition_has_identity|spaces_query_is_true|regexp_is_word)\s*\(|^\s*#\s*define\b/;

# ([words that are compared or stand in a WADL], [all other words of the source]): sorted, as bytes.
sub words {
    my (%strong, %weak);
    my $word = qr{\A[A-Za-z*~.+\$:=@][\w.*~+:\$=@,-]{0,50}\z};
    for my $file (glob Tenure::Instance::build_dir() . '/build/wadl/*.wadl') {
        my $text = Tenure::Instance::read_file($file);
        while ($text =~ /\bpath="([^"]*)"/g) {
            $strong{$_} = 1 for grep { $_ !~ /[{}]/ && $_ =~ $word } split m{/}, $1;
        }
        while ($text =~ /<(?:param|option|\w*:?enumeration)\b([^>]*)>/g) {
            my $attributes = $1;
            $strong{$_} = 1 for grep { $_ =~ $word } $attributes =~ /\b(?:name|value|default|fixed)="([^"]*)"/g;
        }
    }
    my $source = Tenure::Instance::source_dir() . '/src';
    File::Find::find({ no_chdir => 1, wanted => sub {
        return if !m{\.[ch]\z} || m{/(?:cli|lib|manage|db)/};
        my $text = Tenure::Instance::read_file($_);
        $text =~ s{^\s*//[^\n]*}{}gm;
        for my $line (split /\n/, $text) {
            next if $line =~ /^\s*#\s*include/;
            my $kind = $line =~ $compares || ($line =~ $lists && m{/(?:api|auth|http)/}) ? \%strong : \%weak;
            $kind->{$_} = 1 for grep { $_ =~ $word } $line =~ /"((?:[^"\\]|\\.)*)"/g;
        }
    } }, $source);
    return ([sort keys %strong], [sort grep { !$strong{$_} } keys %weak]);
}

# ---- chance

sub one { my (@list) = @_; return $list[int rand @list] }
our $plain = 0; # requests as they are mostly, without what is only drawn now and then
sub chance { my ($p) = @_; return $plain ? $p >= 0.5 : rand() < $p }
sub hex_digits { my ($n) = @_; return join '', map { sprintf '%x', int rand 16 } 1 .. $n }

# ---- a client that keeps its connection

package Tenure::Strangers::Line {
    use strict;
    use warnings;

    sub new {
        my ($class, $url) = @_;
        my ($host, $port, $prefix) = $url =~ m{\Ahttp://([^/:]+):(\d+)(/.*)?\z} or die "no such URL: $url\n";
        return bless { host => $host, port => $port, prefix => $prefix // '', buffer => '' }, $class;
    }

    sub _connect {
        my ($self) = @_;
        $self->{buffer} = '';
        $self->{socket} = IO::Socket::INET->new(PeerAddr => $self->{host}, PeerPort => $self->{port}, Proto => 'tcp', Timeout => 30)
            or die "$self->{host}:$self->{port}: $!\n";
        return;
    }

    sub _fill {
        my ($self, $until) = @_;
        my $left = $until - Time::HiRes::time();
        return 0 if $left <= 0 || !IO::Select->new($self->{socket})->can_read($left);
        my $n = sysread $self->{socket}, $self->{buffer}, 65536, length $self->{buffer};
        return defined $n && $n > 0;
    }

    # ({ status, head, body }); undef when the connection ended before an answer began.
    sub _read {
        my ($self, $method) = @_;
        my $until = Time::HiRes::time() + 60;
        my $end;
        while (($end = index $self->{buffer}, "\r\n\r\n") < 0) {
            $self->_fill($until) or return undef;
        }
        my $head = substr $self->{buffer}, 0, $end + 4, '';
        my ($status) = $head =~ m{\AHTTP/1\.[01] (\d{3})} or return undef;
        my $body = '';
        if ($method eq 'HEAD' || $status == 204 || $status == 304 || $status < 200) {
            # There is none.
        } elsif ($head =~ /^transfer-encoding:\s*chunked/mi) {
            while (1) {
                while (index($self->{buffer}, "\r\n") < 0) { $self->_fill($until) or return undef }
                my ($digits) = $self->{buffer} =~ /\A([0-9a-fA-F]+)/ or return undef;
                my $size = hex $digits;
                my $skip = index($self->{buffer}, "\r\n") + 2;
                while (length $self->{buffer} < $skip + $size + 2) { $self->_fill($until) or return undef }
                $body .= substr $self->{buffer}, $skip, $size;
                substr $self->{buffer}, 0, $skip + $size + 2, '';
                last if $size == 0;
            }
        } elsif ($head =~ /^content-length:\s*(\d+)/mi) {
            my $size = $1;
            while (length $self->{buffer} < $size) { $self->_fill($until) or return undef }
            $body = substr $self->{buffer}, 0, $size, '';
        } else {
            1 while $self->_fill($until);
            ($body, $self->{buffer}) = ($self->{buffer}, '');
            $self->{socket} = undef;
        }
        $self->{socket} = undef if $head =~ /^connection:\s*close/mi;
        return { status => $status, head => $head, body => $body };
    }

    # A server may close a connection that was kept: what it did not begin to answer is sent again.
    sub ask {
        my ($self, $method, $path, $headers, $body) = @_;
        my $text = "$method $self->{prefix}$path HTTP/1.1\r\nHost: $self->{host}:$self->{port}\r\n"
            . join('', map { "$_: $headers->{$_}\r\n" } sort keys %$headers)
            . (defined $body ? 'Content-Length: ' . length($body) . "\r\n" : $method =~ /\AP/ ? "Content-Length: 0\r\n" : '') . "\r\n" . ($body // '');
        for my $try (1 .. 3) {
            $self->_connect if !$self->{socket};
            local $SIG{PIPE} = 'IGNORE';
            my $sent = 0;
            while ($sent < length $text) {
                my $n = syswrite $self->{socket}, $text, length($text) - $sent, $sent;
                last if !$n;
                $sent += $n;
            }
            my $answer = $self->_read($method);
            return $answer if $answer;
            $self->{socket} = undef;
        }
        return { status => 0, head => '', body => '' };
    }
}

package Tenure::Strangers;

# ---- a world of tenants that have something of everything

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

sub escape { my ($text) = @_; return Encode::encode('UTF-8', $text) =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ger }

sub encode_all { my ($text) = @_; return Encode::encode('UTF-8', $text) =~ s/(.)/sprintf '%%%02x', ord $1/gers }

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

sub uuid {
    return join '-', hex_digits(8), hex_digits(4), '4' . hex_digits(3), one(qw(8 9 a b)) . hex_digits(3), hex_digits(12);
}

# Forms of a word that are other names.
sub other_form {
    my ($text) = @_;
    my $how = int rand 7;
    return ucfirst $text if $how == 0;
    return uc $text      if $how == 1;
    return $text =~ s/([a-z])/chr(0xff41 + ord($1) - ord 'a')/er if $how == 2;
    return $text =~ s/([a-z])/$1\x{301}/r                        if $how == 3;
    return $text . "\x{200b}" if $how == 4;
    return $text . ' '        if $how == 5;
    return Unicode::Normalize::NFC($text =~ s/([aeiou])/$1\x{308}/r);
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

# ---- what can be asked

sub _routes {
    my ($self) = @_;
    for my $endpoint (sort keys %{ $self->{url} }) {
        my $line = Tenure::Strangers::Line->new($self->{url}{$endpoint});
        my $text = $line->ask('GET', '/application.wadl', { 'X-Auth-Token' => $self->{operator} })->{body};
        my ($resources) = Tenure::XML::children(Tenure::XML::parse($text), 'resources');
        my @found;
        my $walk;
        $walk = sub {
            my ($node, $path, @above) = @_;
            for my $resource (Tenure::XML::children($node, 'resource')) {
                my $here = ("$path/" . ($resource->{attributes}{path} =~ s{\A/+|/+\z}{}gr)) =~ s{//+}{/}gr;
                my @own = (@above, Tenure::XML::children($resource, 'param'));
                for my $method (Tenure::XML::children($resource, 'method')) {
                    my @request = Tenure::XML::children($method, 'request');
                    my @params  = map { my $param = $_; +{ name => $param->{attributes}{name}, style => $param->{attributes}{style},
                        options => [map { $_->{attributes}{value} } Tenure::XML::children($param, 'option')] } } @own, map { Tenure::XML::children($_, 'param') } @request;
                    push @found, { method => $method->{attributes}{name}, path => $here, params => \@params,
                        types => [map { $_->{attributes}{mediaType} // () } map { Tenure::XML::children($_, 'representation') } @request],
                        dialect => $endpoint eq 'placement' || $here =~ m{\A/placement\b} ? 'placement' : $here =~ m{\A/baremetal\b} ? 'baremetal'
                        : $here =~ m{\A/(?:apis?|spaces|openapi|version\z)} ? 'spaces' : 'tenancy' };
                }
                $walk->($resource, $here, @own);
            }
        };
        $walk->($resources, '');
        $self->{routes}{$endpoint} = \@found;
    }
    $self->{headers} = [List::Util::uniq((map { my $route = $_; map { $_->{style} eq 'header' ? $_->{name} : () } @{ $route->{params} } } map { @$_ } values %{ $self->{routes} }),
        _header_names())];
    @{ $self->{headers} } = sort grep { !/\A(?:x-auth-token|authorization|host|content-\w+|etag|location)\z/i } @{ $self->{headers} };
    return;
}

# The names of header fields that the source asks for.
sub _header_names {
    my %found;
    File::Find::find({ no_chdir => 1, wanted => sub {
        return if !m{\.c\z};
        my $text = Tenure::Instance::read_file($_);
        $found{$1} = 1 while $text =~ /request_(?:has_)?header\([^;]*?"([a-z][-a-z]+)"/g;
    } }, Tenure::Instance::source_dir() . '/src');
    return sort keys %found;
}

# ---- values: [what is asked, what nobody has in its place]

sub same { my ($text) = @_; return [$text, $text] }

# A name of the same length and form that means nothing and that nobody has.
sub _twin {
    my ($self, $text) = @_;
    return $self->{twins}{$text} //= do {
        my $twin;
        my %known = map { $_ => 1 } @{ $self->{strong} }, map { $_->{name} } @{ $self->{tenants} };
        my $is_hex = $text =~ /\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z|\A(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\z|\A[0-9a-f]{128}\z/;
        for my $shift (1 .. 12) {
            $twin = $text;
            if ($is_hex) {
                $twin =~ s/([0-9])|([a-f])/defined $1 ? ($1 + $shift) % 10 : chr(97 + (ord($2) - 97 + $shift) % 6)/ge;
                substr $twin, 0, 2, '52' if $text =~ /\A52:/;
                substr $twin, 14, 1, '4' if $twin =~ /\A.{8}-/;
                substr $twin, 19, 1, 'a' if $twin =~ /\A.{8}-/;
            } elsif (length $text < 7) {
                # Letters of which no text has so many: short names are looked for in answers, too.
                my ($k, @rare) = (0, qw(q x z j v k w));
                $twin =~ s/([a-z])/$rare[(ord($1) + $shift + 3 * $k++) % 7]/ge;
                $twin =~ s/([A-Z])/uc $rare[(ord($1) + $shift + 3 * $k++) % 7]/ge;
                $twin =~ s/([\x{ff41}-\x{ff5a}])/chr(0xff41 + (ord($1) - 0xff41 + $shift + $k++ % 3) % 26)/ge;
            } else {
                my $k = 0;
                $twin =~ s/([a-z])/chr(97 + (ord($1) - 97 + $shift + $k++ % 3) % 26)/ge;
                $twin =~ s/([A-Z])/chr(65 + (ord($1) - 65 + $shift + $k++ % 3) % 26)/ge;
                $twin =~ s/([\x{ff41}-\x{ff5a}])/chr(0xff41 + (ord($1) - 0xff41 + $shift + $k++ % 3) % 26)/ge;
            }
            last if !$known{$twin} && !$self->{made}{$twin} && $twin !~ /\A-|-\z/;
        }
        $twin;
    };
}

# Another's, unless the one who asks has something of that name as well.
sub _foreign {
    my ($self, $text, $asker, $focus) = @_;
    return same($text) if $asker == $focus || $asker->{has}{$text} || $text =~ /\A(?:default|gone)\z/ || $text !~ /[a-z0-9]{3}/;
    return $self->_pair_of($text);
}

# A name that is there and one that is not, remembered for the request that is being made.
sub _pair_of {
    my ($self, $text) = @_;
    my $twin = $self->_twin($text);
    $self->{used}{$text} = $twin;
    return [$text, $twin];
}

sub _word {
    my ($self) = @_;
    my $word = one(@{ $self->{ chance(0.75) ? 'strong' : 'weak' } });
    $word = one('all', 'system') if chance(0.1);
    $word = other_form($word) if chance(0.2);
    return same($word);
}

# What is known to be asked for by a parameter of that name, mostly; anything, else.
my %category = (node => 'node', node_uuid => 'node', parent_node => 'node', instance_uuid => 'node', port => 'port', address => 'port', addresses => 'port',
    portgroup => 'portgroup', portgroup_uuid => 'portgroup', connector => 'connector', target => 'target', allocation => 'allocation', uuid => 'provider', in_tree => 'provider', consumer_uuid => 'consumer', uid => 'uid', move => 'move',
    user_id => 'user');

sub _tenant_name { my ($self, $asker, $focus) = @_; return $focus == $asker ? same($focus->{name}) : $self->_pair_of($focus->{name}) }

sub _any {
    my ($self, $asker, $focus, $thing) = @_;
    my $how = int rand 6;
    return $self->_tenant_name($asker, $focus) if $how == 0;
    return $self->_foreign($thing->{name}, $asker, $focus) if $how == 1;
    if ($how <= 3) {
        my $ids = $focus->{id}{ one(sort keys %{ $focus->{id} }) };
        return $self->_foreign(one(@$ids), $asker, $focus);
    }
    return $self->_word;
}

sub _value {
    my ($self, $route, $param, $asker, $focus, $thing) = @_;
    my $name = $param->{name};
    return same(one(@{ $param->{options} })) if @{ $param->{options} // [] } && chance(0.6);
    return $self->_word if chance(0.05);
    return $self->_any($asker, $focus, $thing) if chance(0.02);
    return $self->_tenant_name($asker, $focus) if $name =~ /\A(?:tenant|dest|owner|lessee|project|project_id)\z/;
    my $of_type = $thing->{group} && $thing->{group} ne 'apiextensions.k8s.io' || $thing->{plural} eq 'customresourcedefinitions';
    return same($route->{dialect} eq 'tenancy' ? one('v1.0', 'v2.0', 'v2.0', 'v2.0') : $thing->{version}) if $name eq 'version';
    return same($thing->{group} // 'apiextensions.k8s.io') if $name eq 'group';
    if ($name eq 'plural') {
        return same($thing->{plural}) if $thing->{plural} =~ /\A(?:namespaces|configmaps|secrets|persistentvolumes|nodes|ports|volumeconnectors|volumetargets|allocations|resourceproviders)\z/ || $thing->{group} && $route->{dialect} ne 'tenancy' && $thing->{plural} eq 'customresourcedefinitions';
        return $self->_foreign($route->{dialect} eq 'tenancy' && $of_type ? "$thing->{plural}.$thing->{group}" : $thing->{plural}, $asker, $focus) if $thing->{plural} ne 'customresourcedefinitions';
        return same('customresourcedefinitions.apiextensions.k8s.io');
    }
    return $self->_foreign($thing->{space} // 'default', $asker, $focus) if $name eq 'namespace';
    return $self->_foreign($thing->{name}, $asker, $focus) if $name eq 'name' && $route->{dialect} =~ /tenancy|spaces/;
    return same(one('status', 'scale', 'finalize')) if $name eq 'subresource';
    return $self->_foreign("$thing->{plural}." . ($thing->{group} // ''), $asker, $focus) if $name eq 'type' && $param->{style} eq 'template';
    if (my $kind = $category{$name}) {
        my $ids = $focus->{id}{$kind};
        return $self->_foreign(one(@$ids), $asker, $focus) if $ids && @$ids;
    }
    return same(one(qw(1 2 10))) if $name =~ /\A(?:limit|after)\z/;
    return [map { "metadata.name=$_" } @{ $self->_foreign($thing->{name}, $asker, $focus) }] if $name eq 'fieldSelector';
    return [map { "l=$_" } @{ $self->_foreign($focus->{id}{label}[0], $asker, $focus) }] if $name eq 'labelSelector';
    return same(one('true', 'false', '1')) if $name =~ /\A(?:watch|detail|associated|sendInitialEvents|maintenance|retired|sharded)\z/;
    return same('VCPU:1') if $name eq 'resources';
    return $self->_any($asker, $focus, $thing);
}

# The same in another guise, both alike; not one in which it is the name of something that the asker has.
sub _disguise {
    my ($value, $asker) = @_;
    my @texts = _disguised($value);
    for my $text (@texts) {
        my $plain = $text;
        $plain =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge for 1, 2;
        $plain = eval { Encode::decode('UTF-8', my $copy = $plain, Encode::FB_CROAK) } // $plain;
        return map { escape($_) } @$value if $plain eq $asker->{name} || $asker->{has}{$plain};
    }
    return @texts;
}

sub _disguised {
    my ($value) = @_;
    my $how   = int rand 6;
    my $after = one('.', ';x', '%00', '%0a', '/', '/..', '/.', '%2f', '%20', '?', '%25');
    return map {
        my $text = escape($_);
        $how == 0 ? encode_all($_) : $how == 1 ? $text =~ s/%/%25/gr
            : $how == 2 ? uc $text : $how == 3 ? escape(other_form_of($_, length $_)) : $text . $after
    } @$value;
}

# One form for both of a pair, whose lengths are the same.
sub other_form_of {
    my ($text, $n) = @_;
    return $n % 3 == 0 ? ucfirst $text : $n % 3 == 1 ? $text =~ s/([a-z])/chr(0xff41 + ord($1) - ord 'a')/er : $text =~ s/([a-z])/$1\x{301}/r;
}

# Bodies of the kinds that there are, with members that name what is another's.
sub _body {
    my ($self, $route, $asker, $focus, $thing) = @_;
    my $any   = sub { return $self->_any($asker, $focus, $thing) };
    my $whose = sub { return $self->_tenant_name($asker, $focus) };
    my $id    = sub { my ($kind) = @_; my $ids = $focus->{id}{$kind}; return $ids && @$ids ? $self->_foreign($ids->[0], $asker, $focus) : $any->() };
    my %member;
    if ($route->{dialect} eq 'baremetal') {
        %member = (driver => same('fake-hardware'), owner => $whose->(), lessee => $whose->(), node_uuid => $id->('node'), portgroup_uuid => $id->('portgroup'), parent_node => $id->('node'),
            name => chance(0.5) ? same('n-' . hex_digits(10)) : $any->(), uuid => same(uuid()), address => same(join ':', '52', '54', map { hex_digits(2) } 1 .. 4),
            chassis_uuid => $any->(), instance_uuid => same(uuid()), id => $any->(), reason => $any->(), target => $self->_word, type => same('iqn'), connector_id => chance(0.5) ? same(hex_digits(12)) : $id->('connector'),
            volume_type => same('iscsi'), volume_id => $any->(), boot_index => same(int rand 1e6), properties => { s => $any->() }, traits => $any->(), extra => $any->(),
            resource_class => $any->(), node => $id->('node'), candidate_nodes => [$id->('node')]);
        for my $name (keys %member) {
            my $needed = $route->{path} =~ m{/nodes\z} ? qr/\Adriver\z/ : $route->{path} =~ m{/ports\z} ? qr/\A(?:address|node_uuid)\z/
                : $route->{path} =~ m{/connectors\z} ? qr/\A(?:type|connector_id|node_uuid)\z/ : $route->{path} =~ m{/targets\z} ? qr/\A(?:volume_type|volume_id|boot_index|node_uuid)\z/
                : $route->{path} =~ m{/allocations\z} ? qr/\Aresource_class\z/ : $route->{path} =~ m{/vifs\z} ? qr/\Aid\z/ : qr/\Anode_uuid\z/;
            delete $member{$name} if $name !~ $needed && chance(0.75);
        }
        if ($route->{method} eq 'PATCH') {
            return [map { my $name = $_; { op => same(one(qw(add replace remove test))), path => same(chance(0.8) ? "/$name" : '/' . $self->_word->[0]), value => $member{$name} } } sort keys %member];
        }
    } elsif ($route->{dialect} eq 'placement') {
        %member = (name => $any->(), uuid => $any->(), parent_provider_uuid => $id->('provider'), project_id => $whose->(), user_id => $any->());
    } else {
        %member = (metadata => { name => $self->_foreign($thing->{name}, $asker, $focus), chance(0.3) ? (tenant => $whose->()) : (), chance(0.2) ? (namespace => $self->_foreign($thing->{space} // 'default', $asker, $focus)) : (),
            chance(0.2) ? (uid => $id->('uid')) : (), chance(0.1) ? (resourceVersion => same('1')) : (), chance(0.2) ? (labels => { l => $any->() }) : (),
            chance(0.1) ? (ownerReferences => [{ apiVersion => same('v1'), kind => same('ConfigMap'), name => $any->(), uid => $id->('uid') }]) : () },
            chance(0.7) ? (data => { a => $any->() }) : ());
        my ($word) = @{ $self->_word };
        $member{$word} = $any->() if chance(0.2);
        if ($route->{path} =~ /accessreviews\z/) {
            %member = (spec => { resourceAttributes => { verb => same(one(qw(get list create delete *))), resource => $self->_foreign($thing->{plural}, $asker, $focus), group => same($thing->{group} // ''),
                namespace => $self->_foreign($thing->{space} // 'default', $asker, $focus), name => $any->(), tenant => $whose->() } });
            %member = (spec => { nonResourceAttributes => { verb => same('get'), path => [map { "/api/v1/tenants/$_/configmaps" } @{ $whose->() }] } }) if chance(0.3);
        } elsif ($route->{path} =~ /effect\z/) {
            %member = (operation => same(one(qw(create replace patch delete))), object => { kind => same(one('Tenant', 'CustomResourceDefinition')), metadata => { name => chance(0.5) ? $whose->() : $any->() } });
        }
    }
    return \%member;
}

sub _side {
    my ($value, $side) = @_;
    return { map { ($_ => _side($value->{$_}, $side)) } keys %$value } if ref $value eq 'HASH';
    return $value->[$side] if ref $value eq 'ARRAY' && @$value == 2 && !ref $value->[0] && !ref $value->[1];
    return [map { _side($_, $side) } @$value] if ref $value eq 'ARRAY';
    return $value;
}

# A request, as it names what is there and as it names what is not: { who, endpoint, method, paths, headers, bodies, differs }
#
# given: the endpoint, the route, the focus (whose things it names) and the thing, where they are not drawn.
sub _request {
    my ($self, $askers, %given) = @_;
    my $tenants  = $self->{tenants};
    my $asker    = one(@$askers);
    $self->{used} = {};
    my $focus    = $given{focus} // (chance(0.3) ? $asker : one(grep { $_ != $asker } @$tenants));
    my $thing    = $given{thing} // one(@{ $focus->{things} });
    my $endpoint = $given{endpoint} // one('service', 'service', 'combined', 'combined', 'combined', 'admin', 'placement');
    # Each dialect as often as each other, however many calls it has.
    my $by_dialect = $self->{by_dialect}{$endpoint} //= do { my %by; push @{ $by{ $_->{dialect} } }, $_ for @{ $self->{routes}{$endpoint} }; \%by };
    my $route    = $given{route} // one(@{ $by_dialect->{ one(sort keys %$by_dialect) } });
    # What stands in a namespace is asked for where namespaces are, and only there, mostly.
    for (1 .. 4) {
        last if $given{thing} || $route->{path} !~ /\{(?:name|plural)\}/ || chance(0.2);
        my $fits = ($route->{path} =~ /\{namespace\}/ ? 1 : 0) == ($thing->{space} ? 1 : 0);
        $fits &&= ($route->{path} =~ /\{group\}/ ? 1 : 0) == ($thing->{group} ? 1 : 0) if $route->{dialect} eq 'spaces';
        last if $fits;
        $thing = one(@{ $focus->{things} });
    }
    my $role  = $plain ? 'admin' : one('reader', 'member', 'admin', 'admin', 'admin');
    my $who   = chance(0.02) ? '' : $asker->{token}{$role};
    my @paths = ($route->{path}) x 2;
    my $odd   = chance(0.2) ? int rand 3 : -1;
    my $nth   = 0;
    for my $param (grep { $_->{style} eq 'template' && index($route->{path}, "{$_->{name}}") >= 0 } @{ $route->{params} }) {
        my $value = $self->_value($route, $param, $asker, $focus, $thing);
        # Where addresses have literal words, one of these is not the same as a name that nobody has.
        $value = same($value->[0]) if $param->{name} !~ /\A(?:tenant|namespace|name|plural|type)\z/ && $self->{is_strong}{ $value->[0] };
        my @texts = $nth++ == $odd ? _disguise($value, $asker) : map { escape($_) } @$value;
        $paths[$_] =~ s/\{\Q$param->{name}\E\}/$texts[$_]/ for 0, 1;
    }
    # A template that is declared nowhere is a name, too.
    while ($paths[0] =~ /\{(\w+)\}/) {
        my $value = $self->_any($asker, $focus, $thing);
        my $name  = $1;
        $paths[$_] =~ s/\{\Q$name\E\}/escape($value->[$_])/e for 0, 1;
    }
    my @query = ([], []);
    for my $param (grep { $_->{style} eq 'query' } @{ $route->{params} }) {
        next if !chance($param->{name} =~ /\A(?:dest|uid)\z/ ? 0.9 : $param->{name} =~ /\A(?:watch|sendInitialEvents)\z/ ? 0.02 : 0.08);
        my $value = $self->_value($route, $param, $asker, $focus, $thing);
        my @texts = chance(0.1) ? _disguise($value, $asker) : map { escape($_) } @$value;
        push @{ $query[$_] }, "$param->{name}=$texts[$_]" for 0, 1;
    }
    if (chance(0.05)) {
        my ($name, $value) = ($self->_word->[0], $self->_any($asker, $focus, $thing));
        $name = 'x' if $name =~ /watch/;
        push @{ $query[$_] }, escape($name) . '=' . escape($value->[$_]) for 0, 1;
    }
    if ($route->{dialect} eq 'spaces' && grep { /watch/ } @{ $query[0] }) {
        push @$_, 'timeoutSeconds=1' for @query;
    }
    for my $side (0, 1) {
        $paths[$side] .= '?' . join '&', @{ $query[$side] } if @{ $query[$side] };
    }
    my @headers = map { { $who ne '' ? ('X-Auth-Token' => $who) : () } } 0, 1;
    for my $side (0, 1) {
        $headers[$side]{'X-OpenStack-Ironic-API-Version'} = '1.82'           if $route->{dialect} eq 'baremetal';
        $headers[$side]{'OpenStack-API-Version'}          = 'placement 1.39' if $route->{dialect} eq 'placement';
    }
    if (chance(0.15) && @{ $self->{headers} }) {
        my $name  = one(@{ $self->{headers} });
        my $value = $name =~ /match/i ? same('*') : $self->_any($asker, $focus, $thing);
        $headers[$_]{$name} = Encode::encode('UTF-8', $value->[$_]) =~ s/[^\x21-\x7e]/_/gr for 0, 1;
    }
    $headers[0]{Accept} = $headers[1]{Accept} = one('application/xml', '*/*', 'text/html') if chance(0.05);
    my @bodies;
    if ($route->{method} =~ /\A(?:POST|PUT|PATCH)\z/ && chance(0.9)) {
        my $body = $self->_body($route, $asker, $focus, $thing);
        my @merge = grep { $plain && m{\Aapplication/merge-patch} } @{ $route->{types} };
        my $type = @merge ? $merge[0] : @{ $route->{types} } ? one(@{ $route->{types} }) : 'application/json';
        $type = 'application/json' if $type !~ /json/;
        $type = 'application/json-patch+json' if ref $body eq 'ARRAY';
        @bodies = map { $json->encode(_side($body, $_)) } 0, 1;
        $headers[$_]{'Content-Type'} = $type for 0, 1;
    }
    my $differs = $paths[0] ne $paths[1] || ($bodies[0] // '') ne ($bodies[1] // '') || grep { $headers[0]{$_} ne $headers[1]{$_} } keys %{ $headers[0] };
    return { asker => $asker, who => $who, endpoint => $endpoint, method => $route->{method}, paths => \@paths, headers => \@headers, bodies => \@bodies, differs => $differs,
        twins => $self->{used} };
}

# ---- asking

sub _ask {
    my ($self, $lines, $request, $side) = @_;
    my $line = $lines->{ $request->{endpoint} } //= Tenure::Strangers::Line->new($self->{url}{ $request->{endpoint} });
    my $answer;
    for my $try (1 .. 6) {
        $answer = $line->ask($request->{method}, $request->{paths}[$side], $request->{headers}[$side], $request->{bodies}[$side]);
        $self->{told}{requests}++;
        last if $answer->{status} != 503 && $answer->{status} != 429 && $answer->{status} != 0;
        Time::HiRes::sleep(0.1 * $try);
    }
    $self->{told}{busy}++ if $answer->{status} == 503 || $answer->{status} == 429;
    $self->{told}{ "answered_" . int($answer->{status} / 100) . 'xx' }++;
    $self->_look($request, $side, $answer);
    return $answer;
}

sub _describe {
    my ($self, $request, $side, $answer) = @_;
    my $tenant = $request->{asker};
    my ($role) = grep { $tenant->{token}{$_} eq $request->{who} } keys %{ $tenant->{token} };
    return sprintf '%s of "%s" at %s: %s %s %s %s: %s %s', $role // 'nobody', Encode::encode('UTF-8', $tenant->{bears}), $request->{endpoint}, $request->{method}, $request->{paths}[$side],
        join(' ', map { /token/i ? () : "$_: $request->{headers}[$side]{$_}" } sort keys %{ $request->{headers}[$side] }), $request->{bodies}[$side] // '', $answer->{status},
        substr($answer->{head} . $answer->{body}, 0, 1500) =~ s/\r\n/ | /gr;
}

sub _find {
    my ($self, $what) = @_;
    push @{ $self->{told}{findings} }, $what if @{ $self->{told}{findings} //= [] } < 50;
    $self->{told}{found}++;
    return;
}

# Is anything in the answer that is known to other tenants alone, and that the question did not hold?
sub _look {
    my ($self, $request, $side, $answer) = @_;
    my $asker = $request->{asker}{index};
    my $question;
    # Where something has gone is no business of the tenant that it left: that it lives elsewhere is not said.
    if ($answer->{head} =~ m{^Location: \S*?/v[12]\.0/([^/?\s]+)}mi) {
        my $name = $1;
        my ($whose) = grep { lc escape($_->{name}) eq lc $name } @{ $self->{tenants} };
        if ($whose && $whose != $request->{asker} && index(lc $request->{paths}[$side], lc $name) < 0) {
            $self->_find("\"$name\", which is another's, in " . $self->_describe($request, $side, $answer));
            return;
        }
    }
    for my $text ($answer->{head}, $answer->{body}) {
        while ($text =~ /(mkx[0-9a-f]{12}|bWt4[A-Za-z0-9+\/]{16}|x[0-9a-f]{12}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{128})/g) {
            my $known = $self->{marks}{$1} or next;
            my $mark = $1;
            # A tenant that bears a reserved name has nothing: even its own is kept from it.
            next if $known->{$asker} && !$request->{asker}{renamed};
            $question //= join ' ', $request->{paths}[$side], (map { s/%([0-9A-Fa-f]{2})/chr hex $1/ger } $request->{paths}[$side] =~ s/%25/%/gr), values %{ $request->{headers}[$side] }, $request->{bodies}[$side] // '';
            next if index($question, $mark) >= 0;
            my $whose = $known->{$asker} ? 'which is of a tenant that nobody may be of' : "which is another's";
            $self->_find("$mark, $whose, in " . $self->_describe($request, $side, $answer));
            return;
        }
    }
    return;
}

# How a name may stand in an answer: as it is, in an address, every byte of it encoded, in an address in an address, in JSON.
my @written = (\&_plain, \&escape, \&encode_all, sub { escape(escape($_[0])) }, sub { substr $json->encode($_[0]), 1, -1 }, sub { substr $ascii->encode($_[0]), 1, -1 });

sub _plain { my ($text) = @_; return Encode::encode('UTF-8', $text) }

# An answer without what is anew in each, in the words of the request that names what is there.
sub _shape {
    my ($self, $request, $side, $answer) = @_;
    my ($head, $body) = ($answer->{head}, $answer->{body});
    my ($id) = $head =~ /^x-request-id:\s*(\S+)/mi;
    $head =~ s/^(?:date|x-request-id|x-openstack-request-id|keep-alive|connection):[^\n]*\n//mgi;
    my $text = "$head$body";
    $text =~ s/\Q$id\E/REQUEST/g if defined $id && length $id > 8;
    if ($side == 1) {
        my $twins = $request->{twins};
        for my $name (sort { length $b <=> length $a || $a cmp $b } keys %$twins) {
            for my $guise (sub { $_[0] }, sub { uc $_[0] }, sub { $_[0] =~ tr/a-z/A-Z/r }, sub { ucfirst $_[0] }, sub { other_form_of($_[0], length $_[0]) }) {
                my ($twin, $there) = map { $guise->($_) } $twins->{$name}, $name;
                next if $twin eq $there;
                for my $written (@written) {
                    my ($from, $to) = ($written->($twin), $written->($there));
                    $text =~ s/\Q$from\E/$to/g;
                }
            }
        }
    }
    if ($answer->{status} < 300) {
        $text =~ s/^content-length:[^\n]*\n//mgi;
        $text =~ s/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/UUID/g;
        $text =~ s/\b[0-9a-f]{128}\b/TAG/g;
        $text =~ s/"(resourceVersion|continue|next)":"[^"]*"/"$1":"N"/g;
        $text =~ s/marker=[^"&\s]*/marker=N/g;
    }
    $text =~ s/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(?:Z|[-+]\d\d:?\d\d)?/TIME/g;
    return $text;
}

# Where two texts part.
sub _difference {
    my ($a, $b) = @_;
    my ($alike) = ($a ^ $b) =~ /\A(\0*)/;
    my $at = length($alike) - 60;
    $at = 0 if $at < 0;
    return substr($a, $at, 160) . ' -> ' . substr($b, $at, 160);
}

# What the asker may have made by it, so that such names are its own from now on.
sub _own {
    my ($self, $request, $side) = @_;
    my $path = $request->{paths}[$side] =~ s/\?.*//sr;
    $request->{asker}{has}{ Encode::decode('UTF-8', s/%([0-9A-Fa-f]{2})/chr hex $1/ger) } = 1 for split m{/}, $path;
    $request->{asker}{has}{$_} = 1 for ($request->{bodies}[$side] // '') =~ /"([^"\\]+)"/g;
    # What it has put into its own things it may see there.
    $self->{marks}{$_}{ $request->{asker}{index} } = 1 for grep { $self->{marks}{$_} } keys %{ $request->{asker}{has} };
    # A name that nobody had is somebody's now: from here on another stands for what nobody has.
    if ($side == 1) {
        $self->{made}{ delete $self->{twins}{$_} } = 1 for grep { defined $self->{twins}{$_} } keys %{ $request->{twins} };
    }
    return;
}

sub _pair {
    my ($self, $lines, $request) = @_;
    my $safe = $request->{method} =~ /\A(?:GET|HEAD|OPTIONS)\z/;
    if (!$request->{differs}) {
        my $answer = $self->_ask($lines, $request, 0);
        $self->_own($request, 0) if !$safe && $answer->{status} < 400;
        return;
    }
    my $absent = $self->_ask($lines, $request, 1);
    if (!$safe && $absent->{status} < 400) {
        # Something of the asker's own has changed: a second one would find another state.
        $self->_own($request, 1);
        $self->{told}{carried_out}++;
        return;
    }
    my $there = $self->_ask($lines, $request, 0);
    $self->{told}{pairs}++;
    $self->_own($request, 0) if !$safe && $there->{status} < 400;
    my ($a, $b) = ($self->_shape($request, 0, $there), $self->_shape($request, 1, $absent));
    return if $a eq $b;
    # Once more: a list of one's own may have changed by what ran between, and times pass.
    $absent = $self->_ask($lines, $request, 1);
    $there  = $self->_ask($lines, $request, 0);
    ($a, $b) = ($self->_shape($request, 0, $there), $self->_shape($request, 1, $absent));
    return if $a eq $b;
    $self->_find("not the same of what is another's\n  there:  " . $self->_describe($request, 0, $there) . "\n  absent: " . $self->_describe($request, 1, $absent)
            . "\n  differ: " . _difference($a, $b));
    return;
}

# Every address that has a tenant's name in it, with the words that mean no tenant, asked by users of tenants that bear them.
sub _sweep {
    my ($self, $lines, $askers) = @_;
    for my $asker (grep { $_->{renamed} } @$askers) {
        for my $route (grep { $_->{method} eq 'GET' && $_->{path} =~ /\{tenant\}/ } @{ $self->{routes}{combined} }) {
            for my $word ('all', 'system') {
                my $namespaced = $route->{path} =~ /\{namespace\}/;
                my ($thing) = grep { ($_->{space} ? 1 : 0) == ($namespaced || $route->{path} !~ /\{name\}/ ? 1 : 0) && ($_->{group} ? 1 : 0) == ($route->{path} =~ /\{group\}/ ? 1 : 0) }
                    @{ $asker->{things} };
                $self->{used} = {};
                my $path = $route->{path} =~ s/\{tenant\}/$word/r =~ s/\{version\}/$route->{dialect} eq 'tenancy' ? 'v2.0' : 'v1'/er;
                for my $param (grep { $_->{style} eq 'template' } @{ $route->{params} }) {
                    $path =~ s/\{\Q$param->{name}\E\}/escape($self->_value($route, $param, $asker, $asker, $thing || $asker->{things}[0])->[0])/e;
                }
                $path .= '?dest=stranger' if $path =~ m{/action/move\z};
                my %headers = ('X-Auth-Token' => $asker->{token}{admin});
                $self->_ask($lines, { asker => $asker, who => $asker->{token}{admin}, endpoint => 'combined', method => 'GET', paths => [$path], headers => [\%headers], bodies => [] }, 0);
            }
        }
    }
    return;
}

# Does a route name such a thing?
sub _fits {
    my ($route, $thing) = @_;
    return 1 if $route->{path} !~ /\{(?:name|plural|namespace)\}/;
    return 0 if ($route->{path} =~ /\{namespace\}/ ? 1 : 0) != ($thing->{space} ? 1 : 0);
    return $route->{dialect} ne 'spaces' || ($route->{path} =~ /\{group\}/ ? 1 : 0) == ($thing->{group} ? 1 : 0);
}

# Every method of every path once with what the victim has, of each type; what deletes comes last. Of the clients each asks a part.
sub _survey {
    my ($self, $lines, $askers, $client, $clients) = @_;
    my ($asker) = grep { !$_->{renamed} } @$askers or return;
    my ($victim) = grep { $_->{name} eq 'victim' } @{ $self->{tenants} };
    my $nth = 0;
    local $plain = 1;
    for my $route (sort { ($a->{method} eq 'DELETE') <=> ($b->{method} eq 'DELETE') } @{ $self->{routes}{combined} }) {
        my %seen;
        for my $thing (@{ $victim->{things} }) {
            next if !_fits($route, $thing) || $seen{ $route->{path} =~ /\{(?:name|plural)\}/ ? "$thing->{plural}." . ($thing->{group} // '') : '' }++;
            next if $nth++ % $clients != $client;
            $self->_pair($lines, $self->_request([$asker], endpoint => 'combined', route => $route, focus => $victim, thing => $thing));
        }
        # What it had, and another has now.
        next if $route->{method} ne 'GET' || $route->{dialect} ne 'tenancy' || $route->{path} !~ m{\{plural\}/\{name\}\z} || $route->{path} =~ /\{namespace\}/;
        $self->_pair($lines, $self->_request([$asker], endpoint => 'combined', route => $route, focus => $asker, thing => $_)) for grep { $_->{moved} } @{ $asker->{things} };
    }
    return;
}

# Sends that many requests from that many clients at once, each for other tenants; before them, each client its part of what is
# asked in every run.
sub run {
    my ($self, $n, $clients) = @_;
    my @askers = grep { $_->{asks} } @{ $self->{tenants} };
    $clients = @askers if $clients > @askers;
    my @told = Tenure::Parallel::run($clients, sub {
        my ($client) = @_;
        srand $self->{seed} * 1000 + $client + 1;
        my @mine = @askers[grep { $_ % $clients == $client } 0 .. $#askers];
        $self->{told} = { requests => 0 };
        my %lines;
        $self->_sweep(\%lines, \@mine);
        $self->_survey(\%lines, \@mine, $client, $clients);
        my $surveyed = $self->{told}{requests};
        while ($self->{told}{requests} < $surveyed + $n / $clients) {
            $self->_pair(\%lines, $self->_request(\@mine));
        }
        return $json->encode($self->{told});
    });
    my %sum = (findings => []);
    for my $line (@told) {
        my $one = defined $line ? $json->decode($line) : { findings => ['a client ended early'], found => 1 };
        for my $name (keys %$one) {
            if ($name eq 'findings') { push @{ $sum{findings} }, @{ $one->{findings} } }
            else { $sum{$name} += $one->{$name} }
        }
    }
    return \%sum;
}

1;
