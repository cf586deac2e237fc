// SPDX-License-Identifier: Apache-2.0
// For doctor.c, which has the list of checks, and doctor_walk.c, which has those that read every document.
#ifndef TENURE_REGISTRY_UPKEEP_DOCTOR_INTERNAL_H
#define TENURE_REGISTRY_UPKEEP_DOCTOR_INTERNAL_H

#include "registry/core/context.h"

enum { DOCTOR_EXAMPLE_MAX = 320 };

// A run of one check, and what it has found so far.
struct examination {
	struct registry *registry;
	bool fix;
	uint64_t after, upto; // the slice: ids above after and up to upto, of the table that the check goes through
	uint64_t found, fixed;
	uint64_t *by_key; // for doctor_count_tags() alone
	char example[DOCTOR_EXAMPLE_MAX]; // the name of the first broken row; "": none so far
};

// Checks that read the documents of the slice, a page at a time. Each adds to found, fixed and example, and repairs only if
// examination->fix. Each rewinds registry->pool. They return OUTCOME_OK, _UNAVAILABLE or _INTERNAL.

// In each document, members that statements query come before members that are nested too deep for the database.
enum outcome doctor_check_depth(struct examination *examination);
// The same in each tenant's object.
enum outcome doctor_check_tenant_depth(struct examination *examination);
// metadata and body of each resource are JSON objects.
enum outcome doctor_check_documents(struct examination *examination);
// metadata and object of each tenant are JSON objects.
enum outcome doctor_check_tenant_documents(struct examination *examination);
// Each resource's etag, size and lanes fit its content.
enum outcome doctor_check_hashes(struct examination *examination);
// Each resource's lookup keys and root fit its document.
enum outcome doctor_check_relations(struct examination *examination);
// Each tenant's etag fits its content.
enum outcome doctor_check_tenants(struct examination *examination);

#endif
