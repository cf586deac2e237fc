#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What tenure tells about itself: help, completion and the manual have the same commands and options. What the shells make of
# completion is in 641-cli-completion.t.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use Test::More;

use Tenure::Instance;
use Tenure::Run qw(run);

my $build = Tenure::Instance::build_dir();
plan skip_all => 'tenure is not built' if !defined $build || !-x "$build/tenure";
my $tenure = "$build/tenure";
my $top    = Tenure::Instance::source_dir();

sub out {
    my (@words) = @_;
    my ($code, $text) = run($tenure, @words);
    return wantarray ? ($code, $text) : $text;
}

# A page's subsections of COMMANDS by title.
my $page = Tenure::Instance::read_file("$top/doc/man/tenure.1");
my ($listed) = $page =~ /^\.Sh COMMANDS\n(.*?)^\.Sh /ms;
my %manual;
$manual{$1} = $2 while $listed =~ /^\.Ss (.+)\n((?:(?!\.Ss ).*\n)*)/mg;

my ($code, $help) = out('help');
is $code, 0, 'tenure help';
my @commands = $help =~ /^  ([a-z]+(?: [a-z]+)*) /mg;
cmp_ok scalar @commands, '>', 10, 'lists commands';
is_deeply [sort keys %manual], [sort @commands], 'tenure(1) has the same commands';

my ($everywhere) = $page =~ /^\.Ss Connection\n(.*?)^\.Sh COMMANDS/ms;
for my $command (@commands) {
    my ($status, $text) = out(split(' ', $command), '--help');
    is $status, 0, "$command --help";
    like $text, qr/^Example:\n  \S*\s?tenure |^Example:\n  tenure /m, "$command: an example";
    my @options = $text =~ /^\s+(?:-\w, )?(--[\w-]+)/mg;
    for my $option (@options) {
        my $flag = 'Fl ' . substr $option, 1;
        like $manual{$command} . $everywhere, qr/\Q$flag\E\b(?!-)/, "$command $option is in the manual";
    }
    while ($manual{$command} =~ /\bFl (-[\w-]+)/g) {
        my $option = "-$1";
        ok scalar(grep { $_ eq $option } @options), "$command takes $option, as the manual says";
    }
    is out('help', split ' ', $command), $text, "help $command is the same" if $command ne 'help';
    my ($noun, @verb) = split ' ', $command;
    like out('__complete', substr $noun, 0, 2), qr/^\Q$noun\E$/m, "completion knows $noun";
    for my $n (0 .. $#verb) {
        like out('__complete', $noun, @verb[0 .. $n - 1], ''), qr/^\Q$verb[$n]\E$/m, "completion knows $command: $verb[$n]";
    }
    my @offered = split /\n/, out('__complete', $noun, @verb, '--');
    is_deeply [sort @offered], [sort @options], "completion of $command offers its options";
}

is out('__complete', 'configmaps', 'ed'), "edit\n", 'a type has the verbs of resources';
is out('__complete', 'tenant', 'list', '--format', 'j'), "json\n", 'values of --format';
is out('__complete', 'help', 'tenant', 're'), "recover\n", 'help, too';
is out('__complete', 'node', 't'), "trait\n", 'the first word of two, once';
is out('__complete', 'node', 'trait', 're'), "remove\n", 'and the second';
is out('__complete', 'node', 'list', '--maintenance', 't'), "true\n", 'values of options of bare metal';
is out('__complete', 'usage', '--step', ''), "period\nhour\nday\nmonth\n", 'values of --step';
is out('__complete', 'usage', '--al'), "--all-tenants\n", 'options of a noun alone';
is out('__complete', 'count', '--al'), "--all-tenants\n", 'those of count';
is out('__complete', split / /, $$_[0], -1), $$_[1], "completion of: $$_[0]" for ['--url x ten', "tenant\n"], ['-t ', ''], ['-t acme tenant l', "list\n"],
    ['tenant -t x l', "list\n"], ['--format=json tenant l', "list\n"], ['configmaps -n prod sh', "show\n"], ['--format c', "csv\n"],
    ['changes list --verb m', "moved\n"], ['token create --role a', "admin\n"], ['find --type conf', "configmaps\n"], ['import --type sec', "secrets\n"],
    ['export conf', "configmaps\n"], ['configmaps list ', ''], ['resource list --sort name conf', "configmaps\n"], ['node list --driver ', ''],
    ['node list --driver x --maintenance t', "true\n"];

subtest 'columns' => sub {
    # The manual has those of each table of the source, in their order.
    my ($list) = $page =~ /^The columns are, and in this order:\n(.*?)^\.El$/ms;
    my %told = map { s/;.*//r => 1 } map { s/\A[^\n]*\n//r =~ s/\s+/ /gr =~ s/ \z//r } split /^\.It /m, $list =~ s/\A\.Bl[^\n]*\n//r;
    delete $told{''};
    my %is;
    for my $file (glob qq{"$top"/src/cli/command/*.c "$top"/src/types/*.c "$top"/src/types/*/*.c}) {
        my $source = Tenure::Instance::read_file($file);
        while ($source =~ /static const struct (?:column|type_noun_column) \w+\[\] = \{(.*?)\n?\t*\};/sg) {
            my $rows = $1;
            $is{ join ', ', $rows =~ /\{ "([^"]+)"/g } = 1;
        }
    }
    cmp_ok scalar keys %is, '>', 25, 'tables of columns';
    is_deeply [sort keys %told], [sort keys %is], 'the manual has each';
};

# ---- wrong usage is 64

local @ENV{qw(TENURE_URL XDG_CONFIG_HOME)} = ('http://127.0.0.1:1', '/nonexistent');
delete @ENV{qw(TENURE_TENANT TENURE_TOKEN TENURE_TOKEN_FILE)};
for my $case (
    [[],                                                        'nothing'],
    [['nonsense'],                                              'no such noun'],
    [['tenant', 'nonsense'],                                    'no such verb'],
    [['tenant', 'list', '--nonsense'],                          'no such option'],
    [['tenant', 'list', '--etag', 'x'],                         'an option of another command'],
    [['tenant', 'list', 'x'],                                   'an argument too many'],
    [['tenant', 'show'],                                        'an argument too few'],
    [['tenant', 'list', '--format'],                            'no value'],
    [['tenant', 'list', '--format', 'yaml'],                    'no such format'],
    [['tenant', 'list', '--deleted=1'],                         'a value too many'],
    [['tenant', 'list', '--url', 'ftp://x'],                    'no such scheme'],
    [['changes', 'list'],                                       'whose changes'],
    [['changes', 'list', '-t', 't', '--after', 'x'],            'no id of a change'],
    [['changes', 'list', '-t', 't', '--limit', '0'],            'no number of changes'],
    [['changes', 'undo', 'x'],                                  'whose request'],
    [['history', 'configmaps/x'],                               'whose resource'],
    [['history', 'configmaps', '-t', 't', '-n'],                'no value of an option'],
    [['changes', 'list', '-t', '..'],                           'a tenant that can be none'],
    [['usage'],                                                 'whose usage'],
    [['usage', 't', 'u'],                                       'usage of several tenants'],
    [['usage', 't', '--all-tenants'],                           'usage of a tenant and of all'],
    [['usage', 't', '--limit', '5'],                            'usage has no limit'],
    [['usage', '..'],                                           'usage of a tenant that can be none'],
    [['count'],                                                 'whose count'],
    [['count', 't', '-t', 'u'],                                 'the count of several tenants'],
    [['count', '-t', 't', '--all-tenants'],                     'the count of a tenant and of all'],
    [['count', '..'],                                           'the count of a tenant that can be none'],
    [['tenant', 'list', '--url', 'http://u:p@x'],               'a password in the URL'],
    [['tenant', 'list', '--token', "a\nb"],                     'a token of two lines'],
    [['tenant', 'show', '..'],                                  'an id that can be none'],
    [['configmaps', 'list'],                                    'no tenant'],
    [['configmaps', 'patch', 'x', '-t', 't'],                   'nothing to patch'],
    [['configmaps', 'set', 'x', 'novalue', '-t', 't'],          'no assignment'],
    [['configmaps', 'set', 'x', '--etag', 'a', '--no-etag', '-t', 't'], 'etag and no etag'],
    [['configmaps', 'delete', 'x', '-t', 't', '--no-etag'],     'nobody to ask'],
    [['move', 'configmaps/x', '-t', 't'],                       'no destination'],
    [['node', 'trait'],                                         'half a verb'],
    [['node', 'trait', 'lose', 'x'],                            'no such second word'],
    [['node', 'list', '--name', 'x'],                           'an option of another verb'],
    [['node', '--name', 'x', 'set', 'y'],                       'an option of bare metal before its verb'],
    [['node', 'set', 'x', '--no-etag'],                         'nothing to set'],
    [['node', 'set', 'x', '--extra', 'k', '--no-etag'],         'a key without its value'],
    [['node', 'set', 'x', '--retired', 'yes', '--no-etag'],     'neither true nor false'],
    [['node', 'set', 'x', '--etag', 'new', '--name', 'y'],      'new where there is no PUT'],
    [['node', 'unset', 'x', '--name=y', '--no-etag'],           'a value where none is taken'],
    [['node', 'set', 'x', 'a=1', '--patch', '[]', '--no-etag'], 'a patch and more'],
    [['node', 'create', 'x'],                                   'a member without its value'],
    [['node', 'show'],                                          'which node'],
    [['node', 'show', 'a/b'],                                   'no name of a node'],
    [['node', 'list', '--limit', '0'],                          'no number'],
    [['node', 'list', '--long', '--fields', 'name'],            'two kinds of columns'],
    [['node', 'list', '--sort', 'name:up'],                     'no such order'],
    [['node', 'trait', 'remove', 'x', '--no-etag'],             'which traits'],
    [['node', 'delete', 'x', '--no-etag'],                      'nobody to ask about a node'],
    [['move', 'a/b/c', '-t', 't', '--to', 'u'],                 'no source'],
  ) {
    my ($words, $name) = @$case;
    my ($status, $text) = out(@$words);
    is $status, 64, "usage: $name" or diag $text;
    isnt $text, '', 'with a word about it';
}
is +(run('sh', '-c', 'exec "$1" --version >/dev/full', 'sh', $tenure))[0], 74, 'what is printed has no room';
{
    pipe my $reader, my $writer or die "pipe: $!";
    pipe my $errors, my $told or die "pipe: $!";
    close $reader;
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        open STDOUT, '>&', $writer or die;
        open STDERR, '>&', $told or die;
        exec $tenure, 'help';
    }
    close $_ for $writer, $told;
    is do { local $/; readline($errors) // '' }, '', 'a reader that has seen enough is no error to tell of';
    waitpid $pid, 0;
    is $? >> 8, 74, '... but the exit code says that not all was read';
}
for my $case (
    [[qw(tenat list)],           qr/^tenure:   did you mean "tenant"\?$/m,                       'a noun, where no tenant is named'],
    [[qw(mve x)],                qr/there is no command "mve"; did you mean "move"\?/,           'a noun without a verb'],
    [[qw(tenant lst)],           qr/tenant has no verb "lst"; did you mean "list"\?/,            'a verb'],
    [[qw(configmaps shw x)],     qr/configmaps has no verb "shw"; did you mean "show"\?/,        'a verb of resources'],
    [[qw(configmaps get x)],     qr/configmaps has no verb "get"; did you mean "show"\?/,         'a verb of kubectl'],
    [[qw(tenant create x)],      qr/tenant has no verb "create"; did you mean "set"\?/,           'another one'],
    [[qw(tenant rm x)],          qr/tenant has no verb "rm"; did you mean "delete"\?/,            'a verb of the shell'],
    [[qw(show configmaps web)],  qr/did you mean "tenure configmaps show"\?/,                     'the verb before the noun'],
    [[qw(get tenants)],          qr/did you mean "tenure tenants show"\?/,                        'kubectl\'s, in its order'],
    [[qw(usge acme)],            qr/there is no command "usge"; did you mean "usage"\?/,        'another noun without a verb'],
    [[qw(usage acme --stp day)], qr/did you mean --step\?/,                                      'an option of a noun alone'],
    [[qw(usage --all)],          qr/usage does not take --all \(did you mean --all-tenants\?\)/,   'an option of other commands'],
    [[qw(configmaps set x a=b -t t --etag nwe)], qr/--etag takes auto, new or an etag, .*not "nwe"/,  'no etag, which is not compared with one'],
    [[qw(configmaps set x a=b -t t --etag W/12xy)], qr/--etag takes auto, new or an etag, .*not "W\/12xy"/, 'one with other letters'],
    [[qw(configmaps set x a=b -t t), '--etag', ''], qr/--etag takes auto, new or an etag, .*not ""/, 'an empty one'],
    [[qw(move cm/x -t t --to u --if-match atuo)], qr/--if-match takes auto or the tag of a preview, .*not "atuo"/, 'no tag of a preview'],
    [[qw(undo)],                 qr/there is no command "undo"; did you mean "changes undo"\?/,    'a verb without its noun'],
    [[qw(undo req-1)],           qr/there is no command "undo"; did you mean "changes undo"\?/,    'the same with an argument'],
    [[qw(history cm shop)],      qr/history takes: RESOURCE; see "tenure help history"/,          'too many arguments'],
    [[qw(a/b list)],             qr{there is no command "a/b", and a type can't be called that},      'what is no type'],
    ( map { my ($what, @words) = @$_; [ \@words, qr{"\.\." can't be \Q$what\E: it has to be UTF-8, not empty, without "/", and neither "\." nor "\.\."$}m, $what ] }
        [ "a tenant's id", qw(tenant show ..) ], [ "a tenant's id", qw(usage ..) ], [ "a tenant's id", qw(space show ..) ], [ "a tenant's id", qw(type list -t ..) ],
        [ "a type's name", qw(type explain .. -t t) ], [ "a webhook's name", qw(webhook show .. -t t) ], [ "a webhook's name", qw(webhook ping .. -t t) ],
        [ "a tier's name", qw(tier show ..) ], [ "a namespace's name", qw(forward revoke cm/x -n .. -t t) ], [ "a trait's name", qw(trait show ..) ],
        [ "a port's UUID or name", qw(port show ..) ], [ "a trait's name", qw(node trait add 1be26c0b-03f2-4d2e-ae87-c02d7f33c781 .. --no-etag) ] ),
    ( map { my ($what, @words) = @$_; [ \@words, qr/\Q$what\E is not UTF-8: does the terminal/, "$what in another encoding" ] }
        [ 'NAME', 'find', "\xff" ], [ '--selector', qw(configmaps list -t t --selector), "\xff" ], [ '--selector', qw(find --selector), "\xff" ],
        [ '--extra', qw(node unset x --no-etag --extra), "\xff" ], [ '--description-contains', qw(node list --description-contains), "\xff" ] ),
    [[qw(tier list x)],          qr/tier list takes: no arguments; see "tenure help tier list"/,   'an argument where none is'],
    [[qw(node trait lst)],       qr/node has no verb "trait"/,                                   'a second word'],
  ) {
    my ($words, $why, $name) = @$case;
    my ($status, $said) = out(@$words);
    is $status, 64, "mistyped: $name";
    like $said, $why, '... is told what is near';
}
{
    local @ENV{qw(TENURE_URL HOME)} = (undef, '/nonexistent');
    delete local $ENV{TENURE_URL};
    my ($status, $said) = run($tenure, qw(tenat list));
    is $status, 64, 'a mistyped noun, and no service is named';
    like $said, qr/where is the service\?.*did you mean "tenant"\?/s, '... is told both';
}
{
    my ($status, $said) = run('sh', '-c', 'echo \'{"data": {"a": "b"}}\' | exec "$1" configmaps set - -t acme --no-etag', 'sh', $tenure);
    is $status, 66, 'a document where names are read';
    like $said, qr/--file - reads that/, '... is told how to be read, and becomes no name';
}
like +(out('tenant', 'list', '--formt', 'json'))[1], qr/--formt is no option here \(did you mean --format\?\)/, 'what is near';
like +(out('node', 'list', '--maintenence', 'true'))[1], qr/did you mean --maintenance\?/, '... among options of bare metal, too';
for my $case (
    ['127.0.0.1:8081',              qr{"127.0.0.1:8081" has no scheme: give http://127.0.0.1:8081 or https://127.0.0.1:8081}],
    ['localhost:8081/',             qr{has no scheme: give http://localhost:8081/}],
    ['http://127.0.0.1:8081/v2.0',  qr{names a version of the API; the service's URL is http://127.0.0.1:8081$}m],
    ['https://a.test/v1.0//',       qr{the service's URL is https://a.test$}m],
    ['http://u:p@x',                qr{without user}],
  ) {
    my ($url, $why) = @$case;
    my ($status, $said) = out('tenant', 'list', '--url', $url);
    is $status, 64, "--url $url";
    like $said, $why, '... is told what would be right';
}
($code, my $text) = out('node', 'set', 'x', '--no-etag', '--patch', '[{"op":"add"}]');
is $code, 65, 'what is no JSON Patch';
($code, $text) = out('configmaps', 'set', 'x', 'a:={', '-t', 't', '--no-etag');
is $code, 64, 'an assignment that is no JSON';
like $text, qr/line 1/, 'and where';

done_testing;
