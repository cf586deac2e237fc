// SPDX-License-Identifier: Apache-2.0
// Allocations: capacity and units, generations of consumers and providers, several consumers at once, usages; what stands in
// the way of deleting and moving; two writers at once.
#include "base/base.h"

#include "registry-placement.h"
#include "registry-sizes.h"
#include "registry/registry.h"

enum { C = 1000 }; // consumers' uids from here on

static enum outcome do_write(struct registry *registry, void *arg)
{
	struct step *step = arg;
	return allocations_write(registry, step->sets, step->n, STR("Unable to allocate inventory"));
}

static enum outcome do_drop(struct registry *registry, void *arg)
{
	return allocations_delete(registry, &((struct step *)arg)->uid);
}

static enum outcome drop_of(unsigned consumer)
{
	s.uid = uid_n(consumer);
	return client_run(&here, do_drop, &s);
}

static struct allocation take(unsigned provider, const char *class, uint64_t amount)
{
	return (struct allocation){ uid_n(provider), str_c(class), amount };
}

static struct allocation_set set_of(unsigned consumer, const struct allocation *allocations, size_t n)
{
	return (struct allocation_set){
		.consumer = uid_n(consumer), .project = STR("acme"), .user = STR("u"), .allocations = allocations, .n = n
	};
}

static enum outcome write_set(struct allocation_set set)
{
	s.sets[0] = set;
	s.n = 1;
	return client_run(&here, do_write, &s);
}

// One consumer, one provider, one class.
static enum outcome alloc(unsigned consumer, unsigned provider, const char *class, uint64_t amount)
{
	s.allocations[0] = take(provider, class, amount);
	return write_set(set_of(consumer, s.allocations, 1));
}

static struct consumer consumer;
static size_t n_allocated;

static void take_allocated(void *arg, const struct allocated *allocated, struct pool *pool)
{
	UNUSED(arg);
	UNUSED(pool);
	consumer = allocated->consumer; // its texts live until the taker returns
	consumer.project = str_dup(here.pool, consumer.project);
	consumer.user = str_dup(here.pool, consumer.user);
	consumer.type = str_dup(here.pool, consumer.type);
	n_allocated++;
}

static enum outcome do_read(struct registry *registry, void *arg)
{
	n_allocated = 0;
	consumer = (struct consumer){ 0 };
	return allocations_of_consumer(registry, &((struct step *)arg)->uid, &(struct allocated_taker){ take_allocated, NULL });
}

static void has_n(unsigned of, size_t n, uint64_t generation)
{
	s.uid = uid_n(of);
	IS(client_run(&here, do_read, &s), OK, "read");
	is_int((long long)n_allocated, (long long)n, "allocations of the consumer");
	is_int((long long)consumer.generation, (long long)generation, "generation of the consumer");
}

static void is_at(unsigned provider, uint64_t generation)
{
	IS(get(provider), OK, "a provider");
	is_int((long long)s.provider.generation, (long long)generation, "generation of the provider");
}

static void limits(void)
{
	struct inventory disk = has("DISK_GB", 100), vcpu = has("VCPU", 4);

	disk.min_unit = 10;
	disk.max_unit = 60;
	disk.step_size = 5;
	disk.reserved = 10;
	vcpu.allocation_ratio = 2.5;
	IS(create(1, "one", 0), CREATED, "a provider");
	IS(create(2, "two", 0), CREATED, "another");
	IS(stock(1, disk, vcpu), OK, "with inventories");
	IS(stock(2, has("VCPU", 100), (struct inventory){ 0 }), OK, "with one");
	IS(alloc(C, 9, "VCPU", 1), BAD_DOCUMENT, "from no provider");
	says("Allocation for resource provider '10000000-0000-4000-8000-000000000009' that does not exist");
	IS(alloc(C, 1, "COWS", 1), BAD_DOCUMENT, "of no class");
	says("Unable to allocate inventory");
	says("No such resource class COWS");
	IS(alloc(C, 1, "MEMORY_MB", 1), CONFLICT, "of what it has none of");
	says("Unable to allocate inventory: Inventory for 'MEMORY_MB' on resource provider "
	     "'10000000-0000-4000-8000-000000000001' invalid.");
	IS(alloc(C, 1, "DISK_GB", 5), CONFLICT, "less than the least");
	says("would violate inventory constraints");
	IS(alloc(C, 1, "DISK_GB", 65), CONFLICT, "more than the most");
	IS(alloc(C, 1, "DISK_GB", 52), CONFLICT, "no multiple of the step");
	IS(alloc(C, 1, "DISK_GB", 60), NO_CONTENT, "the most");
	is_changes(&here.request_id, 1, "an allocation");
	IS(alloc(C + 1, 1, "DISK_GB", 35), CONFLICT, "more than is left");
	says("Unable to create allocation for 'DISK_GB' on resource provider '10000000-0000-4000-8000-000000000001'. The requested "
	     "amount would exceed the capacity.");
	IS(alloc(C + 1, 1, "DISK_GB", 30), NO_CONTENT, "what is left");
	IS(alloc(C, 1, "DISK_GB", 55), NO_CONTENT, "its own counts once");
	IS(alloc(C + 2, 1, "VCPU", 10), NO_CONTENT, "by the ratio");
	IS(alloc(C + 3, 1, "VCPU", 1), CONFLICT, "and no more");
	is_at(1, 5);
	has_n(C, 1, 2);
	IS(drop(1), CONFLICT, "a provider in use stays");
	has_code("resource_provider.inuse");
	is_sound("limits");
}

static void shrinking(void)
{
	struct inventory disk = has("DISK_GB", 50);

	s.inventories[0] = disk;
	s.n = 1;
	s.uid = uid_n(1);
	IS(client_run(&here, do_change_one, &s), OK, "less than is used");
	IS(alloc(C + 4, 1, "DISK_GB", 10), CONFLICT, "then nobody gets more");
	IS(alloc(C + 1, 1, "DISK_GB", 35), CONFLICT, "not even who has some");
	IS(stock(1, disk, (struct inventory){ 0 }), CONFLICT, "but what is used does not go");
	has_code("inventory.inuse");
	says("update conflict: Inventory for 'VCPU' on resource provider");
	is_sound("shrinking");
}

static void consumers(void)
{
	struct allocation_set set = set_of(C + 10, s.allocations, 2);

	s.allocations[0] = take(2, "VCPU", 3);
	s.allocations[1] = take(1, "VCPU", 0);
	s.allocations[1] = take(2, "VCPU", 3);
	IS(write_set(set), BAD_DOCUMENT, "one class twice");
	set.n = 1;
	set.check = CONSUMER_IS_AT;
	set.generation = 5;
	IS(write_set(set), CONFLICT, "a generation of a new one");
	says("consumer generation conflict - expected null but got 5");
	has_code("concurrent_update");
	set.check = CONSUMER_IS_NEW;
	set.type = STR("INSTANCE");
	IS(write_set(set), NO_CONTENT, "a new one");
	IS(write_set(set), CONFLICT, "not new any more");
	says("consumer generation conflict - expected 1 but got None");
	set.check = CONSUMER_IS_AT;
	set.generation = 1;
	set.project = str_c("pro\"ject\xc3\xa4");
	set.type = STR_NONE;
	IS(write_set(set), NO_CONTENT, "at its generation");
	has_n(C + 10, 1, 2);
	ok(str_eq(consumer.project, set.project) && str_eq_c(consumer.type, "INSTANCE"), "its new project, its old type");
	set.generation = 2;
	set.n = 0;
	IS(write_set(set), NO_CONTENT, "nothing any more");
	has_n(C + 10, 0, 0);
	set.check = CONSUMER_UNCHECKED;
	IS(write_set(set), NO_CONTENT, "nothing of nothing");
	is_changes(&here.request_id, 0, "nothing of nothing");
	set.n = 1;
	set.project = set.user = STR_NONE;
	IS(write_set(set), NO_CONTENT, "nobody's");
	has_n(C + 10, 1, 1);
	ok(str_eq_c(consumer.project, CONSUMER_INCOMPLETE) && str_eq_c(consumer.type, "unknown"), "is told so");
	IS(drop_of(C + 10), NO_CONTENT, "deleted");
	is_changes(&here.request_id, 1, "deleted");
	IS(drop_of(C + 10), NOT_FOUND, "again");
	says("No allocations for consumer '10000000-0000-4000-8000-0000000003f2'");
	is_sound("consumers");
}

static void several(void)
{
	IS(create(3, "three", 0), CREATED, "a provider");
	IS(stock(3, has("VCPU", 10), (struct inventory){ 0 }), OK, "with one inventory");
	IS(alloc(C + 20, 3, "VCPU", 8), NO_CONTENT, "nearly all of it");
	s.allocations[0] = take(2, "VCPU", 5);
	s.allocations[1] = take(3, "VCPU", 10);
	s.allocations[2] = take(2, "VCPU", 1);
	s.sets[0] = set_of(C + 20, s.allocations, 1);
	s.sets[1] = set_of(C + 21, s.allocations + 1, 2);
	s.n = 2;
	IS(client_run(&here, do_write, &s), NO_CONTENT, "one hands over to another");
	is_changes(&here.request_id, 2, "two providers");
	has_n(C + 20, 1, 2);
	has_n(C + 21, 2, 1);
	s.sets[0] = set_of(C + 20, s.allocations, 0);
	s.allocations[1] = take(3, "VCPU", 11);
	IS(client_run(&here, do_write, &s), CONFLICT, "all or nothing");
	has_n(C + 20, 1, 2);
	is_sound("several");
}

static struct usage_query usage_query;
static struct {
	char type[16], class[16];
	uint64_t consumers, used;
} told[8];
static size_t n_told;

static void take_usage(void *arg, const struct usage *usage, struct pool *pool)
{
	UNUSED(arg);
	UNUSED(pool);
	if (n_told == COUNT_OF(told) || usage->type.n >= sizeof(told->type) || usage->class.n >= sizeof(told->class))
		abort();
	memcpy(told[n_told].type, usage->type.p, usage->type.n + 1);
	memcpy(told[n_told].class, usage->class.p, usage->class.n + 1);
	told[n_told].consumers = usage->consumers;
	told[n_told++].used = usage->used;
}

static bool is_usage(size_t i, const char *type, uint64_t consumers, const char *class, uint64_t used)
{
	return i < n_told && strcmp(told[i].type, type) == 0 && strcmp(told[i].class, class) == 0 &&
	       told[i].consumers == consumers && told[i].used == used;
}

static enum outcome do_usages(struct registry *registry, void *arg)
{
	UNUSED(arg);
	n_told = 0;
	return usages_total(registry, &usage_query, &(struct usage_taker){ take_usage, NULL });
}

static void usages(void)
{
	struct allocation_set set = set_of(C + 30, s.allocations, 1);

	set.type = STR("MIGRATION");
	s.allocations[0] = take(2, "VCPU", 7);
	IS(write_set(set), NO_CONTENT, "a consumer of a type");
	usage_query = (struct usage_query){ .project = STR("acme") };
	IS(client_run(&here, do_usages, &s), OK, "all together");
	ok(n_told == 2 && is_usage(0, "all", 6, "VCPU", 10 + 10 + 5 + 1 + 7) && is_usage(1, "all", 6, "DISK_GB", 55 + 30),
		"each class once");
	usage_query.by_type = true;
	IS(client_run(&here, do_usages, &s), OK, "by type");
	ok(n_told == 3 && is_usage(0, "MIGRATION", 1, "VCPU", 7), "of one consumer");
	ok(is_usage(1, "unknown", 5, "VCPU", 10 + 10 + 5 + 1) && is_usage(2, "unknown", 5, "DISK_GB", 55 + 30), "of the others");
	usage_query.type = STR("unknown");
	IS(client_run(&here, do_usages, &s), OK, "without a type");
	ok(n_told == 2 && is_usage(0, "unknown", 5, "VCPU", 10 + 10 + 5 + 1), "five consumers");
	usage_query.type = STR("NONE");
	IS(client_run(&here, do_usages, &s), OK, "of a type that is none");
	is_int((long long)n_told, 0, "usages");
	usage_query = (struct usage_query){ .project = STR("acme"), .user = STR("v") };
	IS(client_run(&here, do_usages, &s), OK, "another user");
	is_int((long long)n_told, 0, "usages");
	IS(drop_of(C + 30), NO_CONTENT, "gone");
}

static struct move_action action;
static struct str move_dest, move_source;

static enum outcome do_move(struct registry *registry, void *arg)
{
	const struct step *step = arg;
	const struct address address = {
		.tenant = move_source, .type = provider_type(registry), .name = uuid_str(registry->pool, step->uid)
	};
	const struct move_order order = { .source = move_source, .dest = move_dest, .address = &address, .words = 2 };
	struct move_result result;
	enum outcome outcome = move_run(registry, &order, (struct tag_guard){ 0 }, &result);
	action = result.action;
	return outcome;
}

static enum outcome move(unsigned provider, const char *source, const char *dest)
{
	s.uid = uid_n(provider);
	move_source = str_c(source);
	move_dest = str_c(dest);
	return client_run(&here, do_move, &s);
}

static void moves(void)
{
	EXPECT(CREATED, "a tenant", PUT_TENANT, "acme", NULL);
	EXPECT(CREATED, "another", PUT_TENANT, "other", NULL);
	IS(create(6, "six", 0), CREATED, "a provider");
	IS(create(7, "seven", 6), CREATED, "under it another");
	IS(stock(7, has("VCPU", 10), (struct inventory){ 0 }), OK, "with an inventory");
	IS(move(7, "system", "acme"), BLOCKED, "it does not go alone");
	ok(strcmp(action.blockers[0].reason, "attached") == 0, "because it is attached");
	IS(alloc(C + 50, 7, "VCPU", 1), NO_CONTENT, "somebody uses it");
	IS(move(6, "system", "acme"), SEE_OTHER, "no consumer of the system tenant: it moves");
	is_int((long long)action.count, 2, "with what is under it");
	IS(get(7), OK, "found");
	ok(str_eq_c(s.provider.resource.tenant, "acme") && uuid_eq(s.provider.root, uid_n(6)), "with its tree");
	IS(move(6, "acme", "other"), BLOCKED, "now the consumer is the tenant's own");
	ok(action.n_blockers == 1 && strcmp(action.blockers[0].reason, "in-use") == 0, "one blocker");
	ok(str_eq_c(action.blockers[0].resource, "resourceproviders/10000000-0000-4000-8000-000000000007"), "the one under it");
	ok(str_eq_c(action.blockers[0].detail, "consumer 10000000-0000-4000-8000-00000000041a of project \"acme\" has allocations "
					       "on it: delete them first"),
		"it names the consumer");
	EXPECT(BLOCKED, "nor does it go with all the rest", MOVE, "acme", NULL, "other");
	IS(create(8, "eight", 7), CREATED, "a child");
	ok(str_eq_c(s.provider.resource.tenant, "acme"), "belongs to its parent's tenant");
	IS(change(2, "two", true, 6, true), BAD_DOCUMENT, "a tree does not spread over tenants");
	IS(drop_of(C + 50), NO_CONTENT, "nobody uses it");
	EXPECT(SEE_OTHER, "then it moves with all the rest", MOVE, "acme", NULL, "other");
	IS(alloc(C + 50, 7, "VCPU", 1), NO_CONTENT, "its inventory is there");
	is_sound("moves");
}

static void purges(void)
{
	struct reap_counts counts;

	EXPECT(NO_CONTENT, "the tenant goes", DELETE_TENANT, "other", NULL);
	IS(get(7), NOT_FOUND, "with its providers");
	IS(alloc(C + 51, 7, "VCPU", 1), BAD_DOCUMENT, "nobody gets anything");
	has_n(C + 50, 1, 1);
	SET(server.config, registry)->retention = 0;
	server_sql("UPDATE tenants SET purge_at = NOW() - INTERVAL 1 DAY WHERE name = 'other';\n");
	struct uuid id = uuid_new();
	(void)registry_begin(here.registry, here.pool, &id, STR("reaper"), &here.problem);
	IS(reap(here.registry, REAP_PURGE, NULL, &counts), OK, "reaped");
	SET(server.config, registry)->retention = 3600;
	has_n(C + 50, 0, 0);
	is_int(sql_number("SELECT COUNT(*) FROM inventories i LEFT JOIN resources r ON r.id = i.resource_id WHERE r.id IS NULL"), 0,
		"no inventory is left");
	is_sound("purges");
}

static pid_t start(enum outcome (*f)(struct registry *registry, void *arg))
{
	struct client client;
	pid_t pid = fork_client(&client);

	if (pid == 0)
		_exit((int)client_run(&client, f, &s));
	return pid;
}

// Two at once want the last of it, as new consumers or as the same one: one gets it.
static void races(void)
{
	unsigned wins = 0, losses = 0;

	IS(create(5, "five", 0), CREATED, "a provider");
	IS(stock(5, has("VCPU", 10), (struct inventory){ 0 }), OK, "with one inventory");
	for (unsigned round = 0; round < 60; round++) {
		bool same = round % 2 == 0;
		pid_t pids[2];
		for (unsigned i = 0; i < 2; i++) {
			s.allocations[0] = take(5, "VCPU", same ? 1 : 8);
			s.sets[0] = set_of(C + 40 + (same ? 0 : i), s.allocations, 1);
			s.sets[0].check = CONSUMER_IS_NEW;
			s.n = 1;
			pids[i] = start(do_write);
		}
		for (unsigned i = 0; i < 2; i++) {
			enum outcome outcome = end_op(pids[i]);
			wins += outcome == OUTCOME_NO_CONTENT;
			losses += outcome == OUTCOME_CONFLICT;
		}
		(void)drop_of(C + 40);
		(void)drop_of(C + 41);
	}
	is_int(wins, 60, "one wins each time");
	is_int(losses, 60, "the other is told so");
	is_sound("races");
}

// The connection dies at a point of the write: it happened once or not at all, and the answer is true.
static void faults(void)
{
	char fault[40];
	unsigned done = 0;

	IS(create(9, "nine", 0), CREATED, "a provider");
	IS(stock(9, has("VCPU", 100), (struct inventory){ 0 }), OK, "with one inventory");
	for (unsigned at = 0; at < 14; at++) { // the first few statements are those of a process's start, which are not tried again
		struct client client;
		(void)snprintf(fault, sizeof(fault), at == 0 ? "after-commit:1:conn" : "statement:%u:conn", at);
		(void)setenv("TENURE_FAULT", fault, 1);
		client_open(&client);
		(void)unsetenv("TENURE_FAULT");
		s.allocations[0] = take(9, "VCPU", 1);
		s.sets[0] = set_of(C + 100 + at, s.allocations, 1);
		s.sets[0].check = CONSUMER_IS_NEW;
		s.n = 1;
		enum outcome outcome = client_run(&client, do_write, &s);
		ok(outcome == OUTCOME_NO_CONTENT || outcome == OUTCOME_UNAVAILABLE, "%s: %s", fault, outcome_name(outcome));
		done += outcome == OUTCOME_NO_CONTENT;
		client_close(&client);
	}
	is_int(sql_number("SELECT COUNT(*) FROM allocations a JOIN consumers c ON c.id = a.consumer_id WHERE c.generation = 1 AND "
			  "a.resource_id = (SELECT resource_id FROM resource_aliases WHERE kind = 'name' AND value = 'nine')"),
		done, "what was told to be done is done, once");
	ok(done > 6, "most went through at a second try (%u)", done);
	is_sound("faults");
}

int main(void)
{
	fixture_start();
	limits();
	shrinking();
	consumers();
	several();
	usages();
	moves();
	purges();
	races();
	faults();
	is_sized("at the end");
	return fixture_end();
}
