#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenant_tokens = 0: the API makes no tokens, and goes on to list and revoke those of tenure-manage.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $instance = Tenure::Instance->start(auth => 'token', settings => { 'tenure.token_cache' => 0, 'tenure.tenant_tokens' => 0 });
my $admin    = $instance->admin;
$admin->make_tenant('t1');
my $reader = $instance->token('t1', 'reader');
my $its    = $instance->service($instance->token('t1', 'admin'));
my ($id)   = $reader =~ /(.*)\./;
for my $case ([$its, 't1', 'an admin'], [$admin, 't1', 'an operator'], [$admin, 'system', 'an operator for operators']) {
    my ($client, $tenant, $who) = @$case;
    my $answer = $client->post("/v2.0/$tenant/tokens", json => { token => { user => 'x' } });
    $answer->is_problem(403, 'forbidden', "$who makes none");
    like $answer->detail, qr/tenure-manage token create/, '... and is told who does';
}
is_deeply [map { $_->{state} } grep { $_->{id} eq $id } @{ $its->get('/v2.0/t1/tokens')->json->{tokens} }], ['valid'], 'the list has what tenure-manage made';
$its->delete("/v2.0/t1/tokens/$id")->is_status(204);
$instance->service($reader)->get('/v2.0/t1/namespaces')->is_status(401, 'and a token is revoked');

done_testing;
