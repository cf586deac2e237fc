# SPDX-License-Identifier: Apache-2.0
# An HTTP client for tests: sends paths exactly as given, follows nothing, and answers Tenure::Response.
package Tenure::Client;

use strict;
use warnings;

use HTTP::Tiny;
use JSON::PP ();
use Test::More ();
use Time::HiRes ();

use Tenure::Response;

my $json = JSON::PP->new->utf8->canonical->allow_nonref;

# HTTP::Tiny sends PUT and DELETE a second time when the connection breaks off in the answer. The first one may have been done, and what is
# told then belongs to the second one: that there is nothing to be deleted, for example. Here these are answered 599, as POST is.
package Tenure::Client::HTTP {
    use parent -norequire, 'HTTP::Tiny';

    sub _request {
        my ($self, $method, @rest) = @_;
        my $answer = eval { $self->SUPER::_request($method, @rest) };
        return $answer if defined $answer;
        # By these words it is told what may be sent again; a hash is an answer.
        die ref $@ || $method !~ /\A(?:PUT|DELETE)\z/ ? $@ : "the answer broke off: $@";
    }
}

# url: of an endpoint, without the last '/'; token: sent with each request that brings none of its own (undef: none).
sub new {
    my ($class, %option) = @_;
    my $http = Tenure::Client::HTTP->new(max_redirect => 0, keep_alive => 0, timeout => $option{timeout} // 60, proxy => undef, http_proxy => undef, agent => 'tenure-test');
    return bless { url => $option{url}, token => $option{token}, http => $http }, $class;
}

sub url { return $_[0]{url} }

# The same endpoint, asked by somebody else.
sub as {
    my ($self, $token) = @_;
    return bless { %$self, token => $token }, ref $self;
}

# The path of an absolute URL that this endpoint answered with.
sub path_of {
    my ($self, $url) = @_;
    return $url unless defined $url;
    $url =~ s/\A\Q$self->{url}\E//;
    return $url;
}

# Options: as => token; headers => {...}; json => value; patch => value (a merge patch); xml => text;
# body => bytes with type => media type; if_match, if_none_match, accept, prefer => header values.
sub request {
    my ($self, $method, $path, %option) = @_;
    my %header = %{ $option{headers} // {} };
    my $token  = exists $option{as} ? $option{as} : $self->{token};
    $header{'X-Auth-Token'}  = $token                  if defined $token;
    $header{'If-Match'}      = $option{if_match}       if defined $option{if_match};
    $header{'If-None-Match'} = $option{if_none_match}  if defined $option{if_none_match};
    $header{'Accept'}        = $option{accept}         if defined $option{accept};
    $header{'Prefer'}        = $option{prefer}         if defined $option{prefer};
    my ($body, $type) = _body(\%option);
    $header{'Content-Type'} = $type if defined $type;
    my $url    = $path =~ m{\Ahttps?://} ? $path : $self->{url} . $path;
    my $answer = $self->{http}->request($method, $url, { headers => \%header, defined $body ? (content => $body) : () });
    _record($method, $self->path_of($url), \%header, $body, $answer) if $ENV{TENURE_EXAMPLES};
    return Tenure::Response->new($answer, "$method $path");
}

# TENURE_EXAMPLES=FILE: a line for each request and its answer, of which `scripts/api-reference pick` takes examples.
sub _record {
    my ($method, $path, $header, $body, $answer) = @_;
    # A description in WADL is long, and nowhere else to be seen.
    return if $answer->{status} >= 500 || length($answer->{content} // '') > ($path =~ /\.wadl\z/ ? 500_000 : 20_000) || length($body // '') > 4000;
    my %sent = map { $_ => $header->{$_} } grep { !/token|authorization/i } keys %$header;
    my %got  = map { $_ => $answer->{headers}{$_} } grep { defined $answer->{headers}{$_} } qw(content-type etag location);
    open my $file, '>>', $ENV{TENURE_EXAMPLES} or die "$ENV{TENURE_EXAMPLES}: $!\n";
    syswrite $file, $json->encode({ method => $method, path => $path, sent => \%sent, body => $body, status => $answer->{status} + 0,
        got => \%got, answer => $answer->{content} }) . "\n";
    close $file;
    return;
}

sub _body {
    my ($option) = @_;
    return ($json->encode($option->{json}),  'application/json')             if exists $option->{json};
    return ($json->encode($option->{patch}), 'application/merge-patch+json') if exists $option->{patch};
    return ($option->{xml},                  'application/xml')              if exists $option->{xml};
    return ($option->{body}, $option->{type});
}

sub get     { my ($self, @rest) = @_; return $self->request('GET',     @rest) }
sub head    { my ($self, @rest) = @_; return $self->request('HEAD',    @rest) }
sub put     { my ($self, @rest) = @_; return $self->request('PUT',     @rest) }
sub post    { my ($self, @rest) = @_; return $self->request('POST',    @rest) }
sub delete  { my ($self, @rest) = @_; return $self->request('DELETE',  @rest) }
sub options { my ($self, @rest) = @_; return $self->request('OPTIONS', @rest) }

# patch(PATH, VALUE, …): a merge patch.
sub patch {
    my ($self, $path, $value, %option) = @_;
    return $self->request('PATCH', $path, patch => $value, %option);
}

# Follows the links to the next pages of a list, from the page at that path. Returns the answers, in their order. Dies if one is not 200 or
# the links do not end. Options: between => a function that is called behind each page, with the
# number of pages so far; others as of request().
sub pages {
    my ($self, $path, %option) = @_;
    my $between = delete $option{between} // sub { };
    my @pages;
    while (defined $path) {
        my $page = $self->get($path, %option);
        $page->status == 200 or die $page->describe . "\n";
        push @pages, $page;
        @pages <= 1000 or die "the links to next pages go round, from $path\n";
        $path = $self->path_of($page->next);
        $between->(scalar @pages);
    }
    return @pages;
}

# What all pages of a list have in that member, such as "resources".
sub list {
    my ($self, $path, $member, %option) = @_;
    return map { @{ $_->json->{$member} } } $self->pages($path, %option);
}

# ---- what most tests begin with

# Makes a tenant, or fails the test file.
sub make_tenant {
    my ($self, $id, %content) = @_;
    my $response = $self->put("/v2.0/$id", json => { tenant => \%content });
    $response->status == 201 or die "tenant $id: " . $response->describe . "\n";
    return $response;
}

# Puts a resource, or fails the test file.
sub make {
    my ($self, $path, $content) = @_;
    my $response = $self->put($path, json => $content // {});
    $response->status == 201 or die "$path: " . $response->describe . "\n";
    return $response;
}

1;
