// SPDX-License-Identifier: Apache-2.0
// Lists of a tenant's resources of a type that meet conditions, in an order that an index has. Each page looks at a bounded number of
// resources, however few of them meet the conditions.
#ifndef TENURE_REGISTRY_RESOURCE_SELECTION_H
#define TENURE_REGISTRY_RESOURCE_SELECTION_H

#include "registry/core/model.h"

// LOOKED_AT: how many entries of an index a page looks at; what is deleted counts. READ: how many documents it reads for .wants.
enum { SELECTION_LOOKED_AT = 10000, SELECTION_READ = 1000 };

enum selection_order {
	SELECTION_BY_NAME,     // byte order of (namespace, name); of tenants, of their names
	SELECTION_BY_CREATION, // the order in which they were created
};

// Times t with since_us <= t < before_us.
struct time_span {
	int64_t since_us, before_us;
};
#define TIME_SPAN_ANY ((struct time_span){ INT64_C(0), INT64_C(253402300799000000) })

struct trait_filter; // registry/trait/trait.h

// What all conditions select. A text that is no condition has p NULL.
struct resource_selection {
	struct str tenant;
	const struct type *type;
	bool all_spaces;  // of a namespaced type: in every namespace
	struct str space; // else: the namespace, or ""
	bool deleted;     // those that are deleted and can be recovered; by creation only
	enum selection_order order;
	bool descending;
	struct str marker; // "next" of the page before; p NULL: from the first
	uint64_t limit;    // > 0
	struct str text;   // the resource has it in NAME or NAMESPACE/NAME, in upper or lower case, or has this uid
	struct str name;   // the resource has this name
	struct time_span created, updated;
	const struct trait_filter *traits; // NULL: any; not with deleted
	// Texts that the stored metadata and body of every resource that wants() accepts have. They only save reading others.
	struct str meta_has, body_has;
	// Decides by the document. It runs for at most SELECTION_READ resources of a page. NULL: all are wanted.
	bool (*wants)(void *arg, const struct resource *resource);
	void *arg;
};

struct resource_selected {
	struct resource *list;
	size_t n;        // up to limit; fewer, or none, even if there are more, where few meet the conditions or documents are large
	struct str next; // the marker of the next page; p NULL: the list ends here
};

// OUTCOME_OK; _NOT_FOUND: no such tenant or namespace; _GONE: the tenant is deleted; _BAD_PARAMETER: the marker, or unknown traits.
enum outcome resource_select(struct registry *registry, const struct resource_selection *selection, struct resource_selected *selected);

#endif
