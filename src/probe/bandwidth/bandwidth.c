/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses, for 4 warps and two turns; a letter is what a warp reads in a turn:
 *
 *     DRAM     | launch 1: abcd abcd | launch 2: abcd abcd abcd … |   never the same sector again
 *     L2       | abcd abcd abcd abcd |  and from the beginning; an untimed launch reads all first
 *     L1       | abcd |                 in every turn
 */
#include "probe/bandwidth/bandwidth.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "probe/bandwidth/bandwidth_kernels.h"

#define SECTOR_BYTES 32u
#define WORD_BYTES 4u
#define WARP_LANES 32u
#define L2_DEFAULT_BYTES ((uint64_t)1 << 20) /* where the device does not know */
#define PAGE_STEP_BYTES ((uint64_t)32 << 10) /* of reads that bring translations only */
#define TURNS_SIMULATED 16u                  /* a multiple of WPI_BANDWIDTH_LOADS */
#define TURNS_MEASURED 1024u                 /* on devices whose clocks have noise */
#define LONG_FACTOR 3u                       /* turns of the longer launch over the shorter one's */

struct wpi_bandwidth {
    wp_device *device;
    wp_queue *queue;
    wp_module *module;
    wp_kernel *kernels[WPI_BANDWIDTH_KERNEL_COUNT];
    wp_event *begin, *end;
    uint32_t *out;
    uint32_t repeats, turns;
    char *memory;
    uint64_t memory_bytes;
};

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static wp_status load_kernels(wpi_bandwidth *b, wp_error *err) {
    for (int k = 0; k < WPI_BANDWIDTH_KERNEL_COUNT; k++) {
        const void *image;
        const char *name;
        WP_TRY(wp_image_find(wpi_bandwidth_kernel_of((wpi_bandwidth_kernel)k), &image, &name, err));
        if (b->module == NULL) WP_TRY(wp_module_load(b->device, image, &b->module, err));
        WP_TRY(wp_module_find_kernel(b->module, name, &b->kernels[k], err));
    }
    return WP_STATUS_OK;
}

static wp_status begin(wpi_bandwidth *b, wp_error *err) {
    WP_TRY(load_kernels(b, err));
    WP_TRY(wp_event_create(b->device, &b->begin, err));
    WP_TRY(wp_event_create(b->device, &b->end, err));
    return wp_memory_alloc(b->device, WP_MEMORY_DEVICE, sizeof *b->out, 0, (void **)&b->out, err);
}

wp_status wpi_bandwidth_create(wp_device *device, uint32_t repeats, wpi_bandwidth **out,
                               wp_error *err) {
    *out = NULL;
    wpi_bandwidth *b = wpi_calloc(1, sizeof *b);
    if (b == NULL) return WP_FAIL(err, NOMEM, "a probe of bandwidth");
    const wp_device_info *info = wp_device_get_info(device);
    const bool is_simulated = info->spec[0] == 's';
    *b = (wpi_bandwidth){.device = device,
                         .queue = wp_device_default_queue(device),
                         .repeats = is_simulated ? 1 : repeats,
                         .turns = is_simulated ? TURNS_SIMULATED : TURNS_MEASURED};
    const wp_status status = begin(b, err);
    if (status == WP_STATUS_OK)
        *out = b;
    else
        wpi_bandwidth_destroy(b);
    return status;
}

static void free_memory(wpi_bandwidth *b, void *memory) {
    const wp_status freed = memory != NULL ? wp_memory_free(b->device, memory, NULL) : WP_STATUS_OK;
    (void)freed;
}

void wpi_bandwidth_destroy(wpi_bandwidth *b) {
    if (b == NULL) return;
    free_memory(b, b->memory);
    free_memory(b, b->out);
    wp_event_destroy(b->begin);
    wp_event_destroy(b->end);
    wp_module_unload(b->module);
    wpi_free(b);
}

/* ---- launches ---- */

static wp_status launch(wpi_bandwidth *b, const wpi_bandwidth_point *p, uint64_t offset_bytes,
                        const wpi_reads *reads, wp_error *err) {
    static const wpi_bandwidth_kernel kernels[WPI_LEVEL_COUNT] = {
        [WPI_LEVEL_DRAM] = WPI_BANDWIDTH_PAST_L1,
        [WPI_LEVEL_L2] = WPI_BANDWIDTH_PAST_L1,
        [WPI_LEVEL_L1] = WPI_BANDWIDTH_CACHED,
        [WPI_LEVEL_SHARED] = WPI_BANDWIDTH_SHARED};
    const char *base = b->memory + offset_bytes;
    void *args[] = {&base, (void *)reads, &b->out};
    const wp_launch it = {.kernel = b->kernels[kernels[p->level]],
                          .grid = {p->blocks, 1, 1},
                          .block = {p->threads, 1, 1},
                          .args = args};
    return wp_queue_launch(b->queue, &it, err);
}

static wp_status timed_launch(wpi_bandwidth *b, const wpi_bandwidth_point *p, uint64_t offset_bytes,
                              const wpi_reads *reads, uint64_t *ns, wp_error *err) {
    WP_TRY(wp_event_record(b->begin, b->queue, err));
    WP_TRY(launch(b, p, offset_bytes, reads, err));
    WP_TRY(wp_event_record(b->end, b->queue, err));
    WP_TRY(wp_event_wait(b->end, err));
    const uint64_t took = wp_event_time_ns(b->end) - wp_event_time_ns(b->begin);
    if (*ns == 0 || took < *ns) *ns = took;
    return WP_STATUS_OK;
}

/* ---- what is read ---- */

typedef struct plan {
    wpi_reads reads;
    uint64_t needed_bytes; /* of memory: both launches, where none may read what the other did */
    uint64_t second_bytes; /* where the longer launch begins */
} plan;

static uint64_t group_bytes(uint32_t coalesced) {
    const uint64_t bytes = (uint64_t)coalesced * WORD_BYTES;
    return (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
}

static plan plan_of(const wpi_bandwidth *b, const wpi_bandwidth_point *p) {
    const uint64_t group = group_bytes(p->coalesced), access = WARP_LANES / p->coalesced * group;
    const uint64_t turn = access * p->blocks * (p->threads / WARP_LANES);
    const uint64_t l2 = wp_device_get_info(b->device)->l2_bytes;
    plan made = {.reads = {.access_bytes = access,
                           .step_bytes = turn,
                           .coalesced = p->coalesced,
                           .group_bytes = (uint32_t)group,
                           .turns = b->turns}};
    uint64_t span = turn;
    if (p->level == WPI_LEVEL_DRAM) {
        span = turn * b->turns * LONG_FACTOR;
        made.second_bytes = turn * b->turns;
    } else if (p->level == WPI_LEVEL_L2) {
        const uint64_t turns = (l2 != 0 ? l2 : L2_DEFAULT_BYTES) / 2 / turn;
        span = turn * least(turns != 0 ? turns : 1, (uint64_t)b->turns * LONG_FACTOR);
    }
    made.reads.span_bytes = span;
    made.needed_bytes = made.second_bytes + span;
    return made;
}

/* Zeros, and anew where sectors must not have been read before. */
static wp_status take_memory(wpi_bandwidth *b, const wpi_bandwidth_point *p, uint64_t bytes,
                             wp_error *err) {
    if (p->level == WPI_LEVEL_SHARED || (p->level != WPI_LEVEL_DRAM && b->memory_bytes >= bytes))
        return WP_STATUS_OK;
    free_memory(b, b->memory);
    b->memory = NULL;
    b->memory_bytes = 0;
    WP_TRY(wp_memory_alloc(b->device, WP_MEMORY_DEVICE, bytes, 0, (void **)&b->memory, err));
    b->memory_bytes = bytes;
    return wp_queue_fill(b->queue, b->memory, 0, 1, bytes, err);
}

/* Brings what is to be in a cache, or, for DRAM, translations of all pages. */
static wp_status warm_up(wpi_bandwidth *b, const wpi_bandwidth_point *p, const plan *made,
                         wp_error *err) {
    wpi_reads reads = made->reads;
    reads.turns = (uint32_t)(reads.span_bytes / reads.step_bytes);
    if (p->level == WPI_LEVEL_DRAM) {
        reads.span_bytes = made->needed_bytes;
        reads.access_bytes = 0;
        reads.step_bytes = least(PAGE_STEP_BYTES, reads.span_bytes);
        reads.turns = (uint32_t)(reads.span_bytes / reads.step_bytes);
    }
    WP_TRY(launch(b, p, 0, &reads, err));
    return wp_queue_wait(b->queue, err);
}

static wp_status check_point(const wpi_bandwidth *b, const wpi_bandwidth_point *p, wp_error *err) {
    const wp_device_info *info = wp_device_get_info(b->device);
    if (p->threads > info->threads_per_block_max)
        return WP_FAIL(err, UNSUPPORTED, "%s: a block has at most %" PRIu32 " threads", info->spec,
                       info->threads_per_block_max);
    return WP_STATUS_OK;
}

wp_status wpi_bandwidth_measure(wpi_bandwidth *b, const wpi_bandwidth_point *p,
                                wpi_bandwidth_rate *out, wp_error *err) {
    *out = (wpi_bandwidth_rate){0};
    WP_TRY(check_point(b, p, err));
    const plan made = plan_of(b, p);
    wpi_reads longer = made.reads;
    longer.turns *= LONG_FACTOR;
    uint64_t short_ns = 0, long_ns = 0;
    for (uint32_t r = 0; r < b->repeats; r++) {
        WP_TRY(take_memory(b, p, made.needed_bytes, err));
        WP_TRY(warm_up(b, p, &made, err));
        WP_TRY(timed_launch(b, p, 0, &made.reads, &short_ns, err));
        WP_TRY(timed_launch(b, p, made.second_bytes, &longer, &long_ns, err));
    }
    if (long_ns <= short_ns)
        return WP_FAIL(err, UNSUPPORTED,
                       "%s: a launch with %u times the reads took no longer; measure on an idle "
                       "machine, or with more --repeats",
                       wp_device_get_info(b->device)->spec, LONG_FACTOR);
    const double seconds = (double)(long_ns - short_ns) * 1e-9;
    const double threads = (double)p->blocks * p->threads;
    const double turns = (double)(longer.turns - made.reads.turns);
    const double moved = (double)made.reads.access_bytes / WARP_LANES;
    out->used_bytes_per_s = threads * turns * WORD_BYTES / seconds;
    out->moved_bytes_per_s = p->level == WPI_LEVEL_SHARED || p->level == WPI_LEVEL_L1
                                 ? out->used_bytes_per_s
                                 : threads * turns * moved / seconds;
    return WP_STATUS_OK;
}
