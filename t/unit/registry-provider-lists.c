// SPDX-License-Identifier: Apache-2.0
// Lists of providers: every filter, alone and together, against what is known of each provider here.
#include "base/base.h"

#include "registry-placement.h"

enum { N = 60, TRAITS = 6, AGGREGATES = 5, CLASSES = 3, ROUNDS = 400 };

static const char *const trait_names[TRAITS] = { "CUSTOM_T0", "CUSTOM_T1", "CUSTOM_T2", "CUSTOM_T3", "CUSTOM_T4", "CUSTOM_T5" };
static const char *const class_names[CLASSES] = { "VCPU", "MEMORY_MB", "DISK_GB" };

// What is known of provider i, whose uid ends in i + 1.
static struct model {
	bool traits[TRAITS], aggregates[AGGREGATES], has_class[CLASSES];
	struct inventory inventories[CLASSES];
	unsigned root, parent;
	char name[16];
} models[N];

static unsigned seed = 1;

static unsigned dice(unsigned sides)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % sides;
}

static struct uuid aggregate_n(unsigned n)
{
	return uid_n(5000 + n);
}

static void make_one(unsigned i)
{
	struct model *model = &models[i];
	struct buf sql = buf_new(here.pool, 1024);

	(void)snprintf(model->name, sizeof(model->name), "p%u", i);
	model->parent = i > 0 && dice(3) > 0 ? dice(i) + 1 : 0;
	model->root = model->parent == 0 ? i : models[model->parent - 1].root;
	if (create(i + 1, model->name, model->parent) != OUTCOME_CREATED)
		bail_out("no provider");
	unsigned long long id = s.provider.resource.id;
	for (unsigned k = 0; k < TRAITS; k++) {
		model->traits[k] = dice(TRAITS) >= k; // of some many, of others few
		if (model->traits[k])
			buf_addf(&sql, "INSERT INTO resource_traits SELECT %llu, id FROM traits WHERE name = '%s';\n", id, trait_names[k]);
	}
	for (unsigned k = 0; k < AGGREGATES; k++) {
		model->aggregates[k] = dice(4) == 0;
		struct uuid aggregate = aggregate_n(k);
		if (!model->aggregates[k])
			continue;
		buf_addf(&sql, "INSERT INTO provider_aggregates VALUES (%llu, x'", id);
		buf_add_hex(&sql, aggregate.b, sizeof(aggregate.b));
		BUF_LIT(&sql, "');\n");
	}
	for (unsigned k = 0; k < CLASSES; k++) {
		struct inventory *inventory = &model->inventories[k];
		model->has_class[k] = dice(2) == 0;
		*inventory = has(class_names[k], dice(20) + 1);
		inventory->min_unit = dice(3) + 1;
		inventory->max_unit = dice(20) + 1;
		inventory->step_size = dice(3) + 1;
		inventory->used = dice(10);
		if (model->has_class[k])
			buf_addf(&sql,
				"INSERT INTO inventories (resource_id, class_id, total, reserved, min_unit, max_unit, step_size, "
				"allocation_ratio, capacity, used, created_at, updated_at) VALUES (%llu, %u, %u, 0, %u, %u, %u, 1, %u, %u, "
				"NOW(), NOW());\n",
				id, k + 1, (unsigned)inventory->total, (unsigned)inventory->min_unit, (unsigned)inventory->max_unit,
				(unsigned)inventory->step_size, (unsigned)inventory->total, (unsigned)inventory->used);
	}
	if (sql.n > 0)
		server_sql(str_cstr(here.pool, buf_str(&sql)));
}

// ---- queries, and what they ought to find

static struct query {
	struct provider_query query;
	struct str traits[4][3];
	unsigned trait_index[4][3];
	struct uuid aggregates[4][3];
	unsigned aggregate_index[4][3];
	struct provider_requirement requirements[4];
	struct provider_membership memberships[4];
	struct provider_demand demands[3];
	unsigned class_index[3];
	struct uuid uid, in_tree;
	unsigned uid_index, tree_index;
} q;

static void roll_terms(void)
{
	for (size_t i = 0; i < q.query.n_requirements; i++) {
		size_t n = dice(3) + 1;
		for (size_t k = 0; k < n; k++) {
			q.trait_index[i][k] = dice(TRAITS);
			q.traits[i][k] = str_c(trait_names[q.trait_index[i][k]]);
		}
		q.requirements[i] = (struct provider_requirement){ q.traits[i], n, dice(4) == 0 };
	}
	for (size_t i = 0; i < q.query.n_memberships; i++) {
		size_t n = dice(3) + 1;
		for (size_t k = 0; k < n; k++) {
			q.aggregate_index[i][k] = dice(AGGREGATES + 1); // one that nobody is in
			q.aggregates[i][k] = aggregate_n(q.aggregate_index[i][k]);
		}
		q.memberships[i] = (struct provider_membership){ q.aggregates[i], n, dice(3) == 0 };
	}
	for (size_t i = 0; i < q.query.n_demands; i++) {
		q.class_index[i] = (unsigned)i;
		q.demands[i] = (struct provider_demand){ str_c(class_names[i]), dice(12) + 1 };
	}
}

static void roll(void)
{
	q = (struct query){ .query.n_requirements = dice(3), .query.n_memberships = dice(2) * dice(3),
		.query.n_demands = dice(2) * dice(4) };
	q.query.requirements = q.requirements;
	q.query.memberships = q.memberships;
	q.query.demands = q.demands;
	roll_terms();
	q.uid_index = dice(N + 1);
	q.tree_index = dice(N + 1);
	q.uid = uid_n(q.uid_index + 1);
	q.in_tree = uid_n(q.tree_index + 1);
	if (dice(12) == 0)
		q.query.plain.name = str_c(models[dice(N)].name);
	if (dice(12) == 0)
		q.query.plain.uid = uuid_bytes(&q.uid);
	if (dice(5) == 0)
		q.query.plain.in_tree = uuid_bytes(&q.in_tree);
}

static bool has_any_trait(const struct model *model, size_t term)
{
	for (size_t k = 0; k < q.requirements[term].n; k++) {
		if (model->traits[q.trait_index[term][k]])
			return true;
	}
	return false;
}

static bool in_any_aggregate(const struct model *model, size_t term)
{
	for (size_t k = 0; k < q.memberships[term].n; k++) {
		if (q.aggregate_index[term][k] < AGGREGATES && model->aggregates[q.aggregate_index[term][k]])
			return true;
	}
	return false;
}

static bool could_give(const struct model *model, size_t term)
{
	const struct inventory *inventory = &model->inventories[q.class_index[term]];
	uint64_t amount = q.demands[term].amount;

	return model->has_class[q.class_index[term]] && inventory->used + amount <= inventory->total &&
	       amount >= inventory->min_unit && amount <= inventory->max_unit && amount % inventory->step_size == 0;
}

static bool passes(unsigned i)
{
	const struct model *model = &models[i];
	bool good = (q.query.plain.name.p == NULL || str_eq_c(q.query.plain.name, model->name)) &&
		    (q.query.plain.uid.p == NULL || q.uid_index == i) &&
		    (q.query.plain.in_tree.p == NULL || (q.tree_index < N && models[q.tree_index].root == model->root));

	for (size_t k = 0; good && k < q.query.n_requirements; k++)
		good = has_any_trait(model, k) != q.requirements[k].forbidden;
	for (size_t k = 0; good && k < q.query.n_memberships; k++)
		good = in_any_aggregate(model, k) != q.memberships[k].forbidden;
	for (size_t k = 0; good && k < q.query.n_demands; k++)
		good = could_give(model, k);
	return good;
}

static struct provider found[N];

static void take_provider(void *arg, const struct provider *provider, struct pool *pool)
{
	struct step *step = arg;

	UNUSED(pool);
	if (step->n_list == COUNT_OF(found))
		abort();
	found[step->n_list] = *provider;
	found[step->n_list++].name = str_dup(here.pool, provider->name);
}

static enum outcome do_list(struct registry *registry, void *arg)
{
	struct step *step = arg;

	step->n_list = 0;
	return provider_list(registry, step->query, &(struct provider_taker){ take_provider, step });
}

static bool round_fits(void)
{
	size_t n = 0;

	roll();
	s.query = &q.query;
	if (client_run(&here, do_list, &s) != OUTCOME_OK)
		return false;
	for (unsigned i = 0; i < N; i++) {
		if (!passes(i))
			continue;
		if (n >= s.n_list || !uuid_eq(found[n].resource.uid, uid_n(i + 1)) || !str_eq_c(found[n].name, models[i].name) ||
			found[n].has_parent != (models[i].parent != 0) || !uuid_eq(found[n].root, uid_n(models[i].root + 1)))
			return false;
		n++;
	}
	return n == s.n_list;
}

static void all_kinds(void)
{
	unsigned failures = 0;
	size_t answers = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned before = seed;
		if (!round_fits()) {
			failures++;
			diag("round %u, seed %u: %zu found", i, before, s.n_list);
		}
		answers += s.n_list;
		pool_clear(here.pool);
	}
	is_int(failures, 0, "of %d queries fail", ROUNDS);
	ok(answers > ROUNDS, "they have found %zu providers", answers);
}

static void refused(void)
{
	struct str names[] = { STR("CUSTOM_T1"), STR("BOGUS"), STR("a\",\"b") };
	struct provider_requirement requirement = { names, 3, false };
	struct provider_demand demand = { STR("COWS"), 1 };
	struct provider_query query = { .requirements = &requirement, .n_requirements = 1 };

	s.query = &query;
	IS(client_run(&here, do_list, &s), BAD_PARAMETER, "unknown traits");
	says("No such trait(s): BOGUS, a\",\"b.");
	query = (struct provider_query){ .demands = &demand, .n_demands = 1 };
	IS(client_run(&here, do_list, &s), BAD_PARAMETER, "an unknown class");
	says("No such resource class COWS");
	query = (struct provider_query){ .demands = &demand, .n_demands = PROVIDER_MAX_TERMS + 1 };
	IS(client_run(&here, do_list, &s), BAD_PARAMETER, "too many terms");
	query = (struct provider_query){ .plain.name = str_c("p1\\' OR 1=1") };
	IS(client_run(&here, do_list, &s), OK, "a hostile name");
	is_int((long long)s.n_list, 0, "providers");
}

int main(void)
{
	fixture_start();
	for (unsigned k = 0; k < TRAITS; k++)
		server_sql(str_cstr(here.pool, str_printf(here.pool,
			"INSERT INTO traits (name, created_at, updated_at) VALUES ('%s', NOW(), NOW());\n", trait_names[k])));
	for (unsigned i = 0; i < N; i++)
		make_one(i);
	all_kinds();
	refused();
	return fixture_end();
}
