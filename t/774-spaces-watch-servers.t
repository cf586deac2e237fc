#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Of what 770, 771, 773 and 779 try behind lighttpd, one of each behind the other web servers: mod_fcgid with a tenured beside it for
# watches, mod_proxy_fcgi and nginx. What mod_fcgid alone answers to a watch.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Watch qw(events name_of told);

my $cms = '/api/v1/namespaces/default/configmaps';

sub config_map { my ($name, %more) = @_; return { metadata => { name => $name, %more } } }

for my $server ('apache-fcgid', 'apache-proxy', 'nginx') {
    next if !Tenure::Instance::on_path($server eq 'nginx' ? 'nginx' : 'apache2');
    next if $server eq 'apache-fcgid' && !-e '/usr/lib/apache2/modules/mod_fcgid.so';
    subtest $server => sub {
        my $instance = Tenure::Instance->start(server => $server, combined => 1, watches => 1);
        my $admin = $instance->combined('admin');
        my $acme  = $instance->combined('alice:acme');
        $admin->post('/api/v1/tenants', json => { metadata => { name => 'acme' } })->is_status(201);
        my $version = sub { return $acme->get($_[0])->json->{metadata}{resourceVersion} };
        my $watch   = sub { my ($path) = @_; return Tenure::Watch->new($acme->url, 'alice:acme', $path) };

        # 770: what a 422 says arrives whole.
        my $answer = $acme->post('/api/v1/namespaces/default/pods', json => config_map('p'));
        $answer->is_status(422);
        is $answer->json->{details}{causes}[0]{field}, 'spec.containers', 'a refusal names the field';

        # 771: what was chosen, was changed so that it no longer is, and was deleted while the client was away.
        $acme->post($cms, json => config_map('a', labels => { app => 'web' }))->is_status(201);
        my $from = $version->($cms);
        $acme->patch("$cms/a", { metadata => { labels => { app => 'db' } } })->is_status(200);
        $acme->delete("$cms/a")->is_status(200);
        $acme->post($cms, json => config_map('b', labels => { app => 'web' }))->is_status(201);
        is told($watch->("$cms?labelSelector=app%3Dweb&resourceVersion=$from"), 2), 'DELETED a, ADDED b', 'a client that comes back is told';

        # 779: a namespace that waits for the finalizers of what is in it, while others' changes are undone.
        $acme->post('/api/v1/namespaces', json => config_map('ends'))->is_status(201);
        $acme->post('/api/v1/namespaces/ends/configmaps', json => config_map('held', finalizers => ['example.com/f']))->is_status(201);
        my $waits = $watch->('/api/v1/namespaces?fieldSelector=metadata.name%3Dends&resourceVersion=' . $version->('/api/v1/namespaces'));
        $admin->post("$cms?dryRun=All", json => config_map("dry$_")) for 1 .. 5;
        $acme->delete('/api/v1/namespaces/ends')->is_status(200);
        is told($waits, 1), 'MODIFIED ends', 'it waits';
        $acme->patch('/api/v1/namespaces/ends/configmaps/held', { metadata => { finalizers => undef } })->is_status(200);
        is told($waits, 1), 'DELETED ends', 'and goes';

        # 773: as Python's client asks.
        my $python = Tenure::Watch->new($acme->url, 'alice:acme', "$cms?watch=True&resourceVersion=" . $version->($cms), plain => 1);
        $acme->post($cms, json => config_map('c'))->is_status(201);
        is told($python, 1), 'ADDED c', 'watch=True';
        $_->close_now for $python, $waits;
        $instance->stop;
    };
}

subtest 'mod_fcgid alone' => sub {
    plan skip_all => 'mod_fcgid is not installed' if !Tenure::Instance::on_path('apache2') || !-e '/usr/lib/apache2/modules/mod_fcgid.so';
    my $instance = Tenure::Instance->start(server => 'apache-fcgid', combined => 1);
    $instance->admin->make_tenant('acme');
    my $answer = $instance->combined('alice:acme')->get("$cms?watch=true");
    $answer->is_status(405, 'serves no watches');
    is $answer->json->{reason}, 'MethodNotAllowed', 'and says so';
    $instance->stop;
};

done_testing;
