// SPDX-License-Identifier: Apache-2.0
// Statements that tests write where they need them: text, and a letter for the type of each parameter and column (s text,
// b bytes, u uint64_t, i int64_t, t time). Their struct of parameters, and of a row, is an array of values.
#ifndef TENURE_T_UNIT_DB_VALUES_H
#define TENURE_T_UNIT_DB_VALUES_H

#include "base/uuid.h"
#include "db/db.h"

struct test_query {
	const char *sql, *in, *out;
};

struct db_value {
	struct str s;
	union {
		uint64_t u;
		int64_t i;
	};
	bool null; // of a text as well
};

static inline struct db_value db_s(struct str s) { return (struct db_value){ .s = s.p != NULL ? s : STR("") }; }
static inline struct db_value db_b(struct str bytes) { return db_s(bytes); }
static inline struct db_value db_u(uint64_t u) { return (struct db_value){ .u = u }; }
static inline struct db_value db_i(int64_t i) { return (struct db_value){ .i = i }; }
static inline struct db_value db_t(int64_t us) { return (struct db_value){ .i = us }; }
static inline struct db_value db_uuid(const struct uuid *u) { return db_b(uuid_bytes(u)); }
static inline struct db_value db_null(void) { return (struct db_value){ .null = true }; }
#define DB_IN(...) ((const struct db_value[]){ __VA_ARGS__ })

// The value at a row and column.
static inline const struct db_value *db_at(const struct db_rows *rows, size_t row, size_t column)
{
	size_t columns = rows->row_size / sizeof(struct db_value);

	assert(row < rows->n && column < columns);
	return (const struct db_value *)rows->rows + row * columns + column;
}

static inline struct db_field *test_fields(const char *letters)
{
	static const char all[] = { [DB_TEXT] = 's', [DB_BYTES] = 'b', [DB_UINT] = 'u', [DB_INT] = 'i', [DB_TIME] = 't' };
	size_t n = strlen(letters);
	struct db_field *fields = calloc(n + 1, sizeof(*fields));

	if (fields == NULL)
		abort();
	for (size_t i = 0; i < n; i++) {
		enum db_type type = (enum db_type)((const char *)memchr(all, letters[i], sizeof(all)) - all);
		bool is_text = type == DB_TEXT || type == DB_BYTES;
		size_t at = i * sizeof(struct db_value);

		fields[i] = (struct db_field){ .type = type, .nullable = true,
			.at = (uint16_t)(at + (is_text ? offsetof(struct db_value, s) : offsetof(struct db_value, u))),
			.null_at = (uint16_t)(at + offsetof(struct db_value, null)) };
	}
	return fields;
}

// A query lives to the end: the statement cache goes by its address. of: what it is made of; NULL: nothing that is asked again.
static inline const struct db_query *test_query_made(const struct test_query *of, const struct test_query *test)
{
	struct made {
		struct db_query query;
		const struct test_query *of;
		struct made *next;
	};
	static struct made *all;

	for (struct made *made = all; of != NULL && made != NULL; made = made->next) {
		if (made->of == of)
			return &made->query;
	}
	struct made *made = calloc(1, sizeof(*made));
	if (made == NULL)
		abort();
	made->of = of;
	made->next = all;
	all = made;
	made->query = (struct db_query){
		.sql = test->sql,
		.name = "a test's",
		.in_fields = test_fields(test->in),
		.out_fields = test_fields(test->out),
		.n_in = (uint16_t)strlen(test->in),
		.n_out = (uint16_t)strlen(test->out),
		.in_size = (uint16_t)(strlen(test->in) * sizeof(struct db_value)),
		.row_size = (uint16_t)(strlen(test->out) * sizeof(struct db_value)),
	};
	return &made->query;
}

// The query of a static test_query, always the same.
static inline const struct db_query *test_query(const struct test_query *test)
{
	return test_query_made(test, test);
}

// One of the moment: text that outlives its connection, no parameters, columns of those letters.
#define TEST_QUERY(text, letters) \
	test_query_made(NULL, &(const struct test_query){ .sql = (text), .in = "", .out = (letters) })

#endif
