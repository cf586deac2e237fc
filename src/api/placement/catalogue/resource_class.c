// SPDX-License-Identifier: Apache-2.0
// /resource_classes
#include "base/base.h"

#include "api/placement/catalogue/catalogue.h"
#include "api/placement/common/placement.h"
#include "api/placement/common/schema.h"
#include "base/pool.h"
#include "registry/placement/resource_class.h"

static const struct json_schema custom_name = { .types = SCHEMA_STRING, .pattern = &custom_class_pattern,
	.max_length = RESOURCE_CLASS_MAX_NAME };
static const struct json_property class_members[] = { { "name", &custom_name }, { NULL, NULL } };
static const char *const class_required[] = { "name", NULL };
static const struct json_schema class_schema = { .types = SCHEMA_OBJECT, .properties = class_members,
	.required = class_required, .closed = true };

static void add_class(struct call *call, struct buf *json, const struct resource_class *class)
{
	buf_addc(json, '{');
	placement_add_string(json, "name", class->name);
	BUF_LIT(json, ",\"links\":[{\"rel\":\"self\",\"href\":\"");
	placement_add_path(json, call, "/resource_classes/%.*s", STR_ARG(class->name));
	BUF_LIT(json, "\"}]}");
}

static void write_class(struct call *call, const struct resource_class *class)
{
	struct buf json = buf_new(call->pool, 256);

	add_class(call, &json, class);
	placement_answer_json(call, &json);
}

// Sets the header Location to the class.
static void locate_class(struct call *call, const struct resource_class *class)
{
	placement_set_location(call, "/resource_classes/%.*s", STR_ARG(class->name));
}

// ---- reading

// A list of classes that is being written.
struct listing {
	struct placement_long answer;
	int64_t newest;
	bool full; // the answer is too long: no more is written
};

static void list_one(void *arg, const struct resource_class *class, struct pool *pool)
{
	struct listing *listing = arg;
	struct call *call = listing->answer.call;

	if (listing->full)
		return;
	call->scratch = pool;
	if (listing->answer.n > 0)
		buf_addc(&listing->answer.json, ',');
	add_class(call, &listing->answer.json, class);
	call->scratch = call->pool;
	if (class->updated_us > listing->newest)
		listing->newest = class->updated_us;
	listing->full = !placement_long_next(&listing->answer);
}

enum outcome list_resource_classes(struct call *call)
{
	struct listing listing = { .answer = placement_long_begin(call) };
	const struct resource_class_taker taker = { list_one, &listing };

	BUF_LIT(&listing.answer.json, "{\"resource_classes\":[");
	enum outcome outcome = resource_class_list(call->registry, &taker);
	if (outcome != OUTCOME_OK)
		return outcome;
	BUF_LIT(&listing.answer.json, "]}");
	placement_answer_cache_headers(call, listing.newest);
	return placement_long_end(&listing.answer);
}

enum outcome get_resource_class(struct call *call)
{
	struct resource_class class;
	enum outcome outcome = resource_class_get(call->registry, call_param(call, "name"), &class);

	if (outcome != OUTCOME_OK)
		return outcome;
	write_class(call, &class);
	placement_answer_cache_headers(call, class.updated_us);
	return OUTCOME_OK;
}

// ---- writing

enum outcome create_resource_class(struct call *call)
{
	struct resource_class class;
	const struct doc *body;
	enum outcome outcome = placement_read_body(call, &class_schema, &body);

	if (outcome == OUTCOME_OK)
		outcome = resource_class_create(call->registry, placement_member_str(body, "name"), &class);
	if (outcome == OUTCOME_CREATED)
		locate_class(call, &class);
	return outcome;
}

static enum outcome rename_class(struct call *call)
{
	struct resource_class class;
	const struct doc *body;
	struct str name = call_param(call, "name");
	enum outcome outcome = placement_read_body(call, &class_schema, &body);

	if (outcome == OUTCOME_OK)
		outcome = resource_class_rename(call->registry, name, placement_member_str(body, "name"), &class);
	if (outcome == OUTCOME_OK)
		write_class(call, &class);
	return outcome;
}

// Checks the name in the address by the schema for bodies, so that errors have the same texts.
static enum outcome check_name(struct call *call, struct str name)
{
	struct doc *body = doc_new_object(call->pool);
	struct json_fault fault;

	doc_set_str(call->pool, body, "name", name);
	if (json_schema_allows(call->pool, &class_schema, body, &fault))
		return OUTCOME_OK;
	struct str why = json_fault_text(call->pool, &fault);
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "JSON does not validate: %.*s", STR_ARG(why));
}

enum outcome put_resource_class(struct call *call)
{
	struct resource_class class;
	struct str name = call_param(call, "name");

	if (call->version < VERSION_CLASS_WITHOUT_BODY)
		return rename_class(call);
	enum outcome outcome = check_name(call, name);
	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = resource_class_put(call->registry, name, &class);
	if (outcome != OUTCOME_OK && outcome != OUTCOME_CREATED)
		return outcome;
	locate_class(call, &class);
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : OUTCOME_CREATED;
}

enum outcome delete_resource_class(struct call *call)
{
	return resource_class_delete(call->registry, call_param(call, "name"));
}
