#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure forward list, expire and revoke; tenure move list.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Tool;

plan skip_all => 'tenure is not built' if !-x (Tenure::Instance::build_dir() // '') . '/tenure';
my $instance = Tenure::Instance->start;
my $admin    = $instance->admin;
my $op = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => 'admin', tenant => 't1');

$admin->make_tenant($_) for 't1', 't2';
my @paths = ('namespaces/default/configmaps/web', 'namespaces/default/configmaps/ümlaut', 'persistentvolumes/disk1');
for my $path (@paths) {
    my $at = '/v2.0/t1/' . $path =~ s/ü/%C3%BC/r;
    $admin->put($at, json => {})->is_status(201);
    $admin->post("$at/action/move?dest=t2")->is_status(303);
}

sub csv {
    my (undef, @rows) = split /\n/, $op->ends(0, @_, '--format', 'csv')->{out};
    return @rows;
}

is_deeply [sort(csv('forward', 'list', '--columns', 'resource,dest,state,expires'))], [map { "$_,t2,moved," } @paths], 'the list';
like $op->ends(0, 'forward', 'list')->{out}, qr/^RESOURCE +DEST +STATE +MOVED +EXPIRES +REQUEST/m, 'as a table';
is scalar csv('forward', 'list', '--limit', 2), 2, 'so many';
is_deeply [csv('forward', 'list', '-t', 't2')], [], 'of another tenant';
$op->ends(0, 'forward', 'expire', $paths[0], '2099-01-01T00:00:00Z');
like join("\n", csv('forward', 'list', '--columns', 'resource,expires')), qr{/web,2099-01-01T00:00:00Z$}m, 'an end';
$op->ends(0, 'forward', 'expire', $paths[0], '2098-02-03');
like join("\n", csv('forward', 'list', '--columns', 'resource,expires')), qr{/web,2098-02-03T00:00:00Z$}m, 'a day, for its beginning';
$op->ends(0, 'forward', 'expire', 'configmaps/web', 'never', '-n', 'default');
unlike join("\n", csv('forward', 'list', '--columns', 'resource,expires')), qr/209[89]/, '... is taken back, by type and name';
like $op->ends(0, 'forward', 'revoke', $paths[2], '--dry-run')->{out}, qr{DELETE.*/v2\.0/t1/forwards/persistentvolumes/disk1}s, 'a dry run tells the call';
is scalar csv('forward', 'list'), 3, '... and sends nothing';
$op->ends(0, 'forward', 'revoke', @paths[1, 2]);
is_deeply [csv('forward', 'list', '--columns', 'resource')], [$paths[0]], 'two are ended';
$op->ends(1, 'forward', 'revoke', $paths[2]);
$op->ends(64, 'forward', 'revoke', '') ;
$op->ends(64, 'forward', 'revoke', 'a//b');
isnt $op->run('forward', 'expire', $paths[0], 'tomorrow')->{code}, 0, 'no time';
is_deeply [csv('move', 'list', '--columns', 'source,dest,state,resource,actor')],
    [map { "t1,t2,done,$_,admin" } reverse @paths], 'the moves, the latest first';
is_deeply [csv('move', 'list', '-t', 't2', '--limit', 1, '--columns', 'resource')], [$paths[2]], 'of a destination, so many';
$op->ends(64, 'move', 'list', '--limit', 0);

done_testing;
