// SPDX-License-Identifier: Apache-2.0
// What a type is for a tenant. A type (registry/type/type.h) is an identity: group, plural name, and whether its resources
// stand in namespaces. A definition says what it is: its kind, versions, short names, verbs, columns, schemas. It is
// built in (definition_builtin.c), the same for everybody whom it is for, or a CustomResourceDefinition, itself a
// resource of the tenant that made it, which its tenant alone uses or, where it is the system's, others as well.
//
// definition_find is the one place where that is decided, for every dialect. Objects belong to the type: they stay as
// they are whichever definition serves them, and while none does.
//
// Workers hold what they have read of tenants' definitions, as of a revision (registry/trait/catalogue.h): in the ordinary
// case asking costs no query. What comes out is valid until the request's end.
#ifndef TENURE_REGISTRY_TYPE_DEFINITION_H
#define TENURE_REGISTRY_TYPE_DEFINITION_H

#include "registry/core/model.h"

enum definition_scope {
	SCOPE_NAMESPACED, // in a namespace of a space
	SCOPE_TENANT,     // in a space: what is "Cluster" within a regular tenant's
	SCOPE_CLUSTER,    // in the system space only
};

enum definition_verbs {
	VERB_GET = 1 << 0,
	VERB_LIST = 1 << 1,
	VERB_CREATE = 1 << 2,
	VERB_UPDATE = 1 << 3,
	VERB_PATCH = 1 << 4,
	VERB_DELETE = 1 << 5,
	VERB_DELETECOLLECTION = 1 << 6,
	VERB_WATCH = 1 << 7,
	VERBS_ALL = (1 << 8) - 1,
};

// A printer column, as a CustomResourceDefinition has it.
struct definition_column {
	struct str name, type, format, description, path; // path: JSONPath, ".spec.size"; "" where there is none
	int64_t priority;                                 // 0: shown always; else in wide lists
};

struct definition_version {
	struct str name; // "v1"
	bool served;
	bool storage;              // of one version: what other dialects read and write
	const struct doc *schema;  // the openAPIV3Schema; NULL: none, any object will do
	const struct structural *structural; // the same, ready for use; NULL: none
	bool prunes;               // what the schema doesn't name is not kept
	bool has_status, has_scale; // subresources
	const struct doc *scale;   // specReplicasPath, statusReplicasPath, labelSelectorPath; NULL: no scale
	const struct definition_column *columns; // of a custom type; NULL: name and age
	size_t n_columns;
	bool deprecated;
	struct str warning; // what to warn of when it is deprecated; "" for none
};

struct definition {
	const struct type *type; // its group, plural
	bool builtin;
	bool system_only; // built in, and for the system's own space: nodes of the cluster, daemon sets
	bool stored;      // its objects are resources; else tenants (registry/tenant/tenant.h), or events, of which there are none
	struct str kind, list_kind, singular;
	const struct str *short_names, *categories;
	size_t n_short_names, n_categories;
	enum definition_scope scope;
	unsigned verbs;        // of enum definition_verbs
	unsigned tenant_verbs; // the same for those who are not the system: of tenants they get and patch their own
	const struct definition_version *versions; // the preferred one first, as Kubernetes orders them
	size_t n_versions;
	// Of a custom one:
	struct str owner; // whose it is: the tenant asked about, or TENANT_SYSTEM
	struct uuid uid;  // of the CustomResourceDefinition
	bool forced;      // overrides the tenants' own
	const struct doc *range; // spec.applicableRange; NULL: the system's alone
};

// Why this definition, or none: in the words of the rule that decided.
struct definition_reason {
	const char *rule; // built-in | system-only | forced | own | shared | none
	const char *policy; // the tenant's, where it was asked: LocalCRDFirst | SystemCRDFirst | NeverUseSystemCRDUnlessForced
	struct str detail;  // a sentence
	// What else there was; NULL where there was none.
	const struct definition *own, *shared;
	bool in_range; // the tenant is in the system's range
};

// The definition that answers for that tenant. group "" for the core group. reason may be NULL. For the space of all
// tenants at once ask for TENANT_SYSTEM. OUTCOME_OK; _NOT_FOUND: no such type, or not for this tenant (told alike; also
// when there is no such tenant and the type is no built-in one). _GONE never: who writes learns it from resource_write.
enum outcome definition_find(struct registry *registry, struct str tenant, struct str group, struct str plural,
	const struct definition **definition, struct definition_reason *reason);
// The same by one name, as other dialects have it: "configmaps"; "widgets.example.com"; "widgets" where only one group
// has that for the tenant. Of several, a core one and those that are not system_only come first; nodes are bare metal's,
// the cluster's are "nodes.core".
enum outcome definition_named(struct registry *registry, struct str tenant, struct str name,
	const struct definition **definition);
// All that the tenant may use, and nothing else: by group, the core group first, then plural. What discovery shows.
// Bare metal's and placement's types are among them. OUTCOME_OK.
enum outcome definition_list(struct registry *registry, struct str tenant, const struct definition *const **list, size_t *n);

// The version of that name if it is served, else NULL; the one stored in.
const struct definition_version *definition_version(const struct definition *definition, struct str name);
const struct definition_version *definition_storage(const struct definition *definition);

// ---- CustomResourceDefinitions. Stored in the form of apiextensions.k8s.io/v1: {"spec": …, "status": …}. The registry
// checks, defaults and completes them in every write (type_rules), whichever dialect it comes from: names, scope, schemas,
// conditions Established and NamesAccepted, acceptedNames, storedVersions. A regular tenant's scope Cluster is kept as it
// was sent and means its space. Refused with causes: what is not valid; OUTCOME_CONFLICT: names that another one of the
// same tenant has, a forced one of the system's has, or a built-in type; a change of group, plural or scope.

// Between the forms v1beta1 and v1: copies. From v1beta1 a top-level version, validation, subresources and
// additionalPrinterColumns go to the versions; a definition without "preserveUnknownFields": false keeps unknown fields.
struct doc *crd_from_v1beta1(struct pool *pool, const struct doc *document);
struct doc *crd_to_v1beta1(struct pool *pool, const struct doc *document);

#define CRD_GROUP "apiextensions.k8s.io"
#define CRD_PLURAL "customresourcedefinitions"
// The label of a forced one, and its value, in upper or lower case.
#define CRD_SHARING_LABEL "arktos.futurewei.com/crd-sharing-policy"
#define CRD_FORCED "forced"

#endif
