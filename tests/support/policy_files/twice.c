/* SPDX-License-Identifier: Apache-2.0 */
/* A policy that is good, and another one of the same name. */
#include "table.h"

static const wpi_replacement_ops ops = {.is_moved_by_use = true};
static const wpi_policy first = POLICY("replacement", "same-name", &ops);
static const wpi_policy second = POLICY("replacement", "same-name", &ops);
static const wpi_policy *const policies[] = {&first, &second, NULL};
static const uint32_t sizes[] = WPI_POLICY_SIZES;

TABLE(WPI_POLICY_ABI, sizes, policies);
