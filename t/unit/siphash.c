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

	static const struct {
		size_t n;
		uint64_t hash[2];
	} wide[] = {
		{ 0, { UINT64_C(0xe6a825ba047f81a3), UINT64_C(0x930255c71472f66d) } },
		{ 1, { UINT64_C(0x44af996bd8c187da), UINT64_C(0x45fc229b11597634) } },
		{ 8, { UINT64_C(0x61f55862baa9623b), UINT64_C(0xb49714f364e2830f) } },
		{ 63, { UINT64_C(0x4a83502f77d15051), UINT64_C(0x7cbd3f979a063e50) } },
	};
	for (size_t i = 0; i < COUNT_OF(wide); i++) {
		uint64_t hash[2];
		siphash_128(key, str_n(message, wide[i].n), hash);
		ok(hash[0] == wide[i].hash[0] && hash[1] == wide[i].hash[1], "%zu bytes, 128 bits", wide[i].n);
	}
	return done_testing();
}
