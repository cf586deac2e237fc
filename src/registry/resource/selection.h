// SPDX-License-Identifier: Apache-2.0
// Lists of a tenant's resources of a type, or of those of all tenants, that meet conditions, in an order that an index has. Each
// page looks at a bounded number of resources, however few of them meet the conditions.
#ifndef TENURE_REGISTRY_RESOURCE_SELECTION_H
#define TENURE_REGISTRY_RESOURCE_SELECTION_H

#include "base/clock.h"
#include "registry/core/model.h"

// LOOKED_AT: how many entries of an index a page looks at; what is deleted counts. READ: how many documents it reads for .wants.
enum { SELECTION_LOOKED_AT = 10000, SELECTION_READ = 1000 };

enum selection_order {
	SELECTION_BY_NAME,     // byte order of (namespace, name); of tenants, of their names
	SELECTION_BY_CREATION, // the order in which they were created
	SELECTION_BY_CHANGE,   // that of the times at which they were changed last; of one time, that of their creation
};

// Times t with since_us <= t < before_us.
struct time_span {
	int64_t since_us, before_us;
};
#define TIME_SPAN_ANY ((struct time_span){ INT64_C(0), CLOCK_LAST_US })

// A place in the order of creation or change, as a marker: "17", "1795670694123456.17". selection_place_read(): false: it is
// none.
struct str selection_place(struct pool *pool, enum selection_order order, int64_t at_us, uint64_t id);
bool selection_place_read(struct str marker, enum selection_order order, int64_t *at_us, uint64_t *id);

struct trait_filter; // registry/trait/trait.h

// What all conditions select. A text that is no condition has p NULL.
struct resource_selection {
	struct str tenant; // p NULL: of all tenants that are not deleted, by creation; then .all_spaces counts for nothing
	const struct type *type;
	const struct type *const *types; // of all tenants: .type NULL, and those that count; NULL: any
	size_t n_types;
	struct str called; // of all tenants: with this name or uid, or of a built-in type with this lookup key, such as a MAC address
	struct str uid;    // of all tenants: the one with this uid, 36 characters
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

// OUTCOME_OK; _NOT_FOUND: no such tenant or namespace; _GONE: the tenant is deleted; _BAD_PARAMETER: the marker, or unknown
// traits.
enum outcome resource_select(struct registry *registry, const struct resource_selection *selection, struct resource_selected *selected);

#endif
