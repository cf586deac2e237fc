#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Watches with a selector that resume from a version: what the client knew then decides what a change means for it, not what
# the object is now. Histories of objects that come to be chosen, are no longer, go, and come again, while the client is away;
# each is resumed from every version it went through. TENURE_SEED takes another run's histories.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Watch qw(events name_of told);

my $server   = $ENV{TENURE_WATCH_SERVER} // 'lighttpd';
my $seed     = $ENV{TENURE_SEED} // 20261122;
# Closed by their clients, watches count until the web server tells of it.
my $instance = Tenure::Instance->start(combined => 1, workers => 2, server => $server, watches => 1,
    settings => { 'endpoint_combined.watches' => 1000, 'tenure.watches_per_token' => 0, 'tenure.watches_per_tenant' => 0 });
my $admin    = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my $globex   = $instance->combined('bob:globex');
my $cms      = '/api/v1/namespaces/default/configmaps';

$admin->post('/api/v1/tenants', json => { metadata => { name => $_ } })->is_status(201, "tenant $_") for qw(acme globex);
diag "TENURE_SEED=$seed";
srand $seed;

sub watch { return Tenure::Watch->new($admin->url, @_, wait => $server eq 'lighttpd' ? 30 : 0.2) }

# ---- histories

# Two kinds of objects, each with what makes one chosen: [path, selector, body, patch that sets it, that clears it].
my %kind = (
    'by label' => {
        path => 'configmaps', query => 'labelSelector=app%3Dweb,!off', object => {},
        in  => [{ metadata => { labels => { app => 'web', off => undef } } }], out => [{ metadata => { labels => { app => 'db' } } },
            { metadata => { labels => { off => '1' } } }, { metadata => { labels => undef } }],
        same => { data => { n => '1' } },
    },
    'by field' => {
        path => 'pods', query => 'fieldSelector=status.phase%3DRunning', object => { spec => { containers => [{ name => 'c', image => 'i' }] } },
        in  => [{ status => { phase => 'Running' } }], out => [{ status => { phase => 'Failed' } }, { status => { phase => 'Pending' } }],
        same => { metadata => { labels => { n => '1' } } }, part => '/status',
    },
);

# One step with one of the objects; the version after it. %has: the names that are there; %chosen: those that are chosen.
sub step {
    my ($kind, $base, $name, $has, $chosen) = @_;
    my $answer;
    if (!$has->{$name}) {
        my $in = rand() < 0.5 && !$kind->{part} ? $kind->{in}[0] : undef;
        my %labels = $in ? (labels => { app => 'web' }) : ();
        $answer = $acme->post($base, json => { %{ $kind->{object} }, metadata => { name => $name, %labels } });
        $has->{$name} = 1;
        $chosen->{$name} = 1 if $in;
        return $answer->json->{metadata}{resourceVersion};
    }
    my $what = rand;
    if ($what < 0.25) {
        # A deletion does not say its version.
        $acme->delete("$base/$name");
        delete $has->{$name};
        delete $chosen->{$name};
        return $instance->sql_value('SELECT MAX(id) FROM changes');
    }
    if ($what < 0.5) {
        my $n = int rand 1000;
        my %same = %{ $kind->{same} };
        my ($top) = keys %same;
        $answer = $acme->patch("$base/$name", $top eq 'data' ? { data => { n => "$n" } } : { metadata => { labels => { n => "$n" } } });
    }
    elsif ($what < 0.75) {
        $answer = $acme->patch("$base/$name" . ($kind->{part} // ''), $kind->{in}[0]);
        $chosen->{$name} = 1;
    }
    else {
        my @out = @{ $kind->{out} };
        $answer = $acme->patch("$base/$name" . ($kind->{part} // ''), $out[rand @out]);
        delete $chosen->{$name};
    }
    die $answer->describe . "\n" if $answer->status != 200;
    return $answer->json->{metadata}{resourceVersion};
}

# What a client that had these names makes of the events; what is wrong with them is told in @$wrong.
sub replay {
    my ($known, $events, $wrong) = @_;
    my %has = map { $_ => 1 } @{$known};
    for my $event (@{$events}) {
        my $name = $event->{object}{metadata}{name} // '?';
        my $type = $event->{type};
        push @{$wrong}, "$type $name, which it " . ($has{$name} ? 'has' : 'has not') if ($type eq 'ADDED') != !$has{$name};
        $type eq 'DELETED' ? delete $has{$name} : ($has{$name} = 1);
    }
    return join ' ', sort keys %has;
}

for my $n (1 .. 20) {
    my ($what, $kind) = $n % 4 == 0 ? ('by field', $kind{'by field'}) : ('by label', $kind{'by label'});
    $acme->post('/api/v1/namespaces', json => { metadata => { name => "h$n" } })->is_status(201, "history $n, $what");
    my $base = "/api/v1/namespaces/h$n/$kind->{path}";
    my (%has, %chosen, @versions);
    push @versions, [$acme->get($base)->json->{metadata}{resourceVersion}, []];
    for (1 .. 14) {
        my $version = step($kind, $base, (qw(a b c))[rand 3], \%has, \%chosen);
        # What changes nothing has the version that the object has since its last change.
        $version = $versions[-1][0] if $version < $versions[-1][0];
        push @versions, [$version, [sort keys %chosen]];
    }
    my $end = $acme->post($base, json => { %{ $kind->{object} }, metadata => { name => 'end', labels => { app => 'web' } } });
    $acme->patch("$base/end/status", { status => { phase => 'Running' } }) if $kind->{part};
    my $expected = join ' ', sort keys %chosen, 'end';
    my @watches = map { watch('alice:acme', "$base?$kind->{query}&resourceVersion=$_->[0]") } @versions;
    my @bad;
    for my $i (0 .. $#versions) {
        my ($version, $known) = @{ $versions[$i] };
        my (@events, @wrong);
        while (my ($event) = events($watches[$i], 1)) {
            push @events, $event;
            last if name_of($event) =~ / end\z/ || $event->{type} eq 'ERROR';
        }
        my $got = replay($known, \@events, \@wrong);
        push @wrong, "has ($got), not ($expected)" if $got ne $expected;
        push @bad, map { "from version $version, with (@{$known}): $_; told: " . join ', ', map { name_of($_) } @events } @wrong;
        $watches[$i]->close_now;
    }
    is_deeply \@bad, [], 'from each of its ' . @versions . ' versions';
}

# ---- what else decides

subtest 'relabelled, deleted, purged' => sub {
    my $made = $acme->post($cms, json => { metadata => { name => 'ghost', labels => { app => 'web' } } });
    my $from = $made->json->{metadata}{resourceVersion};
    $acme->patch("$cms/ghost", { metadata => { labels => { app => 'db' } } });
    $acme->delete("$cms/ghost")->is_status(200, 'gone');
    $acme->post($cms, json => { metadata => { name => 'other', labels => { app => 'web' } } });
    my $watch = watch('alice:acme', "$cms?labelSelector=app%3Dweb&resourceVersion=$from");
    is told($watch, 2), 'DELETED ghost, ADDED other', 'the client that had it is told';
    $instance->sql("DELETE FROM resources WHERE name = 'ghost'");
    $watch = watch('alice:acme', "$cms?labelSelector=app%3Dweb&resourceVersion=$from");
    is told($watch, 2), 'DELETED ghost, ADDED other', 'also when nothing of it is stored any more: the log tells';
    $made = $acme->post($cms, json => { metadata => { name => 'lost', labels => { app => 'web' } } });
    $from = $made->json->{metadata}{resourceVersion};
    $acme->delete("$cms/lost")->is_status(200, 'another goes as it was');
    $instance->sql("DELETE FROM resources WHERE name = 'lost'");
    is told(watch('alice:acme', "$cms?labelSelector=app%3Dweb&resourceVersion=$from"), 1), 'ERROR Expired', 'and nobody knows: list again';
    is told(watch('alice:acme', "$cms?fieldSelector=metadata.name%3Dlost&resourceVersion=$from"), 1), 'DELETED lost', 'a name is always known';
};

subtest 'changes of a version that did not tell' => sub {
    my $made = $acme->post($cms, json => { metadata => { name => 'old', labels => { app => 'web' } } });
    my $from = $made->json->{metadata}{resourceVersion};
    $acme->patch("$cms/old", { metadata => { labels => { app => 'db' } } });
    $instance->sql("UPDATE changes SET selectable_before = NULL WHERE name = 'old'");
    is told(watch('alice:acme', "$cms?labelSelector=app%3Dweb&resourceVersion=$from"), 1), 'ERROR Expired', 'the client lists again';
    is told(watch('alice:acme', "$cms?resourceVersion=$from"), 1), 'MODIFIED old', 'without a selector nothing is asked';
};

subtest 'moved' => sub {
    my $made = $acme->post($cms, json => { metadata => { name => 'goes', labels => { app => 'web' } }, data => { k => 'ours' } });
    my $from = $made->json->{metadata}{resourceVersion};
    my $theirs = $globex->get($cms)->json->{metadata}{resourceVersion};
    $acme->patch("$cms/goes", { data => { k => 'still-ours' } });
    $admin->post('/v2.0/acme/namespaces/default/configmaps/goes/action/move?dest=globex')->is_status(303, 'to another tenant');
    $globex->patch("$cms/goes", { metadata => { labels => { app => 'db' }, annotations => { secret => 'theirs' } }, data => { k => 'theirs' } })
        ->is_status(200, 'who changes it');
    for my $query ('labelSelector=app%3Dweb&', 'labelSelector=app%3Ddb&', '') {
        my $watch = watch('alice:acme', "$cms?${query}resourceVersion=$from");
        my @events = events($watch, 1, $query =~ /db/ ? 1 : 10);
        is join(', ', map { name_of($_) } @events), $query =~ /db/ ? '' : 'DELETED goes', "its former tenant, with '$query'";
        unlike JSON::PP::encode_json(\@events), qr/theirs/, 'is not told what it is now';
    }
    is told(watch('bob:globex', "$cms?labelSelector=app%3Ddb&resourceVersion=$theirs"), 1), 'ADDED goes', 'the new one is';
    is told(watch('admin', "/api/v1/tenants/all/configmaps?labelSelector=app%3Dweb&resourceVersion=$from"), 1), 'DELETED goes', 'who sees all had it';
};

subtest 'tenants' => sub {
    my $made = $admin->post('/api/v1/tenants', json => { metadata => { name => 'labelled', labels => { tier => 'a' } } });
    my $from = $made->json->{metadata}{resourceVersion};
    $admin->patch('/api/v1/tenants/labelled', { metadata => { labels => { tier => 'b' } } })->is_status(200, 'relabelled');
    $admin->delete('/api/v1/tenants/labelled')->is_status(200, 'and deleted');
    is told(watch('admin', "/api/v1/tenants?labelSelector=tier%3Da&resourceVersion=$from"), 1), 'DELETED labelled', 'who had it is told';
};

subtest 'namespaces by phase' => sub {
    $acme->post('/api/v1/namespaces', json => { metadata => { name => 'ends', finalizers => ['example.com/f'] } })->is_status(201, 'one with a finalizer');
    my $from = $acme->get('/api/v1/namespaces/ends')->json->{metadata}{resourceVersion};
    $acme->delete('/api/v1/namespaces/ends')->is_status(200, 'that is to go');
    my $active = watch('alice:acme', "/api/v1/namespaces?fieldSelector=status.phase%3DActive&resourceVersion=$from");
    my $ends   = watch('alice:acme', "/api/v1/namespaces?fieldSelector=status.phase%3DTerminating&resourceVersion=$from");
    is told($active, 1), 'DELETED ends', 'is no longer active';
    is told($ends,   1), 'ADDED ends', 'but terminating';
    $acme->patch('/api/v1/namespaces/ends', { metadata => { finalizers => undef } });
    is told($ends, 2), 'MODIFIED ends, DELETED ends', 'until it is gone';
};

done_testing;
