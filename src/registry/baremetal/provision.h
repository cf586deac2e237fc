// SPDX-License-Identifier: Apache-2.0
// Provision states of nodes: the state machine of OpenStack's Bare Metal API, microversions 1.1 to 1.82, as far as it runs
// without hardware.
//
// A verb that needs no hardware leads to its last state at once, so no node is ever seen in a state such as "deploying". Such
// states occur only in nodes that an operator stored with them; from there the same verbs lead on.
#ifndef TENURE_REGISTRY_BAREMETAL_PROVISION_H
#define TENURE_REGISTRY_BAREMETAL_PROVISION_H

#include "registry/baremetal/baremetal.h"

// What clients ask for as the target of a node's provision state.
struct provision_verb {
	const char *target; // as clients send it: "active", "deleted", …
	const char *name;   // the verb in the table of transitions: "deploy", "delete", …
	unsigned since;     // the microversion that introduced it
	const char *doing;  // as errors name what is done: "provisioning"; NULL: maintenance does not prevent it
};
// Returns the verb that clients ask for by that target; NULL if there is none.
const struct provision_verb *provision_verb_find(struct str target);

// Takes the next step of a node's state machine: changes the members of body that the verb changes. body is the stored body of
// the node, whose row is locked. registry->stamp_us is the time of the change. configdrive: a string or an object that a
// deployment stores in instance_info; NULL: none. Returns
//   OUTCOME_OK     an undeployed node has no instance any more; the caller deletes its allocation (allocation_drop())
//   _CONFLICT      the node is reserved
//   _FORBIDDEN     it is protected
//   _BAD_REQUEST   the verb is not possible in its state, in maintenance or for a retired node; or an interface of the node that
//                  has to do the work needs hardware; or it deploys, and the instance has traits that the node has not
enum outcome provision_node(struct registry *registry, const struct resource *node, const struct provision_verb *verb,
	const struct doc *configdrive, struct doc *body);

// Says what is wrong with the traits of the instance in the node's stored body, all of which the node has to have before it is
// deployed; STR_NONE: nothing.
struct str provision_wrong_traits(struct pool *pool, const struct resource *node, const struct doc *body);

// Does the node's interface ("power", "deploy", …) work without hardware, because its implementation is "fake"?
bool provision_is_fake(const struct doc *body, const char *interface);
// OUTCOME_BAD_REQUEST: the node's driver does not support the function, which is an interface or a part of one.
enum outcome provision_fail_unsupported(struct registry *registry, const struct doc *body, const char *function);
// OUTCOME_OK, or OUTCOME_CONFLICT if the node is reserved, so that nothing may work on it.
enum outcome provision_check_reserved(struct registry *registry, const struct uuid *uid, const struct doc *body);
// OUTCOME_OK, or OUTCOME_CONFLICT if the node with that body is in a state in which clients may not change it. inspecting: nor
// may they in the state "inspecting".
enum outcome provision_check_settled(struct registry *registry, const struct uuid *uid, const struct doc *body, bool inspecting);
// As provision_check_reserved(), for what belongs to a node, such as a port: ident names it; the call runs in the transaction
// that changes it (struct edit: with), and its rows are checked. inspecting: nor may the resource be changed while its node is in
// the state "inspecting". The node is read, not locked: only OpenStack's own conductors reserved or inspected any, before their
// nodes came here.
struct db_call *provision_reservation_call(struct pool *pool, const struct ident *ident);
enum outcome provision_check_reservation(struct registry *registry, const struct db_call *call, const struct resource *resource, bool inspecting);

#endif
