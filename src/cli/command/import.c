// SPDX-License-Identifier: Apache-2.0
// tenure import: many resources from a file.
//
// Each row is a request of its own. A row that is refused keeps no other from being imported. An import that was broken off is
// run again: what is there already with the row's content counts as unchanged.
#include "base/base.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/pool.h"
#include "base/siphash.h"
#include "cli/change/merge.h"
#include "cli/command/commands.h"
#include "cli/command/resource.h"
#include "cli/core/cli.h"
#include "cli/core/fields.h"
#include "cli/core/offered_types.h"
#include "cli/core/rows.h"
#include "cli/core/table.h"
#include "cli/core/text.h"

#define DRY_RUN "?dry_run=true"
enum { TRIES = 10, PROGRESS_US = 200 * 1000 };

// What a row may do to a resource that is there with other content.
enum rule {
	RULE_CREATE,  // nothing: it is refused
	RULE_GUARDED, // replace it, if it still has the row's etag; a row without an etag creates
	RULE_REPLACE, // replace it, whatever it is
};

enum result { RESULT_CREATED, RESULT_REPLACED, RESULT_UNCHANGED, RESULT_REFUSED, RESULT__COUNT };
static const char *const result_names[] = { "created", "replaced", "unchanged", "refused" };

// What rows before would have changed, for a dry run: of each address, the content that it would have. Both are kept as hashes,
// in a table with open addressing.
struct foreseen {
	uint64_t address[2], content[2];
	bool is_used;
};
enum { FORESEEN_FIRST = 1024 };

struct importing {
	struct cli *cli;
	const char *path;
	const char *type; // of all rows; NULL: each row's kind
	enum rule rule;
	bool dry_run;
	struct foreseen *foreseen;       // of a dry run; NULL: nothing yet
	size_t n_foreseen, foreseen_room;
	uint64_t hash_key[SIPHASH_KEY];
	uint64_t skip;                   // rows that an earlier import has done
	uint64_t counts[RESULT__COUNT];
	uint64_t rows;
	uint64_t without_traits;         // rows whose resources were created without their traits
	int code;                        // of the first row that was refused
	bool stopped;                    // by a failure that further rows would have, too
	bool shows_progress;
	int64_t shown_us;
};

// A row on its way.
struct import_row {
	const struct file_row *row;
	const char *label; // "FILE:LINE: TYPE/NAME"
	const struct doc *own;
	const char *etag; // of the row; NULL: none
	const char *space, *type;
	struct tenure_resource *resource;
};

// ---- telling

static void clear_progress(struct importing *importing)
{
	if (importing->shows_progress)
		fprintf(stderr, "\r\033[K");
}

static void show_progress(struct importing *importing, const struct rows *rows)
{
	int64_t now_us = clock_tick_us();
	uint64_t done, total;

	if (!importing->shows_progress || now_us - importing->shown_us < PROGRESS_US)
		return;
	importing->shown_us = now_us;
	if (rows_progress(rows, &done, &total))
		cli_bar_print(stderr, done, total);
	else
		fputc('\r', stderr);
	fprintf(stderr, " %llu rows", (unsigned long long)importing->rows);
	for (int i = 0; i < RESULT__COUNT; i++)
		fprintf(stderr, ", %llu %s", (unsigned long long)importing->counts[i], result_names[i]);
	fprintf(stderr, "\033[K");
	fflush(stderr);
}

static enum result refuse(struct importing *importing, int code)
{
	importing->code = importing->code != EX_OK ? importing->code : code;
	return RESULT_REFUSED;
}

// Is it not the row's fault that the call failed, so that further rows would fail as well?
static bool stops(enum tenure_status status)
{
	return status == TENURE_UNAVAILABLE || status == TENURE_UNCERTAIN || status == TENURE_UNAUTHENTICATED || status == TENURE_PROTOCOL;
}

// A failed call. If it is not the row's fault, the import stops there.
static enum result refuse_status(struct importing *importing, const struct import_row *row, enum tenure_status status)
{
	clear_progress(importing);
	int code = cli_fail_status(importing->cli, status, row->label);
	importing->stopped = stops(status);
	return refuse(importing, code);
}

static enum result refuse_text(struct importing *importing, int code, const char *label, const char *text)
{
	clear_progress(importing);
	return refuse(importing, cli_fail(code, "%s: %s", label, text));
}

// ---- a row's parts

static const char *text_at(struct cli *cli, const struct doc *document, const char *path)
{
	const struct doc *value;

	if (!doc_at_path(document, str_c(path), &value) || doc_kind(value) != DOC_STRING)
		return NULL;
	struct str text = doc_string(value);
	return text.n > 0 && memchr(text.p, '\0', text.n) == NULL ? str_cstr(cli->pool, text) : NULL;
}

// The plural of a built-in type by the kind in its documents. NULL: it is none of those.
static const char *plural_of_kind(const char *kind)
{
	for (const struct offered_type *type = offered_types; kind != NULL && type->plural != NULL; type++) {
		if (type->offered && strcmp(type->kind, kind) == 0)
			return type->plural;
	}
	return NULL;
}

// The type of a row: --type; what export wrote; or the kind, as kubectl writes it. NULL: none of these.
static const char *type_of(const struct importing *importing, const struct doc *document)
{
	const char *type = text_at(importing->cli, document, "metadata.type");

	if (importing->type != NULL)
		return importing->type;
	return type != NULL ? type_plural(type) : plural_of_kind(text_at(importing->cli, document, "kind"));
}

// The members that a client sets, without those that every document of the type has alike.
static const struct doc *own_of(struct cli *cli, const struct doc *document)
{
	struct doc *own = cli_document_own(cli->pool, document, NULL, TARGET_RESOURCE);
	struct doc *metadata = doc_own_member(own, STR("metadata"));

	doc_remove(own, STR("kind"));
	doc_remove(own, STR("apiVersion"));
	if (doc_kind(metadata) == DOC_OBJECT) {
		doc_remove(metadata, STR("type"));
		if (doc_length(metadata) == 0)
			doc_remove(own, STR("metadata"));
	}
	return own;
}

// NULL: the row is good; else what is wrong with it.
static const char *prepare(struct importing *importing, const struct file_row *row, struct import_row *out)
{
	struct cli *cli = importing->cli;
	const char *name, *space, *type;

	*out = (struct import_row){ .row = row, .label = str_printf(cli->pool, "%s:%llu", importing->path, (unsigned long long)row->line).p };
	if (row->wrong != NULL)
		return row->wrong;
	name = text_at(cli, row->document, "metadata.name");
	space = text_at(cli, row->document, "metadata.namespace");
	type = type_of(importing, row->document);
	if (type == NULL)
		return "which type? Give --type, a column \"type\", or a \"kind\" that is built in";
	if (name == NULL)
		return "there is no \"name\" in its \"metadata\"";
	out->label = str_printf(cli->pool, "%s: %s/%s", out->label, type, name).p;
	if (cli->options[OPT_NAMESPACE] != NULL)
		space = cli->options[OPT_NAMESPACE];
	out->space = space != NULL ? space : resource_namespace(cli, type);
	out->type = type;
	out->resource = tenure_resource_new(cli->client, cli->tenant, out->space, type, name);
	if (out->resource == NULL)
		return "that can't be the address of a resource";
	out->etag = text_at(cli, row->document, "metadata.etag");
	out->own = own_of(cli, row->document);
	return NULL;
}

// ---- deciding

// Has the resource, as it was read just now, the content of the row?
static bool is_there(struct cli *cli, const struct import_row *row)
{
	struct doc *document;
	struct str unused;
	size_t n;
	const char *text = tenure_resource_document(row->resource, &n);
	return text != NULL && doc_parse_json(cli->pool, str_n(text, n), (struct doc_limits){ 1000, 0 }, &document, &unused) &&
		doc_equal_by_value(own_of(cli, document), row->own);
}

// Has the resource, as it was read or answered just now, this etag? NULL: no.
static bool has_etag(struct cli *cli, const struct import_row *row, const char *wanted)
{
	const char *etag = tenure_resource_etag(row->resource);
	struct str theirs, ours;

	return wanted != NULL && etag != NULL && client_etag_header(cli->pool, str_c(etag), &theirs) &&
		client_etag_header(cli->pool, str_c(wanted), &ours) && str_eq(theirs, ours);
}

// A copy of the etag that the resource was read with.
static const char *etag_read(struct cli *cli, const struct import_row *row)
{
	const char *etag = tenure_resource_etag(row->resource);
	return etag != NULL ? str_dup(cli->pool, str_c(etag)).p : NULL;
}

// Would the row change the resource, as it was read just now? Documents that differ do not tell: the service fills in a type's
// defaults, prunes unknown members and completes some types by their rules. So it tries the row, and a PUT that changes nothing
// keeps the etag.
static enum tenure_status try_row(struct importing *importing, const struct import_row *row, struct str body, bool *changes)
{
	struct tenure_client *client = importing->cli->client;
	const char *before = client->change_query, *etag = etag_read(importing->cli, row);

	client->change_query = DRY_RUN;
	enum tenure_status status = tenure_resource_put(row->resource, body.p, body.n, TENURE_ETAG_CURRENT);
	client->change_query = before;
	*changes = status != TENURE_OK || !has_etag(importing->cli, row, etag);
	return status;
}

static enum result refuse_other(struct importing *importing, const struct import_row *row)
{
	bool guarded = importing->rule == RULE_GUARDED && row->etag != NULL;

	return refuse_text(importing, EXIT_STALE, row->label, guarded ? "it was changed since the row's etag was read"
		: "it is there already, with other content; --no-etag replaces it");
}

// What a row needs to be there, a row before would make in a dry run: its namespace, or the definition of its type.
static bool would_be_made(const struct importing *importing, const char *space, const char *type, const char *name);

static bool needs_what_would_be_made(const struct importing *importing, const struct import_row *row)
{
	return importing->foreseen != NULL && ((row->space != NULL && would_be_made(importing, NULL, "namespaces", row->space)) ||
		would_be_made(importing, NULL, "customresourcedefinitions.apiextensions.k8s.io", row->type));
}

// The resource is there, as it was read just now, with a document other than the row's, and the row may not replace it.
// RESULT__COUNT: it was changed meanwhile, so the row is sent again.
static enum result judge(struct importing *importing, const struct import_row *row, struct str body)
{
	bool changes;
	enum tenure_status status = try_row(importing, row, body, &changes);

	if (!changes)
		return RESULT_UNCHANGED;
	if (status == TENURE_STALE || status == TENURE_NOT_FOUND || status == TENURE_GONE)
		return RESULT__COUNT;
	return stops(status) ? refuse_status(importing, row, status) : refuse_other(importing, row);
}

// Sends the row. A create that is refused because something is there, and a change whose etag is stale, may have been done by an
// earlier run: only what is there now can tell.
static enum result carry_out(struct importing *importing, const struct import_row *row)
{
	struct cli *cli = importing->cli;
	struct str body = doc_text(cli->pool, row->own);
	bool guarded = importing->rule == RULE_GUARDED && row->etag != NULL;
	struct tenure_etag etag = guarded ? TENURE_ETAG_TEXT(row->etag) : TENURE_ETAG_NEW;
	const char *before = guarded ? row->etag : NULL; // the etag that a PUT replaces; NULL: it creates

	for (unsigned tries = 0; tries < TRIES; tries++) {
		enum tenure_status status = tenure_resource_put(row->resource, body.p, body.n, etag);
		if (status == TENURE_OK && etag.kind == TENURE_ETAG_IS_NEW)
			return RESULT_CREATED;
		// The service can't look at the document: it is taken to be good.
		if (status == TENURE_NOT_FOUND && !guarded && needs_what_would_be_made(importing, row))
			return RESULT_CREATED;
		if (status == TENURE_OK) // a PUT of what is there already leaves the etag as it is
			return has_etag(cli, row, before) ? RESULT_UNCHANGED : RESULT_REPLACED;
		if (status != TENURE_STALE)
			return refuse_status(importing, row, status);
		status = tenure_resource_get(row->resource);
		if ((status == TENURE_NOT_FOUND || status == TENURE_GONE) && !guarded) { // it was deleted between the two calls
			etag = TENURE_ETAG_NEW;
			continue;
		}
		if (status != TENURE_OK)
			return refuse_status(importing, row, status);
		if (is_there(cli, row))
			return RESULT_UNCHANGED;
		if (importing->rule == RULE_REPLACE) {
			etag = TENURE_ETAG_CURRENT;
			before = etag_read(cli, row);
			continue;
		}
		enum result result = judge(importing, row, body);
		if (result != RESULT__COUNT)
			return result;
	}
	return refuse_text(importing, EXIT_STALE, row->label, "others keep changing it");
}

// ---- a dry run: each row is sent, and the service does nothing. So it does not know what rows before would have done.

// A hash of the value in which the order of members has no part.
static void hash_value(const struct importing *importing, struct pool *pool, const struct doc *value, uint64_t hash[2])
{
	struct buf text = buf_new(pool, 256);

	if (doc_kind(value) == DOC_OBJECT) {
		uint64_t sum[2] = { 0, 0 }, member[2];
		for (struct doc_iter it = doc_iter(value); doc_next(&it);) {
			struct buf pair = buf_new(pool, 64);
			json_add_string(&pair, it.name);
			hash_value(importing, pool, it.value, member);
			buf_add_hex(&pair, (const char *)member, sizeof(member));
			siphash_128(importing->hash_key, buf_str(&pair), member);
			sum[0] += member[0];
			sum[1] += member[1];
		}
		buf_addf(&text, "{%llx,%llx}", (unsigned long long)sum[0], (unsigned long long)sum[1]);
	} else if (doc_kind(value) == DOC_ARRAY) {
		uint64_t item[2];
		buf_addc(&text, '[');
		for (size_t i = 0; i < doc_length(value); i++) {
			hash_value(importing, pool, doc_at(value, i), item);
			buf_add_hex(&text, (const char *)item, sizeof(item));
		}
	} else {
		doc_write_json(value, &text);
	}
	siphash_128(importing->hash_key, buf_str(&text), hash);
}

static void hash_address(const struct importing *importing, const char *path, uint64_t hash[2])
{
	siphash_128(importing->hash_key, str_c(path), hash);
}

// The place of the address in the table: where it stands, or where it belongs.
static struct foreseen *foreseen_place(struct foreseen *table, size_t room, const uint64_t address[2])
{
	size_t i = (size_t)address[0] & (room - 1);

	while (table[i].is_used && (table[i].address[0] != address[0] || table[i].address[1] != address[1]))
		i = (i + 1) & (room - 1);
	return &table[i];
}

// What a row before would have made of the address. NULL: nothing.
static const struct foreseen *foreseen_at(const struct importing *importing, const char *path)
{
	uint64_t address[2];

	if (importing->foreseen == NULL)
		return NULL;
	hash_address(importing, path, address);
	const struct foreseen *place = foreseen_place(importing->foreseen, importing->foreseen_room, address);
	return place->is_used ? place : NULL;
}

static void grow_foreseen(struct importing *importing)
{
	size_t room = importing->foreseen_room > 0 ? 2 * importing->foreseen_room : FORESEEN_FIRST;
	struct foreseen *table = calloc(room, sizeof(*table));

	if (table == NULL) {
		cli_fail(0, "no memory for a dry run of so many rows");
		exit(EX_OSERR);
	}
	for (size_t i = 0; i < importing->foreseen_room; i++) {
		if (importing->foreseen[i].is_used)
			*foreseen_place(table, room, importing->foreseen[i].address) = importing->foreseen[i];
	}
	free(importing->foreseen);
	importing->foreseen = table;
	importing->foreseen_room = room;
}

// Notes what the row would make of its address.
static void foresee(struct importing *importing, const struct import_row *row)
{
	struct foreseen made = { .is_used = true };

	if (importing->foreseen == NULL || importing->n_foreseen >= importing->foreseen_room / 2)
		grow_foreseen(importing);
	hash_address(importing, tenure_resource_path(row->resource), made.address);
	hash_value(importing, importing->cli->pool, row->own, made.content);
	struct foreseen *place = foreseen_place(importing->foreseen, importing->foreseen_room, made.address);
	importing->n_foreseen += place->is_used ? 0 : 1;
	*place = made;
}

static bool would_be_made(const struct importing *importing, const char *space, const char *type, const char *name)
{
	struct cli *cli = importing->cli;
	struct tenure_resource *resource = tenure_resource_new(cli->client, cli->tenant, space, type, name);
	bool made = resource != NULL && foreseen_at(importing, tenure_resource_path(resource)) != NULL;

	tenure_resource_free(&resource);
	return made;
}

// A row whose address a row before would have changed. The service knows only what was there before, so it can say no more than
// whether the document is good; and not even that if it lacks what the row needs, which carry_out() takes to be good as well.
static enum result try_again_there(struct importing *importing, const struct import_row *row, const struct foreseen *before)
{
	struct str body = doc_text(importing->cli->pool, row->own);
	uint64_t content[2];

	hash_value(importing, importing->cli->pool, row->own, content);
	if (content[0] == before->content[0] && content[1] == before->content[1])
		return RESULT_UNCHANGED;
	if (importing->rule != RULE_REPLACE)
		return refuse_other(importing, row);
	for (unsigned tries = 0; tries < TRIES; tries++) {
		// If there is something, its etag is sent, as its tenant may require one for each change.
		bool there = tenure_resource_get(row->resource) == TENURE_OK;
		enum tenure_status status = tenure_resource_put(row->resource, body.p, body.n, there ? TENURE_ETAG_CURRENT : TENURE_ETAG_NONE);
		if (status == TENURE_OK || (status == TENURE_NOT_FOUND && needs_what_would_be_made(importing, row)))
			return RESULT_REPLACED;
		if (status != TENURE_STALE)
			return refuse_status(importing, row, status);
	}
	return refuse_text(importing, EXIT_STALE, row->label, "others keep changing it");
}

// Sends the row for a dry run.
static enum result try_out(struct importing *importing, const struct import_row *row)
{
	const struct foreseen *before = foreseen_at(importing, tenure_resource_path(row->resource));
	enum result result = before != NULL ? try_again_there(importing, row, before) : carry_out(importing, row);

	if (result == RESULT_CREATED || result == RESULT_REPLACED)
		foresee(importing, row);
	return result;
}

// Has the document of a row traits? The service ignores them in a PUT of the document: a call of their own sets them.
static bool has_traits(const struct doc *document)
{
	const struct doc *traits;
	return doc_at_path(document, STR("metadata.traits"), &traits) && doc_kind(traits) == DOC_ARRAY && doc_length(traits) > 0;
}

static enum result import_row(struct importing *importing, const struct file_row *row)
{
	struct import_row one;
	const char *wrong = prepare(importing, row, &one);
	enum result result;

	if (wrong != NULL)
		result = refuse_text(importing, EX_DATAERR, one.label, wrong);
	else
		result = importing->dry_run ? try_out(importing, &one) : carry_out(importing, &one);
	if (result == RESULT_CREATED && has_traits(row->document))
		importing->without_traits++;
	tenure_resource_free(&one.resource);
	return result;
}

// ---- the command

// Exit code.
static int read_options(struct cli *cli, struct importing *importing)
{
	const char *etag = cli->options[OPT_ETAG];

	*importing = (struct importing){ .cli = cli, .path = cli->arguments[0], .shows_progress = isatty(STDERR_FILENO) == 1 };
	if (cli->tenant == NULL)
		return cli_fail_no_tenant();
	if (etag != NULL && strcmp(etag, "auto") != 0 && strcmp(etag, "new") != 0)
		return cli_fail(EX_USAGE, "--etag takes auto, for the etags of the rows, or new; not \"%s\"", etag);
	if (etag != NULL && cli->options[OPT_NO_ETAG] != NULL)
		return cli_fail(EX_USAGE, "one of --etag and --no-etag, not both");
	digest_random(importing->hash_key, sizeof(importing->hash_key));
	importing->rule = cli->options[OPT_NO_ETAG] != NULL ? RULE_REPLACE
		: etag != NULL && strcmp(etag, "auto") == 0 ? RULE_GUARDED : RULE_CREATE;
	for (size_t i = 0; i < cli->n_given; i++) {
		const struct given *given = &cli->given[i];
		if (strcmp(given->field->name, "--type") == 0)
			importing->type = type_plural(given->value);
		else if (strcmp(given->field->name, "--dry-run") == 0)
			importing->dry_run = true;
		else if (!str_to_u64(str_c(given->value), &importing->skip))
			return cli_fail(EX_USAGE, "--skip takes a number of rows, not \"%s\"", given->value);
	}
	return EX_OK;
}

// Makes the table of the summary. It is made before the import begins, since a mistake in --columns must not show after it. NULL:
// an error was printed.
static struct table *new_summary(struct cli *cli)
{
	static const struct column columns[] = {
		{ "rows", "rows" }, { "created", "created" }, { "replaced", "replaced" }, { "unchanged", "unchanged" }, { "refused", "refused" },
	};
	struct table *table = table_new(cli, columns, COUNT_OF(columns), COUNT_OF(columns));

	return table != NULL && table_refuse_others(table) == EX_OK ? table : NULL;
}

static int print_summary(struct importing *importing, struct table *table)
{
	struct cli *cli = importing->cli;
	struct doc *summary = doc_new_object(cli->pool);

	doc_set_u64(cli->pool, summary, "rows", importing->rows);
	for (int i = 0; i < RESULT__COUNT; i++)
		doc_set_u64(cli->pool, summary, result_names[i], importing->counts[i]);
	table_add(table, summary);
	return table_print(table);
}

// Reads and imports row after row; memory is that of one. Exit code.
static int import_rows(struct importing *importing, struct rows *rows)
{
	struct pool *pool = importing->cli->pool;
	const struct pool_mark mark = pool_mark(pool);
	struct file_row row;
	enum row_step step;

	while (!importing->stopped && (step = rows_next(rows, pool, &row)) != ROW_END) {
		if (step == ROW_BROKEN)
			return cli_fail(EX_IOERR, "%s: %s", importing->path, row.wrong);
		if (row.number > importing->skip) {
			importing->counts[import_row(importing, &row)]++;
			importing->rows++;
			show_progress(importing, rows);
		}
		if (importing->stopped)
			cli_fail(0, "stopped at row %llu; to go on there: --skip %llu", (unsigned long long)row.number,
				(unsigned long long)row.number - 1);
		pool_rewind(pool, mark);
	}
	clear_progress(importing);
	if (importing->type != NULL && importing->rows > 0 && importing->counts[RESULT_REFUSED] == importing->rows)
		resource_suggest(importing->cli, importing->type);
	return importing->code;
}

int command_import(struct cli *cli)
{
	struct importing importing;
	struct rows *rows;
	struct table *summary = new_summary(cli);
	int code = summary != NULL ? read_options(cli, &importing) : EX_USAGE;

	if (code == EX_OK)
		code = rows_open(cli, importing.path, &rows);
	if (code != EX_OK)
		return code;
	if (importing.dry_run)
		cli->client->change_query = DRY_RUN;
	code = import_rows(&importing, rows);
	cli->client->change_query = NULL;
	free(importing.foreseen);
	rows_close(&rows);
	code = cli_first_failure(code, print_summary(&importing, summary));
	if (importing.without_traits > 0)
		cli_warn("the traits of %llu row%s are left out: a PUT of the resource's address and \"/traits\" sets them",
			(unsigned long long)importing.without_traits, importing.without_traits == 1 ? "" : "s");
	if (importing.dry_run)
		cli_fail(0, "this was a dry run: nothing was changed");
	return code;
}
