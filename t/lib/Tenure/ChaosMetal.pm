# SPDX-License-Identifier: Apache-2.0
# Clients that all change the same node at once, while Tenure::Chaos kills workers and the database; each reports the answers that it
# got, and the checker compares the node and its change log with all of these.
#
#   my $chaos = Tenure::ChaosMetal->new($instance, node => 'n1', clients => 8, total => 200);
#   $chaos->load('increments', sub { $chaos->kill_worker });    # calls this again and again while the load lasts
#   my @findings = $chaos->findings;
package Tenure::ChaosMetal;

use strict;
use warnings;

use parent 'Tenure::Chaos';

use JSON::PP ();
use List::Util ();
use POSIX ();
use Time::HiRes ();

use Tenure::Instance;
use Tenure::Metal;
use Tenure::Parallel;

my $json = JSON::PP->new->canonical;
my @told = qw(done found vain unknown refused);

# node: its name; clients: how many there are; total: how many changes they make together.
sub new {
    my ($class, $instance, %option) = @_;
    my $self = bless { instance => $instance, metal => Tenure::Metal->new($instance->admin(timeout => 15), '1.82'),
        dir => $instance->dir . "/chaos-$option{node}", total => 0, %option }, $class;
    mkdir $self->{dir} or die "$self->{dir}: $!\n";
    my $node = $self->{metal}->make('nodes', { driver => 'fake-hardware', name => $self->{node},
        extra => { counter => 0, by => {}, list => [], keys => {} } });
    @$self{qw(uuid first)} = @$node{qw(uuid etag)};
    return $self;
}

# ---- what a client does. Each function returns how often each of these happened:
#   done     the answer said that the change was made
#   found    there was no answer; the client looked, and the change was there
#   vain     412: another client had changed the node meanwhile
#   unknown  no answer, or one that says that the outcome is unknown
#   refused  503 that says that nothing was done

sub _patch {
    my ($self, $operations, %option) = @_;
    my $answer = $self->{metal}->patch("/nodes/$self->{node}", $operations, %option);
    return 'done' if $answer->status == 200; # the node isn't read, since it grows
    my $text = $answer->json->{error_message} // '';
    my $what = $answer->status == 412 ? 'vain'
        : $answer->status == 503 && length $text && $text !~ /not known/ ? 'refused' : 'unknown';
    die $answer->describe . "\n" if $answer->status < 500 && $what eq 'unknown';
    return $what;
}

sub _read {
    my ($self) = @_;
    for (1 .. 2000) {
        my $answer = $self->{metal}->get("/nodes/$self->{node}");
        return $answer->json if $answer->status == 200;
        die $answer->describe . "\n" if $answer->status < 500;
        Time::HiRes::sleep(0.02 + rand 0.05);
    }
    die "never served\n";
}

# Reads the node, adds one, and stores this client's count beside it: so it recognises its own change if no answer came.
sub _increments {
    my ($self, $client, $share, $told) = @_;
    for my $mine (1 .. $share) {
        while (1) {
            my $node = $self->_read;
            if (($node->{extra}{by}{"c$client"} // 0) == $mine) {
                $told->{found}++;
                last;
            }
            my $what = $self->_patch([[replace => '/extra/counter', $node->{extra}{counter} + 1],
                [add => "/extra/by/c$client", $mine]], if_match => $node->{etag});
            $told->{$what}++;
            last if $what eq 'done';
        }
    }
    return;
}

# Sets keys of its own without a precondition, each again and again until an answer says that it is set.
sub _adds {
    my ($self, $client, $share, $told) = @_;
    for my $mine (1 .. $share) {
        my $what = '';
        while ($what ne 'done') {
            $what = $self->_patch([[add => "/extra/keys/k$client-$mine", $mine]]);
            $told->{$what}++;
        }
    }
    return;
}

# Appends to a list, each element once, and notes what the answer was.
sub _appends {
    my ($self, $client, $share, $told) = @_;
    open my $journal, '>', "$self->{dir}/appends$client" or die "$!\n";
    for my $mine (1 .. $share) {
        my $what = $self->_patch([[add => '/extra/list/-', "$client-$mine"]]);
        $told->{$what}++;
        print {$journal} "$what $client-$mine\n";
        Time::HiRes::sleep(0.02) if $what ne 'done';
    }
    close $journal or die "$!\n";
    return;
}

my %load = (increments => \&_increments, adds => \&_adds, appends => \&_appends);

# Runs all clients, and calls harm->() again and again meanwhile. Returns the sums of what they report; undef if one did not come to its end.
sub load {
    my ($self, $kind, $harm) = @_;
    my $out = "$self->{dir}/$kind.json";
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        my @said = Tenure::Parallel::run($self->{clients}, sub {
            my ($client) = @_;
            my %told = map { $_ => 0 } @told;
            srand;
            $load{$kind}->($self, $client, $self->{total} / $self->{clients}, \%told);
            return join ' ', @told{@told};
        });
        Tenure::Instance::write_file($out, join '', map { "$_\n" } grep { defined } @said);
        POSIX::_exit(0);
    }
    $harm->() while waitpid($pid, POSIX::WNOHANG()) != $pid;
    my @lines = split /\n/, Tenure::Instance::read_file($out);
    return undef if @lines != $self->{clients};
    my %sum;
    for my $line (@lines) {
        my @n = split / /, $line;
        $sum{ $told[$_] } += $n[$_] for 0 .. $#told;
    }
    $self->{did}{$kind} = \%sum;
    return \%sum;
}

# ---- the checker

# Compares the node and its change rows with all answers that the clients got; each finding is a line.
sub findings {
    my ($self) = @_;
    my $extra = $self->_read->{extra};
    my ($did, $total) = @$self{qw(did total)};
    my @wrong;
    if ($did->{increments}) {
        push @wrong, "the counter is $extra->{counter}, not $total" if $extra->{counter} != $total;
        my $by = List::Util::sum(0, values %{ $extra->{by} });
        push @wrong, "the clients' own counts make $by, not $total" if $by != $total;
    }
    if ($did->{adds}) {
        my $keys = keys %{ $extra->{keys} };
        push @wrong, "$keys keys, not $total" if $keys != $total;
    }
    push @wrong, $self->_wrong_in_list($extra->{list}) if $did->{appends};
    push @wrong, $self->_wrong_in_story, $self->_change_log;
    my ($code, $text) = $self->{instance}->manage('doctor');
    push @wrong, "doctor: $text" if $code != 0;
    return @wrong;
}

sub _wrong_in_list {
    my ($self, $list) = @_;
    my (%times, @wrong);
    $times{$_}++ for @$list;
    for my $line (map { split /\n/, Tenure::Instance::read_file($_) } glob "$self->{dir}/appends*") {
        my ($what, $item) = split / /, $line;
        my $n = delete $times{$item} // 0;
        push @wrong, "$item was told $what and is there $n times"
            if $what eq 'done' ? $n != 1 : $what eq 'unknown' ? $n > 1 : $n != 0;
    }
    push @wrong, map { "$_ is there and nobody sent it" } sort keys %times;
    return @wrong;
}

# Each change has one row, of a request of its own: as many as the document counts. The last row has the etag that clients see.
sub _wrong_in_story {
    my ($self) = @_;
    my $node  = $self->_read;
    my $extra = $node->{extra};
    my $where = "FROM changes WHERE uid = UNHEX('" . ($self->{uuid} =~ s/-//gr) . "') AND verb = 'updated'";
    my $rows  = $self->{instance}->sql_value("SELECT COUNT(*) $where");
    my $want  = $extra->{counter} + keys(%{ $extra->{keys} }) + @{ $extra->{list} };
    my $ids   = $self->{instance}->sql_value("SELECT COUNT(DISTINCT request_id) $where");
    my ($made) = $self->{instance}->sql("SELECT LOWER(HEX(etag_after)), tenant_id, moves $where ORDER BY id DESC LIMIT 1");
    my $last = 'W/' . $self->{instance}->shown_etag('nodes', @{$made});
    my @wrong;
    push @wrong, "$rows change rows, but $want changes" if $rows != $want;
    push @wrong, "$rows change rows of $ids requests" if $rows != $ids;
    push @wrong, "the etag is $node->{etag}, the last change made $last" if $node->{etag} ne $last;
    return @wrong;
}

1;
