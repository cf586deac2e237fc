#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Processes without a common master (of two endpoints, or started by mod_fcgid) see at once what another of them changed: definitions,
# policies of tenants, traits. They share it by the file in runtime_dir, which may be lost at any time.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Definition qw(definition_of);
use Tenure::Instance;

my $crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

sub definition { my ($plural) = @_; return definition_of($plural, kind => ucfirst $plural, applicableRange => ['*']) }

sub shared_file {
    my ($instance) = @_;
    my ($short) = Tenure::Run::read_file($instance->dir . '/run/short') =~ /\A(\S+)/;
    my ($file) = glob "$short/shared/shared-v*";
    return $file;
}

for my $server ('lighttpd', 'apache-fcgid') {
    next if $server eq 'apache-fcgid' && !(Tenure::Instance::on_path('apache2') && -e '/usr/lib/apache2/modules/mod_fcgid.so');
    subtest $server => sub {
        my $instance = Tenure::Instance->start(server => $server, combined => 1, workers => 2);
        my $operator = $instance->admin;
        my $other    = $instance->combined('ann:acme'); # served by other processes
        $operator->make_tenant('acme');
        my $list = sub { return $other->get("/apis/example.com/v1/namespaces/default/$_[0]")->status };

        # What a process has just read it would ask the database about only half a second later.
        my @late;
        for my $n (1 .. 6) {
            my $type = "things$n";
            my @seen = $list->($type);
            $operator->post($crds, json => definition($type))->is_status(201, "$type is defined");
            push @seen, $list->($type);
            $operator->patch('/api/v1/tenants/acme', { spec => { multiTenancyCRDPolicy => 'NeverUseSystemCRDUnlessForced' } })->is_status(200, 'refused by a policy');
            push @seen, $list->($type);
            $operator->patch('/api/v1/tenants/acme', { spec => { multiTenancyCRDPolicy => undef } })->is_status(200, 'allowed again');
            push @seen, $list->($type);
            $operator->delete("$crds/$type.example.com")->is_status(200, 'deleted');
            push @seen, $list->($type);
            push @late, "$type: @seen" if "@seen" ne '404 200 404 200 404';
        }
        is_deeply \@late, [], 'definitions and policies are seen at once';

        my $file = shared_file($instance);
        ok defined $file, 'there is the file';
        ok unlink($file), 'it is removed';
        my @odd;
        for my $n (1 .. 3) {
            my $type = "lost$n";
            $list->($type);
            $operator->post($crds, json => definition($type))->is_status(201, "$type is defined");
            push @odd, $type if !Tenure::Instance::wait_until(sub { $list->($type) == 200 });
        }
        is_deeply \@odd, [], 'without it, soon';
        ok Tenure::Instance::wait_until(sub { $list->('x'); $operator->get('/v2.0/acme'); defined shared_file($instance) }), 'another is made';
        $instance->stop;
    };
}

done_testing;
