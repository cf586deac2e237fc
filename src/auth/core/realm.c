// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/core/realm.h"

struct realm realm_of_tenant(struct str name)
{
	assert(name.p != NULL);
	return (struct realm){ str_eq_c(name, REALM_WORD_SYSTEM) ? REALM_SYSTEM : REALM_TENANT, name };
}

struct realm realm_of_word(struct str word)
{
	assert(word.p != NULL);
	return str_eq_c(word, REALM_WORD_ALL) ? (struct realm){ .kind = REALM_ALL } : realm_of_tenant(word);
}

const char *realm_reserved(struct str name)
{
	if (str_eq_c(name, REALM_WORD_ALL))
		return "\"" REALM_WORD_ALL "\" is a reserved word that means every tenant; no tenant has that name";
	if (str_eq_c(name, REALM_WORD_SYSTEM))
		return "\"" REALM_WORD_SYSTEM "\" is a reserved word that means the operator's own space; no tenant has that name";
	return NULL;
}
