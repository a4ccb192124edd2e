/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Launches and the workers that run their blocks.
 *
 * A device has as many slots ("workers") as processors that it may use. A thread that holds a slot
 * runs blocks: the thread that executes the launch, or one of the pool's helper threads, of which
 * there is one fewer. So one worker needs no second thread, and a small launch wakes no thread.
 *
 * Workers take chunks of blocks by an atomic counter. A block that can only wait (as wpi_block_run
 * returns) is parked, and the worker takes a new block of the launch, runs its parked ones in turn,
 * or takes a block of another launch. A parked block stays with its worker. So a block that another
 * one waits for will run, while memory for parked blocks lasts. Blocks that wait only for what they
 * launched have no turns: they are dormant until that is done (nested/nest_blocks.c).
 */
#include "device/cpu/cpu.h"

#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "device/cpu/nested/nest.h"

/* A stack pointer within this distance of the stack's end counts as overflow: the next frame does
 * not fit. */
#define STACK_MARGIN_BYTES ((uintptr_t)16384)

#define PARKED_MAX 4096u /* blocks a worker */
#define PARKED_BYTES_MAX                                                                           \
    ((size_t)256 << 20) /* their storage; cooperative launches may exceed it                       \
                         */
#define BLOCKS_KEPT 4u  /* blocks whose storage a worker keeps */
#define CHUNK_MAX 1024u
#define CHUNKS_PER_WORKER 16u /* so that workers finish at about the same time */
#define IDLE_YIELDS 64u       /* fruitless rounds before a worker sleeps between rounds */
#define IDLE_SLEEP_NS 20000
#define DORMANT_SLEEP_NS 1000000 /* the longest sleep of a worker whose blocks are all dormant */

struct wpi_pool {
    wpi_cpu_device *device;
    pthread_mutex_t lock;
    pthread_cond_t work;    /* for helpers: there may be blocks and a free slot */
    pthread_cond_t changed; /* for everyone else: a slot, a grid barrier, an end */
    wpi_worker *workers;    /* [worker_count] */
    wpi_worker *free_workers;
    uint32_t worker_count;
    uint32_t waiter_count;    /* threads that wait for `changed` */
    uint32_t sleeper_count;   /* … of them, workers with dormant blocks */
    _Atomic uint32_t aborted; /* launches so far */
    pthread_t *helpers;
    uint32_t helper_count, helper_idle_count;
    bool is_stopping;
    wpi_launch *launches; /* under way, oldest first */
};

_Thread_local wpi_worker *wpi_worker_current WPI_SIGNAL_SAFE;
_Thread_local wp_cpu_block *wp_rt_block;

/* ---- errors of kernel code ---- */

_Noreturn void wpi_worker_escape(wpi_worker *worker) {
    if (worker->fiber !=
        NULL) { /* on a fiber's stack: return first, wpi_fiber_resume calls again */
        worker->is_failing = true;
        for (;;)
            wpi_fiber_leave(worker);
    }
    worker->is_failing = false;
    siglongjmp(worker->escape, 1);
}

static void set_error(wpi_worker *worker, wp_status status, bool has_thread, const char *what) {
    const wp_cpu_block *pub = &worker->current->pub;
    char thread[64] = "", place[192] = "";
    if (has_thread) {
        snprintf(thread, sizeof thread, ", thread (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")",
                 pub->tid[0], pub->tid[1], pub->tid[2]);
    }
    if (has_thread && worker->place != NULL) {
        const uint32_t *dim = pub->block_dim;
        worker->place(worker->current, pub->tid[0] + dim[0] * (pub->tid[1] + dim[1] * pub->tid[2]),
                      place, sizeof place);
    }
    (void)wpi_fail(&worker->error, status, __FILE__, __LINE__,
                   "kernel %s, block (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")%s%s: %s",
                   worker->current->launch->kernel->display_name, pub->block_idx[0],
                   pub->block_idx[1], pub->block_idx[2], thread, place, what);
}

_Noreturn void wpi_worker_fail(wpi_worker *worker, wp_status status, bool has_thread,
                               const char *format, ...) {
    char what[384];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    set_error(worker, status, has_thread, what);
    worker->fault_signal = 0;
    wpi_worker_escape(worker);
}

/* Kernels without fibers run on the stack of the operating system's thread. */
static bool overflows_thread_stack(const wpi_worker *worker, bool has_fibers, size_t *stack_bytes) {
    uintptr_t low;
    if (has_fibers || worker->fault_stack_pointer == 0) return false;
    return wpi_thread_stack(&low, stack_bytes) &&
           worker->fault_stack_pointer < low + STACK_MARGIN_BYTES &&
           worker->fault_stack_pointer + *stack_bytes > low;
}

/* Writes the message of a fault, on the worker's own stack. */
static void describe_fault(wpi_worker *worker, bool has_thread) {
    const void *address = worker->fault_address;
    char where[256], what[384];
    size_t stack_bytes = 0;
    wp_status status = WP_STATUS_KERNEL_ADDRESS;
    if (worker->fault_signal == SIGFPE) {
        snprintf(what, sizeof what, "divided an integer by zero");
    } else if (worker->fault_signal == SIGILL) {
        status = WP_STATUS_KERNEL_TRAP;
        snprintf(what, sizeof what, "executed a trap");
    } else if (worker->fault_is_alignment) {
        status = WP_STATUS_KERNEL_MISALIGNED;
        snprintf(what, sizeof what, "accessed a vector at address %p, which is not aligned for it",
                 address);
    } else if (worker->fault_is_stack) {
        snprintf(
            what, sizeof what,
            "stack overflow: its stack of %" PRIu64
            " bytes is used up; cudaDeviceSetLimit(cudaLimitStackSize, BYTES) raises the limit",
            (uint64_t)worker->current->fiber_stack_bytes);
    } else if (overflows_thread_stack(worker, has_thread, &stack_bytes)) {
        snprintf(what, sizeof what,
                 "stack overflow: its calls need more than the %zu bytes of stack that a kernel "
                 "has on this device; recursion must be less deep, or local arrays smaller",
                 stack_bytes);
    } else {
        wpi_fault_describe(&worker->device->base, address, where, sizeof where);
        snprintf(what, sizeof what, "accessed address %p, %s", address, where);
    }
    set_error(worker, status, has_thread, what);
}

/* ---- grid barriers and references ---- */

static void wait_for_change(wpi_pool *pool) {
    pool->waiter_count++;
    pthread_cond_wait(&pool->changed, &pool->lock);
    pool->waiter_count--;
}

static void announce_change(wpi_pool *pool) {
    if (pool->waiter_count != 0) pthread_cond_broadcast(&pool->changed);
}

/* So many launches by this grid's threads wait that they run before its further blocks. */
static bool wants_relief(const wpi_launch *launch) {
    const uint32_t waiting = atomic_load_explicit(&launch->nest_waiting, memory_order_relaxed);
    return waiting != 0 &&
           waiting >=
               atomic_load_explicit(&launch->device->nest_waiting_max, memory_order_relaxed) / 2;
}

static bool has_blocks_left(const wpi_launch *launch) {
    return !atomic_load_explicit(&launch->is_aborted, memory_order_relaxed) &&
           atomic_load_explicit(&launch->next, memory_order_relaxed) < launch->block_count;
}

static void drop_ref(wpi_pool *pool, wpi_launch *launch) {
    if (--launch->refs == 0) announce_change(pool);
}

static bool uses_grid_barrier(const wpi_launch *launch) {
    return (launch->kernel->code->flags & WP_CPU_KERNEL_GRID_SYNC) != 0;
}

/* Whether all blocks have ended or are at the barrier, which ended ones will never reach. */
static bool is_grid_stuck(const wpi_launch *launch) {
    return launch->grid_arrived != 0 && launch->blocks_finished != 0 &&
           launch->grid_arrived + launch->blocks_finished == launch->block_count;
}

static void abort_launch(wpi_worker *worker, wpi_launch *launch) {
    wpi_cpu_device_fail(worker->device, &worker->error);
    wpi_pool *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&launch->is_aborted, true);
    atomic_fetch_add(&pool->aborted, 1);
    announce_change(pool);
    pthread_mutex_unlock(&pool->lock);
}

static void fail_grid(wpi_worker *worker, wpi_launch *launch) {
    const uint64_t others = launch->block_count - launch->grid_arrived;
    (void)WP_FAIL(&worker->error, KERNEL_DEADLOCK,
                  "kernel %s: %" PRIu64 " of its blocks wait at the grid barrier for %" PRIu64
                  " that have ended%s",
                  launch->kernel->display_name, launch->grid_arrived, others,
                  others == launch->blocks_finished ? "" : " or wait for their clusters");
}

/* ---- running blocks ---- */

static void park(wpi_worker *worker, wpi_block *block) {
    block->next = NULL;
    if (worker->parked_tail != NULL) {
        worker->parked_tail->next = block;
    } else {
        worker->parked_head = block;
    }
    worker->parked_tail = block;
    worker->parked_count++;
    worker->held_bytes += block->storage_bytes;
}

static wpi_block *unpark(wpi_worker *worker) {
    wpi_block *block = worker->parked_head;
    worker->parked_head = block->next;
    if (worker->parked_head == NULL) worker->parked_tail = NULL;
    worker->parked_count--;
    worker->held_bytes -= block->storage_bytes;
    return block;
}

/* Keeps a block that waits: dormant, if it waits for what it launched. */
static void put_aside(wpi_worker *worker, wpi_block *block) {
    if (!block->awaits_nested || !wpi_nest_sleep(block)) {
        park(worker, block);
        return;
    }
    worker->dormant_count++;
    worker->held_bytes += block->storage_bytes;
}

/* Parks dormant blocks that may go on; all, if a launch was aborted. */
static void wake_dormant(wpi_worker *worker) {
    const uint32_t aborted = atomic_load_explicit(&worker->pool->aborted, memory_order_relaxed);
    wpi_block *next, *block = wpi_nest_wake_up(worker, aborted != worker->aborted_seen);
    worker->aborted_seen = aborted;
    for (; block != NULL; block = next) {
        next = block->next;
        worker->dormant_count--;
        worker->held_bytes -= block->storage_bytes;
        park(worker, block);
    }
}

static uint32_t held_count(const wpi_worker *worker) {
    return worker->parked_count + worker->dormant_count;
}

/* The block has ended, or its launch was aborted. */
static void finish(wpi_worker *worker, wpi_block *block, bool has_ended) {
    wpi_launch *launch = block->launch;
    wpi_pool *pool = worker->pool;
    const bool holds_ref = block->holds_ref;
    if (has_ended && uses_grid_barrier(launch)) {
        pthread_mutex_lock(&pool->lock);
        launch->blocks_finished++;
        const bool is_stuck = is_grid_stuck(launch);
        if (is_stuck) fail_grid(worker, launch);
        pthread_mutex_unlock(&pool->lock);
        if (is_stuck) abort_launch(worker, launch);
    }
    (void)wpi_cluster_leave(block);
    wpi_block_release(block);
    if (!holds_ref) return;
    wpi_worker_add_up(worker);
    pthread_mutex_lock(&pool->lock);
    drop_ref(pool, launch);
    pthread_mutex_unlock(&pool->lock);
}

void wpi_worker_refuse_grid(wpi_worker *worker, const wpi_launch *launch) {
    (void)WP_FAIL(&worker->error, KERNEL_TRAP,
                  "kernel %s: reached a grid barrier, but was not launched with "
                  "cudaLaunchCooperativeKernel",
                  launch->kernel->display_name);
}

/* All threads of the block are at the grid barrier. */
static void arrive_at_grid(wpi_worker *worker, wpi_block *block) {
    wpi_launch *launch = block->launch;
    if (!launch->is_cooperative) {
        wpi_worker_refuse_grid(worker, launch);
        abort_launch(worker, launch);
        park(worker, block);
        return;
    }
    wpi_pool *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    block->grid_generation = atomic_load_explicit(&launch->grid_generation, memory_order_relaxed);
    if (++launch->grid_arrived == launch->block_count) {
        launch->grid_arrived = launch->blocks_asleep = 0; /* their workers are still to wake up */
        atomic_fetch_add(&launch->grid_generation, 1);
        announce_change(pool);
    }
    const bool is_stuck = is_grid_stuck(launch);
    if (is_stuck) fail_grid(worker, launch);
    pthread_mutex_unlock(&pool->lock);
    if (is_stuck) abort_launch(worker, launch);
    park(worker, block);
}

/* No thread of the block can continue before the barrier of its cluster completes. */
static void wait_for_cluster(wpi_worker *worker, wpi_block *block) {
    wpi_launch *launch = block->launch;
    const bool is_stuck =
        wpi_cluster_is_stuck(block->cluster) && !wpi_cluster_complete(block->cluster);
    if (is_stuck) {
        const uint32_t *at = block->pub.block_idx;
        (void)WP_FAIL(&worker->error, KERNEL_DEADLOCK,
                      "kernel %s, block (%" PRIu32 ",%" PRIu32 ",%" PRIu32
                      "): all threads that can run wait at the barrier of their cluster, where "
                      "others have not arrived",
                      launch->kernel->display_name, at[0], at[1], at[2]);
        abort_launch(worker, launch);
    }
    park(worker, block);
}

/* Continues a block. True if it progressed. */
static bool run_block(wpi_worker *worker, wpi_block *block) {
    worker->current = block;
    const wpi_outcome outcome = wpi_block_run(block);
    worker->current = NULL;
    switch (outcome) {
    case WPI_OUTCOME_DONE: finish(worker, block, true); return true;
    case WPI_OUTCOME_GRID: arrive_at_grid(worker, block); return true;
    case WPI_OUTCOME_CLUSTER: wait_for_cluster(worker, block); return true;
    default: put_aside(worker, block); return outcome == WPI_OUTCOME_PROGRESSED;
    }
}

/* Deeper launches may have more: those that launched them wait, and are held. */
static bool can_hold_more(const wpi_worker *worker, const wpi_launch *launch) {
    const uint32_t times = 1 + launch->depth;
    if (held_count(worker) == 0 || launch->is_cooperative) return true;
    return held_count(worker) < times * PARKED_MAX && worker->held_bytes < times * PARKED_BYTES_MAX;
}

static bool take_range(wpi_worker *worker, wpi_launch *launch) {
    if (worker->range_next < worker->range_outer) return true;
    if (!has_blocks_left(launch) || wants_relief(launch)) return false;
    const uint64_t first =
        atomic_fetch_add_explicit(&launch->next, launch->chunk, memory_order_relaxed);
    if (first >= launch->block_count) return false;
    const uint64_t left = launch->block_count - first;
    worker->range_next = first;
    worker->range_outer = first + (left < launch->chunk ? left : launch->chunk);
    return true;
}

/* Obtains the blocks of a cluster, not started. False: out of memory. */
static bool obtain_cluster(wpi_worker *worker, wpi_launch *launch, wpi_block **blocks) {
    wpi_cluster *cluster = wpi_cluster_obtain(worker, launch);
    if (cluster == NULL) return false;
    if (worker->block_max < launch->cluster_size) worker->block_max = launch->cluster_size;
    uint32_t count = 0;
    for (; count < launch->cluster_size; count++) {
        blocks[count] = wpi_block_obtain(worker, launch);
        if (blocks[count] == NULL) break;
        if (wpi_cluster_join(cluster, blocks[count], count)) continue;
        wpi_block_release(blocks[count]);
        break;
    }
    if (count == launch->cluster_size) return true;
    if (count == 0) wpi_cluster_release(worker, cluster);
    cluster->size = count; /* so that the last one releases it */
    while (count != 0) {
        (void)wpi_cluster_leave(blocks[--count]);
        wpi_block_release(blocks[count]);
    }
    return false;
}

/* Starts the blocks of a cluster, from block `number` on; they wait for their turn as parked ones.
 */
static void start_cluster(wpi_worker *worker, wpi_block **blocks, uint64_t number, bool holds_ref) {
    const uint32_t count = blocks[0]->launch->cluster_size;
    for (uint32_t i = 0; i < count; i++) {
        blocks[i]->holds_ref = holds_ref;
        wpi_block_start(blocks[i], number + i);
        park(worker, blocks[i]);
    }
}

/* Out of memory for more blocks: the parked ones can end without these, unless the launch is
 * cooperative. */
static bool fail_memory(wpi_worker *worker, wpi_launch *launch) {
    if (held_count(worker) != 0 && !launch->is_cooperative) return false;
    (void)WP_FAIL(&worker->error, NOMEM,
                  "kernel %s: no host memory for a block of %" PRIu32 " threads",
                  launch->kernel->display_name, launch->thread_count);
    abort_launch(worker, launch);
    return false;
}

static bool run_new_cluster(wpi_worker *worker, wpi_launch *launch) {
    wpi_block *blocks[WP_CLUSTER_BLOCKS_MAX];
    if (!obtain_cluster(worker, launch, blocks)) return fail_memory(worker, launch);
    const uint64_t number = worker->range_next;
    worker->range_next += launch->cluster_size;
    start_cluster(worker, blocks, number, false);
    return true;
}

/* Starts blocks of the launch, until one parks or none is left. */
static bool run_new(wpi_worker *worker, wpi_launch *launch) {
    if (!can_hold_more(worker, launch) || !take_range(worker, launch)) return false;
    if (launch->is_explicit_cluster) return run_new_cluster(worker, launch);
    wpi_block *block = wpi_block_obtain(worker, launch);
    if (block == NULL) return fail_memory(worker, launch);
    worker->current = block;
    do {
        while (worker->range_next < worker->range_outer) {
            if (atomic_load_explicit(&launch->is_aborted, memory_order_relaxed)) goto stop;
            wpi_block_start(block, worker->range_next++);
            const wpi_outcome outcome = wpi_block_run(block);
            if (outcome == WPI_OUTCOME_DONE && !uses_grid_barrier(launch)) {
                (void)wpi_cluster_leave(block);
                continue;
            }
            worker->current = NULL;
            if (outcome == WPI_OUTCOME_DONE) {
                finish(worker, block, true);
            } else if (outcome == WPI_OUTCOME_GRID) {
                arrive_at_grid(worker, block);
            } else if (outcome == WPI_OUTCOME_CLUSTER) {
                wait_for_cluster(worker, block);
            } else {
                put_aside(worker, block);
            }
            return true;
        }
    } while (held_count(worker) == 0 && take_range(worker, launch));
stop:
    worker->current = NULL;
    wpi_block_release(block);
    return true;
}

/* One round over the parked blocks. *sleeps: all of them are at a grid barrier. */
static bool run_parked(wpi_worker *worker, bool *sleeps) {
    bool has_progressed = false;
    *sleeps = true;
    for (uint32_t n = worker->parked_count; n != 0; n--) {
        wpi_block *block = unpark(worker);
        wpi_launch *launch = block->launch;
        if (atomic_load(&launch->is_aborted)) {
            finish(worker, block, false);
            has_progressed = true;
            continue;
        }
        if (block->is_at_grid && block->grid_generation == atomic_load(&launch->grid_generation)) {
            park(worker, block);
            continue;
        }
        if (block->waits_for_cluster) {
            park(worker, block);
            continue;
        }
        *sleeps = false;
        if (run_block(worker, block)) has_progressed = true;
    }
    return has_progressed;
}

/* Whether a block of `launch` may wait for blocks of `own`, a kernel's launch: then no thread may
 * hold blocks of both. Kernels wait for what their own threads launched, which is deeper. */
static bool may_wait_for(const wpi_launch *launch, const wpi_launch *own) {
    return own != NULL && own->depth != 0 && launch->depth <= own->depth;
}

/* A launch other than `own` that has blocks left. */
static wpi_launch *other_launch(const wpi_pool *pool, const wpi_launch *own) {
    for (wpi_launch *launch = pool->launches; launch != NULL; launch = launch->following) {
        if (launch == own || !has_blocks_left(launch) || wants_relief(launch)) continue;
        if (!may_wait_for(launch, own)) return launch;
    }
    return NULL;
}

/* The same, with a reference. */
static wpi_launch *find_launch(wpi_pool *pool, const wpi_launch *own) {
    wpi_launch *launch = other_launch(pool, own);
    if (launch != NULL) launch->refs++;
    return launch;
}

/* The same for a launch with clusters, to which there is one reference. */
static bool run_foreign_cluster(wpi_worker *worker, wpi_launch *launch) {
    wpi_pool *pool = worker->pool;
    wpi_block *blocks[WP_CLUSTER_BLOCKS_MAX];
    uint64_t number = UINT64_MAX;
    const bool has_blocks = can_hold_more(worker, launch) && obtain_cluster(worker, launch, blocks);
    if (has_blocks) number = atomic_fetch_add(&launch->next, launch->cluster_size);
    pthread_mutex_lock(&pool->lock);
    if (number < launch->block_count) {
        launch->refs += launch->cluster_size - 1; /* one for each block */
    } else {
        drop_ref(pool, launch);
    }
    pthread_mutex_unlock(&pool->lock);
    if (number < launch->block_count) {
        start_cluster(worker, blocks, number, true);
        return true;
    }
    for (uint32_t i = 0; has_blocks && i < launch->cluster_size; i++) {
        (void)wpi_cluster_leave(blocks[i]);
        wpi_block_release(blocks[i]);
    }
    return false;
}

/* All blocks here wait, perhaps for a kernel that waits for a worker: start one block of it. */
static bool run_foreign(wpi_worker *worker, const wpi_launch *own) {
    wpi_pool *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    wpi_launch *launch = find_launch(pool, own);
    pthread_mutex_unlock(&pool->lock);
    if (launch == NULL) return false;
    wpi_block *block = NULL;
    if (launch->is_explicit_cluster) return run_foreign_cluster(worker, launch);
    if (can_hold_more(worker, launch)) block = wpi_block_obtain(worker, launch);
    uint64_t number = UINT64_MAX;
    if (block != NULL) number = atomic_fetch_add(&launch->next, 1);
    if (number < launch->block_count) {
        block->holds_ref = true;
        wpi_block_start(block, number);
        (void)run_block(worker, block);
        return true;
    }
    if (block != NULL) wpi_block_release(block);
    pthread_mutex_lock(&pool->lock);
    drop_ref(pool, launch);
    pthread_mutex_unlock(&pool->lock);
    return false;
}

static bool can_any_go_on(const wpi_worker *worker) {
    for (const wpi_block *b = worker->parked_head; b != NULL; b = b->next) {
        if (atomic_load(&b->launch->is_aborted)) return true;
        if (b->waits_for_cluster) continue;
        if (!b->is_at_grid || b->grid_generation != atomic_load(&b->launch->grid_generation))
            return true;
    }
    return false;
}

/* Counts the worker's blocks as asleep. Returns a launch of whose blocks all are, or have ended,
 * and some are at the grid barrier: others wait for their clusters, in vain. NULL: there is none.
 */
static wpi_launch *fall_asleep(wpi_worker *worker) {
    wpi_launch *stuck = NULL;
    for (wpi_block *b = worker->parked_head; b != NULL; b = b->next) {
        wpi_launch *launch = b->launch;
        b->asleep_generation = atomic_load(&launch->grid_generation);
        launch->blocks_asleep++;
        if (launch->grid_arrived != 0 &&
            launch->blocks_asleep + launch->blocks_finished == launch->block_count)
            stuck = launch;
    }
    return stuck;
}

/* A grid barrier that completed meanwhile has counted them down. */
static void wake_up(wpi_worker *worker) {
    for (wpi_block *b = worker->parked_head; b != NULL; b = b->next)
        b->launch->blocks_asleep -=
            b->asleep_generation == atomic_load(&b->launch->grid_generation);
}

/* Sleeps until a grid barrier completes, if no block can go on. */
static void sleep_at_barriers(wpi_worker *worker) {
    wpi_pool *pool = worker->pool;
    wpi_launch *stuck = NULL;
    pthread_mutex_lock(&pool->lock);
    if (!can_any_go_on(worker)) {
        stuck = fall_asleep(worker);
        if (stuck == NULL) {
            wait_for_change(pool);
        } else {
            fail_grid(worker, stuck);
        }
        wake_up(worker);
    }
    pthread_mutex_unlock(&pool->lock);
    if (stuck != NULL) abort_launch(worker, stuck);
}

/* The time after the longest sleep of a worker with dormant blocks. */
static struct timespec dormant_until(void) {
    struct timespec at;
    timespec_get(&at, TIME_UTC);
    at.tv_nsec += DORMANT_SLEEP_NS;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

/* Sleeps until something may have changed for a worker, none of whose blocks can go on, and some
 * are dormant: what they launched may wait for this worker. */
static void sleep_dormant(wpi_worker *worker, const wpi_launch *own) {
    wpi_pool *pool = worker->pool;
    const struct timespec until = dormant_until();
    pthread_mutex_lock(&pool->lock);
    if (atomic_load(&worker->woken) == NULL &&
        atomic_load(&pool->aborted) == worker->aborted_seen && other_launch(pool, own) == NULL &&
        !can_any_go_on(worker)) {
        pool->waiter_count++;
        pool->sleeper_count++;
        pthread_cond_timedwait(&pool->changed, &pool->lock, &until);
        pool->waiter_count--;
        pool->sleeper_count--;
    }
    pthread_mutex_unlock(&pool->lock);
}

/* Without progress in a round, sleeps until a grid barrier completes, or for a moment. */
static void rest(wpi_worker *worker, const wpi_launch *own, bool sleeps, uint32_t *idle_rounds) {
    if (sleeps && worker->dormant_count != 0) {
        sleep_dormant(worker, own);
        return;
    }
    if (sleeps) {
        sleep_at_barriers(worker);
        return;
    }
    if (++*idle_rounds < IDLE_YIELDS) {
        sched_yield();
    } else {
        nanosleep(&(struct timespec){.tv_nsec = IDLE_SLEEP_NS}, NULL);
    }
}

/* Runs blocks of `launch` until none is left and those taken have ended. */
static void run_worker(wpi_worker *worker, wpi_launch *launch) {
    wpi_worker_current = worker;
    wpi_fault_prepare_thread();
    worker->range_next = worker->range_outer = 0;
    if (sigsetjmp(worker->escape, 0) != 0) { /* kernel code failed in worker->current */
        wpi_block *block = worker->current;
        if (worker->fault_signal != 0) describe_fault(worker, block->fibers != NULL);
        worker->fault_signal = 0;
        abort_launch(worker, block->launch);
        worker->current = NULL;
        finish(worker, block, false);
    }
    uint32_t idle_rounds = 0;
    for (;;) {
        if (atomic_load_explicit(&launch->is_aborted, memory_order_relaxed)) {
            worker->range_next = worker->range_outer;
        }
        wake_dormant(worker);
        bool has_progressed = run_new(worker, launch);
        if (held_count(worker) == 0) {
            if (has_progressed) continue;
            break;
        }
        bool sleeps;
        if (run_parked(worker, &sleeps)) has_progressed = true;
        if (held_count(worker) == 0 || has_progressed || run_foreign(worker, launch)) {
            idle_rounds = 0;
            continue;
        }
        rest(worker, launch, sleeps, &idle_rounds);
    }
    wpi_worker_add_up(worker);
    wp_rt_block = NULL;
    wpi_worker_current = NULL;
}

/* ---- slots and helpers ---- */

/* Called with pool->lock held, which is released while blocks run. */
static void run_with_slot(wpi_pool *pool, wpi_launch *launch) {
    wpi_worker *worker = pool->free_workers;
    pool->free_workers = worker->next_free;
    launch->refs++;
    const bool wakes = pool->helper_idle_count != 0 && pool->free_workers != NULL &&
                       launch->block_count - atomic_load(&launch->next) > launch->chunk;
    pthread_mutex_unlock(&pool->lock);
    if (wakes) pthread_cond_signal(&pool->work); /* each helper that wakes up wakes the next */
    run_worker(worker, launch);
    pthread_mutex_lock(&pool->lock);
    worker->next_free = pool->free_workers;
    pool->free_workers = worker;
    launch->refs--;
    announce_change(pool);
}

wpi_worker *wpi_pool_borrow(wpi_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    wpi_worker *worker = pool->free_workers;
    if (worker != NULL) pool->free_workers = worker->next_free;
    pthread_mutex_unlock(&pool->lock);
    return worker;
}

void wpi_pool_return(wpi_pool *pool, wpi_worker *worker) {
    pthread_mutex_lock(&pool->lock);
    worker->next_free = pool->free_workers;
    pool->free_workers = worker;
    announce_change(pool);
    pthread_mutex_unlock(&pool->lock);
}

void wpi_pool_announce(wpi_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    announce_change(pool);
    pthread_mutex_unlock(&pool->lock);
}

bool wpi_worker_run(wpi_worker *worker, wpi_block *block, wpi_outcome *outcome) {
    wpi_worker_current = worker;
    wpi_fault_prepare_thread();
    bool is_good = true;
    if (sigsetjmp(worker->escape, 0) == 0) {
        worker->current = block;
        *outcome = wpi_block_run(block);
    } else {
        if (worker->fault_signal != 0) describe_fault(worker, block->fibers != NULL);
        worker->fault_signal = 0;
        wpi_cpu_device_fail(worker->device, &worker->error);
        is_good = false;
    }
    wpi_worker_add_up(worker);
    worker->current = NULL;
    wp_rt_block = NULL;
    wpi_worker_current = NULL;
    return is_good;
}

static void *run_helper(void *arg) {
    wpi_pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    while (!pool->is_stopping) {
        wpi_launch *launch = pool->free_workers != NULL ? find_launch(pool, NULL) : NULL;
        if (launch != NULL) {
            run_with_slot(pool, launch);
            drop_ref(pool, launch);
            continue;
        }
        pool->helper_idle_count++;
        pthread_cond_wait(&pool->work, &pool->lock);
        pool->helper_idle_count--;
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void list_launch(wpi_pool *pool, wpi_launch *launch) {
    wpi_launch **slot = &pool->launches;
    launch->previous = NULL;
    launch->following = NULL;
    while (*slot != NULL) {
        launch->previous = *slot;
        slot = &(*slot)->following;
    }
    *slot = launch;
}

static void unlist_launch(wpi_pool *pool, wpi_launch *launch) {
    *(launch->previous != NULL ? &launch->previous->following : &pool->launches) =
        launch->following;
    if (launch->following != NULL) launch->following->previous = launch->previous;
}

void wpi_pool_run(wpi_pool *pool, wpi_launch *launch) {
    const uint32_t meets = launch->kernel->code->flags &
                           (WP_CPU_KERNEL_SPINS | WP_CPU_KERNEL_GRID_SYNC | WP_CPU_KERNEL_LAUNCHES);
    launch->chunk = launch->block_count / ((uint64_t)pool->worker_count * CHUNKS_PER_WORKER);
    if (launch->chunk > CHUNK_MAX) launch->chunk = CHUNK_MAX;
    if (launch->chunk == 0 || meets != 0) launch->chunk = 1;
    /* whole clusters */
    launch->chunk =
        (launch->chunk + launch->cluster_size - 1) / launch->cluster_size * launch->cluster_size;

    pthread_mutex_lock(&pool->lock);
    list_launch(pool, launch);
    if (pool->sleeper_count != 0) announce_change(pool);
    while (has_blocks_left(launch) || launch->refs != 0) {
        if (wants_relief(launch)) {
            pthread_mutex_unlock(&pool->lock);
            wpi_nest_relieve(launch);
            pthread_mutex_lock(&pool->lock);
        } else if (has_blocks_left(launch) && pool->free_workers != NULL) {
            run_with_slot(pool, launch);
        } else {
            wait_for_change(pool);
        }
    }
    unlist_launch(pool, launch);
    pthread_mutex_unlock(&pool->lock);
}

wp_status wpi_pool_create(wpi_cpu_device *device, uint32_t worker_count, wpi_pool **out,
                          wp_error *err) {
    *out = NULL;
    wpi_pool *pool = wpi_calloc(1, sizeof *pool);
    if (pool == NULL) return WP_FAIL(err, NOMEM, "cpu device: worker pool");
    pool->device = device;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->changed, NULL);
    pool->workers = wpi_calloc(worker_count, sizeof *pool->workers);
    pool->helpers = wpi_calloc(worker_count, sizeof *pool->helpers);
    if (pool->workers == NULL || pool->helpers == NULL) {
        wpi_pool_destroy(pool);
        return WP_FAIL(err, NOMEM, "cpu device: %" PRIu32 " workers", worker_count);
    }
    pool->worker_count = worker_count;
    for (uint32_t i = worker_count; i-- != 0;) {
        wpi_worker *worker = &pool->workers[i];
        worker->pool = pool;
        worker->device = device;
        worker->number = i;
        worker->block_max = BLOCKS_KEPT;
        worker->has_guards = true;
        worker->next_free = pool->free_workers;
        pool->free_workers = worker;
    }
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, WPI_WORKER_STACK_BYTES);
    while (pool->helper_count + 1 < worker_count &&
           pthread_create(&pool->helpers[pool->helper_count], &attr, run_helper, pool) == 0) {
        pool->helper_count++;
    }
    pthread_attr_destroy(&attr);
    if (pool->helper_count + 1 < worker_count) {
        const uint32_t started = pool->helper_count + 1;
        wpi_pool_destroy(pool);
        return WP_FAIL(err, NOMEM,
                       "cpu device: %" PRIu32 " of %" PRIu32
                       " worker threads could be started; lower WARPAGE_WORKERS",
                       started, worker_count);
    }
    *out = pool;
    return WP_STATUS_OK;
}

void wpi_pool_destroy(wpi_pool *pool) {
    if (pool == NULL) return;
    pthread_mutex_lock(&pool->lock);
    pool->is_stopping = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->helper_count; i++)
        pthread_join(pool->helpers[i], NULL);
    for (uint32_t i = 0; i < pool->worker_count && pool->workers != NULL; i++) {
        wpi_text_deinit(&pool->workers[i].printed);
        wpi_free(pool->workers[i].sums);
        while (pool->workers[i].blocks != NULL) {
            wpi_block *block = pool->workers[i].blocks;
            pool->workers[i].blocks = block->next;
            wpi_block_destroy(block);
        }
        while (pool->workers[i].clusters != NULL) {
            wpi_cluster *cluster = pool->workers[i].clusters;
            pool->workers[i].clusters = cluster->next;
            wpi_cluster_destroy(cluster);
        }
    }
    pthread_cond_destroy(&pool->changed);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    wpi_free(pool->helpers);
    wpi_free(pool->workers);
    wpi_free(pool);
}
