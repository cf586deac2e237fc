# SPDX-License-Identifier: Apache-2.0
# Bombs: small requests, and small things stored, that would make a process take much memory or time. Each is measured: bytes
# sent, bytes stored before, bytes answered, the peak resident memory of the workers and of the watch process, seconds, CPU seconds.
#
#   my $bombs = Tenure::Bombs->new(instance => $instance, seed => 7, share => 0.3, told => sub { my ($result) = @_; … });
#   $bombs->run($_) for $bombs->groups;   # each of a group with that probability
#   $bombs->generated(20);                # random combinations, by the seed
#
# A result is a hash: name, statuses (that it may have), status, text (the end of its answer), sent, stored, received, worker_kb,
# grown_kb (the workers' beyond what they had), watch_kb, seconds, cpu. With quick => 1 they are sent and not measured. The instance
# has the combined endpoint and the placement API, and noauth. The bombs themselves are in Bombs/*.pm.
package Tenure::Bombs;

use strict;
use warnings;

use List::Util qw(max);
use Time::HiRes ();

use Tenure::Memory qw(cpu_of is_watch_process peak_kb processes_of reset_peaks);

use parent map { "Tenure::Bombs::$_" } qw(Documents Spaces Services Generated);

# ---- measuring

# Counts what is sent and received.
package Tenure::Bombs::HTTP {
    use parent 'HTTP::Tiny';
    my %count = (sent => 0, received => 0);
    sub count { return \%count }

    sub request {
        my ($self, $method, $url, $option) = @_;
        $count{sent} += length($method) + length($url) + length($option->{content} // '') + length join '', %{ $option->{headers} // {} };
        my $answer = $self->SUPER::request($method, $url, $option);
        $count{received} += length($answer->{content} // '');
        return $answer;
    }
}

sub new {
    my ($class, %option) = @_;
    my $instance = $option{instance};
    my $self = bless { share => 1, told => sub { }, seed => 0, stored => 0, n => 0, %option }, $class;
    my $http = Tenure::Bombs::HTTP->new(max_redirect => 0, keep_alive => 0, timeout => 120, agent => 'bombs');
    my $counted = sub { my ($client) = @_; $client->{http} = $http; return $client };
    my $name = $self->{tenant} = $option{tenant} // 'acme';
    $self->{operator}  = $counted->($instance->combined('admin'));
    $self->{acme}      = $counted->($instance->combined("alice:$name"));
    $self->{reader}    = $counted->($instance->combined("rita:$name:reader"));
    $self->{placement} = $counted->($instance->placement);
    $self->{maps}      = "/v2.0/$name/namespaces/default/configmaps";
    for my $tenant ($name, "$name-other") {
        my $status = $self->{operator}->put("/v2.0/$tenant", json => { tenant => {} })->status;
        die "tenant $tenant: $status\n" if $status > 204;
    }
    srand $self->{seed};
    return $self;
}

# What a bomb stores before it goes off. Answers the last response.
sub store {
    my ($self, $code) = @_;
    my $count = Tenure::Bombs::HTTP->count;
    my $before = $count->{sent};
    my $answer = $code->();
    $self->{stored} += $count->{sent} - $before;
    return $answer;
}

# The bytes that were stored belong to the bombs until this is called.
sub forget_stored { my ($self) = @_; $self->{stored} = 0; return }

# Sends one, or leaves it out. statuses: that it may have.
sub bomb {
    my ($self, $name, $code, @statuses) = @_;
    return undef if rand() >= $self->{share};
    return $code->() if $self->{quick};
    my @all     = processes_of($self->{instance});
    my @watch   = grep { is_watch_process($_) } @all;
    my @workers = grep { !is_watch_process($_) } @all;
    my ($count, $cpu) = (Tenure::Bombs::HTTP->count, cpu_of(@workers));
    my ($sent, $received) = @$count{qw(sent received)};
    reset_peaks(@all);
    my $rss    = peak_kb(@workers);
    my $began  = Time::HiRes::time();
    my $answer = $code->();
    my $result = { name => $name, statuses => \@statuses, status => $answer->status, seconds => Time::HiRes::time() - $began };
    my $after = cpu_of(@workers);
    $result->{cpu} = max(0, map { $after->{$_} - $cpu->{$_} } grep { defined $after->{$_} && defined $cpu->{$_} } @workers);
    $result->{sent}      = $count->{sent} - $sent;
    $result->{received}  = $count->{received} - $received;
    $result->{stored}    = $self->{stored};
    $result->{worker_kb} = peak_kb(grep { !is_watch_process($_) } processes_of($self->{instance}));
    $result->{grown_kb}  = max(0, $result->{worker_kb} - $rss);
    $result->{watch_kb}  = peak_kb(@watch);
    $self->{stored} += $result->{sent} if $result->{status} == 201;
    $result->{text}      = substr $answer->text // '', 0, 400;
    $result->{answer}    = $answer;
    push @statuses, 404 if $self->{share} < 1; # what would have stored it may have been left out
    $self->{told}->($result);
    return $answer;
}

# One that others rely on: it is never left out.
sub needed { my ($self, @bomb) = @_; local $self->{share} = 1; return $self->bomb(@bomb) }

# ---- groups

my @groups = qw(json_patch json xml merges definitions columns openapi protobuf selectors lists moves metal providers params);

sub groups { return @groups }

sub run {
    my ($self, $group) = @_;
    $self->forget_stored;
    $self->$group;
    return;
}

# A body of that media type for a fresh name below the path.
sub fresh { my ($self) = @_; return 'b' . $self->{n}++ }

1;
