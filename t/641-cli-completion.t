#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Completion of tenure and tenure-manage: what the programs offer, and what bash and a real zsh make of it. That each command and option
# of tenure is offered is in 640-cli-help.t.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Copy ();
use File::Temp ();
use Test::More;

use Tenure::Instance;
use Tenure::Run qw(run read_file write_file);

my $build = Tenure::Instance::build_dir();
plan skip_all => 'tenure is not built' if !defined $build || !-x "$build/tenure";
my $top = Tenure::Instance::source_dir();
my ($tenure, $manage) = map { "$build/$_" } qw(tenure tenure-manage);

# ---- tenure-manage's own table

my ($code, $help) = run($manage, '--help');
{
    # In the list a verb is known by its noun, which stands in front of several lines, or whose help asks for a verb.
    my %verbs;
    for my $noun (do { my %seen; grep { !$seen{$_}++ } map { /^(\S+)/ } $help =~ /^  ([a-z].*)$/mg }) {
        my ($status, $text) = run($manage, 'help', $noun);
        is $status, 0, "help $noun";
        $verbs{$noun} = [$text =~ /^usage: \S+ \[-c FILE\] \Q$noun\E VERB/ ? $text =~ /^  \Q$noun\E (\S+)/mg : ()];
    }
    cmp_ok scalar keys %verbs, '>', 15, 'nouns';
    my $offered = sub { return [split /\n/, (run($manage, '__complete', @_))[1]] };
    is_deeply [sort @{ $offered->('') }], [sort keys %verbs, 'help'], 'all nouns are offered';
    is_deeply [sort @{ $offered->('help', '') }], [sort keys %verbs], '... behind help, too';
    for my $noun (sort keys %verbs) {
        my @verbs = @{ $verbs{$noun} };
        is_deeply $offered->($noun, ''), \@verbs, "all verbs of $noun" if @verbs;
        for my $verb (@verbs ? @verbs : undef) {
            my @words = ($noun, $verb // ());
            my ($status, $text) = run($manage, @words, '--help');
            my @options = $text =~ /^\s+(--[\w-]+)/mg;
            is_deeply [sort @{ $offered->(@words, '--') }], [sort @options, qw(--config --help --version)], "all options of @words";
        }
    }
}

# Words, what is offered, and whether files are.
for my $case (
    ['to',                            "token\n"],
    ['-c x to',                       "token\n"],
    ['--config=x to',                 "token\n"],
    ['token re',                      "revoke\nrevoke-all\n"],
    ['help token cr',                 "create\n"],
    ['help token create ',            ''],
    ['token create --role ',          "reader\nmember\nadmin\n"],
    ['token create --user x --ro',    "--role\n"],
    ['token list --state e',          "expired\n"],
    ['status --format ',              "text\njson\n"],
    ['log-level d',                   "debug\ndefault\n"],
    ['log-level debug ',              ''],
    ['tier set small --max-resources ', "none\n"],
    ['token create --user ',          ''],
    ['tier set ',                     ''],
    ['nonsense ',                     ''],
    ['token nonsense ',               ''],
    ['-c ',                           '', 1],
    ['dump ',                         '', 1],
    ['dump --tenant acme ',           '', 1],
    ['dump --tenant ',                ''],
    ['dump here ',                    ''],
    ['help dump ',                    ''],
    ['restore --dry-run ',            '', 1],
    ['import placement --from ',      '', 1],
    ['db init --from ',               ''],
  ) {
    my ($words, $offers, $files) = @$case;
    my ($status, $text) = run($manage, '__complete', split / /, $words, -1);
    is $text, $offers, "tenure-manage $words";
    is $status, $files // 0, '... ' . ($files ? 'and files' : 'and no files');
}
for my $case (['import ', 1], ['import x ', 0], ['import --type configmaps ', 1], ['help import ', 0], ['--token-file ', 1], ['node create --file ', 1],
    ['node create -f ', 1], ['configmaps set web --file ', 1], ['tenant list ', 0], ['export ', 0]) {
    my ($words, $files) = @$case;
    is +(run($tenure, '__complete', split / /, $words, -1))[0], $files, "tenure $words: " . ($files ? 'files' : 'no files');
}
is +(run($tenure, '__complete', 'export', 'configmaps', 'sec'))[1], "secrets\n", 'tenure export takes several types';

is +(run($manage, '__describe', 'token', 'rev'))[1], "revoke\trevoke a token\nrevoke-all\trevoke all tokens, operators' and tenants'\n", 'verbs with their help';
is +(run($manage, '__describe', 'dump', '--al'))[1], "--all\teverything: all tenants, their trash, the change log, tokens, the server's keys\n", 'options, too';
is +(run($tenure, '__describe', 'tenant', 'sho'))[1], "show\tshow tenants\n", 'those of tenure';
is +(run($tenure, '__describe', 'node', 'tra'))[1], "trait\n", 'half a verb has none';
is +(run($tenure, '__describe', 'tenant', 'list', '--tie'))[1], "--tier\tthe tenant's tier; in lists only its tenants\n", 'options of tenure';

# ---- the shells, in a folder with these files

my $here = File::Temp->newdir('tenure-completion-XXXXXX', TMPDIR => 1);
mkdir "$here/$_" or die $! for qw(work functions);
write_file("$here/work/$_", '') for 'a file.csv', 'other.csv', 'c:xy.csv';
local $ENV{PATH} = "$build:$ENV{PATH}";

# bash calls the function with its words, in which "=" and ":" are words of their own, and with the line.
sub in_bash {
    my ($program, @words) = @_;
    my $line = join(' ', $program, @words) =~ s/ ?([=:]) ?/$1/gr;
    return in_bash_line($line, $program, @words);
}
sub in_bash_line {
    my ($line, $program, @words) = @_;
    my ($status, $text) = run('bash', '-c', 'cd "$1" && . "$2" && COMP_LINE=$3 && shift 3 && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _tenure && printf "%s\n" "${COMPREPLY[@]}"',
        'bash', "$here/work", "$top/completions/tenure.bash", $line, $program, @words);
    is $status, 0, "bash completes: @words";
    return $text;
}
subtest 'bash' => sub {
    plan skip_all => 'no bash' if !Tenure::Instance::on_path('bash');
    is in_bash($tenure, 'mo'), "move\n", 'a noun';
    is in_bash($tenure, 'tenant', 'sh'), "show\n", 'a verb';
    is in_bash($tenure, 'tenant', 'list', '--format', '=', 'j'), "json\n", 'a value behind =';
    is in_bash($tenure, 'tenant', 'list', '--format', '='), "table\njson\ncsv\n", '... all of them';
    is in_bash($tenure, 'node', 'create', '--file', 'a'), "a file.csv\n", 'a file, as one word';
    is in_bash($tenure, 'import', 'o'), "other.csv\n", 'what import takes';
    is in_bash($tenure, 'import', '--dr'), "--dry-run\n", '... beside its options';
    is in_bash($tenure, 'configmaps', 'list', ''), "\n", 'nothing, where nothing is known';
    is in_bash($tenure, '--url', 'http', ':', '//h', ':', '8081', 'tenant', 'li'), "list\n", 'behind a value with colons';
    is in_bash($tenure, '--url', '=', 'http', ':', '//h', ':', '8081', 'tenant', 'li'), "list\n", '... and =';
    is in_bash_line("$tenure -t a: tenant li", $tenure, '-t', 'a', ':', 'tenant', 'li'), "list\n", '... that ends with one';
    is in_bash($tenure, 'import', 'c', ':', 'x'), "xy.csv\n", 'a file with a colon in its name: what bash puts behind that';
    is in_bash($tenure, 'import', 'c', ':'), "xy.csv\n", '... all of it';
    is in_bash($manage, 'token', 'cr'), "create\n", 'tenure-manage';
    is in_bash($manage, 'restore', 'a'), "a file.csv\n", 'the file of a dump';
    is in_bash($manage, 'token', 'list', '--state', '=', 'v'), "valid\n", 'a value of tenure-manage';
    my ($status, $text) = run('bash', '-c', '. "$1" && complete -p tenure tenure-manage', 'bash', "$top/completions/tenure.bash");
    is $text, "complete -F _tenure tenure\ncomplete -F _tenure tenure-manage\n", 'both are registered';
};

# A zsh with a terminal of its own, at which lines are typed, and a tab behind each: the matches that zsh gets, and the line as it is then.
write_file("$here/type", <<'ZSH');
zmodload zsh/zpty
folder=$1 out=$2
zpty child zsh -f -i
zpty -w child "PS1= PS2= RPS1=; stty -echo; fpath=(${(q)folder} \$fpath); out=${(q)out}"
zpty -w child 'autoload -Uz compinit; compinit -u -D
compadd() {
	local -a hits
	if (( ! ${#${(M)@:#-(O|A|D)}} )); then
		builtin compadd -O hits "$@"
		(( $#hits )) && print -rl -- $hits >>$out
	fi
	builtin compadd "$@"
}
typed_all() { print -r -- "line: $BUFFER" >>$out; BUFFER= }
zle -N typed_all; bindkey "^Xd" typed_all; bindkey "^I" complete-word
unsetopt beep; LISTMAX=9999'
integer i n=0
for typed in "${@[3,-1]}"; do
	zpty -w -n child "$typed"$'\t\x18d'
	(( n++ ))
	for (( i = 0; i < 1200; i++ )); do
		zpty -r -t child >/dev/null 2>&1
		[[ $(grep -c '^line: ' $out) == $n ]] && break
		sleep 0.05
	done
done
zpty -d child
ZSH
# For each of the lines what became of it.
sub in_zsh {
    my (@lines) = @_;
    my $out = File::Temp->new;
    run('sh', '-c', 'cd "$1" && shift && exec zsh -f "$@"', 'sh', "$here/work", "$here/type", "$here/functions", "$out", @lines);
    my @became = read_file("$out") =~ /((?:(?!line: ).*\n)*line: .*\n)/g;
    return map { $_ // '' } @became[0 .. $#lines];
}
sub functions_are {
    my ($name) = @_;
    unlink glob "$here/functions/*";
    File::Copy::copy("$top/completions/tenure.zsh", "$here/functions/$name") or die $!;
    return;
}
subtest 'zsh' => sub {
    plan skip_all => 'no zsh' if !Tenure::Instance::on_path('zsh');
    my ($status, $said) = run('zsh', '-n', "$top/completions/tenure.zsh");
    is "$status $said", '0 ', 'its syntax';
    my @cases = (
        ['tenure mov',                              "move\nline: tenure move \n",                                         'a noun of tenure'],
        ['tenure-manage tok',                       "token\nline: tenure-manage token \n",                                'one of tenure-manage'],
        ['tenure-manage token cre',                 "create\nline: tenure-manage token create \n",                        'a verb'],
        ['tenure tenant ',                          "list\nshow\nset\ndelete\nrecover\nline: tenure tenant \n",           'all verbs, in their order'],
        ['tenure-manage token create --rol',        "--role\nline: tenure-manage token create --role \n",                 'an option'],
        ['tenure-manage token create --role mem',   "member\nline: tenure-manage token create --role member \n",          'its value'],
        ['tenure-manage token create --role=mem',   "member\nline: tenure-manage token create --role=member \n",          '... behind ='],
        ['tenure configmaps --format c',            "csv\nline: tenure configmaps --format csv \n",                       'a value of tenure'],
        ['tenure import o',                         "other.csv\nline: tenure import other.csv \n",                        'a file'],
        ['tenure-manage restore a',                 "a\\ file.csv\nline: tenure-manage restore a\\ file.csv \n",          'one with a blank in its name'],
        ['tenure-manage nonsense ',                 "line: tenure-manage nonsense \n",                                    'nothing, where nothing is known'],
    );
    functions_are('_tenure');
    my @became = in_zsh(map { $_->[0] } @cases);
    is $became[$_], $cases[$_][1], $cases[$_][2] for 0 .. $#cases;
    functions_are('_tenure-manage');
    @became = in_zsh(map { $_->[0] } @cases[0, 1]);
    is $became[$_], $cases[$_][1], "the other file alone: $cases[$_][2]" for 0, 1;
};

done_testing;
