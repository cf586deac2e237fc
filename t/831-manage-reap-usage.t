#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The change log is shortened no further than usage has counted it, however old its rows are, so nothing is lost where nobody counts for
# longer than change_retention.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $instance = Tenure::Instance->start(settings => { 'tenure.usage_period' => 2 });
my $admin    = $instance->admin;

sub changes { return $instance->sql_value('SELECT COUNT(*) FROM changes WHERE at < UTC_TIMESTAMP(6) - INTERVAL 366 DAY') }
sub age     { return $instance->sql('UPDATE changes SET at = UTC_TIMESTAMP(6) - INTERVAL 400 DAY') }
sub progress { return $instance->sql_value("SELECT $_[0] FROM usage_progress") }

sub reap {
    my ($name, @args) = @_;
    my ($code, $text) = $instance->manage('reap', @args);
    is $code, 0, $name or diag $text;
    my ($n) = $text =~ /(\d+) changes/;
    return ($n, $text);
}

$admin->make_tenant('t');
$admin->put("/v2.0/t/namespaces/default/configmaps/c$_", json => { data => { n => 'x' x $_ } })->is_status(201) for 1 .. 3;
ok Tenure::Instance::wait_until(sub { progress('stage') eq 'counting' && progress('position') >= $instance->sql_value('SELECT MAX(id) FROM changes') }, 60),
    'all is counted';
my $counted = $instance->sql_value('SELECT COUNT(*) FROM changes');

# Who counts locks this row, so nobody does now. Those who only look at it don't wait.
my $hold     = $instance->sql_locks('SELECT * FROM usage_progress WHERE id = 1 FOR UPDATE');
my $position = progress('position');
$admin->put("/v2.0/t/namespaces/default/configmaps/late$_", json => { data => { n => 'y' x $_ } })->is_status(201) for 1 .. 3;
my ($code, $text) = $instance->manage('doctor');
is $code, 0, 'the doctor finds nothing wrong';
unlike $text, qr/usage has not counted/, 'and warns of nothing while the changes are young';
age();
my $all = changes();
($code, $text) = $instance->manage('doctor');
is $code, 0, 'changes that are older than the log is kept are no mistake';
like $text, qr/warning: usage has not counted changes since 400 days ago, longer than change_retention: they stay in the change log until tenured-host counts them/,
    'but he warns';
(my $n, $text) = reap('a dry run', '--dry-run');
is $n, $counted, 'would take what was counted';
like $text, qr/older changes stay in the change log, as usage has not counted them yet: tenured-host does that/, 'and says why not the rest';
($n, $text) = reap('a run');
is $n, $counted, 'takes what was counted';
is changes(), $all - $counted, 'and leaves what was not, though it is as old';
is $instance->sql_value('SELECT MIN(id) FROM changes') > $position, 1, 'which is all behind the position';
($n) = reap('another run');
is $n, 0, 'takes no more';

close $hold;
ok Tenure::Instance::wait_until(sub { progress('position') >= $instance->sql_value('SELECT MAX(id) FROM changes') }, 60), 'somebody counts again';
my $usage = q(SELECT p.resources FROM usage_periods p JOIN tenants t ON t.id = p.tenant_id JOIN types y ON y.id = p.type_id
    WHERE t.name = 't' AND y.plural = 'configmaps' ORDER BY p.until DESC LIMIT 1);
ok Tenure::Instance::wait_until(sub { ($instance->sql_value($usage) // 0) == 6 }, 60), 'what was changed meanwhile is not lost';
($n, $text) = reap('a run then');
is $n, $all - $counted, 'takes the rest';
unlike $text, qr/not counted/, 'and has nothing to say';
is changes(), 0, 'nothing old is left';
($code, $text) = $instance->manage('doctor');
is $code, 0, 'all is sound' or diag $text;
unlike $text, qr/usage has not counted/, 'and the doctor content';

subtest 'before the opening balance nothing is kept for the count' => sub {
    my $lock;
    do { # until nobody has counted between the two, which one session does behind each other
        undef $lock;
        $lock = $instance->sql_locks(q(UPDATE usage_progress SET stage = 'waiting', opens_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, position = 0 WHERE id = 1;
            COMMIT; BEGIN; SELECT * FROM usage_progress WHERE id = 1 FOR UPDATE) =~ s/\n\s*/ /r);
    } until progress('position') == 0;
    $admin->put('/v2.0/t/namespaces/default/configmaps/w', json => {})->is_status(201);
    age();
    ($n, $text) = reap('a run');
    is changes(), 0, 'takes all that is old' or diag $text;
};

done_testing;
