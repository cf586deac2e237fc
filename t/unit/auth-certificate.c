// SPDX-License-Identifier: Apache-2.0
// What a client's certificate says, and whom it stands for by the rules of the settings.
#include "base/base.h"

#include <openssl/evp.h>

#include "auth/certificate_map.h"
#include "base/buf.h"
#include "base/crypto/certificate.h"
#include "base/digest.h"
#include "base/pool.h"
#include "tap.h"

// Subject C=DE, O="Example, Inc", OU=red, OU=two, CN=J\303\266rg "ann" + b=c; alternative names ann@red.example.org and
// bob@blue.example.org, Web.red.svc.example.org and *.red.svc.example.org, spiffe://example.org/ns/red/sa/ann, and the UPN
// ann@red.example.org.
static const char base64[] =
	"MIICkjCCAjegAwIBAgIUI3bsLGVl7SoHEbp9hOJiUOgTN/UwCgYIKoZIzj0EAwIw"
	"XDELMAkGA1UEBhMCREUxFTATBgNVBAoMDEV4YW1wbGUsIEluYzEMMAoGA1UECwwD"
	"cmVkMQwwCgYDVQQLDAN0d28xGjAYBgNVBAMMEUrDtnJnICJhbm4iICsgYj1jMCAX"
	"DTI2MTEyMzAwMzkxN1oYDzIxMjYxMDMwMDAzOTE3WjBcMQswCQYDVQQGEwJERTEV"
	"MBMGA1UECgwMRXhhbXBsZSwgSW5jMQwwCgYDVQQLDANyZWQxDDAKBgNVBAsMA3R3"
	"bzEaMBgGA1UEAwwRSsO2cmcgImFubiIgKyBiPWMwWTATBgcqhkjOPQIBBggqhkjO"
	"PQMBBwNCAAREm+adMBckmVxuyUA3f02yAydzJdLJljeR+KJ1k9HjGVVJ81+3m6OL"
	"3y5gcAFCsEysKrGplEfwhqwA2Ks0NK1ao4HUMIHRMIGvBgNVHREEgacwgaSBE2Fu"
	"bkByZWQuZXhhbXBsZS5vcmeBFGJvYkBibHVlLmV4YW1wbGUub3JnghdXZWIucmVk"
	"LnN2Yy5leGFtcGxlLm9yZ4IVKi5yZWQuc3ZjLmV4YW1wbGUub3JnhiJzcGlmZmU6"
	"Ly9leGFtcGxlLm9yZy9ucy9yZWQvc2EvYW5uoCMGCisGAQQBgjcUAgOgFQwTYW5u"
	"QHJlZC5leGFtcGxlLm9yZzAdBgNVHQ4EFgQUy8+X6WeHLZZSmX/KsDQqGUW5z/ow"
	"CgYIKoZIzj0EAwIDSQAwRgIhAOAxuXjSAbyjJ6ecozipTye3DMx/QNvf3fteWU+e"
	"f0sqAiEAq0iB0lJWjbu1nT1Gj9UC+zRbLEpxO1gByi27qQUSxuA=";

static struct pool *pool;

static struct str pem_of(struct str der)
{
	struct buf pem = buf_new(pool, 2048);

	BUF_LIT(&pem, "-----BEGIN CERTIFICATE-----\n");
	buf_add_base64(&pem, der.p, der.n);
	BUF_LIT(&pem, "\n-----END CERTIFICATE-----\n");
	return buf_str(&pem);
}

static struct str original(void)
{
	static unsigned char der[2048];
	size_t n = sizeof(base64) - 1, padding = 0;

	while (base64[n - 1 - padding] == '=')
		padding++;
	if (EVP_DecodeBlock(der, (const unsigned char *)base64, (int)n) <= 0)
		bail_out("the example can't be read");
	return str_n((const char *)der, n / 4 * 3 - padding);
}

// The certificate with these bytes in place of others, everywhere.
static struct str changed(struct str from, struct str to)
{
	struct str der = str_dup(pool, original());
	char *at = (char *)(uintptr_t)der.p;

	if (from.n != to.n)
		bail_out("another length");
	for (size_t i = 0; i + from.n <= der.n; i++) {
		if (memcmp(at + i, from.p, from.n) == 0)
			memcpy(at + i, to.p, to.n);
	}
	return pem_of(der);
}

static struct certificate certificate;

static const char *read_changed(struct str from, struct str to)
{
	return certificate_read(pool, changed(from, to), &certificate);
}

static void test_names(void)
{
	static const struct { enum certificate_kind kind; const char *attribute, *value; } names[] = {
		{ CERTIFICATE_SUBJECT, "C", "DE" }, { CERTIFICATE_SUBJECT, "O", "Example, Inc" }, { CERTIFICATE_SUBJECT, "OU", "red" },
		{ CERTIFICATE_SUBJECT, "OU", "two" }, { CERTIFICATE_SUBJECT, "CN", "J\303\266rg \"ann\" + b=c" },
		{ CERTIFICATE_EMAIL, "", "ann@red.example.org" }, { CERTIFICATE_EMAIL, "", "bob@blue.example.org" },
		{ CERTIFICATE_DNS, "", "web.red.svc.example.org" }, { CERTIFICATE_DNS, "", "*.red.svc.example.org" },
		{ CERTIFICATE_URI, "", "spiffe://example.org/ns/red/sa/ann" }, { CERTIFICATE_UPN, "", "ann@red.example.org" },
	};

	ok(certificate_read(pool, pem_of(original()), &certificate) == NULL, "the certificate is read");
	is_int((int64_t)certificate.n, COUNT_OF(names), "its names");
	for (size_t i = 0; i < COUNT_OF(names) && i < certificate.n; i++) {
		ok(certificate.names[i].kind == names[i].kind && str_eq_c(certificate.names[i].attribute, names[i].attribute) &&
			str_eq_c(certificate.names[i].value, names[i].value), "name %zu: %.*s", i, STR_ARG(certificate.names[i].value));
	}
	ok(certificate.from_us < certificate.until_us, "and its times");
	uint8_t digest[DIGEST_SHA256];
	digest_sha256(original(), digest);
	ok(memcmp(certificate.thumbprint, digest, sizeof(digest)) == 0, "and the hash of the whole of it");
	struct buf folded = buf_new(pool, 4096);
	struct str pem = pem_of(original());
	for (size_t i = 0; i < pem.n; i++) {
		buf_addc(&folded, pem.p[i]);
		if (i > 40 && i + 40 < pem.n && i % 11 == 0)
			BUF_LIT(&folded, "\r\n\t ");
	}
	ok(certificate_read(pool, buf_str(&folded), &certificate) == NULL && certificate.n == COUNT_OF(names), "with white space in it, too");
	ok(memcmp(certificate.thumbprint, digest, sizeof(digest)) == 0, "which is no part of the hash");
}

static void test_hostile(void)
{
	const struct str der = original();
	int read = 0, bad = 0;

	ok(read_changed(STR("ann"), STR("a\0n")) != NULL, "NUL in its names");
	ok(read_changed(STR("bob@"), STR("b\0b@")) != NULL, "NUL in an alternative name");
	ok(read_changed(STR("J\303\266rg"), STR("J\303\303rg")) != NULL, "a subject that is no UTF-8");
	ok(read_changed(STR("bob@"), STR("b b@")) != NULL, "a blank in an address");
	ok(read_changed(STR("bob@"), STR("b\377b@")) != NULL, "an address that is not ASCII");
	for (size_t n = 0; n < der.n; n++)
		read += certificate_read(pool, pem_of(str_part(der, 0, n)), &certificate) == NULL;
	is_int(read, 0, "cut anywhere it is refused");
	ok(certificate_read(pool, pem_of(str_printf(pool, "%.*s", 0, "")), &certificate) != NULL, "nothing");
	struct buf longer = buf_new(pool, 2048);
	buf_add(&longer, der);
	buf_addc(&longer, 'x');
	ok(certificate_read(pool, pem_of(buf_str(&longer)), &certificate) != NULL, "something behind it");
	for (size_t i = 0; i < der.n; i++) {
		char *copy = (char *)(uintptr_t)str_dup(pool, der).p;
		copy[i] = (char)(copy[i] ^ (1 << (i % 8)));
		if (certificate_read(pool, pem_of(str_n(copy, der.n)), &certificate) != NULL)
			continue;
		for (size_t j = 0; j < certificate.n; j++)
			bad += str_find(certificate.names[j].value, '\0', 0) < certificate.names[j].value.n || !str_utf8_ok(certificate.names[j].value, NULL);
	}
	is_int(bad, 0, "whichever bit is changed, no name is other than text");
	ok(certificate_read(pool, STR(""), &certificate) != NULL && certificate_read(pool, STR("-----BEGIN CERTIFICATE-----"), &certificate) != NULL &&
		certificate_read(pool, STR("-----BEGIN CERTIFICATE-----\n====\n-----END CERTIFICATE-----"), &certificate) != NULL &&
		certificate_read(pool, STR("-----BEGIN CERTIFICATE-----\nAAAA!\n-----END CERTIFICATE-----"), &certificate) != NULL, "what is none");
}

// "USER TENANT ROLE" of the certificate by these rules, or why not.
static const char *apply(const char *rules)
{
	struct principal who = { .role = ROLE_NONE };
	char *error;
	struct certificate_map *map = certificate_map_new(str_c(rules), &error);

	if (map == NULL) {
		const char *copy = str_printf(pool, "%s", error).p;
		free(error);
		return copy;
	}
	const char *wrong = certificate_map_apply(map, pool, &certificate, &who);
	certificate_map_free(&map);
	return wrong != NULL ? wrong : str_printf(pool, "%.*s %.*s %s", STR_ARG(who.user), STR_ARG(who.tenant), role_name(who.role)).p;
}

static void test_rules(void)
{
	static const char nobody[] = "the certificate stands for nobody here: no rule of the settings fits its names";
	static const struct { const char *rules, *result; } cases[] = {
		{ "subject C=DE,O=Example%2C%20Inc,OU=red,OU=two,CN=J\303\266rg%20\"{user}\"%20+%20b=c member tenant=t", "ann t member" },
		{ "subject CN=J{user}%20\"ann\"%20+%20b=c,OU={tenant},OU=two,O=Example%2C%20Inc,C=DE reader", "\303\266rg red reader" },
		{ "subject CN={user},OU=red,OU={tenant},O=Example%2C%20Inc,C=DE admin", "J\303\266rg \"ann\" + b=c two admin" },
		{ "subject CN={user},OU={tenant},O=Example%2C%20Inc,C=DE admin", nobody },                  // the second OU
		{ "subject CN={user},OU=two,OU={tenant},O=Example%2C%20Inc,C=DE admin", nobody },           // in another order
		{ "subject CN={user},OU=red,OU={tenant},C=DE admin", nobody },                              // without O
		{ "subject CN={user},OU=red,OU={tenant},O=Example%2C%20Inc,C=DE,L=x admin", nobody },
		{ "subject CN={user},OU=red,OU={tenant},O=Example,C=DE admin", nobody },
		{ "uri spiffe://example.org/ns/{tenant}/sa/{user} member", "ann red member" },
		{ "uri spiffe://example.org/ns/{tenant} member user=x", nobody },                            // not across a slash
		{ "uri spiffe://example.org/{tenant}/{user} member", nobody },
		{ "uri spiffe://example.org/ns/{tenant}/sa/ member user=x", nobody },
		{ "uri spiffe://example.com/ns/{tenant}/sa/{user} member", nobody },
		{ "uri SPIFFE://example.org/ns/{tenant}/sa/{user} member", nobody },
		{ "upn {user}@{tenant}.example.org member", "ann red member" },
		{ "email {user}@red.example.org member tenant=red", "ann red member" },
		{ "email {user}@{tenant}.example.org member", "the certificate has several names that one rule fits in different ways, so it is not clear "
			"whom it stands for" },
		{ "dns web.{tenant}.svc.example.org member user=web", "web red member" },
		{ "dns {user}.{tenant}.svc.example.org member", "web red member" },                        // not the wildcard
		{ "dns {user}.svc.example.org member tenant=t", nobody },                                   // one label
		{ "email x@example.org operator user=x; uri spiffe://example.org/ns/red/sa/{user} operator", "ann  operator" },
		{ "# a comment; subject is not one\r\n\n uri  spiffe://example.org/ns/red/sa/{user}  reader  tenant=a%20b \n", "ann a b reader" },
	};
	static const char *const wrong[] = {
		"", " ;; \n# x", "uri", "uri x", "uri {user} boss tenant=t", "ip {user} member tenant=t", "uri {user}{tenant} member", "uri {user member tenant=t",
		"uri {x}/{user} member tenant=t", "uri %zz{user} member tenant=t", "uri %4{user} member tenant=t", "uri {user} member", "uri {tenant} member",
		"uri {user}/{user} member tenant=t", "uri {user} member tenant=t tenant=u", "uri {user}/{tenant} member tenant=t", "uri {user}/{tenant} operator",
		"uri {user} member user=x tenant=t", "uri {user} operator tenant=t", "uri {user} member tenant=", "uri {user} member group=t", "uri {user} member t",
		"uri {user} member tenant=a%00b", "subject {user} member tenant=t", "subject CN= member user=u tenant=t", "subject ={user} member tenant=t",
		"subject CN={user},,O=x member tenant=t", "uri {user} member tenant=t a b c d",
		"subject A={user},B=1,C=1,D=1,E=1,F=1,G=1,H=1,I=1,J=1,K=1,L=1,M=1,N=1,O=1,P=1,Q=1 member tenant=t",
	};

	if (certificate_read(pool, pem_of(original()), &certificate) != NULL)
		bail_out("the example can't be read");
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		is_str(str_c(apply(cases[i].rules)), cases[i].result, "%s", cases[i].rules);
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		ok(strncmp(apply(wrong[i]), "[certificate] map: ", 19) == 0, "no rule: %s", wrong[i]);
}

int main(void)
{
	pool = pool_new();
	test_names();
	test_hostile();
	test_rules();
	pool_free(&pool);
	return done_testing();
}
