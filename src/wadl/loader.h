// SPDX-License-Identifier: Apache-2.0
// The loader: WADL files while they are read, before their methods are put at paths. For files in wadl/ only.
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
	const char *beside; // the folder of a file given with its path, searched before dir; NULL: none
	wadl_find_handler *find;
	void *arg;
	char **error;
	struct wadl_file *files;
	size_t n_included; // subtrees (<resource type="…">) included so far
};

// A <resource> together with the resources around it: the path from the root.
struct scope {
	struct route_segment segments[URI_MAX_SEGMENTS];
	const struct route_param *declared[URI_MAX_SEGMENTS]; // of template segments; NULL: not declared
	size_t n;
	const struct route_param **params; // query and header parameters of this resource only
	size_t n_params;
	bool declares; // this resource or one around it has a <param>
	// Attributes of this resource or of one around it:
	bool slash;     // t:slash="optional": a "/" may stand at the end of the address
	bool no_head;   // t:head="none": GET does not make HEAD allowed
	bool any_query; // t:query="any": query parameters that the WADL does not name are passed on
	struct wadl_note note;
};

// A <method>: in a resource or, with scope NULL, only for reference by others.
struct definition {
	struct definition *next;
	struct wadl_file *file;
	const xmlNode *node;
	enum role role;          // least role: the highest that a file demands which includes it in a subtree
	const char *id;          // NULL: it is only a reference
	const char *target_file; // it refers to a method of this file; NULL: it is a method itself
	const char *target_id;
	const struct scope *scope;
	struct wadl_method method; // if it is a method itself; its params are only those of its <request>
	bool visited;              // set while a chain of references is followed, to find circles
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
	enum role role;      // least role for its methods
	struct wadl_note note;
	struct shared *shared;
	struct definition *definitions; // in the order of the file
	struct definition **last;
	size_t first_type, n_types;     // its part of table->types
};

// ---- source.c: bytes and the XML tree

// Sets *error to "FILE:LINE: …" unless it is set already. Always returns false.
bool loader_fail_at(struct loader *loader, const xmlNode *node, const char *format, ...) PRINTF_LIKE(3, 4);
bool loader_fail_in(struct loader *loader, const char *path, long line, const char *format, ...) PRINTF_LIKE(4, 5);
// Reads and parses the file into file->doc.
bool loader_source_parse(struct loader *loader, struct wadl_file *file);
struct wadl_file *loader_source_file(const xmlNode *node);

// ---- element.c: elements and attributes, strictly

typedef bool element_fn(struct loader *loader, xmlNode *node, void *arg);
struct element {
	const char *name;
	element_fn *parse; // NULL: the element is known, but not parsed in this pass
};
// Calls the table's function for each child. Text, unknown elements and elements of other namespaces are errors.
bool element_each_child(struct loader *loader, const xmlNode *node, const char *space, const struct element *table, void *arg);
// NULL if there is none. A name "t:role" means an attribute in Tenure's namespace.
const char *loader_attribute(struct loader *loader, const xmlNode *node, const char *name);
// False if the element has an attribute that is not among names, which end with NULL.
bool loader_attributes_known(struct loader *loader, const xmlNode *node, const char *const *names);
// An attribute that must be present and not empty; NULL after loader_fail_at().
const char *loader_attribute_needed(struct loader *loader, const xmlNode *node, const char *name);
bool loader_attribute_boolean(struct loader *loader, const xmlNode *node, const char *name, bool *value);
bool loader_attribute_number(struct loader *loader, const xmlNode *node, const char *name, unsigned *value);
// The index of the attribute's value in words; -1 if it is absent, -2 after loader_fail_at().
int loader_attribute_word(struct loader *loader, const xmlNode *node, const char *name, const char *const *words, size_t n);
enum role loader_attribute_role(struct loader *loader, const xmlNode *node, bool *good);
// Parses <doc> into a struct wadl_note, which is arg.
element_fn parse_doc;
// Checks a <doc> whose text is not used.
element_fn check_doc;
// Text of an element without child elements, with each run of blanks made one; NULL after loader_fail_at().
const char *loader_text(struct loader *loader, const xmlNode *node);

// ---- grammar.c

element_fn parse_grammars; // arg is not used
// The type that a QName means at that node; NULL after loader_fail_at().
const struct wadl_type *loader_find_type(struct loader *loader, const xmlNode *node, const char *qname);

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
// Appends the <method> to the definitions of the file `into`. That is the method's own file, or the file that includes the
// subtree in which the method stands; in a subtree it may only be a reference, and role is the least role of the including files.
// scope may be NULL.
bool loader_parse_method(struct loader *loader, xmlNode *node, const struct scope *scope, struct wadl_file *into, enum role role);
// Splits "FILE.wadl#ID", or "#ID" for the node's own file, and loads the file. what: the kind of thing referred to, for errors:
// "a method". NULL after loader_fail_at().
struct wadl_file *loader_parse_href(struct loader *loader, const xmlNode *node, const char *attribute, struct str href,
	const char *what,
	const char **id);

// ---- resource.c

element_fn parse_resources;

// ---- compose.c

// Puts the methods that the file lists at their paths.
bool loader_compose(struct loader *loader, struct wadl_file *file);

// ---- wadl.c

// The file of that name, loaded if necessary; node is the place that refers to it, for errors. NULL after loader_fail_at().
struct wadl_file *loader_file(struct loader *loader, const xmlNode *node, const char *name);

#endif
