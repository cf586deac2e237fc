#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure node, port, portgroup, chassis and driver: every verb against the bare-metal API, and what two do to one node.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Tool;

plan skip_all => 'tenure is not built' if !-x (Tenure::Instance::build_dir() // '') . '/tenure';
my $instance = Tenure::Instance->start(workers => 3);
my $admin    = $instance->admin;
$admin->make_tenant($_) for qw(acme globex);
my %who = (url => $instance->env('TENURE_ADMIN_URL'), token => $instance->operator_token);
# Each with a home of its own: what one has seen the other hasn't.
my ($ann, $bob) = map { Tenure::Tool->new(%who) } 1 .. 2;
my $uuid_re = qr/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

# Makes one of a noun; its UUID.
sub made {
    my ($noun, @words) = @_;
    my ($uuid) = $ann->ends(0, $noun, 'create', @words)->{out} =~ /\A($uuid_re)\n\z/ or fail "no UUID of a $noun";
    return $uuid;
}

sub node { return $ann->json('node', 'show', $_[0]) }

sub lines { my @lines = split /\n/, $_[0]{out}; return @lines }

my %uuid;

subtest 'nodes' => sub {
    $uuid{rack} = made('node', qw(--driver fake-hardware --name rack-7 --property cpus=4 --property arch=x86_64), '--extra',
        'note=two words', qw(--driver-info ipmi_address=10.0.0.7 --resource-class large extra.deep.er:=[1]));
    my $node = node('rack-7');
    is_deeply [@$node{qw(uuid name driver resource_class properties extra driver_info)}],
        [$uuid{rack}, 'rack-7', 'fake-hardware', 'large', { cpus => 4, arch => 'x86_64' },
        { note => 'two words', deep => { er => [1] } }, { ipmi_address => '10.0.0.7' }], 'made as told';
    like $node->{etag}, qr{\AW/[0-9a-f]{128}\z}, 'with its etag';
    is $ann->json(qw(node create --driver fake-hardware --name rack-8))->{name}, 'rack-8', 'create tells it as JSON';
    my $table = $ann->ends(0, qw(node show rack-7))->{out};
    like $table, qr/^properties\.cpus +4$/m, 'show as a table';
    unlike $table, qr/href/, 'without links';
    ok $node->{links}[0]{href}, 'which JSON has';
    is $ann->ends(0, qw(node show rack-8 rack-7 --columns), 'name,properties.cpus', qw(--format csv))->{out},
        "name,properties.cpus\nrack-8,\nrack-7,4\n", 'show of two as CSV';
    $ann->ends(1, qw(node show rack-9));
    like $ann->ends(4, qw(node create --driver fake-hardware --name rack-7))->{err}, qr/rack-7 already exists/, 'a name twice';
    like $ann->ends(0, qw(node create --driver fake-hardware --name strange --owner acmee))->{err},
        qr/\Atenure: warning: owner: there was no tenant acmee, so it was made; if the name is a mistake, change owner again and delete that tenant\n\z/,
        'what the service remarks is told';
    $ann->ends(0, qw(node delete strange --yes --no-etag));
    like $ann->ends(65, qw(node create --name x))->{err}, qr/\Atenure: node: .*driver/, 'without its driver';
    like $ann->ends(65, qw(node create --driver nonsense))->{err}, qr/driver|host/i, 'with none';
    my $file = File::Temp->new;
    print {$file} '{"driver":"fake-hardware","extra":{"a":1}}';
    close $file;
    my $filed = made('node', '-f', "$file", qw(--extra b=2 --name filed));
    is_deeply node($filed)->{extra}, { a => 1, b => 2 }, 'options on top of a file';
    $ann->ends(0, qw(node delete filed --yes --etag auto));
    $ann->ends(1, qw(node show filed));
};

subtest 'set and unset' => sub {
    $ann->ends(0, qw(node set rack-7 --description), 'a b', qw(--property mem=8 --extra), 'a/b~c=true', qw(extra.deep.x=1 --no-etag));
    my $node = node('rack-7');
    is_deeply [@$node{qw(description properties extra)}],
        ['a b', { cpus => 4, arch => 'x86_64', mem => 8 }, { note => 'two words', 'a/b~c' => JSON::PP::true, deep => { er => [1], x => '1' } }],
        'set';
    $ann->ends(0, qw(node unset rack-7 --description --property arch --property mem --extra a/b~c extra.deep --no-etag));
    $node = node('rack-7');
    is_deeply [@$node{qw(description properties extra)}], [undef, { cpus => 4 }, { note => 'two words' }], 'unset';
    $ann->ends(0, qw(node set rack-7 --no-etag --patch),
        '[{"op":"copy","from":"/extra/note","path":"/description"},{"op":"test","path":"/name","value":"rack-7"}]');
    is node('rack-7')->{description}, 'two words', 'a JSON Patch of one\'s own';
    $ann->ends(65, qw(node unset rack-7 --extra nothing --no-etag));
    like $ann->ends(65, qw(node set rack-7 provision_state=active --no-etag))->{err}, qr/provision_state/, 'what only the service sets';
    is $ann->run_with_input("rack-7\nrack-8\n", qw(node set - --extra both=1 --no-etag))->{code}, 0, 'names on standard input';
    is_deeply [map { node($_)->{extra}{both} } qw(rack-7 rack-8)], [1, 1], 'both are set';
    like $ann->ends(0, qw(node set rack-8 --retired true))->{err}, qr/warning: node rack-8: goes out without an etag/, 'a warning';
    my $before = $instance->change_count;
    like $ann->ends(0, qw(node set rack-8 --retired false --etag auto --dry-run))->{out},
        qr/\Acurl -X PATCH .*If-Match: W\/"[0-9a-f]{128}".*Ironic-API-Version: 1\.82.*json-patch\+json/, 'a line of curl';
    is $instance->change_count, $before, 'which sends nothing';
};

subtest 'lists' => sub {
    made('node', qw(--driver ipmi --owner acme --name), "n$_") for 10 .. 14;
    is join(',', lines($ann->ends(0, qw(node list --owner acme --columns name --format csv)))), 'name,n10,n11,n12,n13,n14', 'a filter';
    my @table = lines($ann->ends(0, qw(node list --driver fake-hardware)));
    like $table[0], qr/\AUUID +NAME +OWNER +DRIVER +STATE +MAINTENANCE\z/, 'a table';
    like $table[1], qr/\A$uuid{rack} +rack-7 +fake-hardware +enroll +false\z/, 'with its rows';
    is join(',', lines($ann->ends(0, qw(node list --owner acme --sort name:desc --limit 2 --columns name --format csv)))), 'name,n14,n13',
        'sorted, some of them';
    is_deeply $ann->json(qw(node list --owner acme --limit 1 --fields), 'name,driver'), [{ name => 'n10', driver => 'ipmi' }], 'fields';
    my ($first) = @{ $ann->json(qw(node list --owner acme --limit 1)) };
    ok exists $first->{driver_internal_info} && $first->{etag}, 'JSON tells whole ones';
    is join(',', lines($ann->ends(0, qw(node list --owner acme --columns name --format csv --marker), $first->{uuid}))), 'name,n11,n12,n13,n14',
        'from a marker on';
    like $ann->ends(0, qw(node list --long))->{out}, qr/\AUUID .* TRAITS +DESCRIPTION\n/, 'more columns';
    like $ann->ends(65, qw(node list --fields nonsense))->{err}, qr/nonsense/, 'no such field';
    like $ann->ends(65, qw(node list --provision-state nonsense))->{err}, qr/nonsense/, 'no such state';
    my $more = 120;
    for my $i (1 .. $more) {
        $admin->post('/baremetal/v1/nodes', json => { driver => 'redfish', name => "p$i" },
            headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' })->is_status(201);
    }
    is scalar @{ $ann->json(qw(node list --driver redfish --fields name)) }, $more, 'all pages';
};

subtest 'etags' => sub {
    $_->ends(0, qw(node show rack-7)) for $ann, $bob;
    $ann->ends(0, 'node', 'set', $uuid{rack}, qw(--extra a=10 --etag auto));
    my $run = $bob->ends(5, qw(node set rack-7 --extra a=11 --etag auto));
    like $run->{err}, qr/changed since you read it, by \S+ at 20\d\d-/, 'who was faster';
    like $run->{err}, qr/^  extra\.a  <- both changed it\n    base    \(none\)\n    yours   11\n    server  10\n/m, 'three values';
    $bob->ends(5, qw(node set rack-7 --extra a=11 --etag auto --retry));
    is node('rack-7')->{extra}{a}, 10, 'nothing is overwritten';
    $bob->ends(0, qw(node set rack-7 --extra b=20 --etag auto --retry));
    is_deeply [@{ node('rack-7')->{extra} }{qw(a b)}], [10, 20], 'other keys are merged';
    # What was shown or changed by its name is known by its UUID, and the other way round.
    $ann->ends(0, 'node', 'show', $uuid{rack});
    $ann->ends(0, qw(node set rack-7 --extra c=1 --etag auto));
    $ann->ends(0, 'node', 'unset', $uuid{rack}, qw(--extra c --etag auto));
    my $old = node('rack-7')->{etag};
    $ann->ends(0, 'node', 'set', 'rack-7', '--etag', $old, qw(--extra d=1));
    $bob->ends(5, 'node', 'set', 'rack-7', '--etag', $old, qw(--extra d=2));
    $ann->ends(5, 'node', 'delete', 'rack-7', '--yes', '--etag', $old);
    $bob->ends(0, qw(node show rack-7));
    $ann->ends(0, qw(node set rack-7 --name rack-seven --etag auto));
    $bob->ends(0, 'node', 'set', $uuid{rack}, qw(--extra e=1 --etag auto --retry));
    is node('rack-seven')->{extra}{e}, 1, 'merged over a new name, by UUID';
    $bob->ends(0, qw(node show rack-seven));
    $ann->ends(0, qw(node set rack-seven --extra e=2 --no-etag));
    like $bob->ends(5, qw(node set rack-seven --extra e=1 --extra f=1 --etag auto --retry))->{err}, qr/^  extra\.e  <- both changed it\n/m,
        'what a change names is wanted, also if it was so';
    $ann->ends(0, qw(node set rack-seven --name rack-7 --no-etag));
    my $other = made('node', qw(--driver fake-hardware --name rack-seven));
    my $mistaken = qr/^tenure: node rack-seven: what you read is not there any more, and another one has its name/;
    like $bob->ends(5, qw(node set rack-seven --extra f=1 --etag auto --retry))->{err}, $mistaken, 'not into another one that has the name now';
    my $tenure = Tenure::Instance::build_dir() . '/tenure';
    my $swap = "$tenure node set rack-seven --name rack-six --no-etag; $tenure node create --driver fake-hardware --name rack-seven >/dev/null;";
    like $bob->with(EDITOR => "$swap $^X -i -pe 's/\"name\": \"rack-seven\"/\"name\": \"rack-5\"/'")->ends(5, qw(node edit rack-seven --retry))->{err}, $mistaken,
        '... nor what an editor was opened for';
    $ann->ends(0, qw(node delete rack-seven rack-six --yes --no-etag));
};

subtest 'an editor' => sub {
    my $editor = sub { return "$^X -i -pe '$_[0]'" };
    my $with = sub { return $ann->with(EDITOR => $editor->($_[0])) };
    $with->('s/"note": "two words"/"note": "edited"/')->ends(0, qw(node edit rack-7));
    is node('rack-7')->{extra}{note}, 'edited', 'what it saves is sent';
    like $with->('s/x/x/')->ends(0, qw(node edit rack-7))->{err}, qr/unchanged/, 'nothing where nothing was changed';
    $with->('s/^  "description": .*\n//')->ends(0, qw(node edit rack-7));
    is node('rack-7')->{description}, undef, 'a line taken away gives the default';
    like $with->('s/"enroll"/"active"/')->ends(65, qw(node edit rack-7))->{err}, qr/provision_state.*your text is kept/s, 'refused, and kept';
    my $tenure = Tenure::Instance::build_dir() . '/tenure';
    my $sly = $ann->with(EDITOR => "$tenure node set rack-7 --extra other=1 --no-etag; " . $editor->('s/"edited"/"again"/'));
    $sly->ends(5, qw(node edit rack-7));
    my $again = $ann->with(EDITOR => "$tenure node set rack-7 --extra other=2 --no-etag; " . $editor->('s/"edited"/"again"/'));
    $again->ends(0, qw(node edit rack-7 --retry));
    is_deeply [@{ node('rack-7')->{extra} }{qw(note other)}], ['again', 2], 'merged with --retry';
};

subtest 'maintenance' => sub {
    $_->ends(0, qw(node show rack-7)) for $ann, $bob;
    $ann->ends(0, qw(node maintenance set rack-7 --reason), 'fan 3', qw(--etag auto));
    is_deeply [@{ node('rack-7') }{qw(maintenance maintenance_reason)}], [JSON::PP::true, 'fan 3'], 'set';
    like $bob->ends(5, qw(node maintenance set rack-7 --reason other --etag auto))->{err}, qr/^  maintenance_reason  <- both/m, 'not twice';
    $ann->ends(0, qw(node set rack-7 --extra m=1 --etag auto));
    is $ann->json(qw(node maintenance unset rack-7 --etag auto))->{maintenance}, JSON::PP::false, 'unset, by the etag it left';
    is node('rack-7')->{maintenance_reason}, undef, 'with its reason';
    $bob->ends(0, qw(node show rack-7));
    $ann->ends(0, qw(node set rack-7 --extra m=2 --etag auto));
    $bob->ends(0, qw(node maintenance set rack-7 --etag auto --retry));
    $bob->ends(0, qw(node show rack-7));
    $ann->ends(0, qw(node maintenance unset rack-7 --no-etag));
    like $bob->ends(5, qw(node maintenance set rack-7 --etag auto --retry))->{err}, qr/^  maintenance  <- both/m, 'not set again over an unset';
    $ann->ends(0, qw(node maintenance set rack-7 --no-etag));
    is join(',', lines($ann->ends(0, qw(node list --maintenance true --columns name --format csv)))), 'name,rack-7', 'listed';
    $ann->ends(0, qw(node maintenance unset rack-7 --no-etag));
    $ann->ends(1, qw(node maintenance set rack-9 --no-etag));
};

subtest 'traits' => sub {
    my $traits = sub { return join ',', lines($ann->ends(0, qw(node trait list rack-7 --format csv))) };
    is $traits->(), 'trait', 'none';
    $ann->ends(0, qw(node trait add rack-7 CUSTOM_RED CUSTOM_BLUE --no-etag));
    is $traits->(), 'trait,CUSTOM_BLUE,CUSTOM_RED', 'added';
    $bob->ends(0, qw(node show rack-7));
    $ann->ends(0, qw(node trait add rack-7 CUSTOM_GREEN --etag auto));
    $ann->ends(0, qw(node trait remove rack-7 CUSTOM_RED --etag auto));
    is $traits->(), 'trait,CUSTOM_BLUE,CUSTOM_GREEN', 'by their etags';
    like $bob->ends(5, qw(node trait add rack-7 CUSTOM_X --etag auto --retry))->{err}, qr/^  traits  <- both/m, 'not over another\'s';
    $bob->ends(0, qw(node show rack-7));
    $ann->ends(0, qw(node set rack-7 --extra t=1 --no-etag));
    $bob->ends(0, qw(node trait add rack-7 CUSTOM_X --etag auto --retry));
    is $traits->(), 'trait,CUSTOM_BLUE,CUSTOM_GREEN,CUSTOM_X', 'but beside another change';
    $ann->ends(0, qw(node trait set rack-7 CUSTOM_Z CUSTOM_A CUSTOM_A --no-etag));
    is $traits->(), 'trait,CUSTOM_A,CUSTOM_Z', 'exactly these';
    $bob->ends(0, qw(node show rack-7));
    $ann->ends(0, qw(node trait add rack-7 CUSTOM_B --no-etag));
    like $bob->ends(5, qw(node trait set rack-7 CUSTOM_A CUSTOM_Z --etag auto --retry))->{err}, qr/^  traits  <- both/m, 'not over one that another added';
    is $traits->(), 'trait,CUSTOM_A,CUSTOM_B,CUSTOM_Z', '... which stays';
    $ann->ends(1, qw(node trait remove rack-7 CUSTOM_GREEN --no-etag));
    like $ann->ends(65, qw(node trait add rack-7 nonsense --no-etag))->{err}, qr/nonsense/, 'none of the catalogue';
    $ann->ends(0, qw(node trait remove rack-7 --all --no-etag));
    is $traits->(), 'trait', 'none again';
};

subtest 'ports and port groups' => sub {
    $uuid{group} = made('portgroup', '--node', $uuid{rack}, qw(--name bond-7 --mode 802.3ad --property miimon=100));
    is_deeply [@{ $ann->json(qw(portgroup show bond-7)) }{qw(node_uuid mode properties)}], [$uuid{rack}, '802.3ad', { miimon => 100 }],
        'a port group';
    $uuid{port} = made('port', '--node', $uuid{rack}, qw(--address 52:54:00:00:00:01 --pxe-enabled true), '--port-group', $uuid{group},
        qw(--local-link-connection switch_id=0a:1b:2c:3d:4e:5f --local-link-connection port_id=1));
    is $ann->json(qw(port show --address 52:54:00:00:00:01))->{uuid}, $uuid{port}, 'a port by its address';
    like $ann->ends(0, 'port', 'show', $uuid{port}, qw(--format json))->{out}, qr/"port_id":\s*"1"/, 'port_id=1 is a text';
    $ann->ends(1, qw(port show --address 52:54:00:00:00:99));
    $ann->ends(0, 'port', 'set', $uuid{port}, qw(--physical-network rack --extra a=1 --etag auto));
    $ann->ends(0, 'port', 'unset', $uuid{port}, qw(--port-group --extra a --etag auto));
    is_deeply [@{ $ann->json('port', 'show', $uuid{port}) }{qw(physical_network portgroup_uuid extra)}], ['rack', undef, {}], 'changed';
    is_deeply [map { $_->{uuid} } @{ $ann->json(qw(port list --node rack-7)) }], [$uuid{port}], 'ports of a node';
    is_deeply $ann->json(qw(port list --node rack-8)), [], 'of another one';
    is_deeply $ann->json(qw(port list --port-group bond-7)), [], 'of a port group';
    is_deeply [map { $_->{name} } @{ $ann->json(qw(portgroup list --node rack-7 --fields name)) }], ['bond-7'], 'port groups of a node';
    $ann->ends(0, qw(portgroup set bond-7 --standalone-ports false --no-etag));
    $ann->ends(0, qw(portgroup unset bond-7 --property miimon --no-etag));
    my $group = $ann->json(qw(portgroup show bond-7));
    is_deeply [@$group{qw(standalone_ports_supported properties)}], [JSON::PP::false, {}], 'a port group changed';
    $ann->with(EDITOR => "$^X -i -pe 's/802.3ad/active-backup/'")->ends(0, qw(portgroup edit bond-7));
    is $ann->json(qw(portgroup show bond-7))->{mode}, 'active-backup', 'and edited';
    like $ann->ends(4, qw(port create --address 52:54:00:00:00:01 --node), $uuid{rack})->{err}, qr/52:54:00:00:00:01 already/, 'twice';
    like $ann->ends(0, qw(port list))->{out}, qr/\AUUID +ADDRESS +NODE\n$uuid{port} +52:54:00:00:00:01 +$uuid{rack}\n\z/, 'a table';
};

subtest 'chassis' => sub {
    $uuid{chassis} = made('chassis', '--description', 'row 3', qw(--extra row=3));
    $ann->ends(0, 'chassis', 'set', $uuid{chassis}, '--description', 'row 4', qw(--etag auto));
    $ann->ends(0, 'chassis', 'unset', $uuid{chassis}, qw(--extra row --etag auto));
    is_deeply [@{ $ann->json('chassis', 'show', $uuid{chassis}) }{qw(description extra)}], ['row 4', {}], 'changed';
    $ann->ends(0, 'node', 'set', 'rack-7', '--chassis-uuid', $uuid{chassis}, '--no-etag');
    is join(',', lines($ann->ends(0, 'node', 'list', '--chassis-uuid', $uuid{chassis}, qw(--columns name --format csv)))), 'name,rack-7',
        'its nodes';
    like $ann->ends(65, 'chassis', 'delete', $uuid{chassis}, qw(--yes --no-etag))->{err}, qr/contains nodes/, 'not while it has some';
    $ann->ends(0, qw(node unset rack-7 --chassis-uuid --no-etag));
    like $ann->ends(0, qw(chassis list))->{out}, qr/^$uuid{chassis} +row 4$/m, 'listed';
    $ann->ends(0, 'chassis', 'delete', $uuid{chassis}, qw(--yes --etag auto));
    $ann->ends(1, 'chassis', 'show', $uuid{chassis});
};

subtest 'drivers' => sub {
    like $ann->ends(0, qw(driver list))->{out}, qr/^NAME +TYPE +HOSTS\n(?:.*\n)*ipmi +/, 'listed';
    is $ann->json(qw(driver show ipmi))->{name}, 'ipmi', 'shown';
    is $ann->ends(0, qw(driver show ipmi fake-hardware --columns name --format csv))->{out}, "name\nipmi\nfake-hardware\n", 'two of them';
    $ann->ends(1, qw(driver show nonsense));
};

subtest 'moves' => sub {
    my $run = $ann->ends(0, qw(node move rack-7 globex --preview));
    like $run->{out}, qr{^nodes/$uuid{rack}\b}m, 'a preview';
    like $run->{out}, qr/ to globex, nothing in the way\. Tag: "[0-9a-f]{40}"$/m, 'with its tag';
    $ann->ends(0, qw(node set rack-7 --extra late=1 --no-etag));
    like $ann->ends(5, qw(node move rack-7 globex --if-match auto))->{err}, qr/look again/, 'refused after a change';
    $ann->ends(0, qw(node move rack-7 globex --preview));
    $ann->ends(0, qw(node move rack-7 globex --if-match auto));
    is node('rack-7')->{owner}, 'globex', 'moved';
    my $user = Tenure::Tool->new(url => $instance->env('TENURE_SERVICE_URL'), token => 'ann:globex:admin', tenant => 'globex');
    is_deeply [map { $_->{address} } @{ $user->json(qw(port list)) }], ['52:54:00:00:00:01'], 'with its ports';
    my $other = Tenure::Tool->new(url => $instance->env('TENURE_SERVICE_URL'), token => 'bob:acme:admin', tenant => 'acme');
    $other->ends(1, qw(node show rack-7));
    is scalar @{ $other->json(qw(node list)) }, 5, 'each sees its own';
    $other->ends(0, qw(node set n10 --extra mine=1 --no-etag));
    $ann->ends(0, qw(node set rack-7 --owner acme --no-etag));
    is $other->json(qw(node show rack-7))->{owner}, 'acme', 'by its owner, too';
    $ann->ends(1, qw(node move rack-7 nowhere --preview));
};

subtest 'deletion and recovery' => sub {
    my $etag = node('rack-7')->{etag};
    $ann->ends(64, qw(node delete rack-7 --no-etag));
    $ann->ends(0, qw(node delete rack-7 rack-8 --yes --no-etag));
    $ann->ends(1, 'port', 'show', $uuid{port});
    $ann->ends(5, 'nodes', 'recover', $uuid{rack}, qw(-t acme --etag W/00));
    $ann->ends(0, 'nodes', 'recover', $uuid{rack}, qw(-t acme --etag), $etag);
    is node('rack-7')->{etag}, $etag, 'back as it was';
    $ann->ends(0, 'port', 'delete', $uuid{port}, qw(--yes --no-etag));
    $ann->ends(0, qw(portgroup delete bond-7 --yes --no-etag));
    is_deeply $ann->json(qw(port list)), [], 'ports go alone, too';
};

done_testing;
