// SPDX-License-Identifier: Apache-2.0
// Objects of any type: reading, writing, lists, deletion. Functions that return an outcome have set call->problem unless it is
// OUTCOME_OK or that of a success, or say otherwise.
#ifndef TENURE_API_SPACES_OBJECT_OBJECT_H
#define TENURE_API_SPACES_OBJECT_OBJECT_H

#include "api/spaces/answer/answer.h"
#include "api/spaces/common/spaces.h"

struct as_of; // api/spaces/object/as_of.h

// ---- list.c: reading collections

// What a visit does after an object that it gave to take().
enum visit_next {
	VISIT_GOES_ON,
	VISIT_ENDS,        // with that object
	VISIT_ENDS_BEFORE, // the object was not taken, so the list goes on with it. Only after another one was taken
};
// A reading of a collection, object by object.
struct visit {
	struct call *call;
	const struct target *target;
	const struct list_query *query;
	// Takes a selected object, whose JSON is valid until the function returns.
	enum visit_next (*take)(void *arg, const struct resource *resource, struct str object);
	void *arg;
	struct as_of *as_of; // notes each object, selected or not; NULL: no version is needed
	struct buf *into;    // the buffer to which take() appends the objects: room for a whole page is made at once. May be NULL
};
// Calls visit->take() for each selected object. A space or namespace that does not exist has no objects. *next: the marker at
// which the list goes on; p NULL: it is complete. OUTCOME_OK; _BAD_PARAMETER: the marker; or that of a failed statement.
enum outcome visit_objects(const struct visit *visit, struct str *next);
// A pool for one page of a visit. It is cleared before the next page is read: selectors may pass over more objects than a worker
// can hold.
struct pool *visit_scratch(struct call *call);
// The name of the only object that the choice can select, so that others need not be read; p NULL: it may be any.
struct str visit_single_name(const struct call *call, const struct target *target, const struct choice *choice);

// Answers GET of a collection with a list.
enum outcome object_list_collection(struct call *call, const struct target *target);

// ---- content.c: from a client's document to what is stored

// Reads the request's body: JSON, or protobuf if Content-Type says so; NULL if there is none.
// OUTCOME_OK, _BAD_DOCUMENT, _UNSUPPORTED_MEDIA.
enum outcome object_read_json(struct call *call, struct doc **body);
// Reads an object of the target's type. *name: its metadata.name; p NULL if it has none. OUTCOME_OK, _BAD_DOCUMENT,
// _UNSUPPORTED_MEDIA; _BAD_REQUEST: its kind or apiVersion is another one.
enum outcome object_read(struct call *call, const struct target *target, struct doc **object, struct str *name);
// Reads the kind and document of a PATCH into *change. OUTCOME_OK, _BAD_DOCUMENT, _UNSUPPORTED_MEDIA.
enum outcome object_read_patch(struct call *call, const struct target *target, struct change_of_object *change);
// Applies the change: *whole is the document after it. current: the object as clients read it; NULL if it does not exist yet.
// OUTCOME_OK, _BAD_DOCUMENT, _BAD_REQUEST.
enum outcome change_result(const struct change_of_object *change, const struct doc *current, const struct doc **whole);
// Copies the client's part of the whole object's metadata to *meta: labels, annotations, finalizers and other members that are
// kept. A replacement (CHANGE_REPLACE) that has no metadata, or null, keeps those that are stored; one whose metadata has no
// `locked` keeps the lock. before: the metadata that is stored, which another dialect may have taken by looser rules, so that
// only what differs from it is checked; NULL: all is. *locked: metadata.locked. OUTCOME_OK, _BAD_DOCUMENT; _BAD_REQUEST: name,
// namespace or tenant is not that of the address.
enum outcome object_client_metadata(const struct change_of_object *change, const struct doc *whole, const struct doc *before,
	struct doc **meta, bool *locked);
// The function of a struct edit: applies the change; arg is a struct change_of_object, whose version and etag become those that
// the resource has before the change, if there is one. OUTCOME_OK; _BAD_DOCUMENT, _BAD_REQUEST, _CONFLICT (resourceVersion),
// _BODY_TOO_LARGE; or what a built-in type's rules return.
enum outcome change_apply(void *arg, const struct resource *current, struct content *content);
// The resourceVersion that a client's object names as its precondition; n 0: none, which "0" says, too, as in Kubernetes.
struct str object_said_version(const struct doc *object);
// Checks uid and resourceVersion in the whole object's metadata against those of the stored object. If it has no resourceVersion,
// that in the client's document is checked. changes: would the write change the object? If not, it can't overwrite another
// writer's change, so its resourceVersion may be old; its uid must be right even so. OUTCOME_OK; _CONFLICT: one differs.
enum outcome object_check_version(const struct change_of_object *change, const struct doc *whole, uint64_t version,
	const struct uuid *uid, bool changes);

// ---- forced.c

// Is the target's collection one that shows the definitions that the operator forces, or may show them: that of a tenant's
// definitions?
bool object_shows_forced(const struct target *target);
// *forced: does the operator force a definition of that name on the target's tenant? OUTCOME_OK, or that of a failed statement.
enum outcome object_find_forced(struct call *call, const struct target *target, struct str name, bool *forced);
// To be called before a write of the target. OUTCOME_OK; _FORBIDDEN: the target is a forced definition; or that of a failed
// statement.
enum outcome object_check_forced(struct call *call, const struct target *target);
// The names of all forced definitions, in the call's pool, if the target's collection is that of definitions; else none.
// OUTCOME_OK, or that of a failed statement.
enum outcome object_read_forced(struct call *call, const struct target *target, const struct str **names, size_t *n);
// Adds the forced definition of that name to a list, if it is selected and still exists. OUTCOME_OK, or that of a failed
// statement.
enum outcome object_list_forced(struct listing *listing, const struct choice *choice, struct str name);

// ---- delete_options.c

// Reads DeleteOptions from the body or, if that is empty, from the query. Adds their preconditions, if any, to the guard: of an
// object with another uid or resourceVersion it lets nothing be deleted, OUTCOME_CONFLICT. Sets call->dry_run if the body says
// so. OUTCOME_OK, _BAD_DOCUMENT, _BAD_PARAMETER, _BAD_REQUEST, _UNSUPPORTED_MEDIA.
enum outcome object_read_delete_options(struct call *call, struct guard *guard);

// ---- tenants.c: objects of kind Tenant, which are the registry's tenants

// The Tenant object as JSON, in call->scratch.
struct str tenant_object_text(struct call *call, const struct target *target, const struct tenant *tenant);
// A reading of Tenant objects, one by one.
struct tenants_visit {
	struct call *call;
	const struct target *target;
	const struct list_query *query;
	// Takes a Tenant that the caller may see and whose name fits. Both arguments are valid until the function returns; it has
	// to check the other selectors itself.
	enum visit_next (*take)(void *arg, const struct tenant *tenant, struct str object);
	void *arg;
	struct as_of *as_of; // as in struct visit
};
// Like visit_objects().
enum outcome visit_tenants(const struct tenants_visit *visit, struct str *next);
// These answer a request for a Tenant object, whose name is the target's, like the handlers below for objects that are resources.
// Each checks that the caller may do it; guard is the request's precondition.
enum outcome tenant_object_get(struct call *call, const struct target *target, struct guard guard);
enum outcome tenant_object_create(struct call *call, const struct target *target, const struct doc *object);
enum outcome tenant_object_change(struct call *call, const struct target *target, struct change_of_object *change,
	struct guard guard);
enum outcome tenant_object_delete(struct call *call, const struct target *target, struct guard guard);

// ---- handlers

// The function check() of a guard for creations: OUTCOME_NAME_TAKEN if there is an object already.
enum outcome object_must_be_absent(void *arg, const uint8_t *etag);

handler_fn create_in_space, delete_all_in_space, get_in_space, put_in_space, patch_in_space, delete_in_space;

#endif
