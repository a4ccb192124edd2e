/* SPDX-License-Identifier: Apache-2.0 */
/** Whether a page that a GPU reads and has not got comes to it, or is read across the link. */
#ifndef WP_POLICY_MIGRATE_H
#define WP_POLICY_MIGRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"

typedef struct wpi_migrate_question {
    uint32_t accesses;             /* of the page's block, this one with them */
    uint32_t round_trips;          /* of the block */
    uint64_t frames, taken_frames; /* of the device; resident, on the way or ordered */
    bool is_oversubscribed;        /* memory was full before */
    uint32_t threshold;            /* paging.migrate_threshold: t_s */
    uint64_t penalty;              /* paging.migrate_penalty: p */
    uint64_t remote_bytes;         /* of the block's accesses across the link, since it last left */
    uint64_t local_bytes;          /* of those that found it here */
    uint32_t in_vain;              /* stays in a row, the last ones, that were */
    uint64_t move_bytes;           /* as many take the link as long as the block does, one way */
} wpi_migrate_question;

typedef struct wpi_migrate_ops {
    /* How many accesses bring the page; or bytes across the link. UINT64_MAX: none does. */
    uint64_t (*threshold)(const wpi_migrate_question *question);
    /* Optional: the block leaves, and should have stayed on the host. */
    bool (*was_in_vain)(const wpi_migrate_question *question);
    bool counts_bytes;
    bool counts_writes; /* as reads; without it the first write brings the page */
    /* A block is ordered with the access that paid for it, if it pays in bytes, and moved whole;
     * accesses use an idle link until it is on its way. */
    bool orders;
} wpi_migrate_ops;

#endif
