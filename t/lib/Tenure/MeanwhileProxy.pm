# SPDX-License-Identifier: Apache-2.0
# A proxy between Tenure and its database that holds a statement until something else has happened.
#
#   my $proxy;
#   my $instance = Tenure::Instance->start(database_by => sub { $proxy = Tenure::MeanwhileProxy->new(@_); return $proxy->path });
#   $proxy->hold('FROM forwards');      # the next statement of any connection that is prepared with this in its text
#   $proxy->is_held;                    # true as soon as it has come
#   $proxy->release;
package Tenure::MeanwhileProxy;

use strict;
use warnings;

use IO::Select;
use Time::HiRes ();

use parent 'Tenure::DatabaseProxy';
use Tenure::Run qw(read_file write_file);

use constant LONGEST => 120;    # seconds that a statement is held at most, so that no test hangs

sub _relay {
    my ($self, $client, $server) = @_;
    my $select = IO::Select->new($client, $server);
    while (1) {
        for my $socket ($select->can_read) {
            sysread $socket, my $bytes, 1 << 16 or return;
            if ($socket == $client) { $self->_wait_if_ordered($bytes) }
            Tenure::DatabaseProxy::send_all($socket == $client ? $server : $client, $bytes);
        }
    }
}

# Only one connection holds what was ordered.
sub _wait_if_ordered {
    my ($self, $bytes) = @_;
    my $order = "$self->{dir}/hold";
    return if !-e $order || index($bytes, read_file($order)) < 0 || !rename $order, "$self->{dir}/held";
    my $until = time + LONGEST;
    Time::HiRes::sleep(0.01) while -e "$self->{dir}/held" && time < $until;
    return;
}

sub hold {
    my ($self, $text) = @_;
    write_file("$self->{dir}/hold.new", $text);
    rename "$self->{dir}/hold.new", "$self->{dir}/hold" or die "$!\n";
    return;
}

sub is_held { return -e "$_[0]{dir}/held" }
sub release { unlink "$_[0]{dir}/held"; return }

1;
