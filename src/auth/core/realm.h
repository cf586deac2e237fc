// SPDX-License-Identifier: Apache-2.0
// What an address is about: one tenant, all tenants, the system space, or none of them. It is decided when the address is routed,
// before the policy is checked; later steps use this value only and never the text of the address. Two words are reserved, so
// that each word has one meaning: no tenant is named "all" or "system". Names are compared byte for byte: "All" is a name like
// any other.
#ifndef TENURE_AUTH_CORE_REALM_H
#define TENURE_AUTH_CORE_REALM_H

#include "base/str.h"

#define REALM_WORD_ALL "all"
#define REALM_WORD_SYSTEM "system"

enum realm_kind {
	REALM_NONE,   // the address names no tenant
	REALM_TENANT, // the tenant of that name, whether or not it exists
	REALM_SYSTEM, // the operator's own space, and resources of no tenant
	REALM_ALL,    // every tenant at once
};

struct realm {
	enum realm_kind kind;
	struct str tenant; // of REALM_TENANT and REALM_SYSTEM: the name it has in the registry; p NULL else
};

// The realm of a tenant's name. "system" is the system space, every other name a tenant; never REALM_ALL.
struct realm realm_of_tenant(struct str name);
// The realm of a word in an address of a dialect in which "all" means every tenant.
struct realm realm_of_word(struct str word);

// Why the name is reserved, as a text for clients that begins with the name in quotation marks; NULL: it is not reserved.
const char *realm_reserved(struct str name);

#endif
