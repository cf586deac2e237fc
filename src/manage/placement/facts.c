// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "manage/placement/facts.h"

#include <float.h>

#include "base/buf.h"
#include "base/pool.h"

enum { MOST_SHOWN = 4 /* facts of each side that a text about a difference names */ };

static int compare_lines(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct facts sorted(struct str *lines, size_t n)
{
	qsort(lines, n, sizeof(*lines), compare_lines);
	return (struct facts){ .lines = lines, .n = n };
}

// A counted text, which may hold NUL.
static struct str quoted(struct pool *pool, const char *what, struct str value)
{
	struct buf line = buf_new(pool, value.n + 16);

	buf_add(&line, str_c(what));
	BUF_LIT(&line, " \"");
	buf_add(&line, value);
	buf_addc(&line, '"');
	return buf_str(&line);
}

// A ratio as Placement answers it: stored as a FLOAT, which its server prints with FLT_DIG digits. It is printed here as the
// FLOAT next to these digits, so that the digests of earlier imports and exports stay valid.
static double ratio_there(double ratio)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%.*g", FLT_DIG, (double)(float)ratio);
	return (double)strtof(text, NULL);
}

struct facts facts_of_provider(struct pool *pool, const struct provider_record *record, enum facts_usage usage)
{
	size_t most = 4 + record->n_inventories * (usage == FACTS_WITH_USAGE ? 2 : 1) + record->n_aggregates + record->n_traits, n = 0;
	struct str *lines = POOL_ARRAY(pool, struct str, most);

	lines[n++] = quoted(pool, "name", record->name);
	lines[n++] = str_printf(pool, "generation %llu", (unsigned long long)record->generation);
	struct str parent = record->has_parent ? uuid_str(pool, record->parent) : STR("none");
	lines[n++] = str_printf(pool, "parent %.*s", STR_ARG(parent));
	lines[n++] = str_printf(pool, "root %.*s", UUID_ARG(pool, record->root));
	for (size_t i = 0; i < record->n_inventories; i++) {
		const struct inventory *inventory = &record->inventories[i];

		lines[n++] = str_printf(pool,
			"inventory %.*s total=%llu reserved=%llu min_unit=%llu max_unit=%llu step_size=%llu allocation_ratio=%.9g",
			STR_ARG(inventory->class), (unsigned long long)inventory->total, (unsigned long long)inventory->reserved,
			(unsigned long long)inventory->min_unit, (unsigned long long)inventory->max_unit,
			(unsigned long long)inventory->step_size, ratio_there(inventory->allocation_ratio));
		if (usage == FACTS_WITH_USAGE)
			lines[n++] = str_printf(pool, "used %llu of %.*s", (unsigned long long)inventory->used,
				STR_ARG(inventory->class));
	}
	for (size_t i = 0; i < record->n_aggregates; i++)
		lines[n++] = str_printf(pool, "aggregate %.*s", UUID_ARG(pool, record->aggregates[i]));
	for (size_t i = 0; i < record->n_traits; i++)
		lines[n++] = str_printf(pool, "trait %.*s", STR_ARG(record->traits[i]));
	assert(n == most);
	return sorted(lines, n);
}

struct facts facts_of_consumer(struct pool *pool, const struct consumer_record *record)
{
	const struct consumer *consumer = &record->consumer;
	struct str *lines = POOL_ARRAY(pool, struct str, 4 + record->n_allocations);
	size_t n = 0;

	lines[n++] = quoted(pool, "project", consumer->project);
	lines[n++] = quoted(pool, "user", consumer->user);
	lines[n++] = str_printf(pool, "type %.*s", STR_ARG(consumer->type.p != NULL ? consumer->type : STR("none")));
	lines[n++] = str_printf(pool, "generation %llu", (unsigned long long)consumer->generation);
	for (size_t i = 0; i < record->n_allocations; i++) {
		const struct allocation *allocation = &record->allocations[i];

		lines[n++] = str_printf(pool, "allocation %llu %.*s of %.*s", (unsigned long long)allocation->amount,
			STR_ARG(allocation->class), UUID_ARG(pool, allocation->provider));
	}
	return sorted(lines, n);
}

bool facts_equal(const struct facts *a, const struct facts *b)
{
	bool equal = a->n == b->n;

	for (size_t i = 0; equal && i < a->n; i++)
		equal = str_eq(a->lines[i], b->lines[i]);
	return equal;
}

static void add_those_missing(struct buf *text, const struct facts *facts, const struct facts *in, const char *place)
{
	size_t k = 0, shown = 0;

	for (size_t i = 0; i < facts->n && shown <= MOST_SHOWN; i++) {
		while (k < in->n && str_cmp(in->lines[k], facts->lines[i]) < 0)
			k++;
		if (k < in->n && str_eq(in->lines[k], facts->lines[i]))
			continue;
		if (++shown > MOST_SHOWN)
			BUF_LIT(text, "; and more");
		else
			buf_addf(text, "%s%.*s %s", text->n > 0 ? "; " : "", STR_ARG(facts->lines[i]), place);
	}
}

struct str facts_difference(struct pool *pool, const struct facts *there, const struct facts *here)
{
	struct buf text = buf_new(pool, 256);

	add_those_missing(&text, there, here, "there");
	add_those_missing(&text, here, there, "here");
	return buf_str(&text);
}

void facts_add(struct pool *pool, const struct facts *facts, uint64_t sum[DIGEST_SHA256 / 8])
{
	struct buf text = buf_new(pool, 1024);
	uint8_t hash[DIGEST_SHA256];

	for (size_t i = 0; i < facts->n; i++) {
		buf_add_u64(&text, facts->lines[i].n);
		buf_addc(&text, ':');
		buf_add(&text, facts->lines[i]);
	}
	digest_sha256(buf_str(&text), hash);
	for (size_t i = 0; i < DIGEST_SHA256 / 8; i++) {
		uint64_t lane = 0;

		for (size_t k = 0; k < 8; k++)
			lane = lane << 8 | hash[8 * i + k];
		sum[i] += lane;
	}
}
