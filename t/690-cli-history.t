#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure history and changes undo: what became of a resource, what taking a request back would do, and that it is done as it was shown.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Tool;

plan skip_all => 'tenure is not built' if !-x (Tenure::Instance::build_dir() // '') . '/tenure';
my $instance = Tenure::Instance->start(combined => 1);
$instance->admin->make_tenant($_) for qw(t1 t2);
my $url  = $instance->env('TENURE_COMBINED_URL');
my $tool = Tenure::Tool->new(url => $url, token => 'ann:t1:member', tenant => 't1');
my $ann  = $instance->service('ann:t1:member');
my $at   = '/v2.0/t1/namespaces/default/configmaps';

sub request { return $_[0]->header('x-request-id') }
sub color   { return $ann->get("$at/$_[0]")->json->{data}{color} }

my $made = $ann->put("$at/web", json => { data => { color => 'red', size => 1 } });
my $put  = $ann->put("$at/web", json => { data => { color => 'blue', list => ['a'] } });

subtest 'history' => sub {
    my $text = $tool->ends(0, qw(history configmaps/web))->{out};
    my ($new, $old) = split /(?<=\n)(?=\d{4}-)/, $text;
    like $new, qr/\A\d{4}-\S+Z  updated by ann, revision 2, request \Q${\request($put)}\E\n/, 'the newest first, with its request';
    is_deeply [sort grep { /^  [-+]/ } split /\n/, $new],
        ['  + data.color: "blue"', '  + data.list: ["a"]', '  - data.color: "red"', '  - data.size: 1'], 'member by member';
    like $old, qr/ created by ann, revision 1,.*\n(?:  \+ .*\n)+\z/, 'and the creation';
    is $tool->ends(0, 'history', $_)->{out}, $text, "as $_" for 'cm/web', 'namespaces/default/configmaps/web', $made->json->{metadata}{uid};
    is $tool->ends(0, qw(history configmaps/web --limit 1))->{out}, $new, 'one';
    my $list = $tool->json(qw(history configmaps/web));
    is_deeply [map { $_->{after}{data}{color} } @$list], [qw(blue red)], 'JSON has the contents';
    is $tool->ends(0, qw(history configmaps/web --columns verb --format csv))->{out}, "verb\nupdated\ncreated\n", 'CSV';
    $ann->put("$at/many", json => { data => { n => "$_" } }) for 1 .. 103;
    is scalar(() = $tool->ends(0, qw(history configmaps/many))->{out} =~ /^\d{4}-/mg), 103, 'more than a page';
    is scalar @{ $tool->json(qw(history configmaps/many --limit 101)) }, 101, '... as many as wanted';
    my %metal = (headers => { 'X-OpenStack-Ironic-API-Version' => '1.82' });
    my $node  = $instance->combined('admin')->post('/baremetal/v1/nodes', %metal,
        json => { driver => 'fake-hardware', owner => 't1', driver_info => { ipmi_password => 'one-word' } })->json->{uuid};
    $instance->combined('admin')->request('PATCH', "/baremetal/v1/nodes/$node", %metal, type => 'application/json',
        body => '[{"op":"replace","path":"/driver_info/ipmi_password","value":"another-word"}]')->is_status(200);
    my $masked = $tool->ends(0, 'history', $node)->{out};
    unlike $masked, qr/(?:one|another)-word/, 'what is masked stays masked';
    like $masked, qr{^    /driver_info/ipmi_password$}m, '... and its field is named';
    $instance->sql('DELETE FROM former_resources WHERE resource_id = (SELECT id FROM resources WHERE name = \'web\')');
    like $tool->ends(0, qw(history configmaps/web --limit 1))->{out}, qr{^    /data\S*: what it was is not kept$}m, 'what is not kept';
    $tool->ends(1, qw(history configmaps/none));
    $tool->ends(65, qw(history x));
    $tool->ends(64, 'history', $_) for 'a/b/c', 'a/b/c/d/e', '/', 'configmaps/';
    $tool->ends(64, qw(history configmaps/web --limit 0));
};

subtest 'a preview' => sub {
    my $blue = $ann->put("$at/web", json => { data => { color => 'green' } });
    my $run  = $tool->ends(0, qw(changes undo --preview), request($blue));
    like $run->{out}, qr{\ARESOURCE +ACTION +BLOCKER +DETAIL *\nnamespaces/default/configmaps/web +restore *\n}, 'what would be done';
    like $run->{out}, qr{^  - data.color: "green"\n  \+ data.color: "blue"\n}m, '... to which content';
    like $run->{out}, qr/^1 change of ann at \S+Z, nothing in the way. Tag: "\w+"$/m, '... and its tag';
    is color('web'), 'green', 'nothing is done';
    $tool->ends(64, qw(changes undo), request($blue));
    is color('web'), 'green', '... nor where nobody can be asked';
    like $tool->ends(0, qw(changes undo --dry-run --no-etag), request($blue))->{out}, qr{^curl -X POST .*/undo'$}m, 'as a line of curl';
    is $tool->json(qw(changes undo --preview), request($blue))->{items}[0]{action}, 'restore', 'JSON';
    my $tag = $tool->json(qw(changes undo --preview), request($blue))->{etag};
    $ann->put("$at/web", json => { data => { color => 'black' } });
    $tool->ends(5, qw(changes undo --yes --if-match auto), request($blue));
    $tool->ends(5, qw(changes undo --yes --if-match), $tag, request($blue));
    my $refused = $tool->ends(4, qw(changes undo --yes --no-etag), request($blue));
    like $refused->{err}, qr{namespaces/default/configmaps/web: changed-since: it was updated by ann}, 'a refusal has its reasons';
    $run = $tool->ends(4, qw(changes undo --preview), request($blue));
    like $run->{out}, qr/ restore +changed-since +it was updated by ann .*blocked\. Tag/s, '... as the preview has';
    is color('web'), 'black', 'nothing was done';
};

subtest 'undo' => sub {
    my $white = $ann->put("$at/web", json => { data => { color => 'white' } });
    $tool->ends(0, qw(changes undo --preview), request($white));
    my $run = $tool->ends(0, qw(changes undo --yes --if-match auto), request($white));
    is "$run->{out}$run->{err}", '', 'quiet away from a terminal';
    is color('web'), 'black', 'taken back';
    my ($id) = reverse split /\n/, $tool->ends(0, qw(changes list --newest --limit 1 --columns request --format csv))->{out};
    like $tool->ends(0, qw(changes undo --yes), $id)->{err}, qr/goes out without a preview's tag/, 'the undo of the undo, unguarded';
    is color('web'), 'white', '... is the change again';
    my @made = map { $ann->put("$at/$_", json => {}) } qw(one two);
    my $plan = $tool->json(qw(changes undo --yes --no-etag), request($made[0]));
    is $plan->{items}[0]{action}, 'delete', 'a creation, as JSON';
    $ann->get("$at/one")->is_status(410);
    $tool->ends(1, qw(changes undo --yes --no-etag), '00000000-0000-4000-8000-000000000000');
    $tool->ends(64, qw(changes undo --yes ..));
    $tool->ends(64, qw(changes undo --yes --if-match auto), request($made[1]));
    my $other = Tenure::Tool->new(url => $url, token => 'rita:t1:reader', tenant => 't1');
    $other->ends(77, qw(changes undo --yes --no-etag), request($made[1]));
};

done_testing;
