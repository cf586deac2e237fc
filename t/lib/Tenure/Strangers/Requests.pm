# SPDX-License-Identifier: Apache-2.0
# The requests that Tenure::Strangers draws: methods, paths and parameters from the composed WADL of each endpoint, values from the
# world (Tenure::Strangers::World). Each request exists twice: as it names what another tenant has, and as it names, in the same
# form, what nobody has.
package Tenure::Strangers::Requests;

use strict;
use warnings;

use parent 'Tenure::Strangers::World';

use Encode     ();
use File::Find ();
use JSON::PP   ();
use List::Util ();

use Tenure::Instance;
use Tenure::Strangers::Line;
use Tenure::Strangers::Words qw(words one chance hex_digits uuid escape encode_all other_form other_form_of);
use Tenure::XML;

my $json = JSON::PP->new->utf8->canonical->allow_nonref;

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
    portgroup => 'portgroup', portgroup_uuid => 'portgroup', connector => 'connector', target => 'target', allocation => 'allocation', uuid => 'provider', in_tree => 'provider', consumer_uuid => 'consumer', uid => 'uid', move => 'move', token => 'token',
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
    return $self->_any($asker, $focus, $thing) if chance(0.02) && $name !~ /\A(?:fields|sort_key)\z/;
    # Names of members: a resource may be called so as well, but a word that is none is refused before anything is looked for.
    return same($self->_any($asker, $focus, $thing)->[0]) if $name =~ /\A(?:fields|sort_key)\z/;
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

# Where an address of operators has a word in the place of a tenant, as /v2.0/all/changes, anybody is told that it is theirs, whether or not a
# tenant has that name: there, the word stands in both.
sub _keep_operators_word {
    my ($self, $endpoint, $paths) = @_;
    my $words = $self->{operators_words}{$endpoint} //= { map { $_->{path} =~ m{\A/\{version\}/(\w+/\w+)} ? ($1 => 1) : () } @{ $self->{routes}{$endpoint} } };
    my ($version, $word, $next) = $paths->[0] =~ m{\A(/[^/]+/)([^/?]+)/([^/?]+)} or return;
    return if !$words->{ "$word/$next" =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ger };
    $paths->[1] =~ s{\A/[^/]+/[^/?]+}{$version$word};
    return;
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
    my $role  = $Tenure::Strangers::Words::plain ? 'admin' : one('reader', 'member', 'admin', 'admin', 'admin');
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
    $self->_keep_operators_word($endpoint, \@paths);
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
        my @merge = grep { $Tenure::Strangers::Words::plain && m{\Aapplication/merge-patch} } @{ $route->{types} };
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

1;
