#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The database goes away when it has got COMMIT, and stays away: nobody knows whether the change was made, and the service says so. Of the
# changes after it, it is certain that nothing was done.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use IO::Select;
use Test::More;

use Tenure::Instance;
use Tenure::Tool;

# Passes the first COMMIT of a connection of which somebody asked, and nothing after it, of no connection.
package Vanishing {
    use parent 'Tenure::DatabaseProxy';

    sub file { return "$_[0]{dir}/$_[1]" }

    sub _accept {
        my ($self, $listener) = @_;
        return $self->SUPER::_accept($listener) if !-e $self->file('gone');
        IO::Select->new($listener)->can_read(1) or return;
        close $listener->accept;
        return;
    }

    sub _relay {
        my ($self, $client, $server) = @_;
        my $select = IO::Select->new($client, $server);
        while (1) {
            for my $socket ($select->can_read(1)) {
                sysread $socket, my $bytes, 1 << 16 or return;
                my $ends = $socket == $client && $bytes =~ /COMMIT/ && -e $self->file('vanish');
                Tenure::Run::write_file($self->file('gone'), '') if $ends;
                Tenure::DatabaseProxy::send_all($socket == $client ? $server : $client, $bytes);
                sysread $server, $bytes, 1 << 16 if $ends; # it is made
                return if $ends;
            }
            return if -e $self->file('gone');
        }
    }
}

my $proxy;
my $instance = Tenure::Instance->start(workers => 1, database_by => sub { $proxy = Vanishing->new(@_); return $proxy->path },
    settings => { 'database.connect_timeout' => '2s' }, allow => [qr/database/]);
my $admin = $instance->admin;
$admin->make_tenant('acme');
my $map = '/v2.0/acme/namespaces/default/configmaps/web';
$admin->put($map, json => {})->is_status(201, 'a resource');

Tenure::Run::write_file($proxy->file('vanish'), '');
my $tool = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => $instance->operator_token, tenant => 'acme');
like $tool->ends(75, qw(configmaps patch web data.a=b --no-etag))->{err}, qr/may have been done or not \(the answer was 503: .*not known whether/,
    'a COMMIT without an answer';
my $answer = $admin->put($map, json => {});
$answer->is_problem(503, 'unavailable', 'a change after it');
is $answer->json->{done}, JSON::PP::false(), '... was certainly not done';
ok !exists $admin->get($map)->json->{done}, 'a read leaves no such question';
unlink $proxy->file('vanish'), $proxy->file('gone');
ok Tenure::Instance::wait_until(sub { $admin->get($map)->status == 200 }), 'the database is there again';
is $admin->get($map)->json->{data}{a}, 'b', 'the change was made';

$instance->stop;
done_testing;
