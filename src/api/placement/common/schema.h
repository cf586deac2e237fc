// SPDX-License-Identifier: Apache-2.0
// For the files of api/placement/ only: the schemas, or parts of them, that several kinds of things share.
#ifndef TENURE_API_PLACEMENT_COMMON_SCHEMA_H
#define TENURE_API_PLACEMENT_COMMON_SCHEMA_H

#include "repr/schema/json_schema.h"

extern const struct json_rule class_pattern;        // "^[A-Z0-9_]+$"
extern const struct json_rule custom_class_pattern; // "^CUSTOM_[A-Z0-9_]+$"
extern const struct json_rule uuid_pattern;         // with dashes, in either case

extern const struct json_schema any_string, uuid_string, generation_number;
extern const struct json_schema identity_string;      // the id of a project or a user
extern const struct json_schema trait_string;        // of any characters: what is no trait's name is an unknown trait
extern const struct json_schema consumer_type_string;
extern const struct json_schema consumer_type_or_all; // "all" and "unknown", too

#endif
