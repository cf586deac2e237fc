// SPDX-License-Identifier: Apache-2.0
// The form of a JSON Web Token in its compact serialisation (RFC 7515 section 3.1): what can be read of it before its signature
// is verified. For files in auth/ only.
#ifndef TENURE_AUTH_CORE_JWT_FORM_H
#define TENURE_AUTH_CORE_JWT_FORM_H

#include "base/str.h"

struct doc;
struct pool;

// Still in base64url.
struct jwt_parts {
	struct str header, payload, signature;
	struct str signed_part; // header and payload with the dot between them
};

// False: it has not three parts with dots between them.
bool jwt_form_divide(struct str token, struct jwt_parts *parts);
// Decodes base64url into pool. False: it is none.
bool jwt_form_decode(struct pool *pool, struct str text, struct str *bytes);
// The JSON object in a part of the token, in pool; NULL: it is none. Of two members with the same name it is none, either.
const struct doc *jwt_form_object(struct pool *pool, struct str text);
// Is it one that Keystone's provider jws makes: do its claims say by which methods of Keystone its user logged in, and no issuer
// (iss), as every token of an OpenID Connect provider does?
bool jwt_form_is_keystones(struct pool *pool, struct str token);

#endif
