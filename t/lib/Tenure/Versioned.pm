# SPDX-License-Identifier: Apache-2.0
# A client of an API with microversions, which sends the same version with each request. A subclass has version_header(): name and value
# of the header field that names the version.
package Tenure::Versioned;

use strict;
use warnings;

# client: a Tenure::Client; version: undef for none; root: the path of the API, '' where it has the whole endpoint;
# prefix: what stands before each path, the root where it is left out.
sub new {
    my ($class, %member) = @_;
    return bless { prefix => $member{root}, %member }, $class;
}

sub version { my ($self, $version) = @_; return bless { %$self, version => $version }, ref $self }
sub as      { my ($self, $token)   = @_; return bless { %$self, client => $self->{client}->as($token) }, ref $self }
sub client  { return $_[0]{client} }
sub url     { return $_[0]{client}->url . $_[0]{root} }

# Options as Tenure::Client has them; path below the prefix, or a whole URL.
sub request {
    my ($self, $method, $path, %option) = @_;
    my %header = %{ $option{headers} // {} };
    if (defined $self->{version}) {
        my ($name, $value) = $self->version_header;
        $header{$name} //= $value;
    }
    my $where = $path =~ m{\Ahttps?://} ? $path : "$self->{prefix}$path";
    return $self->{client}->request($method, $where, %option, headers => \%header);
}

sub get    { my ($self, @rest) = @_; return $self->request('GET',    @rest) }
sub head   { my ($self, @rest) = @_; return $self->request('HEAD',   @rest) }
sub put    { my ($self, @rest) = @_; return $self->request('PUT',    @rest) }
sub post   { my ($self, @rest) = @_; return $self->request('POST',   @rest) }
sub delete { my ($self, @rest) = @_; return $self->request('DELETE', @rest) }

1;
