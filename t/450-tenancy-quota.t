#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Quotas: exact whatever happens at once; what counts and what does not.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use POSIX ();
use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start(workers => 8);
my $admin    = $instance->admin;

sub count { my ($tenant) = @_; return $admin->get("/v2.0/$tenant")->json->{tenant}{resources} }

# Runs code(number) in n processes; their last words, sorted.
sub at_once {
    my ($n, $code) = @_;
    pipe my $in, my $out or die "pipe: $!";
    my @pids;
    for my $number (1 .. $n) {
        my $pid = fork // die "fork: $!";
        if ($pid == 0) {
            my @lines = $code->($number);
            syswrite $out, join '', map { "$_\n" } @lines;
            POSIX::_exit(0);
        }
        push @pids, $pid;
    }
    close $out;
    waitpid $_, 0 for @pids;
    my @lines = sort map { chomp; $_ } readline $in;
    return @lines;
}

my ($code, $text) = $instance->manage('tier', 'set', 'twenty', '--max-resources', '20');
is $code, 0, 'a tier of twenty resources' or diag $text;

subtest 'a quota of none, and of one' => sub {
    for my $case ([0, qr/allows no resources: ask/], [1, qr/allows 1 resource, and the tenant has as many: delete/]) {
        my ($most, $said) = @$case;
        is(($instance->manage('tier', 'set', "at-most-$most", '--max-resources', $most))[0], 0, "a tier of $most");
        $admin->make_tenant("has-$most", tier => "at-most-$most");
        $admin->make("/v2.0/has-$most/persistentvolumes/p$_") for 1 .. $most;
        my $full = $admin->put("/v2.0/has-$most/persistentvolumes/q", json => {});
        $full->is_problem(409, 'over_quota', 'is full');
        like $full->detail, $said, '... and says so';
    }
};

subtest 'one after the other' => sub {
    $instance->manage('tier', 'set', 'three', '--max-resources', '3');
    $admin->make_tenant('small', tier => 'three');
    is count('small'), 0, 'the namespace default is not counted';
    $admin->make("/v2.0/small/namespaces/n");
    $admin->make("/v2.0/small/namespaces/n/configmaps/c");
    $admin->make("/v2.0/small/persistentvolumes/p");
    is count('small'), 3, 'other namespaces and all other resources are';
    my $full = $admin->put('/v2.0/small/persistentvolumes/q', json => {});
    $full->is_problem(409, 'over_quota', 'then it is full');
    like $full->detail, qr/3/, 'and tells how many there may be';
    $admin->get('/v2.0/small/persistentvolumes/q')->is_status(404, 'nothing was made');
    $admin->put('/v2.0/small/persistentvolumes/p', json => { a => 1 })->is_status(200, 'what is there can be changed');
    $admin->delete('/v2.0/small/persistentvolumes/p')->is_status(204);
    is count('small'), 2, 'deletion makes room';
    $admin->make('/v2.0/small/persistentvolumes/q');
    $admin->delete('/v2.0/small/namespaces/n')->is_status(204);
    is count('small'), 1, 'that of a namespace for all that was in it';
    $admin->put('/v2.0/small', json => { tenant => { tier => 'standard' } })->is_status(202);
    $admin->make("/v2.0/small/persistentvolumes/more$_") for 1 .. 5;
    $admin->put('/v2.0/small', json => { tenant => { tier => 'three' } })->is_status(202, 'a tier below what is there');
    is count('small'), 6, 'takes nothing away';
    $admin->put('/v2.0/small/persistentvolumes/last', json => {})->is_problem(409, 'over_quota', 'but nothing comes to it');
};

subtest 'eight creators at once' => sub {
    $admin->make_tenant('race', tier => 'twenty');
    my @status = at_once(8, sub {
        my ($number) = @_;
        return map { $admin->put("/v2.0/race/persistentvolumes/p$number-$_", json => {})->status } 1 .. 5;
    });
    is_deeply \@status, [(201) x 20, (409) x 20], 'of forty exactly twenty succeed';
    is count('race'), 20, 'the count is right';
    is $instance->sql_value(q(SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 'race' AND r.live = 1)), 20,
        'so are the rows';
    is $instance->sql_value(q(SELECT COUNT(*) FROM changes c JOIN tenants t ON t.id = c.tenant_id WHERE t.name = 'race' AND c.name LIKE 'p%')), 20,
        'and the change log';
};

subtest 'one name, eight creators' => sub {
    $admin->make_tenant('name', tier => 'twenty');
    my @status = at_once(8, sub { map { $admin->put("/v2.0/name/persistentvolumes/p$_", json => { by => $_[0] })->status } 1 .. 5 });
    is scalar(grep { $_ == 201 } @status), 5, 'each name is made once';
    is scalar(grep { $_ == 200 } @status), 35, 'all others replace or find it';
    is count('name'), 5, 'and is counted once';
};

subtest 'creators and deleters at once' => sub {
    $admin->make_tenant('mix', tier => 'twenty');
    at_once(6, sub {
        my ($number) = @_;
        for my $n (1 .. 12) {
            $admin->put("/v2.0/mix/persistentvolumes/x$_", json => { by => $number }) for $n % 5, ($n + $number) % 7;
            $admin->delete("/v2.0/mix/persistentvolumes/x" . ($n * $number) % 7);
        }
        return 'done';
    });
    is count('mix'), $instance->sql_value(
        q(SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 'mix' AND r.live = 1)), 'the count is right';
};

subtest 'moves and creators at once' => sub {
    $admin->make_tenant($_, tier => 'twenty') for 'from', 'to';
    $admin->make("/v2.0/from/persistentvolumes/f$_") for 1 .. 15;
    my @status = at_once(4, sub {
        my ($number) = @_;
        return $admin->post('/v2.0/from/action/move?dest=to')->status if $number == 1;
        return map { $admin->put("/v2.0/to/persistentvolumes/t$number-$_", json => {})->status } 1 .. 6;
    });
    my $rows = $instance->sql_value(q(SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 'to' AND r.live = 1));
    cmp_ok $rows, '<=', 20, 'the quota holds';
    is count('to'), $rows, 'the count is right';
    my $moved = grep { $_ == 303 } @status;
    is count('from'), $moved ? 0 : 15, 'all moved, or none';
    cmp_ok scalar(grep { $_ == 201 } @status), '<=', $moved ? 5 : 18, 'who came first had the room';
};

is((($instance->manage('doctor'))[0]), 0, 'the doctor finds nothing');

done_testing;
