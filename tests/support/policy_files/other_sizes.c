/* SPDX-License-Identifier: Apache-2.0 */
/* A file of the same version in which one structure is larger. */
#include "table.h"

static const wpi_policy *const policies[] = {NULL};
static const uint32_t right[] = WPI_POLICY_SIZES;
static const uint32_t sizes[sizeof right / sizeof right[0]] = {sizeof(wpi_policy) + 8};

TABLE(WPI_POLICY_ABI, sizes, policies);
