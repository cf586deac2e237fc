#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Placement: who may what by [placement] policy: none, legacy, secure, an operator's own file; and files that are wrong.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp ();
use POSIX ();
use Test::More;

use Tenure::Instance;
use Tenure::Placement qw(is_error uuid);
use Tenure::Run qw(run);

my $dir = File::Temp->newdir('tenure-policy-XXXXXX', TMPDIR => 1);
chmod 0755, "$dir";

my %who = (
    'system admin'   => [ 'X-Roles' => 'admin,member,reader', 'OpenStack-System-Scope' => 'all' ],
    'system reader'  => [ 'X-Roles' => 'reader',              'OpenStack-System-Scope' => 'all' ],
    'project admin'  => [ 'X-Roles' => 'admin,member,reader', 'X-Project-Id' => 'p' ],
    'project member' => [ 'X-Roles' => 'member,reader',       'X-Project-Id' => 'p' ],
    'project reader' => [ 'X-Roles' => 'reader',              'X-Project-Id' => 'p' ],
    'no reader'      => [ 'X-Roles' => 'member',              'X-Project-Id' => 'p' ],
    'a service'      => [ 'X-Roles' => 'service',             'X-Project-Id' => 'services' ],
    'an auditor'     => [ 'X-Roles' => 'auditor',             'X-Project-Id' => 'p' ],
    'nobody'         => [ 'X-Roles' => '' ],
);

sub policy_file {
    my ($name, $text) = @_;
    open my $file, '>', "$dir/$name" or die "$dir/$name: $!\n";
    print {$file} $text;
    close $file or die "$dir/$name: $!\n";
    return "$dir/$name";
}

# Each of %who asks; %may: METHOD PATH => those who get through, anything but 401 and 403.
sub permits {
    my ($policy, %may) = @_;
    my $instance = Tenure::Instance->start(placement => 1, settings => $policy ? { 'placement.policy' => $policy } : {});
    for my $call (sort keys %may) {
        my ($method, $path) = split / /, $call;
        my @through;
        for my $who (sort keys %who) {
            my $placement = Tenure::Placement->new($instance->placement->as('u'), '1.39');
            my $body      = $method =~ /P/ ? { json => {} } : {};
            my $status    = $placement->request($method, $path, %$body, headers => { @{ $who{$who} } })->status;
            push @through, $who if $status != 401 && $status != 403;
        }
        is_deeply \@through, [ sort @{ $may{$call} } ], $call;
    }
    return $instance;
}

my @writers = ('DELETE /allocations/' . uuid(), 'POST /allocations', 'POST /reshaper', 'POST /resource_providers', 'PUT /traits/CUSTOM_X',
    'DELETE /resource_classes/CUSTOM_X', 'PUT /resource_providers/' . uuid() . '/inventories', 'PUT /resource_providers/' . uuid() . '/traits');
my @readers = ('GET /resource_providers', 'GET /resource_classes', 'GET /allocations/' . uuid(), 'GET /allocation_candidates?resources=VCPU:1');
my @all     = keys %who;

subtest 'none: operators, OpenStack admins and services' => sub {
    my @may = ('system admin', 'project admin', 'a service');
    permits(undef, (map { $_ => \@may } @writers), (map { $_ => [ @may, 'system reader' ] } @readers),
        'GET /usages?project_id=p' => [ @may, 'system reader', 'project member', 'project reader', 'no reader', 'an auditor' ],
        'GET /usages?project_id=q' => [ @may, 'system reader' ]);
};

subtest 'legacy' => sub {
    my @may = ('system admin', 'project admin');
    my $instance = permits('legacy', (map { $_ => \@may } @writers), (map { $_ => [ @may, 'system reader' ] } @readers, 'GET /traits'),
        'GET /usages?project_id=p' => [ @may, 'system reader', 'project member', 'project reader' ],
        'GET /usages?project_id=q&x=1' => [ @may, 'system reader' ], 'GET /usages' => [ @may, 'system reader' ],
        'GET /usages?project_id=q' => [ @may, 'system reader' ], 'GET /' => \@all);
    my $placement = Tenure::Placement->new($instance->placement->as('u'), '1.39');
    is_error($placement->get('/traits'), 403, qr/Policy does not allow placement:traits:list to be performed\./);
    is_error($placement->get('/usages?project_id=p'), 403, qr/Policy does not allow placement:usages to be performed\./);
    is_error($placement->put('/traits/CUSTOM_Y'), 403, qr/Policy does not allow placement:traits:update to be performed\./);
    Tenure::Placement->new($instance->placement->as('admin'), '1.39')->get('/traits')->is_status(200, 'the operator');
    Tenure::Placement->new($instance->placement->as('admin:x'), '1.39')->get('/traits')->is_status(200, 'the user admin of a project');
    Tenure::Placement->new($instance->placement->as(undef), '1.39')->get('/traits')->is_status(401, 'nobody at all');
};

subtest 'secure' => sub {
    my @may = ('system admin', 'a service');
    permits('secure', (map { $_ => \@may } @writers), (map { $_ => [ @may, 'system reader' ] } @readers, 'GET /traits'),
        'GET /usages?project_id=p' => [ @may, 'system reader', 'project admin', 'project member', 'project reader' ],
        'GET /usages?project_id=q' => [ @may, 'system reader' ], 'GET /' => \@all);
};

subtest 'a file' => sub {
    my $file = policy_file('own.yaml', <<'END');
# Who audits may look, nobody reshapes.
"auditors": "role:auditor and not role:reader"
"placement:resource_providers:list": "rule:system_reader_api or rule:auditors"
"placement:reshaper:reshape": "!"
placement:traits:list: '@'
"placement:usages": "(role:member or role:auditor) and project_id:%(project_id)s"
END
    my @may = ('system admin', 'project admin');
    permits($file, 'POST /reshaper' => [], 'POST /allocations' => \@may, 'GET /traits' => \@all,
        'GET /resource_providers' => [ @may, 'system reader', 'an auditor' ], 'GET /resource_classes' => [ @may, 'system reader' ],
        'GET /usages?project_id=p' => [ 'project admin', 'project member', 'no reader', 'an auditor' ], 'GET /usages?project_id=q' => []);
};

subtest 'wrong files' => sub {
    my $instance = Tenure::Instance->start(placement => 1);
    my %wrong    = (
        "\"a\": \"role:x\"\n\"a\": \"role:y\"\n"                             => qr/line 2: this rule is there twice/,
        "\n\"placement:traits:lost\": \"\@\"\n"                             => qr/line 2: there is no rule "placement:traits:lost"/,
        "\"a\": \"rule:nowhere\"\n"                                         => qr/line 1: rule "a": "rule:nowhere": there is no such rule/,
        "\"a\": \"rule:b\"\n\"b\": \"not rule:a\"\n"                        => qr/it asks about itself/,
        "\"a\": \"(role:x or role:y\"\n"                                    => qr/line 1: rule "a": "the end": a parenthesis isn't closed/,
        "\"a\": \"role:x role:y\"\n"                                        => qr/"role:y": "and" or "or" is missing/,
        "\"a\": \"role:x and\"\n"                                           => qr/a check is missing/,
        "\"a\": \"rolle:x\"\n"                                              => qr/"rolle:x": it must begin with role, rule/,
        "\"a\": \"http://example.org/\"\n"                                  => qr/checks by another server are not supported/,
        "\"a\": \"project_id:%(owner)s\"\n"                                 => qr/%\(project_id\)s or %\(user_id\)s/,
        "\"a\": [\"role:x\"]\n"                                             => qr/line 1: the check of a rule must be a text/,
        "\"a\":\n"                                                          => qr/line 1: the check of a rule must be a text/,
        "- a\n"                                                             => qr/line 1: the file must be a mapping/,
        "\"a\": \"role:x\"\n \"b\": : \"\n"                                 => qr/line \d+: /,
        "a: &x role:x\nb: *x\n"                                             => qr/line 2: the check of a rule must be a text/,
        '"a": "' . ('(' x 40) . 'role:x' . (')' x 40) . "\"\n"              => qr/nested too deep/,
        '"a": "' . ('not ' x 40) . "role:x\"\n"                             => qr/nested too deep/,
        join('', map { "r$_: role:x\n" } 0 .. 1000)                         => qr/line 1001: there are too many rules/,
        '#' x (1024 * 1024 + 1)                                             => qr/more than 1048576 bytes/,
    );
    for my $text (sort keys %wrong) {
        local $ENV{TENURE_PLACEMENT_POLICY} = policy_file('wrong.yaml', $text);
        my ($code, $said) = $instance->manage('config', 'check');
        is $code, 78, 'config check refuses ' . substr($text, 0, 40) =~ s/\n/ /gr;
        like $said, $wrong{$text}, 'and says why';
    }
    local $ENV{TENURE_PLACEMENT_POLICY} = "$dir/none.yaml";
    my ($code, $said) = $instance->manage('config', 'check');
    is $code, 78;
    like $said, qr/\[placement\] policy: .*none\.yaml: No such file/;
    for my $good ("\n", "# nothing\n", "{}\n", "--- {\"placement:traits:list\": \"\"}\n") {
        $ENV{TENURE_PLACEMENT_POLICY} = policy_file('good.yaml', $good);
        is((($instance->manage('config', 'check'))[0]), 0, 'but not ' . $good =~ s/\n/ /gr);
    }
};

# What tenured does with a file that config check refuses: it does not start; running, it goes on with the rules it has.
subtest 'start and SIGHUP' => sub {
    my $path     = policy_file('reload.yaml', qq("placement:traits:list": "!"\n));
    my $instance = Tenure::Instance->start(placement => 1, settings => { 'placement.policy' => $path }, allow => [qr/nothing is reloaded/]);
    my $user     = Tenure::Placement->new($instance->placement->as('u'), '1.39');
    is_error($user->get('/traits'), 403, undef, name => 'nobody may list traits');

    my %wrong = (
        'no YAML'            => ["\"a\": \"b\nc", qr/line \d+: /],
        'an unknown rule'    => ["\"placement:traits:lost\": \"\@\"\n", qr/line 1: there is no rule "placement:traits:lost"/],
        'nested too deep'    => ['"a": "' . ('(' x 40) . 'role:x' . (')' x 40) . "\"\n", qr/nested too deep/],
        'a mapping too deep' => ['{a: ' x 2000 . '}' x 2000 . "\n", qr/line 1: /],
        'no text'            => ["\"a\": \"\xff\xfe\"\n", qr/reload\.yaml, line \d+: /],
        'a folder'           => [undef, qr/reload\.yaml: it must be a regular file/],
        'a broken link'      => [\'nowhere', qr/reload\.yaml: No such file/],
        'a FIFO'             => [\&POSIX::mkfifo, qr/reload\.yaml: it must be a regular file/],
    );
    my $put = sub {
        my ($content) = @_;
        -d $path ? rmdir $path : unlink $path;
        return mkdir $path if !defined $content;
        return symlink $$content, $path if ref $content eq 'SCALAR';
        return $content->($path, 0600) if ref $content;
        return policy_file('reload.yaml', $content);
    };
    my $log = sub { join '', map { Tenure::Instance::read_file($_) } glob $instance->dir . '/log/*.log' };
    my @tenured = ('-c', $instance->env('TENURE_CONFIG'), '-e', 'placement');
    for my $name (sort keys %wrong) {
        my ($content, $text) = @{ $wrong{$name} };
        $put->($content) or die "$path: $!";
        {
            local $ENV{TENURE_PLACEMENT_POLICY} = $path;
            my ($code, $said) = run($instance->env('TENURE_BIN') . '/tenured', @tenured);
            is $code, 78, "$name: the start is refused";
            like $said, qr/\[placement\] policy: .*$text/, '... with a reason';
        }
        my $refused = () = $log->() =~ /nothing is reloaded: \[placement\] policy: .*$text/g;
        my @before  = Tenure::Instance::children_of($instance->master_pid('placement'));
        kill HUP => $instance->master_pid('placement');
        ok Tenure::Instance::wait_until(sub { my $now = () = $log->() =~ /nothing is reloaded: \[placement\] policy: .*$text/g; $now > $refused }),
            '... SIGHUP changes nothing, and the log says why';
        is_deeply [ Tenure::Instance::children_of($instance->master_pid('placement')) ], \@before, '... the same processes go on';
        is_error($user->get('/traits'), 403, undef, name => '... with the same rules');
    }
    $put->(qq("placement:traits:list": "\@"\n));
    kill HUP => $instance->master_pid('placement');
    ok Tenure::Instance::wait_until(sub { $user->get('/traits')->status == 200 }), 'a good file is taken';
};

done_testing;
