// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <stdlib.h>

#include "base/uuid.h"
#include "db/list.h"

struct db_list db_list_new(struct pool *pool, size_t room)
{
	return (struct db_list){ .text = buf_new(pool, room + 2) };
}

struct buf *db_list_item(struct db_list *list)
{
	buf_addc(&list->text, list->n++ == 0 ? '[' : ',');
	return &list->text;
}

void db_list_add_u64(struct db_list *list, uint64_t id)
{
	buf_add_u64(db_list_item(list), id);
}

void db_item_uuid(struct buf *item, const struct uuid *uuid)
{
	buf_addc(item, '"');
	buf_add_hex(item, uuid->b, sizeof(uuid->b));
	buf_addc(item, '"');
}

void db_list_add_uuid(struct db_list *list, const struct uuid *uuid)
{
	db_item_uuid(db_list_item(list), uuid);
}

struct str db_list_end(struct db_list *list)
{
	if (list->n == 0)
		buf_addc(&list->text, '[');
	buf_addc(&list->text, ']');
	return buf_str(&list->text);
}

struct str db_list_of_ids(struct pool *pool, const uint64_t *ids, size_t n)
{
	struct db_list list = db_list_new(pool, 12 * n);

	for (size_t i = 0; i < n; i++)
		db_list_add_u64(&list, ids[i]);
	return db_list_end(&list);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

struct str db_list_of_id_set(struct pool *pool, uint64_t *ids, size_t n)
{
	struct db_list list = db_list_new(pool, 12 * n);

	if (n > 0) // NULL is no array for qsort()
		qsort(ids, n, sizeof(*ids), by_number);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || ids[i] != ids[i - 1])
			db_list_add_u64(&list, ids[i]);
	}
	return db_list_end(&list);
}
