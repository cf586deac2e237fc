// SPDX-License-Identifier: Apache-2.0
// Information about the service itself: versions, health, its WADL.
#include "base/base.h"

#include "api/tenancy/tenancy.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/metrics_text.h"
#include "base/pool.h"
#include "registry/registry.h"

// The Makefile defines it.
#ifndef TENURE_VERSION
#define TENURE_VERSION "development"
#endif

static struct doc *version_doc(struct call *call, const char *id, const char *status)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool), *links = doc_new_array(pool), *link = doc_new_object(pool);

	doc_set_str(pool, link, "rel", STR("self"));
	doc_set_str(pool, link, "href", call_url(call, str_printf(pool, "/%s", id)));
	doc_push(links, link);
	doc_set_str(pool, doc, "id", str_c(id));
	doc_set_str(pool, doc, "status", str_c(status));
	doc_set(doc, STR("links"), links);
	return doc;
}

enum outcome get_versions(struct call *call)
{
	struct doc *doc = doc_new_object(call->pool), *list = doc_new_array(call->pool);

	doc_push(list, version_doc(call, "v1.0", "SUPPORTED"));
	doc_push(list, version_doc(call, "v2.0", "CURRENT"));
	doc_set(doc, STR("versions"), list);
	call_write(call, &versions_document, doc);
	return OUTCOME_OK;
}

enum outcome get_health(struct call *call)
{
	struct doc *doc = doc_new_object(call->pool);
	enum outcome outcome = registry_ping(call->registry);

	if (outcome != OUTCOME_OK)
		return outcome;
	doc_set_str(call->pool, doc, "status", STR("ok"));
	if (log_access_fails())
		doc_set_str(call->pool, doc, "access_log", STR("lines are lost: it can't be written"));
	call_write(call, &health_document, doc);
	return OUTCOME_OK;
}

enum outcome get_metrics(struct call *call)
{
	struct buf text = buf_new(call->pool, 65536);

	metrics_text(&text, call->host, TENURE_VERSION);
	call->response.body = buf_str(&text);
	call->response.content_type = STR(METRICS_TEXT_TYPE);
	return OUTCOME_OK;
}

enum outcome get_wadl(struct call *call)
{
	call->response.body = route_document(call->routes);
	call->response.content_type = STR("application/vnd.sun.wadl+xml");
	return OUTCOME_OK;
}
