// SPDX-License-Identifier: Apache-2.0
// The types of settings: which values each accepts, how an error names these, and how a value is printed.
#include "base/base.h"

#include "base/ascii.h"
#include "base/config/setting.h"
#include "base/pool.h"

enum { MINUTE = 60 };

static bool is_choice(const struct setting *setting, struct str value)
{
	struct str rest = str_c(setting->choices), choice;

	while (str_split(&rest, ',', &choice)) {
		if (str_eq(choice, value))
			return true;
	}
	return false;
}

// Are all items of the comma-separated value among the choices?
static bool is_list(const struct setting *setting, struct str value)
{
	struct str rest = value, item;

	while (str_split(&rest, ',', &item)) {
		if (!is_choice(setting, str_trim(item)))
			return false;
	}
	return value.n > 0;
}

static bool is_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		if (!ascii_is_alnum(c) && c != '-' && c != '_' &&
		    c != '.')
			return false;
	}
	return name.n > 0;
}

// Are the items valid names, and all different?
static bool is_names(struct str value)
{
	struct str rest = value, item, others, other;

	while (str_split(&rest, ',', &item)) {
		if (!is_name(str_trim(item)))
			return false;
		others = rest;
		while (str_split(&others, ',', &other)) {
			if (str_eq(str_trim(item), str_trim(other)))
				return false;
		}
	}
	return value.n > 0;
}

// Is it http(s)://host[:port][/prefix], of printable ASCII, without query, and without a slash at the end? Paths are appended to
// it.
static bool is_url(struct str value)
{
	struct str host;

	if (str_starts(value, STR("https://")))
		host = str_part(value, strlen("https://"), value.n);
	else if (str_starts(value, STR("http://")))
		host = str_part(value, strlen("http://"), value.n);
	else
		return false;
	for (size_t i = 0; i < host.n; i++) {
		if (host.p[i] <= ' ' || host.p[i] > '~' || strchr("\"<>\\^`{|}?#", host.p[i]) != NULL)
			return false;
	}
	return host.n > 0 && host.p[0] != '/' && !str_ends(host, STR("/"));
}

static bool is_urls(struct str value)
{
	struct str rest = value, item;

	if (value.n == 0)
		return true;
	while (str_split(&rest, ',', &item)) {
		if (str_trim(item).n == 0 || !is_url(str_trim(item)))
			return false;
	}
	return true;
}

static bool has_control(struct str value)
{
	for (size_t i = 0; i < value.n; i++) {
		if ((unsigned char)value.p[i] < 0x20 || value.p[i] == 0x7f)
			return true;
	}
	return false;
}

// Is the value of a setting of characters valid? Its length is checked for every type, control characters for all but secrets.
static bool is_text(const struct setting *setting, struct str value)
{
	if (value.n < setting->least || (setting->most > 0 && value.n > setting->most))
		return false;
	if (setting->type == SETTING_SECRET)
		return str_find(value, '\0', 0) == value.n;
	if (has_control(value))
		return false;
	switch (setting->type) {
	case SETTING_CHOICE:
		return is_choice(setting, value);
	case SETTING_LIST:
		return is_list(setting, value);
	case SETTING_NAMES:
		return is_names(value);
	case SETTING_URLS:
		return is_urls(value);
	default:
		return true;
	}
}

// The factor of a suffix; 0 if the type has no such suffix.
static uint64_t unit(enum setting_type type, char suffix)
{
	static const struct {
		enum setting_type type;
		char suffix;
		uint64_t factor;
	} units[] = {
		{ SETTING_SIZE, 'K', SETTING_KIB },
		{ SETTING_SIZE, 'M', SETTING_MIB },
		{ SETTING_SIZE, 'G', 1024 * SETTING_MIB },
		{ SETTING_SECONDS, 's', 1 },
		{ SETTING_SECONDS, 'm', MINUTE },
		{ SETTING_SECONDS, 'h', SETTING_HOUR },
		{ SETTING_SECONDS, 'd', SETTING_DAY },
		{ SETTING_SECONDS, 'w', 7 * SETTING_DAY },
	};

	for (size_t i = 0; i < COUNT_OF(units); i++) {
		if (units[i].type == type && units[i].suffix == suffix)
			return units[i].factor;
	}
	return 0;
}

static bool parse_octal(struct str s, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '7')
			return false;
		*number = *number * 8 + (uint64_t)(s.p[i] - '0');
	}
	return s.n > 0 && s.n <= 6;
}

static bool parse_number(const struct setting *setting, struct str value, uint64_t *number)
{
	uint64_t factor = value.n > 0 ? unit(setting->type, value.p[value.n - 1]) : 0;

	if (setting->type == SETTING_OCTAL)
		return parse_octal(value, number);
	if (factor > 0)
		value = str_part(value, 0, value.n - 1);
	return str_to_u64(value, number) && !__builtin_mul_overflow(*number, factor > 0 ? factor : 1, number);
}

static bool set_number(const struct setting *setting, void *member, struct str value)
{
	uint64_t number;

	if (!parse_number(setting, value, &number) || number < setting->least || number > setting->most)
		return false;
	if (setting->size == sizeof(uint64_t)) {
		memcpy(member, &number, sizeof(number));
	} else {
		unsigned small = (unsigned)number;
		assert(setting->size == sizeof(small) && small == number);
		memcpy(member, &small, sizeof(small));
	}
	return true;
}

bool setting_set(const struct setting *setting, void *base, struct pool *pool, struct str value)
{
	void *member = (char *)base + setting->offset;

	if (setting->type >= SETTING_NUMBER)
		return set_number(setting, member, value);
	if (!is_text(setting, value))
		return false;
	const char *text = str_dup(pool, value).p;
	assert(setting->size == sizeof(text));
	memcpy(member, &text, sizeof(text));
	return true;
}

static void expected_choices(const struct setting *setting, struct buf *buf)
{
	struct str rest = str_c(setting->choices), choice;
	bool first = true;

	buf_add(buf, str_c(setting->type == SETTING_LIST ? "one or more, with commas, of " : "one of "));
	while (str_split(&rest, ',', &choice)) {
		buf_addf(buf, "%s%.*s", first ? "" : ", ", STR_ARG(choice));
		first = false;
	}
}

void setting_add_expected(const struct setting *setting, struct buf *buf)
{
	unsigned long long least = setting->least, most = setting->most;

	switch (setting->type) {
	case SETTING_TEXT:
	case SETTING_SECRET:
		buf_addf(buf, "a text of %llu to %llu bytes without control characters", least, most);
		break;
	case SETTING_CHOICE:
	case SETTING_LIST:
		expected_choices(setting, buf);
		break;
	case SETTING_NAMES:
		buf_addf(buf,
			"one or more different names of letters, digits, \"-\", \"_\" and \".\", with commas, of %llu bytes "
			"at most", most);
		break;
	case SETTING_URLS:
		BUF_LIT(buf, "http:// or https://, a host, perhaps :port and /prefix, no slash at the end; several with commas");
		break;
	case SETTING_NUMBER:
		buf_addf(buf, "a number from %llu to %llu", least, most);
		break;
	case SETTING_SIZE:
		buf_addf(buf, "bytes from %llu to %llu, such as 65536, 64K or 1M", least, most);
		break;
	case SETTING_SECONDS:
		buf_addf(buf, "seconds from %llu to %llu, such as 90, 90s, 15m, 12h, 30d or 4w", least, most);
		break;
	case SETTING_OCTAL:
		buf_addf(buf, "an octal number from %llo to 0%llo", least, most);
		break;
	}
}

struct str setting_default(const struct setting *setting, struct pool *pool, struct str endpoint)
{
	const char *name = strstr(setting->standard, "NAME");

	if (name == NULL || endpoint.n == 0)
		return str_c(setting->standard);
	return str_printf(pool, "%.*s%.*s%s", (int)(name - setting->standard), setting->standard, STR_ARG(endpoint),
	                  name + strlen("NAME"));
}

static uint64_t get_number(const struct setting *setting, const void *member)
{
	uint64_t number;
	unsigned small;

	if (setting->size == sizeof(number)) {
		memcpy(&number, member, sizeof(number));
		return number;
	}
	memcpy(&small, member, sizeof(small));
	return small;
}

static void print_text(const struct setting *setting, const void *member, FILE *out)
{
	const char *text;

	memcpy(&text, member, sizeof(text));
	if (text[0] != '\0')
		fprintf(out, " %s", setting->type == SETTING_SECRET ? "********" : text);
}

void setting_print(const struct setting *setting, const void *base, FILE *out)
{
	const char *member = (const char *)base + setting->offset;

	if (setting->type < SETTING_NUMBER)
		print_text(setting, member, out);
	else
		fprintf(out, setting->type == SETTING_OCTAL ? " 0%llo" : " %llu",
		        (unsigned long long)get_number(setting, member));
}
