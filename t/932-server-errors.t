#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Every error that doc/troubleshooting.md and doc/api.md list: provoked by what the pages name as its cause, told as they say (id, status,
# word in the access log), and over once what they name as its cure was done.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Raw;
use Tenure::Run qw(read_file);

my $top      = Tenure::Instance::source_dir();
my $instance = Tenure::Instance->start(auth => 'token', allow => [qr/can't be read/, qr/answered 50[013]/, qr/read-only/], settings => {
    'tenure.max_body' => '2M', 'tenure.max_target' => '8K', 'tenure.request_cpu' => 60, 'tenure.wrong_tokens' => 1 });
my $admin = $instance->admin;
my ($true, $false) = (JSON::PP::true(), JSON::PP::false());
$admin->make_tenant($_) for qw(acme globex);
is +($instance->manage('tier', 'set', 'one', '--max-resources', '1'))[0], 0, 'a tier of one resource';
my %token   = map { $_ => $instance->token('acme', $_) } qw(reader member);
my $service = $instance->service($token{member});
my $reader  = $instance->service($token{reader});
$reader->get('/v2.0/acme/configmaps')->is_status(200, 'a token that is known from now on');

my $space  = '/v2.0/acme/namespaces/default/configmaps';
my $number = 0;

# A new resource's address.
sub made { my ($content) = @_; my $path = "$space/c" . ++$number; $service->make($path, $content // {}); return $path }

# Error => [how it comes about, how it is over; both return an answer]. The second is missing where the cure is to ask for something else.
my %errors = (
    'bad-request' => [ sub { $service->put(made(), json => {}, if_match => '"open') }, sub { $service->put(made(), json => {}, if_match => '*') } ],
    'bad-address' => [ sub { $service->get("$space/a%2Fb") }, sub { $service->put("$space/a%E2%88%95b", json => {}) } ],
    'bad-parameter' => [
        sub { $admin->put('/v2.0/late', json => { tenant => { tier => 'late' } }) },
        sub { $instance->manage('tier', 'set', 'late', '--max-resources', '5'); $admin->put('/v2.0/late', json => { tenant => { tier => 'late' } }) },
    ],
    'bad-document' => [ sub { $service->put("$space/d", body => '{"a":1,"a":2}', type => 'application/json') }, sub { $service->put("$space/d", json => { a => 1 }) } ],
    unauthenticated => [ sub { $service->get($space, as => undef) }, sub { $service->get($space) } ],
    forbidden => [ sub { $reader->put("$space/f", json => {}) }, sub { $service->put("$space/f", json => {}) } ],
    # Another tenant's; an operator sees it.
    'not-found' => [ sub { $service->get('/v2.0/globex/configmaps') }, sub { $admin->get('/v2.0/globex/configmaps') } ],
    'method-not-allowed' => [ sub { $service->put('/v2.0/acme/configmaps', json => {}) } ],
    'not-acceptable' => [ sub { $service->get($space, accept => 'image/png') }, sub { $service->get($space, accept => 'application/xml') } ],
    conflict => [ sub { $service->delete('/v2.0/acme/namespaces/default') } ],
    'name-taken' => [
        sub { my $path = made(); $service->delete($path); $service->make($path, { new => $true }); $service->post("$path/action/recover") },
        sub { my $path = "$space/c$number"; my $uid = $instance->sql_value("SELECT LOWER(HEX(uid)) FROM resources WHERE name = 'c$number' AND live IS NULL") =~ s/(.{8})(.{4})(.{4})(.{4})/$1-$2-$3-$4-/r;
            $service->delete($path); $service->post("$path/action/recover?uid=$uid") },
    ],
    'over-quota' => [
        sub { $admin->make_tenant('small', tier => 'one'); $admin->make('/v2.0/small/persistentvolumes/a'); $admin->put('/v2.0/small/persistentvolumes/b', json => {}) },
        sub { $instance->manage('tier', 'set', 'one', '--max-resources', '2'); $admin->put('/v2.0/small/persistentvolumes/b', json => {}) },
    ],
    blocked => [
        sub { $admin->make("/v2.0/$_/persistentvolumes/both") for qw(acme globex); $admin->post('/v2.0/acme/persistentvolumes/both/action/move?dest=globex') },
        sub { $admin->delete('/v2.0/globex/persistentvolumes/both'); $admin->post('/v2.0/acme/persistentvolumes/both/action/move?dest=globex') },
    ],
    locked => [
        sub { $service->delete(made({ metadata => { locked => $true } })) },
        sub { my $path = "$space/c$number"; $service->patch($path, { metadata => { locked => $false } }); $service->delete($path) },
    ],
    recoverable => [
        sub { $admin->make_tenant('gone'); $admin->delete('/v2.0/gone'); $admin->put('/v2.0/gone', json => { tenant => {} }) },
        sub { $admin->post('/v2.0/gone/action/recover'); $admin->put('/v2.0/gone', json => { tenant => {} }) },
    ],
    gone => [
        sub { my $path = made(); $service->delete($path); $service->get($path) },
        sub { my $path = "$space/c$number"; $service->post("$path/action/recover"); $service->get($path) },
    ],
    stale => [
        sub { my $path = made(); my $etag = $service->get($path)->etag; $service->put($path, json => { n => 1 }); $service->put($path, json => { n => 2 }, if_match => $etag) },
        sub { my $path = "$space/c$number"; $service->put($path, json => { n => 2 }, if_match => $service->get($path)->etag) },
    ],
    'body-too-large' => [ sub { $service->put("$space/large", json => { a => 'x' x 2**21 }) }, sub { $service->put("$space/large", json => { a => 'x' x 2**10 }) } ],
    'target-too-long' => [ sub { $service->get('/v2.0/acme/persistentvolumes/' . '%41' x 3000) } ],
    'unsupported-media' => [ sub { $service->put("$space/m", body => '{}', type => 'text/plain') }, sub { $service->put("$space/m", body => '{}', type => 'application/json') } ],
    'too-costly' => [
        sub { patched(40_000) },
        sub { patched(20) },
    ],
    'precondition-required' => [
        sub { $admin->patch('/v2.0/acme', { tenant => { etag_required => $true } }); $service->put(made(), json => { n => 1 }) },
        sub { $admin->patch('/v2.0/acme', { tenant => { etag_required => $false } }, if_match => $admin->get('/v2.0/acme')->etag); $service->put("$space/c$number", json => { n => 1 }) },
    ],
    # This token has not been seen before, and its address has sent wrong ones.
    'too-many-requests' => [ sub {
        my $answer;
        for (1 .. 5) { $answer = $service->get($space, as => sprintf '%012x.%s', $_, 'x' x 32); last if $answer->status == 429 }
        return $answer;
    } ],
    'headers-too-large' => [ sub { raw(map { "X-Field-$_: a" } 1 .. 140) }, sub { raw(map { "X-Field-$_: a" } 1 .. 40) } ],
    internal => [
        sub { my $path = made(); $instance->sql("UPDATE resources SET body = '{' WHERE name = 'c$number' AND live = 1"); $service->patch($path, { a => 1 }) },
        sub { $instance->sql("UPDATE resources SET body = '{}' WHERE name = 'c$number' AND live = 1"); $service->patch("$space/c$number", { a => 1 }) },
    ],
    'unknown-method' => [ sub { $service->request('LOCK', $space) } ],
    unavailable => [
        sub { $instance->sql('SET GLOBAL read_only = 1'); $service->put("$space/u", json => {}) },
        sub { $instance->sql('SET GLOBAL read_only = 0'); $service->put("$space/u", json => {}) },
    ],
    'not-yet' => [ sub { versions(1000) }, sub { versions(0) } ],
);

# An object with so many members of a list that each is put in front.
sub patched {
    my ($n) = @_;
    my $body = JSON::PP->new->encode([ map { { op => 'add', path => '/l/0', value => $_ } } 1 .. $n ]);
    return $service->request('PATCH', made({ l => [] }), body => $body, type => 'application/json-patch+json');
}

sub raw {
    my (@headers) = @_;
    return Tenure::Raw::get($service->url, $space, token => $token{member}, headers => \@headers);
}

# A list of version "so many changes after the last".
sub versions {
    my ($after) = @_;
    my $list = '/api/v1/namespaces/default/configmaps';
    my $now  = $service->get($list)->json->{metadata}{resourceVersion};
    return $service->get("$list?resourceVersion=" . ($now + $after));
}

# Table rows "| `id` | …" with the status, if the table has one.
my ($section) = read_file("$top/doc/troubleshooting.md") =~ /^## Errors that Tenure answers\n(.*?)^## /ms;
my @ids = $section =~ /^\| `([a-z-]+)` \|/mg;
my %status = read_file("$top/doc/api.md") =~ /^\| `([a-z-]+)` \| ([45]\d\d) \|/mg;
is_deeply [sort @ids], [sort keys %errors], 'the errors of doc/troubleshooting.md are those that are tried here';
is_deeply [sort keys %status], [sort keys %errors], 'so are those of doc/api.md';

# This one comes last, since it makes others unlikely to be served.
for my $id ((grep { $_ ne 'too-many-requests' } @ids), 'too-many-requests') {
    my ($provoke, $cure) = @{ $errors{$id} // next };
    subtest $id => sub {
        my $answer = $provoke->();
        $answer->is_status($status{$id}, 'is answered');
        is $answer->json->{type}, "urn:tenure:problem:$id", 'by that id' if $answer->type eq 'application/problem+json';
        my $endpoint = $answer->{what} =~ m{/v2\.0/(?:acme/persistentvolumes/both|late|small|gone)\b} ? 'admin' : 'service';
        like $instance->access_line($endpoint, $answer), qr/ \Q$id\E \d+ "/, 'so does the access log';
        next_is_well($id, $cure->()) if $cure;
    };
}

sub next_is_well {
    my ($id, $answer) = @_;
    cmp_ok $answer->status, '<', 400, 'and it is over with the cure' or diag $answer->describe;
    return;
}

# A list above a MiB goes through a file. If none can be made, it takes the request's memory. The folder is there while the service starts.
subtest 'no file for a long answer' => sub {
    my $folder = File::Temp->newdir('tenure-long-XXXXXX', TMPDIR => 1);
    my $long = Tenure::Instance->start(workers => 1, settings => { 'tenure.request_memory' => '16M' }, faults => { TMPDIR => "$folder" }, allow => [qr/no file for a long answer/]);
    $long->admin->make_tenant('acme');
    my $client = $long->service('ann:acme:admin');
    my $list   = '/api/v1/namespaces/default/configmaps';
    $client->make("$space/l$_", { data => { text => 'x' x 2_500_000 } }) for 1 .. 8;
    $client->get($list)->is_status(200, 'a list of more than a request may hold in memory');
    rename "$folder", "$folder.away" or die "rename: $!";
    my $answer = $client->get($list);
    $client->get("$list?limit=1")->is_status(200, 'a shorter one is answered without a file');
    rename "$folder.away", "$folder" or die "rename: $!";
    $answer->is_status(422, 'while its folder is away it is refused');
    like $long->access_line('service', $answer), qr/ too-costly \d+ "/, 'as too costly';
    ok Tenure::Instance::wait_until(sub { $long->log_text('service') =~ /no file for a long answer can be made in \Q$folder\E: No such file or directory/ }), 'the log says why';
    $client->get($list)->is_status(200, 'and it is there again with the folder');
    $long->stop;
};

# Lines of the log about rows that the schema brings, as doc/troubleshooting.md has them.
subtest 'rows that belong to the schema' => sub {
    my $lacking = Tenure::Instance->start(workers => 1, allow => [qr/the database has no/, qr/answered 500/, qr/usage_progress has no row/]);
    $lacking->admin->make_tenant('acme');
    my $reload = sub { kill 'HUP', $lacking->master_pid('service') };
    my $client = $lacking->service('ann:acme:admin');
    $lacking->sql("CREATE TABLE kept AS SELECT * FROM settings WHERE name = 'state_key'");
    $lacking->sql("DELETE FROM settings WHERE name = 'state_key'");
    $reload->();
    ok Tenure::Instance::wait_until(sub { $client->get($space)->status == 500 }), 'without a key nothing is served';
    like $lacking->log_text('service'), qr/the database has no state_key in table settings: run `tenure-manage db init`/, 'the log says which';
    $lacking->sql('INSERT INTO settings SELECT * FROM kept');
    ok Tenure::Instance::wait_until(sub { $client->get($space)->status == 200 }), 'with it all is well';
    my $secrets = '/api/v1/namespaces/default/secrets';
    $client->get($secrets)->is_status(200, 'a built-in type');
    $lacking->sql("UPDATE types SET plural = 'hidden' WHERE plural = 'secrets'");
    $reload->();
    ok Tenure::Instance::wait_until(sub { $client->get($secrets)->status == 404 }), 'is not served without its row';
    ok Tenure::Instance::wait_until(sub { $lacking->log_text('service') =~ /the database has no built-in type secrets\., so it is not served/ }), 'the log says so';
    $lacking->sql("UPDATE types SET plural = 'secrets' WHERE plural = 'hidden'");

    $lacking->sql("INSERT INTO settings (name, value) VALUES ('etag_key.2', 'too short')");
    $reload->();
    ok Tenure::Instance::wait_until(sub { $client->get($space)->status == 500 }), 'with a key of etags that is none nothing is served';
    like $lacking->log_text('service'), qr/table settings: row "etag_key\.2" is no key of etags, or there are more than \d+/, 'the log says which';
    $lacking->sql("DELETE FROM settings WHERE name = 'etag_key.2'");
    ok Tenure::Instance::wait_until(sub { $client->get($space)->status == 200 }), 'without it all is well';

    $lacking->sql('DELETE FROM usage_progress');
    ok Tenure::Instance::wait_until(sub { $lacking->log_text('host') =~ /table usage_progress has no row: it belongs to the schema/ }), 'usage without its row';
    $lacking->sql('INSERT INTO usage_progress (id) VALUES (1)');
    ok $lacking->usage_has_counted, 'begins anew';
    $lacking->stop;
};

done_testing;
