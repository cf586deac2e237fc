// SPDX-License-Identifier: Apache-2.0
// An authenticator that Tenure does not have: t/463-new-authenticator.t adds it to a build by this file and the row beside it.
// X-Stamp names the user, who belongs to the tenant of the same name.
#include "base/base.h"

#include "auth/authenticator.h"

static enum outcome identify(void *state, const struct identity *identity, bool *recognised)
{
	struct str name = request_header(identity->request, "x-stamp");

	UNUSED(state);
	*recognised = name.p != NULL;
	if (!*recognised)
		return OUTCOME_OK;
	*identity->detail = STR("X-Stamp must be the name of a user");
	if (!auth_is_name(name))
		return OUTCOME_UNAUTHENTICATED;
	identity->principal->user = name;
	identity->principal->tenant = name;
	identity->principal->role = ROLE_ADMIN;
	return OUTCOME_OK;
}

static const char *const headers[] = { "x-stamp", NULL };

const struct authenticator stamp_authenticator = {
	.challenge = "Stamp realm=\"tenure\"",
	.headers = headers,
	.identify = identify,
};
