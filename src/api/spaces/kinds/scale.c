// SPDX-License-Identifier: Apache-2.0
// The part "scale" of a custom type's objects. A Scale has the wanted and the present number of replicas; the definition has the
// paths at which the object contains them.
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "api/spaces/kinds/kinds.h"
#include "base/buf.h"
#include "base/pool.h"

// REPLICAS_NONE stands in a Scale that is patched where the object has no number of replicas: as Kubernetes does it, so that a
// patch of something else does not scale to 0. (A PUT without a number means 0, as Go's clients leave that out.)
#define REPLICAS_NONE INT32_MIN
enum { REPLICAS_MAX = INT32_MAX };

static struct str path_of(const struct target *target, const char *name)
{
	const struct doc *path;

	if (!doc_get(target->version->scale, str_c(name), &path) || doc_kind(path) != DOC_STRING)
		return STR("");
	return doc_string(path);
}

// The value at a path such as ".spec.replicas"; NULL if there is none.
static const struct doc *at_path(const struct doc *object, struct str path)
{
	struct str rest = str_part(path, 1, path.n), name;
	const struct doc *at = path.n > 1 ? object : NULL;

	while (at != NULL && str_split(&rest, '.', &name))
		if (!doc_get(at, name, &at))
			return NULL;
	return at;
}

// A copy of body with value at the path; missing objects on the way are created.
static struct doc *with_at_path(struct pool *pool, const struct doc *body, struct str path, struct doc *value)
{
	struct doc *copy = doc_kind(body) == DOC_OBJECT ? doc_copy(pool, body) : doc_new_object(pool);
	struct str rest = str_part(path, 1, path.n), name;
	const struct doc *inner = NULL;

	if (!str_split(&rest, '.', &name))
		return copy;
	(void)doc_get(copy, name, &inner);
	if (rest.p == NULL)
		doc_set(copy, name, value);
	else
		doc_set(copy, name, with_at_path(pool, inner, str_printf(pool, ".%.*s", STR_ARG(rest)), value));
	return copy;
}

static void add_replicas(struct pool *pool, struct doc *to, const struct doc *replicas)
{
	int64_t n;

	(void)doc_whole_i64(replicas, &n); // 0 if it is no integer
	doc_set(to, STR("replicas"), doc_new_i64(pool, n));
}

static struct doc *scale_metadata(struct pool *pool, const struct doc *object)
{
	static const char *const names[] = { "name", "namespace", "tenant", "uid", "resourceVersion", "creationTimestamp" };
	struct doc *metadata = doc_new_object(pool);
	struct str link = spaces_metadata_text(object, "selfLink");

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct str value = spaces_metadata_text(object, names[i]);
		if (value.p != NULL)
			doc_set_str(pool, metadata, names[i], value);
	}
	doc_set_str(pool, metadata, "selfLink", str_printf(pool, "%.*s/scale", STR_ARG(link)));
	return metadata;
}

struct doc *kind_scale(struct pool *pool, const struct target *target, const struct doc *object)
{
	struct doc *scale = doc_new_object(pool), *spec = doc_new_object(pool), *status = doc_new_object(pool);
	const struct doc *selector = at_path(object, path_of(target, "labelSelectorPath"));

	assert(target->part == PART_SCALE);
	doc_set_str(pool, scale, "kind", STR("Scale"));
	doc_set_str(pool, scale, "apiVersion", STR("autoscaling/v1"));
	doc_set(scale, STR("metadata"), scale_metadata(pool, object));
	add_replicas(pool, spec, at_path(object, path_of(target, "specReplicasPath")));
	add_replicas(pool, status, at_path(object, path_of(target, "statusReplicasPath")));
	if (doc_kind(selector) == DOC_STRING)
		doc_set_str(pool, status, "selector", doc_string(selector));
	doc_set(scale, STR("spec"), spec);
	doc_set(scale, STR("status"), status);
	return scale;
}

struct doc *kind_scale_to_patch(struct pool *pool, const struct target *target, const struct doc *object)
{
	struct doc *scale = kind_scale(pool, target, object);

	if (at_path(object, path_of(target, "specReplicasPath")) == NULL)
		doc_set(doc_own_member(scale, STR("spec")), STR("replicas"), doc_new_i64(pool, REPLICAS_NONE));
	return scale;
}

enum outcome kind_scaled_body(const struct change_of_object *change, const struct doc *scale, const struct doc *stored,
	struct doc **body)
{
	const struct field_path spec_at = field_name(NULL, STR("spec")), at = field_name(&spec_at, STR("replicas"));
	struct field_faults faults = field_faults_new(change->call->pool);
	struct pool *pool = change->call->pool;
	struct str path = path_of(change->target, "specReplicasPath");
	const struct doc *spec = NULL, *replicas = NULL;
	int64_t n = 0, present;

	assert(change->target->part == PART_SCALE);
	if (!doc_get(scale, STR("spec"), &spec) || !doc_get(spec, STR("replicas"), &replicas))
		replicas = NULL;
	if (doc_whole_i64(replicas, &n) && n == REPLICAS_NONE)
		return call_fail(change->call, OUTCOME_BAD_DOCUMENT, "the spec replicas field \"%.*s\" cannot be empty", STR_ARG(path));
	if (replicas != NULL &&
		(doc_kind(replicas) != DOC_NUMBER || !doc_whole_i64(replicas, &n) || n < 0 || n > REPLICAS_MAX)) {
		field_invalid(&faults, &at, replicas, "must be a number from 0 to 2147483647");
		return spaces_fail_invalid(change->call, change->target->definition, change->target->name, &faults);
	}
	if (doc_whole_i64(at_path(stored, path), &present) && present == n)
		*body = doc_copy(pool, stored); // also if it is written as 3.0
	else
		*body = with_at_path(pool, stored, path, doc_new_i64(pool, n));
	return OUTCOME_OK;
}
