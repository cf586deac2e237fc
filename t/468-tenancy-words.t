#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Any id without "/" is an id: a word that means something in an address means it by its position. Tenants, namespaces, resources and
# types are called by every word of the WADLs' paths and by a sample of all words that the program compares something with
# (Tenure::Strangers::Words), and each is found as itself. TENURE_SEED repeats a run.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use List::Util ();
use Test::More;

use Tenure::Instance;
use Tenure::Strangers::Line;
use Tenure::Strangers::Words;

my $seed = $ENV{TENURE_SEED} // int(rand 1e9);
srand $seed;
diag "TENURE_SEED=$seed";

my $instance = Tenure::Instance->start(combined => 1);
my $line     = Tenure::Strangers::Line->new($instance->env('TENURE_COMBINED_URL'));
my $json     = JSON::PP->new->utf8->canonical->allow_nonref;
my ($strong) = Tenure::Strangers::Words::words();
my %in_path  = map { $_ => 1 } grep { /\A[\w.-]+\z/ } map { split m{/} } map { Tenure::Instance::read_file($_) =~ /\bpath="([^"{}]+)"/g }
    glob Tenure::Instance::build_dir() . '/build/wadl/*.wadl';
my @words = grep { length && !/\A(?:all|system|\.|\.\.)\z/ } List::Util::uniq(sort(keys %in_path), 'default', 'status', 'finalize', 'scale', 'v1.0', 'v2.0', 'v1',
    (List::Util::shuffle(@$strong))[0 .. 60]);

# (status, document) as that user.
sub ask {
    my ($user, $method, $path, $body) = @_;
    my $answer = $line->ask($method, $path, { 'X-Auth-Token' => $user, defined $body ? ('Content-Type' => 'application/json') : () }, defined $body ? $json->encode($body) : undef);
    return ($answer->{status}, eval { $json->decode($answer->{body}) } // {}, $answer->{body});
}

# What went wrong, as texts; each call is one of the name's, in that position.
my @wrong;
sub want {
    my ($want, $what, $user, $method, $path, $body, $is) = @_;
    my ($status, $document, $text) = ask($user, $method, $path, $body);
    my $found = $is ? $is->($document) : undef;
    return $document if $status == $want && !defined $found;
    push @wrong, "$what: $method $path: $status" . (defined $found ? " ($found)" : '') . ' ' . substr $text, 0, 200;
    return $document;
}

# Is it the thing of that name, and of that tenant?
sub is_thing {
    my (%is) = @_;
    return sub {
        my $metadata = $_[0]{metadata} // {};
        my @other = grep { ($metadata->{$_} // '') ne $is{$_} } sort keys %is;
        return @other ? join ', ', map { "$_ is " . ($metadata->{$_} // 'none') } @other : undef;
    };
}

want(201, 'the destination', 'admin', PUT => '/v2.0/destination', { tenant => {} });
want(201, 'a tenant of types', 'admin', PUT => '/v2.0/types-tenant', { tenant => {} });

subtest 'tenants, namespaces, resources' => sub {
    for my $word (@words) {
        my $id   = Tenure::Strangers::Words::escape($word);
        my $user = 'una:' . $id;
        for my $version ('v2.0', 'v1.0') {
            my $one = $version eq 'v2.0' ? 'tenant' : 'account';
            want($version eq 'v2.0' ? 201 : 202, 'a tenant', 'admin', PUT => "/$version/$id", { $one => {} }, sub { $_[0]{$one}{id} eq $word ? undef : 'another id' });
            want(200, 'a tenant', $user, GET => "/$version/$id", undef, sub { $_[0]{$one}{id} eq $word ? undef : 'another id' });
        }
        my $space = $word eq 'default' ? 200 : 201;
        want($space, 'a namespace', $user, PUT => "/v2.0/$id/namespaces/$id", {}, is_thing(name => $word, tenant => $word));
        for my $path ("namespaces/$id/configmaps", "namespaces/$id/secrets", 'persistentvolumes') {
            my %in = $path =~ /^n/ ? (namespace => $word) : ();
            my $is = is_thing(name => $word, tenant => $word, %in);
            want(201, 'a resource', $user, PUT => "/v2.0/$id/$path/$id", { data => {} }, $is);
            want(200, 'a resource', $user, GET => "/v2.0/$id/$path/$id", undef, $is);
            want(200, 'a list', $user, GET => "/v2.0/$id/$path", undef, sub { @{ $_[0]{resources} // [] } == 1 ? undef : 'not one' });
            want(200, 'an object', $user, GET => "/api/v1/tenants/$id/$path/$id", undef, $is);
            want(200, 'an object', $user, GET => "/api/v1/$path/$id", undef, $is);
            want(200, 'objects', $user, GET => "/api/v1/tenants/$id/$path", undef, sub { @{ $_[0]{items} // [] } == 1 ? undef : 'not one' });
            want(204, 'a resource deleted', $user, DELETE => "/v2.0/$id/$path/$id");
            want(410, 'a resource deleted', $user, GET => "/v2.0/$id/$path/$id");
            want(204, 'a resource recovered', 'una:' . $id . ':admin', POST => "/v2.0/$id/$path/$id/action/recover");
            want(200, 'a move action', 'admin', GET => "/v2.0/$id/$path/$id/action/move?dest=destination");
        }
        want(200, 'a move action of all', 'admin', GET => "/v2.0/$id/action/move?dest=destination");
        want(200, 'changes', $user, GET => "/v2.0/$id/changes");
        want(200, 'a Tenant object', $user, GET => "/api/v1/tenants/$id", undef, is_thing(name => $word));
        want(200, 'the status of a Tenant object', $user, GET => "/api/v1/tenants/$id/status", undef, is_thing(name => $word));
        want(200, 'a Namespace object', $user, GET => "/api/v1/namespaces/$id", undef, is_thing(name => $word, tenant => $word));
        want(200, 'the status of a Namespace object', $user, GET => "/api/v1/namespaces/$id/status", undef, is_thing(name => $word));
        want(200, 'its types', $user, GET => "/spaces/$id/types");
    }
    is scalar @wrong, 0, scalar(@words) . ' words, each a name where a name stands' or diag join "\n", @wrong[0 .. List::Util::min(19, $#wrong)];
    @wrong = ();
};

# A type's plural stands where the words of addresses do, too. Of four words no address could be told from another: no definition
# has them, and says so.
subtest 'types' => sub {
    my $user    = 'ted:types-tenant';
    my $crds    = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    my %refused = map { $_ => 1 } qw(finalize namespaces status tenants);
    for my $plural (sort keys %refused) {
        my $body = { apiVersion => 'apiextensions.k8s.io/v1', kind => 'CustomResourceDefinition', metadata => { name => "$plural.example.com" }, spec => { group => 'example.com',
            scope => 'Namespaced', names => { plural => $plural, kind => 'K' }, versions => [{ name => 'v1', served => JSON::PP::true, storage => JSON::PP::true,
                schema => { openAPIV3Schema => { type => 'object' } } }] } };
        my ($status, $document) = ask($user, POST => $crds, $body);
        is $status, 422, "no type is called $plural";
        like $document->{message} // '', qr/spec\.names\.plural: Invalid value/, 'for its name';
    }
    my @plurals = grep { /\A[a-z]([-a-z0-9]{0,60}[a-z0-9])?\z/ && !$refused{$_} } @words;
    for my $plural (@plurals) {
        for my $scope ('Namespaced', 'Cluster') {
            my $group = lc($scope) . '.example.com';
            my $kind  = 'K' . ($plural =~ tr/-//dr);
            want(201, "a type, $scope", $user, POST => $crds, { apiVersion => 'apiextensions.k8s.io/v1', kind => 'CustomResourceDefinition', metadata => { name => "$plural.$group" },
                spec => { group => $group, scope => $scope, names => { plural => $plural, kind => $kind }, versions => [{ name => 'v1', served => JSON::PP::true, storage => JSON::PP::true,
                    schema => { openAPIV3Schema => { type => 'object', 'x-kubernetes-preserve-unknown-fields' => JSON::PP::true } } }] } });
            my $in    = $scope eq 'Namespaced' ? 'namespaces/default/' : '';
            my $is    = is_thing(name => $plural, tenant => 'types-tenant');
            my $there = "/apis/$group/v1/$in$plural";
            want(201, "an object, $scope", $user, POST => $there, { apiVersion => "$group/v1", kind => $kind, metadata => { name => $plural } }, $is);
            want(200, "an object, $scope", $user, GET => "$there/$plural", undef, $is);
            want(200, "an object by its full path, $scope", $user, GET => "/apis/$group/v1/tenants/types-tenant/$in$plural/$plural", undef, $is);
            want(200, "objects, $scope", $user, GET => $there, undef, sub { @{ $_[0]{items} // [] } == 1 ? undef : 'not one' });
            want(200, "a resource, $scope", $user, GET => "/v2.0/types-tenant/$in$plural.$group/$plural", undef, $is);
            want(200, "what a type is, $scope", $user, GET => "/spaces/types-tenant/types/$plural.$group", undef, sub { ref $_[0]{answers} ? undef : 'nothing' });
        }
    }
    is scalar @wrong, 0, scalar(@plurals) . ' words, each a type where a type stands' or diag join "\n", @wrong[0 .. List::Util::min(19, $#wrong)];
};

done_testing;
