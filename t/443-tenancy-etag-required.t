#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Tenants that insist on If-Match, and the configuration that does for all.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start;
my $admin    = $instance->admin;
my ($true, $false) = (JSON::PP::true(), JSON::PP::false());

# Every write of what exists, without a precondition, with a wrong one, and with the right one. needs: it is insisted on.
sub check_writes {
    my ($tenant, $needs) = @_;
    for my $path ("/v2.0/$tenant/persistentvolumes/p", "/v2.0/$tenant/namespaces/default/configmaps/c", "/v2.0/$tenant/namespaces/n") {
        my $made = $admin->put($path, json => { n => 0 });
        $made->is_status(201, "PUT of $path makes it without a precondition");
        my $n = 0;
        for my $write (['PUT', json => { n => 1 }], ['PATCH', patch => { n => 2 }],
            ['PATCH', type => 'application/json-patch+json', body => '[{"op":"replace","path":"/n","value":3}]'], ['DELETE']) {
            my ($method, @body) = @$write;
            if ($needs) {
                my $before = $admin->get($path)->text;
                my $bare   = $admin->request($method, $path, @body);
                $bare->is_problem(428, 'precondition_required', "$method without: 428");
                like $bare->detail, qr/If-Match/, 'it says what to send';
                is $admin->get($path)->text, $before, 'and changes nothing';
                $admin->request($method, $path, @body, if_none_match => '"other"')
                    ->is_problem(428, 'precondition_required', 'If-None-Match with a tag protects nobody');
            }
            $admin->request($method, $path, @body, if_none_match => '*')->is_problem(412, 'stale', "$method with If-None-Match: * is 412")
                if $method ne 'DELETE';
            $admin->request($method, $path, @body, if_match => '"0"')->is_problem(412, 'stale', "$method with a wrong tag is 412");
            my $etag = $admin->get($path)->etag;
            $admin->request($method, $path, @body, $needs ? (if_match => $etag) : ())->is_status($method eq 'DELETE' ? 204 : 200, "$method is done");
        }
        $admin->post("$path/action/recover")->is_status(204, 'an action needs none');
    }
    return;
}

subtest 'a tenant that does not' => sub {
    my $made = $admin->make_tenant('plain');
    ok !exists $made->json->{tenant}{etag_required}, 'nothing is said of it';
    is $made->header('X-Tenant-Etag-Required'), undef, 'nor in the header fields';
    check_writes('plain', 0);
};

subtest 'a tenant that does' => sub {
    my $made = $admin->make_tenant('strict', etag_required => $true);
    ok $made->json->{tenant}{etag_required}, 'made so';
    like $admin->get('/v2.0/strict', accept => 'application/xml')->text, qr/etag_required="true"/, 'in XML as well';
    like $admin->get('/v1.0/strict', accept => 'application/xml')->text, qr/<account [^>]*etag_required="true"/, 'in both vocabularies';
    is $admin->head('/v2.0/strict')->header('X-Tenant-Etag-Required'), 'true', 'HEAD says what GET says';
    is $admin->head('/v1.0/strict')->header('X-Account-Etag-Required'), 'true', 'in both, too';
    check_writes('strict', 1);
    my $user = $instance->service('ann:strict:member');
    $user->put('/v2.0/strict/persistentvolumes/u', json => {})->is_status(201);
    $user->delete('/v2.0/strict/persistentvolumes/u')->is_problem(428, 'precondition_required', 'for users as for operators');
};

subtest 'the tenant itself' => sub {
    for my $write (['PUT', json => { tenant => { tier => 'gold' } }], ['PATCH', patch => { tenant => { tier => 'gold' } }], ['DELETE']) {
        my ($method, @body) = @$write;
        $admin->request($method, '/v2.0/strict', @body)->is_problem(428, 'precondition_required', "$method without: 428");
    }
    my $now = $admin->get('/v2.0/strict');
    my $put = $admin->put('/v2.0/strict', json => { tenant => { tier => 'gold' } }, if_match => $now->etag);
    $put->is_status(202);
    ok $put->json->{tenant}{etag_required}, 'a PUT that leaves it out keeps it';
    my $off = $admin->patch('/v2.0/strict', { tenant => { etag_required => undef } }, if_match => $put->etag);
    $off->is_status(200);
    ok !exists $off->json->{tenant}{etag_required}, 'a PATCH takes it away';
    isnt $off->etag, $put->etag, 'which is a change of the tenant';
    $admin->put('/v2.0/strict/namespaces/n', json => { n => 9 })->is_status(200, 'and at once nobody insists');
    my $on = $admin->put('/v2.0/strict', json => { tenant => { etag_required => $true } });
    $on->is_status(202, 'it comes back by PUT');
    $admin->put('/v2.0/strict', json => { tenant => { etag_required => $false } }, if_match => $on->etag)->is_status(202, 'and goes by PUT');
    $admin->put('/v2.0/strict', json => { tenant => { etag_required => 'yes' } })->is_problem(400, 'bad_document', 'true or false, nothing else');
    my ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'the stored etags are those of the stored content' or diag $text;
};

subtest 'moves go by their own precondition' => sub {
    $admin->make_tenant('from', etag_required => $true);
    $admin->make('/v2.0/from/persistentvolumes/m');
    $admin->post('/v2.0/from/persistentvolumes/m/action/move?dest=plain')->is_status(303);
};

$instance->stop;
my $global = Tenure::Instance->start(settings => { 'tenure.etag_required' => 'yes' });
$admin = $global->admin;

subtest 'for all tenants, by the configuration' => sub {
    $admin->make_tenant('any');
    check_writes('any', 1);
    my $put = $admin->put('/v2.0/any', json => { tenant => { tier => 'gold' } });
    $put->is_problem(428, 'precondition_required', 'tenants too');
    like $put->detail, qr/tenants and resources/, 'it says that it is so everywhere';
};

done_testing;
