#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Eight clients at once: nothing that one of them wrote is lost.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use List::Util ();
use POSIX ();
use Test::More;

use Tenure::Instance;
use Tenure::Parallel;

# TENURE_TEST_LONG: the numbers of a night's run.
my $total   = $ENV{TENURE_TEST_LONG} ? 10000 : 200;
my $clients = 8;
my $share   = $total / $clients;

my $instance = Tenure::Instance->start(workers => 4);
my $admin    = $instance->admin;
$admin->make_tenant('t1');
my $url   = '/v2.0/t1/namespaces/default/configmaps/c1';
my $codec = JSON::PP->new->utf8->canonical->allow_nonref;

# Sends until the server has had time for it: 503 says that it had not.
sub send_until_served {
    my (@request) = @_;
    for (1 .. 100) {
        my $answer = $instance->admin->request(@request);
        return $answer if $answer->status != 503;
        select undef, undef, undef, 0.05 * rand;
    }
    die "always 503\n";
}

sub json_patch {
    my ($path, $operations, %option) = @_;
    return send_until_served('PATCH', $path, body => $codec->encode($operations), type => 'application/json-patch+json', %option);
}

subtest "$total blind adds of different keys, by JSON Patch" => sub {
    $admin->make($url, { data => {} });
    my @done = Tenure::Parallel::run($clients, sub {
        my ($client) = @_;
        return scalar grep { json_patch($url, [{ op => 'add', path => "/data/k$client-$_", value => $_ }])->status == 200 } 1 .. $share;
    });
    is List::Util::sum(map { $_ // 0 } @done), $total, 'each was told 200';
    is scalar keys %{ $admin->get($url)->json->{data} }, $total, 'each is there';
    is $admin->get($url)->json->{metadata}{resourceVersion}, 1 + $total, 'each made a revision';
};

subtest "$total blind adds of different keys, by merge patch" => sub {
    my $other = "$url-merged";
    $admin->make($other, {});
    my @done = Tenure::Parallel::run($clients, sub {
        my ($client) = @_;
        return scalar grep { send_until_served('PATCH', $other, patch => { data => { "k$client-$_" => $_ } })->status == 200 } 1 .. $share;
    });
    is List::Util::sum(map { $_ // 0 } @done), $total, 'each was told 200';
    is scalar keys %{ $admin->get($other)->json->{data} }, $total, 'each is there';
};

# Adds one until nobody was in between; how often that took more than one try.
sub increment {
    my ($path) = @_;
    for my $try (0 .. 10000) {
        my $read  = send_until_served('GET', $path);
        my $n     = $read->json->{data}{n};
        my $write = json_patch($path, [{ op => 'replace', path => '/data/n', value => $n + 1 }], if_match => $read->etag);
        return $try if $write->status == 200;
        die $write->describe . "\n" if $write->status != 412;
    }
    die "never first\n";
}

subtest "$total increments with If-Match and retry" => sub {
    my $counter = "$url-counter";
    $admin->make($counter, { data => { n => 0 } });
    my @tries = Tenure::Parallel::run($clients, sub { return List::Util::sum(map { increment($counter) } 1 .. $share) });
    is scalar(grep { defined } @tries), $clients, 'all clients came to an end';
    is $admin->get($counter)->json->{data}{n}, $total, 'none is lost';
    note 'tries in vain: ' . List::Util::sum(map { $_ // 0 } @tries);
};

subtest "$total increments guarded by a test of the value" => sub {
    my $counter = "$url-tested";
    $admin->make($counter, { data => { n => 0 } });
    my @done = Tenure::Parallel::run($clients, sub {
        for my $i (1 .. $share) {
            my $status = 409;
            while ($status == 409) {
                my $n = send_until_served('GET', $counter)->json->{data}{n};
                $status = json_patch($counter, [{ op => 'test', path => '/data/n', value => $n }, { op => 'replace', path => '/data/n', value => $n + 1 }])->status;
            }
            die "status $status\n" if $status != 200;
        }
        return 'done';
    });
    is scalar(grep { defined } @done), $clients, 'all clients came to an end';
    is $admin->get($counter)->json->{data}{n}, $total, 'none is lost';
};

subtest 'the feed misses nothing while they write' => sub {
    my $feed = '/v2.0/t1/changes';
    my $first = $instance->sql_value('SELECT MAX(id) FROM changes');
    my $writers = fork // die "fork: $!\n";
    if ($writers == 0) {
        Tenure::Parallel::run(4, sub { my ($c) = @_; json_patch($url, [{ op => 'add', path => "/data/f$c-$_", value => 1 }]) for 1 .. 25; return 1 });
        POSIX::_exit(0);
    }
    my ($after, @seen) = ($first);
    my $ended = 0;
    while (1) {
        $ended ||= waitpid($writers, POSIX::WNOHANG()) == $writers;
        my $was = $ended;
        my $page = send_until_served('GET', "$feed?after=$after&limit=7")->json->{changes};
        push @seen, map { $_->{id} } @$page;
        $after = $page->[-1]{id} if @$page;
        last if $was && !@$page;
    }
    my @all = map { $_->[0] } $instance->sql("SELECT id FROM changes WHERE id > $first ORDER BY id");
    is scalar @all, 100, 'a hundred changes';
    is_deeply \@seen, \@all, 'seen once each, in order';
};

done_testing;
