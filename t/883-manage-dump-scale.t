#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A tenant with many resources of all dialects goes to another installation under another name: each page of each list and a sample of single
# resources are answered there as here. So are those of the whole installation in another database. And dump and restore take as much memory for
# many resources as for a tenth of them. scripts/long/dump runs it with 100,000 resources.
#
# TENURE_DUMP_RESOURCES: how many; TENURE_DUMP_COUNTS: a file for figures
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Digest::SHA qw(sha256_hex);
use JSON::PP ();
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep);

use Tenure::DumpFile;
use Tenure::Instance;
use Tenure::Memory qw(is_sanitized peak_kb);
use Tenure::Run qw(read_file);
use Tenure::Upgrade;

# A unit is one node with its port, a provider, a volume, and copies of objects. MORE_KB: by how much the many may take more than the tenth.
use constant { UNIT => 20, MORE_KB => 4096, SAMPLE => 25 };
my %copies = (configmaps => 12, widgets => 4);

Tenure::Upgrade->need_programs;
my $units   = int(($ENV{TENURE_DUMP_RESOURCES} // 2000) / UNIT);
my $few     = int($units / 10) || 1;
my $manage  = Tenure::Instance::build_dir() . '/tenure-manage';
my %headers = ('X-OpenStack-Ironic-API-Version' => '1.82', 'OpenStack-API-Version' => 'placement 1.39');
my $json    = JSON::PP->new->utf8;
my ($here, $there) = map { Tenure::Instance->start(combined => 1, workers => 2) } 1, 2;
my $home = Tenure::Upgrade->new;
my $dir  = $here->dir;

sub count {
    my ($name, $value) = @_;
    note "$name: $value";
    open my $out, '>>', $ENV{TENURE_DUMP_COUNTS} or return;
    print {$out} "$name=$value\n";
    return;
}

# Runs tenure-manage; the peak of its resident memory in kB, 0 if that says nothing.
sub measured {
    my ($config, $name, @words) = @_;
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        open STDOUT, '>', "$dir/said" or POSIX::_exit(127);
        open STDERR, '>&', \*STDOUT or POSIX::_exit(127);
        exec { $manage } $manage, '-c', $config, @words or POSIX::_exit(127);
    }
    my ($peak, $sanitized) = (0, 0);
    until (waitpid $pid, POSIX::WNOHANG()) {
        if (-e "/proc/$pid/exe" && (readlink("/proc/$pid/exe") // '') =~ /tenure-manage/) {
            my $now = peak_kb($pid);
            $peak = $now if $now > $peak;
            $sanitized ||= is_sanitized($pid);
        }
        sleep 0.02;
    }
    is $?, 0, $name or diag read_file("$dir/said");
    count("$name kB", $peak);
    return $sanitized ? 0 : $peak;
}

# ---- a unit, made by calls, and its dump multiplied

sub uid_of { my ($letter) = @_; return "${letter}0000000-0000-4000-8000-000000000000" }
sub seed {
    my $instance = Tenure::Instance->start(combined => 1, workers => 1);
    my $make = sub {
        my ($method, $path, $body) = @_;
        my $answer = $instance->combined('admin')->request($method, $path, headers => {%headers}, defined $body ? (json => $body) : ());
        $answer->status =~ /\A(?:20[0-4]|303)\z/ or die $answer->describe . "\n";
    };
    my ($node, $port, $provider, $consumer, $aggregate) = map { uid_of($_) } 'a' .. 'e';
    my $placement = "/placement/resource_providers/$provider";
    $make->(PUT => '/v2.0/seed', { tenant => { metadata => { note => "\x{e4}\x{1f600} \"quoted\"" } } });
    $make->(PUT => '/v2.0/seed/namespaces/default/configmaps/c-0-0', { metadata => { labels => { copy => 'l-0-0' } }, data => { text => "-0-0\" \x{2028} \x{1f4a9} \n" } });
    $make->(PUT => '/v2.0/seed/persistentvolumes/v-0-0', { spec => { capacity => { storage => '5Gi' }, hostPath => { path => '/data/v-0-0' } } });
    $make->(POST => '/apis/apiextensions.k8s.io/v1/tenants/seed/customresourcedefinitions', { apiVersion => 'apiextensions.k8s.io/v1', kind => 'CustomResourceDefinition',
        metadata => { name => 'widgets.example.com' }, spec => { group => 'example.com', scope => 'Namespaced', names => { plural => 'widgets', singular => 'widget', kind => 'Widget',
        listKind => 'WidgetList' }, versions => [ { name => 'v1', served => JSON::PP::true, storage => JSON::PP::true, schema => { openAPIV3Schema => { type => 'object', properties => {
        spec => { type => 'object', properties => { size => { type => 'integer' }, note => { type => 'string' } } } } } } } ] } });
    $make->(POST => '/apis/example.com/v1/tenants/seed/namespaces/default/widgets', { apiVersion => 'example.com/v1', kind => 'Widget', metadata => { name => 'w-0-0' },
        spec => { size => 3, note => 'of w-0-0' } });
    $make->(POST => '/baremetal/v1/nodes', { driver => 'fake-hardware', name => 'n-0-0', owner => 'seed', uuid => $node, resource_class => 'gold', extra => { of => 'n-0-0' } });
    $make->(PUT => "/baremetal/v1/nodes/$node/traits", { traits => [ 'CUSTOM_FAST', 'HW_CPU_X86_VMX' ] });
    $make->(POST => '/baremetal/v1/ports', { address => '52:54:00:00:00:00', node_uuid => $node, uuid => $port });
    $make->(PUT => '/placement/resource_classes/CUSTOM_GOLD');
    $make->(POST => '/placement/resource_providers', { name => 'p-0-0', uuid => $provider });
    $make->(PUT => "$placement/inventories", { resource_provider_generation => 0, inventories => { VCPU => { total => 8, allocation_ratio => 1.5 }, CUSTOM_GOLD => { total => 1 } } });
    $make->(PUT => "$placement/traits", { resource_provider_generation => 1, traits => ['CUSTOM_FAST'] });
    $make->(PUT => "$placement/aggregates", { resource_provider_generation => 2, aggregates => [$aggregate] });
    $make->(PUT => "/placement/allocations/$consumer", { allocations => { $provider => { resources => { VCPU => 3 } } }, project_id => 'p', user_id => 'u',
        consumer_generation => undef, consumer_type => 'INSTANCE' });
    $make->(POST => "/v2.0/system/resourceproviders/$provider/action/move?dest=seed");
    my ($code, $told) = $instance->manage('dump', '--tenant', 'seed', "$dir/seed");
    is $code, 0, 'a unit of everything' or diag $told;
    return Tenure::DumpFile->read("$dir/seed");
}

# The text of a line for copy k of unit i.
sub copy {
    my ($text, $i, $k) = @_;
    my ($hex, $mac) = (sprintf('%012x', $i), join ':', unpack '(A2)3', sprintf '%06x', $i);
    $text =~ s/(?<=0000-4000-8000-)0{12}/$hex/g;
    $text =~ s/(?<=0000000000040008000)0{12}/$hex/g;
    $text =~ s/52:54:00:00:00:00/52:54:00:$mac/g;
    $text =~ s/([cvwnpl])-0-0\b/$1-$i-$k/g;
    $text =~ s/(?<=")-0-0/text of $i, $k/g;
    $text =~ s/"uid": *"(?![a-f]0000000)[0-9a-f]{32}"/sprintf '"uid":"%s"', substr sha256_hex("$i $k $text"), 0, 32/e;
    return $text;
}

# The dump of units from first to last, as DumpFile writes it: a line for all that a tenant has once, and as many as are wanted of the others.
sub multiply {
    my ($dump, $first, $last, $file) = @_;
    my @lines = @{ $dump->{lines} };
    my $sum   = '0' x 32;
    open my $out, '>', $file or die "$file: $!\n";
    my $put = sub {
        my ($line) = @_;
        $sum = substr sha256_hex($sum . sha256_hex("$line}")), 0, 32;
        print {$out} qq({"sum":"$sum",$line}\n);
    };
    for my $line (@lines) {
        my ($plural) = $line =~ /"plural": *"(\w+)"/;
        my $once = $line !~ /\A"(?:resource|consumer|allocation)"/ || $line =~ /"plural": *"(?:namespaces|customresourcedefinitions)"/;
        # Another tenant's: of another uid.
        if ($once) { $put->($line =~ s/("uid": *")[0-9a-f]{32}/$1 . substr sha256_hex("$line $first"), 0, 32/er); next }
        for my $i ($first .. $last) { $put->(copy($line, $i, $_)) for 1 .. ($line =~ /\A"resource"/ && $copies{$plural} || 1) }
    }
    close $out or die "$file: $!\n";
    return;
}

# ---- what is answered

# Without what another installation has otherwise: names and addresses, versions, tags.
sub normal {
    my ($text, $tenants) = @_;
    $text =~ s/\b\Q$_\E\b/$tenants->{$_}/g for keys %$tenants;
    $text =~ s/"(resourceVersion|etag|state|continue)" *: *"[^"]*"/"$1":"-"/g;
    $text =~ s{"http://[^/"]+}{"http://HOST}g;
    return $text;
}

# All pages of a list: the digests of what is in each.
sub pages {
    my ($get, $path, $tenants) = @_;
    my ($next, @pages) = ($path);
    while (defined $next) {
        my ($status, $text) = $get->($next);
        my $body = $status == 200 ? $json->decode($text) : die "$next: $status $text\n";
        push @pages, sha256_hex(normal($text, $tenants));
        my $continue = ref $body->{metadata} eq 'HASH' ? $body->{metadata}{continue} : undef;
        $next = defined $continue && $continue ne '' ? "$path&continue=$continue" : $body->{next};
        $next =~ s{\Ahttp://[^/]+}{} if defined $next;
    }
    return \@pages;
}

# { address => digests or text }. $tenants: what each tenant is named here, => what it is named in all answers.
sub answers {
    my ($get, $tenants) = @_;
    my %got;
    for my $tenant (sort { $tenants->{$a} cmp $tenants->{$b} } keys %$tenants) {
        my ($first, $last) = $tenants->{$tenant} eq 'MANY' ? ($few + 1, $few + $units) : (1, $few);
        my ($in, $api, $apis) = ("/v2.0/$tenant", "/api/v1/tenants/$tenant", "/apis/example.com/v1/tenants/$tenant");
        my @lists = (map({ "$in/$_?limit=1000" } qw(namespaces/default/configmaps namespaces/default/widgets.example.com configmaps persistentvolumes nodes ports resourceproviders)),
            "$in/configmaps?limit=1000&sort=created&order=desc", map({ "$_?limit=700" } "$api/configmaps", "$api/namespaces/default/configmaps", "$api/persistentvolumes", "$apis/widgets"));
        $got{ normal($_, $tenants) } = pages($get, $_, $tenants) for @lists;
        my %seen;
        for my $i (grep { !$seen{$_}++ } map { $first + int(($last - $first) * $_ / SAMPLE) } 0 .. SAMPLE) {
            my ($node, $port, $provider, $consumer) = map { uid_of($_) =~ s/0{12}\z/sprintf '%012x', $i/er } 'a' .. 'd';
            my @paths = ("$in/namespaces/default/configmaps/c-$i-7", "$in/namespaces/default/widgets.example.com/w-$i-2", "$in/persistentvolumes/v-$i-1", "$in/nodes/$node",
                "$api/namespaces/default/configmaps/c-$i-12", "$apis/namespaces/default/widgets/w-$i-4", "$api/persistentvolumes/v-$i-1",
                map({ "/baremetal/v1$_" } "/nodes/$node", "/nodes/n-$i-1", "/nodes/$node/traits", "/nodes/$node/ports", "/ports/$port", "/ports/detail?address=52:54:00:"
                . join ':', unpack '(A2)3', sprintf '%06x', $i), map({ "/placement$_" } "/allocations/$consumer", "/resource_providers/$provider",
                "/resource_providers?name=p-$i-1", "/allocation_candidates?resources=VCPU:1&in_tree=$provider", map({ "/resource_providers/$provider/$_" } qw(inventories usages
                aggregates traits allocations))));
            for my $path (@paths) {
                my ($status, $text) = $get->($path);
                $got{ normal($path, $tenants) } = "$status " . normal($text, $tenants);
            }
        }
        $got{ normal($_, $tenants) } = normal(join(' ', $get->($_)), $tenants) for $in, "$in/counts", "$api/configmaps?labelSelector=copy%3Dl-$first-3";
    }
    $got{$_} = pages($get, $_, $tenants) for map({ "/baremetal/v1$_" } qw(/nodes?limit=1000 /nodes/detail?limit=500 /ports/detail?limit=1000)), map { "/placement$_" } qw(/resource_providers?
        /traits? /resource_classes? /usages?project_id=p);
    return \%got;
}
sub by_http { my ($instance) = @_; my $client = $instance->combined('admin'); return sub { my $answer = $client->get($_[0], headers => {%headers}); return ($answer->status, $answer->text) } }
sub by_fastcgi { my ($database) = @_; return sub { my $answer = $database->ask(GET => $_[0], undef, %headers) // die "$_[0]: no answer\n"; return @$answer{qw(status body)} } }

sub compare {
    my ($name, $is, $was) = @_;
    my @differ = grep { (ref $was->{$_} ? "@{ $was->{$_} }" : $was->{$_}) ne (ref $is->{$_} ? "@{ $is->{$_} }" : $is->{$_} // '') } sort keys %$was;
    is scalar @differ, 0, "$name: each of " . keys(%$was) . ' answers is the same' or diag join "\n", map { ref $was->{$_} ? $_ : "$_\n was $was->{$_}\n is  $is->{$_}" } @differ[ 0 .. ($#differ < 5 ? $#differ : 5) ];
    return;
}

# ---- here

my $unit = seed();
multiply($unit, 1,        $few,          "$dir/few");
multiply($unit, $few + 1, $few + $units, "$dir/many");
my %peak;
my %config = (here => $here->env('TENURE_CONFIG'), there => $there->env('TENURE_CONFIG'));
my %all = map { $_ => $home->database("all_$_") } qw(few many);
$peak{restore}{few} = measured($config{here}, 'restore few', 'restore', '--as', 'few', "$dir/few");
$peak{'dump all'}{few} = measured($config{here}, 'dump all few', 'dump', '--all', "$dir/all.few");
$peak{restore}{many} = measured($config{here}, 'restore many', 'restore', '--as', 'many', "$dir/many");
$peak{'dump all'}{many} = measured($config{here}, 'dump all many', 'dump', '--all', "$dir/all.many");
$peak{dump}{$_} = measured($config{here}, "dump $_", 'dump', '--tenant', $_, "$dir/again.$_") for qw(few many);
is $here->sql_value(q(SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 'many')), $units * UNIT + 2, 'as many resources as are wanted';
my $before = answers(by_http($here), { few => 'FEW', many => 'MANY' });
is scalar(grep { !ref && !/\A200 / } values %$before), 0, 'everything is there' or diag join "\n", map { "$_: $before->{$_}" } grep { !ref $before->{$_} && $before->{$_} !~ /\A200 / } keys %$before;
count('answers', scalar keys %$before);
count('pages', eval { my $n = 0; $n += @$_ for grep { ref } values %$before; $n });

# ---- there, under other names

$peak{'restore again'}{$_} = measured($config{there}, "restore $_ there", 'restore', '--as', "other-$_", "$dir/again.$_") for qw(few many);
compare('a tenant in another installation', answers(by_http($there), { 'other-few' => 'FEW', 'other-many' => 'MANY' }), $before);
my ($code, $doctor) = $there->manage('doctor');
is $code, 0, 'doctor finds nothing wrong' or diag $doctor;

# ---- the whole installation

for my $size (qw(few many)) {
    my ($done, $told) = $all{$size}->manage('db', 'init');
    is $done, 0, "an empty registry for $size" or diag $told;
    $peak{'restore all'}{$size} = measured($all{$size}->config_path, "restore all $size", 'restore', "$dir/all.$size");
}
$all{many}->serve;
compare('the whole installation in another database', answers(by_fastcgi($all{many}), { few => 'FEW', many => 'MANY' }), $before);
$all{many}->stop;

for my $what (sort keys %peak) {
    my ($less, $more) = @{ $peak{$what} }{qw(few many)};
    ok $more > 0 && $more < $less + MORE_KB, "$what: ten times as much takes no more memory" or diag "$less kB, then $more kB" if $less > 0;
}

done_testing;
