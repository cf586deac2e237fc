# SPDX-License-Identifier: Apache-2.0
# Bombs for moves, bare metal and placement, and FastCGI parameters as no web server sends them. Each sub is a group.
package Tenure::Bombs::Services;

use strict;
use warnings;

use JSON::PP ();
use Tenure::Placement ();

use constant LARGE => 900_000;

my $encode = JSON::PP->new->utf8->canonical->allow_nonref;
my @json_patch = (type => 'application/json-patch+json');
my %ironic     = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
my %placement  = (headers => { 'OpenStack-API-Version' => 'placement 1.39' });

# A move with very many blockers: the other tenant has all names.
sub moves {
    my ($self) = @_;
    my ($operator, $tenant) = @$self{qw(operator tenant)};
    my $n = $self->{blockers} // 300;
    for my $of ($tenant, "$tenant-other") {
        my $maps = "/v2.0/$of/namespaces/default/configmaps";
        $self->store(sub { my $i = $_; $operator->put("$maps/" . 'blocker-' x 20 . $i, json => { data => { i => "$i" } }) }) for 1 .. $n;
    }
    for my $accept ('application/json', 'application/xml') {
        $self->bomb("moves: a preview with $n blockers as $accept", sub { $operator->get("/v2.0/$tenant/action/move?dest=$tenant-other", accept => $accept) }, 200);
        $self->bomb("moves: one with $n blockers as $accept", sub { $operator->post("/v2.0/$tenant/action/move?dest=$tenant-other", accept => $accept) }, 409);
    }
    $self->bomb('moves: the change log', sub { $operator->get("/v2.0/$tenant/changes?limit=100000") }, 200, 400);
    $operator->delete("/v2.0/$tenant-other/namespaces/default/configmaps/" . 'blocker-' x 20 . $_) for 1 .. $n;
    $operator->delete("/v2.0/$tenant/namespaces/default/configmaps/" . 'blocker-' x 20 . $_) for 1 .. $n;
    return;
}

sub metal {
    my ($self) = @_;
    my $operator = $self->{operator};
    my $n = $self->{nodes} // 40;
    my $make = sub { my (%extra) = @_; my $answer = $operator->post('/baremetal/v1/nodes', json => { driver => 'fake-hardware', %extra }, %ironic); return $answer->status == 201 ? $answer->json->{uuid} : undef };
    my $large = 'x' x LARGE;
    my $one = $self->store(sub { $make->(extra => { s => $large }) }) // 'none';
    my $path = "/baremetal/v1/nodes/$one";
    my $patch = sub { my ($what, $ops, @may) = @_; my $body = $encode->encode($ops); $self->bomb("metal: $what", sub { $operator->request('PATCH', $path, body => $body, @json_patch, %ironic) }, @may) };
    $patch->('copies in a node', [map { { op => 'copy', from => '/extra/s', path => "/extra/c$_" } } 1 .. 3000], 400, 413);
    $patch->('many members', [map { { op => 'add', path => "/extra/m$_", value => {} } } 1 .. 30_000], 200, 400, 413);
    $patch->('a deep extra', [{ op => 'add', path => '/extra/d', value => eval { my $d = {}; $d = { a => $d } for 1 .. 60; $d } }], 200, 400, 413);
    $self->bomb('metal: a large node', sub { $operator->get($path, %ironic) }, 200);
    $self->bomb('metal: fields again and again', sub { $operator->get("$path?fields=" . join(',', ('extra') x 800), %ironic) }, 200, 400, 422);
    my @nodes = grep { defined } map { $self->store(sub { $make->(extra => { s => 'y' x 250_000 }, description => 'd' x 4000) }) } 1 .. $n;
    for my $query ('', '/detail', '?fields=extra', '?fields=uuid,extra,driver_info,properties,instance_info', '?detail=True', '?detail=True&sort_key=name&sort_dir=desc', '?fields=' . join(',', ('extra') x 500), '?description_contains=' . 'd' x 3000,
        '?limit=1000&detail=True') {
        $self->bomb('metal: nodes' . substr($query, 0, 40), sub { $operator->get("/baremetal/v1/nodes$query", %ironic) }, 200, 400, 422);
    }
    $self->bomb('metal: traits', sub { $operator->put("$path/traits", json => { traits => [map { "CUSTOM_T$_" } 1 .. 100_000] }, %ironic) }, 204, 400, 413, 422);
    $self->bomb('metal: a large POST', sub { $operator->post('/baremetal/v1/nodes?x=', json => { driver => 'fake-hardware', extra => { map { ("m$_" => []) } 1 .. 60_000 } }, %ironic) }, 201, 400, 413);
    $self->bomb('metal: many chassis in one', sub { $operator->post('/baremetal/v1/chassis', json => { description => 'd' x 2_000_000, extra => { l => [([]) x 200_000] } }, %ironic) }, 201, 400, 413);
    $operator->delete("/baremetal/v1/nodes/$_", %ironic) for $one, @nodes;
    return;
}

sub providers {
    my ($self) = @_;
    my $placement = $self->{placement};
    my $n = $self->{providers} // 300;
    my $uuid = sub { return Tenure::Placement::uuid() };
    my @may = (200, 204, 400, 404, 409, 413, 414, 422);
    my $answer = $self->store(sub { $placement->post('/resource_providers', json => { name => $self->fresh }, %placement) });
    my $first = $answer->json->{uuid};
    $self->store(sub { $placement->put("/resource_providers/$first/inventories", json => { resource_provider_generation => 0, inventories => { VCPU => { total => 2_000_000 } } }, %placement) });
    my @all = map { $self->store(sub { $placement->post('/resource_providers', json => { name => $self->fresh . 'n' x 180 }, %placement) })->json->{uuid} // () } 1 .. $n;
    my $allocation = sub { my ($of, $consumer) = @_; return { allocations => $of, project_id => 'p', user_id => 'u', consumer_generation => undef, consumer_type => 'INSTANCE' } };
    my $put = sub { my ($what, $path, $json) = @_; my $body = $encode->encode($json); $self->bomb("placement: $what", sub { $placement->put($path, body => $body, type => 'application/json', %placement) }, @may) };
    $put->('an allocation of many providers', '/allocations/' . $uuid->(), $allocation->({ map { ($uuid->() => { resources => { VCPU => 1 } }) } 1 .. 15_000 }));
    $put->('an allocation of many classes', '/allocations/' . $uuid->(), $allocation->({ $first => { resources => { map { ("CUSTOM_C$_" => 1) } 1 .. 60_000 } } }));
    $put->('mappings', '/allocations/' . $uuid->(), { %{ $allocation->({ $first => { resources => { VCPU => 1 } } }) }, mappings => { '' => [map { $uuid->() } 1 .. 40_000] } });
    my $many = $encode->encode({ map { ($uuid->() => $allocation->({ $first => { resources => { VCPU => 1 } } })) } 1 .. 8000 });
    $self->bomb('placement: very many consumers', sub { $placement->post('/allocations', body => $many, type => 'application/json', %placement) }, @may);
    my $some = $encode->encode({ map { ($uuid->() => $allocation->({ $first => { resources => { VCPU => 1 } } })) } 1 .. 1500 });
    $self->bomb('placement: many consumers', sub { $placement->post('/allocations', body => $some, type => 'application/json', %placement) }, @may);
    $self->bomb('placement: the allocations of one', sub { $placement->get("/resource_providers/$first/allocations", %placement) }, @may);
    $self->bomb('placement: the usages', sub { $placement->get('/usages?project_id=p', %placement) }, @may);
    $put->('many inventories', "/resource_providers/$all[0]/inventories", { resource_provider_generation => 0, inventories => { map { ("CUSTOM_C$_" => { total => 1 }) } 1 .. 40_000 } }) if @all;
    $put->('many traits', "/resource_providers/$first/traits", { resource_provider_generation => 1, traits => [map { "CUSTOM_T$_" } 1 .. 100_000] });
    $put->('many aggregates', "/resource_providers/$first/aggregates", { resource_provider_generation => 1, aggregates => [map { $uuid->() } 1 .. 60_000] });
    my $long = sub { my ($unit, $separator) = @_; return join $separator, map { my $u = $unit; ref $u ? $u->() : $u } 1 .. 7000 / ((ref $unit ? 36 : length $unit) + length $separator) };
    for my $query ('', '?required=' . $long->('HW_CPU_X86_AVX', ','), '?required=in:' . $long->('HW_CPU_X86_AVX', ','), '?required=!' . $long->('HW_CPU_X86_AVX', ',!'), '?' . $long->('required=HW_CPU_X86_AVX', '&'),
        '?' . $long->('required=in:HW_CPU_X86_AVX,HW_CPU_X86_SSE', '&'), '?member_of=in:' . $long->($uuid, ','), '?member_of=!in:' . $long->($uuid, ','), '?' . $long->('member_of=' . $uuid->(), '&'),
        '?resources=' . $long->('VCPU:1', ','), '?resources=VCPU:' . '9' x 5000, '?name=' . 'n' x 5000, '?in_tree=' . $first) {
        $self->bomb('placement: providers' . substr($query, 0, 40), sub { $placement->get("/resource_providers$query", %placement) }, @may);
    }
    $self->bomb('placement: traits in a list', sub { $placement->get('/traits?name=in:' . $long->('HW_CPU_X86_AVX', ','), %placement) }, @may);
    $self->bomb('placement: traits by a prefix', sub { $placement->get('/traits?name=startswith:' . 'H' x 5000, %placement) }, @may);
    $self->bomb('placement: all traits', sub { $placement->get('/traits', %placement) }, @may);
    $self->bomb('placement: all classes', sub { $placement->get('/resource_classes', %placement) }, @may);
    return;
}

# Parameters, as what reaches the socket past any web server may send them: to "combined" there.
sub params {
    my ($self) = @_;
    my $socket = $self->{socket} // return;
    require Tenure::FastCGI;
    my $send = sub {
        my ($raw) = @_;
        return sub {
            Tenure::Bombs::HTTP->count->{sent} += length $raw;
            my $fcgi = Tenure::FastCGI->try_connect($socket, timeout => 60);
            $fcgi->send_raw($fcgi->record(1, pack 'nCx5', 1, 0) . $fcgi->stream(4, $raw) . $fcgi->stream(5, ''));
            my $answer = eval { $fcgi->read_response };
            return Tenure::Bombs::Raw->new($answer ? $answer->{status} : 0, $answer ? $answer->{body} : $@);
        };
    };
    my $fcgi = bless {}, 'Tenure::FastCGI';
    my $usual = $fcgi->pairs(Tenure::FastCGI::params(uri => '/v2.0'));
    $self->bomb('parameters: equal header fields', $send->($usual . $fcgi->pairs(HTTP_A => 'b') x 60_000), 0);
    $self->bomb('parameters: a claimed length', $send->($usual . "\x01" . pack('N', 0x80000000 | 2_000_000_000) . 'a'), 0);
    $self->bomb('parameters: a claimed length of a name', $send->($usual . pack('N', 0xffffffff) . pack('N', 0xffffffff) . 'a'), 0);
    $self->bomb('parameters: a large one', $send->($usual . $fcgi->pairs(HTTP_A => 'b' x 20_000_000)), 0);
    $self->bomb('parameters: very many', $send->($usual . $fcgi->pairs(A => 'b') x 2_000_000), 0);
    return;
}

# As much of Tenure::Response as bomb() asks.
package Tenure::Bombs::Raw {
    sub new { my ($class, $status, $text) = @_; return bless { status => $status, text => $text }, $class }
    sub status { return $_[0]{status} }
    sub text   { return $_[0]{text} }
}

1;
