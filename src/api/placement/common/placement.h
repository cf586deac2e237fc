// SPDX-License-Identifier: Apache-2.0
// For the files of api/placement/ only: the Placement API, microversions 1.0 to 1.39, as its clients know it.
#ifndef TENURE_API_PLACEMENT_COMMON_PLACEMENT_H
#define TENURE_API_PLACEMENT_COMMON_PLACEMENT_H

#include "api/call.h"
#include "auth/policy/placement_policy.h"
#include "repr/schema/json_schema.h"

// Minor numbers N of microversions 1.N; call->version is the request's. VERSION_NONE: the requested version could not be read.
enum { VERSION_MIN = 0, VERSION_MAX = 39, VERSION_NONE = 1000 };
// The microversion that introduced each feature.
enum {
	VERSION_MEMBER_OF = 3,                // providers: the parameter member_of
	VERSION_RESOURCES = 4,                // providers: the parameter resources
	VERSION_CLASS_WITHOUT_BODY = 7,       // PUT of a resource class creates it, and takes no body
	VERSION_CONSUMER_PROJECT = 8,         // allocations name project and user
	VERSION_ALLOCATIONS_BY_PROVIDER = 12, // allocations are an object by provider instead of a list
	VERSION_NESTED = 14,                  // providers have parents
	VERSION_CACHE_HEADERS = 15,           // Last-Modified and Cache-Control
	VERSION_CANDIDATE_LIMIT = 16,         // candidates: the parameter limit
	VERSION_CANDIDATE_REQUIRED = 17,      // candidates: the parameter required
	VERSION_REQUIRED = 18,                // providers: the parameter required
	VERSION_AGGREGATE_GENERATION = 19,    // aggregates carry the provider's generation
	VERSION_PROVIDER_ANSWERED = 20,       // POST of a provider answers with the provider
	VERSION_CANDIDATE_MEMBER_OF = 21,     // candidates: the parameter member_of
	VERSION_FORBIDDEN = 22,               // required=!TRAIT
	VERSION_ERROR_CODES = 23,             // errors have a code
	VERSION_MEMBER_OF_REPEATED = 24,      // member_of may be repeated
	VERSION_GROUPS = 25,                  // candidates: parameters with a number as suffix, group_policy
	VERSION_RESERVE_ALL = 26,             // reserved may be as large as total
	VERSION_ALL_CLASSES = 27,             // candidates: summaries have all classes
	VERSION_CONSUMER_GENERATION = 28,     // consumers have a generation
	VERSION_CANDIDATE_NESTED = 29,        // candidates from several providers of a tree
	VERSION_IN_TREE = 31,                 // candidates: the parameter in_tree
	VERSION_MEMBER_OF_NONE = 32,          // member_of=!AGGREGATE
	VERSION_SUFFIXES = 33,                // candidates: suffixes that are words
	VERSION_MAPPINGS = 34,                // candidates and allocations: mappings
	VERSION_ROOT_REQUIRED = 35,           // candidates: the parameter root_required
	VERSION_SAME_SUBTREE = 36,            // candidates: the parameter same_subtree
	VERSION_REPARENT = 37,                // a provider may get another parent
	VERSION_CONSUMER_TYPE = 38,           // consumers have a type
	VERSION_REQUIRED_ANY = 39,            // required=in:A,B
};

// ---- problem.c: {"errors": [{…}]}

// The dialect's `render_problem` (api/call.h).
void placement_render_problem(struct call *call, enum outcome outcome, const struct problem *problem);
// Like call_fail(), with an error code of this API; code is written without its prefix "placement.".
enum outcome placement_fail(struct call *call, enum outcome outcome, const char *code, const char *format, ...)
	PRINTF_LIKE(4, 5);
// The id that clients see: "req-" and the request's id.
struct str placement_request_id(struct call *call);

// ---- policy.c

// Does the configured policy allow the caller what this rule is about? There must be a policy. OUTCOME_OK; _FORBIDDEN in
// Placement's words.
enum outcome placement_policy_check(struct call *call, enum placement_rule rule, const struct oslo_target *target);

// ---- cors.c: requests of web pages from other origins

// Answers OPTIONS, by which a browser asks whether a page of another origin may send a request (a preflight request): false if
// the request has another method, or if the setting names no origin. Otherwise sets 200 in the response, with the header fields
// that allow the request if the origin, the method and the header fields that it asks for are allowed. No credential is needed.
bool placement_cors_answer_options(struct call *call);
// Adds the header fields to an answer of any other method that let a page of an allowed origin read it.
void placement_cors_leave(struct call *call);

// ---- body.c: reading requests

// Parses all spellings that Python's uuid.UUID accepts: with or without dashes, in either case, in braces, after "urn:uuid:".
bool placement_uuid_parse(struct str text, struct uuid *uuid);
extern const struct json_rule uuid_format; // of a text that placement_uuid_parse() parses
// Reads the request's body and checks it against the schema. OUTCOME_OK, or OUTCOME_BAD_DOCUMENT with call->problem set.
enum outcome placement_read_body(struct call *call, const struct json_schema *schema, const struct doc **body);
// The same for the query, as an object of strings; if a parameter is given twice the last one counts. OUTCOME_OK, or
// OUTCOME_BAD_PARAMETER with call->problem set.
enum outcome placement_read_query(struct call *call, const struct json_schema *schema, const struct doc **query);
// A member of what was read; STR_NONE if it is absent or null.
struct str placement_member_str(const struct doc *object, const char *name);
// A member that is an integer by its schema; preset if it is absent.
uint64_t placement_member_u64(const struct doc *object, const char *name, uint64_t preset);
// A generation. If it is negative, the result is UINT64_MAX, which no generation ever is.
uint64_t placement_member_generation(const struct doc *object, const char *name);

// ---- answer.c: writing answers

// Appends a path for a link, "/placement/traits/CUSTOM_A": the path under which the dialect is mounted, then the formatted text.
void placement_add_path(struct buf *out, const struct call *call, const char *format, ...) PRINTF_LIKE(3, 4);
// Sets the header Location to the URL of such a path.
void placement_set_location(struct call *call, const char *format, ...) PRINTF_LIKE(2, 3);
// Sets the answer to this JSON text, with all other characters than ASCII escaped.
void placement_answer_json(struct call *call, struct buf *json);
// An answer that may be longer than the memory of a request: what is in json is moved to the response's file from time to time.
struct placement_long {
	struct call *call;
	struct buf json;  // the caller appends here
	uint64_t spilled; // bytes in the file
	size_t n;         // calls of placement_long_next()
};
// Begins an answer, and drops what the response has of one that was begun before.
struct placement_long placement_long_begin(struct call *call);
// To be called after each element. json may be empty afterwards, so whether a comma is needed has to be decided by n. False: the
// answer is too long, and placement_long_end() will fail.
bool placement_long_next(struct placement_long *answer);
// Sets the answer, as placement_answer_json() does. OUTCOME_OK; _TOO_COSTLY: it has more than 256 MiB.
enum outcome placement_long_end(struct placement_long *answer);
// From 1.15 on: sets Cache-Control, and Last-Modified (microseconds since 1970) unless us is 0.
void placement_answer_cache_headers(struct call *call, int64_t us);
// Appends "name":, after a comma unless it is the first member of its object.
void placement_add_name(struct buf *out, const char *name);
// Each of these appends a member with that value.
void placement_add_string(struct buf *out, const char *name, struct str value);
void placement_add_number(struct buf *out, const char *name, uint64_t value);
void placement_add_uuid(struct buf *out, const char *name, struct uuid uuid);
void placement_add_bool(struct buf *out, const char *name, bool value);
// The shortest text with a fraction that reads back as the same number: "4.0".
void placement_add_fraction(struct buf *out, const char *name, double value);

#endif
