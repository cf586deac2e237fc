#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Endpoints are compositions: publishing and withdrawing a call is one line of WADL and a SIGHUP; noauth's tokens.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use POSIX ();
use Test::More;
use Time::HiRes ();

use Tenure::Instance;
use File::Copy ();

# The service endpoint reads a copy of the WADL that this test edits.
my $wadl_dir = File::Temp->newdir('tenure-wadl-XXXXXX', TMPDIR => 1);
chmod 0755, "$wadl_dir";
Tenure::Instance::need('lighttpd');
File::Copy::copy($_, "$wadl_dir/") or die "$_: $!" for glob Tenure::Instance::build_dir() . '/build/wadl/*.wadl';
my $instance = Tenure::Instance->start(settings => { 'tenure.wadl_dir' => "$wadl_dir" }, combined => 1);
my $admin    = $instance->admin;
my $ann      = $instance->service('ann:t1:reader');
$admin->make_tenant('t1', tier => 'gold');

sub edit {
    my ($change) = @_;
    my $path = "$wadl_dir/service.wadl";
    local $_ = Tenure::Instance::read_file($path);
    $change->();
    Tenure::Instance::write_file($path, $_);
    kill HUP => $instance->master_pid('service');
    return;
}

subtest 'OPTIONS of anybody' => sub {
    for my $client ($instance->service(undef), $instance->admin(token => undef)) {
        $client->options('/v2.0/t1/persistentvolumes/p')->is_status(204, 'tells the methods of an address');
        $client->options('/baremetal/v1/nodes')->is_status(204, '... also of a bare-metal one');
        $client->get('/v2.0/t1/configmaps')->is_status(401, 'which are not for anybody');
    }
};

subtest 'publishing GET of a tenant' => sub {
    my $before = $ann->get('/v2.0/t1');
    ok $before->status == 404 || $before->status == 405, 'is not offered' or diag $before->describe;
    edit(sub { s{<!-- (<method href="tenancy\.wadl#getTenant"/>) -->}{$1} or die 'no such line' });
    # For a moment workers of before and after the reload serve side by side.
    ok Tenure::Instance::wait_until(sub { !grep { $ann->get('/v2.0/t1')->status != 200 } 1 .. 10 }), 'one line later it is';
    my $get = $ann->get('/v2.0/t1');
    is $get->json->{tenant}{tier}, 'gold', 'with its tier';
    like $ann->get('/application.wadl')->text, qr/getTenant/, 'the WADL tells';
    $instance->service('eve:t2')->get('/v2.0/t1')->is_status(404, 'for those who may read it');
    $ann->put('/v2.0/t1', json => { tenant => {} })->is_problem(405, undef, 'PUT is still none of users\' calls');
    my $head = $ann->head('/v2.0/t1?collections=true');
    $head->is_status(204, 'HEAD comes with GET, and answers as it does where it is published');
    is_deeply [map { $head->header($_) } 'X-Tenant-Tier', 'ETag', 'Vary'], [map { $get->header($_) } 'X-Tenant-Tier', 'ETag', 'Vary'], 'with the same header fields';
    is $head->text, '', 'and no content';
    $ann->head('/v2.0/t1', if_none_match => $get->etag)->is_status(304);
    unlike $instance->log_text('service'), qr/is not in the WADL/, 'as the WADL says';
};

subtest 'withdrawing a call' => sub {
    edit(sub { s{<method href="tenancy\.wadl#deleteResource"/>}{} or die 'no such line' });
    my $member = $instance->service('ann:t1:member');
    $member->put('/v2.0/t1/persistentvolumes/p', json => {})->is_status(201);
    # Workers that read the older one may still answer: what they would delete is not there.
    my $refused = sub { my $answer = $member->delete('/v2.0/t1/persistentvolumes/none'); $answer->status == 405 && $answer };
    ok Tenure::Instance::wait_until($refused), 'one line later it is gone';
    ok Tenure::Instance::wait_until(sub { (grep { $refused->() } 1 .. 10) == 10 }), 'for good';
    unlike $refused->()->header('Allow'), qr/DELETE/, 'from Allow as well';
    $admin->delete('/v2.0/t1/persistentvolumes/p')->is_status(204, 'the admin endpoint has it still');
};

subtest 'a mistake in the WADL' => sub {
    edit(sub { s{tenancy\.wadl#putResource}{tenancy.wadl#putResourc} or die 'no such line' });
    ok Tenure::Instance::wait_until(sub { $instance->log_text('service') =~ /nothing is reloaded.*service\.wadl:\d+.*putResourc\b/ }),
        'is told in the log, with file and line';
    $instance->service('ann:t1:member')->put('/v2.0/t1/persistentvolumes/q', json => {})->is_status(201, 'and what was before goes on');
    my ($code, $text) = $instance->manage('config', 'check');
    is $code, 78, 'config check finds it, too';
    like $text, qr/service\.wadl:\d+.*putResourc\b/, 'where it is';
};

subtest 'reloading under load' => sub {
    edit(sub { s{#putResourc"}{#putResource"} });
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        my $bad = 0;
        for (1 .. 300) {
            $bad++ if $admin->get('/v2.0/t1')->status != 200;
        }
        POSIX::_exit($bad > 0);
    }
    for (1 .. 8) {
        kill HUP => $instance->master_pid('admin');
        Time::HiRes::sleep(0.05);
    }
    waitpid $pid, 0;
    is $? >> 8, 0, 'refuses and cuts no request';
};

subtest 'tokens of noauth' => sub {
    $admin->make_tenant('a:b%20c');
    my $client = $instance->combined(undef);
    $client->get('/v2.0/t1', as => 'admin')->is_status(200, '"admin" is the operator');
    $client->put('/v2.0/t4', as => 'admin')->is_status(201, 'and may what operators may');
    $client->put('/v2.0/t5', as => 'ann:t1')->is_status(403, 'USER:TENANT is none');
    my $pv = '/v2.0/t1/persistentvolumes/noauth';
    $client->put($pv, json => {}, as => 'ann:t1')->is_status(201, 'but may write: admin of its tenant');
    $client->put($pv, json => {}, as => 'ann:t1:reader')->is_status(403, 'USER:TENANT:ROLE');
    $client->put($pv, json => {}, as => 'ann:t1:member')->is_status(200, 'member');
    $client->put($pv, json => {}, as => 'ann:t1:emperor')->is_status(401, 'an unknown role');
    $client->put($pv, json => {}, as => 'ann:t1:operator')->is_status(401, 'operator is no role of a tenant');
    $client->get('/v2.0/a:b%20c/persistentvolumes', as => 'bob:a%3Ab%20c')->is_status(200, 'parts are percent-decoded');
    $client->get($pv, as => 'bob')->is_status(404, 'USER alone belongs to no tenant');
    $client->get($pv)->is_status(401, 'nobody');
    $client->get($pv, as => 'ann:t%zz')->is_status(401, 'malformed');
};

done_testing;
