/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters of blocks: their shared memory, and their barrier.
 *
 * All blocks of a cluster are with one worker, so nothing here needs a lock, and an atomic on
 * shared memory may be plain for a whole cluster as it is for a block.
 *
 *     area ► | rank 0 … | rank 1 … |  …  one stride each; the rest of a stride is not accessible
 *
 * The barrier has two halves. A thread that arrives sets its bit in `cluster_arrived` of its block.
 * When the bits of all live threads of all blocks are set, all are cleared: that ends the phase. A
 * thread that waits continues when its own bit is clear. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "device/cpu/block/block_parts.h"

#define STRIDE_ALIGN ((size_t)65536) /* as the shared memory of blocks: block_storage.c */
#define PAGE_BYTES ((size_t)4096)

/* ---- memory ---- */

/* Maps the area, aligned; what lies behind `bytes` of each stride is not accessible. */
static bool map_area(wpi_cluster *cluster, size_t stride, size_t bytes) {
    const size_t all = stride * cluster->size + STRIDE_ALIGN;
    char *memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    cluster->memory = memory;
    cluster->memory_bytes = all;
    cluster->shared = memory + (STRIDE_ALIGN - (uintptr_t)memory % STRIDE_ALIGN) % STRIDE_ALIGN;
    cluster->stride_bytes = stride;
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        if (mprotect(cluster->shared + rank * stride + bytes, stride - bytes, PROT_NONE) != 0)
            return false;
    }
    return true;
}

static void unmap_area(wpi_cluster *cluster) {
    if (cluster->memory != NULL) munmap(cluster->memory, cluster->memory_bytes);
    cluster->memory = NULL;
}

void wpi_cluster_destroy(wpi_cluster *cluster) {
    if (cluster == NULL) return;
    unmap_area(cluster);
    wpi_free(cluster);
}

wpi_cluster *wpi_cluster_obtain(wpi_worker *worker, const wpi_launch *launch) {
    const size_t need =
        (size_t)launch->kernel->code->shared_static_bytes + launch->shared_dynamic_bytes;
    const size_t bytes = (need + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    const size_t stride = (bytes + PAGE_BYTES + STRIDE_ALIGN - 1) / STRIDE_ALIGN * STRIDE_ALIGN;
    wpi_cluster *cluster = worker->clusters;
    if (cluster != NULL) {
        worker->clusters = cluster->next;
        worker->cluster_count--;
    } else if ((cluster = wpi_calloc(1, sizeof *cluster)) == NULL) {
        return NULL;
    }
    if (cluster->memory == NULL || cluster->size != launch->cluster_size ||
        cluster->block_bytes != bytes) {
        unmap_area(cluster);
        cluster->size = launch->cluster_size;
        cluster->block_bytes = bytes;
        if (!map_area(cluster, stride, bytes)) {
            wpi_cluster_destroy(cluster);
            return NULL;
        }
    }
    cluster->next = NULL;
    cluster->ended = cluster->joined = 0;
    memset(cluster->blocks, 0, sizeof cluster->blocks);
    return cluster;
}

void wpi_cluster_release(wpi_worker *worker, wpi_cluster *cluster) {
    if (worker->cluster_count >= WPI_CLUSTERS_KEPT) {
        wpi_cluster_destroy(cluster);
        return;
    }
    cluster->next = worker->clusters;
    worker->clusters = cluster;
    worker->cluster_count++;
}

static bool add_block(wpi_cluster *cluster, wpi_block *block, uint32_t rank) {
    if (block->cluster_warps < block->warp_count) {
        wpi_free(block->cluster_arrived);
        block->cluster_warps = 0;
        block->cluster_arrived = wpi_malloc(block->warp_count * sizeof(uint32_t));
        if (block->cluster_arrived == NULL) return false;
        block->cluster_warps = block->warp_count;
    }
    memset(block->cluster_arrived, 0, block->warp_count * sizeof(uint32_t));
    block->cluster = cluster;
    block->cluster_arrived_count = 0;
    block->waits_for_cluster = block->is_at_cluster = false;
    cluster->blocks[rank] = block;
    cluster->joined++;
    return true;
}

bool wpi_cluster_join(wpi_cluster *cluster, wpi_block *block, uint32_t rank) {
    wp_cpu_block *pub = &block->pub;
    if (!add_block(cluster, block, rank)) return false;
    pub->cluster_rank = rank;
    pub->shared = cluster->shared + rank * cluster->stride_bytes;
    pub->cluster_shared = cluster->shared;
    pub->cluster_stride_bytes = cluster->stride_bytes;
    return true;
}

bool wpi_cluster_leave(wpi_block *block) {
    wpi_cluster *cluster = block->cluster;
    if (cluster == NULL) return false;
    block->cluster = NULL;
    block->pub.shared = block->shared_memory;
    cluster->blocks[block->pub.cluster_rank] = NULL;
    if (++cluster->ended == cluster->size) {
        wpi_cluster_release(block->worker, cluster);
        return false;
    }
    return wpi_cluster_complete(cluster);
}

/* ---- the block in its cluster ---- */

void wpi_cluster_place(wp_cpu_block *pub, const wpi_launch *launch, uint64_t number) {
    const wp_dim3 grid = launch->grid, dim = launch->cluster;
    const uint32_t rank = (uint32_t)(number % launch->cluster_size);
    const uint64_t cluster = number / launch->cluster_size;
    const uint32_t counts[3] = {grid.x / dim.x, grid.y / dim.y, grid.z / dim.z};
    const uint32_t dims[3] = {dim.x, dim.y, dim.z};
    const uint64_t row = cluster / counts[0];
    const uint32_t at[3] = {(uint32_t)(cluster % counts[0]), (uint32_t)(row % counts[1]),
                            (uint32_t)(row / counts[1])};
    const uint32_t in[3] = {rank % dim.x, rank / dim.x % dim.y, rank / dim.x / dim.y};
    for (int i = 0; i < 3; i++) {
        pub->cluster_dim[i] = dims[i];
        pub->cluster_block[i] = in[i];
        pub->cluster_idx[i] = at[i];
        pub->cluster_count[i] = counts[i];
        pub->block_idx[i] = at[i] * dims[i] + in[i];
    }
    pub->cluster_rank = rank;
    pub->cluster_size = launch->cluster_size;
    pub->is_in_cluster = launch->cluster_size > 1 || launch->is_explicit_cluster;
}

/* ---- the barrier ---- */

/* The live lanes of a warp. */
static uint32_t live_lanes(const wpi_block *block, uint32_t w) {
    if (block->is_mixed) return ~block->warps[w].exited;
    const uint32_t base = w * WP_WARP_LANES;
    const uint32_t first = block->first > base ? block->first - base : 0;
    const uint32_t outer = block->outer > base ? block->outer - base : 0;
    if (first >= WP_WARP_LANES || outer <= first) return 0;
    return wpi_lanes_between(first, outer < WP_WARP_LANES ? outer : WP_WARP_LANES);
}

static bool has_all_arrived(const wpi_block *block) {
    const uint32_t live = block->is_mixed ? block->pub.thread_count - block->exited_count
                                          : block->outer - block->first;
    if (block->cluster_arrived_count < live) return false;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        if ((live_lanes(block, w) & ~block->cluster_arrived[w]) != 0) return false;
    }
    return true;
}

bool wpi_cluster_complete(wpi_cluster *cluster) {
    uint32_t arrived = 0;
    if (cluster->joined < cluster->size) return false;
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        const wpi_block *block = cluster->blocks[rank];
        if (block == NULL) continue;
        if (!has_all_arrived(block)) return false;
        arrived += block->cluster_arrived_count;
    }
    if (arrived == 0) return false;
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        wpi_block *block = cluster->blocks[rank];
        if (block == NULL) continue;
        memset(block->cluster_arrived, 0, block->warp_count * sizeof(uint32_t));
        block->cluster_arrived_count = 0;
        block->waits_for_cluster = false;
    }
    return true;
}

/* A block of a launch without clusters is one of its own, without memory. */
static void make_alone(wpi_block *block) {
    wpi_cluster *cluster = wpi_calloc(1, sizeof *cluster);
    char *shared = block->pub.shared;
    if (cluster != NULL) {
        cluster->size = 1;
        if (add_block(cluster, block, 0)) {
            block->pub.shared = shared;
            return;
        }
    }
    wpi_free(cluster);
    wpi_worker_fail(block->worker, WP_STATUS_NOMEM, false, "no host memory for a cluster barrier");
}

void wpi_cluster_arrive(wpi_block *block, uint32_t w, uint32_t lanes) {
    if (block->cluster == NULL) make_alone(block);
    block->cluster_arrived_count += wpi_lanes_count(lanes & ~block->cluster_arrived[w]);
    block->cluster_arrived[w] |= lanes;
}

uint32_t wpi_cluster_waits(const wpi_block *block, uint32_t w, uint32_t lanes) {
    return block->cluster == NULL ? 0 : block->cluster_arrived[w] & lanes;
}

bool wpi_block_is_past_cluster(const wpi_block *block) {
    if (block->cluster == NULL) return false;
    if (!block->is_mixed) return block->is_at_cluster && !block->waits_for_cluster;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        if ((block->warps[w].cluster & ~block->cluster_arrived[w]) != 0) return true;
    }
    return false;
}

bool wpi_cluster_is_stuck(const wpi_cluster *cluster) {
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        if (cluster->blocks[rank] != NULL && !cluster->blocks[rank]->waits_for_cluster)
            return false;
    }
    return true;
}
