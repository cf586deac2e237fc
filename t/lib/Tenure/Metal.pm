# SPDX-License-Identifier: Apache-2.0
# The Bare Metal API, asked as one microversion, and what tests expect of its errors.
#
#   my $metal = Tenure::Metal->new($instance->service('ann:t1'), '1.82');
#   $metal->get('/nodes/n1')->is_status(200);
#   is_fault($metal->get('/nodes/none'), 404, qr/could not be found/);
package Tenure::Metal;

use strict;
use warnings;

use Exporter 'import';
use JSON::PP ();
use Test::More ();

use parent 'Tenure::Versioned';

our @EXPORT_OK = qw(is_fault fault_of);

# client: a Tenure::Client; version: undef for none. Paths stand below /baremetal/v1.
sub new {
    my ($class, $client, $version) = @_;
    return $class->SUPER::new(client => $client, version => $version, root => '/baremetal', prefix => '/baremetal/v1');
}

sub version_header { return ('X-OpenStack-Ironic-API-Version', $_[0]{version}) }

# patch(PATH, [[add => '/extra/a', 1], [remove => '/name'], …], …)
sub patch {
    my ($self, $path, $operations, %option) = @_;
    my @patch = map {
        my ($op, $at, @value) = @$_;
        +{ op => $op, path => $at, @value ? (value => $value[0]) : () }
    } @$operations;
    return $self->request('PATCH', $path, json => \@patch, %option);
}

# Makes an object, or fails the test file: make('nodes', { driver => … }) answers its document.
sub make {
    my ($self, $kind, $content) = @_;
    my $response = $self->post("/$kind", json => $content);
    $response->status == 201 or die "$kind: " . $response->describe . "\n";
    return $response->json;
}

# ---- errors

# What error_message holds: a hash.
sub fault_of {
    my ($response) = @_;
    my $message = $response->json->{error_message};
    return {} unless defined $message && !ref $message;
    return eval { JSON::PP->new->allow_nonref->decode($message) } // {};
}

# An error of that status whose text is like $text (a regular expression, or undef). With address => 1 one of those that
# tell of an address, with code, title and description.
sub is_fault {
    my ($response, $status, $text, $name, %option) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $fault = fault_of($response);
    my $told  = $option{address} ? $fault->{description} : $fault->{faultstring};
    my $code  = $status < 500 ? 'Client' : 'Server';
    my @wrong;
    push @wrong, 'status ' . $response->status if $response->status != $status;
    push @wrong, 'media type ' . $response->type if $response->type ne 'application/json';
    push @wrong, 'no text' unless length($told // '');
    push @wrong, "faultcode is not $code" if !$option{address} && ($fault->{faultcode} // '') ne $code;
    push @wrong, 'no debuginfo' if !$option{address} && !exists $fault->{debuginfo};
    push @wrong, 'its code' if $option{address} && ($fault->{code} // 0) != $status;
    push @wrong, "its text is not like $text" if defined $text && ($told // '') !~ $text;
    Test::More::ok(!@wrong, $name // "$response->{what}: a fault, $status")
        or Test::More::diag(join('; ', @wrong) . "\n" . $response->describe);
    return !@wrong;
}

1;
