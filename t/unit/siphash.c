// SPDX-License-Identifier: Apache-2.0
// SipHash-2-4 against the vectors of its authors: key 00 01 … 0f, messages of 0, 1, … bytes 00 01 ….
#include "base/base.h"

#include "base/siphash.h"
#include "tap.h"

int main(void)
{
	static const uint64_t key[SIPHASH_KEY] = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };
	static const struct {
		size_t n;
		uint64_t hash;
	} vectors[] = {
		{ 0, UINT64_C(0x726fdb47dd0e0e31) },
		{ 1, UINT64_C(0x74f839c593dc67fd) },
		{ 7, UINT64_C(0xab0200f58b01d137) },
		{ 8, UINT64_C(0x93f5f5799a932462) },
		{ 15, UINT64_C(0xa129ca6149be45e5) },
	};
	char message[64];

	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (char)i;
	for (size_t i = 0; i < COUNT_OF(vectors); i++)
		ok(siphash(key, str_n(message, vectors[i].n)) == vectors[i].hash, "%zu bytes", vectors[i].n);
	return done_testing();
}
