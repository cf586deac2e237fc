# SPDX-License-Identifier: Apache-2.0
# The blocks of commands, configuration and output in the documents, and who executes them (t/pages). Every fenced block of a page has
# a mark behind its opening fence:
#
#   sh          commands, for root or for the user that the page names, as they stand. t/pages says which test executes them
#   answer      what the service answers, without what "…" stands for; t/849-api-page.t compares the names of members
#   output      what the block of commands directly before it prints; "…" stands for lines left out, and numbers may differ
#   conf        lines of tenure.conf; map: lines of the file that `map` of [certificate] names
#   sql         statements for the database
#   log         lines of the service's log
#   access-log  lines of an access log
#   cron, lighttpd, prometheus   lines of a crontab in /etc/cron.d, of the configuration of lighttpd, of Prometheus
#   nginx       likewise; t/965-host-prometheus.t executes it
#   example     what no test can execute, such as commands with another site's names. t/pages says why
#
# scripts/check-docs refuses a block without a mark, and commands that t/pages does not name. t/848-pages.t executes all other kinds, but
# for those commands for which t/pages names another test.
package Tenure::Pages;

use strict;
use warnings;

our @MARKS = qw(sh answer output conf map sql log access-log cron lighttpd prometheus nginx example);

sub _read {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    local $/ = undef;
    return scalar readline $in;
}

# Names of all pages below the folder of sources $top: README, and the files of doc/ without the folder.
sub names {
    my ($top) = @_;
    return ('README', sort map { m{([^/]+)\z} } glob qq{"$top"/doc/*.md});
}

# The blocks of a page, in their order: { page, heading (the nearest above), mark ('' if there is none), text, line (of its first line) }.
# In README, which is plain text, blocks are what is indented.
sub blocks {
    my ($top, $page) = @_;
    return _readme($top) if $page eq 'README';
    my ($heading, $number, $open, @blocks) = ('', 0);
    for my $line (split /^/, _read("$top/doc/$page")) {
        $number++;
        if (defined $open) {
            if ($line =~ /^ *```\s*$/) { undef $open; next }
            $blocks[-1]{text} .= $line =~ s/^$open//r;
        }
        elsif ($line =~ /^( *)```([\w-]*)\s*$/) {
            $open = $1;
            push @blocks, { page => $page, heading => $heading, mark => $2, text => '', line => $number + 1 };
        }
        elsif ($line =~ /^#+ (.*)$/) { $heading = $1 }
    }
    return @blocks;
}

sub _readme {
    my ($top) = @_;
    my ($heading, $before, $number, @blocks) = ('', '', 0);
    for my $line (split /^/, _read("$top/README")) {
        $number++;
        if ($line =~ /^(?:===+|---+)$/) { chomp($heading = $before) }
        elsif ($line =~ /^ {4}/) {
            push @blocks, { page => 'README', heading => $heading, mark => 'sh', text => '', line => $number } if $before !~ /^ {4}/;
            $blocks[-1]{text} .= substr $line, 4;
        }
        $before = $line;
    }
    return @blocks;
}

# The sentences of a page's prose and the rows of its tables, in their order, without the fenced blocks: { heading (the nearest above), text }.
# A row is one sentence; the head of a table is none. README has none here.
sub sentences {
    my ($top, $page) = @_;
    my ($heading, $paragraph, @found) = ('', '');
    my $end = sub {
        my $text = $paragraph =~ s/\s+/ /gr =~ s/\A | \z//gr;
        push @found, map { { heading => $heading, text => $_ } } grep { $_ ne '' } split /(?<=[.?!]) (?=[A-Z`"\[(])|(?<=[.?!][)"]) (?=[A-Z`"\[(])/, $text;
        $paragraph = '';
    };
    for my $line (split /\n/, _read("$top/doc/$page") =~ s/^ *```.*?^ *```$//msgr) {
        if ($line =~ /^#+ (.*)/) { $end->(); $heading = $1 }
        elsif ($line =~ /^\s*\|[ |:-]+$/) { pop @found }    # the line below a table's head
        elsif ($line =~ /^\s*\|/) { $end->(); push @found, { heading => $heading, text => $line =~ s/\A\s+//r } }
        elsif ($line =~ /^\s*$/) { $end->() }
        elsif ($line =~ /^\s*(?:[*-]|\d+\.) (.*)/) { $end->(); $paragraph = $1 }
        else { $paragraph .= " $line" }
    }
    $end->();
    return @found;
}

# The rows of t/pages: { page, heading ('*': every heading that no other row names), by (files), why, line }.
sub rows {
    my ($top) = @_;
    my ($number, @rows) = (0);
    for my $line (split /\n/, _read("$top/t/pages")) {
        $number++;
        next if $line =~ /^\s*(?:#|$)/;
        my ($page, $heading, $by, $why) = split /\s*\|\s*/, $line;
        push @rows, { page => $page, heading => $heading, by => [grep { $_ ne 'nobody' } split /,\s*/, $by // ''], why => $why // '', line => $number };
    }
    return @rows;
}

# The row for a block, or undef.
sub row_of {
    my ($rows, $block) = @_;
    my @of = grep { $_->{page} eq $block->{page} } @$rows;
    my ($row) = ((grep { $_->{heading} eq $block->{heading} } @of), (grep { $_->{heading} eq '*' } @of));
    return $row;
}

1;
