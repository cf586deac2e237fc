// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <fastcgi.h>

#include "server/wire/params_ahead.h"

// A position in the contents of the records of one stream.
struct walk {
	const unsigned char *bytes;
	size_t n, at;
	size_t left;    // bytes left of the current record's content
	size_t padding; // bytes of padding behind it
	bool ended;     // the stream's last record was passed, or the next bytes are not a record
};

// The request has id 0, or wants another role than a responder: the library refuses it at once.
static bool is_refused(const struct walk *walk, const unsigned char *head)
{
	const unsigned char *role = head + FCGI_HEADER_LEN;

	if (head[1] != FCGI_BEGIN_REQUEST)
		return false;
	return (head[2] == 0 && head[3] == 0) || (walk->bytes + walk->n - role >= 2 && (role[0] != 0 ||
		role[1] != FCGI_RESPONDER));
}

// Moves to the next record of parameters that has content. False: it has not arrived yet, or the stream has ended.
static bool next_record(struct walk *walk)
{
	while (walk->left == 0 && !walk->ended) {
		size_t at = walk->at + walk->padding;
		if (at > walk->n || walk->n - at < FCGI_HEADER_LEN)
			return false;
		const unsigned char *head = walk->bytes + at;
		size_t content = (size_t)head[4] << 8 | head[5];
		bool params = head[1] == FCGI_PARAMS;

		walk->at = at + FCGI_HEADER_LEN + (params ? 0 : content);
		walk->left = params ? content : 0;
		walk->padding = head[6];
		walk->ended = head[0] != FCGI_VERSION_1 || (params && content == 0) || is_refused(walk, head);
	}
	return !walk->ended;
}

static bool take_byte(struct walk *walk, unsigned char *byte)
{
	if (!next_record(walk) || walk->at >= walk->n)
		return false;
	*byte = walk->bytes[walk->at++];
	walk->left--;
	return true;
}

// Reads a length: one byte, or four bytes if the highest bit of the first is set.
static bool take_length(struct walk *walk, size_t *length)
{
	unsigned char byte;

	if (!take_byte(walk, &byte))
		return false;
	*length = byte & 0x7f;
	for (int more = byte & 0x80 ? 3 : 0; more > 0; more--) {
		if (!take_byte(walk, &byte))
			return false;
		*length = *length << 8 | byte;
	}
	return true;
}

static bool skip(struct walk *walk, size_t n)
{
	while (n > 0) {
		if (!next_record(walk) || walk->at >= walk->n)
			return false;
		size_t step = n < walk->left ? n : walk->left;

		if (step > walk->n - walk->at)
			step = walk->n - walk->at;
		walk->at += step;
		walk->left -= step;
		n -= step;
	}
	return true;
}

// Skips the pairs that lie completely in the current record and have short lengths, as most do. Adds the bytes of their names and
// values to *sum; returns the number of pairs.
static size_t pass_short(struct walk *walk, size_t *sum)
{
	const unsigned char *p = walk->bytes + walk->at;
	size_t room = walk->left < walk->n - walk->at ? walk->left : walk->n - walk->at, at = 0, count = 0;

	while (room - at >= 2 && p[at] < 0x80 && p[at + 1] < 0x80) {
		size_t pair = 2U + p[at] + p[at + 1];
		if (pair > room - at)
			break;
		at += pair;
		count++;
	}
	walk->at += at;
	walk->left -= at;
	*sum += at - 2 * count;
	return count;
}

enum params_ahead params_ahead_look(const unsigned char *bytes, size_t n, size_t max)
{
	struct walk walk = { .bytes = bytes, .n = n };
	size_t name, value, sum = 0, count = 0;

	assert(n == 0 || bytes != NULL);
	while (next_record(&walk)) {
		count += pass_short(&walk, &sum);
		if (count > PARAMS_MOST || sum > max)
			return PARAMS_TOO_MUCH;
		if (walk.left == 0)
			continue;
		if (!take_length(&walk, &name) || !take_length(&walk, &value))
			break;
		if (++count > PARAMS_MOST || name > max || value > max || (sum += name + value) > max)
			return PARAMS_TOO_MUCH;
		if (!skip(&walk, name + value))
			break;
	}
	return walk.ended ? PARAMS_WHOLE : PARAMS_PART;
}
