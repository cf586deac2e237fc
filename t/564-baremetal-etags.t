#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Etags of bare metal as specs/etag-spec.txt has them, from microversion 1.40 on; and that clients lose each other nothing.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use List::Util ();
use Test::More;

use Tenure::Instance;
use Tenure::Metal qw(is_fault fault_of);
use Tenure::Parallel;

# TENURE_TEST_LONG: the numbers of a night's run.
my $total   = $ENV{TENURE_TEST_LONG} ? 10000 : 200;
my $clients = 8;

my $instance = Tenure::Instance->start(workers => 4);
my $admin    = Tenure::Metal->new($instance->admin, '1.40');
my $codec    = JSON::PP->new->utf8->canonical->allow_nonref;
my $form     = qr/\AW\/[0-9a-f]{128}\z/;
my $chassis  = $admin->make('chassis', {});
my $node     = $admin->make('nodes', { driver => 'fake-hardware', name => 'n1' });
my $group    = $admin->make('portgroups', { node_uuid => $node->{uuid}, name => 'pg1' });
my $port     = $admin->make('ports', { node_uuid => $node->{uuid}, address => '52:54:00:00:00:01' });
my %url      = (nodes => "/nodes/$node->{uuid}", ports => "/ports/$port->{uuid}",
    portgroups => "/portgroups/$group->{uuid}", chassis => "/chassis/$chassis->{uuid}");

sub etag { return $admin->get($_[0])->json->{etag} }
sub bare { return $_[0]->etag =~ s/"//gr }
sub add {
    my ($path, $key, $value, %option) = @_;
    return $admin->patch($path, [[add => "/extra/$key", $value]], %option);
}

subtest 'every resource has one, in header and body' => sub {
    for my $kind (sort keys %url) {
        my $get = $admin->get($url{$kind});
        like $get->json->{etag}, $form, "$kind: the form, 130 characters";
        like $get->etag, qr/\AW\/"[0-9a-f]{128}"\z/, 'in the header a weak tag';
        is bare($get), $get->json->{etag}, 'the same in both';
        my $patch = add($url{$kind}, 'a', 1);
        isnt bare($patch), bare($get), 'PATCH makes a new one';
        is $patch->json->{etag}, bare($patch), 'and answers it in both';
        is etag($url{$kind}), bare($patch), 'it stays';
        my $list = $admin->get("/$kind");
        is $list->etag, undef, 'a list has none in its header';
        is $list->json->{$kind}[0]{etag}, bare($patch), 'its items have';
        is $admin->get("/$kind/detail")->json->{$kind}[0]{etag}, bare($patch), 'in detail as well';
        is $admin->version('1.39')->get($url{$kind})->etag, undef, 'before 1.40 there is none';
        ok !exists $admin->version('1.39')->get($url{$kind})->json->{etag}, 'in the body neither';
        ok !exists $admin->version('1.39')->get("/$kind/detail")->json->{$kind}[0]{etag}, 'nor in a list' ;
    }
    is $admin->get("$url{nodes}/ports")->json->{ports}[0]{etag}, etag($url{ports}), 'in lists below others';
    is $admin->get("$url{nodes}/ports")->etag, undef, 'not in their header';
};

subtest 'it does not depend on the microversion' => sub {
    is bare($admin->version($_)->get($url{nodes})), etag($url{nodes}), "shown by $_" for '1.41', '1.82', 'latest';
    $admin->version('1.1')->request('PATCH', $url{nodes}, json => [{ op => 'add', path => '/extra/old',
        value => 1 }])->is_status(200);
    my $new = etag($url{nodes});
    is $admin->version('1.82')->get($url{nodes})->json->{etag}, $new, 'a change by 1.1 makes one for all';
    my $stored = sub { return $instance->sql_value("SELECT LOWER(HEX(etag)) FROM resources WHERE name = '$_[0]'") };
    is $stored->($port->{uuid}), etag($url{ports}) =~ s{\AW/}{}r, 'it is stored';
    isnt $stored->($node->{uuid}), $new =~ s{\AW/}{}r, 'that of a node is made of the stored one and its owner';
};

subtest 'what it covers' => sub {
    my $before = etag($url{nodes});
    is bare($admin->patch($url{nodes}, [])), $before, 'nothing asked, nothing changed';
    is bare(add($url{nodes}, 'a', 1)), $before, 'the same asked';
    my $stamp = $admin->get($url{nodes})->json->{updated_at};
    is $admin->get($url{nodes})->json->{updated_at}, $stamp, 'the time of change is as it was';
    my $b = bare(add($url{nodes}, 'a', 2));
    my $a = bare(add($url{nodes}, 'a', 1));
    isnt $a, $before, 'from A to B to A is noticed';
    my $twin = $admin->make('chassis', { extra => { same => 1 } });
    isnt $admin->make('chassis', { extra => { same => 1 } })->{etag}, $twin->{etag}, 'two of the same content differ';
    $instance->sql("UPDATE resources SET body = JSON_SET(body, '\$.driver_internal_info', JSON_OBJECT('a', 1)) "
            . "WHERE name = '$node->{uuid}'");
    is etag($url{nodes}), $a, 'what is stored is shown, never computed on reading';
    for my $change (['PUT', 'maintenance', 202], ['PUT', 'traits/CUSTOM_A', 204], ['DELETE', 'traits/CUSTOM_A', 204],
        ['DELETE', 'maintenance', 202]) {
        my ($method, $path, $status) = @$change;
        my $was    = etag($url{nodes});
        my $answer = $admin->request($method, "$url{nodes}/$path", if_match => $was);
        $answer->is_status($status, "$method $path with the node's tag");
        isnt etag($url{nodes}), $was, 'makes a new one';
        is bare($answer), etag($url{nodes}), 'which the answer tells';
        is_fault($admin->request($method, "$url{nodes}/$path", if_match => $was), 412, undef, 'the old one is stale');
    }
};

subtest 'If-Match' => sub {
    for my $kind (sort keys %url) {
        my $path = $url{$kind};
        my $old  = $admin->get($path);
        add($path, 'b', $kind)->is_status(200, "$kind: without it, as ever");
        my $now   = etag($path);
        my $count = $instance->change_count;
        my $stale = add($path, 'lost', 1, if_match => $old->etag);
        is_fault($stale, 412, qr/changed since.*\Q$now\E.*changed by .* at .*extra/, 'PATCH with a stale one');
        is $stale->json->{etag}, $now, 'it is told the current one';
        is bare($stale), $now, 'in the header, too';
        is $stale->json->{changed_by}, 'admin', 'by whom it was changed';
        like $stale->json->{changed_at}, qr/\A\d{4}-\d\d-\d\dT/, 'when';
        is_deeply $stale->json->{fields}, ['/extra/b'], 'and what differs';
        is_fault($admin->delete($path, if_match => $old->etag), 412, undef, 'DELETE with a stale one');
        is_fault(add($path, 'lost', 1, if_match => '"' . '0' x 128 . '"'), 412, undef, 'one that never was');
        is $instance->change_count, $count, 'nothing was changed';
        my ($hex) = $now =~ /([0-9a-f]{128})/;
        for my $tag ($now, "W/\"$hex\"", "\"$hex\"", $hex, "\"x\", W/\"$hex\"", '*', "W/\"$hex-gzip\"", "\"$hex-br\"") {
            my $patch = $admin->patch($path, [], if_match => $tag);
            $patch->is_status(200, 'matches: ' . $tag =~ s/[0-9a-f]{120}/../r);
        }
        is_fault($admin->patch($path, [], if_match => 'W/"unclosed'), 400, qr/If-Match/, 'no tag');
        $admin->get($path, if_match => $old->etag)->is_status(200, 'GET has no use for it');
        add($path, 'c', 1, if_match => $now)->is_status(200, 'the current one');
        add($path, 'd', 1, headers => { 'If-None-Match' => '*' })->is_status(200,
            'If-None-Match is none of this API\'s');
    }
};

subtest 'If-Match before 1.40' => sub {
    my $old   = $admin->version('1.39');
    my $count = $instance->change_count;
    my $tag   = etag($url{nodes});
    is_fault($old->request('PATCH', $url{nodes}, json => [{ op => 'add', path => '/extra/x', value => 1 }],
        if_match => $tag), 406, qr/If-Match.*1\.40/, 'PATCH');
    is_fault($old->delete($url{nodes}, if_match => $tag), 406, qr/If-Match/, 'DELETE');
    is_fault($old->put("$url{nodes}/maintenance", if_match => $tag), 406, qr/If-Match/, 'PUT');
    is $instance->change_count, $count, 'nothing was done';
    $old->get($url{nodes}, if_match => $tag)->is_status(200, 'GET');
    $old->post('/chassis', json => {}, if_match => $tag)->is_status(201, 'POST: clients send it with every request');
};

subtest 'DELETE with the current one' => sub {
    my $made = $admin->make('nodes', { driver => 'fake-hardware' });
    $admin->delete("/nodes/$made->{uuid}", if_match => $made->{etag})->is_status(204);
    is_fault($admin->delete("/nodes/$made->{uuid}", if_match => $made->{etag}), 404, undef, 'then there is none');
};

subtest 'a tenant that requires it' => sub {
    $instance->admin->make_tenant('strict', etag_required => JSON::PP::true);
    my $made = $admin->version('1.82')->make('nodes', { driver => 'fake-hardware', owner => 'strict' });
    my $path = "/nodes/$made->{uuid}";
    is_fault(add($path, 'a', 1), 428, undef, 'PATCH without it');
    is_fault($admin->delete($path), 428, undef, 'DELETE');
    is_fault($admin->put("$path/maintenance"), 428, undef, 'PUT');
    is_fault(add($path, 'a', 1, if_match => $group->{etag}), 412, undef, 'with another\'s');
    add($path, 'a', 1, if_match => etag($path))->is_status(200, 'with its own');
};

subtest 'changes and what they feed tell it' => sub {
    my $before = etag($url{nodes});
    my ($change) = $instance->changes_of(my $patch = add($url{nodes}, 'fed', 1));
    is $change->{etag_before}, $before =~ s{\AW/}{}r, 'before';
    is $change->{etag_after}, bare($patch) =~ s{\AW/}{}r, 'after';
};

# Sends until the server has had time for it: 503 says that it had not.
sub until_served {
    my ($code) = @_;
    for (1 .. 100) {
        my $answer = $code->(Tenure::Metal->new($instance->admin, '1.40'));
        return $answer if $answer->status != 503;
        select undef, undef, undef, 0.05 * rand;
    }
    die "always 503\n";
}

# Adds one until nobody was in between; how often that was in vain.
sub increment {
    my ($path) = @_;
    for my $try (0 .. 10000) {
        my $read  = until_served(sub { $_[0]->get($path) });
        my $n     = $read->json->{extra}{counter} + 1;
        my $write = until_served(sub { $_[0]->patch($path, [[add => '/extra/counter', $n]],
            if_match => $read->json->{etag}) });
        return $try if $write->status == 200;
        die $write->describe . "\n" if $write->status != 412;
    }
    die "never first\n";
}

for (['nodes', $total], ['chassis', 200]) {
    my ($kind, $total) = @$_;
    my $share = $total / $clients;
    subtest "$total increments of $kind with If-Match and retry" => sub {
        add($url{$kind}, 'counter', 0);
        my @tries = Tenure::Parallel::run($clients,
            sub { return List::Util::sum(map { increment($url{$kind}) } 1 .. $share) });
        is scalar(grep { defined } @tries), $clients, 'all clients came to an end';
        is $admin->get($url{$kind})->json->{extra}{counter}, $total, 'none is lost';
        note 'tries in vain: ' . List::Util::sum(map { $_ // 0 } @tries);
    };
    subtest "$total blind adds of different keys to $kind" => sub {
        $admin->patch($url{$kind}, [[replace => '/extra', {}]]);
        my @done = Tenure::Parallel::run($clients, sub {
            my ($client) = @_;
            return scalar grep { my $i = $_; until_served(sub { $_[0]->patch($url{$kind},
                [[add => "/extra/k$client-$i", $i]]) })->status == 200 } 1 .. $share;
        });
        is List::Util::sum(map { $_ // 0 } @done), $total, 'each was told 200';
        is scalar keys %{ $admin->get($url{$kind})->json->{extra} }, $total, 'each is there';
    };
}

done_testing;
