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
    my $instance = Tenure::Instance->start(combined => 1, workers => 3, settings => { 'tenure.default_tenant' => 'home' });
    my $carol    = $instance->combined('carol');
    my $admin    = $instance->combined('admin');
    is join(' ', map { $_->{metadata}{name} } @{ $admin->get('/api/v1/tenants')->json->{items} }), 'home system', 'it is there from the start';
    is join(' ', map { $_->{metadata}{name} } @{ $carol->get('/api/v1/namespaces')->json->{items} }), 'default', 'with its space';
    $carol->get('/api/v1/tenants/home')->is_status(200, 'which its users see') for 1 .. 9;
    is $instance->sql_value("SELECT COUNT(*) FROM changes WHERE resource_id IS NULL AND verb = 'created'"), 1, 'made once';
    my $made = $carol->post($cms, json => $cm);
    $made->is_status(201, 'they put something into it');
    is $made->json->{metadata}{selfLink}, '/api/v1/tenants/home/namespaces/default/configmaps/c1', 'and theirs';
    $carol->get('/v2.0/home/namespaces/default/configmaps/c1')->is_status(200, 'in every dialect');
    is $instance->combined('dave:acme')->get($cms)->json->{items}[0], undef, 'not that of those who have one';
    $admin->get("$cms/c1")->is_status(404, 'nor the operator\'s');
    $admin->get("/api/v1/tenants/home/namespaces/default/configmaps/c1")->is_status(200, 'who names it');
    $instance->combined('carol')->get("/api/v1/tenants/acme/namespaces/default/configmaps/c1")->is_status(403, 'a full path names the space for them as well');
    $carol->get($cms, as => undef)->is_status(401, 'who shows nothing is nobody, of no tenant either');
    $admin->delete('/api/v1/tenants/home')->is_status(200, 'deleted');
    $carol->post($cms, json => { metadata => { name => 'c2' } })->is_status(404, 'it stays so');
    $admin->get('/v2.0/home')->is_status(410, 'until it is recovered');
};

subtest 'one that is gone' => sub {
    my $instance = Tenure::Instance->start(combined => 1, workers => 2, settings => { 'tenure.default_tenant' => 'home' });
    my $carol    = $instance->combined('carol');
    my $all_are  = sub { return join ' ', map { $carol->get('/v2.0/home/persistentvolumes')->status } 1 .. 6 };
    is $all_are->(), '200 200 200 200 200 200', 'it is there';
    is(($instance->manage('db', 'reset', '--yes'))[0], 0, 'db reset, while workers run');
    is $all_are->(), '200 200 200 200 200 200', '... which makes it anew';
    is(($instance->manage('db', 'reset', '--yes'))[0], 0, 'once more');
    $carol->post($cms, json => $cm)->is_status(201, '... for a change as well');
    $instance->combined('admin')->delete('/api/v1/tenants/home')->is_status(200, 'deleted');
    is $all_are->(), '410 410 410 410 410 410', 'it stays so';
    $instance->sql("UPDATE tenants SET purge_at = deleted_at WHERE name = 'home'");
    is $all_are->(), '200 200 200 200 200 200', 'until it can no longer be recovered';
    $carol->get("$cms/c1")->is_status(404, '... and has nothing of what was in it');
    $instance->combined('admin')->delete('/api/v1/tenants/home')->is_status(200, 'deleted again');
    $instance->sql("UPDATE tenants SET purge_at = deleted_at WHERE name = 'home' AND live = 1");
    is(($instance->manage('reap'))[0], 0, 'and reaped');
    is $all_are->(), '200 200 200 200 200 200', 'the same';
};

# Made by the first request of a worker, whatever that is.
subtest 'any name will do' => sub {
    my $name     = 'The Default: 100% "own"';
    my $instance = Tenure::Instance->start(combined => 1, settings => { 'tenure.default_tenant' => $name });
    my $carol    = $instance->combined('carol');
    my $made     = $carol->post($cms, json => $cm);
    $made->is_status(201, 'one that needs escapes');
    is $made->json->{metadata}{tenant}, $name, 'is theirs';
    is_deeply $instance->combined('admin')->get($made->json->{metadata}{selfLink})->json, $made->json, 'and in full paths';
};

done_testing;
