#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A tenant's webhooks in its dump: without secrets; restored they are paused, with other secrets, and are sent nothing of the restore. What is not
# allowed there, and what is no webhook, is refused with its line.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use MIME::Base64 qw(encode_base64);
use Test::More;

use Tenure::DumpFile;
use Tenure::Instance;
use Tenure::Receiver;
use Tenure::Run qw(read_file);

my $receiver = Tenure::Receiver->start;
my $here     = Tenure::Instance->start(settings => { 'webhooks.allow_http' => 'yes' });
my $there    = Tenure::Instance->start(settings => { 'webhooks.allow' => '127.0.0.1', 'webhooks.allow_http' => 'yes', 'webhooks.per_tenant' => 3, 'webhooks.retry_first' => 50 });
my $file     = $here->dir . '/dump';
my $false    = JSON::PP::false();

sub manage {
    my ($instance, $want, $name, @args) = @_;
    my ($code, $text) = $instance->manage(@args);
    is $code, $want, $name or diag $text;
    return $text;
}

my $admin = $here->admin;
$admin->make_tenant($_) for 'acme', 'other';
my %said = (url => $receiver->url('/sink'), description => "to \x{e4} \"sink\"", verbs => [ 'created', 'updated' ], types => ['configmaps']);
$admin->put('/v2.0/acme/webhooks/sink', json => {%said})->is_status(201);
$admin->put('/v2.0/acme/webhooks/secure', json => { url => 'https://receiver.invalid/x', paused => JSON::PP::true() })->is_status(201);
$admin->post('/v2.0/acme/webhooks/sink/action/rotate')->is_status(200);
$admin->put('/v2.0/other/webhooks/foreign', json => { url => 'https://receiver.invalid/y' })->is_status(201);
$admin->put("/v2.0/acme/namespaces/default/configmaps/c$_", json => { data => {} })->is_status(201) for 1 .. 3;
my @secrets = map { $_->[0] } $here->sql(q(SELECT LOWER(HEX(secret)) FROM webhooks UNION SELECT LOWER(HEX(old_secret)) FROM webhooks WHERE old_secret IS NOT NULL));
manage($here, 0, 'dump', 'dump', '--tenant', 'acme', $file);
my $text = read_file($file);
unlike $text, qr/foreign/, 'no other tenant\'s webhooks';
ok !(grep { my $raw = pack 'H*', $_; $text =~ /\Q$_\E/i || index($text, encode_base64($raw, '') =~ s/=+\z//r) >= 0 } @secrets), 'and no secret';

# ---- restored

manage($there, 0, 'restore', 'restore', '--as', 'copy', $file);
my $list = $there->admin->get('/v2.0/copy/webhooks')->json->{webhooks};
is_deeply [ map { [ @$_{qw(name state tenant dead)} ] } @$list ], [ map { [ $_, 'paused', 'copy', 0 ] } qw(secure sink) ], 'the webhooks, paused';
is_deeply { map { ($_ => $list->[1]{$_}) } keys %said }, \%said, 'with what was said of it';
ok !exists $list->[0]{verbs}, 'one without filters has none';
my @before = map { $_->[0] } $there->sql(q(SELECT LOWER(HEX(secret)) FROM webhooks));
ok !(grep { my $one = $_; grep { $_ eq $one } @secrets } @before), 'their secrets are other ones';
is scalar(@before), 2, 'each has one';
is $there->sql_value(q(SELECT COUNT(*) FROM changes c JOIN tenants t ON t.id = c.tenant_id WHERE t.name = 'copy')),
    $there->sql_value(q(SELECT COUNT(*) + 1 FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 'copy')), 'webhooks are no changes of the tenant';

subtest 'and used' => sub {
    my $rotated = $there->admin->post('/v2.0/copy/webhooks/sink/action/rotate')->json;
    $there->admin->put('/v2.0/copy/webhooks/sink', json => { %said, paused => $false }, headers => { 'If-Match' => $rotated->{etag} })->is_status(200);
    $there->admin->put('/v2.0/copy/namespaces/default/configmaps/new', json => { data => {} })->is_status(201);
    ok Tenure::Instance::wait_until(sub { grep { ($_->{resource} // '') =~ m{configmaps/new} } $receiver->changes('/sink') }), 'what changes after the pause is sent';
    is_deeply [ grep { !m{configmaps/new} } map { $_->{resource} // '' } $receiver->changes('/sink') ], [], 'what the restore made is not';
    my ($message) = $receiver->messages('/sink');
    ok Tenure::Receiver::is_signed($message, $rotated->{secret}), 'signed by the secret that was shown';
};
my ($code, $doctor) = $there->manage('doctor');
is $code, 0, 'doctor finds nothing wrong' or diag $doctor;

# ---- refused

my $whole = Tenure::DumpFile->read($file);
sub edited {
    my ($edit) = @_;
    my $dump = $whole->copy;
    my @lines = $dump->change(sub { $_[0] eq 'webhook' && $_[1]{name} eq 'sink' }, $edit);
    $dump->write("$file.edited");
    return $lines[0];
}
$there = Tenure::Instance->start(settings => { 'webhooks.per_tenant' => 1 });
my $line;
for my $case ([ 'no URL', sub { delete $_[0]{url} } ], [ 'a URL that is no text', sub { $_[0]{url} = 7 } ]) {
    $line = edited($case->[1]);
    like manage($there, 65, $case->[0], 'restore', "$file.edited"), qr/^line $line, webhook sink: url must be a URL/m, "$case->[0]: says so";
}
$line = edited(sub { });
my $told = manage($there, 65, 'what is not allowed there', 'restore', "$file.edited");
like $told, qr/^line $line, webhook sink: url must begin with "https:\/\/"$/m, 'a URL';
edited(sub { $_[0]{url} = 'https://receiver.invalid/z' });
like manage($there, 65, 'as many', 'restore', "$file.edited"), qr/^line $line, webhook sink: a tenant may have 1 webhook, and this one has as many: delete one first$/m, 'how many';
for my $case (
    [ 'a name', sub { $_[0]{name} = 'A' }, qr/is no webhook: it needs name/ ],
    [ 'no filters', sub { delete $_[0]{filters} }, qr/is no webhook: it needs name/ ],
    [ 'filters that are none', sub { $_[0]{filters} = '[]' }, qr/is no webhook: it needs name/ ],
    [ 'another filter', sub { $_[0]{filters} = '{"colors":["red"]}' }, qr/is no webhook: filters may be verbs, types and actors/ ],
    [ 'a verb', sub { $_[0]{filters} = '{"verbs":["painted"]}' }, qr/is no webhook: verbs may name created.*; "painted" is none of them/ ],
    [ 'a filter of no names', sub { $_[0]{filters} = '{"types":[]}' }, qr/is no webhook: types must have 1 to 100 members/ ],
    [ 'a filter that is no list', sub { $_[0]{filters} = '{"types":"nodes"}' }, qr/is no webhook: types must have 1 to 100 members/ ],
    [ 'a name twice', sub { $_[0]{name} = 'secure' }, qr/is the webhook "secure" behind "secure": they come in the order of their names, each once/ ],
    [ 'no description', sub { delete $_[0]{description} }, qr/is no webhook: it needs name/ ],
    [ 'a member that is no text', sub { $_[0]{filters} = '{"actors":[7]}' }, qr/is no webhook: each of actors must have 1 to/ ],
) {
    my ($name, $edit, $want) = @$case;
    my $at = edited($edit);
    like manage($there, 65, $name, 'restore', "$file.edited"), qr/: line $at $want/, "$name: says so";
}
is $there->sql_value(q(SELECT (SELECT COUNT(*) FROM webhooks) + (SELECT COUNT(*) FROM webhook_cursors) + (SELECT COUNT(*) FROM tenants WHERE name = 'acme'))), 0, 'nothing was restored';

done_testing;
