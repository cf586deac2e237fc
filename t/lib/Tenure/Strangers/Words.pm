# SPDX-License-Identifier: Apache-2.0
# The words that the program knows, and what Tenure::Strangers draws and makes of them.
package Tenure::Strangers::Words;

use strict;
use warnings;

use Encode             ();
use Exporter           qw(import);
use File::Find         ();
use Unicode::Normalize ();

use Tenure::Instance;

our @EXPORT_OK = qw(words one chance hex_digits uuid escape encode_all other_form other_form_of);

# Comparisons, and look-ups of parameters and header fields: what stands in such a line as a string has a meaning.
my $lists = qr/[{=]\s*(?:STR(?:_INIT)?\()?"/; # rows of tables
my $compares = qr/\b(?:str_(?:eq|starts|ends|cmp)\w*|str(?:n?case)?cmp|request_(?:header|has_header|prefers)|call_param|route_value|media_\w+|definition_has_identity|spaces_query_is_true|regexp_is_word)\s*\(|^\s*#\s*define\b/;

# ([words that are compared or stand in a WADL], [all other words of the source]): sorted, as bytes.
sub words {
    my (%strong, %weak);
    my $word = qr{\A[A-Za-z*~.+\$:=@][\w.*~+:\$=@,-]{0,50}\z};
    for my $file (glob Tenure::Instance::build_dir() . '/build/wadl/*.wadl') {
        my $text = Tenure::Instance::read_file($file);
        while ($text =~ /\bpath="([^"]*)"/g) {
            $strong{$_} = 1 for grep { $_ !~ /[{}]/ && $_ =~ $word } split m{/}, $1;
        }
        while ($text =~ /<(?:param|option|\w*:?enumeration)\b([^>]*)>/g) {
            my $attributes = $1;
            $strong{$_} = 1 for grep { $_ =~ $word } $attributes =~ /\b(?:name|value|default|fixed)="([^"]*)"/g;
        }
    }
    my $source = Tenure::Instance::source_dir() . '/src';
    File::Find::find({ no_chdir => 1, wanted => sub {
        return if !m{\.[ch]\z} || m{/(?:cli|lib|manage|db)/};
        my $text = Tenure::Instance::read_file($_);
        $text =~ s{^\s*//[^\n]*}{}gm;
        for my $line (split /\n/, $text) {
            next if $line =~ /^\s*#\s*include/;
            my $kind = $line =~ $compares || ($line =~ $lists && m{/(?:api|auth|http)/}) ? \%strong : \%weak;
            $kind->{$_} = 1 for grep { $_ =~ $word } $line =~ /"((?:[^"\\]|\\.)*)"/g;
        }
    } }, $source);
    return ([sort keys %strong], [sort grep { !$strong{$_} } keys %weak]);
}

# ---- chance

sub one { my (@list) = @_; return $list[int rand @list] }
our $plain = 0; # requests as they are mostly, without what is only drawn now and then; others name it in full, to set it by local
sub chance { my ($p) = @_; return $plain ? $p >= 0.5 : rand() < $p }
sub hex_digits { my ($n) = @_; return join '', map { sprintf '%x', int rand 16 } 1 .. $n }

sub uuid {
    return join '-', hex_digits(8), hex_digits(4), '4' . hex_digits(3), one(qw(8 9 a b)) . hex_digits(3), hex_digits(12);
}

# ---- forms of a word

sub escape { my ($text) = @_; return Encode::encode('UTF-8', $text) =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ger }

sub encode_all { my ($text) = @_; return Encode::encode('UTF-8', $text) =~ s/(.)/sprintf '%%%02x', ord $1/gers }

# Forms of a word that are other names.
sub other_form {
    my ($text) = @_;
    my $how = int rand 7;
    return ucfirst $text if $how == 0;
    return uc $text      if $how == 1;
    return $text =~ s/([a-z])/chr(0xff41 + ord($1) - ord 'a')/er if $how == 2;
    return $text =~ s/([a-z])/$1\x{301}/r                        if $how == 3;
    return $text . "\x{200b}" if $how == 4;
    return $text . ' '        if $how == 5;
    return Unicode::Normalize::NFC($text =~ s/([aeiou])/$1\x{308}/r);
}

# One form for both of a pair, whose lengths are the same.
sub other_form_of {
    my ($text, $n) = @_;
    return $n % 3 == 0 ? ucfirst $text : $n % 3 == 1 ? $text =~ s/([a-z])/chr(0xff41 + ord($1) - ord 'a')/er : $text =~ s/([a-z])/$1\x{301}/r;
}

1;
