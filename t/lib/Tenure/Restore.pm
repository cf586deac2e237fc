# SPDX-License-Identifier: Apache-2.0
# The commands of doc/operations.md, "Backup and restore", as they stand, for servers of a test: a folder stands for /backup, programs of root lead to
# one server's socket, and systemctl notes what it was asked, and does it only if told so.
#
#   my $page = Tenure::Restore->new(instance => $instance);
#   $page->to($socket);                        # whose host the commands are given on; at first that of the instance's own server
#   my ($code, $text) = $page->backup;
#   ($code, $text) = $page->restore(DUMP => …);
#   $page->asked;                              # "stop tenured@* tenure-host; start …"
#   $page->systemctl_works;                    # from now on it stops and starts the instance's tenured and tenured-host
package Tenure::Restore;

use strict;
use warnings;

use File::Temp ();

use Tenure::Instance;
use Tenure::Pages;
use Tenure::Run qw(run read_file write_file);

# instance: whose tenure-manage is used.
sub new {
    my ($class, %arg) = @_;
    my $dir  = File::Temp->newdir('tenure-restore-XXXXXX', TMPDIR => 1);
    my $self = bless { instance => $arg{instance}, dir => "$dir", holder => $dir }, $class;
    mkdir "$self->{dir}/$_" or die "$self->{dir}/$_: $!\n" for qw(bin backup stamp);
    $self->_program(systemctl => "echo \"\$*\" >>'$self->{dir}/asked'");
    $self->_program('tenure-manage' => "exec '" . Tenure::Instance::build_dir() . "/tenure-manage' -c '" . $arg{instance}->env('TENURE_CONFIG') . "' \"\$@\"");
    $self->to($arg{instance}->env('TENURE_DB_SOCKET'));
    return $self;
}

sub _program {
    my ($self, $name, $text) = @_;
    write_file("$self->{dir}/bin/$name", "#!/bin/sh\n$text\n");
    chmod 0755, "$self->{dir}/bin/$name";
    return;
}

# From now on root's programs on that server; before: what the program mariadb does first, as shell.
sub to {
    my ($self, $socket, $before) = @_;
    my $options = "--no-defaults --skip-ssl -u root -S '$socket'";
    for my $name (qw(mariadb mariadb-dump)) {
        my ($program) = grep { -x } map { "$_/$name" } split /:/, $ENV{PATH};
        $self->_program($name => ($name eq 'mariadb' && defined $before ? "$before\n" : '') . "exec '$program' $options \"\$@\"");
    }
    return;
}

sub folder { return $_[0]{dir} . '/backup' }

# The processes are named by the files of their ids, as scripts/quickstart wrote them; it stops what was started here, too.
sub systemctl_works {
    my ($self) = @_;
    my $instance = $self->{instance};
    my ($run, $log) = map { $instance->dir . "/$_" } qw(run log);
    my ($build, $config) = (Tenure::Instance::build_dir(), $instance->env('TENURE_CONFIG'));
    $self->_program(systemctl => <<"EOF");
echo "\$*" >>'$self->{dir}/asked'
launch()
{
	name=\$1
	shift
	setsid "\$@" </dev/null >>'$log'/\$name.log 2>&1 &
	echo \$! >'$run'/\$name.pid
}
if [ "\$1" = stop ]; then
	for name in service admin host; do
		pid=\$(cat '$run'/\$name.pid)
		kill \$pid 2>/dev/null || continue
		while [ -e /proc/\$pid/cmdline ] && [ "\$(tr '\\0' ' ' </proc/\$pid/cmdline)" ]; do sleep 0.05; done
	done
else
	launch host '$build/tenured-host' -c '$config'
	launch service '$build/tenured' -c '$config' -e service
	launch admin '$build/tenured' -c '$config' -e admin
fi
EOF
    return;
}

# What systemctl was asked since the last time.
sub asked {
    my ($self) = @_;
    my $file = "$self->{dir}/asked";
    my $text = -e $file ? join '; ', split /\n/, read_file($file) : '';
    unlink $file;
    return $text;
}

# The page's block that has such a line.
sub block {
    my ($line) = @_;
    my ($found) = grep { $_->{heading} eq 'Backup and restore' && $_->{text} =~ $line } Tenure::Pages::blocks(Tenure::Instance::source_dir(), 'operations.md');
    return defined $found ? $found->{text} : die "no block of the page has $line\n";
}

# Runs commands of the page; (exit code, both outputs). more: environment variables.
sub shell {
    my ($self, $commands, %more) = @_;
    my %environment = ($self->{instance}->_environment, %more, PATH => "$self->{dir}/bin:$ENV{PATH}");
    local @ENV{ keys %environment } = values %environment;
    return run('bash', '-ec', $commands =~ s{/backup\b}{$self->{dir}/backup}gr =~ s{/var/lib/tenure\b}{$self->{dir}/stamp}gr);
}

sub backup  { my ($self) = @_; return $self->shell(block(qr/^mariadb-dump /m)) }
sub list    { my ($self) = @_; return $self->shell(block(qr/^mariadb-dump /m) =~ s/.*^(?=tenure-manage token list)//msr =~ s/^install.*//msr) }
sub restore { my ($self, %more) = @_; return $self->shell(block(qr/DROP DATABASE IF EXISTS tenure;/), %more) }

1;
