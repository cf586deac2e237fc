// SPDX-License-Identifier: Apache-2.0
// tenure-manage restore: makes the tenant of a dump again, in one transaction. The file is read four times: for its form and sums, before
// anything is written; for what is in the way; to write it; and to check what was written against the types, tiers and limits here.
#include "base/base.h"

#include <errno.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/digest.h"
#include "db/list.h"
#include "manage/commands.h"
#include "manage/core/table.h"
#include "manage/dump_line.h"
#include "manage/dump_reader.h"
#include "manage/record.h"
#include "manage/restore_all.h"
#include "registry/cache/coherence.h"
#include "registry/core/failure.h"
#include "registry/log/change.h"
#include "registry/placement/provider.h"
#include "registry/registry.h"
#include "registry/tags/etag.h"
#include "registry/type/type.h"
#include "registry/webhook/webhook.h"
#include "repr/json/doc.h"
#include "sql/dump.h"
#include "sql/tenants.h"
#include "sql/transfer.h"

enum { BATCH_RECORDS = 200, TELL_CONFLICTS = 10000 };

// The kinds of lines, in the order in which a file has them.
enum kind { KIND_DUMP, KIND_TENANT, KIND_TYPE, KIND_TRAIT, KIND_CLASS, KIND_RESOURCE, KIND_CONSUMER, KIND_ALLOCATION, KIND_WEBHOOK,
	KIND_END, KIND__N };
static const struct dump_kind kinds[KIND__N] = { { "dump", true }, { "tenant", true }, { "type", false }, { "trait", false }, { "class", false },
	{ "resource", false }, { "consumer", false }, { "allocation", false }, { "webhook", false }, { "end", false } };

struct restore {
	struct manage *manage;
	struct registry *registry;
	const char *path;     // of the file
	struct str name;      // of the tenant here; p NULL: as in the file
	struct str tier;      // of the tenant here; p NULL: as in the file
	bool dry_run, keep_invalid;
	struct dump_reader reader;
	struct pool *lines;   // the reader's
	enum pass { PASS_CHECK, PASS_LOOK, PASS_WRITE, PASS_VERIFY } pass;
	char webhook[WEBHOOK_NAME_MAX + 1]; // the name of the last one that was checked
	uint64_t n_conflicts, n_resources;
	uint64_t tenant_id;   // of the tenant that was written, and its name
	struct str tenant;
	int code;             // EX_OK, or why it ends
};

static bool fail(struct restore *restore, enum db_result result)
{
	if (result == DB_DUPLICATE)
		restore->code = manage_fail(EX_DATAERR, "somebody made something of the same name or uid meanwhile: run it again to see what");
	else if (result == DB_REFUSED)
		dump_reader_refuse_batch(&restore->reader, "has a value that can't be stored: %s", db_error(restore->manage->db));
	else
		restore->code = manage_db_fail(restore->manage, result, "can't restore the tenant");
	return false;
}

// ---- lines of the beginning and the end

static bool check_dump(struct restore *restore, const struct doc *doc)
{
	uint64_t format = record_number(doc, "format"), schema = record_number(doc, "schema");

	if (format != DUMP_FORMAT)
		return dump_reader_refuse(&restore->reader, "is of format %llu: this program reads format %d", (unsigned long long)format, DUMP_FORMAT);
	if (schema > REGISTRY_SCHEMA_VERSION)
		return dump_reader_refuse(&restore->reader, "is of schema version %llu, and this program knows %d: restore with the release that made it, or a later one",
			(unsigned long long)schema, REGISTRY_SCHEMA_VERSION);
	if (!str_eq(record_text(doc, "holds"), STR("tenant")))
		return dump_reader_refuse(&restore->reader, "holds no tenant");
	return true;
}

static struct str name_of(const struct restore *restore, const struct doc *doc)
{
	return restore->name.p != NULL ? restore->name : record_text(doc, "name");
}

static struct str tier_of(const struct restore *restore, const struct doc *doc)
{
	return restore->tier.p != NULL ? restore->tier : record_text(doc, "tier");
}

static bool check_tenant(struct restore *restore, const struct doc *doc)
{
	struct uuid uid;
	struct str name = name_of(restore, doc);

	if (!registry_id_is_valid(name) || realm_reserved(name) != NULL)
		return dump_reader_refuse(&restore->reader, "names a tenant that there can't be: use --as");
	if (!record_uid(doc, &uid) || !record_is_object(restore->lines, record_text(doc, "metadata")) || !record_is_object(restore->lines, record_text(doc, "object")))
		return dump_reader_refuse(&restore->reader, "is no tenant: it needs uid, metadata and object");
	return true;
}

// ---- what is in the way

// Prints a line about something that forbids the restore.
static void tell(struct restore *restore, struct str what)
{
	if (restore->n_conflicts < TELL_CONFLICTS)
		fprintf(stderr, "%.*s\n", STR_ARG(table_printable(restore->lines, what)));
	restore->n_conflicts++;
}

static bool note_conflicts(struct restore *restore, enum db_result result, const struct db_rows *rows)
{
	if (result != DB_OK)
		return fail(restore, result);
	static_assert(sizeof(struct sql_restore_taken_types_row) == sizeof(struct str), "a row is one text");
	for (size_t i = 0; i < rows->n; i++)
		tell(restore, ((const struct str *)rows->rows)[i]);
	return true;
}

static bool look_for_tenant(struct restore *restore, const struct doc *doc)
{
	struct registry *registry = restore->registry;
	struct db_rows rows;
	struct uuid uid;
	bool known = record_uid(doc, &uid);

	assert(known);
	UNUSED(known);
	const struct sql_restore_taken_tenant in = { .name = name_of(restore, doc), .uid = uuid_bytes(&uid), .tier = tier_of(restore, doc) };
	return note_conflicts(restore, sql_restore_taken_tenant_run(registry->db, restore->lines, &in, &rows), &rows);
}

static bool look_for_batch(struct restore *restore, struct str rows_text)
{
	struct db *db = restore->registry->db;
	struct pool *pool = restore->lines;
	struct db_rows rows = { .n = 0 };
	enum db_result result = DB_OK;

	switch (restore->reader.kind) {
	case KIND_TYPE:
		result = sql_restore_taken_types_run(db, pool, &(struct sql_restore_taken_types){ .rows = rows_text }, &rows);
		break;
	case KIND_TRAIT:
		result = sql_restore_taken_traits_run(db, pool, &(struct sql_restore_taken_traits){ .rows = rows_text }, &rows);
		break;
	case KIND_CLASS:
		result = sql_restore_taken_classes_run(db, pool, &(struct sql_restore_taken_classes){ .rows = rows_text }, &rows);
		break;
	case KIND_RESOURCE:
		result = sql_restore_taken_resources_run(db, pool, &(struct sql_restore_taken_resources){ .rows = rows_text }, &rows);
		break;
	case KIND_CONSUMER:
		result = sql_restore_taken_consumers_run(db, pool, &(struct sql_restore_taken_consumers){ .rows = rows_text }, &rows);
		break;
	default:
		break;
	}
	return note_conflicts(restore, result, &rows);
}

// ---- writing

static bool write_tenant(struct restore *restore, struct doc *doc)
{
	struct registry *registry = restore->registry;
	const struct doc *required;
	struct tenant tenant = {
		.name = name_of(restore, doc),
		.tier = tier_of(restore, doc),
		.metadata = record_text(doc, "metadata"),
		.object = record_text(doc, "object"),
		.etag_required = doc_get(doc, STR("etag_required"), &required) && record_number(doc, "etag_required") != 0,
		.revision = record_number(doc, "revision"),
	};
	struct buf record = buf_new(restore->lines, 1024);
	struct db_rows rows;

	(void)record_uid(doc, &tenant.uid);
	etag_of_tenant(registry, &tenant);
	doc_set_str(restore->lines, doc, "tier", tenant.tier);
	doc_write_json(doc, &record);
	const struct sql_restore_tenant in = { .name = tenant.name, .etag = str_n((const char *)tenant.etag, sizeof(tenant.etag)), .record = buf_str(&record) };
	enum db_result result = sql_restore_tenant_run(registry->db, restore->lines, &in, &rows);
	if (result != DB_OK)
		return fail(restore, result);
	tenant.id = restore->tenant_id = rows.insert_id;
	restore->tenant = str_dup(registry->pool, tenant.name);
	struct db_call calls[] = {
		change_of_tenant(registry, "created", &tenant, NULL, tenant.etag),
		sql_tenant_number_call(registry->pool, &(struct sql_tenant_number){ .id = tenant.id }),
	};
	result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	return result == DB_OK || fail(restore, result);
}

static bool write_shared(struct restore *restore, struct str rows)
{
	struct registry *registry = restore->registry;
	struct db *db = registry->db;
	enum db_result result;

	if (restore->reader.kind == KIND_TYPE)
		result = sql_restore_types_run(db, restore->lines, &(struct sql_restore_types){ .rows = rows }, NULL);
	else if (restore->reader.kind == KIND_TRAIT)
		result = sql_restore_traits_run(db, restore->lines, &(struct sql_restore_traits){ .rows = rows, .now = registry->stamp_us }, NULL);
	else
		result = sql_restore_classes_run(db, restore->lines, &(struct sql_restore_classes){ .rows = rows, .now = registry->stamp_us }, NULL);
	return result == DB_OK || fail(restore, result);
}

// The ids of the batch's resources as a JSON array.
static bool find_ids(struct restore *restore, struct str rows_text, struct str *ids, size_t *n)
{
	struct db_list list = db_list_new(restore->lines, 16 * BATCH_RECORDS);
	struct db_rows rows;
	enum db_result result = sql_restore_ids_run(restore->registry->db, restore->lines, &(struct sql_restore_ids){ .rows = rows_text }, &rows);

	if (result != DB_OK)
		return fail(restore, result);
	for (size_t i = 0; i < rows.n; i++)
		db_list_add_u64(&list, sql_restore_ids_row(&rows, i)->id);
	*ids = db_list_end(&list);
	*n = rows.n;
	return true;
}

static bool write_resources(struct restore *restore, struct str rows)
{
	struct registry *registry = restore->registry;
	struct pool *pool = restore->lines;
	const struct sql_restore_resources in = { .tenant_id = restore->tenant_id, .rows = rows };
	struct db_rows inserted;
	struct str ids;
	size_t n = 0;
	enum db_result result = sql_restore_resources_run(registry->db, pool, &in, &inserted);

	if (result != DB_OK)
		return fail(restore, result);
	if (!find_ids(restore, rows, &ids, &n))
		return false;
	if (n != restore->reader.rows.n)
		return dump_reader_refuse_batch(&restore->reader, "is of a type that is not here");
	struct pool *own = registry->pool;
	registry->pool = pool;
	struct db_call calls[] = {
		changes_of_creation(registry, ids),
		sql_load_number_call(pool, &(struct sql_load_number){ .ids = ids }),
		sql_restore_keys_call(pool, &(struct sql_restore_keys){ .rows = rows }),
		sql_restore_resource_traits_call(pool, &(struct sql_restore_resource_traits){ .ids = ids }),
		sql_restore_providers_call(pool, &(struct sql_restore_providers){ .rows = rows }),
		sql_restore_inventories_call(pool, &(struct sql_restore_inventories){ .rows = rows }),
		sql_restore_aggregates_call(pool, &(struct sql_restore_aggregates){ .rows = rows }),
	};
	result = db_run_batch(registry->db, pool, calls, COUNT_OF(calls));
	registry->pool = own;
	for (size_t i = 0; i < COUNT_OF(calls) && result == DB_OK; i++)
		result = calls[i].result; // a duplicate is none of the transaction's failures
	restore->n_resources += n;
	return result == DB_OK || fail(restore, result);
}

static bool write_allocated(struct restore *restore, struct str rows)
{
	struct registry *registry = restore->registry;
	struct pool *pool = restore->lines;
	struct db_rows written;
	enum db_result result;

	if (restore->reader.kind == KIND_ALLOCATION) {
		result = sql_restore_allocations_run(registry->db, pool,
			&(struct sql_restore_allocations){ .rows = rows, .type_id = provider_type(registry)->id }, &written);
	} else {
		result = sql_restore_consumer_types_run(registry->db, pool, &(struct sql_restore_consumer_types){ .rows = rows }, NULL);
		if (result == DB_OK)
			result = sql_restore_consumers_run(registry->db, pool, &(struct sql_restore_consumers){ .rows = rows }, &written);
	}
	if (result != DB_OK)
		return fail(restore, result);
	return written.affected == restore->reader.rows.n || dump_reader_refuse_batch(&restore->reader, "is about something that the file does not have");
}

static bool verify_batch(struct restore *restore, struct str rows_text)
{
	struct pool *pool = restore->lines;
	struct db_call calls[] = {
		sql_restore_wrong_references_call(pool, &(struct sql_restore_wrong_references){ .tenant_id = restore->tenant_id, .rows = rows_text }),
		sql_restore_wrong_parts_call(pool, &(struct sql_restore_wrong_parts){ .rows = rows_text }),
	};
	enum db_result result = db_run_batch(restore->registry->db, pool, calls, COUNT_OF(calls));

	static_assert(sizeof(struct sql_restore_wrong_references_row) == sizeof(struct str) &&
		sizeof(struct sql_restore_wrong_parts_row) == sizeof(struct str), "a row is one text");
	return note_conflicts(restore, result, &calls[0].rows) && note_conflicts(restore, result, &calls[1].rows);
}

// Looks for what is in the batch's way, writes it, or checks what was written.
static bool take_batch(void *user, struct str rows)
{
	struct restore *restore = user;
	enum kind kind = (enum kind)restore->reader.kind;

	if (restore->pass == PASS_LOOK)
		return look_for_batch(restore, rows);
	if (restore->pass == PASS_VERIFY)
		return verify_batch(restore, rows);
	if (kind == KIND_RESOURCE)
		return write_resources(restore, rows);
	return kind == KIND_CONSUMER || kind == KIND_ALLOCATION ? write_allocated(restore, rows) : write_shared(restore, rows);
}

// ---- resources

static bool has_trait_list(struct restore *restore, const struct doc *doc)
{
	struct str text = record_text(doc, "traits"), error;
	const struct doc *value;
	struct doc *list;

	if (text.p == NULL)
		return doc_get(doc, STR("traits"), &value) && value == NULL;
	if (!doc_parse_json(restore->lines, text, (struct doc_limits){ .depth = 2 }, &list, &error) || doc_kind(list) != DOC_ARRAY)
		return false;
	for (size_t i = 0; i < doc_length(list); i++) {
		if (doc_kind(doc_at(list, i)) != DOC_STRING)
			return false;
	}
	return true;
}

static bool check_resource(struct restore *restore, const struct doc *doc)
{
	struct str name = record_text(doc, "name");
	struct uuid uid;

	if (!record_uid(doc, &uid) || !registry_id_is_valid(name) || record_number(doc, "revision") == 0)
		return dump_reader_refuse(&restore->reader, "is no resource: it needs uid, name and revision");
	if (!record_is_object(restore->lines, record_text(doc, "meta")) || !record_is_object(restore->lines, record_text(doc, "body")))
		return dump_reader_refuse(&restore->reader, "is no resource: meta and body must be JSON objects, as texts");
	if (!has_trait_list(restore, doc))
		return dump_reader_refuse(&restore->reader, "is no resource: traits must be null, or a JSON array of names, as a text");
	uint64_t live = record_number(doc, "live");
	bool pinned = str_eq(record_text(doc, "plural"), STR("namespaces")) && record_text(doc, "group").n == 0 && str_eq(name, STR("default"));
	if (live != (pinned ? RESOURCE_PINNED : RESOURCE_COUNTED))
		return dump_reader_refuse(&restore->reader, "is no resource: live must be 2 for the namespace \"default\", and 1 for all else");
	return true;
}

// Adds what the keys of this installation make of it: the etag and the lanes of state tags.
static void complete_resource(struct restore *restore, struct doc *doc)
{
	static const char *const names[] = { "h0", "h1", "h2", "h3" };
	struct registry *registry = restore->registry;
	struct pool *pool = restore->lines, *own = registry->pool;
	const struct type unknown = { .group = record_text(doc, "group"), .plural = record_text(doc, "plural"),
		.namespaced = record_number(doc, "namespaced") != 0 };
	struct buf etag = buf_new(pool, 2 * sizeof(((struct resource *)NULL)->stored_etag));
	struct resource resource;
	uint64_t lanes[4];

	registry->pool = pool;
	if (!record_resource(registry, doc, &resource))
		resource.type = &unknown;
	etag_of_resource(registry, &resource);
	etag_state_lanes(registry, resource.type, &resource.uid, lanes);
	registry->pool = own;
	buf_add_hex(&etag, resource.stored_etag, sizeof(resource.stored_etag));
	doc_set_str(pool, doc, "etag", buf_str(&etag));
	for (size_t i = 0; i < COUNT_OF(lanes); i++)
		doc_set_u64(pool, doc, names[i], lanes[i]);
}

// Checks a resource that was written against its type here.
static bool verify_resource(struct restore *restore, const struct doc *doc)
{
	struct registry *registry = restore->registry;
	struct pool *pool = restore->lines, *own = registry->pool;
	enum outcome failed = OUTCOME_OK;
	struct resource resource;
	struct str reason = STR_NONE;
	bool fits = false;

	registry->pool = pool;
	if (record_resource(registry, doc, &resource)) {
		resource.tenant = restore->tenant;
		resource.tenant_id = restore->tenant_id;
		fits = record_fits(registry, doc, &resource, !restore->keep_invalid, &reason, &failed);
	}
	if (reason.p != NULL)
		tell(restore, str_printf(pool, "line %llu, %.*s %.*s: %.*s", (unsigned long long)restore->reader.line, STR_ARG(record_text(doc, "plural")),
			STR_ARG(resource.name), STR_ARG(reason)));
	*registry->problem = (struct problem){ .n_members = 0 };
	registry->pool = own;
	return fits || reason.p != NULL || fail(restore, DB_ERROR);
}

// ---- webhooks

static bool check_webhook(struct restore *restore, const struct doc *doc)
{
	struct registry *registry = restore->registry;
	struct pool *own = registry->pool;
	struct doc *filters;
	struct str error, name = record_text(doc, "name"), description = record_text(doc, "description");

	if (!webhook_name_is_valid(name) || description.p == NULL || description.n > WEBHOOK_DESCRIPTION_MAX ||
		!doc_parse_json(restore->lines, record_text(doc, "filters"), (struct doc_limits){ .depth = 3 }, &filters, &error) ||
		doc_kind(filters) != DOC_OBJECT)
		return dump_reader_refuse(&restore->reader, "is no webhook: it needs name, url, description and filters");
	if (str_cmp(name, str_c(restore->webhook)) <= 0)
		return dump_reader_refuse(&restore->reader, "is the webhook \"%.*s\" behind \"%s\": they come in the order of their names, each once",
			STR_ARG(name), restore->webhook);
	memcpy(restore->webhook, name.p, name.n);
	restore->webhook[name.n] = '\0';
	registry->pool = restore->lines;
	bool good = webhook_check_filters(registry, filters) == OUTCOME_OK ||
		dump_reader_refuse(&restore->reader, "is no webhook: %.*s", STR_ARG(registry->problem->detail));
	*registry->problem = (struct problem){ .n_members = 0 };
	registry->pool = own;
	return good;
}

static bool write_webhook(struct restore *restore, const struct doc *doc)
{
	struct registry *registry = restore->registry;
	struct pool *own = registry->pool;
	const struct webhook_content content = { .url = record_text(doc, "url"), .description = record_text(doc, "description"), .filters = record_text(doc, "filters") };
	struct str name = record_text(doc, "name");

	registry->pool = restore->lines;
	enum outcome outcome = webhook_bring(registry, restore->tenant_id, name, &content);
	bool misfit = outcome == OUTCOME_BAD_DOCUMENT || outcome == OUTCOME_CONFLICT;
	if (misfit)
		tell(restore, str_printf(restore->lines, "line %llu, webhook %.*s: %.*s", (unsigned long long)restore->reader.line, STR_ARG(name),
			STR_ARG(registry->problem->detail)));
	*registry->problem = (struct problem){ .n_members = 0 };
	registry->pool = own;
	return outcome == OUTCOME_CREATED || misfit || fail(restore, DB_ERROR);
}

// ---- passes

static bool check_record(struct restore *restore, const struct doc *doc)
{
	switch (restore->reader.kind) {
	case KIND_DUMP:
		return check_dump(restore, doc);
	case KIND_TENANT:
		return check_tenant(restore, doc);
	case KIND_RESOURCE:
		return check_resource(restore, doc);
	case KIND_WEBHOOK:
		return check_webhook(restore, doc);
	default:
		return true;
	}
}

// The record of a resource goes to the database with the number of its line, by which conflicts are told.
static void add_resource(struct restore *restore, struct doc *doc, size_t n)
{
	struct buf text = buf_new(restore->lines, n + 256);

	doc_set_u64(restore->lines, doc, "line", restore->reader.line);
	doc_write_json(doc, &text);
	dump_reader_add(&restore->reader, buf_str(&text));
}

static bool look_at_record(struct restore *restore, const struct doc *doc, struct str object)
{
	if (restore->reader.kind == KIND_TENANT)
		return look_for_tenant(restore, doc);
	dump_reader_add(&restore->reader, object);
	return true;
}

static bool write_record(struct restore *restore, struct doc *doc, struct str object)
{
	if (restore->reader.kind == KIND_TENANT)
		return write_tenant(restore, doc);
	if (restore->reader.kind == KIND_WEBHOOK)
		return write_webhook(restore, doc);
	if (restore->reader.kind == KIND_RESOURCE) {
		complete_resource(restore, doc);
		add_resource(restore, doc, object.n);
	} else {
		dump_reader_add(&restore->reader, object);
	}
	return true;
}

static bool verify_record(struct restore *restore, struct doc *doc, struct str object)
{
	if (restore->reader.kind != KIND_RESOURCE)
		return true;
	if (!verify_resource(restore, doc))
		return false;
	add_resource(restore, doc, object.n);
	return true;
}

static bool take_record(void *user, struct str object)
{
	struct restore *restore = user;
	struct doc *doc;

	if (!dump_reader_parse(&restore->reader, object, &doc))
		return false;
	if (restore->pass == PASS_CHECK)
		return check_record(restore, doc);
	if (restore->reader.kind == KIND_DUMP || restore->reader.kind == KIND_END)
		return true;
	if (restore->pass == PASS_LOOK)
		return look_at_record(restore, doc, object);
	return restore->pass == PASS_WRITE ? write_record(restore, doc, object) : verify_record(restore, doc, object);
}

static bool pass(struct restore *restore, enum pass which)
{
	restore->pass = which;
	if (dump_reader_run(&restore->reader))
		return true;
	if (restore->reader.refusal[0] != '\0')
		restore->code = manage_fail(EX_DATAERR, "%s: %s", restore->path, restore->reader.refusal);
	return false;
}

// Ends the transaction if something forbids the restore.
static bool report_conflicts(struct restore *restore)
{
	if (restore->n_conflicts == 0)
		return true;
	if (restore->n_conflicts > TELL_CONFLICTS)
		fprintf(stderr, "and %llu more\n", (unsigned long long)(restore->n_conflicts - TELL_CONFLICTS));
	restore->code = manage_fail(EX_DATAERR, "nothing was restored: %llu conflicts", (unsigned long long)restore->n_conflicts);
	return false;
}

// What was written is checked against the tier, the definitions and the limits here, as the transaction sees them.
static bool verify(struct restore *restore)
{
	struct registry *registry = restore->registry;
	const struct sql_restore_over_quota in = { .tenant_id = restore->tenant_id };
	struct db_rows rows;
	enum db_result result = sql_restore_counts_run(registry->db, registry->pool, &(struct sql_restore_counts){ .tenant_id = restore->tenant_id }, NULL);

	if (result != DB_OK)
		return fail(restore, result);
	static_assert(sizeof(struct sql_restore_over_quota_row) == sizeof(struct str), "a row is one text");
	return note_conflicts(restore, sql_restore_over_quota_run(registry->db, registry->pool, &in, &rows), &rows) &&
		pass(restore, PASS_VERIFY) && report_conflicts(restore);
}

static bool finish(struct restore *restore)
{
	struct registry *registry = restore->registry;

	if (coherence_raise(registry, COHERENCE_TYPES) == OUTCOME_OK && coherence_raise(registry, COHERENCE_TRAITS) == OUTCOME_OK)
		return true;
	return fail(restore, DB_LOST);
}

static enum db_verdict run(void *arg)
{
	struct restore *restore = arg;

	registry_begin_run(restore->registry);
	restore->code = EX_OK;
	restore->n_conflicts = restore->n_resources = 0;
	if (!pass(restore, PASS_LOOK) || !report_conflicts(restore))
		return DB_ROLLBACK;
	if (db_txn_large(restore->registry->db) != DB_OK || !pass(restore, PASS_WRITE) || !verify(restore) || !finish(restore))
		return DB_ROLLBACK;
	return restore->dry_run ? DB_ROLLBACK : DB_COMMIT;
}

static int restore_tenant(struct restore *restore)
{
	struct manage *manage = restore->manage;

	if (!pass(restore, PASS_CHECK))
		return restore->code;
	enum db_result result = db_txn_run(manage->db, DB_WRITE, &restore->registry->request_id, run, restore);
	if (restore->code != EX_OK)
		return restore->code;
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't restore the tenant");
	if (!restore->dry_run)
		coherence_committed(restore->registry);
	printf("%s %llu resources\n", restore->dry_run ? "would restore" : "restored", (unsigned long long)restore->n_resources);
	return EX_OK;
}

// The file is read several times, so what comes through a pipe is copied.
static FILE *open_file(const char *path)
{
	char bytes[65536];
	size_t n;
	FILE *copy;

	if (strcmp(path, "-") != 0)
		return fopen(path, "r");
	copy = tmpfile();
	while (copy != NULL && (n = fread(bytes, 1, sizeof(bytes), stdin)) > 0) {
		if (fwrite(bytes, 1, n, copy) != n) {
			(void)fclose(copy);
			return NULL;
		}
	}
	return copy;
}

// all: the file holds an installation, else a tenant. EX_OK: the options belong to that.
static int check_options(const struct restore *restore, bool all, bool without_tokens)
{
	if (!all && without_tokens)
		return manage_fail(EX_USAGE, "--without-tokens belongs to the dump of an installation, and this one has no tokens");
	if (all && (restore->name.p != NULL || restore->tier.p != NULL || restore->keep_invalid))
		return manage_fail(EX_USAGE, "--as, --tier and --keep-invalid belong to the dump of a tenant, and this is one of an installation");
	return EX_OK;
}

int command_restore(struct manage *manage)
{
	const char *path = manage->arguments[0], *as = manage_option(manage, "--as"), *tier = manage_option(manage, "--tier");
	struct registry_store *store = NULL;
	struct registry registry;
	struct restore restore = { .manage = manage, .registry = &registry, .path = path, .name = as != NULL ? str_c(as) : STR_NONE,
		.tier = tier != NULL ? str_c(tier) : STR_NONE, .dry_run = manage_option(manage, "--dry-run") != NULL,
		.keep_invalid = manage_option(manage, "--keep-invalid") != NULL, .lines = pool_new() };
	struct dump_reader *reader = &restore.reader;

	if (restore.lines == NULL)
		return manage_fail(EX_OSERR, "no memory");
	*reader = (struct dump_reader){ .file = open_file(path), .kinds = kinds, .n_kinds = KIND__N, .most = BATCH_RECORDS, .record = take_record,
		.batch = take_batch, .user = &restore, .pool = restore.lines };
	if (reader->file == NULL) {
		pool_free(&restore.lines);
		return manage_fail(EX_NOINPUT, "can't read %s: %s", path, strerror(errno));
	}
	bool all = restore_all_is_in(reader->file), without_tokens = manage_option(manage, "--without-tokens") != NULL;
	int code = check_options(&restore, all, without_tokens);
	if (code != EX_OK || all) {
		if (code == EX_OK)
			code = restore_all(manage, reader->file, path, without_tokens, restore.dry_run);
		(void)fclose(reader->file);
		pool_free(&restore.lines);
		return code;
	}
	enum outcome outcome = manage_begin(manage, &store, &registry);
	if (outcome == OUTCOME_OK)
		code = restore_tenant(&restore);
	else
		manage_tell_outcome(manage, outcome);
	(void)fclose(reader->file);
	registry_store_free(&store);
	pool_free(&restore.lines);
	return outcome == OUTCOME_OK ? code : manage_exit_code(outcome);
}
