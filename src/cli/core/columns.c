// SPDX-License-Identifier: Apache-2.0
// The columns of nouns that are built-in types with an API of their own: each type's file has them (types/common/parts.h).
#include "base/base.h"

#include "cli/core/cli.h"
#include "cli/core/table.h"
#include "types/types.h"

struct column_list cli_noun_columns(struct cli *cli, const char *group, const char *plural)
{
	const struct type_noun_column *of_type = type_parts_by_plural(str_c(group), str_c(plural))->noun_columns;
	struct column_list columns = { .n = 0 };

	assert(of_type != NULL);
	while (of_type[columns.n].name != NULL)
		columns.n++;
	struct column *list = POOL_ARRAY(cli->pool, struct column, columns.n);
	for (size_t i = 0; i < columns.n; i++) {
		list[i] = (struct column){ .name = of_type[i].name, .path = of_type[i].path };
		columns.n_shown += !of_type[i].wide;
		assert(of_type[i].wide || columns.n_shown == i + 1); // wide ones stand last
	}
	columns.list = list;
	return columns;
}
