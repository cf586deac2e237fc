#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Lists of tenants by text, tier, metadata, labels and times, in either order: compared with all tenants on random data; pages that end
# early; mistakes; the commands for lists of tenants and resources.
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

sub pick    { return $_[rand @_] }
sub escaped { my ($text) = @_; return $text =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ger }

# Returns the ids of the tenants on all pages, and how many pages there are.
sub walk {
    my ($path) = @_;
    my @pages = $admin->pages($path);
    return ([map { $_->{id} } map { @{ $_->json->{tenants} } } @pages], scalar @pages);
}
sub found { return (walk(@_))[0] }

subtest 'a text that JSON escapes, or is made of' => sub {
    my %note = (quoted => 'say "hi"', slash => 'C:\\temp', lines => "a\tb\nc", braces => 'x{y}z', colon => 'k: v', comma => '1,2',
        between => 'a":', last => 'b\\');
    $admin->make_tenant($_, metadata => { note => $note{$_}, place => 'v' }) for sort keys %note;
    is_deeply found('/v2.0?text=' . escaped($note{$_})), [$_], "$note{$_}" for sort keys %note;
    is_deeply found('/v2.0?text=PLACE'), [sort keys %note], 'in a name of metadata';
    my %only = ('"' => ['between', 'quoted'], '\\' => ['last', 'slash'], '{' => ['braces'], '}' => ['braces'], ':' => ['between', 'colon', 'slash'],
        ',' => ['comma'], '":"' => [], '","' => [], '\\"' => [], 'hi"}' => [],
        "\tb" => ['lines'], tb => [], nc => [], '":' => ['between']);
    is_deeply found('/v2.0?text=' . escaped($_)), $only{$_}, "$_ where it is meant" for sort keys %only;
    $admin->delete("/v2.0/$_")->is_status(204) for sort keys %note;
};

subtest 'conditions' => sub {
    $admin->make_tenant('acme',    tier => 'gold',   metadata => { region => 'eu', contact => 'Ann Smith' });
    $admin->make_tenant('globex',  tier => 'gold',   metadata => { region => 'us' });
    $admin->make_tenant('initech', tier => 'bronze', metadata => {});
    $admin->make_tenant('gone',    metadata => { region => 'eu' });
    $admin->delete('/v2.0/gone')->is_status(204);
    is_deeply found('/v2.0?text=E'), ['acme', 'globex', 'initech'], 'a text in the id, in upper or lower case';
    is_deeply found('/v2.0?text=SMITH'), ['acme'], 'in the metadata';
    is_deeply found('/v2.0?text=system'), [], 'the system space is no tenant';
    is_deeply found('/v2.0?tier=gold'), ['acme', 'globex'], 'a tier';
    is_deeply found('/v2.0?metadata=region%3Deu'), ['acme'], 'metadata';
    is_deeply found('/v2.0?metadata=region'), ['acme', 'globex'], 'a name of metadata';
    is_deeply found('/v2.0?metadata=!region'), ['initech'], 'and its absence';
    is_deeply found('/v2.0?metadata=region%20in%20(us,eu)&tier=gold&text=glob'), ['globex'], 'all that is asked for must hold';
    is_deeply found('/v2.0?state=deleted&metadata=region%3Deu'), ['gone'], 'of those that are deleted';
    is_deeply found('/v2.0?order=desc'), ['initech', 'globex', 'acme'], 'the last one first';
    is_deeply found('/v2.0?sort=created&limit=1'), ['acme', 'globex', 'initech'], 'as they were created';
    is_deeply found('/v2.0?sort=created&order=desc'), ['initech', 'globex', 'acme'], 'the newest first';
    $instance->sql(q{UPDATE tenants SET created_at = '2000-01-05', updated_at = '2000-02-05' WHERE name = 'globex'});
    is_deeply found('/v2.0?created_before=2001-01-06T00:00:00Z'), ['globex'], 'created before';
    is_deeply found('/v2.0?updated_since=2001-02-06T00:00:00Z'), ['acme', 'initech'], 'changed since';
    my $item = $admin->get('/v2.0?text=acme')->json->{tenants}[0];
    is_deeply $item, $admin->get('/v2.0/acme')->json->{tenant}, 'each is whole';
    like $admin->get('/v1.0?text=acme', accept => 'application/xml')->text, qr{<accounts.*<account id="acme"}s, 'in the words of /v1.0, as XML';
    is $instance->combined('ann:acme:admin')->get('/v2.0?text=acme')->status, 403, 'for operators alone';
};

subtest 'labels of the Tenant object' => sub {
    $admin->patch('/api/v1/tenants/acme', { metadata => { labels => { env => 'prod' } } })->is_status(200);
    is_deeply found('/v2.0?labels=env%3Dprod'), ['acme'], 'one has it';
    is_deeply found('/v2.0?labels=env!%3Dprod'), ['globex', 'initech'], 'the others have not';
};

subtest 'commands' => sub {
    my $tool = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => 'admin');
    my $names = sub { return $tool->ends(0, @_, '--format', 'csv', '--columns', $_[0] eq 'tenant' ? 'id' : 'name')->{out} =~ s/\A\w+\n//r };
    is $names->(qw(tenant list --match E)), "acme\nglobex\ninitech\n", 'tenants by text';
    is $names->(qw(tenant list --tier gold --metadata), 'region in (us)'), "globex\n", 'by tier and metadata';
    is $names->(qw(tenant list -l env=prod)), "acme\n", 'by labels';
    is $names->(qw(tenant list --sort created:desc --limit 2)), "initech\nglobex\n", 'in another order, not all of them';
    is $names->(qw(tenant list --updated-since 2001-02-06T00:00:00Z --sort id:desc)), "initech\nacme\n", 'by time';
    $admin->make("/v2.0/acme/namespaces/default/secrets/$_->[0]", { type => "example.com/$_->[1]", metadata => { labels => { app => $_->[2] } } })
        for ['a', 'x', 'web'], ['b', 'y', 'web'], ['c', 'y', 'db'];
    is $names->(qw(secrets list -t acme --selector app=web)), "a\nb\n", 'resources by labels';
    is $names->(qw(secret list -t acme -l app=web --field-selector type=example.com/y)), "b\n", 'and fields';
    is $names->(qw(secrets list -t acme --match default/ --sort created:desc --limit 2)), "c\nb\n", 'by text, the newest first';
    is $names->(qw(resource list secrets -t acme --created-before 2001-01-01T00:00:00Z)), '', 'by time';
    like $tool->ends(64, qw(secrets list -t acme --sort name:up))->{err}, qr/--sort takes FIELD/, 'a wrong direction';
    like $tool->run(qw(secrets list -t acme --sort size))->{err}, qr/created/, 'an order that there is not';
    like $tool->run(qw(secrets list -t acme -l), 'a b')->{err}, qr/another requirement/, 'a wrong selector';
    like $tool->ends(64, qw(node list -l a=b))->{err}, qr/does not take --selector/, 'bare metal has no labels';
};

subtest 'mistakes' => sub {
    my %wrong = (
        'tier=none'      => qr/there is no tier "none".*tiers/,
        'metadata=,'     => qr/metadata: .*key is expected/,
        'labels=,'       => qr/labels: .*key is expected/,
        'text='          => qr/text must be a text/,
        'sort=name'      => qr/id.*created/,
        'order=up'       => qr/asc.*desc/,
        'created_since=x' => qr/created_since/,
        'sort=created&marker=acme' => qr/marker must be the one/,
    );
    for my $query (sort keys %wrong) {
        my $answer = $admin->get("/v2.0?$query");
        $answer->is_problem(400, 'bad_parameter', $query);
        like $answer->json->{detail}, $wrong{$query}, '... and what would be right';
    }
};

subtest 'random lists' => sub {
    my @keys = ('region', 'team', 'a.b');
    for my $n (1 .. 120) {
        $admin->make_tenant(pick('x', 'X', 'yy', "z_") . "-$n", tier => pick('standard', 'gold', 'silver'),
            metadata => { map { rand() < 0.6 ? ($_ => pick('', 'eu', 'us', '7', 'a b')) : () } @keys });
    }
    $admin->delete('/v2.0/' . escaped($_->{id}))->is_status(204) for grep { rand() < 0.15 && $_->{id} ne 'acme' } @{ $admin->get('/v2.0?limit=1000')->json->{tenants} };
    $instance->sql(q{UPDATE tenants SET created_at = '2026-01-01' + INTERVAL id MOD 17 DAY, updated_at = '2026-03-01' + INTERVAL id MOD 13 DAY
        WHERE name <> 'system'});
    my %id = map { @$_ } $instance->sql('SELECT name, id FROM tenants WHERE live = 1');
    my %all = map { $_ => $admin->get("/v2.0?state=$_&limit=1000")->json->{tenants} } 'active', 'deleted';
    cmp_ok scalar @{ $all{$_} }, '>', 5, "some are $_" for sort keys %all;
    my $wrong = 0;
    for my $round (1 .. $ENV{TENURE_ROUNDS} // 200) {
        my (@query, @tests);
        my $state = rand() < 0.3 ? 'deleted' : 'active';
        push @query, "state=$state";
        if (rand() < 0.6) {
            my ($key, $value, $not) = (pick(@keys), pick('', 'eu', 'us', '7'), rand() < 0.5);
            push @query, 'metadata=' . escaped("$key" . ($not ? '!=' : '=') . $value);
            push @tests, sub { my $has = $_[0]{metadata}{$key}; return $not ? !defined $has || $has ne $value : defined $has && $has eq $value };
        }
        if (rand() < 0.4) {
            my $text = pick('X-', 'eu', '1', '_', 'A B', '%');
            push @query, 'text=' . escaped($text);
            # "x-" may be in no metadata, and what JSON has between names and values in no text.
            push @tests, sub { my $own = lc join "\n", $_[0]{id}, %{ $_[0]{metadata} }; return index($own, lc $text) >= 0 };
        }
        if (rand() < 0.3) {
            my $tier = pick('gold', 'silver');
            push @query, "tier=$tier";
            push @tests, sub { $_[0]{tier} eq $tier };
        }
        for my $what (grep { rand() < 0.25 } 'created', 'updated') {
            my @times = sort map { $_->{"${what}_at"} } pick(@{ $all{active} }), pick(@{ $all{active} });
            next if $times[0] eq $times[1];
            push @query, "${what}_since=$times[0]", "${what}_before=$times[1]";
            push @tests, sub { $_[0]{"${what}_at"} ge $times[0] && $_[0]{"${what}_at"} lt $times[1] };
        }
        my ($created, $down) = (rand() < 0.4, rand() < 0.4);
        push @query, $created ? 'sort=created' : 'sort=id', $down ? 'order=desc' : (), 'limit=' . pick(1, 5, 1000);
        my @want = grep { my $item = $_; !first { !$_->($item) } @tests } @{ $all{$state} };
        @want = sort { $id{ $a->{id} } <=> $id{ $b->{id} } } @want if $created;
        @want = reverse @want if $down;
        my $path = '/v2.0?' . join '&', @query;
        my ($found) = walk($path);
        next if join("\n", @$found) eq join("\n", map { $_->{id} } @want);
        is_deeply $found, [map { $_->{id} } @want], $path;
        last if ++$wrong == 3;
    }
    is $wrong, 0, 'each has what all tenants have of it, in its order';
};

subtest 'a page looks at so many, and no more' => sub {
    my @columns = map { $_->[0] } $instance->sql(q{SELECT column_name FROM information_schema.columns
        WHERE table_schema = DATABASE() AND table_name = 'tenants' AND extra = '' AND column_name NOT IN ('uid', 'name', 'live')});
    my $columns = join ', ', map {"`$_`"} @columns;
    my $of      = join ', ', map {"t.`$_`"} @columns;
    # Purged tenants keep their rows.
    $instance->sql("INSERT INTO tenants (uid, name, live, $columns) SELECT UNHEX(MD5(CONCAT('many', s.seq))), CONCAT('m', LPAD(s.seq, 6, '0')), NULL,
        $of FROM tenants t JOIN seq_1_to_25000 s WHERE t.name = 'acme'");
    # Where the share of a page ends, and the next one begins, in each order, there are tenants.
    my %edge;
    for my $order ('name', 'name DESC', 'id', 'id DESC') {
        my @rows = $instance->sql("SELECT name FROM tenants ORDER BY $order LIMIT 3 OFFSET 9998");
        $edge{$_} = 1 for map { $_->[0] } @rows;
    }
    $instance->sql('UPDATE tenants SET live = 1 WHERE name IN (' . join(', ', map {"'$_'"} sort keys %edge) . ')');
    $instance->sql(q{INSERT IGNORE INTO tenant_counts (tenant_id) SELECT id FROM tenants WHERE live = 1});
    cmp_ok scalar(keys %edge), '>=', 9, 'there are edges';
    for my $order ('', '&order=desc', '&sort=created', '&sort=created&order=desc') {
        my @lost = grep { join(' ', @{ found("/v2.0?text=$_$order") }) ne $_ } sort keys %edge;
        is "@lost", '', "nothing is lost or twice between two pages: $order";
    }
    $admin->make_tenant('zz-last');
    my ($found, $pages) = walk('/v2.0?text=zz-last');
    is_deeply $found, ['zz-last'], 'it is found';
    is $pages, 3, 'behind 25,000 others';
    is_deeply [walk('/v2.0?text=zz-last&sort=created')], [['zz-last'], 3], 'by creation, too';
    is_deeply [walk('/v2.0?text=acme&sort=created&order=desc')], [['acme'], 3], 'and from the other side';
};

subtest 'as objects, more of them than a request has memory for' => sub {
    my $spaces = $instance->combined('admin');
    $instance->sql(q{UPDATE tenants SET live = 1 WHERE name LIKE 'm0%' AND name < 'm013'});
    $instance->sql(q{INSERT IGNORE INTO tenant_counts (tenant_id) SELECT id FROM tenants WHERE live = 1});
    $spaces->patch('/api/v1/tenants/zz-last', { metadata => { labels => { last => 'yes' } } })->is_status(200, 'one has a label');
    my $list = $spaces->get('/api/v1/tenants?limit=1&labelSelector=last');
    $list->is_status(200, 'behind 13,000 others');
    is_deeply [map { $_->{metadata}{name} } @{ $list->json->{items} }], ['zz-last'], 'it is found';
    my $part = $spaces->get('/api/v1/tenants?limit=12000');
    $part->is_status(200, 'the first 12,000');
    my $rest = $spaces->get("/api/v1/tenants?limit=12000&continue=" . ($part->json->{metadata}{continue} // ''));
    my @names = map { $_->{metadata}{name} } map { @{ $_->json->{items} } } $part, $rest;
    is scalar(grep {/\Am0/ && $_ lt 'm013'} @names), 12_999, 'and the rest of them';
    ok !(grep { $names[$_ - 1] ge $names[$_] } 1 .. $#names), 'in the order of their names, each once';
};

# Of what the tenancy dialect does not show, too, a page has as much as a worker can hold.
subtest 'large Tenant objects' => sub {
    my @names = map {"large-$_"} 10 .. 29;
    $admin->post('/api/v1/tenants', json => { metadata => { name => $_, labels => { size => 'large' } }, spec => { text => 'x' x 2_500_000 } })->is_status(201, $_) for @names;
    my $paged = sub {
        my ($path, @expected) = @_;
        my ($ids, $pages) = walk($path);
        is_deeply [grep {/^large-/} @$ids], \@expected, $path;
        cmp_ok $pages, '>=', scalar @names, 'one a page';
        return;
    };
    $paged->('/v2.0?limit=1000', @names);
    $paged->('/v2.0?limit=1000&labels=size%3Dlarge', @names);
    $paged->('/v2.0?limit=1000&sort=created&order=desc', reverse @names);
    my $text = $admin->get('/api/v1/tenants?labelSelector=size%3Dlarge&limit=15')->text; # too large for JSON::PP
    is_deeply [$text =~ /"name":"(large-\d+)"/g], [@names[0 .. 14]], 'as objects: as many as are asked for';
    my ($continue) = $text =~ /"continue":"([^"]+)"/;
    $text = $admin->get("/api/v1/tenants?labelSelector=size%3Dlarge&limit=15&continue=$continue")->text;
    is_deeply [$text =~ /"name":"(large-\d+)"/g], [@names[15 .. 19]], 'and the rest';
    $admin->delete("/v2.0/$_")->is_status(204) for @names;
    $paged->('/v2.0?limit=1000&state=deleted', @names);
    $paged->('/v2.0?limit=1000&state=deleted&text=LARGE', @names);
};

done_testing;
