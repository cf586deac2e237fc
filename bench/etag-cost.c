// SPDX-License-Identifier: Apache-2.0
// etag-cost FILE SECONDS: what the etag of a node costs when the node is changed. FILE has its body as it is stored.
// Prints microseconds of CPU for each change: the HMAC and the text that it is made over, as often as
// registry/resource/write.c makes them.
#include "base/base.h"

#include "base/digest.h"
#include "base/pool.h"
#include "bench.h"
#include "registry/baremetal/baremetal.h"
#include "registry/baremetal/rules.h"
#include "registry/resource/internal.h"
#include "registry/tags/etag.h"
#include "registry/tags/keys.h"

enum { MAX_BODY = 64 * 1024, AT_ONCE = 1000 };

// What the etag covers of the body before and of the one behind, to see whether it has changed, and the tag of the latter.
static bool tag(struct registry *registry, struct resource *resource)
{
	struct str before = etag_covered(registry->pool, resource), covered = etag_covered(registry->pool, resource);

	resource->edits++;
	etag_of_covered(registry, resource, covered);
	return str_eq(before, covered);
}

// Others may be at work as well, so the clock on the wall does not tell.
static double cpu_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static size_t read_body(const char *path, char *body)
{
	FILE *file = fopen(path, "r");
	size_t n = file != NULL ? fread(body, 1, MAX_BODY, file) : 0;

	if (file == NULL || n == 0 || n == MAX_BODY)
		die("%s can't be read, or is no body of a node", path);
	(void)fclose(file);
	return n;
}

int main(int argc, char **argv)
{
	static char body[MAX_BODY];
	static const char key[ETAG_KEY_SIZE] = "a key like any other: 256 bits.";
	static struct etag_keys keys = { .n = 1 };
	struct type type = { .rules = &node_rules };
	struct pool *pool = pool_new();
	struct registry_store store = { .etag_keys = &keys };
	struct registry registry = { .store = &store, .pool = pool };
	struct resource resource = { .type = &type, .uid = uuid_new(), .meta = STR("{}") };
	uint64_t done = 0;

	if (argc != 3)
		die("usage: etag-cost FILE SECONDS");
	keys.keys[0] = (struct etag_key){ .id = ETAG_KEYS_FIRST, .key = digest_key_new(str_n(key, sizeof(key))) };
	if (pool == NULL || keys.keys[0].key == NULL)
		die("no memory");
	resource.body = str_n(body, read_body(argv[1], body));
	double began = cpu_seconds(), until = bench_seconds() + bench_number(argv[2], 3600);
	struct pool_mark mark = pool_mark(pool);
	while (bench_seconds() < until) {
		for (size_t i = 0; i < AT_ONCE; i++) {
			done += tag(&registry, &resource) ? 1 : 0;
			pool_rewind(pool, mark);
		}
	}
	printf("%.3f\n", (cpu_seconds() - began) * 1e6 / (double)done);
	digest_key_free(&keys.keys[0].key);
	pool_free(&pool);
	return 0;
}
