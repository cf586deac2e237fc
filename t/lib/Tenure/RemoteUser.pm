# SPDX-License-Identifier: Apache-2.0
# Beside an instance a second web server of the same kind, with the shipped files, whose admin endpoint has auth = remote-user.
#
#   my $second = Tenure::RemoteUser->start($instance, name => 'closed', secret => $secret, authenticate => { olga => 'pw' });
#   ... $second->url ...
#   $second->stop;
#
# authenticate: users with passwords; the shipped files' lines for auth = remote-user have their comment marks taken off.
# Without it the shipped files stay as they are. sent: the secret that the web server sends where it is not the endpoint's.
# edit: a function that is given each shipped file's text and returns what to use.
package Tenure::RemoteUser;

use strict;
use warnings;

use File::Basename ();
use POSIX ();

use Tenure::Instance;
use Tenure::Ports qw(start_on_ports);
use Tenure::Raw;
use Tenure::Run qw(read_file write_file);

my $owner = $$;
my %running;

sub start {
    my ($class, $instance, %option) = @_;
    my $dir  = $instance->dir;
    my $self = bless { %option, instance => $instance, root => "$dir/$option{name}", pids => [] }, $class;
    chomp(my $short = read_file("$dir/run/short"));
    $self->{short} = $short;
    $self->{sockets} = "$short/sockets-$option{name}";
    mkdir $_, 0711 for $self->{root}, $self->{sockets};
    mkdir "$self->{root}/$_", 0711 for qw(tmp snippets);
    $self->{config} = write_config($instance, $option{name}, "remote_user_secret = $option{secret}\nremote_user_role = operator\n",
        $self->{sockets});
    $self->_write_passwords if $option{authenticate};
    my $log = "$dir/log/$option{name}.log";
    my $build = Tenure::Instance::build_dir();
    $running{$self} = $self->{pids};
    push @{ $self->{pids} }, _spawn($log, "$build/tenured", '-c', $self->{config}, '-e', 'admin') if $instance->{server} ne 'apache-fcgid';
    my $pid = start_on_ports(2, sub {
        $self->_write_httpd(@_);
        return _spawn("$dir/log/$option{name}-server.log", $self->_command);
    }, sub {
        my $answer = eval { Tenure::Raw::get($self->url, '/v2.0', seconds => 5) } or return 0;
        # The web server may say so by itself, before tenured is there.
        return $answer->status == 401 && ($instance->{server} eq 'apache-fcgid' || read_file($log) =~ / workers? serves? /);
    }) // die "$option{name}: no answer\n" . read_file($log) . read_file("$dir/log/$option{name}-server.log");
    push @{ $self->{pids} }, $pid;
    return $self;
}

sub url      { return $_[0]{url} }
sub log_text { return read_file("$_[0]{instance}{dir}/log/$_[0]{name}.log") }

# Where the instance's web server has its configuration of Tenure: a copy, if Apache starts the workers as another user.
sub _config_of {
    my ($instance) = @_;
    my ($path) = read_file($instance->dir . '/httpd/apache.conf') =~ /Define TENURE_CONFIG (\S+)/;
    return $path // $instance->env('TENURE_CONFIG');
}

# The instance's configuration, its admin endpoint with auth = remote-user and these lines more.
sub write_config {
    my ($instance, $name, $lines, $sockets) = @_;
    my $from = _config_of($instance);
    my $text = read_file($from);
    $text =~ s{(\[endpoint admin\].*?\n)auth = \w+\n}{$1auth = remote-user\n$lines}s or die "no admin endpoint\n";
    $text =~ s{^access_log = .*\n}{}mg;
    $text =~ s{^socket = \S*/sockets/}{socket = $sockets/}mg if defined $sockets;
    my $path = File::Basename::dirname($from) . "/$name.conf";
    write_file($path, $text);
    my @stat = stat $from;
    chown $stat[4], $stat[5], $path;
    chmod $stat[2] & 0777, $path;
    return $path;
}

sub _write_passwords {
    my ($self) = @_;
    $self->{passwords} = "$self->{short}/passwords-$self->{name}";
    write_file($self->{passwords}, join '', map { "$_:" . crypt($self->{authenticate}{$_}, '$6$salt') . "\n" }
        sort keys %{ $self->{authenticate} });
    chmod 0644, $self->{passwords};
    my $sent = $self->{sent} // $self->{secret};
    my $line = $self->{instance}{server} eq 'nginx' ? qq(fastcgi_param TENURE_REMOTE_USER_SECRET "$sent";\n)
        : $self->{instance}{server} eq 'lighttpd' ? qq(setenv.set-environment = ( "TENURE_REMOTE_USER_SECRET" => "$sent" )\n)
        :                                           qq(SetEnv TENURE_REMOTE_USER_SECRET "$sent"\n);
    write_file("$self->{root}/secret.conf", $line);
    chmod 0600, "$self->{root}/secret.conf";
    return;
}

# Takes the comment marks off the lines for auth = remote-user: directives follow the mark at once, words behind a blank.
sub _uncomment {
    my ($self, $text) = @_;
    $text =~ s{(^\t+\#\ auth\ =\ remote-user.*?)(?=^\t?\}|^</VirtualHost>|^\t+\#\ auth\ =\ certificate)}{
        my $block = $1;
        $block =~ s/^(\t+)#(?! )/$1/mgr
    }msex;
    $text =~ s{(?<=\n)(\s+(?:AuthUserFile|auth\.backend\.htpasswd\.userfile =|auth_basic_user_file)\s+)"?/etc/[^"\s;]*"?}{$1"$self->{passwords}"};
    $text =~ s{(?<=\n)(\s+[Ii]nclude\s+)"?/etc/tenure/remote-user/[^"\s;]*"?}{$1"$self->{root}/secret.conf"};
    return $text;
}

# Its own file of those that quickstart wrote or includes, with other ports, folders and sockets.
sub _write_httpd {
    my ($self, $new_service, $new_admin) = @_;
    my ($instance, $name, $short) = @$self{qw(instance name short)};
    my $dir = $instance->dir;
    my ($service, $admin) = map { $instance->env($_) =~ /:(\d+)\z/ } qw(TENURE_SERVICE_URL TENURE_ADMIN_URL);
    $self->{url} = "http://127.0.0.1:$new_admin";
    my $shipped = Tenure::Instance::source_dir() . '/httpd-conf';
    my $change = sub {
        my ($text) = @_;
        $text = $self->{edit}->($text) if $self->{edit};
        $text = $self->_uncomment($text) if $self->{authenticate};
        $text =~ s{\Q$dir\E/httpd(?=[/"\s;])}{$self->{root}}g;
        $text =~ s{\Q$dir\E/log/httpd-}{$dir/log/$name-}g;
        $text =~ s{\Q$short\E/sockets(?=[/"\s;])}{$self->{sockets}}g;
        $text =~ s{\Q$short\E/fcgid/(ipc|table)}{$short/fcgid/$1-$name}g;
        $text =~ s{Include \Q$shipped\E/}{Include $self->{root}/};
        $text =~ s{Define TENURE_CONFIG .*}{Define TENURE_CONFIG $self->{config}};
        $text =~ s{\b127\.0\.0\.1:$service\b}{127.0.0.1:$new_service}g;
        $text =~ s{\b127\.0\.0\.1:$admin\b}{127.0.0.1:$new_admin}g;
        $text =~ s{^(server\.port = )$service$}{$1$new_service}m;
        return $text;
    };
    for my $file (glob "$dir/httpd/*.conf $dir/httpd/snippets/*.conf") {
        write_file($file =~ s{\A\Q$dir\E/httpd/}{$self->{root}/}r, $change->(read_file($file)));
    }
    if ($instance->{server} =~ /\Aapache/) {
        write_file("$self->{root}/$_.conf", $change->(read_file("$shipped/$_.conf"))) for qw(apache-fcgid apache-proxy-fcgi);
        $self->_add_to("$self->{root}/apache.conf", join '', map { "LoadModule ${_}_module /usr/lib/apache2/modules/mod_$_.so\n" }
            qw(auth_basic authn_core authn_file authz_user));
        mkdir "$short/fcgid/ipc-$name";
        chown +(stat "$short/fcgid/ipc")[ 4, 5 ], "$short/fcgid/ipc-$name" if -d "$short/fcgid/ipc";
    }
    $self->_add_to("$self->{root}/lighttpd.conf", '', 'server.modules += ( "mod_auth", "mod_authn_file", "mod_setenv" )' . "\n")
        if $instance->{server} eq 'lighttpd';
    return;
}

sub _add_to {
    my ($self, $path, $before, $behind) = @_;
    my $text = read_file($path);
    $text =~ s/^(LoadModule)/$before$1/m;
    $text =~ s/^(server\.modules = .*\n)/$1$behind/m if defined $behind;
    write_file($path, $text);
    return;
}

sub _command {
    my ($self) = @_;
    my $root = $self->{root};
    my %command = (
        lighttpd       => ['lighttpd', '-D', '-f', "$root/lighttpd.conf"],
        nginx          => ['nginx', '-p', $root, '-e', "$root/../log/$self->{name}-error.log", '-c', "$root/frame.conf"],
        'apache-proxy' => ['apache2', '-DFOREGROUND', '-f', "$root/apache.conf"],
    );
    $command{'apache-fcgid'} = $command{'apache-proxy'};
    return @{ $command{ $self->{instance}{server} } };
}

# Returns its process id.
sub _spawn {
    my ($log, @command) = @_;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        local $ENV{PATH} = "$ENV{PATH}:/usr/sbin:/sbin";
        open STDIN,  '<',  '/dev/null' or POSIX::_exit(126);
        open STDOUT, '>>', $log        or POSIX::_exit(126);
        open STDERR, '>&', \*STDOUT    or POSIX::_exit(126);
        exec { $command[0] } @command or POSIX::_exit(127);
    }
    return $pid;
}

sub _end {
    my ($pids) = @_;
    for my $pid (reverse splice @$pids) {
        kill 'TERM', $pid;
        waitpid $pid, 0;
    }
    return;
}

sub stop {
    my ($self) = @_;
    _end($self->{pids});
    delete $running{$self};
    return;
}

END {
    if ($$ == $owner) {
        local $?;
        _end($_) for values %running;
    }
}

1;
