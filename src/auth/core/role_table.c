// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/core/authenticator.h"
#include "auth/core/role_table.h"

bool role_name_is(struct str name, struct str wanted, enum role_names kind)
{
	return kind == ROLE_NAMES_OPENSTACK ? str_eq_nocase(name, wanted) : str_eq(name, wanted);
}

bool role_list_overlaps(struct str names, struct str wanted, enum role_names kind)
{
	struct str name, one, rest;

	while (str_split(&names, ',', &name)) {
		rest = wanted;
		while (str_split(&rest, ',', &one)) {
			if (name.n > 0 && role_name_is(name, str_trim(one), kind))
				return true;
		}
	}
	return false;
}

// Divides a row "NAME:ROLE" at its last colon: no role has one, but names do, such as the scope "tenure:read". False: it is none,
// or has no name.
static bool read_row(struct str row, struct str *name, enum role *role)
{
	size_t end = row.n; // of what is before the colon and the colon itself

	while (end > 0 && row.p[end - 1] != ':')
		end--;
	*name = str_trim(str_part(row, 0, end > 0 ? end - 1 : 0));
	return name->n > 0 && role_parse(str_trim(str_part(row, end, row.n)), role);
}

// The role that the table gives for this name; ROLE_NONE: it isn't there.
static enum role mapped_role(struct str table, struct str name, enum role_names kind)
{
	struct str row, row_name;
	enum role role;

	while (str_split(&table, ',', &row)) {
		if (read_row(row, &row_name, &role) && role_name_is(name, row_name, kind))
			return role;
	}
	return ROLE_NONE;
}

enum role role_table_highest(struct str table, struct str names, enum role_names kind)
{
	enum role highest = ROLE_NONE;
	struct str name;

	while (highest < ROLE_ADMIN && str_split(&names, ',', &name)) { // no table gives more
		enum role role = name.n > 0 ? mapped_role(table, name, kind) : ROLE_NONE;
		if (role > highest)
			highest = role;
	}
	return highest;
}

char *role_table_check(const char *setting, struct str table)
{
	struct str row, name;
	enum role role;

	while (table.n > 0 && str_split(&table, ',', &row)) {
		if (!read_row(row, &name, &role) || role == ROLE_OPERATOR) {
			struct str shown = str_trim(row);
			return auth_message("%s: got \"%.*s\"; expected NAME:reader, NAME:member or NAME:admin", setting,
				STR_ARG(shown));
		}
	}
	return NULL;
}
