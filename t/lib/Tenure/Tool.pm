# SPDX-License-Identifier: Apache-2.0
# The command tenure, run by tests: with a home of its own and the two outputs apart.
#
#   my $tool = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => 'admin', tenant => 't1');
#   my $run  = $tool->run('configmaps', 'show', 'web');      # { code, out, err }
package Tenure::Tool;

use strict;
use warnings;

use File::Temp ();
use JSON::PP ();
use POSIX ();
use Test::More ();

use Tenure::Instance;

# url, token, tenant: in the environment of each run; home: shared with another tool's; stdout: a handle that gets the output, which end() then
# does not return; within: the words of a command that runs the words behind its own.
sub new {
    my ($class, %option) = @_;
    my $home = $option{home} // File::Temp->newdir('tenure-home-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    return bless { %option, home => $home }, $class;
}

sub home { return "$_[0]{home}" }

# More variables for its runs.
sub with {
    my ($self, %environment) = @_;
    return bless { %$self, environment => { %{ $self->{environment} // {} }, %environment } }, ref $self;
}

sub _environment {
    my ($self) = @_;
    my %of = (HOME => $self->home, TENURE_URL => $self->{url}, TENURE_TOKEN => $self->{token},
        TENURE_TENANT => $self->{tenant}, %{ $self->{environment} // {} });
    delete @ENV{ grep { /\A(?:TENURE_(?:URL|TOKEN|TOKEN_FILE|TENANT|CA_FILE)|XDG_.*|VISUAL|EDITOR)\z/ } keys %ENV };
    $ENV{$_} = $of{$_} for grep { defined $of{$_} } keys %of;
    return;
}

# Begins a run; end() waits for it. stdin: text.
sub begin {
    my ($self, $stdin, @words) = @_;
    my %run = map { $_ => File::Temp->new } qw(in out err);
    print { $run{in} } $stdin // '';
    close $run{in};
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        $self->_environment;
        open STDIN,  '<',  "$run{in}" or POSIX::_exit(127);
        open STDOUT, '>&', $self->{stdout} // $run{out} or POSIX::_exit(127);
        open STDERR, '>&', $run{err}  or POSIX::_exit(127);
        my $tenure = Tenure::Instance::build_dir() . '/tenure';
        my @command = $self->{within} ? (@{ $self->{within} }, $tenure) : 'tenure';
        exec { $self->{within} ? $command[0] : $tenure } @command, @words or POSIX::_exit(127);
    }
    return { %run, pid => $pid, words => "@words" };
}

sub end {
    my ($self, $run) = @_;
    waitpid $run->{pid}, 0;
    my $code = $? >> 8 || ($? & 127 ? 128 + ($? & 127) : 0);
    return { code => $code, words => $run->{words}, map { $_ => Tenure::Instance::read_file("$run->{$_}") } qw(out err) };
}

sub run {
    my ($self, @words) = @_;
    return $self->end($self->begin(undef, @words));
}

sub run_with_input {
    my ($self, $stdin, @words) = @_;
    return $self->end($self->begin($stdin, @words));
}

# A run that must end with this code; a test.
sub ends {
    my ($self, $code, @words) = @_;
    my $run = $self->run(@words);
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    Test::More::is($run->{code}, $code, "tenure @words: $code") or Test::More::diag("$run->{out}$run->{err}");
    return $run;
}

sub json {
    my ($self, @words) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $run = $self->ends(0, @words, '--format', 'json');
    return JSON::PP->new->utf8->allow_nonref->decode($run->{out} || 'null');
}

1;
