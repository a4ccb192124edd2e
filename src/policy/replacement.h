/* SPDX-License-Identifier: Apache-2.0 */
/** Which entry of a full set leaves a TLB. */
#ifndef WP_POLICY_REPLACEMENT_H
#define WP_POLICY_REPLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"

typedef struct wpi_replacement_ops {
    /* A set is a list: what comes in is put in front, and with this what is used, too. */
    bool is_moved_by_use;
    /* Of a full set, the way that leaves; NULL: the last of the list. `random` is the TLB's state
     * of a generator, never 0. */
    uint32_t (*victim)(uint64_t *random, uint32_t ways);
} wpi_replacement_ops;

extern const wpi_policy wpi_policy_replacement_lru; /* of what has no key of its own */

#endif
