// SPDX-License-Identifier: Apache-2.0
// Checks that all types of bare metal share: the kind of each member, and who may change it.
#include "base/base.h"

#include "base/ascii.h"
#include "base/buf.h"
#include "base/pool.h"
#include "registry/baremetal/internal.h"
#include "registry/core/failure.h"
#include "repr/json/doc.h"

enum { TEXT_MOST = 255, TIME_SECONDS = 19 };

// Converts a given value to the member's kind; *result is the given value itself if it is right as it stands. OUTCOME_OK,
// _BAD_DOCUMENT.
typedef enum outcome convert_fn(struct draft *draft, const struct baremetal_member *member, const struct doc *given,
	struct doc **result);

// What messages of the API call a document of that type.
static struct str document_name(const struct type *type)
{
	static const struct {
		const char *plural, *name;
	} others[] = {
		{ "volumeconnectors", "connector" }, { "volumetargets", "target" }, { "deploytemplates", "template" },
	};

	for (size_t i = 0; i < COUNT_OF(others); i++) {
		if (str_eq_c(type->plural, others[i].plural))
			return str_c(others[i].name);
	}
	return type->singular;
}

enum outcome baremetal_fail_schema(struct draft *draft, const char *format, ...)
{
	struct str document = document_name(draft->address->type), what;
	va_list args;

	va_start(args, format);
	what = str_vprintf(draft->registry->pool, format, args);
	va_end(args);
	return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT, "Schema error for %.*s: %.*s", STR_ARG(document),
		STR_ARG(what));
}

static enum outcome fail_kind(struct draft *draft, const struct baremetal_member *member, const char *right)
{
	return baremetal_fail_schema(draft, "%s has to be %s%s", member->name, right, member->required ? "" : ", or null");
}

// ---- one value

static struct doc *as_given(const struct doc *given)
{
	return (struct doc *)given;
}

// The given string, or a new one where the member's spelling is another.
static struct doc *spelled(struct draft *draft, const struct doc *given, struct str text)
{
	return str_eq(doc_string(given), text) ? as_given(given) : doc_new_string(draft->registry->pool, text);
}

static enum outcome take_text(struct draft *draft, const struct baremetal_member *member, const struct doc *given,
	struct doc **result)
{
	unsigned most = member->most != 0 ? member->most : TEXT_MOST;

	if (doc_kind(given) != DOC_STRING)
		return fail_kind(draft, member, "a string");
	size_t length = str_utf8_length(doc_string(given));
	if (length > most)
		return baremetal_fail_schema(draft, "%s has %zu characters and may have %u", member->name, length, most);
	*result = as_given(given);
	return OUTCOME_OK;
}

static enum outcome take_bool(struct draft *draft, const struct baremetal_member *member, const struct doc *given,
	struct doc **result)
{
	bool value;

	if (!baremetal_bool(given, &value))
		return baremetal_fail_schema(draft, "Unrecognized value of %s; acceptable values are: true, false, 0, 1, and the "
			"strings 0, 1, f, false, n, no, off, on, t, true, y, yes", member->name);
	*result = doc_kind(given) == DOC_BOOL ? as_given(given) : doc_new_bool(draft->registry->pool, value);
	return OUTCOME_OK;
}

static enum outcome take_object(struct draft *draft, const struct baremetal_member *member, const struct doc *given,
	struct doc **result)
{
	if (doc_kind(given) != DOC_OBJECT)
		return fail_kind(draft, member, "an object");
	*result = as_given(given);
	return OUTCOME_OK;
}

static enum outcome take_uuid(struct draft *draft, const struct baremetal_member *member, const struct doc *given,
	struct doc **result)
{
	struct pool *pool = draft->registry->pool;
	struct uuid uuid;

	if (doc_kind(given) != DOC_STRING)
		return fail_kind(draft, member, "a UUID in a string");
	if (!uuid_parse(doc_string(given), &uuid)) {
		struct str excerpt = baremetal_excerpt(pool, doc_string(given));
		return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT, "Expected UUID for %s: %.*s", member->name,
			STR_ARG(excerpt));
	}
	*result = spelled(draft, given, uuid_str(pool, uuid));
	return OUTCOME_OK;
}

static enum outcome take_mac(struct draft *draft, const struct baremetal_member *member, const struct doc *given,
	struct doc **result)
{
	struct pool *pool = draft->registry->pool;

	if (doc_kind(given) != DOC_STRING)
		return fail_kind(draft, member, "a MAC address in a string");
	struct str mac = baremetal_mac(pool, doc_string(given));
	if (mac.p == NULL) {
		struct str excerpt = baremetal_excerpt(pool, doc_string(given));
		return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT,
			"Expected valid MAC address for %s: %.*s; six pairs of hexadecimal digits with colons are one",
			member->name, STR_ARG(excerpt));
	}
	*result = spelled(draft, given, mac);
	return OUTCOME_OK;
}

// Does text match the pattern, in which '0' stands for any digit?
static bool looks_like(struct str text, const char *pattern)
{
	size_t i = 0;

	for (; i < text.n && pattern[i] != '\0'; i++) {
		if (pattern[i] == '0' ? !ascii_is_digit(text.p[i]) : text.p[i] != pattern[i])
			return false;
	}
	return i == text.n && pattern[i] == '\0';
}

static bool in_range(struct str text, size_t at, int least, int most)
{
	int number = (text.p[at] - '0') * 10 + text.p[at + 1] - '0';

	return number >= least && number <= most;
}

// Is this the rest of a time in UTC, behind the seconds: a fraction, and "Z" or "+00:00"?
static bool is_utc(struct str rest)
{
	size_t digits = 0;

	if (rest.n > 0 && rest.p[0] == '.') {
		while (digits + 1 < rest.n && ascii_is_digit(rest.p[digits + 1]))
			digits++;
		if (digits == 0)
			return false;
		rest = str_part(rest, digits + 1, rest.n);
	}
	return str_eq(rest, STR("Z")) || str_eq(rest, STR("+00:00"));
}

static enum outcome take_time(struct draft *draft, const struct baremetal_member *member, const struct doc *given,
	struct doc **result)
{
	struct pool *pool = draft->registry->pool;
	struct str text = doc_kind(given) == DOC_STRING ? doc_string(given) : STR_NONE;
	struct str head = str_part(text, 0, TIME_SECONDS);

	if (!looks_like(head, "0000-00-00T00:00:00") || !in_range(head, 5, 1, 12) || !in_range(head, 8, 1, 31) ||
	    !in_range(head, 11, 0, 23) || !in_range(head, 14, 0, 59) || !in_range(head, 17, 0, 60) ||
	    !is_utc(str_part(text, TIME_SECONDS, text.n)))
		return fail_kind(draft, member, "a time in UTC, such as \"2026-11-21T05:24:00+00:00\"");
	*result = spelled(draft, given, str_printf(pool, "%.*s+00:00", STR_ARG(head)));
	return OUTCOME_OK;
}

static enum outcome take_integer(struct draft *draft, const struct baremetal_member *member, const struct doc *given,
	struct doc **result)
{
	int64_t number;

	if (doc_kind(given) != DOC_NUMBER || !doc_i64(given, &number) || number < INT32_MIN || number > INT32_MAX)
		return fail_kind(draft, member, "a whole number of 32 bits");
	*result = as_given(given);
	return OUTCOME_OK;
}

static enum outcome take_array(struct draft *draft, const struct baremetal_member *member, const struct doc *given,
	struct doc **result)
{
	if (doc_kind(given) != DOC_ARRAY)
		return fail_kind(draft, member, "an array");
	*result = as_given(given);
	return OUTCOME_OK;
}

static convert_fn *const takers[] = {
	[BAREMETAL_TEXT] = take_text, [BAREMETAL_BOOL] = take_bool, [BAREMETAL_FLAG] = take_bool, [BAREMETAL_OBJECT] =
		take_object,
	[BAREMETAL_UUID] = take_uuid, [BAREMETAL_MAC] = take_mac,   [BAREMETAL_TIME] = take_time,
	[BAREMETAL_INTEGER] = take_integer, [BAREMETAL_ARRAY] = take_array,
};

// ---- all of them

// Makes the stored value of a member: what was given, converted, or the default. given NULL: the body does not have the member.
static enum outcome convert_member(struct draft *draft, const struct baremetal_member *member, const struct doc *given,
	struct doc **result)
{
	if (given != NULL)
		return takers[member->kind](draft, member, given, result);
	if (member->required)
		return baremetal_fail_schema(draft, "'%s' is a required property", member->name);
	*result = baremetal_standard(draft->registry->pool, member);
	return OUTCOME_OK;
}

static enum outcome fail_unknown(struct draft *draft, const struct baremetal_member *members, struct str name)
{
	struct pool *pool = draft->registry->pool;
	struct buf known = buf_new(pool, 1024);

	for (const struct baremetal_member *member = members; member->name != NULL; member++) {
		if (!member->served)
			buf_addf(&known, "%s%s", known.n > 0 ? ", " : "", member->name);
	}
	struct str excerpt = baremetal_excerpt(pool, name);
	return baremetal_fail_schema(draft, "Additional properties are not allowed ('%.*s' was unexpected); these are: %.*s",
		STR_ARG(excerpt), STR_ARG(known));
}

// Has the draft's body all members, in their order, and no others, as stored bodies have? Then single values may have to be
// replaced. A rare member may be missing from it and from the stored body.
static bool is_complete(const struct draft *draft, const struct baremetal_member *members)
{
	struct doc_iter it = doc_iter(draft->body);
	const struct doc *stored;
	bool more = doc_next(&it);

	for (; members->name != NULL; members++) {
		if (more && str_eq_c(it.name, members->name))
			more = doc_next(&it);
		else if (!members->rare || doc_get(draft->before, str_c(members->name), &stored))
			return false;
	}
	return !more;
}

// Replaces those values of a complete body that are not spelled as they are stored.
static enum outcome normalise_values(struct draft *draft, const struct baremetal_member *members)
{
	struct doc_iter it = doc_iter(draft->body);

	for (const struct baremetal_member *member = members; doc_next(&it); member++) {
		struct doc *value = NULL;
		while (!str_eq_c(it.name, member->name))
			member++;
		enum outcome outcome = convert_member(draft, member, it.value, &value);
		if (outcome != OUTCOME_OK)
			return outcome;
		if (value != it.value)
			doc_set(draft->body, it.name, value);
	}
	return OUTCOME_OK;
}

enum outcome baremetal_normalise(struct draft *draft, const struct baremetal_member *members)
{
	struct pool *pool = draft->registry->pool;

	assert(members != NULL);
	if (doc_kind(draft->body) != DOC_OBJECT)
		return baremetal_fail_schema(draft, "the document has to be an object");
	if (is_complete(draft, members))
		return normalise_values(draft, members);
	for (struct doc_iter it = doc_iter(draft->body); doc_next(&it);) {
		if (baremetal_member(members, it.name) == NULL)
			return fail_unknown(draft, members, it.name);
	}
	struct doc *body = doc_new_object(pool);
	for (const struct baremetal_member *member = members; member->name != NULL; member++) {
		struct str name = str_c(member->name);
		const struct doc *given;
		struct doc *value = NULL;
		if (!doc_get(draft->body, name, &given) && member->served && draft->before != NULL)
			doc_get(draft->before, name, &given);
		enum outcome outcome = convert_member(draft, member, given, &value);
		if (outcome != OUTCOME_OK)
			return outcome;
		doc_set(body, name, value != NULL && value == given ? doc_copy(pool, given) : value);
	}
	draft->body = body;
	return OUTCOME_OK;
}

enum outcome baremetal_guard(struct draft *draft, const struct baremetal_member *members, const char *free)
{
	if (draft->registry->privileged || draft->by_service)
		return OUTCOME_OK;
	struct doc_iter beside_now = doc_iter(draft->body), beside_was = doc_iter(draft->before);
	for (const struct baremetal_member *member = members; member->name != NULL; member++) {
		struct str name = str_c(member->name);
		const struct doc *now, *was;
		bool is_free = (member->initial && draft->before == NULL) || (free != NULL && strcmp(member->name, free) == 0);
		bool ours = (member->served || member->operators) && !is_free;
		bool existed = doc_get_beside(&beside_was, draft->before, name, &was);
		bool exists = doc_get_beside(&beside_now, draft->body, name, &now);
		if (!ours || (!exists && !existed) || doc_equal(existed ? was : baremetal_standard(draft->registry->pool, member), now))
			continue;
		return registry_fail(draft->registry, OUTCOME_FORBIDDEN, "%s of %s %s is %s: leave it as it is", member->name,
			baremetal_article(draft->address->type->rules->noun), draft->address->type->rules->noun,
			member->served ? "set by the service" : "for operators to set");
	}
	return OUTCOME_OK;
}

enum outcome baremetal_check_name(struct draft *draft)
{
	struct str name = baremetal_text(draft->body, "name");

	if (name.p == NULL || baremetal_name_ok(name))
		return OUTCOME_OK;
	struct str excerpt = baremetal_excerpt(draft->registry->pool, name);
	return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT,
		"Cannot use the name '%.*s' for %s %s: a name is 1 to 255 of the characters A-Z a-z 0-9 - . _ ~, and no UUID",
		STR_ARG(excerpt),
		baremetal_article(draft->address->type->rules->noun), draft->address->type->rules->noun);
}

enum outcome baremetal_check_word(struct draft *draft, const char *name, const char *const *words)
{
	struct pool *pool = draft->registry->pool;
	struct str word = baremetal_text(draft->body, name);

	if (word.p == NULL || baremetal_among(words, word))
		return OUTCOME_OK;
	struct str excerpt = baremetal_excerpt(pool, word);
	struct str known = baremetal_list(pool, words);
	return baremetal_fail_schema(draft, "'%.*s' is no %s: it is one of %.*s", STR_ARG(excerpt), name, STR_ARG(known));
}

enum outcome baremetal_fail_taken(struct registry *registry, const struct type_rules *rules, const struct uuid *uid,
	const struct lookup_key *key)
{
	const char *by = key == NULL ? "UUID" : strcmp(key->kind, "address") == 0 ? "MAC address" : key->kind;
	struct str value = key == NULL ? uuid_str(registry->pool, *uid) : key->value;

	return registry_fail(registry, OUTCOME_NAME_TAKEN, "%s %s with %s %.*s already exists.",
		baremetal_article_first(rules->noun), rules->noun, by, STR_ARG(value));
}
