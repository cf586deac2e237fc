// SPDX-License-Identifier: Apache-2.0
// The compiled table behind route.h. For files in wadl/ only.
#ifndef TENURE_WADL_TABLE_H
#define TENURE_WADL_TABLE_H

#include "base/pool.h"
#include "wadl/route.h"
#include "wadl/type.h"

enum { WADL_MAX_MEDIA = 8 }; // representations of one method, either way
#define WADL_ANY_MEDIA "*/*" // of a request: whatever Content-Type says, if there is one

struct wadl_note { // of a <doc>; NULL where there is none
	const char *title;
	const char *text;
};

struct route_param {
	const char *name;
	const char *key; // of a header: its name in lower case
	enum param_style style;
	const struct wadl_type *type;
	bool required, repeating;
	bool no_address;        // a value that breaks the type means: no such address
	struct str preset;      // @default; p NULL: none
	struct str fixed;       // p NULL: none
	const struct str *options;
	size_t n_options;
	struct wadl_note note;
};

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
	struct route_method route; // first: what is handed out is its address; its template parameters come first, in order
	size_t template_at[ROUTE_MAX_PARAMS]; // index of the path's segment
	size_t n_templates;
	const char *path; // "/{version}/{tenant}"
	bool slash;       // its address may end in '/', which means nothing
	bool no_head;     // HEAD is refused, not served by GET's method
	bool any_query;   // its handler looks at the query itself
	struct wadl_note note, resource_note;
	const struct wadl_media *request;
	size_t n_request;
	const struct wadl_response *responses;
	size_t n_responses;
};

struct route_node {
	struct str literal; // p NULL: any segment
	struct route_node *next;     // sibling
	struct route_node *literals; // children
	struct route_node *any;      // child
	const char *dialect; // of the first method at or below it
	const struct wadl_method *first; // NULL: no method here
	const struct wadl_method *methods[METHOD__COUNT];
	struct str allow;
};

struct route_table {
	struct pool *pool;
	struct route_node root;
	const struct wadl_method **methods;
	size_t n_methods;
	const struct wadl_type **types; // of all files, schema by schema
	size_t n_types;
	struct wadl_note note;
	struct str document;
};

struct route_segment {
	struct str text; // a template's name is without braces
	bool is_template;
};

// Inserts the method at the path; false if the path has a method of that name already.
bool table_insert(struct route_table *table, const struct route_segment *segments, size_t n,
	const struct wadl_method *method);
// To be called once all methods are in.
void table_finish(struct route_table *table);
// Room for one more behind n items of that size: the same array, or a larger copy.
void *table_grow(struct pool *pool, const void *items, size_t n, size_t size);
// Writes table->document.
void document_write(struct route_table *table);

#endif
