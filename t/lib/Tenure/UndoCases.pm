# SPDX-License-Identifier: Apache-2.0
# Cases of undo. Each makes a change by its call, previews its undo, takes it back, and that again, and again, and compares what is there
# with what was there. covers() says at the end which verbs of which types, and which calls, no case has: it reads them from the program's own
# tables.
#
#   Tenure::UndoCases::begin($instance);
#   case('a config map: deleted', 'tenancy deleteNamespacedResource', sees => [$path], by => sub { $admin->delete($path) });
package Tenure::UndoCases;

use strict;
use warnings;

use Exporter 'import';
use JSON::PP ();
use Test::More;

use Tenure::Run qw(read_file);
use Tenure::Undo qw(undo_path reasons);

our @EXPORT_OK = qw(begin case quiet stays purges covers fresh changes_of);

my $json = JSON::PP->new->canonical->allow_nonref;
my ($instance, $admin, @verbs, %type_of, %call_of);
my (%seen_call, %seen_type, $serial);

# ---- the program's tables

# Reads the tables of the build that the instance runs. Its administrator looks, and takes back what nobody else does.
sub begin {
    ($instance) = @_;
    $admin = $instance->admin;
    my $source = Tenure::Instance::source_dir();
    my $enum   = $instance->sql_value(q(SELECT column_type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'changes' AND column_name = 'verb'));
    @verbs = $enum =~ /'(\w+)'/g;
    for (read_file("$source/src/base/builtin_types.def") =~ /^BUILTIN_TYPE\((.*?)\)$/msg) {
        my ($group, $kind, $plural, $scope) = /"([^"]*)",\s*"(\w+)",\s*"(\w+)",\s*(\w+)/ or next;
        $type_of{ $group eq '' ? $plural : "$plural.$group" } = $scope;
    }
    # Calls that may write, and so leave changes: "tenancy putTenant".
    for my $dialect (qw(tenancy baremetal placement spaces)) {
        my $wadl = read_file("$source/src/api/$dialect/$dialect.wadl");
        while ($wadl =~ /<method\b([^>]*)>/g) {
            my %attribute = $1 =~ /([\w:]+)="([^"]*)"/g;
            next if !$attribute{id} || $attribute{name} =~ /\A(?:GET|HEAD|OPTIONS)\z/ || ($attribute{'t:txn'} // '') =~ /\A(?:none|read)\z/;
            $call_of{"$dialect $attribute{id}"} = $attribute{name};
        }
    }
    cmp_ok scalar @verbs, '>=', 6, 'verbs: ' . join ' ', @verbs;
    cmp_ok scalar keys %type_of, '>=', 20, 'types';
    cmp_ok scalar keys %call_of, '>=', 100, 'calls';
    return;
}

# ---- what is there

# Members that are others after every change, and compared by themselves.
my %passing = map { $_ => 1 } qw(resourceVersion etag updated_at updatedAt generation resource_provider_generation consumer_generation);

sub lasting {
    my ($value) = @_;
    return [map { lasting($_) } @$value] if ref $value eq 'ARRAY';
    return { map { $_ => lasting($value->{$_}) } grep { !$passing{$_} } keys %$value } if ref $value eq 'HASH';
    return $value;
}

# What a case looks at: paths of the tenancy dialect, and others as functions that return an answer.
sub look {
    my (@views) = @_;
    return [map {
        my $answer = ref ? $_->() : $admin->get($_);
        my $there  = $answer->status == 200;
        {
            view     => $_,
            document => !ref && $there && ref $answer->json->{metadata} && exists $answer->json->{metadata}{resourceVersion},
            there    => $there,
            etag     => $there ? $answer->etag : undef,
            revision => $there ? $answer->json->{metadata}{resourceVersion} : undef,
            text     => $there ? $answer->text : '',
            content  => $there ? $json->encode(lasting($answer->json)) : 'away',
        }
    } @views];
}

sub same {
    my ($got, $expected, $name) = @_;
    my @wrong = grep { $got->[$_]{content} ne $expected->[$_]{content} } 0 .. $#$expected;
    return ok(!@wrong, $name) || diag map { "$got->[$_]{view}\n got      $got->[$_]{content}\n expected $expected->[$_]{content}\n" } @wrong;
}

# Has a step from $through to $to, which $from should be again, given the right etags and revisions? past: all etags that each view had.
sub judge {
    my ($name, $from, $through, $to, $past, %case) = @_;
    same($to, $from, "$name: what was");
    for my $i (0 .. $#$from) {
        my ($before, $between, $now) = map { $_->[$i] } $from, $through, $to;
        next unless $before->{document} && $now->{document};
        if (!$between->{there} && !$case{moves}) {
            is $now->{text}, $before->{text}, "$name: exactly, with etag and revision";
        } elsif ($between->{there} && $between->{text} eq $before->{text}) { # it was not concerned
            is $now->{text}, $before->{text}, "$name: and nothing else";
        } else {
            cmp_ok $now->{revision}, '>', $_->{revision}, "$name: a new revision" for grep { $_->{there} } $before, $between;
            next if $case{moves} || $case{ignored};
            my @stale = @{ $past->[$i] };
            is scalar(grep { $_ eq $now->{etag} } @stale), 0, "$name: a new etag";
            is $admin->patch($now->{view}, { metadata => { labels => { lost => 'x' } } }, if_match => $stale[-1])->status, 412, "$name: the etag from between is stale";
            is $admin->patch($now->{view}, { metadata => { labels => { lost => 'x' } } }, if_match => $stale[0])->status, 412, "$name: that from before, too";
        }
    }
    return;
}

# ---- cases

# Verb, full name of the type or 'tenant', and fields of each change of a request.
sub changes_of {
    my ($request) = @_;
    my $id = (ref $request ? $request->request_id : $request) =~ s/-//gr;
    return $instance->sql("SELECT c.verb, COALESCE(CONCAT(y.plural, IF(y.group_name = '', '', '.'), y.group_name), 'tenant'), COALESCE(c.fields, '') "
        . "FROM changes c LEFT JOIN types y ON y.id = c.type_id WHERE c.request_id = UNHEX('$id') ORDER BY c.id");
}

# A name that no other case has.
sub fresh { return 'x' . ++$serial }

# case(WHAT, CALL, sees => [views], by => sub { the answer to the change }). CALL: "dialect method", or several. Options:
#   tenant    whose change it is: t1
#   who       who takes it back: the operator
#   refused   the reasons, sorted, if it is not taken back; again => those against the undo of the undo
#   moves     etags may be what they were, revisions grow
#   ignored   the change is one that no etag covers
sub case {
    my ($what, $calls, %case) = @_;
    my $tenant = $case{tenant} // 't1';
    my $who    = $case{who} // $admin;
    return subtest $what => sub {
        $seen_call{$_}++ for ref $calls ? @$calls : $calls;
        my $before = look(@{ $case{sees} });
        my $change = $case{by}->();
        cmp_ok $change->status, '<', 400, 'the change' or return diag $change->describe;
        my @rows = changes_of($change);
        ok scalar @rows, 'is in the log' or return;
        note join ', ', map { "@$_" } @rows;
        $seen_type{ $_->[1] }{ $_->[0] }++ for @rows;
        my $after = look(@{ $case{sees} });
        isnt $json->encode([map { $_->{content} } @$after]), $json->encode([map { $_->{content} } @$before]), 'can be seen' unless $case{ignored} || $case{unseen};
        my @past = map { my $i = $_; [map { $_->[$i]{etag} // () } $before, $after] } 0 .. $#$before;
        my $path    = undo_path($tenant, $change);
        my $preview = $who->get($path);
        $preview->is_status(200, 'the preview') or return diag $preview->describe;
        is_deeply reasons($preview), [sort @{ $case{refused} // [] }], 'shows ' . (join(', ', @{ $case{refused} // [] }) || 'no reason against it') or diag $preview->text;
        same(look(@{ $case{sees} }), $after, 'the preview changes nothing');
        my ($from, $through, $request) = ($before, $after, $change);
        for my $step ('undo', 'undo of the undo', 'undo of that') {
            my $refused = $step eq 'undo' ? $case{refused} : $step eq 'undo of the undo' ? $case{again} : undef;
            my $tag  = $step eq 'undo' ? $preview->etag : undef;
            my $done = $who->post(undo_path($tenant, $request), if_match => $tag);
            if ($refused) {
                $done->is_status(409, "$step: refused");
                is_deeply reasons($done), [sort @$refused], "... with every reason: @$refused" or diag $done->text;
                is $instance->count_changes_of($done), 0, '... and nothing is done';
                return same(look(@{ $case{sees} }), $through, '... nor changed');
            }
            $done->is_status(200, $step) or return diag $done->describe;
            my $now = look(@{ $case{sees} });
            judge($step, $from, $through, $now, \@past, %case);
            push @{ $past[$_] }, $now->[$_]{etag} // () for 0 .. $#$now;
            ($from, $through, $request) = ($through, $now, $done);
        }
        return;
    };
}

# A call that may write, but nothing that the change log holds.
sub quiet {
    my ($what, $call, $by) = @_;
    $seen_call{$call}++;
    my $answer = $by->();
    cmp_ok $answer->status, '<', 400, $what or diag $answer->describe;
    is scalar(changes_of($answer)), 0, '... leaves no change, so there is nothing to take back';
    return;
}


# A change that the type cannot have: the answer is a refusal.
sub stays {
    my ($what, $type, $verb, $answer) = @_;
    $seen_type{$type}{$verb}++;
    cmp_ok $answer->status, '>=', 400, "$what: refused" or diag $answer->describe;
    return;
}

# Purges whatever is deleted, of all types: that is never taken back.
sub purges {
    $instance->sql('UPDATE resources SET purge_at = deleted_at WHERE live IS NULL; UPDATE tenants SET purge_at = deleted_at WHERE live = 1 AND deleted_at IS NOT NULL');
    $instance->usage_has_counted;
    # A tenant goes once all that it had is gone, which the host's service may be purging at this moment.
    ok Tenure::Instance::wait_until(sub {
        $instance->manage('reap');
        return !$instance->sql_value('SELECT COUNT(*) FROM (SELECT 1 FROM resources WHERE live IS NULL UNION ALL SELECT 1 FROM tenants WHERE live = 1 AND deleted_at IS NOT NULL) gone');
    }, 60), 'all that is deleted is purged';
    for ($instance->sql("SELECT DISTINCT LOWER(HEX(c.request_id)), t.name, t.live IS NULL FROM changes c JOIN tenants t ON t.id = c.tenant_id WHERE c.verb = 'purged'")) {
        my ($id, $tenant, $gone) = @$_;
        $id = join '-', unpack 'A8A4A4A4A12', $id;
        my @rows = changes_of($id);
        $seen_type{ $_->[1] }{ $_->[0] }++ for @rows;
        $admin->get(undo_path($tenant, $id))->is_status(404, 'of a purged tenant there is no log') if $gone;
        next if $gone;
        my $preview = $admin->get(undo_path($tenant, $id));
        is_deeply reasons($preview), ['purged'], "a purge of $tenant is not taken back" or diag $preview->describe;
        my $refused = $admin->post(undo_path($tenant, $id));
        $refused->is_status(409);
        is_deeply reasons($refused), ['purged'], '... for that reason';
    }
    return;
}

# Has each call of these dialects a case, and each verb of these types? types: those for which `of` is true.
sub covers {
    my ($dialects, $of) = @_;
    for my $dialect (@$dialects) {
        is_deeply [grep { /\A$dialect / && !$seen_call{$_} } sort keys %call_of], [], "each call of $dialect that writes has a case";
    }
    for my $type (sort grep { $of->($_) } keys %type_of, 'tenant') {
        is_deeply [grep { !$seen_type{$type}{$_} } @verbs], [], "$type: each verb has a case";
    }
    is_deeply [grep { my $call = $_; grep({ $call =~ /\A$_ / } @$dialects) && !$call_of{$call} } sort keys %seen_call], [], 'no case is of a call that is not there';
    return;
}

1;
