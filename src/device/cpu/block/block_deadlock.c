/* SPDX-License-Identifier: Apache-2.0 */
/* The message for a block in which no thread can run. */
#include <stdio.h>

#include "device/cpu/block/block_parts.h"

static void thread_index(const wpi_block *block, uint32_t t, uint32_t tid[3]) {
    const uint32_t *dim = block->pub.block_dim;
    tid[0] = t % dim[0];
    tid[1] = t / dim[0] % dim[1];
    tid[2] = t / dim[0] / dim[1];
}

static void describe_wait(const wpi_block *block, uint32_t w, uint32_t lane, char *out,
                          size_t out_bytes) {
    const wpi_warp *warp = &block->warps[w];
    const uint32_t t = w * WP_WARP_LANES + lane;
    const uint32_t op = wpi_block_op(block, t, block->pub.states[t]);
    const char *name = wpi_stop_name(op);
    if ((warp->barrier >> lane & 1u) != 0) {
        const wpi_barrier *barrier = &block->barriers[wpi_barrier_id(block, t)];
        snprintf(out, out_bytes, "waits at %s (barrier %u, %u of %u threads are there)", name,
                 wpi_barrier_id(block, t), barrier->waiting + barrier->arrived,
                 barrier->count != 0 ? barrier->count
                                     : block->pub.thread_count - block->exited_count);
    } else if ((warp->op >> lane & 1u) != 0) {
        const wp_cpu_request *requests = block->pub.requests + (size_t)w * WP_WARP_LANES;
        const uint32_t mask = requests[lane].mask;
        uint32_t there = 0;
        for (uint32_t left = warp->op & mask; left != 0; left &= left - 1) {
            const wp_cpu_request *r = &requests[wpi_lanes_lowest(left)];
            there |= (uint32_t)(r->op == op && r->mask == mask) << wpi_lanes_lowest(left);
        }
        snprintf(out, out_bytes, "waits at %s with mask 0x%08x for the lanes 0x%08x", name, mask,
                 mask & ~warp->exited & ~there);
    } else {
        snprintf(out, out_bytes, "waits at %s", name);
    }
}

_Noreturn void wpi_block_fail_deadlock(wpi_block *block) {
    char waits[2][200] = {"", ""};
    uint32_t other[3] = {0, 0, 0}, first_op = WP_STOP_COUNT;
    for (uint32_t w = 0; w < block->warp_count && waits[1][0] == '\0'; w++) {
        const wpi_warp *warp = &block->warps[w];
        for (uint32_t left = ~warp->exited; left != 0; left &= left - 1) {
            const uint32_t t = w * WP_WARP_LANES + wpi_lanes_lowest(left);
            const uint32_t op = wpi_block_op(block, t, block->pub.states[t]);
            if (waits[0][0] == '\0') {
                describe_wait(block, w, wpi_lanes_lowest(left), waits[0], sizeof waits[0]);
                thread_index(block, t, block->pub.tid);
                first_op = op;
            } else if (op != first_op) {
                describe_wait(block, w, wpi_lanes_lowest(left), waits[1], sizeof waits[1]);
                thread_index(block, t, other);
                break;
            }
        }
    }
    if (waits[1][0] == '\0') {
        wpi_worker_fail(block->worker, WP_STATUS_KERNEL_DEADLOCK, true,
                        "%s; no thread of the block can go on", waits[0]);
    }
    wpi_worker_fail(block->worker, WP_STATUS_KERNEL_DEADLOCK, true,
                    "%s, thread (%u,%u,%u) %s; no thread of the block can go on", waits[0],
                    other[0], other[1], other[2], waits[1]);
}
