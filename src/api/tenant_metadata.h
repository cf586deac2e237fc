// SPDX-License-Identifier: Apache-2.0
// What a tenant's metadata may hold, whichever dialect writes it.
#ifndef TENURE_API_TENANT_METADATA_H
#define TENURE_API_TENANT_METADATA_H

#include "base/str.h"

// Metadata go out as header fields as well, where a byte may take three. Web servers read lines of up to 8 KiB (Apache)
// and heads of up to 32 KiB (nginx) and answer 502 beyond; clients take as few as 64 fields.
enum { MAX_META = 32, MAX_META_NAME = 255, MAX_META_VALUE = 2048, MAX_META_ALL = 6144 };

// A name becomes an element in XML and part of a header's name, so it is a word that both can hold: it begins with a
// letter or "_" and has letters, digits, "_", "-" and ".".
bool meta_name_ok(struct str name);

#endif
