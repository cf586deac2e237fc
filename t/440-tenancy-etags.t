#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Etags and conditions: their form, If-Match as clients and proxies write it, If-None-Match, A-B-A.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start;
my $admin    = $instance->admin;
$admin->make_tenant('t1');
my $url = '/v2.0/t1/namespaces/default/configmaps/c1';

subtest 'form' => sub {
    my $put = $admin->put($url, json => { a => 1 });
    like $put->etag, qr{\AW/"[0-9a-f]{128}"\z}, 'header: weak, quoted, SHA-512 in hexadecimal digits';
    is $put->json->{metadata}{etag} =~ s/"//gr, $put->etag =~ s/"//gr, 'body: the same without quotes';
    is $admin->get($url)->etag, $put->etag, 'GET has it';
    is $admin->head($url)->etag, $put->etag, 'HEAD';
    is $admin->get($url, accept => 'application/xml')->etag, $put->etag, 'the XML form';
    is $admin->get('/v1.0/t1/namespaces/default/configmaps/c1')->etag, $put->etag, 'the other vocabulary';
    my ($item) = @{ $admin->get('/v2.0/t1/configmaps')->json->{resources} };
    is $item->{metadata}{etag}, $put->json->{metadata}{etag}, 'lists, in the body';
    is $instance->sql_value(q(SELECT LOWER(HEX(etag)) FROM resources WHERE name = 'c1')), $put->etag =~ s/[W\/"]//gr, 'the row: it is stored';
    my $patch = $admin->patch($url, { b => 1 });
    is $admin->get($url)->etag, $patch->etag, 'PATCH answers the new one';
};

subtest 'If-Match, as it comes' => sub {
    my $n = 0;
    my $hex = sub { $admin->get($url)->etag =~ s/[W\/"]//gr };
    my @forms = (
        ['W/"%s"'              => 'weak'],
        ['"%s"'                => 'strong'],
        ['W/%s'                => 'from the body, unquoted'],
        ['%s'                  => 'bare'],
        ['"%s-gzip"'           => 'with a suffix of mod_deflate'],
        ['W/"%s-gzip"'         => 'weak, with that'],
        ['"%s;gzip"'           => 'with another suffix'],
        ['W/"%s-br"'           => 'brotli'],
        ['*'                   => 'anything'],
        ['"0000", W/"%s"'      => 'a list'],
        ['W/"%s","11", "22"'   => 'a list, first'],
        [', "0000" ,, W/"%s" ,' => 'a list with empty items'],
    );
    for my $form (@forms) {
        my $match = $form->[0] =~ s/%s/$hex->()/er;
        $admin->put($url, json => { n => ++$n }, if_match => $match)->is_status(200, $form->[1]);
        $match = $form->[0] =~ s/%s/$hex->()/er;
        $admin->get($url, if_match => $match)->is_status(200, 'for GET as well');
    }
    my $upper = uc $hex->();
    $admin->put($url, json => { n => ++$n }, if_match => qq("$upper"))->is_status(200, 'upper case');
};

subtest 'If-Match that does not match' => sub {
    my $now = $admin->get($url);
    my $old = 'W/"' . '0' x 128 . '"';
    for my $write (['PUT', json => {}], ['PATCH', patch => { x => 1 }], ['DELETE']) {
        my ($method, @option) = @$write;
        my $answer = $admin->request($method, $url, @option, if_match => $old);
        $answer->is_problem(412, 'stale', $method);
        is $answer->etag, $now->etag, 'tells the current one';
        is $answer->json->{etag}, $now->etag =~ s/"//gr, 'in the body as well';
    }
    is $admin->get($url)->text, $now->text, 'nothing changed';
    my $half = substr $now->etag, 0, 40;
    $admin->put($url, json => {}, if_match => qq($half"))->is_problem(412, 'stale', 'a part of the tag is not the tag');
    for my $bad ('"', '"open', '""', '"a" "b"', '*, "a"', ',') {
        $admin->put($url, json => {}, if_match => $bad)->is_problem(400, 'bad_request', "malformed: $bad");
    }
    $admin->put($url, json => {}, if_match => join ', ', map { qq("$_") } 1 .. 33)->is_problem(400, 'bad_request', 'too many');
    $admin->put('/v2.0/t1/persistentvolumes/none', json => {}, if_match => $old)->is_problem(412, 'stale', 'nothing there: 412');
    $admin->put('/v2.0/t1/persistentvolumes/none', json => {}, if_match => '*')->is_problem(412, 'stale', 'for * as well');
    $admin->get('/v2.0/t1/persistentvolumes/none')->is_problem(404, 'not_found', 'nothing was made');
};

subtest 'If-None-Match' => sub {
    my $etag = $admin->get($url)->etag;
    for my $tag ($etag, $etag =~ s/W\///r, "\"x\", $etag", '*') {
        my $get = $admin->get($url, if_none_match => $tag);
        $get->is_status(304, "GET: $tag" =~ s/[0-9a-f]{100,}/…/r);
        is $get->etag, $etag, '304 has the ETag';
        is $get->text, '', 'and no body';
        $admin->head($url, if_none_match => $tag)->is_status(304, 'HEAD');
    }
    $admin->get($url, if_none_match => '"other"')->is_status(200, 'another tag: 200');
    $admin->put($url, json => { z => 1 }, if_none_match => '*')->is_problem(412, 'stale', 'PUT on what exists');
    $admin->put($url, json => { z => 1 }, if_none_match => $etag)->is_problem(412, 'stale', 'PUT with the current tag');
    my $new = '/v2.0/t1/persistentvolumes/once';
    $admin->put($new, json => {}, if_none_match => '*')->is_status(201, 'PUT of what does not');
    $admin->put($new, json => {}, if_none_match => '*')->is_problem(412, 'stale', 'once');
    $admin->delete($new)->is_status(204);
    $admin->put($new, json => {}, if_none_match => '*')->is_status(201, 'a deleted one does not exist');
};

subtest 'every change gives a new one' => sub {
    my $resource = '/v2.0/t1/persistentvolumes/aba';
    my %seen;
    my $put = $admin->make($resource, { v => 'A' });
    $seen{ $put->etag }++;
    for my $value ('B', 'A', 'B', 'A') {
        $put = $admin->put($resource, json => { v => $value });
        ok !$seen{ $put->etag }++, "back to $value, but not to its etag";
    }
    $put = $admin->put($resource, json => { v => 'A', metadata => { labels => { l => 'x' } } });
    ok !$seen{ $put->etag }++, 'labels are content';
    $put = $admin->patch($resource, { metadata => { locked => JSON::PP::true() } });
    ok !$seen{ $put->etag }++, 'a lock is';
    $admin->patch($resource, { metadata => { locked => JSON::PP::false() } });
    my $before = $admin->get($resource);
    $admin->make_tenant('t2');
    $admin->post("$resource/action/move?dest=t2")->is_status(303);
    my $after = $admin->get('/v2.0/t2/persistentvolumes/aba');
    is $after->etag, $before->etag, 'a move changes no content and keeps it';
    is $after->json->{metadata}{resourceVersion}, $before->json->{metadata}{resourceVersion} + 1, 'but is a revision';
    $admin->delete('/v2.0/t2/persistentvolumes/aba');
    my $again = $admin->make('/v2.0/t2/persistentvolumes/aba', { v => 'A' });
    ok !$seen{ $again->etag }++, 'one made anew with the same content has another';
    my $other = $admin->make('/v2.0/t2/persistentvolumes/other', { v => 'A' });
    ok !$seen{ $other->etag }++, 'so has another one of the same content: nobody can compare secrets';
};

subtest 'order of conditions' => sub {
    my $etag = $admin->get($url)->etag;
    $admin->get($url, if_match => '"x"', if_none_match => $etag)->is_status(412, 'If-Match comes first');
    $admin->get($url, if_match => $etag, if_none_match => $etag)->is_status(304, 'then If-None-Match');
    $admin->get('/v2.0/t1/persistentvolumes/missing', if_match => '*')->is_problem(404, 'not_found', 'what is not there is 404 first');
};

done_testing;
