// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "api/conditions.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/conditional.h"
#include "registry/core/failure.h"

// The tags of both headers.
struct tag_state {
	struct tag_list match, none_match;
};

static enum outcome read_tags(struct call *call, const char *header, const char *title, struct tag_list *list)
{
	if (conditional_parse(request_header(&call->request, header), list))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_REQUEST, "%s must be \"*\" or a list of up to %d entity tags, like W/\"0a1b…\"",
		title, CONDITIONAL_MAX_TAGS);
}

enum outcome conditions_read_match(struct call *call, struct conditions *conditions)
{
	struct tag_state *state = POOL_NEW(call->pool, struct tag_state);

	*conditions = (struct conditions){
		.registry = call->registry,
		.response = &call->response,
		.reads = call->request.method == METHOD_GET || call->request.method == METHOD_HEAD,
		.state = state,
	};
	return read_tags(call, "if-match", "If-Match", &state->match);
}

enum outcome conditions_read(struct call *call, struct conditions *conditions)
{
	enum outcome outcome = conditions_read_match(call, conditions);

	if (outcome != OUTCOME_OK)
		return outcome;
	return read_tags(call, "if-none-match", "If-None-Match", &conditions->state->none_match);
}

struct str conditions_etag_text(struct pool *pool, const uint8_t etag[64])
{
	struct buf text = buf_new(pool, 2 + 128);

	BUF_LIT(&text, "W/");
	buf_add_hex(&text, etag, 64);
	return buf_str(&text);
}

static struct str etag_header(struct pool *pool, const uint8_t etag[64])
{
	struct buf text = buf_new(pool, 4 + 128);

	BUF_LIT(&text, "W/\"");
	buf_add_hex(&text, etag, 64);
	buf_addc(&text, '"');
	return buf_str(&text);
}

void conditions_set_etag(struct call *call, const uint8_t etag[64])
{
	response_set(&call->response, "ETag", etag_header(call->pool, etag));
}

// Reports 412. etag: the present one, which the answer shows; NULL: nothing exists.
static enum outcome stale(struct conditions *conditions, const uint8_t *etag, const char *why)
{
	struct registry *registry = conditions->registry;

	registry_fail(registry, OUTCOME_STALE, "%s", why);
	if (etag != NULL) {
		registry_fail_member(registry, "etag", conditions_etag_text(registry->pool, etag));
		response_set(conditions->response, "ETag", etag_header(registry->pool, etag));
	}
	return OUTCOME_STALE;
}

// RFC 9110 section 13.2.2: If-Match first, then If-None-Match.
static enum outcome check(void *arg, const uint8_t *etag)
{
	struct conditions *conditions = arg;
	const struct tag_state *state = conditions->state;
	struct pool *pool = conditions->registry->pool;

	struct str hex = etag != NULL ? str_part(conditions_etag_text(pool, etag), 2, 2 + 128) : STR_NONE;

	if (state->match.present && etag == NULL)
		return stale(conditions, NULL, "If-Match was given, but there is nothing here that could match");
	if (state->match.present && !conditional_matches(&state->match, hex))
		return stale(conditions, etag, "it was changed since: read it again and repeat your change on what it is now");
	if (!state->none_match.present || etag == NULL || !conditional_matches(&state->none_match, hex))
		return OUTCOME_OK;
	if (conditions->reads)
		return OUTCOME_NOT_MODIFIED;
	return stale(conditions, etag, "If-None-Match was given, and what is here matches");
}

enum outcome conditions_check_collection(struct conditions *conditions)
{
	const struct tag_list *match = &conditions->state->match;

	return !match->present || match->any ? OUTCOME_OK :
		stale(conditions, NULL, "a collection has no ETag that If-Match could name: name the object in the path");
}

struct guard conditions_guard(struct conditions *conditions)
{
	const struct tag_state *state = conditions->state;

	return (struct guard){
		.check = state->match.present || state->none_match.present ? check : NULL,
		.arg = conditions,
		.prevents_lost_update = state->match.present || state->none_match.any,
		.tags = state->match.tags,
		.n_tags = state->match.n,
	};
}

static bool matches_action(void *arg, struct str etag)
{
	const struct conditions *conditions = arg;

	return conditional_matches(&conditions->state->match, etag);
}

static bool excludes_action(void *arg, struct str etag)
{
	const struct conditions *conditions = arg;

	return conditional_matches(&conditions->state->none_match, etag);
}

// What a move or an undo would do can always be shown, so "If-Match: *" is no condition: it must not become one on the tag of
// this moment, with which a move is queued.
static struct tag_guard action_guard(struct conditions *conditions)
{
	const struct tag_list *match = &conditions->state->match;

	return (struct tag_guard){
		.matches = match->present && !match->any ? matches_action : NULL,
		.excludes = conditions->state->none_match.present ? excludes_action : NULL,
		.arg = conditions,
	};
}

enum outcome conditions_move_guard(struct call *call, struct conditions *conditions, struct tag_guard *guard)
{
	enum outcome outcome = conditions_read(call, conditions);

	*guard = outcome == OUTCOME_OK ? action_guard(conditions) : (struct tag_guard){ 0 };
	return outcome;
}

enum outcome conditions_check_preview(struct call *call, struct conditions *conditions, const char *etag,
	const struct state_tags *others)
{
	enum tag_check check = tag_guard_check(action_guard(conditions), etag, others);

	assert(conditions->reads);
	response_set(&call->response, "ETag", str_printf(call->pool, "\"%s\"", etag));
	if (check == TAG_DIFFERS)
		return tag_guard_fail(call->registry, check, etag);
	return check == TAG_EXCLUDED ? OUTCOME_NOT_MODIFIED : OUTCOME_OK;
}
