#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure-manage usage verify: what somebody has changed in closed periods is named, each figure; it needs the change log only as far back
# as it is kept; and it tells what it cannot verify.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $instance = Tenure::Instance->start(settings => { 'tenure.usage_period' => 2 }, allow => [qr/usage is counted again/]);
my $admin    = $instance->admin;

sub verify { return $instance->manage('usage', 'verify') }

sub close_periods { return ok $instance->usage_has_closed, 'a period is closed' }

my ($code, $text) = verify();
is $code, 0, 'before the first period is closed';

$admin->make_tenant($_) for qw(t1 t2);
$admin->put("/v2.0/t1/namespaces/default/configmaps/c$_", json => { data => { n => 'x' x $_ } }) for 1 .. 5;
close_periods();
$admin->delete('/v2.0/t1/namespaces/default/configmaps/c1')->is_status(204);
$admin->post('/v2.0/t1/namespaces/default/configmaps/c2/action/move?dest=t2')->is_status(303);
$admin->delete('/v2.0/t2')->is_status(204);
close_periods();
$admin->post('/v2.0/t2/action/recover')->is_status(204);
close_periods();
($code, $text) = verify();
is $code, 0, 'nothing differs' or diag $text;
like $text, qr/^tenure-manage: \d+ periods from 20\S+Z to 20\S+Z, with \d+ rows, counted again from the opening balance: 0 differences$/m, 'how much it has compared';

# [what, how it is broken, what is printed, how it is mended]
my $row = q(tenant_id = (SELECT id FROM tenants WHERE name = 't1') AND type_id = (SELECT id FROM types WHERE plural = 'configmaps') ORDER BY until LIMIT 1);
my ($resources, $bytes) = @{ ($instance->sql("SELECT resources, bytes FROM usage_periods WHERE $row"))[0] };
for my $case (
    ['resources', "UPDATE usage_periods SET resources = resources + 1 WHERE $row", [qr/^t1 configmaps 20\S+Z to 20\S+Z: resources: stored ${\ ($resources + 1)}, counted $resources$/m],
        "UPDATE usage_periods SET resources = resources - 1 WHERE $row"],
    ['bytes, by as much as one reader would not see', "UPDATE usage_periods SET bytes = bytes - 1 WHERE $row", [qr/: bytes: stored ${\ ($bytes - 1)}, counted $bytes$/m],
        "UPDATE usage_periods SET bytes = bytes + 1 WHERE $row"],
    ['a microsecond', "UPDATE usage_periods SET resource_us = resource_us + 1, byte_us = byte_us - 1 WHERE $row",
        [qr/^t1 configmaps .*: resource_seconds: stored \d+\.\d{6}, counted \d+\.\d{6}$/m, qr/^t1 configmaps .*: byte_seconds: /m], "UPDATE usage_periods SET resource_us = resource_us - 1, byte_us = byte_us + 1 WHERE $row"],
    ['a row that is gone', "CREATE TABLE kept AS SELECT * FROM usage_periods WHERE $row; DELETE FROM usage_periods WHERE $row",
        [qr/^t1 configmaps .*: resources: stored 0, counted $resources$/m], 'INSERT INTO usage_periods SELECT * FROM kept; DROP TABLE kept'],
    ['a row of nothing', q(INSERT INTO usage_periods SELECT (SELECT id FROM tenants WHERE name = 't2'), (SELECT id FROM types WHERE plural = 'secrets'), until, since, 3, 30, 3, 30 FROM usage_closings ORDER BY until DESC LIMIT 1),
        [qr/^t2 secrets .*: resources: stored 3, counted 0$/m], q(DELETE FROM usage_periods WHERE type_id = (SELECT id FROM types WHERE plural = 'secrets'))],
    ['a row that ends within a period', q(INSERT INTO usage_periods SELECT (SELECT id FROM tenants WHERE name = 't2'), (SELECT id FROM types WHERE plural = 'secrets'), until - INTERVAL 1 SECOND, since, 3, 30, 3, 30 FROM usage_closings ORDER BY until DESC LIMIT 1),
        [qr/^t2 secrets .*: period: stored yes, counted no$/m], q(DELETE FROM usage_periods WHERE type_id = (SELECT id FROM types WHERE plural = 'secrets'))],
    ['a period that is gone', q(CREATE TABLE kept AS SELECT * FROM usage_closings ORDER BY until LIMIT 1 OFFSET 1; DELETE FROM usage_closings WHERE until = (SELECT until FROM kept)),
        [qr/^20\S+Z to 20\S+Z: from: stored \d+\.\d{6}, counted \d+\.\d{6}$/m], 'INSERT INTO usage_closings SELECT * FROM kept; DROP TABLE kept'],
    ['a change that is gone', q(CREATE TABLE kept AS SELECT * FROM changes WHERE name = 'c3'; DELETE FROM changes WHERE name = 'c3'),
        [qr/^t1 configmaps .*: resources: stored \d+, counted \d+$/m], 'INSERT INTO changes SELECT * FROM kept; DROP TABLE kept'],
  ) {
    my ($what, $break, $says, $mend) = @$case;
    $instance->sql($break);
    ($code, $text) = verify();
    is $code, 1, $what or diag $text;
    like $text, $_, '... is named' for @$says;
    $instance->sql($mend);
}
($code, $text) = verify();
is $code, 0, 'all are mended' or diag $text;

subtest 'a log that was shortened' => sub {
    $instance->sql(q(DELETE FROM changes WHERE id <= (SELECT last_change FROM usage_closings WHERE last_change > 1 ORDER BY until LIMIT 1)));
    $admin->put("/v2.0/t1/namespaces/default/configmaps/d$_", json => {}) for 1 .. 3;
    close_periods();
    close_periods();
    ($code, $text) = verify();
    is $code, 0, 'nothing differs' or diag $text;
    like $text, qr/counted again from the balance at that time: 0 differences/, 'from the first period that can be counted again';
    $instance->sql(q(UPDATE usage_periods SET byte_us = byte_us + 1 ORDER BY until DESC LIMIT 1));
    ($code, $text) = verify();
    is $code, 1, 'a figure of them';
    like $text, qr/: byte_seconds: /, '... is named';
    $instance->sql(q(UPDATE usage_periods SET byte_us = byte_us - 1 ORDER BY until DESC LIMIT 1));
};

subtest 'periods that are not kept' => sub {
    my $answer = sub { return $admin->get("/v2.0/all/usage?from=$_[0]&to=$_[1]&limit=1000")->json->{usage} };
    close_periods();
    # Half of them, at first; which one is the first to be kept then depends on how long all this takes.
    my @closings = map { [map { s/ /T/r =~ s/\..*/Z/r } @$_] } $instance->sql('SELECT since, until FROM usage_closings ORDER BY until');
    my $until    = $closings[-1][1];
    my %before   = map { $_->[0] => $answer->($_->[0], $until) } @closings;
    my $rows   = $instance->sql_value('SELECT COUNT(*) FROM usage_periods');
    my $old    = $instance->sql_value("SELECT CEIL(TIMESTAMPDIFF(MICROSECOND, '$closings[@closings / 2][1]', UTC_TIMESTAMP(6)) / 1000000)");
    local $ENV{TENURE_TENURE_USAGE_RETENTION} = $old;
    my ($dry) = ($instance->manage('reap', '--dry-run'))[1] =~ /(\d+) periods of usage/;
    cmp_ok $dry, '>', 0, 'a dry run counts them';
    my $began = $instance->sql_value('SELECT UTC_TIMESTAMP(6)');
    like +($instance->manage('reap'))[1], qr/, [1-9]\d* periods of usage, /, 'they are purged';
    is $instance->sql_value("SELECT COUNT(*) FROM usage_closings WHERE until < '$began' - INTERVAL $old SECOND"), 0, 'all of them';
    cmp_ok $instance->sql_value('SELECT COUNT(*) FROM usage_periods'), '<', $rows, 'with what they say of tenants';
    is $instance->sql_value('SELECT COUNT(*) FROM usage_periods u WHERE until <= (SELECT MIN(since) FROM usage_closings) AND (resources = 0 AND bytes = 0 OR EXISTS '
            . '(SELECT 1 FROM usage_periods x WHERE x.tenant_id = u.tenant_id AND x.type_id = u.type_id AND x.until > u.until AND x.until <= (SELECT MIN(since) FROM usage_closings)))'),
        0, '... but for the balance with which the first one begins that is kept';
    my $kept = $instance->sql_value('SELECT MIN(since) FROM usage_closings') =~ s/ /T/r =~ s/\..*/Z/r;
    is_deeply $answer->($kept, $until), $before{$kept}, 'what is kept stays as it was';
    close_periods();
    ($code, $text) = verify();
    is $code, 0, 'and can be verified' or diag $text;
};

subtest 'another opening balance' => sub {
    $instance->sql("UPDATE usage_progress SET stage = 'waiting', opens_at = NULL WHERE id = 1");
    $admin->put('/v2.0/t1/namespaces/default/configmaps/e', json => {});
    ok Tenure::Instance::wait_until(sub { $instance->sql_value(q(SELECT stage IN ('counting', 'closing') FROM usage_progress)) }), 'it was taken';
    close_periods();
    $admin->put('/v2.0/t1/namespaces/default/configmaps/f', json => {});
    close_periods();
    ($code, $text) = verify();
    is $code, 0, 'nothing differs' or diag $text;
    like $text, qr/counted again from the opening balance: 0 differences/, 'behind it';
};

($code, $text) = $instance->manage('usage', 'vrify');
is $code, 64, 'a verb that is not there';
like $text, qr/did you mean "usage verify"/, '... and one that is near';

done_testing;
