# SPDX-License-Identifier: Apache-2.0
# Runs kubectl unchanged, over TLS. The environment variable KUBECTL names another program than the one of the PATH.
#
#   my $kubectl = Tenure::Kubectl->new($instance);
#   my $said    = $kubectl->run('alice:acme', 'get cm -o name');      # { code, out, err }
#
# Each user has a home directory of its own, since kubectl caches a server's types by the server's address alone.
package Tenure::Kubectl;

use strict;
use warnings;

use File::Temp  ();
use JSON::PP    ();
use POSIX       ();
use Time::HiRes ();

my ($program) = grep { defined && -x } $ENV{KUBECTL}, map { "$_/kubectl" } split /:/, $ENV{PATH};
my ($minor, @folders);

# kubectl's minor version; undef if there is none that runs.
sub minor {
    return $minor if defined $minor || !defined $program;
    my $home = File::Temp->newdir('tenure-kubectl-XXXXXX', TMPDIR => 1);
    local $ENV{HOME} = "$home";
    my $version = eval { JSON::PP::decode_json(scalar `$program version --client -o json 2>/dev/null`)->{clientVersion} };
    ($minor) = ($version->{minor} // '') =~ /\A([0-9]+)/;
    return $minor;
}

# A folder that has it under the name kubectl.
sub folder {
    my $folder = File::Temp->newdir('tenure-kubectl-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    symlink $program, "$folder/kubectl" or die "symlink: $!\n";
    push @folders, $folder;
    return "$folder";
}

sub new {
    my ($class, $instance) = @_;
    return bless {
        home => File::Temp->newdir('tenure-kubectl-XXXXXX', TMPDIR => 1),
        url  => $instance->env('TENURE_COMBINED_TLS_URL'),
        ca   => $instance->env('TENURE_CA_FILE'),
        n    => 0,
    }, $class;
}

# A file that ends with the test.
sub file {
    my ($self, $name, $text) = @_;
    my $path = "$self->{home}/$$-" . $self->{n}++ . "-$name";
    open my $out, '>', $path or die "$path: $!\n";
    print {$out} $text;
    close $out or die "$path: $!\n";
    return $path;
}

sub _read {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    local $/ = undef;
    return scalar(readline $in) // '';
}

sub _home {
    my ($self, $token) = @_;
    my $home = "$self->{home}/" . $token =~ tr/a-z0-9/_/cr;
    mkdir $home;
    return $home;
}

# The arguments that all calls have, for scripts that a test writes.
sub prefix {
    my ($self, $token) = @_;
    return ($program, '--server', $self->{url}, '--certificate-authority', $self->{ca}, '--token', $token,
        '--cache-dir', $self->_home($token) . '/cache');
}

# Starts kubectl without waiting for it; command: a string of words, or a list. input: text for its stdin; editor: what "edit" runs.
sub begin {
    my ($self, $token, $command, %option) = @_;
    my $home  = $self->_home($token);
    my $in    = $self->file('in', $option{input} // '');
    my ($out, $err) = map { $self->file($_, '') } qw(out err);
    my @words = ref $command ? @$command : split ' ', $command;
    unshift @words, '--request-timeout=60s' if !grep { /--request-timeout/ } @words;
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        $ENV{HOME}        = $ENV{TMPDIR} = $home;
        # For a program that runs for a moment, collecting garbage and using several processors cost a fifth of its time.
        @ENV{qw(GOGC GOMAXPROCS)} = ('off', 1) if !grep { /\A(?:-w|--watch)/ } @words;
        $ENV{KUBE_EDITOR} = $option{editor} // 'false';
        delete $ENV{KUBECONFIG};
        open STDIN,  '<', $in  or POSIX::_exit(126);
        open STDOUT, '>', $out or POSIX::_exit(126);
        open STDERR, '>', $err or POSIX::_exit(126);
        exec { $program } $self->prefix($token), @words or POSIX::_exit(127);
    }
    return { pid => $pid, out_file => $out, err_file => $err };
}

# Waits until its stdout has that text, 30 seconds at most. Returns what stdout has.
sub wait_for {
    my ($self, $running, $has) = @_;
    my $text = '';
    for (1 .. 600) {
        $text = _read($running->{out_file});
        last if $text =~ $has;
        Time::HiRes::sleep(0.05);
    }
    return $text;
}

# Waits for its end, or (stop) ends it now.
sub end {
    my ($self, $running, %option) = @_;
    kill 'TERM', $running->{pid} if $option{stop};
    waitpid $running->{pid}, 0;
    my %said = (code => $? >> 8, out => _read($running->{out_file}), err => _read($running->{err_file}));
    unlink $running->{out_file}, $running->{err_file};
    return \%said;
}

sub run {
    my ($self, @all) = @_;
    return $self->end($self->begin(@all));
}

1;
