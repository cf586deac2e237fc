#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Certificates of clients, verified by each web server: whom they stand for, which are refused, and that nothing that a client sends becomes
# one; and tokens of an issuer that are bound to a certificate.
use strict;
use warnings;

use File::Basename ();
use lib File::Basename::dirname(__FILE__) . '/lib';

use Digest::SHA ();
use File::Temp ();
use MIME::Base64 ();
use POSIX ();
use Test::More;

use Tenure::Instance;
use Tenure::Issuer;
use Tenure::Run qw(read_file write_file);

# In a file, since mod_fcgid cuts variables of the environment at 127 bytes; users of all web servers can read it.
my $folder = File::Temp->newdir('tenure-map-XXXXXX', TMPDIR => 1, CLEANUP => 1);
chmod 0755, "$folder";
my $map = "$folder/map";
write_file("$folder/map", join "\n", 'uri spiffe://example.org/ns/{tenant}/sa/{user} member', 'subject CN={user},OU=ops,O=Example%2C%20Inc operator',
    'subject CN={user},O={tenant} reader', 'email {user}@{tenant}.example.org admin', '');
chmod 0644, $map; # Apache's user reads it

sub openssl {
    my (@words) = @_;
    my ($code, $text) = Tenure::Run::run('openssl', @words);
    die "openssl @words: $text" if $code != 0;
    return;
}

# Makes NAME.crt and NAME.key in the folder, by a certificate authority there.
sub certificate {
    my ($dir, $name, $subject, %option) = @_;
    my $ca = $option{ca} // 'ca';
    write_file("$dir/$name.ext", "basicConstraints=CA:FALSE\nextendedKeyUsage=clientAuth\n" . ($option{names} ? "subjectAltName=$option{names}\n" : ''));
    openssl(qw(req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -utf8 -keyout), "$dir/$name.key", '-out', "$dir/$name.csr", '-subj', $subject);
    my @times = $option{expired} ? (-days => 0) : (-days => 2);
    openssl(qw(x509 -req -in), "$dir/$name.csr", '-CA', "$dir/$ca.pem", '-CAkey', "$dir/$ca.key", '-CAcreateserial', @times, '-extfile', "$dir/$name.ext",
        '-out', "$dir/$name.crt");
    return;
}

# Status and body; status 0: there is no answer, as when the handshake fails.
sub ask {
    my ($at, $name, $path, %option) = @_;
    my @certificate = defined $name ? ('--cert', "$at->{tls}/$name.crt", '--key', "$at->{tls}/$name.key") : ();
    my ($code, $text) = Tenure::Run::run('curl', '-sS', '--http1.1', '--cacert', "$at->{tls}/ca.pem", @certificate, '-w', '\n%{http_code}',
        (map { ('-H', $_) } @{ $option{headers} // [] }), @{ $option{more} // [] }, "$at->{url}$path");
    my ($status) = $text =~ /(\d{3})\s*\z/;
    return ($status || 0, $text);
}
sub status { return (ask(@_))[0] }

my $issuer = Tenure::Issuer->start;
$issuer->make_key('k', 'ES256');
$issuer->publish('k');
my %by_jwt = ('jwt.issuer' => $issuer->url, 'jwt.audience' => 'tenure', 'jwt.create_tenants' => 'yes', 'jwt.timeout' => 20);

# The header field with a token of a member of red that is bound to the certificate NAME.
sub bound_to {
    my ($tls, $name) = @_;
    my ($pem) = read_file("$tls/$name.crt") =~ /BEGIN CERTIFICATE-----(.*)-----END/s;
    return 'Authorization: Bearer ' . $issuer->token('k', tenant => 'red', roles => ['member'],
        cnf => { 'x5t#S256' => MIME::Base64::encode_base64url(Digest::SHA::sha256(MIME::Base64::decode_base64($pem))) });
}

for my $server (qw(lighttpd nginx apache-proxy apache-fcgid)) {
    subtest $server => sub {
        my $program = $server =~ /apache/ ? 'apache2' : $server;
        plan skip_all => "$program is not installed" unless Tenure::Instance::on_path($program);
        plan skip_all => 'mod_fcgid is not installed' if $server eq 'apache-fcgid' && !-e '/usr/lib/apache2/modules/mod_fcgid.so';
        my $instance = Tenure::Instance->start(server => $server, auth => 'token', combined => 1, certificates => 1,
            allow => [qr/the web server sent SSL_CLIENT_VERIFY/],
            settings => { 'endpoint combined.auth' => 'jwt,certificate,token', 'certificate.map' => $map, 'certificate.create_tenants' => 'yes', %by_jwt });
        my $tls = $instance->dir . '/tls';
        my $at = { tls => $tls, url => $instance->env('TENURE_COMBINED_TLS_URL') };
        my $red = '/v2.0/red/persistentvolumes';
        openssl(qw(req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout), "$tls/other.key", '-out', "$tls/other.pem", '-subj',
            '/CN=Tenure quickstart CA');
        certificate($tls, 'ann', '/CN=ann', names => 'URI:spiffe://example.org/ns/red/sa/ann');
        certificate($tls, 'olga', '/O=Example, Inc/OU=ops/CN=olga');
        certificate($tls, 'reader', "/O=red/CN=J\xc3\xb6rg, the \"reader\" + x=y");
        certificate($tls, 'blue', '/O=blue/CN=ann');
        certificate($tls, 'several', '/CN=x', names => 'email:a@red.example.org,email:b@red.example.org');
        certificate($tls, 'one', '/CN=x', names => 'email:a@red.example.org,DNS:b.blue.example.org,email:a@elsewhere.org');
        certificate($tls, 'nobody', '/O=red/OU=x/CN=ann');
        certificate($tls, 'slash', '/O=red\\/OU=ops/CN=ann');
        certificate($tls, 'system', '/O=system/CN=ann');
        certificate($tls, 'expired', '/O=red/CN=ann', expired => 1);
        certificate($tls, 'foreign', '/O=red/CN=ann', ca => 'other');

        is status($at, 'ann', "$red/v1", more => [ qw(-X PUT -H), 'Content-Type: application/json', '-d', '{"n":1}' ]), 201, 'a member writes to his new tenant';
        is $instance->sql_value("SELECT actor FROM changes c JOIN tenants t ON t.id = c.tenant_id WHERE t.name = 'red' ORDER BY c.id DESC LIMIT 1"), 'ann',
            'the change log names him';
        is status($at, 'reader', "$red/v1"), 200, 'a name with commas, quotes and UTF-8 reads';
        is status($at, 'reader', "$red/v2", more => [ qw(-X PUT -d {}), '-H', 'Content-Type: application/json' ]), 403, '... and does no more';
        is status($at, 'blue', "$red/v1"), 404, 'the same name in another tenant finds nothing';
        is status($at, 'olga', '/v2.0'), 200, 'an operator';
        is status($at, 'ann', '/v2.0'), 403, 'a member is none';
        is status($at, 'one', "$red/v1"), 200, 'one of several alternative names fits';
        # A browser sends the certificate along with a form of another site, and says whose page it was.
        my @put = (more => [ qw(-X PUT -d {}), '-H', 'Content-Type: application/json' ]);
        for my $site (qw(cross-site same-site)) {
            my @from = (headers => ["Sec-Fetch-Site: $site"]);
            my ($code, $text) = ask($at, 'ann', "$red/v3", @put, @from);
            is $code, 403, "$site: no change";
            like $text, qr/a page of another site/, '... and why';
            is status($at, 'ann', "$red/v1/action/recover", more => [ qw(-X POST -d), '' ], @from), 403, '... nor a POST, as forms send it';
            is status($at, 'ann', "$red/v1", more => [qw(-X DELETE)], @from), 403, '... nor a deletion';
            is status($at, 'ann', "$red/v1", @from), 200, '... but a link leads here';
        }
        is status($at, 'ann', "$red/own-$_", @put, headers => ["Sec-Fetch-Site: $_"]), 201, "$_: the own pages and the user himself" for qw(same-origin none);
        is status($at, 'ann', "$red/v3", @put, headers => ["Origin: $_"]), 403, "Origin: $_: no change, where the browser says no more" for 'null', 'https://evil.example';
        my ($code, $text) = ask($at, 'several', "$red/v1");
        is $code, 401, 'two that name different users';
        like $text, qr/several names/, '... are told why';
        is status($at, 'nobody', "$red/v1"), 401, 'a subject with one attribute more than the rule has';
        is status($at, 'slash', "$red/v1"), 404, 'a separator within a value makes no attribute';
        is status($at, 'system', '/v2.0/system/persistentvolumes'), 403, 'a reserved name is no tenant';
        unlike status($at, 'expired', "$red/v1"), qr/\A[23]/, 'an expired certificate: refused';
        unlike status($at, 'foreign', "$red/v1"), qr/\A[23]/, 'that of another authority of the same name: refused';
        is status($at, undef, "$red/v1"), 401, 'none';
        is status($at, undef, '/v2.0', headers => [ 'X-Auth-Token: ' . $instance->operator_token ]), 200, '... and a token instead';

        my $token = bound_to($tls, 'ann');
        my @bound = (headers => [$token]);
        for my $turn ('read', 'and from the caches') {
            is status($at, 'ann', "$red/v1", @bound), 200, "a token with the certificate that it is bound to, $turn" for 1 .. 3;
            is status($at, 'olga', "$red/v1", @bound), 401, '... with that of somebody else' for 1 .. 3;
            is status($at, undef, "$red/v1", @bound), 401, '... with none' for 1 .. 3;
        }
        like((ask($at, 'olga', "$red/v1", more => ['-i'], @bound))[1], qr/error="invalid_token", error_description="the token is bound to another certificate/,
            '... and why');
        if ($server ne 'apache-fcgid') { # which begins no watches
            my ($watched, $told) = ask($at, 'ann', '/api/v1/configmaps?watch=true&timeoutSeconds=4', @bound);
            is $watched, 200, '... it begins a watch';
            unlike $told, qr/"ERROR"/, '... which goes on when the token is checked again';
        }

        # What a client sends itself, with and without a certificate of its own.
        my $secret = read_file("$instance->{dir}/certificate-secret") =~ s/\s//gr;
        my $pem = read_file("$tls/olga.crt") =~ s/\n/ /gr;
        my @names = ([ 'SSL_CLIENT_VERIFY', 'SSL_CLIENT_CERT', 'TENURE_CERTIFICATE_SECRET' ], [ 'SSL-CLIENT-VERIFY', 'SSL-CLIENT-CERT', 'TENURE-CERTIFICATE-SECRET' ],
            [ 'Ssl-Client-Verify', 'X-SSL-Client-Cert', 'X-Tenure-Certificate-Secret' ], [ 'HTTP_SSL_CLIENT_VERIFY', 'HTTP_SSL_CLIENT_CERT', 'HTTP_TENURE_CERTIFICATE_SECRET' ],
            [ 'REDIRECT_SSL_CLIENT_VERIFY', 'REDIRECT_SSL_CLIENT_CERT', 'REDIRECT_TENURE_CERTIFICATE_SECRET' ]);
        my $plain = { tls => $tls, url => $instance->env('TENURE_COMBINED_URL') };
        for my $names (@names) {
            my @headers = ("$names->[0]: SUCCESS", "$names->[1]: $pem", "$names->[2]: $secret");
            for my $case ([ $plain, undef, 'by http' ], [ $at, undef, 'by https' ], [ $at, 'ann', 'with a certificate of one\'s own' ]) {
                my ($where, $name, $how) = @$case;
                like status($where, $name, '/v2.0', headers => \@headers), qr/\A40[0-3]\z/, "$names->[0] sent by a client, $how";
                next if ($name // '') eq 'ann';
                $headers[1] = "$names->[1]: " . read_file("$tls/ann.crt") =~ s/\n/ /gr;
                like status($where, $name, "$red/v1", headers => [ @headers, $token ]), qr/\A40[0-3]\z/, '... beside a token that is bound to it';
            }
        }
        is status($plain, undef, "$red/v1", headers => ['SSL-Client-S-DN: O=red,CN=ann']), 401, 'nor does a subject become one';
        $instance->stop;
    };
}

# The web server's file of httpd-conf/ with the marks taken off as doc/operations.md says: TLS, then the lines of certificates.
sub without_marks {
    my ($text, $server) = @_;
    if ($server =~ /apache/) {
        $text =~ s{^(#<VirtualHost \*:443>\n.*?^#</VirtualHost>\n)}{$1 =~ s/^#//gmr}ems or die "no TLS in the file of $server";
        return $text =~ s/^\t#(SSL|Include "[^"]*certificates)/\t$1/gmr;
    }
    return $text =~ s/^\t#(listen 443|ssl_|fastcgi_param SSL_|include \S*certificates)/\t$1/gmr if $server eq 'nginx';
    $text =~ s{^(#server\.modules \+= \( "mod_openssl" \)\n.*?^#\}\n)}{$1 =~ s/^#//gmr}ems or die 'no TLS in the file of lighttpd';
    return $text =~ s/^\t#(ssl\.|include "[^"]*certificates)/\t$1/gmr;
}

# Starts another web server of that kind before the processes of the instance, by that file; returns its process and the port of its TLS.
sub by_shipped_file {
    my ($instance, $server) = @_;
    my ($dir, $own) = ($instance->dir, $instance->dir . '/shipped');
    Tenure::Run::run('cp', '-R', "$dir/httpd", $own);
    unlink "$own/apache.pid", "$own/nginx.pid"; # of the other one
    my %ports; # those that the other one has, and other ones for them
    for my $name (qw(SERVICE ADMIN)) {
        my ($port) = $instance->env("TENURE_${name}_URL") =~ /:(\d+)\z/;
        @ports{ $port, $port + 100 } = Tenure::Instance::free_ports(2);
    }
    my ($tls_port) = Tenure::Instance::free_ports(1);
    my $old = join '|', keys %ports;
    my %file = (nginx => 'frame.conf', lighttpd => 'lighttpd.conf');
    my $frame = read_file("$own/" . ($file{$server} // 'apache.conf')) =~ s/\b($old)\b/$ports{$1}/gr =~ s/\Q$dir\E\/httpd/$own/gr;
    my $shipped = $server eq 'apache-fcgid' ? 'apache-fcgid' : 'apache-proxy-fcgi';
    # For nginx and lighttpd quickstart has written the site's own values into the file, and for nginx its own TLS.
    my $text = $server =~ /apache/ ? read_file(Tenure::Instance::source_dir() . "/httpd-conf/$shipped.conf")
        : read_file("$own/tenure.conf") =~ s/\b($old)\b/$ports{$1}/gr =~ s/^(\tlisten 127\.0\.0\.1:\d+;).*$/$1/gmr;
    $text = without_marks($text, $server);

    # The file of one line, as the comment shows it.
    my ($line) = $text =~ /^\t#\s+((?:SetEnv|fastcgi_param|setenv\.set-environment =) .*TENURE_CERTIFICATE_SECRET.*)$/m or die "no line with the secret for $server";
    my ($name) = $text =~ m{^\t(?:I|i)nclude "?/etc/tenure/certificates/([\w-]+-service\.conf)}m or die "no file with the secret for $server";
    write_file("$own/$name", ($line =~ s/…/read_file("$dir\/certificate-secret") =~ s{\s}{}gr/er) . "\n");
    my %place = ('/etc/ssl/certs/tenure.pem' => "$dir/tls/server.crt", '/etc/ssl/private/tenure.key' => "$dir/tls/server.key",
        '/etc/ssl/certs/tenure-clients.pem' => "$dir/tls/ca.pem", '/etc/tenure/certificates' => $own);
    my $places = join '|', map { quotemeta } sort { length $b <=> length $a } keys %place;
    $text =~ s/($places)/$place{$1}/g;
    $text =~ s/\*:443>/127.0.0.1:$tls_port>/;                     # Debian's ports.conf listens on 443
    $text =~ s/^\tlisten 443 ssl;/\tlisten 127.0.0.1:$tls_port ssl;/m;
    $text =~ s/== ":443"/== "127.0.0.1:$tls_port"/;
    write_file("$own/tenure.conf", $text);
    $frame =~ s/^Include \S+\/httpd-conf\/\S+$/Listen 127.0.0.1:$tls_port\nInclude $own\/tenure.conf/m;
    $frame =~ s/^server\.modules \+= \( "mod_openssl" \)\n//m; # which the file has
    if ($server eq 'apache-fcgid') {
        my ($ipc) = $frame =~ /^FcgidIPCDir (\S+)$/m;
        mkdir "$own/ipc" or die "$own/ipc: $!";
        chown +(stat $ipc)[4, 5], "$own/ipc";
        chmod 0755, $own, "$own/ipc";
        $frame =~ s/^FcgidIPCDir .*/FcgidIPCDir $own\/ipc/m;
        $frame =~ s/^FcgidProcessTableFile .*/FcgidProcessTableFile $own\/table/m;
    }
    write_file("$own/frame", $frame);
    my @command = $server =~ /apache/ ? ('apache2', '-DFOREGROUND', '-f', "$own/frame") : $server eq 'nginx' ? ('nginx', '-p', $own, '-e', "$own/error.log", '-c', "$own/frame")
        : ('lighttpd', '-D', '-f', "$own/frame");
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        open STDERR, '>', "$own/said" or POSIX::_exit(127);
        local $ENV{PATH} = "$ENV{PATH}:/usr/sbin";
        exec @command or POSIX::_exit(127);
    }
    return ($pid, $tls_port);
}

subtest 'by the lines of httpd-conf' => sub {
    for my $server (qw(lighttpd nginx apache-proxy apache-fcgid)) {
        next if !Tenure::Instance::on_path($server =~ /apache/ ? 'apache2' : $server) || $server eq 'apache-fcgid' && !-e '/usr/lib/apache2/modules/mod_fcgid.so';
        my $instance = Tenure::Instance->start(server => $server, auth => 'token', certificates => 1,
            settings => { 'endpoint service.auth' => 'certificate,token', 'certificate.map' => $map, 'certificate.create_tenants' => 'yes' });
        my $tls = $instance->dir . '/tls';
        certificate($tls, 'ann', '/CN=ann', names => 'URI:spiffe://example.org/ns/red/sa/ann');
        my ($pid, $port) = by_shipped_file($instance, $server);
        my $at = { tls => $tls, url => "https://127.0.0.1:$port" };
        ok Tenure::Instance::wait_until(sub { status($at, 'ann', '/healthz') == 200 }), "$server: serves over TLS"
            or diag map { -e $_ ? read_file($_) : () } $instance->dir . '/shipped/said', $instance->dir . '/shipped/error.log';
        is status($at, 'ann', '/v2.0/red/persistentvolumes'), 200, '... a client with a certificate reads';
        is status($at, undef, '/v2.0/red/persistentvolumes'), 401, '... one without does not';
        kill TERM => $pid;
        waitpid $pid, 0;
        $instance->stop;
    }
};

subtest 'rules that are wrong' => sub {
    my ($code, $text) = (0, '');
    my $instance = Tenure::Instance->start(auth => 'token');
    for my $bad ('', 'subject CN={user} member', '/nowhere/to/be/found') {
        local @ENV{qw(TENURE_ENDPOINT_SERVICE_AUTH TENURE_CERTIFICATE_MAP TENURE_ENDPOINT_SERVICE_CERTIFICATE_SECRET)} = ('certificate', $bad, 'f00d' x 8);
        ($code, $text) = Tenure::Run::run(Tenure::Instance::build_dir() . '/tenure-manage', '-c', $instance->env('TENURE_CONFIG'), 'config', 'check');
        is $code, 78, "config check finds '$bad'";
        like $text, qr/\[certificate\] map: /, '... and says what is wrong';
    }
    local @ENV{qw(TENURE_ENDPOINT_SERVICE_AUTH TENURE_JWT_ISSUER TENURE_JWT_AUDIENCE TENURE_ENDPOINT_SERVICE_CERTIFICATE_SECRET)} =
        ('jwt', $issuer->url, 'tenure', 'short');
    ($code, $text) = Tenure::Run::run(Tenure::Instance::build_dir() . '/tenure-manage', '-c', $instance->env('TENURE_CONFIG'), 'config', 'check');
    is $code, 78, 'config check finds a secret that is too short for tokens that are bound to certificates';
    like $text, qr/certificate_secret must be 16 characters/, '... and says what is wrong';
    $instance->stop;
};

subtest 'a web server that does not vouch' => sub {
    my $instance = Tenure::Instance->start(server => 'nginx', auth => 'token', combined => 1, certificates => 1,
        allow => [qr/the web server sent SSL_CLIENT_VERIFY/],
        settings => { 'endpoint combined.auth' => 'jwt,certificate,token', 'certificate.map' => $map,
            'endpoint combined.certificate_secret' => 'another-secret-of-its-own', %by_jwt });
    my $tls = $instance->dir . '/tls';
    certificate($tls, 'olga', '/O=Example, Inc/OU=ops/CN=olga');
    my ($status, $text) = ask({ tls => $tls, url => $instance->env('TENURE_COMBINED_TLS_URL') }, 'olga', '/v2.0');
    is $status, 401, 'another secret is none';
    like $text, qr/TENURE_CERTIFICATE_SECRET/, 'the answer says what is missing';
    ($status, $text) = ask({ tls => $tls, url => $instance->env('TENURE_COMBINED_TLS_URL') }, 'olga', '/v2.0/red/persistentvolumes',
        headers => [bound_to($tls, 'olga')]);
    is $status, 401, 'nor does the certificate count for a token that is bound to it';
    like $text, qr/TENURE_CERTIFICATE_SECRET/, '... and the answer says what is missing';
    like $instance->log_text('combined'), qr/sent SSL_CLIENT_VERIFY with another TENURE_CERTIFICATE_SECRET/, 'and the log';
    $instance->stop;
};

done_testing();
