/* SPDX-License-Identifier: Apache-2.0 */
/** The result of a group-by: columns, filled from a grouper's batches. */
#ifndef WP_OPS_GROUPS_H
#define WP_OPS_GROUPS_H

#include "ops/grouper.h"

/** Gets the grouper's groups. INVALID: a sum does not fit its type. */
WP_NODISCARD wp_status wpi_groups_create(const wpi_shape *shape, const wpi_keys *keys,
                                         wpi_grouper *grouper, bool is_sorted, wp_groups **out,
                                         wp_error *err);

#endif
