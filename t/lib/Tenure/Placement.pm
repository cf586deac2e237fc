# SPDX-License-Identifier: Apache-2.0
# The Placement API, asked as one microversion, and what tests expect of its errors.
#
#   my $placement = Tenure::Placement->new($instance->placement, '1.39');
#   $placement->get('/traits')->is_status(200);
#   is_error($placement->get('/resource_providers/none'), 404, qr/No resource provider/);
package Tenure::Placement;

use strict;
use warnings;

use Exporter 'import';
use Test::More ();

use parent 'Tenure::Versioned';

our @EXPORT_OK = qw(is_error uuid);

my %sentence_of = (
    400 => 'The server could not comply with the request since it is either malformed or otherwise incorrect.',
    403 => 'Access was denied to this resource.',
    404 => 'The resource could not be found.',
    409 => 'There was a conflict when trying to complete your request.',
);
my %title_of = (400 => 'Bad Request', 403 => 'Forbidden', 404 => 'Not Found', 405 => 'Method Not Allowed',
    406 => 'Not Acceptable', 409 => 'Conflict', 412 => 'Precondition Failed', 415 => 'Unsupported Media Type');

# client: a Tenure::Client; version: "1.39", "latest", undef for none. root: what it is mounted at.
sub new {
    my ($class, $client, $version, $root) = @_;
    return $class->SUPER::new(client => $client, version => $version, root => $root // '');
}

sub version_header { return ('OpenStack-API-Version', "placement $_[0]{version}") }

# A random one (version 4), in lower case.
sub uuid {
    my @byte = map { int rand 256 } 1 .. 16;
    $byte[6] = $byte[6] & 0x0f | 0x40;
    $byte[8] = $byte[8] & 0x3f | 0x80;
    return join '-', unpack 'a8 a4 a4 a4 a12', unpack 'H*', pack 'C*', @byte;
}

# ---- what most tests begin with; each fails the test file when it is refused

sub must {
    my ($response, @statuses) = @_;
    return $response if grep { $response->status == $_ } @statuses;
    die $response->describe . "\n";
}

# provider('name', uuid => …, parent => …): its uuid.
sub provider {
    my ($self, $name, %option) = @_;
    my $uuid = $option{uuid} // uuid();
    must($self->version('1.39')->post('/resource_providers', json => { name => $name, uuid => $uuid,
        $option{parent} ? (parent_provider_uuid => $option{parent}) : () }), 200);
    return $uuid;
}

sub generation {
    my ($self, $uuid) = @_;
    return must($self->get("/resource_providers/$uuid"), 200)->json->{generation};
}

# inventories($uuid, VCPU => { total => 8 }, …): these and no others.
sub inventories {
    my ($self, $uuid, %inventory) = @_;
    return must($self->version('1.39')->put("/resource_providers/$uuid/inventories",
        json => { resource_provider_generation => $self->generation($uuid) + 0, inventories => \%inventory }), 200);
}

# traits($uuid, NAME, …): custom ones are made.
sub traits {
    my ($self, $uuid, @names) = @_;
    must($self->version('1.39')->put("/traits/$_"), 201, 204) for grep { /\ACUSTOM_/ } @names;
    return must($self->version('1.39')->put("/resource_providers/$uuid/traits",
        json => { resource_provider_generation => $self->generation($uuid) + 0, traits => \@names }), 200);
}

sub aggregates {
    my ($self, $uuid, @aggregates) = @_;
    return must($self->version('1.18')->put("/resource_providers/$uuid/aggregates", json => \@aggregates), 200);
}

# allocate($consumer, { $provider => { VCPU => 2 } }, project => …, user => …): the answer.
sub allocate {
    my ($self, $consumer, $allocations, %option) = @_;
    return $self->version('1.27')->put("/allocations/$consumer", json => {
        allocations => { map { $_ => { resources => $allocations->{$_} } } keys %$allocations },
        project_id  => $option{project} // 'project', user_id => $option{user} // 'user' });
}

# ---- errors

# An error of that status whose text is like $text (a regular expression, or undef). code: without "placement.".
sub is_error {
    my ($response, $status, $text, %option) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $error = ($response->json->{errors} // [])->[0] // {};
    my $code  = defined $option{code} ? "placement.$option{code}" : 'placement.undefined_code';
    my @wrong;
    push @wrong, 'status ' . $response->status if $response->status != $status;
    push @wrong, 'media type ' . $response->type if $response->type ne 'application/json';
    push @wrong, 'its status' if ($error->{status} // 0) != $status;
    push @wrong, 'its title' if $title_of{$status} && ($error->{title} // '') ne $title_of{$status};
    push @wrong, 'its sentence' if $sentence_of{$status} && ($error->{detail} // '') !~ /\A\Q$sentence_of{$status}\E\n\n /;
    push @wrong, 'its request id' if ($error->{request_id} // '') ne ($response->header('x-openstack-request-id') // '-');
    push @wrong, 'code ' . $error->{code} if defined $error->{code} && $error->{code} ne $code;
    push @wrong, 'no code' if defined $option{code} && !defined $error->{code};
    push @wrong, "its text is not like $text" if defined $text && ($error->{detail} // '') !~ $text;
    Test::More::ok(!@wrong, $option{name} // "$response->{what}: an error, $status")
        or Test::More::diag(join('; ', @wrong) . "\n" . $response->describe);
    return !@wrong;
}

1;
