// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/jwt/jwt_keys.h"

#include "auth/core/authenticator.h"
#include "base/base64.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/pool.h"
#include "repr/json/doc.h"

enum {
	DEPTH_MAX = 8,
	NODES_MAX = 4000,
	KID_MAX = 1024, // bytes
};

struct one_key {
	struct signature_key *key;
	char *kid; // NULL: it has none
	size_t kid_n;
	bool has_algorithm; // then it is for this one alone
	enum signature_algorithm algorithm;
};

struct jwt_keys {
	struct one_key keys[JWT_KEYS_MAX];
	size_t n;
};

static struct str member_text(const struct doc *object, struct str name)
{
	const struct doc *value;

	return doc_get(object, name, &value) ? doc_string(value) : STR("");
}

// The bytes of a member in base64url; "" if there are none, or it is something else.
static struct str member_bytes(struct pool *pool, const struct doc *object, struct str name)
{
	struct str text = member_text(object, name);
	uint8_t *bytes = pool_alloc(pool, text.n + 1);
	size_t n = 0;

	return base64_url_read(text, bytes, &n) ? str_n((const char *)bytes, n) : STR("");
}

static bool lists(const struct doc *array, struct str wanted)
{
	for (size_t i = 0; i < doc_elements(array); i++) {
		if (str_eq(doc_string(doc_at(array, i)), wanted))
			return true;
	}
	return false;
}

// Is the key meant for verifying signatures, and is it public?
static bool is_for_us(const struct doc *jwk)
{
	const struct doc *value;

	if (doc_get(jwk, STR("use"), &value) && !str_eq(doc_string(value), STR("sig")))
		return false;
	if (doc_get(jwk, STR("key_ops"), &value) && !lists(value, STR("verify")))
		return false;
	return !doc_get(jwk, STR("d"), &value); // everybody who may read the set could sign
}

static struct signature_key *read_numbers(struct pool *pool, const struct doc *jwk)
{
	struct str type = member_text(jwk, STR("kty")), curve = member_text(jwk, STR("crv"));

	if (str_eq(type, STR("RSA")))
		return signature_key_rsa(member_bytes(pool, jwk, STR("n")), member_bytes(pool, jwk, STR("e")));
	if (str_eq(type, STR("EC")))
		return signature_key_ec(curve, member_bytes(pool, jwk, STR("x")), member_bytes(pool, jwk, STR("y")));
	if (str_eq(type, STR("OKP")))
		return signature_key_ed(curve, member_bytes(pool, jwk, STR("x")));
	return NULL;
}

static void add_jwk(struct jwt_keys *keys, struct pool *pool, const struct doc *jwk)
{
	struct one_key one = { .key = NULL };
	const struct doc *kid = NULL, *algorithm = NULL;

	if (!is_for_us(jwk))
		return;
	if (doc_get(jwk, STR("kid"), &kid) && (doc_kind(kid) != DOC_STRING || doc_string(kid).n > KID_MAX))
		return;
	if (doc_get(jwk, STR("alg"), &algorithm)) {
		one.has_algorithm = true;
		if (!signature_algorithm_parse(doc_string(algorithm), &one.algorithm))
			return;
	}
	one.key = read_numbers(pool, jwk);
	if (one.key == NULL)
		return;
	if (kid != NULL) {
		one.kid_n = doc_string(kid).n;
		one.kid = memory_zeroed(1, one.kid_n + 1);
		if (one.kid_n > 0)
			memcpy(one.kid, doc_string(kid).p, one.kid_n);
	}
	keys->keys[keys->n++] = one;
}

static char *read_set(struct jwt_keys *keys, struct pool *pool, struct str text)
{
	const struct doc *list = NULL;
	struct doc *set = NULL;
	struct str error;

	if (!doc_parse_json(pool, text, (struct doc_limits){ DEPTH_MAX, NODES_MAX }, &set, &error))
		return auth_message("%.*s", STR_ARG(error));
	if (!doc_get(set, STR("keys"), &list) || doc_kind(list) != DOC_ARRAY)
		return auth_message("there is no array \"keys\": expected a JSON Web Key Set");
	for (size_t i = 0; i < doc_elements(list) && keys->n < JWT_KEYS_MAX; i++)
		add_jwk(keys, pool, doc_at(list, i));
	return NULL;
}

static void read_pem(struct jwt_keys *keys, struct str text)
{
	struct signature_key *key;

	while (keys->n < JWT_KEYS_MAX && signature_key_pem(&text, &key)) {
		if (key != NULL)
			keys->keys[keys->n++] = (struct one_key){ .key = key };
	}
}

struct jwt_keys *jwt_keys_read(struct str text, char **error)
{
	struct jwt_keys *keys = memory_zeroed(1, sizeof(*keys));
	struct pool *pool = pool_new_or_end();
	struct str begin = text;

	while (begin.n > 0 && strchr(" \t\r\n", begin.p[0]) != NULL && begin.p[0] != '\0')
		begin = str_part(begin, 1, begin.n);
	*error = NULL;
	if (text.n > JWT_KEYS_BYTES)
		*error = auth_message("got %zu bytes; expected up to %d", text.n, JWT_KEYS_BYTES);
	else if (str_starts(begin, STR("{")))
		*error = read_set(keys, pool, text);
	else
		read_pem(keys, text);
	pool_free(&pool);
	if (*error == NULL && keys->n == 0)
		*error = auth_message("there is no key that verifies signatures: expected a JSON Web Key Set, or PEM blocks "
			"\"PUBLIC KEY\" or \"CERTIFICATE\", of RSA from 2048 bits, P-256, P-384, P-521, Ed25519 or Ed448");
	if (*error != NULL)
		jwt_keys_free(&keys);
	return keys;
}

void jwt_keys_free(struct jwt_keys **keys)
{
	if (*keys == NULL)
		return;
	for (size_t i = 0; i < (*keys)->n; i++) {
		signature_key_free(&(*keys)->keys[i].key);
		free((*keys)->keys[i].kid);
	}
	free(*keys);
	*keys = NULL;
}

size_t jwt_keys_count(const struct jwt_keys *keys)
{
	return keys->n;
}

static bool suits(const struct one_key *one, struct str kid, enum signature_algorithm algorithm)
{
	if (kid.p != NULL && one->kid != NULL && !str_eq(kid, str_n(one->kid, one->kid_n)))
		return false;
	return signature_fits(one->key, algorithm) && (!one->has_algorithm || one->algorithm == algorithm);
}

enum jwt_signature jwt_keys_verify(const struct jwt_keys *keys, struct str kid, enum signature_algorithm algorithm, struct str data,
	struct str signature)
{
	enum jwt_signature result = JWT_SIGNATURE_NO_KEY;

	for (size_t i = 0; i < keys->n; i++) {
		if (!suits(&keys->keys[i], kid, algorithm))
			continue;
		if (signature_verify(keys->keys[i].key, algorithm, data, signature))
			return JWT_SIGNATURE_GOOD;
		if (kid.p != NULL && keys->keys[i].kid != NULL)
			result = JWT_SIGNATURE_WRONG;
	}
	return result;
}
