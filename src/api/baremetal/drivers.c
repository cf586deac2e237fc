// SPDX-License-Identifier: Apache-2.0
// Drivers and conductors: the drivers are those of the configuration, and this host stands for the only conductor. Shards: names
// by which conductors and other services divide the nodes among themselves. The nodes that are in no shard are listed, too, by
// the name null: no service of a shard works with them, so whoever divides the nodes looks for what was forgotten.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "base/ascii.h"
#include "base/config/config.h"
#include "base/pool.h"
#include "registry/resource/count_values.h"
#include "registry/type/type.h"

enum { // microversions
	SINCE_PROPERTIES = 14,
	SINCE_TYPE = 30, // default_ and enabled_ interfaces, and the parameters type and detail
	SINCE_FIELDS = 77,
};

// ---- fields

// Of drivers in a list; a single one has its interfaces as well.
static const char *const driver_fields[] = { "name", "hosts", "links", "properties", "type", NULL };
static const char *const conductor_fields[] = { "hostname", "conductor_group", "links", "alive", "created_at",
	"updated_at", "drivers", NULL };

// The parameter "fields", whose names may be in any case; p NULL: there is none.
static struct str read_fields(struct call *call)
{
	struct str fields = call_param(call, "fields");

	return fields.p != NULL ? ascii_lowered(call->pool, fields) : fields;
}

// The names of the document's members; ends with NULL.
static const char *const *member_names(struct pool *pool, const struct doc *doc)
{
	const char **names = POOL_ARRAY(pool, const char *, doc_length(doc) + 1);
	size_t n = 0;

	for (struct doc_iter it = doc_iter(doc); doc_next(&it);)
		names[n++] = str_cstr(pool, it.name);
	return names;
}

// Is the name in the comma-separated list?
static bool is_listed(struct str fields, const char *name)
{
	struct str item;

	while (str_split(&fields, ',', &item)) {
		if (str_eq_c(str_trim(item), name))
			return true;
	}
	return false;
}

// Does the parameter "fields" name only known fields?
static enum outcome check_fields(struct call *call, struct str fields, const char *const *known)
{
	struct str rest = fields, item;

	while (str_split(&rest, ',', &item)) {
		if (item.n > 0 && !baremetal_among(known, str_trim(item)))
			return call_fail(call, OUTCOME_BAD_PARAMETER, "Field(s) \"%.*s\" are not valid",
				STR_HEAD_ARG(item, BAREMETAL_SHOWN));
	}
	return OUTCOME_OK;
}

// Removes the members that were not requested; links always stay. fields p NULL: all were requested.
static void keep_fields(struct doc *doc, struct str fields, const char *const *known)
{
	for (; fields.p != NULL && *known != NULL; known++) {
		if (!is_listed(fields, *known) && strcmp(*known, "links") != 0)
			doc_remove(doc, str_c(*known));
	}
}

enum outcome baremetal_read_detail(struct call *call, bool *detail)
{
	struct str text = call_param(call, "detail");

	*detail = false;
	if (text.p == NULL || baremetal_bool(doc_new_string(call->pool, text), detail))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_PARAMETER, "Unrecognized value for detail: it must be true or false");
}

// ---- drivers

// The microversion that introduced an interface.
static unsigned interface_since(const char *interface)
{
	static const struct {
		const char *name;
		unsigned since;
	} later[] = { { "storage", 33 }, { "rescue", 38 }, { "bios", 40 } };

	for (size_t i = 0; i < COUNT_OF(later); i++) {
		if (strcmp(later[i].name, interface) == 0)
			return later[i].since;
	}
	return SINCE_TYPE;
}

static void add_interfaces(struct call *call, const struct baremetal_driver *driver, struct doc *doc)
{
	struct pool *pool = call->pool;

	for (const char *const *i = baremetal_interfaces; *i != NULL; i++) {
		if (call->version < interface_since(*i))
			continue;
		struct doc *enabled = doc_new_array(pool);
		for (const char *const *e = baremetal_driver_enabled(driver, *i); *e != NULL; e++)
			doc_push(enabled, doc_new_string(pool, str_c(*e)));
		doc_set_str(pool, doc, str_printf(pool, "default_%s_interface", *i).p, str_c(baremetal_driver_default(driver, *i)));
		doc_set(doc, str_printf(pool, "enabled_%s_interfaces", *i), enabled);
	}
}

static struct doc *driver_doc(struct call *call, const struct baremetal_driver *driver, bool detail)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool), *hosts = doc_new_array(pool);
	struct str path = str_printf(pool, "drivers/%.*s", STR_ARG(driver->name));

	doc_push(hosts, doc_new_string(pool, baremetal_host(call)));
	doc_set_str(pool, doc, "name", driver->name);
	doc_set(doc, STR("hosts"), hosts);
	doc_set(doc, STR("links"), baremetal_links(call, path));
	if (call->version >= SINCE_PROPERTIES)
		doc_set(doc, STR("properties"), baremetal_links(call, str_printf(pool, "%.*s/properties", STR_ARG(path))));
	if (call->version >= SINCE_TYPE)
		doc_set_str(pool, doc, "type", STR("dynamic"));
	if (detail && call->version >= SINCE_TYPE)
		add_interfaces(call, driver, doc);
	return doc;
}

// *none: the request is for drivers of a type that there are none of.
static enum outcome read_driver_query(struct call *call, bool *detail, bool *none)
{
	struct str type = call_param(call, "type"), fields = read_fields(call);
	enum outcome outcome = baremetal_read_detail(call, detail);

	*none = str_eq(type, STR("classic"));
	if (call->version < SINCE_TYPE && type.p != NULL)
		return baremetal_fail_too_new(call, "the parameter type", SINCE_TYPE);
	if (call->version < SINCE_TYPE && call_param(call, "detail").p != NULL)
		return baremetal_fail_too_new(call, "the parameter detail", SINCE_TYPE);
	if (call->version < SINCE_FIELDS && fields.p != NULL)
		return baremetal_fail_too_new(call, "the parameter fields", SINCE_FIELDS);
	if (outcome == OUTCOME_OK && *detail && fields.p != NULL)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "Can't fetch a subset of fields with detail: ask for one of them");
	return outcome == OUTCOME_OK ? check_fields(call, fields, driver_fields) : outcome;
}

enum outcome list_drivers(struct call *call)
{
	struct doc *doc = doc_new_object(call->pool), *list = doc_new_array(call->pool);
	struct baremetal_driver *drivers;
	size_t n = baremetal_drivers(call->config, call->pool, &drivers);
	bool detail, none;
	enum outcome outcome = read_driver_query(call, &detail, &none);

	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < n && !none; i++) {
		struct doc *item = driver_doc(call, &drivers[i], detail);
		keep_fields(item, read_fields(call), driver_fields);
		doc_push(list, item);
	}
	doc_set(doc, STR("drivers"), list);
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}

enum outcome baremetal_find_driver(struct call *call, struct baremetal_driver *driver)
{
	struct str name = call_param(call, "driver");

	if (baremetal_driver_find(call->config, name, driver))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_NOT_FOUND,
		"Could not find the following driver(s) or hardware type(s): %.*s. /v1/drivers lists those there are",
		STR_HEAD_ARG(name, BAREMETAL_SHOWN));
}

enum outcome get_driver(struct call *call)
{
	struct str fields = read_fields(call);
	struct baremetal_driver driver;
	enum outcome outcome = baremetal_find_driver(call, &driver);

	if (outcome == OUTCOME_OK && fields.p != NULL && call->version < SINCE_FIELDS)
		outcome = baremetal_fail_too_new(call, "the parameter fields", SINCE_FIELDS);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *doc = driver_doc(call, &driver, true);
	const char *const *members = member_names(call->pool, doc);
	outcome = check_fields(call, fields, members);
	if (outcome != OUTCOME_OK)
		return outcome;
	keep_fields(doc, fields, members);
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}

// The properties that a driver needs in driver_info: none, since nothing here drives a node.
enum outcome get_driver_properties(struct call *call)
{
	struct baremetal_driver driver;
	enum outcome outcome = baremetal_find_driver(call, &driver);

	if (outcome == OUTCOME_OK)
		baremetal_write_json(call, doc_new_object(call->pool));
	return outcome;
}

// ---- conductors

static struct doc *driver_names(struct call *call)
{
	struct baremetal_driver *drivers;
	size_t n = baremetal_drivers(call->config, call->pool, &drivers);
	struct doc *list = doc_new_array(call->pool);

	for (size_t i = 0; i < n; i++)
		doc_push(list, doc_new_string(call->pool, drivers[i].name));
	return list;
}

static struct doc *conductor_doc(struct call *call, struct str host, bool detail)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "hostname", host);
	doc_set_str(pool, doc, "conductor_group", STR(""));
	doc_set(doc, STR("links"), baremetal_links(call, str_printf(pool, "conductors/%.*s", STR_ARG(host))));
	doc_set(doc, STR("alive"), doc_new_bool(pool, true));
	if (detail) {
		doc_set(doc, STR("created_at"), NULL);
		doc_set(doc, STR("updated_at"), NULL);
		doc_set(doc, STR("drivers"), driver_names(call));
	}
	return doc;
}

static enum outcome fail_no_conductor(struct call *call, struct str name)
{
	return call_fail(call, OUTCOME_NOT_FOUND, "Conductor %.*s could not be found.", STR_HEAD_ARG(name, BAREMETAL_SHOWN));
}

// Order and page of a list that has the one conductor. *behind: the page begins behind it, so that it is empty.
static enum outcome read_conductor_page(struct call *call, bool *behind)
{
	static const char *const sort_keys[] = { "id", "hostname", "conductor_group", "created_at", "updated_at", NULL };
	struct str key = call_param(call, "sort_key"), marker = call_param(call, "marker");
	bool descending;
	enum outcome outcome = baremetal_read_direction(call, &descending);

	*behind = marker.p != NULL;
	if (outcome != OUTCOME_OK)
		return outcome;
	if (key.p != NULL && !baremetal_among(sort_keys, key))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "The sort_key value \"%.*s\" is an invalid field for sorting",
			STR_HEAD_ARG(key, BAREMETAL_SHOWN));
	return *behind && !str_eq(marker, baremetal_host(call)) ? fail_no_conductor(call, marker) : OUTCOME_OK;
}

// A page of one has a next one, as Ironic's has. Without it, openstacksdk asks for the next page by the id of the last item,
// which a conductor does not have.
enum outcome list_conductors(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool), *list = doc_new_array(pool);
	struct str fields = read_fields(call);
	bool detail, behind;
	enum outcome outcome = baremetal_read_detail(call, &detail);

	if (outcome == OUTCOME_OK && detail && fields.p != NULL)
		outcome = call_fail(call, OUTCOME_BAD_PARAMETER,
			"Can't fetch a subset of fields with detail: ask for one of them");
	if (outcome == OUTCOME_OK)
		outcome = check_fields(call, fields, conductor_fields);
	if (outcome == OUTCOME_OK)
		outcome = read_conductor_page(call, &behind);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (!behind) {
		struct doc *item = conductor_doc(call, baremetal_host(call), detail || fields.p != NULL);
		keep_fields(item, fields, conductor_fields);
		doc_push(list, item);
	}
	doc_set(doc, STR("conductors"), list);
	if (!behind && baremetal_page_limit(call) == 1)
		doc_set_str(pool, doc, "next", baremetal_next_url(call, 1, baremetal_host(call)));
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}

enum outcome get_conductor(struct call *call)
{
	struct str host = baremetal_host(call), asked = call_param(call, "conductor"), fields = read_fields(call);
	enum outcome outcome = check_fields(call, fields, conductor_fields);

	if (outcome == OUTCOME_OK && !str_eq(asked, host))
		outcome = fail_no_conductor(call, asked);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *doc = conductor_doc(call, host, true);
	keep_fields(doc, fields, conductor_fields);
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}

// ---- shards

enum outcome list_shards(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool), *list = doc_new_array(pool);
	const struct type *type = type_with_rules(call->registry, node_kind.rules);
	struct value_counts *shards;
	size_t n;
	enum outcome outcome = resource_count_values(call->registry, type, baremetal_visible_tenant(call), "shard", &shards, &n);

	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < n; i++) {
		struct doc *item = doc_new_object(pool);
		doc_set(item, STR("name"), shards[i].value.p != NULL ? doc_new_string(pool, shards[i].value) : NULL);
		doc_set_u64(pool, item, "count", shards[i].n);
		doc_push(list, item);
	}
	doc_set(doc, STR("shards"), list);
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}
