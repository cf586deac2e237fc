// SPDX-License-Identifier: Apache-2.0
// Names and labels, as the Kubernetes API has them.
#include "base/base.h"

#include "base/ascii.h"
#include "types/common/checks.h"

enum { SUBDOMAIN_MAX = 253, LABEL_MAX = 63 };

// Does it have the form [a-z0-9]([-a-z0-9]*[a-z0-9])?, with at most 63 characters?
static bool is_dns_label(struct str s)
{
	if (s.n == 0 || !ascii_is_lower_alnum(s.p[0]) || !ascii_is_lower_alnum(s.p[s.n - 1]))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_is_lower_alnum(s.p[i]) && s.p[i] != '-')
			return false;
	return true;
}

static bool is_dns_subdomain(struct str s)
{
	struct str rest = s, part;
	bool good = s.n <= SUBDOMAIN_MAX;

	while (good && str_split(&rest, '.', &part))
		good = is_dns_label(part);
	return good;
}

// Does it begin and end with a letter or digit, with letters, digits, -, _ and . between?
static bool is_label_name(struct str s)
{
	if (s.n == 0 || s.n > LABEL_MAX || !ascii_is_alnum(s.p[0]) || !ascii_is_alnum(s.p[s.n - 1]))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_is_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '_' && s.p[i] != '.')
			return false;
	return true;
}

bool kind_is_label_key(struct str key)
{
	size_t slash = str_find(key, '/', 0);

	if (slash == key.n)
		return is_label_name(key);
	return is_dns_subdomain(str_part(key, 0, slash)) && is_label_name(str_part(key, slash + 1, key.n));
}

// Prefixes of annotation keys may contain capital letters.
bool check_is_label_key_of_any_case(struct str key)
{
	char lower[SUBDOMAIN_MAX + 1 + LABEL_MAX];

	if (key.n > sizeof(lower))
		return false;
	for (size_t i = 0; i < key.n; i++)
		lower[i] = ascii_to_lower(key.p[i]);
	return kind_is_label_key(str_n(lower, key.n));
}

#define VALUE_FORM \
	"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end " \
	"with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " \
	"'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

void check_dns_label(struct str text, const struct field_path *at, struct field_faults *faults)
{
	if (text.n > LABEL_MAX)
		field_invalid_text(faults, at, text, "must be no more than 63 characters");
	if (!is_dns_label(text))
		field_invalid_text(faults, at, text,
			"a DNS-1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "
			"alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
			"'[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
}

void check_dns_1035_label(struct str text, const struct field_path *at, struct field_faults *faults)
{
	if (text.n > LABEL_MAX)
		field_invalid_text(faults, at, text, "must be no more than 63 characters");
	if (!is_dns_label(text) || !ascii_is_lower(text.p[0]))
		field_invalid_text(faults, at, text,
			"a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
			"character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation "
			"is '[a-z]([-a-z0-9]*[a-z0-9])?')");
}

void check_dns_subdomain(struct str text, const struct field_path *at, struct field_faults *faults)
{
	if (text.n > SUBDOMAIN_MAX)
		field_invalid_text(faults, at, text, "must be no more than 253 characters");
	if (!is_dns_subdomain(str_part(text, 0, SUBDOMAIN_MAX)) || text.n == 0)
		field_invalid_text(faults, at, text,
			"a DNS-1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
			"with an alphanumeric character (e.g. 'example.com', regex used for validation is "
			"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
}

// Adds a fault for a key that is too long, or else for one of a wrong form.
void check_label_key(struct str key, bool good, const struct field_path *at, struct field_faults *faults)
{
	size_t slash = str_find(key, '/', 0);

	if ((slash < key.n ? key.n - slash - 1 : key.n) > LABEL_MAX)
		field_invalid_text(faults, at, key, "name part must be no more than 63 characters");
	else if (slash < key.n && slash > SUBDOMAIN_MAX)
		field_invalid_text(faults, at, key, "prefix part must be no more than 253 characters");
	else if (!good)
		field_invalid_text(faults, at, key, LABEL_KEY_FORM);
}

void check_label_map(const struct doc *labels, const struct field_path *at, struct field_faults *faults)
{
	struct doc_iter it = doc_iter(labels);

	while (doc_next(&it)) {
		struct str value = doc_string(it.value);
		check_label_key(it.name, kind_is_label_key(it.name), at, faults);
		if (value.n > LABEL_MAX)
			field_invalid_text(faults, at, value, "must be no more than 63 characters");
		else if (value.n > 0 && !is_label_name(value))
			field_invalid_text(faults, at, value, VALUE_FORM);
	}
}
