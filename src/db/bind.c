// SPDX-License-Identifier: Apache-2.0
// Passes values to and from Connector/C. Only this file deals with NULL, lengths, signs and times there.
#include "base/base.h"

#include "base/budget.h"
#include "base/pool.h"
#include "db/db_internal.h"

#define US_PER_DAY INT64_C(86400000000)

// ---- times: proleptic Gregorian calendar, days counted from 1970-01-01; years begin in March, so that the leap day is
// the last of a year and months have a linear formula

static int64_t days_of_date(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month > 2 ? year : year - 1;
	int64_t m = month > 2 ? month - 3 : month + 9;
	int64_t era = y / 400, of_era = y % 400;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static int64_t us_of_time(const MYSQL_TIME *time)
{
	int64_t days = days_of_date(time->year, time->month, time->day);
	int64_t seconds = (int64_t)time->hour * 3600 + (int64_t)time->minute * 60 + (int64_t)time->second;

	return days * US_PER_DAY + seconds * 1000000 + (int64_t)time->second_part;
}

static MYSQL_TIME time_of_us(int64_t us)
{
	int64_t days = us / US_PER_DAY, rest = us % US_PER_DAY;

	if (rest < 0) {
		days--;
		rest += US_PER_DAY;
	}
	days += 719468;
	int64_t era = days / 146097, of_era = days % 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * of_year + 2) / 153;

	return (MYSQL_TIME){
		.year = (unsigned)(era * 400 + year + (month >= 10 ? 1 : 0)),
		.month = (unsigned)(month < 10 ? month + 3 : month - 9),
		.day = (unsigned)(of_year - (153 * month + 2) / 5 + 1),
		.hour = (unsigned)(rest / INT64_C(3600000000)),
		.minute = (unsigned)(rest / 60000000 % 60),
		.second = (unsigned)(rest / 1000000 % 60),
		.second_part = (unsigned long)(rest % 1000000),
		.time_type = MYSQL_TIMESTAMP_DATETIME,
	};
}

// ---- in

static enum enum_field_types type_of(enum db_type type)
{
	switch (type) {
	case DB_TEXT:
		return MYSQL_TYPE_STRING;
	case DB_BYTES:
		return MYSQL_TYPE_BLOB;
	case DB_TIME:
		return MYSQL_TYPE_DATETIME;
	case DB_UINT:
	case DB_INT:
		break;
	}
	return MYSQL_TYPE_LONGLONG;
}

static bool is_text(enum db_type type)
{
	return type == DB_TEXT || type == DB_BYTES;
}

size_t db_bind_value(MYSQL_BIND *bind, union db_slot *slot, const struct bind_item *value)
{
	bind->buffer_type = type_of(value->type);
	bind->is_null_value = value->is_null;
	bind->is_null = &bind->is_null_value;
	if (value->is_null)
		return 1;
	if (is_text(value->type)) {
		// The cast is safe: Connector/C's struct serves both directions, and a parameter is only read.
		bind->buffer = (void *)(uintptr_t)(value->s.n > 0 ? value->s.p : "");
		bind->buffer_length = (unsigned long)value->s.n;
		bind->length = &bind->buffer_length;
		return value->s.n + 9;
	}
	bind->buffer = slot;
	bind->is_unsigned = value->type == DB_UINT;
	if (value->type == DB_TIME)
		slot->t = time_of_us(value->i);
	else
		slot->u = value->u;
	return 12;
}

struct bind_item db_bind_parameter(const struct db_query *query, const void *in, unsigned i)
{
	const struct db_field *field = &query->in_fields[i];
	const char *member = (const char *)in + field->at;
	struct bind_item value = { .type = field->type };

	assert(i < query->n_in && in != NULL);
	if (is_text(field->type)) {
		memcpy(&value.s, member, sizeof(value.s));
		value.is_null = field->nullable && value.s.p == NULL;
	} else {
		memcpy(&value.u, member, sizeof(value.u));
		value.is_null = field->nullable && ((const char *)in)[field->null_at] != 0;
	}
	return value;
}

size_t db_bind_values(struct db_stmt *stmt, const void *in)
{
	size_t bytes = 16;

	for (unsigned i = 0; i < stmt->n_in; i++) {
		struct bind_item value = db_bind_parameter(stmt->query, in, i);

		bytes += db_bind_value(&stmt->in[i], &stmt->in_slots[i], &value) + 2;
	}
	if (stmt->n_in > 0)
		(void)mysql_stmt_bind_param(stmt->stmt, stmt->in);
	return bytes;
}

// ---- out

// Text columns get no buffer here, since their lengths are known only when a row was read. mysql_stmt_fetch_column() then copies
// them from the packet into the pool.
bool db_bind_columns(struct db_stmt *stmt)
{
	for (unsigned i = 0; i < stmt->n_out; i++) {
		enum db_type type = stmt->query->out_fields[i].type;
		MYSQL_BIND *bind = &stmt->out[i];

		bind->buffer_type = type_of(type);
		bind->is_unsigned = type == DB_UINT;
		bind->buffer = &stmt->out_slots[i];
		bind->buffer_length = is_text(type) ? 0 : sizeof(stmt->out_slots[i]);
		bind->length = &bind->length_value;
		bind->is_null = &bind->is_null_value;
		bind->error = &bind->error_value;
	}
	db_connector_forget_names(stmt->stmt);
	stmt->bound = mysql_stmt_bind_result(stmt->stmt, stmt->out) == 0;
	return stmt->bound;
}

static bool take_text(struct db_stmt *stmt, unsigned column, unsigned long n, struct pool *pool, struct bind_item *value)
{
	char *p = pool_alloc(pool, n + 1);
	my_bool null = 0, error = 0;
	unsigned long length = 0;
	MYSQL_BIND bind = {
		.buffer_type = stmt->out[column].buffer_type,
		.buffer = p,
		.buffer_length = n + 1,
		.length = &length,
		.is_null = &null,
		.error = &error,
	};

	assert(pool != NULL);
	if (n > 0 && mysql_stmt_fetch_column(stmt->stmt, &bind, column, 0) != 0)
		return false;
	p[n] = '\0';
	value->s = (struct str){ p, n };
	return true;
}

static bool take_value(struct db_stmt *stmt, unsigned column, struct pool *pool, struct bind_item *value)
{
	enum db_type type = stmt->query->out_fields[column].type;

	*value = (struct bind_item){ .type = type, .is_null = stmt->out[column].is_null_value != 0 };
	if (value->is_null)
		return true;
	if (is_text(type))
		return take_text(stmt, column, stmt->out[column].length_value, pool, value);
	if (type == DB_TIME)
		value->i = us_of_time(&stmt->out_slots[column].t);
	else
		value->u = stmt->out_slots[column].u;
	return true;
}

// A NULL where the statement's file promises none would be read as 0: the row is refused instead.
static bool put_value(const struct db_field *field, const struct bind_item *value, char *row)
{
	if (value->is_null && !field->nullable)
		return false;
	if (is_text(field->type))
		memcpy(row + field->at, &value->s, sizeof(value->s));
	else
		memcpy(row + field->at, &value->u, sizeof(value->u));
	if (field->null_at != 0)
		row[field->null_at] = value->is_null ? 1 : 0;
	return true;
}

static bool take_row(struct db_stmt *stmt, struct pool *pool, void *row)
{
	for (unsigned i = 0; i < stmt->n_out; i++) {
		struct bind_item value;

		if (!take_value(stmt, i, pool, &value) || !put_value(&stmt->query->out_fields[i], &value, row))
			return false;
	}
	return true;
}

// How many rows come is not known before the last: the array doubles.
static char *room_for(struct pool *pool, char *rows, size_t n, size_t row_size, size_t *room)
{
	assert(row_size > 0);
	if (n < *room)
		return rows;
	*room = *room == 0 ? 1 : *room < 16 ? 32 : *room * 2;
	char *larger = pool_alloc(pool, *room * row_size);

	if (n > 0)
		memcpy(larger, rows, n * row_size);
	return larger;
}

static bool fetch_rows(struct db_stmt *stmt, struct pool *pool, struct db_rows *rows)
{
	char *array = NULL;
	size_t room = 0;
	int rc;

	rows->row_size = stmt->query->row_size;
	// mysql_stmt_store_result() is not called: each row is copied from the network buffer into the pool, once.
	while ((rc = mysql_stmt_fetch(stmt->stmt)) == 0 || rc == MYSQL_DATA_TRUNCATED) {
		array = room_for(pool, array, rows->n, rows->row_size, &room);
		if (!take_row(stmt, pool, array + rows->n * rows->row_size))
			return false;
		rows->n++;
		if (budget_is_over())
			return false;
	}
	rows->rows = array;
	rows->affected = rows->n;
	return rc == MYSQL_NO_DATA;
}

// Gives each row to call->take. The memory of a row is freed before the next is read.
static bool give_rows(struct db_stmt *stmt, struct pool *pool, struct db_call *call)
{
	assert(call->take != NULL && pool != NULL);
	size_t row_size = stmt->query->row_size;
	void *row = pool_alloc(pool, row_size);
	struct pool *scratch = pool_scratch(pool, SIZE_MAX);
	struct pool_mark mark = pool_mark(scratch);
	const struct db_rows one = { .n = 1, .rows = row, .row_size = row_size };
	int rc = MYSQL_NO_DATA;
	bool ok = true;

	while (ok && ((rc = mysql_stmt_fetch(stmt->stmt)) == 0 || rc == MYSQL_DATA_TRUNCATED)) {
		ok = take_row(stmt, scratch, row);
		if (ok) {
			call->rows.n++;
			call->take(call->arg, &one, scratch);
		}
		pool_rewind(scratch, mark);
		ok = ok && !budget_is_over();
	}
	pool_scratch_end(pool, scratch);
	call->rows.affected = call->rows.n;
	return ok && rc == MYSQL_NO_DATA;
}

// Leaves the connection ready for the next statement.
static bool skip_rows(struct db_stmt *stmt)
{
	return mysql_stmt_field_count(stmt->stmt) == 0 || mysql_stmt_free_result(stmt->stmt) == 0;
}

bool db_bind_fetch(struct db_stmt *stmt, struct pool *pool, struct db_call *call)
{
	unsigned columns = mysql_stmt_field_count(stmt->stmt);
	struct db_rows *rows = &call->rows;

	assert(call->query == stmt->query);
	*rows = (struct db_rows){ .n = 0 };
	if (columns != stmt->n_out) {
		(void)skip_rows(stmt);
		return false;
	}
	rows->insert_id = mysql_stmt_insert_id(stmt->stmt);
	if (columns == 0) {
		rows->affected = mysql_stmt_affected_rows(stmt->stmt);
		return true;
	}
	if (pool == NULL)
		return skip_rows(stmt);
	if (!stmt->bound && !db_bind_columns(stmt))
		return false;
	return call->take != NULL ? give_rows(stmt, pool, call) : fetch_rows(stmt, pool, rows);
}
