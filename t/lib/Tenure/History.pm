# SPDX-License-Identifier: Apache-2.0
# Decides whether what concurrent clients were told can be explained by some serial order (linearizability).
#
# A history is a list of operations, each a hash: what was asked, what was told, and
#   id      a word that no other operation has
#   begin   when the client asked
#   end     when it was told (the same clock); undef: it was told nothing certain, so the operation may have happened at any time
#           after its begin, or never
#
# A model is an object that knows what a serial service would tell:
#   start()             the state before the first operation
#   step(state, op)     the state after the operation, or undef if a service in that state would not have told this. For an
#                       operation that was told nothing: the state after its effect, or undef if it would have none
#   key(state)          a string that only equal states have
#   parts(history)      smaller histories (lists of operations) that must have an explanation if this one has
#   is_idle(op)         true if an operation that was told this changes nothing, in whatever state
#   show(op), describe(state)   text for people
#
# The search is that of Wing and Gong (1993) with the memory of Lowe (2017): some operation that began before any remaining one has
# ended must be the first; each of these is tried, and what follows is searched the same way. A configuration, which is the set of
# operations that have had their effect and the state after them, is searched once. Two rules save work and lose nothing:
# an operation that by its answer changes nothing, and that is possible now, comes first, without an alternative; and operations that
# were told nothing are tried last.
package Tenure::History;

use strict;
use warnings;

use JSON::PP ();

# The most configurations that check() looks at, unless told otherwise.
use constant MOST => 400_000;

my $json = JSON::PP->new->canonical->utf8;

# ---- the search

# Is there a serial order? ({ verdict => 'yes' }, or 'no', or 'undecided' after `most` configurations), with `order`, the longest
# order that was found; `state`, the state after it; `open`, the operations of which one had to be next; and `configurations`, how
# many were looked at.
sub search {
    my ($model, $history, $most) = @_;
    my @sure  = sort { $a->{begin} <=> $b->{begin} } grep { defined $_->{end} } @$history;
    my @maybe = sort { $a->{begin} <=> $b->{begin} } grep { !defined $_->{end} } @$history;
    my (@is_done, %is_applied, %seen);
    my $best = { verdict => 'no', order => [], state => $model->start, open => [], done => -1 };
    my ($n_done, $looked) = (0, 0);
    my @frames;

    # What can come next after this state; undef if this configuration was looked at before. low: all before it are done.
    my $frame_of = sub {
        my ($state, $low, $taken) = @_;
        $low++ while $low < @sure && $is_done[$low];
        my ($least, @open, @done) = (9e99);
        for (my $i = $low; $i < @sure; $i++) {
            last if $sure[$i]{begin} > $least;
            if ($is_done[$i]) { push @done, $i; next }
            push @open, $i;
            $least = $sure[$i]{end} if $sure[$i]{end} < $least;
        }
        return undef if $seen{ join ' ', $low, @done, '/', (sort keys %is_applied), '/', $model->key($state) }++;
        $looked++;
        my (@choices, @after);
        for my $i (@open) {
            my $after = $model->step($state, $sure[$i]);
            next if !defined $after;
            if ($model->is_idle($sure[$i])) {
                @choices = ([\@is_done, $i, $after, $sure[$i]]);
                return { choices => \@choices, low => $low, state => $state, taken => $taken, open => [@sure[@open]] };
            }
            push @choices, [\@is_done, $i, $after, $sure[$i]];
        }
        @choices = sort { $a->[3]{end} <=> $b->[3]{end} } @choices;
        for my $op (@maybe) {
            last if $op->{begin} > $least;
            next if $is_applied{ $op->{id} };
            my $after = $model->step($state, $op);
            push @choices, [\%is_applied, $op->{id}, $after, $op] if defined $after && $model->key($after) ne $model->key($state);
        }
        return { choices => \@choices, low => $low, state => $state, taken => $taken, open => [@sure[@open]] };
    };
    my $mark = sub {
        my ($choice, $value) = @_;
        my ($set, $which, undef, $op) = @$choice;
        if ($set == \@is_done) { $is_done[$which] = $value; $n_done += $value ? 1 : -1 }
        elsif ($value)         { $is_applied{$which} = 1 }
        else                   { delete $is_applied{$which} }
        return;
    };

    # Notes where the search has come furthest; called before that place is left.
    my $note = sub {
        @$best{qw(state open)} = @{ $frames[-1] }{qw(state open)};
        $best->{order} = [map { $_->{taken} ? $_->{taken}[3] : () } @frames];
        return;
    };

    push @frames, $frame_of->($model->start, 0, undef);
    my $is_further = 0;
    while (@frames) {
        my $frame = $frames[-1];
        if ($n_done > $best->{done}) {
            $best->{done} = $n_done;
            $is_further = 1;
        }
        if ($n_done == @sure || $looked > $most) {
            $best->{verdict} = $n_done == @sure ? 'yes' : 'undecided';
            $note->() if $is_further;
            last;
        }
        my $choice = shift @{ $frame->{choices} };
        if (!defined $choice) {
            $note->() if $is_further;
            $is_further = 0;
            pop @frames;
            $mark->($frame->{taken}, 0) if $frame->{taken};
            next;
        }
        $mark->($choice, 1);
        my $next = $frame_of->($choice->[2], $frame->{low}, $choice);
        if ($next) { push @frames, $next }
        else       { $mark->($choice, 0) }
    }
    $best->{configurations} = $looked;
    return $best;
}

# ---- a small counterexample

# What was told until then: operations that had not ended by then may have happened or not.
sub _until {
    my ($history, $end) = @_;
    return [map { defined $_->{end} && $_->{end} > $end ? { %$_, end => undef } : $_ } grep { $_->{begin} <= $end } @$history];
}

sub _fails { my ($model, $history, $most) = @_; return search($model, $history, $most)->{verdict} eq 'no' }

# A history that has no explanation either, with fewer operations. Each step keeps this true: if the larger history had a serial order,
# the smaller one would have that order, too. A write that was told can't be left out: what was read later may be its work.
sub smaller {
    my ($model, $history, $most) = @_;
    for my $part ($model->parts($history)) {
        next if @$part >= @$history || !_fails($model, $part, $most);
        $history = $part;
    }
    # The shortest time after which there is no explanation any more.
    my @ends = sort { $a <=> $b } map { $_->{end} // () } @$history;
    my ($good, $bad) = (-1, $#ends);
    while ($good + 1 < $bad) {
        my $middle = int(($good + $bad) / 2);
        if (_fails($model, _until($history, $ends[$middle]), $most)) { $bad = $middle }
        else                                                         { $good = $middle }
    }
    $history = _until($history, $ends[$bad]) if @ends;
    # Operations that changed nothing, in ever smaller pieces.
    my @idle = grep { $model->is_idle($_) } @$history;
    for (my $size = @idle; $size >= 1; $size = int($size / 2)) {
        my @kept;
        while (my @piece = splice @idle, 0, $size) {
            my %out = map { $_->{id} => 1 } @piece;
            my @rest = grep { !$out{ $_->{id} } } @$history;
            if (_fails($model, \@rest, $most)) { $history = \@rest }
            else                               { push @kept, @piece }
        }
        @idle = @kept;
    }
    return $history;
}

# undef if the history has an explanation; else a text with a small counterexample.
sub check {
    my ($model, $history, %option) = @_;
    my $most   = $option{most} // MOST;
    my $result = search($model, $history, $most);
    $option{told}{configurations} += $result->{configurations} if $option{told};
    return undef if $result->{verdict} eq 'yes';
    return "not decided after $most configurations: " . _stuck($model, $result) if $result->{verdict} eq 'undecided';
    my $smaller = smaller($model, $history, $most);
    return 'no serial order explains ' . @$smaller . ' of ' . @$history . ' operations: ' . _stuck($model, search($model, $smaller, $most));
}

# Where the search came to an end: the last operations of the longest order, the state, and what no service would tell there.
sub _stuck {
    my ($model, $result) = @_;
    my @order = @{ $result->{order} };
    my $n     = @order > 12 ? @order - 12 : 0;
    my @lines = $n ? "    ($n operations before)" : ();
    push @lines, map { '    ' . _line($model, $_) } @order[$n .. $#order];
    push @lines, '  lead to ' . $model->describe($result->{state}), '  where none of these is possible, and one has to be next:';
    push @lines, map { '    ' . _line($model, $_) } @{ $result->{open} };
    return join "\n", 'these have an order', @lines;
}

sub _line {
    my ($model, $op) = @_;
    return sprintf '%-9s %s .. %s  %s', $op->{id}, (map { defined $_ ? sprintf '%.4f', $_ : '?' } $op->{begin}, $op->{end}), $model->show($op);
}

# ---- files: an operation on each line

sub save {
    my ($path, $history) = @_;
    open my $out, '>', $path or die "$path: $!\n";
    print {$out} $json->encode($_), "\n" for @$history;
    close $out or die "$path: $!\n";
    return;
}

sub load {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    return [map { $json->decode($_) } readline $in];
}

1;
