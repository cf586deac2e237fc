# SPDX-License-Identifier: Apache-2.0
# The lines of a dump (doc/dump.md) as records that a test may change, and a file of them whose sums are right.
#
#   my $dump = Tenure::DumpFile->read($file);
#   $dump->change(sub { $_[0] eq 'resource' && $_[1]{name} eq 'c1' }, sub { $_[0]{namespace} = 'other' });  # the numbers of these lines
#   $dump->write($file);
package Tenure::DumpFile;

use strict;
use warnings;

use Digest::SHA ();
use JSON::PP ();

use Tenure::Run ();

my $json = JSON::PP->new->utf8->allow_nonref->canonical;

sub read {
    my ($class, $file) = @_;
    my @lines = map { /\A\{"sum":"[0-9a-f]{32}",(.*)\}\n\z/s ? $1 : die "$file: no line of a dump: $_" } split /^/, Tenure::Run::read_file($file);
    return bless { lines => \@lines }, $class;
}

sub copy  { my ($self) = @_; return bless { lines => [ @{ $self->{lines} } ] }, ref $self }
sub lines { return scalar @{ $_[0]{lines} } }

# The kind and the record of line n, from 1.
sub record {
    my ($self, $n) = @_;
    my ($kind, $text) = $self->{lines}[ $n - 1 ] =~ /\A"(\w+)":(.*)\z/s;
    return ($kind, $json->decode($text));
}

# Calls edit with each record that `which`, which is called with kind and record, takes; edit changes it. Returns the numbers of their lines.
sub change {
    my ($self, $which, $edit) = @_;
    my @changed;
    for my $n (1 .. $self->lines) {
        my ($kind, $record) = $self->record($n);
        next if !$which->($kind, $record);
        $edit->($record);
        $self->{lines}[ $n - 1 ] = qq("$kind":) . $json->encode($record);
        push @changed, $n;
    }
    return @changed;
}

# Takes lines out.
sub remove {
    my ($self, $which) = @_;
    $self->{lines} = [ map { $self->{lines}[ $_ - 1 ] } grep { !$which->($self->record($_)) } 1 .. $self->lines ];
    return;
}

sub write {
    my ($self, $file) = @_;
    my $sum = '0' x 32;
    open my $out, '>', $file or die "$file: $!\n";
    for my $line (@{ $self->{lines} }) {
        $sum = substr Digest::SHA::sha256_hex($sum . Digest::SHA::sha256_hex("$line}")), 0, 32;
        print {$out} qq({"sum":"$sum",$line}\n);
    }
    close $out or die "$file: $!\n";
    return;
}

1;
