#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A namespace with more in it than one transaction takes: it is deleted in the background, in pieces, whichever server the mover
# belongs to; what clients see of that meanwhile, what watches are told, and what comes back. t/unit/registry-namespaces.c
# kills the mover at given points, and looks at each piece.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Memory;
use Tenure::Instance;
use Tenure::Run;
use Tenure::Watch qw(events);

my $spaces = '/api/v1/namespaces';
my $many   = 60;

# mod_fcgid hands no environment on: its processes read the setting from the file, once they are started anew.
sub set_in_file {
    my ($instance) = @_;
    my ($short) = Tenure::Run::read_file($instance->dir . '/run/short') =~ /\A(\S+)/;
    my ($file) = grep { -e } map { "$_/tenure.conf" } "$short/fcgid", $instance->dir;
    my $text = Tenure::Run::read_file($file) =~ s/^\[tenure\]\n/[tenure]\ndelete_sync_max = 7\n/mr;
    open my $out, '>', $file or die "$file: $!\n";
    print {$out} $text;
    close $out or die "$file: $!\n";
    my %old = map { $_ => 1 } Tenure::Memory::processes_of($instance);
    kill TERM => keys %old;
    ok Tenure::Instance::wait_until(sub { !grep { $old{$_} } Tenure::Memory::processes_of($instance) }), 'processes with the setting';
    Tenure::Instance::wait_until(sub { $instance->combined('admin')->get('/api')->status == 200 });
    return;
}

for my $server ('lighttpd', 'apache-fcgid') {
    next if $server eq 'apache-fcgid' && !(Tenure::Instance::on_path('apache2') && -e '/usr/lib/apache2/modules/mod_fcgid.so');
    subtest $server => sub {
        my $instance = Tenure::Instance->start(server => $server, combined => 1, workers => 2, settings => { 'tenure.delete_sync_max' => 7 });
        set_in_file($instance) if $server eq 'apache-fcgid';
        my $admin    = $instance->combined('admin');
        my $acme     = $instance->combined('alice:acme');
        $admin->post('/api/v1/tenants', json => { metadata => { name => 'acme' } })->is_status(201);
        my $fill = sub {
            my ($name, %more) = @_;
            $acme->post($spaces, json => { metadata => { name => $name } })->is_status(201, "namespace $name");
            my @status = map { $acme->post("$spaces/$name/configmaps", json => { metadata => { name => "c$_", %more } })->status } 1 .. $many;
            is_deeply [grep { $_ != 201 } @status], [], "$many objects in it";
            return "$spaces/$name";
        };
        my $resources = sub { return $admin->get('/v2.0/acme')->json->{tenant}{resources} };
        my $gone      = sub { my ($at) = @_; return Tenure::Instance::wait_until(sub { $acme->get($at)->status == 404 }, 60) };

        my $at      = $fill->('large');
        my $count   = $resources->();
        my $version = $acme->get("$at/configmaps")->json->{metadata}{resourceVersion};
        my ($space, $content);
        if ($server eq 'lighttpd') {
            my $from = $acme->get($spaces)->json->{metadata}{resourceVersion};
            $space   = Tenure::Watch->new($acme->url, 'alice:acme', "$spaces?fieldSelector=metadata.name%3Dlarge&resourceVersion=$from");
            $content = Tenure::Watch->new($acme->url, 'alice:acme', "$at/configmaps?resourceVersion=$version");
        }
        my $deleted = $acme->delete($at);
        $deleted->is_status(200, 'it is accepted');
        my $now = $deleted->json;
        is "$now->{kind} $now->{status}{phase}", 'Namespace Terminating', 'it is answered, on its way';
        ok $now->{metadata}{deletionTimestamp}, 'since a time';
        ok $gone->($at), 'in the end it is gone';
        is $resources->(), $count - $many - 1, 'with all that was in it';
        $acme->get("$at/configmaps/c1")->is_status(404, 'each');
        if ($space) {
            my @told = events($content, $many);
            is_deeply { map { $_->{type} . ' ' . $_->{object}{metadata}{name} => 1 } @told }, { map { ("DELETED c$_" => 1) } 1 .. $many },
                'a watch is told of each once';
            is join(' ', map { $_->{type} } events($space, 2)), 'MODIFIED DELETED', 'and of the namespace, on its way and gone';
        }
        $admin->post('/v2.0/acme/namespaces/large/action/recover', body => '')->is_status(204, 'it comes back');
        is $resources->(), $count, 'with all that went with it';
        is_deeply $acme->get($at)->json->{status}, { phase => 'Active' }, 'active';

        # What stands still is seen; what is killed is gone on with.
        my $wait = $fill->('waits', finalizers => ['example.com/f']);
        $acme->post("$wait/configmaps", json => { metadata => { name => "p$_" } })->is_status(201) for 1 .. 9;
        $acme->delete($wait)->is_status(200, 'one that waits');
        $acme->post("$wait/configmaps", json => { metadata => { name => 'new' } })->is_status(403, 'nothing new comes');
        $acme->delete($wait)->is_status(200, 'asked again');
        ok Tenure::Instance::wait_until(sub { $instance->sql_value(q(SELECT COUNT(*) FROM namespace_deletions)) == 0 }, 60), 'it is emptied';
        is scalar @{ $acme->get("$wait/configmaps")->json->{items} }, $many, 'what has finalizers stays';
        my ($remaining) = grep { $_->{type} eq 'NamespaceContentRemaining' } @{ $acme->get($wait)->json->{status}{conditions} };
        is $remaining->{message}, "Some resources are remaining: configmaps. has $many resource instances", 'its conditions tell';
        $acme->patch("$wait/configmaps/c$_", { metadata => { finalizers => undef } })->status for 1 .. $many;
        ok $gone->($wait), 'with the last of them it is gone';

        # The tenancy dialect.
        $admin->delete('/v2.0/acme/namespaces/large')->is_status(202, 'the tenancy dialect accepts it, too');
        ok $gone->($at), 'it goes';
        my ($code, $text) = $instance->manage('doctor');
        is $code, 0, 'the doctor finds everything as it should be' or diag $text;
        $_->close_now for grep { defined } $space, $content;
        $instance->stop;
    };
}

done_testing;
