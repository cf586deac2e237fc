// SPDX-License-Identifier: Apache-2.0
// What a type is for one tenant. A type (registry/type/type.h) is an identity: group, plural name, and whether its resources
// are in namespaces. A definition adds the rest: kind, versions, short names, verbs, columns, schemas. A definition is either
// built in (definition_builtin.c) and the same for all tenants that may use it, or it is a CustomResourceDefinition, which is
// itself a resource of a tenant. A tenant's own definition serves that tenant alone; one of the system's may serve other
// tenants, too.
//
// definition_find() alone decides which definition serves a tenant, for every dialect. Objects belong to the type: they stay as
// they are whichever definition serves them, and while none does.
//
// Workers cache tenants' definitions as of a revision (registry/cache/coherence.h), so a look-up usually needs no query. What
// these functions return is valid until the end of the request.
#ifndef TENURE_REGISTRY_TYPE_DEFINITION_H
#define TENURE_REGISTRY_TYPE_DEFINITION_H

#include "registry/core/model.h"

enum definition_scope {
	SCOPE_NAMESPACED, // in a namespace of a space
	SCOPE_TENANT,     // in a space without a namespace: what "Cluster" means in a regular tenant's definition
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
	bool served;               // clients may use this version
	bool storage;              // the one version in which objects are stored, and which other dialects read and write
	bool prunes;               // fields that the schema does not name are dropped
	bool has_status, has_scale; // subresources
	const struct doc *scale;   // specReplicasPath, statusReplicasPath, labelSelectorPath, without NULs; NULL: no scale
	bool deprecated;
	struct str warning; // what clients are warned of if it is deprecated; "" for none
	size_t place; // private: of a custom type, its index in spec.versions
};

// What most requests do not ask for: definition_details().
struct definition_details {
	const struct doc *schema; // the openAPIV3Schema; NULL: none, any object fits
	const struct structural *structural; // the schema compiled for validation; NULL: none
	const struct definition_column *columns; // of a custom type; NULL: name and age
	size_t n_columns;
};

struct definition {
	const struct type *type; // identity: group and plural
	bool builtin;
	bool system_only; // built in and only for the system's own space: nodes of the cluster, daemon sets
	// system_only, and yet discovery names it in every space, so that clients take its plural for this type and for no other.
	bool announced;
	// Its objects are rows of table resources. False for tenants (registry/tenant/tenant.h), and for events, which are not
	// stored.
	bool stored;
	struct str kind, list_kind, singular;
	const struct str *short_names, *categories;
	size_t n_short_names, n_categories;
	enum definition_scope scope;
	// Sets of enum definition_verbs:
	unsigned verbs;        // what is offered in the system's space
	unsigned tenant_verbs; // what is offered in a tenant's space; of the type tenants: get and patch its own; 0 if system_only
	const struct definition_version *versions; // ordered by preference as Kubernetes does, the preferred one first
	size_t n_versions;
	// Of a CustomResourceDefinition only:
	struct str owner; // the tenant that it belongs to: the tenant that was asked about, or TENANT_SYSTEM
	struct uuid uid;  // of the CustomResourceDefinition
	bool forced;      // overrides the tenants' own definitions of its name, and of its group, version and kind
	const struct doc *range; // spec.applicableRange: which tenants may use it; NULL: the system alone
	struct stored_definition *source; // private: its text (definition_view.c); NULL: built in
};

// Why definition_find() returned this definition, or none.
struct definition_reason {
	// built-in | system-only | forced | own | shared | none. "forced" is also the rule by which no definition serves the
	// tenant, if a forced one has the kind of the tenant's own.
	const char *rule;
	const char *policy; // the tenant's policy, one of TYPE_POLICY_…
	// The reason as a sentence, for the operator and for the tenant. The latter is the same whether the system has no
	// definition of that name or one that it does not share with the tenant.
	struct str detail, detail_for_tenant;
	// The candidates: the tenant's own definition, and the system's; NULL if there was none.
	const struct definition *own, *shared;
	bool in_range; // the tenant is in the range of the system's definition
};

// Finds the definition that serves the tenant. group is "" for the core group. reason may be NULL. OUTCOME_OK, or
// OUTCOME_NOT_FOUND: there is no such type, or it is not for this tenant, or the type is not built in and there is no such
// tenant; the answer is the same in all these cases. Never OUTCOME_GONE: a writer learns from resource_write() that the tenant
// was deleted.
enum outcome definition_find(struct registry *registry, struct str tenant, struct str group, struct str plural,
	const struct definition **definition, struct definition_reason *reason);
// Finds the definition by which objects of all tenants are shown together: the one that serves the system, shared or not; if
// there is none, the oldest of the tenants' own. OUTCOME_OK; OUTCOME_NOT_FOUND: nobody has such a type; or that of a failed
// statement.
enum outcome definition_find_for_all(struct registry *registry, struct str group, struct str plural,
	const struct definition **definition);
// Finds the definition by one name, as dialects without groups use it: "configmaps"; "widgets.example.com"; "widgets" if only one
// group has that plural for the tenant. If several built-in types share a plural, the core group's comes first, and a system_only
// one last. "nodes" are those of bare metal; the cluster's nodes are "nodes.core". OUTCOME_OK, _NOT_FOUND, or that of a failed
// statement.
enum outcome definition_named(struct registry *registry, struct str tenant, struct str name,
	const struct definition **definition);
// Returns all definitions that serve the tenant, ordered by group (the core group first) and plural. The types of bare metal and
// placement are among them. OUTCOME_OK, or that of a failed statement.
enum outcome definition_list(struct registry *registry, struct str tenant, const struct definition *const **list, size_t *n);
// Returns the same definitions and those that are announced: what discovery shows. A client takes a plural for the type of the
// first group that has it, so if a type were left out, its plural would mean another type.
enum outcome definition_announced(struct registry *registry, struct str tenant, const struct definition *const **list,
	size_t *n);

// Orders definitions by group and plural, as definition_list() does: <0, 0, >0.
int definition_compare(const struct definition *a, const struct definition *b);
// Orders names of versions as Kubernetes does, the preferred one first: releases (v2, v1), then betas (v2beta1), then alphas
// (v1alpha3), each by falling numbers, then all other names in the order of their bytes. <0, 0, >0.
int definition_compare_versions(struct str a, struct str b);
// definition_version(): the version of that name if it is served, else NULL. definition_storage(): the version in which objects
// are stored.
const struct definition_version *definition_version(const struct definition *definition, struct str name);
const struct definition_version *definition_storage(const struct definition *definition);
// The details of one of the definition's versions, which are read from its text when they are first asked for. Never NULL; of a
// built-in type all of them are empty.
const struct definition_details *definition_details(struct registry *registry, const struct definition *definition,
	const struct definition_version *version);

// ---- CustomResourceDefinitions
//
// They are stored in the form of apiextensions.k8s.io/v1: {"spec": …, "status": …}. In every write, whichever dialect it
// comes from, the registry checks names, scope and schemas, fills in defaults, and sets the conditions Established and
// NamesAccepted, acceptedNames and storedVersions (crd/rules.c). A regular tenant's scope "Cluster" is kept as it was sent and
// means its space. An invalid definition is refused with causes. OUTCOME_CONFLICT refuses names that another definition of the
// same tenant has, or a forced one of the system's, or a built-in type; the kind of a forced one of the system's in one of its
// versions; and changes of group, plural or scope.

// Conversion between the forms v1beta1 and v1; each returns a copy in pool. v1beta1 allows a version, validation, subresources
// and additionalPrinterColumns at the top level: they go into the versions. A v1beta1 definition without
// "preserveUnknownFields": false keeps unknown fields.
struct doc *definition_from_v1beta1(struct pool *pool, const struct doc *document);
struct doc *definition_to_v1beta1(struct pool *pool, const struct doc *document);

#define CRD_GROUP "apiextensions.k8s.io"
#define CRD_PLURAL "customresourcedefinitions"
// The label that makes a definition of the system's forced, and its value, in upper or lower case.
#define CRD_SHARING_LABEL "arktos.futurewei.com/crd-sharing-policy"
#define CRD_FORCED "forced"
// The annotation in which kubectl keeps the object that a client has applied. Tenants write it into their own Tenant objects, so
// no range (spec.applicableRange) matches it.
#define LAST_APPLIED_ANNOTATION "kubectl.kubernetes.io/last-applied-configuration"

#endif
