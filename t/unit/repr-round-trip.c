// SPDX-License-Identifier: Apache-2.0
// Generated documents: what is written in JSON, and in XML, reads back as the same tree and the same bytes. And broken
// ones: a changed byte is either refused or gives a document that round-trips too.
#include "base/base.h"

#include "base/pool.h"
#include "repr/shape/shape.h"
#include "tap.h"

enum { ROUNDS = 1500, MAX_DEPTH = 5 };

static const struct repr_document any = { .body = { .kind = SHAPE_ANY } };
static const struct doc_limits limits = { .depth = 32, .nodes = 0 };

// A fixed seed: a failure can be seen again.
static uint64_t state = 0x9e3779b97f4a7c15u;

static unsigned below(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % n;
}

static void add_character(struct buf *out)
{
	static const char *const special[] = {
		"\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u0001", "\\u001f", "\\ud83d\\ude00", "\\ufffe",
			"\\uffff",
		"\\u0085", "\\u2028", "\\ue000", "\\ud800\\udc00", "ä", "∑", "😀", "\x7f", " ", "&", "<", ">", "'", "]]>",
			"&amp;",
		"\\\\u0041", "\\\\n", "/", "\xef\xbf\xbd", "\xef\xbf\xbf",
	};

	if (below(2) == 0)
		buf_addc(out, (char)('a' + (int)below(26)));
	else
		buf_add(out, str_c(special[below(COUNT_OF(special))]));
}

static void add_string(struct buf *out, const char *prefix)
{
	buf_addc(out, '"');
	buf_add(out, str_c(prefix));
	for (unsigned n = below(8); n > 0; n--)
		add_character(out);
	if (prefix[0] == '\0' && below(10) == 0)
		BUF_LIT(out, "\\u0000");
	buf_addc(out, '"');
}

static void add_digits(struct buf *out, unsigned n)
{
	buf_addc(out, (char)('1' + (int)below(9)));
	for (; n > 1; n--)
		buf_addc(out, (char)('0' + (int)below(10)));
}

static void add_number(struct buf *out)
{
	if (below(2) == 0)
		buf_addc(out, '-');
	if (below(4) == 0)
		buf_addc(out, '0');
	else
		add_digits(out, 1 + below(18));
	if (below(3) == 0) {
		buf_addc(out, '.');
		add_digits(out, 1 + below(25));
	}
	if (below(3) == 0) {
		buf_add(out, str_c((const char *[]){ "e", "E", "e+", "E-", "e-0" }[below(5)]));
		add_digits(out, 1 + below(2));
	}
}

static void add_value(struct buf *out, unsigned depth)
{
	unsigned kind = below(depth < MAX_DEPTH ? 8 : 6), n = below(6);
	char prefix[16];

	if (kind < 3) {
		buf_add(out, kind == 0 ? STR("null") : kind == 1 ? STR("true") : STR("false"));
	} else if (kind == 3) {
		add_number(out);
	} else if (kind < 6) {
		add_string(out, "");
	} else if (kind == 6) {
		buf_addc(out, '[');
		for (unsigned i = 0; i < n; i++) {
			buf_add(out, i > 0 ? STR(" , ") : STR(" "));
			add_value(out, depth + 1);
		}
		buf_addc(out, ']');
	} else {
		buf_addc(out, '{');
		for (unsigned i = 0; i < n; i++) {
			buf_add(out, i > 0 ? STR("\n,\t") : STR("\r\n"));
			snprintf(prefix, sizeof prefix, "%u", i); // different names
			add_string(out, prefix);
			BUF_LIT(out, " : ");
			add_value(out, depth + 1);
		}
		buf_addc(out, '}');
	}
}

static struct str write_as(struct pool *pool, enum repr_format format, const struct doc *doc)
{
	struct buf out = buf_new(pool, 0);

	repr_write(&any, format, doc, &out);
	return buf_str(&out);
}

// NULL, or what went wrong.
static const char *round_trip(struct pool *pool, struct str text, enum repr_format format)
{
	struct str error = STR("");
	struct doc *doc, *again;

	if (!repr_read(pool, &any, format, text, limits, &doc, &error)) {
		diag("%.*s", STR_ARG(error));
		return "not read";
	}
	struct str json = write_as(pool, REPR_JSON, doc);
	struct str xml = write_as(pool, REPR_XML, doc);
	if (!str_utf8_ok(json, NULL) || !str_utf8_ok(xml, NULL))
		return "not written in UTF-8";
	if (!repr_read(pool, &any, REPR_JSON, json, limits, &again, &error) || !doc_equal(doc, again))
		return "another tree by way of JSON";
	if (!str_eq(write_as(pool, REPR_JSON, again), json))
		return "other JSON by way of JSON";
	if (!repr_read(pool, &any, REPR_XML, xml, limits, &again, &error) || !doc_equal(doc, again))
		return "another tree by way of XML";
	if (!str_eq(write_as(pool, REPR_JSON, again), json) || !str_eq(write_as(pool, REPR_XML, again), xml))
		return "other texts by way of XML";
	if (!str_eq(write_as(pool, REPR_JSON, doc_copy(pool, doc)), json))
		return "a copy differs";
	return NULL;
}

static void test_generated(void)
{
	struct pool *pool = pool_new();
	int failed = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct buf text = buf_new(pool, 0);
		add_value(&text, 0);
		const char *fault = round_trip(pool, buf_str(&text), REPR_JSON);
		if (fault != NULL && failed++ < 5) {
			diag("round %d: %s", i, fault);
			tap_show("text", buf_str(&text));
		}
		pool_clear(pool);
	}
	is_int(failed, 0, "%d generated documents round-trip", ROUNDS);
	pool_free(&pool);
}

// Number texts come back byte for byte, which comparing trees alone would not show.
static void test_numbers(void)
{
	struct pool *pool = pool_new();
	int failed = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct buf text = buf_new(pool, 0);
		struct str error = STR("");
		struct doc *doc;
		add_number(&text);
		bool same = doc_parse_json(pool, buf_str(&text), limits, &doc, &error) &&
			str_eq(write_as(pool, REPR_JSON, doc), buf_str(&text)) &&
			str_eq(doc_number_text(pool, doc), buf_str(&text));
		if (!same && failed++ < 5)
			tap_show("number", buf_str(&text));
		pool_clear(pool);
	}
	is_int(failed, 0, "%d numbers keep their text", ROUNDS);
	pool_free(&pool);
}

// Changes, drops or doubles some bytes.
static struct str damaged(struct pool *pool, struct str text)
{
	struct buf out = buf_new(pool, text.n + 8);
	unsigned at = below((unsigned)text.n);

	buf_add(&out, str_part(text, 0, at));
	switch (below(3)) {
	case 0:
		buf_addc(&out, (char)below(256));
		break;
	case 1:
		buf_add(&out, str_part(text, at, at + 2));
		break;
	default:
		return buf_str(&out);
	}
	buf_add(&out, str_part(text, at + below(2), text.n));
	return buf_str(&out);
}

static void test_damaged(enum repr_format format, const char *name)
{
	struct pool *pool = pool_new();
	int failed = 0, refused = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct buf text = buf_new(pool, 0);
		struct str error = STR(""), broken;
		struct doc *doc;
		add_value(&text, 0);
		if (!doc_parse_json(pool, buf_str(&text), limits, &doc, &error))
			continue;
		broken = damaged(pool, write_as(pool, format, doc));
		if (!repr_read(pool, &any, format, broken, limits, &doc, &error)) {
			refused++;
			failed += error.n == 0 || !str_utf8_ok(error, NULL);
		} else if (round_trip(pool, broken, format) != NULL && failed++ < 5) {
			tap_show("damaged", broken);
		}
		pool_clear(pool);
	}
	is_int(failed, 0, "damaged %s: refused with a reason, or round-trips", name);
	ok(refused > ROUNDS / 4, "most were refused: %d", refused);
	pool_free(&pool);
}

int main(void)
{
	test_generated();
	test_numbers();
	test_damaged(REPR_JSON, "JSON");
	test_damaged(REPR_XML, "XML");
	return done_testing();
}
