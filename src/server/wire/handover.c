// SPDX-License-Identifier: Apache-2.0
// An order (how the watch process is to continue an answer) may be long, so it travels as a file in memory, whose descriptor is
// sent beside the connection's.
#include "base/base.h"

#include "server/wire/handover.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/log.h"

// PATIENCE_S: seconds that a worker waits for its order to be taken. ORDER_MAX: bytes.
enum { PATIENCE_S = 5, ORDER_MAX = 256 << 20 };

bool handover_pair(int ends[2])
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		log_error("socketpair: %s", strerror(errno));
		return false;
	}
	// A worker whose partner hangs must not hang with it.
	(void)setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	return true;
}

// Writes the order to a file in memory. Returns its descriptor, which the caller closes; -1 with errno.
static int order_file(struct str order)
{
	int fd = memfd_create("order", MFD_CLOEXEC);
	size_t written = 0;

	while (fd >= 0 && written < order.n) {
		ssize_t n = write(fd, order.p + written, order.n - written);
		if (n < 0) {
			close(fd);
			return -1;
		}
		written += (size_t)n;
	}
	return fd;
}

// The bytes sent with the descriptors.
struct message {
	uint16_t request_id;
	struct limits_watch watch;
	uint64_t tenant;
};

// Room for a control message (cmsg(3)) with two descriptors, aligned as the kernel requires.
union two_descriptors {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(2 * sizeof(int))];
};

// Sends both descriptors and the message in one packet. Waits at most PATIENCE_S for room in the socket.
static bool send_both(int to, int fd, int file, struct message content)
{
	const int descriptors[2] = { fd, file };
	union two_descriptors control = { .bytes = { 0 } };
	struct iovec data = { .iov_base = &content, .iov_len = sizeof(content) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(descriptors));
	memcpy(CMSG_DATA(head), descriptors, sizeof(descriptors));
	return sendmsg(to, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(content);
}

bool handover_send(int to, int fd, uint16_t request_id, struct limits_watch watch, struct str order)
{
	int file = order_file(order);
	bool sent = file >= 0 && send_both(to, fd, file, (struct message){ .request_id = request_id, .watch = watch });

	assert(to >= 0 && fd >= 0);
	if (!sent)
		log_warning("a watch could not be handed over: %s", strerror(errno));
	if (file >= 0)
		close(file);
	return sent;
}

// Reads the whole order into memory that the caller of handover_receive() frees. False: it is empty, too long, or there is no
// memory.
static bool read_order(int file, struct handover *handover)
{
	struct stat stat;
	size_t got = 0;

	if (fstat(file, &stat) < 0 || stat.st_size <= 0 || stat.st_size > ORDER_MAX)
		return false;
	handover->n = (size_t)stat.st_size;
	handover->order = malloc(handover->n);
	while (handover->order != NULL && got < handover->n) {
		ssize_t n = pread(file, handover->order + got, handover->n - got, (off_t)got);
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	if (handover->order != NULL && got == handover->n)
		return true;
	free(handover->order);
	return false;
}

// Receives a connection and the order's file; the caller closes both. False: there was no message.
static bool receive_both(int from, int *fd, int *file, struct message *content)
{
	int descriptors[2] = { -1, -1 };
	union two_descriptors control = { .bytes = { 0 } };
	struct iovec data = { .iov_base = content, .iov_len = sizeof(*content) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };

	if (recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
		return false;
	const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	if (head != NULL && head->cmsg_type == SCM_RIGHTS) {
		size_t n = head->cmsg_len - CMSG_LEN(0);
		memcpy(descriptors, CMSG_DATA(head), n < sizeof(descriptors) ? n : sizeof(descriptors));
	}
	*fd = descriptors[0];
	*file = descriptors[1];
	return true;
}

bool handover_receive(int from, struct handover *handover)
{
	struct message content = { .request_id = 0 };
	int file;

	assert(from >= 0);
	*handover = (struct handover){ .fd = -1 };
	if (!receive_both(from, &handover->fd, &file, &content))
		return false;
	handover->request_id = content.request_id;
	handover->watch = content.watch;
	bool whole = handover->fd >= 0 && file >= 0 && read_order(file, handover);
	if (file >= 0)
		close(file);
	if (whole)
		return true;
	log_warning("a watch could not be taken over: no descriptors, or no memory");
	if (handover->fd >= 0)
		close(handover->fd);
	return false;
}

bool handover_send_rest(int to, int fd, int file, uint64_t tenant)
{
	bool sent = send_both(to, fd, file, (struct message){ .tenant = tenant });

	assert(to >= 0 && fd >= 0 && file >= 0);
	if (!sent)
		log_warning("the rest of an answer could not be handed over: %s", strerror(errno));
	return sent;
}

bool handover_receive_rest(int from, int *fd, int *file, uint64_t *tenant)
{
	struct message content = { .tenant = 0 };

	assert(from >= 0);
	if (!receive_both(from, fd, file, &content))
		return false;
	*tenant = content.tenant;
	if (*fd >= 0 && *file >= 0)
		return true;
	log_warning("the rest of an answer could not be taken over: no descriptors");
	if (*fd >= 0)
		close(*fd);
	if (*file >= 0)
		close(*file);
	return false;
}
