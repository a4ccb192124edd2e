/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "stream/file_blocks.h"

#include <inttypes.h>
#include <pthread.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fail.h"

#define BUDGET_DEFAULT (UINT64_C(256) << 20)
enum {
    BLOCKS_WANTED = 4096, /* a thread each, of a launch that fills a GPU */
    BLOCK_BYTES_LEAST = 4096,
    BLOCK_BYTES_MOST = 256 << 10
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed =
    PTHREAD_COND_INITIALIZER; /* a block became idle, or its last hold ended */
static uint64_t budget_bytes;

static struct {
    char *memory;
    uint64_t block_bytes, count, hash_count; /* hash_count: a power of two */
    wpi_file_block *blocks, **hash;
    wpi_file_block ends; /* newest and oldest of the list of blocks without holders */
    uint32_t files;
} pool;

void wpi_file_blocks_set_budget(uint64_t bytes) {
    pthread_mutex_lock(&lock);
    budget_bytes = bytes;
    pthread_mutex_unlock(&lock);
}

/* ---- lists ---- */

static void unlink_locked(wpi_file_block *b) {
    b->newer->older = b->older;
    b->older->newer = b->newer;
}

/* ends.older is the newest, ends.newer the oldest. */
static void add_newest_locked(wpi_file_block *b) {
    b->newer = &pool.ends;
    b->older = pool.ends.older;
    b->older->newer = b;
    pool.ends.older = b;
}

static void add_oldest_locked(wpi_file_block *b) {
    b->older = &pool.ends;
    b->newer = pool.ends.newer;
    b->newer->older = b;
    pool.ends.newer = b;
}

static wpi_file_block **bucket_of(const wpi_mapped_file *file, uint64_t index) {
    uint64_t hash = ((uintptr_t)file >> 4) + index * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
    return &pool.hash[hash & (pool.hash_count - 1)];
}

static wpi_file_block *find_locked(const wpi_mapped_file *file, uint64_t index) {
    wpi_file_block *b = *bucket_of(file, index);
    while (b != NULL && (b->file != file || b->index != index))
        b = b->next;
    return b;
}

static void forget_locked(wpi_file_block *b) {
    if (b->file == NULL) return;
    wpi_file_block **link = bucket_of(b->file, b->index);
    while (*link != b)
        link = &(*link)->next;
    *link = b->next;
    b->file = NULL;
    b->is_dirty = false;
}

static void name_locked(wpi_file_block *b, wpi_mapped_file *file, uint64_t index) {
    wpi_file_block **bucket = bucket_of(file, index);
    b->file = file;
    b->index = index;
    b->next = *bucket;
    *bucket = b;
}

/* ---- the pool ---- */

static void free_pool_locked(void) {
    if (pool.memory != NULL) (void)munmap(pool.memory, pool.count * pool.block_bytes);
    wpi_free(pool.blocks);
    wpi_free(pool.hash);
    pool.memory = NULL;
    pool.blocks = NULL;
    pool.hash = NULL;
    pool.count = pool.block_bytes = pool.hash_count = 0;
}

static wp_status make_pool_locked(wp_error *err) {
    const uint64_t budget = budget_bytes != 0 ? budget_bytes : BUDGET_DEFAULT;
    const uint64_t least = (uint64_t)WPI_FILE_BLOCKS_LEAST * BLOCK_BYTES_LEAST;
    if (budget < least)
        return WP_FAIL(err, INVALID,
                       "mapped files need at least %" PRIu64 " bytes of host memory, but %" PRIu64
                       " may be used (streamingOptions.host_bytes)",
                       least, budget);
    uint64_t block = BLOCK_BYTES_LEAST;
    while (block < BLOCK_BYTES_MOST && budget / (2 * block) >= BLOCKS_WANTED)
        block *= 2;
    pool.block_bytes = block;
    pool.count = budget / block;
    for (pool.hash_count = 1; pool.hash_count < pool.count;)
        pool.hash_count *= 2;
    pool.blocks = wpi_calloc(pool.count, sizeof *pool.blocks);
    pool.hash = wpi_calloc(pool.hash_count, sizeof *pool.hash);
    void *memory =
        mmap(NULL, pool.count * block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pool.memory = memory != MAP_FAILED ? memory : NULL;
    if (pool.blocks == NULL || pool.hash == NULL || pool.memory == NULL) {
        free_pool_locked();
        return WP_FAIL(err, NOMEM, "%" PRIu64 " bytes for blocks of mapped files", budget);
    }
    pool.ends.newer = pool.ends.older = &pool.ends;
    for (uint64_t i = 0; i < pool.count; i++) {
        pool.blocks[i].memory = pool.memory + i * block;
        add_newest_locked(&pool.blocks[i]);
    }
    return WP_STATUS_OK;
}

uint64_t wpi_file_blocks_count(void) {
    pthread_mutex_lock(&lock);
    const uint64_t count = pool.count;
    pthread_mutex_unlock(&lock);
    return count;
}

uint64_t wpi_file_blocks_bytes(void) {
    pthread_mutex_lock(&lock);
    const uint64_t bytes = pool.count * pool.block_bytes;
    pthread_mutex_unlock(&lock);
    return bytes;
}

wp_status wpi_file_blocks_open(const char *source, const char *target, uint64_t offset,
                               uint64_t size_bytes, wpi_mapped_file **out, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    *out = NULL;
    pthread_mutex_lock(&lock);
    if (pool.files == 0) status = make_pool_locked(err);
    if (status == WP_STATUS_OK)
        status =
            wpi_mapped_file_open(source, target, offset, size_bytes, pool.block_bytes, out, err);
    if (status == WP_STATUS_OK) pool.files++;
    if (pool.files == 0) free_pool_locked();
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- blocks ---- */

/* Writes a dirty block without holders. Releases the lock during the write. */
static wp_status clean_locked(wpi_file_block *b, wpi_file_counts *counts, wp_error *err) {
    uint64_t bytes = 0;
    unlink_locked(b);
    b->is_busy = true;
    pthread_mutex_unlock(&lock);
    const wp_status status = wpi_mapped_file_write(b->file, b->index, b->memory, &bytes, err);
    pthread_mutex_lock(&lock);
    counts->written_bytes += bytes;
    b->is_busy = false;
    b->is_dirty = status != WP_STATUS_OK;
    add_oldest_locked(b);
    pthread_cond_broadcast(&changed);
    return status;
}

static wp_status load_locked(wpi_file_block *b, wpi_mapped_file *file, uint64_t index,
                             wpi_file_counts *counts, wp_error *err) {
    uint64_t bytes = 0;
    forget_locked(b);
    unlink_locked(b);
    name_locked(b, file, index);
    b->is_busy = true;
    const bool goes_on = index != 0 && find_locked(file, index - 1) != NULL;
    pthread_mutex_unlock(&lock);
    if (goes_on) wpi_mapped_file_expect(file, index + 1);
    const wp_status status = wpi_mapped_file_read(file, index, b->memory, &bytes, err);
    pthread_mutex_lock(&lock);
    counts->read_bytes += bytes;
    b->is_busy = false;
    add_oldest_locked(b);
    if (status != WP_STATUS_OK) forget_locked(b);
    pthread_cond_broadcast(&changed);
    return status;
}

/* Returns the block, resident and not busy; without holders it is still in the list. */
static wp_status get_locked(wpi_mapped_file *file, uint64_t index, wpi_file_counts *counts,
                            wpi_file_block **out, wp_error *err) {
    for (;;) {
        wpi_file_block *b = find_locked(file, index);
        if (b != NULL && !b->is_busy) {
            *out = b;
            return WP_STATUS_OK;
        }
        wpi_file_block *oldest = pool.ends.newer;
        if (b != NULL || oldest == &pool.ends)
            pthread_cond_wait(&changed, &lock);
        else if (oldest->is_dirty)
            WP_TRY(clean_locked(oldest, counts, err));
        else
            WP_TRY(load_locked(oldest, file, index, counts, err));
    }
}

wp_status wpi_file_block_take(wpi_mapped_file *file, uint64_t offset, bool is_written,
                              wpi_file_counts *counts, wpi_file_block **out, wp_error *err) {
    const uint64_t index = offset / file->block_bytes;
    wpi_file_block *b;
    *out = NULL;
    pthread_mutex_lock(&lock);
    b = find_locked(file, index);
    wp_status status = WP_STATUS_OK;
    if (b == NULL || b->is_busy) {
        const uint64_t since_ns = wpi_clock_ns();
        status = get_locked(file, index, counts, &b, err);
        counts->waited_ns += wpi_clock_ns() - since_ns;
    }
    if (status == WP_STATUS_OK) {
        if (b->holders++ == 0) unlink_locked(b);
        b->is_dirty |= is_written;
        *out = b;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void wpi_file_block_give(wpi_file_block *b) {
    if (b == NULL) return;
    pthread_mutex_lock(&lock);
    if (--b->holders == 0) {
        add_newest_locked(b);
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- the end ---- */

static wp_status flush_locked(const wpi_mapped_file *file, wp_error *err) {
    wpi_file_counts ignored = {0};
    for (uint64_t i = 0; i < pool.count; i++) {
        wpi_file_block *b = &pool.blocks[i];
        while (b->file == file && b->is_busy)
            pthread_cond_wait(&changed, &lock); /* another thread evicts it */
        if (b->file == file && b->is_dirty) WP_TRY(clean_locked(b, &ignored, err));
    }
    return WP_STATUS_OK;
}

wp_status wpi_file_blocks_close(wpi_mapped_file *file, bool keeps, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    pthread_mutex_lock(&lock);
    if (keeps) status = flush_locked(file, err);
    for (uint64_t i = 0; i < pool.count; i++)
        if (pool.blocks[i].file == file) forget_locked(&pool.blocks[i]);
    if (--pool.files == 0) free_pool_locked();
    pthread_mutex_unlock(&lock);
    if (keeps && status == WP_STATUS_OK) status = wpi_mapped_file_finish(file, err);
    wpi_mapped_file_close(file);
    return status;
}
