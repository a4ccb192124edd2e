/* SPDX-License-Identifier: Apache-2.0 */
/* A file for a later interface: what is behind the version is not to be read. */
#include "table.h"

static const uint32_t sizes[] = {0};
#define NOTHING ((const wpi_policy *const *)(uintptr_t)1)

TABLE(WPI_POLICY_ABI + 1, sizes, NOTHING);
