# SPDX-License-Identifier: Apache-2.0
# Counts usage again, from the rows of the change log and the list of closed periods alone: what src/registry/usage/ says of a period has
# to be this. It shares no code with the programs, and takes the change log whole into memory.
package Tenure::Metering;

use strict;
use warnings;

use Math::BigInt ();
use Time::Local qw(timegm);

# Microseconds since 1970 of a DATETIME(6).
sub _us {
    my ($text) = @_;
    my ($year, $month, $day, $hour, $minute, $second, $fraction) = $text =~ /\A(\d+)-(\d+)-(\d+) (\d+):(\d+):(\d+)\.(\d{6})\z/ or die "no time: $text\n";
    return timegm($second, $minute, $hour, $day, $month - 1, $year) * 1_000_000 + $fraction;
}

# The stored rows, as the database has them, one line each.
sub stored {
    my ($instance) = @_;
    return map { join ' ', map { $_ // 'NULL' } @$_ } $instance->sql('SELECT until, tenant_id, type_id, since, resources, bytes, resource_us, byte_us '
            . 'FROM usage_periods ORDER BY until, tenant_id, type_id');
}

# The rows that should be stored, in the same form. Only for an installation whose first change was counted, and whose log is whole.
sub counted {
    my ($instance) = @_;
    my @closings = map { { until => $_->[0], since => $_->[1], last => $_->[2], us => _us($_->[0]), since_us => _us($_->[1]) } }
        $instance->sql('SELECT until, since, last_change FROM usage_closings ORDER BY until');
    my (%counted, %deleted, %added);

    # Something changes by n resources and so many bytes, at a time.
    my $add = sub {
        my ($tenant, $type, $n, $bytes, $at) = @_;
        if ($deleted{$tenant}) {
            $deleted{$tenant}{$type}[0] += $n;
            $deleted{$tenant}{$type}[1] += $bytes;
            return;
        }
        $counted{$tenant}{$type}[0] += $n;
        $counted{$tenant}{$type}[1] += $bytes;
        my ($period) = grep { $_->{us} > $at } @closings or return;
        my $sums = $added{ $period->{until} }{$tenant}{$type} //= [0, 0, Math::BigInt->new(0), Math::BigInt->new(0)];
        my $rest = $period->{us} - $at;
        $sums->[0] += $n;
        $sums->[1] += $bytes;
        $sums->[2]->badd(Math::BigInt->new($n)->bmul($rest));
        $sums->[3]->badd(Math::BigInt->new($bytes)->bmul($rest));
        return;
    };
    my @changes = $instance->sql('SELECT id, at, verb, tenant_id, from_tenant_id, resource_id, type_id, bytes_before, bytes_after FROM changes ORDER BY id');
    for my $change (@changes) {
        my ($id, $time, $verb, $tenant, $from, $resource, $type, $before, $after) = @$change;
        # Never in a period that was closed when the change was counted.
        my ($floor) = map { $_->{us} } reverse grep { $_->{last} < $id } @closings;
        my $at = _us($time);
        $at = $floor if defined $floor && $floor > $at;
        if (defined $resource) {
            next if !defined $from && $before == $after;
            $add->($tenant, $type, $after > 0 ? 1 : 0, $after, $at);
            $add->($from // $tenant, $type, $before > 0 ? -1 : 0, -$before, $at);
        } elsif ($verb eq 'deleted' && !$deleted{$tenant}) {
            my %had = map { ($_ => [@{ $counted{$tenant}{$_} }]) } keys %{ $counted{$tenant} // {} };
            $add->($tenant, $_, -$had{$_}[0], -$had{$_}[1], $at) for grep { $had{$_}[0] || $had{$_}[1] } keys %had;
            $deleted{$tenant} = \%had;
        } elsif ($verb eq 'recovered' || $verb eq 'purged') {
            my $had = delete $deleted{$tenant} // {};
            for my $of (grep { $verb eq 'recovered' && ($had->{$_}[0] || $had->{$_}[1]) } keys %$had) {
                $add->($tenant, $of, @{ $had->{$of} }, $at);
            }
        }
    }

    my (%balance, @rows);
    for my $period (@closings) {
        my $of     = $added{ $period->{until} } // {};
        my $length = $period->{us} - $period->{since_us};
        for my $tenant (sort { $a <=> $b } keys %$of) {
            for my $type (sort { $a <=> $b } keys %{ $of->{$tenant} }) {
                my ($n, $bytes, $us, $byte_us) = @{ $of->{$tenant}{$type} };
                my $balance = $balance{$tenant}{$type} //= [0, 0];
                $us->badd(Math::BigInt->new($balance->[0])->bmul($length));
                $byte_us->badd(Math::BigInt->new($balance->[1])->bmul($length));
                $balance->[0] += $n;
                $balance->[1] += $bytes;
                push @rows, join ' ', $period->{until}, $tenant, $type, $period->{since}, @$balance, $us, $byte_us;
            }
        }
    }
    return @rows;
}

1;
