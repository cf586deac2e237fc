#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What must not come about, whoever is faster: an object in a namespace that is deleted, anything made in a tenant that is, an
# object moved to where its type is another. The change log tells it: who holds a tenant or a namespace against the others
# writes its rows in that order.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;
use Time::HiRes ();

use Tenure::Definition qw(definition_of);
use Tenure::Instance;
use Tenure::Parallel;

# TENURE_LONG=1: the times of a night's run.
my $seconds  = $ENV{TENURE_LONG} ? 30 : 4;
my $instance = Tenure::Instance->start(combined => 1, workers => 6);
my $admin    = $instance->combined('admin');
my $crds     = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

sub definition { my ($plural, @range) = @_; return definition_of($plural, kind => ucfirst $plural, @range ? (applicableRange => \@range) : ()) }

# n clients, each doing its work->(n) again and again; what was answered how often, by "what status".
sub race {
    my ($n, $work) = @_;
    my %sum;
    my @told = Tenure::Parallel::run($n, sub {
        my ($client) = @_;
        my %count;
        srand $client + 1;
        for (my $end = Time::HiRes::time() + $seconds; Time::HiRes::time() < $end;) {
            my ($what, $answer) = $work->($client);
            $count{"$what " . $answer->status}++;
            print STDERR '# ', $answer->describe, "\n" if $answer->status >= 500;
        }
        return join ',', map { "$_=$count{$_}" } sort keys %count;
    });
    is scalar(grep { !defined } @told), 0, 'all clients came to their end';
    for (map { split /,/ } grep { defined } @told) {
        my ($what, $times) = split /=/;
        $sum{$what} += $times;
    }
    note join ', ', map { "$_: $sum{$_}" } sort keys %sum;
    is join(', ', grep { / 5\d\d\z/ } sort keys %sum), '', 'no answer says that the server failed';
    return \%sum;
}

sub is_sound {
    my ($code, $text) = $instance->manage('doctor');
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return is $code, 0, 'the store is sound' || diag $text;
}

# The change log of a tenant, its own rows and those of what is in it, in the order that it happened; "left": moved away.
sub story {
    my ($tenant) = @_;
    return map { my %row; @row{qw(id verb plural namespace name)} = @$_; \%row } $instance->sql(
        "SELECT c.id, IF(c.tenant_id = t.id, c.verb, 'left'), y.plural, c.namespace, c.name FROM changes c "
            . "JOIN tenants t ON t.id IN (c.tenant_id, c.from_tenant_id) LEFT JOIN types y ON y.id = c.type_id WHERE t.name = '$tenant' ORDER BY c.id");
}

$admin->make_tenant($_) for qw(acme globex initech hooli);
$admin->post($crds, json => definition('widgets', '*'))->is_status(201, 'a type for all');

subtest 'a policy that was switched is heard of by the move behind it' => sub {
    my $bob     = $instance->service('bob:globex');
    my $alice   = $instance->service('alice:acme');
    my $mover   = $instance->admin;
    my $objects = '/apis/example.com/v1/namespaces/default/widgets';
    my $move    = '/v2.0/acme/namespaces/default/widgets/w/action/move?dest=globex';
    my $policy  = sub { $bob->patch('/api/v1/tenants/globex', { spec => { multiTenancyCRDPolicy => $_[0] } })->is_status(200, $_[0]) };
    $bob->post($crds, json => definition('widgets'))->is_status(201, 'globex has one of that name');
    $alice->post($objects, json => { metadata => { name => 'w' } })->is_status(201, 'acme has an object of the shared one');
    for my $round (1 .. 5) {
        $policy->('SystemCRDFirst');
        Time::HiRes::sleep(0.6);
        $mover->get($move)->is_status(200, 'the other endpoint knows it');
        $policy->('LocalCRDFirst');
        my $answer = $mover->post($move);
        $answer->is_status(409, 'and goes by what it is now');
        like $answer->text, qr/type-differs/, 'where the type is another';
    }
    $policy->('SystemCRDFirst');
    $mover->post($move)->is_status(303, 'and back');
    $bob->delete("$objects/w")->is_status(200);
};

subtest 'moves against switches of the policy' => sub {
    my $objects = '/apis/example.com/v1/namespaces/default/widgets';
    $instance->service('alice:acme')->post($objects, json => { metadata => { name => "w$_" } })->is_status(201) for 0 .. 3;
    my $bob   = $instance->service('bob:globex');
    my ($from) = map { $_->{id} } grep { !defined $_->{plural} } reverse story('globex');
    my $sum   = race(6, sub {
        my ($client) = @_;
        if ($client < 2) {
            my $policy = ('SystemCRDFirst', 'LocalCRDFirst')[rand 2];
            return ('policy', $bob->patch('/api/v1/tenants/globex', { spec => { multiTenancyCRDPolicy => $policy } }));
        }
        my $name = 'w' . int rand 4;
        return ('there', $instance->admin->post('/v2.0/acme/action/move?dest=globex')) if $client == 2;
        return ('back', $admin->post('/v2.0/globex/namespaces/default/widgets/' . $name . '/action/move?dest=acme')) if $client == 3;
        return ('there', ($client == 4 ? $admin : $instance->admin)->post("/v2.0/acme/namespaces/default/widgets/$name/action/move?dest=globex"));
    });
    cmp_ok $sum->{$_} // 0, '>', 0, $_ for 'policy 200', 'there 303', 'there 409';
    # Each row of the tenant's own is a switch: it was SystemCRDFirst before the first.
    my ($system, $wrong, $moved) = (1, 0, 0);
    for my $row (grep { $_->{id} > $from } story('globex')) {
        $system = !$system if !defined $row->{plural} && $row->{verb} eq 'updated';
        next unless ($row->{plural} // '') eq 'widgets' && $row->{verb} eq 'moved';
        $moved++;
        $wrong++ if !$system;
    }
    cmp_ok $moved, '>', 0, "$moved objects moved there";
    is $wrong, 0, 'none while the type was another there';
    is_sound();
};

subtest 'moves of all against definitions in the destination' => sub {
    my $objects = '/apis/example.com/v1/namespaces/default/widgets';
    my $dan     = $instance->service('dan:initech');
    $instance->service('hal:hooli')->post($objects, json => { metadata => { name => "h$_" } })->is_status(201) for 0 .. 3;
    my $sum = race(6, sub {
        my ($client) = @_;
        return $client == 0 ? ('define', $dan->post($crds, json => definition('widgets'))) : ('withdraw', $dan->delete("$crds/widgets.example.com"))
            if $client < 2;
        my $how = $client % 2 ? $admin : $instance->admin;
        # Its own definition would go along: not from where there may be one.
        return ('back', $how->post('/v2.0/initech/namespaces/default/widgets/h' . int(rand 4) . '/action/move?dest=hooli')) if $client == 2;
        return ('there', $how->post('/v2.0/hooli/action/move?dest=initech'));
    });
    cmp_ok $sum->{$_} // 0, '>', 0, $_ for 'define 201', 'withdraw 200', 'there 303', 'there 409';
    my ($own, $wrong, $moved) = (0, 0, 0);
    for my $row (story('initech')) {
        $own = $row->{verb} =~ /deleted|left/ ? 0 : 1 if ($row->{plural} // '') eq 'customresourcedefinitions';
        next unless ($row->{plural} // '') eq 'widgets' && $row->{verb} eq 'moved';
        $moved++;
        $wrong++ if $own;
    }
    cmp_ok $moved, '>', 0, "$moved objects moved there";
    is $wrong, 0, 'none while the tenant had a definition of its own';
    is_sound();
};

subtest 'objects against the deletion of their namespace' => sub {
    my @by  = map { ($instance->service("c$_:acme"), $instance->combined("c$_:acme")) } 1, 2;
    my $sum = race(8, sub {
        my ($client) = @_;
        my $who  = $by[$client % 4];
        my $name = 'c' . int rand 6;
        return ('make', $who->post('/api/v1/namespaces', json => { metadata => { name => 'n' } })) if $client == 0;
        return ('drop', $who->delete('/api/v1/namespaces/n')) if $client == 1;
        return ('recover', $who->post('/v2.0/acme/namespaces/n/action/recover')) if $client == 2 && rand() < 0.3;
        return ('move', $admin->post('/v2.0/acme/namespaces/n/action/move?dest=globex')) if $client == 3 && rand() < 0.2;
        return ('put', $who->put("/v2.0/acme/namespaces/n/configmaps/$name", json => { data => { a => 'b' } })) if $client % 2;
        return ('create', $who->post('/api/v1/namespaces/n/configmaps', json => { metadata => { name => $name } })) if rand() < 0.6;
        return ('delete', $who->delete("/api/v1/namespaces/n/configmaps/$name"));
    });
    cmp_ok $sum->{$_} // 0, '>', 0, $_ for 'make 201', 'drop 200', 'create 201', 'create 404';
    my ($there, @wrong, @last) = (0);
    for my $row (grep { ($_->{plural} // '') eq 'namespaces' && $_->{name} eq 'n' || ($_->{namespace} // '') eq 'n' } story('acme')) {
        $there = $row->{verb} =~ /created|recovered|moved/ ? 1 : $row->{verb} =~ /deleted|left/ ? 0 : $there if $row->{plural} eq 'namespaces';
        push @last, join ' ', map { $_ // '-' } @$row{qw(id verb plural namespace name)};
        push @wrong, "@last[-3 .. -1]" if $row->{plural} eq 'configmaps' && $row->{verb} =~ /created|updated/ && !$there && @last > 2;
    }
    is join("\n", @wrong), '', 'nothing was made in it while it was not there';
    is $instance->sql_value(<<'SQL'), 0, 'and nothing lives in one that does not';
SELECT COUNT(*) FROM resources r WHERE r.live = 1 AND r.namespace NOT IN ('', 'default') AND NOT EXISTS (SELECT 1 FROM resources n
JOIN types y ON y.id = n.type_id AND y.plural = 'namespaces' WHERE n.tenant_id = r.tenant_id AND n.name = r.namespace AND n.live IS NOT NULL)
SQL
    is_sound();
};

subtest 'types and objects against the deletion of their tenant' => sub {
    my $tina = $instance->combined('tina:hooli');
    my $own  = $instance->service('tina:hooli');
    my $sum  = race(6, sub {
        my ($client) = @_;
        return ('drop', $admin->delete('/api/v1/tenants/hooli')) if $client == 0;
        return ('recover', $instance->admin->post('/v2.0/hooli/action/recover')) if $client == 1;
        my $who = $client % 2 ? $tina : $own;
        return ('define', $who->post($crds, json => definition('gizmos'))) if $client == 2;
        return ('withdraw', $who->delete("$crds/gizmos.example.com")) if $client == 3 && rand() < 0.5;
        return ('create', $who->post('/api/v1/namespaces/default/configmaps', json => { metadata => { name => 'c' . int rand 1e9 } }));
    });
    cmp_ok $sum->{$_} // 0, '>', 0, $_ for 'drop 200', 'recover 204', 'define 201', 'create 201';
    $instance->admin->post('/v2.0/hooli/action/recover');
    my ($there, $wrong, %n) = (1, 0);
    for my $row (story('hooli')) {
        $there = $row->{verb} eq 'deleted' ? 0 : 1 if !defined $row->{plural};
        next if !defined $row->{plural};
        $n{"$row->{plural} $row->{verb}"}++;
        $wrong++ if !$there;
    }
    is $wrong, 0, 'nothing was made in it while it was deleted';
    is $n{'customresourcedefinitions created'}, $sum->{'define 201'}, 'each definition that was told has its row';
    is $instance->sql_value("SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id AND t.name = 'hooli' WHERE r.live = 1 AND r.name LIKE 'c%' "
        . "AND r.namespace = 'default'"), $sum->{'create 201'}, 'and each object is there';
    is_sound();
};

done_testing;
