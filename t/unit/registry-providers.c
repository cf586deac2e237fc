// SPDX-License-Identifier: Apache-2.0
// Providers: made, renamed, planted elsewhere, deleted and back; classes, inventories and aggregates; generations.
#include "base/base.h"

#include "registry-placement.h"
#include "registry-sizes.h"

static void made_and_named(void)
{
	IS(create(1, "one", 0), CREATED, "a provider");
	ok(str_eq_c(s.provider.resource.tenant, "system"), "it belongs to the system tenant");
	ok(s.provider.generation == 0 && !s.provider.has_parent && uuid_eq(s.provider.root, uid_n(1)), "a tree of its own");
	is_changes(&here.request_id, 1, "of the provider");
	IS(create(1, "uno", 0), NAME_TAKEN, "the same uid");
	says("Conflicting resource provider uuid: 10000000-0000-4000-8000-000000000001 already exists");
	has_code("duplicate_name");
	IS(create(2, "one", 0), NAME_TAKEN, "the same name");
	says("Conflicting resource provider name: one already exists");
	has_code("duplicate_name");
	IS(create(2, "two", 2), BAD_DOCUMENT, "its own child");
	says("Unable to create resource provider \"two\", 10000000-0000-4000-8000-000000000002:");
	says("parent provider UUID cannot be same as UUID");
	IS(create(2, "two", 9), BAD_DOCUMENT, "an orphan");
	says("parent provider UUID does not exist");
	IS(create(2, "two", 1), CREATED, "a child");
	ok(uuid_eq(s.provider.root, uid_n(1)) && uuid_eq(s.provider.parent, uid_n(1)), "it knows its parent and root");
	IS(create(3, "three", 2), CREATED, "a child's child");
	ok(uuid_eq(s.provider.root, uid_n(1)), "of the same tree");
	IS(change(3, "drei", false, 0, false), OK, "renamed");
	ok(str_eq_c(s.provider.name, "drei") && uuid_eq(s.provider.parent, uid_n(2)) && s.provider.generation == 0,
		"it keeps its parent and generation");
	is_changes(&here.request_id, 1, "renamed");
	IS(change(3, "one", false, 0, false), NAME_TAKEN, "to a name that is taken");
	IS(change(3, "drei", true, 2, false), OK, "to what it is");
	is_changes(&here.request_id, 0, "to what it is");
	IS(change(9, "nine", false, 0, false), NOT_FOUND, "one that is not there");
	says("No resource provider with uuid 10000000-0000-4000-8000-000000000009 found");
}

static void planted(void)
{
	IS(change(2, "two", true, 0, false), BAD_DOCUMENT, "without a parent, before that came");
	says("un-parenting a provider is not currently allowed");
	IS(create(4, "four", 0), CREATED, "another tree");
	IS(change(2, "two", true, 4, false), BAD_DOCUMENT, "another parent, before that came");
	says("re-parenting a provider is not currently allowed");
	IS(change(1, "one", true, 1, true), BAD_DOCUMENT, "under itself");
	says("creating loop in the provider tree is not allowed.");
	IS(change(1, "one", true, 3, false), BAD_DOCUMENT, "under what is under it");
	says("creating loop in the provider tree is not allowed.");
	IS(change(2, "two", true, 4, true), OK, "another parent");
	IS(get(3), OK, "what is under it");
	ok(uuid_eq(s.provider.root, uid_n(4)) && uuid_eq(s.provider.parent, uid_n(2)), "comes along");
	IS(change(2, "two", true, 0, true), OK, "no parent");
	IS(get(3), OK, "what is under it");
	ok(uuid_eq(s.provider.root, uid_n(2)), "has that for a root");
	IS(change(2, "two", true, 1, false), OK, "a parent for one without");
	IS(change(4, "four", true, 3, false), OK, "a tree under a leaf of another");
	IS(get(4), OK, "its top");
	ok(uuid_eq(s.provider.root, uid_n(1)), "has the other's root");
	IS(change(4, "four", true, 0, true), OK, "and back");
}

// Each new provider becomes the top of all before: a chain in which the later a provider was made, the higher it is.
static void chained(void)
{
	enum { FIRST = 500, LONG = 60 };
	uint64_t most = 0;

	for (unsigned i = 0; i < LONG; i++) {
		char name[16];
		(void)snprintf(name, sizeof(name), "chain%u", i);
		enum outcome made = create(FIRST + i, name, 0);
		(void)snprintf(name, sizeof(name), "chain%u", i - 1);
		uint64_t before = db_round_trips(here.db);
		if (made != OUTCOME_CREATED || (i > 0 && change(FIRST + i - 1, name, true, FIRST + i, false) != OUTCOME_OK)) {
			ok(false, "provider %u of the chain", i);
			return;
		}
		most = i > 0 && db_round_trips(here.db) - before > most ? db_round_trips(here.db) - before : most;
	}
	IS(get(FIRST), OK, "the lowest of a chain");
	ok(uuid_eq(s.provider.root, uid_n(FIRST + LONG - 1)), "has the highest for its root");
	ok(most < 12, "a tree gets another root in a few round trips (%llu)", (unsigned long long)most);
	IS(change(FIRST + LONG - 1, "loop", true, FIRST, true), BAD_DOCUMENT, "the highest below the lowest");
	IS(change(FIRST + LONG / 2, "middle", true, 0, true), OK, "cut in two");
	IS(get(FIRST), OK, "the lowest");
	ok(uuid_eq(s.provider.root, uid_n(FIRST + LONG / 2)), "is in the lower half");
	IS(get(FIRST + LONG - 2), OK, "one above");
	ok(uuid_eq(s.provider.root, uid_n(FIRST + LONG - 1)), "stays in the upper one");
}

static enum outcome do_recover(struct registry *registry, void *arg)
{
	const struct step *step = arg;
	struct address address = {
		.tenant = STR("system"), .type = provider_type(registry), .name = uuid_str(registry->pool, step->uid)
	};
	return resource_recover(registry, &address, NULL, (struct guard){ 0 });
}

static enum outcome recover(unsigned n)
{
	s.uid = uid_n(n);
	return client_run(&here, do_recover, &s);
}

static void gone_and_back(void)
{
	IS(drop(1), CONFLICT, "a parent can't go");
	says("Unable to delete parent resource provider 10000000-0000-4000-8000-000000000001: It has child resource providers.");
	has_code("resource_provider.cannot_delete_parent");
	IS(drop(9), NOT_FOUND, "one that is not there");
	says("No resource provider with uuid 10000000-0000-4000-8000-000000000009 found for delete");
	IS(drop(3), NO_CONTENT, "a leaf");
	IS(get(3), NOT_FOUND, "it is gone");
	IS(drop(2), NO_CONTENT, "its parent");
	IS(recover(3), CONFLICT, "it does not come back without its parent");
	IS(recover(2), NO_CONTENT, "that comes back");
	IS(change(2, "two", true, 4, true), OK, "under another");
	IS(recover(3), NO_CONTENT, "then it comes back");
	IS(get(3), OK, "it is there");
	ok(uuid_eq(s.provider.root, uid_n(4)), "in the tree that its parent is in now");
	IS(drop(3), NO_CONTENT, "it goes again");
	IS(create(3, "three again", 1), CREATED, "its uid is free at once");
	IS(recover(3), NAME_TAKEN, "what was there does not come back then");
	is_sound("trees");
}

static enum outcome do_class(struct registry *registry, void *arg)
{
	struct step *step = arg;
	return resource_class_create(registry, step->name, &step->class);
}

static enum outcome do_put_class(struct registry *registry, void *arg)
{
	struct step *step = arg;
	return resource_class_put(registry, step->name, &step->class);
}

static enum outcome do_rename_class(struct registry *registry, void *arg)
{
	struct step *step = arg;
	return resource_class_rename(registry, step->name, step->to, &step->class);
}

static enum outcome do_delete_class(struct registry *registry, void *arg)
{
	return resource_class_delete(registry, ((struct step *)arg)->name);
}

static enum outcome with_class(enum outcome (*f)(struct registry *registry, void *arg), const char *name, const char *to)
{
	s.name = str_c(name);
	s.to = str_c(to);
	return client_run(&here, f, &s);
}

static void take_class(void *arg, const struct resource_class *class, struct pool *pool)
{
	struct step *step = arg;

	UNUSED(pool);
	if (step->n_list == 0 || step->n_list == 20)
		ok(str_eq_c(class->name, step->n_list == 0 ? "VCPU" : "NET_PACKET_RATE_IGR_KILOPACKET_PER_SEC"), "classes in order");
	step->n_list++;
}

static enum outcome do_list_classes(struct registry *registry, void *arg)
{
	s.n_list = 0;
	return resource_class_list(registry, &(struct resource_class_taker){ take_class, arg });
}

static void classes(void)
{
	IS(with_class(do_class, "CUSTOM_A", ""), CREATED, "a class");
	IS(with_class(do_class, "CUSTOM_A", ""), CONFLICT, "the same");
	says("Conflicting resource class already exists: CUSTOM_A");
	IS(with_class(do_put_class, "CUSTOM_A", ""), OK, "put again");
	IS(with_class(do_put_class, "CUSTOM_B", ""), CREATED, "another");
	IS(with_class(do_put_class, "VCPUS", ""), BAD_PARAMETER, "no custom name");
	IS(with_class(do_rename_class, "CUSTOM_A", "CUSTOM_B"), CONFLICT, "a name that is taken");
	IS(with_class(do_rename_class, "VCPU", "CUSTOM_C"), BAD_PARAMETER, "a standard one");
	says("Cannot update standard resource class VCPU");
	IS(with_class(do_rename_class, "CUSTOM_A", "CUSTOM_C"), OK, "renamed");
	IS(with_class(do_delete_class, "CUSTOM_A", ""), NOT_FOUND, "by its old name");
	IS(with_class(do_delete_class, "VCPU", ""), BAD_PARAMETER, "a standard one stays");
	IS(with_class(do_delete_class, "CUSTOM_C", ""), NO_CONTENT, "deleted");
	IS(client_run(&here, do_list_classes, &s), OK, "listed");
	is_int((long long)s.n_list, 22, "standard ones and one of our own");
}

static enum outcome one(enum outcome (*f)(struct registry *registry, void *arg), unsigned n, struct inventory inventory)
{
	s.uid = uid_n(n);
	s.inventories[0] = inventory;
	s.n = 1;
	return client_run(&here, f, &s);
}

static enum outcome do_delete_one(struct registry *registry, void *arg)
{
	struct step *step = arg;
	return inventory_delete(registry, &step->uid, step->name, &step->guard, &step->provider);
}

static enum outcome do_delete_all(struct registry *registry, void *arg)
{
	struct step *step = arg;
	return inventory_delete_all(registry, &step->uid, &step->guard, &step->provider);
}

static void take_inventory(void *arg, const struct inventory *inventory, struct pool *pool)
{
	struct step *step = arg;

	UNUSED(pool);
	if (step->n == COUNT_OF(step->inventories))
		abort();
	step->inventories[step->n] = *inventory;
	step->inventories[step->n++].class = str_dup(here.pool, inventory->class);
}

static enum outcome do_list(struct registry *registry, void *arg)
{
	struct step *step = arg;

	step->n = 0;
	return inventory_list(registry, &step->uid, &step->provider, &(struct inventory_taker){ take_inventory, step });
}

static void ratios(void)
{
	const double many[] = { 0, 0.1, 1.1, 16, 1.0 / 3, 3.40282e+38, 0.000001 };
	struct inventory inventory = has("VCPU", 10);

	inventory.allocation_ratio = 0.09;
	IS(one(do_change_one, 4, inventory), BAD_DOCUMENT, "a ratio that leaves nothing");
	says("Its capacity, (total - reserved) * allocation_ratio, is less than 1.");
	s.may_reserve_all = true;
	for (size_t i = 0; i < COUNT_OF(many); i++) {
		inventory.allocation_ratio = many[i];
		IS(one(do_change_one, 4, inventory), OK, "a ratio");
		IS(client_run(&here, do_list, &s), OK, "read");
		ok(memcmp(&s.inventories[0].allocation_ratio, &many[i], sizeof(double)) == 0, "%g is what was written (%g)", many[i],
			s.inventories[0].allocation_ratio);
	}
	s.may_reserve_all = false;
}

static void inventories(void)
{
	struct inventory vcpu = has("VCPU", 10), disk = has("DISK_GB", 100);

	disk.reserved = 100;
	IS(one(do_add, 9, vcpu), NOT_FOUND, "of no provider");
	IS(one(do_add, 4, disk), BAD_DOCUMENT, "nothing left");
	says("Unable to create inventory for resource provider");
	says("greater than or equal to total");
	IS(one(do_add, 4, has("HOUSE", 1)), BAD_DOCUMENT, "no class");
	says("Unable to create inventory for resource provider");
	says("No such resource class HOUSE");
	IS(one(do_add, 4, vcpu), CREATED, "an inventory");
	is_int((long long)s.provider.generation, 1, "generation");
	is_changes(&here.request_id, 1, "an inventory");
	IS(one(do_add, 4, vcpu), CONFLICT, "the same");
	says("Update conflict");
	IS(one(do_change_one, 4, disk), BAD_DOCUMENT, "nothing left comes first");
	says("Unable to update inventory for resource provider");
	disk.reserved = 0;
	IS(one(do_change_one, 4, disk), BAD_DOCUMENT, "none of that class");
	says("No inventory record with resource class");
	IS(one(do_change_one, 4, has("HOUSE", 1)), NOT_FOUND, "no class");
	says("No such resource class HOUSE");
	s.guard = (struct provider_guard){ .has_generation = true, .generation = 5 };
	IS(one(do_change_one, 4, vcpu), CONFLICT, "another generation");
	says("resource provider generation conflict");
	has_code("concurrent_update");
	s.guard = (struct provider_guard){ 0 };
	ratios();
}

static void more_inventories(void)
{
	struct inventory disk = has("DISK_GB", 100);

	IS(stock(4, has("VCPU", 8), disk), OK, "two");
	uint64_t generation = s.provider.generation;
	IS(stock(4, has("VCPU", 8), disk), OK, "the same again");
	is_int((long long)s.provider.generation, (long long)generation + 1, "raises the generation");
	IS(stock(4, disk, (struct inventory){ 0 }), OK, "only one");
	IS(client_run(&here, do_list, &s), OK, "read");
	ok(s.n == 1 && str_eq_c(s.inventories[0].class, "DISK_GB") && s.inventories[0].total == 100, "the other is gone");
	IS(stock(4, has("HOUSE", 1), disk), BAD_DOCUMENT, "no class");
	says("Unknown resource class in inventory");
	disk.reserved = 100;
	s.may_reserve_all = true;
	IS(stock(4, disk, (struct inventory){ 0 }), OK, "all may be reserved");
	disk.reserved = 101;
	IS(stock(4, disk, (struct inventory){ 0 }), BAD_DOCUMENT, "but not more");
	says("The reserved value is greater than total");
	s.name = STR("VCPU");
	IS(client_run(&here, do_delete_one, &s), NOT_FOUND, "none of that class");
	says("No inventory of class VCPU found for delete");
	s.name = STR("DISK_GB");
	IS(client_run(&here, do_delete_one, &s), NO_CONTENT, "deleted");
	IS(client_run(&here, do_delete_all, &s), NO_CONTENT, "all of none");
	IS(stock(4, has("CUSTOM_B", 8), (struct inventory){ 0 }), OK, "of our own class");
	IS(with_class(do_delete_class, "CUSTOM_B", ""), CONFLICT, "that can't go");
	says("Class is in use in inventory");
	is_sound("inventories");
}

static enum outcome do_aggregates(struct registry *registry, void *arg)
{
	struct step *step = arg;
	return aggregate_set(registry, &step->uid, &step->guard, step->raises, step->aggregates, step->n, &step->provider);
}

static enum outcome do_list_aggregates(struct registry *registry, void *arg)
{
	struct step *step = arg;
	struct uuid *list;
	enum outcome outcome = aggregate_list(registry, &step->uid, &step->provider, &list, &step->n);
	if (outcome == OUTCOME_OK && step->n > 0)
		memcpy(step->aggregates, list, step->n * sizeof(*list));
	return outcome;
}

static void aggregates(void)
{
	IS(get(1), OK, "a provider");
	uint64_t generation = s.provider.generation;
	s.aggregates[0] = uid_n(103);
	s.aggregates[1] = s.aggregates[2] = uid_n(101);
	s.n = 3;
	s.raises = false;
	s.guard = (struct provider_guard){ 0 };
	IS(client_run(&here, do_aggregates, &s), OK, "three, two of them the same");
	is_int((long long)s.provider.generation, (long long)generation, "the generation stays");
	is_changes(&here.request_id, 1, "aggregates");
	IS(client_run(&here, do_list_aggregates, &s), OK, "read");
	ok(s.n == 2 && uuid_eq(s.aggregates[0], uid_n(101)) && uuid_eq(s.aggregates[1], uid_n(103)), "in order, each once");
	IS(client_run(&here, do_aggregates, &s), OK, "the same again");
	is_changes(&here.request_id, 0, "the same again");
	s.raises = true;
	s.guard = (struct provider_guard){ .has_generation = true, .generation = generation };
	IS(client_run(&here, do_aggregates, &s), OK, "the same, raising");
	is_int((long long)s.provider.generation, (long long)generation + 1, "the generation");
	IS(client_run(&here, do_aggregates, &s), CONFLICT, "with the old generation");
	has_code("concurrent_update");
	s.guard = (struct provider_guard){ 0 };
	s.n = 0;
	IS(client_run(&here, do_aggregates, &s), OK, "none");
	IS(client_run(&here, do_list_aggregates, &s), OK, "read");
	is_int((long long)s.n, 0, "aggregates");
	is_sound("aggregates");
}

static struct trait_edit trait_edit;

static enum outcome do_traits(struct registry *registry, void *arg)
{
	struct step *step = arg;
	return provider_change_traits(registry, &step->uid, &step->guard, &trait_edit, &step->provider);
}

static enum outcome change_traits(unsigned n, enum trait_change change, const struct str *names, size_t n_names)
{
	s.uid = uid_n(n);
	trait_edit = (struct trait_edit){ .change = change, .names = names, .n = n_names };
	return client_run(&here, do_traits, &s);
}

static void traits(void)
{
	const struct str names[] = { STR("CUSTOM_X"), STR("HW_Y"), STR("BOGUS") };

	server_sql("INSERT INTO traits (name, created_at, updated_at) VALUES ('CUSTOM_X', NOW(), NOW()), ('HW_Y', NOW(), NOW());\n");
	IS(get(1), OK, "a provider");
	const uint64_t first = s.provider.generation;
	s.guard = (struct provider_guard){ .has_generation = true, .generation = first + 1 };
	IS(change_traits(9, TRAITS_SET, names, 3), NOT_FOUND, "of no provider");
	says("No resource provider with uuid");
	IS(change_traits(1, TRAITS_SET, names, 3), CONFLICT, "another generation comes before an unknown trait");
	says("Resource provider's generation already changed");
	has_code("concurrent_update");
	s.guard.generation = first;
	IS(change_traits(1, TRAITS_SET, names, 3), BAD_PARAMETER, "an unknown trait");
	says("No such trait");
	says("BOGUS");
	IS(change_traits(1, TRAITS_SET, names, 2), OK, "two");
	is_int((long long)s.provider.generation, (long long)first + 1, "generation");
	is_changes(&here.request_id, 1, "traits");
	s.guard.generation = first + 1;
	IS(change_traits(1, TRAITS_SET, names, 2), OK, "the same");
	is_int((long long)s.provider.generation, (long long)first + 1, "the generation stays");
	s.guard = (struct provider_guard){ 0 };
	IS(change_traits(1, TRAITS_REMOVE, names + 2, 1), NOT_FOUND, "one that it does not have");
	IS(change_traits(1, TRAITS_REMOVE, names, 1), OK, "one that it has");
	is_int((long long)s.provider.generation, (long long)first + 2, "generation");
	IS(change_traits(1, TRAITS_CLEAR, NULL, 0), OK, "none");
	IS(change_traits(1, TRAITS_CLEAR, NULL, 0), OK, "again");
	is_int((long long)s.provider.generation, (long long)first + 3, "generation");
	is_sound("traits");
}

int main(void)
{
	fixture_start();
	made_and_named();
	planted();
	chained();
	gone_and_back();
	classes();
	inventories();
	more_inventories();
	aggregates();
	traits();
	is_sized("at the end");
	return fixture_end();
}
