// SPDX-License-Identifier: Apache-2.0
// The WADL files that ship: what each endpoint offers, to whom.
#include "base/base.h"

#include "base/buf.h"
#include "server/setup/dialects.h"
#include "wadl-files.h"

#define TENANT "/{version}/{tenant}"
#define SPACED TENANT "/namespaces/{namespace}/{plural}"
#define TRAITS(of, at)                                                                                               \
	{ "get" of "Traits", "GET", at "/traits", ROLE_READER, TXN_READ, true, "application/json" },                 \
	{ "put" of "Traits", "PUT", at "/traits", ROLE_MEMBER, TXN_WRITE, true, "application/json" },                \
	{ "put" of "Trait", "PUT", at "/traits/{trait}", ROLE_MEMBER, TXN_WRITE, true, NULL },                       \
	{ "delete" of "Trait", "DELETE", at "/traits/{trait}", ROLE_MEMBER, TXN_WRITE, true, NULL }

// The tenancy dialect. `users`: the service endpoint offers it.
static const struct call_row {
	const char *id, *method, *path;
	enum role role;
	enum txn_mode txn;
	bool users;
	const char *first_type; // NULL: no representation
} calls[] = {
	{ "getVersions", "GET", "/", ROLE_NONE, TXN_NONE, true, "application/json" },
	{ "getHealth", "GET", "/healthz", ROLE_NONE, TXN_READ, true, "application/json" },
	{ "getMetrics", "GET", "/metrics", ROLE_OPERATOR, TXN_NONE, false, "text/plain" },
	{ "getWadl", "GET", "/application.wadl", ROLE_NONE, TXN_NONE, true, "application/vnd.sun.wadl+xml" },
	{ "getSession", "GET", "/session", ROLE_READER, TXN_NONE, true, "application/json" },
	{ "postSession", "POST", "/session", ROLE_READER, TXN_WRITE, true, "application/json" },
	{ "deleteSession", "DELETE", "/session", ROLE_READER, TXN_WRITE, true, NULL },
	{ "listTenants", "GET", "/{version}", ROLE_OPERATOR, TXN_READ, false, "application/json" },
	{ "getTenant", "GET", TENANT, ROLE_READER, TXN_READ, false, "application/json" },
	{ "headTenant", "HEAD", TENANT, ROLE_READER, TXN_READ, false, NULL },
	{ "putTenant", "PUT", TENANT, ROLE_OPERATOR, TXN_WRITE, false, "application/json" },
	{ "patchTenant", "PATCH", TENANT, ROLE_OPERATOR, TXN_WRITE, false, "application/json" },
	{ "listChanges", "GET", TENANT "/changes", ROLE_READER, TXN_WRITE, true, "application/json" },
	{ "getUndo", "GET", TENANT "/changes/{request}/undo", ROLE_MEMBER, TXN_WRITE, true, "application/json" },
	{ "postUndo", "POST", TENANT "/changes/{request}/undo", ROLE_MEMBER, TXN_WRITE, true, "application/json" },
	{ "getResourceHistory", "GET", TENANT "/history", ROLE_READER, TXN_SNAPSHOT, true, "application/json" },
	{ "listAllChanges", "GET", "/{version}/all/changes", ROLE_OPERATOR, TXN_READ, false, "application/json" },
	{ "listUsage", "GET", TENANT "/usage", ROLE_READER, TXN_READ, true, "application/json" },
	{ "listAllUsage", "GET", "/{version}/all/usage", ROLE_OPERATOR, TXN_READ, false, "application/json" },
	{ "listCounts", "GET", TENANT "/counts", ROLE_READER, TXN_READ, true, "application/json" },
	{ "listAllCounts", "GET", "/{version}/all/counts", ROLE_OPERATOR, TXN_READ, false, "application/json" },
	{ "listAllResources", "GET", "/{version}/all/resources", ROLE_OPERATOR, TXN_READ, false, "application/json" },
	{ "listWebhooks", "GET", TENANT "/webhooks", ROLE_ADMIN, TXN_READ, true, "application/json" },
	{ "getWebhook", "GET", TENANT "/webhooks/{name}", ROLE_ADMIN, TXN_READ, true, "application/json" },
	{ "putWebhook", "PUT", TENANT "/webhooks/{name}", ROLE_ADMIN, TXN_WRITE, true, "application/json" },
	{ "deleteWebhook", "DELETE", TENANT "/webhooks/{name}", ROLE_ADMIN, TXN_WRITE, true, NULL },
	{ "listDeliveries", "GET", TENANT "/webhooks/{name}/deliveries", ROLE_ADMIN, TXN_READ, true, "application/json" },
	{ "pingWebhook", "POST", TENANT "/webhooks/{name}/action/ping", ROLE_ADMIN, TXN_WRITE, true, "application/json" },
	{ "reviveWebhook", "POST", TENANT "/webhooks/{name}/action/revive", ROLE_ADMIN, TXN_WRITE, true, "application/json" },
	{ "rotateWebhook", "POST", TENANT "/webhooks/{name}/action/rotate", ROLE_ADMIN, TXN_WRITE, true, "application/json" },
	{ "listAllWebhooks", "GET", "/{version}/all/webhooks", ROLE_OPERATOR, TXN_READ, false, "application/json" },
	{ "getAllWebhook", "GET", "/{version}/all/webhooks/{name}", ROLE_OPERATOR, TXN_READ, false, "application/json" },
	{ "putAllWebhook", "PUT", "/{version}/all/webhooks/{name}", ROLE_OPERATOR, TXN_WRITE, false, "application/json" },
	{ "deleteAllWebhook", "DELETE", "/{version}/all/webhooks/{name}", ROLE_OPERATOR, TXN_WRITE, false, NULL },
	{ "listAllDeliveries", "GET", "/{version}/all/webhooks/{name}/deliveries", ROLE_OPERATOR, TXN_READ, false, "application/json" },
	{ "pingAllWebhook", "POST", "/{version}/all/webhooks/{name}/action/ping", ROLE_OPERATOR, TXN_WRITE, false, "application/json" },
	{ "reviveAllWebhook", "POST", "/{version}/all/webhooks/{name}/action/revive", ROLE_OPERATOR, TXN_WRITE, false, "application/json" },
	{ "rotateAllWebhook", "POST", "/{version}/all/webhooks/{name}/action/rotate", ROLE_OPERATOR, TXN_WRITE, false, "application/json" },
	{ "deleteTenant", "DELETE", TENANT, ROLE_OPERATOR, TXN_WRITE, false, NULL },
	{ "recoverTenant", "POST", TENANT "/action/recover", ROLE_OPERATOR, TXN_WRITE, false, NULL },
	{ "getMoveAll", "GET", TENANT "/action/move", ROLE_OPERATOR, TXN_SNAPSHOT, false, "application/xml" },
	{ "postMoveAll", "POST", TENANT "/action/move", ROLE_OPERATOR, TXN_WRITE, false, NULL },
	{ "getMove", "GET", TENANT "/moves/{move}", ROLE_MEMBER, TXN_READ, true, "application/json" },
	{ "listMoves", "GET", TENANT "/moves", ROLE_OPERATOR, TXN_READ, false, "application/json" },
	{ "listForwards", "GET", TENANT "/forwards", ROLE_OPERATOR, TXN_READ, false, "application/json" },
	{ "putForward", "PUT", TENANT "/forwards/{plural}/{name}", ROLE_OPERATOR, TXN_WRITE, false, "application/json" },
	{ "deleteForward", "DELETE", TENANT "/forwards/{plural}/{name}", ROLE_OPERATOR, TXN_WRITE, false, NULL },
	{ "putNamespacedForward", "PUT", TENANT "/forwards/namespaces/{namespace}/{plural}/{name}", ROLE_OPERATOR, TXN_WRITE, false,
		"application/json" },
	{ "deleteNamespacedForward", "DELETE", TENANT "/forwards/namespaces/{namespace}/{plural}/{name}", ROLE_OPERATOR, TXN_WRITE, false,
		NULL },
	{ "listTiers", "GET", "/{version}/all/tiers", ROLE_OPERATOR, TXN_READ, false, "application/json" },
	{ "getTier", "GET", "/{version}/all/tiers/{tier}", ROLE_OPERATOR, TXN_READ, false, "application/json" },
	{ "putTier", "PUT", "/{version}/all/tiers/{tier}", ROLE_OPERATOR, TXN_WRITE, false, "application/json" },
	{ "deleteTier", "DELETE", "/{version}/all/tiers/{tier}", ROLE_OPERATOR, TXN_WRITE, false, NULL },
	{ "listTokens", "GET", TENANT "/tokens", ROLE_ADMIN, TXN_READ, true, "application/json" },
	{ "postToken", "POST", TENANT "/tokens", ROLE_ADMIN, TXN_WRITE, true, "application/json" },
	{ "getToken", "GET", TENANT "/tokens/{token}", ROLE_ADMIN, TXN_READ, true, "application/json" },
	{ "deleteToken", "DELETE", TENANT "/tokens/{token}", ROLE_ADMIN, TXN_WRITE, true, NULL },
	{ "listResources", "GET", TENANT "/{plural}", ROLE_READER, TXN_READ, true, "application/json" },
	{ "getResource", "GET", TENANT "/{plural}/{name}", ROLE_READER, TXN_READ, true, "application/json" },
	{ "headResource", "HEAD", TENANT "/{plural}/{name}", ROLE_READER, TXN_READ, true, "application/json" },
	{ "putResource", "PUT", TENANT "/{plural}/{name}", ROLE_MEMBER, TXN_WRITE, true, "application/json" },
	{ "patchResource", "PATCH", TENANT "/{plural}/{name}", ROLE_MEMBER, TXN_WRITE, true, "application/json" },
	{ "deleteResource", "DELETE", TENANT "/{plural}/{name}", ROLE_MEMBER, TXN_WRITE, true, NULL },
	TRAITS("Resource", TENANT "/{plural}/{name}"),
	{ "recoverResource", "POST", TENANT "/{plural}/{name}/action/recover", ROLE_MEMBER, TXN_WRITE, true, NULL },
	{ "getMoveOne", "GET", TENANT "/{plural}/{name}/action/move", ROLE_OPERATOR, TXN_SNAPSHOT, false,
	  "application/xml" },
	{ "postMoveOne", "POST", TENANT "/{plural}/{name}/action/move", ROLE_OPERATOR, TXN_WRITE, false, NULL },
	{ "listNamespacedResources", "GET", SPACED, ROLE_READER, TXN_READ, true, "application/json" },
	{ "getNamespacedResource", "GET", SPACED "/{name}", ROLE_READER, TXN_READ, true, "application/json" },
	{ "headNamespacedResource", "HEAD", SPACED "/{name}", ROLE_READER, TXN_READ, true, "application/json" },
	{ "putNamespacedResource", "PUT", SPACED "/{name}", ROLE_MEMBER, TXN_WRITE, true, "application/json" },
	{ "patchNamespacedResource", "PATCH", SPACED "/{name}", ROLE_MEMBER, TXN_WRITE, true, "application/json" },
	{ "deleteNamespacedResource", "DELETE", SPACED "/{name}", ROLE_MEMBER, TXN_WRITE, true, NULL },
	TRAITS("NamespacedResource", SPACED "/{name}"),
	{ "recoverNamespacedResource", "POST", SPACED "/{name}/action/recover", ROLE_MEMBER, TXN_WRITE, true, NULL },
	{ "getMoveNamespaced", "GET", SPACED "/{name}/action/move", ROLE_OPERATOR, TXN_SNAPSHOT, false, "application/xml" },
	{ "postMoveNamespaced", "POST", SPACED "/{name}/action/move", ROLE_OPERATOR, TXN_WRITE, false, NULL },
	TRAITS("Namespace", TENANT "/namespaces/{name}"),
	{ "recoverNamespace", "POST", TENANT "/namespaces/{name}/action/recover", ROLE_MEMBER, TXN_WRITE, true, NULL },
	{ "getMoveNamespace", "GET", TENANT "/namespaces/{name}/action/move", ROLE_OPERATOR, TXN_SNAPSHOT, false,
	  "application/xml" },
	{ "postMoveNamespace", "POST", TENANT "/namespaces/{name}/action/move", ROLE_OPERATOR, TXN_WRITE, false, NULL },
};

// ---- files

static struct str read_source(struct pool *pool, const char *name)
{
	const char *src = getenv("TENURE_SRCDIR");
	const char *path = str_printf(pool, "%s/src/%s", src != NULL ? src : ".", name).p;
	static char bytes[1 << 18];
	FILE *f = fopen(path, "r");

	if (f == NULL)
		bail_out("cannot read the WADL files; set TENURE_SRCDIR");
	size_t n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	return str_dup(pool, str_n(bytes, n));
}

static void copy_sources(struct pool *pool)
{
	write_bytes("tenancy.wadl", read_source(pool, "api/tenancy/tenancy.wadl"));
	write_bytes("baremetal.wadl", read_source(pool, "api/baremetal/baremetal.wadl"));
	write_bytes("spaces.wadl", read_source(pool, "api/spaces/spaces.wadl"));
	write_bytes("placement.wadl", read_source(pool, "api/placement/placement.wadl"));
	write_bytes("placement-host.wadl", read_source(pool, "server/wadl/placement-host.wadl"));
	static const char *const trees[] = { "everything", "tenancy", "baremetal", "placement", "spaces" };
	for (size_t i = 0; i < COUNT_OF(trees); i++) {
		const char *name = str_printf(pool, "tree-%s.wadl", trees[i]).p;
		write_bytes(name, read_source(pool, str_printf(pool, "server/wadl/%s", name).p));
	}
	write_bytes("service.wadl", read_source(pool, "server/wadl/service.wadl"));
	write_bytes("admin.wadl", read_source(pool, "server/wadl/admin.wadl"));
	write_bytes("combined.wadl", read_source(pool, "server/wadl/combined.wadl"));
}

static const struct call_row *row_of(const char *id)
{
	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		if (strcmp(calls[i].id, id) == 0)
			return &calls[i];
	}
	return NULL;
}

// arg: an id to have no handler for. Those of other dialects are the server's own.
static const void *find_call(void *arg, const char *dialect, const char *id)
{
	if (strcmp(dialect, "tenancy") != 0 && (arg == NULL || strcmp(arg, id) != 0))
		return dialect_handler(NULL, dialect, id);
	if (strcmp(dialect, "tenancy") != 0 || (arg != NULL && strcmp(arg, id) == 0))
		return NULL;
	return row_of(id);
}

static struct route_table *load_shipped(const char *name, char *without, char **error)
{
	return wadl_load(dir, name, find_call, without, error);
}

static struct route_table *load_good(const char *name)
{
	char *error = NULL;
	struct route_table *table = load_shipped(name, NULL, &error);

	if (table == NULL)
		diag("%s", error);
	free(error);
	ok(table != NULL, "%s loads", name);
	return table;
}

// ---- what they offer

static void check_call(const char *name, const struct route_method *method, const char *path, enum role least)
{
	const struct call_row *row = row_of(method->id);
	enum role role = row->role > least ? row->role : least;

	ok(strcmp(path, row->path) == 0 && strcmp(http_method_name(method->method), row->method) == 0,
		"%s: %s is %s %s", name, row->id, row->method, row->path);
	ok(method->role == role && method->txn == row->txn, "%s: %s has its role and mode", name, row->id);
	ok(method->handler == row, "%s: %s has its handler", name, row->id);
	ok(row->first_type == NULL ? method->n_produces == 0 : method->n_produces > 0 &&
		strcmp(method->produces[0], row->first_type) == 0, "%s: %s is answered in its default form", name, row->id);
	ok(route_lists_status(method, 404) && route_lists_status(method, 503), "%s: %s may fail", name, row->id);
}

// Of the other dialects: each has its folder, what is the operator's is none of users', and what changes things says so.
static void check_other(const char *name, const struct route_method *method, const char *path, bool users_only,
	enum role least)
{
	bool driver_call = route_lists_status(method, 400) && !route_lists_status(method, 200) &&
		!route_lists_status(method, 201) && !route_lists_status(method, 202) && !route_lists_status(method, 204);
	// Events are checked and answered, and nothing is stored.
	bool reads = method->method == METHOD_GET || strcmp(method->id, "postEvents") == 0;

	ok(path[0] == '/' && strncmp(path + 1, method->dialect, strlen(method->dialect)) == 0, "%s: %s is below /%s", name,
		method->id, method->dialect);
	ok(method->role >= least && (method->role != ROLE_NONE || strncmp(method->id, "get", 3) == 0), "%s: %s has a role",
		name, method->id);
	ok(!users_only || method->role != ROLE_OPERATOR, "%s: %s is for users", name, method->id);
	ok(reads || driver_call || method->txn == TXN_WRITE, "%s: %s writes", name, method->id);
	ok(!reads || method->txn != TXN_WRITE, "%s: %s reads", name, method->id);
	ok(reads || driver_call || route_lists_status(method, 409), "%s: %s may meet a conflict", name, method->id);
}

// Of spaces: all is open to users, as the operator's part of it hangs on types; only the version is for everybody.
static void check_spaces(const char *name, const struct route_method *method, const char *path, enum role least)
{
	bool review = strstr(path, "/selfsubject") != NULL;
	bool writes = method->method != METHOD_GET && !review;

	ok(method->role >= least && (method->role != ROLE_NONE || strcmp(path, "/version") == 0), "%s: %s has a role", name,
		method->id);
	ok(writes ? method->role >= ROLE_MEMBER : true, "%s: %s is not for readers if it writes", name, method->id);
	ok((method->txn == TXN_WRITE) == writes, "%s: %s has its mode", name, method->id);
	ok(!writes || (route_lists_status(method, 409) && route_lists_status(method, 422)),
		"%s: %s may meet a conflict, and an invalid object", name, method->id);
}

// Every handler of the dialect is a call of its WADL, and offered.
static void check_handlers(const char *name, const char *dialect, bool users_only)
{
	const struct dialect *found = dialect_find(dialect);
	struct route_table *table = load_good(name);
	size_t n = 0, offered = 0;
	const char *path;
	const struct route_method *method;

	for (const struct endpoint *e = found->endpoints; e->id != NULL; e++)
		n++;
	for (size_t i = 0; table != NULL && (method = route_nth(table, i, &path)) != NULL; i++)
		offered += strcmp(method->dialect, dialect) == 0 ? 1 : 0;
	ok(users_only ? offered < n : offered == n, "%s offers %zu of %zu calls of %s", name, offered, n, dialect);
	wadl_free(&table);
}

static void check_offers(const char *name, bool users_only, enum role least)
{
	struct route_table *table = load_good(name);
	const struct route_method *method;
	const char *path;
	size_t n = 0, want = 0;

	for (size_t i = 0; i < COUNT_OF(calls); i++)
		want += !users_only || calls[i].users ? 1 : 0;
	for (size_t i = 0; table != NULL && (method = route_nth(table, i, &path)) != NULL; i++) {
		if (strcmp(method->dialect, "spaces") == 0) {
			check_spaces(name, method, path, least);
			continue;
		}
		if (strcmp(method->dialect, "tenancy") != 0) {
			check_other(name, method, path, users_only, least);
			continue;
		}
		n++;
		check_call(name, method, path, least);
		ok(!users_only || row_of(method->id)->users, "%s: %s is for users", name, method->id);
	}
	is_int((long long)n, (long long)want, "%s offers %zu calls", name, want);
	wadl_free(&table);
}

static void test_handlers(void)
{
	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		char *error = NULL;
		struct route_table *table = load_shipped("combined.wadl", (char *)(uintptr_t)calls[i].id, &error);

		bool says = error != NULL && strstr(error, calls[i].id) != NULL && strstr(error, "tenancy.wadl:") != NULL;
		ok(table == NULL && says,
			"without a handler for %s the endpoint is refused", calls[i].id);
		free(error);
		wadl_free(&table);
	}
}

// ---- publishing a call

static enum outcome get_tenant(struct pool *pool, const struct route_table *table, struct route_match *match)
{
	struct str detail;

	return route_find(table, pool, request_for(pool, "GET", "/v1.0/12345"), match, &detail);
}

static struct str replace(struct pool *pool, struct str text, const char *old, const char *new)
{
	const char *at = strstr(str_cstr(pool, text), old);
	struct buf out = buf_new(pool, text.n);

	if (at == NULL)
		bail_out("the line to edit is not there");
	const char *copy = str_cstr(pool, text);
	size_t before = (size_t)(strstr(copy, old) - copy);
	buf_add(&out, str_part(text, 0, before));
	buf_add(&out, str_c(new));
	buf_add(&out, str_part(text, before + strlen(old), text.n));
	return buf_str(&out);
}

static void test_publishing(struct pool *pool)
{
	const char *line = "<method href=\"tenancy.wadl#getTenant\"/>";
	struct route_match match;
	struct str text = read_source(pool, "server/wadl/service.wadl");
	struct route_table *table = load_good("service.wadl");

	is_int(get_tenant(pool, table, &match), OUTCOME_NOT_FOUND, "the service endpoint doesn't offer GET of a tenant");
	wadl_free(&table);
	write_bytes("service.wadl", replace(pool, text, str_printf(pool, "<!-- %s -->", line).p, line));
	table = load_good("service.wadl");
	is_int(get_tenant(pool, table, &match), OUTCOME_OK, "with its line uncommented it does");
	ok(match.method != NULL && match.method->role == ROLE_READER, "to readers");
	wadl_free(&table);
	write_bytes("service.wadl", text);
}

// ---- the composed WADL

static void test_document(const char *name)
{
	struct route_table *table = load_good(name);
	char *error = NULL;
	const char *path, *path_again;

	if (table == NULL)
		return;
	write_bytes("composed.wadl", route_document(table));
	struct route_table *again = wadl_load(dir, "composed.wadl", find_most, NULL, &error);
	if (!ok(again != NULL, "the composed WADL of %s loads", name))
		diag("%s", error);
	free(error);
	for (size_t i = 0; again != NULL; i++) {
		const struct route_method *a = route_nth(table, i, &path), *b = route_nth(again, i, &path_again);
		if (a == NULL || b == NULL) {
			ok(a == b, "%s: as many calls", name);
			break;
		}
		ok(strcmp(a->id, b->id) == 0 && strcmp(path, path_again) == 0 && a->role == b->role && a->txn == b->txn &&
			a->method == b->method && a->n_params == b->n_params && a->body_required == b->body_required &&
			a->n_consumes == b->n_consumes && a->n_produces == b->n_produces, "%s: %s is the same", name, a->id);
	}
	if (again != NULL)
		is_strs(route_document(again), route_document(table), "%s: and so is what it is composed to", name);
	wadl_free(&again);
	wadl_free(&table);
}

// ---- addresses of the blueprints

static const struct {
	const char *method, *target, *id; // NULL: not there
} addresses[] = {
	{ "GET", "/v1.0/12345", "getTenant" },
	{ "HEAD", "/v2.0/12345", "headTenant" },
	{ "PUT", "/v1.0/Bob's%20Account", "putTenant" },
	{ "PUT", "/v1.0/%E2%88%91%E2%88%9E%E2%88%86%E2%88%8F", "putTenant" },
	{ "PUT", "/v1.0/resel1:sub2:acct3", "putTenant" },
	{ "PUT", "/v1.0/resel1\\sub2\\acct3", "putTenant" },
	{ "GET", "/v1.0/17776666/action/move?dest=176625343", "getMoveAll" },
	{ "POST", "/v1.0/17776666/action/move?dest=176625343", "postMoveAll" },
	{ "GET", "/v2.0/a/namespaces", "listResources" },
	{ "PUT", "/v2.0/a/namespaces/n", "putResource" },
	{ "GET", "/v2.0/a/namespaces/n/configmaps", "listNamespacedResources" },
	{ "PATCH", "/v2.0/a/namespaces/n/configmaps/c", "patchNamespacedResource" },
	{ "POST", "/v2.0/a/namespaces/n/action/move?dest=b", "postMoveNamespace" },
	{ "POST", "/v2.0/a/namespaces/n/action/recover", "recoverNamespace" },
	{ "POST", "/v2.0/a/namespaces/n/configmaps/c/action/move?dest=b", "postMoveNamespaced" },
	{ "GET", "/v2.0/a/persistentvolumes/p/action/move?dest=b", "getMoveOne" },
	{ "POST", "/v2.0/a/persistentvolumes/p/action/recover", "recoverResource" },
	{ "GET", "/v2.0/a/persistentvolumes/p/traits", "getResourceTraits" },
	{ "PUT", "/v2.0/a/namespaces/n/traits", "putNamespaceTraits" },
	{ "PUT", "/v2.0/a/namespaces/n/traits/HW_A", "putNamespaceTrait" },
	{ "DELETE", "/v2.0/a/namespaces/n/configmaps/c/traits/HW_A", "deleteNamespacedResourceTrait" },
	{ "GET", "/v2.0/a/moves/01234567-89ab-cdef-0123-456789ABCDEF", "getMove" },
	{ "GET", "/v3.0/a", NULL },
	{ "GET", "/nonsense", NULL },
	{ "GET", "/v1.0", "listTenants" },
	{ "GET", "/", "getVersions" },
	{ "GET", "/baremetal/", "getRoot" },
	{ "GET", "/baremetal/v1/nodes/?limit=10&detail=true", "listNodes" },
	{ "GET", "/baremetal/v1/nodes/detail?instance_uuid=x", "listNodesDetail" },
	{ "GET", "/baremetal/v1/nodes/n/ports/detail", "listNodePortsDetail" },
	{ "PATCH", "/baremetal/v1/chassis/c", "patchChassis" },
	{ "PUT", "/baremetal/v1/nodes/n/traits/CUSTOM_A", "putTrait" },
	{ "GET", "/baremetal/v2/nodes", NULL },
	{ "GET", "/api/v1/tenants", "listCoreObjects" },
	{ "GET", "/api/v1/tenants/t", "getCoreObject" },
	{ "GET", "/api/v1/tenants/t/namespaces", "listCoreTenantObjects" },
	{ "GET", "/api/v1/namespaces/n", "getCoreObject" },
	{ "GET", "/api/v1/namespaces/n/pods", "listCoreNamespacedObjects" },
	{ "PUT", "/api/v1/namespaces/n/finalize", "putCoreNamespacePart" },
	{ "PATCH", "/api/v1/tenants/t/namespaces/n/status", "patchCoreTenantNamespacePart" },
	{ "PUT", "/api/v1/tenants/t/namespaces/n/pods/p/status", "putCoreTenantNamespacedObjectPart" },
	{ "GET", "/apis/example.com/v1", "getGroupTypes" },
	{ "GET", "/apis/authorization.k8s.io/v1", "getGroupTypes" },
	{ "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "createAccessReview" },
	{ "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "createSelfReview" },
	{ "PATCH", "/apis/example.com/v1/tenants/t/namespaces/n/widgets/w", "patchGroupTenantNamespacedObject" },
	{ "GET", "/api/v1/namespaces/n/pods/p/log", NULL },
};

static void test_addresses(struct pool *pool)
{
	struct route_table *table = load_good("admin.wadl");

	for (size_t i = 0; table != NULL && i < COUNT_OF(addresses); i++) {
		struct route_match match;
		struct str detail;
		struct request *request = request_for(pool, addresses[i].method, addresses[i].target);
		enum outcome outcome = route_find(table, pool, request, &match, &detail);

		if (addresses[i].id == NULL) {
			is_int(outcome, OUTCOME_NOT_FOUND, "%s is not there", addresses[i].target);
			continue;
		}
		is_str(str_c(outcome == OUTCOME_OK ? match.method->id : outcome_name(outcome)), addresses[i].id, "%s %s",
			addresses[i].method, addresses[i].target);
		is_int(route_check_params(pool, request, &match, &detail), OUTCOME_OK, "its parameters are good");
	}
	wadl_free(&table);
}

static enum outcome check(struct pool *pool, const struct route_table *table, const char *target, const char **value,
	const char *name)
{
	struct route_match match;
	struct str detail;
	struct request *request = request_for(pool, "GET", target);

	if (route_find(table, pool, request, &match, &detail) != OUTCOME_OK)
		return OUTCOME__COUNT;
	enum outcome outcome = route_check_params(pool, request, &match, &detail);
	*value = str_cstr(pool, route_value(&match, name));
	return outcome;
}

static void test_parameters(struct pool *pool)
{
	struct route_table *table = load_good("combined.wadl");
	const char *value = "";

	is_int(check(pool, table, "/v2.0/a/action/move", &value, "dest"), OUTCOME_BAD_PARAMETER, "a move needs dest");
	is_int(check(pool, table, "/v2.0", &value, "limit"), OUTCOME_OK, "a list needs no limit");
	is_str(str_c(value), "100", "its default is 100");
	is_int(check(pool, table, "/v2.0?limit=1000&state=deleted", &value, "state"), OUTCOME_OK, "the greatest limit");
	is_int(check(pool, table, "/v2.0?limit=1001", &value, "limit"), OUTCOME_BAD_PARAMETER, "above it");
	is_int(check(pool, table, "/v2.0?limit=0", &value, "limit"), OUTCOME_BAD_PARAMETER, "below the least");
	is_int(check(pool, table, "/v2.0?state=gone", &value, "state"), OUTCOME_BAD_PARAMETER, "no such state");
	is_int(check(pool, table, "/v2.0/a/pods?deleted=true&marker=n/m", &value, "marker"), OUTCOME_OK,
		"a marker with '/'");
	wadl_free(&table);
}

int main(void)
{
	struct pool *pool = pool_new();

	make_dir();
	copy_sources(pool);
	check_offers("service.wadl", true, ROLE_NONE);
	check_offers("admin.wadl", false, ROLE_OPERATOR);
	check_offers("combined.wadl", false, ROLE_NONE);
	check_handlers("service.wadl", "baremetal", true);
	check_handlers("service.wadl", "placement", true);
	check_handlers("service.wadl", "spaces", false);
	check_handlers("admin.wadl", "baremetal", false);
	check_handlers("admin.wadl", "placement", false);
	check_handlers("admin.wadl", "spaces", false);
	check_handlers("combined.wadl", "baremetal", false);
	check_handlers("combined.wadl", "placement", false);
	check_handlers("combined.wadl", "spaces", false);
	test_handlers();
	test_publishing(pool);
	test_document("service.wadl");
	test_document("admin.wadl");
	test_document("combined.wadl");
	check_handlers("placement-host.wadl", "placement", false);
	test_document("placement-host.wadl");
	test_addresses(pool);
	test_parameters(pool);
	remove_dir();
	pool_free(&pool);
	return done_testing();
}
