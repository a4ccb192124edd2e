/* SPDX-License-Identifier: Apache-2.0 */
/** Migration policy: when to migrate a page instead of accessing it over the link. */
#ifndef WP_POLICY_MIGRATE_H
#define WP_POLICY_MIGRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"

typedef struct wpi_migrate_question {
    uint32_t accesses;             /* to the page's block, including this one */
    uint32_t round_trips;          /* of the block */
    uint64_t frames, taken_frames; /* of the device; resident, in flight or on order */
    bool is_oversubscribed;        /* memory was full before */
    uint32_t threshold;            /* paging.migrate_threshold: t_s */
    uint64_t penalty;              /* paging.migrate_penalty: p */
    uint64_t remote_bytes;         /* of its accesses over the link, since its last eviction */
    uint64_t local_bytes;          /* of those to it on the device */
    uint32_t in_vain;              /* number of last consecutive stays that did not pay */
    uint64_t move_bytes;           /* bytes that take the link for as long as migrating the block */
    uint64_t pass_bytes;           /* … as reading it remotely once, line by line */
    uint64_t service_bytes;        /* … as its fault adds to a service */
} wpi_migrate_question;

typedef struct wpi_migrate_ops {
    /* The number of accesses, or of bytes over the link, at which the page migrates. UINT64_MAX:
     * never. */
    uint64_t (*threshold)(const wpi_migrate_question *question);
    /* Optional: whether the block, which is evicted, should have stayed on the host. */
    bool (*was_in_vain)(const wpi_migrate_question *question);
    /* With was_in_vain: of the pages that the evictor chooses together only as many leave as frames
     * are missing, first blocks whose stay was in vain, then those used longest ago. The others are
     * the next to leave, unless they are used until then. */
    bool spares;
    bool counts_bytes;
    bool counts_writes; /* writes count like reads; otherwise the first write migrates the page */
    /* With counts_bytes, the access that reaches the threshold orders the block, which migrates as
     * a whole; accesses continue over an idle link until its transfer starts. */
    bool orders;
} wpi_migrate_ops;

#endif
