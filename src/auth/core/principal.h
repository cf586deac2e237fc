// SPDX-License-Identifier: Apache-2.0
// The authenticated user of a request.
#ifndef TENURE_AUTH_CORE_PRINCIPAL_H
#define TENURE_AUTH_CORE_PRINCIPAL_H

#include "auth/core/realm.h"
#include "auth/core/role.h"
#include "base/outcome.h"
#include "base/str.h"

struct principal {
	struct str user;   // for logs and change rows; "": the request is anonymous
	struct str tenant; // the tenant it belongs to; "" for operators, and for users without rights
	enum role role;    // within that tenant; ROLE_OPERATOR: everywhere
	int64_t expires_us; // wall clock: from then on its credential counts no more, whatever its service says; 0: nothing is known of an end
	bool reads_all;    // may read what an operator may; its role is ROLE_NONE or ROLE_OPERATOR, so it changes nothing in a tenant
	bool is_lent;      // somebody lent it a part of its rights for a time (Keystone's restricted application credentials, trusts), so it makes no
	                   // credential that would outlive that
	// Settings have made role of the OpenStack roles below. Where no policy is configured, these give nothing more: the
	// OpenStack role admin alone does not make an operator.
	bool is_mapped;
	// For OpenStack's policies (principal_openstack):
	bool has_roles;    // the credential says which roles and scope it has; false: they follow from the role and the tenant above
	struct str roles;  // names, separated by commas; "" for none
	bool system_scope; // the credential's scope is the whole system, not a project
	struct str project; // id of the project that is the credential's scope; "" for none
	struct str service_roles; // names, with commas: roles of the service that sends the request for the user; "" for none
	// The tenant may be new here:
	bool makes_tenant;       // it is created if it was never there, or is purged
	struct str tenant_label; // its name where the credential comes from, as metadata of a tenant that is created so; "" for none
};

// A principal's roles and scope as OpenStack's policies know them.
struct openstack_scope {
	struct str roles;   // names, separated by commas
	bool system_scope;
	struct str project; // "" for none
};
// The roles and scope of the credential, if it has any. Otherwise they follow from the role: an operator has admin, member and
// reader in the system scope; an admin or member of a tenant has member and reader, and a reader has reader, in the project of
// the tenant's name.
struct openstack_scope principal_openstack(const struct principal *principal);
// Does the scope include the role? Names are compared without regard to case, like in oslo.policy.
bool principal_has_openstack_role(const struct openstack_scope *scope, struct str role);
// Where no policy is configured: do the principal's OpenStack roles let it do what an operator may in OpenStack's services? Those
// are admin and service, unless settings say it (is_mapped), which role has followed already.
bool openstack_scope_may_all(const struct principal *principal);

// May the principal use a method that needs this role on what is in that realm? Only an operator may use the
// system space, or all tenants at once.
//   OUTCOME_OK
//   OUTCOME_NOT_FOUND  the realm is not the principal's tenant: answered as if it did not exist
//   OUTCOME_FORBIDDEN  its own tenant, but the role does not suffice; or an operator's call
//   OUTCOME_UNAUTHENTICATED  the request is anonymous, and the method needs a user
enum outcome principal_may(const struct principal *principal, enum role needed, struct realm realm);
// The same for a method that changes nothing: a principal with reads_all may use it in every realm, whatever its role.
enum outcome principal_may_read(const struct principal *principal, enum role needed, struct realm realm);
// Where no policy is configured: may the principal see what consumers of that OpenStack project use: does its scope have that
// project, or may it read everything? OUTCOME_OK; OUTCOME_FORBIDDEN; OUTCOME_UNAUTHENTICATED: the request is anonymous.
enum outcome principal_may_see_usages(const struct principal *principal, struct str project);

#endif
