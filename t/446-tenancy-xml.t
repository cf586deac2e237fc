#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# XML: resources in the form of fn:json-to-xml round-trip; hostile documents are refused.
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
my $url   = '/v2.0/t1/persistentvolumes/x';
my $xmlns = 'xmlns="http://www.w3.org/2005/xpath-functions"';

sub put { my ($xml) = @_; return $admin->put($url, xml => $xml) }

subtest 'JSON to XML and back' => sub {
    my @texts = ('{"a":[1,2.50,-3e5,true,false,null,"",{}],"b":{"c":"d"}}', '{"text":"<>&\"\' ]]> \u0001 \u0000 \ud83c\udf0d","\u0001key":1}',
        '{"":{"":""}," ":[[[]]]}', '{"big":18446744073709551615,"small":-9223372036854775808,"exact":0.10000000000000000001}',
        '{"lines":"a\r\nb\rc\n\td  "}');
    for my $text (@texts) {
        $admin->put($url, body => $text, type => 'application/json')->status =~ /\A20[01]\z/ or fail($text);
        my $json = $admin->get($url);
        my $xml  = $admin->get($url, accept => 'application/xml');
        is $xml->type, 'application/xml', $text;
        is $xml->xml->{name}, 'map', 'a map';
        is $xml->xml->{attributes}{xmlns}, 'http://www.w3.org/2005/xpath-functions', 'in the namespace of XPath functions';
        my $back = put($xml->text);
        $back->is_status(200, 'what GET gave can be PUT');
        is $back->etag, $json->etag, 'and is the same document, to the last digit';
        is $admin->get($url)->text, $json->text, 'in JSON as before';
    }
};

subtest 'a resource made in XML' => sub {
    my $put = $admin->put('/v2.0/t1/namespaces/default/configmaps/made', accept => 'application/xml', xml => qq(<?xml version="1.0"?>
        <map $xmlns><map key="metadata"><map key="labels"><string key="l">v &lt; w</string></map></map>
        <array key="list"><number>1</number><string>two</string><null/><boolean>true</boolean></array>
        <string key="s">&#x2211;<![CDATA[<&>]]></string></map>));
    $put->is_status(201);
    is $put->type, 'application/xml', 'answered in XML';
    my $json = $admin->get('/v2.0/t1/namespaces/default/configmaps/made')->json;
    is_deeply $json->{metadata}{labels}, { l => 'v < w' }, 'labels';
    is_deeply $json->{list}, [1, 'two', undef, JSON::PP::true()], 'list';
    is $json->{s}, "\x{2211}<&>", 'references and CDATA';
};

subtest 'other ways to write the same' => sub {
    my $want = $admin->put($url, json => { a => 'x', n => 1 })->etag;
    for my $xml ("<map $xmlns><string key=\"a\">x</string><number key=\"n\">1</number></map>",
        q(<map xmlns="urn:any"><string key="a">x</string><number key="n">1</number></map>),
        qq(<j:map xmlns:j="http://www.w3.org/2005/xpath-functions"><j:number key="n"> 1 </j:number><j:string key="a">x</j:string></j:map>),
        qq(<?xml version="1.0" encoding="utf-8" standalone="yes"?><!-- x --><map $xmlns>\n\t<string key='a'>x</string><!-- y --><number key="n">1</number></map>\n),
        qq(<map $xmlns><string key="\\u0061" escaped-key="true">x</string><number key="n">1</number></map>)) {
        my $put = put($xml);
        $put->is_status(200) && is $put->etag, $want, 'is the same';
    }
};

subtest 'refused' => sub {
    my $before = $admin->get($url)->text;
    my $laughs = '<!DOCTYPE map [<!ENTITY a "ha">' . join('', map { "<!ENTITY a$_ \"" . ('&a' . ($_ > 1 ? $_ - 1 : '') . ';') x 10 . '">' } 1 .. 9) . ']>';
    my %bad = (
        'a DOCTYPE'                 => "<!DOCTYPE map><map $xmlns/>",
        'a DOCTYPE with a subset'   => "<!DOCTYPE map [<!ELEMENT map ANY>]><map $xmlns/>",
        'an external entity'        => qq(<!DOCTYPE map [<!ENTITY x SYSTEM "file:///etc/passwd">]><map $xmlns><string key="a">&x;</string></map>),
        'an external DTD'           => qq(<!DOCTYPE map SYSTEM "http://127.0.0.1:1/x.dtd"><map $xmlns/>),
        'a billion laughs'          => "$laughs<map $xmlns><string key=\"a\">&a9;</string></map>",
        'an undefined entity'       => "<map $xmlns><string key=\"a\">&nbsp;</string></map>",
        'NUL in it'                 => "<map $xmlns><string key=\"a\">x\0y</string></map>",
        'NUL behind it'             => "<map $xmlns/>\0",
        'a reference to NUL'        => "<map $xmlns><string key=\"a\">&#0;</string></map>",
        'a control character'       => "<map $xmlns><string key=\"a\">\x01</string></map>",
        'overlong UTF-8'            => "<map $xmlns><string key=\"a\">\xc0\xaf</string></map>",
        'another encoding'          => qq(<?xml version="1.0" encoding="UTF-16"?><map $xmlns/>),
        'not closed'                => "<map $xmlns><string key=\"a\">x</map>",
        'cut off'                   => "<map $xmlns><string key=\"a\">x",
        'two roots'                 => "<map $xmlns/><map $xmlns/>",
        'text at the end'           => "<map $xmlns/>x",
        'text in a map'             => "<map $xmlns>x</map>",
        'no XML'                    => '{"a":1}',
        'blanks'                    => '  ',
        'another element'           => "<map $xmlns><thing key=\"a\"/></map>",
        'no key'                    => "<map $xmlns><string>x</string></map>",
        'a key in an array'         => "<map $xmlns><array key=\"a\"><string key=\"b\">x</string></array></map>",
        'a key twice'               => "<map $xmlns><string key=\"a\">x</string><string key=\"a\">y</string></map>",
        'an attribute too much'     => "<map $xmlns><string key=\"a\" b=\"c\">x</string></map>",
        'no number'                 => "<map $xmlns><number key=\"a\">one</number></map>",
        'NaN'                       => "<map $xmlns><number key=\"a\">NaN</number></map>",
        'too large a number'        => "<map $xmlns><number key=\"a\">18446744073709551616</number></map>",
        'no boolean'                => "<map $xmlns><boolean key=\"a\">yes</boolean></map>",
        'something in null'         => "<map $xmlns><null key=\"a\">x</null></map>",
        'NUL in a key'              => "<map $xmlns><string key=\"a\\u0000\" escaped-key=\"true\">x</string></map>",
        'an array at the top'       => "<array $xmlns/>",
        'too deep'                  => "<map $xmlns><array key=\"a\">" . '<array>' x 64 . '</array>' x 64 . '</array></map>',
        'very deep'                 => "<map $xmlns>" . '<array key="a">' x 20_000,
        'very many elements'        => "<map $xmlns><array key=\"a\">" . '<null/>' x 420_000 . '</array></map>',
    );
    for my $what (sort keys %bad) {
        my $answer = put($bad{$what});
        $answer->is_status(400, $what);
        unlike $answer->text, qr/root:/, 'and nothing of a file comes back' if $what =~ /external/;
    }
    is $admin->get($url)->text, $before, 'nothing changed';
    $admin->put('/v2.0/t1', xml => qq(<!DOCTYPE tenant [<!ENTITY x SYSTEM "file:///etc/passwd">]><tenant><a>&x;</a></tenant>))
        ->is_status(400, 'the same for tenants');
    $admin->put('/v2.0/t1', xml => '<tenant><a>1</a><a>2</a></tenant>')->is_status(400, 'metadata twice');
    $admin->put('/v2.0/t1', xml => '<tenant><a><b/></a></tenant>')->is_status(400, 'metadata with elements');
};

subtest 'metadata whose names are no elements of their own' => sub {
    $admin->put('/v2.0/t1', json => { tenant => { metadata => { entry => 'e', xml => 'x', 'a.b-c_d' => '1' } } })->is_status(202);
    my $xml = $admin->get('/v2.0/t1', accept => 'application/xml');
    my $back = $admin->put('/v2.0/t1', xml => $xml->text);
    $back->is_status(202, 'come back');
    is $back->etag, $xml->etag, 'unchanged';
};

subtest 'metadata with characters that XML cannot hold' => sub {
    for my $version (['v1.0', 'account'], ['v2.0', 'tenant']) {
        my $of    = "/$version->[0]/t1";
        my %value = (a => "x\x{1}y", b => '\\u0001', c => "\\\x{ffff}\r\n", d => "\0");
        $admin->put($of, json => { $version->[1] => { metadata => \%value } })->is_status(202);
        my $xml = $admin->get($of, accept => 'application/xml');
        like $xml->text, qr{<a escaped="true">x\\u0001y</a>\s*<b>\\u0001</b>}, 'stand there escaped';
        my $back = $admin->put($of, xml => $xml->text);
        $back->is_status(202, 'come back');
        is $back->etag, $xml->etag, 'unchanged';
        is_deeply $admin->get($of)->json->{ $version->[1] }{metadata}, \%value, 'as they were';
    }
    $admin->put('/v2.0/t1', xml => '<tenant><a escaped="true">\\x</a></tenant>')->is_status(400, 'no escape of JSON');
    $admin->put('/v2.0/t1', xml => '<tenant><a escaped="maybe">x</a></tenant>')->is_status(400, 'neither true nor false');
};

done_testing;
