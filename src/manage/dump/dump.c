// SPDX-License-Identifier: Apache-2.0
// tenure-manage dump: writes a tenant, or the whole installation, into a file, from one snapshot of the database.
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manage/dump/dump.h"
#include "manage/dump/dump_writer.h"
#include "repr/json/doc.h"
#include "sql/dump.h"

static void put_end(struct dump *dump)
{
	struct doc *doc = doc_new_object(dump->manage->pool);

	doc_set_u64(dump->manage->pool, doc, "lines", dump->lines.n + 1);
	dump_put_doc(dump, "end", doc);
}

static bool put_records(struct dump *dump, uint64_t id)
{
	struct pool *pool = dump->manage->pool;
	const struct dump_part parts[] = {
		{ "type", sql_dump_types_call(pool, &(struct sql_dump_types){ .id = id }) },
		{ "trait", sql_dump_traits_call(pool, &(struct sql_dump_traits){ .id = id }) },
		{ "class", sql_dump_classes_call(pool, &(struct sql_dump_classes){ .id = id }) },
		{ "resource", sql_dump_resources_call(pool, &(struct sql_dump_resources){ .id = id }) },
		{ "consumer", sql_dump_consumers_call(pool, &(struct sql_dump_consumers){ .id = id }) },
		{ "allocation", sql_dump_allocations_call(pool, &(struct sql_dump_allocations){ .id = id }) },
		{ "webhook", sql_dump_webhooks_call(pool, &(struct sql_dump_webhooks){ .id = id }) },
	};

	return dump_put_parts(dump, parts, COUNT_OF(parts));
}

// In the snapshot. It may run again after a lost connection, so it begins the dump anew, and leaves it to write_file() to tell of
// errors of the database.
static enum db_verdict write_tenant(void *arg)
{
	struct dump *dump = arg;
	struct manage *manage = dump->manage;
	struct db_rows rows;
	enum db_result result = sql_dump_tenant_run(manage->db, manage->pool, &(struct sql_dump_tenant){ .name = dump->tenant }, &rows);

	if (result != DB_OK)
		return DB_ROLLBACK;
	const struct sql_dump_tenant_row *row = rows.n > 0 ? sql_dump_tenant_row(&rows, 0) : NULL;
	dump->code = EX_OK;
	if (row == NULL)
		dump->code = manage_fail(EX_NOINPUT, "there is no tenant \"%.*s\", or it is deleted", STR_ARG(dump->tenant));
	else if (row->emptied > 0)
		dump->code = manage_fail(EX_TEMPFAIL, "a namespace of \"%.*s\" is being deleted in the background: dump it afterwards", STR_ARG(dump->tenant));
	if (dump->code != EX_OK || !dump_begin(dump))
		return DB_ROLLBACK;
	dump_put(dump, "tenant", row->record);
	if (put_records(dump, row->id))
		put_end(dump);
	return DB_COMMIT;
}

// Writes dump->file, which is called name in messages, and makes sure that it is stored, if it is a file.
static int write_file(struct dump *dump, const char *name)
{
	enum db_result result = db_txn_run(dump->manage->db, DB_SNAPSHOT, NULL, dump->tenant.p != NULL ? write_tenant : dump_all, dump);
	struct stat st;

	if (dump->code == EX_OK && result != DB_OK)
		dump->code = manage_db_fail(dump->manage, result, "can't read the database");
	if (dump->code == EX_OK && dump->error == 0 &&
		(fflush(dump->file) != 0 || fstat(fileno(dump->file), &st) != 0 || (S_ISREG(st.st_mode) && fsync(fileno(dump->file)) != 0)))
		dump->error = errno;
	if (dump->code == EX_OK && dump->error != 0)
		dump->code = manage_fail(EX_IOERR, "can't write %s: %s", name, strerror(dump->error));
	return dump->code;
}

// Writes what is opened as fd, which is called path in messages, and closes it. fd -1: errno says why it is not open.
static int write_descriptor(struct dump *dump, const char *path, int fd)
{
	dump->file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (dump->file == NULL) {
		int code = manage_fail(EX_IOERR, "can't write %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return code;
	}
	int code = write_file(dump, path);
	if (fclose(dump->file) != 0 && code == EX_OK)
		code = manage_fail(EX_IOERR, "can't write %s: %s", path, strerror(errno));
	return code;
}

// ---- the draft

static char draft[PATH_MAX]; // its name; for the signal handler, too

static void leave_no_draft(int number)
{
	(void)unlink(draft);
	(void)raise(number); // as it would have ended without this function
}

// A signal that ends the program takes the draft away: it may have the data of Secrets.
static void handle_signals(void (*handler)(int number))
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };
	struct sigaction action = { .sa_handler = handler, .sa_flags = (int)SA_RESETHAND }, before;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) // nohup
			(void)sigaction(numbers[i], &action, NULL);
	}
}

// A file of that name is always a whole dump: it is written under a name that nothing had, and renamed.
static int replace_file(struct dump *dump, const char *path)
{
	int n = snprintf(draft, sizeof(draft), "%s.XXXXXX", path);

	if (n < 0 || (size_t)n >= sizeof(draft))
		return manage_fail(EX_IOERR, "can't write %s: %s", path, strerror(ENAMETOOLONG));
	int fd = mkostemp(draft, O_CLOEXEC);
	if (fd >= 0)
		handle_signals(leave_no_draft);
	int code = write_descriptor(dump, path, fd);
	if (code == EX_OK && rename(draft, path) != 0)
		code = manage_fail(EX_IOERR, "can't rename %s to %s: %s", draft, path, strerror(errno));
	if (code != EX_OK && fd >= 0)
		(void)unlink(draft);
	handle_signals(SIG_DFL);
	return code;
}

int command_dump(struct manage *manage)
{
	const char *path = manage->arguments[0], *tenant = manage_option(manage, "--tenant");
	bool all = manage_option(manage, "--all") != NULL;
	struct dump dump = { .manage = manage, .tenant = tenant != NULL ? str_c(tenant) : STR_NONE, .file = stdout,
		.without_tokens = manage_option(manage, "--without-tokens") != NULL };
	struct stat st;

	if ((tenant != NULL) == all)
		return manage_fail(EX_USAGE, "dump needs either --tenant NAME or --all");
	if (dump.without_tokens && !all)
		return manage_fail(EX_USAGE, "--without-tokens belongs to --all: the dump of a tenant has no tokens");
	if (strcmp(path, "-") == 0)
		return write_file(&dump, "standard output");
	if (lstat(path, &st) != 0 || S_ISREG(st.st_mode))
		return replace_file(&dump, path);
	// A pipe, a device or a link stays what it is. Replacing what a link leads to is no choice: /dev/stdout may lead to a
	// file that others write, too.
	return write_descriptor(&dump, path, open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, S_IRUSR | S_IWUSR));
}
