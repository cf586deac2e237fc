// SPDX-License-Identifier: Apache-2.0
// Converts documents to the texts that are stored, and copies stored texts into answers.
#include "base/base.h"

#include "api/documents.h"
#include "api/call.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/core/settings.h"

struct str document_json_text(struct pool *pool, const struct doc *doc)
{
	struct buf text = buf_new(pool, 256);

	doc_write_json(doc, &text);
	return buf_str(&text);
}

struct str document_text_or_stored(struct pool *pool, const struct doc *doc, const struct resource *current, const char *column)
{
	struct str text = document_json_text(pool, doc), stored;

	if (current == NULL)
		return text;
	stored = strcmp(column, "meta") == 0 ? current->meta : current->body;
	if (str_eq(text, stored))
		return text;
	struct pool *scratch = pool_scratch(pool, stored.n);
	bool same = doc_equal(doc, stored_document(scratch, resource_place(current, column), stored));

	pool_scratch_end(pool, scratch);
	return same ? stored : text;
}

bool document_fits(const struct call *call, const struct resource *current, const struct content *content)
{
	size_t bytes = content->meta.n + content->body.n;

	return bytes <= registry_settings(call->config)->max_body ||
		(current != NULL && bytes <= current->meta.n + current->body.n);
}

struct str document_time_text(struct pool *pool, int64_t us)
{
	struct buf text = buf_new(pool, 32);

	clock_add_rfc3339(&text, us);
	return buf_str(&text);
}

void document_add_member(struct buf *out, const char *name, struct str value)
{
	buf_addc(out, '"');
	buf_add(out, str_c(name));
	BUF_LIT(out, "\":");
	json_add_string(out, value);
	buf_addc(out, ',');
}

void document_add_stored_members(struct buf *out, struct stored_place place, struct str object)
{
	if (object.n < 2 || object.p[0] != '{' || object.p[object.n - 1] != '}') {
		stored_is_broken(out->pool, place, STR("it is no object"));
		return;
	}
	struct str members = str_part(object, 1, object.n - 1);

	if (members.n == 0)
		return;
	buf_addc(out, ',');
	buf_add(out, members);
}

static int compare_names(const void *a, const void *b)
{
	return str_cmp(((const struct doc_iter *)a)->name, ((const struct doc_iter *)b)->name);
}

void document_sort_members(struct doc_iter *members, size_t n)
{
	qsort(members, n, sizeof(members[0]), compare_names);
}
