/* SPDX-License-Identifier: Apache-2.0 */
/** A program for traces, without threads: tables of three blocks, and a warp source whose warps do
 *  what a random number says. The same seed does the same. */
#ifndef WP_TRACE_PROGRAM_H
#define WP_TRACE_PROGRAM_H

#include <string.h>

#include "base/abi.h"
#include "sim/sm/warp_source.h"
#include "wp_random.h"

#define PROGRAM_SLOTS 64u
#define PROGRAM_WARPS 4u
#define PROGRAM_SHARED ((uint64_t)0x700000000000)
#define PROGRAM_LOCAL ((uint64_t)0x600000000000)

static const wp_trace_step program_steps[] = {{WP_TRACE_ISSUE, WP_TRACE_INT, 5, 2, 0},
                                              {WP_TRACE_ACCESS, 0, 0, 0, 0},
                                              {WP_TRACE_ACCESS, 0, 0, 0, 1},
                                              {WP_TRACE_WAIT, 0, 0, 0, 0},
                                              {WP_TRACE_ACCESS, 0, 0, 0, 2},
                                              {WP_TRACE_ISSUE, WP_TRACE_CONTROL, 1, 1, 0},
                                              {WP_TRACE_RETURN, 0, 0, 0, 0}};
static const wp_trace_block program_blocks[] = {
    {0, 1, 0, 4, 2, 10, 0, 2}, {0, 2, 4, 1, 1, 11, 2, 0}, {0, WP_TRACE_NONE, 5, 2, 0, 12, 2, 1}};
static const wp_trace_place program_places[] = {{"app.cu", NULL, 10},
                                                {"app.cuh", "app.cu:10, app.cu:4", 3}};
static const wp_trace_share program_shares[] = {{1, 2}, {0, 3}, {WP_TRACE_NONE, 1}};
static const wp_trace_site program_sites[] = {
    {"app.cu", "in", 10, 0, 0, WP_TRACE_LOAD, WP_TRACE_GLOBAL, WP_TRACE_CACHE_ALL, 4, 0},
    {"app.cu", "tile", 10, 0, -1, WP_TRACE_STORE, WP_TRACE_SHARED, WP_TRACE_CACHE_ALL, 4, 1},
    {NULL, NULL, 11, 1, 1, WP_TRACE_ATOMIC, WP_TRACE_GENERIC, WP_TRACE_CACHE_GLOBAL, 8,
     WP_TRACE_NONE}};
static const wp_trace_kernel program_kernels[] = {{"walk", 0, 0},
                                                  {"spin", 0, WP_TRACE_KERNEL_SPINS}};
static const char *const program_functions[] = {"walk"};
static const wp_trace_tables program_tables = {.version = WP_TRACE_VERSION,
                                               .block_count = 3,
                                               .step_count = 7,
                                               .site_count = 3,
                                               .kernel_count = 2,
                                               .function_count = 1,
                                               .share_count = 3,
                                               .place_count = 2,
                                               .blocks = program_blocks,
                                               .steps = program_steps,
                                               .sites = program_sites,
                                               .kernels = program_kernels,
                                               .functions = program_functions,
                                               .shares = program_shares,
                                               .places = program_places};

typedef struct program_warp {
    uint64_t random;
    uint32_t left; /* blocks that it executes */
    uint32_t live; /* lanes that have not returned */
    uint64_t addresses[2 * WPI_LANES];
} program_warp;

typedef struct program_source {
    wpi_warp_source base; /* first */
    uint64_t seed;
    uint32_t blocks_max; /* a warp executes up to so many */
    uint32_t used;       /* slots */
    program_warp warps[PROGRAM_SLOTS][PROGRAM_WARPS];
} program_source;

static wp_status program_start(wpi_warp_source *source, uint64_t cta, uint32_t sm, uint32_t *slot,
                               wpi_windows *windows, wp_error *err) {
    program_source *program = (program_source *)(void *)source;
    (void)sm;
    (void)err;
    *slot = (uint32_t)(cta % PROGRAM_SLOTS);
    *windows = (wpi_windows){.shared = PROGRAM_SHARED + *slot * 4096u,
                             .shared_bytes = 4096,
                             .local = PROGRAM_LOCAL + *slot * 65536u,
                             .local_bytes = 65536};
    for (uint32_t w = 0; w < source->warps_per_cta; w++) {
        program_warp *warp = &program->warps[*slot][w];
        *warp = (program_warp){.random = program->seed + cta * 64 + w + 1, .live = ~0u};
        for (int i = 0; i < 8; i++)
            (void)wp_random_next(&warp->random);
        warp->left = (uint32_t)(wp_random_next(&warp->random) % program->blocks_max);
    }
    return WP_STATUS_OK;
}

/* Rows, one address, strides and scatter, in all three spaces. */
static void program_address(program_warp *warp, uint64_t slot, uint64_t *addresses, uint32_t size,
                            bool is_shared) {
    const uint64_t how = wp_random_next(&warp->random), base = wp_random_next(&warp->random) % 4096;
    const uint64_t first = is_shared ? PROGRAM_SHARED + slot * 4096 + base % 1024
                           : (how & 8) != 0 && size == 8 ? PROGRAM_LOCAL + slot * 65536 + base
                                                         : 0x7f0000000000 + base * 4096;
    for (uint32_t lane = 0; lane < WPI_LANES; lane++) {
        const uint64_t scatter = wp_random_next(&warp->random) % 1024;
        addresses[lane] = (how & 3) == 0   ? first
                          : (how & 3) == 1 ? first + lane * size
                          : (how & 3) == 2 ? first + lane * (base % 64)
                                           : first + scatter * ((how & 4) != 0 ? size : 1);
    }
}

static wpi_source_answer program_next(wpi_warp_source *source, uint32_t slot, uint32_t number,
                                      uint32_t blocked, wpi_warp_block *out) {
    program_warp *warp = &((program_source *)(void *)source)->warps[slot][number];
    (void)blocked;
    out->addresses = warp->addresses;
    if (warp->left != 0 && wp_random_next(&warp->random) % 16 == 0)
        warp->live &= (uint32_t)wp_random_next(&warp->random) | 1u;
    if (warp->left == 0) warp->live = 0;
    out->exited = ~warp->live;
    if (warp->left == 0) return WPI_SOURCE_EXIT;
    warp->left--;
    out->block = (uint32_t)(wp_random_next(&warp->random) % 2);
    out->mask = warp->live;
    if (wp_random_next(&warp->random) % 4 == 0)
        out->mask &= (uint32_t)wp_random_next(&warp->random) | 1u;
    program_address(warp, slot, warp->addresses, out->block == 0 ? 4 : 8, false);
    program_address(warp, slot, warp->addresses + WPI_LANES, 4, true);
    return WPI_SOURCE_BLOCK;
}

static bool program_reach(wpi_warp_source *source, uint32_t slot, uint32_t warp, uint32_t lanes,
                          uint64_t cycles, uint64_t time_ns) {
    (void)source, (void)slot, (void)warp, (void)lanes, (void)cycles, (void)time_ns;
    return true;
}

static void program_finish(wpi_warp_source *source, uint32_t slot) {
    (void)source, (void)slot;
}

static const wpi_warp_source_ops program_ops = {program_start, program_next, program_reach,
                                                program_finish};

static inline void program_init(program_source *program, uint64_t seed, uint64_t ctas,
                                uint32_t blocks_max) {
    memset(program, 0, sizeof *program);
    program->seed = seed * 1000003;
    program->blocks_max = blocks_max;
    program->base = (wpi_warp_source){.ops = &program_ops,
                                      .tables = &program_tables,
                                      .cta_count = ctas,
                                      .warps_per_cta = PROGRAM_WARPS,
                                      .threads_per_cta = PROGRAM_WARPS * WPI_LANES,
                                      .shared_bytes_per_cta = 4096,
                                      .registers_per_thread = 32};
}

#endif
