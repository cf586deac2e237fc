// SPDX-License-Identifier: Apache-2.0
// tenure export: resources as tenure import reads them: a JSON document on each line, one JSON list, or CSV.
//
// The columns of CSV are known only when all documents were read, so the documents are kept in an unnamed file until then. A
// column is a path at which all documents have a string or nothing; where they differ, or a name can't stand in a path, the cells
// of the path above are JSON. So the file, imported, gives the documents that it was made of, to the byte of each string.
#include "base/base.h"

#include <errno.h>

#include "base/pool.h"
#include "base/spill.h"
#include "base/visible.h"
#include "cli/change/merge.h"
#include "cli/command/commands.h"
#include "cli/command/resource.h"
#include "cli/core/cli.h"
#include "cli/core/offered_types.h"
#include "cli/core/rows.h"
#include "cli/core/text.h"

enum { PAGE = 500, COLUMN_DEPTH = 8 };

// What the documents have at a path.
enum node_kind { NODE_TEXT, NODE_JSON, NODE_OBJECT };
struct node {
	struct str name;
	enum node_kind kind;
	struct node *first, *next; // first: the first member of a NODE_OBJECT
};

struct exporting {
	struct cli *cli;
	struct pool *kept; // what outlives a document
	FILE *documents;   // for CSV: a document on each line
	struct node root;
	bool is_flat;      // there would be too many columns: those of the top alone
	bool first;        // nothing was printed yet
};

// ---- columns

static bool is_plain_name(struct str name)
{
	return name.n > 0 && str_find(name, '.', 0) == name.n && str_eq(str_trim(name), name) && !str_ends(name, STR(":"));
}

// depth: of the value; the document is 0.
static enum node_kind kind_of(const struct exporting *exporting, const struct doc *value, int depth)
{
	if (doc_kind(value) == DOC_STRING)
		return NODE_TEXT;
	if (doc_kind(value) != DOC_OBJECT || (depth > 0 && doc_length(value) == 0) || depth >= (exporting->is_flat ? 1 : COLUMN_DEPTH))
		return NODE_JSON;
	for (struct doc_iter it = doc_iter(value); doc_next(&it);) {
		if (!is_plain_name(it.name))
			return NODE_JSON;
	}
	return NODE_OBJECT;
}

static struct node *member_of(struct exporting *exporting, struct node *node, struct str name, bool *is_new)
{
	struct node **at = &node->first;

	while (*at != NULL && !str_eq((*at)->name, name))
		at = &(*at)->next;
	*is_new = *at == NULL;
	if (*is_new) {
		*at = POOL_NEW(exporting->kept, struct node);
		(*at)->name = str_dup(exporting->kept, name);
	}
	return *at;
}

static void note_value(struct exporting *exporting, struct node *node, bool is_new, const struct doc *value, int depth)
{
	enum node_kind kind = kind_of(exporting, value, depth);
	bool member_is_new;

	if (is_new)
		node->kind = kind;
	else if (node->kind != kind)
		node->kind = NODE_JSON;
	if (node->kind != NODE_OBJECT)
		return;
	for (struct doc_iter it = doc_iter(value); doc_next(&it);) {
		struct node *member = member_of(exporting, node, it.name, &member_is_new);
		note_value(exporting, member, member_is_new, it.value, depth + 1);
	}
}

static size_t count_columns(const struct node *node)
{
	size_t n = 0;

	if (node->kind != NODE_OBJECT)
		return 1;
	for (const struct node *member = node->first; member != NULL; member = member->next)
		n += count_columns(member);
	return n;
}

// Exit code.
static int limit_columns(struct exporting *exporting)
{
	if (count_columns(&exporting->root) <= CLI_ROWS_COLUMNS)
		return EX_OK;
	exporting->is_flat = true;
	for (struct node *member = exporting->root.first; member != NULL; member = member->next) {
		for (struct node *inner = member->first; inner != NULL && str_eq_c(member->name, "metadata"); inner = inner->next)
			inner->kind = inner->kind == NODE_OBJECT ? NODE_JSON : inner->kind;
		if (member->kind == NODE_OBJECT && !str_eq_c(member->name, "metadata"))
			member->kind = NODE_JSON;
	}
	return count_columns(&exporting->root) <= CLI_ROWS_COLUMNS ? EX_OK
		: cli_fail(EX_DATAERR, "the documents have more than %d different members, and CSV may have so many columns: export them as JSON", CLI_ROWS_COLUMNS);
}

// ---- a document for CSV

// The members that a client sets, and what import finds the address and the etag by. These come first.
static struct doc *row_document(struct pool *pool, const struct doc *document, const char *type)
{
	static const char *const first[] = { "namespace", "name", "type", "etag" };
	struct doc *own = cli_document_own(pool, document, NULL, TARGET_RESOURCE), *row = doc_new_object(pool), *metadata = doc_new_object(pool);
	const struct doc *given = NULL, *value;

	(void)doc_get(document, STR("metadata"), &given);
	for (size_t i = 0; i < COUNT_OF(first); i++) {
		if (strcmp(first[i], "type") == 0)
			doc_set_str(pool, metadata, first[i], str_c(type));
		else if (doc_get(given, str_c(first[i]), &value))
			doc_set(metadata, str_c(first[i]), doc_copy(pool, value));
	}
	doc_set(row, STR("metadata"), metadata);
	if (doc_get(own, STR("metadata"), &given)) {
		for (struct doc_iter it = doc_iter(given); doc_next(&it);)
			doc_set(metadata, it.name, doc_copy(pool, it.value));
	}
	for (struct doc_iter it = doc_iter(own); doc_next(&it);) {
		if (!str_eq_c(it.name, "metadata") && !str_eq_c(it.name, "kind") && !str_eq_c(it.name, "apiVersion"))
			doc_set(row, it.name, doc_copy(pool, it.value));
	}
	return row;
}

// Notes the columns of the document: those of its metadata, all but the first of which are JSON, and of all else.
static void note_document(struct exporting *exporting, const struct doc *row)
{
	bool is_new;

	exporting->root.kind = NODE_OBJECT;
	for (struct doc_iter it = doc_iter(row); doc_next(&it);) {
		struct node *member = member_of(exporting, &exporting->root, it.name, &is_new);
		if (!str_eq_c(it.name, "metadata")) {
			note_value(exporting, member, is_new, it.value, 1);
			continue;
		}
		member->kind = NODE_OBJECT;
		for (struct doc_iter inner = doc_iter(it.value); doc_next(&inner);) {
			struct node *column = member_of(exporting, member, inner.name, &is_new);
			column->kind = doc_kind(inner.value) == DOC_STRING && (is_new || column->kind == NODE_TEXT) ? NODE_TEXT : NODE_JSON;
		}
	}
}

// Can each name at the top and in the metadata be that of a column?
static bool has_column_names(const struct node *node, int depth)
{
	for (const struct node *member = node->first; member != NULL && node->kind == NODE_OBJECT; member = member->next) {
		if (!is_plain_name(member->name) || (depth == 0 && !has_column_names(member, depth + 1)))
			return false;
	}
	return true;
}

static int keep_document(struct exporting *exporting, const struct doc *document, const char *type)
{
	struct pool *pool = exporting->cli->pool;
	struct doc *row = row_document(pool, document, type);
	struct str text = doc_text(pool, row);

	note_document(exporting, row);
	if (!has_column_names(&exporting->root, 0))
		return cli_fail(EX_DATAERR, "a document has a member whose name can't be that of a column: export it as JSON");
	if (fwrite(text.p, 1, text.n, exporting->documents) != text.n || putc('\n', exporting->documents) == EOF)
		return cli_fail(EX_IOERR, "a temporary file can't be written: %s", strerror(errno));
	return limit_columns(exporting);
}

// ---- CSV (RFC 4180)

// Prints a cell. An empty one that is not quoted is no value.
static void put_cell(const struct exporting *exporting, struct str text, bool first)
{
	if (!first)
		putchar(',');
	cli_cell_print(exporting->cli, text, text.n == 0);
}

static void put_titles(const struct exporting *exporting, const struct node *node, struct str path, bool *first)
{
	struct pool *pool = exporting->cli->pool;

	for (const struct node *member = node->first; member != NULL; member = member->next) {
		struct str below = path.n > 0 ? str_printf(pool, "%.*s.%.*s", STR_ARG(path), STR_ARG(member->name)) : member->name;
		if (member->kind == NODE_OBJECT) {
			put_titles(exporting, member, below, first);
			continue;
		}
		put_cell(exporting, rows_column_name(pool, below, member->kind == NODE_JSON), *first);
		*first = false;
	}
}

// is_there: the document has the value, which may be null.
static void put_cells(const struct exporting *exporting, const struct node *node, bool is_there, const struct doc *value, bool *first)
{
	const struct doc *inner;

	for (const struct node *member = node->first; member != NULL; member = member->next) {
		bool has = is_there && doc_get(value, member->name, &inner);
		if (member->kind == NODE_OBJECT) {
			put_cells(exporting, member, has, has ? inner : NULL, first);
			continue;
		}
		if (has)
			put_cell(exporting, member->kind == NODE_TEXT ? doc_string(inner) : doc_text(exporting->cli->pool, inner), *first);
		else if (!*first)
			putchar(',');
		*first = false;
	}
}

static void print_titles(struct exporting *exporting)
{
	bool first = true;

	if (exporting->root.first == NULL)
		printf("namespace,name,type,etag");
	put_titles(exporting, &exporting->root, STR(""), &first);
	putchar('\n');
}

static int print_csv(struct exporting *exporting)
{
	struct cli *cli = exporting->cli;
	const struct pool_mark mark = pool_mark(cli->pool);
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int code = EX_OK;

	rewind(exporting->documents);
	print_titles(exporting);
	while (code == EX_OK && (n = getline(&line, &room, exporting->documents)) > 0) {
		struct doc *row;
		bool first = true;
		code = cli_input_parse(cli, str_n(line, (size_t)n), "a temporary file", &row);
		if (code == EX_OK)
			put_cells(exporting, &exporting->root, true, row, &first);
		putchar('\n');
		pool_rewind(cli->pool, mark);
	}
	free(line);
	return code == EX_OK && ferror(exporting->documents) ? cli_fail(EX_IOERR, "a temporary file can't be read") : code;
}

// ---- JSON

static void print_json(const struct exporting *exporting, struct doc *document, const char *type)
{
	struct cli *cli = exporting->cli;
	struct buf line;

	doc_set_path(cli->pool, document, STR("metadata.type"), doc_new_string(cli->pool, str_c(type)));
	line = buf_new(cli->pool, doc_json_bound(document));
	doc_write_json(document, &line);
	struct str text = cli->out_is_terminal ? visible_json(cli->pool, buf_str(&line)) : buf_str(&line);
	if (cli->format_given)
		printf("%s%.*s", exporting->first ? "[\n" : ",\n", STR_ARG(text));
	else
		printf("%.*s\n", STR_ARG(text));
}

// ---- the command

static int export_document(struct exporting *exporting, const struct tenure_resource *resource, const char *type)
{
	struct str text;
	struct doc *document;

	text.p = tenure_resource_document(resource, &text.n);
	int code = cli_input_parse(exporting->cli, text, type, &document);
	if (code == EX_OK && exporting->documents != NULL)
		code = keep_document(exporting, document, type);
	else if (code == EX_OK)
		print_json(exporting, document, type);
	exporting->first = false;
	// If the output can't be written, the pages that are left are not worth reading. main() prints the error.
	return code == EX_OK && ferror(stdout) ? EX_IOERR : code;
}

static int export_type(struct exporting *exporting, const char *type)
{
	struct cli *cli = exporting->cli;
	const struct pool_mark mark = pool_mark(cli->pool);
	struct tenure_list *list = tenure_list_resources(cli->client, cli->tenant, cli->options[OPT_NAMESPACE], type, TENURE_LIST_LIVE);
	struct tenure_resource *item;
	enum tenure_status status;
	int code = EX_OK;

	if (list == NULL)
		return resource_fail_address(cli, cli->options[OPT_NAMESPACE], type, NULL);
	tenure_list_set_page(list, PAGE);
	while (code == EX_OK && (status = tenure_list_next(list, &item)) == TENURE_OK) {
		code = export_document(exporting, item, type);
		tenure_resource_free(&item);
		pool_rewind(cli->pool, mark);
	}
	tenure_list_free(&list);
	if (code != EX_OK || status == TENURE_END)
		return code;
	code = cli_fail_status(cli, status, type);
	if (code == EXIT_NOT_FOUND)
		resource_suggest(cli, type);
	return code;
}

int command_export(struct cli *cli)
{
	struct exporting exporting = { .cli = cli, .first = true };
	const char *folder;
	int code = EX_OK;

	if (cli->tenant == NULL)
		return cli_fail_no_tenant();
	if (cli->format_given && cli->format == FORMAT_TABLE)
		return cli_fail(EX_USAGE, "a table can't be imported: export as JSON, or with --format csv");
	if (cli->format_given && cli->format == FORMAT_CSV && (exporting.documents = spill_file(&folder)) == NULL)
		return cli_fail(EX_CANTCREAT, "a temporary file can't be made in %s: %s; TMPDIR names another folder", folder, strerror(errno));
	exporting.kept = pool_new_or_end();
	for (size_t i = 0; i < cli->n_arguments && code == EX_OK; i++)
		code = export_type(&exporting, type_plural(cli->arguments[i]));
	if (code == EX_OK && exporting.documents != NULL)
		code = print_csv(&exporting);
	else if (code == EX_OK && cli->format_given)
		puts(exporting.first ? "[]" : "\n]");
	if (exporting.documents != NULL)
		fclose(exporting.documents);
	pool_free(&exporting.kept);
	return code;
}
