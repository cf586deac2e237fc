// SPDX-License-Identifier: Apache-2.0
// Converts a client's document to what is stored: the client's part of metadata, and a body without apiVersion and kind.
#include "base/base.h"

#include "api/documents.h"
#include "api/patch.h"
#include "api/spaces/answer/answer.h"
#include "api/spaces/common/spaces.h"
#include "api/spaces/kinds/kinds.h"
#include "api/spaces/object/object.h"
#include "api/spaces/protobuf/protobuf.h"
#include "api/spaces/schema/fields.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/media.h"
#include "registry/core/settings.h"
#include "registry/resource/meta.h"
#include "registry/type/type.h"
#include "repr/json/member.h"
#include "repr/patch/strategic_patch.h"
#include "types/common/parts.h"

// ---- reading the request

static enum outcome read_protobuf(struct call *call, struct doc **body)
{
	struct str error;
	enum outcome outcome = protobuf_read_object(call->pool, call->request.body, call_limits(call), body, &error);

	return outcome == OUTCOME_OK ? outcome : call_fail(call, outcome, "%.*s", STR_ARG(error));
}

enum outcome object_read_json(struct call *call, struct doc **body)
{
	struct str type = call->request.content_type;

	if (call->request.body.n > 0 && media_is(type, PROTOBUF_TYPE))
		return read_protobuf(call, body);
	if (call->request.body.n > 0 && type.n > 0 && !media_is(type, "application/json"))
		return call_fail(call, OUTCOME_UNSUPPORTED_MEDIA,
			"the body of the request was in an unknown format - accepted media types include: application/json, "
			PROTOBUF_TYPE);
	call->consume = REPR_JSON;
	return call_read(call, &any_document, body);
}

// The object's kind and apiVersion, if it has them, must be those of the target.
static enum outcome check_kind(struct call *call, const struct target *target, const struct doc *object)
{
	bool scale = target->part == PART_SCALE;
	struct str expected = type_group_version(call->pool, target->definition->type->group, target->version->name);
	struct str expected_kind = scale ? STR("Scale") : target->definition->kind;
	const struct doc *kind = NULL, *version = NULL;

	if (scale)
		expected = STR("autoscaling/v1");
	if (doc_get(object, STR("apiVersion"), &version) &&
		!(doc_kind(version) == DOC_STRING && str_eq(doc_string(version), expected)))
		return call_fail(call, OUTCOME_BAD_REQUEST,
			"the API version in the data does not match the expected API version (%.*s)", STR_ARG(expected));
	if (doc_get(object, STR("kind"), &kind) &&
		!(doc_kind(kind) == DOC_STRING && str_eq(doc_string(kind), expected_kind)))
		return call_fail(call, OUTCOME_BAD_REQUEST, "the kind in the data does not match the expected kind (%.*s)",
			STR_ARG(expected_kind));
	return OUTCOME_OK;
}

// These members must be strings if they are present: a name of another type must not lead to a generated name, nor a version or
// uid of another type to a write without that precondition.
static enum outcome check_texts(struct call *call, const struct doc *object)
{
	static const char *const names[] = { "name", "generateName", "resourceVersion", "uid" };
	const struct doc *metadata, *value;

	if (!doc_get(object, STR("metadata"), &metadata) || metadata == NULL)
		return OUTCOME_OK;
	if (doc_kind(metadata) != DOC_OBJECT)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "metadata must be an object");
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (doc_get(metadata, str_c(names[i]), &value) && value != NULL && doc_kind(value) != DOC_STRING)
			return call_fail(call, OUTCOME_BAD_DOCUMENT, "metadata.%s must be a string", names[i]);
	return OUTCOME_OK;
}

enum outcome object_read(struct call *call, const struct target *target, struct doc **object, struct str *name)
{
	enum outcome outcome = object_read_json(call, object);

	if (outcome == OUTCOME_OK && doc_kind(*object) != DOC_OBJECT)
		outcome = call_fail(call, OUTCOME_BAD_DOCUMENT, "the body must be an object of the kind %.*s",
			STR_ARG(target->definition->kind));
	if (outcome == OUTCOME_OK)
		outcome = check_kind(call, target, *object);
	if (outcome == OUTCOME_OK)
		outcome = check_texts(call, *object);
	*name = outcome == OUTCOME_OK ? spaces_metadata_text(*object, "name") : STR_NONE;
	return outcome;
}

// A type without rules for merging, such as every custom type, has no strategic merge patch.
static bool takes_strategic_patch(const struct definition *definition)
{
	return type_parts(definition->type)->merge != NULL;
}

enum outcome object_read_patch(struct call *call, const struct target *target, struct change_of_object *change)
{
	struct str type = str_c(call->consume_type), error;
	struct doc *patch;

	change->kind = CHANGE_MERGE_PATCH;
	if (media_is(type, "application/json-patch+json"))
		change->kind = CHANGE_JSON_PATCH;
	if (media_is(type, "application/strategic-merge-patch+json"))
		change->kind = CHANGE_STRATEGIC_PATCH;
	if (change->kind == CHANGE_STRATEGIC_PATCH && !takes_strategic_patch(target->definition))
		return call_fail(call, OUTCOME_UNSUPPORTED_MEDIA,
			"the body of the request was in an unknown format - accepted media types include: "
			"application/json-patch+json, application/merge-patch+json");
	call->consume = REPR_JSON;
	enum outcome outcome = call_read(call, &any_document, &patch);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (change->kind == CHANGE_JSON_PATCH && !doc_json_patch_check(call->pool, patch, &error))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "%.*s", STR_ARG(error));
	change->document = patch;
	return OUTCOME_OK;
}

// ---- applying the change

// Answers 422: the patch does not fit the object.
static enum outcome fail_unfitting(const struct change_of_object *change, struct str error)
{
	struct field_faults faults = field_faults_new(change->call->pool);
	const struct field_path at = field_name(NULL, STR("patch"));

	field_fault_add(&faults, &at, FIELD_INVALID, STR_NONE, "%.*s", STR_ARG(error));
	return spaces_fail_invalid(change->call, NULL, STR(""), &faults);
}

enum outcome change_result(const struct change_of_object *change, const struct doc *current, const struct doc **whole)
{
	struct call *call = change->call;
	const struct type_rules *rules = change->target->definition->type->rules;
	struct str error = STR("");
	bool good = true;

	*whole = change->document;
	if (change->kind == CHANGE_MERGE_PATCH)
		good = patch_result(call, EDIT_MERGE_PATCH, rules, current, change->document, whole, &error);
	if (change->kind == CHANGE_JSON_PATCH)
		good = patch_result(call, EDIT_JSON_PATCH, rules, current, change->document, whole, &error);
	if (change->kind == CHANGE_STRATEGIC_PATCH) {
		const struct type_parts *parts = type_parts(change->target->definition->type);
		struct doc *patched = NULL;
		good = doc_strategic_patch(call->pool, parts->merge, current, change->document, &patched, &error);
		*whole = patched;
	}
	if (!good)
		return fail_unfitting(change, error);
	if (doc_kind(*whole) != DOC_OBJECT)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "the result of the patch is no object");
	enum outcome outcome = check_kind(call, change->target, *whole);
	if (outcome == OUTCOME_OK)
		outcome = check_texts(call, *whole);
	return outcome == OUTCOME_OK ? fields_check(call, change->target, *whole, current) : outcome;
}

// ---- metadata

// A member that repeats the address must be absent, empty or equal to it.
static enum outcome check_same(const struct change_of_object *change, const char *name, const struct doc *value,
	struct str is)
{
	if (value != NULL && doc_kind(value) != DOC_STRING)
		return call_fail(change->call, OUTCOME_BAD_DOCUMENT, "metadata.%s must be a string", name);
	// As in Kubernetes, an object that stands in no namespace loses the one that it was sent with: manifests are made by
	// tools that write the namespace into all objects.
	if (strcmp(name, "namespace") == 0 && !definition_is_namespaced(change->target->definition))
		return OUTCOME_OK;
	if (value == NULL || doc_string(value).n == 0 || str_eq(doc_string(value), is))
		return OUTCOME_OK;
	if (strcmp(name, "name") == 0)
		return call_fail(change->call, OUTCOME_BAD_REQUEST,
			"the name of the object does not match the name on the URL (%.*s)", STR_ARG(is));
	return call_fail(change->call, OUTCOME_BAD_REQUEST,
		"the %s of the provided object does not match the %s sent on the request (%.*s)", name, name, STR_ARG(is));
}

static enum outcome check_form(const struct change_of_object *change, struct str name, const struct doc *value)
{
	const char *form = resource_meta_fault(name, value);

	if (form == NULL)
		return OUTCOME_OK;
	return call_fail(change->call, OUTCOME_BAD_DOCUMENT, "metadata.%.*s must be %s", STR_ARG(name), form);
}

// Is the value null, or an object or array without members? Such a member counts as absent.
static bool is_empty(const struct doc *value)
{
	enum doc_kind kind = doc_kind(value);

	return kind == DOC_NULL || ((kind == DOC_OBJECT || kind == DOC_ARRAY) && doc_length(value) == 0);
}

// Does the write leave all metadata as it is stored? The parts don't contain metadata of their own.
static bool keeps_metadata(const struct change_of_object *change)
{
	return change->target->part == PART_STATUS || change->target->part == PART_SCALE;
}

// A copy of a member as it is stored. A null label or annotation becomes "", as in Kubernetes, which reads both as maps of
// strings.
static struct doc *received_member(struct pool *pool, const struct doc_iter *it)
{
	struct doc *copy = doc_copy(pool, it->value);
	bool is_map = str_eq(it->name, STR("labels")) || str_eq(it->name, STR("annotations"));

	for (struct doc_iter text = doc_iter(copy); is_map && doc_next(&text);)
		if (doc_kind(text.value) == DOC_NULL)
			doc_set(copy, text.name, doc_new_string(pool, STR("")));
	return copy;
}

// Checks one member of metadata, and copies it to meta if the client may set it. before: as for object_client_metadata().
static enum outcome take_member(const struct change_of_object *change, const struct doc_iter *it, const struct doc *before,
	struct doc *meta)
{
	const struct target *target = change->target;
	const struct doc *stored;

	if (str_eq(it->name, STR("name")))
		return check_same(change, "name", it->value, target->name);
	if (str_eq(it->name, STR("namespace")))
		return check_same(change, "namespace", it->value, target->space);
	if (str_eq(it->name, STR("tenant")))
		return check_same(change, "tenant", it->value, target->tenant);
	if (keeps_metadata(change) || resource_meta_is_owned(it->name) || is_empty(it->value))
		return OUTCOME_OK;
	struct doc *value = received_member(change->call->pool, it);
	if (!doc_get(before, it->name, &stored) || !doc_equal(value, stored)) {
		enum outcome outcome = check_form(change, it->name, value);
		if (outcome != OUTCOME_OK)
			return outcome;
	}
	doc_set(meta, it->name, value);
	return OUTCOME_OK;
}

// Checks the contents of the members that are not as they were.
static void check_metadata(const struct doc *meta, const struct doc *before, struct field_faults *faults)
{
	static const struct {
		const char *name;
		void (*check)(const struct doc *value, const struct doc *before, struct field_faults *faults);
	} checks[] = { { "labels", check_labels }, { "annotations", check_annotations }, { "finalizers", check_finalizers },
		{ "ownerReferences", check_owners } };
	const struct doc *value, *stored;

	for (size_t i = 0; i < COUNT_OF(checks); i++) {
		struct str name = str_c(checks[i].name);
		if (doc_get(meta, name, &value) && !(doc_get(before, name, &stored) && doc_equal(value, stored)))
			checks[i].check(value, stored, faults);
	}
}

// A replacement whose metadata does not have `locked` keeps the stored lock: a typed client of Kubernetes, which does not know
// the member, can't send it back, and does not mean to unlock the object. False or null unlocks it.
static void keep_lock(const struct change_of_object *change, const struct doc *metadata, const struct doc *before, struct doc *meta)
{
	const struct doc *sent, *stored;

	if (change->kind == CHANGE_REPLACE && !doc_get(metadata, STR("locked"), &sent) && doc_get(before, STR("locked"), &stored))
		doc_set(meta, STR("locked"), doc_copy(change->call->pool, stored));
}

enum outcome object_client_metadata(const struct change_of_object *change, const struct doc *whole, const struct doc *before,
	struct doc **meta, bool *locked)
{
	struct field_faults faults = field_faults_new(change->call->pool);
	const struct doc *metadata;
	enum outcome outcome = OUTCOME_OK;

	*meta = doc_new_object(change->call->pool);
	*locked = false;
	if (!doc_get(whole, STR("metadata"), &metadata) || metadata == NULL) {
		if (change->kind == CHANGE_REPLACE && before != NULL) // a PUT without metadata keeps the stored metadata
			*meta = doc_copy(change->call->pool, before);
		*locked = doc_member_is_true(*meta, "locked");
		return OUTCOME_OK;
	}
	if (doc_kind(metadata) != DOC_OBJECT)
		return call_fail(change->call, OUTCOME_BAD_DOCUMENT, "metadata must be an object");
	for (struct doc_iter it = doc_iter(metadata); outcome == OUTCOME_OK && doc_next(&it);)
		outcome = take_member(change, &it, before, *meta);
	keep_lock(change, metadata, before, *meta);
	*locked = doc_member_is_true(*meta, "locked");
	if (outcome == OUTCOME_OK)
		check_metadata(*meta, before, &faults);
	if (outcome == OUTCOME_OK && faults.n > 0)
		return spaces_fail_invalid(change->call, change->target->definition, change->target->name, &faults);
	return outcome;
}

struct str object_said_version(const struct doc *object)
{
	struct str said = spaces_metadata_text(object, "resourceVersion");

	return str_eq(said, STR("0")) ? STR_NONE : said;
}

enum outcome object_check_version(const struct change_of_object *change, const struct doc *whole, uint64_t version,
	const struct uuid *uid, bool changes)
{
	struct str said = object_said_version(whole), said_uid = spaces_metadata_text(whole, "uid");
	struct pool *pool = change->call->pool;

	if (said.n == 0) // a strategic merge patch can remove the metadata that has its resourceVersion
		said = object_said_version(change->document);
	if (said_uid.n > 0 && !str_eq_nocase(said_uid, uuid_str(pool, *uid)))
		return call_fail(change->call, OUTCOME_CONFLICT,
			"Precondition failed: UID in precondition: %.*s, UID in object meta: %.*s", STR_ARG(said_uid),
			UUID_ARG(pool, *uid));
	if (changes && said.n > 0 && !str_eq(said, str_printf(pool, "%llu", (unsigned long long)version)))
		return spaces_fail_modified(change->call, change->target, change->target->name);
	return OUTCOME_OK;
}

// ---- the body

// Converts a client's body as its type requires, before it is checked. The registry does so, too, for all dialects.
static enum outcome receive(const struct change_of_object *change, struct doc *body)
{
	const struct type_parts *parts = type_parts(change->target->definition->type);
	struct str error;

	if (parts->receive == NULL || parts->receive(change->call->pool, body, &error))
		return OUTCOME_OK;
	return call_fail(change->call, OUTCOME_BAD_DOCUMENT, "%.*s", STR_ARG(error));
}

// Replaces the member `name` of body by that of other, or removes it if other has none.
static void take_from(struct pool *pool, struct doc *body, const struct doc *other, const char *name)
{
	const struct doc *value;

	if (other != NULL && doc_get(other, str_c(name), &value))
		doc_set(body, str_c(name), doc_copy(pool, value));
	else
		doc_remove(body, str_c(name));
}

// Sets the status of an object that is written as a whole: the stored one, whatever the client sent. A new pod or volume gets the
// status "Pending", since nothing has acted on it yet; only a new node may bring its own.
static void keep_status(const struct change_of_object *change, struct doc *body, const struct doc *stored)
{
	const struct type_parts *parts = type_parts(change->target->definition->type);
	struct pool *pool = change->call->pool;

	if (stored == NULL && parts->has_first_status)
		return;
	take_from(pool, body, stored, "status");
	if (stored == NULL && parts->first_phase != NULL) {
		struct doc *waiting = doc_new_object(pool);
		doc_set_str(pool, waiting, "phase", str_c(parts->first_phase));
		doc_set(body, STR("status"), waiting);
	}
}

// A replacement of a definition that does not have spec.applicableRange keeps the stored range: a typed client of Kubernetes,
// which does not know the member, can't send it back, and does not mean to end the sharing. Null or an empty list ends it.
static void keep_range(struct pool *pool, const struct doc *stored, struct doc *body)
{
	const struct doc *stored_spec, *range, *sent;
	struct doc *spec = doc_own_member(body, STR("spec"));

	if (doc_kind(spec) == DOC_OBJECT && !doc_get(spec, STR("applicableRange"), &sent) && doc_get(stored, STR("spec"), &stored_spec) &&
		doc_get(stored_spec, STR("applicableRange"), &range))
		doc_set(spec, STR("applicableRange"), doc_copy(pool, range));
}

// If status is a separate part, a write of the whole object does not change it, and a write of the part changes nothing else. Nor
// does a write of the whole object take away what a controller has set, if its type says so.
static struct doc *part_of_body(const struct change_of_object *change, struct doc *body, const struct doc *stored)
{
	const struct type_parts *parts = type_parts(change->target->definition->type);
	struct pool *pool = change->call->pool;

	if (change->target->part == PART_STATUS) {
		struct doc *whole = doc_copy(pool, stored);
		take_from(pool, whole, body, "status");
		return whole;
	}
	// The finalizers of a namespace's spec are changed only by its part "finalize".
	if (definition_has_identity(change->target->definition, "", "namespaces") && stored != NULL &&
		change->target->part == PART_WHOLE)
		take_from(pool, body, stored, "spec");
	if (definition_has_identity(change->target->definition, CRD_GROUP, CRD_PLURAL) && change->kind == CHANGE_REPLACE)
		keep_range(pool, stored, body);
	if (change->target->version->has_status)
		keep_status(change, body, stored);
	if (parts->carry_over != NULL && stored != NULL)
		parts->carry_over(pool, stored, body);
	return body;
}

// *body: the body that will be stored, made of the whole object that the client wants and, for a part, of what is stored.
static enum outcome body_of(const struct change_of_object *change, const struct doc *whole,
	const struct resource *current, struct doc **body)
{
	const struct target *target = change->target;
	const struct definition *definition = target->definition;
	struct pool *pool = change->call->pool;
	struct pool *scratch = pool_scratch(pool, current != NULL ? current->body.n : 0);
	const struct doc *stored = current != NULL ? resource_body_doc(scratch, current) : NULL;
	struct doc *sent = doc_copy(pool, whole);
	bool of_namespace = definition_has_identity(definition, "", "namespaces");
	bool of_beta = definition_has_identity(definition, CRD_GROUP, CRD_PLURAL) && str_eq(target->version->name, STR("v1beta1"));

	if (target->part == PART_SCALE) {
		enum outcome scaled = kind_scaled_body(change, whole, stored, body);
		pool_scratch_end(pool, scratch);
		return scaled;
	}
	doc_remove(sent, STR("metadata"));
	doc_remove(sent, STR("apiVersion"));
	doc_remove(sent, STR("kind"));
	enum outcome outcome = receive(change, sent);
	if (outcome == OUTCOME_OK && of_namespace)
		outcome = kind_read_namespace_spec(change, sent);
	if (outcome == OUTCOME_OK && of_namespace && target->part == PART_STATUS)
		outcome = kind_read_namespace_status(change, current, sent);
	if (of_beta)
		sent = definition_from_v1beta1(pool, sent);
	if (outcome == OUTCOME_OK)
		outcome = builtin_check_form(change, sent, stored);
	if (outcome == OUTCOME_OK && definition->builtin)
		builtin_fill_maps(pool, definition, sent, stored);
	if (outcome == OUTCOME_OK && definition->builtin && target->part != PART_STATUS)
		builtin_set_defaults(pool, definition, sent);
	*body = part_of_body(change, sent, stored); // it contains copies of the stored members
	pool_scratch_end(pool, scratch);
	return outcome;
}

// ---- metadata and body together

// *whole: the whole object that the client wants.
static enum outcome whole_of(const struct change_of_object *change, const struct resource *current,
	const struct doc **whole)
{
	struct call *call = change->call;

	if (current == NULL)
		return change_result(change, NULL, whole);
	struct buf text = buf_new(call->pool, 1024 + current->meta.n + current->body.n);
	answer_object_json(call, change->target->definition, change->target->version, current, &text);
	struct pool *scratch = pool_scratch(call->pool, text.n);
	struct doc *object = stored_document(scratch, resource_place(current, "meta or body"), buf_str(&text));
	if (change->target->part == PART_SCALE)
		object = kind_scale_to_patch(call->pool, change->target, object);
	enum outcome outcome = change_result(change, object, whole);
	pool_scratch_end(call->pool, scratch); // parts that the result shares with it stay valid
	return outcome;
}

// An update of a custom type's object must contain a resourceVersion; for built-in types it is optional.
static enum outcome check_version_given(const struct change_of_object *change, const struct doc *whole)
{
	const struct field_path metadata = field_name(NULL, STR("metadata"));
	const struct field_path at = field_name(&metadata, STR("resourceVersion"));
	struct field_faults faults = field_faults_new(change->call->pool);

	if (change->kind != CHANGE_REPLACE || change->target->definition->builtin || change->target->part == PART_SCALE ||
		object_said_version(whole).n > 0)
		return OUTCOME_OK;
	field_invalid_text(&faults, &at, STR("0x0"), "must be specified for an update");
	return spaces_fail_invalid(change->call, change->target->definition, change->target->name, &faults);
}

// Would the write store exactly what is stored already?
static bool changes_nothing(const struct resource *current, const struct content *content)
{
	return str_eq(current->meta, content->meta) && str_eq(current->body, content->body) &&
	       current->locked == content->locked;
}

// An object whose deletion waits for finalizers must not get new ones.
static enum outcome check_deletion_requested(const struct change_of_object *change, const struct resource *current,
	const struct doc *meta)
{
	struct field_faults faults = field_faults_new(change->call->pool);
	const struct doc *before = NULL, *after;

	if (current == NULL || current->deletion_requested_us == 0 || !doc_get(meta, STR("finalizers"), &after))
		return OUTCOME_OK;
	(void)doc_get(resource_meta_doc(change->call->pool, current), STR("finalizers"), &before);
	check_new_finalizers(after, before, &faults);
	if (faults.n == 0)
		return OUTCOME_OK;
	return spaces_fail_invalid(change->call, change->target->definition, change->target->name, &faults);
}

enum outcome change_apply(void *arg, const struct resource *current, struct content *content)
{
	struct change_of_object *change = arg;
	struct pool *pool = change->call->pool;
	const struct doc *whole;
	struct doc *meta, *body;
	enum outcome outcome = whole_of(change, current, &whole);

	*content = (struct content){ .meta = STR("{}") };
	if (outcome == OUTCOME_OK && current != NULL)
		outcome = check_version_given(change, whole);
	if (outcome == OUTCOME_OK)
		outcome = object_client_metadata(change, whole, current != NULL ? resource_meta_doc(pool, current) : NULL, &meta,
			&content->locked);
	if (outcome == OUTCOME_OK)
		outcome = check_deletion_requested(change, current, meta);
	if (outcome == OUTCOME_OK)
		outcome = body_of(change, whole, current, &body);
	if (outcome != OUTCOME_OK)
		return outcome;
	content->meta = document_text_or_stored(pool, meta, current, "meta");
	content->body = document_text_or_stored(pool, body, current, "body");
	if (change->target->definition->builtin && change->target->part == PART_WHOLE &&
		(current == NULL || !str_eq(content->body, current->body)))
		outcome = builtin_check_rules(change, current != NULL ? resource_body_doc(pool, current) : NULL, meta, body);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (keeps_metadata(change)) {
		content->meta = current->meta;
		content->locked = current->locked;
	}
	if (!document_fits(change->call, current, content))
		return call_fail(change->call, OUTCOME_BODY_TOO_LARGE, "an object may have %llu bytes at most",
			(unsigned long long)registry_settings(change->call->config)->max_body);
	if (current != NULL) {
		change->version = current->changed;
		memcpy(change->etag, current->stored_etag, sizeof(change->etag));
	}
	if (current != NULL)
		return object_check_version(change, whole, current->changed, &current->uid, !changes_nothing(current, content));
	return OUTCOME_OK;
}
