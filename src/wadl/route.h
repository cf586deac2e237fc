// SPDX-License-Identifier: Apache-2.0
// The route table: the master compiles it from an endpoint's WADL by wadl_load(); it is read-only from then on. These answers are
// derived from it: 404, 405 with Allow, 400 for a parameter with an invalid value, 406 and 415.
#ifndef TENURE_WADL_ROUTE_H
#define TENURE_WADL_ROUTE_H

#include "auth/core/role.h"
#include "base/outcome.h"
#include "base/str.h"
#include "http/request.h"

struct pool;
struct route_table;
struct route_param; // private to wadl/

enum txn_mode {
	TXN_NONE,     // the handler does not use the database
	TXN_READ,     // single statements, each consistent in itself
	TXN_SNAPSHOT, // several statements that see one snapshot
	TXN_WRITE,
};

enum param_style { PARAM_TEMPLATE, PARAM_QUERY, PARAM_HEADER };

// A method as the WADL describes it. Immutable; strings live as long as the table.
struct route_method {
	const char *id;      // "putTenant"
	const char *dialect; // name of the file it is defined in, without ".wadl": "tenancy"
	enum http_method method;
	const void *handler; // what the find function of wadl_load() returned for (dialect, id)
	enum role role;      // the method's t:role, or the role of the reference to it if that is higher
	enum txn_mode txn;   // t:txn
	unsigned min_version, max_version; // microversions it exists in, minor numbers (t:min, t:max); 0: no limit
	const char *const *produces; // media types of its responses, in order of preference
	size_t n_produces;
	bool any_accept;     // t:accept="any": who accepts none of these gets the first
	const char *const *consumes; // media types of its request body, "*/*" means any; n_consumes 0: it takes no body
	size_t n_consumes;
	bool body_required;  // t:body="required" on the request representation
	const struct route_param *params; // template, query and header parameters, declared at the method or on its path
	size_t n_params;
};

enum {
	ROUTE_MAX_PARAMS = 24,  // declared parameters of a method
	ROUTE_MAX_REPEATS = 64, // values of a request's repeating parameters beside the first one of each
};

// What a request matched: the method, the values of its template parameters and of its declared query and header parameters.
// Values are checked against their types; defaults are filled in. Each declared parameter has a place for its first value, so
// that a page's link to the next one, which adds a marker, has no value too many.
struct route_match {
	const struct route_method *method;
	const char *dialect;  // also set if no method matched: the dialect in whose form the error is answered; never NULL
	size_t n;
	struct {
		const char *name;
		struct str value; // decoded
	} values[ROUTE_MAX_PARAMS + ROUTE_MAX_REPEATS];
	struct str allow;     // with OUTCOME_METHOD_NOT_ALLOWED: "GET, HEAD, PUT"; also for OPTIONS
};

// Finds the method for path and HTTP method. Literal segments take precedence over templates, in any order of the file. HEAD is
// served by the WADL's own HEAD method, else by GET's. OPTIONS, if no WADL method has it, gives OUTCOME_NO_CONTENT with
// match->allow set. A segment that breaks its template parameter's type gives OUTCOME_BAD_ADDRESS; *detail names the rule.
// OUTCOME_OK, _NO_CONTENT, _NOT_FOUND, _METHOD_NOT_ALLOWED, _BAD_ADDRESS, _UNKNOWN_METHOD.
enum outcome route_find(const struct route_table *table, struct pool *pool, const struct request *request,
	struct route_match *match, struct str *detail);

// The dialect of an address that could not be parsed completely, found by its first segments; as in route_match.dialect.
const char *route_dialect(const struct route_table *table, const struct uri *uri);

// Checks the declared query and header parameters: required ones are present, values have the right type and are among the
// options, only repeating ones are repeated, at most ROUTE_MAX_REPEATS times altogether. A query parameter that the method
// doesn't declare is an error, which names it and lists the declared ones. With t:query="any" in the WADL the handler reads the
// query itself: nothing of it is checked or bound.
// OUTCOME_OK or OUTCOME_BAD_PARAMETER with *detail.
enum outcome route_check_params(struct pool *pool, const struct request *request, struct route_match *match,
	struct str *detail);

// Does the method have a query parameter of that name?
bool route_declares(const struct route_method *method, struct str name);

// Chooses media types. OUTCOME_NOT_ACCEPTABLE if no representation fits Accept, unless the method has any_accept; *detail lists
// those offered.
// OUTCOME_UNSUPPORTED_MEDIA if there is a body whose Content-Type is missing or not accepted by the method. Else OUTCOME_OK.
// *produce: index into method->produces; -1 if the method has no representations. *consume: index into method->consumes; -1 if
// there is no body, or the method takes none (its body is ignored then).
// An error may be answered in any format, even if Accept allows none.
enum outcome route_negotiate(struct pool *pool, const struct request *request, const struct route_method *method,
	int *produce, int *consume, struct str *detail);

// The part of route_negotiate() about Accept, for a method with any_accept whose handler refuses some requests nevertheless:
// OUTCOME_OK with
// *produce, or OUTCOME_NOT_ACCEPTABLE with *detail. The method must have representations.
enum outcome route_accept(struct pool *pool, const struct request *request, const struct route_method *method, int *produce,
	struct str *detail);

// Value of a parameter; STR_NONE if it was not given and has no default.
struct str route_value(const struct route_match *match, const char *name);
// Does the method's WADL list the status among its responses?
bool route_lists_status(const struct route_method *method, int status);
// The methods of the table, for tests and tools: index from 0, NULL at the end. *path: "/{version}/{tenant}".
const struct route_method *route_nth(const struct route_table *table, size_t index, const char **path);
// The composed WADL: application/vnd.sun.wadl+xml, as GET /application.wadl answers it.
struct str route_document(const struct route_table *table);

#endif
