// SPDX-License-Identifier: Apache-2.0
// Lists of tenants that meet conditions, in an order that an index has. Each page looks at a bounded number of tenants, however
// few of them meet the conditions.
#ifndef TENURE_REGISTRY_TENANT_SELECTION_H
#define TENURE_REGISTRY_TENANT_SELECTION_H

#include "registry/resource/selection.h"

// What all conditions select. A text that is no condition has p NULL.
struct tenant_selection {
	bool deleted; // those that are deleted and can be recovered
	enum selection_order order;
	bool descending;
	struct str marker; // "next" of the page before; p NULL: from the first
	uint64_t limit;    // > 0
	struct str tier;
	struct str text;   // the tenant has it in its name or metadata, in upper or lower case
	struct time_span created, updated;
	// Texts that the stored metadata and object of every tenant that wants() accepts have. They only save reading others.
	struct str metadata_has, object_has;
	// Decides by the documents. It runs for at most SELECTION_READ tenants of a page. NULL: all are wanted.
	bool (*wants)(void *arg, const struct tenant *tenant);
	void *arg;
};

struct tenant_selected {
	struct tenant *list;
	size_t n;        // up to limit; fewer, or none, even if there are more, where few meet the conditions, or their documents are large
	struct str next; // the marker of the next page; p NULL: the list ends here
};

// The system space is never among them. OUTCOME_OK; _BAD_PARAMETER: the marker, or there is no such tier.
enum outcome tenant_select(struct registry *registry, const struct tenant_selection *selection, struct tenant_selected *selected);

#endif
