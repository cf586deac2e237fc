// SPDX-License-Identifier: Apache-2.0
// Restoring a tenant: what the records of its dump must be, apart from what is in the database.
#include "base/base.h"

#include "manage/dump/dump_line.h"
#include "manage/dump/record.h"
#include "manage/dump/restore_tenant.h"
#include "registry/core/failure.h"
#include "registry/registry.h"
#include "repr/json/doc.h"

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

static bool check_tenant(struct restore *restore, const struct doc *doc)
{
	struct uuid uid;
	struct str name = restore_name(restore, doc);

	if (!registry_id_is_valid(name) || realm_reserved(name) != NULL)
		return dump_reader_refuse(&restore->reader, "names a tenant that there can't be: use --as");
	if (!record_uid(doc, &uid) || !record_is_object(restore->lines, record_text(doc, "metadata")) || !record_is_object(restore->lines, record_text(doc, "object")))
		return dump_reader_refuse(&restore->reader, "is no tenant: it needs uid, metadata and object");
	return true;
}

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

// The lists of what belongs to the resource are there, even if they are empty: a list that is missing would lose what was in it.
static bool has_lists(const struct doc *doc)
{
	static const char *const names[] = { "keys", "inventories", "aggregates" };
	const struct doc *value;

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (!doc_get(doc, str_c(names[i]), &value) || doc_kind(value) != DOC_ARRAY)
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
	if (!has_lists(doc))
		return dump_reader_refuse(&restore->reader, "is no resource: keys, inventories and aggregates must be JSON arrays");
	uint64_t live = record_number(doc, "live");
	bool pinned = str_eq(record_text(doc, "plural"), STR("namespaces")) && record_text(doc, "group").n == 0 && str_eq(name, STR("default"));
	if (live != (pinned ? RESOURCE_PINNED : RESOURCE_COUNTED))
		return dump_reader_refuse(&restore->reader, "is no resource: live must be 2 for the namespace \"default\", and 1 for all else");
	return true;
}

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

bool restore_check_record(struct restore *restore, const struct doc *doc)
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
