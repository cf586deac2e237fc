// SPDX-License-Identifier: Apache-2.0
// Authenticator for signed JSON Web Tokens (RFC 7519), as OpenID Connect providers issue them. It follows RFC 8725: algorithms by
// an allow list, each with its own kind of key; issuer and audience always compared; keys never taken from the token (jwk, jku,
// x5c, x5u are not read). A refusal says what is wrong as RFC 6750 section 3 has it. Section [jwt] of tenure.conf says what the
// claims give.
#include "base/base.h"

#include "auth/core/authenticator.h"
#include "auth/core/client_certificate.h"
#include "auth/core/jwt_form.h"
#include "auth/jwt/jwt_settings.h"
#include "auth/jwt/jwt_source.h"
#include "auth/core/principal_cache.h"
#include "auth/core/role_table.h"
#include "auth/core/settings.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/config/config.h"
#include "base/crypto/certificate.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/pool.h"
#include "repr/json/doc.h"

enum {
	TOKEN_MAX = 16 * 1024, // bytes
	CHALLENGE_ROOM = 256,
};
#define CHALLENGE "Bearer realm=\"tenure\"" // of a request without a token; a refusal adds why
#define SECOND_US INT64_C(1000000)
#define BELIEVED_US (AUTH_REVALIDATE_S * SECOND_US) // then a signature is verified again, so that has_validated() is true now and then
#define LATEST_S 253402300800.0 // the year 10000: a later time is taken for this one

struct jwt {
	const struct jwt_settings *settings;
	bool has_default_tenant;
	struct str certificate_secret; // of the endpoint; "": none
	struct jwt_source *source;
	struct principal_cache *cache; // of tokens that the present keys verify
	bool allowed[SIGNATURE__COUNT];
	bool validated_now;            // the last token was looked at itself, not only in the cache
	char challenge[CHALLENGE_ROOM]; // of the last request
};

// A token while it is checked.
struct attempt {
	struct jwt *jwt;
	const struct identity *identity;
	struct pool *pool;          // the request's
	struct jwt_parts parts;
	enum signature_algorithm algorithm;
	struct str kid;             // p NULL: it names no key
	const struct doc *claims;
	int64_t expires_us;         // wall clock; the leeway is in it. Of a token that is bound to a certificate, at its end at the latest
};

// ---- refusals

static enum outcome refuse(const struct attempt *attempt, const char *why)
{
	*attempt->identity->detail = str_c(why);
	(void)snprintf(attempt->jwt->challenge, sizeof(attempt->jwt->challenge),
		CHALLENGE ", error=\"invalid_token\", error_description=\"%s\"", why);
	return OUTCOME_UNAUTHENTICATED;
}

static enum outcome fail_unavailable(const struct attempt *attempt)
{
	*attempt->identity->detail = STR("the issuer's keys can't be had at the moment, so tokens can't be checked");
	return OUTCOME_UNAVAILABLE;
}

// ---- the header

static bool is_type(struct str type, struct str wanted)
{
	const struct str prefix = STR("application/");

	if (type.n > prefix.n && str_eq_nocase(str_part(type, 0, prefix.n), prefix))
		type = str_part(type, prefix.n, type.n);
	return str_eq_nocase(type, wanted);
}

// The values of typ that are accepted if the setting names none: those of access tokens and ID tokens. A token of another type,
// such as "logout+jwt", was issued for another purpose (RFC 8725 section 3.11).
static bool is_right_type(const struct jwt *jwt, const struct doc *header)
{
	struct str wanted = str_c(jwt->settings->type);
	const struct doc *type = NULL;

	if (!doc_get(header, STR("typ"), &type))
		return wanted.n == 0;
	if (doc_kind(type) != DOC_STRING)
		return false;
	return wanted.n > 0 ? is_type(doc_string(type), wanted)
		: is_type(doc_string(type), STR("JWT")) || is_type(doc_string(type), STR("at+jwt"));
}

static const char *read_header(struct attempt *attempt)
{
	const struct doc *header = jwt_form_object(attempt->pool, attempt->parts.header), *value = NULL;

	if (header == NULL)
		return "the token's header is no JSON object";
	if (doc_get(header, STR("crit"), &value))
		return "the token's header has the parameter crit, none of whose extensions is known here";
	if (!doc_get(header, STR("alg"), &value) || !signature_algorithm_parse(doc_string(value), &attempt->algorithm) ||
		!attempt->jwt->allowed[attempt->algorithm])
		return "the token's algorithm is not allowed";
	if (doc_get(header, STR("kid"), &value)) {
		if (doc_kind(value) != DOC_STRING)
			return "the token's kid is no text";
		attempt->kid = doc_string(value);
	}
	return is_right_type(attempt->jwt, header) ? NULL : "the token's typ is another one than expected";
}

// ---- the claims

// The claim that a setting names: by its name, or, beginning with a slash, by the names on the way to it (RFC 6901).
static bool find_claim(struct pool *pool, const struct doc *claims, const char *setting, const struct doc **value)
{
	struct str rest = str_c(setting), part;

	if (!str_starts(rest, STR("/")))
		return doc_get(claims, rest, value);
	rest = str_part(rest, 1, rest.n);
	*value = claims;
	while (str_split(&rest, '/', &part)) {
		struct buf name = buf_new(pool, part.n + 1);
		for (size_t i = 0; i < part.n; i++) {
			bool escaped = part.p[i] == '~' && i + 1 < part.n && (part.p[i + 1] == '0' || part.p[i + 1] == '1');
			buf_addc(&name, !escaped ? part.p[i] : part.p[i + 1] == '0' ? '~' : '/');
			i += escaped;
		}
		if (!doc_get(*value, buf_str(&name), value))
			return false;
	}
	return true;
}

enum timestamp { TIME_ABSENT, TIME_WRONG, TIME_READ };

// A NumericDate (RFC 7519 section 2), in microseconds.
static enum timestamp read_time(const struct attempt *attempt, struct str name, int64_t *us)
{
	const struct doc *value;

	if (!doc_get(attempt->claims, name, &value))
		return TIME_ABSENT;
	if (doc_kind(value) != DOC_NUMBER)
		return TIME_WRONG;
	double seconds = strtod(str_cstr(attempt->pool, doc_number_text(attempt->pool, value)), NULL);
	*us = seconds > LATEST_S ? (int64_t)(LATEST_S * 1e6) : seconds < 0 ? 0 : (int64_t)(seconds * 1e6);
	return TIME_READ;
}

static const char *check_times(struct attempt *attempt)
{
	int64_t now = clock_now_us(), leeway = attempt->jwt->settings->leeway * SECOND_US, us = 0;

	if (read_time(attempt, STR("exp"), &us) != TIME_READ)
		return "the token's exp is missing, or no number";
	attempt->expires_us = us + leeway;
	if (now >= attempt->expires_us)
		return "the token has expired";
	switch (read_time(attempt, STR("nbf"), &us)) {
	case TIME_WRONG:
		return "the token's nbf is no number";
	case TIME_READ:
		if (now < us - leeway)
			return "the token is not valid yet";
		break;
	case TIME_ABSENT:
		break;
	}
	switch (read_time(attempt, STR("iat"), &us)) {
	case TIME_WRONG:
		return "the token's iat is no number";
	case TIME_READ:
		if (now < us - leeway)
			return "the token was issued in the future";
		break;
	case TIME_ABSENT:
		break;
	}
	return NULL;
}

static bool is_audience(const struct jwt *jwt, struct str audience)
{
	struct str rest = str_c(jwt->settings->audience), one;

	while (str_split(&rest, ',', &one)) {
		if (audience.n > 0 && str_eq(str_trim(one), audience))
			return true;
	}
	return false;
}

static const char *check_audience(const struct attempt *attempt)
{
	const struct doc *aud = NULL;
	bool found;

	if (!doc_get(attempt->claims, STR("aud"), &aud) || (doc_kind(aud) != DOC_STRING && doc_kind(aud) != DOC_ARRAY))
		return "the token's aud is missing, or neither a text nor a list";
	found = doc_kind(aud) == DOC_STRING && is_audience(attempt->jwt, doc_string(aud));
	for (size_t i = 0; i < doc_elements(aud); i++) {
		if (doc_kind(doc_at(aud, i)) != DOC_STRING)
			return "the token's aud has something else than texts";
		found = found || is_audience(attempt->jwt, doc_string(doc_at(aud, i)));
	}
	return found ? NULL : "the token is for another audience";
}

static const char *check_issuer(const struct attempt *attempt)
{
	const struct doc *iss = NULL;

	if (!doc_get(attempt->claims, STR("iss"), &iss) || doc_kind(iss) != DOC_STRING)
		return "the token's iss is missing, or no text";
	return str_eq_c(doc_string(iss), attempt->jwt->settings->issuer) ? NULL : "the token is of another issuer";
}

// A token that is bound to a certificate is good only beside that certificate (RFC 8705 section 3). Other bindings (RFC 7800, RFC
// 9449) take a proof that nothing here verifies; with them a token is refused, since otherwise whoever has stolen it could use
// it.
static const char *check_binding(struct attempt *attempt)
{
	const struct request *request = attempt->identity->request;
	const struct doc *cnf = NULL, *bound_to = NULL;
	struct buf thumbprint = buf_new(attempt->pool, 64);

	if (!doc_get(attempt->claims, STR("cnf"), &cnf))
		return NULL;
	if (doc_kind(cnf) != DOC_OBJECT || doc_length(cnf) != 1 || !doc_get(cnf, STR("x5t#S256"), &bound_to) || doc_kind(bound_to) != DOC_STRING)
		return "the token is bound by something else than x5t#S256 alone, which can't be verified here";
	if (!client_certificate_came(request))
		return "the token is bound to a client's certificate, and none came with it";
	struct certificate *certificate = POOL_NEW(attempt->pool, struct certificate);
	const char *wrong = client_certificate_check(request, attempt->jwt->certificate_secret);
	if (wrong == NULL)
		wrong = client_certificate_read(attempt->pool, request, certificate);
	if (wrong != NULL)
		return wrong;
	base64_url_add(&thumbprint, certificate->thumbprint, sizeof(certificate->thumbprint));
	if (!str_eq(doc_string(bound_to), buf_str(&thumbprint)))
		return "the token is bound to another certificate than the client's";
	if (certificate->until_us < attempt->expires_us)
		attempt->expires_us = certificate->until_us;
	return NULL;
}

enum claim { CLAIM_OF_USER, CLAIM_OF_TENANT };

// Reads the claim that the setting names, as a name in the principal; a token may lack a tenant, but no user. NULL, or what is
// wrong with the claim.
static const char *read_name(const struct attempt *attempt, const char *setting, enum claim claim, struct str *name)
{
	const struct doc *value = NULL;

	*name = STR("");
	if (!find_claim(attempt->pool, attempt->claims, setting, &value))
		return claim == CLAIM_OF_USER ? "the token lacks the claim that names its user" : NULL;
	if (doc_kind(value) != DOC_STRING || doc_string(value).n == 0 || !auth_is_name(doc_string(value)))
		return claim == CLAIM_OF_USER ? "the claim that names the token's user is no name: 1 to 255 characters without NUL"
			: "the claim that names the token's tenant is no name: 1 to 255 characters without NUL";
	*name = str_dup(attempt->pool, doc_string(value));
	return NULL;
}

static void add_role(struct buf *names, struct str name)
{
	if (name.n == 0 || str_find(name, ',', 0) < name.n) // a comma would make it two
		return;
	if (names->n > 0)
		buf_addc(names, ',');
	buf_add(names, name);
}

// The token's roles, with commas: of a list of texts, or of one text with blanks between them, as "scope" is (RFC 8693 section
// 4.2).
static const char *read_roles(const struct attempt *attempt, struct str *roles)
{
	struct buf names = buf_new(attempt->pool, 64);
	const struct doc *value = NULL;
	struct str rest, one;

	*roles = STR("");
	if (!find_claim(attempt->pool, attempt->claims, attempt->jwt->settings->roles_claim, &value))
		return NULL;
	if (doc_kind(value) != DOC_STRING && doc_kind(value) != DOC_ARRAY)
		return "the claim of the token's roles is neither a text nor a list";
	rest = doc_string(value);
	while (doc_kind(value) == DOC_STRING && str_split(&rest, ' ', &one))
		add_role(&names, one);
	for (size_t i = 0; i < doc_elements(value); i++) {
		if (doc_kind(doc_at(value, i)) != DOC_STRING)
			return "the claim of the token's roles has something else than texts";
		add_role(&names, doc_string(doc_at(value, i)));
	}
	*roles = buf_str(&names);
	return NULL;
}

static const char *read_claims(struct attempt *attempt, struct principal *principal)
{
	const struct jwt_settings *settings = attempt->jwt->settings;
	const char *wrong = check_issuer(attempt);
	struct str roles;

	wrong = wrong != NULL ? wrong : check_audience(attempt);
	wrong = wrong != NULL ? wrong : check_times(attempt);
	wrong = wrong != NULL ? wrong : check_binding(attempt);
	wrong = wrong != NULL ? wrong : read_name(attempt, settings->user_claim, CLAIM_OF_USER, &principal->user);
	wrong = wrong != NULL ? wrong : read_name(attempt, settings->tenant_claim, CLAIM_OF_TENANT, &principal->tenant);
	wrong = wrong != NULL ? wrong : read_roles(attempt, &roles);
	if (wrong != NULL)
		return wrong;
	principal->role = role_table_highest(str_c(settings->roles), roles, ROLE_NAMES_EXACT);
	if (role_list_overlaps(roles, str_c(settings->operator_roles), ROLE_NAMES_EXACT))
		principal->role = ROLE_OPERATOR;
	else if (principal->tenant.n == 0 && !attempt->jwt->has_default_tenant)
		principal->role = ROLE_NONE; // a role counts within a tenant
	return NULL;
}

// ---- identify

static enum outcome check_token(struct attempt *attempt, struct principal *principal)
{
	const char *wrong = read_header(attempt);
	struct str signature;

	if (wrong != NULL)
		return refuse(attempt, wrong);
	if (!jwt_form_decode(attempt->pool, attempt->parts.signature, &signature))
		return refuse(attempt, "the token's signature is not in base64url");
	switch (jwt_source_verify(attempt->jwt->source, attempt->identity->may_wait, attempt->kid, attempt->algorithm, attempt->parts.signed_part,
		signature)) {
	case JWT_NO_KEYS:
		return fail_unavailable(attempt);
	case JWT_UNKNOWN_KEY:
		return refuse(attempt, "the token's signature is by no key of the issuer");
	case JWT_WRONG:
		return refuse(attempt, "the token's signature is wrong");
	case JWT_GOOD:
		break;
	}
	// Nothing of the claims is looked at before the signature is known to be good.
	attempt->claims = jwt_form_object(attempt->pool, attempt->parts.payload);
	wrong = attempt->claims == NULL ? "the token's claims are no JSON object, or one of them comes twice" : read_claims(attempt, principal);
	return wrong == NULL ? OUTCOME_OK : refuse(attempt, wrong);
}

// The cache's key is of all that the answer depends on: the token, and the certificate that the web server vouches for, if there
// is one. The length of the token stands in front, so that no token is another one with a certificate behind it.
static void make_key(const struct attempt *attempt, struct str token, uint8_t key[DIGEST_SHA256])
{
	const struct request *request = attempt->identity->request;
	bool counts = client_certificate_check(request, attempt->jwt->certificate_secret) == NULL;
	struct str certificate = counts ? request->client_certificate : STR("");
	struct buf text = buf_new(attempt->pool, token.n + certificate.n + 32);

	buf_add_u64(&text, token.n);
	buf_addc(&text, ' ');
	buf_add(&text, token);
	buf_add(&text, certificate);
	digest_sha256(buf_str(&text), key);
}

static enum outcome identify(void *state, const struct identity *identity, bool *recognised)
{
	struct jwt *jwt = state;
	struct attempt attempt = { .jwt = jwt, .identity = identity, .pool = identity->pool, .kid = STR_NONE };
	struct principal *principal = identity->principal;
	uint8_t key[DIGEST_SHA256];
	struct str token;
	bool changed;

	(void)snprintf(jwt->challenge, sizeof(jwt->challenge), CHALLENGE);
	jwt->validated_now = false;
	*recognised = auth_read_token(identity->request, &token);
	if (!*recognised)
		return OUTCOME_OK;
	if (token.n > TOKEN_MAX)
		return refuse(&attempt, "the token has more than 16384 bytes");
	if (!jwt_form_divide(token, &attempt.parts))
		return refuse(&attempt, "the token is no JWT: expected three parts with dots between them");
	bool usable = jwt_source_look(jwt->source, &changed);
	if (changed)
		principal_cache_clear(jwt->cache);
	make_key(&attempt, token, key);
	if (!usable || !principal_cache_find(jwt->cache, key, identity->pool, principal)) {
		jwt->validated_now = true;
		enum outcome outcome = check_token(&attempt, principal);
		if (outcome != OUTCOME_OK) {
			*principal = (struct principal){ 0 };
			return outcome;
		}
		principal->expires_us = attempt.expires_us;
		principal_cache_keep(jwt->cache, key, principal);
	}
	principal->makes_tenant = principal->tenant.n > 0 && strcmp(jwt->settings->create_tenants, "yes") == 0;
	return OUTCOME_OK;
}

// Tokens of tenure-manage have one dot. What has two and can't be read is taken for one of a provider, whose user is told what is
// wrong with it.
static bool has_form(struct pool *pool, struct str token)
{
	struct jwt_parts parts;

	return jwt_form_divide(token, &parts) && !jwt_form_is_keystones(pool, token);
}

static bool has_validated(const void *state)
{
	return ((const struct jwt *)state)->validated_now;
}

static const char *challenge_of(const void *state)
{
	return ((const struct jwt *)state)->challenge;
}

// ---- settings

static char *check_settings(const struct jwt_settings *settings)
{
	if (settings->issuer[0] == '\0')
		return auth_message("[jwt] issuer: auth = jwt needs what the claim iss of a good token says, such as https://id.example.org/realms/main");
	if (settings->audience[0] == '\0')
		return auth_message("[jwt] audience: auth = jwt needs what the claim aud of a token for this service has, such as tenure; otherwise tokens "
			"that the issuer made for any other service would be good here");
	return role_table_check("[jwt] roles", str_c(settings->roles));
}

static void close_jwt(void *state)
{
	struct jwt *jwt = state;

	if (jwt == NULL)
		return;
	jwt_source_free(&jwt->source);
	principal_cache_free(&jwt->cache);
	free(jwt);
}

static void *open_jwt(const struct auth_setup *setup, char **error)
{
	const struct jwt_settings *settings = jwt_settings(setup->config);
	struct jwt *jwt = memory_zeroed(1, sizeof(*jwt));
	struct str rest = str_c(settings->algorithms), name;
	enum signature_algorithm algorithm;

	jwt->settings = settings;
	jwt->has_default_tenant = auth_settings(setup->config)->default_tenant[0] != '\0';
	(void)snprintf(jwt->challenge, sizeof(jwt->challenge), CHALLENGE);
	jwt->certificate_secret = client_certificate_secret(setup->endpoint);
	*error = check_settings(settings);
	if (*error == NULL && jwt->certificate_secret.n > 0)
		*error = auth_check_secret(setup->endpoint->name, "jwt", "certificate_secret", jwt->certificate_secret, "SSL_CLIENT_CERT",
			"TENURE_CERTIFICATE_SECRET");
	if (*error == NULL)
		jwt->source = jwt_source_new(setup, error);
	if (*error != NULL)
		return jwt;
	while (str_split(&rest, ',', &name)) {
		if (signature_algorithm_parse(str_trim(name), &algorithm))
			jwt->allowed[algorithm] = true;
	}
	jwt->cache = principal_cache_new(BELIEVED_US);
	return jwt;
}

static const struct config_table *const tables[] = { &jwt_settings_table, NULL };

const struct authenticator jwt_authenticator = {
	.challenge = CHALLENGE,
	.challenge_of = challenge_of,
	.tables = tables,
	.headers = auth_token_headers,
	.open = open_jwt,
	.close = close_jwt,
	.has_form = has_form,
	.identify = identify,
	.has_validated = has_validated,
};
