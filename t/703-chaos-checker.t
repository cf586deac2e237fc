#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The checker of histories (Tenure::History): it passes what some serial order explains, and fails what none does. It needs no service.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use POSIX ();
use Test::More;

use Tenure::History;
use Tenure::History::Claims;
use Tenure::History::Registry;
use Tenure::Run qw(read_file);

# Operations in short: [begin, end, "what was asked: what was told"]; end undef: nothing certain was told. An address is tenant/name,
# "=" content, "#" revision, "@" home; {n1=content#revision …} what a list or a look shows, with counts and what is blocked of a look.
my %uid = (x => 'uid-x', y => 'uid-y');
my %etag_of = map { $_ => "etag-$_" } qw(x x+a x+b x+a+b y);

sub shown { my ($text) = @_; return { map { m{\A([\w/]+)=(\S+)#(\d+)\z} or die $_; $1 => [$uid{ substr $2, 0, 1 }, $2, $3] } split ' ', $text } }

sub op {
    my ($number, $begin, $end, $text) = @_;
    my %op = (id => "o$number", client => 'c', begin => $begin, end => $end);
    my ($asked, $told) = split /: /, $text;
    my @words = split ' ', $asked;
    $op{do} = shift @words;
    @op{qw(tenant name)} = split m{/}, shift @words // '';
    delete $op{name} if !defined $op{name};
    while (defined(my $word = shift @words)) {
        if    ($word eq 'to') { $op{to} = shift @words }
        elsif ($word eq 'if') { $op{if} = shift @words; $op{if} = $etag_of{ $op{if} } // $op{if} }
        else                  { $op{value} = $word }
    }
    return \%op if !defined $told;
    ($op{status}) = $told =~ /\A(\d+)/;
    ($op{content}, $op{revision}) = ($1, $2) if $told =~ / =(\S+)#(\d+)/;
    @op{qw(uid etag)} = ($uid{ substr $op{content}, 0, 1 }, $etag_of{ $op{content} }) if defined $op{content};
    $op{home} = $1 if $told =~ / \@(\w+)/;
    $op{all} = shown($1) if $told =~ /\{(.*?)\}/;
    if ($op{do} eq 'look' && $op{all}) {
        $op{all}{$_} = $op{all}{$_}[0] for keys %{ $op{all} };
        $op{counts} = { $told =~ /(\w+):(\d+)/g };
        $op{blocked} = [$told =~ / !(\w+)/g];
    }
    return \%op;
}

# What the checker says of a history of the registry; undef: an order explains it.
sub judged {
    my ($check, @ops) = @_;
    my $n = 0;
    my @history = map { op($n++, @$_) } @ops;
    my $model = Tenure::History::Registry->new(tenants => [qw(a b c)], names => [qw(n1 n2)]);
    my @wrong = $model->learn(\@history);
    return @wrong ? "learnt: @wrong" : $check->($model, \@history, most => 2_000);
}

my @made = ([0, 1, 'put a/n1 x: 201 =x#1']);

# name => [operations]. Those that have an order.
my %good = (
    'one after the other' => [@made, [2, 3, 'append a/n1 a: 200 =x+a#2'], [4, 5, 'get a/n1: 200 =x+a#2'], [6, 7, 'delete a/n1: 204'], [8, 9, 'get a/n1: 410'],
        [10, 11, 'recover a/n1: 204'], [12, 13, 'get a/n1: 200 =x+a#2']],
    'a read at the same time as a write may see it or not' => [@made, [2, 9, 'append a/n1 a: 200 =x+a#2'], [3, 4, 'get a/n1: 200 =x#1'], [5, 6, 'get a/n1: 200 =x+a#2']],
    'two writes at the same time, in either order' => [@made, [2, 9, 'append a/n1 a: 200 =x+b+a#3'], [3, 8, 'append a/n1 b: 200 =x+b#2']],
    'two writes at the same time, whose order only a read tells' => [@made, [2, 8, 'append a/n1 a: 200'], [3, 9, 'append a/n1 b: 200'], [10, 11, 'get a/n1: 200 =x+b+a#3']],
    'of two guarded writes one is refused' => [@made, [2, 9, 'append a/n1 a if x: 200 =x+a#2'], [2, 9, 'append a/n1 b if x: 412']],
    'an uncertain write that happened late' => [@made, [2, undef, 'append a/n1 a'], [3, 4, 'get a/n1: 200 =x#1'], [5, 6, 'get a/n1: 200 =x#1'], [7, 8, 'get a/n1: 200 =x+a#2']],
    'an uncertain write that never happened' => [@made, [2, undef, 'append a/n1 a'], [3, 4, 'get a/n1: 200 =x#1'], [5, 6, 'append a/n1 b if x: 200 =x+b#2'], [7, 8, 'get a/n1: 200 =x+b#2']],
    'an uncertain write that another one followed' => [@made, [2, undef, 'append a/n1 a'], [3, 4, 'append a/n1 b: 200 =x+a+b#3']],
    'a move' => [@made, [2, 9, 'move a/n1 to b: 303 @b'], [3, 4, 'get a/n1: 200 =x#1'], [5, 6, 'get b/n1: 200 =x#2'], [7, 8, 'get a/n1: 301 @b'], [10, 11, 'get b/n1: 200 =x#2']],
    'a list of all tenants' => [@made, [2, 9, 'move a/n1 to b: 303 @b'], [3, 4, 'survey: 200 {a/n1=x#1}'], [5, 6, 'survey: 200 {b/n1=x#1}'], [10, 11, 'survey: 200 {b/n1=x#1}']],
    'a move of nothing that runs beside one of something' => [@made, [2, 9, 'move b to c: 303 @c'], [3, 8, 'move a to b: 303 @b'], [10, 11, 'get a/n1: 301 @c'], [12, 13, 'list b: 200 {}']],
    'a move of all' => [@made, [2, 3, 'put a/n2 y: 201 =y#1'], [4, 9, 'move a to b: 303 @b'], [5, 6, 'list a: 200 {n1=x#1 n2=y#1}'], [10, 11, 'list b: 200 {n1=x#2 n2=y#2}'], [12, 13, 'list a: 200 {}']],
    'a move with a tag that holds' => [@made, [2, 3, 'look a to b: 200 {n1=x#1} a:1 b:0'], [4, 5, 'move a to b if o1: 303 @b']],
    'a move whose tag is stale' => [@made, [2, 3, 'look a to b: 200 {n1=x#1} a:1 b:0'], [4, 5, 'append a/n1 a: 200 =x+a#2'], [6, 7, 'move a to b if o1: 412']],
    'a name that is taken' => [@made, [2, 3, 'put b/n1 y: 201 =y#1'], [4, 5, 'look a/n1 to b: 200 {n1=x#1} a:1 b:1 !n1'], [6, 7, 'move a/n1 to b: 409'], [8, 9, 'move a to b: 409']],
    'a new one where one left' => [@made, [2, 3, 'move a/n1 to b: 303 @b'], [4, 5, 'put a/n1 y if *none: 201 =y#1'], [6, 7, 'get a/n1: 200 =y#1'], [8, 9, 'get b/n1: 200 =x#2']],
);

# Those that have none.
my %bad = (
    'a lost update' => [@made, [2, 9, 'append a/n1 a: 200 =x+a#2'], [2, 9, 'append a/n1 b: 200 =x+b#2'], [10, 11, 'get a/n1: 200 =x+b#2']],
    'a lost update that only a read shows' => [@made, [2, 3, 'append a/n1 a: 200'], [4, 5, 'append a/n1 b: 200'], [6, 7, 'get a/n1: 200 =x+b#2']],
    'a lost update, with its revision' => [@made, [2, 3, 'append a/n1 a: 200'], [4, 5, 'append a/n1 b: 200'], [6, 7, 'get a/n1: 200 =x+b#3']],
    'one guard passed by two' => [@made, [2, 9, 'append a/n1 a if x: 200'], [2, 9, 'append a/n1 b if x: 200']],
    'a stale read' => [@made, [2, 3, 'append a/n1 a: 200 =x+a#2'], [4, 5, 'get a/n1: 200 =x#1']],
    'a read that goes back' => [@made, [2, 20, 'append a/n1 a: 200 =x+a#2'], [3, 4, 'get a/n1: 200 =x+a#2'], [5, 6, 'get a/n1: 200 =x#1']],
    'an uncertain write that comes and goes' => [@made, [2, undef, 'append a/n1 a'], [3, 4, 'get a/n1: 200 =x+a#2'], [5, 6, 'get a/n1: 200 =x#1']],
    'a write that came true before it was asked' => [@made, [2, 3, 'get a/n1: 200 =x+a#2'], [4, undef, 'append a/n1 a']],
    'a move of all that is seen half' => [@made, [2, 3, 'put a/n2 y: 201 =y#1'], [4, 9, 'move a to b: 303 @b'], [5, 6, 'list b: 200 {n1=x#2}']],
    'a move of all that is seen half by single reads' => [@made, [2, 3, 'put a/n2 y: 201 =y#1'], [4, 20, 'move a to b: 303 @b'], [5, 6, 'get b/n1: 200 =x#2'], [7, 8, 'get a/n2: 200 =y#1']],
    'a resource in two tenants' => [@made, [2, 3, 'move a/n1 to b: 303 @b'], [4, 5, 'get b/n1: 200 =x#2'], [6, 7, 'get a/n1: 200 =x#1']],
    'a resource in two tenants after an uncertain move' => [@made, [2, undef, 'move a/n1 to b'], [4, 5, 'list b: 200 {n1=x#2}'], [6, 7, 'list a: 200 {n1=x#1}']],
    'a resource in two tenants, in one list' => [@made, [2, 9, 'move a/n1 to b: 303 @b'], [3, 4, 'survey: 200 {a/n1=x#1 b/n1=x#1}']],
    'a resource in none, in one list' => [@made, [2, 9, 'move a/n1 to b: 303 @b'], [3, 4, 'survey: 200 {}']],
    'a list of all tenants that is stale' => [@made, [2, 3, 'move a/n1 to b: 303 @b'], [4, 5, 'survey: 200 {a/n1=x#1}']],
    'a resource in none' => [@made, [2, 3, 'move a/n1 to b: 303 @b'], [4, 5, 'list a: 200 {}'], [6, 7, 'list b: 200 {}']],
    'a deletion that does not last' => [@made, [2, 3, 'delete a/n1: 204'], [4, 5, 'get a/n1: 410'], [6, 7, 'get a/n1: 200 =x#1']],
    'a deletion under a guard that another had passed' => [@made, [2, 9, 'delete a/n1 if x: 204'], [2, 9, 'append a/n1 a if x: 200 =x+a#2']],
    'something else is recovered' => [@made, [2, 3, 'append a/n1 a: 200 =x+a#2'], [4, 5, 'delete a/n1: 204'], [6, 7, 'recover a/n1: 204'], [8, 9, 'get a/n1: 200 =x#1']],
    'a write that was done twice' => [@made, [2, 3, 'append a/n1 a: 200 =x+a+a#3']],
    'a write that was done twice, by its revision' => [@made, [2, undef, 'append a/n1 a'], [3, 4, 'get a/n1: 200 =x+a#3']],
    'an uncertain write that was done twice' => [@made, [2, undef, "put a/n1 x+b"], [3, 4, "get a/n1: 200 =x+b#3"]],
    'two made one resource' => [[0, 9, 'put a/n1 x if *none: 201 =x#1'], [0, 9, 'put a/n1 y if *none: 201 =y#1']],
    'refused, and done all the same' => [@made, [2, 3, 'append a/n1 a if x: 412'], [4, 5, 'get a/n1: 200 =x+a#2']],
    'refused without a reason' => [@made, [2, 3, 'append a/n1 a if x: 412']],
    'a tag that held for what had changed' => [@made, [2, 3, 'look a to b: 200 {n1=x#1} a:1 b:0'], [4, 5, 'append a/n1 a: 200 =x+a#2'], [6, 7, 'move a to b if o1: 303 @b']],
    'a tag that held though the destination had another number' => [@made, [2, 3, 'look a/n1 to b: 200 {n1=x#1} a:1 b:0'], [4, 5, 'put b/n2 y: 201 =y#1'], [6, 7, 'move a/n1 to b if o1: 303 @b']],
    'a move over a name that was taken' => [@made, [2, 3, 'put b/n1 y: 201 =y#1'], [4, 5, 'move a/n1 to b: 303 @b']],
    'across tenants: the later is seen, the earlier is not' => [[0, 1, 'put a/n1 x: 201 =x#1'], [2, 3, 'put b/n1 y: 201 =y#1'], [4, 5, 'get b/n1: 200 =y#1'], [6, 7, 'get a/n1: 404']],
    'an acknowledged write is gone' => [@made, [2, 3, 'get a/n1: 404']],
    'an old address leads nowhere' => [@made, [2, 3, 'move a/n1 to b: 303 @b'], [4, 5, 'move b/n1 to c: 303 @c'], [6, 7, 'get a/n1: 301 @b']],
);

sub claim {
    my ($number, $begin, $end, $do, $consumer, $amount, $generation, $told) = @_;
    my %op = (id => "o$number", client => 'c', begin => $begin, end => $end, do => $do, consumer => $consumer, amount => $amount, generation => $generation);
    $do eq 'read' ? @op{qw(status told)} = (200, $told) : ($op{status} = $told);
    return \%op;
}

# [begin, end, what, consumer, amount, generation, told]; a provider has 8.
my %good_claims = (
    'as much as there is' => [[0, 9, 'claim', 'u', 5, undef, 204], [0, 9, 'claim', 'v', 5, undef, 409], [10, 11, 'claim', 'v', 3, undef, 204]],
    'a generation at a time' => [[0, 1, 'claim', 'u', 5, undef, 204], [2, 3, 'claim', 'u', 2, 1, 204], [4, 5, 'read', 'u', 0, undef, '2:2'], [6, 7, 'release', 'u', 0, undef, 204]],
    'an uncertain one that happened' => [[0, undef, 'claim', 'u', 5, undef, undef], [1, 2, 'read', 'u', 0, undef, ''], [3, 4, 'claim', 'v', 5, undef, 409]],
);
my %bad_claims = (
    'more than there is' => [[0, 9, 'claim', 'u', 5, undef, 204], [0, 9, 'claim', 'v', 5, undef, 204]],
    'one generation twice' => [[0, 1, 'claim', 'u', 1, undef, 204], [2, 9, 'claim', 'u', 2, 1, 204], [2, 9, 'claim', 'u', 3, 1, 204]],
    'a claim that is gone' => [[0, 1, 'claim', 'u', 1, undef, 204], [2, 3, 'read', 'u', 0, undef, '']],
    'done twice' => [[0, undef, 'claim', 'u', 1, undef, undef], [2, 3, 'read', 'u', 0, undef, '2:1']],
);

sub claims_judged {
    my ($check, @ops) = @_;
    my $n = 0;
    return $check->(Tenure::History::Claims->new, [map { claim($n++, @$_) } @ops]);
}

# Which histories a checker judges wrongly.
sub mistaken {
    my ($check) = @_;
    return ((grep { defined judged($check, @{ $good{$_} }) } sort keys %good), (grep { !defined judged($check, @{ $bad{$_} }) } sort keys %bad),
        (grep { defined claims_judged($check, @{ $good_claims{$_} }) } sort keys %good_claims), (grep { !defined claims_judged($check, @{ $bad_claims{$_} }) } sort keys %bad_claims));
}

my $check = \&Tenure::History::check;
is judged($check, @{ $good{$_} }), undef, "passes: $_" for sort keys %good;
isnt judged($check, @{ $bad{$_} }), undef, "fails: $_" for sort keys %bad;
is claims_judged($check, @{ $good_claims{$_} }), undef, "claims, passes: $_" for sort keys %good_claims;
isnt claims_judged($check, @{ $bad_claims{$_} }), undef, "claims, fails: $_" for sort keys %bad_claims;

subtest 'a counterexample is small' => sub {
    my @noise = map { my $t = 20 + 3 * $_; ([$t, $t + 1, "put a/n2 y$_: " . ($_ == 0 ? "201" : '200')], [$t + 1, $t + 2, 'get b/n2: 404']) } 0 .. 40;
    my $text = judged($check, @noise, map { [$_->[0] + 60, $_->[1] + 60, $_->[2]] } @{ $bad{'a stale read'} });
    like $text, qr/\Ano serial order explains 3 of 85 operations/, 'what has no part in it is left out';
    like $text, qr{put a/n1 x: 201 x revision 1\n.*append a/n1 a: 200.*\n.*where none of these is possible.*\n.*get a/n1: 200 x revision 1}s, 'the rest is shown in its order';
};

subtest 'more than can be looked at' => sub {
    my @ops = (@made, (map { [2, 100, "put a/n1 p$_: 200"] } 1 .. 9), [101, 102, 'get a/n1: 404']);
    like judged(sub { my (@given) = @_; return Tenure::History::check(@given[0, 1], most => 50) }, @ops), qr/\Anot decided after 50/, 'is no success';
};

# The checker with something left out or turned round: each of these is noticed by some history above. Each has the file, what stands
# there, and what is put in its place.
my @mutants = (
    ['nobody looks at the times',                  'History', 'last if $sure[$i]{begin} > $least;', ''],
    ['one end counts, not the earliest',           'History', 'if $sure[$i]{end} < $least', 'if $least > 9e98'],
    ['uncertain operations never happen',          'History', 'next if $is_applied{ $op->{id} };', 'next;'],
    ['uncertain ones happen before they are asked', 'History', 'last if $op->{begin} > $least;', ''],
    ['uncertain ones happen again and again',      'History', 'next if $is_applied{ $op->{id} };', ''],
    ['what leaves the state as it is comes first', 'History', 'if ($model->is_idle($sure[$i]))', 'if ($model->key($after) eq $model->key($state))'],
    ['no second choice',                           'History', 'my $choice = shift @{ $frame->{choices} };', 'my $choice = shift @{ $frame->{choices} }; $frame->{choices} = [];'],
    ['the state is not remembered',                'History', ', $model->key($state) }++', ' }++'],
    ['what is done is not remembered',             'History', q($low, @done, '/'), q('/')],
    ['nothing is undone',                          'History', '$mark->($frame->{taken}, 0) if $frame->{taken};', ''],
    ['counts are not compared',                    'History/Registry', q($told && $op->{status} == 412 ? $state : undef if !$holds;), 'undef if 0;'],
    ['guards hold',                                'History/Registry', 'return 1 if !defined $op->{if};', 'return 1;'],
    ['revisions are not compared',                 'History/Registry', 'return 0 if defined $op->{revision}', 'return 0 if 0 && defined $op->{revision}'],
    ['contents are not compared',                  'History/Registry', 'return 0 if defined $op->{content} ', 'return 0 if 0 && defined $op->{content} '],
    ['lists may be short',                         'History/Registry', 'my $seen = $op->{all}{$name} or return undef;', 'my $seen = $op->{all}{$name} or next;',
        'return undef if @live != keys %{ $op->{all} };', ''],
    ['names are never taken',                      'History/Registry', 'sub _blocked {', 'sub _blocked { return;'],
    ['a move leaves what it moves',                'History/Registry', '$state = $self->_with($state, $op->{tenant}, $name, "F,$uid");', ''],
    ['old addresses lead anywhere',                'History/Registry', '(!defined $op->{home} || $op->{home} eq $home)', '1'],
    ['what is deleted is not kept',                'History/Registry', q(length $deleted ? "$kept/$deleted" : $kept), q('')],
    ['claims have no sum',                         'History/Claims', ' && _taken($state, $consumer) + $op->{amount} <= $self->{total}', ''],
    ['claims have no generations',                 'History/Claims', q(($op->{generation} // '-') eq ($generation // '-')), '1'],
);

# Runs a changed module in a process of its own; the first history that it judges wrongly.
sub noticed {
    my ($text) = @_;
    my $pid = open my $out, '-|';
    defined $pid or die "fork: $!\n";
    if (!$pid) {
        local $SIG{__WARN__} = sub { };
        local $SIG{ALRM} = sub { syswrite STDOUT, "(it does not end)\n"; POSIX::_exit(0) };
        alarm 10;
        eval $text or do { syswrite STDOUT, "(broken: $@)\n"; POSIX::_exit(0) };
        my ($first) = eval { mistaken(\&Tenure::History::check) };
        $first = "(it dies: $@)" if $@;
        syswrite STDOUT, "$first\n" if defined $first;
        POSIX::_exit(0);
    }
    my $first = readline $out;
    close $out;
    chomp $first if defined $first;
    return $first;
}

for my $mutant (@mutants) {
    my ($name, $file, @change) = @$mutant;
    my $text = read_file("$FindBin::Bin/lib/Tenure/$file.pm");
    while (my ($from, $to) = splice @change, 0, 2) { $text =~ s/\Q$from\E/$to/ or $name .= " (can't be made: $from)" }
    my $first = noticed($text);
    ok defined $first && $first !~ /\A\(broken/ && $name !~ /can't be made/, "a checker in which $name is noticed" or diag $first;
    note $first if defined $first;
}

done_testing;
