#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The console while requests are under way: what is pressed or typed twice, answers that come late, in another order, or not at all, and a user
# who is elsewhere by then.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Browser;
use Tenure::Instance;

Tenure::Browser::need();

my $instance = Tenure::Instance->start(auth => 'token', workers => 3);
my $admin    = $instance->admin;
$admin->make_tenant($_) for qw(acme globex initech);
$admin->put("/v2.0/acme/namespaces/default/configmaps/$_", json => { data => { color => 'red' } })->is_status(201) for qw(app old web);
$admin->delete('/v2.0/acme/namespaces/default/configmaps/old');
$admin->put('/v2.0/globex/namespaces/default/configmaps/web', json => {})->is_status(201); # is in the way of a move to globex
my @actors = ('Ann Smith', 'CN=bob,O=acme');
$admin->put('/v2.0/acme/webhooks/chat', json => { url => 'https://receiver.invalid/', verbs => ['purged'], actors => \@actors })->is_status(201);

Tenure::Browser::play('waiting', { url => $admin->url, service => $instance->service(undef)->url, origins => [ $instance->service(undef)->url ],
    operator => $instance->operator_token, boss => $instance->token('acme', 'admin') });

is $instance->sql_value(q(SELECT COUNT(*) FROM tokens WHERE user = 'carl')), 1, 'one token was made of two clicks';
is_deeply $admin->get('/v2.0/acme/webhooks/chat')->json->{actors}, \@actors, 'users of a webhook are as they were, with blanks and commas';
$instance->stop;
done_testing;
