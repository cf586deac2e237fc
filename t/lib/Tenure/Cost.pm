# SPDX-License-Identifier: Apache-2.0
# What a request costs a worker: instructions from reading its parameters to sending its answer, counted by callgrind, kernel and
# database not among them. Programs that run beside it change nothing. A worker of its own serves the request a few times, another one
# often; the difference is what one request costs, without what the first one prepares.
#
#   my $cost = Tenure::Cost->new($instance);        # of Tenure::Instance; its tenured is run under valgrind
#   my $of   = $cost->request(endpoint => 'combined', path => '/v2.0/t', token => $token, requests => 100, parts => ['step_count']);
#   $of->{all}; $of->{parts};                       # instructions: of the request; of these functions with what they call
#
# Not only a GET: method, body, and headers => [ HTTP_... => value ], as FastCGI names them. path and body may be functions of the
# number of the request, which begins at 1.
package Tenure::Cost;

use strict;
use warnings;

use IO::Socket::UNIX;
use POSIX ();

use Tenure::FastCGI;
use Tenure::Instance;

use constant FEW => 10;

# keep: a folder where callgrind's files stay, for callgrind_annotate.
sub new {
    my ($class, $instance, %option) = @_;
    die "valgrind is not installed\n" unless Tenure::Instance::on_path('valgrind');
    return bless { instance => $instance, dir => $option{keep} // $instance->dir, runs => 0 }, $class;
}

# environment: of the worker, besides ours. parts: functions that request() calls; beside: such as are called before or after what is
# counted, and have to be counted, too.
sub request {
    my ($self, %what) = @_;
    my ($few, $many) = map { $self->_run(%what, n => $_) } FEW, FEW + $what{requests};
    return { map { $_ => ($many->{$_} - $few->{$_}) / $what{requests} } 'all', 'parts' };
}

sub _run {
    my ($self, %what) = @_;
    my $run    = ++$self->{runs};
    my $name   = $self->{instance}->dir . "/cost-$run";
    my $file   = "$self->{dir}/callgrind-$run.out";
    my @beside = @{ $what{beside} // [] };
    my $listener = IO::Socket::UNIX->new(Local => "$name.sock", Listen => 16) or die "$name.sock: $!\n";
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDIN, '<&', $listener or POSIX::_exit(127);
        open STDERR, '>', "$name.log" or POSIX::_exit(127);
        %ENV = (%ENV, %{ $what{environment} // {} });
        exec 'valgrind', qw(-q --tool=callgrind), (map { "--toggle-collect=$_" } qw(fcgi_next pipeline_run fcgi_answer), @beside),
            "--callgrind-out-file=$file", Tenure::Instance::build_dir() . '/tenured',
            '-c', $self->{instance}->env('TENURE_CONFIG'), '-e', $what{endpoint} or POSIX::_exit(127);
    }
    close $listener;
    for my $requested (1 .. $what{n}) {
        my ($path, $body) = map { ref $_ ? $_->($requested) : $_ } @what{qw(path body)};
        my $answer = eval { Tenure::FastCGI->connect("$name.sock", timeout => 120)->request(uri => $path, method => $what{method} // 'GET',
            body => $body, params => [ HTTP_X_AUTH_TOKEN => $what{token}, @{ $what{headers} // [] } ]) };
        next if $answer && $answer->{status} =~ /\A2/;
        kill 'KILL', $pid;
        waitpid $pid, 0;
        die "$path: ", $answer ? "$answer->{status} $answer->{body}" : "no answer: $@", "\n", Tenure::Instance::read_file("$name.log");
    }
    kill 'TERM', $pid;
    waitpid $pid, 0;
    return _sums(Tenure::Instance::read_file($file), @{ $what{parts} // [] }, @beside);
}

# The sum of all in a file of callgrind, and that of these functions with what they call. The file names a function once, behind its
# number: "fn=(12) name", later "fn=(12)". A line behind "calls=" has what was spent in the callee: "LINE INSTRUCTIONS".
sub _sums {
    my ($text, @parts) = @_;
    my ($all) = $text =~ /^(?:totals|summary): (\d+)/m or die "callgrind's file has no sum\n";
    my %name = $text =~ /^c?fn=(\(\d+\)) (\S+)/mg;
    my (%sum, $called, %at_top);
    my %part = map { $_ => 1 } @parts;
    my $in_call = 0;
    for my $line (split /\n/, $text) {
        if ($line =~ /^cfn=(\(\d+\))/) {
            $called = $name{$1} =~ s/'\d+\z//r;
        } elsif ($line =~ /^fn=(\(\d+\))/) {
            $at_top{now} = $name{$1} =~ s/'\d+\z//r;
        } elsif ($line =~ /^calls=/) {
            $in_call = 1;
        } elsif ($line =~ /^[+\-*\d]\S* (\d+)\z/) {
            $sum{$called} += $1 if $in_call && $part{$called};
            $in_call = 0;
        }
    }
    my $sum = 0;
    $sum += $_ for values %sum;
    return { all => $all, parts => $sum };
}

1;
