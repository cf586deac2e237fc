#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Eight clients make and delete one type and its objects at once: every answer is one that a client alone could have had, each
# change that was told has its row, and no type is left half made.
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
my $seconds  = $ENV{TENURE_LONG} ? 60 : 8;
my $instance = Tenure::Instance->start(combined => 1, workers => 6);
my $admin    = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my $crds     = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

sub definition {
    my ($plural, $scope, @range) = @_;
    my $spec = { type => 'object', properties => { size => { type => 'integer', default => 1 } } };
    return definition_of($plural, kind => ucfirst $plural, schema => { type => 'object', properties => { spec => $spec } }, scope => $scope,
        @range ? (applicableRange => \@range) : ());
}

# What the server may answer to each thing that is done here; the type may be there, or not, or of the other scope:
# then an object has to be made in a namespace.
my %known = (
    'define'   => [qw(201 409:AlreadyExists)],
    'withdraw' => [qw(200 404:NotFound)],
    'label'    => [qw(200 404:NotFound)],
    'create'   => [qw(201 404:NotFound 405:MethodNotAllowed 409:AlreadyExists)],
    'change'   => [qw(200 404:NotFound)],
    'delete'   => [qw(200 404:NotFound)],
    'get'      => [qw(200 404:NotFound)],
    'list'     => [qw(200 404:NotFound)],
    'discover' => [qw(200 404:NotFound)],
);

# One thing done: its name, and what is answered.
sub act {
    my ($client, $plural, $scope, @range) = @_;
    my $path = '/apis/example.com/v1' . ($scope eq 'Namespaced' ? '/namespaces/default' : '') . "/$plural";
    my $name = 'o' . int rand 4;
    my $what = (qw(define define withdraw label create create create change change delete delete get list discover))[rand 14];
    my %do = (
        define   => sub { $client->post($crds, json => definition($plural, $scope, @range)) },
        withdraw => sub { $client->delete("$crds/$plural.example.com") },
        label    => sub { $client->patch("$crds/$plural.example.com", { metadata => { labels => { l => 'v' . int rand 1e9 } } }) },
        create   => sub { $client->post($path, json => { metadata => { name => $name }, spec => {} }) },
        change   => sub { $client->patch("$path/$name", { spec => { size => int rand 1e9 } }) },
        delete   => sub { $client->delete("$path/$name") },
        get      => sub { $client->get("$path/$name") },
        list     => sub { $client->get($path) },
        discover => sub { $client->get('/apis/example.com/v1') },
    );
    return ($what, $do{$what}->());
}

# Eight clients, each as clients->(number): (client, scope, range…). How often each answer came, "what status:reason" => n.
sub race {
    my ($plural, $time, $clients) = @_;
    my @told = Tenure::Parallel::run(8, sub {
        my ($client, @how) = $clients->($_[0]);
        my (%count, $answer);
        srand $_[0] + 1;
        for (my $end = Time::HiRes::time() + $time; Time::HiRes::time() < $end;) {
            ($_, $answer) = act($client, $plural, @how);
            my $said = $answer->status < 400 ? $answer->status : $answer->status . ':' . ($answer->json->{reason} // '');
            $count{"$_ $said"}++;
            print STDERR '# ', $answer->describe, "\n" if !grep { $said eq $_ } @{ $known{$_} };
        }
        return join ',', map { "$_=$count{$_}" } sort keys %count;
    });
    is scalar(grep { !defined } @told), 0, 'all clients came to their end';
    my %sum;
    for (map { split /,/ } grep { defined } @told) {
        my ($what, $n) = split /=/;
        $sum{$what} += $n;
    }
    return \%sum;
}

# Rows of the change log for objects of a type; condition: which.
sub changes {
    my ($group, $plural, $condition) = @_;
    return $instance->sql_value('SELECT COUNT(*) FROM changes c JOIN types y ON y.id = c.type_id WHERE '
            . "y.group_name = '$group' AND y.plural = '$plural' AND $condition");
}

sub check {
    my ($plural, $sum) = @_;
    note join ', ', map { "$_: $sum->{$_}" } sort keys %$sum;
    my %allowed = map { my $what = $_; map { ("$what $_" => 1) } @{ $known{$what} } } keys %known;
    is join(', ', grep { !$allowed{$_} } sort keys %$sum), '', 'every answer is one of those that there may be';
    cmp_ok $sum->{$_} // 0, '>', 0, "$_ came" for 'define 201', 'define 409:AlreadyExists', 'withdraw 200', 'create 201', 'delete 200';
    my $crd = 'customresourcedefinitions';
    my $own = "c.name = '$plural.example.com'";
    is changes('apiextensions.k8s.io', $crd, "$own AND c.verb = 'created'"), $sum->{'define 201'}, 'each definition has its row';
    is changes('apiextensions.k8s.io', $crd, "$own AND c.verb = 'deleted'"), $sum->{'withdraw 200'}, 'each withdrawal, too';
    is changes('example.com', $plural, "c.verb = 'created'"), $sum->{'create 201'}, 'each object that was made';
    is changes('example.com', $plural, "c.verb = 'deleted'"), $sum->{'delete 200'}, 'and each that was deleted';
    is changes('example.com', $plural, "c.verb = 'updated'"), $sum->{'change 200'}, 'and each change';
    is $instance->sql_value(q(SELECT COUNT(*) FROM resources r WHERE NOT r.live <=> 2 AND NOT EXISTS )
            . q((SELECT 1 FROM changes c WHERE c.resource_id = r.id AND c.verb = 'created'))), 0, 'no object is without a history';
    my ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'the store is sound' or diag $text;
    return;
}

# A type that is there is there wholly: discovered, established, its objects made and read. One that is not is nowhere.
sub is_whole {
    my ($plural) = @_;
    my $path = "/apis/example.com/v1/namespaces/default/$plural";
    $acme->delete("$crds/$plural.example.com");
    $admin->delete("$crds/$plural.example.com");
    $acme->get("$crds/$plural.example.com")->is_status(404, 'withdrawn');
    $acme->get($path)->is_status(404, 'it is of no use');
    my @found = grep { $_->{name} =~ /^\Q$plural\E/ } @{ $acme->get('/apis/example.com/v1')->json->{resources} // [] };
    is scalar @found, 0, 'and not discovered';
    my $made = $acme->post($crds, json => definition($plural, 'Namespaced'));
    $made->is_status(201, 'defined once more');
    is_deeply [map { "$_->{type}=$_->{status}" } @{ $made->json->{status}{conditions} }], ['NamesAccepted=True', 'Established=True'],
        'it is there at once';
    is join(' ', map { $_->{name} } @{ $acme->get('/apis/example.com/v1')->json->{resources} }), $plural, 'for discovery';
    $acme->post($path, json => { metadata => { name => 'last' }, spec => {} })->is_status(201, 'for an object');
    my $list = $acme->get($path);
    $list->is_status(200, 'and those of before are there, too');
    for my $item (@{ $list->json->{items} }) {
        my $one = $acme->get("$path/$item->{metadata}{name}");
        is_deeply $one->json, $item, "$item->{metadata}{name} is the same in both";
    }
    $acme->delete("$crds/$plural.example.com")->is_status(200, 'away with it');
    return;
}

$admin->post('/api/v1/tenants', json => { metadata => { name => 'acme' } })->is_status(201, 'a tenant');
# The system's space is made by the first object in it.
$admin->post('/api/v1/namespaces', json => { metadata => { name => 'first' } })->is_status(201, 'the system space');

subtest 'one tenant, one type' => sub {
    check('widgets', race('widgets', $seconds / 2, sub { ($acme, 'Namespaced') }));
    is_whole('widgets');
};

subtest 'of two scopes, and the system has one that it shares' => sub {
    my @how = ([$acme, 'Namespaced'], [$acme, 'Cluster'], [$admin, 'Namespaced', '*']);
    check('gadgets', race('gadgets', $seconds / 2, sub { @{ $how[(0, 0, 0, 0, 1, 1, 2, 2)[$_[0]]] } }));
    is_whole('gadgets');
};

done_testing;
