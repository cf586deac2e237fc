# SPDX-License-Identifier: Apache-2.0
# OpenStack's Identity service v3 as far as an authenticator asks it, for tests: on loopback, in processes of its own, and doing wrong
# what it is told to do wrong.
#
#   my $keystone = Tenure::FakeKeystone->start;
#   $keystone->token('T1', project => 'p' x 32, roles => ['member']);
#   $keystone->count('validate T1');      # how often the token was validated
#   $keystone->mode('hang');              # ok, slow, lame (1.3 s), hang, error, huge, cut, deep, text, redirect, forbidden, strange
package Tenure::FakeKeystone;

use strict;
use warnings;

use File::Temp ();
use IO::Socket::INET;
use JSON::PP ();
use POSIX ();
use Time::HiRes ();

my $json = JSON::PP->new->utf8->canonical;
my @running;
my $owner = $$;

sub _write {
    my ($file, $text) = @_;
    open my $out, '>', "$file.new" or die "$file: $!";
    print $out $text;
    close $out or die "$file: $!";
    rename "$file.new", $file or die "$file: $!";
    return;
}

sub _read {
    my ($file) = @_;
    open my $in, '<', $file or return undef;
    local $/;
    return scalar <$in>;
}

sub start {
    my ($class, %option) = @_;
    my $dir = File::Temp->newdir('tenure-keystone-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $self = bless { dir => "$dir", holder => $dir, port => $option{port} }, $class;
    mkdir "$dir/$_" or die "$dir/$_: $!" for qw(tokens own);
    $self->mode('ok');
    _write("$dir/life", 3600);
    $self->listen;
    push @running, $self;
    return $self;
}

sub url  { return "http://127.0.0.1:$_[0]{port}/v3" }
sub mode { my ($self, $mode) = @_; _write("$self->{dir}/mode", $mode); return }
# Seconds that the service user's next token lives.
sub own_life { my ($self, $seconds) = @_; _write("$self->{dir}/life", $seconds); return }
# Revokes all tokens of the service user.
sub revoke_own { my ($self) = @_; unlink glob "$self->{dir}/own/*"; return }
sub revoke { my ($self, $token) = @_; unlink "$self->{dir}/tokens/$token"; return }

# A token that is valid from now on. Members: user, user_name, project, project_name, roles, system, life (seconds), rules, and "answer",
# which is given word for word.
sub token {
    my ($self, $name, %is) = @_;
    _write("$self->{dir}/tokens/$name", $json->encode({ life => 3600, roles => [], %is, at => time }));
    return;
}

sub log { return _read("$_[0]{dir}/log") // '' }
sub count { my ($self, $line) = @_; return scalar grep { $_ eq $line } split /\n/, $self->log }
sub forget_log { my ($self) = @_; unlink "$self->{dir}/log"; return }

sub listen {
    my ($self) = @_;
    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $self->{port} // 0, Listen => 64, Proto => 'tcp',
        ReuseAddr => 1) or die "keystone: $!";
    $self->{port} = $socket->sockport;
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        $SIG{$_} = 'DEFAULT' for qw(TERM INT);
        $SIG{CHLD} = 'IGNORE';
        while (1) {
            my $client = $socket->accept or next;
            my $child = fork // next;
            if ($child) { close $client; next }
            close $socket;
            eval { $self->_serve($client) };
            POSIX::_exit(0);
        }
    }
    $self->{pid} = $pid;
    return;
}

# Connections are refused from now on.
sub stop {
    my ($self) = @_;
    return if !$self->{pid};
    kill 'CONT', $self->{pid};
    kill 'KILL', $self->{pid};
    waitpid $self->{pid}, 0;
    $self->{pid} = undef;
    return;
}

# It accepts connections and answers nothing; go on: it does again.
sub freeze { kill 'STOP', $_[0]{pid}; return }
sub thaw   { kill 'CONT', $_[0]{pid}; return }

END {
    if ($owner == $$) {
        local $?;
        $_->stop for @running;
    }
}

sub _log {
    my ($self, $line) = @_;
    open my $out, '>>', "$self->{dir}/log" or die "log: $!";
    syswrite $out, "$line\n";
    close $out;
    return;
}

sub _answer {
    my ($client, $status, $body, @headers) = @_;
    my $text = ref $body ? $json->encode($body) : $body;
    print $client "HTTP/1.1 $status X\r\nContent-Type: application/json\r\nContent-Length: @{[length $text]}\r\nConnection: close\r\n",
        (map { "$_\r\n" } @headers), "\r\n", $text;
    close $client;
    return;
}

sub _time { return POSIX::strftime('%Y-%m-%dT%H:%M:%S.000000Z', gmtime $_[0]) }

sub _login {
    my ($self, $client, $body) = @_;
    my $asked = eval { $json->decode($body) } or return _answer($client, 400, {});
    my $identity = $asked->{auth}{identity};
    my $user = $identity->{password}{user} // {};
    my $credential = $identity->{application_credential} // {};
    my $good = ($user->{name} // '') eq 'tenure' && ($user->{password} // '') eq 'secret' && $user->{domain}{name} eq 'Default'
        && $asked->{auth}{scope}{project}{name} eq 'service'
        || ($credential->{id} // '') eq 'cred' && ($credential->{secret} // '') eq 'secret';
    $self->_log($good ? 'login' : 'wrong login');
    return _answer($client, 401, { error => { code => 401, title => 'Unauthorized' } }) if !$good;
    my $token = sprintf 'own-%d-%d', $$, int(Time::HiRes::time() * 1e6);
    my $life = _read("$self->{dir}/life");
    _write("$self->{dir}/own/$token", time + $life);
    return _answer($client, 201, { token => { expires_at => _time(time + $life), user => { id => 'tenure' } } },
        "X-Subject-Token: $token");
}

sub _body_of {
    my ($is) = @_;
    return $is->{answer} if defined $is->{answer};
    my %token = (
        user => { id => $is->{user} // 'u1', name => $is->{user_name} // 'ann', domain => { id => 'default', name => 'Default' } },
        methods => ['password'], audit_ids => ['a'], issued_at => _time($is->{at}), expires_at => _time($is->{at} + $is->{life}),
    );
    $token{roles} = [map { { id => "id-$_", name => $_ } } @{ $is->{roles} }] if $is->{project} || $is->{system} || $is->{domain};
    $token{project} = { id => $is->{project}, name => $is->{project_name} // 'red', domain => { id => 'default', name => 'Default' } }
        if $is->{project};
    $token{system} = { all => JSON::PP::true } if $is->{system};
    $token{domain} = { id => $is->{domain}, name => 'D' } if $is->{domain};
    $token{application_credential} = { id => 'c', name => 'c', restricted => JSON::PP::true, access_rules => $is->{rules} } if $is->{rules};
    return { token => \%token };
}

# What stands in for a good answer.
sub _wrong {
    my ($client, $mode) = @_;
    return _answer($client, 500, { error => { code => 500 } }) if $mode eq 'error';
    return _answer($client, 403, { error => { code => 403 } }) if $mode eq 'forbidden';
    return _answer($client, 200, '[' x 100_000 . ']' x 100_000) if $mode eq 'deep';
    return _answer($client, 200, '<html>welcome to the internet café</html>') if $mode eq 'text';
    return _answer($client, 200, { token => { user => {}, roles => 'admin', expires_at => 'soon' } }) if $mode eq 'strange';
    return _answer($client, 302, '', 'Location: http://127.0.0.1:1/v3/auth/tokens') if $mode eq 'redirect';
    if ($mode eq 'cut') {
        print $client "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{\"token\": {\"user\":";
        close $client;
        return;
    }
    if ($mode eq 'huge') { # 256 MiB, if somebody takes it
        local $SIG{PIPE} = 'IGNORE';
        print $client "HTTP/1.1 200 OK\r\n\r\n{\"token\": {\"x\":\"";
        for (1 .. 4096) { print $client 'x' x 65536 or last }
        close $client;
        return;
    }
    sysread $client, my $byte, 1; # hang, until the client gives up
    return;
}

sub _validate {
    my ($self, $client, $header, $query) = @_;
    my $token = $header->{'x-subject-token'} // '';
    my $mode = _read("$self->{dir}/mode");
    $self->_log("validate $token");
    my $own = ($header->{'x-auth-token'} // '') =~ /\A(own-[-\d]+)\z/ ? _read("$self->{dir}/own/$1") : undef;
    if (!defined $own || $own <= time) {
        $self->_log('own token refused');
        return _answer($client, 401, { error => { code => 401 } });
    }
    return _wrong($client, $mode) if $mode !~ /\A(?:ok|slow|lame)\z/;
    Time::HiRes::sleep($mode eq 'slow' ? 0.5 : 1.3) if $mode ne 'ok';
    my $text = $token =~ m{\A[-\w.]+\z} ? _read("$self->{dir}/tokens/$token") : undef;
    my $is = defined $text ? $json->decode($text) : undef;
    my $over = $is && $is->{at} + $is->{life} <= time && !$is->{never};
    $is = undef if $over && $query !~ /\ballow_expired=1/;
    $is = undef if $is && $is->{rules} && ($header->{'openstack-identity-access-rules'} // '') ne '1.0';
    return _answer($client, 404, { error => { code => 404, title => 'Not Found' } }) if !$is;
    return _answer($client, 200, _body_of($is));
}

sub _serve {
    my ($self, $client) = @_;
    my ($head, %header) = ('');
    while ($head !~ /\r\n\r\n/) { sysread $client, $head, 16384, length $head or return }
    ($head, my $body) = split /\r\n\r\n/, $head, 2;
    my ($line, @lines) = split /\r\n/, $head;
    for (@lines) { $header{ lc $1 } = $2 if /\A([^:]+):\s*(.*)\z/ }
    while (length $body < ($header{'content-length'} // 0)) { sysread $client, $body, 16384, length $body or return }
    my ($method, $target) = split / /, $line;
    my ($path, $query) = split /\?/, $target, 2;
    $client->autoflush(1);
    return $self->_validate($client, \%header, $query // '') if $method eq 'GET' && $path eq '/v3/auth/tokens';
    return $self->_login($client, $body) if $method eq 'POST' && $path eq '/v3/auth/tokens';
    $self->_log('version');
    sysread $client, my $byte, 1 if _read("$self->{dir}/mode") eq 'hang';
    return _answer($client, 200, { version => { id => 'v3.14', status => 'stable' } }) if $path eq '/v3';
    return _answer($client, 404, {});
}

1;
