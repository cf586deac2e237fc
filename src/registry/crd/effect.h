// SPDX-License-Identifier: Apache-2.0
// Computes the effect of a change of a definition's sharing, or of a tenant's policy.
#ifndef TENURE_REGISTRY_CRD_EFFECT_H
#define TENURE_REGISTRY_CRD_EFFECT_H

#include "registry/type/definition.h"

// A change of sharing or of policy may give tenants another definition of a type. The effect is computed in the transaction that
// makes the change, which is then rolled back: call definition_survey_begin() before the change and definition_survey_end() after
// it. A tenant and type have an entry if another definition serves them than before, or none any more, or if none did. They have
// no entry if the same definition stays with another content.

struct definition_effect {
	struct str tenant;
	const struct type *type;
	const struct definition *from, *to; // NULL: none
	uint64_t objects; // live objects of the type in that tenant
};
// A list of effects, in the request's pool.
struct definition_effects {
	struct definition_effect *list; // of several tenants by name; of one tenant by group and plural
	size_t n;
	struct str next; // the marker to go on with; p NULL: the list is complete
};
struct definition_survey;
// Begins a survey, in the request's pool. Call it before the change: of the tenant's policy or annotations (plural p NULL), or of
// its definition of that group and plural. OUTCOME_OK, or that of a failed statement.
enum outcome definition_survey_begin(struct registry *registry, struct str tenant, struct str group, struct str plural,
	struct definition_survey **survey);
// Call it after the change. If a definition of the system has changed, all tenants after marker are compared ("": from the
// first), until the list has limit (> 0) entries, or until 5000 tenants were compared. If anything of another tenant has changed,
// this tenant alone is compared. OUTCOME_OK, or that of a failed statement.
enum outcome definition_survey_end(struct registry *registry, const struct definition_survey *survey, struct str marker,
	size_t limit, struct definition_effects *effects);

#endif
