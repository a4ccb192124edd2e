/* SPDX-License-Identifier: Apache-2.0 */
/** Which pages make room for others. */
#ifndef WP_POLICY_EVICT_H
#define WP_POLICY_EVICT_H

#include <stddef.h>

#include "policy/future.h"
#include "policy/policy.h"
#include "policy/residency.h"

typedef struct wpi_evict_question {
    const wpi_residency *residency;
    uint32_t
        reserve_percent; /* of what could leave, this part, which was used longest ago, stays */
    bool is_pressed;     /* no answer before: parts of larger things may leave, too */
    uint64_t *random;    /* state of a generator, never 0 */
    uint64_t *notes;     /* [chunk]: of the policy; 0 for chunks that are new */
    const wpi_future *future; /* NULL: not known */
} wpi_evict_question;

typedef struct wpi_evict_ops {
    bool needs_page_ages, needs_future;
    /* Pages that leave together: of one chunk, resident, of blocks that are not busy. False: none
     * may leave now; it is asked again, pressed, and when an access or a transfer has ended. */
    bool (*choose)(const wpi_evict_question *question, uint32_t *chunk, wpi_pages *pages);
} wpi_evict_ops;

#define WPI_EVICT_NONE UINT32_MAX

/** By what chunks are sorted; it only grows. Who sorts leaves the notes alone, and has one order.
 */
typedef uint64_t (*wpi_evict_age)(const wpi_chunk *chunk);

/** The chunk has resident pages that may leave as a whole: all there are if not pressed, none busy.
 */
bool wpi_evict_may_leave(const wpi_evict_question *question, const wpi_chunk *chunk);
/** … of a block. */
bool wpi_evict_block_may_leave(const wpi_evict_question *question, const wpi_chunk *chunk,
                               uint32_t block);
/** Takes the oldest chunk that may leave, behind the reserved ones. */
bool wpi_evict_oldest_chunk(const wpi_evict_question *question, wpi_evict_age age_of,
                            uint32_t *chunk, wpi_pages *pages);
/** Takes a block: of the chunk used longest ago the block used longest ago. */
bool wpi_evict_oldest_block(const wpi_evict_question *question, uint32_t *chunk, uint32_t *block);
/** Adds the resident pages of a block. */
void wpi_evict_add_block(const wpi_chunk *chunk, uint32_t block, wpi_pages *pages);

#endif
