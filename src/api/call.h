// SPDX-License-Identifier: Apache-2.0
// All state of one request, passed from step to step and to the handler. There is no other mutable state.
#ifndef TENURE_API_CALL_H
#define TENURE_API_CALL_H

#include "auth/core/principal.h"
#include "auth/session.h"
#include "base/problem.h"
#include "http/request.h"
#include "http/response.h"
#include "registry/core/context.h"
#include "repr/shape/shape.h"
#include "wadl/route.h"

struct config;
struct endpoint_config;
struct placement_policy; // auth/policy/placement_policy.h
struct shared;           // base/shared.h

struct call {
	struct pool *pool;
	struct pool *scratch; // for memory that is needed only until the next object or page of a list; else it equals pool
	const struct config *config;
	const struct endpoint_config *endpoint;
	const struct placement_policy *placement_policy; // NULL: none is configured
	const struct route_table *routes;
	const struct shared *host; // memory that the processes of the host share; NULL: none
	struct uuid request_id;
	int64_t started_us;      // clock_tick_us()
	struct route_match match;
	struct realm realm;      // what the address is about, derived from its parameter "tenant"
	unsigned version;        // minor number of the requested microversion; 0: none is known
	struct principal who;
	struct session session;   // by which the caller was authenticated; id.p NULL: by none, its credential came with the request
	enum repr_format produce; // format of the answer
	const char *produce_type; // its negotiated media type, "application/json"
	const char *consume_type; // media type of the request body as matched in the WADL; NULL if there is no body
	enum repr_format consume;
	struct registry registry[1]; // the request's view of the worker's store; an array of one, so that its name is a pointer
	bool may_hand_over;       // there is a watch process that can continue the answer
	struct str handover;      // the description of a watch: the watch process continues the answer that the worker has begun; p
	                          // NULL: the answer is complete
	bool dry_run;             // the transaction is rolled back at its end, and answered as if it had been committed
	struct problem problem;   // what went wrong: the last description by a step, the handler or the registry
	struct request request;
	struct response response;
};

// One method of the API: reads parameters, calls the registry, and renders into call->response. It runs inside the transaction
// that its WADL names, and may run again, so it starts from nothing each time. Its outcome decides between commit and rollback,
// and gives the status unless the handler set another. If the outcome is 400 or above, the dialect renders the problem.
typedef enum outcome handler_fn(struct call *call);

struct endpoint {
	const char *id; // method id in the dialect's WADL
	handler_fn *run;
};

// A dialect: its WADL (NAME.wadl), its handlers, and its form of errors. A function that is NULL does nothing.
struct dialect {
	const char *name;
	const struct endpoint *endpoints; // ends with id NULL
	// Renders call->problem, which is also the argument problem, into call->response: status, headers, body.
	void (*render_problem)(struct call *call, enum outcome outcome, const struct problem *problem);
	// Called once routing has found the dialect, whether or not it found a method; before authentication.
	// It may answer the request itself: it sets response.status and returns an outcome other than OUTCOME_OK.
	// found: OUTCOME_OK with call->match.method, or routing's error, described in call->problem. Returns the outcome to go on
	// with: found itself, or another one with call->problem set.
	enum outcome (*enter)(struct call *call, enum outcome found);
	// Called after authentication for a method that was found. by_role: what the comparison of roles (principal_may) came to.
	// Returns the outcome to go on with: by_role, or another one with call->problem set.
	enum outcome (*permit)(struct call *call, enum outcome by_role);
	// Called for every response, errors included: adds header fields that all of them have.
	void (*leave)(struct call *call);
	// Authentication comes before routing errors: an anonymous caller gets 401 instead of 404, 405 or 406.
	bool asks_first;
	bool has_all_tenants; // in its addresses the word "all", in a tenant's place, means every tenant
	bool watches; // it has methods that set call->handover
};

extern const struct dialect tenancy_dialect, baremetal_dialect, placement_dialect, spaces_dialect;

// Makes *call as new, except the array of header fields: it is most of the struct, and is written before it is read.
void call_clear(struct call *call, struct pool *pool);
// Sets call->problem and returns outcome.
enum outcome call_fail(struct call *call, enum outcome outcome, const char *format, ...) PRINTF_LIKE(3, 4);
// Sets call->realm to what the routed address (call->match) is about, as its dialect defines it, independent of the caller.
// Whoever routes an address calls it before anything else uses the call; nothing parses the address for its tenant again.
// has_all_tenants: of the dialect.
void call_set_realm(struct call *call, bool has_all_tenants);
// Value of a declared parameter; STR_NONE if absent.
struct str call_param(const struct call *call, const char *name);
// Parses a microversion, two numbers as in "1.40". False: it is none.
bool call_parse_version(struct str text, uint64_t *major, uint64_t *minor);
// The limits for a document in a request.
struct doc_limits call_limits(const struct call *call);
// Reads the request's body as this document. OUTCOME_OK, or OUTCOME_BAD_DOCUMENT with call->problem set.
enum outcome call_read(struct call *call, const struct repr_document *document, struct doc **body);
// Writes body as this document in the negotiated format into the response.
void call_write(struct call *call, const struct repr_document *document, const struct doc *body);
// The absolute URL of a path of this service. It begins with the URL of the setting public_url that has the request's scheme and
// Host, else with the https URL that has its Host, else with its first URL. If public_url is empty, it begins with the request's
// scheme and Host, provided that Host is a plain host. For the console's page it is the path itself.
struct str call_url(struct call *call, struct str path);
// Does the client reach the service by https? A proxy in front may have ended the TLS: public_url says so then.
bool call_is_secure(const struct call *call);

#endif
