#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure-manage dump --all and restore: a whole installation, with its trash, log, tokens and keys, in another database answers each call
# as before. What is broken, killed or not empty leaves the other one as it was.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use POSIX ();
use Test::More;

use Tenure::DumpFile;
use Tenure::Instance;
use Tenure::Run qw(read_file);
use Tenure::Upgrade;

Tenure::Upgrade->need_programs;
my $home   = Tenure::Upgrade->new;
my $manage = Tenure::Upgrade->build_dir . '/tenure-manage';
my $json   = JSON::PP->new->utf8->canonical->allow_nonref;
my $file   = "$home->{dir}/all.dump";
my ($filled) = reverse Tenure::Upgrade->releases;

sub manage {
    my ($database, $want, $name, @words) = @_;
    my ($code, $text) = $database->manage(@words);
    is $code, $want, $name or diag $text;
    return $text;
}

# ---- a filled installation: tenants, some deleted; resources of all dialects, some deleted; moves, forwards, allocations; and since then
# webhooks, an update whose former content is kept, tokens

my $here = $home->release($filled, 'here');
# What MySQL has by default, and many an option file: no list of a table's columns may be cut there.
$here->sql('SET GLOBAL group_concat_max_len = 1024');
manage($here, 0, 'the schema of today', 'db', 'upgrade');
$here->serve;
sub made {
    my ($database, $method, $path, $content, %header) = @_;
    my $answer = $database->ask($method, $path, $content, %header) // die "$method $path: no answer\n";
    $answer->{status} =~ /\A[23]/ or die "$method $path: $answer->{status} $answer->{body}\n";
    return $answer;
}
made($here, PUT => '/v2.0/acme/webhooks/w', { url => 'https://hooks.example/x', paused => JSON::PP::true });
made($here, PUT => '/v2.0/acme/namespaces/web/configmaps/c5', { data => { text => "\x{e4} \x{1f600} \"q\" \\ \x{2028}" } });
made($here, DELETE => '/v2.0/acme/namespaces/web/configmaps/c6');
made($here, PUT => '/v2.0/leaving', { tenant => {} });
made($here, DELETE => '/v2.0/leaving');
my $token = manage($here, 0, 'a token', 'token', 'create', '--tenant', 'acme', '--role', 'member', '--user', 'carl') =~ s/\n//r;
my @paths = (sort(keys %{ Tenure::Upgrade::answers($filled) }), '/v2.0/acme/changes', '/v2.0/acme/webhooks', '/v2.0/acme/webhooks/w', '/v2.0/acme/moves', '/v2.0/acme/forwards', '/v2.0/acme/tokens', '/v2.0/all/webhooks', '/v2.0/all/tiers',
    '/v2.0/leaving', '/v2.0/acme/action/move?dest=globex', '/baremetal/v1/nodes/detail', '/placement/resource_providers', '/placement/traits', '/placement/resource_classes',
    '/api/v1/tenants/acme/namespaces/web/configmaps', '/apis', '/v2.0/acme/namespaces/web/configmaps/c6', '/v2.0/all/changes');
sub answers {
    my ($database) = @_;
    return { map {
        my $answer = $database->ask(GET => $_, undef, 'X-OpenStack-Ironic-API-Version' => '1.82', 'OpenStack-API-Version' => 'placement 1.39');
        ($_ => join ' ', $answer->{status}, map({ $answer->{headers}{$_} // '-' } qw(etag location)), $answer->{body} =~ s/"(request_id|closed_until)":"[^"]*"/"$1":"-"/gr);
    } @paths };
}

# The rows of each table, as the other database should have them. kept: those that no dump has.
my %kept = map { $_ => 1 } qw(schema_version schema_files schema_steps log_writers writer writer_slots writer_switches sessions webhook_lease);
sub tables { my ($database) = @_; return grep { !$kept{$_} } split /\n/, $database->sql('SHOW TABLES') }
sub rows {
    my ($database) = @_;
    my @tables = tables($database);
    my $text = $database->sql(join ' ', map {
        my $where = $_ eq 'settings' ? q(WHERE name NOT IN ('maintenance', 'doctor_position', 'reaped_at')) : '';
        # Their counters only go up, also those of how often something was published.
        my $columns = $_ eq 'log_horizon' ? 'published' : $_ eq 'catalogues' ? 'name' : '*';
        "SELECT '# table', '$_'; SELECT $columns FROM `$_` $where;";
    } @tables);
    my (%rows, $table);
    for my $line (split /\n/, $text) {
        if ($line =~ /\A# table\t(.*)\z/) { $table = $1; $rows{$table} = [] }
        else { push @{ $rows{$table} }, $line }
    }
    return map { $_ => join "\n", sort @{ $rows{$_} } } keys %rows;
}
sub is_empty {
    my ($database, $name) = @_;
    is $database->sql(q(SELECT CONCAT((SELECT COUNT(*) FROM tenants), ' ', (SELECT COUNT(*) FROM resources WHERE live IS NULL OR live = 1), ' ', (SELECT COUNT(*) FROM tokens)))), '1 0 0', $name;
    return;
}
sub empty_one {
    my ($name) = @_;
    my $database = $home->database($name);
    manage($database, 0, "$name is an empty one", 'db', 'init');
    return $database;
}

# ---- dump

subtest 'writers go on while a dump waits' => sub {
    # Much more than a pipe holds, so that the dump is amid.
    $here->sql('UPDATE tenants SET object = object; INSERT INTO former_tenants SELECT seq + 1000000, 1, 1, CONCAT("{\"a\":\"", REPEAT("x", 1000), "\"}"), "{}", 0 FROM seq_1_to_500');
    open my $pipe, '-|', $manage, '-c', $here->config_path, 'dump', '--all', '-' or die;
    my $first = <$pipe>;
    like $first, qr/"format":1,"schema":\d+,"holds":"installation","at":"/, 'it has begun';
    is made($here, PUT => '/v2.0/acme/namespaces/web/configmaps/late', { data => {} })->{status}, 201, 'a write beside it';
    is made($here, DELETE => '/v2.0/acme/namespaces/web/configmaps/c7')->{status}, 204, 'a deletion beside it';
    my @rest = <$pipe>;
    ok close $pipe, 'the dump is whole';
    is scalar(grep { /"name": "late"/ } @rest), 0, 'and of the moment when it began';
    my ($deleted) = map { /"deleted_at": (null|"[^"]*")/ } grep { /\A\{"sum":"\w+","resources".*"name": "c7"/ } @rest;
    is $deleted, 'null', 'what was deleted meanwhile is not';
    $here->sql('DELETE FROM former_tenants WHERE change_id > 1000000');
};

like manage($here, 64, 'neither --tenant nor --all', 'dump', $file), qr/either --tenant NAME or --all/, 'says so';
manage($here, 64, 'both', 'dump', '--all', '--tenant', 'acme', $file);
manage($here, 64, '--without-tokens of a tenant', 'dump', '--tenant', 'acme', '--without-tokens', $file);
my $before = answers($here);
my @odd = grep { $before->{$_} !~ /\A(?:[23]|410)/ } sort keys %$before;
is scalar @odd, 0, 'the calls are right' or diag join "\n", map { "$_: $before->{$_}" } @odd;
$here->stop;
# An id of a resource that was purged must not come again: the log tells of it.
$here->sql('INSERT INTO resources (uid, tenant_id, type_id, name, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at, updated_at)
    SELECT UNHEX(REPEAT("77", 16)), tenant_id, type_id, "purged", 0, 1, 1, 0, 0, 0, 0, etag, meta, body, created_at, updated_at FROM resources LIMIT 1;
    DELETE FROM resources WHERE name = "purged"');
manage($here, 0, 'dump', 'dump', '--all', $file);
is sprintf('%o', (stat $file)[2] & 0777), '600', 'only its owner may read it';
my %rows_here = rows($here);
my $whole = Tenure::DumpFile->read($file);

# ---- what is refused

my $there = empty_one('there');
subtest 'broken files' => sub {
    my $lines = $whole->lines;
    my $broken = "$file.broken";
    my $write = sub { my ($dump) = @_; $dump->write($broken); return $broken };
    my $text = read_file($file);
    my $put = sub { my ($bytes) = @_; open my $out, '>', $broken or die; print {$out} $bytes; close $out; return $broken };
    like manage($there, 65, 'cut at a line', 'restore', $put->($text =~ s/[^\n]*\n\z//r)), qr/line $lines is missing: the file was cut off/, 'says so';
    like manage($there, 65, 'cut in a line', 'restore', $put->(substr $text, 0, length($text) / 2)), qr/line \d+ has no end: the file was cut off/, 'says so';
    like manage($there, 65, 'more', 'restore', $put->("$text\n")), qr/stands behind the end/, 'says so';
    for my $at (map { int(200 + rand(length($text) - 300)) } 1 .. 8) {
        my $other = $text;
        $at++ while substr($other, $at, 1) eq "\n";
        substr $other, $at, 1, substr($other, $at, 1) eq 'x' ? 'y' : 'x';
        my $n = 1 + (substr($text, 0, $at) =~ tr/\n//);
        like manage($there, 65, "a byte of line $n", 'restore', $put->($other)), qr/line $n is /, 'says which line';
    }
    my @edits = (
        [ dump => sub { $_[0]{schema}-- }, qr/line 1 is of schema version \d+, and this program restores version \d+/ ],
        [ dump => sub { $_[0]{format} = 9 }, qr/line 1 is of format 9/ ],
        [ tenants => sub { $_[0]{color} = 'blue' }, qr/has \d+ members, and table tenants has \d+ columns/ ],
        [ tenants => sub { delete $_[0]{changed} }, qr/has no "changed", which table tenants has/ ],
        [ tiers => sub { $_[0]{max_resources} = 'unlimited' }, qr/has a "max_resources" that table tiers does not take: it is a number, or null/ ],
        [ resource_classes => sub { $_[0]{id} = 4294967296 }, qr/has a "id" that table resource_classes does not take: it is a number$/m ],
        [ tenants => sub { $_[0]{deleted_at} = 'yesterday' }, qr/has a "deleted_at" that table tenants does not take: it is a time, or null/ ],
        [ tenants => sub { $_[0]{uid} .= 'zz' }, qr/has a "uid" that table tenants does not take: it is a bytes/ ],
        [ tenants => sub { $_[0]{name} = 'x' x 300 }, qr/has a "name" that table tenants does not take: it is a text/ ],
        [ resources => sub { $_[0]{revision} = undef }, qr/has a "revision" that table resources does not take/ ],
        [ resources => sub { $_[0]{body} = '[]' }, qr/has body that is no JSON object, as a text/ ],
        [ next => sub { $_[0]{changes} = 'many' }, qr/has no id for "changes"/ ],
    );
    for my $edit (@edits) {
        my ($kind, $change, $want) = @$edit;
        my $dump = $whole->copy;
        $dump->change(sub { $_[0] eq $kind }, $change);
        like manage($there, 65, "an edit of $kind", 'restore', $write->($dump)), $want, 'says so';
    }
    my $dump = $whole->copy;
    $dump->change(sub { $_[0] eq 'tenants' }, sub { $_[0]{id} = 7 });
    like manage($there, 65, 'an id twice', 'restore', $write->($dump)), qr/line \d+ or one of the \d+ before it has a key twice: /, 'says so';
    $dump = $whole->copy;
    $dump->remove(sub { $_[0] eq 'next' });
    like manage($there, 65, 'without the ids that come next', 'restore', $write->($dump)), qr/no line of kind "next" is before it/, 'says so';
    manage($there, 64, 'options of a tenant', 'restore', '--as', 'x', $file);
    is_empty($there, 'nothing was restored');
};

subtest 'killed anywhere' => sub {
    # 33 statements delete, and 35 insert.
    for my $fault (map({ "statement:$_:process" } 1, 4, 6, 8, 20, 38, 40, 50, 60), 'statement:' . (10 + int rand 60) . ':process', 'before-commit:1:process') {
        local $ENV{TENURE_FAULT} = $fault;
        my ($code, $told) = $there->manage('restore', $file);
        isnt $code, 0, $fault;
        ok Tenure::Instance::wait_until(sub { $home->sql('SELECT COUNT(*) FROM information_schema.innodb_trx') == 0 }), 'the database has rolled it back';
        is_empty($there, 'the other one is empty');
    }
    for my $fault ('statement:30:process', 'statement:12:process') {
        local $ENV{TENURE_FAULT} = $fault;
        my ($code) = $here->manage('dump', '--all', "$file.killed");
        isnt $code, 0, "a dump that is killed ($fault)";
        ok !-e "$file.killed", 'leaves no file of that name';
    }
};

like manage($there, 0, 'a dry run', 'restore', '--dry-run', $file), qr/\Awould restore \d+ resources\n\z/, 'says how many';
is_empty($there, 'and restores nothing');
$there->serve;
like manage($there, 65, 'while something runs', 'restore', $file), qr/^there are \d+ other connections to the database: stop tenured/m, 'says so';
$there->stop;
is_empty($there, 'nothing was restored');
{
    # An endpoint of another host may have a user of its own.
    $home->sql("CREATE USER other\@localhost; GRANT ALL ON there.* TO other\@localhost");
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        open STDOUT, '>', '/dev/null' or POSIX::_exit(127);
        exec 'mariadb', '--no-defaults', "--socket=@{[ $home->socket ]}", '--user=other', 'there', '-e', 'SELECT SLEEP(60)' or POSIX::_exit(127);
    }
    ok Tenure::Instance::wait_until(sub { $home->sql("SELECT COUNT(*) FROM information_schema.processlist WHERE db = 'there'") == 1 }), 'another user is connected';
    like manage($there, 65, 'while another user is connected', 'restore', $file), qr/^there are 1 other connections to the database/m, 'says so';
    kill TERM => $pid;
    waitpid $pid, 0;
    is_empty($there, 'nothing was restored');
}
ok Tenure::Instance::wait_until(sub { $home->sql("SELECT COUNT(*) FROM information_schema.processlist WHERE db = 'there'") == 0 }), 'nothing runs any more';

# ---- restore

manage($there, 0, 'maintenance', 'maintenance', 'on', '--reason', 'being restored');
{
    local $ENV{TENURE_FAULT} = 'statement:50:conn';
    like manage($there, 0, 'restore, while the connection is lost once', 'restore', $file), qr/^restored \d+ resources\n\z/m, 'says how many';
}
like manage($there, 0, 'maintenance', 'maintenance', 'status'), qr/being restored/, 'stays as it was';
manage($there, 0, 'maintenance', 'maintenance', 'off');
is_deeply [ tables($there) ], [ sort keys %rows_here ], 'the same tables';
my %rows_there = rows($there);
for my $table (sort keys %rows_here) {
    is $rows_there{$table}, $rows_here{$table}, "table $table";
}
my $next = q(SELECT table_name, auto_increment FROM information_schema.tables WHERE table_schema = '%s' AND auto_increment IS NOT NULL ORDER BY 1);
is $home->sql(sprintf $next, 'there'), $home->sql(sprintf $next, 'here'), 'the ids that come next';
manage($there, 0, 'doctor', 'doctor');
like manage($there, 65, 'again', 'restore', $file), qr/^there are \d+ tenants: an installation is only restored into an empty one$/m, 'it is not empty';

$there->serve;
my $after = answers($there);
for my $path (@paths) {
    is $after->{$path}, $before->{$path}, $path;
}
is made($there, PUT => '/v2.0/acme/namespaces/web/configmaps/new', { data => {} })->{status}, 201, 'it goes on';
is made($there, POST => '/v2.0/acme/namespaces/web/configmaps/c6/action/recover')->{status} =~ /\A2/, 1, 'what was deleted before comes back';
is made($there, POST => '/v2.0/leaving/action/recover')->{status} =~ /\A2/, 1, 'a tenant, too';
is $there->sql('SELECT COUNT(*) FROM tokens WHERE revoked_at IS NULL AND user = "carl"'), 1, 'tokens stay valid';
$there->stop;
manage($there, 0, 'doctor', 'doctor');

subtest 'without tokens' => sub {
    my $other = empty_one('other');
    manage($other, 0, 'a token of the operator', 'token', 'create', '--operator', '--user', 'root');
    like manage($other, 65, 'restore', 'restore', $file), qr/^there are 1 tokens: /m, 'its tokens would be replaced';
    manage($other, 0, 'restore without them', 'restore', '--without-tokens', $file);
    is $other->sql('SELECT user FROM tokens'), 'root', 'the token that was there stays, no other came';
    is $other->sql('SELECT COUNT(*) FROM resources'), $here->sql('SELECT COUNT(*) FROM resources'), 'all else is there';
    manage($here, 0, 'dump without them', 'dump', '--all', '--without-tokens', "$file.2");
    is scalar(grep { /"tokens":/ } split /^/, read_file("$file.2")), 0, 'none is in the file';
};

done_testing;
