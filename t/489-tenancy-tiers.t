#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The list of tiers, for operators.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;
$admin->make_tenant('t1');
is +($instance->manage('tier', 'set', 'a b&c/ü', '--max-resources', '7', '--description', 'of seven'))[0], 0, 'a tier with a hard name';

my @tiers = @{ $admin->get('/v2.0/all/tiers')->json->{tiers} };
my %tier  = map { ($_->{name} => $_) } @tiers;
is_deeply $tier{bronze}, { name => 'bronze', max_resources => 1000, description => 'Up to 1,000 resources' }, 'one of them';
ok exists $tier{standard} && !exists $tier{standard}{max_resources}, 'one without a limit';
my ($hard) = grep { ($_->{max_resources} // 0) == 7 } @tiers;
is $hard->{description}, 'of seven', 'the new one';
$admin->put('/v2.0/t1', json => { tenant => { tier => $hard->{name} } })->is_status(202, 'a tenant may be put into it by that name');
my (@pages, $path);
for ($path = '/v2.0/all/tiers?limit=1'; defined $path && @pages < 20;) {
    my $page = $admin->get($path)->json;
    push @pages, @{ $page->{tiers} };
    $path = defined $page->{next} ? $admin->path_of($page->{next}) : undef;
}
is_deeply \@pages, \@tiers, 'page by page the same';
like $admin->get('/v2.0/all/tiers', headers => { Accept => 'application/xml' })->text, qr/<tiers[^>]*>\s*<tier name=/, 'as XML';
$admin->get("/v2.0/all/tiers?$_")->is_status(400, "refused: $_") for 'limit=0', 'limit=x', 'marker=', 'unknown=1';
$instance->combined('ann:t1:admin')->get('/v2.0/all/tiers')->is_status(403, 'for operators alone');
$instance->service('ann:t1:admin')->get('/v2.0/all/tiers')->is_status(404, 'the endpoint of users has no such list');

done_testing;
