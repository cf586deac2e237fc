// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/crypto/signature.h"
#include "base/memory.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

enum {
	POINT_MAX = 1 + 2 * 66,      // bytes of an uncompressed point of P-521
	DER_MAX = 2 * (66 + 4) + 8,  // bytes of a signature by P-521 as a sequence of two integers
	EXPONENT_MAX = 8,            // bytes; OpenSSL takes no longer one beside a large modulus
	PEM_BLOCK_MAX = 65536,
};

enum kind { RSA_KEY, EC_P256, EC_P384, EC_P521, ED_KEY };

struct signature_key {
	EVP_PKEY *key;
	enum kind kind;
};

static const struct curve {
	const char *name, *group; // in a JSON Web Key; in OpenSSL
	enum kind kind;
	size_t bytes;             // of a coordinate
} curves[] = {
	{ "P-256", "prime256v1", EC_P256, 32 },
	{ "P-384", "secp384r1", EC_P384, 48 },
	{ "P-521", "secp521r1", EC_P521, 66 },
};

const char *const signature_names[SIGNATURE__COUNT] = {
	"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
};

static const struct {
	enum kind kind;
	bool pss;
	const char *hash; // NULL: the algorithm hashes by itself
} algorithms[SIGNATURE__COUNT] = {
	{ RSA_KEY, false, "SHA256" }, { RSA_KEY, false, "SHA384" }, { RSA_KEY, false, "SHA512" },
	{ RSA_KEY, true, "SHA256" }, { RSA_KEY, true, "SHA384" }, { RSA_KEY, true, "SHA512" },
	{ EC_P256, false, "SHA256" }, { EC_P384, false, "SHA384" }, { EC_P521, false, "SHA512" },
	{ ED_KEY, false, NULL },
};

bool signature_algorithm_parse(struct str name, enum signature_algorithm *algorithm)
{
	for (size_t i = 0; i < COUNT_OF(signature_names); i++) {
		if (str_eq_c(name, signature_names[i])) {
			*algorithm = (enum signature_algorithm)i;
			return true;
		}
	}
	return false;
}

static const unsigned char *bytes_of(struct str text)
{
	return (const unsigned char *)(text.n > 0 ? text.p : "");
}

// ---- keys

// Which kind of key it is. False: one that no algorithm takes.
static bool kind_of(const EVP_PKEY *key, enum kind *kind)
{
	char group[32];
	size_t n;

	if (EVP_PKEY_is_a(key, "ED25519") == 1 || EVP_PKEY_is_a(key, "ED448") == 1) {
		*kind = ED_KEY;
		return true;
	}
	if (EVP_PKEY_is_a(key, "RSA") == 1) {
		*kind = RSA_KEY;
		return EVP_PKEY_get_bits(key) >= SIGNATURE_RSA_LEAST && EVP_PKEY_get_bits(key) <= SIGNATURE_RSA_MOST;
	}
	if (EVP_PKEY_is_a(key, "EC") != 1 || EVP_PKEY_get_group_name(key, group, sizeof(group), &n) != 1)
		return false;
	for (size_t i = 0; i < COUNT_OF(curves); i++) {
		if (strcmp(group, curves[i].group) == 0) {
			*kind = curves[i].kind;
			return true;
		}
	}
	return false;
}

// Takes the key, which may be NULL. What OpenSSL noted of failures is removed, or a later call of TLS would be taken to have
// failed.
static struct signature_key *wrap(EVP_PKEY *key)
{
	struct signature_key *made = NULL;
	enum kind kind = RSA_KEY;

	if (key != NULL && kind_of(key, &kind)) {
		made = memory_zeroed(1, sizeof(*made));
		*made = (struct signature_key){ .key = key, .kind = kind };
	} else {
		EVP_PKEY_free(key);
	}
	ERR_clear_error();
	return made;
}

void signature_key_free(struct signature_key **key)
{
	if (*key == NULL)
		return;
	EVP_PKEY_free((*key)->key);
	free(*key);
	*key = NULL;
}

static EVP_PKEY *from_params(const char *type, OSSL_PARAM_BLD *builder)
{
	OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(builder);
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL), *check = NULL;
	EVP_PKEY *key = NULL;

	if (params == NULL || ctx == NULL || EVP_PKEY_fromdata_init(ctx) != 1 ||
		EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
		key = NULL;
	// A point that isn't on its curve. Of an RSA key the same call would look for factors of the modulus, which takes long.
	if (key != NULL && strcmp(type, "EC") == 0)
		check = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
	if (key != NULL && strcmp(type, "EC") == 0 && (check == NULL || EVP_PKEY_public_check_quick(check) != 1)) {
		EVP_PKEY_free(key);
		key = NULL;
	}
	EVP_PKEY_CTX_free(check);
	EVP_PKEY_CTX_free(ctx);
	OSSL_PARAM_free(params);
	return key;
}

struct signature_key *signature_key_rsa(struct str modulus, struct str exponent)
{
	if (modulus.n == 0 || modulus.n > SIGNATURE_RSA_MOST / 8 + 1 || exponent.n == 0 || exponent.n > EXPONENT_MAX)
		return NULL;
	OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
	BIGNUM *n = BN_bin2bn(bytes_of(modulus), (int)modulus.n, NULL), *e = BN_bin2bn(bytes_of(exponent), (int)exponent.n, NULL);
	EVP_PKEY *key = NULL;

	if (builder == NULL || n == NULL || e == NULL)
		memory_end(0);
	// An even modulus or exponent, or the exponent 1, would let anybody sign.
	if (BN_is_odd(n) && BN_is_odd(e) && !BN_is_one(e) && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
		OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1)
		key = from_params("RSA", builder);
	BN_free(n);
	BN_free(e);
	OSSL_PARAM_BLD_free(builder);
	return wrap(key);
}

struct signature_key *signature_key_ec(struct str curve, struct str x, struct str y)
{
	unsigned char point[POINT_MAX] = { POINT_CONVERSION_UNCOMPRESSED };
	size_t i = 0;

	while (i < COUNT_OF(curves) && !str_eq_c(curve, curves[i].name))
		i++;
	if (i == COUNT_OF(curves) || x.n != curves[i].bytes || y.n != curves[i].bytes)
		return NULL;
	memcpy(point + 1, x.p, x.n);
	memcpy(point + 1 + x.n, y.p, y.n);
	OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
	EVP_PKEY *key = NULL;
	if (builder == NULL)
		memory_end(0);
	if (OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, curves[i].group, 0) == 1 &&
		OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, 1 + x.n + y.n) == 1)
		key = from_params("EC", builder);
	OSSL_PARAM_BLD_free(builder);
	return wrap(key);
}

struct signature_key *signature_key_ed(struct str curve, struct str x)
{
	int type = str_eq(curve, STR("Ed25519")) ? EVP_PKEY_ED25519 : str_eq(curve, STR("Ed448")) ? EVP_PKEY_ED448 : EVP_PKEY_NONE;

	return type == EVP_PKEY_NONE ? NULL : wrap(EVP_PKEY_new_raw_public_key(type, NULL, bytes_of(x), x.n));
}

static EVP_PKEY *key_of_certificate(BIO *bio)
{
	X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	EVP_PKEY *key = certificate != NULL ? X509_get_pubkey(certificate) : NULL;

	X509_free(certificate);
	return key;
}

bool signature_key_pem(struct str *pem, struct signature_key **key)
{
	static const struct str begin = STR_INIT("-----BEGIN "), end = STR_INIT("-----END ");
	const char *from = pem->n > 0 ? memmem(pem->p, pem->n, begin.p, begin.n) : NULL;
	struct str rest = from != NULL ? str_n(from, (size_t)(pem->p + pem->n - from)) : STR("");
	const char *last = rest.n > 0 ? memmem(rest.p, rest.n, end.p, end.n) : NULL;

	*key = NULL;
	if (from == NULL)
		return false;
	size_t n = last != NULL ? str_find(rest, '\n', (size_t)(last - rest.p)) : rest.n;
	*pem = str_part(rest, n, rest.n);
	if (last == NULL || n > PEM_BLOCK_MAX)
		return true;
	BIO *bio = BIO_new_mem_buf(rest.p, (int)(n < rest.n ? n + 1 : n));
	if (bio == NULL)
		memory_end(0);
	*key = wrap(str_starts(rest, STR("-----BEGIN CERTIFICATE-----")) ? key_of_certificate(bio)
		: str_starts(rest, STR("-----BEGIN PUBLIC KEY-----")) ? PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL) : NULL);
	BIO_free(bio);
	return true;
}

// ---- verifying

bool signature_fits(const struct signature_key *key, enum signature_algorithm algorithm)
{
	assert(algorithm < SIGNATURE__COUNT);
	return key->kind == algorithms[algorithm].kind;
}

// OpenSSL takes an ECDSA signature as DER; a JSON Web Signature has r and s side by side, each as long as a coordinate. 0: it
// hasn't.
static size_t der_of(enum kind kind, struct str signature, unsigned char der[DER_MAX])
{
	const struct curve *curve = &curves[kind - EC_P256];
	unsigned char *at = der;
	int n = 0;

	if (signature.n != 2 * curve->bytes)
		return 0;
	ECDSA_SIG *pair = ECDSA_SIG_new();
	BIGNUM *r = BN_bin2bn(bytes_of(signature), (int)curve->bytes, NULL);
	BIGNUM *s = BN_bin2bn(bytes_of(signature) + curve->bytes, (int)curve->bytes, NULL);
	if (pair == NULL || r == NULL || s == NULL || ECDSA_SIG_set0(pair, r, s) != 1) // takes r and s
		memory_end(0);
	n = i2d_ECDSA_SIG(pair, NULL);
	assert(n > 0 && n <= DER_MAX);
	n = i2d_ECDSA_SIG(pair, &at);
	ECDSA_SIG_free(pair);
	return (size_t)n;
}

bool signature_verify(const struct signature_key *key, enum signature_algorithm algorithm, struct str data, struct str signature)
{
	unsigned char der[DER_MAX];
	const unsigned char *bytes = bytes_of(signature);
	size_t n = signature.n;

	assert(key != NULL && algorithm < SIGNATURE__COUNT);
	assert(signature_fits(key, algorithm));
	if (key->kind == EC_P256 || key->kind == EC_P384 || key->kind == EC_P521) {
		n = der_of(key->kind, signature, der);
		bytes = der;
		if (n == 0)
			return false;
	}
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	EVP_PKEY_CTX *pkey = NULL; // ctx owns it
	bool good = ctx != NULL && EVP_DigestVerifyInit_ex(ctx, &pkey, algorithms[algorithm].hash, NULL, NULL, key->key, NULL) == 1;
	if (good && algorithms[algorithm].pss)
		good = EVP_PKEY_CTX_set_rsa_padding(pkey, RSA_PKCS1_PSS_PADDING) == 1 &&
			EVP_PKEY_CTX_set_rsa_pss_saltlen(pkey, RSA_PSS_SALTLEN_DIGEST) == 1;
	good = good && EVP_DigestVerify(ctx, bytes, n, bytes_of(data), data.n) == 1;
	EVP_MD_CTX_free(ctx);
	ERR_clear_error();
	return good;
}
