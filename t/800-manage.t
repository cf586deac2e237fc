#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure-manage on a database of its own: schema, tiers, tokens, reset, exit codes.
use strict;
use warnings;

use Cwd ();
use File::Basename ();
use lib File::Basename::dirname(__FILE__) . '/lib';

use File::Copy ();
use File::Path ();
use File::Temp ();
use JSON::PP ();
use Test::More;

use Tenure::Run qw(begin run_apart wait_until write_file);

my $top = $ENV{TENURE_SRCDIR} // Cwd::abs_path(File::Basename::dirname(__FILE__) . '/..');
my $build = $ENV{TENURE_BUILD} // $ENV{TENURE_BUILDDIR} // $top;
plan skip_all => "$build/tenure-manage is not built" unless -x "$build/tenure-manage";
plan skip_all => 'mariadbd is not installed' unless grep { -x "$_/mariadbd" } '/usr/sbin', split /:/, $ENV{PATH};

my $dir = File::Temp->newdir('tenure-manage-XXXXXX', TMPDIR => 1);
my $db = "$dir/db";
my $owner = $$;
mkdir "$dir/sql" or die "$dir/sql: $!";
File::Copy::copy($_, "$dir/sql/") or die "$_: $!" for glob "$top/sql/schema/*.{sql,txt}";
if (my $template = $ENV{TENURE_DB_TEMPLATE}) {
    mkdir $db, 0700 or die "$db: $!";
    !-d "$template/data" or system('cp', '-a', "$template/data", "$db/data") == 0 or die 'cp';
}
system("$top/scripts/private-mariadb", 'start', $db) == 0 or die "no database\n";
END { system "$top/scripts/private-mariadb", 'stop', $db if defined $owner && $owner == $$ && $db }

write_file("$dir/tenure.conf", <<"CONF");
[database]
socket = $db/mysql.sock
name = it's a `test
user = o'brien
password = opensesame
admin_user = root
[tenure]
sql_dir = $dir/sql
wadl_dir = $build/build/wadl
[endpoint service]
auth = token
CONF

# (exit code, standard output, standard error)
sub manage { return run_apart("$build/tenure-manage", '-c', "$dir/tenure.conf", @_) }

# What SQL answers: rows with tabs.
sub sql {
    my ($statement, $schema) = @_;
    open my $in, '-|', 'mariadb', '--no-defaults', '-N', '-B', "--socket=$db/mysql.sock", '--user=root',
        defined $schema ? $schema : "it's a `test", '-e', $statement or die $!;
    local $/ = undef;
    my $text = <$in> // '';
    $text =~ s{\n\z}{};
    return $text;
}

subtest 'before the schema' => sub {
    my ($code, $out, $err) = manage('db', 'status');
    is $code, 2, 'status of nothing fails';
    ($code, $out) = manage('db', 'init', '--print-grants');
    is $code, 0, 'grants are printed';
    like $out, qr/^GRANT SELECT, INSERT, UPDATE, DELETE ON `it's a ``test`\.\* TO 'o\\'brien'\@'localhost';$/m,
        'four rights for the application, names quoted';
    unlike $out, qr/'root'\@/, 'nothing for root, who may everything';
    {
        local $ENV{TENURE_DATABASE_ADMIN_USER} = 'boss';
        ($code, $out) = manage('db', 'init', '--print-grants', '--from', "app'1.example.org");
        like $out, qr/^GRANT ALL PRIVILEGES ON `it's a ``test`\.\* TO 'boss'\@'app\\'1\.example\.org';$/m,
            'another admin user gets all rights, from where --from says';
        local $ENV{TENURE_DATABASE_HOST} = 'db.example.org';
        like((manage('db', 'init', '--print-grants'))[1], qr/ TO 'boss'\@'%';$/m, 'or from everywhere');
        local $ENV{TENURE_DATABASE_ADMIN_USER} = '';
        like((manage('db', 'init', '--print-grants'))[1], qr/^-- admin_user is not set/m, 'none: a word about it');
    }
    ($code, $out, $err) = manage('db', 'init', '--from', 'app');
    is $code, 64, 'a host without grants';
    like $err, qr/--from belongs to --print-grants/, '... is told';
    is sql("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name LIKE '%test'", 'mysql'), 0, 'and not run';
};

subtest 'without grants' => sub {
    local $ENV{TENURE_DATABASE_ADMIN_USER} = 'boss';
    my ($code, $out, $err) = manage('db', 'init');
    is $code, 78, 'a user that is not there';
    like $err, qr/1045 Access denied.*no user "boss".*`tenure-manage db init --print-grants` prints/s, '... is told with what to type';
    sql('CREATE USER boss@localhost', 'mysql');
    ($code, $out, $err) = manage('db', 'init');
    is $code, 77, 'one that may not make the database';
    like $err, qr/`tenure-manage db init --print-grants` prints/, '... too';
    ($code, $out, $err) = manage('token', 'list');
    is $code, 78, 'other commands';
    like $err, qr/no user "boss".*db init --print-grants|db init` makes it/s, '... likewise';
    delete $ENV{TENURE_DATABASE_ADMIN_USER};
    ($code, $out, $err) = manage('token', 'list');
    is $code, 78, 'no database yet';
    like $err, qr/there is no database "it's a `test" yet: `tenure-manage db init` makes it/, '... is said';
};

subtest 'schema' => sub {
    my ($code, $out) = manage('db', 'init');
    is $code, 0, 'init makes database and schema';
    my $keys = sql('SELECT name, HEX(value) FROM settings ORDER BY name');
    like $keys, qr/\Aetag_key\t[0-9A-F]{64}\nstate_key\t[0-9A-F]{64}\z/, 'two keys of 32 bytes';
    isnt $1, $2, 'each its own' if $keys =~ /\t(\w+)\n.*\t(\w+)/;
    is sql('SELECT COUNT(*) FROM schema_files WHERE sha256 IS NOT NULL'), scalar(my @files = glob "$dir/sql/*.sql"), 'each file is recorded, with its checksum';
    is sql('SELECT MAX(version) FROM schema_version'), 13, 'programs of version 13 see their own';
    ($code) = manage('db', 'init');
    is $code, 0, 'init again';
    is sql('SELECT name, HEX(value) FROM settings ORDER BY name'), $keys, 'keeps the keys';
    ($code, $out) = manage('db', 'status');
    is $code, 0, 'up to date';
    like $out, qr/^tenants +0,/m, 'and counts';
};

subtest 'an init that is killed' => sub {
    my $made = sub {
        my ($name) = @_;
        return sql(<<'SQL', $name);
SELECT table_name, column_name, column_type, column_default FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position;
SELECT table_name, index_name, column_name FROM information_schema.statistics WHERE table_schema = DATABASE() ORDER BY table_name, index_name, seq_in_index;
SELECT * FROM types ORDER BY id;
SELECT id, name, max_resources FROM tiers ORDER BY id;
SELECT id, name FROM resource_classes ORDER BY id;
SELECT name FROM traits ORDER BY name;
SELECT name FROM catalogues ORDER BY name;
SELECT name FROM settings ORDER BY name;
SELECT published FROM log_horizon;
SELECT version, file, HEX(sha256), oldest FROM schema_files ORDER BY version;
SELECT name FROM tenants ORDER BY name;
SQL
    };
    my $whole = $made->("it's a `test");
    my $begun = 0;
    local $ENV{TENURE_DATABASE_NAME} = 'begun';
    for (my $n = 2;; $n += 19) {
        sql('DROP DATABASE IF EXISTS begun; CREATE DATABASE begun CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin', 'mysql');
        my ($code) = do { local $ENV{TENURE_FAULT} = "statement:$n:process"; manage('db', 'init') };
        last if $code == 0;
        is $code, 137, "killed at statement $n" or last;
        my ($status, undef, $why) = manage('db', 'status');
        if ($why =~ /begun and not finished/) {
            is $status, 2, '... which status says' if !$begun++;
            ($status, undef, $why) = manage('db', 'upgrade');
            is $status, 2, '... no upgrade completes it';
            like $why, qr/the schema was begun and not finished: `tenure-manage db init` makes it anew/, '... which is said';
        }
        ($code, undef, $why) = manage('db', 'init');
        is $code, 0, 'run again it completes' or diag $why;
        ok $made->('begun') eq $whole, '... as if it had not been killed' or diag $made->('begun');
    }
    cmp_ok $begun, '>', 5, 'at so many places';
    # Nobody's rows are dropped, nor what is not Tenure's.
    sql('DELETE FROM settings', 'begun');
    is((manage('db', 'status'))[0], 0, 'without keys it is no schema that was just begun, since there are rows');
    sql('DELETE FROM tenants; DELETE FROM resources; CREATE TABLE others (id INT PRIMARY KEY)', 'begun');
    my ($code, $out, $err) = manage('db', 'init');
    is $code, 65, 'beside a table of something else nothing is dropped';
    like $err, qr/holds tables of something else: others/, '... which is named';
    sql('DROP TABLE others', 'begun');
    is((manage('db', 'init'))[0], 0, 'without it the schema is made anew');
    sql('DELETE FROM schema_version; DELETE FROM schema_files', 'begun');
    ($code, $out, $err) = manage('db', 'init');
    is $code, 65, 'nor is one without a version that somebody has used';
    like $err, qr/no version of the schema is recorded, though there are rows in it/, '... which is said';
    sql('DROP DATABASE begun', 'mysql');
};

subtest 'an older schema' => sub {
    sql('DELETE FROM schema_files ORDER BY version DESC LIMIT 1');
    my ($code, $out) = manage('db', 'status');
    is $code, 1, 'an upgrade is needed';
    like $out, qr/^to be applied +\d+-\S+\.sql$/m, 'and named';
    is((manage('db', 'upgrade'))[0], 0, 'and made again, though all of it is there');
};

subtest 'a built-in type that the database lacks' => sub {
    my $types = sql('SELECT plural, builtin FROM types ORDER BY plural');
    sql("DELETE FROM types WHERE plural = 'pods'");
    for my $command ('status', 'upgrade --plan') {
        my ($code, $out) = manage('db', split / /, $command);
        is $code, 1, "db $command: there is something to do";
        like $out, qr/^to be added +built-in type pods$/m, '... which is named';
        unlike $out, qr/nothing to do/, '... alone';
    }
    is((manage('db', 'upgrade'))[0], 0, 'upgraded');
    is sql('SELECT plural, builtin FROM types ORDER BY plural'), $types, 'it is there again';
    is((manage('db', 'upgrade', '--plan'))[0], 0, 'nothing is left to do');
};

subtest 'upgrade' => sub {
    my $next = sprintf '%03d', 1 + sql('SELECT MAX(version) FROM schema_files');
    write_file("$dir/sql/$next-test.sql", "-- a comment; with a semicolon\nCREATE TABLE upgraded (id INT PRIMARY KEY);\n");
    my ($code, $out, $err) = manage('db', 'status');
    is $code, 2, 'files that this program was not made for';
    like $err, qr/version 0*${\ ($next + 0)}, .*version \d+/s, 'are told, with both versions';
    like $out, qr/$next-test\.sql/, 'and named';
    ($code) = manage('db', 'init');
    is $code, 65, 'init does not upgrade';
    ($code) = manage('db', 'reset', '--yes');
    is $code, 65, 'nor is an old schema reset';
    ($code) = manage('db', 'upgrade');
    is $code, 0, 'upgraded';
    is sql("SELECT COUNT(*) FROM upgraded"), 0, 'the table is there';
    unlink "$dir/sql/$next-test.sql";
    ($code) = manage('db', 'upgrade');
    is $code, 2, 'a database newer than the program is left alone';
    ($code, $out, $err) = manage('db', 'init');
    is $code, 65, 'by init, too';
    like $err, qr/the database is newer \(version \d+\) than this program's files \(\d+\): install the release/, 'which says what to do';
    sql("DROP TABLE upgraded; DELETE FROM schema_files WHERE version = $next; DELETE FROM schema_steps WHERE version = $next");
    ($code) = manage('db', 'status');
    is $code, 0, 'as before';
};

subtest 'upgrade from version 1' => sub {
    File::Path::make_path("$dir/sql.later");
    my @later = grep { !m{/001-} } glob "$dir/sql/*.sql";
    my ($code, $out);
    sql('DROP DATABASE `it\'s a ``test`', 'mysql');
    rename $_, "$dir/sql.later/" . File::Basename::basename($_) or die "$_: $!" for @later;
    ($code) = manage('db', 'init');
    is $code, 0, 'a database as version 1 made it';
    sql(<<'SQL');
INSERT INTO tenants (name, uid, tier_id, metadata, etag, revision, created_at, updated_at)
  VALUES ('old', REPEAT('u', 16), 1, '{}', REPEAT('e', 64), 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6));
INSERT INTO changes (request_id, at, actor, verb, tenant_id, uid, revision, etag_after)
  VALUES (REPEAT('r', 16), UTC_TIMESTAMP(6), 'ann', 'created', 1, REPEAT('u', 16), 1, REPEAT('e', 64));
SQL
    my $before = sql('SELECT * FROM changes');
    rename "$dir/sql.later/" . File::Basename::basename($_), $_ or die "$_: $!" for @later;
    ($code, $out) = manage('db', 'status');
    is $code, 1, 'needs an upgrade';
    like $out, qr/002-etags\.sql/, 'which is named';
    ($code) = manage('db', 'upgrade');
    is $code, 0, 'upgraded';
    ($code) = manage('db', 'status');
    is $code, 0, 'up to date';
    is sql("SELECT etag_required FROM tenants WHERE name <> 'system'"), 0, 'its tenants go on as they did';
    like sql('SELECT * FROM changes'), qr/\A\Q$before\E\tNULL(?:\t(?:0|NULL))*\z/, 'its changes are there, without fields and what else has come';
    sql("DELETE FROM tenants; DELETE FROM changes");
};

subtest 'upgrade from version 2' => sub {
    my @later = grep { !m{/00[12]-} } glob "$dir/sql/*.sql";
    my ($code, $out);
    sql('DROP DATABASE `it\'s a ``test`', 'mysql');
    rename $_, "$dir/sql.later/" . File::Basename::basename($_) or die "$_: $!" for @later;
    is((manage('db', 'init'))[0], 0, 'a database as version 2 made it');
    sql(<<'SQL');
INSERT INTO resources (uid, tenant_id, type_id, name, live, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at, updated_at)
  SELECT UNHEX(MD5(seq)), 1, 2, CONCAT('p', seq), IF(seq < 9, 1, NULL), 4, 1, 1, 1, 1, 1, 1, REPEAT('e', 64), '{}', '{}',
  UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM seq_1_to_10;
SQL
    my $before = sql('SELECT * FROM resources ORDER BY id');
    my $types  = sql('SELECT * FROM types ORDER BY id');
    rename "$dir/sql.later/" . File::Basename::basename($_), $_ or die "$_: $!" for @later;
    is((manage('db', 'upgrade'))[0], 0, 'upgraded');
    is((manage('db', 'status'))[0], 0, 'up to date');
    is sql("SELECT * FROM resources WHERE name <> 'default' ORDER BY id"), $before =~ s/$/\tNULL\tNULL\t1\t1\tNULL\t0/gmr,
        'its resources hang on nothing, have no traits, are of the first generation and have not moved';
    like sql('SELECT * FROM types ORDER BY id'), qr/\A\Q$types\E\n.*\bnodes\b.*\bports\b.*\bportgroups\b.*\bchassis\b/s,
        'its types keep their ids, and others have come';
    cmp_ok sql("SELECT COUNT(*) FROM traits WHERE name NOT LIKE 'CUSTOM%'"), '>', 100, 'and the standard traits';
    sql('DELETE FROM resources');
};

subtest 'tiers' => sub {
    my ($code, $out) = manage('tier', 'list', '--json');
    my @names = map { $_->{name} } @{ JSON::PP::decode_json($out) };
    is "@names", 'standard free bronze silver gold', 'those that came with the schema';
    is((manage('tier', 'set', 'tiny', '--max-resources', '3', '--description', "a\tb"))[0], 0, 'a new one');
    is((manage('tier', 'set', 'tiny', '--max-resources=4'))[0], 0, 'changed');
    is sql("SELECT max_resources, HEX(description) FROM tiers WHERE name = 'tiny'"), "4\t610962", 'what was not given stays';
    manage('tier', 'set', $_, '--max-resources', '7') for "\e[31m\xc2\x9b\xe2\x80\xaetier", "\xe6\x97\xa5\xe6\x9c\xac", "e\xcc\x81";
    my @lines = split /\n/, (manage('tier', 'list'))[1];
    my ($wild) = grep { /tier$|tier / } @lines[1 .. $#lines];
    like $wild, qr/^\\x1b\[31m\\x9b\\u\{202e\}tier +7 +0$/, 'what would obey a name is shown, and no line ends with blanks';
    my ($narrow) = index $wild, ' 7 ';
    my ($wide)   = grep { /^\xe6/ } @lines;
    my ($accent) = grep { /^e\xcc/ } @lines;
    is index($wide, ' 7 ') - 6 + 4, $narrow, '... a wide character takes two columns';
    is index($accent, ' 7 ') - 3 + 1, $narrow, '... and an accent none';
    manage('tier', 'remove', $_) for "\e[31m\xc2\x9b\xe2\x80\xaetier", "\xe6\x97\xa5\xe6\x9c\xac", "e\xcc\x81";
    ($code, $out) = manage('tier', 'list');
    like $out, qr/^tiny +4 +0  a\\x09b$/m, 'no control character reaches the terminal';
    is((manage('tier', 'set', 'tiny', '--max-resources', 'none'))[0], 0, 'no limit');
    is sql("SELECT max_resources IS NULL FROM tiers WHERE name = 'tiny'"), 1, 'is NULL';
    is((manage('tier', 'set', 'tiny', '--max-resources', '-1'))[0], 64, 'a bad number is refused');
    is((manage('tier', 'set', 'tiny', '--max-resources', '9007199254740991'))[0], 0, 'the largest number that JSON carries');
    my ($refused, undef, $why) = manage('tier', 'set', 'tiny', '--max-resources', '9007199254740992');
    is $refused, 64, 'one more is refused, as by the API';
    like $why, qr/--max-resources takes a number from 0 to 9007199254740991, or "none"/, '... which says what would do';
    is sql("SELECT max_resources FROM tiers WHERE name = 'tiny'"), '9007199254740991', '... and changes nothing';
    is((manage('tier', 'set', 'x' x 256))[0], 64, 'a name of 256 characters too');
    sql("INSERT INTO tenants (name, uid, tier_id, metadata, etag, revision, created_at, updated_at) SELECT 'acme',"
        . " UNHEX(MD5('acme')), id, '{}', REPEAT('e', 64), 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM tiers WHERE name = 'tiny'");
    is((manage('tier', 'remove', 'tiny'))[0], 65, 'not removed while a tenant is in it');
    is sql("SELECT COUNT(*) FROM tiers WHERE name = 'tiny'"), 1, 'it is still there';
    is((manage('tier', 'remove', 'gold'))[0], 0, 'an empty one goes');
    is((manage('tier', 'remove', 'gold'))[0], 66, 'once');
    is((manage('tier', 'remove', 'standard'))[0], 65, 'the default tier stays');
};

# It waits for ten seconds, in which other commands are tested.
my ($holder, $waiting);
subtest 'a command that waits for another one' => sub {
    my @client = ('mariadb', '--no-defaults', "--socket=$db/mysql.sock", '--user=root', 'mysql', '-e');
    $holder = begin("$dir/holder", @client, q(DO GET_LOCK('tenure-schema', 10); DO SLEEP(120)));
    ok wait_until(sub { sql(q(SELECT IS_USED_LOCK('tenure-schema') IS NOT NULL)) }), 'one is working on another database of the server';
    $waiting = begin("$dir/waiting", "$build/tenure-manage", '-c', "$dir/tenure.conf", 'db', 'init');
};

subtest 'tokens' => sub {
    my ($code, $operator) = manage('token', 'create', '--operator');
    is $code, 0, 'an operator token';
    like $operator, qr/\A[^.\s]+\.\S{20,}\n\z/, 'alone on standard output';
    my ($id, $secret) = $operator =~ /\A([^.]+)\.(\S+)/;
    is sql("SELECT HEX(hash) = SHA2('$secret', 256) FROM tokens WHERE id = '$id'"), 1, 'only its hash is kept';
    ($code, my $token) = manage('token', 'create', '--tenant', 'acme', '--role', 'reader', '--user', 'ann', '--expires', '1h');
    is $code, 0, "a tenant's token";
    ($code, my $out) = manage('token', 'list', '--tenant', 'acme', '--json');
    my ($row, @more) = @{ JSON::PP::decode_json($out) };
    is "@$row{qw(tenant role user state)}", 'acme reader ann valid', 'listed';
    like "@$row{qw(created_at expires_at)}", qr/\A(\d{4}-\d\d-\d\dT[\d:.]+Z ?){2}\z/, 'with the times that the API names so';
    is scalar(@more), 0, 'alone';
    unlike $out, qr/\Q$secret\E/, 'no secret';
    chomp $token;
    is((manage('token', 'revoke', $token))[0], 0, 'revoked by the whole token');
    like((manage('token', 'list', '--tenant', 'acme'))[1], qr/revoked/, 'says so');
    is((manage('token', 'revoke', 'nonesuch'))[0], 66, 'an unknown one');
    is((manage('token', 'list', '--state', 'gone'))[0], 64, 'no state of a token');
    my ($revoked) = $token =~ /\A([^.]+)/;
    is((manage('token', 'list', '--state', 'revoked', '--ids'))[1], "$revoked\n", 'the ids of the revoked ones');
    is((manage('token', 'list', '--state', 'valid', '--ids'))[1], "$id\n", '... and of the valid ones');
    is((manage('token', 'list', '--ids', '--json'))[0], 64, 'either ids or JSON');
    # As after a restore of a dump that is older than the revocation.
    sql("UPDATE tokens SET revoked_at = NULL WHERE id = '$revoked'");
    write_file("$dir/revoked", "$revoked\n\nffffffffffff\n");
    ($code, $out) = run_apart('sh', '-c', 'exec "$@" <"$0"', "$dir/revoked", "$build/tenure-manage", '-c', "$dir/tenure.conf", 'token', 'revoke', '-');
    is $code, 0, 'revoked by a list';
    is $out, "revoked 1, not there 1\n", '... which may name others';
    is((manage('token', 'list', '--state', 'revoked', '--ids'))[1], "$revoked\n", '... are so');
    sql("UPDATE tokens SET revoked_at = NULL WHERE id = '$revoked'");
    write_file("$dir/revoked", " $revoked \r\n\r\nffffffffffff\r\n");
    ($code, $out) = run_apart('sh', '-c', 'exec "$@" <"$0"', "$dir/revoked", "$build/tenure-manage", '-c', "$dir/tenure.conf", 'token', 'revoke', '-');
    is $out, "revoked 1, not there 1\n", 'also by one whose lines end with CR and LF';
    is((manage('token', 'create', '--tenant', 'nobody', '--user', 'x'))[0], 66, 'an unknown tenant');
    is((manage('token', 'create', '--tenant', 'acme', '--user', 'x', '--role', 'operator'))[0], 64, 'no operator by role');
    is((manage('token', 'create', '--tenant', 'acme', '--operator'))[0], 64, 'not both');
    is((manage('token', 'create', '--operator', '--expires', $_))[0], 64, "no duration: $_") for '0', '5y', '-1h', '', '999999w';
};

subtest 'all tokens are revoked' => sub {
    my ($code, $out) = manage('token', 'revoke-all');
    is $code, 64, 'not without --yes';
    is sql('SELECT COUNT(*) FROM tokens WHERE revoked_at IS NULL'), 1, 'nothing happened';
    manage('token', 'create', '--tenant', 'acme', '--user', 'bill') for 1 .. 2;
    is +(manage('token', 'revoke-all', '--yes', '--tenant', 'acme'))[1], "revoked 2\n", 'those of a tenant';
    is +(manage('token', 'revoke-all', '--yes', '--tenant', 'acme'))[1], "revoked 0\n", '... once';
    for my $command ('token revoke-all --yes', 'token list', 'keys') {
        my ($status, $none, $why) = manage(split(' ', $command), '--tenant', 'nobody');
        is "$status $none", '66 ', "$command: a tenant that is not there";
        like $why, qr/there is no tenant "nobody"/, '... which is said, since the name may be a mistake';
    }
    is +(manage('token', 'list', '--tenant', ''))[0], 0, '... but the operators are';
    manage('token', 'create', '--tenant', 'acme', '--user', 'bill');
    is +(manage('token', 'revoke-all', '--yes', '--tenant', ''))[1], "revoked 1\n", "the operators'";
    ($code, $out) = manage('token', 'revoke-all', '--yes');
    is $code, 0, 'all';
    is $out, "revoked 1\n", '... that are left';
    is sql('SELECT COUNT(*) FROM tokens WHERE revoked_at IS NULL'), 0, 'none is valid';
};

subtest 'a command that has waited for another one' => sub {
    my ($code, $text) = $waiting->();
    is $code, 75, 'may be run later';
    like $text, qr/another tenure-manage is working on this schema, or on another one of this database server/, '... and says which the other may be';
    sql(q(SET @holder = IS_USED_LOCK('tenure-schema'); EXECUTE IMMEDIATE CONCAT('KILL ', @holder)));
    $holder->();
    is((manage('db', 'init'))[0], 0, 'once that has ended, it is done');
};

subtest 'reset' => sub {
    my $keys  = sql('SELECT * FROM settings ORDER BY name');
    my $all = sql('SELECT COUNT(*) FROM tokens');
    sql("INSERT INTO types (version, kind, plural, singular, namespaced) VALUES ('v1', 'Extra', 'extras', 'extra', 1)");
    my $types = sql('SELECT * FROM types ORDER BY id');
    my $pods  = sql("SELECT kind, builtin FROM types WHERE plural = 'pods'");
    my ($code) = manage('db', 'reset');
    is $code, 64, 'not without --yes';
    is sql('SELECT GROUP_CONCAT(name ORDER BY id) FROM tenants'), 'system,acme', 'nothing happened';
    # As a node of Galera has them, which gives other ids than db init got, where fewer nodes were there.
    sql('SET GLOBAL auto_increment_increment = 3, auto_increment_offset = 2');
    ($code) = manage('db', 'reset', '--yes');
    sql('SET GLOBAL auto_increment_increment = 1, auto_increment_offset = 1');
    is $code, 0, 'with it';
    is sql('SELECT GROUP_CONCAT(name) FROM tenants'), 'system', 'tenants are gone';
    is sql('SELECT * FROM types ORDER BY id'), $types, 'types are as they were, with the ids that workers hold';
    sql("DELETE FROM types WHERE plural = 'pods'");
    ($code) = manage('db', 'reset', '--yes');
    is $code, 0, 'again';
    is sql("SELECT kind, builtin FROM types WHERE plural = 'pods'"), $pods, 'a built-in type that is missing is added';
    is sql('SELECT GROUP_CONCAT(id, name ORDER BY id) FROM tiers'), '1standard,2free,3bronze,4silver,5gold', 'tiers too';
    is sql('SELECT * FROM settings ORDER BY name'), $keys, 'keys are kept';
    cmp_ok sql('SELECT COUNT(*) FROM tokens WHERE tenant_id IS NULL'), '>', 0, "operators' tokens are kept";
    is sql('SELECT COUNT(*) FROM tokens WHERE tenant_id IS NOT NULL'), 0, "tenants' are not";
    cmp_ok $all, '>', sql('SELECT COUNT(*) FROM tokens'), 'of which there were some';
};

subtest 'a reset that is killed while it empties tables' => sub {
    my $next_id = sub { sql(q(SELECT AUTO_INCREMENT FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'changes')) };
    my $killed_at = sub {
        my ($n) = @_;
        sql(q(INSERT INTO changes (request_id, at, actor, verb, tenant_id, uid, revision, etag_after)
            VALUES (REPEAT('r', 16), UTC_TIMESTAMP(6), 'ann', 'created', 1, REPEAT('u', 16), 1, REPEAT('e', 64))));
        my $before = $next_id->();
        local $ENV{TENURE_FAULT} = "statement:$n:process";
        return ($before, (manage('db', 'reset', '--yes'))[0]);
    };
    # The statement behind the one that empties the change log.
    my ($low, $high) = (1, 256);
    while ($high - $low > 1) {
        my $n = int(($low + $high) / 2);
        $killed_at->($n);
        sql('SELECT COUNT(*) FROM changes') > 0 ? ($low = $n) : ($high = $n);
    }
    for my $n ($high, $high + 1) {
        my ($before, $code) = $killed_at->($n);
        is $code, 137, "killed at statement $n";
        is sql('SELECT COUNT(*) FROM changes'), 0, '... when the change log is empty';
        cmp_ok $next_id->(), '>=', $before, '... and the numbers of changes continue' if $n > $high;
        ($code) = manage('db', 'reset', '--yes');
        is $code, 0, 'it is run again';
        cmp_ok $next_id->(), '>=', $before, '... and the numbers of changes continue';
    }
    my ($sound, $text) = manage('doctor');
    is $sound, 0, 'the registry is sound' or diag $text;
};

subtest 'upkeep and configuration' => sub {
    is((manage('doctor'))[0], 0, 'an empty registry is sound');
    my ($code, $out) = manage('db', 'init', '--print-grants');
    sql($out =~ s/\*{8}/opensesame/gr =~ s/^--.*\n//gmr, 'mysql');
    {
        local $ENV{TENURE_DATABASE_NAME} = 'a_b\c%';
        ($code, $out) = manage('db', 'init', '--print-grants');
        like $out, qr/ ON `a\\_b\\\\c\\%`\.\* TO /, 'a name that is a pattern';
        sql($out =~ s/^--.*\n//gmr . 'CREATE DATABASE `axb\c%`; CREATE DATABASE `a_b\cx`', 'mysql');
        my (undef, $names) = run_apart('mariadb', '--no-defaults', '-N', '-B', '-r', "--socket=$db/mysql.sock", "--user=o'brien", '--password=opensesame',
            '-e', q(SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'a%'));
        is $names, "a_b\\c%\n", '... is that of one database';
        sql('DROP DATABASE `a_b\c%`; DROP DATABASE `axb\c%`; DROP DATABASE `a_b\cx`', 'mysql');
    }
    ($code, $out) = manage('reap', '--dry-run');
    is $code, 0, 'nothing to purge';
    like $out, qr/\Awould purge 0 tenants, 0 resources/, 'says so';
    is((manage('config', 'check'))[0], 0, 'the configuration is correct');
    ($code, $out) = manage('config', 'show');
    is $code, 0, 'shown';
    unlike $out, qr/opensesame\b/, 'without the password';
    ($code, undef, $out) = manage('config', 'check');
    like $out, qr/^warning: \[endpoint service\] public_url is empty/m, 'config check warns of links that follow any Host';
    ($code, undef, $out) = manage('doctor');
    is $code, 0, '... which is no finding of doctor';
    like $out, qr/^warning: \[endpoint service\] public_url is empty/m, '... but told';
    {
        local @ENV{qw(TENURE_ENDPOINT_SERVICE_PUBLIC_URL TENURE_ENDPOINT_SERVICE_SOCKET_MODE)} = ('https://a.test', '0666');
        ($code, undef, $out) = manage('config', 'check');
        is $code, 0, 'where it is set';
        unlike $out, qr/\[endpoint service\] public_url/, '... there is nothing to warn of';
        like $out, qr/socket_mode 0666 lets every user/, '... but a socket that all may write to';
    }
    {
        my ($status, $listed) = manage('--help');
        my %begins = map { /^(  \S(?:\S| (?! ))* {2,})\S/ ? (length $1 => 1) : ("no column: $_" => 1) } $listed =~ /^(  [a-z].*)$/mg;
        is scalar keys %begins, 1, 'the list of commands is in two columns' or diag explain \%begins;
        my (undef, undef, $said) = manage('status', '--format', '');
        like $said, qr/--format takes text or json, not ""/, 'no format';
        (undef, undef, $said) = manage('os-traits', 'sync', '--from', '');
        like $said, qr/--from: the name of the file is empty/, 'no file';
    }
    for my $case (
        ['nonsense',            qr/there is no command "nonsense"; see/,                        'a word that is near no command'],
        ['tokn',                qr/there is no command "tokn"; did you mean "token"\?/,         'a noun with a typing error'],
        ['create token',        qr/there is no command "create"; did you mean "token create"\?/, 'the verb before the noun'],
        ['list token',          qr/there is no command "list"; see/,                            'a verb of several nouns'],
        ['tokens list',         qr/did you mean "token"\?/,                                     'its plural'],
        ['tokn list --tenant x', qr/did you mean "token"\?/,                                    'with options behind'],
        ['token revke',         qr/there is no command "token revke"; did you mean "token revoke"\?/, 'a verb with a typing error'],
        ['tier nonsense',       qr/tier has no verb "nonsense"; it has: list, set, remove/,     'a verb that is near none'],
        ['db',                  qr/db needs a verb: init, status, upgrade, reset/,              'half a command'],
      ) {
        my ($words, $text, $what) = @$case;
        my ($status, $none, $why) = manage(split ' ', $words);
        is $status, 64, $what;
        like $why, $text, '... is told the reason';
        is $none, '', '... on standard error';
    }
    is((manage('tier', 'list', '--nonsense'))[0], 64, 'an unknown option');
    is((manage('tier', 'list', 'more'))[0], 64, 'an argument too many');
    is((manage('tier', 'list', '--json=1'))[0], 64, 'a value where none is taken');
    is((manage('tier', 'set', 'x', '--description'))[0], 64, 'no value where one is');
    is((manage('tier'))[0], 64, 'half a command');
    is((manage('tier', 'nonsense', 'more'))[0], 64, 'two words that are no command');
    is((run_apart("$build/tenure-manage", 'config', 'check', '-c', "$dir/tenure.conf"))[0], 0, '-c behind the command');
    ($code, undef, $out) = manage('token', 'list', '--tenent', 'x');
    is $code, 64, 'a typing error';
    like $out, qr/--tenent is no option here \(did you mean --tenant\?\)/, '... is told what is near';
    ($code, $out) = manage('token', 'create', '--help');
    is $code, 0, 'help of a command';
    like $out, qr/^ +--expires DURATION +lifetime/m, '... has its options';
    ($code, my $same) = manage('help', 'token', 'create');
    is "$code $same", "0 $out", '... in other words';
    for my $words ('--help token create', '-h token create', 'token --help create', 'token create --role --help') {
        my ($status, $text) = manage(split ' ', $words);
        is "$status $text", $words =~ /--role/ ? '64 ' : "0 $out", $words;
    }
    is +(manage(qw(tier set gold --help)))[1], (manage(qw(help tier set)))[1], '... also behind an argument';
    is +(manage('--help', 'token'))[1], (manage('help', 'token'))[1], '... and before a noun';
    is +(manage('token', '--help'))[1], (manage('help', 'token'))[1], '... and behind one';
    my ($status, $none, $near) = manage('--help', 'tokne');
    is "$status $none", '64 ', 'help of what there is not';
    like $near, qr/did you mean "token"\?/, '... says what is near';
    ($code, $out) = manage('help', 'token');
    is $code, 0, 'help of a noun';
    like $out, qr/^usage: \S+ \[-c FILE\] token VERB.*^  token create .*^  token list .*^  token revoke ID /ms, '... has its commands';
    unlike $out, qr/^  tier/m, '... and no others';
    is +(manage('help'))[1], (manage('--help'))[1], 'help alone is --help';
    ($code, $out) = manage('help', 'tokne');
    is $code, 64, 'help of nothing';
    (undef, undef, my $said) = manage('help', 'tokne');
    like $said, qr/did you mean "token"\?/, '... is told what is near';
    is((manage('help', 'token', 'list', 'x'))[0], 64, 'one word too many');
    is((manage('--version'))[0], 0, 'the version');
};

# Each exit code that the manual lists in general, brought about; and no other code is listed.
subtest 'cluster commands where there is no cluster' => sub {
    my $row = sql('SELECT node, epoch, held FROM writer');
    my ($code, $out, $err) = manage('cluster', 'status');
    is $code, 0, 'one server can be written to';
    like $out, qr/one server, which takes all changes/, '... and status says so';
    my ($head, $row_of) = map { [split / {2,}/] } (split /\n/, $out)[0, 1];
    is_deeply [@$head[0, 2, 3]], [qw(HOST ROLE STATE)], 'a table';
    is_deeply [@$row_of[0, 2, 3]], ['localhost', 'ready', '-'], '... with its cells below';
    for my $command (['fence'], ['switch', 'localhost']) {
        ($code, $out, $err) = manage('cluster', @$command);
        is $code, 69, "cluster @$command is refused";
        like $err, qr/host names one server/, '... since it would stop nobody';
    }
    {
        local $ENV{TENURE_DATABASE_HOST} = 'localhost,127.0.0.1:1';
        ($code, $out, $err) = manage('cluster', 'fence');
        is $code, 69, 'nor can servers be fenced none of which was made the writer';
        like $err, qr/no server was made the writer yet/, '... which is said';
        ($code, $out, $err) = manage('cluster', 'switch', '--force', 'localhost');
        is $code, 75, 'nor is one made the primary that has no binary log, while another does not answer';
        like $err, qr/log_bin and log_slave_updates must be ON.*127\.0\.0\.1:1: it does not answer.*--force is for a primary that is gone/s, '... for all of these reasons';
    }
    is sql('SELECT node, epoch, held FROM writer'), $row, 'the row of the writer is as it was';
};

subtest 'exit codes of the manual' => sub {
    my ($listed) = do { local (@ARGV, $/) = "$top/doc/man/tenure-manage.8"; <> } =~ /^\.Sh EXIT STATUS\n(.*?)^\.Sh /ms;
    my %listed = map { $_ => 1 } $listed =~ /^\.It (\d+)$/mg;
    my @manage = ("$build/tenure-manage", '-c', "$dir/tenure.conf");
    write_file("$dir/wrong.conf", "[database]\nnonsense = 1\n");
    my $in_shell = sub { my ($line) = @_; return (run_apart('sh', '-c', $line, @manage))[0] };
    my @brought = (
        [0,  'done',                    sub { (manage('tier', 'list'))[0] }],
        [64, 'wrong usage',             sub { (manage('tier', 'list', 'x'))[0] }],
        [64, 'wrong usage of a check',  sub { (manage('doctor', 'x'))[0] }],
        [65, 'refused',                 sub { (manage('tier', 'remove', 'standard'))[0] }],
        [66, 'no such token',           sub { (manage('token', 'revoke', 'nonesuch'))[0] }],
        [74, 'a full disk',             sub { $in_shell->('exec "$0" "$@" tier list >/dev/full') }],
        [77, 'the right is missing',    sub { local $ENV{TENURE_DATABASE_ADMIN_USER} = 'boss';
                                              local $ENV{TENURE_DATABASE_NAME} = 'other'; (manage('db', 'init'))[0] }],
        [78, 'a wrong setting',         sub { (run_apart($manage[0], '-c', "$dir/wrong.conf", 'tier', 'list'))[0] }],
        [78, 'a wrong password',        sub { local $ENV{TENURE_DATABASE_ADMIN_USER} = "o'brien";
                                              local $ENV{TENURE_DATABASE_ADMIN_PASSWORD} = 'wrong'; (manage('tier', 'list'))[0] }],
        [2,  'a check that finds a wrong setting', sub { (run_apart($manage[0], '-c', "$dir/wrong.conf", 'doctor'))[0] }],
        [2,  'an upgrade that does',    sub { (run_apart($manage[0], '-c', "$dir/wrong.conf", 'db', 'upgrade'))[0] }],
        [69, 'there is no cluster',     sub { (manage('cluster', 'fence'))[0] }],
        [70, 'a statement is refused',  sub { sql('RENAME TABLE tiers TO away'); my ($code) = manage('tier', 'list');
                                              sql('RENAME TABLE away TO tiers'); $code }],
        [75, 'the database is away',    sub { local $ENV{TENURE_DATABASE_SOCKET} = "$dir/none.sock"; (manage('tier', 'list'))[0] }],
    );
    is $_->[2]->(), $_->[0], "$_->[0]: $_->[1]" for @brought;
    my %brought = map { $_->[0] => 1 } @brought;
    delete $brought{2}; # which commands list themselves
    # No memory can't be brought about for sure.
    is_deeply [sort keys %listed], [sort 71, keys %brought], 'the manual lists these';
};

subtest 'the database is away' => sub {
    system "$top/scripts/private-mariadb", 'stop', $db;
    my ($code, undef, $why) = manage('tier', 'list');
    is $code, 75, 'try later';
    like $why, qr/^tenure-manage: start the database server, or correct host, port and socket in \[database\]$/m, 'with what to do';
    is((manage('db', 'status'))[0], 2, 'status fails');
    is((manage('doctor'))[0], 2, 'so does the doctor');
};

done_testing();
