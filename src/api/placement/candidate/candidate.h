// SPDX-License-Identifier: Apache-2.0
// For the files of api/placement/ only: requests for allocation candidates.
#ifndef TENURE_API_PLACEMENT_CANDIDATE_CANDIDATE_H
#define TENURE_API_PLACEMENT_CANDIDATE_CANDIDATE_H

#include "api/call.h"
#include "registry/candidates/candidate.h"

// Reads the parameters of GET /allocation_candidates. OUTCOME_OK; _BAD_PARAMETER.
enum outcome candidate_query_read(struct call *call, struct candidate_query *query);

handler_fn list_candidates;

#endif
