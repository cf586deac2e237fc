#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# scripts/check-docs: the manual of this tree is complete, and one that lacks something is told so.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd ();
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;

use Tenure::Run qw(read_file);

my $top   = $ENV{TENURE_SRCDIR} // Cwd::abs_path(dirname(__FILE__) . '/..');
my $check = "$top/scripts/check-docs";
my @read  = qw(README HACKING ChangeLog configure.ac bench build-aux debian doc httpd-conf include scripts sql src t);

# Runs the check over ROOT; exit code and output.
sub check {
    my ($root, @options) = @_;
    my $text = qx{"$^X" "$check" @options "$root" 2>&1};
    return ($? >> 8, $text);
}

# A tree of links to what the check reads.
my $root = tempdir(CLEANUP => 1);
system('cp', '-rs', (map { "$top/$_" } @read), $root) == 0 or die "cp: $?\n";

# The check of that tree with one file put through a change that must change it.
sub check_changed {
    my ($changed, $change) = @_;
    my $text = read_file("$top/$changed");
    my $before = $text;
    $change->() for $text;
    die "nothing to change in $changed" if $text eq $before;
    unlink "$root/$changed";
    open my $out, '>', "$root/$changed" or die "$root/$changed: $!";
    print $out $text;
    close $out;
    my @said = check($root, '--no-form');
    unlink "$root/$changed";
    symlink "$top/$changed", "$root/$changed" or die "$root/$changed: $!";
    return @said;
}

my ($code, $text) = check($top);
is($code, 0, 'this tree') or diag($text);

my @wrong = (
    [ 'a setting without its item', 'doc/man/tenure.conf.5', sub { s/^\.It Ic retries$/.It Ic retry/m }, qr/\[database\] retries/ ],
    [ 'another default', 'src/registry/core/settings.c', sub { s/"retention", SECONDS, (.*?), "30d"/"retention", SECONDS, $1, "31d"/ }, qr/31d/ ],
    [ 'a setting not in the sample', 'doc/tenure.conf.sample', sub { s/^#backlog .*\n//m }, qr/sample: \[endpoint NAME\] backlog/ ],
    [ 'a setting that is no more', 'doc/tenure.conf.sample', sub { s/^#retries /#tries /m }, qr/sample: tries/ ],
    [ 'a command without its section', 'doc/man/tenure-manage.8', sub { s/^\.Ss tier set$/.Ss tier put/m }, qr/tier set is missing/ ],
    [ 'an option not told', 'doc/man/tenure-manage.8', sub { s/^\.It Fl -dry-run$/.It Fl -dry/m }, qr/ --dry-run/ ],
    [ 'a switch of tenured', 'doc/man/tenured.8', sub { s/, Fl -pid-file/, Fl -pidfile/ }, qr/--pid-file/ ],
    [ 'an outcome not in the catalogue', 'src/base/outcome.def', sub { $_ .= qq{OUTCOME(TEAPOT, 418, "Short and stout")\n} }, qr/teapot/ ],
    [ 'an outcome of another status', 'src/base/outcome.def', sub { s/OUTCOME\(LOCKED, 409/OUTCOME(LOCKED, 423/ }, qr/locked \(423\)/ ],
    [ 'an error not in troubleshooting', 'doc/troubleshooting.md', sub { s/^\| `stale` .*\n//m }, qr/troubleshooting.md: the error stale is missing/ ],
    [ 'a line of the log not told', 'doc/troubleshooting.md', sub { s/^\| `another user or group takes a restart` .*\n//m },
        qr/master.c: the line "another user or group takes a restart" is missing/ ],
    [ 'a line that is no more', 'doc/troubleshooting.md', sub { s/a full disk/$&/; s/`epoll_ctl: …`/`epoll_control: …`/ }, qr/there is no line "epoll_control: …"/ ],
    [ 'an exit code not told', 'doc/man/tenured.8', sub { s/^\.It 73\n.*\n//m }, qr/tenured.8: exit code 73 of \S+ is missing/ ],
    [ 'an exit code that is none', 'doc/man/tenure.1', sub { s/^\.It 69$/.It 68/m }, qr/src\/cli has no exit code 68/ ],
    [ 'a blocker not told', 'src/registry/move/blockers.c', sub { s/\.reason = "quota"/.reason = "room"/ }, qr/blocker room is missing/ ],
    [ 'a test of another name', 't/753-spaces-default-tenant.t', sub { s/subtest 'one is set'/subtest 'one is there'/ }, qr/no test that it speaks of has "one is set"/ ],
    [ 'a function of another name', 't/unit/registry-definitions.c', sub { s/test_elsewhere\(void\)/test_somewhere(void)/ }, qr/"elsewhere"/ ],
    [ 'a test that is no more', 'doc/coverage.md', sub { s/ 753: \*/ 799: */ }, qr/line \d+: there is no test t\/799-/ ],
    [ 'a file that is no more', 'doc/coverage.md', sub { s{t/unit/repr-merge-patch\.c}{t/unit/repr-merges.c} }, qr{there is no file t/unit/repr-merges\.c} ],
    [ 'a package not told', 'doc/install.md', sub { s/ libcurl4-openssl-dev// }, qr/package libcurl4-openssl-dev is missing/ ],
    [ 'a library without its package', 'scripts/install-deps', sub { s/ libxml2-dev// }, qr/build: libxml2-dev is missing/ ],
    [ 'a package that Debian is not told of', 'debian/control', sub { s/^ libxml2-dev,\n//m }, qr/Build-Depends: libxml2-dev is missing/ ],
    [ 'another version of the package', 'debian/changelog', sub { s/^tenure \(/tenure (9./ }, qr/the newest version is 9\./ ],
    [ 'another version in the ChangeLog', 'ChangeLog', sub { s/^/9./ }, qr/the newest version is 9\./ ],
    [ 'a function that the library does not export', 'src/lib/libtenure.map', sub { s/^\ttenure_resource_get;\n//m }, qr/libtenure\.map: its names are not/ ],
    [ 'a function that its package does not know', 'debian/libtenure1.symbols', sub { s/^ tenure_resource_get.*\n//m }, qr/symbols: its names are not/ ],
    [ 'another version of the schema', 'doc/install.md', sub { s/schema made: version \K\d+/5/ }, qr/tells of version 5 of the schema/ ],
    [ 'a step that is none', 'src/server/request/pipeline.h', sub { s/negotiate,/negotiate, decode,/ }, qr/pipeline\.h: the steps of a request are/ ],
    [ 'a header that is none', 'doc/architecture.md', sub { s{api/call\.h}{api/calls.h} }, qr{there is no file api/calls\.h} ],
    [ 'a heading that is none', 'src/base/budget.h', sub { s/What a request may take/What a request takes/ }, qr/has no heading "What a request takes"/ ],
    [ 'a script not listed', 'scripts/README', sub { s/^    mutate /    change /m }, qr/mutate is missing/ ],
    [ 'another default in a table', 'doc/operations.md', sub { s/^(\| nesting of a document \| `max_depth` \|) 64/$1 32/m }, qr/the default of max_depth is 64, the table says 32/ ],
    [ 'another default in the sample', 'doc/tenure.conf.sample', sub { s/^#retries = 10$/#retries = 3/m }, qr/sample: \[database\] retries: the default is "10", the sample says "3"/ ],
    [ 'a section not told', 'doc/man/tenure.conf.5', sub { s/^\.Li \[jwt\] ,\n//m }, qr/DESCRIPTION does not name the section \[jwt\]/ ],
    [ 'a module that Apache lacks', 'doc/install.md', sub { s/^a2enmod fcgid headers macro env$/a2enmod fcgid macro env/m }, qr/install\.md: tenure-fcgid needs the modules fcgid headers macro env/ ],
    [ 'a module of which no file tells', 'httpd-conf/apache-fcgid.conf', sub { s/^(#   a2enmod fcgid headers macro) env /$1 /m }, qr/apache-fcgid\.conf: SetEnv needs the module env/ ],
    [ 'an option that is none', 'doc/man/tenured-host.8', sub { s/^\.It Fl t , Fl -test$/.It Fl t , Fl -try/m }, qr/tenured-host\.8: --try: there is no such option/ ],
    [ 'a section not there', 'doc/man/tenure-manage.8', sub { s/^\.Sh FILES$/.Sh FOLDERS/m }, qr/tenure-manage\.8: the section FILES is missing/ ],
    [ 'a variable not told', 'doc/man/tenure.1', sub { s/^\.It Ev VISUAL , EDITOR$/.It Ev EDITOR/m }, qr/tenure\.1: ENVIRONMENT lacks VISUAL/ ],
    [ 'a member of the status not told', 'src/manage/status.c', sub { s/"workers_idle"/"workers_asleep"/ }, qr/status: the member workers_asleep is missing/ ],
    [ 'another range', 'src/api/settings.c', sub { s/"64", 4, 256,/"64", 4, 128,/ }, qr/tenure\.conf\.5: \[tenure\] max_depth: the page has to say "From 4 to 128\."/ ],
    [ 'a choice not told', 'src/auth/keystone/keystone_settings.c', sub { s/"none,placement,/"none,console,placement,/ }, qr/operator_dialects: the choice console is missing/ ],
    [ 'another threshold', 'scripts/check_tenure', sub { s/10m,1h/10m,2h/ }, qr/--moves-age: the default is 10m,2h/ ],
    [ 'a block without a mark', 'doc/tuning.md', sub { s/^```sh$/```/m }, qr/tuning\.md: line \d+, under "Measure first": a block without a mark/ ],
    [ 'commands that are only indented', 'doc/tuning.md', sub { s/^## Workers/    tenure-manage doctor\n\n$&/m }, qr/tuning\.md: line \d+: an indented block/ ],
    [ 'commands that nobody executes', 't/pages', sub { s/^tuning\.md \|.*$/tuning.md | * | t\/848-pages.t |\ntuning.md | Measure first | nobody | none/m },
        qr/tuning\.md: line \d+, under "Measure first": commands, and t\/pages names nothing/ ],
    [ 'a page that nobody executes', 't/pages', sub { s/^tuning\.md .*\n//m }, qr/tuning\.md has no row/ ],
    [ 'an example without a reason', 't/pages', sub { s/^(upgrade\.md \| From Debian 12 to 13 \| nobody \|).*/$1/m }, qr/t\/pages says no reason/ ],
    [ 'a heading that no page has', 't/pages', sub { s/\| After a crash \|/| After a fall |/ }, qr/has no commands under "After a fall"/ ],
    [ 'commands that no way of the installation takes', 'scripts/long/install', sub { s/\|operations>Upgrades// }, qr/under "Upgrades": scripts\/long\/install has no way/ ],
    [ 'a line of the log that nobody writes', 'doc/operations.md', sub { s/workers serve/workers wait at/ }, qr/no program writes the line "info .* wait at / ],
    [ 'a sentence of which nobody says what shows it', 'doc/tuning.md', sub { s/^The defaults are for a small machine\./A new sentence claims something. $&/m }, qr/t\/claims has no row for the sentence "A new sentence claims something\. …" under "Tuning"/ ],
    [ 'a claim that no sentence makes', 'doc/security.md', sub { s/^Prefer the units\.$//m; s/ Prefer the units\.//m }, qr/t\/claims: line \d+: security\.md has no sentence that begins so under "The processes"/ ],
    [ 'a claim by a test that is none', 't/claims', sub { s/^(The addresses?|The defaults are for a small) => - page$/$1 => 999: nothing/m or s/=> 952$/=> 999/m }, qr/t\/claims: line \d+: there is no test "999"/ ],
    [ 'a claim by a subtest that is none', 't/claims', sub { s/848: tuning$/848: tunings/m }, qr/848-pages\.t has no subtest "tunings"/ ],
    [ 'a unit that is none', 'doc/operations.md', sub { s/(?=tenured\@service\.socket`)/tenure-host.socket` `/ }, qr/there is no unit tenure-host\.socket/ ],
    [ 'a heading of another page that is none', 'doc/troubleshooting.md', sub { s/"Several hosts"/"Many hosts"/ }, qr/operations\.md has no heading "Many hosts"/ ],
    [ 'a page that the list of pages lacks', 'doc/README', sub { s/tuning\.md/tuned.md/ }, qr/doc\/README: tuning\.md is missing/ ],
    [ 'an address that is open to all', 'doc/api.md', sub { s{, `/version`}{} }, qr{api\.md: Roles: /version \(getServerVersion\) is answered without a credential} ],
    [ 'an address that is not', 'doc/api.md', sub { s{`/version`}{`/metrics`} }, qr{api\.md: Roles: /metrics is not answered without a credential} ],
    [ 'a status of every call', 'src/api/spaces/spaces.wadl', sub { s/ 429 / / }, qr/spaces\.wadl: every call may also answer 400 .* 429 431/ ],
    [ 'a status of every call in the manual', 'doc/api.md', sub { s/422, 429, 431/422, 431/ }, qr/api\.md: every call may answer 400 .* 429 431/ ],
    [ 'another bound of a deletion', 'src/api/spaces/object/list.c', sub { s/DELETE_MAX = 10000/DELETE_MAX = 20000/ }, qr/kubectl\.md: one DELETE of a collection deletes 20,000/ ],
    [ 'an upgrade that forgets the units', 'doc/operations.md', sub { s/^systemctl daemon-reload +# its units\n//m }, qr/upgrade\.md: after make install: systemctl daemon-reload; .*, but elsewhere: systemctl restart/ ],
    [ 'an event of the history', 'doc/api.md', sub { s/'required=CUSTOM_GOLD,!STORAGE_DISK_SSD'/"required=CUSTOM_GOLD,!STORAGE_DISK_SSD"/ }, qr/api\.md: line \d+, under "Traits: .*": "!" within double quotes/ ],
    [ 'a blocker that is none', 'doc/api.md', sub { s/^\| `locked` \| `metadata/| `bolted` | `metadata/m }, qr/bolted: there is no such blocker/ ],
);
for my $case (@wrong) {
    my ($what, $file, $change, $told) = @$case;
    ($code, $text) = check_changed($file, $change);
    is($code, 1, "$what: refused");
    like($text, $told, "$what: told");
}

symlink "$top/t/753-spaces-default-tenant.t", "$root/t/753-spaces-another.t" or die "t/753-spaces-another.t: $!";
($code, $text) = check($root, '--no-form');
is($code, 1, 'two tests of one number: refused');
like($text, qr{one number, several tests: t/753-spaces-another\.t t/753-spaces-default-tenant\.t}, 'two tests of one number: told');

done_testing();
