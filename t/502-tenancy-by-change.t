#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Lists of resources and of tenants in the order of their last changes, from either end: compared with all that there is on random data,
# pages, what changes between them, where a page's share of the work ends, mistakes, the commands.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use List::Util qw(first);
use Test::More;

use Tenure::Instance;
use Tenure::Tool;

my $seed = $ENV{TENURE_SEED} // time;
srand $seed;
diag "TENURE_SEED=$seed";

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;

sub pick { return $_[rand @_] }
sub name_of { my ($item) = @_; return $item->{id} // join '/', grep {defined} @{ $item->{metadata} }{qw(namespace name)} }

# Returns the names of what is on all pages, and how many pages there are.
sub walk {
    my ($path, %option) = @_;
    my @pages = $admin->pages($path, %option);
    return ([map { name_of($_) } map { @{ $_->json->{resources} // $_->json->{tenants} } } @pages], scalar @pages);
}
sub found { return (walk(@_))[0] }

$admin->make_tenant($_) for qw(t1 t2);
my $in = '/v2.0/t1/persistentvolumes';

subtest 'resources' => sub {
    $admin->make("$in/$_") for qw(a b c d);
    $admin->make('/v2.0/t2/persistentvolumes/other');
    is_deeply found("$in?sort=updated"), [qw(a b c d)], 'nothing was changed since it was created';
    $admin->patch("$in/b", { spec => { x => '1' } })->is_status(200);
    $admin->patch("$in/a", { spec => { x => '1' } })->is_status(200);
    is_deeply found("$in?sort=updated"), [qw(c d b a)], 'what was changed stands at the end';
    is_deeply found("$in?sort=updated&order=desc"), [qw(a b d c)], 'or at the beginning';
    $admin->put("$in/a", json => { spec => { x => '1' } })->is_status(200);
    is_deeply found("$in?sort=updated&order=desc&limit=1"), [qw(a b d c)], 'page by page; a write that changes nothing is none';
    $admin->put("$in/d/traits", json => { traits => ['CUSTOM_RED'] })->is_status(200);
    is_deeply found("$in?sort=updated&limit=3&order=desc"), [qw(d a b c)], 'traits are a change';
    is_deeply found("$in?sort=updated&required=CUSTOM_RED"), ['d'], 'with a condition';
    $admin->delete("$in/c")->is_status(204);
    is_deeply found("$in?sort=updated"), [qw(b a d)], 'what is deleted is not there';
    $admin->post("$in/c/action/recover")->is_status(204);
    is_deeply [sort @{ found("$in?sort=updated") }], [qw(a b c d)], 'and there again';
    $admin->make("/v2.0/t1/namespaces/$_") for qw(n1 n2);
    $admin->make("/v2.0/t1/namespaces/$_->[0]/configmaps/$_->[1]") for ['n2', 'x'], ['n1', 'x'], ['n2', 'y'];
    is_deeply found('/v2.0/t1/configmaps?sort=updated'), ['n2/x', 'n1/x', 'n2/y'], 'in all namespaces';
    is_deeply found('/v2.0/t1/namespaces/n2/configmaps?sort=updated&order=desc'), ['n2/y', 'n2/x'], 'in one';
    $instance->sql(q{UPDATE resources r JOIN tenants t ON t.id = r.tenant_id SET r.updated_at = '2026-01-05' WHERE t.name = 't1' AND r.name = 'n1'});
    is_deeply found('/v2.0/t1/namespaces?sort=updated&limit=2'), ['n1', 'default', 'n2'], 'the namespace default has its place';
    is_deeply found('/v2.0/t1/namespaces?sort=updated&order=desc&limit=1'), ['n2', 'default', 'n1'], 'from the other side, too';
    is_deeply found("$in?sort=updated&updated_before=2026-01-01T00:00:00Z"), [], 'none before that time';
};

subtest 'what is changed while pages are read' => sub {
    $admin->make("/v2.0/t2/persistentvolumes/v$_") for 1 .. 5;
    my $change = sub { my ($pages) = @_; $pages == 1 and $admin->patch('/v2.0/t2/persistentvolumes/v2', { spec => { x => rand } })->is_status(200) };
    is_deeply found('/v2.0/t2/persistentvolumes?sort=updated&text=v&limit=2', between => $change), [qw(v1 v2 v3 v4 v5 v2)], 'comes again at its new place';
    is_deeply found('/v2.0/t2/persistentvolumes?sort=updated&text=v&limit=2&order=desc', between => $change), [qw(v2 v5 v4 v3 v1)], 'and is lost nowhere';
};

subtest 'tenants' => sub {
    $admin->make_tenant($_) for qw(x1 x2 x3);
    is_deeply found('/v2.0?text=x&sort=updated&order=desc'), [qw(x3 x2 x1)], 'as they were created';
    $admin->patch('/v2.0/x1', { tenant => { metadata => { contact => 'ann' } } })->is_status(200);
    is_deeply found('/v2.0?text=x&sort=updated'), [qw(x2 x3 x1)], 'as they were changed';
    is_deeply found('/v2.0?text=x&sort=updated&order=desc&limit=1'), [qw(x1 x3 x2)], 'the last one first, page by page';
    $admin->make('/v2.0/x2/persistentvolumes/p');
    is_deeply found('/v2.0?text=x&sort=updated'), [qw(x2 x3 x1)], 'what is in a tenant is no change of the tenant';
    $admin->delete("/v2.0/$_")->is_status(204) for qw(x3 x1);
    is_deeply found('/v2.0?state=deleted&sort=updated&order=desc'), [qw(x1 x3)], 'deleted ones';
};

subtest 'mistakes' => sub {
    for my $list ($in, '/v2.0') {
        for my $marker ('a', '17', '17.', '.17', '1.2.3', '9' x 20 . '.1', '1.' . '9' x 30, '-1.1') {
            my $answer = $admin->get("$list?sort=updated&marker=$marker");
            $answer->is_problem(400, 'bad_parameter', "$list marker=$marker");
            like $answer->json->{detail}, qr/marker must be the one/, '... and what would be right';
        }
    }
    my $answer = $admin->get("$in?deleted=true&sort=updated");
    $answer->is_problem(400, 'bad_parameter', 'deleted ones are by creation');
    like $answer->json->{detail}, qr/sort=created, or no sort/, '... and what would be right';
};

subtest 'commands' => sub {
    my $tool = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => 'admin');
    is $tool->ends(0, qw(persistentvolumes list -t t1 --sort updated:desc --limit 1 --format csv --columns name))->{out}, "name\n"
        . found("$in?sort=updated&order=desc")->[0] . "\n", 'resources';
    is $tool->ends(0, qw(tenant list --match t --sort updated --format csv --columns id))->{out}, "id\nt1\nt2\n", 'tenants';
};

subtest 'random lists' => sub {
    $admin->make_tenant('r');
    $admin->make("/v2.0/r/namespaces/$_") for qw(s1 s2);
    $admin->make('/v2.0/r/namespaces/' . pick('default', 's1', 's2') . "/secrets/n-$_", { metadata => { labels => { app => pick('x', 'y') } } }) for 1 .. 150;
    # Many have one time.
    $instance->sql(q{UPDATE resources r JOIN tenants t ON t.id = r.tenant_id SET r.updated_at = '2026-03-01' + INTERVAL r.id * 7919 MOD 23 MICROSECOND
        WHERE t.name = 'r'});
    my %row = map { $_->[0] => { updated => $_->[1], row => $_->[2] } } $instance->sql(q{SELECT LOWER(HEX(r.uid)), r.updated_at, r.id
        FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 'r'});
    my @all = map { { %$_, %{ $row{ $_->{metadata}{uid} =~ tr/-//dr } } } } @{ $admin->get('/v2.0/r/secrets?limit=1000')->json->{resources} };
    is scalar(@all), 150, 'there they are';
    my $wrong = 0;
    for my $round (1 .. $ENV{TENURE_ROUNDS} // 100) {
        my ($space, $down, $app) = (rand() < 0.4 ? pick('default', 's1', 's2') : undef, rand() < 0.5, rand() < 0.5 ? pick('x', 'y') : undef);
        my $path = '/v2.0/r' . (defined $space ? "/namespaces/$space" : '') . '/secrets?sort=updated&limit=' . pick(1, 2, 7, 100) . ($down ? '&order=desc' : '')
            . (defined $app ? "&labels=app%3D$app" : '');
        my @want = sort { $a->{updated} cmp $b->{updated} || $a->{row} <=> $b->{row} }
            grep { (!defined $space || $_->{metadata}{namespace} eq $space) && (!defined $app || $_->{metadata}{labels}{app} eq $app) } @all;
        @want = reverse @want if $down;
        my $found = found($path);
        next if "@$found" eq join ' ', map { name_of($_) } @want;
        is_deeply $found, [map { name_of($_) } @want], $path;
        last if ++$wrong == 3;
    }
    is $wrong, 0, 'each is in the order of its last change';
};

subtest 'a page looks at so many, and no more' => sub {
    $admin->make_tenant('big');
    $admin->make('/v2.0/big/namespaces/default/configmaps/c');
    for my $table (['resources', q{t.tenant_id = (SELECT id FROM tenants WHERE name = 'big') AND t.name = 'c'}, 'c'], ['tenants', q{t.name = 'big'}, 'm']) {
        my ($name, $where, $letter) = @$table;
        my @columns = map { $_->[0] } $instance->sql(qq{SELECT column_name FROM information_schema.columns
            WHERE table_schema = DATABASE() AND table_name = '$name' AND extra = '' AND column_name NOT IN ('uid', 'name', 'updated_at')});
        $instance->sql("INSERT INTO $name (uid, name, updated_at, " . join(', ', map {"`$_`"} @columns)
            . ") SELECT UNHEX(MD5(CONCAT('$name', s.seq))), CONCAT('$letter', LPAD(s.seq, 6, '0')), '2026-01-01' + INTERVAL s.seq DIV 3 SECOND, "
            . join(', ', map {"t.`$_`"} @columns) . " FROM $name t JOIN seq_1_to_25000 s WHERE $where");
    }
    $instance->sql(q{INSERT IGNORE INTO tenant_counts (tenant_id) SELECT id FROM tenants WHERE live = 1});
    for my $list (['/v2.0/big/configmaps', 'default/c'], ['/v2.0', 'm']) {
        my ($path, $prefix) = @$list;
        for my $order ('', '&order=desc') {
            is_deeply [walk("$path?text=024999&sort=updated$order")], [["${prefix}024999"], 3], "$path: a page looks at 10,000$order";
            my @lost = grep { join(' ', @{ found("$path?text=$_&sort=updated$order") }) ne "$prefix$_" }
                map { sprintf '%06d', $_ } 4_990 .. 5_004, 9_996 .. 10_003, 14_990 .. 15_004;
            is "@lost", '', "nothing is lost or twice between two pages$order";
        }
    }
};

$instance->stop;
done_testing;
