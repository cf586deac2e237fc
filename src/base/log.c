// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <syslog.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/memory.h"

enum {
	LOG_LINE = 4096, // PIPE_BUF: a longer write to a pipe may be mixed with another process's write
	LOG_ID = 63,
	LOG_AGAIN_S = 60, // seconds between two messages that the access log can't be written
};

// The state of this module. It allocates no memory, because running out of memory is logged, too.
static struct {
	const char *program;
	enum log_sink sink;
	enum log_level least, configured; // configured: of log_open()
	bool journal;
	char id[LOG_ID + 1];
	int access_fd;
	uint64_t lost;         // lines of the access log lost since writing failed; 0: writing works
	time_t logged;         // when the failure was logged last
	char access[LOG_LINE]; // lines put off by log_access_later()
	size_t n_access;
} out = { .program = "tenure", .least = LOG_LEVEL_INFO, .configured = LOG_LEVEL_INFO, .access_fd = -1 };

static const struct {
	const char *name;
	int priority;
} levels[] = {
	[LOG_LEVEL_ERROR] = { "error", LOG_ERR },
	[LOG_LEVEL_WARNING] = { "warning", LOG_WARNING },
	[LOG_LEVEL_INFO] = { "info", LOG_INFO },
	[LOG_LEVEL_DEBUG] = { "debug", LOG_DEBUG },
};

bool log_level_parse(struct str text, enum log_level *level)
{
	for (size_t i = 0; i < COUNT_OF(levels); i++) {
		if (str_eq_c(text, levels[i].name)) {
			*level = (enum log_level)i;
			return true;
		}
	}
	return false;
}

// systemd.exec(5): JOURNAL_STREAM has device and inode of the journal's stream. They are compared because stderr may have been
// redirected since.
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	struct stat st;
	char mine[64];

	if (stream == NULL || fstat(STDERR_FILENO, &st) != 0)
		return false;
	(void)snprintf(mine, sizeof(mine), "%llu:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	return strcmp(stream, mine) == 0;
}

static void report_no_memory(const char *purpose, size_t bytes)
{
	if (purpose != NULL)
		log_error("no memory for %s", purpose);
	else if (bytes > 0)
		log_error("out of memory: %zu bytes asked for", bytes);
	else
		log_error("out of memory");
}

void log_open(const char *program, enum log_sink sink, enum log_level least)
{
	assert(program != NULL && least <= LOG_LEVEL_DEBUG);
	memory_report_by(report_no_memory);
	out.program = program;
	out.sink = sink;
	out.least = out.configured = least;
	out.journal = stderr_is_journal();
	if (sink == LOG_SINK_SYSLOG)
		openlog(program, LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

void log_override(bool is_set, enum log_level least)
{
	assert(!is_set || least <= LOG_LEVEL_DEBUG);
	out.least = is_set ? least : out.configured;
}

void log_request(struct str id)
{
	size_t n = id.n < LOG_ID ? id.n : LOG_ID;

	if (n > 0)
		memcpy(out.id, id.p, n);
	out.id[n] = '\0';
}

enum { ESCAPED = 4 }; // length of \xHH

// May the character of n bytes at p be written to a log unchanged?
static bool is_plain(const unsigned char *p, size_t n, bool quoting)
{
	if (n == 1)
		return p[0] >= 0x20 && p[0] != 0x7f && !(quoting && (p[0] == '"' || p[0] == '\\'));
	// U+0080 to U+009F are control characters, too; some terminals obey them.
	return n > 1 && !(n == 2 && p[0] == 0xc2 && p[1] < 0xa0);
}

// Length of the well-formed character at the start of s, 0 if there is none.
static size_t character(struct str s)
{
	for (size_t n = 1; n <= 4 && n <= s.n; n++) {
		if (str_utf8_ok(str_n(s.p, n), NULL))
			return n;
	}
	return 0;
}

// Cuts the next character off *s and writes its log form, at most 4 bytes, to the array `to`. Returns the length of that form.
static size_t escape_next(struct str *s, bool quoting, char to[ESCAPED])
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *p = (const unsigned char *)s->p;
	size_t n = character(*s);

	if (is_plain(p, n, quoting)) {
		memcpy(to, p, n);
		*s = str_part(*s, n, s->n);
		return n;
	}
	memcpy(to, "\\x", 2);
	to[2] = hex[p[0] >> 4];
	to[3] = hex[p[0] & 15];
	*s = str_part(*s, 1, s->n);
	return ESCAPED;
}

// Length of the plain ASCII text at the start of s, which is nearly always the whole.
static size_t plain_run(struct str s)
{
	size_t n = 0;

	while (n < s.n && is_plain((const unsigned char *)s.p + n, 1, true) && (unsigned char)s.p[n] < 0x80)
		n++;
	return n;
}

void log_escape(struct buf *buf, struct str s)
{
	char form[ESCAPED];

	while (s.n > 0) {
		size_t plain = plain_run(s);

		buf_add(buf, str_part(s, 0, plain));
		s = str_part(s, plain, s.n);
		if (s.n > 0)
			buf_add(buf, str_n(form, escape_next(&s, true, form)));
	}
}

// Writes text, escaped, to the array `to` of `room` bytes. "..." replaces what does not fit. Returns the length written.
static size_t escape_line(struct str text, char *to, size_t room)
{
	size_t n = 0;

	while (text.n > 0) {
		char form[ESCAPED];
		size_t length = escape_next(&text, false, form);

		if (n + length + 3 > room) {
			memcpy(to + n, "...", 3);
			return n + 3;
		}
		memcpy(to + n, form, length);
		n += length;
	}
	return n;
}

// The prefix "<N>" tells the journal the line's priority (sd-daemon(3)).
static void write_stderr(enum log_level level, struct str text)
{
	char line[LOG_LINE];
	int n = 0;

	if (out.journal)
		n = snprintf(line, sizeof(line), "<%d>", levels[level].priority);
	n += snprintf(line + n, sizeof(line) - (size_t)n, "%s %.64s[%ld]: ", levels[level].name, out.program,
	              (long)getpid());
	size_t length = (size_t)n + escape_line(text, line + n, sizeof(line) - (size_t)n - 1);
	line[length++] = '\n';
	// A closed pipe is not reported. A full disk is, and syslog is the only place left for that.
	if (write(STDERR_FILENO, line, length) != (ssize_t)length && errno != EPIPE && errno != EAGAIN)
		syslog(LOG_DAEMON | levels[level].priority, "%s: %.*s", out.program, (int)(length - (size_t)n - 1), line + n);
}

static void write_syslog(enum log_level level, struct str text)
{
	char line[LOG_LINE];
	size_t length = escape_line(text, line, sizeof(line));

	syslog(levels[level].priority, "%.*s", (int)length, line);
}

PRINTF_LIKE(2, 0) static void write_line(enum log_level level, const char *format, va_list args)
{
	if (level > out.least)
		return;
	int saved = errno; // kept, because callers log between a failing call and their use of errno
	char text[LOG_LINE];
	int start = out.id[0] != '\0' ? snprintf(text, sizeof(text), "[%s] ", out.id) : 0;
	int rest = vsnprintf(text + start, sizeof(text) - (size_t)start, format, args);
	size_t n = (size_t)start + (size_t)(rest > 0 ? rest : 0);
	struct str line = str_n(text, n < sizeof(text) ? n : sizeof(text) - 1);

	if (out.sink == LOG_SINK_SYSLOG)
		write_syslog(level, line);
	else
		write_stderr(level, line);
	errno = saved;
}

#define DEFINE_LOG(name, level) \
	void name(const char *format, ...) \
	{ \
		va_list args; \
\
		va_start(args, format); \
		write_line(level, format, args); \
		va_end(args); \
	}

DEFINE_LOG(log_error, LOG_LEVEL_ERROR)
DEFINE_LOG(log_warning, LOG_LEVEL_WARNING)
DEFINE_LOG(log_info, LOG_LEVEL_INFO)
DEFINE_LOG(log_debug, LOG_LEVEL_DEBUG)

static time_t seconds_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + 1; // + 1, so that it is never 0
}

// Counts lost lines and reports the beginning and the end of a failure. well: the write succeeded. lines: how many it had. Reads
// errno.
static void note_written(bool well, uint64_t lines)
{
	int failure = errno;

	if (well && out.lost == 0)
		return;
	if (well) {
		log_warning("the access log is written again; %llu of this process's lines are lost", (unsigned long long)out.lost);
		out.lost = 0;
		out.logged = 0;
		return;
	}
	out.lost += lines;
	if (out.logged != 0 && seconds_now() - out.logged < LOG_AGAIN_S)
		return;
	out.logged = seconds_now();
	log_error("the access log can't be written: %s; %llu lines of this process are lost so far", strerror(failure),
		(unsigned long long)out.lost);
}

bool log_access_fails(void)
{
	return out.lost > 0;
}

static uint64_t lines_of(const char *text, size_t n)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	return lines;
}

// Was all of it written? A short write means that the disk has just become full.
static bool is_whole(ssize_t written, size_t n)
{
	if (written >= 0 && (size_t)written < n)
		errno = ENOSPC;
	return written == (ssize_t)n;
}

void log_access_flush(void)
{
	if (out.n_access == 0)
		return;
	bool whole = is_whole(write(out.access_fd, out.access, out.n_access), out.n_access);

	note_written(whole, whole ? 0 : lines_of(out.access, out.n_access));
	out.n_access = 0;
}

// Writes the lines put off, and closes the file unless it is stderr.
static void close_access(void)
{
	log_access_flush();
	if (out.access_fd > STDERR_FILENO)
		close(out.access_fd);
	out.access_fd = -1;
}

bool log_access_open(const char *path)
{
	int fd = -1;

	if (strcmp(path, "stderr") == 0) {
		fd = STDERR_FILENO;
	} else if (path[0] != '\0') {
		// The old file stays in use until the new file is open. O_NONBLOCK: if it is a FIFO, neither a start nor a
		// request waits for its reader.
		mode_t saved = umask(0); // its group may read the log, whatever the umask
		fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0640);
		umask(saved);
		if (fd < 0)
			return false;
	}
	close_access();
	out.access_fd = fd;
	return true;
}

void log_close_inherited(void)
{
	out.n_access = 0; // the process that forked writes them
	close_access();
	closelog(); // whatever the sink: a line that stderr did not take has opened it as well
	(void)close_range(STDERR_FILENO + 1, ~0U, 0);
	if (out.sink == LOG_SINK_SYSLOG)
		openlog(out.program, LOG_PID, LOG_DAEMON);
}

bool log_access_moved(const char *path)
{
	struct stat mine, there;

	if (out.access_fd <= STDERR_FILENO || fstat(out.access_fd, &mine) != 0)
		return false;
	if (stat(path, &there) != 0)
		return errno == ENOENT;
	return there.st_ino != mine.st_ino || there.st_dev != mine.st_dev;
}

static bool is_ended(struct str line)
{
	return line.n > 0 && line.p[line.n - 1] == '\n';
}

void log_access(struct str line)
{
	if (out.access_fd < 0)
		return;
	struct iovec parts[] = {
		{ .iov_base = (void *)(uintptr_t)line.p, .iov_len = line.n },
		{ .iov_base = (void *)(uintptr_t)"\n", .iov_len = 1 },
	};
	log_access_flush();
	int n = is_ended(line) ? 1 : 2;
	note_written(is_whole(writev(out.access_fd, parts, n), line.n + (n == 2)), 1);
}

void log_access_later(struct str line)
{
	if (line.n + 1 > LOG_LINE || out.access_fd < 0) {
		log_access(line);
		return;
	}
	if (line.n + 1 > LOG_LINE - out.n_access)
		log_access_flush();
	memcpy(out.access + out.n_access, line.p, line.n);
	out.n_access += line.n;
	if (!is_ended(line))
		out.access[out.n_access++] = '\n';
}
