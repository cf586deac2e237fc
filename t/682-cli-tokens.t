#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure token list, create and delete.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Tool;

plan skip_all => 'tenure is not built' if !-x (Tenure::Instance::build_dir() // '') . '/tenure';
my $instance = Tenure::Instance->start(auth => 'token', settings => { 'tenure.token_cache' => 0 });
$instance->admin->make_tenant('t1');
my $tool = Tenure::Tool->new(url => $instance->env('TENURE_SERVICE_URL'), token => $instance->token('t1', 'admin'), tenant => 't1');

sub csv {
    my (undef, @rows) = split /\n/, $tool->ends(0, @_, '--format', 'csv')->{out};
    return @rows;
}

my $made = $tool->ends(0, 'token', 'create', 'bill', '--role', 'reader', '--expires', '2099-01-01T00:00:00Z', '--description', 'for reports')->{out};
like $made, qr/\A[0-9a-f]{12}\.[-\w]{32}\n\z/, 'the token alone';
chomp $made;
my ($id) = $made =~ /(.*)\./;
$instance->service($made)->get('/v2.0/t1/namespaces')->is_status(200, 'it is one');
is_deeply [grep { /^$id/ } csv('token', 'list', '--columns', 'id,user,role,state,expires,description')],
    ["$id,bill,reader,valid,2099-01-01T00:00:00Z,for reports"], 'the list';
like $tool->ends(0, 'token', 'list')->{out}, qr/^ID +USER +ROLE +STATE +CREATED +EXPIRES +USED +DESCRIPTION/m, 'as a table';
unlike $tool->ends(0, 'token', 'list', '--format', 'json')->{out}, qr/secret/, 'without secrets';
is scalar csv('token', 'list', '--limit', 1), 1, 'so many';
like $tool->ends(0, 'token', 'create', 'ann', '--format', 'json')->{out}, qr/"role": *"member"[^}]*"secret"/s, 'the whole answer';
like $tool->ends(0, 'token', 'create', 'ann', '--dry-run')->{out}, qr{POST.*/v2\.0/t1/tokens}s, 'a dry run tells the call';
is scalar csv('token', 'list'), 3, '... and sends nothing';
$tool->ends(64, 'token', 'delete', $made);
like $tool->ends(0, 'token', 'delete', $id, '--dry-run')->{out}, qr{DELETE.*/v2\.0/t1/tokens/$id}s, 'a dry run of the end';
$tool->ends(0, 'token', 'delete', $id);
is_deeply [grep { /^$id/ } csv('token', 'list', '--columns', 'id,state')], ["$id,revoked"], 'revoked';
$instance->service($made)->get('/v2.0/t1/namespaces')->is_status(401, '... and refused');
is $tool->run('token', 'delete', '0123456789ab')->{code}, 1, 'one that is not there';
isnt $tool->run('token', 'create', 'x', '--role', 'operator')->{code}, 0, 'no operator';
my $operator = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => $instance->operator_token, tenant => 'system');
like $operator->ends(64, 'token', 'create', 'monitor')->{err}, qr/say --role operator/, 'nobody gets an operator\'s by leaving the role out';
$operator->ends(65, 'token', 'create', 'monitor', '--role', 'member');
like $operator->ends(0, 'token', 'create', 'second', '--role', 'operator', '--format', 'json')->{out}, qr/"role": *"operator"/, 'who asks for it gets one';
my $of_day = $tool->ends(0, 'token', 'create', 'carl', '--expires', '2099-02-03')->{out} =~ s/\..*//sr;
is_deeply [grep { /^$of_day/ } csv('token', 'list', '--columns', 'id,expires')], ["$of_day,2099-02-03T00:00:00Z"], 'until the beginning of a day';
isnt $tool->run('token', 'create', 'x', '--expires', 'soon')->{code}, 0, 'no time';
$tool->ends(64, 'token', 'create');
$tool->ends(64, 'token', 'create', 'a', 'b');

done_testing;
