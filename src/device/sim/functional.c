/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CTAs run in order of their numbers, warps in turns. CTAs may wait for each other (grid barriers,
 * spinning), so if no CTA ends for a few rounds the next one starts beside those that run.
 */
#include "device/sim/functional.h"

#include "base/alloc.h"
#include "device/sim/code_tables.h"

#define TURN_BLOCKS 256u /* blocks of a warp in one turn */
#define ROUNDS_ALONE 4u  /* rounds after which the next CTA starts */

typedef struct live_cta {
    uint32_t slot;
    uint32_t ended; /* warps that have returned */
} live_cta;

typedef struct functional {
    wpi_warp_source *source;
    live_cta *ctas; /* [count], oldest first */
    uint64_t count, capacity, next_cta;
    uint64_t cycles; /* value of clocks: blocks executed */
    bool has_progressed;
} functional;

static wp_status start_cta(functional *f, wp_error *err) {
    if (f->count == f->capacity) {
        const uint64_t capacity = f->capacity != 0 ? 2 * f->capacity : 16;
        live_cta *ctas = wpi_realloc(f->ctas, (size_t)capacity * sizeof *ctas);
        if (ctas == NULL) return WP_FAIL(err, NOMEM, "CTAs of a launch");
        f->ctas = ctas;
        f->capacity = capacity;
    }
    wpi_windows windows;
    live_cta *cta = &f->ctas[f->count];
    cta->ended = 0;
    WP_TRY(f->source->ops->start(f->source, f->next_cta, 0, &cta->slot, &windows, err));
    f->count++;
    f->next_cta++;
    return WP_STATUS_OK;
}

/* The block is executed: releases its lanes if they are held at its end. */
static bool come_to_end(functional *f, const live_cta *cta, uint32_t warp,
                        const wpi_warp_block *block) {
    f->cycles++;
    if (!wpi_block_is_held(f->source->tables, block->block)) return true;
    return f->source->ops->reach(f->source, cta->slot, warp, block->mask, f->cycles, f->cycles);
}

/* One turn of a warp. False: the kernel failed. */
static bool take_turn(functional *f, live_cta *cta, uint32_t warp) {
    for (uint32_t i = 0; i < TURN_BLOCKS; i++) {
        wpi_warp_block block;
        const wpi_source_answer answer =
            f->source->ops->next(f->source, cta->slot, warp, 0, &block);
        if (answer == WPI_SOURCE_FAILED) return false;
        if (answer == WPI_SOURCE_EXIT) cta->ended |= 1u << warp;
        if (answer == WPI_SOURCE_EXIT || answer == WPI_SOURCE_BLOCK) f->has_progressed = true;
        if (answer != WPI_SOURCE_BLOCK) return true;
        if (!come_to_end(f, cta, warp, &block)) return false;
        if (wpi_block_ends_round(f->source->tables, block.block)) return true;
    }
    return true;
}

/* One turn for every warp; frees CTAs that have ended. False: the kernel failed. */
static bool take_turns(functional *f) {
    const uint32_t warps = f->source->warps_per_cta;
    const uint32_t all = warps == 32 ? ~0u : (1u << warps) - 1;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < f->count; i++) {
        live_cta *cta = &f->ctas[i];
        for (uint32_t w = 0; w < warps; w++) {
            if ((cta->ended >> w & 1u) == 0 && !take_turn(f, cta, w)) return false;
        }
        if (cta->ended == all) {
            f->source->ops->finish(f->source, cta->slot);
        } else {
            f->ctas[kept++] = *cta;
        }
    }
    f->count = kept;
    return true;
}

static wp_status run_all(functional *f, wp_error *err) {
    uint64_t rounds = 0, oldest = 0;
    while (f->count != 0 || f->next_cta != f->source->cta_count) {
        const uint64_t ended = f->next_cta - f->count;
        if (ended != oldest) rounds = 0;
        oldest = ended;
        if (f->next_cta != f->source->cta_count && (f->count == 0 || rounds > ROUNDS_ALONE))
            for (uint32_t i = 0; i < f->source->cluster_size || i == 0; i++)
                WP_TRY(start_cta(f, err));
        f->has_progressed = false;
        rounds++;
        if (!take_turns(f)) return WP_FAIL(err, DEVICE, "the kernel failed");
        if (!f->has_progressed && f->next_cta == f->source->cta_count)
            return WP_FAIL(err, KERNEL_DEADLOCK, "all threads of the kernel are blocked");
    }
    return WP_STATUS_OK;
}

wp_status wpi_functional_run(wpi_warp_source *source, wp_error *err) {
    functional f = {.source = source};
    const wp_status status = run_all(&f, err);
    for (uint64_t i = 0; i < f.count; i++)
        source->ops->finish(source, f.ctas[i].slot);
    wpi_free(f.ctas);
    return status;
}
