// SPDX-License-Identifier: Apache-2.0
// The text that describes a watch may be long, so it travels as a file in memory, whose descriptor is sent beside the
// connection's; the rest of what the answer begins with is another such file.
#include "base/base.h"

#include "server/wire/handover.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/log.h"

enum {
	PATIENCE_S = 5,        // seconds that a worker waits for the other process to take what it hands over
	TEXT_MAX = 256 << 20,  // bytes
};

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

void handover_pair_close(int ends[2])
{
	for (int i = 0; i < 2; i++) {
		if (ends[i] >= 0)
			close(ends[i]);
		ends[i] = -1;
	}
}

// Writes the text to a file in memory. Returns its descriptor, which the caller closes; -1 with errno.
static int text_file(struct str text)
{
	int fd = memfd_create("handover", MFD_CLOEXEC);
	size_t written = 0;

	while (fd >= 0 && written < text.n) {
		ssize_t n = write(fd, text.p + written, text.n - written);
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
	bool begins; // a file with the rest of the answer's beginning comes with it
	uint64_t tenant;
};

// The descriptors sent with a message, in this order. Only BEGINNING may be missing (-1).
enum { CONNECTION, CONTENT, BEGINNING, DESCRIPTORS };

// Room for a control message (cmsg(3)) with these descriptors, aligned as the kernel requires.
union descriptors_room {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
};

// Sends the descriptors and the message in one packet. Waits at most PATIENCE_S for room in the socket.
static bool send_all(int to, const int descriptors[DESCRIPTORS], struct message content)
{
	size_t bytes = (descriptors[BEGINNING] >= 0 ? DESCRIPTORS : BEGINNING) * sizeof(int);
	union descriptors_room control = { .bytes = { 0 } };
	struct iovec data = { .iov_base = &content, .iov_len = sizeof(content) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = CMSG_SPACE(bytes) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(head), descriptors, bytes);
	return sendmsg(to, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(content);
}

bool handover_send(int to, int fd, uint16_t request_id, struct limits_watch watch, struct str text, int beginning)
{
	int file = text_file(text);
	const int descriptors[DESCRIPTORS] = { fd, file, beginning };
	bool sent = file >= 0 && send_all(to, descriptors, (struct message){ .request_id = request_id, .watch = watch,
		.begins = beginning >= 0 });

	assert(to >= 0 && fd >= 0);
	if (!sent)
		log_warning("a watch could not be handed over: %s", strerror(errno));
	if (file >= 0)
		close(file);
	return sent;
}

// Reads the whole text into memory that the caller of handover_receive() frees. False: it is empty, too long, or there is no
// memory.
static bool read_text(int file, struct handover *handover)
{
	struct stat stat;
	size_t got = 0;

	if (fstat(file, &stat) < 0 || stat.st_size <= 0 || stat.st_size > TEXT_MAX)
		return false;
	handover->n = (size_t)stat.st_size;
	handover->text = malloc(handover->n);
	while (handover->text != NULL && got < handover->n) {
		ssize_t n = pread(file, handover->text + got, handover->n - got, (off_t)got);
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	if (handover->text != NULL && got == handover->n)
		return true;
	free(handover->text);
	return false;
}

// Receives a message with its descriptors, which the caller closes.
static enum handover_found receive_all(int from, int descriptors[DESCRIPTORS], struct message *content)
{
	union descriptors_room control = { .bytes = { 0 } };
	struct iovec data = { .iov_base = content, .iov_len = sizeof(*content) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };

	ssize_t n = recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n <= 0)
		return n == 0 ? HANDOVER_END : HANDOVER_NONE; // no message is empty
	const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	for (size_t i = 0; i < DESCRIPTORS; i++)
		descriptors[i] = -1;
	if (head != NULL && head->cmsg_type == SCM_RIGHTS) {
		size_t bytes = head->cmsg_len - CMSG_LEN(0), most = DESCRIPTORS * sizeof(int);
		memcpy(descriptors, CMSG_DATA(head), bytes < most ? bytes : most);
	}
	return HANDOVER_ONE;
}

static void close_all(const int descriptors[DESCRIPTORS])
{
	for (size_t i = 0; i < DESCRIPTORS; i++) {
		if (descriptors[i] >= 0)
			close(descriptors[i]);
	}
}

enum handover_found handover_receive(int from, struct handover *handover)
{
	struct message content = { .request_id = 0 };
	int descriptors[DESCRIPTORS];

	assert(from >= 0);
	*handover = (struct handover){ .fd = -1, .beginning = -1 };
	enum handover_found found = receive_all(from, descriptors, &content);
	if (found != HANDOVER_ONE)
		return found;
	handover->watch = content.watch;
	bool whole = descriptors[CONNECTION] >= 0 && descriptors[CONTENT] >= 0 && (!content.begins || descriptors[BEGINNING] >= 0) &&
		read_text(descriptors[CONTENT], handover);
	if (!whole) {
		log_warning("a watch could not be taken over: no descriptors, or no memory");
		close_all(descriptors);
		return HANDOVER_NONE;
	}
	close(descriptors[CONTENT]);
	handover->fd = descriptors[CONNECTION];
	handover->request_id = content.request_id;
	handover->beginning = descriptors[BEGINNING];
	return HANDOVER_ONE;
}

bool handover_send_rest(int to, int fd, int file, uint64_t tenant)
{
	const int descriptors[DESCRIPTORS] = { fd, file, -1 };
	bool sent = send_all(to, descriptors, (struct message){ .tenant = tenant });

	assert(to >= 0 && fd >= 0 && file >= 0);
	if (!sent)
		log_warning("the rest of an answer could not be handed over: %s", strerror(errno));
	return sent;
}

enum handover_found handover_receive_rest(int from, int *fd, int *file, uint64_t *tenant)
{
	struct message content = { .tenant = 0 };
	int descriptors[DESCRIPTORS];

	assert(from >= 0);
	enum handover_found found = receive_all(from, descriptors, &content);
	if (found != HANDOVER_ONE)
		return found;
	*fd = descriptors[CONNECTION];
	*file = descriptors[CONTENT];
	*tenant = content.tenant;
	if (*fd >= 0 && *file >= 0)
		return HANDOVER_ONE;
	log_warning("the rest of an answer could not be taken over: no descriptors");
	close_all(descriptors);
	return HANDOVER_NONE;
}
