#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The tenant of users whose credential names none.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $cms = '/api/v1/namespaces/default/configmaps';
my $cm  = { metadata => { name => 'c1' } };

subtest 'none is set' => sub {
    my $nobodys = Tenure::Instance->start(combined => 1)->combined('carol');
    for my $answer ($nobodys->get($cms), $nobodys->post($cms, json => $cm), $nobodys->get('/api/v1')) {
        $answer->is_status(403, 'somebody of no tenant has no space');
        like $answer->json->{message}, qr/no tenant/, 'and is told so';
    }
};

subtest 'one is set' => sub {
    my $instance = Tenure::Instance->start(combined => 1, settings => { 'tenure.default_tenant' => 'home' });
    my $carol    = $instance->combined('carol');
    my $made     = $carol->post($cms, json => $cm);
    $made->is_status(201, 'it is made when it is needed');
    is $made->json->{metadata}{selfLink}, '/api/v1/tenants/home/namespaces/default/configmaps/c1', 'and theirs';
    $carol->get('/v2.0/home/namespaces/default/configmaps/c1')->is_status(200, 'in every dialect');
    is $instance->combined('dave:acme')->get($cms)->json->{items}[0], undef, 'not that of those who have one';
    $instance->combined('admin')->get("$cms/c1")->is_status(404, 'nor the operator\'s');
};

done_testing;
