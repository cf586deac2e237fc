// SPDX-License-Identifier: Apache-2.0
// Authenticator for tokens of OpenStack's Identity service (Keystone). What it learns of a token is shared by all processes of
// the host (keystone_cache.h); what that gives the user here follows from section [keystone] of tenure.conf, at each request.
//
// A project is the tenant whose name is the project's id: bodies and queries of OpenStack's clients carry ids, and a project's
// name can change. The service token (X-Service-Token), which services send beside their user's token, is validated the same way.
#include "base/base.h"

#include "auth/core/authenticator.h"
#include "auth/core/fetch.h"
#include "auth/core/jwt_form.h"
#include "auth/keystone/keystone_ask.h"
#include "auth/keystone/keystone_cache.h"
#include "auth/keystone/keystone_rules.h"
#include "auth/keystone/keystone_settings.h"
#include "auth/core/role_table.h"
#include "auth/core/waiting.h"
#include "base/budget.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/config/config.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/siphash.h"

enum {
	LOOK_MS = 1,                // between two looks at whether another process has its answer
	PLACE_PART = 5,             // a request waits this part of the time-out for a place among those that wait
	TRIAL_US = 700000,          // for what comes of asking again after a failure: less than a second, with what else a request takes
	SECOND_US = 1000000,
	FORK_US = 100000,           // between two processes that ask in the background, on average
	BURST = 10,                 // so many are started at once, after a pause
	PENDING_MAX = 1024,         // questions that wait to be asked in the background
	// An answer is found in the background by the next look, or by the one after it if the look was a little late.
	BACKGROUND_US = 2 * AUTH_POLL_S * SECOND_US,
};

// A question to be asked in the background.
struct pending {
	struct pending *next;
	struct keystone_key key;
	bool allow_expired;
	size_t n;
	char text[]; // the token
};

struct keystone {
	const struct keystone_settings *settings;
	const struct endpoint_config *endpoint;
	struct shared *shared; // NULL: none
	struct keystone_cache *cache;
	struct keystone_asker *asker;
	char *challenge;
	uint64_t purpose;        // what all keys of this configuration have in common
	uint64_t endpoint_key;
	unsigned may_wait_most;  // workers of the endpoint
	bool validated_now; // Keystone was asked about the last token: it was not in the cache
	bool ruled_out;          // the present request's tokens are good, but the access rules don't permit the request
	int64_t deadline_us;     // clock_tick_us: until then the present request waits for Keystone, for whatever reason
	struct pending *pending, **pending_end; // the oldest first
	size_t n_pending;
	int64_t fork_us;         // clock_tick_us from which the next process may be started to ask
};

// ---- asking, by one process for all

static int64_t good_us(const struct keystone *keystone)
{
	return (int64_t)keystone->settings->cache * SECOND_US;
}

static int64_t timeout_us(const struct keystone *keystone)
{
	return (int64_t)keystone->settings->timeout * SECOND_US;
}

// The longest that a question takes, with the one about the service user's own token, and a second for what else its process
// does.
static int64_t longest_us(const struct keystone *keystone)
{
	return timeout_us(keystone) + KEYSTONE_CONTROL_US + SECOND_US;
}

static int64_t sooner(int64_t one_us, int64_t other_us)
{
	return one_us < other_us ? one_us : other_us;
}

static bool is_expired(const struct keystone_token *token)
{
	return clock_now_us() >= token->expires_us;
}

// Looks the token up in the cache. A token that has expired is known to be bad, unless allow_expired, however long ago Keystone
// was asked about it. Never KEYSTONE_STALE. since_us: as for keystone_cache_find().
static enum keystone_known find_since(const struct keystone *keystone, const struct keystone_key *key, bool allow_expired, int64_t since_us,
	struct pool *pool, struct keystone_token *token)
{
	enum keystone_known known = keystone_cache_find(keystone->cache, key, good_us(keystone),
		(int64_t)keystone->settings->bad_cache * SECOND_US, since_us, pool, token);

	if ((known == KEYSTONE_GOOD || known == KEYSTONE_STALE) && !allow_expired && is_expired(token))
		return KEYSTONE_BAD;
	return known == KEYSTONE_STALE ? KEYSTONE_UNKNOWN : known;
}

static enum keystone_known find_cached(const struct keystone *keystone, const struct keystone_key *key, bool allow_expired,
	struct pool *pool, struct keystone_token *token)
{
	return find_since(keystone, key, allow_expired, INT64_MAX, pool, token);
}

// awaited: another process looks for the answer in the cache.
static enum keystone_known ask_keystone(struct keystone *keystone, const struct keystone_key *key, struct str text,
	bool allow_expired, bool awaited, struct pool *pool, struct keystone_token *token)
{
	keystone_breaker_ask(keystone->cache);
	enum keystone_answer answer = keystone_ask(keystone->asker, pool, text, allow_expired, keystone->deadline_us, token);
	bool known = answer == KEYSTONE_VALID || answer == KEYSTONE_INVALID;
	bool good = answer == KEYSTONE_VALID && (allow_expired || !is_expired(token));
	int64_t of_use_us = good_us(keystone) > BACKGROUND_US ? good_us(keystone) : BACKGROUND_US;

	// The answer is kept before it is reported, since try_again() looks for it once the trial is over.
	if (known)
		keystone_cache_keep(keystone->cache, key, good ? token : NULL, of_use_us, awaited);
	if (answer != KEYSTONE_LATE)
		keystone_breaker_report(keystone->cache, answer != KEYSTONE_AWAY);
	return !known ? KEYSTONE_UNKNOWN : good ? KEYSTONE_GOOD : KEYSTONE_BAD;
}

struct question {
	struct keystone *keystone;
	const struct keystone_key *key;
	struct str text;
	bool allow_expired;
	struct pool *pool;
};

static void ask_here(void *arg)
{
	const struct question *question = arg;
	struct keystone_token token;

	keystone_asker_forked(question->keystone->asker);
	question->keystone->deadline_us = clock_tick_us() + timeout_us(question->keystone); // no request waits so long for it
	(void)ask_keystone(question->keystone, question->key, question->text, question->allow_expired, true, question->pool, &token);
	keystone_cache_turn_end(question->keystone->cache, question->key);
}

// Asks in a process of its own, whose answer the cache has at a later look. The caller has the turn, which ends with the answer.
static void ask_apart(struct keystone *keystone, const struct keystone_key *key, struct str text, bool allow_expired,
	struct pool *pool)
{
	struct question question = { .keystone = keystone, .key = key, .text = text, .allow_expired = allow_expired, .pool = pool };

	if (fetch_apart(ask_here, &question))
		return;
	keystone_breaker_report(keystone->cache, false);
	keystone_cache_turn_end(keystone->cache, key);
}

// The first question after a failure. It may take as long as any, or a Keystone that has become slow would count as away for
// ever; but no request waits for it longer than TRIAL_US. Its answer is believed here whatever the settings' times are.
static enum keystone_known try_again(struct keystone *keystone, const struct keystone_key *key, struct str text,
	bool allow_expired, struct pool *pool, struct keystone_token *token)
{
	int64_t began_us = clock_tick_us(), until_us = sooner(began_us + TRIAL_US, keystone->deadline_us);

	ask_apart(keystone, key, text, allow_expired, pool);
	while (keystone_breaker_is_tried(keystone->cache) && clock_tick_us() < until_us)
		clock_pause_ms(LOOK_MS);
	return find_since(keystone, key, allow_expired, began_us, pool, token);
}

// Asks, or waits for the process that does.
static enum keystone_known ask_in_turn(struct keystone *keystone, const struct keystone_key *key, struct str text,
	bool allow_expired, struct pool *pool, struct keystone_token *token)
{
	enum keystone_known known = KEYSTONE_UNKNOWN;

	while (!keystone_cache_turn_take(keystone->cache, key, longest_us(keystone))) {
		if (clock_tick_us() >= keystone->deadline_us || keystone_breaker_is_open(keystone->cache))
			return KEYSTONE_UNKNOWN;
		clock_pause_ms(LOOK_MS);
		known = find_cached(keystone, key, allow_expired, pool, token);
		if (known != KEYSTONE_UNKNOWN)
			return known;
	}
	// Another process may have had the turn since this one looked.
	known = find_cached(keystone, key, allow_expired, pool, token);
	if (known == KEYSTONE_UNKNOWN && clock_tick_us() < keystone->deadline_us) {
		switch (keystone_breaker(keystone->cache, longest_us(keystone))) {
		case KEYSTONE_TRIAL:
			return try_again(keystone, key, text, allow_expired, pool, token);
		case KEYSTONE_CLOSED:
			known = ask_keystone(keystone, key, text, allow_expired, false, pool, token);
			break;
		case KEYSTONE_OPEN:
			break;
		}
	}
	keystone_cache_turn_end(keystone->cache, key);
	return known;
}

static enum keystone_known ask_if_room(struct keystone *keystone, const struct keystone_key *key, struct str text,
	bool allow_expired, struct pool *pool, struct keystone_token *token)
{
	int64_t until_us = sooner(clock_tick_us() + timeout_us(keystone) / PLACE_PART, keystone->deadline_us);

	while (!waiting_begin(keystone->shared, keystone->endpoint_key, keystone->may_wait_most)) {
		if (clock_tick_us() >= until_us || keystone_breaker_is_open(keystone->cache) ||
			keystone_breaker_is_silent(keystone->cache))
			return KEYSTONE_UNKNOWN;
		clock_pause_ms(LOOK_MS);
		enum keystone_known known = find_cached(keystone, key, allow_expired, pool, token);
		if (known != KEYSTONE_UNKNOWN)
			return known;
	}
	enum keystone_known known = ask_in_turn(keystone, key, text, allow_expired, pool, token);
	waiting_end(keystone->shared);
	return known;
}

// May another process be started now? Counts it.
static bool take_fork(struct keystone *keystone)
{
	int64_t now_us = clock_tick_us();

	if (keystone->fork_us > now_us)
		return false;
	if (keystone->fork_us < now_us - (BURST - 1) * FORK_US)
		keystone->fork_us = now_us - (BURST - 1) * FORK_US;
	keystone->fork_us += FORK_US;
	return true;
}

static bool is_pending(const struct keystone *keystone, const struct keystone_key *key)
{
	for (const struct pending *pending = keystone->pending; pending != NULL; pending = pending->next) {
		if (memcmp(&pending->key, key, sizeof(*key)) == 0)
			return true;
	}
	return false;
}

static void add_pending(struct keystone *keystone, const struct keystone_key *key, struct str text, bool allow_expired)
{
	if (keystone->n_pending == PENDING_MAX || is_pending(keystone, key))
		return;
	struct pending *pending = memory_zeroed(1, sizeof(*pending) + text.n);
	pending->key = *key;
	pending->allow_expired = allow_expired;
	pending->n = text.n;
	memcpy(pending->text, text.p, text.n);
	*keystone->pending_end = pending;
	keystone->pending_end = &pending->next;
	keystone->n_pending++;
}

static void drop_pending(struct keystone *keystone)
{
	struct pending *pending = keystone->pending;

	keystone->pending = pending->next;
	if (keystone->pending == NULL)
		keystone->pending_end = &keystone->pending;
	keystone->n_pending--;
	free(pending);
}

// For a process that must not block. The questions are asked in the order in which they came, so that each is asked, however many
// there are. A token about which a process asks already is left out.
static void ask_in_background(struct keystone *keystone, const struct keystone_key *key, struct str text, bool allow_expired,
	struct pool *pool)
{
	if (!keystone_cache_turn_is_mine(keystone->cache, key, longest_us(keystone)))
		add_pending(keystone, key, text, allow_expired);
	for (; keystone->pending != NULL && take_fork(keystone); drop_pending(keystone)) {
		const struct pending *pending = keystone->pending;
		if (keystone_cache_turn_is_mine(keystone->cache, &pending->key, longest_us(keystone)) ||
			!keystone_cache_turn_take(keystone->cache, &pending->key, longest_us(keystone)))
			continue;
		if (keystone_breaker(keystone->cache, longest_us(keystone)) != KEYSTONE_OPEN)
			ask_apart(keystone, &pending->key, str_n(pending->text, pending->n), pending->allow_expired, pool);
		else
			keystone_cache_turn_end(keystone->cache, &pending->key);
	}
}

// The answer to what was asked in the background at an earlier look; and asks again. So each answer is found once at least, even
// where the settings say that none is believed.
static enum keystone_known find_in_background(struct keystone *keystone, const struct keystone_key *key, struct str text, bool allow_expired,
	struct pool *pool, struct keystone_token *token)
{
	enum keystone_known known = find_since(keystone, key, allow_expired, clock_tick_us() - BACKGROUND_US, pool, token);

	if (known == KEYSTONE_BAD || keystone_breaker_is_open(keystone->cache))
		return known;
	keystone->validated_now = true;
	ask_in_background(keystone, key, text, allow_expired, pool);
	return known;
}

// What is known of the token, or what Keystone says now. KEYSTONE_UNKNOWN: it can't be found out at the moment.
static enum keystone_known validate(struct keystone *keystone, const struct identity *identity, struct str text,
	bool allow_expired, struct keystone_token *token)
{
	const struct keystone_key key = keystone_key(keystone->cache, keystone->purpose + allow_expired, text);
	enum keystone_known known = find_cached(keystone, &key, allow_expired, identity->pool, token);

	if (known != KEYSTONE_UNKNOWN)
		return known;
	if (!keystone_ask_can_be_token(text))
		return KEYSTONE_BAD;
	if (!identity->may_wait)
		return find_in_background(keystone, &key, text, allow_expired, identity->pool, token);
	if (keystone_breaker_is_open(keystone->cache))
		return KEYSTONE_UNKNOWN;
	keystone->validated_now = true;
	// A turn must be given back: the request's limits wait meanwhile, and what is read isn't counted as the request's.
	budget_defer();
	budget_pause();
	known = ask_if_room(keystone, &key, text, allow_expired, identity->pool, token);
	budget_resume();
	budget_release();
	return known;
}

// ---- from Keystone's roles to ours

// Is any of the roles, of a token, among those that a setting names?
static bool has_role(struct str roles, const char *wanted)
{
	return role_list_overlaps(roles, str_c(wanted), ROLE_NAMES_OPENSTACK);
}

// Is he an operator, whatever the dialect?
static bool is_operator(const struct keystone *keystone, const struct keystone_token *token)
{
	const struct keystone_settings *settings = keystone->settings;

	if (!has_role(token->roles, "admin"))
		return false;
	if (token->system_scope)
		return strcmp(settings->system_operator, "yes") == 0;
	return token->project.n > 0 && str_find(token->project, ',', 0) == token->project.n &&
		role_list_overlaps(token->project, str_c(settings->operator_projects), ROLE_NAMES_EXACT);
}

static bool is_operator_dialect(const struct keystone *keystone, const char *dialect)
{
	return dialect != NULL && role_list_overlaps(str_c(dialect), str_c(keystone->settings->operator_dialects), ROLE_NAMES_EXACT);
}

// OpenStack's policy of placement takes the role service on any project. That of bare metal takes it on the system, and on the
// project of OpenStack's own services, by name; on others it is for what belongs to the project (there a setting,
// rbac_service_role_elevated_access, says so).
static bool service_is_bound(const struct keystone *keystone, const struct keystone_token *token, const char *dialect)
{
	const struct keystone_settings *settings = keystone->settings;

	if (dialect == NULL || strcmp(dialect, "baremetal") != 0 || settings->service_projects[0] == '\0' || token->system_scope)
		return false;
	return !str_eq(token->project_domain, str_c(settings->project_domain)) ||
		str_find(token->project_name, ',', 0) < token->project_name.n ||
		!role_list_overlaps(token->project_name, str_c(settings->service_projects), ROLE_NAMES_EXACT);
}

// The roles but "service".
static struct str without_service(struct pool *pool, struct str roles)
{
	struct buf rest = buf_new(pool, roles.n + 1);

	for (size_t i = 0, end; i < roles.n; i = end + 1) {
		end = str_find(roles, ',', i);
		struct str name = str_part(roles, i, end);
		if (role_name_is(name, STR("service"), ROLE_NAMES_OPENSTACK))
			continue;
		buf_add(&rest, rest.n > 0 ? STR(",") : STR(""));
		buf_add(&rest, name);
	}
	return buf_str(&rest);
}

// The role of somebody who is not the operator everywhere.
static enum role role_in_dialect(const struct keystone *keystone, const struct keystone_token *token, const struct identity *identity)
{
	const char *wanted = keystone->settings->operator_roles;
	struct str roles = token->roles;
	bool counts = is_operator_dialect(keystone, identity->dialect), bound = service_is_bound(keystone, token, identity->dialect);
	enum role role = token->project.n > 0 ? role_table_highest(str_c(keystone->settings->roles), roles, ROLE_NAMES_OPENSTACK) : ROLE_NONE;

	if (!counts || !has_role(roles, wanted))
		return role;
	if (!bound || has_role(without_service(identity->pool, roles), wanted))
		return ROLE_OPERATOR;
	return token->project.n > 0 && role < ROLE_MEMBER ? ROLE_MEMBER : role;
}

static int64_t end_of(const struct keystone_token *user, bool user_may_have_expired, const struct keystone_token *service)
{
	int64_t end_us = user_may_have_expired ? 0 : user->expires_us;

	return service->expires_us != 0 && (end_us == 0 || service->expires_us < end_us) ? service->expires_us : end_us;
}

static void fill_principal(const struct keystone *keystone, const struct identity *identity, const struct keystone_token *token,
	const struct keystone_token *service)
{
	struct principal *principal = identity->principal;
	bool for_operators = is_operator_dialect(keystone, identity->dialect);

	principal->user = token->user;
	principal->tenant = token->project;
	principal->is_mapped = true;
	principal->has_roles = true;
	principal->roles = token->roles;
	principal->is_lent = token->is_lent;
	principal->system_scope = token->system_scope;
	principal->project = token->project;
	principal->service_roles = service->roles;
	principal->role = is_operator(keystone, token) ? ROLE_OPERATOR : role_in_dialect(keystone, token, identity);
	principal->reads_all = for_operators && token->system_scope && has_role(token->roles, "reader");
	principal->makes_tenant = token->project.n > 0 && strcmp(keystone->settings->create_tenants, "yes") == 0;
	principal->tenant_label = token->project_name;
}

// ---- identify

// An application credential with access rules is good for what one of them names. A request by a service is exempt, as
// keystonemiddleware has it: the service goes on with what its user has begun. That takes a service token with one of the roles
// of service_token_roles: with any other token beside, users would rid themselves of the rules. A watch is looked at when it
// begins.
static bool rules_permit(const struct identity *identity, const struct keystone_token *token)
{
	const struct request *request = identity->request;

	return !token->has_rules || (!identity->may_wait && request->uri.target.n == 0) ||
		keystone_rules_permit(identity->pool, token->rules, identity->dialect != NULL ? str_c(identity->dialect) :
		STR(""), request);
}

static enum outcome fail_unavailable(const struct identity *identity)
{
	*identity->detail = STR("The Keystone service is temporarily unavailable.");
	return OUTCOME_UNAVAILABLE;
}

static enum outcome fail_unauthenticated(const struct identity *identity)
{
	*identity->detail = STR("The request you have made requires authentication.");
	return OUTCOME_UNAUTHENTICATED;
}

static enum outcome identify(void *state, const struct identity *identity, bool *recognised)
{
	struct keystone *keystone = state;
	struct keystone_token token = { .expires_us = 0 }, service = { .expires_us = 0 };
	struct str text, service_text = str_trim(request_header(identity->request, "x-service-token"));
	enum keystone_known known;

	keystone->validated_now = false;
	keystone->ruled_out = false;
	keystone->deadline_us = clock_tick_us() + timeout_us(keystone);
	*recognised = auth_read_token(identity->request, &text);
	if (!*recognised)
		return OUTCOME_OK;
	if (service_text.n > 0) {
		known = validate(keystone, identity, service_text, false, &service);
		if (known != KEYSTONE_GOOD)
			return known == KEYSTONE_BAD ? fail_unauthenticated(identity) : fail_unavailable(identity);
	}
	bool by_service = service_text.n > 0 && has_role(service.roles, keystone->settings->service_roles);
	known = validate(keystone, identity, text, by_service, &token);
	if (known == KEYSTONE_UNKNOWN)
		return fail_unavailable(identity);
	keystone->ruled_out = known == KEYSTONE_GOOD && !by_service && !rules_permit(identity, &token);
	if (known == KEYSTONE_BAD || keystone->ruled_out)
		return fail_unauthenticated(identity);
	fill_principal(keystone, identity, &token, &service);
	identity->principal->expires_us = end_of(&token, by_service, &service);
	return OUTCOME_OK;
}

// Tokens of tenure-manage are "id.secret"; those of Keystone have no dot (Fernet), or are JSON Web Tokens of a kind of their own
// (JWS). So the token of an OpenID Connect provider isn't sent to Keystone, whichever of the two authenticators comes first.
static bool has_form(struct pool *pool, struct str token)
{
	return str_find(token, '.', 0) == token.n || jwt_form_is_keystones(pool, token);
}

static bool has_validated(const void *state)
{
	return ((const struct keystone *)state)->validated_now;
}

static bool refused_a_good_token(const void *state)
{
	return ((const struct keystone *)state)->ruled_out;
}

static const char *challenge_of(const void *state)
{
	return ((const struct keystone *)state)->challenge;
}

// ---- settings

// A number for this Keystone, part of all keys of the shared cache: an entry that was made under another auth_url is never found.
static uint64_t purpose_of(const struct keystone_settings *settings)
{
	static const uint64_t fixed[SIPHASH_KEY] = { 0x6b657973746f6e65, 2 };

	return siphash(fixed, str_c(settings->auth_url)) << 1;
}

static void close_keystone(void *state)
{
	struct keystone *keystone = state;

	if (keystone == NULL)
		return;
	while (keystone->pending != NULL)
		drop_pending(keystone);
	keystone_asker_free(&keystone->asker);
	keystone_cache_free(&keystone->cache);
	free(keystone->challenge);
	free(keystone);
}

static void *open_keystone(const struct auth_setup *setup, char **error)
{
	const struct keystone_settings *settings = keystone_settings(setup->config);
	struct keystone *keystone = memory_zeroed(1, sizeof(*keystone));

	keystone->settings = settings;
	keystone->endpoint = setup->endpoint;
	keystone->shared = setup->shared;
	keystone->pending_end = &keystone->pending;
	keystone->purpose = purpose_of(settings);
	keystone->endpoint_key = waiting_endpoint(setup->endpoint->name);
	keystone->may_wait_most = settings->waiting > 0 ? settings->waiting : setup->processes > 1 ? setup->processes - 1 : 1;
	keystone->cache = keystone_cache_new(setup->shared);
	if (keystone->cache == NULL)
		memory_end(0);
	*error = role_table_check("[keystone] roles", str_c(settings->roles));
	if (*error == NULL)
		keystone->asker = keystone_asker_new(settings, keystone->cache, error);
	if (*error != NULL)
		return keystone;
	keystone->challenge = auth_message("Keystone uri=\"%s\"",
		settings->challenge[0] != '\0' ? settings->challenge : settings->auth_url);
	return keystone;
}

static const char *const headers[] = { "x-auth-token", "authorization", "x-service-token", NULL };

static const struct config_table *const tables[] = { &keystone_settings_table, NULL };

const struct authenticator keystone_authenticator = {
	.challenge_of = challenge_of,
	.tables = tables,
	.headers = headers,
	.open = open_keystone,
	.close = close_keystone,
	.has_form = has_form,
	.identify = identify,
	.has_validated = has_validated,
	.refused_a_good_token = refused_a_good_token,
};
