// SPDX-License-Identifier: Apache-2.0
// Log lines, each written with one write(2), so that lines of several processes do not mix.
// A line that stderr does not take (a full disk) goes to syslog.
//   stderr:  <level> tenured[pid]: [request-id] text      (with "<N>" in front when stderr is the journal)
//   syslog:  the same through syslog(3), facility daemon
#ifndef TENURE_BASE_LOG_H
#define TENURE_BASE_LOG_H

#include "base/str.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };
enum log_sink { LOG_SINK_STDERR, LOG_SINK_SYSLOG };

// program: shown in each line; must outlive the process. Call before fork; children inherit.
void log_open(const char *program, enum log_sink sink, enum log_level least);
// Logs lines of another level than log_open() said, until it is called with is_set false, or log_open() again.
void log_override(bool is_set, enum log_level least);
// For a process that was forked and needs nothing of what it inherited: closes all descriptors but the standard ones. The access
// log is closed, and the next line for syslog opens another socket: syslog(3) by itself would send lines to whatever gets the
// number of the old one next.
void log_close_inherited(void);
// Sets the request id that following lines carry; "" for none. Copies at most 63 bytes.
void log_request(struct str id);
// Log one line. Control characters, and bytes that are not UTF-8, are written as \xHH, so no value can forge a line.
void log_error(const char *format, ...) PRINTF_LIKE(1, 2);
void log_warning(const char *format, ...) PRINTF_LIKE(1, 2);
void log_info(const char *format, ...) PRINTF_LIKE(1, 2);
void log_debug(const char *format, ...) PRINTF_LIKE(1, 2);
// False when the text is none of error, warning, info, debug.
bool log_level_parse(struct str text, enum log_level *level);

// The access log is a file of its own, to which lines are appended; it can also be switched off.
// Opens the file, or opens it again after rotation. Path "" closes it, "stderr" writes to stderr. False with errno if the file
// can't be opened; the old file stays in use then. A FIFO can be opened while a process reads it; lines that find no room in it
// are lost.
bool log_access_open(const char *path);
// Is the open file no longer the one at that path, because a rotation has moved it away? False if none is open, or stderr.
bool log_access_moved(const char *path);
// Writes one line, after the lines that log_access_later() put off. Does nothing if there is no access log.
void log_access(struct str line);
// Like log_access(), but the line may be put off and written together with others, up to 4096 bytes. The caller calls
// log_access_flush() soon. If the process is killed, the lines put off are lost.
void log_access_later(struct str line);
void log_access_flush(void);
// Did the last write of the access log fail, for example on a full disk? The failure is logged at most once a minute, and its end
// once. Requests are served all the same.
bool log_access_fails(void);
// Appends s with '"', '\\', control characters and bytes that are not UTF-8 as \xHH.
struct buf;
void log_escape(struct buf *buf, struct str s);

#endif
