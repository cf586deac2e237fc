// SPDX-License-Identifier: Apache-2.0
// What the bare-metal dialect tells of its kinds agrees with what the registry's rules have of them.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "base/config/config.h"
#include "base/pool.h"
#include "settings/settings.h"
#include "tap.h"

static const struct endpoint_config *endpoint;

static const struct kind *const kinds[] = { &node_kind, &port_kind, &portgroup_kind, &chassis_kind,
	&volume_connector_kind, &volume_target_kind, &deploy_template_kind, &allocation_kind };

static void agreement(const struct kind *kind)
{
	for (const struct baremetal_member *stored = kind->body; stored->name != NULL; stored++) {
		const struct kind_member *member = kind_member(kind, str_c(stored->name));
		bool has_address = strcmp(stored->name, "vifs") == 0; // it is shown at an address of its own
		ok(has_address ? member == NULL : member != NULL && member->source == FROM_BODY, "%s: %s of the body is shown",
			kind->singular, stored->name);
	}
	for (const struct kind_member *member = kind->members; member->name != NULL; member++) {
		const struct baremetal_member *stored = baremetal_member(kind->body, str_c(member->name));
		bool given = (member->flags & MEMBER_GIVEN) != 0, patched = (member->flags & MEMBER_PATCHED) != 0;
		ok(kind_member(kind, str_c(member->name)) == member, "%s: there is one %s", kind->singular, member->name);
		ok(member->since >= 1 && member->since <= VERSION_MAX, "%s: %s came with a version there is", kind->singular,
			member->name);
		ok((stored != NULL) == (member->source == FROM_BODY), "%s: %s comes from where it is", kind->singular,
			member->name);
		ok(stored == NULL || !stored->served || (!patched && given == stored->initial),
			"%s: %s is not both set and served, but in a new one", kind->singular, member->name);
		ok(stored == NULL || !stored->required || given, "%s: %s can be given if it has to be", kind->singular,
			member->name);
	}
}

static void what_versions_show(struct pool *pool)
{
	struct call call = { .pool = pool, .endpoint = endpoint };
	size_t before = 0;

	for (call.version = VERSION_MIN; call.version <= VERSION_MAX; call.version++) {
		struct selection all = baremetal_select_all(&call, &node_kind), brief = baremetal_select_brief(&call, &node_kind);
		size_t n = 0, missing = 0;
		for (size_t i = 0; node_kind.members[i].name != NULL; i++) {
			n += all.has[i] ? 1 : 0;
			missing += brief.has[i] && !all.has[i] ? 1 : 0;
		}
		ok(n >= before && missing == 0, "1.%u shows what those before it showed, and in detail what it shows in lists",
			call.version);
		before = n;
	}
}

static void fields(struct pool *pool)
{
	static const struct {
		unsigned version;
		const char *fields;
		bool of_list;
		enum outcome want;
	} rows[] = {
		{ 82, "uuid,name", false, OUTCOME_OK },      { 82, "", true, OUTCOME_OK },
		{ 82, ",,uuid,", true, OUTCOME_OK },         { 82, " uuid , name ", true, OUTCOME_OK },
		{ 82, "uuid,uuid", true, OUTCOME_OK },       { 82, "conductor", false, OUTCOME_OK },
		{ 82, "conductor", true, OUTCOME_BAD_PARAMETER }, { 82, "links", false, OUTCOME_BAD_PARAMETER },
		{ 82, "UUID", false, OUTCOME_OK },            { 82, "uuid,no such", false, OUTCOME_BAD_PARAMETER },
		{ 7, "uuid", false, OUTCOME_NOT_ACCEPTABLE }, { 39, "etag", false, OUTCOME_NOT_ACCEPTABLE },
		{ 40, "etag", false, OUTCOME_OK },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct call call = { .pool = pool, .endpoint = endpoint, .version = rows[i].version };
		struct selection selection;
		enum outcome outcome = baremetal_select_fields(&call, &node_kind, str_c(rows[i].fields), rows[i].of_list,
			&selection);
		is_int(outcome, rows[i].want, "fields=%s%s at 1.%u", rows[i].fields, rows[i].of_list ? " in a list" : "",
			rows[i].version);
	}
}

int main(void)
{
	struct pool *pool = pool_new();
	struct config *config = config_new(settings_tables());

	(void)config_add_endpoint(config, STR("service"));
	endpoint = config_endpoint(config, "service");
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		agreement(kinds[i]);
	what_versions_show(pool);
	fields(pool);
	config_free(&config);
	pool_free(&pool);
	return done_testing();
}
