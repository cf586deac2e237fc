// SPDX-License-Identifier: Apache-2.0
// Loads an endpoint's WADL file and the files that it refers to.
#include "base/base.h"

#include <errno.h>
#include <sys/stat.h>

#include <libxml/parser.h>

#include "base/ascii.h"
#include "repr/xml/error.h"
#include "wadl/loader.h"

// ---- <application>

static bool parse_application_doc(struct loader *loader, xmlNode *node, void *arg)
{
	struct wadl_file *file = arg;

	return parse_doc(loader, node, &file->note);
}

static bool parse_application_method(struct loader *loader, xmlNode *node, void *arg)
{
	UNUSED(arg);
	return loader_parse_method(loader, node, NULL, loader_source_file(node), ROLE_NONE);
}

// In WADL, definitions stand behind the elements that refer to them, so each kind of element is read in its own pass.
static bool parse_content(struct loader *loader, const xmlNode *root, struct wadl_file *file)
{
	static const struct element types[] = {
		{ "doc", parse_application_doc }, { "grammars", parse_grammars }, { "resources", NULL }, { "resource_type",
			NULL }, { "method", NULL },
		{ "representation", NULL }, { "param", NULL }, { NULL, NULL },
	};
	static const struct element shared[] = {
		{ "doc", NULL }, { "grammars", NULL }, { "resources", NULL }, { "resource_type", NULL }, { "method", NULL },
		{ "representation", parse_shared_representation }, { "param", parse_shared_param }, { NULL, NULL },
	};
	static const struct element methods[] = {
		{ "doc", NULL }, { "grammars", NULL }, { "resources", parse_resources }, { "resource_type", NULL },
		{ "method", parse_application_method },
		{ "representation", NULL }, { "param", NULL }, { NULL, NULL },
	};

	return element_each_child(loader, root, WADL_NS, types, file) && element_each_child(loader, root, WADL_NS, shared,
		file) &&
		element_each_child(loader, root, WADL_NS, methods, file);
}

static bool parse_application(struct loader *loader, struct wadl_file *file)
{
	static const char *const names[] = { "t:role", NULL };
	const xmlNode *root = xmlDocGetRootElement(file->doc);
	bool good;

	if (strcmp((const char *)root->name, "application") != 0 || root->ns == NULL ||
	    strcmp((const char *)root->ns->href, WADL_NS) != 0)
		return loader_fail_at(loader, root, "is no WADL: the outermost element must be <application> of " WADL_NS);
	if (!loader_attributes_known(loader, root, names))
		return false;
	file->role = loader_attribute_role(loader, root, &good);
	return good && parse_content(loader, root, file);
}

// ---- files

// Is it a plain file name? Then it can't name anything outside the folder.
static bool is_file_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		if (!ascii_is_alnum(c) && c != '-' && c != '_' && (c != '.' || i == 0))
			return false;
	}
	return name.n > strlen(".wadl") && str_ends(name, STR(".wadl"));
}

static struct wadl_file *find_file(const struct loader *loader, const char *name)
{
	struct wadl_file *file = loader->files;

	while (file != NULL && strcmp(file->name, name) != 0)
		file = file->next;
	return file;
}

// The folder of a file: that of the endpoint's own file, else the common folder. If the file exists in the first but can't be
// read, that is an error, and the second is not tried.
static const char *place_of(struct loader *loader, const char *name)
{
	struct stat st;

	if (loader->beside != NULL) {
		const char *path = str_cstr(loader->scratch, str_printf(loader->scratch, "%s/%s", loader->beside, name));
		if (lstat(path, &st) == 0 || errno != ENOENT)
			return path;
	}
	return str_cstr(loader->scratch, str_printf(loader->scratch, "%s/%s", loader->dir, name));
}

static struct wadl_file *new_file(struct loader *loader, const char *name)
{
	struct wadl_file *file = POOL_NEW(loader->scratch, struct wadl_file);
	struct str text = str_c(name);

	file->name = str_cstr(loader->scratch, text);
	file->path = place_of(loader, name);
	file->dialect = str_cstr(loader->pool, str_part(text, 0, text.n - strlen(".wadl")));
	file->state = FILE_LOADING;
	file->last = &file->definitions;
	file->next = loader->files;
	loader->files = file;
	return file;
}

// Reads a file and then the files that it refers to. That order keeps the types of one file together in the table.
static bool read_in(struct loader *loader, struct wadl_file *file)
{
	if (!loader_source_parse(loader, file))
		return false;
	file->first_type = loader->table->n_types;
	if (!parse_application(loader, file))
		return false;
	file->state = FILE_LOADED;
	return true;
}

struct wadl_file *loader_file(struct loader *loader, const xmlNode *node, const char *name)
{
	struct wadl_file *file = find_file(loader, name);

	if (!is_file_name(str_c(name))) {
		loader_fail_at(loader, node, "\"%s\" must be NAME.wadl, without a folder", name);
		return NULL;
	}
	if (file != NULL && file == loader_source_file(node))
		return file;
	if (file != NULL && file->state == FILE_LOADING) {
		loader_fail_at(loader, node, "%s and this file refer to each other, in a circle", name);
		return NULL;
	}
	if (file != NULL)
		return file;
	file = new_file(loader, name);
	return read_in(loader, file) ? file : NULL;
}

// ---- the table

// Splits an absolute path: its folder will be searched first; returns the name.
static const char *split_path(struct loader *loader, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL || path[0] != '/')
		return path;
	loader->beside = str_cstr(loader->scratch, str_n(path, (size_t)(slash - path)));
	return slash + 1;
}

static bool load(struct loader *loader, const char *path)
{
	const char *name = split_path(loader, path);

	if (!is_file_name(str_c(name)))
		return loader_fail_in(loader, path, 1, "the file must be NAME.wadl, or its absolute path");
	struct wadl_file *file = new_file(loader, name);
	if (!read_in(loader, file) || !loader_compose(loader, file))
		return false;
	loader->table->note = file->note;
	table_finish(loader->table);
	table_write_document(loader->table);
	return true;
}

static void keep_silent(void *context, xml_parser_error error)
{
	UNUSED(context);
	UNUSED(error);
}

static struct route_table *new_table(void)
{
	struct pool *pool = pool_new();

	if (pool == NULL)
		return NULL;
	struct route_table *table = POOL_NEW(pool, struct route_table);
	table->pool = pool;
	return table;
}

struct route_table *wadl_load(const char *dir, const char *file, wadl_find_handler *find, void *arg, char **error)
{
	struct route_table *table = new_table();
	struct pool *scratch = pool_new();
	struct loader loader = { .table = table, .scratch = scratch, .dir = dir, .find = find, .arg = arg, .error = error };
	bool good = false;

	assert(dir != NULL && file != NULL && find != NULL);
	*error = NULL;
	if (table != NULL && scratch != NULL) {
		// libxml2 prints patterns that do not compile to stderr. This is switched off, because our own message has file
		// and line.
		xmlStructuredErrorFunc before = xmlStructuredError;
		void *context = xmlStructuredErrorContext;
		xmlInitParser();
		xmlSetStructuredErrorFunc(NULL, keep_silent);
		loader.pool = table->pool;
		good = load(&loader, file);
		xmlSetStructuredErrorFunc(context, before);
	}
	pool_free(&scratch);
	if (!good)
		wadl_free(&table);
	return table;
}

void wadl_free(struct route_table **table)
{
	if (*table == NULL)
		return;
	struct pool *pool = (*table)->pool; // the table itself is in it
	*table = NULL;
	pool_free(&pool);
}
