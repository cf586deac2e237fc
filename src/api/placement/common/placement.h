// SPDX-License-Identifier: Apache-2.0
// For the files of api/placement/ only: the Placement API, microversions 1.0 to 1.39, as its clients know it.
#ifndef TENURE_API_PLACEMENT_COMMON_PLACEMENT_H
#define TENURE_API_PLACEMENT_COMMON_PLACEMENT_H

#include "api/call.h"
#include "auth/policy/placement_policy.h"
#include "repr/schema/json_schema.h"

// Minor numbers N of microversions 1.N; call->version is the request's. VERSION_NONE: the requested version could not be read.
enum { VERSION_MIN = 0, VERSION_MAX = 39, VERSION_NONE = 1000 };
// The microversion that brought each feature.
enum {
	VERSION_MEMBER_OF = 3, VERSION_RESOURCES = 4, VERSION_CLASS_WITHOUT_BODY = 7, VERSION_CONSUMER_PROJECT = 8,
	VERSION_ALLOCATIONS_BY_PROVIDER = 12, VERSION_NESTED = 14, VERSION_CACHE_HEADERS = 15, VERSION_CANDIDATE_LIMIT = 16,
	VERSION_CANDIDATE_REQUIRED = 17, VERSION_REQUIRED = 18, VERSION_CANDIDATE_MEMBER_OF = 21, VERSION_GROUPS = 25,
	VERSION_ALL_CLASSES = 27, VERSION_CANDIDATE_NESTED = 29, VERSION_IN_TREE = 31, VERSION_SUFFIXES = 33,
	VERSION_ROOT_REQUIRED = 35, VERSION_SAME_SUBTREE = 36,
	VERSION_AGGREGATE_GENERATION = 19, VERSION_PROVIDER_ANSWERED = 20, VERSION_FORBIDDEN = 22, VERSION_ERROR_CODES = 23,
	VERSION_MEMBER_OF_REPEATED = 24, VERSION_RESERVE_ALL = 26, VERSION_CONSUMER_GENERATION = 28,
	VERSION_MEMBER_OF_NONE = 32, VERSION_MAPPINGS = 34, VERSION_REPARENT = 37, VERSION_CONSUMER_TYPE = 38,
	VERSION_REQUIRED_ANY = 39
};

// ---- problem.c: {"errors": [{…}]}

void placement_render_problem(struct call *call, enum outcome outcome, const struct problem *problem);
// Like call_fail(), with an error code of this API; code is written without its prefix "placement.".
enum outcome placement_fail(struct call *call, enum outcome outcome, const char *code, const char *format, ...)
	PRINTF_LIKE(4, 5);
// The id that clients see: "req-" and the request's id.
struct str placement_request_id(struct call *call);

// ---- policy.c

// Does the configured policy, which there must be, allow this of the target? OUTCOME_OK; _FORBIDDEN in Placement's words.
enum outcome placement_policy_check(struct call *call, enum placement_rule rule, const struct oslo_target *target);

// ---- cors.c: requests of web pages from other origins

// Is this the question of a browser whether a page of an allowed origin may send a request? Then its answer, 200, stands in the
// response, and no credential is needed.
bool placement_cors_preflight(struct call *call);
// Adds to an answer what lets a page of an allowed origin read it.
void placement_cors_leave(struct call *call);

// ---- body.c: reading requests

// Parses all spellings that Python's uuid.UUID accepts: with or without dashes, in either case, in braces, after "urn:uuid:".
bool placement_uuid_parse(struct str text, struct uuid *uuid);
extern const struct json_rule uuid_format;
// Reads the request's body and checks it against the schema. OUTCOME_OK, or OUTCOME_BAD_DOCUMENT with call->problem set.
enum outcome placement_read_body(struct call *call, const struct json_schema *schema, const struct doc **body);
// The same for the query, as an object of strings; if a parameter is given twice the last one counts. OUTCOME_OK, or
// OUTCOME_BAD_PARAMETER with call->problem set.
enum outcome placement_read_query(struct call *call, const struct json_schema *schema, const struct doc **query);
// A member of what was read; STR_NONE if it is absent or null.
struct str placement_member_str(const struct doc *object, const char *name);
// A member that is an integer by its schema; preset if it is absent.
uint64_t placement_member_u64(const struct doc *object, const char *name, uint64_t preset);
// A generation. If it is negative, the result is a number that no generation ever has.
uint64_t placement_member_generation(const struct doc *object, const char *name);

// ---- answer.c: writing answers

// Appends a path for a link, "/placement/traits/CUSTOM_A": the path under which the dialect is mounted, then the formatted text.
void placement_add_path(struct buf *out, const struct call *call, const char *format, ...) PRINTF_LIKE(3, 4);
void placement_set_location(struct call *call, const char *format, ...) PRINTF_LIKE(2, 3);
// Sets the answer to this JSON text, with all other characters than ASCII escaped.
void placement_answer_json(struct call *call, struct buf *json);
// An answer that may be longer than the memory of a request: what is in json is moved to the response's file from time to time.
struct placement_long {
	struct call *call;
	struct buf json;  // the caller appends here
	uint64_t spilled; // bytes in the file
	size_t n;         // calls of placement_long_next()
	bool no_file;     // none can be written: all stays in memory
};
struct placement_long placement_long_begin(struct call *call);
// To be called after each element. json may be empty afterwards, so commas can't be decided by what stands in it. False: the answer
// is too long, and placement_long_end() will fail.
bool placement_long_next(struct placement_long *answer);
// placement_answer_json() of all. OUTCOME_OK; _TOO_COSTLY: it has more than 256 MiB.
enum outcome placement_long_end(struct placement_long *answer);
// From 1.15 on: sets Cache-Control, and Last-Modified (microseconds since 1970) unless us is 0.
void placement_answer_cache_headers(struct call *call, int64_t us);
// Appends "name":, after a comma unless it is the first member of its object.
void placement_add_name(struct buf *out, const char *name);
void placement_add_string(struct buf *out, const char *name, struct str value);
void placement_add_number(struct buf *out, const char *name, uint64_t value);
void placement_add_uuid(struct buf *out, const char *name, struct uuid uuid);
void placement_add_fraction(struct buf *out, const char *name, double value);

#endif
