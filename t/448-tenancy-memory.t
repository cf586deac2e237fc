#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A worker gives back what large documents took, so that many of them don't need many times the memory of one.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;

my $instance = Tenure::Instance->start(workers => 1);
my $admin    = $instance->admin;
my $maps     = '/v2.0/t1/namespaces/default/configmaps';
my @workers  = Tenure::Instance::children_of($instance->master_pid('admin'));

sub file_text { my ($path) = @_; open my $in, '<', $path or return ''; local $/ = undef; return readline($in) // '' }
plan skip_all => 'the sanitizers keep what is freed' if file_text("/proc/$workers[0]/maps") =~ /libasan/;

# kB that are a process's alone; the largest of the children counts.
sub memory {
    my @sizes = sort { $b <=> $a } map { file_text("/proc/$_/smaps_rollup") =~ /^Private_Dirty: +(\d+)/m ? $1 : 0 } @workers;
    return $sizes[0];
}

$admin->make_tenant('t1');
$admin->put("$maps/small", json => { a => 1 })->is_status(201, 'a small one');
my $before = memory();
cmp_ok $before, '>', 0, 'the memory of workers can be read';

my $body = '{' . join(',', map { qq("k$_":"") } 1 .. 80_000) . '}';
for my $round (1 .. 3) {
    $admin->put("$maps/large$round", body => $body, type => 'application/json')->is_status(201, 'one of 80,000 members');
    $admin->patch("$maps/large$round", { "k$round" => 'changed' })->is_status(200, 'changed');
    $admin->get("$maps/small")->is_status(200, 'something small after it');
}
ok Tenure::Instance::wait_until(sub { memory() < $before + 16_000 }), 'what they took is given back' or diag memory() . ' kB, and before ' . $before;

done_testing;
