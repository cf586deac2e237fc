// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "server/watch/client.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "api/spaces/watch/watcher.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/pool.h"
#include "server/wire/handover.h"

int64_t watch_in_seconds(int64_t seconds)
{
	return clock_tick_us() + seconds * 1000000;
}

static void set_interest(struct watch_clients *clients, struct watch_client *client)
{
	uint32_t wanted = (client->stream.ended ? 0 : EPOLLIN | EPOLLRDHUP) |
		(stream_unsent(&client->stream) > 0 ? EPOLLOUT : 0);
	struct epoll_event event = { .events = wanted, .data.ptr = client };

	if (wanted == client->interest)
		return;
	if (epoll_ctl(clients->epoll_fd, EPOLL_CTL_MOD, client->stream.fd, &event) < 0)
		client->gone = true;
	client->interest = wanted;
}

bool watch_client_is_slow(const struct watch_client *client)
{
	return stream_unsent(&client->stream) > WATCH_WAITING_MAX;
}

void watch_client_write(struct watch_clients *clients, struct watch_client *client)
{
	assert(client->stream.fd >= 0);
	if (client->gone)
		return;
	client->gone = !stream_write(&client->stream) || (client->stream.ended && stream_unsent(&client->stream) == 0);
	if (client->gone)
		return;
	set_interest(clients, client);
	clients->drained |= client->slow && !watch_client_is_slow(client);
}

void watch_client_add(struct watch_client *client, const struct buf *text)
{
	if (client->gone || client->stream.ended || text->n == 0)
		return;
	client->gone = !stream_add(&client->stream, buf_str(text));
	client->alive_us = watch_in_seconds(WATCH_ALIVE_S);
}

void watch_client_end(struct watch_client *client)
{
	if (client->gone || client->stream.ended)
		return;
	client->gone = !stream_end(&client->stream);
}

void watch_clients_end(struct watch_clients *clients)
{
	for (struct watch_client *client = clients->first; client != NULL; client = client->next) {
		watch_client_end(client);
		watch_client_write(clients, client);
	}
}

void watch_client_end_with_event(struct pool *pool, struct watch_client *client, void (*say)(struct buf *))
{
	struct buf text = buf_new(pool, 256);

	say(&text);
	watch_client_add(client, &text);
	watch_client_end(client);
}

// Frees a client that is in no list, and closes its connection. The worker that handed the connection over may have it open
// still, and then closing it here does not end epoll's events, whose data is the client.
static void free_client(struct watch_clients *clients, struct watch_client *client)
{
	(void)epoll_ctl(clients->epoll_fd, EPOLL_CTL_DEL, client->stream.fd, NULL);
	limits_watch_end(clients->limits, &client->counted);
	stream_close(&client->stream);
	watcher_free(&client->watcher);
	free(client);
}

void watch_clients_sweep(struct watch_clients *clients)
{
	for (struct watch_client **at = &clients->first; *at != NULL;) {
		struct watch_client *client = *at;
		if (!client->gone) {
			at = &client->next;
			continue;
		}
		*at = client->next;
		free_client(clients, client);
		clients->n--;
	}
}

// Gives back the place of a watch that did not become a client's. The worker that counted it has it no more.
static void give_back(struct watch_clients *clients, const struct limits_watch *counted)
{
	limits_watch_take(clients->limits, counted);
	limits_watch_end(clients->limits, counted);
}

static void take_over(struct watch_clients *clients, const struct handover *handover)
{
	struct watch_client *client = calloc(1, sizeof(*client));

	if (client == NULL) {
		log_error("a watch can't be served: no memory");
		close(handover->fd);
		if (handover->beginning >= 0)
			close(handover->beginning);
		give_back(clients, &handover->watch);
		return;
	}
	stream_open(&client->stream, handover->fd, handover->request_id);
	bool begins = handover->beginning < 0 || stream_begin(&client->stream, handover->beginning);
	client->counted = handover->watch;
	limits_watch_take(clients->limits, &client->counted);
	client->watcher = watcher_new(str_n(handover->text, handover->n));
	client->interest = EPOLLIN | EPOLLRDHUP;
	struct epoll_event event = { .events = client->interest, .data.ptr = client };
	if (client->watcher == NULL || !begins || epoll_ctl(clients->epoll_fd, EPOLL_CTL_ADD, handover->fd, &event) < 0) {
		log_error("a watch can't be served: %s", client->watcher == NULL ? "no memory" : strerror(errno));
		free_client(clients, client);
		return;
	}
	client->ends_us = watch_in_seconds(watcher_seconds(client->watcher));
	client->bookmark_us = watch_in_seconds(WATCH_BOOKMARK_S);
	client->alive_us = watch_in_seconds(WATCH_ALIVE_S);
	client->check_us = watch_in_seconds(WATCH_CHECK_S);
	// Changes may have been committed since the worker read the position, so the first round looks for them.
	client->news = true;
	client->slow = watch_client_is_slow(client);
	client->next = clients->first;
	clients->first = client;
	clients->n++;
	// Apache and nginx don't send the head of an answer before they have some of its body, so one padding is sent at once.
	client->gone = !stream_add(&client->stream, STR(WATCH_PADDING));
	watch_client_write(clients, client);
}

bool watch_clients_take_over(struct watch_clients *clients, int from)
{
	enum handover_found found;
	struct handover handover;

	while ((found = handover_receive(from, &handover)) == HANDOVER_ONE) {
		take_over(clients, &handover);
		free(handover.text);
	}
	give_back(clients, &handover.watch);
	return found != HANDOVER_END;
}

void watch_clients_free(struct watch_clients *clients)
{
	while (clients->first != NULL) {
		struct watch_client *client = clients->first;
		clients->first = client->next;
		free_client(clients, client);
	}
	clients->n = 0;
}
