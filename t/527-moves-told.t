#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a move action tells, its ETag covers: both tenants' counts, by type and in all, and the texts of what stands in the way.
# So an operator enforces a rule of his own from the action alone, as the blueprints' last answer has it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start(settings => { 'tenure.move_list_max' => 4 });
my $admin    = $instance->admin;
my @json     = (accept => 'application/json');

sub counts_of {
    my ($move, $tenant, $word) = @_;
    return { map { $_->{type} => $_->{resources} } grep { $_->{ $word // 'tenant' } eq $tenant } @{ $move->{counts} } };
}

subtest 'counts' => sub {
    $admin->make_tenant($_) for 'from', 'to';
    my $address = '/v2.0/from/action/move?dest=to';
    is_deeply $admin->get($address, @json)->json->{move}{counts}, [], 'of nothing';
    $admin->make("/v2.0/from/$_") for 'persistentvolumes/a', 'persistentvolumes/b', 'namespaces/n', 'namespaces/n/configmaps/c',
        'namespaces/default/configmaps/c';
    $admin->make("/v2.0/to/$_") for 'persistentvolumes/x', 'namespaces/default/pods/p', 'namespaces/default/secrets/s';
    $admin->delete('/v2.0/to/namespaces/default/secrets/s')->is_status(204);
    my $move = $admin->get($address, @json)->json->{move};
    is_deeply counts_of($move, 'from'), { configmaps => 2, namespaces => 1, persistentvolumes => 2 }, 'the source\'s, by type, without "default"';
    is_deeply counts_of($move, 'to'), { persistentvolumes => 1, pods => 1 }, 'the destination\'s, without what was deleted';
    is_deeply [map { $_->{type} } @{ $move->{counts} }], [qw(configmaps namespaces persistentvolumes persistentvolumes pods)], 'in order';
    is_deeply [map { $_->{resources} } @{ $move->{tenants} }], [5, 2], 'and in all';
    my $one = $admin->get('/v2.0/from/persistentvolumes/a/action/move?dest=to', @json)->json->{move};
    is_deeply $one->{counts}, $move->{counts}, 'those of the tenants where one resource moves, too';
    my $xml = $admin->get($address)->xml;
    is_deeply [map { { %{ $_->{attributes} } } } Tenure::XML::children(Tenure::XML::child($xml, 'counts'), 'count')],
        [map { { %$_, resources => "$_->{resources}" } } @{ $move->{counts} }], 'XML has the same';
    is_deeply [map { $_->{attributes}{resources} } Tenure::XML::children(Tenure::XML::child($xml, 'tenants'), 'tenant')], [5, 2], 'in all as well';
    my $v1 = $admin->get('/v1.0/from/action/move?dest=to', @json)->json->{move};
    is_deeply counts_of($v1, 'to', 'account'), counts_of($move, 'to'), 'v1.0 has accounts';
    for my $tenant (@{ $move->{tenants} }) {
        my $sum = 0;
        $sum += $_ for values %{ counts_of($move, $tenant->{id}) };
        is $sum, $tenant->{resources}, "those of $tenant->{id} add up";
    }
    $admin->put('/v2.0/to', json => { tenant => { metadata => { counts => 'mine', configmaps => 'x' } } })->is_status(202);
    my $odd = $admin->get($address)->xml;
    is scalar(Tenure::XML::children(Tenure::XML::child($odd, 'counts'), 'count')), 5, 'metadata of such names is not mistaken for them';
};

subtest 'one ETag, one action' => sub {
    $admin->make_tenant($_) for 'a', 'b';
    $admin->put('/v2.0/b', json => { tenant => { tier => 'free' } })->is_status(202);
    my $seed = $ENV{TENURE_TEST_SEED} // time;
    srand $seed;
    my (%body, @wrong);
    my @kinds = ('persistentvolumes/%s', 'namespaces/%s', 'namespaces/default/configmaps/%s');
    my $any   = sub { my ($tenant) = @_; return "/v2.0/$tenant/" . sprintf $kinds[rand @kinds], 'r' . int rand 4 };
    for my $round (1 .. ($ENV{TENURE_TEST_LONG} ? 500 : 60)) {
        my $tenant = ('a', 'b')[rand 2];
        my $other  = $tenant eq 'a' ? 'b' : 'a';
        my @acts   = (
            sub { $admin->put($any->($tenant), json => { v => int rand 3 }) },
            sub { $admin->put($any->($tenant), json => { v => int rand 3 }) },
            sub { $admin->put($any->($tenant), json => { metadata => { locked => rand() < 0.5 ? JSON::PP::true() : JSON::PP::false() } }) },
            sub { $admin->delete($any->($tenant)) },
            sub { $admin->post($any->($tenant) . '/action/recover') },
            sub { $admin->post($any->($tenant) . "/action/move?dest=$other") },
            sub { $admin->put("/v2.0/$tenant", json => { tenant => { tier => ('free', 'bronze', 'gold')[rand 3], metadata => { m => '' . int rand 2 } } }) },
        );
        $acts[rand @acts]->();
        for my $path ('/v2.0/a/action/move?dest=b', '/v2.0/b/action/move?dest=a', '/v2.0/a/persistentvolumes/r1/action/move?dest=b') {
            my $action = $admin->get($path, @json);
            next if $action->status != 200;
            my $known = $body{ $action->etag } //= $action->text;
            push @wrong, "$path\n$known\n" . $action->text if $known ne $action->text;
        }
    }
    is_deeply \@wrong, [], "no two bodies have one ETag (TENURE_TEST_SEED=$seed)";
    cmp_ok scalar keys %body, '>', 30, 'of many';
};

subtest 'the texts of what stands in the way' => sub {
    $admin->make_tenant($_) for 'full', 'many';
    $instance->sql(q(INSERT INTO tiers (name, max_resources) VALUES ('three', 3)));
    $admin->put('/v2.0/full', json => { tenant => { tier => 'three' } })->is_status(202);
    $admin->make("/v2.0/many/persistentvolumes/m$_") for 1 .. 3;
    $admin->make('/v2.0/full/persistentvolumes/f1');
    my $before = $admin->get('/v2.0/many/action/move?dest=full', @json);
    like $before->json->{move}{blockers}[0]{detail}, qr/it has 1, and 3 would come/, 'the destination has 1';
    $admin->make('/v2.0/full/persistentvolumes/f2');
    my $after = $admin->get('/v2.0/many/action/move?dest=full', @json);
    like $after->json->{move}{blockers}[0]{detail}, qr/it has 2, and 3 would come/, 'it has 2';
    isnt $after->etag, $before->etag, 'that is another action';
    $instance->sql(q(UPDATE tiers SET max_resources = 4 WHERE name = 'three'));
    my $wider = $admin->get('/v2.0/many/action/move?dest=full', @json);
    like $wider->json->{move}{blockers}[0]{detail}, qr/allows 4/, 'the tier allows another number, and nothing else has changed';
    isnt $wider->etag, $after->etag, 'nor is that the same one';
};

subtest 'as many, of other types' => sub {
    $admin->make_tenant($_) for 'k1', 'k2';
    $admin->make('/v2.0/k1/persistentvolumes/p');
    $admin->make('/v2.0/k2/persistentvolumes/q');
    my $before = $admin->get('/v2.0/k1/action/move?dest=k2', @json);
    $admin->delete('/v2.0/k2/persistentvolumes/q')->is_status(204);
    $admin->make('/v2.0/k2/namespaces/default/pods/q');
    my $after = $admin->get('/v2.0/k1/action/move?dest=k2', @json);
    is_deeply counts_of($after->json->{move}, 'k2'), { pods => 1 }, 'a pod in place of a volume';
    is $after->json->{move}{tenants}[1]{resources}, 1, 'as many in all';
    isnt $after->etag, $before->etag, 'is another action';
    $admin->make("/v2.0/k2/$_") for 'namespaces/default/pods/r', 'persistentvolumes/s';
    my $two = $admin->get('/v2.0/k1/action/move?dest=k2', @json);
    $admin->delete('/v2.0/k2/namespaces/default/pods/r')->is_status(204);
    $admin->make('/v2.0/k2/persistentvolumes/t');
    my $one = $admin->get('/v2.0/k1/action/move?dest=k2', @json);
    is_deeply [map { counts_of($_->json->{move}, 'k2') } $two, $one], [{ pods => 2, persistentvolumes => 1 }, { pods => 1, persistentvolumes => 2 }],
        'two and one, one and two';
    isnt $one->etag, $two->etag, 'are two actions';
};

# Moves as the blueprint's operator does: at most 100 resources in an account, by the action alone. What came of it.
sub move_by_rule {
    my ($from, $to, $between) = @_;
    my $action = $admin->get("/v1.0/$from/action/move?dest=$to");
    my ($dest) = grep { $_->{attributes}{id} eq $to } Tenure::XML::children(Tenure::XML::child($action->xml, 'accounts'), 'account');
    my $moving = Tenure::XML::child($action->xml, 'resources');
    my $coming = $moving->{attributes}{size} // scalar Tenure::XML::children($moving, 'resource');
    return 'against the rule' if $dest->{attributes}{resources} + $coming > 100;
    $between->() if $between;
    return $admin->post("/v1.0/$from/action/move?dest=$to", if_match => $action->etag)->status;
}

subtest 'a rule that accounts are only allowed to have 100 resources' => sub {
    my $fill = sub {
        my ($tenant, $prefix, @n) = @_;
        $admin->make("/v2.0/$tenant/persistentvolumes/$prefix$_") for @n;
    };
    $admin->make_tenant($_) for 'r1', 'r2', 'r3';
    $fill->('r1', 'a', 1 .. 3);
    $fill->('r2', 'b', 1 .. 97);
    is move_by_rule('r1', 'r2', sub { $fill->('r2', 'late', 1) }), 412, 'one that comes there after the look makes the tag stale';
    is $admin->get('/v2.0/r2')->json->{tenant}{resources}, 98, 'nothing moved';
    is move_by_rule('r1', 'r2'), 'against the rule', 'the next look tells that it would be too many';
    $admin->delete('/v2.0/r2/persistentvolumes/late1')->is_status(204);
    is move_by_rule('r1', 'r2'), 303, 'as many as the rule allows';
    is $admin->get('/v2.0/r2')->json->{tenant}{resources}, 100, 'are there';
    $fill->('r3', 'c', 1);
    is move_by_rule('r3', 'r2'), 'against the rule', 'one more is not';
};

done_testing;
