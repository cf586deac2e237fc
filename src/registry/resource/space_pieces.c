// SPDX-License-Identifier: Apache-2.0
// Deletes a namespace whose content is too large for one transaction. The request marks the namespace as being deleted, so
// that nothing can be created in it any more, and adds a row to table namespace_deletions. The mover then deletes the content
// in pieces, each in a transaction of its own. So other writers and watches wait for one piece at most. If the mover is
// killed, the next one continues after the last piece that was committed. The last transaction deletes the namespace itself.
//
// Every deleted row gets the id of the request that asked for the deletion, and the same purge time. So recovering the
// namespace recovers all of its content.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "db/list.h"
#include "registry/core/settings.h"
#include "registry/log/change.h"
#include "registry/resource/internal.h"
#include "registry/type/type.h"
#include "sql/namespace_ends.h"

// Resources that may have finalizers are read, because marking them changes their etags. A piece has at most so many bytes of
// such resources, or a single resource that is larger.
enum { PIECE_BYTES = 8 << 20 };

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

// ---- the request

enum outcome resource_space_measure(struct registry *registry, const struct resource *space, struct space_size *size)
{
	assert(db_txn_writes(registry->db) && space->type == type_namespaces(registry));
	uint64_t set = registry->settings->delete_sync_max, most = registry->delete_at_once > set ? registry->delete_at_once : set;
	const struct sql_namespace_size in = { .content = content_of(registry, space), .most = most + 1 };
	struct db_call calls[] = {
		sql_namespace_size_call(registry->pool, &in),
		sql_namespace_deletion_find_call(registry->pool, &(struct sql_namespace_deletion_find){ .resource_id =
		space->id }),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	const struct sql_namespace_size_row *row = sql_namespace_size_row(&calls[0].rows, 0);
	*size = (struct space_size){
		.n = row->n,
		.locked = row->locked > 0,
		.may_wait = row->waiting_bytes > 0,
		.last_change_us = row->last_change_at_is_null ? 0 : row->last_change_at,
		.large = row->n > most || row->waiting_bytes > PIECE_BYTES,
	};
	// The namespace may have a row in namespace_deletions without being marked: an earlier release, which does not know the
	// table, has finished that deletion, and the namespace was recovered. Such a row is ignored.
	if (space->deletion_requested_us == 0 || calls[1].rows.n == 0)
		return OUTCOME_OK;
	registry->left_work = true;
	return OUTCOME_ACCEPTED;
}

enum outcome resource_space_check_content(struct registry *registry, const struct resource *space)
{
	assert(db_txn_writes(registry->db) && space->type == type_namespaces(registry));
	const struct sql_namespace_any_locked locked = { .content = content_of(registry, space) };
	struct db_rows rows;
	enum db_result result = sql_namespace_any_locked_run(registry->db, registry->pool, &locked, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	return rows.n > 0 ? resource_fail_content_locked(registry, space) : OUTCOME_OK;
}

enum outcome resource_space_empty_later(struct registry *registry, struct resource *space)
{
	assert(db_txn_writes(registry->db) && space->type == type_namespaces(registry));
	enum outcome outcome = resource_space_check_content(registry, space);

	if (outcome == OUTCOME_OK)
		outcome = resource_mark_for_deletion(registry, space);
	if (outcome != OUTCOME_ACCEPTED)
		return outcome;
	const struct sql_namespace_deletion_insert in = {
		.resource_id = space->id,
		.deletion = uuid_bytes(&registry->request_id),
		.actor = registry->actor,
		.purge_at = registry->stamp_us + registry_retention_us(registry),
	};
	enum db_result result = sql_namespace_deletion_insert_run(registry->db, registry->pool, &in, NULL);
	if (result != DB_OK && result != DB_DUPLICATE)
		return registry_db_failed(result);
	registry->left_work = true;
	return OUTCOME_ACCEPTED;
}

// ---- the mover

// A piece: rows of one type, in the order of their names.
struct piece {
	uint64_t type_id;
	struct db_rows rows;
	size_t n; // of the rows; the others are left for the next piece
	bool may_wait; // some of them may have finalizers
};

// Sets piece->n to as many rows as a piece may have. Makes the transaction's time later than the last change of each of them.
static void cut_piece(struct registry *registry, struct piece *piece)
{
	uint64_t bytes = 0;

	for (piece->n = 0; piece->n < piece->rows.n; piece->n++) {
		const struct sql_namespace_piece_row *row = sql_namespace_piece_row(&piece->rows, piece->n);

		bytes += row->may_wait ? row->bytes : 0;
		if (bytes > PIECE_BYTES && piece->n > 0)
			break;
		piece->may_wait = piece->may_wait || row->may_wait;
		registry_stamp_after(registry, row->last_change_at);
	}
}

// Finds and locks the piece that follows the type and name in done. piece->n is 0 if no content is left.
static enum outcome find_piece(struct registry *registry, const struct resource *space,
	const struct sql_namespace_deletion_claim_row *done, struct piece *piece)
{
	struct sql_namespace_piece in = {
		.tenant_id = space->tenant_id,
		.type_id = done->type_id,
		.namespace = space->name,
		.after = done->name,
		.limit = registry->settings->delete_sync_max > 0 ? registry->settings->delete_sync_max : 1,
	};

	for (;;) {
		const struct sql_namespace_next_type next = { .tenant_id = space->tenant_id, .after = in.type_id };
		struct db_call calls[] = {
			sql_namespace_piece_call(registry->pool, &in),
			sql_namespace_next_type_call(registry->pool, &next),
		};
		enum outcome outcome = registry_run_calls(registry, calls, COUNT_OF(calls));

		if (outcome != OUTCOME_OK)
			return outcome;
		*piece = (struct piece){ .type_id = in.type_id, .rows = calls[0].rows };
		if (piece->rows.n > 0 || calls[1].rows.n == 0) {
			cut_piece(registry, piece);
			return OUTCOME_OK;
		}
		in.type_id = sql_namespace_next_type_row(&calls[1].rows, 0)->type_id;
		in.after = STR("");
	}
}

static struct str ids_of(struct registry *registry, const struct piece *piece, bool may_wait)
{
	struct db_list ids = db_list_new(registry->pool, piece->n * 8);

	for (size_t i = 0; i < piece->n; i++) {
		const struct sql_namespace_piece_row *row = sql_namespace_piece_row(&piece->rows, i);

		if ((row->may_wait != 0) == may_wait)
			db_list_add_u64(&ids, row->id);
	}
	return ids.n > 0 ? db_list_end(&ids) : STR("");
}

// Deletes the resources with these ids. ids: a JSON array; "" for none.
static enum outcome delete_ids(struct registry *registry, const struct resource *space, struct str ids)
{
	const struct sql_deletion_mark_piece mark = {
		.ids = ids,
		.deleted_at = registry->stamp_us,
		.purge_at = later(space->purge_us, registry->stamp_us),
		.request_id = uuid_bytes(&registry->request_id),
	};
	struct db_call calls[] = {
		changes_of_deleted_piece(registry, ids),
		sql_deletion_mark_piece_call(registry->pool, &mark),
		sql_deletion_free_keys_of_piece_call(registry->pool, &(struct sql_deletion_free_keys_of_piece){ .ids = ids }),
	};
	enum outcome outcome = ids.n > 0 ? registry_run_calls(registry, calls, COUNT_OF(calls)) : OUTCOME_OK;

	if (outcome != OUTCOME_OK || ids.n == 0)
		return outcome;
	struct db_call count = tenant_count_down_call(registry, space->tenant_id, calls[1].rows.affected);
	return registry_run_calls(registry, &count, 1);
}

// Marks the resources of the piece that have finalizers as being deleted. *others: the ids of the resources with may_wait set
// that turn out to have none, as a JSON array.
static enum outcome mark_waiting(struct registry *registry, const struct resource *space, const struct piece *piece,
	struct str *others)
{
	const struct sql_namespace_piece_rows in = { .ids = ids_of(registry, piece, true) };
	struct db_list ids = db_list_new(registry->pool, 64);
	struct db_rows rows;
	size_t n = 0;

	*others = STR("");
	if (!piece->may_wait)
		return OUTCOME_OK;
	enum db_result result = sql_namespace_piece_rows_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	struct resource *list = POOL_ARRAY(registry->pool, struct resource, rows.n);
	for (size_t i = 0; i < rows.n; i++) {
		list[n] = resource_of_columns(registry, &sql_namespace_piece_rows_row(&rows, i)->r);
		list[n].tenant = space->tenant;
		if (resource_has_finalizers(registry, &list[n]))
			n++;
		else
			db_list_add_u64(&ids, list[n].id);
	}
	*others = ids.n > 0 ? db_list_end(&ids) : STR("");
	return resource_space_mark_waiting(registry, space, list, n);
}

// Deletes the resources of the piece that have no finalizers, marks the others as being deleted, and notes where the next piece
// begins.
static enum outcome take_piece(struct registry *registry, const struct resource *space, const struct piece *piece)
{
	const struct sql_namespace_deletion_go_on go_on = {
		.resource_id = space->id,
		.type_id = piece->type_id,
		.name = sql_namespace_piece_row(&piece->rows, piece->n - 1)->name,
	};
	struct db_call done = sql_namespace_deletion_go_on_call(registry->pool, &go_on);
	struct str others;
	enum outcome outcome = mark_waiting(registry, space, piece, &others);

	if (outcome == OUTCOME_OK)
		outcome = delete_ids(registry, space, others);
	if (outcome == OUTCOME_OK)
		outcome = delete_ids(registry, space, ids_of(registry, piece, false));
	return outcome == OUTCOME_OK ? registry_run_calls(registry, &done, 1) : outcome;
}

// Called when all content that is left waits for its finalizers. Deletes the namespace if it is empty. It stays if content is
// left, or if it got finalizers of its own meanwhile.
static enum outcome finish(struct registry *registry, struct resource *space)
{
	struct db_call end =
		sql_namespace_deletion_end_call(registry->pool, &(struct sql_namespace_deletion_end){ .resource_id = space->id });
	enum outcome outcome = registry_run_calls(registry, &end, 1);

	if (outcome != OUTCOME_OK || resource_has_finalizers(registry, space))
		return outcome;
	outcome = resource_space_wait(registry, space);
	if (outcome == OUTCOME_OK) {
		space->deleted_us = registry->stamp_us;
		space->purge_us = later(space->purge_us, registry->stamp_us);
		outcome = resource_mark_deleted(registry, space, 0);
	}
	return outcome == OUTCOME_ACCEPTED || outcome == OUTCOME_NO_CONTENT ? OUTCOME_OK : outcome;
}

// Removes the row from namespace_deletions if the namespace was deleted or recovered by others meanwhile. If its tenant was
// deleted, the row stays: the tenant may be recovered.
static enum outcome forget_deletion(struct registry *registry, uint64_t id)
{
	struct db_call call = sql_namespace_deletion_drop_call(registry->pool,
		&(struct sql_namespace_deletion_drop){ .resource_id = id });

	return registry_run_calls(registry, &call, 1);
}

enum outcome resource_space_take_piece(struct registry *registry, uint64_t id)
{
	assert(db_txn_writes(registry->db) && id != 0);
	const struct sql_namespace_deletion_claim in = { .resource_id = id };
	struct ident ident = { .type = type_namespaces(registry) };
	struct locked_tenant owner;
	struct resource space;
	struct piece piece;
	struct db_rows rows;
	enum db_result result = sql_namespace_deletion_claim_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return OUTCOME_NO_CONTENT;
	const struct sql_namespace_deletion_claim_row *row = sql_namespace_deletion_claim_row(&rows, 0);
	if (!uuid_from_bytes(row->deletion, &registry->request_id) || !uuid_from_bytes(row->uid, &ident.uid))
		return forget_deletion(registry, id);
	enum outcome outcome = resource_lock_ident(registry, &ident, &owner, &space);
	if (outcome == OUTCOME_NOT_FOUND || (outcome == OUTCOME_OK && (space.id != id || space.deletion_requested_us == 0)))
		return forget_deletion(registry, id);
	if (outcome != OUTCOME_OK)
		return outcome;
	space.purge_us = row->purge_at;
	outcome = find_piece(registry, &space, row, &piece);
	if (outcome != OUTCOME_OK)
		return outcome;
	return piece.n > 0 ? take_piece(registry, &space, &piece) : finish(registry, &space);
}
