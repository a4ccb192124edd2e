/* SPDX-License-Identifier: Apache-2.0 */
/** Blocks that are accessed over the link: which to migrate, and migrations without a waiter
 * (orders), which access counters start. */
#ifndef WP_SIM_BLOCK_MOVES_H
#define WP_SIM_BLOCK_MOVES_H

#include "sim/paging/paging.h"

typedef struct wpi_block_moves {
    uint64_t move_bytes;    /* that SMs could have read over the link while a block is on it, … */
    uint32_t turn_bytes;    /* … or while one remote access has its turn, … */
    uint64_t pass_bytes;    /* … or while a block is read remotely once, line by line, … */
    uint64_t service_bytes; /* … or while a service is longer for its fault */
    uint64_t *ordered;      /* [chunk]: a bit for each block that is ordered and not yet serviced */
    uint64_t ordered_blocks;
    wpi_time_ps line_ps, move_ps; /* of the link, for a line, and for a block */
    wpi_time_ps stall_ps;         /* that an access to a block on order stalls, at least */
    wpi_time_ps on_until;         /* it is busy with accesses to blocks that are to be migrated */
} wpi_block_moves;

void wpi_block_moves_init(wpi_block_moves *moves, const wpi_profile *profile);
void wpi_block_moves_deinit(wpi_block_moves *moves); /* `{0}` is fine */
/** There will be `after` chunks instead of `before`. NOMEM. */
WP_NODISCARD wp_status wpi_block_moves_grow(wpi_block_moves *moves, uint32_t before, uint32_t after,
                                            wp_error *err);

static inline bool wpi_block_moves_has_orders(const wpi_block_moves *moves) {
    return moves->ordered_blocks != 0;
}

/** The access goes over the link, and does not start a migration. */
bool wpi_block_moves_stay_remote(wpi_paging *paging, const wpi_chunk *chunk,
                                 const wpi_paging_asker *asker, wpi_time_ps now);
/** The block is to be migrated, but the access need not wait: it goes over the link. */
bool wpi_block_moves_may_go_on(wpi_paging *paging, const wpi_chunk *chunk,
                               const wpi_paging_asker *asker, wpi_time_ps now);
/** Starts the migration of the page's block, without a waiter; once for each block. */
void wpi_block_moves_order(wpi_paging *paging, wpi_page_number page, wpi_time_ps now);
/** A service takes care of these pages: their blocks are no longer ordered. */
void wpi_block_moves_serve(wpi_block_moves *moves, wpi_chunk_number chunk, const wpi_pages *pages);
/** These pages are about to be evicted: calls the policy to judge whether their stay paid. */
void wpi_block_moves_judge(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages);
/** Of victims in a chunk, those that leave for `missing` frames: all or, with a policy that spares
 * blocks, only as many as are missing. */
wpi_pages wpi_block_moves_needed(const wpi_paging *paging, wpi_chunk_number chunk, uint64_t missing,
                                 const wpi_pages *victims);

#endif
