#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The system space and its namespace "default" are there from the start: on a fresh database, after an upgrade and after a
# reset. Who asks for tenants, changes or counts in the tenancy dialect isn't told of them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Tenure::Instance;
use Tenure::Run qw(run);

my $instance = Tenure::Instance->start(auth => 'noauth', demo => 0);
my $admin = $instance->admin;
my $env = sub { $instance->env($_[0]) };
my @manage = ($env->('TENURE_BIN') . '/tenure-manage', '-c', $env->('TENURE_CONFIG'));

sub manage {
    my ($code, $text) = run(@manage, @_);
    return ($code, $text);
}

sub fresh {
    my ($when) = @_;
    subtest $when => sub {
        my $list = $admin->get('/api/v1/namespaces')->json;
        is join(' ', map { $_->{metadata}{name} } @{ $list->{items} }), 'default', 'the system space has its namespace';
        my $version = $list->{metadata}{resourceVersion};
        my $space = $list->{items}[0]{metadata};
        cmp_ok $version, '>=', $space->{resourceVersion}, 'the list is not older than what is in it';
        cmp_ok $space->{resourceVersion}, '>', 0, 'which has a version';
        is $admin->get('/api/v1/tenants/system')->json->{status}{phase}, 'Active', 'the space is a tenant';
        is_deeply [map { $_->{metadata}{name} } @{ $admin->get('/api/v1/tenants')->json->{items} }], ['system'],
            'that kubectl lists';
        for my $path ('/v2.0', '/v1.0', '/v2.0?state=deleted') {
            my ($items) = grep { ref } values %{ $admin->get($path, accept => 'application/json')->json };
            is_deeply $items, [], "GET $path lists no tenant";
        }
        is_deeply $admin->get('/v2.0/system/changes')->json->{changes}, [], 'its feed tells of no change';
        is_deeply [$instance->sql('SELECT * FROM changes')], [], 'the log is empty';
        my ($code, $text) = manage('db', 'status');
        like $text, qr/^tenants +0, and 0 deleted ones\nresources +0,/m, 'nothing is counted';
        ($code, $text) = manage('doctor');
        is $code, 0, 'doctor finds nothing' or diag $text;
        $admin->delete('/api/v1/namespaces/default')->is_status(403);
        $admin->delete('/api/v1/tenants/system')->is_status(403);
    };
    return;
}

fresh('a fresh database');

subtest 'the first change' => sub {
    my $before = $admin->get('/api/v1/namespaces')->json->{metadata}{resourceVersion};
    my $made = $admin->post('/api/v1/namespaces/default/configmaps', json => { metadata => { name => 'c' } })->json;
    cmp_ok $made->{metadata}{resourceVersion}, '>', $before, 'comes behind the version that was listed';
    is $admin->get('/api/v1/namespaces/default/configmaps')->json->{metadata}{resourceVersion},
        $made->{metadata}{resourceVersion}, 'and is the newest one';
};

subtest 'upgrade' => sub {
    my $uid = $admin->get('/api/v1/tenants/system')->json->{metadata}{uid};
    my ($code, $text) = manage('db', 'upgrade');
    is $code, 0, 'of what is there already' or diag $text;
    is $admin->get('/api/v1/tenants/system')->json->{metadata}{uid}, $uid, 'makes no other';
    $admin->delete('/api/v1/namespaces/default/configmaps/c')->is_status(200);
    $instance->sql("DELETE FROM tenant_counts; DELETE FROM resources; DELETE FROM tenants");
    ($code, $text) = manage('doctor');
    is $code, 1, 'where it is not there' or diag $text;
    like $text, qr/^the system space is there +1 +0 +`tenure-manage db upgrade` makes it$/m, 'doctor says so';
    ($code, $text) = manage('db', 'upgrade');
    is $code, 0, 'it is made' or diag $text;
    is join(' ', map { $_->{metadata}{name} } @{ $admin->get('/api/v1/namespaces')->json->{items} }), 'default', 'with its namespace';
    ($code, $text) = manage('doctor');
    is $code, 0, 'and doctor is content' or diag $text;
    ($code, $text) = manage('db', 'init');
    is $code, 0, 'init is content, too' or diag $text;
};

my ($code, $text) = manage('db', 'reset', '--yes');
is $code, 0, 'reset' or diag $text;
fresh('a registry that was reset');

done_testing;
