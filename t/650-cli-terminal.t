#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure at a terminal: what it asks, what it says, and what never reaches the terminal. script(1) makes one.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use Test::More;

use Tenure::Instance;
use Tenure::Tool;

plan skip_all => 'tenure is not built' if !-x (Tenure::Instance::build_dir() // '') . '/tenure';
plan skip_all => 'script(1) is not installed' if !Tenure::Instance::on_path('script');
my $instance = Tenure::Instance->start;
my $admin    = $instance->admin;
$admin->make_tenant('t1');
$admin->make_tenant('t2');
my $tool = Tenure::Tool->new(url => $instance->env('TENURE_ADMIN_URL'), token => $instance->operator_token, tenant => 't1');

# What a terminal gets of a run, all of it.
sub at_terminal {
    my ($answer, @words) = @_;
    my $line = join ' ', map { "'$_'" } Tenure::Instance::build_dir() . '/tenure', @words;
    my $in = File::Temp->new;
    print {$in} $answer;
    close $in;
    my $out = File::Temp->new;
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        $tool->_environment;
        # Where something is answered, standard input stays open for a while: its end would end the terminal.
        my $wait = length $answer ? 2 : 0;
        exec { 'sh' } 'sh', '-c', "(cat \"\$1\"; sleep $wait) | script -qec \"\$2\" /dev/null >\"\$3\" 2>&1", 'sh', "$in", $line,
            "$out" or POSIX::_exit(127);
    }
    waitpid $pid, 0;
    return ($? >> 8, Tenure::Instance::read_file("$out") =~ s/\r\n/\n/gr);
}

my ($code, $text) = at_terminal('', qw(configmaps set web a=1 --no-etag));
is $text, "configmaps/web: done\n", 'a change tells that it is done';

($code, $text) = at_terminal("n\n", qw(configmaps delete web --no-etag));
like $text, qr{Delete configmaps/web\? \[y/N\]}, 'a deletion asks';
is $code, 64, 'no means no';
$tool->ends(0, qw(configmaps show web));
($code, $text) = at_terminal("y\n", qw(configmaps delete web --no-etag));
is $code, 0, 'yes';
$tool->ends(3, qw(configmaps show web));

$tool->ends(0, 'configmaps', 'set', $_, qw(a=1 --no-etag)) for 'one', 'two';
($code, $text) = at_terminal("nnnnnnnnnnnnnnny\nn\n", qw(configmaps delete one two --no-etag));
is $code, 64, 'a long answer';
$tool->ends(0, qw(configmaps show one two)); # no part of it answered the next question
$tool->ends(0, qw(configmaps delete one two --yes --no-etag));

my $odd = "x\e[31m\x07\xc2\x9b\xe2\x80\xae\x7f";
$admin->put('/v2.0/t1/namespaces/default/configmaps/odd', body => '{"a":"x\u001b[31m\u0007\u009b\u202e\u007f"}', type => 'application/json')
    ->is_status(201);
my $wild = qr/[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]/;
for my $format (qw(table csv json)) {
    my @columns = $format eq 'csv' ? ('--columns', 'a') : ();
    ($code, $text) = at_terminal('', qw(configmaps show odd --format), $format, @columns);
    is $code, 0, $format;
    unlike $text, $wild, "$format: nothing that a terminal would obey";
}
like $text, qr/\\u001b\[31m\\u0007\\u009b\\u202e\\u007f/, 'JSON stays JSON';
is $tool->ends(0, qw(configmaps show odd --columns a --format csv))->{out}, "a\n$odd\n", 'a file gets the bytes as they are';

($code, $text) = at_terminal('', qw(move --all t1 --to t2 --async --no-etag));
is $code, 0, 'a move in the background';
like $text, qr/\r\[[#.]{30}\] \d+\/\d+/, 'is watched by a bar';
like $text, qr{moved to http\S+/t2$}m, 'and told when it is done';

my $made = $admin->put('/v2.0/t1/namespaces/default/configmaps/undone', json => { a => 'b' })->header('x-request-id');
{
    my $list = File::Temp->new(SUFFIX => '.ndjson');
    print {$list} map { qq({"kind":"ConfigMap","metadata":{"name":"i$_"}}\n) } 1 .. 40;
    close $list;
    ($code, $text) = at_terminal('', 'import', "$list", qw(-t t1));
    is $code, 0, 'an import';
    like $text, qr/\r\[[#.]{30}\] \d+ rows, \d+ created, 0 replaced, 0 unchanged, 0 refused/, 'has a progress bar';
    like $text, qr/^40 +40 +0 +0 +0\s*$/m, 'and a summary';
}
($code, $text) = at_terminal("n\n", qw(changes undo), $made);
is $code, 64, 'an undo asks';
like $text, qr{configmaps/undone +delete.*nothing in the way.*Take back request \S+\? \[y/N\]}s, 'after its preview';
($code, $text) = at_terminal("y\n", qw(changes undo), $made);
is $code, 0, 'yes';
like $text, qr/\Q$made\E: taken back$/m, 'and tells that it is done';
unlike $text, qr/warning/, '... as it was shown';
($code, $text) = at_terminal("y\n", qw(changes undo), $made);
is $code, 4, 'what is in the way ends it';
unlike $text, qr/Take back/, '... before anybody is asked';

done_testing;
