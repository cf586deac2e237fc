# SPDX-License-Identifier: Apache-2.0
# Programs with an addition: one more row in a table of src/ and the file that the row names, as doc/architecture.md says that such
# things are added.
#
#   my $dir = programs_with(table => 'base/builtin_types.def', row => 't/additions/limitranges.def', file => 't/additions/limitranges.c');
#
# Only the files that read the table are compiled again; their objects are linked before the archives that hold the old ones.
# Everything else is that of the build.
package Tenure::Addition;

use strict;
use warnings;

use Cwd            ();
use Exporter       qw(import);
use File::Basename ();
use File::Path     ();
use File::Temp     ();

use Tenure::Run qw(run read_file write_file);

our @EXPORT_OK = qw(programs_with);

my $source = $ENV{TENURE_SRCDIR} // Cwd::abs_path(File::Basename::dirname(__FILE__) . '/../../..');

# Runs a command in the folder of the build.
sub _run_in {
    my ($build, @command) = @_;
    my ($code, $text) = run('sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', $build, @command);
    die "@command: $text\n" if $code != 0;
    return $text;
}

# Values of the Makefile's variables.
sub _variables {
    my ($build, @names) = @_;
    my $make = File::Temp->new;
    print {$make} "include Makefile\n", map({ "\$(info $_=\$($_))\n" } @names), "show-variables: ;\n";
    close $make;
    my $text = _run_in($build, qw(make -s -f), "$make", 'show-variables');
    return map { $text =~ /^\Q$_\E=(.*)$/m ? ($_ => $1) : die "no $_\n" } @names;
}

sub _objects {
    my ($of, $dir, $compile, $sources) = @_;
    return join ' ', map { $compile->{$_} ? "$dir/$compile->{$_}" : "$of->{O}/" . s/\.c\z/.o/r } split ' ', $sources;
}

# The folder of the programs, for as long as the result lives; a test names it in TENURE_BUILD before it loads Tenure::Instance.
# undef: there is no build with a Makefile.
sub programs_with {
    my (%addition) = @_;
    my ($build) = map { Cwd::abs_path($_) } grep { defined && -e "$_/Makefile" && -x "$_/tenured" } $ENV{TENURE_BUILD}, $ENV{TENURE_BUILDDIR},
        Cwd::getcwd(), $source, "$source/var/build", "$source/var/check/developer";
    return undef if !defined $build;
    my $dir = File::Temp->newdir('tenure-addition-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my %of  = _variables($build, qw(CC O all_cppflags all_cflags all_ldflags server_libs lib_libs client_libs core server client cli_src manage_src));
    my (%compile, $n);
    File::Path::make_path("$dir/src/" . File::Basename::dirname($addition{table}));
    write_file("$dir/src/$addition{table}", read_file("$source/src/$addition{table}") . read_file("$source/$addition{row}"));
    symlink "$build/build", "$dir/build" or die "$dir/build: $!\n";
    # Which files read the table the compiler has noted.
    for my $noted (split /\n/, _run_in($build, 'grep', '-rlF', '--include=*.d', $addition{table}, "$of{O}/src")) {
        my $file = $noted =~ m{^\Q$of{O}\E/(src/.*)\.d$} ? "$1.c" : next;
        $compile{$file} = $n++ . '.o' if -e "$source/$file";
    }
    die "no file reads $addition{table}\n" if !$n;
    $compile{ $addition{file} } = $n . '.o';
    for my $file (sort keys %compile) {
        _run_in($build, 'sh', '-c', "$of{CC} -I$dir/src $of{all_cppflags} $of{all_cflags} -O1 -c -o $dir/$compile{$file} $source/$file");
    }
    my $new  = join ' ', map { "$dir/$compile{$_}" } grep { !m{^src/(?:cli|manage|server)/} } sort keys %compile;
    my $link = "$of{CC} $of{all_cflags} $of{all_ldflags} -o $dir";
    _run_in($build, 'sh', '-c', "$link/tenured $of{O}/src/server/main.o $new $of{server} $of{core} $of{server_libs} $of{lib_libs}");
    _run_in($build, 'sh', '-c', "$link/tenure-manage " . _objects(\%of, $dir, \%compile, $of{manage_src}) . " $new $of{server} $of{core} $of{lib_libs}");
    _run_in($build, 'sh', '-c', "$link/tenure " . _objects(\%of, $dir, \%compile, $of{cli_src}) . " $new $of{client} $of{core} $of{client_libs} $of{lib_libs}");
    $ENV{TENURE_BUILD} = "$dir";
    return $dir;
}

1;
