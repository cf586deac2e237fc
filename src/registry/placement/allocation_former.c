// SPDX-License-Identifier: Apache-2.0
// Keeps for undo what a write of allocations replaces: one text for each provider, which is stored with that provider's change.
#include "base/base.h"

#include "db/list.h"
#include "registry/log/change.h"
#include "registry/placement/allocation_internal.h"
#include "registry/placement/resource_class.h"
#include "repr/json/doc.h"

// A consumer and a provider that the write concerns. It stands once for each class of which the consumer has an allocation there
// before the write (class and used), and once more, with class.p NULL, for each allocation that it will have there.
struct part {
	uint64_t resource_id; // the provider
	size_t set;           // the index of the consumer's set
	struct str class;
	uint64_t class_id;
	uint64_t used;
};

static int by_provider_and_set(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->resource_id != y->resource_id)
		return x->resource_id < y->resource_id ? -1 : 1;
	return x->set < y->set ? -1 : x->set > y->set;
}

static struct part *sorted_parts(const struct allocation_write *write, size_t *n)
{
	struct part *parts = POOL_ARRAY(write->registry->pool, struct part, write->n_before + write->n_allocations);

	*n = 0;
	for (size_t i = 0; i < write->n_before; i++) {
		const struct allocated_before *before = &write->before[i];
		parts[(*n)++] = (struct part){ before->resource_id, before->set, before->class, before->class_id, before->used };
	}
	for (size_t i = 0; i < write->n; i++) {
		for (size_t k = 0; k < write->sets[i].n; k++) {
			uint64_t id = allocation_write_provider(write, &write->sets[i].allocations[k].provider)->id;
			parts[(*n)++] = (struct part){ .resource_id = id, .set = i };
		}
	}
	if (*n > 0)
		qsort(parts, *n, sizeof(*parts), by_provider_and_set);
	return parts;
}

static void add_member(struct buf *text, const char *name, struct str value)
{
	buf_addf(text, ",\"%s\":", name);
	json_add_string(text, value);
}

// Appends what is known of the set's consumer before the write, and its generation after it.
static void add_consumer(struct buf *text, const struct allocation_write *write, size_t set)
{
	const struct known *known = &write->known[set];
	bool is_left = write->sets[set].n > 0;
	uint64_t left = known->there ? known->generation + 1 : write->renewed != NULL ? KEPT_RENEWED : 1;

	buf_addc(text, '"');
	uuid_add(text, write->sets[set].consumer);
	BUF_LIT(text, "\":{");
	if (is_left)
		buf_addf(text, "\"left\":%llu", (unsigned long long)left);
	if (!known->there)
		return;
	buf_addf(text, "%s\"generation\":%llu", is_left ? "," : "", (unsigned long long)known->generation);
	add_member(text, "project_id", known->project);
	add_member(text, "user_id", known->user);
	add_member(text, "consumer_type", known->type.p != NULL ? known->type : STR(CONSUMER_TYPE_UNKNOWN));
}

static void add_resources(struct buf *text, const struct part *parts, size_t n)
{
	size_t added = 0;

	BUF_LIT(text, ",\"resources\":{");
	for (size_t i = 0; i < n; i++) {
		if (parts[i].class.p == NULL)
			continue;
		buf_add(text, added++ > 0 ? STR(",") : STR_NONE);
		json_add_string(text, parts[i].class);
		buf_addf(text, ":%llu", (unsigned long long)parts[i].used);
	}
	buf_addc(text, '}');
}

// A custom class can be renamed, and keeps its id.
static void add_class_ids(struct buf *text, const struct part *parts, size_t n)
{
	size_t added = 0;

	for (size_t i = 0; i < n; i++) {
		if (parts[i].class.p == NULL || parts[i].class_id < RESOURCE_CLASS_MIN_CUSTOM)
			continue;
		buf_add(text, added++ > 0 ? STR(",") : STR(",\"class_ids\":{"));
		json_add_string(text, parts[i].class);
		buf_addf(text, ":%llu", (unsigned long long)parts[i].class_id);
	}
	buf_add(text, added > 0 ? STR("}") : STR_NONE);
}

// Appends what the consumer of the first part has of its provider before the write. Returns how many parts are of these two.
static size_t add_holding(struct buf *text, const struct allocation_write *write, const struct part *parts, size_t n)
{
	size_t end = 0;

	while (end < n && by_provider_and_set(&parts[0], &parts[end]) == 0)
		end++;
	if (!write->known[parts[0].set].there)
		return end;
	add_resources(text, parts, end);
	add_class_ids(text, parts, end);
	return end;
}

struct str allocation_write_former(const struct allocation_write *write)
{
	struct db_list list = db_list_new(write->registry->pool, 512);
	struct buf text = buf_new(write->registry->pool, 512);
	size_t n;

	if (!change_keeps_content(write->registry))
		return STR_NONE;
	const struct part *parts = sorted_parts(write, &n);
	for (size_t i = 0; i < n;) {
		uint64_t id = parts[i].resource_id;
		text.n = 0;
		for (char before = '{'; i < n && parts[i].resource_id == id; before = ',') {
			buf_addc(&text, before);
			add_consumer(&text, write, parts[i].set);
			i += add_holding(&text, write, &parts[i], n - i);
			buf_addc(&text, '}');
		}
		buf_addc(&text, '}');
		struct buf *item = db_list_item(&list);
		buf_addf(item, "[%llu,", (unsigned long long)id);
		json_add_string(item, buf_str(&text));
		buf_addc(item, ']');
	}
	return db_list_end(&list);
}
