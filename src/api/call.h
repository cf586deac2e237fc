// SPDX-License-Identifier: Apache-2.0
// Everything one request needs, handed from step to step and to the handler. There is no other mutable state.
#ifndef TENURE_API_CALL_H
#define TENURE_API_CALL_H

#include "auth/principal.h"
#include "base/problem.h"
#include "http/request.h"
#include "http/response.h"
#include "registry/core/context.h"
#include "repr/shape/shape.h"
#include "wadl/route.h"

struct config;
struct endpoint_config;

struct call {
	struct pool *pool;
	struct pool *scratch; // for what is needed until the next object or page of a list, which gives it back; else pool itself
	const struct config *config;
	const struct endpoint_config *endpoint;
	const struct route_table *routes;
	struct uuid request_id;
	int64_t started_us;      // clock_tick_us
	struct route_match match;
	struct realm realm;      // what the address means, of its parameter "tenant"
	unsigned version;        // the microversion asked for, its minor number; 0: none is known
	struct principal who;
	enum repr_format produce; // what the answer is written in
	const char *produce_type; // its media type as negotiated, "application/json"
	const char *consume_type; // the request body's as matched in the WADL; NULL without body
	enum repr_format consume;
	struct registry *registry;
	bool may_order;           // there is a process that takes orders from workers
	struct str order;         // for it: the answer is only begun, and it goes on; p NULL: the answer is whole
	bool dry_run;             // what the handler did is undone at its end, and answered as if it were not
	struct problem problem;   // what went wrong: told by a step, the handler or the registry, whichever spoke last
	struct request request;
	struct response response;
};

// One method of the API: reads parameters, calls the registry, renders into call->response. Runs inside the transaction
// its WADL names; may run again, so it starts from nothing. The outcome decides commit or rollback and, unless the
// handler set another, the status. On an outcome of 400 and above the dialect renders the problem.
typedef enum outcome handler_fn(struct call *call);

struct endpoint {
	const char *id; // method id in the dialect's WADL
	handler_fn *run;
};

// A dialect: its WADL (NAME.wadl), its handlers, and how it tells an error. NULL members: nothing is to be done.
struct dialect {
	const char *name;
	const struct endpoint *endpoints; // ends with id NULL
	// Renders the problem, which is call->problem, for outcome into call->response: status, headers, body.
	void (*render_problem)(struct call *call, enum outcome outcome, const struct problem *problem);
	// Called once it is known whose the address is, whether or not a method was found there; before it is asked who asks.
	// found: OUTCOME_OK with call->match.method, or what routing ends with, its problem in call->problem. What it answers
	// goes on instead: found itself, or another outcome with call->problem set.
	enum outcome (*enter)(struct call *call, enum outcome found);
	// A last look at every response, errors included: for headers that stand on all of them.
	void (*leave)(struct call *call);
	// Who asks is settled before anything is said about an address that leads nowhere: 401 before 404, 405, 406.
	bool asks_first;
	bool has_all_tenants; // in its addresses the word "all" means every tenant, where a tenant's name may stand
	bool watches; // it has methods that give orders (call->order)
};

extern const struct dialect tenancy_dialect, baremetal_dialect, placement_dialect, spaces_dialect;

// As a new one, but for the room for header fields, which is most of it and is written before it is read.
void call_clear(struct call *call, struct pool *pool);
// Fills call->problem and returns outcome.
enum outcome call_fail(struct call *call, enum outcome outcome, const char *format, ...) PRINTF_LIKE(3, 4);
// Value of a declared parameter, STR_NONE when absent.
struct str call_param(const struct call *call, const char *name);
// How large a document in a request may be.
struct doc_limits call_limits(const struct call *call);
// Reads the request's body as this document. OUTCOME_OK, or OUTCOME_BAD_DOCUMENT with call->problem set.
enum outcome call_read(struct call *call, const struct repr_document *document, struct doc **body);
// Writes body as this document in the negotiated format into the response.
void call_write(struct call *call, const struct repr_document *document, const struct doc *body);
// An absolute URL for a path of this service. It begins with the one of endpoint->public_url that has the request's scheme and
// Host, else with the first of them. Where there is none: with the request's scheme and Host, if that is a plain host.
struct str call_url(struct call *call, struct str path);

#endif
