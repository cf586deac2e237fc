// SPDX-License-Identifier: Apache-2.0
// The compiled table behind route.h. For files in wadl/ only.
#ifndef TENURE_WADL_TABLE_H
#define TENURE_WADL_TABLE_H

#include "base/pool.h"
#include "wadl/route.h"
#include "wadl/type.h"

enum { WADL_MAX_MEDIA = 8 }; // representations of one method's request, or of its responses
#define WADL_ANY_MEDIA "*/*" // of a request: any Content-Type, but there must be one

struct wadl_note { // from a <doc>; members are NULL if there is none
	const char *title;
	const char *text;
};

struct route_param {
	const char *name;
	const char *key; // of a header parameter: its name in lower case
	enum param_style style;
	const struct wadl_type *type;
	bool required, repeating;
	bool no_address;        // a value that breaks the type means that the address does not exist (404)
	struct str preset;      // the attribute "default"; p NULL: none
	struct str fixed;       // the attribute "fixed"; p NULL: none
	const struct str *options;
	size_t n_options;
	struct wadl_note note;
};

// Is the value one of the parameter's options, or does it have none?
bool route_param_has_option(const struct route_param *param, struct str value);

struct wadl_media {
	const char *type;
	bool required;
	struct wadl_note note;
};

struct wadl_response {
	const int *statuses;
	size_t n_statuses;
	const struct route_param **params;
	size_t n_params;
	const struct wadl_media *media;
	size_t n_media;
	struct wadl_note note;
};

struct wadl_method {
	struct route_method route; // first, so that a struct route_method * can be converted back; template parameters come first
	                           // in it, in order
	size_t template_at[ROUTE_MAX_PARAMS]; // index of the template's segment in the path
	size_t n_templates;
	const char *path; // "/{version}/{tenant}"
	bool slash;       // its address may end in '/', which means the same
	bool no_head;     // HEAD is refused instead of served by GET's method
	bool any_query;   // its handler reads the query itself
	struct wadl_note note, resource_note;
	const struct wadl_media *request;
	size_t n_request;
	const struct wadl_response *responses;
	size_t n_responses;
};

struct route_node {
	struct str literal; // p NULL: any segment
	struct route_node *next;     // sibling
	struct route_node *literals; // children with literal segments
	struct route_node *any;      // the child for any other segment; NULL: none
	const char *dialect; // dialect of the first method at or below this node
	const struct wadl_method *first; // the first method inserted here; NULL: none
	const struct wadl_method *methods[METHOD__COUNT];
	struct str allow;
};

struct route_table {
	struct pool *pool;
	struct route_node root;
	const struct wadl_method **methods;
	size_t n_methods;
	const struct wadl_type **types; // of all files, grouped by schema
	size_t n_types;
	struct wadl_note note;
	struct str document;
};

struct route_segment {
	struct str text; // a template's name stands without braces
	bool is_template;
};

// Inserts the method at the path. False if the path has a method for the same HTTP method already.
bool table_insert(struct route_table *table, const struct route_segment *segments, size_t n,
	const struct wadl_method *method);
// Call it once all methods are inserted: computes the values of Allow.
void table_finish(struct route_table *table);
// Makes room for one item more behind n items of `size` bytes: returns the same array or a larger copy.
void *table_grow(struct pool *pool, const void *items, size_t n, size_t size);
// Writes table->document.
void table_write_document(struct route_table *table);

#endif
