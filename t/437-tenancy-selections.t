#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Lists of resources by labels, fields, text, times and traits, in either order: compared with all resources on random data; pages that
# end early; mistakes.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use List::Util qw(first);
use Test::More;

use Tenure::Instance;

my $seed = $ENV{TENURE_SEED} // time;
srand $seed;
diag "TENURE_SEED=$seed";

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;

sub escaped { my ($text) = @_; return $text =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ger }
sub path_of { my ($item) = @_; return join '/', grep {defined} @{ $item->{metadata} }{qw(namespace name)} }

# Returns the names of the resources on all pages, each behind its namespace, and how many pages there are.
sub walk {
    my ($path) = @_;
    my @pages = $admin->pages($path);
    return ([map { path_of($_) } map { @{ $_->json->{resources} } } @pages], scalar @pages);
}
sub found { return (walk(@_))[0] }

$admin->make_tenant($_) for qw(t1 t2);
my $t1 = '/v2.0/t1';

subtest 'labels' => sub {
    my $in = "$t1/namespaces/default/configmaps";
    $admin->make("$in/web",  { metadata => { labels => { app => 'web', 'example.com/tier' => 'gold' } } });
    $admin->make("$in/db",   { metadata => { labels => { app => 'db', size => '7' } } });
    $admin->make("$in/none", {});
    # What only looks like a label.
    $admin->make("$in/note", { metadata => { annotations => { app => 'web' } } });
    $admin->make('/v2.0/t2/namespaces/default/configmaps/web', { metadata => { labels => { app => 'web' } } });
    my @cases = (
        ['app=web'                   => 'web'],
        ['app==web'                  => 'web'],
        ['app in (web, db)'          => 'db', 'web'],
        ['app'                       => 'db', 'web'],
        ['!app'                      => 'none', 'note'],
        ['app!=web'                  => 'db', 'none', 'note'],
        ['app notin (web,db)'        => 'none', 'note'],
        ['example.com/tier=gold'     => 'web'],
        ['app=web,example.com/tier'  => 'web'],
        ['app=web,!example.com/tier' => ()],
        ['size>5'                    => 'db'],
        ['size<5'                    => ()],
        [''                          => 'db', 'none', 'note', 'web'],
    );
    for my $case (@cases) {
        my ($labels, @want) = @$case;
        is_deeply found("$in?labels=" . escaped($labels)), [map { "default/$_" } @want], "labels=$labels";
    }
    is_deeply found("$t1/configmaps?labels=app%3Dweb"), ['default/web'], 'in all namespaces';
    my $item = $admin->get("$in?labels=app%3Dweb")->json->{resources}[0];
    is_deeply $item, $admin->get("$in/web")->json, 'the documents are whole';
    like $admin->get("$in?labels=app%3Dweb", accept => 'application/xml')->text, qr{<resources[^>]*>.*web.*</resources>}s, 'as XML';
    is_deeply found('/v1.0/t1/configmaps?labels=app%3Dweb'), ['default/web'], 'in both vocabularies';
    is $instance->service('ann:t1:reader')->get("$t1/configmaps?labels=app")->status, 200, 'a reader may';
    is $instance->service('ann:t2:admin')->get("$t1/configmaps?labels=app")->status, 404, 'not who is of another tenant';
};

subtest 'fields' => sub {
    my $in = "$t1/namespaces/default/secrets";
    $admin->make("$in/a", { type => 'example.com/x' });
    $admin->make("$in/b", { type => 'example.com/y' });
    $admin->make("$in/c", {});
    is_deeply found("$in?fields=type%3Dexample.com/x"), ['default/a'], 'a field of the type';
    is_deeply found("$in?fields=type!%3Dexample.com/x"), ['default/b', 'default/c'], 'not that';
    is_deeply found("$in?fields=metadata.name%3Db"), ['default/b'], 'the name';
    is_deeply found("$t1/secrets?fields=metadata.name%3Db,metadata.namespace%3Ddefault"), ['default/b'], 'and the namespace';
    is_deeply found("$t1/secrets?fields=metadata.name%3Db,type%3Dexample.com/x"), [], 'both must be right';
    is_deeply found("$t1/namespaces?fields=status.phase%3DActive"), ['default'], 'the phase of a namespace, which is not stored';
    is_deeply found("$t1/namespaces?fields=status.phase%3DTerminating"), [], 'none ends';
    $admin->get("$in?fields=data.x%3D1")->is_problem(400, 'bad_parameter', 'a field that can not be asked for');
    like $admin->get("$in?fields=data.x%3D1")->json->{detail}, qr/metadata\.name, metadata\.namespace, type/, '... and which can';
};

subtest 'text and times' => sub {
    $admin->make("$t1/persistentvolumes/$_") for 'Disk-1', 'disk-2', 'tape';
    my %day = ('Disk-1' => 1, 'disk-2' => 2, 'tape' => 3);
    $instance->sql("UPDATE resources SET created_at = '2026-01-0$day{$_}', updated_at = '2026-02-0$day{$_}' WHERE name = '$_'") for keys %day;
    my $in = "$t1/persistentvolumes";
    is_deeply found("$in?text=DISK"), ['Disk-1', 'disk-2'], 'in upper or lower case';
    is_deeply found("$in?text=sk-2"), ['disk-2'], 'anywhere in the name';
    is_deeply found("$in?text=%25"),  [], 'no wildcards';
    my $uid = $admin->get("$in/tape")->json->{metadata}{uid};
    is_deeply found("$in?text=" . uc $uid), ['tape'], 'a uid';
    is_deeply found("$in?text=" . substr $uid, 0, 35), [], 'not a part of one';
    is_deeply found("$t1/configmaps?text=default/w"), ['default/web'], 'in namespace and name';
    is_deeply found("$in?created_since=2026-01-02T00:00:00Z"), ['disk-2', 'tape'], 'created at that time, or since';
    is_deeply found("$in?created_before=2026-01-02T00:00:00Z"), ['Disk-1'], 'created before it';
    is_deeply found("$in?updated_since=2026-02-02T00:00:00Z&updated_before=2026-02-03T00:00:00Z"), ['disk-2'], 'changed between';
    is_deeply found("$in?updated_since=2026-02-02T01:00:00%2B01:00"), ['disk-2', 'tape'], 'in another time zone';
};

subtest 'order' => sub {
    my $in = "$t1/persistentvolumes";
    is_deeply found("$in?order=desc"), ['tape', 'disk-2', 'Disk-1'], 'names, the last one first';
    is_deeply found("$in?sort=created"), ['Disk-1', 'disk-2', 'tape'], 'as they were created';
    is_deeply found("$in?sort=created&order=desc&limit=1"), ['tape', 'disk-2', 'Disk-1'], 'the newest first, page by page';
    $admin->make("$t1/namespaces/n$_") for 1 .. 3;
    is_deeply found("$t1/namespaces?sort=created"), ['default', 'n1', 'n2', 'n3'], 'the namespace default has its place';
    is_deeply found("$t1/namespaces?sort=created&order=desc&limit=2"), ['n3', 'n2', 'n1', 'default'], 'from the other side, too';
    $admin->get("$in?sort=name&marker=tape")->is_status(200);
    $admin->get("$in?sort=created&marker=tape")->is_problem(400, 'bad_parameter', 'a marker of another order');
};

subtest 'traits' => sub {
    $admin->put("$t1/persistentvolumes/tape/traits", json => { traits => ['CUSTOM_OLD'] })->is_status(200);
    is_deeply found("$t1/persistentvolumes?required=CUSTOM_OLD&order=desc"), ['tape'], 'with a trait';
    is_deeply found("$t1/persistentvolumes?forbidden=CUSTOM_OLD&text=a"), [], 'without it';
    is_deeply found("$t1/persistentvolumes?forbidden=CUSTOM_OLD&text=i"), ['Disk-1', 'disk-2'], 'and more';
    $admin->get("$t1/persistentvolumes?required=CUSTOM_NONE&text=i")->is_problem(400, 'bad_parameter', 'an unknown trait');
};

subtest 'deleted ones' => sub {
    my $in = "$t1/namespaces/default/pods";
    for my $name ('p1', 'p2', 'q1') {
        $admin->make("$in/$name", { metadata => { labels => { app => substr $name, 0, 1 } } });
        $admin->delete("$in/$name")->is_status(204);
    }
    is_deeply found("$in?deleted=true&labels=app%3Dp&limit=1"), ['default/p1', 'default/p2'], 'by labels';
    is_deeply found("$t1/pods?deleted=true&text=1&order=desc"), ['default/q1', 'default/p1'], 'by text, the newest first';
    is_deeply found("$t1/pods?labels=app"), [], 'and none of them lives';
    $admin->get("$in?deleted=true&sort=name")->is_problem(400, 'bad_parameter', 'not by name');
};

subtest 'mistakes' => sub {
    my $in = "$t1/persistentvolumes";
    my %wrong = (
        'labels=a%3D'     => undef, # an empty value is one
        'labels=,'        => qr/labels: .*byte 1.*key is expected/,
        'labels=a%20b'    => qr/labels: .*another requirement/,
        'labels=a%20in%20x' => qr/"\(" is expected/,
        'labels=a%3D%C3%A9' => qr/value is empty, or up to 63/,
        'fields=x'        => qr/FIELD=VALUE or FIELD!=VALUE/,
        'text='           => qr/text must be a text of 1 to/,
        'created_since=yesterday' => qr/created_since/,
        'updated_before=1969-12-31T00:00:00Z' => qr/updated_before must be a time from 1970 on/,
        'created_since=2026-02-30T00:00:00Z' => qr/created_since must be a day of the calendar: 2026-02 has 28 days/,
        'created_since=2026-01-02T00:00:00Z&created_before=2026-01-02T00:00:00Z' => qr/created_since must be an earlier time than created_before/,
        'sort=size'       => qr/name.*created/,
        'order=up'        => qr/asc.*desc/,
        'label=a'         => qr/labels/,
        'labels=a&labels=b' => qr/labels/,
        'sort=created&marker=' . '9' x 30 => qr/marker must be the one/,
    );
    for my $query (sort keys %wrong) {
        my $answer = $admin->get("$in?$query");
        if (!defined $wrong{$query}) {
            $answer->is_status(200, $query);
            next;
        }
        $answer->is_problem(400, 'bad_parameter', $query);
        like $answer->json->{detail}, $wrong{$query}, '... and what would be right';
    }
    $admin->get("$t1/namespaces/nowhere/configmaps?labels=a")->is_status(404, 'no such namespace');
    $admin->get('/v2.0/nobody/configmaps?labels=a')->is_status(404, 'no such tenant');
};

# ---- random lists against all that there is

my @keys   = ('a', 'b', 'example.com/c');
my @values = ('', 'x', 'y', 'z', '5', '17');

sub pick { return $_[rand @_] }

# A random requirement: its text, and whether labels meet it.
sub requirement {
    my $key = pick(@keys);
    my $kind = int rand 8;
    my ($one, %set) = (pick(@values), map { $_ => 1 } pick(@values), pick(@values));
    my $list = join ',', sort keys %set;
    return ("$key=$one",        sub { defined $_[0]{$key} && $_[0]{$key} eq $one }) if $kind == 0;
    return ("$key!=$one",       sub { !defined $_[0]{$key} || $_[0]{$key} ne $one }) if $kind == 1;
    return ("$key in ($list)",  sub { defined $_[0]{$key} && $set{ $_[0]{$key} } }) if $kind == 2;
    return ("$key notin ($list)", sub { !defined $_[0]{$key} || !$set{ $_[0]{$key} } }) if $kind == 3;
    return ($key,               sub { defined $_[0]{$key} }) if $kind == 4;
    return ("!$key",            sub { !defined $_[0]{$key} }) if $kind == 5;
    return ("$key>5",           sub { ($_[0]{$key} // '') =~ /^\d+$/ && $_[0]{$key} > 5 }) if $kind == 6;
    return ("$key<17",          sub { ($_[0]{$key} // '') =~ /^\d+$/ && $_[0]{$key} < 17 });
}

subtest 'random lists' => sub {
    $admin->make_tenant('r');
    my @spaces = ('default', 's1', 's2');
    $admin->make("/v2.0/r/namespaces/$_") for @spaces[1, 2];
    for my $n (1 .. 300) {
        my %labels = map { rand() < 0.6 ? ($_ => pick(@values)) : () } @keys;
        my %metadata = (labels => \%labels, rand() < 0.3 ? (annotations => { a => 'x' }) : ());
        $admin->make('/v2.0/r/namespaces/' . pick(@spaces) . '/secrets/' . pick('web', 'Web', 'db', '%C3%A9', 'x_y') . "-$n",
            { metadata => \%metadata, type => 'example.com/' . pick('k1', 'k2') });
    }
    $admin->delete("/v2.0/r/namespaces/$_->{metadata}{namespace}/secrets/" . escaped($_->{metadata}{name} =~ s/\x{e9}/\xC3\xA9/r))
        for grep { rand() < 0.1 } @{ $admin->get('/v2.0/r/secrets?limit=1000')->json->{resources} };
    $instance->sql(q{UPDATE resources r JOIN tenants t ON t.id = r.tenant_id SET r.created_at = '2026-01-01' + INTERVAL r.id MOD 97 HOUR,
        r.updated_at = '2026-03-01' + INTERVAL r.id MOD 89 HOUR WHERE t.name = 'r'});
    my (%row);
    for my $row ($instance->sql(q{SELECT LOWER(HEX(r.uid)), r.id, DATE_FORMAT(r.created_at, '%Y-%m-%dT%H:%i:%sZ'),
        DATE_FORMAT(r.updated_at, '%Y-%m-%dT%H:%i:%sZ') FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 'r'})) {
        $row{ $row->[0] } = { id => $row->[1], created => $row->[2], updated => $row->[3] };
    }
    # A worker may have documents of before the UPDATE.
    my @all = map { { %$_, %{ $row{ $_->{metadata}{uid} =~ tr/-//dr } } } } @{ $admin->get('/v2.0/r/secrets?limit=1000')->json->{resources} };
    cmp_ok scalar(@all), '>', 200, 'there are some';
    my $wrong = 0;
    for my $round (1 .. $ENV{TENURE_ROUNDS} // 250) {
        my (@query, @tests);
        my $space = rand() < 0.4 ? pick(@spaces) : undef;
        push @tests, sub { $_[0]{metadata}{namespace} eq $space } if defined $space;
        if (rand() < 0.7) {
            my @of = map { [requirement()] } 1 .. 1 + rand 3;
            push @query, 'labels=' . escaped(join ',', map { $_->[0] } @of);
            push @tests, sub { my $labels = $_[0]{metadata}{labels} // {}; return !first { !$_->[1]->($labels) } @of };
        }
        if (rand() < 0.3) {
            my ($type, $not) = (pick('k1', 'k2'), rand() < 0.5);
            push @query, 'fields=type' . ($not ? '!' : '') . "%3Dexample.com/$type";
            push @tests, sub { ($_[0]{type} eq "example.com/$type") != $not };
        }
        if (rand() < 0.4) {
            my $text = pick('WEB', 'eb-1', '_', 's1/', 'default/d', '2', '%', '-');
            push @query, 'text=' . escaped($text);
            push @tests, sub { index(lc path_of($_[0]), lc $text) >= 0 };
        }
        for my $what (grep { rand() < 0.25 } 'created', 'updated') {
            my @times = sort map { $_->{$what} } pick(@all), pick(@all);
            next if $times[0] eq $times[1];
            push @query, "${what}_since=$times[0]", "${what}_before=$times[1]";
            push @tests, sub { $_[0]{$what} ge $times[0] && $_[0]{$what} lt $times[1] };
        }
        my ($created, $down) = (rand() < 0.4, rand() < 0.4);
        push @query, $created ? 'sort=created' : 'sort=name', $down ? 'order=desc' : ();
        push @query, 'limit=' . pick(1, 3, 10, 100, 1000) if rand() < 0.8;
        # @all is in the order of addresses.
        my @want = grep { my $item = $_; !first { !$_->($item) } @tests } @all;
        @want = sort { $a->{id} <=> $b->{id} } @want if $created;
        @want = reverse @want if $down;
        my $path = '/v2.0/r' . (defined $space ? "/namespaces/$space" : '') . '/secrets?' . join '&', @query;
        my ($found) = walk($path);
        next if join("\n", @$found) eq join("\n", map { path_of($_) } @want);
        is_deeply $found, [map { path_of($_) } @want], $path;
        last if ++$wrong == 3;
    }
    is $wrong, 0, 'each has what all resources have of it, in its order';
};

# ---- bounds

subtest 'a page looks at so many, and no more' => sub {
    $admin->make_tenant('big');
    $admin->make('/v2.0/big/namespaces/default/configmaps/c', { metadata => { labels => { app => 'no' } } });
    my @columns = map { $_->[0] } $instance->sql(q{SELECT column_name FROM information_schema.columns
        WHERE table_schema = DATABASE() AND table_name = 'resources' AND extra = '' AND column_name NOT IN ('uid', 'name')});
    my $columns = join ', ', map {"`$_`"} @columns;
    my $of      = join ', ', map {"r.`$_`"} @columns;
    $instance->sql("INSERT INTO resources (uid, name, $columns) SELECT UNHEX(MD5(CONCAT('big', s.seq))), CONCAT('c', LPAD(s.seq, 6, '0')), $of
        FROM resources r JOIN tenants t ON t.id = r.tenant_id JOIN seq_1_to_25000 s WHERE t.name = 'big' AND r.name = 'c'");
    my $in = '/v2.0/big/configmaps';
    my ($found, $pages) = walk("$in?text=c024999");
    is_deeply $found, ['default/c024999'], 'the one of them is found';
    is $pages, 3, 'on the third page: a page looks at 10,000';
    my $first = $admin->get("$in?text=c024999");
    is_deeply $first->json->{resources}, [], 'the first is empty';
    like $first->json->{next}, qr/text=c024999/, 'and leads on, with the condition';
    is_deeply [walk("$in?text=c024999&order=desc")], [['default/c024999'], 3], 'from the other side';
    is_deeply [walk("$in?text=c024999&sort=created")], [['default/c024999'], 3], 'by creation';
    is_deeply [walk("$in?sort=created&order=desc&text=c000001")], [['default/c000001'], 3], 'the newest first';
    is_deeply [walk('/v2.0/big/namespaces/default/configmaps?text=c024999')], [['default/c024999'], 3], 'in a namespace';
    # Where the share of a page ends, and the next one begins.
    my @edges = map { sprintf 'c%06d', $_ } 9_998 .. 10_001, 14_999 .. 15_003;
    for my $order ('', '&order=desc', '&sort=created', '&sort=created&order=desc') {
        for my $path ($in, '/v2.0/big/namespaces/default/configmaps') {
            my @lost = grep { join(' ', @{ found("$path?text=$_$order") }) ne "default/$_" } @edges;
            is "@lost", '', "nothing is lost or twice between two pages: $path$order";
        }
    }
    is_deeply [walk("$in?labels=app%3Dyes")], [[], 3], 'a label that none has';
    is scalar @{ found("$in?limit=1000&labels=app%3Dno") }, 25001, 'one that all have';
    ($found, $pages) = walk("$in?labels=app!%3Dno&limit=1000");
    is_deeply $found, [], 'what the documents alone can say';
    is $pages, 26, 'is looked for in 1,000 a page';
};

done_testing;
