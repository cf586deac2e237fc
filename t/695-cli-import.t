#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure import and export: every row is created, replaced, unchanged or refused for a reason of its own, and an import that is run again
# changes nothing.
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
my $instance = Tenure::Instance->start(workers => 2);
my $admin    = $instance->admin;
$admin->make_tenant($_) for qw(t1 t2 t3);
my %who  = (url => $instance->env('TENURE_ADMIN_URL'), token => $instance->operator_token);
my $tool = Tenure::Tool->new(%who, tenant => 't1');
my $home = File::Temp->newdir;

sub file {
    my ($name, $text) = @_;
    open my $out, '>:raw', "$home/$name" or die "$name: $!";
    print {$out} $text;
    close $out;
    return "$home/$name";
}

# Imports, and returns the run; counts: what the summary has to say.
sub import_is {
    my ($code, $counts, $name, $file, @options) = @_;
    my $run = $tool->ends($code, 'import', $file, @options, '--format', 'json');
    my $summary = eval { JSON::PP::decode_json($run->{out}) } // {};
    $summary = $summary->[0] if ref $summary eq 'ARRAY';
    my %is = (created => 0, replaced => 0, unchanged => 0, refused => 0, %$counts);
    is_deeply { map { $_ => $summary->{$_} } keys %is }, \%is, $name or diag $run->{err};
    return $run;
}

sub content {
    my ($tenant, $path) = @_;
    return $admin->get("/v2.0/$tenant/namespaces/default/configmaps/$path")->json->{data};
}

subtest 'CSV' => sub {
    my $csv = file('a.csv', qq{name,data.color,"data.text",data.size:,labels\r\nweb,blue,"a ""b"",\nc",3,"{""env"":""prod""}"\r\nmail,,"",,\r\n\r\n});
    like import_is(0, { created => 2 }, 'a dry run tells', $csv, '--type', 'configmaps', '--dry-run')->{err}, qr/^tenure: this was a dry run: nothing was changed$/m,
        '... that it is one';
    like import_is(1, { refused => 2 }, 'a typing mistake in the type', $csv, '--type', 'configmapz')->{err}, qr/did you mean "configmaps"\?/, '... is told once for all rows';
    like $tool->ends(64, 'import', '', '--type', 'cm')->{err}, qr/the name of the file is empty; - is standard input/, 'no name';
    like $tool->ends(66, 'import', '/', '--type', 'cm')->{err}, qr{^tenure: /: Is a directory$}, 'a folder';
    is $admin->get('/v2.0/t1/namespaces/default/configmaps/web')->status, 404, '... and does nothing';
    like import_is(1, { refused => 2 }, '... and that there is no such type', $csv, '--type', 'nonsense', '--dry-run')->{err}, qr/nonsense/, '... in words';
    import_is(1, { refused => 2 }, '... and no such tenant', $csv, '--type', 'configmaps', '--dry-run', '-t', 'nobody');
    like $tool->ends(64, 'import', $csv, qw(--type cm --columns nix))->{err}, qr/no column "nix"; there are: rows, created, replaced, unchanged, refused$/,
        'a summary with other columns is refused';
    is $admin->get('/v2.0/t1/namespaces/default/configmaps/web')->status, 404, '... before anything is imported';
    import_is(0, { created => 2 }, 'is imported', $csv, '--type', 'cm');
    is_deeply content('t1', 'web'), { color => 'blue', text => qq{a "b",\nc}, size => 3 }, 'quotes, line feeds and numbers';
    is_deeply $admin->get('/v2.0/t1/namespaces/default/configmaps/web')->json->{metadata}{labels}, { env => 'prod' }, 'labels';
    is_deeply content('t1', 'mail'), { text => '' }, 'an empty cell is nothing, a quoted one an empty string';
    my $etag = $admin->get('/v2.0/t1/namespaces/default/configmaps/web')->header('ETag');
    import_is(0, { unchanged => 2 }, 'a second time nothing changes', $csv, '--type', 'configmaps');
    is $admin->get('/v2.0/t1/namespaces/default/configmaps/web')->header('ETag'), $etag, '... not even its etag';
    import_is(0, { unchanged => 1 }, 'rows that were done are skipped', $csv, '--type', 'configmaps', '--skip', 1);
};

subtest 'what is there is not overwritten' => sub {
    my $csv = file('b.csv', "name,data.color\nweb,red\nnew,green\n");
    my $run = import_is(5, { created => 1, refused => 1 }, 'other content is refused', $csv, '--type', 'configmaps');
    like $run->{err}, qr{b\.csv:2: configmaps/web: it is there already, with other content; --no-etag replaces it}, 'with its line';
    is content('t1', 'web')->{color}, 'blue', 'it stays';
    import_is(0, { replaced => 1, unchanged => 1 }, '--no-etag replaces it', $csv, '--type', 'configmaps', '--no-etag');
    is_deeply content('t1', 'web'), { color => 'red' }, 'as a whole';

    my $lines = $tool->ends(0, qw(export configmaps))->{out};
    my @edited = map { s/"red"/"black"/r } split /^/, $lines;
    my $guarded = file('c.ndjson', join '', @edited);
    import_is(0, { replaced => 1, unchanged => 2 }, '--etag auto foresees', $guarded, '--etag', 'auto', '--dry-run');
    $tool->ends(0, qw(configmaps patch web data.color=white --no-etag));
    $run = import_is(5, { unchanged => 2, refused => 1 }, 'somebody was faster', $guarded, '--etag', 'auto');
    like $run->{err}, qr/configmaps\/web: it was changed since the row's etag was read/, 'and is not overwritten';
    is content('t1', 'web')->{color}, 'white', '... at all';
    $guarded = file('c.ndjson', $tool->ends(0, qw(export configmaps))->{out} =~ s/"white"/"black"/r);
    import_is(0, { replaced => 1, unchanged => 2 }, 'with the etags of now it is replaced', $guarded, '--etag', 'auto');
    is content('t1', 'web')->{color}, 'black', '... in fact';
    import_is(0, { unchanged => 3 }, 'again: done already', $guarded, '--etag', 'auto');
};

subtest 'out of one tenant into another' => sub {
    $tool->ends(0, qw(namespaces set prod));
    $tool->ends(0, qw(configmaps set deep -n prod), 'data.x:={"a":[1,1.50,null,"\u00e9"]}', '--etag', 'new');
    my $lines = file('all.ndjson', $tool->ends(0, qw(export namespaces configmaps))->{out});
    import_is(0, { created => 5, unchanged => 1 }, 'all documents', $lines, '-t', 't2');
    my $of = sub { my ($tenant) = @_; my @rows = map { my $d = JSON::PP::decode_json($_); [ @{ $d->{metadata} }{qw(namespace name)}, $d->{data} ] }
        split /\n/, $tool->ends(0, 'export', 'configmaps', '-t', $tenant)->{out}; return \@rows };
    is_deeply $of->('t2'), $of->('t1'), 'are equal there';
    my $kubectl = file('kubectl.json', '{"kind":"List","apiVersion":"v1","items":[{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"k","namespace":"default"},"data":{"a":"1"}}]}');
    import_is(0, { created => 1 }, 'what kubectl get prints', $kubectl, '-t', 't2');
    my $list = file('list.json', $tool->ends(0, qw(export namespaces configmaps --format json))->{out});
    import_is(0, { unchanged => 6 }, 'a JSON list is as good', $list, '-t', 't2');
    my $csv = file('listed.csv', $tool->ends(0, qw(configmaps list --format csv --columns), 'namespace,name,etag,data.color')->{out});
    import_is(1, { created => 3, refused => 1 }, 'what a list printed as CSV can be imported, too', $csv, '--type', 'configmaps', '-t', 't3');
    like $tool->ends(0, qw(export widgets.example.com --help))->{out}, qr/document on each line/, 'help';
    $tool->ends(1, qw(export widgets));
    $tool->ends(64, qw(export configmaps --format table));
};

subtest 'rows that are wrong keep no other from being imported' => sub {
    my $run = import_is(65, { created => 2, refused => 5 }, 'CSV',
        file('w.csv', qq~name,data.a,data.b:\nw1,1,2\nw2,1\nw3,"x"y,1\n,1,2\nw5,1,{\nw6,\xff,1\n"w7",1,"[1]"\n~), '--type', 'configmaps');
    like $run->{err}, qr/w\.csv:3: the row has 2 cells, and the first line names 3 columns/, 'cells';
    like $run->{err}, qr/w\.csv:4: something follows the end of a quoted cell/, 'quotes';
    like $run->{err}, qr/w\.csv:5: there is no "name"/, 'no name';
    like $run->{err}, qr/w\.csv:6: column data\.b: /, 'JSON';
    like $run->{err}, qr/w\.csv:7: column data\.a: the cell is not UTF-8/, 'UTF-8';
    $run = import_is(65, { created => 1, refused => 5 }, 'lines of JSON', file('w.ndjson', join "\n", '{"metadata":{"name":"n1"}}', '{', '[]',
        '{"kind":"ConfigMap","metadata":{"name":"n4"}}', '', '{"kind":"ConfigMap","metadata":{"name":"a/b"}}',
        '{"kind":"ConfigMap","metadata":{"name":"n7","namespace":"none"}}'));
    like $run->{err}, qr/w\.ndjson:1: which type\?/, 'no type';
    like $run->{err}, qr/w\.ndjson:3: the line is no object/, 'no object';
    like $run->{err}, qr{w\.ndjson:6: configmaps/a/b: }, 'no address';
    like $run->{err}, qr{w\.ndjson:7: configmaps/n7: }, 'no namespace';
    for my $case ([ 'empty.csv', '', qr/it is empty/ ], [ 'twice.csv', "name,data.a,data.a\n", qr/"data\.a" is there twice/ ],
        [ 'path.csv', "name,data..a\n", qr/"data\.\.a" can be no column/ ], [ 'noname.csv', "data.a\n1\n", qr/no column is called "name"/ ],
        [ 'open.csv', qq{name,"a}, qr/a quoted cell has no end/ ], [ 'no.json', '{"a":1}', qr/expected an array of documents/ ],
        [ 'bad.json', '[', qr/bad\.json: / ]) {
        like $tool->ends(65, 'import', file(@$case[0, 1]), '--type', 'configmaps')->{err}, $case->[2], $case->[0];
    }
    $tool->ends(66, 'import', "$home/none.csv");
    $tool->ends(64, 'import', file('ok.csv', "name\n"), '--etag', 'W/"abc"');
    $tool->ends(64, 'import', file('ok.csv', "name\n"), '--skip', '-1');
    is $tool->run_with_input("name,data.a\nstdin,1\n", qw(import - --type configmaps))->{code}, 0, 'standard input';
    is content('t1', 'stdin')->{a}, '1', 'is read';
};

subtest 'an import that is broken off' => sub {
    my $csv  = file('many.csv', "name,data.n\n" . join '', map { "m$_,$_\n" } 1 .. 20);
    my $away = Tenure::Tool->new(url => 'http://127.0.0.1:9', token => 'x', tenant => 't3');
    my $run  = $away->ends(69, 'import', $csv, '--type', 'configmaps');
    like $run->{err}, qr/stopped at row 1; to go on there: --skip 0/, 'stops at the first row that the service does not take';
    is scalar(() = $run->{err} =~ /many\.csv:/g), 1, '... and says so once';
    import_is(0, { created => 10 }, 'half of it is done', file('half.csv', "name,data.n\n" . join '', map { "m$_,$_\n" } 1 .. 10), '--type', 'configmaps', '-t', 't3');
    import_is(0, { created => 10, unchanged => 10 }, 'the rest is, run again', $csv, '--type', 'configmaps', '-t', 't3');
};

# Standard input is a pipe whose writer is slow, and is read without waiting: to read it any further is an error.
subtest 'a file that can not be read to its end' => sub {
    my $slow = '$^F = 255; pipe my $in, my $out or die; syswrite $out, shift; fcntl $in, F_SETFL, O_NONBLOCK or die; open STDIN, "<&", $in or die; exec { $ARGV[0] } @ARGV';
    for (['CSV', "name,type,data.color\nr1,configmaps,red\nr2,configmaps,bl"], ['lines', join "\n", map { qq({"kind":"ConfigMap","metadata":{"name":"$_"}}) } 'r3', 'r2'],
        ['the first line', '{"kind":"ConfigMap","metadata":{"name":"r2"}}', 0]) {
        my ($what, $text, $created) = @$_;
        my $cut = Tenure::Tool->new(%who, tenant => 't1', within => [$^X, '-MFcntl', '-e', $slow, $text])->ends(74, qw(import - --no-etag --format json));
        my ($counted) = $cut->{out} =~ /"created": (\d+),/;
        is $counted, $created // 1, "$what: rows that were read are imported";
        like $cut->{err}, qr/^tenure: -: the file can't be read any further$/m, '... and it is told';
        is $admin->get('/v2.0/t1/namespaces/default/configmaps/r2')->status, 404, '... but not the half of one';
    }
};

# The documents differ from their rows by what the service adds and leaves out, so only the service can tell that a row changes nothing.
subtest 'what the service makes of a row counts as unchanged, too' => sub {
    $admin->make_tenant($_) for qw(t6 t7);
    my $schema = { type => 'object', properties => { spec => { type => 'object', properties => { color => { type => 'string' }, size => { type => 'integer', default => 3 } } } } };
    $admin->put('/v2.0/t6/customresourcedefinitions.apiextensions.k8s.io/tools.example.com', json => definition_of('tools', schema => $schema))->is_status(201);
    my $at     = '/v2.0/t6/namespaces/default';
    my $tool_1 = sub { $admin->get("$at/tools.example.com/a") };
    my $csv    = file('tools.csv', "name,spec.color,spec.unknown\na,red,x\nb,blue,\n");
    my @tools  = (qw(--type tools.example.com -n default -t t6));
    import_is(0, { created => 2 }, 'a type with a default that prunes', $csv, @tools);
    my $etag = $tool_1->()->header('ETag');
    is_deeply $tool_1->()->json->{spec}, { color => 'red', size => 3 }, '... does both';
    my $changes = $instance->change_count;
    import_is(0, { unchanged => 2 }, 'a second time nothing changes', $csv, @tools);
    import_is(0, { unchanged => 2 }, '... nor would it', $csv, @tools, '--dry-run');
    import_is(0, { unchanged => 2 }, '... nor with --no-etag', $csv, @tools, '--no-etag');
    is $instance->change_count, $changes, '... and nothing is logged';
    is $tool_1->()->header('ETag'), $etag, '... and the etag stays';
    $csv = file('stale.csv', qq{name,etag,spec.color\na,"W/""00""",red\nb,"W/""00""",green\n});
    import_is(5, { unchanged => 1, refused => 1 }, 'rows with stale etags', $csv, @tools, '--etag', 'auto');
    $csv = file('others.csv', qq{name,spec.color,spec.size:\na,red,4\nb,blue,"""big"""\n});
    my $run = import_is(5, { refused => 2 }, 'other content is refused', $csv, @tools);
    like $run->{err}, qr{others\.csv:2: tools\.example\.com/a: it is there already, with other content;}, '... as such';
    like $run->{err}, qr{others\.csv:3: tools\.example\.com/b: it is there already, with other content;}, '... also what its schema forbids';
    is_deeply $tool_1->()->json->{spec}, { color => 'red', size => 3 }, '... and it is not touched';
    import_is(0, { unchanged => 1, replaced => 1 }, '--no-etag counts what it replaces', file('some.csv', "name,spec.color\na,red\nb,black\n"), @tools, '--no-etag');

    my $kubectl = file('kubectl-generation.json', '{"kind":"List","items":[{"kind":"ConfigMap","metadata":{"name":"web","namespace":"default","generation":4,"managedFields":[{"manager":"x"}],'
        . '"deletionGracePeriodSeconds":30,"hashKey":"x"},"data":{"a":"1"}}]}');
    import_is(0, { created => 1 }, 'what kubectl prints of a cluster', $kubectl, '-t', 't6');
    import_is(0, { unchanged => 1 }, '... a second time', $kubectl, '-t', 't6');

    $admin->put("$at/configmaps/fast", json => { data => { a => 1 } })->is_status(201);
    $admin->put("$at/configmaps/fast/traits", json => { traits => ['STORAGE_DISK_SSD'] })->is_status(200);
    my $lines = file('traits.ndjson', $tool->ends(0, qw(export configmaps -t t6))->{out});
    $run = import_is(0, { created => 2 }, 'a resource with traits and another', $lines, '-t', 't7');
    like $run->{err}, qr/^tenure: warning: the traits of 1 row are left out/m, '... are created without them, with a warning';
    $run = import_is(0, { unchanged => 2 }, '... a second time', $lines, '-t', 't7');
    is $run->{err}, '', '... without one';
    import_is(0, { unchanged => 2 }, '... and where they are from', $lines, '-t', 't6');
};

subtest 'out as CSV and in again' => sub {
    $admin->make_tenant($_) for qw(t4 t5);
    my $at = '/v2.0/t4/namespaces/default';
    my @hostile = ('', ' ', ' lead', 'trail ', '=1+1', "'=1+1", 'a,b', 'q"uote', '""', "line\nfeed", "re\r\nturn", "\r", "\t", 'null', '5', 'true', '{', "\x{1}\x{7f}",
        "\x{fc}n\x{ef}", "\x{1f600}", "\x{feff}mark");
    my $n = 0;
    $admin->put("$at/configmaps/c" . $n++, json => { data => { color => $_, "k$n" => $_ } })->is_status(201) for @hostile;
    my %other = (
        'nested' => '{"spec":{"a":{"b":{"c":"x"}},"list":[1,1.50,null,"y"],"big":18446744073709551615},"flag":true}',
        'differs' => '{"spec":{"a":"a text","big":"x"},"flag":"yes","nothing":null}',
        'words' => '{"type":"a type","name":"a name","tenant":"t","labels":"l","etag":"e","uid":{"x":"1"}}',
        'meta' => '{"metadata":{"labels":{"app":"web","a.b/c":"d"},"annotations":{"note":"=x\\n,\\"y\\""},"locked":true,"own":{"a":[1]},"text":"a text"}}',
        'empty' => '{}', 'empties' => '{"spec":{},"list":[],"name":""}', 'dots' => '{"files":{"a.conf":"x","b:":"y"," c ":"z","":"w"}}',
    );
    $admin->put("/v2.0/t4/persistentvolumes/$_", body => $other{$_}, type => 'application/json')->is_status(201, $_) for sort keys %other;
    $admin->put("$at/secrets/key", json => { type => 'Opaque', data => { password => 'c2VjcmV0' } })->is_status(201);
    my @types = qw(configmaps persistentvolumes secrets);
    my $csv   = $tool->ends(0, 'export', @types, qw(-t t4 --format csv))->{out};
    like $csv, qr/\Anamespace,name,type,etag,labels,[^\n]*,data\.color,[^\n]*,spec:,/, 'columns';
    like $csv, qr/^default,key,secrets,/m, 'a row';
    my $file = file('out.csv', $csv);
    my $rows = $n + keys(%other) + 1;
    import_is(0, { unchanged => $rows }, 'is what is there', $file, '-t', 't4');
    import_is(0, { created => $rows }, 'and can be made elsewhere', $file, '-t', 't5', '--dry-run');
    import_is(0, { created => $rows }, '... in fact', $file, '-t', 't5');
    my $documents = sub {
        my ($tenant) = @_;
        return map { my $document = JSON::PP->new->utf8->allow_bignum->decode($_); delete @{ $document->{metadata} }{qw(tenant uid etag creationTimestamp selfLink)}; $document }
            split /\n/, $tool->ends(0, 'export', @types, '-t', $tenant)->{out};
    };
    is_deeply [$documents->('t5')], [$documents->('t4')], '... the same documents, to the byte';
    is $tool->ends(0, 'export', @types, qw(-t t5 --format csv))->{out} =~ s/W\/[0-9a-f]+/E/gr, $csv =~ s/W\/[0-9a-f]+/E/gr, 'and CSV';
    is $tool->ends(0, qw(export pods -t t5 --format csv))->{out}, "namespace,name,type,etag\n", 'of nothing the titles';
    is $tool->with(TMPDIR => '/nowhere')->ends(73, qw(export pods -t t5 --format csv))->{err},
        "tenure: a temporary file can't be made in /nowhere: No such file or directory; TMPDIR names another folder\n", 'which need a file of their own';
    $admin->put("/v2.0/t4/persistentvolumes/wide$_", json => { spec => { map { ("m$_" => 'x') } 1 + 600 * $_ .. 600 + 600 * $_ } })->is_status(201) for 0, 1;
    $csv = $tool->ends(0, qw(export persistentvolumes -t t4 --format csv))->{out};
    like $csv, qr/^[^\n]*,spec:,/, 'where there would be more than 1,000 columns, those of the top';
    import_is(0, { unchanged => 2 + keys %other }, '... are all', file('wide.csv', $csv), '-t', 't4');
    $admin->put("/v2.0/t4/persistentvolumes/dotted", json => { 'a.b' => 1 })->is_status(201);
    like $tool->ends(65, qw(export persistentvolumes -t t4 --format csv))->{err}, qr/can't be that of a column: export it as JSON/, 'what CSV has no column for';
};

subtest 'how a file begins' => sub {
    my $mark = "\xef\xbb\xbf";
    import_is(0, { created => 1 }, 'CSV with a byte order mark', file('m.csv', qq($mark"name","data.a"\r\n"b1","1"\r\n)), '--type', 'configmaps');
    import_is(0, { created => 1 }, 'lines', file('m.ndjson', qq($mark\{"kind":"ConfigMap","metadata":{"name":"b2"}}\n)));
    import_is(0, { created => 1 }, 'a list', file('m.json', qq($mark\[{"kind":"ConfigMap","metadata":{"name":"b3"}}]\n)));
    $tool->ends(65, 'import', file('n.csv', "\xefname\nx\n"), '--type', 'configmaps');
    my $list = qq({"kind":"List","items":[{"kind":"ConfigMap","metadata":{"name":"NAME"}}]}\n);
    my %input = (
        'a list' => '[{"kind":"ConfigMap","metadata":{"name":"NAME"}}]', 'a list on several lines' => qq([\n{"kind":"ConfigMap","metadata":{"name":"NAME"}}\n]\n),
        'an object with a list' => $list, 'as kubectl prints it' => $list =~ s/([{\[,])/$1\n/gr, 'lines' => qq({"kind":"ConfigMap","metadata":{"name":"NAME"}}\n\n),
        'CSV' => "name,type\nNAME,configmaps\n",
    );
    my $i = 0;
    for my $what (sort keys %input) {
        my $run = $tool->run_with_input($input{$what} =~ s/NAME/'s' . $i++/er, qw(import - --format json));
        like $run->{out}, qr/"created": 1,/, "standard input: $what" or diag $run->{err};
    }
    # Documents with members that a list has, too.
    my @like_lists = map { qq({"kind":"ConfigMap","metadata":{"name":"$_->[0]"},$_->[1]}\n) } ['i1', '"items":[1]'], ['i2', '"resources":[{"metadata":{"name":"z"}}]'];
    for my $lines (@like_lists, join '', @like_lists) {
        my $imported = $tool->run_with_input($lines, qw(import - --type configmaps --no-etag --format json));
        is $imported->{code}, 0, 'standard input: documents with such members are no lists' or diag $imported->{err};
    }
    is_deeply $admin->get('/v2.0/t1/namespaces/default/configmaps/i1')->json->{items}, [1], '... but imported as they are';
    is $admin->get('/v2.0/t1/namespaces/default/configmaps/z')->status, 404, '... and nothing that is in them';
    my $run = $tool->run_with_input(qq({"kind":\n{"kind":"ConfigMap","metadata":{"name":"b9"}}\n) =~ s/:\n/:5\n/r, qw(import - --format json));
    like $run->{out}, qr/"created": 1,.*"refused": 1/s, 'a line that is wrong keeps no other from being imported' or diag $run->{err};
};

subtest 'a dry run tells what the import does' => sub {
    $tool->ends(0, qw(configmaps set there data.a=1 -t t2 --etag new));
    my @rows = (
        '{"kind":"ConfigMap","metadata":{"name":"d1"},"data":{"a":"1","b":"2"}}',
        '{"kind":"ConfigMap","metadata":{"name":"d1"},"data":{"b":"2","a":"1"}}',                                # the same again
        '{"kind":"ConfigMap","metadata":{"name":"d1"},"data":{"a":"2"}}',                                        # something else
        '{"kind":"ConfigMap","metadata":{"name":"d4","labels":5}}',                                              # no such labels
        '{"kind":"ConfigMap","metadata":{"name":"d5","namespace":"later"}}',                                     # not there yet
        '{"kind":"Namespace","metadata":{"name":"later"}}',
        '{"kind":"ConfigMap","metadata":{"name":"d5","namespace":"later"},"data":{"x":1}}',                      # there now
        '{"kind":"ConfigMap","metadata":{"name":"d5","namespace":"later"},"data":{"x":2}}',                      # with other content
        '{"kind":"ConfigMap","metadata":{"name":"there"},"data":{"a":"1"}}',
        '{"kind":"ConfigMap","metadata":{"name":"there"},"data":{"a":"2"}}',
        '{"kind":"ConfigMap","metadata":{"name":"there"},"data":{"a":"1"}}',
        JSON::PP->new->canonical->encode(definition_of('gadgets')),
        '{"metadata":{"name":"g1","namespace":"default","type":"gadgets.example.com"},"spec":{"n":1}}',
        '{"metadata":{"name":"m1","type":"nonsense"}}',
    );
    my $file = file('dry.ndjson', join '', map { "$_\n" } @rows);
    my $requires = sub { $admin->put('/v2.0/t2', json => { tenant => { etag_required => $_[0] } }, if_match => '*')->is_status(202) };
    for my $options ([], ['--no-etag'], ['--etag', 'auto'], ['--no-etag', '--skip', '0']) {
        # Also where the tenant wants an etag with each change.
        my $required = @$options == 3;
        $requires->(JSON::PP::true()) if $required;
        my $changes = $instance->change_count;
        my ($told, $done) = map { my $run = $tool->run('import', $file, @$options, '-t', 't2', '--format', 'json', @$_); $run } ['--dry-run'], [];
        is $told->{out}, $done->{out}, "@$options: the same counts" or diag "$told->{err}\n$done->{err}";
        is $told->{err} =~ s{^tenure: this was a dry run: .*\n\z}{}mr, $done->{err}, '... and reasons';
        is $told->{code}, $done->{code}, '... and exit status';
        unlike $done->{out}, qr/"created": 0/, 'it creates something';
        $requires->(JSON::PP::false()) if $required;
        # What it made is taken away again.
        $tool->run(@$_, '-t', 't2', '--yes', '--no-etag') for [qw(configmaps delete d1)], [qw(gadgets.example.com delete g1 -n default)],
            [qw(customresourcedefinitions.apiextensions.k8s.io delete gadgets.example.com)], [qw(namespaces delete later)];
        $tool->ends(0, qw(configmaps set there data.a=1 -t t2 --no-etag));
    }
    my $before = $instance->change_count;
    $tool->run('import', $file, '--no-etag', '-t', 't2', '--dry-run');
    is $instance->change_count, $before, 'a dry run changes nothing';
    is $tool->run(qw(configmaps show d1 -t t2))->{code}, 3, '... and leaves nothing to be read';
};

done_testing;
