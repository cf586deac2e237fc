#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What `make install` brings, what it leaves alone the second time, and that what it brought works.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd ();
use File::Temp ();
use Test::More;

use Tenure::Daemon;
use Tenure::FastCGI;

my $build = $ENV{TENURE_BUILDDIR} // Cwd::abs_path("$FindBin::Bin/..");
Tenure::Daemon::need_program();
plan skip_all => "$build has no Makefile" unless -e "$build/Makefile";

my $root   = File::Temp->newdir('tenure-install-XXXXXX', TMPDIR => 1);
my $daemon = Tenure::Daemon->new;

sub install {
    delete local @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
    my $text = qx{make -C '$build' install DESTDIR='$root' 2>&1};
    is $?, 0, 'make install' or diag $text;
    return;
}

# A folder that configure chose, as the Makefile has it.
sub folder {
    my ($name) = @_;
    open my $make, '-|', 'make', '-s', '-C', $build, '--eval', "print-folder: ; \@echo '\$($name)'", 'print-folder'
        or die "make: $!";
    chomp(my $folder = readline($make) // '');
    close $make;
    return $folder;
}

my ($conf, $data, $sbin, $lib) = map { folder($_) } qw(pkgsysconfdir pkgdatadir sbindir unitdir);
like $conf, qr{^/.*/tenure$}, 'the Makefile tells its folders';

# Under the umask of a shell that is careful: the service's user gets at what is not secret all the same.
subtest 'a first time' => sub {
    my $umask = umask 077;
    install();
    umask $umask;
    is join(' ', map { sprintf '%s %o', s{\A\Q$root\E}{}r, (stat)[2] & 07777 } grep { ((stat)[2] & 0555) != 0555 } split /\n/, qx{find '$root' -mindepth 1 -type d}), '',
        'whose folders everybody may enter';
    ok -x "$root$sbin/$_", $_ for qw(tenured tenured-host tenure-manage);
    is((stat "$root$conf/tenure.conf")[2] & 07777, 0640, 'a configuration that is not for everybody');
    ok -s "$root$conf/wadl/$_" && -s "$root$data/wadl/$_", "$_, to edit, and as it was"
        for qw(service.wadl admin.wadl combined.wadl);
    my $plugin = "$root" . folder('nagiosdir') . '/check_tenure';
    like qx{'$plugin' --help}, qr/^usage: check_tenure /, 'the plugin for Nagios';
    ok -s "$root" . folder('docdir') . "/examples/$_", $_ for 'prometheus-rules.yml', 'grafana-dashboard.json';
    ok -s "$root$data/console/index.html", 'the console';
    for my $program (qw(tenure tenure-manage)) {
        is system('bash', '-c', '. "$1" && complete -p "$2" >/dev/null', 'bash', "$root" . folder('completiondir') . "/$program", $program), 0,
            "completion of $program in bash";
        like $daemon->read_file("$root" . folder('zshcompletiondir') . "/_$program"), qr/^#compdef(?: [\w-]+)*? \Q$program\E(?: |$)/m, '... and in zsh';
    }
    ok !-e "$root$conf/wadl/tenancy.wadl", 'but nothing that is not for editing';
};

# Every path of an installation that a document or a manual page names is one that `make install` brings, or one that the page's own
# commands make.
subtest 'what the documents name' => sub {
    my %folder = ('/usr/share/tenure' => $data, '/usr/share/doc/tenure' => folder('docdir'), '/usr/sbin' => $sbin, '/usr/lib/systemd/system' => $lib,
        '/usr/lib/nagios/plugins' => folder('nagiosdir'), '/usr/lib/sysusers.d' => folder('sysusersdir'), '/usr/lib/tmpfiles.d' => folder('tmpfilesdir'),
        '/etc/tenure' => $conf, '/etc/logrotate.d' => folder('sysconfdir') . '/logrotate.d');
    my $made = qr{\A/etc/tenure/(?:(?:database|keystone)-password|remote-user.*|certificate-(?:map|secret)|certificates(?:/.*)?|placement-.*|tenure\.conf\.dpkg-dist)\z|/check_http\z};
    my $top  = $ENV{TENURE_SRCDIR} // Cwd::abs_path("$FindBin::Bin/..");
    my ($named, %missing) = (0);
    for my $page ("$top/README", glob "$top/doc/*.md $top/doc/man/*.[158]") {
        for my $path ($daemon->read_file($page) =~ m{(?<![\w/.])(/(?:usr|etc)/[\w./@-]*[\w-])}g) {
            my ($under) = sort { length $b <=> length $a } grep { $path =~ m{\A\Q$_\E(?:/|\z)} } keys %folder;
            next if !defined $under || $path =~ $made || $folder{$under} eq '';
            $named++;
            $missing{"$path in $page"} = 1 if !-e $root . $folder{$under} . substr $path, length $under;
        }
    }
    cmp_ok $named, '>', 40, 'are many paths';
    is join("\n", sort keys %missing), '', 'all are there';
};

subtest 'its configuration' => sub {
    my $text = $daemon->read_file("$root$conf/tenure.conf");
    unlike $text, qr/\@\w+\@/, 'has nothing left to fill in';
    my ($wadl) = $text =~ /^wadl = (\S+)/m;
    is $wadl, "$conf/wadl/service.wadl", 'serves the WADL that is for editing';
    $daemon->write_file("$root/try.conf", $text =~ s{(?<= = )(?=\Q$conf\E)}{$root}gr =~ s{^user = .*\n}{}mr);
    local $ENV{TENURE_TENURE_WADL_DIR} = "$root$data/wadl";
    local $ENV{TENURE_TENURE_SQL_DIR}  = "$root$data/sql";
    my $said = qx{'$root$sbin/tenure-manage' -c '$root/try.conf' config check 2>&1};
    is $?, 0, 'and is correct' or diag $said;
    ok -s "$root$data/sql/001-tenancy.sql", 'with its SQL files';
    ok -s "$root$data/sql/os-traits.txt", 'and the list of standard traits';
};

# Publishes reading of a tenant in the way that the manual tells, then installs again.
subtest 'a second time' => sub {
    my $service = "$root$conf/wadl/service.wadl";
    $daemon->write_config(tenure => { wadl_dir => "$root$data/wadl" }, endpoint => { wadl => $service });
    $daemon->start;
    my $status = sub {
        my $fcgi = Tenure::FastCGI->connect($daemon->{socket});
        return $fcgi->request(uri => '/v2.0/acme', params => [ HTTP_X_AUTH_TOKEN => 'ann:acme' ])->{status};
    };
    is $status->(), 404, 'before a call is published it is not there';
    my $text = $daemon->read_file($service);
    $text =~ s/<!-- (<method href="tenancy\.wadl#getTenant"\/>) -->/$1/ or die 'no such line';
    $daemon->write_file($service, $text);
    $daemon->write_file("$root$conf/tenure.conf", "# mine\n");
    install();
    is $daemon->read_file($service), $text, 'an edited WADL stays';
    is $daemon->read_file("$root$conf/tenure.conf"), "# mine\n", 'so does the configuration';
    unlike $daemon->read_file("$root$data/wadl/service.wadl"), qr/^\s*<method href="tenancy\.wadl#getTenant"/m,
        'the original is as it was';
    $daemon->signal('HUP');
    ok Tenure::Daemon::wait_until(sub { $daemon->log_text =~ /: reloaded/ }), 'a reload';
    ok Tenure::Daemon::wait_until(sub { $status->() == 503 }), 'publishes it: the database is asked';
    is $daemon->stop, 0, 'it ends';
};

subtest 'systemd' => sub {
    plan skip_all => 'no units are installed' if $lib eq '';
    my $unit = $daemon->read_file("$root$lib/tenured\@.service");
    like $unit, qr/^ExecStart=\Q$sbin\E\/tenured -c \Q$conf\E\/tenure\.conf -e %i$/m, 'the unit names what was installed';
    like $unit, qr/^Type=notify$/m, 'and waits until it serves';
    like $unit, qr/^ExecReload=\Q$sbin\E\/tenured -c \Q$conf\E\/tenure\.conf -e %i -t\nExecReload=.*kill -HUP /m, 'a reload checks the configuration first';
    my @filters = $unit =~ /^SystemCallFilter=(.*)$/mg;
    is $filters[-1], '@chown', 'a socket may be given to a group';
    like $unit, qr/^\Q$_\E$/m, "it has $_" for qw(StartLimitIntervalSec=0 MemoryMax=2G OOMPolicy=continue LimitCORE=0 ProtectProc=invisible
        ProcSubset=pid NoNewPrivileges=yes ProtectSystem=strict MemoryDenyWriteExecute=yes);
    SKIP: {
        my ($analyze) = grep { -x } map { "$_/systemd-analyze" } split /:/, $ENV{PATH};
        skip 'no systemd-analyze', 1 unless $analyze;
        my $copy = "$daemon->{dir}/tenured\@x.service";
        $daemon->write_file($copy, $unit =~ s{^(ExecStart|ExecReload)=/\S*tenured}{$1=/bin/true}gmr =~ s{^Documentation=.*\n}{}mr);
        my $said = join '', grep { /tenured\@x/ } split /^/, qx{'$analyze' verify '$copy' 2>&1};
        is $said, '', 'systemd finds nothing to complain of in the unit';
    }
    my ($run, $log) = map { folder($_) } qw(runstatedir localstatedir);
    like $unit, qr{^ReadWritePaths=-\Q$run\E/tenure -\Q$log\E/log/tenure$}m, 'and may write to its folders alone';
    my $host = $daemon->read_file("$root$lib/tenure-host.service");
    like $host, qr{^ReadWritePaths=-\Q$run\E/tenure$}m, 'so may the host service';
    like $host, qr/^ExecStart=\Q$sbin\E\/tenured-host -c \Q$conf\E\/tenure\.conf$/m, 'the host service names what was installed';
    like $host, qr/^ExecReload=\Q$sbin\E\/tenured-host -c \Q$conf\E\/tenure\.conf -t\nExecReload=.*kill -HUP /m, '... and checks the configuration first';
    like $host, qr/^\Q$_\E$/m, "it has $_" for qw(StartLimitIntervalSec=0 Type=notify User=tenure Group=www-data LimitCORE=0 ProtectProc=invisible
        NoNewPrivileges=yes ProtectSystem=strict MemoryDenyWriteExecute=yes);
    my $folder = folder('sysusersdir');
    like $daemon->read_file("$root$folder/tenure.conf"), qr/^u tenure /m, 'its user';
    $folder = folder('tmpfilesdir');
    my $folders = $daemon->read_file("$root$folder/tenure.conf");
    like $folders, qr{^d \S+/tenure 0750 tenure www-data}m, 'its folder';
    like $folders, qr{^d \S+/log/tenure 0750 tenure www-data}m, 'that of its logs, as the unit gives it away';
};

# Each way to install makes the folders with the owners that doc/security.md tells.
subtest 'folders' => sub {
    my $top  = $ENV{TENURE_SRCDIR} // Cwd::abs_path("$FindBin::Bin/..");
    my $read = sub { return $daemon->read_file("$top/$_[0]") };
    my ($security, $install, $tmpfiles) = map { $read->("doc/$_") } qw(security.md install.md systemd/tenure.tmpfiles.in);
    for my $row ("| `/run/tenure` | tenure:www-data 0750; with mod_fcgid 0770, since Apache's user makes files there |",
        "| `/var/log/tenure` | tenure:www-data 0750; with mod_fcgid, whose workers are Apache's user, www-data:tenure 0750 |") {
        my ($folder) = $row =~ /`([^`]+)`/;
        like $security, qr/^\Q$row\E/m, "$folder: the table";
        like $tmpfiles, qr{^d \@\w+\@\Q@{[$folder =~ s/^.(?:run|var)//r]}\E 0750 tenure www-data -$}m, '... systemd';
        like $install, qr/^install -d -m 750 -o tenure -g www-data [^\n]*\Q$folder\E(?: |$)/m, '... without systemd';
    }
    my ($fcgid) = $install =~ /^## Or behind Apache, mod_fcgid\n(.*?)^## /ms;
    my ($own) = $fcgid =~ m{^cat >/etc/tmpfiles\.d/tenure\.conf <<'END'\n(.*?)^END$}ms;
    is_deeply [ sort split /\n/, $own // '' ], [ 'd /run/tenure 0770 tenure www-data -', 'd /var/log/tenure 0750 www-data tenure -' ],
        'with mod_fcgid: the file in place of the installed one has both folders';
    my $unit = $read->('doc/systemd/tenured@.service.in');
    # What makes a folder says whose it is: systemd would give the folders of a unit, and all in them, to the unit's user at each start.
    for my $name (qw(tenured@.service.in tenure-host.service.in)) {
        my $unit = $read->("doc/systemd/$name");
        like $unit, qr/^\Q$_\E$/m, "$name: $_" for qw(User=tenure Group=www-data);
        unlike $unit, qr/^(?:Runtime|Logs)Directory/m, '... takes no folder from the workers of a web server';
    }
    like $read->('debian/tests/readme'), qr{install -d -m 750 -o tenure -g www-data /run/tenure /var/log/tenure$}m, "the package's test";
    unlike $read->('debian/tests/readme'), qr/^[^#\n]*(?:-H\s+"X-Auth-Token|\bsed\b.*database-password\))/m, '... gives no program a secret as an argument';
};

# make dist in a folder of its own, of the source in $from, under that umask and with the other variables of the environment; returns
# the tarball.
sub dist {
    my ($from, $umask, %env) = @_;
    my $in = File::Temp->newdir('tenure-dist-XXXXXX', TMPDIR => 1);
    delete local @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
    local @ENV{ keys %env } = values %env;
    my $text = qx{cd '$in' && umask $umask && make -s -f '$build/Makefile' dist srcdir='$from' 2>&1};
    is $?, 0, 'make dist' or diag $text;
    my ($tarball) = glob "$in/*.tar.gz";
    return ($in, $tarball);
}

subtest 'the tarball is reproducible' => sub {
    my $top = $ENV{TENURE_SRCDIR} // Cwd::abs_path("$FindBin::Bin/..");
    my ($other) = grep { /^[a-z]{2}_.*utf-?8$/i } split /\n/, qx{locale -a 2>/dev/null};
    my %here = (TZ => 'UTC', LC_ALL => 'C');
    my %elsewhere = (TZ => 'Asia/Kathmandu', LC_ALL => $other // 'C.UTF-8');
    my ($first, $tarball) = dist($top, '022', %here);
    my ($second, $again) = dist($top, '077', %elsewhere, GIT_TEST_ASSUME_DIFFERENT_OWNER => 1); # git's own tests have it for that
    is system('cmp', $tarball, $again), 0, 'two runs make equal bytes';
    my @unpacked;
    for my $umask ('022', '077') {
        my $in = File::Temp->newdir('tenure-unpacked-XXXXXX', TMPDIR => 1);
        is system("umask $umask && tar -C '$in' -xzf '$tarball'"), 0, "unpacked with umask $umask";
        my ($tree) = glob "$in/tenure-*";
        push @unpacked, [dist($tree, $umask, $umask eq '022' ? %here : %elsewhere)];
    }
    is system('cmp', map { $_->[1] } @unpacked), 0, 'so do two from what was unpacked';
};

subtest 'hardening' => sub {
    my $makefile = $daemon->read_file("$build/Makefile");
    plan skip_all => 'built with sanitizers' if $makefile =~ /-fsanitize=/;
    my ($library) = glob $root . folder('libdir') . '/libtenure.so.*';
    for my $program ((map { "$root$sbin/$_" } qw(tenured tenure-manage)), $root . folder('bindir') . '/tenure', $library) {
        my ($name) = $program =~ m{([^/]+)\z};
        my $headers = qx{readelf -W -h -l -d '$program'};
        like $headers, qr/^\s*Type:\s+DYN\b/m, "$name: at a random address";
        like $headers, qr/^\s*GNU_RELRO\b/m, "$name: relocations are read-only";
        like $headers, qr/\bBIND_NOW\b|\bFlags:.* NOW\b/, '... all of them';
        like $headers, qr/^\s*GNU_STACK\s.* RW\s/m, "$name: no code on the stack";
        unlike $headers, qr/^\s*LOAD\s.* RWE\s/m, "$name: no memory is written and executed";
        like qx{readelf -W --dyn-syms '$program'}, qr/ __stack_chk_fail\b/, "$name: the stack is guarded";
    }
    my ($flags) = $makefile =~ /^all_cflags = (.*)/m;
    my $compiles = sub {
        my ($flag) = @_;
        $daemon->write_file("$daemon->{dir}/try.c", "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n");
        return system("cc -O2 -Werror -U_FORTIFY_SOURCE $flag -o '$daemon->{dir}/try' '$daemon->{dir}/try.c' >/dev/null 2>&1") == 0;
    };
    for my $flag (qw(-D_FORTIFY_SOURCE=3 -fcf-protection=full -fstack-protector-strong -fstack-clash-protection)) {
        SKIP: {
            skip "the compiler has no $flag", 1 unless $compiles->($flag);
            like $flags, qr/ \Q$flag\E(?: |$)/, $flag;
        }
    }
};

subtest 'logrotate' => sub {
    my $text = $daemon->read_file("$root" . folder('sysconfdir') . '/logrotate.d/tenure');
    like $text, qr{^\S+/log/tenure/\*\.log \{$}m, 'is told of the logs';
    my ($logrotate) = grep { -x } map { "$_/logrotate" } split(/:/, $ENV{PATH}), '/usr/sbin';
    plan skip_all => 'logrotate is not installed' unless $logrotate;
    my $dir = "$daemon->{dir}/rotated";
    mkdir $dir or die $!;
    $daemon->write_config(endpoint => { access_log => "$dir/service-access.log" });
    $daemon->start(args => [ '-p', "$dir/service.pid" ]);
    ok $daemon->answers && Tenure::Daemon::wait_until(sub { $daemon->read_file("$dir/service-access.log") =~ /GET/ }),
        'a daemon that logs';
    $text =~ s{/\S*?/log/tenure/}{$dir/};
    $text =~ s{/\S*?run/tenure/}{$dir/};
    $text =~ s{/run/systemd/system}{/nonexistent};    # this machine's services are not the test's
    $daemon->write_file("$dir/logrotate.conf", $text);
    chmod 0644, "$dir/logrotate.conf" or die $!;
    my $said = qx{'$logrotate' -f -s '$dir/state' '$dir/logrotate.conf' 2>&1};
    is $?, 0, 'is rotated' or diag $said;
    is $said, '', 'without complaint';
    like $daemon->read_file("$dir/service-access.log.1"), qr/GET/, 'what was logged is put away';
    ok Tenure::Daemon::wait_until(sub { $daemon->answers && $daemon->read_file("$dir/service-access.log") =~ /GET/ }),
        'and the log goes on in a new file';
    is $daemon->stop, 0, 'it ends';
};

# What a master left that was killed may be another process's by now, and the folder is not root's.
subtest 'whom a rotation signals' => sub {
    my ($script) = $daemon->read_file("$root" . folder('sysconfdir') . '/logrotate.d/tenure') =~ /^\s+postrotate\n(.*?)^\s+endscript$/ms;
    my $dir = "$daemon->{dir}/pids";
    mkdir $dir or die $!;
    $daemon->start(args => [ '-p', "$dir/service.pid" ]);
    my %of = ('killed.pid' => $$, 'all.pid' => -1, 'empty.pid' => '', 'two.pid' => "$daemon->{pid}\n$daemon->{pid}", 'gone.pid' => 2**30);
    $daemon->write_file("$dir/$_", "$of{$_}\n") for keys %of;
    $script =~ s{/\S*?run/tenure/}{$dir/};
    $script =~ s{/run/systemd/system}{/nonexistent};
    $daemon->write_file("$dir/script", "kill() { echo \"\$*\"; }\n$script");    # at worst it says whom
    is qx{sh -e '$dir/script' 2>&1}, "-s USR1 $daemon->{pid}\n", 'the master, and nobody else';
    is $daemon->stop, 0, 'it ends';
};

subtest 'uninstall' => sub {
    my $text = qx{make -C '$build' uninstall DESTDIR='$root' 2>&1};
    is $?, 0, 'make uninstall' or diag $text;
    my @left = grep { !m{^\Q$root$conf\E/|/logrotate\.d/|/try\.conf$} } split /\n/, qx{find '$root' -type f};
    is "@left", '', 'leaves nothing but the configuration';
    ok -s "$root$conf/wadl/service.wadl", 'and that';
};

done_testing;
