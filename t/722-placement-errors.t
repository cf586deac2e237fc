#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Placement: what is refused, in which order, in which words and forms; who may ask for what.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
use Tenure::Placement qw(is_error uuid);
use Tenure::Raw;

my $instance  = Tenure::Instance->start(placement => 1);
my $placement = Tenure::Placement->new($instance->placement, '1.39');
my $uuid      = $placement->provider('one');

subtest 'addresses and methods' => sub {
    is_error($placement->get('/barnabas'), 404);
    is_error($placement->get("/resource_providers/$uuid/cows"), 404);
    is_error($placement->get('/traits/'), 404, undef, name => "a '/' too many is 404");
    is_error($placement->get('/%e2%98%83'), 404, undef, name => 'a snowman is 404');
    my %allow = (
        '/'                                          => 'GET',
        '/resource_providers'                        => 'GET, POST',
        "/resource_providers/$uuid"                  => 'DELETE, GET, PUT',
        "/resource_providers/$uuid/inventories"      => 'DELETE, GET, POST, PUT',
        "/resource_providers/$uuid/inventories/VCPU" => 'DELETE, GET, PUT',
        "/resource_providers/$uuid/usages"           => 'GET',
        "/resource_providers/$uuid/aggregates"       => 'GET, PUT',
        "/resource_providers/$uuid/traits"           => 'DELETE, GET, PUT',
        "/resource_providers/$uuid/allocations"      => 'GET',
        '/allocations'                               => 'POST',
        "/allocations/$uuid"                         => 'DELETE, GET, PUT',
        '/traits'                                    => 'GET',
        '/traits/CUSTOM_A'                           => 'DELETE, GET, PUT',
        '/resource_classes'                          => 'GET, POST',
        '/resource_classes/VCPU'                     => 'DELETE, GET, PUT',
        '/usages'                                    => 'GET',
    );
    for my $path (sort keys %allow) {
        for my $method (qw(PATCH OPTIONS)) {
            my $answer = $placement->request($method, $path);
            is_error($answer, 405, qr/\AThe method \Q$method\E is not allowed for this resource\./);
            is join(', ', sort split /, /, $answer->header('allow') // ''), $allow{$path}, 'what is there is told';
        }
        my $head = $placement->head($path);
        $head->is_status(405, "HEAD $path is 405, too");
    }
    my $unknown = $placement->request('PROPFIND', '/traits');
    is_error($unknown, 405, qr/The method PROPFIND is not allowed/);
    is $unknown->header('allow'), 'GET', 'a method that is nowhere here';
    is_error($placement->get("/resource_providers?name=%zz"), 400, qr/Invalid query string parameters: /, name => 'a query that cannot be read');
};

subtest 'in which order' => sub {
    is_error($placement->version('7.5')->get('/barnabas'), 406, undef, name => 'the version before the address');
    my $nobody = $placement->as(undef)->version('7.5')->get('/barnabas');
    $nobody->is_status(401, 'who asks before the version');
    like $nobody->json->{message}, qr/could not verify that you are authorized/, 'in a form of its own';
    is $nobody->json->{code}, '401 Unauthorized';
    is $nobody->json->{title}, 'Unauthorized';
    $placement->as('')->get('/traits')->is_status(401, 'an empty token is none');
    my $typeless = Tenure::Raw::request($placement->url, 'POST', '/barnabas', token => 'admin', body => 'x');
    is_error($typeless, 400, qr/content-type header required when content-length > 0/, name => 'a body without a type before the address');
    is_error($placement->version('1.1')->post('/resource_classes', body => 'x', type => 'text/plain'), 404, undef,
        name => 'the version of a call before the type of its body');
    is_error($placement->version('1.2')->post('/resource_classes', body => 'x', type => 'text/plain'), 415,
        qr{The media type text/plain is not supported, use application/json});
    is_error($placement->put("/resource_providers/$uuid"), 415, qr{The media type None is not supported, use application/json});
    is_error($placement->as('user')->post('/resource_providers', body => 'x', type => 'text/plain'), 415, undef,
        name => 'that before who may');
    is_error($placement->as('user')->post('/resource_providers', body => '{', type => 'application/json'), 403, undef,
        name => 'who may before what it says');
    is_error($placement->version('1.0')->put("/resource_providers/$uuid/aggregates", body => 'x', type => 'text/plain'), 415, undef,
        name => 'of aggregates the type comes first');
    $placement->get("/resource_providers/$uuid?any=thing")->is_status(200, 'a query where none is asked for is passed over');
};

subtest 'bodies' => sub {
    for my $text ('{"foo": }', '', '{"name":"a","name":"b"}', "{\"name\":\"\xff\"}", '{"bad", "not json"}', '[', 'nonsense') {
        is_error($placement->post('/resource_providers', body => $text, type => 'application/json'), 400, qr/Malformed JSON: /,
            name => "\"" . ($text =~ s/[^ -~]/?/gr) . "\" is malformed");
    }
    is_error($placement->post('/resource_providers', json => { transport => 'car', color => 'blue' }), 400,
        qr/^ JSON does not validate: 'name' is a required property  Failed validating 'required' in schema:     \{.*On instance:     \{.*\}  \z/m,
        name => 'a fault is one line, the last one, which clients show');
    is_error($placement->post('/resource_providers', json => []), 400, qr/\[\] is not of type 'object'/);
    is_error($placement->post('/resource_providers', json => { name => 7 }), 400,
        qr/7 is not of type 'string'  Failed validating 'type' in schema\['properties'\]\['name'\]:/);
    is_error($placement->post('/resource_providers', json => { name => 'x' x 201 }), 400, qr/Failed validating 'maxLength'/);
    is_error($placement->post('/resource_providers', json => { name => 'n', uuid => 'this is not a uuid' }), 400,
        qr/'this is not a uuid' is not a 'uuid'  Failed validating 'format' in schema\['properties'\]\['uuid'\]:/);
    is_error($placement->get("/traits/CUSTOM_%0A%0D%0AA"), 404, qr/^ No such trait\(s\): CUSTOM_  A\.  \z/m, name => 'nor do line ends of the client part it');
    $placement->post('/resource_providers', body => '{"name":"n"}', type => 'Application/JSON; charset=utf-8')
        ->is_status(200, 'a type may have parameters');
    my $deep = '[' x 5000 . ']' x 5000;
    is_error($placement->put("/resource_providers/$uuid/aggregates", body => $deep, type => 'application/json'), 400, qr/Malformed JSON/);
    my $long = $placement->post('/resource_providers', json => { name => { map { ("member$_" => 'x' x 100) } 1 .. 500 } });
    is_error($long, 400, qr/is not of type 'string'/);
    cmp_ok length $long->text, '<', 4000, 'what is long is shown short';
};

subtest 'forms of an error' => sub {
    my $json = $placement->get('/barnabas', accept => '*/*');
    $json->header_is('content-type', 'application/json', 'JSON for who takes anything');
    my $html = $placement->get('/barnabas', accept => 'text/html');
    like $html->header('content-type'), qr{\Atext/html}, 'HTML';
    like $html->text, qr{<h1>404 Not Found</h1>};
    my $script = $placement->version('<script>')->get('/', accept => 'text/html');
    like $script->text, qr/&lt;script&gt;/, 'in which nothing is a tag that should not be';
    my $plain = $placement->get('/barnabas', accept => 'text/plain');
    like $plain->header('content-type'), qr{\Atext/plain}, 'plain text';
    like $plain->text, qr/\A404 Not Found\n\nThe resource could not be found\./;
    my $none = $placement->get('/resource_providers', accept => 'image/png');
    $none->is_status(406);
    like $none->text, qr{Only application/json is provided}, 'told in plain text, when nothing fits';
    my $versions = $placement->get('/', accept => 'text/html');
    $versions->is_status(200, 'the versions are for who accepts no JSON, too');
    $versions->header_is('content-type', 'application/json', 'as JSON');
    $placement->get('/resource_providers', accept => 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8')
        ->is_status(200, 'a browser gets its JSON');
    ok !exists $placement->version('1.22')->get('/barnabas')->json->{errors}[0]{code}, 'no code before 1.23';
    is $placement->version('1.23')->get('/barnabas')->json->{errors}[0]{code}, 'placement.undefined_code', 'then there is one';
    unlike $_->text, qr/SELECT|INSERT|mysql|\.c:/i, 'nothing leaks' for $html, $plain, $json;
};

# As in OpenStack's service, only a GET depends on Accept.
subtest 'who accepts no JSON' => sub {
    my $one   = uuid();
    my $path  = "/resource_providers/$one";
    my %plain = (accept => 'text/plain');
    my $write = sub {
        my ($method, $where, $json) = @_;
        my $answer = $placement->request($method, $where, json => $json, %plain);
        like $answer->status, qr/\A20[01]\z/, "$method $where is done";
        $answer->header_is('content-type', 'application/json', 'and answered in JSON');
    };
    my $at  = sub { return resource_provider_generation => $placement->generation($one) + 0 };
    my $old = $placement->version('1.0')->post('/resource_providers', json => { name => 'old' }, %plain);
    $old->is_status(201, 'a provider, whose answer has no body before 1.20');
    $write->('POST', '/resource_providers', { name => 'plain', uuid => $one });
    $write->('PUT', $path, { name => 'plainer' });
    $write->('POST', "$path/inventories", { $at->(), resource_class => 'DISK_GB', total => 1 });
    $write->('PUT', "$path/inventories", { $at->(), inventories => { VCPU => { total => 2 } } });
    $write->('PUT', "$path/inventories/VCPU", { $at->(), total => 3 });
    $write->('PUT', "$path/aggregates", { $at->(), aggregates => [$uuid] });
    $write->('PUT', "$path/traits", { $at->(), traits => ['HW_CPU_X86_AVX'] });
    $placement->put('/traits/CUSTOM_PLAIN')->is_status(201);
    $write->('PUT', '/traits/CUSTOM_PLAIN/about', { description => 'told' });
    is $placement->get($path)->json->{name}, 'plainer', 'each was written';
    is $placement->get("$path/inventories/VCPU")->json->{total}, 3;
    is_deeply $placement->get("$path/aggregates")->json->{aggregates}, [$uuid];
    is_deeply $placement->get("$path/traits")->json->{traits}, ['HW_CPU_X86_AVX'];
    is $placement->get('/traits/CUSTOM_PLAIN/about')->json->{description}, 'told';
    my $conflict = $placement->put("$path/inventories", json => { resource_provider_generation => 0, inventories => {} }, %plain);
    $conflict->is_status(409, 'a write that is refused');
    like $conflict->header('content-type'), qr{\Atext/plain}, '... says so in plain text';
    for my $where ('/resource_providers', $path, "$path/inventories", "$path/inventories/VCPU", "$path/aggregates", "$path/traits", '/traits/CUSTOM_PLAIN/about') {
        my $answer = $placement->get($where, %plain);
        $answer->is_status(406, "GET $where is refused");
        like $answer->text, qr{Only application/json is provided};
    }
};

my @operators = (
    [ GET    => '/resource_providers' ],             [ POST   => '/resource_providers' ],
    [ GET    => "/resource_providers/$uuid" ],       [ PUT    => "/resource_providers/$uuid" ],
    [ DELETE => "/resource_providers/$uuid" ],       [ GET    => "/resource_providers/$uuid/inventories" ],
    [ PUT    => "/resource_providers/$uuid/traits" ], [ GET   => "/resource_providers/$uuid/aggregates" ],
    [ GET    => '/resource_classes' ],               [ PUT    => '/resource_classes/CUSTOM_A' ],
    [ PUT    => '/traits/CUSTOM_A' ],                [ DELETE => '/traits/CUSTOM_A' ],
    [ GET    => "/allocations/$uuid" ],              [ DELETE => "/allocations/$uuid" ],
    [ POST   => '/allocations' ],
);

subtest 'who may' => sub {
    for my $call (@operators) {
        my ($method, $path) = @$call;
        my %body = $method =~ /PUT|POST/ ? (json => {}) : ();
        for my $token ('user', 'ann:t1:reader', 'ann:t1', 'admin:t1:admin', 'administrator') {
            is_error($placement->as($token)->request($method, $path, %body), 403, undef, name => "$method $path by $token");
        }
    }
    my $user = $placement->as('ann:t1:reader');
    $user->get('/traits')->is_status(200, 'traits are for everybody to read');
    $user->get('/traits/HW_CPU_X86_AVX')->is_status(204);
    $user->get('/usages?project_id=t1')->is_status(200, "usages of one's own project are, too");
    is_error($user->get('/usages?project_id=t2'), 403, undef, name => "another's are not");
    $placement->as(undef)->get('/usages?project_id=t1')->is_status(401, 'nor are they for nobody');
    $placement->as(undef)->get("/usages$_")->is_status(401, '... whatever else is wrong') for '', '?project_id=t1&x=1';
    is_error($user->get("/usages$_"), 403) for '', '?project_id=t2&x=1', '?project_id=t1&project_id=t2';
    is_error($user->get('/usages?project_id=t1&x=1'), 400, qr/'x' was unexpected/);
};

subtest 'roles behind a gatekeeper' => sub {
    my $ask = sub { my ($method, $path, %header) = @_; return $placement->as('user')->request($method, $path, headers => \%header) };
    $ask->('GET', '/resource_providers', 'X-Roles' => 'admin,member,reader', 'X-Project-Id' => 'p')->is_status(200, 'an admin is the operator');
    $ask->('PUT', '/traits/CUSTOM_B', 'X-Roles' => 'admin')->is_status(201);
    my @system = ('X-Roles' => 'reader', 'OpenStack-System-Scope' => 'all');
    $ask->('GET', '/resource_providers', @system)->is_status(200, 'a reader of the system reads');
    $ask->('GET', '/resource_classes', @system)->is_status(200);
    $ask->('PUT', '/traits/CUSTOM_C', @system)->is_status(403, 'and writes nothing');
    $ask->('GET', '/resource_providers', 'X-Roles' => 'member,reader', 'X-Project-Id' => 'p')->is_status(403, "a project's reader does not");
    $ask->('GET', '/usages?project_id=p', 'X-Roles' => 'reader', 'X-Project-Id' => 'p')->is_status(200, 'but its usages');
    $ask->('GET', '/usages?project_id=q', 'X-Roles' => 'reader', 'X-Project-Id' => 'p')->is_status(403);
    $placement->get('/resource_providers', headers => { 'X-Roles' => 'reader' })->is_status(403, 'they count, whoever asks');
};

done_testing;
