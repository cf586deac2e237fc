// SPDX-License-Identifier: Apache-2.0
// For the files of api/spaces/ only: what a request is about, the forms in which objects and errors are told.
#ifndef TENURE_API_SPACES_COMMON_SPACES_H
#define TENURE_API_SPACES_COMMON_SPACES_H

#include "api/call.h"
#include "api/conditions.h"
#include "api/spaces/answer/table.h"
#include "api/spaces/lang/selector.h"
#include "registry/log/horizon.h"
#include "registry/resource/stored.h"
#include "registry/type/definition.h"
#include "repr/schema/field_fault.h"

struct as_of; // api/spaces/object/as_of.h

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
bool has_identity(const struct definition *definition, const char *group, const char *plural);
// Its objects stand in namespaces.
bool is_namespaced(const struct definition *definition);
// What verbs there are of that part of its objects, of the type's own and for whomever; 0: it has no such part.
unsigned part_verbs(const struct definition *definition, const struct definition_version *version, enum part part);
// "v1", "apps/v1".
struct str group_version(struct pool *pool, struct str group, struct str version);
// "configmaps", "widgets.example.com".
struct str qualified_name(struct pool *pool, const struct definition *definition);
// The full path of an object, or with name p NULL of a collection.
struct str object_path(struct pool *pool, const struct definition *definition, const struct definition_version *version,
	struct str tenant, struct str space, struct str name);

// ---- query.c: the parameters that are looked at

// Is a parameter of that name in the query, with a value or without?
bool query_has(const struct call *call, const char *name);
// A boolean parameter as Kubernetes reads it: absent, "false" in any case, and "0" are false. Every other value is true, the
// empty one of a bare "?watch" too; Python clients write "True" and "False".
bool query_is_true(const struct call *call, const char *name);
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
// The apiVersion of the Table that Accept prefers to the objects themselves; p NULL: it does not.
struct str wanted_table(const struct call *call);
enum table_object included_object(const struct call *call);

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

// ---- watch.c

// The GET of a collection with watch=true: the first events, and the order for what follows.
enum outcome watch_in_space(struct call *call, const struct target *target);

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

// ---- render.c: from the registry's structs to what clients read

// What objects of one definition have in common when they are told, so that each of a list costs little more than the
// copy of its texts. Lives in the call's pool.
struct object_form {
	struct call *call;
	const struct definition *definition;
	const struct definition_version *version;
	struct str head;                 // up to metadata
	struct str tenant, space, place; // of the last one, and what its metadata says of them; place p NULL: there was none
	bool of_namespace, of_beta;
};
struct object_form object_form(struct call *call, const struct definition *definition,
	const struct definition_version *version);
// The object as stored.
void object_add(struct object_form *form, const struct resource *resource, struct buf *out);
// The same for one.
void object_json(struct call *call, const struct definition *definition, const struct definition_version *version,
	const struct resource *resource, struct buf *out);
// The whole answer with its ETag: the object, or a Table of one row where that is asked for.
void answer_object(struct call *call, const struct target *target, const struct resource *resource);
// The same for an object's JSON that is made already.
void answer_text(struct call *call, const struct target *target, struct stored_place place, struct str object,
	uint64_t version);
void write_json_text(struct call *call, struct str text);
void write_json_doc(struct call *call, const struct doc *doc);
// A list being made, as items or as a Table.
struct listing {
	struct call *call;
	const struct target *target;
	const struct table_columns *columns; // NULL: no Table, the objects themselves
	struct buf out;
	uint64_t spilled;                    // bytes that went before what is in out
	size_t n;
};
void listing_begin(struct listing *listing, struct call *call, const struct target *target);
// The object's JSON.
void listing_add(struct listing *listing, struct stored_place place, struct str object);
// next: where the list goes on; p NULL: this was all.
void listing_end(struct listing *listing, uint64_t version, struct str next);

// ---- content.c: from a client's document to what is stored

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
// A member of metadata that is a string, STR_NONE where it is none; whether what it says contradicts a current version.
struct str metadata_text(const struct doc *object, const char *name);
enum outcome check_current(const struct change_of_object *change, const struct doc *whole, uint64_t version,
	const struct uuid *uid);

// ---- kinds/form.c

// Are the members of a built-in object's body of the types that its kind gives them? OUTCOME_OK; _BAD_DOCUMENT, told as
// 422 Invalid, with their paths.
enum outcome check_builtin_form(const struct change_of_object *change, const struct doc *body);
// The body, or a copy, with what such an object is where its writer said nothing: a secret Opaque, a port TCP.
struct doc *fill_builtin(struct pool *pool, const struct definition *definition, struct doc *body);

// ---- kinds/rules.c

// Does a built-in object say what its kind has to, as the Kubernetes API server asks: ports in range, keys of the right
// form, containers in a pod? before: the stored body, NULL for a new object; a body that does not change is not looked at,
// so that labels and finalizers of what was stored by other rules can change. meta, body: as they are to be stored.
// OUTCOME_OK; _BAD_DOCUMENT, told as 422 Invalid, with the fields.
enum outcome check_builtin_rules(const struct change_of_object *change, const struct doc *before, const struct doc *meta,
	const struct doc *body);

// ---- fields.c

// What the object has and its type does not, nor the object as it was (NULL: there was none): told as warnings, or
// refused, as fieldValidation of the request says. What a definition asks for that is only kept here is told, too, but
// where it says Ignore. OUTCOME_OK; _BAD_REQUEST, _BAD_DOCUMENT with call->problem set.
enum outcome check_fields(struct call *call, const struct target *target, const struct doc *object,
	const struct doc *current);

// ---- forced.c

// Does the operator force a definition of that name on the target's tenant? OUTCOME_OK.
enum outcome find_forced(struct call *call, const struct target *target, struct str name, bool *forced);
// Before a write of the target. OUTCOME_OK; _FORBIDDEN: it is such a definition.
enum outcome check_forced(struct call *call, const struct target *target);
// The names of all of them, where the target's collection is one of definitions; else none. OUTCOME_OK.
enum outcome read_forced(struct call *call, const struct target *target, const struct str **names, size_t *n);
// Adds the one of that name to a list, if it is chosen. OUTCOME_OK.
enum outcome list_forced(struct listing *listing, const struct choice *choice, struct str name);

// ---- scale.c: the part of that name

// An object as a Scale.
struct doc *scale_of(struct pool *pool, const struct target *target, const struct doc *object);
// The stored body with what a changed Scale wants. OUTCOME_OK, or _BAD_DOCUMENT with call->problem set.
enum outcome scaled_body(const struct change_of_object *change, const struct doc *scale, const struct doc *stored,
	struct doc **body);

// ---- namespaces.c: their status

// From the stored body to what is told, with a comma before it.
void add_namespace_status(struct pool *pool, const struct resource *resource, struct str body, struct buf *out);
// Is its spec of the right form? OUTCOME_OK, or _BAD_DOCUMENT with call->problem set.
enum outcome read_namespace_spec(const struct change_of_object *change, const struct doc *body);
// From what came to what is stored: the conditions; what else it says has to be right.
// OUTCOME_OK, or _BAD_DOCUMENT with call->problem set.
enum outcome read_namespace_status(const struct change_of_object *change, const struct resource *current,
	struct doc *body);

// ---- names.c: names and labels as this API has them

// Adds what is wrong with the name of a new object.
void check_name(const struct definition *definition, struct str name, struct field_faults *faults);
// Each adds what is wrong with text, which stands at that path: [a-z0-9]([-a-z0-9]*[a-z0-9])? of up to 63 characters; the
// same beginning with a letter; such parts with dots between them, up to 253 characters.
void check_dns_label(struct str text, const struct field_path *at, struct field_faults *faults);
void check_dns_1035_label(struct str text, const struct field_path *at, struct field_faults *faults);
void check_dns_subdomain(struct str text, const struct field_path *at, struct field_faults *faults);
// An object of labels at any path; labels may be NULL. check_labels: metadata.labels.
void check_label_map(const struct doc *labels, const struct field_path *at, struct field_faults *faults);
void check_labels(const struct doc *labels, struct field_faults *faults);
void check_annotations(const struct doc *annotations, struct field_faults *faults);
// before: those of an object that only waits for them, which get no more; else NULL.
void check_finalizers(const struct doc *finalizers, const struct doc *before, struct field_faults *faults);
void check_owners(const struct doc *owners, struct field_faults *faults);
// "name", "example.com/name": of labels, annotations, finalizers.
bool is_label_key(struct str key);
// A name that begins so and that nobody has.
struct str generated_name(struct pool *pool, struct str prefix);

// ---- discovery.c

#define REVIEWS_GROUP "authorization.k8s.io"
#define WHO_GROUP "authentication.k8s.io"

// What is asked and not stored, so that it has no definition; all in version v1. Ends with a group of NULL; of one group
// behind each other.
struct review_type {
	const char *group, *plural, *kind;
};
extern const struct review_type review_types[];

struct verb_name {
	unsigned verb;
	const char *name;
};
extern const struct verb_name verb_names[]; // ends with a name of NULL
// What of a type's verbs is for this caller, its role aside.
unsigned verbs_for(const struct call *call, const struct definition *definition);
// All that the caller may use.
enum outcome read_definitions(struct call *call, const struct definition *const **list, size_t *n);

// ---- object.c

// Who defines types decides what a tenant's objects are: that takes an admin. OUTCOME_OK, _FORBIDDEN.
enum outcome check_role(struct call *call, const struct target *target);
// ---- delete_options.c

// The body of a DELETE, or what its query says; *preconditions NULL: there are none. Also sets call->dry_run.
enum outcome read_delete_options(struct call *call, const struct doc **preconditions);
// OUTCOME_OK, or _CONFLICT with call->problem set.
enum outcome check_preconditions(struct call *call, const struct doc *preconditions, struct uuid uid, uint64_t version);

// ---- explain.c

// A definition in few words; NULL is null.
struct doc *definition_doc(struct pool *pool, const struct definition *definition);

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

handler_fn get_server_version, get_api, get_apis, get_group, get_types, get_openapi;
handler_fn create_access_review, create_rules_review, create_self_review;
handler_fn explain_type, list_types, tell_effect;
handler_fn list_in_space, create_in_space, delete_all_in_space;
handler_fn get_in_space, put_in_space, patch_in_space, delete_in_space;

#endif
