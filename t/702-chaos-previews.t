#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# While the database server is killed again and again, the preview of a move lists every name that is taken there, as long as
# that was acknowledged; and it agrees with the rows and with the move itself.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use POSIX ();
use Test::More;
use Time::HiRes ();

use Tenure::Instance;

# TENURE_LONG=1: forty kills; TENURE_KILLS: so many.
my $kills   = $ENV{TENURE_KILLS} // ($ENV{TENURE_LONG} ? 40 : 2);
my $clients = 4;
my $instance = Tenure::Instance->start(workers => 6, allow => [qr/connection lost/, qr/given up/, qr/COMMIT/, qr/database/]);
my $admin    = $instance->admin(timeout => 20);
for my $n (1 .. $clients) {
    $admin->make_tenant("$_$n") for 'from', 'to';
    $admin->make("/v2.0/from$n/persistentvolumes/$_") for 'p1', 'p2';
}

# Asks until somebody says.
sub settled {
    my ($own, $path) = @_;
    for (1 .. 400) {
        my $status = $own->get($path)->status;
        return $status if $status == 200 || $status == 404 || $status == 410;
        Time::HiRes::sleep(0.05);
    }
    return 0;
}

# One client, who alone writes in its two tenants: it makes, deletes and recovers names in the destination, and after each
# that was acknowledged it looks whether the preview knows.
sub live {
    my ($n, $journal) = @_;
    srand $n * 104729;
    my $own = $instance->admin(timeout => 20);
    my $to  = "/v2.0/to$n/persistentvolumes";
    my %there = map { $_ => 0 } 'p1', 'p2';
    until (-e $instance->dir . '/stop') {
        my $name = ('p1', 'p2')[rand 2];
        my $done;
        if ($there{$name}) {
            $done = $own->delete("$to/$name")->status == 204;
        }
        else {
            my $recover = $own->post("$to/$name/action/recover");
            $done = $recover->status == 204;
            $done = $own->put("$to/$name", json => { n => $n }, if_none_match => '*')->status == 201 if $recover->status == 404;
        }
        # What was not acknowledged is asked for.
        $there{$name} = $done ? !$there{$name} : settled($own, "$to/$name") == 200;
        my $action = $own->get("/v2.0/from$n/action/move?dest=to$n", accept => 'application/json');
        next if $action->status != 200;
        my $want = join ' ', map { "persistentvolumes/$_" } grep { $there{$_} } sort keys %there;
        my $got  = join ' ', sort map { $_->{resource} } grep { $_->{reason} eq 'name-taken' } @{ $action->json->{move}{blockers} };
        my $counted = $action->json->{move}{tenants}[1]{resources};
        print {$journal} "looked\n";
        next if $got eq $want && $counted == grep { $_ } values %there;
        my $rows = join ', ', map { join ' ', map { $_ // 'NULL' } @$_ } eval { $instance->sql(<<"SQL") };
SELECT r.id, r.name, r.live, r.changed, c.resources FROM resources r JOIN tenants t ON t.id = r.tenant_id JOIN tenant_counts c ON c.tenant_id = t.id
WHERE t.name = 'to$n' AND r.type_id = 2
SQL
        my $again = $own->get("/v2.0/from$n/action/move?dest=to$n", accept => 'application/json');
        my $post  = $own->post("/v2.0/from$n/action/move?dest=to$n", if_match => $action->etag, accept => 'application/json');
        print {$journal} "wrong: client $n got ($got), wanted ($want), counted $counted; rows: $rows; again: " . $again->text . '; POST: ' . $post->status . "\n";
    }
    return;
}

my @pids;
for my $n (1 .. $clients) {
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        open my $journal, '>', $instance->dir . "/journal$n" or POSIX::_exit(1);
        $journal->autoflush(1);
        my $fine = eval { live($n, $journal); 1 };
        print {$journal} "died: $@" if !$fine;
        POSIX::_exit(0);
    }
    push @pids, $pid;
}
for my $round (1 .. $kills) {
    Time::HiRes::sleep(1 + rand 2);
    $instance->database('kill');
    $instance->database('start');
    ok Tenure::Instance::wait_until(sub { $admin->get('/healthz')->status == 200 }), "kill $round: served again";
}
Time::HiRes::sleep(2);
Tenure::Instance::write_file($instance->dir . '/stop', '');
waitpid $_, 0 for @pids;
my @journals = map { split /\n/, Tenure::Instance::read_file($instance->dir . "/journal$_") } 1 .. $clients;
is_deeply [grep { !/\Alooked/ } @journals], [], 'each preview told the names that were taken, and the count';
my $looked = grep { /\Alooked/ } @journals;
cmp_ok $looked, '>', 20 * $kills, "of $looked previews";
my ($code, $text) = $instance->manage('doctor');
is $code, 0, 'the store is sound' or diag $text;

done_testing;
