// SPDX-License-Identifier: Apache-2.0
// How unit tests change settings: SET(config, db)->name = "t", or of an endpoint SET_ENDPOINT(endpoint, server)->workers = 2.
#ifndef TENURE_T_UNIT_SET_H
#define TENURE_T_UNIT_SET_H

#include "base/config/config.h"

#define SET(config, owner) ((struct owner##_settings *)config_values(config, &owner##_settings_table))
#define SET_ENDPOINT(endpoint, owner) ((struct owner##_settings *)config_endpoint_values(endpoint, &owner##_settings_table))

#endif
