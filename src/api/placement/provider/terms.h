// SPDX-License-Identifier: Apache-2.0
// For the files of api/placement/ only: the parameters member_of, required and resources, which lists of providers and requests
// for candidates have in common, by microversion.
#ifndef TENURE_API_PLACEMENT_PROVIDER_TERMS_H
#define TENURE_API_PLACEMENT_PROVIDER_TERMS_H

#include "api/call.h"
#include "registry/placement/provider.h"

// The terms read so far, for a struct provider_query or a struct candidate_wish.
struct terms {
	struct call *call;
	struct str suffix; // suffix of the parameters' names, for error texts; mostly ""
	struct provider_membership memberships[PROVIDER_MAX_TERMS];
	size_t n_memberships;
	struct provider_requirement requirements[PROVIDER_MAX_TERMS];
	size_t n_requirements;
	struct provider_demand demands[PROVIDER_MAX_TERMS];
	size_t n_demands;
};

// Reads "A" or "in:A,B", from 1.32 on also "!A" and "!in:A,B": uuids of aggregates. Adds a membership. OUTCOME_OK,
// _BAD_PARAMETER.
enum outcome terms_take_member_of(struct terms *terms, struct str value);
// Reads "A,B", from 1.22 on also "!A", from 1.39 on also "in:A,B": names of traits. Adds requirements. OUTCOME_OK,
// _BAD_PARAMETER.
enum outcome terms_take_required(struct terms *terms, struct str value);
// Reads "A:1,B:2": amounts of classes; if a class is named twice the last amount counts. Replaces the demands. OUTCOME_OK,
// _BAD_PARAMETER.
enum outcome terms_take_resources(struct terms *terms, struct str value);

#endif
