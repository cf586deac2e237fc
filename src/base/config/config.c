// SPDX-License-Identifier: Apache-2.0
// The values of all tables of settings: made with their defaults, found by their table, printed.
#include "base/base.h"

#include "base/config/config.h"
#include "base/config/setting.h"
#include "base/pool.h"

static void list_rows(struct config *config)
{
	for (size_t t = 0; t < config->n_tables; t++)
		config->n_rows += config->tables[t]->n;
	config->rows = pool_calloc(config->pool, config->n_rows, sizeof(*config->rows));
	size_t n = 0;
	for (size_t t = 0; t < config->n_tables; t++) {
		const struct config_table *table = config->tables[t];

		for (size_t i = 0; i < table->n; i++) {
			assert((strcmp(table->settings[i].section, "endpoint") == 0) == table->of_endpoint);
			config->rows[n++] = (struct config_row){ .setting = &table->settings[i], .table = table, .index = t };
		}
	}
}

// The values of all tables that are, or are not, of an endpoint, at their defaults.
static void **new_values(struct config *config, bool of_endpoint, struct str endpoint)
{
	struct pool *pool = config->pool;
	void **values = pool_calloc(pool, config->n_tables, sizeof(*values));

	for (size_t i = 0; i < config->n_rows; i++) {
		const struct config_row *row = &config->rows[i];
		void **value = &values[row->index];

		if (row->table->of_endpoint != of_endpoint)
			continue;
		if (*value == NULL)
			*value = pool_calloc(pool, 1, row->table->size);
		bool good = setting_set(row->setting, *value, pool, setting_default(row->setting, pool, endpoint));
		assert(good);
		UNUSED(good);
	}
	return values;
}

struct config *config_new(const struct config_table *const *tables)
{
	struct pool *pool = pool_new();

	if (pool == NULL)
		return NULL;
	struct config *config = POOL_NEW(pool, struct config);
	config->pool = pool;
	config->tables = tables;
	while (tables[config->n_tables] != NULL)
		config->n_tables++;
	list_rows(config);
	config->values = new_values(config, false, STR(""));
	return config;
}

void config_free(struct config **config)
{
	if (*config == NULL)
		return;
	struct pool *pool = (*config)->pool;
	*config = NULL;
	pool_free(&pool);
}

const struct endpoint_config *config_add_endpoint(struct config *config, struct str name)
{
	if (config->n_endpoints == CONFIG_MAX_ENDPOINTS)
		return NULL;
	struct endpoint_config *endpoint = &config->endpoints[config->n_endpoints++];
	*endpoint = (struct endpoint_config){
		.name = str_cstr(config->pool, name), .config = config, .values = new_values(config, true, name)
	};
	return endpoint;
}

// There are some dozen tables, so a search is as good as an index.
static void *find_values(const struct config *config, void *const *values, const struct config_table *table)
{
	size_t t = 0;

	while (config->tables[t] != table) {
		t++;
		assert(t < config->n_tables); // src/settings/settings.c doesn't list the table
	}
	assert(values[t] != NULL);
	return values[t];
}

void *config_values(const struct config *config, const struct config_table *table)
{
	assert(!table->of_endpoint);
	return find_values(config, config->values, table);
}

void *config_endpoint_values(const struct endpoint_config *endpoint, const struct config_table *table)
{
	assert(table->of_endpoint);
	return find_values(endpoint->config, endpoint->values, table);
}

const struct endpoint_config *config_endpoint(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->n_endpoints; i++) {
		if (strcmp(config->endpoints[i].name, name) == 0)
			return &config->endpoints[i];
	}
	return NULL;
}

// ---- printing

static void print_setting(const struct setting *setting, const void *base, FILE *out)
{
	fprintf(out, "# %s Default: %s\n%s =", setting->help, setting->standard[0] != '\0' ? setting->standard : "none",
	        setting->key);
	setting_print(setting, base, out);
	fputc('\n', out);
}

bool setting_opens_section(const struct config *config, size_t row)
{
	assert(row < config->n_rows);
	for (size_t i = 0; i < row; i++) {
		if (strcmp(config->rows[i].setting->section, config->rows[row].setting->section) == 0)
			return false;
	}
	return true;
}

// Several tables can have settings of one section.
static void print_section(const struct config *config, const char *section, void *const *values, FILE *out)
{
	for (size_t i = 0; i < config->n_rows; i++) {
		if (strcmp(config->rows[i].setting->section, section) == 0)
			print_setting(config->rows[i].setting, values[config->rows[i].index], out);
	}
}

void config_print(const struct config *config, FILE *out)
{
	const char *before = "";

	for (size_t i = 0; i < config->n_rows; i++) {
		const struct config_row *row = &config->rows[i];

		if (row->table->of_endpoint || !setting_opens_section(config, i))
			continue;
		fprintf(out, "%s[%s]\n", before, row->setting->section);
		print_section(config, row->setting->section, config->values, out);
		before = "\n";
	}
	for (size_t i = 0; i < config->n_endpoints; i++) {
		fprintf(out, "%s[endpoint %s]\n", before, config->endpoints[i].name);
		print_section(config, "endpoint", config->endpoints[i].values, out);
		before = "\n";
	}
}
