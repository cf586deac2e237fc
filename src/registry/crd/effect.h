// SPDX-License-Identifier: Apache-2.0
// What a change of sharing or of policy does.
#ifndef TENURE_REGISTRY_CRD_EFFECT_H
#define TENURE_REGISTRY_CRD_EFFECT_H

#include "registry/type/definition.h"

// ---- what a change of sharing or of policy does: to be asked before and after it, in the transaction that makes it and
// is then undone. Told is where another definition answers than before, or one where there was none, or none any more;
// not where a definition stays and says something else.

struct definition_effect {
	struct str tenant;
	const struct type *type;
	const struct definition *from, *to; // NULL: none
	uint64_t objects; // live ones of the tenant's
};
struct definition_effects {
	struct definition_effect *list; // of several tenants by name; of one by group, plural
	size_t n;
	struct str next; // where to go on; p NULL: that was all
};
struct definition_survey;
// Before the change: of that tenant's policy or annotations (plural p NULL), or of its definition of that name.
// OUTCOME_OK.
enum outcome definition_survey_begin(struct registry *registry, struct str tenant, struct str group, struct str plural,
	struct definition_survey **survey);
// After it. A definition of the system's is looked at for all tenants from marker on ("": the first), at most limit told
// and so many looked at that it takes moments; of another tenant's only that one is, and all is told. OUTCOME_OK.
enum outcome definition_survey_end(struct registry *registry, const struct definition_survey *survey, struct str marker,
	size_t limit, struct definition_effects *effects);

#endif
