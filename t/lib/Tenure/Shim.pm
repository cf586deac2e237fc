# SPDX-License-Identifier: Apache-2.0
# The library t/shim/libc.c in Tenure's processes and MariaDB: it moves their clock, and lets the Nth call of a function of libc fail.
#
#   my $shim = Tenure::Shim->new;
#   my $instance = Tenure::Instance->start(faults => { $shim->environment });
#   $shim->clock(-3600);                                      # an hour back, from now on
#   $shim->arm(process => $worker, classes => ['read'], call => 3, error => 'ECONNRESET');
#   my ($function, $calls) = $shim->disarm;                   # what failed (undef: nothing), how many calls were counted
package Tenure::Shim;

use strict;
use warnings;

use Errno ();
use File::Temp ();

use Tenure::Instance;
use Tenure::Run qw(run);

# The order of enum class there.
my @classes = qw(memory read write wait open connect accept random sync control start);
my %bit = map { $classes[$_] => 1 << $_ } 0 .. $#classes;

# Where the members of struct orders are.
use constant { CLOCK => 0, CLASSES => 8, LEFT => 12, ERROR => 16, PROCESS => 20, PASSED => 24, FAILED => 28, FUNCTION => 60, NAME => 92, LASTING => 108,
    SIZE => 112 };

# Builds the library. Sanitizers have functions of their own in place of these: with them there is no shim. undef: it can't be used.
sub new {
    my ($class) = @_;
    my $dir = File::Temp->newdir('tenure-shim-XXXXXX', TMPDIR => 1);
    my ($code, $text) = run('cc', '-O1', '-shared', '-fPIC', '-o', "$dir/shim.so", Tenure::Instance::source_dir() . '/t/shim/libc.c', '-ldl');
    die "shim: $text\n" if $code != 0;
    return undef if Tenure::Instance::has_sanitizers();
    chmod 0711, "$dir";
    open my $orders, '+>', "$dir/orders" or die "$dir/orders: $!\n";
    chmod 0666, "$dir/orders";
    my $self = bless { dir => $dir, orders => $orders }, $class;
    $self->_write(0, "\0" x SIZE);
    return $self;
}

sub environment { my ($self) = @_; return (LD_PRELOAD => "$self->{dir}/shim.so", TENURE_SHIM => "$self->{dir}/orders") }

sub _write {
    my ($self, $at, $bytes) = @_;
    sysseek $self->{orders}, $at, 0;
    syswrite $self->{orders}, $bytes;
    return;
}

sub _read {
    my ($self, $at, $n) = @_;
    sysseek $self->{orders}, $at, 0;
    sysread($self->{orders}, my $bytes, $n);
    return $bytes;
}

# The clock of the day is so many seconds off.
sub clock { my ($self, $seconds) = @_; $self->_write(CLOCK, pack 'q', int($seconds * 1e9)); return }

# call: the number of the call that fails (0: only count); error: a name of errno, or 'short'. function: only its calls count. process: an
# id; or name: of the processes of that name, as ps shows it, also those that start later. lasting: all later calls fail as well.
sub arm {
    my ($self, %option) = @_;
    my $classes = 0;
    $classes |= $bit{$_} // die "no class $_\n" for @{ $option{classes} };
    my $error = $option{error} && $option{error} ne 'short' ? Errno->can($option{error})->() : 0;
    $self->disarm;
    $self->_write(FUNCTION, pack 'a32 a16 l', $option{function} // '', $option{name} // '', $option{lasting} ? 1 : 0);
    $self->_write(LEFT, pack 'lll', $option{call} // 0, $error, $option{process} // 0);
    $self->_write(PASSED, pack 'l', 0);
    $self->_write(FAILED, "\0" x 32);
    $self->_write(CLASSES, pack 'l', $classes);
    return;
}

sub disarm {
    my ($self) = @_;
    $self->_write(CLASSES, pack 'l', 0);
    my $failed = unpack 'Z*', $self->_read(FAILED, 32);
    return (length $failed ? $failed : undef, unpack 'l', $self->_read(PASSED, 4));
}

1;
