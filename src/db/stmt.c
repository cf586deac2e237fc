// SPDX-License-Identifier: Apache-2.0
// The cache of prepared statements: each is prepared on first use and found by the address of its query. All are dropped with the
// connection.
#include "base/base.h"

#include <errmsg.h>

#include "base/log.h"
#include "base/memory.h"
#include "db/db_internal.h"

enum { FIRST_ROOM = 64 };

static struct db_stmt *stmt_new(const struct db_query *query)
{
	struct db_stmt *stmt = memory_zeroed(1, sizeof(*stmt));

	stmt->query = query;
	stmt->n_in = query->n_in;
	stmt->n_out = query->n_out;
	stmt->in = memory_zeroed(stmt->n_in, sizeof(*stmt->in));
	stmt->out = memory_zeroed(stmt->n_out, sizeof(*stmt->out));
	stmt->in_slots = memory_zeroed(stmt->n_in, sizeof(*stmt->in_slots));
	stmt->out_slots = memory_zeroed(stmt->n_out, sizeof(*stmt->out_slots));
	return stmt;
}

static void stmt_free(struct db_stmt *stmt)
{
	if (stmt->stmt != NULL)
		(void)mysql_stmt_close(stmt->stmt);
	free(stmt->in);
	free(stmt->out);
	free(stmt->in_slots);
	free(stmt->out_slots);
	free(stmt);
}

// ---- the cache

static size_t place_of(const struct stmt_cache *cache, const struct db_query *query)
{
	assert(cache->room > 0 && (cache->room & (cache->room - 1)) == 0);
	// Rows of a static table are at least 8 bytes apart; the multiplication spreads what is left over the high bits.
	uint64_t hash = ((uint64_t)(uintptr_t)query >> 3) * UINT64_C(0x9E3779B97F4A7C15);
	size_t at = (size_t)(hash >> 32) & (cache->room - 1);

	while (cache->places[at] != NULL && cache->places[at]->query != query)
		at = (at + 1) & (cache->room - 1);
	return at;
}

static void grow(struct stmt_cache *cache)
{
	struct stmt_cache old = *cache;

	cache->room = old.room > 0 ? old.room * 2 : FIRST_ROOM;
	cache->places = memory_zeroed(cache->room, sizeof(*cache->places));
	for (size_t i = 0; i < old.room; i++) {
		if (old.places[i] != NULL)
			cache->places[place_of(cache, old.places[i]->query)] = old.places[i];
	}
	free(old.places);
}

void stmt_cache_clear(struct stmt_cache *cache)
{
	for (size_t i = 0; i < cache->room; i++) {
		if (cache->places[i] != NULL)
			stmt_free(cache->places[i]);
		cache->places[i] = NULL;
	}
	cache->used = 0;
}

void db_stmt_drop(struct db *db, const struct db_query *query)
{
	struct stmt_cache *cache = &db->cache;
	size_t hole = cache->room > 0 ? place_of(cache, query) : 0;

	if (cache->room == 0 || cache->places[hole] == NULL)
		return;
	stmt_free(cache->places[hole]);
	cache->places[hole] = NULL;
	cache->used--;
	// Entries behind the hole that had collided are inserted again; otherwise a search for them would end at the hole.
	for (size_t at = (hole + 1) & (cache->room - 1); cache->places[at] != NULL; at = (at + 1) & (cache->room - 1)) {
		struct db_stmt *moved = cache->places[at];

		cache->places[at] = NULL;
		cache->places[place_of(cache, moved->query)] = moved;
	}
}

// ---- preparing

static enum db_result refuse(struct db *db, const struct db_query *query, const char *what, unsigned long has)
{
	char text[96];

	(void)snprintf(text, sizeof(text), "the statement has %lu %s, its query says otherwise", has, what);
	return db_error_note(db, CR_INVALID_PARAMETER_NO, text, query);
}

static enum db_result prepare(struct db *db, struct db_stmt *stmt)
{
	const struct db_query *query = stmt->query;

	// The library waits for the answer by itself, for read_timeout. On a cluster, a server that hangs has to be noticed
	// before.
	if ((db->fenced || db->answer_s > 0) && db_conn_query(db, "DO 0", strlen("DO 0")) != DB_OK)
		return DB_LOST;
	stmt->stmt = mysql_stmt_init(db->mysql);
	if (stmt->stmt == NULL)
		return db_error_note(db, CR_OUT_OF_MEMORY, "no memory for a statement", query);
	db->round_trips++;
	if (mysql_stmt_prepare(stmt->stmt, query->sql, (unsigned long)strlen(query->sql)) != 0)
		return db_error_note(db, mysql_stmt_errno(stmt->stmt), mysql_stmt_error(stmt->stmt), query);
	if (mysql_stmt_param_count(stmt->stmt) != stmt->n_in)
		return refuse(db, query, "parameters", mysql_stmt_param_count(stmt->stmt));
	unsigned columns = mysql_stmt_field_count(stmt->stmt);

	// The columns of INSERT ... RETURNING are only known after its first execution.
	if (columns != stmt->n_out && columns != 0)
		return refuse(db, query, "columns", columns);
	if (columns > 0 && !db_bind_columns(stmt))
		return db_error_note(db, mysql_stmt_errno(stmt->stmt), mysql_stmt_error(stmt->stmt), query);
	return DB_OK;
}

enum db_result db_stmt_get(struct db *db, const struct db_query *query, struct db_stmt **stmt)
{
	struct stmt_cache *cache = &db->cache;

	assert(db->mysql != NULL && query->sql != NULL);
	if (cache->used * 2 >= cache->room)
		grow(cache);
	struct db_stmt **place = &cache->places[place_of(cache, query)];

	if (*place == NULL) {
		struct db_stmt *made = stmt_new(query);
		enum db_result result = prepare(db, made);

		if (result != DB_OK) {
			stmt_free(made);
			return result;
		}
		*place = made;
		cache->used++;
		db->prepared++;
	} else {
		db->reused++;
	}
	*stmt = *place;
	return DB_OK;
}
