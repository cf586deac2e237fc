# SPDX-License-Identifier: Apache-2.0
# A load of writes and moves from several clients, each of which keeps a journal of its requests and answers; and the checker that reads
# the whole state afterwards and compares it with these journals.
#
# Tenants are "c0" … Each client owns some resources by name and alone changes their content; movers move any of them.
# So of each resource it is known what its content may be: the last that was acknowledged, or one that was sent later
# and whose answer got lost.
package Tenure::Chaos;

use strict;
use warnings;

use JSON::PP ();
use POSIX ();
use Test::More ();
use Time::HiRes ();

use Tenure::Instance;

my $json = JSON::PP->new->canonical;

# writers, movers: how many clients; tenants, resources (of each writer): of what.
sub new {
    my ($class, $instance, %option) = @_;
    my $self = bless { instance => $instance, admin => $instance->admin(timeout => 15), writers => 3, movers => 2, tenants => 4,
        resources => 6, dir => $instance->dir . '/chaos', %option }, $class;
    mkdir $self->{dir} or die "$self->{dir}: $!\n";
    $self->{admin}->make_tenant("c$_") for 0 .. $self->{tenants} - 1;
    # Sets of resources that always move together: a namespace with its content.
    for my $set (0 .. 1) {
        $self->{admin}->make("/v2.0/c0/namespaces/set$set");
        $self->{admin}->make("/v2.0/c0/namespaces/set$set/configmaps/m$_", { set => $set }) for 0 .. 4;
    }
    return $self;
}

# ---- clients: endless until the file "stop" is there

sub start {
    my ($self) = @_;
    $self->{pids} = [];
    $self->_client("writer$_", \&_write_on, $_) for 1 .. $self->{writers};
    $self->_client("mover$_",  \&_move_on,  $_) for 1 .. $self->{movers};
    $self->_client('space',    \&_move_sets, 0);
    return;
}

sub _client {
    my ($self, $name, $code, $number) = @_;
    my $pid = fork // die "fork: $!\n";
    if ($pid) {
        push @{ $self->{pids} }, $pid;
        return;
    }
    open my $journal, '>', "$self->{dir}/$name" or POSIX::_exit(1);
    $journal->autoflush(1);
    srand $number * 7919;
    $code->($self, $journal, $number);
    close $journal;
    POSIX::_exit(0);
}

sub _stopped { return -e "$_[0]{dir}/stop" }

sub stop {
    my ($self) = @_;
    Tenure::Instance::write_file("$self->{dir}/stop", '');
    waitpid $_, 0 for @{ $self->{pids} };
    return;
}

sub _tenant { my ($self) = @_; return 'c' . int rand $self->{tenants} }

# Finds out where a resource of this client is: asks again until there is an answer, and follows 301.
sub _find {
    my ($self, $name) = @_;
    for my $tenant (map { "c$_" } 0 .. $self->{tenants} - 1) {
        my $get = $self->{admin}->get("/v2.0/$tenant/persistentvolumes/$name");
        return $tenant if $get->status == 200;
        return $1 if $get->status == 301 && $get->location =~ m{/v2\.0/(\w+)/persistentvolumes/};
    }
    return undef;
}

# The journal: a line before each request, and one for each answer. Values grow, so the checker knows which of two is the later one.
sub _write_on {
    my ($self, $journal, $number) = @_;
    my %at;
    my $value = 0;
    until ($self->_stopped) {
        my $name = "w$number-" . int rand $self->{resources};
        $value++;
        if (!defined $at{$name}) {
            # If-None-Match: if the answer got lost, the repeated request creates no second resource.
            my $home = $self->_find($name) // "c$number";
            $home = 'c0' if $number >= $self->{tenants};
            print {$journal} "send $name $value\n";
            my $put = $self->{admin}->put("/v2.0/$home/persistentvolumes/$name", json => { v => $value }, if_none_match => '*');
            print {$journal} "done $name $value\n" if $put->status == 201;
            $at{$name} = $home if $put->status == 201 || $put->status == 412;
            next;
        }
        my $url = "/v2.0/$at{$name}/persistentvolumes/$name";
        my $get = $self->{admin}->get($url);
        if ($get->status == 301) {
            ($at{$name}) = $get->location =~ m{/v2\.0/(\w+)/persistentvolumes/};
            next;
        }
        next if $get->status != 200;
        print {$journal} "send $name $value\n";
        my $put = $self->{admin}->put($url, json => { v => $value }, if_match => $get->etag);
        print {$journal} "done $name $value\n" if $put->status == 200;
        print {$journal} "no $name $value\n"   if $put->status == 412 || $put->status == 409;
    }
    return;
}

sub _move_on {
    my ($self, $journal, $number) = @_;
    until ($self->_stopped) {
        my ($from, $to) = ($self->_tenant, $self->_tenant);
        next if $from eq $to;
        my $path = "/v2.0/$from/action/move?dest=$to";
        my $list = $self->{admin}->get("/v2.0/$from/persistentvolumes");
        my @names = map { $_->{metadata}{name} } @{ ($list->status == 200 ? $list->json->{resources} : undef) // [] };
        if (@names && rand() < 0.7) {
            $path = "/v2.0/$from/persistentvolumes/$names[rand @names]/action/move?dest=$to";
        }
        my @condition;
        if (rand() < 0.4) {
            my $action = $self->{admin}->get($path);
            @condition = (if_match => $action->etag) if $action->status == 200;
        }
        push @condition, prefer => 'respond-async' if rand() < 0.1;
        my $post = $self->{admin}->post($path, @condition);
        print {$journal} $post->status . " $path\n";
    }
    return;
}

# The resources of a namespace are in one tenant together, at every moment.
sub _move_sets {
    my ($self, $journal) = @_;
    until ($self->_stopped) {
        my $set = int rand 2;
        my ($from, $to) = ($self->_tenant, $self->_tenant);
        next if $from eq $to;
        my $post = $self->{admin}->post("/v2.0/$from/namespaces/set$set/action/move?dest=$to");
        print {$journal} $post->status . " set$set $from $to\n";
        my $list = $self->{admin}->get("/v2.0/$to/namespaces/set$set/configmaps");
        my $n = $list->status == 200 ? scalar @{ $list->json->{resources} } : 0;
        print {$journal} "torn set$set in $to: $n\n" if $n != 0 && $n != 5;
    }
    return;
}

# ---- faults

# SIGKILL for a worker or a mover of some endpoint.
sub kill_worker {
    my ($self) = @_;
    my @pids = map { Tenure::Instance::children_of($_) } grep { defined } map { $self->{instance}->master_pid($_) } qw(admin service combined host);
    return @pids ? kill KILL => $pids[rand @pids] : 0;
}

sub kill_database {
    my ($self) = @_;
    $self->{instance}->database('kill');
    $self->{instance}->database('start');
    return;
}

# ---- the checker

sub _journals {
    my ($self) = @_;
    my %may;
    my $acknowledged = 0;
    for my $number (1 .. $self->{writers}) {
        for my $line (split /\n/, Tenure::Instance::read_file("$self->{dir}/writer$number")) {
            my ($what, $name, $value) = split / /, $line;
            if ($what eq 'send')    { $may{$name}{$value} = 1 }
            elsif ($what eq 'no')   { delete $may{$name}{$value} }
            elsif ($what eq 'done') {
                # Whatever the client sent before this request has ended: it goes on only after an answer, or after it has asked what happened.
                $may{$name} = { $value => 1 };
                $may{$name}{must} = 1;
                $acknowledged++;
            }
        }
    }
    return (\%may, $acknowledged);
}

# Waits until no move is queued any more.
sub settle {
    my ($self) = @_;
    return Tenure::Instance::wait_until(
        sub { ($self->{instance}->sql_value(q(SELECT COUNT(*) FROM moves WHERE state = 'queued')) // 1) == 0 }, 60);
}

# The whole state, by SQL and by the API; each finding is a line.
sub findings {
    my ($self) = @_;
    my ($may, $acknowledged) = $self->_journals;
    my ($instance, @wrong) = ($self->{instance});
    $self->{acknowledged} = $acknowledged;
    my %found;
    for my $row ($instance->sql(<<'SQL')) {
SELECT r.name, t.name, r.body FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE r.live = 1 AND r.name LIKE 'w%' AND t.live = 1
SQL
        my ($name, $tenant, $body) = @$row;
        push @{ $found{$name} }, $tenant;
        my $value = $json->decode($body)->{v};
        push @wrong, "$name has $value, which was not its last" unless $may->{$name} && $may->{$name}{$value};
    }
    for my $name (sort keys %$may) {
        my $n = @{ $found{$name} // [] };
        push @wrong, "$name was acknowledged and is gone" if $n == 0 && $may->{$name}{must};
        push @wrong, "$name is in $n tenants: @{ $found{$name} }" if $n > 1;
    }
    push @wrong, $self->_sets, $self->_forwards(\%found), $self->_change_log, $self->_torn;
    my ($code, $text) = $instance->manage('doctor');
    push @wrong, "doctor: $text" if $code != 0;
    return @wrong;
}

sub _torn {
    my ($self) = @_;
    return grep { /\Atorn/ } split /\n/, Tenure::Instance::read_file("$self->{dir}/space");
}

# Each set is whole, in one tenant, in its namespace. After a merge another tenant may have the namespace's name, deleted.
sub _sets {
    my ($self) = @_;
    my @wrong;
    for my $set (0 .. 1) {
        my @rows = $self->{instance}->sql(<<"SQL");
SELECT t.name, COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE r.live = 1 AND r.namespace = 'set$set' GROUP BY t.name
SQL
        push @wrong, "set$set: " . join ', ', map { "$_->[1] in $_->[0]" } @rows if @rows != 1 || $rows[0][1] != 5;
    }
    return @wrong;
}

# Every address where a resource has been answers 301 to where it is, and no other.
sub _forwards {
    my ($self, $found) = @_;
    my @wrong;
    for my $name (sort keys %$found) {
        my $home = $found->{$name}[0];
        for my $tenant (map { "c$_" } 0 .. $self->{tenants} - 1) {
            my $get = $self->{admin}->get("/v2.0/$tenant/persistentvolumes/$name");
            my $been = $self->{instance}->sql_value(<<"SQL");
SELECT COUNT(*) FROM changes c JOIN tenants t ON t.id IN (c.tenant_id, c.from_tenant_id) WHERE c.name = '$name' AND t.name = '$tenant'
SQL
            my $want = $tenant eq $home ? 200 : $been ? 301 : 404;
            push @wrong, "$name: $tenant answers " . $get->status . ", not $want" if $get->status != $want;
            push @wrong, "$name: $tenant leads to " . $get->location
                if $get->status == 301 && ($get->location // '') !~ m{/v2\.0/\Q$home\E/persistentvolumes/\Q$name\E\z};
        }
    }
    return @wrong;
}

# The change log has each revision of each resource, without a gap, and leads from its first place to its present one.
sub _change_log {
    my ($self) = @_;
    my @wrong;
    my %last;
    for my $row ($self->{instance}->sql(<<'SQL')) {
SELECT HEX(c.uid), c.verb, c.revision, c.tenant_id, COALESCE(c.from_tenant_id, 0), COALESCE(HEX(c.etag_before), ''), COALESCE(HEX(c.etag_after), '')
FROM changes c WHERE c.resource_id IS NOT NULL ORDER BY c.uid, c.id
SQL
        my ($uid, $verb, $revision, $tenant, $from, $before, $after) = @$row;
        my $last = $last{$uid};
        if ($last && $verb ne 'deleted') {
            push @wrong, "$uid: revision $revision follows $last->{revision}" if $revision != $last->{revision} + 1;
            push @wrong, "$uid: $verb at $revision: etag before is not the one after" if $before ne $last->{after};
            push @wrong, "$uid: moved from $from, was in $last->{tenant}" if $verb eq 'moved' && $from != $last->{tenant};
        }
        $last{$uid} = { revision => $revision, after => $after, tenant => $tenant };
    }
    return @wrong;
}

1;
