// SPDX-License-Identifier: Apache-2.0
// What a tenant's metadata may contain, for all dialects that write them.
#ifndef TENURE_API_TENANT_METADATA_H
#define TENURE_API_TENANT_METADATA_H

#include "base/str.h"

// Metadata are sent as header fields, too, where a byte may take three. Web servers accept lines of up to 8 KiB (Apache) and
// heads of up to 32 KiB (nginx), and answer 502 beyond; some clients accept only 64 fields.
enum { MAX_META = 32, MAX_META_NAME = 255, MAX_META_VALUE = 2048, MAX_META_ALL = 6144 };

// Is it a valid name? It becomes an element in XML and a part of a header's name, so it begins with a letter or "_" and consists
// of letters, digits, "_", "-" and ".".
bool tenant_metadata_name_ok(struct str name);

#endif
