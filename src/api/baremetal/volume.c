// SPDX-License-Identifier: Apache-2.0
// volume: links to its two collections, those of all nodes or those of one.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "base/pool.h"
#include "http/uri.h"

enum outcome get_volume(struct call *call)
{
	struct str name = call_param(call, "node");
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);
	struct buf path = buf_new(pool, 64);
	enum outcome outcome = OUTCOME_OK;
	struct resource node;

	if (name.p != NULL)
		outcome = kind_find(call, &node_kind, name, &node);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (name.p != NULL) {
		BUF_LIT(&path, "nodes/");
		uri_add_segment(&path, name);
		buf_addc(&path, '/');
	}
	BUF_LIT(&path, "volume/");
	doc_set(doc, STR("links"), baremetal_links(call, buf_str(&path)));
	doc_set(doc, STR("connectors"), baremetal_links(call, str_printf(pool, "%.*sconnectors", STR_ARG(path))));
	doc_set(doc, STR("targets"), baremetal_links(call, str_printf(pool, "%.*stargets", STR_ARG(path))));
	baremetal_write_json(call, doc);
	return OUTCOME_OK;
}
