/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of blocks: frame, shared memory, states, warps. Workers keep it for the next block. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "device/cpu/block/block_parts.h"
#include "device/cpu/check/access_check.h"
#include "device/cpu/check/race_check.h"

#define STACK_OF_CALLS_BYTES ((size_t)16384) /* minimum beside large local arrays */
#define PAGE_BYTES ((size_t)4096)
/* Programs switch between two buffers by xor of an address: their arrays are aligned to 16 KiB. */
#define SHARED_ALIGN ((size_t)65536)
#define FRAME_ALIGN 64u /* of a block's frame, for vectors and local arrays in it */

static bool grow_frame(wpi_block *block, uint32_t frame_bytes, uint32_t threads) {
    size_t need;
    if (!wpi_mul_size(frame_bytes, threads, &need)) return false;
    if (block->frame_capacity >= need) return true;
    wpi_free(block->frame_memory);
    block->storage_bytes -= block->frame_capacity;
    block->frame_capacity = 0;
    block->frame_memory = wpi_malloc(need + FRAME_ALIGN);
    if (block->frame_memory == NULL) return false;
    block->frame_capacity = need;
    block->storage_bytes += need;
    const uintptr_t misaligned = (uintptr_t)block->frame_memory % FRAME_ALIGN;
    block->pub.frame = block->frame_memory + (FRAME_ALIGN - misaligned);
    return true;
}

/* Maps `bytes` (whole pages) at a multiple of SHARED_ALIGN: maps more, and trims both ends. */
static void *map_shared(size_t bytes) {
    const size_t all_bytes = bytes + SHARED_ALIGN - PAGE_BYTES;
    char *all = mmap(NULL, all_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return NULL;
    const size_t before = (SHARED_ALIGN - (uintptr_t)all % SHARED_ALIGN) % SHARED_ALIGN;
    const size_t after = all_bytes - before - bytes;
    if (before > 0) (void)munmap(all, before);
    if (after > 0) (void)munmap(all + before + bytes, after);
    return all + before;
}

/* Allocates whole pages: nothing else may follow the end. */
static bool grow_shared(wpi_block *block, size_t need) {
    if (block->shared_capacity >= need) return true;
    const size_t bytes = (need + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    void *memory = map_shared(bytes);
    if (memory == NULL) return false;
    if (block->shared_memory != NULL) munmap(block->shared_memory, block->shared_capacity);
    block->storage_bytes += bytes - block->shared_capacity;
    block->pub.shared = block->shared_memory = memory;
    block->shared_capacity = bytes;
    return true;
}

static bool grow_threads(wpi_block *block, size_t need) {
    if (block->thread_capacity >= need) return true;
    wpi_free(block->pub.states);
    wpi_free(block->pub.requests);
    wpi_free(block->warps);
    block->storage_bytes -= block->thread_capacity * (sizeof(uint32_t) + sizeof(wp_cpu_request));
    block->thread_capacity = 0;
    need = (need + WP_WARP_LANES - 1) / WP_WARP_LANES * WP_WARP_LANES;
    block->pub.states = wpi_malloc(need * sizeof(uint32_t));
    block->pub.requests = wpi_malloc(need * sizeof(wp_cpu_request));
    block->warps = wpi_malloc(need / WP_WARP_LANES * sizeof(wpi_warp));
    if (block->pub.states == NULL || block->pub.requests == NULL || block->warps == NULL) {
        return false;
    }
    block->thread_capacity = need;
    block->storage_bytes += need * (sizeof(uint32_t) + sizeof(wp_cpu_request));
    return true;
}

static bool grow_words(wpi_block *block, size_t need) {
    if (block->word_capacity >= need) return true;
    wpi_free(block->pub.words);
    block->storage_bytes -= block->word_capacity * 2 * sizeof *block->pub.words;
    block->word_capacity = 0;
    need = (need + WP_WARP_LANES - 1) / WP_WARP_LANES * WP_WARP_LANES;
    block->pub.words = wpi_malloc(need * 2 * sizeof *block->pub.words);
    if (block->pub.words == NULL) return false;
    block->pub.lane_words = block->pub.words + need;
    block->word_capacity = need;
    block->storage_bytes += need * 2 * sizeof *block->pub.words;
    return true;
}

wpi_block *wpi_block_obtain(wpi_worker *worker, wpi_launch *launch) {
    wpi_block *block = worker->blocks;
    if (block != NULL) {
        worker->blocks = block->next;
        worker->block_count--;
    } else {
        block = wpi_calloc(1, sizeof *block);
        if (block == NULL) return NULL;
        block->storage_bytes = sizeof *block;
    }
    block->next = NULL;
    block->worker = worker;
    block->launch = launch;
    block->holds_ref = false;

    const wpi_cpu_kernel *kernel = launch->kernel;
    const wp_cpu_kernel *code = kernel->code;
    const uint32_t threads = launch->thread_count;
    wp_cpu_block *pub = &block->pub;
    const uint32_t shared_bytes = code->shared_static_bytes + launch->shared_dynamic_bytes;
    bool is_complete = launch->is_explicit_cluster || grow_shared(block, shared_bytes);
    is_complete = is_complete && grow_frame(block, code->frame_bytes, threads);
    if (kernel->has_states) is_complete = is_complete && grow_threads(block, threads);
    if ((code->flags & WP_CPU_KERNEL_WORDS) != 0)
        is_complete = is_complete && grow_words(block, threads);
    if (code->regions == NULL) {
        size_t stack_bytes = atomic_load(&launch->device->stack_bytes);
        /* The limit is for calls: CUDA allocates a kernel's own arrays in addition. */
        if (code->local_bytes + STACK_OF_CALLS_BYTES > stack_bytes)
            stack_bytes = code->local_bytes + STACK_OF_CALLS_BYTES;
        is_complete = is_complete && wpi_fibers_prepare(block, threads, stack_bytes);
    }
    if (kernel->site_count != 0) is_complete = is_complete && wpi_check_prepare(block);
    if (!is_complete) {
        wpi_block_release(block);
        return NULL;
    }

    const wp_dim3 grid = launch->grid, dim = launch->block;
    memcpy(pub->grid_dim, (uint32_t[3]){grid.x, grid.y, grid.z}, sizeof pub->grid_dim);
    memcpy(pub->block_dim, (uint32_t[3]){dim.x, dim.y, dim.z}, sizeof pub->block_dim);
    pub->thread_count = threads;
    pub->args = launch->args;
    pub->shared_bytes = shared_bytes;
    pub->shared_dynamic_bytes = launch->shared_dynamic_bytes;
    pub->sm_id = worker->number;
    pub->sm_count = launch->device->base.info.sm_count;
    pub->grid_id = launch->id;
    pub->is_cooperative = launch->is_cooperative;
    for (int i = 0; i < 3; i++) {
        pub->cluster_dim[i] = 1;
        pub->cluster_block[i] = 0;
        pub->cluster_count[i] = pub->grid_dim[i];
    }
    pub->cluster_rank = pub->is_in_cluster = 0;
    pub->cluster_size = 1;
    pub->cluster_shared = pub->shared;
    pub->cluster_stride_bytes = 0;
    block->cluster = NULL;
    block->warp_count = (threads + WP_WARP_LANES - 1) / WP_WARP_LANES;
    return block;
}

void wpi_block_release(wpi_block *block) {
    wpi_worker *worker = block->worker;
    if (worker->block_count >= worker->block_max) { /* many were parked: free it */
        wpi_block_destroy(block);
        return;
    }
    block->next = worker->blocks;
    worker->blocks = block;
    worker->block_count++;
}

void wpi_block_destroy(wpi_block *block) {
    if (block == NULL) return;
    wpi_fibers_release(block);
    wpi_check_release(block);
    if (block->shared_memory != NULL) munmap(block->shared_memory, block->shared_capacity);
    wpi_free(block->cluster_arrived);
    wpi_free(block->frame_memory);
    wpi_free(block->device_errors);
    wpi_free(block->pub.states);
    wpi_free(block->pub.requests);
    wpi_free(block->pub.words);
    wpi_free(block->warps);
    wpi_free(block);
}

uint64_t wpi_block_grid_number(const wpi_block *block) {
    const wp_cpu_block *b = &block->pub;
    return b->block_idx[0] + (uint64_t)b->grid_dim[0] *
                                 (b->block_idx[1] + (uint64_t)b->grid_dim[1] * b->block_idx[2]);
}

void wpi_block_start(wpi_block *block, uint64_t number) {
    wp_cpu_block *pub = &block->pub;
    const wp_dim3 grid = block->launch->grid;
    if (block->launch->is_explicit_cluster) {
        wpi_cluster_place(pub, block->launch, number);
    } else if (grid.y == 1 && grid.z == 1) {
        pub->block_idx[0] = (uint32_t)number;
        pub->block_idx[1] = 0;
        pub->block_idx[2] = 0;
    } else {
        const uint64_t row = number / grid.x;
        pub->block_idx[0] = (uint32_t)(number % grid.x);
        pub->block_idx[1] = (uint32_t)(row % grid.y);
        pub->block_idx[2] = (uint32_t)(row / grid.y);
    }
    if (!block->launch->is_explicit_cluster) {
        memcpy(pub->cluster_idx, pub->block_idx, sizeof pub->cluster_idx);
    }
    pub->thread = 0;
    memset(pub->tid, 0, sizeof pub->tid);
    block->state = 0;
    block->first = 0;
    block->outer = pub->thread_count;
    block->is_at_grid = block->is_at_cluster = block->waits_for_cluster = false;
    if (block->has_device_errors) wpi_device_errors_clear(block);
    wpi_races_begin(block, number);
    block->is_mixed = block->launch->kernel->code->regions == NULL;
    if (!block->is_mixed) return;

    memset(block->barriers, 0, sizeof block->barriers);
    block->barriers_used = 0;
    block->are_barriers_plain = true;
    block->exited_count = 0;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        const uint32_t left = pub->thread_count - w * WP_WARP_LANES;
        const uint32_t lanes = wpi_lanes_between(0, left < WP_WARP_LANES ? left : WP_WARP_LANES);
        block->warps[w] = (wpi_warp){.ready = lanes, .exited = ~lanes};
    }
    memset(pub->states, 0, pub->thread_count * sizeof *pub->states);
    wpi_fibers_start(block);
}
