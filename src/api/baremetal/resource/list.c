// SPDX-License-Identifier: Apache-2.0
// Lists: filters, fields, order, pages.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "base/ascii.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/resource/resource.h"
#include "registry/type/type.h"

enum {
	LIMIT_MOST = 1000,
	SINCE_NODE_NAMES = 5,
	SPILL_BYTES = 1 << 20,       // bytes of an answer that are kept in memory
	ANSWER_MAX_BYTES = 64 << 20, // behind so many bytes, no object is added to an answer
	ANSWER_MAX_HELD = 4 << 20,   // the same for an answer that must stay in memory, because no file can be made
};

struct listing {
	struct call *call;
	const struct kind *kind;
	struct resource_search search;
	struct selection selection;
	struct uuid root, marker; // the search points to them
	bool none; // no object can pass the filters
	// The answer:
	struct buf out;   // what is not in the response's file
	uint64_t spilled; // bytes in that file
	size_t n;         // objects in it
	struct uuid last; // the last of them
};

// ---- adding conditions

static enum outcome add_condition(struct listing *listing, const char *member, enum search_test test, struct str value)
{
	struct resource_search *search = &listing->search;

	if (search->n_conditions == SEARCH_MAX_CONDITIONS)
		return call_fail(listing->call, OUTCOME_BAD_PARAMETER, "At most %d filters can be used at once",
			SEARCH_MAX_CONDITIONS);
	search->conditions[search->n_conditions++] = (struct search_condition){ member, test, value };
	return OUTCOME_OK;
}

// Searches by a lookup key with that prefix, if the search uses no index yet; else compares the member that the key is made of.
static enum outcome add_key(struct listing *listing, const char *kind, struct str prefix, const char *member,
	struct str value)
{
	if (listing->search.key_kind != NULL)
		return add_condition(listing, member, SEARCH_IS, value);
	listing->search.key_kind = kind;
	listing->search.key_prefix = prefix;
	return OUTCOME_OK;
}

// Searches by a reference to another resource.
static enum outcome add_reference(struct listing *listing, const char *kind, const char *member, const struct uuid *uid)
{
	struct pool *pool = listing->call->pool;
	struct str text = uuid_str(pool, *uid);

	return add_key(listing, kind, str_printf(pool, "%.*s ", STR_ARG(text)), member, text);
}

// Searches below that root alone.
static enum outcome set_root(struct listing *listing, const struct uuid *root)
{
	listing->none = listing->none || (listing->search.root != NULL && !uuid_eq(listing->root, *root));
	listing->root = *root;
	listing->search.root = &listing->root;
	return OUTCOME_OK;
}

// ---- filters

struct filter {
	const char *name;
	unsigned since; // microversion that introduced it
	enum outcome (*apply)(struct listing *listing, const struct filter *filter, struct str value);
	const char *member;
	const char *const *words; // allowed values; NULL: any
};

static enum outcome read_bool(struct call *call, const char *name, struct str value, bool *result)
{
	if (baremetal_bool_text(value, result))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_PARAMETER, "Unrecognized value '%.*s' for %s: it has to be true or false",
		STR_HEAD_ARG(value, BAREMETAL_SHOWN), name);
}

enum outcome baremetal_read_uuid(struct call *call, const char *name, struct str value, struct uuid *uuid)
{
	if (uuid_parse(value, uuid))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_PARAMETER, "Expected UUID for %s: %.*s", name, STR_HEAD_ARG(value, BAREMETAL_SHOWN));
}

static enum outcome by_text(struct listing *listing, const struct filter *filter, struct str value)
{
	return add_condition(listing, filter->member, SEARCH_IS, value);
}

static enum outcome by_part(struct listing *listing, const struct filter *filter, struct str value)
{
	return add_condition(listing, filter->member, SEARCH_CONTAINS, value);
}

static enum outcome by_word(struct listing *listing, const struct filter *filter, struct str value)
{
	struct buf known = buf_new(listing->call->pool, 256);

	if (baremetal_among(filter->words, value))
		return add_condition(listing, filter->member, SEARCH_IS, value);
	for (const char *const *word = filter->words; *word != NULL; word++)
		buf_addf(&known, "%s%s", word == filter->words ? "" : ", ", *word);
	return call_fail(listing->call, OUTCOME_BAD_PARAMETER, "%s \"%.*s\" is not valid: it is one of %.*s", filter->name,
		STR_HEAD_ARG(value, BAREMETAL_SHOWN), STR_ARG(known));
}

static enum outcome by_flag(struct listing *listing, const struct filter *filter, struct str value)
{
	bool flag;
	enum outcome outcome = read_bool(listing->call, filter->name, value, &flag);

	if (outcome != OUTCOME_OK)
		return outcome;
	return add_condition(listing, filter->member, flag ? SEARCH_TRUE : SEARCH_FALSE, STR_NONE);
}

static enum outcome by_presence(struct listing *listing, const struct filter *filter, struct str value)
{
	bool present;
	enum outcome outcome = read_bool(listing->call, filter->name, value, &present);

	if (outcome != OUTCOME_OK)
		return outcome;
	return add_condition(listing, filter->member, present ? SEARCH_NOT_NULL : SEARCH_NULL, STR_NONE);
}

// The names of shards, comma-separated, as a JSON array.
static struct str read_shards(struct call *call, struct str value)
{
	struct buf list = buf_new(call->pool, value.n + 16);
	struct str name;

	buf_addc(&list, '[');
	while (str_split(&value, ',', &name)) {
		if (str_trim(name).n == 0)
			continue;
		if (list.n > 1)
			buf_addc(&list, ',');
		json_add_string(&list, str_trim(name));
	}
	buf_addc(&list, ']');
	return buf_str(&list);
}

static enum outcome by_shard(struct listing *listing, const struct filter *filter, struct str value)
{
	return add_condition(listing, filter->member, SEARCH_AMONG, read_shards(listing->call, value));
}

// A port is in the shard of its node.
static enum outcome by_shard_of_node(struct listing *listing, const struct filter *filter, struct str value)
{
	listing->search.top_member = filter->member;
	listing->search.top_among = read_shards(listing->call, value);
	return OUTCOME_OK;
}

// Conductor groups are stored in lower case.
static enum outcome by_group(struct listing *listing, const struct filter *filter, struct str value)
{
	return add_condition(listing, filter->member, SEARCH_IS, ascii_lowered(listing->call->pool, value));
}

// One host is the conductor of all nodes.
static enum outcome by_conductor(struct listing *listing, const struct filter *filter, struct str value)
{
	UNUSED(filter);
	listing->none = listing->none || !str_eq(value, baremetal_host(listing->call));
	return OUTCOME_OK;
}

// Objects of the system tenant have no owner for clients, so that name matches nothing.
static enum outcome by_owner(struct listing *listing, const struct filter *filter, struct str value)
{
	struct str *tenant = &listing->search.tenant;

	UNUSED(filter);
	if (str_eq(value, STR(TENANT_SYSTEM)) || (tenant->p != NULL && !str_eq(value, *tenant)))
		listing->none = true;
	*tenant = value;
	return OUTCOME_OK;
}

// The same, but a tenant may not even ask for the allocations of others.
static enum outcome by_owner_of_allocation(struct listing *listing, const struct filter *filter, struct str value)
{
	struct call *call = listing->call;
	struct str visible = baremetal_visible_tenant(call);

	if (visible.p != NULL && !str_eq(value, visible))
		return call_fail(call, OUTCOME_FORBIDDEN, "owner: you see the allocations of your own tenant alone");
	return by_owner(listing, filter, value);
}

// Finds the nodes that a project owns or leases. A tenant sees none but its own nodes, also those that another tenant leases.
static enum outcome by_project(struct listing *listing, const struct filter *filter, struct str value)
{
	return add_condition(listing, filter->member, str_eq(value, STR(TENANT_SYSTEM)) ? SEARCH_IS : SEARCH_CONCERNS, value);
}

static enum outcome by_instance(struct listing *listing, const struct filter *filter, struct str value)
{
	struct uuid uuid;
	enum outcome outcome = baremetal_read_uuid(listing->call, filter->name, value, &uuid);

	if (outcome != OUTCOME_OK)
		return outcome;
	value = uuid_str(listing->call->pool, uuid);
	return add_key(listing, "instance", value, filter->member, value);
}

// Tenants see no chassis, so for them a chassis that does not exist is like one without nodes.
static enum outcome by_chassis(struct listing *listing, const struct filter *filter, struct str value)
{
	struct call *call = listing->call;
	struct resource chassis;
	struct uuid uuid;
	enum outcome outcome = baremetal_read_uuid(call, filter->name, value, &uuid);

	if (outcome == OUTCOME_OK && baremetal_visible_tenant(call).p == NULL)
		outcome = kind_find(call, &chassis_kind, value, &chassis);
	return outcome == OUTCOME_OK ? add_reference(listing, "chassis", filter->member, &uuid) : outcome;
}

static enum outcome by_node(struct listing *listing, const struct filter *filter, struct str value)
{
	struct call *call = listing->call;
	struct resource node;
	struct uuid uuid;

	UNUSED(filter);
	if (call->version < SINCE_NODE_NAMES && baremetal_name_ok(value) && !uuid_parse(value, &uuid))
		return baremetal_fail_too_new(call, "the parameter node with a name", SINCE_NODE_NAMES);
	enum outcome outcome = kind_find(call, &node_kind, value, &node);
	return outcome == OUTCOME_OK ? set_root(listing, &node.uid) : outcome;
}

// The same as by_node(), but if there is no such node the answer is 400 instead of 404.
static enum outcome by_allocated_node(struct listing *listing, const struct filter *filter, struct str value)
{
	enum outcome outcome = by_node(listing, filter, value);

	return outcome == OUTCOME_NOT_FOUND ? OUTCOME_BAD_PARAMETER : outcome;
}

static enum outcome by_node_uuid(struct listing *listing, const struct filter *filter, struct str value)
{
	struct uuid uuid;
	enum outcome outcome = baremetal_read_uuid(listing->call, filter->name, value, &uuid);

	return outcome == OUTCOME_OK ? by_node(listing, filter, value) : outcome;
}

static enum outcome by_address(struct listing *listing, const struct filter *filter, struct str value)
{
	struct str mac = baremetal_mac(listing->call->pool, value);

	if (mac.p == NULL)
		return call_fail(listing->call, OUTCOME_BAD_PARAMETER,
			"Expected valid MAC address for %s: %.*s; six pairs of hexadecimal digits with colons are one",
			filter->name, STR_HEAD_ARG(value, BAREMETAL_SHOWN));
	return add_key(listing, "address", mac, filter->member, mac);
}

static enum outcome by_portgroup(struct listing *listing, const struct filter *filter, struct str value)
{
	struct resource group;
	enum outcome outcome = kind_find(listing->call, &portgroup_kind, value, &group);

	return outcome == OUTCOME_OK ? add_reference(listing, "portgroup", filter->member, &group.uid) : outcome;
}

// Ironic takes description_contains, retired and project in every version, although the members that they look at came later.
static const struct filter node_filters[] = {
	{ "chassis_uuid", 1, by_chassis, "chassis_uuid", NULL },
	{ "instance_uuid", 1, by_instance, "instance_uuid", NULL },
	{ "associated", 1, by_presence, "instance_uuid", NULL },
	{ "maintenance", 1, by_flag, "maintenance", NULL },
	{ "provision_state", 9, by_word, "provision_state", baremetal_provision_states },
	{ "driver", 16, by_text, "driver", NULL },
	{ "resource_class", 21, by_text, "resource_class", NULL },
	{ "fault", 42, by_word, "fault", baremetal_faults },
	{ "conductor_group", 46, by_group, "conductor_group", NULL },
	{ "conductor", 49, by_conductor, NULL, NULL },
	{ "owner", 50, by_owner, NULL, NULL },
	{ "description_contains", 1, by_part, "description", NULL },
	{ "retired", 1, by_flag, "retired", NULL },
	{ "lessee", 65, by_text, "lessee", NULL },
	{ "project", 1, by_project, "lessee", NULL },
	{ "shard", 82, by_shard, "shard", NULL },
	{ "sharded", 82, by_presence, "shard", NULL },
	{ NULL, 0, NULL, NULL, NULL },
};
static const struct filter port_filters[] = {
	{ "node", 1, by_node, NULL, NULL },
	{ "node_uuid", 1, by_node_uuid, NULL, NULL },
	{ "address", 1, by_address, "address", NULL },
	{ "portgroup", 24, by_portgroup, "portgroup_uuid", NULL },
	{ "shard", 82, by_shard_of_node, "shard", NULL },
	{ NULL, 0, NULL, NULL, NULL },
};
static const struct filter portgroup_filters[] = {
	{ "node", 23, by_node, NULL, NULL },
	{ "address", 23, by_address, "address", NULL },
	{ NULL, 0, NULL, NULL, NULL },
};
static const struct filter volume_filters[] = {
	{ "node", 32, by_node, NULL, NULL },
	{ NULL, 0, NULL, NULL, NULL },
};
static const struct filter allocation_filters[] = {
	{ "node", 52, by_allocated_node, NULL, NULL },
	{ "resource_class", 52, by_text, "resource_class", NULL },
	{ "state", 52, by_text, "state", NULL },
	{ "owner", 60, by_owner_of_allocation, NULL, NULL },
	{ NULL, 0, NULL, NULL, NULL },
};
static const struct filter no_filters[] = {
	{ NULL, 0, NULL, NULL, NULL },
};

static const struct filter *filters_of(const struct kind *kind)
{
	static const struct {
		const struct kind *kind;
		const struct filter *filters;
	} all[] = {
		{ &node_kind, node_filters }, { &port_kind, port_filters }, { &portgroup_kind, portgroup_filters },
		{ &chassis_kind, no_filters },
		{ &volume_connector_kind, volume_filters }, { &volume_target_kind, volume_filters },
		{ &deploy_template_kind, no_filters },
		{ &allocation_kind, allocation_filters },
	};
	size_t i = 0;

	while (all[i].kind != kind)
		i++;
	return all[i].filters;
}

static enum outcome apply_filters(struct listing *listing)
{
	struct call *call = listing->call;
	enum outcome outcome = OUTCOME_OK;

	for (const struct filter *filter = filters_of(listing->kind); outcome == OUTCOME_OK && filter->name != NULL; filter++) {
		struct str value = call_param(call, filter->name);
		// The address may have a parameter of the same name, which is not a filter.
		if (value.p == NULL || !route_declares(call->match.method, str_c(filter->name)))
			continue;
		if (call->version < filter->since)
			return baremetal_fail_too_new(call, str_printf(call->pool, "the parameter %s", filter->name).p,
				filter->since);
		outcome = filter->apply(listing, filter, value);
	}
	return outcome;
}

// Lists only what is below the object of that kind that the address names.
static enum outcome apply_parent(struct listing *listing, const struct kind *parent)
{
	struct resource resource;
	enum outcome outcome = kind_find(listing->call, parent, call_param(listing->call, parent->singular), &resource);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (parent == &node_kind)
		return set_root(listing, &resource.uid);
	return add_reference(listing, parent->singular, parent == &chassis_kind ? "chassis_uuid" : "portgroup_uuid",
		&resource.uid);
}

// ---- fields, order, page

static enum outcome select_columns(struct listing *listing, enum list_detail preset)
{
	struct call *call = listing->call;
	struct str fields = call_param(call, "fields"), text = call_param(call, "detail");
	bool detail = preset == LIST_IN_DETAIL;
	enum outcome outcome = OUTCOME_OK;

	if (text.p != NULL && call->version < listing->kind->detail_since)
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"Invalid query parameter detail: it came with version 1.%u, and version 1.%u is asked for", listing->kind->detail_since,
			call->version);
	if (text.p != NULL)
		outcome = read_bool(call, "detail", text, &detail);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (fields.p != NULL && detail)
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"Can't fetch a subset of fields with 'detail' set: ask for one of them");
	if (fields.p != NULL)
		return baremetal_select_fields(call, listing->kind, fields, true, &listing->selection);
	listing->selection = detail ? baremetal_select_all(call, listing->kind) : baremetal_select_brief(call, listing->kind);
	return OUTCOME_OK;
}

// Is the member's value a plain one, by which a list can be sorted?
static bool is_plain(const struct kind *kind, const struct kind_member *member)
{
	const struct baremetal_member *stored = baremetal_member(kind->body, str_c(member->name));

	if (member->source == FROM_BODY)
		return stored != NULL && stored->kind != BAREMETAL_OBJECT && stored->kind != BAREMETAL_ARRAY;
	return member->source == FROM_UID || member->source == FROM_CREATED || member->source == FROM_UPDATED ||
		member->source == FROM_TENANT;
}

static bool is_number(const struct kind *kind, const struct kind_member *member)
{
	const struct baremetal_member *stored = baremetal_member(kind->body, str_c(member->name));

	return member->source == FROM_BODY && stored != NULL && stored->kind == BAREMETAL_INTEGER;
}

enum outcome baremetal_read_direction(struct call *call, bool *descending)
{
	struct str dir = call_param(call, "sort_dir");

	*descending = str_eq(dir, STR("desc"));
	if (dir.p == NULL || *descending || str_eq(dir, STR("asc")))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_PARAMETER, "Invalid sort direction: %.*s. Acceptable values are 'asc' or 'desc'",
		STR_HEAD_ARG(dir, BAREMETAL_SHOWN));
}

static enum outcome read_order(struct listing *listing)
{
	struct call *call = listing->call;
	struct str key = call_param(call, "sort_key");
	const struct kind_member *member = kind_member(listing->kind, key);
	enum outcome outcome = baremetal_read_direction(call, &listing->search.descending);

	if (outcome != OUTCOME_OK || key.p == NULL || str_eq(key, STR("id")))
		return outcome;
	if (member == NULL || !is_plain(listing->kind, member))
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"The sort_key value \"%.*s\" is an invalid field for sorting: it has to be \"id\", or a member of %s %s that "
			"is a plain value",
			STR_HEAD_ARG(key, BAREMETAL_SHOWN), baremetal_article(listing->kind->singular), listing->kind->singular);
	if (member->named_since > call->version)
		return baremetal_fail_too_new(call, member->name, member->named_since);
	listing->search.sort = member->name;
	listing->search.sorts_numbers = is_number(listing->kind, member);
	return OUTCOME_OK;
}

// A limit above the largest page is no error; the WADL has refused texts that are not numbers.
uint64_t baremetal_page_limit(struct call *call)
{
	struct str limit = call_param(call, "limit");
	uint64_t n = LIMIT_MOST;

	if (limit.p != NULL && (!str_to_u64(limit, &n) || n > LIMIT_MOST))
		n = LIMIT_MOST;
	return n;
}

static enum outcome read_page(struct listing *listing)
{
	struct call *call = listing->call;
	struct str marker = call_param(call, "marker");

	listing->search.limit = baremetal_page_limit(call);
	if (marker.p == NULL)
		return OUTCOME_OK;
	listing->search.marker = &listing->marker;
	return baremetal_read_uuid(call, "marker", marker, &listing->marker);
}

// ---- writing the answer

struct str baremetal_next_url(struct call *call, uint64_t limit, struct str marker)
{
	const struct uri *uri = &call->request.uri;
	struct buf path = buf_new(call->pool, 256);
	size_t i = 0;

	while (!str_eq(uri->segments[i], STR("v1"))) {
		i++;
		assert(i < uri->n_segments); // the addresses of all lists have it
	}
	for (; i < uri->n_segments; i++) {
		buf_addc(&path, '/');
		uri_add_segment(&path, uri->segments[i]);
	}
	buf_addf(&path, "?limit=%llu", (unsigned long long)limit);
	for (i = 0; i < uri->n_pairs; i++) {
		if (str_eq(uri->pairs[i].name, STR("limit")) || str_eq(uri->pairs[i].name, STR("marker")))
			continue;
		buf_addc(&path, '&');
		uri_add_value(&path, uri->pairs[i].name);
		buf_addc(&path, '=');
		uri_add_value(&path, uri->pairs[i].value);
	}
	BUF_LIT(&path, "&marker=");
	uri_add_value(&path, marker);
	return baremetal_url(call, buf_str(&path));
}

static void begin_list(struct listing *listing)
{
	struct call *call = listing->call;

	response_unspill(&call->response); // the transaction, and with it the handler, may run again
	listing->out = buf_new(call->pool, 4096);
	buf_addf(&listing->out, "{\"%s\":[", listing->kind->plural);
}

static bool is_full(const struct listing *listing)
{
	uint64_t most = listing->call->response.no_spill ? ANSWER_MAX_HELD : ANSWER_MAX_BYTES;

	return listing->spilled + listing->out.n >= most;
}

// The visit's take(): writes the next objects, as long as the answer is not too large. The first one is written in any case, so
// that each page leads on. By the mebibyte, what is written goes into the response's file.
static size_t add_objects(void *arg, const struct resource *list, size_t n)
{
	struct listing *listing = arg;
	struct call *call = listing->call;
	struct buf *out = &listing->out;
	size_t i = 0;

	for (; i < n && (listing->n == 0 || !is_full(listing)); i++) {
		if (listing->n++ > 0)
			buf_addc(out, ',');
		baremetal_add_object(call, &listing->selection, &list[i], out);
		listing->last = list[i].uid;
		if (out->n > SPILL_BYTES && !call->response.no_spill)
			listing->spilled = response_spill(&call->response, out);
	}
	return i;
}

static void end_list(struct listing *listing, bool more)
{
	struct call *call = listing->call;
	struct buf *out = &listing->out;

	buf_addc(out, ']');
	if (more) {
		BUF_LIT(out, ",\"next\":");
		json_add_string(out, baremetal_next_url(call, listing->search.limit, uuid_str(call->pool, listing->last)));
	}
	buf_addc(out, '}');
	call->response.body = buf_str(out);
	call->response.content_type = STR("application/json");
}

// Searches and writes the answer.
static enum outcome answer(struct listing *listing)
{
	struct call *call = listing->call;
	enum outcome outcome = OUTCOME_OK;
	bool more = false;

	begin_list(listing);
	if (!listing->none) {
		call->scratch = pool_scratch(call->pool, SIZE_MAX);
		const struct search_visit visit = { add_objects, listing, call->scratch };
		outcome = resource_search(call->registry, &listing->search, &visit, &more);
		call->scratch = call->pool;
	}
	if (outcome != OUTCOME_OK)
		return outcome;
	// A tenant that was asked for by name has been found if it has one of these.
	if (listing->n > 0 && listing->search.tenant.p != NULL)
		registry_concerns(call->registry, listing->search.tenant);
	end_list(listing, more);
	return OUTCOME_OK;
}

enum outcome baremetal_list_objects(struct call *call, const struct kind *kind, const struct kind *parent, enum list_detail detail)
{
	struct listing listing = { .call = call, .kind = kind };

	assert(kind->rules != NULL && parent != kind);
	listing.search.type = type_with_rules(call->registry, kind->rules);
	listing.search.tenant = baremetal_visible_tenant(call);
	listing.search.marker_tenant = listing.search.tenant; // which by_owner() does not narrow
	if (listing.search.type == NULL)
		return OUTCOME_INTERNAL;
	enum outcome outcome = select_columns(&listing, detail);
	if (outcome == OUTCOME_OK)
		outcome = read_order(&listing);
	if (outcome == OUTCOME_OK)
		outcome = read_page(&listing);
	if (outcome == OUTCOME_OK && parent != NULL)
		outcome = apply_parent(&listing, parent);
	if (outcome == OUTCOME_OK)
		outcome = apply_filters(&listing);
	return outcome == OUTCOME_OK ? answer(&listing) : outcome;
}
