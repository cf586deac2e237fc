// SPDX-License-Identifier: Apache-2.0
// Providers and what they have, in few words, over the fixture of registry/.
#ifndef TENURE_T_UNIT_REGISTRY_PLACEMENT_H
#define TENURE_T_UNIT_REGISTRY_PLACEMENT_H

#include "registry-fixture.h"
#include "registry/placement/aggregate.h"
#include "registry/placement/allocation.h"
#include "registry/placement/resource_class.h"
#include "registry/trait/trait.h"

// Runs f(arg) as a worker runs a request, in a transaction of its own.
struct task {
	enum outcome (*f)(struct registry *registry, void *arg);
	void *arg;
	struct registry *registry;
	enum outcome outcome;
};

static enum db_verdict task_run(void *arg)
{
	struct task *task = arg;

	task->outcome = task->f(task->registry, task->arg);
	return outcome_commits(task->outcome) ? DB_COMMIT : DB_ROLLBACK;
}

static enum outcome client_run(struct client *client, enum outcome (*f)(struct registry *registry, void *arg), void *arg)
{
	struct task task = { f, arg, client->registry, OUTCOME_INTERNAL };

	client->request_id = uuid_new();
	enum outcome outcome = registry_begin(client->registry, client->pool, &client->request_id, STR("tester"), &client->problem);
	if (outcome != OUTCOME_OK)
		return outcome;
	enum db_result result = db_txn_run(client->db, DB_WRITE, &client->request_id, task_run, &task);
	if (result != DB_OK)
		return result == DB_LOST || result == DB_RETRY ? OUTCOME_UNAVAILABLE : OUTCOME_INTERNAL;
	return task.outcome;
}

// The uid that ends in these digits.
static struct uuid uid_n(unsigned n)
{
	struct uuid uid = { { 0x10, 0, 0, 0, 0, 0, 0x40, 0, 0x80 } };

	uid.b[12] = (uint8_t)(n >> 24);
	uid.b[13] = (uint8_t)(n >> 16);
	uid.b[14] = (uint8_t)(n >> 8);
	uid.b[15] = (uint8_t)n;
	return uid;
}

// What a step is about; each uses what it needs.
struct step {
	struct uuid uid;
	struct provider_content content;
	bool reparents;
	struct provider_guard guard;
	struct provider provider;
	struct inventory inventories[8];
	size_t n;
	bool may_reserve_all, raises;
	struct str name, to;
	struct resource_class class;
	struct uuid aggregates[8];
	struct allocation allocations[8];
	struct allocation_set sets[4];
	const struct provider_query *query;
	size_t n_list;
};
static struct step s;

static enum outcome do_create(struct registry *registry, void *arg)
{
	struct step *step = arg;
	return provider_create(registry, &step->uid, &step->content, &step->provider);
}

TAP_UNUSED_OK static enum outcome create(unsigned n, const char *name, unsigned parent)
{
	s.uid = uid_n(n);
	s.content = (struct provider_content){
		.name = str_c(name), .sets_parent = true, .has_parent = parent != 0, .parent = uid_n(parent)
	};
	return client_run(&here, do_create, &s);
}

static enum outcome do_change(struct registry *registry, void *arg)
{
	struct step *step = arg;
	return provider_change(registry, &step->uid, &step->content, step->reparents, step->guard.guard, &step->provider);
}

TAP_UNUSED_OK static enum outcome change(unsigned n, const char *name, bool sets_parent, unsigned parent, bool reparents)
{
	s.uid = uid_n(n);
	s.content = (struct provider_content){
		.name = str_c(name), .sets_parent = sets_parent, .has_parent = parent != 0, .parent = uid_n(parent)
	};
	s.reparents = reparents;
	return client_run(&here, do_change, &s);
}

static enum outcome do_delete(struct registry *registry, void *arg)
{
	struct step *step = arg;
	return provider_delete(registry, &step->uid, step->guard.guard);
}

TAP_UNUSED_OK static enum outcome drop(unsigned n)
{
	s.uid = uid_n(n);
	return client_run(&here, do_delete, &s);
}

static enum outcome do_get(struct registry *registry, void *arg)
{
	struct step *step = arg;
	return provider_get(registry, &step->uid, &step->provider);
}

TAP_UNUSED_OK static enum outcome get(unsigned n)
{
	s.uid = uid_n(n);
	return client_run(&here, do_get, &s);
}

static struct inventory has(const char *class, uint64_t total)
{
	return (struct inventory){
		.class = str_c(class), .total = total, .min_unit = 1, .max_unit = INVENTORY_MAX, .step_size = 1,
		.allocation_ratio = 1.0
	};
}

static struct inventory_write write_of(struct step *step)
{
	return (struct inventory_write){
		.guard = step->guard,
		.may_reserve_all = step->may_reserve_all,
		.inventories = step->inventories,
		.n = step->n,
	};
}

static enum outcome do_set_all(struct registry *registry, void *arg)
{
	const struct inventory_write write = write_of(arg);
	return inventory_set_all(registry, &((struct step *)arg)->uid, &write, &((struct step *)arg)->provider);
}

TAP_UNUSED_OK static enum outcome do_add(struct registry *registry, void *arg)
{
	const struct inventory_write write = write_of(arg);
	return inventory_add(registry, &((struct step *)arg)->uid, &write, &((struct step *)arg)->provider);
}

TAP_UNUSED_OK static enum outcome do_change_one(struct registry *registry, void *arg)
{
	const struct inventory_write write = write_of(arg);
	return inventory_change(registry, &((struct step *)arg)->uid, &write, &((struct step *)arg)->provider);
}

// Gives it these inventories, one or two.
TAP_UNUSED_OK static enum outcome stock(unsigned n, struct inventory a, struct inventory b)
{
	s.uid = uid_n(n);
	s.inventories[0] = a;
	s.inventories[1] = b;
	s.n = b.class.p != NULL ? 2 : 1;
	s.guard = (struct provider_guard){ 0 };
	return client_run(&here, do_set_all, &s);
}

// ---- what is expected

#define IS(f, want, what) is_outcome((f), OUTCOME_##want, what)
TAP_UNUSED_OK static void says(const char *words)
{
	struct str detail = here.registry->problem->detail;

	if (!ok(detail.n > 0 && memmem(detail.p, detail.n, words, strlen(words)) != NULL, "  it says: %s", words))
		diag("  it says: %.*s", STR_ARG(detail));
}

TAP_UNUSED_OK static void has_code(const char *code)
{
	const struct problem *problem = here.registry->problem;
	struct str value = STR_NONE;

	for (size_t i = 0; i < problem->n_members; i++) {
		if (strcmp(problem->members[i].name, "code") == 0)
			value = problem->members[i].value;
	}
	if (!ok(str_eq_c(value, code), "  code %s", code))
		diag("  code %.*s", STR_ARG(value));
}

#endif
