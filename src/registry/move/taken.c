// SPDX-License-Identifier: Apache-2.0
// Which names of a source tenant the destination has, too, if both have many resources: both indexes are read in order, a page at
// a time, and merged. The database would look up each name of one tenant among those of the other, which takes it longer than
// to read both. Where one tenant has no names for a while, the next page of the other begins behind that gap.
#include "base/base.h"

#include "base/budget.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/move/internal.h"
#include "registry/type/internal.h"

// Up to so many times as many resources as the other tenant has; with more, look-ups in the larger one cost less.
enum { PAGE = 1000, RATIO_MAX = 4 };

struct side {
	uint64_t tenant_id;
	struct pool *pools[2]; // in turn: of the page's rows, and of those before, from which the page's first name comes
	size_t turn;
	struct db_rows rows;
	size_t at; // the next row to compare
};

bool move_merges_names(const struct move_plan *plan)
{
	uint64_t ours = plan->action->count, theirs = plan->action->dest.resources;

	return plan->set.kind == SQL_MOVE_SET_ALL && ours >= PAGE && theirs >= ours / RATIO_MAX && theirs / RATIO_MAX <= ours;
}

static const struct sql_move_names_row *row_of(const struct side *side)
{
	return sql_move_names_row(&side->rows, side->at);
}

static int compare(const struct sql_move_names_row *a, const struct sql_move_names_row *b)
{
	if (a->type_id != b->type_id)
		return a->type_id < b->type_id ? -1 : 1;
	int order = str_cmp(a->namespace, b->namespace);
	return order != 0 ? order : str_cmp(a->name, b->name);
}

// Reads the side's next page: from the other side's current row on, since no smaller name can be taken; or behind its own last
// row, if the other side has none at the moment.
static enum outcome read_page(struct registry *registry, struct side *side, const struct side *other)
{
	struct sql_move_names in = { .tenant_id = side->tenant_id, .namespaces = type_namespaces(registry)->id, .limit = PAGE };
	enum sql_move_names_from from = SQL_MOVE_NAMES_FROM_AT;
	const struct sql_move_names_row *row = NULL;
	struct pool **pool = &side->pools[side->turn = 1 - side->turn];

	in.namespace = in.name = STR("");
	if (other->at < other->rows.n) {
		row = row_of(other);
	} else if (side->rows.n > 0) {
		row = sql_move_names_row(&side->rows, side->rows.n - 1);
		from = SQL_MOVE_NAMES_FROM_BEHIND;
	}
	if (row != NULL) {
		in.type_id = row->type_id;
		in.namespace = row->namespace;
		in.name = row->name;
	}
	if (*pool == NULL)
		*pool = pool_scratch(registry->pool, SIZE_MAX);
	else
		pool_clear(*pool);
	side->at = 0;
	enum db_result result = sql_move_names_run(registry->db, *pool, from, &in, &side->rows);
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// Puts a name into the list, which has the first max in the order of namespace, type and name.
static void add_taken(struct pool *pool, const struct sql_move_names_row *row, struct move_taken *taken, size_t max)
{
	size_t at = taken->n;

	for (; at > 0; at--) {
		const struct move_name *before = &taken->names[at - 1];
		int order = str_cmp(before->space, row->namespace);
		if (order == 0)
			order = before->type_id < row->type_id ? -1 : before->type_id > row->type_id ? 1 : str_cmp(before->name, row->name);
		if (order < 0)
			break;
	}
	if (at == max)
		return;
	size_t behind = (taken->n < max ? taken->n : max - 1) - at;
	memmove(&taken->names[at + 1], &taken->names[at], behind * sizeof(*taken->names));
	taken->names[at] = (struct move_name){ row->type_id, str_dup(pool, row->namespace), str_dup(pool, row->name) };
	if (taken->n < max)
		taken->n++;
}

enum outcome move_merge_names(struct registry *registry, const struct move_plan *plan, size_t max, struct move_taken *taken)
{
	struct side sides[2] = { { .tenant_id = plan->action->source.id }, { .tenant_id = plan->action->dest.id } };
	enum outcome outcome = OUTCOME_OK;
	bool ended = false;

	assert(max > 0);
	*taken = (struct move_taken){ POOL_ARRAY(registry->pool, struct move_name, max), 0 };
	while (outcome == OUTCOME_OK && !ended) {
		for (size_t i = 0; outcome == OUTCOME_OK && !ended && i < 2; i++) {
			struct side *side = &sides[i];
			if (side->at < side->rows.n)
				continue;
			ended = side->pools[side->turn] != NULL && side->rows.n < PAGE;
			if (!ended)
				outcome = read_page(registry, side, &sides[1 - i]);
			ended = ended || side->rows.n == 0;
		}
		while (outcome == OUTCOME_OK && !ended && sides[0].at < sides[0].rows.n && sides[1].at < sides[1].rows.n) {
			int order = compare(row_of(&sides[0]), row_of(&sides[1]));
			budget_work(1);
			if (order == 0)
				add_taken(registry->pool, row_of(&sides[0]), taken, max);
			sides[0].at += order <= 0 ? 1 : 0;
			sides[1].at += order >= 0 ? 1 : 0;
		}
	}
	for (size_t i = 0; i < 4; i++) {
		if (sides[i / 2].pools[i % 2] != NULL)
			pool_scratch_end(registry->pool, sides[i / 2].pools[i % 2]);
	}
	return outcome;
}
