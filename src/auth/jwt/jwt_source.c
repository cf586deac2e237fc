// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "auth/jwt/jwt_source.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "auth/core/authenticator.h"
#include "auth/core/fetch.h"
#include "auth/jwt/jwt_settings.h"
#include "auth/core/waiting.h"
#include "base/budget.h"
#include "base/clock.h"
#include "base/config/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/shared.h"
#include "base/siphash.h"
#include "repr/json/doc.h"

enum {
	SECOND_US = 1000000,
	LOOK_MS = 1,                // between two looks, while this process waits for another one to fetch
	PAUSE_US = SECOND_US,       // of the breaker, at first
	PAUSE_MOST_US = 60 * SECOND_US,
	ISSUERS = 8,                // places in the shared memory: more issuers than these are not shared
	WORDS = JWT_KEYS_BYTES / 8,
	DISCOVERY_MAX = 64 * 1024,  // bytes of a discovery document
	DEPTH_MAX = 16,
	NODES_MAX = 10000,
};

// The keys of one issuer, as all processes of a host share them. The writer makes the sequence number odd before it writes the
// text, and even afterwards; and it writes a hash of the text. So a reader never takes a text that a killed process left half
// written.
struct published {
	_Atomic uint64_t issuer;    // hash of where the keys come from; 0: free
	_Atomic int64_t fetch_began_tick; // clock_tick_us when the last fetch began; 0: none did
	_Atomic int64_t done_tick;  // when the last one ended
	_Atomic int64_t pause_us;   // the last fetch failed, and no process fetches again for this long; 0: it succeeded
	_Atomic uint64_t sequence;
	_Atomic int64_t fetched_tick; // when the published text was fetched
	_Atomic uint64_t bytes, check;
	_Atomic uint64_t words[WORDS];
};
static_assert(sizeof(struct published) == 8 * 8 + JWT_KEYS_BYTES, "no padding");

struct jwt_source {
	const struct jwt_settings *settings;
	struct shared *shared;      // NULL: none
	struct published *own;      // where shared is NULL, or has no place left
	uint64_t issuer;
	uint64_t endpoint_key;
	unsigned may_wait_most;
	bool from_file;
	struct jwt_keys *keys;      // NULL: none yet
	bool changed;               // since the last jwt_source_look()
	int64_t fetched_tick;
	uint64_t check;             // hash of the text that they were read from
	const struct published *seen_at;
	uint64_t seen;              // the sequence number of the text that was looked at last
	char *text;                 // a copy of what is published, while it is read
};

// ---- settings

static char *read_keys_file(struct jwt_source *source, const char *path)
{
	FILE *file = fopen(path, "re");
	char *error = NULL, *message;

	if (file == NULL)
		return auth_message("[jwt] keys_file: can't open \"%s\": %s", path, strerror(errno));
	size_t n = fread(source->text, 1, JWT_KEYS_BYTES, file);
	bool whole = n < JWT_KEYS_BYTES || fgetc(file) == EOF;
	fclose(file);
	if (!whole)
		return auth_message("[jwt] keys_file: \"%s\" has more than %d bytes", path, JWT_KEYS_BYTES);
	source->keys = jwt_keys_read(str_n(source->text, n), &error);
	if (source->keys != NULL)
		return NULL;
	message = auth_message("[jwt] keys_file: \"%s\": %s", path, error);
	free(error);
	return message;
}

// A hash of the settings that say where the keys come from, so that keys which were fetched by other settings are never used.
static uint64_t issuer_of(const struct jwt_settings *settings)
{
	static const uint64_t fixed[SIPHASH_KEY] = { 0x6a77742073657420, 1 };
	char *text = auth_message("%s %s", settings->issuer, settings->jwks_url);
	uint64_t hash = siphash(fixed, str_c(text)) | 1;

	free(text);
	return hash;
}

static struct published *make_own(void)
{
	void *memory = mmap(NULL, sizeof(struct published), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		memory_end(sizeof(struct published));
	return memory;
}

// Can a discovery document be fetched below the issuer?
static bool is_address(const char *issuer)
{
	return str_starts(str_c(issuer), STR("https://")) || str_starts(str_c(issuer), STR("http://"));
}

struct jwt_source *jwt_source_new(const struct auth_setup *setup, char **error)
{
	const struct jwt_settings *settings = jwt_settings(setup->config);
	struct jwt_source *source = memory_zeroed(1, sizeof(*source));

	source->text = memory_zeroed(1, JWT_KEYS_BYTES);
	source->settings = settings;
	source->shared = setup->shared;
	source->issuer = issuer_of(settings);
	source->endpoint_key = waiting_endpoint(setup->endpoint->name);
	source->may_wait_most = setup->processes > 1 ? setup->processes - 1 : 1;
	source->from_file = settings->keys_file[0] != '\0';
	*error = NULL;
	if (source->from_file && settings->jwks_url[0] != '\0')
		*error = auth_message("[jwt] keys_file and jwks_url: set one of them");
	else if (strchr(settings->jwks_url, ',') != NULL)
		*error = auth_message("[jwt] jwks_url: one address is expected");
	else if (source->from_file)
		*error = read_keys_file(source, settings->keys_file);
	else if (settings->jwks_url[0] == '\0' && !is_address(settings->issuer))
		*error = auth_message("[jwt] keys_file or jwks_url: set one of them, since the issuer \"%s\" is no address that has a discovery "
			"document", settings->issuer);
	else if (setup->shared == NULL)
		source->own = make_own();
	if (*error != NULL)
		jwt_source_free(&source);
	return source;
}

void jwt_source_free(struct jwt_source **source)
{
	if (*source == NULL)
		return;
	jwt_keys_free(&(*source)->keys);
	if ((*source)->own != NULL)
		(void)munmap((*source)->own, sizeof(struct published));
	free((*source)->text);
	free(*source);
	*source = NULL;
}

// ---- what is published

static struct published *place_of(struct jwt_source *source)
{
	if (source->own != NULL)
		return source->own;
	struct published *places = shared_area(source->shared, SHARED_JWT, ISSUERS * sizeof(*places));
	for (size_t i = 0; i < ISSUERS; i++) {
		uint64_t issuer = atomic_load_explicit(&places[i].issuer, memory_order_acquire);
		if (issuer == 0 && atomic_compare_exchange_strong(&places[i].issuer, &issuer, source->issuer))
			return &places[i];
		if (issuer == source->issuer)
			return &places[i];
	}
	source->own = make_own();
	return source->own;
}

static uint64_t check_of(const struct jwt_source *source, struct str text)
{
	const uint64_t key[SIPHASH_KEY] = { source->issuer, text.n };

	return siphash(key, text);
}

// Publishes a text. The process that fetches calls it. A second process fetches at the same time only if the first one has
// exceeded its time; if both write at once, the hash doesn't match what they leave, and readers ignore it.
static void publish(struct jwt_source *source, struct str text)
{
	struct published *place = place_of(source);
	uint64_t sequence = atomic_load_explicit(&place->sequence, memory_order_relaxed), word;

	assert(text.n <= JWT_KEYS_BYTES);
	atomic_store_explicit(&place->sequence, sequence | 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&place->bytes, text.n, memory_order_relaxed);
	atomic_store_explicit(&place->check, check_of(source, text), memory_order_relaxed);
	atomic_store_explicit(&place->fetched_tick, clock_tick_us(), memory_order_relaxed);
	for (size_t i = 0; i * 8 < text.n; i++) {
		word = 0;
		memcpy(&word, text.p + i * 8, text.n - i * 8 < 8 ? text.n - i * 8 : 8);
		atomic_store_explicit(&place->words[i], word, memory_order_relaxed);
	}
	atomic_store_explicit(&place->sequence, (sequence | 1) + 1, memory_order_release);
}

// Copies the text that is published. False: there is none, or it is being written.
static bool copy_text(struct jwt_source *source, const struct published *place, uint64_t sequence, struct str *text, int64_t *fetched_tick)
{
	size_t n = atomic_load_explicit(&place->bytes, memory_order_relaxed);
	uint64_t check = atomic_load_explicit(&place->check, memory_order_relaxed), word;

	if (n == 0 || n > JWT_KEYS_BYTES)
		return false;
	*fetched_tick = atomic_load_explicit(&place->fetched_tick, memory_order_relaxed);
	for (size_t i = 0; i * 8 < n; i++) {
		word = atomic_load_explicit(&place->words[i], memory_order_relaxed);
		memcpy(source->text + i * 8, &word, n - i * 8 < 8 ? n - i * 8 : 8);
	}
	atomic_thread_fence(memory_order_acquire);
	*text = str_n(source->text, n);
	return atomic_load_explicit(&place->sequence, memory_order_relaxed) == sequence && check == check_of(source, *text);
}

static void take_published(struct jwt_source *source)
{
	const struct published *place = place_of(source);
	uint64_t sequence = atomic_load_explicit(&place->sequence, memory_order_acquire);
	struct str text;
	int64_t fetched_tick;
	char *error = NULL;

	if ((source->seen_at == place && sequence == source->seen) || (sequence & 1) != 0)
		return;
	if (!copy_text(source, place, sequence, &text, &fetched_tick))
		return;
	source->seen_at = place;
	source->seen = sequence;
	if (fetched_tick > clock_tick_us()) // of another boot
		return;
	if (source->keys == NULL || check_of(source, text) != source->check) {
		struct jwt_keys *keys = jwt_keys_read(text, &error);
		free(error);
		if (keys == NULL)
			return;
		jwt_keys_free(&source->keys);
		source->keys = keys;
		source->check = check_of(source, text);
		source->changed = true;
	}
	source->fetched_tick = fetched_tick;
}

// ---- fetching, in a process of its own

// Logs why a fetch failed. The breaker limits how often that can be.
static bool complain(const char *what, struct str why)
{
	log_error("JWT: %s: %.*s", what, STR_HEAD_ARG(why, 300));
	return false;
}

static bool get(struct pool *pool, struct fetcher *fetcher, const char *url, int64_t deadline_us, struct str *body)
{
	int64_t left_us = deadline_us - clock_tick_us();
	const struct fetch_request request = { .url = url, .timeout_ms = left_us > 1000 ? (unsigned)(left_us / 1000) : 1,
		.max_body = DISCOVERY_MAX };
	struct fetch_answer answer;
	struct str error;

	static_assert((int)DISCOVERY_MAX >= (int)JWT_KEYS_BYTES, "a set of keys fits, too");
	if (!fetch(fetcher, pool, &request, &answer, &error))
		return complain(url, error);
	if (answer.status != 200)
		return complain(url, str_printf(pool, "status %ld", answer.status));
	*body = answer.body;
	return true;
}

// The address of the keys by the issuer's discovery document (OpenID Connect Discovery 1.0 section 4). Its issuer must be the one
// that was asked, or a document of another issuer could be passed off as this one's; and a document that was fetched by https may
// not send us to keys by http.
static bool discover(struct jwt_source *source, struct pool *pool, struct fetcher *fetcher, int64_t deadline_us, const char **url)
{
	struct str issuer = str_c(source->settings->issuer), body, error;
	struct str base = str_ends(issuer, STR("/")) ? str_part(issuer, 0, issuer.n - 1) : issuer;
	const char *well_known = str_printf(pool, "%.*s/.well-known/openid-configuration", STR_ARG(base)).p;
	const struct doc *member = NULL;
	struct doc *doc = NULL;

	if (!get(pool, fetcher, well_known, deadline_us, &body))
		return false;
	if (!doc_parse_json(pool, body, (struct doc_limits){ DEPTH_MAX, NODES_MAX }, &doc, &error))
		return complain(well_known, error);
	if (!doc_get(doc, STR("issuer"), &member) || !str_eq(doc_string(member), issuer))
		return complain(well_known, STR("its issuer is not the one of [jwt] issuer"));
	struct str found = doc_get(doc, STR("jwks_uri"), &member) ? doc_string(member) : STR("");
	bool is_safe = str_starts(found, STR("https://")) || (str_starts(found, STR("http://")) && str_starts(issuer, STR("http://")));
	if (!is_safe || str_find(found, '\0', 0) < found.n)
		return complain(well_known, STR("its jwks_uri is no address by https"));
	*url = str_cstr(pool, found);
	return true;
}

static bool fetch_keys(struct jwt_source *source, struct pool *pool)
{
	const struct jwt_settings *settings = source->settings;
	int64_t deadline_us = clock_tick_us() + (int64_t)settings->timeout * SECOND_US;
	struct fetcher *fetcher = fetcher_new(settings->ca_file);
	const char *url = settings->jwks_url;
	struct str text;
	char *error = NULL;

	if (fetcher == NULL)
		memory_end(0);
	bool good = (url[0] != '\0' || discover(source, pool, fetcher, deadline_us, &url)) && get(pool, fetcher, url, deadline_us, &text);
	if (good) {
		struct jwt_keys *keys = jwt_keys_read(text, &error);
		good = keys != NULL || complain(url, str_c(error));
		if (good)
			publish(source, text);
		jwt_keys_free(&keys);
		free(error);
	}
	fetcher_free(&fetcher);
	return good;
}

static void report(struct published *place, bool good)
{
	int64_t pause = atomic_load(&place->pause_us);

	pause = good ? 0 : pause <= 0 ? PAUSE_US : pause >= PAUSE_MOST_US / 2 ? PAUSE_MOST_US : pause * 2;
	atomic_store(&place->pause_us, pause);
	atomic_store(&place->done_tick, clock_tick_us());
}

static void fetch_here(void *arg)
{
	struct jwt_source *source = arg;
	struct pool *pool = pool_new();

	report(place_of(source), pool != NULL && fetch_keys(source, pool));
}

// Is a fetch under way? A fetch that has exceeded its time is taken for killed.
static bool is_fetching(const struct jwt_source *source, const struct published *place)
{
	int64_t began = atomic_load(&place->fetch_began_tick), now = clock_tick_us();

	return began > atomic_load(&place->done_tick) && began <= now && now - began < ((int64_t)source->settings->timeout + 1) * SECOND_US;
}

// Begins a fetch, unless one is under way, or the last one ended less than least_us ago, or failed a moment ago. False: none is
// under way.
static bool begin_fetch(struct jwt_source *source, int64_t least_us)
{
	struct published *place = place_of(source);
	int64_t began = atomic_load(&place->fetch_began_tick), done = atomic_load(&place->done_tick), pause = atomic_load(&place->pause_us);
	int64_t now = clock_tick_us(), least = pause > 0 && pause <= PAUSE_MOST_US ? pause : least_us;

	if (is_fetching(source, place))
		return true;
	if (done != 0 && done <= now && now - done < least)
		return false;
	if (!atomic_compare_exchange_strong(&place->fetch_began_tick, &began, now))
		return true; // another process has begun just now
	if (fetch_apart(fetch_here, source))
		return true;
	report(place, false);
	return false;
}

// ---- looking

static bool is_usable(const struct jwt_source *source)
{
	return source->keys != NULL &&
		(source->from_file || clock_tick_us() - source->fetched_tick < (int64_t)source->settings->keys_lifetime * SECOND_US);
}

bool jwt_source_look(struct jwt_source *source, bool *changed)
{
	if (!source->from_file) {
		budget_defer();
		budget_pause();
		take_published(source);
		if (source->keys != NULL && clock_tick_us() - source->fetched_tick >= (int64_t)source->settings->keys_refresh * SECOND_US)
			(void)begin_fetch(source, (int64_t)source->settings->keys_refresh * SECOND_US);
		budget_resume();
		budget_release();
	}
	*changed = source->changed;
	source->changed = false;
	return is_usable(source);
}

// Waits for the fetch that is under way. False: it has not ended in time.
static bool wait_for_fetch(struct jwt_source *source)
{
	const struct published *place = place_of(source);
	int64_t until_us = atomic_load(&place->fetch_began_tick) + (int64_t)source->settings->timeout * SECOND_US / 2;

	if (atomic_load(&place->pause_us) > 0 || !waiting_begin(source->shared, source->endpoint_key, source->may_wait_most))
		return false;
	while (is_fetching(source, place) && clock_tick_us() < until_us)
		clock_pause_ms(LOOK_MS);
	waiting_end(source->shared);
	return !is_fetching(source, place) && atomic_load(&place->pause_us) == 0;
}

// Gets the issuer's present keys. False: they can't be had at the moment.
static bool renew(struct jwt_source *source, bool may_wait)
{
	bool got;

	budget_defer();
	budget_pause();
	got = begin_fetch(source, 0) && may_wait && wait_for_fetch(source);
	take_published(source);
	budget_resume();
	budget_release();
	return got && is_usable(source);
}

static enum jwt_verdict verify(const struct jwt_source *source, struct str kid, enum signature_algorithm algorithm, struct str data,
	struct str signature)
{
	switch (jwt_keys_verify(source->keys, kid, algorithm, data, signature)) {
	case JWT_SIGNATURE_GOOD:
		return JWT_GOOD;
	case JWT_SIGNATURE_WRONG:
		return JWT_WRONG;
	case JWT_SIGNATURE_NO_KEY:
		break;
	}
	return JWT_UNKNOWN_KEY;
}

// Keys that are younger are taken for the issuer's present ones. A caller that may not wait has the keys of a fetch only at its
// next call, when they may be older than keys_retry.
static int64_t present_us(const struct jwt_source *source, bool may_wait)
{
	unsigned seconds = source->settings->keys_retry;

	return (may_wait || seconds > 2 * AUTH_POLL_S ? (int64_t)seconds : 2 * AUTH_POLL_S) * SECOND_US;
}

enum jwt_verdict jwt_source_verify(struct jwt_source *source, bool may_wait, struct str kid, enum signature_algorithm algorithm,
	struct str data, struct str signature)
{
	enum jwt_verdict verdict = JWT_NO_KEYS;

	if (is_usable(source)) {
		verdict = verify(source, kid, algorithm, data, signature);
		if (verdict != JWT_UNKNOWN_KEY || source->from_file || clock_tick_us() - source->fetched_tick < present_us(source, may_wait))
			return verdict;
	}
	return !source->from_file && renew(source, may_wait) ? verify(source, kid, algorithm, data, signature) : JWT_NO_KEYS;
}
