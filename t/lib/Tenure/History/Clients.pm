# SPDX-License-Identifier: Apache-2.0
# Clients that collide on a few names, write down what they asked and were told, and the check of that (Tenure::History).
#
#   my $load = Tenure::History::Clients->new(instance => $instance, clients => 8, seed => 7);
#   $load->start;
#   ... inject faults, or just wait ...
#   $load->stop;
#   diag $_ for $load->findings;      # texts; none: a serial order explains all
#   my $told = $load->told;           # { operations, uncertain, moves, ..., configurations }
#
# Options: instance, or urls (a list of admin endpoints: the clients are dealt out among them) with token; clients; groups (1 for each 6
# clients); tenants and names in each group (3 and 3); claims (1: also groups of clients that claim from a resource provider; needs
# instance's placement port); seed; dir (for the files); timeout (seconds that a client waits for an answer); pause (0;
# seconds that a client waits on average between two operations, as clients do that are not there to saturate the machine).
#
# The clients are dealt out among groups with tenants of their own. No operation concerns two groups, so a service is linearizable if
# each group's history is (Herlihy and Wing 1990, theorem 1).
package Tenure::History::Clients;

use strict;
use warnings;

use JSON::PP ();
use POSIX ();
use Time::HiRes ();

use Tenure::Client;
use Tenure::History;
use Tenure::History::Claims;
use Tenure::History::Registry;
use Tenure::Instance;

my $json = JSON::PP->new->canonical->utf8;
my $type = 'persistentvolumes';

sub new {
    my ($class, %option) = @_;
    my $self = bless { clients => 8, tenants => 3, names => 3, seed => 1, timeout => 20, prefix => 'h', pause => 0, %option }, $class;
    $self->{groups} //= int(($self->{clients} + 5) / 6);
    $self->{dir} //= $self->{instance}->dir . "/histories-$self->{prefix}";
    $self->{urls}  //= [$self->{instance}->env('TENURE_ADMIN_URL')];
    $self->{token} //= $self->{instance}->operator_token;
    mkdir $self->{dir} or die "$self->{dir}: $!\n";
    my $admin = $self->_client(0);
    for my $group (0 .. $self->{groups} - 1) {
        if ($self->_claims($group)) { Tenure::History::Claims::prepare($self, $group) }
        else                        { $admin->make_tenant($_) for $self->_tenants($group) }
    }
    return $self;
}

# With claims, the last group of each four (and of less) has them.
sub _claims { my ($self, $group) = @_; return $self->{claims} && ($group % 4 == 3 || $group == $self->{groups} - 1) }

sub _tenants { my ($self, $group) = @_; return map { "$self->{prefix}$group$_" } ('a' .. 'z')[0 .. $self->{tenants} - 1] }
sub _names   { my ($self) = @_; return map { "n$_" } 1 .. $self->{names} }

sub _client {
    my ($self, $number) = @_;
    my $url = $self->{urls}[$number % @{ $self->{urls} }];
    return Tenure::Client->new(url => $url, token => $self->{token}, timeout => $self->{timeout});
}

sub start {
    my ($self) = @_;
    for my $number (0 .. $self->{clients} - 1) {
        my $pid = fork // die "fork: $!\n";
        if ($pid) {
            push @{ $self->{pids} }, $pid;
            next;
        }
        $SIG{$_} = 'DEFAULT' for qw(TERM INT HUP PIPE);
        eval { $self->_work($number); 1 } or do {
            open my $out, '>', "$self->{dir}/died.$number";
            print {$out} $@;
        };
        POSIX::_exit(0);
    }
    return;
}

# Ends the clients, each after its operation.
sub stop {
    my ($self) = @_;
    Tenure::Instance::write_file("$self->{dir}/stop", '');
    waitpid $_, 0 for @{ $self->{pids} };
    $self->{pids} = [];
    return;
}

# Until each client has done so many operations (that alone for tests without faults), or was told so.
sub _work {
    my ($self, $number) = @_;
    srand $self->{seed} * 1009 + $number;
    my $group = $number % $self->{groups};
    open my $out, '>', "$self->{dir}/client.$number" or die "$!\n";
    $out->autoflush(1);
    my $me = { number => $number, group => $group, http => $self->_client($number), out => $out, n => 0, etag => {}, load => $self };
    my $turn = $self->_claims($group) ? \&Tenure::History::Claims::turn : \&_turn;
    until (-e "$self->{dir}/stop" || ($self->{operations} && $me->{n} >= $self->{operations})) {
        Time::HiRes::sleep(rand 2 * $self->{pause}) if $self->{pause} > 0;
        $turn->($me);
    }
    return;
}

sub now { return Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) }

# Sends a request for an operation, and writes both down. read(answer): adds to the operation what an answer below 500 tells.
# A method of the load, so that Claims can call it.
sub ask {
    my (undef, $me, $op, $read, @request) = @_;
    $op->{client} = $me->{number};
    $op->{id}     = 'c' . $me->{number} . '-' . ++$me->{n};
    $op->{begin}  = now();
    my $answer = $me->{http}->request(@request);
    $op->{status}  = $answer->status;
    $op->{request} = $answer->request_id;
    # Nobody knows what became of it. 429 is said before anything is done.
    if ($op->{status} >= 500) {
        $op->{said} = substr $answer->text, 0, 200;
        $me->{is_uncertain} = 1;
    }
    elsif ($op->{status} != 429) {
        $op->{end} = now();
        $read->($op, $answer);
    }
    print { $me->{out} } $json->encode($op), "\n" if $op->{status} != 429;
    # After an uncertain answer the client waits until it is served again, or there would be too many of them.
    while ($me->{is_uncertain} || $op->{status} == 429) {
        Time::HiRes::sleep(0.05 + rand 0.1 + $me->{load}{pause});
        last if -e "$me->{load}{dir}/stop" || $me->{http}->get('/v2.0/')->status < 500;
    }
    $me->{is_uncertain} = 0;
    return $answer;
}

# ---- the registry's operations

sub _document {
    my ($me, $op, $answer) = @_;
    my $home = $answer->location // '';
    if ($op->{status} == 200 || $op->{status} == 201) {
        my $told = $answer->json;
        @$op{qw(uid revision content etag)} = (@{ $told->{metadata} }{qw(uid resourceVersion)}, join('+', $told->{base}, @{ $told->{log} }), $answer->etag);
        $me->{etag}{"$op->{name}"} = $op->{etag};
    }
    elsif ($home =~ m{/v2\.0/([^/?]+)}) { $op->{home} = $1 }
    return;
}

sub _list_of {
    my ($op, $answer) = @_;
    return if $op->{status} != 200;
    $op->{all} = { map { $_->{metadata}{name} => [@{ $_->{metadata} }{qw(uid)}, join('+', $_->{base}, @{ $_->{log} }), $_->{metadata}{resourceVersion}] } @{ $answer->json->{resources} } };
    return;
}

# Of all tenants, those of this group.
sub _survey_of {
    my ($me, $op, $answer) = @_;
    return if $op->{status} != 200;
    my %is_mine = map { $_ => 1 } $me->{load}->_tenants($me->{group});
    $op->{all} = { map { $is_mine{ $_->{metadata}{tenant} } ? ("$_->{metadata}{tenant}/$_->{metadata}{name}" => [$_->{metadata}{uid}, join '+', $_->{base}, @{ $_->{log} }]) : () }
        @{ $answer->json->{items} } };
    return;
}

sub _look_of {
    my ($op, $answer) = @_;
    if ($op->{status} != 200) {
        $op->{home} = $1 if ($answer->location // '') =~ m{/v2\.0/([^/?]+)};
        return;
    }
    my $move = $answer->json->{move};
    $op->{all}     = { map { $_->{id} =~ s{.*/}{}r => $_->{uid} } @{ $move->{resources} } };
    $op->{counts}  = { map { $_->{id} => $_->{resources} } @{ $move->{tenants} } };
    $op->{blocked} = [map { $_->{resource} =~ s{.*/}{}r } @{ $move->{blockers} // [] }];
    return;
}

sub _one { return $_[rand @_] }

sub _turn {
    my ($me) = @_;
    my $load = $me->{load};
    my @tenants = $load->_tenants($me->{group});
    my ($tenant, $to) = sort { rand() <=> 0.5 } @tenants;
    my $name = _one($load->_names);
    # Clients stay where resources are, mostly.
    $tenant = $me->{home}{$name} if defined $me->{home}{$name} && rand() < 0.8;
    ($to) = grep { $_ ne $tenant } _one(@tenants), @tenants;
    my $path = "/v2.0/$tenant/$type/$name";
    my %at   = (tenant => $tenant, name => $name);
    my $read = sub { _document($me, @_) };
    my $etag = rand() < 0.5 ? $me->{etag}{$name} : undef;
    my @if   = defined $etag ? (if_match => $etag) : ();
    my $draw = rand;
    my $answer;
    if ($draw < 0.03) {
        $load->ask($me, { do => 'survey' }, sub { _survey_of($me, @_) }, 'GET', "/api/v1/tenants/all/$type");
        return;
    }
    if    ($draw < 0.25) { $answer = $load->ask($me, { do => 'get', %at }, $read, 'GET', $path) }
    elsif ($draw < 0.33) { $load->ask($me, { do => 'list', tenant => $tenant }, \&_list_of, 'GET', "/v2.0/$tenant/$type"); return }
    elsif ($draw < 0.47) {
        my ($value, $is_new) = ('p' . $me->{number} . 'x' . ($me->{n} + 1), rand() < 0.4);
        $answer = $load->ask($me, { do => 'put', %at, value => $value, if => $is_new ? '*none' : $etag }, $read, 'PUT', $path,
            json => { base => $value, log => [] }, $is_new ? (if_none_match => '*') : @if);
    }
    elsif ($draw < 0.67) {
        my $value = 'a' . $me->{number} . 'x' . ($me->{n} + 1);
        $answer = $load->ask($me, { do => 'append', %at, value => $value, if => $etag }, $read, 'PATCH', $path,
            body => $json->encode([{ op => 'add', path => '/log/-', value => $value }]), type => 'application/json-patch+json', @if);
    }
    elsif ($draw < 0.73) { $answer = $load->ask($me, { do => 'delete', %at, if => $etag }, $read, 'DELETE', $path, @if) }
    elsif ($draw < 0.79) { $answer = $load->ask($me, { do => 'recover', %at }, $read, 'POST', "$path/action/recover") }
    elsif ($draw < 0.89) { $answer = $load->ask($me, { do => 'move', %at, to => $to }, $read, 'POST', "$path/action/move?dest=$to") }
    elsif ($draw < 0.94) {
        my $all = $load->ask($me, { do => 'move', tenant => $tenant, to => $to }, $read, 'POST', "/v2.0/$tenant/action/move?dest=$to");
        $me->{home} = { map { $_ => $to } $load->_names } if $all->status == 303;
        return;
    }
    else {
        my %what = rand() < 0.5 ? (tenant => $tenant) : %at;
        my $action = (defined $what{name} ? $path : "/v2.0/$tenant") . "/action/move?dest=$to";
        my $op = { do => 'look', %what, to => $to };
        my $look = $load->ask($me, $op, \&_look_of, 'GET', $action, accept => 'application/json');
        return if $look->status != 200;
        $load->ask($me, { do => 'move', %what, to => $to, if => $op->{id} }, $read, 'POST', $action, if_match => $look->etag);
        return;
    }
    if ($answer->status == 301 && ($answer->location // '') =~ m{/v2\.0/([^/?]+)}) { $me->{home}{$name} = $1 }
    elsif ($answer->status == 303)                                                 { $me->{home}{$name} = $to }
    elsif ($answer->status < 300)                                                  { $me->{home}{$name} = $tenant }
    elsif ($answer->status == 404 || $answer->status == 410)                       { delete $me->{home}{$name} }
    return;
}

# ---- afterwards

sub history {
    my ($self, $group) = @_;
    my @history;
    for my $number (grep { $_ % $self->{groups} == $group } 0 .. $self->{clients} - 1) {
        push @history, @{ Tenure::History::load("$self->{dir}/client.$number") };
    }
    # A read that was told nothing tells nothing.
    return [sort { $a->{begin} <=> $b->{begin} } grep { defined $_->{end} || $_->{do} !~ /\A(?:get|list|survey|look|read)\z/ } @history];
}

# When clients were told that a write was done, in seconds of now(), in no order.
sub ends_of_writes {
    my ($self) = @_;
    return map { $_->{end} } grep { defined $_->{end} && $_->{do} =~ /\A(?:put|append|delete|recover|move)\z/ && $_->{status} =~ /\A(?:20[0-4]|303)\z/ }
        map { @{ Tenure::History::load("$self->{dir}/client.$_") } } 0 .. $self->{clients} - 1;
}

sub model {
    my ($self, $group) = @_;
    return Tenure::History::Claims->new if $self->_claims($group);
    return Tenure::History::Registry->new(tenants => [$self->_tenants($group)], names => [$self->_names]);
}

# What no serial order explains, and what contradicts the change log. A group with a finding leaves its history in dir/group.N.
sub findings {
    my ($self, %option) = @_;
    my %told = map { $_ => 0 } qw(operations uncertain configurations);
    my @wrong = map { "a client died: " . Tenure::Instance::read_file($_) } glob "$self->{dir}/died.*";
    for my $group (0 .. $self->{groups} - 1) {
        my ($model, $history) = ($self->model($group), $self->history($group));
        $told{operations} += @$history;
        for my $op (@$history) {
            $told{uncertain}++ if !defined $op->{end};
            $told{"$op->{do} $op->{status}"}++;
        }
        my @found = $model->learn($history);
        my $text  = Tenure::History::check($model, $history, told => \%told, %option);
        push @found, $text if defined $text;
        Tenure::History::save("$self->{dir}/group.$group", $history) if @found;
        push @wrong, map { "group $group: $_" } @found;
    }
    $self->{told} = \%told;
    return @wrong;
}

sub told { return $_[0]{told} }

1;
