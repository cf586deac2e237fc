# SPDX-License-Identifier: Apache-2.0
# Clients that make and delete types, objects and namespaces, and switch sharing and policies, while Tenure::Chaos kills workers and the
# database and others watch. Each keeps a journal of the answers that it got; the checker compares the store, the change log and the
# events of the watches with these.
#
#   my $chaos = Tenure::ChaosSpaces->new($instance, clients => 8);
#   $chaos->load($seconds, sub { $chaos->kill_worker });    # calls this again and again while the load lasts
#   my @findings = $chaos->findings;
package Tenure::ChaosSpaces;

use strict;
use warnings;

use parent 'Tenure::Chaos';

use IO::Select;
use JSON::PP ();
use POSIX ();
use Time::HiRes ();

use Tenure::Instance;
use Tenure::Raw;

my $json    = JSON::PP->new->utf8->canonical;
my $crds    = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
my @tenants = ('acme', 'globex');
# What is watched, of all tenants.
my %watched = (configmaps => '/api/v1/tenants/all/configmaps', namespaces => '/api/v1/tenants/all/namespaces',
    customresourcedefinitions => '/apis/apiextensions.k8s.io/v1/tenants/all/customresourcedefinitions');

sub new {
    my ($class, $instance, %option) = @_;
    my $self = bless { instance => $instance, admin => $instance->combined('admin'), dir => $instance->dir . '/chaos-spaces', clients => 8, %option }, $class;
    mkdir $self->{dir} or die "$self->{dir}: $!\n";
    $self->{admin}->make_tenant($_) for @tenants;
    # The system's space exists once it has its first object.
    $self->{admin}->post('/api/v1/namespaces', json => { metadata => { name => 'first' } })->status == 201 or die "no system space\n";
    $self->{from} = $instance->sql_value('SELECT MAX(id) FROM changes');
    return $self;
}

sub definition {
    my ($plural, %more) = @_;
    my ($range, $forced) = @more{qw(range forced)};
    my $schema = { type => 'object', properties => { spec => { type => 'object', properties => { size => { type => 'integer', default => 1 } } } } };
    return {
        apiVersion => 'apiextensions.k8s.io/v1', kind => 'CustomResourceDefinition',
        metadata => { name => "$plural.example.com", $forced ? (labels => { 'arktos.futurewei.com/crd-sharing-policy' => 'forced' }) : () },
        spec => {
            group => 'example.com', scope => 'Namespaced', names => { plural => $plural, kind => ucfirst $plural },
            versions => [{ name => 'v1', served => JSON::PP::true, storage => JSON::PP::true, schema => { openAPIV3Schema => $schema } }],
            $range ? (applicableRange => [$range]) : (),
        },
    };
}

# ---- what a client does

# One kind of request: its name, and how it is sent. Names of things that only client n makes and deletes begin with its number.
sub _act {
    my ($self, $client, $n) = @_;
    my $tenant  = $tenants[$client % 2];
    my $who     = $client % 4 < 2 ? $self->{instance}->combined("c$client:$tenant") : $self->{instance}->service("c$client:$tenant");
    my $name    = "k$client-$n";
    my $widgets = '/apis/example.com/v1/namespaces/default/widgets';
    my @do = (
        (['create', "$tenant configmaps $name", sub { $who->post('/api/v1/namespaces/default/configmaps', json => { metadata => { name => $name } }) }]) x 4,
        ['delete', "$tenant configmaps k$client-" . ($n - 1), sub { $who->delete("/api/v1/namespaces/default/configmaps/k$client-" . ($n - 1)) }],
        (['create', "$tenant widgets $name", sub { $who->post($widgets, json => { metadata => { name => $name }, spec => {} }) }]) x 3,
        ['change', 'widget', sub { $who->patch("$widgets/k$client-" . ($n - 1 - int rand 3), { spec => { size => int rand 1e9 } }) }],
        (['define', 'widgets', sub { $who->post($crds, json => definition('widgets')) }]) x 2,
        ['withdraw', 'widgets', sub { $who->delete("$crds/widgets.example.com") }],
        ['namespace', 'n', sub { $who->post('/api/v1/namespaces', json => { metadata => { name => 'n' } }) }],
        ['in', 'n', sub { $who->post('/api/v1/namespaces/n/configmaps', json => { metadata => { name => "n$name" } }) }],
        ['drop', 'n', sub { $who->delete('/api/v1/namespaces/n') }],
        ['policy', $tenant, sub { $who->patch("/api/v1/tenants/$tenant", { spec => { multiTenancyCRDPolicy => (qw(SystemCRDFirst LocalCRDFirst NeverUseSystemCRDUnlessForced))[rand 3] } }) }],
    );
    push @do, (['share', 'widgets', sub { $self->{admin}->post($crds, json => definition('widgets', range => '*', forced => rand() < 0.3)) }],
        ['unshare', 'widgets', sub { $self->{admin}->delete("$crds/widgets.example.com") }]) x 2 if $client == 0;
    return $do[rand @do];
}

# Statuses of 200 and above, by the name of what was done, and the journal of what was made and deleted.
sub _client {
    my ($self, $client, $until) = @_;
    open my $journal, '>', "$self->{dir}/client$client" or POSIX::_exit(1);
    $journal->autoflush(1);
    srand $client + 1;
    for (my $n = 1; Time::HiRes::time() < $until; $n++) {
        my ($what, $of, $ask) = @{ $self->_act($client, $n) };
        my $answer = $ask->();
        my $told   = $answer->status < 300 ? 'done' : $answer->status == 503 && $answer->text !~ /not known/ ? 'refused'
            : $answer->status >= 500 ? 'unknown' : 'no';
        print {$journal} join(' ', $told, $what, $of, $answer->status), "\n";
        Time::HiRes::sleep(0.05) if $told =~ /refused|unknown/;
    }
    close $journal;
    POSIX::_exit(0);
}

# ---- watches

# Watches one type until the file "stop" is there and all events up to the version in it have come; writes a line for each event. If
# the watch ends, it begins another from the last version.
sub _watch {
    my ($self, $plural) = @_;
    open my $journal, '>', "$self->{dir}/watch-$plural" or POSIX::_exit(1);
    $journal->autoflush(1);
    my ($last, $breaks) = ($self->{from}, 0);
    my $url = $self->{admin}->url;
    until ($self->_watched_all($last)) {
        my $socket = eval { Tenure::Raw::connect_to($url) };
        Time::HiRes::sleep(0.1), next if !$socket;
        print {$socket} "GET $watched{$plural}?watch=true&allowWatchBookmarks=true&timeoutSeconds=5&resourceVersion=$last HTTP/1.0\r\nHost: localhost\r\nX-Auth-Token: admin\r\n\r\n";
        $breaks++;
        my ($text, $head) = ('');
        my $select = IO::Select->new($socket);
        while ($select->can_read(8)) {
            last if !sysread $socket, $text, 65536, length $text;
            if (!$head) {
                $text =~ s/\A(.*?)\r\n\r\n//s or next;
                $head = $1;
                last if $head !~ m{\AHTTP/1\.\d 200};
            }
            while ($text =~ s/\A([^\n]*)\n//) {
                my $event  = eval { $json->decode($1) } or print {$journal} "bad $1\n";
                next if !$event;
                my $meta = $event->{object}{metadata} // {};
                print {$journal} join(' ', 'error', $event->{object}{code} // 0, $event->{object}{message} // ''), "\n" if $event->{type} eq 'ERROR';
                POSIX::_exit(1) if ($event->{object}{code} // 0) == 410;
                next if $event->{type} eq 'ERROR';
                $last = $meta->{resourceVersion};
                print {$journal} join(' ', 'event', $event->{type}, $last, $meta->{tenant} // '-', $meta->{namespace} // '-', $meta->{name}), "\n" if $event->{type} ne 'BOOKMARK';
            }
        }
        close $socket;
        Time::HiRes::sleep(0.1) if !$head || $head !~ m{ 200 };
    }
    print {$journal} "breaks $breaks\n";
    close $journal;
    POSIX::_exit(0);
}

sub _watched_all {
    my ($self, $last) = @_;
    my $stop = Tenure::Instance::read_file("$self->{dir}/stop");
    return $stop =~ /(\d+)/ && $last >= $1;
}

# ---- all of it

sub _fork {
    my ($code) = @_;
    my $pid = fork // die "fork: $!\n";
    return $pid if $pid;
    $code->();
    POSIX::_exit(0);
}

# Runs all clients for that long, and calls harm->() again and again meanwhile; then ends the watches. False: a process did not end.
sub load {
    my ($self, $seconds, $harm) = @_;
    my $until    = Time::HiRes::time() + $seconds;
    my @watchers = map { my $plural = $_; _fork(sub { $self->_watch($plural) }) } sort keys %watched;
    my @clients  = map { my $n = $_; _fork(sub { $self->_client($n, $until) }) } 0 .. $self->{clients} - 1;
    $harm->() while Time::HiRes::time() < $until;
    my $good = 1;
    for my $pid (@clients) {
        waitpid $pid, 0;
        $good = 0 if $?;
    }
    $self->_settle;
    for my $pid (@watchers) {
        $good = 0 if !Tenure::Instance::wait_until(sub { waitpid($pid, POSIX::WNOHANG()) != 0 }, 120);
        kill KILL => $pid if !$good;
    }
    return $good;
}

# Makes a last change of each type, by which the watches know that no more events come.
sub _settle {
    my ($self) = @_;
    my $admin = $self->{admin};
    Tenure::Instance::wait_until(sub {
        $admin->put('/v2.0/acme/namespaces/default/configmaps/last', json => {})->status < 300
            && $admin->put('/v2.0/acme/namespaces/last', json => {})->status < 300
            && $admin->post($crds =~ s{/v1/}{/v1/tenants/acme/}r, json => definition('lasts'))->status =~ /201|409/ }, 60);
    my $first = $self->{instance}->sql_value("SELECT MIN(id) FROM (SELECT MAX(id) AS id FROM changes WHERE name IN ('last', 'lasts.example.com') GROUP BY type_id) x");
    Tenure::Instance::write_file("$self->{dir}/stop.new", $first);
    rename "$self->{dir}/stop.new", "$self->{dir}/stop";
    return;
}

# ---- the checker

sub _lines {
    my ($self, $which) = @_;
    return map { split /\n/, Tenure::Instance::read_file($_) } sort glob "$self->{dir}/$which";
}

# How often each answer came.
sub told {
    my ($self) = @_;
    my %told;
    for ($self->_lines('client*')) {
        my ($told, $what) = split / /;
        $told{"$what $told"}++;
    }
    return \%told;
}

sub breaks { my ($self) = @_; my $n = 0; /\Abreaks (\d+)/ and $n += $1 for $self->_lines('watch-*'); return $n }

sub findings {
    my ($self) = @_;
    my @wrong = ($self->_lost, $self->_without_history, $self->_half_made, $self->_wrong_in_watch, $self->_change_log);
    my ($code, $text) = $self->{instance}->manage('doctor');
    push @wrong, "doctor: $text" if $code != 0;
    return @wrong;
}

# Things that only one client makes and deletes are as the answers to this client say.
sub _lost {
    my ($self) = @_;
    my (%may, %journal, @wrong);
    for ($self->_lines('client*')) {
        my ($told, $what, $tenant, $plural, $name, $status) = split / /;
        push @{ $journal{"$tenant $plural $name"} }, "$what $status" if $what =~ /create|delete/;
        next if $what !~ /create|delete/ || $told eq 'no' || $told eq 'refused';
        my $now = $what eq 'create' ? 1 : 0;
        $may{"$tenant $plural $name"} = $told eq 'done' ? { $now => 1 } : { %{ $may{"$tenant $plural $name"} // { 0 => 1 } }, $now => 1 };
    }
    my %there = map { ("$_->[0] $_->[1] $_->[2]" => 1) } $self->{instance}->sql(q(SELECT t.name, y.plural, r.name FROM resources r )
        . q(JOIN tenants t ON t.id = r.tenant_id JOIN types y ON y.id = r.type_id WHERE r.live = 1 AND r.namespace = 'default' AND r.name LIKE 'k%'));
    for my $what (sort keys %may) {
        push @wrong, "$what is " . ($there{$what} ? '' : 'not ') . 'there, which nobody was told: ' . join ', ', @{ $journal{$what} }
            if !$may{$what}{ $there{$what} ? 1 : 0 };
    }
    push @wrong, map { "$_ is there, and nobody made it" } grep { !$may{$_} } sort keys %there;
    return @wrong;
}

sub _without_history {
    my ($self) = @_;
    return map { "resource $_->[0] has no history" } $self->{instance}->sql(
        q(SELECT r.id FROM resources r WHERE NOT r.live <=> 2 AND NOT EXISTS (SELECT 1 FROM changes c WHERE c.resource_id = r.id AND c.verb = 'created')));
}

# A definition exists wholly or not at all: it is established, and its tenant finds its type.
sub _half_made {
    my ($self) = @_;
    my @wrong;
    for my $tenant (@tenants) {
        my $who  = $self->{instance}->combined("who:$tenant");
        my $list = $who->get($crds)->json->{items} // [];
        for my $crd (@$list) {
            my $name = "$tenant: $crd->{metadata}{name}";
            my $is   = join ' ', map { "$_->{type}=$_->{status}" } @{ $crd->{status}{conditions} // [] };
            push @wrong, "$name is $is" if $is ne 'NamesAccepted=True Established=True';
            my $found = $who->get("/spaces/$tenant/types/$crd->{metadata}{name}")->json;
            push @wrong, "$name is explained by nobody" if !$found->{own} && !$found->{shared};
        }
    }
    return @wrong;
}

# The events of the watches are the rows of the change log, in its order, each once.
sub _wrong_in_watch {
    my ($self) = @_;
    my ($stop) = Tenure::Instance::read_file("$self->{dir}/stop") =~ /(\d+)/;
    my @wrong;
    my %type_of = (created => 'ADDED', updated => 'MODIFIED', deleted => 'DELETED', recovered => 'ADDED', moved => 'ADDED');
    for my $plural (sort keys %watched) {
        my @lines = $self->_lines("watch-$plural");
        push @wrong, map { "$plural: $_" } grep { !/\A(?:event|breaks)/ && !/\Aerror (?:50[34]|500)/ } @lines;
        my @told = map { my (undef, $type, @rest) = split / /; $rest[0] <= $stop ? join ' ', $type, @rest : () } grep { /\Aevent/ } @lines;
        my @are  = map { my ($verb, @rest) = @$_; join ' ', $type_of{$verb} // $verb, map { length ? $_ : '-' } @rest } $self->{instance}->sql(
            "SELECT c.verb, c.id, t.name, c.namespace, c.name FROM changes c JOIN tenants t ON t.id = c.tenant_id JOIN types y ON y.id = c.type_id "
                . "WHERE y.plural = '$plural' AND c.id > $self->{from} AND c.id <= $stop ORDER BY c.id");
        push @wrong, "$plural: " . @told . ' events of ' . @are . ' changes' if @told != @are;
        for my $i (0 .. (@told < @are ? $#told : $#are)) {
            next if $told[$i] eq $are[$i];
            push @wrong, "$plural: event $i is $told[$i], the change $are[$i]";
            last;
        }
        $self->{events} += @told;
    }
    return @wrong;
}

1;
