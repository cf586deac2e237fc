// SPDX-License-Identifier: Apache-2.0
// For the files of api/spaces/ only: the target of a request, its query, and errors.
#ifndef TENURE_API_SPACES_COMMON_SPACES_H
#define TENURE_API_SPACES_COMMON_SPACES_H

#include "api/call.h"
#include "api/conditions.h"
#include "api/selector.h"
#include "registry/core/failure.h"
#include "registry/core/stored.h"
#include "registry/log/horizon.h"
#include "registry/type/definition.h"
#include "repr/schema/field_fault.h"

// ---- address.c: the space and the type that an address names

// The whole object, or one of its subresources.
enum part { PART_WHOLE, PART_STATUS, PART_SCALE, PART_FINALIZE };
extern const char *const part_names[]; // by enum part, as addresses have them; "" for PART_WHOLE
// Finds the part of that name. False: there is none.
bool part_from(struct str text, enum part *part);

// What a request is about: an object, or a collection.
struct target {
	struct str tenant;        // the tenant whose space it is; TENANT_SYSTEM also if all is set
	bool all;                 // the spaces of all tenants: tenants/all
	bool is_system;           // the system space, which full paths don't name; true also if all is set
	const struct definition *definition;
	const struct definition_version *version; // the requested version
	struct str space;         // the namespace; "" if the type has none
	bool all_spaces;          // of a namespaced type: all namespaces
	struct str name;          // p NULL: the whole collection
	enum part part;
};

// The caller's tenant; TENANT_SYSTEM for an operator, and for a caller without tenant who may read everything; "" for any other
// caller without tenant.
struct str spaces_caller_tenant(const struct call *call);
// May the caller do with this verb what an operator may: is it an operator, or does the verb only read and the caller may read
// everything?
bool spaces_may_as_operator(const struct call *call, unsigned verb);
// The tenant that the address names. OUTCOME_OK; _BAD_REQUEST with call->problem set: the address means all tenants.
enum outcome target_read_one_tenant(struct call *call, struct str *tenant);
// Finds the target by the route's parameters and the caller's tenant, and checks that the type has the verb for this caller.
// verb: one of enum definition_verbs. OUTCOME_OK; _NOT_FOUND, _FORBIDDEN, _METHOD_NOT_ALLOWED, _BAD_REQUEST with call->problem
// set.
enum outcome spaces_read_target(struct call *call, unsigned verb, struct target *target);
// The role that a verb needs on objects of a type: that of type_role_needed(); tenants are changed by admins. verb: one.
enum role spaces_role_needed(const struct definition *definition, unsigned verb);
// Has the caller the role that this verb needs on an object of this type? The method of the WADL asks for less, since it serves
// all types. OUTCOME_OK; OUTCOME_FORBIDDEN with call->problem set.
enum outcome spaces_check_role(struct call *call, const struct definition *definition, unsigned verb);
// Adds a Warning header if the requested version is deprecated.
void target_warn_if_deprecated(struct call *call, const struct target *target);
// The registry's address of the object; its texts are the target's.
struct address target_address(const struct target *target);
// The verbs that the type has for that part of its objects, for any caller; 0: it has no such part.
unsigned part_verbs(const struct definition *definition, const struct definition_version *version, enum part part);

// ---- type_name.c: names of types

bool definition_has_identity(const struct definition *definition, const char *group, const char *plural);
// Do its objects stand in namespaces?
bool definition_is_namespaced(const struct definition *definition);
// "v1", "apps/v1".
struct str type_group_version(struct pool *pool, struct str group, struct str version);
// "configmaps", "widgets.example.com".
struct str type_qualified_name(struct pool *pool, const struct definition *definition);
// The full path of an object in pool, each segment percent-encoded; if name p is NULL, of the collection. The system tenant's
// space has no name in a path.
struct str spaces_object_path(struct pool *pool, const struct definition *definition, const struct definition_version *version,
	struct str tenant, struct str space, struct str name);

// ---- parameter.c

// Does the query contain a parameter of that name, with or without a value?
bool spaces_query_has(const struct call *call, const char *name);
// Reads a boolean parameter like Kubernetes: absent, "false" in any case, and "0" are false. Every other value is true, also the
// empty value of a bare "?watch". (Python clients write "True" and "False".)
bool spaces_query_is_true(const struct call *call, const char *name);

// ---- document.c

// Sets the response's body to this JSON, which must live as long as the call.
void spaces_write_json_text(struct call *call, struct str text);
void spaces_write_json_doc(struct call *call, const struct doc *doc);
// A member of metadata that is a string; STR_NONE if it is absent or not a string.
struct str spaces_metadata_text(const struct doc *object, const char *name);

// ---- query.c: parameters of the query

// Reads dryRun into call->dry_run. OUTCOME_OK; _BAD_DOCUMENT (answered as 422) if its value is invalid.
enum outcome spaces_read_dry_run(struct call *call);
// Checks fieldManager, which has no effect here. OUTCOME_OK; _BAD_DOCUMENT (answered as 422).
enum outcome spaces_read_field_manager(struct call *call);
// Reads resourceVersion of a read: the answer must not be older. *version 0: none was given. OUTCOME_OK; _BAD_PARAMETER, _NOT_YET
// with call->problem set.
enum outcome spaces_read_version(struct call *call, uint64_t *version);
// Reads resourceVersionMatch and, for a watch, sendInitialEvents. OUTCOME_OK; _BAD_DOCUMENT (answered as 422) with call->problem
// set if Kubernetes does not allow this combination.
enum version_match { MATCH_ANY, MATCH_EXACT, MATCH_NOT_OLDER };
enum outcome spaces_read_version_match(struct call *call, bool watch, enum version_match *match);
// Which objects of the target's collection the request's selectors select.
struct choice {
	const struct label_selector *labels;
	const struct field_selector *fields;
	bool all;        // all of them
	struct str name; // only the object of this name, if it also matches; p NULL: any name
};
// Reads the selectors of the query. OUTCOME_OK; _BAD_PARAMETER with call->problem set.
enum outcome selection_read(struct call *call, const struct target *target, struct choice *choice);
// Do the selectors select this object, which is given as JSON?
bool selection_matches(const struct choice *choice, struct pool *pool, struct stored_place place, struct str object);
// Can a change of an object alter whether it is selected? Not by name and namespace, which never change.
bool selection_can_vary(const struct choice *choice);
// Which objects a list has, and from which one on.
struct list_query {
	struct choice choice;
	uint64_t limit;     // objects of a page; 0: no limit
	struct str marker;  // the list goes on after the object that this marks; p NULL: it begins with the first object
	uint64_t version;   // of a later page: the version of the list, which the first page has determined; else 0
	uint64_t exact;     // the list has to be as of that version (resourceVersionMatch=Exact); 0: as of now
};

// ---- status.c: errors, and the answer of a deletion

// The object that an error is about, if it is not the one of the address. All members "": the error is about no object.
struct about {
	struct str name, group, kind;
};
// Sets call->problem to the formatted text, about that object. Returns outcome.
enum outcome spaces_fail_about(struct call *call, enum outcome outcome, const struct about *about, const char *format, ...)
	PRINTF_LIKE(4, 5);
// The next four set call->problem to the sentence that the Kubernetes API server has for it.
//
// There is no such group, version, type or part. Returns OUTCOME_NOT_FOUND.
enum outcome spaces_fail_unknown(struct call *call);
// There is no object of that name. Returns OUTCOME_NOT_FOUND.
enum outcome spaces_fail_absent(struct call *call, struct str group, struct str plural, struct str name);
// There is an object of that name already. Returns OUTCOME_NAME_TAKEN.
enum outcome spaces_fail_exists(struct call *call, const struct target *target, struct str name);
// The object has another version than the client gave. Returns OUTCOME_CONFLICT.
enum outcome spaces_fail_modified(struct call *call, const struct target *target, struct str name);
// Returns OUTCOME_BAD_DOCUMENT with the faults, of which there must be some, as causes: answered as 422 Invalid. definition NULL:
// the faults are in the request, not in an object.
enum outcome spaces_fail_invalid(struct call *call, const struct definition *definition, struct str name,
	const struct field_faults *faults);
// Rewords the registry's outcome for this API: _MOVED and _GONE become "not found", and faults that a type's rules found become
// faults of this object. Every other outcome is returned as it is.
enum outcome spaces_explain(struct call *call, const struct target *target, struct str name, enum outcome outcome);
// Answers with a Status object that says that the object of that name and uid was deleted.
void spaces_write_success(struct call *call, const struct target *target, struct str name, const struct uuid *uid);
// The dialect's `render_problem` (api/call.h): answers with a Status object.
void spaces_render_problem(struct call *call, enum outcome outcome, const struct problem *problem);

// ---- writing objects

// How a request changes an object.
enum change_kind { CHANGE_CREATE, CHANGE_REPLACE, CHANGE_MERGE_PATCH, CHANGE_JSON_PATCH, CHANGE_STRATEGIC_PATCH };
struct change_of_object {
	struct call *call;
	const struct target *target; // with the object's name
	enum change_kind kind;
	const struct doc *document;  // the request's body: an object, or a patch
	// Of the stored object before the change; etag: a resource's stored one. Set when the change is applied, if there is one.
	uint64_t version;
	uint8_t etag[64];
};

#endif
