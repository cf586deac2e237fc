# SPDX-License-Identifier: Apache-2.0
# An answer, and what tests expect of answers.
package Tenure::Response;

use strict;
use warnings;

use JSON::PP ();
use Test::More ();

use Tenure::XML;

# answer: as HTTP::Tiny gives it; what: "GET /path".
sub new {
    my ($class, $answer, $what) = @_;
    substr $what, 100, length($what) - 110, '...' if length $what > 120;
    return bless { %$answer, what => $what }, $class;
}

sub status { return $_[0]{status} }
sub text   { return $_[0]{content} // '' }

# Several fields of one name are joined, as RFC 9110 section 5.3 has it.
sub header {
    my ($self, $name) = @_;
    my $value = $self->{headers}{ lc $name };
    return ref $value ? join ', ', @$value : $value;
}

sub type {
    my ($self) = @_;
    return ($self->header('content-type') // '') =~ s/\s*;.*//sr;
}

sub json {
    my ($self) = @_;
    return $self->{json} //= eval { JSON::PP->new->utf8->allow_nonref->allow_bignum(0)->decode($self->text) } // {};
}

sub xml {
    my ($self) = @_;
    return $self->{xml} //= Tenure::XML::parse($self->text);
}

sub etag       { return $_[0]->header('etag') }
sub location   { return $_[0]->header('location') }
sub request_id { return $_[0]->header('x-request-id') }

# The address of a list's next page; undef if this is the last one.
sub next {
    my ($self) = @_;
    return $self->type eq 'application/xml' ? $self->xml->{attributes}{next} : $self->json->{next};
}

# The detail of a problem document, for messages.
sub detail {
    my ($self) = @_;
    return $self->json->{detail} // '' if $self->type eq 'application/problem+json';
    return $self->text;
}

sub describe {
    my ($self) = @_;
    return "$self->{what} answered $self->{status} " . substr $self->text, 0, 1000;
}

# ---- assertions; each is one test

sub is_status {
    my ($self, $status, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return Test::More::is($self->status, $status, $name // "$self->{what}: $status")
        || (Test::More::diag($self->describe), 0)[1];
}

# A problem document (RFC 9457) of this status whose type ends with the outcome's name, if given.
sub is_problem {
    my ($self, $status, $outcome, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $problem = $self->json;
    $outcome =~ tr/_/-/ if defined $outcome;
    my @wrong;
    push @wrong, "status $self->{status}" if $self->status != $status;
    push @wrong, 'media type ' . $self->type if $self->type ne 'application/problem+json';
    push @wrong, 'its status ' . ($problem->{status} // 'none') if ($problem->{status} // 0) != $status;
    push @wrong, 'its request_id differs from X-Request-Id' if ($problem->{request_id} // '') ne ($self->request_id // '-');
    push @wrong, 'type ' . ($problem->{type} // 'none') if $outcome && ($problem->{type} // '') !~ /:\Q$outcome\E\z/i;
    push @wrong, 'no title' unless length($problem->{title} // '');
    Test::More::ok(!@wrong, $name // "$self->{what}: a problem, $status" . ($outcome ? " $outcome" : ''))
        or Test::More::diag(join('; ', @wrong) . "\n" . $self->describe);
    return !@wrong;
}

# A Status of the Kubernetes API of that code and reason, with a message like this.
sub is_failure {
    my ($self, $code, $reason, $message, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $status = $self->json;
    my %want   = (kind => 'Status', apiVersion => 'v1', status => 'Failure', code => $code, reason => $reason);
    my $is_so  = $self->status == $code && !grep({ ($status->{$_} // '') ne $want{$_} } keys %want) && ($status->{message} // '') =~ $message;
    return Test::More::ok($is_so, $name) || (Test::More::diag($self->describe), 0)[1];
}

sub header_is {
    my ($self, $header, $value, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return Test::More::is($self->header($header), $value, $name // "$self->{what}: $header");
}

1;
