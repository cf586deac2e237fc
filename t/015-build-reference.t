#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# scripts/api-reference: every call of the WADL files is on its page, and each example is of the call beside which it stands.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd ();
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::PP ();
use Test::More;

use Tenure::Run qw(read_file);

my $top    = $ENV{TENURE_SRCDIR} // Cwd::abs_path(dirname(__FILE__) . '/..');
my $script = "$top/scripts/api-reference";

sub run_script {
    my (@words) = @_;
    open my $pipe, '-|', $^X, $script, @words or die $!;
    local $/;
    my $text = <$pipe> // '';
    close $pipe;
    return ($? >> 8, $text);
}

my $folder = tempdir(CLEANUP => 1);
my ($code, $text) = run_script('write', $top, $folder);
is $code, 0, 'it is written';

my $examples = JSON::PP::decode_json(read_file("$top/doc/api-examples.json"));
for my $dialect (qw(tenancy baremetal placement spaces)) {
    my $wadl = read_file("$top/src/api/$dialect/$dialect.wadl");
    my @ids = $wadl =~ /<method id="(\w+)"/g;
    my $page = read_file("$folder/$dialect.html");
    my @missing = grep { $page !~ /<section id="$_">/ || $page !~ /<a href="#$_">/ } @ids;
    is "@missing", '', "$dialect: all of its " . @ids . ' calls';
    my $shown = () = $page =~ /<pre class="answer">/g;
    is $shown, scalar(grep { /^$dialect / } keys %$examples), "$dialect: all examples";
    # Elements end in the order in which they began; the void ones of HTML end themselves here.
    my (@open, $wrong);
    (my $plain = $page) =~ s/<!DOCTYPE html>|<style>.*?<\/style>//gs;
    while ($plain =~ m{<(/?)(\w+)[^<>]*?(/?)>}g) {
        if ($1) { my $last = pop @open // ''; $wrong //= "</$2> ends <$last>" if $last ne $2 }
        elsif (!$3) { push @open, $2 }
    }
    is $wrong // "@open", '', "$dialect: well-formed";
    unlike $plain, qr/&(?!(?:lt|gt|amp|quot);)/, "$dialect: escaped";
}
like read_file("$folder/index.html"), qr/href="spaces.html"/, 'the index leads to them';
for my $page (map { read_file($_) } glob "$folder/*.html") {
    my ($title) = $page =~ /<title>(.*?)</;
    like $page, qr/<meta name="viewport" content="width=device-width, initial-scale=1"\/>/, "$title: as wide as a phone";
    # What is wider than that scrolls by itself.
    my ($style) = $page =~ /<style>(.*?)<\/style>/s;
    like $style, qr/^$_ \{[^}]*overflow-x: auto/m, "... $_" for qw(pre table);
    unlike $page, qr/\bwidth="|[^-]width: *\d+px/, '... nothing has a width of its own';
}

subtest 'examples' => sub {
    ($code, $text) = run_script('check', $top);
    is $code, 0, 'each fits its call' or diag $text;
    my @without = $text =~ /^no example of (\w+) /mg;
    my $calls = () = map { read_file($_) =~ /<method id="/g } glob "$top/src/api/*/*.wadl";
    is "@without", '', "each of $calls calls has one";
    for my $key (sort keys %$examples) {
        my $example = $examples->{$key};
        my $all = JSON::PP->new->canonical->encode($example);
        ok $all !~ /X-Auth-Token|Authorization/i, "$key: no credential" if $all =~ /token/i;
        next if !length($example->{answer} // '') || ($example->{got}{'content-type'} // '') !~ /\bjson\b/;
        ok eval { JSON::PP->new->allow_nonref->decode($example->{answer}); 1 }, "$key: its answer is JSON, as it says";
    }
};

subtest 'what is wrong is found' => sub {
    my $root = tempdir(CLEANUP => 1);
    system('cp', '-rs', "$top/src", "$top/doc", $root) == 0 or die 'cp';
    unlink "$root/doc/api-examples.json";
    my %changed = map { $_ => { %{ $examples->{$_} } } } keys %$examples;
    ($changed{'tenancy getTenant'}{path}, $changed{'tenancy putTenant'}{status}) = ('/v2.0/a/b/c/d/e/f/g', 299);
    $changed{'tenancy nonsense'} = $examples->{'tenancy deleteTenant'};
    open my $out, '>', "$root/doc/api-examples.json" or die $!;
    print {$out} JSON::PP->new->canonical->encode(\%changed);
    close $out;
    ($code, $text) = run_script('check', $root);
    is $code, 1, 'examples of other calls';
    like $text, qr/example of tenancy getTenant goes to no call/, 'one that no call has';
    like $text, qr/example of tenancy putTenant answers 299/, 'a status that is not listed';
    like $text, qr/example of tenancy nonsense goes to tenancy deleteTenant/, 'a call that is no more';
};

done_testing;
