# SPDX-License-Identifier: Apache-2.0
# The undo of what a request changed, as clients ask for it, and what is in the way of one.
package Tenure::Undo;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT_OK = qw(undo_path blockers reasons blocked details);

# The path of the undo of a request's changes, as that tenant asks for it; 'system' for those of providers and their allocations. GET previews
# it, POST does it. request: the answer to the request, or the request's id.
sub undo_path {
    my ($tenant, $request) = @_;
    my $id = ref $request ? $request->request_id : $request;
    return "/v2.0/$tenant/changes/$id/undo";
}

# What is in the way of a move or an undo, as its preview or its refusal says: { reason, resource, detail } each.
sub blockers {
    my ($answer) = @_;
    my $document = $answer->json;
    return @{ ($document->{move} // $document)->{blockers} // [] };
}

# The reasons alone, sorted; each as often as it was given.
sub reasons { my ($answer) = @_; return [sort map { $_->{reason} } blockers($answer)] }

# The same with the resources: ["namespaces/n/configmaps/c name-taken", …].
sub blocked { my ($answer) = @_; return [sort map { "$_->{resource} $_->{reason}" } blockers($answer)] }

# Their texts for people, as one.
sub details { my ($answer) = @_; return join '; ', map { $_->{detail} } blockers($answer) }

1;
