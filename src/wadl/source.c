// SPDX-License-Identifier: Apache-2.0
// Parses a file into a tree. Features of XML that reach outside the file are disabled.
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libxml/parser.h>

#include "repr/xml/error.h"
#include "wadl/loader.h"

enum { MAX_BYTES = 1 << 20, MAX_DEPTH = 64 };

// ---- errors

PRINTF_LIKE(4, 0)
static void set_error(struct loader *loader, const char *path, long line, const char *format, va_list args)
{
	char *what = NULL;

	if (*loader->error != NULL)
		return;
	if (vasprintf(&what, format, args) < 0)
		return;
	if (asprintf(loader->error, "%s:%ld: %s", path, line, what) < 0)
		*loader->error = NULL;
	free(what);
}

bool loader_fail_in(struct loader *loader, const char *path, long line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_error(loader, path, line, format, args);
	va_end(args);
	return false;
}

bool loader_fail_at(struct loader *loader, const xmlNode *node, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_error(loader, loader_source_file(node)->path, xmlGetLineNo(node), format, args);
	va_end(args);
	return false;
}

struct wadl_file *loader_source_file(const xmlNode *node)
{
	return node->doc->_private;
}

// ---- bytes

static bool read_whole(int fd, char *bytes, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = read(fd, bytes + done, n - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static bool read_open(struct loader *loader, const struct wadl_file *file, int fd, struct str *text)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return loader_fail_in(loader, file->path, 1, "cannot be read: %s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return loader_fail_in(loader, file->path, 1, "is not a regular file");
	if (st.st_size > MAX_BYTES)
		return loader_fail_in(loader, file->path, 1, "has more than %d bytes", MAX_BYTES);
	char *bytes = pool_alloc(loader->scratch, (size_t)st.st_size + 1);
	if (!read_whole(fd, bytes, (size_t)st.st_size))
		return loader_fail_in(loader, file->path, 1, "cannot be read whole");
	*text = str_n(bytes, (size_t)st.st_size);
	return true;
}

static bool read_file(struct loader *loader, const struct wadl_file *file, struct str *text)
{
	// O_NONBLOCK: if the file is a pipe, opening it must not block the start.
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return loader_fail_in(loader, file->path, 1, "cannot be opened: %s", strerror(errno));
	bool good = read_open(loader, file, fd, text);
	(void)close(fd);
	return good;
}

// ---- tree

static long line_of(struct str text, size_t at)
{
	long line = 1;

	for (size_t i = 0; i < at; i++)
		line += text.p[i] == '\n' ? 1 : 0;
	return line;
}

struct complaint { // the first error; later ones are mostly consequences of it
	bool doctype;
	int line;
	char message[256];
};

// Stops the parser at a DOCTYPE, before its first declaration, so that no entity is ever defined.
static void refuse_doctype(void *context, const xmlChar *name, const xmlChar *external, const xmlChar *system_id)
{
	xmlParserCtxtPtr parser = context;
	struct complaint *complaint = parser->_private;

	UNUSED(name);
	UNUSED(external);
	UNUSED(system_id);
	complaint->doctype = true;
	complaint->line = parser->input != NULL ? parser->input->line : 1;
	xmlStopParser(parser);
}

static void keep_first(void *context, xml_parser_error error)
{
	struct complaint *complaint = ((xmlParserCtxtPtr)context)->_private;

	if (complaint->line > 0 || error->level < XML_ERR_ERROR)
		return;
	complaint->line = error->line > 0 ? error->line : 1;
	(void)snprintf(complaint->message, sizeof(complaint->message), "%s", error->message != NULL ? error->message : "");
	complaint->message[strcspn(complaint->message, "\n")] = '\0';
}

static bool refuse_syntax(struct loader *loader, const struct wadl_file *file, const struct complaint *complaint)
{
	if (complaint->doctype)
		return loader_fail_in(loader, file->path, complaint->line, "a DOCTYPE is not allowed");
	if (complaint->line == 0)
		return loader_fail_in(loader, file->path, 1, "is not well-formed XML");
	return loader_fail_in(loader, file->path, complaint->line, "is not well-formed XML: %s", complaint->message);
}

static bool depth_allowed(struct loader *loader, const struct wadl_file *file)
{
	const xmlNode *node = xmlDocGetRootElement(file->doc);
	int depth = 1;

	while (node != NULL) {
		if (depth > MAX_DEPTH)
			return loader_fail_at(loader, node, "elements are nested deeper than %d", MAX_DEPTH);
		if (node->type == XML_ELEMENT_NODE && node->children != NULL) {
			node = node->children;
			depth++;
			continue;
		}
		while (node != NULL && node->next == NULL && depth > 1) {
			node = node->parent;
			depth--;
		}
		node = depth > 1 ? node->next : NULL;
	}
	return true;
}

static void free_doc(void *doc)
{
	xmlFreeDoc(doc);
}

static bool parse_text(struct loader *loader, struct wadl_file *file, xmlParserCtxtPtr parser, struct str text)
{
	struct complaint complaint = { .line = 0 };

	parser->_private = &complaint;
	parser->sax->internalSubset = refuse_doctype;
	parser->sax->serror = keep_first;
	xmlDocPtr doc = xmlCtxtReadMemory(parser, text.p, (int)text.n, file->path, NULL,
		XML_PARSE_NONET | XML_PARSE_NOCDATA); // not XML_PARSE_NOERROR: from libxml2 2.13 on it would silence keep_first,
		                                      // too
	if (doc != NULL)
		pool_cleanup(loader->scratch, free_doc, doc);
	if (doc == NULL || complaint.line > 0)
		return refuse_syntax(loader, file, &complaint);
	doc->_private = file;
	file->doc = doc;
	return depth_allowed(loader, file);
}

bool loader_source_parse(struct loader *loader, struct wadl_file *file)
{
	struct str text;

	if (!read_file(loader, file, &text))
		return false;
	// libxml2 would take a NUL byte for the end of the file.
	size_t nul = str_find(text, '\0', 0);
	if (nul < text.n)
		return loader_fail_in(loader, file->path, line_of(text, nul), "a NUL byte is not allowed");
	xmlParserCtxtPtr parser = xmlNewParserCtxt();
	if (parser == NULL)
		return loader_fail_in(loader, file->path, 1, "no memory to parse it");
	bool good = parse_text(loader, file, parser, text);
	xmlFreeParserCtxt(parser);
	return good;
}
