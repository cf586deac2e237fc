// SPDX-License-Identifier: Apache-2.0
// Lists as values of statements: JSON arrays, which a statement goes through with JSON_TABLE.
#ifndef TENURE_DB_LIST_H
#define TENURE_DB_LIST_H

#include "base/buf.h"

struct uuid;

struct db_list {
	struct buf text;
	size_t n; // items
};

// A list without items in the pool. room: how many bytes its items may take, 0 if unknown.
struct db_list db_list_new(struct pool *pool, size_t room);
void db_list_add_u64(struct db_list *list, uint64_t id);
// Its 32 hexadecimal digits as a string, for a statement that takes them through UNHEX().
void db_list_add_uuid(struct db_list *list, const struct uuid *uuid);
// Begins an item of another sort, which the caller writes to the result.
struct buf *db_list_item(struct db_list *list);
// Writes what db_list_add_uuid() adds, as a part of such an item.
void db_item_uuid(struct buf *item, const struct uuid *uuid);
// The whole text. The list gets no more items then.
struct str db_list_end(struct db_list *list);

// The whole list of n ids, in their order.
struct str db_list_of_ids(struct pool *pool, const uint64_t *ids, size_t n);
// The same in ascending order, each once: as rows have to be locked. Sorts ids.
struct str db_list_of_id_set(struct pool *pool, uint64_t *ids, size_t n);

#endif
