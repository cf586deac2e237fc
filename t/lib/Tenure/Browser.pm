# SPDX-License-Identifier: Apache-2.0
# Runs a script of t/console/ in Node, which drives a headless Chromium, and makes tests of the checks that it prints.
#
#   Tenure::Browser::need();    # skips the test file without Chromium, Node or playwright-core: scripts/install-deps console
#   Tenure::Browser::play('screens', { url => ..., ... });
#
# TENURE_PICTURES=DIR: the scripts take the pictures of doc/console/ into that folder.
package Tenure::Browser;

use strict;
use warnings;

use File::Temp ();
use JSON::PP   ();
use Test::More ();

use Tenure::Instance;

my $json = JSON::PP->new->utf8->canonical;

sub _modules { return $ENV{TENURE_CONSOLE_MODULES} // Tenure::Instance::source_dir() . '/var/console' }

sub _chromium {
    my ($found) = grep { -x } map { "$_/chromium" } split(/:/, $ENV{PATH}), '/usr/bin';
    return $found;
}

sub need {
    my $missing = !defined _chromium() ? 'chromium is not installed'
        : !Tenure::Instance::on_path('node')              ? 'node is not installed'
        : !-d _modules() . '/node_modules/playwright-core' ? 'playwright-core is not there'
        :                                                    undef;
    Test::More::plan(skip_all => "$missing: scripts/install-deps console") if defined $missing;
    return;
}

# Every line that the script prints is a check; what else it writes is shown if it fails.
sub play {
    my ($script, $settings) = @_;
    my $pictures = $ENV{TENURE_PICTURES};
    local $ENV{TENURE_CONSOLE} = $json->encode({ modules => _modules(), chromium => _chromium(), pictures => $pictures, %$settings });
    binmode $_, ':encoding(UTF-8)' for map { Test::More->builder->$_ } qw(output failure_output todo_output);
    my $errors = File::Temp->new;
    my $path   = Tenure::Instance::source_dir() . "/t/console/$script.mjs";
    open my $node, '-|', 'sh', '-c', 'exec node "$1" 2>"$2"', 'sh', $path, "$errors" or die "node: $!\n";
    while (my $line = <$node>) {
        my $check = eval { $json->decode($line) } or Test::More::diag($line), next;
        Test::More::ok($check->{ok}, $check->{name}) or Test::More::diag($check->{more} // '');
    }
    Test::More::ok(close($node), "$script.mjs ends well") or Test::More::diag(Tenure::Run::read_file("$errors"));
    return;
}

1;
