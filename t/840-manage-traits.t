#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure-manage os-traits sync: the catalogue brought up to a list, by one or by many at once, and never down by itself.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use Test::More;

use Tenure::Instance;
use Tenure::Parallel;

my $instance = Tenure::Instance->start;
my $dir      = File::Temp->newdir('tenure-traits-XXXXXX', TMPDIR => 1);

open my $in, '<', Tenure::Instance::source_dir() . '/sql/schema/os-traits.txt' or die "os-traits.txt: $!\n";
my @shipped = grep { !/^#/ } map { chomp; $_ } <$in>;
close $in;

sub list_file {
    my ($text) = @_;
    open my $out, '>', "$dir/list" or die "$dir/list: $!\n";
    binmode $out;
    print {$out} $text;
    close $out or die "$dir/list: $!\n";
    return "$dir/list";
}

sub catalogue { return map { $_->[0] } $instance->sql('SELECT name FROM traits ORDER BY name') }
sub revision  { return $instance->sql_value(q(SELECT revision FROM catalogues WHERE name = 'traits')) }

# A run of sync that must end with this code; what it said.
sub sync {
    my ($code, @words) = @_;
    my ($is, $text) = $instance->manage('os-traits', 'sync', @words);
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is $is, $code, "sync @words: $code" or diag $text;
    return $text;
}

subtest 'an empty registry has the standard traits' => sub {
    is scalar(@shipped), 345, 'as many as os-traits 2.9.0 has';
    is_deeply \@shipped, [ sort @shipped ], 'in order';
    is_deeply [ catalogue() ], \@shipped, 'db init has added them';
    my $before = revision();
    is sync(0), "standard traits: 0 added, 345 were there already\n", 'nothing is left to add';
    is revision(), $before, 'nor has anybody to be told';
};

subtest 'a newer list' => sub {
    my $list   = list_file("# os-traits 99\r\n\r\nHW_CPU_X86_SSE\r\n  ZZ_NEW \nAA_9\n");
    my $before = revision();
    is sync(0, '--from', $list, '--dry-run'), <<'END', 'a dry run tells what is new';
would add AA_9
would add ZZ_NEW
standard traits: 2 to be added, 1 are there already
END
    is_deeply [ catalogue() ], \@shipped, 'and adds nothing';
    is sync(0, '--from', $list), <<'END', 'it is added, and told';
added AA_9
added ZZ_NEW
standard traits: 2 added, 1 were there already
END
    is_deeply [ catalogue() ], [ sort @shipped, 'AA_9', 'ZZ_NEW' ], 'nothing went';
    is revision(), $before + 1, 'workers can see it';
    is sync(0, "--from=$list"), "standard traits: 0 added, 3 were there already\n", 'once';
    is sync(0, '--from', list_file('NO_NEWLINE')), "added NO_NEWLINE\nstandard traits: 1 added, 0 were there already\n",
        'the last line needs no end';
};

subtest 'a bad list changes nothing' => sub {
    my $before = join ' ', revision(), catalogue();
    my @bad    = (
        [ 'a lower-case letter', "NEW_A\nnew_b\n",            qr{/list:2: "new_b" is no name of a trait: .*A-Z} ],
        [ 'a blank in it',       "NEW_A\n\nNEW B\n",          qr{/list:3: "NEW B" is no name} ],
        [ 'NUL',                 "NEW_A\0B\n",                qr{/list:1: "NEW_A\\x00B" is no name} ],
        [ 'an escape sequence',  "\e[2JNEW\n",                qr{/list:1: "\\x1b\[2JNEW" is no name} ],
        [ 'a byte order mark',   "\xef\xbb\xbfNEW_A\n",       qr{/list:1: "\\xef\\xbb\\xbfNEW_A" is no name} ],
        [ '256 characters',      'N' x 256 . "\n",            qr{/list:1: "N{80}\.\.\." is no name .*1 to 255} ],
        [ 'one twice',           "NEW_A\nNEW_B\nNEW_A\n",     qr{/list:3: NEW_A stands in line 1 already} ],
        [ 'a custom one',        "NEW_A\nCUSTOM_GOLD\n",      qr{/list:2: CUSTOM_GOLD is a custom name} ],
        [ 'nothing in it',       "# nothing\n\n",             qr{/list: there is no name in it} ],
        [ 'an empty file',       '',                          qr{/list: there is no name in it} ],
        [ 'five megabytes',      "# NEW_A\n" x 655_360,       qr{/list: more than \d+ bytes} ],
    );
    like sync(65, '--from', list_file($_->[1])), $_->[2], $_->[0] for @bad;
    like sync(66, '--from', "$dir/none"), qr{/none: No such file}, 'no such file';
    like sync(66, '--from', "$dir"), qr/directory/, 'a folder';
    like sync(64, '--yes'), qr/--prune/, '--yes alone';
    sync(64, '--from');
    sync(64, 'HW_CPU_X86_SSE');
    is join(' ', revision(), catalogue()), $before, 'all is as it was';
};

subtest 'pruning' => sub {
    $instance->sql("INSERT INTO traits (name, created_at, updated_at) VALUES ('$_', NOW(6), NOW(6))")
        for 'CUSTOM_GOLD', 'CUSTOMARY';
    $instance->sql(q(INSERT INTO resource_traits (resource_id, trait_id) SELECT 1, id FROM traits WHERE name = 'AA_9'));
    my @before = catalogue();
    my $unused = 'CUSTOMARY|NO_NEWLINE|ZZ_NEW';
    like sync(0, '--prune'), qr/\A(?:standard.*\n)(?:unused and not in the list: (?:$unused)\n){3}.*--yes/,
        'asked once, it lists what is unused and standard';
    is_deeply [ catalogue() ], \@before, 'and removes nothing';
    unlike sync(0, '--prune', '--yes', '--dry-run'), qr/^removed/m, 'nor does a dry run';
    is_deeply [ catalogue() ], \@before, 'whatever else is said';
    my $revision = revision();
    is scalar(() = sync(0, '--prune', '--yes') =~ /^removed (?:$unused)$/mg), 3, 'asked twice, it removes it';
    is_deeply [ catalogue() ], [ sort @shipped, 'AA_9', 'CUSTOM_GOLD' ], 'what is in use stays, and what is custom';
    is revision(), $revision + 1, 'workers can see it';
    is sync(0, '--prune', '--yes'), "standard traits: 0 added, 345 were there already\n", 'nothing is left to prune';
    is revision(), $revision + 1, 'which is no change';
    $instance->sql('DELETE FROM resource_traits');
};

subtest 'many at once' => sub {
    my @names = map { sprintf 'RACE_%03d', $_ } 1 .. 200;
    my @lists = map {
        my $path = "$dir/race-$_";
        open my $out, '>', $path or die "$path: $!\n";
        print {$out} "$_\n" for @names;
        close $out;
        $path;
    } 0 .. 5;
    my @told = Tenure::Parallel::run(6, sub {
        my ($client) = @_;
        my ($code, $text) = $instance->manage('os-traits', 'sync', '--from', $lists[$client]);
        return "$code " . scalar(() = $text =~ /^added RACE_/mg);
    });
    is_deeply [ sort @told ], [ ('0 0') x 5, '0 200' ], 'all succeed, and one has added what was missing'
        or diag "@told";
    is scalar(grep { /^RACE_/ } catalogue()), 200, 'each name is there once';
};

subtest 'back to the beginning' => sub {
    my $before = revision();
    is(($instance->manage('db', 'reset', '--yes'))[0], 0, 'reset');
    is_deeply [ catalogue() ], \@shipped, 'leaves the standard traits and no others';
    cmp_ok revision(), '>', $before, 'and the revision goes on';
    is(($instance->manage('doctor'))[0], 0, 'all is sound');
    $instance->sql(q(DELETE FROM traits WHERE name LIKE 'HW_%'));
    like(($instance->manage('db', 'init'))[1], qr/^standard traits: [1-9]\d* added/m, 'db init adds what is missing');
    is_deeply [ catalogue() ], \@shipped, 'again';
    $instance->sql(q(DELETE FROM traits WHERE name = 'MISC_SHARES_VIA_AGGREGATE'));
    like(($instance->manage('db', 'upgrade'))[1], qr/^standard traits: 1 added, 344 were/m, 'so does db upgrade');
    is_deeply [ catalogue() ], \@shipped, 'again';
};

done_testing();
