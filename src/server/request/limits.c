// SPDX-License-Identifier: Apache-2.0
// What all limits need: the memory that processes share, this process's slot in it, and hashes of names.
#include "base/base.h"

#include "base/clock.h"
#include "base/config/config.h"
#include "base/log.h"
#include "server/request/limits_internal.h"
#include "server/setup/settings.h"

enum {
	NAME_ROOM = 512,      // a longer name is replaced by its hash
	RECENT = 128,         // hashes remembered of each kind of name
	RECENT_ROOM = 128,
};

struct recent {
	size_t n;
	uint64_t key;
	char text[RECENT_ROOM];
};

// The hash of text. The last hash of each kind is kept, because a client that comes again has the same names.
static uint64_t recent_key(const struct limits *limits, struct recent *recent, struct str text)
{
	if (recent->n == text.n && memcmp(recent->text, text.p, text.n) == 0)
		return recent->key;
	uint64_t key = shared_hash(limits->shared, text);
	if (text.n <= sizeof(recent->text)) {
		memcpy(recent->text, text.p, text.n);
		recent->n = text.n;
		recent->key = key;
	}
	return key;
}

// Appends the length of name and name itself, or its hash if it is long, at *n.
static void add_name(const struct limits *limits, struct str name, char *text, size_t *n)
{
	uint64_t hash[2];

	memcpy(text + *n, &name.n, sizeof(name.n));
	*n += sizeof(name.n);
	if (name.n > NAME_ROOM) {
		shared_hash128(limits->shared, name, hash);
		name = str_n((const char *)hash, sizeof(hash));
	}
	if (name.n > 0)
		memcpy(text + *n, name.p, name.n);
	*n += name.n;
}

uint64_t limits_key(const struct limits *limits, char kind, struct str a, struct str b)
{
	char text[1 + sizeof(uint64_t) + 2 * (sizeof(size_t) + NAME_ROOM)];
	size_t n = 1 + sizeof(uint64_t);

	text[0] = kind;
	memcpy(text + 1, &limits->endpoint_key, sizeof(uint64_t));
	add_name(limits, a, text, &n);
	add_name(limits, b, text, &n);
	return recent_key(limits, &limits->recent[(unsigned char)kind % RECENT], str_n(text, n));
}

// ---- the process

// Enters this process into the shared memory as it is mapped now.
static void join(struct limits *limits)
{
	unsigned slot = shared_slot(limits->shared);

	limits->entered = false;
	// The kept hashes were made with the key of the file before.
	memset(limits->recent, 0, RECENT * sizeof(*limits->recent));
	limits->endpoint_key = shared_hash(limits->shared, str_c(limits->endpoint->name));
	if (slot == SHARED_NONE)
		return;
	struct requests *requests = limits_requests(limits);
	atomic_store(&requests->tenant[slot], 0);
	atomic_store(&requests->user[slot], 0);
	atomic_store(&requests->waiting[slot], 0);
	atomic_store(&requests->mark[slot], shared_self(limits->shared));
	atomic_store(&requests->endpoint[slot], limits->processes > 0 ? limits->endpoint_key : 0);
}

struct limits *limits_new(const struct config *config, const struct endpoint_config *endpoint, struct shared *shared,
	unsigned processes)
{
	struct limits *limits = calloc(1, sizeof(*limits));

	if (limits != NULL)
		limits->recent = calloc(RECENT, sizeof(*limits->recent));
	if (limits == NULL || limits->recent == NULL) {
		free(limits);
		return NULL;
	}
	limits->settings = server_settings(config);
	limits->endpoint = endpoint;
	limits->shared = shared;
	limits->processes = processes;
	if (shared != NULL && shared_claim(shared))
		join(limits);
	else
		limits->shared = NULL;
	return limits;
}

void limits_free(struct limits **limits)
{
	if (*limits == NULL)
		return;
	if ((*limits)->shared != NULL) {
		limits_leave(*limits);
		unsigned slot = shared_slot((*limits)->shared);
		if (slot != SHARED_NONE)
			atomic_store(&limits_requests(*limits)->endpoint[slot], 0);
	}
	free((*limits)->recent);
	free(*limits);
	*limits = NULL;
}

void limits_tick(struct limits *limits)
{
	if (limits->shared != NULL && shared_refresh(limits->shared, clock_tick_us()))
		join(limits);
}
