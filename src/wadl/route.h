// SPDX-License-Identifier: Apache-2.0
// The route table: compiled from an endpoint's WADL by wadl_load() in the master, read-only from then on.
// 404, 405 with Allow, 400 for a parameter that breaks its type, 406 and 415 are answered from it.
#ifndef TENURE_WADL_ROUTE_H
#define TENURE_WADL_ROUTE_H

#include "auth/role.h"
#include "base/outcome.h"
#include "base/str.h"
#include "http/request.h"

struct pool;
struct route_table;
struct route_param; // private to wadl/

enum txn_mode {
	TXN_NONE,     // the handler does not use the database
	TXN_READ,     // single statements, each consistent in itself
	TXN_SNAPSHOT, // several statements that see one state
	TXN_WRITE,
};

enum param_style { PARAM_TEMPLATE, PARAM_QUERY, PARAM_HEADER };

// A method as the WADL describes it. Immutable; strings live as long as the table.
struct route_method {
	const char *id;      // "putTenant"
	const char *dialect; // name of the file it is defined in, without ".wadl": "tenancy"
	enum http_method method;
	const void *handler; // what the finder of wadl_load gave for (dialect, id)
	enum role role;      // the method's t:role, or the role of the reference to it if that is higher
	enum txn_mode txn;   // t:txn
	unsigned min_version, max_version; // microversions it exists in, minor numbers (t:min, t:max); 0: no limit
	const char *const *produces; // media types of its responses, in order of preference
	size_t n_produces;
	const char *const *consumes; // of its request, "*/*" means any; n_consumes 0: takes no body
	size_t n_consumes;
	bool body_required;  // t:body="required" on the request representation
	const struct route_param *params; // template, query and header, declared at the method or on its path
	size_t n_params;
};

enum { ROUTE_MAX_PARAMS = 24 };

// A request's match: which method, and the values of its template parameters and of its declared query and header
// parameters, checked against their types, defaults filled in.
struct route_match {
	const struct route_method *method;
	const char *dialect;  // also set if no method matched: the dialect in whose form the error is answered; never NULL
	size_t n;
	struct {
		const char *name;
		struct str value; // decoded
	} values[ROUTE_MAX_PARAMS];
	struct str allow;     // with OUTCOME_METHOD_NOT_ALLOWED: "GET, HEAD, PUT"; also for OPTIONS
};

// Path and method. Literal segments win over templates, whatever the order in the file. HEAD is a method of its own where
// the WADL has one, else GET's. OPTIONS where no WADL method has it: OUTCOME_NO_CONTENT with match->allow set.
// A segment that breaks its template parameter's type: OUTCOME_BAD_ADDRESS, with *detail saying the rule it breaks.
// OUTCOME_OK, _NO_CONTENT, _NOT_FOUND, _METHOD_NOT_ALLOWED, _BAD_ADDRESS, _UNKNOWN_METHOD.
enum outcome route_find(const struct route_table *table, struct pool *pool, const struct request *request,
	struct route_match *match, struct str *detail);

// The dialect of an address that could not be parsed completely, from its first segments; as in route_match.dialect.
const char *route_dialect(const struct route_table *table, const struct uri *uri);

// Declared query and header parameters: required ones present, each of its type, within its options, single ones not
// repeated; a query parameter that the method doesn't declare is refused by name, with the declared ones listed.
// Where the WADL says t:query="any" the query is left to the handler: nothing of it is checked or bound.
// OUTCOME_OK or OUTCOME_BAD_PARAMETER with *detail.
enum outcome route_check_params(struct pool *pool, const struct request *request, struct route_match *match,
	struct str *detail);

// Does the method have a query parameter of that name?
bool route_declares(const struct route_method *method, struct str name);

// Media types: OUTCOME_OK; OUTCOME_NOT_ACCEPTABLE (*detail lists what could be had) when no representation fits Accept;
// OUTCOME_UNSUPPORTED_MEDIA when a body came and its Content-Type is none that the method takes (also: a body without
// Content-Type). *produce: index into method->produces, -1 when the method has no representations; *consume: index into
// method->consumes, -1 when no body came or the method takes none (a body it doesn't take is ignored).
// A method that fails 406 on success alone is still answered errors in any form.
enum outcome route_negotiate(struct pool *pool, const struct request *request, const struct route_method *method,
	int *produce, int *consume, struct str *detail);

// Value of a parameter; STR_NONE when it was not given and has no default.
struct str route_value(const struct route_match *match, const char *name);
// True when the method's WADL lists the status among its responses.
bool route_lists_status(const struct route_method *method, int status);
// Every method of the table, for tests and tools: index from 0, NULL at the end. *path: "/{version}/{tenant}".
const struct route_method *route_nth(const struct route_table *table, size_t index, const char **path);
// The composed WADL: application/vnd.sun.wadl+xml, as GET /application.wadl answers it.
struct str route_document(const struct route_table *table);

#endif
