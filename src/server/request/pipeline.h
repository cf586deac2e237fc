// SPDX-License-Identifier: Apache-2.0
// The one table of steps that every request goes through: identify, route, receive, authenticate, permit, admit, negotiate, run.
// A step that ends the request skips the rest of them; encode and log follow always. No FastCGI here: the worker fills
// call->request and sends call->response.
#ifndef TENURE_SERVER_REQUEST_PIPELINE_H
#define TENURE_SERVER_REQUEST_PIPELINE_H

#include "api/call.h"
#include "server/request/limits.h"
#include "server/wire/transport.h"

struct auth;

// A worker's tools, the same for all its requests.
struct pipeline {
	const struct config *config;
	const struct endpoint_config *endpoint;
	const struct route_table *routes;
	struct auth *auth;
	struct registry *registry;
	struct db *db;
	struct limits *limits; // what one client may take; NULL: everything
	bool may_order;      // as call->may_order
	bool busy;           // as fcgi_is_busy() says of the request: there may be others behind it
	struct limits_watch watch; // that the last request's order is about
	bool has_home;       // the default tenant, if one is set, was there
};

// Runs the steps. pool is the request's; *call is zeroed by the caller but for request and pool. At the end
// call->response is whole, the transaction is over, the access line is written; that of a busy worker may be put off.
void pipeline_run(struct pipeline *pipeline, struct call *call, enum transport_fault fault);

#endif
