// SPDX-License-Identifier: Apache-2.0
// The authenticated user of a request.
#ifndef TENURE_AUTH_PRINCIPAL_H
#define TENURE_AUTH_PRINCIPAL_H

#include "auth/realm.h"
#include "base/outcome.h"
#include "base/str.h"
#include "wadl/route.h"

struct principal {
	struct str user;   // for logs and change rows; "": the request is anonymous
	struct str tenant; // the tenant it belongs to; "" for none (operators, strangers)
	enum role role;    // within that tenant; ROLE_OPERATOR: everywhere
	bool reads_all;    // may read what an operator may, whatever its role (noauth alone makes such)
};

// May the principal use a method that needs this role on what is in that realm? Only an operator may use the
// system space, or all tenants at once.
//   OUTCOME_OK
//   OUTCOME_NOT_FOUND  the realm is not the principal's tenant: answered as if it did not exist
//   OUTCOME_FORBIDDEN  its own tenant, but the role does not suffice; or an operator's call
//   OUTCOME_UNAUTHENTICATED  the request is anonymous, and the method needs a user
enum outcome policy_permits(const struct principal *principal, enum role needed, struct realm realm);

#endif
