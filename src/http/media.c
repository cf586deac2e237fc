// SPDX-License-Identifier: Apache-2.0
// Parses Content-Type, and finds the representation that fits Accept best.
#include "base/base.h"

#include "http/list.h"
#include "http/media.h"

enum { Q_ONE = 1000 };

struct media_type {
	struct str type, subtype;
	struct str params; // ";a=b;c=d" without the first ';'; STR_NONE if there are none
};

// Splits a media type and its parameters. False if the text before the parameters is not "type/subtype".
static bool split_type(struct str text, struct media_type *media)
{
	struct str rest = text;
	struct str essence = STR_NONE;

	list_next(&rest, ';', &essence);
	// Old Java clients send "*" instead of "*/*".
	if (str_eq_c(essence, "*"))
		essence = STR("*/*");
	size_t slash = str_find(essence, '/', 0);
	media->type = str_part(essence, 0, slash);
	media->subtype = str_part(essence, slash + 1, essence.n);
	media->params = rest;
	return list_is_token(media->type) && list_is_token(media->subtype);
}

static bool find_param(struct str params, struct str name, struct str *value)
{
	struct str item, key;

	while (list_next(&params, ';', &item)) {
		if (list_pair(item, &key, value) && str_eq_nocase(key, name))
			return true;
	}
	return false;
}

bool media_is(struct str content_type, const char *type)
{
	struct media_type media, wanted;

	return split_type(content_type, &media) && split_type(str_c(type), &wanted) &&
		str_eq_nocase(media.type, wanted.type) && str_eq_nocase(media.subtype, wanted.subtype);
}

struct str media_charset(struct str content_type)
{
	struct media_type media;
	struct str charset;

	if (!split_type(content_type, &media) || !find_param(media.params, STR("charset"), &charset))
		return STR_NONE;
	return charset;
}

// Parses a q value into thousandths; -1 if it is invalid. More than three digits, and ".5", are accepted though RFC 9110 does not
// allow them.
static int parse_q(struct str text)
{
	int q = 0;
	size_t i = 0;

	if (i < text.n && (text.p[i] == '0' || text.p[i] == '1'))
		q = (text.p[i++] - '0') * Q_ONE;
	else if (text.n < 2 || text.p[0] != '.')
		return -1;
	if (i < text.n && text.p[i++] != '.')
		return -1;
	for (int unit = Q_ONE / 10; i < text.n; i++, unit /= 10) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return -1;
		q += (text.p[i] - '0') * unit;
	}
	return q <= Q_ONE ? q : -1;
}

// The number of the range's parameters if the offer has all of them, else -1. Parameters after q don't belong to the range.
// charset is ignored, because all answers are UTF-8.
static int match_params(struct str range, struct str offer)
{
	struct str item, name, value, offered;
	int n = 0;

	while (list_next(&range, ';', &item)) {
		list_pair(item, &name, &value);
		if (str_eq_nocase(name, STR("q")))
			break;
		if (name.n == 0 || str_eq_nocase(name, STR("charset")))
			continue;
		if (!find_param(offer, name, &offered) || !str_eq_nocase(value, offered))
			return -1;
		n++;
	}
	return n;
}

// How precisely the range names the offer: 0 for "*/*", 1 for "type/*", 2 and more for the type with parameters; -1 if it does
// not.
static int precision(const struct media_type *range, const struct media_type *offer)
{
	int params = match_params(range->params, offer->params);

	if (params < 0)
		return -1;
	if (str_eq_c(range->type, "*"))
		return str_eq_c(range->subtype, "*") ? 0 : -1;
	if (!str_eq_nocase(range->type, offer->type))
		return -1;
	if (str_eq_c(range->subtype, "*"))
		return 1;
	return str_eq_nocase(range->subtype, offer->subtype) ? 2 + params : -1;
}

// Parses one range of Accept with its q; false if it is malformed.
static bool parse_range(struct str item, struct media_type *range, int *q)
{
	struct str text;

	if (!split_type(item, range))
		return false;
	*q = find_param(range->params, STR("q"), &text) ? parse_q(text) : Q_ONE;
	return *q >= 0;
}

// The q that Accept gives the offer: that of the most precise range. Adds the number of valid ranges to *ranges.
static int quality(struct str accept, const struct media_type *offer, size_t *ranges)
{
	struct media_type range;
	struct str item;
	int best = -1, result = 0, q;

	*ranges = 0;
	while (list_next(&accept, ',', &item)) {
		if (!parse_range(item, &range, &q))
			continue;
		++*ranges;
		int found = precision(&range, offer);
		if (found > best) {
			best = found;
			result = q;
		}
	}
	return result;
}

int media_choose(struct str accept, const char *const *offers, size_t n)
{
	struct media_type offer;
	size_t ranges = 0;
	int best = -1, best_q = 0;

	for (size_t i = 0; i < n; i++) {
		if (!split_type(str_c(offers[i]), &offer))
			continue;
		int q = quality(accept, &offer, &ranges);
		if (ranges == 0)
			return 0;
		if (q > best_q) {
			best_q = q;
			best = (int)i;
		}
	}
	return best;
}
