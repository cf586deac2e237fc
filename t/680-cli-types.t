#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure type and space: what answers for a tenant, why, and what a change of that would do.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use JSON::PP ();
use Test::More;

use Tenure::Definition qw(definition_of);
use Tenure::Instance;
use Tenure::Tool;

plan skip_all => 'tenure is not built' if !-x (Tenure::Instance::build_dir() // '') . '/tenure';
my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->combined('admin');
my $url      = $instance->env('TENURE_COMBINED_URL');
my $crds     = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
$admin->post('/api/v1/tenants', json => { metadata => { name => $_, annotations => { tier => 'gold' } } })->is_status(201, $_) for qw(acme globex);
my $op  = Tenure::Tool->new(url => $url, token => 'admin');
my $ann = Tenure::Tool->new(url => $url, token => 'ann:acme', tenant => 'acme');

sub csv {
    my ($tool, @words) = @_;
    my (undef, @rows) = split /\n/, $tool->ends(0, @words, '--format', 'csv')->{out};
    return join ' ', @rows;
}

$admin->post($crds, json => definition_of('gears', applicableRange => ['tier=gold']))->is_status(201, 'a shared type');
$instance->combined('ann:acme')->post('/apis/example.com/v1/namespaces/default/gears', json => { metadata => { name => $_ } })->is_status(201, $_) for qw(a b);
my $file = File::Temp->new;
print {$file} JSON::PP->new->encode(definition_of('gears'));
close $file;
my $changes = $instance->change_count;

subtest 'names of types and commands' => sub {
    $ann->ends(0, qw(configmaps set web data.color=blue --etag new));
    my $list = csv($ann, qw(configmaps list --columns name));
    is $list, 'web', 'plural';
    is csv($ann, $_, qw(list --columns name)), $list, $_ for qw(configmap cm);
    is csv($ann, qw(resource list configmap --columns name)), $list, 'resource list configmap';
    is csv($op, qw(tenants list --columns id)), csv($op, qw(tenant list --columns id)), "a noun's plural";
    like $ann->run(qw(nodes list))->{out}, qr/^NAMESPACE|^NAME/m, "not where a type has that name";
    like $ann->ends(64, 'tenat')->{err}, qr/there is no command "tenat"; did you mean "tenant"\?/, 'a noun, mistyped';
    like $ann->ends(64, 'configmaps')->{err}, qr/configmaps has verbs, such as "tenure configmaps list"/, 'without a verb';
    for my $typed ('confgmaps', 'conffigmap') {
        like $ann->run($typed, 'list')->{err}, qr/did you mean "configmaps"\?/, "$typed: a type, mistyped";
        like $ann->run($typed, 'show', 'web')->{err}, qr/did you mean "configmaps"\?/, 'shown';
    }
    unlike $ann->run(qw(gears show none))->{err}, qr/did you mean/, 'no guess for what is far from all';
    is $ann->run_with_input("one\ntwo\n", qw(configmaps set - data.color=red))->{code}, 0, 'set takes names from standard input';
    is csv($ann, qw(configmaps list --columns name)), 'one two web', 'each is made';
    $ann->ends(0, qw(configmaps delete one two web --yes));
    $changes = $instance->change_count;
};

subtest 'types' => sub {
    like $ann->ends(0, qw(type list))->{out}, qr/^gears\.example\.com +Gear +system +true +v1$/m, 'listed';
    like $ann->ends(0, qw(type list --columns), 'type,short')->{out}, qr/^configmaps +cm$/m, 'with short names';
    like $op->ends(64, qw(type list))->{err}, qr/--tenant/, 'whose';
    is csv($op, qw(type show gears.example.com -t globex --columns), 'type,tenant'), 'gears.example.com,system', 'shown';
    like $ann->ends(0, qw(type show configmaps))->{out}, qr/^builtIn +true$/m, 'a built-in one';
    like $ann->ends(1, qw(type show nuts.example.com))->{err}, qr/no definition answers for acme: /, 'none';
    is $ann->json(qw(type explain gears.example.com))->{rule}, 'shared', 'explained';
    like $ann->ends(0, qw(type explain gears.example.com))->{out}, qr/^rule +shared$/m, 'as a table';
    isnt $ann->run(qw(type explain gears.example.com -t globex))->{code}, 0, 'not of another tenant';
    $ann->ends(64, qw(type explain a/b));
    like $op->ends(1, qw(type explain configmaps -t nobody))->{err}, qr/there is no tenant "nobody"/, 'nor a built-in one of no tenant';
    like $op->ends(1, qw(type list -t nobody))->{err}, qr/there is no tenant "nobody"/, 'which has no types';
};

subtest 'what a change would do' => sub {
    is csv($op, qw(type effect gears.example.com --delete -t system)),
        'acme,gears.example.com,system,,2 globex,gears.example.com,system,,0 system,gears.example.com,system,,0', 'withdrawn';
    is csv($op, qw(type effect gears.example.com -t system), 'spec.applicableRange:=[]'),
        'acme,gears.example.com,system,,2 globex,gears.example.com,system,,0', 'for nobody';
    is csv($op, qw(type effect gears.example.com -t system --patch), '{"spec":{"applicableRange":["*"]}}'), '', 'nothing changes';
    is csv($ann, qw(type effect gears.example.com --file), "$file"), 'acme,gears.example.com,system,acme,2', 'one of its own';
    like $ann->ends(64, qw(type effect gears.example.com))->{err}, qr/--delete/, 'no change';
    $ann->ends(64, qw(type effect gears.example.com --delete a=b));
    $ann->ends(64, qw(type effect gears.example.com --delete=x));
    $ann->ends(1, qw(type effect gears.example.com --delete));
    is csv($ann, qw(space policy set acme NeverUseSystemCRDUnlessForced --dry-run)), 'acme,gears.example.com,system,,2', 'a policy';
    is $instance->change_count, $changes, 'and nothing was changed';
};

subtest 'more tenants than a page has' => sub {
    $admin->make_tenant(sprintf 't%04d', $_) for 1 .. 510;
    my $list = $op->json(qw(type effect gears.example.com -t system --patch), '{"spec":{"applicableRange":["*"]}}');
    is scalar @$list, 510, 'all of them';
    is $list->[-1]{tenant}, 't0510', 'in order';
};

subtest 'spaces' => sub {
    like csv($op, qw(space list --columns tenant)), qr{\Aacme globex system t0001 .* t0510\z}, 'all of them, page by page';
    is csv($ann, qw(space list --columns tenant)), 'acme', 'to a tenant its own';
    my $shown = $ann->json(qw(space show));
    is ref $shown eq 'ARRAY' ? $shown->[0]{metadata}{name} : $shown->{metadata}{name}, 'acme', 'its own';
    like $ann->ends(64, qw(space policy set acme First))->{err}, qr/LocalCRDFirst/, 'no policy';
    $ann->ends(0, qw(space policy set acme NeverUseSystemCRDUnlessForced --etag auto));
    is csv($ann, qw(space show --columns), 'tenant,policy'), 'acme,NeverUseSystemCRDUnlessForced', 'set';
    $admin->patch('/api/v1/tenants/acme', { metadata => { annotations => { note => 'x' } } })->is_status(200, 'somebody else');
    is csv($ann, qw(space policy set acme SystemCRDFirst --dry-run)), 'acme,gears.example.com,,system,2', 'back';
    $ann->ends(0, qw(space policy set acme NeverUseSystemCRDUnlessForced));
    my $stale = Tenure::Tool->new(url => $url, token => 'ann:acme', home => $ann->home);
    $stale->ends(0, qw(space show acme));
    $admin->patch('/api/v1/tenants/acme', { metadata => { annotations => { note => 'y' } } })->is_status(200, 'somebody else again');
    $stale->ends(5, qw(space policy set acme SystemCRDFirst --etag auto));
    is $op->json(qw(space policy set acme LocalCRDFirst))->{spec}{multiTenancyCRDPolicy}, 'LocalCRDFirst', 'the operator may';
    isnt $ann->run(qw(space policy set globex SystemCRDFirst))->{code}, 0, 'another tenant\'s';
    like +Tenure::Tool->new(url => $url)->ends(0, '__complete', qw(space policy set acme L))->{out}, qr/\ALocalCRDFirst\n\z/, 'completion knows policies';
};

subtest 'a withdrawn type' => sub {
    $admin->delete("$crds/gears.example.com")->is_status(200, 'withdrawn');
    $ann->ends(1, qw(type show gears.example.com));
    is csv($ann, qw(gears.example.com list -n default --columns name)), 'a b', 'its objects are listed';
    is csv($ann, qw(gears.example.com list --columns name)), 'a b', 'of all namespaces';
    like $ann->ends(0, qw(gears.example.com show a -n default))->{out}, qr/^metadata\.name +a$/m, 'and shown';
    $ann->ends(1, qw(gears.example.com show z -n default));
    $op->ends(1, qw(gears.example.com list -n default -t globex));
};

done_testing;
