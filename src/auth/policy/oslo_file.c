// SPDX-License-Identifier: Apache-2.0
// Reads a file of rules (auth/policy/oslo_rules.h) by the events of libyaml: no tree is built, so a hostile file can't make one
// grow.
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "auth/core/authenticator.h"
#include "auth/policy/oslo_rules.h"
#include "base/memory.h"

struct file {
	yaml_parser_t parser;
	const char *path;
	struct pool *pool;
	struct oslo_rule *rules;
	size_t n;
	char **error;
};

static bool fail_at(struct file *file, size_t line, const char *what)
{
	*file->error = auth_message("%s, line %zu: %s", file->path, line + 1, what);
	return false;
}

// The next event, which the caller deletes. False: it can't be read.
static bool next_event(struct file *file, yaml_event_t *event)
{
	if (yaml_parser_parse(&file->parser, event) != 0)
		return true;
	return fail_at(file, file->parser.problem_mark.line, file->parser.problem != NULL ? file->parser.problem :
		"this is no YAML");
}

static struct str copy_scalar(struct file *file, const yaml_event_t *event)
{
	return str_dup(file->pool, str_n((const char *)event->data.scalar.value, event->data.scalar.length));
}

// "name: check", of which event is the name.
static bool add_rule(struct file *file, const yaml_event_t *event)
{
	struct oslo_rule *rule = &file->rules[file->n];
	size_t line = event->start_mark.line;
	yaml_event_t value;

	if (event->type != YAML_SCALAR_EVENT || event->data.scalar.length == 0)
		return fail_at(file, line, "the name of a rule must be a text");
	if (file->n == OSLO_MAX_RULES)
		return fail_at(file, line, "there are too many rules");
	*rule = (struct oslo_rule){ .name = copy_scalar(file, event), .line = (unsigned)line + 1 };
	for (size_t i = 0; i < file->n; i++) {
		if (str_eq(file->rules[i].name, rule->name))
			return fail_at(file, line, "this rule is there twice");
	}
	if (!next_event(file, &value))
		return false;
	bool is_text = value.type == YAML_SCALAR_EVENT &&
		(value.data.scalar.style != YAML_PLAIN_SCALAR_STYLE || value.data.scalar.length > 0);
	if (is_text)
		rule->check = copy_scalar(file, &value);
	file->n += is_text;
	yaml_event_delete(&value);
	return is_text || fail_at(file, line,
		"the check of a rule must be a text, such as \"role:admin\"; everybody is \"@\", nobody \"!\"");
}

static bool read_mapping(struct file *file)
{
	for (;;) {
		yaml_event_t event;
		if (!next_event(file, &event))
			return false;
		bool end = event.type == YAML_MAPPING_END_EVENT, good = end || add_rule(file, &event);
		yaml_event_delete(&event);
		if (end || !good)
			return good;
	}
}

// One document, or none: a mapping, or nothing.
static bool read_events(struct file *file)
{
	bool seen = false;

	for (;;) {
		yaml_event_t event;
		if (!next_event(file, &event))
			return false;
		yaml_event_type_t type = event.type;
		size_t line = event.start_mark.line;
		bool nothing = type == YAML_SCALAR_EVENT && event.data.scalar.length == 0;
		yaml_event_delete(&event);
		if (type == YAML_STREAM_END_EVENT)
			return true;
		if (type == YAML_DOCUMENT_START_EVENT && seen)
			return fail_at(file, line, "there must be one document only");
		seen = seen || type == YAML_DOCUMENT_START_EVENT;
		if (type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_START_EVENT || type == YAML_DOCUMENT_END_EVENT ||
			nothing)
			continue;
		if (type != YAML_MAPPING_START_EVENT)
			return fail_at(file, line, "the file must be a mapping of names of rules to checks");
		if (!read_mapping(file))
			return false;
	}
}

// Opens a regular file only. The path may lead to a FIFO, whose open() would block a master that reloads, and so its signals.
static FILE *open_regular(const char *path, char **error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		FILE *stream = fdopen(fd, "r");
		if (stream != NULL)
			return stream;
	}
	*error = auth_message("%s: %s", path, fd >= 0 ? "it must be a regular file" : strerror(errno));
	if (fd >= 0)
		(void)close(fd);
	return NULL;
}

static bool read_text(struct file *file, struct str *text)
{
	FILE *stream = open_regular(file->path, file->error);
	char *bytes;
	size_t n = 0;

	if (stream == NULL)
		return false;
	bytes = pool_alloc(file->pool, OSLO_FILE_MAX + 1);
	n = fread(bytes, 1, OSLO_FILE_MAX + 1, stream);
	int failed = ferror(stream) != 0 ? errno : 0;
	(void)fclose(stream);
	if (failed != 0)
		*file->error = auth_message("%s: %s", file->path, strerror(failed));
	else if (n > OSLO_FILE_MAX)
		*file->error = auth_message("%s: it has more than %d bytes", file->path, OSLO_FILE_MAX);
	*text = str_n(bytes, n);
	return failed == 0 && n <= OSLO_FILE_MAX;
}

bool oslo_rules_read_file(struct pool *pool, const char *path, struct oslo_rule **rules, size_t *n, char **error)
{
	struct file file = { .path = path, .pool = pool, .error = error };
	struct str text;

	if (!read_text(&file, &text))
		return false;
	if (yaml_parser_initialize(&file.parser) == 0)
		memory_end(0);
	yaml_parser_set_input_string(&file.parser, (const unsigned char *)text.p, text.n);
	file.rules = POOL_ARRAY(pool, struct oslo_rule, OSLO_MAX_RULES + 1);
	bool good = read_events(&file);
	yaml_parser_delete(&file.parser);
	*rules = file.rules;
	*n = file.n;
	return good;
}
