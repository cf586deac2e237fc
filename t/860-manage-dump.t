#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure-manage dump and restore of a tenant: every answer of every dialect is the same behind it but for names and what is made of them;
# what is in the way is told, all of it; and a file that is broken at any line is refused.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Digest::SHA ();
use JSON::PP ();
use POSIX ();
use Test::More;

use Tenure::Instance;
use Tenure::Run ();

my $json     = JSON::PP->new->utf8->canonical->allow_nonref;
my $instance = Tenure::Instance->start(combined => 1, workers => 2);
my $admin    = $instance->admin;
my $all      = $instance->combined('admin');
my $file     = $instance->dir . '/acme.dump';
my %metal    = ('X-OpenStack-Ironic-API-Version' => '1.82');
my %placing  = ('OpenStack-API-Version' => 'placement 1.39');

sub manage {
    my ($want, $name, @args) = @_;
    my ($code, $text) = $instance->manage(@args);
    is $code, $want, $name or diag $text;
    return $text;
}
sub made {
    my ($answer) = @_;
    $answer->status =~ /\A(?:20[0-4]|303)\z/ or die $answer->describe . "\n";
    return $answer;
}

# ---- a tenant with something of everything

made($admin->put('/v2.0/acme', json => { tenant => { metadata => { note => "\x{e4}\x{1f600} \"quoted\" \\ back" } } }));
$admin->make_tenant('other');
made($admin->put('/v2.0/acme/namespaces/prod', json => { metadata => { labels => { a => 'b' } } }));
for my $space (qw(default prod)) {
    made($admin->put("/v2.0/acme/namespaces/$space/configmaps/c$_", json => { data => { text => "line $_\n\ttab \x{2028} \\u0000 \"q\" \x{1f4a9}", n => "$_" } })) for 1 .. 3;
}
made($admin->patch('/v2.0/acme/namespaces/prod/configmaps/c1', { data => { text => 'changed' }, metadata => { locked => JSON::PP::true } }));
made($admin->put('/v2.0/acme/namespaces/prod/secrets/s', json => { data => { key => 'dmFsdWU=' } }));
made($admin->put('/v2.0/acme/persistentvolumes/pv', json => { spec => { capacity => { storage => '5Gi' }, hostPath => { path => '/data' } } }));
made($all->post('/apis/apiextensions.k8s.io/v1/tenants/acme/customresourcedefinitions', json => { apiVersion => 'apiextensions.k8s.io/v1',
    kind => 'CustomResourceDefinition', metadata => { name => 'widgets.example.com' }, spec => { group => 'example.com', scope => 'Namespaced',
    names => { plural => 'widgets', singular => 'widget', kind => 'Widget', listKind => 'WidgetList' }, versions => [ { name => 'v1', served => JSON::PP::true,
    storage => JSON::PP::true, schema => { openAPIV3Schema => { type => 'object', properties => { spec => { type => 'object', properties => { size => { type => 'integer' } } } } } } } ] } }));
made($all->post('/apis/example.com/v1/tenants/acme/namespaces/prod/widgets', json => { apiVersion => 'example.com/v1', kind => 'Widget', metadata => { name => 'w' }, spec => { size => 3 } }));
my $node = made($all->post('/baremetal/v1/nodes', json => { driver => 'fake-hardware', name => 'n1', owner => 'acme', resource_class => 'gold' }, headers => {%metal}));
my $node_uid = $node->json->{uuid};
made($all->put("/baremetal/v1/nodes/$node_uid/traits", json => { traits => [ 'CUSTOM_FAST', 'HW_CPU_X86_VMX' ] }, headers => {%metal}));
made($all->post('/baremetal/v1/ports', json => { address => '52:54:00:00:00:01', node_uuid => $node_uid }, headers => {%metal}));
my %uid = (root => '11111111-1111-4111-8111-111111111111', child => '22222222-2222-4222-8222-222222222222', consumer => '33333333-3333-4333-8333-333333333333',
    aggregate => '44444444-4444-4444-8444-444444444444');
sub provider { my ($path, $method, $body) = @_; return made($all->request($method, "/placement/resource_providers$path", json => $body, headers => {%placing})) }
made($all->put('/placement/resource_classes/CUSTOM_GOLD', headers => {%placing}));
provider('', POST => { name => 'root', uuid => $uid{root} });
provider('', POST => { name => 'child', uuid => $uid{child}, parent_provider_uuid => $uid{root} });
provider("/$uid{root}/inventories", PUT => { resource_provider_generation => 0, inventories => { VCPU => { total => 16, allocation_ratio => 1.5, reserved => 1 },
    CUSTOM_GOLD => { total => 1 } } });
provider("/$uid{root}/aggregates", PUT => { resource_provider_generation => 1, aggregates => [ $uid{aggregate} ] });
provider("/$uid{child}/traits", PUT => { resource_provider_generation => 0, traits => ['CUSTOM_FAST'] });
made($all->put("/placement/allocations/$uid{consumer}", json => { allocations => { $uid{root} => { resources => { VCPU => 3 } } }, project_id => 'p', user_id => 'u',
    consumer_generation => undef, consumer_type => 'INSTANCE' }, headers => {%placing}));
# Providers of the operator's belong to the system's tenant, and go to acme by a move.
my $owner = $instance->sql_value("SELECT t.name FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE r.uid = UNHEX(REPLACE('$uid{root}', '-', ''))");
if ($owner ne 'acme') {
    my $name = $instance->sql_value("SELECT name FROM resources WHERE uid = UNHEX(REPLACE('$uid{root}', '-', ''))");
    made($admin->post("/v2.0/$owner/resourceproviders/$name/action/move?dest=acme"));
}

# ---- what is answered

# Every answer about the tenant, name by name: addresses of its resources in every dialect.
sub answers {
    my ($tenant) = @_;
    my %got;
    my @rows = $instance->sql("SELECT y.group_name, y.plural, r.namespace, r.name FROM resources r JOIN types y ON y.id = r.type_id JOIN tenants t ON t.id = r.tenant_id
        WHERE t.name = '$tenant' AND t.live = 1 AND r.live IN (1, 2) ORDER BY 1, 2, 3, 4");
    my @paths = ("/v2.0/$tenant");
    for my $row (@rows) {
        my ($group, $plural, $space, $name) = @$row;
        my $type = $group eq '' || $group =~ /baremetal|placement|apps|apiextensions/ ? $plural : "$plural.$group";
        my $in   = $space eq '' ? '' : "/namespaces/$space";
        push @paths, "/v2.0/$tenant$in/$type", "/v2.0/$tenant$in/$type/$name";
        next if $group =~ /baremetal|placement/;
        my $api = $group eq '' ? '/api/v1' : "/apis/$group/v1";
        push @paths, "$api/tenants/$tenant$in/$plural", "$api/tenants/$tenant$in/$plural/$name";
    }
    push @paths, map { "/baremetal/v1$_" } '/nodes/detail', '/ports/detail', "/nodes/$node_uid", "/nodes/$node_uid/traits", "/nodes/n1/ports";
    push @paths, map { "/placement$_" } '/resource_providers', map({ ("/resource_providers/$uid{root}/$_", "/resource_providers/$uid{child}/$_") } qw(inventories usages aggregates traits
        allocations)), "/allocations/$uid{consumer}", '/allocation_candidates?resources=VCPU:1', '/usages?project_id=p';
    my %seen;
    for my $path (grep { !$seen{$_}++ } @paths) {
        my $answer = $all->get($path, headers => { %metal, %placing });
        my $text   = $answer->text;
        $text =~ s/\b\Q$tenant\E\b/TENANT/g;
        $text =~ s/("resourceVersion" *: *)"[^"]*"/$1"VERSION"/g;
        $text =~ s/("(?:etag|state)" *: *)"[^"]*"/$1"TAG"/g if $path =~ /nodes|v2\.0\/[^\/]+\z/;
        my $etag = $path =~ m{nodes|/\Q$tenant\E\z} || $answer->json->{items} || $answer->json->{resources} ? '' : $answer->etag // '';
        $got{ $path =~ s/\b\Q$tenant\E\b/TENANT/gr } = $answer->status . " $etag $text";
    }
    return \%got;
}

my $before = answers('acme');
is scalar(grep { !/\A200 / } values %$before), 0, 'everything is there' or diag join "\n", map { "$_: $before->{$_}" } grep { $before->{$_} !~ /\A200 / } sort keys %$before;
cmp_ok scalar(keys %$before), '>', 50, 'many answers';

# ---- dump

like manage(64, 'without a tenant', 'dump', $file), qr/dump needs (?:either )?--tenant NAME/, 'says what it needs';
like manage(66, 'of a tenant that is not there', 'dump', '--tenant', 'nobody', $file), qr/there is no tenant "nobody"/, 'says so';
ok !-e $file, 'and leaves no file';
like manage(74, 'into a folder that is not there', 'dump', '--tenant', 'acme', "$file/x"), qr/can't write/, 'says so';
manage(0, 'dump', 'dump', '--tenant', 'acme', $file);
is sprintf('%o', (stat $file)[2] & 0777), '600', 'only its owner may read it';
my @lines = split /^/, Tenure::Run::read_file($file);
is_deeply [ map { grep { $_ ne 'sum' } keys %{ $json->decode($_) } } @lines[ 0, 1, -1 ] ], [qw(dump tenant end)],
    'its first two lines and its last';
like $lines[0], qr/"format":1,"schema":\d+,"holds":"tenant","tenant":"acme"/, 'the first says what it is';
is manage(0, 'to standard output', 'dump', '--tenant', 'acme', '-') =~ tr/\n//, scalar @lines, 'as many lines';

subtest 'to what is no file' => sub {
    my $pipe = $instance->dir . '/pipe';
    POSIX::mkfifo($pipe, 0600) or die "mkfifo: $!\n";
    my $reader = fork // die "fork: $!\n";
    exec 'sh', '-c', 'exec cat "$1" >"$2"', 'sh', $pipe, "$pipe.out" or POSIX::_exit(127) if $reader == 0;
    manage(0, 'to a pipe', 'dump', '--tenant', 'acme', $pipe);
    ok -p $pipe, 'which stays one' or kill KILL => $reader;
    waitpid $reader, 0;
    is Tenure::Run::read_file("$pipe.out") =~ tr/\n//, scalar @lines, 'and passes on as many lines';

    my $full = $instance->dir . '/full';
    symlink '/dev/full', $full or die $!;
    my $said = manage(74, 'to a device without room', 'dump', '--tenant', 'acme', $full);
    like $said, qr/can't write \Q$full\E: No space left on device/, 'which is told';
    is readlink $full, '/dev/full', 'and stays what it was';
    like manage(64, 'a file without a name', 'dump', '--tenant', 'acme', ''), qr/dump: FILE is empty/, 'is told';
    like manage(74, 'to a folder', 'dump', '--tenant', 'acme', $instance->dir), qr/can't write .*: Is a directory/, 'is told, too';

    my ($victim, $target) = map { $instance->dir . "/$_" } 'victim', 'target.dump';
    Tenure::Run::write_file($victim, 'precious');
    symlink $victim, "$target.new" or die $!;
    manage(0, 'where somebody has put a link in place of the draft', 'dump', '--tenant', 'acme', $target);
    is Tenure::Run::read_file($victim), 'precious', 'what it leads to is not touched';
    is Tenure::Run::read_file($target) =~ tr/\n//, scalar @lines, 'the dump is whole';
};

# As "> FILE" does: what a link leads to may be on another disk, or be standard output.
subtest 'to a symbolic link' => sub {
    my ($link, $target) = map { $instance->dir . "/$_" } 'latest.dump', 'dated.dump';
    symlink $target, $link or die $!;
    manage(0, 'to a file that is not there yet', 'dump', '--tenant', 'acme', $link);
    is readlink $link, $target, 'the link stays';
    is sprintf('%o', (stat $target)[2] & 0777), '600', 'only the owner of the new file may read it';
    Tenure::Run::write_file($target, "longer than the dump\n" x 100000);
    manage(0, 'to a file', 'dump', '--tenant', 'acme', $link);
    is readlink $link, $target, 'the link stays';
    is Tenure::Run::read_file($target) =~ tr/\n//, scalar @lines, 'the file has the dump, and nothing else';
    symlink '/nowhere/x', "$link.lost" or die $!;
    like manage(74, 'into a folder that is not there', 'dump', '--tenant', 'acme', "$link.lost"), qr/can't write \Q$link.lost\E: No such file/, 'is told';

    my ($out, $redirected) = map { $instance->dir . "/$_" } 'stdout', 'redirected.dump';
    symlink '/proc/self/fd/1', $out or die $!;
    my @dump = (Tenure::Instance::build_dir() . '/tenure-manage', '-c', $instance->env('TENURE_CONFIG'), 'dump', '--tenant', 'acme', $out);
    my ($code, $text) = Tenure::Run::run('sh', '-c', 'f=$1; shift; exec "$@" >"$f"', 'sh', $redirected, @dump);
    is $code, 0, 'to a link to standard output' or diag $text;
    is readlink $out, '/proc/self/fd/1', 'the link stays';
    is Tenure::Run::read_file($redirected) =~ tr/\n//, scalar @lines, 'standard output has the dump';
};

subtest 'begun anew behind something else' => sub {
    my $target = $instance->dir . '/both';
    my @dump = (Tenure::Instance::build_dir() . '/tenure-manage', '-c', $instance->env('TENURE_CONFIG'), 'dump', '--tenant', 'acme', '-');
    # The connection is lost behind the first line of the dump.
    my $behind = sub {
        my ($redirection) = @_;
        Tenure::Run::write_file($target, "what was there\n" x 1000);
        local $ENV{TENURE_FAULT} = 'statement:5:conn';
        return Tenure::Run::run('sh', '-c', qq(f=\$1; shift; { echo before; "\$@"; } $redirection "\$f"), 'sh', $target, @dump);
    };
    for (['>', "before\n"], ['>>', "what was there\n" x 1000 . "before\n"]) {
        my ($redirection, $kept) = @$_;
        my ($code, $text) = $behind->($redirection);
        is $code, 0, "$redirection: dumped" or diag $text;
        my $got = Tenure::Run::read_file($target);
        is substr($got, 0, length $kept), $kept, '... behind what was there';
        my $dump = substr $got, length $kept;
        is $dump =~ tr/\n//, scalar @lines, '... as many lines';
        is scalar(() = $dump =~ /^\{"sum":"[0-9a-f]+","dump":/mg), 1, '... one dump';
    }
    my ($code, $text) = $behind->('1<>');
    ok $code == 75 && $text =~ /the output can't be begun anew/, 'over what is there: it is told' or diag $text;
    is -s $target, 15_000, '... and what is behind it stays';
};

subtest 'a connection that is lost behind more than read_timeout' => sub {
    my $target = $instance->dir . '/late.dump';
    my $session = $instance->sql_session;
    print {$session} "LOCK TABLES resources WRITE; DO GET_LOCK('late', 0);\n";
    Tenure::Run::wait_until(sub { defined $instance->sql_value("SELECT IS_USED_LOCK('late')") }) or die "no lock\n";
    local @ENV{qw(TENURE_FAULT TENURE_DATABASE_READ_TIMEOUT)} = ('statement:7:conn', 1);
    my $ended = $instance->begin_manage("$target.said", 'dump', '--tenant', 'acme', $target);
    ok Tenure::Run::wait_until(sub { $instance->sql_value("SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%'") > 0 }), 'waits';
    select undef, undef, undef, 1.5;
    close $session;
    my ($code, $text) = $ended->();
    is $code, 0, 'the dump is begun anew' or diag $text;
    is Tenure::Run::read_file($target) =~ tr/\n//, scalar @lines, '... and whole';
};

subtest 'a dump that is ended' => sub {
    my $target = $instance->dir . '/ended.dump';
    Tenure::Run::write_file("$target.new", 'mine');
    my $session = $instance->sql_session;
    print {$session} "LOCK TABLES resources WRITE; DO GET_LOCK('ended', 0);\n";
    Tenure::Run::wait_until(sub { defined $instance->sql_value("SELECT IS_USED_LOCK('ended')") }) or die "no lock\n";
    my @command = (Tenure::Instance::build_dir() . '/tenure-manage', '-c', $instance->env('TENURE_CONFIG'), 'dump', '--tenant', 'acme', $target);
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) { exec { $command[0] } @command or POSIX::_exit(127) }
    my $others = sub { return grep { $_ ne "$target.new" } glob "$target*" };
    ok Tenure::Run::wait_until(sub { $others->() > 0 }), 'it has begun';
    kill TERM => $pid;
    waitpid $pid, 0;
    is $? & 127, POSIX::SIGTERM(), 'by its signal';
    close $session;
    is_deeply [$others->()], [], 'leaves nothing';
    manage(0, 'the next one', 'dump', '--tenant', 'acme', $target);
    is_deeply [$others->()], [$target], 'makes its file alone';
    is Tenure::Run::read_file("$target.new"), 'mine', 'and a file that is somebody\'s own stays';
};

# ---- conflicts

my $told = manage(65, 'beside the original', 'restore', $file);
like $told, qr/^there is a tenant "acme"$/m, 'its name';
like $told, qr/^uid \Q$node_uid\E \(nodes [^)]*\) is here already: acme$/m, 'the uid of a node';
like $told, qr/^nodes .*: name "n1" is taken: acme$/m, 'a node\'s name';
like $told, qr/52:54:00:00:00:01" is taken/, 'a port\'s address';
like $told, qr/^consumer 3{8}/m, 'a consumer';
my $count = () = $told =~ / is here already/g;
is $count, $instance->sql_value(q(SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 'acme' AND r.live IN (1, 2))) + 1, 'all uids are told';
like $told, qr/nothing was restored: \d+ conflicts\n\z/, 'and how many these are';
like manage(65, 'under the name of another one', 'restore', '--as', 'other', $file), qr/^there is a tenant "other"$/m, 'that one is in the way';
like manage(64, 'under a name that there can\'t be', 'restore', '--as', $_, $file), qr{--as: no tenant can be called "\Q$_\E"}, 'says so' for 'all', 'a/b', '..', '';

subtest 'conflicts of a try that is done again' => sub {
    for my $at (map { 5 * $_ } 2 .. 8) {
        local $ENV{TENURE_FAULT} = "statement:$at:conn";
        my ($code, $text) = $instance->manage('restore', $file);
        my %lines;
        $lines{$_}++ for grep { / is here already| is taken/ } split /\n/, $text;
        is_deeply [grep { $lines{$_} > 1 } sort keys %lines], [], "statement $at: each is told once";
    }
};

subtest 'out of what is no file' => sub {
    my $pipe = $instance->dir . '/from';
    POSIX::mkfifo($pipe, 0600) or die "mkfifo: $!\n";
    my $size = -s $file;
    local $ENV{TMPDIR} = $instance->dir . '/nowhere';
    my $from = Tenure::Instance::build_dir() . '/tenure-manage';
    is_deeply [ Tenure::Run::run('sh', '-c', 'cat "$1" | "$2" -c "$3" restore -', 'sh', $file, $from, $instance->env('TENURE_CONFIG')) ],
        [74, "tenure-manage: can't copy - to $ENV{TMPDIR}: No such file or directory; TMPDIR names another folder\n"], 'the copy is made where TMPDIR says';
    $ENV{TMPDIR} = $instance->dir;
    SKIP: {
        skip 'the dump ends with a block', 1 if $size % 4096 == 0;
        # A limit of the size, in blocks of 512 bytes, lets the whole blocks pass. The rest is written when the copy is complete.
        my @restore = ($from, '-c', $instance->env('TENURE_CONFIG'), 'restore', '-');
        my ($code, $said) = Tenure::Run::run('sh', '-c', 'trap "" XFSZ; ulimit -f "$1"; f=$2; shift 2; cat "$f" | "$@"', 'sh', int($size / 4096) * 8, $file, @restore);
        is_deeply [$code, $said], [74, "tenure-manage: can't copy - to $ENV{TMPDIR}: File too large; TMPDIR names another folder\n"], 'no room for the end of the copy';
    }
    for my $how ('', 'gzip -c') {
        my $writer = fork // die "fork: $!\n";
        exec 'sh', '-c', 'exec ${3:-cat} <"$1" >"$2"', 'sh', $file, $pipe, $how or POSIX::_exit(127) if $writer == 0;
        my $said = manage(65, $how eq '' ? 'a pipe with a name' : 'a compressed one', 'restore', $pipe);
        like $said, $how eq '' ? qr/nothing was restored: \d+ conflicts\n\z/ : qr/\Q$pipe\E is compressed: zcat \Q$pipe\E \| tenure-manage restore -/,
            $how eq '' ? 'is read as a file is' : 'is told so';
        waitpid $writer, 0;
    }
    like manage(66, 'a folder', 'restore', $instance->dir), qr/can't read .*: Is a directory/, 'is none';
};

# ---- broken files

sub broken {
    my ($name, $want, @text) = @_;
    open my $out, '>', "$file.broken" or die;
    print {$out} @text;
    close $out;
    my $told = manage(65, "$name is refused", 'restore', '--as', 'acme2', "$file.broken");
    like $told, $want, "$name: says where";
    return;
}
my $last = @lines;
broken('an empty file', qr/: line 1 is missing: the file was cut off/);
broken('a file without its end', qr/: line $last is missing: the file was cut off/, @lines[ 0 .. $#lines - 1 ]);
broken('half a line', qr/: line $last has no end: the file was cut off/, @lines[ 0 .. $#lines - 1 ], substr $lines[-1], 0, -3);
broken('two lines that changed places', qr/: line 5 is not as it was dumped, or not in its place/, @lines[ 0 .. 3, 5, 4, 6 .. $#lines ]);
broken('a line that is missing', qr/: line 5 is not as it was dumped, or not in its place/, @lines[ 0 .. 3, 5 .. $#lines ]);
broken('a line twice', qr/: line 6 is not as it was dumped, or not in its place/, @lines[ 0 .. 4, 4 .. $#lines ]);
broken('something behind the end', qr/: line \d+ stands behind the end/, @lines, "\n");
broken('no dump', qr/: line 1 is no line of a dump/, "CREATE TABLE tenants;\n");
# At a place of every third line.
for my $i (grep { $_ % 3 == 0 } 0 .. $#lines) {
    my @other = @lines;
    my $at = 42 + ($i * 7) % (length($lines[$i]) - 44);
    substr $other[$i], $at, 1, substr($other[$i], $at, 1) eq 'x' ? 'y' : 'x';
    my $n = $i + 1;
    broken("a change in line $n", qr/: line $n is not as it was dumped/, @other);
}

# Lines with right sums that say something else.
sub summed {
    my (@payloads) = @_;
    my $sum = '0' x 32;
    return map { $sum = substr Digest::SHA::sha256_hex($sum . Digest::SHA::sha256_hex($_)), 0, 32; qq({"sum":"$sum",$_\n) } @payloads;
}
my @payloads = map { /\A\{"sum":"[0-9a-f]{32}",(.*)\n\z/s } @lines;
is join('', summed(@payloads)), join('', @lines), 'the sums are what doc/dump.md says';
broken('a later format', qr/line 1 is of format 2: this program reads format 1/, summed($payloads[0] =~ s/"format":1/"format":2/r, @payloads[ 1 .. $#payloads ]));
broken('a later schema', qr/line 1 is of schema version 999/, summed($payloads[0] =~ s/"schema":\d+/"schema":999/r, @payloads[ 1 .. $#payloads ]));
broken('an unknown kind', qr/line 3 is "thing", which is unknown or does not belong there/, summed(@payloads[ 0, 1 ], '"thing":{}}', @payloads[ 2 .. $#payloads ]));
my ($resource) = grep { $payloads[$_] =~ /\A"resource"/ } 0 .. $#payloads;
broken('a document that is none', qr/line @{[ $resource + 1 ]} is no resource/, summed(@payloads[ 0 .. $resource - 1 ], $payloads[$resource] =~ s/"body": *"\{/"body": "[/r,
    @payloads[ $resource + 1 .. $#payloads ]));
is $instance->sql_value(q(SELECT COUNT(*) FROM tenants WHERE name = 'acme2')), 0, 'nothing of all that was restored';

# ---- restore

# The registry forgets the tenant, as if the dump had come from another installation.
sub forget {
    my ($tenant) = @_;
    $instance->sql("SET \@t = (SELECT id FROM tenants WHERE name = '$tenant');" . <<'SQL');
DELETE a FROM allocations a JOIN resources r ON r.id = a.resource_id WHERE r.tenant_id = @t;
DELETE FROM consumers;
DELETE v FROM inventories v JOIN resources r ON r.id = v.resource_id WHERE r.tenant_id = @t;
DELETE p FROM providers p JOIN resources r ON r.id = p.resource_id WHERE r.tenant_id = @t;
DELETE g FROM provider_aggregates g JOIN resources r ON r.id = g.resource_id WHERE r.tenant_id = @t;
DELETE k FROM resource_aliases k JOIN resources r ON r.id = k.resource_id WHERE r.tenant_id = @t;
DELETE x FROM resource_traits x JOIN resources r ON r.id = x.resource_id WHERE r.tenant_id = @t;
DELETE FROM resources WHERE tenant_id = @t;
DELETE FROM changes WHERE tenant_id = @t OR from_tenant_id = @t;
DELETE FROM forwards;
DELETE FROM moves;
DELETE FROM tenant_counts WHERE tenant_id = @t;
DELETE FROM tenants WHERE id = @t;
DELETE FROM traits WHERE name = 'CUSTOM_FAST';
DELETE FROM resource_classes WHERE name = 'CUSTOM_GOLD';
UPDATE catalogues SET revision = revision + 1;
SQL
    return;
}
forget('acme');
my $tried = manage(0, 'a dry run', 'restore', '--dry-run', '--as', 'acme2', $file);
like $tried, qr/\Awould restore \d+ resources\n\z/, 'says how many';

subtest 'a connection that is lost' => sub {
    my %ended;
    for my $at (map { 5 * $_ } 1 .. 12) {
        for my $retries (0, 3) {
            local @ENV{qw(TENURE_FAULT TENURE_DATABASE_RETRIES)} = ("statement:$at:conn", $retries);
            my ($code, $text) = $instance->manage('restore', '--dry-run', '--as', 'acme3', $file);
            $ended{$retries}{$code}++;
            is $text =~ s/^(?!tenure-manage: |would )\S.*\n//mgr, $tried, "statement $at, $retries retries: one text" if $code == 0;
            like $text, qr/^tenure-manage: [^\n]*\n(?!.*^tenure-manage: )/ms, "statement $at, $retries retries: one text" if $code != 0;
        }
    }
    is_deeply [sort keys %{ $ended{0} }], [0, 75], 'it may be away, but nothing is broken';
    cmp_ok $ended{3}{0}, '>', 6, 'and most of it is done again';
};

is $instance->sql_value(q(SELECT COUNT(*) FROM tenants WHERE name = 'acme2')), 0, 'and restores nothing';
like manage(0, 'restore under another name', 'restore', '--as', 'acme2', $file), qr/\Arestored \d+ resources\n\z/, 'says how many';
sleep 1;    # until all workers look at the catalogues again
my $after = answers('acme2');
is_deeply [ sort keys %$after ], [ sort keys %$before ], 'the same addresses';
for my $path (sort keys %$before) {
    my ($was, $is) = ($before->{$path}, $after->{$path} // '');
    is $is, $was, $path if $is ne $was;
}
my ($code, $doctor) = $instance->manage('doctor');
is $code, 0, 'doctor finds nothing wrong' or diag $doctor;
is $instance->sql_value(q(SELECT COUNT(*) FROM changes c JOIN tenants t ON t.id = c.tenant_id WHERE t.name = 'acme2' AND c.verb = 'created')),
    $instance->sql_value(q(SELECT COUNT(*) + 1 FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 'acme2')), 'a change for each resource, and one for the tenant';
made($admin->patch('/v2.0/acme2/namespaces/default/configmaps/c1', { data => { more => 'x' } }));
$admin->delete('/v2.0/acme2/namespaces/prod/configmaps/c1')->is_status(409, 'what was locked is locked');
manage(0, 'dump it again', 'dump', '--tenant', 'acme2', "$file.2");
like manage(65, 'its name in the file is taken now', 'restore', "$file.2"), qr/there is a tenant "acme2"/, 'says so';

subtest 'a COMMIT of which nothing is known' => sub {
    forget('acme2');
    # How many statements a restore sends: the last one at which it can be killed.
    my ($sent, $most) = (1, 1024);
    while ($most - $sent > 1) {
        my $at = int(($sent + $most) / 2);
        local $ENV{TENURE_FAULT} = "statement:$at:process";
        my ($code) = $instance->manage('restore', '--dry-run', '--as', 'acme3', $file);
        if   ($code == 0) { $most = $at }
        else              { $sent = $at }
    }
    my ($code, $text);
    for my $at ($sent + 1 .. $sent + 5) { # one of these asks whether it was committed
        local @ENV{qw(TENURE_FAULT TENURE_DATABASE_RETRIES)} = ("after-commit:1:conn,statement:$at:conn", 0);
        ($code, $text) = $instance->manage('restore', '--as', 'acme3', $file);
        last if $code == 0 || $text =~ /lost at the end/;
    }
    ok $code == 75 && $text =~ /^tenure-manage: the connection was lost at the end: `tenure tenant show acme3` shows whether it was restored$/m, 'is told' or diag "$code: $text";
    $admin->get('/v2.0/acme3')->is_status(200, 'it was restored');
};

# A purged tenant leaves a row in the table of tenants, for the change log.
subtest 'a tenant that was purged here' => sub {
    my $uid = sub { $instance->sql_value("SELECT HEX(uid) FROM tenants WHERE name = 'acme3' AND live = 1") };
    my $was = $uid->();
    $admin->delete('/v2.0/acme3')->is_status(204);
    like manage(65, 'before its purge', 'restore', '--as', 'acme3', $file), qr/^there is a tenant "acme3", deleted and not purged yet$/m, 'is in the way';
    $instance->sql(q(UPDATE tenants SET purge_at = '2001-01-01' WHERE name = 'acme3'));
    my $begun = 0;
    for (my $at = 1; !$begun && $at < 60; $at++) {
        local $ENV{TENURE_FAULT} = "statement:$at:process";
        $instance->manage('reap');
        $begun = $instance->sql_value(q(SELECT COUNT(*) FROM tenants WHERE name = 'acme3' AND live IS NULL AND purge_at IS NOT NULL));
    }
    ok $begun, 'a purge is begun, and killed';
    like manage(65, 'amid its purge', 'restore', '--as', 'acme3', $file), qr/^the tenant in the file was deleted here, and its purge has not ended: `tenure-manage reap` ends it$/m,
        'is in the way';
    manage(0, 'the purge', 'reap');
    manage(0, 'behind its purge', 'restore', '--as', 'acme3', $file);
    is $uid->(), $was, 'it has its uid';
    is $instance->sql_value(q(SELECT COUNT(*) FROM tenants WHERE name = 'acme3')), 2, 'beside the row of before';
    manage(0, 'the registry is sound', 'doctor');
};

done_testing;
