#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Tenants: lifecycle, tiers, metadata, conditions, the operator's list.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use POSIX ();
use Test::More;

use Tenure::Instance;
my $instance = Tenure::Instance->start;
my $admin    = $instance->admin;

sub tenant { return $_[0]->json->{tenant} }

subtest 'a new tenant' => sub {
    my $put = $admin->put('/v2.0/t1');
    $put->is_status(201, 'needs no body');
    my $tenant = tenant($put);
    is $tenant->{id}, 't1', 'id';
    is $tenant->{tier}, 'standard', 'the default tier';
    is $tenant->{state}, 'active', 'state';
    is $tenant->{resources}, 0, 'no resources: its namespace "default" is not counted';
    is_deeply $tenant->{metadata}, {}, 'no metadata';
    like $tenant->{$_}, qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\z/, $_ for 'created_at', 'updated_at';
    ok !exists $tenant->{purge_at}, 'no purge time';
    like $tenant->{etag}, qr{\AW/[0-9a-f]{128}\z}, 'etag in the body';
    is $put->etag, 'W/"' . substr($tenant->{etag}, 2) . '"', 'ETag in the header is the same, quoted';
    my $namespaces = $admin->get('/v2.0/t1/namespaces')->json->{resources};
    is_deeply [map { $_->{metadata}{name} } @$namespaces], ['default'], 'it has the namespace default';
    my @changes = $instance->changes_of($put);
    is scalar(grep { !defined $_->{type} } @changes), 1, 'one change row for the tenant';
    is_deeply [map { "$_->{verb} $_->{type}/$_->{name}" } grep { defined $_->{type} } @changes], ['created namespaces/default'],
        'and one for the namespace';
};

subtest 'PUT is idempotent' => sub {
    my $get   = $admin->get('/v2.0/t1');
    my $count = $instance->change_count;
    for my $body (undef, {}, { tenant => {} }, { tenant => { tier => 'standard' } }, { tenant => { metadata => {} } }, $get->json) {
        my $put = $admin->put('/v2.0/t1', defined $body ? (json => $body) : ());
        $put->is_status(202);
        is $put->etag, $get->etag, 'the etag is the same';
        is tenant($put)->{updated_at}, tenant($get)->{updated_at}, 'and when it was changed';
    }
    is $instance->change_count, $count, 'no change row';
};

subtest 'tiers' => sub {
    my $before = $admin->get('/v2.0/t1');
    my $put = $admin->put('/v2.0/t1', json => { tenant => { tier => 'gold' } });
    $put->is_status(202);
    is tenant($put)->{tier}, 'gold', 'changed';
    isnt $put->etag, $before->etag, 'another etag';
    my @changes = $instance->changes_of($put);
    is scalar @changes, 1, 'one change row';
    is "$changes[0]{verb} $changes[0]{tenant} $changes[0]{actor}", 'updated t1 admin', 'says who did what';
    is $changes[0]{etag_before}, $before->etag =~ s/\W|^W//gr, 'the etag before';
    is $changes[0]{etag_after}, $put->etag =~ s/\W|^W//gr, 'and after';
    $admin->put('/v2.0/t1', json => { tenant => { tier => 'platinum' } })->is_problem(400, 'bad_parameter', 'no such tier');
    $admin->put('/v2.0/t9', json => { tenant => { tier => '' } })->is_problem(400, undef, 'no tier at all');
    $admin->get('/v2.0/t9')->is_status(404, 'a refused PUT makes nothing');
    my $back = $admin->put('/v2.0/t1', json => { tenant => { tier => 'standard' } });
    isnt $back->etag, $before->etag, 'back again: A, B, A has three etags';
};

subtest 'metadata' => sub {
    my $put = $admin->put('/v2.0/meta', json => { tenant => { metadata => { b => '2', a => '1' } } });
    $put->is_status(201);
    my $same = $admin->put('/v2.0/meta', json => { tenant => { metadata => { a => '1', b => '2' } } });
    is $same->etag, $put->etag, 'their order means nothing';
    my $less = $admin->put('/v2.0/meta', json => { tenant => { metadata => { a => '1' } } });
    is_deeply tenant($less)->{metadata}, { a => '1' }, 'a PUT replaces them';
    $admin->put('/v2.0/meta', json => { tenant => { tier => 'gold' } });
    is_deeply tenant($admin->get('/v2.0/meta'))->{metadata}, { a => '1' }, 'unless it leaves them out';
    my %values = (Wide => "\x{2211}\x{221e}", Blank => ' a b ', Percent => '100%', Quote => q("'<&>), Empty => '', Lines => "a\r\nX-Evil: 1");
    $put = $admin->put('/v2.0/meta', json => { tenant => { metadata => \%values } });
    $put->is_status(202, 'values of any characters');
    is_deeply tenant($admin->get('/v2.0/meta'))->{metadata}, \%values, 'come back as they were';
    my $head = $admin->head('/v2.0/meta');
    is $head->header('X-Tenant-Meta-Wide'), '%E2%88%91%E2%88%9E', 'in headers: percent-encoded where not plain ASCII';
    is $head->header('X-Tenant-Meta-Percent'), '100%25', 'the percent sign itself';
    is $head->header('X-Tenant-Meta-Blank'), '%20a b%20', 'blanks at the ends';
    is $head->header('X-Tenant-Meta-Lines'), 'a%0D%0AX-Evil: 1', 'no header can be smuggled in';
    ok !defined $head->header('X-Evil'), 'none was';
    my $xml = $admin->get('/v2.0/meta', accept => 'application/xml');
    is Tenure::XML::child($xml->xml, 'Quote')->{text}, $values{Quote}, 'in XML';
    my $etag = $xml->etag;
    # XML has no element for the metadata as a whole: a document with none of them leaves them out.
    my $bare = $admin->put('/v2.0/meta', xml => '<tenant tier="gold"/>', accept => 'application/json');
    is_deeply tenant($bare)->{metadata}, \%values, 'XML with none of them keeps them';
    is $bare->etag, $etag, '... and changes nothing';
    for my $bad ({ 'a b' => '1' }, { '' => '1' }, { '1a' => '1' }, { 'a/b' => '1' }, { "a\x{e9}" => '1' }, { a => 1 }, { a => undef },
        { a => ['x'] }, { Name => '1', name => '2' }, { 'n' x 256 => '1' }, { a => 'v' x 2049 },
        { map { ($_ => 'v' x 2048) } 'a' .. 'c' }, { map { ("m$_" => '1') } 1 .. 33 }) {
        $admin->put('/v2.0/meta', json => { tenant => { metadata => $bad } })->is_problem(400, 'bad_document');
    }
    $admin->put('/v2.0/meta', json => { tenant => { metadata => 'x' } })->is_problem(400, 'bad_document', 'no object');
    is $admin->get('/v2.0/meta')->etag, $etag, 'what was refused changed nothing';
    $admin->put('/v2.0/meta', json => { tenant => { metadata => { map { ("m$_" => "\x{e9}" x 90) } 10 .. 41 } } })
        ->is_status(202, 'as many as there may be');
    $admin->put('/v2.0/meta', xml => '<tenant><only>1</only></tenant>')->is_status(202);
    is_deeply tenant($admin->get('/v2.0/meta'))->{metadata}, { only => '1' }, 'XML with one of them replaces them';
    $admin->put('/v2.0/meta', json => { tenant => { metadata => {} } })->is_status(202);
    is_deeply tenant($admin->get('/v2.0/meta'))->{metadata}, {}, 'JSON can say that there are none';
};

subtest 'documents that contradict or are none' => sub {
    for my $body ({ tenant => { id => 'other' } }, { tenant => { colour => 'red' } }, { account => {} }, [], 'tenant',
        { tenant => [] }, { tenant => {}, account => {} }, { tenant => { tier => 7 } }) {
        $admin->put('/v2.0/t1', json => $body)->is_problem(400, 'bad_document');
    }
    $admin->put('/v2.0/t1', json => { tenant => { id => 't1', state => 'deleted', resources => 99, etag => 'x' } })
        ->is_status(202, 'what the server owns is ignored');
    is tenant($admin->get('/v2.0/t1'))->{state}, 'active', 'really';
    $admin->put('/v2.0/t1', xml => '<account/>')->is_problem(400, 'bad_document', 'XML in the other word');
    $admin->put('/v2.0/t1', xml => '<tenant xmlns="urn:any"/>')->is_status(202, 'XML in any namespace');
    $admin->put('/v2.0/t1', xml => '<tenant colour="red"/>')->is_problem(400, 'bad_document', 'XML with an unknown attribute');
    $admin->put('/v2.0/t1', xml => '<tenant id="t2"/>')->is_problem(400, 'bad_document', 'XML that contradicts the address');
};

subtest 'conditions' => sub {
    $admin->put('/v2.0/cond', if_match => '*')->is_problem(412, 'stale', 'If-Match: * makes nothing');
    $admin->put('/v2.0/cond', if_none_match => '*')->is_status(201, 'If-None-Match: * makes');
    my $now = $admin->put('/v2.0/cond', if_none_match => '*');
    $now->is_problem(412, 'stale', 'but once');
    my $etag = $admin->get('/v2.0/cond')->etag;
    is $now->etag, $etag, '412 tells the current etag';
    $admin->get('/v2.0/cond', if_none_match => $etag)->is_status(304, 'GET: 304');
    $admin->head('/v2.0/cond', if_none_match => $etag)->is_status(304, 'HEAD: 304');
    $admin->get('/v2.0/cond', if_match => 'W/"00"')->is_status(412, 'GET with If-Match');
    $admin->put('/v2.0/cond', if_match => $etag, json => { tenant => { tier => 'gold' } })->is_status(202, 'If-Match matches');
    $admin->put('/v2.0/cond', if_match => $etag, json => { tenant => { tier => 'free' } })->is_problem(412, 'stale', 'and then no more');
    is tenant($admin->get('/v2.0/cond'))->{tier}, 'gold', 'a stale write changes nothing';
    $admin->delete('/v2.0/cond', if_match => $etag)->is_problem(412, 'stale', 'DELETE');
    $admin->delete('/v2.0/cond', if_match => $admin->get('/v2.0/cond')->etag)->is_status(204);
};

subtest 'a tenant\'s etag does not cover its count' => sub {
    my $before = $admin->get('/v2.0/t1');
    $admin->make('/v2.0/t1/persistentvolumes/p1');
    my $after = $admin->get('/v2.0/t1');
    is tenant($after)->{resources}, 1, 'the count is another';
    is $after->etag, $before->etag, 'the etag is not';
    is $after->header('X-Tenant-Resource-Count'), 1, 'X-Tenant-Resource-Count';
};

subtest 'deletion and recovery' => sub {
    $admin->make_tenant('life', metadata => { color => 'red' });
    $admin->make_tenant('refuge');
    my @paths = ('persistentvolumes/p1', 'namespaces/n1', 'namespaces/n1/configmaps/c1', 'namespaces/default/secrets/s1');
    $admin->make("/v2.0/life/$_", { path => $_ }) for @paths;
    $admin->make('/v2.0/life/persistentvolumes/gone');
    $admin->delete('/v2.0/life/persistentvolumes/gone')->is_status(204);
    $admin->make('/v2.0/life/persistentvolumes/moved');
    $admin->post('/v2.0/life/persistentvolumes/moved/action/move?dest=refuge')->is_status(303);
    my %before = map { $_ => $admin->get("/v2.0/life/$_")->text } @paths, 'persistentvolumes', 'persistentvolumes?deleted=true';
    my $tenant = $admin->get('/v2.0/life');

    $admin->post('/v2.0/life/action/recover')->is_problem(409, 'conflict', 'nothing to recover while it lives');
    my $delete = $admin->delete('/v2.0/life');
    $delete->is_status(204);
    my $purge_at = $delete->header('X-Tenant-Purge-At');
    ok $purge_at, 'the purge time is published';
    is_deeply [map { "$_->{verb} $_->{tenant}" } $instance->changes_of($delete)], ['deleted life'], 'one change row';
    for my $path ('', map { "/$_" } @paths, 'persistentvolumes', 'namespaces') {
        my $get = $admin->get("/v2.0/life$path");
        $get->is_problem(410, 'gone', "GET /v2.0/life$path");
        is $get->json->{purge_at}, $purge_at, 'with the purge time';
    }
    $admin->put('/v2.0/life/persistentvolumes/new', json => {})->is_problem(410, 'gone', 'nothing can be put');
    $admin->patch('/v2.0/life/persistentvolumes/p1', {})->is_problem(410, 'gone', 'nor patched');
    $admin->delete('/v2.0/life/persistentvolumes/p1')->is_problem(410, 'gone', 'nor deleted');
    my $put = $admin->put('/v2.0/life', json => { tenant => { tier => 'gold' } });
    $put->is_problem(409, 'recoverable', 'PUT');
    is $put->json->{purge_at}, $purge_at, 'tells until when';
    my ($link) = grep { $_->{rel} eq 'recover' } @{ $put->json->{links} };
    is $link->{method}, 'POST', 'and links to how it comes back';
    is $admin->path_of($link->{href}), '/v2.0/life/action/recover', 'there';

    my $recover = $admin->request($link->{method}, $link->{href});
    $recover->is_status(204, 'recovered');
    is_deeply [map { "$_->{verb} $_->{tenant}" } $instance->changes_of($recover)], ['recovered life'], 'one change row';
    my $back = $admin->get('/v2.0/life');
    is $back->etag, $tenant->etag, 'its etag is the one before';
    is_deeply tenant($back), tenant($tenant), 'all of it is';
    is $admin->get("/v2.0/life/$_")->text, $before{$_}, "$_ is as it was" for sort keys %before;
    my $moved = $admin->get('/v2.0/life/persistentvolumes/moved');
    $moved->is_status(301, 'forwards are back');
    is $admin->path_of($moved->location), '/v2.0/refuge/persistentvolumes/moved', 'and lead where they led';
};

# A lock holds against users of the tenant. The operator deletes the tenant as a whole, and can recover it.
subtest 'deletion with what is locked' => sub {
    $admin->make_tenant('locks');
    my $disk = '/v2.0/locks/persistentvolumes/disk';
    $admin->put($disk, json => { metadata => { locked => JSON::PP::true() } })->is_status(201);
    $admin->delete($disk)->is_problem(409, 'locked', 'it is not deleted by itself');
    $admin->delete('/v2.0/locks')->is_status(204, 'but with its tenant');
    $admin->get($disk)->is_problem(410, 'gone');
    $admin->post('/v2.0/locks/action/recover')->is_status(204);
    ok $admin->get($disk)->json->{metadata}{locked}, 'and back with it, locked';
};

subtest 'after the purge time' => sub {
    $admin->make_tenant('late');
    my $uid = $instance->sql_value(q(SELECT HEX(uid) FROM tenants WHERE name = 'late'));
    $admin->delete('/v2.0/late')->is_status(204);
    $instance->sql(q(UPDATE tenants SET purge_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE name = 'late'));
    $admin->get('/v2.0/late')->is_problem(404, 'not_found', 'it is no more');
    $admin->delete('/v2.0/late')->is_problem(404, 'not_found', 'for no one');
    $admin->post('/v2.0/late/action/recover')->is_problem(404, 'not_found', 'not even for recovery');
    $admin->put('/v2.0/late')->is_status(201, 'and its id is free');
    isnt $instance->sql_value(q(SELECT HEX(uid) FROM tenants WHERE name = 'late' AND live = 1)), $uid, 'for another tenant';
};

subtest 'the list' => sub {
    $admin->make_tenant("list$_") for 'a' .. 'g';
    my $all = $admin->get('/v2.0?limit=1000')->json->{tenants};
    my @ids = map { $_->{id} } @$all;
    is_deeply [@ids], [sort @ids], 'in the order of ids';
    ok !(grep { $_->{state} ne 'active' && !$_->{purge_at} } @$all), 'deleted ones tell when they go';
    my @pages = $admin->pages('/v2.0?limit=3');
    is_deeply [map { $_->{id} } map { @{ $_->json->{tenants} } } @pages], \@ids, 'page by page it is the same';
    is scalar @pages, int((@ids + 2) / 3), 'in pages of three';
    my $deleted = $admin->get('/v2.0?state=deleted')->json->{tenants};
    is_deeply [map { $_->{id} } @$deleted], ['cond'], 'deleted ones alone';
    ok $deleted->[0]{purge_at}, 'with their purge time';
    $admin->make_tenant("dele$_") for 1 .. 4;
    $admin->delete("/v2.0/dele$_")->is_status(204) for 1 .. 4;
    @pages = map { [map { $_->{id} } @{ $_->json->{tenants} }] } $admin->pages('/v2.0?state=deleted&limit=2');
    is_deeply \@pages, [['cond', 'dele1'], ['dele2', 'dele3'], ['dele4']], 'deleted ones page by page: the next page is of deleted ones, too';
    my $active = $admin->get('/v2.0?state=active&limit=1000')->json->{tenants};
    ok !(grep { $_->{state} ne 'active' } @$active), 'active ones alone';
    my $xml = $admin->get('/v1.0?limit=2&marker=lista', accept => 'application/xml')->xml;
    is $xml->{name}, 'accounts', 'in XML, in the other words';
    is_deeply [map { $_->{attributes}{id} } Tenure::XML::children($xml, 'account')], ['listb', 'listc'], 'behind the marker';
    ok $xml->{attributes}{next}, 'with the next page\'s address';
};

subtest 'creators at once' => sub {
    my @pids;
    pipe my $in, my $out or die "pipe: $!";
    for my $n (1 .. 8) {
        my $pid = fork // die "fork: $!";
        if ($pid == 0) {
            my $put = $admin->put('/v2.0/race');
            syswrite $out, $put->status . "\n";
            POSIX::_exit(0);
        }
        push @pids, $pid;
    }
    close $out;
    waitpid $_, 0 for @pids;
    my @status = sort map { chomp; $_ } readline $in;
    is_deeply \@status, [201, (202) x 7], 'one makes it, all others find it';
    is $instance->sql_value(q(SELECT COUNT(*) FROM tenants WHERE name = 'race')), 1, 'there is one';
    is $instance->sql_value(q(SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id WHERE t.name = 'race')), 1,
        'with one namespace';
};

done_testing;
