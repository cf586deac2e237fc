#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tenure where several change the same thing: what is remembered, what is shown, what is merged, and the editor.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
use Tenure::Tool;

plan skip_all => 'tenure is not built' if !-x (Tenure::Instance::build_dir() // '') . '/tenure';
my $instance = Tenure::Instance->start(workers => 3);
my $admin    = $instance->admin;
$admin->make_tenant('t1');
my %who = (url => $instance->env('TENURE_ADMIN_URL'), token => $instance->operator_token, tenant => 't1');
# Each with a home of its own: what one has seen the other hasn't.
my ($ann, $bob) = map { Tenure::Tool->new(%who) } 1 .. 2;
my $web = '/v2.0/t1/namespaces/default/configmaps/web';

sub data { return $admin->get($web)->json->{data} }
sub reset_web { $admin->put($web, json => { data => { a => 1, b => 2, list => [1, 2] }, $_[0] ? %{ $_[0] } : () }); return }

subtest 'two who change the same thing' => sub {
    reset_web();
    $_->ends(0, qw(configmaps show web)) for $ann, $bob;
    $ann->ends(0, qw(configmaps patch web data.a:=10 --etag auto));
    my $run = $bob->ends(5, qw(configmaps patch web data.a:=11 --etag auto));
    like $run->{err}, qr/^  data\.a  <- both changed it\n    base    1\n    yours   11\n    server  10\n/m, 'three values';
    is data()->{a}, 10, 'nothing is overwritten';
    like $bob->ends(5, qw(configmaps patch web data.a:=11 --etag auto --retry))->{err}, qr/same fields/, 'nor by --retry';
    is data()->{a}, 10, 'still';
    $ann->ends(0, qw(configmaps patch web data.a:=12 --etag auto));
    is data()->{a}, 12, 'a change of one\'s own is what was seen last';
};

subtest 'different fields' => sub {
    reset_web();
    $_->ends(0, qw(configmaps show web)) for $ann, $bob;
    $ann->ends(0, qw(configmaps patch web data.a:=10 --etag auto));
    my $run = $bob->ends(5, qw(configmaps patch web data.b:=20 --etag auto));
    like $run->{err}, qr/^  data\.a\n    base    1\n    yours   1\n    server  10\n  data\.b\n    base    2\n    yours   20\n    server  2\n/m,
        'whose is whose';
    $bob->ends(0, qw(configmaps patch web data.b:=20 --etag auto --retry));
    is_deeply data(), { a => 10, b => 20, list => [1, 2] }, 'merged';
    is $bob->ends(0, qw(configmaps patch web data.c:=30 --etag auto --retry))->{err}, '', 'the merged one is remembered';
    $ann->ends(0, qw(configmaps show web));
    $ann->ends(0, qw(configmaps patch web data.a:=11 --etag auto));
    like $bob->ends(5, qw(configmaps patch web data.a:=10 data.b:=21 --etag auto --retry))->{err},
        qr/^  data\.a  <- both changed it\n    base    10\n    yours   10\n    server  11\n/m, 'what a patch names is wanted, also if it was so';
    is_deeply [@{ data() }{qw(a b)}], [11, 20], 'nothing is overwritten';
};

subtest 'set is merged as well' => sub {
    reset_web({ metadata => { labels => { l => '1' } } });
    $_->ends(0, qw(configmaps show web)) for $ann, $bob;
    $ann->ends(0, qw(configmaps patch web data.a:=10 metadata.labels.m=2 --etag auto));
    # Without b, and without a word about metadata.
    $bob->ends(0, qw(configmaps set web data.a:=1), "data.list:=[1,2]", qw(data.n=new --etag auto --retry));
    is_deeply data(), { a => 10, list => [1, 2], n => 'new' }, 'left out is taken away, the other\'s stays';
    is_deeply $admin->get($web)->json->{metadata}{labels}, { l => '1', m => '2' }, 'labels are kept';
    reset_web();
    $_->ends(0, qw(configmaps show web)) for $ann, $bob;
    $ann->ends(0, qw(configmaps patch web), "data.list:=[1,2,3]", qw(--etag auto));
    $bob->ends(5, qw(configmaps patch web), "data.list:=[0,1,2]", qw(--etag auto --retry));
    is_deeply data()->{list}, [1, 2, 3], 'an array is one field';
    $bob->ends(0, qw(configmaps patch web), "data.list:=[1,2,3]", qw(data.b:=3 --etag auto --retry));
    is data()->{b}, 3, 'the same change on both sides is none';
};

# As where a script's variable with the members is not set.
subtest 'set without members empties nothing' => sub {
    reset_web();
    like $ann->ends(5, qw(configmaps set web), @$_)->{err}, qr/is there already/, "@$_: it is told" for [], ['--no-etag'], [qw(--etag new)];
    is $ann->run_with_input("web\n", qw(configmaps set - --no-etag))->{code}, 5, 'nor does it those of a list';
    $ann->ends(0, qw(configmaps show web));
    like $ann->ends(64, qw(configmaps set web --etag), $_)->{err}, qr/what is to be set\?/, "--etag $_" for 'auto', 'W/aa';
    is_deeply data(), { a => 1, b => 2, list => [1, 2] }, 'the content is as it was';
    is $ann->run_with_input('{}', qw(configmaps set web --no-etag --file -))->{code}, 0, 'a document that is empty';
    is data(), undef, '... empties it';
    $ann->ends(0, qw(configmaps set bare));
    $admin->get('/v2.0/t1/namespaces/default/configmaps/bare')->is_status(200, 'an empty one can be made');
    $ann->ends(0, qw(configmaps delete bare --yes --no-etag));
};

subtest 'deletions' => sub {
    reset_web();
    $_->ends(0, qw(configmaps show web)) for $ann, $bob;
    $ann->ends(0, qw(configmaps patch web data.a:=10 --etag auto));
    like $bob->ends(5, qw(configmaps delete web --yes --etag auto --retry))->{err}, qr/not deleted/, 'what changed is kept';
    is data()->{a}, 10, 'there';
    $bob->ends(0, qw(configmaps show web));
    $bob->ends(0, qw(configmaps delete web --yes --etag auto));
    like $bob->ends(64, qw(configmaps delete web --yes --etag auto))->{err}, qr/nothing is remembered/, 'and forgotten';
    $ann->ends(3, qw(configmaps patch web data.a:=1 --etag auto));
    my ($gone) = @{ $admin->get('/v2.0/t1/namespaces/default/configmaps?deleted=true')->json->{resources} };
    $ann->ends(5, qw(configmaps recover web --etag W/00));
    $ann->ends(0, qw(configmaps recover web --etag), $gone->{metadata}{etag});
};

subtest 'tags by hand' => sub {
    reset_web();
    my ($old) = $ann->json(qw(configmaps show web))->{metadata}{etag};
    $admin->patch($web, { data => { a => 5 } });
    my $run = $bob->ends(5, 'configmaps', 'patch', 'web', 'data.b:=7', '--etag', $old, '--retry');
    like $run->{err}, qr/not remembered/, 'who has not seen the base can\'t merge';
    unlike $run->{err}, qr/^    base/m, 'nor be shown it';
    $ann->ends(0, 'configmaps', 'patch', 'web', 'data.b:=7', '--etag', $old, '--retry');
    is_deeply [@{ data() }{ 'a', 'b' }], [5, 7], 'who has, can';
    $bob->ends(5, qw(configmaps set web x=1 --etag new));
    like $bob->ends(0, qw(configmaps patch web data.z=1))->{err}, qr/warning/, 'without one there is a warning';
    is $bob->ends(0, qw(configmaps patch web data.z=1 --no-etag))->{err}, '', 'which --no-etag silences';
};

subtest 'tenants' => sub {
    $_->ends(0, qw(tenant show t1)) for $ann, $bob;
    $ann->ends(0, qw(tenant set t1 --tier gold --etag auto));
    like $bob->ends(5, qw(tenant set t1 contact=bob --etag auto))->{err}, qr/^  tenant\.tier\n/m, 'shown';
    $bob->ends(0, qw(tenant set t1 contact=bob --etag auto --retry));
    is_deeply [@{ $admin->get('/v2.0/t1')->json->{tenant} }{ 'tier', 'metadata' }], ['gold', { contact => 'bob' }], 'merged';
    # A set that does not name etag_required leaves it as it is.
    my $guarded = sub { $admin->put('/v2.0/t1', json => { tenant => { etag_required => $_[0] } }, if_match => '*')->is_status(202) };
    $guarded->(JSON::PP::true());
    $bob->ends(0, qw(tenant show t1));
    $ann->ends(0, qw(tenant show t1));
    $ann->ends(0, qw(tenant set t1 --tier standard --etag auto));
    unlike $bob->ends(5, qw(tenant set t1 contact=eve --etag auto))->{err}, qr/etag_required/, 'what nobody changed is not shown';
    $bob->ends(0, qw(tenant set t1 contact=eve --etag auto --retry));
    is_deeply [@{ $admin->get('/v2.0/t1')->json->{tenant} }{ 'tier', 'etag_required' }], ['standard', JSON::PP::true()], '... and stays';
    $guarded->(JSON::PP::false());
};

subtest 'many at once' => sub {
    reset_web();
    my @tools = map { Tenure::Tool->new(%who) } 1 .. 6;
    $_->ends(0, qw(configmaps show web)) for @tools;
    my @runs;
    for my $i (0 .. 5) {
        push @runs, $tools[$i]->begin(undef, qw(configmaps patch web --etag auto --retry), "data.k$i=v");
    }
    is_deeply [map { $tools[$_]->end($runs[$_])->{code} } 0 .. 5], [(0) x 6], 'six change six fields at once';
    is scalar(grep { /^k/ } keys %{ data() }), 6, 'and none is lost';
};

subtest 'what is remembered' => sub {
    my @files = glob $ann->home . '/.local/state/tenure/*';
    cmp_ok scalar @files, '>', 0, 'in files';
    is_deeply [grep { ((stat)[2] & 07777) != 0600 } @files], [], 'that nobody else can read';
    is((stat $ann->home . '/.local/state/tenure')[2] & 07777, 0700, 'in such a folder');
    my $elsewhere = $ann->with(XDG_STATE_HOME => $ann->home . '/elsewhere');
    $elsewhere->ends(64, qw(configmaps patch web data.a:=1 --etag auto));
    $elsewhere->ends(0, qw(configmaps show web));
    ok -d $ann->home . '/elsewhere/tenure', 'or where XDG_STATE_HOME says';
    # A user who is called tenure, and whose states are kept beside the home.
    my $service = $ann->with(HOME => $ann->home . '/users/tenure', XDG_STATE_HOME => $ann->home . '/users');
    is $service->ends(0, qw(configmaps show web))->{err}, '', '... which may be the folder of the home';
    $service->ends(0, qw(configmaps patch web data.z=2 --etag auto));
    my $homeless = $ann->with(HOME => $ann->home . '/nowhere');
    like $homeless->ends(0, qw(configmaps show web))->{err}, qr{can't remember the etag in \S+/nowhere/\.local/state/tenure: No such file}, 'or nowhere';
    ok !-e $ann->home . '/nowhere', '... without making a home that is not there';
    Tenure::Instance::write_file($_, 'broken') for glob $ann->home . '/elsewhere/tenure/*';
    $elsewhere->ends(64, qw(configmaps patch web data.a:=1 --etag auto));
};

# An editor is a script that gets the file's name.
sub editor {
    my ($tool, $script, %more) = @_;
    my $path = $tool->home . '/editor';
    Tenure::Instance::write_file($path, "#!/bin/sh\n$script\n");
    chmod 0755, $path;
    return $tool->with(EDITOR => "$path --wait", TMPDIR => $tool->home, %more);
}

# The editor's own option comes first, then the file.
subtest 'edit' => sub {
    reset_web();
    my $run = editor($ann, q(sed -i 's/"a": 1/"a": 100/' "$2"))->ends(0, qw(configmaps edit web));
    is data()->{a}, 100, 'what was saved is there';
    my $before = $instance->change_count;
    like editor($ann, 'true')->ends(0, qw(configmaps edit web))->{err}, qr/unchanged/, 'nothing saved';
    is $instance->change_count, $before, 'nothing sent';
    editor($ann, 'exit 3')->ends(70, qw(configmaps edit web));
    is $instance->change_count, $before, 'nor when the editor fails';
    like editor($ann, 'true', TMPDIR => $ann->home . '/none')->ends(73, qw(configmaps edit web))->{err}, qr{/none/tenure-\w+\.json: }, 'no file for the editor';
    is_deeply [map { (stat)[2] & 07777 } glob $ann->home . '/tenure-*.json'], [0600], 'its text is for nobody else';

    my $again = q(if grep -q '^# ' "$2"; then grep '^# ' "$2" >"$HOME/seen"; sed -i 's/BROKEN/7/' "$2";)
        . q( else sed -i 's/"a": 100/"a": BROKEN/' "$2"; fi);
    editor($ann, $again)->ends(0, qw(configmaps edit web));
    like Tenure::Instance::read_file($ann->home . '/seen'), qr/^# line \d+, column/, 'what is no JSON is opened again, with the reason';
    is data()->{a}, 7, 'and can be put right';
    editor($ann, q(grep -q '^# ' "$2" || echo '{' >"$2"))->ends(65, qw(configmaps edit web));
    is data()->{a}, 7, 'or given up';
    # A key that interrupts signals all processes at the terminal; an editor may have a use of its own for it.
    local $SIG{INT} = 'DEFAULT';
    my $interrupt = q(trap '' INT; for pid in $PPID $(sed -n 's/^PPid:.//p' /proc/$PPID/status); do read -r name </proc/$pid/comm;)
        . q( [ "$name" != tenure ] || kill -INT $pid; done;);
    editor($ann, qq($interrupt sed -i 's/"a": 7/"a": 8/' "\$2"))->ends(0, qw(configmaps edit web));
    is data()->{a}, 8, 'interrupted, it is sent as it was saved then';
};

subtest 'edit, and somebody was faster' => sub {
    reset_web();
    my $meanwhile = q(curl -sf -X PATCH -H "X-Auth-Token: $TENURE_TOKEN" -H 'Content-Type: application/json' -d '{"data":{"b":99}}' )
        . qq("\$TENURE_URL$web" -o /dev/null;);
    my $run = editor($ann, qq($meanwhile sed -i 's/"a": 1/"a": 50/' "\$2"))->ends(5, qw(configmaps edit web));
    like $run->{err}, qr/^  data\.b\n    base    2\n    yours   2\n    server  99\n/m, 'shown';
    my ($kept) = $run->{err} =~ /kept in (\S+)/;
    like Tenure::Instance::read_file($kept // ''), qr/"a": 50/, 'the text is kept';
    is data()->{a}, 1, 'nothing is overwritten';
    reset_web();
    editor($ann, qq($meanwhile sed -i 's/"a": 1/"a": 50/' "\$2"))->ends(0, qw(configmaps edit web --retry));
    is_deeply [@{ data() }{ 'a', 'b' }], [50, 99], 'merged where asked for';
    reset_web();
    editor($ann, qq($meanwhile sed -i 's/"b": 2/"b": 50/' "\$2"))->ends(5, qw(configmaps edit web --retry));
    is data()->{b}, 99, 'but not the same field';
    reset_web();
    my $call = qq(curl -sf -H "X-Auth-Token: \$TENURE_TOKEN" "\$TENURE_URL$web" -o /dev/null);
    my $anew = qq($call -X DELETE; $call -X PUT -H 'Content-Type: application/json' -d '{"data":{"a":1}}';);
    $run = editor($ann, qq($anew sed -i 's/"a": 1/"a": 50/' "\$2"))->ends(5, qw(configmaps edit web --retry));
    like $run->{err}, qr/another one has its name.*your text is kept/s, 'nor into another one that has the name by then';
    is_deeply data(), { a => 1 }, '... which stays as it is';
};

# A name is given to another one: an etag of the former is stale, and its content is no base for the latter.
subtest 'another one of that name' => sub {
    reset_web();
    $ann->ends(0, qw(configmaps show web));
    $admin->delete($web)->is_status(204);
    reset_web();
    for my $words ('patch web data.b:=20', 'set web data.b:=20', 'delete web --yes') {
        like $ann->ends(5, 'configmaps', split(/ /, $words), qw(--etag auto --retry))->{err}, qr{^tenure: configmaps/web: what you read is not there any more, and another one has its name},
            'it is told';
    }
    is data()->{b}, 2, 'nothing is changed';
};

done_testing;
