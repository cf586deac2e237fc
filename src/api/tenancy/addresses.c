// SPDX-License-Identifier: Apache-2.0
// Addresses: converts the route's parameters to those of the registry, and these to paths.
#include "base/base.h"

#include "api/tenancy/tenancy.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/resource/resource.h"
#include "registry/type/definition.h"
#include "registry/type/type.h"

static const struct words vocabularies[] = {
	{ "v1.0", "account", "accounts", "X-Account-", 1 },
	{ "v2.0", "tenant", "tenants", "X-Tenant-", 2 },
};

const struct words *call_vocabulary(const struct call *call)
{
	struct str version = call_param(call, "version");

	return str_eq_c(version, vocabularies[0].version) ? &vocabularies[0] : &vocabularies[1];
}

// Resources of a type that the tenant no longer has a definition for can still be reached by the type's full name.
static enum outcome read_type(struct call *call, struct str plural, struct address *address)
{
	const struct definition *definition;
	size_t dot = str_find(plural, '.', 0);
	enum outcome outcome = definition_named(call->registry, address->tenant, plural, &definition);

	if (outcome == OUTCOME_OK)
		address->type = definition->type;
	if (outcome != OUTCOME_NOT_FOUND || dot == plural.n)
		return outcome;
	// A list may be of all namespaces.
	const struct type *type = type_kept(call->registry, address->tenant, str_part(plural, dot + 1, plural.n),
		str_part(plural, 0, dot), address->space.n > 0, address->space.n == 0 && address->name.p == NULL);
	if (type == NULL)
		return outcome;
	address->type = type;
	return OUTCOME_OK;
}

// plural p NULL: a namespace. space p NULL: no namespace. name p NULL: of all names.
static enum outcome make_address(struct call *call, struct str plural, struct str space, struct str name, struct address *address)
{
	*address = (struct address){
		.tenant = call_param(call, "tenant"),
		.space = space.p != NULL ? space : STR(""),
		.name = name,
		.type = type_namespaces(call->registry),
	};
	enum outcome outcome = plural.p != NULL ? read_type(call, plural, address) : OUTCOME_OK;
	if (outcome != OUTCOME_OK)
		return outcome;
	if (space.p != NULL && !address->type->namespaced)
		return call_fail(call, OUTCOME_NOT_FOUND, "%.*s stand in no namespace: leave out \"namespaces/%.*s/\"",
			STR_ARG(plural), STR_ARG(space));
	if (space.p == NULL && address->type->namespaced && address->name.p != NULL)
		return call_fail(call, OUTCOME_NOT_FOUND,
			"%.*s stand in a namespace: put \"namespaces/\" and its name, such as \"default\", in front",
			STR_ARG(plural));
	return OUTCOME_OK;
}

enum outcome address_read(struct call *call, struct address *address)
{
	return make_address(call, call_param(call, "plural"), call_param(call, "namespace"), call_param(call, "name"), address);
}

bool address_split_path(struct str path, struct str *plural, struct str *space, struct str *name)
{
	struct str parts[4], rest = path;
	size_t n = 0;
	bool good = true;

	while (n < COUNT_OF(parts) && str_split(&rest, '/', &parts[n]))
		good = parts[n++].n > 0 && good;
	if (!good || rest.n > 0 || (n != 2 && n != 4) || (n == 4 && !str_eq(parts[0], STR("namespaces"))))
		return false;
	*plural = parts[n - 2];
	*space = n == 4 ? parts[1] : STR_NONE;
	*name = parts[n - 1];
	return true;
}

enum outcome address_read_path(struct call *call, struct str path, struct address *address)
{
	struct str plural, space, name;

	if (!address_split_path(path, &plural, &space, &name))
		return call_fail(call, OUTCOME_BAD_PARAMETER, ADDRESS_PATH_FORM);
	return make_address(call, plural, space, name, address);
}

static void add_part(struct buf *path, struct str part)
{
	buf_addc(path, '/');
	uri_add_segment(path, part);
}

struct str tenant_path(struct call *call, struct str tenant)
{
	struct buf path = buf_new(call->pool, 64);

	buf_addc(&path, '/');
	buf_add(&path, str_c(call_vocabulary(call)->version));
	add_part(&path, tenant);
	return buf_str(&path);
}

void tenancy_keep_params(const struct call *call, const char *const *names, size_t n, struct buf *url)
{
	for (size_t i = 0; i < n; i++) {
		struct str value = call_param(call, names[i]);
		if (value.p == NULL)
			continue;
		buf_addf(url, "&%s=", names[i]);
		uri_add_value(url, value);
	}
}

struct str tenancy_next_url(struct call *call, struct str path, uint64_t limit, struct str marker)
{
	struct buf url = buf_new(call->pool, 128);

	assert(limit > 0 && marker.p != NULL);
	buf_add(&url, path);
	buf_addf(&url, "?limit=%llu&marker=", (unsigned long long)limit);
	uri_add_value(&url, marker);
	return call_url(call, buf_str(&url));
}

struct str address_path(struct call *call, struct str tenant, const struct type *type, struct str space, struct str name)
{
	struct buf path = buf_new(call->pool, 128);

	assert(type != NULL);
	buf_add(&path, tenant_path(call, tenant));
	if (space.n > 0) {
		BUF_LIT(&path, "/namespaces");
		add_part(&path, space);
	}
	add_part(&path, type_name(call->pool, type));
	add_part(&path, name);
	return buf_str(&path);
}

// May the caller read resources of that tenant?
static bool may_read(const struct call *call, struct str tenant)
{
	// p NULL: the tenant of a resource that no longer exists is not known.
	struct realm realm = tenant.p != NULL ? realm_of_tenant(tenant) : (struct realm){ .kind = REALM_NONE };

	return principal_may_read(&call->who, ROLE_READER, realm) == OUTCOME_OK;
}

enum outcome tenancy_answer_moved(struct call *call, enum outcome outcome, const struct address *address,
	const struct resource *resource, struct str suffix)
{
	if (outcome != OUTCOME_MOVED && outcome != OUTCOME_GONE)
		return outcome;
	if (!str_eq(resource->tenant, address->tenant) && !may_read(call, resource->tenant)) {
		struct str path = resource_path(call->pool, address->type, address->space, address->name);
		return call_fail(call, OUTCOME_NOT_FOUND, "there is no %.*s", STR_ARG(path));
	}
	if (outcome == OUTCOME_GONE)
		return outcome;
	struct buf path = buf_new(call->pool, 256);
	buf_add(&path, address_path(call, resource->tenant, resource->type, resource->space, resource->name));
	buf_add(&path, suffix);
	response_set(&call->response, "Location", call_url(call, buf_str(&path)));
	return OUTCOME_MOVED;
}

enum outcome tenancy_may_make_lasting(struct call *call)
{
	return !call->who.is_lent ? OUTCOME_OK : call_fail(call, OUTCOME_FORBIDDEN,
		"tokens and webhooks would outlive your credential: a restricted application credential or a trust makes none");
}
