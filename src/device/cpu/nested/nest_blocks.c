/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a nest by the block that queued them, and the blocks that are dormant until some
 * of theirs are done.
 *
 * A hash table of chains has the blocks with open commands. Those of a block are in the order of
 * their numbers, so that the first one tells whether all up to a number are done.
 *
 *     parked ──wpi_nest_sleep──► dormant ──a command is done──► woken ──wpi_nest_wake_up──► parked
 */
#include "base/alloc.h"
#include "device/cpu/nested/nest.h"

#define BUCKETS_FIRST 8u /* a power of two, as all their numbers */

static wpi_nest_block **bucket_of(const wpi_nest_blocks *blocks, uint64_t number) {
    const uint64_t mixed = number * UINT64_C(0x9e3779b97f4a7c15);
    return &blocks->buckets[(mixed >> 32) & (blocks->bucket_count - 1)];
}

static wpi_nest_block *find(const wpi_nest_blocks *blocks, uint64_t number) {
    if (blocks->count == 0) return NULL;
    wpi_nest_block *block = *bucket_of(blocks, number);
    while (block != NULL && block->number != number)
        block = block->next;
    return block;
}

static bool grow(wpi_nest_blocks *blocks) {
    if (blocks->count < blocks->bucket_count) return true;
    const uint32_t bucket_count =
        blocks->bucket_count == 0 ? BUCKETS_FIRST : 2 * blocks->bucket_count;
    wpi_nest_blocks grown = {wpi_calloc(bucket_count, sizeof(wpi_nest_block *)), bucket_count,
                             blocks->count};
    if (grown.buckets == NULL) return false;
    for (uint32_t i = 0; i < blocks->bucket_count; i++) {
        for (wpi_nest_block *block = blocks->buckets[i], *next; block != NULL; block = next) {
            wpi_nest_block **bucket = bucket_of(&grown, block->number);
            next = block->next;
            block->next = *bucket;
            *bucket = block;
        }
    }
    wpi_free(blocks->buckets);
    *blocks = grown;
    return true;
}

bool wpi_nest_blocks_add(wpi_nest_blocks *blocks, wpi_command *command) {
    wpi_nest_block *block = find(blocks, command->block);
    if (block == NULL) {
        if (!grow(blocks)) return false;
        block = wpi_calloc(1, sizeof *block);
        if (block == NULL) return false;
        wpi_nest_block **bucket = bucket_of(blocks, command->block);
        block->number = command->block;
        block->next = *bucket;
        *bucket = block;
        blocks->count++;
    }
    command->of_block = block;
    command->earlier = block->last;
    command->later = NULL;
    *(block->last != NULL ? &block->last->later : &block->first) = command;
    block->last = command;
    return true;
}

static bool has_done(const wpi_nest_block *block, uint64_t number) {
    return block->first == NULL || block->first->number > number;
}

bool wpi_nest_has_done(const wpi_nest *nest, uint64_t block, uint64_t number) {
    const wpi_nest_block *found = find(&nest->blocks, block);
    return found == NULL || has_done(found, number);
}

/* ---- dormant blocks ---- */

static void stop_awaiting(wpi_block *block) {
    block->awaits->dormant = NULL;
    block->awaits = NULL;
}

/* Takes a block from its worker's dormant ones. */
static void unlist(wpi_block *block) {
    wpi_worker *worker = block->worker;
    *(block->previous != NULL ? &block->previous->next : &worker->dormant) = block->next;
    if (block->next != NULL) block->next->previous = block->previous;
    stop_awaiting(block);
}

static void wake(wpi_block *block) {
    wpi_worker *worker = block->worker;
    struct wpi_executor *executor = worker->device->executor;
    if (executor != NULL) {
        stop_awaiting(block);
        executor->nested_done(executor, block);
        return;
    }
    unlist(block);
    block->next = atomic_load_explicit(&worker->woken, memory_order_relaxed);
    atomic_store(&worker->woken, block);
    wpi_pool_announce(worker->pool);
}

bool wpi_nest_sleep(wpi_block *block) {
    const wpi_launch *launch = block->launch;
    wpi_worker *worker = block->worker;
    pthread_mutex_lock(launch->device->lock);
    wpi_nest_block *awaits =
        launch->nest != NULL ? find(&launch->nest->blocks, wpi_block_grid_number(block)) : NULL;
    const bool sleeps = awaits != NULL && !has_done(awaits, block->awaited_least) &&
                        !atomic_load(&launch->is_aborted);
    if (sleeps) {
        block->awaits = awaits;
        awaits->dormant = block;
        block->previous = NULL;
        block->next = worker->dormant;
        if (worker->dormant != NULL) worker->dormant->previous = block;
        worker->dormant = block;
    }
    pthread_mutex_unlock(launch->device->lock);
    return sleeps;
}

bool wpi_nest_await(wpi_block *block, uint64_t number) {
    const wpi_launch *launch = block->launch;
    wpi_nest_block *awaits =
        launch->nest != NULL ? find(&launch->nest->blocks, wpi_block_grid_number(block)) : NULL;
    if (awaits == NULL || has_done(awaits, number)) return false;
    if (block->awaits == NULL || number < block->awaited_least) block->awaited_least = number;
    block->awaits = awaits;
    awaits->dormant = block;
    return true;
}

void wpi_nest_blocks_forget_waiting(wpi_nest_blocks *blocks) {
    for (uint32_t i = 0; i < blocks->bucket_count; i++) {
        for (wpi_nest_block *block = blocks->buckets[i]; block != NULL; block = block->next)
            if (block->dormant != NULL) stop_awaiting(block->dormant);
    }
}

wpi_block *wpi_nest_wake_up(wpi_worker *worker, bool all) {
    if (!all && atomic_load_explicit(&worker->woken, memory_order_relaxed) == NULL) return NULL;
    pthread_mutex_lock(worker->device->lock);
    while (all && worker->dormant != NULL)
        wake(worker->dormant);
    wpi_block *woken = atomic_exchange(&worker->woken, NULL);
    pthread_mutex_unlock(worker->device->lock);
    return woken;
}

/* ---- ends ---- */

static void forget(wpi_nest_blocks *blocks, wpi_nest_block *block) {
    wpi_nest_block **link = bucket_of(blocks, block->number);
    while (*link != block)
        link = &(*link)->next;
    *link = block->next;
    blocks->count--;
    wpi_free(block);
}

void wpi_nest_blocks_remove(wpi_nest_blocks *blocks, const wpi_command *command) {
    wpi_nest_block *block = command->of_block;
    if (block == NULL) return;
    *(command->earlier != NULL ? &command->earlier->later : &block->first) = command->later;
    *(command->later != NULL ? &command->later->earlier : &block->last) = command->earlier;
    if (block->dormant != NULL && has_done(block, block->dormant->awaited_least))
        wake(block->dormant);
    if (block->first == NULL) forget(blocks, block);
}
