// SPDX-License-Identifier: Apache-2.0
// Which addresses messages are sent to. A webhook's URL comes from a tenant, and the process that sends stands inside of the
// operator's network: so it reaches public addresses alone, and those in the networks that the operator lists.
#ifndef TENURE_BASE_NETWORK_H
#define TENURE_BASE_NETWORK_H

#include <sys/socket.h>

#include "base/str.h"

struct pool;

// A network as 16 bytes and a length in bits, 0 to 128. One of IPv4 is that of the mapped addresses (::ffff:a.b.c.d).
struct network {
	uint8_t address[16];
	unsigned bits;
};
struct networks {
	const struct network *list;
	size_t n;
};
struct ports {
	const uint16_t *list; // n 0: every port
	size_t n;
};

// Reads "10.1.0.0/16, fd00::/8, 192.0.2.7", comma-separated; an address alone is a network of one. Bits behind the length must be
// 0. False:
// *wrong is the first item that is no network.
bool networks_read(struct pool *pool, struct str text, struct networks *networks, struct str *wrong);
// Reads "443, 8443".
bool ports_read(struct pool *pool, struct str text, struct ports *ports, struct str *wrong);

// Is this an address of the public internet, by the registries of IANA (RFC 6890 and its successors)? Only global unicast of
// IPv4, and of IPv6 2000::/3, without what is reserved, and without addresses that carry one of IPv4 in them (mapped, NAT64,
// 6to4, Teredo), since the sender does not check which host of IPv4 they reach.
bool address_is_public(const struct sockaddr *address);
// May a message be sent there? A mapped address of IPv4 is looked for in networks of either form.
bool address_is_allowed(const struct sockaddr *address, const struct networks *networks, const struct ports *ports);

#endif
