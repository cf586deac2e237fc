#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A Keystone that is away: first its connections are refused, then it takes them and answers nothing. Four workers without a master
# serve one endpoint, and mod_fcgid's processes that and another one. What is cached goes on everywhere, all else is answered 503, no
# worker is lost, Keystone is asked rarely; a revoked token is refused within the cache time, and a token is validated once for each
# cache time of the whole host.
#
# TENURE_AWAY_SECONDS: each outage lasts so long (3). TENURE_AWAY_COUNTS: a file for the figures (scripts/long/keystone).
use strict;
use warnings;

use File::Basename ();
use lib File::Basename::dirname(__FILE__) . '/lib';

use IO::Socket::UNIX;
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);

use Tenure::Client;
use Tenure::FakeKeystone;
use Tenure::FastCGI;
use Tenure::Instance;

use constant { WORKERS => 4, STRANGERS => 6, TIMEOUT => 5 };
my $seconds = $ENV{TENURE_AWAY_SECONDS} // 3;
my $cache   = 2 * $seconds + 600; # what is validated before both outages is cached until their end, however long it takes in between
my $brief   = $seconds < 20 ? 4 : 30; # cache time of the second instance
my $red     = 'a' x 32;
my $path    = "/v2.0/$red/persistentvolumes/v1";
my %counts;
sub note_count { my ($name, $number) = @_; $counts{$name} = $number; diag("$name: $number") if $ENV{TENURE_AWAY_COUNTS}; return }

my $keystone = Tenure::FakeKeystone->start;
$keystone->token("known-$_", project => $red, roles => [qw(admin member reader)]) for 1 .. 8;
$keystone->token($_, project => $red, roles => [qw(admin member reader)]) for qw(later-refused later-hanging revoked steady);

sub start {
    my ($time, $timeout) = @_;
    return Tenure::Instance->start(server => 'apache-fcgid', auth => 'token', placement => 1, workers => WORKERS,
        allow => [ qr/Keystone: /, qr/answered 503 \(unavailable\)/ ],
        settings => { 'endpoint service.auth' => 'keystone', 'endpoint placement.auth' => 'keystone', 'keystone.auth_url' => $keystone->url,
            'keystone.username' => 'tenure', 'keystone.password' => 'secret', 'keystone.token_cache_time' => $time,
            'keystone.timeout' => $timeout, 'keystone.create_tenants' => 'yes' });
}

# Workers of the endpoint "service" beside those of mod_fcgid, on one socket.
my @started;
sub start_workers {
    my ($instance) = @_;
    my $socket   = $instance->dir . '/away.sock';
    my $listener = IO::Socket::UNIX->new(Local => $socket, Listen => 64) or die "$socket: $!\n";
    for (1 .. WORKERS) {
        my $pid = fork // die "fork: $!\n";
        if (!$pid) {
            open STDIN, '<&', $listener or POSIX::_exit(127);
            open STDERR, '>>', $instance->dir . '/log/away.log' or POSIX::_exit(127);
            my %more = $instance->_environment;
            @ENV{ keys %more } = values %more;
            exec Tenure::Instance::build_dir() . '/tenured', '-c', $instance->env('TENURE_CONFIG'), '-e', 'service' or POSIX::_exit(127);
        }
        push @started, $pid;
    }
    return $socket;
}
my $owner = $$;
sub end_workers {
    kill 'TERM', @started;
    waitpid $_, 0 for @started;
    @started = ();
    return;
}
END { if (defined $owner && $$ == $owner) { local $?; end_workers() } }

# The three ways in: code that returns the status of a GET with a token.
sub ways {
    my ($instance, $socket) = @_;
    my $http = sub {
        my ($url, $its) = @_;
        return sub { Tenure::Client->new(url => $url)->get($its, headers => { 'X-Auth-Token' => $_[0] })->status };
    };
    return (
        [ 'workers', sub { my $answer = Tenure::FastCGI->connect($socket, timeout => 60)->request(uri => $path, params => [ HTTP_X_AUTH_TOKEN => $_[0] ]);
            return $answer ? $answer->{status} : 0 } ],
        [ 'mod_fcgid',            $http->($instance->env('TENURE_SERVICE_URL'),   $path) ],
        [ 'mod_fcgid, placement', $http->($instance->env('TENURE_PLACEMENT_URL'), '/resource_providers') ],
    );
}

# Clients that come with tokens that nobody knows, until the time is over. Returns code that waits for them and returns how many
# answers had each status, and how many of those that began after the first TIMEOUT, and the question that follows it, took a second or more.
sub strangers {
    my ($outage, $way, $until) = @_;
    my @readers;
    for my $client (1 .. STRANGERS) {
        pipe my $reader, my $writer or die "pipe: $!\n";
        my $pid = fork // die "fork: $!\n";
        if (!$pid) {
            close $reader;
            my ($began, $i, $slow, %seen) = (time, 0, 0);
            while (time < $until) {
                my $at = time;
                $seen{ $way->("stranger-$outage-$client-" . ++$i) }++;
                $slow++ if time - $at >= 1 && $at - $began > TIMEOUT + 2;
                sleep 0.02;
            }
            syswrite $writer, join ' ', "slow=$slow", map { "$_=$seen{$_}" } sort keys %seen;
            POSIX::_exit(0);
        }
        push @readers, [ $pid, $reader ];
        close $writer;
    }
    return sub {
        my %sum = (slow => 0);
        for (@readers) {
            my ($pid, $reader) = @$_;
            my $line = <$reader> // 'lost=1';
            waitpid $pid, 0;
            for (split / /, $line) { my ($name, $n) = split /=/; $sum{$name} += $n }
        }
        return \%sum;
    };
}

# One outage: asks with the known tokens all the while.
sub outage {
    my ($name, @ways) = @_;
    my ($until, $asked, $bad, $longest) = (time + $seconds, 0, 0, 0);
    my $theirs = strangers($name, $ways[0][1], $until);
    my %unknown;
    my $round = 0;
    while (time < $until) {
        $round++;
        for my $way (@ways) {
            my $at = time;
            my $status = $way->[1]->('known-' . (1 + $round % 8));
            $asked++;
            $bad++ if $status != 200;
            $longest = time - $at if $way == $ways[0] && time - $at > $longest;
        }
        $unknown{ $ways[ 1 + $round % 2 ][1]->("unknown-$name-$round") }++ if $round % 10 == 1;
        sleep 0.05;
    }
    my $strangers = $theirs->();
    is $bad, 0, "$name: each of $asked requests with cached tokens is answered";
    is_deeply [ sort keys %unknown ], [503], '... and by mod_fcgid all else is refused with 503';
    my $slow = delete $strangers->{slow};
    is_deeply [ sort keys %$strangers ], [503], '... by the workers as well';
    cmp_ok $slow, '<=', ($strangers->{503} // 0) / 50, '... nearly always in less than a second, once the time-out is over';
    note_count("$name cached", $asked);
    note_count("$name strangers", $strangers->{503} // 0);
    note_count("$name strangers over 1 s", $slow);
    note_count("$name longest ms of cached", sprintf '%d', 1000 * $longest);
    return;
}

Tenure::Instance::need('apache-fcgid');
my $instance = start($cache, TIMEOUT);
my $socket   = start_workers($instance);
my @ways     = ways($instance, $socket);
sub make_volume { return Tenure::Client->new(url => $_[0]->env('TENURE_SERVICE_URL'))->put($path, json => { n => 1 }, headers => { 'X-Auth-Token' => 'known-1' })->status }
is make_volume($instance), 201, 'a token is validated';

subtest 'cached for the whole host' => sub {
    for my $token (1 .. 8) {
        my %seen;
        $seen{ $_->[1]->("known-$token") }++ for (@ways) x 4;
        is_deeply [ keys %seen ], [200], "token $token is good for all";
        is $keystone->count("validate known-$token"), 1, '... and was validated once';
    }
};

subtest 'connections are refused' => sub {
    $keystone->stop;
    outage('refused', @ways);
    $keystone->listen;
    ok Tenure::Instance::wait_until(sub { $ways[0][1]->('later-refused') == 200 }), 'it is back';
};

subtest 'it hangs' => sub {
    $keystone->mode('hang');
    $keystone->forget_log;
    outage('hanging', @ways);
    my $asked = () = $keystone->log =~ /^validate (?!own-)/mg;
    note_count('hanging validations', $asked);
    cmp_ok $asked, '<=', 2 * WORKERS + $seconds / 5, 'Keystone was asked by those that came first, and then by few';
    $keystone->mode('ok');
    ok Tenure::Instance::wait_until(sub { $ways[$_][1]->('later-hanging') == 200 }), "it is back: $ways[$_][0]" for 0 .. 2;
};

end_workers();
$instance->stop;

subtest 'a short cache time' => sub {
    my $second = start($brief, 60); # this Keystone is never away, only slow at times
    my @in = ways($second, start_workers($second));
    is make_volume($second), 201, 'another registry';
    $_->[1]->('known-1') for @in;
    $keystone->forget_log;
    my ($began, $last_good, $refused, @bad) = (time);
    $in[0][1]->('revoked');
    my $known = time;
    $keystone->revoke('revoked');
    while (time - $began < 2.5 * $brief) {
        for my $way (@in) {
            my $at = time;
            my $steady = $way->[1]->('steady');
            push @bad, sprintf '%s by %s after %.1f s', $steady, $way->[0], $at - $began if $steady != 200;
            my $status = $way->[1]->('revoked');
            $last_good = $at if $status == 200;
            $refused //= $at if $status == 401;
        }
        sleep 0.05;
    }
    my $took = time - $began;
    ok defined $refused, 'a revoked token is refused';
    cmp_ok(($last_good // $known) - $known, '<=', $brief, '... by everybody within the cache time');
    is_deeply \@bad, [], 'another one is good all the while';
    cmp_ok $keystone->count('validate steady'), '<=', 1 + $took / $brief, '... and validated once for each cache time, by the whole host';
    note_count('cache time', $brief);
    note_count('revoked token good for s', sprintf '%.1f', ($last_good // $known) - $known);
    note_count('validations of a steady token', $keystone->count('validate steady'));
    end_workers();
    $second->stop;
};

if (my $file = $ENV{TENURE_AWAY_COUNTS}) {
    open my $out, '>>', $file or die "$file: $!\n";
    print $out "$_=$counts{$_}\n" for sort keys %counts;
    close $out or die "$file: $!\n";
}
done_testing();
