/* SPDX-License-Identifier: Apache-2.0 */
/** TLB replacement policy: which entry of a full set to evict. */
#ifndef WP_POLICY_REPLACEMENT_H
#define WP_POLICY_REPLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"

typedef struct wpi_replacement_ops {
    /* A set is a list with new entries at the front. true: used entries move to the front too. */
    bool is_moved_by_use;
    /* The position to evict in a full set's list; NULL: the last. `random`: the TLB's generator
     * state, never 0. */
    uint32_t (*victim)(uint64_t *random, uint32_t ways);
} wpi_replacement_ops;

extern const wpi_policy wpi_policy_replacement_lru; /* for tables without a key of their own */

#endif
