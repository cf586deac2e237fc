// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/core/jwt_form.h"
#include "base/base64.h"
#include "base/pool.h"
#include "repr/json/doc.h"

enum {
	DEPTH_MAX = 16,
	NODES_MAX = 2000,
};

bool jwt_form_divide(struct str token, struct jwt_parts *parts)
{
	size_t first = str_find(token, '.', 0), second = str_find(token, '.', first + 1);

	if (second >= token.n || str_find(token, '.', second + 1) < token.n)
		return false;
	parts->header = str_part(token, 0, first);
	parts->payload = str_part(token, first + 1, second);
	parts->signature = str_part(token, second + 1, token.n);
	parts->signed_part = str_part(token, 0, second);
	return parts->header.n > 0 && parts->payload.n > 0;
}

bool jwt_form_decode(struct pool *pool, struct str text, struct str *bytes)
{
	uint8_t *out = pool_alloc(pool, text.n + 1);
	size_t n;

	if (!base64_url_read(text, out, &n))
		return false;
	*bytes = str_n((const char *)out, n);
	return true;
}

const struct doc *jwt_form_object(struct pool *pool, struct str text)
{
	struct doc *doc = NULL;
	struct str bytes, error;

	if (!jwt_form_decode(pool, text, &bytes) || !doc_parse_json(pool, bytes, (struct doc_limits){ DEPTH_MAX, NODES_MAX }, &doc, &error))
		return NULL;
	return doc_kind(doc) == DOC_OBJECT ? doc : NULL;
}

bool jwt_form_is_keystones(struct pool *pool, struct str token)
{
	struct jwt_parts parts;
	const struct doc *claims = jwt_form_divide(token, &parts) ? jwt_form_object(pool, parts.payload) : NULL, *claim;

	return claims != NULL && doc_get(claims, STR("openstack_methods"), &claim) && !doc_get(claims, STR("iss"), &claim);
}
