// SPDX-License-Identifier: Apache-2.0
// The settings of the registry: tiers, retention, sizes, and what happens in the background.
#ifndef TENURE_REGISTRY_CORE_SETTINGS_H
#define TENURE_REGISTRY_CORE_SETTINGS_H

enum {
	// Bytes of the largest value of max_body. A resource is stored in one column (MEDIUMTEXT, 16 MiB less one byte) and sent
	// in one packet, and max_allowed_packet of MariaDB is 16 MiB by default.
	REGISTRY_BODY_MOST = 15 << 20,
	REGISTRY_PACKET_SPARE = 1 << 20, // bytes of such a packet that are enough for what is sent beside the resource's document
};

struct config;
struct config_table;

struct registry_settings {
	const char *default_tier;   // of tenants that are created without one
	uint64_t max_body;          // bytes of the largest request body, and of the largest document that is stored
	uint64_t request_memory;    // bytes of a worker's memory for one request, beside four times its body
	uint64_t resource_cache;    // bytes of the cache of each worker; 0: no cache
	uint64_t retention;         // seconds between deletion and purge
	uint64_t change_retention;  // seconds for which rows of the change log are kept; 0: for ever
	uint64_t content_retention; // seconds for which the content that an update replaced is kept; 0: it is not kept
	uint64_t usage_period;      // seconds: the length of a period for which usage is counted; divides a day
	uint64_t usage_retention;   // seconds for which closed periods of usage are kept; 0: for ever
	unsigned move_list_max;     // a move action lists up to this many resources one by one
	unsigned move_sync_max;     // larger moves are carried out in the background
	unsigned delete_sync_max;   // larger namespaces are deleted in the background, in pieces of as many resources
	const char *etag_required;  // no | yes: changes of a tenant or resource that exists need If-Match
};
extern const struct config_table registry_settings_table;
const struct registry_settings *registry_settings(const struct config *config);

#endif
