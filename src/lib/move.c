// SPDX-License-Identifier: Apache-2.0
// Moves: previews one, runs it, and polls one in the background.
#include "base/base.h"

#include "http/uri.h"
#include "lib/object.h"

struct tenure_move {
	struct tenure_client *client;
	struct pool *pool;
	struct pool *content;   // memory of what the last answer contained
	struct str path;        // of the move action; n 0: only the move's id is known
	struct str status_path; // of the move in the background; n 0: it is not in the background
	struct str tenant;      // "/v2.0/acme"
	struct str id;
	struct str etag;
	struct str location;    // p NULL: not done
	struct str text;        // p NULL: none yet
	const struct doc *move; // the document's member
};

static struct tenure_move *move_new(struct tenure_client *client)
{
	struct tenure_move *move = calloc(1, sizeof(*move));

	if (move == NULL)
		return NULL;
	move->client = client;
	move->pool = pool_new();
	move->content = pool_new();
	if (move->pool == NULL || move->content == NULL) {
		tenure_move_free(&move);
		return NULL;
	}
	move->location = move->text = STR_NONE;
	return move;
}

// The tenant's part of a path: "/v2.0/acme".
static struct str tenant_of(struct str path)
{
	return str_part(path, 0, str_find(path, '/', sizeof("/v2.0/") - 1));
}

static struct tenure_move *action_new(struct tenure_client *client, struct str source, const char *destination)
{
	struct tenure_move *move = destination != NULL && *destination != '\0' ? move_new(client) : NULL;

	if (move == NULL)
		return NULL;
	struct buf path = buf_new(move->pool, 256);
	buf_add(&path, source);
	BUF_LIT(&path, "/action/move?dest=");
	uri_add_value(&path, str_c(destination));
	move->path = buf_str(&path);
	move->tenant = str_dup(move->pool, tenant_of(source));
	return move;
}

struct tenure_move *tenure_move_all(struct tenure_client *client, const char *tenant, const char *destination)
{
	struct tenure_resource *source = tenure_tenant_new(client, tenant);

	if (source == NULL)
		return NULL;
	struct tenure_move *move = action_new(client, source->path, destination);
	tenure_resource_free(&source);
	return move;
}

struct tenure_move *tenure_move_resource(const struct tenure_resource *resource, const char *destination)
{
	struct pool *pool = call_pool();
	struct str path = resource->path;
	bool known = resource->kind == OBJECT_METAL ? object_home(resource, pool, &path) : resource->kind != OBJECT_PROVIDER;
	struct tenure_move *move = known ? action_new(resource->client, path, destination) : NULL;

	pool_free(&pool);
	return move;
}

static bool set_id(struct tenure_move *move, struct str id)
{
	struct buf path = buf_new(move->pool, 128);

	move->id = str_dup(move->pool, id);
	buf_add(&path, move->tenant);
	BUF_LIT(&path, "/moves");
	bool ok = client_path_add(&path, move->id);
	move->status_path = buf_str(&path);
	return ok;
}

struct tenure_move *tenure_move_known(struct tenure_client *client, const char *tenant, const char *id)
{
	struct tenure_resource *source = id != NULL ? tenure_tenant_new(client, tenant) : NULL;

	if (source == NULL)
		return NULL;
	struct tenure_move *move = move_new(client);
	if (move != NULL) {
		move->tenant = str_dup(move->pool, source->path);
		if (!set_id(move, str_c(id)))
			tenure_move_free(&move);
	}
	tenure_resource_free(&source);
	return move;
}

// The end of the location is "/v2.0/TENANT/moves/ID".
struct tenure_move *client_move_at(struct tenure_client *client, struct str location)
{
	size_t slash[4], at = location.n;

	for (size_t i = 0; i < COUNT_OF(slash); i++) {
		while (at > 0 && location.p[at - 1] != '/')
			at--;
		if (at == 0)
			return NULL;
		slash[i] = --at;
	}
	if (!str_eq(str_part(location, slash[1], slash[0]), STR("/moves")))
		return NULL;
	struct tenure_move *move = move_new(client);
	if (move != NULL) {
		move->tenant = str_dup(move->pool, str_part(location, slash[3], slash[1]));
		if (!set_id(move, str_part(location, slash[0] + 1, location.n)))
			tenure_move_free(&move);
	}
	return move;
}

const char *client_move_tenant(const struct tenure_move *move, struct pool *pool)
{
	struct str name = str_part(move->tenant, str_find(move->tenant, '/', 1) + 1, move->tenant.n), decoded;

	return str_dup(pool, uri_decode(pool, name, &decoded) ? decoded : name).p;
}

void tenure_move_free(struct tenure_move **move)
{
	if (*move == NULL)
		return;
	pool_free(&(*move)->content);
	pool_free(&(*move)->pool);
	free(*move);
	*move = NULL;
}

// ---- calls

// Keeps the document of an answer: {"move": {…}}.
static enum tenure_status keep(struct tenure_move *move, struct str text)
{
	struct doc *doc;

	move->text = STR_NONE;
	move->move = NULL;
	enum tenure_status status = client_parse(move->client, move->content, text, &doc);
	if (status != TENURE_OK)
		return status;
	if (!doc_get(doc, STR("move"), &move->move) || doc_kind(move->move) != DOC_OBJECT) {
		move->move = NULL;
		return client_fail(move->client, TENURE_PROTOCOL, "the answer tells of no move");
	}
	move->text = text;
	return TENURE_OK;
}

enum tenure_status tenure_move_preview(struct tenure_move *move)
{
	struct answer answer;

	if (move->path.n == 0)
		return client_fail(move->client, TENURE_INVALID, "a move that runs already has no preview");
	move->text = STR_NONE;
	move->move = NULL;
	move->etag = STR("");
	pool_clear(move->content);
	struct wish wish = { .method = "GET", .path = move->path };
	enum tenure_status status = client_call(move->client, move->content, &wish, &answer);
	if (status == TENURE_OK)
		status = keep(move, answer.body);
	if (status == TENURE_OK && answer.etag.n > 0)
		move->etag = answer.etag;
	return status;
}

// 202 names the move by its address; the last segment is its id.
static enum tenure_status into_background(struct tenure_move *move, struct str location)
{
	size_t id = location.n;

	while (id > 0 && location.p[id - 1] != '/')
		id--;
	if (!set_id(move, str_part(location, id, location.n)))
		return client_fail(move->client, TENURE_PROTOCOL, "the move goes on in the background, but no address came");
	return TENURE_PENDING;
}

enum tenure_status tenure_move_run(struct tenure_move *move, struct tenure_etag etag, enum tenure_move_how how)
{
	struct answer answer;

	if (move->path.n == 0 || etag.kind == TENURE_ETAG_IS_NEW)
		return client_fail(move->client, TENURE_INVALID, "a move runs once, with an etag or without");
	struct wish wish = { .method = "POST", .path = move->path, .sees_other = true,
		.prefer = how == TENURE_MOVE_BACKGROUND ? "respond-async" : NULL };
	enum tenure_status status = client_wish_etag(move->client, move->pool, &wish, etag, move->etag);
	if (status == TENURE_OK)
		status = client_call(move->client, move->pool, &wish, &answer);
	if (status != TENURE_OK || move->client->nothing_sent)
		return status;
	if (answer.status == 202)
		return into_background(move, answer.location);
	move->location = answer.location;
	return TENURE_OK;
}

static enum tenure_status progress_of(struct tenure_move *move)
{
	const struct doc *state = NULL, *detail = NULL, *reason = NULL, *undone = NULL;

	doc_get(move->move, STR("state"), &state);
	if (!str_eq(doc_string(state), STR("failed")))
		return TENURE_PENDING;
	doc_get(move->move, STR("reason"), &reason);
	doc_get(move->move, STR("detail"), &detail);
	struct str word = doc_string(reason), sentence = doc_string(detail);
	bool is_undo = doc_get(move->move, STR("undo_of"), &undone);
	// What is blocked says itself that nothing was moved.
	const char *moved = is_undo || str_eq(word, STR("blocked")) ? "" : ", nothing was moved";
	return client_fail(move->client, TENURE_FAILED, "the %s failed%s: %.*s%s%.*s", is_undo ? "undo" : "move", moved, STR_ARG(word),
		detail != NULL ? ": " : "", STR_ARG(sentence));
}

enum tenure_status tenure_move_poll(struct tenure_move *move)
{
	struct answer answer;

	if (move->status_path.n == 0)
		return client_fail(move->client, TENURE_INVALID, "this move is not in the background");
	// A separate pool, so that the counts of the last answer stay readable when the move is done.
	struct pool *pool = pool_new_or_end();
	struct wish wish = { .method = "GET", .path = move->status_path, .sees_other = true };
	enum tenure_status status = client_call(move->client, pool, &wish, &answer);
	if (status == TENURE_OK && answer.status == 303) {
		move->location = str_dup(move->pool, answer.location);
	} else if (status == TENURE_OK) {
		pool_clear(move->content);
		move->etag = STR("");
		status = keep(move, str_dup(move->content, answer.body));
		status = status == TENURE_OK ? progress_of(move) : status;
	}
	pool_free(&pool);
	return status;
}

// ---- the content of the last answer

const char *tenure_move_etag(const struct tenure_move *move)
{
	return move->etag.n > 0 ? move->etag.p : NULL;
}

const char *tenure_move_document(const struct tenure_move *move, size_t *length)
{
	if (length != NULL)
		*length = move->text.n;
	return move->text.p;
}

const char *tenure_move_id(const struct tenure_move *move)
{
	return move->id.n > 0 ? move->id.p : NULL;
}

const char *tenure_move_location(const struct tenure_move *move)
{
	return move->location.p;
}

static uint64_t number_of(const struct doc *object, struct str name)
{
	const struct doc *value;
	uint64_t number = 0;

	return doc_get(object, name, &value) && doc_u64(value, &number) ? number : 0;
}

uint64_t tenure_move_size(const struct tenure_move *move)
{
	const struct doc *resources;

	if (!doc_get(move->move, STR("resources"), &resources))
		return 0;
	return doc_kind(resources) == DOC_ARRAY ? doc_length(resources) : number_of(resources, STR("size"));
}

void tenure_move_progress(const struct tenure_move *move, uint64_t *moved, uint64_t *total)
{
	*moved = number_of(move->move, STR("moved"));
	*total = number_of(move->move, STR("total"));
}

static const struct doc *blockers_of(const struct tenure_move *move)
{
	const struct doc *blockers;

	return doc_get(move->move, STR("blockers"), &blockers) ? blockers : NULL;
}

size_t tenure_move_blockers(const struct tenure_move *move)
{
	return doc_length(blockers_of(move));
}

static const char *member_text(const struct tenure_move *move, const struct doc *object, struct str name)
{
	const struct doc *value = NULL;

	doc_get(object, name, &value);
	return str_dup(move->content, doc_string(value)).p;
}

bool tenure_move_blocker(const struct tenure_move *move, size_t index, const char **resource, const char **reason,
	const char **detail)
{
	if (index >= tenure_move_blockers(move))
		return false;
	const struct doc *blocker = doc_at(blockers_of(move), index);
	if (resource != NULL)
		*resource = member_text(move, blocker, STR("resource"));
	if (reason != NULL)
		*reason = member_text(move, blocker, STR("reason"));
	if (detail != NULL)
		*detail = member_text(move, blocker, STR("detail"));
	return true;
}
