/* SPDX-License-Identifier: Apache-2.0 */
/* Do words and tables agree? Preloaded into a program whose kernels run in the variant `trace` or
 * `instep` (run.sh), this library is the runtime that they record for. It reads every thread's
 * words by the tables and ends the program at the first one that does not fit:
 *
 *     a thread begins at a kernel's entry; blocks stay in their function until a CALL or a RETURN;
 *     what returns goes on where its CALL said; a block has as many addresses as ACCESS steps; the
 *     address of a shared access lies in the block's shared memory; a stop, a clock read and (in
 *     step) an access come behind the block that says so, with all of its words. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/abi.h"
#include "base/trace_abi.h"

enum { WORDS = 96, DEPTH_MAX = 4096, BUCKETS = 4096 };

/* A thread of a block that runs. */
typedef struct thread {
    wp_trace_lane lane; /* first: kernels hold its address */
    struct thread *next;
    const wp_cpu_block *block;
    const wp_trace_tables *tables;
    uint64_t grid, shared;
    uint32_t block_idx[3], number, shared_bytes;
    uint32_t last;              /* block read last; NONE: the thread has not begun, or has ended */
    uint32_t depth;             /* calls under way */
    uint32_t behind[DEPTH_MAX]; /* where they go on */
    uint32_t expected;          /* the block that must follow, or NONE */
    uint64_t words[WORDS * WP_TRACE_STRIDE]; /* the first of each row */
} thread;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static thread *threads[BUCKETS];
static uint64_t block_total, access_total;

static void fail(const thread *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "witness: thread %u, behind block %d: ", t->number, (int)t->last);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    _exit(3);
}

/* ---- reading words ---- */

static const wp_trace_step *last_step(const thread *t) {
    if (t->last == WP_TRACE_NONE) return NULL;
    const wp_trace_block *b = &t->tables->blocks[t->last];
    return b->step_count ? &t->tables->steps[b->first_step + b->step_count - 1] : NULL;
}

static bool ended_with(const thread *t, wp_trace_op op) {
    const wp_trace_step *step = last_step(t);
    return step && step->op == op;
}

static bool is_entry(const wp_trace_tables *tables, uint32_t block) {
    return block == 0 || tables->blocks[block].function != tables->blocks[block - 1].function;
}

static bool is_kernel_entry(const wp_trace_tables *tables, uint32_t block) {
    for (uint32_t k = 0; k < tables->kernel_count; k++)
        if (tables->kernels[k].entry == block) return true;
    return false;
}

/* May `block` follow the last one? */
static void follow(thread *t, uint32_t block) {
    const wp_trace_tables *tables = t->tables;
    if (t->last == WP_TRACE_NONE) {
        if (!is_kernel_entry(tables, block)) fail(t, "block %u begins no kernel", block);
    } else if (ended_with(t, WP_TRACE_CALL)) {
        uint32_t behind = tables->blocks[t->last].join;
        if (is_entry(tables, block) && block != behind) {
            if (t->depth == DEPTH_MAX) fail(t, "more calls than the witness can count");
            t->behind[t->depth++] = behind;
        } else if (block != behind) { /* the device library, called through a pointer */
            fail(t, "a call is followed by block %u, not %u", block, behind);
        }
    } else if (t->expected != WP_TRACE_NONE) {
        if (block != t->expected) fail(t, "returned to block %u instead of %u", block, t->expected);
    } else if (tables->blocks[block].function != tables->blocks[t->last].function) {
        fail(t, "block %u belongs to another function", block);
    }
    t->expected = WP_TRACE_NONE;
    t->last = block;
    if (!ended_with(t, WP_TRACE_RETURN)) return;
    if (t->depth)
        t->expected = t->behind[--t->depth];
    else
        t->last = WP_TRACE_NONE;
}

static void check_access(const thread *t, const wp_trace_step *step, uint32_t block,
                         uint64_t address) {
    if (step->value >= t->tables->site_count) fail(t, "site %u of block %u", step->value, block);
    const wp_trace_site *site = &t->tables->sites[step->value];
    if (site->block != block) fail(t, "site %u says block %u", step->value, site->block);
    bool is_shared = address - t->shared < t->shared_bytes;
    if (site->space == WP_TRACE_SHARED && !is_shared)
        fail(t, "site %u, line %u: %llx is no shared address", step->value, site->line,
             (unsigned long long)address);
    if (site->space == WP_TRACE_GLOBAL && is_shared)
        fail(t, "site %u, line %u: %llx is a shared address", step->value, site->line,
             (unsigned long long)address);
}

/* A block barrier that says only where it runs which one it is. */
static bool is_open_barrier(const wp_trace_step *step) {
    return step->op == WP_TRACE_STOP && WP_STOP_KIND(step->value) <= WP_STOP_BARRIER_ARRIVE &&
           step->chain == WP_TRACE_NONE;
}

static void check_barrier(const thread *t, uint32_t block, uint64_t word, uint32_t *barriers) {
    uint32_t number = (uint32_t)word, count = (uint32_t)(word >> 32);
    if (number >= 16 || count > 1024)
        fail(t, "block %u: barrier %u for %u threads", block, number, count);
    ++*barriers;
}

/* Reads a block at `at`; returns where the next one begins. */
static const uint64_t *read_block(thread *t, const uint64_t *at, const uint64_t *end) {
    uint64_t number = *at++;
    if (number >= t->tables->block_count) fail(t, "%llx is no block", (unsigned long long)number);
    const wp_trace_block *b = &t->tables->blocks[number];
    const wp_trace_step *steps = &t->tables->steps[b->first_step];
    if (b->access_count > (uint64_t)(end - at))
        fail(t, "block %u has %ld of %u addresses", (unsigned)number, (long)(end - at),
             b->access_count);
    uint32_t accesses = 0, barriers = 0;
    for (uint32_t s = 0; s < b->step_count; s++) {
        if (steps[s].op >= WP_TRACE_OP_COUNT) fail(t, "step %u of block %u", s, (unsigned)number);
        if (steps[s].op == WP_TRACE_ISSUE && steps[s].chain > steps[s].count)
            fail(t, "a chain longer than its instructions, in block %u", (unsigned)number);
        if (steps[s].op >= WP_TRACE_STOP && s + 1 < b->step_count)
            fail(t, "block %u goes on behind its end", (unsigned)number);
        if (steps[s].op == WP_TRACE_ACCESS)
            check_access(t, &steps[s], (uint32_t)number, at[accesses++]);
        if (is_open_barrier(&steps[s])) check_barrier(t, (uint32_t)number, at[accesses], &barriers);
    }
    if (accesses + barriers != b->access_count)
        fail(t, "block %u has %u ACCESS steps and %u barriers, says %u words", (unsigned)number,
             accesses, barriers, b->access_count);
    follow(t, (uint32_t)number);
    __atomic_add_fetch(&block_total, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&access_total, accesses, __ATOMIC_RELAXED);
    return at + b->access_count;
}

static void read_words(thread *t) {
    uint64_t words[WORDS];
    const ptrdiff_t distance = t->lane.cursor - t->words;
    if (distance < 0 || t->lane.cursor > t->lane.limit || distance % WP_TRACE_STRIDE != 0)
        fail(t, "the cursor is lost");
    const size_t count = (size_t)distance / WP_TRACE_STRIDE;
    for (size_t i = 0; i < count; i++)
        words[i] = t->words[i * WP_TRACE_STRIDE];
    for (const uint64_t *at = words; at < words + count;)
        at = read_block(t, at, words + count);
    t->lane.cursor = t->words;
}

/* ---- threads ---- */

static bool is_same_block(const thread *t, const wp_cpu_block *block) {
    return t->grid == block->grid_id &&
           memcmp(t->block_idx, block->block_idx, sizeof t->block_idx) == 0;
}

static void begin(thread *t, const wp_cpu_block *block) {
    if (t->tables) read_words(t); /* of a thread of another block, whose place it takes */
    t->lane = (wp_trace_lane){t->words, t->words + (size_t)WORDS * WP_TRACE_STRIDE};
    t->tables = NULL;
    t->grid = block->grid_id;
    t->shared = (uint64_t)(uintptr_t)block->shared;
    t->shared_bytes = block->shared_bytes;
    memcpy(t->block_idx, block->block_idx, sizeof t->block_idx);
    t->depth = 0;
    t->last = t->expected = WP_TRACE_NONE;
}

static const wp_trace_tables *tables_at(const void *code) {
    Dl_info info;
    void *library = dladdr(code, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    const wp_trace_tables *tables = library ? dlsym(library, WP_TRACE_TABLES_SYMBOL) : NULL;
    if (!tables || tables->version != WP_TRACE_VERSION) {
        fprintf(stderr, "witness: code without tables\n");
        _exit(3);
    }
    return tables; /* the library stays: words may be read when the program has let go of it */
}

static thread *thread_of(const wp_cpu_block *block) {
    size_t bucket = ((uintptr_t)block / 64 + block->thread) % BUCKETS;
    pthread_mutex_lock(&lock);
    thread *t = threads[bucket];
    while (t && (t->block != block || t->number != block->thread))
        t = t->next;
    if (!t) {
        t = calloc(1, sizeof *t);
        if (!t) abort();
        t->block = block;
        t->number = block->thread;
        t->next = threads[bucket];
        threads[bucket] = t;
    }
    pthread_mutex_unlock(&lock);
    return t;
}

wp_trace_lane *wp_rt_trace_lane(void) {
    const wp_cpu_block *block = wp_rt_block;
    thread *t = thread_of(block);
    if (!t->tables || !is_same_block(t, block)) begin(t, block);
    if (t->tables) read_words(t);
    if (t->last == WP_TRACE_NONE && t->expected == WP_TRACE_NONE)
        t->tables = tables_at(__builtin_return_address(0));
    return &t->lane;
}

void wp_rt_trace_full(wp_trace_lane *lane, uint32_t words) {
    thread *t = (thread *)(void *)lane;
    if (words > WORDS) fail(t, "a block of %u words", words);
    if (lane->cursor + (size_t)words * WP_TRACE_STRIDE <= lane->limit)
        fail(t, "asks for room that is there");
    read_words(t);
}

void wp_rt_trace_step(wp_trace_lane *lane) {
    thread *t = (thread *)(void *)lane;
    read_words(t);
    if (!ended_with(t, WP_TRACE_ACCESS)) fail(t, "an access that no block ends with");
}

uint64_t wp_rt_trace_clock(wp_trace_lane *lane, uint32_t is_ns) {
    thread *t = (thread *)(void *)lane;
    read_words(t);
    if (!ended_with(t, WP_TRACE_CLOCK)) fail(t, "a clock read that no block ends with");
    return is_ns ? wp_rt_globaltimer() : wp_rt_clock64();
}

uint64_t wp_rt_stop(uint32_t op, uint32_t point, uint32_t mask, uint64_t a, uint64_t b) {
    static uint64_t (*stop)(uint32_t, uint32_t, uint32_t, uint64_t, uint64_t);
    if (!stop) *(void **)&stop = dlsym(RTLD_NEXT, "wp_rt_stop");
    thread *t = thread_of(wp_rt_block);
    if (t->tables && is_same_block(t, wp_rt_block)) {
        read_words(t);
        const wp_trace_step *step = last_step(t);
        if (!step || step->op != WP_TRACE_STOP || step->value != op)
            fail(t, "stop %x that no block ends with", op);
    }
    return stop(op, point, mask, a, b);
}

/* ---- the end ---- */

__attribute__((destructor)) static void report(void) {
    for (size_t b = 0; b < BUCKETS; b++)
        for (thread *t = threads[b]; t; t = t->next)
            if (t->tables) read_words(t);
    if (getenv("WITNESS_REPORTS"))
        fprintf(stderr, "witness: %llu blocks, %llu accesses\n", (unsigned long long)block_total,
                (unsigned long long)access_total);
}
