// SPDX-License-Identifier: Apache-2.0
// Names of types, and paths of their objects.
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"

bool definition_has_identity(const struct definition *definition, const char *group, const char *plural)
{
	return str_eq_c(definition->type->group, group) && str_eq_c(definition->type->plural, plural);
}

bool definition_is_namespaced(const struct definition *definition)
{
	return definition->scope == SCOPE_NAMESPACED;
}

struct str type_group_version(struct pool *pool, struct str group, struct str version)
{
	return group.n == 0 ? version : str_joined(pool, group, '/', version);
}

struct str type_qualified_name(struct pool *pool, const struct definition *definition)
{
	const struct type *type = definition->type;

	if (type->group.n == 0)
		return type->plural;
	return str_joined(pool, type->plural, '.', type->group);
}

static void add_part(struct buf *path, struct str part)
{
	buf_addc(path, '/');
	uri_add_segment(path, part);
}

struct str spaces_object_path(struct pool *pool, const struct definition *definition, const struct definition_version *version,
	struct str tenant, struct str space, struct str name)
{
	struct buf path = buf_new(pool, 128);
	struct str group = definition->type->group;

	buf_add(&path, group.n > 0 ? STR("/apis") : STR("/api"));
	if (group.n > 0)
		add_part(&path, group);
	add_part(&path, version->name);
	if (tenant.n > 0 && definition->scope != SCOPE_CLUSTER && !str_eq_c(tenant, TENANT_SYSTEM)) {
		BUF_LIT(&path, "/tenants");
		add_part(&path, tenant);
	}
	if (space.n > 0) {
		BUF_LIT(&path, "/namespaces");
		add_part(&path, space);
	}
	add_part(&path, definition->type->plural);
	if (name.p != NULL)
		add_part(&path, name);
	return buf_str(&path);
}
