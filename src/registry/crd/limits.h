// SPDX-License-Identifier: Apache-2.0
// How many CustomResourceDefinitions a tenant may have.
#ifndef TENURE_REGISTRY_CRD_LIMITS_H
#define TENURE_REGISTRY_CRD_LIMITS_H

#include "base/str.h"

struct registry;

// What is too much if a tenant has n definitions of so many bytes in all, metadata and bodies, and what would be right: a text in
// the request's pool. p NULL: nothing.
struct str definitions_excess(struct registry *registry, uint64_t n, uint64_t bytes);

#endif
