# SPDX-License-Identifier: Apache-2.0
# Metrics in Prometheus' text format: from the host service's socket, or parsed from any text.
package Tenure::Metrics;

use strict;
use warnings;

use IO::Socket::UNIX;

# Sends text to the unix socket as it stands; (status, head, body). Without an answer: (0, '', '').
sub ask {
    my ($path, $text) = @_;
    my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $path) or return (0, '', '');
    local $SIG{PIPE} = 'IGNORE';
    print {$socket} $text;
    $socket->flush;
    my $answer = do { local $/; readline $socket } // '';
    my ($head, $body) = split /\r\n\r\n/, $answer, 2;
    return (0, '', '') if !defined $body;
    my ($status) = $head =~ m{\AHTTP/1\.0 (\d+) };
    return ($status, $head, $body);
}

# The figures of a text: { 'name{label="value"}' => number }.
sub parse {
    my ($text) = @_;
    my %of;
    for my $line (split /\n/, $text) {
        next if $line =~ /^#/ || $line eq '';
        $line =~ /^([a-z_]+(?:\{.*\})?) (\S+)\z/ or die "no metric: $line\n";
        die "$1 twice\n" if exists $of{$1};
        $of{$1} = $2;
    }
    return \%of;
}

# The metrics of the host service that has this socket.
sub of_socket {
    my ($path) = @_;
    my ($status, undef, $body) = ask($path, "GET /metrics HTTP/1.0\r\n\r\n");
    die "$path: status $status\n" if $status != 200;
    return parse($body);
}

# The sum of all series of that name whose labels match: by(\%metrics, 'tenure_requests_total', dialect => 'tenancy').
sub sum {
    my ($metrics, $name, %label) = @_;
    my $sum = 0;
    for my $series (keys %$metrics) {
        next if $series !~ /\A\Q$name\E(?:\{|\z)/;
        next if grep { $series !~ /[{,]\Q$_\E="\Q$label{$_}\E"[,}]/ } keys %label;
        $sum += $metrics->{$series};
    }
    return $sum;
}

1;
