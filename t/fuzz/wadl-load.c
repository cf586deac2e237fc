// SPDX-License-Identifier: Apache-2.0
// max_len: 1100000
// A WADL file beside those that are shipped (in build/wadl): a table of routes, or an error that says where and why.
#include "input-file.h"

#include "wadl/wadl.h"

static const void *find(void *arg, const char *dialect, const char *id)
{
	UNUSED(dialect);
	UNUSED(id);
	return arg;
}

static void fuzz_one(struct pool *pool, struct str input)
{
	char *error = NULL;

	UNUSED(pool);
	struct route_table *table = wadl_load("build/wadl", input_file_write("t.wadl", input), find, &error, &error);
	MUST((table == NULL) == (error != NULL));
	MUST(error == NULL || strstr(error, ".wadl:") != NULL);
	free(error);
	wadl_free(&table);
}
