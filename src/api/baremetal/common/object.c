// SPDX-License-Identifier: Apache-2.0
// Writes an object as clients see it.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "base/ascii.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/resource/resource.h"
#include "registry/resource/secret.h"
#include "registry/tags/etag.h"

enum { SINCE_AVAILABLE = 2, SINCE_FIELDS = 8, SINCE_INSPECT_WAIT = 39, SECONDS = 19 /* of "2026-11-21T05:24:00" */ };

// ---- selecting members

// A flag for each of the kind's members, all false.
static bool *new_flags(struct call *call, const struct kind *kind)
{
	size_t n = 0;

	while (kind->members[n].name != NULL)
		n++;
	return POOL_ARRAY(call->pool, bool, n);
}

static struct selection selection_of(struct call *call, const struct kind *kind, const bool *has)
{
	struct buf url = buf_new(call->pool, 128);

	json_add_string(&url, baremetal_url(call, STR("")));
	return (struct selection){ kind, has, str_part(buf_str(&url), 1, url.n - 1) };
}

// The members that have any of the flags; flags 0: all members.
static struct selection select_by(struct call *call, const struct kind *kind, unsigned flags)
{
	bool *has = new_flags(call, kind);

	for (size_t i = 0; kind->members[i].name != NULL; i++)
		has[i] = kind->members[i].since <= call->version && (flags == 0 || (kind->members[i].flags & flags) != 0);
	return selection_of(call, kind, has);
}

struct selection baremetal_select_all(struct call *call, const struct kind *kind)
{
	return select_by(call, kind, 0);
}

struct selection baremetal_select_brief(struct call *call, const struct kind *kind)
{
	return select_by(call, kind, MEMBER_BRIEF);
}

struct selection baremetal_select_touched(struct call *call, const struct kind *kind, const bool *touched)
{
	bool *has = new_flags(call, kind);

	for (size_t i = 0; kind->members[i].name != NULL; i++)
		has[i] = touched[i] && kind->members[i].since <= call->version;
	return selection_of(call, kind, has);
}

// May a request name the member in the parameter "fields"?
static bool may_request(const struct kind_member *member, bool of_list)
{
	return (member->flags & (MEMBER_NO_FIELD | (of_list ? MEMBER_NO_COLUMN : 0U))) == 0;
}

// Answers that the kind has no such field, and names those that it has.
static enum outcome fail_field(struct call *call, const struct kind *kind, struct str field, bool of_list)
{
	struct buf known = buf_new(call->pool, 1024);

	for (const struct kind_member *member = kind->members; member->name != NULL; member++) {
		if (may_request(member, of_list) && member->named_since <= call->version)
			buf_addf(&known, "%s%s", known.n > 0 ? ", " : "", member->name);
	}
	return call_fail(call, OUTCOME_BAD_PARAMETER,
		"Field(s) \"%.*s\" are not valid: it is not a valid field of %s %s%s; these are: %.*s",
		STR_HEAD_ARG(field, BAREMETAL_SHOWN), baremetal_article(kind->singular), kind->singular, of_list ? " in a list" : "",
		STR_ARG(known));
}

enum outcome baremetal_select_fields(struct call *call, const struct kind *kind, struct str fields, bool of_list,
	struct selection *selection)
{
	bool *has = new_flags(call, kind);
	struct str field;

	if (call->version < SINCE_FIELDS)
		return baremetal_fail_too_new(call, "the parameter fields", SINCE_FIELDS);
	while (str_split(&fields, ',', &field)) {
		field = ascii_lowered(call->pool, str_trim(field));
		const struct kind_member *member = kind_member(kind, field);
		if (field.n == 0)
			continue;
		if (member == NULL || !may_request(member, of_list))
			return fail_field(call, kind, field, of_list);
		if (member->named_since > call->version)
			return baremetal_fail_too_new(call, member->name, member->named_since);
		has[member - kind->members] = true;
	}
	for (size_t i = 0; kind->members[i].name != NULL; i++) {
		if ((kind->members[i].flags & MEMBER_ALWAYS) != 0 && kind->members[i].since <= call->version)
			has[i] = true;
	}
	*selection = selection_of(call, kind, has);
	return OUTCOME_OK;
}

// ---- values of members

static void add_time(int64_t us, struct buf *out)
{
	buf_addc(out, '"');
	size_t start = out->n;
	clock_add_rfc3339(out, us);
	out->n = start + SECONDS; // without the fraction
	BUF_LIT(out, "+00:00\"");
}

static void add_updated(const struct resource *resource, struct buf *out)
{
	if (resource->updated_us != resource->created_us)
		add_time(resource->updated_us, out);
	else
		BUF_LIT(out, "null");
}

// Objects of the system tenant have no owner for clients.
static void add_owner(const struct resource *resource, struct buf *out)
{
	if (str_eq(resource->tenant, STR(TENANT_SYSTEM)))
		BUF_LIT(out, "null");
	else
		json_add_string(out, resource->tenant);
}

static void add_uid(const struct resource *resource, struct buf *out)
{
	buf_addc(out, '"');
	uuid_add(out, resource->uid);
	buf_addc(out, '"');
}

// Appends a link as text, not as a tree, for speed: an object has many links, and a list many objects. version: "/v1" or "".
// collection: the one below the object that the link leads to; NULL: it leads to the object. Nothing behind selection->url has to
// be escaped.
static void add_link(const struct selection *selection, const struct resource *resource, struct str version,
	const char *collection, struct str rel, struct buf *out)
{
	BUF_LIT(out, "{\"href\":\"");
	buf_add(out, selection->url);
	buf_add(out, version);
	buf_addc(out, '/');
	buf_add(out, str_c(selection->kind->path));
	buf_addc(out, '/');
	uuid_add(out, resource->uid);
	if (collection != NULL) {
		buf_addc(out, '/');
		buf_add(out, str_c(collection));
	}
	BUF_LIT(out, "\",\"rel\":\"");
	buf_add(out, rel);
	BUF_LIT(out, "\"}");
}

static void add_links(const struct selection *selection, const struct resource *resource, const char *collection,
	struct buf *out)
{
	buf_addc(out, '[');
	add_link(selection, resource, STR("/v1"), collection, STR("self"), out);
	buf_addc(out, ',');
	add_link(selection, resource, STR(""), collection, STR("bookmark"), out);
	buf_addc(out, ']');
}

// Appends the links to a collection below the object. A chassis has its links to nodes inside another list.
static void add_collection(const struct selection *selection, const struct resource *resource, const char *collection,
	struct buf *out)
{
	bool nested = selection->kind == &chassis_kind;

	if (nested)
		buf_addc(out, '[');
	add_links(selection, resource, collection, out);
	if (nested)
		buf_addc(out, ']');
}

// The value of a stored member as the requested version shows it: states that the version has no name for have other names, or
// are null.
static struct str shown_value(const struct call *call, const char *name, struct str value)
{
	if (strcmp(name, "provision_state") != 0)
		return value;
	if (call->version < SINCE_AVAILABLE && str_eq(value, STR("\"available\"")))
		return STR("null");
	if (call->version < SINCE_INSPECT_WAIT && str_eq(value, STR("\"inspect wait\"")))
		return STR("\"inspecting\"");
	return value;
}

void baremetal_add_stored(const struct call *call, const char *name, struct body_shown *body, struct buf *out)
{
	const struct doc *value;
	struct str text;

	if (body->text.text.p != NULL) {
		buf_add(out, json_members_find(&body->text, str_c(name), &text) ? shown_value(call, name, text) : STR("null"));
		return;
	}
	size_t start = out->n;
	(void)doc_get(body->tree, str_c(name), &value);
	secret_add_shown(call->scratch, body->rules, str_c(name), value, out);
	text = str_n(out->p + start, out->n - start);
	struct str shown = shown_value(call, name, text);
	if (shown.p != text.p) {
		out->n = start;
		buf_add(out, shown);
	}
}

static void add_value(struct call *call, const struct selection *selection, const struct kind_member *member,
	const struct resource *resource, struct body_shown *body, struct buf *out)
{
	switch (member->source) {
	case FROM_BODY:
		baremetal_add_stored(call, member->name, body, out);
		break;
	case FROM_UID:
		add_uid(resource, out);
		break;
	case FROM_CREATED:
		add_time(resource->created_us, out);
		break;
	case FROM_UPDATED:
		add_updated(resource, out);
		break;
	case FROM_TENANT:
		add_owner(resource, out);
		break;
	case FROM_TRAITS:
		buf_add(out, resource->traits.n > 0 ? resource->traits : STR("[]"));
		break;
	case FROM_ETAG:
		json_add_string(out, conditions_etag_text(call->scratch, etag_shown(call->registry, resource)));
		break;
	case FROM_HOST:
		json_add_string(out, baremetal_host(call));
		break;
	case FROM_LINKS:
		add_links(selection, resource, NULL, out);
		break;
	case FROM_COLLECTION:
		add_collection(selection, resource, member->name, out);
		break;
	}
}

struct body_shown baremetal_body(struct call *call, const struct kind *kind, const struct resource *resource)
{
	struct body_shown body = { .rules = kind->rules, .text = json_members(resource->shown) };

	if (resource->shown.p == NULL)
		body.tree = resource_body_tree(call->scratch, resource);
	return body;
}

void baremetal_add_object(struct call *call, const struct selection *selection, const struct resource *resource, struct buf *out)
{
	const struct kind *kind = selection->kind;
	struct body_shown body = baremetal_body(call, kind, resource);
	size_t start = out->n + 1;

	buf_addc(out, '{');
	for (size_t i = 0; kind->members[i].name != NULL; i++) {
		if (!selection->has[i])
			continue;
		if (out->n > start)
			buf_addc(out, ',');
		buf_addc(out, '"');
		buf_add(out, str_c(kind->members[i].name));
		BUF_LIT(out, "\":");
		add_value(call, selection, &kind->members[i], resource, &body, out);
	}
	buf_addc(out, '}');
}

// ---- answers

static void write_text(struct call *call, struct str text)
{
	call->response.body = text;
	call->response.content_type = STR("application/json");
}

void baremetal_write_json(struct call *call, const struct doc *doc)
{
	struct buf out = buf_new(call->pool, 1024);

	doc_write_json(doc, &out);
	write_text(call, buf_str(&out));
}

static void write_selected(struct call *call, const struct selection *selection, const struct resource *resource)
{
	struct buf out = buf_new(call->pool, 2048 + resource->body.n);

	baremetal_add_object(call, selection, resource, &out);
	write_text(call, buf_str(&out));
	if (call->version >= VERSION_ETAG)
		conditions_set_etag(call, etag_shown(call->registry, resource));
}

void baremetal_write_object(struct call *call, const struct kind *kind, const struct resource *resource)
{
	struct selection selection = baremetal_select_all(call, kind);

	write_selected(call, &selection, resource);
}

// What the JSON of an object with all its members depends on beside the object: the version, and the address that its links begin
// with.
static struct str whole_answer_for(struct call *call)
{
	struct buf text = buf_new(call->pool, 128);

	buf_add_u64(&text, call->version);
	buf_addc(&text, ' ');
	buf_add(&text, baremetal_url(call, STR("")));
	return buf_str(&text);
}

// Answers with the whole object. The answer is kept beside the object in the worker's cache, for the next GET of it.
static void write_whole(struct call *call, const struct kind *kind, struct resource *resource)
{
	struct str made_for = whole_answer_for(call);

	if (resource->answer.p != NULL && str_eq(resource->answer_for, made_for)) {
		write_text(call, resource->answer);
		if (call->version >= VERSION_ETAG)
			conditions_set_etag(call, etag_shown(call->registry, resource));
		return;
	}
	baremetal_write_object(call, kind, resource);
	resource_keep_answer(call->registry, resource, made_for, call->response.body);
}

// GET ignores preconditions: clients send If-Match with every request, and this API has no If-None-Match.
enum outcome baremetal_show_named(struct call *call, const struct kind *kind, struct str text)
{
	struct str fields = call_param(call, "fields");
	struct selection selection;
	struct resource resource;
	enum outcome outcome = fields.p != NULL ? baremetal_select_fields(call, kind, fields, false, &selection) : OUTCOME_OK;

	if (outcome == OUTCOME_OK)
		outcome = kind_find(call, kind, text, &resource);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (fields.p != NULL)
		write_selected(call, &selection, &resource);
	else
		write_whole(call, kind, &resource);
	return OUTCOME_OK;
}

enum outcome baremetal_show_object(struct call *call, const struct kind *kind)
{
	return baremetal_show_named(call, kind, call_param(call, kind->singular));
}

// ---- preconditions

enum outcome baremetal_read_guard(struct call *call, struct conditions *conditions)
{
	if (call->version < VERSION_ETAG && request_has_header(&call->request, "if-match"))
		return baremetal_fail_too_new(call, "If-Match", VERSION_ETAG);
	return conditions_read_match(call, conditions);
}

enum outcome baremetal_begin_change(struct call *call, const struct kind *kind, struct str text, struct conditions *conditions,
	struct ident *ident)
{
	enum outcome outcome = baremetal_read_guard(call, conditions);

	return outcome == OUTCOME_OK ? kind_ident(call, kind, text, ident) : outcome;
}

void baremetal_set_node_etag(struct call *call, const struct resource *node)
{
	if (call->version >= VERSION_ETAG)
		conditions_set_etag(call, etag_shown(call->registry, node));
}
