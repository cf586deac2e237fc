#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The documents' blocks against a real service: commands (those for which t/pages names no other test), configuration, SQL, crontabs,
# lines of the access log; and every command that stands within a sentence is one that the programs have.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use JSON::PP ();
use POSIX ();
use Test::More;

use Tenure::Instance;
use Tenure::Pages;
use Tenure::Restore;
use Tenure::Run qw(run read_file write_file);

my $build = Tenure::Instance::build_dir();
plan skip_all => 'tenure is not built' if !defined $build || !-x "$build/tenure";
my $top      = Tenure::Instance::source_dir();
my $instance = Tenure::Instance->start(auth => 'token', allow => [qr/public_url/]);
my $admin    = $instance->admin;
my $config   = $instance->env('TENURE_CONFIG');
my $home     = File::Temp->newdir('tenure-pages-XXXXXX', TMPDIR => 1);
mkdir "$home/$_" or die "$home/$_: $!" for qw(bin work etc etc/wadl node-exporter);
my @rows = Tenure::Pages::rows($top);

# ---- what stands here for an installation

sub program {
    my ($name, $text) = @_;
    write_file("$home/bin/$name", $text);
    chmod 0755, "$home/bin/$name";
    return;
}

symlink "$build/$_", "$home/bin/$_" or die "symlink: $!" for qw(tenure tenured tenured-host);
program('tenure-manage', qq(#!/bin/sh\nexec '$build/tenure-manage' -c "\${TENURE_CONFIG_HERE:-$config}" "\$\@"\n));

# A second configuration, for what would be in the running service's way: the same database, other sockets.
my $elsewhere = "$home/etc/tenure.conf";
write_file($elsewhere, read_file($config) =~ s{^(socket = .*/(\w+)\.sock)$}{$2 eq 'mysql' ? $1 : "socket = $home/$2.sock"}gemr
    =~ s{^access_log = .*\n}{}gmr =~ s{^runtime_dir = .*$}{runtime_dir = $home/work}mr =~ s{^metrics_socket = .*$}{metrics_socket = $home/metrics.sock}mr);
write_file("$home/etc/wadl/service.wadl", read_file("$top/src/server/wadl/service.wadl"));
write_file("$home/etc/keystone-password", "secret\n");
write_file("$home/etc/$_", 'f' x 64 . "\n") for qw(remote-user-secret certificate-secret);
chmod 0600, glob "$home/etc/*-*";

my %here = (
    '/etc/tenure/tenure.conf'          => $config,
    '/run/tenure/metrics.sock'         => $instance->dir . '/shared/metrics.sock',
    '"http://$(hostname)'              => '"' . $instance->env('TENURE_SERVICE_URL'),
    'http://127.0.0.1:8081'            => $instance->env('TENURE_ADMIN_URL'),
    '/var/log/tenure'                  => "$home/work",
    '/backup/'                         => "$home/work/",
    '/var/lib/prometheus/node-exporter' => "$home/node-exporter",
    '/etc/tenure/'                     => "$home/etc/",
    '/usr/share/tenure/wadl/service.wadl' => "$top/src/server/wadl/service.wadl",
    '/run/tenure/'                     => "$home/",
    '/run/lighttpd/'                   => "$home/",
    '/usr/sbin/tenure-manage'          => "$home/bin/tenure-manage",
    '/usr/sbin/tenured'                => "$build/tenured",
);
my $there = join '|', map { quotemeta } sort { length $b <=> length $a } keys %here;

sub in_place { my ($text, %more) = @_; my %all = (%here, %more); return $text =~ s/($there)/$all{$1}/gr }

sub shell {
    my ($commands) = @_;
    return run('env', '-i', "HOME=$home", "PATH=$home/bin:$ENV{PATH}", 'TENURE_URL=' . $instance->env('TENURE_ADMIN_URL'),
        'TENURE_TOKEN=' . $instance->operator_token, 'IRONIC=' . $instance->env('TENURE_ADMIN_URL') . '/baremetal',
        'OS_TOKEN=' . $instance->operator_token, 'bash', '-ec', 'set -o pipefail; cd "$1"; eval "$2"', 'bash', "$home/work", $commands);
}

# Each line of a sample is in the output, in this order: whole, but for its numbers; of a row of a table what stands before the first
# column; of "a: b" as `status` prints, the label. "…" stands for what is left out.
sub shows {
    my ($out, $sample, $name) = @_;
    my $pattern = join '.*^', map { my $line = $_ =~ s/ {2,}.*//sr; join '\d+', map { quotemeta } split /\d+/, $line, -1 }
        grep { $_ ne '…' } split /\n/, $sample;
    like $out, qr/^$pattern/ms, "$name: as the page shows it";
    return;
}

# ---- commands

# How each block of commands is executed, unless it just runs: by its first line's beginning.
my %special = (
    'tenured -c /etc/tenure/tenure.conf -e service -p' => \&foreground,
    'tenure-manage dump --tenant acme' => \&carry,
);

# A tenant that is there.
sub carry {
    my ($text, $name) = @_;
    $admin->put('/v2.0/acme', json => { tenant => {} }) if $admin->get('/v2.0/acme')->status != 200;
    my ($code, $out) = shell(in_place($text));
    is $code, 0, $name or diag $out;
    return;
}

# What stays in the foreground: it serves, and SIGTERM ends it.
sub foreground {
    my ($text, $name) = @_;
    my $command = in_place($text, '/etc/tenure/tenure.conf' => $elsewhere) =~ s{\Atenured}{exec '$build/tenured'}r;
    my ($pid_file) = $command =~ /-p (\S+)/ or die "no pid file: $command";
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        open STDERR, '>', "$home/foreground.log" or POSIX::_exit(127);
        exec 'sh', '-c', $command or POSIX::_exit(127);
    }
    ok Tenure::Instance::wait_until(sub { -s $pid_file && -S "$home/service.sock" }), "$name: serves";
    kill 'TERM', $pid;
    waitpid $pid, 0;
    is $?, 0, '... and ends' or diag read_file("$home/foreground.log");
    return;
}

sub is_here {
    my ($block) = @_;
    my $row = Tenure::Pages::row_of(\@rows, $block);
    return $row && grep { $_ eq 't/848-pages.t' } @{ $row->{by} };
}

# All blocks of commands of a page that this test executes, those with a sample of their output among them.
sub plays {
    my ($page) = @_;
    my @blocks = Tenure::Pages::blocks($top, $page);
    my $played = 0;
    for my $i (0 .. $#blocks) {
        my $block = $blocks[$i];
        my $sample = $i < $#blocks && $blocks[$i + 1]{mark} eq 'output' ? $blocks[$i + 1]{text} : undef;
        next if $block->{mark} ne 'sh' || !is_here($block) && !defined $sample;
        $played++;
        my $name = "$page, $block->{heading}: " . ($block->{text} =~ /\A(.{1,60})/)[0];
        my ($special) = grep { index($block->{text}, $_) == 0 } keys %special;
        if (defined $special) { $special{$special}->($block->{text}, $name); next }
        my ($code, $out) = shell(in_place($block->{text}));
        is $code, 0, $name or diag $out;
        shows($out, $sample, $name) if defined $sample;
        # Of the access log, whose lines are there.
        like $out, qr/^\d+ \S/m, "$name: finds lines" if $block->{text} =~ /service-access/;
    }
    cmp_ok $played, '>', 0, "$page has commands";
    return;
}

# A whole page, in one shell.
sub plays_in_one {
    my ($page) = @_;
    my ($code, $out) = shell(join '', map { in_place($_->{text}) } grep { $_->{mark} eq 'sh' } Tenure::Pages::blocks($top, $page));
    is $code, 0, "$page: all succeed" or diag $out;
    unlike $out, qr/not made/, '... and make all';
    return;
}

subtest 'lists of accounts' => sub {
    plays_in_one('migration-accounts.md');
    my $alice = $admin->get('/v2.0/alice')->json->{tenant};
    is $alice->{tier}, 'small', 'the plan is the tier';
    is $alice->{metadata}{email}, 'alice@example.org', '... and the rest metadata';
    is $admin->get('/v2.0/erin')->json->{tenant}{metadata}{domain}, 'erin.example.net', 'of cPanel';
    is $admin->get('/v2.0/frank')->json->{tenant}{metadata}{'quota-bytes'}, '1073741824', 'of Swift';
    is $admin->get('/v2.0/frank')->json->{tenant}{metadata}{color}, 'Blue', '... names in lower case, values as they are';
    is $admin->get('/v2.0/bob/namespaces/default/configmaps/bob-wiki')->json->{data}{engine}, 'postgresql', 'what an account owns';
    is $admin->get('/v2.0/alice/namespaces/default/configmaps/carol-blog')->json->{data}{engine}, 'mariadb', 'what changed hands';
    my $token = read_file("$home/work/token-bob") =~ s/\s+\z//r;
    $instance->service($token)->get('/v2.0/bob/configmaps')->is_status(200, "a user's token");
    my ($code, $again) = shell('tenure tenant set alice --tier large --etag new');
    is $code, 5, 'a second time nothing is overwritten';
    is $admin->get('/v2.0/alice')->json->{tenant}{tier}, 'small', '... as promised';
};

subtest 'Ironic' => sub {
    plays_in_one('migration-ironic.md');
    my %version = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
    my $node = $admin->get('/baremetal/v1/nodes/6d85703a-565d-469a-96ce-30b6de53079d', %version)->json;
    is_deeply [@$node{qw(name owner resource_class traits)}], ['rack1-u7', 'acme', 'large', ['HW_CPU_X86_VMX']], 'a node with its owner and traits';
    is $node->{properties}{cpus}, 32, '... and properties';
    is_deeply $node->{driver_info}, { ipmi_address => '192.0.2.7' }, '... without the password that Ironic masks';
    is_deeply [@$node{qw(description lessee)}], ["Gr\x{f6}\x{df}e L", "m\x{fc}ller"], '... and letters beyond ASCII';
    $admin->get('/v2.0/m%C3%BCller')->is_status(200, '... also in the names of tenants');
    my $other = $admin->get('/baremetal/v1/nodes/5bbd5f2e-1a5f-4a4c-9d2a-8f1f5a4f1c11', %version)->json;
    my %kept  = (
        chassis_uuid => 'b2c46e1e-9f0a-4d7e-8b0c-6a3d6a8e7c05', maintenance => JSON::PP::true, maintenance_reason => "L\x{fc}fter", retired => JSON::PP::true,
        retired_reason => 'old', instance_info => { display_name => 'web-7' }, instance_uuid => 'c7a1f0d4-51de-4b0a-9d5e-2f6f3a7b8e11',
    );
    is_deeply { map { $_ => $other->{$_} } keys %kept }, \%kept, 'what a client sets of a node';
    is $admin->get("/baremetal/v1/chassis/$kept{chassis_uuid}", %version)->json->{description}, "Geh\x{e4}use 1", 'its chassis';
    is $admin->get('/baremetal/v1/ports/d2b30520-907d-46c8-bfee-c5586e6fb3a1', %version)->json->{physical_network}, 'physnet1', 'a port';
};

symlink $instance->dir . '/log/service-access.log', "$home/work/service-access.log" or die "symlink: $!";
write_file("$home/work/os-traits.new", read_file("$top/sql/schema/os-traits.txt") . "HW_OF_A_LATER_RELEASE\n");

subtest 'running Tenure' => sub {
    # What the page shows of `status` is there once the host service has looked at the database, and a worker, which adds its counts
    # with a request once a second, has read a resource.
    ok Tenure::Instance::wait_until(sub {
        $admin->get('/v2.0/bob/namespaces/default/configmaps/bob-wiki');
        my $told = ($instance->manage('status'))[1];
        return $told =~ /^resource cache  /m && $told =~ /^last purge  /m;
    }), 'the host service has looked at the database, and a worker has counted';
    plays('operations.md');
    $admin->get('/placement/traits/HW_OF_A_LATER_RELEASE', headers => { 'OpenStack-API-Version' => 'placement 1.39' })->is_status(204, 'a new standard trait');
    my ($sample) = map { $_->{text} } grep { $_->{mark} eq 'output' && $_->{text} =~ /\Ahost service/ } Tenure::Pages::blocks($top, 'operations.md');
    my $out;
    ok Tenure::Instance::wait_until(sub { ($out = ($instance->manage('status'))[1]) !~ /^MAINTENANCE/m }), 'the host service has seen that the maintenance is over';
    my %told = map { $_ => 1 } $sample =~ /^(\w+(?: \w+)*)  /mg;
    is_deeply [grep { !$told{$_} } $out =~ /^(\w+(?: \w+)*)  /mg], [], 'tenure-manage status prints no row that the page lacks';
};

subtest 'tuning' => sub { plays('tuning.md') };
subtest 'troubleshooting' => sub { plays('troubleshooting.md') };

# ---- everything else that has a form of its own

sub all_of {
    my ($mark) = @_;
    my @blocks = grep { $_->{mark} eq $mark && $_->{page} ne 'migration-placement.md' } map { Tenure::Pages::blocks($top, $_) } Tenure::Pages::names($top);
    cmp_ok scalar @blocks, '>', 0, "blocks of $mark";
    return @blocks;
}

sub checks {
    my ($name, $lines) = @_;
    write_file("$home/etc/try.conf", read_file($elsewhere) . $lines =~ s{(\@|/etc/tenure/)(?=[\w-]+$)}{$1 eq '@' ? "\@$home/etc/" : "$home/etc/"}gemr);
    my ($code, $out) = shell("TENURE_CONFIG_HERE='$home/etc/try.conf' tenure-manage config check");
    is $code, 0, $name or diag $out, $lines;
    return;
}

subtest 'configuration' => sub {
    write_file("$home/etc/certificate-map", join '', map { $_->{text} } all_of('map'));
    checks("$_->{page}, $_->{heading}", $_->{text} =~ /^\[certificate\]/m ? "$_->{text}\n[endpoint admin]\nauth = certificate\ncertificate_secret = \@certificate-secret\n" : $_->{text})
        for all_of('conf');
    my $manual = read_file("$top/doc/man/tenure.conf.5") =~ s/\A.*^\.Sh EXAMPLES$//msr;
    my @examples = $manual =~ /^\.Bd -literal[^\n]*\n(.*?)^\.Ed$/msg;
    is scalar @examples, 2, 'of tenure.conf(5)';
    checks('tenure.conf(5)', $_ =~ s{^socket = .*\n|^password = .*\n|^access_log = .*\n}{}gmr) for @examples;
    checks('tenure.conf.sample', join '', map { s/^#(?=\w+ =|\[)//r } grep { /^(?:#?\w+ =|#?\[(?!endpoint))/ && !/^#?(?:\w*password|\w*socket|name|user|\w*_dir|include|host|tls\w*|\w*log\w*|\w*_file|map|log|admin_user|auth_url|issuer|jwks_url|username|project\w*) =/ }
        split /^/, read_file("$top/doc/tenure.conf.sample") =~ s/^#?\[(?:endpoint|keystone|jwt|certificate).*\z//msr);
};

subtest 'SQL' => sub {
    for my $block (all_of('sql')) {
        my ($code, $out) = run(qw(mariadb --no-defaults -u root -S), $instance->env('TENURE_DB_SOCKET'), $instance->env('TENURE_DB_NAME'), '-e', $block->{text});
        is $code, 0, "$block->{page}, $block->{heading}" or diag $out;
        next if $block->{page} ne 'install.md';
        ($code, $out) = shell("TENURE_DATABASE_HOST=db.example.org TENURE_DATABASE_SOCKET= TENURE_DATABASE_USER=tenure TENURE_DATABASE_ADMIN_USER=tenure_admin tenure-manage db init --print-grants");
        is $out, $block->{text}, '... is what db init prints';
    }
};

subtest 'crontabs' => sub {
    for my $block (all_of('cron')) {
        for my $line (split /\n/, $block->{text}) {
            like $line, qr/\A(?:[\d*\/,-]+ ){5} *(?:root|tenure) +\S/, "$block->{page}, $block->{heading}: when, who, what";
            unlike $line, qr/(?<!\\)%/, '... without what cron takes for the end of a line';
            my ($code, $out) = shell(in_place($line =~ s/\A(?:\S+ +){6}//r));
            is "$code $out", '0 ', '... and it does it without a word';
        }
    }
    like read_file("$home/node-exporter/tenure.prom"), qr/^tenure_database_up 1$/m, 'metrics in a file';
};

subtest 'Prometheus' => sub {
    plan skip_all => 'promtool is not installed' if !Tenure::Instance::on_path('promtool');
    for my $block (all_of('prometheus')) {
        write_file("$home/token", "x\n");
        write_file("$home/prometheus.yml", $block->{text} =~ s{/etc/prometheus/tenure-token}{$home/token}r);
        my ($code, $out) = run('promtool', 'check', 'config', "$home/prometheus.yml");
        is $code, 0, "$block->{page}, $block->{heading}" or diag $out;
    }
};

subtest "lighttpd's bin-path" => sub {
    my ($port) = Tenure::Instance::free_ports(1);
    for my $block (all_of('lighttpd')) {
        write_file("$home/lighttpd.conf", qq(server.modules = ( "mod_fastcgi" )\nserver.document-root = "$home/work"\nserver.bind = "127.0.0.1"\nserver.port = $port\n)
            . in_place($block->{text}, '/etc/tenure/tenure.conf' => $elsewhere));
        my $pid = fork // die "fork: $!";
        if ($pid == 0) {
            open STDERR, '>', "$home/lighttpd.log" or POSIX::_exit(127);
            local $ENV{PATH} = "$ENV{PATH}:/usr/sbin";
            exec 'lighttpd', '-D', '-f', "$home/lighttpd.conf" or POSIX::_exit(127);
        }
        my $url = "http://127.0.0.1:$port/healthz";
        ok Tenure::Instance::wait_until(sub { (run('curl', '-fsS', '-m', '10', $url))[1] =~ /"ok"/ }), 'it serves' or diag read_file("$home/lighttpd.log");
        kill 'TERM', $pid;
        waitpid $pid, 0;
    }
};

# The kinds of a line's fields: a number, a UUID, what stands in quotes or brackets, a word. Of JSON, its members.
sub form_of {
    my ($line) = @_;
    return join ' ', $line =~ /"(\w+)":/g if $line =~ /\A\{/ && JSON::PP->new->utf8->decode($line);
    return join ' ', map { /\A"/ ? 'quoted' : /\A\[\d\d\/\w{3}\/\d{4}(?::\d\d){3} \+0000\]\z/ ? 'time' : /\A\d+\z/ ? 'number' : /\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-/ ? 'uuid' : 'word' }
        $line =~ /("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+)/g;
}

subtest 'the access log' => sub {
    my ($real) = reverse split /\n/, read_file($instance->dir . '/log/service-access.log');
    my %seen;
    for my $block (all_of('access-log')) {
        my $form = form_of($block->{text} =~ s/\n\z//r);
        my $json = $block->{text} =~ /\A\{/;
        $seen{$json ? 'json' : 'combined'}++;
        # The members in their order, as t/966-host-logs.t has them of a real line.
        my $want = $json ? (read_file("$top/t/966-host-logs.t") =~ /^my \@members = qw\((.*?)\)/m)[0] : form_of($real);
        is $form, $want, "$block->{page}, $block->{heading}";
    }
    is_deeply \%seen, { json => 1, combined => 1 }, 'both formats';
    # versioning.md: a later release adds fields behind the last one.
    my ($line) = map { $_->{text} =~ s/\n\z//r } grep { $_->{text} =~ /"initech"$/ } all_of('access-log');
    mkdir "$home/later" or die "$home/later: $!";
    write_file("$home/later/service-access.log", qq($line "a field of 2030" 7\n));
    for my $case (['operations.md', "263 $line" =~ s/ 263 service.*//r . "\n1 initech\n"], ['tuning.md', "263 $line" =~ s/ 263 service.*//r . "\n"]) {
        my ($page, $want) = @$case;
        my ($block) = grep { $_->{text} =~ /^perl .*service-access\.log/m } Tenure::Pages::blocks($top, $page);
        my ($code, $out) = shell(in_place($block->{text}, '/var/log/tenure' => "$home/later"));
        is $out, $want, "$page: its commands read a log with another field behind the last one";
    }
};

# ---- calls that no other test makes with a credential: the reference of the API (scripts/api-reference) has their answers as examples

subtest 'calls of objects by full address, and of the description' => sub {
    my $crd = sub {
        my ($kind, $scope) = @_;
        my $plural = lc "${kind}s";
        return { metadata => { name => "$plural.example.com" }, spec => { group => 'example.com', scope => $scope,
            names => { plural => $plural, singular => lc $kind, kind => $kind }, versions => [ { name => 'v1', served => JSON::PP::true, storage => JSON::PP::true,
            subresources => { status => {} }, schema => { openAPIV3Schema => { type => 'object', 'x-kubernetes-preserve-unknown-fields' => JSON::PP::true } } } ] } };
    };
    $admin->make_tenant('hooli');
    my $definitions = 'customresourcedefinitions';
    for my $tenant ('', 'tenants/hooli/') {
        $admin->post("/apis/apiextensions.k8s.io/v1/$tenant$definitions", json => $crd->(@$_))->is_status(201) for [ 'Gizmo', 'Namespaced' ], [ 'Rack', 'Cluster' ];
    }
    my $volume = { accessModes => ['ReadWriteOnce'], capacity => { storage => '1Gi' }, hostPath => { path => '/data' } };
    my $pod    = { containers => [ { name => 'main', image => 'nginx' } ] };
    for my $case (
        [ '/api/v1/tenants/hooli/persistentvolumes', 'disk', $volume, { phase => 'Bound' } ],
        [ '/api/v1/persistentvolumes',                 'disk', $volume, { phase => 'Bound' } ],
        [ '/api/v1/tenants/hooli/namespaces/default/pods', 'web', $pod, { phase => 'Running' } ],
        [ '/api/v1/namespaces/default/pods',                 'web', $pod, { phase => 'Running' } ],
        [ '/apis/example.com/v1/tenants/hooli/namespaces/default/gizmos', 'red', { size => 1 }, { ready => JSON::PP::true } ],
        [ '/apis/example.com/v1/namespaces/default/gizmos', 'red', { size => 1 }, { ready => JSON::PP::true } ],
        [ '/apis/example.com/v1/tenants/hooli/racks', 'r1', { size => 1 }, { ready => JSON::PP::true } ],
        [ '/apis/example.com/v1/racks',                 'r1', { size => 1 }, { ready => JSON::PP::true } ],
      ) {
        my ($list, $name, $spec, $status) = @$case;
        my $take = sub { my ($answer, $code, $what) = @_; $answer->is_status($code, $what); return $answer->json };
        my $object = $take->($admin->post($list, json => { metadata => { name => $name }, spec => $spec }), 201, "$list: made");
        $object->{metadata}{labels} = { rack => '7' };
        $object = $take->($admin->put("$list/$name", json => $object), 200, '... replaced');
        $object = $take->($admin->put("$list/$name/status", json => { %$object, status => $status }), 200, '... with its status');
        is_deeply $object->{status}, $status, '... which is there';
        $admin->patch("$list/$name", { metadata => { labels => { rack => '8' } } })->is_status(200, '... patched');
        $admin->patch("$list/$name/status", { status => $status })->is_status(200, '... and its status');
        $admin->delete("$list/$name")->is_status(200, '... deleted');
        $admin->delete($list)->is_status(200, '... all of them');
    }
    $admin->get('/application.wadl')->is_status(200, 'the description');
};

subtest 'calls of bare metal that are refused to everybody' => sub {
    my %version = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
    my $node    = '/baremetal/v1/nodes/rack1-u7';
    my $volume  = "$node/volume";
    my $uuid    = 'bbbbbbbb-0000-4000-8000-000000000001';
    $admin->delete("/baremetal/v1/$_", %version)->is_status(400, "all $_ at once")
        for qw(nodes ports portgroups chassis allocations deploy_templates volume/targets volume/connectors);
    for my $at ("$node/vendor_passthru", '/baremetal/v1/drivers/fake-hardware/vendor_passthru') {
        for my $method (qw(GET POST PUT PATCH DELETE)) {
            $admin->request($method, "$at$_", %version, $method =~ /^P/ ? (json => {}) : ())->is_status(400, "$method $at$_") for '?method=ping', '/ping';
        }
        $admin->get("$at/methods", %version)->is_status(400, "$at/methods");
    }
    for my $kind (qw(targets connectors)) {
        $admin->post("$volume/$kind", %version, json => {})->is_status(403, "making one of $kind below a node");
        $admin->get("$volume/$kind/$uuid", %version)->is_status(403, '... asking for it');
        $admin->patch("$volume/$kind/$uuid", [], %version)->is_status(403, '... changing it');
        $admin->delete("$volume/$kind/$uuid", %version)->is_status(403, '... deleting it');
    }
    $admin->get("$node/management/indicators/system/led", %version)->is_status(200, 'an indicator');
    $admin->put("$node/management/indicators/system/led", %version, json => { state => 'ON' })->is_status(204, '... is switched on');
    $admin->get("$node/management/indicators/led\@system", %version)->is_status(200, '... by its whole name');
    $admin->put("$node/management/indicators/led\@system", %version, json => { state => 'OFF' })->is_status(204, '... switched off');
    $admin->put("$node/management/inject_nmi", %version, json => {})->is_status(400, 'an interrupt');
    $admin->get('/baremetal/v1/drivers/fake-hardware/raid/logical_disk_properties', %version)->is_status(200, 'properties of RAID');
    $admin->post("/baremetal/v1/heartbeat/rack1-u7", %version, json => { callback_url => 'http://192.0.2.1:9999', agent_version => '9.0.0' })->is_status(400, "an agent's sign of life");
    $admin->get('/baremetal/v1/lookup?addresses=52:54:00:12:34:56', %version)->is_status(404, "an agent's question for its node");
};

# A dump has keys and secrets, and the shell that writes it makes a file that all may read.
subtest 'dumps lie where nobody else reads' => sub {
    my @dumps = grep { $_->{text} =~ m{^mariadb-dump\b.*>"?/backup/}m } map { Tenure::Pages::blocks($top, $_) } Tenure::Pages::names($top);
    cmp_ok scalar @dumps, '>=', 2, 'pages write some';
    like $_->{text}, qr{^install -d -m 700 /backup\b.*^mariadb-dump }ms, "$_->{page}, $_->{heading}: the folder is made first" for @dumps;
    # The status of a dump through a pipe is gzip's.
    like $_->{text}, qr{^mariadb-dump .*\n(?:.*\n)*zcat .*'Dump completed'}m, "$_->{page}, $_->{heading}: a dump that was cut off is noticed" for @dumps;
};

# The service's own dump, while it works, and then while systemctl has stopped it.
subtest 'backup and restore' => sub {
    my $page = Tenure::Restore->new(instance => $instance);
    my $is   = sub { my ($name, $expected, $code, $out) = @_; is $code, $expected, $name or diag $out; return };
    my $stops  = 'stop tenured@* tenure-host';
    my $starts = 'start tenured@service tenured@admin tenure-host';
    my $client = sub { return Tenure::Client->new(url => $instance->env('TENURE_ADMIN_URL'), token => $_[0]) };
    my $token_of = sub {
        my ($user) = @_;
        my ($code, $out) = $instance->manage('token', 'create', '--operator', '--user', $user);
        is $code, 0, "a token of $user" or diag $out;
        return $out =~ s/\s+\z//r;
    };
    my $answers_to = sub {
        my ($token) = @_;
        my $status;
        Tenure::Instance::wait_until(sub { $status = $client->($token)->get('/v2.0')->status; return $status < 500 });
        return $status;
    };
    my ($early, $late, $never) = map { $token_of->($_) } qw(early late never);
    my $signs_in = sub {
        $instance->sql("INSERT INTO sessions VALUES ('a', REPEAT('x', 32), 'admin', 'olga', '', 'x', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 DAY)");
        return;
    };
    my $change = sub {
        my ($n) = @_;
        my $put = $client->($never)->put('/v2.0/restored/namespaces/default/configmaps/web', json => { data => { n => "$n" } });
        return like $put->status, qr/^20[01]$/, "change $n";
    };
    my $feed   = sub { return $client->($never)->get("/v2.0/restored/changes?after=$_[0]") };
    my $ids    = sub { return map { $_->{id} } @{ $_[0]->json->{changes} } };

    $client->($never)->make_tenant('restored');
    $change->($_) for 1 .. 3;
    my $kept = $feed->(0)->json->{upto};
    my @first = $ids->($feed->(0));
    $instance->sql("DELETE FROM changes WHERE id <= $first[1]"); # as reap does after change_retention
    is $feed->($first[0])->json->{oldest}, $first[2], 'a reader learns where the log begins';
    ok !exists $feed->($first[2])->json->{oldest}, '... if it has missed something';
    $signs_in->();
    $is->('a backup', 0, $page->backup);
    $change->($_) for 4 .. 6;
    my @lost   = $ids->($feed->($kept));
    is scalar @lost, 3, 'changes that the backup does not have';
    $instance->manage('token', 'revoke', $early =~ s/\..*//r);
    $is->('the list is written again', 0, $page->list);
    $instance->sql("UPDATE tokens SET revoked_at = '2020-01-01' WHERE revoked_at IS NOT NULL");
    $is->('what was revoked long ago is purged', 0, $instance->manage('reap'));
    is $instance->sql_value("SELECT COUNT(*) FROM tokens WHERE user = 'early'"), 0, '... the token, too';
    $instance->manage('token', 'revoke', $late =~ s/\..*//r);
    $is->('... and the list is written again', 0, $page->list);
    my $list = read_file($page->folder . '/revoked-tokens');
    {
        local $instance->{option}{settings}{'database.socket'} = '/nowhere';
        isnt((($page->list))[0], 0, 'a list without a database fails');
        is read_file($page->folder . '/revoked-tokens'), $list, '... and leaves the one before';
    }

    $admin->get('/v2.0')->is_status(200, 'a worker that is connected');
    $is->('a restore beside it ends', 1, $page->restore);
    is $page->asked, $stops, '... before anything is dropped';
    is $instance->sql_value("SELECT COUNT(*) FROM tokens WHERE user = 'never'"), 1, '... as the tables show';
    my ($code, $out) = $instance->manage('db', 'restored', '--revoke', $page->folder . '/revoked-tokens');
    is $code, 69, '`db restored` is refused, too';
    like $out, qr/other connections? to the database on .*: stop tenured and tenured-host/, '... and says why';
    is $instance->sql_value('SELECT COUNT(*) FROM sessions'), 1, '... with nothing done';
    $is->('without saying what becomes of tokens', 64, $instance->manage('db', 'restored'));
    $is->('with two answers to that',              64, $instance->manage('db', 'restored', '--revoke-all', '--revoke', '-'));
    $is->('a list that is not there',              66, $instance->manage('db', 'restored', '--revoke', '/nowhere'));
    $instance->sql('SET GLOBAL read_only = ON');
    $is->('a server that is read-only is refused', 1, $page->restore);
    is $page->asked, '', '... before anything is stopped';
    $instance->sql('SET GLOBAL read_only = OFF');

    my $before = $page->folder . '/before-upgrade.sql.gz';
    rename +(glob $page->folder . '/tenure-*.sql.gz')[0], $before or die "$before: $!";
    isnt((($page->restore))[0], 0, 'without a dump nothing is done');
    is $page->asked, '', '... nor stopped';
    $page->systemctl_works;
    $is->('a dump that is named is restored', 0, $page->restore(DUMP => $before));
    is $page->asked, "$stops; $starts", '... when there is no connection';
    is $answers_to->($never), 200, 'a token that was valid is so';
    is $answers_to->($early), 401, 'one that was purged since the dump is not';
    is $answers_to->($late), 401, 'nor is one that was revoked since';
    is $instance->sql_value('SELECT COUNT(*) FROM sessions'), 0, 'nobody is signed in to the console';
    is $instance->sql_value('SELECT epoch FROM writer'), 0, 'a single server is no writer';

    # Who knows a lost change is told so, before and after there are new ones; who knows none goes on.
    for my $when ('at first', 'later') {
        $feed->($_)->is_problem(410, 'gone', "$when, the feed after the lost change $_") for @lost;
        my $maps = '/api/v1/tenants/restored/namespaces/default/configmaps';
        $client->($never)->get("$maps?limit=1&continue=$lost[0]:default/a")->is_status(410, "$when, a list that is continued");
        like $client->($never)->get("$maps?watch=1&timeoutSeconds=1&resourceVersion=$lost[0]")->text, qr/"code":410/, "$when, a watch";
        is scalar(() = $ids->($feed->($kept))), $when eq 'later' ? 4 : 0, "$when, after a change that the backup has";
        $change->($_) for $when eq 'at first' ? 7 .. 10 : ();
    }
    my @new = $ids->($feed->($kept));
    ok !(grep { my $id = $_; grep { $_ == $id } @lost } @new), 'no id is given a second time';
    my $upto = $feed->(0)->json->{upto};
    is_deeply $feed->($upto)->json, { changes => [], upto => $upto }, 'the feed goes on';
    $is->('the database is sound', 0, $instance->manage('doctor'));

    # A dump of the schema that had no writer and no sessions yet.
    $instance->sql('DELETE FROM schema_files WHERE version >= 16; DELETE FROM schema_steps WHERE version IN (16, 19); DROP TABLE writer, writer_slots, writer_switches, sessions');
    $is->('a backup of an earlier release', 0, $page->backup);
    ($code, $out) = $page->restore;
    is $code, 1, 'its restore ends';
    like $out, qr/^to be applied +016-/m, '... at db status, which says that an upgrade is needed';
    is $page->asked, $stops, '... and starts nothing';
    $is->('the upgrade', 0, $instance->manage('db', 'upgrade'));
    my $rest = Tenure::Restore::block(qr/DROP DATABASE IF EXISTS tenure;/) =~ s/.*^(?=[^\n]*tenure-manage doctor)//msr =~ s/^\)$//mr;
    $is->('the commands that the page names then', 0, $page->shell($rest));
    is $page->asked, $starts, '... end with the start';
    is $answers_to->($late), 401, '... and what was revoked is so';
    is $answers_to->($never), 200, '... and what was not is not';
};

# ---- commands within sentences, and in the manuals' examples

# "tenure NOUN VERB --option" and the like, of a text: (program, words before the first that is no word of a command, options).
sub commands_in {
    my ($text) = @_;
    my @found;
    for my $code ($text =~ /`([^`]+)`/g) {
        while ($code =~ /(?:\A|[;&|(] *|\$\()(tenure|tenure-manage)((?: +(?!&&|[|;<>)]|#)[^\s;|)]+)+)/g) {
            my ($program, @words) = ($1, split ' ', $2);
            push @found, [$program, [grep { !/^-/ } @words], [map { s/=.*//r } grep { /^--\w/ } @words], $code];
        }
    }
    return @found;
}

subtest 'commands within sentences' => sub {
    my (%help, $seen, %wrong);
    my $help = sub {
        my ($program, @words) = @_;
        return $help{"$program @words"} //= do { my ($code, $out) = run("$build/$program", @words, '--help'); $code == 0 ? $out : '' };
    };
    for my $page (Tenure::Pages::names($top)) {
        my $text = read_file($page eq 'README' ? "$top/README" : "$top/doc/$page") =~ s/^ *```.*?^ *```$//msgr;
        for my $command (commands_in($text)) {
            my ($program, $words, $options, $code) = @$command;
            next if !@$words || $words->[0] =~ /\A[\W_]|\A[A-Z]/;
            $seen++;
            # The longest beginning that is a command: NOUN, NOUN VERB, or of tenure NOUN VERB VERB.
            my ($text) = grep { $_ ne '' } map { my $n = $_; $n < @$words ? $help->($program, @$words[0 .. $n]) : '' } (2, 1, 0);
            $wrong{"$page: $code"} = 1 if !defined $text || $words->[0] ne 'help' && grep { my $option = $_; $text !~ /\Q$option\E(?![\w-])/ } @$options;
        }
    }
    cmp_ok $seen // 0, '>', 50, 'are many';
    is join("\n", sort keys %wrong), '', 'all are commands that there are';
};

subtest "the manuals' examples" => sub {
    for my $page (qw(tenure.1 tenure-manage.8 tenured.8 tenured-host.8)) {
        my ($text) = read_file("$top/doc/man/$page") =~ /^\.Sh EXAMPLES\n(.*?)^\.Sh /ms;
        for my $block (($text // '') =~ /^\.Bd -literal[^\n]*\n(.*?)^\.Ed$/msg) {
            next if $block !~ /\Atenure/;
            my $commands = in_place($block =~ s/\\e$/\\/gmr);
            # A script that deletes what a list names meets other namespaces, too.
            if ($block =~ /configmaps delete -/) {
                $admin->put("/v2.0/umbrella/namespaces/prod$_", json => {})->is_status(201) for '', '/configmaps/elsewhere';
            }
            my ($code, $out) = shell("systemctl() { :; }\n$commands");
            is $code, 0, "$page: " . ($block =~ /\A(.*)/)[0] or diag $out;
        }
    }
};

done_testing;
