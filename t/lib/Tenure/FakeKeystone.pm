# SPDX-License-Identifier: Apache-2.0
# OpenStack's Identity service v3 as far as an authenticator asks it, for tests: on loopback, in processes of its own, and doing wrong
# what it is told to do wrong.
#
#   my $keystone = Tenure::FakeKeystone->start;
#   $keystone->token('T1', project => 'p' x 32, roles => ['member']);
#   $keystone->count('validate T1');      # how often the token was validated
#   $keystone->mode('hang');              # ok, slow, lame (1.3 s), late (6 s), hang, error, badrequest, huge, cut, deep, text, redirect, forbidden,
#                                       # strange, closed (to the service user)
#
# Tokens hanging-… are never answered.
package Tenure::FakeKeystone;

use strict;
use warnings;

use JSON::PP ();
use POSIX ();
use Time::HiRes ();

use parent 'Tenure::FakeService';

my $json = JSON::PP->new->utf8->canonical;

sub start {
    my ($class, %option) = @_;
    my $self = $class->SUPER::new('keystone', $option{port});
    mkdir "$self->{dir}/$_" or die "$self->{dir}/$_: $!" for qw(tokens own);
    $self->own_life(3600);
    return $self->begin;
}

sub url  { return "http://127.0.0.1:$_[0]{port}/v3" }
# Seconds that the service user's next token lives.
sub own_life { my ($self, $seconds) = @_; $self->keep(life => $seconds); return }
# Revokes all tokens of the service user.
sub revoke_own { my ($self) = @_; unlink glob "$self->{dir}/own/*"; return }
sub revoke { my ($self, $token) = @_; unlink "$self->{dir}/tokens/$token"; return }

# A token that is valid from now on. Members: user, user_name, project, project_name, roles, system, life (seconds), rules, credential (an
# application credential: restricted, as with rules, or unrestricted), trust, catalog (given
# unless the question has ?nocatalog, and logged then), and "answer", which is given word for word.
sub token {
    my ($self, $name, %is) = @_;
    $self->keep("tokens/$name", $json->encode({ life => 3600, roles => [], %is, at => time }));
    return;
}

sub _answer {
    my ($client, $status, $body, @headers) = @_;
    return Tenure::FakeService::send_answer($client, $status, ref $body ? $json->encode($body) : $body, @headers);
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
    $good &&= $self->kept('mode') ne 'closed';
    $self->note($good ? 'login' : 'wrong login');
    return _answer($client, 401, { error => { code => 401, title => 'Unauthorized' } }) if !$good;
    my $token = sprintf 'own-%d-%d', $$, int(Time::HiRes::time() * 1e6);
    my $life = $self->kept('life');
    $self->keep("own/$token", time + $life);
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
    $token{project} = { id => $is->{project}, name => $is->{project_name} // 'red', domain => { id => 'default', name => $is->{project_domain} // 'Default' } }
        if $is->{project};
    $token{system} = { all => JSON::PP::true } if $is->{system};
    $token{domain} = { id => $is->{domain}, name => 'D' } if $is->{domain};
    $token{application_credential} = { id => 'c', name => 'c', restricted => $is->{credential} eq 'unrestricted' ? JSON::PP::false : JSON::PP::true }
        if $is->{credential} //= $is->{rules} && 'restricted';
    $token{application_credential}{access_rules} = $is->{rules} if $is->{rules};
    $token{'OS-TRUST:trust'} = { id => 't', impersonation => JSON::PP::true, trustor_user => { id => 'u2' }, trustee_user => { id => 'u1' } } if $is->{trust};
    return { token => \%token };
}

# What stands in for a good answer.
sub _wrong {
    my ($client, $mode) = @_;
    return _answer($client, 500, { error => { code => 500 } }) if $mode eq 'error';
    return _answer($client, 400, 'The plain HTTP request was sent to HTTPS port') if $mode eq 'badrequest';
    return _answer($client, 403, { error => { code => 403 } }) if $mode eq 'forbidden';
    return _answer($client, 200, '[' x 100_000 . ']' x 100_000) if $mode eq 'deep';
    return _answer($client, 200, '<html>welcome to the internet café</html>') if $mode eq 'text';
    return _answer($client, 200, { token => { user => {}, roles => 'admin', expires_at => 'soon' } }) if $mode eq 'strange';
    return _answer($client, 302, '', 'Location: http://127.0.0.1:1/v3/auth/tokens') if $mode eq 'redirect';
    return Tenure::FakeService::send_part($client, '{"token": {"user":') if $mode eq 'cut';
    if ($mode eq 'huge') { # 256 MiB, if somebody takes it
        local $SIG{PIPE} = 'IGNORE';
        print $client "HTTP/1.1 200 OK\r\n\r\n{\"token\": {\"x\":\"";
        for (1 .. 4096) { print $client 'x' x 65536 or last }
        close $client;
        return;
    }
    return Tenure::FakeService::hang($client);
}

sub _validate {
    my ($self, $client, $header, $query) = @_;
    my $token = $header->{'x-subject-token'} // '';
    my $mode = $self->kept('mode');
    $self->note("validate $token");
    my $own = ($header->{'x-auth-token'} // '') =~ /\A(own-[-\d]+)\z/ ? $self->kept("own/$1") : undef;
    if (!defined $own || $own <= time) {
        $self->note('own token refused');
        return _answer($client, 401, { error => { code => 401 } });
    }
    return _wrong($client, $mode) if $mode !~ /\A(?:ok|slow|lame|late)\z/;
    return _answer($client, 400, { error => { code => 400 } }) if length $token > 8000; # as Apache and nginx do
    return close $client if length $token > 4000;                                       # as uwsgi does
    return Tenure::FakeService::hang($client) if $token =~ /\Ahanging-/;                # as where one domain's LDAP hangs
    return _answer($client, 200, _body_of({ project => 'service', roles => ['service'], at => time, life => 3600 })) if $token =~ /\Aown-/ && $token eq $header->{'x-auth-token'};
    Time::HiRes::sleep({ slow => 0.5, lame => 1.3, late => 6 }->{$mode}) if $mode ne 'ok';
    my $text = $token =~ m{\A[-\w.]+\z} ? $self->kept("tokens/$token") : undef;
    my $is = defined $text ? $json->decode($text) : undef;
    my $over = $is && $is->{at} + $is->{life} <= time && !$is->{never};
    $is = undef if $over && $query !~ /\ballow_expired=1/;
    $is = undef if $is && $is->{rules} && ($header->{'openstack-identity-access-rules'} // '') ne '1.0';
    return _answer($client, 404, { error => { code => 404, title => 'Not Found' } }) if !$is;
    my $body = _body_of($is);
    if ($is->{catalog} && $query !~ /\bnocatalog\b/) {
        $self->_log('catalogue asked for');
        $body->{token}{catalog} = $is->{catalog};
    }
    return _answer($client, 200, $body);
}

sub answer {
    my ($self, $client, $request) = @_;
    my ($method, $path) = @$request{qw(method path)};
    return $self->_validate($client, $request->{header}, $request->{query}) if $method eq 'GET' && $path eq '/v3/auth/tokens';
    return $self->_login($client, $request->{body}) if $method eq 'POST' && $path eq '/v3/auth/tokens';
    $self->note('version');
    Tenure::FakeService::hang($client) if $self->kept('mode') eq 'hang';
    return _answer($client, 200, { version => { id => 'v3.14', status => 'stable' } }) if $path eq '/v3';
    return _answer($client, 404, {});
}

1;
