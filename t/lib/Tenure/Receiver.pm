# SPDX-License-Identifier: Apache-2.0
# A receiver of webhooks' messages, on loopback. It keeps what came and answers as its mode says, which may be set for a path: mode('/slow' =>
# 'slow'). Modes: ok (204), a status such as 500, redirect:URL, endless (a body without an end), slow (no answer for a while), late (the
# same, but the message is seen at once), hang (none at all), drop (closes the connection), lost (takes the message, and closes the connection as if it was killed before it answered).
#
#   my $receiver = Tenure::Receiver->start;
#   my @messages = $receiver->messages('/path');    # { path, id, timestamp, signatures => [...], body, json }, in order
package Tenure::Receiver;

use strict;
use warnings;

use parent 'Tenure::FakeService';

use Digest::SHA qw(hmac_sha256_base64);
use JSON::PP ();
use MIME::Base64 qw(decode_base64);

my $json = JSON::PP->new->utf8->canonical;

sub start {
    my ($class, %option) = @_;
    return $class->new('receiver', $option{port})->begin;
}

sub url { my ($self, $path) = @_; return "http://127.0.0.1:$self->{port}" . ($path // '/') }

sub mode {
    my ($self, @words) = @_;
    my ($mode, $path) = reverse @words;
    return $self->keep('mode' . ($path // '') =~ s/\W/_/gr, $mode);
}

sub answer {
    my ($self, $client, $request) = @_;
    my $mode = $self->kept('mode' . $request->{path} =~ s/\W/_/gr) // $self->kept('mode');
    my $taken = $mode eq 'ok' || $mode eq 'slow' || $mode eq 'endless' || $mode eq 'lost' || $mode eq 'late';
    sleep 2 if $mode eq 'slow';
    $self->note($json->encode({ path => $request->{path}, method => $request->{method}, header => $request->{header}, body => $request->{body},
        taken => $taken ? 1 : 0 }));
    sleep 2 if $mode eq 'late';
    return close $client if $mode eq 'drop' || $mode eq 'lost';
    if ($mode eq 'hang') { sleep 60; return }
    return Tenure::FakeService::send_answer($client, 302, '', "Location: $1") if $mode =~ /\Aredirect:(.*)/;
    if ($mode eq 'endless') {
        local $SIG{PIPE} = 'IGNORE';
        print {$client} "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n";
        for (1 .. 100_000) { print {$client} 'x' x 10_000 or last }
        return close $client;
    }
    return Tenure::FakeService::send_answer($client, $mode =~ /\A\d+\z/ ? $mode : 200, '{}');
}

# What came to that path, or anywhere.
sub attempts {
    my ($self, $path) = @_;
    my @all;
    for my $line (split /\n/, $self->log) {
        my $seen = eval { $json->decode($line) } or next;
        next if defined $path && $seen->{path} ne $path;
        my $header = $seen->{header};
        push @all, { %$seen, id => $header->{'webhook-id'}, timestamp => $header->{'webhook-timestamp'},
            signatures => [split / /, $header->{'webhook-signature'} // ''], json => eval { $json->decode($seen->{body}) } };
    }
    return @all;
}

# Those that were taken, each once though it may have come several times.
sub messages {
    my ($self, $path) = @_;
    my %seen;
    return grep { $_->{taken} && !$seen{ $_->{id} }++ } $self->attempts($path);
}

# All changes of these messages, in their order.
sub changes { my ($self, $path) = @_; return map { @{ $_->{json}{data}{changes} } } $self->messages($path) }

# Is one of the message's signatures that of this secret (whsec_…)?
sub is_signed {
    my ($message, $secret) = @_;
    my $key = decode_base64($secret =~ s/\Awhsec_//r);
    my $mac = hmac_sha256_base64("$message->{id}.$message->{timestamp}.$message->{body}", $key);
    $mac .= '=' while length($mac) % 4;
    return scalar grep { $_ eq "v1,$mac" } @{ $message->{signatures} };
}

1;
