/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CLN, the lines of a thread: the shared memory of an SM that the kernel's resident blocks leave
 * free, divided by their threads. Dynamic shared memory of a block then is
 *
 *     | the program's, rounded up to 16 bytes | lines × (threads × bytes of a line, and gaps) |
 *
 * Thesis, 5.2.1.
 */
#include "cache/cache_launch.h"

#include <string.h>

#include "base/device_query.h"
#include "base/fail.h"
#include "device/device.h"

enum { ARGUMENTS_MAX = 512, OWN_ARGUMENTS = 3 };

/* Fewer threads hide less latency: where this factor of them is lost to registers, hits do not make
 * up for it (naive matrix multiplication, K-means). */
enum { PARALLELISM_LOSS_MAX = 2 };

/* From this length on a row of threads makes few transactions of a warp's loads, if its threads
 * read the same or neighbouring elements. */
enum { ROW_THREADS_MIN = 8 };

static uint64_t aligned(uint64_t bytes) {
    return (bytes + WPI_CACHE_ALIGN_BYTES - 1) / WPI_CACHE_ALIGN_BYTES * WPI_CACHE_ALIGN_BYTES;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Blocks that an SM will run at once. */
static uint32_t resident_blocks(const wpi_cache_code *code, const wp_kernel *form, uint64_t blocks,
                                uint32_t threads, uint32_t shared_bytes) {
    const uint32_t most = wp_kernel_occupancy_blocks(form, threads, shared_bytes);
    const uint64_t sms = wp_device_get_info(code->device)->sm_count;
    if (blocks == 0 || sms == 0) return most;
    return (uint32_t)least(most, (blocks + sms - 1) / sms);
}

/* Bytes of a block's lines for one structure. */
static uint64_t structure_bytes(const wpi_cache_code *code, uint32_t threads) {
    return (uint64_t)code->facts.ways *
           wpi_cache_row_bytes(threads, code->facts.line_bytes, code->facts.pad_bytes);
}

static uint32_t cacheable_structures(const wpi_cache_code *code, uint32_t threads,
                                     uint64_t own_bytes, wpi_cache_plan *plan) {
    const wp_device_info *device = wp_device_get_info(code->device);
    const uint64_t each_bytes = structure_bytes(code, threads);
    const uint64_t taken =
        aligned(wp_kernel_get_info(code->cached)->shared_static_bytes) + own_bytes;
    const uint64_t sm_bytes = device->shared_bytes_per_sm, resident = plan->blocks_per_sm * taken;
    const uint64_t block_bytes = device->shared_bytes_per_block_optin != 0
                                     ? device->shared_bytes_per_block_optin
                                     : device->shared_bytes_per_block;
    plan->shared_left_bytes = sm_bytes > resident ? sm_bytes - resident : 0;
    uint64_t structures = plan->shared_left_bytes / plan->blocks_per_sm / each_bytes;
    structures = least(structures, block_bytes > taken ? (block_bytes - taken) / each_bytes : 0);
    structures = least(structures, code->facts.structures);
    /* Shared memory is given out in units: a line too many could cost a block. */
    while (structures != 0 &&
           wp_kernel_occupancy_blocks(code->cached, threads,
                                      (uint32_t)(own_bytes + structures * each_bytes)) <
               plan->blocks_per_sm)
        structures--;
    return (uint32_t)structures;
}

/* Whether a launch of the plain kernel is faster with the hardware's L1, where that is a choice: a
 * line has to stay until it is read again, so there must be one for each thread, or, where the
 * lanes of a warp read the same or neighbouring elements, for each warp (docs/rooms/cache.md). */
static bool pays_l1(const wpi_cache_code *code, uint64_t blocks, uint32_t block_threads,
                    uint32_t shared_dynamic_bytes) {
    const wp_device_info *device = wp_device_get_info(code->device);
    const uint32_t resident =
        resident_blocks(code, code->plain, blocks, block_threads, shared_dynamic_bytes);
    if (!code->may_use_l1 || device->l1_preferred_bytes == 0 || resident == 0) return false;
    uint64_t with_l1 = resident;
    const uint64_t shared_bytes =
        wp_kernel_get_info(code->plain)->shared_static_bytes + (uint64_t)shared_dynamic_bytes;
    if (shared_bytes != 0)
        with_l1 = least(resident, device->l1_preferred_shared_bytes / shared_bytes);
    if (PARALLELISM_LOSS_MAX * with_l1 <= resident) return false;
    const uint64_t lines = device->l1_preferred_bytes / WPI_CACHE_L1_LINE_BYTES;
    switch (code->facts.l1) {
    case WPI_CACHE_L1_THREADS: return with_l1 * block_threads <= lines;
    case WPI_CACHE_L1_WARPS: return with_l1 * ((block_threads + 31) / 32) <= lines;
    default: return false;
    }
}

/* Whether the lanes of a warp are in lines of their own in something that may be cached. */
static bool has_lanes_apart(const wpi_cache_code *code, uint32_t row_threads) {
    const wpi_cache_facts *facts = &code->facts;
    const uint32_t apart = facts->apart | (row_threads < ROW_THREADS_MIN ? facts->rows : 0);
    return code->caches_together || (code->may_be_cached & apart) != 0;
}

static void plan_cached(const wpi_cache_code *code, uint64_t blocks, uint32_t block_threads,
                        uint32_t row_threads, uint32_t shared_dynamic_bytes, wpi_cache_plan *out) {
    *out = (wpi_cache_plan){.reason = code->facts.reason};
    if (code->cached == NULL) return;
    out->reason = "--check runs the plain kernel, so that findings name the program's own accesses";
    if (code->is_checked) return;
    out->reason = "its loops end where data say, so that the lanes of a warp would wait for each "
                  "other's misses (WARPAGE_SOFTWARE_CACHE_DATA_EXITS=on caches nevertheless)";
    if (code->facts.alike != 0)
        out->reason =
            "what its loops may cache the lanes of a warp read at the same addresses, which is one "
            "transaction without a cache (WARPAGE_SOFTWARE_CACHE_DATA_EXITS=on caches "
            "nevertheless)";
    if (code->may_be_cached == 0) return;
    out->reason = "the lanes of a warp access what its loops may cache side by side, or at few "
                  "addresses, which are few transactions without a cache "
                  "(WARPAGE_SOFTWARE_CACHE_DATA_EXITS=on caches nevertheless)";
    if (!has_lanes_apart(code, row_threads)) return;
    const uint32_t most = wp_kernel_get_info(code->cached)->threads_per_block_max;
    const uint64_t own_bytes = aligned(shared_dynamic_bytes);
    out->reason = "a block fits the device only without the cache: the cached form takes more "
                  "registers";
    if (most != 0 && block_threads > most) return;
    out->blocks_per_sm =
        resident_blocks(code, code->cached, blocks, block_threads, (uint32_t)own_bytes);
    if (out->blocks_per_sm == 0) return;
    out->reason = "the cached form takes so many registers that half of the threads, or fewer, "
                  "would be resident";
    const uint32_t plain_blocks =
        resident_blocks(code, code->plain, blocks, block_threads, shared_dynamic_bytes);
    if (PARALLELISM_LOSS_MAX * out->blocks_per_sm <= plain_blocks) return;
    out->reason = NULL;
    out->threads_per_sm = out->blocks_per_sm * block_threads;
    out->cacheable = cacheable_structures(code, block_threads, own_bytes, out);
    out->lines = out->cacheable * code->facts.ways;
    out->lines_offset_bytes = (uint32_t)own_bytes;
    out->shared_dynamic_bytes =
        (uint32_t)(own_bytes + out->cacheable * structure_bytes(code, block_threads));
    if (out->lines != 0 || code->has_runs) return;
    out->shared_dynamic_bytes = shared_dynamic_bytes;
    out->reason = "the shared memory that is left is less than a line for each thread of an SM";
}

void wpi_cache_plan_make(const wpi_cache_code *code, uint64_t blocks, uint32_t block_threads,
                         uint32_t row_threads, uint32_t shared_dynamic_bytes, wpi_cache_plan *out) {
    plan_cached(code, blocks, block_threads, row_threads, shared_dynamic_bytes, out);
    out->prefers_l1 = out->reason != NULL && !code->is_checked &&
                      pays_l1(code, blocks, block_threads, shared_dynamic_bytes);
}

void wpi_cache_plan_note(const wpi_cache_code *code, uint32_t block_threads,
                         uint32_t shared_dynamic_bytes) {
    if (code->cached == NULL) return;
    const uint32_t own_bytes = (uint32_t)aligned(shared_dynamic_bytes);
    wpi_device_note_query(code->device, "a launch of a cached kernel (wpcc --cache)",
                          WPI_INFO_SET(SM_COUNT) | WPI_INFO_SET(SHARED_PER_SM) |
                              WPI_INFO_SET(SHARED_OPTIN) | WPI_INFO_SET(SHARED_PER_BLOCK));
    wpi_device_note_occupancy(code->cached, block_threads, own_bytes,
                              wp_kernel_occupancy_blocks(code->cached, block_threads, own_bytes));
    wpi_device_note_occupancy(
        code->plain, block_threads, shared_dynamic_bytes,
        wp_kernel_occupancy_blocks(code->plain, block_threads, shared_dynamic_bytes));
}

/* Some devices give a kernel more than its default only where that was asked for. */
static wp_status allow_shared(wpi_cache_code *code, uint32_t dynamic_bytes, wp_error *err) {
    const uint64_t taken = wp_kernel_get_info(code->cached)->shared_static_bytes + dynamic_bytes;
    if (taken <= wp_device_get_info(code->device)->shared_bytes_per_block ||
        dynamic_bytes <= code->shared_max_bytes)
        return WP_STATUS_OK;
    WP_TRY(wpi_kernel_set_shared_max(code->cached, dynamic_bytes, err));
    code->shared_max_bytes = dynamic_bytes;
    return WP_STATUS_OK;
}

static wp_status queue_cached(wpi_cache_code *code, wp_queue *queue, const wp_launch *launch,
                              const wpi_cache_plan *plan, wp_error *err) {
    void *args[ARGUMENTS_MAX + OWN_ARGUMENTS];
    uint32_t lines = plan->cacheable | code->may_be_cached << WPI_CACHE_MAY_SHIFT |
                     code->hits_pct << WPI_CACHE_HITS_SHIFT |
                     code->threshold << WPI_CACHE_THRESHOLD_SHIFT |
                     (uint32_t)code->has_runs << WPI_CACHE_RUNS_SHIFT;
    uint32_t offset = plan->lines_offset_bytes;
    wpi_cache_counts *counts = code->counts_are_on ? code->counts : NULL;
    const uint32_t own = wp_kernel_get_info(code->plain)->param_count;
    if (own != 0) memcpy(args, launch->args, own * sizeof *args);
    args[own] = &lines;
    args[own + 1] = &offset;
    args[own + 2] = &counts;
    wp_launch cached = *launch;
    cached.kernel = code->cached;
    cached.shared_dynamic_bytes = plan->shared_dynamic_bytes;
    cached.args = args;
    WP_TRY(allow_shared(code, plan->shared_dynamic_bytes, err));
    return wp_queue_launch(queue, &cached, err);
}

wp_status wpi_cache_launch_queue(wpi_cache_code *code, wp_queue *queue, const wp_launch *launch,
                                 wp_error *err) {
    const uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    const uint32_t threads = launch->block.x * launch->block.y * launch->block.z;
    wpi_cache_plan plan;
    wpi_cache_plan_make(code, blocks, threads, launch->block.x, launch->shared_dynamic_bytes,
                        &plan);
    if (plan.reason == NULL && wp_kernel_get_info(code->plain)->param_count > ARGUMENTS_MAX)
        plan.reason = "the kernel has more than 512 parameters";
    if (plan.reason == NULL && launch->is_cooperative &&
        blocks > (uint64_t)plan.blocks_per_sm * wp_device_get_info(code->device)->sm_count)
        plan.reason = "all blocks of a cooperative launch are resident only without the cache: the "
                      "cached form takes more registers";
    plan.prefers_l1 &= !launch->is_cooperative; /* all its blocks have to be resident */
    wpi_cache_plan_note(code, threads, launch->shared_dynamic_bytes);
    wp_launch plain = *launch;
    plain.prefers_l1 |= plan.prefers_l1;
    const wp_status status = plan.reason != NULL ? wp_queue_launch(queue, &plain, err)
                                                 : queue_cached(code, queue, launch, &plan, err);
    if (status == WP_STATUS_OK) wpi_cache_code_note(code, &plan);
    return status;
}

uint32_t wpi_cache_occupancy_blocks(const wpi_cache_code *code, uint32_t block_threads,
                                    uint32_t shared_dynamic_bytes) {
    wpi_cache_plan plan;
    wpi_cache_plan_make(code, 0, block_threads, block_threads, shared_dynamic_bytes, &plan);
    return plan.reason != NULL
               ? wp_kernel_occupancy_blocks(code->plain, block_threads, shared_dynamic_bytes)
               : wp_kernel_occupancy_blocks(code->cached, block_threads, plan.shared_dynamic_bytes);
}
