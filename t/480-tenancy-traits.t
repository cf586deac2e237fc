#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Traits of resources: set, added, taken away, under etags; shown with the resource; what lists find by them.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;
use Time::HiRes ();

use Tenure::Instance;
use Tenure::Parallel;

my $instance = Tenure::Instance->start(workers => 4);
my $admin    = $instance->admin;
my $ann      = $instance->service('ann:acme:member');
my $reader   = $instance->service('rob:acme:reader');
$admin->make_tenant($_) for 'acme', 'other';

my $pv = '/v2.0/acme/persistentvolumes';
$admin->make("$pv/$_", { n => 1 }) for 'one', 'two', 'three', 'four';

sub traits_of { return $ann->get("$_[0]/traits")->json->{traits} }

sub is_traits {
    my ($path, @want) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return is_deeply traits_of($path), \@want, "$path: @want";
}

subtest 'all at once' => sub {
    my $none = $ann->get("$pv/one/traits");
    $none->is_status(200, 'no traits yet');
    is_deeply $none->json, { traits => [] }, 'is an empty list';
    is $none->etag, $ann->get("$pv/one")->etag, "with the resource's etag";
    my $put = $ann->put("$pv/one/traits",
        json => { traits => [ 'STORAGE_DISK_SSD', 'HW_CPU_X86_AVX', 'STORAGE_DISK_SSD' ] });
    $put->is_status(200, 'two of them, one twice');
    is_deeply $put->json, { traits => [ 'HW_CPU_X86_AVX', 'STORAGE_DISK_SSD' ] }, 'in order, each once';
    isnt $put->etag, $none->etag, 'are a change';
    is_deeply [ map { "$_->{verb} $_->{name} $_->{revision}" } $instance->changes_of($put) ], ['updated one 2'],
        'with one change row';
    my $again = $ann->put("$pv/one/traits", json => { traits => [ 'HW_CPU_X86_AVX', 'STORAGE_DISK_SSD' ] });
    is $again->etag, $put->etag, 'the same again is none';
    is scalar($instance->changes_of($again)), 0, 'and leaves no change row';
    my $whole = $ann->get("$pv/one");
    is_deeply $whole->json->{metadata}{traits}, [ 'HW_CPU_X86_AVX', 'STORAGE_DISK_SSD' ], 'the resource shows them';
    is $whole->json->{n}, 1, 'beside its content';
    ok !exists $ann->get("$pv/two")->json->{metadata}{traits}, 'and nothing where there are none';
    is_deeply $ann->put("$pv/one/traits", json => { traits => [] })->json, { traits => [] }, 'none at all';
    is_traits("$pv/one");
};

subtest 'one by one' => sub {
    my $before = $ann->get("$pv/two")->etag;
    my $add    = $ann->put("$pv/two/traits/HW_CPU_X86_AVX");
    $add->is_status(204, 'added');
    isnt $add->etag, $before, 'with the new etag';
    is $ann->put("$pv/two/traits/HW_CPU_X86_AVX")->etag, $add->etag, 'again: no change';
    $ann->put("$pv/two/traits/STORAGE_DISK_SSD")->is_status(204);
    is_traits("$pv/two", 'HW_CPU_X86_AVX', 'STORAGE_DISK_SSD');
    $ann->delete("$pv/two/traits/HW_CPU_X86_AVX")->is_status(204, 'taken away');
    $ann->delete("$pv/two/traits/HW_CPU_X86_AVX")->is_problem(404, 'not-found', 'once');
    is_traits("$pv/two", 'STORAGE_DISK_SSD');
    is $ann->get("$pv/two")->etag, $ann->get("$pv/two/traits")->etag, 'one etag for both';
};

subtest 'etags guard them' => sub {
    my $etag = $ann->get("$pv/two/traits")->etag;
    $ann->put("$pv/two/traits/HW_CPU_X86_SSE", if_match => $etag)->is_status(204, 'the current one');
    my $stale = $ann->put("$pv/two/traits", json => { traits => [] }, if_match => $etag);
    $stale->is_problem(412, 'stale', 'one that is old');
    is $stale->etag, $ann->get("$pv/two")->etag, 'tells the current one';
    is_deeply $stale->json->{fields}, ['/metadata/traits'], 'and what has changed';
    $ann->put("$pv/two/traits/HW_CPU_X86_$_", if_match => $etag)->is_problem(412, 'stale') for 'SSE', 'AVX';
    $ann->delete("$pv/two/traits/HW_CPU_X86_SSE", if_match => $etag)->is_problem(412, 'stale');
    $ann->put("$pv/two", json => { n => 5 }, if_match => $etag)->is_problem(412, 'stale', "its content, too");
    $ann->get("$pv/two/traits", if_none_match => $stale->etag)->is_status(304, 'not modified');
    $admin->patch('/v2.0/other', { tenant => { etag_required => JSON::PP::true } })->is_status(200);
    $admin->make('/v2.0/other/persistentvolumes/pv');
    $admin->put('/v2.0/other/persistentvolumes/pv/traits/HW_CPU_X86_SSE')->is_problem(428, 'precondition-required');
    $admin->put('/v2.0/other/persistentvolumes/pv/traits/HW_CPU_X86_SSE',
        if_match => $admin->get('/v2.0/other/persistentvolumes/pv')->etag)->is_status(204);
};

subtest 'a write leaves them alone' => sub {
    my @traits = @{ traits_of("$pv/two") };
    my $doc    = $ann->get("$pv/two")->json;
    $doc->{n} = 7;
    $doc->{metadata}{traits} = ['HW_CPU_X86_MMX'];
    my $put = $ann->put("$pv/two", json => $doc);
    $put->is_status(200, 'a document that has others in it');
    is_deeply $put->json->{metadata}{traits}, \@traits, 'they are the server\'s';
    $ann->put("$pv/two", json => { n => 8 })->is_status(200);
    $ann->patch("$pv/two", { metadata => { traits => undef, labels => { a => 'b' } } })->is_status(200);
    is_traits("$pv/two", @traits);
    is $ann->get("$pv/two")->json->{metadata}{labels}{a}, 'b', 'the rest of the patch counts';
};

subtest 'namespaces and what is in them' => sub {
    my $c = '/v2.0/acme/namespaces/default/configmaps/c';
    $admin->make($c);
    $ann->put("$c/traits", json => { traits => ['HW_CPU_X86_AVX'] })->is_status(200);
    $ann->put("$c/traits/HW_CPU_X86_SSE")->is_status(204);
    $ann->delete("$c/traits/HW_CPU_X86_AVX")->is_status(204);
    is_traits($c, 'HW_CPU_X86_SSE');
    $ann->put('/v2.0/acme/namespaces/default/traits/HW_CPU_X86_AVX')->is_status(204, 'a namespace itself');
    is_traits('/v2.0/acme/namespaces/default', 'HW_CPU_X86_AVX');
    my $found = $ann->get('/v2.0/acme/namespaces?required=HW_CPU_X86_AVX')->json->{resources};
    is_deeply [ map { $_->{metadata}{name} } @$found ], ['default'], 'is found';
    $ann->delete('/v2.0/acme/namespaces/default/traits/HW_CPU_X86_AVX')->is_status(204);
    $ann->get('/v2.0/acme/configmaps/c/traits')->is_problem(404, 'not-found', 'a config map stands in a namespace');
    $found = $ann->get('/v2.0/acme/configmaps?required=HW_CPU_X86_SSE')->json->{resources};
    is scalar(@$found), 1, 'found over all of them';
};

subtest 'XML' => sub {
    my $xml = '<traits><trait>HW_CPU_X86_AVX</trait><trait>STORAGE_DISK_SSD</trait></traits>';
    my $put = $ann->put("$pv/four/traits", xml => $xml, accept => 'application/xml');
    $put->is_status(200);
    is $put->text =~ s/<\?.*?\?>|\s+//gsr, $xml, 'both ways';
    is $ann->put("$pv/four/traits", xml => '<traits/>')->status, 200, 'empty';
    is_traits("$pv/four");
};

subtest 'bad requests' => sub {
    my $before = $ann->get("$pv/one")->etag;
    my $bad    = $ann->put("$pv/one/traits", json => { traits => [ 'HW_CPU_X86_AVX', 'HW_NOPE', 'CUSTOM_NOPE' ] });
    $bad->is_problem(400, 'bad-parameter', 'unknown ones');
    like $bad->detail, qr/: CUSTOM_NOPE, HW_NOPE\z/, 'are named';
    $ann->put("$pv/one/traits", json => $_)->is_problem(400) for { traits => ['lower'] }, { traits => [''] },
        { traits => 'HW_CPU_X86_AVX' }, { traits => [1] }, {}, [], { traits => [], more => 1 }, { traits => [undef] };
    $ann->put("$pv/one/traits", json => { traits => [ 'X' x 256 ] })->is_problem(400);
    $ann->put("$pv/one/traits", body => '', type => 'application/json')->is_problem(400, 'bad-document');
    $ann->put("$pv/one/traits/$_")->is_problem(400, undef, $_)
        for 'lower', 'HW%20A', '%7E', 'HW_%C3%84', 'X' x 256, 'HW_NOPE', 'CUSTOM_NOPE';
    $ann->get("$pv/none/traits")->is_problem(404, 'not-found');
    $ann->put("$pv/none/traits/HW_CPU_X86_AVX")->is_problem(404, 'not-found');
    $ann->put("/v2.0/acme/nonesuch/x/traits/HW_CPU_X86_AVX")->is_problem(404, 'not-found');
    $ann->post("$pv/one/traits")->is_status(405);
    is $ann->get("$pv/one")->etag, $before, 'nothing changed';
    is $instance->sql_value(q(SELECT COUNT(*) FROM traits WHERE name LIKE '%NOPE%')), 0, 'nothing was made';
};

subtest 'who may' => sub {
    $reader->get("$pv/two/traits")->is_status(200, 'a reader reads');
    $reader->put("$pv/two/traits/HW_CPU_X86_AVX")->is_problem(403, 'forbidden', 'and writes not');
    $reader->delete("$pv/two/traits/STORAGE_DISK_SSD")->is_problem(403);
    my $eve = $instance->service('eve:other:member');
    $eve->get("$pv/two/traits")->is_problem(404, 'not-found', 'others see nothing');
    $eve->put("$pv/two/traits/HW_CPU_X86_AVX")->is_problem(404, 'not-found');
    $admin->put("$pv/two/traits/CUSTOM_GOLD")->is_status(204, 'an operator makes a custom trait');
    $ann->put("$pv/three/traits/CUSTOM_GOLD")->is_status(204, 'which others then have');
    $admin->put("$pv/two/traits/HW_NOPE")->is_problem(400, 'bad-parameter', 'but no standard one');
};

sub found {
    my ($query) = @_;
    my $response = $ann->get("$pv?$query");
    $response->status == 200 or return $response->describe;
    return join ' ', map { $_->{metadata}{name} } @{ $response->json->{resources} };
}

subtest 'found by traits' => sub {
    my %of = (one => ['HW_CPU_X86_AVX'], two => [ 'HW_CPU_X86_AVX', 'STORAGE_DISK_SSD', 'CUSTOM_GOLD' ],
        three => [ 'STORAGE_DISK_HDD', 'CUSTOM_GOLD' ], four => []);
    $admin->put("$pv/$_/traits", json => { traits => $of{$_} })->is_status(200) for sort keys %of;
    is found('required=HW_CPU_X86_AVX'), 'one two', 'required';
    is found('required=HW_CPU_X86_AVX,CUSTOM_GOLD'), 'two', 'both';
    is found('required=CUSTOM_GOLD&required=HW_CPU_X86_AVX'), 'two', 'the same said twice';
    is found('required=HW_CPU_X86_AVX,HW_CPU_X86_AVX'), 'one two', 'once is enough';
    is found('required=!HW_CPU_X86_AVX'), 'four three', 'not';
    is found('forbidden=HW_CPU_X86_AVX'), 'four three', 'the same';
    is found('forbidden=HW_CPU_X86_AVX,CUSTOM_GOLD'), 'four', 'none of these';
    is found('required=CUSTOM_GOLD,!HW_CPU_X86_AVX'), 'three', 'one and not the other';
    is found('required=CUSTOM_GOLD&forbidden=STORAGE_DISK_HDD'), 'two', 'the same in two words';
    is found('required=CUSTOM_GOLD,!CUSTOM_GOLD'), '', 'what cannot be';
    is found('required=in:STORAGE_DISK_SSD,STORAGE_DISK_HDD'), 'three two', 'one of these';
    is found('required=in:STORAGE_DISK_SSD,STORAGE_DISK_HDD&required=in:HW_CPU_X86_AVX'), 'two', 'and one of those';
    is found('required=in:STORAGE_DISK_SSD,HW_CPU_X86_AVX&required=!CUSTOM_GOLD'), 'one', 'all together';
    is found('required=HW_CPU_X86_MMX'), '', 'a trait that nobody has';
    for my $query ('required=HW_NOPE', 'forbidden=HW_NOPE', 'required=in:CUSTOM_GOLD,HW_NOPE', 'required=!HW_NOPE') {
        my $response = $ann->get("$pv?$query");
        $response->is_problem(400, 'bad-parameter', "$query: unknown");
        like $response->detail, qr/HW_NOPE\z/, 'named';
    }
    $ann->get("$pv?$_")->is_problem(400, 'bad-parameter', $_)
        for 'required=', 'required=in:', 'required=!', 'forbidden=', 'required=HW_CPU_X86_AVX,',
        'forbidden=!CUSTOM_GOLD',
        'forbidden=in:CUSTOM_GOLD', 'required=a', 'required=%27%20OR%201', 'required=CUSTOM_GOLD&deleted=true',
        join '&', ('required=in:CUSTOM_GOLD') x 5;
};

subtest 'page by page' => sub {
    my @names = map { $_->{metadata}{name} }
        $ann->list("$pv?required=in:HW_CPU_X86_AVX,CUSTOM_GOLD&forbidden=HW_CPU_X86_MMX&limit=1", 'resources');
    is "@names", 'one three two', 'each link keeps the filter';
};

# A page's next has a marker beside all that was asked for, so that must be no value too many.
subtest 'as often as a request may repeat it' => sub {
    my $often = join '&', map { "required=$_" } ('CUSTOM_GOLD', '!HW_CPU_X86_MMX') x 32;
    my @names = map { $_->{metadata}{name} } $ann->list("$pv?limit=1&$often&forbidden=HW_CPU_X86_MMX", 'resources');
    is "@names", 'three two', 'each link can be followed';
    my $more = $ann->get("$pv?limit=1&$often&" . join '&', ('forbidden=HW_CPU_X86_MMX') x 3);
    $more->is_problem(400, 'bad-parameter', 'once more is too often');
    like $more->detail, qr/parameter forbidden is repeated too often/, '... as the answer says';
};

subtest 'what is gone or moved' => sub {
    $ann->delete("$pv/one")->is_status(204);
    is found('required=HW_CPU_X86_AVX'), 'two', 'a deleted one is not found';
    $ann->get("$pv/one/traits")->is_problem(410, 'gone');
    $ann->put("$pv/one/traits/CUSTOM_GOLD")->is_problem(410, 'gone');
    $admin->post("$pv/two/action/move?dest=other")->is_status(303);
    my $moved = $admin->get("$pv/two/traits");
    $moved->is_status(301, 'moved');
    like $moved->location, qr{/v2.0/other/persistentvolumes/two/traits\z}, 'to its traits there';
    $ann->get("$pv/two/traits")->is_problem(404, 'not-found', 'for who may not know, nothing');
    is scalar(@{ $admin->get('/v2.0/other/persistentvolumes/two/traits')->json->{traits} }), 3, 'they went along';
    $ann->post("$pv/one/action/recover")->is_status(204);
    is found('required=HW_CPU_X86_AVX'), 'one', 'recovered with its traits';
};

subtest 'two at once' => sub {
    $ann->put("$pv/four/traits", json => { traits => [] });
    my @names = map { sprintf 'CUSTOM_AT_ONCE_%02d', $_ } 1 .. 60;
    my @told  = Tenure::Parallel::run(4, sub {
        my ($client) = @_;
        return join ' ', map { $admin->put("$pv/" . ('three', 'four')[ $client % 2 ] . "/traits/$_")->status }
            $client < 2 ? @names : reverse @names;
    });
    is_deeply \@told, [ (join ' ', map { 204 } @names) x 4 ], 'four make and add the same' or diag join "\n", @told;
    is_traits("$pv/four", @names);
    is $instance->sql_value(q(SELECT COUNT(*) FROM traits WHERE name LIKE 'CUSTOM_AT_ONCE%')), 60, 'each is there once';
    is $instance->sql_value(q(SELECT COUNT(*) FROM resource_traits x JOIN traits t ON t.id = x.trait_id WHERE t.name LIKE 'CUSTOM_AT_ONCE%')),
        120, 'and found at both';
};

subtest 'a catalogue that changes under the workers' => sub {
    my ($code, $text) = $instance->manage('os-traits', 'sync', '--from', do {
        my $path = $instance->dir . '/newer';
        Tenure::Instance::write_file($path, "HW_BRAND_NEW\n");
        $path;
    });
    is $code, 0, 'a newer list' or diag $text;
    is found('required=HW_BRAND_NEW'), '', 'is known at once';
    $ann->put("$pv/four/traits/HW_BRAND_NEW")->is_status(204);
    is found('required=HW_BRAND_NEW'), 'four', 'by all';
    $ann->delete("$pv/four/traits/HW_BRAND_NEW")->is_status(204);
    ($code, $text) = $instance->manage('os-traits', 'sync', '--prune', '--yes');
    like $text, qr/^removed HW_BRAND_NEW$/m, 'pruned';
    Time::HiRes::sleep(1);
    $ann->get("$pv?required=HW_BRAND_NEW")->is_problem(400, 'bad-parameter', 'no worker knows it any more') for 1 .. 8;
    $ann->put("$pv/four/traits/HW_BRAND_NEW")->is_problem(400, 'bad-parameter');
    ($code, $text) = $instance->manage('doctor');
    is $code, 0, 'all is sound' or diag $text;
};

done_testing();
