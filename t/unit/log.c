// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/pool.h"
#include "tap.h"

static char dir[] = "/tmp/tenure-log-XXXXXX";
static char errors[64], first[64], second[64], fifo[64];

static struct str content(struct pool *pool, const char *path)
{
	struct buf buf = buf_new(pool, 0);
	char part[4096];
	size_t n;
	FILE *file = fopen(path, "r");

	while (file != NULL && (n = fread(part, 1, sizeof(part), file)) > 0)
		buf_add(&buf, str_n(part, n));
	if (file != NULL)
		fclose(file);
	return buf_str(&buf);
}

// What log lines since the last call went to stderr, which is a file here.
static struct str logged(struct pool *pool)
{
	struct str text = content(pool, errors);

	if (ftruncate(STDERR_FILENO, 0) != 0)
		bail_out("can't truncate stderr");
	return text;
}

// "info tenured[PID]: " and what is given.
static const char *line(struct pool *pool, const char *level, const char *rest)
{
	return str_printf(pool, "%s tenured[%ld]: %s\n", level, (long)getpid(), rest).p;
}

static void levels(struct pool *pool)
{
	enum log_level level = LOG_LEVEL_DEBUG;

	ok(log_level_parse(STR("warning"), &level) && level == LOG_LEVEL_WARNING, "a level's name");
	ok(!log_level_parse(STR("warn"), &level) && !log_level_parse(STR("Info"), &level), "no level's name");
	log_open("tenured", LOG_SINK_STDERR, LOG_LEVEL_INFO);
	log_debug("unseen");
	is_str(logged(pool), "", "below the least level: nothing");
	log_info("number %d", 7);
	is_str(logged(pool), line(pool, "info", "number 7"), "info");
	log_warning("w");
	is_str(logged(pool), line(pool, "warning", "w"), "warning");
	log_error("e");
	is_str(logged(pool), line(pool, "error", "e"), "error");
	log_open("tenured", LOG_SINK_STDERR, LOG_LEVEL_ERROR);
	log_warning("unseen");
	is_str(logged(pool), "", "warnings are below error");
	log_open("tenured", LOG_SINK_STDERR, LOG_LEVEL_DEBUG);
	log_debug("d");
	is_str(logged(pool), line(pool, "debug", "d"), "debug");
}

static void full_disk(void)
{
	int kept = dup(STDERR_FILENO), full = open("/dev/full", O_WRONLY);

	dup2(full, STDERR_FILENO);
	errno = EPERM;
	log_error("lost");
	is_int(errno, EPERM, "errno survives, even when the line does not");
	dup2(kept, STDERR_FILENO);
	close(full);
	close(kept);
}

static void request_id(struct pool *pool)
{
	log_request(STR("req-1"));
	log_info("with");
	is_str(logged(pool), line(pool, "info", "[req-1] with"), "the request's id");
	log_request(STR("x\ny"));
	log_info("forged");
	is_str(logged(pool), line(pool, "info", "[x\\x0ay] forged"), "can't forge a line");
	char many[200];
	memset(many, 'i', sizeof(many));
	log_request(str_n(many, sizeof(many)));
	log_info("long");
	struct str text = logged(pool);
	size_t from = str_find(text, '[', strlen("info tenured["));
	is_int((long long)(str_find(text, ']', from) - from - 1), 63, "63 bytes of it");
	log_request(STR_NONE);
	log_info("without");
	is_str(logged(pool), line(pool, "info", "without"), "and none");
}

static void hostile(struct pool *pool)
{
	log_info("%s", "a\r\nerror tenured[1]: b\x1b[2J\x7f");
	is_str(logged(pool), line(pool, "info", "a\\x0d\\x0aerror tenured[1]: b\\x1b[2J\\x7f"), "control characters");
	log_info("%s", "\xe2\x88\x91 \xff \xc0\xaf \xc2\x85 \xe2\x88");
	is_str(logged(pool), line(pool, "info", "\xe2\x88\x91 \\xff \\xc0\\xaf \\xc2\\x85 \\xe2\\x88"),
	       "bad UTF-8, C1 controls");
	log_info("%0*d", 100000, 1);
	struct str text = logged(pool);
	ok(text.n <= 4096 && str_ends(text, STR("0...\n")), "a long line is cut, and ends");
	char *controls = pool_alloc(pool, 3001);
	memset(controls, '\x01', 3000);
	controls[3000] = '\0';
	log_info("%s", controls);
	text = logged(pool);
	ok(text.n <= 4096 && str_ends(text, STR("\\x01...\n")), "one that grows by escaping, too");
}

static void journal(struct pool *pool)
{
	struct stat st;
	char stream[64];

	if (fstat(STDERR_FILENO, &st) != 0)
		bail_out("fstat");
	(void)snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_open("tenured", LOG_SINK_STDERR, LOG_LEVEL_INFO);
	log_warning("w");
	is_str(logged(pool), str_printf(pool, "<4>%s", line(pool, "warning", "w")).p, "for the journal, its priority");
	setenv("JOURNAL_STREAM", "1:1", 1);
	log_open("tenured", LOG_SINK_STDERR, LOG_LEVEL_INFO);
	log_warning("w");
	is_str(logged(pool), line(pool, "warning", "w"), "not when stderr is something else");
	unsetenv("JOURNAL_STREAM");
}

static void access_log(struct pool *pool)
{
	log_access(STR("nowhere"));
	ok(log_access_open(first), "open");
	log_access(STR("one"));
	log_access(STR("two\n"));
	is_str(content(pool, first), "one\ntwo\n", "lines");
	ok(log_access_open(first), "opened again without rotation");
	is_str(content(pool, first), "one\ntwo\n", "loses none");
	ok(rename(first, second) == 0 && log_access_open(first), "opened again after rotation");
	log_access(STR("three"));
	is_str(content(pool, first), "three\n", "goes on in the new file");
	is_str(content(pool, second), "one\ntwo\n", "and no more in the old");
	errno = 0;
	ok(!log_access_open("/nonexistent/folder/log") && errno == ENOENT, "an impossible path is said");
	log_access_later(STR("four"));
	is_str(content(pool, first), "three\n", "a line that was put off");
	log_access_later(STR("later\n"));
	log_access_flush();
	log_access_flush();
	is_str(content(pool, first), "three\nfour\nlater\n", "is written once, whole, with others");
	log_access_later(STR("five"));
	log_access(STR("six"));
	is_str(content(pool, first), "three\nfour\nlater\nfive\nsix\n", "and the file before stays in use");
	log_access_later(STR("seven"));
	ok(log_access_open("stderr"), "stderr");
	is_str(content(pool, first), "three\nfour\nlater\nfive\nsix\nseven\n", "what was put off went where it belonged");
	log_access(STR("eight"));
	is_str(logged(pool), "eight\n", "takes lines as they are");
	ok(log_access_open(""), "closed");
	log_access(STR("nine"));
	log_access_later(STR("nine"));
	log_access_flush();
	is_str(logged(pool), "", "takes none");
}

// /dev/full is a disk without room.
static void access_log_lost(struct pool *pool)
{
	(void)logged(pool);
	ok(log_access_open("/dev/full"), "a full disk");
	ok(!log_access_fails(), "nothing is lost yet");
	log_access(STR("one"));
	ok(log_access_fails(), "a line is lost");
	struct str told = logged(pool);
	ok(strstr(str_cstr(pool, told), "No space left on device; 1 lines of this process are lost") != NULL, "it is told why");
	log_access(STR("two\n"));
	log_access_later(STR("three"));
	log_access_later(STR("four\n"));
	log_access_flush();
	is_str(logged(pool), "", "and not once for each line");
	ok(log_access_open(first), "there is room again");
	log_access(STR("five"));
	ok(!log_access_fails(), "lines are written");
	told = logged(pool);
	ok(strstr(str_cstr(pool, told), "written again; 4 of this process's lines are lost") != NULL, "and it is told how many are lost");
	ok(log_access_open(""), "closed");
}

static void access_log_full(struct pool *pool)
{
	struct buf want = buf_new(pool, 0), large = buf_new(pool, 0);

	ok(unlink(first) == 0 && log_access_open(first), "an empty one");
	for (int i = 0; i < 500; i++) {
		struct str line = str_printf(pool, "line %d", i);
		log_access_later(line);
		buf_add(&want, line);
		buf_addc(&want, '\n');
	}
	ok(content(pool, first).n > 4000 && want.n - content(pool, first).n <= 4096, "what is put off is bounded");
	for (int i = 0; i < 5000; i++)
		buf_addc(&large, 'x');
	log_access_later(buf_str(&large));
	buf_add(&want, buf_str(&large));
	buf_addc(&want, '\n');
	is_str(content(pool, first), str_cstr(pool, buf_str(&want)), "a line that is larger goes at once, behind the others");
	(void)log_access_open("");
}

static size_t read_some(int fd)
{
	static char bytes[65536];
	size_t n = 0;

	for (ssize_t got; (got = read(fd, bytes, sizeof(bytes))) > 0;)
		n += (size_t)got;
	return n;
}

// A reader that is not there, or does not read, holds nobody up.
static void access_log_fifo(struct pool *pool)
{
	char bytes[16];

	(void)alarm(60);
	(void)signal(SIGPIPE, SIG_IGN); // as the programs do
	(void)logged(pool);
	if (mkfifo(fifo, 0600) != 0)
		bail_out("mkfifo");
	errno = 0;
	ok(!log_access_open(fifo) && errno == ENXIO, "a FIFO that nobody reads can't be opened");
	int reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ok(log_access_open(fifo), "one with a reader can");
	log_access(STR("one"));
	is_str(str_n(bytes, read(reader, bytes, sizeof(bytes)) == 4 ? 4 : 0), "one\n", "who gets the lines");
	for (int i = 0; i < 1000000 && !log_access_fails(); i++)
		log_access(STR("a line that nobody takes"));
	ok(log_access_fails(), "lines that find no room are lost");
	ok(strstr(str_cstr(pool, logged(pool)), "Resource temporarily unavailable; 1 lines of this process are lost") != NULL, "it is told why");
	ok(read_some(reader) > 0, "the reader goes on");
	log_access(STR("two"));
	ok(!log_access_fails() && read_some(reader) == 4, "lines are written again");
	close(reader);
	log_access(STR("three"));
	ok(log_access_fails(), "without a reader they are lost");
	ok(strstr(str_cstr(pool, logged(pool)), "Broken pipe") != NULL, "it is told why");
	ok(log_access_open(first), "another log");
	log_access(STR("four"));
	ok(!log_access_fails(), "takes lines");
	ok(log_access_open(""), "closed");
	unlink(fifo);
	(void)alarm(0);
}

static void escape(struct pool *pool)
{
	struct buf buf = buf_new(pool, 0);

	log_escape(&buf, STR("a\"b\\c\nd\0e \xc3\xa9 \xed\xa0\x80"));
	is_str(buf_str(&buf), "a\\x22b\\x5cc\\x0ad\\x00e \xc3\xa9 \\xed\\xa0\\x80", "quotes and backslashes as well");
	size_t before = buf.n;
	log_escape(&buf, STR_NONE);
	is_int((long long)buf.n, (long long)before, "nothing adds nothing");
}

int main(void)
{
	struct pool *pool = pool_new();

	unsetenv("JOURNAL_STREAM");
	if (mkdtemp(dir) == NULL)
		bail_out("mkdtemp");
	(void)snprintf(errors, sizeof(errors), "%s/errors", dir);
	(void)snprintf(first, sizeof(first), "%s/access", dir);
	(void)snprintf(second, sizeof(second), "%s/access.1", dir);
	(void)snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	int fd = open(errors, O_RDWR | O_CREAT | O_APPEND, 0600), real = dup(STDERR_FILENO);
	dup2(fd, STDERR_FILENO);
	levels(pool);
	full_disk();
	request_id(pool);
	hostile(pool);
	journal(pool);
	access_log(pool);
	access_log_full(pool);
	access_log_lost(pool);
	access_log_fifo(pool);
	escape(pool);
	dup2(real, STDERR_FILENO);
	close(fd);
	close(real);
	unlink(errors);
	unlink(first);
	unlink(second);
	rmdir(dir);
	pool_free(&pool);
	return done_testing();
}
