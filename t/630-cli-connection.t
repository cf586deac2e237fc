#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Where tenure finds service and token, whom it lets see the token, what it sends again and what not, and what it makes of
# a service that is away, broken or hostile. The service is a script here: it answers what it is told and keeps what came.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp qw(tempdir);
use IO::Select;
use IO::Socket::INET;
use POSIX ();
use Test::More;

use Tenure::Instance;
use Tenure::Run qw(run);
use Tenure::Tool;

plan skip_all => 'tenure is not built' if !-x (Tenure::Instance::build_dir() // '') . '/tenure';
my $work = tempdir('tenure-fake-XXXXXX', TMPDIR => 1, CLEANUP => 1);

sub answer {
    my ($status, $body, @fields) = @_;
    return join "\r\n", "HTTP/1.1 $status X", 'Content-Length: ' . length $body, 'Connection: close', @fields, '', $body;
}
my $doc     = '{"metadata":{"name":"x","etag":"W/aa"},"v":1}';
my $ok      = answer(200, $doc, 'ETag: W/"aa"');
my $busy    = answer(503, '{"title":"Unavailable","status":503,"detail":"later"}', 'Retry-After: 0');
my $dropped = '';

# Serves these answers in their order, the last one for all that follow. Connections are kept where the answer doesn't
# say close; an empty answer breaks the connection. Returns its URL.
my $log = "$work/log";
my @served;

sub serve {
    my (@answers) = @_;
    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 16, ReuseAddr => 1) or die "socket: $!";
    Tenure::Instance::write_file($log, '');
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        local $SIG{TERM} = 'DEFAULT';
        my $ready = IO::Select->new($socket);
        while (my @ready = $ready->can_read) {
            for my $peer (@ready) {
                if ($peer == $socket) {
                    $ready->add($socket->accept);
                    next;
                }
                my $request = receive($peer);
                my $answer = $request eq '' ? '' : @answers > 1 ? shift @answers : $answers[0];
                print {$peer} $answer;
                $peer->flush;
                next if $answer ne '' && $answer !~ /^Connection: close/m;
                $ready->remove($peer);
                close $peer;
            }
        }
        POSIX::_exit(0);
    }
    push @served, $pid;
    return 'http://127.0.0.1:' . $socket->sockport;
}

# One request, which is kept; '' at the end of the connection.
sub receive {
    my ($peer) = @_;
    my $request = '';
    while ($request !~ /\r\n\r\n/) {
        sysread $peer, $request, 65536, length $request or return '';
    }
    my ($length) = $request =~ /^Content-Length: (\d+)/mi;
    my ($head) = $request =~ /\A(.*?\r\n\r\n)/s;
    while (length $request < length($head) + ($length // 0)) {
        sysread $peer, $request, 65536, length $request or return '';
    }
    open my $out, '>>', $log;
    print {$out} $request, "\n--\n";
    close $out;
    return $request;
}
END { kill TERM => @served if @served }

sub requests { return map { s/\A\n//r } split /^--$/m, Tenure::Instance::read_file($log) =~ s/\n--\n\z//r }

sub tool {
    my ($url, %more) = @_;
    return Tenure::Tool->new(url => $url, token => 'secret', tenant => 't', %more);
}

subtest 'a proxy of the environment' => sub {
    local @ENV{qw(http_proxy all_proxy)} = (serve(answer(503, 'the proxy')) ) x 2;
    for my $host (qw(127.0.0.1 localhost)) {
        tool(serve($ok) =~ s/127\.0\.0\.1/$host/r)->ends(0, qw(configmaps show x));
        is_deeply [ map { /^(GET \S+)/ } requests() ], [ 'GET /v2.0/t/namespaces/default/configmaps/x' ], "never gets what is for this machine, $host";
    }
    local @ENV{qw(http_proxy all_proxy)} = (serve($ok)) x 2;
    tool('http://tenure.example')->ends(0, qw(configmaps show x));
    is_deeply [ map { /^(GET \S+)/ } requests() ], [ 'GET http://tenure.example/v2.0/t/namespaces/default/configmaps/x' ], 'but what is for others';
};

subtest 'what is sent again' => sub {
    tool(serve($busy, $busy, $ok))->ends(0, qw(configmaps show x));
    is scalar(requests()), 3, 'a read, until it is answered';
    tool(serve($busy))->ends(69, qw(configmaps show x));
    is scalar(requests()), 4, 'but not for ever';
    tool(serve($dropped, $ok))->ends(0, qw(configmaps show x));
    is scalar(requests()), 2, 'a read whose answer was lost';

    like tool(serve($dropped, $ok))->ends(75, qw(configmaps patch x a=1 --no-etag))->{err}, qr/may have been done or not/,
        'an unguarded change whose answer was lost may have been done';
    is scalar(requests()), 1, 'and is not sent again';
    like tool(serve($busy, $ok))->ends(75, qw(configmaps delete x --yes --no-etag))->{err},
        qr/may have been done or not \(the answer was 503: Unavailable: later\): read it again/, 'one that was answered 503 may have been done, and the service says why';
    is scalar(requests()), 1, 'nor after a 503';
    tool(serve($dropped, $ok))->ends(75, qw(move --all t --to u --no-etag));
    is scalar(requests()), 1, 'nor a move';
    tool(serve($dropped, $ok))->ends(75, qw(configmaps patch x a=1 --etag *));
    is scalar(requests()), 1, 'nor one that asks only whether it exists, as it still does after the first attempt';

    tool(serve($dropped, $busy, $ok))->ends(0, qw(configmaps patch x a=1 --etag W/aa));
    my @sent = requests();
    is scalar(@sent), 3, 'a guarded change is sent again';
    is scalar(grep { m{^If-Match: W/"aa"\r$}m } @sent), 3, 'with its etag each time';
    tool(serve($dropped, $ok))->ends(0, qw(configmaps set x a=1 --etag new));
    is scalar(grep { /^If-None-Match: \*\r$/m } requests()), 2, 'as one that makes it';
    my $limited = answer(429, '{"title":"Too many requests","status":429,"detail":"fewer"}', 'Retry-After: 0');
    for my $words ('configmaps show x', 'configmaps patch x a=1 --no-etag', 'configmaps delete x --yes --no-etag') {
        tool(serve($limited, $limited, $ok))->ends(0, split / /, $words);
        is scalar(requests()), 3, 'what was answered 429 is sent again, since nothing of it was done';
    }
    for my $nothing (
        '"title":"Unavailable","done":false',                              '"error_message":"{\\"faultstring\\":\\"later\\"}","done":false',
        '"errors":[{"status":503,"title":"Unavailable","done":false}]', '"kind":"Status","message":"later","details":{"causes":[{"reason":"NothingDone"}]}'
    ) {
        my $refused = answer(503, "{$nothing}", 'Retry-After: 0');
        tool(serve($refused, $ok))->ends(0, qw(configmaps patch x a=1 --no-etag));
        is scalar(requests()), 2, 'so is a 503 that says so, in the form of each API';
        tool(serve($refused))->ends(69, qw(configmaps patch x a=1 --no-etag));
        tool(serve($dropped, $refused))->ends(75, qw(configmaps patch x a=1 --etag W/aa));
    }
    for my $other ('"title":"Unavailable","done":true', '"title":"Unavailable","done":"false"', '"errors":{"done":false}', '"errors":[]',
        '"kind":"Status","details":{"causes":{"reason":"NothingDone"}}', '"kind":"Status","details":{"causes":[{"reason":"Other"}]}') {
        tool(serve(answer(503, "{$other}", 'Retry-After: 0')))->ends(75, qw(configmaps patch x a=1 --no-etag));
    }
    like tool(serve($limited))->ends(69, qw(configmaps patch x a=1 --no-etag))->{err}, qr/Too many requests: fewer$/m, 'but not for ever, and nothing was changed then';
    is scalar(requests()), 4, '... after four attempts';
    tool(serve($limited, $busy, $ok))->ends(75, qw(configmaps patch x a=1 --no-etag));
    is scalar(requests()), 2, 'an attempt after it may have been done';
    like tool(serve($dropped, $limited))->ends(75, qw(configmaps patch x a=1 --etag W/aa))->{err},
        qr/\(Empty reply from server; when it was sent again, the answer was 429: Too many requests: fewer\)/, 'as may an attempt before it';
    my $stale = answer(412, '{"title":"Precondition failed","status":412}');
    tool(serve($dropped, $stale))->ends(75, qw(configmaps patch x a=1 --etag W/aa));
    tool(serve($stale))->ends(5, qw(configmaps patch x a=1 --etag W/aa));
    my @guarded = qw(configmaps delete x --yes --etag W/aa);
    for (['deleted', 410], ['not found', 404], ['moved', 301], ['in conflict', 409], ['not admitted', 403], ['limited', 429], ['failed', 500]) {
        my ($what, $status) = @$_;
        my $refused = answer($status, qq({"title":"Said so","status":$status}), 'Location: http://there.example/');
        like tool(serve($dropped, $refused))->ends(75, @guarded)->{err},
            qr/may have been done or not \(.+; when it was sent again, the answer was $status: Said so\): read it again/, "$what, perhaps by the call whose answer was lost";
    }
    my $moved = answer(301, '', 'Location: http://there.example/');
    tool(serve($dropped, $moved))->ends(75, qw(move configmaps/x --to u --if-match W/aa));
    tool(serve($dropped, answer(400, '{"title":"Bad request","status":400}')))->ends(65, @guarded);

    my $kept = "HTTP/1.1 204 X\r\n\r\n";
    tool(serve($kept, $dropped, $kept))->ends(75, qw(configmaps delete x y --yes --no-etag));
    is scalar(requests()), 2, 'nor does libcurl send it again over a kept connection';
};

# A webhook or tier that is not there yet is made only if none was made meanwhile.
subtest 'what is new is guarded' => sub {
    my $none = answer(404, '{"title":"Not found","status":404}');
    for (['webhook', 'url', '{"name":"x","url":"%s","etag":"W/aa"}'], ['tier', 'description', '{"name":"x","description":"%s","etag":"W/aa"}']) {
        my ($noun, $member, $form) = @$_;
        my ($mine, $theirs) = map { answer(200, sprintf($form, $_), 'ETag: W/"aa"') } 'mine', 'theirs';
        is tool(serve($none, $mine))->ends(0, $noun, 'set', 'x', "$member=mine")->{err}, '', "a $noun, without a warning";
        like +(requests())[1], qr/\APUT .*^If-None-Match: \*\r$/ms, '... and with a condition';
        my $lost = tool(serve($none, answer(412, '{"title":"Precondition failed","status":412}'), $theirs))->ends(5, $noun, 'set', 'x', "$member=mine");
        like $lost->{err}, qr/$member .*both changed it.*mine.*theirs/s, '... which shows the one that somebody else made meanwhile';
    }
};

# --retry merges a JSON Patch into the document that is there. If somebody changes that once more, what the patch names is still wanted.
subtest 'a node that others change twice' => sub {
    my $node  = sub { my ($tag, $members) = @_; answer(200, qq({"uuid":"u","name":"n",$members}), qq(ETag: W/"$tag")) };
    my $stale = answer(412, '{"title":"Precondition failed","status":412}');
    my $tool  = tool(serve($node->('aa', '"maintenance":false,"extra":{}'), $stale, $node->('bb', '"maintenance":false,"extra":{"y":"1"}'), $stale,
        $node->('cc', '"maintenance":true,"extra":{"y":"1"}'), $node->('dd', '"maintenance":true,"extra":{"x":1,"y":"1"}')));
    $tool->ends(0, qw(node show n));
    like $tool->ends(5, qw(node set n --maintenance false --extra x=1 --etag auto --retry))->{err}, qr/^  maintenance  <- both changed it\n/m, 'they clash at the second try, too';
    is_deeply [map { /\A(\w+)/ } requests()], [qw(GET PATCH GET PATCH GET)], '... so nothing more is sent';
};

# What was read is gone, and something else was made under its name since.
subtest 'another one of that name' => sub {
    my $stale = answer(412, '{"title":"Precondition failed","status":412}');
    my @times = ('2026-11-01T00:00:00.000000Z', '2026-11-01T00:00:01.000000Z');
    for (['webhook', 'description=x', '{"name":"t","url":"https://%s.example/","created_at":"%s"}', 'GET GET PUT GET'],
        ['tenant', 'contact=ann', '{"tenant":{"id":"t","metadata":{"a":"%s"},"created_at":"%s"}}', 'GET PUT GET']) {
        my ($noun, $change, $form, $calls) = @$_;
        my ($old, $new) = map { answer(200, sprintf($form, @$_), qq(ETag: W/"$_->[0]")) } ["aa", $times[0]], ["bb", $times[1]];
        my $tool = tool(serve($old, ($new) x ($noun eq 'webhook'), $stale, $new));
        $tool->ends(0, $noun, 'show', 't');
        like $tool->ends(5, $noun, 'set', 't', $change, qw(--etag auto --retry))->{err}, qr/^tenure: $noun t: what you read is not there any more, and another one has its name/m,
            "a $noun: nothing is merged";
        is join(' ', map { /\A(\w+)/ } requests()), $calls, '... nor sent';
    }
};

subtest 'TLS' => sub {
    plan skip_all => 'openssl is not installed' if !Tenure::Instance::on_path('openssl');
    my ($code, $text) = run('openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout',
        "$work/key.pem", '-out', "$work/ca.pem", '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost');
    is $code, 0, 'a certificate' or diag $text;
    mkdir $_ for "$work/v2.0", "$work/v2.0/t", "$work/v2.0/t/persistentvolumes";
    # With this option openssl sends a file as it is, header fields and all.
    Tenure::Instance::write_file("$work/v2.0/t/persistentvolumes/x", $ok);
    my ($port) = Tenure::Instance::free_ports(1);
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        chdir $work;
        open STDOUT, '>', "$work/tls.log";
        open STDERR, '>&', \*STDOUT;
        exec { 'openssl' } qw(openssl s_server -HTTP -key key.pem -cert ca.pem -accept), $port or POSIX::_exit(127);
    }
    push @served, $pid;
    my @show = qw(persistentvolumes show x --columns v --format csv);
    my $tool = tool("https://localhost:$port");
    ok Tenure::Instance::wait_until(sub { $tool->run(@show, '--ca-file', "$work/ca.pem")->{code} == 0 }), 'its authority is trusted when named';
    is $tool->with(TENURE_CA_FILE => "$work/ca.pem")->ends(0, @show)->{out}, "v\n1\n", 'by the environment, too';
    like $tool->ends(0, qw(configmaps set x --no-etag --dry-run --ca-file), "$work/ca.pem")->{out}, qr{ --cacert '\Q$work\E/ca\.pem' }, '--dry-run passes it on';
    like $tool->ends(69, @show)->{err}, qr/certificate.*^tenure:   name the authority that signed its certificate: --ca-file, or TENURE_CA_FILE$/ms, 'and not otherwise';
    my $plain = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 16) or die "socket: $!";
    push @served, my $answering = fork // die "fork: $!";
    if ($answering == 0) {
        local $SIG{TERM} = 'DEFAULT';
        while (my $peer = $plain->accept) { print {$peer} answer(400, '') }
        POSIX::_exit(0);
    }
    my $at = '127.0.0.1:' . $plain->sockport;
    like tool("https://$at")->ends(69, @show)->{err}, qr{^tenure:   no TLS is spoken there: is it http://\Q$at\E\?$}m, 'https where http is spoken';
    like tool(serve($dropped))->ends(69, @show)->{err}, qr{^tenure:   is it https://127\.0\.0\.1:\d+\?$}m, 'an answer of nothing may be that of https';
    tool("https://127.0.0.1:$port")->ends(69, @show, '--ca-file', "$work/ca.pem");
    $tool->ends(69, @show, '--ca-file', '/nonexistent');

    # Those in the folder that libcurl knows by itself are not trusted beside it.
    ($code, $text) = run('openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', "$work/other.key", '-out', "$work/other.pem",
        '-subj', '/CN=Other');
    my ($unshare) = grep { system(@$_, 'sh', '-c', 'exec 2>/dev/null; mount -t tmpfs tenure /etc/ssl/certs') == 0 } ['unshare', '-m'], ['unshare', '-r', '-m'];
    my $with_folder = 'cd $0 && mount -t tmpfs tenure /etc/ssl/certs && cp other.pem /etc/ssl/certs/ca-certificates.crt && '
        . 'cp ca.pem /etc/ssl/certs/$(openssl x509 -in ca.pem -noout -hash).0 && exec "$@"';
    SKIP: {
        skip 'no file system can be mounted here', 2 if !$unshare;
        my $there = tool("https://localhost:$port", within => [@$unshare, 'sh', '-c', $with_folder, $work]);
        is $there->run(@show)->{code}, 0, 'an authority in the folder of the system is trusted';
        like $there->ends(69, @show, '--ca-file', "$work/other.pem")->{err}, qr/certificate/, '... but not where another one is named';
    }
};

subtest 'the token goes nowhere else' => sub {
    my $other = serve($ok);
    my $run = tool(serve(answer(301, '', "Location: $other/v2.0/u/x")))->ends(6, qw(configmaps show x));
    is scalar(requests()), 1, 'no redirect is followed';
    like $run->{err}, qr/\Q$other\E/, 'but told';
    my $page = '{"resources":[{"metadata":{"name":"NAME"}}]NEXT}';
    my @pages = map { answer(200, $_) } $page =~ s/NAME/a/r =~ s{NEXT}{,"next":"http://evil.example/else?limit=1&marker=a"}r,
        $page =~ s/NAME/b/r =~ s/NEXT//r;
    is tool(serve(@pages))->ends(0, qw(persistentvolumes list --columns name --format csv))->{out}, "name\na\nb\n",
        'the next page is fetched';
    my @sent = requests();
    like $sent[1], qr{\AGET /v2\.0/t/persistentvolumes\?limit=1&marker=a HTTP}, 'from the same service';
    # Lists of what is no resource.
    for (['webhook list', 'webhooks'], ['webhook deliveries x', 'deliveries'], ['usage', 'usage']) {
        my ($words, $member) = @$_;
        my @list = (split(' ', $words), qw(--format csv));
        my $one  = qq({"$member":[{"name":"a","message":"a","type":"a"}]);
        tool(serve(answer(200, qq($one,"next":"http://evil.example/else?limit=7&marker=a%20b"})), answer(200, "$one}")))->ends(0, @list);
        like +(requests())[1], qr{\AGET /v2\.0/t/[a-z/]+\?limit=7&marker=a%20b HTTP}, "$words: the next page, from the same service";
        like tool(serve(answer(200, qq($one,"next":"/x?limit=7&marker=a"}))))->ends(76, @list)->{err}, qr/leads to no further page/, '... and not for ever the same one';
    }
    # Pages may be empty and have a next one all the same.
    my $empty = '{"usage":[],"closed_until":"2026-11-02T00:00:00Z"';
    like tool(serve(answer(200, qq($empty,"next":"/x?limit=7&marker=a"})), answer(200, "$empty}")))->ends(0, qw(usage --format csv))->{err},
        qr/usage is counted until 2026-11-02T00:00:00Z$/, 'of nothing on several pages it is told until when usage is counted';
    my $loop = answer(200, $page =~ s/NAME/a/r =~ s{NEXT}{,"next":"/x?limit=100"}r);
    my $lost = answer(200, $page =~ s/NAME/a/r =~ s{NEXT}{,"next":"/x"}r);
    for my $words ('persistentvolumes list', 'export persistentvolumes') {
        like tool(serve($_))->ends(76, split / /, $words)->{err}, qr/the list goes on, but its answer leads to no further page/, "$words: not for ever the same page, nor without the rest" for $loop, $lost;
    }
    tool(serve($loop))->ends(0, qw(persistentvolumes list --limit 1));
    for (['space list', '{"items":[{"metadata":{"name":"a"}}],"metadata":{"continue":"a"}}'], ['type effect widgets.example.com --delete', '{"effects":[],"continue":"a"}'],
        ['space policy set t SystemCRDFirst --dry-run', '{"effects":[],"continue":"a"}']) {
        my ($words, $answer) = @$_;
        like tool(serve(answer(200, $answer)))->ends(76, split / /, $words)->{err}, qr/leads to no further page/, "$words: not for ever the same page";
        is scalar(requests()), 2, '... but until it comes again';
    }
};

subtest 'an output that can not be written' => sub {
    my $long = 'x' x 100_000;
    my %page = ('export persistentvolumes' => qq({"resources":[{"metadata":{"name":"a"},"v":"$long"}],"next":"/x?limit=1&marker=a"}),
        'history persistentvolumes/a' => qq({"history":[{"id":5,"verb":"created","fields":["$long"]}],"next":"/x?before=5"}));
    for my $words (sort keys %page) {
        open my $full, '>', '/dev/full' or die "/dev/full: $!";
        my $run = tool(serve(answer(200, $page{$words})), stdout => $full)->ends(74, split / /, $words);
        is scalar(requests()), 1, "$words: no more pages are read then";
        is $run->{err}, "tenure: can't write the output\n", '... and it is told once';
    }
};

subtest 'a hostile service' => sub {
    my $evil = "\\u001b]0;owned\\u0007";
    my $run = tool(serve(answer(409, qq({"title":"a $evil","status":409,"detail":"b\\u009b1m"}))))->ends(4, qw(configmaps show x));
    unlike $run->{err}, qr/[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]/, 'its control characters are shown, not sent';
    like $run->{err}, qr/\\x1b\]0;owned\\x07/, 'as text';
    # More warnings than the service ever gives: long ones, and as many as a head has room for.
    for my $warnings ([('Warning: 299 - "' . "\x1b[2J" . 'w' x 4000 . '"') x 50], [('Warning: "w"') x 18_000]) {
        my $warned = tool(serve(answer(200, $doc, 'Warning: 299 - "one"', 'Warning: none', @$warnings)))->ends(0, qw(configmaps show x));
        like $warned->{err}, qr/\Atenure: warning: one\ntenure: warning: (?:\\x1b\[2J)?w/, 'they are told, and no terminal obeys them';
        cmp_ok length $warned->{err}, '<', 50_000, '... as far as anybody reads them';
    }
    tool(serve(answer(200, 'no json')))->ends(76, qw(configmaps show x));
    tool(serve(answer(200, '[]')))->ends(76, qw(configmaps show x));
    tool(serve(answer(200, '{}')))->ends(76, qw(configmaps list));
    tool(serve(answer(200, '[' x 5000)))->ends(76, qw(configmaps show x));
    tool(serve(answer(202, '', 'Location: nowhere/')))->ends(76, qw(move --all t --to u --no-etag));
    tool(serve(answer(500, '<html>')))->ends(70, qw(configmaps show x));
    # A name that holds NUL can't be part of an address.
    my $nul = '\u0000';
    for (['configmaps list', 200, qq({"resources":[{"metadata":{"name":"a${nul}b"}}]})],
        ['configmaps list', 200, qq({"resources":[{"metadata":{"name":"a","namespace":"b$nul"}}]})],
        ['tenant list', 200, qq({"tenants":[{"id":"a$nul"}]})],
        ['node list', 200, qq({"nodes":[{"uuid":"a$nul"}]})],
        ['provider list', 200, qq({"resource_providers":[{"uuid":"a$nul"}]})],
        ['node create --driver fake', 201, qq({"uuid":"a${nul}b"})],
        ['node move x t', 200, qq({"uuid":"a$nul","owner":null})],
        ['node move x t', 200, qq({"uuid":"a","owner":"b$nul"})],
        ['node trait add x CUSTOM_A --etag W/aa', 200, qq({"uuid":"a","traits":["CUSTOM_$nul"]})]) {
        my ($words, $status, $body) = @$_;
        tool(serve(answer($status, $body)))->ends(76, split / /, $words);
    }
    like tool(serve(answer(200, qq({"uuid":"u","name":"a$nul"}), 'ETag: W/"aa"')))->ends(0, qw(node show x --format json))->{out}, qr/"a\Q$nul\E"/, '... and is shown as it is';
    # A tag that no header can have.
    my $tagged = tool(serve(answer(200, '{"user":"ann","at":"2026-01-01T00:00:00Z","changes":1,"items":[],"blockers":[]}', "ETag: \"a\tb\"")));
    $tagged->ends(0, qw(changes undo --preview x));
    like $tagged->ends(76, qw(changes undo --yes --if-match auto x))->{err}, qr/the preview's etag .* can't be sent/, 'the etag is told';
    # A web server that sends whoever is not logged in to a page for that.
    my $login = 'http://login.example/?back=/v2.0/t/x';
    for my $status (300 .. 303, 307) {
        my $url = serve(answer($status, '', "Location: $login"));
        for my $words ('configmaps show x', 'configmaps delete x --yes --no-etag', 'tenant recover t', 'move --all t --to u --no-etag', 'changes undo x --yes --no-etag',
            'token delete x', 'node maintenance set n --no-etag', 'node trait add n CUSTOM_A --no-etag') {
            like tool($url)->ends(76, split / /, $words)->{err}, qr/was answered $status, not by Tenure, and leads to \Q$login\E: /, "$status is no answer";
        }
    }
    my $https = 'https://tenure.example/v2.0/t/namespaces/default/configmaps/x';
    tool(serve(answer(301, '', "Location: $https")))->ends(76, qw(configmaps show x)); # which is where it was
    # A page of the web server: another virtual host, or no worker behind it.
    like tool(serve(answer(404, '<html>')))->ends(1, qw(configmaps show x))->{err}, qr/answered 404, and not by Tenure: is that its address/, 'who answered is doubted';
    like tool(serve(answer(404, '')))->ends(1, qw(configmaps show x))->{err}, qr/answered 404 without a reason/, 'but not where nothing is told';
    tool(serve('nonsense'))->ends(69, qw(configmaps show x));
    tool('http://127.0.0.1:1')->ends(69, qw(configmaps show x));
    tool('http://127.0.0.1:1')->ends(69, qw(configmaps delete x --yes --no-etag));
};

subtest 'a slow service' => sub {
    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 16) or die;
    my $run = tool('http://127.0.0.1:' . $socket->sockport)->ends(75, qw(configmaps patch x a=1 --no-etag --timeout 2));
    like $run->{err}, qr/timed out/i, 'is not waited for longer than allowed';
    tool('http://127.0.0.1:' . $socket->sockport)->ends(69, qw(configmaps show x --timeout 2));
    $socket->blocking(0);
    my $calls = 0;
    $calls++ while $socket->accept;
    is $calls, 5, '... at each of four attempts to read, which is made again as the change was not';
    # Nobody accepts, and the queue of connections is full.
    my $full = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 1) or die "socket: $!";
    listen $full, 0 or die "listen: $!";
    my @waiting = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $full->sockport, Blocking => 0) } 1 .. 3;
    my $never = tool('http://127.0.0.1:' . $full->sockport)->ends(69, qw(configmaps patch x a=1 --no-etag --timeout 2));
    unlike $never->{err}, qr/may have been done/, 'what never left because there was no connection was not done';
};

subtest 'a move in the background' => sub {
    my $id = 'c4ef6c00-dca3-4a5d-b45a-779e8bf53fab';
    my $begun = answer(202, '', "Location: http://x/v2.0/a%20b/moves/$id");
    my $going = answer(200, '{"move":{"state":"running","moved":1,"total":2}}');
    my $done  = answer(303, '', 'Location: http://x/v2.0/u');
    my @words = ('move', '--all', 'a b', qw(--to u --async --no-etag));
    my $run = tool(serve($begun, $going, ($busy) x 9, $going, $done))->ends(0, @words);
    is scalar(() = $run->{err} =~ /waiting for the service$/mg), 1, 'a service that is away is waited for, and it is told once';
    my $refused = answer(401, '{"title":"Authentication required","status":401}');
    for my $ended ($refused, answer(404, '{"title":"Not found","status":404}'), answer(500, '{"title":"Failed","status":500}'), answer(200, '<html>')) {
        for ([@words], [qw(changes undo x --yes --no-etag)]) {
            like tool(serve($begun, $going, $ended))->ends(75, @$_)->{err}, qr/: it may still go on: tenure move status $id -t a b$/m, 'how it ends is not known then';
        }
    }
    like tool(serve($begun, answer(200, '{"move":{"state":"failed","reason":"stale"}}')))->ends(70, @words)->{err}, qr/the move failed, nothing was moved: stale$/m, 'unless it is told';
};

my $shown = qr/^X-Auth-Token: (.*)\r$/m;

subtest 'the token' => sub {
    my $url  = serve($ok);
    my $file = "$work/token";
    Tenure::Instance::write_file($file, "from-file\nmore\n");
    my $none = tool($url, token => undef);
    for my $mode (0644, 0640, 0604, 0620) {
        chmod $mode, $file;
        like $none->ends(77, qw(configmaps show x --token-file), $file)->{err}, qr/chmod/, sprintf 'a file of mode %o is refused', $mode;
    }
    chmod 0600, $file;
    is scalar(requests()), 0, 'before anything is sent';
    my $sent = sub { my ($tool, @more) = @_; $tool->ends(0, qw(configmaps show x), @more); return ((requests())[-1] =~ $shown)[0] };
    is $sent->($none, '--token-file', $file), 'from-file', 'a file of its owner alone';
    is $sent->($none->with(TENURE_TOKEN_FILE => $file)), 'from-file', 'named by the environment';
    is $sent->($none->with(TENURE_TOKEN => 'env', TENURE_TOKEN_FILE => $file)), 'env', 'the environment';
    is $sent->($none->with(TENURE_TOKEN => 'env'), '--token-file', $file), 'from-file', 'options come before it';
    is $sent->($none), undef, 'none';
    for my $option (qw(url token token-file ca-file tenant namespace)) {
        my $run = $none->with(TENURE_TOKEN => 'env')->ends(64, qw(configmaps show x), "--$option", '');
        is $run->{err}, "tenure: --$option is empty\n", '... and an empty one is not replaced by the environment';
    }
    like tool(serve(answer(401, '{"title":"Authentication required","status":401}')), token => undef)->ends(77, qw(configmaps show x))->{err},
        qr/^tenure:   which token\? --token-file, TENURE_TOKEN, /m, 'who gives none is told how to';
    unlike tool(serve(answer(401, '{"title":"Authentication required","status":401}')))->ends(77, qw(configmaps show x))->{err}, qr/which token/, '... and who gives one is not';
    Tenure::Instance::write_file($file, "from-windows\r\nmore\r\n");
    is $sent->($none, '--token-file', $file), 'from-windows', 'a file whose lines end with CR and LF';
    for ('', "\n", " \r\nlater\n", "t\0o\0k\0\n") {
        Tenure::Instance::write_file($file, $_);
        like $none->with(TENURE_TOKEN => 'env')->ends(66, qw(configmaps show x --token-file), $file)->{err}, qr/^tenure: \Q$file\E holds no token: its first line /, 'one without a token';
    }
    $none->ends(66, qw(configmaps show x --token-file /nonexistent));
    $none->ends(78, qw(configmaps show x --token-file), $work);
    unlike $none->with(TENURE_TOKEN => 'env')->ends(0, qw(configmaps set x --no-etag --dry-run))->{out}, qr/env/,
        '--dry-run does not print it';
};

subtest 'the file of settings' => sub {
    my $url  = serve($ok);
    my $tool = Tenure::Tool->new;
    my $file = $tool->home . '/.config/tenure/config';
    mkdir $_ for $tool->home . '/.config', $tool->home . '/.config/tenure';
    my $set = sub { my ($mode, $text) = @_; Tenure::Instance::write_file($file, $text); chmod $mode, $file };
    $set->(0644, "# mine\n[tenure]\nurl = $url\n tenant=acme\r\nformat = json\n");
    like $tool->ends(0, qw(configmaps show x))->{out}, qr/\A\{/, 'url, tenant and format';
    like +(requests())[-1], qr{\AGET /v2\.0/acme/}, 'are taken';
    is $tool->with(TENURE_TENANT => 'other')->run(qw(configmaps show x --format csv))->{code}, 0, 'the environment';
    like +(requests())[-1], qr{\AGET /v2\.0/other/}, 'comes before it';
    $set->(0664, "url = $url\n");
    $tool->ends(77, qw(configmaps show x -t t));
    $set->(0644, "url = $url\ntoken = secret\n");
    like $tool->ends(77, qw(configmaps show x -t t))->{err}, qr/holds a token/, 'with a token it is for nobody else to read';
    $set->(0600, "url = $url\ntoken = secret\n");
    $tool->ends(0, qw(configmaps show x -t t));
    is +((requests())[-1] =~ $shown)[0], 'secret', 'then it is used';
    $set->(0600, "url = $url\nnonsense = 1\n");
    like $tool->ends(78, qw(configmaps show x -t t))->{err}, qr/config:2: /, 'what is no setting is told with its line';
    unlink $file;
    $tool->ends(64, qw(configmaps show x -t t));
};

subtest 'a document that is too large' => sub {
    open my $large, '>', "$work/large" or die "large: $!";
    truncate $large, 65 * 1024 * 1024 or die "large: $!";
    like tool(serve($ok))->ends(66, qw(configmaps set x --no-etag --file), "$work/large")->{err}, qr{/large: File too large$}m, 'is said to be';
};

# Rows that are refused for now are not refused for good.
subtest 'an import that is sent too fast' => sub {
    Tenure::Instance::write_file("$work/rows.ndjson", join '', map { qq({"kind":"ConfigMap","metadata":{"name":"$_"},"v":1}\n) } 'a' .. 'c');
    my $limited = answer(429, '{"title":"Too many requests","status":429}', 'Retry-After: 0');
    like tool(serve(answer(201, $doc), $limited, answer(201, $doc)))->ends(0, 'import', "$work/rows.ndjson", qw(--format json))->{out}, qr/"created": 3,/, 'it goes on';
    like tool(serve(answer(201, $doc), $limited))->ends(69, 'import', "$work/rows.ndjson")->{err}, qr/--skip 1\b/, 'or stops at the row';
};

# Between the refusal of a row and the look at what is there, somebody deletes that.
subtest 'an import of what was just deleted' => sub {
    Tenure::Instance::write_file("$work/rows.ndjson", qq({"kind":"ConfigMap","metadata":{"name":"x"},"v":1}\n));
    for my $gone (404, 410) {
        my $url = serve(answer(412, '{"title":"Precondition failed","status":412}'), answer($gone, qq({"title":"Gone","status":$gone})), $ok);
        like tool($url)->ends(0, 'import', "$work/rows.ndjson", qw(--format json))->{out}, qr/"created": 1,/, "the look is answered $gone";
        is_deeply [map { /\A(\w+)/ } requests()], [qw(PUT GET PUT)], '... and it is made';
    }
};

done_testing;
