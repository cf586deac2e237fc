#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure-manage etag-key: a new key changes no tag before its resource changes, also not those that are derived from stored ones; all hosts use
# it soon, without a restart; and a key goes only when no tag of it is left.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Digest::SHA ();
use IO::Socket::UNIX ();
use POSIX ();
use Test::More;

use Tenure::FastCGI;
use Tenure::Instance;
use Tenure::Metal;

my $instance = Tenure::Instance->start(combined => 1, workers => 2);
my $admin    = $instance->admin;
my $metal    = Tenure::Metal->new($instance->combined('admin'), '1.82');

sub manage {
    my ($want, $name, @args) = @_;
    my ($code, $text) = $instance->manage('etag-key', @args);
    is $code, $want, $name or diag $text;
    return $text;
}
sub doctor { my ($code, $text) = $instance->manage('doctor'); return is $code, 0, "$_[0]: the doctor finds all sound" || diag $text }

# Another host: it shares the database alone.
my $other = $instance->dir . '/other';
mkdir $other or die "$other: $!\n";
my $listener = IO::Socket::UNIX->new(Local => "$other/sock", Listen => 16) or die "$other/sock: $!\n";
my $worker   = fork // die "fork: $!\n";
if ($worker == 0) {
    open STDIN, '<&', $listener or POSIX::_exit(1);
    open STDERR, '>', "$other/log" or POSIX::_exit(1);
    $ENV{TENURE_TENURE_RUNTIME_DIR} = $other;
    exec Tenure::Instance::build_dir() . '/tenured', '-c', $instance->env('TENURE_CONFIG'), '-e', 'admin' or POSIX::_exit(127);
}
END { kill TERM => $worker if $worker }

sub on_other {
    my ($method, $uri, $body) = @_;
    return Tenure::FastCGI->get("$other/sock", uri => $uri, method => $method, body => $body // '', params => [HTTP_X_AUTH_TOKEN => 'admin', CONTENT_TYPE => 'application/json']);
}

# By which key the stored tag of a config map was made, computed here from the row.
sub key_of {
    my ($name) = @_;
    my ($row) = $instance->sql("SELECT LOWER(HEX(uid)), edits, HEX(meta), HEX(body), LOWER(HEX(etag)) FROM resources WHERE name = '$name' AND live = 1");
    my ($uid, $edits, $meta, $body) = ($row->[0] =~ s/(.{8})(.{4})(.{4})(.{4})(.{12})/$1-$2-$3-$4-$5/r, $row->[1], map { pack 'H*', $_ } @$row[2, 3]);
    for my $key ($instance->sql(q(SELECT name, HEX(LEFT(value, 32)) FROM settings WHERE name LIKE 'etag%'))) {
        my $tag = Digest::SHA::hmac_sha512_hex(qq({"uid":"$uid","edits":$edits,"metadata":$meta,"content":$body}), pack 'H*', $key->[1]);
        return $key->[0] if $tag eq $row->[4];
    }
    return 'none';
}
sub map_url { return "/v2.0/acme/namespaces/default/configmaps/$_[0]" }
my @previews = ('a preview', 'a preview of one');
my $serial = 0;
sub put { return $admin->put(map_url($_[0]), json => { data => { n => $serial++ . '' } }) }

# What asks for definitions learns of revisions, twice a second, and so does what shares its memory: with this, all workers know that keys were added.
# One tag of a new key alone would not show it, since a worker that serves its first request reads all keys there are.
sub learn {
    select undef, undef, undef, 0.6;
    return $admin->get('/v2.0/acme/example.com/things');
}
sub is_used {
    my ($key, $what) = @_;
    learn();
    return ok Tenure::Instance::wait_until(sub { $admin->get('/v2.0/acme/example.com/things'); put('changed'); key_of('changed') eq $key }, 30), $what;
}
sub is_used_elsewhere {
    my ($key, $what) = @_;
    return ok Tenure::Instance::wait_until(sub { on_other(GET => '/v2.0/acme/example.com/things'); on_other(PUT => map_url('there'), qq({"data":{"n":"${\ $serial++}"}})); key_of('there') eq $key }, 30), $what;
}

$admin->make_tenant($_) for 'acme', 'dest';
put($_)->is_status(201) for qw(old changed moved deleted);
my $node = $metal->make('nodes', { driver => 'fake-hardware', name => 'n1', owner => 'acme' })->{uuid};
my $port = $metal->make('ports', { node_uuid => $node, address => '52:54:00:00:00:01' })->{uuid};
my $provider = $instance->combined('admin')->post('/placement/resource_providers', json => { name => 'p' });
$admin->put('/v2.0/acme/webhooks/hook', json => { url => 'https://example.org/' });
on_other(GET => map_url('old'))->{status} == 200 or die "the other host does not serve\n";

my $feed_end = $admin->get('/v2.0/acme/changes?limit=1000')->json->{changes}[-1]{id};

# Every tag there is, by where it is told. The feed: up to what there was at first.
sub tags {
    return {
        (map { $_ => $admin->get(map_url($_))->etag } 'old', 'changed', 'moved'),
        'old, in a list'    => join(' ', map { "$_->{metadata}{name} $_->{metadata}{etag}" } @{ $admin->get('/v2.0/acme/namespaces/default/configmaps')->json->{resources} }),
        'old, other host'   => on_other(GET => map_url('old'))->{headers}{etag},
        node                => $metal->get("/nodes/$node")->etag,
        'node, tenancy'     => $admin->get("/v2.0/acme/nodes/$node")->etag,
        'nodes, in a list'  => join(' ', map { $_->{etag} } @{ $metal->get('/nodes/detail')->json->{nodes} }),
        'node, other host'  => on_other(GET => "/v2.0/acme/nodes/$node")->{headers}{etag},
        port                => $metal->get("/ports/$port")->etag,
        tenant              => $admin->get('/v2.0/acme')->etag,
        webhook             => $admin->get('/v2.0/acme/webhooks/hook')->etag,
        'the feed'          => join(' ', map { ($_->{etag_before} // '-') . ($_->{etag_after} // '-') } grep { $_->{id} <= $feed_end } @{ $admin->get('/v2.0/acme/changes?limit=1000')->json->{changes} }),
        'a preview'         => $admin->get('/v2.0/acme/action/move?dest=dest')->etag,
        'a preview of one'  => $admin->get(map_url('old') . '/action/move?dest=dest')->etag,
    };
}

like manage(0, 'at first', 'list'), qr/\A *ID +ADDED +MAKES\n *1 +- +new tags, owners' tags\n\z/, 'there is one key';
like manage(65, 'the first one cannot be retired', 'retire', '1'), qr/key 1 stays: it is the first one, which derives/, 'and it is told why';
like manage(66, 'nor one that is not there', 'retire', '2'), qr/there is no key 2/, 'and it is told why';
like manage(64, 'nor what is no id', 'retire', 'x'), qr/"x" is no id of a key/, 'and it is told why';

my $before = tags();
ok defined $before->{$_}, "there is a tag: $_" for sort keys %$before;
is manage(0, 'a key is added', 'add'), "2\n", 'and its id printed';
is_deeply tags(), $before, 'no tag is another one';
isnt $instance->sql_value(q(SELECT HEX(LEFT(value, 32)) FROM settings WHERE name = 'etag_key')),
    $instance->sql_value(q(SELECT HEX(LEFT(value, 32)) FROM settings WHERE name = 'etag_key.2')), 'the key is of its own';

is_used('etag_key.2', 'the service uses the new key, without a restart');
is_used_elsewhere('etag_key.2', 'so does another host');
is key_of('old'), 'etag_key', 'what was not changed has the tag of the old one';
my $after = tags();
is $after->{$_}, $before->{$_}, "the same as before: $_" for grep { !/changed|configmaps|preview|old, in a list/ } sort keys %$before;
doctor('tags of two keys');

subtest 'a tag of the old key is as good' => sub {
    $admin->put(map_url('old'), json => { data => { x => 'y' } }, if_match => '"x"')->is_status(412, 'a wrong one is refused');
    $admin->get(map_url('old'), if_none_match => $before->{old})->is_status(304, 'unchanged');
    my $changes = $instance->change_count;
    my $same = $admin->put(map_url('old'), json => { data => $admin->get(map_url('old'))->json->{data} }, if_match => $before->{old});
    $same->is_status(200, 'a PUT that changes nothing');
    is $same->etag, $before->{old}, 'gives no other tag';
    is $instance->change_count, $changes, 'and is no change';
    $admin->post(map_url('moved') . '/action/move?dest=dest')->is_status(303, 'a move');
    is $admin->get(map_url('moved') =~ s/acme/dest/r)->etag, $before->{moved}, 'changes no content and no tag';
    $admin->delete(map_url('deleted'))->is_status(204);
    $admin->put(map_url('old'), json => { data => { x => 'y' } }, if_match => $before->{old})->is_status(200, 'a change');
    is key_of('old'), 'etag_key.2', 'makes a tag of the new one';
    $admin->put(map_url('old'), json => { data => { x => 'z' } }, if_match => $before->{old})->is_status(412, 'and the old one does not count');
    $metal->patch("/nodes/$node", [[replace => '/name', 'n2']], if_match => $before->{node})->is_status(200, 'a node');
    my $shown = $metal->get("/nodes/$node")->etag;
    isnt $shown, $before->{node}, 'has another tag then';
    $admin->get("/v2.0/acme/nodes/$node")->etag eq $shown or fail 'the same in each dialect';
};

subtest 'a third key, and the second goes' => sub {
    like manage(65, 'the newest cannot be retired', 'retire', '2'), qr/key 2 stays: it makes new tags: add another one first/, 'and it is told why';
    is manage(0, 'another one', 'add'), "3\n", 'with the next id';
    like manage(65, 'the second may be in use for some minutes', 'retire', '2'), qr/key 2 stays: a process may still use it until 20\S+Z/, 'and it is told until when';
    is_used('etag_key.3', 'the service uses the third');
    is_used_elsewhere('etag_key.3', 'and the other host');
    $instance->sql(q(UPDATE settings SET value = CONCAT(LEFT(value, 32), UNIX_TIMESTAMP() - 1000) WHERE name = 'etag_key.3'));
    my $mine = $instance->sql_value(q(SELECT COUNT(*) FROM resources WHERE name IN ('old', 'n2') OR body LIKE '%"n2"%'));
    my ($n) = manage(65, 'tags of it are there', 'retire', '2') =~ /key 2 stays: resources and tenants with a tag of it: (\d+); they get another one when they change/;
    is $n, $mine, 'and they are counted';
    my ($count) = manage(0, 'list counts, too', 'list', '--count') =~ /^ *2 .* (\d+)$/m;
    is $count, $mine, 'to the same number';
    put('old');
    $metal->patch("/nodes/$node", [[replace => '/name', 'n3']])->is_status(200);
    my $is = tags();
    manage(0, 'when none is left', 'retire', '2');
    my $now = tags();
    is_deeply { %$now, map { $_ => undef } @previews }, { %$is, map { $_ => undef } @previews }, 'it goes, and no tag is another one but those of previews';
    is $instance->sql_value(q(SELECT COUNT(*) FROM settings WHERE name = 'etag_key.2')), 0, 'from the database';
    unlike manage(0, 'the list', 'list'), qr/^ *2 /m, 'has it no more';
    $admin->post(map_url('deleted') =~ s{/configmaps.*}{/configmaps/deleted/action/recover}r)->is_status(204, 'what was deleted before');
    is $admin->get(map_url('deleted'))->status, 200, 'comes back';
    doctor('a key less');
    is manage(0, 'ids', 'add'), "4\n", 'are not used again';
};

subtest 'previews' => sub {
    # Each worker learns by itself that there is a fourth key, and with it that the third one is old enough for previews.
    is_used('etag_key.4', 'the service uses the fourth key');
    $admin->make_tenant('dest2');
    my $maps = '/v2.0/previewed/namespaces/default/configmaps';
    $admin->make_tenant('previewed');
    $admin->put("$maps/$_", json => { data => { a => 'b' } })->is_status(201) for 'one', 'two';
    my $undone = $admin->put("$maps/two", json => { data => { a => 'c' } })->request_id;
    my $undo = "/v2.0/previewed/changes/$undone/undo";
    my $move = "$maps/one/action/move?dest=dest2";
    my @paths = ($move, $undo);
    my %old = map { $_ => $admin->get($_)->etag } @paths;
    my $key = manage(0, 'a new key', 'add') =~ s/\s//gr;
    is_used("etag_key.$key", 'which the service uses');
    is $admin->get($_)->etag, $old{$_}, 'a preview has the tag of a key that all know' for @paths;
    # A conditional move that waits until a tag is made by the next key.
    $admin->make_tenant('queued');
    $admin->make('/v2.0/queued/persistentvolumes/v');
    my $later  = '/v2.0/queued/persistentvolumes/v/action/move?dest=dest';
    my @stopped = $instance->stop_movers;
    my $waits = $admin->post($later, prefer => 'respond-async', if_match => $admin->get($later)->etag);
    $waits->is_status(202, 'a move waits');
    # As if it had been added a while ago; the processes read the keys when the next one comes.
    $instance->sql("UPDATE settings SET value = CONCAT(LEFT(value, 32), UNIX_TIMESTAMP() - 1000) WHERE name = 'etag_key.$key'");
    manage(0, 'the next one', 'add');
    learn();
    ok Tenure::Instance::wait_until(sub { $admin->get('/v2.0/acme/example.com/things'); !grep { $admin->get($_)->etag eq $old{$_} } @paths }, 30), 'a preview has a tag of the new one';
    kill CONT => @stopped;
    my $moved = Tenure::Instance::follow($admin, $waits);
    $moved->is_status(303, '... and is done, as what it takes is the same by the former key') or diag $moved->text;
    my %new = map { $_ => $admin->get($_)->etag } @paths;
    isnt $new{$_}, $old{$_}, 'and so has an undo' for $undo;
    $admin->post($undo, if_match => '"0123456789012345678901234567890123456789"')->is_status(412, 'a wrong tag is refused');
    $admin->post($undo, if_match => $old{$undo})->is_status(200, 'an undo by the former key counts');
    $admin->post($move, if_match => $new{$undo})->is_status(412, 'a tag of something else does not');
    $admin->post($move, if_match => $old{$move})->is_status(303, 'a move by the former key counts');
    my $back = $admin->get('/v2.0/dest2/namespaces/default/configmaps/one/action/move?dest=previewed')->etag;
    $admin->post('/v2.0/dest2/namespaces/default/configmaps/one/action/move?dest=previewed', if_match => $back)->is_status(303, 'one by the new key as well');
    $admin->post($move, if_match => $old{$move})->is_status(412, 'what changed since is refused, whichever key its preview is of');
};

# A restore makes tags in a transaction that may take long. This one waits for a row of the same name.
subtest 'a restore that goes on' => sub {
    my $dump = $instance->dir . '/held';
    $admin->make_tenant('held');
    $admin->put('/v2.0/held/namespaces/default/configmaps/kept', json => { data => { a => 'b' } })->is_status(201);
    is +($instance->manage('dump', '--tenant', 'held', $dump))[0], 0, 'dumped';
    $admin->delete('/v2.0/held')->is_status(204);
    $instance->sql(q(UPDATE tenants SET purge_at = '2001-01-01' WHERE name = 'held'));
    is +($instance->manage('reap'))[0], 0, 'purged';
    my $lock = $instance->sql_locks(q(INSERT INTO tenants (name, uid, tier_id, metadata, object, etag_required, type_policy, etag, revision, created_at, updated_at)
        SELECT 'held', UNHEX(REPEAT('7', 32)), tier_id, metadata, object, etag_required, type_policy, etag, revision, created_at, updated_at FROM tenants WHERE name = 'acme'));
    local $ENV{TENURE_DATABASE_LOCK_WAIT} = 100;
    my $restored = $instance->begin_manage("$dump.said", 'restore', $dump);
    ok Tenure::Instance::wait_until(sub { $instance->count_lock_waits == 1 }), 'a restore waits';
    my $newest = $instance->sql_value(q(SELECT MAX(CAST(SUBSTRING(name, 10) AS UNSIGNED)) FROM settings WHERE name LIKE 'etag_key.%'));
    my ($old, $new) = ("etag_key.$newest", 'etag_key.' . manage(0, 'another key', 'add') =~ s/\s//gr);
    is_used($new, 'is used');
    put('old');
    # As if the restore had begun a while ago.
    $instance->sql("UPDATE settings SET value = CONCAT(LEFT(value, 32), UNIX_TIMESTAMP() - 1000) WHERE name = '$new'");
    my $retired = $instance->begin_manage("$dump.retired", 'etag-key', 'retire', $newest);
    ok Tenure::Instance::wait_until(sub { $instance->count_lock_waits == 2 }), 'who retires its key waits for it';
    close $lock;
    my ($code, $text) = $restored->();
    is $code, 0, 'it is restored' or diag $text;
    is key_of('kept'), $old, 'by the key that it began with';
    ($code, $text) = $retired->();
    ok $code == 65 && $text =~ /key $newest stays: resources and tenants with a tag of it: \d+;/, 'which stays therefore' or diag "$code: $text";
    doctor('restored');
};

subtest 'what is wrong is still found' => sub {
    $instance->sql(q(UPDATE resources SET etag = REVERSE(etag) WHERE name = 'old' AND live = 1));
    my ($code, $text) = $instance->manage('doctor');
    is $code, 1, 'a tag of no key';
    ($code, $text) = $instance->manage('doctor', '--fix');
    is $code, 0, 'is mended' or diag $text;
    is key_of('old'), 'etag_key.7', 'by the newest key';
    is key_of('deleted'), 'etag_key', 'no other tag is touched';
    doctor('mended');
};

subtest 'as many as there may be' => sub {
    my $n = $instance->sql_value(q(SELECT COUNT(*) FROM settings WHERE name LIKE 'etag\_key%'));
    my @codes = map { ($instance->manage('etag-key', 'add'))[0] } $n + 1 .. 20;
    is_deeply \@codes, [ (0) x (20 - $n) ], 'up to 20';
    like manage(65, 'one more', 'add'), qr/there are 20 keys already: retire one that has no tags any more/, 'is refused';
};

done_testing;
