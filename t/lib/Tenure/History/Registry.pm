# SPDX-License-Identifier: Apache-2.0
# The model of a registry for Tenure::History: tenants, names, and a resource of one type at each address, as doc/api.md tells it.
#
# An operation is a hash with
#   do       get list survey (a list over all tenants) put append delete recover look move
#   tenant, name   the address; without a name, list, look and move mean all of the tenant
#   to       the destination of look and move
#   value    a word that no other operation has: what put writes, and append adds to it
#   if       '*none' (If-None-Match: *), an etag (If-Match), or for move the number of the client's look; undef: unguarded
#   status   what was told; with it uid, content, revision, etag; home (where a 301 or a 303 leads); all (of a list: name =>
#            [uid, content, revision]; of a survey: tenant/name => [uid, content]; of a look: name => uid); counts, blocked (of a look)
#
# The content of a resource is the value of the last put and those of all appends since then, joined by '+'. So it names each write
# that it stands on, and a write that was done twice shows.
package Tenure::History::Registry;

use strict;
use warnings;

# tenants, names: lists.
sub new {
    my ($class, %option) = @_;
    my $self = bless {%option}, $class;
    @{ $self->{tenant_at} }{ @{ $self->{tenants} } } = 0 .. $#{ $self->{tenants} };
    @{ $self->{name_at} }{ @{ $self->{names} } }     = 0 .. $#{ $self->{names} };
    $self->{content_of} = {};    # etag => content
    $self->{etag_of}    = {};    # content => etag
    $self->{uid_of}     = {};    # the value of a resource's first put => uid
    return $self;
}

# Reads off what the answers say about etags and uids, each of which belongs to one content or one resource for ever. Returns what
# contradicts that.
sub learn {
    my ($self, $history) = @_;
    my @wrong;
    for my $op (@$history) {
        my @seen = [@$op{qw(uid content etag)}];
        push @seen, map { [@{ $_ }[0, 1], undef] } values %{ $op->{all} } if $op->{do} =~ /\A(?:list|survey)\z/ && $op->{all};
        for my $seen (@seen) {
            my ($uid, $content, $etag) = @$seen;
            next if !defined $content;
            if (defined $etag) {
                push @wrong, "$op->{id}: the etag $etag has two contents: $content and $self->{content_of}{$etag}"
                    if ($self->{content_of}{$etag} //= $content) ne $content;
                push @wrong, "$op->{id}: the content $content has two etags: $etag and $self->{etag_of}{$content}"
                    if ($self->{etag_of}{$content} //= $etag) ne $etag;
            }
            my ($value) = $content =~ /\A([^+]*)/;
            push @wrong, "$op->{id}: the value $value is in two resources: $uid and $self->{uid_of}{$value}"
                if defined $uid && ($self->{uid_of}{$value} //= $uid) ne $uid;
            my %times;
            push @wrong, "$op->{id}: a write was done twice: $content" if grep { $times{$_}++ } split /\+/, $content;
        }
    }
    return @wrong;
}

# ---- states
#
# A list with an item for each address, name by name: "what is there|what was deleted there", and at the end what was looked at.
# What is there: '' never anything, 'L,uid,content,revision' a resource, 'F,uid' one that left, 'D' one that was deleted.
# What was deleted there: uid,content,revision of each, joined by '/', the last one first.

sub start { my ($self) = @_; return [('|') x (@{ $self->{tenants} } * @{ $self->{names} }), ''] }

sub key { my (undef, $state) = @_; return join ' ', @$state }

sub describe {
    my ($self, $state) = @_;
    my @there;
    for my $name (@{ $self->{names} }) {
        for my $tenant (@{ $self->{tenants} }) {
            my $item = $state->[$self->_at($tenant, $name)];
            push @there, "$tenant/$name=$item" if $item ne '|';
        }
    }
    return join(' ', @there) || 'nothing';
}

sub _at {
    my ($self, $tenant, $name) = @_;
    return $self->{name_at}{$name} * @{ $self->{tenants} } + $self->{tenant_at}{$tenant};
}

sub _there {
    my ($self, $state, $tenant, $name) = @_;
    return split /,/, ($state->[$self->_at($tenant, $name)] =~ /\A([^|]*)/)[0];
}

# The state with something else at an address; what was deleted there stays unless it is given.
sub _with {
    my ($self, $state, $tenant, $name, $there, $deleted) = @_;
    my $at  = $self->_at($tenant, $name);
    my @new = @$state;
    $deleted //= ($new[$at] =~ /\|(.*)/)[0];
    $new[$at] = "$there|$deleted";
    return \@new;
}

sub _live_names {
    my ($self, $state, $tenant) = @_;
    return grep { $state->[$self->_at($tenant, $_)] =~ /\AL/ } @{ $self->{names} };
}

# Where the resource with this uid lives; undef: nowhere.
sub _home_of {
    my ($self, $state, $uid, $name) = @_;
    for my $tenant (@{ $self->{tenants} }) {
        return $tenant if $state->[$self->_at($tenant, $name)] =~ /\AL,\Q$uid\E,/;
    }
    return undef;
}

# ---- what a serial service does

# Does the answer tell this uid, content and revision, as far as it tells any?
sub _tells {
    my ($op, $uid, $content, $revision) = @_;
    return 0 if defined $op->{uid}      && $uid !~ /\A\?/ && $op->{uid} ne $uid;
    return 0 if defined $op->{content}  && $op->{content} ne $content;
    return 0 if defined $op->{revision} && $op->{revision} != $revision;
    return 1;
}

# Where there is no resource: 404, 410, or 301 and where it is.
sub _is_gone {
    my ($self, $state, $op, @there) = @_;
    my $kind = $there[0] // '';
    return $op->{status} == 404 if $kind eq '';
    return $op->{status} == 410 if $kind eq 'D';
    my $home = $self->_home_of($state, $there[1], $op->{name});
    return defined $home ? $op->{status} == 301 && (!defined $op->{home} || $op->{home} eq $home) : $op->{status} == 410;
}

# Does an If-Match with that etag hold for this content? An etag that nobody was told with a content can't be judged: then the answer is.
sub _matches {
    my ($self, $op, $content) = @_;
    return 1 if !defined $op->{if};
    my $meant = $self->{content_of}{ $op->{if} };
    return defined $meant ? $meant eq $content : defined $op->{end} && $op->{status} < 300;
}

sub step {
    my ($self, $state, $op) = @_;
    my $code = $self->can("_do_$op->{do}") or die "an operation \"$op->{do}\"\n";
    return $code->($self, $state, $op, defined $op->{end}) if !defined $op->{name};
    return $code->($self, $state, $op, defined $op->{end}, $self->_there($state, $op->{tenant}, $op->{name}));
}

# Each of these: (state, operation, whether its answer is known, what is at the address).

sub _do_get {
    my ($self, $state, $op, $told, @there) = @_;
    return undef if !$told;
    if (($there[0] // '') eq 'L') { return $op->{status} == 200 && _tells($op, @there[1 .. 3]) ? $state : undef }
    return $self->_is_gone($state, $op, @there) ? $state : undef;
}

sub _do_list {
    my ($self, $state, $op, $told) = @_;
    return undef if !$told || $op->{status} != 200;
    my @live = $self->_live_names($state, $op->{tenant});
    return undef if @live != keys %{ $op->{all} };
    for my $name (@live) {
        my $seen = $op->{all}{$name} or return undef;
        my %seen;
        @seen{qw(uid content revision)} = @$seen;
        return undef if !_tells(\%seen, ($self->_there($state, $op->{tenant}, $name))[1 .. 3]);
    }
    return $state;
}

sub _do_survey {
    my ($self, $state, $op, $told) = @_;
    return undef if !$told || $op->{status} != 200;
    my $n = 0;
    for my $tenant (@{ $self->{tenants} }) {
        for my $name ($self->_live_names($state, $tenant)) {
            my %seen;
            @seen{qw(uid content)} = @{ $op->{all}{"$tenant/$name"} // return undef };
            return undef if !_tells(\%seen, ($self->_there($state, $tenant, $name))[1 .. 3]);
            $n++;
        }
    }
    return $n == keys %{ $op->{all} } ? $state : undef;
}

sub _do_put {
    my ($self, $state, $op, $told, @there) = @_;
    my $guard = $op->{if} // '';
    if (($there[0] // '') eq 'L') {
        return $told && $op->{status} == 412 ? $state : undef if $guard eq '*none' || !$self->_matches($op, $there[2]);
        return undef if $told && ($op->{status} != 200 || !_tells($op, $there[1], $op->{value}, $there[3] + 1));
        return $self->_with($state, $op->{tenant}, $op->{name}, join ',', 'L', $there[1], $op->{value}, $there[3] + 1);
    }
    return $told && $op->{status} == 412 ? $state : undef if $guard ne '' && $guard ne '*none';
    my $uid = $op->{uid} // $self->{uid_of}{ $op->{value} } // "?$op->{value}";
    return undef if $told && ($op->{status} != 201 || !_tells($op, $uid, $op->{value}, 1));
    return $self->_with($state, $op->{tenant}, $op->{name}, join ',', 'L', $uid, $op->{value}, 1);
}

sub _do_append {
    my ($self, $state, $op, $told, @there) = @_;
    if (($there[0] // '') ne 'L') { return $told && $self->_is_not_there($state, $op, @there) ? $state : undef }
    return $told && $op->{status} == 412 ? $state : undef if !$self->_matches($op, $there[2]);
    my $content = "$there[2]+$op->{value}";
    return undef if $told && ($op->{status} != 200 || !_tells($op, $there[1], $content, $there[3] + 1));
    return $self->_with($state, $op->{tenant}, $op->{name}, join ',', 'L', $there[1], $content, $there[3] + 1);
}

# What a guarded change of something that is not there is told: an If-Match does not hold, or what a GET would be told.
sub _is_not_there {
    my ($self, $state, $op, @there) = @_;
    return $self->_is_gone($state, $op, @there) || (defined $op->{if} && $op->{status} == 412);
}

sub _do_delete {
    my ($self, $state, $op, $told, @there) = @_;
    if (($there[0] // '') ne 'L') { return $told && $self->_is_not_there($state, $op, @there) ? $state : undef }
    return $told && $op->{status} == 412 ? $state : undef if !$self->_matches($op, $there[2]);
    return undef if $told && $op->{status} != 204;
    my ($deleted) = $state->[$self->_at($op->{tenant}, $op->{name})] =~ /\|(.*)/;
    my $kept = join ',', @there[1 .. 3];
    return $self->_with($state, $op->{tenant}, $op->{name}, 'D', length $deleted ? "$kept/$deleted" : $kept);
}

sub _do_recover {
    my ($self, $state, $op, $told, @there) = @_;
    my ($deleted) = $state->[$self->_at($op->{tenant}, $op->{name})] =~ /\|(.*)/;
    # The name is taken, or there is nothing to recover.
    return $told && $op->{status} == 404 ? $state : undef if $deleted eq '';
    return $told && $op->{status} == 409 ? $state : undef if ($there[0] // '') eq 'L';
    return undef if $told && $op->{status} != 204;
    my ($last, $rest) = split m{/}, $deleted, 2;
    return $self->_with($state, $op->{tenant}, $op->{name}, "L,$last", $rest // '');
}

# ---- moves

# What a move takes.
sub _moving {
    my ($self, $state, $op) = @_;
    return defined $op->{name} ? ($op->{name}) : $self->_live_names($state, $op->{tenant});
}

# What is in its way: names that are taken in the destination.
sub _blocked {
    my ($self, $state, $op) = @_;
    return grep { $state->[$self->_at($op->{to}, $_)] =~ /\AL/ } $self->_moving($state, $op);
}

# All that a look shows, which has to be the same if its tag is to hold: with revisions, and without.
sub _view {
    my ($self, $state, $op) = @_;
    my (@all, @content);
    for my $name ($self->_moving($state, $op)) {
        my (undef, $uid, $content, $revision) = $self->_there($state, $op->{tenant}, $name);
        push @all,     "$name:$uid:$content:$revision";
        push @content, "$name:$uid:$content";
    }
    my $more = join '/', 'counts', scalar $self->_live_names($state, $op->{tenant}), scalar $self->_live_names($state, $op->{to}),
        'blocked', $self->_blocked($state, $op);
    return (join('/', @all, $more), join('/', @content, $more));
}

# What the clients have looked at is remembered in the state: a move that names a look depends on what was there then.
sub _do_look {
    my ($self, $state, $op, $told, @there) = @_;
    return undef if !$told;
    if (defined $op->{name} && ($there[0] // '') ne 'L') { return $self->_is_gone($state, $op, @there) ? $state : undef }
    return undef if $op->{status} != 200;
    my @names = $self->_moving($state, $op);
    return undef if join(' ', sort @names) ne join ' ', sort keys %{ $op->{all} };
    for my $name (@names) {
        my (undef, $uid) = $self->_there($state, $op->{tenant}, $name);
        return undef if $uid !~ /\A\?/ && $op->{all}{$name} ne $uid;
    }
    return undef if join(' ', sort $self->_blocked($state, $op)) ne join ' ', sort @{ $op->{blocked} };
    return undef if grep { $op->{counts}{$_} != $self->_live_names($state, $_) } $op->{tenant}, $op->{to};
    my ($view) = $self->_view($state, $op);
    my @new = @$state;
    $new[-1] = join ';', sort grep({ length && !/\A$op->{client}=/ } split /;/, $new[-1]), "$op->{client}=$op->{id}=$view";
    return \@new;
}

# Whether the tag of an earlier look still holds: yes, no, or undef where only a revision has changed, of which the tag need not tell.
sub _look_holds {
    my ($self, $state, $op) = @_;
    my ($then) = $state->[-1] =~ /(?:\A|;)\Q$op->{client}=$op->{if}\E=([^;]*)/;
    return 0 if !defined $then;
    my ($now, $content) = $self->_view($state, $op);
    return 1 if $now eq $then;
    return join('/', map { /\A[^:\/]+(?::[^:\/]*){3}\z/ ? s/:[^:]*\z//r : $_ } split m{/}, $then) eq $content ? undef : 0;
}

sub _do_move {
    my ($self, $state, $op, $told, @there) = @_;
    if (defined $op->{name} && ($there[0] // '') ne 'L') { return $told && $self->_is_not_there($state, $op, @there) ? $state : undef }
    if (defined $op->{if}) {
        my $holds = $self->_look_holds($state, $op);
        $holds //= $told ? $op->{status} != 412 : 1;
        return $told && $op->{status} == 412 ? $state : undef if !$holds;
    }
    if ($self->_blocked($state, $op)) { return $told && $op->{status} == 409 ? $state : undef }
    return undef if $told && ($op->{status} != 303 || (defined $op->{home} && $op->{home} ne $op->{to}));
    for my $name ($self->_moving($state, $op)) {
        my (undef, $uid, $content, $revision) = $self->_there($state, $op->{tenant}, $name);
        $state = $self->_with($state, $op->{tenant}, $name, "F,$uid");
        $state = $self->_with($state, $op->{to}, $name, join ',', 'L', $uid, $content, $revision + 1);
    }
    return $state;
}

# ---- for the counterexample

# Each name alone, without what concerns several; what happens to one has no part in what is told of another.
sub parts {
    my ($self, $history) = @_;
    my %of;
    for my $op (@$history) {
        next if $op->{do} eq 'look' || ($op->{do} eq 'move' && defined $op->{if});
        push @{ $of{ $op->{name} } }, $op if defined $op->{name};
    }
    # A move of everything, or one that depended on a look, may have taken this name along: then the name can't be judged alone.
    return () if grep { $_->{do} eq 'move' && (!defined $_->{name} || defined $_->{if}) && (!defined $_->{end} || $_->{status} < 400) } @$history;
    return values %of;
}

sub is_idle {
    my (undef, $op) = @_;
    return 0 if !defined $op->{end};
    return $op->{do} =~ /\A(?:get|list|survey)\z/ || $op->{status} == 301 || $op->{status} >= 400;
}

sub show {
    my (undef, $op) = @_;
    my $text = "$op->{do} " . ($op->{tenant} // 'all') . (defined $op->{name} ? "/$op->{name}" : '');
    $text .= " to $op->{to}"     if defined $op->{to};
    $text .= " $op->{value}"     if defined $op->{value};
    $text .= ' if ' . substr $op->{if}, 0, 14 if defined $op->{if};
    return "$text: told nothing certain" if !defined $op->{end};
    $text .= ": $op->{status}";
    $text .= " $op->{content}"            if defined $op->{content};
    $text .= " revision $op->{revision}"  if defined $op->{revision};
    $text .= ' at ' . $op->{home}         if defined $op->{home};
    $text .= ' {' . join(' ', map { "$_=" . (ref $op->{all}{$_} ? join ',', grep { defined } @{ $op->{all}{$_} }[1, 2] : '') } sort keys %{ $op->{all} }) . '}' if $op->{all};
    return $text;
}

1;
