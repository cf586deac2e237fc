// SPDX-License-Identifier: Apache-2.0
// Addresses in answers.
#include "base/base.h"

#include <limits.h>
#include <unistd.h>

#include "api/baremetal/common/baremetal.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/baremetal/settings.h"

// Where the dialect is mounted: what stands before "v1" in the requested address.
static struct str mount_point(struct call *call)
{
	const struct uri *uri = &call->request.uri;
	struct buf out = buf_new(call->pool, 32);

	for (size_t i = 0; i < uri->n_segments && !str_eq(uri->segments[i], STR("v1")); i++) {
		buf_addc(&out, '/');
		uri_add_segment(&out, uri->segments[i]);
	}
	return buf_str(&out);
}

struct str baremetal_url(struct call *call, struct str path)
{
	struct buf whole = buf_new(call->pool, 128);

	buf_add(&whole, mount_point(call));
	buf_add(&whole, path);
	return call_url(call, buf_str(&whole));
}

static struct doc *link_doc(struct call *call, const char *rel, const char *before, struct str path)
{
	struct doc *link = doc_new_object(call->pool);

	doc_set_str(call->pool, link, "href", baremetal_url(call, str_printf(call->pool, "%s%.*s", before, STR_ARG(path))));
	doc_set_str(call->pool, link, "rel", str_c(rel));
	return link;
}

struct doc *baremetal_links(struct call *call, struct str path)
{
	struct doc *links = doc_new_array(call->pool);

	doc_push(links, link_doc(call, "self", "/v1/", path));
	doc_push(links, link_doc(call, "bookmark", "/", path));
	return links;
}

struct str baremetal_host(struct call *call)
{
	struct str conductor = str_c(baremetal_settings(call->config)->conductor);
	char name[HOST_NAME_MAX + 1];

	if (conductor.n > 0)
		return conductor;
	if (gethostname(name, sizeof(name)) != 0)
		return STR("localhost");
	name[HOST_NAME_MAX] = '\0';
	return str_dup(call->pool, str_c(name));
}
