#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure: every command against a real service; forms of output, exit codes, names on standard input.
use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/lib";

use Encode qw(decode_utf8 encode_utf8);
use Test::More;

use Tenure::Instance;
use Tenure::Run qw(run);
use Tenure::Tool;

plan skip_all => 'tenure is not built' if !-x (Tenure::Instance::build_dir() // '') . '/tenure';
my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;
my $tool     = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => $instance->operator_token, tenant => 't1');

subtest 'tenants' => sub {
    my $run = $tool->ends(0, qw(tenant set t1 --tier gold contact=ann --no-etag));
    is "$run->{out}$run->{err}", '', 'silent where nobody looks';
    is_deeply [@{ $admin->get('/v2.0/t1')->json->{tenant} }{qw(tier metadata)}], ['gold', { contact => 'ann' }], 'made';
    like $tool->ends(0, qw(tenant set t2))->{err}, qr/warning: tenant t2: goes out without an etag/, 'a warning';
    is $tool->json(qw(tenant show t1))->{tenant}{tier}, 'gold', 'show as JSON';
    like $tool->ends(0, qw(tenant show t1))->{out}, qr/^tenant\.tier +gold$/m, 'show as a table';
    is $tool->ends(0, 'tenant', 'list', '--format', 'csv', '--columns', 'id,tier')->{out}, "id,tier\nt1,gold\nt2,standard\n", 'list as CSV';
    is_deeply [map { $_->{id} } @{ $tool->json(qw(tenant list --columns id)) }], ['t1', 't2'], 'list as JSON';
    like $tool->ends(0, qw(tenant list))->{out}, qr/\AID +TIER +STATE +RESOURCES +CREATED\nt1 +gold +active +0 /, 'list as a table';
    is $tool->run_with_input(qq({"tenant":{"tier":"standard"}}), qw(tenant set t1 -f - --no-etag))->{code}, 0, 'set by a file';
    is $tool->json(qw(tenant show t1))->{tenant}{tier}, 'standard', 'as it says';
    $tool->ends(64, qw(tenant delete t2 --no-etag));
    $tool->ends(0, qw(tenant delete t2 --yes --etag auto)) if $tool->run(qw(tenant show t2))->{code} == 0;
    like $tool->ends(3, qw(tenant show t2))->{err}, qr/recovered until 20\d\d-/, 'gone';
    like $tool->ends(0, 'tenant', 'list', '--deleted', '--columns', 'id,purge')->{out}, qr/^t2 +20\d\d-/m, 'listed as deleted';
    $tool->ends(4, qw(tenant set t2 --no-etag));
    is $tool->ends(0, qw(tenant recover t2))->{out}, '', 'recovered, silently';
    $tool->ends(0, qw(tenant delete t2 --yes --no-etag));
    is $tool->json(qw(tenant recover t2))->{tenant}{id}, 't2', '... or printed in a format';
    $tool->ends(1, qw(tenant show t3));
    $tool->ends(65, qw(tenant set t3 --tier nonsense --no-etag));
};

subtest 'resources' => sub {
    $tool->ends(0, qw(configmaps set web data.color=blue data.size:=3 data.deep.er=x --etag new));
    is_deeply $tool->json(qw(configmaps show web))->{data}, { color => 'blue', size => 3, deep => { er => 'x' } }, 'members';
    $tool->ends(0, qw(resource show configmaps web));
    $tool->ends(0, qw(configmaps patch web data.size:=null), '--no-etag');
    $tool->ends(0, qw(configmaps patch web --no-etag -p), '{"data":{"color":"red"}}');
    is_deeply $tool->json(qw(configmaps show web))->{data}, { color => 'red', deep => { er => 'x' } }, 'patched twice';
    $tool->ends(0, qw(namespaces set prod --no-etag));
    $tool->ends(0, qw(configmaps set web -n prod a=1 --no-etag));
    $tool->ends(0, qw(persistentvolumes set disk a=1 --no-etag));
    is $tool->ends(0, 'configmaps', 'list', '--columns', 'namespace,name', '--format', 'csv')->{out},
        "namespace,name\ndefault,web\nprod,web\n", 'a list is of all namespaces';
    is $tool->ends(0, 'configmaps', 'list', '-n', 'prod', '--columns', 'namespace,name', '--format', 'csv')->{out}, "namespace,name\nprod,web\n",
        'or of one';
    $tool->ends(0, qw(configmaps set web -n prod --no-etag), q(data:={"k":"v","l":"w"}));
    like $tool->ends(0, qw(configmaps list -n prod))->{out}, qr/\ANAMESPACE +NAME +REVISION +CREATED +DATA\nprod +web +2 +\S+ +2\n\z/,
        'behind the columns of all types, those of the type';
    is((split /\n/, $tool->ends(0, qw(configmaps list --format csv))->{out})[0], 'namespace,name,revision,created,data', 'also as CSV');
    like $tool->ends(0, 'configmaps', 'list', '-n', 'prod', '--columns', 'name,data')->{out}, qr/^web +\{"k":"v","l":"w"\}/m,
        'a name in --columns is a path in the document';
    my $columns = 'namespace, name, revision, created, uid, deleted, purge, etag, tenant, labels, locked';
    for my $format ('table', 'csv', 'json') {
        my $run = $tool->ends(64, qw(configmaps list --columns), 'name,nix', '--format', $format);
        is $run->{out}, '', "... $format: a name that leads to nothing prints no table";
        is $run->{err}, qq(tenure: --columns: there is no column "nix"; there are: $columns\n), '... but which columns there are';
    }
    is $tool->ends(64, qw(configmaps show web -n prod --columns nmae))->{err},
        qq(tenure: --columns: there is no column "nmae"; did you mean "name"? There are: $columns\n), '... and which is near';
    is $tool->ends(0, qw(configmaps list -n prod --format csv --columns), 'name,binaryData,data.nix')->{out}, "name,binaryData,data.nix\nweb,,\n",
        '... a member that a type has may be missing in all rows, and so may one in the depth';
    is $tool->ends(0, qw(secrets list -n prod --columns nix --format csv))->{out}, "nix\n", '... and no rows tell nothing';
    like $tool->ends(64, qw(tenant list --columns nix))->{err}, qr/there are: id, tier, state, /, '... of tenants';
    unlike $tool->ends(0, qw(persistentvolumes list))->{out}, qr/NAMESPACE/, 'what stands in no namespace has no such column';
    is $tool->run_with_input("web\n\nweb2\n", qw(configmaps show - --columns name --format csv))->{out}, "name\nweb\n",
        'names on standard input';
    is $tool->run_with_input("web\nweb2\n", qw(configmaps show -))->{code}, 1, 'one of them is not there';
    my $many = $tool->run_with_input("web\n" x 18, qw(configmaps show - web --columns name --format csv));
    is_deeply [$many->{code}, $many->{out}], [0, "name\n" . "web\n" x 19], 'any number of them, and one behind' or diag $many->{err};
    {
        local @ENV{qw(TENURE_URL TENURE_TOKEN TENURE_TENANT)} = ($instance->env('TENURE_ADMIN_URL'), $instance->operator_token, 't1');
        my ($code, $text) = run('sh', '-c', 'exec "$0" "$@" </', Tenure::Instance::build_dir() . '/tenure', qw(configmaps delete web - --yes --no-etag));
        is $code, 66, 'names that can\'t be read';
        like $text, qr/\Atenure: -: Is a directory\n\z/, '... are told';
    }
    $tool->ends(0, qw(configmaps show web));
    is $tool->run_with_input("web\n", qw(configmaps delete - --yes --no-etag))->{code}, 0, 'deleted';
    like $tool->ends(3, qw(configmaps show web))->{err}, qr/deleted/, 'gone';
    my ($gone) = @{ $tool->json(qw(configmaps list --deleted)) };
    $tool->ends(0, qw(configmaps recover web --uid), $gone->{metadata}{uid});
    $tool->ends(1, qw(configmaps recover web));
    $tool->ends(0, qw(configmaps delete web --yes --no-etag));
    is $tool->json(qw(configmaps recover web))->{metadata}{uid}, $gone->{metadata}{uid}, 'what was recovered is printed in a format';
    $tool->ends(0, qw(configmaps patch web data.again=1 --etag auto));
    $tool->ends(1, qw(nonsenses show web));
    like $tool->ends(64, @$_)->{err}, qr{^tenure: "a/b" can't be a [a-z' ]+: it has to be UTF-8, not empty, without "/"}, "@$_" for [qw(configmaps list -t a/b)], [qw(configmaps show web -n a/b)], [qw(resource list a/b)],
        [qw(configmaps show a/b)], [qw(export a/b)];
    $tool->ends(65, qw(configmaps set web --no-etag -f), "$FindBin::Bin/610-cli-commands.t");
    $tool->ends(66, qw(configmaps set web --no-etag -f /nonexistent));
    $tool->ends(65, qw(configmaps set web metadata.name=other --no-etag));
};

# jq prints null for what its input does not have. The command must not take that for an empty document, which would replace all content.
subtest 'a document that is null' => sub {
    $tool->ends(0, qw(configmaps set kept data.color=blue --no-etag));
    $tool->ends(0, qw(tier set kept max_resources:=7 description=seven --no-etag));
    my $null = sub {
        my (@words) = @_;
        my $run = $tool->run_with_input("null\n", @words);
        is $run->{code}, 65, "@words: refused";
        like $run->{err}, qr/^tenure: (?:-|--patch): null is no document: expected \{ /m, '... with the reason';
        return;
    };
    $null->(qw(configmaps set kept -f - --no-etag));
    $null->(qw(configmaps patch kept --no-etag --patch null));
    is_deeply $tool->json(qw(configmaps show kept))->{data}, { color => 'blue' }, 'a resource keeps its content';
    $null->(qw(tier set kept -f - --no-etag));
    is_deeply [@{ $tool->json(qw(tier show kept)) }{qw(max_resources description)}], [7, 'seven'], 'a tier keeps its limit';
    $null->(qw(tenant set never -f - --no-etag));
    $tool->ends(1, qw(tenant show never));
    my $before = $instance->change_count;
    $null->(qw(chassis create -f -));
    is $instance->change_count, $before, 'no chassis is made';
    $tool->ends(0, qw(tier delete kept --yes --no-etag));
};

subtest 'changes' => sub {
    $tool->ends(0, qw(tenant set seen --no-etag));
    my $seen = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => $instance->operator_token, tenant => 'seen');
    $seen->ends(0, qw(configmaps set web data.color=blue --no-etag));
    $seen->ends(0, qw(configmaps patch web data.color=red --no-etag));
    my @changes = @{ $seen->json(qw(changes list)) };
    is_deeply [map { $_->{verb} } @changes], [qw(created created created updated)], 'the tenant, its namespace and the resource';
    like $seen->ends(0, qw(changes list))->{out}, qr/\AID +AT +ACTOR +VERB +MOVED +RESOURCE +FIELDS\n.* updated +namespaces\/default\/configmaps\/web +\/data\/color *\n\z/s,
        'a table';
    unlike $seen->ends(0, qw(changes list))->{out}, qr/ $/m, 'no line ends with blanks, where the last column is empty';
    is $seen->ends(64, qw(changes list --follow --format), $_, qw(--columns nix))->{out}, '', "a column that is none, $_" for qw(table json);
    is $seen->ends(0, qw(changes list --columns verb --format csv --after), $changes[2]{id})->{out}, "verb\nupdated\n", 'those behind one';
    is $seen->ends(0, qw(changes list --columns id --format csv --limit 2))->{out}, "id\n$changes[0]{id}\n$changes[1]{id}\n", 'some';
    $seen->ends(1, qw(changes list -t nobody));
    $admin->make("/v2.0/seen/namespaces/default/configmaps/c$_") for 1 .. 1010;
    is scalar @{ $seen->json(qw(changes list)) }, 1014, 'more than a page';
    is scalar @{ $seen->json(qw(changes list --limit 1005)) }, 1005, '... or as many as wanted';
};

subtest 'pages' => sub {
    $admin->make("/v2.0/t1/namespaces/default/secrets/s$_") for 100 .. 250;
    is scalar @{ $tool->json(qw(secrets list)) }, 151, 'all of them';
};

subtest 'text' => sub {
    my @names = ('日本語', 'é', 'plain');
    $tool->ends(0, 'pods', 'set', encode_utf8($_), 'x=1', '--no-etag') for @names;
    my @lines = split /\n/, decode_utf8($tool->ends(0, 'pods', 'list', '--columns', 'name,x')->{out});
    # Wide characters take two columns.
    is_deeply \@lines, ['NAME    X', 'plain   1', 'é       1', '日本語  1'], 'columns stand one below the other';
    $tool->ends(0, 'services', 'set', 'odd', "a=x,\"y\"\nz", "b=\e[31m", "c=\xc2\x9b\xe2\x80\xae", '--no-etag');
    is $tool->ends(0, 'services', 'show', 'odd', '--columns', 'a,b', '--format', 'csv')->{out}, "a,b\n\"x,\"\"y\"\"\nz\",\e[31m\n",
        'CSV keeps bytes and quotes what must be';
    my $table = $tool->ends(0, qw(services show odd))->{out};
    like $table, qr/^a +x,"y"\\x0az$/m, 'a table shows control characters';
    like $table, qr/^b +\\x1b\[31m$/m, 'and does not send them';
    like $table, qr/^c +\\x9b\\u\{202e\}$/m, 'C1 and what turns the direction';
    $tool->ends(0, 'configmaps', 'set', 'dots', 'x:={"app.kubernetes.io/name":"n"}', '--no-etag');
    is $tool->ends(0, qw(configmaps show dots --columns x.app.kubernetes.io/name --format csv))->{out},
        "x.app.kubernetes.io/name\nn\n", 'a path through a name with dots';
    my $big = '{"n":12345678901234567890,"f":1.50}';
    is $tool->run_with_input("{\"v\":$big}", qw(configmaps set numbers -f - --no-etag))->{code}, 0, 'numbers';
    like $tool->ends(0, qw(configmaps show numbers --format json))->{out}, qr/12345678901234567890.*1\.50/s, 'keep their digits';
};

subtest 'dry run' => sub {
    my $before = $instance->change_count;
    my $run = $tool->ends(0, qw(configmaps patch web data.color=it's --no-etag --dry-run));
    like $run->{out}, qr/\Acurl -X PATCH -H "X-Auth-Token: \$TENURE_TOKEN" .*--data-binary '.*it'\\''s.*' 'http/, 'a line of curl';
    $tool->ends(0, qw(tenant delete t1 --dry-run --no-etag));
    $tool->ends(0, qw(move --all t1 --to t2 --dry-run --no-etag));
    is $instance->change_count, $before, 'nothing was sent';
    local $ENV{TENURE_TOKEN} = $instance->operator_token;
    my ($code, $text) = run('sh', '-c', "$run->{out}");
    is $tool->json(qw(configmaps show web))->{data}{color}, "it's", 'and what is printed does it' or diag $text;
};

subtest 'moves' => sub {
    my $run = $tool->ends(0, qw(move configmaps/web --to t2 --preview));
    like $run->{out}, qr{^namespaces/default/configmaps/web\b}m, 'a preview';
    like $run->{out}, qr/^1 resource to t2, nothing in the way\. Tag: "[0-9a-f]{40}"$/m, 'with its tag';
    like $tool->ends(0, qw(move configmap/web --to t2 --preview))->{out}, qr{^namespaces/default/configmaps/web\b}m, 'by the name of the type that one has';
    my $shown = $tool->json(qw(move configmaps/web --to t2 --preview));
    like $shown->{move}{etag}, qr/\A"[0-9a-f]{40}"\z/, 'as JSON, too';
    $tool->ends(0, qw(configmaps patch web late=1 --no-etag));
    like $tool->ends(5, qw(move configmaps/web --to t2 --if-match auto))->{err}, qr/look again/, 'refused after a change';
    $tool->ends(5, qw(move configmaps/web --to t2 --if-match), $shown->{move}{etag});
    $tool->ends(0, qw(move configmaps/web --to t2 --preview));
    $tool->ends(0, qw(move configmaps/web --to t2 --if-match auto));
    like $tool->ends(6, qw(configmaps show web))->{err}, qr{/t2/}, 'the old address says where it is';
    $tool->ends(0, qw(configmaps show web -t t2));
    $tool->ends(0, qw(configmaps set web metadata.locked:=true --no-etag));
    $run = $tool->ends(4, qw(move namespaces/default/configmaps/web --to t2 --preview));
    like $run->{out}, qr/^namespaces\S+web  name-taken +/m, 'blockers beside what they are about';
    like $run->{out}, qr/^namespaces\S+web  locked +/m, 'all of them';
    my @rows = split /\n/, $tool->ends(4, qw(move configmaps/web --to t2 --preview --format csv --columns blocker))->{out};
    is_deeply [sort @rows], [qw(blocker locked name-taken)], 'as CSV';
    like $tool->ends(4, qw(move configmaps/web --to t2 --no-etag))->{err}, qr/name-taken.*locked|locked.*name-taken/s, 'told when done';
    like $tool->ends(0, qw(move pods/plain --to t2))->{err}, qr/warning: .*--if-match/, 'a warning without a tag';
    $tool->ends(0, qw(configmaps patch web metadata.locked:=false --no-etag));
    $tool->ends(0, qw(configmaps delete web --yes --no-etag));
    is $tool->run_with_input("namespaces/prod\npersistentvolumes/disk\n", qw(move - --to t2 --no-etag))->{code}, 0,
        'sources on standard input';
    $tool->ends(0, qw(move --all t1 --to t2 --async --no-etag));
    is_deeply $tool->json(qw(secrets list)), [], 'all moved in the background, watched to the end';
    my $id = $tool->ends(0, qw(move --all t2 --to t1 --no-wait --no-etag))->{out};
    chomp $id;
    my $done = sub { $tool->run(qw(move status -t t2), $id)->{out} =~ /\Adone: / };
    ok Tenure::Instance::wait_until($done), 'or looked at by its id';
    $tool->ends(1, qw(move status -t t2 c4ef6c00-dca3-4a5d-b45a-779e8bf53fab));
    # What comes in the way of a move while it waits.
    my @stopped = $instance->stop_movers;
    my $late = $tool->begin(undef, qw(move --all t1 --to t2 --async --no-etag));
    ok Tenure::Instance::wait_until(sub { my ($move) = @{ $admin->get('/v2.0/t1/moves?limit=1')->json->{moves} }; $move->{dest} eq 't2' && $move->{state} eq 'queued' }), 'a move waits';
    $tool->ends(0, qw(configmaps set held metadata.locked:=true --no-etag));
    kill CONT => @stopped;
    my $end = $tool->end($late);
    is $end->{code}, 70, '... and fails';
    like $end->{err}, qr{^tenure: t1: the move failed: blocked: nothing was moved: 1 thing stands in the way, the first: namespaces/default/configmaps/held: locked: set metadata\.locked to false first$}m, '... which is said once';
    $tool->ends(0, qw(configmaps patch held metadata.locked:=false --no-etag));
    $tool->ends(0, qw(configmaps delete held --yes --no-etag));
    $tool->ends(1, qw(move --all t1 --to nowhere --no-etag));
    $tool->ends(4, qw(move --all t1 --to t1 --no-etag));
};

subtest 'who may not' => sub {
    my $user = Tenure::Tool->new(url => $instance->env('TENURE_SERVICE_URL'), token => 'ann:t1:reader', tenant => 't1');
    $user->ends(0, qw(configmaps list));
    $user->ends(77, qw(configmaps set x --no-etag));
    $user->ends(1, qw(configmaps list -t t2));
    Tenure::Tool->new(url => $instance->env('TENURE_SERVICE_URL'), tenant => 't1')->ends(77, qw(configmaps list));
};

done_testing;
