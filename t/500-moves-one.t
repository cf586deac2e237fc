#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Moves of one resource: the way there, the old address, what is refused.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start(combined => 1);
my $admin    = $instance->admin;
$admin->make_tenant($_) for 't1', 't2', 't3', 'dead', 'a%20%E2%88%91';
$admin->delete('/v2.0/dead')->is_status(204);

sub move {
    my ($path, $dest, @option) = @_;
    return $admin->post("$path/action/move?dest=$dest", @option);
}

sub leads_to {
    my ($response, $path, $name) = @_;
    return is $admin->path_of($response->location), $path, $name // "leads to $path";
}

subtest 'there and what it keeps' => sub {
    my $path   = 'namespaces/default/configmaps/c%20%C3%A91';
    my $before = $admin->make("/v2.0/t1/$path", { a => 1, metadata => { labels => { l => 'v' } } })->json;
    my $post   = move("/v2.0/t1/$path", 'a%20%E2%88%91');
    $post->is_status(303);
    leads_to($post, "/v2.0/a%20%E2%88%91/$path");
    my $after = $admin->get("/v2.0/a%20%E2%88%91/$path")->json;
    my %was   = %{ $before->{metadata} };
    my %is    = %{ $after->{metadata} };
    is $is{$_}, $was{$_}, "keeps its $_" for qw(uid etag creationTimestamp name namespace);
    is_deeply $is{labels}, $was{labels}, 'and its labels';
    is $is{resourceVersion}, $was{resourceVersion} + 1, 'is a revision on';
    is $is{tenant}, "a \x{2211}", 'in its new tenant';
    is $after->{a}, 1, 'content as it was';
    is $admin->get('/v2.0/t1')->json->{tenant}{resources}, 0, 'counted there';
    is $admin->get('/v2.0/a%20%E2%88%91')->json->{tenant}{resources}, 1, 'no more here';
    is_deeply $admin->get('/v2.0/t1/configmaps')->json->{resources}, [], 'nor listed';
};

subtest 'Prefer: return=minimal' => sub {
    for my $path (qw(persistentvolumes/brief namespaces/default/configmaps/brief namespaces/brief)) {
        $admin->make("/v2.0/t1/$path");
        my $tag  = $admin->get("/v2.0/t1/$path/action/move?dest=t2")->etag;
        my $post = move("/v2.0/t1/$path", 't2', prefer => 'return=minimal', if_match => $tag);
        $post->is_status(204, $path);
        $post->header_is('Preference-Applied', 'return=minimal');
        ok !defined $post->location, 'no address, which a client would follow with the If-Match of the move';
        $admin->get("/v2.0/t2/$path")->is_status(200, 'it moved');
        my $again = move("/v2.0/t1/$path", 't3', prefer => 'return=minimal');
        $again->is_status(301, 'what has moved before is no success');
        leads_to($again, "/v2.0/t2/$path/action/move?dest=t3");
    }
};

subtest 'the old address' => sub {
    my $path = 'persistentvolumes/p';
    $admin->make("/v2.0/t1/$path", { a => 1 });
    move("/v2.0/t1/$path", 't2')->is_status(303);
    my $home = "/v2.0/t2/$path";
    for my $read ('GET', 'HEAD') {
        my $answer = $admin->request($read, "/v2.0/t1/$path");
        $answer->is_status(301, $read);
        leads_to($answer, $home);
    }
    leads_to($admin->get("/v1.0/t1/$path"), "/v1.0/t2/$path", 'v1.0 leads to v1.0');
    for my $write (['PATCH', patch => { a => 2 }], ['DELETE']) {
        my ($method, @option) = @$write;
        my $answer = $admin->request($method, "/v2.0/t1/$path", @option);
        $answer->is_status(301, "$method changes nothing here");
        leads_to($answer, $home);
    }
    my $again = move("/v2.0/t1/$path", 't3');
    $again->is_status(301, 'POST of a move');
    leads_to($again, "$home/action/move?dest=t3", 'leads to the move action there, dest and all');
    my $action = $admin->get("/v2.0/t1/$path/action/move?dest=t3");
    $action->is_status(301, 'GET of the move action');
    leads_to($action, "$home/action/move?dest=t3");
    $admin->post($again->location)->is_status(303, 'followed, it moves on');
    leads_to($admin->get("/v2.0/t1/$path"), "/v2.0/t3/$path", 'chains end at the present home: from the first');
    leads_to($admin->get("/v2.0/t2/$path"), "/v2.0/t3/$path", 'and from the second');
    $admin->put("/v2.0/t1/$path", json => {}, if_match => '*')->is_problem(412, 'stale', 'PUT with If-Match: nothing is here to match');
    my $put = $admin->put("/v2.0/t1/$path", json => { new => 1 });
    $put->is_status(201, 'PUT without makes a new one');
    $admin->get("/v2.0/t1/$path")->is_status(200, 'which retires the forward');
    isnt $put->json->{metadata}{uid}, $admin->get("/v2.0/t3/$path")->json->{metadata}{uid}, 'the two are two';
    move("/v2.0/t1/$path", 't3')->is_problem(409, 'blocked', 'and one stands in the way of the other');
};

subtest 'there and back' => sub {
    my $path = 'persistentvolumes/back';
    $admin->make("/v2.0/t1/$path");
    for (1 .. 3) {
        move("/v2.0/t1/$path", 't2')->is_status(303, 'there');
        $admin->get("/v2.0/t2/$path")->is_status(200);
        leads_to($admin->get("/v2.0/t1/$path"), "/v2.0/t2/$path");
        move("/v2.0/t2/$path", 't1')->is_status(303, 'and back');
        $admin->get("/v2.0/t1/$path")->is_status(200, 'its first address is its own again');
        leads_to($admin->get("/v2.0/t2/$path"), "/v2.0/t1/$path");
    }
    is $instance->sql_value(q(SELECT COUNT(*) FROM forwards WHERE name = 'back')), 1, 'one forward is left';
};

subtest 'a forward whose resource or tenant is gone' => sub {
    my $path = 'persistentvolumes/ghost';
    $admin->make("/v2.0/t1/$path");
    $admin->make_tenant('short');
    move("/v2.0/t1/$path", 'short')->is_status(303);
    $admin->delete('/v2.0/short')->is_status(204);
    my $get = $admin->get("/v2.0/t1/$path");
    $get->is_problem(410, 'gone', 'into a deleted tenant: 410');
    ok $get->json->{purge_at}, 'with its time';
    $admin->post('/v2.0/short/action/recover')->is_status(204);
    leads_to($admin->get("/v2.0/t1/$path"), "/v2.0/short/$path", 'recovered: leads there again');
    $admin->delete("/v2.0/short/$path")->is_status(204);
    $admin->get("/v2.0/t1/$path")->is_problem(410, 'gone', 'to a deleted resource: 410');
    $admin->post("/v2.0/short/$path/action/recover")->is_status(204);
    $admin->get("/v2.0/t1/$path")->is_status(301, 'recovered: leads there');
};

subtest 'what is refused' => sub {
    my $path = '/v2.0/t1/persistentvolumes/stay';
    $admin->make($path);
    my $count = $instance->change_count;
    for my $method ('GET', 'POST') {
        my @json = (accept => 'application/json');
        $admin->request($method, "$path/action/move", @json)->is_problem(400, 'bad_parameter', "$method: dest missing");
        $admin->request($method, "$path/action/move?dest=", @json)->is_problem(400, 'bad_parameter', "$method: dest empty");
        $admin->request($method, "$path/action/move?dest=a%2Fb", @json)->is_problem(400, undef, "$method: dest with a slash");
        $admin->request($method, "$path/action/move?dest=t2&dest=t3", @json)->is_problem(400, 'bad_parameter', "$method: dest twice");
        $admin->request($method, "$path/action/move?dest=nobody", @json)->is_problem(404, 'not_found', "$method: dest unknown");
        $admin->request($method, "$path/action/move?dest=dead", @json)->is_problem(410, 'gone', "$method: dest deleted");
        $admin->request($method, "$path/action/move?dest=t1", @json)->is_problem(409, 'conflict', "$method: dest the same");
        $admin->request($method, '/v2.0/nobody/persistentvolumes/x/action/move?dest=t1', @json)->is_problem(404, 'not_found', "$method: source unknown");
        $admin->request($method, '/v2.0/dead/persistentvolumes/x/action/move?dest=t1', @json)->is_problem(410, 'gone', "$method: source deleted");
        $admin->request($method, '/v2.0/t1/persistentvolumes/none/action/move?dest=t2', @json)->is_problem(404, 'not_found', "$method: no such resource");
        $admin->request($method, '/v2.0/t1/namespaces/default/action/move?dest=t2', @json)->is_problem(409, 'conflict', "$method: the namespace default");
        $admin->request($method, '/v2.0/t1/things/x/action/move?dest=t2', @json)->is_problem(404, 'not_found', "$method: no such type");
    }
    $admin->get($path)->is_status(200, 'it stays');
    is $instance->change_count, $count, 'and nothing was written';
};

subtest 'a body is not needed, and none is minded' => sub {
    my $path = '/v2.0/t1/persistentvolumes/bodies';
    $admin->make($path);
    move($path, 't2', body => '<move/>', type => 'application/xml')->is_status(303);
};

subtest 'who sees where it went' => sub {
    my $path = 'persistentvolumes/seen';
    $admin->make("/v2.0/t1/$path");
    move("/v2.0/t1/$path", 't2')->is_status(303);
    my $old = $instance->service('ann:t1:admin')->get("/v2.0/t1/$path");
    $old->is_problem(404, undef, 'its former owner: 404');
    ok !defined $old->location, 'without an address';
    my $none = $instance->service('ann:t1:admin')->get("/v2.0/t1/persistentvolumes/never");
    is $old->json->{type}, $none->json->{type}, 'as if it had never been';
    is $old->detail =~ s/seen/never/r, $none->detail, 'in the same words';
    $instance->service('bob:t2:reader')->get("/v2.0/t2/$path")->is_status(200, 'its owner');
    $instance->service('bob:t2:reader')->get("/v2.0/t1/$path")->is_status(404, 'who asks in another\'s tenant');
    leads_to($admin->get("/v2.0/t1/$path"), "/v2.0/t2/$path", 'the operator is led there');
};

done_testing;
