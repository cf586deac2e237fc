#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# scripts/README: each command that it lists prints its usage with --help, and does nothing else.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd ();
use File::Basename qw(dirname);
use File::Temp ();
use Test::More;

use Tenure::Run qw(run_apart read_file);

my $scripts  = ($ENV{TENURE_SRCDIR} // Cwd::abs_path(dirname(__FILE__) . '/..')) . '/scripts';
my @listed   = read_file("$scripts/README") =~ /^    (\S+ +\*?)/mg;
my @commands = map { s/ +\z//r } grep { !/\*\z/ } @listed;
cmp_ok scalar @commands, '>', 15, 'commands are listed';

# A folder in which nothing is to be found, and nothing is to be made.
my $here = File::Temp->newdir('tenure-scripts-XXXXXX', TMPDIR => 1);
chdir "$here" or die "$here: $!";
for my $name (@commands) {
    my ($code, $out, $err) = run_apart("$scripts/$name", '--help');
    is "$code $err", '0 ', "$name --help";
    like $out, qr/^usage:/m, '... prints the usage';
}
ok !-x "$scripts/$_", "$_ is no command" for map { s/ +\*\z//r } grep { /\*\z/ } @listed;
is_deeply [glob '*'], [], 'nothing was made';
chdir '/';

done_testing;
