// SPDX-License-Identifier: Apache-2.0
// Placement: resource providers.
#include "base/base.h"

#include "lib/object.h"

const struct version_field placement_version = { "OpenStack-API-Version", "placement 1.39" };

// What a client may set in a provider; a PUT takes nothing else.
static const char *const settable[] = { "name", "parent_provider_uuid" };

struct doc *provider_own(struct pool *pool, const struct doc *document)
{
	struct doc *own = doc_new_object(pool);
	const struct doc *value;

	for (size_t i = 0; i < COUNT_OF(settable); i++) {
		if (doc_get(document, str_c(settable[i]), &value))
			doc_set(own, str_c(settable[i]), value != NULL ? doc_copy(pool, value) : NULL);
	}
	return own;
}

// A member that the patch removes is sent as null: without the member, a PUT would keep the provider's parent.
struct doc *provider_merge(struct pool *pool, const struct doc *document, const struct doc *patch)
{
	struct doc *own = provider_own(pool, doc_merge_patch(pool, document, patch));
	const struct doc *value;

	for (size_t i = 0; i < COUNT_OF(settable); i++) {
		if (doc_get(patch, str_c(settable[i]), &value) && value == NULL)
			doc_set(own, str_c(settable[i]), NULL);
	}
	return own;
}

struct tenure_resource *tenure_provider_new(struct tenure_client *client, const char *uuid)
{
	struct pool *pool = call_pool();
	struct tenure_resource *provider = NULL;
	struct buf path = buf_new(pool, 128);

	BUF_LIT(&path, PLACEMENT_ROOT "/resource_providers");
	if (uuid == NULL || client_path_add(&path, str_c(uuid)))
		provider = resource_at(client, buf_str(&path), OBJECT_PROVIDER);
	if (provider != NULL)
		provider->unmade = uuid == NULL;
	pool_free(&pool);
	return provider;
}
