// SPDX-License-Identifier: Apache-2.0
// Public keys of issuers of tokens, and their signatures: the examples of RFC 7515 and RFC 8037, and sets that are wrong.
#include "base/base.h"

#include "auth/jwt/jwt_keys.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/pool.h"
#include "tap.h"

#define N "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b" \
	"32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJ" \
	"H7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
#define PAYLOAD "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
#define X "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
#define Y "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
#define RSA_KEY "{\"kty\":\"RSA\",\"n\":\"" N "\",\"e\":\"AQAB\"}"
#define EC_KEY "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" X "\",\"y\":\"" Y "\"}"
#define ED_KEY "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}"

static const struct example {
	const char *source, *keys;
	enum signature_algorithm algorithm;
	const char *data, *signature;
} examples[] = {
	{ "RFC 7515 A.2", "{\"keys\":[" RSA_KEY "]}", SIGNATURE_RS256, "eyJhbGciOiJSUzI1NiJ9." PAYLOAD,
		"cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4"
		"BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqv"
		"hJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw" },
	{ "RFC 7515 A.3", "{\"keys\":[" EC_KEY "]}", SIGNATURE_ES256, "eyJhbGciOiJFUzI1NiJ9." PAYLOAD,
		"DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q" },
	{ "RFC 8037 A.4", "{\"keys\":[" ED_KEY "]}", SIGNATURE_EDDSA, "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
		"hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg" },
};

static struct pool *pool;

static struct str decoded(const char *text)
{
	uint8_t *out = pool_alloc(pool, strlen(text) + 1);
	size_t n;

	if (!base64_url_read(str_c(text), out, &n))
		bail_out("an example that is no base64url");
	return str_n((const char *)out, n);
}

static struct jwt_keys *read_keys(struct str text)
{
	char *error;
	struct jwt_keys *keys = jwt_keys_read(text, &error);

	if (keys == NULL)
		diag("%s", error);
	free(error);
	return keys;
}

static void test_examples(void)
{
	for (size_t i = 0; i < COUNT_OF(examples); i++) {
		const struct example *e = &examples[i];
		struct jwt_keys *keys = read_keys(str_c(e->keys));
		struct str signature = decoded(e->signature), data = str_c(e->data);
		int bad = 0;

		if (!ok(keys != NULL && jwt_keys_count(keys) == 1, "%s: the key", e->source))
			continue;
		is_int(jwt_keys_verify(keys, STR_NONE, e->algorithm, data, signature), JWT_SIGNATURE_GOOD, "%s: the signature", e->source);
		is_int(jwt_keys_verify(keys, STR("any"), e->algorithm, data, signature), JWT_SIGNATURE_GOOD, "%s: whatever key id", e->source);
		is_int(jwt_keys_verify(keys, STR_NONE, e->algorithm, str_part(data, 0, data.n - 1), signature), JWT_SIGNATURE_NO_KEY, "%s: other data", e->source);
		for (size_t j = 0; j < signature.n * 8; j += 5) {
			char *changed = pool_alloc(pool, signature.n);
			memcpy(changed, signature.p, signature.n);
			changed[j / 8] = (char)(changed[j / 8] ^ (1 << (j % 8)));
			bad += jwt_keys_verify(keys, STR_NONE, e->algorithm, data, str_n(changed, signature.n)) == JWT_SIGNATURE_GOOD;
		}
		for (size_t n = 0; n < signature.n; n++)
			bad += jwt_keys_verify(keys, STR_NONE, e->algorithm, data, str_part(signature, 0, n)) == JWT_SIGNATURE_GOOD;
		is_int(bad, 0, "%s: no signature with a changed bit, nor one that is cut", e->source);
		for (enum signature_algorithm a = 0; a < SIGNATURE__COUNT; a++)
			bad += a != e->algorithm && jwt_keys_verify(keys, STR_NONE, a, data, signature) == JWT_SIGNATURE_GOOD;
		is_int(bad, 0, "%s: by no other algorithm", e->source);
		jwt_keys_free(&keys);
	}
}

static void test_pem(void)
{
	static const char pem[] = "ours:\n-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7\n"
		"6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n-----END PUBLIC KEY-----\n"
		"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"
		"-----BEGIN CERTIFICATE-----\n";
	struct jwt_keys *keys = read_keys(str_c(pem));
	char *error;

	ok(keys != NULL && jwt_keys_count(keys) == 1, "PEM: the one good key of four blocks");
	if (keys != NULL)
		is_int(jwt_keys_verify(keys, STR_NONE, SIGNATURE_ES256, str_c(examples[1].data), decoded(examples[1].signature)), JWT_SIGNATURE_GOOD, "PEM: verifies");
	jwt_keys_free(&keys);
	for (size_t n = 0; n < sizeof(pem); n += 7) {
		keys = jwt_keys_read(str_n(pem, n), &error);
		jwt_keys_free(&keys);
		free(error);
	}
	ok(true, "PEM: cut anywhere");
}

static void test_wrong_sets(void)
{
	static const char *const sets[] = {
		"", "x", "[]", "{}", "{\"keys\":{}}", "{\"keys\":[]}", "{\"keys\":[1,null,\"x\",[]]}", "{\"keys\":[{}]}",
		"{\"keys\":[{\"kty\":\"oct\",\"k\":\"c2VjcmV0\"}]}",
		"{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}",           // short
		"{\"keys\":[{\"kty\":\"RSA\",\"n\":\"" N "\",\"e\":\"AQ\"}]}",            // exponent 1
		"{\"keys\":[{\"kty\":\"RSA\",\"n\":\"" N "\",\"e\":\"Ag\"}]}",            // even
		"{\"keys\":[{\"kty\":\"RSA\",\"n\":\"" N "\",\"e\":\"\"}]}",
		"{\"keys\":[{\"kty\":\"RSA\",\"n\":\"" N "\",\"e\":\"AAAAAAAAAAAAAAEB\"}]}", // nine bytes
		"{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" Y "\",\"y\":\"" X "\"}]}", // not on the curve
		"{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-384\",\"x\":\"" X "\",\"y\":\"" Y "\"}]}",
		"{\"keys\":[{\"kty\":\"EC\",\"crv\":\"secp256k1\",\"x\":\"" X "\",\"y\":\"" Y "\"}]}",
		"{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"" X "\"}]}",
		"{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AA\"}]}",
		"{\"keys\":[{\"kty\":\"EC\",\"use\":\"enc\",\"crv\":\"P-256\",\"x\":\"" X "\",\"y\":\"" Y "\"}]}",
		"{\"keys\":[{\"kty\":\"EC\",\"key_ops\":[\"sign\"],\"crv\":\"P-256\",\"x\":\"" X "\",\"y\":\"" Y "\"}]}",
		"{\"keys\":[{\"kty\":\"EC\",\"d\":\"AQ\",\"crv\":\"P-256\",\"x\":\"" X "\",\"y\":\"" Y "\"}]}",
		"{\"keys\":[{\"kty\":\"EC\",\"alg\":\"HS256\",\"crv\":\"P-256\",\"x\":\"" X "\",\"y\":\"" Y "\"}]}",
		"{\"keys\":[{\"kty\":\"EC\",\"kid\":7,\"crv\":\"P-256\",\"x\":\"" X "\",\"y\":\"" Y "\"}]}",
		"{\"keys\":[" EC_KEY "],\"keys\":[]}",
		"{\"keys\":[" EC_KEY "]",
		"{\"keys\":[[[[[[[[[[[[[[]]]]]]]]]]]]]]}",
	};
	char *error;

	for (size_t i = 0; i < COUNT_OF(sets); i++) {
		struct jwt_keys *keys = jwt_keys_read(str_c(sets[i]), &error);
		ok(keys == NULL && error != NULL && error[0] != '\0', "set %zu is refused", i);
		jwt_keys_free(&keys);
		free(error);
	}
	struct buf many = buf_new(pool, 8192);
	BUF_LIT(&many, "{\"keys\":[" EC_KEY);
	for (int i = 0; i < 100; i++)
		BUF_LIT(&many, "," EC_KEY);
	BUF_LIT(&many, "]}");
	struct jwt_keys *keys = read_keys(buf_str(&many));
	ok(keys != NULL && jwt_keys_count(keys) == JWT_KEYS_MAX, "of a large set as many as there is room for");
	jwt_keys_free(&keys);
	while (many.n <= JWT_KEYS_BYTES)
		buf_addc(&many, ' ');
	keys = jwt_keys_read(buf_str(&many), &error);
	ok(keys == NULL, "too long a text");
	free(error);
}

static void test_key_ids(void)
{
	struct jwt_keys *keys = read_keys(STR("{\"keys\":[{\"kid\":\"a\",\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"},"
		"{\"kid\":\"b\",\"alg\":\"EdDSA\",\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}"));
	struct str data = str_c(examples[2].data), signature = decoded(examples[2].signature);

	if (!ok(keys != NULL && jwt_keys_count(keys) == 2, "two keys"))
		return;
	is_int(jwt_keys_verify(keys, STR("b"), SIGNATURE_EDDSA, data, signature), JWT_SIGNATURE_GOOD, "by its id");
	is_int(jwt_keys_verify(keys, STR_NONE, SIGNATURE_EDDSA, data, signature), JWT_SIGNATURE_GOOD, "without");
	is_int(jwt_keys_verify(keys, STR("a"), SIGNATURE_EDDSA, data, signature), JWT_SIGNATURE_WRONG, "another key's id");
	is_int(jwt_keys_verify(keys, STR("B"), SIGNATURE_EDDSA, data, signature), JWT_SIGNATURE_NO_KEY, "an unknown one");
	is_int(jwt_keys_verify(keys, str_n("b\0", 2), SIGNATURE_EDDSA, data, signature), JWT_SIGNATURE_NO_KEY, "one with NUL");
	is_int(jwt_keys_verify(keys, STR(""), SIGNATURE_EDDSA, data, signature), JWT_SIGNATURE_NO_KEY, "an empty one");
	is_int(jwt_keys_verify(keys, STR("b"), SIGNATURE_RS256, data, signature), JWT_SIGNATURE_NO_KEY, "another algorithm");
	jwt_keys_free(&keys);
}

int main(void)
{
	pool = pool_new();
	test_examples();
	test_pem();
	test_wrong_sets();
	test_key_ids();
	pool_free(&pool);
	return done_testing();
}
