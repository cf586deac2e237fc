#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# JSON Web Tokens behind the other web servers, with keys of a file, or fetched: a good token, what an adversary sends in its place, and
# keys that change.
use strict;
use warnings;

use File::Basename ();
use lib File::Basename::dirname(__FILE__) . '/lib';

use Digest::SHA ();
use File::Temp ();
use JSON::PP ();
use MIME::Base64 ();
use Test::More;

use Tenure::Client;
use Tenure::Instance;
use Tenure::Issuer;
use Tenure::Run qw(write_file);

my $issuer = Tenure::Issuer->start;
$issuer->make_key($_, 'RS256') for qw(rsa);
$issuer->make_key($_, 'ES256') for qw(ec next stranger);
my $folder = File::Temp->newdir('tenure-jwt-XXXXXX', TMPDIR => 1, CLEANUP => 1);
chmod 0755, "$folder"; # Apache's user reads the keys
my %red = (tenant => 'red', roles => ['member']);

sub encode { return MIME::Base64::encode_base64url($_[0]) }

# What an adversary has: good tokens of others, the public keys, and a key of his own. [ what, token ].
sub hostile {
    my ($good) = @_;
    my @part   = split /\./, $good;
    my $claims = JSON::PP->new->canonical->encode({ iss => $issuer->url, aud => 'tenure', sub => 'eve', exp => time + 600, tenant => 'red', roles => ['admin'] });
    my $mac    = encode('{"alg":"HS256","typ":"JWT","kid":"rsa"}') . '.' . encode($claims);
    my @cases  = (
        [ 'another issuer',       $issuer->token('rsa', %red, iss => 'https://other.example.org') ],
        [ 'another audience',     $issuer->token('rsa', %red, aud => 'elsewhere') ],
        [ 'no audience',          $issuer->token('rsa', %red, aud => undef) ],
        [ 'expired',              $issuer->token('rsa', %red, exp => time - 60) ],
        [ 'no expiry',            $issuer->token('rsa', %red, exp => undef) ],
        [ 'not valid yet',        $issuer->token('rsa', %red, nbf => time + 600) ],
        [ 'a key of his own',     $issuer->token('stranger', %red) ],
        [ '... under a known id', $issuer->token('stranger', %red, header => { kid => 'rsa' }) ],
        [ '... in the header',    $issuer->token('stranger', %red, header => { jwk => $issuer->{keys}{stranger}{jwk} }) ],
        [ 'other claims',         "$part[0]." . encode($claims) . ".$part[2]" ],
        [ 'no signature',         "$part[0].$part[1]." ],
        [ 'two parts',            "$part[0].$part[1]" ],
        [ 'empty',                '..' ],
        [ 'crit',                 $issuer->token('rsa', %red, header => { crit => ['b64'], b64 => JSON::PP::false() }) ],
        [ 'a tenant that is a list', $issuer->token('rsa', %red, tenant => [ 'red', 'blue' ]) ],
        [ 'a user with NUL',      $issuer->token('rsa', %red, sub => "ann\0eve") ],
    );
    push @cases, [ "alg $_", encode(qq({"alg":"$_","typ":"JWT"})) . '.' . encode($claims) . '.' ] for qw(none None);
    push @cases, [ 'HS256 with a public key as secret', "$mac." . encode(Digest::SHA::hmac_sha256($mac, $_)) ]
        for $issuer->{keys}{rsa}{pem}, $issuer->jwks('rsa');
    return @cases;
}

# The keys of a file: a JSON Web Key Set, or PEM. They have no ids in PEM, and each is tried.
my %keys_file = (
    'apache-fcgid' => sub { return $issuer->jwks(@_) },
    'apache-proxy' => sub { return join '', map { $issuer->{keys}{$_}{pem} } @_ },
);

# Apache's user reads the file, whatever the umask is, and never a part of it.
sub write_keys {
    my ($file, $text) = @_;
    write_file("$file.new", $text);
    chmod 0644, "$file.new";
    rename "$file.new", $file or die "$file: $!\n";
    return;
}

for my $server (qw(apache-fcgid apache-proxy nginx)) {
    subtest $server => sub {
        my $program = $server =~ /apache/ ? 'apache2' : $server;
        plan skip_all => "$program is not installed" unless Tenure::Instance::on_path($program);
        plan skip_all => 'mod_fcgid is not installed' if $server eq 'apache-fcgid' && !-e '/usr/lib/apache2/modules/mod_fcgid.so';
        my $file = "$folder/$server.keys";
        $issuer->publish(qw(rsa ec));
        write_keys($file, $keys_file{$server}->(qw(rsa ec))) if $keys_file{$server};
        my $instance = Tenure::Instance->start(server => $server, auth => 'token', allow => [qr/JWT: /, qr/answered 503 \(unavailable\)/],
            settings => { 'endpoint service.auth' => 'jwt,token', 'jwt.issuer' => $issuer->url, 'jwt.audience' => 'tenure', 'jwt.leeway' => 5,
                'jwt.keys_retry' => 1, 'jwt.timeout' => 20, 'jwt.create_tenants' => 'yes', ($keys_file{$server} ? ('jwt.keys_file' => $file) : ()) });
        my $client = Tenure::Client->new(url => $instance->env('TENURE_SERVICE_URL'));
        my $ask = sub { return $client->get($_[1] // '/v2.0/red/persistentvolumes/v1', headers => { Authorization => "Bearer $_[0]" }) };
        $issuer->forget_log;

        my $good = $issuer->token('rsa', %red);
        is $client->put('/v2.0/red/persistentvolumes/v1', json => { n => 1 }, headers => { Authorization => "Bearer $good" })->status, 201, 'a good token writes';
        is $ask->($good)->status, 200, '... and reads, whoever answers' for 1 .. 3;
        is $ask->($issuer->token('ec', %red))->status, 200, 'a key of another kind';
        is $client->get('/v2.0/red/persistentvolumes/v1', headers => { 'X-Auth-Token' => $instance->operator_token })->status, 200, 'a token of tenure-manage beside';
        for my $case (hostile($good)) {
            my $answer = $ask->($case->[1]);
            is $answer->status, 401, "$case->[0]: refused";
            like $answer->header('WWW-Authenticate'), qr/\ABearer realm="tenure"/, '... with the challenge';
        }
        is $ask->($issuer->token('rsa', tenant => 'blue', roles => ['admin']))->status, 404, 'a user of another tenant finds nothing';
        is $ask->($issuer->token('rsa', tenant => 'blue', roles => ['admin']), '/v2.0/blue/persistentvolumes')->status, 200, '... but what is his own';
        is $ask->($issuer->token('rsa', tenant => 'system', roles => ['admin']), '/v2.0/system/persistentvolumes')->status, 403, 'a reserved name is no tenant';
        is $ask->($issuer->token('rsa', tenant => 'red', roles => [ 'operator', 'admin' ]), '/v2.0/blue/persistentvolumes')->status, 404, 'no role of a token makes an operator';
        is $client->get('/v2.0/red/persistentvolumes/v1', headers => { 'X-Remote-User' => 'ann', 'X-Tenant' => 'red', 'X-Roles' => 'admin' })->status, 401, 'nor do headers make a user';

        # The key ec goes, and the key next comes.
        my ($old, $new) = map { $issuer->token($_, %red, sub => 'bob') } qw(ec next);
        is $ask->($new)->status, 401, 'a key that is not published yet';
        if ($keys_file{$server}) {
            is $issuer->log, '', 'with a file of keys the issuer is not asked';
            write_keys($file, $keys_file{$server}->(qw(rsa next)));
            # Without a master, the processes that mod_fcgid starts after a restart read the file.
            my $pid = $instance->master_pid('service');
            kill 'HUP', $pid if $pid;
            restart_apache($instance) if !$pid;
        } else {
            $issuer->publish(qw(rsa next));
        }
        ok Tenure::Instance::wait_until(sub { $ask->($issuer->token('next', %red))->status == 200 }), 'a new key is good when it is there';
        ok Tenure::Instance::wait_until(sub { $ask->($old)->status == 401 }), '... and one that has gone is good no longer';
        is $ask->($good)->status, 200, '... while the one that stayed is';
        $instance->stop;
    };
}

sub restart_apache {
    my ($instance) = @_;
    my $text = Tenure::Instance::read_file($instance->dir . '/httpd/apache.pid');
    kill 'USR1', $text =~ /(\d+)/;
    return;
}

done_testing();
