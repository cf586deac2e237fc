// SPDX-License-Identifier: Apache-2.0
// Walks through an XML document with libxml2's reader.
#include "base/base.h"

#include <stdarg.h>

#include <libxml/xmlreader.h>

#include "base/budget.h"
#include "base/pool.h"
#include "repr/xml/cursor.h"
#include "repr/xml/error.h"

enum event { EVENT_FAILED, EVENT_START, EVENT_END, EVENT_TEXT, EVENT_DONE };

static struct str from_xml(const xmlChar *text)
{
	return str_c((const char *)text);
}

static bool set_error(struct xml_cursor *xml, int line, struct str why)
{
	if (!xml->failed) {
		*xml->error = line > 0 ? str_printf(xml->pool, "line %d: %.*s", line, STR_ARG(why))
			: str_dup(xml->pool, why);
	}
	xml->failed = true;
	return false;
}

bool xml_fail(struct xml_cursor *xml, const char *format, ...)
{
	va_list args, again;

	va_start(args, format);
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, args);
	size_t room = n > 0 ? (size_t)n + 1 : 1;
	char *why = pool_alloc(xml->pool, room);
	why[0] = '\0';
	vsnprintf(why, room, format, again);
	va_end(again);
	va_end(args);
	// The reader reports no line for attributes.
	xmlTextReaderMoveToElement(xml->reader);
	xmlNodePtr node = xmlTextReaderCurrentNode(xml->reader);
	return set_error(xml, node != NULL ? (int)xmlGetLineNo(node) : 0, str_c(why));
}

// Does the error mean that the document ended too early, or goes on after its end? libxml2 distinguishes the two from 2.14 on.
static bool is_at_end(int code)
{
	return code == XML_ERR_DOCUMENT_END || code == XML_ERR_DOCUMENT_EMPTY || code == XML_ERR_TAG_NOT_FINISHED;
}

// libxml2 refuses a text of more than 10,000,000 bytes, unless it is told to do without all of its limits. What it calls that
// error differs from version to version.
static bool is_long_text(xml_parser_error error)
{
	return error->message != NULL &&
		(strstr(error->message, "huge text node") != NULL || strstr(error->message, "Text node too long") != NULL);
}

// Keeps the first error at which the parser stops. Its text quotes the input, so control characters are removed.
static void on_parser_error(void *arg, xml_parser_error error)
{
	struct xml_cursor *xml = arg;
	char why[256];
	size_t n = 0;

	if (xml->failed)
		return;
	if (is_long_text(error)) { // not always fatal by its level
		set_error(xml, error->line, STR("a text in XML may have 10,000,000 bytes: send a longer one as JSON"));
		return;
	}
	if (error->level != XML_ERR_FATAL)
		return;
	// libxml2 words this error differently from version to version, and its "Extra content" would be wrong for a truncated
	// document.
	if (is_at_end(error->code)) {
		set_error(xml, error->line, STR("the document is not closed, or something follows its end"));
		return;
	}
	for (const char *c = error->message; c != NULL && *c != '\0' && n < sizeof why; c++)
		why[n++] = *c == '\n' ? ' ' : *c < ' ' || *c > '~' ? '?' : *c;
	set_error(xml, error->line, str_trim(str_n(why, n)));
}

// ---- checks before libxml2 sees the text

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t find(struct str text, size_t from, struct str what)
{
	const char *at = from < text.n ? memmem(text.p + from, text.n - from, what.p, what.n) : NULL;

	return at != NULL ? (size_t)(at - text.p) : text.n;
}

// Finds a DOCTYPE, which can only follow comments, instructions and blanks before the document element.
static bool has_doctype(struct str text)
{
	for (size_t at = 0; at < text.n;) {
		struct str rest = str_part(text, at, text.n);
		if (is_blank(rest.p[0]))
			at++;
		else if (str_starts(rest, STR("<!--")))
			at = find(text, at + 4, STR("-->")) + 3;
		else if (str_starts(rest, STR("<?")))
			at = find(text, at + 2, STR("?>")) + 2;
		else
			return str_starts(rest, STR("<!"));
	}
	return false;
}

// The encoding that the XML declaration names, STR_NONE when it names none.
static struct str declared_encoding(struct str text)
{
	if (!str_starts(text, STR("<?xml")) || text.n < 6 || !is_blank(text.p[5]))
		return STR_NONE;
	struct str declaration = str_part(text, 0, find(text, 0, STR("?>")));
	size_t at = find(declaration, 0, STR("encoding")) + 8;
	while (at < declaration.n && (is_blank(declaration.p[at]) || declaration.p[at] == '='))
		at++;
	if (at >= declaration.n)
		return STR_NONE;
	return str_part(declaration, at + 1, str_find(declaration, declaration.p[at], at + 1));
}

// For each attribute libxml2 compares the names of all others of the element, and takes memory that no budget counts. No
// document that we know has an element with more than three.
enum { ATTRIBUTES_MAX = 32 };

// Returns where the tag that begins at text.p[at] ends. *attributes: how many attributes it has, counted up to one too many.
// Both agree with what libxml2 reads up to its first fault, where it stops.
static size_t skip_tag(struct str text, size_t at, unsigned *attributes)
{
	*attributes = 0;
	while (at < text.n && text.p[at] != '>' && *attributes <= ATTRIBUTES_MAX) {
		char c = text.p[at++];
		if (c == '"' || c == '\'')
			at = str_find(text, c, at) + 1;
		else if (c == '=')
			++*attributes;
	}
	return at;
}

// libxml2 makes nodes of all comments and instructions in a row before it reports the first: so many bytes each.
enum { AHEAD_BYTES = 192 };

static bool check_tags(struct xml_cursor *xml, struct str text)
{
	unsigned attributes;
	size_t ahead = 0;

	for (size_t at = str_find(text, '<', 0); at < text.n; at = str_find(text, '<', at)) {
		struct str rest = str_part(text, at, text.n);
		if (str_starts(rest, STR("<!--"))) {
			at = find(text, at + 4, STR("-->"));
			ahead++;
		} else if (str_starts(rest, STR("<![CDATA["))) {
			at = find(text, at + 9, STR("]]>"));
		} else if (str_starts(rest, STR("<?"))) {
			at = find(text, at + 2, STR("?>"));
			ahead++;
		} else {
			at = skip_tag(text, at, &attributes);
			if (attributes > ATTRIBUTES_MAX)
				return set_error(xml, 0, str_printf(xml->pool, "an element has more than %d attributes", ATTRIBUTES_MAX));
		}
		if (at >= text.n)
			break;
	}
	pool_charge(xml->pool, ahead * AHEAD_BYTES); // may not return
	return true;
}

static bool check_text(struct xml_cursor *xml, struct str text)
{
	struct str encoding = declared_encoding(text);

	if (text.n == 0)
		return set_error(xml, 0, STR("the text is empty; an XML document is expected"));
	if (text.n > INT32_MAX || str_find(text, '\0', 0) < text.n)
		return set_error(xml, 0, STR("an XML document holds no NUL"));
	if (encoding.p != NULL && !str_eq_nocase(encoding, STR("utf-8")) && !str_eq_nocase(encoding, STR("us-ascii")))
		return set_error(xml, 0, STR("another encoding is declared; XML is read in UTF-8"));
	if (!str_utf8_ok(text, NULL))
		return set_error(xml, 0, STR("the text is not well-formed UTF-8"));
	if (has_doctype(text))
		return set_error(xml, 0,
			STR("a DOCTYPE is not accepted; leave it out, and write characters instead of entities"));
	return check_tags(xml, text);
}

// ---- events

static enum event next_node(struct xml_cursor *xml)
{
	budget_work(32);
	budget_defer(); // libxml2 calls on_parser_error(), which must not leave it by longjmp
	int got = xmlTextReaderRead(xml->reader);
	budget_release();

	if (got == 0 && !xml->failed)
		return EVENT_DONE;
	if (got != 1 || xml->failed) {
		set_error(xml, 0, STR("this is no well-formed XML"));
		return EVENT_FAILED;
	}
	switch (xmlTextReaderNodeType(xml->reader)) {
	case XML_READER_TYPE_ELEMENT:
		xml->at_empty = xmlTextReaderIsEmptyElement(xml->reader) == 1;
		return EVENT_START;
	case XML_READER_TYPE_END_ELEMENT:
		return EVENT_END;
	case XML_READER_TYPE_DOCUMENT_TYPE:
	case XML_READER_TYPE_ENTITY_REFERENCE:
		xml_fail(xml, "document types and entities are not accepted");
		return EVENT_FAILED;
	default:
		return EVENT_TEXT; // also for comments and instructions, whose text node_text() skips
	}
}

static enum event next_event(struct xml_cursor *xml)
{
	if (xml->failed)
		return EVENT_FAILED;
	if (xml->at_empty) {
		xml->at_empty = false;
		return EVENT_END;
	}
	return next_node(xml);
}

static struct str node_text(struct xml_cursor *xml)
{
	switch (xmlTextReaderNodeType(xml->reader)) {
	case XML_READER_TYPE_TEXT:
	case XML_READER_TYPE_CDATA:
	case XML_READER_TYPE_WHITESPACE:
	case XML_READER_TYPE_SIGNIFICANT_WHITESPACE:
		return from_xml(xmlTextReaderConstValue(xml->reader));
	default:
		return STR("");
	}
}

static bool all_blank(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!is_blank(s.p[i]))
			return false;
	}
	return true;
}

// A request may be left while its document is read (base/budget.h): then the pool frees the reader.
struct opened {
	xmlTextReaderPtr reader;
};

// The memory of the parser, its dictionary and its buffers.
enum { READER_BYTES = 64 << 10 };

static void close_opened(void *arg)
{
	struct opened *opened = arg;

	if (opened->reader != NULL)
		xmlFreeTextReader(opened->reader);
	opened->reader = NULL;
}

bool xml_open(struct xml_cursor *xml, struct pool *pool, struct str text, struct doc_limits limits, struct str *error)
{
	*xml = (struct xml_cursor){ .pool = pool, .limits = limits, .error = error };
	if (str_starts(text, STR("\xef\xbb\xbf")))
		text = str_part(text, 3, text.n);
	if (!check_text(xml, text))
		return false;
	// With an encoding given here, libxml2 looks for no other. XML_PARSE_NOENT must stay off, since it would read files.
	budget_defer();
	struct opened *opened = POOL_NEW(pool, struct opened);
	pool_cleanup(pool, close_opened, opened);
	pool_adopt(pool, READER_BYTES);
	budget_take(READER_BYTES);
	xml->opened = opened;
	xml->reader = opened->reader = xmlReaderForMemory(text.p, (int)text.n, NULL, "UTF-8", XML_PARSE_NONET);
	budget_release(); // from here on the pool frees the reader
	if (xml->reader == NULL)
		return set_error(xml, 0, STR("the XML parser could not be started"));
	xmlTextReaderSetStructuredErrorHandler(xml->reader, on_parser_error, xml);
	return xml_child(xml);
}

void xml_close(struct xml_cursor *xml)
{
	if (xml->opened != NULL)
		close_opened(xml->opened);
	xml->reader = NULL;
}

struct str xml_name(const struct xml_cursor *xml)
{
	return from_xml(xmlTextReaderConstLocalName(xml->reader));
}

bool xml_attribute(struct xml_cursor *xml, struct str *name, struct str *value)
{
	while (!xml->failed && xmlTextReaderMoveToNextAttribute(xml->reader) == 1) {
		*name = from_xml(xmlTextReaderConstLocalName(xml->reader));
		// Those of a document are in no namespace (Namespaces in XML, 6.2).
		if (xmlTextReaderIsNamespaceDecl(xml->reader) == 1 || from_xml(xmlTextReaderConstPrefix(xml->reader)).n > 0)
			continue;
		*name = str_dup(xml->pool, *name);
		*value = str_dup(xml->pool, from_xml(xmlTextReaderConstValue(xml->reader)));
		return true;
	}
	xmlTextReaderMoveToElement(xml->reader);
	return false;
}

bool xml_child(struct xml_cursor *xml)
{
	for (;;) {
		switch (next_event(xml)) {
		case EVENT_START:
			return true;
		case EVENT_TEXT:
			if (!all_blank(node_text(xml)))
				return xml_fail(xml, "text stands where only elements are expected");
			break;
		case EVENT_DONE:
		case EVENT_END:
		case EVENT_FAILED:
			return false;
		}
	}
}

bool xml_text(struct xml_cursor *xml, struct str *text)
{
	struct buf out = buf_new(xml->pool, 0);

	for (;;) {
		switch (next_event(xml)) {
		case EVENT_TEXT:
			buf_add(&out, node_text(xml));
			break;
		case EVENT_START:
			return xml_fail(xml, "an element stands where only text is expected");
		case EVENT_END:
			*text = buf_str(&out);
			return true;
		case EVENT_DONE:
		case EVENT_FAILED:
			return false;
		}
	}
}

bool xml_skip(struct xml_cursor *xml)
{
	for (size_t depth = 1; depth > 0;) {
		switch (next_event(xml)) {
		case EVENT_START: depth++; break;
		case EVENT_END: depth--; break;
		case EVENT_TEXT: break;
		case EVENT_DONE:
		case EVENT_FAILED: return false;
		}
	}
	return true;
}

bool xml_finish(struct xml_cursor *xml)
{
	enum event event = EVENT_TEXT;

	while (event == EVENT_TEXT)
		event = next_event(xml);
	return event == EVENT_DONE;
}

bool xml_count(struct xml_cursor *xml)
{
	if (xml->limits.nodes != 0 && xml->nodes++ == xml->limits.nodes)
		return xml_fail(xml, "the document has more than %zu values", xml->limits.nodes);
	return true;
}
