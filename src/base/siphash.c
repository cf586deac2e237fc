// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/siphash.h"

enum { WORD = 8, ROUNDS = 2, LAST_ROUNDS = 4 };

static uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void mix(uint64_t v[4], int rounds)
{
	for (int i = 0; i < rounds; i++) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

// Reads up to eight bytes as a number, the first byte lowest.
static uint64_t read_word(const char *p, size_t n)
{
	uint64_t word = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (n == WORD) {
		memcpy(&word, p, WORD);
		return word;
	}
#endif
	for (size_t i = 0; i < n; i++)
		word |= (uint64_t)(unsigned char)p[i] << (8 * i);
	return word;
}

// The state behind all words of the data, before the rounds that end a hash. In: v[1] is what this form of the hash adds to the
// key.
static void absorb(uint64_t v[4], const uint64_t key[SIPHASH_KEY], struct str data)
{
	size_t at = 0;

	v[0] = key[0] ^ UINT64_C(0x736f6d6570736575);
	v[1] ^= key[1] ^ UINT64_C(0x646f72616e646f6d);
	v[2] = key[0] ^ UINT64_C(0x6c7967656e657261);
	v[3] = key[1] ^ UINT64_C(0x7465646279746573);
	for (; at + WORD <= data.n; at += WORD) {
		uint64_t word = read_word(data.p + at, WORD);
		v[3] ^= word;
		mix(v, ROUNDS);
		v[0] ^= word;
	}
	uint64_t last = (uint64_t)data.n << 56 | (data.n > at ? read_word(data.p + at, data.n - at) : 0);
	v[3] ^= last;
	mix(v, ROUNDS);
	v[0] ^= last;
}

static uint64_t end(uint64_t v[4])
{
	mix(v, LAST_ROUNDS);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t siphash(const uint64_t key[SIPHASH_KEY], struct str data)
{
	uint64_t v[4] = { 0 };

	absorb(v, key, data);
	v[2] ^= 0xff;
	return end(v);
}

void siphash_128(const uint64_t key[SIPHASH_KEY], struct str data, uint64_t hash[2])
{
	uint64_t v[4] = { 0, 0xee, 0, 0 };

	absorb(v, key, data);
	v[2] ^= 0xee;
	hash[0] = end(v);
	v[1] ^= 0xdd;
	hash[1] = end(v);
}
