#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Upgrades: a database of each release, what it serves afterwards, an upgrade that was ended anywhere, several at once, files that were
# edited, and which programs may serve which schema.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use IO::Handle ();
use POSIX ();
use Test::More;

use Tenure::Run qw(read_file wait_until write_file);
use Tenure::Upgrade;

Tenure::Upgrade::need_programs();
my $top    = Tenure::Upgrade::top();
my $home   = Tenure::Upgrade->new;
my $latest = my @files = glob "$top/sql/schema/[0-9]*.sql";
my $fresh  = $home->database('fresh');
is +($fresh->manage('db', 'init'))[0], 0, 'a new database';
my ($structure, $seeds) = ($fresh->structure, $fresh->seeds);

# Is all of $old in $new? Returns the first place where it is not.
sub lacks {
    my ($old, $new, $at) = @_;
    s{\Ahttps?://[\w.:]+/}{/} for grep { defined && !ref } $old, $new;
    return if !defined $old && !defined $new;
    return "$at: " . ($new // 'null') . ', not ' . ($old // 'null') if !defined $old || !defined $new || ref $old ne ref $new;
    if (ref $old eq 'HASH') {
        for my $name (sort keys %$old) {
            my $found = lacks($old->{$name}, $new->{$name}, "$at/$name");
            return $found if $found;
        }
    } elsif (ref $old eq 'ARRAY') {
        return "$at: " . @$new . ' of ' . @$old if @$new != @$old;
        for my $i (0 .. $#$old) {
            my $found = lacks($old->[$i], $new->[$i], "$at/$i");
            return $found if $found;
        }
    } elsif ($old ne $new) {
        return "$at: $new, not $old";
    }
    return;
}

# What differs on purpose between what programs of that schema version answered and what this one does.
sub forget_what_changed {
    my ($path, $answer, $version) = @_;
    if ($version < 8 && $path =~ /nodes/) {    # since then a node's etag covers its owner
        delete $answer->{etag};
        delete $answer->{body}{etag};
        delete $_->{metadata}{etag} for @{ $answer->{body}{resources} // [] };
    }
    delete $answer->{body}{closed_until} if $path =~ m{/usage\?};    # usage goes on
    if ($path =~ m{/webhooks\b} && $answer->{body}) {    # an old secret that counted then is over by now
        delete $_->{old_secret_until} for $answer->{body}, @{ $answer->{body}{webhooks} // [] };
    }
    return;
}

# Before version 24, a tenant's changes did not show what moved away from it.
sub forget_what_left {
    my ($path, $now, $version) = @_;
    return if $version >= 24 || $path !~ m{/changes\b} || !$now->{body};
    $now->{body}{changes} = [grep { ($_->{moved} // '') ne 'out' } @{ $now->{body}{changes} }];
    return;
}

# The first line that the two texts do not have in common, of both; '': none.
sub first_difference {
    my ($got, $expected) = map { [split /\n/] } @_;
    my @at = grep { ($got->[$_] // '') ne ($expected->[$_] // '') } 0 .. ($#$got > $#$expected ? $#$got : $#$expected);
    return @at ? "line $at[0]: " . ($got->[$at[0]] // 'none') . ', not ' . ($expected->[$at[0]] // 'none') : '';
}

# What doctor finds after an upgrade from that version, and that --fix is all it takes.
sub examine {
    my ($old, $version) = @_;
    my ($code, $text) = $old->manage('doctor');
    my @found = grep { !/^CHECK/ && !/ 0 +0 +-$/ } split /\n/, $text;
    if ($version >= 13) {
        is $code, 0, 'doctor finds nothing' or diag $text;
        return;
    }
    is $code, 1, 'doctor finds';
    is scalar(@found), 1, 'one thing' or diag join "\n", @found;
    like $found[0], qr/^no program begins to serve that is too old .* those of schema version $version may$/, "that programs of version $version may still begin";
    is $old->sql('SELECT MAX(version) FROM schema_version'), $version, 'they may, until';
    is +($old->manage('doctor', '--fix'))[0], 0, 'doctor --fix leaves nothing to find';
    is $old->sql('SELECT MAX(version) FROM schema_version'), 13, 'none of them may then';
    return;
}

my @releases = Tenure::Upgrade::releases();
my @stood = map { /^(\d+) [0-9a-f]+$/ ? $1 : () } split /\n/, read_file("$top/t/upgrade/releases");
is "@releases", join(' ', grep { $_ < $latest } @stood), 'a dump of each release that is older than this one';
is join(' ', grep { $_ < $latest } @stood), join(' ', 1 .. 17, 22 .. $latest - 1), 'each schema that stood on main before this one was a release';

# What an upgrade took away or changed of what was in the tables before, a row's table and text. What the schema says of itself changes.
sub lost_rows {
    my ($before, $after) = @_;
    my @lost;
    for my $table (grep { !/\A(?:schema_\w+|catalogues)\z/ } sort keys %$before) {
        my %left;
        $left{$_}++ for @{ $after->{$table} // [] };
        push @lost, map { "$table: $_" } grep { --($left{$_} //= 0) < 0 } @{ $before->{$table} };
    }
    return @lost;
}

# Tables in which a filled installation may have nothing: of clusters, of large work that is going on, of periods in which nothing changed.
my %may_be_empty = map { $_ => 1 } qw(writer_switches move_progress namespace_deletions usage_opening usage_pending);
for my $version (@releases) {
    subtest "schema version $version" => sub {
        my $old = $home->release($version, "r$version");
        my $columns = $old->columns;
        my $before  = $old->rows($columns);
        is join(' ', grep { !@{ $before->{$_} } && !$may_be_empty{$_} } sort keys %$before), '', 'each table has rows' if $version >= 22;
        my ($code, $text) = $old->manage('db', 'upgrade', '--plan');
        is $code, 1, 'the plan says that there is something to do';
        like $text, qr/^${\ sprintf '%03d', $version + 1}-[\w-]+\.sql$/m, 'and what';
        like $text, qr/To go back/, 'and how to go back';
        ($code, $text) = $old->manage('db', 'upgrade');
        is $code, 0, 'upgraded' or diag $text;
        is +($old->manage('db', 'upgrade', '--plan'))[0], 0, 'and nothing is left to do';
        is $old->structure, $structure, 'tables, columns and keys are those of a new database';
        is $old->seeds, $seeds, 'the rows of the schema, too';
        # Before, some columns were filled in or made anew.
        is join("\n", lost_rows($before, $old->rows($columns))), '', 'each row is as it was' if $version >= 14;
        is $old->sql('SELECT COUNT(*) FROM merged_namespaces m JOIN resources r ON r.id = m.into_id AND r.live = 1'), 1, 'what was merged before is known'
            if $version >= 25;
        examine($old, $version);
        my $answers = Tenure::Upgrade::answers($version);
        $old->serve;
        my @wrong;
        for my $path (sort keys %$answers) {
            my $was = { %{ $answers->{$path} } };
            my $is  = $old->ask('GET', $path, undef, %{ $was->{headers} }) // { status => 'none', headers => {} };
            my $now = { status => $is->{status} + 0, etag => $is->{headers}{etag}, location => ($is->{headers}{location} // '') =~ s{\Ahttps?://[^/]*}{}r,
                body => $is->{status} == 200 ? JSON::PP->new->utf8->decode($is->{body}) : undef };
            delete $was->{headers};    # of the request
            forget_what_changed($path, $was, $version);
            forget_what_left($path, $now, $version);
            my $found = lacks($was, $now, $path);
            push @wrong, $found if $found;
        }
        is scalar(@wrong), 0, scalar(keys %$answers) . ' answers have all that they had' or diag join "\n", @wrong;
        $old->stop;
    };
}

# An upgrade that is killed in front of its Nth statement, and run again, for a sample of N from before its first to behind its last.
# TENURE_UPGRADE_ENDS=all takes each.
subtest 'ended anywhere, and run again' => sub {
    my $whole = $home->release(1, 'whole');
    is +($whole->manage('db', 'upgrade'))[0], 0, 'one that is left alone';
    my $content = $whole->content;
    my $ended = sub {
        my ($n) = @_;
        my $old = $home->release(1, 'ended');
        local $ENV{TENURE_FAULT} = "statement:$n:process";
        my ($code) = $old->manage('db', 'upgrade');
        return $code == 0 ? undef : $code == 137 ? $old : die "code $code at statement $n\n";
    };
    # Of so many, or fewer, statements an upgrade from version 1 consists.
    my $most = 700;
    srand($ENV{TENURE_SEED} // 1);
    my $each = ($ENV{TENURE_UPGRADE_ENDS} // '') eq 'all';
    my @at = $each ? 1 .. $most : sort { $a <=> $b } 7, map { 1 + int rand 350 } 1 .. 7;    # 7: between the tables that record steps
    for my $n (@at) {
        my $old = $ended->($n);
        if (!$old) {
            note "an upgrade has fewer than $n statements";
            last;
        }
        is $old->sql('SELECT MAX(version) FROM schema_version'), 1, "ended at statement $n: the program of before may begin";
        my ($code, $text) = $old->manage('db', 'upgrade');
        is $code, 0, 'it goes on' or diag $text;
        ok $old->structure eq $structure, 'to the same tables' or diag $old->structure;
        is $old->seeds, $seeds, 'and rows';
        is first_difference($old->content, $content), '', 'with all that was in them';
        examine($old, 1);
    }
};

subtest 'three at once' => sub {
    my $old = $home->release(3, 'thrice');
    my %number;
    for my $number (1 .. 3) {
        my $pid = fork // die "fork: $!";
        if ($pid == 0) {
            my ($code, $text) = $old->manage('db', 'upgrade');
            write_file("$home->{dir}/thrice.$number", $text);
            POSIX::_exit($code);
        }
        $number{$pid} = $number;
    }
    for (1 .. 3) {
        my $pid  = wait;
        my $code = $? >> 8;
        my $text = read_file("$home->{dir}/thrice.$number{$pid}");
        ok $code == 0 || $code == 2 && $text =~ /another tenure-manage is working on this schema/, 'each ends with a whole schema, or says why not'
            or diag "$code: $text";
    }
    is +($old->manage('db', 'status'))[0], 0, 'one of them did it';
    is $old->structure, $structure, 'once';
    is $old->seeds, $seeds, 'and whole';
};

subtest 'a long transaction' => sub {
    my $old = $home->release(5, 'held');
    open my $holder, '|-', 'mariadb', '--no-defaults', '--skip-ssl', '--socket=' . $home->socket, '--user=root', '--unbuffered', 'held' or die "mariadb: $!";
    $holder->autoflush(1);
    print {$holder} "START TRANSACTION; SELECT COUNT(*) INTO \@n FROM resources; DO GET_LOCK('held', 10);\n";
    ok wait_until(sub { $old->sql("SELECT IS_USED_LOCK('held') IS NOT NULL") }), 'one reads resources, and goes on and on';
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        my ($code, $text) = $old->manage('db', 'upgrade');
        write_file("$home->{dir}/held.code", $code);
        POSIX::_exit($code);
    }
    my $running = 'SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE \'ALTER TABLE resources%\'';
    ok wait_until(sub { $old->sql($running) }), 'the upgrade waits for the table';
    $old->sql('SET lock_wait_timeout = 60; UPDATE resources SET updated_at = updated_at LIMIT 1');
    ok !-e "$home->{dir}/held.code", 'it waits on';
    pass 'and others write meanwhile';
    print {$holder} "COMMIT;\n";
    close $holder;
    waitpid $pid, 0;
    is read_file("$home->{dir}/held.code"), 0, 'once the transaction is over, it goes through';
    is $old->structure, $structure, 'to the same end';
};

subtest 'files that were edited' => sub {
    my $sql_dir = "$home->{dir}/sql";
    system('cp', '-r', "$top/sql/schema", $sql_dir) == 0 or die 'cp';
    my $old = $home->release(12, 'edited', sql_dir => $sql_dir);
    my $was = read_file("$sql_dir/013-namespaces.sql");
    write_file("$sql_dir/013-namespaces.sql", "$was-- edited\n");
    my ($code, $text) = $old->manage('db', 'upgrade');
    is $code, 2, 'a file that is not what was released is not applied';
    like $text, qr/^edited +013-namespaces\.sql: it is not what was released$/m, 'and is named';
    is $old->sql('SELECT MAX(version) FROM schema_version'), 12, 'nothing was done';
    write_file("$sql_dir/013-namespaces.sql", $was);
    is +($old->manage('db', 'upgrade'))[0], 0, 'as it was released it is applied';
    is +($old->manage('db', 'status'))[0], 0, 'all is well';
    unlink "$sql_dir/RELEASED";
    write_file("$sql_dir/015-upgrades.sql", read_file("$sql_dir/015-upgrades.sql") . "-- edited later\n");
    ($code, $text) = $old->manage('db', 'status');
    is $code, 2, 'status tells of one that was edited after it was applied';
    like $text, qr/^edited +015-upgrades\.sql: it is not what was applied$/m, 'and names it';
    is +($old->manage('db', 'upgrade'))[0], 2, 'nothing is upgraded then';
    rename "$sql_dir/013-namespaces.sql", "$sql_dir/013-other.sql" or die $!;
    ($code, $text) = $old->manage('db', 'status');
    like $text, qr/^missing +013-namespaces\.sql, which was applied; its number has 013-other\.sql$/m, 'a missing one is told';
};

subtest 'a file with a line that begins no step' => sub {
    my $sql_dir = "$home->{dir}/wrong";
    system('cp', '-r', "$top/sql/schema", $sql_dir) == 0 or die 'cp';
    my $old = $home->release(12, 'wrong', sql_dir => $sql_dir);
    for my $line ('-- @steps table', '-- @step', '-- @batches table', "-- \@step ta'ble", "-- \@step table\nDO 0;\n-- \@step table", '-- @oldest x') {
        write_file("$sql_dir/online/013-namespaces.sql", "$line\n");
        my ($code, $text) = $old->manage('db', 'upgrade');
        is $code, 2, $line =~ s/\n.*//sr;
        like $text, qr/013-namespaces\.sql: ".*" begins no step$/m, 'is told';
    }
    is $old->sql('SELECT MAX(version) FROM schema_version'), 12, 'nothing was applied';
};

# The release before empties the registry by truncating tables that it does not know.
subtest 'after db reset by the release before' => sub {
    my $old = $home->release(13, 'emptied');
    is +($old->manage('db', 'upgrade'))[0], 0, 'upgraded';
    $old->sql('TRUNCATE schema_files; TRUNCATE schema_steps');
    is +($old->manage('db', 'status'))[0], 1, 'an upgrade is needed';
    is +($old->manage('db', 'upgrade'))[0], 0, 'which does what is done already';
    is $old->structure, $structure, 'to the same end';
    is $old->seeds, $seeds, 'with its rows';
};

subtest 'which program may serve which schema' => sub {
    my $old = $home->release(13, 'range');
    $old->serve;
    my $answer = $old->ask('GET', '/v2.0/acme');
    is $answer->{status}, 503, 'a schema that was not upgraded yet: 503';
    like $answer->{body}, qr/tenure-manage db upgrade/, 'with the reason';
    ok wait_until(sub { $old->log_text =~ /schema is of version 13, this program needs version $latest: run `tenure-manage db upgrade`/ }), 'the log says it, too';
    is +($old->manage('db', 'upgrade'))[0], 0, 'upgraded';
    is $old->ask('GET', '/v2.0/acme')->{status}, 200, 'the worker that refused serves at once';
    is $old->sql('SELECT MAX(version) FROM schema_version'), 13, 'programs of version 13 see the version that they know';

    # A later release, and one after it, which takes no programs of this one any more.
    my $sql_dir = "$home->{dir}/later";
    system('cp', '-r', "$top/sql/schema", $sql_dir) == 0 or die 'cp';
    my ($next, $last) = map { sprintf '%03d', $latest + $_ } 1, 2;
    write_file("$sql_dir/$next-later.sql", "-- \@step table\nCREATE TABLE IF NOT EXISTS later (id INT PRIMARY KEY);\n");
    my $later = sub { $home->database('range', sql_dir => $sql_dir, keep => 1)->manage('db', 'upgrade') };
    my $status = sub { $home->database('range', keep => 1)->manage('db', 'status') };
    is +($later->())[0], 0, 'a later release upgrades';
    my ($code, $text) = $status->();
    is $code, 0, 'this one may serve that, so its db status ends with 0' or diag $text;
    like $text, qr/^schema +version @{[ $latest + 1 ]}$/m, 'with the schema that there is';
    like $text, qr/^this program +works with version $latest, and may serve this later one$/m, 'and what it may serve';
    is $old->ask('GET', '/v2.0/acme')->{status}, 200, 'it serves';
    write_file("$sql_dir/$last-last.sql", "-- \@oldest @{[ $latest + 2 ]}\n-- \@step table\nCREATE TABLE IF NOT EXISTS last (id INT PRIMARY KEY);\n");
    is +($later->())[0], 0, 'so does the one after it';
    ($code, $text) = $status->();
    is $code, 2, 'which this one may not serve';
    like $text, qr/newer than this program, which may not serve it: install the release that upgraded it/, 'as its db status says';
    $old->ask('GET', '/apis/example.com/v1/tenants/acme/namespaces/default/widgets/w1');
    ok wait_until(sub { $old->ask('GET', '/apis/example.com/v1/tenants/acme/namespaces/default/widgets/w1'); $old->ask('GET', '/v2.0/acme')->{body} =~ /too old for it/ }),
        'then the worker that runs refuses';
    ok wait_until(sub { $answer = $old->ask('PUT', '/v2.0/acme/namespaces/default/configmaps/new', { data => {} }); $answer->{body} =~ /too old for it/ }),
        'writes as well, and says why';
    is $answer->{status}, 503, 'with 503';
    ok wait_until(sub { $old->log_text =~ /takes programs from version @{[ $latest + 2 ]} on; this one is of version/ }), 'so does the log';
    is $old->sql('SELECT MAX(version) FROM schema_version'), $latest + 2, 'programs of version 13 see it as well';
    $old->stop;
};
done_testing;
