#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Who the web server authenticated: operators by one password file, users by another, each endpoint its own.
use strict;
use warnings;

use File::Basename ();
use lib File::Basename::dirname(__FILE__) . '/lib';

use MIME::Base64 ();
use POSIX ();
use Test::More;

use Tenure::Client;
use Tenure::Instance;
use Tenure::Ports qw(start_on_ports);

my $instance = Tenure::Instance->start;
my $dir = $instance->dir;
my $secret = '0123456789abcdef';
my @pids;
my $owner = $$;

# Before the instance goes away: it is their database.
sub stop_all {
    kill 'TERM', @pids;
    waitpid $_, 0 for @pids;
    @pids = ();
    return;
}
END { stop_all() if $owner == $$ && @pids }

# Three endpoints more, on the instance's database.
sub endpoint {
    my ($name, $wadl, @settings) = @_;
    return "[endpoint $name]\nsocket = $dir/sockets/$name.sock\nwadl = $wadl.wadl\nauth = remote-user\nworkers = 1\n"
        . "remote_user_secret = $secret\n"
        . join '', map { "$_\n" } @settings;
}
my $config = Tenure::Instance::read_file($instance->env('TENURE_CONFIG'));
Tenure::Instance::write_file("$dir/remote.conf", $config
    . endpoint('ops',   'admin',   'remote_user_role = operator')
    . endpoint('users', 'service', 'remote_user_role = admin', 'remote_user_tenant = user')
    . endpoint('mail',  'service', 'remote_user_role = reader', 'remote_user_tenant = domain'));

Tenure::Instance::write_file("$dir/operators", "olga:o-secret\n");
Tenure::Instance::write_file("$dir/users",     "acme:a-secret\nann\@acme:m-secret\nann\@globex:g-secret\n");
sub site {
    my ($port, $name, $file) = @_;
    return <<"CONF";
\$SERVER["socket"] == "127.0.0.1:$port" {
  auth.backend = "plain"
  auth.backend.plain.userfile = "$dir/$file"
  setenv.set-environment = ("TENURE_REMOTE_USER_SECRET" => "$secret")
  auth.require = ("/" => ("method" => "basic", "realm" => "$name", "require" => "valid-user"))
  fastcgi.server = ("/" => (("socket" => "$dir/sockets/$name.sock", "check-local" => "disable",
    "fix-root-scriptname" => "enable")))
}
CONF
}
sub write_httpd {
    my ($ops, $users, $mail, $other) = @_;
    Tenure::Instance::write_file("$dir/remote-httpd.conf", <<"CONF" . site($ops, 'ops', 'operators') . site($users, 'users', 'users') . site($mail, 'mail', 'users'));
server.modules = ("mod_auth", "mod_authn_file", "mod_setenv", "mod_fastcgi")
server.document-root = "$dir/empty"
server.bind = "127.0.0.1"
server.port = $other
server.errorlog = "$dir/log/remote-httpd.log"
CONF
    return;
}

sub spawn {
    my ($log, @command) = @_;
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDIN,  '<',  '/dev/null'      or POSIX::_exit(126);
        open STDOUT, '>>', "$dir/log/$log"  or POSIX::_exit(126);
        open STDERR, '>&', \*STDOUT         or POSIX::_exit(126);
        exec @command or POSIX::_exit(127);
    }
    return $pid;
}
push @pids, spawn("$_.log", Tenure::Instance::build_dir() . '/tenured', '-c', "$dir/remote.conf", '-e', $_) for qw(ops users mail);
sub client { return Tenure::Client->new(url => "http://127.0.0.1:$_[0]") }
sub basic  { return { Authorization => 'Basic ' . MIME::Base64::encode_base64($_[0], '') } }

my ($as_ops, $as_user, $by_mail);
push @pids, start_on_ports(4, sub {
    ($as_ops, $as_user, $by_mail) = map { client($_) } @_[ 0 .. 2 ];
    write_httpd(@_);
    return spawn('remote-httpd.log', -x '/usr/sbin/lighttpd' ? '/usr/sbin/lighttpd' : 'lighttpd', '-D', '-f', "$dir/remote-httpd.conf");
}, sub {
    return !grep { $_->get('/', headers => basic($_ == $as_ops ? 'olga:o-secret' : 'acme:a-secret'))->status != 200 }
        $as_ops, $as_user, $by_mail;
}) // die "the endpoints do not answer\n";

my %olga = (headers => basic('olga:o-secret'));
is $as_ops->get('/v2.0')->status, 401, 'the web server asks for a password';
is $as_ops->get('/v2.0', headers => basic('acme:a-secret'))->status, 401, 'a user is nobody among the operators';
for my $tenant (qw(acme globex)) {
    is $as_ops->put("/v2.0/$tenant", %olga)->status, 201, "an operator makes the tenant $tenant";
}
is $as_ops->put('/v2.0/acme/persistentvolumes/pv1', json => { n => 1 }, %olga)->status, 201, 'and a resource in it';

my %acme = (headers => basic('acme:a-secret'));
is $as_user->get('/v2.0/acme/persistentvolumes/pv1', %acme)->status, 200, 'the tenant has the name of its user';
is $as_user->put('/v2.0/acme/persistentvolumes/pv2', json => { n => 2 }, %acme)->status, 201, '... who may write there';
is $as_user->get('/v2.0/globex/persistentvolumes', %acme)->status, 404, '... and finds no other tenant';
is $as_user->get('/v2.0/acme/persistentvolumes/pv1', %olga)->status, 401, 'an operator has no password there';
is $as_user->put('/v2.0/new', %acme)->status, 404, 'the operators\' calls are not offered there';

is $by_mail->get('/v2.0/acme/persistentvolumes/pv1', headers => basic('ann@acme:m-secret'))->status, 200,
    'the tenant stands behind the @';
is $by_mail->get('/v2.0/acme/persistentvolumes/pv1', headers => basic('ann@globex:g-secret'))->status, 404,
    '... of the one who asks';
is $by_mail->put('/v2.0/acme/persistentvolumes/pv3', json => {}, headers => basic('ann@acme:m-secret'))->status, 403,
    'a reader may not write';

# A header of the client's is not the web server's word.
is $as_user->get('/v2.0/globex/persistentvolumes',
    headers => { %{ basic('acme:a-secret') }, 'Remote-User' => 'globex', 'X-Remote-User' => 'globex' })->status, 404,
    'a header named Remote-User says nothing';
is $as_user->get('/v2.0/globex/persistentvolumes',
    headers => { %{ basic('acme:a-secret') }, 'X-Auth-Token' => 'admin' })->status, 404, 'nor does a token there';

# A browser sends the password along with a form of another site, and says whose page it was.
for my $site (qw(cross-site same-site)) {
    my %from = (headers => { %{ basic('acme:a-secret') }, 'Sec-Fetch-Site' => $site });
    my $refused = $as_user->put('/v2.0/acme/persistentvolumes/pv4', json => {}, %from);
    is $refused->status, 403, "$site: no change";
    like $refused->text, qr/a page of another site/, '... and why';
    is $as_user->request('POST', '/v2.0/acme/persistentvolumes/pv1/action/recover', %from)->status, 403, '... nor a POST, as forms send it';
    is $as_user->delete('/v2.0/acme/persistentvolumes/pv1', %from)->status, 403, '... nor a deletion';
    is $as_user->get('/v2.0/acme/persistentvolumes/pv1', %from)->status, 200, '... but a link leads here';
}
is $as_user->put("/v2.0/acme/persistentvolumes/pv5-$_", json => {}, headers => { %{ basic('acme:a-secret') }, 'Sec-Fetch-Site' => $_ })->status,
    201, "$_: the own pages and the user himself" for qw(same-origin none);
# Over plain HTTP browsers say no more than the origin.
for my $origin ('http://evil.example', 'null', $as_user->url . ".evil.example") {
    my %from = (headers => { %{ basic('acme:a-secret') }, Origin => $origin });
    is $as_user->request('POST', '/v2.0/acme/persistentvolumes/pv1/action/recover', %from)->status, 403, "Origin: $origin: no change";
    is $as_user->get('/v2.0/acme/persistentvolumes/pv1', %from)->status, 200, '... but a link leads here';
}
is $as_user->put('/v2.0/acme/persistentvolumes/pv6', json => {}, headers => { %{ basic('acme:a-secret') }, Origin => $as_user->url })->status, 201,
    'Origin: the own pages';

my ($row) = $instance->sql("SELECT actor FROM changes WHERE name = 'pv2'");
is $row->[0], 'acme', 'the change log names the user';

stop_all();
$instance->stop;
done_testing;
