// SPDX-License-Identifier: Apache-2.0
// The installed header, by the name that our own files include it by.
#ifndef TENURE_LIB_TENURE_H
#define TENURE_LIB_TENURE_H

#include "base/base.h"

#include <tenure/tenure.h>

#endif
