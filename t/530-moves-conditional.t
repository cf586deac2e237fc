#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Conditional moves: done on the state that was looked at, or not at all.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use POSIX ();
use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start;
my $admin    = $instance->admin;
my $serial   = 0;

# Two new tenants, three resources in the first; the address of the move action of all, and of one.
sub scene {
    $serial++;
    my ($from, $to) = ("from$serial", "to$serial");
    $admin->make_tenant($_) for $from, $to;
    $admin->make("/v2.0/$from/persistentvolumes/p$_", { v => $_ }) for 1, 2;
    $admin->make("/v2.0/$from/namespaces/default/configmaps/c", { v => 'A' });
    return ("/v2.0/$from", "/v2.0/$to", "/v2.0/$from/action/move?dest=$to", "/v2.0/$from/persistentvolumes/p1/action/move?dest=$to");
}

sub unmoved {
    my ($from, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return ok((grep { $admin->get("$from/persistentvolumes/$_")->status == 200 } 'p1', 'p2') == 2, $name // 'nothing moved');
}

# What may happen between GET and POST: [name, stale for the move of all?, for that of p1?, what is done].
my @between = (
    ['nothing',                     0, 0, sub { }],
    ['reading',                     0, 0, sub { my ($from) = @_; $admin->get("$from/persistentvolumes/p1") }],
    ['a write that changes nothing', 0, 0, sub { my ($from) = @_; $admin->put("$from/persistentvolumes/p1", json => { v => 1 }) }],
    ['a refused write',             0, 0, sub { my ($from) = @_; $admin->put("$from/persistentvolumes/p1", json => { v => 2 }, if_match => '"x"') }],
    ['a change of p1',              1, 1, sub { my ($from) = @_; $admin->put("$from/persistentvolumes/p1", json => { v => 'x' }) }],
    ['a change of another',         1, 0, sub { my ($from) = @_; $admin->patch("$from/persistentvolumes/p2", { v => 'x' }) }],
    ['p1 goes and is made anew',    1, 1, sub {
        my ($from) = @_;
        $admin->delete("$from/persistentvolumes/p1");
        $admin->put("$from/persistentvolumes/p1", json => { v => 1 });
    }],
    ['A, B, A',                     1, 1, sub {
        my ($from) = @_;
        $admin->put("$from/persistentvolumes/p1", json => { v => $_ }) for 'B', 1;
    }],
    ['a new one',                   1, 1, sub { my ($from) = @_; $admin->make("$from/persistentvolumes/new") }],
    ['a new one that goes again',   0, 0, sub { my ($from) = @_; $admin->make("$from/persistentvolumes/n"); $admin->delete("$from/persistentvolumes/n") }],
    ['there and back',              1, 1, sub {
        my ($from, $to) = @_;
        my ($f, $t) = map { s{.*/}{}r } $from, $to;
        $admin->post("$from/persistentvolumes/p1/action/move?dest=$t");
        $admin->post("$to/persistentvolumes/p1/action/move?dest=$f");
    }],
    ['the source\'s metadata',      1, 1, sub { my ($from) = @_; $admin->put($from, json => { tenant => { metadata => { a => 'b' } } }) }],
    ['the destination\'s tier',     1, 1, sub { my ($from, $to) = @_; $admin->put($to, json => { tenant => { tier => 'gold' } }) }],
    ['something else there',        1, 1, sub { my ($from, $to) = @_; $admin->make("$to/persistentvolumes/else") }],
    ['a lock',                      1, 1, sub { my ($from) = @_; $admin->patch("$from/persistentvolumes/p1", { metadata => { locked => JSON::PP::true() } }) }],
);
for my $case (@between) {
    my ($name, $all_stale, $one_stale, $change) = @$case;
    subtest "between GET and POST: $name" => sub {
        my ($from, $to, $all, $one) = scene();
        my $action = $admin->get($one);
        $change->($from, $to);
        my $post = $admin->post($one, if_match => $action->etag, accept => 'application/json');
        if ($one_stale) {
            $post->is_problem(412, 'stale', 'one: refused');
            unmoved($from);
            is $post->etag, $admin->get($one)->etag, '412 tells the present tag';
        }
        else {
            $post->is_status(303, 'one: moved');
        }
        ($from, $to, $all, $one) = scene();
        $action = $admin->get($all);
        $change->($from, $to);
        $post = $admin->post($all, if_match => $action->etag, accept => 'application/json');
        if ($all_stale) {
            $post->is_problem(412, 'stale', 'all: refused');
            unmoved($from);
        }
        else {
            $post->is_status(303, 'all: moved');
        }
    };
}

subtest 'If-Match in its forms' => sub {
    my ($from, $to, $all) = scene();
    my $tag = $admin->get($all)->etag;
    for my $bad ('"0000000000000000000000000000000000000000"', '""', '"', 'W/""') {
        my $status = $admin->post($all, if_match => $bad)->status;
        ok $status == 412 || $status == 400, "not with $bad";
    }
    unmoved($from);
    my ($f, $t) = map { s{.*/}{}r } $from, $to;
    my @ways = ($all, "/v2.0/$t/action/move?dest=$f");
    my @forms = ('%s', 'W/%s', '"x", %s', '*', '"x-gzip", %s', 'bare');
    for my $i (0 .. $#forms) {
        my $way = $ways[$i % 2];
        my $now = $admin->get($way, accept => $i % 3 ? 'application/xml' : 'application/json')->etag;
        my $match = $forms[$i] eq 'bare' ? $now =~ s/"//gr : $forms[$i] =~ s/%s/$now/r;
        $admin->post($way, if_match => $match)->is_status(303, "with $forms[$i]");
    }
    ok $tag, 'there was a tag';
};

subtest 'If-None-Match' => sub {
    my ($from, $to, $all, $one) = scene();
    for my $way ($all, $one) {
        my $tag = $admin->get($way)->etag;
        for my $match ($tag, "\"x\", W/$tag", '*') {
            my $refused = $admin->post($way, if_none_match => $match, accept => 'application/json');
            $refused->is_problem(412, 'stale', "with $match");
            is $refused->etag, $tag, '... which is told';
        }
        $admin->post($way, if_match => $tag, if_none_match => $tag)->is_status(412, 'with both');
        unmoved($from);
    }
    $admin->post($one, if_none_match => '"x"')->is_status(303, 'with that of something else');
    $admin->post($all, if_none_match => '"x"', prefer => 'respond-async')->is_status(202, 'in the background, too');
    is $instance->sql_value('SELECT if_match FROM moves ORDER BY id DESC LIMIT 1'), undef, '... with no tag to compare again';
};

subtest 'the tag of another action' => sub {
    my ($from, $to, $all, $one) = scene();
    my ($other_from, $other_to, $other_all) = scene();
    $admin->post($all, if_match => $admin->get($other_all)->etag)->is_status(412, 'of other tenants');
    $admin->post($all, if_match => $admin->get($one)->etag)->is_status(412, 'of one of the resources');
    $admin->post($one, if_match => $admin->get($all)->etag)->is_status(412, 'of all');
    $admin->post($all, if_match => $admin->get("$from/action/move?dest=" . $other_to =~ s{.*/}{}r)->etag)->is_status(412, 'of another destination');
    $admin->post($one, if_match => $admin->get("$from/persistentvolumes/p1")->etag)->is_status(412, 'of the resource itself');
    unmoved($from);
};

subtest 'used once' => sub {
    my ($from, $to, $all, $one) = scene();
    my $tag = $admin->get($all)->etag;
    $admin->post($all, if_match => $tag)->is_status(303);
    $admin->post($all, if_match => $tag)->is_status(412, 'a tag is good for one move');
    my ($f, $t) = map { s{.*/}{}r } $from, $to;
    $admin->post("$to/action/move?dest=$f")->is_status(303, 'back, unconditionally');
    $admin->post($all, if_match => $tag)->is_status(412, 'and no more after they came back');
    $tag = $admin->get($one)->etag;
    $admin->post($one, if_match => $tag)->is_status(303);
    $admin->post($one, if_match => $tag)->is_status(301, 'one that has moved answers where to');
};

subtest 'two movers at once' => sub {
    my ($from, $to, $all) = scene();
    my $tag = $admin->get($all)->etag;
    pipe my $in, my $out or die "pipe: $!";
    my @pids;
    for (1 .. 4) {
        my $pid = fork // die "fork: $!";
        if ($pid == 0) {
            syswrite $out, $admin->post($all, if_match => $tag)->status . "\n";
            POSIX::_exit(0);
        }
        push @pids, $pid;
    }
    close $out;
    waitpid $_, 0 for @pids;
    my @status = sort map { chomp; $_ } readline $in;
    is_deeply \@status, [303, 412, 412, 412], 'one moves';
    is $admin->get($to)->json->{tenant}{resources}, 3, 'once';
};

subtest 'writers beside a mover' => sub {
    my ($from, $to, $all) = scene();
    pipe my $in, my $out or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        my @made;
        for my $n (1 .. 60) {
            push @made, $n if $admin->put("$from/persistentvolumes/w$n", json => {})->status == 201;
        }
        syswrite $out, "@made\n";
        POSIX::_exit(0);
    }
    close $out;
    my ($done, $stale) = (0, 0);
    while (!$done) {
        my $action = $admin->get($all, accept => 'application/json');
        my $post   = $admin->post($all, if_match => $action->etag, accept => 'application/json');
        $stale++ if $post->status == 412;
        next if $post->status != 303;
        $done = 1;
        # What moved is what the action told of: by number.
        my ($row) = $instance->sql(q(SELECT resources FROM moves ORDER BY id DESC LIMIT 1));
        my $told = ref $action->json->{move}{resources} eq 'ARRAY' ? @{ $action->json->{move}{resources} } : $action->json->{move}{resources}{size};
        is $row->[0], $told, 'what moved is what was shown';
    }
    waitpid $pid, 0;
    my @made = split ' ', readline $in;
    is scalar @made, 60, 'the writer goes on meanwhile';
    my $both = $admin->get($from)->json->{tenant}{resources} + $admin->get($to)->json->{tenant}{resources};
    is $both, 63, 'nothing is lost, nothing is doubled';
};

is((($instance->manage('doctor'))[0]), 0, 'the doctor finds nothing');

done_testing;
