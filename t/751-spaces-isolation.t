#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Every call of the spaces dialect that names a tenant, as its WADL lists them: to a stranger a tenant that is there is
# what one is that is not. A call that comes to the WADL is asked by this test without being named here.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;

my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->combined('admin');
my $acme     = $instance->combined('alice:acme');
my %tenants  = (there => 'acme', absent => 'nowhere');
$admin->make_tenant($_) for 'acme', 'globex';
my $cm = '/api/v1/namespaces/default/configmaps';
$acme->post($cm, json => { metadata => { name => 'c1' }, data => { secret => 's3cret' } })->is_status(201, 'something to be kept');

# [method, path template] of every method.
sub methods_of {
    my ($text) = @_;
    my (@path, @found);
    while ($text =~ m{<(/?)(resources?|method)\b([^>]*?)(/?)>}g) {
        my ($ends, $name, $attributes, $empty) = ($1, $2, $3, $4);
        if ($name eq 'method') {
            my ($method) = $attributes =~ /\bname="(\w+)"/ or next;
            push @found, [$method, join '', map { $_ eq '' ? '' : "/$_" } map { s{\A/+|/+\z}{}gr } @path];
            next;
        }
        my ($path) = $attributes =~ /\bpath="([^"]*)"/;
        if   ($ends) { pop @path }
        else         { push @path, $path // '' unless $empty }
    }
    return @found;
}

my %value = (plural => 'configmaps', namespace => 'default', name => 'c1', group => 'apiextensions.k8s.io', version => 'v1', subresource => 'status', type => 'configmaps');

sub fill {
    my ($template, %more) = @_;
    my %all = (%value, %more);
    $all{plural} = 'customresourcedefinitions' if $template =~ /\{group\}/;
    return $template =~ s/\{(\w+)\}/$all{$1} \/\/ die "no value for $1"/ger;
}

for my $endpoint (['combined', sub { $instance->combined($_[0]) }], ['service', sub { $instance->service($_[0]) }]) {
    my ($name, $client) = @$endpoint;
    subtest "the $name endpoint" => sub {
        my @calls = grep { $_->[1] =~ m{\A/(?:apis?|spaces)/} && $_->[1] =~ /\{tenant\}/ } methods_of($client->('alice:acme')->get('/application.wadl')->text);
        cmp_ok scalar @calls, '>=', 30, 'calls that name a tenant';
        for my $who ('bob:globex', 'eve:globex:reader', 'nobody') {
            for my $call (@calls) {
                my ($method, $template) = @$call;
                my %answer;
                for my $case (sort keys %tenants) {
                    my @body = $method eq 'PATCH' ? (patch => {}) : $method =~ /P(?:OST|UT)/ ? (json => { metadata => { name => 'c1' } }) : ();
                    my $got  = $client->($who)->request($method, fill($template, tenant => $tenants{$case}), @body);
                    unlike $got->text, qr/s3cret/, "$who: $method $template tells nothing" if $got->text =~ /s3cret/;
                    $answer{$case} = join ' ', $got->status, $got->text =~ s/\Q$tenants{$case}\E/T/gr;
                }
                ok $answer{there} eq $answer{absent} && $answer{there} =~ /\A403 /, "$who: $method $template"
                    or diag "there: $answer{there}\nabsent: $answer{absent}";
            }
        }
    };
}

subtest 'what is moved away' => sub {
    $admin->post("/v2.0/acme/namespaces/default/configmaps/c1/action/move?dest=globex")->is_status(303, 'moved');
    my $answer = $acme->get("$cm/c1");
    is $answer->status, 404, 'is not there any more';
    unlike $answer->text, qr/globex/, 'and nobody is told where it is';
    is $instance->combined('bob:globex')->get("$cm/c1")->json->{data}{secret}, 's3cret', 'but its new owner';
};

is $acme->get($cm, as => undef)->status, 401, 'nobody at all';

done_testing;
