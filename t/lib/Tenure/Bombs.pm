# SPDX-License-Identifier: Apache-2.0
# Bombs: small requests, and small things stored, that would make a process take much memory or time. Each is measured: bytes
# sent, bytes stored before, bytes answered, the peak resident memory of the workers and of the watch process, seconds, CPU seconds.
#
#   my $bombs = Tenure::Bombs->new(instance => $instance, seed => 7, share => 0.3, told => sub { my ($result) = @_; … });
#   $bombs->run($_) for $bombs->groups;   # each of a group with that probability
#   $bombs->generated(20);                # random combinations, by the seed
#
# A result is a hash: name, statuses (that it may have), status, text (the end of its answer), sent, stored, received, worker_kb,
# grown_kb (the workers' beyond what they had), watch_kb, seconds, cpu. With quick => 1 they are sent and not measured. The instance has the combined endpoint and the placement API, and noauth.
package Tenure::Bombs;

use strict;
use warnings;

use Exporter qw(import);
use JSON::PP ();
use List::Util qw(max sum0);
use Time::HiRes ();

use Tenure::Instance;
use Tenure::Placement ();

our @EXPORT_OK = qw(allowed_kb is_sanitized peak_kb processes_of reset_peaks workers_of watch_process_of);

use constant { KB => 1024, LARGE => 900_000 };

my $encode = JSON::PP->new->utf8->canonical->allow_nonref;
my $table  = 'application/json;as=Table;v=v1;g=meta.k8s.io';
my $true   = JSON::PP::true;
my @json_patch = (type => 'application/json-patch+json');
my @strategic  = (type => 'application/strategic-merge-patch+json');
my @protobuf   = (type => 'application/vnd.kubernetes.protobuf');
my %ironic     = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
my %placement  = (headers => { 'OpenStack-API-Version' => 'placement 1.39' });
my $core = '/api/v1/namespaces/default';
my $crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
my $map  = '<map xmlns="http://www.w3.org/2005/xpath-functions">';

# ---- processes

sub read_file { my ($path) = @_; open my $in, '<', $path or return ''; local $/ = undef; return readline($in) // '' }

# The peak that is promised: 64 MB beyond four times max_body, given in MiB.
sub allowed_kb { my ($max_body) = @_; return (64 + 4 * ($max_body // 3)) * KB }

sub children { my ($instance, $endpoint) = @_; return Tenure::Instance::children_of($instance->master_pid($endpoint)) }
sub is_watch_process { my ($pid) = @_; return read_file("/proc/$pid/comm") =~ /tenured-watch/ }
sub workers_of       { my ($instance, $endpoint) = @_; return grep { !is_watch_process($_) } children($instance, $endpoint) }
sub watch_process_of { my ($instance, $endpoint) = @_; my ($pid) = grep { is_watch_process($_) } children($instance, $endpoint); return $pid }

# Every process of the program that the instance has, those that a web server started included.
sub processes_of {
    my ($instance) = @_;
    my ($short) = read_file($instance->dir . '/run/short') =~ /\A(\S+)/; # mod_fcgid starts a copy that is there
    my @dirs = ($instance->dir, $short // ());
    my @found;
    for my $pid (map { m{(\d+)\z} } glob '/proc/[0-9]*') {
        next unless (readlink("/proc/$pid/exe") // '') =~ m{/tenured\z};
        my $command = read_file("/proc/$pid/cmdline");
        push @found, $pid if grep { index($command, "$_/") >= 0 } @dirs;
    }
    return @found;
}

# Sanitizers take much for themselves: peaks say nothing then.
sub is_sanitized { my ($pid) = @_; return read_file("/proc/$pid/maps") =~ /libasan/ }

# From now on.
sub reset_peaks {
    for my $pid (@_) {
        open my $out, '>', "/proc/$pid/clear_refs" or next;
        print {$out} '5';
        close $out;
    }
    return;
}

# The largest of them since.
sub peak_kb { return max(0, map { read_file("/proc/$_/status") =~ /^VmHWM:\s+(\d+)/m ? $1 : 0 } @_) }

# CPU seconds of each so far, by its pid.
sub cpu_of {
    my %of;
    for my $pid (@_) {
        my @stat = split ' ', read_file("/proc/$pid/stat") =~ s/\A.*\) //sr or next;
        $of{$pid} = ($stat[11] + $stat[12]) / 100;
    }
    return \%of;
}

# ---- measuring

# Counts what is sent and received.
package Tenure::Bombs::HTTP {
    use parent 'HTTP::Tiny';
    my %count = (sent => 0, received => 0);
    sub count { return \%count }

    sub request {
        my ($self, $method, $url, $option) = @_;
        $count{sent} += length($method) + length($url) + length($option->{content} // '') + length join '', %{ $option->{headers} // {} };
        my $answer = $self->SUPER::request($method, $url, $option);
        $count{received} += length($answer->{content} // '');
        return $answer;
    }
}

sub new {
    my ($class, %option) = @_;
    my $instance = $option{instance};
    my $self = bless { share => 1, told => sub { }, seed => 0, stored => 0, n => 0, %option }, $class;
    my $http = Tenure::Bombs::HTTP->new(max_redirect => 0, keep_alive => 0, timeout => 120, agent => 'bombs');
    my $counted = sub { my ($client) = @_; $client->{http} = $http; return $client };
    my $name = $self->{tenant} = $option{tenant} // 'acme';
    $self->{operator}  = $counted->($instance->combined('admin'));
    $self->{acme}      = $counted->($instance->combined("alice:$name"));
    $self->{reader}    = $counted->($instance->combined("rita:$name:reader"));
    $self->{placement} = $counted->($instance->placement);
    $self->{maps}      = "/v2.0/$name/namespaces/default/configmaps";
    for my $tenant ($name, "$name-other") {
        my $status = $self->{operator}->put("/v2.0/$tenant", json => { tenant => {} })->status;
        die "tenant $tenant: $status\n" if $status > 204;
    }
    srand $self->{seed};
    return $self;
}

# What a bomb stores before it goes off. Answers the last response.
sub store {
    my ($self, $code) = @_;
    my $count = Tenure::Bombs::HTTP->count;
    my $before = $count->{sent};
    my $answer = $code->();
    $self->{stored} += $count->{sent} - $before;
    return $answer;
}

# The bytes that were stored belong to the bombs until this is called.
sub forget_stored { my ($self) = @_; $self->{stored} = 0; return }

# Sends one, or leaves it out. statuses: that it may have.
sub bomb {
    my ($self, $name, $code, @statuses) = @_;
    return undef if rand() >= $self->{share};
    return $code->() if $self->{quick};
    my @all     = processes_of($self->{instance});
    my @watch   = grep { is_watch_process($_) } @all;
    my @workers = grep { !is_watch_process($_) } @all;
    my ($count, $cpu) = (Tenure::Bombs::HTTP->count, cpu_of(@workers));
    my ($sent, $received) = @$count{qw(sent received)};
    reset_peaks(@all);
    my $rss    = peak_kb(@workers);
    my $began  = Time::HiRes::time();
    my $answer = $code->();
    my $result = { name => $name, statuses => \@statuses, status => $answer->status, seconds => Time::HiRes::time() - $began };
    my $after = cpu_of(@workers);
    $result->{cpu} = max(0, map { $after->{$_} - $cpu->{$_} } grep { defined $after->{$_} && defined $cpu->{$_} } @workers);
    $result->{sent}      = $count->{sent} - $sent;
    $result->{received}  = $count->{received} - $received;
    $result->{stored}    = $self->{stored};
    $result->{worker_kb} = peak_kb(grep { !is_watch_process($_) } processes_of($self->{instance}));
    $result->{grown_kb}  = max(0, $result->{worker_kb} - $rss);
    $result->{watch_kb}  = peak_kb(@watch);
    $self->{stored} += $result->{sent} if $result->{status} == 201;
    $result->{text}      = substr $answer->text // '', 0, 400;
    $result->{answer}    = $answer;
    push @statuses, 404 if $self->{share} < 1; # what would have stored it may have been left out
    $self->{told}->($result);
    return $answer;
}

# One that others rely on: it is never left out.
sub needed { my ($self, @bomb) = @_; local $self->{share} = 1; return $self->bomb(@bomb) }

# ---- groups

my @groups = (json_patch => \&json_patch, json => \&json, xml => \&xml, merges => \&merges, definitions => \&definitions, columns => \&columns,
    openapi => \&openapi, protobuf => \&protobuf, selectors => \&selectors, lists => \&lists, moves => \&moves, metal => \&metal, providers => \&providers, params => \&params);

sub groups { my $i = 0; return grep { $i++ % 2 == 0 } @groups }

sub run {
    my ($self, $group) = @_;
    my %code = @groups;
    $self->forget_stored;
    $code{$group}->($self);
    return;
}

# A body of that media type for a fresh name below the path.
sub fresh { my ($self) = @_; return 'b' . $self->{n}++ }

sub json_patch {
    my ($self) = @_;
    my ($acme, $maps, $large) = (@$self{qw(acme maps)}, 'x' x LARGE);
    my $name = $self->fresh;
    $self->store(sub { $acme->put("$maps/$name", json => { data => { s => $large } }) });
    my $patch = sub { my (@ops) = @_; my $body = $encode->encode(\@ops); return sub { $acme->request('PATCH', "$maps/$name", body => $body, @json_patch) } };
    my @copies = map { { op => 'copy', from => '/data/s', path => "/data/c$_" } } 1 .. 3000;
    $self->bomb('JSON Patch: copies of a string', $patch->(@copies), 413);
    $self->bomb('JSON Patch: the same in spaces', sub { $acme->request('PATCH', "$core/configmaps/$name", body => $encode->encode(\@copies), @json_patch) }, 413);
    $self->bomb('JSON Patch: copies of the whole', $patch->(map { { op => 'copy', from => '', path => "/data$_" } } 1 .. 40), 409, 413);
    $self->bomb('JSON Patch: copies of many objects', $patch->({ op => 'add', path => '/data/t', value => { map { ("k$_" => {}) } 1 .. 4000 } },
        map { { op => 'copy', from => '/data/t', path => "/data/t$_" } } 1 .. 200), 409, 413, 422);
    $self->bomb('JSON Patch: tests of the whole', $patch->(map { { op => 'test', path => '', value => $_ } } undef, 1 .. 20_000), 409);
    $self->bomb('JSON Patch: items put in front', $patch->({ op => 'add', path => '/data/l', value => [] }, map { { op => 'add', path => '/data/l/0', value => $_ } } 1 .. 40_000), 200, 413);
    $self->bomb('JSON Patch: moves of the whole', $patch->(map { $_ % 2 ? { op => 'move', from => '/data', path => '/moved' } : { op => 'move', from => '/moved', path => '/data' } } 1 .. 20_000), 200, 409, 413);
    $self->bomb('JSON Patch: a long pointer', $patch->({ op => 'add', path => '/a' x 300_000, value => 1 }), 400, 409, 413);
    $self->bomb('JSON Patch: doubling', $patch->({ op => 'add', path => '/d', value => { a => 1 } }, map { { op => 'copy', from => '/d', path => "/d/k$_" } } 1 .. 40), 400, 409, 413);
    $acme->delete("$maps/$name");
    return;
}

sub json {
    my ($self) = @_;
    my ($acme, $maps) = @$self{qw(acme maps)};
    for my $unit ('{}', '[]', '""', '{"a":{}}', '{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}', '1.5', '[[]]', 'null', '"\u0001"', '1e999', '"' . 'a' x 20 . '"') {
        my $name = $self->fresh;
        my $list = '{"data":{"l":[' . join(',', ($unit) x (1_000_000 / (1 + length $unit))) . ']}}';
        $self->bomb("JSON: many $unit", sub { $acme->put("$maps/$name", body => $list, type => 'application/json') }, 201, 400, 413);
        $self->bomb("JSON: read again", sub { $acme->get("$maps/$name") }, 200, 404, 422);
        $self->bomb("JSON: many $unit, read as XML", sub { $acme->get("$maps/$name", accept => 'application/xml') }, 200, 404, 422);
        $acme->delete("$maps/$name");
    }
    my $name    = $self->fresh;
    my $members = '{' . join(',', map { qq("m$_":{}) } 1 .. 80_000) . '}';
    $self->bomb('JSON: many members', sub { $acme->put("$maps/$name", body => $members, type => 'application/json') }, 201, 400, 413);
    $self->bomb('JSON: a merge into many members', sub { $acme->patch("$maps/$name", { a => 1 }) }, 200, 404, 413);
    $acme->delete("$maps/$name");
    my $names = join ',', map { '"' . ('n' x 30 . $_) . '":0' } 1 .. 60_000;
    $self->bomb('JSON: equal names', sub { $acme->put("$maps/$name", body => '{"a":1,' . '"a":1,' x 400_000 . '"b":1}', type => 'application/json') }, 400, 413);
    $self->bomb('JSON: long names', sub { $acme->put("$maps/$name", body => "{$names}", type => 'application/json') }, 201, 400, 413);
    $self->bomb('JSON: deep arrays', sub { $acme->put("$maps/$name", body => '[' x 3_000_000, type => 'application/json') }, 400);
    $self->bomb('JSON: deep objects', sub { $acme->put("$maps/$name", body => '{"a":' x 500_000, type => 'application/json') }, 400);
    $self->bomb('JSON: escapes', sub { $acme->put("$maps/$name", body => '{"data":{"s":"' . '\u0001' x 450_000 . '"}}', type => 'application/json') }, 200, 201, 400, 413);
    $self->bomb('JSON: escapes read as XML', sub { $acme->get("$maps/$name", accept => 'application/xml') }, 200, 404, 406, 422);
    $self->bomb('JSON: a long number', sub { $acme->put("$maps/$name", body => '{"data":{"n":' . '9' x 2_900_000 . '}}', type => 'application/json') }, 200, 201, 400, 413);
    $acme->delete("$maps/$name");
    return;
}

sub xml {
    my ($self) = @_;
    my ($acme, $maps, $operator) = @$self{qw(acme maps operator)};
    my $tenant = $self->fresh;
    my $name   = $self->fresh;
    my $many   = join ' ', map { "a$_=\"\"" } 1 .. 80_000;
    my $put    = sub { my ($body) = @_; return sub { $acme->put("$maps/$name", xml => $body) } };
    $self->bomb('XML: many attributes', sub { $operator->put("/v2.0/$tenant", xml => qq(<account id="$tenant" $many/>)) }, 400);
    $self->bomb('XML: many namespaces', sub { $operator->put("/v2.0/$tenant", xml => qq(<account id="$tenant" ) . join(' ', map { "xmlns:a$_=\"u\"" } 1 .. 40_000) . '/>') }, 400);
    $self->bomb('XML: many attributes within', $put->("$map<string $many>x</string></map>"), 400);
    $self->bomb('XML: many attributes behind what hides them', $put->(qq($map<!-- <a b=" --><?p <a b=' ?><string $many>x</string></map>)), 400);
    $self->bomb('XML: many elements', $put->($map . join('', map { qq(<null key="$_"/>) } 1 .. 45_000) . '</map>'), 200, 201, 413);
    $self->bomb('XML: many empty maps', $put->("$map<array key=\"a\">" . '<map/>' x 120_000 . '</array></map>'), 200, 201, 413);
    $self->bomb('XML: many character references', $put->("$map<string key=\"a\">" . '&lt;' x 200_000 . '</string></map>'), 200, 201, 413);
    $self->bomb('XML: many sections', $put->("$map<string key=\"a\">" . '<![CDATA[a]]>' x 70_000 . '</string></map>'), 200, 201, 413);
    $self->bomb('XML: deep', $put->($map . '<map key="a">' x 200_000), 400);
    $self->bomb('XML: entities', $put->('<!DOCTYPE map [<!ENTITY a "' . 'a' x 1000 . '">' . join('', map { my $i = $_; "<!ENTITY b$i \"" . '&a;' x 50 . '">' } 1 .. 50) . ']>' . "$map<string key=\"a\">&b1;&b2;</string></map>"), 400);
    $self->bomb('XML: comments', $put->("$map" . '<!---->' x 400_000 . '</map>'), 413);
    $self->bomb('XML: instructions', $put->("$map" . '<?a?>' x 500_000 . '</map>'), 413);
    $self->bomb('XML: a long name', $put->("$map<" . 'a' x 2_900_000 . '/></map>'), 400, 413);
    $acme->delete("$maps/$name");
    return;
}

sub containers { my ($n, %more) = @_; return [map { { name => "c$_", image => 'i', %more } } 1 .. $n] }

# Merge patches, plain and strategic.
sub merges {
    my ($self) = @_;
    my $acme = $self->{acme};
    my $name = $self->fresh;
    $self->store(sub { $acme->post("$core/pods", json => { metadata => { name => $name }, spec => { containers => containers(3000) } }) });
    my $merge = sub { my ($spec, @type) = @_; my $body = $encode->encode({ spec => $spec }); return sub { $acme->request('PATCH', "$core/pods/$name?dryRun=All", body => $body, @type) } };
    my $turned = [reverse @{ containers(3000, image => 'j') }];
    $self->bomb('merge: the list turned round', $merge->({ containers => $turned }, @strategic), 200, 413, 422);
    $self->bomb('merge: an order of many', $merge->({ '$setElementOrder/containers' => [map { { name => "c$_" } } reverse 1 .. 20_000], containers => [] }, @strategic), 200, 400, 413, 422);
    $self->bomb('merge: many deletions', $merge->({ containers => [map { { '$patch' => 'delete', name => "c$_" } } 2 .. 20_000] }, @strategic), 200, 400, 413, 422);
    $self->bomb('merge: many of one name', $merge->({ containers => [({ name => 'c1', env => [{ name => 'a', value => 'b' }] }) x 20_000] }, @strategic), 200, 400, 413, 422);
    $self->bomb('merge: variables of one container', $merge->({ containers => [{ name => 'c1', env => [map { { name => "v$_", value => 'x' } } 1 .. 40_000] }] }, @strategic), 200, 400, 413, 422);
    $self->bomb('merge: a retained list', $merge->({ '$retainKeys' => [map { "k$_" } 1 .. 200_000] }, @strategic), 200, 400, 413, 422);
    $self->bomb('merge: finalizers', sub { $acme->request('PATCH', "$core/pods/$name?dryRun=All", @strategic,
        body => $encode->encode({ metadata => { '$deleteFromPrimitiveList/finalizers' => [map { "a.b/f$_" } 1 .. 80_000], finalizers => [map { "a.b/g$_" } 1 .. 20_000] } })) }, 200, 400, 413, 422);
    $self->bomb('merge: many members', $merge->({ map { ("m$_" => {}) } 1 .. 100_000 }, type => 'application/merge-patch+json'), 200, 400, 413, 422);
    $self->bomb('merge: many nulls', $merge->({ map { ("m$_" => undef) } 1 .. 200_000 }, type => 'application/merge-patch+json'), 200, 400, 413, 422);
    $acme->delete("$core/pods/$name?gracePeriodSeconds=0");
    return;
}

# A type with these members of its only version; the path of its objects.
sub type {
    my ($self, %version) = @_;
    my $plural = $self->fresh . 's';
    my $answer = $self->store(sub { $self->{acme}->post($crds, json => { metadata => { name => "$plural.example.com" }, spec => { group => 'example.com', scope => 'Namespaced',
        names => { plural => $plural, kind => ucfirst $plural }, versions => [{ name => 'v1', served => $true, storage => $true,
            schema => { openAPIV3Schema => { type => 'object', 'x-kubernetes-preserve-unknown-fields' => $true } }, %version }] } }) });
    $self->{type_status} = $answer->status;
    return "/apis/example.com/v1/namespaces/default/$plural";
}

sub schema { my (%properties) = @_; return (schema => { openAPIV3Schema => { type => 'object', properties => \%properties } }) }

sub definitions {
    my ($self) = @_;
    my $acme = $self->{acme};
    my $post = sub { my ($list, $object) = @_; my $body = $encode->encode({ metadata => { name => 'a' }, %$object }); return sub { $acme->post("$list?dryRun=All", body => $body, type => 'application/json') } };
    my $list = $self->type(schema(l => { type => 'array', items => { type => 'object', properties => { a => { type => 'string', default => 'y' x 40_000 } } } }));
    $self->bomb('definitions: defaults that multiply', $post->($list, { l => [({}) x 50_000] }), 400, 413);
    $self->bomb('definitions: fewer of them', $post->($list, { l => [({}) x 500] }), 413);
    my $nested = { type => 'object', properties => { s => { type => 'string', default => 'z' x 30_000 } } };
    $nested = { type => 'object', default => {}, properties => { a => $nested, b => $nested } } for 1 .. 8;
    my $plural = $self->fresh . 's';
    $self->bomb('definitions: defaults within defaults', sub { $acme->post("$crds?dryRun=All", json => { metadata => { name => "$plural.example.com" }, spec => { group => 'example.com', scope => 'Namespaced',
        names => { plural => $plural, kind => ucfirst $plural }, versions => [{ name => 'v1', served => $true, storage => $true, schema => { openAPIV3Schema => $nested } }] } }) }, 201, 400, 413, 422);
    $list = $self->type(schema(s => { type => 'string', pattern => '^(a*)*(a|a)*b$' }, l => { type => 'array', items => { type => 'string', pattern => '(x+x+)+y' } }));
    $self->bomb('definitions: a pattern that goes back', $post->($list, { s => 'a' x LARGE }), 400, 413, 422);
    $self->bomb('definitions: a pattern, often', $post->($list, { l => [('x' x 40) x 20_000] }), 400, 413, 422);
    $list = $self->type(schema(s => { type => 'string', pattern => '^' . '(a{1,900}){1,900}' x 8 . '$' }));
    $self->bomb('definitions: a pattern with counts', $post->($list, { s => 'a' x 100_000 }), 201, 400, 404, 413, 422);
    $list = $self->type(schema(l => { type => 'array', 'x-kubernetes-list-type' => 'set', items => { type => 'string' } },
        m => { type => 'array', 'x-kubernetes-list-type' => 'map', 'x-kubernetes-list-map-keys' => ['k'], items => { type => 'object', required => ['k'], properties => { k => { type => 'string' } } } }));
    $self->bomb('definitions: a large set', $post->($list, { l => [map { "v$_" } 1 .. 90_000] }), 201, 400, 404, 413, 422);
    $self->bomb('definitions: a set of equals', $post->($list, { l => [('v') x 300_000] }), 400, 404, 413, 422);
    $self->bomb('definitions: a large map', $post->($list, { m => [map { { k => "v$_" } } 1 .. 60_000] }), 201, 400, 404, 413, 422);
    $list = $self->type(schema(l => { type => 'array', items => { type => 'string', enum => [map { "e$_" } 1 .. 20_000] } }));
    $self->bomb('definitions: a long choice for each of many', $post->($list, { l => [('e19999') x 80_000] }), 201, 400, 404, 413, 422);
    my @any = map { { properties => { "p$_" => { type => 'string', maxLength => 3 } }, required => ["p$_"] } } 1 .. 1000;
    $list = $self->type(schema(l => { type => 'array', items => { type => 'object', 'x-kubernetes-preserve-unknown-fields' => $true, anyOf => \@any } }));
    $self->bomb('definitions: many alternatives for each of many', $post->($list, { l => [({ x => 1 }) x 20_000] }), 201, 400, 404, 413, 422);
    $list = $self->type(schema(a => { type => 'integer' }));
    $self->bomb('definitions: many members that are unknown', $post->("$list?fieldValidation=Strict&x=", { map { ("m$_" => 1) } 1 .. 150_000 }), 201, 400, 404, 413, 422);
    $self->bomb('definitions: as many mistakes', $post->($list, { a => { map { ("m$_" => 1) } 1 .. 150_000 } }), 400, 404, 413, 422);
    return;
}

sub columns {
    my ($self) = @_;
    my $acme = $self->{acme};
    my $large = 'x' x LARGE;
    my $columns = $self->type(additionalPrinterColumns => [map { { name => "c$_", type => 'string', jsonPath => '.spec.x' } } 1 .. 100]);
    my $watch = $self->watch($columns);
    $self->needed('columns: of a large member, stored', sub { $acme->post($columns, json => { metadata => { name => 'a' }, spec => { x => $large } }) }, 201);
    $self->{stored} += LARGE;
    $self->bomb('columns: a list', sub { $acme->get($columns, accept => $table) }, 422);
    $self->bomb('columns: of one', sub { $acme->get("$columns/a", accept => $table) }, 422);
    $self->bomb('columns: while it is watched', sub {
        my $answer = $acme->patch("$columns/a", { spec => { n => 1 } });
        $watch->read_while(5, sub { !$watch->{over} && !@{ $watch->{events} } }) if $watch;
        return $answer;
    }, 200);
    $acme->delete("$columns/a");
    my @paths = ('.spec.l[*].l[*].l[*]', '..x', '.spec..x', '.spec.l[*]', '.spec.l[0:99999]', '.spec.l[?(@.x=="y")].x', '.spec');
    my $wide = $self->type(additionalPrinterColumns => [map { { name => "c$_", type => 'string', jsonPath => $paths[$_ % @paths] } } 0 .. 98]);
    $wide = $self->type(additionalPrinterColumns => [map { { name => "c$_", type => 'string', jsonPath => $_ % 2 ? '.spec.l[*].l[*].x' : '.spec' } } 0 .. 98]) if $self->{type_status} != 201;
    my $l = [map { { x => 'y', l => [map { { x => 'y', l => [({ x => 'y' }) x 10] } } 1 .. 20] } } 1 .. 100];
    $self->needed('columns: paths over many, stored', sub { $acme->post($wide, json => { metadata => { name => 'a' }, spec => { x => 1, l => $l } }) }, 201, 400, 404);
    $self->bomb('columns: paths over many', sub { $acme->get($wide, accept => $table) }, 200, 404, 422);
    $acme->delete("$wide/a");
    return;
}

# A watch of the tenant's as a table, where there is a watch process.
sub watch {
    my ($self, $path) = @_;
    return undef if !grep { is_watch_process($_) } processes_of($self->{instance});
    require Tenure::Watch;
    return Tenure::Watch->new($self->{instance}->env('TENURE_COMBINED_URL'), "alice:$self->{tenant}", $path, accept => $table, wait => 2);
}

# Of many large definitions.
sub openapi {
    my ($self) = @_;
    my $n = $self->{types} // 150;
    my %properties = map { ("property$_" => { type => 'string', description => 'd' x 200 }) } 1 .. 1000;
    my @plurals = map { $self->type(schema(%properties)) =~ m{([^/]+)\z} } 1 .. $n;
    for my $path ('/openapi/v2', '/openapi/v3', '/openapi/v3/apis/example.com/v1', '/apis/example.com/v1', '/apis', $crds) {
        $self->bomb("openapi: $path of $n large definitions, by a reader", sub { $self->{reader}->get($path) }, 200, 404, 422);
    }
    $self->bomb('openapi: the definitions as a table', sub { $self->{reader}->get($crds, accept => $table) }, 200, 422);
    $self->bomb('openapi: the definitions in the tenancy API', sub { $self->{reader}->get("/v2.0/$self->{tenant}/customresourcedefinitions") }, 200, 404, 422);
    $self->{acme}->delete("$crds/$_.example.com") for @plurals;
    return;
}

sub varint { my ($n) = @_; my $out = ''; while ($n > 127) { $out .= chr($n & 127 | 128); $n >>= 7 } return $out . chr $n }
sub field    { my ($n, $text) = @_; return varint($n << 3 | 2) . varint(length $text) . $text }
sub envelope { my ($kind, $raw) = @_; return "k8s\0" . field(1, field(1, 'v1') . field(2, $kind)) . field(2, $raw) }

sub protobuf {
    my ($self) = @_;
    my $acme = $self->{acme};
    my $send = sub { my ($plural, $body) = @_; return sub { $acme->request('POST', "$core/$plural?dryRun=All", body => $body, @protobuf) } };
    my $meta = field(1, field(1, 'p'));
    my @may  = (201, 400, 413, 415, 422);
    $self->bomb('protobuf: many empty entries', $send->('configmaps', envelope('ConfigMap', $meta . "\x12\0" x 700_000)), @may);
    $self->bomb('protobuf: many entries', $send->('configmaps', envelope('ConfigMap', $meta . join '', map { field(2, field(1, "k$_")) } 1 .. 100_000)), @may);
    $self->bomb('protobuf: many empty containers', $send->('pods', envelope('Pod', $meta . field(2, "\x12\0" x 700_000))), @may);
    $self->bomb('protobuf: many containers', $send->('pods', envelope('Pod', $meta . field(2, join '', map { field(2, field(1, "c$_") . field(2, 'i')) } 1 .. 50_000))), @may);
    $self->bomb('protobuf: many finalizers', $send->('configmaps', envelope('ConfigMap', field(1, field(1, 'p') . "\x72\0" x 700_000))), @may);
    $self->bomb('protobuf: many owners', $send->('configmaps', envelope('ConfigMap', field(1, field(1, 'p') . "\x6a\0" x 700_000))), @may);
    $self->bomb('protobuf: labels', $send->('configmaps', envelope('ConfigMap', field(1, field(1, 'p') . join '', map { field(11, field(1, "l$_") . field(2, 'v')) } 1 .. 100_000))), @may);
    $self->bomb('protobuf: metadata again and again', $send->('configmaps', envelope('ConfigMap', field(1, field(1, 'p')) x 200_000)), @may);
    $self->bomb('protobuf: a length that is claimed', $send->('configmaps', envelope('ConfigMap', $meta . "\x12\xff\xff\xff\xff\x0f")), 400);
    $self->bomb('protobuf: the longest', $send->('configmaps', envelope('ConfigMap', $meta . "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")), 400);
    $self->bomb('protobuf: bytes as base64', $send->('secrets', envelope('Secret', $meta . field(2, field(1, 'k') . field(2, "\xff" x 2_000_000)))), @may);
    my $deep = '';
    $deep = field(2, $deep) for 1 .. 2000;
    $self->bomb('protobuf: deep', $send->('pods', envelope('Pod', $meta . field(2, $deep))), @may);
    return;
}

sub selectors {
    my ($self) = @_;
    my ($acme, $maps) = @$self{qw(acme maps)};
    my @names = map { $self->fresh } 1 .. 20;
    my %labels = map { ("l$_" => "v$_") } 1 .. 3000;
    $self->store(sub { $acme->put("$maps/$_", json => { metadata => { labels => \%labels }, data => { a => 'b' } }) }) for @names;
    # What a web server takes for an address.
    my $room = 7000;
    my $long = sub { my ($unit, $separator) = @_; return join $separator, ($unit) x ($room / (length($unit) + length $separator)) };
    my @may = (200, 400, 403, 404, 414, 422, 431, 502);
    for my $case (['terms', $long->('l1=v1', '%2C')], ['absences', $long->('!x', '%2C')], ['choices', 'l1+in+(' . $long->('v', '%2C') . ')'], ['exclusions', 'l1+notin+(' . $long->('v', '%2C') . ')'],
        ['open brackets', '(' x $room], ['commas', '%2C' x ($room / 3)], ['nothing', '']) {
        $self->bomb("selectors: $case->[0]", sub { $acme->get("$core/configmaps?labelSelector=$case->[1]") }, @may);
        $self->bomb("selectors: $case->[0], to delete", sub { $acme->delete("$core/configmaps?dryRun=All&labelSelector=$case->[1]") }, @may) if length $case->[1];
    }
    $self->bomb('selectors: fields', sub { $acme->get("$core/configmaps?fieldSelector=" . $long->('metadata.name=a', '%2C')) }, @may);
    $self->bomb('selectors: equal parameters', sub { $acme->get("$core/configmaps?" . $long->('limit=1', '&')) }, @may);
    $self->bomb('selectors: unknown parameters', sub { $acme->get("$core/configmaps?" . $long->('a', '&')) }, @may);
    $self->bomb('selectors: a long continue token', sub { $acme->get("$core/configmaps?limit=1&continue=" . 'e' x $room) }, @may, 410);
    $self->bomb('selectors: traits', sub { $acme->get("$maps?required=" . $long->('HW_CPU_X86_AVX', '%2C')) }, @may);
    $self->bomb('selectors: a long path', sub { $acme->get('/v2.0' . '/a' x ($room / 2)) }, @may);
    $self->bomb('selectors: an Accept of many', sub { $acme->get("$core/configmaps", accept => $long->('a/b;q=0.5', ',')) }, @may, 406);
    $self->bomb('selectors: an If-None-Match of many', sub { $acme->get("$maps/$names[0]", if_none_match => $long->('W/"a"', ',')) }, @may, 304);
    $acme->delete("$maps/$_") for @names;
    return;
}

sub lists {
    my ($self) = @_;
    my ($acme, $maps, $tenant) = @$self{qw(acme maps tenant)};
    my $large = 'x' x LARGE;
    my $n = $self->{large} // 30;
    $self->store(sub { my $i = $_; $acme->put("$maps/l$i", json => { data => { s => $large, i => "$i" } }) }) for 1 .. $n;
    my $mb = int($n * LARGE / 1_000_000);
    $self->needed("lists: of $mb MB", sub { $acme->get("$core/configmaps") }, 200);
    $self->bomb("lists: of $mb MB as a table", sub { $acme->get("$core/configmaps", accept => $table) }, 200);
    $self->bomb('lists: its head', sub { $acme->head("$core/configmaps") }, 200);
    $self->bomb('lists: a page', sub { $acme->get("$core/configmaps?limit=10") }, 200);
    $self->bomb('lists: with a selector', sub { $acme->get("$core/configmaps?labelSelector=a%3Db") }, 200);
    $self->bomb('lists: of all tenants', sub { $self->{operator}->get('/api/v1/tenants/all/configmaps') }, 200, 422);
    $self->bomb('lists: of tenancy', sub { $acme->get($maps) }, 200);
    $self->bomb('lists: of tenancy as XML', sub { $acme->get($maps, accept => 'application/xml') }, 200, 422);
    $self->bomb('lists: all of the tenant', sub { $acme->get("/v2.0/$tenant/namespaces/default") }, 200, 404, 422);
    $self->bomb('lists: deleted together, tried', sub { $acme->delete("$core/configmaps?dryRun=All") }, 200, 413, 422);
    $self->bomb('lists: deleted together', sub { $acme->delete("$core/configmaps") }, 200, 413, 422);
    $acme->delete("$maps/l$_") for 1 .. $n;
    $self->bomb('lists: the deleted', sub { $acme->get("$maps?state=deleted") }, 200, 400, 404, 422);
    return;
}

# A move with very many blockers: the other tenant has all names.
sub moves {
    my ($self) = @_;
    my ($operator, $tenant) = @$self{qw(operator tenant)};
    my $n = $self->{blockers} // 300;
    for my $of ($tenant, "$tenant-other") {
        my $maps = "/v2.0/$of/namespaces/default/configmaps";
        $self->store(sub { my $i = $_; $operator->put("$maps/" . 'blocker-' x 20 . $i, json => { data => { i => "$i" } }) }) for 1 .. $n;
    }
    for my $accept ('application/json', 'application/xml') {
        $self->bomb("moves: a preview with $n blockers as $accept", sub { $operator->get("/v2.0/$tenant/action/move?dest=$tenant-other", accept => $accept) }, 200);
        $self->bomb("moves: one with $n blockers as $accept", sub { $operator->post("/v2.0/$tenant/action/move?dest=$tenant-other", accept => $accept) }, 409);
    }
    $self->bomb('moves: the change log', sub { $operator->get("/v2.0/$tenant/changes?limit=100000") }, 200, 400);
    $operator->delete("/v2.0/$tenant-other/namespaces/default/configmaps/" . 'blocker-' x 20 . $_) for 1 .. $n;
    $operator->delete("/v2.0/$tenant/namespaces/default/configmaps/" . 'blocker-' x 20 . $_) for 1 .. $n;
    return;
}

sub metal {
    my ($self) = @_;
    my $operator = $self->{operator};
    my $n = $self->{nodes} // 40;
    my $make = sub { my (%extra) = @_; my $answer = $operator->post('/baremetal/v1/nodes', json => { driver => 'fake-hardware', %extra }, %ironic); return $answer->status == 201 ? $answer->json->{uuid} : undef };
    my $large = 'x' x LARGE;
    my $one = $self->store(sub { $make->(extra => { s => $large }) }) // 'none';
    my $path = "/baremetal/v1/nodes/$one";
    my $patch = sub { my ($what, $ops, @may) = @_; my $body = $encode->encode($ops); $self->bomb("metal: $what", sub { $operator->request('PATCH', $path, body => $body, @json_patch, %ironic) }, @may) };
    $patch->('copies in a node', [map { { op => 'copy', from => '/extra/s', path => "/extra/c$_" } } 1 .. 3000], 400, 413);
    $patch->('many members', [map { { op => 'add', path => "/extra/m$_", value => {} } } 1 .. 30_000], 200, 400, 413);
    $patch->('a deep extra', [{ op => 'add', path => '/extra/d', value => eval { my $d = {}; $d = { a => $d } for 1 .. 60; $d } }], 200, 400, 413);
    $self->bomb('metal: a large node', sub { $operator->get($path, %ironic) }, 200);
    $self->bomb('metal: fields again and again', sub { $operator->get("$path?fields=" . join(',', ('extra') x 800), %ironic) }, 200, 400, 422);
    my @nodes = grep { defined } map { $self->store(sub { $make->(extra => { s => 'y' x 250_000 }, description => 'd' x 4000) }) } 1 .. $n;
    for my $query ('', '/detail', '?fields=extra', '?fields=uuid,extra,driver_info,properties,instance_info', '?detail=True', '?detail=True&sort_key=name&sort_dir=desc', '?fields=' . join(',', ('extra') x 500), '?description_contains=' . 'd' x 3000,
        '?limit=1000&detail=True') {
        $self->bomb('metal: nodes' . substr($query, 0, 40), sub { $operator->get("/baremetal/v1/nodes$query", %ironic) }, 200, 400, 422);
    }
    $self->bomb('metal: traits', sub { $operator->put("$path/traits", json => { traits => [map { "CUSTOM_T$_" } 1 .. 100_000] }, %ironic) }, 204, 400, 413, 422);
    $self->bomb('metal: a large POST', sub { $operator->post('/baremetal/v1/nodes?x=', json => { driver => 'fake-hardware', extra => { map { ("m$_" => []) } 1 .. 60_000 } }, %ironic) }, 201, 400, 413);
    $self->bomb('metal: many chassis in one', sub { $operator->post('/baremetal/v1/chassis', json => { description => 'd' x 2_000_000, extra => { l => [([]) x 200_000] } }, %ironic) }, 201, 400, 413);
    $operator->delete("/baremetal/v1/nodes/$_", %ironic) for $one, @nodes;
    return;
}

sub providers {
    my ($self) = @_;
    my $placement = $self->{placement};
    my $n = $self->{providers} // 300;
    my $uuid = sub { return Tenure::Placement::uuid() };
    my @may = (200, 204, 400, 404, 409, 413, 414, 422);
    my $answer = $self->store(sub { $placement->post('/resource_providers', json => { name => $self->fresh }, %placement) });
    my $first = $answer->json->{uuid};
    $self->store(sub { $placement->put("/resource_providers/$first/inventories", json => { resource_provider_generation => 0, inventories => { VCPU => { total => 2_000_000 } } }, %placement) });
    my @all = map { $self->store(sub { $placement->post('/resource_providers', json => { name => $self->fresh . 'n' x 180 }, %placement) })->json->{uuid} // () } 1 .. $n;
    my $allocation = sub { my ($of, $consumer) = @_; return { allocations => $of, project_id => 'p', user_id => 'u', consumer_generation => undef, consumer_type => 'INSTANCE' } };
    my $put = sub { my ($what, $path, $json) = @_; my $body = $encode->encode($json); $self->bomb("placement: $what", sub { $placement->put($path, body => $body, type => 'application/json', %placement) }, @may) };
    $put->('an allocation of many providers', '/allocations/' . $uuid->(), $allocation->({ map { ($uuid->() => { resources => { VCPU => 1 } }) } 1 .. 15_000 }));
    $put->('an allocation of many classes', '/allocations/' . $uuid->(), $allocation->({ $first => { resources => { map { ("CUSTOM_C$_" => 1) } 1 .. 60_000 } } }));
    $put->('mappings', '/allocations/' . $uuid->(), { %{ $allocation->({ $first => { resources => { VCPU => 1 } } }) }, mappings => { '' => [map { $uuid->() } 1 .. 40_000] } });
    my $many = $encode->encode({ map { ($uuid->() => $allocation->({ $first => { resources => { VCPU => 1 } } })) } 1 .. 8000 });
    $self->bomb('placement: very many consumers', sub { $placement->post('/allocations', body => $many, type => 'application/json', %placement) }, @may);
    my $some = $encode->encode({ map { ($uuid->() => $allocation->({ $first => { resources => { VCPU => 1 } } })) } 1 .. 1500 });
    $self->bomb('placement: many consumers', sub { $placement->post('/allocations', body => $some, type => 'application/json', %placement) }, @may);
    $self->bomb('placement: the allocations of one', sub { $placement->get("/resource_providers/$first/allocations", %placement) }, @may);
    $self->bomb('placement: the usages', sub { $placement->get('/usages?project_id=p', %placement) }, @may);
    $put->('many inventories', "/resource_providers/$all[0]/inventories", { resource_provider_generation => 0, inventories => { map { ("CUSTOM_C$_" => { total => 1 }) } 1 .. 40_000 } }) if @all;
    $put->('many traits', "/resource_providers/$first/traits", { resource_provider_generation => 1, traits => [map { "CUSTOM_T$_" } 1 .. 100_000] });
    $put->('many aggregates', "/resource_providers/$first/aggregates", { resource_provider_generation => 1, aggregates => [map { $uuid->() } 1 .. 60_000] });
    my $long = sub { my ($unit, $separator) = @_; return join $separator, map { my $u = $unit; ref $u ? $u->() : $u } 1 .. 7000 / ((ref $unit ? 36 : length $unit) + length $separator) };
    for my $query ('', '?required=' . $long->('HW_CPU_X86_AVX', ','), '?required=in:' . $long->('HW_CPU_X86_AVX', ','), '?required=!' . $long->('HW_CPU_X86_AVX', ',!'), '?' . $long->('required=HW_CPU_X86_AVX', '&'),
        '?' . $long->('required=in:HW_CPU_X86_AVX,HW_CPU_X86_SSE', '&'), '?member_of=in:' . $long->($uuid, ','), '?member_of=!in:' . $long->($uuid, ','), '?' . $long->('member_of=' . $uuid->(), '&'),
        '?resources=' . $long->('VCPU:1', ','), '?resources=VCPU:' . '9' x 5000, '?name=' . 'n' x 5000, '?in_tree=' . $first) {
        $self->bomb('placement: providers' . substr($query, 0, 40), sub { $placement->get("/resource_providers$query", %placement) }, @may);
    }
    $self->bomb('placement: traits in a list', sub { $placement->get('/traits?name=in:' . $long->('HW_CPU_X86_AVX', ','), %placement) }, @may);
    $self->bomb('placement: traits by a prefix', sub { $placement->get('/traits?name=startswith:' . 'H' x 5000, %placement) }, @may);
    $self->bomb('placement: all traits', sub { $placement->get('/traits', %placement) }, @may);
    $self->bomb('placement: all classes', sub { $placement->get('/resource_classes', %placement) }, @may);
    return;
}

# Parameters, as what reaches the socket past any web server may send them: to "combined" there.
sub params {
    my ($self) = @_;
    my $socket = $self->{socket} // return;
    require Tenure::FastCGI;
    my $send = sub {
        my ($raw) = @_;
        return sub {
            Tenure::Bombs::HTTP->count->{sent} += length $raw;
            my $fcgi = Tenure::FastCGI->try_connect($socket, timeout => 60);
            $fcgi->send_raw($fcgi->record(1, pack 'nCx5', 1, 0) . $fcgi->stream(4, $raw) . $fcgi->stream(5, ''));
            my $answer = eval { $fcgi->read_response };
            return Tenure::Bombs::Raw->new($answer ? $answer->{status} : 0, $answer ? $answer->{body} : $@);
        };
    };
    my $fcgi = bless {}, 'Tenure::FastCGI';
    my $usual = $fcgi->pairs(Tenure::FastCGI::params(uri => '/v2.0'));
    $self->bomb('parameters: equal header fields', $send->($usual . $fcgi->pairs(HTTP_A => 'b') x 60_000), 0);
    $self->bomb('parameters: a claimed length', $send->($usual . "\x01" . pack('N', 0x80000000 | 2_000_000_000) . 'a'), 0);
    $self->bomb('parameters: a claimed length of a name', $send->($usual . pack('N', 0xffffffff) . pack('N', 0xffffffff) . 'a'), 0);
    $self->bomb('parameters: a large one', $send->($usual . $fcgi->pairs(HTTP_A => 'b' x 20_000_000)), 0);
    $self->bomb('parameters: very many', $send->($usual . $fcgi->pairs(A => 'b') x 2_000_000), 0);
    return;
}

# As much of Tenure::Response as bomb() asks.
package Tenure::Bombs::Raw {
    sub new { my ($class, $status, $text) = @_; return bless { status => $status, text => $text }, $class }
    sub status { return $_[0]{status} }
    sub text   { return $_[0]{text} }
}

# ---- random combinations

sub pick { my (@from) = @_; return $from[rand @from] }
sub about { my ($most) = @_; return int exp(rand(log($most))) + 1 }

# A JSON text of up to that many bytes, some small thing repeated and wrapped.
sub random_json {
    my ($room) = @_;
    my $unit  = pick('{}', '[]', '""', '0', '-1.5e3', 'null', 'true', '{"a":{}}', '[[[]]]', '"\u0001\u0002"', '"<&>"', '"\u00e4\ud83d\ude00"', '{"name":"%d"}', '{"k":[1,2,{"x":null}]}', '"' . 'x' x about(5000) . '"');
    my $count = about($room / (length($unit) + 1));
    my @items = map { $unit =~ s/%d/$_/r } 1 .. $count;
    my $text  = rand() < 0.5 ? '[' . join(',', @items) . ']' : '{' . join(',', map { qq("m$_":$items[$_ - 1]) } 1 .. $count) . '}';
    my $depth = rand() < 0.2 ? about(70) : about(4);
    $text = (rand() < 0.5 ? "[$text]" : qq({"d":$text})) for 1 .. $depth;
    return substr($text, 0, 1) eq '{' ? $text : qq({"l":$text});
}

sub random_patch {
    my ($value) = @_;
    my @paths = ('', '/data', '/data/v', '/data/v/l', '/data/v/l/0', '/data/v/l/-', '/x', '/data/c%d');
    my @ops = map {
        my ($op, $path, $from) = (pick(qw(add copy copy copy move test replace remove)), pick(@paths) =~ s/%d/$_/r, pick(@paths) =~ s/%d/1/r);
        $op =~ /copy|move/ ? qq({"op":"$op","from":"$from","path":"$path"}) : $op eq 'remove' ? qq({"op":"$op","path":"$path"}) : qq({"op":"$op","path":"$path","value":$value})
    } 1 .. about(length $value > 1000 ? 20 : 5000);
    return '[' . join(',', @ops) . ']';
}

# Stores something random and asks for it in random ways.
sub generated {
    my ($self, $n) = @_;
    my ($acme, $maps, $operator) = @$self{qw(acme maps operator)};
    my @may = (200, 201, 204, 400, 403, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 422, 431);
    my ($share, @accepts) = ($self->{share}, 'application/json', 'application/xml', $table, "$table;includeObject=Object", 'application/yaml', 'application/vnd.kubernetes.protobuf', '*/*');
    local $self->{share} = 1;
    for my $i (1 .. $n) {
        my ($name, $text) = ($self->fresh, random_json(about(2_500_000)));
        my $body  = pick(qq({"data":{"v":$text}}), qq({"metadata":{"labels":$text}}), qq({"metadata":{"name":"$name","annotations":$text}}), qq({"data":{"s":"x"},"v":$text}));
        my $title = sub { my ($what) = @_; return "generated $i: $what, " . length($body) . ' bytes' };
        $self->bomb($title->('PUT'), sub { $acme->put("$maps/$name", body => $body, type => 'application/json') }, @may);
        for (1 .. 3) {
            my $accept = pick(@accepts);
            my $path = pick("$maps/$name", $maps, "$core/configmaps/$name", "$core/configmaps", "$core/configmaps?limit=" . about(1000), "$maps?limit=" . about(1000));
            my $at = time;
            $self->bomb($title->("GET $path as $accept"), sub { $acme->get($path, accept => $accept) }, @may);
        }
        my $kind = pick('application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json', 'application/apply-patch+yaml');
        my $patch = $kind =~ /json-patch/ ? random_patch(rand() < 0.5 ? $text : '{}') : pick(qq({"data":{"v":$text}}), qq({"data":$text}), $text);
        my $path = $kind =~ /json-patch|merge-patch/ && $kind !~ /strategic/ ? pick("$maps/$name", "$core/configmaps/$name") : "$core/configmaps/$name";
        $self->bomb($title->("PATCH as $kind"), sub { $acme->request('PATCH', $path, body => $patch, type => $kind) }, @may);
        $self->bomb($title->('a kind'), sub { $acme->post(pick("$core/pods", "$core/services", "$core/secrets", $crds, '/api/v1/namespaces'), body => $text, type => 'application/json') }, @may);
        $self->bomb($title->('a node'), sub { $operator->post('/baremetal/v1/nodes', body => qq({"driver":"fake-hardware","extra":$text}), type => 'application/json', %ironic) }, @may);
        $self->bomb($title->('placement'), sub { $self->{placement}->request(pick(['POST', '/resource_providers'], ['POST', '/allocations'], ['PUT', '/allocations/' . Tenure::Placement::uuid()])->@*, body => $text, type => 'application/json', %placement) }, @may);
        $self->bomb($title->('a tenant'), sub { $operator->put("/v2.0/$self->{tenant}-other", body => qq({"tenant":{"metadata":$text}}), type => 'application/json') }, @may);
        $acme->delete("$maps/$name");
    }
    return;
}

1;
