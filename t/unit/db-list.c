// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/pool.h"
#include "base/uuid.h"
#include "db/list.h"
#include "tap.h"

int main(void)
{
	struct pool *pool = pool_new();
	uint64_t ids[] = { 7, 2, UINT64_MAX, 7, 0, 2, 7 };
	struct uuid uid = { .b = { 0x01, 0xab, [15] = 0xff } };

	is_str(db_list_of_ids(pool, ids, COUNT_OF(ids)), "[7,2,18446744073709551615,7,0,2,7]", "ids in their order");
	is_str(db_list_of_id_set(pool, ids, COUNT_OF(ids)), "[0,2,7,18446744073709551615]", "ids in ascending order, each once");
	is_str(db_list_of_id_set(pool, ids, 1), "[0]", "one id");
	is_str(db_list_of_ids(pool, NULL, 0), "[]", "none");
	is_str(db_list_of_id_set(pool, NULL, 0), "[]", "none in ascending order");
	struct db_list list = db_list_new(pool, 0);
	db_list_add_uuid(&list, &uid);
	db_list_add_u64(&list, 3);
	is_str(db_list_end(&list), "[\"01ab00000000000000000000000000ff\",3]", "a uid as its hexadecimal digits");
	pool_free(&pool);
	return done_testing();
}
