// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "db/list.h"

#include "base/uuid.h"

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
