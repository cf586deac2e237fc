// SPDX-License-Identifier: Apache-2.0
// Objects of any type: reading, writing, lists, deletion.
#ifndef TENURE_API_SPACES_OBJECT_OBJECT_H
#define TENURE_API_SPACES_OBJECT_OBJECT_H

#include "api/spaces/answer/answer.h"
#include "api/spaces/common/spaces.h"

struct as_of; // api/spaces/object/as_of.h

// ---- list.c: going through objects

struct visit {
	struct call *call;
	const struct target *target;
	const struct list_query *query;
	// One that is chosen, as JSON, which is there until it returns; false: that was enough.
	bool (*take)(void *arg, const struct resource *resource, struct str object);
	void *arg;
	struct as_of *as_of; // is told of each, chosen or not; NULL: nobody is
	struct buf *into;    // where take puts them: room is made for a page at once; may be NULL
};
// A space or namespace that is not there has no objects. *next: the marker behind which the list goes on; p NULL: this was
// all. OUTCOME_OK, _BAD_PARAMETER.
enum outcome visit_objects(const struct visit *visit, struct str *next);
// The one that is looked up by its name, so that others are not looked at; p NULL: all are.
struct str name_looked_up(const struct call *call, const struct target *target, const struct choice *choice);

// The GET of a collection, as a list.
enum outcome list_collection(struct call *call, const struct target *target);

// ---- content.c: from a client's document to what is stored

// The request's body: JSON, or protobuf where Content-Type says so; NULL when there is none.
// OUTCOME_OK, _BAD_DOCUMENT, _UNSUPPORTED_MEDIA.
enum outcome read_json(struct call *call, struct doc **body);
// An object of the target's type. *name: its metadata.name; p NULL: none.
enum outcome read_object(struct call *call, const struct target *target, struct doc **object, struct str *name);
// The kind and document of a PATCH.
enum outcome read_object_patch(struct call *call, const struct target *target, struct change_of_object *change);
// What the change makes of an object as clients read it (NULL: there is none yet): a document of the whole.
enum outcome changed_object(const struct change_of_object *change, const struct doc *current, const struct doc **whole);
// Metadata that is the client's, sorted out of the whole: labels, annotations, finalizers and what else it keeps there.
enum outcome client_metadata(const struct change_of_object *change, const struct doc *whole, struct doc **meta,
	bool *locked);
// For a struct edit; arg: a struct change_of_object.
enum outcome change_apply(void *arg, const struct resource *current, struct content *content);
// Does what it says contradict a current version?
enum outcome check_current(const struct change_of_object *change, const struct doc *whole, uint64_t version,
	const struct uuid *uid);

// ---- forced.c

// Does the operator force a definition of that name on the target's tenant? OUTCOME_OK.
enum outcome find_forced(struct call *call, const struct target *target, struct str name, bool *forced);
// Before a write of the target. OUTCOME_OK; _FORBIDDEN: it is such a definition.
enum outcome check_forced(struct call *call, const struct target *target);
// The names of all of them, where the target's collection is one of definitions; else none. OUTCOME_OK.
enum outcome read_forced(struct call *call, const struct target *target, const struct str **names, size_t *n);
// Adds the one of that name to a list, if it is chosen. OUTCOME_OK.
enum outcome list_forced(struct listing *listing, const struct choice *choice, struct str name);

// ---- object.c

// Who defines types decides what a tenant's objects are: that takes an admin. OUTCOME_OK, _FORBIDDEN.
enum outcome check_role(struct call *call, const struct target *target);

// ---- delete_options.c

// The body of a DELETE, or what its query says; *preconditions NULL: there are none. Also sets call->dry_run.
enum outcome read_delete_options(struct call *call, const struct doc **preconditions);
// OUTCOME_OK, or _CONFLICT with call->problem set.
enum outcome check_preconditions(struct call *call, const struct doc *preconditions, struct uuid uid, uint64_t version);

// ---- tenants.c: Tenant objects, which are the registry's tenants

// The Tenant as JSON.
struct str tenant_text(struct call *call, const struct target *target, const struct tenant *tenant);
struct tenants_visit {
	struct call *call;
	const struct target *target;
	const struct list_query *query;
	// One that the caller may see, and of the name that is asked for; what else selectors say is to be looked at. False:
	// that was enough.
	bool (*take)(void *arg, const struct tenant *tenant, struct str object);
	void *arg;
	struct as_of *as_of;
};
// As visit_objects.
enum outcome visit_tenants(const struct tenants_visit *visit, struct str *next);
enum outcome get_tenant_object(struct call *call, const struct target *target, struct guard guard);
enum outcome create_tenant_object(struct call *call, const struct target *target, const struct doc *object);
enum outcome change_tenant_object(struct call *call, const struct target *target, struct change_of_object *change,
	struct guard guard);
enum outcome delete_tenant_object(struct call *call, const struct target *target, const struct doc *preconditions,
	struct guard guard);

// ---- handlers

handler_fn create_in_space, delete_all_in_space, get_in_space, put_in_space, patch_in_space, delete_in_space;

#endif
