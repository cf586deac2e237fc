// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/keystone/keystone_ask.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "auth/core/authenticator.h"
#include "auth/core/fetch.h"
#include "auth/keystone/keystone_settings.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/siphash.h"
#include "repr/json/doc.h"
#include "repr/json/member.h"

enum {
	ANSWER_MAX = 256 * 1024,     // bytes; without the catalog an answer has about 600
	DEPTH_MAX = 16,
	NODES_MAX = 20000,
	LOGIN_PAUSE_US = 5000000,    // after a login that was refused, or gave no usable token: repeated ones can lock the user out
	RENEW_US = 60000000,         // the own token is renewed so long before it expires, or after three quarters of its life
	COMPLAIN_US = 1000000,       // between two lines of the log: clients can cause them as often as they like
	LATE_US = 10000,             // an exchange may end so long before its deadline because of it
	LOGINS = 8,                  // tokens of the last logins that are kept
};

struct own_token {
	int64_t renew_us;                   // wall clock
	char text[KEYSTONE_TOKEN_MAX + 1];  // ends with NUL
};

// What an asker and the processes that are forked to ask share, so that what one of them got by a login serves those that come
// after it. Each login writes to another place. If a place is written again while a process reads it, or if a process was killed
// while it wrote, what was read is no valid token: Keystone refuses it, and the next process logs in.
struct own {
	_Atomic unsigned logins;            // how many have written their token
	_Atomic unsigned newest;            // the index of the newest token's place + 1; 0: there is no token
	_Atomic int64_t complained_us;      // clock_tick_us of the last line of the log; 0: none yet
	struct own_token tokens[LOGINS];
};

struct keystone_asker {
	const struct keystone_settings *settings;
	const struct keystone_cache *cache;
	struct fetcher *fetcher;
	struct pool *pool;     // of one exchange
	char *url;             // up to and including "/v3"
	uint64_t login;        // stands for the address and the user, see keystone_login_refuse()
	struct own *own;
	const struct own_token *token; // the service user's, of the question that is being asked; NULL: none
	int64_t deadline_us;   // clock_tick_us: of that question
};

// ---- settings

static char *check_settings(const struct keystone_settings *settings)
{
	bool by_user = settings->username[0] != '\0', by_credential = settings->credential_id[0] != '\0';

	if (settings->auth_url[0] == '\0')
		return auth_message("[keystone] auth_url: auth = keystone needs the address of the Identity service, such as "
			"https://keystone.example.org:5000/v3");
	if (strchr(settings->auth_url, ',') != NULL)
		return auth_message("[keystone] auth_url: one address is expected");
	if (by_user == by_credential)
		return auth_message("[keystone] %s: set either username, password and project_name, or application_credential_id and "
			"application_credential_secret, of a user who may validate tokens (role service or admin, or reader of the system)",
			by_user ? "username and application_credential_id" : "username");
	if (by_user && (settings->password[0] == '\0' || settings->project[0] == '\0'))
		return auth_message("[keystone] username needs password and project_name as well");
	if (by_credential && settings->credential_secret[0] == '\0')
		return auth_message("[keystone] application_credential_id needs application_credential_secret as well");
	return NULL;
}

// A number for who logs in where, not 0. The password is not in it, since the number stands in the shared file.
static uint64_t login_of(const struct keystone_settings *settings)
{
	static const uint64_t fixed[SIPHASH_KEY] = { 0x6b657973746f6e65, 3 };
	char *text = auth_message("%s\n%s\n%s\n%s\n%s\n%s", settings->auth_url, settings->username, settings->user_domain, settings->project,
		settings->project_domain, settings->credential_id);
	uint64_t login = siphash(fixed, str_c(text)) | 1;

	free(text);
	return login;
}

static struct own *make_own(void)
{
	void *memory = mmap(NULL, sizeof(struct own), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		memory_end(sizeof(struct own));
	return memory;
}

struct keystone_asker *keystone_asker_new(const struct keystone_settings *settings, const struct keystone_cache *cache, char **error)
{
	struct str url = str_c(settings->auth_url);
	struct keystone_asker *asker;

	*error = check_settings(settings);
	if (*error != NULL)
		return NULL;
	asker = memory_zeroed(1, sizeof(*asker));
	asker->settings = settings;
	asker->cache = cache;
	asker->login = login_of(settings);
	asker->own = make_own();
	asker->fetcher = fetcher_new(settings->ca_file);
	asker->pool = pool_new();
	if (asker->fetcher == NULL || asker->pool == NULL ||
		asprintf(&asker->url, "%.*s%s", STR_ARG(url), str_ends(url, STR("/v3")) ? "" : "/v3") < 0)
		memory_end(0);
	return asker;
}

void keystone_asker_free(struct keystone_asker **asker)
{
	if (*asker == NULL)
		return;
	digest_wipe((*asker)->own, sizeof(struct own));
	(void)munmap((*asker)->own, sizeof(struct own));
	fetcher_free(&(*asker)->fetcher);
	pool_free(&(*asker)->pool);
	free((*asker)->url);
	free(*asker);
	*asker = NULL;
}

void keystone_asker_forked(struct keystone_asker *asker)
{
	asker->fetcher = fetcher_new(asker->settings->ca_file);
	if (asker->fetcher == NULL)
		memory_end(0);
}

bool keystone_ask_can_be_token(struct str token)
{
	for (size_t i = 0; i < token.n; i++) {
		if (token.p[i] <= ' ' || token.p[i] > '~')
			return false;
	}
	return token.n > 0 && token.n <= KEYSTONE_TOKEN_MAX;
}

// ---- one exchange

// Logs what went wrong, once a second at most.
static void complain(const struct keystone_asker *asker, const char *what, struct str why)
{
	int64_t now = clock_tick_us(), last = atomic_load(&asker->own->complained_us);

	if ((last != 0 && now - last < COMPLAIN_US) || !atomic_compare_exchange_strong(&asker->own->complained_us, &last, now))
		return;
	log_error("Keystone: %s: %.*s", what, STR_HEAD_ARG(why, 300));
}

static bool exchange(struct keystone_asker *asker, struct fetch_request *request, const char *what, struct fetch_answer *answer)
{
	int64_t left_us = asker->deadline_us - clock_tick_us();
	struct str error = STR("the time is over");

	request->timeout_ms = left_us > 1000 ? (unsigned)(left_us / 1000) : 1;
	request->max_body = ANSWER_MAX;
	if (left_us > 0 && fetch(asker->fetcher, asker->pool, request, answer, &error))
		return true;
	complain(asker, what, error);
	return false;
}

static struct str member_text(const struct doc *object, struct str name)
{
	const struct doc *value;

	return doc_get(object, name, &value) ? doc_string(value) : STR("");
}

// Two digits at text[at], and so on; -1: something else.
static int digits(struct str text, size_t at, size_t n)
{
	uint64_t value;

	return str_to_u64(str_part(text, at, at + n), &value) && at + n <= text.n ? (int)value : -1;
}

// "2026-11-22T10:22:26.000000Z"; the fraction may be missing. False: it is no such time.
static bool parse_time(struct str text, int64_t *us)
{
	struct tm tm = { .tm_year = digits(text, 0, 4) - 1900, .tm_mon = digits(text, 5, 2) - 1, .tm_mday = digits(text, 8, 2),
		.tm_hour = digits(text, 11, 2), .tm_min = digits(text, 14, 2), .tm_sec = digits(text, 17, 2) };

	if (text.n < 20 || text.p[4] != '-' || text.p[7] != '-' || text.p[10] != 'T' || text.p[13] != ':' || text.p[16] != ':' ||
		text.p[text.n - 1] != 'Z' || (text.n > 20 && text.p[19] != '.'))
		return false;
	if (tm.tm_year < 70 || tm.tm_mon < 0 || tm.tm_mon > 11 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour < 0 ||
		tm.tm_hour > 23 || tm.tm_min < 0 || tm.tm_min > 59 || tm.tm_sec < 0 || tm.tm_sec > 60)
		return false;
	*us = (int64_t)timegm(&tm) * 1000000;
	return true;
}

// The member "token" of a JSON answer; NULL: it isn't such an answer, which is logged.
static const struct doc *read_token(struct keystone_asker *asker, const struct fetch_answer *answer, const char *what)
{
	struct doc *doc = NULL;
	struct str error = STR("the answer has no object \"token\"");

	if (!doc_parse_json(asker->pool, answer->body, (struct doc_limits){ DEPTH_MAX, NODES_MAX }, &doc, &error)) {
		complain(asker, what, error);
		return NULL;
	}
	const struct doc *token = doc_member(doc, "token");
	if (token == NULL || doc_kind(token) != DOC_OBJECT) {
		complain(asker, what, error);
		return NULL;
	}
	return token;
}

// ---- the service user's own token

// Takes the newest token. False: there is none, or it is about to expire.
static bool take_token(struct keystone_asker *asker)
{
	unsigned newest = atomic_load(&asker->own->newest);

	asker->token = newest != 0 ? &asker->own->tokens[newest - 1] : NULL;
	return asker->token != NULL && clock_now_us() < asker->token->renew_us;
}

static void keep_token(struct keystone_asker *asker, struct str text, int64_t renew_us)
{
	unsigned place = atomic_fetch_add(&asker->own->logins, 1) % LOGINS;
	struct own_token *token = &asker->own->tokens[place];

	assert(text.n <= KEYSTONE_TOKEN_MAX);
	memcpy(token->text, text.p, text.n);
	memset(token->text + text.n, 0, sizeof(token->text) - text.n);
	token->renew_us = renew_us;
	atomic_store(&asker->own->newest, place + 1);
	asker->token = token;
}

// No process uses this question's token again, unless another login has followed.
static void drop_token(struct keystone_asker *asker)
{
	unsigned mine = (unsigned)(asker->token - asker->own->tokens) + 1;

	(void)atomic_compare_exchange_strong(&asker->own->newest, &mine, 0);
	asker->token = NULL;
}

static void add_member(struct buf *json, const char *name, const char *value)
{
	buf_addf(json, "\"%s\":", name);
	json_add_string(json, str_c(value));
}

static struct str login_body(const struct keystone_asker *asker)
{
	const struct keystone_settings *settings = asker->settings;
	struct buf json = buf_new(asker->pool, 512);

	BUF_LIT(&json, "{\"auth\":{\"identity\":{\"methods\":[");
	if (settings->credential_id[0] != '\0') {
		BUF_LIT(&json, "\"application_credential\"],\"application_credential\":{");
		add_member(&json, "id", settings->credential_id);
		buf_addc(&json, ',');
		add_member(&json, "secret", settings->credential_secret);
		BUF_LIT(&json, "}}}}");
	} else {
		BUF_LIT(&json, "\"password\"],\"password\":{\"user\":{");
		add_member(&json, "name", settings->username);
		buf_addc(&json, ',');
		add_member(&json, "password", settings->password);
		BUF_LIT(&json, ",\"domain\":{");
		add_member(&json, "name", settings->user_domain);
		BUF_LIT(&json, "}}}},\"scope\":{\"project\":{");
		add_member(&json, "name", settings->project);
		BUF_LIT(&json, ",\"domain\":{");
		add_member(&json, "name", settings->project_domain);
		BUF_LIT(&json, "}}}}}");
	}
	buf_addc(&json, '\0');
	return str_part(buf_str(&json), 0, json.n - 1);
}

// Takes the token of a login that succeeded.
static enum keystone_answer take_login(struct keystone_asker *asker, const struct fetch_answer *answer)
{
	const struct doc *token = read_token(asker, answer, "login");
	int64_t now = clock_now_us(), expires;

	if (token == NULL)
		return KEYSTONE_AWAY;
	if (!parse_time(member_text(token, STR("expires_at")), &expires) || !keystone_ask_can_be_token(answer->subject_token)) {
		complain(asker, "login", STR("the answer lacks X-Subject-Token, or expires_at is no time"));
		return KEYSTONE_AWAY;
	}
	// Only a clock explains that. Without a pause each question would bring a login, and each user's token would pass for
	// expired.
	if (expires <= now) {
		complain(asker, "login", str_printf(asker->pool, "the new token expired %lld s ago: is this host's clock ahead of Keystone's?",
			(long long)(now - expires) / 1000000));
		keystone_login_refuse(asker->cache, asker->login);
		return KEYSTONE_REFUSED;
	}
	int64_t early = (expires - now) / 4 < RENEW_US ? (expires - now) / 4 : RENEW_US;
	keep_token(asker, answer->subject_token, expires - early);
	return KEYSTONE_VALID;
}

static enum keystone_answer login(struct keystone_asker *asker)
{
	struct fetch_request request = { .url = str_printf(asker->pool, "%s/auth/tokens?nocatalog", asker->url).p,
		.body = login_body(asker).p };
	struct fetch_answer answer;

	if (keystone_login_is_refused(asker->cache, asker->login, LOGIN_PAUSE_US))
		return KEYSTONE_REFUSED;
	if (!exchange(asker, &request, "login", &answer))
		return KEYSTONE_AWAY;
	if (answer.status == 201)
		return take_login(asker, &answer);
	complain(asker, "login of the service user", str_printf(asker->pool, "status %ld: %.*s", answer.status, STR_ARG(answer.body)));
	if (answer.status != 401 && answer.status != 403)
		return KEYSTONE_AWAY;
	keystone_login_refuse(asker->cache, asker->login);
	return KEYSTONE_REFUSED;
}

// ---- what it says of a token

static void add_line(struct buf *lines, struct str value)
{
	buf_add(lines, value);
	buf_addc(lines, '\n');
}

// False: what it says can't be.
static bool read_roles(struct pool *pool, const struct doc *token, struct keystone_token *result)
{
	const struct doc *roles = doc_member(token, "roles");
	struct buf names = buf_new(pool, 64);

	for (size_t i = 0; i < doc_elements(roles); i++) {
		struct str name = member_text(doc_at(roles, i), STR("name"));
		if (name.n == 0)
			return false;
		if (str_find(name, ',', 0) < name.n)
			continue; // would be taken for two
		if (names.n > 0)
			buf_addc(&names, ',');
		buf_add(&names, name);
	}
	result->roles = buf_str(&names);
	return true;
}

static bool read_rules(struct pool *pool, const struct doc *token, struct keystone_token *result)
{
	const struct doc *rules = doc_member(doc_member(token, "application_credential"), "access_rules");
	struct buf lines = buf_new(pool, 64);

	result->has_rules = rules != NULL;
	for (size_t i = 0; i < doc_elements(rules); i++) {
		const struct doc *rule = doc_at(rules, i);
		const struct str parts[] = { member_text(rule, STR("service")), member_text(rule, STR("method")), member_text(rule, STR("path")) };
		for (size_t j = 0; j < COUNT_OF(parts); j++) {
			if (parts[j].n == 0 || str_find(parts[j], '\n', 0) < parts[j].n)
				return false;
			add_line(&lines, parts[j]);
		}
	}
	result->rules = buf_str(&lines);
	return rules == NULL || doc_kind(rules) == DOC_ARRAY;
}

// An application credential is restricted unless Keystone says otherwise.
static bool is_lent(const struct doc *token)
{
	const struct doc *credential, *restricted, *other;

	if (doc_get(token, STR("OS-TRUST:trust"), &other) || doc_get(token, STR("OS-OAUTH1"), &other))
		return true;
	return doc_get(token, STR("application_credential"), &credential) && (!doc_get(credential, STR("restricted"), &restricted) ||
		doc_kind(restricted) != DOC_BOOL || doc_bool(restricted));
}

static bool is_id(struct str text)
{
	return text.n > 0 && auth_is_name(text);
}

static bool read_facts(struct pool *pool, const struct doc *token, struct keystone_token *result)
{
	const struct doc *user = doc_member(token, "user"), *project = doc_member(token, "project");
	const struct doc *scope = doc_member(token, "system"), *all = doc_member(scope, "all");

	*result = (struct keystone_token){
		.user = str_dup(pool, member_text(user, STR("id"))),
		.user_name = str_dup(pool, member_text(user, STR("name"))),
		.project = str_dup(pool, member_text(project, STR("id"))),
		.project_name = str_dup(pool, member_text(project, STR("name"))),
		.project_domain = str_dup(pool, member_text(doc_member(project, "domain"), STR("name"))),
		.system_scope = all != NULL && doc_kind(all) == DOC_BOOL && doc_bool(all),
		.is_lent = is_lent(token),
	};
	if (!is_id(result->user) || !auth_is_name(result->user_name) || !auth_is_name(result->project_name) ||
		!auth_is_name(result->project_domain))
		return false;
	if (project != NULL && (!is_id(result->project) || result->system_scope))
		return false;
	return parse_time(member_text(token, STR("expires_at")), &result->expires_us) && read_roles(pool, token, result) &&
		read_rules(pool, token, result);
}

static enum keystone_answer read_answer(struct keystone_asker *asker, struct pool *pool, const struct fetch_answer *answer,
	struct keystone_token *result)
{
	const struct doc *token;

	switch (answer->status) {
	case 200:
		token = read_token(asker, answer, "validation");
		if (token == NULL)
			return KEYSTONE_AWAY;
		if (read_facts(pool, token, result))
			return KEYSTONE_VALID;
		complain(asker, "validation", STR("user, project, roles or expires_at of the answer are missing or can't be"));
		return KEYSTONE_AWAY;
	case 404:
		return KEYSTONE_INVALID;
	case 400:
	case 413:
	case 414:
	case 431:
		return KEYSTONE_INVALID; // unless judge_refusal() finds otherwise
	case 401:
		complain(asker, "validation", STR("the service user's own token is refused"));
		return KEYSTONE_REFUSED;
	case 403:
		complain(asker, "validation", STR("the service user may not validate tokens: give it the role service or admin on a project"));
		return KEYSTONE_REFUSED;
	default:
		complain(asker, "validation", str_printf(asker->pool, "status %ld", answer->status));
		return KEYSTONE_AWAY;
	}
}

// Asks about the token under the service user's own token, which must be there.
static bool send_question(struct keystone_asker *asker, struct str token, bool allow_expired, struct fetch_answer *answer)
{
	assert(asker->token != NULL);
	struct fetch_request request = {
		.url = str_printf(asker->pool, "%s/auth/tokens?nocatalog%s", asker->url, allow_expired ? "&allow_expired=1" : "").p,
		.headers = { str_printf(asker->pool, "X-Auth-Token: %s", asker->token->text).p,
			str_printf(asker->pool, "X-Subject-Token: %.*s", STR_ARG(token)).p, "OpenStack-Identity-Access-Rules: 1.0" },
	};
	return exchange(asker, &request, "validation", answer);
}

// Does Keystone answer a question that no client has chosen: about the service user's own token? A client's token can make
// Keystone close the connection, fail, hang, or answer more than is read. If that made Keystone count as away, one client could
// keep out all others. That it refuses the own token is an answer, too; the next question brings a login then.
static bool answers_others(struct keystone_asker *asker)
{
	int64_t least_us = clock_tick_us() + KEYSTONE_CONTROL_US;
	struct fetch_answer answer;
	struct keystone_token own;

	// The client's question may have used up all of the time.
	if (asker->deadline_us < least_us)
		asker->deadline_us = least_us;
	if (!send_question(asker, str_c(asker->token->text), false, &answer))
		return false;
	enum keystone_answer came = read_answer(asker, asker->pool, &answer, &own);
	if (answer.status == 401)
		drop_token(asker);
	return came == KEYSTONE_VALID || came == KEYSTONE_REFUSED;
}

// Keystone, or the web server before it, refused the request itself (400, 413, 414, 431): because of this token, mostly for its
// length; or because it refuses every request, since TLS was switched on at that port, for example.
static enum keystone_answer judge_refusal(struct keystone_asker *asker, long status)
{
	bool only_this = answers_others(asker);

	complain(asker, "validation", str_printf(asker->pool, "status %ld: %s", status, only_this ? "the token is refused" :
		"the request is refused, whatever the token"));
	return only_this ? KEYSTONE_INVALID : KEYSTONE_AWAY;
}

// Would Keystone perhaps have answered a question that began then, had the question had all of the time-out, or nearly so?
static bool was_cut_short(const struct keystone_asker *asker, int64_t began_us, int64_t deadline_us)
{
	int64_t timeout_us = (int64_t)asker->settings->timeout * 1000000;

	return deadline_us - began_us < timeout_us / 10 * 9 && clock_tick_us() >= deadline_us - LATE_US;
}

enum keystone_answer keystone_ask(struct keystone_asker *asker, struct pool *pool, struct str token, bool allow_expired,
	int64_t deadline_us, struct keystone_token *result)
{
	struct fetch_answer answer = { .status = 0 };
	enum keystone_answer came = KEYSTONE_VALID;
	int64_t began_us = clock_tick_us();
	bool sent = false;

	assert(keystone_ask_can_be_token(token));
	asker->deadline_us = deadline_us;
	pool_clear(asker->pool);
	// The second time with a new token: Keystone may have revoked the first one, or forgotten its keys.
	for (int i = 0; i < 2; i++) {
		bool was_new = !take_token(asker);
		if (was_new)
			came = login(asker);
		sent = came == KEYSTONE_VALID;
		if (sent && !send_question(asker, token, allow_expired, &answer))
			came = KEYSTONE_AWAY;
		if (came != KEYSTONE_VALID || answer.status != 401 || was_new)
			break;
		drop_token(asker);
	}
	if (came == KEYSTONE_VALID)
		came = read_answer(asker, pool, &answer, result);
	// A question that was cut short says nothing of Keystone, so nothing is asked for its sake.
	if (came == KEYSTONE_AWAY && sent && !was_cut_short(asker, began_us, deadline_us) && answers_others(asker))
		came = KEYSTONE_UNCLEAR;
	else if (came == KEYSTONE_INVALID && answer.status != 404)
		came = judge_refusal(asker, answer.status);
	if (came == KEYSTONE_AWAY && was_cut_short(asker, began_us, deadline_us))
		came = KEYSTONE_LATE;
	pool_clear(asker->pool);
	return came;
}
