/* SPDX-License-Identifier: Apache-2.0 */
/** Warps that follow a script: a warp source whose blocks of code and addresses are written down in
 * the test. All warps of a launch walk the same path, with one mask for each stop on it. */
#ifndef SIM_SCRIPT_H
#define SIM_SCRIPT_H

#include "sim/sm/gpu_model.h"
#include "sim_rig.h"

typedef struct script_stop {
    uint32_t block;
    uint32_t mask;
} script_stop;

#define SCRIPT_WARPS_MAX 4096u
#define SCRIPT_CTAS_MAX 4096u
#define SCRIPT_LOG_MAX 64u

typedef struct script {
    wpi_warp_source source; /* first */
    const script_stop *path;
    uint32_t path_length;
    uint32_t repeats; /* of the path; 0: once */
    uint64_t stride;  /* between lanes */
    uint64_t step;    /* between accesses of a warp, and of all warps */
    uint64_t next_address;
    uint32_t at[SCRIPT_WARPS_MAX]; /* stops that a warp has made */
    uint64_t addresses[SCRIPT_WARPS_MAX][WPI_LANES];
    bool is_used[SCRIPT_CTAS_MAX];
    uint32_t resident, resident_most;
    uint32_t log[SCRIPT_LOG_MAX], log_count; /* which warp was asked for its next block */
    uint32_t placed[SCRIPT_LOG_MAX];         /* CTA -> SM, of the first ones */
    wpi_launch_numbers numbers;
    bool is_done;
} script;

static inline wp_status script_start(wpi_warp_source *source, uint64_t cta, uint32_t sm,
                                     uint32_t *slot, wpi_windows *windows, wp_error *err) {
    script *s = (script *)(void *)source;
    (void)err;
    if (cta < SCRIPT_LOG_MAX) s->placed[cta] = sm;
    *slot = 0;
    while (s->is_used[*slot])
        ++*slot;
    s->is_used[*slot] = true;
    *windows = (wpi_windows){0};
    for (uint32_t w = 0; w < source->warps_per_cta; w++)
        s->at[*slot * source->warps_per_cta + w] = 0;
    s->resident++;
    if (s->resident > s->resident_most) s->resident_most = s->resident;
    return WP_STATUS_OK;
}

static inline wpi_source_answer script_next(wpi_warp_source *source, uint32_t slot, uint32_t warp,
                                            uint32_t blocked, wpi_warp_block *out) {
    script *s = (script *)(void *)source;
    const uint32_t number = slot * source->warps_per_cta + warp;
    if (blocked != 0) return WPI_SOURCE_WAIT;
    if (s->log_count < SCRIPT_LOG_MAX) s->log[s->log_count++] = warp;
    const uint32_t stops = s->path_length * (s->repeats == 0 ? 1 : s->repeats);
    if (s->at[number] == stops) {
        out->exited = ~0u;
        return WPI_SOURCE_EXIT;
    }
    const script_stop *stop = &s->path[s->at[number]++ % s->path_length];
    for (uint32_t lane = 0; lane < WPI_LANES; lane++)
        s->addresses[number][lane] = s->next_address + lane * s->stride;
    s->next_address += s->step;
    *out = (wpi_warp_block){
        .block = stop->block, .mask = stop->mask, .addresses = s->addresses[number]};
    return WPI_SOURCE_BLOCK;
}

static inline void script_finish(wpi_warp_source *source, uint32_t slot) {
    script *s = (script *)(void *)source;
    s->is_used[slot] = false;
    s->resident--;
}

static const wpi_warp_source_ops script_ops = {
    .start = script_start, .next = script_next, .finish = script_finish};

static inline void script_ended(void *object, const wpi_launch_numbers *numbers, bool is_good) {
    script *s = object;
    assert_true(is_good);
    s->numbers = *numbers;
    s->is_done = true;
}

/** Runs the script's launch; how long it took. */
static inline wpi_time_ps script_launch(rig *r, wpi_gpu *gpu, script *s) {
    wp_error err = {0};
    s->source.ops = &script_ops;
    assert_true(s->source.cta_count * s->source.warps_per_cta <= SCRIPT_WARPS_MAX);
    assert_status_ok(wpi_gpu_launch(gpu, &s->source, script_ended, s, &err), &err);
    wpi_engine_run(r->engine);
    wpi_engine_run(r->engine); /* what is still under way behind the launch */
    assert_true(s->is_done);
    return s->numbers.end_ps - s->numbers.start_ps;
}

/** The same on a GPU of its own over the rig's memory. */
static inline wpi_time_ps script_run(rig *r, script *s) {
    wp_error err = {0};
    wpi_gpu *gpu;
    assert_status_ok(wpi_gpu_create(r->profile, r->engine, r->memory, &gpu, &err), &err);
    const wpi_time_ps took = script_launch(r, gpu, s);
    wpi_gpu_destroy(gpu);
    return took;
}

#endif
