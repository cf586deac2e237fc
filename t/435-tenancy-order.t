#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Time orders nothing: what was deleted last is what the change log says, and no time that is shown contradicts it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Parallel;

my $instance = Tenure::Instance->start(workers => 4);
my $admin    = $instance->admin;
$admin->make_tenant($_) for 't1', 't2';
my $t1 = '/v2.0/t1';

# All changes of a tenant, in order.
sub changes_of_tenant { return $admin->list("/v2.0/$_[0]/changes?limit=1000", 'changes') }

# Those whose time is before that of the change of the same resource, or address, before them.
sub out_of_order {
    my ($by, @changes) = @_;
    my (%last, @found);
    for my $change (@changes) {
        my $key = $change->{$by} // $change->{uid};
        push @found, "$change->{id} $change->{verb} $key $change->{at} after $last{$key}" if ($last{$key} // '') gt $change->{at};
        $last{$key} = $change->{at};
    }
    return @found;
}

# As if the clock of another host were an hour ahead.
sub hour_ahead {
    my ($where) = @_;
    $instance->sql(<<"SQL");
UPDATE changes c JOIN resources r ON r.id = c.resource_id JOIN tenants t ON t.id = r.tenant_id SET c.at = c.at + INTERVAL 1 HOUR WHERE $where;
UPDATE resources r JOIN tenants t ON t.id = r.tenant_id SET r.updated_at = r.updated_at + INTERVAL 1 HOUR,
  r.deleted_at = r.deleted_at + INTERVAL 1 HOUR WHERE $where
SQL
    return;
}

subtest 'three deletions and a creation at once' => sub {
    my $rounds = $ENV{TENURE_TEST_LONG} ? 400 : 40;
    my @wrong;
    for my $round (1 .. $rounds) {
        my $url = "$t1/persistentvolumes/raced-$round";
        $admin->make($url, { round => $round });
        Tenure::Parallel::run(4, sub {
            my ($client) = @_;
            my $own = $instance->admin;
            # Processes that are forked first mostly come first.
            return $client == $round % 4 ? $own->put($url, json => { round => -$round }, if_none_match => '*')->status : $own->delete($url)->status;
        });
        $admin->delete($url);
        my $recover = $admin->post("$url/action/recover");
        push @wrong, "$round: recover is " . $recover->status if $recover->status != 204;
    }
    my (%last, @changes);
    @changes = grep { ($_->{resource} // '') =~ m{/raced-} } changes_of_tenant('t1');
    for my $change (@changes) {
        my $at = $change->{resource};
        $last{$at} = $change->{uid} if $change->{verb} eq 'deleted';
        push @wrong, "$at: $change->{uid} came back and $last{$at} was deleted last"
            if $change->{verb} eq 'recovered' && $change->{uid} ne $last{$at};
    }
    is_deeply \@wrong, [], "in $rounds rounds what the log says was deleted last came back";
    cmp_ok scalar(grep { $_->{verb} eq 'deleted' } @changes), '>', $rounds, 'and in some of them two were deleted';
    is_deeply [out_of_order('uid', @changes)], [], 'no resource has times that go back';
    is_deeply [out_of_order('resource', @changes)], [], 'nor has an address';
};

subtest 'the clock of one host is ahead' => sub {
    my $url   = "$t1/persistentvolumes/ahead";
    my $first = $admin->make($url, { n => 1 })->json->{metadata}{uid};
    $admin->delete($url)->is_status(204);
    my $second = $admin->make($url, { n => 2 })->json->{metadata}{uid};
    $admin->delete($url)->is_status(204);
    hour_ahead("r.uid = UNHEX(REPLACE('$first', '-', ''))");
    $admin->get($url)->is_status(410);
    $admin->post("$url/action/recover")->is_status(204);
    is $admin->get($url)->json->{metadata}{uid}, $second, 'what was deleted last comes back, whatever the times say';
    $admin->delete($url)->is_status(204);
    $admin->post("$url/action/recover?uid=$first")->is_status(204, 'the other one by its uid');
    is $admin->get($url)->json->{metadata}{uid}, $first, 'is it';
};

subtest 'no time goes back' => sub {
    my $ns = "$t1/namespaces/n";
    $admin->make($_) for $ns, "$ns/configmaps/c1", "$ns/configmaps/c2";
    hour_ahead(q(t.name = 't1' AND (r.namespace = 'n' OR r.name = 'n')));
    my $before = $admin->get("$ns/configmaps/c1");
    $admin->put("$ns/configmaps/c1", json => { v => 2 })->is_status(200);
    $admin->put("$ns/configmaps/c2/traits/CUSTOM_LATE")->is_status(204);
    $admin->delete("$ns/configmaps/c2")->is_status(204);
    $admin->post("$ns/configmaps/c2/action/recover")->is_status(204);
    $admin->put("$ns/configmaps/c2", json => { v => 3 })->is_status(200, 'a change after the recovery, which leaves updated_at alone');
    $admin->post("$ns/action/move?dest=t2")->is_status(303);
    $admin->post('/v2.0/t2/action/move?dest=t1')->is_status(303);
    $admin->delete($ns)->is_status(204);
    $admin->post("$ns/action/recover")->is_status(204);
    my @changes = sort { $a->{id} <=> $b->{id} } changes_of_tenant('t1'), changes_of_tenant('t2');
    cmp_ok scalar(grep { ($_->{resource} // '') =~ m{\Anamespaces/n/configmaps/c2\z} } @changes), '>=', 8, 'all of that is in the log';
    is_deeply [out_of_order('uid', @changes)], [], 'in its order';

    $instance->sql(q(UPDATE tenants t JOIN changes c ON c.tenant_id = t.id AND c.resource_id IS NULL SET t.updated_at = t.updated_at + INTERVAL 1 HOUR,
        c.at = c.at + INTERVAL 1 HOUR WHERE t.name = 't2'));
    my $updated = $admin->get('/v2.0/t2')->json->{tenant}{updated_at};
    $admin->put('/v2.0/t2', json => { tenant => { metadata => { a => 'b' } } })->is_status(202);
    cmp_ok $admin->get('/v2.0/t2')->json->{tenant}{updated_at}, 'ge', $updated, 'nor does a tenant\'s';
    $admin->delete('/v2.0/t2')->is_status(204);
    $admin->post('/v2.0/t2/action/recover')->is_status(204);
    $admin->put('/v2.0/t2', json => { tenant => { metadata => { a => 'c' } } })->is_status(202);
    is_deeply [out_of_order('uid', grep { !defined $_->{resource} } changes_of_tenant('t2'))], [], 'its changes';
};

subtest 'a list of what was deleted goes on by the change' => sub {
    my $base = "$t1/namespaces/default/configmaps";
    for my $n (1 .. 6) {
        $admin->make("$base/gone-$n");
        $admin->delete("$base/gone-$n")->is_status(204);
    }
    $instance->sql(q(UPDATE resources SET deleted_at = '2026-01-01 00:00:00' WHERE name LIKE 'gone-%'));
    is_deeply [map { $_->{metadata}{name} } $admin->list("$base?deleted=true&limit=2", 'resources')], [map { "gone-$_" } 1 .. 6], 'each of them once, though all have one time';
};

subtest 'the log is shortened from its beginning' => sub {
    my $at = sub { return $instance->sql(join ' ', "UPDATE changes SET at = UTC_TIMESTAMP(6) - INTERVAL $_[0] DAY WHERE", $_[1]) };
    my @ids = map { $_->{id} } changes_of_tenant('t1');
    my ($fresh, $old) = @ids[3, 6];
    my $total = $instance->sql_value('SELECT COUNT(*) FROM changes');
    my @were = $instance->sql('SELECT id, at FROM changes');
    ok $instance->usage_has_counted, 'usage needs none of them any more';
    $at->(400, "id <= $old AND id <> $fresh");
    my ($code, $text) = $instance->manage('reap', '--dry-run');
    is $code, 0, 'a dry run';
    my $before = $instance->sql_value("SELECT COUNT(*) FROM changes WHERE id < $fresh");
    like $text, qr/\b$before changes\b/, 'tells of those before the first that stays';
    is(($instance->manage('reap'))[0], 0, 'reaped');
    is $instance->sql_value('SELECT MIN(id) FROM changes'), $fresh, 'which is the oldest now';
    is $instance->sql_value('SELECT COUNT(*) FROM changes'), $total - $before, 'none behind it is missing, old as they are';
    $instance->sql(join ';', map { "UPDATE changes SET at = '$_->[1]' WHERE id = $_->[0]" } @were);
};

subtest 'to the microsecond' => sub {
    my $back = sub {
        my ($same) = @_;
        return $instance->sql_value("SELECT COUNT(*) FROM changes a JOIN changes b ON $same AND b.id > a.id AND b.at < a.at");
    };
    cmp_ok $instance->sql_value('SELECT COUNT(*) FROM changes'), '>', 150, 'the log';
    is $back->('b.resource_id = a.resource_id'), 0, 'no resource\'s times go back';
    is $back->('a.resource_id IS NULL AND b.resource_id IS NULL AND b.tenant_id = a.tenant_id'), 0, 'no tenant\'s';
    is $back->(q(b.tenant_id = a.tenant_id AND b.type_id = a.type_id AND b.name = a.name AND a.name LIKE 'raced-%')), 0, 'no address\'s, raced for';
};

done_testing;
