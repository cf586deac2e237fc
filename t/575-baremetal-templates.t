#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Deploy templates: the operator's, named as traits, with steps.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault);

my $instance = Tenure::Instance->start;
my $admin    = Tenure::Metal->new($instance->admin, '1.82');
$instance->admin->make_tenant('t1');
my $ann      = Tenure::Metal->new($instance->service('ann:t1'), '1.82');
my %step     = (interface => 'raid', step => 'apply_configuration', args => { raid_config => { logical_disks => [] } }, priority => 10);

sub template {
    my ($name, %content) = @_;
    return $admin->make('deploy_templates', { name => $name, steps => [{%step}], %content });
}

subtest 'a new one' => sub {
    my $post = $admin->post('/deploy_templates', json => { name => 'CUSTOM_RAID1', steps => [{%step}, { %step, interface => 'bios', priority => '7' }], extra => { a => 1 } });
    $post->is_status(201);
    my $made = $post->json;
    is $post->location, $admin->url . "/v1/deploy_templates/$made->{uuid}", 'Location';
    is_deeply [sort keys %$made], [sort qw(uuid created_at updated_at etag name steps extra links)], 'its members';
    is_deeply $made->{steps}, [{%step}, { %step, interface => 'bios', priority => 7 }], 'its steps, with priorities as numbers';
    is_deeply $made->{links}[0], { rel => 'self', href => $post->location }, 'links';
    is_deeply $admin->get("/deploy_templates/$_")->json, $made, "GET: $_" for $made->{uuid}, uc $made->{uuid}, 'CUSTOM_RAID1', 'CUSTOM_RAID1.json', "$made->{uuid}.json";
    is_deeply $admin->get('/deploy_templates/CUSTOM_RAID1?fields=steps')->json, { map { $_ => $made->{$_} } qw(steps links etag) }, 'fields';
    is_deeply template('HW_CPU_X86_AVX')->{extra}, {}, 'a standard trait is a name, too; extra is empty';
    is_fault($admin->get('/deploy_templates/CUSTOM_NONE'), 404, qr/\ADeploy template CUSTOM_NONE could not be found\.\z/, 'one that is not there');
};

subtest 'what is refused' => sub {
    my $refused = sub {
        my ($content, $text, $name) = @_;
        my %all = (name => 'CUSTOM_REFUSED', steps => [{%step}], %$content);
        delete $all{$_} for grep { ref $all{$_} eq 'SCALAR' } keys %all;
        return is_fault($admin->post('/deploy_templates', json => \%all), 400, $text, $name);
    };
    $refused->({ $_ => \1 }, qr/\ASchema error for template: '$_' is a required property/, "without $_") for 'name', 'steps';
    $refused->({ name => $_ }, qr/\ASchema error for template: the name .* must be a valid trait/, "the name $_") for 'raid', 'CUSTOM_', 'CUSTOM_raid', 'HW_NO_SUCH_TRAIT', '', 'CUSTOM_A.json';
    $refused->({ name => 'CUSTOM_' . 'A' x 249 }, qr/256 characters/, 'a long name');
    $refused->({ name => undef }, qr/'name' is a required/, 'null as name');
    $refused->({ steps => [] }, qr/at least one step/, 'no steps');
    $refused->({ steps => {} }, qr/steps has to be an array/, 'steps as an object');
    $refused->({ steps => ['x'] }, qr/object with the members/, 'a step that is a text');
    $refused->({ steps => [{ %step, bogus => 1 }] }, qr/'bogus' was unexpected/, 'an unknown member of a step');
    $refused->({ steps => [{ %step, interface => $_ }] }, qr/interface is one of vendor, power, management, deploy, bios, raid/, 'interface') for 'network', undef, 1;
    $refused->({ steps => [{ %step, priority => $_ }] }, qr/priority has to be a whole number from 0/, 'priority') for -1, 'x', '', 1.5, undef, 2**31;
    $refused->({ steps => [{ %step, step => $_ }] }, qr/step has to be a string/, 'step') for '', undef, 7;
    $refused->({ steps => [{ %step, args => $_ }] }, qr/args has to be an object/, 'args') for undef, [], 'x';
    for my $name (sort keys %step) {
        my %less = %step;
        delete $less{$name};
        $refused->({ steps => [\%less] }, qr/'$name' is a required property/, "a step without $name");
    }
    $refused->({ steps => [{%step}, { %step, step => 'x' }, { %step, priority => 0 }] },
        qr/\ADeploy template invalid: Duplicate deploy steps\. .*Duplicates: interface: raid, step: apply_configuration\.\z/, 'a step twice');
    $refused->({ description => 'x' }, qr/'description' was unexpected/, 'what came later');
    is_fault($admin->post('/deploy_templates', json => { name => 'CUSTOM_RAID1', steps => [{%step}] }), 409,
        qr/\AA deploy template with name CUSTOM_RAID1 already exists\.\z/, 'a used name');
    my $uuid = $admin->get('/deploy_templates/CUSTOM_RAID1')->json->{uuid};
    is_fault($admin->post('/deploy_templates', json => { name => 'CUSTOM_X', steps => [{%step}], uuid => $uuid }), 409,
        qr/\AA deploy template with UUID \Q$uuid\E already exists\.\z/, 'a used UUID');
    my @many = map { +{ %step, step => "s$_" } } 1 .. 3000;
    $admin->post('/deploy_templates', json => { name => 'CUSTOM_MANY', steps => \@many })->is_status(201, 'many steps');
    $admin->delete('/deploy_templates/CUSTOM_MANY')->is_status(204);
};

subtest 'patches' => sub {
    my $made = template('CUSTOM_PATCHED');
    my $path = '/deploy_templates/CUSTOM_PATCHED';
    my $patch = $admin->patch($path, [[replace => '/steps/0/priority', 3], [add => '/steps/-', { %step, interface => 'deploy' }], [add => '/extra/a', 1]]);
    $patch->is_status(200);
    is_deeply [@{ $patch->json }{qw(steps extra)}], [[{ %step, priority => 3 }, { %step, interface => 'deploy' }], { a => 1 }], 'of steps and extra';
    is_deeply $admin->patch($path, [[remove => '/steps/1'], [remove => '/extra']])->json->{extra}, {}, 'removed';
    is_fault($admin->patch($path, [[remove => "/$_"]]), 400, qr/'\Q$_\E' is a required property/, "/$_ stays") for 'name', 'steps';
    is_fault($admin->patch($path, [[remove => '/steps/0']]), 400, qr/at least one step/, 'one step stays');
    is_fault($admin->patch($path, [[add => '/steps/-', {%step}]]), 400, qr/Duplicate/, 'none twice');
    is_fault($admin->patch($path, [[replace => '/name', 'x']]), 400, qr/valid trait/, 'a name that is none');
    is_fault($admin->patch($path, [[replace => '/name', 'CUSTOM_RAID1']]), 409, qr/name CUSTOM_RAID1/, 'a used name');
    is_fault($admin->patch($path, [[add => "/$_", 'x']]), 400, qr/\ACannot patch/, "/$_ is not patched") for qw(uuid links created_at);
    is $admin->patch($path, [[replace => '/name', 'CUSTOM_RENAMED']])->json->{uuid}, $made->{uuid}, 'renamed';
    is_fault($admin->get($path), 404, undef, 'the old name is free');
    $admin->delete('/deploy_templates/CUSTOM_RENAMED')->is_status(204, 'deleted by name');
    is_fault($admin->delete("/deploy_templates/$made->{uuid}"), 404, qr/Deploy template \Q$made->{uuid}\E/, 'once');
};

subtest 'secrets in arguments' => sub {
    my $made = template('CUSTOM_SECRET', steps => [{ %step, args => { admin_password => 's3cret', url => 'http://u:s3cret@h/', n => 1 } }]);
    is_deeply $made->{steps}[0]{args}, { admin_password => '******', url => 'http://u:******@h/', n => 1 }, 'are masked';
    is_deeply $admin->patch('/deploy_templates/CUSTOM_SECRET', [[add => '/extra/a', 1]])->json->{steps}, $made->{steps}, 'after a patch of something else, too';
    is_fault($admin->patch('/deploy_templates/CUSTOM_SECRET', [[replace => '/steps/0/args/n', 2]]), 400, qr/send its value/,
        'a patch of a step with secrets has to send them');
    like $instance->sql_value('SELECT body FROM resources WHERE body LIKE \'%CUSTOM_SECRET%\''), qr/"admin_password":"s3cret"/, 'and kept by a patch';
    unlike $admin->get('/deploy_templates?detail=true')->text, qr/s3cret/, 'in lists, too';
};

subtest 'lists' => sub {
    my @names = map { $_->{name} } @{ $admin->get('/deploy_templates')->json->{deploy_templates} };
    is_deeply \@names, [qw(CUSTOM_RAID1 HW_CPU_X86_AVX CUSTOM_SECRET)], 'in the order of creation';
    is_deeply [sort keys %{ $admin->get('/deploy_templates')->json->{deploy_templates}[0] }], [qw(etag links name uuid)], 'short';
    is_deeply $admin->get('/deploy_templates?detail=true')->json->{deploy_templates}[0], $admin->get('/deploy_templates/CUSTOM_RAID1')->json, 'in detail';
    my $page = $admin->get('/deploy_templates?sort_key=name&limit=2&fields=name')->json;
    is_deeply [map { $_->{name} } @{ $page->{deploy_templates} }], [qw(CUSTOM_RAID1 CUSTOM_SECRET)], 'by name, a page';
    is_deeply [map { $_->{name} } @{ $admin->client->get($admin->client->path_of($page->{next}), headers => { $admin->version_header })->json->{deploy_templates} }],
        ['HW_CPU_X86_AVX'], 'and the next';
    is_fault($admin->get("/deploy_templates?sort_key=$_"), 400, qr/"$_"/, "not by $_") for 'steps', 'extra', 'bogus';
    is_fault($admin->get('/deploy_templates?fields=bogus'), 400, qr/bogus/, 'an unknown field');
    is_fault($admin->delete('/deploy_templates'), 400, undef, 'not all are deleted');
};

subtest 'versions' => sub {
    is_fault($admin->version('1.54')->get($_), 404, qr/1\.55/, "GET $_ before 1.55", address => 1) for '/deploy_templates', '/deploy_templates/CUSTOM_RAID1';
    is_fault($admin->version('1.54')->post('/deploy_templates', json => {}), 405, qr/\AThe API version does not allow deploy templates/, 'POST', address => 1);
    is_fault($admin->version('1.54')->patch('/deploy_templates/CUSTOM_RAID1', []), 405, undef, 'PATCH', address => 1);
    is_fault($admin->version('1.54')->delete("/deploy_templates$_"), 405, undef, "DELETE $_", address => 1) for '/CUSTOM_RAID1', '';
    is_deeply $admin->version('1.55')->get('/deploy_templates/CUSTOM_RAID1')->json, $admin->get('/deploy_templates/CUSTOM_RAID1')->json, 'the same since';
};

subtest 'etags' => sub {
    my $path   = '/deploy_templates/CUSTOM_RAID1';
    my $before = $admin->get($path);
    is $before->etag =~ s/"//gr, $before->json->{etag}, 'header and body';
    my $patch = $admin->patch($path, [[add => '/steps/0/priority', 99]], if_match => $before->etag);
    $patch->is_status(200);
    isnt $patch->etag, $before->etag, 'a change makes a new one';
    is_fault($admin->patch($path, [[add => '/steps/0/priority', 98]], if_match => $before->etag), 412, undef, 'a stale one');
    is_fault($admin->delete($path, if_match => $before->etag), 412, undef, 'for DELETE, too');
    $admin->delete($path, if_match => $patch->json->{etag})->is_status(204);
};

subtest 'they are the operator\'s' => sub {
    is_fault($ann->get('/deploy_templates'), 404, undef, 'the service endpoint has none', address => 1);
    my $made = template('CUSTOM_OURS');
    $instance->admin->put('/v2.0/t1/deploytemplates/00000000-0000-4000-8000-000000000009', json => { name => 'CUSTOM_THEIRS', steps => [{%step}] })
        ->is_problem(403, 'forbidden', 'none stands in a tenant');
    is $instance->admin->get("/v2.0/system/deploytemplates/$made->{uuid}")->json->{name}, 'CUSTOM_OURS', 'they stand in the system';
};

done_testing;
