# SPDX-License-Identifier: Apache-2.0
# A registry of many tenants and resources, seeded by bulk SQL: rows as the programs write them, so that the doctor finds them clean.
#
#   my $scale = Tenure::Scale->new(dir => '/var/tmp/s', tenants => 10_000, resources => 200_000, seed => 7, build => $build);
#   $scale->seed;                           # minutes to hours; nothing if this folder has that registry already
#   $scale->start(pool => '4G', settings => {...});
#   $scale->tenant($i), $scale->resource($i)   # names, uids and owners, without asking the database
#   $scale->stop;
#
# All is computed from the seed and the number of a tenant or a resource. Resources are numbered in the order of their creation, and each
# belongs to a random tenant, so the rows of one tenant stand far apart, as they do in a registry that has grown. Of 100 resources: 1
# provider of the system tenant with three inventories, 1 node, its port, 20 persistent volumes, 77 config maps, 1 of these deleted and 1
# that was moved to its tenant. The last 10,000 are config maps of the first ten tenants, 1,000 each ("wide" tenants). The change log has
# the rows of the last tenth of the resources.
package Tenure::Scale;

use strict;
use warnings;

use Digest::MD5 qw(md5_hex);
use File::Path qw(make_path);
use Time::HiRes qw(time);

use Tenure::Client;
use Tenure::Run qw(run read_file write_file);

use constant { WIDE => 10, WIDE_RESOURCES => 1_000, BATCH => 25_000, DAYS => 400 };

sub new {
    my ($class, %option) = @_;
    $option{resources} >= 100_000 && $option{tenants} >= 100 or die "at least 100 tenants and 100,000 resources\n";
    return bless { source => $ENV{TENURE_SRCDIR} // '.', %option }, $class;
}

# ---- what is where

sub _hash { my ($self, $what, $i) = @_; return md5_hex("$self->{seed}:$what:$i") }

sub _uuid { my ($hex) = @_; return join '-', unpack 'a8 a4 a4 a4 a12', $hex }

# The name of tenant i, from 1.
sub tenant { my ($self, $i) = @_; return 't-' . substr $self->_hash('t', $i), 0, 12 }

# The kind of resource i, from 1.
sub kind {
    my ($self, $i) = @_;
    return 'configmaps' if $i > $self->{resources} - WIDE * WIDE_RESOURCES;
    my $part = $i % 100;
    return $part == 0 ? 'providers' : $part == 1 ? 'nodes' : $part == 2 ? 'ports' : $part < 23 ? 'persistentvolumes'
        : $part == 23 ? 'deleted' : $part == 24 ? 'moved' : 'configmaps';
}

# Resource i: kind, uid, tenant (a number), name, and path in the tenancy API.
sub resource {
    my ($self, $i) = @_;
    my $kind = $self->kind($i);
    my $u    = $self->_hash('u', $i);
    my $o    = $self->_hash('o', $kind eq 'ports' ? $i - 1 : $i);
    substr $u, 12, 1, '4';
    substr $u, 16, 1, '8';
    my $wide   = $i > $self->{resources} - WIDE * WIDE_RESOURCES;
    my $tenant = $wide ? 1 + $i % WIDE : 1 + hex(substr $o, 0, 8) % $self->{tenants};
    my $name   = $kind =~ /\A(?:providers|nodes|ports)\z/ ? _uuid($u) : substr($kind, 0, 1) eq 'p' ? 'v-' . substr $o, 20 : 'c-' . substr $o, 20;
    my $under  = $kind =~ /\A(?:providers|nodes|ports|persistentvolumes)\z/ ? $kind : 'namespaces/default/configmaps';
    return { kind => $kind, uid => _uuid($u), tenant => $tenant, name => $name,
        path => '/v2.0/' . $self->tenant($tenant) . "/$under/$name" };
}

# The aggregate of 100 providers, and the name of provider i.
sub aggregate { my ($self, $n) = @_; return _uuid($self->_hash('a', $n)) }

# ---- the service

sub db_dir { return "$_[0]{dir}/db" }

sub _quickstart {
    my ($self, @args) = @_;
    my ($code, $text) = run("$self->{source}/scripts/quickstart", '--dir', $self->{dir}, @args);
    $code == 0 or die "quickstart: $text";
    return;
}

sub start {
    my ($self, %option) = @_;
    local @ENV{qw(TENURE_BUILD TENURE_MARIADB_BUFFER_POOL TENURE_MARIADB_WAIT TENURE_HOST_REAP_INTERVAL)} = ($self->{build}, $option{pool} // '4G', 900, 0);
    local $ENV{TENURE_MARIADB_FLUSH} = $option{flush} // 1;
    require Tenure::Instance;
    my @port = Tenure::Instance::free_ports(4);
    $self->_upgrade if -e "$self->{dir}/seeded";
    $self->_quickstart('--no-demo', '--auth', 'noauth', '--workers', $option{workers} // 1, '--reserve', 0, '--background', '--port', $port[0], '--admin-port',
        $port[1], '--combined-port', $port[2], '--placement-port', $port[3]);
    my $env = read_file("$self->{dir}/env");
    $self->{env} = { $env =~ /^(TENURE_\w+)='([^']*)'$/mg };
    # The log of this size is what an operator's server has; quickstart's is for small ones.
    $self->sql("SET GLOBAL innodb_log_file_size = 1073741824");
    return;
}

# A registry that was kept may be of an earlier schema, which quickstart would not upgrade.
sub _upgrade {
    my ($self) = @_;
    my @server = ("$self->{source}/scripts/private-mariadb");
    my ($code, $text) = run(@server, 'start', $self->db_dir);
    $code == 0 or die $text;
    my $began = time;
    # Its configuration names the sources of the run that wrote it.
    local $ENV{TENURE_TENURE_SQL_DIR} = "$self->{source}/sql/schema";
    ($code, $text) = $self->manage('db', 'upgrade');
    printf "db upgrade of %d resources in %.1f s\n", $self->{resources}, time - $began if $text =~ /\.sql/;
    run(@server, 'stop', $self->db_dir);
    $code == 0 or die "db upgrade: $text";
    return;
}

sub stop { my ($self) = @_; $self->_quickstart('--stop'); return }

# The counting of usage begins with a look at all resources, once in the life of a registry, which the host service does here. Waits until it
# is over, all changes are counted, and each period that has ended is closed: that reads as many rows as there are tenants.
sub await_usage {
    my ($self) = @_;
    my $began = time;
    until ($self->value("SELECT stage = 'counting' AND position >= (SELECT MAX(id) FROM changes)
        AND (closed_until IS NULL OR closed_until > UTC_TIMESTAMP(6) - INTERVAL period_s SECOND) FROM usage_progress")) {
        die "$self->{dir}: usage is not counted after an hour\n" if time - $began > 3600;
        sleep 1;
    }
    return time - $began;
}

sub client { my ($self, $endpoint) = @_; return Tenure::Client->new(url => $self->{env}{"TENURE_\U$endpoint\E_URL"}, token => 'admin', timeout => 600) }

sub manage { my ($self, @args) = @_; return run("$self->{build}/tenure-manage", '-c', "$self->{dir}/tenure.conf", @args) }

sub socket_path { my ($self) = @_; return $self->{env}{TENURE_DB_SOCKET} // $self->db_dir . '/mysql.sock' }

# Rows of the last statement, each an array.
sub sql {
    my ($self, $text) = @_;
    my $in = File::Temp->new;
    binmode $in;
    print {$in} $text;
    close $in;
    my $out = File::Temp->new;
    system('sh', '-c', 'exec mariadb --no-defaults --default-character-set=utf8mb4 -u root -S "$1" -N -B tenure <"$2" >"$3"', 'sh', $self->socket_path,
        "$in", "$out") == 0 or die 'SQL failed: ' . substr($text, 0, 2000) . "\n";
    return map { [ split /\t/, $_, -1 ] } split /\n/, read_file("$out");
}

sub value { my ($self, $text) = @_; my ($row) = $self->sql($text); return $row ? $row->[0] : undef }

# ---- the seed

# What the programs write for one resource of each kind: the rows that are copied.
sub _templates {
    my ($self) = @_;
    my ($admin, $placement) = map { $self->client($_) } 'admin', 'placement';
    my $must = sub {
        my ($client, $method, $path, %option) = @_;
        my $answer = $client->request($method, $path, %option);
        $answer->status =~ /\A2/ or die "$method $path: " . $answer->status . "\n";
        return $answer;
    };
    my %metal = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.78' });
    my %of    = (headers => { 'OpenStack-API-Version' => 'placement 1.38' });
    my ($provider, $consumer, $aggregate) = map { "${_}0000000-0000-4000-8000-000000000001" } 1 .. 3;
    $must->($admin, 'PUT', '/v2.0/template');
    my $node = $must->($admin, 'POST', '/baremetal/v1/nodes', %metal, json => { name => 'template-node', driver => 'fake-hardware', resource_class => 'large', owner => 'template',
        properties => { cpus => 4 } })->json->{uuid};
    $must->($admin, 'POST', '/baremetal/v1/ports', %metal, json => { node_uuid => $node, address => '52:54:00:00:00:00' });
    $must->($placement, 'POST', '/resource_providers', %of, json => { name => 'template-host', uuid => $provider });
    $must->($placement, 'PUT', "/resource_providers/$provider/inventories", %of, json => { resource_provider_generation => 0,
        inventories => { VCPU => { total => 8, allocation_ratio => 4.0 }, MEMORY_MB => { total => 16384 }, DISK_GB => { total => 1000 } } });
    $must->($placement, 'PUT', "/resource_providers/$provider/traits", %of, json => { resource_provider_generation => 1, traits => ['HW_CPU_X86_VMX'] });
    $must->($placement, 'PUT', "/resource_providers/$provider/aggregates", %of, json => { resource_provider_generation => 2, aggregates => [$aggregate] });
    $must->($placement, 'PUT', "/allocations/$consumer", %of, json => { allocations => { $provider => { resources => { VCPU => 1, MEMORY_MB => 512 } } }, project_id => 'template',
        user_id => 'ann', consumer_generation => undef, consumer_type => 'INSTANCE' });
    return;
}

sub _marker {
    my ($self) = @_;
    return "seed $self->{seed}, tenants $self->{tenants}, resources $self->{resources}\n";
}

sub seed {
    my ($self) = @_;
    return 0 if read_file("$self->{dir}/seeded") eq $self->_marker;
    my $began = time;
    make_path($self->{dir});
    $self->start(pool => '256M');
    $self->_templates;
    $self->stop;
    delete $self->{env};
    # Nothing here must survive a crash of the machine; a seed that was interrupted begins anew.
    my ($code, $text) = run("$self->{source}/scripts/private-mariadb", 'start', $self->db_dir, '--innodb-buffer-pool-size=' . '3G',
        '--innodb-flush-log-at-trx-commit=0', '--innodb-doublewrite=0', '--innodb-log-file-size=4G', '--innodb-log-buffer-size=256M', '--innodb-sort-buffer-size=64M',
        '--innodb-fill-factor=70', '--max-heap-table-size=2G', '--tmp-memory-table-size=2G', '--innodb-stats-auto-recalc=0');
    $code == 0 or die $text;
    eval {
        $self->_fill;
        1;
    } or do { my $why = $@; run("$self->{source}/scripts/private-mariadb", 'stop', $self->db_dir); die $why };
    run("$self->{source}/scripts/private-mariadb", 'stop', $self->db_dir);
    write_file("$self->{dir}/seeded", $self->_marker);
    return time - $began;
}

# The words that take the secondary keys from a table, and give them back. An ALTER that adds keys to a filled table sorts their entries and
# fills pages to innodb_fill_factor, 70 %: about what inserts in random order leave (ln 2), and faster by far.
sub _keys {
    my ($self, $table) = @_;
    my ($row) = $self->sql("SHOW CREATE TABLE $table");
    my @keys = map { s/,\z//r } map { /^\s+((?:UNIQUE )?KEY .*)/ } split /\\n/, $row->[1];
    return (join(', ', map { /KEY (`\w+`)/ ? "DROP KEY $1" : () } @keys), join(', ', map { "ADD $_" } @keys));
}

# Key material of HMAC: the key, padded to a block, with each byte xored.
sub _pad { my ($key, $block, $byte) = @_; return unpack 'H*', ($key . "\0" x ($block - length $key)) ^ (chr($byte) x $block) }

sub _fill {
    my ($self) = @_;
    my ($n, $t) = @{$self}{qw(resources tenants)};
    my %key = map { $_->[0] => pack 'H*', $_->[1] } $self->sql("SELECT name, HEX(value) FROM settings WHERE name LIKE '%\\_key'");
    my $log = int($n / 10);
    my $say = sub { printf "%s %s\n", scalar gmtime, "@_"; STDOUT->flush };
    my $session = join ' ', 'SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin; SET unique_checks = 1, foreign_key_checks = 0;',
        (map { my ($name, $key, $block, $byte) = @$_; "SET \@$name = UNHEX('" . _pad($key, $block, $byte) . "');" } ['e1', $key{etag_key}, 128, 0x36],
            ['e2', $key{etag_key}, 128, 0x5c], ['s1', $key{state_key}, 64, 0x36], ['s2', $key{state_key}, 64, 0x5c]),
        "SET \@seed = '$self->{seed}', \@n = $n, \@t = $t, \@wide = $n - " . WIDE * WIDE_RESOURCES . ", \@log = $n - $log;",
        'SET @now = (SELECT created_at FROM tenants WHERE name = "template"), @step = ', DAYS * 86_400_000_000, "DIV $n;",
        'SET @t0 = (SELECT id FROM tenants WHERE name = "template"); SET @r0 = (SELECT MAX(id) FROM resources WHERE tenant_id <= @t0), @c0 = (SELECT MAX(id) FROM changes);',
        # The ids of what stands behind the template: tenants, then their namespaces "default", then the resources.
        'SET @r1 = @r0 + @t, @c1 = @c0 + 2 * @t;',
        'SET @node = (SELECT id FROM types WHERE group_name LIKE "baremetal%" AND plural = "nodes"), @port = (SELECT id FROM types WHERE plural = "ports"),',
        '@provider = (SELECT id FROM types WHERE plural = "resourceproviders"), @map = (SELECT id FROM types WHERE plural = "configmaps"),',
        '@volume = (SELECT id FROM types WHERE plural = "persistentvolumes"), @space = (SELECT id FROM types WHERE plural = "namespaces" AND group_name = ""),',
        '@trait = (SELECT id FROM traits WHERE name = "HW_CPU_X86_VMX"), @kind = (SELECT MAX(id) FROM consumer_types);',
        'SET @nodebody = (SELECT body FROM resources WHERE type_id = @node AND id <= @r0), @portbody = (SELECT body FROM resources WHERE type_id = @port AND id <= @r0),',
        '@hostbody = (SELECT body FROM resources WHERE type_id = @provider AND id <= @r0);',
        'SET @nodeuid = (SELECT name FROM resources WHERE type_id = @node AND id <= @r0), @hostid = (SELECT id FROM resources WHERE type_id = @provider AND id <= @r0);', "\n";
    my @tables  = qw(tenants resources changes resource_aliases inventories consumers allocations);
    my %keys    = map { $_ => [$self->_keys($_)] } @tables;
    $self->sql("ALTER TABLE $_ $keys{$_}[0]") for @tables;
    my $known = $self->_known($session);
    $say->('tenants');
    for (my $from = 1; $from <= $t; $from += BATCH) {
        my $to = $from + BATCH - 1 < $t ? $from + BATCH - 1 : $t;
        $self->sql($known . _tenants($from, $to));
    }
    $say->('resources');
    for (my $from = 1; $from <= $n; $from += BATCH) {
        my $to = $from + BATCH - 1 < $n ? $from + BATCH - 1 : $n;
        $self->sql($known . _resources($from, $to));
        $say->("resources up to $to") if $to % 500_000 == 0;
    }
    for my $table (@tables) {
        $say->("keys of $table");
        $self->sql("ALTER TABLE $table $keys{$table}[1]");
    }
    $say->('counts');
    $self->sql($known . 'INSERT INTO tenant_counts (tenant_id, resources) SELECT t.id, (SELECT COUNT(*) FROM resources r FORCE INDEX (owner) WHERE r.tenant_id = t.id AND r.live = 1)
        FROM tenants t WHERE t.id = 1 OR t.id > @t0 ON DUPLICATE KEY UPDATE resources = VALUES(resources);
        UPDATE changes SET at = @now - INTERVAL 500 DAY WHERE id <= @c0;
        UPDATE log_horizon SET published = (SELECT MAX(id) FROM changes);
        UPDATE settings SET value = CAST(UNIX_TIMESTAMP() * 1000000 AS UNSIGNED) WHERE name = "reaped_at";');
    $self->sql('ANALYZE TABLE ' . join ', ', @tables, qw(forwards tenant_counts resource_traits providers provider_aggregates));
    $say->('done');
    return;
}

# The session's variables as constants, since the rows that they were read from are not the only ones later.
sub _known {
    my ($self, $session) = @_;
    my @names = qw(e1 e2 s1 s2 seed n t wide log now step t0 r0 c0 r1 c1 node port provider map volume space trait kind nodebody portbody hostbody nodeuid hostid);
    my %text  = map { $_ => 1 } qw(seed nodebody portbody hostbody nodeuid now);
    my %bytes = map { $_ => 1 } qw(e1 e2 s1 s2);
    my %value = map { $_->[0] => $_->[1] } $self->sql($session . join ' ', map { "SELECT '$_', HEX(CAST(\@$_ AS " . ($bytes{$_} ? 'BINARY' : 'CHAR') . '));' } @names);
    return 'SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin; SET unique_checks = 1, foreign_key_checks = 0; ' . join '', map {
        my $hex = $value{$_};
        "SET \@$_ = " . ($bytes{$_} ? "UNHEX('$hex')" : $text{$_} ? "CONVERT(UNHEX('$hex') USING utf8mb4)" : pack 'H*', $hex) . ";\n" } @names;
}

my $etag  = sub { my ($text) = @_; return "UNHEX(SHA2(CONCAT(\@e2, UNHEX(SHA2(CONCAT(\@e1, $text), 512))), 512))" };
my $lanes = sub { my ($uid, $group) = @_; return "SHA2(CONCAT(\@s2, UNHEX(SHA2(CONCAT(\@s1, 'lanes:', $uid, $group), 256))), 256)" };
my $v4    = sub { my ($hex) = @_; return "CONCAT(LEFT($hex, 12), '4', SUBSTR($hex, 14, 3), '8', SUBSTR($hex, 18))" };
my $uuid  = sub { my ($u) = @_; return "CONCAT_WS('-', LEFT($u, 8), SUBSTR($u, 9, 4), SUBSTR($u, 13, 4), SUBSTR($u, 17, 4), SUBSTR($u, 21))" };
my $lane  = sub { my ($x) = @_; return join ', ', map { "CONV(SUBSTR($x, " . (1 + 8 * $_) . ', 8), 16, 10)' } 0 .. 3 };

sub _tenants {
    my ($from, $to) = @_;
    my $head = $etag->(q(CONCAT('{"uid":"', s.d, '","revision":1,"tier":8:standard,"metadata":{}}')));
    my $hash = $etag->(q(CONCAT('{"uid":"', s.d2, '","edits":1,"metadata":{},"content":{}}')));
    my $x    = $lanes->('UNHEX(s.u2)', q(''));
    return <<"SQL";
CREATE TEMPORARY TABLE s (i INT PRIMARY KEY, u CHAR(32), d CHAR(36), u2 CHAR(32), d2 CHAR(36), x CHAR(64)) ENGINE=MEMORY DEFAULT CHARSET=latin1;
INSERT INTO s (i, u, u2) SELECT q.seq, MD5(CONCAT(\@seed, ':v:', q.seq)), MD5(CONCAT(\@seed, ':w:', q.seq)) FROM seq_${from}_to_${to} q;
UPDATE s SET u = ${\ $v4->('u')}, u2 = ${\ $v4->('u2')};
UPDATE s SET d = ${\ $uuid->('u')}, d2 = ${\ $uuid->('u2')};
UPDATE s SET x = $x;
INSERT INTO tenants (id, name, uid, tier_id, metadata, etag, revision, created_at, updated_at, changed)
SELECT \@t0 + i, CONCAT('t-', LEFT(MD5(CONCAT(\@seed, ':t:', i)), 12)), UNHEX(u), 1, '{}', $head, 1, \@now - INTERVAL 500 DAY, \@now - INTERVAL 500 DAY, \@c0 + 2 * i FROM s ORDER BY i;
INSERT INTO resources (id, uid, tenant_id, type_id, namespace, name, live, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at, updated_at, changed)
SELECT \@r0 + i, UNHEX(u2), \@t0 + i, \@space, '', 'default', 2, 4, 1, 1, ${\ $lane->('x')}, $hash, '{}', '{}', \@now - INTERVAL 500 DAY, \@now - INTERVAL 500 DAY, \@c0 + 2 * i - 1 FROM s ORDER BY i;
INSERT INTO tokens (id, hash, user, tenant_id, role, created_at)
SELECT LEFT(MD5(CONCAT(\@seed, ':k:', i)), 20), UNHEX(SHA2(CONCAT(\@seed, ':s:', i), 256)), 'ann', \@t0 + i, 'member', \@now - INTERVAL 500 DAY FROM s ORDER BY 1;
SQL
}

sub _resources {
    my ($from, $to) = @_;
    my $hash = $etag->(q(CONCAT('{"uid":"', s.d, '","edits":1', IF(s.k = 0, ',"traits":["HW_CPU_X86_VMX"]', ''), ',"metadata":', s.meta, ',"content":',
        IF(s.k = 1, REPLACE(s.body, '"driver_internal_info":{},', ''), s.body), '}')));
    my $x = $lanes->('UNHEX(s.u)', q(CASE s.k WHEN 0 THEN 'placement.openstack.org' WHEN 1 THEN 'baremetal.openstack.org' WHEN 2 THEN 'baremetal.openstack.org' ELSE '' END));
    my $owner = '\@t0 + 1 + CONV(LEFT(o, 8), 16, 10) MOD \@t' =~ s/\\//gr;
    return <<"SQL";
CREATE TEMPORARY TABLE s (i INT PRIMARY KEY, k TINYINT, u CHAR(32), o CHAR(32), d CHAR(36), tenant BIGINT, source BIGINT NULL, at DATETIME(6), type INT, namespace VARCHAR(10), name VARCHAR(36),
  x CHAR(64), meta VARCHAR(40), body VARCHAR(1400), etag BINARY(64)) ENGINE=MEMORY DEFAULT CHARSET=latin1;
INSERT INTO s (i, k, u, o, d, tenant, source, at, type, namespace, name, x, meta, body, etag)
SELECT s.i, s.k, s.u, s.o, s.d, s.tenant, s.source, s.at, s.type, s.namespace, s.name, $x, s.meta, s.body, $hash FROM (
  SELECT p.*,
    CASE WHEN k < 3 THEN d WHEN k < 23 THEN CONCAT('v-', SUBSTR(o, 21)) ELSE CONCAT('c-', SUBSTR(o, 21)) END AS name,
    CASE
      WHEN k = 0 THEN REPLACE(\@hostbody, 'template-host', CONCAT('host-', i))
      WHEN k = 1 THEN REPLACE(\@nodebody, 'template-node', CONCAT('node-', i))
      WHEN k = 2 THEN REPLACE(REPLACE(\@portbody, '52:54:00:00:00:00', ${\ _mac()}), \@nodeuid, ${\ $uuid->($v4->(q(MD5(CONCAT(@seed, ':u:', i - 1)))))})
      WHEN k < 23 THEN CONCAT('{"spec":{"capacity":{"storage":"', i MOD 900, 'Gi"},"claimRef":"', u, '"}}')
      ELSE CONCAT('{"data":{"owner":"', o, '","text":"', u, o, u, '"}}') END AS body
  FROM (
    SELECT p.i, IF(p.source = p.tenant, 99, p.k) AS k, p.u, p.o, p.d, p.tenant, IF(p.source = p.tenant, NULL, p.source) AS source, p.at, p.type, p.namespace, p.meta FROM (
      SELECT p.i, p.k, p.u, p.o, ${\ $uuid->('p.u')} AS d, IF(k = 0, 1, IF(i > \@wide, \@t0 + 1 + i MOD ${\ WIDE}, $owner)) AS tenant,
        \@now - INTERVAL (\@n - i) * \@step MICROSECOND AS at,
        CASE WHEN k = 0 THEN \@provider WHEN k = 1 THEN \@node WHEN k = 2 THEN \@port WHEN k < 23 THEN \@volume ELSE \@map END AS type,
        IF(k = 24, \@t0 + 1 + CONV(SUBSTR(o, 9, 8), 16, 10) MOD \@t, NULL) AS source, IF(k < 23, '', 'default') AS namespace,
        IF(k < 3, '{}', CONCAT('{"labels":{"app":"a', i MOD 37, '"}}')) AS meta
      FROM (
        SELECT p.i, p.k, ${\ $v4->('p.u')} AS u, p.o FROM (
          SELECT q.seq AS i, IF(q.seq > \@wide, 99, q.seq MOD 100) AS k, MD5(CONCAT(\@seed, ':u:', q.seq)) AS u,
            MD5(CONCAT(\@seed, ':o:', IF(q.seq <= \@wide AND q.seq MOD 100 = 2, q.seq - 1, q.seq))) AS o
          FROM seq_${from}_to_${to} q LIMIT 1000000) p LIMIT 1000000) p LIMIT 1000000) p LIMIT 1000000) p LIMIT 1000000) s;
INSERT INTO resources (id, uid, tenant_id, type_id, namespace, name, live, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at, updated_at, deleted_at, purge_at, deletion, root, traits,
  changed, moves)
SELECT \@r1 + i, UNHEX(u), tenant, type, namespace, name, IF(k = 23, NULL, 1), LENGTH(meta) + LENGTH(body), IF(k IN (23, 24), 2, 1), 1, ${\ $lane->('x')}, etag, meta, body, at, at,
  IF(k = 23, at, NULL), IF(k = 23, \@now + INTERVAL 20 DAY, NULL), IF(k = 23, UNHEX(MD5(CONCAT(\@seed, ':q:', i))), NULL),
  CASE k WHEN 0 THEN UNHEX(CONCAT(LPAD(HEX(\@provider), 8, '0'), u)) WHEN 1 THEN UNHEX(CONCAT(LPAD(HEX(\@node), 8, '0'), u))
    WHEN 2 THEN UNHEX(CONCAT(LPAD(HEX(\@node), 8, '0'), ${\ $v4->(q(MD5(CONCAT(@seed, ':u:', i - 1))))})) END,
  IF(k = 0, '["HW_CPU_X86_VMX"]', NULL), \@c1 + i, IF(k = 24, 1, 0)
FROM s ORDER BY i;
INSERT INTO resource_aliases (resource_id, kind, type_id, value)
SELECT \@r1 + i, IF(k = 2, 'address', 'name'), type, CASE k WHEN 0 THEN CONCAT('host-', i) WHEN 1 THEN CONCAT('node-', i) ELSE ${\ _mac()} END FROM s WHERE k < 3 ORDER BY i;
INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at) SELECT source, type, namespace, name, \@r1 + i, at FROM s WHERE source IS NOT NULL ORDER BY source;
INSERT INTO resource_traits (resource_id, trait_id) SELECT \@r1 + i, \@trait FROM s WHERE k = 0 ORDER BY i;
INSERT INTO providers (resource_id, generation) SELECT \@r1 + i, 3 FROM s WHERE k = 0 ORDER BY i;
INSERT INTO provider_aggregates (resource_id, aggregate)
SELECT \@r1 + i, UNHEX(MD5(CONCAT(\@seed, ':a:', i DIV 10000))) FROM s WHERE k = 0 ORDER BY i;
INSERT INTO consumers (id, uid, project, user, type_id, generation, created_at, updated_at)
SELECT 100 + i, UNHEX(MD5(CONCAT(\@seed, ':c:', i))), CONCAT('project-', i MOD 1000), 'ann', \@kind, 1, at, at FROM s WHERE k = 0 AND i MOD 1000 <> 0 ORDER BY i;
INSERT INTO allocations (consumer_id, resource_id, class_id, used, updated_at)
SELECT 100 + i, \@r1 + i, c.id, (1 + i DIV 100 MOD 28) * IF(c.id = 1, 1, 512), at FROM s JOIN resource_classes c ON c.id IN (1, 2) WHERE k = 0 AND i MOD 1000 <> 0 ORDER BY i, c.id;
INSERT INTO inventories (resource_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio, capacity, used, created_at, updated_at)
SELECT \@r1 + i, v.class_id, v.total, v.reserved, v.min_unit, v.max_unit, v.step_size, v.allocation_ratio, v.capacity,
  IF(i MOD 1000 = 0 OR v.class_id = 3, 0, (1 + i DIV 100 MOD 28) * IF(v.class_id = 1, 1, 512)), at, at
FROM s JOIN (SELECT * FROM inventories WHERE resource_id = \@hostid) v WHERE k = 0 ORDER BY i, v.class_id;
INSERT INTO changes (id, request_id, at, actor, verb, tenant_id, from_tenant_id, resource_id, uid, type_id, namespace, name, revision, etag_before, etag_after, moves)
SELECT \@c1 + i, UNHEX(MD5(CONCAT(\@seed, ':q:', i))), at, 'ann', CASE k WHEN 23 THEN 'deleted' WHEN 24 THEN 'moved' ELSE 'created' END, tenant, source, \@r1 + i, UNHEX(u), type, namespace, name,
  IF(k IN (23, 24), 2, 1), IF(k IN (23, 24), etag, NULL), IF(k = 23, NULL, etag), IF(k = 24, 1, 0)
FROM s WHERE i > \@log ORDER BY i;
SQL
}

sub _mac { return q(LOWER(CONCAT_WS(':', '52', '54', LEFT(LPAD(HEX(i), 8, '0'), 2), SUBSTR(LPAD(HEX(i), 8, '0'), 3, 2), SUBSTR(LPAD(HEX(i), 8, '0'), 5, 2), RIGHT(HEX(i + 65536), 2)))) }

1;
