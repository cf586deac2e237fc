// SPDX-License-Identifier: Apache-2.0
// GET of a collection, as a list or as a watch.
#ifndef TENURE_API_SPACES_COLLECTION_H
#define TENURE_API_SPACES_COLLECTION_H

#include "api/call.h"

handler_fn list_in_space;

#endif
