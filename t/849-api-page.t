#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# doc/api.md as it stands, from the first line to the last, in one shell against a new quickstart with its demonstration; and what its answers
# name is what the service answers.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use Test::More;

use Tenure::Instance;
use Tenure::Pages;
use Tenure::Run qw(run write_file);

my $instance = Tenure::Instance->start(auth => 'token', demo => 1);
my $home     = File::Temp->newdir('tenure-api-XXXXXX', TMPDIR => 1);
my @blocks   = Tenure::Pages::blocks(Tenure::Instance::source_dir(), 'api.md');

# An answer of 400 or above ends the shell, since the page shows none, but for 503, which is asked again: the page queues a move and goes on with
# its tenant, so a write there may meet the move. The line above each block's output names it.
my $commands = qq(set -eo pipefail\ncurl() { command curl -sS --fail-with-body --retry 20 -m 60 "\$@"; }\n);
for my $block (grep { $_->{mark} eq 'sh' } @blocks) {
    my $text = $block->{text} =~ s{var/quickstart/env}{$instance->dir . '/env'}er =~ s/timeoutSeconds=\K60/1/r;
    $commands .= "\necho; echo '== $block->{line}'\n$text";
}
write_file("$home/commands", $commands);
my ($code, $out) = run('env', '-i', "HOME=$home", "PATH=$ENV{PATH}", 'LC_ALL=C.UTF-8', 'bash', "$home/commands");
my ($last) = reverse $out =~ /^== (\d+)$/mg;
is $code, 0, 'every call of the page succeeds' or diag "in the block of line $last: ", $out =~ /^== \Q$last\E\n(.*)/ms;
my %printed = map { /\A(\d+)\n(.*)\z/s ? ($1 => $2) : () } split /^== /m, $out;

# Members of JSON, elements and attributes of XML.
sub names_in {
    my ($text) = @_;
    my %names = map { $_ => 1 } $text =~ /"(\w+)": ?(?=[\["{\dtfn])/g, $text =~ /<(\w+)/g, $text =~ / (\w+)="/g;
    return \%names;
}

# The row of a usage is there once an hour is over; the others show what happens if somebody else changes something.
my $compared = 0;
for my $i (1 .. $#blocks) {
    my ($commands, $answer) = @blocks[ $i - 1, $i ];
    next if $answer->{mark} ne 'answer' || $commands->{mark} ne 'sh' || $answer->{heading} eq 'Usage' || $answer->{text} =~ m{\AHTTP/1.1 4};
    my $there = names_in($printed{ $commands->{line} } // '');
    is join(' ', grep { !$there->{$_} } sort keys %{ names_in($answer->{text}) }), '', "line $answer->{line}, $answer->{heading}: the answer has all that is shown";
    $compared++;
}
cmp_ok $compared, '>', 10, 'answers were compared';

done_testing;
