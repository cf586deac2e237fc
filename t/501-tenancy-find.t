#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Whose is it? Resources of all tenants by name, uid, type, labels, fields, text and times: compared with all resources on random data;
# pages that end early; who may; mistakes; tenure find.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use List::Util qw(first);
use Test::More;

use Tenure::Instance;
use Tenure::Metal;
use Tenure::Placement;
use Tenure::Tool;

my $seed = $ENV{TENURE_SEED} // time;
srand $seed;
diag "TENURE_SEED=$seed";

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;
my $all      = '/v2.0/all/resources';

sub pick    { return $_[rand @_] }
sub escaped { my ($text) = @_; return $text =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ger }

# Returns the items of all pages, and how many pages there are.
sub walk {
    my ($query) = @_;
    my @pages = $admin->pages("$all?$query");
    return ([map { @{ $_->json->{resources} } } @pages], scalar @pages);
}
sub found { return [map {"$_->{tenant} $_->{resource}"} @{ (walk(@_))[0] }] }

$admin->make_tenant($_) for qw(acme globex gone);
my %uid;
for my $made (['acme', 'namespaces/default/configmaps/web', { metadata => { labels => { app => 'web' } } }],
    ['globex', 'namespaces/default/configmaps/web', { metadata => { labels => { app => 'web', old => '1' } } }],
    ['globex', 'namespaces/default/secrets/web', { type => 'example.com/x' }], ['globex', 'persistentvolumes/Web', {}],
    ['gone', 'namespaces/default/configmaps/web', {}], ['acme', 'namespaces/default/secrets/key', { type => 'example.com/y' }]) {
    my ($tenant, $path, $content) = @$made;
    $uid{"$tenant $path"} = $admin->make("/v2.0/$tenant/$path", $content)->json->{metadata}{uid};
}
$admin->delete('/v2.0/gone')->is_status(204);

subtest 'by name and uid' => sub {
    my @web = ('acme namespaces/default/configmaps/web', 'globex namespaces/default/configmaps/web', 'globex namespaces/default/secrets/web');
    is_deeply found('name=web'), \@web, 'of all tenants that are not deleted, in the order of their creation';
    is_deeply found('name=web&order=desc&limit=1'), [reverse @web], 'the newest first, page by page';
    is_deeply found('name=web&limit=1'), \@web, 'and the other way';
    is_deeply found('name=Web'), ['globex persistentvolumes/Web'], 'byte by byte';
    is_deeply found('name=we'),  [], 'the whole name';
    my $uid = $uid{ $web[1] };
    is_deeply found("$_=$uid"), [$web[1]], "$_=UID" for 'name', 'uid';
    is_deeply found('uid=' . uc $uid), [$web[1]], 'in upper case, too';
    is_deeply found("uid=$uid{'gone namespaces/default/configmaps/web'}"), [], 'not in a deleted tenant';
    is_deeply found('uid=6624edae-0000-4000-8000-000000000000'), [], 'one that nobody has';
    is_deeply found('name=default'), [map {"$_ namespaces/default"} qw(system acme globex)], q{the namespaces of that name, the operators' own among them};
    my ($item) = @{ (walk("uid=$uid"))[0] };
    my $document = $admin->get('/v2.0/globex/namespaces/default/configmaps/web')->json;
    is_deeply $item, { tenant => 'globex', type => 'configmaps', namespace => 'default', name => 'web',
        resource => 'namespaces/default/configmaps/web', uid => $uid, created_at => $document->{metadata}{creationTimestamp},
        updated_at => $item->{updated_at} }, 'whose it is and where, and nothing of what it holds';
    my $text = $admin->get("$all?name=web&limit=1")->text;
    unlike $text, qr/labels|data|etag/, 'nor has its text';
};

subtest 'what else is unique' => sub {
    my $metal = Tenure::Metal->new($instance->admin, '1.82');
    my $node  = $metal->make('nodes', { driver => 'fake-hardware', name => 'rack-7', owner => 'acme' })->{uuid};
    my $port  = $metal->make('ports', { node_uuid => $node, address => '52:54:00:00:00:01' })->{uuid};
    is_deeply found('name=rack-7'), ["acme nodes/$node"], q{a node's own name};
    is_deeply found("name=$node"),  ["acme nodes/$node"], 'its UUID, once, though it is name and uid';
    is_deeply found('name=52%3A54%3A00%3A00%3A00%3A01'), ["acme ports/$port"], q{a port's MAC address};
    my $instance_uuid = Tenure::Placement::uuid();
    $metal->patch("/nodes/$node", [[add => '/instance_uuid', $instance_uuid]])->is_status(200);
    is_deeply found("name=$instance_uuid"), ["acme nodes/$node"], 'the instance on a node';
    is_deeply found("name=$instance_uuid&type=configmaps"), [], 'of another type there is none';
    my $placement = Tenure::Placement->new($instance->admin, '1.39', '/placement');
    my $provider  = $placement->provider('host-1');
    like found('name=host-1')->[0], qr/^\S+ resourceproviders\S*\/\Q$provider\E$/, q{a provider's name};
    $admin->make('/v2.0/globex/namespaces/default/configmaps/rack-7');
    is_deeply found('name=rack-7'), ["acme nodes/$node", 'globex namespaces/default/configmaps/rack-7'], 'both, if two are called so';
    is_deeply found('name=rack-7&limit=1&order=desc'), ['globex namespaces/default/configmaps/rack-7', "acme nodes/$node"], 'on two pages';
    is_deeply found('name=rack-7&type=nodes'), ["acme nodes/$node"], 'nodes are those of bare metal';
    is_deeply found('name=rack-7&type=nodes.core'), [], 'and not those of the cluster';
    $metal->patch("/nodes/$node", [['remove', '/instance_uuid']])->is_status(200);
    $metal->delete("/nodes/$node")->is_status(204);
    is_deeply found('name=rack-7'), ['globex namespaces/default/configmaps/rack-7'], 'a deleted node has no name';
};

subtest 'conditions' => sub {
    is_deeply found('type=secrets'), ['globex namespaces/default/secrets/web', 'acme namespaces/default/secrets/key'], 'a type';
    is_deeply found('type=secrets&fields=type%3Dexample.com/y'), ['acme namespaces/default/secrets/key'], 'a field of it';
    is_deeply found('type=configmaps&labels=app%3Dweb,!old'), ['acme namespaces/default/configmaps/web'], 'a type, and labels';
    is_deeply found('labels=old'), ['globex namespaces/default/configmaps/web'], 'labels alone';
    is_deeply found('fields=metadata.name%3Dweb'), found('name=web'), 'metadata.name';
    is_deeply found('fields=metadata.namespace%3D,metadata.name%3DWeb'), ['globex persistentvolumes/Web'], 'and metadata.namespace';
    is_deeply found('text=ault/KEY'), ['acme namespaces/default/secrets/key'], 'text';
    is_deeply found('name=web&text=x'), [], 'a name and text';
    $admin->put('/v2.0/acme/namespaces/default/secrets/key/traits', json => { traits => ['CUSTOM_RED'] })->is_status(200);
    is_deeply found('required=CUSTOM_RED'), ['acme namespaces/default/secrets/key'], 'a trait';
    is_deeply found('type=secrets&forbidden=CUSTOM_RED'), ['globex namespaces/default/secrets/web'], 'without it';
    is_deeply found('type=namespaces'), ['system namespaces/default', 'acme namespaces/default', 'globex namespaces/default'],
        'namespaces, in order' or diag explain found('type=namespaces');
    is_deeply found('type=configmaps&order=desc'), ['globex namespaces/default/configmaps/rack-7', reverse map {"$_ namespaces/default/configmaps/web"} qw(acme globex)],
        'a type, the newest first';
};

subtest 'custom types' => sub {
    my $define = sub {
        my ($tenant, $scope) = @_;
        $admin->make("/v2.0/$tenant/customresourcedefinitions/widgets.example.com", {
            metadata => { name => 'widgets.example.com' },
            spec => { group => 'example.com', scope => $scope, names => { plural => 'widgets', kind => 'Widget' },
                versions => [{ name => 'v1', served => \1, storage => \1, schema => { openAPIV3Schema => { type => 'object' } } }] } });
    };
    $define->('acme',   'Cluster');
    $define->('globex', 'Namespaced');
    $admin->make('/v2.0/acme/widgets.example.com/w1');
    $admin->make('/v2.0/globex/namespaces/default/widgets.example.com/w1');
    my @both = ('acme widgets.example.com/w1', 'globex namespaces/default/widgets.example.com/w1');
    is_deeply found('type=widgets.example.com'), \@both, 'of several tenants, in namespaces and not';
    is_deeply found('type=widgets.example.com&name=w1&limit=1'), \@both, 'by name';
    is_deeply found('type=widgets.example.com&order=desc&limit=1'), [reverse @both], 'from the other side';
};

subtest 'deleted ones' => sub {
    $admin->delete('/v2.0/globex/namespaces/default/secrets/web')->is_status(204);
    is_deeply found('type=secrets'), ['acme namespaces/default/secrets/key'], 'are not among those that live';
    is_deeply found("deleted=true&$_"), ['globex namespaces/default/secrets/web'], "can be found: $_" for 'type=secrets', 'name=web', 'text=WEB',
        "uid=$uid{'globex namespaces/default/secrets/web'}", 'type=secrets&order=desc';
    like $admin->get("$all?deleted=true&name=web")->text, qr/"deleted_at":"2.*"purge_at":"2/, 'with the time until which they can be recovered';
};

subtest 'forms' => sub {
    my $uid = $uid{'globex persistentvolumes/Web'};
    like $admin->get("/v1.0/all/resources?name=Web")->text, qr/^\{"resources":\[\{"account":"globex","type":"persistentvolumes","name":"Web",/, 'in the words of /v1.0';
    like $admin->get("$all?name=Web", accept => 'application/xml')->text,
        qr{<resources[^>]*>\s*<resource tenant="globex" type="persistentvolumes" name="Web" resource="persistentvolumes/Web" uid="$uid" [^>]*/>\s*</resources>}, 'as XML';
};

subtest 'who may, and mistakes' => sub {
    $instance->combined('ann:acme:admin')->get("$all?name=web")->is_status(403, 'for operators alone');
    $instance->service('ann:acme:admin')->get("$all?name=web")->is_status(404, 'and not on the endpoint of users');
    $instance->service('admin')->get($all)->is_status(404, 'whoever they are');
    my %wrong = (
        'type=nothings'  => qr/no type "nothings".*plural name such as configmaps.*widgets\.example\.com/,
        'type=x.y.z'     => qr/no type "x\.y\.z"/,
        'uid=web'        => qr/uid/,
        'name='          => qr/name must be a text/,
        "name=a&uid=$uid{'globex persistentvolumes/Web'}" => qr/name and uid can't be given together/,
        'fields=type%3Dx' => qr/fields: .*resources of any type have metadata\.name, metadata\.namespace/,
        'labels=,'       => qr/labels: .*key is expected/,
        'marker=x'       => qr/marker must be the one/,
        'sort=name'      => qr/sort/,
        'limit=1001'     => qr/limit/,
        'deleted=true&required=CUSTOM_RED' => qr/leave out deleted=true/,
    );
    for my $query (sort keys %wrong) {
        my $answer = $admin->get("$all?$query");
        $answer->is_problem(400, 'bad_parameter', $query);
        like $answer->json->{detail}, $wrong{$query}, '... and what would be right';
    }
};

subtest 'tenure find' => sub {
    my $tool = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => 'admin');
    is $tool->ends(0, qw(find web --format csv --columns), 'tenant,resource')->{out},
        "tenant,resource\nacme,namespaces/default/configmaps/web\nglobex,namespaces/default/configmaps/web\n", 'by name';
    is $tool->ends(0, qw(find web --newest --limit 1 --format csv --columns), 'tenant,type')->{out}, "tenant,type\nglobex,configmaps\n", 'the newest';
    is $tool->ends(0, qw(find --type secret -l), '!app', qw(--format csv --columns name))->{out}, "name\nkey\n", 'by type, in the singular, and labels';
    is $tool->ends(0, qw(find --match ault/key --format csv --columns tenant))->{out}, "tenant\nacme\n", 'by text';
    is $tool->ends(0, qw(find --type secrets --deleted --field-selector metadata.name=web --format csv --columns tenant))->{out}, "tenant\nglobex\n",
        'a deleted one';
    my $uid = $uid{'globex persistentvolumes/Web'};
    like $tool->ends(0, qw(find Web))->{out}, qr/^TENANT +TYPE +NAMESPACE +NAME +UID *\nglobex +persistentvolumes +(?:- +)?Web +$uid/, 'as a table';
    like $tool->ends(64, 'find')->{err}, qr/what is looked for\?/, 'nothing to look for';
    like $tool->run(qw(find --type nothings))->{err}, qr/no type "nothings"/, 'no such type';
    my $user = Tenure::Tool->new(url => $instance->env('TENURE_COMBINED_URL'), token => 'ann:acme:admin');
    isnt $user->run(qw(find web))->{code}, 0, 'not for users';
};

# ---- random lists against all that there is

subtest 'random lists' => sub {
    my @tenants = map {"r$_"} 1 .. 5;
    my (@made, %at);
    $admin->make_tenant($_) for @tenants;
    for my $n (1 .. 250) {
        my ($tenant, $type) = (pick(@tenants), pick('configmaps', 'secrets', 'persistentvolumes'));
        my $path = ($type eq 'persistentvolumes' ? '' : 'namespaces/default/') . "$type/" . pick('q.web-', 'q.db-') . int rand 40;
        next if $at{"$tenant $path"}++;
        my %labels = map { rand() < 0.5 ? ($_ => pick('x', 'y')) : () } 'a', 'b';
        my $uid = $admin->make("/v2.0/$tenant/$path", { metadata => { labels => \%labels } })->json->{metadata}{uid};
        push @made, { tenant => $tenant, type => $type, path => $path, name => $path =~ s{.*/}{}r, labels => \%labels, uid => $uid };
    }
    for my $made (grep { rand() < 0.15 } @made) {
        $admin->delete("/v2.0/$made->{tenant}/$made->{path}")->is_status(204);
        $made->{deleted} = 1;
    }
    my $wrong = 0;
    for my $round (1 .. $ENV{TENURE_ROUNDS} // 200) {
        my ($deleted, $down) = (rand() < 0.25, rand() < 0.4);
        # What the subtests above have made has no such names.
        my @query = ('text=q.', 'limit=' . pick(1, 7, 1000), $down ? 'order=desc' : (), $deleted ? 'deleted=true' : ());
        my @tests = sub { !$_[0]{deleted} == !$deleted };
        if (rand() < 0.4) {
            my $name = pick(@made)->{name};
            push @query, rand() < 0.5 ? "name=$name" : "fields=metadata.name%3D$name";
            push @tests, sub { $_[0]{name} eq $name };
        } elsif (rand() < 0.2) {
            my $uid = pick(@made)->{uid};
            push @query, pick('name', 'uid') . "=$uid";
            push @tests, sub { $_[0]{uid} eq $uid };
        }
        if (rand() < 0.5) {
            my $type = pick('configmaps', 'secrets', 'persistentvolumes');
            push @query, "type=$type";
            push @tests, sub { $_[0]{type} eq $type };
        }
        if (rand() < 0.4) {
            my ($key, $value, $not) = (pick('a', 'b'), pick('x', 'y'), rand() < 0.5);
            push @query, 'labels=' . escaped($key . ($not ? '!=' : '=') . $value);
            push @tests, sub { (($_[0]{labels}{$key} // '') eq $value) != $not };
        }
        my @want = map {"$_->{tenant} $_->{path}"} grep { my $item = $_; !first { !$_->($item) } @tests } @made;
        @want = reverse @want if $down;
        my $got = found(join '&', @query);
        next if "@$got" eq "@want";
        is_deeply $got, \@want, join '&', @query;
        last if ++$wrong == 3;
    }
    is $wrong, 0, 'each has what all resources have of it, in its order';
};

subtest 'a page looks at so many, and no more' => sub {
    my @columns = map { $_->[0] } $instance->sql(q{SELECT column_name FROM information_schema.columns
        WHERE table_schema = DATABASE() AND table_name = 'resources' AND extra = '' AND column_name NOT IN ('uid', 'name', 'namespace')});
    my $columns = join ', ', map {"`$_`"} @columns;
    my $of      = join ', ', map {"r.`$_`"} @columns;
    # All have one name, in so many namespaces.
    $instance->sql("INSERT INTO resources (uid, name, namespace, $columns) SELECT UNHEX(MD5(CONCAT('many', s.seq))), 'same', CONCAT('n', LPAD(s.seq, 6, '0')), $of
        FROM resources r JOIN tenants t ON t.id = r.tenant_id JOIN seq_1_to_25000 s WHERE t.name = 'acme' AND r.name = 'web'");
    my $count = sub { my ($query) = @_; my ($found, $pages) = walk($query); return scalar(@$found) . " on $pages" };
    my $edge  = sub { my ($query) = @_; my ($found, $pages) = walk($query); return join(' ', map { $_->{namespace} } @$found) . " on $pages" };
    for my $order ('', '&order=desc') {
        is $count->("name=same&limit=1000$order"), '25000 on 25', "by name, each once$order";
        is $edge->("name=same&text=n024999$order"), 'n024999 on 3', "a page looks at 10,000 of a name$order";
        is $edge->("type=configmaps&text=n024999$order"), 'n024999 on 3', "of a type$order";
        is $edge->("text=n024999$order"), 'n024999 on 3', "of all$order";
        my @lost = grep { $edge->("name=same&text=$_$order") !~ /^$_ on/ } map { sprintf 'n%06d', $_ } 4_999 .. 5_002, 9_998 .. 10_002, 14_999 .. 15_002;
        is "@lost", '', "nothing is lost or twice between two pages$order";
    }
    is $count->('name=same&labels=app%3Dno&limit=1000'), '0 on 3', 'a label that none has';
    like $admin->get("$all?name=same&text=n024999")->json->{next}, qr/text=n024999.*name=same/, 'the next page has the conditions';
};

$instance->stop;
done_testing;
