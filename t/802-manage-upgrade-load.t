#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The release before goes on serving while its database is upgraded, and after it: 20,000 resources, clients that write, programs that
# are reloaded and started meanwhile, and an upgrade that is killed again and again. Needs the history of the repository, from which that release is built.
# `scripts/check --long upgrade` does the same with 1,000,000 resources, and from every release.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use Test::More;

use Tenure::Run qw(run);
use Tenure::Upgrade;

Tenure::Upgrade::need_programs();
my $top = Tenure::Upgrade::top();
my ($release) = reverse Tenure::Upgrade::releases();
my $dir = File::Temp->newdir('upgrade-load-XXXXXX', TMPDIR => 1);
my ($code, $text) = run("$top/t/upgrade/build-release", $release, $ENV{TENURE_RELEASES} // "$dir/build");
plan skip_all => "the program of the release before is built from the repository's history, and $text" if $code == 69;
is $code, 0, "the program of schema version $release is built" or diag $text;
chomp(my ($build) = $text =~ /^(.*)\n\z/m);
($code, $text) = run("$top/t/upgrade/load", '--kill', $release, 20_000, $build, "$dir/load");
is $code, 0, 'nothing was refused, and nothing lost' or diag $text;
note $text;
done_testing;
