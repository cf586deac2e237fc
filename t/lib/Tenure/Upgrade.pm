# SPDX-License-Identifier: Apache-2.0
# Databases as earlier releases left them (t/upgrade/), and what a test does with them: upgrades one, serves it, compares it.
#
#   my $home = Tenure::Upgrade->new;                # a private MariaDB in a folder of its own
#   my $old  = $home->release(5, 'r5');             # database r5, as the release with schema version 5 left it
#   my ($code, $text) = $old->manage('db', 'upgrade');
#   $old->serve; my $answer = $old->ask('GET', '/v2.0/acme');
package Tenure::Upgrade;

use strict;
use warnings;

use Cwd ();
use File::Basename ();
use File::Temp ();
use IO::Uncompress::Gunzip ();
use JSON::PP ();
use POSIX ();
use Scalar::Util ();
use Test::More ();
use Time::HiRes ();

use Tenure::FastCGI;
use Tenure::Run qw(run read_file write_file);

my $top   = $ENV{TENURE_SRCDIR} // Cwd::abs_path(File::Basename::dirname(__FILE__) . '/../../..');
my $build = $ENV{TENURE_BUILD} // $ENV{TENURE_BUILDDIR} // $top;
my $json  = JSON::PP->new->utf8->canonical->allow_nonref;
my @running;

sub need_programs {
    Test::More::plan(skip_all => "$build/tenure-manage is not built") unless -x "$build/tenure-manage" && -x "$build/tenured";
    Test::More::plan(skip_all => 'mariadbd is not installed') unless grep { -x "$_/mariadbd" } '/usr/sbin', split /:/, $ENV{PATH};
    return;
}

sub top       { return $top }
sub build_dir { return $build }

# The schema versions of which there is a dump, but today's: there is nothing to upgrade.
sub releases {
    my $latest = () = glob "$top/sql/schema/[0-9]*.sql";
    return grep { $_ < $latest } map { m{/(\d+)\.sql\.gz\z} ? $1 + 0 : () } sort glob "$top/t/upgrade/*.sql.gz";
}

# What the program of that release answered: path => { status, etag, location, headers, body }.
sub answers {
    my ($version) = @_;
    return $json->decode(_inflated(sprintf "%s/t/upgrade/%02d.json.gz", $top, $version));
}

sub _inflated {
    my ($path) = @_;
    IO::Uncompress::Gunzip::gunzip($path => \my $text) or die "$path: $IO::Uncompress::Gunzip::GunzipError\n";
    return $text;
}

# server: options of mariadbd. cluster: a Tenure::Galera or Tenure::Replicas in place of a server; node (1): the one that is its writer.
sub new {
    my ($class, %option) = @_;
    my $dir = $option{dir} // File::Temp->newdir('upgrade-XXXXXX', TMPDIR => 1);
    my $self = bless { dir => $dir, owner => $$, databases => [], cluster => $option{cluster}, node => $option{node} }, $class;
    push @running, $self;
    Scalar::Util::weaken($running[-1]);
    return $self if $option{cluster};
    mkdir "$dir/db", 0700;
    if (my $template = $ENV{TENURE_DB_TEMPLATE}) {
        !-d "$template/data" || -d "$dir/db/data" or system('cp', '-a', "$template/data", "$dir/db/data") == 0 or die "cp\n";
    }
    system("$top/scripts/private-mariadb", 'start', "$dir/db", @{ $option{server} // [] }) == 0 or die "no database\n";
    return $self;
}

sub _end {
    my ($self) = @_;
    return if $$ != $self->{owner} || $self->{ended}++;
    local ($?, $!);
    $_->stop for grep { defined } @{ $self->{databases} };
    system "$top/scripts/private-mariadb", 'stop', "$self->{dir}/db" if !$self->{cluster};
    return;
}

sub DESTROY { return $_[0]->_end }

# What is left until the program ends is destroyed in any order, the folder before its server, which nobody could stop then.
END { $_->_end for grep { defined } @running }

# Of the server, or of the cluster's node whose turn it is.
sub socket {
    my ($self) = @_;
    return $self->{cluster} ? $self->{cluster}->socket($self->{node} // 1) : "$self->{dir}/db/mysql.sock";
}

# What the function says of each node, when all have what was written: a text each.
sub of_each_node {
    my ($self, $function) = @_;
    $self->{cluster}->wait_together;
    return map { local $self->{node} = $_; $function->() } 1 .. $self->{cluster}->n;
}

# What section [database] says of the way to it.
sub _way {
    my ($self) = @_;
    return "socket = @{[ $self->socket ]}\nuser = root\n" if !$self->{cluster};
    my %setting = $self->{cluster}->settings;
    return join '', map { "$1 = $setting{$_}\n" if /\Adatabase\.(.*)/ } sort keys %setting;
}

# Rows with tabs; input: a file or a reference to text on standard input.
sub sql {
    my ($self, $statement, $name) = @_;
    my $in = File::Temp->new;
    print {$in} $statement;
    close $in;
    open my $out, '-|', 'sh', '-c', 'exec mariadb --no-defaults --skip-ssl --default-character-set=utf8mb4 -N -B --socket="$1" --user=root "$2" <"$3"', 'sh', $self->socket,
        $name // 'mysql', "$in" or die "mariadb: $!\n";
    local $/ = undef;
    my $text = <$out> // '';
    close $out or die "SQL failed: " . substr($statement, 0, 200) . "\n";
    $text =~ s{\n\z}{};
    return $text;
}

# An empty database of that name. keep: the one that is there. dir: where its configuration and sockets are.
sub database {
    my ($self, $name, %option) = @_;
    $self->sql("DROP DATABASE IF EXISTS `$name`; CREATE DATABASE `$name` CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin") unless $option{keep};
    $self->sql("GRANT SELECT, INSERT, UPDATE, DELETE ON `$name`.* TO tenure; GRANT ALL ON `$name`.* TO operator") if $self->{cluster};
    my $database = bless { home => $self, name => $name, dir => $option{dir} // "$self->{dir}/$name", sql_dir => $option{sql_dir} // "$top/sql/schema" },
        'Tenure::Upgrade::Database';
    mkdir $database->{dir};
    $database->_configure;
    push @{ $self->{databases} }, $database;
    return $database;
}

# As the release with that schema version left it. What was deleted then can be recovered for long, so that no date changes the tests.
sub release {
    my ($self, $version, $name, %option) = @_;
    my $database = $self->database($name, %option);
    $self->{dump}{$version} //= _inflated(sprintf "%s/t/upgrade/%02d.sql.gz", $top, $version);
    $self->sql($self->{dump}{$version}, $name);
    $self->sql("UPDATE $_ SET purge_at = '2099-01-01' WHERE purge_at IS NOT NULL", $name) for 'tenants', 'resources';
    my ($code, $text) = $self->{cluster} ? $database->manage('cluster', 'switch', $self->{cluster}->host($self->{node} // 1)) : 0;
    die "cluster switch: $text" if $code != 0;
    return $database;
}

package Tenure::Upgrade::Database;

use Tenure::Run qw(run begin read_file write_file);

sub name        { return $_[0]{name} }
sub config_path { return "$_[0]{dir}/tenure.conf" }
sub sql  { my ($self, $statement) = @_; return $self->{home}->sql($statement, $self->{name}) }

sub _configure {
    my ($self) = @_;
    my $way    = $self->{home}->_way;
    my $later  = $self->{plain} ? '' : "public_url = http://tenure.example\n";
    my $shared = $self->{plain} ? '' : "runtime_dir = $self->{dir}/shared\n";
    write_file("$self->{dir}/tenure.conf", <<"CONF");
[database]
name = $self->{name}
$way\[tenure]
sql_dir = $self->{sql_dir}
wadl_dir = @{[ $self->{wadl_dir} // "$build/build/wadl" ]}
$shared\[endpoint combined]
auth = noauth
socket = $self->{dir}/s
workers = @{[ $self->{workers} // 1 ]}
access_log = $self->{dir}/access.log
$later
CONF
    return;
}

# (exit code, both outputs)
sub manage { my ($self, @words) = @_; return run("$build/tenure-manage", '-c', "$self->{dir}/tenure.conf", @words) }

# Begins it, with what it says in that file: as begin() of Tenure::Run.
sub begin_manage { my ($self, $path, @words) = @_; return begin($path, "$build/tenure-manage", '-c', "$self->{dir}/tenure.conf", @words) }

sub log_text { return read_file("$_[0]{dir}/error.log") }

# Starts tenured on it; program, wadl_dir: those of another release; plain: without settings that early releases do not know. Waits until
# it answers at all.
sub serve {
    my ($self, %option) = @_;
    $self->{wadl_dir} = $option{wadl_dir};
    $self->{plain}    = $option{plain};
    $self->{workers}  = $option{workers};
    $self->_configure;
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        open STDIN,  '<',  '/dev/null' or POSIX::_exit(127);
        open STDOUT, '>>', "$self->{dir}/error.log" or POSIX::_exit(127);
        open STDERR, '>&', \*STDOUT or POSIX::_exit(127);
        my $program = $option{program} // "$build/tenured";
        # So that what is past its retention on the day of the test is there, as in the dump.
        local $ENV{TENURE_HOST_REAP_INTERVAL} = 0 if !defined $option{program};
        exec { $program } 'tenured', '-c', "$self->{dir}/tenure.conf", '-e', 'combined' or POSIX::_exit(127);
    }
    $self->{pid} = $pid;
    my $until = Time::HiRes::time() + 60;
    until (eval { Tenure::FastCGI->connect("$self->{dir}/s")->request(uri => '/') }) {
        die "tenured does not answer:\n" . $self->log_text if Time::HiRes::time() > $until || waitpid($pid, POSIX::WNOHANG()) == $pid;
        Time::HiRes::sleep(0.05);
    }
    return;
}

sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} // return;
    kill TERM => $pid;
    waitpid $pid, 0;
    return;
}

# One request of the operator; undef if there was no answer.
sub ask {
    my ($self, $method, $path, $content, %header) = @_;
    my @params = (HTTP_X_AUTH_TOKEN => 'admin', HTTP_ACCEPT => 'application/json');
    push @params, CONTENT_TYPE => 'application/json' if defined $content;
    push @params, 'HTTP_' . (uc($_) =~ tr/-/_/r), $header{$_} for sort keys %header;
    return eval { Tenure::FastCGI->connect("$self->{dir}/s", timeout => 60)->request(method => $method, uri => $path, params => \@params,
        defined $content ? (body => $json->encode($content)) : ()) };
}

# The columns of each table: { table => "a, b, …" }.
sub columns {
    my ($self) = @_;
    return { map { split /\t/ } split /\n/, $self->sql("SELECT table_name, GROUP_CONCAT(column_name ORDER BY ordinal_position SEPARATOR ', ')
        FROM information_schema.columns WHERE table_schema = '$self->{name}' GROUP BY table_name") };
}

# The rows of these columns: { table => [a line for each, sorted] }.
sub rows {
    my ($self, $columns) = @_;
    return { map { $_ => [sort split /\n/, $self->sql("SELECT $columns->{$_} FROM `$_`")] } keys %$columns };
}

# The tables, columns, keys and settings of the database, one a line, sorted.
sub structure {
    my ($self) = @_;
    my $name = $self->{name};
    return $self->sql(<<"SQL");
SELECT 'table', table_name, engine, table_collation, table_comment, create_options FROM information_schema.tables
WHERE table_schema = '$name' ORDER BY table_name;
SELECT 'column', table_name, ordinal_position, column_name, column_type, is_nullable, column_default, collation_name, extra, generation_expression
FROM information_schema.columns WHERE table_schema = '$name' ORDER BY table_name, ordinal_position;
SELECT 'key', table_name, index_name, seq_in_index, column_name, non_unique, sub_part, index_type
FROM information_schema.statistics WHERE table_schema = '$name' ORDER BY table_name, index_name, seq_in_index;
SQL
}

# The rows that the schema itself brings; without ids, which depend on what else was there before. Where 014 was applied before "oldest" was
# recorded, by its own program, it and those after it have 14, since that program let none of version 13 serve.
sub seeds {
    my ($self) = @_;
    return $self->sql(<<'SQL');
SELECT group_name, version, kind, plural, singular, namespaced FROM types WHERE builtin ORDER BY 1, 2, 3, 4, 6;
SELECT name, max_resources, description FROM tiers ORDER BY name;
SELECT id, name FROM resource_classes WHERE id < 10000 ORDER BY id;
SELECT name FROM catalogues ORDER BY name;
SELECT name FROM traits WHERE name NOT LIKE 'CUSTOM%' ORDER BY name;
SELECT id FROM log_horizon;
SELECT name FROM settings WHERE name <> 'reaped_at' ORDER BY name;
SELECT version, file, IF(oldest = 14, 13, oldest) FROM schema_files ORDER BY version;
SQL
}

# All rows of what users have put in, to compare two databases that were made of one dump.
sub content {
    my ($self) = @_;
    my @tables = split /\n/, $self->sql("SELECT table_name FROM information_schema.tables WHERE table_schema = '$self->{name}' AND table_name NOT IN
        ('schema_version', 'schema_files', 'schema_steps', 'settings', 'types', 'catalogues', 'traits', 'tiers', 'resource_classes', 'log_horizon', 'log_writers', 'moves') ORDER BY 1");
    return join "\n", map {
        my $table = $_;
        my $key = $self->sql("SELECT GROUP_CONCAT(column_name ORDER BY seq_in_index) FROM information_schema.statistics
            WHERE table_schema = '$self->{name}' AND table_name = '$table' AND index_name = 'PRIMARY'");
        # The system space is made anew in each, with a uid and times of its own.
        my $where = $table eq 'tenants' ? "WHERE name <> 'system'" : $table eq 'tenant_counts' || $table eq 'resources'
            ? "WHERE tenant_id NOT IN (SELECT id FROM tenants WHERE name = 'system')" : '';
        "# $table\n" . $self->sql("SELECT * FROM `$table` $where ORDER BY $key");
    } @tables;
}

1;
