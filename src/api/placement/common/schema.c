// SPDX-License-Identifier: Apache-2.0
// Schemas, or parts of them, that bodies and queries share.
#include "base/base.h"

#include "api/placement/common/placement.h"
#include "api/placement/common/schema.h"
#include "base/ascii.h"
#include "registry/placement/allocation.h"

static bool is_word(const void *arg, struct str text)
{
	UNUSED(arg);
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (!ascii_is_upper(c) && !ascii_is_digit(c) && c != '_')
			return false;
	}
	return text.n > 0;
}

static bool is_custom_word(const void *arg, struct str text)
{
	const struct str prefix = STR("CUSTOM_");

	return str_starts(text, prefix) && is_word(arg, str_part(text, prefix.n, text.n));
}

static bool is_uuid(const void *arg, struct str text)
{
	struct uuid uuid;

	UNUSED(arg);
	return uuid_parse(text, &uuid);
}

static bool is_type_or_all(const void *arg, struct str text)
{
	return is_word(arg, text) || str_starts(text, STR("all")) || str_eq_c(text, CONSUMER_TYPE_UNKNOWN);
}

const struct json_rule class_pattern = { "^[A-Z0-9_]+$", is_word, NULL };
const struct json_rule custom_class_pattern = { "^CUSTOM_[A-Z0-9_]+$", is_custom_word, NULL };
// The text is that of OpenStack's service. The rule is stricter: 36 digits and dashes that are no uuid are refused with this
// text, too.
const struct json_rule uuid_pattern = { "^[0-9a-fA-F-]{36}$", is_uuid, NULL };
// Without "$" behind "all", as in OpenStack's service: no consumers have another type that begins so.
static const struct json_rule type_or_all_pattern = { "^[A-Z0-9_]+$|^all|^unknown$", is_type_or_all, NULL };

const struct json_schema any_string = { .types = SCHEMA_STRING };
const struct json_schema uuid_string = { .types = SCHEMA_STRING, .format = &uuid_format };
const struct json_schema generation_number = { .types = SCHEMA_INTEGER };
const struct json_schema identity_string = { .types = SCHEMA_STRING, .min_length = 1, .max_length = 255 };
const struct json_schema trait_string = { .types = SCHEMA_STRING, .min_length = 1, .max_length = 255 };
const struct json_schema consumer_type_string = { .types = SCHEMA_STRING, .min_length = 1, .max_length = 255,
	.pattern = &class_pattern };
const struct json_schema consumer_type_or_all = { .types = SCHEMA_STRING, .min_length = 1, .max_length = 255,
	.pattern = &type_or_all_pattern };
