/* SPDX-License-Identifier: Apache-2.0 */
/** Eviction policy: which pages to evict when others need frames. */
#ifndef WP_POLICY_EVICT_H
#define WP_POLICY_EVICT_H

#include <stddef.h>

#include "policy/future.h"
#include "policy/policy.h"
#include "policy/residency.h"

typedef struct wpi_evict_question {
    const wpi_residency *residency;
    uint32_t reserve_percent; /* share of evictable memory, least recently used, that is kept */
    bool is_pressed;          /* asked again: incomplete blocks and chunks may be evicted too */
    uint64_t *random;         /* state of a generator, never 0 */
    uint64_t *notes;          /* [chunk]: the policy's own; 0 for new chunks */
    const wpi_future *future; /* NULL: not known */
} wpi_evict_question;

typedef struct wpi_evict_ops {
    bool needs_page_ages, needs_future;
    /* Chooses pages to evict together: resident pages of one chunk, in blocks that are not busy.
     * False: none can be evicted now; the simulator calls again with is_pressed, and when an access
     * or a transfer has ended. */
    bool (*choose)(const wpi_evict_question *question, uint32_t *chunk, wpi_pages *pages);
} wpi_evict_ops;

#define WPI_EVICT_NONE UINT32_MAX

/** The age by which chunks are ordered; it only grows. A policy that uses it keeps one order and
 * does not write the notes.
 */
typedef uint64_t (*wpi_evict_age)(const wpi_chunk *chunk);

/** Whether the chunk's resident pages may be evicted together: none is busy and, unless pressed,
 * the chunk is complete.
 */
bool wpi_evict_may_leave(const wpi_evict_question *question, const wpi_chunk *chunk);
/** The same for a block. */
bool wpi_evict_block_may_leave(const wpi_evict_question *question, const wpi_chunk *chunk,
                               uint32_t block);
/** Chooses the oldest chunk that may be evicted, after the reserved ones. */
bool wpi_evict_oldest_chunk(const wpi_evict_question *question, wpi_evict_age age_of,
                            uint32_t *chunk, wpi_pages *pages);
/** Chooses the least recently used block of the least recently used chunk. */
bool wpi_evict_oldest_block(const wpi_evict_question *question, uint32_t *chunk, uint32_t *block);
/** Adds the resident pages of a block. */
void wpi_evict_add_block(const wpi_chunk *chunk, uint32_t block, wpi_pages *pages);

#endif
