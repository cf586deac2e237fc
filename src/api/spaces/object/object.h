// SPDX-License-Identifier: Apache-2.0
// Objects of any type: reading, writing, lists, deletion.
#ifndef TENURE_API_SPACES_OBJECT_OBJECT_H
#define TENURE_API_SPACES_OBJECT_OBJECT_H

#include "api/spaces/answer/answer.h"
#include "api/spaces/common/spaces.h"

struct as_of; // api/spaces/object/as_of.h

// ---- list.c: reading collections

struct visit {
	struct call *call;
	const struct target *target;
	const struct list_query *query;
	// Receives a selected object as JSON, which is valid until it returns. False: it wants no more.
	bool (*take)(void *arg, const struct resource *resource, struct str object);
	void *arg;
	struct as_of *as_of; // is told of each object, selected or not; NULL: not needed
	struct buf *into;    // where take() appends the objects, so that room is made for a whole page; may be NULL
};
// Calls visit->take for each selected object. A space or namespace that does not exist has no objects. *next: the marker at which
// the list goes on; p NULL: it is complete. OUTCOME_OK, _BAD_PARAMETER.
enum outcome visit_objects(const struct visit *visit, struct str *next);
// The name of the only object that can be selected, so that others need not be read; p NULL: there is no such name.
struct str visit_single_name(const struct call *call, const struct target *target, const struct choice *choice);

// Answers GET of a collection with a list.
enum outcome object_list_collection(struct call *call, const struct target *target);

// ---- content.c: from a client's document to what is stored

// Reads the request's body: JSON, or protobuf if Content-Type says so; NULL if there is none.
// OUTCOME_OK, _BAD_DOCUMENT, _UNSUPPORTED_MEDIA.
enum outcome object_read_json(struct call *call, struct doc **body);
// Reads an object of the target's type. *name: its metadata.name; p NULL if it has none.
enum outcome object_read(struct call *call, const struct target *target, struct doc **object, struct str *name);
// Reads the kind and document of a PATCH.
enum outcome object_read_patch(struct call *call, const struct target *target, struct change_of_object *change);
// The whole document after the change. current: the object as clients read it; NULL if it does not exist yet.
enum outcome change_result(const struct change_of_object *change, const struct doc *current, const struct doc **whole);
// Takes the client's part of metadata out of the whole object: labels, annotations, finalizers and other members that are kept.
enum outcome object_client_metadata(const struct change_of_object *change, const struct doc *whole, struct doc **meta,
	bool *locked);
// The function of a struct edit: applies the change; arg is a struct change_of_object.
enum outcome change_apply(void *arg, const struct resource *current, struct content *content);
// Does the object's own metadata (uid, resourceVersion) contradict the stored version?
enum outcome object_check_version(const struct change_of_object *change, const struct doc *whole, uint64_t version,
	const struct uuid *uid);

// ---- forced.c

// *forced: does the operator force a definition of that name on the target's tenant?
enum outcome object_find_forced(struct call *call, const struct target *target, struct str name, bool *forced);
// Call it before a write of the target. OUTCOME_OK; _FORBIDDEN: the target is a forced definition.
enum outcome check_forced(struct call *call, const struct target *target);
// The names of all forced definitions if the target's collection is that of definitions; else none.
enum outcome object_read_forced(struct call *call, const struct target *target, const struct str **names, size_t *n);
// Adds the forced definition of that name to a list, if it is selected.
enum outcome object_list_forced(struct listing *listing, const struct choice *choice, struct str name);

// ---- delete_options.c

// Reads DeleteOptions from the body or the query; *preconditions NULL: there are none. Also sets call->dry_run.
enum outcome object_read_delete_options(struct call *call, const struct doc **preconditions);
// Do the preconditions hold for an object with this uid and version? OUTCOME_OK, or _CONFLICT with call->problem set.
enum outcome check_preconditions(struct call *call, const struct doc *preconditions, struct uuid uid, uint64_t version);

// ---- tenants.c: objects of kind Tenant, which are the registry's tenants

// The Tenant object as JSON.
struct str tenant_object_text(struct call *call, const struct target *target, const struct tenant *tenant);
struct tenants_visit {
	struct call *call;
	const struct target *target;
	const struct list_query *query;
	// Receives a Tenant that the caller may see and whose name fits; it still has to check the selectors. False: it wants no
	// more.
	bool (*take)(void *arg, const struct tenant *tenant, struct str object);
	void *arg;
	struct as_of *as_of;
};
// Like visit_objects().
enum outcome visit_tenants(const struct tenants_visit *visit, struct str *next);
enum outcome tenant_object_get(struct call *call, const struct target *target, struct guard guard);
enum outcome tenant_object_create(struct call *call, const struct target *target, const struct doc *object);
enum outcome tenant_object_change(struct call *call, const struct target *target, struct change_of_object *change,
	struct guard guard);
enum outcome tenant_object_delete(struct call *call, const struct target *target, const struct doc *preconditions,
	struct guard guard);

// ---- handlers

handler_fn create_in_space, delete_all_in_space, get_in_space, put_in_space, patch_in_space, delete_in_space;

#endif
