// SPDX-License-Identifier: Apache-2.0
// Loading: the files as they are read, before their methods are put at their paths. For files in wadl/ only.
// Data that the table keeps are in table->pool; data needed only while loading are in scratch.
#ifndef TENURE_WADL_LOADER_H
#define TENURE_WADL_LOADER_H

#include <libxml/tree.h>

#include "wadl/table.h"
#include "wadl/wadl.h"

#define WADL_NS "http://wadl.dev.java.net/2009/02"
#define XSD_NS "http://www.w3.org/2001/XMLSchema"
#define TENURE_NS "urn:tenure:wadl"

struct loader {
	struct route_table *table;
	struct pool *pool; // the table's
	struct pool *scratch;
	const char *dir;
	const char *beside; // the folder of a file that was given with its path, looked into before dir; NULL: none
	wadl_find_handler *find;
	void *arg;
	char **error;
	struct wadl_file *files;
	size_t n_included; // subtrees (<resource type="…">) so far
};

// A <resource> with those it is in: the path from the root.
struct scope {
	struct route_segment segments[URI_MAX_SEGMENTS];
	const struct route_param *declared[URI_MAX_SEGMENTS]; // of templates; NULL: not declared
	size_t n;
	const struct route_param **params; // query and header parameters of this resource alone
	size_t n_params;
	bool declares; // a <param>, here or further out
	bool slash, no_head; // t:slash="optional", t:head="none"; here or further out
	bool any_query;      // t:query="any"; likewise
	struct wadl_note note;
};

// A <method>, in a resource or, with scope NULL, for reference.
struct definition {
	struct definition *next;
	struct wadl_file *file;
	const xmlNode *node;
	enum role role;          // least one of the files that include it as part of a subtree
	const char *id;          // NULL: it only refers
	const char *target_file; // refers to a method of this file; NULL: it is one itself
	const char *target_id;
	const struct scope *scope;
	struct wadl_method method; // when it is one itself; its params are the request's alone
	bool visited;              // while a chain of references is followed
};

struct shared { // a <param> or <representation> of the application, for reference in its file
	struct shared *next;
	const char *id;
	const struct route_param *param;
	const struct wadl_media *media;
};

enum file_state { FILE_LOADING, FILE_LOADED };

struct wadl_file {
	struct wadl_file *next;
	const char *name;    // "tenancy.wadl"
	const char *path;    // for messages
	const char *dialect; // "tenancy"
	xmlDocPtr doc;
	enum file_state state;
	enum role role;      // least role of its methods
	struct wadl_note note;
	struct shared *shared;
	struct definition *definitions; // in the order of the file
	struct definition **last;
	size_t first_type, n_types;     // its part of table->types
};

// ---- source.c: text and tree

// Sets *error to "FILE:LINE: …", unless it is set. Always false.
bool fail_at(struct loader *loader, const xmlNode *node, const char *format, ...) PRINTF_LIKE(3, 4);
bool fail_in(struct loader *loader, const char *path, long line, const char *format, ...) PRINTF_LIKE(4, 5);
// Parses the file into file->doc.
bool source_parse(struct loader *loader, struct wadl_file *file);
struct wadl_file *source_file(const xmlNode *node);

// ---- element.c: elements and attributes, strictly

typedef bool element_fn(struct loader *loader, xmlNode *node, void *arg);
struct element {
	const char *name;
	element_fn *parse; // NULL: known, but of no interest now
};
// Calls the table's function for each child; text, unknown elements and those of other namespaces are refused.
bool each_child(struct loader *loader, const xmlNode *node, const char *space, const struct element *table, void *arg);
// NULL when there is none. "t:role" is looked for in Tenure's namespace.
const char *attribute(struct loader *loader, const xmlNode *node, const char *name);
// Refuses attributes that aren't among the names, which end with NULL.
bool attributes_known(struct loader *loader, const xmlNode *node, const char *const *names);
// An attribute that must be there, and not be empty; NULL after fail_at.
const char *attribute_needed(struct loader *loader, const xmlNode *node, const char *name);
bool attribute_boolean(struct loader *loader, const xmlNode *node, const char *name, bool *value);
bool attribute_number(struct loader *loader, const xmlNode *node, const char *name, unsigned *value);
// Index of the attribute's value in the words, -1 when it is absent, -2 after fail_at.
int attribute_word(struct loader *loader, const xmlNode *node, const char *name, const char *const *words, size_t n);
enum role attribute_role(struct loader *loader, const xmlNode *node, bool *good);
// <doc>, an element_fn; arg is the struct wadl_note.
element_fn parse_doc;
// <doc> that nobody will read.
element_fn check_doc;
// Text of an element that has nothing else, blanks joined; NULL after fail_at.
const char *text_of(struct loader *loader, const xmlNode *node);

// ---- grammar.c

element_fn parse_grammars; // arg is not used
// The type that a QName means at that node; NULL after fail_at.
const struct wadl_type *find_type(struct loader *loader, const xmlNode *node, const char *qname);

// ---- param.c

struct param_list {
	const struct route_param **items;
	size_t n;
	unsigned styles; // allowed ones, bits of 1 << enum param_style
};
element_fn parse_param;  // arg is a struct param_list
element_fn parse_shared_param;

// ---- method.c

element_fn parse_shared_representation;
// Appends the <method> to the definitions of into, which is its own file, or the one that includes the subtree that it is in:
// then it may only refer, and role is the least one of the files that include it. scope may be NULL.
bool parse_method(struct loader *loader, xmlNode *node, const struct scope *scope, struct wadl_file *into, enum role role);
// The parts of "FILE.wadl#ID", or of "#ID", which means the node's own file; that is loaded. what: "a method". NULL after
// fail_at.
struct wadl_file *parse_href(struct loader *loader, const xmlNode *node, const char *attribute, struct str href, const char *what,
	const char **id);

// ---- resource.c

element_fn parse_resources;

// ---- compose.c

// Puts the file's methods at their paths.
bool compose(struct loader *loader, struct wadl_file *file);

// ---- wadl.c

// The file of that name, loaded if it isn't yet, on behalf of node; NULL after fail_at.
struct wadl_file *load_file(struct loader *loader, const xmlNode *node, const char *name);

#endif
