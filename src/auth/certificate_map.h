// SPDX-License-Identifier: Apache-2.0
// Which user, tenant and role a certificate stands for: the rules of the setting map in section [certificate]. For files in auth/
// only.
//
// A rule is a line, or ends with a semicolon: KIND PATTERN ROLE [user=NAME] [tenant=NAME]. The first rule that fits decides.
//   KIND     subject | email | dns | uri | upn: what is compared
//   PATTERN  of a name, in which {user} and {tenant} stand for one or more characters: up to the pattern's next character, which they don't
//            contain, and without "/" in a uri, "@" in email and upn, "." and "*" in dns. Of a subject: ATTRIBUTE=PATTERN, with commas:
//            the subject must have these attributes and no others; several of one type in the certificate's order. %XX is a byte: %20 a
//            blank, %2C a comma
//   ROLE     reader | member | admin | operator
// A rule that several alternative names fit in different ways is ambiguous, and the certificate is refused.
#ifndef TENURE_AUTH_CERTIFICATE_MAP_H
#define TENURE_AUTH_CERTIFICATE_MAP_H

#include "auth/core/principal.h"
#include "base/crypto/certificate.h"

struct pool;
struct certificate_map;

// text must outlive the result, as a setting does. NULL: *error (malloc) names the rule and says what would be right.
struct certificate_map *certificate_map_new(struct str text, char **error);
void certificate_map_free(struct certificate_map **map);
// Sets the principal's user, tenant and role; strings in pool. NULL, or why the certificate stands for nobody.
const char *certificate_map_apply(const struct certificate_map *map, struct pool *pool, const struct certificate *certificate,
	struct principal *principal);

#endif
