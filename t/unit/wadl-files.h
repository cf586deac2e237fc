// SPDX-License-Identifier: Apache-2.0
// A folder of WADL files of our own making, and requests to try on their tables.
#ifndef TENURE_T_UNIT_WADL_FILES_H
#define TENURE_T_UNIT_WADL_FILES_H

#include <dirent.h>
#include <unistd.h>

#include "base/pool.h"
#include "tap.h"
#include "wadl/wadl.h"

#define HEAD \
	"<application xmlns='http://wadl.dev.java.net/2009/02' xmlns:xsd='http://www.w3.org/2001/XMLSchema'" \
	" xmlns:t='urn:tenure:wadl' xmlns:x='urn:x'>\n"
#define TAIL "</resources></application>\n"

static char dir[] = "/tmp/tenure-wadl-XXXXXX";

TAP_UNUSED_OK static inline void make_dir(void)
{
	if (mkdtemp(dir) == NULL)
		bail_out("mkdtemp");
}

TAP_UNUSED_OK static inline void remove_dir(void)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	char path[512];

	while (d != NULL && (entry = readdir(d)) != NULL) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		(void)unlink(path);
	}
	if (d != NULL)
		closedir(d);
	(void)rmdir(dir);
}

TAP_UNUSED_OK static inline void write_bytes(const char *name, struct str text)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	if (f == NULL || fwrite(text.p, 1, text.n, f) != text.n || fclose(f) != 0)
		bail_out("cannot write into the folder");
}

TAP_UNUSED_OK static inline void write_file(const char *name, const char *text)
{
	write_bytes(name, str_c(text));
}

// Finds a handler for everything but ids that begin with "missing".
TAP_UNUSED_OK static inline const void *find_most(void *arg, const char *dialect, const char *id)
{
	UNUSED(arg);
	UNUSED(dialect);
	return strncmp(id, "missing", 7) == 0 ? NULL : "handler";
}

TAP_UNUSED_OK static inline struct route_table *load(const char *name)
{
	char *error = NULL;
	struct route_table *table = wadl_load(dir, name, find_most, NULL, &error);

	ok(table != NULL && error == NULL, "%s loads", name);
	if (error != NULL)
		diag("%s", error);
	free(error);
	return table;
}

// A request for that target, parsed as the server does. NULL when the target is malformed.
TAP_UNUSED_OK static inline struct request *request_for(struct pool *pool, const char *method, const char *target)
{
	struct request *request = POOL_NEW(pool, struct request);
	struct str detail;

	request->method_text = str_c(method);
	request->method = http_method_parse(request->method_text);
	request->target = str_c(target);
	if (uri_parse(pool, request->target, 8192, &request->uri, &detail) != OUTCOME_OK) {
		diag("%s: %.*s", target, STR_ARG(detail));
		return NULL;
	}
	return request;
}

#endif
