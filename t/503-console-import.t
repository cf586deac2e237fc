#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The console's import of files: what it would do, what it did, each row that is refused and why, by name, type, etag; all of it as `tenure import` does.
# Tiers, and counts by type.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use JSON::PP ();
use Test::More;

use Tenure::Browser;
use Tenure::Definition qw(definition_of);
use Tenure::Instance;
use Tenure::Tool;

Tenure::Browser::need();

my $instance = Tenure::Instance->start(workers => 3, settings => { 'tenure.session_idle' => 3600 });
$instance->admin->make_tenant('acme');
my $ann = $instance->service('ann:acme');
$ann->put('/v2.0/acme/namespaces/default/configmaps/web-1', json => { data => { color => 'red' } })->is_status(201);
$ann->put('/v2.0/acme/namespaces/default/configmaps/same', json => { data => { n => '1' } })->is_status(201);

# A type with a default: what is stored differs from a row that leaves it out.
my %schema = (type => 'object', properties => { spec => { type => 'object', properties => { size => { type => 'integer', default => 3 }, color => { type => 'string' } } } });
$instance->admin->put('/v2.0/acme/customresourcedefinitions.apiextensions.k8s.io/tools.example.com', json => definition_of('tools', schema => \%schema))->is_status(201);

# ---- files that the tool reads as well

# A tenant whose resources are changed by etag alone.
$instance->admin->put('/v2.0/both', json => { tenant => { etag_required => JSON::PP::true } })->is_status(201);
my $bob = $instance->service('bob:both');
$bob->put("/v2.0/both/namespaces/default/configmaps/$_", json => { data => { n => '0' } })->is_status(201) for qw(there listed);
my $tool = Tenure::Tool->new(url => $instance->env('TENURE_SERVICE_URL'), token => 'bob:both', tenant => 'both');
my $home = File::Temp->newdir;

# A file, and what `tenure import --dry-run` tells of it: its counts; none if it can't read the file.
sub told {
    my ($name, $text, %how) = @_;
    my @options = ($how{type} ? ('--type', $how{type}) : (), $how{replace} ? '--no-etag' : ());
    Tenure::Instance::write_file("$home/$name", $text);
    my $run  = $tool->run('import', "$home/$name", '--dry-run', @options, '--format', 'json');
    my $told = eval { JSON::PP::decode_json($run->{out}) };
    ($told) = @$told if ref $told eq 'ARRAY';
    return { name => $name, text => $text, type => $how{type} // '', rule => $how{replace} ? 'replace' : 'create',
        counts => $told && [map { $told->{$_} } qw(created replaced unchanged refused)] };
}

my @files;
if (-x Tenure::Instance::build_dir() . '/tenure') {
    my $list  = $tool->run(qw(configmaps list --format csv --columns), 'namespace,name,revision,created,uid,data.n')->{out};
    my @items = map { { kind => 'ConfigMap', metadata => { name => "item-$_" } } } 1, 2;
    my $named = { kind => 'ConfigMap', metadata => { name => 'named' }, items => \@items };
    my $json  = JSON::PP->new->canonical;
    @files = (told('twice.csv', "name,data.n\nthere,1\nthere,2\n", type => 'configmaps', replace => 1),
        told('below.csv', "type,namespace,name,data.n\nnamespaces,,n,\nconfigmaps,n,a,1\nconfigmaps,n,a,2\n", replace => 1),
        told('listed.csv', $list =~ s/^.*,there,.*\n//mr, type => 'configmaps'),
        told('short.csv', "type,name,data.n\ncm,short,1\nconfigmap,singular,2\nns,space,\nnonsense,nothing,\n"),
        told('top.csv', "name,.metadata.labels\ntop,\"{\"\"a\"\":\"\"b\"\"}\"\n", type => 'configmaps'),
        told('list', $json->pretty->encode({ kind => 'List', items => \@items })), told('named.json', $json->pretty->encode($named)),
        told('blank', "\n" . $json->encode({ kind => 'List', items => \@items })),
        told('lines', $json->pretty(0)->encode($named) . "\n" . $json->encode({ %{ $items[0] }, metadata => { name => 'line' } }) . "\n"),
        told('one-line', $json->encode({ resources => [map { { %$_, metadata => { name => "$_->{metadata}{name}-more" } } } @items] })));
    is_deeply [map { $_->{counts} && "@{ $_->{counts} }" } @files],
        ['0 2 0 0', '2 1 0 0', '0 0 1 0', '3 0 0 1', '0 0 0 1', '2 0 0 0', undef, undef, '2 0 0 0', '2 0 0 0'], 'what the tool tells of files';
}

# Tables of the console that the tool's sources have as well, each row as a text.
my $rows  = Tenure::Instance::read_file(Tenure::Instance::source_dir() . '/src/cli/core/rows.c');
my $types = Tenure::Instance::read_file(Tenure::Instance::source_dir() . '/src/base/builtin_types.def');
my ($table) = $rows =~ /short_columns\[\] = \{(.*?)\n\};/s;
my @columns = map { "@$_" } groups_of($table, qr/\{ "(\w+)", "([\w.]+)", (true|false) \}/);
my @types   = map { join ' ', @$_[0, 1], $_->[2] eq 'NAMESPACED' ? 'true' : 'false', $_->[3] =~ /"(\w+)"/g }
    groups_of($types, qr/\sOFFERED, "", "(\w+)", "(\w+)", (\w+), (\w+(?:\([^)]*\))?)/);

# All matches of the pattern, each an array of its groups.
sub groups_of {
    my ($text, $pattern) = @_;
    my @found;
    while ($text =~ /$pattern/g) {
        push @found, [map { substr $text, $-[$_], $+[$_] - $-[$_] } 1 .. $#+];
    }
    return @found;
}

Tenure::Browser::play('import', { url => $instance->admin->url, service => $instance->service(undef)->url, origins => [ $instance->service(undef)->url ],
    operator => 'admin', user => 'ann:acme', reader => 'rita:acme:reader', both => 'bob:both', files => \@files, columns => \@columns, types => [sort @types] });
$instance->stop;
done_testing;
