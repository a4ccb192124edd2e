/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The scheduler of one thread block. The rules are written down in docs/rooms/abi.md.
 *
 *   together   All live threads are in one state: a range [first, outer) and a state number. A stop
 *              that completes for all of them at once (a barrier, a warp operation of whole warps)
 *              costs no work per thread. Region form only.
 *   mixed      Each warp keeps sets of lanes (wpi_warp). Passes over the warps: in each, the ready
 *              lanes with the smallest state run, until none is ready; then operations complete,
 *              then barriers. When all live threads meet again in one state, back to "together".
 *
 * A block in which every runnable thread has yielded releases its worker (YIELDS), as it may wait
 * for another block. A block in which no thread can run is a deadlock, which ends the launch with a
 * message (block_deadlock.c).
 *
 * block_storage.c has the memory of blocks, block_together.c and block_mixed.c the two ways to run,
 * block_warp.c one warp, block_stops.c the sets of lanes, block_barriers.c block barriers.
 */
#include "device/cpu/block/block_parts.h"

void wpi_block_let_go(wpi_block *block, uint32_t w, uint32_t lanes) {
    wpi_warp *warp = &block->warps[w];
    warp->ready |= warp->held & lanes;
    warp->held &= ~lanes;
}

wpi_outcome wpi_block_run(wpi_block *block) {
    wp_rt_block = &block->pub;
    if (wpi_block_is_checked(block)) block->worker->check_stack = __builtin_frame_address(0);
    block->waits_for_cluster = block->awaits_nested = false;
    if (block->awaits == NULL) block->awaited_least = UINT64_MAX;
    for (;;) {
        const wpi_outcome outcome =
            block->is_mixed ? wpi_block_run_mixed(block) : wpi_block_run_together(block);
        if (outcome == WPI_OUTCOME_CLUSTER) block->waits_for_cluster = true;
        if (outcome != WPI_OUTCOME_COUNT) return outcome;
    }
}
