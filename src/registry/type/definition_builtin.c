// SPDX-License-Identifier: Apache-2.0
// The built-in definitions: a new type is a row of sql/ and one here.
#include "base/base.h"

#include "registry/type/definition_internal.h"

enum {
	MANY = VERBS_ALL,
	READ = VERB_GET | VERB_LIST | VERB_WATCH,
	OWN = VERB_GET | VERB_LIST | VERB_WATCH | VERB_PATCH | VERB_UPDATE,
};

static const struct definition_version v1[] = { { .name = STR_INIT("v1"), .served = true, .storage = true } };
static const struct definition_version crd_versions[] = {
	{ .name = STR_INIT("v1"), .served = true, .storage = true, .has_status = true },
	{ .name = STR_INIT("v1beta1"), .served = true, .has_status = true },
};
static const struct definition_version v1_status[] = {
	{ .name = STR_INIT("v1"), .served = true, .storage = true, .has_status = true }
};

#define NAMES(...) ((const struct str[]){ __VA_ARGS__ })
#define SHORT(name) .short_names = NAMES(STR_INIT(name)), .n_short_names = 1
#define METAL { .scope = SCOPE_TENANT, .verbs = MANY, .stored = true, .versions = v1, .n_versions = 1 }
#define ALL .categories = NAMES(STR_INIT("all")), .n_categories = 1

// The rest of the names stands in the types' rows.
const struct builtin builtins[] = {
	{ "", "namespaces", { SHORT("ns"), .scope = SCOPE_TENANT, .verbs = MANY & ~(unsigned)VERB_DELETECOLLECTION,
		.stored = true, .strategic = true, .versions = v1_status, .n_versions = 1 } },
	{ "", "persistentvolumes", { SHORT("pv"), .scope = SCOPE_TENANT, .verbs = MANY, .stored = true, .strategic = true,
		.versions = v1_status, .n_versions = 1 } },
	{ "", "configmaps", { SHORT("cm"), .scope = SCOPE_NAMESPACED, .verbs = MANY, .stored = true, .strategic = true,
		.versions = v1, .n_versions = 1 } },
	{ "", "secrets", { .scope = SCOPE_NAMESPACED, .verbs = MANY, .stored = true, .strategic = true, .versions = v1,
		.n_versions = 1 } },
	{ "", "pods", { SHORT("po"), ALL, .scope = SCOPE_NAMESPACED, .verbs = MANY, .stored = true, .strategic = true,
		.versions = v1_status, .n_versions = 1 } },
	{ "", "serviceaccounts", { SHORT("sa"), .scope = SCOPE_NAMESPACED, .verbs = MANY, .stored = true, .strategic = true,
		.versions = v1, .n_versions = 1 } },
	{ "", "services", { SHORT("svc"), ALL, .scope = SCOPE_NAMESPACED, .verbs = MANY, .stored = true, .strategic = true,
		.versions = v1_status, .n_versions = 1 } },
	{ "", "nodes", { SHORT("no"), .scope = SCOPE_CLUSTER, .system_only = true, .verbs = MANY, .stored = true,
		.strategic = true, .versions = v1_status, .n_versions = 1 } },
	{ "", "tenants", { .scope = SCOPE_CLUSTER, .verbs = MANY & ~(unsigned)VERB_DELETECOLLECTION, .tenant_verbs = OWN,
		.strategic = true, .versions = v1_status, .n_versions = 1 } },
	{ "", "events", { SHORT("ev"), .scope = SCOPE_NAMESPACED, .verbs = READ, .versions = v1, .n_versions = 1 } },
	{ "apps", "daemonsets", { SHORT("ds"), ALL, .scope = SCOPE_NAMESPACED, .system_only = true, .verbs = MANY,
		.stored = true, .strategic = true, .versions = v1_status, .n_versions = 1 } },
	{ CRD_GROUP, CRD_PLURAL, {
		.short_names = NAMES(STR_INIT("crd"), STR_INIT("crds")), .n_short_names = 2, .scope = SCOPE_TENANT,
		.verbs = MANY, .stored = true, .strategic = true, .versions = crd_versions, .n_versions = 2 } },
	{ "baremetal.openstack.org", "nodes", METAL },
	{ "baremetal.openstack.org", "ports", METAL },
	{ "baremetal.openstack.org", "portgroups", METAL },
	{ "baremetal.openstack.org", "chassis", METAL },
	{ "placement.openstack.org", "resourceproviders", METAL },
};
const size_t n_builtins = COUNT_OF(builtins);
