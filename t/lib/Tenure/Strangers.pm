# SPDX-License-Identifier: Apache-2.0
# Generated strangers: requests by users of some tenants that name what is others', drawn by a seed. Methods, paths and parameters
# come from the composed WADL of each endpoint, the words from the WADL files and the source: whatever the program compares an
# address, a header or a parameter with is used as the name of a tenant, a user, a namespace, a type and a resource, and is put
# where a name stands.
#
#   my $strangers = Tenure::Strangers->new(instance => $instance, seed => 7);
#   my $told      = $strangers->run(2000, 2);     # { requests, pairs, … , findings => [texts] }
#
# A request that names another tenant's thing is sent once more with a name that nobody has, of the same length and form. Both
# answers are to be the same, headers and all, but for ids and times; and no answer may hold a secret, a uid or an etag of another
# tenant that the request did not hold.
package Tenure::Strangers;

use strict;
use warnings;

use parent 'Tenure::Strangers::Requests';

use Encode      ();
use JSON::PP    ();
use Time::HiRes ();

use Tenure::Parallel;
use Tenure::Strangers::Line;
use Tenure::Strangers::Words qw(escape encode_all other_form_of);

my $json  = JSON::PP->new->utf8->canonical->allow_nonref;
my $ascii = JSON::PP->new->ascii->allow_nonref;

# ---- asking

sub _ask {
    my ($self, $lines, $request, $side) = @_;
    my $line = $lines->{ $request->{endpoint} } //= Tenure::Strangers::Line->new($self->{url}{ $request->{endpoint} });
    my $answer;
    for my $try (1 .. 6) {
        $answer = $line->ask($request->{method}, $request->{paths}[$side], $request->{headers}[$side], $request->{bodies}[$side]);
        $self->{told}{requests}++;
        last if $answer->{status} != 503 && $answer->{status} != 429 && $answer->{status} != 0;
        Time::HiRes::sleep(0.1 * $try);
    }
    $self->{told}{busy}++ if $answer->{status} == 503 || $answer->{status} == 429;
    $self->{told}{ "answered_" . int($answer->{status} / 100) . 'xx' }++;
    $self->_look($request, $side, $answer);
    return $answer;
}

sub _describe {
    my ($self, $request, $side, $answer) = @_;
    my $tenant = $request->{asker};
    my ($role) = grep { $tenant->{token}{$_} eq $request->{who} } keys %{ $tenant->{token} };
    return sprintf '%s of "%s" at %s: %s %s %s %s: %s %s', $role // 'nobody', Encode::encode('UTF-8', $tenant->{bears}), $request->{endpoint}, $request->{method}, $request->{paths}[$side],
        join(' ', map { /token/i ? () : "$_: $request->{headers}[$side]{$_}" } sort keys %{ $request->{headers}[$side] }), $request->{bodies}[$side] // '', $answer->{status},
        substr($answer->{head} . $answer->{body}, 0, 1500) =~ s/\r\n/ | /gr;
}

sub _find {
    my ($self, $what) = @_;
    push @{ $self->{told}{findings} }, $what if @{ $self->{told}{findings} //= [] } < 50;
    $self->{told}{found}++;
    return;
}

# Does the answer hold anything that only other tenants know and that the request did not hold?
sub _look {
    my ($self, $request, $side, $answer) = @_;
    my $asker = $request->{asker}{index};
    my $question;
    # A tenant must not learn that a resource which it lost lives on in another one.
    if ($answer->{head} =~ m{^Location: \S*?/v[12]\.0/([^/?\s]+)}mi) {
        my $name = $1;
        my ($whose) = grep { lc escape($_->{name}) eq lc $name } @{ $self->{tenants} };
        if ($whose && $whose != $request->{asker} && index(lc $request->{paths}[$side], lc $name) < 0) {
            $self->_find("\"$name\", which is another's, in " . $self->_describe($request, $side, $answer));
            return;
        }
    }
    for my $text ($answer->{head}, $answer->{body}) {
        while ($text =~ /(mkx[0-9a-f]{12}|bWt4[A-Za-z0-9+\/]{16}|x[0-9a-f]{12}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{128})/g) {
            my $known = $self->{marks}{$1} or next;
            my $mark = $1;
            # A tenant with a reserved name has no resources: it must not even read those at its own address.
            next if $known->{$asker} && !$request->{asker}{renamed};
            $question //= join ' ', $request->{paths}[$side], (map { s/%([0-9A-Fa-f]{2})/chr hex $1/ger } $request->{paths}[$side] =~ s/%25/%/gr), values %{ $request->{headers}[$side] }, $request->{bodies}[$side] // '';
            next if index($question, $mark) >= 0;
            my $whose = $known->{$asker} ? 'which is of a tenant that nobody may be of' : "which is another's";
            $self->_find("$mark, $whose, in " . $self->_describe($request, $side, $answer));
            return;
        }
    }
    return;
}

# The forms in which a name may stand in an answer: as it is, percent-encoded (as far as needed, or every byte), encoded twice, in JSON.
my @written = (\&_plain, \&escape, \&encode_all, sub { escape(escape($_[0])) }, sub { substr $json->encode($_[0]), 1, -1 }, sub { substr $ascii->encode($_[0]), 1, -1 });

sub _plain { my ($text) = @_; return Encode::encode('UTF-8', $text) }

# An answer without ids and times, which differ each time, and with the name of the request that names an existing thing.
sub _shape {
    my ($self, $request, $side, $answer) = @_;
    my ($head, $body) = ($answer->{head}, $answer->{body});
    my ($id) = $head =~ /^x-request-id:\s*(\S+)/mi;
    $head =~ s/^(?:date|x-request-id|x-openstack-request-id|keep-alive|connection):[^\n]*\n//mgi;
    my $text = "$head$body";
    $text =~ s/\Q$id\E/REQUEST/g if defined $id && length $id > 8;
    if ($side == 1) {
        my $twins = $request->{twins};
        for my $name (sort { length $b <=> length $a || $a cmp $b } keys %$twins) {
            for my $guise (sub { $_[0] }, sub { uc $_[0] }, sub { $_[0] =~ tr/a-z/A-Z/r }, sub { ucfirst $_[0] }, sub { other_form_of($_[0], length $_[0]) }) {
                my ($twin, $there) = map { $guise->($_) } $twins->{$name}, $name;
                next if $twin eq $there;
                for my $written (@written) {
                    my ($from, $to) = ($written->($twin), $written->($there));
                    $text =~ s/\Q$from\E/$to/g;
                }
            }
        }
    }
    if ($answer->{status} < 300) {
        $text =~ s/^content-length:[^\n]*\n//mgi;
        $text =~ s/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/UUID/g;
        $text =~ s/\b[0-9a-f]{128}\b/TAG/g;
        $text =~ s/"(resourceVersion|continue|next)":"[^"]*"/"$1":"N"/g;
        $text =~ s/marker=[^"&\s]*/marker=N/g;
    }
    $text =~ s/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(?:Z|[-+]\d\d:?\d\d)?/TIME/g;
    return $text;
}

# The first place where two texts differ.
sub _difference {
    my ($a, $b) = @_;
    my ($alike) = ($a ^ $b) =~ /\A(\0*)/;
    my $at = length($alike) - 60;
    $at = 0 if $at < 0;
    return substr($a, $at, 160) . ' -> ' . substr($b, $at, 160);
}

# Notes the names that the asker may have created by this request: from now on they are its own.
sub _own {
    my ($self, $request, $side) = @_;
    my $path = $request->{paths}[$side] =~ s/\?.*//sr;
    $request->{asker}{has}{ Encode::decode('UTF-8', s/%([0-9A-Fa-f]{2})/chr hex $1/ger) } = 1 for split m{/}, $path;
    $request->{asker}{has}{$_} = 1 for ($request->{bodies}[$side] // '') =~ /"([^"\\]+)"/g;
    # Values that the asker has written into its own resources may come back.
    $self->{marks}{$_}{ $request->{asker}{index} } = 1 for grep { $self->{marks}{$_} } keys %{ $request->{asker}{has} };
    # If the nonexistent name exists now, another name takes its place.
    if ($side == 1) {
        $self->{made}{ delete $self->{twins}{$_} } = 1 for grep { defined $self->{twins}{$_} } keys %{ $request->{twins} };
    }
    return;
}

sub _pair {
    my ($self, $lines, $request) = @_;
    my $safe = $request->{method} =~ /\A(?:GET|HEAD|OPTIONS)\z/;
    if (!$request->{differs}) {
        my $answer = $self->_ask($lines, $request, 0);
        $self->_own($request, 0) if !$safe && $answer->{status} < 400;
        return;
    }
    my $absent = $self->_ask($lines, $request, 1);
    if (!$safe && $absent->{status} < 400) {
        # The request changed something of the asker's own, so the second one of the pair would find another state.
        $self->_own($request, 1);
        $self->{told}{carried_out}++;
        return;
    }
    my $there = $self->_ask($lines, $request, 0);
    $self->{told}{pairs}++;
    $self->_own($request, 0) if !$safe && $there->{status} < 400;
    my ($a, $b) = ($self->_shape($request, 0, $there), $self->_shape($request, 1, $absent));
    return if $a eq $b;
    # Compares once more, since a list of the asker's own may have changed between the two requests.
    $absent = $self->_ask($lines, $request, 1);
    $there  = $self->_ask($lines, $request, 0);
    ($a, $b) = ($self->_shape($request, 0, $there), $self->_shape($request, 1, $absent));
    return if $a eq $b;
    $self->_find("not the same of what is another's\n  there:  " . $self->_describe($request, 0, $there) . "\n  absent: " . $self->_describe($request, 1, $absent)
            . "\n  differ: " . _difference($a, $b));
    return;
}

# Every address with a tenant's name in it, with the reserved words in place of the name, requested by users of tenants that have these
# words as their names.
sub _sweep {
    my ($self, $lines, $askers) = @_;
    for my $asker (grep { $_->{renamed} } @$askers) {
        for my $route (grep { $_->{method} eq 'GET' && $_->{path} =~ /\{tenant\}/ } @{ $self->{routes}{combined} }) {
            for my $word ('all', 'system') {
                my $namespaced = $route->{path} =~ /\{namespace\}/;
                my ($thing) = grep { ($_->{space} ? 1 : 0) == ($namespaced || $route->{path} !~ /\{name\}/ ? 1 : 0) && ($_->{group} ? 1 : 0) == ($route->{path} =~ /\{group\}/ ? 1 : 0) }
                    @{ $asker->{things} };
                $self->{used} = {};
                my $path = $route->{path} =~ s/\{tenant\}/$word/r =~ s/\{version\}/$route->{dialect} eq 'tenancy' ? 'v2.0' : 'v1'/er;
                for my $param (grep { $_->{style} eq 'template' } @{ $route->{params} }) {
                    $path =~ s/\{\Q$param->{name}\E\}/escape($self->_value($route, $param, $asker, $asker, $thing || $asker->{things}[0])->[0])/e;
                }
                $path .= '?dest=stranger' if $path =~ m{/action/move\z};
                $path .= '?resource=persistentvolumes/nothing' if $route->{dialect} eq 'tenancy' && $path =~ m{/history\z};
                my %headers = ('X-Auth-Token' => $asker->{token}{admin});
                $self->_ask($lines, { asker => $asker, who => $asker->{token}{admin}, endpoint => 'combined', method => 'GET', paths => [$path], headers => [\%headers], bodies => [] }, 0);
            }
        }
    }
    return;
}

# Can the parameters of this route name a thing of this kind?
sub _fits {
    my ($route, $thing) = @_;
    return 1 if $route->{path} !~ /\{(?:name|plural|namespace)\}/;
    return 0 if ($route->{path} =~ /\{namespace\}/ ? 1 : 0) != ($thing->{space} ? 1 : 0);
    return $route->{dialect} ne 'spaces' || ($route->{path} =~ /\{group\}/ ? 1 : 0) == ($thing->{group} ? 1 : 0);
}

# Requests every method of every path once with the victim's resources of each type; deletions come last. Each client sends a part.
sub _survey {
    my ($self, $lines, $askers, $client, $clients) = @_;
    my ($asker) = grep { !$_->{renamed} } @$askers or return;
    my ($victim) = grep { $_->{name} eq 'victim' } @{ $self->{tenants} };
    my $nth = 0;
    local $Tenure::Strangers::Words::plain = 1;
    for my $route (sort { ($a->{method} eq 'DELETE') <=> ($b->{method} eq 'DELETE') } @{ $self->{routes}{combined} }) {
        my %seen;
        for my $thing (@{ $victim->{things} }) {
            next if !_fits($route, $thing) || $seen{ $route->{path} =~ /\{(?:name|plural)\}/ ? "$thing->{plural}." . ($thing->{group} // '') : '' }++;
            next if $nth++ % $clients != $client;
            $self->_pair($lines, $self->_request([$asker], endpoint => 'combined', route => $route, focus => $victim, thing => $thing));
        }
        # What it had, and another has now.
        next if $route->{method} ne 'GET' || $route->{dialect} ne 'tenancy' || $route->{path} !~ m{\{plural\}/\{name\}\z} || $route->{path} =~ /\{namespace\}/;
        $self->_pair($lines, $self->_request([$asker], endpoint => 'combined', route => $route, focus => $asker, thing => $_)) for grep { $_->{moved} } @{ $asker->{things} };
    }
    return;
}

# Sends that many requests from that many clients at once, each for other tenants; before them, each client its part of what is
# asked in every run.
sub run {
    my ($self, $n, $clients) = @_;
    my @askers = grep { $_->{asks} } @{ $self->{tenants} };
    $clients = @askers if $clients > @askers;
    my @told = Tenure::Parallel::run($clients, sub {
        my ($client) = @_;
        srand $self->{seed} * 1000 + $client + 1;
        my @mine = @askers[grep { $_ % $clients == $client } 0 .. $#askers];
        $self->{told} = { requests => 0 };
        my %lines;
        $self->_sweep(\%lines, \@mine);
        $self->_survey(\%lines, \@mine, $client, $clients);
        my $surveyed = $self->{told}{requests};
        while ($self->{told}{requests} < $surveyed + $n / $clients) {
            $self->_pair(\%lines, $self->_request(\@mine));
        }
        return $json->encode($self->{told});
    });
    my %sum = (findings => []);
    for my $line (@told) {
        my $one = defined $line ? $json->decode($line) : { findings => ['a client ended early'], found => 1 };
        for my $name (keys %$one) {
            if ($name eq 'findings') { push @{ $sum{findings} }, @{ $one->{findings} } }
            else { $sum{$name} += $one->{$name} }
        }
    }
    return \%sum;
}

1;
