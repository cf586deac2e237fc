#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Usage: what tenants had of each type in closed periods, and for how long, after changes, moves, deletions and recoveries; as JSON and CSV,
# of one tenant and of all; with processes that are killed.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Tool;

my $PERIOD   = 2;
my $instance = Tenure::Instance->start(combined => 1, settings => { 'tenure.usage_period' => $PERIOD }, allow => [qr/usage counter \d+ ended by signal/, qr/usage is counted again/]);
my $admin    = $instance->admin;

sub close_periods { return ok $instance->usage_has_closed, 'a period is closed' }

# Times as the answers have them, which cover all that was closed. A run that lasts beyond the end of a month gets two rows of a type: they are
# made one, which has what there was at the end, and both times together.
sub rows {
    my ($path, $more) = @_;
    my $answer = $admin->get("/v2.0/$path/usage?from=2000-01-01T00:00:00Z&step=month&limit=1000" . ($more // ''));
    $answer->is_status(200);
    my (@rows, %row);
    for my $row (@{ $answer->json->{usage} }) {
        my $earlier = $row{"$row->{tenant} $row->{type}"} //= $row;
        push @rows, $row and next if $earlier == $row;
        my %sum = map { $_ => sprintf '%.6f', $earlier->{$_} + $row->{$_} } qw(resource_seconds byte_seconds);
        %$earlier = (%$row, %sum);
    }
    return @rows;
}

sub at_end {
    my ($tenant) = @_;
    return { map { ($_->{type} => [$_->{resources}, $_->{bytes}]) } grep { $_->{resources} > 0 } rows($tenant) };
}

# The same, counted from what is stored.
sub stored {
    my ($tenant) = @_;
    my %stored = map { my ($type, $n, $bytes) = @$_; ($type => [$n, $bytes]) } $instance->sql(
        "SELECT k.plural, COUNT(*), SUM(r.bytes) FROM resources r JOIN types k ON k.id = r.type_id JOIN tenants t ON t.id = r.tenant_id "
            . "WHERE t.name = '$tenant' AND t.live = 1 AND t.deleted_at IS NULL AND r.live = 1 GROUP BY k.plural");
    return \%stored;
}

$admin->make_tenant($_) for qw(t1 t2 t3);
$admin->put("/v2.0/t1/namespaces/default/configmaps/c$_", json => { data => { n => 'x' x $_ } }) for 1 .. 5;
$admin->put('/v2.0/t1/persistentvolumes/pv', json => {});
$admin->put('/v2.0/t1/namespaces/n', json => {});
$admin->put('/v2.0/t1/namespaces/n/secrets/s', json => {});
close_periods();
is_deeply at_end('t1'), stored('t1'), 'what was created';
is scalar keys %{ at_end('t1') }, 4, 'of four types';
is_deeply at_end('t2'), {}, 'another tenant has nothing: its namespace "default" does not count';

sub kept { return map { join ' ', @$_ } $instance->sql('SELECT * FROM usage_periods ORDER BY until, tenant_id, type_id') }
my @kept = kept();
$admin->put('/v2.0/t1/namespaces/default/configmaps/c1', json => { data => { n => 'y' x 100 } });
$admin->delete('/v2.0/t1/namespaces/default/configmaps/c2');
$admin->delete('/v2.0/t1/namespaces/n');
$admin->post('/v2.0/t1/persistentvolumes/pv/action/move?dest=t2')->is_status(303);
close_periods();
is_deeply at_end($_), stored($_), "after changes, deletions and a move: $_" for 't1', 't2';
is_deeply [(kept())[0 .. $#kept]], \@kept, 'closed periods stay as they were';

$admin->post('/v2.0/t1/namespaces/default/configmaps/c2/action/recover');
$admin->delete('/v2.0/t2')->is_status(204);
close_periods();
is_deeply at_end('t1'), stored('t1'), 'what was recovered counts again';
my @all = rows('all');
is_deeply [map { $_->{resources} } grep { $_->{tenant} eq 't2' } @all], [0], 'a deleted tenant has nothing';
$admin->post('/v2.0/t2/action/recover')->is_status(204);
close_periods();
is_deeply at_end('t2'), stored('t2'), 'a recovered one has what it had';

subtest 'how long' => sub {
    my ($pv) = grep { $_->{tenant} eq 't1' && $_->{type} eq 'persistentvolumes' } rows('all');
    my $us = $instance->sql_value(q(SELECT TIMESTAMPDIFF(MICROSECOND, MIN(at), MAX(at)) FROM changes WHERE name = 'pv' AND verb IN ('created', 'moved')));
    is $pv->{resource_seconds}, sprintf('%d.%06d', $us / 1000000, $us % 1000000), 'until the move, to the microsecond';
    # Another period may end between the two requests.
    my $until = $admin->get('/v2.0/all/usage')->json->{closed_until};
    my @whole = rows('t1', "&to=$until&type=configmaps");
    my %sum;
    for my $row (@{ $admin->get("/v2.0/t1/usage?from=2000-01-01T00:00:00Z&to=$until&type=configmaps&limit=1000")->json->{usage} }) {
        $sum{$_} += $row->{$_} for qw(resource_seconds byte_seconds);
    }
    cmp_ok abs($sum{$_} - $whole[0]{$_}), '<', 0.001, "the periods come to the month: $_" for sort keys %sum;
};

subtest 'forms' => sub {
    my $until = $admin->get('/v2.0/all/usage')->json->{closed_until};
    my $csv   = $admin->get("/v2.0/all/usage?from=2000-01-01T00:00:00Z&to=$until&format=csv&step=month");
    like $csv->header('content-type'), qr{\Atext/csv}, 'CSV';
    like $csv->text, qr/\Atenant,uid,type,from,to,resources,bytes,resource_seconds,byte_seconds\r\nt1,/, 'with its columns';
    is $admin->get("/v2.0/all/usage?from=2000-01-01T00:00:00Z&to=$until&step=month", headers => { Accept => 'text/csv' })->text, $csv->text, 'by Accept';
    for my $list ('all', 't1') {
        my $path = "/v2.0/$list/usage?from=2000-01-01T00:00:00Z&to=$until&step=month";
        my $plain = $admin->get("$path&format=csv", accept => 'text/plain');
        $plain->is_status(200, "format=csv of $list whatever Accept says");
        is $plain->text, $admin->get($path, accept => 'text/csv')->text, '... is the same CSV';
        like $plain->header('content-type'), qr{\Atext/csv}, '... and says so';
        $admin->get("$path&format=json", accept => 'text/csv')->is_status(200, 'format=json where Accept allows CSV alone');
        $admin->get("$path&format=json", accept => 'text/plain')->is_problem(406, 'not-acceptable', 'format=json where Accept allows none of the types');
        my $refused = $admin->get($path, accept => 'text/plain');
        $refused->is_problem(406, 'not-acceptable', 'without format Accept decides');
        like $refused->detail, qr{application/json, text/csv, application/xml}, '... and the answer says what there is';
    }
    like $admin->get('/v1.0/all/usage?from=2000-01-01T00:00:00Z&step=month')->text, qr/"account":"t1"/, 'in the words of /v1.0';
    my @paged = $admin->list("/v2.0/all/usage?from=2000-01-01T00:00:00Z&to=$until&step=period&limit=2", 'usage');
    my @once = @{ $admin->get("/v2.0/all/usage?from=2000-01-01T00:00:00Z&to=$until&limit=1000")->json->{usage} };
    is_deeply \@paged, \@once, 'pages hold the same';
};

subtest 'mistakes' => sub {
    for ([ 'from=yesterday', qr/such as \d{4}-/ ], [ 'to=2000-01-01T00:00:00Z&from=2001-01-01T00:00:00Z', qr/from must be before to/ ],
        [ 'step=year', qr/month/ ], [ 'marker=x', qr/marker must be/ ], [ 'format=xls', qr/csv/ ], [ 'type=', qr/type must be/ ]) {
        my ($query, $says) = @$_;
        my $answer = $admin->get("/v2.0/t1/usage?$query");
        $answer->is_status(400);
        like $answer->text, $says, $query;
    }
    $admin->get('/v2.0/nobody/usage')->is_status(404);
    $instance->service('ann:t2:reader')->get('/v2.0/t1/usage')->is_status(404);
    $instance->service('ann:t1:reader')->get('/v2.0/t1/usage')->is_status(200);
};

subtest 'tenure usage' => sub {
    my $tool   = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => $instance->operator_token);
    my $until  = $admin->get('/v2.0/all/usage')->json->{closed_until};
    my @times  = ('--from', '2000-01-01T00:00:00Z', '--to', $until);
    my $answer = sub { return $admin->get("/v2.0/$_[0]/usage?from=2000-01-01T00:00:00Z&to=$until&limit=1000" . ($_[1] // ''))->json->{usage} };
    is_deeply $tool->json('usage', 't1', @times), $answer->('t1'), 'of a tenant, as the service answers';
    is_deeply $tool->json(qw(usage -t t1 --step month --type configmaps), @times), $answer->('t1', '&step=month&type=configmaps'), 'by step and type';
    my @all = @{ $answer->('all') };
    is_deeply $tool->json(qw(usage -t t1 --step month --type configmap), @times), $answer->('t1', '&step=month&type=configmaps'), 'a type by its singular';
    is_deeply $tool->json('usage', '--all-tenants', @times), \@all, 'of all tenants';
    is $tool->ends(0, qw(usage --all-tenants --format csv --columns), 'tenant,type,to,byte-seconds', @times)->{out},
        join('', "tenant,type,to,byte-seconds\n", map { join(',', @$_{qw(tenant type to byte_seconds)}) . "\n" } @all), 'as CSV';
    like $tool->ends(0, qw(usage t1 --step month --type configmaps), @times)->{out},
        qr/\ATYPE +FROM +TO +RESOURCES +BYTES +RESOURCE-SECONDS +BYTE-SECONDS\n(?:configmaps .*\n)?configmaps +2\S+ +2\S+ +5 +\d+ +\d+\.\d{6} +\d+\.\d{6} *\n\z/, 'as a table'; # two lines at the end of a month
    my $none = $tool->ends(0, qw(usage t3 --format csv --columns type), @times);
    is $none->{out}, "type\n", 'a tenant without any';
    like $none->{err}, qr/\Atenure: there was nothing to count in that time; usage is counted until \d{4}-\S+Z\n\z/, '... which is told';
    like $tool->ends(65, qw(usage t1 --from yesterday))->{err}, qr/parameter from must be .* such as \d/, 'no time';
    $tool->ends(1, qw(usage nobody));

    # More than a page: with periods of long ago.
    $admin->make_tenant('large');
    my $old = join ',', map { sprintf q(('2001-01-01 00:%02d:00', '2001-01-01 00:%02d:00', 1, UTC_TIMESTAMP(6))), $_ + 1, $_ } 0 .. 58;
    $instance->sql("INSERT INTO usage_closings (until, since, last_change, closed_at) VALUES $old; "
            . "INSERT INTO usage_periods (tenant_id, type_id, until, since, resources, bytes, resource_us, byte_us) "
            . "SELECT t.id, k.id, c.until, c.since, 1, 10, 60000000, 600000000 FROM tenants t, types k, usage_closings c "
            . "WHERE t.name = 'large' AND t.live = 1 AND c.until < '2001-01-02'");
    my @long  = ('--from', '2001-01-01T00:00:00Z', '--to', '2001-01-02T00:00:00Z');
    my @lines = split /\n/, $tool->ends(0, qw(usage large --format csv), @long)->{out};
    is scalar @lines, 1 + 59 * $instance->sql_value('SELECT COUNT(*) FROM types'), 'more than a page';
    is scalar(grep { /\Atype,/ } @lines), 1, 'its columns are named once';
    my %seen;
    is scalar(grep { $seen{$_}++ } @lines), 0, 'no row twice';

    # A name that a spreadsheet would take for a formula.
    $admin->put('/v2.0/%3D1%2B1', json => { tenant => {} })->is_status(201);
    $instance->sql(q(INSERT INTO usage_periods (tenant_id, type_id, until, since, resources, bytes, resource_us, byte_us) )
            . q(SELECT t.id, k.id, c.until, c.since, 1, 10, 60000000, 600000000 FROM tenants t, types k, usage_closings c )
            . q(WHERE t.name = '=1+1' AND k.plural = 'configmaps' AND c.until < '2001-01-02'));
    like $tool->ends(0, qw(usage --all-tenants --type configmaps --format csv), @long)->{out}, qr/^"'=1\+1",configmaps,/m, 'is a text in CSV';
    is $tool->json(qw(usage --all-tenants --type configmaps), @long)->[-1]{tenant}, '=1+1', '... and as it is in JSON';
    is_deeply $tool->json(qw(usage --all-tenants --type configmaps --from 2001-01-01 --to 2001-01-02)), $tool->json(qw(usage --all-tenants --type configmaps), @long),
        'days';
    like $tool->ends(65, qw(usage t1 --from 2001-02-30))->{err}, qr/from must be/, 'no day';
    like $admin->get("/v2.0/all/usage?from=2001-01-01T00:00:00Z&to=2001-01-02T00:00:00Z&type=configmaps&format=csv&limit=1000")->text, qr/^"'=1\+1",/m,
        '... and in CSV of the service';
    is scalar(@lines) - 1, scalar @{ $tool->json('usage', 'large', @long) }, 'as many as in JSON';
    $instance->sql(q(DELETE FROM usage_periods WHERE until < '2001-01-02'; DELETE FROM usage_closings WHERE until < '2001-01-02'));
};

# Two periods of long ago; more tenants than one page looks at had something before the second one, and nothing since.
subtest 'many that had nothing in that time' => sub {
    my $tool = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => $instance->operator_token);
    $instance->sql('ALTER TABLE tenants AUTO_INCREMENT = 1000000');
    $admin->make_tenant($_) for 'late', 'later';
    my $periods = 'INSERT INTO usage_periods (tenant_id, type_id, until, since, resources, bytes, resource_us, byte_us) ';
    $instance->sql("INSERT INTO usage_closings (until, since, last_change, closed_at) "
            . "VALUES ('2002-01-01 01:00:00', '2002-01-01 00:00:00', 1, UTC_TIMESTAMP(6)), ('2002-01-01 02:00:00', '2002-01-01 01:00:00', 1, UTC_TIMESTAMP(6)); "
            . "$periods SELECT seq, k.id, '2002-01-01 01:00:00', '2002-01-01 00:00:00', 0, 0, 1000000, 1000000 FROM seq_10000_to_12499 JOIN types k WHERE k.plural = 'configmaps'; "
            . "$periods SELECT t.id, k.id, c.until, c.since, 1, 10, 3600000000, 36000000000 FROM tenants t, types k, usage_closings c "
            . "WHERE t.name IN ('late', 'later') AND k.plural = 'configmaps' AND c.until < '2002-01-02'");
    my $rows  = sub { return [map { "$_->{tenant} $_->{from}" } @{ $_[0]->json->{usage} }] };
    my $path  = '/v2.0/all/usage?from=2002-01-01T01:00:00Z&to=2002-01-01T02:00:00Z';
    my $first = $admin->get($path);
    is_deeply $rows->($first), [], 'a page may be empty';
    ok $first->json->{next}, '... though there is a next';
    like $first->header('Link'), qr/rel="next"/, '... which Link says, too';
    my $second = $admin->get($admin->path_of($first->json->{next} // $path));
    is_deeply $rows->($second), ['late 2002-01-01T01:00:00Z', 'later 2002-01-01T01:00:00Z'], 'the next has the rest';
    is $second->json->{next}, undef, '... which is all';
    my $csv = $admin->get("$path&format=csv");
    is $csv->text =~ tr/\n//, 1, 'CSV: the names of the columns alone';
    my ($next) = ($csv->header('Link') // '') =~ /<([^>]+)>/;
    is_deeply [$admin->get($admin->path_of($next // $path))->text =~ /^(\w+),/mg], ['late', 'later'], '... and then the rows alone';
    is scalar @{ $tool->json(qw(usage --all-tenants --from 2002-01-01T01:00:00Z --to 2002-01-01T02:00:00Z)) }, 2, '`tenure usage` goes on';
    is $tool->ends(0, qw(usage --all-tenants --format csv --columns tenant --from 2002-01-01T01:00:00Z --to 2002-01-01T02:00:00Z))->{out}, "tenant\nlate\nlater\n", '... in CSV, too';

    my @pages = $admin->pages('/v2.0/all/usage?from=2002-01-01T00:00:00.5Z&to=2002-01-01T02:00:00.5Z&limit=1');
    is_deeply [map { @{ $rows->($_) } } @pages], $rows->($second), 'a fraction of a second: all pages begin with the same period';
    like $pages[0]->json->{next}, qr/from=2002-01-01T00:00:01Z&to=2002-01-01T02:00:00Z/, 'which next tells, in whole seconds';
    $admin->get('/v2.0/all/usage?from=2002-01-01T00:00:00.2Z&to=2002-01-01T00:00:00.8Z')->is_status(200, 'within a second');
    $instance->sql(q(DELETE FROM usage_periods WHERE until < '2002-01-02'; DELETE FROM usage_closings WHERE until < '2002-01-02'));
};

for my $round (1 .. 5) {
    $admin->put("/v2.0/t3/namespaces/default/configmaps/k$round", json => { data => { n => "$round" } });
    kill 'KILL', $_ for $instance->host_children('tenured-usage');
    $instance->sql("UPDATE usage_progress SET stage = 'waiting', opens_at = NULL WHERE id = 1") if $round == 3;
}
close_periods();
is_deeply at_end('t3'), stored('t3'), 'with processes killed, and another opening balance';
is_deeply at_end('t1'), stored('t1'), '... nothing changes for others';

# As a program of schema version 19 would write: it logs no sizes.
$instance->sql(q(UPDATE resources SET bytes = bytes + 7 WHERE name = 'k1' AND live = 1;
    INSERT INTO changes (request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision)
    SELECT UNHEX(MD5('old')), UTC_TIMESTAMP(6), 'old', 'updated', tenant_id, id, uid, type_id, namespace, name, revision FROM resources
    WHERE name = 'k1' AND live = 1));
@kept = kept();
ok Tenure::Instance::wait_until(sub {
    return $instance->sql_value("SELECT opened_id >= (SELECT id FROM changes WHERE actor = 'old') AND stage IN ('counting', 'closing') FROM usage_progress");
}), 'another opening balance was taken';
close_periods();
is_deeply at_end('t3'), stored('t3'), 'with what was not logged';
is_deeply at_end('t1'), stored('t1'), '... and nothing twice';
is_deeply [(kept())[0 .. $#kept]], \@kept, 'closed periods stay as they were';

done_testing;
