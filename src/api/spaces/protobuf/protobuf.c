// SPDX-License-Identifier: Apache-2.0
// The envelope in which clients send objects as protobuf: four magic bytes, then a message with the type and the object.
#include "base/base.h"

#include "api/spaces/protobuf/protobuf.h"
#include "base/pool.h"

static const char magic[4] = { 'k', '8', 's', '\0' };

struct envelope {
	struct str version, kind, raw, encoding, type;
};

static bool is_text(struct str s)
{
	return str_utf8_ok(s, NULL) && str_find(s, '\0', 0) == s.n;
}

// Reads the next field; in the envelope all fields are byte strings.
static bool next_bytes(struct str *rest, struct protobuf_item *item, const char **why)
{
	if (!protobuf_next(rest, item, why))
		return false;
	*why = "has a number where bytes must be";
	return item->wire == WIRE_BYTES;
}

static bool read_names(struct str rest, struct envelope *envelope, const char **why)
{
	struct protobuf_item item;

	while (rest.n > 0) {
		if (!next_bytes(&rest, &item, why))
			return false;
		if (item.field == 1)
			envelope->version = item.bytes;
		if (item.field == 2)
			envelope->kind = item.bytes;
	}
	*why = "names a kind that is no text";
	return is_text(envelope->version) && is_text(envelope->kind);
}

static bool read_envelope(struct str body, struct envelope *envelope, const char **why)
{
	struct protobuf_item item;

	*why = "does not begin with \"k8s\" and a NUL";
	if (body.n < sizeof(magic) || memcmp(body.p, magic, sizeof(magic)) != 0)
		return false;
	for (struct str rest = str_part(body, sizeof(magic), body.n); rest.n > 0;) {
		if (!next_bytes(&rest, &item, why))
			return false;
		if (item.field == 1 && !read_names(item.bytes, envelope, why))
			return false;
		if (item.field == 2)
			envelope->raw = item.bytes;
		if (item.field == 3)
			envelope->encoding = item.bytes;
		if (item.field == 4)
			envelope->type = item.bytes;
	}
	*why = "names no kind";
	return envelope->kind.n > 0;
}

enum outcome protobuf_read_object(struct pool *pool, struct str body, struct doc_limits limits, struct doc **object,
	struct str *error)
{
	struct envelope envelope = { .raw = STR("") };
	const char *why = "";

	if (!read_envelope(body, &envelope, &why)) {
		*error = str_printf(pool, "the body is not an object in protobuf: its envelope %s", why);
		return OUTCOME_BAD_DOCUMENT;
	}
	const struct protobuf_message *message = protobuf_kind(envelope.version, envelope.kind);
	bool plain = envelope.encoding.n == 0 && (envelope.type.n == 0 || str_eq_c(envelope.type, PROTOBUF_TYPE));
	if (message == NULL || !plain) {
		*error = message != NULL ? STR("the object in the body is encoded once more, or not as protobuf: send it as "
			"application/json") : str_printf(pool, "%.*s %.*s is not taken as protobuf: send it as application/json",
			STR_HEAD_ARG(envelope.version, 100), STR_HEAD_ARG(envelope.kind, 100));
		return OUTCOME_UNSUPPORTED_MEDIA;
	}
	if (!protobuf_read(pool, message, envelope.raw, limits, object, error))
		return OUTCOME_BAD_DOCUMENT;
	doc_set_str(pool, *object, "apiVersion", envelope.version);
	doc_set_str(pool, *object, "kind", envelope.kind);
	return OUTCOME_OK;
}
