#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# JSON that is hostile, odd, or exact: what must not pass does not, and what passes comes back as it was.
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
my $url = '/v2.0/t1/persistentvolumes/j';

sub put { my ($text) = @_; return $admin->put($url, body => $text, type => 'application/json') }

# The text of member "v" as GET answers it.
sub stored { my ($v) = $admin->get($url)->text =~ /,"v":(.*)\}\z/s; return $v }

subtest 'refused' => sub {
    put('{"v":0}');
    my $before = $admin->get($url)->text;
    my %bad = (
        'duplicate names'           => '{"a":1,"a":2}',
        'duplicates, one escaped'   => '{"a":1,"\u0061":2}',
        'duplicates, deep'          => '{"x":[{"a":1,"a":1}]}',
        'NaN'                       => '{"a":NaN}',
        'Infinity'                  => '{"a":Infinity}',
        '-Infinity'                 => '{"a":-Infinity}',
        'above 2^64-1'              => '{"a":18446744073709551616}',
        'below -2^63'               => '{"a":-9223372036854775809}',
        'overflows a double'        => '{"a":1e999}',
        'leading zero'              => '{"a":01}',
        'leading plus'              => '{"a":+1}',
        'no digits behind the dot'  => '{"a":1.}',
        'hexadecimal'               => '{"a":0x10}',
        'NUL in a name'             => '{"a\u0000b":1}',
        'overlong UTF-8'            => "{\"a\":\"\xc0\xaf\"}",
        'a surrogate in UTF-8'      => "{\"a\":\"\xed\xa0\x80\"}",
        'no UTF-8'                  => "{\"a\":\"\xff\"}",
        'a cut character'           => "{\"a\":\"\xe2\x88\"}",
        'a lone high surrogate'     => '{"a":"\ud800"}',
        'a lone low surrogate'      => '{"a":"\udc00"}',
        'surrogates the wrong way'  => '{"a":"\udc00\ud800"}',
        'a bare control character'  => "{\"a\":\"x\ny\"}",
        'a bare NUL'                => "{\"a\":\"x\0y\"}",
        'NUL behind the value'      => "{\"a\":1}\0",
        'something behind it'       => '{"a":1} x',
        'two values'                => '{"a":1}{"a":2}',
        'truncated'                 => '{"a":[1,2',
        'truncated in a string'     => '{"a":"x',
        'a trailing comma'          => '{"a":1,}',
        'single quotes'             => "{'a':1}",
        'no quotes'                 => '{a:1}',
        'a comment'                 => '{"a":1/**/}',
        'a byte order mark'         => "\xef\xbb\xbf{}",
        'UTF-16'                    => "{\0}\0",
        'an unknown escape'         => '{"a":"\x41"}',
        'a half escape'             => '{"a":"\u12"}',
        'blanks alone'              => '   ',
        'a word'                    => 'nothing',
        'too deep'                  => '{"a":' . '[' x 64 . ']' x 64 . '}',
        'very deep'                 => '[' x 100_000,
        'very many values'          => '[' . '1,' x 500_000 . '1]',
    );
    for my $what (sort keys %bad) {
        my $answer = put($bad{$what});
        $answer->is_problem(400, 'bad_document', $what);
        ok length $answer->detail, 'with a reason';
    }
    is $admin->get($url)->text, $before, 'nothing changed';
    put("{\"a\":\n  [1,\n   NaN]}")->is_problem(400);
    like put("{\"a\":\n  [1,\n   NaN]}")->detail, qr/line 3/, 'the reason names the line';
};

subtest 'numbers are exact' => sub {
    for my $number (qw(0 -0 1 -1 1.0 1.50 1e3 1E3 1e+3 1e-3 0.1 0.10000000000000000001 123456789012345678901234567890.5
        9007199254740993 9223372036854775807 9223372036854775808 18446744073709551615 -9223372036854775808 1.7976931348623157e308
        5e-324 -0.0 3.14159265358979323846264338327950288)) {
        put(qq({"v":$number}))->status =~ /\A20[01]\z/ or fail($number);
        is stored(), $number, "number $number";
    }
};

subtest 'strings are exact' => sub {
    my %strings = (
        'every ASCII character' => join('', map { chr } 0x20 .. 0x7e) =~ s/(["\\])/\\$1/gr,
        'four-byte characters'  => "\xf0\x9f\x8c\x8d",
        'escaped surrogates'    => '\ud83c\udf0d',
        'NUL in a value'        => 'a\u0000b',
        'control characters'    => '\u0001\u001f\b\f\n\r\t',
        'a slash, escaped'      => '\/',
        'U+2028'                => "\xe2\x80\xa8",
        'no normal form'        => "e\xcc\x81 \xc3\xa9",
        'a noncharacter'        => "\xef\xbf\xbf",
        'empty'                 => '',
        'blanks at the ends'    => '  x  ',
        'markup'                => '<script>&amp;]]></script>',
    );
    my $codec = JSON::PP->new->utf8->allow_nonref;
    for my $what (sort keys %strings) {
        my $text = qq("$strings{$what}");
        put(qq({"v":$text}))->status =~ /\A20[01]\z/ or fail($what);
        is $codec->decode(stored()), $codec->decode($text), $what;
    }
};

subtest 'structures are exact' => sub {
    my @values = ('[]', '{}', '[[],{},null,true,false,""]', '{"b":1,"a":2,"":3," ":4}', '[' x 30 . ']' x 30, '{"\ud83c\udf0d":1}', '{"__proto__":1}');
    for my $value (@values) {
        put(qq({"v":$value}))->status =~ /\A20[01]\z/ or fail($value);
        is_deeply(JSON::PP->new->utf8->decode(stored()), JSON::PP->new->utf8->decode($value), $value);
    }
    put('{"v":{"b":1,"a":2}}');
    is stored(), '{"b":1,"a":2}', 'the order of members stays';
    # MariaDB's JSON functions read 31 levels: what is deeper would vanish from searches.
    my $deep = '{"v":' . '[' x 30 . ']' x 30 . '}';
    put($deep)->status =~ /\A20[01]\z/ or fail('as deep as may be');
    is length stored(), 60, 'as deep as may be';
    put('{"v":' . '[' x 31 . ']' x 31 . '}')->is_status(400, 'one level deeper');
    put('{"v":"' . '[' x 200 . '"}')->status =~ /\A20[01]\z/ or fail('brackets in a string are none');
};

subtest 'a change of the text alone is none' => sub {
    my $put = put('{"v":{"a":"\u0041","b":[1]}}');
    my $same = put(qq( { "v" : {"b":[ 1 ],\n"a":"A"} } ));
    is $same->etag, $put->etag, 'blanks, order, escapes mean nothing';
    my $other = put('{"v":{"a":"A","b":[1.0]}}');
    isnt $other->etag, $put->etag, 'but 1 and 1.0 are two texts';
};

subtest 'the same for patches and tenants' => sub {
    $admin->request('PATCH', $url, body => '{"a":1,"a":2}', type => 'application/merge-patch+json')->is_problem(400, 'bad_document');
    $admin->request('PATCH', $url, body => '{"a":18446744073709551616}', type => 'application/merge-patch+json')->is_problem(400);
    $admin->put('/v2.0/t1', body => '{"tenant":{},"tenant":{}}', type => 'application/json')->is_problem(400, 'bad_document');
    $admin->put('/v2.0/t1', body => "{\"tenant\":{\"metadata\":{\"a\":\"\xc0\x80\"}}}", type => 'application/json')->is_problem(400);
    $admin->put('/v2.0/t1', body => '{"tenant":{"metadata":{"a":"x\u0000y"}}}', type => 'application/json')->is_status(202, 'NUL in a value is text');
    is $admin->head('/v2.0/t1')->header('X-Tenant-Meta-a'), 'x%00y', 'and harmless in a header';
    $admin->get('/v2.0/t1', accept => 'application/xml')->is_status(200, 'and in XML');
};

done_testing;
