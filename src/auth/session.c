// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/core/authenticator.h"
#include "auth/core/settings.h"
#include "auth/session.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/config/config.h"
#include "base/crypto/seal.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/pool.h"
#include "db/maintenance.h"
#include "sql/sessions.h"

enum {
	ID_BYTES = 12, ID_TEXT = 2 * ID_BYTES,
	SECRET_BYTES = 32,
	SECRET_TEXT = 43,         // of SECRET_BYTES as base64url
	CREDENTIAL_MAX = 16000,   // bytes; the column takes 16384
	USE_INTERVAL_US = 60 * 1000 * 1000, // used_at is written once in so long, not with each request
	USES_IN_IDLE = 10,        // and at least so often within session_idle
};

// What is sealed: a kind and the credential. A user whom the web server authenticated comes with the secret by which it vouched
// for him.
enum { KIND_TOKEN = 'T', KIND_USER = 'U' };

static enum outcome failed(enum db_result result)
{
	return result == DB_LOST || result == DB_RETRY || result == DB_FULL ? OUTCOME_UNAVAILABLE : OUTCOME_INTERNAL;
}

unsigned session_idle_s(const struct session_place *place)
{
	return auth_settings(place->config)->session_idle;
}

// ---- the cookie

// "__Host-" makes browsers refuse the cookie from another host of the domain, or without TLS (RFC 6265bis, section 4.1.3.2).
static struct str cookie_name(const struct session_place *place)
{
	return str_printf(place->pool, "%stenure-%s", place->secure ? "__Host-" : "", place->endpoint->name);
}

static struct str find_cookie(struct str cookies, struct str name)
{
	struct str rest = cookies, item;

	while (rest.n > 0 && str_split(&rest, ';', &item)) {
		struct str pair = str_trim(item);
		size_t equals = str_find(pair, '=', 0);

		if (equals < pair.n && str_eq(str_part(pair, 0, equals), name))
			return str_part(pair, equals + 1, pair.n);
	}
	return STR_NONE;
}

bool session_by_console(const struct request *request)
{
	return str_eq(str_trim(request_header(request, "x-tenure-console")), STR("1"));
}

struct str session_cookie(const struct session_place *place, const struct request *request)
{
	struct str token, cookies = request_header(request, "cookie");

	if (cookies.n == 0 || !session_by_console(request))
		return STR_NONE;
	if (auth_read_token(request, &token) || request->remote_user.n > 0)
		return STR_NONE;
	return find_cookie(cookies, cookie_name(place));
}

struct str session_set_cookie(const struct session_place *place, struct str value)
{
	struct str name = cookie_name(place);

	return str_printf(place->pool, "%.*s=%.*s; Path=/; HttpOnly; SameSite=Strict%s%s", STR_ARG(name), STR_ARG(value),
		place->secure ? "; Secure" : "", value.n == 0 ? "; Max-Age=0" : "");
}

// Reads "id.secret". False: session_begin() can't have made it.
static bool read_value(struct str value, struct str *id, struct str *secret)
{
	uint8_t bytes[ID_BYTES];

	*id = str_part(value, 0, ID_TEXT);
	*secret = str_part(value, ID_TEXT + 1, value.n);
	return value.n == ID_TEXT + 1 + SECRET_TEXT && value.p[ID_TEXT] == '.' && digest_from_hex(*id, bytes, sizeof(bytes));
}

// ---- where a request comes from

bool session_same_origin(const struct request *request, struct str *detail)
{
	struct str site = str_trim(request_header(request, "sec-fetch-site"));

	*detail = STR("the request comes from a page of another origin, and a session counts for the console's own requests only");
	if (site.n > 0) // the browser compares the origins itself, so a proxy that changes Host does no harm
		return str_eq(site, STR("same-origin"));
	return auth_has_own_origin(request);
}

// ---- looking up

// The key that encrypts the credential. It can't be found from SHA-256 of the secret, which the table has.
static bool derive_key(struct str secret, uint8_t key[SEAL_KEY])
{
	struct digest_key *hmac = digest_key_new(secret);
	const struct str label = STR("tenure session credential");

	static_assert((int)SEAL_KEY == (int)DIGEST_SHA256, "HMAC gives the key");
	if (hmac == NULL)
		return false;
	digest_hmac_sha256(hmac, &label, 1, key);
	digest_key_free(&hmac);
	return true;
}

// What is sealed for one session and endpoint can't be opened for another, so a credential that is copied into another row is of
// no use.
static struct str seal_context(const struct session_place *place, struct str id)
{
	return str_printf(place->pool, "%s %.*s", place->endpoint->name, STR_ARG(id));
}

struct query {
	const struct session_place *place;
	struct str id;
	int64_t now_us;
	struct db_rows rows;
	enum db_result result;
};

static enum db_verdict find(void *arg)
{
	struct query *query = arg;
	const struct sql_session_by_id in = { .id = query->id };

	query->result = sql_session_by_id_run(query->place->db, query->place->pool, &in, &query->rows);
	return DB_COMMIT;
}

static enum db_verdict note_use(void *arg)
{
	struct query *query = arg;
	const struct sql_session_use in = { .id = query->id, .now = query->now_us };

	query->result = sql_session_use_run(query->place->db, query->place->pool, &in, NULL);
	return query->result == DB_OK ? DB_COMMIT : DB_ROLLBACK;
}

static bool row_is_good(const struct session_place *place, const struct sql_session_by_id_row *row, struct str secret, int64_t now_us)
{
	uint8_t hash[DIGEST_SHA256];

	digest_sha256(secret, hash);
	return digest_equal(row->hash, str_n((const char *)hash, sizeof(hash))) && str_eq_c(row->endpoint, place->endpoint->name) &&
		row->ends_at > now_us && row->used_at + (int64_t)session_idle_s(place) * 1000000 > now_us;
}

// Adds the credential to the request, in the place where its authenticator looks for it.
static bool add_credential(const struct session_place *place, struct request *request, struct str credential)
{
	struct str text = str_part(credential, 1, credential.n);
	size_t nul = str_find(text, '\0', 0);

	if (credential.n < 2)
		return false;
	switch (credential.p[0]) {
	case KIND_TOKEN:
		return request_add_header(place->pool, request, STR("x-auth-token"), text) == OUTCOME_OK;
	case KIND_USER:
		request->remote_user = str_part(text, 0, nul);
		request->remote_user_secret = str_part(text, nul + 1, text.n);
		return nul < text.n;
	default:
		return false;
	}
}

static bool take_credential(const struct session_place *place, struct request *request, struct str id, struct str secret, struct str sealed)
{
	uint8_t key[SEAL_KEY];
	struct str credential;
	bool good = derive_key(secret, key) && seal_open(place->pool, key, seal_context(place, id), sealed, &credential) &&
		add_credential(place, request, credential);

	digest_wipe(key, sizeof(key));
	return good;
}

// Writes that the session was used, if that is due. If it can't be written now, a later request does it. During maintenance it is
// refused as any other change, which is no reason for a log line.
static void renew(struct query *query, struct session *session)
{
	int64_t interval = (int64_t)session_idle_s(query->place) * 1000000 / USES_IN_IDLE;

	if (query->now_us - session->used_us < (interval < USE_INTERVAL_US ? interval : USE_INTERVAL_US))
		return;
	db_heed_maintenance(query->place->db, true);
	if (db_txn_run(query->place->db, DB_WRITE, NULL, note_use, query) == DB_OK && query->result == DB_OK)
		session->used_us = query->now_us;
	else if (db_maintenance_s(query->place->db) == 0)
		log_warning("a session's use can't be recorded: %s", db_error(query->place->db));
}

enum outcome session_open(const struct session_place *place, struct request *request, struct session *session, struct str *detail)
{
	struct str value = session_cookie(place, request), secret;
	struct query query = { .place = place, .now_us = clock_now_us() };

	*session = (struct session){ .id = STR_NONE };
	if (value.p == NULL)
		return OUTCOME_OK;
	if (!session_same_origin(request, detail))
		return OUTCOME_FORBIDDEN;
	*detail = STR("the session has ended: sign in again");
	if (!read_value(value, &query.id, &secret))
		return OUTCOME_UNAUTHENTICATED;
	struct str wanted = str_trim(request_header(request, "x-tenure-session"));
	if (wanted.n > 0 && !str_eq(wanted, query.id)) {
		*detail = STR("another session has begun in this browser: load the page again, or sign in again");
		return OUTCOME_UNAUTHENTICATED;
	}
	if (db_txn_run(place->db, DB_AUTOCOMMIT, NULL, find, &query) != DB_OK || query.result != DB_OK) {
		*detail = STR("sessions can't be checked at the moment");
		return OUTCOME_UNAVAILABLE;
	}
	const struct sql_session_by_id_row *row = query.rows.n > 0 ? sql_session_by_id_row(&query.rows, 0) : NULL;

	if (row == NULL || !row_is_good(place, row, secret, query.now_us) ||
		!take_credential(place, request, query.id, secret, row->credential))
		return OUTCOME_UNAUTHENTICATED;
	*session = (struct session){ .id = query.id, .created_us = row->created_at, .used_us = row->used_at, .ends_us = row->ends_at };
	renew(&query, session);
	return OUTCOME_OK;
}

// ---- beginning

// The credential that the request came with. p NULL: it is of a kind that needs no session.
static struct str credential_of(const struct session_place *place, const struct request *request)
{
	struct str token;

	if (auth_read_token(request, &token))
		return str_printf(place->pool, "%c%.*s", KIND_TOKEN, STR_ARG(token));
	if (request->remote_user.n == 0)
		return STR_NONE;
	return str_printf(place->pool, "%c%.*s%c%.*s", KIND_USER, STR_ARG(request->remote_user), '\0', STR_ARG(request->remote_user_secret));
}

// Ends the user's oldest sessions, so that there are at most session_count once another one has begun.
static enum outcome make_room(const struct session_place *place, const struct principal *who)
{
	const struct sql_session_count in = { .user = who->user, .tenant = who->tenant };
	uint64_t most = auth_settings(place->config)->session_count;
	struct db_rows rows;
	enum db_result result = sql_session_count_run(place->db, place->pool, &in, &rows);

	if (result != DB_OK)
		return failed(result);
	uint64_t n = sql_session_count_row(&rows, 0)->n;

	if (n < most)
		return OUTCOME_OK;
	const struct sql_session_delete_oldest oldest = { .user = who->user, .tenant = who->tenant, .limit = n + 1 - most };
	result = sql_session_delete_oldest_run(place->db, place->pool, &oldest, NULL);
	return result == DB_OK ? OUTCOME_OK : failed(result);
}

static struct str make_value(struct pool *pool)
{
	uint8_t random[ID_BYTES + SECRET_BYTES];
	struct buf buf = buf_new(pool, ID_TEXT + 1 + SECRET_TEXT);

	digest_random(random, sizeof(random));
	buf_add_hex(&buf, random, ID_BYTES);
	buf_addc(&buf, '.');
	base64_url_add(&buf, random + ID_BYTES, SECRET_BYTES);
	digest_wipe(random, sizeof(random));
	assert(buf.n == ID_TEXT + 1 + SECRET_TEXT);
	return buf_str(&buf);
}

static enum outcome insert(const struct session_place *place, const struct principal *who, const struct session *session, struct str secret,
	struct str credential)
{
	uint8_t hash[DIGEST_SHA256], key[SEAL_KEY];

	digest_sha256(secret, hash);
	struct str sealed = derive_key(secret, key) ? seal_text(place->pool, key, seal_context(place, session->id), credential) : STR_NONE;

	digest_wipe(key, sizeof(key));
	if (sealed.p == NULL)
		return OUTCOME_INTERNAL;
	const struct sql_session_insert in = {
		.id = session->id,
		.hash = str_n((const char *)hash, sizeof(hash)),
		.endpoint = str_c(place->endpoint->name),
		.user = who->user,
		.tenant = who->tenant,
		.credential = sealed,
		.now = session->created_us,
		.ends_at = session->ends_us,
	};
	enum db_result result = sql_session_insert_run(place->db, place->pool, &in, NULL);

	return result == DB_OK ? OUTCOME_CREATED : failed(result);
}

enum outcome session_begin(const struct session_place *place, const struct request *request, const struct principal *who,
	struct session *session, struct str *value, struct str *detail)
{
	struct str credential = credential_of(place, request), secret;
	int64_t now_us = clock_now_us();

	if (credential.p == NULL || credential.n > CREDENTIAL_MAX) {
		*detail = credential.p == NULL ? STR("a session is for a token or a user whom the web server has authenticated; your credential "
			"comes with each request by itself") : STR("the token is too long for a session");
		return OUTCOME_BAD_PARAMETER;
	}
	enum outcome outcome = make_room(place, who);

	if (outcome != OUTCOME_OK)
		return outcome;
	*value = make_value(place->pool);
	*session = (struct session){ .created_us = now_us, .used_us = now_us,
		.ends_us = now_us + (int64_t)auth_settings(place->config)->session_max * 1000000 };
	(void)read_value(*value, &session->id, &secret);
	return insert(place, who, session, secret, credential);
}

// ---- ending

enum outcome session_end(const struct session_place *place, struct str id)
{
	const struct sql_session_delete in = { .id = id };
	enum db_result result = sql_session_delete_run(place->db, place->pool, &in, NULL);

	return result == DB_OK ? OUTCOME_OK : failed(result);
}

enum outcome session_end_all(const struct session_place *place, const struct principal *who)
{
	const struct sql_session_delete_of_user in = { .user = who->user, .tenant = who->tenant };
	enum db_result result = sql_session_delete_of_user_run(place->db, place->pool, &in, NULL);

	return result == DB_OK ? OUTCOME_OK : failed(result);
}
