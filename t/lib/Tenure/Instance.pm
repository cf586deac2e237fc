# SPDX-License-Identifier: Apache-2.0
# Starts a complete Tenure service for one test file, by scripts/quickstart, in a folder of its own: database, workers, web server.
#
#   my $instance = Tenure::Instance->start(server => 'nginx', auth => 'noauth');
#   my $admin    = $instance->admin;       # a Tenure::Client of the admin endpoint, with an operator's token
#
# When the test file ends, all processes are stopped and their logs are checked. The file fails, even if its tests passed, if the
# WADL does not list the status of an answer, a sanitizer has reported an error, or a worker has died.
package Tenure::Instance;

use strict;
use warnings;

use Cwd ();
use Digest::SHA ();
use Errno ();
use File::Basename ();
use File::Spec ();
use File::Temp ();
use IO::Handle;
use POSIX ();
use Test::More ();
use Time::HiRes ();

use Tenure::Client;
use Tenure::Ports qw(free_ports);
use Tenure::Run qw(run begin read_file write_file wait_until);

my $source = $ENV{TENURE_SRCDIR} // Cwd::abs_path(File::Basename::dirname(__FILE__) . '/../../..');
my $build  = find_build();
my %program_of = (lighttpd => 'lighttpd', 'apache-fcgid' => 'apache2', 'apache-proxy' => 'apache2', nginx => 'nginx');
my @running;
my $owner = $$;

sub find_build {
    for my $dir ($ENV{TENURE_BUILD}, $ENV{TENURE_BUILDDIR}, Cwd::getcwd(), $source, "$source/var/build",
        "$source/var/check/developer") {
        return Cwd::abs_path($dir) if defined $dir && -x "$dir/tenured" && -x "$dir/tenure-manage";
    }
    return undef;
}

sub source_dir { return $source }
sub build_dir  { return $build }

# Were the programs built with sanitizers?
sub has_sanitizers { return (run('grep', '-q', '__asan_init', "$build/tenured"))[0] == 0 }

sub on_path {
    my ($program) = @_;
    return scalar grep { -x "$_/$program" } split(/:/, $ENV{PATH}), '/usr/sbin', '/sbin';
}

# Skips the test file if a program that it needs is missing.
sub need {
    my ($server) = @_;
    my $missing =
          !defined $build                                            ? 'the programs are not built'
        : !on_path('mariadbd')                                       ? 'mariadbd is not installed'
        : !on_path($program_of{$server})                             ? "$program_of{$server} is not installed"
        : $server eq 'apache-fcgid' && !-e '/usr/lib/apache2/modules/mod_fcgid.so' ? 'mod_fcgid is not installed'
        :                                                              undef;
    Test::More::plan(skip_all => $missing) if defined $missing;
    return;
}

# Options: server, auth (token, noauth), workers, reserve (0 unless given, so a test with one worker has exactly one), combined
# (true: the combined endpoint as well), placement (true: the placement API at the root of a host), demo (true), tls (true: over
# https as well), certificates (true: the same, and clients may show certificates), watches (true: also behind apache-fcgid, by a master of its own), settings => { 'section.key' => value } of
# tenure.conf, database_by => sub (path of the database's socket, folder) that returns the path of a socket by which Tenure is to reach it
# (it is called before the database starts), faults => { environment variables that make the programs fail }, allow => [regular expressions of log lines that
# are expected].
sub start {
    my ($class, %option) = @_;
    my $server = $option{server} // 'lighttpd';
    need($server);
    # If a signal ends the test file, all processes are stopped, too.
    $SIG{$_} ||= sub { exit 130 } for qw(INT TERM HUP PIPE);
    my $dir  = File::Temp->newdir('tenure-test-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    chmod 0711, "$dir";
    $option{settings}{'database.socket'} = $option{database_by}->("$dir/db/mysql.sock", "$dir") if $option{database_by};
    my $self = bless { dir => "$dir", holder => $dir, server => $server, auth => $option{auth} // 'noauth',
        option => \%option, allow => $option{allow} // [] }, $class;
    for my $try (1 .. 3) {
        my ($code, $text) = $self->_quickstart;
        last if $code == 0;
        # Another process may have taken a port after it was chosen and before the server opened it.
        next if $try < 3 && $text =~ /is a port taken|does not answer|httpd ended/;
        Test::More::diag($text);
        system 'sh', '-c', "tail -n 20 '$dir'/log/*.log >&2";
        die "quickstart ended with $code" . "\n";
    }
    $self->_read_env;
    push @running, $self;
    return $self;
}

# Settings are passed in the environment, which overrides the file that quickstart writes.
sub _environment {
    my ($self) = @_;
    my %environment;
    my $settings = $self->{option}{settings} // {};
    for my $setting (keys %$settings) {
        my ($section, $key) = split /\./, $setting;
        $environment{ 'TENURE_' . uc($section =~ s/\W/_/gr) . '_' . uc $key } = $settings->{$setting};
    }
    return (%environment, %{ $self->{option}{faults} // {} });
}

sub _template {
    return $ENV{TENURE_DB_TEMPLATE} if $ENV{TENURE_DB_TEMPLATE};
    my ($version) = `mariadbd --no-defaults --version 2>/dev/null` =~ /Ver\s+(\S+)/;
    my $dir = "$build/build";
    $dir = File::Spec->tmpdir unless -d $dir && -w $dir;
    return "$dir/db-template-" . ($version // 'any') . "-$<";
}

sub _quickstart {
    my ($self) = @_;
    my $option = $self->{option};
    my ($port, $admin, $combined, $placement) = free_ports(4);
    my @command = ("$source/scripts/quickstart", '--dir', $self->{dir}, '--server', $self->{server}, '--port', $port,
        '--admin-port', $admin, '--workers', $option->{workers} // 2, '--reserve', $option->{reserve} // 0,
        '--auth', $self->{auth}, '--background');
    push @command, '--no-demo' unless $option->{demo};
    push @command, '--tls' if $option->{tls};
    push @command, '--certificates' if $option->{certificates};
    push @command, '--watches' if $option->{watches};
    push @command, '--combined-port', $combined if $option->{combined};
    push @command, '--placement-port', $placement if $option->{placement};
    local @ENV{qw(TENURE_BUILD TENURE_DB_TEMPLATE TENURE_MARIADB_BUFFER_POOL)} = ($build, _template(), '64M');
    my %more = $self->_environment;
    local @ENV{ keys %more } = values %more;
    local $ENV{ASAN_OPTIONS} = 'detect_leaks=0:' . ($ENV{ASAN_OPTIONS} // '') if $self->{server} eq 'apache-fcgid';
    return run(@command);
}

sub _read_env {
    my ($self) = @_;
    my $text = read_file("$self->{dir}/env");
    while ($text =~ /^(TENURE_\w+)=(?:'([^']*)'|(\S*))$/mg) {
        $self->{env}{$1} = $2 // $3;
    }
    return;
}

sub dir { return $_[0]{dir} }
sub env { return $_[0]{env}{ $_[1] } }

# ---- clients

sub operator_token { return $_[0]->env('TENURE_OPERATOR_TOKEN') || 'admin' }

sub admin {
    my ($self, %option) = @_;
    return Tenure::Client->new(url => $self->env('TENURE_ADMIN_URL'), token => $self->operator_token, %option);
}

# token: noauth's form, "ann:t1:member"; or one made by token().
sub service {
    my ($self, $token) = @_;
    return Tenure::Client->new(url => $self->env('TENURE_SERVICE_URL'), token => $token);
}

sub combined {
    my ($self, $token) = @_;
    return Tenure::Client->new(url => $self->env('TENURE_COMBINED_URL'), token => $token);
}

# The placement API at the root of a host; with an operator's token unless a token is given.
sub placement {
    my ($self, $token) = @_;
    return Tenure::Client->new(url => $self->env('TENURE_PLACEMENT_URL'), token => $token // $self->operator_token);
}

# ---- the operator's side

# tenure-manage; (exit code, both outputs)
sub manage {
    my ($self, @args) = @_;
    my %more = $self->_environment;
    local @ENV{ keys %more } = values %more;
    return run("$build/tenure-manage", '-c', $self->env('TENURE_CONFIG'), @args);
}

# Begins it, with what it says in that file: as begin() of Tenure::Run.
sub begin_manage {
    my ($self, $path, @args) = @_;
    my %more = $self->_environment;
    local @ENV{ keys %more } = values %more;
    return begin($path, "$build/tenure-manage", '-c', $self->env('TENURE_CONFIG'), @args);
}

# A token of that tenant and role, made by tenure-manage.
sub token {
    my ($self, $tenant, $role, @more) = @_;
    my ($code, $text) = $self->manage('token', 'create', '--tenant', $tenant, '--role', $role, '--user', "$role-of-$tenant",
        @more);
    $code == 0 or die "token create: $text" . "\n";
    chomp $text;
    return $text;
}

# Rows of a query, each an array; NULL is undef. As root of the private server, not as the application.
sub sql {
    my ($self, $statement) = @_;
    my $out = File::Temp->new;
    my $in  = File::Temp->new;
    print {$in} $statement;
    close $in;
    my $code = system 'sh', '-c',
        'exec mariadb --no-defaults --default-character-set=utf8mb4 -u root -S "$1" -N -B "$2" <"$3" >"$4"', 'sh',
        $self->env('TENURE_DB_SOCKET'), $self->env('TENURE_DB_NAME'), "$in", "$out";
    die "SQL failed: $statement\n" if $code != 0;
    my @rows = map { [ map { $_ eq 'NULL' ? undef : $_ } split /\t/, $_, -1 ] } split /\n/, read_file("$out");
    return @rows;
}

# Opens a session of the same kind. Print statements to it, each with its ";". They are executed in order. An open transaction is
# rolled back when the session is closed.
sub sql_session {
    my ($self) = @_;
    my $pid = open my $session, '|-', 'mariadb', '--no-defaults', '--default-character-set=utf8mb4', '-u', 'root', '-S',
        $self->env('TENURE_DB_SOCKET'), '-N', '-B', $self->env('TENURE_DB_NAME');
    die "mariadb: $!\n" if !$pid;
    $session->autoflush(1);
    return $session;
}

# Opens a session whose transaction holds the locks of that statement, until the session is closed or ends the transaction. The
# session takes a named lock after the statement, and this function waits for that lock to be taken. It does not look into
# information_schema.innodb_trx, because InnoDB refreshes that table only if nobody has read it for 100 ms.
sub sql_locks {
    my ($self, $statement) = @_;
    my $session = $self->sql_session;
    my $name = 'tenure-test-' . fileno $session;
    print {$session} "BEGIN; $statement; DO GET_LOCK('$name', 0);\n";
    wait_until(sub { defined $self->sql_value("SELECT IS_USED_LOCK('$name')") }) or die "no locks by: $statement\n";
    return $session;
}

# How many transactions wait for locks. It pauses first, because InnoDB refreshes what this reads only if nobody has read it for 100 ms.
sub count_lock_waits {
    my ($self) = @_;
    select undef, undef, undef, 0.2;
    return 0 + $self->sql_value("SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'");
}

# The first column of the first row.
sub sql_value {
    my ($self, $statement) = @_;
    my ($row) = $self->sql($statement);
    return $row ? $row->[0] : undef;
}

# Makes n resources of a built-in type in a tenant, for tests that need thousands: NAME1, NAME2, … with empty documents. Nothing is noted in the
# change log; the tenant's count grows. Options: name ('c'); namespace (''), which is made by the caller.
sub fill {
    my ($self, $tenant, $type, $n, %option) = @_;
    my ($name, $space) = ($option{name} // 'c', $option{namespace} // '');
    my $id = $self->tenant_id($tenant);
    $self->sql(<<"SQL");
INSERT INTO resources (uid, tenant_id, type_id, namespace, name, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at, updated_at)
SELECT UNHEX(MD5(CONCAT('$tenant/$space/$type/$name', seq))), $id, y.id, '$space', CONCAT('$name', seq), 4, 1, 1, CRC32(seq), CRC32(seq + 1),
  CRC32(seq + 2), CRC32(seq + 3), REPEAT(CHAR(seq % 128), 64), '{}', '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)
FROM types y JOIN seq_1_to_$n WHERE y.plural = '$type' AND y.builtin;
UPDATE tenant_counts SET resources = resources + $n WHERE tenant_id = $id
SQL
    return;
}

# The number by which the tables name a tenant that is not deleted; undef if there is none.
sub tenant_id { my ($self, $tenant) = @_; return $self->sql_value("SELECT id FROM tenants WHERE name = '$tenant' AND live = 1") }

# Returns how many rows the change log has, for tests that nothing was written.
sub change_count { return $_[0]->sql_value('SELECT COUNT(*) FROM changes') }

# How many rows of it a request wrote: a response, or the request's id.
sub count_changes_of {
    my ($self, $request) = @_;
    my $id = (ref $request ? $request->header('x-request-id') : $request) =~ s/-//gr;
    return 0 + $self->sql_value("SELECT COUNT(*) FROM changes WHERE request_id = UNHEX('$id')");
}

# Returns the rows of the change log that a response's request wrote, oldest first, as hashes.
my @change_columns = qw(verb actor tenant from_tenant type namespace name revision etag_before etag_after);

sub changes_of {
    my ($self, $response) = @_;
    my $id = $response->request_id =~ s/-//gr;
    $id =~ /\A[0-9a-f]{32}\z/i or die "no request id\n";
    my @rows = $self->sql(<<"SQL");
SELECT c.verb, c.actor, t.name, f.name, y.plural, c.namespace, c.name, c.revision, LOWER(HEX(c.etag_before)),
  LOWER(HEX(c.etag_after)), c.tenant_id, COALESCE(c.from_tenant_id, c.tenant_id), c.moves, c.moves - (c.from_tenant_id IS NOT NULL)
FROM changes c JOIN tenants t ON t.id = c.tenant_id LEFT JOIN tenants f ON f.id = c.from_tenant_id
LEFT JOIN types y ON y.id = c.type_id
WHERE c.request_id = UNHEX('$id') ORDER BY c.id
SQL
    return map {
        my %row;
        my ($tenant, $from, $moves, $before) = splice @$_, 10;
        @row{@change_columns} = @$_;
        $row{etag_before} = $self->shown_etag($row{type}, $row{etag_before}, $from, $before);
        $row{etag_after}  = $self->shown_etag($row{type}, $row{etag_after}, $tenant, $moves);
        \%row;
    } @rows;
}

# Returns the etag that clients see, as 128 hex digits. For a node, it is an HMAC of the stored etag, its tenant's id and the number
# of its moves.
sub shown_etag {
    my ($self, $type, $stored, $tenant_id, $moves) = @_;
    return $stored if !defined $stored || ($type // '') ne 'nodes';
    $self->{etag_key} //= pack 'H*', $self->sql_value(q(SELECT HEX(value) FROM settings WHERE name = 'etag_key'));
    return Digest::SHA::hmac_sha512_hex(qq({"owner":$tenant_id,"moves":$moves,"etag":) . pack('H*', $stored) . '}', $self->{etag_key});
}

# ---- processes

# The process ids of the endpoints' masters. With mod_fcgid, there are none.
sub master_pid {
    my ($self, $endpoint) = @_;
    my ($pid) = read_file("$self->{dir}/run/$endpoint.pid") =~ /(\d+)/;
    return $pid;
}

sub children_of {
    my ($pid) = @_;
    return split ' ', read_file("/proc/$pid/task/$pid/children");
}

# The process id of the host service, and those of its children of that name: the movers or the reapers that run now.
sub host_pid { return $_[0]->master_pid('host') }

sub host_children {
    my ($self, $name) = @_;
    return grep { read_file("/proc/$_/comm") =~ /\A\Q$name\E$/ } children_of($self->host_pid);
}

sub movers { return $_[0]->host_children('tenured-mover') }

# Stops the movers until the processes that it returns get SIGCONT. The host service is among them: it would kill a mover that is stopped for
# seconds, and start another one.
sub stop_movers {
    my ($self) = @_;
    my @pids = ($self->host_pid, $self->movers);
    kill STOP => @pids;
    return @pids;
}

# Follows a 202 until the move ends, for half a minute or so many seconds; the last answer.
sub follow {
    my ($client, $accepted, $seconds) = @_;
    my $get;
    wait_until(sub {
        $get = $client->get($client->path_of($accepted->location));
        return $get->status != 200 || $get->json->{move}{state} =~ /\A(?:done|failed)\z/;
    }, $seconds);
    return $get;
}

# The line of the endpoint's access log for that answer; '' if there is none within half a minute. A worker writes the line after
# the answer is with the client.
sub access_line {
    my ($self, $endpoint, $response) = @_;
    my $id = $response->request_id =~ s/\Areq-//r;
    my $line;
    wait_until(sub {
        ($line) = grep { /\Q$id\E/ } split /\n/, read_file($self->dir . "/log/$endpoint-access.log");
        return defined $line;
    });
    return $line // '';
}

# Kills and starts the database server, as after a power failure.
sub database {
    my ($self, $verb) = @_;
    my $db = File::Basename::dirname($self->env('TENURE_DB_SOCKET'));
    local $ENV{TENURE_MARIADB_BUFFER_POOL} = '64M';
    my ($code, $text) = run("$source/scripts/private-mariadb", $verb, $db);
    die "private-mariadb $verb: $text\n" if $code != 0;
    return;
}

# ---- the end

my $bad = qr/is not in the WADL of|AddressSanitizer|runtime error:|LeakSanitizer|ended by signal|ended with code [1-9]|Segmentation fault|Assertion/;

# For runs that must show that no request gets 503 unless a test causes a fault (scripts/long/debian13).
my $refused = $ENV{TENURE_NO_503} ? qr/answered 503/ : qr/(?!)/;

# Returns lines of the logs that show an error, except those in allow.
sub bad_lines {
    my ($self) = @_;
    my @lines;
    for my $path (glob "$self->{dir}/log/*.log") {
        next if $path =~ /access\.log\z/;
        for my $line (split /\n/, read_file($path)) {
            next unless $line =~ $bad || $line =~ $refused;
            next if grep { $line =~ $_ } @{ $self->{allow} };
            push @lines, File::Basename::basename($path) . ": $line";
        }
    }
    return @lines;
}

# Waits until usage has counted all changes: until then reap keeps them in the log, however old they are.
sub usage_has_counted {
    my ($self) = @_;
    return wait_until(sub { $self->sql_value(q(SELECT stage = 'waiting' OR position >= (SELECT COALESCE(MAX(id), 0) FROM changes) FROM usage_progress)) }, 60);
}

# Waits until a period of usage is closed that ends behind this moment. False: none was, for a minute.
sub usage_has_closed {
    my ($self) = @_;
    my $now = $self->sql_value('SELECT UTC_TIMESTAMP(6)');
    return wait_until(sub { ($self->sql_value('SELECT MAX(until) FROM usage_closings') // '') gt $now }, 60);
}

sub log_text {
    my ($self, $name) = @_;
    return read_file("$self->{dir}/log/$name.log");
}

sub stop {
    my ($self) = @_;
    return if $self->{stopped}++;
    my ($code, $text) = run("$source/scripts/quickstart", '--dir', $self->{dir}, '--server', $self->{server}, '--stop');
    Test::More::diag("quickstart --stop: $code $text") if $code != 0;
    return;
}

END {
    if ($$ == $owner && @running) {
        my $status = $?;
        my @bad;
        for my $instance (@running) {
            $instance->stop;
            push @bad, $instance->bad_lines;
        }
        if (@bad) {
            Test::More::diag('The logs tell of failures:');
            Test::More::diag("  $_") for @bad[0 .. ($#bad < 19 ? $#bad : 19)];
            $status = 1 if $status == 0;
        }
        if ($ENV{TENURE_KEEP}) {
            for my $instance (@running) {
                $instance->{holder}->unlink_on_destroy(0);
                Test::More::diag("kept: $instance->{dir}");
            }
        }
        $? = $status;
    }
}

1;
