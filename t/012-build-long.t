#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# scripts/check --long: each run leaves a row, however it ends; t/limited: a test that hangs is ended by its name.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd ();
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use POSIX ();
use Test::More;
use Time::HiRes ();

use Tenure::Run qw(read_file write_file);

my $top  = $ENV{TENURE_SRCDIR} // Cwd::abs_path(dirname(__FILE__) . '/..');
my $tree = tempdir(CLEANUP => 1);
my $rows = "$tree/rows";

$ENV{TENURE_CHECK_DIR} = "$tree/work";
$ENV{TENURE_LONG_RUNS} = $rows;
delete @ENV{qw(TENURE_SEED TENURE_LONG_MINUTES TENURE_TEST_DEADLINE TENURE_TEST_FACTOR)};

sub put {
    my ($file, $text, $mode) = @_;
    make_path(dirname("$tree/$file"));
    write_file("$tree/$file", $text);
    chmod $mode // 0644, "$tree/$file";
    return;
}

# (code, both outputs)
sub run {
    my ($command) = @_;
    my $text = qx{cd "$tree" && $command 2>&1};
    return ($? >> 8, $text);
}

# An area that needs nothing built; LINES are its header's and its own.
sub area { my ($name, $lines) = @_; return put("scripts/long/$name", "#!/bin/sh\n# builds: none\n# needs: build\n$lines", 0755) }

sub last_row {
    my @rows = split /\n/, read_file($rows);
    return [ map { s/\A\s+|\s+\z//gr } split /\|/, $rows[-1] // '' ];
}

put($_, read_file("$top/$_"), 0755) for qw(scripts/check scripts/check-long scripts/check-common scripts/prove-again scripts/install-deps t/limited);
put('configure', "PACKAGE_VERSION='7.8'\n");

subtest 'a run that passes' => sub {
    area('good', "# long: what is good\necho found=1 >>\$TENURE_LONG_COUNTS; echo 'found=12' >>\$TENURE_LONG_COUNTS\n"
            . "echo \"seed \$TENURE_SEED shard \$TENURE_SHARD\"; test -d \"\$TENURE_LONG_DIR\"\n");
    my ($code, $text) = run('scripts/check --long good --seed 42 --shard 2/3');
    is $code, 0, 'ends with 0' or diag $text;
    like $text, qr/^seed 42 shard 2\/3$/m, 'the area is told seed and shard';
    my $row = last_row();
    like $row->[1], qr/\A\d{4}-\d\d-\d\d \d\d:\d\d\z/, 'its row: when it began';
    is_deeply [ @$row[ 3, 4, 5, 7 ] ], [ 'good 2/3', 42, 'found 12', 'passed' ], 'area and shard, seed, the last counts, result';
    like $row->[6], qr/\A0 min \d\d s\z/, 'duration';
    ($code, $text) = run('scripts/check --long list');
    like $text, qr/^good +what is good$/m, 'it is listed with its sentence';
};

subtest 'a run that fails' => sub {
    area('bad', "echo tried=3 >>\$TENURE_LONG_COUNTS\necho 'two | leaks'\nexit 3\n");
    my ($code) = run('scripts/check --long bad');
    is $code, 3, 'ends as the area does';
    my $row = last_row();
    like $row->[4], qr/\A\d+\z/, 'a seed was drawn';
    is_deeply [ @$row[ 3, 5, 7 ] ], [ 'bad', 'tried 3', 'FAILED: two / leaks' ], 'its row has the last words';
};

subtest 'a run whose tests are skipped' => sub {
    area('nothing', "echo '1..0 # SKIP the peer is not installed'\n");
    my ($code) = run('scripts/check --long nothing');
    is $code, 69, 'is no success';
    is last_row()->[7], 'FAILED: nothing was tried: 1..0 # SKIP the peer is not installed', 'its row says why';
};

subtest 'a run that hangs' => sub {
    area('slow', "# minutes: 0.01\nexec sleep 600\n");
    my ($code) = run('scripts/check --long slow');
    is $code, 124, 'is ended';
    is last_row()->[7], 'FAILED: ended after 0.01 minutes', 'and its row says so';
    area('slow', "# minutes: 60\nexec sleep 600\n");
    run('TENURE_LONG_MINUTES=0.01 scripts/check --long slow');
    is last_row()->[7], 'FAILED: ended after 0.01 minutes', 'after as many minutes as the caller gives it';
};

subtest 'a run that is interrupted' => sub {
    area('wait', "echo begun=1 >>\$TENURE_LONG_COUNTS\nexec sleep 600\n");
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDOUT, '>', "$tree/wait.out" or POSIX::_exit(1);
        chdir $tree;
        exec 'scripts/check', '--long', 'wait' or POSIX::_exit(1);
    }
    my $until = time + 60;
    Time::HiRes::sleep(0.05) while time < $until && read_file("$tree/work/long-wait-1-of-1.counts") !~ /begun/;
    kill TERM => $pid;
    waitpid $pid, 0;
    is last_row()->[7], 'interrupted', 'leaves its row';
    is last_row()->[5], 'begun 1', 'with what it had counted';
};

subtest 'mistakes' => sub {
    my $before = read_file($rows);
    for my $arguments ('', 'none', '../check', 'good --shard 3/2', 'good --shard 0/2', 'good --seed x', 'good bad', '--what') {
        my ($code, $text) = run("scripts/check --long $arguments");
        is $code, 64, "\"$arguments\" is refused";
        isnt $text, '', 'with a text';
    }
    is read_file($rows), $before, 'none leaves a row';
};

# ---- t/limited

put('t/seconds', "# usual times\nquick   1\nlong 100\n");
put('t/quick.t', "print qq(1..1\\nok 1\\n);\n");
put('t/dies.t',  "print qq(1..1\\nnot ok 1\\n); exit 5;\n");
put('t/killed.t', "print qq(1..1\\nok 1\\n); kill KILL => \$\$;\n");
put('t/hangs.t', <<'PERL');
$| = 1;
$SIG{TERM} = sub { exit 130 };
my $pid = fork;
if (!$pid) { $SIG{TERM} = 'IGNORE'; sleep 600; exit }
open my $out, '>', 'child'; print {$out} $pid; close $out;
print "ok 1 - begun\n";
sleep 600;
END { if ($pid) { open my $out, '>', 'cleaned' } }
PERL

subtest 'a test within its limit' => sub {
    my ($code, $text) = run('t/limited t/quick.t');
    is $code, 0, 'ends as it does';
    like $text, qr/^ok 1$/m, 'its output passes';
    is((run('t/limited t/dies.t'))[0], 5, 'its exit code, too');
    is((run('t/limited t/killed.t'))[0], 137, 'and its end by a signal');
};

subtest 'a test that takes longer' => sub {
    my ($code, $text) = run('TENURE_TEST_FACTOR=0.05 t/limited t/hangs.t'); # five seconds: it has to start before
    is $code, 1, 'fails';
    like $text, qr{^not ok - t/hangs\.t: ended after 5 s, 10 times its usual 10 s$}m, 'with its name and limit';
    ok -e "$tree/cleaned", 'its END blocks ran';
    my $child = read_file("$tree/child");
    my $until = time + 30;
    Time::HiRes::sleep(0.05) while time < $until && kill(0, $child) && read_file("/proc/$child/stat") !~ /\) Z /;
    ok !kill(0, $child) || read_file("/proc/$child/stat") =~ /\) Z /, 'and what it left is killed';
};

subtest 'the limit of the whole run' => sub {
    my $soon = time + 15; # seconds that a loaded machine may take to start prove, and more
    my ($code, $text) = run("TENURE_TEST_DEADLINE=$soon prove --exec t/limited t/hangs.t t/quick.t");
    isnt $code, 0, 'fails';
    like $text, qr{t/hangs\.t: ended after \d+ s, the limit of the whole run}, 'the test that runs is ended by its name';
    like $text, qr{t/quick\.t: not run, the limit of the whole run is over}, 'those after it are not run';
    like $text, qr{^t/\w+\.t +\(Wstat}m, 'the summary lists them';
};

# Of a file that fails once, and passes from then on.
put('t/once.t', "my \$first = mkdir 'begun'; print qq(1..1\\n), \$first ? 'not ' : '', qq(ok 1\\n);\n");

subtest 'tests that failed beside others' => sub {
    my ($code, $text) = run('scripts/prove-again . 2 t/once.t t/quick.t');
    is $code, 0, 'pass if they pass alone' or diag $text;
    is read_file("$tree/unstable"), "t/once.t\n", 'and are listed';
    ($code, $text) = run('scripts/prove-again . 2 t/quick.t t/dies.t t/killed.t');
    is $code, 1, 'fail if they fail alone';
    like $text, qr{Once more, one at a time: t/dies\.t t/killed\.t$}m, 'having been run again';
    ok !-e "$tree/unstable", 'and nothing is listed';
    put("t/fails$_.t", "die\n") for 1 .. 7;
    ($code, $text) = run('scripts/prove-again . 2 t/fails*.t');
    is $code, 1, 'are not run again where many fail';
    unlike $text, qr/Once more/, 'as that is no chance';
    put("t/fine$_.t", "print qq(1..1\\nok 1\\n);\n") for 1 .. 14;
    ($code, $text) = run('scripts/prove-again . 2 t/fails*.t t/fine*.t');
    is $code, 1, 'fail if they are many of very many';
    is scalar(() = $text =~ /Once more/g), 1, '... having been run again once';
};

# The areas that run all API tests: with small tests in place of these, and no build.
subtest 'the area of all API tests' => sub {
    put("t/9$_-all.t", "print qq(1..2\nok 1\nok 2\n);\n") for 10 .. 14;
    put('t/920-all.t', "print qq(1..0 # SKIP no reason\n);\n");
    put("scripts/long/$_", read_file("$top/scripts/long/$_") =~ s/^# builds: .*$/# builds: none/mr, 0755) for 'tests', 'tests-sanitizers';
    local @ENV{qw(TENURE_BUILD TENURE_LONG_TESTS)} = ($tree, '-all');
    my %ran;
    for my $shard (1, 2) {
        my ($code, $text) = run("scripts/check --long tests --shard $shard/2");
        is $code, 0, "part $shard passes" or diag $text;
        $ran{$_}++ for $text =~ /(t\/9\d\d-all)\b[^\n]* (?:ok|skipped)/g;
    }
    is_deeply \%ran, { map { ("t/9$_-all" => 1) } 10 .. 14, 20 }, 'each test is in one part';
    is last_row()->[7], 'passed', 'the row says so';
    my %count = map { /^(.*) (\d+)$/ ? ($1 => $2) : () } split /, /, last_row()->[5];
    is $count{files}, 3, 'with the number of files';
    put('t/921-all.t', "print qq(1..1\nnot ok 1\n); exit 1;\n");
    my ($code) = run('TENURE_TEST_FACTOR=7 scripts/check --long tests-sanitizers');
    isnt $code, 0, 'a test that fails';
    is last_row()->[7], 'FAILED: t/921-all.t', 'is named in the row';
    is last_row()->[5], 'files 7, tests 11, skipped 1, unstable 0', 'with what was run';
};

# The long run of strangers builds the program with such changes, which its sample has to find.
subtest 'the holes of scripts/long/strangers' => sub {
    my $holes = read_file("$top/scripts/long/strangers");
    my $found = 0;
    while ($holes =~ /^\thole ([\w-]+) ('[^']*')\s(?:\\\n)?\s*((?:src\S+\s+)+)/mg) {
        my ($name, $change, $files) = ($1, $2, $3);
        $found++;
        for my $file (split ' ', $files) {
            my $changed = qx{perl -0pe $change '$top/$file'};
            isnt $changed, read_file("$top/$file"), "$name changes $file";
        }
    }
    is $found, scalar(() = $holes =~ /^\thole /mg), 'all of them';
};

done_testing;
