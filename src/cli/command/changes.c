// SPDX-License-Identifier: Apache-2.0
// tenure changes list: what was changed in a tenant, or in all, when and by whom.
#include "base/base.h"

#include "base/pool.h"
#include "cli/command/commands.h"
#include "cli/core/cli.h"
#include "cli/core/fields.h"
#include "cli/core/lists.h"
#include "cli/core/table.h"
#include "cli/core/text.h"
#include "http/uri.h"

enum { PAGE = 1000, FOLLOW_LAST = 10, FOLLOW_PAUSE_S = 1, AWAY_PAUSE_MAX_S = 30 };

static const struct column columns[] = {
	{ "id", "id" }, { "at", "at" }, { "actor", "actor" }, { "verb", "verb" }, { "moved", "moved" }, { "resource", "resource" },
	{ "fields", "fields" }, { "revision", "revision" }, { "uid", "uid" }, { "request", "request_id" }, { "etag-before", "etag_before" },
	{ "etag-after", "etag_after" }, { "tenant", "tenant" }, { "from", "from_tenant" },
};
static const struct column columns_of_all[] = {
	{ "id", "id" }, { "at", "at" }, { "actor", "actor" }, { "verb", "verb" }, { "tenant", "tenant" }, { "resource", "resource" },
	{ "fields", "fields" }, { "from", "from_tenant" }, { "revision", "revision" }, { "uid", "uid" }, { "request", "request_id" },
	{ "etag-before", "etag_before" }, { "etag-after", "etag_after" },
};
enum { SHOWN = 7, SHOWN_OF_ALL = 8 };

// The progress of reading the changes page by page.
struct reading {
	struct table *table;
	const char *label;
	bool of_all, newest, follows;
	bool has_after;  // --after was given
	uint64_t after;  // in order: the id behind which the next page begins
	uint64_t before; // the newest first: the id before which it begins; 0: with the newest
	uint64_t left;   // how many may still be added
	uint64_t upto;   // the id up to which the service has looked
	bool more;       // the service has more
	bool reached;    // it has answered before
	bool says_purged; // a warning was printed that changes may be missing
	unsigned away_s; // how long to pause before it is asked again; 0: it answered last time
};

// ---- the options

static int read_options(struct cli *cli, struct reading *reading)
{
	int code = cli_limit(cli, &reading->left);

	if (code != EX_OK)
		return code;
	for (size_t i = 0; i < cli->n_given; i++) {
		const char *name = cli->given[i].field->name;
		reading->newest = reading->newest || strcmp(name, "--newest") == 0;
		reading->follows = reading->follows || strcmp(name, "--follow") == 0;
		reading->of_all = reading->of_all || strcmp(name, "--all-tenants") == 0;
		if (strcmp(name, "--after") != 0)
			continue;
		reading->has_after = true;
		if (!str_to_u64(str_c(cli->given[i].value), &reading->after))
			return cli_fail(EX_USAGE, "--after takes a number from 0");
	}
	if (reading->newest && reading->follows)
		return cli_fail(EX_USAGE, "--follow shows changes in order: leave out --newest");
	if (reading->of_all && cli->options[OPT_TENANT] != NULL)
		return cli_fail(EX_USAGE, "--all-tenants and --tenant can't be given together");
	return reading->of_all || cli->tenant != NULL ? EX_OK : cli_fail_no_tenant();
}

// ---- a page

static int make_path(struct cli *cli, const struct reading *reading, uint64_t limit, struct buf *path)
{
	int code = cli_tenant_path(cli, reading->of_all ? "all" : cli->tenant, "changes", path);

	if (code != EX_OK)
		return code;
	buf_addf(path, "?after=%llu&limit=%llu", (unsigned long long)reading->after, (unsigned long long)limit);
	if (reading->newest)
		BUF_LIT(path, "&order=newest");
	if (reading->before > 0)
		buf_addf(path, "&before=%llu", (unsigned long long)reading->before);
	for (size_t i = 0; i < cli->n_given; i++) {
		if (cli->given[i].field->member == NULL)
			continue;
		buf_addf(path, "&%s=", cli->given[i].field->member);
		const char *value = cli->given[i].value;
		uri_add_value(path, str_c(cli->given[i].field->kind == FIELD_TIME ? cli_time(cli->pool, value) : value));
	}
	return EX_OK;
}

// The id from which the address of the next page goes on. False: it has none.
static bool next_id(const struct reading *reading, struct str next, uint64_t *id)
{
	const char *name = reading->newest ? "before=" : "after=";
	size_t length = strlen(name);

	for (size_t i = 0; i + length < next.n; i++) {
		if ((next.p[i] == '?' || next.p[i] == '&') && memcmp(next.p + i + 1, name, length) == 0) {
			struct str rest = str_part(next, i + 1 + length, next.n), number;
			return str_split(&rest, '&', &number) && str_to_u64(number, id);
		}
	}
	return false;
}

// Goes on where the page ends. A page that leads nowhere would make the list endless.
static int go_on(struct reading *reading, const struct doc *answer)
{
	const struct doc *next, *upto, *oldest;
	uint64_t id;

	if (!doc_get(answer, STR("upto"), &upto) || !doc_u64(upto, &reading->upto))
		return cli_fail(EX_PROTOCOL, "the list of changes does not tell how far it goes");
	if (!reading->says_purged && doc_get(answer, STR("oldest"), &oldest) && doc_u64(oldest, &id)) {
		cli_warn("%s: some before change %llu may have been purged", reading->label, (unsigned long long)id);
		reading->says_purged = true;
	}
	reading->more = doc_get(answer, STR("next"), &next) && doc_kind(next) == DOC_STRING;
	if (!reading->more)
		return EX_OK;
	if (!next_id(reading, doc_string(next), &id) ||
		(reading->newest ? reading->before > 0 && id >= reading->before : id <= reading->after))
		return cli_fail(EX_PROTOCOL, "the list of changes does not go on");
	if (reading->newest)
		reading->before = id;
	else
		reading->after = id;
	return EX_OK;
}

// A list that is followed waits for a service that was there before: it may be restarted meanwhile. It is told once.
static bool is_to_be_awaited(struct cli *cli, struct reading *reading, enum tenure_status status)
{
	if (status != TENURE_UNAVAILABLE || !reading->follows || !reading->reached)
		return false;
	if (reading->away_s == 0)
		cli_warn("%s: %s; waiting for the service", reading->label, tenure_error_text(cli->client));
	reading->away_s = reading->away_s == 0 ? FOLLOW_PAUSE_S
		: reading->away_s < AWAY_PAUSE_MAX_S / 2 ? 2 * reading->away_s : AWAY_PAUSE_MAX_S;
	return true;
}

// EX_UNAVAILABLE with reading->away_s > 0: nothing was printed as an error, and the call is to be made again after that pause.
static int read_answer(struct cli *cli, struct reading *reading, struct doc **document)
{
	struct buf path;
	struct answer answer;
	int code = make_path(cli, reading, reading->left < PAGE ? reading->left : PAGE, &path);

	if (code != EX_OK)
		return code;
	struct wish wish = { .method = "GET", .path = buf_str(&path) };
	enum tenure_status status = client_call(cli->client, cli->pool, &wish, &answer);
	if (status == TENURE_OK)
		status = client_parse(cli->client, cli->pool, answer.body, document);
	if (is_to_be_awaited(cli, reading, status))
		return EX_UNAVAILABLE;
	reading->away_s = 0;
	reading->reached = reading->reached || status == TENURE_OK;
	return status == TENURE_OK ? EX_OK : cli_fail_status(cli, status, reading->label);
}

// backwards: adds the changes of the page in the order that is not theirs.
static int read_page(struct cli *cli, struct reading *reading, bool backwards)
{
	struct doc *document;
	const struct doc *list;
	int code = read_answer(cli, reading, &document);

	if (code != EX_OK)
		return code;
	if (!doc_get(document, STR("changes"), &list) || doc_kind(list) != DOC_ARRAY)
		return cli_fail(EX_PROTOCOL, "the answer is no list of changes");
	size_t n = doc_length(list);
	for (size_t i = 0; i < n && reading->left > 0; i++, reading->left--)
		table_add(reading->table, doc_at(list, backwards ? n - 1 - i : i));
	return go_on(reading, document);
}

// ---- the lists

static int list_all(struct cli *cli, struct reading *reading)
{
	int code = EX_OK;

	for (reading->more = true; code == EX_OK && reading->more && reading->left > 0;)
		code = read_page(cli, reading, false);
	if (code == EX_OK)
		code = table_print(reading->table);
	return code;
}

// Shows the last changes, in order, of those that one call finds. They don't count for --limit.
static int show_last(struct cli *cli, struct reading *reading)
{
	struct reading last = *reading;

	last.newest = true;
	last.left = FOLLOW_LAST;
	int code = read_page(cli, &last, true);
	reading->after = last.upto;
	reading->reached = last.reached;
	if (code == EX_OK)
		code = table_print_more(reading->table);
	return code;
}

// Pauses while a list is followed, unless its reader is gone: then the list ends, rather than asking for ever for nobody.
static int pause_unless_unread(unsigned seconds)
{
	return cli_reader_is_gone((int)seconds * 1000) ? EX_IOERR : EX_OK;
}

// Shows changes as they come. What each call took is freed after it, so this may go on for as long as one likes.
static int follow(struct cli *cli, struct reading *reading)
{
	struct pool_mark mark = pool_mark(cli->pool);
	int code = reading->has_after ? EX_OK : show_last(cli, reading);

	while (code == EX_OK && reading->left > 0) {
		pool_rewind(cli->pool, mark);
		code = read_page(cli, reading, false);
		if (code == EX_UNAVAILABLE && reading->away_s > 0) {
			code = pause_unless_unread(reading->away_s);
			continue;
		}
		if (code == EX_OK)
			code = table_print_more(reading->table);
		if (code != EX_OK)
			break;
		reading->after = reading->upto;
		if (!reading->more && reading->left > 0)
			code = pause_unless_unread(FOLLOW_PAUSE_S);
	}
	return code;
}

int command_changes_list(struct cli *cli)
{
	struct reading reading = { .left = UINT64_MAX };
	int code = read_options(cli, &reading);

	if (code != EX_OK)
		return code;
	reading.table = reading.of_all ? table_new(cli, columns_of_all, COUNT_OF(columns_of_all), SHOWN_OF_ALL)
	                               : table_new(cli, columns, COUNT_OF(columns), SHOWN);
	if (reading.table == NULL)
		return EX_USAGE;
	reading.label = reading.of_all ? "changes of all tenants" : str_printf(cli->pool, "changes of %s", cli->tenant).p;
	return reading.follows ? follow(cli, &reading) : list_all(cli, &reading);
}
