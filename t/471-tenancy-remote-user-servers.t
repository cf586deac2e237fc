#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Users whom the web server authenticates, behind each web server: nobody becomes one by what a client sends, neither where
# the web server authenticates nobody (the shipped files as they are) nor where it does (their lines for auth = remote-user).
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp   ();
use JSON::PP     ();
use MIME::Base64 ();
use POSIX        ();
use Test::More;

use Tenure::Instance;
use Tenure::Parallel;
use Tenure::Ports qw(start_on_ports);
use Tenure::Raw;
use Tenure::RemoteUser;
use Tenure::Run qw(read_file wait_until write_file);

use constant CLIENTS => 12;

my $secret = 'f00dfeed' x 8;
my $log    = qr/the web server sent REMOTE_USER with(?:out| another)/;

sub basic { return 'Authorization: Basic ' . MIME::Base64::encode_base64($_[0], '') }

# Header fields by which a client might say who it is, in the forms that web servers, gateways and CGI know.
my @names = ('Remote-User', 'Remote_User', 'REMOTE_USER', 'remote-user', 'X-Remote-User', 'X_REMOTE_USER', 'HTTP_REMOTE_USER',
    'HTTP-Remote-User', 'REDIRECT_REMOTE_USER', 'Redirect-Remote-User', 'X-Forwarded-User', 'X-Forwarded-Preferred-Username',
    'X-WebAuth-User', 'X-Auth-Request-User', 'Proxy-User', 'Auth-User', 'Auth-Type', 'From', 'SSL-Client-S-DN',
    'Remote.User', 'Remote-User ', 'env.REMOTE_USER');
my @secret_names = ('Tenure-Remote-User-Secret', 'Tenure_Remote_User_Secret', 'TENURE_REMOTE_USER_SECRET',
    'HTTP_TENURE_REMOTE_USER_SECRET', 'X-Tenure-Remote-User-Secret', 'REDIRECT_TENURE_REMOTE_USER_SECRET');

# Every attempt is one request: a name for the user, the secret itself under each name it could travel by, both at once.
sub attempts {
    my ($password) = @_;
    my @basic = ([ basic("olga:$password") ], [ basic('olga:') ], [ 'Authorization: basic ' . MIME::Base64::encode_base64('olga', '') ],
        [ 'Authorization: Digest username="olga", realm="Tenure operators", nonce="x", uri="/v2.0", response="x"' ],
        [ 'Proxy-' . basic("olga:$password") ]);
    my @attempts = ([], @basic);
    push @attempts, map { [ "$_: olga" ], [ "$_: olga", basic("olga:$password") ] } @names;
    for my $name (@secret_names) {
        push @attempts, [ "$name: $secret" ], [ "$name: $secret", basic("olga:$password") ],
            [ "$name: $secret", map { "$_: olga" } 'Remote-User', 'Remote_User', 'HTTP_REMOTE_USER' ];
    }
    return @attempts;
}

# The statuses that attempts get which a web server or tenured must refuse.
sub strangers {
    my ($url, $password, $what) = @_;
    my @attempts = attempts($password);
    # At once, since a web server may take a second to refuse a wrong password (lighttpd does).
    my @found = Tenure::Parallel::run(CLIENTS, sub {
        my ($client) = @_;
        my %told;
        for my $attempt (map { $attempts[$_] } grep { $_ % CLIENTS == $client } 0 .. $#attempts) {
            my $answer = Tenure::Raw::get($url, '/v2.0', headers => $attempt);
            # 400: the web server refuses the header field itself.
            next if $answer->status == 401 || ($answer->status == 400 && grep { /[_. ][^:]*:|\A\S+ :|: basic / } @$attempt);
            $told{ join '; ', @$attempt } = $answer->status;
        }
        return JSON::PP::encode_json(\%told);
    });
    my %told = map { defined ? %{ JSON::PP::decode_json($_) } : ('a client that died' => 1) } @found;
    for my $target ('http://olga:o-secret@localhost/v2.0', 'http://olga@localhost/v2.0') {
        my $answer = Tenure::Raw::get($url, $target);
        $told{$target} = $answer->status unless $answer->status == 401 || $answer->status == 400;
    }
    ok !%told, "$what: nobody becomes somebody" or diag explain \%told;
    return;
}

for my $server (qw(lighttpd nginx apache-proxy apache-fcgid)) {
    subtest $server => sub {
        my $instance = Tenure::Instance->start(server => $server, allow => [$log]);
        $instance->admin->make_tenant('t1');
        my %users = (olga => 'o-secret', "\x{f3}scar" => 'x');

        my $open = Tenure::RemoteUser->start($instance, name => 'open', secret => $secret);
        strangers($open->url, 'o-secret', 'the shipped files as they are');
        strangers($open->url, 'wrong',    'with a wrong password');
        is(Tenure::Raw::get($open->url, '/healthz', headers => [ basic('olga:o-secret') ])->status, 401,
            'nor where nobody in particular may ask');
        $open->stop;

        my $closed = Tenure::RemoteUser->start($instance, name => 'closed', secret => $secret, authenticate => \%users);
        strangers($closed->url, 'wrong', 'the lines for auth = remote-user');
        Tenure::Raw::get($closed->url, '/v2.0', headers => [ basic('olga:o-secret') ])->is_status(200, 'a user with the password');
        Tenure::Raw::request($closed->url, 'PUT', '/v2.0/t2', headers => [ basic('olga:o-secret') ], body => '')
            ->is_status(201, 'an operator');
        is $instance->sql_value("SELECT actor FROM changes c JOIN tenants t ON t.id = c.tenant_id WHERE t.name = 't2'"), 'olga',
            'the change log names the user';
        Tenure::Raw::get($closed->url, '/v2.0', headers => [ basic('olga:o-secret'), 'Remote-User: root', 'X-Auth-Token: admin' ])
            ->is_status(200, 'and stays who the password says');
        $closed->stop;

        my $other = Tenure::RemoteUser->start($instance, name => 'other', secret => $secret, authenticate => \%users,
            sent => 'deadbeef' x 8);
        Tenure::Raw::get($other->url, '/v2.0', headers => [ basic('olga:o-secret') ])
            ->is_problem(401, 'unauthenticated', 'another secret is none');
        $other->stop;
        $instance->stop;
    };
}

# What the page says of the file that root alone may read, with a configuration of nothing else.
subtest 'lighttpd reads its files again as its own user' => sub {
    plan skip_all => 'only root becomes somebody else' if $> != 0;
    my $dir = File::Temp->newdir('tenure-lighttpd-XXXXXX', TMPDIR => 1);
    chmod 0755, "$dir" or die "$dir: $!";
    mkdir "$dir/remote-user", 0700 or die "$dir/remote-user: $!";
    write_file("$dir/remote-user/lighttpd-admin.conf", qq(setenv.set-response-header = ( "Secret" => "sent" )\n));
    my $port;
    my $start = sub {
        my ($free) = @_;
        $port = $free;
        write_file("$dir/lighttpd.conf", qq(server.modules = ( "mod_setenv" )\nserver.document-root = "$dir"\nserver.bind = "127.0.0.1"\nserver.port = $port\n)
            . qq(server.username = "www-data"\nserver.groupname = "www-data"\ninclude "$dir/remote-user/lighttpd-admin.conf"\n));
        my $pid = fork // die "fork: $!";
        return $pid if $pid;
        local $ENV{PATH} = "$ENV{PATH}:/usr/sbin:/sbin";
        open STDERR, '>>', "$dir/log" or POSIX::_exit(126);
        exec 'lighttpd', '-D', '-f', "$dir/lighttpd.conf" or POSIX::_exit(127);
    };
    my $serves = sub { my $answer = eval { Tenure::Raw::get("http://127.0.0.1:$port", '/', seconds => 5) }; return $answer && ($answer->header('Secret') // '') eq 'sent' };
    my $pid = start_on_ports(1, $start, $serves);
    ok $pid, 'it reads the file when it starts' or return diag read_file("$dir/log");
    kill 'USR1', $pid;
    ok wait_until(sub { waitpid($pid, POSIX::WNOHANG()) == $pid }), 'a reload ends it';
    like read_file("$dir/log"), qr{include file not found: \S*/remote-user/lighttpd-admin\.conf}, '... for want of that file';
    $pid = start_on_ports(1, $start, $serves);
    ok $pid, 'it serves when it is started again';
    kill 'TERM', $pid if $pid;
    waitpid $pid, 0 if $pid;
};

subtest 'nginx, with the parameter for every location, as its file had it' => sub {
    my $instance = Tenure::Instance->start(server => 'nginx', allow => [$log]);
    my $old = Tenure::RemoteUser->start($instance, name => 'old', secret => $secret,
        edit => sub { return $_[0] =~ s/^(fastcgi_param REMOTE_ADDR)/fastcgi_param REMOTE_USER \$remote_user;\n$1/mr });
    strangers($old->url, 'o-secret', 'an old nginx-params.conf');
    my $answer = Tenure::Raw::get($old->url, '/v2.0', headers => [ basic('olga:o-secret') ]);
    like $answer->detail, qr/TENURE_REMOTE_USER_SECRET/, 'the answer says what is missing';
    my @lines = $old->log_text =~ /($log.*)/g;
    ok @lines >= 1 && @lines < 30, 'the log, too, once a minute and worker' or diag scalar @lines;
    $old->stop;
};

subtest 'a configuration without the secret' => sub {
    my $instance = Tenure::Instance->start;
    for my $bad ('', "remote_user_secret = short\n", "remote_user_secret = sixteen or more \"blanks\"\n") {
        my $file = Tenure::RemoteUser::write_config($instance, 'bad', $bad);
        my ($code, $text) = Tenure::Run::run(Tenure::Instance::build_dir() . '/tenured', '-c', $file, '-e', 'admin');
        is $code, 78, 'tenured does not start';
        like $text, qr/endpoint admin: .*remote_user_secret.*openssl rand -hex 32/, 'and says what to do';
        ($code, $text) = Tenure::Run::run(Tenure::Instance::build_dir() . '/tenure-manage', '-c', $file, 'config', 'check');
        is $code, 78, 'config check finds it';
        like $text, qr/\[endpoint admin\].*remote_user_secret/, 'and names the setting';
        ($code, $text) = Tenure::Run::run(Tenure::Instance::build_dir() . '/tenure-manage', '-c', $file, 'doctor');
        like $text, qr/warning: tenured does not start: endpoint admin: .*remote_user_secret/, 'doctor tells of it';
    }
    my $file = Tenure::RemoteUser::write_config($instance, 'good', "remote_user_secret = $secret\n");
    my ($code, $text) = Tenure::Run::run(Tenure::Instance::build_dir() . '/tenure-manage', '-c', $file, 'config', 'show');
    is $code, 0, 'config show';
    unlike $text, qr/$secret/, 'hides the secret';
    $instance->stop;
};

done_testing;
