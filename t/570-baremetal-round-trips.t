#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a PATCH costs the database: a worker is asked over FastCGI, and between it and the database stands somebody who counts.
#
# An answer is held back until both sides have been silent for a while, so that statements sent without waiting for one
# another's answers are one round trip, and only those.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use IO::Select;
use IO::Socket::UNIX;
use JSON::PP ();
use POSIX ();
use Test::More;
use Time::HiRes ();

use Tenure::FastCGI;
use Tenure::Instance;

use constant SILENCE => 0.02;

my $instance = Tenure::Instance->start(auth => 'token');
my $dir      = $instance->dir;
my $codec    = JSON::PP->new->utf8->canonical;
my $owner    = $$;
my @children;
END { local $?; if ($$ == $owner) { kill 'TERM', @children; waitpid $_, 0 for @children } }

sub child {
    my ($code) = @_;
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        $SIG{TERM} = 'DEFAULT';
        eval { $code->() };
        print STDERR $@ if $@;
        POSIX::_exit(1);
    }
    push @children, $pid;
    return $pid;
}

# ---- who counts

my %command = (0x01 => 'quit', 0x03 => 'query', 0x0e => 'ping', 0x16 => 'prepare', 0x17 => 'execute', 0x19 => 'close',
    0x1f => 'reset');

# What the client sent, in words; a packet is whole, for it goes over a unix socket and is small.
sub commands_in {
    my ($bytes) = @_;
    my @commands;
    while (length $bytes > 4) {
        my $n = unpack 'V', substr($bytes, 0, 3) . "\0";
        my ($code, $text) = unpack 'Ca*', substr $bytes, 4, $n;
        substr $bytes, 0, 4 + $n, '';
        my $name = $command{$code} // sprintf '0x%02x', $code;
        push @commands, $name eq 'query' ? lc $text : $name eq 'prepare' ? "prepare $text" : $name;
    }
    return join ' ', @commands;
}

# Passes one connection on. A line for each round trip: which connection, and what was sent.
sub relay {
    my ($client, $server, $log) = @_;
    my $select = IO::Select->new($client, $server);
    my ($asked, $answer, $greeted) = ('', '', 0);
    while (1) {
        my @ready = $select->can_read(length $answer ? SILENCE : undef);
        if (!@ready) {
            syswrite $client, $answer;
            syswrite $log, "$$ " . commands_in($asked) . "\n" if $greeted++ > 1; # the greeting and who we are come first
            ($asked, $answer) = ('', '');
        }
        for my $socket (@ready) {
            sysread $socket, my $bytes, 1 << 20 or return;
            if ($socket == $client) {
                $asked .= $bytes;
                syswrite $server, $bytes;
            } else {
                $answer .= $bytes;
            }
        }
    }
}

sub count_at {
    my ($path) = @_;
    my $listener = IO::Socket::UNIX->new(Local => $path, Listen => 16) or die "$path: $!\n";
    chmod 0777, $path;
    child(sub {
        $SIG{CHLD} = 'IGNORE';
        open my $log, '>>', "$dir/round-trips" or die "$!\n";
        while (my $client = $listener->accept) {
            next if fork;
            relay($client, IO::Socket::UNIX->new(Peer => $instance->env('TENURE_DB_SOCKET')), $log);
            POSIX::_exit(0);
        }
    });
    return;
}

# ---- who is asked: one worker of its own, its database behind the counter

sub start_worker {
    my ($endpoint) = @_;
    my $socket   = "$dir/$endpoint-counted.sock";
    my $listener = IO::Socket::UNIX->new(Local => $socket, Listen => 16) or die "$socket: $!\n";
    child(sub {
        open STDIN, '<&', $listener or die "$!\n";
        open STDERR, '>>', "$dir/log/counted.log" or die "$!\n";
        @ENV{qw(TENURE_DATABASE_SOCKET TENURE_TENURE_TOKEN_CACHE)} = ("$dir/counter.sock", 3_600_000);
        exec Tenure::Instance::build_dir() . '/tenured', '-c', $instance->env('TENURE_CONFIG'), '-e', $endpoint;
    });
    return $socket;
}

sub ask {
    my ($worker, $token, $method, $path, $body, %header) = @_;
    my @headers = map { ('HTTP_' . uc(s/-/_/gr), $header{$_}) } sort keys %header;
    my $answer  = Tenure::FastCGI->get($worker, method => $method, uri => "/baremetal/v1$path",
        defined $body ? (body => $codec->encode($body)) : (),
        params => [HTTP_X_AUTH_TOKEN => $token, CONTENT_TYPE => 'application/json',
            HTTP_X_OPENSTACK_IRONIC_API_VERSION => '1.82', @headers]);
    return $answer // die "$method $path: no answer\n";
}

count_at("$dir/counter.sock");
$instance->admin->make_tenant($_) for 't1', 't2';
my %worker = map { $_ => start_worker($_) } 'admin', 'service';
my %token  = (admin => $instance->operator_token, service => $instance->token('t1', 'member'));
my $serial = 0;

sub make {
    my ($kind, $content) = @_;
    my $answer = ask($worker{admin}, $token{admin}, 'POST', "/$kind", $content);
    $answer->{status} == 201 or die "$kind: $answer->{body}\n";
    return $codec->decode($answer->{body});
}

# Lines written meanwhile. Asked first as often as it takes to have prepared the statements.
sub trips {
    my ($code) = @_;
    $code->() for 1 .. 3;
    Time::HiRes::sleep(2 * SILENCE);
    my $before = -s "$dir/round-trips";
    my $answer = $code->();
    Time::HiRes::sleep(2 * SILENCE);
    my $text  = Tenure::Instance::read_file("$dir/round-trips");
    my %mover = map { $_ => 1 } $text =~ /^(\d+) .* FROM moves /mg; # beside each worker one looks for moves that are queued
    my @lines = map { /\A(\d+) (.*)/ && !$mover{$1} ? $2 : () } split /\n/, substr $text, $before;
    return ($answer, @lines);
}

# At most so many round trips and a COMMIT.
sub costs {
    my ($name, $most, $status, $code) = @_;
    my ($answer, @trips) = trips($code);
    is $answer->{status}, $status, "$name: $status" or diag $answer->{raw};
    my $commits = grep { /\A(?:commit|rollback)\z/ } @trips;
    my $others  = @trips - $commits;
    ok $others <= $most && $commits <= 1, "$others round trips" . ($commits ? ' and COMMIT' : '') . ", at most $most"
        or diag join "\n", @trips;
    return;
}

my $chassis = make('chassis', {});
my $node    = make('nodes', { driver => 'ipmi', name => 'n1', owner => 't1', driver_info => { ipmi_password => 'hush' } });
my $group   = make('portgroups', { node_uuid => $node->{uuid}, name => 'g1' });
my $port    = make('ports', { node_uuid => $node->{uuid}, address => '52:54:00:00:00:01', portgroup_uuid => $group->{uuid} });

for my $endpoint ('admin', 'service') {
    my $ask = sub { return ask($worker{$endpoint}, $token{$endpoint}, @_) };
    my $add = sub { my ($at, $value) = @_; return [{ op => 'add', path => $at, value => $value }] };
    my $is_operator = $endpoint eq 'admin';
    my $path  = "/nodes/$node->{uuid}";
    my $below = "/ports/$port->{uuid}";
    # The same again and again, with another value each time; or this and that in turn.
    my $patch = sub { my ($what) = @_; return sub { return $ask->('PATCH', $path, $what->(++$serial)) } };
    my $turns = sub {
        my ($at, $one, $other) = @_;
        return $patch->(sub { return $add->($at, $_[0] % 2 ? $one : $other) });
    };

    subtest "$endpoint endpoint: reading" => sub {
        costs('GET of a node', 1, 200, sub { $ask->('GET', $path) });
        costs('of a list', 2, 200, sub { $ask->('GET', '/nodes') });
    };

    subtest "$endpoint endpoint: PATCH of a node" => sub {
        costs('a key', 2, 200, $patch->(sub { return $add->('/extra/n', $_[0]) }));
        costs('by its name', 2, 200, sub { $ask->('PATCH', '/nodes/n1', $add->('/extra/n', ++$serial)) });
        my $etag;
        my $guarded = sub {
            my $answer = $ask->('PATCH', $path, $add->('/extra/n', ++$serial), 'If-Match' => $etag // '*');
            $etag = $answer->{headers}{etag};
            return $answer;
        };
        costs('with If-Match', 2, 200, $guarded);
        costs('a secret', 2, 200, $patch->(sub { return $add->('/driver_info/ipmi_password', "hush$_[0]") }));
        costs('another name', 2, 200, $patch->(sub { return $add->('/name', "n1-$_[0]") }));
        my $instance_uuid = 'bb000000-0000-4000-8000-000000000001';
        costs('an instance, or none', 2, 200, $turns->('/instance_uuid', $instance_uuid, undef)) for 1, 2;
        my $driver = sub {
            my $to = ++$serial % 2 ? 'ipmi' : 'redfish';
            return $ask->('PATCH', "$path?reset_interfaces=true", $add->('/driver', $to));
        };
        costs('another driver', 2, 200, $driver);
        costs('all kinds of members at once', 2, 200, $patch->(sub {
            my ($n) = @_;
            my %new = (description => "text $n", resource_class => "gold$n", properties => { cpus => $n }, name => "all$n",
                maintenance => $n % 2 ? JSON::PP::true : JSON::PP::false, instance_info => { a => $n });
            return [map { @{ $add->("/$_", $new{$_}) } } sort keys %new];
        }));
        costs('what changes nothing', 1, 200, $patch->(sub { return [] }));
        costs('what does not fit', 1, 400, $patch->(sub { return [{ op => 'remove', path => '/extra/none' }] }));
        costs('a stale If-Match, with who and what since', 3, 412, sub { $ask->('PATCH', $path, [], 'If-Match' => $node->{etag}) });
        costs('maintenance', 2, 202, sub { $ask->('PUT', "$path/maintenance", { reason => 'fan ' . ++$serial }) });
        $ask->('PATCH', $path, $add->('/name', 'n1'));
    };

    subtest "$endpoint endpoint: PATCH of others" => sub {
        costs('a port', 2, 200, sub { $ask->('PATCH', $below, $add->('/extra/n', ++$serial)) });
        my $groups = sub { $ask->('PATCH', $below, $add->('/portgroup_uuid', ++$serial % 2 ? $group->{uuid} : undef)) };
        costs('its port group, or none', 2, 200, $groups) for 1, 2;
        my $address = sub { $ask->('PATCH', $below, $add->('/address', sprintf '52:54:00:00:01:%02x', ++$serial)) };
        costs('its address, which asks its node for an instance', 3, 200, $address);
        costs('a port group', 2, 200, sub { $ask->('PATCH', "/portgroups/$group->{uuid}", $add->('/extra/n', ++$serial)) });
    };

    subtest "$endpoint endpoint: what the operator alone does" => sub {
        costs('a chassis', 2, 200, sub { $ask->('PATCH', "/chassis/$chassis->{uuid}", $add->('/extra/n', ++$serial)) });
        costs('a node\'s chassis, or none', 2, 200, $turns->('/chassis_uuid', $chassis->{uuid}, undef)) for 1, 2;
        costs('another owner, which is a move', 10, 200, $turns->('/owner', 't1', 't2'));
        $ask->('PATCH', $path, $add->('/owner', 't1'));
    } if $is_operator;
}

done_testing;
