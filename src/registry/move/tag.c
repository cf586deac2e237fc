// SPDX-License-Identifier: Apache-2.0
// State tags: a move is compared with its preview by them.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/move/internal.h"

static struct str sum_text(struct registry *registry, const struct state_sum *sum)
{
	struct buf text = buf_new(registry->pool, 256);

	buf_add_u64(&text, sum->count);
	for (size_t i = 0; i < 4; i++) {
		buf_addc(&text, '/');
		buf_add(&text, sum->sums[i]);
	}
	return buf_str(&text);
}

void move_state_tag(struct registry *registry, const struct uuid *tenant, const struct state_sum *sum,
	char tag[MOVE_TAG_HEX + 1], struct state_tags *others)
{
	const struct str parts[] = { STR("state:"), uuid_bytes(tenant), sum_text(registry, sum) };

	state_tag_make(registry, parts, COUNT_OF(parts), tag, others);
}

void move_state_tag_of_one(struct registry *registry, const struct uuid *uid, uint64_t revision, char tag[MOVE_TAG_HEX + 1])
{
	struct buf text = buf_new(registry->pool, 24);

	buf_add_u64(&text, revision);
	const struct str parts[] = { STR("one:"), uuid_bytes(uid), buf_str(&text) };
	state_tag_make(registry, parts, COUNT_OF(parts), tag, NULL);
}

// Text that clients choose is preceded by its length, so no two lists of blockers yield the same bytes.
static void add_counted(struct buf *buf, struct str s)
{
	buf_add_u64(buf, s.n);
	buf_addc(buf, ':');
	buf_add(buf, s);
}

static void add_number(struct buf *buf, uint64_t number)
{
	buf_add_u64(buf, number);
	buf_addc(buf, '/');
}

// All that an action shows of a tenant. The tenant's etag covers tier, metadata and the Tenant object.
static void add_tenant(struct buf *buf, const struct tenant *tenant, const struct type_counts *counts)
{
	buf_add(buf, uuid_bytes(&tenant->uid));
	buf_add(buf, str_n((const char *)tenant->etag, sizeof(tenant->etag)));
	add_number(buf, tenant->resources);
	add_number(buf, (uint64_t)tenant->created_us);
	add_number(buf, (uint64_t)tenant->updated_us);
	add_number(buf, counts->n);
	for (size_t i = 0; i < counts->n; i++) {
		add_counted(buf, counts->list[i].type);
		add_number(buf, counts->list[i].resources);
	}
}

void move_state_tag_of_action(struct registry *registry, struct move_action *action, const struct state_sum *sum,
	const struct state_sum *merged)
{
	struct buf tenants = buf_new(registry->pool, 512), blockers = buf_new(registry->pool, 512);

	add_tenant(&tenants, &action->source, &action->source_counts);
	add_tenant(&tenants, &action->dest, &action->dest_counts);
	for (size_t i = 0; i < action->n_blockers; i++) {
		add_counted(&blockers, action->blockers[i].resource);
		add_counted(&blockers, str_c(action->blockers[i].reason));
		add_counted(&blockers, action->blockers[i].detail);
	}
	// The sums include uids and revisions, so they cover which resources move and what is shown of each.
	const struct str parts[] = {
		STR("action:"),
		buf_str(&tenants),
		uuid_bytes(&action->resource.uid),
		action->listed ? STR("listed:") : STR("sums:"),
		sum_text(registry, sum),
		STR(" merged:"),
		sum_text(registry, merged),
		action->more_blockers ? STR(" more blockers:") : STR(" blockers:"),
		buf_str(&blockers),
	};
	state_tag_make(registry, parts, COUNT_OF(parts), action->etag, &action->other_etags);
}

bool move_state_tag_is(const struct move_action *action, struct str tag)
{
	bool is = str_eq_c(tag, action->tag);

	for (size_t i = 0; !is && i < action->other_tags.n; i++)
		is = str_eq_c(tag, action->other_tags.other[i]);
	return is;
}

static bool any_is(bool (*is)(void *arg, struct str etag), void *arg, const char *tag, const struct state_tags *others)
{
	bool any = is(arg, str_c(tag));

	for (size_t i = 0; !any && i < others->n; i++)
		any = is(arg, str_c(others->other[i]));
	return any;
}

// RFC 9110 section 13.2.2: If-Match first, then If-None-Match.
enum tag_check tag_guard_check(struct tag_guard guard, const char *tag, const struct state_tags *others)
{
	if (guard.matches != NULL && !any_is(guard.matches, guard.arg, tag, others))
		return TAG_DIFFERS;
	return guard.excludes != NULL && any_is(guard.excludes, guard.arg, tag, others) ? TAG_EXCLUDED : TAG_OK;
}

enum outcome tag_guard_fail(struct registry *registry, enum tag_check check, const char *etag)
{
	assert(check != TAG_OK);
	registry_fail(registry, OUTCOME_STALE,
		check == TAG_DIFFERS ? "something changed since the preview with that tag was shown: look at it again" :
				       "If-None-Match was given, and what is here matches");
	if (etag[0] != '\0')
		registry_fail_member(registry, "etag", str_printf(registry->pool, "\"%s\"", etag));
	return OUTCOME_STALE;
}
