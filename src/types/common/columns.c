// SPDX-License-Identifier: Apache-2.0
// Cells that tables of several types share.
#include "base/base.h"

#include "base/ascii.h"
#include "base/pool.h"
#include "types/common/checks.h"
#include "types/common/columns.h"

// ---- ages

struct str column_age(struct pool *pool, int64_t seconds)
{
	long long minutes = seconds / 60, hours = seconds / 3600, days = seconds / 86400;

	// Clocks of client and server may differ by a second.
	if (seconds < -1)
		return STR("<invalid>");
	if (seconds < 120)
		return str_printf(pool, "%llds", seconds < 0 ? 0 : (long long)seconds);
	if (minutes < 10)
		return seconds % 60 == 0 ? str_printf(pool, "%lldm", minutes)
			: str_printf(pool, "%lldm%llds", minutes, (long long)(seconds % 60));
	if (minutes < 180)
		return str_printf(pool, "%lldm", minutes);
	if (hours < 8)
		return minutes % 60 == 0 ? str_printf(pool, "%lldh", hours)
			: str_printf(pool, "%lldh%lldm", hours, minutes % 60);
	if (hours < 48)
		return str_printf(pool, "%lldh", hours);
	if (days < 8)
		return hours % 24 == 0 ? str_printf(pool, "%lldd", days) : str_printf(pool, "%lldd%lldh", days, hours % 24);
	if (days < 365 * 2)
		return str_printf(pool, "%lldd", days);
	if (days < 365 * 8)
		return days % 365 == 0 ? str_printf(pool, "%lldy", days / 365)
			: str_printf(pool, "%lldy%lldd", days / 365, days % 365);
	return str_printf(pool, "%lldy", days / 365);
}

static bool read_number(struct str text, size_t from, size_t n, int *value)
{
	uint64_t digits;

	if (from + n > text.n || !str_to_u64(str_part(text, from, from + n), &digits))
		return false;
	*value = (int)digits;
	return true;
}

bool column_time(struct str text, int64_t *seconds)
{
	struct tm tm = { .tm_isdst = 0 };
	int zone_hours = 0, zone_minutes = 0;
	size_t at = 19;

	if (!read_number(text, 0, 4, &tm.tm_year) || !read_number(text, 5, 2, &tm.tm_mon) ||
		!read_number(text, 8, 2, &tm.tm_mday) || !read_number(text, 11, 2, &tm.tm_hour) ||
		!read_number(text, 14, 2, &tm.tm_min) || !read_number(text, 17, 2, &tm.tm_sec))
		return false;
	if (text.p[4] != '-' || text.p[7] != '-' || text.p[10] != 'T' || text.p[13] != ':' || text.p[16] != ':')
		return false;
	if (at < text.n && text.p[at] == '.') {
		for (at++; at < text.n && ascii_is_digit(text.p[at]); at++)
			;
	}
	if (at == text.n)
		return false;
	bool utc = text.p[at] == 'Z' && at + 1 == text.n;
	if (!utc && (text.n != at + 6 || text.p[at + 3] != ':' || !read_number(text, at + 1, 2, &zone_hours) ||
		!read_number(text, at + 4, 2, &zone_minutes)))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	int64_t zone = (zone_hours * 60 + zone_minutes) * 60;
	*seconds = (int64_t)timegm(&tm) - (utc ? 0 : text.p[at] == '-' ? -zone : zone);
	return true;
}

struct str column_age_since(const struct type_row *row, const struct doc *time)
{
	int64_t then;

	if (doc_kind(time) != DOC_STRING)
		return STR("<unknown>");
	if (!column_time(doc_string(time), &then))
		return STR("<invalid>");
	return column_age(row->pool, row->now_us / 1000000 - then);
}

// ---- values of cells

const struct doc *column_metadata(const struct type_row *row)
{
	return check_object_member(row->object, "metadata");
}

void column_add_text(struct type_row *row, struct str text)
{
	json_add_string(row->out, text);
}

const struct doc *column_value(struct type_row *row, const struct type_column *column)
{
	size_t n = 0;
	const struct doc *const *values = jsonpath_find(row->pool, column->path, row->object, &row->looks, &n);

	return n > 0 ? values[0] : NULL;
}

// ---- cells

void cell_of_name(struct type_row *row, const struct type_column *column)
{
	UNUSED(column);
	column_add_text(row, check_object_text(column_metadata(row), "name"));
}

void cell_of_age(struct type_row *row, const struct type_column *column)
{
	UNUSED(column);
	column_add_text(row, column_age_since(row, check_object_member(column_metadata(row), "creationTimestamp")));
}

// Writes a text; an empty one if there is none.
void cell_of_text(struct type_row *row, const struct type_column *column)
{
	const struct doc *value = column_value(row, column);
	struct buf text = buf_new(row->pool, 32);

	if (doc_kind(value) == DOC_NUMBER || doc_kind(value) == DOC_BOOL)
		doc_write_json(value, &text);
	column_add_text(row, doc_kind(value) == DOC_STRING ? doc_string(value) : text.n > 0 ? buf_str(&text) : STR(""));
}

// Writes a text; "<none>" if there is none.
void cell_of_text_or_none(struct type_row *row, const struct type_column *column)
{
	struct str text = doc_string(column_value(row, column));

	column_add_text(row, text.n > 0 ? text : STR("<none>"));
}

void cell_of_count(struct type_row *row, const struct type_column *column)
{
	buf_add_u64(row->out, doc_length(column_value(row, column)));
}

void cell_of_integer(struct type_row *row, const struct type_column *column)
{
	int64_t value = 0;

	doc_i64(column_value(row, column), &value);
	buf_add_i64(row->out, value);
}

void cell_of_data(struct type_row *row, const struct type_column *column)
{
	UNUSED(column);
	buf_add_u64(row->out, doc_length(check_object_member(row->object, "data")) + doc_length(check_object_member(row->object,
		"binaryData")));
}

// Writes pairs as "a=b,c=d".
void cell_of_pairs(struct type_row *row, const struct type_column *column)
{
	struct buf text = buf_new(row->pool, 64);

	for (struct doc_iter it = doc_iter(column_value(row, column)); doc_next(&it);) {
		struct str value = doc_string(it.value);
		buf_addf(&text, "%s%.*s=%.*s", text.n > 0 ? "," : "", STR_ARG(it.name), STR_ARG(value));
	}
	column_add_text(row, text.n > 0 ? buf_str(&text) : STR("<none>"));
}

void cell_of_phase(struct type_row *row, const struct type_column *column)
{
	bool ending = check_object_text(column_metadata(row), "deletionTimestamp").n > 0;

	column_add_text(row, ending ? STR("Terminating") : doc_string(column_value(row, column)));
}
