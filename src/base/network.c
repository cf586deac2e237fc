// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/network.h"
#include "base/pool.h"

static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

// What is not public of IPv4 and of 2000::/3, from IANA's special-purpose registries.
static const struct network special[] = {
#define IPV4(a, b, c, bits) { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, 0 }, 96 + (bits) }
	IPV4(0, 0, 0, 8),        // "this" network
	IPV4(10, 0, 0, 8),       // private
	IPV4(100, 64, 0, 10),    // shared by carrier-grade NAT
	IPV4(127, 0, 0, 8),      // loopback
	IPV4(169, 254, 0, 16),   // link-local, with the metadata services of clouds
	IPV4(172, 16, 0, 12),    // private
	IPV4(192, 0, 0, 24),     // protocol assignments
	IPV4(192, 0, 2, 24),     // documentation
	IPV4(192, 88, 99, 24),   // 6to4 relays
	IPV4(192, 168, 0, 16),   // private
	IPV4(198, 18, 0, 15),    // benchmarks
	IPV4(198, 51, 100, 24),  // documentation
	IPV4(203, 0, 113, 24),   // documentation
	IPV4(224, 0, 0, 4),      // multicast
	IPV4(240, 0, 0, 4),      // reserved, and broadcast
#undef IPV4
	{ { 0x20, 0x01 }, 23 },             // protocol assignments, Teredo among them
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32 }, // documentation
	{ { 0x20, 0x02 }, 16 },             // 6to4
	{ { 0x3f, 0xff }, 20 },             // documentation
};

static bool contains(const struct network *network, const uint8_t address[16])
{
	unsigned whole = network->bits / 8, rest = network->bits % 8;

	assert(network->bits <= 128);
	if (memcmp(network->address, address, whole) != 0)
		return false;
	return rest == 0 || ((network->address[whole] ^ address[whole]) >> (8 - rest)) == 0;
}

// Returns false for a family that is neither IPv4 nor IPv6.
static bool bytes_of(const struct sockaddr *address, uint8_t bytes[16], uint16_t *port)
{
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)address;
		memcpy(bytes, mapped, sizeof(mapped));
		memcpy(bytes + 12, &in->sin_addr, 4);
		*port = ntohs(in->sin_port);
		return true;
	}
	if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const void *)address;
		memcpy(bytes, &in->sin6_addr, 16);
		*port = ntohs(in->sin6_port);
		return true;
	}
	return false;
}

bool address_is_public(const struct sockaddr *address)
{
	uint8_t bytes[16];
	uint16_t port;

	if (!bytes_of(address, bytes, &port) || (address->sa_family == AF_INET6 && (bytes[0] & 0xe0) != 0x20))
		return false;
	for (size_t i = 0; i < COUNT_OF(special); i++) {
		if (contains(&special[i], bytes))
			return false;
	}
	return true;
}

bool address_is_allowed(const struct sockaddr *address, const struct networks *networks, const struct ports *ports)
{
	uint8_t bytes[16];
	uint16_t port;
	bool allowed = address_is_public(address), open = ports->n == 0;

	if (!bytes_of(address, bytes, &port))
		return false;
	for (size_t i = 0; i < networks->n && !allowed; i++)
		allowed = contains(&networks->list[i], bytes);
	for (size_t i = 0; i < ports->n && !open; i++)
		open = ports->list[i] == port;
	return allowed && open;
}

// ---- settings

static size_t count_items(struct str text)
{
	size_t n = 1;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == ',';
	return n;
}

static bool read_network(struct str item, struct network *network)
{
	char text[INET6_ADDRSTRLEN];
	size_t slash = str_find(item, '/', 0);
	uint64_t bits;
	struct str address = str_part(item, 0, slash);

	*network = (struct network){ 0 };
	if (address.n >= sizeof(text))
		return false;
	memcpy(text, address.p, address.n);
	text[address.n] = '\0';
	bool is_v4 = inet_pton(AF_INET, text, network->address + 12) == 1;
	if (is_v4)
		memcpy(network->address, mapped, sizeof(mapped));
	else if (inet_pton(AF_INET6, text, network->address) != 1)
		return false;
	unsigned most = is_v4 ? 32 : 128;
	bits = most;
	if (slash < item.n && (!str_to_u64(str_part(item, slash + 1, item.n), &bits) || bits > most))
		return false;
	network->bits = (unsigned)bits + 128 - most;
	for (unsigned bit = network->bits; bit < 128; bit++) {
		if ((network->address[bit / 8] >> (7 - bit % 8) & 1) != 0)
			return false;
	}
	return true;
}

bool networks_read(struct pool *pool, struct str text, struct networks *networks, struct str *wrong)
{
	struct network *list = POOL_ARRAY(pool, struct network, count_items(text));
	struct str item;
	size_t n = 0;

	*networks = (struct networks){ .list = list };
	if (str_trim(text).n == 0)
		return true;
	while (str_split(&text, ',', &item)) {
		*wrong = str_trim(item);
		if (!read_network(*wrong, &list[n++]))
			return false;
	}
	networks->n = n;
	return true;
}

bool ports_read(struct pool *pool, struct str text, struct ports *ports, struct str *wrong)
{
	uint16_t *list = POOL_ARRAY(pool, uint16_t, count_items(text));
	struct str item;
	uint64_t port;
	size_t n = 0;

	*ports = (struct ports){ .list = list };
	if (str_trim(text).n == 0)
		return true;
	while (str_split(&text, ',', &item)) {
		*wrong = str_trim(item);
		if (!str_to_u64(*wrong, &port) || port == 0 || port > UINT16_MAX)
			return false;
		list[n++] = (uint16_t)port;
	}
	ports->n = n;
	return true;
}
