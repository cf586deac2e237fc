// SPDX-License-Identifier: Apache-2.0
// For the files of api/spaces/ only: the target of a request, its query, and how errors are answered.
#ifndef TENURE_API_SPACES_COMMON_SPACES_H
#define TENURE_API_SPACES_COMMON_SPACES_H

#include "api/call.h"
#include "api/conditions.h"
#include "api/spaces/lang/selector.h"
#include "registry/core/failure.h"
#include "registry/core/stored.h"
#include "registry/log/horizon.h"
#include "registry/type/definition.h"
#include "repr/schema/field_fault.h"

// ---- address.c: whose space, which type

enum part { PART_WHOLE, PART_STATUS, PART_SCALE, PART_FINALIZE };
extern const char *const part_names[]; // "" for the whole
// False: there is no part of that name.
bool part_from(struct str text, enum part *part);

struct target {
	struct str tenant;        // whose space
	bool all;                 // everybody's: tenants/all
	bool is_system;            // the system space: full paths leave it out
	const struct definition *definition;
	const struct definition_version *version; // the one asked for
	struct str space;         // the namespace; "" for none
	bool all_spaces;          // of a namespaced type: every namespace
	struct str name;          // p NULL: the collection
	enum part part;
};

// The caller's tenant: TENANT_SYSTEM for an operator; "" for somebody of none.
struct str caller_tenant(const struct call *call);
// The one tenant that the address names. OUTCOME_OK; _BAD_REQUEST with call->problem set: it means all of them.
enum outcome read_one_tenant(struct call *call, struct str *tenant);
// From the route's parameters and the caller. verb: what is to be done, of enum definition_verbs; the type has it, and
// has it for this caller. OUTCOME_OK; _NOT_FOUND, _FORBIDDEN, _METHOD_NOT_ALLOWED, _BAD_REQUEST with call->problem set.
enum outcome read_target(struct call *call, unsigned verb, struct target *target);
// Tells in a header field that the version asked for is deprecated, if it is.
void warn_of_version(struct call *call, const struct target *target);
struct address target_address(const struct target *target);
// What verbs there are of that part of its objects, of the type's own and for whomever; 0: it has no such part.
unsigned part_verbs(const struct definition *definition, const struct definition_version *version, enum part part);

// ---- type_name.c: what a type is called

bool has_identity(const struct definition *definition, const char *group, const char *plural);
// Its objects stand in namespaces.
bool is_namespaced(const struct definition *definition);
// "v1", "apps/v1".
struct str group_version(struct pool *pool, struct str group, struct str version);
// "configmaps", "widgets.example.com".
struct str qualified_name(struct pool *pool, const struct definition *definition);
// The full path of an object, or with name p NULL of a collection.
struct str object_path(struct pool *pool, const struct definition *definition, const struct definition_version *version,
	struct str tenant, struct str space, struct str name);

// ---- parameter.c

// Is a parameter of that name in the query, with a value or without?
bool query_has(const struct call *call, const char *name);
// A boolean parameter as Kubernetes reads it: absent, "false" in any case, and "0" are false. Every other value is true, the
// empty one of a bare "?watch" too; Python clients write "True" and "False".
bool query_is_true(const struct call *call, const char *name);

// ---- document.c

void write_json_text(struct call *call, struct str text);
void write_json_doc(struct call *call, const struct doc *doc);
// A member of metadata that is a string; STR_NONE if it is none.
struct str metadata_text(const struct doc *object, const char *name);

// ---- query.c: the parameters that are looked at

// OUTCOME_OK with call->dry_run as dryRun says; _BAD_DOCUMENT (told as 422) for a value that is none.
enum outcome read_dry_run(struct call *call);
// fieldManager means nothing here, and has to be right. OUTCOME_OK; _BAD_DOCUMENT (told as 422).
enum outcome read_field_manager(struct call *call);
// resourceVersion of a read: its answer must not be older. 0: none was given. OUTCOME_OK; _BAD_PARAMETER, _NOT_YET with
// call->problem set.
enum outcome read_version(struct call *call, uint64_t *version);
// resourceVersionMatch, and of a watch sendInitialEvents. OUTCOME_OK; _BAD_DOCUMENT (told as 422) with call->problem set
// where they do not go together, as Kubernetes has it.
enum version_match { MATCH_ANY, MATCH_EXACT, MATCH_NOT_OLDER };
enum outcome read_version_match(struct call *call, bool watch, enum version_match *match);
// What the selectors choose.
struct choice {
	const struct label_selector *labels;
	const struct field_selector *fields;
	bool all;        // everything
	struct str name; // the one of this name, if it fits; p NULL: any
};
// OUTCOME_OK; _BAD_PARAMETER with call->problem set.
enum outcome read_choice(struct call *call, const struct target *target, struct choice *choice);
// Is this object, as JSON, chosen?
bool chosen(const struct choice *choice, struct pool *pool, struct stored_place place, struct str object);
// May an object that is chosen no longer be so after a change, or the other way round? Its name and namespace stay.
bool choice_varies(const struct choice *choice);
struct list_query {
	struct choice choice;
	uint64_t limit;     // 0: all
	struct str marker;  // p NULL: from the first
	uint64_t version;   // of a page that is not the first: the list's; else 0
	uint64_t exact;     // as of that version, or not at all; 0: as of now
};

// ---- status.c: errors, and what a deletion answers

// What an error is about, where that is not what the address says.
struct about {
	struct str name, group, kind;
};
// Fills call->problem; OUTCOME as given.
enum outcome fail_about(struct call *call, enum outcome outcome, const struct about *about, const char *format, ...)
	PRINTF_LIKE(4, 5);
enum outcome fail_absent(struct call *call, struct str group, struct str plural, struct str name);
enum outcome fail_exists(struct call *call, const struct target *target, struct str name);
enum outcome fail_modified(struct call *call, const struct target *target, struct str name);
// OUTCOME_BAD_DOCUMENT with the faults as causes: told as 422 Invalid.
enum outcome fail_invalid(struct call *call, const struct definition *definition, struct str name,
	const struct field_faults *faults);
// The registry's outcome in this API's words: _MOVED and _GONE are not there; what a type's rules found is about this
// object.
enum outcome told(struct call *call, const struct target *target, struct str name, enum outcome outcome);
void write_success(struct call *call, const struct target *target, struct str name, const struct uuid *uid);
void spaces_render_problem(struct call *call, enum outcome outcome, const struct problem *problem);
// What the request's method does: "get", "list", "deletecollection".
const char *verb_of(const struct call *call);

// ---- what a write is made of

enum change_kind { CHANGE_CREATE, CHANGE_REPLACE, CHANGE_MERGE_PATCH, CHANGE_JSON_PATCH, CHANGE_STRATEGIC_PATCH };
struct change_of_object {
	struct call *call;
	const struct target *target; // with the name
	enum change_kind kind;
	const struct doc *document;  // what came: an object, or a patch
	// Of what is there, filled in by change_apply.
	uint64_t version;
	uint8_t etag[64];
};

#endif
