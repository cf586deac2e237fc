// SPDX-License-Identifier: Apache-2.0
// tenure-manage token create, token list, token revoke.
#include "base/base.h"

#include "auth/core/auth.h"
#include "base/buf.h"
#include "base/clock.h"
#include "manage/commands.h"
#include "manage/core/table.h"
#include "sql/keys.h"

static struct str time_cell(struct pool *pool, int64_t us)
{
	if (us == 0)
		return STR_NONE;
	struct buf text = buf_new(pool, 32);
	clock_add_rfc3339(&text, us);
	return buf_str(&text);
}

// Reads the tenant and role of a new token from the options. EX_OK, or EX_USAGE after a message.
static int read_bearer(struct manage *manage, struct token_info *info)
{
	const char *tenant = manage_option(manage, "--tenant"), *role = manage_option(manage, "--role");
	const char *user = manage_option(manage, "--user");
	bool operator = manage_option(manage, "--operator") != NULL;
	if (operator == (tenant != NULL))
		return manage_fail(EX_USAGE, "say either --operator or --tenant TENANT");
	if (operator) {
		if (role != NULL)
			return manage_fail(EX_USAGE, "--role goes with --tenant: an operator's role is operator");
		info->role = ROLE_OPERATOR;
		info->user = str_c(user != NULL ? user : "operator");
		return EX_OK;
	}
	if (user == NULL || *user == '\0')
		return manage_fail(EX_USAGE, "say who the token stands for: --user USER");
	info->role = ROLE_MEMBER;
	if (role != NULL && (!role_parse(str_c(role), &info->role) || info->role == ROLE_NONE
		|| info->role == ROLE_OPERATOR))
		return manage_fail(EX_USAGE, "\"%s\" is no role of a tenant: reader, member, admin", role);
	info->tenant = str_c(tenant);
	info->user = str_c(user);
	return EX_OK;
}

int command_token_create(struct manage *manage)
{
	struct token_info info = { .tenant = STR(""), .description = str_c(manage_option(manage, "--description")) };
	const char *expires = manage_option(manage, "--expires");
	int64_t lasts = 0;
	struct str token = STR_NONE, detail = STR_NONE;
	int code = read_bearer(manage, &info);
	if (code != EX_OK)
		return code;
	if (expires != NULL && !manage_duration_parse(str_c(expires), &lasts))
		return manage_fail(EX_USAGE, "\"%s\" is no duration: 90, 15m, 12h, 30d or 4w", expires);
	info.created_us = clock_now_us();
	info.expires_us = lasts != 0 ? info.created_us + lasts : 0;
	enum outcome outcome = auth_token_create(manage->db, manage->pool, &info, &token, &detail);
	if (outcome_commits(outcome)) {
		printf("%.*s\n", STR_ARG(token));
		return EX_OK;
	}
	if (detail.n == 0)
		detail = str_c(outcome == OUTCOME_NOT_FOUND ? "there is no such tenant" : outcome_title(outcome));
	return manage_fail(manage_exit_code(outcome), "%.*s", STR_ARG(detail));
}

static const char *state_of(const struct token_info *info, int64_t now)
{
	return info->revoked_us != 0 ? "revoked" : info->expires_us != 0 && info->expires_us <= now ? "expired" : "valid";
}

// Is it of the state that --state names? Without the option any is.
static bool is_wanted(const struct manage *manage, const struct token_info *info, int64_t now)
{
	const char *state = manage_option(manage, "--state");

	return state == NULL || strcmp(state, state_of(info, now)) == 0;
}

static int check_state(const struct manage *manage)
{
	const char *state = manage_option(manage, "--state");

	if (state == NULL || strcmp(state, "valid") == 0 || strcmp(state, "expired") == 0 || strcmp(state, "revoked") == 0)
		return EX_OK;
	return manage_fail(EX_USAGE, "\"%s\" is no state of a token: valid, expired, revoked", state);
}

// For a command that has found no token of the tenant that --tenant names: is the name a mistake? A deleted tenant may have
// tokens, so this is not looked at before. "": the operators. EX_OK, or the exit code after a message.
static int check_tenant(struct manage *manage, const char *tenant)
{
	struct db_rows rows;

	if (tenant == NULL || tenant[0] == '\0')
		return EX_OK;
	const struct sql_key_tenant in = { .name = str_c(tenant) };
	enum db_result result = sql_key_tenant_run(manage->db, manage->pool, &in, &rows);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't read the tenant");
	return rows.n > 0 ? EX_OK : manage_fail(EX_NOINPUT, "there is no tenant \"%s\", and it has no tokens", tenant);
}

int command_token_list(struct manage *manage)
{
	static const struct table_column columns[] = {
		{ "ID", false }, { "TENANT", false }, { "ROLE", false }, { "USER", false }, { "STATE", false },
		{ "CREATED AT", false }, { "EXPIRES AT", false }, { "LAST USED AT", false }, { "DESCRIPTION", false },
	};
	const char *tenant = manage_option(manage, "--tenant");
	bool ids = manage_option(manage, "--ids") != NULL, json = manage_option(manage, "--json") != NULL;
	struct token_info *list = NULL;
	struct table table;
	size_t n = 0;
	if (ids && json)
		return manage_fail(EX_USAGE, "token list takes either --ids or --json");
	int code = check_state(manage);
	if (code != EX_OK)
		return code;
	enum outcome outcome = auth_token_list(manage->db, manage->pool, tenant != NULL ? str_c(tenant) : STR_NONE, &list, &n);
	if (!outcome_commits(outcome))
		return manage_fail(manage_exit_code(outcome), "%s", outcome_title(outcome));
	code = n == 0 ? check_tenant(manage, tenant) : EX_OK;
	if (code != EX_OK)
		return code;
	int64_t now = clock_now_us();
	table_init(&table, manage->pool, columns, COUNT_OF(columns));
	for (size_t i = 0; i < n; i++) {
		if (!is_wanted(manage, &list[i], now))
			continue;
		if (ids)
			printf("%.*s\n", STR_ARG(list[i].id));
		const struct str cells[COUNT_OF(columns)] = {
			list[i].id, list[i].tenant.n != 0 ? list[i].tenant : STR_NONE, str_c(role_name(list[i].role)),
				list[i].user,
			str_c(state_of(&list[i], now)), time_cell(manage->pool, list[i].created_us),
			time_cell(manage->pool, list[i].expires_us), time_cell(manage->pool, list[i].used_us), list[i].description,
		};
		table_add(&table, cells);
	}
	if (!ids)
		table_print(&table, json, stdout);
	return EX_OK;
}

int manage_revoke_listed(struct manage *manage, FILE *ids, const char *name)
{
	unsigned long revoked = 0, unknown = 0;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	enum outcome outcome = OUTCOME_OK;

	while ((length = getline(&line, &room, ids)) >= 0) {
		struct str id = str_n(line, (size_t)length);
		// Spreadsheets and some editors end lines by CR and LF.
		while (id.n > 0 && (id.p[id.n - 1] == '\n' || id.p[id.n - 1] == '\r'))
			id.n--;
		id = str_trim(id);
		if (id.n == 0)
			continue;
		outcome = auth_token_revoke(manage->db, manage->pool, id);
		revoked += outcome_commits(outcome);
		unknown += outcome == OUTCOME_NOT_FOUND;
		if (!outcome_commits(outcome) && outcome != OUTCOME_NOT_FOUND)
			break;
	}
	free(line);
	printf("revoked %lu, not there %lu\n", revoked, unknown);
	if (outcome_commits(outcome) || outcome == OUTCOME_NOT_FOUND)
		return ferror(ids) ? manage_fail(EX_IOERR, "can't read %s", name) : EX_OK;
	return manage_fail(manage_exit_code(outcome), "%s", outcome_title(outcome));
}

int command_token_revoke_all(struct manage *manage)
{
	const char *tenant = manage_option(manage, "--tenant");
	uint64_t n = 0;

	if (manage_option(manage, "--yes") == NULL)
		return manage_fail(EX_USAGE, "with --yes all these users need new tokens; `tenure-manage token list` shows them");
	enum outcome outcome = auth_token_revoke_all(manage->db, manage->pool, tenant != NULL ? str_c(tenant) : STR_NONE, &n);
	if (!outcome_commits(outcome))
		return manage_fail(manage_exit_code(outcome), "%s", outcome_title(outcome));
	int code = n == 0 ? check_tenant(manage, tenant) : EX_OK;
	if (code != EX_OK)
		return code;
	printf("revoked %llu\n", (unsigned long long)n);
	return EX_OK;
}

int command_token_revoke(struct manage *manage)
{
	if (strcmp(manage->arguments[0], "-") == 0)
		return manage_revoke_listed(manage, stdin, "standard input");
	enum outcome outcome = auth_token_revoke(manage->db, manage->pool, str_c(manage->arguments[0]));
	if (outcome_commits(outcome))
		return EX_OK;
	return manage_fail(manage_exit_code(outcome), "%s", outcome == OUTCOME_NOT_FOUND
		? "there is no such token: see `tenure-manage token list`" : outcome_title(outcome));
}
