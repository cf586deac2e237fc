# SPDX-License-Identifier: Apache-2.0
# As much of an XML parser as tests need: well-formed documents of elements, attributes and text become trees of
# { name, attributes, attribute_names (in their order), children, text }. Dies of what is not well-formed.
package Tenure::XML;

use strict;
use warnings;

use Encode ();

my %entity = (lt => '<', gt => '>', amp => '&', quot => '"', apos => "'");
my $name   = qr/[A-Za-z_:][-A-Za-z0-9_.:]*|[^\x00-\x7f\s<>&"'=\/]+/;

sub parse {
    my ($bytes) = @_;
    my $text = Encode::decode('UTF-8', $bytes, Encode::FB_CROAK);
    $text =~ s/\A<\?xml version="1\.0" encoding="UTF-8"\?>\s*// or die "no XML declaration\n";
    pos($text) = 0;
    my $root = _element(\$text);
    $text =~ /\G\s*\z/gc or die "something behind the document element\n";
    return $root;
}

sub _unescape {
    my ($text) = @_;
    $text =~ /</ and die "a < in text\n";
    $text =~ s{&(?:#x([0-9A-Fa-f]+)|#([0-9]+)|(\w+)|);?}{
        defined $1 ? chr hex $1 : defined $2 ? chr $2 : $entity{ $3 // '' } // die "an unknown entity\n"
    }ge;
    return $text;
}

sub _attributes {
    my ($text, $node) = @_;
    while ($$text =~ /\G\s+($name)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/gc) {
        my ($key, $value) = ($1, $2 // $3);
        exists $node->{attributes}{$key} and die "attribute $key twice\n";
        $node->{attributes}{$key} = _unescape($value);
        push @{ $node->{attribute_names} }, $key;
    }
    return;
}

sub _element {
    my ($text) = @_;
    my $node = { attributes => {}, attribute_names => [], children => [], text => '' };
    $$text =~ /\G<($name)/gc or die 'an element is missing at ' . substr($$text, pos($$text) // 0, 40) . "\n";
    $node->{name} = $1;
    _attributes($text, $node);
    return $node if $$text =~ m{\G\s*/>}gc;
    $$text =~ /\G\s*>/gc or die "the start tag of $node->{name} does not end\n";
    while ($$text !~ m{\G</\Q$node->{name}\E\s*>}gc) {
        if    ($$text =~ /\G([^<]+)/gc)      { $node->{text} .= _unescape($1) }
        elsif ($$text =~ /\G<!--.*?-->/gcs) { next }
        else                             { push @{ $node->{children} }, _element($text) }
    }
    return $node;
}

# ---- looking around in trees

# The children of that name, or all.
sub children {
    my ($node, $wanted) = @_;
    return grep { !defined $wanted || $_->{name} eq $wanted } @{ $node->{children} };
}

sub child {
    my ($node, $wanted) = @_;
    my ($first) = children($node, $wanted);
    return $first;
}

sub names {
    my ($node) = @_;
    return map { $_->{name} } @{ $node->{children} };
}

1;
