# SPDX-License-Identifier: Apache-2.0
# A proxy between Tenure and its database that lets single COMMITs and their answers go astray.
#
#   my $proxy;
#   my $instance = Tenure::Instance->start(database_by => sub { $proxy = Tenure::CommitProxy->new(@_); return $proxy->path });
#   $proxy->next_commit('answer');     # what happens to the next COMMIT of any connection
#   $proxy->hold(3);                   # nothing passes for so many seconds, on any connection
package Tenure::CommitProxy;

use strict;
use warnings;

use IO::Select;
use Time::HiRes ();

use parent 'Tenure::DatabaseProxy';
use Tenure::Run qw(write_file);

my $commit = "\x07\0\0\0\x03COMMIT";

# One connection, until a side closes it.
sub _relay {
    my ($self, $client, $server) = @_;
    my $select = IO::Select->new($client, $server);
    while (1) {
        for my $socket ($select->can_read) {
            sysread $socket, my $bytes, 1 << 16 or return;
            if ($socket == $server) { Tenure::DatabaseProxy::send_all($client, $bytes); next }
            my $what = $bytes eq $commit ? $self->_ordered : undef;
            return if defined $what && $what eq 'request';
            if (defined $what && $what =~ /\Alate (\S+)/) {
                # The client believes that the connection is lost, the COMMIT still arrives.
                $client->close;
                Time::HiRes::sleep($1);
            }
            Tenure::DatabaseProxy::send_all($server, $bytes);
            next if !defined $what;
            # The server has done it when it answers, or has ended.
            IO::Select->new($server)->can_read(30);
            return;
        }
    }
}

# What was ordered for a COMMIT, to one of the connections only.
sub _ordered {
    my ($self) = @_;
    my $mine = "$self->{dir}/commit.$$";
    rename "$self->{dir}/commit", $mine or return undef;
    open my $file, '<', $mine or return undef;
    my $what = readline $file;
    unlink $mine;
    return $what;
}

# 'request': it is lost, and the connection with it; 'answer': the COMMIT arrives, its answer is lost with the connection; 'late SECONDS':
# the connection is lost, and the COMMIT arrives so many seconds later.
sub next_commit {
    my ($self, $what) = @_;
    write_file("$self->{dir}/commit.new", $what);
    rename "$self->{dir}/commit.new", "$self->{dir}/commit" or die "$!\n";
    return;
}

sub hold {
    my ($self, $seconds) = @_;
    kill STOP => -$self->{pid};
    Time::HiRes::sleep($seconds);
    kill CONT => -$self->{pid};
    return;
}

1;
