#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Requests that ask to act as another user, by the header fields of Kubernetes, are refused: reads, writes, watches and reviews,
# whoever sends them, in each dialect.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $maps = '/api/v1/namespaces/default/configmaps';

for my $server ('lighttpd', 'apache-fcgid') {
    next if $server eq 'apache-fcgid' && !(Tenure::Instance::on_path('apache2') && -e '/usr/lib/apache2/modules/mod_fcgid.so');
    subtest $server => sub {
        my $instance = Tenure::Instance->start(server => $server, combined => 1);
        my %client   = (operator => $instance->combined('admin'), admin => $instance->combined('alice:acme'), member => $instance->combined('mia:acme:member'));
        $client{operator}->make_tenant('acme');
        my $review = { apiVersion => 'authorization.k8s.io/v1', kind => 'SelfSubjectAccessReview', spec => { resourceAttributes => { verb => 'get', resource => 'configmaps' } } };
        for my $who (sort keys %client) {
            for my $name ('Impersonate-User', 'impersonate-uid', 'Impersonate-Group', 'Impersonate-Extra-scopes') {
                my %as = (headers => { $name => 'root' });
                my $c  = $client{$who};
                my %asked = (list => $c->get($maps, %as), watch => $c->get("$maps?watch=true", %as), discovery => $c->get('/api', %as),
                    create => $c->post($maps, json => { metadata => { name => 'x' } }, %as), delete => $c->delete("$maps/x", %as),
                    review => $c->post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', json => $review, %as));
                for my $what (sort keys %asked) {
                    my $answer = $asked{$what};
                    is $answer->status, 403, "$who with $name: $what" or diag $answer->describe;
                    my $status = $answer->json;
                    is "$status->{kind} $status->{reason}", 'Status Forbidden', 'a Status';
                    like $status->{message}, qr/nobody may act as another user here, as the header field "\L$name\E" asks: send that user's own credential/, 'in words';
                }
            }
        }
        my %as = (headers => { 'Impersonate-User' => 'root' });
        my $operator = $client{operator};
        my %elsewhere = (tenancy => $operator->get('/v2.0/acme', %as), accounts => $operator->get('/v1.0/acme', %as),
            'a write in tenancy' => $operator->put('/v2.0/acme/namespaces/default/configmaps/x', json => {}, %as),
            'bare metal' => $operator->get('/baremetal/v1/nodes', %as), placement => $operator->get('/placement/resource_providers', %as));
        for my $what (sort keys %elsewhere) {
            $elsewhere{$what}->is_status(403, $what);
            like $elsewhere{$what}->text, qr/nobody may act as another user here/, '... in words';
        }
        is $instance->sql_value(q(SELECT COUNT(*) FROM changes WHERE name = 'x')), 0, 'nothing was written';
        $client{admin}->get($maps)->is_status(200, 'without them all is as before');
        my $anonymous = $instance->combined(undef);
        is $anonymous->get($maps, headers => { 'Impersonate-User' => 'root' })->status, 401, 'nobody is asked for a credential first';
        $instance->stop;
    };
}

done_testing;
