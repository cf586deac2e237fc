// SPDX-License-Identifier: Apache-2.0
// Reads bodies and queries and checks them against their schemas.
#include "base/base.h"

#include "api/placement/common/placement.h"
#include "api/settings.h"
#include "base/pool.h"
#include "registry/core/settings.h"

enum { BYTES_PER_NODE = 8, UUID_DIGITS = 32 };

// ---- uuids

// The text without the prefix, if it begins with it.
static struct str after(struct str text, struct str prefix)
{
	return str_starts(text, prefix) ? str_part(text, prefix.n, text.n) : text;
}

static struct str without_braces(struct str text)
{
	if (text.n >= 2 && text.p[0] == '{' && text.p[text.n - 1] == '}')
		return str_part(text, 1, text.n - 1);
	return text;
}

bool placement_uuid_parse(struct str text, struct uuid *uuid)
{
	size_t n = 0;

	text = without_braces(after(after(text, STR("urn:")), STR("uuid:")));
	memset(uuid, 0, sizeof(*uuid));
	for (size_t i = 0; i < text.n; i++) {
		int digit = str_hex_digit(text.p[i]);
		if (text.p[i] == '-')
			continue;
		if (digit < 0 || n == UUID_DIGITS)
			return false;
		uuid->b[n / 2] = (uint8_t)(uuid->b[n / 2] << 4 | digit);
		n++;
	}
	return n == UUID_DIGITS;
}

static bool is_uuid_like(const void *arg, struct str text)
{
	struct uuid uuid;

	UNUSED(arg);
	return placement_uuid_parse(text, &uuid);
}

const struct json_rule uuid_format = { "uuid", is_uuid_like, NULL };

// ---- bodies and queries

enum outcome placement_read_body(struct call *call, const struct json_schema *schema, const struct doc **body)
{
	const struct doc_limits limits = {
		.depth = api_settings(call->config)->max_depth,
		.nodes = (size_t)registry_settings(call->config)->max_body / BYTES_PER_NODE + 1,
	};
	struct json_fault fault;
	struct doc *doc;
	struct str error;

	if (!doc_parse_json(call->pool, call->request.body, limits, &doc, &error))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "Malformed JSON: %.*s", STR_ARG(error));
	*body = doc;
	if (json_schema_allows(call->pool, schema, doc, &fault))
		return OUTCOME_OK;
	struct str why = json_fault_text(call->pool, &fault);
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "JSON does not validate: %.*s", STR_ARG(why));
}

enum outcome placement_read_query(struct call *call, const struct json_schema *schema, const struct doc **query)
{
	const struct uri *uri = &call->request.uri;
	struct doc *doc = doc_new_object(call->pool);
	struct json_fault fault;

	for (size_t i = 0; i < uri->n_pairs; i++)
		doc_set(doc, uri->pairs[i].name, doc_new_string(call->pool, uri->pairs[i].value));
	*query = doc;
	if (json_schema_allows(call->pool, schema, doc, &fault))
		return OUTCOME_OK;
	struct str why = json_fault_text(call->pool, &fault);
	return call_fail(call, OUTCOME_BAD_PARAMETER, "Invalid query string parameters: %.*s", STR_ARG(why));
}

struct str placement_member_str(const struct doc *object, const char *name)
{
	const struct doc *value;

	if (!doc_get(object, str_c(name), &value) || value == NULL || doc_kind(value) != DOC_STRING)
		return STR_NONE;
	return doc_string(value);
}

uint64_t placement_member_u64(const struct doc *object, const char *name, uint64_t preset)
{
	const struct doc *value;
	uint64_t number;
	double fraction;

	if (!doc_get(object, str_c(name), &value) || value == NULL)
		return preset;
	if (doc_u64(value, &number))
		return number;
	if (!doc_double(value, &fraction) || fraction < 0)
		return 0;
	return fraction < 0x1p64 ? (uint64_t)fraction : UINT64_MAX; // a whole number may be written as "2.0"
}

uint64_t placement_member_generation(const struct doc *object, const char *name)
{
	const struct doc *value;
	double number; // as a whole number may be written as "-1.0"

	if (doc_get(object, str_c(name), &value) && doc_double(value, &number) && number < 0)
		return UINT64_MAX;
	return placement_member_u64(object, name, UINT64_MAX);
}
