# SPDX-License-Identifier: Apache-2.0
# Bombs made at random: documents, patches and addresses, by the seed.
package Tenure::Bombs::Generated;

use strict;
use warnings;

use Tenure::Placement ();

my $table  = 'application/json;as=Table;v=v1;g=meta.k8s.io';
my %ironic     = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
my %placement  = (headers => { 'OpenStack-API-Version' => 'placement 1.39' });
my $core = '/api/v1/namespaces/default';
my $crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

sub pick { my (@from) = @_; return $from[rand @from] }
sub about { my ($most) = @_; return int exp(rand(log($most))) + 1 }

# A JSON text of up to that many bytes, some small thing repeated and wrapped.
sub random_json {
    my ($room) = @_;
    my $unit  = pick('{}', '[]', '""', '0', '-1.5e3', 'null', 'true', '{"a":{}}', '[[[]]]', '"\u0001\u0002"', '"<&>"', '"\u00e4\ud83d\ude00"', '{"name":"%d"}', '{"k":[1,2,{"x":null}]}', '"' . 'x' x about(5000) . '"');
    my $count = about($room / (length($unit) + 1));
    my @items = map { $unit =~ s/%d/$_/r } 1 .. $count;
    my $text  = rand() < 0.5 ? '[' . join(',', @items) . ']' : '{' . join(',', map { qq("m$_":$items[$_ - 1]) } 1 .. $count) . '}';
    my $depth = rand() < 0.2 ? about(70) : about(4);
    $text = (rand() < 0.5 ? "[$text]" : qq({"d":$text})) for 1 .. $depth;
    return substr($text, 0, 1) eq '{' ? $text : qq({"l":$text});
}

sub random_patch {
    my ($value) = @_;
    my @paths = ('', '/data', '/data/v', '/data/v/l', '/data/v/l/0', '/data/v/l/-', '/x', '/data/c%d');
    my @ops = map {
        my ($op, $path, $from) = (pick(qw(add copy copy copy move test replace remove)), pick(@paths) =~ s/%d/$_/r, pick(@paths) =~ s/%d/1/r);
        $op =~ /copy|move/ ? qq({"op":"$op","from":"$from","path":"$path"}) : $op eq 'remove' ? qq({"op":"$op","path":"$path"}) : qq({"op":"$op","path":"$path","value":$value})
    } 1 .. about(length $value > 1000 ? 20 : 5000);
    return '[' . join(',', @ops) . ']';
}

# Stores something random and asks for it in random ways.
sub generated {
    my ($self, $n) = @_;
    my ($acme, $maps, $operator) = @$self{qw(acme maps operator)};
    my @may = (200, 201, 204, 400, 403, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 422, 431);
    my ($share, @accepts) = ($self->{share}, 'application/json', 'application/xml', $table, "$table;includeObject=Object", 'application/yaml', 'application/vnd.kubernetes.protobuf', '*/*');
    local $self->{share} = 1;
    for my $i (1 .. $n) {
        my ($name, $text) = ($self->fresh, random_json(about(2_500_000)));
        my $body  = pick(qq({"data":{"v":$text}}), qq({"metadata":{"labels":$text}}), qq({"metadata":{"name":"$name","annotations":$text}}), qq({"data":{"s":"x"},"v":$text}));
        my $title = sub { my ($what) = @_; return "generated $i: $what, " . length($body) . ' bytes' };
        $self->bomb($title->('PUT'), sub { $acme->put("$maps/$name", body => $body, type => 'application/json') }, @may);
        for (1 .. 3) {
            my $accept = pick(@accepts);
            my $path = pick("$maps/$name", $maps, "$core/configmaps/$name", "$core/configmaps", "$core/configmaps?limit=" . about(1000), "$maps?limit=" . about(1000));
            my $at = time;
            $self->bomb($title->("GET $path as $accept"), sub { $acme->get($path, accept => $accept) }, @may);
        }
        my $kind = pick('application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json', 'application/apply-patch+yaml');
        my $patch = $kind =~ /json-patch/ ? random_patch(rand() < 0.5 ? $text : '{}') : pick(qq({"data":{"v":$text}}), qq({"data":$text}), $text);
        my $path = $kind =~ /json-patch|merge-patch/ && $kind !~ /strategic/ ? pick("$maps/$name", "$core/configmaps/$name") : "$core/configmaps/$name";
        $self->bomb($title->("PATCH as $kind"), sub { $acme->request('PATCH', $path, body => $patch, type => $kind) }, @may);
        $self->bomb($title->('a kind'), sub { $acme->post(pick("$core/pods", "$core/services", "$core/secrets", $crds, '/api/v1/namespaces'), body => $text, type => 'application/json') }, @may);
        $self->bomb($title->('a node'), sub { $operator->post('/baremetal/v1/nodes', body => qq({"driver":"fake-hardware","extra":$text}), type => 'application/json', %ironic) }, @may);
        $self->bomb($title->('placement'), sub { $self->{placement}->request(pick(['POST', '/resource_providers'], ['POST', '/allocations'], ['PUT', '/allocations/' . Tenure::Placement::uuid()])->@*, body => $text, type => 'application/json', %placement) }, @may);
        $self->bomb($title->('a tenant'), sub { $operator->put("/v2.0/$self->{tenant}-other", body => qq({"tenant":{"metadata":$text}}), type => 'application/json') }, @may);
        $acme->delete("$maps/$name");
    }
    return;
}

1;
