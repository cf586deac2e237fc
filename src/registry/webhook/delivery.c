// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/webhook/delivery.h"

#include "base/pool.h"
#include "db/db.h"
#include "registry/core/failure.h"
#include "registry/tenant/internal.h"
#include "repr/json/doc.h"
#include "sql/change_stream.h"
#include "sql/webhooks.h"

// The outcome of a statement that writes for a holder of the lease.
static enum outcome outcome_of_write(enum db_result result, const struct db_rows *rows, bool *written)
{
	*written = result == DB_OK && rows->affected > 0;
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// ---- the lease

enum outcome webhook_lease_read(struct registry *registry, struct webhook_lease *lease)
{
	struct db_rows rows;
	enum db_result result = sql_webhook_lease_read_run(registry->db, registry->pool, &rows);

	*lease = (struct webhook_lease){ 0 };
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_INTERNAL, "the row of webhook_lease is missing");
	const struct sql_webhook_lease_read_row *row = sql_webhook_lease_read_row(&rows, 0);
	uuid_from_bytes(row->claim, &lease->claim);
	lease->beat = row->beat;
	lease->edits = row->edits;
	lease->maintenance = row->maintenance.p != NULL;
	return OUTCOME_OK;
}

enum outcome webhook_lease_take(struct registry *registry, const struct webhook_lease *seen,
	const struct uuid *claim, bool *written)
{
	assert(!uuid_is_zero(*claim));
	const struct sql_webhook_lease_take in = { .claim = uuid_bytes(claim), .held_by = uuid_bytes(&seen->claim), .beat = seen->beat };
	struct db_rows rows;
	enum db_result result = sql_webhook_lease_take_run(registry->db, registry->pool, &in, &rows);

	return outcome_of_write(result, &rows, written);
}

enum outcome webhook_lease_renew(struct registry *registry, const struct uuid *claim, bool *written)
{
	const struct sql_webhook_lease_renew in = { .claim = uuid_bytes(claim) };
	struct db_rows rows;
	enum db_result result = sql_webhook_lease_renew_run(registry->db, registry->pool, &in, &rows);

	return outcome_of_write(result, &rows, written);
}

enum outcome webhook_lease_leave(struct registry *registry, const struct uuid *claim)
{
	const struct sql_webhook_lease_leave in = { .claim = uuid_bytes(claim) };
	enum db_result result = sql_webhook_lease_leave_run(registry->db, registry->pool, &in, NULL);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// ---- what there is to send

enum outcome webhook_streams_read(struct registry *registry, struct webhook_stream **streams, size_t *n)
{
	struct db_rows rows;
	enum db_result result = sql_webhook_streams_run(registry->db, registry->pool, &rows);

	*n = 0;
	if (result != DB_OK)
		return registry_db_failed(result);
	*streams = POOL_ARRAY(registry->pool, struct webhook_stream, rows.n);
	for (; *n < rows.n; (*n)++) {
		const struct sql_webhook_streams_row *row = sql_webhook_streams_row(&rows, *n);
		struct webhook_stream *stream = &(*streams)[*n];

		*stream = (struct webhook_stream){
			.id = row->id,
			.tenant_id = row->tenant_id,
			.position = row->position,
			.begun_upto = row->begun_upto_is_null ? 0 : row->begun_upto,
			.attempts = row->attempts,
			.next_us = row->next_at_is_null ? 0 : row->next_at,
			.failing_since_us = row->failing_since_is_null ? 0 : row->failing_since,
			.failing_us = row->failing_us_is_null ? 0 : row->failing_us,
		};
		if (row->message.p != NULL)
			uuid_from_bytes(row->message, &stream->message);
	}
	return OUTCOME_OK;
}

enum outcome webhook_letters_read(struct registry *registry, struct webhook_letter **letters, size_t *n)
{
	const struct sql_webhook_letters in = { .limit = WEBHOOK_LETTERS_MAX };
	struct db_rows rows;
	enum db_result result = sql_webhook_letters_run(registry->db, registry->pool, &in, &rows);

	*n = 0;
	if (result != DB_OK)
		return registry_db_failed(result);
	*letters = POOL_ARRAY(registry->pool, struct webhook_letter, rows.n);
	for (; *n < rows.n; (*n)++) {
		const struct sql_webhook_letters_row *row = sql_webhook_letters_row(&rows, *n);
		struct webhook_letter *letter = &(*letters)[*n];

		*letter = (struct webhook_letter){
			.id = row->id,
			.webhook_id = row->webhook_id,
			.tenant_id = row->tenant_id,
			.is_ping = str_eq(row->kind, STR("ping")),
			.position = row->position,
			.upto = row->upto,
			.attempts = row->attempts,
			.next_us = row->next_at_is_null ? 0 : row->next_at,
			.tenant_deleted = row->tenant_deleted != 0,
		};
		uuid_from_bytes(row->uid, &letter->message);
	}
	return OUTCOME_OK;
}

static int order_ids(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return one < other ? -1 : one > other;
}

enum outcome webhook_tenants_changed(struct registry *registry, uint64_t after, uint64_t upto, uint64_t **ids, size_t *n)
{
	const struct sql_stream_tenants in = { .after = after, .up_to = upto };
	struct db_rows rows;
	enum db_result result = sql_stream_tenants_run(registry->db, registry->pool, &in, &rows);

	*n = 0;
	if (result != DB_OK)
		return registry_db_failed(result);
	*ids = POOL_ARRAY(registry->pool, uint64_t, rows.n);
	for (; *n < rows.n; (*n)++)
		(*ids)[*n] = sql_stream_tenants_row(&rows, *n)->tenant_id;
	if (*n > 0)
		qsort(*ids, *n, sizeof(**ids), order_ids);
	return OUTCOME_OK;
}

enum outcome webhook_target(struct registry *registry, uint64_t id, struct webhook_target *target)
{
	struct db_rows rows;
	enum db_result result = sql_webhook_target_run(registry->db, registry->pool, &(struct sql_webhook_target){ .id = id }, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return OUTCOME_NOT_FOUND;
	const struct sql_webhook_target_row *row = sql_webhook_target_row(&rows, 0);
	bool both = row->old_secret.p != NULL && !row->old_secret_until_is_null && row->old_secret_until > registry->now_us;
	*target = (struct webhook_target){
		.name = row->name,
		.url = row->url,
		.filters = row->filters,
		.tenant = row->tenant,
		.secret = row->secret,
		.old_secret = both ? row->old_secret : STR_NONE,
	};
	return OUTCOME_OK;
}

enum outcome webhook_changes(struct registry *registry, uint64_t tenant_id, struct change_range range, struct change **changes, size_t *n)
{
	const struct sql_webhook_changes in = {
		.tenant = { .id = tenant_id }, .after = range.after, .up_to = range.up_to, .limit = range.limit
	};
	struct db_rows rows;
	enum outcome outcome = OUTCOME_OK;
	enum db_result result = sql_webhook_changes_run(registry->db, registry->pool,
		tenant_id != 0 ? SQL_WEBHOOK_CHANGE_IDS_OF_TENANT : SQL_WEBHOOK_CHANGE_IDS_ALL, &in, &rows);

	*n = 0;
	if (result != DB_OK)
		return registry_db_failed(result);
	*changes = POOL_ARRAY(registry->pool, struct change, rows.n);
	for (; *n < rows.n && outcome == OUTCOME_OK; (*n)++)
		outcome = change_of_columns(registry, &sql_webhook_changes_row(&rows, *n)->c, &(*changes)[*n]);
	return outcome;
}

// Is there no list of that name, or one of the two texts in it? other may have p NULL.
static bool passes(const struct doc *filters, const char *name, struct str text, struct str other)
{
	const struct doc *list;

	if (!doc_get(filters, str_c(name), &list))
		return true;
	for (size_t i = 0; i < doc_elements(list); i++) {
		struct str item = doc_string(doc_at(list, i));
		if (str_eq(item, text) || (other.p != NULL && str_eq(item, other)))
			return true;
	}
	return false;
}

// The type as addresses have it: "configmaps", or "widgets.example.com"; a change of the tenant itself is of "tenants".
bool webhook_asks_for(const struct doc *filters, const struct change *change)
{
	const struct type *type = change->type;
	char full[2 * 256];
	struct str plural = type != NULL ? type->plural : STR("tenants"), qualified = STR_NONE;

	if (type != NULL) {
		int n = snprintf(full, sizeof(full), "%.*s.%.*s", STR_ARG(plural), STR_ARG(type->group.n > 0 ? type->group : STR("core")));
		if (n > 0 && (size_t)n < sizeof(full))
			qualified = str_n(full, (size_t)n);
	}
	return passes(filters, "verbs", change->verb, STR_NONE) && passes(filters, "actors", change->actor, STR_NONE) &&
	       passes(filters, "types", plural, qualified);
}

// ---- what became of it

struct skipping {
	struct registry *registry;
	const struct sql_webhook_skip *in;
	size_t n;
	uint64_t skipped;
};

static enum db_verdict run_skipping(void *arg)
{
	struct skipping *skipping = arg;
	struct registry *registry = skipping->registry;

	skipping->skipped = 0;
	return sql_webhook_skip_bulk(registry->db, registry->pool, skipping->in, skipping->n, &skipping->skipped) == DB_OK ? DB_COMMIT : DB_ROLLBACK;
}

enum outcome webhook_skip(struct registry *registry, const struct uuid *claim, const struct webhook_stream *streams,
	size_t n, bool *written)
{
	struct sql_webhook_skip *in = POOL_ARRAY(registry->pool, struct sql_webhook_skip, n);
	struct skipping skipping = { .registry = registry, .in = in, .n = n };

	assert(!db_txn_writes(registry->db));
	assert(n > 0);
	for (size_t i = 0; i < n; i++)
		in[i] = (struct sql_webhook_skip){ .claim = uuid_bytes(claim), .id = streams[i].id, .position = streams[i].position };
	enum db_result result = db_txn_run(registry->db, DB_WRITE, NULL, run_skipping, &skipping);
	*written = result == DB_OK && skipping.skipped == n;
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

enum outcome webhook_begin(struct registry *registry, const struct uuid *claim, const struct webhook_stream *stream,
	bool *written)
{
	assert(stream->id != 0);
	const struct sql_webhook_begin in = {
		.claim = uuid_bytes(claim),
		.id = stream->id,
		.position = stream->position,
		.upto = stream->begun_upto,
		.message = uuid_bytes(&stream->message),
	};
	struct db_rows rows;
	enum db_result result = sql_webhook_begin_run(registry->db, registry->pool, &in, &rows);

	return outcome_of_write(result, &rows, written);
}

enum outcome webhook_sent(struct registry *registry, const struct uuid *claim, uint64_t id, const struct uuid *message,
	const struct webhook_result *result, bool *written)
{
	assert(id != 0 && !uuid_is_zero(*message));
	const struct sql_webhook_done done = {
		.claim = uuid_bytes(claim),
		.id = id,
		.message = uuid_bytes(message),
		.status = result->status,
		.delivered_at = result->now_us,
		.delivered_at_is_null = result->nothing,
	};
	const struct sql_webhook_failed failed = {
		.claim = uuid_bytes(claim),
		.id = id,
		.message = uuid_bytes(message),
		.status = result->status,
		.error = result->error,
		.now = result->now_us,
		.next_at = result->next_us,
		.disabled_at = result->now_us,
		.disabled_at_is_null = !result->disables,
	};
	struct db_rows rows;
	enum db_result ran = result->error.n == 0 ? sql_webhook_done_run(registry->db, registry->pool, &done, &rows)
						  : sql_webhook_failed_run(registry->db, registry->pool, &failed, &rows);

	return outcome_of_write(ran, &rows, written);
}

struct giving_up {
	struct registry *registry;
	struct sql_webhook_bury bury;
	struct sql_webhook_go_on go_on;
	bool written;
};

// The first statement is fenced and finds the message; if it finds none, there is nothing to commit.
static enum db_verdict run_giving_up(void *arg)
{
	struct giving_up *giving = arg;
	struct registry *registry = giving->registry;
	struct db_rows rows;

	giving->written = false;
	if (sql_webhook_bury_run(registry->db, registry->pool, &giving->bury, &rows) != DB_OK || rows.affected == 0)
		return DB_ROLLBACK;
	giving->written = sql_webhook_go_on_run(registry->db, registry->pool, &giving->go_on, &rows) == DB_OK && rows.affected > 0;
	return giving->written ? DB_COMMIT : DB_ROLLBACK;
}

enum outcome webhook_give_up(struct registry *registry, const struct uuid *claim, uint64_t id, const struct uuid *message,
	const struct webhook_result *result, bool *written)
{
	assert(!db_txn_writes(registry->db) && id != 0);
	struct str name = uuid_bytes(claim), uid = uuid_bytes(message);
	struct giving_up giving = {
		.registry = registry,
		.bury = { .claim = name, .id = id, .message = uid, .status = result->status, .error = result->error, .now = result->now_us },
		.go_on = { .claim = name, .id = id, .message = uid, .status = result->status, .error = result->error, .now = result->now_us },
	};
	// Nobody asks what became of a COMMIT whose answer was lost: the caller reads the stream again.
	enum db_result ran = db_txn_run(registry->db, DB_WRITE, NULL, run_giving_up, &giving);

	*written = ran == DB_OK && giving.written;
	return ran == DB_OK ? OUTCOME_OK : registry_db_failed(ran);
}

enum outcome webhook_letter_sent(struct registry *registry, const struct uuid *claim, const struct webhook_letter *letter,
	const struct webhook_result *result, bool gives_up, bool *written)
{
	bool received = result->error.n == 0, ended = received || gives_up;
	const struct sql_webhook_letter_ended in = {
		.claim = uuid_bytes(claim),
		.id = letter->id,
		.state = received ? STR("delivered") : gives_up ? STR("dead")
								: STR("queued"),
		.attempts = letter->attempts + (result->nothing ? 0 : 1),
		.status = result->status,
		.error = result->error,
		.next_at = result->next_us,
		.next_at_is_null = ended,
		.ended_at = result->now_us,
		.ended_at_is_null = !ended,
		.disabled_at = result->now_us,
		.disabled_at_is_null = !result->disables,
	};
	struct db_rows rows;
	enum db_result ran = sql_webhook_letter_ended_run(registry->db, registry->pool, &in, &rows);

	return outcome_of_write(ran, &rows, written);
}
