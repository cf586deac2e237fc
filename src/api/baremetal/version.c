// SPDX-License-Identifier: Apache-2.0
// Microversions, and the documents at the root that list them.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "base/pool.h"

#define ASKED "X-OpenStack-Ironic-API-Version"
#define MINIMUM "X-OpenStack-Ironic-API-Minimum-Version"
#define MAXIMUM "X-OpenStack-Ironic-API-Maximum-Version"

enum { VERSION_SHOWN = 32 }; // bytes of a client's version that an error repeats

// ---- the request's version

static struct str version_text(struct call *call, unsigned minor)
{
	struct buf text = buf_new(call->pool, 8);

	BUF_LIT(&text, "1.");
	buf_add_u64(&text, minor);
	return buf_str(&text);
}

static void add_range(struct call *call)
{
	response_add(&call->response, MINIMUM, version_text(call, VERSION_MIN));
	response_add(&call->response, MAXIMUM, version_text(call, VERSION_MAX));
}

static enum outcome read_version(struct call *call)
{
	struct str text = str_trim(request_header(&call->request, "x-openstack-ironic-api-version"));
	uint64_t major = 1, minor = VERSION_MIN;

	if (str_eq_nocase(text, STR("latest")))
		minor = VERSION_MAX;
	else if (text.n > 0 && !call_parse_version(text, &major, &minor))
		return call_fail(call, OUTCOME_NOT_ACCEPTABLE,
			"Invalid value for " ASKED " header: it must be \"latest\" or a version from 1.%d to 1.%d", VERSION_MIN,
			VERSION_MAX);
	if (major == 1 && minor >= VERSION_MIN && minor <= VERSION_MAX) {
		call->version = (unsigned)minor;
		return OUTCOME_OK;
	}
	add_range(call);
	return call_fail(call, OUTCOME_NOT_ACCEPTABLE,
		"Version %.*s was requested but %s not supported by this service. The supported version range is: "
		"[1.%d, 1.%d].",
		STR_HEAD_ARG(text, VERSION_SHOWN), major == 1 ? "the minor version is" : "is", VERSION_MIN, VERSION_MAX);
}

// ---- entering and leaving

static bool runs(const struct route_method *method, handler_fn *handler)
{
	return method != NULL && ((const struct endpoint *)method->handler)->run == handler;
}

// If the requested version is too old for this method, does the answer say so (406)? It does for traits and RAID; others are
// answered like an unknown address.
static bool names_version(const struct route_method *method)
{
	return runs(method, get_traits) || runs(method, put_traits) || runs(method, put_trait) ||
		runs(method, delete_traits) || runs(method, delete_trait) || runs(method, set_raid) ||
		runs(method, get_logical_disk_properties);
}

// What the method changes, if versions that don't have it refuse the method (405), while reading is answered like an unknown
// address; else NULL.
static const char *what_changes(const struct route_method *method)
{
	if (runs(method, create_deploy_template) || runs(method, patch_deploy_template) || runs(method, delete_deploy_template) ||
		strcmp(method->id, "deleteDeployTemplates") == 0)
		return "deploy templates: they";
	if (runs(method, patch_allocation))
		return "updating allocations: that";
	if (runs(method, create_allocation) || runs(method, delete_allocation) || strcmp(method->id, "deleteAllAllocations") == 0)
		return "allocations: they";
	return NULL;
}

// The version is checked before the address. A method that the version does not have does not exist for it: the answer is that
// for an unknown address.
enum outcome baremetal_enter(struct call *call, enum outcome found)
{
	const struct route_method *method = call->match.method;

	if (runs(method, get_root))
		return found;
	enum outcome outcome = read_version(call);
	if (outcome != OUTCOME_OK) {
		call->match.method = NULL;
		return outcome;
	}
	if (found != OUTCOME_OK || call->version >= method->min_version)
		return found;
	if (names_version(method))
		return baremetal_fail_too_new(call, "this address", method->min_version);
	call->match.method = NULL;
	const char *changed = what_changes(method);
	if (changed != NULL)
		return call_fail(call, OUTCOME_METHOD_NOT_ALLOWED,
			"The API version does not allow %s came with version 1.%u, and version 1.%u is asked for", changed,
			method->min_version, call->version);
	return call_fail(call, OUTCOME_NOT_FOUND,
		"The resource could not be found: it came with version 1.%u, and version 1.%u is asked for", method->min_version,
		call->version);
}

void baremetal_leave(struct call *call)
{
	struct buf id = buf_new(call->pool, 48);

	BUF_LIT(&id, "req-");
	uuid_add(&id, call->request_id);
	response_add(&call->response, "Openstack-Request-Id", buf_str(&id));
	if (call->version == 0)
		return;
	add_range(call);
	response_add(&call->response, ASKED, version_text(call, call->version));
}

// ---- the documents

static struct doc *self_links(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *links = doc_new_array(pool), *self = doc_new_object(pool);

	doc_set_str(pool, self, "href", baremetal_url(call, STR("/v1/")));
	doc_set_str(pool, self, "rel", STR("self"));
	doc_push(links, self);
	return links;
}

static struct doc *version_doc(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "id", STR("v1"));
	doc_set(doc, STR("links"), self_links(call));
	doc_set_str(pool, doc, "status", STR("CURRENT"));
	doc_set_str(pool, doc, "min_version", version_text(call, VERSION_MIN));
	doc_set_str(pool, doc, "version", version_text(call, VERSION_MAX));
	return doc;
}

enum outcome get_root(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool), *versions = doc_new_array(pool);

	doc_push(versions, version_doc(call));
	doc_set_str(pool, doc, "name", STR("Tenure Bare Metal API"));
	doc_set_str(pool, doc, "description",
		STR("Bare-metal machines, their ports and their chassis as resources of tenants. No hardware is driven."));
	doc_set(doc, STR("default_version"), version_doc(call));
	doc_set(doc, STR("versions"), versions);
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}

// The collections below /v1/, and the versions that introduced them.
static const struct {
	const char *name;
	unsigned since;
} collections[] = {
	{ "chassis", 1 }, { "nodes", 1 }, { "ports", 1 }, { "portgroups", 23 }, { "volume", 32 }, { "drivers", 1 },
	{ "lookup", 22 }, { "heartbeat", 22 }, { "conductors", 49 }, { "allocations", 52 }, { "events", 54 },
	{ "deploy_templates", 55 }, { "shards", 82 },
};

static struct doc *v1_links(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *links = self_links(call), *described = doc_new_object(pool);

	doc_set_str(pool, described, "href", call_url(call, STR("/application.wadl")));
	doc_set_str(pool, described, "rel", STR("describedby"));
	doc_set_str(pool, described, "type", STR("application/vnd.sun.wadl+xml"));
	doc_push(links, described);
	return links;
}

enum outcome get_v1(struct call *call)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool), *types = doc_new_object(pool);

	doc_set_str(pool, doc, "id", STR("v1"));
	doc_set(doc, STR("links"), v1_links(call));
	doc_set_str(pool, types, "base", STR("application/json"));
	doc_set_str(pool, types, "type", STR("application/vnd.openstack.ironic.v1+json"));
	doc_set(doc, STR("media_types"), types);
	for (size_t i = 0; i < COUNT_OF(collections); i++) {
		if (collections[i].since <= call->version)
			doc_set(doc, str_c(collections[i].name),
				baremetal_links(call, str_printf(pool, "%s/", collections[i].name)));
	}
	doc_set(doc, STR("version"), version_doc(call));
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}
