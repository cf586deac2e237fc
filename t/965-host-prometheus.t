#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Debian's Prometheus with what doc/operations.md says: it scrapes the admin endpoint, and the host service's socket through nginx, while
# clients use four endpoints behind mod_fcgid, whose workers have no master. What it has stored equals what the clients did; its log
# has no warning; the alert rules are loaded.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use HTTP::Tiny;
use JSON::PP ();
use POSIX ();
use Test::More;

use Tenure::Instance;
use Tenure::Pages;
use Tenure::Run qw(read_file write_file);

for my $program ('prometheus', 'promtool', 'nginx') {
    plan skip_all => "$program is not installed: scripts/install-deps test" unless Tenure::Instance::on_path($program);
}
Tenure::Instance::need('apache-fcgid');
my $each     = 40;
my $instance = Tenure::Instance->start(server => 'apache-fcgid', auth => 'token', combined => 1, placement => 1, workers => 2);
my $dir      = $instance->dir . '/prometheus';
mkdir $dir or die "$dir: $!";
my ($port, $proxy) = Tenure::Instance::free_ports(2);
my $source = Tenure::Instance::source_dir();
my $http = HTTP::Tiny->new(timeout => 20);
my @pids;
END { kill KILL => @pids if @pids }

# The document's block with that mark and word.
sub documented {
    my ($mark, $word) = @_;
    my ($block) = grep { $_->{mark} eq $mark && index($_->{text}, $word) >= 0 } Tenure::Pages::blocks($source, 'operations.md');
    return $block ? $block->{text} : die "doc/operations.md has no $mark with $word\n";
}

# Replaces what the installation here has elsewhere; each has to be there.
sub adapted {
    my ($text, %to) = @_;
    for my $from (sort keys %to) {
        $text =~ s/\Q$from\E/$to{$from}/ or die "doc/operations.md has no $from\n";
    }
    return $text;
}

sub start_program {
    my ($name, @arguments) = @_;
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        open STDIN, '<', '/dev/null' or POSIX::_exit(127);
        open STDOUT, '>', "$dir/$name.log" or POSIX::_exit(127);
        open STDERR, '>&', \*STDOUT or POSIX::_exit(127);
        local $ENV{PATH} = "$ENV{PATH}:/usr/sbin";
        exec $name, @arguments or POSIX::_exit(127);
    }
    push @pids, $pid;
    return;
}

# What Prometheus' own API answers; undef: nothing yet.
sub api {
    my ($path, %query) = @_;
    my $query  = $http->www_form_urlencode(\%query);
    my $answer = $http->get("http://127.0.0.1:$port/api/v1/$path?$query");
    return $answer->{success} ? JSON::PP::decode_json($answer->{content})->{data} : undef;
}

# The value of an expression, with the target as $ADDRESS; '': it has none.
sub value {
    my ($address, $expression) = @_;
    my $data = api('query', query => $expression =~ s/ADDRESS/instance="$address"/gr) // return '';
    return $data->{result}[0] ? $data->{result}[0]{value}[1] : '';
}

# ---- as documented

my ($code, $token) = $instance->manage('token', 'create', '--operator', '--user', 'prometheus');
is $code, 0, 'a token for it';
write_file("$dir/token", $token);
my ($admin) = $instance->env('TENURE_ADMIN_URL') =~ m{//([^/]+)};
my $through = "127.0.0.1:$proxy";
my $rules   = "$source/doc/examples/prometheus-rules.yml";
write_file("$dir/prometheus.yml", "global: { scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 1s }\nrule_files: [ $rules ]\n"
    . adapted(documented('prometheus', 'scrape_configs'), '/etc/prometheus/tenure-token' => "$dir/token", "'127.0.0.1:8081'" => "'$admin', '$through'"));
write_file("$dir/nginx.conf", "daemon off; master_process off; pid $dir/nginx.pid; events { }\nhttp {\n"
    . join('', map { "${_}_temp_path $dir/$_;\n" } qw(client_body proxy fastcgi uwsgi scgi))
    . adapted(documented('nginx', 'metrics.sock'), '127.0.0.1:9641' => $through, '/run/tenure/metrics.sock' => $instance->env('TENURE_METRICS_SOCKET')) . "}\n");
($code, my $said) = Tenure::Run::run('promtool', 'check', 'config', "$dir/prometheus.yml");
is $code, 0, 'promtool check config' or diag $said;

# ---- the tenants and tokens, before anything is counted

my $operator = $instance->admin;
$operator->put('/v2.0/t1', json => {})->is_status(201, 'a tenant');
my $uuid = '11111111-2222-4333-8444-555555555555';
$instance->placement->post('/resource_providers', json => { name => 'rp1', uuid => $uuid })->is_status(201, 'a provider');
my $user = $instance->token('t1', 'admin');
my %does = (
    admin     => sub { $operator->get('/v2.0/t1')->status == 200 },
    service   => sub { $instance->service($user)->put("/v2.0/t1/namespaces/default/configmaps/c$_[0]", json => { data => { a => 'b' } })->status == 201 },
    combined  => sub { $instance->combined($user)->get("/api/v1/namespaces/default/configmaps/none-$_[0]")->status == 404 },
    placement => sub { $instance->placement->get("/resource_providers/$uuid")->status == 200 },
);

start_program('nginx', '-e', "$dir/nginx.err", '-p', $dir, '-c', "$dir/nginx.conf");
start_program('prometheus', "--config.file=$dir/prometheus.yml", "--storage.tsdb.path=$dir/tsdb",
    "--web.listen-address=127.0.0.1:$port", '--log.level=info');
for my $address ($admin, $through) {
    ok Tenure::Instance::wait_until(sub { value($address, 'up{ADDRESS}') eq '1' && value($address, 'sum(tenure_requests_total{ADDRESS})') ne '' }, 60),
        "scraped: $address" or do { diag read_file("$dir/prometheus.log"), read_file("$dir/nginx.err"); last };
}

# ---- under load

# Scrapes are requests, too.
my $sum = 'sum(tenure_requests_total{ADDRESS,route!="getMetrics"})';
my %before = map { $_ => value($_, $sum) } $admin, $through;
my @clients;
for my $name (sort keys %does) {
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        @pids = ();
        my $did = grep { $does{$name}->($_) } 1 .. $each;
        write_file("$dir/did-$name", $did);
        POSIX::_exit(0);
    }
    push @clients, $pid;
}
waitpid $_, 0 for @clients;
is read_file("$dir/did-$_"), $each, "clients of the endpoint $_" for sort keys %does;
for my $address ($admin, $through) {
    my $now = '';
    ok Tenure::Instance::wait_until(sub { $now = value($address, $sum); $now eq $before{$address} + $each * keys %does }, 60),
        "the sum of requests equals the clients', by $address" or diag "$before{$address}, and then $now";
}
is value($admin, 'sum(tenure_request_duration_seconds_count{ADDRESS,route!="getMetrics"})'), $before{$admin} + $each * keys %does, 'all were timed, too';

# ---- what it thinks of us

# On a busy machine, and behind mod_fcgid, a scrape may take too long once.
my $targets;
ok Tenure::Instance::wait_until(sub {
    $targets = api('targets')->{activeTargets};
    return join(' ', map { "$_->{health}$_->{lastError}" } @$targets) eq 'up up';
}, 60), 'two targets, and no error' or diag explain $targets;
ok Tenure::Instance::wait_until(sub { value($admin, 'min(up)') eq '1' }, 60), 'both are up';
my ($wanted, $loaded) = (scalar(() = read_file($rules) =~ /^\s*- alert:/mg), 0);
ok Tenure::Instance::wait_until(sub {
    my @rules = map { @{ $_->{rules} } } @{ api('rules')->{groups} };
    return ($loaded = grep { $_->{health} eq 'ok' } @rules) == $wanted;
}, 60), "all $wanted alert rules are loaded, and can be evaluated" or diag $loaded;
is join("\n", grep { /level=(?:warn|error)/ } split /\n/, read_file("$dir/prometheus.log")), '', 'no warning in its log';
is read_file("$dir/nginx.err"), '', 'nor in that of nginx';

kill TERM => @pids;
waitpid $_, 0 for splice @pids;
done_testing;
