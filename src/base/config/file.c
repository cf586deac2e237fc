// SPDX-License-Identifier: Apache-2.0
// Reads configuration files and the environment into struct config.
#include "base/base.h"

#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/config/config.h"
#include "base/config/setting.h"
#include "base/log.h"
#include "base/pool.h"

enum {
	FILE_LARGEST = 1024 * 1024,
	INCLUDE_DEEPEST = 8, // depth of includes; a greater depth means that a file includes itself
	ENDPOINT_NAME_LONGEST = 32,
	PRINTABLE_LONGEST = 80, // bytes of a wrong value that an error message shows
	ENV_NAME_LONGEST = 128,
};

struct loader {
	struct pool *scratch; // lives while the configuration is loaded
	struct config *config;
	struct str error;
};

// Where a setting was read, for errors and relative paths.
struct source {
	const char *name; // the file's path; "environment"; NULL: the text of the error names it
	unsigned line;    // 0: not read from a line
	unsigned depth;   // of nested includes
};

// The section that lines belong to; values is NULL before the first section.
struct section {
	struct str name; // "database", "endpoint"
	struct str endpoint;
	void *const *values; // of config->tables
};

PRINTF_LIKE(3, 4)
static bool fail(struct loader *loader, const struct source *source, const char *format, ...)
{
	struct buf buf = buf_new(loader->scratch, 0);
	char text[2048];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (source->line > 0)
		buf_addf(&buf, "%s:%u: %s", source->name, source->line, text);
	else if (source->name != NULL)
		buf_addf(&buf, "%s: %s", source->name, text);
	else
		buf_add(&buf, str_c(text));
	loader->error = buf_str(&buf);
	return false;
}

// Text for an error message: shortened, without control characters that a terminal would obey.
static const char *printable(struct loader *loader, struct str text)
{
	struct buf buf = buf_new(loader->scratch, 0);

	log_escape(&buf, str_part(text, 0, PRINTABLE_LONGEST));
	buf_add(&buf, str_c(text.n > PRINTABLE_LONGEST ? "..." : ""));
	return str_cstr(loader->scratch, buf_str(&buf));
}

static const char *printable_section(struct loader *loader, const struct section *section)
{
	const char *blank = section->endpoint.n > 0 ? " " : "";

	return str_printf(loader->scratch, "[%.*s%s%.*s]", STR_ARG(section->name), blank, STR_ARG(section->endpoint)).p;
}

// ---- files

// The path of a file named in another file: relative to that file's folder.
static const char *beside(struct loader *loader, const struct source *source, struct str path)
{
	const char *slash = strrchr(source->name, '/');

	if (str_starts(path, STR("/")) || slash == NULL)
		return str_cstr(loader->scratch, path);
	return str_printf(loader->scratch, "%.*s/%.*s", (int)(slash - source->name), source->name, STR_ARG(path)).p;
}

static bool read_file(struct loader *loader, const struct source *source, const char *path, struct str *content)
{
	struct buf buf = buf_new(loader->scratch, 0);
	char part[4096];
	size_t n = 0;
	// The text names the file, so of tenure.conf itself its name stands once.
	const struct source nameless = { .name = NULL };
	FILE *file = fopen(path, "re");

	if (strcmp(source->name, path) == 0)
		source = &nameless;
	if (file == NULL)
		return fail(loader, source, "can't open \"%s\": %s", printable(loader, str_c(path)), strerror(errno));
	while (buf.n <= FILE_LARGEST && (n = fread(part, 1, sizeof(part), file)) > 0)
		buf_add(&buf, str_n(part, n));
	int error = ferror(file) != 0 ? errno : 0;
	fclose(file);
	if (error != 0)
		return fail(loader, source, "can't read \"%s\": %s", printable(loader, str_c(path)), strerror(error));
	if (buf.n > FILE_LARGEST)
		return fail(loader, source, "\"%s\": got more than %d bytes; expected a small text file",
		            printable(loader, str_c(path)), FILE_LARGEST);
	*content = buf_str(&buf);
	return true;
}

// Replaces a value "@FILE" by the content of that file, less the newline at its end.
static bool resolve(struct loader *loader, const struct source *source, struct str *value)
{
	if (!str_starts(*value, STR("@")))
		return true;
	struct str path = str_part(*value, 1, value->n);
	if (!read_file(loader, source, beside(loader, source, path), value))
		return false;
	if (str_ends(*value, STR("\n")))
		*value = str_part(*value, 0, value->n - 1);
	if (str_ends(*value, STR("\r")))
		*value = str_part(*value, 0, value->n - 1);
	return true;
}

static bool set(struct loader *loader, const struct source *source, const struct section *section, const struct config_row *row,
		struct str value)
{
	const struct setting *setting = row->setting;
	bool named = str_starts(value, STR("@"));

	if (!resolve(loader, source, &value))
		return false;
	if (setting_set(setting, section->values[row->index], loader->config->pool, value))
		return true;
	struct buf expected = buf_new(loader->scratch, 0);
	setting_add_expected(setting, &expected);
	bool secret = named || setting->type == SETTING_SECRET;
	return fail(loader, source, "%s %s: got %s%s%s; expected %.*s", printable_section(loader, section), setting->key,
	            secret ? "" : "\"", secret ? "something else" : printable(loader, value), secret ? "" : "\"",
	            STR_ARG(expected));
}

// The row of a section's key; NULL: there is none. key "": the section's first row.
static const struct config_row *find_row(const struct config *config, struct str section, struct str key)
{
	for (size_t i = 0; i < config->n_rows; i++) {
		const struct setting *setting = config->rows[i].setting;

		if (str_eq_c(section, setting->section) && (key.n == 0 || str_eq_c(key, setting->key)))
			return &config->rows[i];
	}
	return NULL;
}

static bool endpoint_name_ok(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		// The name becomes part of file names and of environment variables, so it may contain only these characters.
		if (!ascii_is_alnum(c) && c != '-' && c != '_')
			return false;
	}
	return name.n > 0 && name.n <= ENDPOINT_NAME_LONGEST;
}

static bool open_endpoint(struct loader *loader, const struct source *source, struct section *section)
{
	struct config *config = loader->config;

	if (!endpoint_name_ok(section->endpoint))
		return fail(loader, source, "[endpoint]: got name \"%s\"; expected 1 to %d of A-Z a-z 0-9 - _",
		            printable(loader, section->endpoint), ENDPOINT_NAME_LONGEST);
	const struct endpoint_config *endpoint = config_endpoint(config, str_cstr(loader->scratch, section->endpoint));
	if (endpoint == NULL)
		endpoint = config_add_endpoint(config, section->endpoint);
	if (endpoint == NULL)
		return fail(loader, source, "got more than %d endpoints; expected fewer", CONFIG_MAX_ENDPOINTS);
	section->values = endpoint->values;
	return true;
}

// The sections that tables name, each once, as "[database], [tenure]".
static struct str known_sections(struct loader *loader)
{
	struct buf names = buf_new(loader->scratch, 0);

	for (size_t i = 0; i < loader->config->n_rows; i++) {
		const struct config_row *row = &loader->config->rows[i];

		if (!row->table->of_endpoint && setting_opens_section(loader->config, i))
			buf_addf(&names, "%s[%s]", names.n > 0 ? ", " : "", row->setting->section);
	}
	return buf_str(&names);
}

// "[tenure]", "[endpoint NAME]"
static bool open_section(struct loader *loader, const struct source *source, struct str line, struct section *section)
{
	if (!str_ends(line, STR("]")))
		return fail(loader, source, "got \"%s\"; expected a section in [ and ]", printable(loader, line));
	struct str words = str_trim(str_part(line, 1, line.n - 1));
	size_t blank = str_find(words, ' ', 0);

	section->name = str_part(words, 0, blank);
	section->endpoint = str_trim(str_part(words, blank, words.n));
	section->values = loader->config->values;
	if (str_eq(section->name, STR("endpoint")))
		return open_endpoint(loader, source, section);
	if (section->endpoint.n == 0 && find_row(loader->config, section->name, STR("")) != NULL)
		return true;
	struct str known = known_sections(loader);
	return fail(loader, source, "got section \"%s\"; expected %.*s or [endpoint NAME]", printable(loader, line),
	            STR_ARG(known));
}

static bool unknown_key(struct loader *loader, const struct source *source, const struct section *section,
		struct str key)
{
	struct buf keys = buf_new(loader->scratch, 0);

	for (size_t i = 0; i < loader->config->n_rows; i++) {
		const struct setting *setting = loader->config->rows[i].setting;

		if (str_eq_c(section->name, setting->section))
			buf_addf(&keys, "%s%s", keys.n > 0 ? ", " : "", setting->key);
	}
	return fail(loader, source, "%s: got key \"%s\"; expected one of %.*s", printable_section(loader, section),
	            printable(loader, key), STR_ARG(keys));
}

static bool load_file(struct loader *loader, const struct source *asked, const char *path);

// The error callback of glob(3): a folder that can't be read is an error; a folder that does not exist has no files.
static int unreadable(const char *path, int error)
{
	UNUSED(path);
	return error != ENOENT;
}

static bool include(struct loader *loader, const struct source *source, struct str pattern)
{
	glob_t found;

	if (source->depth >= INCLUDE_DEEPEST)
		return fail(loader, source, "got includes more than %d deep; expected fewer", INCLUDE_DEEPEST);
	int rc = glob(beside(loader, source, pattern), 0, unreadable, &found);
	// A pattern that matches no file is not an error; a file that is named without a pattern and missing is one.
	bool plain = strpbrk(str_cstr(loader->scratch, pattern), "*?[") == NULL;
	bool good = rc == 0 || (rc == GLOB_NOMATCH && !plain);
	if (!good)
		return fail(loader, source, "include: got \"%s\"; expected files that can be read", printable(loader, pattern));
	for (size_t i = 0; good && rc == 0 && i < found.gl_pathc; i++)
		good = load_file(loader, source, found.gl_pathv[i]);
	if (rc == 0)
		globfree(&found);
	return good;
}

static bool load_line(struct loader *loader, const struct source *source, struct str line, struct section *section)
{
	if (line.n == 0 || line.p[0] == '#' || line.p[0] == ';')
		return true;
	if (line.p[0] == '[')
		return open_section(loader, source, line, section);
	size_t equals = str_find(line, '=', 0);
	if (equals == line.n) // not shown, as it may be a secret
		return fail(loader, source, "got a line without \"=\"; expected key = value");
	struct str key = str_trim(str_part(line, 0, equals));
	struct str value = str_trim(str_part(line, equals + 1, line.n));

	if (str_eq(key, STR("include")) && section->values == NULL)
		return include(loader, source, value);
	if (section->values == NULL || str_eq(key, STR("include")))
		return fail(loader, source, "got key \"%s\"; expected %s", printable(loader, key),
		            section->values == NULL ? "a section first, or include" : "include before the first section");
	const struct config_row *row = key.n > 0 ? find_row(loader->config, section->name, key) : NULL;
	if (row == NULL)
		return unknown_key(loader, source, section, key);
	return set(loader, source, section, row, value);
}

static bool load_file(struct loader *loader, const struct source *asked, const char *path)
{
	struct source source = { .name = path, .depth = asked->depth + 1 };
	struct section section = { .values = NULL };
	struct str rest, line;

	if (!read_file(loader, asked, path, &rest))
		return false;
	if (str_starts(rest, STR("\xef\xbb\xbf"))) // a byte order mark, which some editors write in front of UTF-8
		rest = str_part(rest, 3, rest.n);
	while (str_split(&rest, '\n', &line)) {
		source.line++;
		if (str_ends(line, STR("\r")))
			line = str_part(line, 0, line.n - 1);
		if (str_find(line, '\0', 0) < line.n || !str_utf8_ok(line, NULL)) // not shown, as it may be a secret
			return fail(loader, &source, "got other bytes; expected UTF-8 without NUL");
		if (!load_line(loader, &source, str_trim(line), &section))
			return false;
	}
	return true;
}

// ---- the environment

static void env_name(const struct section *section, const char *key, char name[ENV_NAME_LONGEST])
{
	int n = snprintf(name, ENV_NAME_LONGEST, "TENURE_%.*s%s%.*s_%s", STR_ARG(section->name),
	                 section->endpoint.n > 0 ? "_" : "", STR_ARG(section->endpoint), key);

	assert(n > 0 && n < ENV_NAME_LONGEST);
	UNUSED(n);
	for (char *c = name; *c != '\0'; c++)
		*c = *c == '-' ? '_' : ascii_to_upper(*c);
}

typedef bool env_visit(struct loader *loader, const struct section *section, const struct config_row *row, const char *name,
		const void *arg);

// Calls visit with each setting of each section and the name of its variable, until visit returns false.
static bool each_variable(struct loader *loader, env_visit *visit, const void *arg)
{
	struct config *config = loader->config;

	for (size_t i = 0; i < config->n_rows; i++) {
		const struct config_row *row = &config->rows[i];
		bool endpoint = row->table->of_endpoint;

		for (size_t e = 0; e < (endpoint ? config->n_endpoints : 1); e++) {
			struct section section = { .name = str_c(row->setting->section), .values = config->values };
			char name[ENV_NAME_LONGEST];

			if (endpoint) {
				section.endpoint = str_c(config->endpoints[e].name);
				section.values = config->endpoints[e].values;
			}
			env_name(&section, row->setting->key, name);
			if (!visit(loader, &section, row, name, arg))
				return false;
		}
	}
	return true;
}

static bool take_variable(struct loader *loader, const struct section *section, const struct config_row *row, const char *name,
		const void *arg)
{
	const char *value = getenv(name);
	struct source source = { .name = str_printf(loader->scratch, "environment %s", name).p };

	UNUSED(arg);
	// A variable stands in no configuration file to whose folder "@FILE" could be relative, so it is relative to the working
	// directory.
	return value == NULL || set(loader, &source, section, row, str_c(value));
}

// False, which stops each_variable(), if arg ("NAME=value") sets this setting.
static bool is_other_variable(struct loader *loader, const struct section *section, const struct config_row *row, const char *name,
		const void *arg)
{
	UNUSED(loader);
	UNUSED(section);
	UNUSED(row);
	return !str_starts(str_c(arg), str_c(name)) || ((const char *)arg)[strlen(name)] != '=';
}

// Is its name that of a setting of one of the sections, perhaps misspelt?
static bool names_section(const struct loader *loader, struct str variable)
{
	static const char *const others[] = { // what scripts/quickstart and web servers name so
		"TENURE_PLACEMENT_URL", "TENURE_PLACEMENT_TLS_URL", "TENURE_CERTIFICATE_SECRET",
	};
	struct str name = str_part(variable, 0, str_find(variable, '=', 0));

	for (size_t i = 0; i < COUNT_OF(others); i++) {
		if (str_eq_c(name, others[i]))
			return false;
	}
	for (size_t i = 0; i < loader->config->n_rows; i++) {
		const struct section section = { .name = str_c(loader->config->rows[i].setting->section) };
		char prefix[ENV_NAME_LONGEST];
		env_name(&section, "", prefix);
		if (str_starts(name, str_c(prefix)))
			return true;
	}
	return false;
}

// A misspelt variable is an error: otherwise it would have no effect, and nobody would notice.
static bool refuse_unknown_variables(struct loader *loader)
{
	struct source source = { .name = "environment" };

	for (char **variable = environ; *variable != NULL; variable++) {
		struct str text = str_c(*variable);

		if (names_section(loader, text) && each_variable(loader, is_other_variable, *variable))
			return fail(loader, &source, "got %s; expected TENURE_SECTION_KEY or TENURE_ENDPOINT_NAME_KEY of a "
				"setting and an endpoint that exist", printable(loader, str_part(text, 0, str_find(text, '=', 0))));
	}
	return true;
}

// ---- the whole

// Lets each table check its values together.
static bool check_tables(struct loader *loader, const struct source *source)
{
	const struct config *config = loader->config;

	for (size_t t = 0; t < config->n_tables; t++) {
		const struct config_table *table = config->tables[t];
		const char *wrong = table->check == NULL ? NULL : table->check(config->values[t], loader->scratch);

		if (wrong != NULL)
			return fail(loader, source, "%s", wrong);
	}
	return true;
}

struct config *config_load(const char *path, const struct config_table *const *tables, char **error)
{
	struct loader loader = { .scratch = pool_new(), .config = config_new(tables) };
	struct source source = { .name = path };

	*error = NULL;
	if (loader.scratch == NULL || loader.config == NULL) {
		pool_free(&loader.scratch);
		config_free(&loader.config);
		return NULL;
	}
	bool good = load_file(&loader, &source, path) && each_variable(&loader, take_variable, NULL) &&
	            refuse_unknown_variables(&loader) && check_tables(&loader, &source);
	if (!good) {
		*error = strndup(loader.error.p, loader.error.n);
		config_free(&loader.config);
	}
	pool_free(&loader.scratch);
	return loader.config;
}
