// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/certificate_map.h"

#include "auth/core/authenticator.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/pool.h"

enum {
	PARTS_MAX = 16, // attributes of a subject's pattern
	WORDS_MAX = 5,  // of a rule
};

enum element_type { LITERAL, USER, TENANT };

struct element {
	enum element_type type;
	struct str text; // of a LITERAL, not empty
	struct element *next;
};

// What one value must be.
struct part {
	struct str attribute; // of a subject
	struct element *elements;
};

struct rule {
	enum certificate_kind kind;
	struct part parts[PARTS_MAX]; // of alternative names: one
	size_t n_parts;
	enum role role;
	struct str user, tenant; // "": from the pattern, or none
	struct rule *next;
};

struct certificate_map {
	struct pool *pool;
	struct rule *rules;
};

static const struct {
	const char *name;
	const char *excluded; // characters that {user} and {tenant} never stand for
} kinds[] = {
	[CERTIFICATE_SUBJECT] = { "subject", "" },
	[CERTIFICATE_EMAIL] = { "email", "@" },
	[CERTIFICATE_DNS] = { "dns", ".*" },
	[CERTIFICATE_URI] = { "uri", "/" },
	[CERTIFICATE_UPN] = { "upn", "@" },
};

// ---- reading rules

// Decodes %XX. False: a % has something else behind it.
static bool decode(struct pool *pool, struct str text, struct str *result)
{
	struct buf bytes = buf_new(pool, text.n + 1);

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] != '%') {
			buf_addc(&bytes, text.p[i]);
			continue;
		}
		int high = i + 2 < text.n ? str_hex_digit(text.p[i + 1]) : -1, low = i + 2 < text.n ? str_hex_digit(text.p[i + 2]) : -1;
		if (high < 0 || low < 0)
			return false;
		buf_addc(&bytes, (char)(high << 4 | low));
		i += 2;
	}
	*result = buf_str(&bytes);
	return true;
}

// Takes the first element off the text: {user}, {tenant}, or what stands before the next {. False: the text begins with none of
// these.
static bool next_element(struct pool *pool, struct str *text, struct element *element)
{
	size_t n = str_find(*text, '{', 0);

	if (str_starts(*text, STR("{user}"))) {
		*element = (struct element){ .type = USER };
		n = 6;
	} else if (str_starts(*text, STR("{tenant}"))) {
		*element = (struct element){ .type = TENANT };
		n = 8;
	} else if (n == 0 || !decode(pool, str_part(*text, 0, n), &element->text)) {
		return false;
	}
	*text = str_part(*text, n, text->n);
	return true;
}

// NULL, or what is wrong with the pattern.
static const char *read_pattern(struct pool *pool, struct str text, struct part *part)
{
	struct element **end = &part->elements;
	bool was_variable = false;

	if (text.n == 0)
		return "an empty pattern";
	while (text.n > 0) {
		struct element *element = POOL_NEW(pool, struct element);
		if (!next_element(pool, &text, element))
			return "a pattern with { that is neither {user} nor {tenant}, or % without two hex digits behind it";
		if (was_variable && element->type != LITERAL)
			return "a pattern with nothing between {user} and {tenant}";
		was_variable = element->type != LITERAL;
		*end = element;
		end = &element->next;
	}
	return NULL;
}

static const char *read_parts(struct pool *pool, struct str text, struct rule *rule)
{
	struct str one;

	if (rule->kind != CERTIFICATE_SUBJECT) {
		rule->n_parts = 1;
		return read_pattern(pool, text, &rule->parts[0]);
	}
	while (str_split(&text, ',', &one)) {
		size_t equals = str_find(one, '=', 0);
		if (rule->n_parts == PARTS_MAX)
			return "more than 16 attributes";
		struct part *part = &rule->parts[rule->n_parts++];
		part->attribute = str_part(one, 0, equals);
		if (part->attribute.n == 0 || equals == one.n)
			return "a subject's attribute without name: expected such as CN={user},O=Example";
		const char *wrong = read_pattern(pool, str_part(one, equals + 1, one.n), part);
		if (wrong != NULL)
			return wrong;
	}
	return NULL;
}

static size_t count_of(const struct rule *rule, enum element_type type)
{
	size_t n = 0;

	for (size_t i = 0; i < rule->n_parts; i++) {
		for (const struct element *element = rule->parts[i].elements; element != NULL; element = element->next)
			n += element->type == type;
	}
	return n;
}

static const char *read_fixed(struct pool *pool, struct str word, struct rule *rule)
{
	size_t equals = str_find(word, '=', 0);
	struct str name = str_part(word, 0, equals), value;
	struct str *to = str_eq(name, STR("user")) ? &rule->user : str_eq(name, STR("tenant")) ? &rule->tenant : NULL;

	if (to == NULL || to->n > 0 || !decode(pool, str_part(word, equals + 1, word.n), &value) || value.n == 0 || !auth_is_name(value))
		return "something else than user=NAME and tenant=NAME at its end";
	*to = value;
	return NULL;
}

static const char *read_rule(struct pool *pool, struct str text, struct rule *rule)
{
	struct str words[WORDS_MAX], word;
	size_t n = 0, kind = 0;
	const char *wrong = NULL;

	while (str_split(&text, ' ', &word)) {
		word = str_trim(word);
		if (word.n > 0 && n == WORDS_MAX)
			return "too many words";
		if (word.n > 0)
			words[n++] = word;
	}
	while (n > 0 && kind < COUNT_OF(kinds) && !str_eq_c(words[0], kinds[kind].name))
		kind++;
	if (n < 3 || kind == COUNT_OF(kinds))
		return "something else than KIND PATTERN ROLE, with the kind subject, email, dns, uri or upn";
	rule->kind = (enum certificate_kind)kind;
	if (!role_parse(words[2], &rule->role))
		return "a role that is none of reader, member, admin, operator";
	wrong = read_parts(pool, words[1], rule);
	for (size_t i = 3; i < n && wrong == NULL; i++)
		wrong = read_fixed(pool, words[i], rule);
	if (wrong != NULL)
		return wrong;
	if (count_of(rule, USER) + (rule->user.n > 0) != 1)
		return "not one user: expected {user} in the pattern, or user=NAME";
	if (count_of(rule, TENANT) + (rule->tenant.n > 0) != (rule->role != ROLE_OPERATOR))
		return rule->role == ROLE_OPERATOR ? "a tenant of an operator, who has none"
			: "not one tenant: expected {tenant} in the pattern, or tenant=NAME";
	return NULL;
}

static bool next_rule(struct str *text, struct str *rule)
{
	size_t n = str_find(*text, '\n', 0), semicolon = str_find(*text, ';', 0);

	if (text->n == 0)
		return false;
	n = str_starts(str_trim(*text), STR("#")) || n < semicolon ? n : semicolon; // a comment ends with its line
	*rule = str_trim(str_part(*text, 0, n));
	if (rule->n > 0 && rule->p[rule->n - 1] == '\r')
		rule->n--;
	*text = str_part(*text, n < text->n ? n + 1 : n, text->n);
	return true;
}

struct certificate_map *certificate_map_new(struct str text, char **error)
{
	struct certificate_map *map = memory_zeroed(1, sizeof(*map));
	struct rule **end;
	struct str one;

	map->pool = pool_new_or_end();
	end = &map->rules;
	*error = NULL;
	for (unsigned n = 1; *error == NULL && next_rule(&text, &one);) {
		if (one.n == 0 || one.p[0] == '#')
			continue;
		struct rule *rule = POOL_NEW(map->pool, struct rule);
		const char *wrong = read_rule(map->pool, one, rule);
		if (wrong != NULL)
			*error = auth_message("[certificate] map: rule %u, \"%.*s\", has %s", n, STR_ARG(one), wrong);
		*end = rule;
		end = &rule->next;
		n++;
	}
	if (*error == NULL && map->rules == NULL)
		*error = auth_message("[certificate] map: auth = certificate needs rules that say whom a certificate stands for, such as "
			"subject CN={user},O={tenant} member");
	if (*error != NULL)
		certificate_map_free(&map);
	return map;
}

void certificate_map_free(struct certificate_map **map)
{
	if (*map == NULL)
		return;
	pool_free(&(*map)->pool);
	free(*map);
	*map = NULL;
}

// ---- applying them

struct found {
	struct str user, tenant;
};

static bool is_excluded(enum certificate_kind kind, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (strchr(kinds[kind].excluded, text.p[i]) != NULL)
			return true;
	}
	return false;
}

static bool fits(enum certificate_kind kind, const struct element *element, struct str value, struct found *found)
{
	for (; element != NULL; element = element->next) {
		if (element->type == LITERAL) {
			if (!str_starts(value, element->text))
				return false;
			value = str_part(value, element->text.n, value.n);
			continue;
		}
		size_t n = element->next != NULL ? str_find(value, element->next->text.p[0], 0) : value.n;
		struct str text = str_part(value, 0, n);
		if (n == 0 || is_excluded(kind, text) || !auth_is_name(text))
			return false;
		*(element->type == USER ? &found->user : &found->tenant) = text;
		value = str_part(value, n, value.n);
	}
	return value.n == 0;
}

// The part for the n-th attribute of this type; NULL: the rule has none.
static const struct part *part_for(const struct rule *rule, struct str attribute, size_t n)
{
	for (size_t i = 0; i < rule->n_parts; i++) {
		if (str_eq(rule->parts[i].attribute, attribute) && n-- == 0)
			return &rule->parts[i];
	}
	return NULL;
}

// The attributes of the rule, and no others; several of one type in the same order.
static bool subject_fits(const struct rule *rule, const struct certificate *certificate, struct found *found)
{
	size_t n = 0;

	for (size_t i = 0; i < certificate->n; i++) {
		const struct certificate_name *name = &certificate->names[i];
		size_t before = 0;
		if (name->kind != CERTIFICATE_SUBJECT)
			continue;
		for (size_t j = 0; j < i; j++)
			before += certificate->names[j].kind == CERTIFICATE_SUBJECT && str_eq(certificate->names[j].attribute, name->attribute);
		const struct part *part = part_for(rule, name->attribute, before);
		if (part == NULL || !fits(rule->kind, part->elements, name->value, found))
			return false;
		n++;
	}
	return n == rule->n_parts;
}

enum fit { FITS_NOT, FITS, FITS_TWICE };

static enum fit alternative_fits(const struct rule *rule, const struct certificate *certificate, struct found *found)
{
	enum fit fit = FITS_NOT;

	for (size_t i = 0; i < certificate->n; i++) {
		const struct certificate_name *name = &certificate->names[i];
		struct found another = { .user = STR("") };
		if (name->kind != rule->kind || !fits(rule->kind, rule->parts[0].elements, name->value, &another))
			continue;
		if (fit == FITS && (!str_eq(another.user, found->user) || !str_eq(another.tenant, found->tenant)))
			return FITS_TWICE;
		*found = another;
		fit = FITS;
	}
	return fit;
}

const char *certificate_map_apply(const struct certificate_map *map, struct pool *pool, const struct certificate *certificate,
	struct principal *principal)
{
	for (const struct rule *rule = map->rules; rule != NULL; rule = rule->next) {
		struct found found = { .user = STR(""), .tenant = STR("") };
		enum fit fit = rule->kind == CERTIFICATE_SUBJECT ? (subject_fits(rule, certificate, &found) ? FITS : FITS_NOT)
			: alternative_fits(rule, certificate, &found);
		if (fit == FITS_TWICE)
			return "the certificate has several names that one rule fits in different ways, so it is not clear whom it stands for";
		if (fit == FITS_NOT)
			continue;
		principal->user = str_dup(pool, rule->user.n > 0 ? rule->user : found.user);
		principal->tenant = str_dup(pool, rule->tenant.n > 0 ? rule->tenant : found.tenant);
		principal->role = rule->role;
		return NULL;
	}
	return "the certificate stands for nobody here: no rule of the settings fits its names";
}
